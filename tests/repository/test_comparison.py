"""docs/comparison.md: what our column says is shown by tests that exist, and what they show still
holds where it is cheap to ask.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tfnanlint.cli.flags import parser

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "comparison.md").read_text()
_TEST = re.compile(r"`([\w/]*test_\w+\.py)::(test_\w+)`")


def rows() -> list[list[str]]:
    lines = [line for line in PAGE.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))] for line in lines]
    return [row for row in cells if row[0] != "feature" and not set("".join(row)) <= set("-:")]


@cache
def functions_in(name: str) -> set[str]:
    tree = ast.parse((ROOT / "tests" / name).read_text())
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }


ROWS = rows()


def test_the_page_has_its_rows():
    assert len(ROWS) > 80 and all(len(row) == 7 for row in ROWS)
    names = [row[0] for row in ROWS if not row[0].startswith("...")]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_what_we_claim_has_a_test(row):
    ours = row[-1]
    assert re.match(r"(yes|partly)\b", ours) or ours == "no", ours
    named = _TEST.findall(ours)
    assert bool(named) == (ours != "no"), "a claim names its test"
    for file, function in named:
        assert function in functions_in(file), f"{file} has no {function}"


def test_no_other_column_names_our_tests():
    assert not [row[0] for row in ROWS if any(_TEST.search(cell) for cell in row[:-1])]


@pytest.mark.parametrize(
    "feature, flag",
    [
        ("fixes only, findings unprinted (`--fix-only`)", "--fix-only"),
        ("watches files", "--watch"),
        ("settings of a revision (`--config-from`)", "--config-from"),
        ("baseline file, stable under moved lines", "--baseline"),
        ("writes suppressions, with a reason", "--add-ignore"),
        ("result cache", "--cache-dir"),
    ],
)
def test_what_we_lack_is_really_missing(feature, flag):
    (ours,) = [row[-1] for row in ROWS if row[0] == feature]
    commands = parser()._subparsers._group_actions[0].choices
    assert (ours != "no") == (flag in commands["check"]._option_string_actions), (
        f"the row on {flag} is out of date"
    )
