"""What is searched for in texts before anything is parsed: rows with a sign, names of objects,
files that import from each other.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator

import pytest

from tfnanlint.dev import repository
from tfnanlint.pipeline.analysis import Analysis
from tfnanlint.pipeline.prefilter import subscriptions
from tfnanlint.project.index import Project
from tfnanlint.rule.registry import load
from tfnanlint.syntax.nodes import nodes_in
from tfnanlint.syntax.source import Source
from tfnanlint.syntax.text_index import called, code_of, differences, finders, long_strings, powers

POWERS = """\
f(**a)
g(1,  # and the rest
  **a)
x ** 2
y = (x
     ** 3)
h(
    **a,
    b=c**d,
    e={**e, **f},
)
def f(a, **k): pass
z **= 2
w = 2 \\
    **-1
(x)**2; [x]**2
v = (a  # or (
     ** 2)
"""


def test_a_double_star_that_unpacks_is_no_power():
    assert powers(POWERS, Source("a.py", POWERS).line_starts) == [3, 4, 6, 9, 13, 15, 16, 18]


DIFFERENCES = """\
def f(a, axis=-1) -> float:
    b = a - 1e-5
    return -b
c = (a  # all of it
     - b)
d = [-1, 1.5e-3][-1:-2]
e = a-b if -a else -b
g -= 1
h = a \\
    - b
