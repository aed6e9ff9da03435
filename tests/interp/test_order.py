"""What is found and revealed does not depend on the order in which it is asked for. Over real code:
benchmarks/order.py.
"""

from __future__ import annotations

import ast
import random
from pathlib import Path

import pytest

from tfnanlint.dev.reveal import reveals
from tfnanlint.interp.engine import Engine
from tfnanlint.pipeline.analysis import Analysis, File
from tfnanlint.program.module import Module
from tfnanlint.rule import registry as rules
from tfnanlint.syntax.source import Source

FIXTURES = Path(__file__).parents[2] / "fixtures"


def turned(file: File, places: list) -> list:
    return places[::-1]


def stirred(file: File, places: list) -> list:
    """The places in some order, after every op application of the file was asked for what arrives
    there, the last argument first.
    """
    draw, nodes = random.Random(0), []
    for row in range(1, len(file.module.source.line_starts) + 1):
        for stack in ([one] for one in file.module.expressions(row, file.interpreter)):
            while stack:
                node, point = stack.pop()
                nodes += [(node, point)] if isinstance(node, (ast.Call, ast.BinOp)) else []
                stack += file.interpreter.parts(node, point)
    for node, point in draw.sample(nodes, len(nodes)):
        site = file.interpreter.site(node, point)
        for param in reversed(site.args if site is not None else ()):
            file.interpreter.session.steps = 0
            site.value(param)
    return draw.sample(places, len(places))


def as_they_stand(file: File, places: list) -> list:
    return places


def found(path: Path, order) -> list[str]:
    """The findings of all rules with candidates in some order."""
    original = File.candidates
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            File,
            "candidates",
            lambda file, only=None, within=None: order(file, list(original(file, only, within))),
        )
        with Analysis(Source.from_bytes(str(path), path.read_bytes()), rules.load()) as analysis:
            return [
                f"{one.span} {one.code} {one.certainty} {one.differentiated} {one.message}"
                for one in analysis.findings
            ]


def revealed(text: str, order=as_they_stand) -> list[tuple[int, str]]:
    return sorted(
        (one.row, str(one)) for one in reveals(Source("/nowhere/program.py", text), order)
    )


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["flow", "programs", "reveal", "rules"])
def test_findings_in_fixtures(folder):
    paths = sorted((FIXTURES / folder).rglob("*.py"))
    assert len(paths) > 15
    for path in paths:
        findings = found(path, as_they_stand)
        assert found(path, turned) == findings, path
        assert found(path, stirred) == findings, path


@pytest.mark.slow
def test_what_fixtures_reveal():
    for path in sorted((FIXTURES / "flow").glob("*.py")):
        text = path.read_text()
        said = revealed(text)
        assert revealed(text, turned) == said, path
        # a parameter of which its own callers are asked for a variable that it changes: less is
        # known, rightly
        if path.name != "state.py":
            assert revealed(text, stirred) == said, path


LOOPS = """
import tensorflow as tf

def program(a, n):
    x = tf.constant(4.0)
    for _ in range(n):
        x = tf.sqrt(x) - 1.0
        y = 1.0 / x
    reveal(x)
    reveal(y)
"""
LISTS = """
import tensorflow as tf

def program(a, b, n):
    parts = [tf.nn.relu(a)]
    parts.append(tf.tanh(b))
    reveal(parts[1])
    x = tf.sigmoid(a)
    for _ in range(n):
        x = tf.minimum(x, parts[1])
    reveal(x)
"""
NAMED = """
import tensorflow as tf

def program(a):
    parts = [v := tf.nn.relu(a), reveal(v), tf.sqrt(v + 1.0)]
    reveal(parts[0])
    reveal(parts[2])
"""
ARGUMENTS = """
import tensorflow as tf

def program(a, n):
    reveal(tf.boolean_mask(tf.cast(a, tf.bfloat16), [True] * n))
    reveal(tf.rank(a))
"""
KEPT = """
import tensorflow as tf

def program(a, p):
    held = []
    held.insert(0, a)
    v = held[-1]
    reveal(v)
    reveal(tf.cond(p, lambda: v, lambda: v))
"""
HANDED = """
import tensorflow as tf
from elsewhere import register

def scaled(x, by):
    reveal(x)
    reveal(by)
    return x * by, by.scaled

scaled(1.0, 2.0)
register(scaled)
"""


@pytest.mark.parametrize(
    "text, said",
    [
        (LOOPS, ["[-1, 4] nan float32", "any not 0 nan inf float32"]),
        (LISTS, ["[-1, 1] from tf.tanh", "[-1, 1]"]),
        (NAMED, ["[0, inf] from tf.nn.relu", "[0, inf] from tf.nn.relu", "[1, inf] from tf.sqrt"]),
        (
            ARGUMENTS,
            ["unknown bfloat16 from tf.boolean_mask", "[0, inf] int32 number from tf.rank"],
        ),
        (KEPT, ["unknown", "unknown from tf.cond"]),
        (HANDED, ["unknown", "unknown"]),
    ],
)
def test_what_is_revealed(text, said):
    made = revealed(text)
    assert [one for _, one in made] == said
    assert revealed(text, turned) == made
    assert revealed(text, stirred) == made


CALLERS = """
import tensorflow as tf

def first(x, n):
    reveal(tf.sqrt(x))
    return second(x, n - 1)

def second(x, n):
    reveal(tf.sqrt(x))
    return first(x, n - 1) if n else x

def train(x, optimizer):
    with tf.GradientTape() as tape:
        y = {called}(x, 3)
"""


@pytest.mark.parametrize("called", ["first", "second"])
def test_functions_that_call_each_other(called):
    text = CALLERS.format(called=called)
    for order in (as_they_stand, turned):
        assert all(said.endswith("differentiated") for _, said in revealed(text, order))


def test_what_a_file_does_with_a_function_is_a_question_of_its_own():
    text = "def f(x):\n    return x\n\ng = [f, f, f]\nh = f(1)\n"
    interpreter = Engine()
    module = Module(Source("/nowhere/program.py", text))
    interpreter.session.steps = 7
    assert [interpreter.escapes(function) for function in module.functions.values()] == [True]
    assert interpreter.session.steps == 7
