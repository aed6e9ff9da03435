"""The comment that hides a finding: where it goes, beside the comments that are there."""

from __future__ import annotations

import io
import re
import tokenize

from tfnanlint.findings import Edit
from tfnanlint.source import Source, Span

_IGNORE = re.compile(r"#\s*tfn:\s*ignore\s*\[([^\]#]*)\]", re.I)


def ignoring(source: Source, code: str, span: Span) -> Edit | None:
    """The edit that adds `# tfn: ignore[CODE]` to the line of a finding; None where no line of its statement takes one."""
    comments, inside, last_row = _layout(source, source.position(span.start)[0])
    first = source.position(span.start)[0]
    end = source.position(max(span.start, span.end - 1))[0]
    for row in (first, end, last_row):
        text = source.line_text(row)
        if row in inside or text.endswith("\\"):
            continue
        start = source.line_starts[row - 1]
        there = _IGNORE.search(comments.get(row, ""))
        if there is not None:
            at = start + len(text) - len(comments[row]) + there.end(1)
            names = there[1].strip()
            return Edit(Span(at, at), f", {code}" if names else code)
        stop = start + len(text.rstrip())
        return Edit(Span(stop, start + len(text)), f"  # tfn: ignore[{code}]")
    return None


def _layout(source: Source, row: int) -> tuple[dict[int, str], set[int], int]:
    """The comment of each row to its end, the rows whose end lies inside a string, the last row of a row's statement."""
    comments: dict[int, str] = {}
    inside: set[int] = set()
    last, found = 0, row
    try:
        for token in tokenize.generate_tokens(io.StringIO(source.text, newline=None).readline):
            if token.type == tokenize.COMMENT:
                comments[token.start[0]] = source.line_text(token.start[0])[token.start[1] :]
            elif token.type == tokenize.NEWLINE:
                if last < row <= token.start[0]:
                    found = token.start[0]
                last = token.start[0]
            elif token.type not in (tokenize.NL, tokenize.DEDENT, tokenize.INDENT):
                inside.update(range(token.start[0], token.end[0]))
    except (tokenize.TokenError, SyntaxError):
        pass  # A text that does not parse has no finding that a comment could hide.
    return comments, inside, found
