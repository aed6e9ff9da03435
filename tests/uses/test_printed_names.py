"""What a file only prints, and what of it another file reads."""

from __future__ import annotations

import pytest

import tfnanlint

SHOWN = (
    "import numpy as np\nimport tensorflow as tf\n\n"
    "rows = tf.one_hot(np.array([2, 0, 1]), depth=2)\nprint('rows', rows)\n"
)


@pytest.mark.parametrize(
    ("other", "codes"),
    [
        ("import shown\n", []),
        ("from shown import rows\n", ["TFN505"]),
        ("import shown\n\nshown.rows.sum()\n", ["TFN505"]),
    ],
)
def test_rows_that_are_printed(tmp_path, other, codes):
    """A demonstration, unless another file of the program reads the name."""
    (tmp_path / "shown.py").write_text(SHOWN)
    (tmp_path / "main.py").write_text("import tensorflow as tf\n" + other)
    checked = tfnanlint.check(SHOWN, tmp_path / "shown.py")
    assert [finding.code for finding in checked.findings] == codes
