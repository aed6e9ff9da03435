"""Sets of ops that share a property, by the names of their rows; each is stated here only.

Where the table knows the property itself, the tests compare a set with the rows. A module that does
something else for each op has a table of its own from names to functions.
"""

from __future__ import annotations

from typing import Final

# Conversions: the same numbers in another dtype, shape or kind of object.
FLOAT_CASTS: Final = ("tf.cast", "tf.to_float", "tf.to_double")
CASTS: Final = (
    *FLOAT_CASTS,
    "tf.saturate_cast",
    "tf.to_int32",
    "tf.to_int64",
    "K.cast_to_floatx",
)
MAKES_TENSOR: Final = ("tf.convert_to_tensor",)
CONSTANTS: Final = ("tf.constant", *MAKES_TENSOR)
# Whole numbers of NumPy made of any number.
NUMPY_INTEGERS: Final = ("np.int32", "np.int64")
CONVERSIONS: Final = ("tf.cast", *MAKES_TENSOR)
IDENTITIES: Final = ("tf.identity", "tf.debugging.check_numerics")
COPIES: Final = (*IDENTITIES, "tf.stop_gradient", "tf.ensure_shape")
LAMBDAS: Final = ("keras.layers.Lambda",)
RESHAPES: Final = ("tf.reshape", "tf.tile", "tf.expand_dims", "tf.squeeze")
# Every element is kept, and only the axes are arranged in another way.
AXIS_LAYOUTS: Final = ("tf.reshape", "tf.expand_dims", "tf.squeeze", "tf.transpose")
# Ops that can put in an axis of length 1.
AXIS_INSERTIONS: Final = ("tf.expand_dims", "tf.strided_slice")
# Each element stays beside the elements that it was beside.
ALIGNED: Final = (*COPIES, *RESHAPES, "tf.broadcast_to")
# The number of elements of the result depends on the numbers that they are given.
FILTERS: Final = ("tf.boolean_mask", "tf.dynamic_partition")
# Methods that arrays of NumPy have, and tensors do not.
ARRAY_METHODS: Final = frozenset(("method.astype", "method.ravel"))
# Pick elements by their indices.
GATHERS: Final = ("tf.gather", "tf.gather_nd")
SLICES: Final = ("tf.strided_slice", "tf.slice")
# Give a tensor in pieces.
UNPACKINGS: Final = ("tf.split", "tf.unstack")
SELECTIONS: Final = (*FILTERS, "tf.unique")

