"""The table: everything known about TensorFlow ops, one row an op, one family a file.

A row is made with `op(...)` in one of the family modules and tested against TensorFlow in
tests/ops/test_table.py. Names are canonical: `tf.` (any TensorFlow 1 or 2 spelling, compat.v1 too),
`K.` (Keras backend), `ops.` (keras.ops), `tnp.` (tf.experimental.numpy), `raw.` (tf.raw_ops),
`keras.` (Keras layers, losses, activations), `np.` (NumPy), `math.` (the Python module), `slim.`
(tf.contrib.slim and layers), `tfp.` (TensorFlow Probability).
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any, Callable, Final

from tfnanlint.ops.row import Op
from tfnanlint.ops.signatures import SIGNATURES
from tfnanlint.ops.site import Site
from tfnanlint.values.value import Value

# Parameters that have these names take no numbers that a result is made of, whatever the op.
SETTINGS: Final = frozenset("name dtype axis axes shape keepdims perm seed equation depth".split())
# How the texts of `needs` and `gradient` begin that speak of single numbers, not of what is far
# out.
RANGES = ("positive", "nonnegative", "nonzero", "above", "inside")
AT_A_POINT = (
    "NaN at",
    "infinite at",
    "infinite near",
    "NaN where all elements are equal",
    "NaN where all elements are 0",
)


TABLE: Final[dict[str, Op]] = {}
ROWS: Final[list[Op]] = []
# Spellings of one parameter in the libraries that share a row.
SYNONYMS: Final[dict[str, str]] = {
    "reduction_indices": "axis",
    "keep_dims": "keepdims",
    "dim": "axis",
    "input_tensor": "x",
    "input": "x",
    "tensor": "x",
    "features": "x",
    "params": "x",
    "input_": "x",
    "value": "x",
    "a": "x",
    "t": "x",
    "x1": "x",
    "x2": "y",
    "b": "y",
    "x": "logits",
    "min_value": "clip_value_min",
    "max_value": "clip_value_max",
    "a_min": "clip_value_min",
    "a_max": "clip_value_max",
    "x_min": "clip_value_min",
    "x_max": "clip_value_max",
    "data": "x",
    "matrix": "x",
    "arr": "x",
    "img1": "x",
    "img2": "y",
    "image": "x",
    "images": "x",
    "sp_a": "x",
    "chol": "x",
    "val": "x",
    "lower_upper": "x",
    "diagonals": "x",
    "bands": "x",
    "z": "x",
    "inputs": "x",
    "values": "x",
    "e": "y",
    "p": "coeffs",
    "level": "rate",
    "alpha": "negative_slope",
    "negative_slope": "alpha",
    "dimension": "axis",
    "output_dtype": "dtype",
    "filter": "filters",
    "target": "labels",
    "output": "logits",
    "stop": "limit",
    "step": "delta",
    "pool_mode": "pooling_type",
    "pool_size": "ksize",
    "window_shape": "ksize",
}


def op(
    name: str,
    aliases: str = "",
    params: str = "x name",
    gives: Callable[[Site], Value] | None = None,
    **info: Any,
) -> Op:
    """Add a row: `aliases` and `params` are separated by blanks."""
    assert gives is not None, name
    names = tuple(params.split())
    info.setdefault("main", names[0].lstrip("*") if names else "")
    info["edges"] = _edges(info)
    row = Op(name, (name, *aliases.split()), names, gives, signatures=SIGNATURES, **info)
    for alias in row.aliases:
        assert alias not in TABLE, f"{alias} stands in two rows: {TABLE[alias].name} and {name}"
        TABLE[alias] = row
    ROWS.append(row)
    return row


def _edges(info: dict[str, Any]) -> tuple[str, ...]:
    ranged = tuple(
        param for param, word in info.get("needs", {}).items() if word.startswith(RANGES)
    )
    return ranged or (
        (info["main"],) if info["main"] and info.get("gradient", "").startswith(AT_A_POINT) else ()
    )


FAMILIES = (
    "families.arithmetic",
    "families.elementwise",
    "families.signals",
    "families.comparison",
    "families.reductions",
    "families.products",
    "families.nn",
    "families.arrays",
    "families.control",
    "families.random",
    "families.distributions",
    "families.linalg",
    "models.losses",
    "models.variables",
    "models.layers",
    "models.cells",
    "models.training",
    "families.python",
    "families.structures",
    "models.datasets",
)


@cache
def load() -> dict[str, Op]:
    """The table, with every family imported."""
    for family in FAMILIES:  # also when something has imported one family before
        importlib.import_module(f"tfnanlint.ops.{family}")
    return TABLE


@cache
def namespaces() -> frozenset[str]:
    """Every module that some spelling goes through: `tf`, `tf.nn`, `keras.layers`."""
    modules: set[str] = set()
    for alias in load():
        while alias := alias.rpartition(".")[0]:
            modules.add(alias)
    return frozenset(modules - {"method"})


@cache
def last_names() -> frozenset[str]:
    """The last part of every spelling: a callee with another last name is no op, unless the file
    renames one.
    """
    return frozenset(alias.rsplit(".", 1)[-1] for alias in load())
