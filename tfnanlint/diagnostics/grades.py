"""The grade of a finding: how loud it is, the same in every output format and in the editor."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tfnanlint.diagnostics import notices
from tfnanlint.diagnostics.findings import Certainty, Differentiated, Finding
from tfnanlint.diagnostics.kinds import KINDS
from tfnanlint.values.words import UNBOUNDED

ERROR, WARNING, NOTE = "error", "warning", "note"
SEVERITIES = (ERROR, WARNING, NOTE)

# Of each certainty: the severity, and why.
SEVERITY = {Certainty.MUST: ERROR, Certainty.MAY: WARNING, Certainty.UNKNOWN: NOTE}
_BECAUSE = {
    Certainty.MUST: "every value that reaches it is unsafe",
    Certainty.MAY: "some of the values that reach it are unsafe",
    Certainty.UNKNOWN: "nothing is known about the value",
}
_DIFFERENTIATED = {
    Differentiated.YES: "a gradient is taken through it",
    Differentiated.NO: "no gradient is taken through it",
}
_OFTEN_HARMLESS = "the page of the rule names cases like this one that are often harmless"
NOTICE_SEVERITIES = {notice.code: ERROR for notice in notices.NOTICES}
NOTICE_SEVERITIES[notices.IDLE.code] = WARNING
NOTICE_SEVERITIES[notices.CUT_SHORT.code] = NOTE


class Grade(NamedTuple):
    """A severity, one of `SEVERITIES`, the certainty behind it, and the reason in words; a notice
    on a file has no reason.
    """

    severity: str
    certainty: Certainty
    because: str = ""

    def counts(self, fail_on: Certainty = Certainty.MAY) -> bool:
        """Whether a finding of this grade makes a run fail; a note never does."""
        return self.severity != NOTE and self.certainty >= fail_on


def grade(finding: Finding) -> Grade:
    """The grade of a finding; files that were not checked are errors, idle comments warnings,
    analyses that were cut short notes.
    """
    if finding.code in NOTICE_SEVERITIES:
        severity = NOTICE_SEVERITIES[finding.code]
        return Grade(severity, Certainty.MUST if severity == ERROR else Certainty.MAY)
    weak = KINDS[finding.kind].because if finding.kind in KINDS else ""
    reasons = [finding.unreached or weak or _bounded_only(finding) or _BECAUSE[finding.certainty]]
    if finding.differentiated in _DIFFERENTIATED:
        taken = _DIFFERENTIATED[finding.differentiated]
        reasons.append(f"probably {taken}" if finding.is_guessed else taken)
    if finding.doubtful:
        reasons.append(_OFTEN_HARMLESS)
    return Grade(SEVERITY[finding.certainty], finding.certainty, "; ".join(reasons))


def is_mended(finding: Finding) -> bool:
    """Whether a note is repaired as a warning is: its evidence is of a weak kind, and readers
    judged its fixes by themselves.
    """
    return finding.kind in KINDS and KINDS[finding.kind].judged_alone and not finding.unreached


def _bounded_only(finding: Finding) -> str:
    """The reason for a note on a value that has bounds; empty for any other finding."""
    if finding.certainty is not Certainty.UNKNOWN or finding.range in ("", UNBOUNDED):
        return ""
    return "its bounds include unsafe values, and nothing shows that they occur"


def severities(certainties: Iterable[Certainty]) -> str:
    """The severities of some certainties in words: `error, warning`."""
    return ", ".join(SEVERITY[one] for one in sorted(certainties, reverse=True))


def severity(finding: Finding) -> str:
    """The severity of a finding, one of `SEVERITIES`."""
    return grade(finding).severity
