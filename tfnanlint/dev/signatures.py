"""Parameter orders of the spellings in the op table, read from the installed TensorFlow, Keras and
NumPy.

`python -m tfnanlint.dev.signatures` rewrites tfnanlint/ops/signatures.py; tests/ops/test_table.py
tells when that is due.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from pathlib import Path
from typing import Any

from tfnanlint.ops import table as ops

HEADER = '''"""Parameter orders of spellings that differ from their row's. \
Written by `python -m tfnanlint.dev.signatures`.

Names are those of the row where it has the parameter; \
other names stand for arguments that no row knows.
"""

from __future__ import annotations

SIGNATURES: dict[str, str] = {
'''
# Where a canonical root is found; TensorFlow 2 goes before compat.v1.
MODULES = {
    "tf": ("tensorflow", "tensorflow.compat.v1"),
    "ops": ("keras.ops",),
    "K": ("tensorflow.keras.backend",),
    "tnp": ("tensorflow.experimental.numpy",),
    "raw": ("tensorflow.raw_ops",),
    "keras": ("keras",),
    "np": ("numpy",),
}
# Parameters that hold no operand: another name in their place means another thing.
OPTIONS = frozenset(
    {"name", "axis", "dtype", "seed", "keepdims", "out", "size", "full_matrices", "value_range"}
)


def attribute(module: str, names: list[str]) -> Any:
    """`module.names[0].names[1]...`; None when the installed version has no such thing."""
    root, *path = module.split(".")
    value = importlib.import_module(root)
    for name in [*path, *names]:
        value = getattr(value, name, None)
    return value


def callee(alias: str) -> Any:
    """What an alias of the table stands for in the installed libraries; None when they do not have
    it.
    """
    root, *names = alias.split(".")
    for module in MODULES.get(root, ()):
        target = attribute(module, names)
        if target is not None:
            return target
    return None


def positional(function: Any) -> list[str] | None:
    """Names of the positional parameters; None when they cannot be read or are open-ended."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind in (p.VAR_POSITIONAL, p.POSITIONAL_ONLY) for p in parameters):
        return None
    return [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]


def translated(row: ops.Op, names: list[str]) -> list[str | None]:
    """`names` in the words of the row; None for those it does not know."""
    own = {param.lstrip("*") for param in row.params}
    words: list[str | None] = []
    for name in names:
        word = name if name in own else ops.SYNONYMS.get(name, name)
        # K.pow(x, a): `a` is another word for x, but not beside x.
        words.append(
            word
            if word in own and word not in words and (word == name or word not in names)
            else None
        )
    return words


@functools.cache
def speaks_the_library(row: ops.Op) -> bool:
    """Whether the row has the parameters of the function it is named after; other rows are renamed
    by position.
    """
    function = callee(row.name)
    names = positional(function) if callable(function) else None
    return names is not None and translated(row, names) == list(row.params[: len(names)])


def order(row: ops.Op, alias: str) -> tuple[str, ...] | None:
    """The parameter order of a function in the row's words; None when the library or the row leaves
    it open.
    """
    if any(param.startswith("*") for param in row.params):
        return None
    function = callee(alias)
    names = positional(function) if callable(function) and not inspect.isclass(function) else None
    if names is None:
        return None
    words = translated(row, names)
    strict = speaks_the_library(row)
    if not strict and all(
        word is None or row.params.index(word) == place for place, word in enumerate(words)
    ):
        return row.params[: len(names)]
    return tuple(
        word or _in_place(row, place, name, words, strict)
        for place, (name, word) in enumerate(zip(names, words))
    )


def _in_place(row: ops.Op, place: int, name: str, words: list[str | None], strict: bool) -> str:
    """An unknown name: the row's own in that place if it is an operand there, else one that no row
    knows.
    """
    own = row.params[place] if place < len(row.params) else "name"
    operand = place == 0 or own not in OPTIONS and (place == 1 or not strict)
    if operand and own not in words:
        return own
    return f"{name}_" if name in row.params else name


def differing() -> dict[str, tuple[str, ...]]:
    """Spellings whose order is not simply the first parameters of the row."""
    ops.load()
    orders = {}
    for row in ops.ROWS:
        for alias in row.aliases:
            names = order(row, alias)
            if (
                alias not in row.positions
                and names is not None
                and names != row.params[: len(names)]
            ):
                orders[alias] = names
    return orders


def main() -> None:
    path = Path(ops.__file__).with_name("signatures.py")
    lines = [
        f"    {alias!r}: {' '.join(names)!r},\n".replace("'", '"')
        for alias, names in sorted(differing().items())
    ]
    path.write_text(HEADER + "".join(lines) + "}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
