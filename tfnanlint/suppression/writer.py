"""Writing the comments that hide findings, for a code base that cannot be repaired at once."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable

from tfnanlint.config.keys import ConfigError
from tfnanlint.diagnostics.findings import Edit, Finding
from tfnanlint.diagnostics.notices import NOTICES
from tfnanlint.suppression.comments import Lines
from tfnanlint.syntax.edits import edits_apply
from tfnanlint.syntax.source import Source, Span

_NEVER = frozenset(notice.code for notice in NOTICES)
_LAYOUT = frozenset(
    (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENCODING, tokenize.ENDMARKER)
)


def checked_reason(reason: str) -> str:
    """A reason as it can stand in a comment. Raises `ConfigError`."""
    reason = reason.strip()
    if not reason:
        raise ConfigError(
            '--add-ignore: say why the findings may stay, as in --add-ignore "inherited, see #12"'
        )
    if not reason.isprintable():
        raise ConfigError("--add-ignore: the reason must be one line of plain text")
    # A `#` would begin another comment, in which the words could mean something to another tool:
    # all but the number of an issue, `#12`.
    return re.sub(r"#(?!\d)", "", reason)


def with_comments(
    source: Source, findings: Iterable[Finding], reason: str
) -> tuple[Source, list[Finding]]:
    """The source with a comment for each finding that one can be written for, and those
    findings.
    """
    rows = _Rows(source)
    codes: dict[int, set[str]] = {}
    covered = []
    for finding in findings:
        row = None if finding.code in _NEVER else rows.for_comment(finding.span)
        if row is not None:
            codes.setdefault(row, set()).add(finding.code)
            covered.append(finding)
    edits = [
        _edit(source, row, rows.lines.codes_at(row), sorted(names), reason)
        for row, names in sorted(codes.items())
    ]
    return source.edited(edits_apply(source.text, edits), edits), covered


def comment_for(source: Source, span: Span, code: str) -> Edit | None:
    """The edit that has a comment hide a code at a span; None where no line of its statement takes
    a comment.
    """
    rows = _Rows(source)
    row = rows.for_comment(span)
    return None if row is None else _edit(source, row, rows.lines.codes_at(row), [code], "")


def only_comments_differ(old: Source, new: Source) -> bool:
    """Whether two texts are the same code."""
    return _code(old) == _code(new)


def _code(source: Source) -> list[tuple[int, str]]:
    tokens = tokenize.generate_tokens(io.StringIO(source.text, newline=None).readline)
    return [(token.type, token.string) for token in tokens if token.type not in _LAYOUT]


class _Rows:
    """The rows of a source at whose end a comment can stand: not inside of a string, not before a
    continued line.
    """

    def __init__(self, source: Source):
        self._source = source
        self.lines = Lines(source)
        self._closed: set[int] = set()
        try:
            for token in tokenize.generate_tokens(io.StringIO(source.text, newline=None).readline):
                # Every row that ends by itself ends in one of these; a string or a backslash at its
                # end leaves none.
                if token.type in (tokenize.NL, tokenize.NEWLINE):
                    self._closed.add(token.start[0])
        except (tokenize.TokenError, SyntaxError):
            # What does not parse has no finding that a comment could hide, in a notebook beyond the
            # broken cell.
            pass

    def for_comment(self, span: Span) -> int | None:
        """The row for a comment that hides what is found at a span, the narrowest one first."""
        first = self._source.position(span.start)[0]
        last = self._source.position(max(span.start, span.end - 1))[0]
        statement = self.lines.statement(first)
        return next((row for row in (first, last, *statement) if row in self._closed), None)


def _edit(source: Source, row: int, names_span: Span | None, codes: list[str], reason: str) -> Edit:
    """What hides some codes at the end of a row: added to our comment there, or written behind all
    that is there.
    """
    if names_span is not None:
        present = [name for name in re.split(r"[,\s]+", source.slice(names_span)) if name]
        more = [code for code in codes if code not in (name.upper() for name in present)]
        return Edit(names_span, ", ".join([*present, *more]))
    line = source.line_text(row)
    start = source.line_starts[row - 1]
    comment = f"  # tfn: ignore[{', '.join(codes)}] {reason}".rstrip()
    return Edit(Span(start + len(line.rstrip()), start + len(line)), comment)
