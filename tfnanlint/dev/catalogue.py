"""What a rule file states in its text: the examples of its docstring, the titles of its fixes."""

from __future__ import annotations

import ast
import builtins
import re
import textwrap
from pathlib import Path

from tfnanlint import repairs
from tfnanlint.dev.repository import rule_file
from tfnanlint.rules import Rule

IMPORTS = """\
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import backend as K
"""
_IMPORTED = frozenset(("np", "tf", "keras", "K"))
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def examples(rule: Rule, word: str) -> list[str]:
    """The indented blocks of code after `Bad:` or `Good:` in a rule's docstring."""
    found = []
    for match in re.finditer(rf"^{word}:[^\n]*\n((?:\n|[ ]{{4,}}[^\n]*\n?)+)", rule.doc, re.MULTILINE):
        found.append(textwrap.dedent(match.group(1)).strip() + "\n")
    return found


def program(code: str) -> str:
    """A file around an example: the usual imports, and a function that is differentiated with its free names as parameters."""
    names = ", ".join(free_names(code))
    body = textwrap.indent(code, " " * 8)
    return f"{IMPORTS}\n\ndef example({names}):\n    with tf.GradientTape() as tape:\n{body}"


def free_names(code: str) -> list[str]:
    """Names that an example reads before it assigns them, in order."""
    found: dict[str, None] = {}
    bound = set(dir(builtins)) | _IMPORTED
    for statement in ast.parse(code).body:
        names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        inner = {arg.arg for node in ast.walk(statement) if isinstance(node, ast.arguments) for arg in node.args}
        inner |= {node.id for node in names if isinstance(node.ctx, ast.Store)} if not isinstance(statement, ast.Assign) else set()
        for node in names:
            if isinstance(node.ctx, ast.Load) and node.id not in bound | inner:
                found[node.id] = None
        bound |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
        bound |= {node.name for node in ast.walk(statement) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    return list(found)


def plain_title(title: str) -> str:
    """A title with its numbers left out: `keep it at or above #`."""
    return _NUMBER.sub("#", title)


def titles(rule: Rule) -> list[re.Pattern[str]]:
    """A pattern for each title that a rule's file gives a fix, also those of the shared repairs it uses."""
    tree = ast.parse(rule_file(rule).read_text())
    shared = ast.parse(Path(repairs.__file__).read_text())
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
            and node.value.id == "repairs"}
    found = _titles(tree, tree)
    for function in shared.body:
        if isinstance(function, ast.FunctionDef) and function.name in used:
            found += _titles(function, shared)
    return [re.compile(text) for text in dict.fromkeys(found)]


def _titles(part: ast.AST, module: ast.Module) -> list[str]:
    constants = {target.id: node.value for node in module.body if isinstance(node, ast.Assign) for target in node.targets
                 if isinstance(target, ast.Name)}
    given = [word.value for node in ast.walk(part) if isinstance(node, ast.Call) for word in node.keywords if word.arg == "title"]
    return [text for node in given for text in _texts(node, constants)]


def _texts(node: ast.expr, constants: dict[str, ast.expr]) -> list[str]:
    """Regular expressions for what a title expression may be; a name that is no constant says nothing."""
    match node:
        case ast.Constant(value=str(text)):
            return [re.escape(text)]
        case ast.JoinedStr(values=values):
            parts = [re.escape(part.value) if isinstance(part, ast.Constant) else ".+" for part in values]
            return ["".join(parts)]
        case ast.IfExp(body=body, orelse=orelse):
            return _texts(body, constants) + _texts(orelse, constants)
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            return [a + b for a in _texts(left, constants) for b in _texts(right, constants)]
        case ast.Name(id=name) if name in constants:
            return _texts(constants[name], {})
    return []
