"""Line breaks in what a fix makes longer than the code around it: in the places where black puts
them.

A statement that gets too long is broken at its last bracket, or put into parentheses; what is still
too long is broken after its commas, or before its operators. In a file that is formatted so already
a statement over several lines is laid out anew.
"""

from __future__ import annotations

import ast
import bisect
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from io import StringIO
from typing import Final

from tfnanlint.diagnostics.findings import Edit
from tfnanlint.rewrite import LINE
from tfnanlint.rewrite.imports import line_end
from tfnanlint.syntax.source import Source, Span, Unreadable

_SIMPLE: Final = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Expr)
_OPENING: Final = frozenset("([{")
_CLOSING: Final = frozenset(")]}")
_COMMA: Final = 18
# The operators before which a line may be broken, those that bind least first.
_PRIORITIES: Final = {
    **dict.fromkeys(("if", "else"), 16),
    **dict.fromkeys(("and", "or"), 14),
    **dict.fromkeys(("<", ">", "<=", ">=", "==", "!=", "in", "is"), 10),
    **{"|": 9, "^": 8, "&": 7, "<<": 6, ">>": 6},
    **dict.fromkeys(("+", "-"), 5),
    **dict.fromkeys(("*", "/", "//", "%", "@"), 4),
}
_KEYWORDS: Final = frozenset("return and or not in is if else lambda for yield await".split())
_ASSIGNING: Final = re.compile(r"(\*\*|//|>>|<<|[-+*/%@&|^])?=")
_UNBROKEN: Final = frozenset(("lambda", "for", "yield", "await", ":="))
_ODD: Final = (tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT)
_MAX_DEPTH: Final = 40
_MAX_STATEMENTS: Final = 40  # statements over several lines that tell how a file is formatted
_MOST: Final = 0.9


@dataclass(frozen=True)
class Style:
    """How a file is laid out: how long its lines may get, and whether a formatter broke them."""

    limit: int
    formatted: bool


def style_of(source: Source) -> Style:
    """The style of a file: lines as long as the longest of its code, or as formatters allow."""
    limit = max(LINE, source.longest_line_of_code)
    if limit > LINE:
        return Style(limit, False)
    try:
        nodes = [node for node in ast.walk(source.tree) if isinstance(node, _SIMPLE)]
    except Unreadable:
        return Style(limit, False)
    broken = [node for node in nodes if node.end_lineno != node.lineno]
    stable = [
        not edits
        for node in broken[:_MAX_STATEMENTS]
        if _is_alone(source, source.span(node))
        and (edits := _laid_out(source, node, limit)) is not None
    ]
    return Style(limit, bool(stable) and sum(stable) >= _MOST * len(stable))


def line_breaks(source: Source, regions: Iterable[Span], style: Style) -> list[Edit]:
    """The edits that break the lines in some regions of a source which are too long for its style;
    [] where there are none, or no safe place to break them. They change nothing but blanks, and add
    commas and parentheses that mean nothing.
    """
    starts = source.line_starts
    rows = {
        row
        for region in regions
        for row in range(_row(starts, region.start), _row(starts, region.end) + 1)
    }
    long = [row for row in sorted(rows) if len(_code(source, row)) > style.limit]
    if any(_code(source, row).lstrip()[:1] in ("%", "!") for row in long):
        return []
    breaks: list[Edit] = []
    for node in _statements(source, sorted(rows) if style.formatted else long):
        edits = _laid_out(source, node, style.limit)
        if edits is None or node.end_lineno != node.lineno and not style.formatted:
            edits = _breaks(source, node, style.limit)
        breaks += edits
    return breaks


def _row(starts: list[int], place: int) -> int:
    return bisect.bisect_right(starts, place) - 1


def _code(source: Source, row: int) -> str:
    """A 0-based row without the comment at its end."""
    starts = source.line_starts
    end = starts[row + 1] if row + 1 < len(starts) else len(source.text)
    code = source.code[starts[row] : end].rstrip()
    text = source.text[starts[row] : end].rstrip()
    return code if text[len(code) :].lstrip().startswith("#") else text


