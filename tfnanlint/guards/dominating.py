"""Dominating tests: which tests hold where a site stands, and whether one of them leaves no 0 in a
value there.

Names that are tested know it (`if n > 0: x / n`). Here it is about values:
`if tf.reduce_sum(m) > 0` says it of every sum of `m`, `tf.cond(tf.reduce_any(m), ...)` of its
count, and a test before `return` of all that follows.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Iterator

from tfnanlint.guards.post_guards import Test, established, plain
from tfnanlint.ops.site import Site, made_by, same
from tfnanlint.ops.traits import FACTORS, RESHAPES, SIZES, SUMS, ZERO_AT_ZERO_ONLY
from tfnanlint.program.loops import flag_of
from tfnanlint.program.predicates import branches_of, facts
from tfnanlint.program.scope import Assigned, Parameter, Point
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import nodes_in
from tfnanlint.values.value import Value

if TYPE_CHECKING:
    from tfnanlint.interp.engine import Engine
    from tfnanlint.program.module import Module

_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_FIELDS = ("body", "orelse", "finalbody")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def leaves_no_zero(
    site: Site, param: str, around: list[ast.AST], module: Module, interpreter: Engine
) -> bool:
    """Whether a test that holds at a site says that what arrives at a parameter is not 0. `around`:
    innermost first.
    """
    divisor = site.value(param)
    for test in _holding(site, around, module, interpreter):
        if any(
            _excludes(relation.rstrip("?"), bound) and _decides(subject, divisor)
            for subject, relation, bound in established(interpreter, test)
        ):
            return True
        masks = _somewhere(test.node, test.truth) if test.node is not None else ()
        if any(_elements_of(divisor, interpreter.evaluate(mask, test.point)) for mask in masks):
            return True
    return False


def leaves_some(
    site: Site, mask: Value, around: list[ast.AST], module: Module, interpreter: Engine
) -> bool:
    """Whether a test that holds at a site says that a mask is true for some element:
    `if not tf.reduce_any(mask): return`.
    """
    return any(
        same(_still(mask), _still(interpreter.evaluate(tested, test.point)))
        for test in _holding(site, around, module, interpreter)
        if test.node is not None
        for tested in _somewhere(test.node, test.truth)
    )


def counted(
    site: Site, around: list[ast.AST], module: Module, interpreter: Engine
) -> Iterator[Value]:
    """The values that have elements, as a test says that holds at a site:
    `if tf.size(rows) == 0: return`.
    """
    for test in _holding(site, around, module, interpreter):
        for subject, relation, bound in established(interpreter, test):
            size = (
                made_by(subject, *SIZES, "builtins.len")
                if _excludes(relation.rstrip("?"), bound)
                else None
            )
            if size is not None and _is_of_rows(subject):
                yield size.value("x")


def _is_of_rows(count: Value) -> bool:
    """Whether a length is that of the first axis, or the number of all elements; not
    `tf.shape(x)[1]`.
    """
    maker = count.origin
    if not isinstance(maker, Site) or not isinstance(maker.node, ast.Subscript):
        return True
    index = maker.node.slice
    return isinstance(index, ast.Constant) and index.value == 0


def is_never_reached(
    site: Site, around: list[ast.AST], module: Module, interpreter: Engine
) -> bool:
    """Whether all calls that are seen choose another branch: one of `if use_squares: ... else: ...`
    where no call hands over the other value. The branch of the default is reached by whatever calls
    a public function without the argument.
    """
    for test in _holding(site, around, module, interpreter):
        flag = flag_of(test.node, test.point) if test.node is not None else None
        agreed = interpreter.agreed(flag[0]) if flag is not None else None
        if flag is None or agreed not in _exclusive(flag[0]):
            continue
        if (agreed is flag[1]) is not test.truth:
            return True
    return False


def _exclusive(parameter: Parameter) -> tuple[bool, ...]:
    """The values of a flag which, handed over by all calls that are seen, leave no way to the other
    branch: of a public function its default only.
    """
    default = parameter.default
    if parameter.function.name.startswith("_") or not isinstance(default, Assigned):
        return (True, False)
    node = default.node
    is_flag = isinstance(node, ast.Constant) and isinstance(node.value, bool)
    return (node.value,) if is_flag else (True, False)


def _holding(
    site: Site, around: list[ast.AST], module: Module, interpreter: Engine
) -> Iterator[Test]:
    """The tests on whose outcome it depends whether a site is reached."""
    inner: ast.AST = site.node
    if module.parts is None:
        module.parts = Parts()
    parts = module.parts
    for outer in around:
        if isinstance(outer, ast.IfExp) and inner is not outer.test:
            yield Test(outer.test, inner is outer.body, site.point)
        elif isinstance(outer, ast.BoolOp):
            for value in _before(outer.values, inner):
                yield Test(value, isinstance(outer.op, ast.And), site.point)
        elif isinstance(outer, ast.Call):
            yield from _of_choice(
                outer, lambda branch, part=inner: _within(branch, part), site.point
            )
        elif isinstance(outer, ast.stmt):
            for test, truth in _of_statement(outer, inner, parts):
                for point in _points(test, site, module, interpreter):
                    yield Test(test, truth, point)
        if isinstance(outer, _FUNCTIONS):
            for call, point in [
                *module.calls_to("cond", interpreter),
                *module.calls_to("case", interpreter),
            ]:
                yield from _of_choice(
                    call,
                    lambda branch, name=outer.name: (
                        isinstance(branch, ast.Name) and branch.id == name
                    ),
                    point,
                )
        inner = outer


def _of_choice(call: ast.Call, chosen: Any, point: Point) -> Iterator[Test]:
    """What holds where `tf.cond` or `tf.case` runs a branch that is `chosen`."""
    for branch, tests in branches_of(call):
        if chosen(branch):
            for test, truth in tests:
                yield Test(test, truth, point)


def _of_statement(outer: ast.stmt, inner: ast.AST, parts: Parts) -> Iterator[tuple[ast.expr, bool]]:
    """What is known inside of a statement where one of its parts is reached: its own test, and
    those before that part.
    """
    field, index = parts.place(outer, inner)
    if isinstance(outer, ast.If) and field in ("body", "orelse"):
        yield outer.test, field == "body"
    for before, test, truth in parts.tests(outer, field):
        if before >= index:
            break
        yield test, truth


class Parts:
    """The statements in the blocks of others, by their places, and what is known behind some of
    them: a block may have thousands, and each may be asked for.
    """

    def __init__(self) -> None:
        self._places: dict[ast.stmt, dict[ast.AST, tuple[str, int]]] = {}
        self._tests: dict[tuple[ast.stmt, str], list[tuple[int, ast.expr, bool]]] = {}

    def place(self, outer: ast.stmt, inner: ast.AST) -> tuple[str, int]:
        """The name of the block of a statement that another one is part of, and its place there;
        "" where it is in none.
        """
        places = self._places.get(outer)
        if places is None:
            places = self._places[outer] = {
                part: (field, index)
                for field in _FIELDS
                for index, part in enumerate(_block(outer, field))
            }
        return places.get(inner, ("", 0))

    def tests(self, outer: ast.stmt, field: str) -> list[tuple[int, ast.expr, bool]]:
        """The tests that are known behind the statements of a block, with the places of these."""
        tests = self._tests.get((outer, field))
        if tests is None:
            tests = self._tests[outer, field] = []
            for index, part in enumerate(_block(outer, field)):
                if isinstance(part, ast.Assert):
                    tests.append((index, part.test, True))
                elif (
                    isinstance(part, ast.If)
                    and isinstance(part.body[-1], _LEAVING)
                    and not part.orelse
                ):
                    tests.append((index, part.test, False))
        return tests


def _block(statement: ast.stmt, field: str) -> list[ast.stmt]:
    block = statement.__dict__.get(field)
    return block if isinstance(block, list) else []


def _before(parts: list[Any], inner: ast.AST) -> list[Any]:
    """The parts before one of them; none where it is not among them."""
    return next((parts[:index] for index, one in enumerate(parts) if one is inner), [])


def _within(node: ast.AST, inner: ast.AST) -> bool:
    return any(one is inner for one in nodes_in(node))


def _points(test: ast.expr, site: Site, module: Module, interpreter: Engine) -> Iterator[Point]:
    """Where a test stands in the run of its function that a site is in."""
    for expression, point in module.expressions(test.lineno, interpreter):
        if _within(expression, test) and point.scope is site.point.scope:
            yield point


def _somewhere(test: ast.expr, truth: bool) -> Iterator[ast.expr]:
    """The masks of which a test says that they are true for some element."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, (ast.Not, ast.Invert)):
        yield from _somewhere(test.operand, not truth)
    elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) == truth:
        for value in test.values:
            yield from _somewhere(value, truth)
    elif isinstance(test, ast.Call) and leaf(test.func) == "logical_not" and test.args:
        yield from _somewhere(test.args[0], not truth)
    elif (
        isinstance(test, ast.Call)
        and leaf(test.func) in ("reduce_any", "any")
        and truth
        and len(test.args) == 1
        and not test.keywords
    ):
        yield test.args[0]
        for node, relation, bound in facts(test.args[0], True):
            if relation in (">", "!=") and isinstance(bound, ast.Constant) and bound.value == 0:
                yield node  # `tf.reduce_any(mask > 0)`


