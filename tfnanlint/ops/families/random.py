"""Random sources with the ranges they really have: `uniform` includes its lower end, `normal` has
no bounds.
"""

from __future__ import annotations

import math
from typing import Final

from tfnanlint.ops.site import Site
from tfnanlint.ops.table import op
from tfnanlint.ops.transfer import core as t
from tfnanlint.ops.transfer.core import INF, Value
from tfnanlint.values.value import WHOLE, Namespace

RANDOM: Final = dict(pure=False, main="")


def _dtype(site: Site, default: str | None = "float32") -> str | None:
    """The dtype asked for: its name, or the name of the tf.dtype given."""
    if not site.given("dtype"):
        return default
    requested = site.value("dtype")
    if requested.dtype:
        return requested.dtype
    return requested.const if isinstance(requested.const, str) else None


def _given(site: Site, param: str, default: float) -> Value:
    return (
        site.value(param)
        if site.given(param) and site.value(param).kind != "none"
        else t.number(default)
    )


def below(number: float, dtype: str | None) -> float:
    """The largest number of the dtype under `number`."""
    number = t.rounded(number, dtype)
    return number - max(abs(number) * t.limits_of(dtype).eps / 2, t.smallest(dtype))


def _result(lo: float, hi: float, dtype: str | None, kind: str = "tensor") -> Value:
    return Value(lo, hi, dtype=dtype, kind=kind)


def _uniform(low: str, high: str, default: str | None = "float32", missing: float = 1.0):
    """[low, high): the lower end occurs (once in 2^23 draws), the upper one does not, unless
    low + u * (high - low) rounds up to it. `missing` is what the largest u lacks to 1, in
    spacings of the dtype above 1.
    """

    def give(site: Site) -> Value:
        dtype = _dtype(site, default)
        lo, hi = _given(site, low, 0.0), _given(site, high, 1.0)
        if lo.kind == "unknown" or hi.kind == "unknown":
            return Value(lo.lo, hi.hi, dtype=dtype)
        if dtype in WHOLE:
            return _result(lo.lo, hi.hi - 1, dtype)
        is_below = math.isfinite(hi.hi) and _stays_below(lo.lo, hi.hi, dtype, missing)
        return _result(lo.lo, below(hi.hi, dtype) if is_below else hi.hi, dtype)

    return give


def _stays_below(lo: float, hi: float, dtype: str | None, missing: float) -> bool:
    """Whether lo + u * (hi - lo) never rounds up to hi."""
    eps = t.limits_of(dtype).eps
    if 0 <= lo <= abs(hi) * eps / 8:
        return True  # lo is lost beside hi, and u * hi is below hi
    # Three roundings add half a spacing of the numbers below hi each.
    spacing = math.ldexp(eps, math.frexp(hi)[1] - 1 - (math.frexp(hi)[0] == 0.5))
    return 0 < lo < hi and (hi - lo) * eps * missing > 1.5 * spacing


def _normal(mean: str, deviation: str, default: str | None = "float32"):
    """Any number is possible; a deviation of 0 gives the mean."""

    def give(site: Site) -> Value:
        center, width = _given(site, mean, 0.0), _given(site, deviation, 1.0)
        dtype = _dtype(site, default)
        if width.lo == width.hi == 0:
            return _result(t.rounded(center.lo, dtype), t.rounded(center.hi, dtype), dtype)
        return Value(dtype=dtype, evident=True)

    return give


def _truncated(mean: str, deviation: str):
    """Within two standard deviations of the mean."""

    def give(site: Site) -> Value:
        reach = t.multiply(_given(site, deviation, 1.0), Value(-2.0, 2.0))
        result = t.add(_given(site, mean, 0.0), reach)
        lo, hi = t.outward(result.lo, result.hi, _dtype(site), 8)
        return Value(lo, hi, dtype=_dtype(site), evident=result.evident)

    return give


def _integers(low: str, high: str):
    def give(site: Site) -> Value:
        lo, hi = _given(site, low, 0.0), site.value(high)
        if not site.given(high) or hi.kind == "none":
            lo, hi = t.number(0.0), lo
        return _result(
            lo.lo,
            hi.hi - 1,
            _dtype(site, "int64" if site.name.startswith(("np.", "tnp.")) else "int32"),
        )

    return give


