"""Dtypes of 16 bits that a program asks Keras to compute in, for all layers or for one."""

from __future__ import annotations

import os
from collections.abc import Mapping

from tfnanlint.conventions.files import holds_tests
from tfnanlint.conventions.texts import half_precision


def halves_of(
    texts: Mapping[str, bytes], importing: Mapping[bytes, list[tuple[str, bytes]]]
) -> dict[str, str]:
    """The dtypes of 16 bits that the program of each file asks for, by path: that of files which
    import one another, or which a third one imports. `importing` are the files by the words in
    their import statements. A file of tests asks for itself only.
    """
    asked = {
        path: half
        for path, data in texts.items()
        if (half := half_precision(data)) and not holds_tests(path)
    }
    if not asked:
        return {}
    named: dict[bytes, set[str]] = {}
    for path in texts:
        named.setdefault(_stem(path), set()).add(path)
    beside: dict[str, set[str]] = {}
    for word, files in importing.items():
        for importer, _ in files if word in named else ():
            for imported in named[word]:
                beside.setdefault(importer, set()).add(imported)
                beside.setdefault(imported, set()).add(importer)
    found: dict[str, str] = {}
    for path, half in asked.items():
        queue = [path]
        while queue:
            one = queue.pop()
            if one not in found:
                found[one] = half
                queue += beside.get(one, ())
    return found


def _stem(path: str) -> bytes:
    """The name by which other files import a file: its own, or that of its folder."""
    folder, name = os.path.split(path)
    return (
        os.path.basename(folder).encode()
        if name == "__init__.py"
        else name.removesuffix(".py").encode()
    )
