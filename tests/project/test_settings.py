"""What a project works with: the constant that its fixes write, its modes, its oldest TensorFlow."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace

import outcomes
import pytest

from tfnanlint.config.layers import Policy
from tfnanlint.dev import repository
from tfnanlint.diagnostics.findings import Certainty, Setup, release
from tfnanlint.pipeline.check import check_source
from tfnanlint.pipeline.fix import fix_source
from tfnanlint.report import json
from tfnanlint.rewrite.epsilons import USES, epsilon
from tfnanlint.rule import registry as rules
from tfnanlint.syntax.source import Source
from tfnanlint.values.value import FLOATS, SMALLEST, rounded

HEAD = "import tensorflow as tf\n\n\ndef loss(x):\n"


def policy(setup: Setup) -> Policy:
    return Policy(
        rules=tuple(rules.load()),
        certainty=None,
        idle=False,
        unsafe_fixes=True,
        known={one.code: one for one in rules.load()},
        setup=setup,
    )


def fixed(line: str, setup: Setup) -> str:
    """What a line becomes."""
    source = Source("a.py", f"{HEAD}    with tf.GradientTape() as tape:\n        return {line}\n")
    settings = policy(setup)
    result = fix_source(
        source, lambda one: list(check_source(one, settings).findings), lambda fix: True
    )
    return result.source.text.splitlines()[-1].strip().removeprefix("return ")


@pytest.mark.parametrize(
    "line, configured, wanted",
    [
        ("tf.math.log(tf.nn.relu(x))", 1e-7, "tf.math.log(tf.maximum(tf.nn.relu(x), 1e-37))"),
        ("tf.math.log(tf.nn.relu(x))", 2.5e-6, "tf.math.log(tf.maximum(tf.nn.relu(x), 2.5e-6))"),
        # 1e-5 in float16: the derivative of the logarithm there is above 65504.
        (
            "tf.math.log(tf.nn.relu(tf.cast(x, tf.float16)))",
            1e-5,
            "tf.math.log(tf.maximum(tf.nn.relu(tf.cast(x, tf.float16)), 1e-4))",
        ),
        (
            "tf.math.log(tf.nn.relu(tf.cast(x, tf.float16)))",
            1e-3,
            "tf.math.log(tf.maximum(tf.nn.relu(tf.cast(x, tf.float16)), 1e-3))",
        ),
        ("tf.sqrt(tf.nn.relu(x))", 1e-7, "tf.sqrt(tf.nn.relu(x) + 1e-12)"),
        ("tf.sqrt(tf.nn.relu(x))", 1e-5, "tf.sqrt(tf.nn.relu(x) + 1e-8)"),
        # 1 - 1e-8 is 1
        (
            "tf.acos(tf.tanh(x))",
            1e-8,
            "tf.acos(tf.clip_by_value(tf.tanh(x), -1.0 + 1e-7, 1.0 - 1e-7))",
        ),
    ],
)
def test_fixes_write_the_configured_epsilon_where_the_dtype_holds_it(line, configured, wanted):
    assert fixed(line, Setup(epsilon=configured)) == wanted


@pytest.mark.parametrize("configured", [1e-19, 1e-12, 1e-7, 1e-4, 1e-2])
@pytest.mark.parametrize("dtype", FLOATS)
def test_no_epsilon_vanishes_or_overflows(dtype, configured):
    value = {use: rounded(float(epsilon(use, dtype, configured)), dtype) for use in USES}
    assert all(one > SMALLEST[dtype] for one in value.values())
    largest = FLOATS[dtype].max
    assert 1 / value["floor"] < largest and value["inverse root"] ** -1.5 < 2 * largest
    assert value["divisor"] ** -2 < largest and value["squares"] ** -2 < largest
    assert rounded(1 - value["margin"], dtype) < 1 < rounded(1 + value["margin"], dtype)


@pytest.mark.tensorflow
@pytest.mark.parametrize("dtype", FLOATS)
def test_tensorflow_keeps_every_epsilon(dtype):
    tf = pytest.importorskip("tensorflow")
    used = {
        "floor": tf.math.log,
        "divisor": tf.math.reciprocal,
        "squares": tf.math.reciprocal,
        "root": tf.sqrt,
        "inverse root": tf.math.rsqrt,
    }
    for configured in (1e-19, 1e-7, 1e-3):
        for use, op in used.items():
            x = tf.constant(float(epsilon(use, dtype, configured)), dtype)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = op(x)
            assert math.isfinite(float(y)) and math.isfinite(float(tape.gradient(y, x))), (
                use,
                configured,
            )
        margin = tf.constant(float(epsilon("margin", dtype, configured)), dtype)
        assert float(tf.ones([], dtype) - margin) < 1 < float(tf.ones([], dtype) + margin)


def found(body: str, setup: Setup) -> list[str]:
    return [one.code for one in check_source(Source("a.py", HEAD + body), policy(setup)).findings]


def test_what_shows_only_in_other_modes_is_not_reported():
    body = (
        "    with tf.GradientTape() as tape:\n        s = tf.reduce_sum(tf.square(x))\n        "
        "return tf.where(s > 0, tf.sqrt(s), 0.0)\n"
    )
    assert found(body, Setup()) == found(body, Setup(modes=frozenset(("eager", "xla")))) != []
    assert found(body, Setup(modes=frozenset(("eager", "graph")))) == []


def test_hazards_of_old_releases_are_reported_for_old_targets():
    body = "    with tf.GradientTape() as tape:\n        s, u, v = tf.linalg.svd(x)\n        return tf.reduce_sum(u)\n"
    assert found(body, Setup()) == found(body, Setup(tensorflow=(2, 1))) == []
    assert found(body, Setup(tensorflow=(1, 15))) == ["TFN108"]
    source = Source("a.py", HEAD + body)
    assert (
        "(before TensorFlow 2.1)"
        in check_source(source, policy(Setup(tensorflow=(2, 0)))).findings[0].message
    )


def test_releases():
    assert release("2.10") > release("2.9.1") > release("1.15")
    for text in ("2", "two", "2.x", "3.0", ""):
        with pytest.raises(ValueError):
            release(text)


# What a message says where not all modes, machines and releases are concerned.
_SAID = {
    "eager": ("eager", "line by line"),
    "graph": ("graph", "tf.function", "compiled", "optimi"),
    "gpu": ("GPU",),
    "xla": ("XLA", "compiled", "jit_compile"),
}


@pytest.mark.parametrize("rule", rules.load(), ids=lambda one: one.slug)
def test_findings_in_some_modes_only_say_so(rule):
    path = repository.fixture(rule)
    for finding in outcomes.findings(Source.from_bytes(path.name, path.read_bytes()), [rule]):
        if finding.code == rule.code and set(finding.modes) < {"eager", "graph", "xla"}:
            assert any(
                word in finding.message + finding.help
                for mode in finding.modes
                for word in _SAID[mode]
            ), finding.message


MASKED = "    s = tf.nn.relu(x)\n    return tf.where(s > 0, {}, tf.zeros_like(s))\n"
COMPILED = "    return tf.debugging.check_numerics(x, 'x')\n\n\nfast = tf.function(loss, jit_compile=True)\n"
IN_A_GRAPH = "    p = tf.compat.v1.placeholder(tf.float32)\n    tf.debugging.check_numerics(p, 'p')\n    return p\n"
LABELS = "    z = tf.keras.layers.Dense(3)(x)\n    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.constant([1, 3]), logits=z)\n"
FACTORED = "    with tf.GradientTape() as tape:\n        {}\n        return tf.reduce_sum(u)\n"


@pytest.mark.parametrize(
    "body, code, modes, fixed_in",
    [
        (MASKED.format("tf.sqrt(s)"), "TFN204", ["xla"], None),
        (MASKED.format("tf.math.rsqrt(s)"), "TFN204", ["xla"], None),
        (MASKED.format("tf.math.reciprocal(s)"), "TFN204", ["xla"], None),
        (
            "    s = tf.nn.relu(x)\n    return tf.cast(s > 0, tf.float32) * tf.sqrt(s)\n",
            "TFN207",
            ["xla"],
            None,
        ),
        (
            "    y = tf.tanh(x)\n    return y / (tf.norm(y) + 1e-8)\n\n\nfast = tf.function(loss, jit_compile=True)\n",
            "TFN404",
            ["xla"],
            None,
        ),
        ("    return tf.math.log(1.0 - tf.sigmoid(x) + 1e-8)\n", "TFN402", ["graph", "xla"], None),
        (COMPILED, "TFN902", ["xla"], None),
        (IN_A_GRAPH, "TFN406", ["graph"], None),
        (LABELS, "TFN505", ["xla", "gpu"], None),
        (FACTORED.format("s, u, v = tf.linalg.svd(x)"), "TFN108", ["eager", "graph", "xla"], "2.1"),
        (FACTORED.format("e, u = tf.linalg.eigh(x)"), "TFN108", ["eager", "graph", "xla"], "2.4"),
    ],
)
def test_json_and_message_say_where_a_hazard_shows(body, code, modes, fixed_in):
    source = Source("a.py", HEAD + body)
    found = {
        one.code: one for one in check_source(source, policy(Setup(tensorflow=(1, 15)))).findings
    }
    shown = json.as_dict(found[code], source)
    assert (shown["modes"], shown["fixed_in"]) == (modes, fixed_in)
    said = shown["message"] + found[code].help
    assert set(modes) == {"eager", "graph", "xla"} or all(
        any(word in said for word in _SAID[mode]) for mode in modes
    ), said
    assert fixed_in is None or f"before TensorFlow {fixed_in}" in said
    left = {
        one.code
        for one in check_source(
            source,
            policy(
                Setup(
                    modes=frozenset({"eager", "graph", "xla", "gpu"} - set(modes) or {"gpu"}),
                    tensorflow=(1, 15),
                )
            ),
        ).findings
    }
    assert code not in left
    newest = {one.code for one in check_source(source, policy(Setup())).findings}
    assert (code in newest) == (fixed_in is None)


def test_what_only_xla_shows_is_left_out_where_nobody_names_it():
    """`TFN404` in a file without Keras and without jit_compile; `--certainty unknown` shows it."""
    body = "    y = tf.tanh(x)\n    return y / (tf.norm(y) + 1e-8)\n"
    assert "TFN404" not in found(body, Setup())
    assert "TFN404" in found(body + "\n\nfast = tf.function(loss, jit_compile=True)\n", Setup())


DOUBTED = {
    "a gap in a curve": (
        "    n = tf.reduce_sum(tf.nn.relu(x))\n    tf.summary.scalar('share', 1.0 / n)\n",
        "TFN102",
    ),
    "also through a name": (
        "    n = tf.reduce_sum(tf.nn.relu(x))\n    y = 1.0 / n\n    tf.summary.scalar('share', y)\n",
        "TFN102",
    ),
    "NaN is looked for": (
        "    y = tf.reduce_sum(x) / tf.reduce_sum(tf.nn.relu(x))\n    if not tf.math.is_nan(y):\n        print(y)\n",
        "TFN102",
    ),
    "Inf is looked for": (
        "    y = tf.math.log(tf.reduce_sum(tf.nn.relu(x)))\n    return tf.math.is_finite(y), y\n",
        "TFN101",
    ),
}


@pytest.mark.parametrize("body, code", DOUBTED.values(), ids=DOUBTED)
def test_what_a_rule_doubts_is_left_out_and_counted(body, code):
    """Not lost without a word: the run says how many, and `--certainty unknown` shows them."""
    source = Source("a.py", HEAD.replace("loss", "show") + body)
    default = policy(Setup())
    checked = check_source(source, default)
    assert (code not in {one.code for one in checked.findings}, checked.unsure) == (True, 1)
    asked = check_source(source, replace(default, certainty=Certainty.UNKNOWN))
    assert code in {one.code for one in asked.findings} and not asked.unsure
    kept = check_source(
        Source(
            "a.py",
            source.text.replace("tf.summary.scalar('share', ", "return (")
            .replace("is_nan", "abs")
            .replace("is_finite", "abs"),
        ),
        default,
    )
    assert code in {one.code for one in kept.findings}


FIRST_VERSION = """\
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 4])
z = tf.matmul(x, tf.Variable(tf.ones([4, 4])))
m = tf.nn.relu(z)
loss = tf.truediv(tf.reduce_sum(z * m), tf.reduce_sum(m)) + tf.log(1.0 + tf.exp(z))
train = tf.train.AdamOptimizer().minimize(loss)
"""


def test_files_written_for_tensorflow_1_get_names_that_it_has():
    """`tf.div_no_nan` came with 1.12 and `tf.math.softplus` with 1.5; `tf.placeholder` is not in
    TensorFlow 2.
    """

    def offered(text: str) -> str:
        return " ".join(
            edit.text
            for one in check_source(Source("a.py", text), policy(Setup())).findings
            for fix in one.fixes[:1]
            for edit in fix.edits
        )

    assert "no_nan" not in offered(FIRST_VERSION) and "tf.nn.softplus" in offered(FIRST_VERSION)
    later = FIRST_VERSION.replace("tf.train.", "tf.compat.v1.train.")
    later = later.replace("tf.placeholder", "tf.keras.Input").replace("tf.log", "tf.math.log")
    second = offered(later)
    assert "tf.math.divide_no_nan" in second and "tf.math.softplus" in second


@pytest.mark.parametrize(
    "taken_away, shown",
    [("(tf.cos(x) / tf.cos(0.5 * x)) ** 2", False), ("(3.0 * tf.cos(x)) ** 2", True)],
)
def test_a_ratio_under_a_root_is_doubtful(taken_away, shown):
    """`TFN103`: two rates of one schedule, where nothing says which is larger; three cosines do go
    beyond 1.
    """
    checked = check_source(
        Source(
            "a.py",
            HEAD
            + f"    with tf.GradientTape() as tape:\n        tape.watch(x)\n        y = tf.sqrt(1.0 - {taken_away})\n"
            "    return tape.gradient(y, x)\n",
        ),
        policy(Setup()),
    )
    assert ("TFN103" in {one.code for one in checked.findings}, checked.unsure) == (
        shown,
        int(not shown),
    )


@pytest.mark.parametrize(
    "degree, shown",
    [("degrees_of(x)", False), ("tf.reduce_sum(degrees_of(x))", False), ("tf.reduce_sum(x)", True)],
)
def test_a_masked_quotient_by_what_a_call_gives_is_doubtful(degree, shown):
    """`TFN204`: whether there is a gradient behind a call that cannot be followed nothing says."""
    checked = check_source(
        Source(
            "a.py",
            HEAD
            + f"    with tf.GradientTape() as tape:\n        tape.watch(x)\n        d = {degree}\n"
            "        y = tf.reduce_sum(x * tf.where(d > 0.0, 1.0 / d, 0.0))\n    return tape.gradient(y, x)\n",
        ),
        policy(Setup()),
    )
    assert ("TFN204" in {one.code for one in checked.findings}, checked.unsure) == (
        shown,
        int(not shown),
    )


COMPILED_FOR_A_TEST = """\
import keras