_NONNEGATIVE: Final = t.ranged(0.0, INF)


def _shuffled(site: Site) -> Value:
    return t.passes(site.op.params[0])(site)


op(
    "tf.random.uniform",
    "tf.random_uniform raw.RandomUniform",
    "shape minval maxval dtype seed name",
    _uniform("minval", "maxval"),
    untested="random; test_random_sources draws from it",
    shaped_by="shape",
    **RANDOM,
)
op(
    "tf.random.stateless_uniform",
    "",
    "shape seed minval maxval dtype name alg",
    _uniform("minval", "maxval"),
    untested="random; test_random_sources draws from it",
    **RANDOM,
)
op(
    "K.random_uniform",
    "keras.random.uniform",
    "shape minval maxval dtype seed",
    _uniform("minval", "maxval"),
    untested="random; test_random_sources draws from it",
    floatx=True,
    **RANDOM,
)
op(
    "tf.random.normal",
    "tf.random_normal raw.RandomStandardNormal",
    "shape mean stddev dtype seed name",
    _normal("mean", "stddev"),
    untested="random; test_random_sources draws from it",
    shaped_by="shape",
    **RANDOM,
)
op(
    "tf.random.stateless_normal",
    "",
    "shape seed mean stddev dtype name alg",
    _normal("mean", "stddev"),
    untested="random; test_random_sources draws from it",
    **RANDOM,
)
op(
    "K.random_normal",
    "keras.random.normal",
    "shape mean stddev dtype seed",
    _normal("mean", "stddev"),
    untested="random; test_random_sources draws from it",
    floatx=True,
    **RANDOM,
)
op(
    "tf.random.truncated_normal",
    "tf.truncated_normal raw.TruncatedNormal",
    "shape mean stddev dtype seed name",
    _truncated("mean", "stddev"),
    untested="random; test_random_sources draws from it",
    **RANDOM,
)
op(
    "tf.random.stateless_truncated_normal",
    "",
    "shape seed mean stddev dtype name alg",
    _truncated("mean", "stddev"),
    untested="random; test_random_sources draws from it",
    **RANDOM,
)
op(
    "K.truncated_normal",
    "keras.random.truncated_normal",
    "shape mean stddev dtype seed",
    _truncated("mean", "stddev"),
    untested="random; test_random_sources draws from it",
    floatx=True,
    **RANDOM,
)
op(
    "tf.random.gamma",
    "tf.random_gamma tf.random.stateless_gamma keras.random.gamma",
    "shape alpha beta dtype seed name",
    _NONNEGATIVE,
    untested="random; small shapes underflow to 0",
    **RANDOM,
)
op(
    "tf.random.poisson",
    "tf.random_poisson tf.random.stateless_poisson",
    "shape lam dtype seed name",
    _NONNEGATIVE,
    untested="random; 0 occurs",
    **RANDOM,
)
op(
    "tf.random.categorical",
    "tf.multinomial tf.random.multinomial tf.random.stateless_categorical keras.random.categorical",
    "logits num_samples dtype seed name",
    lambda site: Value(
        0.0, INF, dtype="int32" if site.name.startswith("keras.") else _dtype(site, "int64")
    ),
    untested="random indices",
    pure=False,
    main="logits",
)
op(
    "keras.random.shuffle",
    "tf.random.experimental.stateless_shuffle",
    "x seed name",
    _shuffled,
    untested="a permutation",
    pure=False,
    passes="x",
)
op(
    "K.random_bernoulli",
    "K.random_binomial keras.random.binomial",
    "shape p dtype seed",
    _NONNEGATIVE,
    untested="random; 0 occurs",
    **RANDOM,
)
op(
    "keras.random.randint",
    "",
    "shape minval maxval dtype seed",
    _integers("minval", "maxval"),
    untested="random",
    **RANDOM,
)
op(
    "keras.random.beta",
    "",
    "shape alpha beta",
    t.ranged(0.0, 1.0),
    untested="random",
    **RANDOM,
)
op(
    "tf.random.log_uniform_candidate_sampler",
    "tf.random.uniform_candidate_sampler tf.nn.log_uniform_candidate_sampler "
    "tf.nn.uniform_candidate_sampler",
    "true_classes *rest",
    t.anything,
    untested="returns a triple",
    **RANDOM,
)
op(
    "tf.random.set_seed",
    "tf.set_random_seed keras.utils.set_random_seed np.random.seed",
    "seed",
    lambda site: t.number(None),
    untested="not a number",
    **RANDOM,
)

