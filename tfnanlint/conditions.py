"""What a test says about the values in it: `x > 0`, `not a or b`, `tf.reduce_all(x >= eps)`, `assert_positive(x)`."""

from __future__ import annotations

import ast
from typing import Any, Iterator

_FLIP = {">": "<", ">=": "<=", "<": ">", "<=": ">=", "==": "==", "!=": "!="}
_NEGATE = {">": "<=?", ">=": "<?", "<": ">=?", "<=": ">?", "==": "!=?", "!=": "=="}
_OPERATORS = {ast.Gt: ">", ast.GtE: ">=", ast.Lt: "<", ast.LtE: "<=", ast.Eq: "==", ast.NotEq: "!="}
_FUNCTIONS = {"greater": ">", "greater_equal": ">=", "less": "<", "less_equal": "<=", "equal": "==", "not_equal": "!="}
_CHECKS = {
    "assert_positive": (">", 0.0), "assert_non_negative": (">=", 0.0), "assert_negative": ("<", 0.0),
    "assert_non_positive": ("<=", 0.0),
}
_PAIR_CHECKS = {"assert_greater": ">", "assert_greater_equal": ">=", "assert_less": "<", "assert_less_equal": "<=",
                "assert_equal": "==", "assert_none_equal": "!="}
_FINITE = frozenset({"is_finite", "isfinite", "assert_all_finite", "check_numerics"})
_NAN = frozenset({"is_nan", "isnan"})
ASSERTIONS = frozenset(_CHECKS) | frozenset(_PAIR_CHECKS) | {"assert_all_finite", "Assert"}
_MAGNITUDES = frozenset({"abs", "absolute", "fabs"})
_NEVER = (ast.Lambda, ast.GeneratorExp, ast.ListComp)

Fact = tuple[ast.expr, str, "ast.expr | float"]


def path_of(node: ast.AST) -> str | None:
    """`x`, `self.x`, `w['k']`, `a[0]` as a key for histories; None for anything else."""
    kind = type(node)
    if kind is ast.Name:
        return node.id
    if kind is ast.Attribute:
        base = path_of(node.value)
        return f"{base}.{node.attr}" if base else None
    if kind is ast.NamedExpr:
        return node.target.id
    if kind is ast.Subscript and isinstance(node.slice, ast.Constant):
        base = path_of(node.value)
        return f"{base}[{node.slice.value!r}]" if base and isinstance(node.slice.value, (str, int)) else None
    return None


def root_of(path: str) -> str:
    """The name that a path starts with."""
    return path.partition(".")[0].partition("[")[0]


def leaf(function: ast.expr) -> str:
    """The last name of a callee: `greater` of `tf.math.greater`."""
    kind = type(function)
    return function.attr if kind is ast.Attribute else function.id if kind is ast.Name else ""


