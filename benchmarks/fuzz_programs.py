"""Programs of generators, with ops of TensorFlow put into them: for `fuzz.py programs`.

pysource-codegen makes random trees of all syntax that Python has, hypothesmith texts of its
grammar. Neither knows TensorFlow: some expressions of a program become arguments of ops, and some
of its operators divisions and powers, so that rules have work in it.
"""

from __future__ import annotations

import ast
import random
import warnings
from collections.abc import Callable, Iterator

UNARY = ("log", "sqrt", "exp", "square", "acos", "log1p", "reciprocal", "abs")
OPS = tuple(f"tf.math.{name}" for name in UNARY) + (
    "tf.nn.softmax",
    "tf.nn.relu",
    "tf.norm",
    "tf.reduce_sum",
    "tf.reduce_mean",
    "tf.stop_gradient",
)
OPERATORS = (ast.Div, ast.Pow, ast.Sub, ast.Mult, ast.Mod)
HEAD = "import tensorflow as tf\n"
FUTURE = "from __future__"


class Planted(ast.NodeTransformer):
    """A tree in which some expressions that are read are arguments of ops."""

    def __init__(self, dice: random.Random):
        self._dice = dice

    def generic_visit(self, node: ast.AST) -> ast.AST:
        node = super().generic_visit(node)
        if isinstance(node, ast.BinOp) and self._dice.random() < 0.5:
            node.op = self._dice.choice(OPERATORS)()
        if not isinstance(node, (ast.Name, ast.Call, ast.BinOp, ast.Subscript)):
            return node
        if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load) or self._dice.random() > 0.2:
            return node
        op = ast.parse(self._dice.choice(OPS), mode="eval").body
        return ast.Call(op, [node], [])

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node  # what stands in its fields cannot be written again in every Python

    def visit_Match(self, node: ast.Match) -> ast.AST:
        for case in node.cases:  # patterns are no expressions
            case.body = [self.visit(statement) for statement in case.body]
        return node


def planted(text: str, dice: random.Random) -> str | None:
    """A program with ops in it; None for one that cannot be written again."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = Planted(dice).visit(ast.parse(text))
            new = ast.unparse(ast.fix_missing_locations(tree))
            ast.parse(new)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return HEAD + new + "\n" if FUTURE not in new else new + "\n" + HEAD


def of_trees(dice: random.Random) -> Iterator[str]:
    """Programs of pysource-codegen."""
    from pysource_codegen import generate

    while True:
        try:
            yield generate(dice.randrange(1 << 30), node_limit=dice.choice((30, 100, 400)))
        except (SyntaxError, ValueError, RecursionError):
            continue


def of_grammar(dice: random.Random) -> Iterator[str]:
    """Programs of hypothesmith."""
    import hypothesmith
    from hypothesis import HealthCheck, Phase, given, seed, settings

    while True:
        texts: list[str] = []

        @seed(dice.randrange(1 << 30))
        @settings(
            max_examples=40,
            phases=(Phase.generate,),
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(hypothesmith.from_node())
        def collect(text: str) -> None:
            texts.append(text)  # noqa: B023

        collect()
        yield from texts


GENERATORS: dict[str, Callable[[random.Random], Iterator[str]]] = {
    "pysource-codegen": of_trees,
    "hypothesmith": of_grammar,
}


def generated(dice: random.Random) -> Iterator[str]:
    """Programs of all generators that are installed, in turn, each as it is and with ops."""
    makers = []
    for name, programs in GENERATORS.items():
        try:
            __import__(name.replace("-", "_"))
        except ImportError:
            print(f"skipped: {name} is not installed")
        else:
            makers.append(programs(dice))
    while makers:
        for maker in makers:
            text = next(maker)
            yield HEAD + text
            new = planted(text, dice)
            if new is not None:
                yield new
