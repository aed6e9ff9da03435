"""Everything a rule may import."""

from __future__ import annotations

import ast
from typing import Any, Iterator

from tfnanlint.conventions import files, identifiers, roles, texts
from tfnanlint.diagnostics.findings import Certainty, Claim, Differentiated, Finding, Fix
from tfnanlint.guards.assertions import looks_for_nan, named_count, named_safe, named_scale
from tfnanlint.guards.post_guards import (
    Masked,
    branches,
    clipped,
    least_result,
    mask_test,
    plain,
    read_by_choice_only,
    zero_put_in,
)
from tfnanlint.guards.size_tests import SizeTests
from tfnanlint.idioms import (
    absorbed_epsilons,
    angles,
    cross_entropy,
    data_masks,
    densities,
    derivatives,
    differences,
    divisors,
    filtered_elements,
    infinite_masks,
    late_guards,
    layer_outputs,
    logarithm_arguments,
    loss_ranges,
    lost_epsilons,
    masked_factors,
    masked_inputs,
    moments,
    nan_masks,
    piecewise_linear,
    quantities,
    radicands,
    ratios,
    relu_outputs,
    softmax_by_hand,
    steep_chains,
    trained_weights,
    weights,
)
from tfnanlint.idioms import confusion_counts as tallies
from tfnanlint.idioms import loop_counters as counters
from tfnanlint.idioms import vanishing as evidence
from tfnanlint.idioms.exponents import (
    cannot_overflow,
    exponential_beside_one,
    exponential_of,
    of_itself,
    on_a_grid,
    opposite,
    shifted_by_maximum,
    tame,
    tanh_by_hand,
)
from tfnanlint.idioms.labels import label_behind, of_labels, truth_only
from tfnanlint.idioms.loss_pairs import (
    Pairing,
    last_layer,
    layer_names,
    linear,
    maker,
    rescued,
    units,
)
from tfnanlint.idioms.mapped import runs_on_rows
from tfnanlint.idioms.probabilities import Probability, image, logged, probability, spot, step
from tfnanlint.ops import frameworks, traits
from tfnanlint.ops.data_sets import elements
from tfnanlint.ops.domains import Domain, domain, domains, filler
from tfnanlint.ops.frameworks import COMPILE, FAMILIES
from tfnanlint.ops.provenance import Walk, made_here, site_behind
from tfnanlint.ops.site import Site, made_by, part_of, same
from tfnanlint.ops.table import SETTINGS
from tfnanlint.ops.traits import CASTS
from tfnanlint.rewrite.availability import Named, Outside, argument
from tfnanlint.rewrite.epsilons import NEAREST, survives
from tfnanlint.rule import absorbed_epsilons as absorbed_epsilon_repairs
from tfnanlint.rule import cross_entropies as cross_entropy_repairs
from tfnanlint.rule import float16_masks, input_masks, masked_products, powers, quotients
from tfnanlint.rule import late_guards as late_guard_repairs
from tfnanlint.rule import lost_epsilons as lost_epsilon_repairs
from tfnanlint.rule import recipes as repairs
from tfnanlint.rule.logarithms import one_hot_choice
from tfnanlint.rule.registry import API_VERSION, Changed, Context, Part, rule
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
    value_in_words,
    words,
)

__all__ = [
    "API_VERSION",
    "absorbed",
    "absorbed_epsilon_repairs",
    "absorbed_epsilons",
    "angles",
    "Any",
    "argument",
    "ast",
    "branches",
    "cannot_overflow",
    "CASTS",
    "Certainty",
    "Changed",
    "Claim",
    "clipped",
    "COMPILE",
    "Context",
    "counters",
    "cross_entropy",
    "cross_entropy_repairs",
    "decides",
    "densities",
    "derivatives",
    "differences",
    "Differentiated",
    "Domain",
    "domain",
    "divisors",
    "domains",
    "evidence",
    "exponential_beside_one",
    "exponential_of",
    "FAMILIES",
    "files",
    "filler",
    "filtered_elements",
    "Finding",
    "Fix",
    "float16_masks",
    "FLOATS",
    "frameworks",
    "goes_into",
    "identifiers",
    "image",
    "INF",
    "infinite_masks",
    "input_masks",
    "Iterator",
    "last_layer",
    "late_guard_repairs",
    "late_guards",
    "elements",
    "layer_names",
    "layer_outputs",
    "least_result",
    "linear",
    "logarithm_arguments",
    "logged",
    "looks_for_nan",
    "lost_epsilon_repairs",
    "loss_ranges",
    "lost_epsilons",
    "made_by",
    "made_here",
    "maker",
    "mask_test",
    "masked_factors",
    "masked_products",
    "masked_inputs",
    "Masked",
    "moments",
    "Named",
    "named_count",
    "named_safe",
    "named_scale",
    "nan_masks",
    "data_masks",
    "NEAREST",
    "never_reached",
    "NO_CONSTANT",
    "Note",
    "number",
    "number_text",
    "of_itself",
    "label_behind",
    "of_labels",
    "on_a_grid",
    "one_hot_choice",
    "opposite",
    "Outside",
    "Pairing",
    "powers",
    "Part",
    "part_of",
    "plain",
    "probability",
    "Probability",
    "quantities",
    "quotients",
    "radicands",
    "ratios",
    "read_by_choice_only",
    "piecewise_linear",
    "relu_outputs",
    "repairs",
    "rescued",
    "roles",
    "rounded",
    "rule",
    "runs_on_rows",
    "same",
    "SETTINGS",
    "shifted_by_maximum",
    "Site",
    "site_behind",
    "SizeTests",
    "SMALLEST",
    "softmax_by_hand",
    "spot",
    "steep_chains",
    "step",
    "survives",
    "tallies",
    "tame",
    "tanh_by_hand",
    "texts",
    "trained_weights",
    "traits",
    "truth_only",
    "units",
    "Value",
    "Walk",
    "weights",
    "value_in_words",
    "words",
    "zero_put_in",
]
