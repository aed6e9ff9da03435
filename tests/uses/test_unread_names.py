"""A name that a function gives a value, and that nothing reads: what is computed is nothing."""

from __future__ import annotations

import textwrap

import outcomes
import pytest

from tfnanlint.diagnostics.findings import Certainty
from tfnanlint.syntax.source import Source

PROGRAM = """
    import tensorflow as tf

    def loss(y_true, y_pred):
        total = 0.0
        {name} = {of}  # here
        {more}
        return tf.reduce_mean(tf.square(y_true - y_pred))

    model = tf.keras.Sequential([tf.keras.layers.Dense(3, activation="sigmoid")])
    model.compile("adam", loss=loss)
"""
LOG = "-tf.reduce_mean(tf.math.log(y_pred))"


@pytest.mark.parametrize(
    ("name", "of", "more", "expected"),
    [
        ("entropy", LOG, "pass", Certainty.UNKNOWN),
        ("entropy", LOG, "print(entropy)", Certainty.MAY),
        ("entropy", LOG, "print(locals())", Certainty.MAY),
        ("entropy", LOG, "shown = lambda: entropy", Certainty.MAY),
        ("entropy", LOG, "entropy += 1.0", Certainty.MAY),
        ("y_pred", LOG, "pass", Certainty.MAY),
        ("y_true.entropy", LOG, "pass", Certainty.MAY),
        ("entropy", f"keep({LOG})", "pass", Certainty.MAY),
        ("entropy", "-tf.reduce_mean(tf.math.log(y_pred), name='entropy')", "pass", Certainty.MAY),
        ("total", f"total + {LOG}", "pass", Certainty.MAY),
    ],
)
def test_what_nothing_reads_is_a_note(name, of, more, expected):
    text = textwrap.dedent(PROGRAM).format(name=name, of=of, more=more)
    source = Source("program.py", text)
    line = 1 + next(n for n, row in enumerate(text.splitlines()) if "# here" in row)
    shown = {
        finding.certainty
        for finding in outcomes.findings(source)
        if source.position(finding.span.start)[0] == line
    }
    assert shown == {expected}


def test_a_name_of_the_module_may_be_read_from_outside():
    text = textwrap.dedent(PROGRAM).replace("    total = 0.0\n", "    global entropy\n")
    source = Source("program.py", text.format(name="entropy", of=LOG, more="pass"))
    assert {one.certainty for one in outcomes.findings(source)} == {Certainty.MAY}


def test_the_rest_of_a_function_that_returns_nothing_may_not_be_shown():
    text = "import tensorflow as tf\n\ndef loss(z):\n    nll = -tf.math.log(tf.nn.softmax(z))\n"
    assert {one.certainty for one in outcomes.findings(Source("part.py", text))} == {Certainty.MAY}


SCRIPT = """
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 3])
y = tf.nn.softmax(x)
entropy = -tf.reduce_sum(x * tf.log(y))
{step}
with tf.Session() as session:
    {more}
"""
STEP = "step = tf.train.AdamOptimizer().minimize(entropy)"


@pytest.mark.parametrize(
    ("step", "more", "is_noted"),
    [
        (STEP, "session.run(y)", True),
        (STEP.replace("entropy", "loss=entropy"), "session.run(y)", True),
        (STEP, "session.run(step)", False),
        (STEP, "session.run([step, entropy])", False),
        (STEP, "session.run(entropy)", False),
        (STEP, "session.run(globals()['step'])", False),
        (STEP.replace("(entropy", "(lambda: entropy"), "session.run(y)", False),
        (STEP.replace("entropy", "entropy, name='step'"), "session.run('step')", False),
        (STEP.replace("step", "self.step"), "session.run(y)", False),
        (STEP.replace("step", "other, step"), "session.run(y)", False),
        ("", "session.run(y)", False),  # a part of a program, for all that is known
    ],
)
def test_the_loss_of_a_step_that_a_script_never_runs(tmp_path, step, more, is_noted):
    text = SCRIPT.format(step=step, more=more)
    (tmp_path / "program.py").write_text(text)
    source = Source(str(tmp_path / "program.py"), text)
    shown = {one.certainty for one in outcomes.findings(source)}
    assert shown == {Certainty.UNKNOWN if is_noted else Certainty.MAY}


def test_another_file_may_run_the_step_of_a_script(tmp_path):
    text = SCRIPT.format(step=STEP, more="session.run(y)")
    files = {"program.py": text, "more.py": "from program import entropy\nprint(entropy)\n"}
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    source = Source(str(tmp_path / "program.py"), text)
    assert Certainty.MAY in {one.certainty for one in outcomes.findings(source)}
