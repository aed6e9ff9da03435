"""Findings proved by executing them: one worker for all tests of this file."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from tfnanlint.cli import main
from tfnanlint.dev import repository
from tfnanlint.diagnostics.findings import Claim
from tfnanlint.diagnostics.verdicts import Proof, Verdict
from tfnanlint.prove.comparison import _off
from tfnanlint.prove.host import MISSING, Host, Unavailable
from tfnanlint.prove.program import TENSOR, Input, Program, Range, Step
from tfnanlint.prove.run import Prover
from tfnanlint.syntax.source import Source
from tfnanlint.syntax.spans import Edit, Span

pytestmark = pytest.mark.tensorflow
HEAD = "import numpy as np\nimport tensorflow as tf\n\n\n"


@pytest.fixture(scope="module")
def prover():
    with Prover(20.0) as made:
        yield made


def verdict(prover: Prover, text: str, code: str) -> Verdict:
    source = Source("/nowhere/program.py", HEAD + text)
    found = [finding for finding in repository.findings(source) if finding.code == code]
    assert found, [finding.code for finding in repository.findings(source)]
    return prover.verdict(source, found[0])


@pytest.mark.parametrize(
    ("code", "said", "text"),
    [
        ("TFN301", "the value is -inf", "def f(z):\n    return tf.math.log(tf.nn.softmax(z))\n"),
        (
            "TFN202",
            "the gradient of x is nan",
            "def f(x, y):\n    return tf.sqrt(tf.reduce_sum(tf.square(x - y), axis=-1))\n",
        ),
        (
            "TFN102",
            "the value is nan",
            "def f(x, m):\n    m = tf.cast(m > 0.5, tf.float32)\n"
            "    return tf.reduce_sum(x * m) / tf.reduce_sum(m)\n",
        ),
        (
            "TFN206",
            "the gradient of x is nan",
            "def f(x):\n    return tf.maximum(tf.math.log(tf.nn.relu(x)), -20.0)\n",
        ),
    ],
)
def test_hazards_are_proved_and_mended(prover, code, said, text):
    shown = verdict(prover, text, code)
    assert shown.proof is Proof.PROVED, shown
    assert shown.witness is not None and shown.witness.said == said
    assert shown.mended is True
    before = "Inf" if said.endswith("inf") else "NaN"
    assert shown.fix.startswith(f"{before} before, finite after; largest difference on 1,000 ord")
    assert shown.fix.endswith("gradient alive")
    assert not shown.refused


def test_a_witness_is_a_program_that_shows_it(prover, tmp_path):
    shown = verdict(prover, "def f(z):\n    return tf.math.log(tf.nn.softmax(z))\n", "TFN301")
    path = tmp_path / "witness.py"
    path.write_text(shown.witness.program)
    done = subprocess.run(
        [sys.executable, str(path)],
        capture_output=True,
        text=True,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1"},
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    before, after = done.stdout.split("repaired")
    assert "inf" in before and "nan" in before
    assert "inf" not in after and "nan" not in after


def test_what_only_a_compiled_graph_shows_is_tried_there(prover):
    shown = verdict(
        prover, "def f(p):\n    return tf.math.log(1.0 - tf.sigmoid(p) + 1e-8)\n", "TFN402"
    )
    assert shown.proof is Proof.PROVED
    assert shown.witness.mode == "graph"
    assert [one.mode for one in shown.witness.modes if one.original is False] == ["graph", "xla"]


def test_a_dead_gradient_is_shown_beside_a_living_one(prover):
    text = (
        "def f(z, y):\n    p = tf.clip_by_value(tf.nn.softmax(z), 1e-7, 1.0)\n"
        "    return -tf.reduce_sum(y * tf.math.log(p))\n"
    )
    shown = verdict(prover, text, "TFN303")
    assert shown.proof is Proof.PROVED
    assert shown.witness.said == "the gradient of z is 0, and that of the repaired code is not"


def test_an_error_about_numbers_is_shown(prover):
    shown = verdict(
        prover, "def f(x):\n    return tf.linalg.inv(tf.matmul(tf.transpose(x), x))\n", "TFN108"
    )
    assert shown.proof is Proof.PROVED
    assert shown.witness.said == "TensorFlow stops with: Input is not invertible"


def test_a_saturated_loss_without_a_fix_is_shown_by_its_gradient(prover):
    text = (
        "def f(h, w, y):\n    z = tf.nn.relu(tf.matmul(h, w))\n"
        "    return tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=z)\n"
    )
    source = Source("/nowhere/p.py", HEAD + text)
    (finding,) = [one for one in repository.findings(source) if one.code == "TFN501"]
    shown = prover.verdict(source, replace(finding, fixes=()))
    assert shown.witness is not None and shown.witness.said.endswith("nothing is learned there")


def test_a_false_alarm_is_not_proved(prover):
    source = Source("/nowhere/p.py", HEAD + "def f(x):\n    return tf.math.log(tf.nn.relu(x))\n")
    (finding,) = repository.findings(source)
    safe = Source("/nowhere/p.py", source.text.replace("tf.nn.relu(x)", "1.0 + x * x "))
    alarm = replace(finding, fixes=(), span=Span(finding.span.start, finding.span.end - 1))
    assert prover.verdict(safe, alarm).proof is Proof.NOT_REPRODUCED


def test_the_linted_program_is_never_run(prover, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mark = tmp_path / "ran"
    effect = f"open({str(mark)!r}, 'w').close()\n"
    (tmp_path / "numpy.py").write_text(effect)
    (tmp_path / "program.py").write_text(
        effect + HEAD + "def f(z):\n    return tf.math.log(tf.nn.softmax(z))\n"
    )
    with Prover(20.0) as own:
        source = Source("program.py", (tmp_path / "program.py").read_text())
        (finding,) = repository.findings(source)
        assert own.verdict(source, finding).proof is Proof.PROVED
    assert not mark.exists()


def job_of(original: Program, fixed: Program | None = None) -> dict[str, object]:
    return {
        "original": original.as_dict(),
        "fixed": None if fixed is None else fixed.as_dict(),
        "equal": False,
        "says_dead": False,
        "says_digits": False,
        "says_form": False,
        "says_error": False,
        "modes": ["eager", "graph", "xla"],
        "differentiated": "yes",
        "shown_in": [],
    }


@pytest.mark.parametrize("repaired", [None, "tf.math.log(tf.maximum(above, 1e-7))"])
def test_no_mode_is_tried_on_values_that_the_analysis_rules_out(repaired):
    above = Step("above", ("x - 1.0",), "subtract", Range(lo=1.0))
    log = Step("log", ("tf.math.log(tf.nn.relu(above))",), "log", Range(), inside=True)
    original = Program((Input("x", "x", TENSOR, Range()),), (above, log), "log", "log")
    fixed = replace(original, steps=(above, replace(log, spellings=(repaired,))))
    with Host(2.0) as host:
        answer = host.run(job_of(original, fixed if repaired else None))
        assert answer["status"] == "not reproduced", answer


def test_whole_numbers_are_made_floats_where_an_op_wants_them():
    log = Step("log", ("tf.math.log(x)",), "log", Range(), inside=True)
    with Host(2.0) as host:
        answer = host.run(
            job_of(Program((Input("x", "x", TENSOR, Range(), "int32"),), (log,), "log", "log"))
        )
        assert (answer["status"], answer["inputs"][0]["dtype"]) == ("proved", "float32"), answer


def test_a_slope_leads_to_a_number_that_no_edge_is():
    away = Step("away", ("tf.tanh(x) - 0.3",), "subtract", Range())
    root = Step("root", ("tf.sqrt(tf.exp(-away) - 0.9)",), "sqrt", Range(), inside=True)
    point = Input("x", "x", TENSOR, Range(-1.0, 0.45), "float32")
    with Host(2.0) as host:
        answer = host.run(job_of(Program((point,), (away, root), "root", "root")))
        assert answer["status"] == "proved", answer


X = Input("x", "x", TENSOR, Range(), "float32")


def step(name: str, text: str, inside: bool = False) -> Step:
    return Step(name, (text,), name, Range(), inside, name)


KINDS = {
    "a part of the flagged expression that does not run": (
        [step("p", "x.prob(1.0)", True), step("log", "tf.math.log(p)", True)],
        None,
        {},
    ),
    "a form that begins before the flagged place": (
        [step("e", "tf.exp(x)"), step("none", "e * 0.0", True)],
        None,
        {"says_form": True},
    ),
    "digits, without a fix": (
        [step("e", "tf.exp(1e-7 * tf.tanh(x))", True), step("rest", "1.0 - e", True)],
        None,
        {"says_digits": True},
    ),
    "data of gaps only": (
        [step("kept", "tf.boolean_mask(x, x == x)"), step("mean", "tf.reduce_mean(kept)", True)],
        "tf.math.divide_no_nan(tf.reduce_sum(kept), tf.cast(tf.size(kept), tf.float32))",
        {},
    ),
    "data of gaps only, which the gradient sees": (
        [
            step("kept", "tf.boolean_mask(tf.square(x), x == x)"),
            step("mean", "tf.reduce_mean(kept)", True),
        ],
        "tf.math.divide_no_nan(tf.reduce_sum(kept), tf.cast(tf.size(kept), tf.float32))",
        {},
    ),
    "an error of Keras about numbers": (
        [step("l", "keras.ops.cholesky(keras.ops.matmul(x, keras.ops.transpose(x)))", True)],
        None,
        {"says_error": True, "differentiated": "no"},
    ),
    "one row": (
        [step("n", "tf.cast(tf.shape(x)[0], tf.float32) - 1.0"), step("over", "1.0 / n", True)],
        None,
        {"differentiated": "no"},
    ),
    "a gradient that another operation spoils, too": (
        [
            step("one", "1.0 / (1.0 - tf.exp(-x))", True),
            step("both", "tf.where(x == 0.0, 0.5, one - 1.0 / x)"),
        ],
        "tf.where(x == 0.0, 0.5, 1.0 / tf.where(x == 0.0, 1.0, 1.0 - tf.exp(-x)) - 1.0 / x)",
        {"equal": True, "site": "one"},
    ),
}


@pytest.fixture(scope="module")
def host():
    with Host(20.0) as made:
        yield made


@pytest.mark.parametrize("kind", KINDS)
def test_the_search_finds(host, kind):
    steps, repaired, more = KINDS[kind]
    site = more.pop("site", steps[-1].name)
    original = Program((X,), tuple(steps), site, steps[-1].name)
    fixed = None
    if repaired:
        last = step(steps[-1].name, repaired)
        fixed = replace(original, steps=(*steps[:-1], last), site=last.name)
    answer = host.run({**job_of(original, fixed), "modes": ["eager"], **more})
    assert answer["status"] == "proved", answer


def test_no_time_is_lost_where_no_gradient_comes_through():
    relu = Step("relu", ("tf.nn.relu(x)",), "relu", Range(), inside=True)
    soft = Step("soft", ("tf.nn.softmax(relu)",), "softmax", Range(), inside=True)
    classes = Step("classes", ("tf.argmax(soft, -1)",), "argmax", Range())
    share = Step("share", ("tf.reduce_mean(tf.cast(classes, tf.float32))",), "mean", Range())
    point = Input("x", "x", TENSOR, Range(), "float32")
    original = Program((point,), (relu, soft, classes, share), "soft", "share")
    fixed = replace(original, steps=(replace(relu, spellings=("x",)), soft, classes, share))
    with Host(10.0) as host:
        answer = host.run({**job_of(original, fixed), "says_dead": True})
        assert answer["status"] == "not reproduced", answer
        assert answer["tried"] < 300


def test_a_slice_has_its_share_of_the_time_whatever_those_before_it_took():
    source = Source("/nowhere/p.py", HEAD + ACCURACY)
    (finding,) = [one for one in repository.findings(source) if one.code == "TFN501"]
    jobs = []

    def run(job):
        jobs.append(job)
        return {"status": "not reproduced", "reason": "", "mended": None, "seconds": 6.0}

    prover = Prover(5.0)
    prover._host.run = run
    prover.verdict(source, replace(finding, fixes=()))
    assert len(jobs) > 1 and jobs[0]["seconds"] < 5.0


ACCURACY = (
    "def f(h, w, y):\n    p = tf.nn.softmax(tf.nn.relu(tf.matmul(h, w)))\n"
    "    right = tf.equal(tf.argmax(p, 1), tf.argmax(y, 1))\n"
    "    return tf.reduce_mean(tf.cast(right, tf.float32))\n"
)


def test_a_difference_to_nothing_is_that_of_the_numbers():
    np = pytest.importorskip("numpy")
    assert _off(np.array([0.25, 0.0]), np.zeros(2), 1e-3) == 0.25
    assert _off(np.array([0.25, 0.0]), np.array([0.5, 0.0]), 1e-3) == 0.5


def test_a_slice_that_takes_too_long_is_ended():
    endless = Step("a", ("10 ** 10 ** 10",), "endless", Range(0.0, 1.0), inside=True)
    with Host(0.5) as host:
        answer = host.run(job_of(Program((), (endless,), "a", "a")))
        assert answer["status"] == "unsupported"
        assert "time ran out" in answer["reason"] or "ended" in answer["reason"]


@pytest.mark.parametrize(
    ("code", "name", "part", "text"),
    [
        ("TFN301", "z", "value", "def f(z):\n    return tf.math.log(tf.nn.softmax(z))\n"),
        (
            "TFN204",
            "rate",
            "gradient",
            "def f(rate):\n    return tf.where(rate > 0, tf.math.log(rate), 0.0)\n",
        ),
    ],
)
def test_a_sampled_witness_has_a_line_through_the_hazard(code, name, part, text):
    with Prover(20.0, sampled=True) as sampling:
        witness = verdict(sampling, text, code).witness
    line = witness.line
    assert line.name.startswith(f"{name}[") and line.at in line.xs
    before, after = getattr(line.before, part), getattr(line.after, part)
    finite = [math.isfinite(y) for y in before]
    assert not finite[line.xs.index(line.at)] and any(finite)
    assert all(math.isfinite(y) for y in (*line.after.value, *line.after.gradient))
    pairs = [(y, z) for y, z, known in zip(before, after, finite) if known]
    assert all(y == pytest.approx(z, rel=1e-3, abs=1e-4) for y, z in pairs)
    assert [one.name for one in witness.results] == ["value", f"gradient of {name}"]


def test_what_is_not_sampled_has_no_line(prover):
    shown = verdict(prover, "def f(z):\n    return tf.math.log(tf.nn.softmax(z))\n", "TFN301")
    assert shown.witness.line is None
    assert "inf" in shown.witness.results[0].before and "inf" not in shown.witness.results[0].after


def test_a_page_has_the_figure(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = HEAD + "def f(z):\n    return tf.math.log(tf.nn.softmax(z))\n"
    (tmp_path / "a.py").write_text(text)
    prove = ["prove", "a.py", "--output-format=html=shown.html"]
    check = ["check", "--prove", "a.py", "--output-format=html=report.html"]
    for words, name in ((prove, "shown.html"), (check, "report.html")):
        assert main([*words, "--isolated", "-n"]) == 1
        page = (tmp_path / name).read_text()
        assert "proved: the value is -inf" in page and "url(#inf0)" in page
        assert "def original(z):" in page
    assert "1 proved" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["prove", "a.py", "--output-format=pdf"])
    assert "'pdf' is not full, concise, json or html[=FILE]" in capsys.readouterr().err


def test_check_attaches_verdicts(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(
        HEAD + "def f(z):\n    return tf.math.log(tf.nn.softmax(z))\n\n\n"
        "def g(optimizer=tf.keras.optimizers.SGD(50.0)):\n    return optimizer\n"
    )
    code = main(
        ["check", "--isolated", "-n", "--only-proved", "--preview", "a.py", "--output-format=json"]
        + ["--output-format=sarif=out.sarif", "--output-format=markdown=out.md"]
    )
    (finding,) = json.loads(capsys.readouterr().out)
    assert code == 1
    assert finding["verdict"]["status"] == "proved"
    (value, _) = finding["verdict"]["witness"]["results"]
    assert value["name"] == "value" and "inf" in value["original"]
    assert "inf" not in value["repaired"]
    assert finding["verdict"]["witness"]["finite"]["eager"] == {"original": False, "repaired": True}
    (result,) = json.loads((tmp_path / "out.sarif").read_text())["runs"][0]["results"]
    assert result["properties"]["verdict"].startswith("proved: the value is -inf; after the fix: ")
    assert "proved: the value is" in (tmp_path / "out.md").read_text()
    assert main(["prove", "--isolated", "-n", "a.py:6", "--output-format=concise"]) == 1
    out = capsys.readouterr().out
    assert "proved: the value is -inf" in out and "fix: Inf before, finite after" in out


REPAIRS = {
    "holds": ("tf.nn.log_softmax(z)", ""),
    "another number": ("tf.nn.log_softmax(2.0 * z)", "it changes a result on an ordinary input by"),
    "no gradient": (
        "tf.stop_gradient(tf.nn.log_softmax(z))",
        "after it a gradient is 0 on an ordinary",
    ),
    "still infinite": ("1.0 * tf.math.log(tf.nn.softmax(z))", "NaN or Inf is left on an input"),
}


@pytest.mark.parametrize(("repair", "reason"), REPAIRS.values(), ids=REPAIRS)
def test_a_fix_that_does_not_hold_is_refused(prover, repair, reason):
    source = Source("/nowhere/p.py", HEAD + "def f(z):\n    return tf.math.log(tf.nn.softmax(z))\n")
    (finding,) = repository.findings(source)
    edits = (Edit(finding.span, repair),)
    fix = replace(finding.fixes[0], edits=edits, claim=Claim.EQUAL_WHERE_FINITE)
    shown = prover.verdict_of_fix(source, finding, fix)
    assert shown.proof is Proof.PROVED
    assert shown.refused.startswith(reason) and bool(shown.refused) == bool(reason)


def test_fixes_are_executed_before_they_are_applied(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(HEAD + "def f(z):\n    return tf.math.log(tf.nn.softmax(z))\n")
    assert main(["check", "--isolated", "-n", "--fix", "--prove", "a.py"]) == 0
    told = capsys.readouterr().err
    assert "a.py: fixed TFN301 log-softmax: Inf before, finite after; largest difference on" in told
    assert "1,000 ordinary inputs" in told and "gradient alive" in told
    assert "tf.nn.log_softmax(z)" in (tmp_path / "a.py").read_text()


def test_a_line_without_a_finding_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(HEAD + "def f(z):\n    return tf.math.log(tf.nn.softmax(z))\n")
    assert main(["prove", "--isolated", "-n", "a.py:5"]) == 0
    assert "a.py: no finding on line 5; there are findings on line 6\n" in capsys.readouterr().err


def test_a_file_that_cannot_be_read_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(HEAD + "def f(z:\n    return tf.math.log(z)\n")
    assert main(["prove", "--isolated", "-n", "a.py:6"]) == 2
    assert "a.py:5:6: error: TFN001 syntax error" in capsys.readouterr().out


def test_a_process_that_has_ended_is_no_clean_result():
    with Host(0.5) as host:
        one = Step("a", ("1.0",), "one", Range(), inside=True)
        job = job_of(Program((), (one,), "a", "a"))
        host.run(job)
        assert host._process is not None
        host._process.kill()
        host._process.wait()
        with pytest.raises(Unavailable):
            host.run(job)


def test_without_tensorflow_one_line_says_so(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(HEAD + "def f(z):\n    return tf.math.log(tf.nn.softmax(z))\n")
    monkeypatch.setattr("tfnanlint.prove.host.importlib.util.find_spec", lambda name: None)
    for words in (["prove", "a.py"], ["check", "--prove", "a.py"]):
        assert main([*words, "--isolated"]) == 2
        assert capsys.readouterr() == ("", f"error: {MISSING}\n")
