"""Checks repositories that are held in memory, without the disk.

    from tfnanlint.batch import Repository, lint

    for row in lint([Repository("demo", {"a.py": data})]):
        print(row)

The files of one repository are judged together: an import of one leads into the other. Nothing is
read from the disk, written, or kept between two repositories. `docs/scale.md` shows how to call it
from engines that distribute work.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tfnanlint import __version__
from tfnanlint.config.layers import Configuration, Policy, Settings, layer
from tfnanlint.diagnostics import notices
from tfnanlint.files.kinds import NOTEBOOK, relevant, size_limit
from tfnanlint.pipeline.check import check
from tfnanlint.pipeline.linter import failure, load_rules
from tfnanlint.project import index as project
from tfnanlint.project.filesystem import Memory
from tfnanlint.report.json import described

SCHEMA_VERSION = 1
ROOT = "/repository"  # where the files of a repository stand, as far as the analysis knows
_ALONE = threading.Lock()  # which files are read is a state of the process
OUT_OF_MEMORY = "it needs more memory than is allowed"
SUFFIXES = (".py", NOTEBOOK)  # of the files that are checked


@dataclass(frozen=True, slots=True)
class Repository:
    """Files that belong together. Paths are relative to the root of the repository, with `/`.

    `unread` are files that could not be had, each with the reason; the rows tell them.
    """

    name: str
    files: Mapping[str, bytes]
    unread: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Budget:
    """What one repository may cost. Files that are left when it is spent are told, not checked.

    `seconds` are of wall time, looked at between two files. `bytes` counts the Python files and
    notebooks that name TensorFlow or Keras.
    """

    seconds: float = 600.0
    bytes: int = 256 << 20


@dataclass(frozen=True, slots=True)
class FindingRow:
    """A finding. Rows and columns are 1-based; columns count characters. `cell` is the 1-based
    cell of a notebook that rows are counted in, else None.
    """

    repository: str
    path: str
    code: str
    name: str
    severity: str
    certainty: str
    differentiated: str
    message: str
    cell: int | None
    row: int
    column: int
    end_row: int
    end_column: int
    range: str
    trace: tuple[dict[str, Any], ...]
    fixes: tuple[dict[str, Any], ...]
    fingerprint: str
    tool_version: str
    settings: str


@dataclass(frozen=True, slots=True)
class FileRow:
    """A Python file or notebook; `lines` counts ends of lines. `status` is `checked`, `irrelevant`
    (it names neither TensorFlow nor Keras), `skipped` or `failed`; `reason` says why the last two.
    `cut_short`: some value was not followed to its end.
    """

    repository: str
    path: str
    bytes: int
    lines: int
    status: str
    reason: str
    cut_short: bool
    findings: int
    seconds: float
    tool_version: str
    settings: str


Row = FindingRow | FileRow


@dataclass
class Judge:
    """Checks repositories under one set of settings. It can be made once and used for many."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    budget: Budget = Budget()

    def __post_init__(self) -> None:
        lists = {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in self.settings.items()
        }
        self._configuration = Configuration(layer(lists, "settings", ROOT), (), True)
        self._rules = load_rules()
        self.settings_hash = _digest(lists)
        # names of unknown rules come to light before the first file
        self._for_file("a.py")

    def _for_file(self, path: str) -> tuple[Settings, Policy]:
        settings = self._configuration.for_file(path)
        return settings, settings.policy(path, self._rules)

    def rows(self, repository: Repository, tell: Callable[[str], object] = id) -> list[Row]:
        """The rows of a repository: of each file its findings, then the file itself, in the order
        of the paths. `tell` hears the path of each file before it is checked.

        The list is complete before a caller sees it: nothing of this repository is open when the
        next call begins. Calls in several threads wait for each other.
        """
        files = {_placed(path): data for path, data in repository.files.items()}
        rows: list[Row] = []
        for path, reason in sorted(repository.unread.items()):
            row = self._file_row(repository.name, _placed(path), b"")
            rows.append(replace(row, status="skipped", reason=reason))
        spent = _Spent(self.budget)
        with _ALONE, project.reading(Memory(files)):
            for path in sorted(path for path in files if path.endswith(SUFFIXES)):
                data = files[path]
                row = self._file_row(repository.name, path, data)
                if not relevant(data):
                    rows.append(replace(row, status="irrelevant"))
                    continue
                settings, policy = self._for_file(path)
                reason = _refusal(settings, path, data) or spent.refusal(data)
                if reason:
                    rows.append(replace(row, status="skipped", reason=reason))
                    continue
                tell(row.path)
                rows += self._checked(row, path, data, policy)
        return rows

    def _checked(self, row: FileRow, path: str, data: bytes, policy: Policy) -> Iterator[Row]:
        start = time.monotonic()
        try:
            checked = check(path, data, policy)
        except MemoryError:
            yield replace(row, status="failed", reason=OUT_OF_MEMORY)
            return
        except Exception as error:  # a bug of tfnanlint costs one file, as on the command line
            checked = failure(path, error)
        seconds = round(time.monotonic() - start, 6)
        unchecked = [each for each in checked.findings if each.code in _UNCHECKED]
        for shown in described(checked):
            yield self._finding_row(row, shown)
        yield replace(
            row,
            status="failed" if unchecked else "checked",
            reason=unchecked[0].message if unchecked else "",
            cut_short=bool(checked.cut_short),
            findings=len(checked.findings),
            seconds=seconds,
        )

    def failed(self, repository: str, path: str, reason: str, data: bytes = b"") -> FileRow:
        """The row of what could not be checked: a file, or with the path "" a repository."""
        return replace(self._file_row(repository, path, data), status="failed", reason=reason)

    def _file_row(self, repository: str, path: str, data: bytes) -> FileRow:
        return FileRow(
            repository,
            _relative(path),
            len(data),
            data.count(b"\n"),
            "",
            "",
            False,
            0,
            0.0,
            __version__,
            self.settings_hash,
        )

    def _finding_row(self, file: FileRow, shown: dict[str, Any]) -> FindingRow:
        return FindingRow(
            repository=file.repository,
            path=file.path,
            code=shown["code"],
            name=shown["name"],
            severity=shown["severity"],
            certainty=shown["certainty"],
            differentiated=shown["differentiated"],
            message=shown["message"],
            cell=shown["cell"],
            row=shown["location"]["row"],
            column=shown["location"]["column"],
            end_row=shown["end_location"]["row"],
            end_column=shown["end_location"]["column"],
            range=shown["range"],
            trace=tuple(map(_step, shown["trace"])),
            fixes=tuple(map(_fix, (*shown["fixes"], *shown["suggestions"]))),
            fingerprint=shown["fingerprint"],
            tool_version=__version__,
            settings=self.settings_hash,
        )


