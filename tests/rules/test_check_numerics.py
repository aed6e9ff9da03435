"""What TensorFlow's checks for NaN do under XLA, which rule TFN902 rests on."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

# Each switch holds for the whole process, so that the order counts; clusters of one op, so that XLA
# compiles what stands around the check.
PROGRAM = """
import json
import numpy as np
import tensorflow as tf

def loss(x):
    return tf.reduce_sum(tf.debugging.check_numerics(tf.math.log(x) * 2.0, "loss"))

def unchecked(x):
    return tf.reduce_sum(tf.math.log(x) * 2.0)

class Checked(tf.keras.layers.Layer):
    def call(self, x):
        return tf.debugging.check_numerics(tf.math.log(x), "x")

def of_model():
    model = tf.keras.Sequential([tf.keras.Input((2,)), Checked(), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse", jit_compile=True)
    return model.fit(-np.ones((4, 2), "float32"), np.ones((4, 1), "float32"), verbose=0).history["loss"][0]

def told(function, *args):
    try:
        return "nan" if np.isnan(function(*args)) else "finite"
    except (tf.errors.InvalidArgumentError, tf.errors.UnimplementedError) as error:
        return "refused" if "unsupported operations" in str(error) or "conversion failed" in str(error) else "raised"

x = tf.constant([-1.0, 2.0])
said = {"eager": told(loss, x), "graph": told(tf.function(loss), x), "jit_compile": told(tf.function(loss, jit_compile=True), x), "model": told(of_model)}
tf.config.optimizer.set_jit(True)
said["set_jit"] = told(tf.function(loss), x)
tf.config.optimizer.set_jit(False)
tf.debugging.enable_check_numerics()
said["enabled"] = told(tf.function(unchecked), x)
said["enabled, jit_compile"] = told(tf.function(unchecked, jit_compile=True), x)
print(json.dumps(said))
"""


@pytest.mark.tensorflow
def test_which_checks_xla_drops_and_which_it_refuses():
    pytest.importorskip("tensorflow")
    flags = {
        "TF_XLA_FLAGS": "--tf_xla_cpu_global_jit --tf_xla_min_cluster_size=1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_VISIBLE_DEVICES": "-1",
    }
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | flags,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert json.loads(run.stdout.splitlines()[-1]) == {
        "eager": "raised",
        "graph": "raised",
        "jit_compile": "nan",
        "model": "nan",
        "set_jit": "raised",
        "enabled": "raised",
        "enabled, jit_compile": "refused",
    }
