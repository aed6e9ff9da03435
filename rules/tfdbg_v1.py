"""The debugger of TensorFlow 1: a session wrapper with the filter has_inf_or_nan.

`LocalCLIDebugWrapperSession` stops at every `session.run` until `run -f has_inf_or_nan` is typed in
a terminal. It works in graphs of TensorFlow 1 only. `tf.debugging.enable_check_numerics()` does the
same for eager code, tf.function and graphs, without a terminal: the program stops with the name and
the stack of the first op that returned NaN or Inf.

Repair: `check_numerics` | the session waits for a command at every run | the program stops at the
first NaN and names its op |

Bad:
    from tensorflow.python import debug as tf_debug
    session = tf_debug.LocalCLIDebugWrapperSession(session)
    session.add_tensor_filter("has_inf_or_nan", tf_debug.has_inf_or_nan)

Good:
    tf.debugging.enable_check_numerics()

An option (`if FLAGS.debug:`) of a file that is written for TensorFlow 1 itself is left alone: the
function came with 2.1.

It has to stand above the code that builds the model: ops that exist already are not checked, and
XLA ignores it. For a record of everything instead of a stop:
`tf.debugging.experimental.enable_dump_debug_info(folder, tensor_debug_mode="FULL_HEALTH")`, read in
TensorBoard (Debugger V2). Fix the findings of tfnanlint first: that is faster than both.

See also: https://www.tensorflow.org/api_docs/python/tf/debugging/enable_check_numerics,
https://github.com/tensorflow/docs/blob/master/site/en/r1/guide/debugger.md
"""

from __future__ import annotations

from tfnanlint.api import Certainty, Claim, Context, Finding, Iterator, Site, ast, rule

WRAPPER = "tf.python.debug.LocalCLIDebugWrapperSession"
HOOK = "tf.python.debug.LocalCLIDebugHook"
FILTER = "method.add_tensor_filter"
# the filter that tfdbg brings along, by the modules that hold it
PREDICATES = ("tf.python.debug.has_inf_or_nan", "tf.python.debug.lib.debug_data.has_inf_or_nan")


@rule("TFN901", "tfdbg-v1", on=f"{WRAPPER} {HOOK} {FILTER}", fixes="check_numerics")
def check(site: Site, here: Context) -> Iterator[Finding]:
    if not waits_for_commands(site, here):
        return  # one that writes files, for whatever purpose
    if here.speller.only_first_version and optional(site, here):
        return  # an option that works there, and what replaces it came later
    outer = next(iter(here.around(site.node)), None)
    fixes = []
    if (
        isinstance(outer, ast.Assign)
        and len(outer.targets) == 1
        and isinstance(outer.targets[0], ast.Name)
    ):
        name = outer.targets[0].id
        if here.text(site.args.get("sess", outer)) == name:
            fixes = here.restate(
                site,
                "tf.debugging.enable_check_numerics()",
                title="check all ops for NaN and Inf instead",
                claim=Claim.SHIFTED,
                cost="the program stops at the first NaN instead of asking; it checks only ops "
                "that are created after this line, so move the line above the model",
                without=filters(name, site, here),
            )
    yield here.finding(
        site,
        None,
        "the debugger of TensorFlow 1 needs a terminal and a session",
        Certainty.MAY if optional(site, here) else Certainty.MUST,
        fixes,
        help="" if fixes else "call tf.debugging.enable_check_numerics() before the model is built",
    )


def waits_for_commands(site: Site, here: Context) -> bool:
    """Whether a site makes a session or hook that asks for commands in a terminal, or hands it the
    filter for NaN and Inf, which serves such commands.
    """
    if site.op.name != FILTER:
        return "LocalCLI" in site.name
    predicate = site.args.get("tensor_filter")
    return predicate is not None and here.name(predicate, site.point) in PREDICATES


def optional(site: Site, here: Context) -> bool:
    """Whether the program asks first (`if FLAGS.debug:`): then it is an option of the program, not
    something left over.
    """
    return any(
        isinstance(node, ast.If) and not isinstance(node.test, ast.Constant)
        for node in here.around(site.node)
    )


def filters(name: str, site: Site, here: Context) -> list[ast.stmt]:
    """The statements `name.add_tensor_filter(...)` beside the wrapper, which go with it."""
    statements: list[ast.stmt] = []
    for node, point in here.calls("add_tensor_filter"):
        outer = next(iter(here.around(node)), None)
        if point.scope is not site.point.scope:
            continue
        if (
            isinstance(outer, ast.Expr)
            and isinstance(node.func, ast.Attribute)
            and here.text(node.func.value) == name
        ):
            statements.append(outer)
    return statements
