"""Models of which nothing uses the loss: compiled, and neither trained nor evaluated."""

from __future__ import annotations

import pytest

from tfnanlint.diagnostics.findings import Certainty
from tfnanlint.pipeline import analysis as flow
from tfnanlint.project import index as project
from tfnanlint.rule import registry as rules
from tfnanlint.syntax.source import Source

RULES = [rule for rule in rules.load() if rule.code == "TFN504"]
BUILT = (
    "from tensorflow import keras\n\n"
    "made = keras.Sequential([keras.layers.Dense(3, activation='tanh')])\n"
    "made.compile(optimizer='adam', loss='mean_squared_logarithmic_error')\n"
    "other = keras.Sequential([keras.layers.Dense(1, activation='sigmoid')])\n"
)
HANDED = "def f(n, model):\n    {}\n\n\nf(1, made)\n"
TRAINED = "other.fit(x, y)\n"


def noted(folder, files):
    """Whether the one finding of the first file is a note."""
    for name, text in files.items():
        (folder / name).write_text(text)
    project.forget()
    name = next(iter(files))
    (found,) = flow.analyse(Source(str(folder / name), files[name]), RULES)
    assert (found.certainty is Certainty.UNKNOWN) is bool(found.unreached)
    return bool(found.unreached)


@pytest.mark.parametrize(
    ("more", "unused"),
    [
        (TRAINED, True),
        (TRAINED + "made.predict(x)\n", True),
        (TRAINED + "both = keras.Sequential([made, other])\n", True),
        (TRAINED + "z = made(x)\n", True),
        (TRAINED + "made.fit(x, y)\n", False),
        (TRAINED + "made.evaluate(x, y)\n", False),
        (TRAINED + "train(made)\n", False),
        (TRAINED + HANDED.format("both.add(model)"), True),
        (TRAINED + HANDED.format("model.fit(x, y)"), False),
        (TRAINED + HANDED.format("return model"), False),
        (TRAINED + HANDED.format("f(n - 1, model)"), False),
        (TRAINED + HANDED.format("train(model)"), False),
        (TRAINED + HANDED.replace("f(1, made)", "f(*args, made)").format("both.add(model)"), False),
        (TRAINED + "again = made\n", False),
        (TRAINED + "models = [made, other]\n", False),
        (TRAINED + "def f():\n    return made\n", False),
        (TRAINED + "made.save('m')\n", False),  # who loads it may train it
        (TRAINED + "@again\n" + HANDED.format("both.add(model)"), False),
        ("made.summary()\n", False),  # nothing is trained here: another file may do that
    ],
)
def test_a_loss_that_nothing_computes_is_a_note(tmp_path, more, unused):
    assert noted(tmp_path, {"train.py": BUILT + more}) is unused


def test_a_program_that_only_predicts(tmp_path):
    path = tmp_path / "predict.py"
    path.write_text(BUILT + "made.predict(x)\n")
    project.forget()
    assert flow.analyse(Source(str(path), path.read_text()), RULES) == []


RETURNED = (
    "from tensorflow import keras\n\n\n"
    "def build():\n"
    "    model = keras.Sequential([keras.layers.Dense(3, activation='tanh')])\n"
    "    model.compile(optimizer='adam', loss='mean_squared_logarithmic_error')\n"
    "    return model\n\n\n"
)


@pytest.mark.parametrize(
    ("more", "unused"),
    [
        ("made = build()\nother.fit(made.predict(x), y)\n", True),
        ("made = build()\nmade.fit(x, y)\n", False),
        ("made = build()\nother.fit(x, y)\ntrain(made)\n", False),
        ("def run():\n    made = build()\n    other.fit(made(x), y)\n\n\nrun()\n", True),
        ("def run():\n    made = build()\n    made.fit(x, y)\n\n\nrun()\n", False),
        ("other.fit(build().predict(x), y)\n", False),
        ("made = also = build()\nother.fit(made.predict(x), y)\nalso.fit(x, y)\n", False),
    ],
)
def test_a_model_that_is_returned_is_followed(tmp_path, more, unused):
    assert noted(tmp_path, {"train.py": RETURNED + more}) is unused


def test_a_file_that_imports_the_model_may_train_it(tmp_path):
    files = {"model.py": BUILT + TRAINED, "run.py": "from model import made\nmade.fit(1, 2)\n"}
    assert noted(tmp_path, files) is False


CLASS = (
    "from tensorflow import keras\n\n\n"
    "class GAN:\n"
    "    def __init__(self):\n"
    "        self.critic = keras.Sequential([keras.layers.Dense(1, activation='sigmoid')])\n"
    "        self.critic.compile(optimizer='adam', loss='binary_crossentropy')\n"
    "        {}\n\n"
    "    def build(self):\n"
    "        model = keras.Sequential([keras.layers.Dense(3, activation='tanh')])\n"
    "        {}\n"
    "        return model\n\n"
    "    def train(self):\n"
    "        self.critic.train_on_batch(x, y)\n"
    "        {}\n"
)
MADE = "self.made = self.build()"
COMPILED = "{}.compile(optimizer='adam', loss='mean_squared_logarithmic_error')"
OF_SELF, OF_NAME = COMPILED.format("self.made"), COMPILED.format("model")


@pytest.mark.parametrize(
    ("used", "unused"),
    [
        ("self.made.predict(x)", True),
        ("both = keras.Sequential([self.made, self.critic])", True),
        ("z = self.made(x)", True),
        ("self.made.fit(x, y)", False),
        ("other.made.train_on_batch(x, y)", False),
        ("train(self.made)", False),
        ("models = [self.made]", False),
        ("self.made = other", False),
        ("return self.made", False),
        ("self.again = self.made", True),
        ("self.again = self.made; self.again.fit(x, y)", False),
    ],
)
def test_a_model_that_is_an_attribute(tmp_path, used, unused):
    built = MADE + "; " + OF_SELF
    assert noted(tmp_path, {"gan.py": CLASS.format(built, "pass", used)}) is unused


@pytest.mark.parametrize(
    ("made", "used", "unused"),
    [
        (MADE, "self.made.predict(x)", True),
        (MADE, "self.made.fit(x, y)", False),
        ("made = self.build()", "pass", True),
        ("made = self.build(); made.fit(x, y)", "pass", False),
        ("made = self.build(); self.again = made", "self.again.predict(x)", True),
        ("made = self.build(); self.again = made", "self.again.fit(x, y)", False),
        ("made = self.build()", "self.build().fit(x, y)", False),
    ],
)
def test_a_model_that_a_method_returns(tmp_path, made, used, unused):
    assert noted(tmp_path, {"gan.py": CLASS.format(made, OF_NAME, used)}) is unused


def test_who_imports_a_class_may_train_its_model(tmp_path):
    text = CLASS.format(MADE + "; " + OF_SELF, "pass", "self.made.predict(x)")
    run = "from gan import GAN\nGAN().{}\n"
    assert noted(tmp_path, {"gan.py": text, "run.py": run.format("made.fit(x, y)")}) is False
    assert noted(tmp_path, {"gan.py": text, "run.py": run.format("run()")}) is True