def _statements(source: Source, rows: list[int]) -> list[ast.stmt]:
    """The simple statements that stand on some 0-based rows, alone on their lines but for a comment
    behind them.
    """
    candidates = [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, _SIMPLE)
        and any(node.lineno - 1 <= row <= (node.end_lineno or node.lineno) - 1 for row in rows)
    ]
    return [node for node in candidates if _is_alone(source, source.span(node))]


def _is_alone(source: Source, span: Span) -> bool:
    start = source.line_starts[_row(source.line_starts, span.start)]
    behind = re.compile(r"[^\r\n]*").match(source.text, span.end)
    after = behind[0].strip() if behind is not None else ""
    return not source.text[start : span.start].strip() and after[:1] in ("", "#")


@dataclass(frozen=True)
class _Token:
    text: str
    start: int
    end: int
    row: int
    depth: int  # of the brackets around it
    binary: bool  # an operator between two operands, a comma
    blanks: str  # what stands before it, where it begins a row


@dataclass(frozen=True)
class _Line:
    """Tokens on one line, from `first` up to `last`, and what is written around them."""

    first: int
    last: int
    indent: str
    lead: str = ""
    trail: str = ""


def _breaks(source: Source, node: ast.stmt, limit: int) -> list[Edit]:
    """The edits that break the rows of a statement which are too long; [] where that is not
    possible.
    """
    span = source.span(node)
    tokens = _tokens(source.slice(span), span.start)
    if not tokens:
        return []
    layout = _Layout(tokens, limit, _indent_of(source, span))
    return _edits(source, span, tokens, layout)


def _laid_out(source: Source, node: ast.stmt, limit: int) -> list[Edit] | None:
    """The edits that lay a statement out as if it stood on one line; None where it has comments, or
    commas and parentheses that keep its lines apart.
    """
    span = source.span(node)
    text = source.slice(span)
    tokens = _tokens(text, span.start)
    if not tokens or _is_kept_apart(tokens):
        return None
    joined, place = [], 0
    for token, before in zip(tokens, [None, *tokens]):
        if before is not None:
            place += len(_between(source.text, before, token))
        joined.append(replace(token, start=place, end=place + len(token.text), row=1))
        place += len(token.text)
    layout = _Layout(joined, limit, _indent_of(source, span))
    return _edits(source, span, tokens, layout)


def _indent_of(source: Source, span: Span) -> str:
    start = source.line_starts[_row(source.line_starts, span.start)]
    return source.text[start : span.start]


def _is_kept_apart(tokens: list[_Token]) -> bool:
    """Whether formatters keep the lines of a statement apart: it has a comma before a closing
    bracket, or a value in parentheses.
    """
    for before, token in zip(tokens, tokens[1:]):
        if token.text in _CLOSING and before.text == ",":
            return True
        is_value = before.depth == 0 and (
            before.text == "return" or _ASSIGNING.fullmatch(before.text) is not None
        )
        if is_value and token.text == "(" and tokens[0].row != tokens[-1].row:
            return True
    return False


def _between(text: str, before: _Token, token: _Token) -> str:
    """The blanks between two tokens that stand on one line."""
    if before.row == token.row:
        return text[before.end : token.start]
    return "" if before.text in _OPENING or token.text in (*_CLOSING, ".") else " "


def _edits(source: Source, span: Span, tokens: list[_Token], layout: _Layout) -> list[Edit]:
    """The edits that put between the tokens of a statement what a layout wants there."""
    ending = line_end(source, source.line_starts[_row(source.line_starts, span.start)])
    wanted, closing = layout.separators()
    edits: list[Edit] = []
    for index, (before, token) in enumerate(zip(tokens, tokens[1:])):
        new = wanted.get(index + 1)
        if new is None and layout.is_whole:
            new = _between(source.text, before, token)
        if new is not None:
            new = new.replace("\n", ending)
            if source.text[before.end : token.start] != new:
                edits.append(Edit(Span(before.end, token.start), new))
    if closing:
        edits.append(Edit(Span(span.end, span.end), closing.replace("\n", ending)))
    return edits


