"""Constant arguments: flags that all calls of a function hand over alike,
`focal(y, z, from_logits=True)`.

What its other parameters are is known from the same calls: it has passed the branches that these
choose, and no others.
"""

from __future__ import annotations

import ast

from tfnanlint.interp import fixpoint as assumptions
from tfnanlint.program.loops import flag_of
from tfnanlint.program.scope import Assigned, Parameter, Point, unrefined
from tfnanlint.program.static_conditions import outcome
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import Note, Value, unknown


def decided(ev: Evaluator, test: ast.expr, point: Point) -> bool | None:
    """What a test comes to, by what is written at the call being followed, or at all that are
    seen.
    """
    truth = outcome(test, point)
    flag = flag_of(test, point) if truth is None else None
    agreed = agreed_on(ev, flag[0]) if flag is not None else None
    return truth if flag is None or agreed is None else agreed is flag[1]


def agreed_on(ev: Evaluator, parameter: Parameter) -> bool | None:
    """What all calls hand to a parameter, which is True or False by default; None where they
    differ, or some are not seen.
    """
    function = parameter.function
    if parameter.stamp:
        ev.reads.append(parameter)
        return None
    mark, parameter.stamp = len(ev.reads), assumptions.next_stamp(ev)
    try:
        handed = [] if ev.is_compiled(function) else ev.arguments_of(function)
    finally:
        parameter.stamp = 0
    assumptions.settled(ev, parameter, mark)
    flags = {
        _written(ev, unrefined(bound.get(parameter.name, parameter.default))) for bound in handed
    }
    return flags.pop() if len(flags) == 1 else None


def unseen(ev: Evaluator, parameter: Parameter) -> Value:
    """A parameter where no call is seen that comes there."""
    function = parameter.function
    return unknown(
        origin=Note(
            f"parameter '{parameter.name}' of {function.name}()",
            function.node,
            function.module.source,
            parameter=parameter.name,
        )
    )


def _written(ev: Evaluator, binding: object) -> bool | None:
    """True or False, as it is written at a call, or in the one assignment to an attribute that is
    handed over (`use_squares=self.use_squares`).
    """
    if not isinstance(binding, Assigned):
        return None
    if isinstance(binding.node, ast.Attribute):
        value = ev.evaluate(binding.node, binding.point).const
    else:
        value = binding.node.value if isinstance(binding.node, ast.Constant) else None
    return value if isinstance(value, bool) else None
