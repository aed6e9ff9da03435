"""Two names of one object: `b = a` and then `b.append(x)` changes what `a` stands for. And what the
statements of a loop bind.
"""

from __future__ import annotations

import ast
from typing import Any, Final

from tfnanlint.ops.site import Site
from tfnanlint.program.attributes import CHANGING
from tfnanlint.program.scope import (
    Assigned,
    Binding,
    Element,
    Fixed,
    Iterated,
    Joined,
    Loop,
    Point,
    Stored,
    from_the_beginning,
    unrefined,
)
from tfnanlint.syntax.access_paths import leaf, path_of
from tfnanlint.syntax.nodes import (
    ASSIGN,
    ATTRIBUTE,
    AUG_ASSIGN,
    CALL,
    EXPR,
    IF_EXP,
    NAME,
    SEQUENCES,
    STARRED,
    SUBSCRIPT,
    blocks_of,
    display,
)
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import Value, outward, rounded

_VIEWS: Final = frozenset(
    "reshape ravel view squeeze transpose swapaxes asarray "
    "atleast_1d atleast_2d expand_dims".split()
)
_UNIFORM: Final = frozenset(
    "zeros ones full empty zeros_like ones_like full_like empty_like".split()
)
_NUMPY: Final = frozenset(("np", "numpy"))
# Statements that bind names themselves, or have blocks of those that do.
_ONE_TARGET: Final = frozenset((ast.AugAssign, ast.AnnAssign))
_TESTS: Final = frozenset((ast.If, ast.While))
_FOR: Final = frozenset((ast.For, ast.AsyncFor))
_WITH: Final = frozenset((ast.With, ast.AsyncWith))
_BRANCHING: Final = frozenset((ast.Try, ast.Match))
_PARTING: Final = frozenset((ast.Slice, ast.Tuple))
SOME = slice(None, None, 0)  # elements of a list at unknown places
_MAKING = frozenset(
    f"np.{name}"
    for name in (
        "array asarray zeros ones full arange linspace eye zeros_like ones_like full_like ravel "
        "reshape".split()
    )
)
_MAX = 64  # bindings looked at for the object that a name stands for

Copies = dict[str, set[str]]


class Mutated(Binding):
    """A container or model after a method that changes it (`model.add(layer)`,
    `layers.append(x)`).
    """

    __slots__ = ("base", "call", "point", "_computed")

    def __init__(self, base: Binding, call: ast.Call, point: Point):
        self.kept = None
        self.base = base
        self.call = call
        self.point = point
        self._computed = base.computed

    def compute(self, interpreter: Evaluator) -> Value:
        from_the_beginning(self, interpreter)
        mark = len(interpreter.reads)
        base = self.base.value(interpreter)
        # in every try of a loop
        growing = any(isinstance(one, Loop) for one in interpreter.reads[mark:])
        return interpreter.mutated(base, self.call, self.point, growing)

    @property
    def computed(self) -> bool:
        return self._computed

    @property
    def before(self) -> Binding | None:
        return self.base


class Held(Binding):
    """What an attribute or element held at a point before this function assigned it; few are ever
    asked for.
    """

    __slots__ = ("path", "point")

    def __init__(self, path: str, point: Point):
        self.kept = None
        self.path = path
        self.point = point

    def compute(self, interpreter: Evaluator) -> Value:
        return interpreter.evaluate(ast.parse(self.path, mode="eval").body, self.point)


class SetThrough(Binding):
    """An attribute after an assignment, `layer.scale = x`, where the name is one of a property in
    this file: what the getter gives for an object that has it.
    """

    __slots__ = ("node", "point", "binding")

    def __init__(self, node: ast.Attribute, point: Point, binding: Binding):
        self.kept = None
        self.node = node
        self.point = point
        self.binding = binding

    def compute(self, interpreter: Evaluator) -> Value:
        owner = interpreter.evaluate(self.node.value, self.point)
        held = interpreter.property_of(owner, self.node.attr) if owner.obj is not None else None
        return self.binding.value(interpreter) if held is None else held

    @property
    def computed(self) -> bool:
        return self.binding.computed


