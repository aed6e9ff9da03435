"""A witness as a program that a person can paste into Python."""

from __future__ import annotations

from typing import Any

from tfnanlint.diagnostics.verdicts import Shown

_TAPE = """
for name, function in ({functions}):
{compiled}    with tf.GradientTape(persistent=True) as tape:
        tape.watch([{watched}])
        value = function({arguments})
    print(name)
    print("  value:", value)
{gradients}"""
_GRADIENT = (
    '    print("  gradient of {name}:", tape.gradient(value, {name},'
    ' unconnected_gradients="zero").numpy())\n'
)
_COMPILED = {
    "graph": "    function = tf.function(function)\n",
    "xla": "    function = tf.function(function, jit_compile=True)\n",
}
_WIDE = 88


def inputs(answer: dict[str, Any]) -> tuple[Shown, ...]:
    """The inputs of a proof, as the worker answers it."""
    return tuple(
        Shown(one["name"], one["said"], _literal(one), one["cut"]) for one in answer["inputs"]
    )


def program(answer: dict[str, Any], title: str) -> str:
    """The program that shows a proof: the inputs, both slices, and what prints their values."""
    shown = inputs(answer)
    text = [f'"""{title}"""', "", *_imports(answer), ""]
    for each in shown:
        cut = f" (given by {each.cut})" if each.cut else ""
        text += [f"# {each.said}{cut}", f"{each.name} = {each.text}"]
    text += ["", "", answer["original"]]
    if answer["repaired"] is not None:
        text += ["", "", answer["repaired"]]
    names = ["original"] + (["repaired"] if answer["repaired"] is not None else [])
    watched = [
        each["name"]
        for each in answer["inputs"]
        if not each["number"] and each["dtype"].startswith(("float", "bfloat"))
    ]
    text += [
        "",
        _TAPE.format(
            functions=" ".join(f'("{name}", {name}),' for name in names),
            compiled=_COMPILED.get(answer["mode"], ""),
            watched=", ".join(watched),
            arguments=", ".join(each.name for each in shown),
            gradients="".join(_GRADIENT.format(name=name) for name in watched),
        ).rstrip("\n"),
    ]
    return "\n".join(text) + "\n"


def _imports(answer: dict[str, Any]) -> list[str]:
    code = answer["original"] + (answer["repaired"] or "")
    imports = [f"import {name}" for name in ("keras", "math") if f"{name}." in code]
    numpy = ["import numpy as np"] if "np." in code else []
    return [*imports, *numpy, "import tensorflow as tf"]


def _literal(one: dict[str, Any]) -> str:
    """The Python text of an input."""
    values = [_number(value, one["dtype"]) for value in one["values"]]
    if one["number"]:
        return values[0]
    if len(set(values)) == 1 and len(values) > 1:
        return f'tf.fill({one["shape"]}, tf.constant({values[0]}, "{one["dtype"]}"))'
    if not values:
        return f'tf.zeros({one["shape"]}, "{one["dtype"]}")'
    return f'tf.constant({_nested(values, one["shape"])}, "{one["dtype"]}")'


def _nested(values: list[str], shape: list[int]) -> str:
    if not shape:
        return values[0]
    size = len(values) // shape[0]
    parts = [_nested(values[at : at + size], shape[1:]) for at in range(0, len(values), size)]
    return f"[{', '.join(parts)}]"


def _number(value: Any, dtype: str) -> str:
    if isinstance(value, str):
        return f'float("{value}")'
    if isinstance(value, bool) or not isinstance(value, float):
        return repr(value)
    text = f"{value:.17g}" if dtype == "float64" else f"{value:.9g}"
    return text if any(mark in text for mark in ".en") else text + ".0"
