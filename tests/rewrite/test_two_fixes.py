"""Several fixes in one scope: each value keeps its own name, in every front end, and the program
computes what it did.
"""

from __future__ import annotations

import json
import re

import pytest
from two_heads import CELLS, DISTILLATION, DISTILLED, NAMED

import tfnanlint
from tfnanlint.dev import repository
from tfnanlint.syntax.source import Source

pytestmark = pytest.mark.usefixtures("suggestions_applied")

UNSAFE = {"unsafe-fixes": True}


def fixed(text: str) -> str:
    return repository.fixed(Source("x.py", text)).source.text


# ---------------------------------------------------------------------------------------------------------
# Front ends


def test_in_the_library():
    assert tfnanlint.fix(DISTILLATION).after == DISTILLED


def test_on_the_command_line(tmp_path, capsys):
    from tfnanlint.cli import main

    file = tmp_path / "x.py"
    file.write_text(DISTILLATION)
    main(["check", "--isolated", "--no-cache", "--diff", str(file)])
    added = [
        line[1:] for line in capsys.readouterr().out.splitlines() if re.match(r"\+(?!\+\+)", line)
    ]
    assert added == [
        line for line in DISTILLED.splitlines() if line not in DISTILLATION.splitlines()
    ]
    for _ in "with an empty cache and with a full one":
        file.write_text(DISTILLATION)
        main(["check", "--isolated", "--cache-dir", str(tmp_path / "cache"), "--fix", str(file)])
        assert file.read_text() == DISTILLED