# Arithmetic.
ADDITIONS: Final = ("tf.add", "tf.subtract")
FACTORS: Final = ("tf.multiply", "tf.divide")
ARITHMETIC: Final = (*ADDITIONS, *FACTORS)
SUM_AND_PRODUCT: Final = ("tf.add", "tf.multiply")
# Layers, and functions, that add up tensors.
SUMMING_LAYERS: Final = ("keras.layers.Add", "keras.layers.add")
INVERSES: Final = ("tf.divide", "tf.math.reciprocal")
NEGATIONS: Final = ("tf.negative",)
CROSS_PRODUCTS: Final = ("tf.linalg.cross",)
# The number that changes nothing, and the operands that come out beside it.
NEUTRAL_OPERANDS: Final = {
    "tf.add": (0, (("x", "y"), ("y", "x"))),
    "tf.subtract": (0, (("x", "y"),)),
    "tf.multiply": (1, (("x", "y"), ("y", "x"))),
    "tf.divide": (1, (("x", "y"),)),
}
LINEAR: Final = (*ADDITIONS, "tf.multiply", *NEGATIONS)
CONJUNCTIONS: Final = ("tf.multiply", "tf.logical_and")
WHOLE_DIVISIONS: Final = (
    "tf.math.floordiv",
    "tf.math.floormod",
    "tf.truncatediv",
    "tf.truncatemod",
)
NEVER_NAN: Final = (
    "tf.math.divide_no_nan",
    "tf.math.multiply_no_nan",
    "tf.math.reciprocal_no_nan",
)
# Terms of the first operand only.
OF_FIRST: Final = ("tf.divide", "tf.math.divide_no_nan", *NEGATIONS)
LINEAR_IN_FIRST: Final = (*ADDITIONS, "tf.multiply", *OF_FIRST)
QUOTIENTS: Final = ("tf.divide", "tf.math.divide_no_nan")
# 0 where the divisor is 0.
SAFE_DIVISIONS: Final = ("tf.math.divide_no_nan", "tf.math.reciprocal_no_nan")
# Not finite at 0 of this parameter.
DIVISORS: Final = {"tf.divide": "y", "tf.math.reciprocal": "x", "tf.math.rsqrt": "x"}
# Not finite at 0 of what is divided by, rooted, or raised to a negative power.
INVERTING: Final = ("tf.divide", "tf.math.rsqrt", "tf.pow")
MATRIX_MULTIPLICATIONS: Final = ("tf.matmul", "tf.linalg.matvec", "tf.tensordot")
MATRIX_PRODUCTS: Final = ("tf.matmul", "tf.tensordot", "tf.einsum")
WEIGHED_SUMS: Final = (*MATRIX_PRODUCTS, "tf.nn.conv2d")
CONTRACTIONS: Final = ("tf.reduce_sum", *MATRIX_PRODUCTS, "tf.linalg.matvec")
# Add up or average what lies in a window.
WINDOW_SUMS: Final = (
    "tf.nn.avg_pool",
    "tf.nn.conv2d",
    "tf.nn.pool",
    "keras.layers.AveragePooling2D",
)
# What a layer with weights computes before its activation.
WEIGHTED_SUMS: Final = (*MATRIX_PRODUCTS, "tf.nn.conv2d", "tf.nn.xw_plus_b", "tf.nn.bias_add")

# Run a cell over time: the outputs are bounded, and of either sign.
RECURRENT_FUNCTIONS: Final = ("tf.nn.dynamic_rnn", "tf.nn.bidirectional_dynamic_rnn")

