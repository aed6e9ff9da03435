"""One op application and the values that reach it."""

from __future__ import annotations

import ast
import math
import sys
from typing import Any, Callable, Final

from tfnanlint.diagnostics.findings import Differentiated
from tfnanlint.ops.row import Op
from tfnanlint.ops.traits import ALIGNED, COPIES, OF_SEVERAL_FUNCTIONS, SELECTIONS
from tfnanlint.syntax.nodes import nodes_in
from tfnanlint.syntax.source import Source
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import NO_CONSTANT, Note, Value, unknown

_ARRAYS: Final = frozenset(("tensor", "array", "unknown", "sequence"))
_LARGEST: Final = int(sys.float_info.max)
_PLACES: Final = frozenset((ast.Constant, ast.Slice, ast.Tuple))
_SAME_DEPTH: Final = 16  # operations that `same` looks behind two values


class Site:
    """`op` applied at `node`.

    `args` maps parameter names to the expressions given; `value(param)` is what arrives there,
    computed by `interpreter` when asked for: None for a site whose values are all given. `complete`
    is False when an argument could not be bound to a parameter of the row (then no fix is made),
    `hidden` is True when `**` hides some that are not known. `library` tells which spelling
    family the op came in: tf, K, ops, tnp, keras, np, operator, method. `point` is where in the
    program the site stands; only the engine looks into it. `values` holds what has been found or
    handed in already, `assumed` the assumptions on which that rests; `judge` says whether a
    gradient is taken through a site.
    """

    __slots__ = (
        "op",
        "node",
        "args",
        "complete",
        "hidden",
        "library",
        "point",
        "source",
        "name",
        "result",
        "interpreter",
        "values",
        "assumed",
        "judge",
    )

    def __init__(
        self,
        op: Op,
        node: ast.expr,
        args: dict[str, ast.expr],
        interpreter: Evaluator | None,
        *,
        complete: bool = True,
        library: str = "tf",
        point: Any = None,
        source: Source | None = None,
        name: str = "",
    ):
        self.op = op
        self.node = node
        self.args = args
        self.complete = complete
        self.hidden = False
        self.library = library
        self.point = point
        self.source = source
        self.name = name
        self.result: Value | None = None  # what it gave
        self.values: dict[str, Value] = {}
        self.assumed: dict[str, tuple[tuple[Any, int], ...]] = {}
        self.interpreter = interpreter
        self.judge: Callable[[Site, bool], Differentiated] | None = None

    @classmethod
    def of_values(cls, op: Op, values: dict[str, Value]) -> Site:
        """A site without source, for tests and for ops applied by other ops."""
        site = cls(op, ast.Constant(value=None), {}, None)
        site.values.update(values)
        return site

    def value(self, param: str) -> Value:
        """What reaches `param`; an unknown value when the argument was not given."""
        value = self.values.get(param)
        if value is None:
            node = self.args.get(param)
            if node is None or self.interpreter is None:
                return unknown()
            reads = self.interpreter.reads
            mark = len(reads)
            value = self.values[param] = self.interpreter.evaluate(node, self.point)
            if len(reads) > mark:
                self.assumed[param] = tuple([(one, one.stamp) for one in reads[mark:]])
        elif param in self.assumed:
            self._assume_again(param)
        return value

    def _assume_again(self, param: str) -> None:
        """Note the assumptions on which a value rests that was found before, as far as they are
        still made: what is computed from it must not be kept after them.
        """
        if self.interpreter is not None:
            self.interpreter.reads += [
                assumption for assumption, stamp in self.assumed[param] if assumption.stamp == stamp
            ]

    def arrives(self, kind: str) -> bool:
        """Whether something of a kind has arrived at a parameter."""
        for value in self.values.values():
            if value.kind == kind:
                return True
        return False

    def limits(self, origin: Any) -> bool:
        """Whether the op bounds a value of this origin: tf.maximum(total, floor) of total."""
        if self.op.bounds:
            for value in self.values.values():
                if value.origin is origin:
                    return True
        return False

    def forget(self) -> None:
        """Ask for every argument anew."""
        for param in self.args:
            self.values.pop(param, None)

    def give(self) -> Value:
        """What the row computes, as a value of this site's own: never one that arrived here, or
        that a table or an expression keeps.
        """
        computed = self.op.gives(self)
        value = computed.copy()
        if value.kind in _ARRAYS:
            value.emptied = self._leaves_nothing()
            if value.emptied and self.arrives("sequence"):
                value.dtype = None  # a list without elements has none of their dtype
        return value

    def _leaves_nothing(self) -> bool:
        """Whether the result may be without elements: of one that may be, but for the sum over all
        of them, and of a mask.

        Sizes that an op is given are no elements of it, and there are some.
        """
        if self.op.name in SELECTIONS or self.op.name == "tf.where" and not self.given("x"):
            return True
        for value in self.values.values():
            if value.emptied and value.kind != "number":
                return "keepdims" not in self.op.params or self.given("axis")
        return False

    def another(self) -> Site:
        """The same op on other elements, which were not followed: another round of a comprehension,
        another row of a tensor.
        """
        site = Site(
            self.op,
            self.node,
            self.args,
            self.interpreter,
            complete=False,
            library=self.library,
            point=self.point,
            source=self.source,
            name=self.name,
        )
        site.hidden, site.result, site.values = self.hidden, self.result, self.values
        site.assumed = self.assumed
        site.judge = self.judge
        return site

    def maker(self, param: str) -> Op | None:
        """The op that makes what reaches `param`, where the names alone tell it; nothing is
        computed.
        """
        node = self.args.get(param)
        return (
            self.interpreter.maker(node, self.point)
            if self.interpreter is not None and node is not None
            else None
        )

    def may_be_made_by(self, param: str, *names: str) -> bool:
        """Whether an op among `names` may make what reaches `param`, as far as `maker` can tell:
        ask it before `value`.
        """
        if isinstance(self.args.get(param), ast.Constant):
            return False
        maker = self.maker(param)
        return maker is None or bool(maker.passes) or maker.name in names

    @property
    def by_mask(self) -> bool:
        """Whether it takes elements by a mask (`x[x > 0]`), perhaps none."""
        mask = self.mask
        return mask is not None and mask.dtype == "bool"

    @property
    def mask(self) -> Value | None:
        """The index of a subscript that may be a mask; None for places and slices."""
        index = self.node.slice if isinstance(self.node, ast.Subscript) else None
        if index is None or self.interpreter is None or type(index) in _PLACES:
            return None
        return self.interpreter.evaluate(index, self.point)

    @property
    def params(self) -> list[str]:
        """The parameters that were given: those with an expression, else those with a value."""
        return list(self.args or self.values)

    def given(self, param: str) -> bool:
        return param in self.args or param in self.values

    def const(self, param: str, default: Any = None) -> Any:
        """The Python constant given for `param`; `default` when not given, NO_CONSTANT when given
        but not constant. A whole number that no float holds is infinite, as it would be in any op.
        """
        const = self.value(param).const if self.given(param) else default
        if type(const) is int and abs(const) > _LARGEST:
            return math.inf if const > 0 else -math.inf
        return const

    @property
    def differentiated(self) -> Differentiated:
        """Whether a gradient is taken through this site."""
        return self.gradient()

    def gradient(self, as_of: Site | None = None, is_seen: bool = False) -> Differentiated:
        """Whether a gradient is taken through this site; `as_of` a site of the linted file to which
        the result of this one goes, judged as what stands there is. `is_seen`: as far as the
        program shows it; else a guess counts.
        """
        judge = (as_of or self).judge
        return judge(self, is_seen) if judge is not None else Differentiated.UNKNOWN

    def apply(self, callee: Value, *args: Value) -> Value:
        """What calling `callee` (an activation, a mapped function) on `args` gives; unknown when it
        is not known.
        """
        return (
            self.interpreter.call_with(callee, list(args))
            if self.interpreter is not None
            else unknown()
        )

    def __repr__(self) -> str:
        return f"<Site {self.op.name} line {getattr(self.node, 'lineno', '?')}>"


