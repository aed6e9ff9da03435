"""Networks of which only parts are seen: whether one of them is flat, or leaks below 0.

unknown(nn.leaky_relu(layers.Dense(64)(x)))     leaking-slopes
layers.Dense(1, activation="sigmoid")(leaky)    slopes: a part is flat
unknown(x)                                      unseen-slopes
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tfnanlint.conventions.identifiers import is_leaky
from tfnanlint.idioms.derivatives import TAKERS
from tfnanlint.idioms.layer_outputs import gives_zeros_at_first
from tfnanlint.idioms.loss_pairs import unfolded
from tfnanlint.idioms.nowhere_flat import ACTIVATIONS, elements, has_no_slope
from tfnanlint.ops.frameworks import FUNCTIONAL_MODEL
from tfnanlint.ops.provenance import Walk, site_behind
from tfnanlint.ops.site import Site, same
from tfnanlint.ops.traits import (
    FLAT_IN_PART,
    FLAT_NAMES,
    LEAKING,
    LEAKING_PARTS,
    RELUS,
)
from tfnanlint.values.value import Value

_MOST: Final = 120


def kind_of_slopes(gradient: Site) -> str:
    """The kind of fix, as `FIX_KINDS` names it, that a guard of the length of a gradient is: by
    whether a flat part of the network is seen, or only parts that leak below 0, or neither.
    """
    target, sources = (gradient.value(param) for param in TAKERS[gradient.op.name])
    kind = "unseen-slopes"
    for name in _parts(target, elements([sources])):
        if name in FLAT_IN_PART or name in FLAT_NAMES:
            return "slopes"
        if name in LEAKING_PARTS or is_leaky(name):
            kind = "leaking-slopes"
    return kind


def _parts(target: Value, inputs: list[Value]) -> Iterator[str]:
    """The names of the ops, layers and activations that make a value of inputs."""
    walk = Walk(*elements([target]), limit=_MOST)
    for value in walk:
        site = site_behind(unfolded(value))
        if site is None or any([same(value, one) for one in inputs]):
            continue
        if site.library == "layer":
            yield from _layers(site.value("layer"), walk)
            walk.add(elements([site.value("input")]))
            continue
        yield site.op.name
        yield from _activations(site)
        if _is_leak(site):
            yield LEAKING[0]
        walk.enter(site)


def _layers(layer: Value, walk: Walk) -> Iterator[str]:
    """The names of a layer or of those of a stack, and of their activations; a model's outputs are
    to be walked.
    """
    stacked = getattr(layer.obj, "layers", None)
    if stacked is not None:
        for part in stacked:
            yield from _layers(part, walk)
        return
    construction = getattr(layer.obj, "site", None)
    if not isinstance(construction, Site):
        return
    if construction.op.name == FUNCTIONAL_MODEL:
        walk.add(elements([construction.value("outputs")]))
        return
    if gives_zeros_at_first(construction) or has_no_slope(construction):
        yield RELUS[0]
    yield construction.op.name
    yield from _activations(construction)


def _activations(site: Site) -> Iterator[str]:
    for param in ACTIVATIONS:
        if param in site.params and site.given(param):
            activation = site.value(param)
            name = getattr(activation.obj, "name", activation.const)
            yield str(name).rpartition(".")[2].lower()


def _is_leak(site: Site) -> bool:
    """Whether a maximum is that of a value and a part of it, `tf.maximum(x, 0.2 * x)`."""
    if site.op.name != "tf.maximum":
        return False
    sides = [site.value(param) for param in ("x", "y")]
    for whole, part in (sides, sides[::-1]):
        product = site_behind(part)
        if product is None or product.op.name != "tf.multiply":
            continue
        if any([same(product.value(param), whole) for param in ("x", "y")]):
            return True
    return False