def _excludes(relation: str, bound: Value) -> bool:
    """Whether a relation to a bound leaves no 0."""
    if relation == ">":
        return bound.lo >= 0
    if relation == "<":
        return bound.hi <= 0
    if relation == ">=":
        return bound.lo > 0
    if relation == "<=":
        return bound.hi < 0
    return relation == "!=" and bound.exact and bound.lo == 0


def _decides(subject: Value, divisor: Value, depth: int = 4) -> bool:
    """Whether a divisor is 0 only where what was tested is."""
    if same(plain(subject), plain(divisor)):
        return True
    count = made_by(plain(subject), *SUMS, "tf.reduce_max")
    if (
        count is not None
        and not count.given("axis")
        and _elements_of(divisor, count.value(count.op.main))
    ):
        return True
    root = made_by(plain(divisor), *ZERO_AT_ZERO_ONLY) if depth else None
    if root is not None:
        return _decides(subject, root.value("x"), depth - 1)
    scaled = made_by(plain(divisor), *FACTORS) if depth else None
    return scaled is not None and any(
        scaled.value(other).is_number
        and scaled.value(other).const != 0
        and _decides(subject, scaled.value(param), depth - 1)
        for param, other in (
            ("x", "y"),
            *((("y", "x"),) if scaled.op.name == "tf.multiply" else ()),
        )
    )


def _elements_of(divisor: Value, mask: Value) -> bool:
    """Whether a divisor counts all elements of a mask."""
    total = made_by(plain(divisor), *SUMS)
    if total is None or total.given("axis"):
        return False
    counted = _still(total.value(total.op.main))
    return (counted.lo >= 0 or not counted.known) and same(counted, _still(mask))


def _still(value: Value) -> Value:
    """A value seen through casts and ops that change its shape only."""
    for _ in range(8):
        value = plain(value)
        moved = made_by(value, *RESHAPES)
        if moved is None:
            return value
        value = moved.value(moved.op.main)
    return value
