"""Comments that hide findings: `# tfn: ignore[TFN101]`, `# noqa: TFN101`, `# tfn: skip-file`; and
which of them are idle.

A comment at the end of a line counts for the findings that start or end on that line, and, on the
first or last line of a statement, for the whole statement. `# tfn: ignore[...]` on a line of its
own counts for the next statement, or, inside brackets, for the next line.
"""

from __future__ import annotations

import bisect
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

from tfnanlint.config.layers import Policy, hint
from tfnanlint.diagnostics import notices
from tfnanlint.diagnostics.findings import Claim, Edit, Finding, Fix
from tfnanlint.syntax.source import Source, Span

# Looked for before anything is tokenized. The second finds only comments that can be idle.
# Nothing is tried twice: behind a `#` no second one is read over, and behind `noqa` none.
_ANY_COMMENT = re.compile(r"#[^#\r\n]*(?:tfn(?:anlint)?:|noqa)", re.I)
_OWN_COMMENT: Final = r"(?i)#[^#\r\n]*tfn(?:anlint)?:|#[^#\r\n]*noqa(?:(?!noqa)[^\r\n])*TFN\d"

# Compiled where a text has such a comment: few have.
_IGNORE: Final = (
    r"(?i)#\s*tfn:\s*ignore\b(?:\s*\[(?P<codes>[^\]#]*)\])?(?P<reason>(?:[^#]|#(?=\d))*)"
)
_NOQA: Final = (
    r"(?i)#\s*noqa\b(?P<colon>\s*:)?(?:\s*(?P<codes>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*))?"
)
_SKIP: Final = r"(?im)^[ \t]*#[ \t]*tfn:[ \t]*skip-file\b"
# Spellings of other tools with our name in them.
_FOREIGN: Final = (
    r"(?i)#\s*(?:tfn:\s*(?:disable|noqa|off)\b"
    r"|tfnanlint:\s*(?:ignore|disable|noqa|off|skip-file)\b)[^#]*"
)
_OURS: Final = r"(?i)TFN\d+"


def _mentioned(source: Source) -> bool:
    """Whether our prefix stands in a text at all: tells in a tenth of the time that nearly all
    texts need no search.
    """
    return source.holds(("tfn", "TFN"))


@dataclass(slots=True)
class Suppression:
    """One comment. `names` are codes and slugs as written, None for all; `target` is the row of the
    code that a comment on a line of its own covers, 0 for none; `used` are the codes and slugs of
    what is hidden where the comment hides.
    """

    span: Span
    row: int
    names: tuple[str, ...] | None
    names_span: Span | None
    noqa: bool
    own_line: bool
    target: int = 0
    used: set[str] = field(default_factory=set)


class Outcome(NamedTuple):
    """What is left, what was hidden, and a finding for each comment that hid nothing."""

    kept: list[Finding]
    hidden: list[Finding]
    idle: list[Finding]


def skips_file(source: Source) -> bool:
    """Whether a comment on a line of its own says `# tfn: skip-file`. Works on text that does not
    parse, too.
    """
    if not _mentioned(source) or not re.search(_SKIP, source.text):
        return False
    comments, _, _ = _read(source)
    return any(
        re.match(_SKIP, one.string) and not one.line[: one.start[1]].strip() for one in comments
    )


def apply(findings: list[Finding], source: Source, policy: Policy) -> Outcome:
    """Take out the findings that comments hide, and report the comments that hide nothing."""
    text = source.text
    can_hide = findings and _ANY_COMMENT.search(text)
    if not can_hide and not (policy.idle and _mentioned(source) and re.search(_OWN_COMMENT, text)):
        return Outcome(findings, [], [])
    lines = Lines(source)
    kept, hidden = [], []
    for finding in findings:
        hiding = [place for place in lines.covering(finding) if place.names(finding)]
        for place in hiding:
            place.used.update((finding.code, finding.slug))
        (hidden if hiding else kept).append(finding)
    ran = {name for rule in policy.rules for name in (rule.code, rule.slug)}
    known = {name for rule in policy.known.values() for name in (rule.code, rule.slug)}
    idle = (
        [
            *(report for one in lines.suppressions for report in _idle(one, source, ran, known)),
            *(
                notices.IDLE.finding(
                    source, span, "the comment hides nothing: write `# tfn: ignore[TFN101]`"
                )
                for span in lines.foreign
            ),
        ]
        if policy.idle
        else []
    )
    return Outcome(kept, hidden, idle)


