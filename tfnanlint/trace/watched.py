"""Runs a user's program with every operation of TensorFlow checked, in a process of its own.

    python -P -m tfnanlint.trace.watched REPORT [-m MODULE | SCRIPT] ARGS

Where the program meets NaN or Inf, the error is written to REPORT and the exit code is MET.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

MET = 97  # the exit code; no other use of it is known
_SIGN = "Detected Infinity or NaN"
_TALLEST = 300  # frames of a stack that are told
_OPTIMIZERS = (  # the modules that define `Optimizer`
    "keras.optimizers",
    "tf_keras.optimizers",
    "tf_keras.optimizers.legacy",
)


def run(words: list[str]) -> int:
    """Run a program; the exit code."""
    report, module, arguments = words[0], words[1] == "-m", words[1:]
    program = arguments[1] if module else arguments[0]
    sys.argv = arguments[1:] if module else arguments
    sys.path.insert(0, os.getcwd() if module else os.path.dirname(os.path.abspath(program)))
    import tensorflow as tf

    begin()
    try:
        if module:
            runpy.run_module(program, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(program, run_name="__main__")
    except tf.errors.InvalidArgumentError as error:
        text = "".join(traceback.format_exception(error))
        if _SIGN not in text:
            raise
        with open(report, "w", encoding="utf-8") as stream:
            json.dump({"text": text, "step": _step()}, stream)
        return MET
    return 0


def _spare_references() -> None:
    """Do not check what gives a reference, as variables do after `tf.disable_v2_behavior()`: the
    check would take its place, and is no variable.
    """
    from tensorflow.python.debug.lib.check_numerics_callback import CheckNumericsCallback
    from tensorflow.python.framework import op_callbacks

    for check in op_callbacks.context.context().op_callbacks:
        owner = getattr(check, "__self__", None)
        if not isinstance(owner, CheckNumericsCallback):
            continue

        def checked(op_type, inputs, attrs, outputs, op_name=None, graph=None, check=check):
            if any(getattr(one.dtype, "_is_ref_dtype", False) for one in outputs):
                return None
            return check(op_type, inputs, attrs, outputs, op_name=op_name, graph=graph)

        op_callbacks.remove_op_callback(check)
        # `tf.debugging.disable_check_numerics()` removes what the owner has
        owner.callback = checked
        op_callbacks.add_op_callback(owner.callback)


def _step() -> int | None:
    """The most steps that an optimizer of Keras has taken; None where there is none, and in graphs,
    where the count has no value that can be read.
    """
    import gc

    import tensorflow as tf

    modules = [sys.modules[name] for name in _OPTIMIZERS if name in sys.modules]
    kinds = tuple(module.Optimizer for module in modules)
    if not tf.executing_eagerly():
        return None
    counts = [int(each.iterations) for each in gc.get_objects() if issubclass(type(each), kinds)]
    return max(counts, default=None)


# Inside a process that another program runs


def begin() -> None:
    """Check every operation from now on."""
    import tensorflow as tf

    tf.debugging.enable_check_numerics(stack_height_limit=_TALLEST, path_length_limit=4096)
    _spare_references()


@contextmanager
def unchecked() -> Iterator[None]:
    """Check no operation for a while."""
    from tensorflow.python.framework import op_callbacks

    checks = list(op_callbacks.context.context().op_callbacks)
    for check in checks:
        op_callbacks.remove_op_callback(check)
    try:
        yield
    finally:
        for check in checks:
            op_callbacks.add_op_callback(check)


def text_of(error: BaseException) -> str:
    """The traceback of the error that a checked operation raised: an error itself, or what it was
    raised from; empty where there is none.
    """
    import tensorflow as tf

    cause: BaseException | None = error
    seen: set[int] = set()  # an error may be raised from itself
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        if isinstance(cause, tf.errors.InvalidArgumentError) and _SIGN in str(cause):
            return "".join(traceback.format_exception(cause))
        cause = cause.__cause__ or cause.__context__
    return ""


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
