"""One scan: repositories in, parts of two tables out. A part is written whole or not at all.

    OUT/scan.json                      what is scanned, with which settings
    OUT/findings/part-SSSSS-NNNNNN.parquet
    OUT/files/part-SSSSS-NNNNNN.parquet
    OUT/checkpoints/part-SSSSS-NNNNNN.json   written last: the part is complete

Which repositories make up a part depends on the inputs alone, so that a scan that was stopped goes
on with the parts that are missing and ends with the same rows.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tfnanlint import __version__
from tfnanlint.batch import SCHEMA_VERSION, FileRow, FindingRow, Row
from tfnanlint.scan.inputs import InputError, Reference, shard_of
from tfnanlint.scan.pool import Orders, Pool
from tfnanlint.scan.schema import tables

PART = 100  # repositories
_FOLDERS = ("findings", "files", "checkpoints")


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `index` of `count` of all repositories."""

    index: int = 0
    count: int = 1

    @classmethod
    def parsed(cls, text: str) -> Shard:
        """`2/8` as the second of eight. Raises ValueError."""
        first, slash, second = text.partition("/")
        index, count = int(first), int(second)
        if not slash or not 1 <= index <= count:
            raise ValueError(text)
        return cls(index - 1, count)


@dataclass
class Totals:
    """What a scan has counted so far."""

    repositories: int = 0
    files: Counter[str] = field(default_factory=Counter)
    findings: Counter[str] = field(default_factory=Counter)
    bytes: int = 0
    seconds: float = 0.0
    densest: list[tuple[int, int, str]] = field(default_factory=list)  # findings, files, name
    failures: list[str] = field(default_factory=list)

    def add(self, part: dict[str, Any]) -> None:
        """Count a complete part, as its checkpoint tells it."""
        self.repositories += part["repositories"]
        self.files.update(part["files"])
        self.findings.update(part["findings"])
        self.bytes += part["bytes"]
        self.seconds += part["seconds"]
        self.failures += part["failures"]
        self.densest = sorted(
            [*self.densest, *(tuple(entry) for entry in part["densest"])], reverse=True
        )[:20]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a scan is; `rate` is in repositories a second, `left` in seconds."""

    done: int
    of: int
    rate: float
    left: float
    totals: Totals


class Scan:
    """A scan of references into a folder. Raises `InputError` when the folder holds another one."""

    def __init__(
        self,
        references: Sequence[Reference],
        out: str,
        orders: Orders,
        jobs: int = 1,
        shard: Shard = Shard(),
        resume: bool = False,
    ):
        self.out = out
        self._shard = shard
        self._references = [one for one in references if shard_of(one, shard.count) == shard.index]
        self._pool = Pool(orders, jobs)
        self._plan = {
            "schema_version": SCHEMA_VERSION,
            "tool_version": __version__,
            "settings": self._pool.judge.settings_hash,
            "shards": shard.count,
            "input": _digest(one.identity for one in references),
            "repositories": len(references),
        }
        self._claim_folder(resume)
        self.totals = Totals()

    def _claim_folder(self, resume: bool) -> None:
        for name in _FOLDERS:
            os.makedirs(os.path.join(self.out, name), exist_ok=True)
        path = os.path.join(self.out, "scan.json")
        try:
            with open(path, encoding="utf-8") as file:
                former = json.load(file)
        except FileNotFoundError:
            _write(path, json.dumps(self._plan, indent=2).encode())
            return
        except json.JSONDecodeError as error:
            raise InputError(f"{path}: not the plan of a scan ({error})") from error
        if former != self._plan:
            differing = ", ".join(k for k in self._plan if former.get(k) != self._plan[k])
            raise InputError(f"{self.out}: holds another scan (its {differing} differ)")
        if not resume and any(self._is_done(number) for number in range(len(self._parts()))):
            raise InputError(f"{self.out}: holds a part of this scan; go on with --resume")

    def _parts(self) -> list[list[tuple[int, Reference]]]:
        """The references of each part, numbered through the shard."""
        numbered = list(enumerate(self._references))
        return [numbered[start : start + PART] for start in range(0, len(numbered), PART)]

    def _path(self, folder: str, number: int, suffix: str) -> str:
        return os.path.join(
            self.out, folder, f"part-{self._shard.index + 1:05}-{number:06}.{suffix}"
        )

    def _is_done(self, number: int) -> bool:
        return os.path.exists(self._path("checkpoints", number, "json"))

    def run(self, tell: Callable[[Progress], None] = lambda progress: None) -> Totals:
        """Check all that is missing and write it; `tell` hears of each repository."""
        parts = self._parts()
        missing = [number for number in range(len(parts)) if not self._is_done(number)]
        for number in range(len(parts)):
            if number not in set(missing):
                with open(self._path("checkpoints", number, "json"), encoding="utf-8") as file:
                    self.totals.add(json.load(file))
        asked = [pair for number in missing for pair in parts[number]]
        left = {number: len(parts[number]) for number in missing}
        rows: dict[int, list[Row]] = {}
        start = time.monotonic()
        for count, (index, answered) in enumerate(self._pool.outcomes(asked), 1):
            rows[index] = answered
            number = index // PART
            left[number] -= 1
            if not left[number]:
                self._finish(number, parts[number], rows)
            rate = count / max(time.monotonic() - start, 1e-9)
            tell(Progress(count, len(asked), rate, (len(asked) - count) / rate, self.totals))
        return self.totals

    def _finish(
        self, number: int, part: list[tuple[int, Reference]], rows: dict[int, list[Row]]
    ) -> None:
        """Write a part whose repositories have all been checked."""
        import pyarrow.parquet as pq

        collected = [(reference, rows.pop(index)) for index, reference in part]
        both = tables([row for _, each in collected for row in each])
        for folder, table in zip(("findings", "files"), both):
            path = self._path(folder, number, "parquet")
            pq.write_table(table, path + ".new", compression="zstd")
            os.replace(path + ".new", path)
        counted = _counted(collected)
        _write(self._path("checkpoints", number, "json"), json.dumps(counted).encode())
        self.totals.add(counted)


def _counted(part: list[tuple[Reference, list[Row]]]) -> dict[str, Any]:
    """What a part adds to the totals."""
    files = [row for _, rows in part for row in rows if isinstance(row, FileRow)]
    findings = [row for _, rows in part for row in rows if isinstance(row, FindingRow)]
    each = Counter(row.repository for row in findings if row.repository)
    sizes = Counter(row.repository for row in files if row.status == "checked")
    return {
        "repositories": len(part),
        "files": Counter(row.status for row in files),
        "findings": Counter(row.code for row in findings),
        "bytes": sum(row.bytes for row in files),
        "seconds": sum(row.seconds for row in files),
        "densest": [(count, sizes[name], name) for name, count in each.most_common(20)],
        "failures": [
            f"{row.repository}: {row.reason}"
            for row in files
            if row.status == "failed" and not row.path
        ],
    }


def _is_lost(row: FileRow) -> bool:
    """Whether a row stands for a whole repository that could not be checked."""
    return row.status == "failed" and not row.path


def _digest(parts: Iterator[str]) -> str:
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        state.update(part.encode("utf-8", "surrogateescape") + b"\0")
    return state.hexdigest()


def _write(path: str, data: bytes) -> None:
    """Write a file whole: a reader never sees half of it."""
    with open(path + ".new", "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".new", path)
