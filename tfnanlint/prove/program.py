"""A slice as a program: inputs, and steps that each apply one row of the table of ops. Plain data,
which goes to the worker as JSON.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import asdict, dataclass, replace
from typing import Any

TENSOR, NUMBER, WHOLE_NUMBER, TRUTH = "tensor", "number", "whole number", "truth"
INF = float("inf")
NAMES = re.compile(r"[A-Za-z_]\w*")  # in a spelling


@dataclass(frozen=True, slots=True)
class Range:
    """What the analysis knows of a value: every finite element is between `lo` and `hi`; whether
    one may be 0, NaN or infinite.
    """

    lo: float = -INF
    hi: float = INF
    zero: bool = True
    nan: bool = False
    inf: bool = False

    @property
    def any_number(self) -> bool:
        return self.lo == -INF and self.hi == INF and self.zero


@dataclass(frozen=True, slots=True)
class Input:
    """A value that the slice does not compute: a parameter, weights, data.

    `key` tells the same input in two slices, `said` is what the program calls it; `cut` names the
    op that gives it in the program but cannot be run alone.
    """

    name: str
    key: str
    kind: str
    range: Range
    dtype: str = ""
    said: str = ""
    cut: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """`name = spelling`, for the first of `spellings` that TensorFlow has. `op` is the row; with
    `inside` the step is part of what the finding flags. `key` tells the same computation in two
    slices, `said` is how the program writes it.
    """

    name: str
    spellings: tuple[str, ...]
    op: str
    range: Range
    inside: bool = False
    key: str = ""
    dtype: str = ""
    said: str = ""

    @property
    def as_input(self) -> Input:
        """What the step gives as an input: it is not computed then."""
        return Input(self.name, self.key, TENSOR, self.range, self.dtype, self.said, self.op)


@dataclass(frozen=True, slots=True)
class Program:
    """A slice: `site` is the flagged value, `sink` what the function makes of it."""

    inputs: tuple[Input, ...]
    steps: tuple[Step, ...]
    site: str
    sink: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def needed(self) -> Program:
        """The same without what site and sink do not need."""
        names = set(NAMES.findall(f"{self.site} {self.sink}"))
        steps = []
        for step in reversed(self.steps):
            if step.name in names:
                steps.append(step)
                names |= {name for text in step.spellings for name in NAMES.findall(text)}
        inputs = tuple(one for one in self.inputs if one.name in names)
        return Program(inputs, tuple(reversed(steps)), self.site, self.sink)

    def without(self, key: str) -> Program:
        """The same with what a step gives as an input."""
        cut = [step.as_input for step in self.steps if step.key == key]
        steps = tuple(step for step in self.steps if step.key != key)
        return Program((*self.inputs, *cut), steps, self.site, self.sink).needed()

    def retyped(self, keys: Collection[str], dtype: str) -> Program:
        """The same with a dtype for some inputs."""
        inputs = tuple(replace(one, dtype=dtype) if one.key in keys else one for one in self.inputs)
        return replace(self, inputs=inputs)

    def behind(self, name: str) -> frozenset[str]:
        """The steps that one is made of, itself included."""
        known = {step.name: step for step in self.steps}
        waiting, behind = [name], set()
        while waiting:
            step = known.get(waiting.pop())
            if step is not None and step.name not in behind:
                behind.add(step.name)
                waiting += [one for text in step.spellings for one in NAMES.findall(text)]
        return frozenset(behind)

    @classmethod
    def of_dict(cls, table: dict[str, Any]) -> Program:
        return cls(
            tuple(Input(**{**one, "range": Range(**one["range"])}) for one in table["inputs"]),
            tuple(
                Step(
                    **{
                        **one,
                        "range": Range(**one["range"]),
                        "spellings": tuple(one["spellings"]),
                    }
                )
                for one in table["steps"]
            ),
            table["site"],
            table["sink"],
        )
