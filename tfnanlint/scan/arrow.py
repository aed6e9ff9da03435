"""Arrow tables of files in, an Arrow table of rows out: what engines that distribute work call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from tfnanlint.batch import Budget, Judge, Repository, Row
from tfnanlint.scan.collect import Columns, gathered
from tfnanlint.scan.parquet import source_rows
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

    All rows of a repository have to be in one table. Rows without one are loose files.
    """

    def __init__(
        self,
        settings: Mapping[str, Any] | None = None,
        columns: Columns = Columns(),
        budget: Budget = Budget(),
    ) -> None:
        self._settings = dict(settings or {})
        self._columns = columns
        self._budget = budget
        self._judge: Judge | None = None
        Judge(self._settings)  # wrong settings fail here, not in each task

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_judge": None}

    def __call__(self, table: Any) -> Any:
        """The `pyarrow.Table` of all rows, as `rows_schema`."""
        import pyarrow as pa

        if self._judge is None:
            self._judge = Judge(self._settings, self._budget)
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

    def batches(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The `pyarrow.RecordBatch`es of the rows of batches of loose files."""
        import pyarrow as pa

        for batch in batches:
            yield from self(pa.Table.from_batches([batch])).to_batches()

    def _repositories(self, table: Any) -> list[Repository]:
        """The repositories of a table, by name; files without one are repositories of one."""
        named: dict[str, list[tuple[str, bytes]]] = {}
        loose: list[Repository] = []
        for name, path, data in source_rows(table, self._columns):
            if name:
                named.setdefault(name, []).append((path, data))
            else:
                loose.append(Repository("", {path: data}))
        return [gathered(name, named[name]) for name in sorted(named)] + loose
