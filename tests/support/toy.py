"""A toy engine for tests of the front end: findings that depend on spelling alone, so that each
test reads by itself.

`tf.log(x)` is TFN101, MAY; `tf.log(p)` of a name that starts with `unknown` UNKNOWN;
`tf.log(tf.nn.softmax(z))` is TFN101 and TFN301 at the same span, TFN301 with an equal fix;
`tf.sqrt(s)` is TFN202 with a shifted fix; `tf.norm(x)` is TFN203, `tf.norm(data)` too, without a
gradient, and `tf.norm(compiled)`, under XLA only, where the rule is silent by default, as it is in
files of tests; `tf.preview(x)` is TFN801, in preview; `tf.crash()` makes the engine raise.
"""

from __future__ import annotations

import ast
import types
from dataclasses import dataclass, replace

import pytest

from tfnanlint.diagnostics.findings import (
    Certainty,
    Claim,
    Differentiated,
    Edit,
    Finding,
    Fix,
    Silence,
    Step,
)


@dataclass(frozen=True)
class ToyRule:
    code: str
    slug: str
    doc: str
    default: frozenset = frozenset({Certainty.MUST, Certainty.MAY})
    preview: bool = False
    over: tuple[str, ...] = ()
    silent: frozenset = frozenset()
    fixes: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        return self.doc.partition("\n")[0]


RULES = (
    ToyRule(
        "TFN101", "log-of-nonpositive", "The log of a value that can be 0.\n\nIt is -inf there."
    ),
    ToyRule(
        "TFN202",
        "sqrt-gradient-at-zero",
        "The gradient of sqrt is infinite at 0.",
        frozenset(Certainty),
        fixes=("epsilon", "add_1e_12"),
    ),
    ToyRule(
        "TFN203",
        "norm-of-zero",
        "The norm of zeros.",
        silent=frozenset(map(Silence.parsed, ("MAY/NO", "MAY/YES/XLA", "MAY/YES/TESTS"))),
    ),
    ToyRule(
        "TFN301",
        "log-softmax",
        "The log of a softmax.",
        over=("TFN101",),
        fixes=("use_log_softmax",),
    ),
    ToyRule("TFN801", "learning-rate-too-high", "A rule in preview.", preview=True),
)


def load():
    return RULES


def analyse(source, rules, *others):
    codes = {rule.code: rule for rule in rules}
    findings = [finding for node in ast.walk(source.tree) for finding in _judge(source, node)]
    return sorted((f for f in findings if f.code in codes), key=lambda f: (f.span, f.code))


class Analysis:
    def __init__(self, *given):
        self.findings = [replace(finding, fixes=()) for finding in analyse(*given)]
        self._whole = analyse(*given)
        self.cut_short = ()

    def repaired(self, finding):
        return next((one for one in self._whole if replace(one, fixes=()) == finding), finding)

    def close(self):
        self._whole = []


def _judge(source, node):
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    name = node.func.attr
    if name == "crash":
        raise ZeroDivisionError("toy failure")
    if name == "log":
        argument = source.segment(node.args[0])
        certainty = Certainty.UNKNOWN if argument.startswith("unknown") else Certainty.MAY
        yield _finding(source, node, "TFN101", f"log of {argument}", certainty)
        if argument.startswith("tf.nn.softmax("):
            inner = source.segment(node.args[0].args[0])
            new = f"tf.nn.log_softmax({inner})"
            fix = Fix("use log_softmax", Claim.EQUAL, (Edit(source.span(node), new),))
            yield _finding(source, node, "TFN301", "log of a softmax", certainty, (fix,))
    if name == "sqrt":
        old = source.segment(node.args[0])
        fix = Fix(
            "add 1e-12",
            Claim.SHIFTED,
            (Edit(source.span(node.args[0]), f"{old} + 1e-12"),),
            "by 1e-6 at 0",
        )
        fixes = () if "1e-12" in old else (fix,)
        if fixes:
            yield _finding(source, node, "TFN202", f"sqrt of {old}", Certainty.MAY, fixes)
    if name == "norm":
        of = source.segment(node.args[0])
        where = Differentiated.NO if of == "data" else Differentiated.YES
        modes = ("xla",) if of == "compiled" else ("eager", "graph", "xla")
        yield replace(
            _finding(source, node, "TFN203", "norm", Certainty.MAY),
            differentiated=where,
            modes=modes,
        )
    if name == "preview":
        yield _finding(source, node, "TFN801", "preview", Certainty.MAY)


def _finding(source, node, code, message, certainty, fixes=()):
    slug = next(rule.slug for rule in RULES if rule.code == code)
    span = source.span(node)
    step = Step(
        source.path, span, source.position(span.start)[0], "its argument is between 0 and 1"
    )
    return Finding(
        code,
        slug,
        source.path,
        span,
        message,
        certainty,
        Differentiated.YES,
        "between 0 and 1",
        (step,),
        fixes=fixes,
    )


def install(monkeypatch) -> None:
    """Put the toy engine in the place of the real one, for one test."""
    import importlib
    import sys

    for name, members in (
        ("rule.registry", {"load": load}),
        ("pipeline.analysis", {"Analysis": Analysis, "MOST_PLACES": 600}),
    ):
        module = types.ModuleType(f"tfnanlint.{name}")
        module.__dict__.update(members)
        package, _, leaf = module.__name__.rpartition(".")
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setattr(importlib.import_module(package), leaf, module, raising=False)


@dataclass
class Outcome:
    """What a command line gave."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()

    @property
    def places(self) -> list[str]:
        """`row CODE` of every finding, from concise output."""
        lines = [line.split(":", 3) for line in self.text.splitlines() if line.count(":") >= 3]
        return [f"{line[1]} {line[3].split()[1]}" for line in lines]


class Shell:
    """Runs command lines in this process, in a working directory, with the toy engine."""

    def __init__(self, directory, capture, monkeypatch):
        self.directory = directory
        self._capture = capture
        self._monkeypatch = monkeypatch

    def write(self, name: str, text: str | bytes):
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def run(self, *argv: str, stdin: bytes = b"") -> Outcome:
        import io
        import sys

        from tfnanlint.cli import main

        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        try:
            code = main([str(argument) for argument in argv])
        except SystemExit as exit:
            code = exit.code
        out, err = self._capture.readouterr()
        return Outcome(code, out, err.decode())

    def check(self, *argv: str, stdin: bytes = b"") -> Outcome:
        return self.run("check", "--output-format", "concise", *argv, stdin=stdin)


@pytest.fixture
def shell(tmp_path, monkeypatch, capsysbinary):
    """A `Shell` in an empty directory, without colour and with the toy engine."""
    install(monkeypatch)
    monkeypatch.chdir(tmp_path)
    for name in (
        "NO_COLOR",
        "FORCE_COLOR",
        "CLICOLOR_FORCE",
        "GITHUB_ACTIONS",
        "TFNANLINT_OUTPUT_FORMAT",
        "TFNANLINT_OUTPUT_FILE",
    ):
        monkeypatch.delenv(name, raising=False)
    return Shell(tmp_path, capsysbinary, monkeypatch)
