"""Which release of TensorFlow papers, cells and outputs name."""

from __future__ import annotations

import pytest

from tfnanlint.conventions.releases import described, is_second_version, printed, required


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("numpy\ntensorflow==1.8.0\n", (1, 8)),
        ("tensorflow-gpu >= 1.12, < 2\n", (1, 12)),
        ("tensorflow_gpu==2.2.0", (2, 2)),
        ("tensorflow[and-cuda]~=2.15 ; python_version > '3.8'", (2, 15)),
        ("tensorflow<2", (1, 15)),
        ("tensorflow<2.0", (1, 15)),
        ("tensorflow<1.14", (1, 13)),
        ("tensorflow>=2", (2, 0)),
        ("tensorflow<=1.14", (1, 14)),
        ("  - tensorflow=1.4.0=py36_0", (1, 4)),
        ("install_requires=['numpy', 'tensorflow>=1.12'],", (1, 12)),
        ('tensorflow = "^2.3"', (2, 3)),
        ("tensorflow==2.10\ntensorflow-cpu==2.4", (2, 4)),
        ("!pip install -q tensorflow==1.8", (1, 8)),
        ("%tensorflow_version 1.x", (1, 15)),
        ("%tensorflow_version 2.x", None),
        ("tensorflow", None),
        ("tensorflow!=1.8", None),
        ("tensorflow-estimator==1.14.0\ntensorflow-hub==0.3.0\ntensorflow_datasets==1.2", None),
        ("torch==1.8", None),
    ],
)
def test_the_oldest_release_that_is_required(text, release):
    assert required(text) == release


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("* Keras 2.1.6\n* Tensorflow 1.8.0\n", (1, 8)),
        ("TensorFlow (version 2.4.1)", (2, 4)),
        ("**tensorflow>=1.7.0**: https://tensorflow.org", (1, 7)),
        ("python2 + tensorflow1.2 + cv2", (1, 2)),
        ("[Tensorflow 1.x](https://www.tensorflow.org)", (1, 8)),
        ("tested on TF 2.0 and TF 1.14", (1, 14)),
        ("![](https://img.shields.io/badge/tensorflow-1.10-green.svg)", (1, 10)),
        ("tensorflow_1.13.1, keras_2.2.4", (1, 13)),
        ("pip install tensorflow==1.4.0", (1, 4)),
        ("TensorFlow 2", None),
        ("https://example.org/tensorflow-1.4-models", None),
        ("keras 2.1", None),
        ("accuracy of tf: 91.25", None),
        ("TensorFlow 12.1", None),
    ],
)
def test_the_oldest_release_that_a_readme_names(text, release):
    assert described(text) == release


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("1.8.0\n", (1, 8)),
        ("'2.10.0-rc1'", (2, 10)),
        ("TensorFlow version: 2.3.0 on Python 3.7.4", (2, 3)),
        ("2.3.0 and 2.1.0", None),
        ("<function>", None),
        ("12.1.0", None),
    ],
)
def test_the_release_that_was_printed(text, release):
    assert printed(text) == release


def test_what_runs_eagerly_without_a_word_is_for_the_second_version():
    eager = "with tf.GradientTape() as tape:\n    pass\n"
    assert is_second_version(eager)
    assert not is_second_version("import tensorflow as tf\ntf.enable_eager_execution()\n" + eager)
    assert not is_second_version("tf.maximum(x, 1.0)")
