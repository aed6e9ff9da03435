"""Texts that Python's parser takes too long for, or too much memory: they are refused before they
are parsed.

Before Python 3.12 the parser counts the characters in front of each field of a formatted string
anew, which takes 8 s for 1 MB of fields. A text of names of one letter needs 900 times as much
memory as it is long.
"""

from __future__ import annotations

import re
import sys
from typing import Final

from tfnanlint.syntax import text_index
from tfnanlint.syntax.encodings import Unreadable

IS_QUADRATIC: Final = sys.version_info < (3, 12)
# characters in front of fields, for all fields together: they are counted in 1.5 s
MOST_COUNTED: Final = 4_000_000_000
_NOT_QUADRATIC: Final = 150_000  # characters, in which there are not as many
# statements, names, numbers and brackets of a text: 1 kB of memory each. A text of 2 MB that people
# write has fewer.
MOST_PIECES: Final = 400_000
_BODY: Final = r"[^{0}\\\r\n]*(?:\\.[^{0}\\\r\n]*)*"
_LONG_BODY: Final = r"[^{0}\\]*(?:(?:\\.|{0}(?!{0}{0}))[^{0}\\]*)*"
_FORMATTED: Final = re.compile(
    r"(?:[fF][rR]?|[rR][fF])(?:"
    + "|".join(
        f"{quote * length}({body.format(quote)})"
        for length, body in ((3, _LONG_BODY), (1, _BODY))
        for quote in "\"'"
    )
    + ")",
    re.S,
)
_PIECE: Final = re.compile(r"\w+|[(\[{;]|\.\.\.|[\r\n](?=[ \t]*[^\s])")


class TooCostly(Unreadable):
    """The text is not parsed, for what that would cost."""


def refuse_slow_fields(text: str) -> None:
    """Raise `TooCostly` for a text whose formatted strings Python would parse for seconds, as in
    `f"{x}{x}..."` with thousands of fields.
    """
    if not IS_QUADRATIC or len(text) <= _NOT_QUADRATIC:
        return
    counted = 0
    for match in _FORMATTED.finditer(text):
        body = match[match.lastindex or 0]
        fields = body.count("{")
        counted += len(body) * fields // 2
        if counted > MOST_COUNTED:
            raise TooCostly(
                f"Python takes too long to parse a string of {len(body)} characters with {fields}"
                " fields: shorten it, or run tfnanlint with Python 3.12",
                text.count("\n", 0, match.start()) + 1,
            )


def refuse_many_pieces(text: str) -> None:
    """Raise `TooCostly` for a text whose tree would take more memory than a file may."""
    if len(text) <= MOST_PIECES:
        return
    code = text_index.without_prose(text)
    pieces = _PIECE.subn("", code)[1]
    if pieces > MOST_PIECES:
        raise TooCostly(
            f"its code has {pieces} statements, names, numbers and brackets, which is more than"
            f" {MOST_PIECES}: divide it, or `exclude` it"
        )
