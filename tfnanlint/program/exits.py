"""Calls that end the program: what follows them is not run, as after `raise`."""

from __future__ import annotations

import ast
from typing import Any

from tfnanlint.ops.frameworks import BUILT_IN_EXITS, EXITS
from tfnanlint.program.scope import Imported, Point, unrefined


def ends_program(body: list[ast.stmt], point: Point) -> bool:
    """Whether the last statement of a body ends the program: `sys.exit(1)`. In a notebook `exit()`
    goes on to the end of the cell.
    """
    call: Any = getattr(body[-1], "value", None)
    if type(body[-1]) is not ast.Expr or type(call) is not ast.Call:
        return False
    function, attribute = call.func, ""
    if type(function) is ast.Attribute:
        function, attribute = function.value, f".{function.attr}"
    if type(function) is not ast.Name:
        return False
    binding = unrefined(point.lookup(function.id))
    if isinstance(binding, Imported):
        return not binding.level and f"{binding.dotted}{attribute}" in EXITS
    module = point.module
    return (
        binding is None
        and not attribute
        and function.id in BUILT_IN_EXITS
        and not (module.stars or module.source.path.endswith(".ipynb"))
    )
