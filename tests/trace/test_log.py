"""What is read out of logs: `fixtures/logs` holds one for each family of messages, in the words of
TensorFlow 1.5 to 2.21, Keras 2 and 3, and NumPy.
"""

from __future__ import annotations

import pytest

from tfnanlint.dev import repository
from tfnanlint.pipeline.check import Checked, check
from tfnanlint.syntax.source import Source
from tfnanlint.trace.families import FAMILIES, Written
from tfnanlint.trace.log import Place, incidents, is_gradient
from tfnanlint.trace.match import candidates, explained, rows_of, rules_at
from tfnanlint.trace.upstream import rows_behind

LOGS = repository.ROOT / "fixtures" / "logs"
PROGRAMS = sorted(map(str, LOGS.glob("*.py")))

# log | family | op or node | file and row | the best finding: file, row, code
EXPECTED = """
keras2_infinite_loss | loss-is-nan |  |  | gan_tf2.py:21 TFN302
keras2_progress_bar | loss-is-nan |  |  | gan_tf2.py:14 TFN202
keras2_terminate_on_nan | terminate-on-nan |  |  | gan_tf2.py:21 TFN302
keras3_progress_bar | loss-is-nan |  |  | gan_tf2.py:21 TFN302
numpy_warning | numpy-warning | log | segment_keras.py:18 | segment_keras.py:14 TFN101
printed_loss | loss-is-nan |  |  | gan_tf2.py:21 TFN302
tf112_check_numerics_of_loss | check-numerics-of-loss | CheckNumerics | mnist_tf1.py:15 | mnist_tf1.py:14 TFN301
printed_loss_without_colon | loss-is-nan |  |  | gan_tf2.py:21 TFN302
tf113_eigen_gpu | eigen | SelfAdjointEigV2 | kernels.py:23 | kernels.py:22 TFN102
tf114_ctc | ctc |  |  |
tf114_estimator | nan-loss-hook |  |  | gan_tf2.py:21 TFN302
tf114_model_diverged | nan-loss-hook |  |  | gan_tf2.py:21 TFN302
tf115_created_as_op | gradient-node | gradients/Log_grad/mul | mnist_tf1.py:14 | mnist_tf1.py:14 TFN301
tf115_global_norm | global-norm | VerifyFinite/CheckNumerics | mnist_tf1.py:28 | mnist_tf1.py:14 TFN301
tf115_gradient_node | add-check-numerics-ops | gradients/Sqrt_grad/SqrtGrad | mnist_tf1.py:32 | gan_tf2.py:14 TFN202
tf115_summary_histogram | summary-histogram | layer1/weights | mnist_tf1.py:30 | mnist_tf1.py:14 TFN301
tf15_labels | labels | entropy/entropy |  |
tf211_check_numerics | check-numerics |  | gan_tf2.py:36 | gan_tf2.py:21 TFN302
tf221_check_numerics_eager | enable-check-numerics | Log | gan_tf2.py:21 | gan_tf2.py:21 TFN302
tf221_check_numerics_of_gradient | enable-check-numerics | Log | gan_tf2.py:21 | gan_tf2.py:21 TFN302
tf221_cholesky_warning | cholesky |  |  | kernels.py:11 TFN108
tf221_eigen | eigen |  | kernels.py:23 | kernels.py:22 TFN102
tf221_histogram_fixed_width | histogram-fixed-width |  | tone_tf2.py:13 | tone_tf2.py:8 TFN102
tf221_not_invertible | not-invertible |  | kernels.py:17 | kernels.py:17 TFN108
tf23_check_numerics_of_graph | enable-check-numerics | Log | gan_tf2.py:21 | gan_tf2.py:21 TFN302
tf24_summary_histogram_notebook | summary-histogram |  |  | gan_tf2.py:14 TFN202
tf25_cholesky | cholesky |  | kernels.py:11 | kernels.py:11 TFN108
tf29_metric_of_nan | metric-of-nan | assert_greater_equal/Assert/AssertGuard/Assert | segment_keras.py:31 | segment_keras.py:10 TFN102
"""
ROWS = [[part.strip() for part in line.split("|")] for line in EXPECTED.strip().splitlines()]


@pytest.fixture(scope="module")
def checked():
    policy = repository.policy()
    results: dict[str, Checked] = {}

    def of(path: str) -> Checked:
        if path not in results:
            with open(path, "rb") as stream:
                results[path] = check(path, stream.read(), policy)
        return results[path]

    return of


