"""Masks that come after the op: which op applications have their bad elements thrown away by a
later choice.

`tf.where(x > 0, tf.math.log(x), 0.)` hides the -inf of the logarithm from the value, not from the
gradient. A choice is `tf.where`, `K.switch`, `tf.boolean_mask` or `nan_to_num`; a product with a
mask (`tf.cast(x > 0, ...) * tf.math.log(x)`) is found the same way.
"""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Iterator, NamedTuple

from tfnanlint.guards import zero_sets as zerosets
from tfnanlint.ops.domains import Domain, domains, with_domains
from tfnanlint.ops.families.control import outcome
from tfnanlint.ops.provenance import site_behind
from tfnanlint.ops.relations.linear import as_said_of
from tfnanlint.ops.site import Site, both_orders, made_by, same
from tfnanlint.ops.traits import (
    ADDITIONS,
    BEFORE_POLES,
    BRANCHES,
    CASTS,
    CHOICES,
    CLIPS,
    COMPARISON_NAMES,
    DIVISORS,
    FILLS,
    LAMBDAS,
    LOGARITHMS,
    NEUTRAL_OPERANDS,
    POINTWISE,
    POLES,
    RELUS,
    ROOTS,
)
from tfnanlint.program.predicates import facts
from tfnanlint.program.scope import Assigned, Point, Scope, unrefined
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import nodes_in
from tfnanlint.uses.producers import may_stem
from tfnanlint.uses.products import Factor, Factors
from tfnanlint.uses.uses import endings_of
from tfnanlint.values.value import INF, NO_FLOATS, Value, clamp, number, related

if TYPE_CHECKING:
    from tfnanlint.interp.engine import Engine
    from tfnanlint.program.module import Module

# A mask may stand in a helper anywhere in the file; a clip is looked for in the function of what it
# clips.
_CHOICE_WORDS = ("where", "where_v2", "select", "switch", "boolean_mask", "nan_to_num")
_COND_WORDS = ("cond", "smart_cond")
_CLIP_WORDS = ("clip_by_value", "clip", "maximum", "minimum", "relu", "relu6")
MAX_SITES = 24  # op applications looked at behind one branch

Fact = tuple[Value, str, Value]


class Test(NamedTuple):
    """A condition that stands at `point`; the elements are kept where it is `truth`. `node` is None
    where all elements are kept that are finite.
    """

    node: ast.expr | None
    truth: bool
    point: Point


class Masked(NamedTuple):
    """`site` leaves its domain at `param`, only where the `choice` throws its result away.

    `cut` tells that no gradient flows back from the choice to the site; `direct` that every element
    of `param` stands for one element of the result, so that the choice's condition fits it;
    `by_result` that the test asks whether the result is finite.
    """

    choice: Site
    test: Test
    site: Site
    param: str
    domain: Domain
    cut: bool
    direct: bool
    by_result: bool


