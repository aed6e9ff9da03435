"""Whether what the analysis reveals covers what TensorFlow computes, on random programs."""

from __future__ import annotations

import math
import sys
from collections import Counter
from typing import Any

from random_programs import MAX_RANK, PARAMETERS, rank_of, settle, size_of

from tfnanlint.dev.reveal import NUMERIC, Reveal, reveals
from tfnanlint.syntax.source import Source
from tfnanlint.values.value import FLOATS, INF, MIXED, SMALLEST, Value, outward, rounded

MAX_ROUNDS = 2000  # of one row in one run
# elements: a loop over tf.one_hot adds an axis in every round until the memory is full
MAX_SIZE = 4_000_000
# by whose sum a number in float16 or bfloat16 may miss a bound that was computed in float32
ROUNDINGS = 16
# below it is what NumPy makes of subnormal numbers, which TensorFlow takes for 0, with a factor of
# 1e8
_FLUSHED = 1e-30
_ROOT, _HALF_ROOT = (math.sqrt(FLOATS[dtype].max) for dtype in ("float32", "float16"))
_SKIPPING = ("fmin", "fmax", "nan_to_num")  # where one number is NaN they give the other one, or 0
# beyond 1e5, which numbers without a bound are not said to reach
_DIVERGING = ("tf.math.igamma", "tf.math.igammac")
# of more than two numbers: it overflows on the way, and then meets a 0
_PRODUCTS = ("tf.reduce_prod", "tf.math.cumprod")
# below it float16 keeps fewer digits the smaller a number is: 1e-7 is a fifth more there
_COARSE = 6e-5
# what a cast makes of NaN, and its magnitude is the same: no other integers are there
_LEAST = (-(2.0**31), -(2.0**63))
_BESIDE = 64  # how far from there what is added to such an integer leads: a rank, a small constant
MAX_KEPT = 12  # values recorded of one row


def samples() -> dict[str, Any]:
    """A value for each parameter of a program, on which its statements are tried."""
    return dict(zip(PARAMETERS, vectors(0)[0]))


def vectors(seed: int) -> list[tuple]:
    """Inputs of programs: ordinary, large, tiny and with exact zeros, with other flags and counts."""
    import numpy as np
    import tensorflow as tf

    tf.config.run_functions_eagerly(True)
    draw = np.random.default_rng(seed)
    ordinary = [draw.normal(size=4), draw.normal(size=4), draw.normal(size=(3, 4))]
    made = []
    for index, change in enumerate(
        (
            lambda v: v,
            lambda v: v * 200,
            lambda v: v * 1e-20,
            lambda v: np.where(draw.random(v.shape) < 0.5, 0, v),
        )
    ):
        made.append(
            (
                *(tf.constant(change(v), tf.float32) for v in ordinary),
                index % 2 == 0,
                (2, 0, 1, 3)[index],
                (0.5, -2.0, 0.0, 1e-4)[index],
            )
        )
    return made


def seen(text: str, inputs: tuple) -> list[tuple[int, tuple]]:
    """What arrives at the `reveal`s of a program that is run eagerly, with their rows, in order;
    until it ends or fails.
    """
    events: list[tuple[int, tuple]] = []
    counts: Counter[int] = Counter()

    def reveal(*values: Any) -> Any:
        row = sys._getframe(1).f_lineno
        counts[row] += 1
        if (
            counts[row] > MAX_ROUNDS
            or size_of(values[0]) > MAX_SIZE
            or rank_of(values[0]) > MAX_RANK
        ):
            raise RuntimeError("a loop that does not end")
        if counts[row] <= MAX_KEPT:
            events.append((row, tuple(map(_as_it_is, values))))
        return values[0]

    space: dict[str, Any] = {"reveal": reveal, "inputs": lambda: inputs}
    try:
        exec(compile(text, "program.py", "exec"), space)
        if "program" in space:
            space["program"](*inputs)
    # a branch whose shapes do not fit, an assertion: what came before was computed
    except Exception:
        pass
    finally:
        settle()
    return events


def _as_it_is(value: Any) -> Any:
    """An array or variable as it is now: it may be changed in place. So may a tensor of bfloat16,
    with which NumPy shares its memory.
    """
    if hasattr(value, "assign"):
        return value.value() + 0 if value.dtype.name != "bool" else value.value()
    if getattr(value, "dtype", None) == "bfloat16":
        return value + 0
    return value.copy() if type(value).__module__ == "numpy" and hasattr(value, "copy") else value


