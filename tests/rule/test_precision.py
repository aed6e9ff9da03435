"""The dtype that a constant of a fix has to survive in, where the file itself does not say it."""

from __future__ import annotations

import pytest

from tfnanlint.config.layers import Policy
from tfnanlint.dev.reveal import reveals
from tfnanlint.interp.precision import Precision
from tfnanlint.pipeline import analysis
from tfnanlint.pipeline.check import check_source
from tfnanlint.rule import registry
from tfnanlint.rule.registry import load
from tfnanlint.syntax.source import Source

pytestmark = pytest.mark.usefixtures("suggestions_applied")

LAYER = """import tensorflow as tf


class Distance(tf.keras.layers.Layer):
    def call(self, inputs):
        a, b = inputs
        return tf.sqrt(tf.reduce_sum(tf.square(a - b), axis=-1))
"""
SETS = 'tf.keras.mixed_precision.set_global_policy("mixed_float16")\n'
FITS = "layers.model.fit(x, y)\n"
ENTROPY = "import tensorflow as tf\n\n\ndef entropy(p):\n    return -p * tf.math.log(p)\n"
BRANCH = """import tensorflow as tf


def rmse(y, p, half):
    if half:
        y, p = tf.cast(y, tf.float16), tf.cast(p, tf.float16)
    return tf.sqrt(tf.reduce_mean(tf.square(y - p)))


def step(model, x, y, half):
    with tf.GradientTape() as tape:
        loss = rmse(y, model(x), half)
    return tape.gradient(loss, model.trainable_variables)
"""
PENALTY = """import tensorflow as tf


def penalty(critic, x):
    x = tf.cast(x, tf.float16)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = critic(x)
    return tf.reduce_max(tf.sqrt(tf.reduce_sum(tf.square(tape.gradient(y, [x])[0]), axis=-1)))


def step(critic, x):
    with tf.GradientTape() as tape:
        loss = penalty(critic, x)
    return tape.gradient(loss, critic.trainable_variables)
"""
ADDED, CHOSEN = "add 1e-12 under the root", "mask the input and the result, with gradient 0 at 0"


def titles(path, text: str) -> list[str]:
    path.write_text(text)
    rule = next(one for one in load() if one.code == "TFN202")
    policy = Policy(
        rules=(rule,),
        certainty=None,
        idle=False,
        unsafe_fixes=True,
        mends_notes=True,  # what no file of the program runs is a note
        known={rule.code: rule},
    )
    return [
        fix.title
        for finding in check_source(Source(str(path), text), policy).findings
        for fix in finding.fixes
    ]


@pytest.mark.parametrize(
    "train, offered",
    [
        ("import tensorflow as tf\nfrom pkg import layers\n" + SETS + FITS, [CHOSEN]),
        ("import tensorflow as tf\nimport losses\n" + SETS, [ADDED, CHOSEN]),
        ("import tensorflow as tf\nfrom pkg import layers\n", [ADDED, CHOSEN]),
    ],
)
def test_a_policy_counts_in_the_files_of_its_program(tmp_path, train, offered):
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("")
    (tmp_path / "train.py").write_text(train)
    assert titles(tmp_path / "pkg" / "layers.py", LAYER) == offered


RESETS = SETS.replace("mixed_float16", "float32")


@pytest.mark.parametrize(
    ("behind", "dtype"),
    [
        (RESETS, "float16"),
        (RESETS + "layer = Distance()\n", None),
        (f"def reset():\n    {RESETS}", None),
    ],
)
def test_what_the_last_statement_sets_back_holds_for_nothing(behind, dtype):
    call = "    def call(self, inputs):\n"
    text = LAYER.replace("\n\n\n", f"\n{SETS}", 1).replace(call, f"{call}        reveal(inputs)\n")
    (inputs,) = reveals(Source("a.py", text + behind))
    assert inputs.value.dtype == dtype


def test_a_cast_in_one_branch_leaves_the_choice_only(tmp_path):
    assert titles(tmp_path / "a.py", BRANCH) == [CHOSEN]


def test_a_gradient_by_a_list_has_the_dtype_of_its_source(tmp_path):
    assert titles(tmp_path / "a.py", PENALTY) == ["add 1e-6 under the root"]


def test_a_policy_of_a_test_counts_in_that_test_only(tmp_path):
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("")
    test = "import tensorflow as tf\nfrom pkg import layers\n" + SETS
    (tmp_path / "test_layers.py").write_text(test)
    assert titles(tmp_path / "pkg" / "layers.py", LAYER) == [ADDED, CHOSEN]


SLOPE = """def slope{i}(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sqrt(tf.nn.relu(x))
    return tape.gradient(y, x)


"""


def test_the_program_is_asked_once_and_not_for_each_fix(monkeypatch, tmp_path):
    """It is read as a whole: a long file with many fixes would take the square of its length."""
    asked = []
    monkeypatch.setattr(registry, "wanted_around", lambda module: asked.append(module) or "float16")
    slopes = "".join(SLOPE.format(i=i) for i in range(5))
    assert len(titles(tmp_path / "a.py", "import tensorflow as tf\n\n\n" + slopes)) >= 5
    assert len(asked) == 1


def test_the_policy_of_a_program_is_read_from_the_first_file_that_sets_it(tmp_path, monkeypatch):
    """Each file that sets it costs to be read; tests/project/test_policies.py has what it tells."""
    (tmp_path / "pyproject.toml").write_text("")
    for number in range(3):
        text = f"import tensorflow as tf\nimport layers\n{SETS}\n{FITS}"
        (tmp_path / f"train{number}.py").write_text(text)
    (tmp_path / "layers.py").write_text(ENTROPY)
    asked: list[str] = []
    policies = Precision.policies

    def counted(self, ev, module):
        asked.append(module.source.path)
        return policies(self, ev, module)

    monkeypatch.setattr(Precision, "policies", counted)
    known = {rule.code: rule for rule in load()}
    policy = Policy(rules=load(), certainty=None, idle=False, unsafe_fixes=True, known=known)
    check_source(Source(str(tmp_path / "layers.py"), ENTROPY), policy)
    assert {path.rpartition("/")[2] for path in asked} == {"layers.py", "train0.py"}
    # no program is asked for what stands in the name of no policy
    assert not analysis.File._policy_holds(object(), ("softmax", ".half"))


@pytest.mark.parametrize("dtype, runs", [("float16", True), ("bfloat16", False)])
def test_a_rule_for_a_dtype_runs_where_the_program_sets_that_one(
    tmp_path, monkeypatch, dtype, runs
):
    (tmp_path / "train.py").write_text(
        f"import tensorflow as tf\nimport layers\n{SETS.replace('float16', dtype)}\n{FITS}"
    )
    (tmp_path / "layers.py").write_text(ENTROPY)
    ran: list[str] = []
    monkeypatch.setattr(analysis.File, "run", lambda self, rule, *_: ran.append(rule.code) or [])
    source = Source(str(tmp_path / "layers.py"), ENTROPY)
    analysis.Analysis(source, load()).close()
    assert ("TFN602" in ran) == runs
