"""What fixes make of a whole file: the file fixed at once, executed before and after, and a failing
program made smaller.

`check` says what is wrong with the fixed texts of one program:

    raises     it ends with an error, where the original did not
    shape      a result has another shape or dtype
    value      a value moved where it was finite, by more than rounding, or on ordinary inputs by more than a fix that moves values may
    gradient   the same of the gradient with respect to the parameters
    dead       a gradient that was not 0 on ordinary inputs is 0
    nonfinite  a NaN or Inf is left on hazard inputs, and the tool says that nothing remains
"""

from __future__ import annotations

import ast
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

from hazard_programs import Program, notebook

from tfnanlint.dev import repository
from tfnanlint.notebook.document import Notebook
from tfnanlint.pipeline.fix import FixResult, fix_source
from tfnanlint.syntax.source import Source

STAGES = {"safe": False, "unsafe": True}
EPS = {"float64": 2.0**-23, "float32": 2.0**-23, "float16": 2.0**-10}
# units in the last place: kernels for one function differ by some, and programs are some operations
# long
MARGIN = 32
# runs with perturbed operations, and what a result may differ by as a multiple of what these do
RUNS = 6
# Fixes that are meant to change what is computed.
MEANT = (
    "pass the logits",
    "set from_logits=False, because these are probabilities",
    "remove the relu",
    "swap the two arguments",
)
# What fixes that move values may move ordinary ones by, relative to 1 or to the number.
SHIFT = {"value": 2e-3, "gradient": 2e-2}
# What numbers of ordinary inputs are at least made of: a gradient of 0 is a sum of such.
LEAST = {"value": 1e-2, "gradient": 0.2}


@dataclass(frozen=True)
class Fixed:
    """A program's text after `--fix`, or after `--unsafe-fixes --fix`."""

    text: str
    applied: tuple[str, ...]
    titles: tuple[str, ...]
    problems: tuple[str, ...]
    left: tuple[str, ...]  # codes that the tool still reports

    @property
    def clean(self) -> bool:
        return not self.left and not self.problems


@dataclass(frozen=True)
class Failure:
    kind: str
    stage: str
    mode: str
    said: str

    def __str__(self) -> str:
        return f"{self.kind}, {self.stage} fixes, {self.mode}: {self.said}"


class Tool:
    """The tool with every rule at its default grades, also where a rule is silent without
    `--certainty`.
    """

    findings = staticmethod(repository.findings)

    def fixed(self, program: Program, unsafe: bool) -> Fixed:
        source = self.source(program)
        result = fix_source(source, self.findings, lambda fix: unsafe or fix.claim.safe)
        applied = tuple(finding.code for finding, _ in result.applied)
        problems = tuple(
            one for one in result.problems if unsafe or "takes --unsafe-fixes" not in one
        )
        left = tuple(finding.code for finding in self.findings(result.source))
        return Fixed(
            _module(result), applied, tuple(fix.title for _, fix in result.applied), problems, left
        )

    def source(self, program: Program) -> Source:
        if program.cells:
            return Notebook("/nowhere/program.ipynb", notebook(program.cells).encode()).source
        return Source("/nowhere/program.py", program.text)


def _module(result: FixResult) -> str:
    """The text that runs: the cells of a notebook one after another."""
    cells = getattr(result.source, "cells", None)
    return "\n\n".join(cell.text for cell in cells) if cells else result.source.text


@dataclass
class Outcome:
    """Values and gradients of one run, as float64 arrays; or the error that ended it."""

    values: list[Any]
    gradients: list[Any]
    dtypes: list[str]
    error: str = ""

    @property
    def finite(self) -> bool:
        import numpy as np

        return all(np.isfinite(part).all() for part in (*self.values, *self.gradients))


def run(
    text: str, points: list[list[Any]], mode: str, dtype: str = "float32", function: str = "program"
) -> list[Outcome]:
    """Value and gradient of a program at points. A program ends all of them with its error.

    Graphs keep the order of their sums: what TensorFlow makes of `1 - p + 1e-8` depends on what
    else reads `1 - p`.
    """
    with _sums_in_their_order():
        return _outcomes(text, points, mode, dtype, function)


