"""Whether a gradient is in sight of what a function computes, by what calls it."""

from __future__ import annotations

import pytest

from tfnanlint.diagnostics.findings import Certainty
from tfnanlint.pipeline import analysis as flow
from tfnanlint.project import index as project
from tfnanlint.rule import registry as rules
from tfnanlint.syntax.source import Source

ENERGY = """\
import tensorflow as tf


def energy(d):
    return tf.where(tf.equal(d, 0.0), 0.0, 1.0 / d)
"""
STEPS = "from energies import energy\n\n\ndef update_position(d):\n    return d - energy(d)\n"
# Beside the simulation a model is trained on what was written down, by the same script.
MODEL = "class Model:\n    def train_on(self, path):\n        self.net.fit(read(path))\n"
RUN = """\
from model import Model
from steps import update_position

d = read()
update_position(d)
Model().train_on()
"""
FILES = {"steps.py": STEPS, "model.py": MODEL, "run.py": RUN}
RULES = [rule for rule in rules.load() if rule.code == "TFN204"]


def certainty(folder, files, energies=ENERGY):
    """The certainty of the finding in a file of a program."""
    for path, text in {"energies.py": energies, **files}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    project.forget()
    (finding,) = flow.analyse(Source(str(folder / "energies.py"), energies), RULES)
    project.forget()
    return finding.certainty


def test_a_simulation(tmp_path):
    assert certainty(tmp_path, FILES) is Certainty.UNKNOWN


def test_a_function_that_scripts_run_in_a_lambda(tmp_path):
    steps = STEPS.replace("energy(d)\n", "(lambda x: energy(x))(d)\n")
    assert certainty(tmp_path, {**FILES, "steps.py": steps}) is Certainty.UNKNOWN


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"steps.py": STEPS},
        {"test_energies.py": "from energies import energy\n\nenergy(read())\n"},
        {**FILES, "run.py": RUN.replace("train_on()", "train_on(update_position(d))")},
        {**FILES, "run.py": RUN + "minimize(update_position(d))\n"},
        {**FILES, "run.py": RUN + "train_network(update_position(d))\n"},
        {**FILES, "run.py": RUN + "Other(update_position)\n"},
        {**FILES, "run.py": RUN + "from steps import update_position as s\nOther(s)\n"},
        {**FILES, "run.py": RUN + "import steps\nOther(getattr(steps, read()))\n"},
        {**FILES, "run.py": RUN + "import steps\nOther(steps.update_position)\n"},
        {**FILES, "other.py": "import energies\n\nOther(energies.energy)\n"},
        {**FILES, "other.py": "import energies\n\noptimizer.minimize(energies.energy(d))\n"},
        {**FILES, "pyproject.toml": "[project]\nname = 'energies'\n"},
        {**FILES, "steps.py": STEPS + "\n\nsteps = [update_position]\n"},
    ],
)
def test_what_may_take_one(tmp_path, files):
    assert certainty(tmp_path, files) is Certainty.MAY


def test_a_method_that_others_call(tmp_path):
    body = ENERGY.split("\n\n\n")[1].replace("(d)", "(self, d)").replace("\n", "\n    ")
    layer = f"import tensorflow as tf\nfrom base import Base\n\n\nclass E(Base):\n    {body}\n"
    run = "from energies import E\n\nprint(E().energy(read()))\n"
    assert certainty(tmp_path, {"run.py": run}, layer) is Certainty.MAY
