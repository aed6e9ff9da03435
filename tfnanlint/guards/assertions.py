"""What a file asserts of a value elsewhere than on its way: in a method that checks all parameters
of an object (`assert_positive(self.scale)`), or in one whose result is waited for
(`with tf.control_dependencies(self._assertions(x))`).

Such a check may be switched off, but it says what the program takes for granted: a value of which
nothing else is known is no finding then.
"""

from __future__ import annotations

import ast
from typing import Any, Callable, Collection, Iterator

from tfnanlint.conventions import roles
from tfnanlint.conventions.identifiers import is_count, is_probability, is_scale, says_safe
from tfnanlint.guards.post_guards import plain
from tfnanlint.ops.provenance import behind
from tfnanlint.ops.site import Site, made_by, same
from tfnanlint.ops.traits import CASTS, CLIPS, MAKES_TENSOR, NAN_TEST_NAMES
from tfnanlint.program.functions import ClassObject
from tfnanlint.program.scope import Assigned, Point, Scope, unrefined
from tfnanlint.syntax.access_paths import leaf, path_of
from tfnanlint.syntax.nodes import CALL, nodes_in, parts_of
from tfnanlint.values.value import Note, Value

_CASTS = frozenset("cast to_float to_double convert_to_tensor constant float".split())
_MODULES = frozenset("tf tf1 tf2 np K tensorflow numpy dtypes".split())
_FILLED = {"zeros": 0.0, "zeros_like": 0.0, "ones": 1.0, "ones_like": 1.0}
_OF_SOME = frozenset(
    "shape size rank len ndims reduce_max reduce_sum reduce_mean reduce_any count_nonzero".split()
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_CONVERTING = (*CASTS, *MAKES_TENSOR)
_LESS = (ast.Sub, ast.USub)
_MAX_NAMES = 12
_TELLING = 2  # letters of a name that means the same in a function as in the class that asserts it

Names = set[str]


class Assertions:
    """Answers for one file; looked up once, when the first finding asks."""

    def __init__(self, tree: ast.Module, text: str):
        self._tree = tree
        self._possible = any(
            word in text for word in ("assert", "control_dependencies", "class ", "safe")
        )
        self._in_file = "assert_" in text  # without it no walk of this file finds a check
        self._found: dict[ast.AST, Names] = {}

    def about(
        self, site: Site, param: str, around: list[ast.AST], classes: list[ClassObject]
    ) -> bool:
        """Whether a check leaves no 0 in what arrives at a parameter. `around` is what stands
        around the site, `classes` the class of its method and that class's bases in the program.
        """
        node = site.args.get(param)
        if not self._possible or node is None or site.point is None:
            return False
        names = _made_of(node, site.point)
        waited = {
            name
            for one in around
            if isinstance(one, (ast.With, ast.AsyncWith))
            for name in _waited_for(one)
        }
        if waited & (
            {name for name, _ in names}
            | set(_on_the_way(site.value(param), site.point.scope) if waited else ())
        ):
            return True
        if any(_is_safe_by_name(name, site, param) for name, _ in names):
            return True
        lineage = [one.node for one in classes]
        asserting = [one.node for one in classes if "assert_" in one.module.source.text]
        minus = made_by(site.value(param), "tf.subtract")
        if (
            minus is not None
            and lineage
            and minus.point is not None
            and {"x", "y"} <= minus.args.keys()
        ):
            left, right = (
                {_bare(name) for name, _ in _made_of(minus.args[side], minus.point)}
                for side in ("x", "y")
            )
            taken = minus.value("y")
            return (
                self._above(asserting, left, taken.const)
                if taken.is_number
                else self._ordered(asserting, left | right)
            )
        held = set().union(*map(self._asserted, asserting))
        if not held and not self._in_file:
            return False
        if _summed(site.value(param)) in held:
            return True
        mine = (
            self._asserted(lineage[0])
            if lineage
            else {
                name
                for name in self._asserted(self._tree)
                if len(name) >= _TELLING and not _known(name, site)
            }
        )
        if lineage:
            checks = (
                [
                    one
                    for one in self._tree.body
                    if isinstance(one, _FUNCTIONS) and self._asserted(one)
                ]
                if self._in_file
                else []
            )
            called = (
                {leaf(call.func) for one in lineage for call in nodes_in(one) if type(call) is CALL}
                if checks
                else set()
            )
            checked = [self._asserted(one) for one in checks if one.name in called]
            mine, held = mine.union(*checked), held.union(*checked)
        else:
            held = mine  # a function beside the class is given one of its objects
        places = [one for one in around if isinstance(one, _FUNCTIONS)]
        plain = {name for name, taken_off in names if not taken_off}
        local = mine.union(*map(self._asserted, places))
        return any(_bare(name) in held if "." in name else name in local for name in plain)

    def _ordered(self, lineage: list[ast.ClassDef], names: Names) -> bool:
        """Whether the class asserts that one of the names is less than another (`high - low`)."""
        for cls in lineage:
            for call, _ in _calls(cls):
                if roles.asserts_order(leaf(call.func)):
                    sides = [
                        {_bare(name) for name in _names(side)} & names for side in call.args[:2]
                    ]
                    if len(sides) == 2 and all(sides) and sides[0] != sides[1]:
                        return True
        return False

    def _above(self, lineage: list[ast.ClassDef], names: Names, limit: float) -> bool:
        """Whether the class asserts that one of the names is above a number (`log(power - 1)`)."""
        for cls in lineage:
            for call, _ in _calls(cls):
                order = roles.asserts_greater(leaf(call.func))
                if (
                    order is not None
                    and len(call.args) > 1
                    and names & {_bare(name) for name in _names(call.args[0])}
                ):
                    bound = _number(call.args[1])
                    if bound is not None and (bound > limit or bound == limit and order == ">"):
                        return True
        return False

    def _asserted(self, place: ast.AST) -> Names:
        """The names and attributes, without what they are looked up in, of which something inside a
        place is asserted.
        """
        if place not in self._found:
            checks = any(
                type(one) is CALL and roles.asserts_positive(leaf(one.func))
                for one in nodes_in(place)
            )
            self._found[place] = (
                {
                    name
                    for call, loops in _calls(place)
                    if _leaves_no_zero(call)
                    for name in _subjects(call, loops)
                }
                if checks
                else set()
            )
        return self._found[place]


def looks_for_nan(around: list[ast.AST], besides: Collection[ast.AST] = ()) -> bool:
    """Whether the function around a site tests something for NaN or Inf, `besides` some tests: who
    does so has met them, and leaves them out.
    """
    function = next((one for one in around if isinstance(one, _FUNCTIONS)), None)
    return function is not None and any(
        isinstance(one, ast.Call) and leaf(one.func) in NAN_TEST_NAMES and one not in besides
        for one in nodes_in(function)
    )


def named_safe(site: Site, param: str) -> bool:
    """Whether what arrives at a parameter has a name, or comes from a function with a name, that
    says safe, and nothing else tells what it is: bounds that are known count more than a name.
    """
    node = site.args.get(param)
    return (
        node is not None
        and site.point is not None
        and not site.value(param).known
        and any(says_safe(name) for name, _ in _made_of(node, site.point))
    )


def _is_safe_by_name(name: str, site: Site, param: str) -> bool:
    """Whether a name from which what arrives at a parameter is computed says that it is safe: not
    where it is known what was made of that (`tf.reduce_sum(tf.where(mask, safe_x, 0.0))`).
    """
    value = site.value(param)
    if not says_safe(name) or _understood(value):
        return False
    binding = site.point.lookup(name) if site.point is not None and name.isidentifier() else None
    named = binding.value(site.interpreter) if binding is not None else None
    return named is None or not named.known or same(plain(named), plain(value))


def _understood(value: Value) -> bool:
    """Whether a value was made safe, or not, by a floor, a clip, a relu or a choice: of these it is
    known what they leave.
    """
    site = made_by(value, *CLIPS, "tf.where")
    return site is not None and value.known


def named_count(site: Site, param: str) -> bool:
    """Whether what arrives at a parameter is computed only from names that say numbers of things
    (`num_samples`, `self.batch_size`), cast to floating point: a program does not run without any
    of these.
    """
    return _named(site, param, is_count, _CASTS, (ast.Mult, ast.Add))


def named_scale(site: Site, param: str) -> bool:
    """Whether what arrives at a parameter is computed only from names that say the scale, the rate
    or the degrees of freedom of a distribution: these are positive by definition, and the caller
    knows it.
    """
    return _named(site, param, is_scale, _CASTS | {"square", "abs"}, (ast.Mult, ast.Div))


def named_probability(site: Site, param: str) -> bool:
    """Whether what arrives at a parameter is made of nothing but what its names call probabilities
    or predictions, and of numbers.
    """
    return _named(
        site,
        param,
        is_probability,
        _CASTS | {"square", "abs", "where", "clip"},
        (ast.Mult, ast.Div, ast.Sub, ast.Add),
    )


def _named(
    site: Site,
    param: str,
    says: Callable[[str], bool],
    through: frozenset[str],
    operators: tuple[type, ...],
) -> bool:
    """Whether what arrives at a parameter is made of names of which `says` holds and positive
    numbers only.
    """
    node = site.args.get(param)
    if node is None or site.point is None:
        return False
    queue, seen = [(node, site.point)], 0
    while queue:
        part, place = queue.pop()
        seen += 1
        binding: Any = unrefined(place.lookup(part.id)) if isinstance(part, ast.Name) else None
        if isinstance(part, (ast.Name, ast.Attribute)) and says(leaf(part)):
            continue
        if isinstance(binding, Assigned) and binding.point.scope is place.scope:
            queue.append((binding.node, binding.point))
        elif isinstance(part, ast.Call) and leaf(part.func) in through and part.args:
            queue.append((part.args[0], place))
        elif isinstance(part, ast.BinOp) and isinstance(part.op, operators):
            queue += [(part.left, place), (part.right, place)]
        elif (
            not isinstance(part, ast.Constant)
            or not isinstance(part.value, (int, float))
            or part.value <= 0
        ):
            return False
        if seen > _MAX_NAMES:
            return False
    return True


def _calls(node: ast.AST) -> Iterator[tuple[ast.Call, list[ast.For]]]:
    """The calls inside a node, each with the loops around it."""
    stack: list[tuple[ast.AST, list[ast.For]]] = [(node, [])]
    while stack:
        node, loops = stack.pop()
        if isinstance(node, ast.Call):
            yield node, loops
        elif isinstance(node, ast.For):
            loops = [*loops, node]
        stack += [(part, loops) for part in parts_of(node)]


def _known(name: str, site: Site) -> bool:
    """Whether a range is known of what has a name where a site stands: a check elsewhere in the
    file of what is called so is no check of this.
    """
    binding = site.point.lookup(name) if site.point is not None and name.isidentifier() else None
    return binding is not None and binding.value(site.interpreter).known


def _leaves_no_zero(call: ast.Call) -> bool:
    """Whether a call is a check that what it is given is above 0, or another number than 0; of a
    bound that is no number that is believed.
    """
    name = leaf(call.func)
    order = roles.asserts_greater(name)
    bound = _bound(call.args[1]) if order is not None and len(call.args) > 1 else None
    if order is None or bound is None:
        return roles.asserts_positive(name)
    return bound > 0 or bound == 0 and order == ">"


def _bound(node: ast.expr) -> float | None:
    """The number that a check compares with; None where none is written there."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _bound(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant):
        return float(node.value) if isinstance(node.value, (int, float)) else None
    if not isinstance(node, ast.Call):
        return None
    name = leaf(node.func)
    return (
        _FILLED[name]
        if name in _FILLED
        else _bound(node.args[0])
        if name in _CASTS and node.args
        else None
    )


def _subjects(call: ast.Call, loops: list[ast.For]) -> Iterator[str]:
    """What a check is about; where that runs over a list or dict, what stands in it."""
    args = [*call.args[:1], *(k.value for k in call.keywords if k.arg in ("x", "value", "tensor"))]
    for name in (name for node in args if not _of_some(node) for name in _names(node)):
        yield name
        yield _bare(name)
        for loop in loops:
            if any(
                isinstance(inner, ast.Name) and inner.id == name for inner in nodes_in(loop.target)
            ):
                yield from (_bare(other) for other in _names(loop.iter))
                yield from (
                    one.value
                    for one in nodes_in(loop.iter)
                    if isinstance(one, ast.Constant) and isinstance(one.value, str)
                )


def _of_some(node: ast.AST) -> bool:
    """Whether an expression speaks of the shape of something, or of its greatest element, but not
    of each.
    """
    return any([isinstance(one, ast.Call) and leaf(one.func) in _OF_SOME for one in nodes_in(node)])


def _waited_for(block: ast.With | ast.AsyncWith) -> Iterator[str]:
    """The names that a function with the name of a check is given, where a block waits for what it
    returns.
    """
    for item in block.items:
        for call in nodes_in(item.context_expr):
            if isinstance(call, ast.Call) and roles.checks(leaf(call.func)):
                yield from (
                    name
                    for node in [*call.args, *(k.value for k in call.keywords)]
                    for name in _names(node)
                )


def _names(node: ast.AST) -> Iterator[str]:
    """Names, and attributes as `.scale`, in an expression; of a method's call not what the method
    is given, and nothing of a comparison: how many are above a number can be 0, whatever was made
    sure of them.
    """
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        if node.value.id not in _MODULES:  # tf.float32
            yield f".{node.attr}"
    elif isinstance(node, ast.Name):
        yield node.id
    elif (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and path_of(node.func.value) == "self"
    ):
        yield f".{node.func.attr}"
    elif not isinstance(node, ast.Compare):
        for inner in ast.iter_child_nodes(node):
            yield from _names(inner)


def _bare(name: str) -> str:
    """`scale` of `._scale`: an object keeps its parameters under their names, or with a line in
    front of them.
    """
    return name.lstrip("._")


def _number(node: ast.expr) -> float | None:
    """The one number in an expression that only gives it a dtype: `np_dtype(2.)`,
    `np.ones([], dtype)`.
    """
    numbers = [
        float(one.value)
        for one in nodes_in(node)
        if isinstance(one, ast.Constant)
        and isinstance(one.value, (int, float))
        and not isinstance(one.value, bool)
    ]
    ones = any(
        isinstance(one, ast.Call) and leaf(one.func) in ("ones", "ones_like")
        for one in nodes_in(node)
    )
    return numbers[0] if len(numbers) == 1 and not ones else 1.0 if ones and not numbers else None


def _takes_off(node: ast.AST) -> bool:
    """A difference, or a sign that is no number's own."""
    sign = isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant)
    return (sign or isinstance(node, ast.BinOp)) and isinstance(node.op, _LESS)


