"""Whether a gradient is taken of what functions hand on: elements of tuples, attributes, arguments."""

from __future__ import annotations

import pytest
from gradients_of import taken

from tfnanlint.diagnostics.findings import Differentiated

NO, YES, UNKNOWN = Differentiated.NO, Differentiated.YES, Differentiated.UNKNOWN
HEAD = "import tensorflow as tf\n\n\n"
FORWARD = (
    HEAD
    + """\
def forward(model, x):
    y = model(x)
    spread = {spread}
    return tf.reduce_mean(y), {returned}


def step(model, x, optimizer):
    with tf.GradientTape() as tape:
        {targets} = forward(model, x)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.weights))
    {rest}
"""
)
RETURNED = [
    ("spread", "loss, shown", "print(shown)", NO),
    ("spread", "loss, shown", "tf.summary.scalar('spread', shown * 2.0)", NO),
    ("spread", "loss, shown", "log(f'{shown}')", NO),
    ("spread", "loss, shown", "show(shown)", NO),
    ("[spread]", "loss, shown", "print(shown[0])", NO),
    ("spread", "parts", "loss, shown = parts; print(shown)", NO),
    ("spread", "parts", "loss = parts[0]; print(parts[1])", NO),
    ("spread", "parts", "print(parts[0]); optimizer.minimize(parts[1])", YES),
    ("spread", "parts", "print(parts[-2]); optimizer.minimize(parts[-1])", YES),
    ("spread", "parts", "for one in parts: optimizer.minimize(one[0])", YES),
    ("spread", "loss, shown", "x = tf.zeros([2, shown]); optimizer.minimize(x)", NO),
    ("spread", "loss, shown", "x = tf.reshape(x, shape=(-1, shown)); optimizer.minimize(x)", NO),
    ("spread", "loss, shown", "x = tf.reshape(shown, [2, 3]); optimizer.minimize(x)", YES),
    ("spread", "shown, loss", "print(shown)", YES),
    ("spread", "loss, *shown", "print(shown)", YES),
    ("spread", "loss, shown", "keep(shown)", YES),
    ("spread", "loss, shown", "minimize(optimizer, shown)", YES),
    ("spread", "loss, shown", "optimizer.minimize(loss=shown)", YES),
    ("spread", "loss, shown", "[optimizer.minimize(one) for one in [shown]]", YES),
    ("spread", "loss, shown", "later = lambda: shown; optimizer.minimize(later)", YES),
    ("spread", "loss, shown", "setattr(model, 'regularization', shown)", YES),
    ("spread", "loss, shown", "model.regularization = shown", YES),
    ("spread", "loss, shown", "total = tf.losses.absolute_difference(x, shown); print(total)", YES),
    ("spread", "loss, shown", "print(total := shown); optimizer.minimize(total)", YES),
    ("spread", "loss, shown", "print(shown); return locals()", YES),
    ("spread", "loss, shown", "for one in [kept]: one.append(shown)", YES),
    ("spread", "loss, shown", "sums = kept; sums += [shown]; print(sums)", YES),
    ("spread", "loss, shown", "print(scalar(shown))", YES),
    ("spread", "loss, shown", "print(model.scalar)(shown)", YES),
    ("spread", "loss, shown", "globals()['total'] = shown", YES),
]
FUNCTIONS = """

def show(value):
    print("spread", value)


def scalar(value):
    return tf.compat.v1.train.AdamOptimizer().minimize(value)


def keep(value):
    kept.append(value)


def minimize(optimizer, value):
    optimizer.minimize(value)


step(build(), x, tf.keras.optimizers.Adam())
"""


@pytest.mark.parametrize(("returned", "targets", "rest", "answer"), RETURNED)
def test_what_a_function_returns_beside_the_loss(tmp_path, returned, targets, rest, answer):
    text = FORWARD.format(
        spread="tf.sqrt(tf.reduce_sum(y))", returned=returned, targets=targets, rest=rest
    )
    assert taken(tmp_path / "train.py", text + FUNCTIONS) is answer


