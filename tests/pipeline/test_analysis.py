"""Findings first, fixes when asked for: what is found must not depend on whether fixes are made."""

from __future__ import annotations

import dataclasses
import gc

import fixture_sizes
import pytest

from tfnanlint.config.layers import Configuration, Layer
from tfnanlint.dev import repository
from tfnanlint.diagnostics.findings import Differentiated
from tfnanlint.ops import table as ops
from tfnanlint.pipeline.analysis import Analysis, File
from tfnanlint.pipeline.check import Checking, check_source
from tfnanlint.program.module import Module
from tfnanlint.rule.registry import Context, load
from tfnanlint.syntax.source import Source

SOURCE = Source(
    "a.py", "import tensorflow as tf\n\n\ndef f(z):\n    return tf.math.log(tf.nn.softmax(z))\n"
)


def fields(finding):
    """What a report may show of a finding besides its trace."""
    return (
        finding.code,
        finding.span,
        finding.message,
        finding.certainty,
        finding.fixes,
        finding.no_fix,
        finding.help,
    )


@pytest.mark.parametrize("rule", fixture_sizes.rules())
@pytest.mark.slow
def test_fixes_made_later_are_those_made_at_once(rule, monkeypatch):
    path = repository.fixture(rule)
    source = Source.from_bytes(path.name, path.read_bytes())
    with Analysis(source, load()) as analysis:
        later = [analysis.repaired(finding) for finding in analysis.findings]
    without = [dataclasses.replace(one, fixes=(), no_fix="", help="") for one in later]
    assert without == [dataclasses.replace(one, help="") for one in analysis.findings]
    monkeypatch.setattr(
        Context,
        "repairing",
        property(lambda here: not here.draft, lambda here, value: None),
        raising=False,
    )
    with Analysis(source, load()) as analysis:
        assert list(map(fields, analysis.findings)) == list(map(fields, later))


def test_no_fix_is_made_before_it_is_asked_for(monkeypatch):
    made = []
    whole = Context.rewrite_all
    monkeypatch.setattr(
        Context,
        "rewrite_all",
        lambda here, *given, **more: (
            here.repairing and made.append(here.rule.code),
            whole(here, *given, **more),
        )[1],
    )
    policy = repository.policy(load())
    with Checking(SOURCE, policy) as checking:
        (finding,) = checking.checked.findings
        assert (finding.code, finding.fixes, made) == ("TFN301", (), [])
        assert checking.repaired(finding).fixes[0].title == "use log_softmax of the logits"
    assert set(made) == {"TFN301"}, "not those of a rule that TFN301 stands for"
    assert check_source(SOURCE, policy).findings[0].fixes


def test_a_rule_that_breaks_at_its_fix_is_reported(monkeypatch):
    def broken(here, *given, **more):
        if here.repairing:
            raise ZeroDivisionError("broken")
        return []

    monkeypatch.setattr(Context, "rewrite_all", broken)
    (finding,) = check_source(SOURCE, repository.policy(load())).findings
    assert (
        finding.code == "TFN000"
        and "rule TFN301 failed here (ZeroDivisionError: broken" in finding.message
    )


def test_what_is_not_shown_gets_no_fix(monkeypatch):
    monkeypatch.setattr(
        Context,
        "rewrite_all",
        lambda here, *given, **more: pytest.fail("a fix was made") if here.repairing else [],
    )
    text = SOURCE.text.rstrip("\n") + "  # tfn: ignore[TFN301]\n"
    assert check_source(Source("a.py", text), repository.policy(load())).hidden == 1
    none = check_source(
        SOURCE,
        repository.policy(load()),
        lambda checked: dataclasses.replace(checked, findings=(), known=1),
    )
    assert (none.findings, none.known) == ((), 1)


