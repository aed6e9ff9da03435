"""A guard that comes after the root, where the gradient is already broken.

The derivative of a square root is infinite at 0, and that of a norm or standard deviation is 0 / 0.
Adding an epsilon to the result, or taking the maximum with one, changes the value; the gradient
still passes through the root. As a term of a loss, `sqrt(s) + eps` has an Inf or NaN gradient in
every mode. As a divisor, in `x / (norm(x) + eps)`, the gradient that arrives at the root is 0 at
the bad points: TensorFlow's own kernels keep it 0, XLA computes 0 * inf, which is NaN. Keras 3
compiles `fit` with XLA on GPUs, so the same code is fine on one machine and NaN on another.

See it:
    >>> x = tf.constant([0.0, 0.0])
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = tf.sqrt(tf.reduce_sum(tf.square(x))) + 1e-8
    >>> tape.gradient(y, x).numpy()
    array([nan, nan], dtype=float32)

Bad:
    unit = x / (tf.norm(x, axis=-1, keepdims=True) + 1e-8)
    scaled = (x - mean) / (tf.math.reduce_std(x, axis=0) + 1e-8)

Good:
    unit = tf.math.l2_normalize(x, axis=-1)
    scaled = (x - mean) / tf.sqrt(tf.math.reduce_variance(x, axis=0) + 1e-12)

Often harmless: a finding that applies under XLA only, in a program that does not ask for XLA and
does not train by `fit` of Keras 3.

`divide_no_nan(x, norm(x))`, `x / maximum(norm(x), eps)` and `maximum(sqrt(s), eps)` have the same
problem under XLA. Keras 3 guards in this way itself (`ops.normalize`, `UnitNormalization`,
`Dot(normalize=True)`, the cosine similarity), and so does `tf.image.per_image_standardization`:
these are reported with `certainty = "unknown"` only.

See also: https://www.tensorflow.org/api_docs/python/tf/math/l2_normalize

Seen in the wild:
https://github.com/keras-team/keras/issues/23075 (a bound behind rsqrt)
"""

from dataclasses import replace

from tfnanlint.api import (
    Certainty,
    Context,
    Differentiated,
    Finding,
    Iterator,
    Site,
    Value,
    late_guard_repairs,
    late_guards,
    rule,
    traits,
)

ALWAYS = ("eager", "graph", "xla")
WORDS = {
    "tf.norm": "norm",
    "tf.math.reduce_euclidean_norm": "norm",
    "tf.math.reduce_std": "standard deviation",
}
# Where it shows, by the modes in which it does.
WHERE = {
    ("xla",): "under XLA",
    ("eager", "graph"): "in eager mode and tf.function, but not under XLA",
    ALWAYS: "in every mode",
}
# Functions of TensorFlow and Keras 3 that guard in this way themselves: what they normalise, and
# where its gradient is lost.
LIBRARY = {
    "ops.normalize": ("x", "a zero vector"),
    "keras.layers.UnitNormalization": ("input", "a zero vector"),
    "keras.losses.cosine_similarity": ("y_pred", "a zero vector"),
    "keras.losses.CosineSimilarity": ("input", "a zero vector"),
    "keras.layers.Dot": ("input", "a zero vector"),
    "keras.layers.dot": ("inputs", "a zero vector"),
    "tf.image.per_image_standardization": ("x", "an image of one colour"),
}


@rule(
    "TFN404",
    "guard-after-op",
    on=" ".join((*traits.ROOTS, "tf.divide", "tf.math.divide_no_nan", "tf.maximum", *LIBRARY)),
    default="MUST MAY",
    over="TFN201 TFN202 TFN203",
    silent="MAY/UNKNOWN/DOUBTFUL MAY/YES/DOUBTFUL",
    fixes="epsilon_inside l2_normalize",
)
def check(site: Site, here: Context) -> Iterator[Finding]:
    if site.op.name in LIBRARY:
        yield from ready_made(site, here)
        return
    guard = late_guards.late_guard(site, here.interpreter, here.around)
    if guard is None or site.differentiated is Differentiated.NO:
        return
    guard = replace(guard, roots=[root for root in guard.roots if reached(root, site, here)])
    grades = [
        grade
        for grade in (late_guards.root_grade(root, site) for root in guard.roots)
        if grade is not None
    ]
    if not grades or len(grades) < len(guard.roots):
        return
    blocked = all(map(late_guards.comes_from_relu, guard.roots))
    if blocked and guard.only_xla:
        return
    modes = ("xla",) if guard.only_xla else ("eager", "graph") if blocked else ALWAYS
    what = WORDS.get(guard.roots[0].op.name, "square root")
    yield here.finding(
        site,
        None,
        f"the guard comes after the {what}, whose gradient is Inf at 0: the gradient is NaN "
        f"{WHERE[modes]}",
        max(grades),
        late_guard_repairs.repaired(here, site, guard),
        modes=modes,
        node=guard.node,
        doubtful=guard.only_xla and not here.compiled() or here.has_no_path(site),
        kind=late_guards.weakness_of_roots(guard.roots),
        covers=[
            root.node
            for root in guard.roots
            if late_guards.is_used_only_at(root, site, here.around)
        ],
    )


def reached(root: Site, site: Site, here: Context) -> bool:
    """Whether a gradient may come back through a root, as one does through the guard at `site`."""
    if root is site or root.point is None or root.point.module is not here.module:
        return True
    return root.gradient(as_of=site) is not Differentiated.NO


def ready_made(site: Site, here: Context) -> Iterator[Finding]:
    """Not reported by default: it shows under XLA only, and only where nothing keeps the input away
    from 0.
    """
    param, where = LIBRARY[site.op.name]
    if not site.given(param) or site.differentiated is not Differentiated.YES:
        return
    parts: tuple[Value, ...] = (site.value(param),)
    if site.op.name.lower() == "keras.layers.dot":
        layer = getattr(site.value("layer").obj, "site", None) or site
        if layer.const("normalize", False) is not True or not isinstance(parts[0].obj, tuple):
            return
        parts = parts[0].obj
    elif isinstance(parts[0].obj, tuple):
        parts = parts[0].obj[-1:]  # labels come first
    if not any(
        here.numeric(x) and (where != "a zero vector" or x.zero and not x.guarded) for x in parts
    ):
        return
    yield here.finding(
        site,
        param,
        f"{site.op.name.rpartition('.')[2]} adds its guard after its square root: the gradient "
        f"of {where} is NaN under XLA (jit_compile, Keras fit on a GPU) and finite in other "
        "modes",
        Certainty.UNKNOWN,
        modes=("xla",),
        help="tf.math.l2_normalize guards under the root" if where == "a zero vector" else "",
    )
