#!/usr/bin/env python3
"""CPU of versions of tfnanlint next to `ast.parse`, file by file: lockstep.py DIR... [--python PYTHON ...] [--rounds N]

Each PYTHON is an interpreter in whose environment a version is installed (`pip install -e TREE`); without any it is the one
that runs this. All of them parse and then lint a file before the next file is taken, so that whatever else the machine does
slows all of them, and the parser as much as the linter. Of several rounds the least counts, for each file by itself.

Prints for each version the CPU seconds of the lint, those of `ast.parse` on the same files, the ratio of both, and the lint
of the first version divided into that of this one.

`benchmarks/corpus.py` parses all files in one loop before it lints them; the parser is faster there, for nothing else runs
between two files.
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys

WORKER = '''
import ast, gc, pathlib, sys, time, warnings
from tfnanlint import rules
from tfnanlint.checking import check
from tfnanlint.config import Configuration, Layer

warnings.simplefilter("ignore")
gc.disable()  # as the command line does
policy = Configuration(Layer(), (), True).for_directory(sys.argv[1]).policy("", rules.load())
check("warm.py", b"import tensorflow as tf\\ntf.math.log(tf.nn.relu(1.0))\\n", policy)
for line in sys.stdin:
    path = line.rstrip("\\n")
    data = pathlib.Path(path).read_bytes()
    start = time.process_time()
    try:
        ast.parse(data)
    except (SyntaxError, ValueError):
        pass
    parsed = time.process_time()
    check(path, data, policy)
    print(parsed - start, time.process_time() - parsed, flush=True)
'''


def started(python: str, folder: pathlib.Path) -> subprocess.Popen:
    """A process that answers each path with the seconds of its parse and of its lint."""
    return subprocess.Popen([python, "-c", WORKER, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/")


def timed(process: subprocess.Popen, path: pathlib.Path) -> tuple[float, float]:
    process.stdin.write(f"{path}\n")
    process.stdin.flush()
    answer = process.stdout.readline()
    if not answer:
        raise SystemExit(f"{process.args[0]} stopped at {path}")
    parse, lint = map(float, answer.split())
    return parse, lint


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path, nargs="+")
    parser.add_argument("--python", nargs="+", default=[sys.executable])
    parser.add_argument("--rounds", type=int, default=1)
    args = parser.parse_args()
    files = [path.resolve() for folder in args.directory for path in sorted(folder.rglob("*.py"))]
    processes = [started(python, args.directory[0].resolve()) for python in args.python]
    least = {(number, path): (float("inf"), float("inf")) for number in range(len(processes)) for path in files}
    for _ in range(args.rounds):
        for path in files:
            for number, process in enumerate(processes):
                least[number, path] = tuple(map(min, least[number, path], timed(process, path)))
    first = 0.0
    for number, python in enumerate(args.python):
        parse, lint = (sum(least[number, path][which] for path in files) for which in (0, 1))
        first = first or lint
        print(f"{python}: lint {lint:.2f} s, ast.parse {parse:.2f} s, ratio {lint / parse:.2f}, {lint / first:.3f} of the first")
    return 0


if __name__ == "__main__":
    sys.exit(main())
