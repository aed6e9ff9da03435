"""A guard whose result is not used.

Tensors do not change in place: `tf.clip_by_value(p, 1e-7, 1.0)` on a line of its own computes a
clipped copy and discards it. The code below still uses the unclipped `p`. The same holds for
`tf.maximum`, `tf.where` and `nan_to_num`. `tf.debugging.check_numerics` on a line of its own does
fire in eager mode and in tf.function; in a TensorFlow 1 graph it never runs.

See it:
    >>> p = tf.constant(0.0)
    >>> _ = tf.clip_by_value(p, 1e-7, 1.0)
    >>> float(tf.math.log(p))
    -inf

Bad:
    tf.clip_by_value(p, 1e-7, 1.0)
    loss = -tf.reduce_sum(y * tf.math.log(p))

Good:
    p = tf.clip_by_value(p, 1e-7, 1.0)
    loss = -tf.reduce_sum(y * tf.math.log(p))

See also: https://www.tensorflow.org/api_docs/python/tf/debugging/check_numerics

Seen in the wild:
https://github.com/one-leaf/tensorflow/issues/6 (a clip_by_value on a line of its own)
"""

from tfnanlint.api import Certainty, Claim, Context, Finding, Iterator, Site, ast, roles, rule

THROWN_AWAY = "the result of this guard is not used: tensors do not change in place"
CHECK = "tf.debugging.check_numerics"
GRAPHS = ("placeholder", "Session", "disable_v2_behavior", "disable_eager_execution")


@rule(
    "TFN406",
    "guard-discarded",
    on="tf.clip_by_value tf.clip_by_norm tf.clip_by_global_norm tf.maximum tf.minimum tf.where "
    "ops.nan_to_num tf.debugging.check_numerics",
    fixes="assign",
)
def check(site: Site, here: Context) -> Iterator[Finding]:
    if not here.discarded(site.node):
        yield from by_callers(site, here)
        return
    if expected_to_fail(site.node, here):
        return
    if site.op.name == CHECK:
        yield from unchecked(site, here)
        return
    param = (
        "t_list"
        if site.op.name == "tf.clip_by_global_norm"
        else "y"
        if site.op.name == "tf.where"
        else "x"
    )
    if site.op.name == "tf.where" and not site.given("x"):
        return
    yield here.finding(
        site,
        param if site.given(param) else None,
        THROWN_AWAY,
        Certainty.MUST,
        assigned(site, here),
    )


def by_callers(site: Site, here: Context) -> Iterator[Finding]:
    """Calls that throw away what a function gives which does nothing but return this guard."""
    function = site.point.scope.function if site.point is not None else None
    node = function.node if function is not None else None
    if (
        site.op.name == CHECK
        or not isinstance(node, ast.FunctionDef)
        or not only_returns(node, site.node)
    ):
        return
    for call, point in here.calls(node.name):
        if not here.discarded(call) or expected_to_fail(call, here):
            continue
        called = here.value(call.func, point).obj
        if getattr(getattr(called, "function", called), "node", None) is node:
            yield here.finding(
                site,
                None,
                THROWN_AWAY,
                Certainty.MUST,
                node=call,
                help="assign the result to the name that the code uses afterwards",
            )


def only_returns(function: ast.FunctionDef, node: ast.expr) -> bool:
    """Whether a function is one return, perhaps with a docstring."""
    body = (
        function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    )
    return len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value is node


def unchecked(site: Site, here: Context) -> Iterator[Finding]:
    """Only TensorFlow 1 graphs skip it: eager code and tf.function run it, assigned or not, and XLA
    ignores both.
    """
    if any(here.calls(name) for name in GRAPHS) and "GradientTape" not in here.source.names:
        yield here.finding(
            site,
            "x",
            "the result of check_numerics is not used: in a TensorFlow 1 graph nothing depends "
            "on the check, so it never runs",
            Certainty.MAY,
            assigned(site, here),
            modes=("graph",),
        )


def assigned(site: Site, here: Context):
    """`x = guard(x)`, where the first argument is a plain name or attribute."""
    x = site.args.get("x")
    if (
        site.op.name in ("tf.where", "tf.clip_by_global_norm")
        or not isinstance(x, (ast.Name, ast.Attribute))
        or not here.repeatable(x)
    ):
        return []
    checks = site.op.name == CHECK
    return here.restate(
        site,
        f"{here.text(x)} = {{guard}}",
        title=f"assign it to {here.text(x)}",
        guard=site.node,
        claim=Claim.EQUAL if checks else Claim.SHIFTED,
        cost="" if checks else "the guard takes effect",
    )


def expected_to_fail(call: ast.expr, here: Context) -> bool:
    """Whether a test only asks that the call raises."""
    return any(
        roles.expects_failure(here.code(item.context_expr))
        for node in here.around(call)
        if isinstance(node, (ast.With, ast.AsyncWith))
        for item in node.items
    )
