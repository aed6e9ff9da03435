"""A short run of each fuzzer, the same one each time, and that they notice what is wrong."""

from __future__ import annotations

import ast
import itertools
import random
import sys
from types import SimpleNamespace

import pytest

from tfnanlint.dev import repository

sys.path.insert(0, str(repository.ROOT / "benchmarks"))

import fuzz_parsers  # noqa: E402
from fuzz_programs import planted  # noqa: E402

PROGRAM = "import tensorflow as tf\ny = tf.math.log(tf.nn.relu(x))  # why\n"


def test_mutated_programs_break_nothing():
    from fuzz import linter_of_all, mutations, violation

    linter, dice = linter_of_all(), random.Random(42)
    texts = list(itertools.islice(mutations([], dice), 25))
    assert len(set(texts)) == 25
    assert [text for text in texts if violation(linter, text)] == []


def test_programs_with_ops_put_into_them_break_nothing():
    from fuzz import linter_of_all, violation

    linter, dice = linter_of_all(), random.Random(3)
    code = (
        "def f(a, b):\n    match a:\n        case [1, c]:\n            return b + c[a] * f(b, c)\n"
    )
    texts = [planted(code, dice) for _ in range(10)]
    assert sum("tf." in text for text in texts) > 5 and all(map(ast.parse, texts))
    assert [text for text in texts if violation(linter, text)] == []


@pytest.mark.parametrize(
    "after, wanted",
    [
        ("import tensorflow as tf\ny = (\n", "do not parse"),
        (PROGRAM.replace("# why", ""), "comments lost"),
        (PROGRAM, "a second run changes something"),
    ],
)
def test_what_is_broken_is_noticed(monkeypatch, after, wanted):
    import fuzz

    regions: list = []
    result = SimpleNamespace(source=SimpleNamespace(text=after), regions=regions)
    monkeypatch.setattr(fuzz, "fix_source", lambda *_: result)
    linter = fuzz.linter_of_all()
    whole, rounds = linter.fix, iter((b"first", b"second"))
    monkeypatch.setattr(
        linter, "fix", lambda path, data: SimpleNamespace(after=next(rounds)) if whole else None
    )
    assert wanted in fuzz.violation(linter, PROGRAM)


def test_an_exception_is_noticed():
    from fuzz import violation

    assert violation(SimpleNamespace(), PROGRAM).startswith("AttributeError")


@pytest.mark.parametrize("name", fuzz_parsers.TARGETS)
def test_mutated_files_break_no_parser(name):
    target, samples = fuzz_parsers.TARGETS[name]
    dice = random.Random(42)
    for sample in samples:
        target(sample)
    for _ in range(100):
        target(fuzz_parsers.mutated(dice.choice(samples), dice))


def test_a_baseline_that_changes_is_noticed(monkeypatch):
    from tfnanlint.pipeline.baseline import Baseline

    texts = iter(("{}", "[]"))
    monkeypatch.setattr(Baseline, "read", lambda *_: SimpleNamespace(text=lambda: next(texts)))
    with pytest.raises(fuzz_parsers.Violation):
        fuzz_parsers.baseline(b"")


def test_edited_documents_are_judged_as_opened_ones(tmp_path):
    pytest.importorskip("pygls")
    from fuzz_edits import violation

    from tfnanlint.dev.wire import Client

    dice = random.Random(42)
    with Client(tmp_path) as client:
        for number in range(2):
            assert violation(client, tmp_path, number, dice) == ""
