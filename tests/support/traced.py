"""Runs programs as `tfnanlint trace` does, each in a fork of one process that has TensorFlow loaded.

    python tests/support/traced.py FOLDER SCRIPT...

What a program met is written to FOLDER/NAME.json; nothing where it met nothing.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> None:
    folder, scripts = Path(sys.argv[1]), sys.argv[2:]
    import keras  # noqa: F401
    import tensorflow  # noqa: F401

    from tfnanlint.trace.watched import run

    for script in scripts:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                code = run([str(folder / f"{Path(script).stem}.json"), script])
            finally:
                os._exit(code)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
