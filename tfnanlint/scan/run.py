"""One scan: repositories in, parts of two tables out. A part is written whole or not at all.

    OUT/scan.json                      what is scanned, with which settings
    OUT/findings/part-SSSSS-NNNNNN.parquet
    OUT/files/part-SSSSS-NNNNNN.parquet
    OUT/checkpoints/part-SSSSS-NNNNNN.json   written last: the part is complete

Which repositories make up a part depends on the inputs alone, so that a scan that was stopped goes
on with the parts that are missing and ends with the same rows.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from tfnanlint import __version__
from tfnanlint.batch import SCHEMA_VERSION, FileRow, FindingRow, Row
from tfnanlint.scan.inputs import InputError, Reference, shard_of
from tfnanlint.scan.pool import Orders, Pool
from tfnanlint.scan.schema import tables

PART = 100  # repositories
DENSE = 500  # checked lines that a repository needs for its density to tell something
_SHOWN = 20  # repositories
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


Weight = tuple[str, int, int, int]  # a repository: name, findings, checked files, their lines


def density(weight: Weight) -> float:
    """Findings in a thousand checked lines."""
    return 1000 * weight[1] / max(weight[3], 1)


def _first(key: Callable[[Weight], float], weights: Iterable[Weight]) -> list[Weight]:
    return sorted(weights, key=lambda weight: (-key(weight), weight))[:_SHOWN]


@dataclass
class Totals:
    """What a scan has counted so far."""

    repositories: int = 0
    files: Counter[str] = field(default_factory=Counter)
    findings: Counter[str] = field(default_factory=Counter)  # by code
    names: dict[str, str] = field(default_factory=dict)  # of the rules, by code
    bytes: int = 0
    seconds: float = 0.0
    lines: int = 0  # of checked files
    most: list[Weight] = field(default_factory=list)  # repositories with most findings
    densest: list[Weight] = field(default_factory=list)  # with most findings in a thousand lines
    failures: list[str] = field(default_factory=list)

    def add(self, part: dict[str, Any]) -> None:
        """Count a complete part, as its checkpoint tells it."""
        self.repositories += part["repositories"]
        self.files.update(part["files"])
        self.findings.update(part["findings"])
        self.names.update(part["names"])
        self.bytes += part["bytes"]
        self.seconds += part["seconds"]
        self.failures += part["failures"]
        self.lines += part["lines"]
        self.most = _first(itemgetter(1), [*self.most, *map(tuple, part["most"])])
        self.densest = _first(density, [*self.densest, *map(tuple, part["densest"])])


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
        part: int = PART,
    ):
        self.out = out
        self._part = part
        self._shard = shard
        self._references = [
            each for each in references if shard_of(each, shard.count) == shard.index
        ]
        self._pool = Pool(orders, jobs)
        self._plan = {
            "schema_version": SCHEMA_VERSION,
            "tool_version": __version__,
            "settings": self._pool.judge.settings_hash,
            "shards": shard.count,
            "part_size": part,
            "input": _digest(each.identity for each in references),
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
            write(path, json.dumps(self._plan, indent=2).encode())
            return
        except json.JSONDecodeError as error:
            raise InputError(f"{path}: not the plan of a scan ({error})") from error
        if former != self._plan:
            differing = ", ".join(k for k in self._plan if former.get(k) != self._plan[k])
            raise InputError(f"{self.out}: holds another scan (its {differing} differ)")
        if not resume and any(self._is_done(number) for number in range(len(self._parts()))):
            raise InputError(f"{self.out}: holds a part of this scan; go on with --resume")
        for name in _FOLDERS:  # what a killed scan was about to write
            halves = f".part-{self._shard.index + 1:05}-*"
            for half in glob.glob(os.path.join(glob.escape(self.out), name, halves)):
                os.unlink(half)

    def _parts(self) -> list[list[tuple[int, Reference]]]:
        """The references of each part, numbered through the shard."""
        numbered, size = list(enumerate(self._references)), self._part
        return [numbered[start : start + size] for start in range(0, len(numbered), size)]

    def _path(self, folder: str, number: int, suffix: str) -> str:
        return os.path.join(
            self.out, folder, f"part-{self._shard.index + 1:05}-{number:06}.{suffix}"
        )

    def _is_done(self, number: int) -> bool:
        return os.path.exists(self._path("checkpoints", number, "json"))

    def run(self, tell: Callable[[Progress], None] = lambda progress: None) -> Totals:
        """Check all that is missing and write it; `tell` hears of each repository."""
        parts = self._parts()
        missing = []
        for number in range(len(parts)):
            if not self._is_done(number):
                missing.append(number)
                continue
            with open(self._path("checkpoints", number, "json"), encoding="utf-8") as file:
                self.totals.add(json.load(file))
        asked = [pair for number in missing for pair in parts[number]]
        left = {number: len(parts[number]) for number in missing}
        rows: dict[int, list[Row]] = {}
        start = time.monotonic()
        for count, (index, answered) in enumerate(self._pool.outcomes(asked), 1):
            rows[index] = answered
            number = index // self._part
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
            with whole(path) as temporary:
                pq.write_table(table, temporary, compression="zstd")
        counted = _counted(collected)
        write(self._path("checkpoints", number, "json"), json.dumps(counted).encode())
        self.totals.add(counted)


def _counted(part: list[tuple[Reference, list[Row]]]) -> dict[str, Any]:
    """What a part adds to the totals."""
    files = [row for _, rows in part for row in rows if isinstance(row, FileRow)]
    findings = [row for _, rows in part for row in rows if isinstance(row, FindingRow)]
    checked = [row for row in files if row.status == "checked"]
    count = Counter(row.repository for row in findings if row.repository)
    size = Counter(row.repository for row in checked)
    lines: Counter[str] = Counter()
    for row in checked:
        lines[row.repository] += row.lines
    weights = [(name, count[name], size[name], lines[name]) for name in count]
    return {
        "repositories": len(part),
        "files": Counter(row.status for row in files),
        "findings": Counter(row.code for row in findings),
        "names": {row.code: row.name for row in findings},
        "bytes": sum(row.bytes for row in files),
        "seconds": sum(row.seconds for row in files),
        "lines": sum(row.lines for row in checked),
        "most": _first(itemgetter(1), weights),
        "densest": _first(density, (weight for weight in weights if weight[3] >= DENSE)),
        "failures": [
            f"{row.repository}: {row.reason}"
            for row in files
            if row.status == "failed" and not row.path
        ],
    }


def _digest(parts: Iterator[str]) -> str:
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        state.update(part.encode("utf-8", "surrogateescape") + b"\0")
    return state.hexdigest()


def write(path: str, data: bytes) -> None:
    """Write a file whole: a reader never sees half of it."""
    with whole(path) as temporary:
        with open(temporary, "wb") as file:
            file.write(data)


@contextmanager
def whole(path: str) -> Iterator[str]:
    """The path of a file to write, which then takes the place of the one at `path`.

    Engines and pyarrow pass over files whose names begin with a dot. Shards may write at once.
    """
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name}.{socket.gethostname()}-{os.getpid()}")
    try:
        yield temporary
        handle = os.open(temporary, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
