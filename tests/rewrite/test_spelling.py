"""How fixes spell names: every spelling that a fix can write is imported and called, in each
library for which it may be written.

What can be written is read from the templates (`tfnanlint.dev.templates`) and crossed with the ways
in which files import; a new fix needs no line here.
"""

from __future__ import annotations

import ast
import contextlib
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import outcomes
import pytest

from tfnanlint.dev import repository, templates
from tfnanlint.diagnostics.findings import Setup
from tfnanlint.ops.site import Site
from tfnanlint.ops.spellings import SPELLINGS
from tfnanlint.ops.table import load as table
from tfnanlint.rewrite.hole_test import NoFix
from tfnanlint.rewrite.spelling import Speller, Spelling, Use
from tfnanlint.rule.registry import Context, Rule, load
from tfnanlint.syntax.edits import edits_apply
from tfnanlint.syntax.source import Source

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
USES = sorted(set().union(*templates.stated().values()), key=str)
RULES = pytest.mark.parametrize("rule", load(), ids=lambda rule: rule.slug)


@dataclass(frozen=True)
class Style:
    """A way to import, an op as it is called there, the modules under whose names others are
    imported for the execution, and a line that only says which version the file is for.
    """

    imports: str
    call: str
    stand_ins: tuple[tuple[str, str], ...] = ()
    says: str = ""
    names: tuple[str, ...] = ()  # that some fix must be able to write there


ONE = (("tensorflow", "tensorflow.compat.v1"),)
TWO = (("keras", "tf_keras"),)
GRAPH = "def feed(): return tf.placeholder(tf.float32)"
STYLES = [
    Style(
        "import tensorflow as tf",
        "tf.math.log(x)",
        names=(
            "tf.maximum",
            "tf.nn.log_softmax",
            "tf.math.divide_no_nan",
            "tf.keras.layers.Activation",
        ),
    ),
    Style("import tensorflow", "tensorflow.math.log(x)", names=("tensorflow.where",)),
    Style("import tensorflow.compat.v2 as tf", "tf.math.log(x)", names=("tf.maximum",)),
    Style(
        "import tensorflow.compat.v1 as tf",
        "tf.math.log(x)",
        names=("tf.nn.softmax_cross_entropy_with_logits_v2",),
    ),
    Style(
        "import tensorflow.compat.v1 as tf",
        "tf.log(x)",
        says=GRAPH,
        names=("tf.is_nan", "tf.log1p", "tf.div_no_nan", "tf.nn.softplus", "tf.log_sigmoid"),
    ),
    Style(
        "import tensorflow as tf",
        "tf.log(x)",
        ONE,
        GRAPH,
        ("tf.is_nan", "tf.expm1", "tf.nn.softmax_cross_entropy_with_logits_v2"),
    ),
    Style(
        "from tensorflow import math as tfm", "tfm.log(x)", names=("tfm.maximum", "tfm.softplus")
    ),
    Style(
        "from tensorflow import math, nn",
        "math.log(x)",
        names=("math.maximum", "nn.sigmoid_cross_entropy_with_logits"),
    ),
    Style("from tensorflow.math import log", "log(x)", names=("log",)),
    Style(
        "from tensorflow.python.ops import math_ops, nn_ops, array_ops",
        "math_ops.log(x)",
        names=("math_ops.maximum", "nn_ops.log_softmax", "array_ops.ones_like"),
    ),
    Style(
        "from tensorflow.python.framework import ops\nfrom tensorflow.python.ops import math_ops",
        "math_ops.log(x)",
        names=("math_ops.maximum",),
    ),
    Style(
        "import tensorflow.experimental.numpy as tnp",
        "tnp.log(x)",
        names=("tnp.maximum", "tnp.where"),
    ),
    Style("import numpy as np", "np.log(x)", names=("np.maximum", "np.where")),
    Style(
        "import tensorflow.keras.backend as K",
        "K.log(x)",
        names=("K.maximum", "K.categorical_crossentropy", "K.var"),
    ),
    Style(
        "from tensorflow.keras import backend as K", "K.log(x)", names=("K.maximum", "K.softplus")
    ),
    Style("from tensorflow import keras", "keras.backend.log(x)", names=("keras.backend.maximum",)),
    Style("from tensorflow import keras", "keras.ops.log(x)", names=("keras.ops.maximum",)),
    Style(
        "from keras import backend as K",
        "K.log(x)",
        TWO,
        names=("K.maximum", "K.binary_crossentropy"),
    ),
    Style("import keras.backend as K", "K.log(x)", TWO, names=("K.clip",)),
    Style("import keras", "keras.backend.log(x)", TWO, names=("keras.backend.maximum",)),
    Style("import tf_keras as keras", "keras.backend.log(x)", names=("keras.backend.maximum",)),
    Style("import tf_keras.backend as K", "K.log(x)", names=("K.maximum",)),
    Style(
        "from keras import ops",
        "ops.log(x)",
        names=("ops.maximum", "ops.logsumexp", "ops.divide_no_nan", "ops.categorical_crossentropy"),
    ),
    Style("import keras.ops as ops", "ops.log(x)", names=("ops.maximum",)),
    Style("import keras.ops as knp", "knp.log(x)", names=("knp.maximum",)),
    Style("import keras", "keras.ops.log(x)", names=("keras.ops.maximum", "keras.ops.expm1")),
    Style(
        "import keras\nfrom keras import ops",
        "ops.log(x)",
        names=("ops.sigmoid", "ops.var", "ops.softmax"),
    ),
    Style(
        "import keras\nfrom keras import backend as K, ops", "ops.log(x)", names=("ops.maximum",)
    ),
    Style("import keras\nK = keras.backend", "K.log(x)", TWO, names=("K.maximum",)),
    Style("import tensorflow as tf\nK = tf.keras.backend", "K.log(x)", names=("K.maximum",)),
    Style(
        "try:\n    import tensorflow.compat.v1 as tf\nexcept ImportError:\n    import tensorflow as tf",
        "tf.math.log(x)",
        names=("tf.maximum",),
    ),
    Style(
        "import tensorflow as tf\nimport tf_slim as slim",
        "tf.math.log(x)",
        names=("tf.nn.softmax",),
    ),
    Style(
        "import tensorflow as tf\nimport tensorflow_probability as tfp",
        "tf.math.log(x)",
        names=("tf.maximum",),
    ),
]


