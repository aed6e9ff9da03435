"""What is searched for in texts before anything is parsed: rows with a sign, names of objects, files that import from each other."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tfnanlint.dev import repository
from tfnanlint.flow import subscriptions
from tfnanlint.nodes import nodes_in
from tfnanlint.project import Project
from tfnanlint.rows import powers
from tfnanlint.rules import load
from tfnanlint.source import Source

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


def rows_with_powers(tree: ast.AST) -> Iterator[range]:
    """For each power, the rows between its operands."""
    for node in nodes_in(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            yield range(node.left.end_lineno, node.right.lineno + 1)
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Pow):
            yield range(node.target.end_lineno, node.value.lineno + 1)


@pytest.mark.parametrize("folder", ["fixtures", "tfnanlint", "rules", "tests", "benchmarks"])
def test_no_power_is_taken_for_unpacking(folder):
    for path in sorted((repository.ROOT / folder).rglob("*.py")):
        source = Source.from_bytes(str(path), path.read_bytes())
        found = set(powers(source.text, source.line_starts))
        assert all(found.intersection(rows) for rows in rows_with_powers(source.tree)), path


@pytest.mark.parametrize("line, names", [
    ("loss_fn = keras.losses.BinaryCrossentropy()", {"loss_fn"}),
    ("self.act = tf.keras.layers.Softmax(axis=1)", {"act"}),
    ("loss_fn=BinaryCrossentropy()", {"loss_fn"}),
    ("loss_fn = build(keras.losses.BinaryCrossentropy)", set()),
    ("loss_fn = keras.losses.BinaryCrossentropyLike()", set()),
    ("return keras.losses.BinaryCrossentropy()", set()),
])
def test_objects_whose_calls_are_judged_are_found_by_what_makes_them(line, names):
    source = Source("a.py", f"import keras\n{line}\n")
    assert subscriptions(load(), source).marks(source).objects == names


@pytest.mark.parametrize("line, imports", [
    ("from app import losses", True), ("from . import losses", True), ("import app.losses", True), ("from app.losses import (\n    f,\n)", True),
    ("import os, app.losses", True), ("from keras import layers; from app import losses", True),
    ("from keras import losses", False), ("from tensorflow.keras import (\n    losses,\n)", False),
])
def test_a_module_of_keras_is_no_module_of_the_project(tmp_path, line, imports):
    package = tmp_path / "app"
    package.mkdir()
    for name, text in (("__init__", ""), ("losses", "def f(x):\n    return x\n"), ("train", f"{line}\nlosses.f(1.0)\n")):
        (package / f"{name}.py").write_text(text)
    found = Project(str(package / "losses.py")).importing(str(package / "losses.py"), "f")
    assert found == ([str(package / "train.py")] if imports else [])


def test_a_project_called_keras_imports_its_own_modules(tmp_path):
    package = tmp_path / "keras"
    package.mkdir()
    for name, text in (("__init__", ""), ("losses", "def f(x):\n    return x\n"), ("train", "from keras import losses\nlosses.f(1.0)\n")):
        (package / f"{name}.py").write_text(text)
    assert Project(str(package / "losses.py")).importing(str(package / "losses.py"), "f") == [str(package / "train.py")]


@pytest.mark.parametrize("pieces, text, stand", [
    (("nan", "NaN", "NAN"), "x = np.NAN", True), (("nan", "NaN", "NAN"), "x = np.Nan", False), (("exp(", "exp)", "exp,", "exponential"), "map(tf.exp)", True),
    (("exp(", "exp)", "exp,", "exponential"), "expected", False), (("**", "/"), "a / b", True), (("0.0)", "e-4", "e-39"), "1e-39", True),
])
def test_whether_one_of_some_pieces_stands_in_a_text(pieces, text, stand):
    source = Source("a.py", text)
    assert source.holds(pieces) is source.holds(pieces) is stand is any(piece in text for piece in pieces)


def test_what_a_rule_needs_for_one_op_says_nothing_of_its_others():
    rule = next(one for one in load() if one.code == "TFN314")
    assert [set(subscriptions([rule], Source("a.py", text)).by_op) for text in ("tf.norm(x)", "tf.math.rsqrt(x)", "tf.exp(x)")] == [
        {"tf.divide"}, {"tf.divide", "tf.multiply"}, set()]