class Masks:
    """The masked op applications of one module."""

    def __init__(self, module: Module, interpreter: Engine):
        self.module = module
        self.interpreter = interpreter
        self._by_node: dict[ast.AST, Masked] = {}
        self._searched: set[ast.AST | None] = set()
        self._positive: dict[Scope, set[ast.AST]] = {}
        self._passed: dict[ast.AST, Masked] | None = None
        self._rows: dict[tuple[str, ...], list[int]] = {}
        self._factors = Factors(module, interpreter, _is_mask)

    def factors(self, site: Site, masked: bool = False) -> Iterator[Factor]:
        """`Factors.of`."""
        return self._factors.of(site, masked)

    def weighs(self, value: Value, scope: Scope) -> bool:
        """Whether a value is a factor beside a tensor somewhere in a body: a mask, or weights."""
        for times in self._factors.products_of(scope):
            self.interpreter.session.steps = 0
            for param, tensor in (("x", "y"), ("y", "x")):
                maker = times.maker(param)
                if (
                    (maker is None or maker.passes or maker.name in CASTS)
                    and same(plain(times.value(param)), value)
                    and times.value(tensor).kind != "number"
                ):
                    return True
        return False

    def of(self, site: Site) -> Masked | None:
        """The choice of this module that hides what `site` gives outside its domain, if there is
        one.
        """
        around = [
            node
            for node in self.module.chain(site.node.lineno)
            if not isinstance(node, ast.ClassDef)
        ]
        place = around[0] if around else self.module.source.tree
        if None not in self._searched:
            self._searched.add(None)
            for choice in self._choices(self._rows_of(_CHOICE_WORDS), CHOICES):
                for masked in self.behind(choice):
                    self._by_node.setdefault(masked.site.node, masked)
        if place not in self._searched:
            self._searched.add(place)
            for choice in self._choices(
                self._rows_of(_CLIP_WORDS, place if around else None), CLIPS
            ):
                for masked in clipped(choice, self.interpreter):
                    self._by_node.setdefault(masked.site.node, masked)
        return self._by_node.get(site.node)

    def keeps_positive(self, root: Site) -> bool:
        """Whether a later choice takes a root, norm or deviation itself, only where it is above 0
        (`tf.where(n > 0, n, 0)`).
        """
        scope = root.point.scope  # `_nowhere_else` asks for both in one body
        if scope not in self._positive:
            self._positive[scope] = set()
            for choice in self._choices(
                self._rows_of(_CHOICE_WORDS, scope.node if hasattr(scope.node, "lineno") else None),
                BRANCHES,
            ):
                for param, test in branches(choice):
                    kept = made_by(choice.value(param), *ROOTS)
                    if (
                        kept is not None
                        and _asks_positive(choice.value("condition"), kept, test.truth)
                        and _nowhere_else(kept, choice)
                    ):
                        self._positive[scope].add(kept.node)
        return root.node in self._positive[scope]

    def compared(self, site: Site) -> bool:
        """Whether a comparison in its function reads what a site gives, itself or by its name."""
        body = site.point.scope.node if site.point is not None else None
        if body is None or not hasattr(body, "lineno"):
            return False
        names = {
            target.id
            for node in nodes_in(body)
            if isinstance(node, ast.Assign) and node.value is site.node
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        return any(
            inner is site.node or isinstance(inner, ast.Name) and inner.id in names
            for node in nodes_in(body)
            if isinstance(node, ast.Compare)
            or isinstance(node, ast.Call)
            and leaf(node.func) in COMPARISON_NAMES
            for inner in nodes_in(node)
        )

    @property
    def conditional(self) -> bool:
        """Whether the file may hold a `tf.cond`, as its text tells: else `passed_over` need not be
        asked.
        """
        return bool(self._rows_of(_COND_WORDS))

    def passed_over(self, site: Site) -> bool:
        """Whether a later `tf.cond` alone reads what a site gave, and only where that is inside its
        domain. It was computed all the same, so that its gradient is 0 times infinity.
        """
        if self._passed is None:
            self._passed = {}
            for choice in self._choices(self._rows_of(_COND_WORDS), frozenset(("tf.cond",))):
                # what a branch computes itself is not computed for the other
                inside = set(nodes_in(choice.node))
                self._passed.update(
                    {
                        masked.site.node: masked
                        for masked in self.behind(choice)
                        if masked.site.node not in inside
                        and masked.site.point is not None
                        and masked.site.point.scope is choice.point.scope
                    }
                )
        masked = self._passed.get(site.node)
        return masked is not None and read_by_choice_only(masked)

    def _rows_of(self, words: tuple[str, ...], place: ast.AST | None = None) -> list[int]:
        """The rows that hold calls of what is named by words,
        in the whole file or in one function.
        """
        if words not in self._rows:
            self._rows[words] = self.module.source.rows_calling(words)
        rows = self._rows[words]
        return (
            rows
            if place is None
            else rows[bisect_left(rows, place.lineno) : bisect_right(rows, place.end_lineno)]
        )

    def _choices(self, rows: list[int], names: frozenset[str]) -> Iterator[Site]:
        for row in rows:
            for expression, point in self.module.expressions(row, self.interpreter):
                for node in nodes_in(expression):
                    if isinstance(node, ast.Call):
                        op, _ = self.interpreter.row(node.func, point)
                        if op is not None and op.name in names:
                            factor = self.interpreter.site(node, point)
                            if factor is not None:
                                yield factor

    def behind(self, choice: Site) -> list[Masked]:
        """What a choice hides: not what both of its branches are made of, for there it takes the
        result in any case.
        """
        searches = []
        for param, test in branches(choice):
            self.interpreter.session.steps = 0
            filler = choice.maker(param)
            if (
                isinstance(choice.args.get(param), ast.Constant)
                or filler is not None
                and filler.name in FILLS
            ):
                continue  # nothing stands behind a number
            if not may_stem(self.interpreter, choice, param, with_domains(), None):
                continue
            searches.append(_Search(self.interpreter, choice, param, test))
            for part in (
                _parts(outcome(choice, param))
                if choice.op.name == "tf.cond"
                else [choice.value(param)]
            ):
                searches[-1].visit(part, False, True)
        common = (
            set.intersection(*(one.seen for one in searches))
            if len(searches) > 1 and choice.op.name != "tf.multiply"
            else ()
        )
        return [masked for one in searches for masked in one.found if id(masked.site) not in common]


def branches(choice: Site) -> Iterator[tuple[str, Test]]:
    """(parameter, test under which its elements are kept) for each branch of a choice or factor of
    a product.
    """
    if choice.op.name == "tf.where" and choice.given("x") and choice.given("y"):
        yield from _both(choice, "condition", "x", "y")
    elif (
        choice.op.name == "K.switch"
        and choice.given("then_expression")
        and choice.given("else_expression")
    ):
        if not isinstance(choice.args.get("then_expression"), ast.Lambda):
            yield from _both(choice, "condition", "then_expression", "else_expression")
    elif choice.op.name == "tf.cond" and choice.given("true_fn") and choice.given("false_fn"):
        yield from _both(choice, "pred", "true_fn", "false_fn")
    elif choice.op.name == "ops.nan_to_num":
        yield "x", Test(None, True, choice.point)
    elif choice.op.name == "tf.boolean_mask" and "mask" in choice.args:
        yield "x", Test(choice.args["mask"], True, choice.point)
    elif choice.op.name == "tf.multiply":
        for param, mask in (("x", "y"), ("y", "x")):
            test = mask_test(choice.value(mask))
            if test is not None:
                yield param, test


def read_by_choice_only(masked: Masked) -> bool:
    """Whether nothing but the branch of a choice reads what a site gives, so that its input may be
    another wherever the choice drops the result.
    """
    kept = [
        node
        for param, _ in branches(masked.choice)
        for node in [masked.choice.args.get(param)]
        if node is not None
    ]
    if masked.by_result and masked.test.node is not None:
        # it asks whether the result is finite: the mask of the input says so, too
        kept.append(masked.test.node)
    chosen = {inner for node in kept for inner in nodes_in(node)}
    if masked.site.node in chosen:
        return True
    point = masked.site.point
    if point is None or point.over is not None or point.scope.function is None:
        return False
    return endings_of(point.scope, point.scope.module).only_read_in(masked.site.node, chosen)


def clipped(clip: Site, interpreter: Engine) -> list[Masked]:
    """The op applications whose infinite results a clip cuts off; `test` says nothing."""
    masked: list[Masked] = []
    test = Test(None, True, clip.point)
    for param in _OPERANDS.get(clip.op.name, (clip.op.main,)):
        if not may_stem(interpreter, clip, param, _POLES, BEFORE_POLES):
            continue
        low, high = _limits(clip, param)
        if not low and not high:
            continue
        for site, side, cut in _poles(clip.value(param), 1, clip.value(param).dtype in NO_FLOATS):
            if low and side <= 0 or high and side >= 0:
                masked += [
                    Masked(clip, test, site, inner, where, cut, True, False)
                    for inner, where in domains(site)
                    if not where.holds(site.value(inner))
                ]
    return masked


def _limits(clip: Site, param: str) -> tuple[bool, bool]:
    """Whether a clip bounds an operand below, and whether above."""
    if clip.op.name in _OPERANDS:
        bound = clip.value("y" if param == "x" else "x")
        # One that is never Inf is a number, however large it may be, and so is the level of an
        # integer.
        whole = bound.known and not bound.inf or clip.value(param).dtype in NO_FLOATS
        low, high = bound.lo > -INF or whole, bound.hi < INF or whole
        return clip.op.name == "tf.maximum" and low, clip.op.name == "tf.minimum" and high
    if clip.op.name == "tf.clip_by_value":
        return clip.value("clip_value_min").lo > -INF, clip.value("clip_value_max").hi < INF
    return True, clip.op.name == "tf.nn.relu6"


def least_result(masked: Masked) -> float | None:
    """The number that a clip gives in the place of -inf; None where it is not known. The same of a
    minimum of the result with its sign changed.
    """
    site, clip = masked.site, masked.choice
    if clip.op.name in RELUS and clip.value(clip.op.main).origin is site:
        return 0.0
    for param, limit in (("x", "clip_value_min"), ("x", "y"), ("y", "x")):
        if clip.given(param) and clip.value(param).origin is site and clip.value(limit).is_number:
            return float(clip.value(limit).const)
    for param, limit in (("x", "clip_value_max"), ("x", "y"), ("y", "x")):
        negated = made_by(clip.value(param), "tf.negative") if clip.given(param) else None
        if negated is not None and negated.value("x").origin is site:
            if clip.value(limit).is_number:
                return -float(clip.value(limit).const)
    return None


_OPERANDS = {"tf.maximum": ("x", "y"), "tf.minimum": ("x", "y")}


# calls that ask no more of a value than its shape
_SHAPES = ("zeros_like", "ones_like", "shape", "size", "rank")
# Comparisons that say of one side that it is not 0, by truth: (that side, whether the other may
# also be above 0).
_POSITIVE = {
    True: {
        "tf.greater": [("x", True)],
        "tf.less": [("y", True)],
        "tf.not_equal": [("x", False), ("y", False)],
    },
    False: {
        "tf.less_equal": [("x", True)],
        "tf.greater_equal": [("y", True)],
        "tf.equal": [("x", False), ("y", False)],
    },
}
_POLES = frozenset(POLES)


def _poles(value: Value, sign: int, cut: bool, depth: int = 4) -> Iterator[tuple[Site, int, bool]]:
    """(op application with a pole, where its pole shows in a value: -1 at the low end, 1 at the
    high one, 0 at both; whether the gradient is cut), through signs, sums, factors and ops that
    hand values on.
    """
    origin = value.origin
    if (
        not isinstance(origin, Site)
        or depth == 0
        or origin.library in ("np", "math", "builtins", "layer")
    ):
        return
    name = origin.op.name
    cut = cut or name == "tf.stop_gradient" or value.dtype in NO_FLOATS
    if name in LOGARITHMS:
        yield origin, -sign, cut
    elif name in ("tf.divide", "tf.math.floordiv") and (
        origin.value("y").lo > 0 or origin.value("y").hi < 0
    ):
        turned = sign if origin.value("y").lo > 0 else -sign
        yield from _poles(origin.value("x"), turned, cut or name != "tf.divide", depth - 1)
    elif name in DIVISORS:
        positive = origin.value(DIVISORS[name]).nonnegative and (
            name != "tf.divide" or origin.value("x").nonnegative
        )
        yield origin, sign if positive else 0, cut
    elif name == "tf.negative":
        yield from _poles(origin.value("x"), -sign, cut, depth - 1)
    elif name == "tf.multiply":
        for part, factor in both_orders(origin):
            turned = sign if factor.positive else -sign if factor.hi < 0 else 0
            yield from _poles(part, turned, cut, depth - 1)
    elif name in ADDITIONS:
        yield from _poles(origin.value("x"), sign, cut, depth - 1)
        yield from _poles(
            origin.value("y"), -sign if name == "tf.subtract" else sign, cut, depth - 1
        )
    elif origin.op.passes or name in CASTS:
        yield from _poles(origin.value(origin.op.passes or "x"), sign, cut, depth)


def _parts(value: Value) -> Iterator[Value]:
    """The values that a dict or a tuple holds; any other value as it is."""
    inner = (
        value.obj.values()
        if isinstance(value.obj, dict)
        else value.obj
        if isinstance(value.obj, tuple)
        else None
    )
    for part in inner if inner is not None else ():
        yield from _parts(part)
    if inner is None:
        yield value


def _both(choice: Site, condition: str, then: str, otherwise: str) -> Iterator[tuple[str, Test]]:
    test = choice.args.get(condition)
    if test is not None:
        yield then, Test(test, True, choice.point)
        yield otherwise, Test(test, False, choice.point)


def mask_test(value: Value) -> Test | None:
    """The condition that a mask of zeros and ones was cast from."""
    cast = made_by(value, *CASTS)
    if (
        cast is None
        or cast.point is None
        or "x" not in cast.args
        or cast.value("x").dtype != "bool"
    ):
        return None
    return Test(cast.args["x"], True, cast.point)


def _is_mask(times: Site, param: str) -> bool:
    """Whether a factor is a mask that was cast from a condition."""
    return (
        not isinstance(times.args.get(param), ast.Constant)
        and times.may_be_made_by(param, *CASTS)
        and mask_test(times.value(param)) is not None
    )


class _Search:
    """Looks behind one branch for op applications that the test keeps inside their domain."""

    def __init__(self, interpreter: Engine, choice: Site, param: str, test: Test):
        self.interpreter = interpreter
        self.choice = choice
        self.param = param
        self.test = test
        self.found: list[Masked] = []
        self._facts: list[Fact] | None = None
        self.left = MAX_SITES
        self.seen: set[int] = set()

    @property
    def facts(self) -> list[Fact]:
        """What the test says of which values; asked only where something that it may be about
        stands behind the branch.
        """
        if self._facts is None:
            all_finite = [(self.choice.value(self.param), "finite", number(0.0))]
            self._facts = (
                all_finite
                if self.test.node is None
                else list(established(self.interpreter, self.test))
            )
        return self._facts

    def visit(self, value: Value, cut: bool, direct: bool) -> None:
        origin = site_behind(value)
        # `tf.zeros_like(y)` is not made of y
        if origin is None or id(origin) in self.seen or self.left <= 0 or value.exact:
            return
        self.seen.add(id(origin))
        self.left -= 1
        cut = cut or origin.op.name == "tf.stop_gradient" or value.dtype in NO_FLOATS
        if origin.library not in ("np", "math", "builtins", "layer"):
            self._judge(origin, cut, direct)
        elementwise = direct and _elementwise(origin)
        for param in origin.params:
            self.visit(origin.value(param), cut, elementwise)

    def _judge(self, site: Site, cut: bool, direct: bool) -> None:
        for param, domain in domains(site):
            value = site.value(param)
            if domain.holds(value) and not (
                value.guarded and self._thrown_out(site, param, domain)
            ):
                continue
            by_result = self._finite(site)
            under = self.under(site, param)
            if by_result or domain.holds(under) or _zero_taken_out(domain, value, under):
                self.found.append(
                    Masked(self.choice, self.test, site, param, domain, cut, direct, by_result)
                )
                return

    def _thrown_out(self, site: Site, param: str, domain: Domain) -> bool:
        """Whether what arrives where the test throws the result away surely lies outside, in part:
        who adds 1e-6 to x and chooses by `x >= 0` has said that x may be negative. By `x > 0` he
        may have thought of 0 alone, and so by `x >= 1e-6`.
        """
        if self.test.node is None:
            return False
        opposite = _Search(
            self.interpreter,
            self.choice,
            self.param,
            Test(self.test.node, not self.test.truth, self.test.point),
        )
        signs = any(
            bound.exact and bound.lo == 0 and relation.rstrip("?") in ("<", ">", ">=")
            for _, relation, bound in opposite.facts
        )
        return signs and domain.clear(opposite.under(site, param))

    def _finite(self, site: Site) -> bool:
        """Whether the test asks for the result itself to be finite."""
        return site.result is not None and any(
            relation == "finite" and (same(value, site.result) or site_behind(value) is site)
            for value, relation, _ in self.facts
        )

    def under(self, site: Site, param: str) -> Value:
        """What arrives at a parameter where the test is true."""
        value = site.value(param)
        for subject, relation, bound in self.facts:
            value = _with_fact(value, subject, relation, bound)
        if value is not site.value(param):
            return value
        evaluated = self._evaluated_under(site, param)
        if (evaluated.lo, evaluated.hi, evaluated.zero) != (value.lo, value.hi, value.zero):
            return evaluated
        for subject, relation, bound in self.facts:
            said = as_said_of(plain(value), plain(subject), relation, bound)
            value = related(value, *said) if said is not None else value
        return value if value is not site.value(param) else evaluated

    def _evaluated_under(self, site: Site, param: str) -> Value:
        """What arrives at a parameter with the names of the test refined."""
        value = site.value(param)
        if param not in site.args or site.point is None or self.test.node is None:
            return value
        if site.point.scope is not self.test.point.scope:
            return value
        point = self._assuming(site.point)
        return (
            self.interpreter.evaluate(site.args[param], point) if point is not site.point else value
        )

    def _assuming(self, point: Point) -> Point:
        """A point with the names of the test refined, if they mean the same there."""
        test = self.test
        if test.node is None:
            return point
        under = self.interpreter.assuming(test.node, test.truth, test.point)
        if under is test.point or not under.over:
            return point
        steady = {
            path: binding
            for path, binding in under.over.items()
            if unrefined(binding) is unrefined(point.binding(path))
        }
        return point.under(steady) if steady else point


def _zero_taken_out(domain: Domain, value: Value, under: Value) -> bool:
    """Whether a test takes the 0 away from something of which nothing else is known:
    `tf.where(x == 0, 0, x * log(x))`.
    """
    return (
        domain.lo == 0
        and domain.open
        and not value.known
        and value.zero
        and not under.zero
        and under.lo == -INF
    )


def _nowhere_else(root: Site, choice: Site) -> bool:
    """Whether what a root gives is read only by a choice, by comparisons, and for its shape."""
    body = (
        root.point.scope.node
        if root.point is not None and root.point.scope is choice.point.scope
        else None
    )
    if body is None:
        return False
    statements = {node.value: node for node in nodes_in(body) if isinstance(node, ast.Assign)}
    names = {
        target.id
        for target in getattr(statements.get(root.node), "targets", ())
        if isinstance(target, ast.Name)
    }
    there = {
        inner
        for node in (choice.node, *(one for one in nodes_in(body) if isinstance(one, ast.Compare)))
        for inner in nodes_in(node)
    }
    tests = {
        inner
        for one in nodes_in(body)
        if isinstance(one, ast.Call) and leaf(one.func) in COMPARISON_NAMES.union(_SHAPES)
        for inner in nodes_in(one)
    }
    taken = _replaced(body, statements.get(root.node), statements.get(choice.node))
    read = [
        node
        for node in nodes_in(body)
        if isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Load)
        and node.id in names
        and not (node.id in taken and node.lineno > (choice.node.end_lineno or 0))
    ]
    return all(node in there or node in tests for node in read) and (
        bool(names) or root.node in there
    )


