#!/usr/bin/env python3
"""What remembering saves: cache.py DIR [--jobs N] [--format F]

Checks a copy of DIR without a cache, with an empty one, with a full one, and after a change of one
file: CPU and wall time of the command, as ratios to `ast.parse` of the same files. Ends with 1 when
the runs do not report the same.
"""

from __future__ import annotations

import argparse
import ast
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings


def parsed(top: pathlib.Path) -> tuple[float, int, int]:
    """CPU seconds that `ast.parse` takes for the files that name TensorFlow; files and lines below
    a folder.
    """
    texts = [path.read_bytes() for path in sorted(top.rglob("*.py")) if path.is_file()]
    start = time.process_time()
    for text in texts:
        if b"tensorflow" in text or b"keras" in text:
            try:
                ast.parse(text)
            except (SyntaxError, ValueError):
                pass
    return time.process_time() - start, len(texts), sum(text.count(b"\n") for text in texts)


def run(top: pathlib.Path, arguments: list[str]) -> tuple[float, float, bytes]:
    """CPU and wall seconds of a check, and what it prints."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "tfnanlint", "check", "--isolated", *arguments, str(top)],
        stdout=subprocess.PIPE,
        check=False,
    )
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall, done.stdout


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--jobs", default="1")
    parser.add_argument("--format", default="full")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        top = pathlib.Path(folder, "tree")
        shutil.copytree(args.directory, top, symlinks=True)
        unit, files, lines = parsed(top)
        print(
            f"{files:,} files, {lines:,} lines; ast.parse of those that name TensorFlow: {unit:.2f} s CPU"
        )
        flags = ["--jobs", args.jobs, "--output-format", args.format]
        kept = [*flags, "--cache-dir", f"{folder}/cache"]
        changed = max(
            (path for path in top.rglob("*.py") if b"import tensorflow" in path.read_bytes()),
            key=lambda path: path.stat().st_size,
        )
        said = set()
        for name, arguments in (
            ("no cache", [*flags, "--no-cache"]),
            ("empty cache", kept),
            ("full cache", kept),
            ("full cache again", kept),
        ):
            said.add(report(name, unit, *run(top, arguments)))
        changed.write_bytes(changed.read_bytes() + b"\n# changed\n")
        said.add(report(f"{changed.relative_to(top)} changed", unit, *run(top, kept)))
        size = sum(
            path.stat().st_size
            for path in pathlib.Path(folder, "cache").rglob("*")
            if path.is_file()
        )
        print(
            f"the cache has {size / (1 << 20):.1f} MiB; {'all reported the same' if len(said) == 1 else 'THE REPORTS DIFFER'}"
        )
    return 0 if len(said) == 1 else 1


def report(name: str, unit: float, cpu: float, wall: float, said: bytes) -> bytes:
    print(f"{name:>40}: {cpu:6.2f} s CPU, {wall:6.2f} s, {cpu / unit:5.2f} x ast.parse", flush=True)
    return said


if __name__ == "__main__":
    sys.exit(main())