def asked(
    text: str, uses: list[Use], on: tuple[str, ...] = ("tf.math.log",), setup: Setup = Setup()
) -> dict[Use, Spelling]:
    """How a file spells uses at its last application of one of some ops; without those that it
    refuses.
    """
    found: dict[Use, Spelling] = {}

    def check(site: Site, here: Context):
        speller = Speller(here.module, here.interpreter, setup)
        found.clear()
        for use in uses:
            with contextlib.suppress(NoFix):
                found[use] = speller.spell(use, site)
        return ()

    repository.findings(
        Source("x.py", text), [Rule("TFN999", "toy", on, check, "Toy.", arrays=True)]
    )
    return found


def program(style: Style) -> str:
    return "\n".join(
        filter(None, (style.imports, style.says, f"def f(x):\n    return {style.call}\n"))
    )


def forms() -> list[Use]:
    """All uses, and those without the keywords that fixes drop where their hole is empty."""
    dropped = [
        Use(
            use.name,
            use.positional,
            tuple(word for word in use.keywords if word not in ("axis", "keepdims")),
        )
        for use in USES
    ]
    return list(dict.fromkeys([*USES, *dropped]))


# ---------------------------------------------------------------------------------------------------------
# What exists


@pytest.mark.tensorflow
def test_the_table_is_what_the_libraries_have():
    pytest.importorskip("tensorflow")
    from tfnanlint.dev import spellings
    from tfnanlint.ops import table as ops

    assert Path(ops.__file__).with_name("spellings.py").read_text() == spellings.text(), (
        "run python -m tfnanlint.dev.spellings"
    )


