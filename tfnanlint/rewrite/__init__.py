"""Rewrites: templates filled with source text and written by libcst, names that can be used again,
proof by the hole test.
"""

from typing import Final

LINE: Final = 88  # a line that most formatters leave alone
