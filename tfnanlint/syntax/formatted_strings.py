"""Formatted strings that Python is slow to parse: before 3.12 it counts the characters in front of
each field anew, which takes it 8 s for 1 MB of fields.
"""

from __future__ import annotations

import re
import sys
from typing import Final

from tfnanlint.syntax.encodings import Unreadable

IS_QUADRATIC: Final = sys.version_info < (3, 12)
# characters in front of fields, for all fields together: they are counted in 1.5 s
MOST_COUNTED: Final = 4_000_000_000
_SHORT: Final = 150_000  # characters, in which there are not as many
_BODY: Final = r"[^{0}\\\n]*(?:\\.[^{0}\\\n]*)*"
_LONG_BODY: Final = r"[^{0}\\]*(?:(?:\\.|{0}(?!{0}{0}))[^{0}\\]*)*"
_STRING: Final = re.compile(
    r"(?:[fF][rR]?|[rR][fF])(?:"
    + "|".join(
        f"{quote * length}({body.format(quote)})"
        for length, body in ((3, _LONG_BODY), (1, _BODY))
        for quote in "\"'"
    )
    + ")",
    re.S,
)


def refuse_slow_fields(text: str) -> None:
    """Raise `Unreadable` for a text whose formatted strings Python would parse for seconds, as in
    `f"{x}{x}..."` with thousands of fields.
    """
    if not IS_QUADRATIC or len(text) < _SHORT:
        return
    counted = 0
    for match in _STRING.finditer(text):
        body = match[match.lastindex or 0]
        counted += len(body) * body.count("{") // 2
        if counted > MOST_COUNTED:
            row = text.count("\n", 0, match.start()) + 1
            raise Unreadable(
                f"cannot be parsed in time: a formatted string of {len(body)} characters has"
                f" {body.count('{')} fields (shorten it, or run tfnanlint with Python 3.12)",
                row,
            )
