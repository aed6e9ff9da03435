"""What fixes write: the calls in canonical names of every template, read from the text of the rules
and recorded while fixes are made.
"""

from __future__ import annotations

import ast
import itertools
import re
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from tfnanlint.dev.repository import ROOT
from tfnanlint.rewrite import spelling
from tfnanlint.rewrite.spelling import Use, uses
from tfnanlint.rewrite.template import holes_of, without_holes

SOURCES = (
    "rules/*.py",
    "tfnanlint/rule/*.py",
    "tfnanlint/ops/domains.py",
    "tfnanlint/rewrite/spelling.py",
    "tfnanlint/rewrite/kept_arguments.py",
)
_CANONICAL = re.compile(r"\b(?:tf|K|keras|ops|tnp|tfp)\.\w")


def stated() -> dict[str, set[Use]]:
    """The uses of names that stand in templates, each with the files that hold it."""
    by_file: dict[str, set[Use]] = {}
    for pattern in SOURCES:
        for path in sorted(ROOT.glob(pattern)):
            for template in _templates(path):
                for use in uses(template):
                    by_file.setdefault(str(path.relative_to(ROOT)), set()).add(use)
    return by_file


def _templates(path: Path) -> Iterator[str]:
    """The strings of a file that are templates: expressions or statements with a canonical name
    that is called, or beside a hole.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tables = {
        node.targets[0].id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    tables |= {
        node.target.id: node.value
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value
    }
    inside = {
        part for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in inside:
            texts = [node.value.replace("{%s}", "{part}")]
        elif isinstance(node, ast.JoinedStr):
            choices = [_texts(node, hole, tables, tree) for hole in ("{part}", "")]
            texts = next(
                (texts for texts in choices if any(_parsed(text) and uses(text) for text in texts)),
                [],
            )
        else:
            continue
        yield from (
            text
            for text in texts
            if _CANONICAL.search(text)
            and ("(" in text or holes_of(text))
            and _parsed(text) is not None
        )


def _texts(
    node: ast.JoinedStr, hole: str, tables: dict[str, ast.expr], tree: ast.Module
) -> list[str]:
    return [
        "".join(parts)
        for parts in itertools.product(
            *[_options(part, hole, tables, tree) for part in node.values]
        )
    ]


def _options(part: ast.expr, hole: str, tables: dict[str, ast.expr], tree: ast.Module) -> list[str]:
    """What may stand for a part of an f-string: its text; one of two; what a table of the file
    holds; the ops that the rule looks at; else `hole`.
    """
    if isinstance(part, ast.Constant):
        return [part.value]
    inner = part.value
    if (
        isinstance(inner, ast.Subscript)
        and isinstance(inner.value, ast.Name)
        and isinstance(tables.get(inner.value.id), ast.Dict)
    ):
        return [
            one.value
            for one in tables[inner.value.id].values
            if isinstance(one, ast.Constant) and one.value
        ]
    if isinstance(inner, ast.IfExp) and all(
        isinstance(one, ast.Constant) for one in (inner.body, inner.orelse)
    ):
        return [inner.body.value, inner.orelse.value]
    if ast.unparse(inner).endswith(".op.name"):
        subscribed = [
            word.value.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            for word in node.keywords
            if word.arg == "on" and isinstance(word.value, ast.Constant)
        ]
        return " ".join(subscribed).split() or [hole]
    return [hole]


def _parsed(template: str) -> ast.AST | None:
    try:
        return ast.parse(without_holes(template).strip())
    except (SyntaxError, ValueError):
        return None


@contextmanager
def recording() -> Iterator[set[tuple[Use, str]]]:
    """Collects the uses that are spelled meanwhile, each with its spelling."""
    spelled: set[tuple[Use, str]] = set()
    spell = spelling.Speller.spell

    def recorded(self: spelling.Speller, use: Use, site: object) -> object:
        chosen = spell(self, use, site)
        spelled.add((Use(use.name, use.positional, use.keywords), chosen.text))
        return chosen

    spelling.Speller.spell = recorded
    try:
        yield spelled
    finally:
        spelling.Speller.spell = spell