def model_without_softmax():
    model = keras.Sequential([keras.layers.Dense(3)])
    model.compile("sgd", "categorical_crossentropy")
    return model
"""


@pytest.mark.parametrize(
    "path, more, shown",
    [
        ("conftest.py", "", False),
        ("models.py", "", True),
        ("conftest.py", "\n\ndef test_it(model, x, y):\n    model.fit(x, y)\n", True),
    ],
)
def test_a_model_that_tests_only_compile_is_doubtful(path, more, shown):
    """No code computes its loss: `TFN503` is left out and counted."""
    checked = check_source(Source(path, COMPILED_FOR_A_TEST + more), policy(Setup()))
    assert ("TFN503" in {one.code for one in checked.findings}, checked.unsure) == (
        shown,
        int(not shown),
    )


IN_TESTS = "import tensorflow as tf\n\n\ndef test_it(z):\n    x = tf.Variable([0.1, 0.2])\n    with tf.GradientTape() as tape:\n        y = {}\n    return tape.gradient(y, x)\n"


@pytest.mark.parametrize(
    "code, body",
    [
        ("TFN101", "tf.math.log(tf.nn.relu(x))"),
        ("TFN101", "tf.math.log(z)"),
        ("TFN102", "1.0 / tf.nn.relu(x)"),
    ],
)
@pytest.mark.parametrize("path", ["test_values.py", "values.py"])
def test_a_test_computes_with_numbers_of_its_own(path, code, body):
    """What may be 0 in general is left out of files of tests, and counted: of 23 such findings none
    was right.
    """
    checked = check_source(Source(path, IN_TESTS.format(body)), policy(Setup()))
    assert (code in {one.code for one in checked.findings}, checked.unsure > 0) == (
        path == "values.py",
        path != "values.py",
    )


@pytest.mark.parametrize("path, shown", [("test_values.py", False), ("values.py", True)])
def test_the_float_type_of_a_test_is_doubtful(path, shown):
    """`TFN403`: it looks at dtypes, and computes no cross-entropy."""
    checked = check_source(
        Source(
            path,
            "from keras import backend as K\n\n\ndef test_it():\n    K.set_floatx('float16')\n",
        ),
        policy(Setup()),
    )
    assert ("TFN403" in {one.code for one in checked.findings}, checked.unsure) == (
        shown,
        int(not shown),
    )


def test_what_is_surely_wrong_in_a_test_is_reported():
    checked = check_source(
        Source("test_values.py", IN_TESTS.format("1.0 / tf.reduce_sum(tf.zeros(3))")),
        policy(Setup()),
    )
    assert [one.code for one in checked.findings] == ["TFN102"]


NEAREST = {  # what is doubted, and the nearest that is not
    "what an object worked out": (
        "TFN101",
        "    return tf.math.log(x.variance_at(0))\n",
        "    return 2.0 + tf.math.log(x)\n",
    ),
    "a name for the logarithm": (
        "TFN101",
        "    return tf.math.log(x)\n",
        "    return -tf.math.log(x)\n",
    ),
    "a name for a logarithm to another base": (
        "TFN101",
        "    x = tf.convert_to_tensor(x)\n    dtype = x.dtype\n    x = tf.cast(x, dtype)\n    return tf.math.log(x) / tf.math.log(tf.constant(2.0, dtype))\n",
        "    x = tf.gather(x, 0)\n    return tf.math.log(x) / tf.math.log(2.0)\n",
    ),
    "a scale by its name": (
        "TFN101",
        "    sigma = x\n    return x - tf.math.log(2.0 * sigma)\n",
        "    return x - tf.math.log(2.0 * x)\n",
    ),
    "a scale as a factor": (
        "TFN101",
        "    rate = x\n    return 2.0 * tf.math.log(rate)\n",
        "    rate = x\n    return tf.size(x) * tf.math.log(rate)\n",
    ),
    "the diagonal of a matrix": (
        "TFN101",
        "    return 2.0 + tf.math.log(tf.linalg.diag_part(x))\n",
        "    return 2.0 + tf.math.log(tf.abs(tf.linalg.diag_part(x)))\n",
    ),
    "a spread of everything": (
        "TFN102",
        "    return x / tf.math.reduce_std(x)\n",
        "    return x / tf.math.reduce_std(x, axis=0)\n",
    ),
    "a sum of what is clipped only afterwards": (
        "TFN102",
        "    return tf.clip_by_value(x / tf.reduce_sum(x, axis=-1), 1e-7, 1.0)\n",
        "    x = tf.nn.relu(x)\n    return tf.clip_by_value(x / tf.reduce_sum(x, axis=-1), 1e-7, 1.0)\n",
    ),
    "what is only compared": (
        "TFN102",
        "    hard = x / tf.reduce_sum(tf.nn.relu(x)) >= 2.0\n    return tf.cast(hard, tf.float32)\n",
        "    share = x / tf.reduce_sum(tf.nn.relu(x))\n    return tf.cast(share >= 2.0, tf.float32), share\n",
    ),
    "what is only compared, through a name": (
        "TFN102",
        "    share = x / tf.reduce_sum(tf.nn.relu(x))\n    return tf.greater(share, 0.5)\n",
        "    share = x / tf.reduce_sum(tf.nn.relu(x))\n    return share > tf.reduce_mean(share)\n",
    ),
    "what callers only compare": (
        "TFN102",
        "    share = x / tf.reduce_sum(tf.nn.relu(x))\n    return share\n\n\n"
        "def hard(y):\n    share = show(y)\n    return tf.cast(share >= 2.0, tf.float32)\n",
        "    share = x / tf.reduce_sum(tf.nn.relu(x))\n    return share\n\n\n"
        "def hard(y):\n    share = show(y)\n    return tf.cast(share >= 2.0, tf.float32), show(2.0 * y)\n",
    ),
    "what callers compare of what is returned as it is": (
        "TFN102",
        "    return x / tf.reduce_sum(tf.nn.relu(x))\n\n\ndef hard(y):\n    return show(y) >= 2.0\n",
        "    return tf.cumsum(x / tf.reduce_sum(tf.nn.relu(x)))\n\n\ndef hard(y):\n    return show(y) >= 2.0\n",
    ),
    "a mean of squares": (
        "TFN102",
        "    return x / tf.sqrt(tf.reduce_mean(tf.square(x), axis=-1))\n",
        "    return x / tf.sqrt(tf.reduce_mean(tf.nn.relu(x), axis=-1))\n",
    ),
    "a softplus of a weight": (
        "TFN304",
        "    w = tf.Variable(tf.zeros([3]))\n    return x * tf.math.log(1.0 + tf.exp(-w))\n",
        "    w = tf.Variable(tf.zeros([3]))\n    return tf.math.log(1.0 + tf.exp(-w * x))\n",
    ),
    "a softplus of a weight that is not in 16 bits": (
        "TFN304",
        "    w = tf.Variable(tf.zeros([3], tf.float32))\n    return x * tf.math.log(1.0 + tf.exp(w))\n",
        "    w = tf.Variable(tf.zeros([3], tf.float16))\n    return x * tf.math.log(1.0 + tf.exp(w))\n",
    ),
    "a density that is tested": (
        "TFN312",
        "    y = tf.math.log(x.prob(3.0))\n    return tf.where(tf.math.is_inf(y), -1e32, y)\n",
        "    return tf.math.log(x.prob(3.0))\n",
    ),
}


@pytest.mark.parametrize("code, body, nearest", NEAREST.values(), ids=NEAREST)
def test_what_a_rule_doubts_has_a_nearest_that_it_reports(code, body, nearest):
    found, kept = (
        check_source(Source("a.py", HEAD.replace("loss", "show") + one), policy(Setup()))
        for one in (body, nearest)
    )
    assert code not in {one.code for one in found.findings} and found.unsure
    assert code in {one.code for one in kept.findings}


@pytest.mark.parametrize("called, shown", [("distance_of", False), ("abs", True), ("tf.abs", True)])
def test_what_follows_a_call_that_nobody_defines_is_doubtful(called, shown):
    """`TFN101`: the function raises NameError before it comes to the logarithm."""
    checked = check_source(
        Source(
            "a.py",
            HEAD
            + f"    with tf.GradientTape() as tape:\n        tape.watch(x)\n        d = {called}(x)\n"
            "        y = tf.math.log(tf.nn.relu(d))\n    return tape.gradient(y, x)\n",
        ),
        policy(Setup()),
    )
    assert not checked.findings if not shown else "TFN101" in {one.code for one in checked.findings}


@pytest.mark.parametrize("given, shown", [("encoder(x)", False), ("x - tf.gather(x, [0])", True)])
def test_the_direction_of_what_could_not_be_followed_is_doubtful(given, shown):
    """`TFN201`: what a model computes has a bias at its end; a difference may be 0."""
    checked = check_source(
        Source(
            "a.py",
            "import tensorflow as tf\n\n\ndef _similar(a, b):\n    return tf.norm(a, axis=-1) * b\n\n\n"
            "def step(x, encoder):\n    with tf.GradientTape() as tape:\n        tape.watch(x)\n"
            f"        y = _similar({given}, x)\n    return tape.gradient(y, x)\n",
        ),
        policy(Setup()),
    )
    assert ("TFN201" in {one.code for one in checked.findings}, checked.unsure) == (
        shown,
        int(not shown),
    )


OF_A_SCENE = """\
import tensorflow as tf


