"""The truth: a TensorFlow function with its gradient in real numbers, to a hundred digits.

The function is traced once; its graph, that of the gradient included, is computed node by node with
mpmath. Rounding, overflow and underflow do not exist here: `1 - exp(-x)` and `log(softmax(z))` are
what they are in a book. What only moves elements around is left to TensorFlow, which moves their
numbers. An op that is not known here raises `Unknown`; nothing is guessed.
"""

from __future__ import annotations

import operator
from functools import reduce
from typing import Any, Callable

import mpmath
import numpy as np
import tensorflow as tf
from mpmath import mpf

DIGITS = 100
_NAN, _INF = mpf("nan"), mpf("inf")


class Unknown(LookupError):
    """An op that cannot be computed exactly here."""


class Exact:
    """A function traced for inputs like `point`; `run` gives its values and gradients as arrays of
    real numbers.
    """

    def __init__(self, step: Callable, point: list[Any]):
        try:
            # Constants of the program are doubles: 1e-8 is what is meant, not the float next to it.
            self._traced = _traced(step, point, "float64")
        # TensorFlow's answer to a program that says float32 somewhere
        except (TypeError, ValueError):
            self._traced = _traced(step, point, "float32")
        self._count = len(self._traced.structured_outputs[0])
        unknown = {node.type for node in self._traced.graph.get_operations() if not _known(node)}
        if unknown:
            raise Unknown(", ".join(sorted(unknown)))

    def run(self, point: list[Any]) -> list[list[Any]]:
        """The values, then the gradients, at float32 inputs."""
        found: dict[str, Any] = {}
        with mpmath.workdps(DIGITS):
            for tensor, x in zip(self._traced.inputs, point):
                found[tensor.name] = (
                    _real(np.asarray(x, "float32"))
                    if x.dtype.kind == "f"
                    else np.asarray(x, tensor.dtype.as_numpy_dtype)
                )
            for node in self._traced.graph.get_operations():
                if node.type != "Placeholder":
                    outputs = _computed(node, [found[one.name] for one in node.inputs])
                    found.update((tensor.name, out) for tensor, out in zip(node.outputs, outputs))
        results = [found[tensor.name] for tensor in self._traced.outputs]
        return [results[: self._count], results[self._count :]]


def _traced(step: Callable, point: list[Any], dtype: str) -> Any:
    kinds = {"f": dtype, "i": "int32"}
    specs = [tf.TensorSpec(x.shape, kinds.get(x.dtype.kind, x.dtype)) for x in point]
    return tf.function(step).get_concrete_function(*specs)


def _real(x: Any) -> Any:
    return _each(lambda one: mpf(float(one)), np.asarray(x))


def _constant(x: Any) -> Any:
    """Constants of a short dtype are the decimals that are written for them."""
    return _real(x) if x.dtype == np.float64 else _each(lambda one: mpf(str(one)), x)


def _each(function: Callable, *arrays: Any) -> Any:
    found = np.frompyfunc(function, len(arrays), 1)(*arrays)
    return np.asarray(found, object)


def _floats(x: Any) -> bool:
    return getattr(x, "dtype", None) == np.dtype(object)


def _known(node: Any) -> bool:
    if (
        node.type in _ELEMENTS
        or node.type in _WHOLE
        or node.type in _COMPARISONS
        or node.type in ("Placeholder", "Const", "Cast")
    ):
        return True
    tensors = [*node.inputs, *node.outputs]
    return node.type in _MOVES or not any(one.dtype.is_floating for one in tensors)


def _computed(node: Any, given: list[Any]) -> list[Any]:
    if node.type == "Const":
        value = tf.make_ndarray(node.get_attr("value"))
        return [_constant(value) if node.outputs[0].dtype.is_floating else value]
    if node.type == "Cast":
        return [_cast(given[0], node.outputs[0].dtype)]
    if node.type in _COMPARISONS and any(map(_floats, given)):
        return [np.asarray(_each(_COMPARISONS[node.type], *given), bool)]
    if node.type in _ELEMENTS and any(map(_floats, given)):
        return [_each(_ELEMENTS[node.type], *given)]
    if node.type in _WHOLE and any(map(_floats, given)):
        found = _WHOLE[node.type](node, *given)
        return list(found) if isinstance(found, tuple) else [np.asarray(found, object)]
    return _moved(node, given)