def test_every_name_of_a_template_stands_in_the_table():
    rows = table()
    dtypes = {"tf.float16", "tf.float32", "tf.bool"}
    missing = {
        use.name
        for use in USES
        if not any(
            alias in SPELLINGS
            for alias in (rows[use.name].aliases if use.name in rows else [use.name])
        )
    }
    assert missing <= dtypes, "run python -m tfnanlint.dev.spellings"


@RULES
def test_what_fixes_write_is_read_from_their_templates(rule):
    """Names that are put together while a fix is made are seen by `templates.stated`, too."""
    rows = table()
    stated = {rows[use.name].name if use.name in rows else use.name for use in USES}
    with templates.recording() as recorded:
        for path in (repository.claims(rule), repository.fixture(rule)):
            repository.findings(Source.from_bytes(path.name, path.read_bytes()), [rule])
    names = {rows[use.name].name if use.name in rows else use.name for use, _ in recorded}
    assert names <= stated


@contextlib.contextmanager
def standing_in(pairs):
    kept = {name: sys.modules.get(name) for name, _ in pairs}
    for name, other in pairs:
        __import__(other)
        sys.modules[name] = sys.modules[other]
    try:
        yield
    finally:
        sys.modules.update({name: module for name, module in kept.items() if module is not None})


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    "style", STYLES, ids=lambda style: re.sub(r"\W+", "-", f"{style.imports} {style.call}")
)
def test_every_spelling_exists_and_gives_what_its_name_gives(style):
    pytest.importorskip("tensorflow")
    from tfnanlint.dev import spellings

    if "tensorflow_probability" in style.imports:
        style = Style(style.imports.rpartition("\n")[0], style.call, names=style.names)
    found = asked(program(style), forms())
    space: dict = {}
    with standing_in(style.stand_ins):
        exec(style.imports, space)  # noqa: S102
        for use, spelling in found.items():
            exec(spelling.needs, space)  # noqa: S102
            called(use, spelling, space, spellings)
    assert set(style.names) <= {spelling.text for spelling in found.values()}


def called(use: Use, spelling: Spelling, space: dict, spellings) -> None:
    """Calls a spelling with the words that go with it, and compares it with the name it stands for."""
    import tensorflow as tf

    function = eval(spelling.text, space)  # noqa: S307
    if use.name not in table():
        assert callable(function) or tf.as_dtype(function)
        return
    row = table()[use.name]
    words = dict(spelling.words)
    if isinstance(function, type) or not use.positional and not use.keywords:
        return
    there = Use(use.name, use.positional, tuple(words.get(word, word) for word in use.keywords))
    reference = next(
        found
        for library, found in sorted(spellings.places(row.name), key=lambda one: one[0] != "tf2")
    )
    for special in (False, True):
        wanted = spellings.outcome(
            reference, use, row, spellings.parameters(reference, row, row.name), special
        )
        boolean = isinstance(wanted, type)
        wanted = (
            spellings.outcome(
                reference,
                use,
                row,
                spellings.parameters(reference, row, row.name),
                special,
                boolean,
            )
            if boolean
            else wanted
        )
        given = spellings.outcome(function, use, row, [*there.keywords], special, boolean)
        assert spellings.alike(wanted, given), (use, spelling)
        assert isinstance(given, list) or special, (use, spelling, given)


def test_a_name_that_a_library_lacks_is_not_written():
    """Each of these was written once, and exists nowhere."""
    uses = [
        Use("tf.maximum", 2),
        Use("tf.nn.log_softmax", 1, ("axis",)),
        Use("tf.sigmoid", 1),
        Use("tf.math.divide_no_nan", 2),
        Use("tf.math.softplus", 1),
    ]
    both = asked(
        "import keras\nfrom keras import ops\ndef f(x):\n    return 1.0 / ops.log(x)\n",
        uses,
        ("tf.divide",),
    )
    assert [one.text for one in both.values()] == [
        "ops.maximum",
        "ops.log_softmax",
        "ops.sigmoid",
        "ops.divide_no_nan",
        "ops.softplus",
    ]
    unknown = asked("import keras\ndef f(x):\n    return 1.0 / x\n", uses, ("tf.divide",))
    assert [one.text for one in unknown.values()] == [
        "keras.activations.sigmoid",
        "keras.activations.softplus",
    ]
    backend = asked("from keras import backend as K\ndef f(x):\n    return K.log(x)\n", uses)
    assert [one.text for one in backend.values()] == ["K.maximum", "K.sigmoid", "K.softplus"]
    inner = asked(
        "from tensorflow.python.framework import ops\nfrom tensorflow.python.ops import math_ops\ndef f(x):\n    return math_ops.log(x)\n",
        uses,
    )
    assert inner[uses[0]].text == "math_ops.maximum" and inner[uses[2]].text == "math_ops.sigmoid"


