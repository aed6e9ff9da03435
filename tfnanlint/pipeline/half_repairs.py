"""Guards in statements with another hazard that stays: one alone would be half of a repair.

loss = tf.norm(p - y) / tf.norm(y)      # the norm of p - y is only suggested: so is that of y
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import replace
from operator import attrgetter
from typing import Final

from tfnanlint.diagnostics.findings import Certainty, Finding, Fix
from tfnanlint.diagnostics.fix_names import GUARDS, name_of
from tfnanlint.diagnostics.grades import is_mended
from tfnanlint.syntax.source import Source
from tfnanlint.syntax.spans import Span

_BECAUSE: Final = "{} of the same statement stays"
_OPERATIONS: Final = ("TFN1", "TFN2", "TFN3", "TFN4", "TFN6")  # of values, not of set-ups
_SIMPLE: Final = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr)


def without_half_repairs(
    source: Source, repaired: Mapping[Finding, Finding]
) -> dict[Finding, Finding]:
    """Findings with their fixes; guards are only suggested where another warning or error of the
    same statement has no fix that is applied.
    """
    warned = [finding for finding in repaired.values() if _is_hazard(finding)]
    left = [finding for finding in warned if not any(fix.applies(True) for fix in finding.fixes)]
    guards = [fix for finding in warned for fix in finding.fixes if _is_applied_guard(fix)]
    if not left or not guards:
        return dict(repaired)
    statements = sorted(
        [source.span(node) for node in ast.walk(source.tree) if isinstance(node, _SIMPLE)]
    )
    staying = {_around(finding.span, statements): finding for finding in left}
    staying.pop(None, None)
    return {
        finding: _kept(whole, staying.get(_around(whole.span, statements)))
        for finding, whole in repaired.items()
    }


def _is_hazard(finding: Finding) -> bool:
    is_repaired = finding.certainty >= Certainty.MAY or is_mended(finding)
    return is_repaired and finding.code.startswith(_OPERATIONS)


def _is_applied_guard(fix: Fix) -> bool:
    return fix.applies(True) and name_of(fix.title) in GUARDS


def _around(span: Span, statements: list[Span]) -> Span | None:
    """The statement around a span, of those in the order of the text, none of which holds another;
    None outside of all.
    """
    place = bisect_right(statements, span.start, key=attrgetter("start")) - 1
    return statements[place] if place >= 0 and span in statements[place] else None


def _kept(finding: Finding, beside: Finding | None) -> Finding:
    """A finding beside one that stays."""
    if beside is None or beside.span == finding.span:
        return finding
    return replace(finding, fixes=tuple([_suggested(fix, beside) for fix in finding.fixes]))


def _suggested(fix: Fix, beside: Finding) -> Fix:
    return replace(fix, suggested=_BECAUSE.format(beside.code)) if _is_applied_guard(fix) else fix
