"""Executes each program of fixtures/reports, and says of each whether what it computes is finite.

They are written for several versions: what they import as Keras is Keras 2, and those that use
placeholders get TensorFlow 1's names. Run as a script, in a process of its own.
"""

from __future__ import annotations

import os
import re
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", TF_USE_LEGACY_KERAS="1")

import numpy as np
import tensorflow as tf

PROGRAMS = Path(__file__).parents[2] / "fixtures" / "reports"
V1 = tf.compat.v1
TRIES = 20000
KERAS_PARTS = "backend layers models initializers datasets regularizers utils".split()


def with_keras_2() -> None:
    """Let `import keras` be Keras 2."""
    for part in "", *(f".{name}" for name in KERAS_PARTS):
        __import__(f"tf_keras{part}")
        sys.modules[f"keras{part}"] = sys.modules[f"tf_keras{part}"]


def with_distributions() -> None:
    """Let the distributions of TensorFlow Probability be those that TensorFlow still has."""
    module = types.ModuleType("tensorflow_probability")
    module.distributions = V1.distributions
    sys.modules["tensorflow_probability"] = module


def with_two_devices() -> None:
    """Let the processor be two devices, as far as a strategy is concerned."""
    devices = tf.config.list_physical_devices("CPU")
    halves = [tf.config.LogicalDeviceConfiguration()] * 2
    tf.config.set_logical_device_configuration(devices[0], halves)


def loaded(stem: str) -> dict[str, Any]:
    """The names of a program after it ran."""
    path = PROGRAMS / f"{stem}.py"
    text = path.read_text(encoding="utf-8")
    if re.search(r"tf\.(placeholder|train)\b", text):
        text = text.replace("import tensorflow as tf", "import tensorflow.compat.v1 as tf")
    names: dict[str, Any] = {"__name__": stem}
    tf.keras.utils.set_random_seed(0)
    exec(compile(text, str(path), "exec"), names)
    return names


def broken(*values: Any) -> bool:
    return any(not np.all(np.isfinite(np.asarray(value))) for value in values)


def trained(stem: str, *names: str, feed: Callable[[dict[str, Any]], list[Any]]) -> bool:
    """Whether a loss of TensorFlow 1 stops being finite: names of the step, the loss, the feeds."""
    with tf.Graph().as_default(), V1.Session() as session:
        program = loaded(stem)
        step, loss, *fed = [program[name] for name in names]
        session.run(V1.global_variables_initializer())
        given = dict(zip(fed, feed(program), strict=True))
        return any(broken(session.run([step, loss], given)[1]) for _ in range(TRIES))


def pixels(program: dict[str, Any]) -> list[Any]:
    random = np.random.RandomState(0)
    return [255 * random.rand(32, 784), np.eye(10)[random.randint(10, size=32)]]


def positive_curve(program: dict[str, Any]) -> list[Any]:
    t, curve = program["sample_curve"]()
    return [t, abs(curve)]


def angle_of_cosine(stem: str) -> bool:
    model = loaded(stem)["model"]
    same = np.random.rand(64, 3, 1).astype(np.float32)
    model.train_on_batch([same, same], np.ones((64, 1)))
    return broken(*model.get_weights())


def parametric_softplus(stem: str) -> bool:
    return broken(loaded(stem)["DeviceActivation"]()(tf.constant([[200.0]])))


def siamese_distance(stem: str) -> bool:
    model = loaded(stem)["model"]
    same = np.random.rand(4, 4)
    model.train_on_batch([same, same], np.array([[0.0], [1.0], [0.0], [1.0]]))
    return broken(*model.get_weights())


def gradient_of_distance(stem: str) -> bool:
    V1.disable_eager_execution()  # K.gradients; so this one runs last
    image = np.random.rand(1, 784).astype(np.float32)
    return broken(*loaded(stem)["step"]([image, image]))


def weighted_objective(stem: str) -> bool:
    weighted = loaded(stem)["with_weights"](lambda a, b: tf.square(a - b))
    ones, zeros = tf.ones((3,)), tf.zeros((3,))
    return broken(weighted(ones, 2 * ones, zeros)) and broken(weighted(ones, 2 * ones, ones, zeros))


def two_branches(stem: str) -> bool:
    with tf.Graph().as_default():
        evaluate = loaded(stem)["evaluate"]
        return broken(evaluate(1.0)[2]) and broken(evaluate(-1.0)[2])