def _replaced(body: ast.AST, definition: ast.Assign | None, chosen: ast.Assign | None) -> set[str]:
    """The names that a choice takes over from what it chooses from, in one block:
    `n = tf.where(n > 0, n, 0)`.
    """
    blocks = [
        block
        for node in nodes_in(body)
        if isinstance(block := getattr(node, "body", None), list) and definition in block
    ]
    if definition is None or chosen is None or not any(chosen in block for block in blocks):
        return set()
    return {target.id for target in chosen.targets if isinstance(target, ast.Name)}


def _asks_positive(condition: Value, root: Site, truth: bool) -> bool:
    """Whether a condition, where it has this truth, says that what a root gives is not 0."""
    test = made_by(condition, *_POSITIVE[truth])
    if test is None or root.result is None:
        return False
    return any(
        same(test.value(side), root.result)
        and zero.is_number
        and (zero.lo == 0 or bounds and zero.lo > 0)
        for side, bounds in _POSITIVE[truth][test.op.name]
        for zero in [test.value("y" if side == "x" else "x")]
    )


def _with_fact(value: Value, subject: Value, relation: str, bound: Value) -> Value:
    """`value` where `subject relation bound`, if the subject is the value, or its magnitude."""
    if same(plain(subject), plain(value)):
        return related(value, relation, bound)
    magnitude = made_by(subject, "tf.abs")
    if magnitude is not None and same(plain(magnitude.value("x")), plain(value)):
        sign = relation.rstrip("?")
        if sign in ("<", "<="):
            return (
                clamp(clamp(value, lo=-bound.hi), hi=bound.hi)
                if sign == "<="
                else _strictly(value, bound.hi)
            )
        if sign in (">", ">=", "!=") and bound.lo >= 0 and (sign != ">=" or bound.lo > 0):
            return clamp(value, nonzero=True)
    return (
        clamp(value, nonzero=True)
        if value.zero and zerosets.leaves_no_zero(value, subject, relation, bound)
        else value
    )