x = f(a)-1
y = 1. -x
z = {"a": -1}["a"] -2
"""


def test_a_minus_before_an_operand_is_no_difference():
    assert differences(DIFFERENCES, Source("a.py", DIFFERENCES).line_starts) == [
        2,
        5,
        7,
        8,
        10,
        11,
        12,
        13,
    ]


def rows_with(tree: ast.AST, operator: type[ast.operator]) -> Iterator[range]:
    """For each application of an operator, the rows between its operands."""
    for node in nodes_in(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, operator):
            yield range(node.left.end_lineno, node.right.lineno + 1)
        if isinstance(node, ast.AugAssign) and isinstance(node.op, operator):
            yield range(node.target.end_lineno, node.value.lineno + 1)


@pytest.mark.parametrize("search, operator", [(powers, ast.Pow), (differences, ast.Sub)])
@pytest.mark.parametrize("folder", ["fixtures", "tfnanlint", "rules", "tests", "benchmarks"])
@pytest.mark.slow
def test_no_operator_is_taken_for_another_use_of_its_sign(folder, search, operator):
    for path in sorted((repository.ROOT / folder).rglob("*.py")):
        source = Source.from_bytes(str(path), path.read_bytes())
        found = set(search(source.text, source.line_starts))
        assert all(found.intersection(rows) for rows in rows_with(source.tree, operator)), path


def test_what_finds_pieces_of_text_finds_each_of_them_and_nothing_else():
    """By whichever of its characters a piece is looked for."""
    pieces = {
        piece
        for rule in load()
        for need in (*rule.needs, *rule.words)
        for piece in [need.rpartition(":")[2]]
    }
    assert {"sqrt", "exp(", "e-4", "**"} <= pieces | {"**"}
    for asked in [
        *[rule.words for rule in load() if rule.words],
        tuple(sorted(pieces)),
        ("tfn", "TFN"),
        ("**",),
        ("/",),
    ]:
        for finder in finders(asked):
            for piece in finder.pieces:
                texts = [
                    piece,
                    f"a{piece}",
                    f"{piece}b",
                    f"x = {piece}\n",
                    piece[1:],
                    piece[:-1],
                    f"{piece[:-1]} {piece[-1]}",
                    piece.swapcase(),
                    piece[::-1],
                ]
                for text in texts:
                    assert finder.finds(text) == any(one in text for one in finder.pieces), (
                        finder.pieces,
                        text,
                    )


@pytest.mark.parametrize("folder", ["fixtures", "tfnanlint", "rules", "tests", "benchmarks"])
@pytest.mark.slow
def test_every_call_of_a_name_is_found_by_it(folder):
    """The rows are those that a search for the name and a parenthesis finds, whichever of both is
    asked.
    """
    for path in sorted((repository.ROOT / folder).rglob("*.py")):
        source = Source.from_bytes(str(path), path.read_bytes())
        for node in nodes_in(source.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
                name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
                row, end = source.position(source.span(node.func).end)
                if source.line_text(row)[end - 1 : end] == "(":
                    assert row in source.rows_calling([name]) and row in source.rows_with(
                        f"{name}("
                    ), f"{path}:{row}"
        assert all(
            places == sorted(set(places), reverse=True) for places in called(source.text).values()
        ), path


@pytest.mark.parametrize(
    "line, names",
    [
        ("loss_fn = keras.losses.BinaryCrossentropy()", {"loss_fn"}),
        ("self.act = tf.keras.layers.Softmax(axis=1)", {"act"}),
        ("loss_fn=BinaryCrossentropy()", {"loss_fn"}),
        ("loss_fn = build(keras.losses.BinaryCrossentropy)", set()),
        ("loss_fn = keras.losses.BinaryCrossentropyLike()", set()),
        ("return keras.losses.BinaryCrossentropy()", set()),
        ("self.act = tf.math.log", {"act"}),
        ("self.act = tf.math.log(x)", set()),
        ("y = apply(x, act=tf.math.log)", set()),
    ],
)
def test_objects_whose_calls_are_judged_are_found_by_what_makes_them(line, names):
    source = Source("a.py", f"import keras\n{line}\n")
    assert subscriptions(load(), source).marks(source).objects == names


@pytest.mark.parametrize(
    "line, imports",
    [
        ("from app import losses", True),
        ("from . import losses", True),
        ("import app.losses", True),
        ("from app.losses import (\n    f,\n)", True),
        ("import os, app.losses", True),
        ("from keras import layers; from app import losses", True),
        ("from keras import losses", False),
        ("from tensorflow.keras import (\n    losses,\n)", False),
    ],
)
def test_a_module_of_keras_is_no_module_of_the_project(tmp_path, line, imports):
    package = tmp_path / "app"
    package.mkdir()
    for name, text in (
        ("__init__", ""),
        ("losses", "def f(x):\n    return x\n"),
        ("train", f"{line}\nlosses.f(1.0)\n"),
    ):
        (package / f"{name}.py").write_text(text)
    found = Project(str(package / "losses.py")).importing(str(package / "losses.py"), "f")
    assert found == ([str(package / "train.py")] if imports else [])


@pytest.mark.parametrize(
    "lines, called",
    [
        ("import losses\nprint(losses.f(1.0))", True),
        ("from losses import f\nf(1.0)", True),
        ("from losses import *\n(f(1.0))", True),
        ("import losses\ndef f(x): return losses.f(x)", True),
        ("from losses import (\n    f,\n)\nclass g(f(1.0)): pass", True),
        ("import losses\nlosses.half(1.0)", False),
        ("import losses\ndef f(x): pass", False),
        ("from losses import f\nclass f(Base): pass", False),
        ("from losses import f\näf(1.0)", False),
        ("import losses\ndef f(x): pass\nf(1.0)", False),
        ("import losses\nf = losses.f\nf(1.0)", True),
        ("import losses\nf = getattr(losses, 'f')\nf(1.0)", True),
        ("import losses\nif fast:\n    f = losses.f\nelse:\n    def f(x): pass\nf(1.0)", True),
    ],
)
def test_a_longer_name_a_definition_and_what_a_file_defines_itself_are_no_call_of_another_file(
    tmp_path, lines, called
):
    (tmp_path / "losses.py").write_text("def f(x):\n    return x\n")
    (tmp_path / "train.py").write_text(lines + "\n", encoding="utf-8")
    found = Project(str(tmp_path / "losses.py")).importing(str(tmp_path / "losses.py"), "f")
    assert found == ([str(tmp_path / "train.py")] if called else [])


def test_a_project_called_keras_imports_its_own_modules(tmp_path):
    package = tmp_path / "keras"
    package.mkdir()
    for name, text in (
        ("__init__", ""),
        ("losses", "def f(x):\n    return x\n"),
        ("train", "from keras import losses\nlosses.f(1.0)\n"),
    ):
        (package / f"{name}.py").write_text(text)
    assert Project(str(package / "losses.py")).importing(str(package / "losses.py"), "f") == [
        str(package / "train.py")
    ]


@pytest.mark.parametrize(
    "pieces, text, stand",
    [
        (("nan", "NaN", "NAN"), "x = np.NAN", True),
        (("nan", "NaN", "NAN"), "x = np.Nan", False),
        (("exp(", "exp)", "exp,", "exponential"), "map(tf.exp)", True),
        (("exp(", "exp)", "exp,", "exponential"), "expected", False),
        (("**", "/"), "a / b", True),
        (("0.0)", "e-4", "e-39"), "1e-39", True),
    ],
)
def test_whether_one_of_some_pieces_stands_in_a_text(pieces, text, stand):
    source = Source("a.py", text)
    assert (
        source.holds(pieces)
        is source.holds(pieces)
        is stand
        is any(piece in text for piece in pieces)
    )


def test_what_a_rule_needs_for_one_op_says_nothing_of_its_others():
    rule = next(one for one in load() if one.code == "TFN314")
    assert [
        set(subscriptions([rule], Source("a.py", text)).by_op)
        for text in ("tf.norm(x)", "tf.math.rsqrt(x)", "tf.exp(x)")
    ] == [{"tf.divide"}, {"tf.divide", "tf.multiply"}, set()]


FOLDERS = ["fixtures", "tfnanlint", "rules", "tests", "benchmarks"]


def written(folder: str) -> Iterator[tuple[Source, list[tokenize.TokenInfo]]]:
    """The files of a folder that Python reads, with their tokens."""
    for path in sorted((repository.ROOT / folder).rglob("*.py")):
        source = Source.from_bytes(str(path), path.read_bytes())
        yield source, list(tokenize.generate_tokens(io.StringIO(source.text).readline))


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.slow
def test_strings_in_three_quotes_are_where_python_sees_them(folder):
    told = 0
    for source, tokens in written(folder):
        found = long_strings(source.text)
        if found is not None:
            starts = source.line_starts
            strings = [
                one
                for one in tokens
                if one.type == tokenize.STRING
                and one.string.lstrip("rRbBuU").startswith(('"""', "'''"))
            ]
            assert [end for _, end in found] == [
                starts[one.end[0] - 1] + one.end[1] for one in strings
            ], source.path
            told += bool(found)
    assert told


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.slow
def test_a_sign_outside_of_strings_and_comments_is_code(folder):
    """But for division by a number and for strings that are filled in."""
    looked_at = 0
    for source, tokens in written(folder):
        strings = long_strings(source.text)
        if strings is None:
            continue
        rows = [
            code_of(source.text, source.line_starts, row, strings)
            for row in range(1, len(source.line_starts) + 1)
        ]
        for before, one, after in zip(tokens, tokens[1:], tokens[2:]):
            if one.type == tokenize.OP and one.string in (
                "/",
                "//",
                "%",
                "**",
                "-",
                "/=",
                "%=",
                "**=",
            ):
                spared = (
                    after.type == tokenize.NUMBER
                    and one.string in ("/", "//", "%")
                    or before.type == tokenize.STRING
                    and one.string == "%"
                )
                assert spared or one.string in rows[one.start[0] - 1][1], (source.path, one)
                looked_at += 1
    assert looked_at


