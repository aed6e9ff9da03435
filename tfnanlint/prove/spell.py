"""How an op application is written in the program that runs: spellings to be tried, in order."""

from __future__ import annotations

import ast
from typing import Final

from tfnanlint.ops.site import Site

# Canonical roots, and how a program with `tf`, `keras`, `np` and `math` reaches them.
_ROOTS: Final = {
    "tf": ("tf.", "tf.compat.v1."),
    "K": ("tf.keras.backend.",),
    "ops": ("keras.ops.",),
    "tnp": ("tf.experimental.numpy.",),
    "raw": ("tf.raw_ops.",),
    "keras": ("keras.", "tf.keras."),
    "np": ("np.",),
    "math": ("math.",),
    "builtins": ("",),
}
_BUILTINS: Final = frozenset("float int abs min max sum pow round len bool".split())

OPERATORS: Final[dict[type, str]] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.USub: "-",
    ast.UAdd: "+",
    ast.Invert: "~",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


def callees(site: Site) -> tuple[str, ...]:
    """The callables that a site may be run with; empty where none can."""
    names = dict.fromkeys((site.name or site.op.name, site.op.name))
    spelled = [text for name in names for text in reached(name)]
    return tuple(dict.fromkeys(spelled))


def reached(name: str) -> list[str]:
    """How a canonical name is written, in the order of trying; [] for what is not run. That a row
    has no effects, its `pure` says.
    """
    root, _, rest = name.partition(".")
    if root == "builtins" and rest not in _BUILTINS:
        return []
    return [prefix + rest for prefix in _ROOTS.get(root, ())]


def method(name: str, owner: str, arguments: str) -> tuple[str, ...]:
    """A method of an array or tensor, `x.sum(axis=1)`: the function of that name, then itself."""
    word = name.rpartition(".")[2]
    inside = ", ".join(filter(None, (owner, arguments)))
    return (f"tf.experimental.numpy.{word}({inside})", f"{owner}.{word}({arguments})")
