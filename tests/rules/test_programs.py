"""Whole programs: found where their comments say, repaired, and run in TensorFlow before and after
the repair.

The docstring of a program in fixtures/programs ends in a header:

    Story:   the failure story it tells, when it tells one
    Needs:   a module besides TensorFlow (tf_keras: Keras 2 for tf.layers)
    Before:  what a run of the program shows, or "not run"
    Repair:  the command that cures it: "--fix", "--fix --unsafe-fixes", or "none"
    After:   what a run of the repaired program shows, besides finite losses and weights

Before and After are conditions separated by commas; `CONDITIONS` has them all.
"""

from __future__ import annotations

import ast
import importlib.util
import math
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from execution import Host, Run
from expectations import Expectation, expectations

from tfnanlint.config.layers import Configuration, Layer
from tfnanlint.diagnostics.findings import Finding, Fix
from tfnanlint.pipeline.check import check_source
from tfnanlint.rule import registry as rules
from tfnanlint.syntax.source import Source

PROGRAMS = Path(__file__).parents[2] / "fixtures" / "programs"
REPAIRS = {"none": None, "--fix": False, "--fix --unsafe-fixes": True}
SECONDS = 60.0


@dataclass
class Program:
    """A fixture program and what its header claims."""

    path: Path
    text: str = field(repr=False)
    header: dict[str, str]

    @classmethod
    def read(cls, path: Path) -> Program:
        text = path.read_text(encoding="utf-8")
        docstring = ast.get_docstring(ast.parse(text)) or ""
        return cls(
            path,
            text,
            dict(re.findall(r"^(Story|Needs|Before|Repair|After): *(.+)$", docstring, re.M)),
        )

    @property
    def runs(self) -> bool:
        return self.header["Before"] != "not run"

    @property
    def unsafe(self) -> bool | None:
        """Whether the repair takes unsafe fixes; None when there is no repair."""
        return REPAIRS[self.header["Repair"]]

    @property
    def environment(self) -> dict[str, str]:
        return {"TF_USE_LEGACY_KERAS": "1"} if self.header.get("Needs") == "tf_keras" else {}


# ---------------------------------------------------------------------------------------------------------
# What a run shows


