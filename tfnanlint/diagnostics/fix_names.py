"""Short names for fixes, by which the configuration chooses among those that a rule offers
(`[tool.tfnanlint.rules.TFN102] fix = "divide_no_nan"`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Final

from tfnanlint.diagnostics.findings import Finding

# The titles that have one name; "…" stands for what is computed. A name says what the program
# contains after the fix.
TITLES: Final[dict[str, tuple[str, ...]]] = {
    "floor": (
        "keep … at or above …",
        "keep the argument … above 1",
        "use a floor instead of a sum: tf.maximum(…, eps)",
        "raise the floor to …",
    ),
    "count_floor": ("keep the count at or above 1",),
    "divide_no_nan": (
        "return 0 where the divisor is 0",
        "0 where the divisor is 0, in the overlap beside it, too",
        "0 where no element is left",
    ),
    "mask": (
        "mask input and result: 0 where the logarithm is undefined",
        "mask the base and the result: 0 where the base is 0 or negative",
        "mask … and the result, with gradient 0 at 0",
        "mask the origin, with gradient 0 there",
    ),
    "mask_input": (
        "mask the input",
        "mask the input too",
        "mask the input, and test the input as well as the result",
        "mask the input instead",
        "mask the input first and apply the mask again",
        "bound the exponent by what the choice tests",
    ),
    "epsilon": (
        "add an epsilon to numerator and denominator",
        "add … where the scale is computed",
        "use epsilon=1e-4",
        "use 1e-3, the default of Keras",
        "set the epsilon of Keras to 1e-3",
    ),
    "representable": ("use …, which … can represent", "use …, which … distinguishes from …"),
    "epsilon_inside": (
        "add … under the root",
        "guard under the root with …",
        "move the epsilon under the root",
    ),
    "jitter": ("add a small multiple of the identity",),
    "margin": ("clip with a margin of …",),
    "clip": ("clip to the domain",),
    "xlogy": ("use …, which is 0 where the factor is 0",),
    "log_factors": ("take the logarithm factor by factor",),
    "log_softmax": ("use log_softmax of the logits",),
    "log_sigmoid": (
        "use log_sigmoid of the logits",
        "use log_sigmoid and softplus of the logits",
    ),
    "softplus": (
        "use softplus",
        "use softplus of the argument of tanh",
        "use minus the softplus of the logits",
    ),
    "cross_entropy_with_logits": (
        "use the cross-entropy of the logits",
        "use softmax_cross_entropy_with_logits",
    ),
    "logsumexp": (
        "use reduce_logsumexp",
        "use reduce_logsumexp minus the logarithm of the number of elements",
    ),
    "softmax": ("use softmax",),
    "log1p": ("use log1p",),
    "expm1": ("use expm1",),
    "half_exp": ("halve the exponent instead",),
    "reduce_variance": ("use reduce_variance", "use reduce_variance, which is never negative"),
    "sigmoid": ("use sigmoid",),
    "tanh": ("use tanh",),
    "log_prob": ("use log_prob",),
    "slogdet": ("use slogdet",),
    "logdet": ("use logdet, for positive definite matrices only",),
    "l2_normalize": ("use l2_normalize",),
    "remove_bound": (
        "remove the bounds, which have no effect",
        "remove the bound, which has no effect",
        "remove the upper bound, which has no effect",
    ),
    "assign": ("assign it to …",),
    "is_nan": ("use tf.math.is_nan",),
    "swap": ("swap the two arguments",),
    "remove_relu": ("remove the relu",),
    "pass_logits": ("pass the logits",),
    "from_logits": ("set from_logits=True in the loss",),
    "no_from_logits": ("set from_logits=False, because these are probabilities",),
    "activation": ("give the last layer activation …",),
    "lowest": ("mask with the lowest number of the dtype",),
    "finite_mask": ("mask with a finite number",),
    "select": ("select with the mask instead of adding",),
    "float32": (
        "compute the last layer in float32",
        "compute the mean in float32",
        "compute it in float32, with a number under the root",
    ),
    "check_numerics": ("check all ops for NaN and Inf instead",),
}
# Those that keep a value away from a point; the others compute the same in another form.
GUARDS: Final = frozenset(
    "floor count_floor divide_no_nan mask epsilon epsilon_inside jitter margin clip".split()
)
_WORD = re.compile(r"[a-z0-9]+")


def pattern(title: str) -> re.Pattern[str]:
    """Matches the titles of findings that a title with "…" stands for."""
    return re.compile(".+".join(map(re.escape, title.split("…"))))


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    return [(pattern(title), name) for name, titles in TITLES.items() for title in titles]


@cache
def name_of(title: str) -> str:
    """The name of a fix; its own words, joined with `_`, where the table has none: a plugin's."""
    for matches, name in sorted(_patterns(), key=lambda entry: -len(entry[0].pattern)):
        if matches.fullmatch(title):
            return name
    return "_".join(_WORD.findall(title.lower()))


def narrowed(finding: Finding, names: Iterable[str]) -> Finding:
    """A finding with those of its fixes that have one of some names, in the order of the names.
    A fix that is named is applied, also where the rule only suggests it.
    """
    wanted = tuple(names)
    kept = tuple(
        replace(fix, suggested="")
        for name in wanted
        for fix in finding.fixes
        if name_of(fix.title) == name
    )
    if kept or not finding.fixes:
        return replace(finding, fixes=kept)
    offered = ", ".join(dict.fromkeys(f"`{name_of(fix.title)}`" for fix in finding.fixes))
    chosen = " or ".join(f"`{name}`" for name in wanted)
    reason = f"the configuration allows only {chosen} for {finding.code}"
    return replace(finding, fixes=(), no_fix=f"{reason}, and here the rule offers {offered}")
