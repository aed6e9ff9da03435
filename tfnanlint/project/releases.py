"""The release of TensorFlow that the papers of a project and the output of its notebooks name."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from typing import Any

from tfnanlint.conventions.files import is_readme, lists_requirements
from tfnanlint.conventions.releases import described, printed, required

Release = tuple[int, int]
#: What is required or was run, and what a README names.
Named = tuple[Release | None, Release | None]


def named(
    path: str, top: str, papers_in: Callable[[str], list[str]], data_of: Callable[[str], bytes]
) -> Named:
    """The releases that a notebook itself, and the papers in its folder, or in the nearest folder
    above it in which any do, name.
    """
    own = of_notebook(data_of(path)) if path.endswith(".ipynb") else None
    folder, prose = os.path.dirname(path), None
    while own is None:
        papers = papers_in(folder)
        own = _least(filter(_lists_requirements, papers), required, data_of)
        prose = prose or _least(filter(_is_readme, papers), described, data_of)
        parent = os.path.dirname(folder)
        if folder == top or parent == folder:
            break
        folder = parent
    return own, prose


def _lists_requirements(path: str) -> bool:
    return lists_requirements(os.path.basename(path))


def _is_readme(path: str) -> bool:
    return is_readme(os.path.basename(path))


def _least(
    papers: Iterable[str],
    read: Callable[[str], Release | None],
    data_of: Callable[[str], bytes],
) -> Release | None:
    texts = [data_of(path).decode("utf-8", "replace") for path in papers]
    return min(filter(None, map(read, texts)), default=None)


def of_notebook(data: bytes) -> Release | None:
    """The release that a notebook has printed, or else installs."""
    try:
        content = json.loads(data)
        cells = [(_joined(cell["source"]), cell.get("outputs", ())) for cell in content["cells"]]
        shown = ["\n".join(map(_shown, outputs)) for text, outputs in cells if _asks(text)]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    releases = [release for text in shown if (release := printed(text)) is not None]
    return releases[0] if releases else required("\n".join(text for text, _ in cells))


def _asks(source: str) -> bool:
    """Whether a cell shows the release of TensorFlow, and of nothing else."""
    is_alone = source.count("__version__") == 1
    return is_alone and ("tf.__version__" in source or "tensorflow.__version__" in source)


def _shown(output: dict[str, Any]) -> str:
    """The text of an output: of a stream, or of a result."""
    return _joined(output.get("text") or output.get("data", {}).get("text/plain", ""))


def _joined(lines: str | list[str]) -> str:
    return lines if isinstance(lines, str) else "".join(lines)
