"""What executing a finding has shown, in the words that reports share."""

from __future__ import annotations

from tfnanlint.diagnostics.findings import Finding


def is_shown(finding: Finding) -> bool:
    """Whether a finding is reported where only proved ones are; those about files always are."""
    return finding.verdict is None or finding.verdict.is_proved


def sentence(finding: Finding) -> str:
    """The verdict and what is known of the fix, in one line; empty where nothing was executed."""
    verdict = finding.verdict
    if verdict is None:
        return ""
    return verdict.words + (f"; after the fix: {verdict.fix}" if verdict.fix else "")
