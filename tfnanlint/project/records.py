"""What the attributes of objects are set to that hold the settings of a program: `flags.soft = 0`
of an object that a module makes, `soft = 0` of a class. Nothing is evaluated.

Of an attribute all assignments count that any code makes to one of its name, whatever the object.
It is not known where its name is written elsewhere, as a keyword or a text, and where something may
set it by a text that is not seen.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from tfnanlint.project.assignments import Assigned, Assignments
from tfnanlint.project.bindings import bound_at, outside_definitions, values_bound
from tfnanlint.project.branches import layout_of
from tfnanlint.project.names import INERT, Names
from tfnanlint.project.programs import Program

# What takes settings over from elsewhere, by the names that such code has.
_TAKING = rb"(?:\w*(?:update|merge|override|overwrite|load|parse|from_)\w*)"


class Records:
    """The settings that objects of a program hold."""

    def __init__(self, program: Program, names: Names, assignments: Assignments):
        self._program = program
        self._names = names
        self._assignments = assignments
        self._known: dict[tuple[str, str, str], list[Assigned]] = {}

    def of_attribute(self, path: str, root: str, node: ast.Attribute) -> list[Assigned]:
        """All that an attribute may be of what a name of a module holds, or of a part of that;
        nothing where that is not seen.
        """
        key = path, root, ast.unparse(node)
        if key not in self._known:
            self._known[key] = self._of_attribute(path, root, node)
        return self._known[key]

    def _of_attribute(self, path: str, root: str, node: ast.Attribute) -> list[Assigned]:
        assigned = self._assignments.of_name(path, root)
        holders = [self._holder(*one) for one in assigned]
        if not assigned and isinstance(node.value, ast.Name):
            holders = [self._class_of(path, root)]
        if not holders or self._is_set_unseen(root, node.attr):
            return []
        values = self._assigned_to(node.attr)
        if values is None:
            return []
        for holder in holders:
            if holder is None:
                return []
            stated = values_bound(outside_definitions(holder[1]), node.attr)
            if stated is None or not stated and not values:
                return []
            values += [(holder[0], value) for value in stated]
        return values

    def _class_of(self, path: str, name: str) -> tuple[str, list[ast.stmt]] | None:
        """The file and the body of a class that a name of a module means."""
        outline = self._names.outline(path)
        layout = layout_of(outline)
        if sum(name in bound_at(node) for node in outside_definitions(outline.tree.body)) != 1:
            return None
        imports = [one for one in outline.imports if one.bound == name]
        if name not in layout.classes and len(imports) == 1 and imports[0].name:
            modules = self._program.modules(path, imports[0], imports[0].words)
            return self._class_of(modules[0], imports[0].name) if len(modules) == 1 else None
        if name not in layout.classes or name in layout.repeated or imports:
            return None
        cls = layout.classes[name]
        definition = self._names.definition((path, name))
        if definition is None or cls.decorator_list or self._names.heirs((path, name)):
            return None
        return (path, cls.body) if INERT.issuperset(base for base, _ in definition.bases) else None

    def _holder(self, path: str, call: ast.expr) -> tuple[str, list[ast.stmt]] | None:
        """The file and the body of the class of an object that is made without arguments; no body
        if it is of a library.
        """
        if not isinstance(call, ast.Call) or call.args or call.keywords:
            return None
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        origins = [one for one in self._names.outline(path).imports if one.bound == name]
        if origins and not any(self._names.is_own(word) for one in origins for word in one.words):
            return path, []
        return self._class_of(path, name)

    def _assigned_to(self, name: str) -> list[Assigned] | None:
        """What the program assigns to attributes of a name; None where its name is written in
        another way, too.
        """
        values: list[Assigned] = []
        for path in self._names.holding(name):
            outline = self._names.outline(path)
            if outline.is_words:
                return None
            stored: dict[ast.AST, ast.expr] = {}
            for node in ast.walk(outline.tree):
                if isinstance(node, ast.Assign):
                    stored.update((target, node.value) for target in node.targets)
                if not _names_setting(node, name):
                    continue
                if node not in stored:
                    return None
                values.append((path, stored[node]))
        return values

    def _is_set_unseen(self, root: str, name: str) -> bool:
        """Whether something may set an attribute by a text, or take all settings from elsewhere."""
        if self._program.sets_attribute(name):
            return True
        taken = re.compile(
            rb"\b%(root)s(?:\.\w+)*\s*(?:\[[^\]\n]*\]\s*=(?!=)|\.\s*%(taking)s\s*\()"
            rb"|\b%(taking)s\s*\([^)]*\b%(root)s\b(?!\s*\.)"
            % {b"root": re.escape(root.encode()), b"taking": _TAKING}
        )
        return any(taken.search(self._program.texts[one]) for one in self._names.holding(root))


def root_of(node: Any) -> str:
    """The name of which an expression is an attribute, or an attribute of one."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _names_setting(node: ast.AST, name: str) -> bool:
    """Whether a node may set something by a name: an attribute that is no plain read, a keyword, or
    a text, which may be that of an option.
    """
    if isinstance(node, ast.Attribute):
        return node.attr == name and not isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.keyword):
        return node.arg == name
    text = getattr(node, "value", None) if isinstance(node, ast.Constant) else None
    return isinstance(text, str) and text.lstrip("-").replace("-", "_") == name
