"""What TensorFlow, Keras and their relatives call by themselves or give to their users, by name:
base classes, hooks, decorators, optimizers, layers, losses, and what takes a gradient.

A set of names ends in a dot where it holds the prefixes of modules.
"""

from __future__ import annotations

import re
from typing import Final

# Base classes.
LAYERS: Final = "keras.layers."
MODEL_BASES: Final = ("keras.Model", "keras.models.", "keras.Sequential")
LAYER_BASES: Final = (LAYERS, *MODEL_BASES, "keras.engine.")
MODULE_BASES: Final = (*LAYER_BASES, "tf.Module")
# What Keras or an optimizer takes a gradient through.
TRAINED_BASES: Final = (*MODULE_BASES, "keras.losses.", "keras.regularizers.")
OPTIMIZER_BASES: Final = ("keras.optimizers.", "tf.optimizers.")
UNTRAINED_BASES: Final = (
    *OPTIMIZER_BASES,
    "keras.metrics.",
    "keras.callbacks.",
    "keras.utils.",
    "tf.data.",
    "keras.preprocessing.",
    "tf.train.",
    "keras.initializers.",
    "keras.constraints.",
    "tf.python.training.",
)
# Bases and decorators that make records of a class.
RECORD_BASES: Final = ("NamedTuple", "namedtuple", "dataclass")

# Methods and decorators.

# Methods that a base class calls with values of its own.
HOOKS: Final = frozenset(
    "call __call__ build train_step test_step predict_step compute_loss forward".split()
)
# The attributes of objects of subclasses that TensorFlow and Keras assign.
ASSIGNED_BY_BASES: Final = frozenset(
    "activity_regularizer autocast built compiled compute_dtype dtype dtype_policy dynamic inputs "
    "input_spec iterations learning_rate losses metrics model name optimizer outputs params "
    "reduction run_eagerly states stateful stop_training supports_jit supports_masking trainable "
    "training weights".split()
)
# The methods of subclasses that TensorFlow and Keras call or look up by their names, beside those
# whose names begin with an underscore: of layers, models, losses, metrics, callbacks, optimizers,
# cells, schedules, regularizers, datasets, estimators and hooks of sessions.
CALLED_BY_BASES: Final = HOOKS | frozenset(
    "get_config from_config get_build_config build_from_config get_compile_config "
    "compile_from_config compute_output_shape compute_output_spec compute_output_signature "
    "compute_mask add_weight get_weights set_weights save_own_variables load_own_variables "
    "save_assets load_assets quantize quantized_build quantized_call stateless_call "
    "symbolic_call compile fit evaluate predict train_on_batch test_on_batch predict_on_batch "
    "make_train_function make_test_function make_predict_function compute_metrics "
    "compute_loss_and_updates reset_metrics get_metrics_result save load summary "
    "update_state result reset_state reset_states merge_state stateless_update_state "
    "set_model set_params on_train_begin on_train_end on_epoch_begin on_epoch_end on_batch_begin "
    "on_batch_end on_train_batch_begin on_train_batch_end on_test_begin on_test_end "
    "on_test_batch_begin on_test_batch_end on_predict_begin on_predict_end "
    "on_predict_batch_begin on_predict_batch_end "
    "minimize apply_gradients apply compute_gradients get_gradients get_updates update_step "
    "add_variable_from_reference finalize_variable_values learning_rate get_slot_names "
    "state_size output_size zero_state get_initial_state step states constants "
    "merge adapt finalize_state preprocess_input "
    "begin end before_run after_run after_create_session get get_next num_batches "
    "model_fn input_fn train setup tear_down "
    "variables trainable_variables non_trainable_variables weights trainable_weights "
    "non_trainable_weights metrics losses updates input output inputs outputs layers name dtype "
    "trainable supports_masking input_spec batch_size is_attention_layer".split()
)
# What a subclass of a layer or loss of a library may define without changing what `call` of its
# base gives; beside these, only names that no base asks for.
APART_FROM_CALL: Final = frozenset(
    "__init__ call __call__ build get_config from_config compute_output_shape compute_mask "
    "compute_output_spec compute_output_signature get_build_config build_from_config".split()
)
# What `call` of the layers of Keras asks its object for, beside what the constructor was given.
PARTS_OF_LAYERS: Final = frozenset(
    "activation convolution_op inner_loop pool_function cell cells layer forward_layer "
    "backward_layer cond_activation dense_layers supports_masking".split()
)
# The weights of layers, by the names of the attributes that hold them.
WEIGHTS_OF_LAYERS: Final = frozenset(
    "kernel _kernel bias gamma beta embeddings _embeddings depthwise_kernel pointwise_kernel "
    "recurrent_kernel moving_mean moving_variance".split()
)
# The methods that calling an instance runs.
CALL_METHODS: Final = frozenset(("call", "__call__"))
# The object of TensorFlow that holds the flags of a program.
FLAGS: Final = "FLAGS"
# Decorators that make a graph of a function.
GRAPH_DECORATORS: Final = frozenset(("function", "defun", "tf_function"))
# The decorator of a function that gives, beside its result, the function of its gradient.
CUSTOM_GRADIENT: Final = "custom_gradient"
# Decorators of libraries that hand the function on.
TRANSPARENT: Final = frozenset(
    f"{CUSTOM_GRADIENT} function staticmethod classmethod property cached_property "
    "abstractmethod override lru_cache cache defun tf_export keras_export configurable "
    "register_keras_serializable wraps recompute_grad do_not_convert experimental deprecated "
    "jit tf_function check_shapes inherit_check_shapes typechecked beartype "
    "add_dispatch_support do_not_generate_docs do_not_doc_inheritable "
    "for_subclass_implementers no_automatic_dependency_tracking filter_traceback "
    "shape_type_conversion add_name_scope with_name_scope name_scope add_arg_scope "
    "add_var_scope inject_mesh allow_initializer_layout dispatch_for_types "
    "deprecated_endpoints deprecated_args default".split()
)
# Decorators that call a test with values.
PARAMETRIZING: Final = frozenset(("parameters", "named_parameters", "parametrize"))
# Decorators and methods that check a setting.
VALIDATORS: Final = ("register_validator", "validator")
# What makes a copy of a record with some other fields.
RECORD_COPIES: Final = ("replace", "_replace")
# What chooses between training and evaluation.
PHASES: Final = frozenset(("in_train_phase", "in_test_phase", "cond", "smart_cond"))
# The modes of estimators: whether they train.
ESTIMATOR_MODES: Final = {"TRAIN": True, "EVAL": False, "PREDICT": False, "INFER": False}
POLICY_SETTERS: Final = ("set_global_policy", "set_policy", "set_dtype_policy", "set_floatx")

