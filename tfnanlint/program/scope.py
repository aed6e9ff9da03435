"""Scopes, points and bindings: which definition of a name holds at which point of the program.

A scope keeps the history of every name: times and bindings. A point is a scope at a time, so that
an expression met earlier is evaluated later, and only on demand, with the bindings that held
where it stands.
"""

from __future__ import annotations

import ast
from typing import Any, Final

from tfnanlint.program.history import History
from tfnanlint.program.predicates import EXTREMES, inverse_of, parts_that_hold, spelt_out, spoken_of
from tfnanlint.syntax.access_paths import leaf, root_of
from tfnanlint.syntax.nodes import NAME
from tfnanlint.values.evaluator import Evaluator, Module
from tfnanlint.values.value import Value

FOREVER: Final = 1 << 60
COMPUTING: Final = frozenset((ast.Call, ast.BinOp, ast.UnaryOp, ast.IfExp))


class Scope:
    """One activation of a module, class or function body.

    Names and paths (`self.x`, `w['h1']`) share the history. `statements` lists what was walked, for
    finding sites later.
    """

    __slots__ = (
        "node",
        "of_class",
        "parent",
        "time",
        "history",
        "memo",
        "statements",
        "returns",
        "function",
        "module",
        "yields",
        "tapes",
        "stopped",
        "callees",
        "shared",
        "inner",
        "loops",
        "_globals",
        "_later",
        "_here",
    )

    def __init__(self, node: ast.AST, parent: Point | None, module: Module, function: Any = None):
        self.node = node
        self.of_class = isinstance(node, ast.ClassDef)
        self.parent = parent
        self.module = module
        self.function = function
        self.time = 0
        self.history: dict[str, History] = {}
        self.memo: dict[ast.AST, Value] = {}
        self.callees: dict[ast.AST, Any] = {}
        self.statements: list[tuple[ast.expr, int]] = []  # what was walked, and when
        self.returns: list[tuple[ast.expr | None, int]] = []
        # `yield x` and `yield from xs`, with their times
        self.yields: list[tuple[ast.expr, int]] = []
        self.tapes: list[tuple[int, int]] = []
        # `with tape.stop_recording()`, and what `if not training` holds
        self.stopped: list[tuple[int, int]] = []
        self.inner: list[Point] = []  # the points of inner expressions, for `close`
        self.loops: list[Loop] = []
        # names that functions inside assign through global or nonlocal
        self.shared: frozenset[str] = frozenset()
        self._globals: dict[str, Shared] = {}
        self._later: dict[tuple[str, int], tuple[int, Any]] = {}
        self._here: Point | None = None

    def bind(self, path: str, binding: Any) -> None:
        self.time += 1
        entry = self.history.get(path)
        if entry is None:
            self.history[path] = History(self.time, binding)
        else:
            entry.add(self.time, binding)

    def at(self, path: str, time: int = FOREVER) -> Any:
        """The binding of `path` at `time`, or None."""
        entry = self.history.get(path)
        if entry is None:
            return None
        return entry.binding if entry.time <= time else entry.at(time)

    def reaching(self, path: str, time: int) -> Any:
        """What a function defined at `time` may find under `path` when it runs: the binding of then
        or any later one.
        """
        entry = self.history.get(path)
        if entry is None:
            return None
        if path in self.shared:
            return self.shared_binding(path)
        first, count = max(entry.index(time) - 1, 0), entry.count()
        if first == count - 1:
            return entry.binding
        key = (path, first)
        known = self._later.get(key)
        if known is None or known[0] != count:
            bindings = list(dict.fromkeys([b for b in entry.bindings()[first:] if b is not None]))
            known = (
                count,
                Joined(bindings) if len(bindings) > 1 else bindings[0] if bindings else None,
            )
            self._later[key] = known
        return known[1]

    def shared_binding(self, path: str) -> Any:
        """A name that functions inside assign, too: whatever any of them may have left."""
        if path not in self._globals:
            self._globals[path] = Shared(self, path)
        return self._globals[path]

    def bound_at(self, path: str, time: int = FOREVER) -> int:
        """When the binding that holds at `time` was made; 0 when there is none."""
        entry = self.history.get(path)
        return entry.made(entry.index(time)) if entry is not None else 0

    def rebound_at(self, root: str, time: int = FOREVER) -> int:
        """When the object that a name stands for was last exchanged; storing under one key leaves
        the others alone.
        """
        entry = self.history.get(root)
        if entry is None:
            return 0
        index = entry.index(time)
        while (
            index > 1 and isinstance(stored := entry.nth(index), Stored) and stored.key is not None
        ):
            index -= 1
        return entry.made(index)

    def close(self) -> None:
        """Forget everything; see `Module.close`."""
        for point in self.inner:
            point.memo.clear()
            point.over.clear()
        self.inner.clear()
        for loop in self.loops:
            loop.rounds.clear()
        self.loops.clear()
        self.history.clear()
        self.memo.clear()
        self._later.clear()
        for shared in self._globals.values():
            if shared.whole is not None:
                shared.whole.rounds.clear()
        self._globals.clear()
        self._here = None

    def here(self) -> Point:
        """The point reached; one object as long as nothing is bound."""
        point = self._here
        if point is None or point.time != self.time:
            point = self._here = Point(self, self.time)
        return point