# Powers, roots, logarithms, exponentials.
NATURAL_LOGARITHMS: Final = ("tf.math.log", "tf.math.log1p")
LOGARITHMS: Final = (*NATURAL_LOGARITHMS, "ops.log2", "ops.log10")
SQUARE_ROOTS: Final = ("tf.sqrt", "K.sqrt")
# Roots that a program writes itself; the other ones square what they are given.
WRITTEN_ROOTS: Final = (*SQUARE_ROOTS, "tf.math.rsqrt")
NORMS: Final = ("tf.norm", "tf.math.reduce_euclidean_norm")
DEVIATIONS: Final = ("tf.math.reduce_std",)
# The same of arrays and tables: `data.std()`.
DEVIATIONS_OF_DATA: Final = ("method.std", *DEVIATIONS)
ROOTS: Final = (*SQUARE_ROOTS, *NORMS, *DEVIATIONS)
# A product of two norms, or the root of a product of two sums of squares.
NORM_PRODUCTS: Final = ("tf.multiply", "tf.matmul", "tf.sqrt")
# Of numbers between 0 and 1 these are 0 where the numbers are.
SIMPLE_POWERS: Final = ("tf.pow", "tf.square", "tf.sqrt")
POWERS: Final = ("tf.pow", "math.pow")
# Ways to write a square, if the exponent is 2 or both factors are the same.
SQUARES: Final = ("tf.square", "tf.pow", "tf.multiply")
# On the way from a vector to its squared length.
SQUARED_LENGTHS: Final = (*SQUARES, "tf.reduce_sum", "tf.nn.l2_loss")
# Never negative, if the exponent is even.
MAGNITUDES: Final = ("tf.square", "tf.abs", "tf.pow")
# Of what does not vanish on a grid these give what does not either.
KERNEL_KEEPING: Final = (*MAGNITUDES, "tf.divide")
VARIANCES: Final = ("tf.math.reduce_variance",)
PLAIN_MEANS: Final = ("tf.reduce_mean", "method.mean")
# Divide by the number of elements.
MEANS: Final = ("tf.reduce_mean", *VARIANCES, *DEVIATIONS)
DIFFERENCE_SQUARES: Final = ("tf.math.squared_difference",)
DIFFERENCES: Final = ("tf.subtract", *DIFFERENCE_SQUARES)
SQUARED_DIFFERENCES: Final = (*DIFFERENCE_SQUARES, *VARIANCES)
DISPERSIONS: Final = (*DEVIATIONS, *VARIANCES)
SPREADS: Final = (*DISPERSIONS, "tf.nn.moments")
POLES: Final = (*LOGARITHMS, *DIVISORS)
# Where a small number is added, or a floor put, to keep off 0.
GUARDED: Final = {"tf.math.log": "x", "tf.sqrt": "x", **DIVISORS}
# At or above 0, or below it, wherever their arguments are.
ONE_SIDED: Final = (
    *MAGNITUDES,
    *DIFFERENCE_SQUARES,
    "tf.sqrt",
    "tf.math.expm1",
    "tf.math.l2_normalize",
    "tf.add",
)
EXPONENTIALS: Final = ("tf.exp", "tf.math.expm1")
OF_ONE_SIGN: Final = (*NEGATIONS, "tf.math.expm1", "tf.abs", "tf.square")
# May be infinite for finite numbers, or hand on an infinite one.
MAY_BE_INFINITE: Final = (*LOGARITHMS, *NEGATIONS, "tf.divide", "tf.math.reciprocal", "tf.sqrt")
POSITIVE_SCALES: Final = ("tf.exp", "tf.math.softplus")
UNDERFLOWING: Final = ("tf.exp", "tf.sigmoid")
# Densities over a grid, of which an element may underflow.
DENSITIES: Final = ("tf.exp", "tf.math.reciprocal", "method.prob")
PROBABILITIES: Final = ("tf.nn.softmax", "tf.sigmoid")
# Rise from one bound to the other one.
STEP_CURVES: Final = ("tf.sigmoid", "tf.math.erf", "tf.tanh", "tf.math.erfc")
# And what tells how much of a distribution lies below a number, or above it.
DISTRIBUTION_FUNCTIONS: Final = (*STEP_CURVES, "method.cdf")

# Zeros.
ZERO_AT_ZERO: Final = ("tf.square", "tf.abs", "tf.nn.relu", "tf.maximum")
ZERO_AT_ZERO_ONLY: Final = ("tf.sqrt", "tf.square", "tf.abs")
# 0 where what they are given is, or some of it.
ZERO_IF_INSIDE: Final = (
    *SQUARE_ROOTS,
    "tf.square",
    "tf.pow",
    "tf.reduce_prod",
    "tf.math.l2_normalize",
)

# Reductions.
ELEMENT_SUMS: Final = ("tf.reduce_sum", "method.sum")
SUMS: Final = (*ELEMENT_SUMS, "tf.math.count_nonzero")
TOTALS: Final = ("tf.reduce_sum", "tf.reduce_mean")
AVERAGES: Final = ("tf.reduce_mean", "tf.divide")
REDUCED_SUMS: Final = (*SUMS, "tf.reduce_mean", "tf.add_n")
CUMULATIVE_SUMS: Final = ("tf.cumsum",)
SEGMENT_SUMS: Final = ("tf.math.segment_sum", "tf.math.unsorted_segment_sum")
SEGMENT_MAXIMA: Final = ("tf.math.segment_max", "tf.math.unsorted_segment_max")
SEGMENT_OPS: Final = tuple(
    f"tf.math.{kind}_{what}"
    for kind in ("segment", "unsorted_segment")
    for what in ("sum", "mean", "prod", "max", "min")
)
# An axis of the result has another length than that of what is given.
RESIZING: Final = ("tf.repeat", *SEGMENT_OPS)
HISTOGRAMS: Final = ("tf.math.bincount",)
CLASS_TOTALS: Final = ("tf.reduce_sum", *HISTOGRAMS, "tf.math.unsorted_segment_sum")
# Counts, unless they are given weights.
TALLIES: Final = ("tf.math.confusion_matrix", *HISTOGRAMS)
ADDING_UP: Final = (
    *REDUCED_SUMS,
    *SEGMENT_SUMS,
    *HISTOGRAMS,
    *CUMULATIVE_SUMS,
    "tf.linalg.diag_part",
)
EXTREMES: Final = ("tf.reduce_max", "tf.reduce_min")
# Of a product with a one-hot mask these give the element that was chosen.
PICKING_REDUCTIONS: Final = ("tf.reduce_sum", "tf.reduce_max")
LOGARITHM_SUMS: Final = (*TOTALS, *CUMULATIVE_SUMS, "tf.add_n")
LOGARITHM_PRODUCTS: Final = (
    *FACTORS,
    "tf.pow",
    "tf.square",
    "tf.sqrt",
    "tf.math.reciprocal",
    "tf.reduce_prod",
)

