"""Random programs of several hazards each, for what fixes do to whole files: see
tests/support/hazards.py for the forms.

A program is a module with a function `program` of some of `KINDS`' parameters that returns a list
of tensors, and a function that differentiates it. Its hazards share names, stand in each other, in
helpers, methods, closures, loops, branches; names are bound again, and calls with state made,
between the producer of a value and what is done with it.
"""

from __future__ import annotations

import ast
import json
import random
import re
from dataclasses import dataclass, field

from hazards import HAZARDS, Hazard

# The names that programs choose from: what people write, and what fixes bind.
NAMES = (
    "logits_",
    "inner",
    "value",
    "eps",
    "probs",
    "p",
    "out",
    "mask_",
    "total",
    "norm",
    "root",
    "squares",
    "finite",
    "loss",
    "kept",
    "variance",
    "log_p",
    "result",
    "denominator",
    "tmp",
    "squared",
    "exponent",
    "inner_2",
    "value_2",
    "logits_2",
    "score",
    "rise",
    "run",
)
PARAMETERS = {
    "r": ("x", "features"),
    "z": ("z", "scores"),
    "s": ("s", "amounts"),
    "i": ("gain",),
    "q": ("prob", "share"),
    "h": ("labels",),
    "m": ("mask",),
    "n": ("raw",),
    "u": ("logits",),
}
# What the expression of a form may fill, by what it is worth.
FILLS = {"unit": "rzsq", "positive": "rzs", "real": "rz", "large": ""}
# what is not read again
_NO_TENSORS = ("'", "[]", "Session", "keras.", "raw", "net(1.0)", "exp(", "/")
_VALUED = ("TFN201", "TFN202", "TFN203", "TFN309", "TFN501")
_HOLE = re.compile(r"\{(\w)(\d?)\}")
_CHOSEN = re.compile(r"\$(\w+)")
_COMPARES = re.compile(r"[<>]|equal\(")

# Spellings of the names of templates, by import style: a line that imports, and what is replaced,
# in order.
_OPS = {
    "math.log": "log",
    "exp": "exp",
    "sqrt": "sqrt",
    "square": "square",
    "abs": "abs",
    "reduce_sum": "sum",
    "reduce_mean": "mean",
    "reduce_max": "max",
    "nn.softmax": "softmax",
    "sigmoid": "sigmoid",
    "maximum": "maximum",
    "minimum": "minimum",
    "where": "where",
    "norm": "norm",
    "nn.relu": "relu",
    "tanh": "tanh",
    "math.reduce_std": "std",
    "math.reduce_variance": "var",
    "clip_by_value": "clip",
    "zeros_like": "zeros_like",
    "math.log1p": "log1p",
}
_BACKEND = {key: value for key, value in _OPS.items() if key not in ("where", "norm", "math.log1p")}
_NUMPY = {
    key: value
    for key, value in _OPS.items()
    if not key.startswith("nn.") and key not in ("sigmoid", "norm", "clip_by_value")
}
STYLES = {
    "tf": ("import tensorflow as tf", {}),
    "v1": (
        "import tensorflow.compat.v1 as tf",
        {"tf.math.log(": "tf.log(", "tf.nn.sigmoid(": "tf.sigmoid("},
    ),
    "long": (
        "import tensorflow\nimport tensorflow as tf",
        {"tf.math.log(": "tensorflow.math.log(", "tf.sqrt(": "tensorflow.sqrt("},
    ),
    "math": (
        "import tensorflow as tf\nfrom tensorflow import math, nn",
        {"tf.math.": "math.", "tf.nn.": "nn."},
    ),
    "ops": (
        "import tensorflow as tf\nfrom keras import ops",
        {f"tf.{old}(": f"ops.{new}(" for old, new in _OPS.items()},
    ),
    "K": (
        "import tensorflow as tf\nfrom tensorflow.keras import backend as K",
        {f"tf.{old}(": f"K.{new}(" for old, new in _BACKEND.items()},
    ),
    "tnp": (
        "import tensorflow as tf\nimport tensorflow.experimental.numpy as tnp",
        {f"tf.{old}(": f"tnp.{new}(" for old, new in _NUMPY.items()},
    ),
}
_PRELUDE = """import keras
import numpy as np
{imports}

EPS = 1e-7


class Counted:
    \"\"\"A layer that counts its calls.\"\"\"

    def __init__(self):
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        return x + 0.125 * self.calls


net = Counted()

"""
_TAPE = """

def differentiate({names}):
    with tf.GradientTape() as tape:
        tape.watch([{names}])
        losses = program({names})
    return tape.gradient(losses, [{names}])
"""


