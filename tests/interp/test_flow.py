"""What the engine knows at a point of a program: fixtures/flow states it in comments, from the
semantics.

    reveal(x)      # revealed: [0, 1] not 0 nan inf float32 number guarded from tf.nn.softmax differentiated
    reveal(x)      # revealed: [~0.693, inf]        a bound written with ~ is compared to three digits
    reveal(x)      # revealed: unknown              nothing is known; `any`: every number can occur
    reveal(x)      # revealed: never                the line is not reached
    reveal(x, y)   # revealed: same                 or `different`: whether x and y are surely one number
    reveal(x)      # revealed: sequence             another kind; a string constant is written as in Python
    reveal(x)      # todo-revealed: [0, 1]          wanted; today the engine knows less

Range, `not 0`, `nan`, `inf`, `guarded` and `differentiated` (or not) are compared always, dtype,
`number` and the producer only where they are stated; `not-differentiated` says that surely no
gradient is taken.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from pathlib import Path

import pytest

from tfnanlint.dev.reveal import NUMERIC, Reveal, main, reveals
from tfnanlint.ops.families.arrays import DTYPES
from tfnanlint.ops.site import made_by
from tfnanlint.syntax.source import Source
from tfnanlint.values.value import Value, rounded

FLOW = Path(__file__).parents[2] / "fixtures" / "flow"
_COMMENT = re.compile(r"#\s*(todo-)?revealed:\s*(.*?)\s*$")
_RANGE = re.compile(r"\[\s*(\S+)\s*,\s*([^\s\]]+)\s*\]")
_FLAGS = ("nan", "inf", "guarded")


def stated() -> list:
    """One case for each comment in the fixtures."""
    found = []
    for path in sorted(FLOW.glob("*.py")):
        for row, line in enumerate(path.read_text().splitlines(), 1):
            comment = _COMMENT.search(line)
            if comment:
                todo, text = comment.groups()
                found.append(
                    pytest.param(path.name, row, text, bool(todo), id=f"{path.stem}-{row}")
                )
    return found


@lru_cache(maxsize=None)
def revealed(name: str) -> dict[int, Reveal]:
    path = FLOW / name
    return {one.row: one for one in reveals(Source.from_bytes(name, path.read_bytes()))}


@pytest.mark.parametrize("name, row, text, todo", stated())
def test_reveal(name, row, text, todo):
    problem = difference(revealed(name).get(row), text)
    if todo:
        assert problem, "the engine knows it now: write `revealed` instead of `todo-revealed`"
    else:
        assert not problem, f"{problem}; the engine says: {revealed(name).get(row)}"


def difference(one: Reveal | None, text: str) -> str:
    """What a reveal does not have of what a comment states; empty when they agree."""
    if text == "never":
        return "" if one is None else "this line is reached"
    if one is None:
        return "this line is not reached"
    if text in ("same", "different"):
        return "" if one.same == (text == "same") else f"not {text}"
    value, bounds = one.value, _RANGE.search(text)
    words = _RANGE.sub("", text).replace("not 0", "nonzero").split()
    wants = {
        "differentiated": one.differentiated == "yes",
        "not-differentiated": one.differentiated == "no",
    }
    if bounds:
        return _range(value, bounds) or _flags(value, words, wants)
    first = words[0] if words else ""
    if first in ("unknown", "any"):
        known = (
            value.kind in NUMERIC
            and value.lo == -math.inf
            and value.hi == math.inf
            and value.evident == (first == "any")
        )
        return "" if known and not _flags(value, words[1:], wants) else f"not {text}"
    if first.startswith("'"):
        return "" if repr(value.const) == text else f"not {text}"
    return "" if value.kind == first else f"not a {first} but a {value.kind}"


def _range(value: Value, bounds: re.Match) -> str:
    if value.kind not in NUMERIC:
        return f"a {value.kind}, not a number"
    for wanted, found in zip(bounds.groups(), (value.lo, value.hi)):
        if not _meets(wanted, found, value):
            return f"a bound is {found!r}, not {wanted}"
    return ""


def _meets(wanted: str, found: float, value: Value) -> bool:
    if wanted.startswith("~"):
        return math.isclose(float(wanted[1:]), found, rel_tol=1e-3)
    dtype = "float64" if value.kind == "number" else value.dtype
    return rounded(float(wanted), dtype) == rounded(found, dtype)


def _flags(value: Value, words: list[str], wants: dict[str, bool]) -> str:
    nonzero = value.known and value.lo <= 0 <= value.hi and not value.zero
    if nonzero != ("nonzero" in words):
        return "0 is excluded" if nonzero else "0 is not excluded"
    for flag in _FLAGS:
        if getattr(value, flag) != (flag in words):
            return f"{flag} is {getattr(value, flag)}"
    if (
        wants["differentiated"] != ("differentiated" in words)
        or ("not-differentiated" in words) > wants["not-differentiated"]
    ):
        return f"differentiated: {wants}"
    if "number" in words and value.kind != "number":
        return f"kind {value.kind}"
    for dtype in DTYPES & set(words):
        if value.dtype != dtype:
            return f"dtype {value.dtype}"
    if "from" in words and made_by(value, words[words.index("from") + 1]) is None:
        return "another producer"
    return _unread(words)


def _unread(words: list[str]) -> str:
    """A misspelled comment must not pass for an empty one."""
    plain = words[: words.index("from")] if "from" in words else words
    unread = (
        set(plain)
        - DTYPES
        - set(_FLAGS)
        - {"nonzero", "number", "differentiated", "not-differentiated"}
    )
    return f"cannot read {sorted(unread)}" if unread else ""


def test_command_prints_rows_and_ranges(capsys):
    path = FLOW / "names.py"
    assert main([str(path)]) == 0
    first = next(line for line in capsys.readouterr().out.splitlines())
    assert re.fullmatch(rf"{re.escape(str(path))}:\d+: .+", first)


def test_a_wrong_statement_is_noticed():
    one = Reveal(1, (Value(0.0, 1.0, dtype="float32"),), "unknown")
    assert difference(one, "[0, 1] float32") == ""
    wrong = (
        "[0, 2]",
        "[0, 1] not 0",
        "[0, 1] nan",
        "[0, 1] float16",
        "[0, 1] number",
        "[0, 1] from tf.exp",
        "[0, 1] diferentiated",
        "[0, 1] differentiated",
        "unknown",
        "any",
        "sequence",
        "never",
        "[~0.5, 1]",
    )
    assert [text for text in wrong if not difference(one, text)] == []


def test_what_may_be_a_truth_value_gives_a_product_no_dtype():
    """A tensor of truth values times a number is one of truth values in TensorFlow, whatever the
    number is (seed 10063310 of soundness.py).
    """
    text = (
        "import tensorflow as tf\ndef f(x, given):\n    p = tf.cast(x, tf.float16)\n    known = tf.math.xlogy(p, p)\n    if given:\n"
        "        known = {made}\n    known *= p\n    reveal(known)\n"
    )
    for made, dtype in (("tf.math.is_nan(p)", None), ("tf.exp(p)", "float16")):
        (one,) = reveals(Source("a.py", text.format(made=made)))
        assert one.value.dtype == dtype
