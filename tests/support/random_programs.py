"""Random small TensorFlow programs: functions, classes, branches, loops, containers, layers,
dtypes; `reveal(x)` after every step.

A program is grown statement by statement. Each is run at once on sample values, and kept when
TensorFlow takes it: what is left are programs whose shapes and dtypes fit. What their values are on
other inputs is for tests/support/trials.py.
"""

from __future__ import annotations

import ast
import math
import random
from typing import Any

from random_expressions import ASSERTIONS, CONDITIONS, CONSTANTS, EXPRESSIONS, INPUTS, SIMPLE
from random_statements import MoreStatements
from random_statements import indented as _indented

from tfnanlint.ops.table import ROWS, TABLE, load

PRELUDE = """import collections, contextlib
import dataclasses
import functools
import math

import keras
import numpy as np
import tensorflow as tf
import tensorflow.experimental.numpy as tnp
from keras import ops

EPS = 1e-6
SCALE = 0.5
LIMITS = (0.1, 0.9)
TABLE = {"floor": 1e-3, "rate": 2.0}
Pair = collections.namedtuple("Pair", "mean scale")


@dataclasses.dataclass
class Config:
    eps: float = 1e-5
    gain: float = 3.0
    share: float = 0.25


@contextlib.contextmanager
def scaled(factor):
    yield factor * 0.5


"""
MAX_REVEALED = 20_000  # while a program is grown; the longest need a few hundred
# elements; a loop over tf.one_hot adds an axis in every round until the memory is full
MAX_SIZE = 10_000
MAX_RANK = 24  # axes of length 1 are no elements: TensorFlow ends the process at 254 of them
# They hold for the process: `settled` takes them back.
SETTINGS = (
    "keras.mixed_precision.set_global_policy('mixed_float16')",
    "keras.mixed_precision.set_global_policy('mixed_bfloat16')",
    "keras.backend.set_floatx('float64')",
    "keras.config.set_dtype_policy('float16')",
)
PARAMETERS = ("a", "b", "m", "flag", "n", "k")
# References that TensorFlow runs on one vector alone and that give a vector or a number of floats.
_SKIPPED = frozenset({"tf.math.lbeta", "tf.linspace", "tf.math.polygamma"})
_LIBRARIES = {"tf", "np", "keras", "ops", "tnp"}


def references() -> list[str]:
    """References of the elementwise and reduction rows with at most two tensors."""
    load()
    return [
        row.reference
        for row in ROWS
        if row.reference
        and row.pure
        and row.name not in _SKIPPED
        and _free(row.reference) <= {"x", "y"}
    ]


def _free(text: str) -> set[str]:
    return {
        n.id for n in ast.walk(ast.parse(text, mode="eval")) if isinstance(n, ast.Name)
    } - _LIBRARIES


class Misfit(Exception):
    """No value of the kind that a hole needs, or TensorFlow does not take the statement."""


class Scope:
    """Names of one function while it is grown, with sample values; `names` are those that
    expressions may use.
    """

    def __init__(
        self, space: dict[str, Any], names: list[str], function: bool = False, loop: bool = False
    ):
        self.space, self.names, self.function, self.loop = space, names, function, loop

    def inner(self, loop: bool = False) -> Scope:
        return Scope(dict(self.space), list(self.names), self.function, loop or self.loop)

    def run(self, lines: list[str]) -> None:
        """Runs lines in a copy, which is kept if it works. Raises `Misfit`."""
        space = dict(self.space)
        try:
            exec("\n".join(lines), space)
        # whatever TensorFlow says of shapes, dtypes or ranks that do not fit
        except Exception as error:
            raise Misfit from error
        self.space = space

    def bind(self, name: str) -> None:
        if not usable(self.space.get(name)):
            raise Misfit
        if name not in self.names:
            self.names.append(name)


def settle() -> None:
    """Takes back what a program has set for its process, the policy too that its first layer made
    of the floatx.
    """
    import keras

    keras.backend.set_floatx("float32")
    keras.utils.clear_session(free_memory=False)


def usable(value: Any) -> bool:
    """A small tensor, array or number."""
    if isinstance(value, (bool, int, float)):
        return not isinstance(value, int) or abs(value) < 1 << 31
    shape = getattr(value, "shape", None)
    if (
        shape is None
        or getattr(value, "dtype", None) is None
        or not hasattr(value, "numpy")
        and not hasattr(value, "ndim")
    ):
        return False
    return (
        len(shape) <= 3
        and None not in tuple(shape)
        and size_of(value) <= 64
        and getattr(value.dtype, "name", str(value.dtype)) in _DTYPES
    )


