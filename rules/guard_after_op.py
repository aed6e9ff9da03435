"""A guard that comes after the root, where the gradient is already broken.

The derivative of a square root is infinite at 0, and that of a norm or standard deviation is 0 / 0.
Adding an epsilon to the result, or taking the maximum with one, changes the value; the gradient
still runs through the root. As a summand of a loss `sqrt(s) + eps` has an Inf or NaN gradient in
every mode. As a divisor, `x / (norm(x) + eps)`, the gradient that comes back is 0 at the bad
points: TensorFlow's own kernels keep it 0, XLA computes 0 * inf, which is NaN. Keras 3 compiles
`fit` with XLA on GPUs, so the same code is fine on one machine and NaN on another.

Bad:
    unit = x / (tf.norm(x, axis=-1, keepdims=True) + 1e-8)
    scaled = (x - mean) / (tf.math.reduce_std(x, axis=0) + 1e-8)

Good:
    unit = tf.math.l2_normalize(x, axis=-1)
    scaled = (x - mean) / tf.sqrt(tf.math.reduce_variance(x, axis=0) + 1e-12)

Doubtful is what shows under XLA only in a file that names neither Keras nor XLA: nobody may ever
compile it so.

`divide_no_nan(x, norm(x))`, `x / maximum(norm(x), eps)` and `maximum(sqrt(s), eps)` have the same
problem under XLA. Keras 3 guards in this way itself (`ops.normalize`, `UnitNormalization`,
`Dot(normalize=True)`, the cosine similarity), and so does `tf.image.per_image_standardization`:
these are reported with `certainty = "all"` only.

See also: https://www.tensorflow.org/api_docs/python/tf/math/l2_normalize

Seen in the wild:
https://github.com/keras-team/keras/issues/23075 (a bound behind rsqrt)
"""

from dataclasses import dataclass

from tfnanlint.api import (
    NO_CONSTANT,
    Certainty,
    Claim,
    Context,
    Differentiated,
    Finding,
    Fix,
    Iterator,
    Note,
    Site,
    Value,
    argument,
    ast,
    evidence,
    made_by,
    repairs,
    rule,
    traits,
    truth_only,
)

ALWAYS = ("eager", "graph", "xla")
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


@dataclass
class Guard:
    """The `roots` and the expression that guards them too late; `only_xla`: other modes keep the
    gradient 0.
    """

    roots: list[Site]
    node: ast.expr
    only_xla: bool


@rule(
    "TFN404",
    "guard-after-op",
    on=" ".join((*traits.ROOTS, "tf.divide", "tf.math.divide_no_nan", "tf.maximum", *LIBRARY)),
    default="MUST MAY",
    over="TFN201 TFN202 TFN203",
    silent="MAY/UNKNOWN MAY/YES/DOUBTFUL",
)
def check(site: Site, here: Context) -> Iterator[Finding]:
    if site.op.name in LIBRARY:
        yield from ready_made(site, here)
        return
    found = guard(site, here)
    if found is None or site.differentiated is Differentiated.NO:
        return
    found.roots = [root for root in found.roots if reached(root, site, here)]
    if not found.roots:
        return
    grades = [
        graded for graded in (grade(root, site) for root in found.roots) if graded is not None
    ]
    blocked = all(map(from_relu, found.roots))
    if len(grades) < len(found.roots) or blocked and found.only_xla:
        return
    modes = ("xla",) if found.only_xla else ("eager", "graph") if blocked else ALWAYS
    what = {
        "tf.norm": "norm",
        "tf.math.reduce_euclidean_norm": "norm",
        "tf.math.reduce_std": "standard deviation",
    }.get(found.roots[0].op.name, "square root")
    where = {
        ("xla",): "under XLA (jit_compile, Keras fit on a GPU); other modes keep it 0",
        ALWAYS: "in every mode",
    }.get(modes, "in eager mode and tf.function (under XLA the relu stops it)")
    yield here.finding(
        site,
        None,
        f"the guard comes after the {what}: at 0 the gradient inside is already Inf, and becomes NaN {where}",
        max(grades),
        fixes(site, found, here),
        modes=modes,
        node=found.node,
        doubtful=found.only_xla and not here.compiled(),
        covers=[root.node for root in found.roots if only_here(root, site, here)],
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
        made = getattr(site.value("layer").obj, "site", None) or site
        if made.const("normalize", False) is not True or not isinstance(parts[0].obj, tuple):
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
        f"{site.op.name.rpartition('.')[2]} guards after its root: at {where} the gradient is NaN under XLA "
        "(jit_compile, Keras fit on a GPU); other modes keep it finite",
        Certainty.UNKNOWN,
        modes=("xla",),
        help="tf.math.l2_normalize guards under the root" if where == "a zero vector" else "",
    )


