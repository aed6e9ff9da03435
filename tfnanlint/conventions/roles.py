"""Roles: what the names of functions and files say of what they are for.

They count only where no path of values tells whether a gradient is taken.
"""

from __future__ import annotations

import re
from typing import Final

# What is measured or prepared and not trained. Metrics go by the name of precision, and so do the
# dtypes of a program (`mixed_precision.py`).
_MEASURED: Final = re.compile(
    r"(?:^|_)(?:metrics?|accuracy|(?<!mixed_)(?<!half_)(?<!single_)(?<!double_)(?<!full_)(?<!low_)"
    r"(?<!float_)(?<!numeric_)(?<!numerical_)precision(?!_(?:policy|plugin|scope|utils?|training))|"
    r"recall|f1|fbeta|auc|summary|summaries|eval|evaluation|"
    r"schedules?|learning_rate|(?<!weight_)decay|configure|"
    r"stats?|statistics|diagnostics?|monitor(?:ing)?|initializers?|preprocess(?:ing|or)?|"
    r"augment(?:ation)?)(?:_|$)"
)
_PENALTY: Final = re.compile(r"(?:^|_)penalty(?:_|$)")


def is_measured(name: str) -> bool:
    """Whether a name says that something is measured or prepared, not trained."""
    return _MEASURED.search(name.lower()) is not None


def is_penalty(name: str) -> bool:
    """Whether a name says that something is a penalty, which is trained by. What it mixes its
    points from, before its tape, takes no part in that.
    """
    return _PENALTY.search(name) is not None
