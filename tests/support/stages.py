"""Runs one function in TensorFlow, eagerly, as a graph and compiled by XLA: value and gradient on
every input of a case.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

ROWS, COLUMNS, MANY = 3, 4, 6


@dataclass(frozen=True)
class Outcome:
    """One function on all inputs of a case in one mode, as float64 arrays: values and gradients,
    one list per input.
    """

    values: list[list[Any]]
    gradients: list[list[Any]]

    @property
    def finite(self) -> list[bool]:
        """For each input: whether value and gradient are finite everywhere."""
        import numpy as np

        return [
            all(np.isfinite(part).all() for part in (*values, *gradients))
            for values, gradients in zip(self.values, self.gradients)
        ]


@lru_cache(maxsize=2)
def vocabulary(many: int = MANY) -> dict[str, Any]:
    """Names that the input lines of a case may use; every array has shape [inputs, ROWS, COLUMNS]."""
    import numpy as np

    draw = np.random.default_rng(7)
    shape = (many, ROWS, COLUMNS)
    normal = draw.normal(size=shape)
    saturated = np.array(
        [0.0, 1000.0, -1000.0, 88.0, -88.0, 120.0, -110.0, 17.0, -17.0, 0.0, 200.0, -200.0]
    )
    return {
        "np": np,
        "normal": normal,
        "logits": 3 * normal,
        "positive": np.exp(normal),
        "probability": draw.uniform(0.02, 0.98, size=shape),
        "small": 1e-3 * normal,
        "shares": softmax(normal),
        "one_hot": np.eye(COLUMNS)[draw.integers(0, COLUMNS, size=shape[:2])],
        "binary": (normal > 0).astype(float),
        "classes": draw.integers(0, COLUMNS, size=shape[:2]),
        # Hazards
        "zeros": np.zeros((1, ROWS, COLUMNS)),
        "ones": np.ones((1, ROWS, COLUMNS)),
        "ties": np.repeat(normal[:2, :, :1], COLUMNS, axis=2),
        "some_zeros": np.where(normal > 0.3, 0.0, np.abs(normal)),
        "some_negative": normal,
        "zero_rows": normal * np.array([0.0, 1.0, 0.0])[:, None],
        "negative": -np.exp(normal),
        "tiny": np.abs(normal) * 10.0 ** draw.uniform(-44, -20, size=shape),
        "saturated": np.stack(
            [draw.permutation(saturated).reshape(ROWS, COLUMNS) for _ in range(many)]
        ),
        "large": normal * 60,
        "zeros_and_ones": draw.integers(0, 2, size=shape).astype(float),
        "with_nan": np.where(normal > 0.8, np.nan, normal),
    }


def softmax(x: Any) -> Any:
    import numpy as np

    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def inputs(text: str, names: tuple[str, ...], many: int = MANY) -> list[list[Any]]:
    """The inputs that a line such as `x = zeros, y = one_hot` stands for, `many` draws of them;
    shorter arrays are repeated.
    """
    import numpy as np

    given = eval(f"dict({text})", dict(vocabulary(many)))
    if set(given) != set(names):
        raise ValueError(f"the inputs {sorted(given)} are not the parameters {list(names)}")
    arrays = [np.asarray(given[name]) for name in names]
    count = max(len(array) for array in arrays)
    return [[array[index % len(array)] for array in arrays] for index in range(count)]


def function(program: str, name: str) -> Any:
    """The function `name` of a program."""
    space: dict[str, Any] = {"__name__": "case"}
    exec(compile(program, f"<{name}>", "exec"), space)
    return space[name]


def run(one: Any, points: list[list[Any]], mode: str, dtype: str = "float32") -> Outcome:
    """Value and gradient of a function at points, in one mode."""
    import numpy as np
    import tensorflow as tf

    step = {
        "eager": lambda f: f,
        "graph": tf.function,
        "xla": lambda f: tf.function(f, jit_compile=True),
    }[mode](_step(one))
    values, gradients = [], []
    for point in points:
        tensors = [
            tf.constant(
                x, dtype if x.dtype.kind == "f" else "int32" if x.dtype.kind == "i" else x.dtype
            )
            for x in point
        ]
        value, gradient = step(*tensors)
        values.append([np.asarray(part, "float64") for part in value])
        gradients.append([np.asarray(part, "float64") for part in gradient])
    return Outcome(values, gradients)


def _step(one: Any) -> Any:
    """The function with its gradient: the results are weighed, so that no sum of a gradient
    cancels.
    """
    import numpy as np
    import tensorflow as tf

    def step(*tensors: Any) -> Any:
        floats = [x for x in tensors if x.dtype.is_floating]
        with tf.GradientTape() as tape:
            tape.watch(floats)
            results = tf.nest.flatten(one(*tensors))
            loss = [
                r * tf.constant(weights(np, r.shape), r.dtype)
                for r in results
                if r.dtype.is_floating
            ]
        gradients = (
            tape.gradient(loss, floats, unconnected_gradients=tf.UnconnectedGradients.ZERO)
            if loss
            else []
        )
        return results, [tf.convert_to_tensor(g) for g in gradients]

    return step


def weights(np: Any, shape: Any) -> Any:
    """Positive numbers, all different, that every dtype holds as they are."""
    return (
        1.0
        + np.round(512 * np.cos(np.arange(int(np.prod(shape)), dtype=float))).reshape(tuple(shape))
        / 1024
    )
