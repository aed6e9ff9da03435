"""Training scripts as people write them, run under `trace`: each is led to its line and rule.

A script of `fixtures/traces` says `# trace: OP CODE` on the line that is at fault; programs of the
failure stories have it in the table here.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

from tfnanlint.cli import main
from tfnanlint.dev import repository

pytestmark = pytest.mark.tensorflow
TRACES = sorted((repository.ROOT / "fixtures" / "traces").glob("*.py"))
STORIES = {
    "s01_tape_tf2": ("Log", 46, "TFN303"),
    # of the data with NaN, which ones Keras's threads take first differs from run to run
    "s06_patch_nans_keras": ("GatherV2 Placeholder", 25, "TFN205"),
    "s06_patch_ratio_tf2": ("RealDiv", 28, "TFN102"),
    "s08_wgan_gp_keras": ("SqrtGrad", 33, "TFN202"),
    "s09_norm_mask_tf1": ("SqrtGrad", 38, "TFN201"),
    "s09_norm_mask_keras": ("SqrtGrad", 19, "TFN201"),
}
_MARK = re.compile(r"# trace: (?P<op>\w+) (?P<code>TFN\d+)")
EXPECTED = {
    path: STORIES[path.stem]
    for path in sorted(repository.ROOT.glob("fixtures/programs/*.py"))
    if path.stem in STORIES
}
for path in TRACES:
    ((row, mark),) = [
        (row, match)
        for row, line in enumerate(path.read_text().splitlines(), 1)
        if (match := _MARK.search(line))
    ]
    EXPECTED[path] = mark["op"], row, mark["code"]


@pytest.fixture(scope="module")
def met(tmp_path_factory):
    """The folder with what each program met; one process for all, which forks."""
    folder = tmp_path_factory.mktemp("met")
    runner = repository.ROOT / "tests" / "support" / "traced.py"
    subprocess.run(
        [sys.executable, str(runner), str(folder), *map(str, EXPECTED)],
        capture_output=True,
        check=True,
        env={
            **os.environ,
            "PYTHONPATH": str(repository.ROOT),
            "CUDA_VISIBLE_DEVICES": "-1",
            "TF_CPP_MIN_LOG_LEVEL": "3",
        },
        timeout=900,
    )
    return folder


@pytest.mark.parametrize("path", EXPECTED, ids=[path.stem for path in EXPECTED])
def test_a_training_script_is_led_to_its_line_and_rule(met, path, tmp_path, capsys):
    report = met / f"{path.stem}.json"
    assert report.exists(), "it met neither NaN nor Inf"
    log = tmp_path / "error.log"
    log.write_text(json.loads(report.read_text())["text"])
    words = ["explain-log", "--isolated", "-n", "--output-format", "json", str(log), str(path)]
    assert main(words) == 1
    told = json.loads(capsys.readouterr().out)[0]
    best = told["findings"][0]
    rows = [best["location"]["row"], told["file"]["row"]]
    op, row, code = EXPECTED[path]
    assert told["op"] in op.split() and best["code"] == code
    assert row in rows
