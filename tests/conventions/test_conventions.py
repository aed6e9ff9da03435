"""The table of conventions has all predicates, and each is used and described."""

from __future__ import annotations

import ast
import inspect
import re

import pytest

from tfnanlint.conventions import files, identifiers, releases, roles, texts
from tfnanlint.conventions.table import CONVENTIONS
from tfnanlint.dev.conventions import used_in, users
from tfnanlint.dev.repository import ROOT

MODULES = (files, identifiers, releases, roles, texts)

# Packages whose modules may hold no guess of their own.
JUDGING = "gradients guards idioms interp ops program rewrite rule terms uses".split()
# Regular expressions that match what Python or the frameworks define, by module: no guesses.
SYNTAX = {
    "ops/frameworks": "SINK_CALLS",
    "rewrite/bindings": "_IMPORT _BINDING",
    "rewrite/line_breaks": "_ASSIGNING",
    "rewrite/rewriter": "_NAMING",
    "rewrite/spelling": "_LOSS_CLASS _OPS_OF_KERAS _HOLE _NAME",
    "rewrite/__init__": "PLACEHOLDER",
    "rewrite/concrete": "_LINE_END",
    "rewrite/template": "_HOLE _KEYWORD",
    "rule/recipes": "_FILLED",
    "uses/uses": "_WHOLE",
}


def test_every_predicate_stands_in_the_table():
    public = {
        f"{module.__name__.rpartition('.')[2]}.{name}"
        for module in MODULES
        for name, value in vars(module).items()
        if callable(value)
        and not name.startswith("_")
        and getattr(value, "__module__", "") == module.__name__
    }
    assert public == {row.name for row in CONVENTIONS}
    assert len({row.name for row in CONVENTIONS}) == len(CONVENTIONS)


@pytest.mark.parametrize("row", CONVENTIONS, ids=lambda row: row.name)
def test_every_convention_is_described(row):
    assert inspect.getdoc(row.predicate) and row.guess and row.reason


def test_every_convention_is_used():
    assert {row.name for row in CONVENTIONS} - users().keys() == set()


@pytest.mark.parametrize(
    "code",
    [
        "from tfnanlint.conventions import roles\nroles.is_loss(name)\n",
        "from tfnanlint.conventions.roles import is_loss\n",
        "from tfnanlint.api import rule, roles\nroles.is_loss(name)\n",
    ],
)
def test_uses_are_seen_in_every_way_of_import(code):
    assert used_in(ast.parse(code)) == {"roles.is_loss"}


def test_an_attribute_of_something_else_is_no_use():
    assert not used_in(ast.parse("roles = {}\nroles.is_loss\n"))


def test_no_regular_expression_guesses_elsewhere():
    """A pattern over names belongs to conventions; what matches syntax is listed above."""
    files = [path for name in JUDGING for path in (ROOT / "tfnanlint" / name).rglob("*.py")]
    found = {}
    for path in sorted([*files, *(ROOT / "rules").glob("*.py")]):
        names = [
            target.id
            for node in ast.parse(path.read_text()).body
            if isinstance(node, (ast.Assign, ast.AnnAssign))
            and re.search(r"\bre\.compile\(", ast.unparse(node))
            for target in getattr(node, "targets", None) or [node.target]
        ]
        if names:
            key = path.with_suffix("").relative_to(ROOT).as_posix()
            found[key.removeprefix("tfnanlint/").removeprefix("rules/")] = " ".join(names)
    assert found == SYNTAX


# Functions of the engine that search a text by a pattern of their own: the shape of a rule's code,
# and the words of a replacement, which has no tree.
SEARCHES = {"rule/registry": ["fullmatch", "search", "escape"]}
ENGINE = "program interp uses gradients guards ops terms idioms rule".split()


def test_the_engine_reads_programs_from_their_trees():
    """A pattern over source text may say where to look (`SYNTAX`), never what stands there."""
    found: dict[str, list[str]] = {}
    for path in sorted(
        path for name in ENGINE for path in (ROOT / "tfnanlint" / name).rglob("*.py")
    ):
        inside = [
            node.func.attr
            for function in ast.walk(ast.parse(path.read_text()))
            if isinstance(function, ast.FunctionDef)
            for node in ast.walk(function)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and ast.unparse(node.func.value) == "re"
        ]
        if inside:
            found[path.with_suffix("").relative_to(ROOT / "tfnanlint").as_posix()] = inside
    assert found == SEARCHES