# Choices, bounds, tests.
BRANCHES: Final = frozenset(("tf.where", "K.switch"))
BY_CONDITION: Final = BRANCHES | {"tf.boolean_mask"}
CHOICES: Final = BY_CONDITION | {"ops.nan_to_num"}
# Leave no NaN of what they are given.
NAN_REPLACING: Final = BRANCHES | {"ops.nan_to_num", "tf.math.multiply_no_nan"}
# Ways to take elements out by a mask.
MASKINGS: Final = ("tf.where", "tf.multiply")
ONE_SIDED_BOUNDS: Final = ("tf.maximum", "tf.minimum")
BOUNDS: Final = ("tf.clip_by_value", *ONE_SIDED_BOUNDS)
RELUS: Final = ("tf.nn.relu", "tf.nn.relu6")
RELU_OF_KERAS: Final = "keras.activations.relu"
RELU_LAYERS: Final = ("keras.layers.ReLU",)
CLIPS: Final = frozenset((*BOUNDS, *RELUS))
# Keep a value off 0 where the other operand is above it.
FLOORS: Final = ("tf.add", "tf.maximum")
# Keep a value below a number.
# Least where all operands are, with a derivative of 1 or 0.
RISING: Final = frozenset(("tf.add", *CLIPS))
CEILINGS: Final = ("tf.clip_by_value", "tf.minimum")
PARTS: Final = ("tf.multiply", *FLOORS)
GREATER: Final = ("tf.greater", "tf.greater_equal")
LESS: Final = ("tf.less", "tf.less_equal")
INCLUSIVE_ORDERS: Final = ("tf.greater_equal", "tf.less_equal")
EQUALITIES: Final = ("tf.equal", "tf.not_equal")
# What may give all that a mask leaves out.
COMPLEMENTS: Final = ("tf.subtract", "tf.logical_not")
# What tests labels, ids, marks or lengths: numbers of data.
DATA_TESTS: Final = (*EQUALITIES, "tf.sequence_mask")
# Tests that are true of numbers above a bound, and those that are true of ones that are not.
ABOVE: Final = (*GREATER, "tf.not_equal")
NOT_ABOVE: Final = ("tf.equal", *LESS)
LOGICAL: Final = ("tf.logical_not", "tf.logical_and", "tf.logical_or")
FINITE_TESTS: Final = ("tf.math.is_nan", "tf.math.is_finite")
NAN_TESTS: Final = (*FINITE_TESTS, "tf.math.is_inf")
# Conjunction and negation of masks that are numbers.
MASK_ARITHMETIC: Final = ("tf.multiply", "tf.subtract")
# Masks that leave an element of each row.
OPEN_MASKS: Final = frozenset(
    (
        "tf.linalg.band_part",
        "tf.linalg.LinearOperatorLowerTriangular",
        "tf.math.top_k",
        "tf.reduce_max",
        "tf.sort",
        "tf.eye",
        "tf.argmax",
        "tf.argmin",
        "tf.one_hot",
    )
)
# What a mask of zeros and ones may be made by.
MASKS: Final = ("tf.subtract", "tf.cast", "tf.sequence_mask", "tf.one_hot")

