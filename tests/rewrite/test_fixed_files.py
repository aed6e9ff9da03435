"""All fixes of a file at once, executed: programs of fixtures/files, and a short run of random ones
(benchmarks/fixed_programs.py).
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace

import fixed_files
import pytest
from claims import cases
from differential import Check, Fixed, Outcome, Tool, counted, off, reduced
from hazard_programs import alone, program
from hazards import HAZARDS

from tfnanlint.dev import repository

pytestmark = pytest.mark.usefixtures("suggestions_applied")

sys.path.insert(0, str(repository.ROOT / "benchmarks"))

TOOL = Tool()
# Of 60 programs these hold no kind of failure that is known and open; benchmarks/fixed_programs.py
# --again runs such.
SEEDS = range(3000, 3060)


@pytest.mark.tensorflow
@pytest.mark.parametrize("path", fixed_files.paths(), ids=lambda path: path.stem)
def test_a_file_fixed_at_once(path):
    pytest.importorskip("tensorflow")
    one = fixed_files.program(path)
    check = Check(one, TOOL, one.modes)
    assert not check.error
    failures, texts = check.failures()
    assert [str(failure) for failure in failures] == []
    assert len(texts["unsafe"].applied) >= 2 and not texts["unsafe"].problems
    assert not texts["unsafe"].left


@pytest.mark.tensorflow
@pytest.mark.parametrize("part", range(3))
def test_random_programs(part):
    pytest.importorskip("tensorflow")
    counts: Counter[str] = Counter()
    failed = []
    for seed in SEEDS[part::3]:
        one = program(seed)
        check = Check(one, TOOL, ("eager", "graph", "xla") if seed % 20 == 0 else ("eager",))
        if not check.error:
            failures, texts = check.failures()
            failed += [f"{seed}: {failure}" for failure in failures]
            counted(counts, texts)
            counts["programs"] += 1
    assert failed == []
    assert counts["programs"] >= 18 and len([key for key in counts if "TFN" in key]) >= 30


# The table


def test_every_rule_with_a_fix_has_a_form():
    """A rule whose fix is executed in fixtures/claims has a form in tests/support/hazards.py."""
    assert {case.rule.code for case in cases()} - {form.code for form in HAZARDS} == set()


@pytest.mark.parametrize("form", HAZARDS, ids=lambda form: f"{form.code}-{form.template[:60]}")
def test_a_form_is_found_and_repaired(form):
    one = alone(form)
    assert form.code in [finding.code for finding in TOOL.findings(TOOL.source(one))]
    fixed = TOOL.fixed(one, True)
    assert fixed.applied and fixed.clean, fixed


def test_programs_are_the_same_again():
    assert [program(seed) for seed in range(5)] == [program(seed) for seed in range(5)]
    assert {len(program(seed).codes) for seed in range(60)} >= {2, 3, 4, 5, 6, 7}


def test_programs_vary():
    texts = [program(seed).text for seed in range(200)]
    for word in (
        "class Head",
        "for scale",
        "if flag",
        "def helper",
        "ops.",
        "K.",
        "tnp.",
        "import math",
        "net(",
        "float16",
        "compat.v1",
        "['a']",
        "  # ",
    ):
        assert any(word in text for text in texts), word
    assert any(program(seed).cells for seed in range(60))


# What is noticed


BEFORE = """import tensorflow as tf


def program(z, s):
    p = tf.nn.softmax(z)
    loss = tf.math.log(p)
    other = tf.sqrt(s)
    return [loss, other]