# ---------------------------------------------------------------------------------------------------------
# Releases and words


@pytest.mark.parametrize(
    ("target", "says", "expected"),
    [
        (None, "", "tf.math.divide_no_nan tf.math.is_nan tf.math.reduce_variance tf.math.xlog1py"),
        (
            (2, 4),
            "",
            "tf.math.divide_no_nan tf.math.is_nan tf.math.reduce_variance tf.math.xlog1py",
        ),
        ((2, 1), "", "tf.math.divide_no_nan tf.math.is_nan tf.math.reduce_variance"),
        ((1, 15), "", "tf.math.divide_no_nan tf.math.is_nan tf.math.reduce_variance"),
        ((1, 13), GRAPH, "tf.div_no_nan tf.is_nan tf.math.reduce_variance"),
        ((1, 12), GRAPH, "tf.div_no_nan tf.is_nan tf.keras.backend.var"),
        ((1, 8), GRAPH, "tf.is_nan tf.keras.backend.var"),
    ],
)
def test_the_oldest_release_of_a_project_has_what_is_written(target, says, expected):
    uses = [
        Use("tf.math.divide_no_nan", 2),
        Use("tf.math.is_nan", 1),
        Use("tf.math.reduce_variance", 1),
        Use("tf.math.xlog1py", 2),
    ]
    text = f"import tensorflow as tf\n{says}\ndef f(x):\n    return tf.math.log(x)\n"
    assert (
        " ".join(one.text for one in asked(text, uses, setup=Setup(tensorflow=target)).values())
        == expected
    )


@pytest.mark.parametrize(
    ("target", "text", "expected"),
    [
        (
            None,
            "from tensorflow import keras\ndef f(x):\n    return keras.backend.log(x)\n",
            {"keras.backend.maximum"},
        ),
        (
            (2, 16),
            "from tensorflow import keras\ndef f(x):\n    return keras.backend.log(x)\n",
            {"keras.backend.maximum", "keras.ops.log_softmax"},
        ),
        (
            None,
            "from tensorflow import keras\ndef f(x):\n    return keras.ops.log(x)\n",
            {"keras.ops.maximum", "keras.ops.log_softmax"},
        ),
    ],
)
def test_keras_inside_of_tensorflow_has_two_versions(target, text, expected):
    uses = [Use("tf.maximum", 2), Use("tf.nn.log_softmax", 1)]
    assert {
        one.text for one in asked(text, uses, setup=Setup(tensorflow=target)).values()
    } == expected