def _cast(x: Any, dtype: Any) -> Any:
    """No float is rounded by a cast to another: in real numbers there is one kind of them."""
    if _floats(x):
        if dtype.is_floating:
            return x
        return np.asarray(
            _each((lambda one: one != 0) if dtype == tf.bool else int, x), dtype.as_numpy_dtype
        )
    return (
        _each(lambda one: mpf(int(one)), x)
        if dtype.is_floating
        else np.asarray(x).astype(dtype.as_numpy_dtype)
    )


# ---------------------------------------------------------------------------------------------------------
# Element by element


def _sure(function: Callable) -> Callable:
    """The real value of a function: NaN outside of its domain, Inf at a pole."""

    def value(*given: Any) -> Any:
        if any(one != one for one in given):
            return _NAN
        try:
            found = function(*given)
        except (ZeroDivisionError, ValueError):
            return _NAN
        return _NAN if isinstance(found, mpmath.mpc) else found

    return value


def _divide(x: Any, y: Any) -> Any:
    if y == 0:
        return _NAN if x == 0 or x != x else mpmath.sign(x) * _INF
    return x / y


def _power(x: Any, y: Any) -> Any:
    return _INF if x == 0 and y < 0 else x**y


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + mpmath.exp(-x))


def _larger(x: Any, y: Any) -> Any:
    return _NAN if x != x or y != y else max(x, y)


def _smaller(x: Any, y: Any) -> Any:
    return _NAN if x != x or y != y else min(x, y)


_ELEMENTS: dict[str, Callable] = {
    "Mul": operator.mul,
    "AddV2": operator.add,
    "Add": operator.add,
    "Sub": operator.sub,
    "Neg": operator.neg,
    "RealDiv": _divide,
    "Square": lambda x: x * x,
    "SquaredDifference": lambda x, y: (x - y) ** 2,
    "Reciprocal": lambda x: _divide(mpf(1), x),
    "Maximum": _larger,
    "Minimum": _smaller,
    "Abs": abs,
    "Sign": mpmath.sign,
    "Pow": _sure(_power),
    "Exp": mpmath.exp,
    "Expm1": _sure(mpmath.expm1),
    "Log": _sure(mpmath.log),
    "Log1p": _sure(lambda x: mpmath.log(1 + x)),
    "Sqrt": _sure(mpmath.sqrt),
    "Rsqrt": _sure(lambda x: _divide(mpf(1), mpmath.sqrt(x))),
    "Sigmoid": _sigmoid,
    "Tanh": mpmath.tanh,
    "Sinh": mpmath.sinh,
    "Sin": mpmath.sin,
    "Cos": mpmath.cos,
    "Round": mpmath.nint,
    "Cosh": mpmath.cosh,
    "Softplus": lambda x: mpmath.log(1 + mpmath.exp(x)),
    "Relu": lambda x: _larger(x, mpf(0)),
    "Acos": _sure(mpmath.acos),
    "Asin": _sure(mpmath.asin),
    "Atanh": _sure(mpmath.atanh),
    "Acosh": _sure(mpmath.acosh),
    "Atan2": mpmath.atan2,
    "Ndtri": _sure(lambda p: mpmath.sqrt(2) * mpmath.erfinv(2 * p - 1)),
    "DivNoNan": lambda x, y: mpf(0) if y == 0 else x / y,
    "MulNoNan": lambda x, y: mpf(0) if y == 0 else x * y,
    "FloorDiv": lambda x, y: mpmath.floor(_divide(x, y)),
    "Select": lambda c, x, y: x if c else y,
    "SelectV2": lambda c, x, y: x if c else y,
    "SqrtGrad": lambda y, d: _divide(d / 2, y),
    "RsqrtGrad": lambda y, d: -d * y**3 / 2,
    "ReciprocalGrad": lambda y, d: -d * y * y,
    "SigmoidGrad": lambda y, d: d * y * (1 - y),
    "TanhGrad": lambda y, d: d * (1 - y * y),
    "ReluGrad": lambda d, x: d if x > 0 else mpf(0),
    "SoftplusGrad": lambda d, x: d * _sigmoid(x),
}
_COMPARISONS: dict[str, Callable] = {
    "Greater": operator.gt,
    "GreaterEqual": operator.ge,
    "Less": operator.lt,
    "LessEqual": operator.le,
    "Equal": operator.eq,
    "NotEqual": operator.ne,
    "IsNan": lambda x: x != x,
    "IsFinite": mpmath.isfinite,
    "IsInf": mpmath.isinf,
}


