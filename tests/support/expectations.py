"""What a fixture says about its own lines, in comments that every test of findings reads the same
way.

    y = tf.math.log(p)      # want: TFN101 "[0, 1]"          a finding starts on this line
    # want+1: TFN303, TFN401                                two findings start on the next line
    z = tf.math.log(q)      # ok: q is clipped above         no finding may start on this line
    # todo-want+1: TFN801                                   wanted later; today it must be missing
    w = tf.math.log(r)      # todo-ok: TFN101 r is a count   a known false alarm; today it must be there

The quoted text must occur in the finding (its message, its range, its trace or the source it
underlines).
"""

from __future__ import annotations

import io
import re
import tokenize
from dataclasses import dataclass

from tfnanlint.diagnostics.findings import Finding
from tfnanlint.syntax.source import Source

KINDS = ("want", "ok", "todo-want", "todo-ok")

_CLAUSE = re.compile(
    r"#\s*(todo-want|todo-ok|want|ok)([+-]\d+)?:[ \t]*(.*?)[ \t]*(?=#\s*(?:todo-)?(?:want|ok)(?:[+-]\d+)?:|$)"
)
_ITEM = re.compile(r'([A-Z]{2,}\d{3})(?:\s+"((?:[^"\\]|\\.)*)")?\s*(,|$)')
_CODE = re.compile(r"[A-Z]{2,}\d{3}\b")


class Unclear(ValueError):
    """A comment that looks like an expectation and is not one."""


@dataclass(frozen=True, slots=True, order=True)
class Expectation:
    """One expectation about 1-based `line`.

    For want and todo-want `code` is the rule and `text` a piece of the finding, empty when any will
    do. For ok and todo-ok `code` is empty (no finding at all) or the one rule meant, and `text` is
    the reason.
    """

    line: int
    kind: str
    code: str
    text: str = ""


def expectations(text: str) -> list[Expectation]:
    """All expectations in the comments of Python source, in order of line; strings are not
    comments.

    Raises `Unclear` for a want without a code.
    """
    found = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            found.extend(_in_comment(token.string, token.start[0]))
    return sorted(found)


def _in_comment(comment: str, row: int) -> list[Expectation]:
    found = []
    for kind, shift, body in _CLAUSE.findall(comment):
        line = row + int(shift or 0)
        if kind.endswith("want"):
            found.extend(Expectation(line, kind, code, piece) for code, piece in _wanted(body, row))
        else:
            code = _CODE.match(body)
            found.append(Expectation(line, kind, code.group() if code else "", body))
    return found


def _wanted(body: str, row: int) -> list[tuple[str, str]]:
    items, end = [], 0
    while match := _ITEM.match(body, end):
        items.append((match.group(1), re.sub(r"\\(.)", r"\1", match.group(2) or "")))
        end = match.end()
        while end < len(body) and body[end] == " ":
            end += 1
        if match.group(3) == "":
            break
    if not items or end < len(body):
        raise Unclear(f'line {row}: expected CODE "text", CODE ... and got {body!r}')
    return items


def mentions(source: Source, finding: Finding, text: str) -> bool:
    """Whether a finding says `text`: in its message, range, trace or the source it underlines."""
    said = [
        finding.message,
        finding.range,
        source.slice(finding.span),
        *(step.text for step in finding.trace),
    ]
    return any(text in one for one in said)


def row(source: Source, finding: Finding) -> int:
    return source.position(finding.span.start)[0]
