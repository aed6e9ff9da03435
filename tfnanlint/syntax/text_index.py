"""The rows of a text in which something stands: by what is written alone, before anything is
parsed.

Rows are 1-based; `starts` are the offsets at which the lines of the text begin.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import lru_cache

_END = 1 << 60  # behind every text
_BLANK = frozenset(" \t\r\n\f\\")
_OPENING = frozenset("(,{")  # no operand ends so
_ENDING = frozenset(")]}.\"'")  # operands end so, or with a letter or digit
_BEFORE_OPERANDS = frozenset(
    "and assert await case elif else if in is lambda not or print return while yield".split()
)
# The characters of code, from the commonest to the rarest, as counted in 30 million of them; what
# is not here is rarer.
_COMMON = (
    " etsairnol_\npdcfmu.h,g=)(b\"y:vwkx'[1]Tz0#N2A`-SIELqRCDFO"
    "/3*MPj>54BUVG6+W{}8KH@Y%97X\\;<Q!Z|J^?&$~"
)
_LONG = 10  # characters
_TRIPLE = ('"""', "'''")
# A comment; a string with fields in it, which are code, and the rest of its row; any other string,
# with the sign that fills it in.
_QUOTED = re.compile(
    r"""#.*|([fF][rR]?["'].*|[rR][fF]["'].*)"""
    r"""|(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')(?:[ \t]*%(?!=))?"""
)
# in a text that is read from its end: there nothing is tried that is no call
_CALLED = re.compile(r"\(\s*(\w+)")
_BY_A_NUMBER = re.compile(r"(?<![*/%])(?://?|%)[ \t]*(?=\d)(?!0*\.?0*(?![\d.])|[\w.]+[ \t]*\*\*)")

# A comment, or a string of any kind.
_PROSE = re.compile(
    r"#[^\r\n]*"
    r"|\"\"\"(?:[^\\\"]|\\.|\"(?!\"\"))*\"\"\"|'''(?:[^\\']|\\.|'(?!''))*'''"
    r"|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'",
    re.DOTALL,
)
_WRITTEN = re.compile(r"[^\r\n]")
_BEHIND_STATEMENT = re.compile(r"[ \t]*(?:[;#\r\n]|$)")


class Finder:
    """Finds whether one of some pieces of text, whose rarest characters are the same, stands
    somewhere.

    A pattern is tried where its first character stands, so that is the rarest one, and what comes
    before it is looked back at: `sqrt` is found in half the time by its `q`. Long pieces are found
    faster as they are.
    """

    def __init__(self, pieces: tuple[str, ...]):
        self.pieces = pieces
        alone = len(pieces) == 1 and (len(pieces[0]) == 1 or len(pieces[0]) > _LONG)
        self._pattern = None if alone else re.compile("|".join(map(_by_rarest, pieces)))

    def finds(self, text: str) -> bool:
        return (
            self.pieces[0] in text
            if self._pattern is None
            else self._pattern.search(text) is not None
        )


def _rarest(piece: str) -> int:
    """Where the rarest character of a piece stands, as far as `_COMMON` tells; a capital at its
    beginning is rare enough.
    """
    if piece[0].isupper():
        return 0
    return max(range(len(piece)), key=lambda place: _COMMON.find(piece[place]) % (len(_COMMON) + 1))


def _by_rarest(piece: str) -> str:
    place = _rarest(piece)
    before = f"(?<={re.escape(piece[: place + 1])})" if place else ""
    return re.escape(piece[place]) + before + re.escape(piece[place + 1 :])


@lru_cache(maxsize=None)
def finders(pieces: tuple[str, ...]) -> tuple[Finder, ...]:
    """What finds some pieces of text. One pattern for those with the same rarest character costs a
    search for one of them; for others it costs ten times as much.
    """
    alike: dict[str, list[str]] = {}
    for piece in pieces:
        alike.setdefault(piece[_rarest(piece)], []).append(piece)
    return tuple([Finder(tuple(found)) for found in alike.values()])


def holding(text: str, starts: list[int], piece: str, first: int = 0) -> list[int]:
    """The rows that hold a piece of text, ascending; it does not stand before the offset
    `first`.
    """
    rows: list[int] = []
    row = 0
    position = text.find(piece, first)
    while position >= 0:
        row = bisect_right(starts, position, row)
        rows.append(row)
        position = text.find(piece, starts[row]) if row < len(starts) else -1
    return rows


def powers(text: str, starts: list[int]) -> list[int]:
    """The rows that hold `**`, but for those where it unpacks arguments or a dict, ascending."""
    places: list[int] = []
    place = text.find("**")
    while place >= 0:
        before = _before(text, place)
        if before >= 0 and (text[before] not in _OPENING or _behind_comment(text, before, place)):
            places.append(place)
        place = text.find("**", place + 2)
    return rows_of(starts, places)


def differences(text: str, starts: list[int]) -> list[int]:
    """The rows that hold a `-` which may subtract: `a - b`, `a -= b`, but not `axis=-1`, `1e-5` and
    `->`; ascending.
    """
    places: list[int] = []
    place = text.find("-")
    while place >= 0:
        before = _before(text, place)
        if (
            before < 0
            or text.startswith("->", place)
            or not (_ends_operand(text, before, place) or _behind_comment(text, before, place))
        ):
            place = text.find("-", place + 1)
            continue
        places.append(place)
        end = text.find("\n", place)
        place = text.find("-", end) if end >= 0 else -1
    return rows_of(starts, places)


def _before(text: str, place: int) -> int:
    """Where the last character before a place is that is no blank and ends no line; -1 when there
    is none.
    """
    before = place - 1
    while before >= 0 and text[before] in _BLANK:
        before -= 1
    return before


