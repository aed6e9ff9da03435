"""Guesses from names and folders, each written down once with its reason.

Patterns are text, which `re` compiles when it is asked for the first time: a run asks for few.
"""
