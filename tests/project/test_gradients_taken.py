"""Whether a program takes a gradient of what one of its files computes: a program that trains, a
library and a file by itself may; a simulation of several files does not.
"""

from __future__ import annotations

import os

import pytest

from tfnanlint.pipeline import analysis as flow
from tfnanlint.project import gradients_taken
from tfnanlint.project import index as project
from tfnanlint.rule import registry as rules
from tfnanlint.syntax.source import Source

ENERGY = (
    "import tensorflow as tf\n\n\n"
    "def energy(d):\n"
    "    return tf.where(tf.equal(d, 0.0), 0.0, 1.0 / d)\n"
)
RUN = "from energies import energy\n\nfor step in range(10):\n    print(energy(read(step)))\n"
TRAIN = "\noptimizer.minimize(lambda: loss(x))\n"
RULES = [rule for rule in rules.load() if rule.code == "TFN204"]


@pytest.fixture
def folder(tmp_path):
    project.forget()
    yield tmp_path
    project.forget()


def findings(folder, files, name="energies.py"):
    """The findings of a file of a program."""
    for path, text in {name: ENERGY, **files}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    project.forget()
    source = Source(str(folder / name), (folder / name).read_text())
    return flow.analyse(source, RULES)


def test_a_program_that_takes_no_gradient(folder):
    assert findings(folder, {"run.py": RUN}) == []


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"test_energies.py": RUN},
        {"other.py": "print(1)\n"},
        {"run.py": RUN + TRAIN},
        {"run.py": RUN + "model.fit(x)\n"},
        {"run.py": RUN + "getattr(model, 'fit')(x)\n"},
        {"run.py": RUN + "getattr(model, name)(x)\n"},
        {"run.py": RUN + "exec(text)\n"},
        {"run.py": "import trainer\n" + RUN, "trainer.py": TRAIN},
        {"run.py": RUN, "train.py": "import run\n" + TRAIN},
        {"run.py": "import deepxde\n" + RUN},
        {"run.py": RUN, "pyproject.toml": "[project]\nname = 'energies'\n"},
        {"run.py": RUN, "train.py": "import importlib\n\nimportlib.import_module(name)\n" + TRAIN},
        {"energies.py": ENERGY + "\n\nif __name__ == '__main__':\n    print(energy(read()))\n"},
        {"run.py": RUN, "main.py": "import loops.start\n", "loops/end.py": ""},
        {"run.py": RUN, "loops/main.py": "from .start import go\n"},
    ],
)
def test_what_may_take_one(folder, files):
    assert len(findings(folder, files)) == 1


@pytest.mark.parametrize(
    "files",
    [
        {"run.py": RUN, "train.py": TRAIN},  # another program
        {"run.py": RUN + "# model.fit(x)\nprint('a fit')\n"},
        {"run.py": RUN + "tf.stop_gradient(x)\n"},
        {"run.py": "import pandas, cv2, os\n" + RUN},
        {"run.py": RUN, "main.py": "import loops.end\nimport ants.start\n", "loops/end.py": ""},
        {"energies.py": ENERGY + "\n\nmodel.load_weights(path)\nprint(energy(read()))\n"},
    ],
)
def test_what_takes_none(folder, files):
    assert findings(folder, files) == []


@pytest.mark.parametrize(
    ("importing", "is_importer"),
    [
        ("import energies", False),  # that of its own folder
        ("from tf2 import energies", False),
        ("from tf1 import energies", True),
        ("from tf1.energies import energy", True),
        ("from ..tf1 import energies", True),
        ("from . import energies", False),
        ("from old.tf1 import energies", True),  # the folder has been given another name
        ("import sys\nsys.path.insert(0, path)\nimport energies", True),
    ],
)
def test_the_file_that_is_imported(folder, importing, is_importer):
    files = {
        "tf1/energies.py": ENERGY,
        "tf2/energies.py": ENERGY,
        "tf1/run.py": RUN,
        ".git/HEAD": "",
        "tf2/train.py": importing + "\n" + TRAIN,
    }
    assert bool(findings(folder, files, os.path.join("tf1", "energies.py"))) is is_importer


def test_a_file_that_the_program_does_not_hold(folder):
    assert len(findings(folder, {".old/run.py": RUN, ".git/HEAD": ""}, ".old/energies.py")) == 1


@pytest.mark.parametrize(
    "files",
    [
        {"run.py": RUN + "from .lib import model\n"},  # it is not there
        {"run.py": RUN + "import lib.model\n", "lib/loss.py": ""},
        {"run.py": RUN, "train.py": "losses.energy(x)\n" + TRAIN},  # the import was forgotten
        {
            "lib/run.py": "from lib.run import f\n" + RUN,
            "train.py": "from lib.run import f" + TRAIN,
        },
        {"run.py": RUN, "old.py": "from energies import energy\nprint `1`\n"},
    ],
)
def test_what_is_not_seen_may_take_one(folder, files):
    assert len(findings(folder, {"energies.py": ENERGY, ".git/HEAD": "", **files})) == 1


def test_a_file_of_comments_takes_none(folder):
    assert findings(folder, {"run.py": RUN, "old.py": "# import energies\n"}) == []


@pytest.mark.parametrize(("most", "count"), [(2, 0), (1, 1)])
def test_a_program_of_too_many_files_may_take_one(folder, monkeypatch, most, count):
    monkeypatch.setattr(gradients_taken, "_MAX_FILES", most)
    assert len(findings(folder, {"run.py": RUN})) == count