# What takes a gradient, what trains, and what only looks.
SINKS: Final = frozenset(
    (
        "minimize",
        "compute_gradients",
        "gradients",
        "gradient",
        "jacobian",
        "batch_jacobian",
        "get_gradients",
        "add_loss",
        "compute_weighted_loss",
        "get_updates",
        "create_train_op",
        "optimize_loss",
    )
)
SINK_WORDS: Final = tuple([f".{name}" for name in sorted(SINKS)])
SINK_CALLS: Final = re.compile(rf"\.(?:{'|'.join(sorted(SINKS))})\s*\(")
# The sum of all that the losses of TensorFlow 1 give, on which a program trains.
COLLECTED_LOSS: Final = "get_total_loss"
COLLECTING: Final = ("tf.losses.", "tf.compat.v1.losses.", "tf.contrib.losses.", "slim.losses.")
# Where these are given what a gradient is asked for, by place and by name.
OPERAND_PLACES: Final = {"gradient": 1, "jacobian": 1, "batch_jacobian": 1, "gradients": 1}
OPERAND_NAMES: Final = frozenset(("sources", "xs", "var_list"))
# These call a function that they are given.
SINKS_OF_FUNCTIONS: Final = ("minimize", "compute_gradients")
# A tape's methods that take no gradient.
TAPE_METHODS: Final = frozenset("watch stop_recording reset watched_variables".split())
WEIGHT_UPDATES: Final = frozenset(("apply_gradients", "assign_sub"))
# How a file trains a model.
TRAINING_METHODS: Final = ("fit", "fit_generator", "train_on_batch", "compile")
# Methods of a session and of a tensor that compute what a graph holds, from what they are fed.
GRAPH_RUNS: Final = ("run", "eval")
# Calls of programs for TensorFlow 1: the second version has none of them as they are.
SESSION_CALLS: Final = ("placeholder", "Session", "get_variable", "variable_scope")
# Calls of a program that trains, or is tried out, in the file.
TRAINING_CALLS: Final = (
    "fit",
    "fit_generator",
    "train",
    "train_on_batch",
    "train_step",
    "evaluate",
    "minimize",
    "apply_gradients",
)
# Calls of a program that runs a model which was trained before.
INFERENCE_CALLS: Final = (
    "predict",
    "predict_on_batch",
    "predict_generator",
    "evaluate",
    "evaluate_generator",
    "restore",
    "load_model",
    "load_weights",
    "load_checkpoint",
    "latest_checkpoint",
)
# Attributes that hold all weights of a model, frozen ones, too, and what takes those that are
# trained as they are then.
WHOLE_WEIGHTS: Final = frozenset(("variables", "weights"))
WEIGHT_TAKERS: Final = frozenset("compile fit minimize gradient trainable_variables".split())
# Calls that end a program: of what Python binds, and of its modules.
BUILT_IN_EXITS: Final = frozenset(("exit", "quit"))
EXITS: Final = frozenset(("sys.exit", "os._exit", "os.abort"))
# What `compile` takes functions of labels and predictions with, and by which a model that is loaded
# finds them.
COMPILED_FUNCTIONS: Final = frozenset(("loss", "metrics", "weighted_metrics"))
RESTORED_BY: Final = "custom_objects"
# What an optimizer takes gradients with.
STEP_METHODS: Final = ("apply_gradients", "apply", "minimize")
STEP_OF_GRAPH: Final = "minimize"  # makes a step of training of a loss in TensorFlow 1
# What is handed to these is not differentiated: they stop gradients, or run the graph for its
# values.
UNDIFFERENTIATED: Final = frozenset(("stop_gradient", "evaluate", "eval", "run", "numpy"))
# Methods of a dataset that apply a function to its elements.
DATA_METHODS: Final = frozenset(("map", "filter", "flat_map"))
# What writes a number for a person to look at.
SUMMARIES: Final = frozenset(
    "scalar histogram scalar_summary histogram_summary AddTpuSummaryTensor "
    "add_scalar_summary".split()
)
# Parts of the names of ops that keep what they are given for later, or show it.
KEEPING_OPS: Final = frozenset(("losses", "summary", "debugging", "Variable", "Print"))
# What keeps a number for a person to look at, and hands it on to nothing that is trained.
REPORTS: Final = SUMMARIES | frozenset(
    "update_state print log info debug warning add_scalar add_scalars".split()
)
# By which a hook of a session says what to fetch beside a step.
FETCHES: Final = "SessionRunArgs"
PREDICT_METHODS: Final = ("predict", "predict_on_batch")

