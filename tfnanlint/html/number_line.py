"""Where a range in words lies on a line of numbers."""

from __future__ import annotations

import re

_NUMBER = r"(-?[\d.]+(?:e[+-]?\d+)?|-?inf)"
# The forms of `values.value.words`.
_FORMS = (
    (re.compile(rf"between {_NUMBER} and {_NUMBER}"), lambda lo, hi: (lo, hi)),
    (re.compile(rf"exactly {_NUMBER}"), lambda at: (at, at)),
    (re.compile(rf"(?:at least|above) {_NUMBER}"), lambda lo: (lo, None)),
    (re.compile(rf"(?:at most|below) {_NUMBER}"), lambda hi: (None, hi)),
    (re.compile("unbounded"), lambda: (None, None)),
)


def bounds(words: str) -> tuple[float | None, float | None] | None:
    """The lower and upper bound that a range in words has, each None where there is none; None for
    words that are no range.
    """
    for form, ends in _FORMS:
        match = form.fullmatch(words)
        if match:
            return ends(*(_bound(text) for text in match.groups()))
    return None


def _bound(text: str) -> float | None:
    return None if "inf" in text else float(text)