def inverse_of(test: ast.expr) -> ast.expr | None:
    """What `not x`, `~x` and `tf.logical_not(x)` invert; None for other tests."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, (ast.Not, ast.Invert)):
        return test.operand
    return test.args[0] if isinstance(test, ast.Call) and leaf(test.func) == "logical_not" and test.args else None


def parts_that_hold(test: ast.expr, truth: bool) -> list[ast.expr]:
    """The parts that are all `truth` where a test made of them is: of `a & b` where it holds, of `a | b` where it does not."""
    match test:
        case ast.BoolOp(op=operator, values=values) if isinstance(operator, ast.And) == truth:
            return values
        case ast.BinOp(op=ast.BitAnd() | ast.BitOr() as operator, left=left, right=right) if isinstance(operator, ast.BitAnd) == truth:
            return [left, right]
        case ast.Call(func=function, args=[left, right, *_]) if leaf(function) == ("logical_and" if truth else "logical_or"):
            return [left, right]
    return []


def spoken_of(test: Any, truth: bool) -> tuple[tuple[str, ast.expr], ...]:
    """(path, expression) for each path of which a test says something; kept with the tree, for bodies are walked often."""
    known = getattr(test, "spoken_of", None)
    if known is None:
        known = test.spoken_of = {}
    if truth not in known:
        found: dict[str, ast.expr | None] = {}
        for node, _, _ in facts(test, truth):
            path = path_of(node)
            if path is not None:
                found.setdefault(path, None if node is test else node)  # a node that holds itself is never given back
        known[truth] = tuple(found.items())
    spoken = known[truth]
    return ((spoken[0][0], test),) if len(spoken) == 1 and spoken[0][1] is None else spoken  # what is itself a path speaks of nothing else


def facts(test: ast.expr, truth: bool) -> Iterator[Fact]:
    """(expression, relation, other side) for everything that surely holds when `test` is `truth`.

    Relations are > >= < <= == !=, "finite", "number" (no NaN), and "beyond" for what has at least the magnitude of the other side. The other side is an expression or a number. A relation that follows
    from a comparison that failed is marked with "?": NaN makes every comparison fail.
    """
    match test:
        case ast.UnaryOp(op=ast.Not() | ast.Invert(), operand=inner):
            yield from facts(inner, not truth)
        case ast.BoolOp(op=operator, values=values):
            if isinstance(operator, ast.And) == truth:
                for value in values:
                    yield from facts(value, truth)
        case ast.BinOp(op=ast.BitAnd() | ast.BitOr() as operator, left=left, right=right):
            if isinstance(operator, ast.BitAnd) == truth:
                yield from facts(left, truth)
                yield from facts(right, truth)
        case ast.Compare(left=left, ops=operators, comparators=others):
            if truth or len(operators) == 1:
                yield from _comparison(left, operators, others, truth)
        case ast.Call(func=function, args=args):
            yield from _call(leaf(function), args, truth)
        case ast.Name() | ast.Attribute() | ast.Subscript():
            yield (test, "!=" if truth else "==", 0.0)


def _comparison(left: ast.expr, operators: list, others: list, truth: bool) -> Iterator[Fact]:
    for operator, right in zip(operators, others):
        relation = _OPERATORS.get(type(operator))
        if relation:
            yield from _both_ways(left, relation if truth else _NEGATE[relation], right)
        left = right


def _both_ways(left: ast.expr, relation: str, right: ast.expr) -> Iterator[Fact]:
    yield (left, relation, right)
    yield from _magnitude(left, relation, right)
    yield (right, _FLIP[relation.rstrip("?")] + relation[len(relation.rstrip("?")):], left)


def _magnitude(left: ast.expr, relation: str, right: ast.expr) -> Iterator[Fact]:
    """What `abs(x) < 1`, `abs(x) > 0` and `abs(x) >= eps` say of x."""
    if not (isinstance(left, ast.Call) and len(left.args) == 1 and leaf(left.func) in _MAGNITUDES):
        return
    inner, sign = left.args[0], relation.rstrip("?")
    limit = right.value if isinstance(right, ast.Constant) and isinstance(right.value, (int, float)) else None
    if sign in ("<", "<=") and limit is not None and sign == relation:
        yield (inner, relation, float(limit))
        yield (inner, _FLIP[relation], -float(limit))
    elif sign == ">" and limit is not None and limit >= 0:
        yield (inner, "!=" + relation[1:], 0.0)
    elif sign in (">", ">="):
        yield (inner, "beyond" + relation[len(sign):], right)


def _call(name: str, args: list[ast.expr], truth: bool) -> Iterator[Fact]:
    if name in _FUNCTIONS and len(args) >= 2:
        relation = _FUNCTIONS[name]
        yield from _both_ways(args[0], relation if truth else _NEGATE[relation], args[1])
    elif name in ("logical_and", "logical_or") and len(args) >= 2:
        if (name == "logical_and") == truth:
            yield from facts(args[0], truth)
            yield from facts(args[1], truth)
    elif name in ("logical_not",) and args:
        yield from facts(args[0], not truth)
    elif name in ("reduce_all", "all", "Assert", "cast", "identity") and args:
        if truth:
            yield from facts(args[0], True)
    elif name in ("reduce_any", "any") and args:
        if not truth:
            yield from facts(args[0], False)
    elif name in _NAN and len(args) == 1 and not truth:
        yield (args[0], "number", 0.0)
    elif truth:
        yield from _check(name, args)


def _check(name: str, args: list[ast.expr]) -> Iterator[Fact]:
    if name in _CHECKS and args:
        relation, bound = _CHECKS[name]
        yield (args[0], relation, bound)
    elif name in _PAIR_CHECKS and len(args) >= 2:
        yield from _both_ways(args[0], _PAIR_CHECKS[name], args[1])
    elif name in _FINITE and args:
        yield (args[0], "finite", 0.0)


def says_training(test: ast.expr) -> bool | None:
    """What `training`, `not self.is_training` say where they hold; None for other tests."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        said = says_training(test.operand)
        return None if said is None else not said
    return True if isinstance(test, (ast.Name, ast.Attribute)) and leaf(test) in ("training", "is_training") else None
