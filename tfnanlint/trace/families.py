"""The messages with which TensorFlow, Keras and NumPy say that a value is NaN or infinite.

One row a family: how its text looks, what it means, which rules explain it, and where its place in
the program is written. A new message is a row here and a log in `fixtures/logs`.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass


class Written(enum.Enum):
    """Where the place in the program stands in the text around a message.

    FORWARD: "which was originally created as op ..." (TensorFlow 1, for gradients). CREATION: where
    the node of a graph was made. RAISED: the traceback of the error. INLINE: `file.py:12: ` before
    the message. NOWHERE: the message has no place.
    """

    FORWARD = "forward"
    CREATION = "creation"
    RAISED = "raised"
    INLINE = "inline"
    NOWHERE = "nowhere"


_OF_GRAPHS = (Written.FORWARD, Written.CREATION, Written.RAISED)


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of message.

    `pattern` may name the groups `op` (a kernel), `node` (the name of a node in a graph), `what` (a
    variable, a label, a loss), `value` ("NaN", "-Inf") and `path` with `row`. `rules` are codes and
    prefixes of codes; those that look at the op of a message are added to them. `checks` says that
    the message comes from a check that the program makes, and not from the op that went wrong.
    """

    name: str
    pattern: re.Pattern[str]
    meaning: str
    rules: tuple[str, ...]
    written: tuple[Written, ...] = _OF_GRAPHS
    checks: bool = False


def _row(
    name: str,
    pattern: str,
    meaning: str,
    rules: str = "",
    written: tuple[Written, ...] = _OF_GRAPHS,
    checks: bool = False,
) -> Family:
    return Family(name, re.compile(pattern), meaning, tuple(rules.split()), written, checks)


_INFINITE = r"[-+]?Inf(?: and NaN| and \+Inf)?(?:, [-+]?Inf)*(?:, and NaN)?"
_VALUE = rf"Tensor had (?P<value>NaN|{_INFINITE}) values"
_LOSS = r"(?:[\w/]*(?:loss|cost)\w*)"

# The most telling first: of two that match in one place, the first is taken.
FAMILIES: tuple[Family, ...] = (
    _row(
        "enable-check-numerics",
        r"Detected Infinity or NaN in output \d+ of (?:eagerly-execut(?:ing|ed)|graph) op "
        r"\"(?P<op>\w+)\"",
        "`tf.debugging.enable_check_numerics` stopped at the first operation that gave NaN or Inf",
    ),
    _row(
        "global-norm",
        r"Found Inf or NaN global norm",
        "the gradients were NaN or Inf when `clip_by_global_norm` took their norm",
        "TFN1 TFN2 TFN3 TFN4",
        checks=True,
    ),
    _row(
        "check-numerics-of-loss",
        r"(?P<what>[\w ]*[Ll]oss[\w ]*?)(?: is)? inf or nan\.? ?: " + _VALUE,
        "`check_numerics` on the loss: something before it gave NaN or Inf",
        "TFN1 TFN3 TFN4 TFN5",
        checks=True,
    ),
    _row(
        "add-check-numerics-ops",
        r"(?P<node>[\w./-]+):\d+ : " + _VALUE,
        "`add_check_numerics_ops` stopped at the first node of the graph that gave NaN or Inf",
    ),
    _row(
        "check-numerics",
        r"(?P<what>.*?) ?: " + _VALUE,
        "a `check_numerics` of the program saw NaN or Inf",
        checks=True,
    ),
    _row(
        "summary-histogram",
        r"(?i:Nan in summary histogram for): (?P<what>[\w./:-]+)",
        "a histogram of weights or activations holds NaN: a step before it had a NaN gradient",
        "TFN1 TFN2 TFN3 TFN4",
        checks=True,
    ),
    _row(
        "histogram-fixed-width",
        r"Histogram values must not contain NaN",
        "the values of a histogram hold NaN",
        "TFN1 TFN3 TFN4",
        checks=True,
    ),
    _row(
        "labels",
        r"Received a label value of (?P<what>-?\d+) which is outside the valid range of \[0, \d+\)",
        "a class label is outside the classes of the last layer; on a GPU the loss is NaN instead",
        "TFN505 TFN408",
    ),
    _row(
        "metric-of-nan",
        r"assertion failed: \[predictions must be (?:>= 0|<= 1|in \[0, 1\])\]",
        "a metric was given predictions outside [0, 1]: NaN, or no sigmoid or softmax at the end",
        "TFN1 TFN3 TFN5",
    ),
    _row(
        "cholesky",
        r"Cholesky decomposition was not successful",
        "a matrix is not positive definite, or holds NaN",
        "TFN108",
    ),
    _row(
        "eigen",
        r"(?:(?i:\b(?:Self[- ]adjoint )?eigen decomposition) was not successful"
        r"|Got info = \d+ for batch index \d+, expected info = 0\. Debug_info = \w*(?:evd|evj))",
        "a matrix holds NaN, or its eigenvalues did not converge",
        "TFN1 TFN3",
    ),
    _row(
        "not-invertible",
        r"Input (?:matrix )?is not invertible",
        "a matrix is singular",
        "TFN108",
    ),
    _row(
        "ctc",
        r"(?:No valid path found|Not enough time for target transition sequence)",
        "a label sequence is longer than its input: the CTC loss is infinite",
    ),
    _row(
        "numpy-warning",
        r"(?P<path>[^\s:`'\"][^:`'\"]*?\.py):(?P<row>\d+): ?RuntimeWarning: "
        r"(?P<value>divide by zero|invalid value|overflow) encountered in (?P<op>\w+)",
        "NumPy computed NaN or Inf on this line",
        "TFN1 TFN3 TFN807",
        (Written.INLINE,),
    ),
    _row(
        "nan-loss-hook",
        r"(?:NanLossDuringTrainingError|Model diverged with loss = NaN|NaN loss during training)",
        "the estimator's hook saw a NaN loss; it does not say where the NaN began",
        "TFN1 TFN2 TFN3 TFN4 TFN5 TFN8",
        (Written.NOWHERE,),
    ),
    _row(
        "terminate-on-nan",
        r"Batch (?P<step>\d+): Invalid loss, terminating training",
        "`TerminateOnNaN` saw a NaN or infinite loss; it does not say where that began",
        "TFN1 TFN2 TFN3 TFN4 TFN5 TFN8",
        (Written.NOWHERE,),
    ),
    _row(
        "gradient-node",
        r"\b(?P<node>gradients?(?:_tape)?(?:_\d+)?/[\w./-]*?\w+?(?:_grad|Grad)\b[\w./-]*)",
        "a node of the gradient is named: the derivative of the op it belongs to is not finite",
        "TFN2",
    ),
    _row(
        "loss-is-nan",
        r"(?i)(?<![\w/])(?P<what>" + _LOSS + r")(?:[ _]value)?"
        r"(?: is\s|\s*[:=]|\s)\s*(?:tensor\()?[-+]?(?P<value>nan|inf)(?![\w-])",
        "the loss is NaN or infinite; nothing says where that began",
        "TFN1 TFN2 TFN3 TFN4 TFN5 TFN8",
        (Written.NOWHERE,),
    ),
)
