"""Losses and metrics: functions and classes of Keras, tf.losses of TensorFlow 1, and the backend's
cross-entropies.
"""

from __future__ import annotations

from typing import Callable, Final

from tfnanlint.ops.models.variables import CallableObject
from tfnanlint.ops.relations.outputs import ending
from tfnanlint.ops.site import Site, made_by
from tfnanlint.ops.table import op
from tfnanlint.ops.transfer import core as t
from tfnanlint.values.value import INF, Value, outward, unknown

TESTED: Final = "takes labels and predictions; tests/ops/models/test_layers.py executes it"

# From the site (of the function, or of the class that was made), labels and predictions to the
# loss.
Range = Callable[[Site, Value, Value], Value]


def _within(lo: float, hi: float, y: Value, p: Value, inf: bool = False) -> Value:
    """A loss between bounds, which NaN and Inf of labels and predictions reach; the mean of none is
    NaN.
    """
    return Value(
        lo,
        hi,
        nan=y.nan or p.nan or y.inf or p.inf or y.emptied or p.emptied,
        inf=inf or y.inf or p.inf,
    )


def _at_least(lo: float) -> Range:
    return lambda site, y, p: _within(lo, INF, y, p)


def _anything(site: Site, y: Value, p: Value) -> Value:
    return _within(-INF, INF, y, p)


def _mean_of(element: Callable[[Value], Value]) -> Range:
    """The mean of a function of the difference: within its bounds, up to rounding; 0 when all
    elements are.
    """

    def give(site: Site, y: Value, p: Value) -> Value:
        each = element(t.subtract(y, p))
        lo, hi = outward(each.lo, each.hi, "float32", 1024)
        return Value(
            max(lo, 0.0),
            hi,
            each.zero,
            nan=each.nan or each.inf or y.emptied or p.emptied,
            inf=each.inf,
        )

    return give


def _crossentropy(site: Site, y: Value, p: Value) -> Value:
    """At least 0 for labels in [0, 1]; predictions are clipped, so it is finite. Other labels give
    anything.

    Rounding in the clip and in normalising can take the loss just below 0.
    """
    if y.known and (y.lo < 0 or y.hi > 1):
        return _anything(site, y, p)
    return _within(0.0, INF, y, p)


def _categorical(site: Site, y: Value, p: Value) -> Value:
    """Predictions are divided by their sum: a row of zeros is NaN, unless a softmax made them or
    they are logits.
    """
    loss = _crossentropy(site, y, p)
    shares = ending(p)
    softmax = (
        made_by(p, "tf.nn.softmax") or shares is not None and shares.op.name == "tf.nn.softmax"
    )
    if (
        p.lo <= 0 <= p.hi
        and p.zero
        and not softmax
        and site.const("from_logits", False) is not True
    ):
        loss.nan = True
    return loss


def _poisson(site: Site, y: Value, p: Value) -> Value:
    """p - y * log(p + 1e-7): NaN for negative predictions."""
    loss = _anything(site, y, p)
    loss.nan = loss.nan or p.lo < 0
    return loss


def _cosine(site: Site, y: Value, p: Value) -> Value:
    return _within(-1.00001, 1.00001, y, p)


# Keras: function, class, what they give. The class averages the function over the batch.


def _loss(function: str, cls: str, give: Range, params: str = "", untested: str = TESTED) -> None:
    """Rows for a loss function with its old spellings, and for the class of the same loss."""
    first, *rest = function.split()
    aliases = [
        f"keras.{module}.{name}"
        for name in (first, *rest)
        for module in ("losses", "metrics", "objectives")
    ]
    op(
        aliases[0],
        " ".join(aliases[1:]),
        f"y_true y_pred {params}",
        lambda site: give(site, t.one_of(site.value("y_true")), t.one_of(site.value("y_pred"))),
        main="y_pred",
        untested=untested,
    )
    if cls:
        name = f"keras.losses.{cls}"
        op(
            name,
            f"tf.losses.{cls}",
            f"{params} reduction name dtype",
            lambda site: Value(kind="loss", obj=CallableObject(name, site, _of_pair(site, give))),
            main="",
            untested=untested,
        )


def _of_pair(site: Site, give: Range) -> Callable[[Value, Site], Value]:
    """A loss object is called with a sequence of labels and predictions; of anything else nothing
    is known.
    """

    def out(x: Value, call: Site) -> Value:
        pair = x.obj if isinstance(x.obj, tuple) and len(x.obj) >= 2 else (unknown(), unknown())
        loss = give(site, t.one_of(pair[0]), t.one_of(pair[1]))
        return _added_up(loss) if site.given("reduction") else loss

    return out


