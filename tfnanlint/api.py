"""Everything a rule may import."""

from __future__ import annotations

import ast
from typing import Iterator

from tfnanlint.findings import Certainty, Claim, Differentiated, Finding, Fix
from tfnanlint.reach import Outside, argument
from tfnanlint.rules import Changed, Context, rule
from tfnanlint.site import Site, made_by, same
from tfnanlint.values import FLOATS, INF, NO_CONSTANT, SMALLEST, Value, number_text, rounded, words

__all__ = ["Certainty", "Changed", "Claim", "Context", "Differentiated", "FLOATS", "Finding", "Fix", "INF", "Iterator",
           "NO_CONSTANT", "Outside", "SMALLEST", "Site", "Value", "argument", "ast", "made_by", "number_text", "rounded",
           "rule", "same", "words"]
