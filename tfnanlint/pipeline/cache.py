"""What was found in a file, remembered until anything changes that it depends on.

The key of an entry is a digest of all that is known before a file is read: the code of tfnanlint
and of its rules, the version of Python, the settings that hold for the file, its name and its
bytes. The entry has the findings with their traces and fixes, and each fact about other files that
was used to find them, with the answer that it had (see `project`). It counts as long as every
answer is the same.

Files are told apart by their content and nothing else. Times of change are not asked: they would
spare reading a file, at the price of an old answer where a tool sets them back.
"""

from __future__ import annotations

import json
import os
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import lru_cache, partial
from importlib.util import find_spec
from typing import Any, Final, get_args, get_origin, get_type_hints

from tfnanlint.diagnostics.findings import Finding
from tfnanlint.files.store import Store
from tfnanlint.pipeline.check import Account, Checked, Narrowing, opened
from tfnanlint.project import index as project
from tfnanlint.syntax.source import Source, Span, Unreadable

RULE_PACKAGES = ("tfnanlint_rules",)
# Files of the engine that changed this recently, in nanoseconds, may change again without its
# showing in their times.
_FRESH = 2_000_000_000


class Cache:
    """The findings of files as they were found before.

    Without a store nothing is known from before, and what is to be kept is handed over by `taken`:
    so a process that checks a part of the files gives its results to the one that writes them.
    `engine` is its digest, where that is known.
    """

    def __init__(self, store: Store | None, engine: str = ""):
        self._store = store
        self._engine = engine
        self.plugins: Sequence[str] = ()
        self._new: dict[str, bytes] = {}

    @property
    def engine(self) -> str:
        """A digest of all code that says what is found; "" when it cannot be had, and nothing is
        remembered.
        """
        if not self._engine:
            self._engine = _engine(self._store, self.plugins)
        return self._engine

    @property
    def problem(self) -> str:
        """Why nothing could be read or kept; empty when all went well."""
        return self._store.problem if self._store is not None else ""

    def entry(self, path: str, data: bytes, settings: str) -> Entry | None:
        """The place of what is found in a file; `settings` is the identity of those that hold for
        it.
        """
        if not self.engine:
            return None
        names = (os.fsencode(path), os.fsencode(os.path.abspath(path)))
        return Entry(
            self, project.hashed(self.engine.encode(), _encoded(settings), *names, data), path, data
        )

    def rules_in_preview(self, settings: str) -> int | None:
        """How many rules these settings leave in preview; None where it is not known whether the
        rules that they name exist.
        """
        count = self.get(self._of_settings(settings))
        return int(count) if count is not None and count.isdigit() else None

    def keep_rules(self, settings: str, preview: int) -> None:
        """Remember that the rules that settings name exist, and how many are left in preview."""
        if self.engine:
            self.put({self._of_settings(settings): str(preview).encode()})

    def _of_settings(self, settings: str) -> str:
        return project.hashed(b"settings", self.engine.encode(), _encoded(settings))

    def get(self, key: str) -> bytes | None:
        return self._store.get(key) if self._store is not None else None

    def put(self, entries: Mapping[str, bytes]) -> None:
        """Keep the bodies of entries."""
        if self._store is None:
            self._new.update(entries)
        else:
            self._store.put(entries)

    def taken(self) -> dict[str, bytes]:
        """What was to be kept since this was asked last, where there is no store."""
        new, self._new = self._new, {}
        return new

    def close(self) -> None:
        """Write what is to be kept. The cache can be used again."""
        if self._store is not None:
            self._store.close()