def test_a_server_makes_fixes_when_it_is_asked_for_them(tmp_path):
    worker = pytest.importorskip("tfnanlint.lsp.worker")
    desk, place = worker.Desk(), worker.Place(str(tmp_path / "a.py"), str(tmp_path))
    found = desk.do(worker.Check(1, place, SOURCE.text)).findings
    assert [(one.code, one.fixes) for one in found] == [("TFN301", ())]
    (offered,) = desk.do(worker.Offer(2, place, SOURCE.text, found))
    assert offered.fixes and dataclasses.replace(offered, fixes=()) == found[0]
    desk.do(worker.Check(3, place, SOURCE.text + "x = 1\n"))
    assert desk.do(worker.Offer(4, place, SOURCE.text, found)) == (offered,), (
        "of a text that is no longer the last"
    )
    desk.forget()
    assert desk.do(worker.Offer(5, place, SOURCE.text, found)) == (offered,)


def test_what_fixes_are_made_from_is_let_go():
    checking = Checking(SOURCE, repository.policy(load()))
    checking.close()
    assert checking.repaired(checking.checked.findings[0]).fixes == ()


@pytest.mark.slow
def test_nothing_is_left_that_only_the_cyclic_collector_frees():
    """The command line switches that off: a module that is kept keeps its tree, and a run would
    hold all that it has read.
    """
    gc.collect()
    gc.disable()
    # what other tests keep
    before = [one for one in gc.get_objects() if isinstance(one, (File, Module))]
    try:
        for path in sorted((repository.ROOT / "fixtures" / "programs").glob("*.py")):
            check_source(
                Source.from_bytes(str(path), path.read_bytes()),
                Configuration(Layer(), (), True).for_directory(path.parent).policy("", load()),
            )
        assert [
            one for one in gc.get_objects() if isinstance(one, (File, Module)) and one not in before
        ] == []
    finally:
        gc.enable()


LIBRARY = "import tensorflow as tf\n\n\ndef entropy(p):\n    return tf.math.log(tf.nn.relu(p))\n"


@pytest.mark.parametrize(
    "beside, judgements",
    [
        ("", 1),
        ("import lib\nprint(lib.other(1.0))\n", 1),
        ("import lib\nprint(lib.entropy(1.0))\n", 2),
    ],
)
def test_a_draft_goes_on_where_no_other_file_calls(tmp_path, monkeypatch, beside, judgements):
    """A second judgement costs as much as the first: it is made only where another file may say
    something else.
    """
    made = []
    begin = File.__init__
    monkeypatch.setattr(
        File, "__init__", lambda self, *given: (made.append(self), begin(self, *given))[1]
    )
    (tmp_path / "lib.py").write_text(LIBRARY)
    (tmp_path / "main.py").write_text(beside)
    found = check_source(
        Source(str(tmp_path / "lib.py"), LIBRARY), repository.policy(load())
    ).findings
    assert len(made) == judgements
    assert [one.code for one in found] == ([] if judgements == 2 else ["TFN101"]) and all(
        one.fixes for one in found
    )


HELPED = "import tensorflow as tf\n\n\ndef _log(p):\n    return tf.math.log(p)\n\n\ndef entropy(p):\n    return 2.0 - tf.reduce_max(_log(p))\n"
CALLER = "import lib\nimport tensorflow as tf\n\n\ndef loss(x):\n    return lib.entropy({})\n"


@pytest.mark.parametrize(
    "beside, codes",
    [
        ("", []),
        (CALLER.format("tf.nn.relu(x)"), ["TFN101"]),
        (CALLER.format("tf.nn.relu(x) + 2.0"), []),
        (CALLER.format("x"), []),
    ],
)
def test_what_another_file_hands_over_arrives_through_a_helper(tmp_path, beside, codes):
    """A draft knows nothing of it and finds nothing: the place is judged once more where another
    file calls.
    """
    (tmp_path / "lib.py").write_text(HELPED)
    (tmp_path / "main.py").write_text(beside)
    assert [
        one.code
        for one in check_source(
            Source(str(tmp_path / "lib.py"), HELPED), repository.policy(load())
        ).findings
    ] == codes


