"""How far the rounding of a program's own operations moves its results: stochastic arithmetic.

While `perturbed` is active, what an op that rounds gives is off by a random amount of at most one
unit in the last place. What a few such runs of a program differ by, another program that computes
the same may differ by, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Units in the last place of each dtype, relative to 1.
UNITS = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
# Ops whose results are no rounded numbers: what they are given, chosen, moved, compared or counted.
EXACT = frozenset(
    """
    Abs ArgMax ArgMin BroadcastTo Cast Ceil ClipByValue Concat ConcatV2 Const Equal
    ExpandDims Fill Floor GatherNd GatherV2 Greater GreaterEqual Identity IdentityN IsFinite IsInf
    IsNan Less LessEqual Max Maximum Min Minimum Neg NotEqual OneHot OnesLike Pack PreventGradient
    RandomStandardNormal RandomUniform Rank ReadVariableOp Relu Relu6 Relu6Grad ReluGrad Reshape
    Round Select SelectV2 Shape Sign Size Slice Split SplitV Squeeze StopGradient StridedSlice
    StridedSliceGrad Tile Transpose Unpack ZerosLike
    """.split()
)


@contextmanager
def perturbed(seed: int) -> Iterator[None]:
    """Perturbs the ops that TensorFlow runs eagerly, also those of gradients."""
    import numpy as np
    from tensorflow.python import pywrap_tfe

    draw = np.random.default_rng(seed)
    execute = pywrap_tfe.TFE_Py_FastPathExecute

    def noisy(part: Any, context: Any) -> Any:
        name = getattr(getattr(part, "dtype", None), "name", "")
        if name not in UNITS:
            return part
        factor = 1.0 + UNITS[name] * draw.uniform(-1.0, 1.0, size=part.shape)
        import tensorflow as tf

        return execute(context, "Mul", None, part, tf.constant(factor, part.dtype))

    def run(context: Any, op: str, *arguments: Any) -> Any:
        outputs = execute(context, op, *arguments)
        if op in EXACT:
            return outputs
        if isinstance(outputs, (list, tuple)):
            parts = [noisy(part, context) for part in outputs]
            return type(outputs)(*parts) if hasattr(outputs, "_fields") else type(outputs)(parts)
        return noisy(outputs, context)

    pywrap_tfe.TFE_Py_FastPathExecute = run
    try:
        yield
    finally:
        pywrap_tfe.TFE_Py_FastPathExecute = execute
