"""What no gradient flows through: values that are made of constants, of integers and of what is not
trained.
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Container, Iterable, Iterator

from tfnanlint.conventions.files import holds_tests
from tfnanlint.conventions.identifiers import holds_numbers, is_label
from tfnanlint.gradients.frozen import is_frozen
from tfnanlint.ops.frameworks import PREDICT_METHODS
from tfnanlint.ops.provenance import first_origin, site_behind
from tfnanlint.ops.site import Site
from tfnanlint.ops.table import SETTINGS
from tfnanlint.ops.traits import NO_GRADIENT, PLACEHOLDERS, draws_tensor
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import nodes_in
from tfnanlint.values.value import NO_FLOATS, Many, Note, Value

_OF_PYTHON = ("number", "string", "shape")
_DISTRIBUTED_BY = ("mean", "stddev", "minval", "maxval", "alpha", "beta")
_MAX_BEHIND = 200  # values looked at behind a site
_BEFORE = ("__init__", "build")  # methods that are given numbers and shapes
_IN_NUMPY = frozenset(("numpy_function", "py_func"))  # what runs there has no gradient


class Source(enum.IntEnum):
    """What is seen behind a site that a gradient may lead back to, the most telling last."""

    NUMBERS = 0  # constants, data and settings of the program
    GIVEN = 1  # what a function is given whose callers are not seen
    UNSEEN = 2
    TRAINED = 3  # variables, layers, predictions, what a call makes that is not followed


def source_behind(site: Site) -> Source:
    """The most telling thing behind what a site is given."""
    trail = _trail(_operands(site), site, {}, frozenset(), PLACEHOLDERS, _MAX_BEHIND)
    return max([_source(*end) for end in trail], default=Source.NUMBERS)


def _source(value: Value, maker: Site | None) -> Source:
    """What a value is at which a trail ends."""
    if maker is None:
        return _unmade(value)
    return Source.NUMBERS if maker.library in ("np", "math") else Source.TRAINED


def _unmade(value: Value) -> Source:
    """What a value is that no op of the program makes."""
    note = first_origin(value)
    if not isinstance(note, Note):
        return Source.NUMBERS if value.exact else Source.UNSEEN
    if note.outer or note.passed:
        return Source.TRAINED
    if not note.given:
        return Source.UNSEEN
    is_part = "." in note.path and not note.path.startswith("self.") and value.kind != "tensor"
    is_data = getattr(note.node, "name", "") in _BEFORE or is_label(note.parameter)
    return Source.NUMBERS if is_part or is_data else Source.GIVEN


def rigid(
    value: Value,
    site: Site,
    smooth: set[Site],
    fed: tuple[str, ...] = PLACEHOLDERS,
    limit: int = 60,
) -> bool:
    """Whether a value is made of booleans, integers, constants, variables that are not trained and
    the like only, or of what the ops `fed` give: no gradient flows through it. If not, the op that
    made it is added to those `smooth`: what is made of it is not rigid either.
    """
    seen: dict[Site, bool] = {}
    if next(_trail([value], site, seen, smooth, fed, limit), None) is None:
        return True
    smooth.update(list(seen)[:1])  # others may stand beside what is smooth
    return False


def _trail(
    queue: list[Value],
    site: Site,
    seen: dict[Site, bool],
    smooth: Container[Site],
    fed: tuple[str, ...],
    limit: int,
) -> Iterator[tuple[Value, Site | None]]:
    """The values behind some of which it is not known that no gradient flows through them, and what
    made them. What is followed is added to those `seen`, what is `smooth` is not.
    """
    notes: set[Note] = set()
    while queue:
        part = queue.pop()
        if part.kind in _OF_PYTHON or part.dtype in NO_FLOATS or part.origin in notes:
            continue
        if isinstance(part.origin, Note):
            notes.add(part.origin)
        parts = _parts(part, fed, limit) if len(queue) < limit else None
        if parts is not None:
            queue += parts
            continue
        origin = site_behind(part)
        if origin is not None and (origin in seen or _ends(origin, site, seen)):
            continue
        if origin is None or len(seen) > limit or origin in smooth:
            yield part, origin
        elif is_frozen(origin):
            seen[origin] = True
            queue.append(origin.value("input"))
        elif origin.args and _is_followed(origin):
            seen[origin] = True
            queue += _operands(origin)
        else:
            yield part, origin


def _parts(value: Value, fed: tuple[str, ...], limit: int) -> list[Value] | None:
    """The elements of a list, the values of several branches, returns or rounds of a loop, or what
    a caller hands over; [] of data: what ops `fed` give, the labels that Keras hands to a loss,
    what an iterator of a dataset gives, a number of the settings. `Gradients` knows of which data a
    gradient is asked. None where a value is none of these.
    """
    note = value.origin
    if note is None and value.kind == "sequence":
        elements = (value.obj.element,) if isinstance(value.obj, Many) else value.obj
        is_short = isinstance(elements, tuple) and len(elements) <= limit
        return list(elements) if is_short and (not elements or _computed(elements)) else None
    if isinstance(note, Site):
        return [] if note.op.name in fed else None
    if not isinstance(note, Note):
        return None
    if note.data or holds_numbers(note.path):
        return []
    if note.options:
        return list(note.options)
    if note.joined:
        return [Value(origin=arriving) for arriving in note.joined]
    if note.computed:
        is_read = isinstance(note.node, ast.Call) and leaf(note.node.func) == "get_next"
        return [] if is_read else None
    is_result = note.index is not None and isinstance(note.parent, Site)
    return [Value(origin=note.parent)] if note.parent is not None and not is_result else None


def _ends(origin: Site, site: Site, between: Iterable[Site]) -> bool:
    """Whether no gradient flows back through an op: what it gives is whole, or an array; a variable
    is not trained. `between` are the ops on the way to a site.
    """
    name = origin.op.name
    if origin.library == "operator" and any(_is_object(origin.value(one)) for one in origin.args):
        return False
    if name in NO_GRADIENT or origin.op.starts and origin.const("trainable", True) is False:
        return True
    called = leaf(getattr(origin.node, "func", origin.node))
    if name == "tf.py_function":
        return called in _IN_NUMPY
    if called in PREDICT_METHODS and origin.given("self"):
        return hasattr(origin.value("self").obj, "out")  # a model of Keras
    if origin.library not in ("np", "math"):
        return False
    return _is_of_same_code(origin, site) or _is_handed_over(origin, [site, *between])


def _is_object(value: Value) -> bool:
    """Whether a value is an object of a class that may say what an operator does with it."""
    return value.kind == "instance"


def _is_followed(origin: Site) -> bool:
    return origin.op.pure or draws_tensor(origin.op.name)


def _operands(origin: Site) -> list[Value]:
    """What a gradient may flow back into: of random numbers what they are moved and scaled by."""
    if draws_tensor(origin.op.name):
        return [origin.value(param) for param in origin.args if param in _DISTRIBUTED_BY]
    return [
        origin.value(param)
        for param in ([origin.op.passes] if origin.op.passes else origin.args)
        if param not in SETTINGS
        and not (origin.library != "np" and _written(origin.args.get(param)))
    ]


def _written(node: ast.expr | None) -> bool:
    """Whether an argument is a list of numbers that stands there."""
    return isinstance(node, (ast.List, ast.Tuple)) and all(
        isinstance(one, ast.Constant) or _written(one) for one in node.elts
    )


def _computed(parts: tuple[Value, ...]) -> bool:
    """Whether something in a list was computed: mere numbers may be what one caller of many passes,
    a test.
    """
    return any(
        isinstance(part.origin, (Site, Note))
        or part.kind == "sequence"
        and isinstance(part.obj, tuple)
        and _computed(part.obj)
        for part in parts
    )


def _is_of_same_code(array: Site, site: Site) -> bool:
    """Whether an array is made in the function or the class in which a site stands."""
    if array.point is None or site.point is None:
        return False
    here, there = site.point.scope, array.point.scope
    if here is there:
        return True
    owners = [one.function.owner for one in (here, there) if one.function is not None]
    return len(owners) == 2 and owners[0] is owners[1] is not None


def _is_handed_over(array: Site, ops: list[Site]) -> bool:
    """Whether an array comes to the first of some ops as an argument or as what a call gives, where
    the whole program is seen. What an attribute or a name of a module holds, another file may
    exchange; in a package others call, tests call what others do.
    """
    site = ops[0]
    if site.point is None or site.point.scope.function is None or array.point is None:
        return False
    module = site.point.scope.module
    if module.project is None or holds_tests(array.point.scope.module.source.path):
        return False
    naming = module.project.naming(module.source.path, site.point.scope.function.name)
    return naming is not None and naming[1] and all(map(_reads_own_names, ops))


def _reads_own_names(site: Site) -> bool:
    """Whether what an op is given is made of names of the function alone in which it stands, and of
    what functions give that no subclass may exchange.
    """
    if site.point is None:
        return False
    operands = [node for param, node in site.args.items() if param not in SETTINGS]
    nodes = [one for node in operands if isinstance(node, ast.AST) for one in nodes_in(node)]
    callees = {
        id(part) for one in nodes if isinstance(one, ast.Call) for part in nodes_in(one.func)
    }
    return not any(
        isinstance(one, ast.Name)
        and (one.id == "self" or id(one) not in callees and one.id not in site.point.scope.history)
        or isinstance(one, ast.Attribute)
        and id(one) not in callees
        for one in nodes
    )
