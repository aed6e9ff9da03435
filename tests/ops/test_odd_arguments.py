"""No row fails, whatever is given to it: strings, None, empty lists, functions, layers, unknown
values.
"""

from __future__ import annotations

import pytest

from tfnanlint.ops.site import Site
from tfnanlint.ops.table import ROWS, TABLE, load
from tfnanlint.values.value import INF, Value, number, unknown

load()
LAYER = TABLE["keras.layers.Dense"].gives(
    Site.of_values(TABLE["keras.layers.Dense"], {"activation": number("relu")})
)
MODEL = TABLE["keras.Sequential"].gives(Site.of_values(TABLE["keras.Sequential"], {}))
LOSS = TABLE["keras.losses.MeanSquaredError"].gives(
    Site.of_values(TABLE["keras.losses.MeanSquaredError"], {})
)
ODD = {
    "unknown": unknown(),
    "tensor": unknown("tensor"),
    "any": Value(evident=True),
    "nan": Value(nan=True, inf=True, dtype="float16"),
    "none": number(None),
    "text": number("SAME"),
    "empty text": number(""),
    "true": number(True),
    "zero": number(0),
    "negative": number(-3),
    "float": number(0.5),
    "infinite": number(INF),
    "not a number": number(float("nan")),
    "huge": number(10**400),
    "empty": Value(kind="sequence", obj=()),
    "unseen list": Value(kind="sequence"),
    "list": Value(0.0, 1.0, kind="sequence", obj=(number(1), Value(0.0, 1.0))),
    "nested": Value(kind="sequence", obj=(Value(kind="sequence", obj=()), number(None))),
    "dict": Value(kind="dict"),
    "dtype": Value(kind="dtype", const="float16"),
    "strange dtype": Value(kind="dtype", const="qint8"),
    "function": Value(kind="function", obj=TABLE["tf.nn.relu"], const="tf.nn.relu"),
    "class": Value(kind="class"),
    "layer": LAYER,
    "model": MODEL,
    "loss": LOSS,
    "int": Value(0.0, 255.0, dtype="uint8"),
    "bool": Value(0.0, 1.0, dtype="bool"),
    "positive": Value(0.0, INF, False, dtype="float64"),
    "below 0": Value(-INF, 0.0, dtype="bfloat16"),
    "never": Value(INF, -INF, False, nan=True),
}


def check(value: Value) -> None:
    """A value that other rows can work with."""
    assert isinstance(value, Value)
    assert not value.zero or value.lo <= 0 <= value.hi
    if callable(getattr(value.obj, "out", None)):
        for odd in ODD.values():
            assert isinstance(value.obj.out(odd, value.obj.site), Value)


@pytest.mark.parametrize("kind", ODD)
def test_no_row_fails(kind):
    odd = ODD[kind]
    for row in ROWS:
        params = [p.lstrip("*") for p in row.params]
        for given in (params, params[:1], params[:2], *([p] for p in params[1:])):
            try:
                check(row.gives(Site.of_values(row, dict.fromkeys(given, odd))))
            except Exception as error:
                params = ", ".join(given)
                raise AssertionError(
                    f"{row.name} fails when {params} are given as {kind}: {error!r}"
                ) from error