EDGES = """import tensorflow as tf


def shares(w):
    return w / tf.reduce_sum(w, -1, keepdims=True)


def inverse(s):
    return tf.reduce_mean(1.0 / s)


def length_loss(w):
    return tf.reduce_mean(tf.norm(w, axis=-1)) + tf.reduce_mean(tf.sqrt(w)) + tf.reduce_mean(w ** 2)
"""
USER = """import tensorflow as tf
from lib import inverse, length_loss, shares


def loss(x):
    h = {}
    return tf.reduce_mean(shares(h)) + inverse(h) + length_loss(h)
"""


@pytest.mark.parametrize(
    "handed, codes",
    [
        ("tf.nn.relu(x)", ["TFN102", "TFN102", "TFN201", "TFN202"]),
        ("tf.nn.softplus(x) + 1.0", []),
        ("x", ["TFN201"]),
    ],
)
def test_what_another_file_hands_over_counts_at_divisions_roots_and_norms(tmp_path, handed, codes):
    """Rules that say nothing of unknown values say nothing in a draft: the place is judged once
    more where a few other files call.
    """
    (tmp_path / "lib.py").write_text(EDGES)
    (tmp_path / "main.py").write_text(USER.format(handed))
    assert [
        one.code
        for one in check_source(
            Source(str(tmp_path / "lib.py"), EDGES), repository.policy(load())
        ).findings
    ] == codes


OPS = """import tensorflow as tf

OPS = {"log": tf.math.log, "abs": tf.abs}


def transform(kind, x):
    return OPS[kind](x)
"""


@pytest.mark.parametrize(
    "handed, codes",
    [
        ("'log', tf.nn.relu(x)", ["TFN101"]),
        ("'log', tf.nn.softplus(x) + 2.0", []),
        ("'abs', tf.nn.relu(x)", []),
    ],
)
def test_another_file_says_which_op_of_a_dict_is_applied(tmp_path, handed, codes):
    (tmp_path / "lib.py").write_text(OPS)
    (tmp_path / "main.py").write_text(
        f"import tensorflow as tf\nfrom lib import transform\n\n\ndef loss(x):\n    return transform({handed})\n"
    )
    assert [
        one.code
        for one in check_source(
            Source(str(tmp_path / "lib.py"), OPS), repository.policy(load())
        ).findings
    ] == codes


OWN_OPS = "import tensorflow as tf\n\n\ndef log(x):\n    return tf.math.log(tf.maximum(x, 1e-7))\n\n\ndef reciprocal(x):\n    return 1.0 / x\n"


@pytest.mark.parametrize(
    "imported, call",
    [
        ("from ops import log, reciprocal", "log({0}) + reciprocal({0})"),
        ("import ops", "ops.log({0}) + ops.reciprocal({0})"),
        ("from ops import *", "log({0}) + reciprocal({0})"),
    ],
)
def test_a_module_of_the_project_may_be_called_ops(tmp_path, imported, call):
    """So is `keras.ops` called in the table of ops."""
    main = f"import tensorflow as tf\n{imported}\n\n\ndef loss(x):\n    return tf.reduce_mean({call.format('tf.nn.relu(x)')})\n"
    (tmp_path / "ops.py").write_text(OWN_OPS)
    (tmp_path / "main.py").write_text(main)
    found = [
        [
            (one.code, text[one.span.start : one.span.end])
            for one in check_source(
                Source(str(tmp_path / name), text), repository.policy(load())
            ).findings
        ]
        for name, text in (("main.py", main), ("ops.py", OWN_OPS))
    ]
    assert found == [[], [("TFN102", "1.0 / x")]]


