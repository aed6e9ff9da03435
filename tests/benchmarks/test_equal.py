"""`benchmarks/equal.py` tells two versions of tfnanlint apart by what they find."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import equal  # noqa: E402

HAZARD = "import tensorflow as tf\n\n\ndef f(x):\n    return tf.math.log(tf.nn.softmax(x))\n"


@pytest.fixture
def measured(tmp_path):
    """What makes the record of a file with one finding."""

    def record() -> equal.Record:
        path = tmp_path / "a.py"
        path.write_text(HAZARD)
        equal._start()
        return {"a.py": equal.findings(str(path))}

    return record


def test_the_same_text_is_equal(measured):
    assert equal.differences(measured(), measured()) == []


def test_a_changed_finding_is_shown_in_each_grade(measured):
    before, after = measured(), measured()
    before["a.py"]["default"][0] = before["a.py"]["default"][0].replace("TFN301", "TFN000")
    lines = equal.differences(before, after)
    assert [line.split()[:2] for line in lines] == [
        ["a.py"],
        ["-", "default"],
        ["+", "default"],
    ] and "TFN000" in lines[1]


def test_a_file_that_is_not_in_the_record_differs(measured):
    assert equal.differences({}, measured())[0] == "a.py (not in the record)"


def test_a_record_holds_trace_and_fixes(measured):
    line = measured()["a.py"]["unknown"][0]
    assert "tf.nn.log_softmax" in line and "softmax" in line and "TFN301" in line
