"""`tfnanlint trace`: run a program until it meets NaN or Inf, and say which finding explains it."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import replace

from tfnanlint.cli.explain_log import deeper_of, explanations
from tfnanlint.cli.flags import linter_of
from tfnanlint.cli.outcome import CLEAN, FAILED, FOUND, fail
from tfnanlint.cli.terminal import columns, paint
from tfnanlint.prove.host import MISSING
from tfnanlint.report import WIDTH, View
from tfnanlint.trace.log import incidents
from tfnanlint.trace.shown import as_dict, told
from tfnanlint.trace.watched import MET


def run(arguments: argparse.Namespace) -> int:
    """Carry out `tfnanlint trace`: 1 where the program met NaN or Inf, 0 where it did not."""
    if importlib.util.find_spec("tensorflow") is None:
        return fail(MISSING)
    program = _program(arguments)
    if not program:
        arguments.parser.error("name a script, or a module with -m")
    if program[0] != "-m" and not os.path.isfile(program[0]):
        return fail(f"no such file: {program[0]}")
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report")
        code = subprocess.run(
            [sys.executable, "-P", "-m", "tfnanlint.trace.watched", report, *program],
            env={"TF_CPP_MIN_LOG_LEVEL": "2", **os.environ, "PYTHONPATH": _own_path()},
        ).returncode
        if code != MET:
            return _ended(code)
        with open(report, encoding="utf-8") as stream:
            met = json.load(stream)
    return _explained(arguments, program, met["text"], met["step"])


def _program(arguments: argparse.Namespace) -> list[str]:
    words = [word for word in arguments.program if word != "--"]
    return ["-m", arguments.module, *words] if arguments.module else words


def _own_path() -> str:
    """PYTHONPATH with the place of tfnanlint: the child does not look where it is started."""
    own = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    inherited = os.environ.get("PYTHONPATH", "")
    return os.pathsep.join(filter(None, (inherited, own)))


def _ended(code: int) -> int:
    if code:
        print(f"The program ended with exit code {code}, without NaN or Inf.", file=sys.stderr)
        return FAILED
    print("The program ended without NaN or Inf.", file=sys.stderr)
    return CLEAN


def _explained(
    arguments: argparse.Namespace, program: list[str], text: str, step: int | None
) -> int:
    met = [replace(one, step=step) if one.step is None else one for one in incidents(text)[:1]]
    linter = linter_of(arguments)
    paths = arguments.project or [_folder(program)]
    try:
        (explanation,) = explanations(met, linter, paths, deeper_of(arguments))
    finally:
        linter.close()
    if arguments.output_format == "json":
        print(json.dumps(as_dict(explanation), indent=2))
        return FOUND
    view = View(paint(sys.stdout, arguments.color), columns(sys.stdout, WIDTH), every_note=True)
    print("\n".join(told(explanation, view)))
    return FOUND


def _folder(program: list[str]) -> str:
    """Where the files of a program are looked for."""
    return "." if program[0] == "-m" else os.path.dirname(program[0]) or "."
