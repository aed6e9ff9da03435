"""The shapes that the table says results have, against those of TensorFlow."""

from __future__ import annotations

import pytest
from later import Later

from tfnanlint.dev.reveal import reveals
from tfnanlint.ops.relations.shapes import Shape, shape_of
from tfnanlint.ops.table import ROWS, load
from tfnanlint.syntax.source import Source

tf = Later("tensorflow")
pytestmark = pytest.mark.tensorflow
HEAD = "import keras\nimport numpy as np\nimport tensorflow as tf\n"
# One call of each row that says which parameter holds the shape of its result.
SHAPED = {
    "tf.reshape": "tf.reshape(tf.ones([6]), [2, 3])",
    "tf.broadcast_to": "tf.broadcast_to(tf.ones([3]), [2, 3])",
    "tf.zeros": "tf.zeros([2, 3])",
    "tf.ones": "tf.ones([2, 3])",
    "tf.fill": "tf.fill([2, 3], 1.0)",
    "ops.full": "keras.ops.full([2, 3], 1.0)",
    "tf.random.normal": "tf.random.normal([2, 3])",
    "tf.random.uniform": "tf.random.uniform([2, 3])",
    "tf.get_variable": "tf.compat.v1.get_variable('w', [2, 3])",
    "method.add_weight": "keras.layers.Layer().add_weight(shape=[2, 3])",
}
# One call of each spelling that is said to give one axis.
FLATTENING = {
    "K.flatten": "tf.keras.backend.flatten(tf.ones([2, 3]))",
    "tnp.ravel": "tf.experimental.numpy.ravel(tf.ones([2, 3]))",
    "np.ravel": "np.ravel(tf.ones([2, 3]))",
    "ops.ravel": "keras.ops.ravel(tf.ones([2, 3]))",
    "method.flatten": "np.ones([2, 3]).flatten()",
    "method.ravel": "np.ones([2, 3]).ravel()",
}
# These keep the axis of the batch; Keras 3 has only the first.
BATCHED = "tf.keras.backend.batch_flatten(tf.ones([2, 3, 4]))"
BATCHED_IN_TF1 = "tf.compat.v1.layers.flatten(tf.ones([2, 3, 4]))"


def seen(call: str) -> Shape | None:
    [found] = reveals(Source("m.py", f"{HEAD}reveal({call})\n"))
    return shape_of(found.value)


def executed(call: str) -> tuple[int, ...]:
    names: dict[str, object] = {}
    with tf.Graph().as_default() if "compat" in call else tf.init_scope():
        exec(f"{HEAD}result = {call}", names)  # noqa: S102
    return tuple(names["result"].shape)  # type: ignore[attr-defined]


def test_every_row_that_says_what_shapes_its_result_is_called():
    load()
    assert set(SHAPED) == {row.name for row in ROWS if row.shaped_by}
    assert all(row.shaped_by in row.params for row in ROWS if row.shaped_by)
    assert set(FLATTENING) == {name for row in ROWS for name in row.flattening}


@pytest.mark.parametrize("call", SHAPED.values(), ids=SHAPED)
def test_a_shape_that_is_written_is_that_of_the_result(call):
    assert seen(call) == executed(call) == (2, 3)


@pytest.mark.parametrize("call", FLATTENING.values(), ids=FLATTENING)
def test_what_flattens_gives_one_axis(call):
    assert seen(call) == (None,)
    assert executed(call) == (6,)


def test_what_flattens_the_elements_of_a_batch_is_not_said_to_give_one_axis():
    assert len(executed(BATCHED)) == 2
    assert seen(BATCHED) is None and seen(BATCHED_IN_TF1) is None