# What guards


def guard(site: Site, here: Context) -> Guard | None:
    name = site.op.name
    if name == "tf.math.divide_no_nan":
        root = root_of(site.value("y"))
        return Guard([root], site.node, True) if root is not None else None
    if name == "tf.maximum":
        return maximum(site)
    if name == "tf.divide":
        return divisor(site)
    return summand(site, here)


def root_of(value: Value) -> Site | None:
    """The root that a value is, as it is or rearranged; of one behind stop_gradient no gradient is
    taken.
    """
    root = made_by(value, "tf.stop_gradient", *traits.ROOTS)
    return (
        root
        if root is not None and root.op.name in traits.ROOTS and root.library not in ("np", "math")
        else None
    )


def maximum(site: Site) -> Guard | None:
    for param, other in (("x", "y"), ("y", "x")):
        root = root_of(site.value(param)) if site.may_be_made_by(param, *traits.ROOTS) else None
        if root is not None and positive(site.value(other)):
            return Guard([root], site.node, True)
    return None


def divisor(quotient: Site) -> Guard | None:
    """x / (root + eps), the sum in the quotient or in an earlier statement."""
    total = quotient.value("y").origin
    roots = added(total) if isinstance(total, Site) else []
    if not roots:
        return None
    return Guard(
        roots, quotient.args["y"], all(vanishes(quotient.value("x"), root) for root in roots)
    )


def added(total: Site) -> list[Site]:
    """The root to which a small constant is added, or the roots of a product (cosine similarity)."""
    if total.op.name != "tf.add":
        return []
    for param, other in (("x", "y"), ("y", "x")):
        if positive(total.value(other)):
            product = total.value(param).origin
            factors = (
                ("x", "y") if isinstance(product, Site) and product.op.name == "tf.multiply" else ()
            )
            found = [
                root_of(total.value(param)),
                *(root_of(product.value(factor)) for factor in factors),
            ]
            return [root for root in found if root is not None]
    return []


def summand(root: Site, here: Context) -> Guard | None:
    """root + eps that is not divided by, in one expression."""
    outer = here.around(root.node)[:2]
    total = (
        here.site(outer[0], root.point)
        if outer and isinstance(outer[0], (ast.BinOp, ast.Call))
        else None
    )
    if (
        total is None
        or total.op.name != "tf.add"
        or not any(total.args.get(p) is root.node for p in ("x", "y"))
    ):
        return None
    if not any(positive(total.value(p)) for p in ("x", "y")):
        return None
    above = (
        here.site(outer[1], root.point)
        if len(outer) > 1 and isinstance(outer[1], (ast.BinOp, ast.Call))
        else None
    )
    if _only_divided_by(outer[1] if len(outer) > 1 else None, root):
        return None  # the division says it, and knows what becomes of the gradient
    if (
        above is not None
        and above.op.name in ("tf.divide", "tf.math.divide_no_nan")
        and above.args.get("y") is total.node
    ):
        return None
    if len(outer) > 1 and divides_in_place(outer[1]):
        return None
    return Guard([root], total.node, False)