@pytest.mark.parametrize(
    ("more", "answer"),
    [
        ("", NO),
        (
            "def again(model, x):\n    loss, total = forward(model, x)\n    minimize(o, total)\n",
            YES,
        ),
        ("METHODS = {'forward': forward}\n", YES),
    ],
)
def test_each_caller_counts(tmp_path, more, answer):
    text = FORWARD.format(
        spread="tf.sqrt(tf.reduce_sum(y))",
        returned="spread",
        targets="loss, shown",
        rest="print(shown)",
    )
    assert taken(tmp_path / "train.py", text + "\n\n" + more + FUNCTIONS) is answer


MODEL = (
    HEAD
    + """\
def losses(x):
    w = tf.get_variable("w", [4])
    return tf.reduce_mean(x * w), tf.sqrt(tf.reduce_sum(x * w))


class Model({base}):
    def __init__(self, x):
        self.loss, self.spread = losses(x)
        self.step = tf.train.AdamOptimizer().minimize(self.loss)

    def fit(self, session, feed):
        fetches = [self.step, {fetched}]
        return session.run(fetches, feed)


class Second(Model):
    def again(self, x):
        return {again}


Model(x).fit(session, feed)
"""
)


@pytest.mark.parametrize(
    ("base", "fetched", "again", "other", "answer"),
    [
        ("object", "self.spread", "0", "", NO),
        ("object", "self.spread", "self.spread.numpy()", "", NO),
        ("object", "self.spread", "self.spread", "", YES),
        ("object", "self.step", "0", "", YES),
        ("object", "self.spread", "0", "train(getattr(model, name))\n", UNKNOWN),
        ("object", "self.spread", "0", "train(model.spread)\n", YES),
        ("tf.keras.Model", "self.spread", "0", "", YES),
        ("Base", "self.spread", "0", "", YES),
    ],
)
def test_an_attribute_that_is_only_fetched(tmp_path, base, fetched, again, other, answer):
    (tmp_path / "main.py").write_text("from model import Model\n\nmodel = Model(x)\n" + other)
    text = MODEL.format(base=base, fetched=fetched, again=again)
    assert taken(tmp_path / "model.py", text) is answer


def test_a_list_under_a_second_name(tmp_path):
    text = HEAD + (
        "def loss(x):\n    first = []\n    for group in [first]:\n"
        "        group.append(tf.sqrt(x))\n    return sum(first)\n"
    )
    assert taken(tmp_path / "train.py", text) is YES


HOOK = (
    HEAD
    + """\
def spread_loss(x):
    return tf.sqrt(tf.reduce_sum(x))


def model_fn(features):
    spread = spread_loss(features)
    {before}

    class Log(tf.train.SessionRunHook):
        def before_run(self, context{default}):
            return {run}

    return Log()


model_fn(x)
"""
)


@pytest.mark.parametrize(
    ("before", "default", "run", "answer"),
    [
        ("tf.summary.scalar('spread', spread)", "", "tf.train.SessionRunArgs([spread])", NO),
        ("tf.summary.scalar('spread', spread)", "", "optimizer.minimize(spread)", YES),
        ("tf.summary.scalar('spread', spread)", "", "spread", YES),
        ("tf.summary.scalar('spread', spread)", ", x=spread", "tf.train.SessionRunArgs([x])", YES),
        ("optimizer.minimize(spread)", "", "tf.train.SessionRunArgs([spread])", YES),
    ],
)
def test_what_a_function_inside_reads(tmp_path, before, default, run, answer):
    text = HOOK.format(before=before, default=default, run=run)
    assert taken(tmp_path / "train.py", text) is answer


