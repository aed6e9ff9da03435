"""tfnanlint on Ray: `lint` takes a Dataset of files and gives one of findings and files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tfnanlint.scan.arrow import Lint
from tfnanlint.scan.inputs import Columns

if TYPE_CHECKING:
    from ray.data import Dataset


def lint(
    files: Dataset, settings: Mapping[str, Any] | None = None, columns: Columns = Columns()
) -> Dataset:
    """The rows of all repositories: `finding` or `file` of each is a struct, the other is null.

        rows = lint(ray.data.read_parquet("files.parquet"))

    The files of a repository meet in one task.
    """
    judge = Lint(settings, columns)

    def judged(table: Any) -> Any:
        return judge(table)

    return files.groupby(columns.repository).map_groups(judged, batch_format="pyarrow")
