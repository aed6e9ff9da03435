"""A guard whose result is thrown away.

Tensors do not change in place: `tf.clip_by_value(p, 1e-7, 1.0)` on a line of its own computes a clipped copy and drops it.
The code below goes on with the unclipped `p`. The same holds for `tf.maximum`, `tf.where` and `nan_to_num`.
`tf.debugging.check_numerics` on a line of its own does fire in eager mode and in tf.function; in a TensorFlow 1 graph it
never runs.

Bad:
    tf.clip_by_value(p, 1e-7, 1.0)
    loss = -tf.reduce_sum(y * tf.math.log(p))

Good:
    p = tf.clip_by_value(p, 1e-7, 1.0)
    loss = -tf.reduce_sum(y * tf.math.log(p))

See also: https://www.tensorflow.org/api_docs/python/tf/debugging/check_numerics
"""

import re

from tfnanlint.api import Certainty, Claim, Context, Finding, Iterator, Site, ast, rule

CHECK = "tf.debugging.check_numerics"
GRAPHS = re.compile(r"\b(?:placeholder|Session|disable_v2_behavior|disable_eager_execution)\s*\(")
EXPECTED_TO_FAIL = re.compile(r"raises|assertRaises|expect|warns", re.I)


@rule("TFN406", "guard-discarded", on="tf.clip_by_value tf.clip_by_norm tf.clip_by_global_norm tf.maximum tf.minimum tf.where "
      "ops.nan_to_num tf.debugging.check_numerics")
def check(site: Site, here: Context) -> Iterator[Finding]:
    if not here.discarded(site) or expected_to_fail(site, here):
        return
    if site.op.name == CHECK:
        yield from unchecked(site, here)
        return
    param = "t_list" if site.op.name == "tf.clip_by_global_norm" else "y" if site.op.name == "tf.where" else "x"
    if site.op.name == "tf.where" and not site.given("x"):
        return
    yield here.finding(site, param if site.given(param) else None, "the result of this guard is thrown away: tensors do not change in "
                       "place, and the value goes on unguarded", Certainty.MUST, assigned(site, here))


def unchecked(site: Site, here: Context) -> Iterator[Finding]:
    """Only TensorFlow 1 graphs skip it: eager code and tf.function run it, assigned or not, and XLA ignores both."""
    if GRAPHS.search(here.source.text) and "GradientTape" not in here.source.text:
        yield here.finding(site, "x", "the result of check_numerics is thrown away: in a TensorFlow 1 graph nothing depends on the "
                           "check, and it never runs", Certainty.MAY, assigned(site, here), modes=("graph",))


def assigned(site: Site, here: Context):
    """`x = guard(x)`, where the first argument is a plain name or attribute."""
    x = site.args.get("x")
    if site.op.name in ("tf.where", "tf.clip_by_global_norm") or not isinstance(x, (ast.Name, ast.Attribute)) or not here.repeatable(x):
        return []
    checks = site.op.name == CHECK
    return here.restate(site, f"{here.text(x)} = {{guard}}", title=f"assign it to {here.text(x)}", guard=site.node,
                        claim=Claim.EQUAL if checks else Claim.SHIFTED, cost="" if checks else "the guard starts to act")


def expected_to_fail(site: Site, here: Context) -> bool:
    """Whether a test only asks that the call raises."""
    return any(EXPECTED_TO_FAIL.search(here.text(item.context_expr)) for node in here.around(site.node)
               if isinstance(node, (ast.With, ast.AsyncWith)) for item in node.items)
