"""Dtypes of 16 bits that a program asks Keras to compute in, for all layers or for one."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterable, Mapping

from tfnanlint.conventions.files import holds_tests
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import nodes_in

# What a file holds, somewhere in its text, that asks for such a dtype: a whole string (or a part of
# one with fields), or a call.
_POSSIBLE = re.compile(rb"[\"'}]mixed_b?float16[\"'{]|set_floatx")
_HALF = re.compile(r"(?:mixed_)?(b?float16)")
Arrows = Mapping[str, set[str]]  # from a file to others
_NONE: frozenset[str] = frozenset()


def half_wanted(data: bytes, tree: Callable[[], ast.Module | None]) -> str:
    """The dtype of 16 bits that a file asks Keras for (`set_global_policy("mixed_float16")`); ""
    where it asks for none. `tree` is asked for the file's tree, which may be None, only where the
    text may ask for one.
    """
    if b"float16" not in data or b"mixed_" not in data and b"set_floatx" not in data:
        return ""  # a pattern that begins with any of several signs is slow
    parsed = tree() if _POSSIBLE.search(data) is not None else None
    return half_wanted_in(parsed) if parsed is not None else ""


def half_wanted_in(tree: ast.Module) -> str:
    """The dtype of 16 bits that a program asks Keras for: `float16` where a policy is named
    (`"mixed_float16"`), or handed to `set_floatx`. Strings that are statements name nothing.
    """
    nodes = nodes_in(tree)
    prose = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Call) and leaf(node.func) == "set_floatx" and node.args:
            half = _half(node.args[0])
        elif isinstance(node, ast.Constant) and id(node) not in prose:
            half = _half(node, "mixed_")
        else:
            half = ""
        if half:
            return half
    return ""


def _half(node: ast.expr, prefix: str = "") -> str:
    """The dtype of 16 bits that a constant names behind a prefix."""
    text = node.value if isinstance(node, ast.Constant) else None
    if not isinstance(text, str) or not text.startswith(prefix):
        return ""
    named = _HALF.fullmatch(text)
    return named[1] if named is not None else ""


def setters_of(
    texts: Mapping[str, bytes],
    importing: Mapping[bytes, list[tuple[str, bytes]]],
    half_of: Callable[[str, bytes], str],
) -> dict[str, tuple[str, ...]]:
    """The files by which the program of each file asks for a dtype of 16 bits, by path: a program
    is a file and all that it imports, and what one of them sets holds for all. `importing` are the
    files by the words in their import statements, `half_of` says what a file itself asks for. A
    file of tests asks for itself only.
    """
    tests = set(filter(holds_tests, texts))
    asking = [path for path, data in texts.items() if path not in tests and half_of(path, data)]
    if not asking:
        return {}
    imports, importers = _imports(texts, importing)
    setters_by_path: dict[str, list[str]] = {}
    for path in asking:
        programs = _reached([path], importers) - tests
        for reached in _reached(programs, imports):
            setters_by_path.setdefault(reached, []).append(path)
    return {path: tuple(setters) for path, setters in setters_by_path.items()}


def _imports(
    texts: Mapping[str, bytes], importing: Mapping[bytes, list[tuple[str, bytes]]]
) -> tuple[Arrows, Arrows]:
    """The files that each file imports, and those that import it."""
    named: dict[bytes, list[str]] = {}
    for path in texts:
        named.setdefault(_stem(path), []).append(path)
    imports: dict[str, set[str]] = {}
    importers: dict[str, set[str]] = {}
    for word in named.keys() & importing.keys():
        paths = {importer for importer, _ in importing[word]}
        for imported in named[word]:
            importers.setdefault(imported, set()).update(paths)
        for importer in paths:
            imports.setdefault(importer, set()).update(named[word])
    return imports, importers


def _reached(starts: Iterable[str], arrows: Arrows) -> set[str]:
    """Some files and those that arrows lead to from there."""
    reached = set(starts)
    queue = list(reached)
    while queue:
        further = arrows.get(queue.pop(), _NONE) - reached
        reached |= further
        queue += further
    return reached


def _stem(path: str) -> bytes:
    """The name by which other files import a file: its own, or that of its folder."""
    folder, name = os.path.split(path)
    return os.fsencode(
        os.path.basename(folder) if name == "__init__.py" else name.removesuffix(".py")
    )
