"""`tfnanlint explain-log`, through the command line."""

from __future__ import annotations

import io
import json

import pytest

from tfnanlint.cli import explain_log, main
from tfnanlint.dev import repository

LOGS = repository.ROOT / "fixtures" / "logs"


@pytest.fixture
def explain(monkeypatch, capsys):
    monkeypatch.chdir(LOGS)

    def run(*words: str, given: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given)))
        code = main(["explain-log", "--isolated", *words])
        return code, *capsys.readouterr()

    return run


def test_the_line_the_finding_and_its_fix_are_shown(explain):
    code, out, err = explain("tf221_check_numerics_eager.log")
    assert (code, err) == (1, "")
    assert "place: gan_tf2.py:21 in critic_loss" in out
    assert "What explains it:" in out
    assert "TFN302" in out and "tf.math.log_sigmoid" in out
    assert "because: it is on this line; its rule looks at Log" in out


def test_a_log_is_read_from_standard_input(explain):
    data = (LOGS / "tf25_cholesky.log").read_bytes()
    code, out, _ = explain("-", "kernels.py", given=data)
    assert code == 1
    assert "kernels.py:11:12: warning: TFN108" in out


def test_where_only_the_loss_is_known_the_findings_are_ranked(explain):
    code, out, _ = explain("keras3_progress_bar.log", "segment_keras.py")
    assert code == 1
    assert "when: epoch 7, step 143" in out
    assert out.index("segment_keras.py:14:") < out.index("segment_keras.py:10:")
    assert "Where it may begin" in out


def test_nothing_is_said_of_a_log_without_nan(explain):
    assert explain("nothing.log") == (0, "Nothing in this text tells of NaN or Inf.\n", "")
    assert explain("nothing.log", "--output-format", "json")[1] == "[]\n"


def test_a_log_that_is_not_there_is_an_error(explain):
    code, out, err = explain("absent.log")
    assert (code, out) == (2, "")
    assert "absent.log" in err


def test_json_holds_what_is_shown(explain):
    _, out, _ = explain("tf29_metric_of_nan.log", "--output-format", "json")
    (told,) = json.loads(out)
    assert told["family"] == "metric-of-nan"
    assert told["file"]["path"].endswith("segment_keras.py") and told["file"]["row"] == 31
    assert [finding["code"] for finding in told["findings"]][:2] == ["TFN102", "TFN101"]
    assert all(finding["fixes"] is not None for finding in told["findings"])


def test_why_there_is_no_finding_is_said(explain):
    code, out, _ = explain("tf25_cholesky.log", "segment_keras.py")
    assert code == 1
    assert "No finding explains it: the log names /home/me/gp/kernels.py" in out


MET = """Traceback (most recent call last):
  File "safe.py", line {row}, in loss_of
    return tf.math.{op}(x)
tensorflow.python.framework.errors_impl.InvalidArgumentError:

!!! Detected Infinity or NaN in output 0 of eagerly-executing op "{op}" (# of outputs: 1) !!!
  dtype: <dtype: 'float32'>
  shape: (2,)
"""


def test_one_linter_looks_for_more_and_that_is_said(explain, monkeypatch, tmp_path):
    made = []
    linter_of = explain_log.linter_of

    def counted(arguments):
        made.append(linter_of(arguments))
        return made[-1]

    monkeypatch.setattr(explain_log, "linter_of", counted)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "safe.py").write_text("import tensorflow as tf\n\n\nprint(1)\nprint(2)\n")
    text = MET.format(row=4, op="Log") + "\n" + MET.format(row=5, op="Sqrt")
    code, out, _ = explain("-", given=text.encode())
    assert code == 1
    assert " ".join(out.split()).count("not even with --preview --certainty unknown") == 2
    assert len(made) == 2
