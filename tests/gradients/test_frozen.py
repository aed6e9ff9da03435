"""Whether a gradient is taken through what models give that are not trained."""

from __future__ import annotations

import pytest
from gradients_of import taken

from tfnanlint.diagnostics.findings import Differentiated

NO, YES = Differentiated.NO, Differentiated.YES
PROGRAM = """\
import tensorflow as tf
from tensorflow import keras

base = keras.applications.VGG19()
base.trainable = {other}
features = keras.Model(base.input, base.layers[3].output)
image = keras.Input([8, 8, 3])
kept = features({given})


def style_loss(y_true, y_pred):
    return tf.reduce_mean(tf.sqrt(kept) - y_pred)


{before}
model = keras.Model(image, net(image))
model.compile("adam", loss=style_loss)
{after}
"""
FREEZING = "features.trainable = False"


def answer(folder, before=FREEZING, after="", given="image", other="False"):
    text = PROGRAM.format(before=before, after=after, given=given, other=other)
    return taken(folder / "train.py", text)


def test_a_model_that_is_frozen(tmp_path):
    assert answer(tmp_path) is NO


def test_the_layers_of_one(tmp_path):
    layers = "for layer in features.layers:\n    layer.trainable = False"
    assert answer(tmp_path, before=layers) is NO


@pytest.mark.parametrize(
    "change",
    [
        {"before": ""},
        {"before": "features.trainable = True"},
        {"before": "features.trainable = fine_tuned"},
        {"before": "if frozen:\n    features.trainable = False"},
        {"before": "for layer in features.layers[:3]:\n    layer.trainable = False"},
        {"before": "for layer in other.layers:\n    layer.trainable = False"},
        {"before": "other.trainable = False"},
        {"before": "other.compile('sgd')\n" + FREEZING},
        {"before": "", "after": FREEZING},
        {"after": "features.trainable = True"},
        {"after": "for layer in model.layers:\n    layer.trainable, layer.name = True, 'x'"},
        {"after": "setattr(features, 'trainable', True)"},
        {"after": "setattr(features, name, True)"},
        {"after": "tape.gradient(loss, features.weights)"},
        {"after": "weights = features.variables"},
        {"given": "net(image)"},
        {"other": "True"},
    ],
)
def test_one_that_may_be_trained(tmp_path, change):
    assert answer(tmp_path, **change) is YES


def test_another_file_that_trains_it(tmp_path):
    (tmp_path / "tune.py").write_text("import train\n\ntrain.features.trainable = True\n")
    assert answer(tmp_path) is YES


def test_the_axes_of_data_are_no_operands(tmp_path):
    text = PROGRAM.replace("tf.sqrt(kept)", "tf.math.reduce_std(y_true, axis=[1, 2])")
    text = text.format(before="", after="", given="image", other="False")
    assert taken(tmp_path / "train.py", text, "tf.math.reduce_std") is NO