# The last names of tests, in all libraries.
ORDER_NAMES: Final = frozenset("less less_equal greater greater_equal".split())
COMPARISON_NAMES: Final = ORDER_NAMES | {"equal", "not_equal"}
IS_NAN_NAMES: Final = frozenset(("is_nan", "isnan"))
IS_FINITE_NAMES: Final = frozenset(("is_finite", "isfinite"))
NAN_TEST_NAMES: Final = IS_NAN_NAMES | IS_FINITE_NAMES | {"is_inf", "isinf"}

# Numbers that are made of shapes, and whole numbers.
SIZES: Final = ("tf.size", "tf.shape")
ZEROS: Final = ("tf.zeros", "tf.zeros_like")
ONES: Final = ("tf.ones", "tf.ones_like")
FILLS: Final = (*ZEROS, *ONES)
# Nothing of the numbers that they are given.
OF_SHAPES: Final = (*SIZES, "tf.rank", "tf.zeros_like", "tf.ones_like")
ONE_HOTS: Final = ("tf.one_hot", "K.one_hot")
ROUNDINGS: Final = ("tf.round", "tf.floor", "tf.math.ceil", "tf.sign", "tf.math.rint")
# Whole numbers, of which no gradient is taken.
STEPS: Final = (
    *ROUNDINGS,
    *ONE_HOTS,
    *FILLS,
    *SIZES,
    "tf.argmax",
    "tf.argmin",
    "tf.eye",
    "tf.math.count_nonzero",
    "tf.sequence_mask",
)
NO_GRADIENT: Final = frozenset(
    (*STEPS, "tf.math.floordiv", "tf.stop_gradient", "tf.rank", "tf.range", "tf.constant")
)
GRIDS: Final = ("tf.range", "tf.linspace", "tf.meshgrid")

# The same elements, in another shape or several times.
REPETITIONS: Final = (*RESHAPES, "tf.repeat")
# What lays elements out anew: rows of the result are made of rows of what is given.
REARRANGEMENTS: Final = (*RESHAPES, *SLICES, "tf.concat", "tf.transpose")
# The result has the shape of what is given.
SHAPE_KEEPING: Final = (*COPIES, *CASTS, *MAKES_TENSOR, "tf.square", "tf.abs", "tf.nn.relu")
# What a mask goes through that still marks the same elements, or those it left out.
MASK_LAYOUTS: Final = (*RESHAPES, *CASTS, "tf.reduce_all", "tf.reduce_any", "tf.logical_not")
# What keeps a value off 0 by a small constant.
EPSILON_GUARDS: Final = ("tf.add", "tf.maximum", "tf.clip_by_value")

# The first release with the gradient of an op that is older: slogdet is in 1.8, whose gradients end
# there with a LookupError, as a reader of a program that pins it reported.
WITH_GRADIENT_SINCE: Final = {"tf.linalg.slogdet": "1.13"}

# Data, variables, and random numbers.
PLACEHOLDERS: Final = ("tf.placeholder", "K.placeholder")
# What a loss of a compiled model is fed. Elsewhere a model may be called with what another gives.
FED_TO_LOSSES: Final = (*PLACEHOLDERS, "keras.Input")
# What reads or batches data from outside.
READERS: Final = ("tf.decode_raw", "tf.image.decode_image")
# What no weight of the program makes by itself: what is fed, and gradients.
FED_OR_GRADIENTS: Final = (
    *FED_TO_LOSSES,
    "tf.gradients",
    "method.gradient",
    "method.compute_gradients",
)
VARIABLES: Final = ("tf.Variable", "tf.get_variable", "method.add_weight", "K.variable")
# The parameter of those that says what a variable begins with.
INITIAL_VALUES: Final = {
    "tf.Variable": "initial_value",
    "tf.get_variable": "initializer",
    "K.variable": "value",
}
# Numbers, and initial weights of layers, that are drawn from a normal distribution.
NORMAL_DRAWS: Final = (
    "tf.random.normal",
    "tf.random.truncated_normal",
    "K.random_normal",
    "np.random.randn",
    "np.random.normal",
)
NORMAL_INITIALIZERS: Final = (
    "keras.initializers.RandomNormal",
    "keras.initializers.TruncatedNormal",
)
_RANDOM_TENSORS: Final = ("tf.random.", "K.random_", "K.truncated_normal", "keras.random.")
_RANDOM: Final = (*_RANDOM_TENSORS, "np.random.")