class InPlace(Binding):
    """An array after another name of it was changed (`b = a; a += 1`). The same statement makes a
    tensor or a number anew.
    """

    __slots__ = ("base", "changed", "surely")

    def __init__(self, base: Binding, changed: Binding, surely: bool):
        self.kept = None
        self.base = base
        self.changed = changed
        self.surely = surely

    def compute(self, interpreter: Evaluator) -> Value:
        held = self.base.value(interpreter)
        if held.kind != "array" and not (
            held.kind in ("tensor", "unknown") and self._in_part(interpreter)
        ):
            return held
        changed = self.changed.value(interpreter)
        origin = held.origin
        # other functions of NumPy make scalars of scalars
        array = isinstance(origin, Site) and origin.name in _MAKING
        # it keeps its dtype, to which the numbers are rounded
        if held.kind == "array" and held.dtype is not None:
            lo, hi = rounded(changed.lo, held.dtype), rounded(changed.hi, held.dtype)
            if (lo, hi) != (changed.lo, changed.hi):  # what was added was rounded before
                lo, hi = outward(lo, hi, held.dtype, 1)
            changed = changed.but(lo=lo, hi=hi, zero=changed.zero)
        if self.surely and array:
            return changed
        return interpreter.joined([held, changed]).but(
            kind=held.kind, dtype=held.dtype if held.kind == "array" else None
        )

    def _in_part(self, interpreter: Evaluator) -> bool:
        """Whether one of several objects that the name may stand for is an array."""
        stack: list[Binding | None] = [self.base]
        seen: set[Binding] = set()
        while stack and len(seen) < _MAX:
            binding = unrefined(stack.pop())
            if binding is None or binding in seen:
                continue
            seen.add(binding)
            if isinstance(binding, (Joined, Loop)):
                stack += (
                    binding.bindings
                    if isinstance(binding, Joined)
                    else [binding.entry, *binding.rounds]
                )
            elif isinstance(binding, InPlace):
                stack.append(binding.base)
            elif (
                isinstance(binding, Assigned)
                and len(seen) > 1
                and binding.value(interpreter).kind == "array"
            ):
                return True
        return False


class Lent(InPlace):
    """What was handed to a function of the program that changes it in place
    (`def scaled(x): x /= x.sum()`), or what such a function got under two names: an array of any
    numbers.
    """

    __slots__ = ()

    def __init__(self, base: Binding):
        super().__init__(base, Fixed(Value(kind="array")), False)


class Filled(Mutated):
    """What was handed to a function whose result is not used: it may have filled it
    (`cv2.fillPoly(mask, points, 1)`).
    """

    __slots__ = ()

    def compute(self, interpreter: Evaluator) -> Value:
        return interpreter.filled_by(self.base.value(interpreter), self.call, self.point)


def parted(bound: dict[str, Binding], function: Any) -> dict[str, Binding]:
    """The parameters of a function with what a call gives them: of those that get one object, all
    change when the function changes one.
    """
    names = {
        name: binding.node.id
        for name, binding in bound.items()
        if isinstance(binding, Assigned) and isinstance(binding.node, ast.Name)
    }
    arguments = list(names.values())
    if len(set(arguments)) < len(arguments):
        changed = {names[name] for name in function.changed if name in names}
        for name, argument in names.items():
            if argument in changed and arguments.count(argument) > 1:
                bound[name] = Lent(bound[name])
    return bound


def lent(call: ast.Call, function: Any) -> list[str]:
    """The names of what a call hands to parameters which its function changes in place."""
    changed = function.changed
    if not changed:
        return []
    spec = function.node.args
    arguments = [
        *zip([one.arg for one in (*spec.posonlyargs, *spec.args)], call.args),
        *[(one.arg, one.value) for one in call.keywords],
    ]
    return [
        path for name, node in arguments if name in changed and (path := path_of(node)) is not None
    ]