class NotingSite(Site):
    """A site that notes what its row hands to the functions that it is given."""

    __slots__ = ("handed",)

    def __init__(self, site: Site):
        super().__init__(
            site.op,
            site.node,
            site.args,
            site.interpreter,
            complete=site.complete,
            library=site.library,
            point=site.point,
            source=site.source,
            name=site.name,
        )
        self.values.update(site.values)
        self.assumed.update(site.assumed)
        self.handed: list[tuple[Value, tuple[Value, ...]]] = []

    def apply(self, callee: Value, *args: Value) -> Value:
        self.handed.append((callee, args))
        return super().apply(callee, *args)


class PartlySeen(Site):
    """A site with arguments that may be hidden; `asked` has those of them that its row asks for."""

    __slots__ = ("asked",)

    def __init__(self, op: Op, node: ast.expr, args: dict[str, ast.expr], *rest: Any, **more: Any):
        super().__init__(op, node, args, *rest, **more)
        self.asked: set[str] = set()

    def value(self, param: str) -> Value:
        self.given(param)
        return super().value(param)

    def given(self, param: str) -> bool:
        seen = super().given(param)
        if self.hidden and not seen:
            self.asked.add(param)
        return seen


def another(value: Value, kind: str | None = None) -> Value:
    """A number of its own that is made as `value` was: one more element of a list or tensor of
    which only `value` is known.
    """
    obj = (
        tuple([another(item) for item in value.obj])
        if isinstance(value.obj, tuple) and value.kind == "sequence"
        else value.obj
    )
    return value.but(origin=_another(value.origin), kind=kind, obj=obj)