class Point:
    """A scope at a time; `over` holds bindings of an inner expression (lambda, comprehension,
    refined branch).
    """

    __slots__ = ("scope", "time", "over", "outer", "memo", "later")

    def __init__(
        self,
        scope: Scope,
        time: int = FOREVER,
        over: dict[str, Any] | None = None,
        outer: Point | None = None,
        later: bool = False,
    ):
        self.scope = scope
        self.later = later  # what stands here is computed later: a lambda that has a name
        self.time = time
        self.over = over
        self.outer = outer
        if over is None:
            self.memo = scope.memo
        else:
            self.memo = {}
            scope.inner.append(self)

    def lookup(self, path: str) -> Any:
        """The binding that holds here, through enclosing scopes for plain names; None when there is
        none.
        """
        point: Point | None = self
        deferred = False  # a function's body runs later than its definition
        while point is not None:
            if point.over is not None:
                binding = point.over.get(path)
                if binding is not None:
                    return binding
                deferred = deferred or point.later
                if point.outer is not None:
                    point = point.outer
                    continue
            scope = point.scope
            if path in scope.shared:
                return scope.shared_binding(path)
            entry = scope.history.get(path)
            if entry is not None:
                if deferred:
                    return scope.reaching(path, point.time)
                return entry.binding if entry.time <= point.time else entry.at(point.time)
            deferred = deferred or scope.function is not None
            point = scope.parent
            while point is not None and point.scope.of_class:
                point = point.scope.parent  # class bodies are not visible from methods
        return None

    def binding(self, path: str) -> Any:
        """The binding of a name or path."""
        root = root_of(path)
        return self.lookup(path) if root == path else self.path_binding(root, path)

    def under(self, over: dict[str, Any], later: bool = False) -> Point:
        """The point with some bindings on top."""
        return Point(self.scope, self.time, over, self, later)

    def path_binding(self, root: str, path: str) -> Any:
        """The binding of `self.x` or `w['k']`, unless its root was bound again later."""
        point: Point | None = self
        while point is not None and point.over is not None:
            binding = point.over.get(path)
            if binding is not None:
                return binding
            point = point.outer
        if point is None:
            return None
        scope, time, deferred = point.scope, point.time, False
        while path not in scope.history:
            if root in scope.history or scope.parent is None:
                return None
            deferred = deferred or scope.function is not None
            scope, time = scope.parent.scope, scope.parent.time
        last = FOREVER if deferred else time
        if scope.bound_at(path, last) < scope.rebound_at(root, last):
            return None
        return scope.reaching(path, time) if deferred else scope.at(path, time)

    @property
    def module(self) -> Any:
        return self.scope.module


