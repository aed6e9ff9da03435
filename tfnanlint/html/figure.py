"""The figure of a proved finding: value and gradient along one number of its witness, as SVG that
the style of the page colours.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from tfnanlint.diagnostics.verdicts import Line

_WIDTH, _HEIGHT = 400, 214
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 388, 30, 168
_LEAST = 3.0  # pixels of a hatched stretch
_SHARE = 0.03  # of the numbers at either end that may leave the picture
_TICKS = 4
_HIGHEST = 1e300  # of a range that can be divided into ticks

Numbers = Sequence[float | None]


def figure(line: Line, mark: int) -> str:
    """Both panels of a line as one SVG; `mark` tells its patterns from those of others."""
    panels = [
        _Panel(line, part, element, mark).drawn()
        for part, element in (
            ("value", line.element),
            ("gradient", f"gradient of {line.name}"),
        )
    ]
    words = f"Value and gradient along {line.name}; in the witness it is {_short(line.at)}."
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="curves" role="img"'
        f' viewBox="0 0 {2 * _WIDTH} {_HEIGHT}"><title>{escape(words)}</title>'
        f"{_patterns(mark)}{panels[0]}"
        f'<g transform="translate({_WIDTH} 0)">{panels[1]}</g></svg>'
    )


def _patterns(mark: int) -> str:
    """How NaN and infinity are hatched."""
    return (
        f'<defs><pattern id="nan{mark}" class="nan" width="7" height="7"'
        ' patternUnits="userSpaceOnUse"><path d="M0 0L7 7M7 0L0 7"/></pattern>'
        f'<pattern id="inf{mark}" class="inf" width="7" height="7"'
        ' patternUnits="userSpaceOnUse"><path d="M-1 1L1 -1M0 7L7 0M6 8L8 6"/></pattern></defs>'
    )


class _Panel:
    """One panel: the curves of a value, or of a gradient."""

    def __init__(self, line: Line, part: str, title: str, mark: int):
        self._line, self._title, self._mark = line, title, mark
        self._before: Numbers = getattr(line.before, part)
        self._after: Numbers = getattr(line.after, part) if line.after is not None else ()
        self._lo, self._hi = _limits([*self._before, *self._after])

    def drawn(self) -> str:
        parts = [_text(_LEFT, 16, self._title, "start")]
        parts += self._axes()
        parts += self._holes()
        parts += self._curve("before", self._before)
        parts += self._curve("after", self._after)
        at = self._x(self._line.at)
        parts.append(f'<path class="at" d="M{at:.1f} {_TOP}V{_BOTTOM}"/>')
        parts.append(_text((_LEFT + _RIGHT) / 2, _BOTTOM + 36, self._line.name))
        return "".join(parts)

    def _x(self, x: float) -> float:
        first, last = self._line.xs[0], self._line.xs[-1]
        return _LEFT + (_RIGHT - _LEFT) * (x - first) / (last - first)

    def _y(self, y: float) -> float:
        inside = min(max(y, self._lo), self._hi)
        return _BOTTOM - (_BOTTOM - _TOP) * (inside - self._lo) / (self._hi - self._lo)

    def _axes(self) -> Iterator[str]:
        for x in _ticks(self._line.xs[0], self._line.xs[-1]):
            yield f'<path class="grid" d="M{self._x(x):.1f} {_TOP}V{_BOTTOM}"/>'
            yield _text(self._x(x), _BOTTOM + 17, _short(x))
        for y in _ticks(self._lo, self._hi):
            yield f'<path class="grid" d="M{_LEFT} {self._y(y):.1f}H{_RIGHT}"/>'
            yield _text(_LEFT - 6, self._y(y) + 4, _short(y), "end")
        yield f'<path class="axis" d="M{_LEFT} {_TOP}V{_BOTTOM}H{_RIGHT}"/>'

    def _holes(self) -> Iterator[str]:
        """Where the code before the fix is NaN or infinite."""
        for first, last, kind in _runs(self._before):
            left, right = self._edge(first, first - 1), self._edge(last, last + 1)
            room = max(0.0, _LEAST - (right - left)) / 2
            yield (
                f'<rect x="{left - room:.1f}" y="{_TOP}" width="{right - left + 2 * room:.1f}"'
                f' height="{_BOTTOM - _TOP}" fill="url(#{kind}{self._mark})"/>'
            )

    def _edge(self, at: int, beside: int) -> float:
        """The middle between a place and the one beside it."""
        xs = self._line.xs
        inside = min(max(beside, 0), len(xs) - 1)
        return (self._x(xs[at]) + self._x(xs[inside])) / 2

    def _curve(self, style: str, numbers: Numbers) -> Iterator[str]:
        path, pen = [], "M"
        for x, y in zip(self._line.xs, numbers):
            if y is None or not math.isfinite(y):
                pen = "M"
                continue
            path.append(f"{pen}{self._x(x):.1f} {self._y(y):.1f}")
            pen = "L"
        if path:
            yield f'<path class="{style}" d="{"".join(path)}"/>'


def _runs(numbers: Numbers) -> Iterator[tuple[int, int, str]]:
    """The stretches that are not finite: first place, last place, `nan` or `inf`."""
    kinds = ["" if y is None or math.isfinite(y) else "nan" if y != y else "inf" for y in numbers]
    start = 0
    for at in range(1, len(kinds) + 1):
        if at == len(kinds) or kinds[at] != kinds[start]:
            if kinds[start]:
                yield start, at - 1, kinds[start]
            start = at


def _limits(numbers: Numbers) -> tuple[float, float]:
    """The ends of the vertical axis: around all numbers but a few at either end."""
    finite = sorted(
        min(max(y, -_HIGHEST), _HIGHEST) for y in numbers if y is not None and math.isfinite(y)
    )
    if not finite:
        return -1.0, 1.0
    cut = int(_SHARE * len(finite))
    lo, hi = finite[cut], finite[-1 - cut]
    room = 0.1 * (hi - lo) or 0.5 * max(abs(hi), 1e-30) or 0.5
    if lo == hi == 0:
        room = 1.0
    return lo - room, hi + room


def _ticks(lo: float, hi: float) -> Iterator[float]:
    """Round numbers between two."""
    power = 10.0 ** math.floor(math.log10((hi - lo) / _TICKS))
    step = next(power * size for size in (1, 2, 5, 10) if power * size * _TICKS >= (hi - lo))
    for at in range(math.ceil(lo / step), math.floor(hi / step) + 1):
        yield at * step


def _short(number: float) -> str:
    text = f"{number + 0.0:.4g}"
    return text.replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")


def _text(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
