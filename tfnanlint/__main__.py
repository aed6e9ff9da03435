"""`python -m tfnanlint`, without the current directory on the import path."""

import sys

# `python -m` puts the working directory first, where an `ast.py` or `json.py` of the linted project
# would be run.
if not getattr(sys.flags, "safe_path", False):
    del sys.path[0]

from tfnanlint.cli import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
