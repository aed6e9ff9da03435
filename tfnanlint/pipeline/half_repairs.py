"""Guards beside another hazard that stays: one alone would be half of a repair.

loss = tf.norm(p - y) / tf.norm(y)      # the norm of p - y is only suggested: so is that of y
a, b = x / total, y / total             # a note stays at the second division: so does the first one
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import replace
from operator import attrgetter
from typing import Final

from tfnanlint.diagnostics.findings import Certainty, Finding, Fix
from tfnanlint.diagnostics.fix_names import GUARDS, name_of
from tfnanlint.diagnostics.grades import is_mended
from tfnanlint.syntax.enclosing import enclosing
from tfnanlint.syntax.source import Source
from tfnanlint.syntax.spans import Span

_BECAUSE: Final = "{} of the same statement stays"
_SAME_DIVISOR: Final = "another division by the same divisor stays"
_DIVISION: Final = "TFN102"
_OPERATIONS: Final = ("TFN1", "TFN2", "TFN3", "TFN4", "TFN6")  # of values, not of set-ups
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_SIMPLE: Final = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr)


def without_half_repairs(
    source: Source, repaired: Mapping[Finding, Finding], notes: Iterable[Finding] = ()
) -> dict[Finding, Finding]:
    """Findings with their fixes; guards are only suggested where another warning or error of the
    same statement, or a finding or one of `notes` at a division by the same divisor in the same
    function, has no fix that is applied.
    """
    warned = [finding for finding in repaired.values() if _is_hazard(finding)]
    left = [finding for finding in warned if not any(fix.applies(True) for fix in finding.fixes)]
    guarded = [
        finding for finding in warned if any(_is_applied_guard(fix) for fix in finding.fixes)
    ]
    if not guarded:
        return dict(repaired)
    notes = [note for note in notes if note not in repaired or not _is_hazard(note)]
    reasons = _by_divisor(source, guarded, [*left, *notes]) | _by_statement(source, guarded, left)
    return {
        finding: _kept(whole, reasons.get(whole.span, "")) for finding, whole in repaired.items()
    }


def _is_hazard(finding: Finding) -> bool:
    is_repaired = finding.certainty >= Certainty.MAY or is_mended(finding)
    return is_repaired and finding.code.startswith(_OPERATIONS)


def _is_applied_guard(fix: Fix) -> bool:
    return fix.applies(True) and name_of(fix.title) in GUARDS


def _kept(finding: Finding, because: str) -> Finding:
    """A finding beside one that stays, if there is a reason."""
    fixes = [
        replace(fix, suggested=because) if because and _is_applied_guard(fix) else fix
        for fix in finding.fixes
    ]
    return replace(finding, fixes=tuple(fixes))


# In the same statement


def _by_statement(source: Source, guarded: list[Finding], left: list[Finding]) -> dict[Span, str]:
    """Why guards are half of a repair, by the span of their finding: what stays in the statement"""
    if not left:
        return {}
    statements = sorted(
        [source.span(node) for node in ast.walk(source.tree) if isinstance(node, _SIMPLE)]
    )
    staying = {_around(finding.span, statements): finding for finding in left}
    staying.pop(None, None)
    beside = {finding.span: staying.get(_around(finding.span, statements)) for finding in guarded}
    return {
        span: _BECAUSE.format(finding.code)
        for span, finding in beside.items()
        if finding is not None and finding.span != span
    }


def _around(span: Span, statements: list[Span]) -> Span | None:
    """The statement around a span, of those in the order of the text, none of which holds another;
    None outside of all.
    """
    place = bisect_right(statements, span.start, key=attrgetter("start")) - 1
    return statements[place] if place >= 0 and span in statements[place] else None


# By the same divisor


def _by_divisor(source: Source, guarded: list[Finding], left: list[Finding]) -> dict[Span, str]:
    """The same for divisions, of which another one by the same divisor stays."""
    spans = {finding.span for finding in guarded if finding.code == _DIVISION}
    staying = {finding.span for finding in left if finding.code == _DIVISION} - spans
    if not spans or not staying:
        return {}
    unsafe = {_divisor(source, span) for span in staying} - {None}
    return {span: _SAME_DIVISOR for span in spans if _divisor(source, span) in unsafe}


def _divisor(source: Source, span: Span) -> tuple[Span, str] | None:
    """What the division at a span divides by: the function around it, and the divisor without its
    indices, as text; None for what is no division.
    """
    around = enclosing(source.tree.body, span, source.span)
    functions = [source.span(node) for node in around if isinstance(node, _FUNCTIONS)]
    for node in reversed(around):
        if source.span(node) == span:
            divisor = _right(node)
            break
    else:
        return None
    while isinstance(divisor, ast.Subscript):
        divisor = divisor.value
    if divisor is None:
        return None
    return (functions[-1] if functions else Span(0, len(source.text))), ast.dump(divisor)


def _right(division: ast.AST) -> ast.expr | None:
    if isinstance(division, ast.BinOp):
        return division.right
    if isinstance(division, ast.AugAssign):
        return division.value
    is_binary = isinstance(division, ast.Call) and len(division.args) > 1
    return division.args[1] if is_binary else None