"""
WRONG = {
    "nonfinite": BEFORE,
    "value": BEFORE.replace("tf.math.log(p)", "tf.nn.log_softmax(z) * 1.001"),
    "gradient": BEFORE.replace("tf.math.log(p)", "tf.stop_gradient(tf.nn.log_softmax(z))"),
    "dead": BEFORE.replace("tf.math.log(p)", "tf.nn.log_softmax(z)").replace(
        "tf.sqrt(s)", "tf.stop_gradient(tf.sqrt(s))"
    ),
    "shape": BEFORE.replace("tf.math.log(p)", "tf.nn.log_softmax(z)[None]"),
    "raises": BEFORE.replace("tf.math.log(p)", "tf.math.log_softmax_of(z)"),
}


@pytest.mark.tensorflow
@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_fix_is_noticed(kind):
    pytest.importorskip("tensorflow")
    one = replace(
        program(0),
        text=BEFORE,
        parameters={"z": "z", "s": "s"},
        cells=[],
        moved=set(),
        modes=("eager",),
        dtype="float32",
    )

    class Wrong(Tool):
        def fixed(self, program, unsafe):
            return Fixed(WRONG[kind] + "\n", ("TFN301",), ("wrong",), (), ())

    failures, _ = Check(replace(one, text=BEFORE + "# before\n"), Wrong()).failures(("safe",))
    assert [failure.kind for failure in failures] == ["gradient" if kind == "dead" else kind]


@pytest.mark.tensorflow
def test_rounding_is_no_difference():
    np = pytest.importorskip("numpy")
    old = np.array([1.0, np.nan, 1e-9])
    assert not off("value", old, np.array([1.0 + 1e-7, 5.0, 1e-9 + 1e-16]), None, 2.0**-23)
    assert "became" in off("value", old, np.array([1.001, 5.0, 1e-9]), None, 2.0**-23)
    assert "became nan" in off("value", old, np.array([np.nan, 5.0, 1e-9]), None, 2.0**-23)
    assert not off(
        "value", old, np.array([1.001, 5.0, 1e-9]), np.array([1.001, 5.0, 1e-9]), 2.0**-23
    )
    assert not Outcome([old], [], ["float32"]).finite


def test_a_failing_program_is_made_smaller():
    one = replace(program(0), text=BEFORE, cells=[])
    small = reduced(
        one, lambda smaller: "tf.math.log(p)" in smaller.text and "return [" in smaller.text
    )
    assert (
        "sqrt" not in small.text
        and "tf.math.log(p)" in small.text
        and len(small.text.split("\n")) <= 8
    )


# Functions of real code


def test_functions_that_stand_alone(tmp_path):
    from fixed_functions import candidates, guesses

    path = tmp_path / "a.py"
    path.write_text(
        "import os\nimport tensorflow as tf\nfrom pathlib import Path\n\nEPS = 1e-6\n\n\ndef helper(x):\n    return x + EPS\n\n\n"
        "@tf.function\ndef root(x: 'Tensor', axis):\n    return tf.sqrt(tf.reduce_sum(helper(x) ** 2, axis))\n\n\n"
        "def reads(x):\n    return tf.constant(open(x).read())\n\n\ndef calls(x):\n    return os.system(x), tf.sqrt(x)\n\n\n"
        "def files(x):\n    return tf.io.read_file(x)\n\n\ndef hidden(x):\n    return tf.sqrt(x).__class__\n\n\ndef away(x):\n    return Path(x), tf.sqrt(x)\n"
    )
    found = {one.name: one for one in candidates(path)}
    assert set(found) == {"root"}, "helper alone reads no library"
    assert (
        found["root"].module.count("def ") == 2
        and "EPS = 1e-06" in found["root"].module
        and "@" not in found["root"].module
    )
    first = guesses(found["root"])[0]
    assert "root(x=x_, axis=-1)" in first.text and first.parameters == {"x_": "r"}


@pytest.mark.tensorflow
def test_a_function_of_real_code_is_examined(tmp_path):
    pytest.importorskip("tensorflow")
    from fixed_functions import candidates, examined

    path = tmp_path / "a.py"
    path.write_text(
        "import tensorflow as tf\n\n\ndef log_p(logits, labels):\n    p = tf.nn.softmax(logits)\n    return tf.reduce_sum(labels * tf.log(p))\n"
    )
    (one,) = candidates(path)
    assert examined(one, TOOL) == {
        "applied": {"safe": ["TFN303"], "unsafe": ["TFN303"]},
        "failure": "",
    }