def _strictly(value: Value, limit: float) -> Value:
    """`value` strictly between -limit and limit: the next numbers below, as bounds are closed."""
    nearest = limit * (1.0 - 2.0**-24) if limit > 0 else limit
    return clamp(value, lo=-nearest, hi=nearest)


def plain(value: Value) -> Value:
    """A value seen through ops that hand values on unchanged: casts, too, `0 + x`, `x / 1`, and
    layers that only apply a function.
    """
    for _ in range(16):
        origin = value.origin
        if not isinstance(origin, Site):
            return value
        if origin.op.name in LAMBDAS and "computed" in origin.values:
            value = origin.values["computed"]
            continue
        param = origin.op.passes or ("x" if origin.op.name in CASTS else _beside_neutral(origin))
        if not param or not origin.given(param) or origin.op.name == "tf.boolean_mask":
            return value
        value = origin.value(param)
    return value


def _beside_neutral(site: Site) -> str:
    """The operand beside a number that changes nothing (`0 + x`, `x * 1`);
    "" where there is none.
    """
    neutral = NEUTRAL_OPERANDS.get(site.op.name)
    if neutral is None:
        return ""
    number, params = neutral
    for param, constant in params:
        operand = site.value(constant)
        if operand.is_number and operand.const == number:
            return param
    return ""