@pytest.mark.parametrize(
    "text, works",
    [
        ('"""Paths like a/b, -1 and 5%."""\nx = 1', False),
        ("x = 'a/b' + \"c - d\"", False),
        ("y = x / 2.0", False),
        ("y = x % 3", False),
        ('raise ValueError("%d of it" % x)', False),
        ("# x / y", False),
        ("x = 1  # of y / z", False),
        ("f(**a)", False),
        ("from tensorflow.keras import layers", False),
        ("from keras.src import initializers, layers as l", False),
        ('import os\nos.sep = "/"', False),
        ("y = x / z", True),
        ("y = x / 0", True),
        ("y = x / 0.0", True),
        ("y = x / 2 ** k", True),
        ("x /= 2", True),
        ("y = x // z", True),
        ("y = f'{x / z}'", True),
        ('y = "a/b" + rf"{x / z}"', True),
        ("y = 'a' if x / z else 'b'", True),
        ('x = """a/b""" if y / z else 1', True),
        ('s = """a\n/ b""" + str(x / y)', True),
        ("s = 'a \\\nb' + str(x / y) + 'c'", True),
        ('s = "a\\" / b"', False),
        ("s = \"it's\" + 'a/b'", False),
        ("from tensorflow.math import log", True),
        ("from tensorflow import (math,\n  log)", True),
        ("from tensorflow import *", True),
        ("from math import exp\nurl = 'http://a'", True),
        ("from os import path\nurl = 'http://a'", False),
        ("y = tf.math.log(x)", True),
        ('"""Of tf.math.log(x)."""', False),
        ("# '''\ny = x / z\n# '''", True),
        ('s = \'"""\'\ny = x / z\nt = \'"""\'', True),
        ("ln = (tf.math.log)\ny = ln(x)", True),
        ('m.add(Dense(2, activation="softmax"))', True),
        ('x = "a/b\\\nc" / d', True),
    ],
)
def test_whether_rules_have_work_in_a_text(text, works):
    source = Source("a.py", f"import tensorflow as tf\n{text}\n")
    source.tree
    found = subscriptions(load(), source)
    assert found.works(source, found.marks(source)) is works


@pytest.mark.parametrize(
    "head, infinity", (("import numpy as np", "np.inf"), ("from numpy import inf", "inf"))
)
def test_a_mask_times_infinity_is_found_once_however_infinity_is_written(head, infinity):
    """By the product itself where the text shows infinity, by the softmax behind it in any case."""
    text = f"{head}\nimport tensorflow as tf\n\n\ndef f(x, m):\n    return tf.nn.softmax(x + (1.0 - m) * -{infinity})\n"
    with Analysis(Source("a.py", text), load()) as analysis:
        assert [one.code for one in analysis.findings] == ["TFN506"]
