"""Losses that a decorator of another file keeps in a dict, from which a third file reads them."""

from __future__ import annotations

import pytest

from tfnanlint.diagnostics.findings import Differentiated
from tfnanlint.pipeline import analysis as flow
from tfnanlint.project import index as project
from tfnanlint.rule.registry import Rule
from tfnanlint.syntax.source import Source

BY_CALL = """
LOSSES = {}


def keep(name):
    def inner(f):
        LOSSES[name] = f
        return f
    return inner


def build(name):
    return LOSSES[name]
"""
BY_NAME = """
LOSSES = {}


def keep(f):
    LOSSES[f.__name__] = f
    return f
"""
OF_ITS_OWN = BY_NAME.replace("    LOSSES[", "    LOSSES = {}\n    LOSSES[")
LOSS = """
import tensorflow as tf
from registry import keep


@keep{name}
def distance(y, p):
    return tf.sqrt(p - y)
"""
TRAIN = """
import tensorflow as tf
import registry
from registry import LOSSES{also}


def train(name, data):
    net = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    chosen = LOSSES[name]
    net.compile("sgd", loss={read})
    net.fit(data)
"""


def taken(folder, registry, name, read):
    """Whether a gradient is taken through the root in the loss."""
    answers = []

    def look(site, here):
        if here.draft:
            yield here.remark(site.node, "", None)
        else:
            answers.append(site.differentiated)

    also = ", build" if "def build" in registry else ""
    text = LOSS.replace("{name}", name)
    (folder / "registry.py").write_text(registry)
    (folder / "train.py").write_text(TRAIN.replace("{read}", read).replace("{also}", also))
    (folder / "distances.py").write_text(text)
    project.forget()
    rule = Rule("TFN000", "probe", ("tf.sqrt",), look, "")
    flow.analyse(Source(str(folder / "distances.py"), text), [rule])
    (answer,) = set(answers)
    return answer


@pytest.mark.parametrize(
    "read",
    [
        "LOSSES[name]",
        "LOSSES.get(name)",
        "LOSSES['l2']",
        "registry.LOSSES[name]",
        "chosen",
        "build(name)",
    ],
)
def test_a_loss_that_is_read_from_a_registry(folder, read):
    assert taken(folder, BY_CALL, "('l2')", read) is Differentiated.YES


@pytest.mark.parametrize(
    ("registry", "name", "read"),
    [
        (BY_CALL, "('l2')", "LOSSES['l1']"),  # another loss
        (BY_NAME, "", "LOSSES['l2']"),
        (BY_CALL, "('l2')", "METRICS[name]"),
        (OF_ITS_OWN, "", "LOSSES[name]"),  # a dict of the decorator itself
    ],
)
def test_what_is_read_elsewhere(folder, registry, name, read):
    assert taken(folder, registry, name, read) is not Differentiated.YES


def test_a_decorator_that_keeps_it_under_its_own_name(folder):
    assert taken(folder, BY_NAME, "", "LOSSES['distance']") is Differentiated.YES


MIXED = """
import tensorflow as tf


def distance(y, p):
    return tf.sqrt(tf.square(p - y))


def error(y, p):
    return tf.abs(p - y)


LOSSES = {"root": lambda y, p: tf.sqrt(tf.square(y - p)), "l2": distance, "cosh": tf.keras.losses.LogCosh()}
"""


def differentiated(folder, train):
    """Whether gradients are taken through the roots in the losses of a file that another reads."""
    answers = []

    def look(site, here):
        if here.draft:
            yield here.remark(site.node, "", None)
        else:
            answers.append(site.differentiated)

    (folder / "mixed.py").write_text(MIXED)
    (folder / "train.py").write_text(train)
    project.forget()
    rule = Rule("TFN000", "probe", ("tf.sqrt",), look, "")
    flow.analyse(Source(str(folder / "mixed.py"), MIXED), [rule])
    return set(answers)


@pytest.mark.parametrize(
    "read", ["LOSSES[name]", "LOSSES.get(name)", "mixed.LOSSES[name]", "chosen"]
)
def test_functions_in_a_dict_with_objects(folder, read):
    train = TRAIN.replace("{read}", read).replace("{also}", "").replace("registry", "mixed")
    assert differentiated(folder, train) == {Differentiated.YES}


BY_ATTRIBUTE = """
import tensorflow as tf
import mixed

NAMES = {names}


def train():
    for name in NAMES:
        net = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        net.compile("sgd", loss=getattr(mixed, name))
"""


@pytest.mark.parametrize(
    ("names", "is_taken"),
    [("['distance', 'error']", True), ("('error', 'distance')", True), ("['error']", False)],
)
def test_functions_of_a_module_by_their_names(folder, names, is_taken):
    answers = differentiated(folder, BY_ATTRIBUTE.replace("{names}", names))
    assert (Differentiated.YES in answers) is is_taken


BY_TAPE = """
import tensorflow as tf
from mixed import {names}

ENTRIES = {{"{names}": {names}, "none": lambda y, p: 0.0}}


def step(net, x, y, kind):
    chosen = ENTRIES[kind]
    with tf.GradientTape() as tape:
        loss = {read}
    return tape.gradient(loss, net.trainable_variables)
"""


@pytest.mark.parametrize(
    ("names", "read", "is_taken"),
    [
        ("distance", "ENTRIES[kind](y, net(x))", True),
        ("distance", "ENTRIES.get(kind)(y, net(x))", True),
        ("distance", "chosen(y, net(x))", True),
        ("distance", "tf.stop_gradient(chosen(y, net(x)))", False),
        ("error", "chosen(y, net(x))", False),
    ],
)
def test_an_entry_that_is_called_under_a_tape(folder, names, read, is_taken):
    answers = differentiated(folder, BY_TAPE.format(names=names, read=read))
    assert (Differentiated.YES in answers) is is_taken


PENALTY = """
import tensorflow as tf


def distance(y, p):
    return tf.sqrt(p - y)


def other(y, p):
    return p - y
"""
STEP = """
import tensorflow as tf
from distances import distance, other

KINDS = {entries}


def step(net, optimizer, x, y, kind):
    with tf.GradientTape() as tape:
        {call}
    optimizer.apply_gradients(zip(tape.gradient(loss, net.variables), net.variables))
"""
ENTRIES = '{"near": distance, "far": other}'


@pytest.mark.parametrize(
    ("entries", "call", "answer"),
    [
        (ENTRIES, "loss = KINDS[kind](y, net(x))", Differentiated.YES),
        (ENTRIES, "penalty = KINDS[kind]; loss = penalty(y, net(x))", Differentiated.YES),
        (ENTRIES, "loss = KINDS['near'](y, net(x))", Differentiated.YES),
        (ENTRIES, "loss = KINDS['far'](y, net(x))", Differentiated.UNKNOWN),
        ('{"near": other}', "loss = KINDS[kind](y, net(x))", Differentiated.UNKNOWN),
    ],
)
def test_a_penalty_that_the_training_keeps_in_a_dict(folder, entries, call, answer):
    answers = []

    def look(site, here):
        if here.draft:
            yield here.remark(site.node, "", None)
        else:
            answers.append(site.differentiated)

    (folder / "train.py").write_text(STEP.replace("{entries}", entries).replace("{call}", call))
    (folder / "distances.py").write_text(PENALTY)
    project.forget()
    flow.analyse(
        Source(str(folder / "distances.py"), PENALTY),
        [Rule("TFN000", "probe", ("tf.sqrt",), look, "")],
    )
    assert set(answers) == {answer}