def size_of(value: Any) -> int:
    """The number of elements; 1 for what has no shape."""
    return math.prod(getattr(value, "shape", None) or ())


def rank_of(value: Any) -> int:
    return len(getattr(value, "shape", None) or ())


_FLOATS = ("float32", "float64", "float16", "bfloat16")
_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16")
_DTYPES = frozenset((*_FLOATS, *_INTEGERS, "bool"))
_SPELLINGS = ("tf.", "ops.", "tnp.", "np.", "keras.")


def dtype_of(value: Any) -> str:
    if isinstance(value, (bool, int, float)):
        return "number"
    dtype = getattr(value, "dtype", None)  # a branch may have made it something else: a tuple
    return getattr(dtype, "name", str(dtype))


_HOLES = {
    "x": lambda v: dtype_of(v) in _FLOATS,
    "v": lambda v: dtype_of(v) in _FLOATS and len(v.shape) > 0,
    "m": lambda v: dtype_of(v) in _FLOATS and len(v.shape) == 2,
    "s": lambda v: dtype_of(v) in _FLOATS and len(v.shape) == 0,
    "i": lambda v: dtype_of(v) in _INTEGERS,
    "b": lambda v: dtype_of(v) == "bool",
    "l": lambda v: dtype_of(v) == "number" and not isinstance(v, bool),
}