# NumPy draws in float64

op(
    "np.random.rand",
    "np.random.random np.random.random_sample np.random.ranf np.random.sample tnp.random.rand "
    "tnp.random.random",
    "*shape",
    lambda site: _result(0.0, below(1.0, "float64"), "float64", kind="array"),
    untested="NumPy; test_random_sources draws from it",
    **RANDOM,
)
op(
    "np.random.uniform",
    "tnp.random.uniform",
    "low high size",
    _uniform("low", "high", "float64", missing=0.5),
    untested="NumPy; test_random_sources draws from it",
    **RANDOM,
)
op(
    "np.random.randn",
    "np.random.standard_normal tnp.random.randn tnp.random.standard_normal np.random.standard_t "
    "np.random.standard_cauchy np.random.laplace np.random.logistic np.random.gumbel",
    "*shape",
    lambda site: Value(dtype="float64", kind="array", evident=True),
    untested="NumPy; unbounded",
    **RANDOM,
)
op(
    "np.random.normal",
    "",
    "loc scale size",
    _normal("loc", "scale", "float64"),
    untested="NumPy; unbounded",
    **RANDOM,
)
op(
    "np.random.randint",
    "np.random.random_integers tnp.random.randint",
    "low high size dtype",
    _integers("low", "high"),
    untested="NumPy; test_random_sources draws from it",
    **RANDOM,
)
op(
    "np.random.choice",
    "",
    "x size replace p",
    lambda site: Value(0.0, INF) if site.value("x").kind == "number" else t.passes("x")(site),
    untested="NumPy; a choice of elements",
    pure=False,
)
op(
    "np.random.permutation",
    "",
    "x",
    lambda site: (
        Value(0.0, site.value("x").hi) if site.value("x").kind == "number" else t.passes("x")(site)
    ),
    untested="NumPy; a permutation",
    pure=False,
)
op(
    "np.random.shuffle",
    "",
    "x",
    lambda site: t.number(None),
    untested="NumPy; in place",
    pure=False,
)
op(
    "np.random.exponential",
    "np.random.gamma np.random.chisquare np.random.poisson np.random.binomial np.random.geometric"
    " np.random.rayleigh np.random.weibull np.random.lognormal np.random.pareto"
    " np.random.standard_exponential np.random.standard_gamma tnp.random.poisson",
    "*params",
    lambda site: Value(0.0, INF, kind="array"),
    untested="NumPy; 0 occurs",
    **RANDOM,
)
op(
    "np.random.beta",
    "np.random.dirichlet",
    "a b size",
    lambda site: Value(0.0, 1.0, kind="array"),
    untested="NumPy",
    **RANDOM,
)
op(
    "np.random.RandomState",
    "np.random.default_rng np.random.Generator",
    "seed",
    lambda site: Value(kind="module", obj=Namespace("np.random")),
    untested="not a number: its methods draw as the functions of NumPy do",
    **RANDOM,
)
op(
    "tf.random.Generator.from_seed",
    "tf.random.Generator tf.random.Generator.from_state tf.random.get_global_generator"
    " tf.random.Generator.from_non_deterministic_state tf.random.Generator.from_key_counter",
    "seed",
    lambda site: Value(kind="module", obj=Namespace("tf.random")),
    untested="not a number: its methods draw as the functions of TensorFlow do",
    **RANDOM,
)
op(
    "method.randn",
    "method.standard_normal",
    "self *shape size",
    lambda site: Value(evident=True),
    main="",
    untested="draws of a generator: any number",
    pure=False,
)
