"""Docstrings: what they promise of a parameter, in the layouts of Google, NumPy and Sphinx."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

# "Positive Tensor", "must be strictly positive", "> 0"; not "positive definite", "true positives",
# "the positive class".
_POSITIVE = re.compile(
    r"\b(?:must|should|has to|have to|is|are|be|strictly|only|an?|all|values?|of)[ \n]+positive\b(?![- ]+(?:semi|definite|class|example|sample|label|pair|item|edge)|s)"
    r"|(?:^|[.;,(:] *)positive\b(?![- ]+(?:semi|definite|class|example|sample|label|pair|item|edge)|s)|(?<![=\w.])> ?0(?:\.0*)?(?![.\d])|greater than (?:0|zero)\b",
    re.IGNORECASE,
)
_NOT = re.compile(r"\b(?:not|non|or zero|or 0|may be|if|when)\b", re.IGNORECASE)


def promises_positive(function: ast.AST, name: str) -> bool:
    """Whether the docstring of a function says that a parameter is above 0."""
    text = _text(function)
    if text is None or name not in text:
        return False
    said = _entry(text, name)
    found = _POSITIVE.search(said)
    return found is not None and _NOT.search(said) is None


def _text(function: ast.AST) -> str | None:
    body = getattr(function, "body", None)
    first = body[0] if isinstance(body, list) and body else None
    text = (
        first.value.value
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        else None
    )
    return text if isinstance(text, str) else None


@lru_cache(maxsize=256)
def _entry(text: str, name: str) -> str:
    """What stands behind a parameter's name in a docstring, with the lines that are indented under
    it.
    """
    start = re.search(
        rf"^([ \t]*)(?::param[^:\n]*[ \t])?[`*]*{re.escape(name)}[`*]*[ \t]*(?:\([^)\n]*\))?[ \t]*:(.*)$",
        text,
        re.MULTILINE,
    )
    if start is None:
        return ""
    found = [start[2].strip()]
    for line in text[start.end() :].splitlines()[1:]:
        if not line.strip() or len(line) - len(line.lstrip()) <= len(start[1].expandtabs()):
            break
        found.append(line.strip())
    return " ".join(found)
