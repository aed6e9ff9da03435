"""Guesses from names and folders: each stands here once, with its reason.

Patterns are text, which `re` compiles when it is asked for the first time: a run asks for few.
"""
