"""Rewrites: templates filled with source text, names that can be used again, proof by the hole
test.
"""