def established(interpreter: Engine, test: Test, depth: int = 4) -> Iterator[Fact]:
    """What surely holds of which values when a test is as assumed; masks that have a name are
    looked up.
    """
    if test.node is None:
        return
    tested = interpreter.evaluate(test.node, test.point)
    infinite = made_by(tested, "tf.math.is_inf") if not test.truth else None
    if infinite is not None:
        yield infinite.value("x"), "finite", number(0.0)
    for node, relation, right in facts(test.node, test.truth):
        inner = (
            _definition(node, test.point)
            if right == 0.0 and depth and relation in ("!=", "==")
            else None
        )
        if inner is not None:
            yield from established(
                interpreter, Test(inner.node, relation == "!=", inner.point), depth - 1
            )
            continue
        bound = (
            number(right) if isinstance(right, float) else interpreter.evaluate(right, test.point)
        )
        yield interpreter.evaluate(node, test.point), relation, bound


def zero_put_in(value: Value, interpreter: Engine) -> bool:
    """Whether each 0 in a value is a constant that a choice, or the filling of a matrix, has put
    there: the gradient of what is made of it ends at that constant.
    """
    filled = made_by(value, "tf.linalg.diag", "tf.linalg.band_part")
    if filled is not None:
        return not filled.value("x").zero
    choice = made_by(value, "tf.where")
    if choice is None or not (choice.given("x") and choice.given("y")):
        return False
    for param, test in branches(choice):
        inner = choice.value(param)
        for subject, relation, bound in (
            () if inner.exact or not inner.zero else established(interpreter, test)
        ):
            inner = _with_fact(inner, subject, relation, bound)
        if inner.zero and not inner.exact:
            return False
    return True


def _definition(node: ast.expr, point: Point) -> Assigned | None:
    """The assignment of a name that stands for a condition."""
    binding = unrefined(point.lookup(node.id)) if isinstance(node, ast.Name) else None
    conditions = (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Call, ast.BinOp, ast.Name)
    return (
        binding if isinstance(binding, Assigned) and isinstance(binding.node, conditions) else None
    )


def _elementwise(site: Site) -> bool:
    """Whether every element of the result is made from the elements at the same place."""
    op = site.op
    if op.passes or op.name.startswith("tf.linalg.") or "axis" in op.params:
        return op.name in ("tf.identity", "tf.stop_gradient")
    return op.name in CASTS or op.name in POINTWISE or bool(op.masked)
