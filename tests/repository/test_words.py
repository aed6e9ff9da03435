"""The sentences that a user reads: messages, hints and titles of rules, pages, help texts, errors
and documentation, in plain technical English.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tfnanlint.diagnostics.notices import NOTICES
from tfnanlint.rule.registry import load

ROOT = Path(__file__).parents[2]
RULES = sorted((ROOT / "rules").glob("*.py"))
SHARED = sorted((ROOT / "tfnanlint" / "rule").glob("*.py"))
REWRITES = sorted((ROOT / "tfnanlint" / "rewrite").glob("*.py"))
FRONT = sorted(
    path
    for name in ("cli", "config", "suppression")
    for path in (ROOT / "tfnanlint" / name).glob("*.py")
)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

# Words that read as translated or say nothing, everywhere; and what a message calls by its name.
BANNED = (
    r"\b(?:some|no|any)body\b",
    r"\b[Dd]oubtful\b",
    r"\bless sure\b",
    r"\bmended\b|\bto be mended\b|\bmend (?:that|the)\b",
    r"\bno fault\b",
    r"\bbrings? (?:about|up)\b",
    r"\bof nothing\b",
    r"\bbad luck\b",
    r"\bis no (?:rule|notebook|mask|such)\b",
    r"\bfor ever\b",
    r"\bcomes? back to life\b",
    r"\belse run\b",
    r"\bwhat is meant\b",
    r"\bwhat it is meant to be\b",
)
BANNED_IN_MESSAGES = (
    *BANNED,
    r"\b(?:I|we|us|our|my|you)\b",
    r"\b(?:is|as|of) one(?=[.,;:)]|$)|\bone(?:s)? (?:that|which|of which)\b",
    r"\bbehind a\b",
    r"\bof which\b",
    r"\bmade of\b",
    r"\b(?:values|value|results?) moves?\b|\bmove values\b|\bmoves values\b|\bothers move\b",
    r"\btaken for\b",
    r"\bhad again\b",
    r"\bthrown away\b",
    r"\bany number\b",
    r"\btaken away\b|\btake .* away\b",
    r"\bguards nothing\b",
    r"\bgradient is gone\b",
    r"\bchange places\b",
    r"\ba value that is \{",
    r"\bit\b.*\bit\b.*\bit\b",
)
# In a reason for no fix: a semicolon before what to do, and who or what is meant left unsaid.
BANNED_IN_REASONS = (
    r";",
    r"\bstands?\b(?! in)",
    r"\bmade\b",
    r"\bhand(?:ed|s) (?:to|on)\b",
    r"\bround\b",
)
MAX_MESSAGE_WORDS = 40
MAX_REASON_WORDS = 25
MAX_PAGE_WORDS = 50


@dataclass(frozen=True)
class Sentence:
    place: str
    text: str


def static_text(node: ast.AST) -> str | None:
    """The text of a string with `{…}` for what is computed; None for any other node."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            part.value if isinstance(part, ast.Constant) else "{…}" for part in node.values
        )
    return None


def strings(path: Path, least: int = 3) -> Iterator[Sentence]:
    """The texts of a module of at least some words that are no docstring, code or part of an
    f-string.
    """
    tree = ast.parse(path.read_text("utf-8"))
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            skipped |= set(node.values)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(node.value)
    for node in ast.walk(tree):
        text = None if node in skipped else static_text(node)
        if text and len(text.split()) >= least and not is_code(text):
            yield Sentence(f"{path.relative_to(ROOT)}:{node.lineno}", text)


def is_code(text: str) -> bool:
    """Whether a string is a template, a list of op names or of classes of findings."""
    return (
        bool(re.match(r"-?(?:tf|K|keras)\.|MAY|MUST|UNKNOWN|\(?\{", text))
        or " tf." in text[:60]
        and ":" not in text
    )


def offences(sentence: Sentence, banned: tuple[str, ...]) -> list[str]:
    text = re.sub(r"`[^`]*`", "``", sentence.text)
    return [
        f"{sentence.place}: {match[0]!r} in {text[:100]!r}"
        for pattern in banned
        if (match := re.search(pattern, text))
    ]


def prose(text: str) -> list[str]:
    """The sentences of a page: no code, tables, headings, lists of links."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    text = re.sub(r"(?m)^(?:    |\||#|<!--|See it:).*$", "", text)
    text = re.sub(r"`[^`]*`", "`x`", text)
    text = re.sub(r"https?://\S+|\[([^]]*)\]\([^)]*\)", r"\1", text)
    blocks = re.split(r"\n\s*\n|\n(?=\s*[*-] )", text)
    return [
        sentence
        for block in blocks
        if not block.startswith(("Seen in the wild", "See also"))
        for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z`])", " ".join(block.split()))
        if sentence
    ]


@pytest.mark.parametrize("path", [*RULES, *SHARED], ids=lambda path: path.stem)
def test_messages(path):
    wrong = []
    for sentence in strings(path):
        wrong += offences(sentence, BANNED_IN_MESSAGES)
        if len(sentence.text.split()) > MAX_MESSAGE_WORDS:
            wrong.append(f"{sentence.place}: {len(sentence.text.split())} words")
    assert not wrong, "\n".join(wrong)


def reasons(path: Path) -> Iterator[Sentence]:
    """The texts of a module that say why no fix is offered."""
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        name = node.func if isinstance(node, ast.Call) else None
        if getattr(name, "attr", getattr(name, "id", "")) == "NoFix" and node.args:
            text = static_text(node.args[0])
            if text:
                yield Sentence(f"{path.relative_to(ROOT)}:{node.lineno}", text)


def test_reasons_for_no_fix():
    """A clause in small letters: what is in the way, then, behind a colon, what to do."""
    found = [one for path in [*REWRITES, *SHARED, *RULES] for one in reasons(path)]
    assert len(found) >= 40
    wrong = []
    for sentence in found:
        wrong += offences(sentence, (*BANNED_IN_MESSAGES, *BANNED_IN_REASONS))
        if sentence.text.endswith(".") or re.match(r"[A-Z](?!\w* )", sentence.text):
            wrong.append(f"{sentence.place}: not a clause: {sentence.text}")
        if len(sentence.text.split()) > MAX_REASON_WORDS:
            wrong.append(f"{sentence.place}: {len(sentence.text.split())} words")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", FRONT, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_help_and_errors(path):
    wrong = [one for sentence in strings(path) for one in offences(sentence, BANNED)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("rule", [*load(), *NOTICES], ids=lambda rule: rule.slug)
def test_rule_pages(rule):
    wrong = [one for text in prose(rule.doc) for one in offences(Sentence(rule.code, text), BANNED)]
    wrong += [
        f"{len(text.split())} words: {text}"
        for text in prose(rule.doc)
        if len(text.split()) > MAX_PAGE_WORDS and not text.startswith("Often harmless")
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_documentation(path):
    wrong = [
        one
        for text in prose(path.read_text("utf-8"))
        for one in offences(Sentence(path.name, text), BANNED)
    ]
    assert not wrong, "\n".join(wrong)


def test_an_old_sentence_is_noticed():
    old = (
        "logarithm of a value that is {…}: at 0 it is -inf, below it NaN",
        "of nothing the mean is 0 / 0, NaN",
        "let them change places",
        "values move by 2e-7",
    )
    assert all(offences(Sentence("old", text), BANNED_IN_MESSAGES) for text in old)
    assert not offences(Sentence("new", "the result is -inf at 0"), BANNED_IN_MESSAGES)