class Entry:
    """The place of what is found in one file."""

    def __init__(self, cache: Cache, key: str, path: str, data: bytes):
        self._cache, self._key, self._path, self._data = cache, key, path, data

    def checked(self, narrowed: Narrowing) -> Checked | None:
        """What would be found now, those findings that `narrowed` leaves; None when that is not
        known.
        """
        body = self._cache.get(self._key)
        if body is None:
            return None
        try:
            hidden, unsure, cut_short, unsafe_fixes, rows, facts = _unpacked(body)
            if not _hold(facts) or not _are_counts(hidden, unsure):
                return None
            read = _findings()
            findings = tuple(read(row) for _, row in rows)
            source = opened(self._path, self._data) if findings else Source(self._path, "")
            if not all(map(str.isprintable, cut_short)) or not _fit(findings, source):
                return None
        except _NOT_OURS:
            return None  # It was not written by this code.
        kept = narrowed(
            Checked(
                source, findings, hidden, unsafe_fixes, unsure=unsure, cut_short=tuple(cut_short)
            )
        )
        bare = {id(finding) for finding, (repaired, _) in zip(findings, rows) if not repaired}
        return None if any(id(finding) in bare for finding in kept.findings) else kept

    def keep(self, account: Account) -> None:
        """Remember what was found."""
        checked = account.checked
        rows = [
            (repaired, _plain(finding))
            for repaired, finding in zip(account.repaired, checked.findings)
        ]
        content = (
            checked.hidden,
            checked.unsure,
            checked.cut_short,
            checked.unsafe_fixes,
            rows,
            _listed(account.facts),
        )
        body = zlib.compress(json.dumps(content, separators=(",", ":")).encode(), 1)
        self._cache.put({self._key: body})


# --------------------------------------------------------------------------------------------------
# Facts about other files


_ORDER = list(project.ANSWERS)


def _listed(facts: project.Facts) -> list[list]:
    """Facts as plain data: the kind, what the question is about, the answer; what is cheap to ask
    first.
    """
    return [
        [*question, _plain(facts[question])]
        for question in sorted(facts, key=lambda fact: _ORDER.index(fact[0]))
    ]


def _hold(facts: list[list]) -> bool:
    """Whether every question has the answer that it had."""
    digests = set(project.OF_TREE.values())
    trees = set()  # folders in which nothing has changed, by the kind of the digest
    for kind, *about, answer in facts:
        if (project.OF_TREE.get(kind), about[0]) in trees:
            continue
        same = _plain(project.ANSWERS[kind](*about)) == answer
        if kind in digests:
            trees.update([(kind, about[0])] if same else ())
        elif not same:
            return False
    return True


# --------------------------------------------------------------------------------------------------
# Findings as plain data

_LARGEST: Final = 64 << 20  # bytes of what is kept of one file
# what a body raises that other code has written
_NOT_OURS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    Unreadable,
    ValueError,
    zlib.error,
)


def _unpacked(body: bytes) -> Any:
    """What a body holds. Raises one of `_NOT_OURS`."""
    text = zlib.decompressobj().decompress(body, _LARGEST)
    return json.loads(text)


def _are_counts(*values: Any) -> bool:
    return all(type(value) is int and value >= 0 for value in values)


def _fit(findings: Sequence[Finding], source: Source) -> bool:
    """Whether findings say what can be said of a source: of places that it has, in files that have
    names.
    """
    end = len(source.text)
    for finding in findings:
        edits = [[edit.span for edit in fix.edits] for fix in finding.fixes]
        ordered = [span for spans in edits for span in spans]
        calls = [call for step in finding.trace for call in (*step.calls, step.made) if call]
        places = [*finding.trace, *calls]
        if finding.path != source.path or not all(map(_are_apart, edits)):
            return False
        if not all([0 <= span.start <= span.end <= end for span in (finding.span, *ordered)]):
            return False
        if not all([place.row >= 1 and _is_name(place.path) for place in places]):
            return False
    return True


def _are_apart(spans: Sequence[Span]) -> bool:
    """Whether there are spans, and none of them overlap."""
    ordered = sorted(spans)
    return bool(spans) and all([one.end <= two.start for one, two in zip(ordered, ordered[1:])])


def _is_name(path: str) -> bool:
    """Whether a file can have a name. Raises ValueError where no system could write it."""
    return "\0" not in os.fsdecode(os.fsencode(path))


def _plain(value: Any) -> Any:
    """A value as JSON has it: objects are lists of their fields."""
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value):
        return [_plain(getattr(value, one.name)) for one in fields(value)]
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return value


Reader = Callable[[Any], Any]


