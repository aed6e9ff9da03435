"""The table of all conventions: what each guesses of a program, and why that may be guessed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Final

from tfnanlint.conventions import files, identifiers, releases, roles, texts


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
        "a number about which nothing else is known lies between 1e-7 and 0.1",
        "the name is used for constants that keep a divisor or an argument away from 0",
    ),
    Convention(
        identifiers.begins_with_epsilon,
        "a summand about which nothing else is known was added to keep the sum away from 0",
        "the same name in a sum; a fix moves it to where it helps",
    ),
    Convention(
        identifiers.is_count,
        "the value is not 0",
        "programs do not compute means over no samples",
    ),
    Convention(
        identifiers.is_scale,
        "the value is not 0",
        "no distribution has a scale or a rate of 0, and callers know that",
    ),
    Convention(
        identifiers.is_probability,
        "the value lies between 0 and 1, so a logarithm of it wants the floor of probabilities",
        "single letters and `pred` stand for probabilities in the formulas of losses",
    ),
    Convention(
        identifiers.namesake_of,
        "the parameter of a function that nothing calls is the model or layer of the same name at "
        "the top level of its file",
        "scripts and notebooks hand the one model that they have to their functions",
    ),
    Convention(
        identifiers.object_name,
        "the parameter of a function that nothing calls is an object of the class of that name, "
        "which its file defines or imports",
        "a training step stands beside the model that it trains, and is called from a script",
    ),
    Convention(
        identifiers.is_any_model,
        "the parameter of a function that nothing calls is an object of the only class of models "
        "in the file",
        "the same: the file has no other model",
    ),
    Convention(
        identifiers.says_safe,
        "the value was made safe elsewhere: no 0, nothing out of range",
        "the name is given after a check or a choice",
    ),
    Convention(
        identifiers.without_probability,
        "what stands before `_probs` has the probabilities, and a fix names their logits after it",
        "`actor_probs` are the probabilities of the actor, and their logits are `actor_logits`",
    ),
    Convention(
        identifiers.own_version_of,
        "the function writes out on purpose what TensorFlow has, and is left as it is",
        "lessons write functions out to show where they fail; a fix would take that away",
    ),
    Convention(
        identifiers.is_return,
        "the value comes from the environment of an agent and depends on no weights",
        "advantages, from which a value function was subtracted, have other names",
    ),
    Convention(
        identifiers.names_mask,
        "a mask that is handed in is made of data, and a batch seldom leaves it empty",
        "readers judged so 3 of 3 masks of this name that nothing in the project computes",
    ),
    Convention(
        identifiers.names_padding,
        "a number marks what sequences are filled up with",
        "readers judged so 2 of 2 masks that leave out a number of this name",
    ),
    Convention(
        identifiers.names_weights,
        "all of the values may be 0 in a batch",
        "the user sets the weights of samples; the ids of labels are data",
    ),
    Convention(
        identifiers.says_maximum,
        "what is subtracted from exponents is their maximum",
        "code for log-sum-exp uses this name, and papers use the letter `m`",
    ),
    Convention(
        identifiers.is_label,
        "a parameter holds labels, of which no gradient is taken",
        "Keras and its users give losses `y_true`",
    ),
    Convention(
        identifiers.is_label_beside_prediction,
        "`y` holds labels where the function is given predictions, too",
        "without predictions, `y` can be anything",
    ),
    Convention(
        identifiers.is_prediction_parameter,
        "the function is a loss or a metric",
        "Keras passes `y_pred` to them",
    ),
    Convention(
        identifiers.says_true,
        "an argument holds labels; in the place of predictions it is swapped",
        "names tell the two apart where their values do not",
    ),
    Convention(
        identifiers.says_predicted,
        "an argument holds predictions; in the place of labels it is swapped",
        "names tell the two apart where their values do not",
    ),
    Convention(
        identifiers.names_likelihood,
        "a sum of logarithms is no cross-entropy and is not rewritten as one",
        "a likelihood is weighted and compared, where a loss is only minimised",
    ),
    Convention(
        identifiers.holds_settings,
        "the attributes of the object are settings: numbers that the author chose",
        "objects that hold flags or a configuration file have these names",
    ),
    Convention(
        identifiers.holds_numbers,
        "a value is a number of the settings, through which no gradient flows",
        "files of settings and command lines hold numbers",
    ),
    Convention(
        identifiers.is_random_initializer,
        "a variable starts with random numbers, not all equal",
        "the names of the initializers of TensorFlow, Keras and slim",
    ),
    Convention(
        identifiers.is_kernel,
        "an attribute that is never assigned is the kernel of a Keras layer, random at the start",
        "all layers of Keras use this name",
    ),
    Convention(
        identifiers.holds_loss,
        "the function is the loss of training",
        "the keyword of `compile`, and what programs call their loss",
    ),
    Convention(
        identifiers.holds_losses,
        "each function in the list or dict is a loss of training",
        "a model with several outputs is given several losses",
    ),
    Convention(
        identifiers.holds_metrics,
        "no gradient is taken through the functions in the list or dict",
        "the keyword of `compile` for values that are only shown",
    ),
    Convention(
        identifiers.is_training_flag,
        "a test of the name tells training from evaluation",
        "Keras passes `training` to layers",
    ),
    Convention(
        identifiers.is_mode,
        "a comparison of the name with `ModeKeys.TRAIN` tells training from evaluation",
        "estimators pass `mode` to model functions",
    ),
    Convention(
        identifiers.gives_size,
        "an imported function that cannot be followed gives sizes, not below 0",
        "helpers around `tf.shape` keep its name",
    ),
    Convention(
        identifiers.is_session,
        "the method `run` of the object leaves the graph, so no gradient passes it",
        "variables that hold a `tf.Session` have this name",
    ),
    Convention(
        identifiers.reads_data,
        "data come from elsewhere: the program is no lesson on a few rows of its own",
        "functions and modules that read data say so in their names",
    ),
    Convention(
        identifiers.is_leaky,
        "a function of this name has a slope below 0",
        "programs write their own leaky relu, and name it so",
    ),
    Convention(
        identifiers.draws_array,
        "the program draws its data itself",
        "NumPy is imported as `np` or under its own name",
    ),
    Convention(
        identifiers.may_be_class,
        "an imported name without a capital is no class that a parameter may be named for",
        "PEP 8: names of classes begin with a capital",
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
        "metrics, schedules and preprocessing stand beside code that is trained",
    ),
    Convention(
        roles.names_loss,
        "a gradient may be taken, whatever else the name or the folder suggests",
        "`accuracy_loss` is a loss of training",
    ),
    Convention(
        roles.is_loss,
        "a gradient is taken through the function",
        "an optimizer minimises it, often in another file",
    ),
    Convention(
        roles.is_penalty,
        "a gradient is taken through the function, not before its own tape",
        "the points of a gradient penalty are mixtures of data",
    ),
    Convention(
        roles.works_on_gradients,
        "no gradient is taken through the function",
        "it runs after the gradients were taken",
    ),
    Convention(
        roles.prepares,
        "no gradient is taken in a method of a model or layer",
        "these methods create the weights",
    ),
    Convention(
        roles.initializes,
        "no gradient is taken in the function",
        "initial values are computed once",
    ),
    Convention(
        roles.takes_training_step,
        "a gradient may be taken through the arguments of the function",
        "steps of training have these names",
    ),
    Convention(
        roles.takers_of_gradients,
        "a program in which no such name is loaded takes no gradient",
        "what TensorFlow, Keras and their relatives take gradients with has these names",
    ),
    Convention(
        roles.makes_object,
        "a gradient may be taken through the arguments of the constructor",
        "the names of classes begin with capitals; a class may be a model, an optimizer or a step",
    ),
    Convention(
        roles.is_evaluation_method,
        "no gradient is taken in a method of a class that has a base of a framework",
        "Keras calls these methods outside of training; programs use the same names",
    ),
    Convention(
        roles.is_untrained_class,
        "no gradient is taken in methods of the class or of derived classes",
        "Keras and similar libraries end the names of these classes so",
    ),
    Convention(
        roles.is_weighted_layer,
        "the output of the layer depends on trained weights",
        "Keras and programs give layers with weights these names",
    ),
    Convention(
        roles.goes_over_positions,
        "batch normalisation averages over many elements even for one sample",
        "convolutions and recurrent layers give one vector for each position",
    ),
    Convention(
        roles.is_kind,
        "a class is an optimizer, a schedule or a metric",
        "its own name or that of a base contains the word",
    ),
    Convention(
        roles.is_summary,
        "a value goes into a summary only: no gradient is taken of it",
        "collections for TensorBoard have these names",
    ),
    Convention(
        roles.shows,
        "the arguments of a call whose result is not used are shown, not trained",
        "functions for logging and plotting have these names",
    ),
    Convention(
        roles.asserts_positive,
        "the argument of the function is above 0 wherever the class uses it",
        "`tf.debugging` uses these names, and helpers copy them",
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
        "the argument is checked wherever a control dependency waits for the result",
        "`with tf.control_dependencies(check(x))`",
    ),
    Convention(
        roles.is_assertion,
        "no gradient is taken through the function's arguments",
        "assertions of tests and of `tf.debugging` only compare",
    ),
    Convention(
        roles.makes_picture,
        "what the function computes is looked at, and nothing is trained with it",
        "plots are made of what a trained model gives",
    ),
    Convention(
        roles.compares_results,
        "what the function that it is given computes is compared with numbers",
        "the cells behind the exercises of a notebook: `utils.test_my_rmse(my_rmse)`",
    ),
    Convention(
        roles.registers,
        "a decorator returns the function unchanged",
        "registries of layers, models and ops return their argument",
    ),
    Convention(
        roles.expects_failure,
        "a call inside the context is meant to fail",
        "the contexts of pytest and unittest",
    ),
    # Files
    Convention(
        files.holds_tests,
        "code runs on the numbers that it contains, and its results are compared",
        "the names that pytest and unittest look for",
    ),
    Convention(
        files.is_below_tests,
        "nothing is trained for long",
        "the folder holds tests and their helpers",
    ),
    Convention(
        files.is_put_away,
        "the file is no library of its own: what no script imports or starts is not run",
        "people move code there that they have replaced, and keep it to look at",
    ),
    Convention(
        files.is_apart_from_training,
        "no gradient is taken",
        "libraries keep metrics and samplers in folders of these names",
    ),
    Convention(
        files.is_passed_over,
        "a folder holds no source of the project",
        "the folder holds hidden, built or installed files",
    ),
    Convention(
        files.lists_requirements,
        "the releases in a file are those that the programs beside and below it run with",
        "pip, conda and setuptools read these files",
    ),
    Convention(
        files.is_readme,
        "a file says for which release of TensorFlow the programs beside and below it are",
        "people who want to run a program read it first",
    ),
    Convention(
        files.is_foreign,
        "an import names a package outside of the project",
        "no project names a package like these",
    ),
    Convention(
        files.is_known_distribution,
        "an import belongs to the group of third-party imports",
        "no project names a package like these",
    ),
    Convention(
        files.takes_no_gradient,
        "what is imported from a distribution takes no gradient of what the program computes",
        "what of it trains models of Keras has a name by which `takers_of_gradients` knows it",
    ),
    # Releases
    Convention(
        releases.required,
        "fixes write only what this release of TensorFlow has",
        "the text has the form in which pip and conda read requirements",
    ),
    Convention(
        releases.described,
        "the same, for a file that shows no other release",
        "a README names the releases with which a program was tried",
    ),
    Convention(
        releases.printed,
        "the same: a notebook was run with the release that a cell with `tf.__version__` printed",
        "few cells print the number of a release that is not theirs",
    ),
    Convention(
        releases.is_second_version,
        "a README that names TensorFlow 1 does not speak of the file",
        "TensorFlow 1 has to be asked to run eagerly",
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
        "TensorFlow 2 does not have the names that it uses",
    ),
    Convention(
        texts.may_be_first_version,
        "the file may run with any release of TensorFlow 1, too",
        "after 2019 hardly any file was written for Python 2",
    ),
    Convention(
        texts.is_old_keras,
        "the file may run with a Keras before 2.3",
        "later releases do not accept these arguments",
    ),
    Convention(
        texts.speaks_of_logits,
        "a model without a last activation is meant to give logits",
        "a program that wants probabilities seldom speaks of logits",
    ),
    Convention(
        texts.tells_shape,
        "a comment behind an assignment may go with it",
        "it says nothing but the shape of the value",
    ),
    Convention(
        texts.trains_network,
        "the optimizer trains the weights of a network",
        "limits of learning rates hold for networks only",
    ),
    Convention(
        texts.normalizes_layers,
        "a network tolerates a larger learning rate",
        "outputs of normalised layers do not grow with the weights",
    ),
    Convention(
        texts.looks_for_missing_data,
        "missing values were found and removed",
        "pandas, NumPy and scikit-learn use these names for that",
    ),
    Convention(
        texts.tests_for_nan,
        "the model of the file deals with NaN in its input",
        "TensorFlow and NumPy use these names for that",
    ),
    Convention(
        texts.scales_loss,
        "the loss is scaled before its gradient is taken",
        "the methods of `LossScaleOptimizer`",
    ),
    Convention(
        texts.asks_for_elements,
        "the tensors that are used after the test have elements",
        "the test contains words for counts and sizes",
    ),
    Convention(
        texts.may_be_singular,
        "a line may contain a function that a bound of 1 should protect",
        "it contains the start of such a name, or such an operator",
    ),
    Convention(
        texts.writes_large_number,
        "a line may contain a mask value that float16 cannot represent",
        "it contains five digits, or an exponent",
    ),
    Convention(
        texts.may_ask_for_half,
        "a layer of the file may compute in float16, although no policy is set",
        "something is given a dtype, other than one of TensorFlow or NumPy that is written there",
    ),
    Convention(
        texts.names_of_large_numbers,
        "the name stands for that number in other lines",
        "such constants are assigned on one line",
    ),
    Convention(
        texts.may_divide,
        "a line may contain a division",
        "it contains the operator, or the start of such a name",
    ),
    Convention(
        texts.invites_change,
        "the line is one that the reader of a lesson edits: no fix takes a value from it",
        "exercises say so behind the line, and the fix would stay with the value of today",
    ),
)