def claims(text: str) -> dict[int, Reveal]:
    """What the analysis says at every `reveal`, by its row."""
    return {one.row: one for one in reveals(Source("/nowhere/program.py", text))}


class Trial:
    """Counts what was compared, over many programs."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def violations(self, text: str, runs: list[tuple]) -> list[str]:
        """Every place of a program where a value arrives that was not revealed."""
        said = claims(text)
        found: dict[int, str] = {}
        reached: set[int] = set()
        for inputs in runs:
            run = Run(FLOATS["float16"].max if "float16" in text.replace("bfloat16", "") else _ROOT)
            for row, values in seen(text, inputs):
                reached.add(row)
                if (problem := run.problem(said.get(row), values)) and row not in found:
                    found[row] = f"line {row}: {problem}\n{text}\n# on {inputs}"
            self.counts["numbers"] += run.numbers
        self.counts["programs"] += 1
        self.counts["places"] += len(reached)
        self.counts["bounded"] += sum(_bounded(said[row]) for row in reached & said.keys())
        self.counts["known"] += sum(said[row].value.known for row in reached & said.keys())
        return list(found.values())


class Run:
    """One run of a program, in its order.

    NaN and Inf are said where the program shows them. An input of which nothing is known, and a
    number without a bound that overflows, are said to be neither: what comes after such a number in
    the same run may be NaN or Inf too (`open`). So may what comes after a number without a bound
    beyond `large`: the next statement shows the mean of its squares, not the squares, or a softmax
    in float16, not what is cast to it. And what divides by a subnormal number that NumPy kept: it
    is 0 to TensorFlow. What is not known is taken to have elements: where it arrives without any,
    its sums, means and sizes are other ones from there on (`lost`). So is a product with truths of
    which nothing is known: it is one of truths.
    """

    def __init__(self, large: float = _ROOT) -> None:
        self.numbers = 0
        self.large = large
        self.open = False
        # by how much a number in an unsaid float16 or bfloat16, and what NumPy makes float32 of it,
        # may miss its bound
        self.coarse = 0.0
        self.nothing = SMALLEST["float32"]  # below it a number counts as 0
        self.lost = False  # numbers are other ones from there on, and nothing is compared

    def problem(self, one: Reveal | None, values: tuple) -> str:
        """What is wrong with what is said of values that arrive; empty when nothing is."""
        import numpy as np

        if one is None:
            return "this line was said not to be reached"
        if self.lost:
            return ""
        arrays = [_array(np, value) for value in values]
        if any(array is None for array in arrays):
            return ""
        if len(arrays) == 2:
            return (
                ""
                if not one.same or _equal(np, *arrays)
                else f"{arrays[0]} and {arrays[1]} are not the same"
            )
        value, dtype = one.value, getattr(values[0], "dtype", None)
        if value.kind not in NUMERIC:
            return f"{values[0]} is no {value.kind}"
        name = getattr(dtype, "name", str(dtype)) if dtype is not None else ""
        unknown = value.dtype in (None, MIXED)
        if (
            name
            and not unknown
            and value.kind == "tensor"
            and hasattr(dtype, "as_numpy_dtype")
            and value.dtype != name
        ):
            self.lost = name == "bool" and getattr(value.origin, "name", "") == "tf.multiply"
            return "" if self.lost else f"dtype is {name}, not {value.dtype}"
        self.numbers += arrays[0].size
        if not value.known and not arrays[0].size:
            self.lost = True
            return ""
        if (
            not hasattr(dtype, "as_numpy_dtype")
            and ((arrays[0] != 0) & (abs(arrays[0]) < SMALLEST["float32"])).any()
        ):
            self.nothing = _FLUSHED
            self.open |= not value.zero  # it is 0 all the same to a division of TensorFlow
        large = _HALF_ROOT if name == "float16" else self.large
        self.open |= any(
            INF > abs(number) > large
            and (value.hi if number > 0 else value.lo) == math.copysign(INF, number)
            for number in _ends(np, arrays[0])
        )
        # it need not miss a bound itself: what NumPy makes float32 of it may
        if unknown and name in ("float16", "bfloat16"):
            tiny = name == "float16" and ((arrays[0] != 0) & (abs(arrays[0]) < _COARSE)).any()
            self.coarse = max(self.coarse, 0.25 if tiny else ROUNDINGS * FLOATS[name].eps)
        wrong = [
            number
            for number in _ends(np, arrays[0])
            if not self._of_nan(number)
            and not self._admits(value, number)
            and not (unknown and self._admits_elsewhere(value, number, name))
            and not (self.coarse and self._nearly(value, number))
        ]
        self.lost = bool(wrong) and self._may_lose(value.origin)
        return f"{wrong[0]!r} is not in {value!r}" if wrong and not self.lost else ""

    def _may_lose(self, origin: Any) -> bool:
        """Whether an op gives something else where a NaN of which nothing is known, or a number
        without a bound, arrives.
        """
        made = getattr(origin, "name", "")
        if made in _PRODUCTS:
            return INF in (origin.value("x").hi, -origin.value("x").lo)
        return (
            self.open
            and made.endswith(_SKIPPING)
            or made in _DIVERGING
            and INF in (origin.value("a").hi, origin.value("x").hi)
        )

    def _of_nan(self, number: float) -> bool:
        """Whether a number is what a cast to integers makes of NaN; where NaN may have come in,
        also what was added to that.
        """
        return (
            number in _LEAST
            or self.open
            and any(abs(number - least) <= _BESIDE for least in _LEAST)
        )

    def _admits(self, value: Value, number: float) -> bool:
        """Whether a number is in a value. A subnormal number counts as the 0 that most operations
        make of it; where NumPy kept one, so does what it may be multiplied to.
        """
        if value.admits(number) or abs(number) < self.nothing and value.admits(0.0):
            return True
        # what is 0 at infinity only
        if self.open and number == 0.0 and value.lo <= 0.0 <= value.hi:
            return True
        if number != number or number in (INF, -INF):
            # one of its branches says nothing at all
            vague = value.kind == "unknown" and value.lo == -INF and value.hi == INF
            self.open |= (
                not value.known
                or vague
                or number == number
                and (value.hi if number > 0 else value.lo) == number
            )
            return self.open
        return False

    def _admits_elsewhere(self, value: Value, number: float, dtype: str) -> bool:
        """Whether a value of unknown dtype, which is judged as float32, admits a number of a dtype
        with other limits.

        In float64 bound and number are rounded to float32: what a test or a constant says is said
        of its numbers, and what is above
        -1 is at least -0.99999994. What is finite in float64 alone counts as Inf: the bounds do not say how far float64 goes. In float16
        and bfloat16 a number may miss a bound by some roundings (1/64, 1/8), which add up, more so
        below 6e-5. NaN and Inf are not judged there, and open the run: what is small in float32 is
        0 in float16, and hazards are those of the dtype that is supposed.
        """
        if dtype in ("float16", "bfloat16"):
            self.open |= not math.isfinite(number)
            return not math.isfinite(number) or self._nearly(value, number)
        if self.coarse and self._nearly(value, number):
            return True
        if FLOATS["float32"].max < abs(number) < INF:
            return self._admits(value, math.copysign(INF, number))
        lo, hi = outward(value.lo, value.hi, None, 1)
        return value.kind != "number" and (
            value.admits(rounded(number, None))
            or min(lo, rounded(lo, None)) <= number <= max(hi, rounded(hi, None))
        )

    def _nearly(self, value: Value, number: float) -> bool:
        """Whether a number is as near as such roundings leave it; what a step makes of it (trunc,
        sign) may be the next whole number.
        """
        stepped = all(
            math.isfinite(one) and one == math.floor(one) for one in (number, value.lo, value.hi)
        )
        slack = max(self.coarse, float(stepped and self.coarse > 0))
        return (
            value.lo - slack * max(1.0, abs(value.lo))
            <= number
            <= value.hi + slack * max(1.0, abs(value.hi))
        )


def _ends(np: Any, array: Any) -> list[float]:
    """The numbers of an array that decide whether a value admits it: its ends, 0, NaN and Inf."""
    finite = array[np.isfinite(array)]
    odd = np.unique(array[~np.isfinite(array)]).tolist() + [0.0] * bool((array == 0).any())
    return [*odd, float(finite.min()), float(finite.max())] if finite.size else odd


def _bounded(one: Reveal) -> bool:
    return one.value.lo != -INF or one.value.hi != INF


def _array(np: Any, value: Any) -> Any:
    """The numbers in what arrived, as float64; None when it is something else."""
    try:
        return np.asarray(value).astype("float64").ravel()
    except (TypeError, ValueError, NotImplementedError):
        return None


def _equal(np: Any, one: Any, other: Any) -> bool:
    return one.size != other.size or bool(np.array_equal(one, other, equal_nan=True))
