"""docs/glossary.md: sorted, one line a word, and only words that are used."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "glossary.md"
ROWS = [
    tuple(cell.strip() for cell in line.strip("|").split("|"))
    for line in PAGE.read_text().splitlines()
    if line.startswith("|") and not line.startswith(("| word", "|---"))
]


@pytest.fixture(scope="module")
def text() -> str:
    """Code and pages, in lower case, without the glossary itself."""
    paths = [
        *(ROOT / "tfnanlint").rglob("*.py"),
        *(ROOT / "rules").glob("*.py"),
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "benchmarks").glob("*.md"),
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
    ]
    text = "\n".join(path.read_text() for path in paths if path != PAGE)
    return re.sub(r"[\s_`]+", " ", text).lower()


def test_each_word_has_one_line_in_alphabetical_order():
    words = [word for word, _ in ROWS]
    assert len(words) > 60 and words == sorted(set(words))
    assert not [word for word, sense in ROWS if not sense or len(sense) > 100]


@pytest.mark.parametrize("word", [word for word, _ in ROWS])
def test_each_word_is_used(text, word):
    assert len(re.findall(rf"\b{re.escape(word)}(?:s|es|ed)?\b", text)) >= 3