class Binding:
    """Something a name stands for; `value` computes it once, when asked."""

    __slots__ = ("kept",)

    def __init__(self) -> None:
        self.kept: Value | None = None

    def value(self, interpreter: Evaluator) -> Value:
        if self.kept is None:
            if self in interpreter.held:
                tentative = interpreter.tentatively(self)
                if tentative is not None:
                    return tentative
            mark = len(interpreter.reads)
            value = self.compute(interpreter)
            if len(interpreter.reads) != mark:
                interpreter.hold(self, value, mark)
                return value
            self.kept = value
        return self.kept

    def compute(self, interpreter: Evaluator) -> Value:
        raise NotImplementedError

    @property
    def computed(self) -> bool:
        """Whether an operation stands where the name is bound, no other name's value."""
        return False

    @property
    def before(self) -> Binding | None:
        """What it was before it was changed, tested or bound in a branch: of these there may be
        thousands, one behind the other.
        """
        return None


def from_the_beginning(binding: Binding, interpreter: Evaluator) -> None:
    """Compute what a binding was before, the first first, where the stack would not hold all."""
    chain: list[Binding] = []
    before = binding.before
    while before is not None and before.kept is None and before not in interpreter.held:
        chain.append(before)
        before = before.before
    if len(chain) > _LONG_CHAIN:
        for earlier in reversed(chain):
            earlier.value(interpreter)


class Fixed(Binding):
    """A value known from the start."""

    __slots__ = ()

    def __init__(self, value: Value):
        self.kept = value


_LONG_CHAIN: Final = 40
UNASKED: Final[Any] = object()


class Imported(Binding):
    """`import a.b as c`, `from a import b`: the dotted path; `level` counts the dots of a relative
    import.
    """

    __slots__ = ("dotted", "level", "module", "target")

    def __init__(self, dotted: str, level: int = 0, module: Any = None):
        self.kept = None
        self.target: Any = UNASKED  # what it leads to in the project; see `Resolution.exported`
        self.dotted = dotted
        self.level = level
        self.module = module

    def compute(self, interpreter: Evaluator) -> Value:
        return interpreter.imported(self)


class Assigned(Binding):
    """`name = node`, evaluated where it stands."""

    __slots__ = ("node", "point")

    def __init__(self, node: ast.expr, point: Point):
        self.kept = None
        self.node = node
        self.point = point

    def compute(self, interpreter: Evaluator) -> Value:
        return interpreter.evaluate(self.node, self.point)

    @property
    def computed(self) -> bool:
        return type(self.node) in COMPUTING


class Element(Binding):
    """One of the targets of an unpacking assignment; `index` is a slice for a starred one."""

    __slots__ = ("whole", "index")

    def __init__(self, whole: Binding, index: int | slice):
        self.kept = None
        self.whole = whole
        self.index = index

    def compute(self, interpreter: Evaluator) -> Value:
        return interpreter.element(self.whole.value(interpreter), self.index)


class Iterated(Binding):
    """The target of a loop or comprehension over `iterable`."""

    __slots__ = ("iterable",)

    def __init__(self, iterable: Binding):
        self.kept = None
        self.iterable = iterable

    def compute(self, interpreter: Evaluator) -> Value:
        return interpreter.iterated(self.iterable.value(interpreter))


class Refined(Binding):
    """`base` where a condition holds (`truth`) or does not."""

    __slots__ = ("base", "path", "test", "truth", "point", "whole", "_computed")

    def __init__(self, base: Binding, path: str, test: ast.expr, truth: bool, point: Point):
        self.kept = None
        self.base = base
        self.path = path
        self.test = test
        self.truth = truth
        self.point = point
        self.whole: Binding = base.whole if isinstance(base, Refined) else base
        self._computed = self.whole.computed

    def compute(self, interpreter: Evaluator) -> Value:
        from_the_beginning(self, interpreter)
        return interpreter.refined(self)

    @property
    def computed(self) -> bool:
        return self._computed

    @property
    def before(self) -> Binding | None:
        return self.base


def adds(computed: bool, values: list[Value]) -> bool:
    """Whether one more value, of which one arrives, may add to what is known of those `values`.
    Beside a vague one only what is `computed` is asked for: it may be shown there that any number
    arrives, or NaN, or Inf. What other names hold is taken to add nothing.
    """
    return computed or not any([value.vague for value in values])


def heard(bindings: list[Binding], interpreter: Evaluator) -> list[Value]:
    """The values of bindings of which one holds, but for those that add nothing."""
    values: list[Value] = []
    for binding in bindings:
        if adds(binding.computed, values):
            values.append(binding.value(interpreter))
    return values