class Scene:
    def __init__(self, other=None, edges=None):
        self.normals = other.normals if other is not None else tf.Variable(edges, trainable=False)

    def angles(self, index, x):
        n = tf.gather(self.normals, index)
        return tf.acos(tf.clip_by_value(tf.reduce_sum(n * FACTOR, -1), -1.0, 1.0))
"""


@pytest.mark.parametrize(
    "factor, shown",
    [
        ("tf.gather(self.normals, index + 1)", False),
        ("x", True),
        ("tf.Variable(tf.zeros([3]))", True),
    ],
)
def test_the_edge_of_an_angle_between_what_an_object_holds_is_doubtful(factor, shown):
    """`TFN105`: nothing that a gradient could be taken to is behind it."""
    checked = check_source(Source("a.py", OF_A_SCENE.replace("FACTOR", factor)), policy(Setup()))
    assert (["TFN105"] if shown else [], int(not shown)) == (
        [one.code for one in checked.findings],
        checked.unsure,
    )


def test_a_number_tested_on_one_side_says_nothing_of_the_other():
    """`TFN105`: 2 * p - 1 of a p above 0."""
    body = "    x = x if x > 0 else 0.5\n    return tf.math.erfinv(tf.convert_to_tensor(2.0 * x - 1.0))\n"
    checked = check_source(Source("a.py", HEAD + body), policy(Setup()))
    assert not checked.findings and checked.unsure == 1
    assert "TFN105" in found("    return tf.math.erfinv(2.0 * tf.sigmoid(x) - 1.0)\n", Setup())


@pytest.mark.parametrize(
    "method, other, shown",
    [("call", "pos", False), ("call", "2.0 * pos", True), ("distances", "pos", True)],
)
def test_the_distance_of_two_points_of_the_data_is_doubtful(method, other, shown):
    """`TFN202`: atoms and nodes that a layer is called with are at different places; embeddings
    that a loss is called with are trained.
    """
    checked = check_source(
        Source(
            "a.py",
            "import keras\nimport tensorflow as tf\n\n\nclass Edges(keras.layers.Layer):\n"
            f"    def {method}(self, pos, i, j):\n        d = tf.gather(pos, i) - tf.gather({other}, j)\n"
            "        with tf.GradientTape() as tape:\n            y = tf.sqrt(tf.reduce_sum(tf.square(d)))\n"
            "        return tape.gradient(y, pos)\n",
        ),
        policy(Setup()),
    )
    assert ("TFN202" in {one.code for one in checked.findings}, checked.unsure) == (
        shown,
        int(not shown),
    )


def test_the_edges_of_a_graph_are_no_distances_of_embeddings():
    text = (
        "import keras\nimport tensorflow as tf\n\n\nclass Edges(keras.layers.Layer):\n    def call(self, pos, i, j):\n"
        "        return tf.sqrt(tf.reduce_sum(tf.square(tf.gather(pos, i) - tf.gather(pos, j)), axis=-1))\n"
    )
    learned = text.replace("        return", "        pos = tf.nn.relu(pos)\n        return")
    edges, embeddings = (
        check_source(Source("a.py", one), policy(Setup())) for one in (text, learned)
    )
    assert "TFN202" not in {one.code for one in edges.findings} and edges.unsure
    assert "TFN202" in {one.code for one in embeddings.findings}


def test_what_shows_on_gpus_only_is_not_reported_elsewhere():
    assert "TFN505" in found(LABELS, Setup(modes=frozenset(("eager", "gpu"))))
    assert "TFN505" not in found(LABELS, Setup(modes=frozenset(("eager", "graph"))))


@pytest.mark.parametrize(
    "line",
    [
        "keras.ops.normalize(x)",
        "keras.layers.UnitNormalization()(x)",
        "keras.losses.cosine_similarity(y, x)",
        "keras.losses.CosineSimilarity()(y, x)",
        "tf.image.per_image_standardization(x)",
        "keras.layers.Dot(axes=1, normalize=True)([x, y])",
        "keras.layers.dot([x, y], axes=1, normalize=True)",
    ],
)
def test_what_keras_guards_too_late_is_reported_on_demand(line):
    """Finite in eager mode and graphs, NaN under XLA: keras.ops.normalize of zeros and its like
    (executed below).
    """
    text = (
        HEAD.replace("loss(x)", "loss(x, y)")
        + "    with tf.GradientTape() as tape:\n        tape.watch(x)\n"
        f"        x = tf.nn.relu(x)\n        z = {line}\n    return tape.gradient(z, x)\n"
    )
    source = Source("a.py", "import keras\n" + text)
    everything = replace(policy(Setup()), certainty=Certainty.UNKNOWN)
    found = [one for one in check_source(source, everything).findings if one.code == "TFN404"]
    assert [(one.modes, "XLA" in one.message) for one in found] == [(("xla",), True)]
    assert not check_source(source, policy(Setup())).findings


@pytest.mark.tensorflow
def test_keras_guards_fail_under_xla_only():
    tf = pytest.importorskip("tensorflow")
    import keras

    zeros, ones = tf.zeros([2, 3]), tf.ones([2, 3])
    for function, x in (
        (keras.ops.normalize, zeros),
        (keras.layers.UnitNormalization(), zeros),
        (lambda x: keras.losses.cosine_similarity(ones, x), zeros),
        (lambda x: keras.layers.Dot(axes=1, normalize=True)([x, ones]), zeros),
        (tf.image.per_image_standardization, tf.ones([2, 2, 2, 3])),
    ):

        def gradient(x, function=function):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = function(x)
            return tape.gradient(y, x)

        modes = {
            "eager": gradient,
            "graph": tf.function(gradient),
            "xla": tf.function(gradient, jit_compile=True),
        }
        bad = {
            mode
            for mode, run in modes.items()
            if not bool(tf.reduce_all(tf.math.is_finite(run(x))))
        }
        assert bad == {"xla"}, (function, bad)


# The command line


def test_flags_and_files_say_what_the_project_works_with(tmp_path):
    def check(*argv: str) -> str:
        return subprocess.run(
            [
                sys.executable,
                "-m",
                "tfnanlint",
                "check",
                "--output-format",
                "concise",
                *argv,
                "a.py",
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        ).stdout

    (tmp_path / "a.py").write_text(HEAD + "    return tf.math.log(tf.nn.relu(x))\n")
    diff, floored = ("--diff", "--unsafe-fixes"), '[rules.TFN101]\nfix = ["floor"]\n'
    settings = tmp_path / "tfnanlint.toml"
    settings.write_text(floored)
    assert "tf.maximum(tf.nn.relu(x), 1e-37))" in check(*diff)
    settings.write_text(f"epsilon = 1e-4\n{floored}")
    assert "tf.maximum(tf.nn.relu(x), 1e-4))" in check(*diff)
    assert "tf.maximum(tf.nn.relu(x), 3e-5))" in check(*diff, "--epsilon", "3e-5")
    (tmp_path / "a.py").write_text(HEAD + "    return tf.math.log(1.0 - tf.nn.sigmoid(x) + 1e-8)\n")
    assert (
        "TFN402" in check()
        and "TFN402" not in check("--modes", "eager")
        and "TFN101" not in check("--modes", "eager")
    )
