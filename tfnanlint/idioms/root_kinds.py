"""What a root, norm or deviation is taken of, by which repairs of it are judged (`fix_kinds`).

tf.norm(x[:, 0] - x[:, 1], axis=-1)                points
tf.sqrt(tf.reduce_sum(tf.square(y - p), axis=-1))  prediction-error
tf.norm(tape.gradient(d, x), axis=-1)              slopes
tf.norm(capsules, axis=-1)                         length
tf.math.reduce_std(x, axis=0)                      deviation
"""

from __future__ import annotations

from typing import Final

from tfnanlint.conventions.identifiers import is_label, is_prediction_parameter
from tfnanlint.guards.post_guards import plain
from tfnanlint.idioms.chance_zeros import Elements, Pair, chance, under
from tfnanlint.idioms.derivatives import gradient_site
from tfnanlint.idioms.leaking_networks import kind_of_slopes
from tfnanlint.idioms.quantities import scale
from tfnanlint.ops.provenance import Walk, behind, first_origin
from tfnanlint.ops.site import Site, made_by, operands, same
from tfnanlint.ops.traits import (
    DEVIATIONS,
    DIFFERENCES,
    PLACEHOLDERS,
    REPETITIONS,
    ROOTS,
    SPREADS,
    TOTALS,
    VARIABLES,
    WEIGHING,
    WRITTEN_ROOTS,
)
from tfnanlint.values.value import Note, Value

_DEPTH: Final = 8
_MOST: Final = 40


def roots_in(value: Value) -> list[Site]:
    """The roots that a value is, or is the product of; none where it is made of anything else."""
    root = made_by(value, *ROOTS)
    if root is not None:
        return [root]
    factors = made_by(value, "tf.multiply")
    factor_roots = (
        [roots_in(factors.value(param)) for param in ("x", "y")] if factors is not None else []
    )
    return [site for part in factor_roots for site in part] if all(factor_roots) else []


def kind_of_root(root: Site) -> str:
    """The kind of fix that a guard of a root, norm or deviation is: a name in `FIX_KINDS`."""
    by_chance = chance(root)
    if by_chance:
        return by_chance
    elements = under(root)
    if isinstance(elements, Pair):
        return "prediction-error"
    if isinstance(elements, Elements):
        return _kind_of_elements(root, elements)
    return "length" if _is_product_of_totals(root.value(root.op.main or "x")) else "radicand"


def _kind_of_elements(root: Site, elements: Elements) -> str:
    if _is_deviation(root):
        return "deviation"
    vector = plain(elements.value)
    taken = gradient_site(vector)
    if taken is not None:
        return "slopes-of-a-batch" if elements.whole else kind_of_slopes(taken)
    difference = made_by(vector, *DIFFERENCES)
    if difference is not None:
        return _kind_of_difference(difference)
    if is_of_weights(vector):
        return "weights"
    return "positive" if _is_positive(vector) else "length"


def _is_positive(vector: Value, depth: int = _DEPTH) -> bool:
    """Whether each way in which a vector arises gives exponentials, in another order or shape."""
    if not depth:
        return False
    if scale(vector) is not None:
        return True
    note, site = vector.origin, behind(vector)
    if isinstance(note, Note) and note.options:
        return all([_is_positive(option, depth - 1) for option in note.options])
    if not isinstance(site, Site) or site.op.name not in REPETITIONS:
        return False
    return _is_positive(plain(site.value(site.op.main or "x")), depth - 1)


def _is_deviation(root: Site) -> bool:
    """Whether a root is the deviation of elements, also as the root of a variance."""
    if root.op.name in DEVIATIONS:
        return True
    main = root.value(root.op.main or "x")
    note = main.origin
    is_moment = isinstance(note, Note) and isinstance(note.parent, Site)
    spread = made_by(main, *SPREADS) or (note.parent if is_moment else None)
    return root.op.name in WRITTEN_ROOTS and spread is not None and spread.op.name in SPREADS


def _kind_of_difference(difference: Site) -> str:
    """Points, if one tensor or network gives both; centred elements are a vector as any other."""
    x, y = (plain(difference.value(param)) for param in ("x", "y"))
    mean = made_by(y, *TOTALS)
    if mean is not None and same(plain(mean.value("x")), x):
        return "length"
    sources = [_source(side) for side in (x, y)]
    if None not in sources and sources[0] == sources[1]:
        return "points"
    return "prediction-error" if any(map(_is_compared, (x, y))) else "points"


def _source(value: Value) -> object:
    """What a value is a part of, or is computed from alone: a parameter, or the layer that gives
    it; None where nothing shows that.
    """
    origin = first_origin(plain(value))
    for _ in range(_DEPTH):
        if isinstance(origin, Note):
            return (origin.source, origin.parameter or origin.path or origin.text)
        if not isinstance(origin, Site):
            return None
        if origin.library == "layer":
            construction = getattr(origin.value("layer").obj, "site", None)
            return construction if isinstance(construction, Site) else None
        param = origin.op.passes or origin.op.main
        if not param or not origin.given(param):
            return origin
        origin = first_origin(origin.value(param))
    return None


def _is_compared(value: Value) -> bool:
    """Whether a value is a label or a prediction, by its name or by how it comes in."""
    origin = first_origin(plain(value))
    if isinstance(origin, Site):
        return origin.op.name in PLACEHOLDERS
    if not isinstance(origin, Note):
        return False
    name = (origin.parameter or origin.path).rpartition(".")[2]
    return origin.outer or is_label(name) or is_prediction_parameter(name)


def _is_product_of_totals(value: Value) -> bool:
    """Whether a value is a product of sums of squares, as under the root of a correlation."""
    product = made_by(plain(value), "tf.multiply")
    if product is None:
        return False
    return all([made_by(plain(factor), *TOTALS) is not None for factor in operands(product)])


def is_of_weights(vector: Value) -> bool:
    """Whether a vector is made of weights alone: a kernel times the vector of a power iteration."""
    is_weight = False
    walk = Walk(vector, limit=_MOST)
    for part in walk:
        origin = first_origin(part)
        if part.is_number:
            continue
        if not isinstance(origin, Site):
            return False
        if origin.op.name in VARIABLES:
            is_weight = True
        elif origin.op.name in WEIGHING or origin.op.passes:
            walk.enter(origin, [origin.op.passes] if origin.op.passes else origin.args)
        else:
            return False
    return is_weight
