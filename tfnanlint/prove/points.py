"""Inputs on which a slice is run: ordinary ones, and those at which numerics go wrong."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tfnanlint.prove.program import INF, NUMBER, TENSOR, TRUTH, WHOLE_NUMBER, Input

SEED = 7
LARGEST = 1e4  # a plausible activation; what only larger numbers break is not shown
_SATURATED = (0.0, 1000.0, -1000.0, 88.0, -88.0, 120.0, -110.0, 17.0, -17.0, 0.0, 200.0, -200.0)
_SHAPES: tuple[tuple[int, ...], ...] = (
    (3, 4),
    (),
    (4,),
    (4, 4),
    (2, 3, 4),
    (2, 4, 4, 3),
    (3,),
    (3, 1),
    (4, 3),
    (2, 3, 4, 4),
    (1, 4),
)
_MOST_LAYOUTS = 60
_KINDS_OF_WHOLE = ("int32", "int64", "bool")


@dataclass(frozen=True)
class Layout:
    """A shape and a dtype for each input."""

    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[str, ...]


def layouts(inputs: Sequence[Input]) -> Iterator[Layout]:
    """Layouts to be tried, the likeliest first, each once."""
    seen = set()
    for layout in itertools.islice(_layouts(inputs), _MOST_LAYOUTS * 4):
        if layout not in seen:
            seen.add(layout)
            yield layout
            if len(seen) == _MOST_LAYOUTS:
                return


def of_one_row(layout: Layout) -> Layout:
    """A layout with inputs of one row: a batch of one."""
    shapes = tuple((1, *shape[1:]) if shape else () for shape in layout.shapes)
    return Layout(shapes, layout.dtypes)


def _layouts(inputs: Sequence[Input]) -> Iterator[Layout]:
    plain = tuple(_dtype(each) for each in inputs)
    tensors = [at for at, each in enumerate(inputs) if each.kind in (TENSOR, TRUTH)]
    whole = [at for at in tensors if plain[at] in _KINDS_OF_WHOLE]

    def shaped(shape: tuple[int, ...], changed: dict[int, tuple[int, ...]]) -> Any:
        return tuple(changed.get(at, shape if at in tensors else ()) for at in range(len(inputs)))

    for shape in _SHAPES:
        yield Layout(shaped(shape, {}), plain)
        if whole and len(shape) > 1:
            yield Layout(shaped(shape, {at: shape[:-1] for at in whole}), plain)
    for shape, first in itertools.product(((3, 4), (2, 4, 4, 3), (2, 3, 4)), tensors):
        for second_shape in (shape[:-1], shape[-1:], (), (*shape[:-1], 1), (1, *shape[1:])):
            yield Layout(shaped(shape, {first: second_shape}), plain)
    loose = [at for at in tensors if not inputs[at].dtype]
    for first, dtype in itertools.product(loose, _KINDS_OF_WHOLE):
        dtypes = tuple(dtype if at == first else plain[at] for at in range(len(inputs)))
        yield Layout(shaped((3, 4), {}), dtypes)
        yield Layout(shaped((3, 4), {first: (3,)}), dtypes)
        yield Layout(shaped((3, 4), {first: (3, 1)}), dtypes)
        yield Layout(shaped((3, 4), {first: ()}), dtypes)
    pairs = itertools.product(((4, 3), (4,), (3,), (4, 4)), tensors, tensors)
    for second_shape, first, second in pairs:
        if first < second:
            yield Layout(shaped((3, 4), {first: second_shape, second: second_shape}), plain)
    for first, second in itertools.permutations(tensors, 2):
        yield Layout(shaped((2, 4, 4, 3), {first: (4, 4), second: (3,)}), plain)


def _dtype(input_: Input) -> str:
    if input_.kind == TRUTH:
        return "bool"
    return input_.dtype if input_.dtype not in ("", "mixed") else "float32"


# Points

Point = list[Any]


def ordinary(inputs: Sequence[Input], layout: Layout, draw: Any, style: int = 0) -> Point:
    """Inputs at which nothing should go wrong. Where nothing is known of them, they are of a style:
    any numbers, positive ones, shares.
    """
    return [
        _styled(one, _ordinary(one, shape, dtype, draw), style)
        for one, shape, dtype in zip(inputs, layout.shapes, layout.dtypes)
    ]


def _styled(input_: Input, value: Any, style: int) -> Any:
    import numpy as np

    if (
        style == 0
        or input_.kind != TENSOR
        or value.dtype.kind != "f"
        or not input_.range.any_number
    ):
        return value
    positive = np.abs(value) + np.asarray(0.1, value.dtype)
    return positive if style == 1 else positive / (1 + positive)


STYLES = 3


def _ordinary(input_: Input, shape: tuple[int, ...], dtype: str, draw: Any) -> Any:
    import numpy as np

    lo, hi = input_.range.lo, input_.range.hi
    if input_.kind == NUMBER:
        return float(inside(input_, np.asarray(draw.uniform(0.3, 2.0))))
    if input_.kind == WHOLE_NUMBER:
        return int(min(max(2.0, lo), hi))
    if dtype == "bool":
        return draw.integers(0, 2, size=shape).astype(bool)
    if dtype in _KINDS_OF_WHOLE or dtype.startswith(("int", "uint")):
        low = 0 if lo == -INF else int(max(lo, -8))
        high = low + 3 if hi == INF else int(min(hi + 1, low + 3))
        return draw.integers(low, max(high, low + 1), size=shape).astype(dtype)
    if lo > -INF and hi < INF:
        width = hi - lo
        return (lo + width * draw.uniform(0.1, 0.9, size=shape)).astype(_numpy(dtype))
    normal = draw.normal(size=shape)
    if lo > -INF:
        return (lo + 0.1 + np.abs(normal)).astype(_numpy(dtype))
    if hi < INF:
        return (hi - 0.1 - np.abs(normal)).astype(_numpy(dtype))
    return normal.astype(_numpy(dtype))


def _numpy(dtype: str) -> str:
    """The dtype of the array: TensorFlow makes bfloat16 of it."""
    return "float32" if dtype == "bfloat16" else dtype


def hazards(inputs: Sequence[Input], layout: Layout, draw: Any) -> Iterator[Point]:
    """Inputs at which something may go wrong: all at an edge, one at an edge, equal ones, and at
    random.
    """
    edges = [
        _edges(each, shape, dtype, draw)
        for each, shape, dtype in zip(inputs, layout.shapes, layout.dtypes)
    ]
    if not edges:
        yield []
        return
    longest = max(len(each) for each in edges)
    for at in range(longest):
        yield [each[at % len(each)] for each in edges]
    for index, each in enumerate(edges):
        for edge in each:
            point = ordinary(inputs, layout, draw)
            point[index] = edge
            yield point
    yield from _equal(inputs, layout, draw)
    while True:
        yield [
            each[draw.integers(len(each))]
            if draw.random() < 0.7
            else _ordinary(own, shape, dtype, draw)
            for each, own, shape, dtype in zip(edges, inputs, layout.shapes, layout.dtypes)
        ]


def _equal(inputs: Sequence[Input], layout: Layout, draw: Any) -> Iterator[Point]:
    """Points at which two inputs are the same: equal predictions and labels, equal points."""
    for first, second in itertools.combinations(range(len(inputs)), 2):
        if (
            layout.shapes[first] != layout.shapes[second]
            or layout.dtypes[first] != layout.dtypes[second]
        ):
            continue
        point = ordinary(inputs, layout, draw)
        point[second] = point[first]
        yield point


def _edges(input_: Input, shape: tuple[int, ...], dtype: str, draw: Any) -> list[Any]:
    import numpy as np

    if input_.kind == NUMBER:
        numbers = [0.0, 1.0, input_.range.lo, input_.range.hi, -1.0, 1e-12, 100.0]
        fitting = [number for number in numbers if abs(number) < INF and _admits(input_, number)]
        return fitting or [_ordinary(input_, shape, dtype, draw)]
    if input_.kind == WHOLE_NUMBER:
        numbers = [
            0,
            1,
            2,
            *(int(end) for end in (input_.range.lo, input_.range.hi) if abs(end) < 64),
        ]
        fitting = [number for number in numbers if _admits(input_, number)]
        return fitting or [_ordinary(input_, shape, dtype, draw)]
    if dtype == "bool":
        none = np.zeros(shape, bool)
        return [none, ~none, draw.integers(0, 2, size=shape).astype(bool)]
    if dtype.startswith(("int", "uint")):
        arrays = [np.zeros(shape), np.ones(shape), draw.integers(0, 4, size=shape)]
        return [inside(input_, array).astype(dtype) for array in arrays]
    return [
        (inside(input_, np.asarray(array)) + 0.0).astype(_numpy(dtype))
        for array in _float_edges(input_, shape, dtype, draw)
    ]


def _float_edges(input_: Input, shape: tuple[int, ...], dtype: str, draw: Any) -> list[Any]:
    import numpy as np

    zeros, ones, normal = np.zeros(shape), np.ones(shape), draw.normal(size=shape)
    flags = draw.integers(0, 2, size=shape).astype(float)
    last = normal[..., :1] if shape else normal
    row = zeros.copy()
    if shape:
        row[-1] = 1.0
    hot = np.broadcast_to(np.eye(shape[-1])[0], shape) if shape else ones
    arrays = [
        zeros,
        draw.choice(_SATURATED, size=shape),
        1000.0 * (2 * flags - 1),
        ones,
        np.broadcast_to(last, shape),
        normal * row,
        np.abs(normal) * flags,
        -np.abs(normal) - 0.1,
        flags,
        hot,
        1000.0 * ones,
        -1000.0 * ones,
        120.0 * normal,
        np.abs(normal) * 1e-20,
        1e-8 * normal,
        1e-4 * normal,
        20.0 * (2 * flags - 1),
        0.5 * ones,
        LARGEST * np.abs(normal),
        1000.0 + normal,
    ]
    arrays += [
        np.full(shape, end) for end in (input_.range.lo, input_.range.hi) if abs(end) <= LARGEST
    ]
    if dtype == "float16":
        arrays += [6e4 * flags, 300.0 * normal, 1e-6 * np.abs(normal)]
    return arrays


def with_nan(inputs: Sequence[Input], layout: Layout, draw: Any) -> Iterator[Point]:
    """Points with NaN in one input, at one place and everywhere: data with gaps. An input that is
    known to be in some range has none, unless that is known as well.
    """
    import numpy as np

    for index, dtype in enumerate(layout.dtypes):
        each = inputs[index]
        if not dtype.startswith(("float", "bfloat")) or each.kind != TENSOR:
            continue
        if not (each.range.nan or each.range.any_number):
            continue
        for gaps in ((0,) * len(layout.shapes[index]), ...):
            point = ordinary(inputs, layout, draw)
            array = np.array(point[index])
            array[gaps] = np.nan
            point[index] = array
            yield point


def _admits(input_: Input, number: float) -> bool:
    return input_.range.lo <= number <= input_.range.hi and (number != 0 or input_.range.zero)


def inside(input_: Input, array: Any) -> Any:
    """An array moved into the range of an input."""
    import numpy as np

    array = np.clip(array, input_.range.lo, input_.range.hi)
    if input_.range.zero or not (array == 0).any():
        return array
    nearest = min(1e-3, input_.range.hi) if input_.range.hi > 0 else max(-1e-3, input_.range.lo)
    return np.where(array == 0, nearest, array)


def plain(value: Any) -> dict[str, Any]:
    """A value as JSON has it: numbers with NaN and Inf as text."""
    import numpy as np

    array = np.asarray(value)
    return {
        "number": isinstance(value, (bool, int, float)),
        "shape": list(array.shape),
        "values": [_text(one) for one in array.ravel().tolist()],
    }


def _text(number: Any) -> Any:
    if isinstance(number, float) and (number != number or number in (float("inf"), -float("inf"))):
        return str(number)
    return number
