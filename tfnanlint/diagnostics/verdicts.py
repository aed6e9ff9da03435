"""What executing a finding's slice has shown. Plain data."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Proof(enum.Enum):
    """Whether inputs were found that show the hazard; UNSUPPORTED where its code cannot be run
    alone.
    """

    PROVED = "proved"
    NOT_REPRODUCED = "not reproduced"
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True, slots=True)
class Shown:
    """An input of a witness: its name, what the program calls it, its numbers as Python text.

    `cut` names the op that gives it in the program, where that op was not run.
    """

    name: str
    said: str
    text: str
    cut: str = ""


@dataclass(frozen=True, slots=True)
class InMode:
    """Whether the original and the repaired slice are finite on a witness in a mode; None where
    they do not run in it.
    """

    mode: str
    original: bool | None
    repaired: bool | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """What a witness gives, as text: the value, or the gradient of an input; `after` is that of the
    repaired slice, empty where there is none.
    """

    name: str
    before: str
    after: str = ""


@dataclass(frozen=True, slots=True)
class Curve:
    """Values and gradients along a line; None where nothing could be computed."""

    value: tuple[float | None, ...]
    gradient: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """Both slices along one number of a witness: `name` is that number, `at` what it is in the
    witness, `element` the number of the value that is shown.
    """

    name: str
    element: str
    at: float
    xs: tuple[float, ...]
    before: Curve
    after: Curve | None = None


@dataclass(frozen=True, slots=True)
class Witness:
    """Inputs that show a hazard. `said` is what they show, in `mode`; `program` a Python program
    that prints it. `line` is there where a report draws it.
    """

    said: str
    mode: str
    inputs: tuple[Shown, ...]
    program: str
    modes: tuple[InMode, ...] = ()
    results: tuple[Result, ...] = ()
    line: Line | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The proof of a finding, with the reason in words where there is no witness.

    `mended` says whether the repaired slice is finite on the witness, None where none was run, and
    `fix` tells of it in words, and `refused` why it is not to be applied: it does not hold what it
    claims. `seconds` is what slicing and executing computed.
    """

    proof: Proof
    reason: str = ""
    witness: Witness | None = None
    mended: bool | None = None
    fix: str = ""
    refused: str = ""
    seconds: float = 0.0

    @property
    def is_proved(self) -> bool:
        return self.proof is Proof.PROVED

    @property
    def words(self) -> str:
        """The verdict in one line: `proved: the value is -inf`."""
        said = self.witness.said if self.witness is not None else self.reason
        mode = self.witness.mode if self.witness is not None else ""
        where = f" ({MODES[mode]})" if mode in MODES else ""
        return f"{self.proof.value}: {said}{where}"


MODES = {"graph": "in a tf.function", "xla": "compiled by XLA"}