@dataclass
class Program:
    """A program, the names of its parameters with their kinds, and how it may be run."""

    text: str
    parameters: dict[str, str]
    codes: list[str]
    modes: tuple[str, ...] = ("eager", "graph", "xla")  # in which it can be run
    moved: set[str] = field(default_factory=set)  # results that fixes are meant to move
    cells: list[str] = field(default_factory=list)  # of a notebook; empty for a module
    dtype: str = "float32"
    shape: tuple[int, ...] = (3, 4)  # of every parameter


@dataclass
class _Piece:
    """Lines of a function's body, of which the last binds `name`; `names` are all that they bind."""

    lines: list[str]
    name: str
    moved: bool = False


class Writer:
    """Writes one program."""

    def __init__(self, seed: int | str, forms: tuple[Hazard, ...] = HAZARDS):
        self.random = random.Random(seed)
        self.forms = forms
        self.module: list[str] = []
        self.parameters: dict[str, str] = {}
        self.codes: list[str] = []
        self.used: set[str] = set()  # names whose values are still read
        self.eager = False
        self.count = 0
        self.style = self.random.choice(("tf", "tf", "tf", *STYLES))

    # Names and inputs

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def name(self) -> str:
        free = [name for name in NAMES if name not in self.used and name not in self.parameters]
        if not free or self.chance(0.1):
            self.count += 1
            free = [f"v{self.count}"]
        name = self.random.choice(free)
        self.used.add(name)
        return name

    def parameter(self, kind: str, index: str = "") -> str:
        pool = PARAMETERS[kind]
        name = pool[int(index or 1) - 1] if index and len(pool) > 1 else self.random.choice(pool)
        self.parameters[name] = kind
        return name

    # Expressions

    def expression(
        self, form: Hazard, depth: int, half: bool, leaves: list[str]
    ) -> tuple[list[str], str]:
        """Statements and expression of a form with its holes filled; a value of one name may go
        into the expression itself.
        """
        self.codes.append(form.code)
        self.eager |= form.eager
        holes: dict[str, str] = {}
        before: list[str] = []
        for kind, index in dict.fromkeys(_HOLE.findall(form.template)):
            taken = set(holes.values())
            value = self.leaf(kind, index, form, depth, half, leaves, before)
            while value in taken and index and len(PARAMETERS[kind]) > 1:
                value = next(f"({name})" for name in PARAMETERS[kind] if name not in taken)
                self.parameters[value[1:-1]] = kind
            holes[kind + index] = value
        chosen = {key: self.name() for key in dict.fromkeys(_CHOSEN.findall(form.template))}
        lines = [
            _CHOSEN.sub(lambda m: chosen[m[1]], _HOLE.sub(lambda m: holes[m[1] + m[2]], one))
            for one in form.statements
        ]
        lines = [*before, *lines]
        if len(form.statements) == 2 and form.template.count("$a") == 2 and self.chance(0.35):
            target, _, value = lines[-2].partition(" = ")
            if target == chosen["a"]:
                lines[-2:] = [
                    _renamed(
                        lines[-1], target, f"({value})" if re.search(r"[-+*/]", value) else value
                    )
                ]
                self.used.discard(target)
        return lines[:-1], lines[-1]

    def leaf(
        self,
        kind: str,
        index: str,
        form: Hazard,
        depth: int,
        half: bool,
        leaves: list[str],
        before: list[str],
    ) -> str:
        if depth and kind in "rzsq" and self.chance(0.35) and not form.moves:
            fits = [
                one
                for one in self.forms
                if not one.moves
                and one.shape != "other"
                and (one.half or not half)
                and (kind in FILLS[one.gives.split()[0]] or kind in "rz")
            ]
            # A comparison turns NaN into a number: what is compared has a value, whatever its
            # gradient is.
            compared = (
                [one for one in fits if one.code.startswith(_VALUED)]
                if ">" in form.template or "equal(" in form.template
                else []
            )
            inner = self.random.choice(compared or fits)
            lines, text = self.expression(inner, depth - 1, half, leaves)
            # no tanh: it makes a number of Inf
            text = f"({text})" if kind in FILLS[inner.gives.split()[0]] else f"(0.25 * ({text}))"
            text = {"row": f"tf.expand_dims({text}, -1)"}.get(inner.shape, text)
            if inner.shape != "full":
                text = (
                    f"({self.parameter(kind)} + {text})"
                    if not half
                    else f"(tf.cast({self.parameter(kind)}, tf.float16) + {text})"
                )
                text = f"(0.5 * {text})" if kind == "q" else text
            before += lines
            if self.chance(0.5):
                name = self.name()
                before.append(f"{name} = {text}")
                return name
            return text
        name = self.parameter(kind, index)
        leaves.append(name)
        text = f"tf.cast({name}, tf.float16)" if half and kind in "rzsqi" else name
        if kind == "z" and not half and self.chance(0.2):
            text = self.random.choice(
                (
                    f"net({text})",
                    f"({text} + tf.random.normal(tf.shape({text})))"
                    if self.chance(0.3)
                    else f"net({text})",
                    f"({text} / 2.0)",
                )
            )
            self.eager |= "random" in text
        if (text != name or self.chance(0.1)) and (
            half or text.count("(") and form.template.count(f"{{{kind}{index}}}") > 1
        ):
            bound = self.name()
            before.append(f"{bound} = {text}")
            return bound
        return text

    # Pieces of a body

    def piece(self) -> _Piece:
        form = self.random.choice(self.forms)
        half = form.half and self.chance(0.2)
        leaves: list[str] = []
        lines, text = self.expression(form, self.random.choice((0, 0, 1, 1, 2)), half, leaves)
        place = self.random.choice(
            (
                "flat",
                "flat",
                "flat",
                "between",
                "between",
                "helper",
                "closure",
                "method",
                "loop",
                "branch",
                "twice",
            )
        )
        if form.moves or form.code in ("TFN901",):
            place = "flat"
        return getattr(self, f"_{place}")(lines, text, leaves, form)

    def _flat(self, lines, text, leaves, form) -> _Piece:
        name = self.name()
        return _Piece([*lines, f"{name} = {text}"], name, form.moves)

    def _between(self, lines, text, leaves, form) -> _Piece:
        """Something happens between the statements: a name is bound again, an attribute or a list
        changed, a call with state made.
        """
        if not lines:
            lines, text = self._named(text, lines)
        bound = [
            line.partition(" = ")[0]
            for line in lines
            if " = " in line and line.partition(" = ")[0].isidentifier()
        ]
        names = [*leaves, *bound[:-1]] or bound
        inputs = [name for name in leaves if self.parameters.get(name) in ("r", "z", "s", "q")]
        noise = self.random.choice(("rebind", "rebind", "augment", "held", "call", "comment"))
        if _COMPARES.search("\n".join([*lines, text])) and noise in ("rebind", "augment", "held"):
            noise = "call"  # what is tested then is no longer what the operation had
        if noise in ("rebind", "augment") and inputs:
            name = self.random.choice(inputs)
            scaled = f"{name} = {name} * 0.75" if noise == "rebind" else f"{name} *= 0.75"
            lines = [*lines, scaled]
        elif noise == "held" and inputs:
            name, holder = self.random.choice(inputs), self.name()
            first = [_renamed(line, name, f"{holder}['a']") for line in lines]
            lines = [f"{holder} = {{'a': {name}}}", *first, f"{holder}['a'] = {holder}['a'] * 0.75"]
            text = _renamed(text, name, f"{holder}['a']")
        elif noise == "call":
            lines = [*lines, "net(1.0)"]
        elif names:
            lines = [*lines, "# What follows is the loss."]
        name = self.name()
        return _Piece([*lines, f"{name} = {text}"], name, form.moves)

    def _named(self, text: str, lines: list[str]) -> tuple[list[str], str]:
        """The argument of the outermost call gets a name."""
        call = ast.parse(text, mode="eval").body
        if (
            not isinstance(call, ast.Call)
            or len(call.args) != 1
            or call.keywords
            or not isinstance(call.args[0], ast.Call)
        ):
            return lines, text
        name = self.name()
        return [
            *lines,
            f"{name} = {ast.unparse(call.args[0])}",
        ], f"{ast.unparse(call.func)}({name})"

    def _function(self, lines, text) -> tuple[list[str], list[str], str]:
        """A function of the parameters that a form reads: its lines, its arguments, its name."""
        self.count += 1
        name = f"{self.random.choice(('compute', 'log_of', 'loss_of', 'helper'))}_{self.count}"
        body = "\n".join([*lines, text])
        arguments = [one for one in self.parameters if re.search(rf"\b{one}\b", body)]
        return (
            [
                f"def {name}({', '.join(arguments)}):",
                *(f"    {line}" for line in lines),
                f"    return {text}",
            ],
            arguments,
            name,
        )

    def _helper(self, lines, text, leaves, form) -> _Piece:
        function, arguments, name = self._function(lines, text)
        self.module += ["", *function, ""]
        result = self.name()
        return _Piece([f"{result} = {name}({', '.join(arguments)})"], result)

    def _closure(self, lines, text, leaves, form) -> _Piece:
        function, arguments, name = self._function(lines, text)
        head = f"def {name}({', '.join(arguments[:1])}):"
        result = self.name()
        return _Piece(
            [head, *function[1:], f"{result} = {name}({', '.join(arguments[:1])})"], result
        )

    def _method(self, lines, text, leaves, form) -> _Piece:
        self.count += 1
        arguments = [
            one for one in self.parameters if re.search(rf"\b{one}\b", "\n".join([*lines, text]))
        ]
        kept = None
        if lines and self.chance(0.6):  # the last value is kept in an attribute
            target, _, value = lines[-1].partition(" = ")
            if target.isidentifier() and not re.search(rf"\b{target}\b", "\n".join(lines[:-1])):
                kept, lines, text = (
                    target,
                    [*lines[:-1], f"self.{target} = {value}"],
                    _renamed(text, target, f"self.{target}"),
                )
        body = [*lines, f"return {text}"]
        attribute = (
            ["        self.scale = 2.0"] if kept is None else [f"        self.{kept} = None"]
        )
        name = f"Head{self.count}"
        self.module += [
            "",
            f"class {name}:",
            "    def __init__(self):",
            *attribute,
            "",
            f"    def loss(self, {', '.join(arguments)}):",
            *(f"        {line}" for line in body),
            "",
            "",
        ]
        result = self.name()
        return _Piece([f"{result} = {name}().loss({', '.join(arguments)})"], result)

    def _loop(self, lines, text, leaves, form) -> _Piece:
        total = self.name()
        inputs = [name for name in leaves if self.parameters.get(name) in ("r", "z", "s")]
        change = [f"    {self.random.choice(inputs)} *= 0.5"] if inputs and self.chance(0.5) else []
        if self.chance(0.5):
            return _Piece(
                [
                    f"{total} = 0.0",
                    "for scale in (1.0, 0.5):",
                    *(f"    {line}" for line in lines),
                    f"    {total} += scale * tf.cast(tf.reduce_mean({text}), tf.float32)",
                    *change,
                ],
                total,
            )
        listed = self.name()
        return _Piece(
            [
                f"{listed} = []",
                "for scale in (1.0, 0.5):",
                *(f"    {line}" for line in lines),
                f"    {listed}.append(scale * ({text}))",
                *change,
                f"{total} = tf.stack({listed})",
            ],
            total,
        )

    def _branch(self, lines, text, leaves, form) -> _Piece:
        name = self.name()
        usable = [name for name in leaves if self.parameters.get(name) != "n"]
        other = self.random.choice(usable) if usable else "np.ones(3)"
        if self.chance(0.5):
            return _Piece(
                [
                    f"if {'flag' if self.chance(0.7) else 'not flag'}:",
                    *(f"    {line}" for line in lines),
                    f"    {name} = {text}",
                    "else:",
                    f"    {name} = {other} * 2.0",
                ],
                name,
            )
        return _Piece(
            [
                *lines,
                f"if {'flag' if self.chance(0.7) else 'not flag'}:",
                f"    {name} = {text}",
                "else:",
                f"    {name} = {other} * 2.0",
            ],
            name,
        )

    def _twice(self, lines, text, leaves, form) -> _Piece:
        """The same form once more of other values, as two heads have it."""
        first = self._flat(lines, text, leaves, form)
        inputs = [name for name in leaves if self.parameters.get(name) in ("r", "z", "s")]
        if not inputs:
            return first
        name = self.random.choice(inputs)
        bound = {
            line.partition(" = ")[0]
            for line in first.lines
            if line.partition(" = ")[0].isidentifier()
        }
        renamed = {
            one: self.name() for one in sorted(bound) if self.chance(0.5) or one == first.name
        }
        again = []
        for line in first.lines:
            for old, new in renamed.items():
                line = _renamed(line, old, new)
            again.append(_renamed(line, name, f"({name} * 0.5)"))
        result = self.name()
        return _Piece(
            [*first.lines, *again, f"{result} = {first.name} + {renamed[first.name]}"], result
        )

    # The program

    def program(self) -> Program:
        if self.chance(0.25):
            self.module += ["flag = False", ""]
        else:
            self.module += ["flag = True", ""]
        pieces, results, moved = [], [], set()
        for _ in range(self.random.choice((2, 2, 3, 3, 4, 4, 5))):
            if len(self.codes) >= 7:
                break
            piece = self.piece()
            if piece.moved:
                moved.add(piece.name)
            pieces.append(piece.lines)
            results.append(piece.name)
            if self.chance(0.5):  # names of this piece are free again
                self.used = set(results)
            elif self.chance(0.4):
                bound = [
                    target
                    for target, _, value in (line.partition(" = ") for line in piece.lines)
                    if target.isidentifier()
                    and target != piece.name
                    and not any(word in value for word in _NO_TENSORS)
                ]
                if bound and not piece.moved:
                    name = self.name()
                    pieces.append([f"{name} = {self.random.choice(bound)} * 0.5"])
                    results.append(name)
        lines = self.woven(pieces)
        names = list(dict.fromkeys(results))
        return self.written(lines, names, moved)

    def woven(self, pieces: list[list[str]]) -> list[str]:
        return [line for piece in pieces for line in piece]

    def written(self, lines: list[str], results: list[str], moved: set[str]) -> Program:
        imports, spelled = STYLES[self.style]
        lines = [self._laid_out(line) for line in lines]
        if "tf_debug" in "\n".join(lines):
            imports += "\nfrom tensorflow.python import debug as tf_debug"
        names = ", ".join(self.parameters)
        body = [
            f"def program({names}):",
            *(f"    {line}" for line in lines),
            f"    return [{', '.join(results)}]",
        ]
        text = "\n".join([*self.module, "", *body])
        for old, new in spelled.items():
            text = re.sub(rf"(?<![\w.]){re.escape(old)}", new, text)
        text = _PRELUDE.format(imports=imports) + text + "\n" + _TAPE.format(names=names)
        cells = _cells(text) if self.chance(0.1) else []
        dtype = "float64" if self.chance(0.1) and "float16" not in text else "float32"
        return Program(
            text,
            dict(self.parameters),
            self.codes,
            ("eager",) if self.eager else ("eager", "graph", "xla"),
            moved,
            cells,
            dtype,
        )

    def _laid_out(self, line: str) -> str:
        target, assigned, value = line.partition(" = ")
        roll = self.random.random()
        if line.startswith(("#", "for", "if", "else", "def")) or not assigned:
            return line
        if roll < 0.08:
            return f"{line}  # {self.random.choice(('see the paper', 'type: ignore', 'log p(x)'))}"
        if roll < 0.14 and target.isidentifier():
            return f"{target} = (\n        {value}\n    )"
        return line


def _renamed(text: str, name: str, new: str) -> str:
    """A text with something else in the place of a name; attributes stay."""
    return re.sub(rf"(?<![\w.]){name}\b", lambda match: new, text)


def _cells(text: str) -> list[str]:
    """A module cut into cells of a notebook before its functions and classes."""
    return [part for part in re.split(r"\n\n(?=def |class |net |EPS )", text) if part.strip()]


def notebook(cells: list[str]) -> str:
    """The JSON text of a notebook."""
    listed = [
        {
            "cell_type": "code",
            "metadata": {},
            "execution_count": None,
            "outputs": [],
            "source": one.splitlines(keepends=True),
        }
        for one in cells
    ]
    return json.dumps(
        {"cells": listed, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1
    )


def program(seed: int | str, forms: tuple[Hazard, ...] = HAZARDS) -> Program:
    """The program of a seed."""
    return Writer(seed, forms).program()


def alone(form: Hazard) -> Program:
    """A form by itself."""
    writer = Writer(0, (form,))
    writer.style = "tf"
    writer.chance = lambda share: False
    lines, text = writer.expression(form, 0, False, [])
    return writer.written(
        [*lines, f"result = {text}"], ["result"], {"result"} if form.moves else set()
    )
