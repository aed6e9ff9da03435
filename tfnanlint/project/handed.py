"""Functions that a file hands to Keras by their names, as losses and metrics: Keras calls them with
the labels and the predictions, and leaves all other parameters at their defaults.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, Final

from tfnanlint.ops.frameworks import COMPILED_FUNCTIONS, RESTORED_BY
from tfnanlint.project.arguments import parameters
from tfnanlint.project.outlines import Outline
from tfnanlint.syntax.access_paths import leaf

ARGUMENTS: Final = 2  # the labels and the predictions
_COMPILE: Final = "compile"


def handed_in(outline: Outline) -> set[ast.AST]:
    """What stands in a file for a function that Keras calls as a loss or a metric."""
    if _COMPILE not in outline.text and RESTORED_BY not in outline.text:
        return set()
    return {
        part
        for node in ast.walk(outline.tree)
        if isinstance(node, ast.Call)
        for argument in _arguments(node)
        for part in _parts(argument)
    }


def keeps_default(function: Any, parameter: str, skipped: int) -> bool:
    """Whether Keras never passes a parameter of a loss or a metric."""
    places = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    taken = places[: skipped + ARGUMENTS]
    return parameter in parameters(function.args) and parameter not in taken


def _arguments(call: ast.Call) -> Iterator[ast.expr]:
    is_compile = isinstance(call.func, ast.Attribute) and leaf(call.func) == _COMPILE
    for keyword in call.keywords:
        if keyword.arg == RESTORED_BY or is_compile and keyword.arg in COMPILED_FUNCTIONS:
            yield keyword.value
    if is_compile:
        yield from call.args[1:3]


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    """What stands in lists and dictionaries, also inside of one another."""
    waiting = [node]
    for part in waiting:  # it grows on the way
        if isinstance(part, (ast.List, ast.Tuple)):
            waiting += part.elts
        elif isinstance(part, ast.Dict):
            waiting += part.values
        else:
            yield part