def _added_up(loss: Value) -> Value:
    """A sum over the batch, or a weighted mean, has the sign of its parts."""
    return Value(
        0.0 if loss.lo >= 0 else -INF,
        INF if loss.hi > 0 else 0.0,
        loss.zero,
        nan=loss.nan,
        inf=loss.inf,
    )


_loss("mean_squared_error mse MSE", "MeanSquaredError", _mean_of(t.square))
_loss("mean_absolute_error mae MAE", "MeanAbsoluteError", _mean_of(t.absolute))
_loss("mean_absolute_percentage_error mape MAPE", "MeanAbsolutePercentageError", _at_least(0.0))
_loss("mean_squared_logarithmic_error msle MSLE", "MeanSquaredLogarithmicError", _at_least(0.0))
_loss(
    "binary_crossentropy", "BinaryCrossentropy", _crossentropy, "from_logits label_smoothing axis"
)
_loss(
    "binary_focal_crossentropy",
    "BinaryFocalCrossentropy",
    _crossentropy,
    "apply_class_balancing alpha gamma from_logits label_smoothing axis",
)
_loss(
    "categorical_crossentropy",
    "CategoricalCrossentropy",
    _categorical,
    "from_logits label_smoothing axis",
)
_loss(
    "categorical_focal_crossentropy",
    "CategoricalFocalCrossentropy",
    _categorical,
    "alpha gamma from_logits label_smoothing axis",
)
_loss(
    "sparse_categorical_crossentropy",
    "SparseCategoricalCrossentropy",
    lambda site, y, p: _within(0.0, INF, y, p),
    "from_logits ignore_class axis",
)
_loss("kl_divergence kullback_leibler_divergence kld KLD kldivergence", "KLDivergence", _anything)
_loss("poisson", "Poisson", _poisson)
_loss("hinge", "Hinge", _at_least(0.0))
_loss("squared_hinge", "SquaredHinge", _at_least(0.0))
_loss("categorical_hinge", "CategoricalHinge", _at_least(0.0))
_loss("huber", "Huber", _at_least(0.0), "delta")
# x + softplus(-2 x) - log(2): the rounding of log(2) is left
_loss("log_cosh logcosh", "LogCosh", _at_least(-1e-6))
_loss("cosine_similarity", "CosineSimilarity", _cosine, "axis")
_loss("dice", "Dice", _anything, "axis")
_loss("tversky", "Tversky", _anything, "alpha beta axis")
_loss(
    "ctc",
    "CTC",
    lambda site, y, p: _within(0.0, INF, y, p, inf=True),
    untested="Inf for labels longer than the output (facts: A.ctc_loss)",
)
op(
    "keras.losses.cosine_proximity",
    "keras.metrics.cosine_proximity keras.losses.cosine",
    "y_true y_pred",
    lambda site: _cosine(site, site.value("y_true"), site.value("y_pred")),
    main="y_pred",
    untested="Keras 2 only",
)


# Keras backend and keras.ops: predictions are probabilities unless from_logits


def _backend(name: str, aliases: str, params: str, give: Range, first: str, second: str) -> None:
    op(
        name,
        aliases,
        params,
        lambda site: give(site, t.one_of(site.value(first)), t.one_of(site.value(second))),
        main=second,
        untested=TESTED,
    )


_backend(
    "K.binary_crossentropy",
    "ops.binary_crossentropy",
    "target output from_logits",
    _crossentropy,
    "target",
    "output",
)
_backend(
    "K.categorical_crossentropy",
    "ops.categorical_crossentropy",
    "target output from_logits axis",
    _categorical,
    "target",
    "output",
)
_backend(
    "K.sparse_categorical_crossentropy",
    "ops.sparse_categorical_crossentropy",
    "target output from_logits axis",
    _at_least(0.0),
    "target",
    "output",
)


# TensorFlow 1: averaged, with weights that may be negative only by mistake


def _weighted(give: Range) -> Callable[[Site], Value]:
    def result(site: Site) -> Value:
        loss = give(
            site,
            site.value("labels"),
            site.value("predictions" if site.given("predictions") else "logits"),
        )
        return _added_up(loss) if site.given("weights") or site.given("reduction") else loss

    return result


_TF1: Final = {
    "mean_squared_error": _mean_of(t.square),
    "absolute_difference": _mean_of(t.absolute),
    "huber_loss": _at_least(0.0),
    "hinge_loss": _at_least(0.0),
    "mean_pairwise_squared_error": _at_least(0.0),
    "cosine_distance": _anything,
}


def _exchanged(name: str, params: str) -> dict[str, tuple[str, ...]]:
    """The parameter order of the two older spellings of a loss: predictions go first there."""
    return {f"{library}.losses.{name}": tuple(params.split()) for library in ("slim", "tf.contrib")}


