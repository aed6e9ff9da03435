"""Programs of one construct repeated or nested: what a careless analysis is slow at, or holds too
much of.

Each case is a function from a count to a text; `CASES` names them all, with the options of
`tfnanlint check` under which they are hard.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

HEAD = "import tensorflow as tf\n"
FOUND = "tf.math.log(tf.nn.softmax(x))"


class Case(NamedTuple):
    """A program of a count of repetitions, and options of the command line."""

    text: Callable[[int], str]
    count: int  # of repetitions that take about a second
    options: tuple[str, ...] = ()


def _repeated(piece: str, before: str = "", behind: str = "") -> Callable[[int], str]:
    """Programs in which a piece stands many times: `{i}` is the number of the repetition."""
    if "{i}" in piece:
        return lambda count: (
            HEAD + before + "".join(piece.replace("{i}", str(i)) for i in range(count)) + behind
        )
    return lambda count: HEAD + before + piece * count + behind


def _nested(line: str, inner: str, limit: int = 99) -> Callable[[int], str]:
    """Programs of nested blocks, in towers of at most `limit`: Python's own limit is 100."""

    def text(count: int) -> str:
        lines = []
        for start in range(0, count, limit):
            depth = min(limit, count - start)
            lines += [" " * i + line.replace("{i}", str(start + i)) for i in range(depth)]
            lines.append(" " * depth + inner)
        return HEAD + "\n".join(lines) + "\n"

    return text


def _functions_in_a_dict(count: int) -> str:
    functions = "".join(f"def f{i}(x):\n    return tf.math.log(x)\n" for i in range(count))
    table = "".join(f"    'k{i}': f{i},\n" for i in range(count))
    return f"{HEAD}{functions}T = {{\n{table}}}\ndef g(k, x):\n    return T[k](tf.nn.relu(x))\n"


def _attributes_in_a_tuple(count: int) -> str:
    targets = ", ".join(f"m.a{i}" for i in range(count))
    return f"{HEAD}{targets} = y\nz = {FOUND}\n"


def _attributes_of_classes(count: int) -> str:
    """Classes whose attributes one line assigns from outside."""
    classes = "".join(
        f"class C{i}:\n    a{i} = 1.0\n    def f(self, x):\n        return x / self.a{i}\n"
        for i in range(count)
    )
    return f"{HEAD}{classes}" + ", ".join(f"m.a{i}" for i in range(count)) + " = y\n"


