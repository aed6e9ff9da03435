"""Edits of a text: applied, in order, composed, and where they move what stands behind them."""

from __future__ import annotations

import bisect
from collections.abc import Iterable

from tfnanlint.syntax.spans import Edit, Span


def edits_apply(text: str, edits: Iterable[Edit]) -> str:
    """`text` with all edits made, in any order of giving; insertions at one place keep the order
    given.

    The same edit given twice is made once: two repairs may need the same import. Raises ValueError
    when edits overlap or leave the text.
    """
    parts: list[str] = []
    at = 0
    for edit in in_order(edits):
        if edit.span.end > len(text):
            raise ValueError(
                f"an edit at {edit.span.start} leaves the text, which has {len(text)} characters"
            )
        parts += (text[at : edit.span.start], edit.text)
        at = edit.span.end
    parts.append(text[at:])
    return "".join(parts)


def line_regions(text: str, edits: Iterable[Edit]) -> list[tuple[Span, list[Edit]]]:
    """The lines of a text that edits change, in runs, each with its edits as edits of that run.
    Raises ValueError when edits overlap.
    """
    runs: list[tuple[Span, list[Edit]]] = []
    for edit in in_order(edits):
        start = text.rfind("\n", 0, edit.span.start) + 1
        end = text.find("\n", edit.span.end)
        end = len(text) if end < 0 else end
        held: list[Edit] = []
        if runs and start <= runs[-1][0].end:
            span, held = runs.pop()
            start, end = span.start, max(end, span.end)
        runs.append((Span(start, end), [*held, edit]))
    return [
        (span, [Edit(_moved(edit.span, -span.start), edit.text) for edit in held])
        for span, held in runs
    ]


def _moved(span: Span, by: int) -> Span:
    return Span(span.start + by, span.end + by)


def in_order(edits: Iterable[Edit]) -> list[Edit]:
    """Edits by position, each once. Raises ValueError when two overlap."""
    ordered = sorted(dict.fromkeys(edits), key=lambda edit: (edit.span.start, edit.span.end))
    at = 0
    for edit in ordered:
        if not at <= edit.span.start <= edit.span.end:
            raise ValueError(f"edits overlap at {edit.span.start}")
        at = edit.span.end
    return ordered


class Shift:
    """Where places of a text are after edits. Insertions at the border of a span stay outside of
    it.
    """

    def __init__(self, edits: Iterable[Edit]):
        self.edits = in_order(edits)
        self._starts = [edit.span.start for edit in self.edits]
        self._grown = [0]
        for edit in self.edits:
            self._grown.append(self._grown[-1] + len(edit.text) - (edit.span.end - edit.span.start))
        # What each edit's text occupies in the new text.
        self.regions = [
            Span(edit.span.start + grown, edit.span.start + grown + len(edit.text))
            for edit, grown in zip(self.edits, self._grown)
        ]

    def span(self, old: Span) -> Span:
        """The new place of a span that no edit cuts through."""
        first = bisect.bisect_left(self._starts, old.start)
        while first < len(self.edits) and self.edits[first].span.end <= old.start:
            first += 1  # Insertions right before it.
        last = bisect.bisect_left(self._starts, old.end)
        return Span(old.start + self._grown[first], old.end + self._grown[max(first, last)])

    def old(self, new: Span) -> Span:
        """The old place of a span of the new text, which covers every region that it touches."""
        touched = [
            index
            for index, region in enumerate(self.regions)
            if region.start <= new.end and new.start <= region.end
        ]
        first = touched[0] if touched else sum(region.end < new.start for region in self.regions)
        last = touched[-1] + 1 if touched else first
        return Span(new.start - self._grown[first], new.end - self._grown[last])

    def touching(self, old: Span) -> list[int]:
        """The indexes of the edits that change something inside a span."""
        first = bisect.bisect_left(self._starts, old.start)
        if first and self.edits[first - 1].span.end > old.start:
            first -= 1
        indices = []
        for index in range(first, len(self.edits)):
            span = self.edits[index].span
            if span.start >= old.end:
                break
            if span.end > old.start:
                indices.append(index)
        return indices


def composed(text: str, first: Iterable[Edit], second: Iterable[Edit]) -> list[Edit]:
    """Edits of `text` that do what `first` does and then `second`, which are edits of what `first`
    makes of it.
    """
    shift, second = Shift(first), in_order(second)
    between = edits_apply(text, shift.edits)
    # What both change, as stretches of the text between them that do not touch each other.
    changed: list[tuple[int, int]] = []
    for start, end in sorted(
        (span.start, span.end) for span in (*shift.regions, *(edit.span for edit in second))
    ):
        if changed and start <= changed[-1][1]:
            changed[-1] = changed[-1][0], max(end, changed[-1][1])
        else:
            changed.append((start, end))
    combined = []
    for start, end in changed:
        inside = [
            Edit(Span(edit.span.start - start, edit.span.end - start), edit.text)
            for edit in second
            if start <= edit.span.start and edit.span.end <= end
        ]
        new = edits_apply(between[start:end], inside)
        combined.append(Edit(shift.old(Span(start, end)), new))
    return combined