@dataclass(slots=True)
class _Place:
    """What all comments that cover the same rows hide together: `named` are codes and slugs in
    lower case, `hides_all` says whether one names none; `used` are those of what they hide.
    """

    named: set[str] = field(default_factory=set)
    hides_all: bool = False
    used: set[str] = field(default_factory=set)

    def add(self, comment: Suppression) -> None:
        comment.used = self.used
        if comment.names is None:
            self.hides_all = True
        else:
            self.named.update(name.lower() for name in comment.names)

    def names(self, finding: Finding) -> bool:
        if finding.code == notices.INTERNAL.code:
            return False  # A failure of tfnanlint must not be hidden by a comment about the code.
        return (
            self.hides_all
            or finding.code.lower() in self.named
            or finding.slug.lower() in self.named
        )


# --------------------------------------------------------------------------------------------------
# Reading comments


def _read(source: Source) -> tuple[list[tokenize.TokenInfo], list[tuple[int, int]], list[int]]:
    """The comments, the rows (first, last) of every logical line, and the rows on which code
    stands.
    """
    comments, logical, rows = [], [], []
    first = 0
    layout = (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.ENCODING)
    try:
        # Lines end at CR, LF and CRLF alike, as for the parser; columns do not change.
        for token in tokenize.generate_tokens(io.StringIO(source.text, newline=None).readline):
            if token.type == tokenize.COMMENT:
                comments.append(token)
            elif token.type == tokenize.NEWLINE:
                logical.append((first or token.start[0], token.start[0]))
                first = 0
            elif token.type not in layout:
                first = first or token.start[0]
                rows.append(token.start[0])
    except (tokenize.TokenError, SyntaxError):
        pass  # What parses can be tokenized; of what does not, the comments up to the fault count.
    return comments, logical, rows


class Lines:
    """The suppression comments of a source, and which rows each covers."""

    def __init__(self, source: Source):
        self._source = source
        comments, self._logical, self._rows = _read(source)
        self._firsts = [first for first, _ in self._logical]
        self.suppressions = [one for comment in comments for one in self._suppressions(comment)]
        self.foreign = [span for comment in comments for span in self._foreign(comment)]

    def _suppressions(self, comment: tokenize.TokenInfo) -> Iterator[Suppression]:
        row, column = comment.start
        start = self._source.line_starts[row - 1] + column
        own_line = not comment.line[:column].strip()
        for pattern, noqa in ((_IGNORE, False), (_NOQA, True)):
            for match in re.finditer(pattern, comment.string):
                codes = match["codes"]
                if codes is None and noqa and not match["colon"]:
                    names = None
                else:
                    names = tuple(name for name in re.split(r"[,\s]+", codes or "") if name)
                yield Suppression(
                    span=Span(start + match.start(), start + match.end()),
                    row=row,
                    names=names,
                    names_span=(
                        None
                        if codes is None
                        else Span(start + match.start("codes"), start + match.end("codes"))
                    ),
                    noqa=noqa,
                    own_line=own_line,
                    target=self._next_row(row) if own_line and not noqa else 0,
                )

    def _foreign(self, comment: tokenize.TokenInfo) -> Iterator[Span]:
        """Where a comment is written as other tools have it, which hides nothing."""
        row, column = comment.start
        start = self._source.line_starts[row - 1] + column
        for match in re.finditer(_FOREIGN, comment.string):
            yield Span(start + match.start(), start + len(match[0].rstrip()) + match.start())

    def _next_row(self, row: int) -> int:
        """The row of the code after a row; 0 when none follows in the same file, or cell of a
        notebook.
        """
        at = bisect.bisect_right(self._rows, row)
        if at == len(self._rows) or self._source.first_row(row) != self._source.first_row(
            self._rows[at]
        ):
            return 0
        return self._rows[at]

    def statement(self, row: int) -> tuple[int, int]:
        """The rows of the logical line that holds a row."""
        at = bisect.bisect_right(self._firsts, row) - 1
        return self._logical[at] if at >= 0 and row <= self._logical[at][1] else (row, row)

    def codes_at(self, row: int) -> Span | None:
        """Where the codes stand in the `tfn: ignore[...]` at the end of a row; None when there is
        none.
        """
        return self._codes.get(row)

    @cached_property
    def _codes(self) -> dict[int, Span]:
        """`codes_at` of the rows that have such a comment."""
        codes: dict[int, Span] = {}
        for comment in self.suppressions:
            if comment.names_span is not None and not comment.noqa and not comment.own_line:
                codes.setdefault(comment.row, comment.names_span)
        return codes

    @cached_property
    def _places(self) -> dict[object, _Place]:
        """What comments hide, by the rows that they cover: the row of one behind code, the
        statement below one on a line of its own, or the row below one between brackets.
        """
        places: dict[object, _Place] = {}
        for comment in self.suppressions:
            key: object = ("behind", comment.row)
            if comment.own_line:
                if not comment.target:
                    continue
                statement = self.statement(comment.target)
                key = ("inside", comment.target) if statement[0] < comment.row else statement
            places.setdefault(key, _Place()).add(comment)
        return places

    def covering(self, finding: Finding) -> list[_Place]:
        """What comments hide on the rows of a finding."""
        first = self._source.position(finding.span.start)[0]
        last = self._source.position(max(finding.span.start, finding.span.end - 1))[0]
        statement = self.statement(first)
        keys = [("behind", row) for row in {first, last, *statement}]
        places = [self._places.get(key) for key in (*keys, ("inside", first), statement)]
        return [place for place in places if place is not None]