# Optimizers.

# Methods that Keras gives its optimizers, by the name of what they keep.
OPTIMIZER_STATE: Final = frozenset(
    "_get_hyper get_slot _get_non_slot_variable _fallback_apply_state".split()
)
SLOT_METHODS: Final = ("get_slot", "add_slot", "_zeros_slot")
SLOT_MAKERS: Final = frozenset((*SLOT_METHODS, "_get_or_make_slot"))
# Methods of optimizers that make or change their state.
STATE_METHODS: Final = frozenset(
    (*SLOT_METHODS, "add_variable_from_reference", "_resource_scatter_add")
)
# Methods of an optimizer that Keras calls with a gradient and a variable.
OPTIMIZER_UPDATES: Final = frozenset(
    "_resource_apply_dense _resource_apply_sparse _resource_apply_sparse_duplicate_indices "
    "_apply_dense _apply_sparse update_step".split()
)
# What the optimizers of Keras are made with.
OPTIMIZER_DEFAULTS: Final = {"learning_rate": 0.001, "beta_1": 0.9, "beta_2": 0.999, "rho": 0.9}
# Optimizers whose steps are a moment of the gradient divided by the root of another one.
MOMENT_RATIO_OPTIMIZERS: Final = (
    "keras.optimizers.Adam",
    "keras.optimizers.AdamW",
    "keras.optimizers.Nadam",
)
# The epsilon that an optimizer has by default.
OPTIMIZER_EPSILONS: Final = {
    **dict.fromkeys(MOMENT_RATIO_OPTIMIZERS, 1e-7),
    "keras.optimizers.Adamax": 1e-7,
    "keras.optimizers.RMSprop": 1e-7,
    "tf.train.AdamOptimizer": 1e-8,
}
# How a method changes a variable: to a value, by a sum or difference, or to an average.
VARIABLE_CHANGES: Final = {
    "assign": "",
    "assign_add": "+",
    "assign_sub": "-",
    "update": "",
    "update_add": "+",
    "update_sub": "-",
    "_resource_scatter_add": "+",
    "_resource_scatter_update": "",
    "scatter_add": "+",
    "scatter_update": "",
    "moving_average_update": "~",
    "assign_moving_average": "~",
}

# Layers and models.