def _tokens(text: str, offset: int) -> list[_Token]:
    """The tokens of a statement; none where it has comments, strings over lines or what is not
    broken here.
    """
    starts = Source("", text).line_starts
    tokens: list[_Token] = []
    depth = 0
    try:
        for token in tokenize.generate_tokens(StringIO(text, newline=None).readline):
            if token.type in (tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER):
                continue
            odd = token.type in _ODD or _is_formatted_string(token)
            if odd or token.start[0] != token.end[0] or token.string in _UNBROKEN:
                return []
            depth -= token.string in _CLOSING
            before = tokens[-1].text if tokens else "("
            operand = before not in _KEYWORDS and (before in _CLOSING or _is_operand(before))
            binary = token.string == "," or token.string in _PRIORITIES and operand
            row, column = token.start
            place = starts[row - 1] + column + offset
            blanks = text[starts[row - 1] : place - offset]
            end = place + len(token.string)
            tokens.append(_Token(token.string, place, end, row, depth, binary, blanks))
            depth += token.string in _OPENING
    except (tokenize.TokenError, SyntaxError):
        return []
    return tokens


def _is_formatted_string(token: tokenize.TokenInfo) -> bool:
    """Whether a token is an f-string, or begins one: Python 3.12 splits them into tokens."""
    if token.type == tokenize.STRING:
        return "f" in token.string[: min(map(token.string.find, _quotes(token.string)))].lower()
    return tokenize.tok_name[token.type] == "FSTRING_START"


def _quotes(text: str) -> list[str]:
    return [quote for quote in "\"'" if quote in text]


def _is_operand(text: str) -> bool:
    """Whether a token is a name, a number or a string."""
    return text[0].isalnum() or text[0] in "_\"'."


