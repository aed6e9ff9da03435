"""Dtypes of 16 bits that a program asks Keras to compute in, for all layers or for one."""

from __future__ import annotations

import ast
import os
import re
import warnings
from collections.abc import Mapping

from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.source import holds_tests

# What a file holds, somewhere in its text, that asks for such a dtype.
_POSSIBLE = re.compile(rb"mixed_b?float16|set_floatx")
_HALF = re.compile(r"(?:mixed_)?(b?float16)")


def half_wanted(data: bytes) -> str:
    """The dtype of 16 bits that a file asks Keras for (`set_global_policy("mixed_float16")`); ""
    where it asks for none, and where it cannot be parsed.
    """
    if b"float16" not in data or _POSSIBLE.search(data) is None:
        return ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    return half_wanted_in(tree)


def half_wanted_in(tree: ast.Module) -> str:
    """The dtype of 16 bits that a program asks Keras for: `float16` where a policy is named
    (`"mixed_float16"`), or handed to `set_floatx`. Strings that are statements name nothing.
    """
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and leaf(node.func) == "set_floatx" and node.args:
            half = _half(node.args[0])
        elif isinstance(node, ast.Constant) and id(node) not in prose:
            half = _half(node) if str(node.value).startswith("mixed_") else ""
        else:
            half = ""
        if half:
            return half
    return ""


def _half(node: ast.expr) -> str:
    """The dtype of 16 bits that a constant names."""
    text = node.value if isinstance(node, ast.Constant) else None
    named = _HALF.fullmatch(text) if isinstance(text, str) else None
    return named[1] if named is not None else ""


def halves_of(
    texts: Mapping[str, bytes], importing: Mapping[bytes, list[tuple[str, bytes]]]
) -> dict[str, str]:
    """The dtypes of 16 bits that the program of each file asks for, by path: that of files which
    import one another, or which a third one imports. `importing` are the files by the words in
    their import statements. A file of tests asks for itself only.
    """
    asked = {
        path: half
        for path, data in texts.items()
        if (half := half_wanted(data)) and not holds_tests(path)
    }
    if not asked:
        return {}
    named: dict[bytes, set[str]] = {}
    for path in texts:
        named.setdefault(_stem(path), set()).add(path)
    beside: dict[str, set[str]] = {}
    for word, files in importing.items():
        for importer, _ in files if word in named else ():
            for imported in named[word]:
                beside.setdefault(importer, set()).add(imported)
                beside.setdefault(imported, set()).add(importer)
    found: dict[str, str] = {}
    for path, half in asked.items():
        queue = [path]
        while queue:
            one = queue.pop()
            if one not in found:
                found[one] = half
                queue += beside.get(one, ())
    return found


def _stem(path: str) -> bytes:
    """The name by which other files import a file: its own, or that of its folder."""
    folder, name = os.path.split(path)
    return (
        os.path.basename(folder).encode()
        if name == "__init__.py"
        else name.removesuffix(".py").encode()
    )