DISTANCES = "import tensorflow as tf\n\n\ndef distances(a):\n    return tf.sqrt(tf.reduce_sum(tf.square(a[:, None] - a[None]), -1))\n"
TRAINING = {
    "loss class": "class Triplet(tf.keras.losses.Loss):\n    def call(self, y_true, y_pred):\n        return tf.reduce_mean(distances(y_pred))\n",
    "compiled": "def spread(y_true, y_pred):\n    return tf.reduce_mean(distances(y_pred))\n\n\nm = tf.keras.Sequential([tf.keras.layers.Dense(2)])\nm.compile('adam', loss=spread)\n",
    "called in a tape": "def total(y):\n    return tf.reduce_mean(distances(y))\n\n\ndef step(m, x):\n    with tf.GradientTape() as tape:\n        loss = total(m(x))\n"
    "    return tape.gradient(loss, m.trainable_variables)\n",
    "minimized": "class Model:\n    def __init__(self, x, m):\n        self.loss = tf.reduce_mean(distances(m(x)))\n        self.step = tf.compat.v1.train.AdamOptimizer().minimize(self.loss)\n",
    "method in a tape": "class Net(tf.keras.Model):\n    def spread_of(self, x):\n        return tf.reduce_mean(distances(self(x)))\n\n    def train_step(self, x):\n"
    "        with tf.GradientTape() as tape:\n            loss = self.spread_of(x)\n        return tape.gradient(loss, self.trainable_variables)\n",
}
NOT_TRAINING = {
    # it may prepare data
    "layer": "class Far(tf.keras.layers.Layer):\n    def call(self, x):\n        return distances(x)\n",
    "printed": "def show(x):\n    print(distances(x))\n",
    "metric": "class Spread(tf.keras.metrics.Metric):\n    def update_state(self, y_true, y_pred):\n        self.total.assign_add(tf.reduce_mean(distances(y_pred)))\n",
}


@pytest.mark.parametrize(
    "how, found", [*[(how, True) for how in TRAINING], *[(how, False) for how in NOT_TRAINING]]
)
def test_another_file_tells_that_a_gradient_is_taken(tmp_path, how, found):
    """At default settings: the call need not stand inside of a tape itself."""
    (tmp_path / "dist.py").write_text(DISTANCES)
    (tmp_path / "main.py").write_text(
        "import tensorflow as tf\nfrom dist import distances\n\n\n"
        + {**TRAINING, **NOT_TRAINING}[how]
    )
    default = Configuration(Layer(), (), True).for_directory(str(tmp_path)).policy("", load())
    assert [
        one.code
        for one in check_source(Source(str(tmp_path / "dist.py"), DISTANCES), default).findings
    ] == ["TFN202"] * found


@pytest.mark.parametrize(
    "default, codes", [("1e-8", ["TFN402"]), ("1e-5", []), ("0.0", ["TFN101"])]
)
def test_an_epsilon_of_the_command_line_is_what_it_is_by_default(tmp_path, default, codes):
    text = (
        f"import argparse\nimport tensorflow as tf\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--eps', type=float, default={default})\n"
        "args = parser.parse_args()\n\n\ndef fooled(fake, eps):\n    return -tf.reduce_mean(tf.math.log(1.0 - tf.sigmoid(fake) + eps))\n\n\n"
        "@tf.function\ndef step(model, x):\n    with tf.GradientTape() as tape:\n        loss = fooled(model(x), args.eps)\n"
        "    return tape.gradient(loss, model.trainable_variables)\n"
    )
    (tmp_path / "train.py").write_text(text)
    assert [
        one.code
        for one in check_source(
            Source(str(tmp_path / "train.py"), text), repository.policy(load())
        ).findings
    ] == codes


@pytest.mark.parametrize("caller, judgements", [("main.py", 2), ("test_main.py", 1)])
def test_calls_of_tests_alone_are_no_reason_to_judge_a_division_again(
    tmp_path, monkeypatch, caller, judgements
):
    """They hand over numbers that are written for them."""
    made = []
    begin = File.__init__
    monkeypatch.setattr(
        File, "__init__", lambda self, *given: (made.append(self), begin(self, *given))[1]
    )
    lib = "import tensorflow as tf\n\n\ndef shares(w):\n    return w / tf.reduce_sum(w, -1, keepdims=True)\n"
    (tmp_path / "lib.py").write_text(lib)
    (tmp_path / caller).write_text(
        "import tensorflow as tf\nfrom lib import shares\n\nprint(shares(tf.nn.relu(tf.random.normal([3]))))\n"
    )
    found = check_source(Source(str(tmp_path / "lib.py"), lib), repository.policy(load())).findings
    assert len(made) == judgements and [one.code for one in found] == ["TFN102"] * (judgements - 1)


