#!/usr/bin/env python3
"""CPU of versions of tfnanlint next to `ast.parse`, file by file: lockstep.py DIR... [--python
PYTHON ...] [--steps N ...] [--rounds N]

Each PYTHON is an interpreter in whose environment a version is installed (`pip install -e TREE`);
without any it is the one that runs this. All of them parse and then lint a file before the next
file is taken, so that whatever else the machine does slows all of them, and the parser as much as
the linter. Of several rounds the least counts, for each file by itself.

With `--steps` each version runs once for each N, with at most N evaluations to answer one question
of a rule, in place of what it has (`engine.MAX_STEPS`): what depth costs, and what is found without
it. With 0 nothing is evaluated.

Prints for each version the CPU seconds of the lint, those of `ast.parse` on the same files, the
ratio of both, the lint of the first version divided into that of this one, and the findings at
default settings, with how many of those of the last version.

`benchmarks/corpus.py` parses all files in one loop before it lints them; the parser is faster
there, for nothing else runs between two files.
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys

WORKER = """
import ast, gc, pathlib, sys, time, warnings

try:
    from tfnanlint.rule import registry as rules
except ImportError:  # a version of flat modules
    from tfnanlint import rules
try:
    from tfnanlint.pipeline.check import check
except ImportError:
    from tfnanlint.checking import check
try:
    from tfnanlint.config.layers import Configuration, Layer
except ImportError:
    from tfnanlint.config import Configuration, Layer
try:
    from tfnanlint.interp import engine
except ImportError:
    try:
        from tfnanlint import engine
    except ImportError:
        from tfnanlint import expressions as engine

warnings.simplefilter("ignore")
gc.disable()  # as the command line does
if sys.argv[2]:
    engine.MAX_STEPS = int(sys.argv[2])
policy = Configuration(Layer(), (), True).for_directory(sys.argv[1]).policy("", rules.load())
check("warm.py", b"import tensorflow as tf\\nx = tf.math.log(tf.nn.relu(y))\\n", policy)
for line in sys.stdin:
    path = line.rstrip("\\n")
    data = pathlib.Path(path).read_bytes()
    start = time.process_time()
    try:
        ast.parse(data)
    except (SyntaxError, ValueError):
        pass
    parsed = time.process_time()
    checked = check(path, data, policy)
    ended = time.process_time()
    found = [f"{one.code}:{one.span.start}" for one in checked.findings]
    print(parsed - start, ended - parsed, *found, flush=True)
"""


# its interpreter, and how many evaluations a question may cost ("": as many as it has)
Version = tuple[str, str]


def started(version: Version, folder: pathlib.Path) -> subprocess.Popen:
    """A process that answers each path with the seconds of its parse and of its lint, and the
    findings.
    """
    return subprocess.Popen(
        [version[0], "-c", WORKER, str(folder), version[1]],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd="/",
    )


def timed(process: subprocess.Popen, path: pathlib.Path) -> tuple[float, float, set[str]]:
    process.stdin.write(f"{path}\n")
    process.stdin.flush()
    answer = process.stdout.readline()
    if not answer:
        raise SystemExit(f"{process.args[0]} stopped at {path}")
    parse, lint, *found = answer.split()
    return float(parse), float(lint), {f"{path}:{one}" for one in found}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=pathlib.Path, nargs="+")
    parser.add_argument("--python", nargs="+", default=[sys.executable])
    parser.add_argument("--steps", nargs="+", default=[""])
    parser.add_argument("--rounds", type=int, default=1)
    args = parser.parse_args()
    files = [path.resolve() for folder in args.directory for path in sorted(folder.rglob("*.py"))]
    versions = [(python, steps) for python in args.python for steps in args.steps]
    processes = [started(version, args.directory[0].resolve()) for version in versions]
    least = {
        (version, path): (float("inf"), float("inf")) for version in versions for path in files
    }
    found: dict[Version, set[str]] = {version: set() for version in versions}
    for _ in range(args.rounds):
        for path in files:
            for version, process in zip(versions, processes):
                parse, lint, here = timed(process, path)
                least[version, path] = (
                    min(least[version, path][0], parse),
                    min(least[version, path][1], lint),
                )
                found[version] |= here
    report(versions, files, least, found)
    return 0


def report(
    versions: list[Version],
    files: list[pathlib.Path],
    least: dict[tuple[Version, pathlib.Path], tuple[float, float]],
    found: dict[Version, set[str]],
) -> None:
    first = sum(least[versions[0], path][1] for path in files)
    for version in versions:
        parse, lint = (sum(least[version, path][which] for path in files) for which in (0, 1))
        name = version[0] + (f", {version[1]} evaluations a question" if version[1] else "")
        same = len(found[version] & found[versions[-1]])
        print(
            f"{name}: lint {lint:.2f} s, ast.parse {parse:.2f} s, ratio {lint / parse:.2f}, {lint / first:.3f} of the first; "
            f"{len(found[version])} findings, {same} of the last's {len(found[versions[-1]])}"
        )


if __name__ == "__main__":
    raise SystemExit(main())
