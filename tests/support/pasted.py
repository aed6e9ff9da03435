"""Runs programs as if each were pasted into a fresh Python, in forks of one process that has
TensorFlow loaded.

    python tests/support/pasted.py FOLDER

What FOLDER/NAME.py prints goes to FOLDER/NAME.out, errors too.
"""

from __future__ import annotations

import os
import runpy
import sys
import traceback
from pathlib import Path


def main() -> None:
    import keras  # noqa: F401
    import tensorflow  # noqa: F401

    for path in sorted(Path(sys.argv[1]).glob("*.py")):
        child = os.fork()
        if child == 0:
            _run(path)
        os.waitpid(child, 0)


def _run(path: Path) -> None:
    """Run a program, and end this process."""
    try:
        with open(path.with_suffix(".out"), "w") as sys.stdout:
            try:
                runpy.run_path(str(path), run_name="__main__")
            except BaseException:
                print(traceback.format_exc())
                raise
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
