"""A check for NaN in code that XLA compiles.

XLA has no op for `tf.debugging.check_numerics`: it drops the check and hands the tensor on. In a
function compiled with `jit_compile=True` the check never fires, and a NaN passes unnoticed. The
same holds in Keras models, which compile `fit` with XLA by themselves where a GPU is present.

Two related cases do not fail silently. With `tf.config.optimizer.set_jit(True)` the check stays
outside the compiled code and fires. The checks that `tf.debugging.enable_check_numerics()` inserts
cannot be compiled by XLA, which stops with "Detected unsupported operations".

See it:
    >>> def checked(p):
    ...     return tf.debugging.check_numerics(p, "p")
    >>> compiled = tf.function(checked, jit_compile=True, autograph=False)
    >>> float(compiled(tf.constant(float("nan"))))
    nan

Repair: compile without XLA while you look for the NaN | the check is dropped, and the NaN passes |
the program stops at the first NaN | the function is slower without XLA

Repair: return `tf.reduce_all(tf.math.is_finite(x))` and test it outside | the check is dropped, and
the NaN passes | the caller sees that a value is not finite | the function returns one value more

Bad:
    @tf.function(jit_compile=True)
    def loss_of(p):
        p = tf.debugging.check_numerics(p, "p")
        return -tf.reduce_mean(p)

Good:
    @tf.function
    def loss_of(p):
        p = tf.debugging.check_numerics(p, "p")
        return -tf.reduce_mean(p)

To hunt a NaN, compile without XLA (`jit_compile=False`). To keep XLA, return
`tf.reduce_all(tf.math.is_finite(x))` and look at it outside. There is no automatic fix, because
only you can decide whether to give up speed or the check.

See also: https://github.com/tensorflow/tensorflow/issues/118075,
https://www.tensorflow.org/api_docs/python/tf/debugging/check_numerics
"""

from __future__ import annotations

from typing import Any

from tfnanlint.api import Certainty, Context, Finding, Iterator, Site, ast, rule, texts


@rule("TFN902", "check-numerics-under-xla", on="tf.debugging.check_numerics")
def check(site: Site, here: Context) -> Iterator[Finding]:
    if compiled(site.point.scope.function if site.point is not None else None, here, set()):
        yield here.finding(
            site,
            None,
            "XLA drops this check: the function is compiled with jit_compile=True, so NaN "
            "passes undetected",
            Certainty.MUST,
            modes=("xla",),
            help="compile without XLA to find the NaN",
        )
    elif texts.compiles_model(here.source.code):
        yield here.finding(
            site,
            None,
            "XLA drops this check when it compiles the model (jit_compile=True in this file)",
            Certainty.MAY,
            modes=("xla",),
            help="compile without XLA to find the NaN",
        )


def compiled(function: Any, here: Context, seen: set) -> bool:
    """Whether a function of this file is compiled by XLA, by its decorator, by tf.function(f,
    jit_compile=True), or with a caller.
    """
    node, point = (function.node, function.point) if function is not None else (None, None)
    if (
        not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        or node in seen
        or len(seen) > 8
    ):
        return False
    seen.add(node)
    if any(isinstance(one, ast.Call) and jit(one, point, here) for one in node.decorator_list):
        return True
    for call, where in here.calls("function"):
        if (
            jit(call, where, here)
            and call.args
            and isinstance(call.args[0], ast.Name)
            and call.args[0].id == node.name
        ):
            return True
    callers = (point.scope.function for _, point in here.calls(node.name))
    return any(compiled(one, here, seen) for one in callers)


def jit(call: ast.Call, point: Any, here: Context) -> bool:
    return any(
        keyword.arg in ("jit_compile", "experimental_compile")
        and here.value(keyword.value, point).const is True
        for keyword in call.keywords
    )
