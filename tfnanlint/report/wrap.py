"""Text cut into lines for a terminal: at blanks only, so that no word is broken."""

from __future__ import annotations

import textwrap


def wrapped(text: str, width: int, lead: str, indent: str) -> list[str]:
    """Text as lines of at most `width` columns, the first behind `lead`, the others behind
    `indent`. A word that is longer than a line keeps one for itself, and so does a lead that
    leaves no room for the first word.
    """
    first = len(lead) + len(text.split(" ", 1)[0])
    if len(indent) < len(lead) and width < first <= width + len(lead) - len(indent):
        return [lead.rstrip(), *wrapped(text, width, indent, indent)]
    return textwrap.wrap(
        text,
        width,
        initial_indent=lead,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [lead.rstrip()]


def clipped(text: str, width: int) -> str:
    """Text or code as one line of at most `width` columns, shortened after a whole word."""
    if len(text) <= width:
        return text
    head = text[: width - 3]
    end = max(head.rfind(mark) for mark in " ([,")
    return (head[: end + 1] if end > 0 else head) + "..."


def fitted(text: str, width: int) -> str:
    """Text whose lines are cut at blanks where they are longer than `width` columns."""
    lines = [
        part
        for line in text.split("\n")
        for part in (wrapped(line, width, "", "    ") if len(line) > width else [line])
    ]
    return "\n".join(lines)
