"""The figures of the rules' pages: numbers that TensorFlow computes, drawn by matplotlib.

`python -m tfnanlint.dev.figures [--check] [SLUG ...]`. The numbers are in docs/rules/figures, and
each figure holds a digest of its own: a figure is fresh where the digest is that of the numbers.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tfnanlint.dev import steps
from tfnanlint.dev.pictures import PICTURES, Picture
from tfnanlint.dev.repository import ROOT

FOLDER = ROOT / "docs" / "rules" / "figures"
NUMBERS = FOLDER / "numbers.json"
POINTS = 97  # odd: the middle is one of them
LARGEST = 15_000  # bytes of a figure
_DIGITS = 4
_SIDES, _PARTS = ("before", "after"), ("value", "gradient")

Curve = list[Any]  # numbers, and "nan", "inf", "-inf"
Data = dict[str, Any]


# Numbers


def computed(picture: Picture) -> Data:
    """The curves of a picture, as TensorFlow computes them."""
    import numpy as np

    xs = [_rounded(x) for x in np.linspace(picture.lo, picture.hi, POINTS).tolist()]
    curves = {side: _curves(_function(getattr(picture, side)), xs) for side in _SIDES}
    return {"x": xs, **curves}


def _function(text: str) -> Callable[[Any], Any]:
    import keras
    import tensorflow as tf

    space = {"tf": tf, "keras": keras, "slope": _slope}
    return eval(compile(f"lambda x: {text}", text, "eval"), space)


def _slope(function: Callable[[Any], Any], x: Any) -> Any:
    """The derivative of a function at a number."""
    import tensorflow as tf

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x, unconnected_gradients="zero")


def _curves(function: Callable[[Any], Any], xs: Sequence[float]) -> dict[str, Curve]:
    import tensorflow as tf

    values, gradients = [], []
    for number in xs:
        x = tf.constant(number)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.cast(function(x), tf.float32)
        values.append(_rounded(float(y)))
        gradients.append(_rounded(float(tape.gradient(y, x, unconnected_gradients="zero"))))
    return dict(zip(_PARTS, (values, gradients)))


def _rounded(number: float) -> Any:
    if not math.isfinite(number):
        return str(number)
    return float(f"{number:.{_DIGITS}g}") + 0.0


def differences(picture: Picture, stored: Data, fresh: Data) -> list[str]:
    """Where two computations of a picture differ by more than rounding, in words."""
    said = []
    for side in _SIDES:
        if picture.rough and side == "before":
            continue
        for part in _PARTS:
            pairs = list(zip(stored["x"], stored[side][part], fresh[side][part]))
            finite = [abs(kept) for _, kept, _ in pairs if not isinstance(kept, str)]
            slack = 1e-3 * max(finite, default=0.0)
            said += [
                f"{picture.slug}: {part} {side} at {x}: {kept} is stored, {new} is computed"
                for x, kept, new in pairs
                if not _close(kept, new, slack)
            ]
    return said


def _close(kept: Any, new: Any, slack: float) -> bool:
    if isinstance(kept, str) or isinstance(new, str):
        return bool(kept == new)
    return bool(abs(kept - new) <= max(slack, 2e-3 * abs(kept)))


def stored() -> dict[str, Data]:
    """The numbers of all figures."""
    return dict(json.loads(NUMBERS.read_text("utf-8"))) if NUMBERS.exists() else {}


def digest(picture: Picture, data: Data) -> str:
    """What a figure is drawn from, in short."""
    text = json.dumps([asdict(picture), data], sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def as_text(numbers: dict[str, Data]) -> str:
    """Numbers as they are stored: one curve a line."""
    text = json.dumps(numbers, indent=1, sort_keys=True)
    return re.sub(r"\[[^][]*\]", lambda match: " ".join(match[0].split()), text) + "\n"


# Drawing

# Colours in light, and what they become in dark.
_COLOURS = {
    "text": ("#24292f", "#e6e9ec"),
    "back": ("#fefefd", "#161b21"),
    "grid": ("#d3d8dd", "#3a424b"),
    "before": ("#c0391b", "#ff8f6b"),
    "after": ("#1f5fbf", "#7fb2ff"),
    "nan": ("#b3172c", "#ff8a95"),
    "inf": ("#8a5301", "#f2b04c"),
}
_LIGHT = {name: light for name, (light, _) in _COLOURS.items()}
_SIZE = (7.6, 2.9)  # inches
_LINES: dict[str, dict[str, Any]] = {
    "before": {"linewidth": 3.2},
    "after": {"linewidth": 1.5, "dashes": (4, 2)},
}
_WIDE = 10_000  # from here on the labels of an axis are long
_HATCH = {"nan": "xxxx", "inf": "////"}


def drawn(picture: Picture, data: Data) -> str:
    """A figure as SVG that is light or dark as its reader is."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    settings = {
        "svg.fonttype": "none",
        "svg.hashsalt": picture.slug,
        "font.family": "sans-serif",
        "font.size": 9,
        "hatch.linewidth": 0.7,
        "axes.edgecolor": _LIGHT["text"],
        "axes.labelcolor": _LIGHT["text"],
        "text.color": _LIGHT["text"],
        "xtick.color": _LIGHT["text"],
        "ytick.color": _LIGHT["text"],
        "axes.facecolor": "none",
        "figure.facecolor": _LIGHT["back"],
    }
    with matplotlib.rc_context(settings):
        figure, axes = pyplot.subplots(1, 2, figsize=_SIZE)
        for plot, part in zip(axes, _PARTS):
            _panel(plot, picture, data, part)
        _legend(figure)
        figure.subplots_adjust(left=0.08, right=0.975, top=0.82, bottom=0.17, wspace=0.2)
        stream = io.StringIO()
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
        pyplot.close(figure)
    return _finished(stream.getvalue(), picture, digest(picture, data))