@pytest.mark.parametrize(
    "computed, judgements",
    [
        ("w / tf.reduce_sum(w)", 2),
        ("tf.pow(w, 0.5)", 2),
        ("w / tf.cast(tf.shape(w)[0], tf.float32)", 1),
        ("tf.pow(w, 2)", 1),
        ("w / num_classes", 1),
        ("w / noise_scale", 1),
    ],
)
def test_of_sizes_scales_and_squares_no_other_file_is_asked(
    tmp_path, monkeypatch, computed, judgements
):
    """The caller knows a number of things or a scale, and a square has no edge."""
    made = []
    begin = File.__init__
    monkeypatch.setattr(
        File, "__init__", lambda self, *given: (made.append(self), begin(self, *given))[1]
    )
    lib = f"import tensorflow as tf\n\n\ndef shares(w, num_classes, noise_scale):\n    return tf.reduce_sum({computed})\n"
    (tmp_path / "lib.py").write_text(lib)
    (tmp_path / "main.py").write_text(
        "import tensorflow as tf\nfrom lib import shares\n\n\ndef loss(x, n, s):\n    return shares(tf.nn.relu(x), n, s)\n"
    )
    found = check_source(Source(str(tmp_path / "lib.py"), lib), repository.policy(load())).findings
    assert len(made) == judgements and bool(found) == (judgements == 2)


@pytest.mark.parametrize(
    "under, codes",
    [
        ("tf.tanh(x) + 1e-8", ["TFN405"]),
        ("tf.maximum(x, 0.0)", ["TFN405"]),
        ("tf.clip_by_value(tf.nn.softmax(x), 0.0, 1.0)", ["TFN405"]),
        ("tf.keras.layers.Dense(3)(x) + 1e-8", ["TFN405"]),  # an output of weights is of both signs
        ("x + 1e-8", []),
    ],
)
def test_a_guard_that_lets_0_through_is_shown(under, codes):
    """At default settings; what is added to any number is doubted."""
    text = f"import tensorflow as tf\n\n\ndef loss(x):\n    return tf.reduce_mean(tf.math.log({under}))\n"
    default = Configuration(Layer(), (), True).for_directory("/").policy("", load())
    assert [one.code for one in check_source(Source("a.py", text), default).findings] == codes


@pytest.mark.parametrize(
    "term, codes",
    [
        ("p * tf.math.log(p)", ["TFN207"]),
        ("mask * tf.math.log(p)", []),
        ("tf.math.multiply_no_nan(tf.math.log(p), p)", []),
        ("tf.where(p > 0, p * tf.math.log(p), 0.0)", ["TFN204"]),
    ],
)
def test_what_goes_before_another_finding_is_shown_itself(term, codes):
    """At default settings, where nothing says whether a gradient is taken: the entropy of a
    softmax, NaN as a value.
    """
    text = (
        'import tensorflow as tf\n\nnet = tf.keras.Sequential([tf.keras.layers.Dense(4, activation="softmax")])\n\n\n'
        f"def entropy(x):\n    p = net(x)\n    mask = tf.cast(p > 0, tf.float32)\n    return -tf.reduce_sum({term}, axis=-1)\n"
    )
    default = Configuration(Layer(), (), True).for_directory("/").policy("", load())
    assert [one.code for one in check_source(Source("a.py", text), default).findings] == codes


@pytest.mark.parametrize(
    "added, codes",
    [
        ("tf.math.log(tf.reduce_mean(tf.cast(y > 0, tf.float32)))", ["TFN101"]),
        ("tf.math.log(1.0 - tf.reduce_mean(tf.cast(y > 0, tf.float32)))", ["TFN101"]),
        ("tf.math.log(tf.reduce_mean(tf.one_hot(y, 4), axis=0))", ["TFN101"]),
        ("tf.stop_gradient(tf.math.log(tf.nn.relu(z)))", []),
    ],
)
def test_how_often_a_label_occurs_is_shown_though_no_gradient_is_taken(added, codes):
    """At default settings: what the logits are shifted by is infinite for a batch without that
    label.
    """
    text = f"import tensorflow as tf\n\n\ndef loss(z, y):\n    return tf.nn.sparse_softmax_cross_entropy_with_logits(y, z + {added})\n"
    default = Configuration(Layer(), (), True).for_directory("/").policy("", load())
    assert [one.code for one in check_source(Source("a.py", text), default).findings] == codes