def frozen(run: Run) -> bool:
    """Whether the last quarter of the losses moves by less than a hundredth of its level."""
    tail = run.losses[-max(3, len(run.losses) // 4) :]
    return all(map(math.isfinite, tail)) and max(tail) - min(tail) < 0.01 * abs(tail[-1])


CONDITIONS: list[tuple[str, Callable[..., bool]]] = [
    (r"losses finite", lambda run: all(map(math.isfinite, run.losses))),
    (r"losses not finite", lambda run: not math.isfinite(run.losses[-1])),
    (
        r"losses finite at first",
        lambda run: math.isfinite(run.losses[0]) and not math.isfinite(run.losses[-1]),
    ),
    (r"losses frozen", frozen),
    (r"losses move", lambda run: abs(run.losses[-1] - run.losses[0]) > 0.01 * abs(run.losses[0])),
    (r"weights finite", lambda run: run.all_weights > 0 and run.bad_weights == 0),
    (r"weights not finite", lambda run: run.bad_weights > 0),
    (r"accuracy > ([\d.]+)", lambda run, limit: run.accuracy > limit),
    (r"accuracy < ([\d.]+)", lambda run, limit: run.accuracy < limit),
    (r"loss ratio < ([\d.]+)", lambda run, limit: 0 <= run.losses[-1] < limit * run.losses[0]),
    (r"loss drop > ([\d.]+)", lambda run, limit: run.losses[0] - run.losses[-1] > limit),
]
SOUND = ("losses finite", "weights finite")


def judge(condition: str) -> Callable[[Run], bool]:
    """The test that a condition names; its number is the limit. Raises LookupError."""
    for pattern, test in CONDITIONS:
        if match := re.fullmatch(pattern, condition):
            return lambda run: test(run, *map(float, match.groups()))
    raise LookupError(f"no such condition: {condition!r}")


def conditions(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def unmet(run: Run, wanted: list[str]) -> list[str]:
    return [condition for condition in wanted if not judge(condition)(run)]


# ---------------------------------------------------------------------------------------------------------
# Linting and repairing, as the command line does it without any configuration


class Linter:
    """The pipeline at default settings, with or without unsafe fixes; with the rules in preview for
    programs that speak of them.
    """

    def __init__(self) -> None:
        layers = (
            Layer(origin="test", root=str(PROGRAMS), preview=preview) for preview in (False, True)
        )
        self.usual, self.preview = (Configuration(layer, isolated=True) for layer in layers)

    def findings(self, source: Source) -> list[Finding]:
        configuration = self.preview if "TFN8" in source.text else self.usual
        policy = configuration.for_file(source.path).policy(source.path, rules.load())
        return list(check_source(source, policy).findings)

    def repaired(self, source: Source, unsafe: bool) -> Source:
        from tfnanlint.pipeline import fix as fixing

        def allowed(fix: Fix) -> bool:
            return fix.claim.safe or unsafe

        result = fixing.fix_source(source, self.findings, allowed)
        assert not result.problems, result.problems
        return result.source


def row(finding: Finding, source: Source) -> int:
    return source.position(finding.span.start)[0]


def says(finding: Finding, text: str, source: Source) -> bool:
    """Whether a text occurs in a finding: in its message, range, trace or underlined source."""
    parts = (
        finding.message,
        finding.range,
        source.slice(finding.span),
        *(step.text for step in finding.trace),
    )
    return any(text in part for part in parts)


def differences(found: list[Finding], wanted: list[Expectation], source: Source) -> Iterator[str]:
    """One line for each finding that is missing, unexpected, or lacks the text it should have."""
    here = Counter((row(finding, source), finding.code) for finding in found)
    there = Counter((e.line, e.code) for e in wanted if e.kind in ("want", "todo-ok") and e.code)
    for line, code in sorted((there - here).elements()):
        yield f"line {line}: {code} is missing"
    reasons = {e.line: e.text for e in wanted if e.kind == "ok"}
    later = {(e.line, e.code) for e in wanted if e.kind == "todo-want"}
    for line, code in sorted((here - there).elements()):
        if (line, code) in later:
            yield f"line {line}: {code} is found now: make its todo-want a want"
        else:
            message = next(f.message for f in found if (row(f, source), f.code) == (line, code))
            yield f"line {line}: unexpected {code} ({message}) {reasons.get(line, '')}".rstrip()
    for e in wanted:
        matching = [f for f in found if (row(f, source), f.code) == (e.line, e.code)]
        if (
            e.kind == "want"
            and e.text
            and matching
            and not any(says(f, e.text, source) for f in matching)
        ):
            yield f"line {e.line}: {e.code} does not say {e.text!r}"


# ---------------------------------------------------------------------------------------------------------
# Tests


ALL = [Program.read(path) for path in sorted(PROGRAMS.glob("*.py"))]
RUNNING = [program for program in ALL if program.runs]
each_program = pytest.mark.parametrize("program", ALL, ids=lambda program: program.path.stem)


@pytest.fixture(scope="module")
def linter() -> Linter:
    return Linter()


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    pytest.importorskip("tensorflow")
    with Host() as host:
        yield host


def test_every_story_has_programs():
    told = Counter(program.header.get("Story") for program in ALL)
    assert all(told[f"S{number}"] for number in range(1, 11)), told
    assert told["S4"] >= 5 and told["S1"] >= 4


@each_program
def test_header(program):
    header = program.header
    assert header["Repair"] in REPAIRS
    assert ("After" in header) == (program.unsafe is not None)
    for text in (header["Before"] if program.runs else "", header.get("After", "")):
        for condition in conditions(text) if text else ():
            judge(condition)
    kinds = Counter(e.kind for e in expectations(program.text))
    assert kinds["want"] + kinds["todo-want"] or header["Story"] == "S10"
    assert 30 <= len(program.text.splitlines()) <= 120


@each_program
def test_findings(program, linter):
    source = Source(str(program.path), program.text)
    problems = list(differences(linter.findings(source), expectations(program.text), source))
    assert not problems, "\n".join([program.path.name, *problems])


@pytest.mark.parametrize(
    "program", [p for p in ALL if p.unsafe is not None], ids=lambda program: program.path.stem
)
def test_a_repaired_program_has_nothing_left_to_report(program, linter):
    source = linter.repaired(Source(str(program.path), program.text), program.unsafe)
    assert source.text != program.text
    assert [(row(f, source), f.code, source.slice(f.span)) for f in linter.findings(source)] == []


@pytest.mark.tensorflow
@pytest.mark.parametrize("program", RUNNING, ids=lambda program: program.path.stem)
def test_before_and_after_in_tensorflow(program, linter, host, tmp_path):
    needed = program.header.get("Needs")
    if needed and importlib.util.find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed")
    paths = [program.path]
    if program.unsafe is not None:
        paths.append(tmp_path / program.path.name)
        repaired = linter.repaired(Source(str(program.path), program.text), program.unsafe)
        paths[1].write_text(repaired.text, encoding="utf-8")
    before, *after = host.run(*paths, seconds=SECONDS, environment=program.environment)
    assert not before.error, before.error
    assert unmet(before, conditions(program.header["Before"])) == [], before
    for run in after:
        assert not run.error, run.error
        assert unmet(run, [*SOUND, *conditions(program.header["After"])]) == [], run


@pytest.mark.tensorflow
def test_the_host_says_how_a_program_ended(host, tmp_path):
    ends = {
        "fine": "return {'losses': [2.0, float('nan')], 'weights': [[1.0, float('inf')], [[0.5]]], 'accuracy': 0.5}",
        "raises": "raise ValueError('wrong shape')",
        "leaves": "raise SystemExit(3)",
        "dies": "import os; os.abort()",
        "hangs": "import time; time.sleep(60)",
    }
    paths = []
    for name, body in ends.items():
        paths.append(tmp_path / f"{name}.py")
        paths[-1].write_text(f"def main():\n    {body}\n")
    fine, raises, leaves, dies, hangs = host.run(*paths, seconds=3.0)
    assert fine.losses[0] == 2.0 and math.isnan(fine.losses[1]) and fine.accuracy == 0.5
    assert (fine.bad_weights, fine.all_weights, fine.error) == (1, 3, "")
    assert "wrong shape" in raises.error
    assert "SystemExit: 3" in leaves.error
    assert "died" in dies.error
    assert hangs.error == "the time ran out"


def test_conditions_tell_sound_from_broken_runs():
    broken = Run(losses=(2.0, 1.9, float("nan")), accuracy=0.1, bad_weights=2, all_weights=4)
    stuck = Run(losses=(2.3, 2.303, 2.303, 2.303), accuracy=0.1, all_weights=4)
    learned = Run(losses=(2.0, 0.9, 0.4, 0.1), accuracy=0.95, all_weights=4)
    assert (
        unmet(
            broken,
            ["losses not finite", "losses finite at first", "weights not finite", "accuracy < 0.2"],
        )
        == []
    )
    assert unmet(broken, ["losses frozen", "loss drop > 0.1", *SOUND]) == [
        "losses frozen",
        "loss drop > 0.1",
        *SOUND,
    ]
    assert unmet(stuck, [*SOUND, "losses frozen"]) == [] and unmet(stuck, ["losses move"]) == [
        "losses move"
    ]
    assert (
        unmet(
            learned,
            [*SOUND, "losses move", "accuracy > 0.9", "loss ratio < 0.1", "loss drop > 1.5"],
        )
        == []
    )
    assert unmet(learned, ["losses frozen", "loss ratio < 0.04"]) == [
        "losses frozen",
        "loss ratio < 0.04",
    ]
    with pytest.raises(LookupError):
        judge("losses are fine")


@pytest.mark.parametrize("columns", [80, 100, 120])
def test_the_default_output_is_short_and_as_wide_as_the_terminal(columns):
    """At most 10 lines a finding on average over the programs, closing lines and all; no line is wider
    than it may be, and no name is broken.
    """
    command = [sys.executable, "-m", "tfnanlint", "check", "fixtures/programs", "--isolated"]
    root = PROGRAMS.parents[1]
    done = subprocess.run(
        command,
        cwd=root,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": str(columns)},
    )
    lines = done.stdout.splitlines()
    places = [re.match(r" {0,2}(fixtures/\S+\.py):\d+:\d+: ", line) for line in lines]
    findings = sum(place is not None for place in places)
    assert findings > 50
    assert len(lines) <= 10 * findings
    assert max(map(len, lines)) <= columns
    names: set[str] = set()
    for place, line in zip(places, lines):
        if place:
            names = set(re.findall(r"\w+", (root / place[1]).read_text(encoding="utf-8")))
        if framed := re.match(r" +\d+ \| (.*)", line):
            assert set(re.findall(r"\w+", framed[1])) <= names, line
