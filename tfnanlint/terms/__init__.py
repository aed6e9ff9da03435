"""The normal form of what is computed: one term for all its spellings."""
