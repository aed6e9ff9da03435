"""Which classes an object may be of whose method code calls: a call of another class's method of the
same name does not make one run. What is not followed may be of any.
"""

from __future__ import annotations

import pytest
from reached import HEAD, MAIN, put, reason

NETS = (
    HEAD
    + "class Dead:\n    def train(self, z):\n        return tf.math.log(tf.nn.softmax(z))\n\n\n"
    + "class Live:\n    def train(self, z):\n        return z\n\n"
    + "    def again(self, z):\n        return self.train(z)\n\n\n"
)
HEADER = "import tensorflow as tf\nimport nets\nfrom nets import Dead, Live\n\n\n"
CALLED = "nothing in this program calls `train`"


def why(folder, train, nets=NETS):
    return reason(folder, "nets.py", {"nets.py": nets, "train.py": HEADER + train})


@pytest.mark.parametrize(
    "body",
    [
        "net = Live(); net.train(dead)",
        "Live().train(dead)",
        "nets.Live().again(dead)",
        "net = kind = Live; kind().train(dead)",
        "net, old = Live(), dead; net.train(1)",
        "net = Live() if dead else None; net and net.train(1)",
        "make(); make().train(dead)",
        "use(Live(), dead)",
        "Holder(Live()).run(dead)",
        "model = tf.keras.Sequential(); model.train(dead)",
        "(net := Live()).train(dead)",
    ],
)
def test_a_method_of_another_class(folder, body):
    more = (
        "def make():\n    return Live()\n\n\n"
        "def use(net, z):\n    return net.train(z)\n\n\n"
        "class Holder:\n    def __init__(self, net):\n        self.net = net\n\n"
        "    def run(self, z):\n        return self.net.train(z)\n\n\n"
    )
    main = MAIN.format("main()")
    text = f"{more}def main():\n    dead = Dead()\n    {body}\n\n\n{main}"
    assert why(folder, text).endswith("`train`")
    alive = body.replace("Live", "Dead").replace("tf.keras.Sequential", "Dead")
    text = f"{more.replace('Live', 'Dead')}def main():\n    dead = Dead()\n    {alive}\n\n\n{main}"
    assert why(folder, text) == "" or "again" in body


@pytest.mark.parametrize(
    "body",
    [
        "for net in [dead]: net.train(1)",
        "nets = {'a': dead}; nets['a'].train(1)",
        "net, old = pair(dead); net.train(1)",
        "net = copy.copy(dead); net.train(1)",
        "net = tf.wrap(dead); net.train(1)",
        "net = Live(); net = dead; net.train(1)",
        "net = Live(); net.train = dead.train",
        "getattr(dead, 'train')(1)",
        "list(map(lambda net: net.train(1), [dead]))",
        "held = Live(); held.net = dead; held.net.train(1)",
        "with dead as net: net.train(1)",
        "Wrapped(dead).train(1)",
    ],
)
def test_what_is_not_followed_may_be_of_any_class(folder, body):
    more = (
        "import copy\n\n\n"
        "def pair(one):\n    return one, one\n\n\n"
        "class Wrapped:\n    def __init__(self, net):\n        self.net = net\n\n"
        "    def __getattr__(self, name):\n        return getattr(self.net, name)\n\n\n"
    )
    main = MAIN.format("main()")
    assert why(folder, f"{more}def main():\n    dead = Dead()\n    {body}\n\n\n{main}") == ""


@pytest.mark.parametrize(
    ("heir", "call", "is_called"),
    [
        ("class Heir(Dead):\n    pass\n", "Heir().train(1)", True),
        ("class Heir(Live, Dead):\n    pass\n", "Heir().train(1)", True),
        (
            "class Heir(Dead):\n    def train(self, z):\n        return z\n",
            "Heir().train(1)",
            False,
        ),
        (
            "class Heir(Dead):\n    def train(self, z):\n        return super().train(z)\n",
            "Heir().train(1)",
            True,
        ),
        (
            "class Heir(Live, Dead):\n    def fit(self, z):\n        return super().train(z)\n",
            "Heir().fit(Dead())",
            True,
        ),
        (
            "class Heir(Live):\n    def fit(self, z):\n        return super(Heir, self).train(z)\n",
            "Heir().fit(Dead())",
            False,
        ),
        ("class Heir(gym.Wrapper):\n    pass\n", "Heir(Dead()).train(1)", True),
    ],
)
def test_heirs(folder, heir, call, is_called):
    text = f"import gym\n\n\n{heir}\n\n{MAIN.format(f'print(Dead(), {call})')}"
    assert why(folder, text) == ("" if is_called else CALLED)


def test_a_variable_of_the_name_of_a_function(folder):
    losses = HEAD + "def risky(z):\n    return tf.math.log(tf.nn.softmax(z))\n\n\n"
    live = "def live(z):\n    risky = z\n    return risky + z.risky\n\n\n"
    called = "nothing in this program calls `risky`"
    main = MAIN.format("live(1)")
    assert reason(folder, "train.py", {"train.py": losses + live + main}) == called
    used = live.replace("risky = z", "other = risky")
    assert reason(folder, "train.py", {"train.py": losses + used + main}) == ""
    shared = live.replace("risky = z", "global risky\n    risky(z)")
    assert reason(folder, "train.py", {"train.py": losses + shared + main}) == ""


def test_what_runs_behind_an_import_that_fails(folder):
    put(folder, {"layers.py": "def dense(z):\n    return z\n"})
    text = "from layers import {}\n\nnet = Dead()\nnet.train(1)\n"
    assert why(folder, text.format("dense")) == ""
    assert why(folder, text.format("conv")) == "nothing in this program calls `Dead`"
    tried = (
        "try:\n    from layers import conv\nexcept ImportError:\n    conv = None\nDead().train(1)\n"
    )
    assert why(folder, tried) == ""
    for more in (
        "from other import *\n",
        "globals()['conv'] = 1\n",
        "def __getattr__(name): ...\n",
    ):
        put(folder, {"layers.py": more, "other.py": "conv = 1\n"})
        assert why(folder, text.format("conv")) == ""


@pytest.mark.parametrize(
    ("before", "stops"),
    [
        ("missing.fit(1)", True),
        ("Live().fit(1)", False),
        ("live = Live()\nlive.fit(1)", True),
        ("live = Live()\nlive.again(1)", False),
        ("live = Live()\nlive.fit = print\nlive.fit(1)", False),
        ("live = Live()\nprint(lambda: live.fit(1))", False),
        ("live = Live()\nif live.again(1): live.fit(1)", False),
        ("print(xrange(3))", False),
        ("print(__file__)", False),
    ],
)
def test_what_runs_behind_a_name_or_an_attribute_that_nothing_defines(folder, before, stops):
    dead = "nothing in this program calls `Dead`" if stops else ""
    assert why(folder, f"{before}\nDead().train(1)\n") == dead


def test_names_in_a_function_that_is_defined_twice_are_not_told(folder):
    step = "def step(z):\n    y = z\n    return Dead().train(y)\n\n\n"
    assert why(folder, step + "step(1)\n\n\n" + step + "step(2)\n") == ""