class Joined(Binding):
    """Whichever of several branches was taken."""

    __slots__ = ("bindings", "_computed")

    def __init__(self, bindings: list[Binding]):
        self.kept = None
        self.bindings = bindings
        # asked for at once: of many branches, one behind the other, each would ask all before it
        self._computed = any([one.computed for one in bindings])

    def compute(self, interpreter: Evaluator) -> Value:
        from_the_beginning(self, interpreter)
        return interpreter.joined(heard(self.bindings, interpreter))

    @property
    def computed(self) -> bool:
        return self._computed

    @property
    def before(self) -> Binding | None:
        for binding in self.bindings:
            if isinstance(binding, (Joined, Refined)):
                return binding
        return None


class Stored(Binding):
    """A container after `base[key] = item`; `key` None for one that is not a constant."""

    __slots__ = ("base", "key", "item")

    def __init__(self, base: Binding, key: Any, item: Binding):
        self.kept = None
        self.base = base
        self.key = key
        self.item = item

    def compute(self, interpreter: Evaluator) -> Value:
        from_the_beginning(self, interpreter)  # a table filled line by line
        return interpreter.stored(
            self.base.value(interpreter), self.key, self.item.value(interpreter)
        )

    @property
    def before(self) -> Binding | None:
        return self.base


class Raised(Binding):
    """A variable after `v.assign_add(1)` or `v.assign_add(x.shape[0])`: a counter that was not
    negative is above 0 now. `held` is what any assignment may leave in it.
    """

    __slots__ = ("base", "by", "held")

    def __init__(self, base: Binding, by: Binding, held: Binding):
        self.kept = None
        self.base = base
        self.by = by
        self.held = held

    def compute(self, interpreter: Evaluator) -> Value:
        value = self.base.value(interpreter)
        if not value.nonnegative or value.dtype in ("float16", "bfloat16"):
            return value
        by = self.by.value(interpreter)
        if not by.known or by.lo <= 0:
            return self.held.value(interpreter)
        return value.but(lo=value.lo + by.lo, zero=False, origin=value.origin)


class Loop(Binding):
    """A name at the head of a loop: its value before the loop or after any round."""

    __slots__ = ("entry", "rounds", "stamp", "assumed")

    def __init__(self, entry: Binding | None):
        self.kept = None
        self.entry = entry
        self.rounds: list[Binding] = []
        self.stamp = 0  # of the assumption that is being tried; see `assumptions`
        self.assumed: Value | None = None

    def compute(self, interpreter: Evaluator) -> Value:
        if self.assumed is not None:
            interpreter.reads.append(self)
            return self.assumed
        try:
            return interpreter.settle(self)
        finally:
            self.assumed = None


class Ended(Loop):
    """A name after a loop over `iterable` that binds it in every round: what a round left, where it
    is known that there is one.
    """

    __slots__ = ("loop", "iterable", "point")

    def __init__(self, loop: Loop, iterable: ast.expr, point: Point):
        super().__init__(loop.entry)
        self.rounds = loop.rounds
        self.loop = loop
        self.iterable = iterable
        self.point = point

    def compute(self, interpreter: Evaluator) -> Value:
        if interpreter.has_rounds(self.iterable, self.point):
            return interpreter.joined(heard(self.rounds, interpreter))
        return self.loop.value(interpreter)


class Shared(Binding):
    """A global or nonlocal name that functions inside assign, too: what any assignment may have
    left.
    """

    __slots__ = ("scope", "path", "whole")

    def __init__(self, scope: Scope, path: str):
        self.kept = None
        self.scope = scope
        self.path = path
        self.whole: Loop | None = None

    def compute(self, interpreter: Evaluator) -> Value:
        if self.whole is None:
            self.whole = interpreter.shared(self)
        return self.whole.value(interpreter)


class Parameter(Binding):
    """A parameter of the function that `scope` is an activation of, when no call is being
    followed.
    """

    __slots__ = ("function", "name", "default", "stamp")

    def __init__(self, function: Any, name: str, default: Binding | None):
        self.kept = None
        self.function = function
        self.name = name
        self.default = default
        self.stamp = 0  # not 0 while its callers are being asked

    @property
    def rest(self) -> bool:
        """Whether it collects what its other parameters leave over: `*args`."""
        return isinstance(self.default, Fixed)

    def compute(self, interpreter: Evaluator) -> Value:
        return interpreter.parameter(self)


