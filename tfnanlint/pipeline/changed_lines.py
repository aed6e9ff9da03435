"""Which findings were brought about by what changed since a revision.

Those that stand on a changed line, those whose trace meets one, in whatever file, and those that
were not found in the file as it was: a guard that was taken out leaves no line behind.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable

from tfnanlint.config.revision import Revision, Rows, WorkTree
from tfnanlint.diagnostics.findings import Finding
from tfnanlint.diagnostics.notices import INTERNAL, INVALID_SYNTAX, UNREAD
from tfnanlint.files.kinds import NOTEBOOK
from tfnanlint.pipeline.check import Checked, opened
from tfnanlint.suppression.fingerprint import fingerprints
from tfnanlint.syntax.recovery import PartialSource
from tfnanlint.syntax.source import Source, Unreadable

_WHOLE_FILE = frozenset((INVALID_SYNTAX.code, UNREAD.code))


def unchanged(
    checked: Checked, since: Revision, analyse: Callable[[Source], Checked]
) -> list[bool]:
    """For each finding of a file, whether it has nothing to do with what changed."""
    rows = _changed_rows(checked.source, since)
    verdicts = [
        not _brought_about(finding, checked.source, rows, since) for finding in checked.findings
    ]
    if rows and any(verdicts):
        former = _former_names(checked.source.path, since, analyse)
        names = fingerprints(checked.source, checked.findings)
        verdicts = [verdict and name in former for verdict, name in zip(verdicts, names)]
    return verdicts


def _former_names(path: str, since: Revision, analyse: Callable[[Source], Checked]) -> set[str]:
    """The fingerprints of what was found in the file as it was."""
    source = _former(path, since)
    if source is None:
        return set()
    former = analyse(source)
    return set(fingerprints(former.source, former.findings))


def _former(path: str, since: Revision) -> Source | None:
    """The file as it was; None when it was not there, or no source."""
    data = since.before(os.path.abspath(path))
    try:
        return None if data is None else opened(path, data)
    except Unreadable:
        return None


def _brought_about(finding: Finding, source: Source, rows: Rows, since: Revision) -> bool:
    if finding.code == INTERNAL.code:
        return True
    # a fault of a notebook is about a cell
    of_file = isinstance(source, PartialSource) or not source.faults
    if finding.code in _WHOLE_FILE and of_file:
        return bool(rows)
    first = source.position(finding.span.start)[0]
    last = source.position(max(finding.span.start, finding.span.end - 1))[0]
    if rows.meets(first, last):
        return True
    for step in finding.trace:
        makers = () if step.made is None else (step.made,)
        for place in (step, *step.calls, *makers):
            here = place.path == source.path
            there = rows if here else since.changes(os.path.abspath(place.path))
            if there.meets(place.row, place.row):
                return True
    return False


def _changed_rows(source: Source, since: Revision) -> Rows:
    """The changed lines of a text that may be newer than the file on disk: what is new in it has
    changed, too.
    """
    path = os.path.abspath(source.path)
    changed = since.changes(path)
    if changed.everything or not source.text:
        return Rows(everything=bool(changed))
    if path.endswith(NOTEBOOK):
        # The module of the cells has other lines than the file: it is compared with the module that
        # they were.
        former = _former(source.path, since) if changed else source
        return Rows(everything=True) if former is None else Rows(_new_rows(former, source, set()))
    data = WorkTree().read(path)
    if data is None:
        return Rows(everything=True)
    try:
        old = Source.from_bytes(path, data)
    except Unreadable:
        return Rows(everything=True)
    if old.text == source.text:
        return changed
    return Rows(_new_rows(old, source, changed.rows))


def _new_rows(old: Source, new: Source, changed: set[int]) -> set[int]:
    """The rows of a text that stand in an older one only on changed rows, or not at all."""
    matcher = difflib.SequenceMatcher(None, _lines(old), _lines(new), autojunk=False)
    rows = set(range(1, len(new.line_starts) + 1))
    for start, place, size in matcher.get_matching_blocks():
        rows -= {place + index + 1 for index in range(size) if start + index + 1 not in changed}
    return rows


def _lines(source: Source) -> list[str]:
    return [source.line_text(row) for row in range(1, len(source.line_starts) + 1)]