def _panel(plot: Any, picture: Picture, data: Data, part: str) -> None:
    from matplotlib.ticker import LogLocator, MaxNLocator

    xs = data["x"]
    curves = {side: [_number(y) for y in data[side][part]] for side in _SIDES}
    lo, hi = _limits(picture, part, curves)
    if picture.powers:
        plot.set_yscale("log")
    for first, last, kind in _holes(data["before"][part]):
        edges = _edges(xs, first, last)
        plot.axvspan(*edges, fill=False, hatch=_HATCH[kind], edgecolor=_LIGHT[kind], linewidth=0)
    for side, style in _LINES.items():
        plot.plot(*_path(xs, curves[side], lo, hi), color=_LIGHT[side], **style)
    plot.set_xlim(xs[0], xs[-1])
    plot.set_ylim(lo, hi)
    plot.set_title(part, loc="left", fontsize=9)
    plot.set_xlabel(picture.x)
    plot.grid(color=_LIGHT["grid"], linewidth=0.5)
    plot.tick_params(length=0)
    plot.xaxis.set_major_locator(MaxNLocator(6 if abs(xs[0]) < _WIDE else 3))
    plot.xaxis.set_major_formatter(_tick)
    if picture.powers:
        plot.yaxis.set_major_locator(LogLocator(numticks=6))
        plot.minorticks_off()
    else:
        plot.yaxis.set_major_locator(MaxNLocator(6))
    plot.yaxis.set_major_formatter(_tick)
    for side in ("top", "right"):
        plot.spines[side].set_visible(False)


def _tick(number: float, _: int) -> str:
    return f"{number + 0.0:.5g}".replace("e+", "e").replace("e-0", "e-")


def _number(text: Any) -> float:
    return float(text)


def _holes(curve: Curve) -> Iterator[tuple[int, int, str]]:
    """The runs of numbers that are not finite: first and last place, and which they are."""
    kinds = ["" if not isinstance(y, str) else "nan" if y == "nan" else "inf" for y in curve]
    start = 0
    for at in range(1, len(kinds) + 1):
        if at == len(kinds) or kinds[at] != kinds[start]:
            if kinds[start]:
                yield start, at - 1, kinds[start]
            start = at


def _edges(xs: Sequence[float], first: int, last: int) -> tuple[float, float]:
    """Where a run begins and ends: half a step beyond its ends."""
    half = 0.5 * (xs[1] - xs[0])
    return max(xs[0], xs[first] - half), min(xs[-1], xs[last] + half)


def _limits(picture: Picture, part: str, curves: dict[str, list[float]]) -> tuple[float, float]:
    """The ends of the vertical axis: stated, or around all that is finite."""
    stated = getattr(picture, part)
    if stated is not None:
        return stated
    finite = [y for curve in curves.values() for y in curve if math.isfinite(y)]
    lo, hi = min(finite), max(finite)
    if picture.powers:
        positive = min(y for y in finite if y > 0)
        return positive / 10, hi * 10
    room = 0.08 * (hi - lo) or 0.5
    return lo - room, hi + room


def _path(
    xs: Sequence[float], curve: Sequence[float], lo: float, hi: float
) -> tuple[list[float], list[float]]:
    """The points of a curve that are drawn: it leaves the picture not far outside, and of a level
    stretch the ends are enough.
    """
    room = hi - lo
    ys = [min(max(y, lo - room), hi + room) if math.isfinite(y) else math.nan for y in curve]
    kept = [
        at for at, y in enumerate(ys) if at in (0, len(ys) - 1) or not ys[at - 1] == y == ys[at + 1]
    ]
    return [xs[at] for at in kept], [ys[at] for at in kept]


def _legend(figure: Any) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    entries = [
        Line2D([], [], color=_LIGHT[side], label=side, **style) for side, style in _LINES.items()
    ]
    entries += [
        Patch(fill=False, hatch=_HATCH[kind], edgecolor=_LIGHT[kind], linewidth=0.5, label=label)
        for kind, label in (("nan", "NaN before"), ("inf", "Inf before"))
    ]
    figure.legend(handles=entries, loc="upper right", ncols=4, frameon=False, handlelength=2.4)


