"""Programs written after public reports of NaN: each is found at default settings where its marks
say, and gives NaN or Inf when it is executed. `benchmarks/reports.md` is the log.

    # expect: TFN101|TFN303           one of these codes on this statement
    # expect: TFN211 @power           the marks of one name are one expectation
    # may: TFN403                     counts neither way
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from tfnanlint.config.layers import Configuration, Layer
from tfnanlint.diagnostics.findings import Certainty
from tfnanlint.pipeline.check import check_source
from tfnanlint.rule import registry as rules
from tfnanlint.syntax.source import Source

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted((ROOT / "fixtures" / "reports").glob("*.py"))
MISSED = {
    "r09_fill_value_overflows",
    "r23_nan_marks_missing_steps",
    "r27_ragged_batch_on_two_devices",
    "r35_squash_of_zeros",
    "r36_square_of_a_norm",
    "r47_mask_fed_with_infinity",
    "r62_bias_of_class_counts",
    "r67_recurrent_relu",
    "r68_line_through_a_range",
    "r69_line_through_five_points",
    "r85_decoded_boxes",
    "r87_routing_by_agreement",
    "r89_standardised_advantages",
    "r91_reciprocal_roots_of_pixels",
}
NOTES = {
    "r02_angle_of_cosine",  # no gradient is seen to be taken at the edge
    "r08_weighted_objective",  # a mask of data
    "r16_false_negatives",  # a mask
    "r53_batch_without_events",  # a mask of data
    "r86_average_of_padding",  # a mask of data
    "r17_binary_cross_entropy",  # nothing in the file tells what is predicted
}
MARK = re.compile(r"# (expect|may): (TFN\d{3}(?:\|TFN\d{3})*)(?: @(\w+))?\s*$")
RUN = ROOT / "tests" / "support" / "report_runs.py"


def statement_rows(text: str, row: int) -> range:
    """The rows of the smallest statement that covers a row."""
    ranges = [
        range(node.lineno, (node.end_lineno or node.lineno) + 1)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.stmt)
    ]
    return min((rows for rows in ranges if row in rows), key=len)


def reported(path: Path, least: Certainty = Certainty.UNKNOWN) -> set[tuple[int, str]]:
    """Row and code of each finding at default settings that is at least so certain."""
    source = Source(str(path), path.read_text(encoding="utf-8"))
    configuration = Configuration(Layer(origin="test", root=str(path.parent)), isolated=True)
    policy = configuration.for_file(source.path).policy(source.path, rules.load())
    findings = check_source(source, policy).findings
    return {
        (source.position(finding.span.start)[0], finding.code)
        for finding in findings
        if finding.certainty >= least
    }


def marked(text: str) -> tuple[dict[object, set[tuple[int, str]]], set[tuple[int, str]]]:
    """Where the marks expect findings, by their names, and all places that they allow."""
    wanted: dict[object, set[tuple[int, str]]] = defaultdict(set)
    allowed: set[tuple[int, str]] = set()
    for row, line in enumerate(text.splitlines(), 1):
        mark = MARK.search(line)
        if mark is None:
            continue
        kind, codes, name = mark.groups()
        places = {(each, code) for each in statement_rows(text, row) for code in codes.split("|")}
        allowed |= places
        if kind == "expect":
            wanted[name or row] |= places
    return wanted, allowed


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_what_is_reported_is_what_the_marks_say(path):
    found = reported(path)
    wanted, allowed = marked(path.read_text(encoding="utf-8"))
    assert wanted
    assert sorted(found - allowed) == []
    missing = [name for name, places in wanted.items() if not places & found]
    assert bool(missing) == (path.stem in MISSED), missing


def test_reports_are_warnings():
    """A note is easily overlooked: of what happened to people few findings are none but notes."""
    notes = {
        path.stem
        for path in PROGRAMS
        for places in marked(path.read_text(encoding="utf-8"))[0].values()
        if places & reported(path) and not places & reported(path, Certainty.MAY)
    }
    assert notes == NOTES


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_log_names_each_report(path):
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    address = re.search(r"^Report: (\S+)$", docstring, re.M)
    log = (ROOT / "benchmarks" / "reports.md").read_text(encoding="utf-8")
    assert address is not None
    assert address[1] in log and path.name in log


@pytest.mark.tensorflow
def test_each_program_gives_what_is_not_finite():
    pytest.importorskip("tensorflow")
    pytest.importorskip("tf_keras")
    run = subprocess.run(
        [sys.executable, str(RUN)], capture_output=True, text=True, timeout=900, check=False
    )
    said = dict(re.findall(r"^(r\d\d\w+): (.*)$", run.stdout, re.M))
    others = {path.stem for path in PROGRAMS if said.get(path.stem) != "not finite"}
    assert not others, (run.returncode, run.stderr[-2000:])