class Generator(MoreStatements):
    """Programs from one seed."""

    def __init__(self, seed: int, rows: list[str], samples: dict[str, Any]):
        """`samples`: a value for each of `PARAMETERS`, on which the statements are tried."""
        self.random = random.Random(seed)
        self.rows = rows
        self.samples = samples
        self.count = 0
        self.module: list[str] = []
        self.functions: list[str] = []  # of the module: text of a call with holes
        self.space: dict[str, Any] = {"reveal": self._reveal}
        self.revealed = 0
        exec(PRELUDE, self.space)

    def _reveal(self, value: Any, *others: Any) -> Any:
        self.revealed += 1
        if self.revealed > MAX_REVEALED or size_of(value) > MAX_SIZE or rank_of(value) > MAX_RANK:
            raise Misfit  # a loop that does not end
        return value

    def program(self) -> str:
        """Source text with a function `program` of `PARAMETERS`, or a script that reads them from
        `inputs()`.
        """
        try:
            return self._program()
        finally:
            settle()

    def _program(self) -> str:
        if self.random.random() < 0.08:
            self._define([self.random.choice(SETTINGS)])
        for _ in range(self.random.choice((0, 1, 1, 2, 3))):
            self._attempt(self.random.choice(self._DEFINITIONS), Scope(self.space, []))
        script = self.random.random() < 0.15
        scope = Scope({**self.space, **self.samples}, list(PARAMETERS), function=not script)
        lines: list[str] = []
        for name in ("a", "b"):
            lines += self._assign(scope, self.random.choice(INPUTS).format(v=name))
        lines += self._block(scope, self.random.randint(4, 12), self._STATEMENTS)
        head = (
            f"{', '.join(PARAMETERS)} = inputs()"
            if script
            else f"def program({', '.join(PARAMETERS)}):"
        )
        return (
            PRELUDE
            + "\n".join([*self.module, head, *(lines if script else _indented(lines))])
            + "\n"
        )

    def _new(self, prefix: str = "v") -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def _attempt(self, make: Any, scope: Scope) -> list[str]:
        try:
            return make(self, scope)
        except Misfit:
            return []

    def _block(self, scope: Scope, length: int, makers: Any) -> list[str]:
        lines: list[str] = []
        for _ in range(length):
            lines += self._attempt(self.random.choice(makers), scope)
        return lines

    # Expressions

    def fill(self, scope: Scope, template: str, prefer: list[str] | None = None) -> str:
        """A template with names of the scope in its holes; `prefer` is taken every other time.
        Raises `Misfit`.
        """
        chosen: dict[str, str] = {}
        for hole in "xvmsyzilbcd":
            if (
                f"{{{hole}}}" in template
                or hole == "x"
                and ("{y}" in template or "{z}" in template)
            ):
                chosen[hole] = self._hole(scope, hole, chosen, prefer)
        return template.format(**chosen)

    def _hole(
        self, scope: Scope, hole: str, chosen: dict[str, str], prefer: list[str] | None
    ) -> str:
        if hole in "cd":
            return self.random.choice(CONSTANTS if "k" in scope.names else CONSTANTS[:-1])
        fits = _HOLES["x" if hole in "yz" else hole]
        names = [name for name in scope.names if fits(scope.space[name])]
        first = next((chosen[one] for one in "xvms" if one in chosen), None)
        if hole in "vmsyz" and first is not None:
            wanted = dtype_of(scope.space[first])
            names = [name for name in names if dtype_of(scope.space[name]) == wanted]
        if prefer and self.random.random() < 0.5:
            names = [name for name in names if name in prefer] or names
        if not names:
            raise Misfit
        return self.random.choice(names if self.random.random() < 0.6 else names[-3:])

    def expression(
        self, scope: Scope, prefer: list[str] | None = None, simple: bool = False
    ) -> str:
        roll = self.random.random()
        if roll < 0.3:
            return self._row(scope, prefer)
        if roll < 0.38 and self.functions and not simple:
            return self.fill(scope, self.random.choice(self.functions), prefer)
        group = self.random.choice(SIMPLE if simple or roll < 0.6 else list(EXPRESSIONS))
        return self.fill(scope, self.random.choice(EXPRESSIONS[group]), prefer)

    def _row(self, scope: Scope, prefer: list[str] | None) -> str:
        tree = ast.parse(self._spelled(self.random.choice(self.rows)), mode="eval")
        names = self.fill(scope, "{x},{y}", prefer).split(",")
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id in ("x", "y"):
                node.id = names["xy".index(node.id)]
        return ast.unparse(tree)

    def _spelled(self, reference: str) -> str:
        """A reference under one of the names of its row; arguments stand in the order of the row's
        own name.
        """
        name = reference.partition("(")[0]
        row = TABLE.get(name)
        others = (
            [
                alias
                for alias in row.aliases
                if alias.startswith(_SPELLINGS) and "imension" not in alias
            ]
            if row
            else []
        )
        return (
            reference.replace(name, self.random.choice(others), 1)
            if others and self.random.random() < 0.4
            else reference
        )

    def _assign(self, scope: Scope, expression: str, name: str = "") -> list[str]:
        name = name or self._new()
        lines = [f"{name} = {expression}", f"reveal({name})"]
        scope.run(lines)
        scope.bind(name)
        return lines

    # Statements

    def assignment(self, scope: Scope) -> list[str]:
        return self._assign(scope, self.expression(scope))

    def rebinding(self, scope: Scope) -> list[str]:
        name = self.random.choice([n for n in scope.names if n not in PARAMETERS] or ["a"])
        return self._assign(scope, self.expression(scope, [name]), name)

    def augmented(self, scope: Scope) -> list[str]:
        name = self.random.choice([n for n in scope.names if n != "n"])
        line, before = (
            f"{name} {self.random.choice('+-*/')}= {self.expression(scope)}",
            dtype_of(scope.space[name]),
        )
        scope.run([line])
        scope.bind(name)
        # TensorFlow's product of anything with truth values: nothing knows them here
        if dtype_of(scope.space[name]) == "bool" != before:
            raise Misfit
        return [line, f"reveal({name})"]

    def swap(self, scope: Scope) -> list[str]:
        one, two = self.fill(scope, "{x},{y}").split(",")
        lines = [f"{one}, {two} = {two}, {one}", f"reveal({one})", f"reveal({two})"]
        scope.run(lines)
        return lines

    def starred(self, scope: Scope) -> list[str]:
        name, rest = self._new(), self._new("rest")
        line = f"{name}, *{rest} = {self.fill(scope, '[{x}, {y}, {z}]')}"
        scope.run([line])
        scope.bind(name)
        return [line, f"reveal({name})", f"reveal({rest}[0])"]

    def chained(self, scope: Scope) -> list[str]:
        """Two or three statements about one value, as a loss is computed."""
        lines = self.assignment(scope)
        for _ in range(self.random.randint(1, 3)):
            lines += self._assign(scope, self.expression(scope, scope.names[-1:], simple=True))
        return lines

    def compared(self, scope: Scope) -> list[str]:
        """What is said to be the same number has to be."""
        one, two = self.fill(scope, "{x},{y}").split(",")
        return [f"reveal({one}, {two})"]

    def asserted(self, scope: Scope) -> list[str]:
        line = self.fill(scope, self.random.choice(ASSERTIONS))
        compile(line, "program.py", "exec")
        tested = [name for name in scope.names if name in line]
        return [line, *(f"reveal({name})" for name in tested)]

    def branch(self, scope: Scope) -> list[str]:
        test = self.fill(scope, self.random.choice(CONDITIONS))
        tested = [name for name in scope.names if name in test]
        target = self.random.choice([self._new(), *scope.names[-2:]])
        lines = [f"if {test}:", *_indented([f"reveal({name})" for name in tested])]
        leaving = self.random.random()
        if leaving < 0.12 and scope.function or leaving < 0.2 and scope.loop:
            word = (
                ("continue" if leaving < 0.1 else "break")
                if scope.loop and leaving >= 0.06
                else "return 0.0"
                if scope.function
                else "break"
            )
            return [*lines, f"    {word}", *(f"reveal({name})" for name in tested)]
        bodies = []
        for _ in range(2):
            inner = scope.inner()
            body = self._inner(inner, tested)
            body += self._assign(inner, self.expression(inner, tested, simple=True), target)
            bodies.append((body, inner))
        lines += _indented(bodies[0][0])
        if leaving < 0.75 or target not in scope.names:
            lines += ["else:", *_indented([*(f"reveal({name})" for name in tested), *bodies[1][0]])]
        scope.space = {**scope.space, target: bodies[0][1].space[target]}
        scope.bind(target)
        return [
            *lines,
            f"reveal({target})",
            *(f"reveal({name})" for name in tested if name != target),
        ]

    def _inner(self, scope: Scope, prefer: list[str]) -> list[str]:
        lines: list[str] = []
        for _ in range(self.random.choice((0, 0, 1, 2))):
            if self.random.random() < 0.25:
                lines += self._attempt(self.random.choice(self._NESTED), scope)
            else:
                try:
                    lines += self._assign(scope, self.expression(scope, prefer, simple=True))
                except Misfit:
                    continue
        return lines

    def loop(self, scope: Scope) -> list[str]:
        kind = self.random.randrange(6)
        j, t, u = self._new("j"), self._new("t"), self._new("t")
        head, bound = [
            (f"for {j} in range({self.random.choice(['n', '0', '1', '2', '3'])}):", {j: 1}),
            (self.fill(scope, f"for {t} in [{{x}}, {{y}}]:"), {t: "x"}),
            (
                self.fill(scope, f"for {j}, {t} in enumerate(({{x}}, {{y}}, {{z}})):"),
                {j: 1, t: "x"},
            ),
            (
                self.fill(scope, f"for {t}, {u} in zip([{{x}}, {{y}}], [{{y}}, {{z}}]):"),
                {t: "x", u: "y"},
            ),
            (self.fill(scope, f"for {t} in tf.unstack({{v}}):"), {t: "v"}),
            (f"for {j} in range(1, 4):", {j: 1}),
        ][kind]
        inner = scope.inner(loop=True)
        inner.run([head, "    break"])
        for name in bound:
            if name not in inner.space:
                raise Misfit
            inner.bind(name)
        carried = self.random.choice(
            [name for name in scope.names if _HOLES["x"](scope.space[name])]
        )
        body = [f"reveal({name})" for name in bound] + self._inner(inner, [carried, *bound])
        body += self._assign(inner, self.expression(inner, [carried, *bound], simple=True), carried)
        if self.random.random() < 0.25:
            body += self._attempt(Generator.branch, inner)
        lines = [head, *_indented(body)]
        if self.random.random() < 0.15:
            lines += [
                "else:",
                *_indented(self._attempt(Generator.rebinding, scope.inner()) or ["pass"]),
            ]
        scope.run(lines)
        return [*lines, f"reveal({carried})"]

    def while_loop(self, scope: Scope) -> list[str]:
        j = self._new("j")
        inner = scope.inner(loop=True)
        inner.run([f"{j} = 0"])
        inner.bind(j)
        carried = self.random.choice(
            [name for name in scope.names if _HOLES["x"](scope.space[name])]
        )
        body = [
            f"{j} += 1",
            f"reveal({j})",
            *self._assign(inner, self.expression(inner, [carried], simple=True), carried),
        ]
        body += self._attempt(Generator.branch, inner) if self.random.random() < 0.3 else []
        lines = [
            f"{j} = 0",
            f"while {j} < {self.random.choice(['n', '2', '3'])}:",
            *_indented(body),
        ]
        scope.run(lines)
        scope.bind(j)
        return [*lines, f"reveal({j})", f"reveal({carried})"]

    def tried(self, scope: Scope) -> list[str]:
        name = self.random.choice([n for n in scope.names if n not in PARAMETERS] or ["a"])
        inner, other = scope.inner(), scope.inner()
        body = self._assign(inner, self.expression(inner, [name], simple=True), name)
        body += self.fill(
            inner, f"if {self.random.choice(CONDITIONS)}:\n    raise ValueError"
        ).splitlines()
        body += self._attempt(Generator.rebinding, inner)
        caught = self._assign(other, self.expression(other, [name], simple=True), name)
        lines = [
            "try:",
            *_indented(body),
            "except ValueError:",
            *_indented([f"reveal({name})", *caught]),
        ]
        if self.random.random() < 0.3:
            lines += ["finally:", f"    reveal({name})"]
        scope.run(lines)
        return [*lines, f"reveal({name})"]

    def block(self, scope: Scope) -> list[str]:
        head = self.random.choice(
            (
                "with tf.name_scope('part'):",
                "with tf.GradientTape() as tape:",
                "with tf.device('/cpu:0'):",
            )
        )
        inner = scope.inner()
        body = self._assign(inner, self.expression(inner)) + self._inner(inner, inner.names[-1:])
        lines = [head, *_indented(body)]
        scope.space, scope.names = inner.space, inner.names
        return lines

    def match(self, scope: Scope) -> list[str]:
        name = self._new()
        inner = scope.inner()
        first, second = (
            self._assign(inner, self.expression(inner, simple=True), name) for _ in range(2)
        )
        lines = [
            "match n:",
            "    case 0:",
            *_indented(first, 2),
            "    case 1 | 2 if flag:",
            *_indented(second, 2),
            "    case _:",
            *_indented(first, 2),
        ]
        scope.run(lines)
        scope.bind(name)
        return [*lines, f"reveal({name})"]

    def walrus(self, scope: Scope) -> list[str]:
        name = self._new()
        line = f"if ({name} := {self.fill(scope, 'tf.reduce_sum({x})')}) > {self.random.choice(CONSTANTS)}:"
        scope.run([line, "    pass"])
        scope.bind(name)
        inner = scope.inner()
        body = self._assign(inner, self.expression(inner, [name], simple=True))
        return [line, *_indented([f"reveal({name})", *body]), f"reveal({name})"]

    def collected(self, scope: Scope) -> list[str]:
        """A list that is filled in a loop."""
        parts, name, j = self._new("parts"), self._new(), self._new("j")
        inner = scope.inner()
        inner.run([f"{j} = 1"])
        inner.bind(j)
        first, again = self.expression(inner, simple=True), self.expression(inner, [j], simple=True)
        lines = [
            f"{parts} = {self.random.choice(['[]', f'[{first}]'])}",
            f"for {j} in range(1, 4):",
            f"    {parts}.append({again})",
        ]
        if self.random.random() < 0.3:
            lines += ["if flag:", f"    {parts}.append({first})"]
        use = self.random.choice(
            (
                "tf.stack({p})",
                "tf.add_n({p})",
                "sum({p})",
                "{p}[0]",
                "{p}[-1]",
                "{p}.pop()",
                "tf.reduce_max({p})",
                "sum(t * t for t in {p})",
                "[t for t in reversed({p})][0]",
                "tf.concat([tf.reshape(t, [-1]) for t in {p}], 0)",
                "max([tf.reduce_sum(t) for t in {p}])",
            )
        )
        lines += [f"{name} = {use.format(p=parts)}", f"reveal({name})"]
        scope.run(lines)
        scope.bind(name)
        return lines

    def keyed(self, scope: Scope) -> list[str]:
        d, name = self._new("d"), self._new()
        e = [self.expression(scope, simple=True) for _ in range(4)]
        lines = [f"{d} = {{'p': {e[0]}, 'q': {e[1]}}}"]
        lines += self.random.choice(
            (
                [],
                [f"{d}['p'] = {e[2]}"],
                ["if flag:", f"    {d}['p'] = {e[2]}"],
                [f"{d}.update(p={e[2]})"],
                [f"{d} |= {{'r': {e[2]}}}"],
                ["for j in range(n):", f"    {d}['p'] = {d}['p'] * 0.5"],
            )
        )
        lines += [
            f"{name} = {d}['{self.random.choice('pq')}']",
            f"reveal({name})",
            f"for t in {d}.values():",
            "    reveal(t)",
        ]
        scope.run(lines)
        scope.bind(name)
        return lines

    def aliased(self, scope: Scope) -> list[str]:
        """Two names of one list, dict or object, changed through one of them and read through the
        other.
        """
        one, two, name = self._new("one"), self._new("two"), self._new()
        e = [self.expression(scope, simple=True) for _ in range(4)]
        made, changes, use = self.random.choice(
            (
                (
                    f"[{e[0]}]",
                    [
                        "{p}.append({e[1]})",
                        "{p}[0] = {e[1]}",
                        "{p} += [{e[1]}]",
                        "{p}.insert(0, {e[1]})",
                    ],
                    ["{p}[-1]", "{p}[0]", "sum({p})"],
                ),
                (f"{{'p': {e[0]}}}", ["{p}['p'] = {e[1]}", "{p}.update(p={e[1]})"], ["{p}['p']"]),
                ("Config()", ["{p}.gain = {e[1]}"], ["{p}.gain"]),
            )
        )
        change = self.random.choice(changes).format(p=self.random.choice((one, two)), e=e)
        lines = [
            f"{one} = {made}",
            f"{two} = {one}"
            if self.random.random() < 0.7
            else f"{two} = {one} if flag else {made}",
        ]
        lines += self.random.choice(
            (
                [change],
                [change],
                ["if flag:", f"    {change}"],
                ["for j in range(2):", f"    {change}"],
            )
        )
        lines += [
            f"{name} = {self.random.choice(use).format(p=self.random.choice((one, two)))}",
            f"reveal({name})",
        ]
        scope.run(lines)
        scope.bind(name)
        return lines

    def closure(self, scope: Scope) -> list[str]:
        """A nested function that reads, and perhaps changes, names around it."""
        f, t, name = self._new("f"), self._new("t"), self._new()
        inner = (
            Scope({**scope.space, t: scope.space[argument]}, [*scope.names, t], True)
            if (argument := self.fill(scope, "{x}"))
            else scope
        )
        held = self.random.choice([n for n in scope.names if _HOLES["x"](scope.space[n])])
        change = self.random.random() < 0.3 and scope.function
        body = ([f"nonlocal {held}"] if change else []) + [f"reveal({t})", f"reveal({held})"]
        written = self._assign(
            inner, self.expression(inner, [t, held], simple=True), held if change else ""
        )
        body += written + [f"return {self.expression(inner, [t, inner.names[-1]], simple=True)}"]
        lines = [
            f"def {f}({t}):",
            *_indented(body),
            f"{name} = {f}({argument})",
            f"reveal({name})",
            f"reveal({held})",
        ]
        scope.run(
            [
                "def outer():",
                *_indented([f"{held} = globals()['{held}']", *lines, f"return {name}"]),
                f"{name} = outer()",
            ]
            if change
            else lines
        )
        scope.bind(name)
        return lines

    def function_value(self, scope: Scope) -> list[str]:
        f, name = self._new("f"), self._new()
        inner = (
            Scope({**scope.space, "t": scope.space[argument]}, [*scope.names, "t"])
            if (argument := self.fill(scope, "{x}"))
            else scope
        )
        made = self.random.choice(
            (
                f"lambda t: {self.expression(inner, ['t'], simple=True)}",
                "tf.nn.relu if flag else tf.sigmoid",
                "functools.partial(tf.pow, y=2.0)",
                "tf.tanh",
                "{'r': tf.nn.relu, 's': tf.sigmoid}['s']",
                f"lambda t, u={self.random.choice(CONSTANTS[:-1])}: tf.abs(t) + u",
            )
        )
        lines = [f"{f} = {made}", f"{name} = {f}({argument})", f"reveal({name})"]
        scope.run(lines)
        scope.bind(name)
        return lines

    def instance(self, scope: Scope) -> list[str]:
        """An object of the file's own, or a namespace, whose attributes are read and written."""
        made = self._new("o")
        name = self._new()
        kind = self.random.choice(("Config()", "Config(eps=1e-3)"))
        e = self.expression(scope, simple=True)
        lines = [
            f"{made} = {kind}",
            *self.random.choice(
                ([], [f"{made}.gain = {e}"], ["if flag:", f"    {made}.gain = {e}"])
            ),
            f"{name} = {self.random.choice([f'{made}.gain', f'{made}.eps', f'{made}.gain * 2.0'])}",
            f"reveal({name})",
        ]
        scope.run(lines)
        scope.bind(name)
        return lines

    # Definitions of the module

    def _define(self, lines: list[str], *calls: str) -> None:
        try:
            exec("\n".join(lines), self.space)
        except Exception as error:
            raise Misfit from error
        self.module += [*lines, "", ""]
        self.functions += [call for call in calls for _ in range(2)]

    def _function_scope(self, parameters: list[str]) -> Scope:
        values = {name: self.samples[self.random.choice("ab")] for name in parameters}
        return Scope({**self.space, **values}, list(parameters), function=True)

    def helper(self, scope: Scope) -> list[str]:
        name = self._new(self.random.choice(("helper", "_helper")))
        inner = self._function_scope(["t", "u"])
        body = [
            "reveal(t)",
            "reveal(u)",
            *self._block(inner, self.random.randint(1, 4), self._NESTED),
        ]
        body += [f"return {self.random.choice(inner.names[-2:])}"]
        head = self.random.choice(
            (f"def {name}(t, u=1.0):", f"def {name}(t, u):", f"def {name}(t, *, u=0.5):")
        )
        decorator = [["@tf.function"], [], [], []][self.random.randrange(4)]
        calls = [f"{name}({{x}}, u={{y}})", f"{name}(u={{y}}, t={{x}})"]
        calls += [f"{name}({{x}})"] if "=" in head else []
        calls += (
            [
                f"{name}({{x}}, {{y}})",
                f"{name}(*[{{x}}, {{y}}])",
                f"{name}(**{{{{'t': {{x}}, 'u': {{y}}}}}})",
            ]
            if "*" not in head
            else []
        )
        self._define([*decorator, head, *_indented(body)], *calls)
        return []

    def recursive(self, scope: Scope) -> list[str]:
        name, inner = self._new("_again"), self._function_scope(["t"])
        last, step = (
            self.expression(inner, simple=True),
            self.fill(
                inner,
                self.random.choice(
                    ("{x} * 0.5", "{x} + 1.0", "tf.abs({x})", "-{x}", "1.0 - {x}", "{x} * {x}")
                ),
            ),
        )
        call = (
            step.replace("t", f"{name}(t, n - 1)")
            if step.count("t") == 1
            else f"{name}({step}, n - 1)"
        )
        self._define(
            [
                f"def {name}(t, n=2):",
                "    reveal(t)",
                "    if n <= 0:",
                f"        return {last}",
                f"    return {call}",
            ],
            f"{name}({{x}})",
            f"{name}({{x}}, 1)",
        )
        return []

    def various(self, scope: Scope) -> list[str]:
        """*args and **kwargs, generators, pairs, decorated functions."""
        name, inner = self._new("take"), self._function_scope(["t"])
        e = [self.expression(inner, simple=True) for _ in range(3)]
        kind = self.random.randrange(5)
        if kind == 0:
            self._define(
                [
                    f"def {name}(t, *rest, scale=2.0, **options):",
                    "    for one in rest:",
                    "        reveal(one)",
                    "        t = t + one",
                    "    reveal(scale)",
                    f"    return ({e[0]}) * scale",
                ],
                f"{name}({{x}}, {{x}}, {{y}})",
                f"{name}({{x}}, scale={{c}})",
                f"{name}({{x}}, other=1)",
            )
        elif kind == 1:
            self._define(
                [f"def {name}(t):", f"    yield {e[0]}", f"    yield {e[1]}"],
                f"sum({name}({{x}}))",
                f"[u for u in {name}({{x}})][0]",
                f"next({name}({{x}}))",
            )
        elif kind == 2:
            self._define(
                [f"def {name}(t):", f"    return {e[0]}, {e[1]}"],
                f"{name}({{x}})[0]",
                f"{name}({{x}})[-1]",
                f"(lambda p: p[1])({name}({{x}}))",
            )
        elif kind == 3:
            self._define(
                [
                    f"def _twice{name}(f):",
                    "    @functools.wraps(f)",
                    "    def inner(*args, **kwargs):",
                    "        return f(*args, **kwargs) * 2.0",
                    "    return inner",
                    "",
                    f"@_twice{name}",
                    f"def {name}(t):",
                    f"    return {e[0]}",
                ],
                f"{name}({{x}})",
            )
        else:
            self._define(
                [
                    "@tf.custom_gradient",
                    f"def {name}(t):",
                    "    def grad(upstream):",
                    "        return upstream",
                    f"    return {e[0]}, grad",
                ],
                f"{name}({{x}})",
            )
        return []

    def klass(self, scope: Scope) -> list[str]:
        name, inner = self._new("Part"), self._function_scope(["t"])
        values = {"held": self.samples["a"], "level": 0.5}
        space = {**inner.space, **{f"self_{n}": v for n, v in values.items()}}
        inner = Scope(space, ["t", "self_held", "self_level"], True)
        e = [self.expression(inner, simple=True).replace("self_", "self.") for _ in range(5)]
        base = self.random.choice(("", "", "(tf.Module)", "(keras.layers.Layer)"))
        layer = "Layer" in base
        lines = [
            f"class {name}{base}:",
            "    shared = 0.25",
            "",
            "    def __init__(self, held, level=0.5):",
            *(["        super().__init__()"] if base else []),
            "        self.held = held",
            "        self.level = level",
            "        self.total = 0.0",
            "        self.act = tf.nn.relu",
            "",
            "    def use(self, t):",
            "        reveal(t)",
            "        reveal(self.held)",
            "        reveal(self.level)",
            "        reveal(self.total)",
            f"        return {e[0]}",
            "",
            f"    def {'call' if layer else '__call__'}(self, t):",
            f"        return self.act({e[1]}) + self.shared",
            "",
            "    def add(self, t):",
            f"        self.total += {e[2]}",
            "        reveal(self.total)",
            "        return self.total",
            "",
            "    def change(self, t):",
            f"        self.held = {e[3]}",
            "        reveal(self.held)",
            "        return self.use(t)",
            "",
            "    @property",
            "    def twice(self):",
            "        return self.held * 2.0",
            "",
            "    @staticmethod",
            "    def fixed(t):",
            "        return tf.abs(t) + 1.0",
            "",
            "    @classmethod",
            "    def made(cls, t):",
            "        return cls(tf.sigmoid(t))",
        ]
        child = self._new("Child")
        lines += [
            "",
            "",
            f"class {child}({name}):",
            "    shared = 0.75",
            "",
            "    def use(self, t):",
            "        reveal(super().use(t))",
            f"        return {e[4]}",
        ]
        self._define(
            lines,
            f"{name}({{x}}).use({{y}})",
            f"{name}({{x}})({{y}})",
            f"{name}({{x}}).add({{y}})",
            f"{name}({{x}}, {{c}}).change({{y}})",
            f"{name}({{x}}).twice",
            f"{name}.fixed({{x}})",
            f"{name}.made({{x}}).held",
            f"{child}({{x}}).use({{y}})",
            f"{child}({{x}})({{y}})",
            f"{child}({{x}}).change({{y}})",
            f"{child}.shared * {{x}}",
            f"[{name}({{x}}), {child}({{y}})][0].use({{x}})",
        )
        return []

    def model(self, scope: Scope) -> list[str]:
        """A model or layer of Keras with layers in its attributes, and a branch for training."""
        name, inner = self._new("Net"), self._function_scope(["t"])
        inner.space["t"] = self.samples["m"]
        act, head = (
            self.random.choice(
                ("'relu'", "'softmax'", "'tanh'", "'softplus'", "tf.nn.sigmoid", "None", "'elu'")
            )
            for _ in range(2)
        )
        e = [self.expression(inner, simple=True) for _ in range(2)]
        base, last = (
            self.random.choice(("keras.Model", "keras.layers.Layer")),
            self.random.choice(("LayerNormalization()", "Dropout(0.5)", "ReLU()", "Softmax()")),
        )
        lines = [
            f"class {name}({base}):",
            "    limit = 0.75",
            "",
            "    def __init__(self):",
            "        super().__init__()",
            f"        self.first = keras.layers.Dense(4, activation={act})",
            f"        self.head = keras.layers.Dense(3, activation={head})",
            f"        self.last = keras.layers.{last}",
            "        self.gain = 2.0",
            "",
            "    def call(self, t, training=False):",
            "        reveal(t)",
            "        h = self.first(t)",
            "        reveal(h)",
            "        reveal(self.limit)",
            "        if training:",
            "            h = h * self.gain",
            "        if not training:",
            "            h = h + self.limit",
            "        reveal(h)",
            "        reveal(self.last(h))",
            "        return self.head(h)",
            "",
            "    def loss_of(self, t):",
            f"        reveal({e[0]})",
            f"        return {e[1]}",
        ]
        self._define(
            lines,
            f"{name}()({{m}})",
            f"{name}()({{m}}, training=True)",
            f"{name}().loss_of({{m}})",
            f"keras.Sequential([{name}(), keras.layers.ReLU()])({{m}})",
        )
        return []

    _NESTED = (assignment, assignment, assignment, rebinding, augmented, branch, chained)
    _STATEMENTS = (
        *[assignment] * 8,
        *[chained] * 4,
        rebinding,
        rebinding,
        augmented,
        augmented,
        swap,
        starred,
        compared,
        asserted,
        *[branch] * 4,
        *[loop] * 3,
        while_loop,
        tried,
        block,
        match,
        walrus,
        collected,
        keyed,
        aliased,
        aliased,
        closure,
        function_value,
        instance,
        *MoreStatements.MORE,
    )
    _DEFINITIONS = (
        helper,
        helper,
        helper,
        recursive,
        various,
        various,
        klass,
        klass,
        model,
        *MoreStatements.MORE_DEFINITIONS,
    )
