"""Everything a rule may import."""

from __future__ import annotations

import ast
from typing import Any, Iterator

from tfnanlint.diagnostics.findings import Certainty, Claim, Differentiated, Finding, Fix
from tfnanlint.guards.assertions import looks_for_nan, named_count, named_safe, named_scale
from tfnanlint.guards.post_guards import (
    Masked,
    branches,
    clipped,
    mask_test,
    plain,
    read_by_choice_only,
    zero_put_in,
)
from tfnanlint.idioms import confusion_counts as tallies
from tfnanlint.idioms import densities, differences, masked_inputs, moments, quantities, ratios
from tfnanlint.idioms import loop_counters as counters
from tfnanlint.idioms import vanishing as evidence
from tfnanlint.idioms.exponents import (
    exponential_of,
    of_itself,
    on_a_grid,
    opposite,
    shifted_by_maximum,
    tame,
)
from tfnanlint.idioms.labels import of_labels, truth_only
from tfnanlint.idioms.loss_pairs import (
    COMPILE,
    FAMILIES,
    Pairing,
    last_layer,
    layer_names,
    linear,
    maker,
    rescued,
    units,
)
from tfnanlint.idioms.probabilities import Probability, image, logged, probability, spot, step
from tfnanlint.ops.domains import Domain, domain, domains, filler
from tfnanlint.ops.site import Site, made_by, part_of, same
from tfnanlint.ops.table import CASTS, SETTINGS
from tfnanlint.rewrite.availability import Named, Outside, argument
from tfnanlint.rewrite.epsilons import NEAREST, survives
from tfnanlint.rule import quotients
from tfnanlint.rule import recipes as repairs
from tfnanlint.rule.logarithms import one_hot_choice
from tfnanlint.rule.registry import Changed, Context, Part, rule
from tfnanlint.uses.uses import absorbed, decides, goes_into, never_reached
from tfnanlint.values.value import (
    FLOATS,
    INF,
    NO_CONSTANT,
    SMALLEST,
    Note,
    Value,
    number,
    number_text,
    rounded,
    words,
)

__all__ = [
    "absorbed",
    "Any",
    "argument",
    "ast",
    "branches",
    "CASTS",
    "Certainty",
    "Changed",
    "Claim",
    "clipped",
    "COMPILE",
    "Context",
    "counters",
    "decides",
    "densities",
    "differences",
    "Differentiated",
    "Domain",
    "domain",
    "domains",
    "evidence",
    "exponential_of",
    "FAMILIES",
    "filler",
    "Finding",
    "Fix",
    "FLOATS",
    "goes_into",
    "image",
    "INF",
    "Iterator",
    "last_layer",
    "layer_names",
    "linear",
    "logged",
    "looks_for_nan",
    "made_by",
    "maker",
    "mask_test",
    "masked_inputs",
    "Masked",
    "moments",
    "Named",
    "named_count",
    "named_safe",
    "named_scale",
    "NEAREST",
    "never_reached",
    "NO_CONSTANT",
    "Note",
    "number",
    "number_text",
    "of_itself",
    "of_labels",
    "on_a_grid",
    "one_hot_choice",
    "opposite",
    "Outside",
    "Pairing",
    "Part",
    "part_of",
    "plain",
    "probability",
    "Probability",
    "quantities",
    "quotients",
    "ratios",
    "read_by_choice_only",
    "repairs",
    "rescued",
    "rounded",
    "rule",
    "same",
    "SETTINGS",
    "shifted_by_maximum",
    "Site",
    "SMALLEST",
    "spot",
    "step",
    "survives",
    "tallies",
    "tame",
    "truth_only",
    "units",
    "Value",
    "words",
    "zero_put_in",
]
