"""A baseline: the findings that a project knew when it adopted tfnanlint, kept in a file and not
reported.

A finding is known by its file, its rule, the function around it and the flagged text, so that it
stays known when lines move and is reported anew when the flagged text changes.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any

from tfnanlint.config.keys import ConfigError
from tfnanlint.config.layers import Files
from tfnanlint.diagnostics.notices import INTERNAL, INVALID_SYNTAX, UNREAD
from tfnanlint.pipeline.check import Checked
from tfnanlint.suppression.fingerprint import fingerprints
from tfnanlint.syntax.source import Source

VERSION = 2
MAX_LINE = 120  # of the text of a finding's line, for those who review the file
# The code of a known finding, and the text of its line.
Known = tuple[str, str]
# what was not checked is not known
NEVER = frozenset(notice.code for notice in (INTERNAL, INVALID_SYNTAX, UNREAD))


@dataclass(slots=True)
class Baseline:
    """Known findings: for each file, named relative to the baseline's directory, fingerprint ->
    code and text of the line. The text is for people; it is not compared.
    """

    path: str
    files: dict[str, dict[str, Known]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: str, files: Files) -> Baseline:
        """The baseline in a file. Raises `ConfigError` when there is none or it is not one."""
        data = files.read(path)
        if data is None:
            raise ConfigError(
                f"{path}: baseline not found; create it with `tfnanlint baseline create`"
            )
        try:
            stated = json.loads(data)
            return cls(path, _entries(stated))
        except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
            raise ConfigError(
                f"{path}: not a baseline of this version of tfnanlint; `tfnanlint baseline create"
                " --force` makes it anew"
            ) from None

    def name_of(self, path: str) -> str:
        """The name under which the baseline keeps a file."""
        absolute, top = os.path.abspath(path), os.path.dirname(self.path)
        try:
            return os.path.relpath(absolute, top).replace(os.sep, "/")
        except ValueError:  # on another drive
            return absolute.replace(os.sep, "/")

    def knows(self, checked: Checked) -> list[bool]:
        """For each finding of a file, whether it is a known one."""
        known = self.files.get(self.name_of(checked.path), {})
        if not known:
            return [False] * len(checked.findings)
        names = fingerprints(checked.source, checked.findings)
        return [
            finding.code not in NEVER and known.get(name, ("", ""))[0] == finding.code
            for finding, name in zip(checked.findings, names)
        ]

    def take(self, checked: Checked, add: bool) -> tuple[int, int]:
        """Make the entries of a file those of its findings, without new ones unless `add`. How many
        came and went.
        """
        name = self.name_of(checked.path)
        names = fingerprints(checked.source, checked.findings)
        current = {
            key: (finding.code, _line(checked.source, finding.span.start))
            for finding, key in zip(checked.findings, names)
            if finding.code not in NEVER
        }
        if any(finding.code in NEVER for finding in checked.findings):
            return 0, 0  # It could not be checked, so that nothing is known to have gone.
        before = self.files.get(name, {})
        after = {
            key: known
            for key, known in current.items()
            if add or before.get(key, ("", ""))[0] == known[0]
        }
        self.files[name] = after
        return len(after.keys() - before.keys()), len(before.keys() - after.keys())

    def drop_missing(self) -> int:
        """Forget the files that are not on disk any more; how many findings went with them."""
        top = os.path.dirname(self.path)
        gone = [name for name in self.files if not os.path.lexists(os.path.join(top, name))]
        return sum(len(self.files.pop(name)) for name in gone)

    @property
    def count(self) -> int:
        return sum(map(len, self.files.values()))

    def text(self) -> str:
        """What stands in the file: sorted, a finding a line, so that merges and reviews stay
        small.
        """
        kept = {name: entries for name, entries in sorted(self.files.items()) if entries}
        lines = []
        for name, entries in kept.items():
            ordered = sorted(entries.items(), key=lambda item: (item[1], item[0]))
            inner = ",\n".join(
                f"      {json.dumps(key)}: {json.dumps(known)}" for key, known in ordered
            )
            lines.append(f"    {json.dumps(name)}: {{\n{inner}\n    }}")
        body = "{\n" + ",\n".join(lines) + "\n  }" if lines else "{}"
        return f'{{\n  "version": {VERSION},\n  "files": {body}\n}}\n'


def _line(source: Source, offset: int) -> str:
    """The text of the line at an offset."""
    text = source.line_text(source.position(offset)[0]).strip() if source.text else ""
    return text if len(text) <= MAX_LINE else text[: MAX_LINE - 3] + "..."


def _entries(stated: Any) -> dict[str, dict[str, Known]]:
    """The entries of each file. Version 1 had codes alone."""
    if stated["version"] not in (1, VERSION):
        raise ValueError(stated["version"])
    return {
        name: {key: _known(entry) for key, entry in entries.items()}
        for name, entries in stated["files"].items()
    }


def _known(entry: Any) -> Known:
    code, text = (entry, "") if isinstance(entry, str) else entry
    if not (isinstance(code, str) and isinstance(text, str)):
        raise ValueError(entry)
    return code, text