# Methods of layers, models and distributions (`prob`, `cdf`) that have a row.
MODEL_METHODS: Final = frozenset(
    "add_weight add_variable compile fit train_on_batch prob cdf survival_function log_prob".split()
)
RESHAPING_LAYERS: Final = ("keras.layers.Flatten", "keras.layers.Reshape", "keras.layers.Permute")
# Layers that hand the numbers on, or 0 for some of them.
HANDING_LAYERS: Final = frozenset(
    (*RESHAPING_LAYERS, "keras.layers.Dropout", "keras.layers.Identity")
)
# Layers of Keras that hand the mask of their input on, by their last names.
MASK_HANDING_LAYERS: Final = frozenset(
    "Dropout SpatialDropout1D Dense Activation LeakyReLU LayerNormalization BatchNormalization "
    "GaussianNoise LSTM GRU SimpleRNN Bidirectional TimeDistributed".split()
)
REARRANGING_LAYERS: Final = (*RESHAPING_LAYERS, "keras.layers.RepeatVector")
# Layers that multiply with weights and add others, but for their activation.
WEIGHING_LAYERS: Final = frozenset(
    LAYERS + name
    for name in "Dense EinsumDense Conv1D Conv2D Conv3D DepthwiseConv2D SeparableConv2D".split()
)
# Layers whose output is linear in their input, but for their activation.
LINEAR_LAYERS: Final = frozenset(
    (
        *WEIGHING_LAYERS,
        *HANDING_LAYERS,
        *REARRANGING_LAYERS,
        *(
            LAYERS + name
            for name in "Add Concatenate Subtract Average AveragePooling2D ZeroPadding2D".split()
        ),
    )
)
# Layers that make 0 of hardly anything else.
SLOPED_LAYERS: Final = frozenset(
    (*REARRANGING_LAYERS, LAYERS + "Identity", LAYERS + "LeakyReLU", LAYERS + "BatchNormalization")
)
# Layers whose derivative is hardly ever 0, but for their activation; the names are those of rows.
NOWHERE_FLAT_LAYERS: Final = frozenset(
    (
        *LINEAR_LAYERS,
        *SLOPED_LAYERS,
        *(
            LAYERS + name
            for name in "Conv1DTranspose Conv2DTranspose Conv3DTranspose LayerNormalization "
            "GroupNormalization ELU PReLU Activation Cropping1D MaxPooling1D UpSampling2D "
            "Rescaling GaussianNoise InputLayer".split()
        ),
    )
)
# Activations with such a derivative, by the last part of their names without underscores.
SLOPED_ACTIVATIONS: Final = frozenset(
    "linear leakyrelu elu selu tanh softplus softsign swish silu gelu mish".split()
)
# Functions that are such a layer.
LINEAR_FUNCTIONS: Final = frozenset(("tf.layers.dense", "tf.layers.conv2d"))
# Functions that are a layer whose derivative is hardly ever 0, but for their activation.
NOWHERE_FLAT_FUNCTIONS: Final = frozenset(
    (
        *LINEAR_FUNCTIONS,
        *(
            "tf.layers." + name
            for name in "separable_conv2d batch_normalization flatten max_pooling2d "
            "average_pooling2d dropout".split()
        ),
    )
)
# A layer whose weights make its output any number, unless an activation follows.
WEIGHTED_LAYERS: Final = ("keras.layers.", "tf.layers.", "slim.")
# What is asked of a model that is not trained.
MODEL_ATTRIBUTES: Final = frozenset(
    "compile summary get_layer build call get_weights set_weights load_weights count_params "
    "input inputs output outputs layers weights variables trainable_variables input_shape "
    "output_shape name".split()
)
# What holds all that a model or a graph trains, and the path of any one of these.
TRAINED_WEIGHTS: Final = frozenset(("trainable_variables", "trainable_weights"))
ANY_WEIGHT: Final = "trainable_variables[*]"
# What is asked of a model and does not compute the loss that it is compiled with.
WITHOUT_LOSS: Final = frozenset(
    (
        *MODEL_ATTRIBUTES,
        *PREDICT_METHODS,
        *TRAINED_WEIGHTS,
        *(
            "predict_generator predict_classes predict_proba save_weights to_json to_yaml "
            "get_config trainable add built"
        ).split(),
    )
)
# What may be given a model and does not compute that loss either.
TAKING_MODELS: Final = frozenset(
    "Sequential Model add plot_model model_to_dot clone_model print".split()
)
# A model of layers that are connected by calls.
FUNCTIONAL_MODEL: Final = "keras.Model"
# Layers that are a function, and the parameter for it.
FUNCTION_LAYERS: Final = {"Lambda": "function", "Activation": "activation"}
# Parameters of layers that take a function of weights or of outputs.
FUNCTION_PARAMETERS: Final = frozenset(
    "activation recurrent_activation kernel_regularizer bias_regularizer activity_regularizer "
    "recurrent_regularizer embeddings_regularizer beta_regularizer gamma_regularizer "
    "depthwise_regularizer pointwise_regularizer".split()
)
# What the first layer of a model is given.
INPUT_SHAPES: Final = frozenset(("input_shape", "batch_input_shape", "input_dim"))
INPUT_LAYERS: Final = frozenset(("Input", "InputLayer"))

