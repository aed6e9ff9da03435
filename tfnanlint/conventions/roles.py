"""What the name of a function or class says of its part in training."""

from __future__ import annotations

import re
from typing import Final

# What is measured or prepared and not trained. Metrics go by the name of precision, and so do the
# dtypes of a program (`mixed_precision.py`).
_MEASURED: Final = (
    r"(?:^|_)(?:metrics?|accuracy|(?<!mixed_)(?<!half_)(?<!single_)(?<!double_)(?<!full_)(?<!low_)"
    r"(?<!float_)(?<!numeric_)(?<!numerical_)precision(?!_(?:policy|plugin|scope|utils?|training))|"
    r"recall|f1|fbeta|auc|summary|summaries|eval|evaluation|"
    r"schedules?|learning_rate|(?<!weight_)decay|configure|"
    r"(?:calculate|compute|get)?fid|frechet\w*|inception_score|stats?|statistics|diagnostics?|monitor(?:ing)?|initializers?|preprocess(?:ing|or)?|"
    r"augment(?:ation)?)(?:_|$)"
)
_LOSS: Final = (
    r"(?!_*(?:save|print|plot|report|record|write|show|track|get|check|val|valid|validation|eval|"
    r"evaluation|test)_)(?:\w*_)?(?:loss(?:es)?|elbo)(?:_\w+)?"
)
_PENALTY: Final = r"(?:^|_)penalty(?:_|$)"
_ON_GRADIENTS: Final = (
    r"(?!.*(?:penalty|loss))_*(?:clip|process|compute|apply|aggregate|accumulate|scale|transform)_"
    r"(?:\w+_)?grad(?:ient)?s?(?:_\w+)?"
)
_PREPARATION: Final = r"_*(?:init|build|reset|setup)"
_INITIALIZATION: Final = r"(?:^|_)init(?:i?ali[sz]e)?(?:_|$)"
_TRAINING_STEP: Final = (
    r"gradients?|jacobian|batch_jacobian|"
    r"(?!update_state$)(?:\w*_)?(?:grad|gradients|train|training|optimi[sz]e(?:rs?)?|minimi[sz]e|updates?)(?:_\w+)?"
)
_TAKES_GRADIENTS: Final = (
    r"\b(?!stop_gradients?\b)(?:\w*(?:[Gg]radient|[Jj]acobian|[Hh]essian|[Mm]inimi[sz]e|"
    r"[Ee]stimator|MonteCarlo|Langevin|NoUTurn|ForwardAccumulator|train_op)\w*|"
    r"fit(?:_\w+)?|\w+_fit|train_on_batch|add_loss|get_updates|optimize_loss|apply_optimizer|Experiment|"
    r"make_train_function|train|train_and_evaluate|Keras(?:Classifier|Regressor)|cross_val\w*|"
    r"validation_curve|learning_curve|RFE\w*|DNN\w+|Linear(?:Classifier|Regressor))\b"
)
# Methods that the frameworks call apart from training, and names that programs give such methods.
_EVALUATION_METHODS: Final = frozenset(
    "inference infer test_step predict_step update_state result on_epoch_end on_batch_end "
    "get_config evaluate summary generate_step call_with_cache build_cache _build_cache".split()
)
_UNTRAINED_CLASSES: Final = (
    "Optimizer",
    "OptimizerV1",
    "OptimizerV2",
    "Constraint",
    "Initializer",
    "Callback",
    "Metric",
    "Schedule",
    "PreprocessingLayer",
    "AugmentationLayer",
    "Preprocessor",
    "PreprocessorMixin",
    "ImageProcessor",
    "Tokenizer",
    "Converter",
)
_WEIGHTED_LAYERS: Final = (
    "Dense",
    "Embedding",
    "LSTM",
    "GRU",
    "SimpleRNN",
    "Bidirectional",
    "Attention",
    "Normalization",
)
_LAYERS_OVER_POSITIONS: Final = frozenset("Conv1D Conv2D Conv3D Conv2DTranspose LSTM GRU".split())
_SHOWING: Final = frozenset(
    "print log logging info debug warning summary summaries scalar histogram image text collect "
    "report record plot show".split()
)
_ASSERTS_POSITIVE: Final = (
    r"_*assert_(?:all_)?"
    r"(?:positive|greater|greater_equal|above|strictly_\w+|none_equal|nonzero|non_zero)"
)
_ASSERTS_GREATER: Final = r"_*assert_greater(_equal)?"
_ASSERTS_ORDER: Final = r"_*assert_(?:less|greater)"
_PICTURING: Final = r"(?:^|_)(?:visuali[sz]e|plot)(?:_|$)"
_CHECK: Final = r"_*(?:maybe_)?(?:assert|assertions|check|validate|ensure)(?:_\w+)?"
_FAILURE_EXPECTED: Final = r"(?i)raises|assertRaises|expect|warns"