def objects(binding: Binding | None) -> set[Binding]:
    """The bindings that made the object which a binding stands for: of several when branches or
    rounds leave several.
    """
    makers: set[Binding] = set()
    stack: list[Binding | None] = [binding]
    seen: set[Binding] = set()
    while stack and len(seen) < _MAX:
        reached = unrefined(stack.pop())
        if reached is None or reached in seen:
            continue
        seen.add(reached)
        if isinstance(reached, (Stored, InPlace)):  # the same object, changed
            stack.append(reached.base)
            continue
        stack += _items(reached)
        sources = copied(reached.node) if isinstance(reached, Assigned) else []
        if isinstance(reached, (Joined, Loop)):
            stack += reached.bindings if isinstance(reached, Joined) else [reached.entry]
        stack += [reached.point.binding(path) for path in sources]
        # one of the branches may make an object
        if not sources or isinstance(reached.node, ast.IfExp):
            makers.add(reached)
    return makers


def copied(node: ast.expr) -> list[str]:
    """The names and attributes of which one is what an expression gives: `x`, `x if c else y`."""
    kind = type(node)
    if kind is IF_EXP:
        return copied(node.body) + copied(node.orelse)
    path = path_of(node) if kind is NAME or kind is ATTRIBUTE else None
    return [path] if path else []


def _items(binding: Binding) -> list[Binding | None]:
    """What the names written in the list stand for that a loop walks over."""
    whole, place = (
        (binding.whole, binding.index) if isinstance(binding, Element) else (binding, None)
    )
    if isinstance(whole, Joined):  # as it was before the loop, or as a round left it
        whole = whole.bindings[0]
    iterable = whole.iterable if isinstance(whole, Iterated) else None
    if not isinstance(iterable, Assigned):
        return []
    walked = _walked(iterable.node, place) if isinstance(place, int) else iterable.node
    return [iterable.point.binding(path) for path in listed(walked)]


def _walked(node: ast.expr, place: int) -> ast.expr:
    """The list of which `zip` and `enumerate` give an element at a place."""
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("zip", "enumerate")
    ):
        place -= node.func.id == "enumerate"
        return node.args[place] if 0 <= place < len(node.args) else node
    return node


def listed(node: ast.expr) -> list[str]:
    """The names written in a list or tuple."""
    return (
        [path for item in node.elts for path in copied(item)]
        if isinstance(node, (ast.List, ast.Tuple))
        else []
    )


def shared(node: ast.expr) -> list[str]:
    """The names of arrays with which what an expression gives may share its numbers: `x[1:]`,
    `x.reshape(-1)`, `np.ravel(x)`.
    """
    kind = type(node)
    if kind is SUBSCRIPT:
        if type(node.slice) not in _PARTING:
            return []
        source = node.value
    elif kind is CALL:
        method = node.func
        if type(method) is not ATTRIBUTE or method.attr not in _VIEWS:
            return []
        source = method.value
        if node.args and type(source) is NAME and source.id in _NUMPY:
            source = node.args[0]
    else:
        return []
    path = path_of(source)
    return [path] if path else []


