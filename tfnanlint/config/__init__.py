"""Configuration: keys, layers of files and flags, path patterns, revisions."""
