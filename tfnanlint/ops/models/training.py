"""Keras training calls and the data sets that Keras contains: images, labels."""

from __future__ import annotations

from typing import Final

from tfnanlint.ops.frameworks import FALLING_RATES
from tfnanlint.ops.site import Site
from tfnanlint.ops.table import op
from tfnanlint.values.value import Value, number, unknown

DATA: Final = "data from outside: the range is that of the published data set"

op(
    "method.compile",
    "",
    "self optimizer loss metrics loss_weights weighted_metrics run_eagerly steps_per_execution"
    " jit_compile auto_scale_loss sample_weight_mode target_tensors",
    lambda site: number(None),
    untested="gives no value",
    pure=False,
)
op(
    "method.fit",
    "",
    "self x y batch_size epochs verbose callbacks validation_split validation_data shuffle"
    " class_weight sample_weight initial_epoch steps_per_epoch validation_steps"
    " validation_batch_size validation_freq",
    lambda site: unknown(),
    main="x",
    untested="trains a model",
    pure=False,
)
op(
    "method.train_on_batch",
    "",
    "self x y sample_weight class_weight reset_metrics return_dict",
    lambda site: unknown(),
    main="x",
    untested="trains a model",
    pure=False,
)


def _dataset(name: str, classes: int, highest: float, dtype: str = "uint8") -> None:
    """Two pairs of arrays: examples from 0 to `highest`, and labels from 0 to one less than
    `classes`.
    """

    def give(site: Site) -> Value:
        return Value(
            kind="sequence", obj=(_pair(classes, highest, dtype), _pair(classes, highest, dtype))
        )

    op(
        f"keras.datasets.{name}.load_data",
        "",
        "path num_words",
        give,
        main="",
        untested=DATA,
        pure=False,
    )


def _pair(classes: int, highest: float, dtype: str) -> Value:
    examples = Value(0.0, highest, True, kind="array", dtype=dtype) if highest else unknown("array")
    labels = Value(
        0.0, float(classes - 1), True, kind="array", dtype="uint8" if highest else "int64"
    )
    return Value(kind="sequence", obj=(examples, labels))


_dataset("mnist", 10, 255.0)
_dataset("fashion_mnist", 10, 255.0)
_dataset("cifar10", 10, 255.0)
_dataset("cifar100", 100, 255.0)
_dataset("imdb", 2, 0.0)
_dataset("reuters", 46, 0.0)


for _schedule in FALLING_RATES:
    op(
        _schedule,
        "",
        "initial_learning_rate decay_steps *rest decay_rate staircase name",
        lambda site: unknown(),
        main="",
        untested="a schedule of rates",
        pure=False,
    )


# Settings, and the debugger of TensorFlow 1

op(
    "K.set_floatx",
    "keras.config.set_floatx",
    "floatx",
    lambda site: number(None),
    main="",
    untested="a setting",
    pure=False,
)
op(
    "tf.debugging.enable_check_numerics",
    "",
    "stack_height_limit path_length_limit",
    lambda site: number(None),
    main="",
    untested="a setting",
    pure=False,
)
_CLI: Final = "tf.python.debug.LocalCLIDebugWrapperSession"
op(
    _CLI,
    " ".join(
        f"tf.python.debug.{name}"
        for name in (
            "wrappers.local_cli_wrapper.LocalCLIDebugWrapperSession",
            "DumpingDebugWrapperSession",
            "TensorBoardDebugWrapperSession",
            "GrpcDebugWrapperSession",
        )
    ),
    "sess *rest ui_type thread_name_filter dump_root log_usage session_root watch_fn"
    " grpc_debug_server_addresses",
    lambda site: unknown(),
    main="",
    untested="TensorFlow 1 only: a session",
    pure=False,
)
op(
    "tf.python.debug.LocalCLIDebugHook",
    "tf.python.debug.DumpingDebugHook tf.python.debug.TensorBoardDebugHook",
    "ui_type dump_root",
    lambda site: unknown(),
    main="",
    untested="TensorFlow 1 only: a hook of a session",
    pure=False,
)
op(
    "method.add_tensor_filter",
    "",
    "self filter_name tensor_filter",
    lambda site: number(None),
    untested="TensorFlow 1 only: a setting of a session",
    pure=False,
)


# Tables: what is read may have empty cells, which are NaN


def _table(site: Site) -> Value:
    return Value(kind="array", dtype="float64", nan=True)


def _parts(site: Site) -> Value:
    """Each array in two parts."""
    return Value(
        kind="sequence",
        obj=tuple(
            site.value(param).but()
            for param in ("first", "first", "second", "second")
            if site.given(param)
        ),
    )


op(
    "np.genfromtxt",
    "pandas.read_csv pandas.read_excel pandas.read_table pandas.read_json pandas.read_sql"
    " pandas.read_parquet pandas.read_hdf",
    "fname *rest delimiter",
    _table,
    main="",
    untested=DATA,
    pure=False,
)


def _moved(site: Site) -> Value:
    """A column beside itself some rows away: the first or last rows have no other, but for what is
    filled in.
    """
    if site.given("fill_value") or site.given("min_periods"):
        return unknown("array")
    return _table(site)


op(
    "method.pct_change",
    "method.shift method.rolling",
    "self periods freq axis fill_value min_periods",
    _moved,
    main="self",
    untested="a method of a table",
    pure=False,
)
op(
    "method.to_numpy",
    "method.pop method.reset_index method.drop",
    "self *rest columns axis dtype inplace",
    lambda site: (
        site.value("self").but(nan=True)
        if site.value("self").kind == "array" and site.value("self").nan
        else unknown()
    ),
    main="self",
    untested="a method of a table",
    pure=False,
)
op(
    "sklearn.model_selection.train_test_split",
    "",
    "first second test_size train_size random_state shuffle stratify",
    _parts,
    main="first",
    untested="parts of what it is given",
    pure=False,
)
