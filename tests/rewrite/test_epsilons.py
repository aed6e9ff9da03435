"""Constants that fixes bring in: in every dtype and with every configured epsilon none of them is 0
or lost next to 1.

Every case of fixtures/claims is linted with its inputs in each dtype, and every fix of every
finding is applied alone.
"""

from __future__ import annotations

import ast
from collections import Counter
from typing import Iterator

import pytest

from tfnanlint.config.layers import Policy
from tfnanlint.dev import repository
from tfnanlint.diagnostics.findings import Fix, Setup
from tfnanlint.pipeline.check import check_source
from tfnanlint.rule import registry as rules
from tfnanlint.syntax.edits import edits_apply
from tfnanlint.syntax.source import Source
from tfnanlint.values.value import FLOATS, SMALLEST, rounded

pytestmark = pytest.mark.usefixtures("suggestions_applied")

CONFIGURED = (1e-12, 1e-7, 1e-3)
# Functions that set a dtype themselves, or hide it (then it is taken for float32).
_OWN_DTYPE = ("float", ".half", "vars(", "complex")


def in_dtype(text: str, dtype: str) -> str:
    """A file of claims in which the parameters of every function are cast, without functions that
    set a dtype themselves.
    """
    lines = text.splitlines(keepends=True)
    for node in reversed(
        [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    ):
        if any(word in "".join(lines[node.lineno - 1 : node.end_lineno]) for word in _OWN_DTYPE):
            del lines[node.lineno - 1 : node.end_lineno]
        else:
            casts = [f"    {arg.arg} = tf.cast({arg.arg}, tf.{dtype})\n" for arg in node.args.args]
            lines[node.body[0].lineno - 1 : node.body[0].lineno - 1] = casts
    return "".join(lines)


def fixes(rule: rules.Rule, source: Source, configured: float) -> Iterator[Fix]:
    policy = Policy(
        rules=(rule,),
        certainty=None,
        idle=False,
        unsafe_fixes=True,
        known={rule.code: rule},
        setup=Setup(epsilon=configured),
    )
    return (fix for finding in check_source(source, policy).findings for fix in finding.fixes)


def lost(text: str, dtype: str) -> Counter[str]:
    """What a program writes that is 0 in the dtype, or leaves the number unchanged to which it is
    added.
    """
    return Counter(
        ast.unparse(node)
        for node in ast.walk(ast.parse(text))
        if _vanishes(node, dtype) or _absorbed(node, dtype)
    )


def _vanishes(node: ast.AST, dtype: str) -> bool:
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, float)
        and 0 < node.value
        and rounded(node.value, dtype) < SMALLEST[dtype]
    )


def _absorbed(node: ast.AST, dtype: str) -> bool:
    """1 - eps and -1 + eps; 1 - p + eps, which graphs and XLA compute as (1 + eps) - p."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Add, ast.Sub)):
        return False
    left, right = _number(node.left), _number(node.right)
    inner = (
        node.left
        if left is None
        and isinstance(node.left, ast.BinOp)
        and isinstance(node.left.op, (ast.Add, ast.Sub))
        else None
    )
    left = _number(inner.left) if inner is not None else left
    if left is None or right is None or not 0 < abs(right) < abs(left):
        return False
    return rounded(
        left + right if isinstance(node.op, ast.Add) else left - right, dtype
    ) == rounded(left, dtype)


def _number(node: ast.expr) -> float | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return float(value) if isinstance(value, (int, float)) else None


WITH_FIXES = [one for one in rules.load() if repository.claims(one).exists()]


@pytest.mark.parametrize("rule", WITH_FIXES, ids=lambda rule: rule.slug)
def test_no_constant_of_a_fix_is_lost(rule):
    found = []
    for dtype in FLOATS:
        source = Source("claims.py", in_dtype(repository.claims(rule).read_text(), dtype))
        before = lost(source.text, dtype)
        for configured in CONFIGURED:
            for fix in fixes(rule, source, configured):
                new = lost(edits_apply(source.text, fix.edits), dtype) - before
                found += [(dtype, configured, fix.title, text) for text in new]
    assert not found


def test_the_fixes_are_tried_in_every_dtype():
    """The casts do not silence the rules: most rewrites are offered in all four."""
    source = {
        dtype: Source("a.py", in_dtype(repository.claims(one).read_text(), dtype))
        for one in WITH_FIXES
        if one.slug == "log-of-nonpositive"
        for dtype in FLOATS
    }
    rule = next(one for one in WITH_FIXES if one.slug == "log-of-nonpositive")
    titles = {dtype: {fix.title for fix in fixes(rule, one, 1e-7)} for dtype, one in source.items()}
    assert "keep the argument at or above 1e-37" in titles["float32"] & titles["bfloat16"]
    assert "keep the argument at or above 1e-300" in titles["float64"]
    assert "keep the argument at or above 1e-4" in titles["float16"]


@pytest.mark.parametrize(
    "text, dtype, expected",
    [
        ("x + 1e-12", "float16", ["1e-12"]),
        ("x + 1e-12", "float32", []),
        ("1 - 1e-8", "float32", ["1 - 1e-08"]),
        ("1.0 - p + 1e-8", "float32", ["1.0 - p + 1e-08"]),
        ("1.0 - p + 1e-6", "float32", []),
        ("-1.0 + 1e-3", "bfloat16", ["-1.0 + 0.001"]),
    ],
)
def test_lost_constants_are_seen(text, dtype, expected):
    assert list(lost(text, dtype)) == expected