def _only_divided_by(statement: ast.AST | None, root: Site) -> bool:
    """Whether a statement gives the sum a name that is a divisor wherever it is read."""
    if (
        not isinstance(statement, ast.Assign)
        or len(statement.targets) != 1
        or not isinstance(statement.targets[0], ast.Name)
    ):
        return False
    name, nodes = statement.targets[0].id, list(ast.walk(root.point.scope.node))
    divisors = {
        node.right for node in nodes if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
    }
    divisors |= {
        node.args[1]
        for node in nodes
        if isinstance(node, ast.Call)
        and len(node.args) > 1
        and getattr(node.func, "attr", "")
        in ("divide", "truediv", "div", "divide_no_nan", "div_no_nan")
    }
    reads = [
        node
        for node in nodes
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
    ]
    return bool(reads) and all(node in divisors for node in reads)


def divides_in_place(statement: ast.AST | None) -> bool:
    """`x /= root + eps`"""
    return isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Div)


def only_here(root: Site, site: Site, here: Context) -> bool:
    """Whether a root has no other use than the one at `site`."""
    around = here.around(root.node)
    if site.node in around or root.node is site.node:
        return True
    # `deviation = std(x) + eps`
    guarded = len(around) > 1 and isinstance(around[0], (ast.BinOp, ast.Call))
    statement = around[guarded] if around else None
    if divides_in_place(statement):
        return True
    if (
        not isinstance(statement, ast.Assign)
        or len(statement.targets) != 1
        or not isinstance(statement.targets[0], ast.Name)
    ):
        return False
    name = statement.targets[0].id
    uses = [
        node
        for node in ast.walk(root.point.scope.node)
        if isinstance(node, ast.Name) and node.id == name
    ]
    return len(uses) == 2


def positive(value: Value) -> bool:
    return value.exact and 0 < value.lo < 0.1


def vanishes(numerator: Value, root: Site) -> bool:
    """Whether the numerator is made from what is under the root, so that both are 0 together."""
    under = tokens(root.value(root.op.main), 6)
    return any(token in under for token in tokens(numerator, 6))


def tokens(value: Value, depth: int) -> set[int]:
    """Identities of the values that a value is made from."""
    found = set() if value.exact else {value.token}
    origin = value.origin
    # the mean and the variance of tf.nn.moments
    made = origin.parent if isinstance(origin, Note) and origin.index is not None else origin
    if isinstance(made, Site) and depth:
        for param in made.args:
            found |= tokens(made.value(param), depth - 1)
    return found


# Whether the root can be at 0


def grade(root: Site, site: Site) -> Certainty | None:
    x = root.value(root.op.main)
    if x.kind == "number" or x.guarded or x.dtype in ("int32", "int64"):
        return None
    if root.op.name in ("tf.sqrt", "K.sqrt") and (x.positive or x.known and not x.zero):
        return None
    if root.op.name in ("tf.norm", "tf.math.reduce_euclidean_norm") and (
        not x.zero or safe_order(root)
    ):
        return None
    total = (
        made_by(x, "tf.reduce_sum", "tf.reduce_mean")
        if root.op.name in ("tf.sqrt", "K.sqrt")
        else root
    )
    if (
        total is not None
        and evidence.random_weight(total.value(total.op.main))
        or not x.exact
        and truth_only(x, root.point)
    ):
        return None
    if not x.known and root.op.name in ("tf.sqrt", "K.sqrt"):
        return Certainty.UNKNOWN
    return (
        Certainty.MAY
        if x.known or Differentiated.YES in (root.differentiated, site.differentiated)
        else Certainty.UNKNOWN
    )


def from_relu(root: Site) -> bool:
    """Under XLA the derivative of relu stops the NaN: it selects there, elsewhere it multiplies."""
    x = root.value(root.op.main)
    if root.op.name in ("tf.sqrt", "K.sqrt"):
        total = made_by(x, "tf.reduce_sum", "tf.reduce_mean")
        square = total.value("x").origin if total is not None else None
        x = (
            square.value("x")
            if isinstance(square, Site) and square.op.name in ("tf.square", "tf.multiply", "tf.pow")
            else x
        )
    elif root.op.name == "tf.math.reduce_std":
        return False
    return made_by(x, "tf.nn.relu") is not None


