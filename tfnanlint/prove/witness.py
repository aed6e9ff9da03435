"""A witness as a program that a person can paste into Python."""

from __future__ import annotations

import re
from typing import Any

from tfnanlint.diagnostics.verdicts import Curve, Line, Result, Shown

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
_OWNERS = re.compile(r"(?<![.\w])(\w+)\.")
_IMPORTS = {
    "keras": "import keras",
    "math": "import math",
    "np": "import numpy as np",
    "tf": "import tensorflow as tf",
}
_COMPILED = {
    "graph": "    function = tf.function(function)\n",
    "xla": "    function = tf.function(function, jit_compile=True)\n",
}
_MOST_NUMBERS = 12  # of an array in a table


def inputs(answer: dict[str, Any]) -> tuple[Shown, ...]:
    """The inputs of a proof, as the worker answers it."""
    return tuple(
        Shown(one["name"], one["said"], _literal(one), one["cut"]) for one in answer["inputs"]
    )


def results(answer: dict[str, Any]) -> tuple[Result, ...]:
    """What a proof gives before and after the fix; empty where it was not sampled."""
    before, after = answer.get("results") or (None, None)
    if before is None:
        return ()
    rows = [("value", before["value"], after["value"] if after is not None else [])]
    for name, gradient in before["gradients"].items():
        repaired = after["gradients"].get(name) if after is not None else None
        rows.append((f"gradient of {name}", [gradient], [] if repaired is None else [repaired]))
    return tuple(Result(name, _several(one), _several(two)) for name, one, two in rows)


def _several(arrays: list[dict[str, Any]]) -> str:
    return ", ".join(map(_short, arrays))


def _short(array: dict[str, Any]) -> str:
    """An array of numbers in few words: `[0, -inf, 3.2]`, `24 times nan`."""
    values = [
        f"{value + 0.0:.5g}" if isinstance(value, float) else str(value)
        for value in array["values"]
    ]
    if len(values) > 1 and len(set(values)) == 1:
        return f"{len(values)} times {values[0]}"
    shown = values[:_MOST_NUMBERS]
    text = _nested(shown, array["shape"]) if len(shown) == len(values) and values else ""
    return text or f"[{', '.join(shown)}, ...]"


def line(answer: dict[str, Any]) -> Line | None:
    """The line of a proof; None where it was not sampled."""
    told = answer.get("line")
    if told is None:
        return None
    after = None if told["after"] is None else _curve(told["after"])
    xs = tuple(map(float, told["xs"]))
    return Line(told["name"], told["element"], told["at"], xs, _curve(told["before"]), after)


def _curve(told: dict[str, Any]) -> Curve:
    return Curve(*(tuple(map(_read, told[part])) for part in ("value", "gradient")))


def _read(number: Any) -> float | None:
    return None if number is None else float(number)


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
    used = set(_OWNERS.findall(code))
    return [text for name, text in _IMPORTS.items() if name in used or name == "tf"]


def _literal(input_: dict[str, Any]) -> str:
    """The Python text of an input."""
    values = [_number(value, input_["dtype"]) for value in input_["values"]]
    if input_["number"]:
        return values[0]
    if len(set(values)) == 1 and len(values) > 1:
        return f'tf.fill({input_["shape"]}, tf.constant({values[0]}, "{input_["dtype"]}"))'
    if not values:
        return f'tf.zeros({input_["shape"]}, "{input_["dtype"]}")'
    return f'tf.constant({_nested(values, input_["shape"])}, "{input_["dtype"]}")'


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