def gradient_of(function: Callable[[Any], Any], x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        result = function(x)
    return tape.gradient(result, x)


def hand_layer_norm(stem: str) -> bool:
    layer = loaded(stem)["RowNormalization"]()
    padding = tf.zeros((2, 4))
    layer(padding)
    compiled = tf.function(
        lambda: gradient_of(lambda x: tf.reduce_sum((layer(x) - 1.0) ** 2), padding),
        jit_compile=True,
    )
    return broken(compiled())


def false_negatives(stem: str) -> bool:
    nothing = tf.zeros((4,))
    return broken(loaded(stem)["false_negatives"](nothing, nothing))


def binary_cross_entropy(stem: str) -> bool:
    return broken(loaded(stem)["entropy_loss"](tf.constant([1.0]), tf.constant([1.0])))


def softplus_activation(stem: str) -> bool:
    model = loaded(stem)["model"]
    model.train_on_batch(255 * np.random.rand(4, 28, 28), np.zeros(4))
    return broken(*model.get_weights())


def morse_derivatives(stem: str) -> bool:
    return broken(loaded(stem)["by_tapes"](np.arange(0.9, 1.1, 0.01)))


def root_of_difference(stem: str) -> bool:
    return trained(
        stem,
        "train",
        "gen_loss_custom",
        "inputs",
        "targets",
        feed=lambda _: [np.ones((4, 8)), np.zeros((4, 8))],
    )


def adam_in_half_precision(stem: str) -> bool:
    black = [np.zeros((4, 16, 16, 3))]
    return trained(stem, "train", "loss", "image", feed=lambda _: black)


def missing_steps(stem: str) -> bool:
    with tf.Graph().as_default():
        return broken(loaded(stem)["found"][1])


def empty_lines(stem: str) -> bool:
    return broken(loaded(stem)["model"](np.array([[1, 2] + [0] * 8, [0] * 10])))


def masked_attention(stem: str) -> bool:
    return trained(
        stem,
        "train",
        "loss",
        "state",
        "encoded",
        "padding_mask",
        feed=lambda _: [np.ones((2, 4)), np.ones((2, 6, 4)), np.zeros((2, 6))],
    )


def aspect_ratio(stem: str) -> bool:
    program = loaded(stem)
    return broken(program["compute_loss"](tf.ones((1, 2, 2, 3, 5)), tf.zeros((1, 2, 2, 3, 5))))


def ragged_batch(stem: str) -> bool:
    strategy = tf.distribute.MirroredStrategy
    tf.distribute.MirroredStrategy = lambda: strategy(["CPU:0", "CPU:1"])
    try:
        return broken(loaded(stem)["history"].history["loss"])
    finally:
        tf.distribute.MirroredStrategy = strategy


def task_without_examples(stem: str) -> bool:
    with tf.Graph().as_default(), V1.Session() as session:
        program = loaded(stem)
        session.run(V1.global_variables_initializer())
        fed = {
            program["features"]["a_loss_multiplier"]: [0, 0],
            program["features"]["a_label_ids"]: [0, 0],
            program["sentences"]: np.ones((2, 5)),
        }
        return broken(session.run(program["loss"], fed))


def pearson_correlation(stem: str) -> bool:
    same = tf.ones((4, 1))
    return broken(loaded(stem)["pearson_r"](same, tf.constant([[1.0], [2.0], [3.0], [4.0]])))


def boxes_of_raw_sizes(stem: str) -> bool:
    with tf.Graph().as_default(), V1.Session() as session:
        program = loaded(stem)
        empty = tf.zeros((1, 4))
        return broken(session.run(program["giou_loss"](empty, empty)))


def squash_of_zeros(stem: str) -> bool:
    zeros = tf.zeros((4, 8))
    with tf.Graph().as_default():
        squashed = loaded(stem)["squashed"]
    compiled = tf.function(
        lambda: gradient_of(lambda x: tf.reduce_sum(squashed(x) ** 2), zeros), jit_compile=True
    )
    return broken(compiled())


def square_of_a_norm(stem: str) -> bool:
    ones = tf.ones((4, 8))
    with tf.Graph().as_default():
        distance = loaded(stem)["squared_distance"]
    compiled = tf.function(lambda: gradient_of(lambda x: distance(x, ones), ones), jit_compile=True)
    return broken(compiled())


def cosine_by_batch_dot(stem: str) -> bool:
    zeros, unit = np.zeros((1, 2, 1)), np.array([[[0.6], [0.8]]])
    return broken(loaded(stem)["model"].predict([zeros, unit], verbose=0))


def still_frames(program: dict[str, Any]) -> list[Any]:
    return [np.zeros((4, 16, 16, 6)), np.zeros((4, 8, 8, 2))]


def mask_fed_with_infinity(stem: str) -> bool:
    with tf.Graph().as_default():
        return broken(*loaded(stem)["show"]()[1])


def logarithm_of_a_cosh(stem: str) -> bool:
    model = loaded(stem)["model"]
    model.train_on_batch(np.ones((4, 8)), np.full((4, 1), 1000.0))
    return broken(*[np.sum(weight) for weight in model.get_weights()])


def one_instance(program: dict[str, Any]) -> list[Any]:
    return [np.random.RandomState(0).rand(256, 3), np.zeros(256)]


def some_states(program: dict[str, Any]) -> list[Any]:
    random = np.random.RandomState(0)
    return [random.randn(8, 10), np.full((8, 5), 0.2), random.randn(8)]


def batch_without_events(stem: str) -> bool:
    with tf.Graph().as_default(), V1.Session() as session:
        network = loaded(stem)["network"]
        session.run(V1.global_variables_initializer())
        censored = {network.X: np.random.rand(6, 5), network.Y: -np.arange(1, 7.0).reshape(6, 1)}
        return broken(session.run(network.loss, censored))


def roots_of_sizes(stem: str) -> bool:
    program = loaded(stem)
    model = program["Detector"]()
    truth = tf.random.uniform((2, 4, 4, 10))
    return broken(program["train_step"](model, tf.random.normal((2, 8, 8, 3)), truth))


def certain_actor(stem: str) -> bool:
    agent = loaded(stem)["Agent"](4)
    for size in (1e2, 1e4):
        agent.learn(size * tf.random.normal((8, 6)), tf.zeros((8,), tf.int32), tf.ones((8,)))
    return broken(*agent.actor.get_weights())


def exponential_recurrence(stem: str) -> bool:
    return broken(loaded(stem)["model"].predict(np.random.rand(1, 6, 3), verbose=0))


def bias_of_class_counts(stem: str) -> bool:
    return broken(*loaded(stem)["model"].get_weights())


def recurrent_relu(stem: str) -> bool:
    model, random = loaded(stem)["model"], np.random.RandomState(0)
    sequences = 255 * (random.rand(8, 1019, 64) > 0.5)
    labels = np.eye(4)[random.randint(4, size=(8, 1019))]
    losses = [model.train_on_batch(sequences, labels) for _ in range(3)]
    return broken(*losses, *model.get_weights())


def line_through_five_points(stem: str) -> bool:
    with tf.Graph().as_default(), V1.Session() as session:
        return broken(*loaded(stem)["fit"](session))


def drawn_pictures() -> Any:
    random = np.random.RandomState(0)
    both = random.randint(256, size=(256, 28, 28)), random.randint(10, size=256)
    return both, both


def sparse_autoencoder(stem: str) -> bool:
    sys.modules["keras.datasets"].mnist.load_data = drawn_pictures
    model = loaded(stem)["autoencoder"]
    pictures = drawn_pictures()[0][0].reshape(256, 784).astype("float32")
    return broken(*[model.train_on_batch(pictures, pictures) for _ in range(1500)])


def cells_of_a_density(stem: str) -> bool:
    step = loaded(stem)["train_step"]
    encoder, prior = (tf.keras.Sequential([tf.keras.layers.Dense(size)]) for size in (4, 8))
    far = 30 * tf.random.normal((16, 8))
    return broken(step(encoder, prior, tf.keras.optimizers.Adam(1e-3), far))


def moving_nodes(program: dict[str, Any]) -> list[Any]:
    return [np.ones((7, 8)), np.repeat([[0.1, 1.7, -3.3]], 7, axis=0)]


def large_features(program: dict[str, Any]) -> list[Any]:
    random = np.random.RandomState(0)
    return [6 * random.rand(1, 19, 19, 64), 300 * random.rand(361, 4), 300 * random.rand(361, 4)]


def average_of_padding(stem: str) -> bool:
    program = loaded(stem)
    return broken(program["model"].predict(program["sentences"], verbose=0))


def poses_of_parts(program: dict[str, Any]) -> list[Any]:
    random = np.random.RandomState(0)
    return [random.randn(4, 32, 16), random.rand(4, 32), np.eye(5)[:4]]


def standardised_advantages(stem: str) -> bool:
    with tf.Graph().as_default(), V1.Session() as session:
        policy = loaded(stem)["policy"]
        session.run(V1.global_variables_initializer())
        with np.errstate(invalid="ignore"):
            policy.learn(session, np.ones((1, 4)), [0], np.ones(1), np.zeros(1), 0.0)
        return broken(session.run(policy.kernel))


def reciprocal_roots_of_pixels(stem: str) -> bool:
    program = loaded(stem)
    return broken(program["model"].train_on_batch(program["pictures"], program["labels"]))


def named(name: str, index: int | None = None) -> Callable[[str], bool]:
    """Whether what a program calls by a name is broken."""

    def run(stem: str) -> bool:
        value = loaded(stem)[name]
        return broken(value if index is None else value[index])

    return run


RUNS: dict[str, Callable[[str], bool]] = {
    "r01_root_of_square": named("gradient"),
    "r02_angle_of_cosine": angle_of_cosine,
    "r03_parametric_softplus": parametric_softplus,
    "r04_logistic_regression": lambda stem: trained(
        stem, "step", "cost", "features", "labels", feed=pixels
    ),
    "r05_log_likelihood_minimised": lambda stem: trained(
        stem, "train", "objective", "curve_in", "curve_out", feed=positive_curve
    ),
    "r06_siamese_distance": siamese_distance,
    "r08_weighted_objective": weighted_objective,
    "r09_fill_value_overflows": named("result"),
    "r10_two_branches": two_branches,
    "r11_epsilon_of_zero": named("result"),
    "r12_hand_layer_norm": hand_layer_norm,
    "r13_normalize_zeros": named("result", 0),
    "r14_poisson_of_large_log": named("result"),
    "r15_acos_of_slice": named("gradient"),
    "r16_false_negatives": false_negatives,
    "r17_binary_cross_entropy": binary_cross_entropy,
    "r18_softplus_activation": softplus_activation,
    "r19_morse_derivatives": morse_derivatives,
    "r20_norm_of_tiny_square": named("gradient"),
    "r21_root_of_difference": root_of_difference,
    "r22_adam_in_half_precision": adam_in_half_precision,
    "r23_nan_marks_missing_steps": missing_steps,
    "r24_attention_over_empty_lines": empty_lines,
    "r25_masked_attention": masked_attention,
    "r26_aspect_ratio": aspect_ratio,
    "r27_ragged_batch_on_two_devices": ragged_batch,
    "r28_task_without_examples": task_without_examples,
    "r29_pearson_correlation": pearson_correlation,
    "r30_boxes_of_raw_sizes": boxes_of_raw_sizes,
    "r35_squash_of_zeros": squash_of_zeros,
    "r36_square_of_a_norm": square_of_a_norm,
    "r39_cosine_by_batch_dot": cosine_by_batch_dot,
    "r41_endpoint_error": lambda stem: trained(
        stem, "train", "loss", "frames", "truth", feed=still_frames
    ),
    "r47_mask_fed_with_infinity": mask_fed_with_infinity,
    "r48_logarithm_of_a_cosh": logarithm_of_a_cosh,
    "r49_one_instance": lambda stem: trained(
        stem, "train", "loss", "picture", "labels", feed=one_instance
    ),
    "r51_policy_of_raw_concentrations": lambda stem: trained(
        stem, "train", "action", "states", "shares", "rewards", feed=some_states
    ),
    "r53_batch_without_events": batch_without_events,
    "r54_roots_of_sizes": roots_of_sizes,
    "r56_certain_actor": certain_actor,
    "r60_exponential_recurrence": exponential_recurrence,
    "r62_bias_of_class_counts": bias_of_class_counts,
    "r67_recurrent_relu": recurrent_relu,
    "r68_line_through_a_range": lambda stem: trained(stem, "train", "loss", feed=lambda _: []),
    "r69_line_through_five_points": line_through_five_points,
    "r71_sparse_autoencoder": sparse_autoencoder,
    "r73_cells_of_a_density": cells_of_a_density,
    "r75_share_of_a_gamma": lambda stem: broken(loaded(stem)["slope"]),
    "r76_root_of_a_matrix": lambda stem: broken(loaded(stem)["root"]),
    "r84_running_normaliser": lambda stem: trained(
        stem, "train", "loss", "nodes", "velocities", feed=moving_nodes
    ),
    "r85_decoded_boxes": lambda stem: trained(
        stem, "train", "loss", "features", "anchors", "truth", feed=large_features
    ),
    "r86_average_of_padding": average_of_padding,
    "r87_routing_by_agreement": lambda stem: trained(
        stem, "train", "loss", "poses", "activations", "labels", feed=poses_of_parts
    ),
    "r89_standardised_advantages": standardised_advantages,
    "r91_reciprocal_roots_of_pixels": reciprocal_roots_of_pixels,
    "r07_gradient_of_distance": gradient_of_distance,
}


if __name__ == "__main__":
    with_keras_2()
    with_distributions()
    with_two_devices()
    for stem, run in RUNS.items():
        print()
        print(f"{stem}: {'not finite' if run(stem) else 'finite'}")
