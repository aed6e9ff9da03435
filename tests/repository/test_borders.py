"""What a module keeps to itself: no name with an underscore crosses its border, and no rule writes
into what it is shown.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tfnanlint.dev.repository import ROOT

FILES = sorted([*(ROOT / "tfnanlint").rglob("*.py"), *(ROOT / "rules").glob("*.py")])
# Of Python's own libraries, which have no other way.
FOREIGN = frozenset(
    "_exit _fields _actions _action_groups _choices_actions _group_actions _SubParsersAction "
    "_option_string_actions _replace".split()
)


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def crossing(tree: ast.Module) -> set[str]:
    """The private names of other modules that a module imports or reads. One that it defines
    itself, in whatever class, is its own.
    """
    nodes = list(ast.walk(tree))
    imported = {
        alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tfnanlint")
        for alias in node.names
        if is_private(alias.name)
    }
    own = {
        node.name
        for node in nodes
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    } | {
        getattr(node, "attr", None) or node.id
        for node in nodes
        if isinstance(node, (ast.Attribute, ast.Name)) and isinstance(node.ctx, ast.Store)
        if isinstance(node, ast.Name) or is_self(node.value)
    }
    read = {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute) and is_private(node.attr) and not is_self(node.value)
    }
    return imported | read - own - FOREIGN


def is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def written(tree: ast.Module) -> set[str]:
    """The attributes that a module assigns to objects. Fields of its own classes are left out, and
    `here.no_fix`, by which a rule says why it offers none.
    """
    fields = {
        line.target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for line in node.body
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name)
    }
    return {
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, (ast.Store, ast.Del))
        and not is_self(node.value)
        and node.attr not in fields
        and ast.unparse(node) != "here.no_fix"
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_private_name_crosses_a_border(path: Path):
    assert not crossing(ast.parse(path.read_text()))


@pytest.mark.parametrize("path", sorted((ROOT / "rules").glob("*.py")), ids=lambda path: path.stem)
def test_no_rule_writes_into_what_it_is_shown(path: Path):
    assert not written(ast.parse(path.read_text()))


@pytest.mark.parametrize(
    "code",
    ["from tfnanlint.ops.site import _itself", "site._values['x']", "root._judge = site._judge"],
)
def test_a_crossing_is_seen(code):
    assert crossing(ast.parse(code))


def test_what_a_module_defines_is_its_own():
    code = "class A:\n    def __init__(self):\n        self._x = 1\ndef f(a):\n    return a._x\n"
    assert not crossing(ast.parse(code))


def test_a_write_is_seen():
    assert written(ast.parse("root.judge = site.judge")) == {"root.judge"}
