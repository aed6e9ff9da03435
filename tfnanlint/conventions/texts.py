"""What the words of a file say of the whole program, where no one call of it decides."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_MODEL_UNDER_XLA: Final = r"\.compile\([^#\n]*jit_compile\s*=\s*True"
_FIRST_VERSION: Final = (
    r"\btf\.(?:placeholder|get_variable|variable_scope|Session|contrib|log|to_float|to_int32|"
    r"is_nan|div|summary\.merge_all|app|flags|pack|unpack|initialize_all_variables|"
    r"global_variables_initializer|train\.\w+Optimizer)\b|\bshape(?:\(\))?\[-?\d+\]\.value\b"
)
_OLD_KERAS: Final = r"\b(?:lr|decay|nb_epoch|samples_per_epoch)\s*=|\bfit_generator\b"
_OLD_PYTHON: Final = (
    r"(?m)^from __future__ import[^\n]*\b(?:division|print_function|absolute_import)\b"
)
_SECOND_VERSION: Final = (
    r"\bcompat\b|\btf\.(?:function|GradientTape|Module|keras|data\.experimental|random\.\w+)\b|"
    r"\btensorflow\.keras\b|\btensorflow_(?:addons|probability)\b"
)
_AXIS: Final = r"(?:[A-Za-z_][\w.]*|\d+)"
_AXES: Final = rf"(?:-1|\?|\.\.\.|{_AXIS}(?:\s*\*\s*{_AXIS})*)"
_AXES_LISTED: Final = rf"\s*(?:{_AXES}\s*(?:,\s*{_AXES}\s*)*,?\s*)?"
_SHAPE: Final = rf"#\s*(?:\((?!\s*[A-Za-z_]\w*\s*\)){_AXES_LISTED}\)|\[{_AXES_LISTED}\])"
_LOGITS: Final = r"(?<!from_)logit"
_NETWORK: Final = (
    r"\b(?:Sequential|Model|Dense|Conv\dD\w*|LSTM|GRU|Embedding|dense|conv\dd|fully_connected|"
    r"matmul|fit)\b"
)
_NORMALIZATIONS: Final = ("BatchNormalization", "batch_norm", "LayerNormalization", "layer_norm")
_MISSING_DATA: Final = (
    r"dropna|fillna|is_?na|is_?null|not_?na|not_?null|nan_to_num|interpolate|Imputer|isfinite|"
    r"is_finite|nanmean|na_filter"
)
_NAN_TESTS: Final = r"is_?nan|nan_to_num|is_?finite"
_SCALED_LOSS: Final = (
    r"\b(?:get_scaled_loss|scale_loss|loss_scale|get_unscaled_gradients|"
    r"LossScaleOptimizer|enable_mixed_precision_graph_rewrite)\b"
)
_LARGE: Final = r"\d(?:[eE]\+?\d|(?<!\w\d)\d{4,})"
_NAMED_LARGE: Final = rf"(\w+)(?:\s*:\s*\w+)?\s*=\s*[-\d.]*{_LARGE}"
# but for the other dtypes of TensorFlow and NumPy
_DTYPE_GIVEN: Final = r"\bdtype['\"]?\s*[=:](?!=)\s*(?!(?:tf|np)\.(?!float16\b))"
_SINGULAR: Final = r"log|sqrt|/|divide|reciprocal|cos|sin|tanh|ndtri|erfinv|pow|\*\*"
_EMPTINESS: Final = r"size|shape|any|count|len|num|empty|sum|rank|> *0|>= *1|!= *0"
_DIVISION: Final = r"/|div"
_INVITATION: Final = r"#+\s*(?:change|replace|modify|todo|your code)\b"


def compiles_model(text: str) -> bool:
    """Whether a file asks for a model under XLA: `model.compile(..., jit_compile=True)`."""
    return re.search(_MODEL_UNDER_XLA, text) is not None


@lru_cache(maxsize=8)  # each rule that looks at a file asks
def is_first_version(text: str) -> bool:
    """Whether a file uses what TensorFlow 2 does not have: `tf.placeholder`, `tf.log`,
    `x.shape[0].value`.
    """
    return re.search(_FIRST_VERSION, text) is not None


def is_old_keras(text: str) -> bool:
    """Whether a file uses what Keras took until its losses became classes: `lr=`, `nb_epoch=`."""
    return re.search(_OLD_KERAS, text) is not None


def may_be_first_version(text: str) -> bool:
    """Whether a file that runs with Python 2, too, uses nothing that the later releases of
    TensorFlow 1 brought: it may be as old as the first.
    """
    old = re.search(_OLD_PYTHON, text) is not None
    return old and re.search(_SECOND_VERSION, text) is None


def speaks_of_logits(text: str) -> bool:
    """Whether the names in a file speak of logits, other than by `from_logits=`: it means its
    outputs to be such.
    """
    return re.search(_LOGITS, text, re.IGNORECASE) is not None


def tells_shape(comment: str) -> bool:
    """Whether a comment only says which shape a value has: `# (batch, 1)`, `# [2 * n, None]`; a
    word in parentheses is none.
    """
    return re.fullmatch(_SHAPE, comment.strip()) is not None


def trains_network(names: str) -> bool:
    """Whether a file of these names makes the weights of a network; those of an angle or a
    posterior bear longer steps.
    """
    return re.search(_NETWORK, names) is not None


def normalizes_layers(names: str) -> bool:
    """Whether a file of these names normalises a network between its layers."""
    return any(word in names for word in _NORMALIZATIONS)


def looks_for_missing_data(names: str) -> bool:
    """Whether code with these names looks for missing data: `dropna`, `isnull`, `SimpleImputer`."""
    return re.search(_MISSING_DATA, names) is not None


def tests_for_nan(names: str) -> bool:
    """Whether a file of these names asks for NaN in tensors or arrays: `tf.math.is_nan`."""
    return re.search(_NAN_TESTS, names) is not None


def scales_loss(text: str) -> bool:
    """Whether a file scales its loss by hand, or has it scaled: `get_scaled_loss`."""
    return re.search(_SCALED_LOSS, text) is not None


def asks_for_elements(test: str) -> bool:
    """Whether a test asks if there are elements: `tf.size(x) > 0`, `any(mask)`, `num`."""
    return re.search(_EMPTINESS, test) is not None


def may_divide(line: str) -> bool:
    """Whether a line may hold a division: `/`, `tf.divide`, `div_no_nan`."""
    return re.search(_DIVISION, line) is not None


def may_be_singular(line: str) -> bool:
    """Whether a line may hold what is infinite at 1 or -1, or has an infinite gradient there: a
    logarithm, a root, a quotient, an inverse function.
    """
    return re.search(_SINGULAR, line) is not None


def writes_large_number(line: str) -> bool:
    """Whether a line holds a number that float16 may be too small for: `1e5`, `65536`."""
    return re.search(_LARGE, line) is not None


def may_ask_for_half(text: str) -> bool:
    """Whether a file may ask for float16 by a keyword or key: `dtype="float16"`, `dtype=dtype`."""
    return re.search(_DTYPE_GIVEN, text) is not None


def names_of_large_numbers(line: str) -> list[str]:
    """The names that a line gives such a number: `NEG` of `NEG = -1e9`."""
    return re.findall(_NAMED_LARGE, line)


def invites_change(comment: str) -> bool:
    """Whether the comment behind a line asks its reader to edit it: `# change to l_2`."""
    return re.match(_INVITATION, comment.strip(), re.IGNORECASE) is not None
