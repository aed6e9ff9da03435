"""Repositories in Parquet files: a row is a file, with its content in a column.

pyarrow is imported when a file is opened: it comes with the extra `scan`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from tfnanlint.batch import SUFFIXES, Repository
from tfnanlint.scan.collect import Columns, InputError, Reference, gathered

_ROWS = 256  # read at once
_KEPT_BYTES = 128 << 20  # row groups up to this size are kept for the next repository in them
_EXTENSIONS = (".parquet", ".pq")


def parquet_files(path: str) -> list[str]:
    """The Parquet files that a path means: itself, or all of a folder that holds nothing else.

    Files whose names begin with `.` or `_` do not count: engines leave them beside their results.
    """
    if os.path.isfile(path):
        return [path] if path.endswith(_EXTENSIONS) else []
    listed: list[str] = []
    for directory, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "_")))
        for name in sorted(name for name in names if not name.startswith((".", "_"))):
            if not name.endswith(_EXTENSIONS):
                return []
            listed.append(os.path.join(directory, name))
    return listed


def row_references(paths: list[str], columns: Columns) -> list[Reference]:
    """References to the repositories of Parquet files, in the order in which they first appear;
    rows without a repository are loose files, by row group. Raises `InputError`.
    """
    pieces: dict[str, list[tuple[str, int]]] = {}
    loose: list[Reference] = []
    top = os.path.commonpath([os.path.dirname(path) for path in paths])
    for path in paths:
        file = _opened(path)
        stamp = f"{file.metadata.num_rows} rows"
        _require_text(path, file.schema_arrow, columns.path, ("string",))
        _require_text(path, file.schema_arrow, columns.content, ("string", "binary"))
        for group in range(file.num_row_groups):
            for name in _names(file, group, columns):
                if name:
                    pieces.setdefault(name, []).append((path, group))
                else:
                    shown = os.path.relpath(path, top).replace(os.sep, "/")
                    place = ((path, group),)
                    loose.append(Reference("loose", path, shown, "", place, columns, stamp))
    named = [
        Reference("rows", places[0][0], name, "", tuple(places), columns, str(len(places)))
        for name, places in pieces.items()
    ]
    return loose + named


def _require_text(path: str, schema: Any, name: str, kinds: tuple[str, ...]) -> None:
    """Raises `InputError` when a Parquet file has no column of that name and of one of the kinds. A
    column without values may be of none.
    """
    import pyarrow as pa

    if name not in schema.names:
        raise InputError(f"{path}: no column `{name}`; it has {', '.join(schema.names)}")
    kind = schema.field(name).type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if str(kind).removeprefix("large_").removesuffix("_view") not in (*kinds, "null"):
        raise InputError(f"{path}: the column `{name}` holds {kind}, not {' or '.join(kinds)}")


def scattered(references: list[Reference]) -> float:
    """How many times a row group of Parquet is read in the middle: 1 where repositories stand
    together.
    """
    pieces = [piece for each in references if each.kind == "rows" for piece in each.pieces]
    neighbours = sum(first == second for first, second in zip(pieces, pieces[1:]))
    return (len(pieces) - neighbours) / max(len(set(pieces)), 1)


def load_rows(reference: Reference) -> Iterator[Repository]:
    """The repository in the rows that bear its name."""
    yield gathered(reference.name, _of_name(reference))


def load_loose(reference: Reference) -> Iterator[Repository]:
    """A repository of one for each row without a name, in their order."""
    for path, group in reference.pieces:
        for name, file, data in _rows(path, group, reference.columns):
            if not name:
                yield Repository("", {file: data})


def text_bytes(value: Any) -> bytes:
    """The content of a file: a column of strings is taken as UTF-8, null as an empty file."""
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value or b""


@lru_cache(maxsize=4)
def _opened(path: str) -> Any:
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise InputError(f"{path}: Parquet needs pyarrow: pip install 'tfnanlint[scan]'") from None
    import pyarrow as pa

    try:
        return pq.ParquetFile(path, buffer_size=1 << 20)
    except pa.ArrowInvalid as error:
        raise InputError(f"{path}: not a Parquet file ({error})") from error


def _names(file: Any, group: int, columns: Columns) -> list[str]:
    """The repositories of a row group; "" stands for rows without one."""
    if columns.repository not in file.schema_arrow.names:
        return [""]
    column = file.read_row_group(group, [columns.repository], use_threads=False).column(0)
    return list(dict.fromkeys(str(name or "") for name in column.unique().to_pylist()))


def _of_name(reference: Reference) -> Iterator[tuple[str, bytes]]:
    for path, group in reference.pieces:
        if _opened(path).metadata.row_group(group).total_byte_size <= _KEPT_BYTES:
            yield from _group(path, group, reference.columns).get(reference.name, ())
        else:
            for name, file, data in _rows(path, group, reference.columns):
                if name == reference.name:
                    yield file, data


@lru_cache(maxsize=1)
def _group(path: str, group: int, columns: Columns) -> dict[str, list[tuple[str, bytes]]]:
    """The files of a row group by repository; one group is kept, for neighbours share it."""
    files: dict[str, list[tuple[str, bytes]]] = {}
    for name, file, data in _rows(path, group, columns):
        files.setdefault(name, []).append((file, data))
    return files


def _rows(path: str, group: int, columns: Columns) -> Iterator[tuple[str, str, bytes]]:
    """Repository, path and content of the Python files and notebooks of a row group."""
    file = _opened(path)
    wanted = (columns.repository, columns.path, columns.content)
    present = [name for name in wanted if name in file.schema_arrow.names]
    batches = file.iter_batches(_ROWS, row_groups=[group], columns=present, use_threads=False)
    for batch in batches:
        yield from source_rows(batch, columns)


def source_rows(batch: Any, columns: Columns) -> Iterator[tuple[str, str, bytes]]:
    """Repository ("" where there is none), path and content of the Python files and notebooks of a
    table or record batch.
    """
    paths = batch.column(columns.path).to_pylist()
    contents = batch.column(columns.content)
    names = [None] * len(paths)
    if columns.repository in batch.schema.names:
        names = batch.column(columns.repository).to_pylist()
    for row, (name, path) in enumerate(zip(names, paths)):
        if path is not None and path.endswith(SUFFIXES):
            yield str(name or ""), path, text_bytes(contents[row].as_py())