for _name, _give in _TF1.items():
    op(
        f"tf.losses.{_name}",
        f"slim.losses.{_name} tf.contrib.losses.{_name}",
        "labels predictions weights scope loss_collection reduction",
        _weighted(_give),
        main="predictions",
        untested="TensorFlow 1 only; tests/ops/models/test_layers.py executes it in a graph",
        positions=_exchanged(
            _name,
            (
                "predictions labels axis weights scope"
                if _name == "cosine_distance"
                else (
                    "predictions labels scope"
                    if _name == "hinge_loss"
                    else "predictions labels weights scope"
                )
            ),
        ),
    )
op(
    "tf.losses.log_loss",
    "slim.losses.log_loss tf.contrib.losses.log_loss",
    "labels predictions weights epsilon scope",
    _weighted(_anything),
    main="predictions",
    positions=_exchanged("log_loss", "predictions labels weights epsilon scope"),
    untested="TensorFlow 1 only: not clipped, predictions outside [0, 1] give NaN",
)
_TF1_LOGITS: Final = {
    "softmax_cross_entropy": "onehot_labels logits weights label_smoothing",
    "sigmoid_cross_entropy": "multi_class_labels logits weights",
    "sparse_softmax_cross_entropy": "labels logits weights",
}
for _name, _params in _TF1_LOGITS.items():
    op(
        f"tf.losses.{_name}",
        f"slim.losses.{_name} tf.contrib.losses.{_name}",
        _params + " scope",
        lambda site: _at_least(0.0)(site, unknown(), t.one_of(site.value("logits"))),
        main="logits",
        positions=_exchanged(
            _name, " ".join(["logits", _params.split()[0], *_params.split()[2:], "scope"])
        ),
        untested="TensorFlow 1 only; the tf.nn op is tested",
    )
op(
    "tf.losses.get_total_loss",
    "tf.losses.get_regularization_loss tf.losses.get_losses "
    "tf.losses.compute_weighted_loss tf.losses.add_loss slim.losses.get_total_loss "
    "slim.losses.get_regularization_losses tf.losses.get_regularization_losses",
    "losses weights",
    lambda site: unknown("tensor"),
    untested="sums what was collected",
    pure=False,
)


# Metrics

_METRICS: Final = (
    "Mean Sum MeanTensor Accuracy BinaryAccuracy CategoricalAccuracy SparseCategoricalAccuracy"
    " TopKCategoricalAccuracy SparseTopKCategoricalAccuracy AUC Precision Recall TruePositives"
    " TrueNegatives FalsePositives FalseNegatives MeanIoU IoU BinaryIoU OneHotIoU OneHotMeanIoU"
    " F1Score FBetaScore R2Score RootMeanSquaredError MeanSquaredError MeanAbsoluteError"
    " MeanAbsolutePercentageError MeanSquaredLogarithmicError BinaryCrossentropy"
    " CategoricalCrossentropy SparseCategoricalCrossentropy KLDivergence Poisson LogCoshError"
    " CosineSimilarity Hinge SquaredHinge CategoricalHinge MeanRelativeError"
    " SensitivityAtSpecificity SpecificityAtSensitivity PrecisionAtRecall RecallAtPrecision"
)
for _name in _METRICS.split():
    op(
        f"keras.metrics.{_name}",
        f"tf.metrics.{_name}",
        "name dtype",
        lambda site: Value(kind="metric"),
        main="",
        untested="not a number",
    )
op(
    "keras.metrics.categorical_accuracy",
    "keras.metrics.sparse_categorical_accuracy keras.metrics.binary_accuracy"
    " keras.metrics.top_k_categorical_accuracy keras.metrics.sparse_top_k_categorical_accuracy"
    " tf.metrics.accuracy tf.metrics.mean_iou tf.contrib.metrics.accuracy",
    "y_true y_pred",
    lambda site: Value(0.0, 1.0),
    main="y_pred",
    untested="a metric; tests/ops/models/test_layers.py executes it",
)
op(
    "tf.metrics.mean",
    "tf.metrics.mean_squared_error tf.metrics.auc tf.metrics.recall tf.metrics.precision "
    "tf.metrics.mean_absolute_error tf.metrics.root_mean_squared_error",
    "values weights",
    lambda site: Value(kind="sequence", obj=(unknown("tensor"), unknown("tensor"))),
    untested="TensorFlow 1 only: a value and its update",
    pure=False,
)
op(
    "method.result",
    "",
    "self",
    lambda site: unknown("tensor"),
    untested="a metric's running value",
    pure=False,
)
