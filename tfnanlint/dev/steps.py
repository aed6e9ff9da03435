"""The stepped figures: how a finite value gets a gradient of 0 * inf, and how the fix avoids it.

The numbers are computed by TensorFlow and stored beside the figures. In a browser the steps light
up one after the other; on paper they are four panels.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

_NUMBERS = "steps.json"


@dataclass(frozen=True, slots=True)
class Chain:
    """Operations one after the other: each an expression of `v`, what is before it, and of `x`,
    the first number; with the text of its box.
    """

    start: float
    operations: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Steps:
    """A stepped figure of a rule; `told` has the sentence of each panel."""

    slug: str
    before: Chain
    after: Chain
    told: tuple[str, str, str, str]


_LOG = ("log(x)", "tf.math.log(v)")
STEPS = (
    Steps(
        "where-guards-value-only",
        Chain(0.0, (_LOG, ("where(x > 0, ·, 0)", "tf.where(x > 0, v, 0.0)"))),
        Chain(
            0.0,
            (
                ("where(x > 0, x, 1)", "tf.where(x > 0, v, 1.0)"),
                ("log(·)", "tf.math.log(v)"),
                ("where(x > 0, ·, 0)", "tf.where(x > 0, v, 0.0)"),
            ),
        ),
        (
            "1  Forward: both branches are computed; the result takes the finite one.",
            "2  Back: where gives the branch that it did not take the gradient 0.",
            "3  Back: log multiplies it by its derivative, 1 / x, inf at 0: 0 * inf is NaN.",
            "After the fix: log never sees 0, its derivative is finite, and the gradient is 0.",
        ),
    ),
    Steps(
        "clip-after-singularity",
        Chain(0.0, (_LOG, ("maximum(·, -100)", "tf.maximum(v, -100.0)"))),
        Chain(
            0.0,
            (
                ("maximum(x, 1e-7)", "tf.maximum(v, 1e-7)"),
                ("log(·)", "tf.math.log(v)"),
                ("maximum(·, -100)", "tf.maximum(v, -100.0)"),
            ),
        ),
        (
            "1  Forward: the logarithm of 0 is -inf; the clip makes -100 of it.",
            "2  Back: the clip gives what it cut off the gradient 0.",
            "3  Back: log multiplies it by its derivative, 1 / x, inf at 0: 0 * inf is NaN.",
            "After the fix: the floor is on the input. Every derivative is finite.",
        ),
    ),
)


# Numbers


def computed(chain: Chain) -> dict[str, list[str]]:
    """The value after each operation, the derivative of each, and the gradient that arrives."""
    import tensorflow as tf

    x = tf.constant(chain.start)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        values = [x]
        for _, text in chain.operations:
            values.append(eval(text, {"tf": tf, "x": x, "v": values[-1]}))
    slopes = [_own_slope(tape, after, before) for before, after in zip(values, values[1:])]
    gradients = [_own_slope(tape, values[-1], value) for value in values]
    rows = {"values": values, "slopes": slopes, "gradients": gradients}
    return {name: [_number(one) for one in row] for name, row in rows.items()}


def _own_slope(tape: Any, after: Any, before: Any) -> Any:
    return tape.gradient(after, before, unconnected_gradients="zero")


def _number(tensor: Any) -> str:
    text = f"{float(tensor) + 0.0:.3g}".replace("nan", "NaN").replace("e+", "e")
    return re.sub(r"e(-?)0+(?=\d)", r"e\1", text)


Numbers = dict[str, list[str]]


def _all_numbers() -> dict[str, dict[str, Numbers]]:
    return {
        one.slug: {"before": computed(one.before), "after": computed(one.after)} for one in STEPS
    }


# Drawing

_WIDTH, _PANEL, _BOX, _TALL = 760, 138, 146, 34
_STYLE = """
text{font:13px ui-monospace,'DejaVu Sans Mono',Menlo,monospace;fill:#24292f}.in{font-size:12px}
.told{font:14px system-ui,'DejaVu Sans',sans-serif}.back{fill:#fefefd}.box{fill:none;stroke:#6b7580}
.to{stroke:#6b7580;fill:none}.from{stroke:#1f5fbf;fill:none;stroke-dasharray:5 3}
.gradient{fill:#1f5fbf}.bad{fill:#b3172c;font-weight:700}.badline{stroke:#b3172c;fill:none;stroke-width:2.5}
.rule{stroke:#d3d8dd}
@media (prefers-color-scheme:dark){text{fill:#e6e9ec}.back{fill:#161b21}.box,.to{stroke:#98a2ad}
.from{stroke:#7fb2ff}.gradient{fill:#7fb2ff}.bad{fill:#ff8a95}
.badline{stroke:#ff8a95}.rule{stroke:#3a424b}}
@media screen and (prefers-reduced-motion:no-preference){
.panel{animation:lit 12s infinite}.p1{animation-delay:-9s}
.p2{animation-delay:-6s}.p3{animation-delay:-3s}
@keyframes lit{0%,24%{opacity:1}27%,97%{opacity:.5}100%{opacity:1}}}
"""


def drawn(steps: Steps, numbers: dict[str, Numbers]) -> str:
    """A stepped figure as SVG."""
    last = len(steps.before.operations)
    before, after = numbers["before"], numbers["after"]
    panels = [
        _panel(0, steps.told[0], steps.before, before, last + 1),
        _panel(1, steps.told[1], steps.before, before, last - 1),
        _panel(2, steps.told[2], steps.before, before, 0),
        _panel(3, steps.told[3], steps.after, after, 0),
    ]
    height = 4 * _PANEL + 26
    title = escape(" ".join(steps.told))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}"'
        f' width="{_WIDTH}" height="{height}" role="img">\n<title>{title}</title>\n'
        f"<style>{_STYLE}</style>\n"
        f'<rect class="back" width="{_WIDTH}" height="{height}" rx="6"/>\n'
        + "\n".join(panels)
        + f'\n<text class="told" x="14" y="{height - 10}">above the boxes: values;'
        ' <tspan class="gradient">below: gradients</tspan>, with the derivative of each operation'
        "</text>\n</svg>\n"
    )


def _panel(at: int, told: str, chain: Chain, numbers: Numbers, back: int) -> str:
    """One step: the chain with its values, and the gradients that have arrived by then, those from
    the operation `back` on.
    """
    labels = ["x", *(label for label, _ in chain.operations)]
    gap = (_WIDTH - 28 - _BOX * len(labels)) / max(1, len(labels) - 1)
    parts = [f'<text class="told" x="14" y="24">{escape(told)}</text>']
    if at:
        parts.append(f'<line class="rule" x1="14" x2="{_WIDTH - 14}" y1="0" y2="0"/>')
    for place, label in enumerate(labels):
        left = 14 + place * (_BOX + gap)
        parts += _box(left, label, numbers["values"][place])
        if place:
            parts.append(_arrow(left - gap + 4, left - 4, 60))
        if place >= back:
            parts += _gradient(left, gap, numbers, place, place > back)
    return (
        f'<g class="panel p{at}" transform="translate(0 {at * _PANEL})">' + "".join(parts) + "</g>"
    )


def _box(left: float, label: str, value: str) -> Iterator[str]:
    middle = left + _BOX / 2
    yield f'<rect class="box" x="{left:.1f}" y="52" width="{_BOX}" height="{_TALL}" rx="4"/>'
    yield _text(middle, 73, label, "in")
    yield _text(middle, 45, value, "bad" if _is_bad(value) else "")


def _gradient(left: float, gap: float, numbers: Numbers, place: int, passes: bool) -> Iterator[str]:
    """The gradient at a box, and where it goes on, its way back to the box before."""
    value = numbers["gradients"][place]
    yield _text(left + _BOX / 2, 103, value, "bad" if _is_bad(value) else "gradient")
    if not place or not passes:
        return
    slope = numbers["slopes"][place - 1]
    style = "badline" if _is_bad(numbers["gradients"][place - 1]) else "from"
    yield _arrow(left - 4, left - gap + 4, 80, style)
    product = f"{value} * {slope} = {numbers['gradients'][place - 1]}"
    yield _text(left - gap / 2, 121, product, "bad" if style == "badline" else "gradient")


def _is_bad(text: str) -> bool:
    return text in ("NaN", "inf", "-inf")


def _text(x: float, y: float, text: str, style: str = "") -> str:
    named = f' class="{style}"' if style else ""
    return f'<text{named} x="{x:.1f}" y="{y}" text-anchor="middle">{escape(text)}</text>'


def _arrow(start: float, end: float, y: float, style: str = "to") -> str:
    tip = 6 if end > start else -6
    return (
        f'<path class="{style}" d="M{start:.1f} {y}H{end:.1f}M{end - tip:.1f} {y - 4}'
        f'L{end:.1f} {y}L{end - tip:.1f} {y + 4}"/>'
    )


# Files


def shown(slug: str) -> Iterator[str]:
    """What a page shows of its stepped figures, as Markdown."""
    for steps in STEPS:
        if steps.slug == slug:
            words = " ".join(re.sub(r"^\d +", "", text) for text in steps.told)
            yield f"Step by step:\n\n![{words}](figures/{slug}.steps.svg)"


def write(folder: Path) -> None:
    """Compute and draw all of them."""
    numbers = _all_numbers()
    (folder / _NUMBERS).write_text(json.dumps(numbers, indent=1) + "\n", "utf-8")
    for steps in STEPS:
        path = folder / f"{steps.slug}.steps.svg"
        path.write_text(drawn(steps, numbers[steps.slug]), "utf-8")


def undrawn(folder: Path) -> list[str]:
    """The figures that are not drawn from the numbers that are stored, in words."""
    numbers = json.loads((folder / _NUMBERS).read_text("utf-8"))
    return [
        f"{steps.slug}: the stepped figure is stale"
        for steps in STEPS
        if (folder / f"{steps.slug}.steps.svg").read_text("utf-8")
        != drawn(steps, numbers[steps.slug])
    ]


def stale(folder: Path) -> Sequence[str]:
    """What is not as TensorFlow computes it or not drawn so, in words."""
    numbers = json.loads((folder / _NUMBERS).read_text("utf-8"))
    said = [] if numbers == _all_numbers() else ["the numbers of the stepped figures are stale"]
    return said + undrawn(folder)
