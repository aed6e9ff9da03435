"""Spans of a text and edits of it: plain data, of which everything about positions is made."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Half-open range of code points in a text."""

    start: int
    end: int

    def __contains__(self, span: Span) -> bool:
        return self.start <= span.start and span.end <= self.end


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text at `span` (code points of the original text) by `text`."""

    span: Span
    text: str