def is_measured(name: str) -> bool:
    """Whether a function or file measures or prepares, and is not trained: `accuracy_stats`; not
    `mixed_precision`.
    """
    return re.search(_MEASURED, name.lower()) is not None


def names_loss(name: str) -> bool:
    """Whether a name speaks of a loss anywhere: `lossy_metric` too."""
    return "loss" in name


def is_loss(name: str) -> bool:
    """Whether a function of this name is trained by: `dice_loss`, `elbo`; not `save_loss`."""
    return re.fullmatch(_LOSS, name) is not None


def is_penalty(name: str) -> bool:
    """Whether a function of this name is a penalty on gradients: `gradient_penalty`."""
    return re.search(_PENALTY, name) is not None


def works_on_gradients(name: str) -> bool:
    """Whether a function of this name is given gradients: `clip_gradients`, `apply_grads`."""
    return re.fullmatch(_ON_GRADIENTS, name) is not None


def prepares(name: str) -> bool:
    """Whether a method of a model of this name runs before training: `__init__`, `build`."""
    return re.match(_PREPARATION, name) is not None


def initializes(name: str) -> bool:
    """Whether a function of this name computes initial values: `init_weights`, `initialize`."""
    return re.search(_INITIALIZATION, name) is not None and name != "__init__"


def takes_training_step(name: str) -> bool:
    """Whether a function of this name may take a gradient of what it is given: `train_on`."""
    return re.fullmatch(_TRAINING_STEP, name) is not None


def takers_of_gradients(text: str) -> set[str]:
    """The names in a text that may take a gradient, or train what they are given: `minimize`,
    `GradientTape`, `fit_generator`; not `stop_gradient`.
    """
    return set(re.findall(_TAKES_GRADIENTS, text))


def makes_object(name: str) -> bool:
    """Whether a callee of this name is a class, of which an object may train: `Trainer`."""
    return name[:1].isupper()


def is_evaluation_method(name: str) -> bool:
    """Whether a method of this name runs apart from training: `test_step`, `infer`."""
    return name in _EVALUATION_METHODS


def is_untrained_class(name: str) -> bool:
    """Whether a class of this name is not trained through: `WarmupSchedule`, `BPETokenizer`."""
    return name.endswith(_UNTRAINED_CLASSES)


def is_weighted_layer(name: str) -> bool:
    """Whether a layer class of this name has weights: `Dense`, `MultiHeadAttention`."""
    return name.endswith(_WEIGHTED_LAYERS)


def goes_over_positions(layer: str) -> bool:
    """Whether a layer class of this name sees many positions of one sample: `Conv2D`, `LSTM`."""
    return layer in _LAYERS_OVER_POSITIONS


def is_kind(kind: str, name: str) -> bool:
    """Whether a class says by its name that it is an "optimizer", a "schedule" or a "metric"."""
    return kind in name.lower()


def is_summary(text: str) -> bool:
    """Whether a statement or name is for summaries: `summary_loss`, `tf.summary.scalar(...)`."""
    return "summar" in text.lower()


def shows(name: str) -> bool:
    """Whether a function of this name shows what it is given: `log_norm`, `plot`."""
    return not _SHOWING.isdisjoint(name.lower().split("_"))


def asserts_positive(name: str) -> bool:
    """Whether a function of this name fails for 0: `assert_positive`, `_assert_above`."""
    return re.fullmatch(_ASSERTS_POSITIVE, name) is not None


def asserts_greater(name: str) -> str | None:
    """What a function asserts by its name of its first argument and its second: ">" or ">="; None
    where it is no such function.
    """
    match = re.fullmatch(_ASSERTS_GREATER, name)
    return None if match is None else ">=" if match[1] else ">"


def asserts_order(name: str) -> bool:
    """Whether a function of this name asserts which of two numbers is less."""
    return re.fullmatch(_ASSERTS_ORDER, name) is not None


def checks(name: str) -> bool:
    """Whether a function of this name checks what it is given: `validate_args`, `_maybe_assert`."""
    return re.fullmatch(_CHECK, name) is not None


def is_assertion(name: str) -> bool:
    """Whether a function's name begins with "assert": no gradient is taken through it."""
    return name.startswith("assert")


def makes_picture(name: str) -> bool:
    """Whether a function of this name makes a picture: `plot_history`, `visualize_samples`."""
    return re.search(_PICTURING, name) is not None


def compares_results(name: str, function: str) -> bool:
    """Whether a function of this name compares the results of another one with right ones:
    `utils.test_my_rmse(my_rmse)`.
    """
    return name == f"test_{function}"


def expects_failure(text: str) -> bool:
    """Whether a context expects an error: `pytest.raises(...)`, `self.assertRaises(...)`."""
    return re.search(_FAILURE_EXPECTED, text) is not None


def registers(name: str) -> bool:
    """Whether a decorator of this name enters a function in a registry: `register_layer`."""
    return name.startswith("register")