CASES: dict[str, Case] = {
    # findings in one place
    "findings on one line": Case(_repeated(f"{FOUND};"), 200),
    "findings in an f-string": Case(_repeated(f"{{{FOUND}}}", 'y = f"', '"\n'), 200),
    "findings in a list": Case(_repeated(f"    {FOUND},\n", "y = [\n", "]\n"), 200),
    "findings in a list on one line": Case(_repeated(f"{FOUND},", "y = [", "]\n"), 200),
    "findings in a dict": Case(_repeated(f"    'k{{i}}': {FOUND},\n", "y = {\n", "}\n"), 200),
    "findings in a call": Case(_repeated(f"    {FOUND},\n", "f(\n", ")\n"), 200),
    "findings in a sum": Case(_repeated(f"    + {FOUND}\n", "y = (x\n", ")\n"), 100),
    "findings in a comparison": Case(_repeated(f"    < {FOUND}\n", "y = (x\n", ")\n"), 100),
    "findings in a function": Case(_repeated(f"    y = {FOUND}\n", "def f(x):\n"), 200),
    "findings chained in a function": Case(
        _repeated("    x = tf.math.log(tf.nn.softmax(x))\n", "def f(x):\n"), 200
    ),
    "findings in match": Case(
        _repeated(
            f"        case {{i}}:\n            y = {FOUND}\n", "def f(x, k):\n    match k:\n"
        ),
        200,
    ),
    "findings in if": Case(
        _repeated(
            f"    elif k == {{i}}:\n        y = {FOUND}\n",
            "def f(x, k):\n    if k < 0:\n        y = 0\n",
        ),
        100,
    ),
    "findings in lambdas": Case(_repeated(f"    lambda x: {FOUND},\n", "y = [\n", "]\n"), 200),
    "findings in functions": Case(_repeated(f"def f{{i}}(x):\n    return {FOUND}\n"), 200),
    "findings in methods": Case(
        _repeated(f"    def f{{i}}(self, x):\n        return {FOUND}\n", "class C:\n"), 200
    ),
    "findings in classes": Case(
        _repeated(f"class C{{i}}:\n    def f(self, x):\n        return {FOUND}\n"), 200
    ),
    "findings under noqa": Case(_repeated(f"y = {FOUND}  # noqa: TFN101\n"), 200),
    "findings fixed, on one line": Case(_repeated(f"{FOUND};"), 50, ("--diff",)),
    "findings fixed, in lines": Case(_repeated(f"y = {FOUND}\n"), 50, ("--diff",)),
    "findings fixed, in a list": Case(
        _repeated(f"    {FOUND},\n", "y = [\n", "]\n"), 50, ("--diff",)
    ),
    "findings in full": Case(_repeated(f"{FOUND};"), 100, ("--output-format", "full")),
    "quotients": Case(_repeated("    y = x / tf.reduce_sum(x)\n", "def f(x):\n"), 200),
    "roots": Case(_repeated("    y = tf.sqrt(tf.reduce_sum(tf.square(x)))\n", "def f(x):\n"), 100),
    # structure
    "cases": Case(
        _repeated(
            "        case {i}:\n            y = {i}\n",
            "def f(x, k):\n    match k:\n",
            f"    return {FOUND}\n",
        ),
        400,
    ),
    "cases at the top": Case(
        _repeated("    case {i}:\n        y = {i}\n", "match k:\n", f"z = {FOUND}\n"), 400
    ),
    "elif": Case(
        _repeated(
            "    elif k == {i}:\n        y = {i}\n",
            "def f(x, k):\n    if k < 0:\n        y = 0\n",
            f"    return tf.math.log(y) + {FOUND}\n",
        ),
        100,
    ),
    "a dict of functions": Case(_functions_in_a_dict, 300),
    "a dict of lambdas": Case(
        _repeated(
            "    'k{i}': lambda x: tf.math.log(x),\n",
            "T = {\n",
            "}\ndef g(k, x):\n    return T[k](tf.nn.relu(x))\n",
        ),
        300,
    ),
    "a list of ops": Case(
        _repeated("    tf.math.log,\n", "T = [\n", "]\ndef g(k, x):\n    return T[k](x)\n"), 500
    ),
    "attributes in a tuple": Case(_attributes_in_a_tuple, 2_000),
    "attributes of classes": Case(_attributes_of_classes, 300),
    "names in a tuple": Case(_repeated("a{i}, ", "", f"= y\nz = {FOUND}\n"), 2_000),
    "targets in a chain": Case(_repeated("a{i} = ", "", f"y\nz = {FOUND}\n"), 2_000),
    "nested classes": Case(
        _nested("class C{i}:", "def f(self, x): return x / tf.reduce_sum(x)"), 100
    ),
    "nested functions": Case(_nested("def f{i}(x):", "return tf.math.log(tf.nn.relu(x))", 60), 100),
    "nested loops": Case(_nested("for i{i} in y:", "x = tf.math.log(x + y)", 18), 36),
    "nested if": Case(_nested("if x{i}:", "x = tf.math.log(x + y)"), 100),
    "nested with": Case(_nested("with a{i}:", "x = tf.math.log(x + y)", 18), 100),
    "loops": Case(_repeated("for i in y:\n    x = tf.math.log(x + i)\n"), 100),
    "loops in a function": Case(
        _repeated("    for i in y:\n        x = tf.math.log(x + i)\n", "def f(x, y):\n"), 100
    ),
    "try": Case(
        _repeated("    try:\n        x = tf.exp(x)\n    except E:\n        pass\n", "def f(x):\n"),
        200,
    ),
    "if": Case(_repeated("    if c{i}:\n        x = tf.exp(x)\n", "def f(x):\n"), 200),
    "with": Case(_repeated("    with a:\n        x = tf.math.log(x)\n", "def f(x):\n"), 200),
    "asserts": Case(
        _repeated("    assert x > {i}\n", "def f(x):\n", "    return tf.math.log(x)\n"), 500
    ),
    "tests in one": Case(_repeated(" and x > {i}", "if x", ":\n    y = tf.math.log(x)\n"), 200),
    "raises": Case(
        _repeated(
            "    if x < {i}:\n        raise E\n", "def f(x):\n", "    return tf.math.log(x)\n"
        ),
        200,
    ),
    "methods": Case(
        _repeated(
            "    def f{i}(self, x):\n        self.a{i} = tf.exp(x)\n        return x / self.a{i}\n",
            "class C:\n",
        ),
        100,
    ),
    "attributes in init": Case(
        _repeated(
            "        self.a{i} = {i}\n",
            "class C:\n    def __init__(self):\n",
            "    def f(self, x):\n        return x / self.a0\n",
        ),
        1_000,
    ),
    "one attribute": Case(
        _repeated("        self.a = tf.exp(self.a)\n", "class C:\n    def f(self):\n"), 200
    ),
    "subclasses": Case(
        lambda count: (
            HEAD
            + "class C0:\n    def call(self, x):\n        return x\n"
            + "".join(
                f"class C{i}(C{i - 1}):\n    def call(self, x):\n        return tf.math.log(super().call(x))\n"
                for i in range(1, count)
            )
        ),
        50,
    ),
    "functions that call one": Case(
        _repeated("def f{i}(x):\n    return g(x)\n", "def g(x):\n    return tf.math.log(x)\n"), 300
    ),
    "calls of one function": Case(
        _repeated("y = g(x + {i})\n", "def g(x):\n    return tf.math.log(x)\n"), 500
    ),
    "calls in a function": Case(
        _repeated("    y = g(x + {i})\n", "def g(x):\n    return tf.math.log(x)\ndef h(x):\n"), 500
    ),
    "redefinitions": Case(_repeated("def f(x):\n    return tf.math.log(x) + f(x)\n"), 200),
    "parameters": Case(
        _repeated("a{i}=1.0, ", "def f(", f"):\n    return a0 / a1 + {FOUND}\n"), 1_000
    ),
    "keywords": Case(_repeated("a{i}=x, ", "f(", f")\ny = {FOUND}\n"), 1_000),
    "decorators": Case(
        _repeated("@tf.function\n", "", "def f(x):\n    return tf.math.log(x)\n"), 500
    ),
    "imports": Case(_repeated("from m{i} import n{i}\n", "", f"y = {FOUND}\n"), 1_000),
    "imported names": Case(_repeated("n{i}, ", "from m import (", f"o)\ny = {FOUND}\n"), 1_000),
    "globals": Case(_repeated("def f{i}():\n    global g{i}\n    g{i} = tf.math.log(g{i})\n"), 100),
    "comprehensions": Case(_repeated("y = [tf.math.log(x) for x in y]\n"), 200),
    "walruses": Case(_repeated("if (y := tf.exp(y)): pass\n"), 200),
    "lambdas": Case(_repeated("y = lambda x: tf.math.log(x)\n"), 300),
    "subscripts": Case(_repeated("d['k{i}'] = tf.exp(d['k0'])\n", "d = {}\n"), 200),
    "appends": Case(
        _repeated(
            "    a.append(tf.exp(x))\n", "def f(x):\n    a = []\n", "    return tf.math.log(a[0])\n"
        ),
        300,
    ),
    "returns": Case(
        _repeated("    if c{i}: return tf.exp(x)\n", "def f(x):\n", "y = tf.math.log(f(z))\n"), 200
    ),
    "yields": Case(
        _repeated("    yield tf.exp(x)\n", "def f(x):\n", "for y in f(z): tf.math.log(y)\n"), 300
    ),
    "statements on one line": Case(_repeated("x = tf.exp(x);"), 500),
    "fields of a string": Case(_repeated("{x / y}", 'z = f"', '"\n'), 500),
    "divisions on one line": Case(_repeated("x / y, ", "z = [", "]\n"), 500),
    "calls in calls": Case(_repeated("f(f(f(f(f(x))))) / y, ", "z = [", "]\n"), 300),
    # memory
    "plain statements": Case(_repeated("x{i} = {i}\n", "", f"y = {FOUND}\n"), 10_000),
    "plain calls": Case(_repeated("f{i}(a, b, c)\n", "", f"y = {FOUND}\n"), 10_000),
    "exponentials": Case(_repeated("x = tf.exp(x)\n"), 1_000),
    "exponentials in a function": Case(_repeated("    x = tf.exp(x)\n", "def f(x):\n"), 1_000),
    "sums": Case(_repeated("x = x + tf.nn.relu(x) / y\n"), 500),
    "a long list": Case(_repeated("1,", "y = [", f"]\nz = {FOUND}\n"), 50_000),
    "a long dict": Case(_repeated("'k{i}': {i},", "y = {", f"}}\nz = {FOUND}\n"), 10_000),
    "blank lines": Case(_repeated("\n", "", f"y = {FOUND}\n"), 100_000),
    # text
    "hashes": Case(_repeated("#", "", f"\ny = {FOUND}\n"), 10_000),
    "hashes and blanks": Case(_repeated("# ", "", f"\ny = {FOUND}\n"), 10_000),
    "hashes behind code": Case(_repeated("#", f"y = {FOUND} "), 10_000),
    "hashes behind tfn": Case(_repeated("#", f"y = {FOUND} # tfn: ignore "), 10_000),
    "lines of hashes": Case(_repeated("#" * 78 + "\n", "", f"y = {FOUND}\n"), 500),
    "lines of hashes and tfn": Case(_repeated("#" * 78 + " tfn\n", "", f"y = {FOUND}\n"), 500),
    "unclosed ignores": Case(_repeated("# tfn: ignore["), 500),
    "ignores on one line": Case(_repeated("# tfn: ignore[TFN101] ", "y = 1 "), 500),
    "ignores in lines": Case(_repeated("# tfn: ignore[TFN101]\n"), 500),
    "names in an ignore": Case(_repeated("TFN101, ", "y = 1 # tfn: ignore[", "]\n"), 1_000),
    "unknown names in an ignore": Case(_repeated("n{i}, ", "y = 1 # tfn: ignore[", "]\n"), 200),
    "noqa": Case(_repeated("# noqa: TFN101 ", "y = 1 "), 500),
    "blanks in an ignore": Case(_repeated(" ", "y = 1 # tfn: ignore", "!\n"), 10_000),
    "open losses": Case(_repeated("loss=[", "", f"\ny = {FOUND}\n"), 90),
    "open losses in a string": Case(_repeated("loss=[", 's = "', f'"\ny = {FOUND}\n'), 5_000),
    "losses": Case(
        _repeated("m.compile(loss=[f{i}], metrics=[f{i}])\n", "", f"y = {FOUND}\n"), 300
    ),
    "losses on one line": Case(
        _repeated("m.compile(loss=[f], metrics=[f]);", "", f"y = {FOUND}\n"), 300
    ),
    "open metrics in a string": Case(_repeated("metrics=[", 's = "', f'"\ny = {FOUND}\n'), 5_000),
    "maps in a string": Case(_repeated(".map(", 's = "', f'"\ny = {FOUND}\n'), 5_000),
    "quotes": Case(_repeated("'a' ", "y = ", f"\nz = {FOUND}\n"), 10_000),
    "triple quotes": Case(_repeated('"""a"""\n', "", f"z = {FOUND}\n"), 5_000),
    "quotes in a comment": Case(_repeated("'\"", "# ", f"\nz = {FOUND}\n"), 10_000),
    "backslashes": Case(_repeated("\\\\", "y = '", f"'\nz = {FOUND}\n"), 10_000),
    "continued lines": Case(_repeated("+ \\\n 1", "y = 1", f"\nz = {FOUND}\n"), 1_000),
    "blanks in a line": Case(_repeated(" ", "y = 1", f"\nz = {FOUND}\n"), 50_000),
    "blanks before minus": Case(_repeated(" ", "y = x", f"- 1\nz = {FOUND}\n"), 50_000),
    "minus": Case(_repeated("- x ", "y = x ", f"\nz = {FOUND}\n"), 400),
    "stars": Case(_repeated("x ** y, ", "z = [", "]\n"), 500),
    "dots": Case(_repeated(".log", "y = x", f"\nz = {FOUND}\n"), 400),
    "a long name": Case(_repeated("n", "y = ", f"\nz = {FOUND}\n"), 50_000),
    "a long string": Case(_repeated("a", "y = '", f"'; z = {FOUND}\n"), 100_000),
    "a long string, fixed": Case(_repeated("a", "y = '", f"'; z = {FOUND}\n"), 50_000, ("--diff",)),
    "a long line, fixed": Case(_repeated("1,", "y = [", f"]; z = {FOUND}\n"), 5_000, ("--diff",)),
    "a long file, fixed": Case(_repeated("x{i} = {i}\n", "", f"y = {FOUND}\n"), 5_000, ("--diff",)),
    "letters of other scripts": Case(_repeated("é", "y = '", f"'; z = [{FOUND}]\n"), 50_000),
    "findings behind other scripts": Case(
        lambda count: HEAD + "y = '" + "é" * 10 * count + "'; " + f"{FOUND};" * count + "\n", 50
    ),
    "returned carriages": Case(_repeated("x = 1\r", "", f"y = {FOUND}\n"), 5_000),
}
