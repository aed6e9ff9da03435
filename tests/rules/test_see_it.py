"""What a rule's page shows under "See it" is what TensorFlow prints."""

from __future__ import annotations

import doctest

import pytest

from tfnanlint.pipeline.rule_page import SEE, sections
from tfnanlint.rule.registry import load

RULES = load()
SHOWN = {rule.slug: sections(rule)[SEE] for rule in RULES if SEE in sections(rule)}
MOST_LINES = 10  # to paste and to read
# Rules without an example, and why.
NOT_SHOWN = {
    "tfdbg-v1": "the debugger waits for a command in a terminal, in graphs of TensorFlow 1 only",
}


def failures(text: str, tf) -> str:
    """What differs from the output that an example states; "" where nothing does."""
    said: list[str] = []
    test = doctest.DocTestParser().get_doctest(text + "\n", {"tf": tf}, "page", None, 0)
    doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    return "".join(said)


def test_every_page_shows_it():
    assert {rule.slug for rule in RULES} - SHOWN.keys() == NOT_SHOWN.keys()
    assert all(">>> " in text for text in SHOWN.values())
    assert all(len(text.splitlines()) <= MOST_LINES for text in SHOWN.values())


@pytest.mark.slow
def test_the_examples_print_what_the_pages_say():
    tf = pytest.importorskip("tensorflow")
    assert not {slug: said for slug, text in SHOWN.items() if (said := failures(text, tf))}


def test_a_wrong_example_is_noticed():
    assert "Expected:" in failures(">>> 1 + 1\n3", None)
