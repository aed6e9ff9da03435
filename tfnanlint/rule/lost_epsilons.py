"""Repairs of epsilons that are 0 in the dtype in use, or none at all: larger ones."""

from __future__ import annotations

from typing import Final

from tfnanlint.diagnostics.findings import Claim, Fix
from tfnanlint.ops.site import Site
from tfnanlint.ops.traits import ADDITIONS
from tfnanlint.rule import recipes as repairs
from tfnanlint.rule.registry import Context
from tfnanlint.values.value import Value

# What the epsilon in the input of an op is for.
_USES: Final = {
    "tf.math.log": "floor",
    "tf.divide": "divisor",
    "tf.sqrt": "root",
    "tf.math.rsqrt": "inverse root",
    "tf.math.reciprocal": "divisor",
}


def larger(here: Context, site: Site, guard: Site, param: str, x: Value) -> list[Fix]:
    """An epsilon that the dtype of the guarded value has, in the guard of an op's input."""
    node = guard.args.get(param)
    if node is None or guard.source is not here.source:
        return []
    use = _USES[site.op.name]
    added = "summand" if guard.op.name in ADDITIONS else "logarithm"
    eps = repairs.floor_of(x, here.setup.epsilon, added) if use == "floor" else here.epsilon(x, use)
    return here.rewrite(
        guard,
        eps,
        node=node,
        title=f"use {eps}, which {x.dtype or 'float32'} can represent",
        claim=Claim.SHIFTED,
        cost=f"values change by up to {eps}",
    )


def of_length(here: Context, normalized: Site) -> list[Fix]:
    """An epsilon of `l2_normalize` that float16 has."""
    return here.with_argument(
        normalized,
        "epsilon",
        "1e-2",
        title="use 1e-2, which float16 can represent",
        claim=Claim.SHIFTED,
        cost="rows shorter than 0.1 are no longer scaled to length 1",
    )


def of_normalization(here: Context, layer: Site, param: str) -> list[Fix]:
    """The default epsilon of the normalisation layers of Keras."""
    return here.with_argument(
        layer,
        param,
        "1e-3",
        title="use 1e-3, the default of Keras",
        claim=Claim.SHIFTED,
        cost="normalised values change by up to 0.05 %",
    )


def of_optimizer(here: Context, optimizer: Site) -> list[Fix]:
    """An epsilon beside which steps in float16 stay small."""
    return here.with_argument(
        optimizer,
        "epsilon",
        "1e-4",
        title="use epsilon=1e-4",
        claim=Claim.SHIFTED,
        cost="steps for gradients of less than about 1e-4 get smaller",
    )


def of_keras(here: Context, set_floatx: Site) -> list[Fix]:
    """`K.set_epsilon` after the call that sets the float type of Keras."""
    return here.restate(
        set_floatx,
        "{call}\nK.set_epsilon(1e-3)",
        call=set_floatx.node,
        title="set the epsilon of Keras to 1e-3",
        claim=Claim.SHIFTED,
        cost="every result that uses the epsilon of Keras changes by up to 1e-3",
    )
