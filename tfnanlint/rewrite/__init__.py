"""Rewrites: templates filled on libcst's tree, names that can be used again, proof by the hole
test.
"""
