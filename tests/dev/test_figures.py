"""The figures of the rules' pages are drawn from numbers that TensorFlow computes."""

from __future__ import annotations

import copy
import re
import xml.etree.ElementTree as tree

import pytest

from tfnanlint.dev import docs, figures, steps
from tfnanlint.dev.pictures import NOT_DRAWN, PICTURES
from tfnanlint.pipeline.rule_page import page
from tfnanlint.rule.registry import load

LEAST = 30  # rules that have a picture
NUMBERS = figures.stored()
ONE = {picture.slug: picture for picture in PICTURES}["clip-after-singularity"]


def test_every_rule_has_a_picture_or_a_reason():
    drawn = {picture.slug for picture in PICTURES}
    assert len(drawn) >= LEAST
    assert drawn | NOT_DRAWN.keys() == {rule.slug for rule in load()}
    assert not drawn & NOT_DRAWN.keys()


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.slug)
def test_a_figure_is_drawn_from_its_numbers(picture):
    assert figures.is_fresh(picture, NUMBERS), "python -m tfnanlint.dev.figures"
    path = figures.path_of(picture.slug)
    assert path.stat().st_size <= figures.LARGEST
    text = path.read_text("utf-8")
    assert tree.fromstring(text).tag.endswith("svg")
    assert "prefers-color-scheme: dark" in text and "http" not in re.sub(r'"http[^"]*"', "", text)


def test_nothing_else_lies_beside_the_figures():
    known = {f"{picture.slug}.svg" for picture in PICTURES}
    known |= {f"{one.slug}.steps.svg" for one in steps.STEPS}
    known |= {"numbers.json", "steps.json"}
    assert {path.name for path in figures.FOLDER.iterdir()} == known


@pytest.mark.tensorflow
def test_the_numbers_are_what_tensorflow_computes():
    pytest.importorskip("tensorflow")
    said = []
    for picture in PICTURES:
        said += figures.differences(picture, NUMBERS[picture.slug], figures.computed(picture))
    assert not said, "\n".join(said[:20])
    assert not steps.stale(figures.FOLDER)


def test_the_fix_of_every_picture_is_finite():
    for slug, data in NUMBERS.items():
        left = [y for part in data["after"].values() for y in part if isinstance(y, str)]
        assert not left, slug


def test_a_changed_number_or_expression_is_noticed():
    changed = copy.deepcopy(NUMBERS[ONE.slug])
    changed["before"]["gradient"][0] = 0.0
    assert figures.differences(ONE, NUMBERS[ONE.slug], changed)
    assert not figures.is_fresh(ONE, {ONE.slug: changed})
    assert not figures.differences(ONE, NUMBERS[ONE.slug], copy.deepcopy(NUMBERS[ONE.slug]))


def test_matplotlib_draws_what_is_stored():
    pytest.importorskip("matplotlib")
    svg = figures.drawn(ONE, NUMBERS[ONE.slug])
    assert len(svg) <= figures.LARGEST
    assert f"numbers {figures.digest(ONE, NUMBERS[ONE.slug])}" in svg
    words = "".join(tree.fromstring(svg).itertext())
    assert all(word in words for word in ("before", "after", "NaN before", "gradient"))


def test_the_stepped_figures_are_drawn_from_their_numbers():
    assert not steps.undrawn(figures.FOLDER)
    for one in steps.STEPS:
        text = (figures.FOLDER / f"{one.slug}.steps.svg").read_text("utf-8")
        words = [node.text for node in tree.fromstring(text).iter() if node.text]
        assert "0 * inf = NaN" in words and one.told[3] in words


def test_only_the_written_pages_have_figures():
    rules = load()
    rule = next(rule for rule in rules if rule.slug == ONE.slug)
    assert f"](figures/{rule.slug}.svg)" in docs.page(rule, rules)
    assert f"](figures/{rule.slug}.steps.svg)" in docs.page(rule, rules)
    assert "figures/" not in page(rule, rules)  # in a terminal, and in a wheel