OBJECT = (
    HEAD
    + """import operator, dataclasses


{before}class Task:
    def __init__(self):
        self.weights = tf.Variable(tf.ones([3]))
        self.kept = []

    def step(self, x):
        with tf.GradientTape() as tape:
            self.length = tf.sqrt(tf.reduce_sum(x * self.weights))
            print(self.length)
            loss = {loss}
        return tape.gradient(loss, [self.weights])

    def get(self, name):
        return getattr(self, name + "_loss")(x)

    {method}


Task().step(x)
"""
)
PROPERTY = """@property
    def length(self):
        return self.kept[-1]

    @length.setter
    def length(self, value):
        self.kept.append(value)
"""
HOLDER = """class Holder:
    def __set__(self, task, value):
        task.kept.append(value)


"""


@pytest.mark.parametrize(
    ("loss", "before", "method", "answer"),
    [
        ("self.kept[-1]", "", "length = 0.0", UNKNOWN),
        ("self.kept[-1]", "", PROPERTY, YES),
        ("self.kept[-1]", HOLDER, "length = Holder()", YES),
        ("operator.attrgetter('length')(self)", "", "", YES),
        ("object.__getattribute__(self, 'length')", "", "", YES),
        ("dataclasses.asdict(self)['length']", "@dataclasses.dataclass\n", "", YES),
    ],
)
def test_an_attribute_that_is_read_in_another_way(tmp_path, loss, before, method, answer):
    text = OBJECT.format(loss=loss, before=before, method=method)
    assert taken(tmp_path / "train.py", text) is answer


def test_an_attribute_that_all_assignments_see(tmp_path):
    text = OBJECT.format(
        loss="self.kept[-1]", before="", method="def __setattr__(self, name, value): keep(value)"
    ).replace('getattr(self, name + "_loss")(x)', "x")
    assert taken(tmp_path / "train.py", text) is UNKNOWN


@pytest.mark.parametrize(
    ("again", "answer"),
    [
        ("self.spread_loss(x)", YES),
        ("0.0", NO),
        ("getattr(self, name + '_loss')(x)", UNKNOWN),
        ("operator.methodcaller('spread_loss', x)(self)", YES),
        ("type(self).__dict__['spread_loss'](self, x)", YES),
    ],
)
def test_a_method_that_is_looked_up(tmp_path, again, answer):
    text = HEAD + (
        "class Task:\n    def __init__(self):\n        self.weights = tf.Variable(tf.ones([3]))\n\n"
        "    def spread_loss(self, x):\n        return tf.sqrt(x * self.weights)\n\n"
        "    def show(self, x):\n        print(self.spread_loss(x))\n\n"
        "    def step(self, x, name):\n        with tf.GradientTape() as tape:\n"
        f"            loss = {again}\n        return tape.gradient(loss, self.weights)\n\n\n"
        "task = Task()\ntask.show(x)\ntask.step(x, 'a')\n"
    )
    assert taken(tmp_path / "train.py", text) is answer


def test_a_layer_that_has_the_name_of_what_shows(tmp_path):
    text = HEAD + (
        "class Net(tf.keras.Model):\n    def build(self, shape):\n"
        "        self.float = tf.keras.layers.Dense(1)\n\n"
        "    def call(self, x):\n        return self.float(tf.sqrt(x))\n\n\n"
        "Net().fit(x, y)\n"
    )
    assert taken(tmp_path / "train.py", text) is YES


LAYER = """import tensorflow as tf


class Dice(tf.keras.layers.Layer):
    def call(self, x):
        spread = tf.sqrt(tf.reduce_mean(tf.square(x), axis=0))
        shaped = tf.reshape(spread, [1, -1])
        {}
"""


@pytest.mark.parametrize(
    ("rest", "answer"),
    [
        ("return self.bn(x)", NO),
        ("return self.bn(x) / shaped", YES),
        ("return eval('x / shaped')", YES),
        ("self.add_loss(shaped)", YES),
        ("return", YES),
    ],
)
def test_a_name_that_nothing_reads(tmp_path, rest, answer):
    assert taken(tmp_path / "layers.py", LAYER.format(rest)) is answer
