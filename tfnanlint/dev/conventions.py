"""docs/conventions.md: every convention, its reason, and the modules that ask for it."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

from tfnanlint.conventions.table import CONVENTIONS, Convention
from tfnanlint.dev.repository import ROOT

PACKAGE = "tfnanlint.conventions"
WRITTEN = "<!-- written by python -m tfnanlint.dev.docs from tfnanlint/conventions/table.py -->"
_HEAD = """\
Where values and calls do not answer a question, the analysis guesses from names. Each guess is a
convention: a predicate in `tfnanlint/conventions/`, which is defined once and imported where it is
needed. Each convention has a row in `tfnanlint/conventions/table.py`.
"""


def page() -> str:
    """The text of docs/conventions.md."""
    asked = users()
    parts = ["# Conventions", WRITTEN, _HEAD.strip()]
    for module, rows in _by_module().items():
        parts.append(f"## {module.capitalize()}")
        parts.append(
            "\n".join(
                ["| convention | where it holds | because | asked in |", "|---|---|---|---|"]
                + [_row(row, asked[row.name]) for row in rows]
            )
        )
    return "\n\n".join(parts) + "\n"


def _by_module() -> dict[str, list[Convention]]:
    groups: dict[str, list[Convention]] = defaultdict(list)
    for row in CONVENTIONS:
        groups[row.name.partition(".")[0]].append(row)
    return groups


def _row(row: Convention, modules: list[str]) -> str:
    said = " ".join((row.predicate.__doc__ or "").split("\n\n")[0].split())
    return (
        f"| `{row.name}`: {said[0].lower()}{said[1:].rstrip('.')} | {row.guess} | {row.reason} "
        f"| {', '.join(f'`{module}`' for module in modules)} |"
    )


def users(root: Path = ROOT) -> dict[str, list[str]]:
    """The modules that use a convention, by its name (`roles.is_loss`)."""
    modules: dict[str, list[str]] = defaultdict(list)
    files = [*(root / "tfnanlint").rglob("*.py"), *(root / "rules").glob("*.py")]
    for path in sorted(files):
        module = ".".join(path.relative_to(root).with_suffix("").parts)
        if module.startswith((PACKAGE, "tfnanlint.dev.")):
            continue
        for name in sorted(used_in(ast.parse(path.read_text()))):
            modules[name].append(module.removeprefix("tfnanlint."))
    return modules


def used_in(tree: ast.Module) -> set[str]:
    """The conventions that a module imports, or reads from a module of conventions."""
    used: set[str] = set()
    modules: set[str] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom):
            continue
        if node.module in (PACKAGE, "tfnanlint.api"):
            modules.update(alias.name for alias in node.names)
        elif (node.module or "").startswith(f"{PACKAGE}."):
            module = node.module.rpartition(".")[2]
            used.update(f"{module}.{alias.name}" for alias in node.names)
    return used | {
        f"{node.value.id}.{node.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in modules
    }