@contextmanager
def _sums_in_their_order() -> Iterator[None]:
    """Within it no graph is reassociated; the setting holds for the process, tests that follow too."""
    import tensorflow as tf

    passes = ("constant_folding", "arithmetic_optimization")
    tf.config.optimizer.set_experimental_options(dict.fromkeys(passes, False))
    try:
        yield
    finally:
        tf.config.optimizer.set_experimental_options(dict.fromkeys(passes, True))


def _outcomes(
    text: str, points: list[list[Any]], mode: str, dtype: str, function: str
) -> list[Outcome]:
    import numpy as np
    import stages
    import tensorflow as tf

    space: dict[str, Any] = {"__name__": "program"}
    try:
        exec(compile(text, "<program>", "exec"), space)
        step = {
            "eager": lambda f: f,
            "graph": lambda f: tf.function(f, autograph=False),
            "xla": lambda f: tf.function(f, autograph=False, jit_compile=True),
        }[mode](stages._step(space[function]))
    except Exception as error:  # whatever ends a generated program is its outcome
        return [_ended(error) for _ in points]
    outcomes = []
    for point in points:
        if "random" in text:  # it empties TensorFlow's cache of kernels
            tf.random.set_seed(1)
        tensors = [tf.constant(x, dtype) for x in point]
        try:
            values, gradients = step(*tensors)
        except Exception as error:  # the same
            outcomes.append(_ended(error))
            continue
        outcomes.append(
            Outcome(
                [np.asarray(one, "float64") for one in values],
                [np.asarray(one, "float64") for one in gradients],
                [one.dtype.name for one in values],
            )
        )
    return outcomes


def _ended(error: Exception) -> Outcome:
    text = str(error).strip().splitlines() or [""]
    return Outcome([], [], [], f"{type(error).__name__}: {text[0]}"[:200])


def off(
    kind: str,
    old: Any,
    new: Any,
    true: Any,
    eps: float,
    shift: float = 0.0,
    least: float = 0.0,
    noise: Any = 0.0,
) -> str:
    """How far a result is from another one, beyond rounding and `shift`, in words; empty when it is
    near enough.

    `true` is the first one computed in float64: what the two may differ by, it differs from both.
    Numbers round as if the largest was at least `least`; `noise` is what the rounding of the first
    program's own operations makes of its results.
    """
    import numpy as np

    with np.errstate(invalid="ignore", over="ignore"):
        kept = np.isfinite(old)
        size = np.abs(np.where(kept, old, 0.0))
        room = (
            MARGIN
            * eps
            * (1 if kind == "value" else 4)
            * (size + (0.01 if kind == "value" else 0.1) * size.max(initial=least))
        )
        if true is None:  # what cancels is as far off as what it is made of rounds
            room = room + MARGIN * eps * 0.1
        room = (
            room
            + shift * np.maximum(size, 1.0 if kind == "value" else size.max(initial=0.0))
            + RUNS * noise
            + 1e-30
        )
        far = np.abs(new - old)
        if true is not None:
            kept = kept & np.isfinite(true)
            room, far = room + 4 * np.abs(old - true), np.minimum(far, np.abs(new - true))
        wrong = kept & ~(far <= room)
        if not wrong.any():
            return ""
        place = np.unravel_index(
            np.where(wrong, np.nan_to_num(far - room, nan=np.inf), -1.0).argmax(), old.shape
        )
    return f"{old[place]:.6g} became {new[place]:.6g}" + (
        f" (exactly {true[place]:.6g})" if true is not None else ""
    )


# Inputs


