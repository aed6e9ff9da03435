"""Random small programs of table ops, for checking that what the analysis reveals covers what TensorFlow computes."""

from __future__ import annotations

import ast
import random

from tfnanlint.expressions import Interpreter
from tfnanlint.module import Module
from tfnanlint.ops import ROWS, load
from tfnanlint.scopes import Point
from tfnanlint.source import Source
from tfnanlint.values import Value

HEADER = "import tensorflow as tf\nimport numpy as np\nimport keras\nEPS = 1e-6\n\ndef program(a, b):\n"
INPUTS = ("tf.clip_by_value({v}, -2.0, 3.0)", "tf.nn.softmax({v})", "tf.nn.relu({v})", "tf.sigmoid({v})", "tf.square({v})",
          "tf.abs({v}) + 0.5", "tf.minimum({v}, 80.0)", "{v} * 1.0", "tf.tanh({v})", "tf.cast({v} > 0, tf.float32)")
CONSTANTS = ("0.5", "1.0", "2.0", "-1.0", "1e-7", "EPS", "0.0", "3", "1e-3", "10.0")
OPERATORS = ("{x} + {y}", "{x} - {y}", "{x} * {y}", "{x} / {y}", "{x} ** 2", "-{x}", "{x} + {c}", "{c} - {x}", "{x} * {c}",
             "{x} / {c}", "{c} / {x}", "1.0 - {x}", "{x} - tf.reduce_max({x})", "{x} / tf.reduce_sum({x})",
             "tf.where({x} > {c}, {x}, {y})", "tf.where({x} > 0, {x}, 1.0)", "tf.maximum({x}, {c})", "tf.minimum({x}, {c})",
             "{x} * {x}", "{x} - {x}", "tf.clip_by_value({x}, {c}, {c2})", "helper({x})", "(lambda t: t * {c})({x})",
             "[{x}, {y}][0]", "({x}, {y})[1]", "{{'k': {x}}}['k']", "{x}[:2]", "tf.where(tf.equal({x}, 0.0), {c}, {x})")
HELPER = "def helper(t):\n    if tf.reduce_sum(t) > 0:\n        return tf.exp(-t)\n    return tf.nn.relu(t) + EPS\n\n"
# References that TensorFlow runs on one vector alone and that give a vector or a number of floats.
_SKIPPED = frozenset({"tf.math.lbeta", "tf.linspace", "tf.math.polygamma"})


def references() -> list[str]:
    """References of the elementwise and reduction rows with at most two tensors."""
    load()
    return [row.reference for row in ROWS
            if row.reference and row.pure and row.name not in _SKIPPED and set(_free(row.reference)) <= {"x", "y"}]


def _free(text: str) -> set[str]:
    return {n.id for n in ast.walk(ast.parse(text, mode="eval")) if isinstance(n, ast.Name)} - {"tf", "np", "keras"}


class Generator:
    """Programs from one seed."""

    def __init__(self, seed: int, rows: list[str]):
        self.random = random.Random(seed)
        self.rows = rows
        self.tried = _Trial()

    def program(self) -> tuple[str, list[str]]:
        """Source text with a function `program(a, b)` and the names of its intermediate values."""
        choose = self.random
        names = ["v0", "v1"]
        lines = [f"v0 = {choose.choice(INPUTS).format(v='a')}", f"v1 = {choose.choice(INPUTS).format(v='b')}"]
        self.tried.start(lines)
        for index in range(2, 2 + choose.randint(2, 7)):
            name = f"v{index}"
            statement = self._statement(name, names)
            if self.tried.runs(statement, name):
                lines += statement
                names.append(name)
        body = "\n".join("    " + line for line in [*lines, f"return {', '.join(names)}"])
        return HEADER.replace("def program", HELPER + "def program") + body + "\n", names

    def _statement(self, name: str, names: list[str]) -> list[str]:
        kind = self.random.random()
        if kind < 0.08:
            return [f"{name} = {self._expression(names)}", f"for _ in range({self.random.randint(0, 3)}):",
                    f"    {name} = {self._expression([*names, name])}"]
        if kind < 0.16:
            return [f"if tf.reduce_sum({self.random.choice(names)}) > {self.random.choice(CONSTANTS)}:",
                    f"    {name} = {self._expression(names)}", "else:", f"    {name} = {self._expression(names)}"]
        return [f"{name} = {self._expression(names)}"]

    def _expression(self, names: list[str]) -> str:
        x, y = self.random.choice(names), self.random.choice(names)
        if self.random.random() < 0.5:
            return self.random.choice(OPERATORS).format(x=x, y=y, c=self.random.choice(CONSTANTS),
                                                        c2=self.random.choice(CONSTANTS))
        tree = ast.parse(self.random.choice(self.rows), mode="eval")
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id in ("x", "y"):
                node.id = x if node.id == "x" else y
        return ast.unparse(tree)


class _Trial:
    """Runs statements one by one, so that only programs whose shapes and dtypes fit are kept."""

    def start(self, lines: list[str]) -> None:
        import tensorflow as tf

        self.space: dict = {}
        exec(HEADER.split("def program")[0] + HELPER, self.space)
        self.space |= {"a": tf.constant([0.5, -1.0, 0.0, 2.0]), "b": tf.constant([1.5, 0.25, -3.0, 0.0])}
        exec("\n".join(lines), self.space)

    def runs(self, lines: list[str], name: str) -> bool:
        """Whether the statement computes a float tensor of rank 0 or 1."""
        try:
            exec("\n".join(lines), self.space)
        except Exception:  # whatever TensorFlow says of shapes, dtypes or ranks that do not fit
            return False
        made = self.space[name]
        return getattr(made, "dtype", None) == "float32" and made.shape.rank is not None and made.shape.rank <= 1


def revealed(text: str, names: list[str]) -> dict[str, Value]:
    """What the analysis says of every intermediate value at the end of the program."""
    module, interpreter = Module(Source("program.py", text)), Interpreter()
    function = next(f for node, f in module.functions.items() if node.name == "program")
    scope = interpreter.activation(function)
    time = scope.returns[-1][1]
    return {name: interpreter.ask(ast.Name(name, ast.Load()), Point(scope, time)) for name in names}


def violations(text: str, names: list[str], inputs) -> list[str]:
    """Every intermediate value outside what was revealed, run eagerly on `inputs` (pairs of float32 vectors)."""
    import numpy as np
    import tensorflow as tf

    space: dict = {}
    exec(compile(text, "program.py", "exec"), space)
    claimed = revealed(text, names)
    found = []
    for a, b in inputs:
        try:
            results = space["program"](tf.constant(a), tf.constant(b))
        except (tf.errors.InvalidArgumentError, TypeError, ValueError, IndexError):
            continue  # a branch whose shapes do not fit: nothing was computed
        for name, result in zip(names, results):
            for number in np.asarray(result, dtype="float64").ravel():
                if not claimed[name].admits(float(number)):
                    found.append(f"{name} = {number!r} is not in {claimed[name]!r}\n{text}\n# on {a.tolist()}, {b.tolist()}")
                    break
    return found
