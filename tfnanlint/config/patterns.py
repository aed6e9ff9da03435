"""gitignore-style patterns."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

_DEEPEST = 200  # folders: what lies deeper no pattern speaks of
_MOST = 3  # stars in one name and `**` in one pattern
_MOST_COSTLY = 500  # patterns with several stars
_RUN = re.compile(r"(\\.)|\*{2,}")
# A backslash escapes what has a meaning in a pattern; before a name it is the separator of Windows.
_BACKSLASH = re.compile(r"(\\\\)|\\(?=[\w.-])")


class Patterns:
    """gitignore-style patterns, relative to one directory. Raises ValueError on one that cannot be
    read, and on too many that cost time at every file.
    """

    def __init__(self, root: str, lines: Sequence[str]):
        import pathspec

        if sum(line.count("*") > 1 for line in lines) > _MOST_COSTLY:
            raise ValueError(f"more than {_MOST_COSTLY} patterns have several stars")
        self.root = root
        self._spec = pathspec.GitIgnoreSpec.from_lines(map(_plain, lines))

    def verdict(self, path: str, directory: bool = False) -> bool | None:
        """True when the last pattern that speaks of absolute `path` matches it, False when that one
        is negated.
        """
        try:
            relative = os.path.relpath(path, self.root).replace(os.sep, "/")
        except ValueError:  # on another drive
            return None
        if relative == "." or relative.startswith("../") or relative.count("/") > _DEEPEST:
            return None
        return self._spec.check_file(relative + "/" if directory else relative).include


def bounded(pattern: str) -> bool:
    """Whether a glob is cheap to match: each further star in a name multiplies the time by the
    name's length, each `**` by the depth of the path.
    """
    parts = _plain(pattern.strip()).split("/")
    deep = sum(part == "**" for part in parts[:-1])
    stars = max([part.count("*") for part in parts if part != "**"], default=0)
    return len(pattern) <= 1024 and deep + stars <= _MOST


def separated(pattern: str) -> str:
    """A pattern of a configuration with `/` for the separator of Windows."""
    return _BACKSLASH.sub(_slash, pattern)


def _slash(match: re.Match[str]) -> str:
    return match[1] or "/"


def _plain(pattern: str) -> str:
    """A pattern with one star for each run of them, but for `**` as a whole name: it matches the
    same.
    """
    parts = pattern.split("/")
    return "/".join([part if part.strip() == "**" else _RUN.sub(_one, part) for part in parts])


def _one(match: re.Match[str]) -> str:
    return match[1] or "*"
