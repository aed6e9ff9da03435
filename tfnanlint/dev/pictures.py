"""The pictures of the rules' pages: an expression of one number before and after the fix, or why a
rule has none.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn for a rule: `before` and `after` as functions of `x`, a float32 scalar.

    They are Python with `tf`, `keras` and `slope(f, x)`, the derivative of f at x; `words` say what
    is to be seen. `value` and `gradient` limit the vertical axes, `powers` makes that of the value
    logarithmic. Rounding decides the values of a `rough` one before the fix: they are not compared.
    """

    slug: str
    before: str
    after: str
    lo: float
    hi: float
    words: str
    x: str = "x"
    value: tuple[float, float] | None = None
    gradient: tuple[float, float] | None = None
    powers: bool = False
    rough: bool = False


PICTURES = (
    Picture(
        "log-of-nonpositive",
        "tf.math.log(x)",
        "tf.math.log(tf.maximum(x, 1e-37))",
        -0.5,
        1.0,
        "The logarithm is NaN below 0 and -inf at 0. The floor makes it finite, with a gradient of"
        " 0 below the floor.",
        gradient=(-5, 40),
    ),
    Picture(
        "division-by-zero",
        "1.0 / tf.nn.relu(x)",
        "tf.math.divide_no_nan(1.0, tf.nn.relu(x))",
        -1.0,
        2.0,
        "Where the divisor is 0 the quotient is infinite and its gradient NaN;"
        " `divide_no_nan` gives 0 for both.",
        value=(-1, 12),
        gradient=(-12, 1),
    ),
    Picture(
        "sqrt-of-negative",
        "tf.sqrt(x)",
        "tf.sqrt(tf.maximum(x, 1e-12))",
        -1.0,
        1.0,
        "Below 0 the root is NaN, value and gradient; the floor keeps both finite.",
        gradient=(-0.5, 5),
    ),
    Picture(
        "fractional-power",
        "tf.nn.relu(x) ** 0.5",
        "tf.maximum(tf.nn.relu(x), 1e-7) ** 0.5",
        -1.0,
        1.0,
        "The value is finite everywhere, and the gradient is NaN wherever the base is 0.",
        gradient=(-0.5, 5),
    ),
    Picture(
        "inverse-trig-domain",
        "tf.acos(x)",
        "tf.acos(tf.clip_by_value(x, -1.0 + 1e-7, 1.0 - 1e-7))",
        -1.3,
        1.3,
        "Beyond -1 and 1 value and gradient are NaN; the clip with a margin keeps both finite.",
        gradient=(-8, 0.5),
    ),
    Picture(
        "exp-overflow",
        "tf.exp(x)",
        "tf.exp(tf.minimum(x, 80.0))",
        60.0,
        110.0,
        "From 88.7 on the exponential is infinite in float32; the bound keeps it finite.",
        powers=True,
    ),
    Picture(
        "mean-of-nothing",
        "tf.reduce_mean(tf.boolean_mask(x * [1.0, 2.0, 3.0], x * [1.0, 2.0, 3.0] > 1.5))",
        "tf.math.divide_no_nan("
        "tf.reduce_sum(tf.boolean_mask(x * [1.0, 2.0, 3.0], x * [1.0, 2.0, 3.0] > 1.5)),"
        " tf.reduce_sum(tf.cast(x * [1.0, 2.0, 3.0] > 1.5, tf.float32)))",
        0.0,
        2.0,
        "Where the mask keeps no element the mean is 0 / 0, NaN; `divide_no_nan` gives 0.",
    ),
    Picture(
        "norm-gradient-at-zero",
        "tf.norm(tf.stack([tf.nn.relu(x), 0.0]))",
        "tf.sqrt(tf.square(tf.nn.relu(x)) + 1e-12)",
        -1.0,
        1.0,
        "The norm of a zero vector is 0, and its gradient is NaN.",
    ),
    Picture(
        "sqrt-gradient-at-zero",
        "tf.sqrt(tf.square(tf.nn.relu(x)))",
        "tf.sqrt(tf.square(tf.nn.relu(x)) + 1e-12)",
        -1.0,
        1.0,
        "Where the radicand is 0 the value is 0, and the gradient inf * 0, which is NaN.",
    ),
    Picture(
        "std-gradient-at-zero",
        "tf.math.reduce_std(tf.stack([tf.nn.relu(x), 0.0]))",
        "tf.sqrt(tf.math.reduce_variance(tf.stack([tf.nn.relu(x), 0.0])) + 1e-12)",
        -1.0,
        1.0,
        "The standard deviation of equal numbers is 0, and its gradient is NaN.",
    ),
    Picture(
        "where-guards-value-only",
        "tf.where(tf.nn.relu(x) > 0, tf.math.log(tf.nn.relu(x)), 0.0)",
        "tf.where(x > 0, tf.math.log(tf.where(x > 0, x, 1.0)), 0.0)",
        -1.0,
        1.0,
        "Both values are finite and equal everywhere. The gradient of the outer `tf.where` alone is"
        " NaN where the logarithm is not taken.",
        gradient=(-2, 20),
    ),
    Picture(
        "nan-masked-after",
        "tf.where(tf.math.is_nan(tf.acos(x)), 0.0, tf.acos(x))",
        "tf.where(x < 1, tf.acos(tf.where(x < 1, x, 0.0)), 0.0)",
        -0.5,
        2.0,
        "Replacing NaN afterwards repairs the value; the gradient stays NaN.",
        gradient=(-5, 0.5),
    ),
    Picture(
        "clip-after-singularity",
        "tf.maximum(tf.math.log(tf.nn.relu(x)), -5.0)",
        "tf.math.log(tf.maximum(tf.nn.relu(x), 0.0067))",
        -0.5,
        0.5,
        "The clip bounds the value. The gradient behind it is 0 * inf, which is NaN.",
        gradient=(-10, 120),
    ),
    Picture(
        "mask-times-infinity",
        "tf.nn.relu(x) * tf.math.log(tf.nn.relu(x))",
        "tf.math.xlogy(tf.nn.relu(x), tf.nn.relu(x))",
        -0.5,
        1.0,
        "0 * log(0) is 0 * -inf, which is NaN; `xlogy` gives 0.",
        gradient=(-6, 2),
    ),
    Picture(
        "angle-at-origin",
        "tf.atan2(tf.nn.relu(x - 0.5), tf.nn.relu(x))",
        "tf.where(x > 0, tf.atan2(tf.nn.relu(x - 0.5), tf.where(x > 0, x, 1.0)), 0.0)",
        -1.0,
        3.0,
        "At the origin the angle is 0 and its gradient 0 / 0, which is NaN.",
    ),
    Picture(
        "second-derivative-of-relu",
        "slope(tf.nn.relu, x)",
        "slope(tf.tanh, x)",
        -3.0,
        3.0,
        "The value is the first derivative of the activation, the gradient its second: that of relu"
        " (before) is 0, that of tanh (after) is not.",
    ),
    Picture(
        "high-derivative-of-pow",
        "slope(lambda t: slope(lambda s: tf.pow(s, 2.0), t), x)",
        "slope(lambda t: slope(lambda s: s * s, t), x)",
        -1.0,
        1.0,
        "The value is the second derivative, the gradient the third: of `tf.pow` it is NaN at 0.",
        value=(0, 4),
        gradient=(-1, 1),
    ),
    Picture(
        "log-softmax",
        "tf.math.log(tf.nn.softmax(tf.stack([x, 0.0])))[0]",
        "tf.nn.log_softmax(tf.stack([x, 0.0]))[0]",
        -200.0,
        50.0,
        "A softmax that underflows has the logarithm -inf and a gradient of NaN; `log_softmax` has"
        " neither.",
        x="first logit; the second is 0",
    ),
    Picture(
        "log-sigmoid",
        "tf.math.log(1.0 - tf.sigmoid(x))",
        "-tf.math.softplus(x)",
        -10.0,
        40.0,
        "From 17 on 1 - sigmoid(x) is 0 in float32: its logarithm is -inf, the gradient NaN.",
    ),
    Picture(
        "hand-cross-entropy",
        "-tf.math.log(tf.clip_by_value(tf.nn.softmax(tf.stack([x, 0.0])), 1e-7, 1.0))[0]",
        "-tf.nn.log_softmax(tf.stack([x, 0.0]))[0]",
        -40.0,
        15.0,
        "The clip ends the loss at 16 and its gradient at 0, just where the answer is most wrong.",
        x="logit of the right class; the other is 0",
    ),
    Picture(
        "softplus",
        "tf.math.log(1.0 + tf.exp(x))",
        "tf.math.softplus(x)",
        60.0,
        120.0,
        "From 88.7 on the exponential is infinite, and the gradient inf / inf, which is NaN.",
    ),
    Picture(
        "logsumexp",
        "tf.math.log(tf.reduce_sum(tf.exp(tf.stack([x, x - 1.0]))))",
        "tf.reduce_logsumexp(tf.stack([x, x - 1.0]))",
        -140.0,
        140.0,
        "Large exponents overflow to inf, small ones underflow to log(0), which is -inf.",
        x="exponent",
    ),
    Picture(
        "hand-softmax",
        "tf.exp(x) / (tf.exp(x) + 1.0)",
        "tf.nn.softmax(tf.stack([x, 0.0]))[0]",
        70.0,
        110.0,
        "From 88.7 on it is inf / inf, which is NaN.",
        x="first score; the second is 0",
        value=(0, 2),
        gradient=(-1, 1),
    ),
    Picture(
        "log1p",
        "tf.math.log(1.0 + x)",
        "tf.math.log1p(x)",
        0.0,
        1e-6,
        "1 + x keeps only the multiples of 1.2e-7; `log1p` keeps all digits of x.",
        gradient=(0.5, 1.5),
    ),
    Picture(
        "expm1",
        "tf.exp(x) - 1.0",
        "tf.math.expm1(x)",
        0.0,
        1e-6,
        "The difference keeps only the multiples of 1.2e-7; `expm1` keeps all digits of x.",
        gradient=(0.5, 1.5),
    ),
    Picture(
        "half-exp",
        "tf.sqrt(tf.exp(x))",
        "tf.exp(0.5 * x)",
        60.0,
        120.0,
        "The exponential is infinite from 88.7 on, although its root is an ordinary number.",
        powers=True,
    ),
    Picture(
        "variance-by-moments",
        "tf.reduce_mean(tf.square(x + [0.0, 1.0, 2.0])) - tf.square("
        "tf.reduce_mean(x + [0.0, 1.0, 2.0]))",
        "tf.math.reduce_variance(x + [0.0, 1.0, 2.0])",
        0.0,
        8000.0,
        "The variance of x, x + 1 and x + 2 is 2/3 for every x; the difference of the moments"
        " consists of rounding errors for large x, and becomes negative.",
        rough=True,
    ),
    Picture(
        "hand-sigmoid",
        "1.0 / (1.0 + tf.exp(-x))",
        "tf.sigmoid(x)",
        -130.0,
        20.0,
        "The value is right everywhere. Below -88.7 the gradient is 0 * inf, which is NaN.",
    ),
    Picture(
        "log-of-prob",
        "tf.math.log(tf.exp(-0.5 * tf.square(x)) / 2.5066283)",
        "-0.5 * tf.square(x) - 0.9189385",
        -20.0,
        20.0,
        "The density underflows 13 standard deviations from the mean; its logarithm is an ordinary"
        " number.",
        x="x, in standard deviations from the mean",
    ),
    Picture(
        "log-det",
        "tf.math.log(tf.linalg.det(x * tf.eye(20)))",
        "tf.linalg.slogdet(x * tf.eye(20))[1]",
        0.001,
        0.05,
        "The determinant of a 20 x 20 matrix underflows below entries of 0.012; its logarithm is an"
        " ordinary number.",
        x="entries of the diagonal",
    ),
    Picture(
        "normalize-by-norm",
        "(tf.stack([tf.nn.relu(x), 0.0]) / tf.norm(tf.stack([tf.nn.relu(x), 0.0])))[0]",
        "tf.math.l2_normalize(tf.stack([tf.nn.relu(x), 0.0]))[0]",
        -1.0,
        1.0,
        "A zero vector divided by its norm is 0 / 0, which is NaN; `l2_normalize` gives 0.",
        gradient=(-1, 1),
    ),
    Picture(
        "epsilon-absorbed",
        "tf.math.log(1.0 - tf.clip_by_value(tf.sigmoid(x), 1e-8, 1.0 - 1e-8))",
        "tf.math.log(1.0 - tf.clip_by_value(tf.sigmoid(x), 1e-7, 1.0 - 1e-7))",
        -5.0,
        30.0,
        "1 - 1e-8 is 1 in float32: the clip bounds nothing. With 1e-7 it does.",
    ),
    Picture(
        "epsilon-vanishes",
        "tf.math.log(tf.cast(tf.nn.relu(x), tf.float16) + 1e-8)",
        "tf.math.log(tf.cast(tf.nn.relu(x), tf.float16) + 1e-3)",
        -0.02,
        0.04,
        "1e-8 is 0 in float16: the logarithm sees 0. With 1e-3 it does not.",
        gradient=(-50, 1000),
    ),
    Picture(
        "guard-after-op",
        "tf.sqrt(tf.square(tf.nn.relu(x))) + 1e-6",
        "tf.sqrt(tf.square(tf.nn.relu(x)) + 1e-12)",
        -1.0,
        1.0,
        "The epsilon beside the root keeps the value away from 0, and leaves the gradient NaN;"
        " under the root it repairs both.",
    ),
    Picture(
        "guard-wrong-sign",
        "tf.math.log(tf.tanh(x) + 1e-8)",
        "tf.math.log(tf.maximum(tf.tanh(x), 1e-8))",
        -2.0,
        2.0,
        "The epsilon helps at 0 only: below it the logarithm is NaN.",
        gradient=(-2, 20),
    ),
    Picture(
        "guard-discarded",
        "-tf.math.log(tf.nn.softmax(tf.stack([x, 0.0])))[0]",
        "-tf.math.log(tf.clip_by_value(tf.nn.softmax(tf.stack([x, 0.0])), 1e-7, 1.0))[0]",
        -200.0,
        50.0,
        "Without the result of the clip the loss is infinite; with it finite, and without a"
        " gradient where the clip holds.",
        x="logit of the right class; the other is 0",
    ),
    Picture(
        "swapped-arguments",
        "keras.losses.binary_crossentropy(tf.stack([x]), tf.constant([1.0]))",
        "keras.losses.binary_crossentropy(tf.constant([1.0]), tf.stack([x]))",
        0.02,
        1.0,
        "The loss of the prediction x where the label is 1. Swapped, it is a straight line whose"
        " gradient does not grow with the error.",
        x="prediction x; the label is 1",
    ),
    Picture(
        "relu-before-softmax",
        "-tf.nn.log_softmax(tf.stack([tf.nn.relu(x), 0.0]))[0]",
        "-tf.nn.log_softmax(tf.stack([x, 0.0]))[0]",
        -5.0,
        5.0,
        "Below 0 the relu ends the gradient: a wrong answer is not corrected.",
        x="first logit, which is the right class",
    ),
    Picture(
        "softmax-twice",
        "-tf.nn.log_softmax(tf.nn.softmax(tf.stack([x, 0.0])))[0]",
        "-tf.nn.log_softmax(tf.stack([x, 0.0]))[0]",
        -10.0,
        10.0,
        "With a second softmax the loss lies between 0.31 and 1.31, and has no gradient where the"
        " answer is most wrong.",
        x="logit of the right class; the other is 0",
    ),
    Picture(
        "logits-as-probabilities",
        "keras.losses.binary_crossentropy(tf.constant([1.0]), tf.stack([x]))",
        "keras.losses.binary_crossentropy(tf.constant([1.0]), tf.stack([x]), from_logits=True)",
        -4.0,
        4.0,
        "A logit that is taken for a probability is clipped to between 0 and 1: outside there is no"
        " gradient.",
        x="logit; the label is 1",
        gradient=(-6, 1),
    ),
    Picture(
        "range-does-not-fit-loss",
        "keras.losses.binary_crossentropy(tf.constant([1.0]), tf.stack([tf.tanh(x)]))",
        "keras.losses.binary_crossentropy(tf.constant([1.0]), tf.stack([tf.sigmoid(x)]))",
        -4.0,
        4.0,
        "Where tanh is negative the loss clips it: there is no gradient. Sigmoid stays in range.",
        x="value before the activation; the label is 1",
        gradient=(-6, 1),
    ),
    Picture(
        "softmax-of-nothing",
        'tf.nn.softmax(tf.where(tf.stack([x, x - 1.0]) > 0, tf.stack([x, x - 1.0]), -float("inf")))'
        "[0]",
        "tf.nn.softmax(tf.where(tf.stack([x, x - 1.0]) > 0, tf.stack([x, x - 1.0]),"
        " tf.float32.min))[0]",
        -1.0,
        2.0,
        "Where every score of the row is masked, the softmax of -inf alone is NaN.",
        x="largest score; scores below 0 are masked",
        gradient=(-1, 1),
    ),
    Picture(
        "mask-overflows-float16",
        "tf.nn.softmax(tf.constant([1.0, 2.0], tf.float16)"
        " + tf.constant([0.0, 1.0], tf.float16) * tf.cast(x, tf.float16))[0]",
        "tf.nn.softmax(tf.where([True, False], tf.constant([1.0, 2.0], tf.float16),"
        " tf.float16.min))[0]",
        -80000.0,
        -50000.0,
        "Beyond -65504 the mask value is -inf in float16, and 0 * -inf is NaN.",
        x="value with which masked scores are filled",
        value=(0, 2),
        gradient=(-1, 1),
    ),
    Picture(
        "softmax-not-float32",
        "tf.math.log(tf.cast(tf.nn.softmax(tf.cast(tf.stack([x, 0.0]), tf.float16)),"
        " tf.float32))[0]",
        "tf.math.log(tf.nn.softmax(tf.stack([x, 0.0])))[0]",
        -40.0,
        10.0,
        "In float16 a probability below 3e-8 is 0, with the logarithm -inf, and from 2e-5 on the"
        " gradient 1 / p overflows. In float32 both are finite.",
        x="first logit; the second is 0",
    ),
    Picture(
        "float16-reduction",
        "tf.reduce_sum(tf.fill([1000], tf.cast(x, tf.float16))) / 1000",
        "tf.reduce_sum(tf.fill([1000], x)) / 1000",
        0.0,
        130.0,
        "The sum of 1,000 numbers overflows float16 from a mean of 65 on.",
        x="mean of 1,000 numbers",
        gradient=(0, 2),
    ),
    Picture(
        "tiny-batch",
        "(tf.stack([x]) - tf.reduce_mean(tf.stack([x])))[0]"
        " / tf.sqrt(tf.math.reduce_variance(tf.stack([x])) + 1e-3)",
        "(tf.stack([x, -1.0, 0.5, 1.2]) - tf.reduce_mean(tf.stack([x, -1.0, 0.5, 1.2])))[0]"
        " / tf.sqrt(tf.math.reduce_variance(tf.stack([x, -1.0, 0.5, 1.2])) + 1e-3)",
        -5.0,
        5.0,
        "Normalised with the statistics of a batch of one, every number becomes 0 and has no"
        " gradient; after: the same in a batch of four.",
    ),
    Picture(
        "log-feature-of-signed-data",
        "tf.math.log(x + 3.0)",
        "tf.sign(x) * tf.math.log1p(tf.abs(x))",
        -5.0,
        5.1,
        "Below -3 the shifted logarithm is NaN; `sign(x) * log1p(abs(x))` is defined everywhere.",
        gradient=(0, 5),
    ),
    Picture(
        "bound-from-data",
        "-tf.math.log(tf.clip_by_value(tf.nn.softmax(tf.stack([x, 0.0])), 1e-8,"
        " tf.reduce_max(tf.nn.softmax(tf.stack([x, 0.0])))))[0]",
        "-tf.nn.log_softmax(tf.stack([x, 0.0]))[0]",
        -40.0,
        15.0,
        "The maximum bounds nothing. The lower bound ends the gradient where the answer is most"
        " wrong; the loss of the logits keeps it.",
        x="logit of the right class; the other is 0",
    ),
)

# Rules without a picture, and why.
NOT_DRAWN = {
    "gradient-of-removed-singularity": "the value is right; only the gradient at one point is NaN",
    "growing-recurrence": "about many steps of a recurrent layer",
    "bad-initial-weights": "about a network, which learns nothing",
    "check-numerics-under-xla": "about a check that is not run",
    "compare-with-nan": "a truth value has neither range nor gradient",
    "labels-outside-classes": "labels are whole numbers",
    "learning-rate-too-high": "about many steps of training",
    "loss-not-scaled": "the scale is taken out of the gradient outside of the tape",
    "no-gradient-clipping": "the gradient is bounded after it was computed",
    "singular-matrix": "TensorFlow raises an error at the hazard",
    "tfdbg-v1": "about a debugger",
    "unchecked-data": "about the rows of a table",
    "unscaled-images": "about many steps of training",
    "wrong-gradient-at-zero": "the gradient is finite, and wrong at one number",
}
