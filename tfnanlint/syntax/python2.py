"""Python 2: its statements that Python 3 cannot parse, written so that it can."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator
from typing import Final

_TAB: Final = 8
_WRAPPED: Final = frozenset(("print", "exec"))  # statements that are functions today
# Behind `print` where Python 3 can parse what is there: `print(x)`, `print >>file, x`.
_PARSED: Final = frozenset("( = . , ) >>".split())
_OPENING: Final = frozenset("([{")
_CLOSING: Final = frozenset(")]}")
_LINE_ENDS: Final = frozenset((tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT))
_SKIPPED: Final = frozenset((tokenize.NL, tokenize.COMMENT))

_Token = tokenize.TokenInfo
_Edit = tuple[int, int, int, str]  # a row, where it begins and ends there, and what stands there


def as_python3(text: str) -> str:
    """A text of Python 2 on the same rows, with `print x`, `exec x`, `raise E, x`,
    `except E, x` and `a <> b` as Python 3 may parse them. What a print does is no matter here: the
    text is for who asks which names it uses. One that cannot be split into tokens is left alone.
    """
    text = text.expandtabs(_TAB)
    try:
        tokens = [
            token
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
            if token.type not in _SKIPPED
        ]
    except (tokenize.TokenError, SyntaxError):
        return text
    edits = [edit for statement in _statements(tokens) for edit in _edits(statement)]
    rows = text.split("\n")
    for row, start, end, new in sorted(edits, reverse=True):
        rows[row - 1] = rows[row - 1][:start] + new + rows[row - 1][end:]
    return "\n".join(rows)


def _statements(tokens: list[_Token]) -> Iterator[list[_Token]]:
    """The tokens of each simple statement, and of each head of a compound one."""
    statement: list[_Token] = []
    depth = 0
    for token in tokens:
        if token.type in _LINE_ENDS:
            yield statement
            statement, depth = [], 0
            continue
        depth += (token.string in _OPENING) - (token.string in _CLOSING)
        if token.string == ";" and not depth:
            yield statement
            statement = []
            continue
        statement.append(token)
        if token.string == ":" and not depth:
            yield statement
            statement = []
    yield statement


def _edits(statement: list[_Token]) -> Iterator[_Edit]:
    for token, after in zip(statement, statement[1:]):
        if (token.string, after.string) == ("<", ">") and token.end == after.start:
            yield (*token.start, after.end[1], "!=")
    if len(statement) < 2:
        return
    first, second = statement[0].string, statement[1]
    commas = _commas(statement)
    if first in _WRAPPED and second.string not in _PARSED or first == "raise" and commas:
        yield (*second.start, second.start[1], "(")
        yield (*statement[-1].end, statement[-1].end[1], ")")
    elif first == "except" and commas:
        yield (*commas[0].start, commas[0].end[1], " as")


def _commas(statement: list[_Token]) -> list[_Token]:
    """The commas of a statement outside of all brackets."""
    commas: list[_Token] = []
    depth = 0
    for token in statement:
        depth += (token.string in _OPENING) - (token.string in _CLOSING)
        if token.string == "," and not depth:
            commas.append(token)
    return commas
