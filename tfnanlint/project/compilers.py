"""Whether XLA compiles what a program computes: since version 3 Keras lets it compile what `fit`
trains on a GPU; before that, and in other loops, the program has to ask for it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from tfnanlint.conventions.identifiers import names_compiler
from tfnanlint.ops.frameworks import BEFORE_XLA, TRAINING_METHODS, XLA_NAMES
from tfnanlint.ops.models.variables import KERAS_OPTIMIZERS
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import nodes_in
from tfnanlint.syntax.source import Source

if TYPE_CHECKING:
    from tfnanlint.project.imports import Imports
    from tfnanlint.project.programs import Program

_MAX_HOLDERS: Final = 24  # files that are read for one answer
_SETTING: Final = "TF_XLA_FLAGS"  # of the environment
_ASKING: Final = re.compile(
    rb"\b(?:%s)\b" % b"|".join(map(str.encode, sorted({*XLA_NAMES, _SETTING})))
)


# What is known: a file asks for XLA; Keras trains a model in one; one is written for libraries that
# do not use it by themselves; none of these.
ASKED, TRAINS, BEFORE, NONE = "asked", "trains", "before", "none"


def compiler_of(source: Source) -> str:
    """What a file says of XLA."""
    names = source.names
    if not XLA_NAMES.isdisjoint(names) or _SETTING in source.text:
        return ASKED
    if not BEFORE_XLA.isdisjoint(names) or "lr" in names and _names_old_rate(source.tree):
        return BEFORE
    trains = not names.isdisjoint(TRAINING_METHODS) and any(map(names_compiler, names))
    return TRAINS if trains else NONE


def compiler_around(
    program: Program, imports: Imports, path: str, source_of: Callable[[str], Source | None]
) -> str:
    """What the files say that may run what a file of a program computes: any may ask for XLA, those
    that import the file may train it.
    """
    asking = [one for one, data in program.texts.items() if _ASKING.search(data) is not None]
    importers = imports.all_importers(path, _MAX_HOLDERS)
    sources = [source_of(one) for one in (*asking, *(importers or ()))]
    known = [compiler_of(source) for source in sources if source is not None]
    if importers is None or len(known) < len(sources):
        return ASKED  # by what cannot be read, for all that is known
    return next((one for one in (ASKED, BEFORE, TRAINS) if one in known), NONE)


def _names_old_rate(tree: ast.Module) -> bool:
    """Whether an optimizer of Keras is made with `lr=0.1`, which Keras 3 refuses."""
    return any(
        isinstance(node, ast.Call)
        and not node.args
        and leaf(node.func) in KERAS_OPTIMIZERS
        and any(keyword.arg == "lr" for keyword in node.keywords)
        for node in nodes_in(tree)
    )