# ---------------------------------------------------------------------------------------------------------
# Over axes


def _reduced(join: Callable, empty: Any) -> Callable:
    def whole(node: Any, x: Any, axes: Any) -> Any:
        axes = tuple(int(axis) % x.ndim for axis in np.ravel(axes))
        rest = [axis for axis in range(x.ndim) if axis not in axes]
        rows = np.transpose(x, [*rest, *axes]).reshape([x.shape[axis] for axis in rest] + [-1])
        found = np.empty(rows.shape[:-1], object)
        for place in np.ndindex(found.shape):
            found[place] = join(list(rows[place])) if rows.shape[-1] else empty
        keep = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
        return found.reshape(keep) if node.get_attr("keep_dims") else found

    return whole


def _mean(row: list) -> Any:
    return mpmath.fsum(row) / len(row)


def _running(join: Callable, start: Any) -> Callable:
    def whole(node: Any, x: Any, axis: Any) -> Any:
        x = np.moveaxis(x, int(axis), -1)
        found, step = np.empty_like(x), -1 if node.get_attr("reverse") else 1
        for place in np.ndindex(x.shape[:-1]):
            total, row = start, []
            for one in x[place][::step]:
                after = join(total, one)
                row.append(total if node.get_attr("exclusive") else after)
                total = after
            found[place] = np.array(row, object)[::step]
        return np.moveaxis(found, -1, int(axis))

    return whole