def points(program: Program, seed: int = 0) -> tuple[list[list[Any]], list[list[Any]]]:
    """Ordinary and hazard inputs of a program, by the kinds of its parameters."""
    import numpy as np

    draw = np.random.default_rng(seed)
    shape = program.shape
    width = shape[-1] if shape else 1
    zeros, ones = np.zeros(shape), np.ones(shape)
    one_row = np.zeros(shape)
    one_row[1 if shape and shape[0] > 1 else ...] = 1.0

    def one_hot(classes: Any) -> Any:
        return np.eye(width)[classes % width] if shape else ones

    def ordinary(kind: str) -> Any:
        normal = draw.normal(size=shape)
        classes, other_classes = draw.integers(0, width, size=(2, *shape[:-1]))
        return {
            "r": lambda: normal,
            "n": lambda: normal,
            "z": lambda: 2 * normal,
            "s": lambda: 0.1 + np.exp(normal),
            "i": lambda: 0.1 + np.exp(normal),
            "q": lambda: draw.uniform(0.1, 0.9, size=shape),
            "h": lambda: one_hot(classes),
            "u": lambda: 0.25 + 0.5 * draw.random(shape),
            "m": lambda: np.maximum(draw.integers(0, 2, size=shape), one_hot(other_classes)),
        }[kind]()

    def hazards(kind: str) -> list[Any]:
        normal, some = ordinary("r"), draw.integers(0, 2, size=shape).astype(float)
        ties = np.repeat(normal[..., :1], width, axis=-1) if shape else normal
        far = draw.choice(
            [0.0, 1000.0, -1000.0, 88.0, -88.0, 120.0, -110.0, 17.0, -17.0], size=shape
        )
        lists = {
            "r": [zeros, normal * one_row, ties, 0.5 * ones],
            "z": [far, -far, 1000.0 * (2 * some - 1), zeros],
            "s": [zeros, np.abs(normal) * some, np.abs(normal) * one_row, ones],
            "i": [zeros, normal, -ones, -1e-3 * ones],
            "q": [zeros, ones, some, one_row],
            "h": [one_hot(np.arange(max(1, ones.size // width)).reshape(shape[:-1]))],
            "m": [zeros, one_row, ones],
            "n": [np.where(some > 0, np.nan, normal)],
            "u": [far, zeros],
        }
        return [one + 0.0 for one in lists[kind]]  # no -0.0

    kinds = list(program.parameters.values())
    usual = [[ordinary(kind) for kind in kinds]]
    lists = [hazards(kind) for kind in kinds]
    bad = [[values[index % len(values)] for values in lists] for index in range(4)]
    return usual, [*bad, [values[draw.integers(len(values))] for values in lists]]


# Comparison


class Check:
    """One program before its fixes, run on its inputs."""

    def __init__(self, program: Program, tool: Tool, modes: tuple[str, ...] = ("eager",)) -> None:
        self.program, self.tool = program, tool
        self.modes = tuple(mode for mode in modes if mode in program.modes)
        self.usual, self.bad = points(program)
        self.points = [*self.usual, *self.bad]
        self.eps = EPS["float16" if "float16" in program.text else "float32"]
        self.truth: list[Outcome] | None = None
        self.rounded: dict[int, Outcome | None] = {}
        self.hidden = 0  # times that a result moved in which NaN or Inf had been hidden
        first = run(program.text, self.usual[:1], program.modes[0], program.dtype)[0]
        self.error, self.usual_is_finite = first.error, first.finite

    def failures(
        self, stages: tuple[str, ...] = tuple(STAGES)
    ) -> tuple[list[Failure], dict[str, Fixed]]:
        """What is wrong with each fixed text, at most one a stage and mode; and the fixed texts."""
        texts = {stage: self.tool.fixed(self.program, STAGES[stage]) for stage in stages}
        changed = {
            stage: one for stage, one in texts.items() if one.text.strip() != self._same.strip()
        }
        found = []
        for mode in self.modes if changed else ():
            before = run(self.program.text, self.points, mode, self.program.dtype)
            ran: dict[str, list[Outcome]] = {}
            for stage, fixed in changed.items():
                if fixed.text not in ran:
                    ran[fixed.text] = run(fixed.text, self.points, mode, self.program.dtype)
                one = self._compared(before, ran[fixed.text], fixed, stage, mode)
                found += [one] if one else []
        return found, texts

    @property
    def _same(self) -> str:
        return "\n\n".join(self.program.cells) if self.program.cells else self.program.text

    def _compared(self, before, after, fixed: Fixed, stage: str, mode: str) -> Failure | None:
        for index, (old, new) in enumerate(zip(before, after)):
            if old.error:
                continue
            if (
                stage == "unsafe"
                and any(word in title for title in fixed.titles for word in MEANT)
                and (not self.program.moved or any(MEANT[0] in title for title in fixed.titles))
            ):
                continue
            usual = index < len(self.usual)
            said = self._differs(old, new, old, stage, usual)
            if said and said[0] in ("value", "gradient", "dead"):
                said = self._differs(old, new, self.exact(index, mode), stage, usual)
            if said and said[0] in ("value", "gradient", "dead"):
                exact, noise = self.exact(index, mode), self.rounding(index)
                said = self._differs(old, new, exact, stage, usual, noise)
            if (
                said
                and said[0] in ("value", "gradient")
                and index >= len(self.usual)
                and self.infinite_inside(index)
            ):
                self.hidden += 1
                continue
            if said:
                kind, text = said
                return Failure(
                    kind,
                    stage,
                    mode,
                    f"{text} on {'ordinary' if index < len(self.usual) else 'hazard'} inputs {index}",
                )
        if fixed.clean:
            for index, new in enumerate(after):
                if not new.error and not new.finite:
                    return Failure(
                        "nonfinite",
                        stage,
                        mode,
                        f"{self._where(new)} on inputs {index}, and nothing remains; fixed: {', '.join(fixed.applied)}",
                    )
        return None

    def exact(self, index: int, mode: str) -> Outcome | None:
        """The results on some inputs in float64; None where the program does not run in it."""
        if self.truth is None:
            text = re.sub(r"(?<!mixed_)float(32|16)", "float64", self.program.text)
            self.truth = run(text, self.points, mode, "float64")
        return None if self.truth[index].error else self.truth[index]

    def rounding(self, index: int) -> Outcome | None:
        """What the results of the program on some inputs differ by at most when its operations
        round otherwise; None where they cannot be compared.
        """
        import numpy as np
        from rounding import perturbed

        if index in self.rounded:
            return self.rounded[index]
        point, found = self.points[index : index + 1], []
        for seed in range(RUNS):
            with perturbed(seed):
                found += run(self.program.text, point, "eager", self.program.dtype)
        found += run(self.program.text, point, "eager", self.program.dtype)
        self.rounded[index] = None
        if not any(one.error for one in found):
            with np.errstate(invalid="ignore"):
                spread = [
                    [
                        np.nan_to_num(np.max([abs(one - parts[-1]) for one in parts], axis=0))
                        for parts in zip(*results)
                    ]
                    for results in (
                        [one.values for one in found],
                        [one.gradients for one in found],
                    )
                ]
            self.rounded[index] = Outcome(*spread, found[-1].dtypes)
        return self.rounded[index]

    def infinite_inside(self, index: int) -> bool:
        """Whether an op of the program gives NaN or Inf on some inputs, run eagerly: of such a tanh
        or a comparison makes a number, and another one of what the fix puts in its place.
        """
        import numpy as np
        from tensorflow.python.framework import op_callbacks

        found: list[str] = []

        def note(op_type, inputs, attributes, outputs, op_name=None, graph=None):
            if graph is None and not all(
                np.isfinite(one.numpy()).all() for one in outputs if one.dtype.is_floating
            ):
                found.append(op_type)

        op_callbacks.add_op_callback(note)
        try:
            run(self.program.text, self.points[index : index + 1], "eager", self.program.dtype)
        finally:
            op_callbacks.remove_op_callback(note)
        return bool(found)

    def _where(self, outcome: Outcome) -> str:
        import numpy as np

        bad = [
            f"result {at}" for at, one in enumerate(outcome.values) if not np.isfinite(one).all()
        ]
        bad += [
            f"gradient of {name}"
            for name, one in zip(self.program.parameters, outcome.gradients)
            if not np.isfinite(one).all()
        ]
        return ", ".join(bad)

    def _differs(
        self,
        old: Outcome,
        new: Outcome,
        true: Outcome | None,
        stage: str,
        usual: bool,
        noise: Outcome | None = None,
    ) -> tuple[str, str] | None:
        import numpy as np

        if new.error:
            return "raises", new.error
        moved = self._moved() if stage == "unsafe" or not usual else set()
        for at, (one, other) in enumerate(zip(old.values, new.values)):
            kept = old.dtypes[at] == new.dtypes[at] or f"result {at}" in moved
            if one.shape != other.shape or not kept:
                return (
                    "shape",
                    f"result {at} is {new.dtypes[at]}{other.shape} instead of {old.dtypes[at]}{one.shape}",
                )
        if stage == "unsafe" and not usual:
            return None
        shift = SHIFT if stage == "unsafe" else {"value": 0.0, "gradient": 0.0}
        exact, names = true or old, list(self.program.parameters)
        room = noise or Outcome([0.0] * len(old.values), [0.0] * len(names), [])
        parts = [
            ("value", f"result {at}", *pair)
            for at, pair in enumerate(zip(old.values, new.values, exact.values, room.values))
        ]
        parts += [
            ("gradient", f"gradient of {name}", *pair)
            for name, *pair in zip(
                names, old.gradients, new.gradients, exact.gradients, room.gradients
            )
        ]
        # Of a value that is no number there is no gradient, whatever comes out of a minimum or a
        # clip behind it.
        known = all(np.isfinite(one).all() for one in old.values)
        for kind, name, one, other, exact, noisy in parts:
            if name in moved or kind == "gradient" and not known:
                continue
            said = off(
                kind,
                one,
                other,
                exact if true else None,
                self.eps,
                shift[kind],
                LEAST[kind] if usual else 1.0,
                noisy,
            )
            if said:
                return kind, f"{name}: {said}"
            died = (np.abs(one) > np.maximum(1e-6, RUNS * noisy)) & (other == 0)
            if usual and kind == "gradient" and died.any():
                return "dead", f"{name}: {one[died][0]:.3g} became 0"
        return None

    def _moved(self) -> set[str]:
        if not self.program.moved:
            return set()
        returned = ast.parse(self.program.text)
        (function,) = [
            one
            for one in returned.body
            if isinstance(one, ast.FunctionDef) and one.name == "program"
        ]
        names = [ast.unparse(one) for one in function.body[-1].value.elts]
        moved = {f"result {at}" for at, name in enumerate(names) if name in self.program.moved}
        return moved | {
            f"gradient of {name}"
            for name, kind in self.program.parameters.items()
            if moved and kind in "uh"
        }


# Reduction


def reduced(program: Program, fails: Callable[[Program], bool], steps: int = 400) -> Program:
    """A smaller program that still fails: statements and results go as long as it does."""
    current, changed = replace(program, cells=[]), True
    if not fails(current):
        return program
    while changed and steps > 0:
        changed = False
        for text in _smaller(current.text):
            steps -= 1
            smaller = replace(current, text=text)
            if fails(smaller):
                current, changed = smaller, True
                break
            if steps <= 0:
                break
    return current


def _smaller(text: str) -> list[str]:
    """Texts with one statement or one result less."""
    tree = ast.parse(text)
    lines = text.splitlines(keepends=True)
    found = []
    results = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Return)
        and isinstance(node.value, ast.List)
        and len(node.value.elts) > 1
    ]
    for node in results:
        for skipped in range(len(node.value.elts)):
            kept = ", ".join(
                ast.unparse(one) for at, one in enumerate(node.value.elts) if at != skipped
            )
            head = lines[node.lineno - 1][: node.col_offset]
            found.append(
                "".join(
                    [
                        *lines[: node.lineno - 1],
                        f"{head}return [{kept}]\n",
                        *lines[node.end_lineno :],
                    ]
                )
            )
    statements = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt)
        and not isinstance(node, ast.Return)
        and getattr(node, "name", "") not in ("program", "differentiate")
    ]
    for node in sorted(statements, key=lambda one: one.lineno - one.end_lineno):
        found.append("".join([*lines[: node.lineno - 1], *lines[node.end_lineno :]]))
    return [one for one in found if _parses(one)]


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def counted(counts: Counter, texts: dict[str, Fixed]) -> None:
    """Adds what was applied and refused, by rule, to `counts`."""
    for stage, one in texts.items():
        counts.update(f"{stage} {code}" for code in one.applied)
        counts.update(f"{stage} refused" for _ in one.problems)
        counts[f"{stage} clean"] += one.clean
