"""What lies between two versions of a text: the top-level statements that differ, and the new tree
without parsing all of it.
"""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass, replace

from tfnanlint.diagnostics.findings import Call, Finding, Step
from tfnanlint.syntax.source import Source, Span


@dataclass(frozen=True, slots=True)
class Difference:
    """`old` and `new` differ between `start` and `old_end` or `new_end`, as `between` gives them
    offsets at which top-level statements begin or end.
    """

    old: Source
    new: Source
    start: int
    old_end: int
    new_end: int

    @property
    def rows(self) -> range:
        """The rows of `new` that are not those of `old`."""
        first, last = self.new.position(self.start)[0], self.new.position(self.new_end)[0]
        return range(first, last + 1 if self.new_end == len(self.new.text) else last)

    @property
    def _moved(self) -> tuple[int, int]:
        """By how many code points and rows everything behind has moved."""
        return self.new_end - self.old_end, len(self.new.line_starts) - len(self.old.line_starts)

    def carried(self, finding: Finding) -> Finding | None:
        """A finding of `old` where it stands in `new`; None when it stood in what has changed."""
        if finding.span.end > self.start and finding.span.start < self.old_end:
            return None
        stays = finding.span.end <= self.start and finding.data.get("covers") is None
        if stays and not any(map(self._moves, finding.trace)):
            return finding
        return self._moved_along(finding)

    def _moves(self, step: Step) -> bool:
        """Whether a step, or a call that it names, may stand behind what has changed."""
        return step.span.end > self.start or bool(step.calls) or step.made is not None

    def _moved_along(self, finding: Finding) -> Finding:
        trace = tuple(
            self._step(step) if step.path == finding.path else step for step in finding.trace
        )
        covers = finding.data.get("covers")
        data = (
            finding.data
            if covers is None
            else {**finding.data, "covers": type(covers)(map(self._span, covers))}
        )
        return replace(finding, span=self._span(finding.span), trace=trace, data=data)

    def _span(self, span: Span) -> Span:
        by = self._moved[0] if span.start >= self.old_end else 0
        return Span(span.start + by, span.end + by)

    def _step(self, step: Step) -> Step:
        if step.calls or step.made is not None:
            calls = tuple(map(self._call, step.calls))
            step = replace(step, calls=calls, made=step.made and self._call(step.made))
        if step.span.start < self.old_end:
            return step
        return replace(step, span=self._span(step.span), row=step.row + self._moved[1])

    def _call(self, call: Call) -> Call:
        behind = call.path == self.old.path and call.row >= self.old.position(self.old_end)[0]
        return replace(call, row=call.row + self._moved[1]) if behind else call


def between(old: Source, new: Source) -> Difference | None:
    """What differs, by whole top-level statements; None when nothing does, or everything. `old` has
    been parsed.
    """
    before, after = old.text, new.text
    if before == after or not old.tree.body:
        return None
    change = exact(old, new)
    first, last = old.position(change.start)[0], old.position(change.old_end)[0]
    start, end = 1, 0
    for row in _first_rows(old):
        if row < first:
            start = row
        elif row > last:
            end = row
            break
    at = old.line_starts[start - 1]
    old_end = old.line_starts[end - 1] if end else len(before)
    return Difference(old, new, at, old_end, old_end + len(after) - len(before))


def exact(old: Source, new: Source) -> Difference:
    """The characters that differ: what stands in both texts before and behind them is the same."""
    before, after = old.text, new.text
    head = _common(before, after)
    room = min(len(before), len(after)) - head
    tail = _common(before[::-1][:room], after[::-1][:room])
    return Difference(old, new, head, len(before) - tail, len(after) - tail)


def parse(difference: Difference) -> None:
    """Give the new source its tree: only what differs is parsed where rows have not moved. What
    cannot be parsed is left alone.
    """
    old, new = difference.old, difference.new
    if len(old.line_starts) != len(new.line_starts) or "tree" in new.__dict__:
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            middle = ast.parse(new.text[difference.start : difference.new_end])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # The whole text tells what is wrong with it, or that a part of it only made no sense alone.
        return
    rows = difference.rows
    ast.increment_lineno(middle, rows.start - 1)
    body = old.tree.body
    kept = [node for node in body if node.end_lineno < rows.start]
    behind = [node for node in body if node.lineno >= rows.stop]
    new.__dict__["tree"] = ast.Module([*kept, *middle.body, *behind], [])


def _common(first: str, second: str) -> int:
    """How many characters two texts have in common at their start."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _first_rows(source: Source) -> list[int]:
    """The rows on which top-level statements begin a line of their own, ascending."""
    rows: list[int] = []
    for node in source.tree.body:
        decorators = getattr(node, "decorator_list", ())
        row = min((one.lineno for one in decorators), default=node.lineno)
        # A decorator in brackets may begin below its sign; a statement may follow another behind a
        # semicolon.
        if source.line_text(row)[:1] not in ("", " ", "\t", ")", "]", "}") and (
            not decorators or source.line_text(row).startswith("@")
        ):
            if node.col_offset == 0 and (not rows or rows[-1] < row):
                rows.append(row)
    return rows
