"""Agreements: flags that all calls of a function hand over alike, `focal(y, z, from_logits=True)`.

What its other parameters are is known from the same calls: it has passed the branches that these choose, and no others.
"""

from __future__ import annotations

import ast

from tfnanlint.following import Following
from tfnanlint.loops import flag_of
from tfnanlint.outcomes import outcome
from tfnanlint.scopes import Assigned, Parameter, Point, unrefined
from tfnanlint.values import Note, Value, unknown


class Agreements(Following):
    """The part of the interpreter that knows of flags."""

    def decided(self, test: ast.expr, point: Point) -> bool | None:
        """What a test comes to, by what is written at the call being followed, or at all that are seen."""
        found = outcome(test, point)
        flag = flag_of(test, point) if found is None else None
        agreed = self.agreed(flag[0]) if flag is not None else None
        return found if flag is None or agreed is None else agreed is flag[1]

    def agreed(self, parameter: Parameter) -> bool | None:
        """What all calls hand to a parameter, which is True or False by default; None where they differ, or some are not seen."""
        function = parameter.function
        if parameter.stamp:
            self.reads.append(parameter)
            return None
        mark, parameter.stamp = len(self.reads), self.next_stamp()
        try:
            handed = [] if self.is_compiled(function) else self.handovers(function)
        finally:
            parameter.stamp = 0
        self.settled(parameter, mark)
        given = {_written(unrefined(bound.get(parameter.name, parameter.default))) for bound in handed}
        return given.pop() if len(given) == 1 else None

    def unseen(self, parameter: Parameter) -> Value:
        """A parameter where no call is seen that comes there."""
        function = parameter.function
        return unknown(origin=Note(f"parameter '{parameter.name}' of {function.name}()", function.node, function.module.source, parameter=parameter.name))


def _written(binding: object) -> bool | None:
    """True or False, as it is written."""
    value = binding.node.value if isinstance(binding, Assigned) and isinstance(binding.node, ast.Constant) else None
    return value if isinstance(value, bool) else None