def dark() -> str:
    """The rules of style that turn the colours of a figure over for a dark page. They name the
    colours that the elements have, which any other viewer shows as they are.
    """
    rules = "".join(
        f'[style*="{kind}: {light}"]{{{kind}:{dark} !important}}'
        for light, dark in _COLOURS.values()
        for kind in ("fill", "stroke")
    )
    return f"@media (prefers-color-scheme: dark){{{rules}}}"


_FONTS = "system-ui,'DejaVu Sans',sans-serif"
# What matplotlib writes and a figure does not need, and what takes its place.
_NEEDLESS = tuple(
    (re.compile(pattern, re.S), text)
    for pattern, text in (
        (r"<\?xml[^>]*>\s*<!DOCTYPE[^>]*>\s*", ""),
        (r"\s*<metadata>.*?</metadata>", ""),
        (r"\s*<!--.*?-->", ""),
        (r"(?<=\d\.\d)\d+(?=[^<>]*>)", ""),
        (r" transform=\"rotate\(-0 [^\"]*\"", ""),
        (r" font-family: [^;\"]*;?", ""),
        (r"; stroke-linecap: (?:square|projecting)", ""),
        (r" id=\"[a-z]*(?:tick|line2d|text|patch|axis|axes|legend|figure)\w*(?:\.\w+)?\"", ""),
        (r" id=\"matplotlib\.axis_\d\"", ""),
        (r"<g>\s*(<(?:path|text)[^>]*(?:/>|>[^<]*</text>))\s*</g>", r"\1"),
        (r"<g/>", ""),
        (r"\s*\n\s*", "\n"),
        (r"\s*\n?([MLQz])\s*(?=[-\d\"])", r"\1"),
        (r"(?<=[\dz])\s*\n(?=\")", ""),
    )
)


def _finished(svg: str, picture: Picture, mark: str) -> str:
    """SVG of matplotlib without what pages do not need, with title, digest and the dark colours."""
    for pattern, text in _NEEDLESS:
        svg = pattern.sub(text, svg)
    words = f"{picture.words.replace('`', '')} Before: {picture.before}. After: {picture.after}."
    style = f"text{{font-family:{_FONTS}}}{dark()}"
    head = f"<title>{_escaped(words)}</title>\n<desc>numbers {mark}</desc>\n<style>{style}</style>"
    return re.sub(r"(<svg[^>]*)>", rf'\1 role="img">\n{head}', svg, count=1)


def _escaped(text: str) -> str:
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        text = text.replace(character, entity)
    return text.replace("\\", "\\\\")


# Pages


def shown(slug: str) -> str:
    """What a rule's page shows of its figures, as Markdown; empty where there are none."""
    parts = [
        f"![{_alternative(picture.words)}](figures/{slug}.svg)\n\n{picture.words}\n"
        f"Before: `{picture.before}`, after: `{picture.after}`, computed by TensorFlow."
        for picture in PICTURES
        if picture.slug == slug
    ]
    return "\n\n".join([*parts, *steps.shown(slug)])


def _alternative(words: str) -> str:
    return words.replace("`", "").replace("[", "(").replace("]", ")")


def path_of(slug: str) -> Path:
    return FOLDER / f"{slug}.svg"


def is_fresh(picture: Picture, numbers: dict[str, Data]) -> bool:
    """Whether the figure of a picture is drawn from the numbers at hand."""
    path = path_of(picture.slug)
    if picture.slug not in numbers or not path.exists():
        return False
    return f"numbers {digest(picture, numbers[picture.slug])}</desc>" in path.read_text("utf-8")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tfnanlint.dev.figures", description="Compute and draw the figures."
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when stale")
    parser.add_argument("slugs", nargs="*", help="rules; all of them by default")
    options = parser.parse_args(argv)
    chosen = [one for one in PICTURES if not options.slugs or one.slug in options.slugs]
    if options.check:
        return _checked(chosen)
    FOLDER.mkdir(parents=True, exist_ok=True)
    known = {one.slug for one in PICTURES}
    numbers = {slug: data for slug, data in stored().items() if slug in known}
    for picture in chosen:
        numbers[picture.slug] = computed(picture)
        path_of(picture.slug).write_text(drawn(picture, numbers[picture.slug]), "utf-8")
        print(f"{picture.slug}: {_size(picture)}")
    NUMBERS.write_text(as_text(numbers), "utf-8")
    steps.write(FOLDER)
    return 0


def _size(picture: Picture) -> str:
    size = path_of(picture.slug).stat().st_size
    return f"{size} bytes" + (f", more than {LARGEST}: choose a smaller range" * (size > LARGEST))


def _checked(pictures: Sequence[Picture]) -> int:
    numbers = stored()
    said = [f"{one.slug}: the figure is stale" for one in pictures if not is_fresh(one, numbers)]
    for picture in pictures:
        if picture.slug in numbers:
            said += differences(picture, numbers[picture.slug], computed(picture))
    said += steps.stale(FOLDER)
    print("\n".join(said))
    return int(bool(said))


if __name__ == "__main__":
    sys.exit(main())