def element_of(value: Value, kind: str) -> Value:
    """One element of a list or tensor of which only is known what all of it is, as `another` makes
    it.
    """
    return value.but(
        origin=_another(value.origin),
        kind=kind,
        obj=None,
        const=NO_CONSTANT,
        emptied=value.emptied and kind != "number",
    )


def _another(origin: Any) -> Any:
    return origin.another() if isinstance(origin, Site) else origin


def made_by(value: Value, *names: str, aligned: bool = False) -> Site | None:
    """The op application among `names` whose result `value` is, seen through ops that pass values
    unchanged.

    `aligned`: not through ops that pick or move elements, for relations between elements
    (`x - max(x)`).
    """
    for _ in range(32):
        origin = value.origin
        if not isinstance(origin, Site):
            return None
        if origin.op.name in names:
            return origin
        if not origin.op.passes or aligned and origin.op.name not in ALIGNED:
            return None
        value = origin.value(origin.op.passes)
    return None


def operands(site: Site | None) -> tuple[Value, ...]:
    """What arrives at `x` and `y` of an op application; nothing for None."""
    return () if site is None else (site.value("x"), site.value("y"))


def both_orders(site: Site | None) -> tuple[tuple[Value, Value], ...]:
    """The operands of an op application, each with the one beside it: `(x, y), (y, x)`; nothing for
    None.
    """
    if site is None:
        return ()
    x, y = site.value("x"), site.value("y")
    return (x, y), (y, x)


def complemented(value: Value) -> Value | None:
    """The `p` of `1 - p`; None for any other value."""
    difference = made_by(value, "tf.subtract")
    whole = difference.value("x") if difference is not None else None
    is_one = whole is not None and whole.exact and whole.lo == 1
    return difference.value("y") if difference is not None and is_one else None


def part_of(value: Value, index: int, *names: str) -> Site | None:
    """The op application among `names` of whose results `value` is the one at `index`
    (`mean, variance = tf.nn.moments(x)`).
    """
    for _ in range(32):
        origin = value.origin
        if isinstance(origin, Site) and origin.op.passes:
            value = origin.value(origin.op.passes)
            continue
        whole = origin.parent if isinstance(origin, Note) and origin.index == index else None
        return whole if isinstance(whole, Site) and whole.op.name in names else None
    return None


def _itself(value: Value) -> Value:
    """The value before ops that hand every element on in its place."""
    for _ in range(8):
        origin = value.origin
        if not isinstance(origin, Site) or origin.op.name not in COPIES or not origin.complete:
            break
        value = origin.value(origin.op.passes)
    return value