def notebook(*cells: str) -> str:
    listed = [
        {
            "cell_type": "code",
            "metadata": {},
            "source": cell,
            "execution_count": None,
            "outputs": [],
        }
        for cell in cells
    ]
    return json.dumps(
        {"cells": listed, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1
    )


def fixed_notebook(*cells: str) -> list[str]:
    new = tfnanlint.fix(
        notebook(*cells).encode(), "n.ipynb", settings={**UNSAFE, "certainty": "unknown"}
    ).after
    return ["".join(cell["source"]) for cell in json.loads(new)["cells"]]


def test_the_cells_of_a_notebook_share_their_names():
    assert fixed_notebook(*CELLS) == [CELLS[0], *NAMED]


@pytest.mark.parametrize(
    "cell",
    [
        "%timeit -n 3 f(logits)",
        "!echo {logits}",
        "print logits",
        "%%bash\necho $logits",
        "def f():\n    return logits",
    ],
)
def test_a_name_that_another_cell_uses_is_not_taken(cell):
    found = fixed_notebook(*CELLS[:2], cell)
    assert found[1] == NAMED[0] and found[2] == cell


# ---------------------------------------------------------------------------------------------------------
# Rounds


def test_more_values_than_rounds_get_their_names():
    lines = [f"    p{n} = tf.nn.softmax(head({n} * x))\n" for n in range(1, 15)]
    result = " + ".join(f"tf.math.log(p{n}) * p{n}" for n in range(1, 15))
    found = repository.fixed(
        Source(
            "x.py",
            f"import tensorflow as tf\n\n\ndef f(head, x):\n{''.join(lines)}    return {result}\n",
        )
    )
    assert found.problems == [] and "p14_logits = head(14 * x)\n" in found.source.text
    assert all(f"log_softmax(p{n}_logits) * p{n}" in found.source.text for n in range(1, 15))


def test_functions_do_not_wait_for_each_other():
    text = DISTILLATION.replace("    q = tf.nn.softmax(student(x))\n", "").replace(
        " - tf.math.log(q)", ""
    )
    found = repository.fixed(
        Source(
            "x.py",
            text
            + "\n\n"
            + text.replace("import tensorflow as tf", "").replace("loss", "other").strip()
            + "\n",
        )
    )
    assert found.rounds == 1 and "logits_2" not in found.source.text


@pytest.mark.parametrize("last", ["return locals()", "return eval(x)", "return dir(), p"])
def test_what_all_names_are_shown_to_gets_no_new_one(last):
    text = f"import tensorflow as tf\n\n\ndef f(head, x):\n    p = tf.nn.softmax(head(x))\n    q = tf.math.log(p) * p\n    {last}\n"
    (found,) = [one for one in repository.findings(Source("x.py", text)) if one.code == "TFN301"]
    assert not any("log_softmax" in fix.title for fix in found.fixes)


# ---------------------------------------------------------------------------------------------------------
# Executed

PROGRAM = """
import tensorflow as tf


def first(t):
    return 2.0 * t


def second(t):
    return tf.reverse(t, [-1]) - 1.0


def distillation(x, z):
    p = tf.nn.softmax(first(x))
    q = tf.nn.softmax(second(x))
    return tf.reduce_sum(p * (tf.math.log(p) - tf.math.log(q)), axis=-1)


def ratio(x, z):
    new = tf.nn.softmax(first(x))
    old = tf.nn.softmax(first(z))
    return tf.exp(tf.math.log(new) - tf.math.log(old)) * new


def two_sigmoids(x, z):
    a = tf.sigmoid(first(x))
    b = tf.sigmoid(first(z))
    return tf.math.log(a) * b - tf.math.log(b) * a


def in_branches(x, z):
    if x.shape[0] > 100:
        p = tf.nn.softmax(second(z))
        found = tf.math.log(p) * p
    else:
        p = tf.nn.softmax(first(x))
        found = tf.math.log(p) - p
    q = tf.nn.softmax(second(x))
    return found + tf.math.log(q) * q


def in_a_loop(x, z):
    total = tf.zeros_like(x)
    for n in range(2):
        p = tf.nn.softmax(first(x) + float(n))
        q = tf.nn.softmax(second(z) * float(n))
        total += tf.math.log(p) * q - tf.math.log(q) * p
    return total


def nested(x, z):
    def inner(t):
        p = tf.nn.softmax(first(t))
        return tf.math.log(p) * p

    p = tf.nn.softmax(second(z))
    return inner(x) + tf.math.log(p) * p


def later(x, z):
    h = first(x)
    p = tf.nn.softmax(h)
    log_p = lambda: tf.math.log(p)
    h = second(z)
    q = tf.nn.softmax(h)
    return log_p() * q + tf.math.log(q) * p


def bound_again(x, z):
    h = first(x)
    p = tf.nn.softmax(h)
    h = h + second(z)
    q = tf.nn.softmax(h)
    del h
    return tf.math.log(p) * q - tf.math.log(q) * p


def with_walrus(x, z):
    p = tf.nn.softmax(h := first(x))
    h = 2.0 * h
    return tf.math.log(p) * h


def caught(x, z):
    p = tf.nn.softmax(first(x))
    try:
        raise ValueError
    except ValueError as logits:
        q = tf.nn.softmax(second(z))
    return tf.math.log(p) - tf.math.log(q)


def in_a_branch(x, z):
    t = first(x)
    if z.shape[0] > 100:
        h = t
    p = tf.nn.softmax(t)
    t = second(z)
    return tf.math.log(p) * t


def in_a_try(x, z):
    t = first(x)
    try:
        int("no number")
        h = t
    except ValueError:
        pass
    p = tf.nn.softmax(t)
    t = second(z)
    return tf.math.log(p) * t


def deleted(x, z):
    t = h = first(x)
    if z.shape[0] < 100:
        del h
    p = tf.nn.softmax(t)
    t = second(z)
    return tf.math.log(p) * t


def unbound(x, z):
    h = first(x)
    p = tf.nn.softmax(h)
    try:
        int("no number")
    except ValueError as h:
        pass
    return tf.math.log(p) * z


def bound_inside(x, z):
    h = first(x)
    p = tf.nn.softmax(h)

    def change():
        nonlocal h
        h = second(z)

    change()
    return tf.math.log(p) * h


def later_than_bound(x, z):
    p = tf.nn.softmax(first(x))
    log_p = lambda: tf.math.log(p)
    p = tf.nn.relu(second(z)) + 1.0
    return log_p() * p


def rounds(x, z):
    h = first(x)
    p = tf.nn.softmax(h)
    for n in range(3):
        z += tf.math.log(p) * h
        h = second(h)
    return z


class Agent:
    scale = 2.0

    def grow(self):
        self.scale = self.scale + 1.0

    def head(self, t):
        return t * self.scale

    def loss(self, x, z):
        p = tf.nn.softmax(self.head(x))
        self.grow()
        q = tf.nn.softmax(self.head(z))
        return tf.math.log(p) * q - tf.math.log(q) * p

    def attribute(self, x, z):
        self.h = first(x)
        p = tf.nn.softmax(self.h)
        self.renew(z)
        return tf.math.log(p) * self.h

    def renew(self, z):
        self.h = first(z)


def method(x, z):
    return Agent().loss(x, z)


def attribute(x, z):
    return Agent().attribute(x, z)


def norms(x, z):
    with tf.GradientTape() as tape:
        tape.watch([x, z])
        a = tf.norm(first(x) - second(z), axis=-1)
        b = tf.norm(second(x) + first(z), axis=-1)
        found = a * 2.0 - b
    return tape.gradient(found, [x, z])
"""
ONLY_EAGER = """
import numpy as np
import tensorflow as tf


def assigned(x, z):
    v = tf.Variable(x)
    p = tf.nn.softmax(v)
    v.assign(z)
    return tf.math.log(p) * v


def added(x, z):
    v = tf.Variable(x)
    e = tf.exp(v)
    v.assign_add(z)
    return tf.math.log(tf.reduce_sum(e)) * v


def written(x, z):
    return given(x.numpy())


def given(w):
    p = tf.nn.softmax(w)
    w[0] = 1.0
    return tf.math.log(p) * w


def scaled(x, z):
    w = np.exp(x.numpy())
    p = tf.nn.softmax(w)
    w *= 2.0
    return tf.math.log(p) * w


def appended(x, z):
    return last([x, z])


def last(xs):
    p = tf.nn.softmax(xs[-1])
    xs.append(0.5 * xs[-1])
    return tf.math.log(p) * xs[-1]


class Holder:
    def __init__(self, x):
        self.h = tf.Variable(x)

    def step(self):
        self.h.assign(self.h * 0.5)


def stepped(x, z):
    return of_another(Holder(x))


def of_another(other):
    p = tf.nn.softmax(other.h)
    other.step()
    return tf.math.log(p) * other.h


def handed_on(x, z):
    def change(d):
        d["p"] = tf.exp(z)

    return of_a_dict(change, x)


def of_a_dict(change, x):
    d = {"p": tf.nn.softmax(2.0 * x)}
    change(d)
    return tf.math.log(d["p"]) * d["p"]


def in_turn(x, z):
    return taken(iter([x, z, x + z, x - z]))


def taken(values):
    p = tf.nn.softmax(next(values))
    q = tf.nn.softmax(next(values))
    return tf.math.log(p) * next(values) - tf.math.log(q) * next(values)


def at_random(x, z):
    tf.random.set_seed(1)
    u = tf.random.normal([3])
    p = tf.nn.softmax(tf.random.normal([3]) * x)
    q = tf.nn.softmax(tf.random.normal([3]) * z)
    return tf.math.log(p) * u - tf.math.log(q) * tf.random.normal([3])


def in_one_statement(x, z):
    tf.random.set_seed(1)
    with tf.GradientTape() as tape:
        tape.watch(x)
        found = tf.norm(tf.random.normal([3]) * x) - tf.norm(tf.random.normal([3]) * x)
    return tape.gradient(found, x)


def bound_on_the_way(x, z):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = z
        found = (y := 2.0 * x) * tf.norm(y - 1.0)
    return tape.gradient(found, x)
"""


def functions(text: str) -> list[str]:
    return re.findall(r"^def (\w+)\(x, z\)", text, re.M)


def defined(text: str, name: str):
    names: dict = {"__name__": "program"}
    exec(compile(text, "program", "exec"), names)
    return names[name]


@pytest.fixture(scope="module")
def programs():
    return {text: fixed(text) for text in (PROGRAM, ONLY_EAGER)}


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    "text, name", [(text, name) for text in (PROGRAM, ONLY_EAGER) for name in functions(text)]
)
def test_values_and_gradients_stay(programs, text, name):
    tf = pytest.importorskip("tensorflow")
    import numpy as np

    x, z = (
        tf.constant([[0.5, -1.0, 2.0], [1.0, 0.25, -0.5]]),
        tf.constant([[-0.3, 1.0, 0.2], [0.7, -0.4, 0.1]]),
    )
    if name not in ("second", "first", "with_walrus") and text is PROGRAM:
        assert programs[text] != text
    for mode in (None, {}, {"jit_compile": True}) if text is PROGRAM else (None,):
        found = []
        for program in (text, programs[text]):
            function = defined(program, name)
            run = function if mode is None else tf.function(function, **mode)
            with tf.GradientTape() as tape:
                tape.watch([x, z])
                value = run(x, z)
            flat = tf.nest.flatten(value)
            slopes = (
                tape.gradient(flat, [x, z], unconnected_gradients="zero")
                if text is PROGRAM and name != "norms"
                else []
            )
            found.append([np.asarray(one) for one in (*flat, *slopes)])
        for before, after in zip(*found, strict=True):
            np.testing.assert_allclose(
                after, before, rtol=1e-5, atol=1e-6, err_msg=f"{name} {mode}\n{programs[text]}"
            )
