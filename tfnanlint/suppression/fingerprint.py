"""The identity of a finding that survives moved lines: what baselines, GitLab and GitHub compare
between two runs.

It is made of the rule's code, the function or class around the finding and the flagged text without
its layout. It holds no line, no message and no path: lines above may come and go, the file may be
renamed or reformatted, messages may be reworded. Equal findings are numbered in the order of the
file, so that of three equal ones two can be known and one new.
"""

from __future__ import annotations

import ast
import hashlib
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence

from tfnanlint.diagnostics.findings import Finding
from tfnanlint.syntax.source import Source, Unreadable

# Written with `re` and not with `tokenize`, whose tokens of one f-string differ between versions of
# Python.
_PIECES = re.compile(
    r"""("{3}(?:\\.|[^\\])*?"{3}|'{3}(?:\\.|[^\\])*?'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|\#[^\r\n]*|\\?\s+""",
    re.S,
)
_TRAILING_COMMA = re.compile(r",(?=[)\]}])")
_DIGITS = 32


def fingerprints(source: Source, findings: Sequence[Finding]) -> list[str]:
    """One string of hexadecimal digits for each finding of a file, in the order given; no two are
    equal.
    """
    scopes = _scopes(source) if findings else []
    seen: Counter[str] = Counter()
    numbered: dict[int, str] = {}
    for index in sorted(range(len(findings)), key=lambda index: findings[index].span):
        finding = findings[index]
        identity = "\0".join(
            (finding.code, _scope(source, scopes, finding), plain(source.slice(finding.span)))
        )
        seen[identity] += 1
        numbered[index] = digest(identity, str(seen[identity]))
    return [numbered[index] for index in range(len(findings))]


def digest(*parts: str) -> str:
    """A hash of some texts: the same in every process and on every machine."""
    data = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()[:_DIGITS]


def plain(text: str) -> str:
    """Source text without spaces, line ends, comments and trailing commas; a comment alone stays as
    it is.
    """
    bare = _PIECES.sub(lambda match: match[1] or "", text)
    return _TRAILING_COMMA.sub("", bare) or text.strip()


def _scopes(source: Source) -> list[tuple[int, int, str]]:
    """First row, last row and dotted name of every function and class, outer ones first."""
    try:
        stack: list[tuple[ast.AST, str]] = [(source.tree, "")]
    except Unreadable:
        return []
    scopes = []
    while stack:
        node, outer = stack.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                name = f"{outer}.{child.name}" if outer else child.name
                scopes.append((child.lineno, child.end_lineno or child.lineno, name))
                stack.append((child, name))
            elif isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
                stack.append((child, outer))
    return sorted(scopes)


def _scope(source: Source, scopes: list[tuple[int, int, str]], finding: Finding) -> str:
    row = source.position(finding.span.start)[0]
    for first, last, name in reversed(
        scopes[: bisect_right(scopes, row, key=lambda scope: scope[0])]
    ):
        if first <= row <= last:
            return name
    return ""