# Spectra of signals: exactly 0 in all bins of a frame of silence.
SPECTRA: Final = ("tf.signal.stft", "tf.signal.fft", "ops.stft", "ops.fft")
COMPLEX_PARTS: Final = ("tf.abs", "tf.math.real", "tf.math.imag")

# Elementwise.
POINTWISE: Final = frozenset(
    (
        *LINEAR,
        *BOUNDS,
        *UNDERFLOWING[1:],
        "tf.abs",
        "tf.sign",
        "tf.square",
        "tf.tanh",
        "tf.nn.relu",
        "tf.math.softplus",
        "tf.where",
    )
)
# Exponents are differences to a maximum behind these, too, if the first operand was.
SCALINGS: Final = (*FACTORS, *NEGATIONS, "tf.identity", "tf.stop_gradient", "tf.cast")
# A point of a grid stays one behind these.
OF_GRIDS: Final = frozenset(
    (*ARITHMETIC, *NEGATIONS, *MAGNITUDES, *CONSTANTS, "tf.cast", "tf.reduce_sum")
)
# 0 where the first operand is.
OF_DISTANCES: Final = frozenset(
    (*NEGATIONS, *MAGNITUDES, "tf.divide", "tf.sqrt", "tf.reduce_sum", "tf.norm", "tf.cast")
)
# One element of the result for each element of an operand.
ONE_BY_ONE: Final = (*ARITHMETIC, *NEGATIONS, *CASTS, "tf.pow", "tf.sqrt", "tf.square")
BEFORE_POLES: Final = frozenset((*CASTS, *LINEAR, "tf.math.floordiv"))

# The orders of a norm that is the root of a sum of squares.
EUCLIDEAN: Final = (None, 2, "euclidean", "fro")


def is_random(name: str) -> bool:
    """Whether an op of this name draws random numbers."""
    return name.startswith(_RANDOM)


def draws_tensor(name: str) -> bool:
    """Whether an op of this name draws random numbers into a tensor, not into an array of NumPy."""
    return name.startswith(_RANDOM_TENSORS)


# Rows that hold several functions of equal bounds: two of them give different numbers.
OF_SEVERAL_FUNCTIONS: Final = frozenset(
    (
        "K.one_hot",
        "ops.fft",
        "ops.isclose",
        "ops.median",
        "tf.argsort",
        "tf.gradients",
        "tf.linalg.diag",
        "tf.linalg.logm",
        "tf.math.special.expint",
        "tf.nn.conv2d",
        "tf.reverse",
        "tf.signal.fft",
        "tf.sort",
        "tf.tensor_scatter_nd_update",
        "tf.train.exponential_decay",
        "tnp.swapaxes",
    )
)