def safe_order(norm: Site) -> bool:
    """Norms of other orders than 2 are left alone, and so is the spectral norm."""
    order = norm.const("ord", "euclidean")
    if order == 2:
        return norm.value("axis").kind == "sequence"
    return order not in ("euclidean", "fro", None)


# Repairs


def fixes(site: Site, found: Guard, here: Context) -> list[Fix]:
    result = normalized(site, found.roots[0], here) if len(found.roots) == 1 else []
    if site.op.name == "tf.math.divide_no_nan" and not vanishes(site.value("x"), found.roots[0]):
        return result  # a floor would turn a quotient that is 0 into a huge one
    moved = moved_inside(site, found, here) or (
        repairs.own_epsilon(here, found.roots[0]) if len(found.roots) == 1 else []
    )
    if moved:
        return result + moved
    own = [
        root for root in found.roots if root.point is not None and root.point.module is here.module
    ]
    parts = [
        part for part in (repairs.floored_root(here, root) for root in own) if part is not None
    ]
    if len(parts) < len(found.roots):
        return result
    eps = repairs.root_epsilon(here, found.roots[0], found.roots[0].op.main)
    return result + here.rewrite_all(
        site,
        parts,
        title=f"guard under the root with {eps}",
        claim=Claim.SHIFTED,
        cost=f"the root of 0 becomes {float(eps) ** 0.5:.0e}; others move by less",
    )


def moved_inside(site: Site, found: Guard, here: Context) -> list[Fix]:
    """The number that stands beside a single root, squared, under it."""
    outer = (
        here.site(found.node, site.point) if isinstance(found.node, (ast.BinOp, ast.Call)) else None
    )
    if outer is None or outer.op.name not in ("tf.add", "tf.maximum") or not outer.complete:
        return []
    param = next(
        (
            p
            for p in ("x", "y")
            if isinstance(outer.args.get(p), ast.Constant) and positive(outer.value(p))
        ),
        None,
    )
    root, other = found.roots[0], outer.args.get("x" if param == "y" else "y")
    named = isinstance(other, ast.Name) and root_of(here.value(other, outer.point)) is root
    alone = root.source is here.source and (other is root.node or named)
    return repairs.moved_inside(here, outer, root, param) if alone and param is not None else []


def normalized(site: Site, norm: Site, here: Context) -> list[Fix]:
    """l2_normalize for a vector divided by its own norm."""
    x = norm.args.get("x")
    divides = site.op.name in ("tf.divide", "tf.math.divide_no_nan")
    if (
        not divides
        or norm.op.name != "tf.norm"
        or x is None
        or here.precision(norm.value("x")).dtype == "float16"
        or not norm.complete
    ):
        return []
    whole = not norm.given("axis") or norm.const("keepdims", NO_CONSTANT) is True
    if (
        not whole
        or not here.same(site.value("x"), norm.value("x"))
        or norm.value("axis").kind == "sequence"
    ):
        return []
    eps = named_epsilon(site, here)
    return here.rewrite(
        site,
        "tf.math.l2_normalize({x}, axis={axis}, epsilon={eps})"
        if eps is None
        else "tf.math.l2_normalize({x}, axis={axis}, epsilon={eps} ** 2)",
        title="use l2_normalize",
        claim=Claim.SHIFTED,
        cost="vectors shorter than 1e-6 are scaled by 1e6 instead; others move by 2 units in the last place"
        if eps is None
        else "vectors shorter than the epsilon are divided by it; others move by less than it",
        x=site.args["x"],
        axis=argument(norm, "axis", "axis"),
        eps=eps,
    )


def named_epsilon(quotient: Site, here: Context) -> ast.expr | None:
    """The parameter of the function that is added to the divisor, of which the square is there in
    every float but float16; None for a number that is written there.
    """
    total = here.made_by(quotient.value("y"), "tf.add")
    if total is None or quotient.args.get("y") is not total.node:
        return None
    for param in ("x", "y"):
        node, value = total.args.get(param), total.value(param)
        if isinstance(node, ast.Name) and value.is_number and 1e-12 <= value.lo < 0.1:
            return node
    return None
