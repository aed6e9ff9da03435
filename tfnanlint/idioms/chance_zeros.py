"""How the zero of a root, a norm or a deviation arises: by what the program does, or by chance.

A relu, a mask, padding and equal points make zeros on any day. Here are those that take a
coincidence: many numbers, of which each can be any, would have to be 0 together.

    slopes = tape.gradient(critic(x), x)     of a critic that is nowhere flat
    error = tf.norm(model(x) - y)            of a whole batch
    size = tf.norm(dense(x), axis=-1)        of a wide layer without activation
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from tfnanlint.guards.post_guards import plain
from tfnanlint.idioms.derivatives import TAKERS, gradient_site
from tfnanlint.idioms.layer_outputs import free_layer
from tfnanlint.idioms.loss_pairs import unfolded
from tfnanlint.idioms.moments import squared
from tfnanlint.idioms.nowhere_flat import elements, is_nowhere_flat
from tfnanlint.ops.frameworks import FUNCTIONAL_MODEL
from tfnanlint.ops.models.variables import starts_at_zero
from tfnanlint.ops.provenance import behind
from tfnanlint.ops.site import Site, both_orders, made_by, operands, part_of, same
from tfnanlint.ops.traits import (
    ADDITIONS,
    DEVIATIONS,
    DEVIATIONS_OF_DATA,
    DIFFERENCE_SQUARES,
    LOSS_OF_SQUARES,
    NORMS,
    SPREADS,
    TOTALS,
    VARIABLES,
    WRITTEN_ROOTS,
    ZERO_WITH_OPERAND,
)
from tfnanlint.values.value import Note, Value

#: Names in `FIX_KINDS`, which says why each is a coincidence.
GRADIENT: Final = "flat-nowhere"
OUTPUT: Final = "network-output"
ERROR: Final = "error-by-chance"

_DEPTH: Final = 12
_PARTS: Final = ("x", "y", "real", "imag")


class Elements(NamedTuple):
    """What a root is 0 with, if all of it is 0 or, of a deviation, equal; `whole`: of all axes."""

    value: Value
    whole: bool


def chance(root: Site) -> str:
    """The kind of coincidence in which a root, norm or deviation is 0, as `FIX_KINDS` names
    it; empty where its zero is ordinary, or nothing shows how it arises.
    """
    elements = under(root)
    if elements is None:
        return ""
    if isinstance(elements, Pair):
        return ERROR if elements.is_by_chance() else ""
    return _kind(elements.value, elements.whole, _DEPTH)


def vector_of(root: Site) -> Value | None:
    """The vector of which a root or norm gives the length, `x` of `tf.norm(x, axis=-1)`; None for
    what is no length, and for the distance of two points, which are mostly far apart.
    """
    total = made_by(plain(root.value(root.op.main or "x")), "tf.reduce_sum")
    elements = under(root) if root.op.name in NORMS or total is not None else None
    if not isinstance(elements, Elements):
        return None
    vector = plain(elements.value)
    if gradient_site(vector) is not None:
        return vector
    is_apart = made_by(vector, "tf.subtract", *DIFFERENCE_SQUARES) is not None
    return None if elements.whole or is_apart else vector


class Pair(NamedTuple):
    """A loss of squared errors: it is 0 where both are equal in every element."""

    x: Value
    y: Value

    def is_by_chance(self) -> bool:
        return _differ(self.x, self.y, True, _DEPTH)


def under(root: Site) -> Elements | Pair | None:
    """What a root, norm or deviation is 0 with; None where that is not a sum over many elements."""
    main = root.value(root.op.main or "x")
    if root.op.name in NORMS or root.op.name in DEVIATIONS:
        return Elements(main, not root.given("axis"))
    if root.op.name not in WRITTEN_ROOTS:
        return None
    spread = made_by(main, *SPREADS) or part_of(main, 1, "tf.nn.moments")
    if spread is not None:
        axis = "axes" if spread.op.name == "tf.nn.moments" else "axis"
        return Elements(spread.value(spread.op.main or "x"), not spread.given(axis))
    return _of_squares(main)


def _of_squares(radicand: Value) -> Elements | Pair | None:
    """The elements whose squares a sum or mean adds up."""
    total = made_by(plain(radicand), *TOTALS)
    inner = plain(radicand if total is None else total.value(total.op.main or "x"))
    loss = made_by(inner, *LOSS_OF_SQUARES)
    if loss is not None:
        is_mean = total is not None and not total.given("axis") or loss.library == "layer"
        return _pair(loss) if is_mean else None
    if total is None:
        return None
    apart = made_by(inner, *DIFFERENCE_SQUARES)
    if apart is not None:
        return Elements(Value(origin=apart), not total.given("axis"))
    square = squared(inner)
    if square is None:
        return None
    return Elements(square.value("x"), not total.given("axis"))


def _pair(loss: Site) -> Pair | None:
    """What a loss compares."""
    if loss.library != "layer":
        return Pair(loss.value("y_true"), loss.value("y_pred"))
    both = loss.value("input").obj
    if not isinstance(both, tuple) or len(both) < 2:
        return None
    return Pair(both[0], both[1])


def _kind(value: Value, whole: bool, depth: int) -> str:
    """The kind of coincidence in which a value is 0 in every element; empty for none."""
    if not depth or value.exact or value.is_number:
        return ""
    value = plain(unfolded(plain(value)))
    note = value.origin
    if isinstance(note, Note) and note.options:
        kinds = [_kind(option, whole, depth - 1) for option in note.options]
        return kinds[0] if all(kinds) else ""
    if free_layer(value, whole) is not None:
        return OUTPUT
    site = behind(value)
    if not isinstance(site, Site):
        return ""
    return _kind_of_site(site, whole, depth)


def _kind_of_site(site: Site, whole: bool, depth: int) -> str:
    name = site.op.name
    if name in TAKERS:
        return GRADIENT if is_nowhere_flat(site) else ""
    if site.library == "layer":
        return _kind_of_model(site, whole, depth)
    if name in ADDITIONS or name in DIFFERENCE_SQUARES:
        return ERROR if _differ(site.value("x"), site.value("y"), whole, depth - 1) else ""
    if name == "tf.multiply":
        return _kind_of_product(site, whole, depth)
    if name == "tf.complex":
        return next(filter(None, [_kind(p, whole, depth - 1) for p in _operands(site)]), "")
    if name == "tf.clip_by_value":
        is_inside = site.value("clip_value_min").hi < 0 < site.value("clip_value_max").lo
        return _kind(site.value("x"), whole, depth - 1) if is_inside else ""
    if name in ZERO_WITH_OPERAND:
        kinds = [_kind(operand, whole, depth - 1) for operand in _operands(site)]
        return next(filter(None, kinds), "")
    return ""


def _kind_of_model(call: Site, whole: bool, depth: int) -> str:
    """The same for the output of a functional model."""
    model = getattr(call.value("layer").obj, "site", None)
    if isinstance(model, Site) and model.op.name == FUNCTIONAL_MODEL and model.given("outputs"):
        return _kind(model.value("outputs"), whole, depth - 1)
    return ""


def _kind_of_product(product: Site, whole: bool, depth: int) -> str:
    """The same for a product, of which the other factor is no mask."""
    for factor, beside in both_orders(product):
        kind = _kind(factor, whole, depth - 1)
        if kind and _is_no_mask(beside, whole, depth - 1):
            return kind
    return ""


def _is_no_mask(factor: Value, whole: bool, depth: int) -> bool:
    """Whether a factor leaves hardly any element 0: a number, a deviation of data, a weight, what
    is 0 by chance only.
    """
    if not depth:
        return False
    if not factor.zero or _is_spread(factor):
        return True
    site = behind(factor)
    if isinstance(site, Site) and site.op.name in VARIABLES:
        return not starts_at_zero(site.value(site.op.starts)) and not site.given("trainable")
    if isinstance(site, Site) and site.op.name == "tf.multiply":
        return all([_is_no_mask(part, whole, depth - 1) for part in operands(site)])
    if isinstance(site, Site) and site.op.name == "tf.complex":
        return any([part.exact and part.lo != 0 for part in _operands(site)])
    return bool(_kind(factor, whole, depth))


def _is_spread(value: Value) -> bool:
    """Whether a value is the deviation of data, or a number, in each way in which it can arise."""
    if value.is_number:
        return value.const != 0
    note = value.origin
    if isinstance(note, Note) and note.options:
        return all([_is_spread(option) for option in note.options])
    if isinstance(note, Note) and isinstance(note.parent, (Note, Site)) and note.index is None:
        return _is_spread(Value(origin=note.parent))
    return isinstance(note, Site) and note.op.name in DEVIATIONS_OF_DATA


def _differ(x: Value, y: Value, whole: bool, depth: int) -> bool:
    """Whether two values are equal by chance only: a network gives one of them, and not the other
    one, or other weights do.
    """
    if not depth or same(x, y):
        return False
    kinds = [_kind(side, whole, depth) for side in (x, y)]
    if all(kinds):
        return _networks(x).isdisjoint(_networks(y))
    if any(kinds):
        return True
    is_cut_off = any([side.known and side.lo >= 0 for side in (x, y)])  # at 0, as labels may be
    return whole and not is_cut_off and (_is_predicted(x) or _is_predicted(y))


def _networks(value: Value) -> frozenset[Site]:
    """The constructions of the layers, or else the ops, that give a value."""
    layer = free_layer(unfolded(plain(value)), narrow=True)
    site = layer if layer is not None else behind(plain(value))
    if not isinstance(site, Site):
        return frozenset()
    construction = (
        getattr(site.value("layer").obj, "site", None) if site.library == "layer" else None
    )
    return frozenset((construction if isinstance(construction, Site) else site,))


def _is_predicted(value: Value) -> bool:
    """Whether Keras hands a value to a loss, as predictions that nothing keeps at or above 0 or as
    labels, or a model predicts it; perhaps scaled.
    """
    value = plain(value)
    for scaled, factor in both_orders(made_by(value, "tf.multiply")):
        if _is_spread(factor):
            return _is_predicted(scaled)
    note = value.origin
    while isinstance(note, Note):
        if note.outer and not note.parameter:
            return value.lo < 0
        note = note.parent
    return isinstance(note, Site) and note.op.name == "method.predict" and value.lo < 0


def _operands(site: Site) -> Iterable[Value]:
    """What an op is given, that of lists one by one."""
    params = [site.op.passes] if site.op.passes else [p for p in _PARTS if site.given(p)]
    params = params or [site.op.main or "x"]
    return elements([site.value(param) for param in params])
