"""gitignore-style patterns."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence


class Patterns:
    """gitignore-style patterns, relative to one directory. Raises ValueError on one that cannot be
    read.
    """

    def __init__(self, root: str, lines: Sequence[str]):
        import pathspec

        self.root = root
        self._spec = pathspec.GitIgnoreSpec.from_lines(lines)

    def verdict(self, path: str, directory: bool = False) -> bool | None:
        """True when the last pattern that speaks of absolute `path` matches it, False when that one
        is negated.
        """
        try:
            relative = os.path.relpath(path, self.root).replace(os.sep, "/")
        except ValueError:  # on another drive
            return None
        if relative == "." or relative.startswith("../"):
            return None
        return self._spec.check_file(relative + "/" if directory else relative).include


def bounded(pattern: str) -> bool:
    """Whether a glob is cheap to match: each further star in a name multiplies the time by the
    name's length.
    """
    return len(pattern) <= 1024 and all(
        len(re.findall(r"\*+", part)) <= 4 for part in pattern.split("/")
    )