@dataclass
class _Spent:
    """What a repository has cost so far."""

    budget: Budget
    started: float = field(default_factory=time.monotonic)
    size: int = 0

    def refusal(self, data: bytes) -> str:
        """Why a file is too much for the budget; empty when it is not."""
        self.size += len(data)
        if self.size > self.budget.bytes:
            return f"the budget of {self.budget.bytes} bytes for the repository is spent"
        if time.monotonic() - self.started > self.budget.seconds:
            return f"the budget of {self.budget.seconds:g} seconds for the repository is spent"
        return ""


def _refusal(settings: Settings, path: str, data: bytes) -> str:
    """Why the settings keep a file from being checked; empty when they do not."""
    if settings.excludes_pattern(path, False):
        return "excluded by the settings"
    if len(data) > size_limit(path, settings.max_file_size):
        return f"larger than max-file-size ({len(data)} bytes)"
    return ""


_UNCHECKED = frozenset(
    notice.code for notice in (notices.INTERNAL, notices.INVALID_SYNTAX, notices.UNREAD)
)


def lint(
    repositories: Iterable[Repository],
    settings: Mapping[str, Any] | None = None,
    budget: Budget | None = None,
) -> Iterator[Row]:
    """The rows of all repositories, one after the other; each repository is let go of before the
    next is taken.

    `settings` are those of `tfnanlint.toml`, such as `{"select": ["TFN1"]}`; configuration files in
    the repositories are not read. Raises `ConfigError` on settings that cannot be followed.
    """
    judge = Judge(settings or {}, budget or Budget())
    for repository in repositories:
        yield from judge.rows(repository)


def _placed(path: str) -> str:
    """The absolute path under which a file of a repository is known: `..` does not lead out."""
    return posixpath.normpath(posixpath.join(ROOT, posixpath.normpath("/" + path).lstrip("/")))


def _relative(path: str) -> str:
    return path.removeprefix(ROOT + "/")


def _digest(table: Mapping[str, Any]) -> str:
    """What tells two sets of settings apart."""
    text = json.dumps(table, sort_keys=True, default=sorted)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _step(step: dict[str, Any]) -> dict[str, Any]:
    return {
        "path": _relative(step["filename"]),
        "cell": step["cell"],
        "row": step["location"]["row"],
        "column": step["location"]["column"],
        "text": step["text"],
    }


def _fix(fix: dict[str, Any]) -> dict[str, Any]:
    return {
        "title": fix["title"],
        "claim": fix["claim"],
        "edits": [
            {
                "cell": edit["cell"],
                "row": edit["location"]["row"],
                "column": edit["location"]["column"],
                "end_row": edit["end_location"]["row"],
                "end_column": edit["end_location"]["column"],
                "text": edit["content"],
            }
            for edit in fix["edits"]
        ],
    }
