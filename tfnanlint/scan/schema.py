"""The tables of a scan as Arrow schemas. `docs/scale.md` describes each column.

pyarrow is imported when a table is made: it comes with the extra `scan`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any

from tfnanlint.batch import SCHEMA_VERSION, FileRow, FindingRow, Row

_METADATA = {"tfnanlint.schema_version": str(SCHEMA_VERSION)}


@lru_cache(maxsize=None)
def findings_schema() -> Any:
    """The `pyarrow.Schema` of the findings."""
    import pyarrow as pa

    place = [("cell", pa.int32()), ("row", pa.int32()), ("column", pa.int32())]
    end = [("end_row", pa.int32()), ("end_column", pa.int32())]
    step = pa.struct([("path", pa.string()), *place, ("text", pa.string())])
    edit = pa.struct([*place, *end, ("text", pa.string())])
    fix = pa.struct([("title", pa.string()), ("claim", pa.string()), ("edits", pa.list_(edit))])
    words = "repository path code name severity certainty differentiated message"
    return pa.schema(
        [
            *((name, pa.string()) for name in words.split()),
            *place,
            *end,
            ("range", pa.string()),
            ("trace", pa.list_(step)),
            ("fixes", pa.list_(fix)),
            *((name, pa.string()) for name in ("fingerprint", "tool_version", "settings")),
        ],
        _METADATA,
    )


@lru_cache(maxsize=None)
def files_schema() -> Any:
    """The `pyarrow.Schema` of the files."""
    import pyarrow as pa

    return pa.schema(
        [
            ("repository", pa.string()),
            ("path", pa.string()),
            ("bytes", pa.int64()),
            ("lines", pa.int64()),
            ("status", pa.string()),
            ("reason", pa.string()),
            ("cut_short", pa.bool_()),
            ("findings", pa.int32()),
            ("seconds", pa.float64()),
            ("tool_version", pa.string()),
            ("settings", pa.string()),
        ],
        _METADATA,
    )


def tables(rows: Sequence[Row]) -> tuple[Any, Any]:
    """The findings and the files among the rows, as two `pyarrow.Table`."""
    findings = [row for row in rows if isinstance(row, FindingRow)]
    files = [row for row in rows if isinstance(row, FileRow)]
    return _table(findings, findings_schema()), _table(files, files_schema())


def _table(rows: Sequence[Row], schema: Any) -> Any:
    import pyarrow as pa

    columns = []
    for field in schema:
        values = list(map(attrgetter(field.name), rows))
        try:
            columns.append(pa.array(values, field.type))
        except UnicodeEncodeError:  # names from archives need not be valid Unicode, columns are
            columns.append(pa.array(list(map(_text, values)), field.type))
    return pa.Table.from_arrays(columns, schema=schema)


def _text(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {name: _text(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_text(item) for item in value]
    return value