def read(name: str) -> str:
    return (LOGS / f"{name}.log").read_bytes().decode()


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_a_log_is_led_to_its_line_and_finding(row, checked):
    name, family, op, place, finding = row
    (incident, *_) = incidents(read(name))
    explanation = explained(incident, PROGRAMS, checked)
    assert incident.family.name == family
    assert (incident.op or incident.node) == op
    located = explanation.located
    shown = "" if located is None else f"{located.source.path.rpartition('/')[2]}:{located.row}"
    assert shown == place
    best = explanation.fits[0] if explanation.fits else None
    said = ""
    if best is not None:
        at = best.checked.source.position(best.finding.span.start)[0]
        said = f"{best.checked.path.rpartition('/')[2]}:{at} {best.finding.code}"
    assert said == finding


def test_every_log_is_expected():
    assert {path.stem for path in LOGS.glob("*.log")} == {row[0] for row in ROWS} | {"nothing"}


def test_a_message_that_no_rule_looks_for_is_not_said_to_be_of_no_finding(checked):
    (incident, *_) = incidents(read("tf114_ctc"))
    assert explained(incident, PROGRAMS, checked).nothing == "no rule looks for this"


def test_a_log_without_nan_has_no_incident():
    assert incidents(read("nothing")) == []
    assert incidents("loss: 0.31 - nanny: 4\nINFO: maintenance\nfile nan.py, line 3") == []
    assert incidents("the loss nan-guard is on\nloss information follows\nloss inf_mask 1") == []


def test_families_name_rules_that_exist():
    codes = {rule.code for rule in repository.policy().rules}
    for family in FAMILIES:
        for prefix in family.rules:
            assert any(code.startswith(prefix) for code in codes), (family.name, prefix)


def test_progress_gives_epoch_and_step():
    by_name = {name: incidents(read(name))[0] for name, *_ in ROWS}
    assert (by_name["keras3_progress_bar"].epoch, by_name["keras3_progress_bar"].step) == (7, 143)
    assert (by_name["keras2_progress_bar"].epoch, by_name["keras2_progress_bar"].step) == (1, 1)
    assert by_name["keras2_terminate_on_nan"].step == 38
    assert by_name["printed_loss"].step == 300
    without_colon = by_name["printed_loss_without_colon"]
    assert (without_colon.epoch, without_colon.step, without_colon.value) == (3, 300, "nan")
    assert by_name["keras2_infinite_loss"].step == 100
    assert by_name["keras2_infinite_loss"].value == "inf"
    assert by_name["tf114_model_diverged"].step == 4100


def test_the_first_message_of_a_repeated_one_is_kept_with_the_place_where_the_graph_was_made():
    (incident,) = incidents(read("tf112_check_numerics_of_loss"))
    assert incident.written is Written.CREATION
    assert [place.row for place in incident.places] == [40, 25, 15]
    assert incident.what == "LossTensor"


def test_tensors_are_told():
    (incident,) = incidents(read("tf221_check_numerics_eager"))
    assert "# of -Inf elements: 4" in incident.details
    assert not incident.of_gradient


@pytest.mark.parametrize(
    ("name", "gradient"),
    [
        ("SqrtGrad", True),
        ("gradients/Log_grad/mul", True),
        ("gradient_tape/SqrtGrad/CheckNumericsV2", True),
        ("Log", False),
        ("loss/Gradual", False),
    ],
)
def test_gradients_are_known_by_name(name, gradient):
    assert is_gradient(name) is gradient


def test_kernels_lead_to_rows_and_rules():
    assert rows_of("RealDiv") == rows_of("truediv") == {"tf.divide"}
    assert "tf.sqrt" in rows_of("SqrtGrad")
    assert "TFN202" in rules_at("SqrtGrad")
    assert rules_at("") == frozenset()


def test_files_of_another_machine_are_known_by_the_end_of_their_path():
    here = ["/a/models/train.py", "/a/other/train.py", "/a/loss.py"]
    assert candidates(Place("/home/me/models/train.py", 3), here) == ["/a/models/train.py"]
    assert candidates(Place(r"C:\me\other\train.py", 3), here) == ["/a/other/train.py"]
    assert candidates(Place("/x/absent.py", 3), here) == []


def test_a_place_is_found_by_its_text_after_the_file_has_changed(checked):
    text = read("tf221_not_invertible").replace("line 17", "line 5")
    explanation = explained(incidents(text)[0], PROGRAMS, checked)
    assert explanation.located is not None
    assert explanation.located.row == 17


def test_what_is_behind_a_row_goes_through_functions():
    source = Source(
        "a.py",
        "def risky(x):\n    y = x\n    return log(y)\n\n\ndef idle(x):\n    return x\n\n\n"
        "def main(z):\n    w = 3\n    loss = risky(z)\n    return loss\n",
    )
    behind = rows_behind(source, 13)
    assert {13: 0, 12: 1}.items() <= behind.items()
    assert {2, 3} <= behind.keys()
    assert 7 not in behind and 11 not in behind