class _Layout:
    """One statement laid out anew."""

    def __init__(self, tokens: list[_Token], limit: int, indent: str):
        self._tokens = tokens
        self._limit = limit
        self._indent = indent
        self._closing = ""  # what is written behind the statement
        self.is_whole = tokens[0].row == tokens[-1].row

    def separators(self) -> tuple[dict[int, str], str]:
        """What is put before tokens that begin a line, by their indices; and behind the last."""
        lines = self._whole() if self.is_whole else [one for row in self._rows() for one in row]
        breaks = {
            line.first: f"{before.trail}\n{line.indent}{line.lead}"
            for before, line in zip(lines, lines[1:])
            if before.last == line.first
        }
        return breaks, self._closing

    def _whole(self) -> list[_Line]:
        """The lines of a statement on one line."""
        line = _Line(0, len(self._tokens), self._indent)
        if self._fits(line):
            return [line]
        value = self._value()
        broken = [] if value and not self._ends_in_its_bracket(value) else self._by_bracket(line)
        if not broken and value:
            inner = self._indented(_Line(value, len(self._tokens), self._indent))
            parts = self._inside(inner)
            self._closing = f"{parts[-1].trail}\n{self._indent})"
            return [replace(line, last=value, trail=" ("), *parts]
        return broken or [line]

    def _rows(self) -> Iterator[list[_Line]]:
        """The lines of each row of a statement that is broken already."""
        tokens, first = self._tokens, 0
        while first < len(tokens):
            last = first
            while last < len(tokens) and tokens[last].row == tokens[first].row:
                last += 1
            line = _Line(first, last, tokens[first].blanks if first else self._indent)
            yield self._inside(line) if self._is_element(line) else [line]
            first = last

    def _is_element(self, line: _Line) -> bool:
        """Whether a row holds elements or operands of a bracket that is broken as formatters do."""
        inner = self._tokens[line.first : line.last]
        least = min(token.depth for token in inner)
        opened = sum((token.text in _OPENING) - (token.text in _CLOSING) for token in inner)
        if not line.first or opened or least < inner[0].depth or inner[0].text in _CLOSING:
            return False
        before = self._tokens[line.first - 1].text
        return before in _OPENING or before == "," or inner[0].binary

    def _value(self) -> int:
        """Where the value of an assignment or a return begins; 0 for an expression."""
        start = 1 if self._tokens[0].text == "return" else 0
        for index, token in enumerate(self._tokens):
            if token.depth == 0 and _ASSIGNING.fullmatch(token.text):
                start = index + 1
        return start

    def _ends_in_its_bracket(self, value: int) -> bool:
        """Whether a value reads well when it is broken at its last bracket: at most one operator
        stands beside that.
        """
        tokens = self._tokens
        priority, places = self._operators(_Line(value, len(tokens), self._indent))
        if not priority or priority == _COMMA:
            return not priority
        opening = self._opening(len(tokens) - 1)
        if len(places) > 1 or tokens[-1].text not in ")}" or opening == len(tokens) - 2:
            return False
        others = any(token.text in _OPENING for token in tokens[value:opening])
        head = self._length(_Line(0, opening + 1, self._indent))
        return others or head <= self._limit

    def _opening(self, closing: int) -> int:
        """Where the bracket opens that is closed at an index."""
        depth = self._tokens[closing].depth
        return next(
            (
                index
                for index in range(closing - 1, -1, -1)
                if self._tokens[index].depth == depth and self._tokens[index].text in _OPENING
            ),
            closing,
        )

    # Breaking

    def _inside(self, line: _Line, depth: int = 0) -> list[_Line]:
        """The lines that a line inside a bracket becomes."""
        if self._fits(line) or depth > _MAX_DEPTH:
            return [line]
        parts = self._by_operator(line)
        if parts:
            return [found for part in parts for found in self._inside(part, depth + 1)]
        return self._by_bracket(line, depth) or [line]

    def _by_operator(self, line: _Line) -> list[_Line]:
        """A line broken after its commas, or before the operators that bind least."""
        priority, places = self._operators(line)
        if not priority:
            return []
        comma = priority == _COMMA
        cuts = [place + comma for place in places if line.first < place + comma < line.last]
        if not cuts:
            return []
        edges = [line.first, *cuts, line.last]
        parts = [_Line(start, end, line.indent) for start, end in zip(edges, edges[1:])]
        parts[0] = replace(parts[0], lead=line.lead)
        ends = self._tokens[line.last - 1].text == ","
        parts[-1] = replace(parts[-1], trail=("," if comma and not ends else "") + line.trail)
        return parts

    def _operators(self, line: _Line) -> tuple[int, list[int]]:
        """The highest priority of the operators and commas of a line, and where these stand; one
        that it begins with, and a comma at its end, are none of them.
        """
        depth = self._tokens[line.first].depth
        by_priority: dict[int, list[int]] = {}
        for index in range(line.first, line.last):
            token = self._tokens[index]
            if not token.binary or token.depth != depth or index == line.first:
                continue
            if token.text == "," and index == line.last - 1:
                continue
            priority = _COMMA if token.text == "," else _PRIORITIES[token.text]
            by_priority.setdefault(priority, []).append(index)
        highest = max(by_priority, default=0)
        return highest, by_priority.get(highest, [])

    def _by_bracket(self, line: _Line, depth: int = 0) -> list[_Line]:
        """A line broken at its last bracket before which all fits on a line."""
        tokens, outer = self._tokens, self._tokens[line.first].depth
        for closing in range(line.last - 1, line.first, -1):
            token = tokens[closing]
            if token.depth != outer:
                continue
            opening = self._opening(closing) if token.text in _CLOSING else closing
            if opening >= closing - 1 or opening < line.first:
                continue
            head = replace(line, last=opening + 1, trail="")
            tail = _Line(closing, line.last, line.indent, "", line.trail)
            if not self._fits(head) or not self._fits(tail):
                continue
            body = self._indented(_Line(opening + 1, closing, line.indent))
            return [head, *self._inside(body, depth + 1), tail]
        return []

    def _indented(self, line: _Line) -> _Line:
        return replace(line, indent=line.indent + ("\t" if "\t" in line.indent else 4 * " "))

    def _fits(self, line: _Line) -> bool:
        return self._length(line) <= self._limit

    def _length(self, line: _Line) -> int:
        tokens = self._tokens[line.first : line.last]
        return (
            len(line.indent) + len(line.lead) + len(line.trail) + tokens[-1].end - tokens[0].start
        )
