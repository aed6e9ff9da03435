"""The failure stories: their findings are proved, and each witness shows it in a fresh Python."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tfnanlint.dev import repository
from tfnanlint.diagnostics.verdicts import Proof
from tfnanlint.prove.beyond import BEYOND_VALUES
from tfnanlint.prove.run import Prover
from tfnanlint.syntax.source import Source

pytestmark = pytest.mark.tensorflow
# One program of each story; of S4 and S5 no value tells, as `BEYOND_VALUES` says.
PROGRAMS = (
    "s01_softmax_tf1",
    "s02_clip_tf2",
    "s03_relu_tf1",
    "s04_learning_rate_keras",
    "s05_tfdbg_tf1",
    "s06_patch_ratio_tf2",
    "s07_log_variable_tf1",
    "s08_wgan_gp_keras",
    "s09_norm_mask_tf1",
)
_BAD = re.compile(r"\b(?:nan|inf)\b")


@pytest.fixture(scope="module")
def stories(tmp_path_factory):
    """The verdicts on the findings of each program, and what their witnesses print."""
    folder = tmp_path_factory.mktemp("witnesses")
    verdicts = {}
    with Prover(30.0) as prover:
        for name in PROGRAMS:
            path = repository.ROOT / "fixtures" / "programs" / f"{name}.py"
            source = Source(str(path), path.read_text())
            for at, finding in enumerate(repository.findings(source)):
                verdict = prover.verdict(source, finding)
                verdicts[f"{name}_{at}"] = finding, verdict
                if verdict.witness is not None:
                    (folder / f"{name}_{at}.py").write_text(verdict.witness.program)
    subprocess.run(
        [sys.executable, str(repository.ROOT / "tests" / "support" / "pasted.py"), str(folder)],
        check=True,
        capture_output=True,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        timeout=600,
    )
    printed = {path.stem: path.read_text() for path in folder.glob("*.out")}
    return verdicts, printed


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_story_is_proved(stories, name):
    verdicts, _ = stories
    own = [pair for key, pair in verdicts.items() if key.startswith(name)]
    assert own
    open_ones = [
        (finding.code, verdict.words)
        for finding, verdict in own
        if verdict.proof is not Proof.PROVED and finding.code not in BEYOND_VALUES
    ]
    assert open_ones == []


def test_each_witness_shows_it_in_a_fresh_python(stories):
    verdicts, printed = stories
    witnesses = {key: verdict for key, (_, verdict) in verdicts.items() if verdict.witness}
    assert witnesses.keys() == printed.keys()
    for key, verdict in witnesses.items():
        before, _, after = printed[key].partition("\nrepaired\n")
        assert before.startswith("original\n"), printed[key]
        if re.search(r"\b(?:nan|inf)\b", verdict.witness.said):
            assert _BAD.search(before), printed[key]
        if verdict.mended:
            assert after and not _BAD.search(after), printed[key]
