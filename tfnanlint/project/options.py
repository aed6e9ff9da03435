"""Which values a command line may give: the `choices` of an option, and its default."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tfnanlint.project.assignments import Assigned, Assignments
from tfnanlint.project.names import Names
from tfnanlint.project.programs import Program
from tfnanlint.syntax.access_paths import leaf

_PARSED: Final = "parse_args"
_ADDED: Final = "add_argument"
_SETTING: Final = frozenset(("set_defaults", "Namespace"))
_NONE: Final = ast.Constant(None)


class Options:
    """The options of the scripts of a program that have a list of choices."""

    def __init__(self, program: Program, names: Names, assignments: Assignments):
        self._program = program
        self._names = names
        self._assignments = assignments
        self._known: dict[tuple[str, str, str], list[Assigned]] = {}

    def of_attribute(self, path: str, root: str, name: str) -> list[Assigned]:
        """All that an option may be of what a name of a module holds; nothing where that is not
        seen.
        """
        key = path, root, name
        if key not in self._known:
            self._known[key] = self._of_attribute(path, root, name)
        return self._known[key]

    def _of_attribute(self, path: str, root: str, name: str) -> list[Assigned]:
        assigned = self._assignments.of_name(path, root)
        if len(assigned) != 1 or self._program.rebinds_any:
            return []
        file, parsed = assigned[0]
        if not isinstance(parsed, ast.Call) or leaf(parsed.func) != _PARSED or parsed.args:
            return []
        if self._is_set_elsewhere(name):
            return []
        values: list[Assigned] = []
        for call in _options(self._names.outline(file).tree, name):
            choices = _choices(call)
            if not choices:
                return []
            values += [(file, one) for one in choices]
        return values

    def _is_set_elsewhere(self, name: str) -> bool:
        """Whether some file may assign to an option, or change its default."""
        return any(
            _sets(node, name)
            for path in self._names.holding(name)
            for node in ast.walk(self._names.outline(path).tree)
        )


def _sets(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == name and not isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.Call) and leaf(node.func) in _SETTING:
        return any(keyword.arg in (name, None) for keyword in node.keywords)
    return False


def _options(tree: ast.Module, name: str) -> Iterator[ast.Call]:
    """The calls that add an option of a name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and leaf(node.func) == _ADDED:
            keywords = {keyword.arg: keyword.value for keyword in node.keywords}
            names = [keywords["dest"]] if "dest" in keywords else node.args
            texts = [getattr(one, "value", None) for one in names]
            if name in [str(one).lstrip("-").replace("-", "_") for one in texts]:
                yield node


def _choices(call: ast.Call) -> list[ast.expr]:
    """The values of an option; nothing where it has no list of choices."""
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    choices = keywords.get("choices")
    if not isinstance(choices, (ast.List, ast.Tuple, ast.Set)) or "nargs" in keywords:
        return []
    return [*choices.elts, keywords.get("default", _NONE)]
