"""What the name of a variable, a parameter or an attribute says of its value."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_EPSILON: Final = r"(?i)(?:.*_)?(?:eps|epsilon|jitter)_*\d*"
_EPSILON_PREFIX: Final = r"(?i)_*eps(?:ilon)?(?:_|$)"
# Names that a module gives to the constant which smooths its quotients, likeliest first.
SMOOTHING_NAMES: Final = ("smooth", "epsilon", "eps")
_COUNT: Final = r"_*(?:num|n|number)_(?:of_)?[a-z]\w*|\w*[a-z]_(?:size|dims?)"
_SCALE: Final = (
    r"(?i)_*(?:\w+_)?(?:scale|rate|sigma|std|stddev|lambd?a?|lam|concentration|"
    r"deg(?:rees)?_(?:of_)?free(?:dom)?|dof|df|mass|bandwidth)_*\d*"
)
_PROBABILITY: Final = (
    r"(?i)_*(?:\w+_)?(?:p|q|pt|pi|probs?|probabilit(?:y|ies)|preds?|predictions?|yhat|y_hat|"
    r"xhat|x_hat|softmax|sigmoid)_*\d*"
)
_PROBABILITY_ENDING: Final = r"(?i)_(?:probs?|probabilit(?:y|ies)|softmax|sigmoid)$"
_OWN_VERSION: Final = (
    r"(?i)_*(?:my|naive|manual|unstable|bad|broken)_(\w+)|(\w+)_(?:naive|manual|unstable)"
)
_SAFE: Final = r"(?:^|_)safe(?:_|$)"
_LABELS: Final = r"y_true|labels?|targets?|ground_?truth"
_TRUE: Final = (
    r"(?i)(?:^|_)(?:y_?true|true|truth|labels?|targets?|gt|ground_truth|y_train|y_test|onehot)"
    r"(?:$|_|\d)"
)
_PREDICTED: Final = (
    r"(?i)(?:^|_)(?:y_?pred|y_?hat|preds?|predictions?|predicted|logits?|probs?|probabilit(?:y|ies))"
    r"(?:$|_|\d)"
)
_LIKELIHOOD: Final = r"like|prob|log|elbo|reward|return"
_PADDING: Final = r"(?i)(?:^|_)(?:pad|padding|eos|eoq)(?:_|$|idx|id\b)"
_RETURN: Final = r"(?i)(?:\w*_)?(?:rewards?|returns?)(?:_\w+)?"
_SETTINGS: Final = (
    r"(?i)_*(?:\w*_)?(?:hparams|hps?|hyperparams|params|config|cfg|args|opts?|options|flags|"
    r"settings)_*"
)
_NUMBERS: Final = (
    r"(?i)(?:^|\.)_*(?:\w*_)?(?:hparams|hyperparams|configs?|cfg|flags|settings)_*(?:\[|\.|$)"
)
_RANDOM_INITIALIZER: Final = (
    r"(?i)glorot|xavier|he_|lecun|orthogonal|variance_?scaling|"
    r"(?:random|truncated)_?(?:normal|uniform)|^(?:normal|uniform)$|^He[NU]"
)
_KERNEL: Final = r"(?:(?:depthwise|pointwise|recurrent)_)?kernel"
_READING: Final = (
    r"(?i)(?:^|_)(?:load|read|fetch|download|open|flow|csv|imread|data|datasets?|mnist|cifar|corpus)"
    r"(?:_|\d|$)|_data|next_batch|genfromtxt|loadtxt|from_generator"
)
_COMPILER: Final = r"(?i)keras|jit_compile|experimental_compile|^xla$"
_LOSSES: Final = ("loss", "losses")
_TRAINING: Final = ("training", "is_training")
_SIZES: Final = frozenset("shape size shape_list get_shape_list dimension_size".split())


@lru_cache(maxsize=4096)
def is_epsilon(name: str) -> bool:
    """Whether a name is one of small positive numbers: `eps`, `self._epsilon`, `jitter_2`."""
    return re.fullmatch(_EPSILON, name) is not None


def begins_with_epsilon(name: str) -> bool:
    """Whether a summand of this name is there to keep a sum off 0: `EPS`, `eps_norm`, `epsilon`."""
    return re.match(_EPSILON_PREFIX, name) is not None


def is_count(name: str) -> bool:
    """Whether a name is one of numbers of things: `num_samples`, `batch_size`."""
    return re.fullmatch(_COUNT, name) is not None


def is_scale(name: str) -> bool:
    """Whether a name is one of parameters of a distribution: `scale`, `sigma`, `dof`."""
    return re.fullmatch(_SCALE, name) is not None


def is_probability(name: str) -> bool:
    """Whether a name is one of probabilities or predictions: `p`, `probs`, `y_hat`."""
    return re.fullmatch(_PROBABILITY, name) is not None


def without_probability(name: str) -> str:
    """What has the probabilities that a name stands for: `actor` of `actor_probs`; names without
    such an ending as they are.
    """
    return re.sub(_PROBABILITY_ENDING, "", name)


def own_version_of(name: str) -> str:
    """What a function writes out on purpose, by its name: `softplus` of `my_softplus`; empty for
    other names.
    """
    match = re.fullmatch(_OWN_VERSION, name)
    return next(filter(None, match.groups()), "") if match is not None else ""


def namesake_of(parameter: str) -> str:
    """The name at the top level of a file that a parameter of a function stands for, which nothing
    calls: `net` in `def step(net, x)` is `net = Sequential(...)`.
    """
    return parameter


def object_name(name: str) -> str:
    """What the name of a class and that of a parameter that is named for it have in common:
    `qnet` of `QNet` and of `q_net`.
    """
    return name.replace("_", "").lower()


def is_any_model(parameter: str) -> bool:
    """Whether a parameter is named for models in general."""
    return parameter == "model"


def says_safe(name: str) -> bool:
    """Whether a name says that its value has been made safe: `safe_norm`, `x_safe`."""
    return re.search(_SAFE, name) is not None


def is_return(path: str) -> bool:
    """Whether a name is one of rewards or of their sums: `rewards`, `discounted_returns`."""
    return re.fullmatch(_RETURN, path.rpartition(".")[2]) is not None


def names_mask(path: str) -> bool:
    """Whether a name or path is one of masks: `self.mask`, `target_mask`."""
    return "mask" in path.lower()


def names_padding(path: str) -> bool:
    """Whether a name or path is that of what fills up sequences: `self.pad_id`, `EOS`."""
    return re.search(_PADDING, path.rpartition(".")[2]) is not None


def names_weights(path: str) -> bool:
    """Whether a name or path is one of weights: `sample_weights`."""
    return "weight" in path.lower()


def says_maximum(name: str) -> bool:
    """Whether a name is one of the largest element: `x_max`, `maxima`, `m`, `mx`."""
    return "max" in name.lower() or name in ("m", "mx")


@lru_cache(maxsize=4096)
def is_label(name: str) -> bool:
    """Whether a parameter of this name takes the labels of a loss: `y_true`, `labels`, `target`."""
    return re.fullmatch(_LABELS, name) is not None


def is_label_beside_prediction(name: str) -> bool:
    """Whether a parameter of this name takes labels in a function that takes predictions: `y`."""
    return name == "y"


def is_prediction_parameter(name: str) -> bool:
    """Whether a function with a parameter of this name is given predictions: `y_pred`."""
    return name == "y_pred"


def says_true(text: str) -> bool:
    """Whether an argument is written with a word for labels: `y_true`, `gt_boxes`, `y_test`."""
    return re.search(_TRUE, text) is not None


def says_predicted(text: str) -> bool:
    """Whether an argument is written with a word for predictions: `y_pred`, `logits`, `probs`."""
    return re.search(_PREDICTED, text) is not None


def names_likelihood(name: str) -> bool:
    """Whether a name speaks of a likelihood or a reward: `log_prob`, `elbo`, `returns`."""
    return re.search(_LIKELIHOOD, name.lower()) is not None


@lru_cache(maxsize=4096)
def holds_settings(path: str) -> bool:
    """Whether a part of a path is a name for settings: `self.hparams`, `params.optimizer`."""
    return any([re.fullmatch(_SETTINGS, name) is not None for name in path.split(".")])


@lru_cache(maxsize=4096)
def holds_numbers(path: str) -> bool:
    """Whether a path leads into settings that hold numbers and no weights: `self.flags["rate"]`.
    (`params` may hold weights.)
    """
    return re.search(_NUMBERS, path) is not None


def is_random_initializer(name: str) -> bool:
    """Whether an initializer of this name draws random numbers: `glorot_uniform`, `HeNormal`."""
    return re.search(_RANDOM_INITIALIZER, name) is not None


def is_kernel(name: str) -> bool:
    """Whether an attribute has the name that Keras gives to the kernel of a layer."""
    return re.fullmatch(_KERNEL, name) is not None


def holds_loss(name: str) -> bool:
    """Whether what is given this name is a function that makes a loss: `loss=f`, `loss_fn = f`."""
    return name in _LOSSES or name == "loss_fn"


def holds_losses(name: str) -> bool:
    """Whether a list or dict of this name is one of functions that make losses: `losses=[f, g]`."""
    return name in _LOSSES


def holds_metrics(name: str) -> bool:
    """Whether a list or dict of this name is one of functions that only measure: `metrics=[f]`."""
    return name == "metrics"


def is_training_flag(name: str) -> bool:
    """Whether a name is one of the switch between training and evaluation: `is_training`."""
    return name in _TRAINING


def is_mode(name: str) -> bool:
    """Whether a name is one of the mode of an estimator: `mode`."""
    return name == "mode"


def gives_size(name: str) -> bool:
    """Whether a function that cannot be followed gives sizes, by its name: `shape_list`."""
    return name in _SIZES


def is_session(name: str) -> bool:
    """Whether an object of this name is a session of TensorFlow 1: `sess`, `self.session`."""
    return "sess" in name.lower()


def reads_data(name: str) -> bool:
    """Whether a function or module reads data, by its name: `read_csv`, `load_data`, `mnist`."""
    return re.search(_READING, name) is not None


def is_leaky(name: str) -> bool:
    """Whether an activation is named for a relu that leaks below 0: `lrelu`."""
    return name in ("leaky_relu", "leakyrelu", "lrelu")


def draws_array(path: str) -> bool:
    """Whether a path is that of a function of NumPy that draws numbers: `np.random.randn`."""
    return path.startswith(("np.random.", "numpy.random."))


def may_be_class(name: str) -> bool:
    """Whether a name that a file imports may be that of a class: `Policy`."""
    return name[:1].isupper()


def names_compiler(name: str) -> bool:
    """Whether a name in a file says that XLA may compile its functions: `jit_compile`, `keras`."""
    return re.search(_COMPILER, name) is not None