def uniform(node: ast.expr) -> bool:
    """Whether an expression makes an array of one number: `np.zeros(shape)`."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _UNIFORM
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id in _NUMPY
    )


def fillable(node: ast.expr) -> bool:
    """Whether an expression makes something that functions are handed to put something into: an
    array of one number, a list, a dict.
    """
    return uniform(node) or isinstance(node, ast.List) or display(node) is not None


# the second one also where a dataclass is frozen: `object.__setattr__(self, "eps", eps)`
SETTERS: Final = frozenset(("setattr", "__setattr__"))


def attribute_set(call: ast.Call) -> ast.Attribute | None:
    """`x.name` of `setattr(x, "name", value)`; one node for all walks of the call."""
    if len(call.args) != 3 or not (
        isinstance(call.args[1], ast.Constant) and isinstance(call.args[1].value, str)
    ):
        return None
    if "attribute" not in call.__dict__:
        call.attribute = ast.copy_location(
            ast.Attribute(call.args[0], call.args[1].value, ast.Store()), call
        )
    return call.attribute


def output(call: ast.Call) -> str | None:
    """The name of the array that a call writes to: `np.exp(a, out=b)`."""
    for keyword in call.keywords:
        if keyword.arg == "out":
            return path_of(keyword.value)
    return None


def viewed(binding: Binding | None) -> str | None:
    """The name of the array of which a binding holds a part that shares its memory
    (`row = table[i]`), also after stores into it.
    """
    binding = unrefined(binding)
    while isinstance(binding, Stored):
        binding = unrefined(binding.base)
    return whole(binding.node) if isinstance(binding, Assigned) else None


def whole(node: ast.expr) -> str | None:
    """`table` of `table[i]`."""
    return path_of(node.value) if isinstance(node, ast.Subscript) else None


def extends(node: ast.AugAssign) -> bool:
    """Whether it changes a list or dict in place: `b += [x]`, `d |= {"a": x}`."""
    return (
        isinstance(node.op, ast.Add)
        and isinstance(node.value, (ast.List, ast.ListComp))
        or isinstance(node.op, ast.BitOr)
        and display(node.value) is not None
    )


def popped(node: Any) -> ast.Call | None:
    """A call that takes an element out of a list and gives it: `x = layers.pop()`,
    `x = layers.pop(0)`.
    """
    function = node.func if type(node) is CALL else None
    if type(function) is not ATTRIBUTE or function.attr != "pop" or node.keywords:
        return None
    return (
        node
        if not node.args or len(node.args) == 1 and _whole_number(node.args[0]) is not None
        else None
    )


def written_key(index: ast.expr) -> Any:
    """An index as it is written: a constant, a slice (`SOME` where its bounds are not numbers),
    None for others.
    """
    if isinstance(index, ast.Slice):
        bounds = [
            0 if end is None else _whole_number(end)
            for end in (index.lower, index.upper, index.step)
        ]
        if None in bounds:
            return SOME
        return slice(
            *[
                None if end is None else bound
                for end, bound in zip((index.lower, index.upper, index.step), bounds)
            ]
        )
    return index.value if isinstance(index, ast.Constant) else _whole_number(index)


def _whole_number(node: ast.expr) -> int | None:
    """The number of `3` or `-1`."""
    sign = -1 if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else 1
    written = node.operand if sign < 0 else node
    return (
        sign * written.value
        if isinstance(written, ast.Constant) and type(written.value) is int
        else None
    )


def place_of(index: int, starred: int | None, count: int) -> int | slice:
    """Which elements one of `count` targets of an unpacking gets, of which one may be starred."""
    if starred is None or index < starred:
        return index
    return index - count if index > starred else slice(index, index - count + 1 or None)


def copy(copies: Copies, path: str | None, sources: list[str]) -> None:
    """Note that `path` may be another name of what one of `sources` stands for."""
    if path is None:
        return
    for source in sources:
        copies.setdefault(path, set()).add(source)
        copies.setdefault(source, set()).add(path)


def copy_items(copies: Copies, target: ast.expr, iterable: ast.expr) -> set[str]:
    """Note that the names which a loop binds stand for objects of other names in turn:
    `for t in [a, b]`, `for i, t in enumerate([a, b])`. The other names are what it gives.
    """
    several = isinstance(target, (ast.Tuple, ast.List))
    pairs = (
        [(one, _walked(iterable, place)) for place, one in enumerate(target.elts)]
        if several
        else [(target, iterable)]
    )
    originals: set[str] = set()
    for variable, source in pairs:
        names = listed(source)
        copy(copies, path_of(variable), names)
        originals.update(names)
    return originals


def connected(paths: set[str], *copies: Copies) -> set[str]:
    """Paths with those that copies may have made names of the same objects."""
    reached, stack = set(paths), list(paths)
    while stack:
        path = stack.pop()
        for pairs in copies:
            more = pairs.get(path, reached) - reached
            reached |= more
            stack += more
    return reached


class Bindings:
    """What the statements of a body (not those of nested functions) bind: `paths`; of these,
    `changed` are objects that are changed in place, `parts` attributes and elements with their
    owners, `copies` names of one object, `views` names of parts of arrays.
    """

    def __init__(self, body: list[ast.stmt]):
        self.paths: set[str] = set()
        self.changed: set[str] = set()
        self.parts: set[tuple[str, str]] = set()
        self.copies: Copies = {}
        self.views: list[tuple[str, str]] = []
        self.shared: Copies = {}
        stack: list[Any] = list(body)
        while stack:
            node = stack.pop()
            kind = type(node)
            if kind is ASSIGN:
                self._assigned(node.targets, node.value)
            elif kind is EXPR:
                if type(node.value) is CALL:
                    self._called(node.value)
            elif kind in _TESTS:
                stack += node.body
                stack += node.orelse
            elif kind in _ONE_TARGET:
                self._bind([node.target])
                if kind is AUG_ASSIGN:
                    self._change(node.target)
            elif kind in _FOR:
                self._bind([node.target])
                copy_items(self.copies, node.target, node.iter)
                stack += node.body
                stack += node.orelse
            elif kind in _WITH:
                self._bind(
                    [item.optional_vars for item in node.items if item.optional_vars is not None]
                )
                stack += node.body
            elif kind in _BRANCHING:
                for block in blocks_of(node):
                    stack += block

    def _assigned(self, targets: list[ast.expr], value: Any) -> None:
        self._bind(targets)
        if (call := popped(value)) is not None:
            self._bind([call.func.value])
            self._change(call.func.value)
        copies, views = copied(value), shared(value)
        viewed = whole(value)
        for target in targets:
            if copies or views:
                path = path_of(target)
                copy(self.copies, path, copies)
                copy(self.shared, path, views)
            if viewed is not None and type(target) is NAME:
                self.views.append((target.id, viewed))

    def _called(self, call: ast.Call) -> None:
        """What a call changes whose result is not used."""
        function = call.func
        if type(function) is ATTRIBUTE and function.attr in CHANGING:
            self._bind([function.value])
            self._change(function.value)
        elif leaf(function) in SETTERS:
            if (attribute := attribute_set(call)) is not None:
                self._bind([attribute])
        else:
            for keyword in call.keywords:
                if keyword.arg == "out":
                    self._bind([keyword.value])
                    self._change(keyword.value)

    def _bind(self, targets: list[ast.expr]) -> None:
        for target in targets:
            kind = type(target)
            if kind is NAME:
                self.paths.add(target.id)
            elif kind in SEQUENCES:
                self._bind(target.elts)
            elif kind is STARRED:
                self._bind([target.value])
            else:
                path = path_of(target)
                owner = path_of(target.value) if kind is SUBSCRIPT or kind is ATTRIBUTE else None
                if path is not None:
                    self.paths.add(path)
                if owner is not None and kind is SUBSCRIPT:
                    self.paths.add(owner)
                    self.changed.add(owner)
                if owner is not None and path is not None:
                    self.parts.add((owner, path))

    def with_aliases(self, copies: Copies, views: Copies) -> set[str]:
        """The paths, and other names of the objects that are changed, which `copies` and `views`
        made before or the body makes.
        """
        changed = self.changed | {array for view, array in self.views if view in self.changed}
        paths = self.paths | connected(changed, copies, self.copies, views, self.shared)
        for owner, path in self.parts:
            paths.update(
                alias + path[len(owner) :] for alias in connected({owner}, copies, self.copies)
            )
        return paths

    def _change(self, node: ast.expr) -> None:
        path = path_of(node)
        if path is not None:
            self.changed.add(path)
