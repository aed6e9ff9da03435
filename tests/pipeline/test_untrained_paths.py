"""Values that only go where no gradient comes back from: what optimizers are made with."""

from __future__ import annotations

import pytest

from tfnanlint.diagnostics.findings import Differentiated
from tfnanlint.pipeline import analysis as flow
from tfnanlint.project import index as project
from tfnanlint.rule.registry import Rule
from tfnanlint.syntax.source import Source

HEAD = "import tensorflow as tf\n\n\n"


def taken(path, text):
    """Whether a gradient is taken through the root in a file."""
    answers = []

    def look(site, here):
        if here.draft:
            yield here.remark(site.node, "", None)
        else:
            answers.append(site.differentiated)

    path.write_text(text)
    project.forget()
    rule = Rule("TFN000", "probe", ("tf.sqrt",), look, "")
    flow.analyse(Source(str(path), text), [rule])
    (answer,) = set(answers)
    return answer


@pytest.mark.parametrize(
    ("made", "answer"),
    [
        ("tf.train.MomentumOptimizer(rate * 10, 0.9)", Differentiated.NO),
        ("WarmupSchedule(rate)", Differentiated.NO),
        ("Trainer(rate)", Differentiated.UNKNOWN),
        ("optimizer(rate)", Differentiated.UNKNOWN),
    ],
)
def test_what_an_optimizer_is_made_with(tmp_path, made, answer):
    text = (
        HEAD
        + f"def f(step):\n    rate = tf.sqrt(step)\n    g = tf.gradients(l, v)\n    return {made}\n"
    )
    assert taken(tmp_path / "train.py", text) is answer