# Ops by what they do to a value and its gradient at 0. What hands no gradient back there:
FLAT_AT_ZERO: Final = frozenset(("tf.square", "tf.abs", "tf.nn.l2_loss", *NORMS))
# Linear in what they are given: 0 at 0, and the gradient passes.
LINEAR_AT_ZERO: Final = frozenset((*NEGATIONS, *CASTS, *COPIES, *TOTALS, *REARRANGEMENTS))
# Finite derivatives wherever the argument is.
SMOOTH_CURVES: Final = frozenset(
    (*STEP_CURVES, *POSITIVE_SCALES, "tf.nn.softmax", "tf.sin", "tf.cos", "tf.square")
)
# 0 where all that they are given is.
VANISHING_AT_ZERO: Final = frozenset(
    (
        *LINEAR_AT_ZERO,
        *FLAT_AT_ZERO,
        *ROOTS,
        "tf.nn.relu",
        "tf.tanh",
        "tf.sin",
        "tf.math.expm1",
        "tf.math.log1p",
        "tf.reduce_max",
    )
)
# 0 only where their operands are, or one of them.
FALLING_WITH: Final = (
    "tf.square",
    "tf.divide",
    "tf.math.reciprocal",
    "tf.abs",
    *MASKINGS,
)
# What depends on shapes and numbers only.
MADE_OF_SHAPES: Final = (*FILLS, "tf.constant", "tf.range", "tf.linspace")
# What picks elements, so that none may be left.
CHOOSING: Final = frozenset((*FILTERS, *GATHERS, "tf.strided_slice"))

# Ops and layers by what they do to the second derivative.
LINEAR_SUMS: Final = frozenset(
    (*ADDITIONS, *NEGATIONS, *TOTALS, *CASTS, "tf.add_n", "tf.concat", "tf.stack")
)
LINEAR_TIMES_CONSTANT: Final = frozenset((*MATRIX_PRODUCTS, "tf.multiply", "tf.nn.bias_add"))
# Make 0 of hardly anything else.
SLOPED: Final = ("tf.nn.leaky_relu", "tf.nn.batch_normalization")
# Give numbers below 0: of what is never negative they would change nothing.
LEAKING: Final = ("tf.nn.leaky_relu",)
# Have a derivative that is hardly ever 0 for all that they are given.
NOWHERE_FLAT: Final = frozenset(
    (
        *LINEAR,
        *WEIGHTED_SUMS,
        *TOTALS,
        *CASTS,
        *REARRANGEMENTS,
        *SLOPED,
        *WINDOW_SUMS,
        *"tf.add_n tf.stack tf.pad tf.tanh tf.math.softplus tf.nn.elu tf.nn.selu tf.nn.silu "
        "tf.nn.gelu tf.nn.max_pool tf.nn.dropout tf.nn.fused_batch_norm tf.image.resize "
        "tf.math.real tf.math.imag tf.complex keras.layers.concatenate keras.layers.add".split(),
    )
)
# 0 only where what they are given is.
ZERO_WITH_OPERAND: Final = frozenset(
    (*NEGATIONS, *CASTS, *COPIES, *REARRANGEMENTS, "tf.abs", "tf.tanh", "tf.math.conj")
)
# Losses that are a mean of squares.
LOSS_OF_SQUARES: Final = (
    "keras.losses.mean_squared_error",
    "keras.losses.MeanSquaredError",
    "tf.losses.mean_squared_error",
)
# Linear on each side of a bend.
BENDS: Final = frozenset((*RELUS, *ONE_SIDED_BOUNDS, RELU_OF_KERAS, "tf.nn.leaky_relu", "tf.abs"))
# Have a derivative that is exactly 0 for some of what they are given.
FLAT_IN_PART: Final = frozenset((*RELUS, RELU_OF_KERAS, *RELU_LAYERS, *PROBABILITIES))
LEAKING_PARTS: Final = frozenset((*LEAKING, "keras.layers.LeakyReLU", "keras.layers.PReLU"))
BENDING_LAYERS: Final = frozenset((*RELU_LAYERS, "keras.layers.LeakyReLU"))
# The same activations as layers name them in a text.
FLAT_NAMES: Final = frozenset(("relu", "relu6", "sigmoid", "softmax", "hard_sigmoid"))
BEND_NAMES: Final = frozenset(("relu", "relu6", "leaky_relu"))
# Make weights of weights alone: of a kernel and the vector of a power iteration.
WEIGHING: Final = frozenset(
    (*TOTALS, *SQUARES, "tf.matmul", "tf.divide", "tf.reshape", "tf.transpose")
)
