"""Hooks: the methods that Keras calls of what inherits from its classes, and what it hands to them.

A method is a hook only where its class inherits from what calls it: `update_state` of a class of
the program that is no metric is a method like any other.
"""

from __future__ import annotations

from typing import Final

from tfnanlint.ops.frameworks import HOOKS
from tfnanlint.program.functions import Function
from tfnanlint.program.scope import Parameter
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import INF, Note, Value

_WEIGHTED: Final = "sample_weight"
# By method: the bases whose callers hand it weights of samples.
_WITH_WEIGHTS: Final = {
    "update_state": ("keras.metrics.",),
    "__call__": ("keras.metrics.", "keras.losses."),
    "compute_loss": ("keras.Model", "keras.models."),
    "compute_metrics": ("keras.Model", "keras.models."),
}


def called_elsewhere(function: Function) -> bool:
    """Whether its decorators or its name say that code calls it that is not seen: asked before
    its callers are looked for.
    """
    return (
        not function.transparent
        or function.registered
        or function.owner is not None
        and function.name in HOOKS
    )


def is_hook(ev: Evaluator, function: Function, bases: tuple[str, ...]) -> bool:
    """Whether a method belongs to a class that inherits from one of some bases of Keras."""
    return function.owner is not None and any(
        base.startswith(bases) for base in ev.foreign_bases(function.owner)
    )


def weights_of_samples(ev: Evaluator, parameter: Parameter) -> Value | None:
    """The weights that Keras hands to a hook: at least 0, and 0 for what is left out; None for
    any other parameter.
    """
    function = parameter.function
    bases = _WITH_WEIGHTS.get(function.name) if parameter.name == _WEIGHTED else None
    if bases is None or not is_hook(ev, function, bases):
        return None
    note = Note(
        f"the weights of samples that Keras hands to {function.name}()",
        function.node,
        function.module.source,
        parameter=parameter.name,
    )
    return Value(0.0, INF, zero=True, kind="tensor", origin=note)