# --------------------------------------------------------------------------------------------------
# Idle comments


def _idle(
    comment: Suppression, source: Source, ran: set[str], known: set[str]
) -> Iterable[Finding]:
    """The finding that a comment hides nothing of what it names: `ran` are the codes and slugs of
    the rules that ran, `known` those of all.
    """
    if comment.names is None:
        return
    if not comment.names:
        if not comment.noqa:
            yield notices.IDLE.finding(
                source, comment.span, "the comment names no rule: write `# tfn: ignore[TFN101]`"
            )
        return
    idle, reasons = [], []
    for name in comment.names:
        spelling = name.upper() if re.fullmatch(_OURS, name) else name.lower()
        if spelling in known:
            if spelling in ran and spelling not in comment.used:
                idle.append(name)
                reasons.append(f"{spelling} is not found here")
        elif not comment.noqa or re.fullmatch(_OURS, name):
            idle.append(name)
            reasons.append(f"`{name}` is not a rule code{hint(name, known)}")
    if idle:
        where = (
            "; a noqa on a line of its own covers nothing"
            if comment.noqa and comment.own_line
            else ""
        )
        message = f"the comment hides nothing: {', '.join(reasons)}{where}"
        yield notices.IDLE.finding(
            source, comment.span, message, (_removal(comment, idle, source),)
        )


def _removal(comment: Suppression, idle: list[str], source: Source) -> Fix:
    """The edit that takes idle names, or the whole comment when all are idle, out of the text."""
    if len(idle) < len(comment.names or ()):
        left = ", ".join(name for name in comment.names if name not in idle)
        return Fix(f"keep only {left}", Claim.EQUAL, (Edit(comment.names_span, left),))
    text = source.text
    start, end = comment.span.start, comment.span.end
    row_start = source.line_starts[comment.row - 1]
    row_end = row_start + len(source.line_text(comment.row))
    if end == row_end or not text[end:row_end].strip():
        end = row_end
        start -= len(text[row_start:start]) - len(text[row_start:start].rstrip(" \t"))
        if start == row_start:  # the line held nothing else
            end = source.line_starts[comment.row] if comment.row < len(source.line_starts) else end
    else:
        end += len(text[end:row_end]) - len(text[end:row_end].lstrip(" \t"))
    return Fix("remove the comment", Claim.EQUAL, (Edit(Span(start, end), ""),))
