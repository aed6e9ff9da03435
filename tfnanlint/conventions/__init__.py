"""Guesses from names, folders and docstrings: each stands here once, with its reason."""
