"""tfnanlint on Ray: `lint` takes a Dataset of files and gives one of findings and files."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tfnanlint.batch import Budget
from tfnanlint.scan.arrow import Lint
from tfnanlint.scan.collect import Columns

if TYPE_CHECKING:
    from ray.data import Dataset

_KEY = "tfnanlint_repository"
_LOOSE = 1024  # groups of files without a repository


def lint(
    files: Dataset,
    settings: Mapping[str, Any] | None = None,
    columns: Columns = Columns(),
    budget: Budget = Budget(),
) -> Dataset:
    """The rows of all repositories: `finding` or `file` of each is a struct, the other is null.

        rows = lint(ray.data.read_parquet("files.parquet"))

    The files of a repository meet in one task; files without a repository are spread.
    """
    judge = Lint(settings, columns, budget)

    def judged(table: Any) -> Any:
        return judge(table)

    def keyed(table: Any) -> Any:
        import pyarrow as pa

        names = table.column(columns.repository).to_pylist()
        paths = table.column(columns.path).to_pylist()
        keys = [name or _group(path) for name, path in zip(names, paths)]
        return table.append_column(_KEY, pa.array(keys, pa.string()))

    if columns.repository not in files.columns():
        return files.map_batches(judged, batch_format="pyarrow")
    grouped = files.map_batches(keyed, batch_format="pyarrow").groupby(_KEY)
    return grouped.map_groups(judged, batch_format="pyarrow")


def _group(path: str | None) -> str:
    """The group of a loose file; no repository has a name with a zero byte."""
    return f"\0{zlib.crc32((path or '').encode('utf-8', 'surrogatepass')) % _LOOSE}"