def _softmax(node: Any, x: Any) -> Any:
    powers = _each(mpmath.exp, x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def _log_softmax(node: Any, x: Any) -> Any:
    return _each(mpmath.log, _softmax(node, x))


def _cross_entropy(node: Any, logits: Any, labels: Any) -> tuple[Any, Any]:
    return -(labels * _log_softmax(node, logits)).sum(-1), _softmax(node, logits) - labels


def _product(node: Any, x: Any, y: Any) -> Any:
    x = x.T if node.get_attr("transpose_a") else x
    return np.dot(x, y.T if node.get_attr("transpose_b") else y)


def _segments(node: Any, x: Any, places: Any, count: Any) -> Any:
    found = np.full((int(count), *x.shape[places.ndim :]), mpf(0), object)
    for place in np.ndindex(places.shape):
        if places[place] >= 0:
            found[places[place]] = found[places[place]] + x[place]
    return found


def _matrices(function: Callable) -> Callable:
    """An op on the last two axes, by mpmath's matrices."""

    def whole(node: Any, *stacks: Any) -> Any:
        outer = stacks[0].shape[:-2]
        found = [
            function(node, *(mpmath.matrix(stack[place].tolist()) for stack in stacks))
            for place in np.ndindex(outer)
        ]
        whole = np.array(
            [one.tolist() if isinstance(one, mpmath.matrix) else one for one in found], object
        )
        return whole.reshape(outer + whole.shape[1:])

    return whole


def _inverse(node: Any, x: Any) -> Any:
    return mpmath.inverse(x.T if node.get_attr("adjoint") else x)


def _solved(node: Any, x: Any, right: Any) -> Any:
    lower = node.get_attr("lower")
    for row in range(x.rows):
        for column in range(x.cols):
            if (column > row) == lower and column != row:
                x[row, column] = mpf(0)
    return mpmath.inverse(x.T if node.get_attr("adjoint") else x) * right


_WHOLE: dict[str, Callable] = {
    "Sum": _reduced(mpmath.fsum, mpf(0)),
    "Mean": _reduced(_mean, _NAN),
    "Prod": _reduced(mpmath.fprod, mpf(1)),
    "Max": _reduced(lambda row: reduce(_larger, row), -_INF),
    "Min": _reduced(lambda row: reduce(_smaller, row), _INF),
    "EuclideanNorm": _reduced(
        lambda row: mpmath.sqrt(mpmath.fsum(one * one for one in row)), mpf(0)
    ),
    "Cumsum": _running(operator.add, mpf(0)),
    "Cumprod": _running(operator.mul, mpf(1)),
    "Softmax": _softmax,
    "LogSoftmax": _log_softmax,
    "SoftmaxCrossEntropyWithLogits": _cross_entropy,
    "MatMul": _product,
    "AddN": lambda node, *terms: reduce(operator.add, terms),
    "UnsortedSegmentSum": _segments,
    "MatrixDeterminant": _matrices(lambda node, x: mpmath.det(x)),
    "MatrixInverse": _matrices(_inverse),
    "Cholesky": _matrices(lambda node, x: mpmath.cholesky(x)),
    "MatrixTriangularSolve": _matrices(_solved),
}

# ---------------------------------------------------------------------------------------------------------
# What moves elements, and what has nothing to do with floats: TensorFlow does it

_MOVES = frozenset(
    """
Identity StopGradient Reshape Tile ConcatV2 Pack Unpack Squeeze ExpandDims StridedSlice StridedSliceGrad GatherV2 GatherNd ScatterNd
Transpose MatrixDiagV3 MatrixDiagPartV3 MatrixSetDiagV3 MatrixBandPart Slice Where Shape Size Fill OneHot ReverseV2 Split SplitV
BroadcastTo ZerosLike OnesLike Range Rank
""".split()
)


def _moved(node: Any, given: list[Any]) -> list[Any]:
    """An op on the numbers of elements in a list of all of them: 0 and 1 stand for themselves."""
    elements = [mpf(0), mpf(1)]
    numbered = []
    for x in given:
        if _floats(x):
            numbered.append(np.arange(x.size, dtype="float64").reshape(x.shape) + len(elements))
            elements += list(x.ravel())
        else:
            numbered.append(x)
    if node.type == "Where" and _floats(given[0]):
        numbered = [np.asarray(_each(lambda one: one != 0, given[0]), bool)]
    outputs = _run(node, numbered)
    table = np.empty(len(elements), object)
    table[:] = elements
    return [
        np.asarray(table[out.astype(int)], object) if tensor.dtype.is_floating else out
        for tensor, out in zip(node.outputs, outputs)
    ]


# Names that `tf.raw_ops` has for what an op's definition calls otherwise.
_RENAMED = {"squeeze_dims": "axis", "reduction_indices": "axis", "dim": "axis", "split_dim": "axis"}


def _run(node: Any, given: list[Any]) -> list[Any]:
    """A node as TensorFlow computes it."""
    definition, rest, arguments = node.op_def, list(given), {}
    for arg in definition.input_arg:
        name = "condition" if node.type == "Where" else _RENAMED.get(arg.name, arg.name)
        if arg.number_attr:
            count = node.get_attr(arg.number_attr)
            arguments[name] = [tf.constant(rest.pop(0)) for _ in range(count)]
        else:
            arguments[name] = tf.constant(rest.pop(0))
    inferred = {
        name for arg in definition.input_arg for name in (arg.type_attr, arg.number_attr) if name
    }
    arguments |= {
        _RENAMED.get(attr.name, attr.name): node.get_attr(attr.name)
        for attr in definition.attr
        if attr.name not in inferred
    }
    found = getattr(tf.raw_ops, node.type)(**arguments)
    return [np.asarray(one) for one in (found if isinstance(found, (list, tuple)) else [found])]
