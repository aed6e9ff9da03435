"""Arrow tables of files in, an Arrow table of rows out: what engines that distribute work call."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from tfnanlint.batch import Judge, Repository, Row
from tfnanlint.scan.inputs import SUFFIXES, Columns
from tfnanlint.scan.schema import files_schema, findings_schema, tables


@lru_cache(maxsize=1)
def rows_schema() -> Any:
    """The schema of both tables in one: a row has either a `finding` or a `file`."""
    import pyarrow as pa

    both = (("finding", findings_schema()), ("file", files_schema()))
    return pa.schema([(name, pa.struct(list(schema))) for name, schema in both])


class Lint:
    """Lints the repositories in an Arrow table of files. It can be pickled, and keeps the rules
    loaded between two tables.

    All rows of a repository have to be in one table.
    """

    def __init__(
        self, settings: Mapping[str, Any] | None = None, columns: Columns = Columns()
    ) -> None:
        self._settings = dict(settings or {})
        self._columns = columns
        self._judge: Judge | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_judge": None}

    def __call__(self, table: Any) -> Any:
        """The `pyarrow.Table` of all rows, as `rows_schema`."""
        import pyarrow as pa

        if self._judge is None:
            self._judge = Judge(self._settings)
        rows: list[Row] = []
        for repository in self._repositories(table):
            rows += self._judge.rows(repository)
        findings, files = tables(rows)
        parts = []
        for name, own in (("finding", findings), ("file", files)):
            values = own.to_struct_array().combine_chunks() if own.num_rows else None
            columns = {
                field.name: values
                if field.name == name
                else pa.nulls(own.num_rows, type=field.type)
                for field in rows_schema()
            }
            if values is not None:
                parts.append(pa.table(columns, schema=rows_schema()))
        return pa.concat_tables(parts) if parts else rows_schema().empty_table()

    def _repositories(self, table: Any) -> list[Repository]:
        """The repositories of a table, by name; files without one are repositories of one."""
        columns = self._columns
        paths = table.column(columns.path).to_pylist()
        contents = table.column(columns.content).to_pylist()
        named = bool(columns.repository) and columns.repository in table.column_names
        names = table.column(columns.repository).to_pylist() if named else [""] * len(paths)
        found: dict[str, dict[str, bytes]] = {}
        loose: list[Repository] = []
        for name, path, data in zip(names, paths, contents):
            if path is None or not path.endswith(SUFFIXES):
                continue
            data = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data or b""
            if name:
                found.setdefault(name, {})[path] = data
            else:
                loose.append(Repository("", {path: data}))
        return [Repository(name, found[name]) for name in sorted(found)] + loose
