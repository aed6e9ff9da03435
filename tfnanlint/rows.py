"""The rows of a text in which something stands: by what is written alone, before anything is parsed.

Rows are 1-based; `starts` are the offsets at which the lines of the text begin.
"""

from __future__ import annotations

import re
from bisect import bisect_right


def holding(text: str, starts: list[int], piece: str) -> list[int]:
    """The rows that hold a piece of text, ascending."""
    found: list[int] = []
    row = 0
    position = text.find(piece)
    while position >= 0:
        row = bisect_right(starts, position, row)
        found.append(row)
        position = text.find(piece, starts[row]) if row < len(starts) else -1
    return found


def matching(text: str, starts: list[int], pattern: re.Pattern[str], words: frozenset[str] | None = None) -> list[int]:
    """The rows in which a pattern is found, ascending; with `words` where its first group is one of them."""
    found: list[int] = []
    begun = row = 0  # where the next row begins
    for match in pattern.finditer(text):
        start = match.start()
        if start >= begun and (words is None or match[1] in words):
            row = bisect_right(starts, start, row)
            begun = starts[row] if row < len(starts) else len(text) + 1
            found.append(row)
    return found
