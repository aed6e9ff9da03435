"""What a rule's page shows under "See it" is what TensorFlow prints."""

from __future__ import annotations

import doctest

import pytest

from tfnanlint.pipeline.rule_page import SEE, sections
from tfnanlint.rule.registry import load

SHOWN = {rule.slug: sections(rule)[SEE] for rule in load() if SEE in sections(rule)}
LEAST = 30  # rules that show it


def failures(text: str, tf) -> str:
    """What differs from the output that an example states; "" where nothing does."""
    said: list[str] = []
    test = doctest.DocTestParser().get_doctest(text + "\n", {"tf": tf}, "page", None, 0)
    doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    return "".join(said)


def test_most_pages_show_it():
    assert len(SHOWN) >= LEAST
    assert all(">>> " in text for text in SHOWN.values())


def test_the_examples_print_what_the_pages_say():
    tf = pytest.importorskip("tensorflow")
    assert not {slug: said for slug, text in SHOWN.items() if (said := failures(text, tf))}


def test_a_wrong_example_is_noticed():
    assert "Expected:" in failures(">>> 1 + 1\n3", None)
