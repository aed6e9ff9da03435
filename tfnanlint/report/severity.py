"""How loud a finding is in formats that know levels: as sure as it is."""

from __future__ import annotations

from tfnanlint.diagnostics import notices
from tfnanlint.diagnostics.findings import Certainty, Finding

LEVELS = ("error", "warning", "note")
_UNCHECKED = frozenset(
    one.code for one in (notices.INTERNAL, notices.INVALID_SYNTAX, notices.UNREAD)
)
_NOTICES = frozenset(one.code for one in notices.NOTICES)


def level(finding: Finding) -> str:
    """One of `LEVELS`: a file that was not checked and what must go wrong are errors, what may go
    wrong is a warning.
    """
    if finding.code in _NOTICES:
        return "error" if finding.code in _UNCHECKED else "note"
    return {Certainty.MUST: "error", Certainty.MAY: "warning", Certainty.UNKNOWN: "note"}[
        finding.certainty
    ]
