"""Guesses from names and folders: each stands here once, with its reason."""
