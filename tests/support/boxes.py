"""Boxes of inputs, numbers inside them, and what a value refuses: for the tests that execute rows."""

from __future__ import annotations

from typing import Any

from later import Later

from tfnanlint.interp.engine import Engine
from tfnanlint.ops.site import Site
from tfnanlint.values.value import INF, Value

np = Later("numpy")
# Bounds that float32 holds exactly.
BOXES = [
    (0.0, 0.0),
    (0.0, 1.0),
    (-1.0, 1.0),
    (-1e3, 1e3),
    (1.0, 1e3),
    (-1e3, -1.0),
    (-(2.0**-10), 2.0**-10),
    (5.0, 5.0),
    (0.25, 0.75),
]

_INTERPRETER = Engine()


def site_of(row: Any, values: dict[str, Value]) -> Site:
    """A site that applies rows of the table, as the interpreter does."""
    site = Site.of_values(row, values)
    site.interpreter = _INTERPRETER
    return site


def points(lo: float, hi: float, shape: tuple[int, ...], seed: int = 0) -> Any:
    """Corners, 0 when it is inside, and random numbers of many sizes."""
    random = np.random.default_rng(seed)
    x = random.uniform(lo, hi, shape)
    x *= np.where(random.random(shape) < 0.3, 10.0 ** random.uniform(-6, 0, shape), 1.0)
    x[0], x[1] = lo, hi
    x = np.clip(x, lo, hi)
    if lo <= 0 <= hi:
        x.flat[:: max(2, x.size // 10)] = 0.0
    return x.astype("float32")


def refused(value: Value, result: Any) -> list[float]:
    """Numbers in `result` that `value` does not admit."""
    array = np.asarray(result, "float64").ravel()
    if value.lo == -INF and value.hi == INF and value.zero:
        odd = array[~np.isfinite(array)]
    else:
        odd = array[
            ~np.isfinite(array)
            | (array < value.lo)
            | (array > value.hi)
            | ((array == 0) & (not value.zero))
        ]
    return [n for n in odd[:1000].tolist() if not value.admits(n)]


def check(value: Value, result: Any, where: str) -> None:
    """Fails when `value` does not admit all of `result`; `where` says what was computed."""
    odd = refused(value, result)
    assert not odd, f"{where}: {value!r} does not admit {odd[:5]}"