# Losses.

# The family of each loss: what its labels and predictions are.
FAMILIES: Final = {
    "tf.nn.softmax_cross_entropy_with_logits": "categorical",
    "tf.nn.sparse_softmax_cross_entropy_with_logits": "sparse",
    "tf.nn.sigmoid_cross_entropy_with_logits": "binary",
    "tf.nn.weighted_cross_entropy_with_logits": "binary",
    "tf.losses.softmax_cross_entropy": "categorical",
    "tf.losses.sparse_softmax_cross_entropy": "sparse",
    "tf.losses.sigmoid_cross_entropy": "binary",
    "tf.losses.log_loss": "log_loss",
    "K.binary_crossentropy": "binary",
    "K.categorical_crossentropy": "categorical",
    "K.sparse_categorical_crossentropy": "sparse",
    "keras.losses.binary_crossentropy": "binary",
    "keras.losses.binary_focal_crossentropy": "binary",
    "keras.losses.categorical_crossentropy": "categorical",
    "keras.losses.categorical_focal_crossentropy": "categorical",
    "keras.losses.sparse_categorical_crossentropy": "sparse",
    "keras.losses.poisson": "poisson",
    "keras.losses.mean_squared_logarithmic_error": "msle",
    "keras.losses.kl_divergence": "kld",
    "keras.losses.BinaryCrossentropy": "binary",
    "keras.losses.BinaryFocalCrossentropy": "binary",
    "keras.losses.CategoricalCrossentropy": "categorical",
    "keras.losses.CategoricalFocalCrossentropy": "categorical",
    "keras.losses.SparseCategoricalCrossentropy": "sparse",
    "keras.losses.Poisson": "poisson",
    "keras.losses.MeanSquaredLogarithmicError": "msle",
    "keras.losses.KLDivergence": "kld",
}
COMPILE: Final = "method.compile"
LABEL_PARAMETERS: Final = ("labels", "y_true", "target", "onehot_labels", "multi_class_labels")
PREDICTION_PARAMETERS: Final = ("logits", "y_pred", "output", "predictions")
# Names of what a call takes gradients of, and its place where that is not the first one: by the
# name of the method and the number of arguments without a name (`get_updates` of Keras 2.0).
TARGET_NAMES: Final = ("loss", "losses", "ys", "target")
TARGET_PLACES: Final = {("get_updates", 3): 2}
# Arguments of a product of matrices that turn one of them.
TRANSPOSING: Final = ("transpose_a", "transpose_b", "adjoint_a", "adjoint_b")
# Names that a program uses which builds a graph of TensorFlow 1 and runs it.
GRAPH_NAMES: Final = frozenset(("Session", "InteractiveSession", "placeholder"))
# Schedules of learning rates that begin with the highest one.
FALLING_RATES: Final = tuple(
    f"keras.optimizers.schedules.{name}"
    for name in ("CosineDecay", "ExponentialDecay", "InverseTimeDecay", "PolynomialDecay")
)
# Layers that bring inputs of any size to one that fits the initial weights, or may do so.
SCALING_LAYERS: Final = frozenset(
    ("Rescaling", "Normalization", "BatchNormalization", "LayerNormalization", "Lambda")
)
# Names of which the libraries know nothing since Keras compiles models with XLA by itself (Keras 3
# and TensorFlow 2.16), and sessions, which do not.
BEFORE_XLA: Final = frozenset(
    (
        "Session",
        "InteractiveSession",
        "MonitoredTrainingSession",
        "advanced_activations",
        "np_utils",
        "tensorflow_addons",
        "contrib",
        "fit_generator",
        "evaluate_generator",
        "predict_generator",
    )
)
# Names that a program uses which asks for XLA.
XLA_NAMES: Final = frozenset(
    "jit_compile experimental_compile jit_scope global_jit_level set_jit xla "
    "TPUStrategy TPUClusterResolver TPUEstimator".split()
)
# Functions that name the backend on which Keras runs: with TensorFlow, "tensorflow".
BACKENDS: Final = frozenset(("K.backend", "keras.backend.backend", "keras.config.backend"))
# What gives the variables made in its block a scope of their own.
VARIABLE_SCOPE: Final = "variable_scope"
