"""What a file binds outside of its functions and only prints is more than shown where another file
may read it.
"""

from __future__ import annotations

import pytest
from reached import put

from tfnanlint.pipeline import analysis as flow
from tfnanlint.rule import registry as rules
from tfnanlint.syntax.source import Source

ROWS = "import numpy as np\nimport tensorflow as tf\n\n"
SHOWN = ROWS + "rows = tf.one_hot(np.array([2, 0, 1]), depth=2)\nprint('rows', rows)\n"
TOTAL = SHOWN + "total = tf.reduce_sum(rows)\nprint(total)\n"
RULES = [rule for rule in rules.load() if rule.code == "TFN505"]


def codes(folder, files, name="labels.py"):
    put(folder, files)
    return [one.code for one in flow.analyse(Source(str(folder / name), files[name]), RULES)]


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"train.py": "import tensorflow as tf\n\nrows = tf.ones([2])\n"},
        {"train.py": "from labels import np\n\nprint(np.ones(2))\n"},
        {"train.py": "import labels\n\nprint(labels.np.ones(2))\n"},
        {"other/labels.py": "rows = 1\n", "other/train.py": "from .labels import rows\n"},
    ],
)
def test_what_no_other_file_reads_is_only_printed(folder, files):
    assert codes(folder, {"labels.py": SHOWN, **files}) == []


@pytest.mark.parametrize(
    "files",
    [
        {"train.py": "from labels import rows\n"},
        {"train.py": "import labels as data\n\nmodel.fit(x, data.rows)\n"},
        {"train.py": "from labels import *\n\nmodel.fit(x, rows)\n"},
        {"train.py": "import labels\n\nmodel.fit(x, getattr(labels, input()))\n"},
        {"train.py": "import labels\n\nmodel.fit(x, vars(labels)[input()])\n"},
        {"train.py": "import importlib\n\nmodel.fit(x, importlib.import_module(input()))\n"},
        {"data.py": "from labels import *\n", "train.py": "from data import rows\n"},
        {"setup.py": "from setuptools import setup\n\nsetup(py_modules=['labels'])\n"},
    ],
)
def test_what_another_file_may_read_is_not_only_printed(folder, files):
    assert codes(folder, {"labels.py": SHOWN, **files}) == ["TFN505"]


def test_what_is_made_of_a_name_counts(folder):
    assert codes(folder, {"labels.py": TOTAL}) == []
    files = {"labels.py": TOTAL, "train.py": "from labels import total\n"}
    assert codes(folder, files) == ["TFN505"]