def same(a: Value, b: Value) -> bool:
    """Whether two values are surely the same number: one token, or the same pure op on the same
    values.
    """
    return _same(a, b, _SAME_DEPTH, set())


def _same(a: Value, b: Value, depth: int, known: set[tuple[int, int]]) -> bool:
    """`same`, of which it is known for some pairs of op applications."""
    a, b = _itself(a), _itself(b)
    if a.token == b.token:
        return True
    if a.const is not NO_CONSTANT or b.const is not NO_CONSTANT:
        return type(a.const) is type(b.const) and a.const == b.const
    left, right = _makers(a, b)
    if left is right and left is not None and isinstance(left, Site):
        return True
    if depth == 0 or not isinstance(left, Site) or not isinstance(right, Site):
        return False
    if (id(left), id(right)) in known:
        return True
    if left.op is not right.op or not left.op.pure or left.args.keys() != right.args.keys():
        return False
    if left.op.name in OF_SEVERAL_FUNCTIONS and _last(left.name) != _last(right.name):
        return False
    if left.op.name == "tf.strided_slice" and _same_index(left, right):
        main = left.op.main
        return _same(left.value(main), right.value(main), depth - 1, known)
    if not left.complete or not right.complete or not left.args:
        return False
    for param in left.args:
        if param != "name" and not _same(left.value(param), right.value(param), depth - 1, known):
            return False
    known.add((id(left), id(right)))
    return True


def _last(name: str) -> str:
    """The last part of a name: `rfft` of `tf.signal.rfft`."""
    return name.rpartition(".")[2]


def _makers(a: Value, b: Value) -> tuple[Any, Any]:
    """What made two values; of two results at one index of ops (`slogdet(x)[1]`) these ops."""
    left, right = a.origin, b.origin
    if not isinstance(left, Note) or not isinstance(right, Note):
        return left, right
    if left.index is None or left.index != right.index or not _has_parts(left.parent):
        return left, right
    return left.parent, right.parent


def _has_parts(maker: Any) -> bool:
    """Whether the result of an op application is a tuple; the elements that a loop takes from
    `enumerate(x)` are none.
    """
    if not isinstance(maker, Site) or maker.op.name.startswith("builtins."):
        return False
    result = maker.result
    return result is not None and isinstance(result.obj, tuple)


def _same_index(first: Site, second: Site) -> bool:
    """Whether two sites take the same elements: `x[:, i] * x[:, i]`, with nothing between that
    gives i another value.
    """
    left, right = getattr(first.node, "slice", None), getattr(second.node, "slice", None)
    if (
        left is None
        or right is None
        or first.point is None
        or second.point is None
        or ast.dump(left) != ast.dump(right)
    ):
        return False
    inside = nodes_in(left)
    return not any(isinstance(node, ast.Call) for node in inside) and all(
        first.point.lookup(node.id) is second.point.lookup(node.id)
        for node in inside
        if isinstance(node, ast.Name)
    )


# What arrays have as methods and tensors do not.
_OF_ARRAYS: Final = frozenset(
    f"method.{name}"
    for name in "sum prod std var max min mean any all argmax argmin dot cumsum cumprod".split()
)


def may_be_numpy(site: Site) -> bool:
    """Whether an operator works on an array, and on nothing that is known to be a tensor
    (`p / p.sum()`: p has a method of arrays).
    """
    values = [site.value(param) for param in site.args]
    owners = [
        value.origin.value("self")
        for value in values
        if isinstance(value.origin, Site) and value.origin.name in _OF_ARRAYS
    ]
    others = [
        value
        for value in values
        if not _array(value) and not any(same(value, owner) for owner in owners)
    ]
    return any(map(_array, values)) and not any(value.kind == "tensor" for value in others)


def _array(value: Value) -> bool:
    origin = value.origin
    return (
        value.kind == "array"
        or isinstance(origin, Site)
        and (origin.library == "np" or origin.name in _OF_ARRAYS)
    )