def unrefined(binding: Binding | None) -> Binding | None:
    """The binding that conditions have refined."""
    return binding.whole if isinstance(binding, Refined) else binding


# they have no parts that are tests
_ONE_TEST: Final = frozenset((ast.Name, ast.Attribute, ast.Subscript, ast.Compare))
_MAX_TESTS: Final = 8  # names of masks followed from one test


def _opposite(test: Any) -> ast.expr:
    """The test that holds where another does not; made once, for what tests say is kept with
    them.
    """
    kept: dict[str, Any] = test.__dict__  # to ask the node for what it has not costs an exception
    if "opposite" not in kept:
        kept["opposite"] = ast.copy_location(ast.UnaryOp(ast.Not(), test), test)
    return kept["opposite"]


def may_be_mask(test: Any, truth: bool) -> bool:
    """Whether a test is a name, inverted or not, or has one among the parts that hold with it; kept
    with the tree.
    """
    if type(test) in _ONE_TEST:
        return type(test) is NAME
    kept: dict[str, Any] = test.__dict__
    key = "mask_if_true" if truth else "mask_if_false"
    known = kept.get(key)
    if known is None:
        part = inverse_of(test)
        if part is not None:
            known = may_be_mask(part, not truth)
        else:
            known = any([may_be_mask(one, truth) for one in parts_that_hold(test, truth)])
        kept[key] = known
    return known


def refinements(
    test: ast.expr, truth: bool, point: Point
) -> list[tuple[ast.expr, str, ast.expr, Point]]:
    """(expression, path, test, where the test was made) for each path that a test says something
    of.

    A mask's name (`mask = x > 0`), inverted or not, stands for its test as long as the names in it
    stand for the same.
    """
    if not may_be_mask(test, truth):
        refined = [(node, path, test, point) for path, node in spoken_of(test, truth)]
        for node, _, _, _ in refined[:_MAX_TESTS]:
            if type(node) is ast.Name:
                refined += _by_extreme(node.id, test, truth, point)
        return refined
    return [
        (node, path, one, then)
        for one, then in _tests_of(test, truth, point)
        for path, node in spoken_of(one, truth)
        if then is point or unrefined(then.binding(path)) is unrefined(point.binding(path))
    ]


def _by_extreme(
    name: str, test: ast.expr, truth: bool, point: Point
) -> list[tuple[ast.expr, str, ast.expr, Point]]:
    """What a test of the least of some elements, which has a name, says of all of them:
    `lo = tf.reduce_min(x)`.
    """
    extreme = unrefined(point.lookup(name))
    if (
        not isinstance(extreme, Assigned)
        or type(extreme.node) is not ast.Call
        or leaf(extreme.node.func) not in EXTREMES
    ):
        return []
    if extreme.point.scope is not point.scope or extreme.point.over is not None:
        return []
    written = spelt_out(test, name, extreme.node)
    return [
        (node, path, written, point)
        for path, node in spoken_of(written, truth)
        if path != name and unrefined(extreme.point.binding(path)) is unrefined(point.binding(path))
    ]


def _tests_of(test: ast.expr, truth: bool, point: Point) -> list[tuple[ast.expr, Point]]:
    """A test that may be a mask, and those that the names in it stand for, each with the point
    where it was made.
    """
    tests = [(test, point)]
    queue = [(test, True, point)]
    while queue and len(tests) < _MAX_TESTS:
        candidate, same, then = queue.pop()
        part = inverse_of(candidate)
        if part is not None:
            queue.append((part, not same, then))
        elif isinstance(candidate, ast.Name):
            mask = unrefined(then.lookup(candidate.id))
            if (
                isinstance(mask, Assigned)
                and mask.point.scope is point.scope
                and mask.point.over is None
            ):
                tests.append((mask.node if same else _opposite(mask.node), mask.point))
                queue.append((mask.node, same, mask.point))
        else:
            queue += [
                (part, same, then)
                for part in parts_that_hold(candidate, truth == same)
                if isinstance(part, ast.Name) or inverse_of(part) is not None
            ]
    return tests
