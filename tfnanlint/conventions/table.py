"""The table of all conventions: what each guesses of a program, and why that may be guessed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Final

from tfnanlint.conventions import files, identifiers, roles, texts


@dataclass(frozen=True)
class Convention:
    """A predicate over a name or a text. `guess` is what the analysis takes for true where it
    holds, `reason` why programs are written so.
    """

    predicate: Callable[..., Any]
    guess: str
    reason: str

    @property
    def name(self) -> str:
        """The module and the function, as in `roles.is_loss`."""
        module = self.predicate.__module__.rpartition(".")[2]
        return f"{module}.{self.predicate.__name__}"


CONVENTIONS: Final = (
    # Identifiers
    Convention(
        identifiers.is_epsilon,
        "a number of which nothing else is known lies between 1e-7 and 0.1",
        "the name is used for constants that keep a divisor or an argument off 0",
    ),
    Convention(
        identifiers.begins_with_epsilon,
        "a summand of which nothing else is known was added to keep the sum off 0",
        "the same name in a sum; a fix moves it to where it helps",
    ),
    Convention(
        identifiers.is_count,
        "the value is not 0",
        "who has no samples does not compute a mean of them",
    ),
    Convention(
        identifiers.is_scale,
        "the value is not 0",
        "no distribution has a scale or a rate of 0, and who hands one in knows it",
    ),
    Convention(
        identifiers.is_probability,
        "the value lies between 0 and 1, so a logarithm of it wants the floor of probabilities",
        "single letters and `pred` stand for probabilities in the formulas of losses",
    ),
    Convention(
        identifiers.says_safe,
        "the value was made safe elsewhere: no 0, nothing out of range",
        "the name is given after a check or a choice",
    ),
    Convention(
        identifiers.is_return,
        "what the environment of an agent gave, behind which no weights are",
        "advantages, from which a value function was subtracted, have other names",
    ),
    Convention(
        identifiers.names_mask,
        "what weighs the loss of each token marks padding, of which no whole batch consists",
        "of masks by this name that a function is given, readers judged 2 of 2 so",
    ),
    Convention(
        identifiers.names_weights,
        "all of the values may be 0 in a batch",
        "weights of samples are set by who trains; the ids of labels are not",
    ),
    Convention(
        identifiers.says_maximum,
        "what is subtracted from exponents is their maximum",
        "the trick of log-sum-exp names it so, and `m` is its letter in papers",
    ),
    Convention(
        identifiers.is_label,
        "a parameter holds labels, of which no gradient is taken",
        "Keras and its users give losses `y_true`",
    ),
    Convention(
        identifiers.is_label_beside_prediction,
        "`y` holds labels where the function is given predictions, too",
        "alone it may be anything",
    ),
    Convention(
        identifiers.is_prediction_parameter,
        "the function is a loss or a metric",
        "Keras gives them `y_pred`",
    ),
    Convention(
        identifiers.says_true,
        "an argument holds labels: in the place of predictions it is swapped",
        "names tell the two apart where their values do not",
    ),
    Convention(
        identifiers.says_predicted,
        "an argument holds predictions: in the place of labels it is swapped",
        "names tell the two apart where their values do not",
    ),
    Convention(
        identifiers.names_likelihood,
        "a sum of logarithms is no cross-entropy: it is kept as it is",
        "a likelihood is weighted and compared, where a loss is only minimised",
    ),
    Convention(
        identifiers.is_gradient,
        "a parameter holds gradients; what is computed of it is not differentiated again",
        "optimizers and clipping take gradients under these names",
    ),
    Convention(
        identifiers.is_initial_value,
        "what is assigned to the name is computed once, before training",
        "initial weights and biases are named so",
    ),
    Convention(
        identifiers.holds_settings,
        "the attributes of the object are settings: numbers that the author chose",
        "the names of the objects that flags and configuration files are read into",
    ),
    Convention(
        identifiers.is_random_initializer,
        "a variable starts with random numbers, not all equal",
        "the names of the initializers of TensorFlow, Keras and slim",
    ),
    Convention(
        identifiers.is_kernel,
        "an attribute that is never assigned is the kernel of a Keras layer, random at the start",
        "Keras names it so in all of its layers",
    ),
    Convention(
        identifiers.holds_loss,
        "the function is trained by",
        "the keyword of `compile`, and what programs call their loss",
    ),
    Convention(
        identifiers.holds_losses,
        "each function in the list or dict is trained by",
        "a model with several outputs is given several losses",
    ),
    Convention(
        identifiers.holds_metrics,
        "no gradient is taken through the functions in the list or dict",
        "the keyword of `compile` for what is only shown",
    ),
    Convention(
        identifiers.is_training_flag,
        "a test of the name tells training from evaluation",
        "Keras hands `training` to layers",
    ),
    Convention(
        identifiers.is_mode,
        "a comparison of the name with `ModeKeys.TRAIN` tells training from evaluation",
        "estimators hand `mode` to model functions",
    ),
    Convention(
        identifiers.gives_size,
        "an imported function that cannot be followed gives sizes, not below 0",
        "helpers around `tf.shape` keep its name",
    ),
    Convention(
        identifiers.is_session,
        "the method `run` of the object leaves the graph: no gradient comes back",
        "`tf.Session` is held under this name",
    ),
    Convention(
        identifiers.names_compiler,
        "in a file that holds the name, XLA may compile its functions",
        "`fit` of Keras does so on a GPU",
    ),
    # Roles
    Convention(
        roles.is_measured,
        "no gradient is taken in a function of this name, or in a file of this name",
        "metrics, schedules and preprocessing are written beside what is trained",
    ),
    Convention(
        roles.names_loss,
        "a gradient may be taken, whatever else the name or the folder says",
        "`accuracy_loss` is trained by",
    ),
    Convention(
        roles.names_loss_or_penalty,
        "gradients that a function is given may be differentiated again",
        "a gradient penalty is one",
    ),
    Convention(
        roles.is_loss,
        "a gradient is taken through the function",
        "it is handed to an optimizer, often from another file",
    ),
    Convention(
        roles.is_penalty,
        "a gradient is taken through the function, not before its own tape",
        "the points of a gradient penalty are mixed of data",
    ),
    Convention(
        roles.works_on_gradients,
        "no gradient is taken through the function",
        "it runs after the gradients were taken",
    ),
    Convention(
        roles.prepares,
        "no gradient is taken in a method of a model or layer",
        "these methods make the weights",
    ),
    Convention(
        roles.initializes,
        "no gradient is taken in the function",
        "initial values are computed once",
    ),
    Convention(
        roles.takes_training_step,
        "a gradient may be taken of what the function is given",
        "the name of a step of training",
    ),
    Convention(
        roles.makes_object,
        "a gradient may be taken of what the object is made of",
        "classes have capital letters; a model, an optimizer or a step may be one",
    ),
    Convention(
        roles.is_evaluation_method,
        "no gradient is taken in a method of a class that has a base of a framework",
        "Keras calls them apart from training; programs name their own alike",
    ),
    Convention(
        roles.is_untrained_class,
        "no gradient is taken in methods of the class, or of one that is derived from it",
        "Keras and its relatives end the names of these classes so",
    ),
    Convention(
        roles.is_weighted_layer,
        "what the layer gives is trained",
        "the classes of Keras, and names that programs give to layers of their own",
    ),
    Convention(
        roles.goes_over_positions,
        "batch normalisation has many elements even of one sample",
        "convolutions and recurrent layers give one vector for each position",
    ),
    Convention(
        roles.is_kind,
        "a class is an optimizer, a schedule or a metric",
        "the word stands in its own name or in that of a base",
    ),
    Convention(
        roles.is_summary,
        "a value goes into a summary only: no gradient is taken of it",
        "what is collected for TensorBoard is named so",
    ),
    Convention(
        roles.shows,
        "what a call that stands alone is given is shown, not trained",
        "names of logging and plotting",
    ),
    Convention(
        roles.asserts_positive,
        "what the function is given is above 0 wherever the class uses it",
        "the names of `tf.debugging`, and of helpers after them",
    ),
    Convention(
        roles.asserts_greater,
        "the first argument is greater than the second one",
        "the names of `tf.debugging`",
    ),
    Convention(
        roles.asserts_order,
        "a difference of the two arguments is not 0",
        "the names of `tf.debugging`",
    ),
    Convention(
        roles.checks,
        "what the function is given was checked where its result is waited for",
        "`with tf.control_dependencies(check(x))`",
    ),
    Convention(
        roles.is_assertion,
        "no gradient is taken through the function's arguments",
        "tests and `tf.debugging` compare",
    ),
    Convention(
        roles.registers,
        "a decorator hands the function on unchanged",
        "registries of layers, models and ops return what they are given",
    ),
    Convention(
        roles.expects_failure,
        "a call inside the context is made to fail",
        "the contexts of pytest and unittest",
    ),
    # Files
    Convention(
        files.holds_tests,
        "code runs on the numbers that are written in it, and its results are compared",
        "the names that pytest and unittest look for",
    ),
    Convention(
        files.is_below_tests,
        "nothing is trained for long",
        "tests and their helpers stand there",
    ),
    Convention(
        files.is_apart_from_training,
        "no gradient is taken",
        "the layout of libraries of metrics and of samplers",
    ),
    Convention(
        files.is_passed_over,
        "a folder holds no source of the project",
        "hidden, built or installed files",
    ),
    Convention(
        files.is_foreign,
        "an import leads out of the project",
        "no project names a package like these",
    ),
    Convention(
        files.is_known_distribution,
        "an import belongs to the group of third-party imports",
        "no project names a package like these",
    ),
    # Texts
    Convention(
        texts.compiles_model,
        "the layers of the file run under XLA",
        "`compile` is given `jit_compile=True` on one line",
    ),
    Convention(
        texts.is_first_version,
        "the file is written for TensorFlow 1",
        "TensorFlow 2 does not have these names",
    ),
    Convention(
        texts.is_old_keras,
        "the file may run with a Keras before 2.3",
        "later releases do not take these arguments",
    ),
    Convention(
        texts.trains_network,
        "the optimizer trains the weights of a network",
        "limits of learning rates hold for these",
    ),
    Convention(
        texts.normalizes_layers,
        "a network bears a larger learning rate",
        "normalised layers do not grow with their weights",
    ),
    Convention(
        texts.looks_for_missing_data,
        "missing values were found and left out",
        "the names of pandas, NumPy and scikit-learn for it",
    ),
    Convention(
        texts.scales_data,
        "images were brought to a small range",
        "the layers and helpers that do it",
    ),
    Convention(
        texts.scales_loss,
        "the loss is scaled before its gradient is taken",
        "the methods of `LossScaleOptimizer`",
    ),
    Convention(
        texts.asks_for_elements,
        "what stands behind the test has elements",
        "words for counts and sizes in a test",
    ),
    Convention(
        texts.may_be_singular,
        "a line is looked at for what a bound of 1 should protect",
        "the starts of the names of such functions, and the signs",
    ),
    Convention(
        texts.writes_large_number,
        "a line is looked at for a mask that float16 cannot hold",
        "five digits, or an exponent",
    ),
    Convention(
        texts.names_of_large_numbers,
        "the name stands for that number in other lines",
        "such constants are assigned on one line",
    ),
    Convention(
        texts.may_divide,
        "a line is looked at for a division",
        "the sign, or the start of the functions' names",
    ),
)
