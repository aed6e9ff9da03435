"""Which findings were brought about by what changed since a revision.

Those that stand on a changed line, those whose trace meets one, in whatever file, and those that were not found in the
file as it was: a guard that was taken out leaves no line behind.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable

from tfnanlint.checking import Checked
from tfnanlint.findings import Finding
from tfnanlint.fingerprint import fingerprints
from tfnanlint.notices import INTERNAL, INVALID_SYNTAX, UNREAD
from tfnanlint.revision import Revision, Rows, WorkTree
from tfnanlint.source import Source, Unreadable

_WHOLE_FILE = frozenset((INVALID_SYNTAX.code, UNREAD.code))


def unchanged(checked: Checked, since: Revision, analyse: Callable[[Source], Checked]) -> list[bool]:
    """For each finding of a file, whether it has nothing to do with what changed."""
    rows = _changed_rows(checked.source, since)
    verdicts = [not _brought_about(finding, checked.source, rows, since) for finding in checked.findings]
    if rows and any(verdicts):
        former = _former_names(checked.source.path, since, analyse)
        names = fingerprints(checked.source, checked.findings)
        verdicts = [verdict and name in former for verdict, name in zip(verdicts, names)]
    return verdicts


def _former_names(path: str, since: Revision, analyse: Callable[[Source], Checked]) -> set[str]:
    """The fingerprints of what was found in the file as it was."""
    data = since.before(os.path.abspath(path))
    if data is None or path.endswith(".ipynb"):
        return set()
    try:
        former = analyse(Source.from_bytes(path, data))
    except Unreadable:
        return set()
    return set(fingerprints(former.source, former.findings))


def _brought_about(finding: Finding, source: Source, rows: Rows, since: Revision) -> bool:
    if finding.code == INTERNAL.code:
        return True
    if finding.code in _WHOLE_FILE:
        return bool(rows)
    first = source.position(finding.span.start)[0]
    last = source.position(max(finding.span.start, finding.span.end - 1))[0]
    if rows.meets(first, last):
        return True
    for step in finding.trace:
        there = rows if step.path == source.path else since.changes(os.path.abspath(step.path))
        if there.meets(step.row, step.row):
            return True
    return False


def _changed_rows(source: Source, since: Revision) -> Rows:
    """The changed lines of a text that may be newer than the file on disk: what is new in it has changed, too."""
    path = os.path.abspath(source.path)
    changed = since.changes(path)
    # Notebooks are checked as a text of their own, whose lines are not those of the file.
    if changed.everything or not source.text or path.endswith(".ipynb"):
        return Rows(everything=bool(changed))
    data = WorkTree().read(path)
    if data is None:
        return Rows(everything=True)
    try:
        old = Source.from_bytes(path, data)
    except Unreadable:
        return Rows(everything=True)
    if old.text == source.text:
        return changed
    matcher = difflib.SequenceMatcher(None, _lines(old), _lines(source), autojunk=False)
    rows = set(range(1, len(source.line_starts) + 1))
    for start, place, size in matcher.get_matching_blocks():
        rows -= {place + index + 1 for index in range(size) if start + index + 1 not in changed.rows}
    return Rows(rows)


def _lines(source: Source) -> list[str]:
    return [source.line_text(row) for row in range(1, len(source.line_starts) + 1)]