def _behind_comment(text: str, before: int, place: int) -> bool:
    """Whether what stands before a place, on a row above it, may be a comment: then it does not
    tell how the code ends there.
    """
    return (
        "\n" in text[before + 1 : place]
        and "#" in text[text.rfind("\n", 0, before + 1) + 1 : before + 1]
    )


def _ends_operand(text: str, last: int, place: int) -> bool:
    """Whether an operand may end at `last`, the last character before the `-` at `place`: a name or
    number that is no word of Python's, and goes on behind the `-` no more than `1e` does.
    """
    if not (text[last].isalnum() or text[last] == "_"):
        return text[last] in _ENDING
    start = last
    while start > 0 and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    word = text[start : last + 1]
    return word not in _BEFORE_OPERANDS and not (
        last == place - 1 and word[0].isdigit() and word[-1] in "eE"
    )


def long_strings(text: str) -> list[tuple[int, int]] | None:
    """Where the strings in three quotes stand, ascending; None where that takes more than a look at
    the quotes.
    """
    if "\r" in text:
        return None
    spans: list[tuple[int, int]] = []
    end = 0
    places = [text.find(quotes) for quotes in _TRIPLE]
    while max(places) >= 0:
        start = min([place for place in places if place >= 0])
        quotes = text[start : start + 3]
        row = max(text.rfind("\n", 0, start) + 1, end)
        before = text[row:start]
        close = text.find(quotes, start + 3)
        if (
            "#" in before
            or '"' in before
            or "'" in before
            or "f" in before[-2:].lower()
            or text[max(row - 2, 0) : row] == "\\\n"
        ):
            return None
        if close < 0 or text[close - 1] == "\\":
            return None
        end = close + 3
        spans.append((start, end))
        places = [
            text.find(quotes, end) if 0 <= place < end else place
            for quotes, place in zip(_TRIPLE, places)
        ]
    return spans


def code_of(
    text: str, starts: list[int], row: int, strings: list[tuple[int, int]]
) -> tuple[str, str]:
    """What stands on a row but for `strings` in three quotes, and of that what is code: without
    strings that have no fields, comments, and divisions by a number.
    """
    start, end = starts[row - 1], starts[row] if row < len(starts) else len(text)
    inside = text[max(start - 2, 0) : start] == "\\\n"  # a string may have begun on the row above
    line = ""
    for index in range(max(bisect_right(strings, (start, _END)) - 1, 0), len(strings)):
        begun, closed = strings[index]
        if begun >= end:
            break
        line += text[start:begun]
        start = max(start, closed)
    line += text[start:end]
    return line, line if inside else _BY_A_NUMBER.sub(" ", _QUOTED.sub(_fields, line))


def _fields(match: re.Match[str]) -> str:
    return match[1] or " "


def within(rows: list[int], first: int, last: int) -> bool:
    """Whether one of some ascending rows is among those from the first to the last."""
    index = bisect_left(rows, first)
    return index < len(rows) and rows[index] <= last


def called(text: str) -> dict[str, list[int]]:
    """Where names stand before a parenthesis: the places, descending, of each name, which is read
    from its end: that is how they are met.
    """
    places_by_name: dict[str, list[int]] = {}
    length = len(text)
    for match in _CALLED.finditer(text[::-1]):
        name = match[1]
        places = places_by_name.get(name)
        if places is None:
            places = places_by_name[name] = []
        places.append(length - match.end())
    return places_by_name


def rows_of(starts: list[int], places: list[int]) -> list[int]:
    """The rows of some ascending places, ascending, each once."""
    rows: list[int] = []
    end = -1  # of the row found last
    for place in places:
        if place >= end:
            row = bisect_right(starts, place, rows[-1] if rows else 0)
            end = starts[row] if row < len(starts) else _END
            rows.append(row)
    return rows


def matching(text: str, starts: list[int], pattern: re.Pattern[str]) -> list[int]:
    """The rows in which a pattern is found, ascending."""
    return rows_of(starts, [match.start() for match in pattern.finditer(text)])


def named(text: str, pattern: re.Pattern[str]) -> list[tuple[str, int]]:
    """What the first group of a pattern is wherever the pattern is found, with the places,
    ascending.
    """
    return [(match[1], match.start()) for match in pattern.finditer(text)]


def without_prose(text: str, strings: bool = True) -> str:
    """A text with blanks in the place of its comments, and of what stands in its strings; offsets
    and rows stay as they are. Formatted strings stay: there is code in them. Unless `strings` is
    set, so do those that are no statements, as far as their rows tell.
    """
    if "\0" in text:
        return text

    def blanked(match: re.Match[str]) -> str:
        token, start = match[0], match.start()
        if token[0] == "#":
            return " " * len(token)
        lettered = start > 0 and text[start - 1].isalpha()  # few strings are
        if lettered and "f" in _prefix(text, start):
            return token
        if not strings and not _is_statement(text, match):
            return token
        inner = " " * (len(token) - 2) if "\n" not in token else _WRITTEN.sub(" ", token[1:-1])
        return f"{token[0]}{inner}{token[-1]}"

    return _PROSE.sub(blanked, text)


def _prefix(text: str, start: int) -> str:
    """The letters before the quotes of a string, as small ones."""
    before = start
    while before > 0 and start - before < 3 and text[before - 1].isalpha():
        before -= 1
    return text[before:start].lower()


def _is_statement(text: str, match: re.Match[str]) -> bool:
    """Whether a string stands alone on its rows."""
    before = text[match.start() - 1] if match.start() else "\n"
    if not before.isspace() and not before.isalpha():
        return False  # most strings are arguments
    start = match.start() - len(_prefix(text, match.start()))
    row = text.rfind("\n", 0, start) + 1
    return not text[row:start].strip() and _BEHIND_STATEMENT.match(text, match.end()) is not None