def _on_the_way(value: Value, scope: Scope) -> Iterator[str]:
    """The names in a function from which a value comes,
    also through methods that it is handed to.
    """
    origin: Any = value.origin
    for _ in range(_MAX_NAMES):
        if isinstance(origin, Site):
            if origin.point is not None and origin.point.scope is scope:
                yield from (name for node in origin.args.values() for name in _names(node))
            origin = origin.value(origin.op.main).origin if origin.op.main else None
        elif origin is not None:
            origin = getattr(origin, "parent", None)


def _summed(value: Value) -> str:
    """The parameter of a constructor that a value is the sum of:
    `self._total = tf.reduce_sum(self._concentration)`; "" for what is none.
    """
    total = made_by(value, "tf.reduce_sum")
    origin = behind(total.value("x")) if total is not None else None
    for _ in range(_MAX_NAMES):
        if not isinstance(origin, Site):
            break
        param = origin.op.passes or ("x" if origin.op.name in _CONVERTING else "")
        origin = behind(origin.value(param)) if param and origin.given(param) else None
    return (
        origin.parameter
        if isinstance(origin, Note) and getattr(origin.node, "name", "") == "__init__"
        else ""
    )


def _made_of(node: ast.expr, point: Point) -> set[tuple[str, bool]]:
    """(name, whether it is subtracted somewhere) for what an expression is computed from, through
    local variables.
    """
    names: set[tuple[str, bool]] = set()
    seen: set[int] = set()
    queue = [(node, point, False)]
    while queue and len(seen) < _MAX_NAMES:
        part, place, taken_off = queue.pop()
        taken_off = taken_off or any(map(_takes_off, nodes_in(part)))
        for name in _names(part):
            names.add((name, taken_off))
            binding: Any = unrefined(place.lookup(name)) if name.isidentifier() else None
            if (
                isinstance(binding, Assigned)
                and binding.point.scope is place.scope
                and id(binding) not in seen
            ):
                seen.add(id(binding))
                if isinstance(binding.node, ast.Call) and says_safe(leaf(binding.node.func)):
                    names.add((leaf(binding.node.func), taken_off))
                queue.append((binding.node, binding.point, taken_off))
    return names
