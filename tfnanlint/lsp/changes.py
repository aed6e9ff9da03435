"""From one text to another in edits of few lines: cursors, folds and breakpoints elsewhere stay
where they are.
"""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterator

from tfnanlint.diagnostics.findings import Edit
from tfnanlint.lsp.text import split
from tfnanlint.syntax.source import Span


def line_edits(old: str, new: str) -> Iterator[Edit]:
    """Edits that make `new` of `old`, in order, each as small as its lines allow."""
    before, after = split(old), split(new)
    starts = list(itertools.accumulate(map(len, before), initial=0))
    for tag, first, last, new_first, new_last in difflib.SequenceMatcher(
        None, before, after, autojunk=False
    ).get_opcodes():
        if tag != "equal":
            yield _trimmed(
                "".join(before[first:last]), "".join(after[new_first:new_last]), starts[first]
            )


def _trimmed(old: str, new: str, start: int) -> Edit:
    """An edit without what the two texts have in common at their ends."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    # A line end of two characters has no place between them.
    if old[head - 1 : head + 1] == "\r\n" or new[head - 1 : head + 1] == "\r\n":
        head -= 1
    if tail and (
        old[len(old) - tail - 1 : len(old) - tail + 1] == "\r\n"
        or new[len(new) - tail - 1 : len(new) - tail + 1] == "\r\n"
    ):
        tail -= 1
    return Edit(Span(start + head, start + len(old) - tail), new[head : len(new) - tail])