V1 = "import tensorflow.compat.v1 as tf\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            V1 + "def f(x):\n    return tf.log(tf.reduce_sum(tf.exp(x), 1, keep_dims=True))\n",
            "tf.reduce_logsumexp(x, 1, keep_dims=True)",
        ),
        (
            V1 + "def f(x):\n    return tf.log(tf.reduce_sum(tf.exp(x), reduction_indices=1))\n",
            "tf.reduce_logsumexp(x, reduction_indices=1)",
        ),
        (
            V1 + "def f(x):\n    return tf.log(tf.reduce_sum(tf.exp(x), axis=1))\n",
            "tf.reduce_logsumexp(x, axis=1)",
        ),
        (
            V1 + "def f(x):\n    return tf.log(tf.nn.softmax(x, dim=0))\n",
            "tf.nn.log_softmax(x, dim=0)",
        ),
        (V1 + "def f(x):\n    return tf.log(tf.nn.softmax(x, 0))\n", "tf.nn.log_softmax(x, 0)"),
        (
            V1 + "def f(x):\n    return tf.log(tf.nn.softmax(x, dim=0, name='p'), name='log_p')\n",
            "",
        ),
        (
            V1 + "def f(x):\n    return tf.log(tf.nn.softmax(x, dim=0), name='log_p')\n",
            "tf.nn.log_softmax(x, dim=0, name='log_p')",
        ),
        (
            V1 + "def f(x):\n    return tf.log(tf.nn.softmax(x), 'log_p')\n",
            "tf.nn.log_softmax(x, name='log_p')",
        ),
        (
            "import tensorflow as tf\ndef f(x):\n    return tf.math.log(tf.nn.softmax(x), name='log_p')\n",
            "tf.nn.log_softmax(x, name='log_p')",
        ),
        (
            "import tensorflow as tf\ndef f(x):\n    return tf.math.log(tf.reduce_mean(tf.exp(x)), name='m')\n",
            "tf.identity(tf.reduce_logsumexp(x) - tf.math.log(tf.cast(tf.size(x), x.dtype)), name='m')",
        ),
        (
            "from keras import ops\ndef f(x):\n    return ops.log(ops.softmax(x, 0))\n",
            "ops.log_softmax(x, 0)",
        ),
        (
            "import tensorflow as tf\nfrom tensorflow.keras import backend as K\ndef f(x):\n    return K.log(1.0 + K.exp(x))\n",
            "K.softplus(x)",
        ),
        (
            "from keras import backend as K\ndef f(x):\n    return K.log(K.sigmoid(x))\n",
            "-K.softplus(-x)",
        ),
        (
            "from keras import backend as K\ndef f(y, x):\n    return -K.mean(K.sum(y * K.log(K.softmax(x)), axis=-1))\n",
            "K.mean(K.categorical_crossentropy(y, x, from_logits=True))",
        ),
    ],
)
def test_arguments_keep_their_words_and_places(text, expected):
    source = Source("x.py", text)
    fixes = [
        fix
        for finding in repository.findings(source)
        for fix in finding.fixes
        if fix.claim.safe or "categorical" in expected
    ]
    after = edits_apply(text, fixes[0].edits) if fixes else ""
    assert (
        ("".join(after.rpartition("return ")[2].split()) == "".join(expected.split()))
        if expected
        else not fixes
    )


# ---------------------------------------------------------------------------------------------------------
# Names in the graph


NAMED = 'name="kept_here"'


def with_names(source: Source, rule: Rule) -> list[str]:
    """The texts of a source in which one call that a fix of a rule is for gets a name."""
    found = []
    for finding in outcomes.findings(source, [rule]):
        text = source.slice(finding.span)
        call = (
            ast.parse(text.strip(), mode="eval").body
            if finding.fixes and _is_expression(text)
            else None
        )
        callee = ast.unparse(call.func) if isinstance(call, ast.Call) else ""
        takes_name = "name" in SPELLINGS.get(callee, "").split() and not any(
            word.arg in ("name", None) for word in call.keywords
        )
        if takes_name:
            found.append(
                source.text[: finding.span.end - 1].rstrip().rstrip(",")
                + f", {NAMED})"
                + source.text[finding.span.end :]
            )
    return found


def _is_expression(text: str) -> bool:
    try:
        ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        return False
    return True


@RULES
@pytest.mark.parametrize(
    "imports", ["import tensorflow as tf", "import tensorflow.compat.v1 as tf"], ids=["tf2", "tf1"]
)
def test_a_name_at_the_site_is_kept_or_the_fix_is_refused(rule, imports):
    path = repository.claims(rule)
    source = Source(path.name, path.read_text().replace("import tensorflow as tf", imports))
    for text in with_names(source, rule):
        named = Source(path.name, text)
        place = text.index(NAMED)
        for finding in repository.findings(named, [rule]):
            if not finding.span.start <= place < finding.span.end:
                continue
            assert finding.fixes or finding.no_fix
            for fix in finding.fixes:
                assert NAMED in edits_apply(text, fix.edits), (fix.title, named.slice(finding.span))