def _reader(kind: Any) -> Reader:
    """What makes a value of a type of plain data. It raises TypeError or ValueError for data that
    is not of that type.
    """
    if is_dataclass(kind):
        return _record(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind
    inner = [_reader(one) for one in get_args(kind) if one not in (type(None), Ellipsis)]
    if get_origin(kind) is tuple:
        return lambda value: tuple(map(inner[0], _of(list, value)))
    if inner and type(None) in get_args(kind):
        return lambda value: None if value is None else inner[0](value)
    return partial(_of, kind)


def _record(kind: Any) -> Reader:
    """What makes an object of the list of its fields."""
    hints = get_type_hints(kind, localns={"Verdict": type(None)})
    own = {"data": _sites, "verdict": partial(_of, type(None))}
    readers = [own.get(one.name) or _reader(hints[one.name]) for one in fields(kind)]

    def read(row: Any) -> Any:
        return kind(*[reader(value) for reader, value in zip(readers, row, strict=True)])

    return read


def _of(kind: type, value: Any) -> Any:
    """A value, if it is of just this type. Raises TypeError."""
    if type(value) is not kind:
        raise TypeError(f"{type(value)} for {kind}")
    return value


def _sites(table: Any) -> dict[str, object]:
    """What a finding says of its rule's place: spans and words, by name."""
    return {
        key: tuple([_span(one) if isinstance(one, list) else _of(str, one) for one in values])
        for key, values in _of(dict, table).items()
    }


def _span(row: list) -> Span:
    start, end = row
    return Span(_of(int, start), _of(int, end))


@lru_cache(maxsize=None)
def _findings() -> Reader:
    """What makes a finding of plain data."""
    return _reader(Finding)


# --------------------------------------------------------------------------------------------------
# The code that finds


def _engine(store: Store | None, plugins: Sequence[str] = ()) -> str:
    """The digest of the code of tfnanlint, its rules, and of the versions of what they work with.

    To read it all takes milliseconds, so that its digest is remembered by the times and sizes of
    its files. These tell all changes of files that were not touched for two seconds: no one can
    set the time at which a file's status changed.
    """
    packages = _packages(plugins)
    files = sorted(_code(packages))
    if not files:
        return ""
    state = [
        f"{path}\0{status.st_size}\0{status.st_mtime_ns}\0{status.st_ctime_ns}\0{status.st_ino}"
        for _, path, status in files
    ]
    key = project.hashed(b"engine", *map(_encoded, (sys.version, *packages, *state)))
    known = store.get(key) if store is not None else None
    if known is not None:
        return known.decode()
    parts = [sys.version.encode(), sys.platform.encode(), *map(_encoded, packages)]
    for name, path, _ in files:
        with open(path, "rb") as file:
            parts += (_encoded(name), file.read())
    digest = project.hashed(*parts)
    if (
        store is not None
        and max(max(status.st_ctime_ns, status.st_mtime_ns) for *_, status in files)
        < time.time_ns() - _FRESH
    ):
        store.put({key: digest.encode()})
    return digest


def _packages(plugins: Sequence[str]) -> tuple[str, ...]:
    """The packages whose code says what is found: those of plugins too."""
    if not plugins:
        return ("tfnanlint", *RULE_PACKAGES)
    from importlib.metadata import entry_points

    installed = {entry.name: entry.value for entry in entry_points(group="tfnanlint.rules")}
    return ("tfnanlint", *RULE_PACKAGES, *(installed.get(name, name) for name in sorted(plugins)))


def _code(packages: Sequence[str]) -> Iterator[tuple[str, str, os.stat_result]]:
    """Every file of code: its name, which is the same on all machines, its path and its status."""
    for package in packages:
        spec = find_spec(package)
        if spec is not None and spec.origin and not spec.submodule_search_locations:
            yield package, spec.origin, os.stat(spec.origin)  # a plugin of one module
        for top in spec.submodule_search_locations or () if spec is not None else ():
            yield from _below(top, package)


def _below(folder: str, name: str) -> Iterator[tuple[str, str, os.stat_result]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name != "__pycache__":
                    yield from _below(entry.path, f"{name}.{entry.name}")
            elif entry.name.endswith(".py"):
                yield f"{name}.{entry.name}", entry.path, entry.stat()


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
