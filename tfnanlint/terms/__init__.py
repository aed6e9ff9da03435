"""The normal form of a computation: one term for all its spellings."""