MOMENTS = """import tensorflow as tf

kept = tf.Variable(tf.zeros([4]), trainable=False)
squares = tf.Variable(tf.ones([4]), trainable=False)


def normalised(x):
    kept.assign(0.9 * kept + 0.1 * tf.reduce_mean(x, 0))
    squares.assign(0.9 * squares + 0.1 * tf.reduce_mean({}, 0))
    return (x - kept) / tf.sqrt(squares - kept * kept)
"""


@pytest.mark.parametrize("squared, codes", [("x * x", ["TFN103"]), ("x + 1.0", [])])
def test_a_variance_that_rounding_makes_negative_is_shown_though_no_gradient_is_taken(
    squared, codes
):
    default = Configuration(Layer(), (), True).for_directory("/").policy("", load())
    assert [
        one.code for one in check_source(Source("a.py", MOMENTS.format(squared)), default).findings
    ] == codes


FAR_OUT = (
    "without negative eigenvalues",
    "not",
    "different",
    "infinite where",
    "finite but",
    "NaN under",
    "NaN where the branch",
    "NaN where all elements are -Inf",
)


def test_every_row_says_whether_it_has_an_edge():
    """`Op.edges` is read from the beginning of these texts: one that begins in a new way would lose
    its second look without a word.
    """
    texts = {text for row in ops.ROWS for text in (*row.needs.values(), row.gradient) if text}
    assert not [
        text
        for text in texts
        if not text.startswith((*ops.RANGES, *ops.AT_A_POINT)) and not text.startswith(FAR_OUT)
    ]


def test_a_fix_uses_the_tensorflow_that_a_star_import_brings(tmp_path):
    main = (
        "from ops import *\n\n\ndef penalty(critic, x):\n    grad = tf.gradients(critic(x), x)[0]\n"
        "    return tf.reduce_mean(tf.square(tf.norm(flatten(grad), axis=1) - 1.0))\n\n\n"
        "def other(x):\n    return tf.reduce_sum(x)\n"
    )
    (tmp_path / "ops.py").write_text(
        "import tensorflow as tf\n\n\ndef flatten(x):\n    return tf.reshape(x, [8, -1])\n"
    )
    (tmp_path / "main.py").write_text(main)
    found = check_source(
        Source(str(tmp_path / "main.py"), main), repository.policy(load())
    ).findings
    texts = [edit.text for one in found for fix in one.fixes[:1] for edit in fix.edits]
    assert [text.strip() for text in texts] == [
        "squared = tf.reduce_sum(tf.square(flatten(grad)), axis=1)",
        "tf.sqrt(squared + 1e-30)",
    ]


LAMBDAS = """import tensorflow as tf
from tensorflow.keras.layers import Dense, Input, Lambda
from tensorflow.keras.models import Model


def power(samples):
    return tf.square(tf.abs(samples))


def normalized(data):
    return data / tf.sqrt(tf.reduce_sum(tf.square(data), axis=-1, keepdims=True))


inputs = Input((100,))
x = {first}(inputs)
x = Lambda(lambda one: normalized(one))(x)
model = Model(inputs, Dense(10)(x))
model.compile("adam", "mse")
model.fit(images, labels)
"""


@pytest.mark.parametrize(
    "first, differentiated",
    [
        ("Lambda(power)", Differentiated.UNKNOWN),
        ("Dense(8, activation='relu')", Differentiated.YES),
    ],
)
def test_layers_without_weights_prepare_data(first, differentiated):
    source = Source("model.py", LAMBDAS.replace("{first}", first))
    found = check_source(source, repository.policy(load())).findings
    assert [(one.code, one.differentiated) for one in found] == [("TFN314", differentiated)]
