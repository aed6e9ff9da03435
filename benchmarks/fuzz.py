#!/usr/bin/env python3
"""Whether anything breaks on random input:

    fuzz.py mutated DIR... [--seconds N] [--seed S] [--out DIR]    files of the folders, mutated
    fuzz.py programs                                               programs of generators
    fuzz.py edits                                                  edits in an editor
    fuzz.py parsers [--target NAME]                                configuration and the like

`mutated` takes files of the folders and of `fixtures/` that name TensorFlow, at most 400 lines of
each: lines and tokens are left out, repeated, exchanged, moved, or replaced by those of other
files. `programs` takes those of hypothesmith and pysource-codegen, as far as they are installed,
and puts ops of TensorFlow into them. Each program is checked and fixed as the command line does it.
A violation is an exception, an internal error (TFN000), a fixed text that does not parse, that has
changed outside of the fixes or lost a comment, or in which a second run changes something.

`edits` and `parsers` are described in `fuzz_edits.py` and `fuzz_parsers.py`. Violations are written
to `--out`; the last line has the counts.
"""

from __future__ import annotations

import argparse
import ast
import io
import pathlib
import random
import re
import sys
import time
import tokenize
import warnings
from collections.abc import Iterator

from corpus import broken
from fuzz_edits import edited_documents
from fuzz_parsers import TARGETS, parsed_inputs
from fuzz_programs import generated

from tfnanlint.config.layers import Configuration, Layer
from tfnanlint.pipeline.check import check, check_source
from tfnanlint.pipeline.fix import fix_source
from tfnanlint.pipeline.linter import Linter, load_rules

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINES = 400
PIECES = re.compile(r"\w+|[^\w\s]+|\s+")


def sources(folders: list[pathlib.Path]) -> list[str]:
    """The beginnings of files that name TensorFlow."""
    found = []
    for folder in [*folders, ROOT / "fixtures"]:
        for path in sorted(folder.rglob("*.py")):
            text = path.read_text(encoding="utf-8", errors="replace")
            if "tensorflow" in text or "keras" in text:
                found.append("\n".join(text.split("\n")[:LINES]) + "\n")
    return found


def mutated(text: str, other: str, dice: random.Random) -> str:
    """A text after a few mutations, some of them with pieces of another one."""
    for _ in range(dice.randint(1, 6)):
        by_line = dice.random() < 0.4
        parts = text.splitlines(keepends=True) if by_line else PIECES.findall(text)
        others = other.splitlines(keepends=True) if by_line else PIECES.findall(other)
        if not parts or not others:
            return text
        at, to = dice.randrange(len(parts)), dice.randrange(len(parts))
        match dice.randrange(6):
            case 0:
                del parts[at : at + dice.randint(1, 3)]
            case 1:
                parts.insert(to, parts[at])
            case 2:
                parts[at], parts[to] = parts[to], parts[at]
            case 3:
                parts[at] = dice.choice(others)
            case 4:
                parts.insert(at, dice.choice(others))
            case 5:
                parts[at : at + 1] = [parts[at]] * dice.randint(2, 40)
        text = "".join(parts)
    return text


def swapped_operands(text: str, dice: random.Random) -> str:
    """A text in which one name stands in the place of another: it still parses."""
    names = [
        token.string
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.NAME
    ]
    if not names:
        return text
    first, second = dice.choice(names), dice.choice(names)
    return re.sub(rf"\b{first}\b", second, text)


def parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def violation(linter: Linter, text: str) -> str:
    """What is wrong with the outcome for a text; empty where nothing is."""
    data = text.encode("utf-8", "replace")
    try:
        outcome = linter.fix("a.py", data)
        for finding in linter.check("a.py", data).findings:
            if finding.code == "TFN000":
                return finding.message
        if outcome.after == data:
            return ""
        faults = faults_of(linter, data)
        if faults:
            return "; ".join(f"{name}: {fault}" for name, fault in faults.items())
        if linter.fix("a.py", outcome.after).after != outcome.after:
            return "a second run changes something"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def faults_of(linter: Linter, data: bytes) -> dict[str, str]:
    """What is wrong with a text after all fixes, as `corpus.py` tells it."""
    policy = linter.policy("a.py")
    source = check("a.py", data, policy).source
    result = fix_source(
        source,
        lambda source: list(check_source(source, policy).findings),
        lambda fix: True,
    )
    return broken(source.text, result)


def mutations(folders: list[pathlib.Path], dice: random.Random) -> Iterator[str]:
    """Mutated files, without end."""
    texts = sources(folders)
    while True:
        text = mutated(dice.choice(texts), dice.choice(texts), dice)
        yield swapped_operands(text, dice) if dice.random() < 0.3 and parses(text) else text


def linter_of_all() -> Linter:
    """A linter with all rules and all fixes."""
    settings = Layer("fuzz", "/", preview=True, unsafe_fixes=True)
    return Linter(Configuration(settings, (), True), load_rules())


def broken_by(texts: Iterator[str], arguments: argparse.Namespace) -> int:
    """How many of some programs, as many as there is time for, break something. Prints them."""
    linter = linter_of_all()
    programs = parsed = violations = 0
    end = time.monotonic() + arguments.seconds
    while time.monotonic() < end and (text := next(texts, None)) is not None:
        programs += 1
        parsed += parses(text)
        wrong = violation(linter, text)
        if wrong:
            violations += 1
            arguments.out.mkdir(parents=True, exist_ok=True)
            (arguments.out / f"{arguments.seed}_{programs}.py").write_text(text, "utf-8", "replace")
            print(f"{arguments.seed}_{programs}: {wrong}", flush=True)
    print(f"{programs} programs, {parsed} of them parse, {violations} violations", flush=True)
    return violations


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("mutated", "programs", "edits", "parsers"))
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("fuzzed"))
    parser.add_argument("--target", choices=tuple(TARGETS), help="of `parsers`: one")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    dice = random.Random(arguments.seed)
    if arguments.what == "mutated":
        violations = broken_by(mutations(arguments.folders, dice), arguments)
    elif arguments.what == "programs":
        violations = broken_by(generated(dice), arguments)
    elif arguments.what == "edits":
        violations = edited_documents(arguments.seconds, arguments.seed)
    else:
        violations = parsed_inputs(arguments.target, arguments.seconds, arguments.seed)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
