"""The figure of a finding's line: what is drawn where."""

from __future__ import annotations

import re
import xml.etree.ElementTree as tree

import pytest

from tfnanlint.diagnostics.verdicts import Curve, Line
from tfnanlint.html.figure import figure

NAN, INF = float("nan"), float("inf")
NS = "{http://www.w3.org/2000/svg}"


def drawn(value, gradient, name="x", at=0.0):
    xs = tuple(float(x) for x in range(len(value)))
    line = Line(name, "value", at, xs, Curve(value, gradient), Curve(value, gradient))
    return tree.fromstring(figure(line, 7))


def rects(svg):
    return [
        (one.get("fill"), float(one.get("x")), float(one.get("width")))
        for one in svg.iter(NS + "rect")
    ]


def curves(svg, style):
    paths = [one.get("d") for one in svg.iter(NS + "path") if one.get("class") == style]
    return [re.findall(r"[ML]", path) for path in paths]


def test_what_is_not_finite_is_hatched_and_not_drawn():
    svg = drawn((NAN, NAN, 1.0, 2.0, INF), (1.0, 2.0, 3.0, 4.0, 5.0))
    (nan, left, width), (inf, right, last) = rects(svg)
    assert (nan, inf) == ("url(#nan7)", "url(#inf7)")
    assert left < right and width == pytest.approx(3 * last, 0.01)  # steps: 1.5, 0.5
    assert curves(svg, "before")[0] == ["M", "L"]
    assert curves(svg, "before")[1] == ["M", "L", "L", "L", "L"]


def test_a_single_number_is_wide_enough_to_be_seen():
    value = tuple(NAN if at == 50 else 1.0 for at in range(2001))
    ((_, _, width),) = rects(drawn(value, (0.0,) * 2001))
    assert width >= 3


def test_a_gap_that_nothing_is_known_of_is_no_hazard():
    svg = drawn((1.0, None, 2.0), (None, None, None))
    assert not rects(svg)
    assert curves(svg, "before") == [["M", "M"]]


def test_names_of_programs_are_text():
    svg = drawn((1.0, 2.0), (0.0, 0.0), "<script>&\"'")
    assert any(node.text == "<script>&\"'" for node in svg.iter(NS + "text"))
    assert not list(svg.iter(NS + "script"))


def test_numbers_of_any_size_have_an_axis():
    for value in ((0.0, 0.0), (1e30, -1e30), (1e-30, 2e-30), (5.0, 5.0), (NAN, NAN), (0.0, INF)):
        svg = drawn(value, (1.0, 1.0))
        assert all("nan" not in (one.get("d") or "") for one in svg.iter(NS + "path"))
