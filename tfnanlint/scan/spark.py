"""tfnanlint on Spark: `lint` takes a DataFrame of files and gives one of findings and files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tfnanlint.scan.arrow import Lint, rows_schema
from tfnanlint.scan.inputs import Columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def lint(
    files: DataFrame, settings: Mapping[str, Any] | None = None, columns: Columns = Columns()
) -> DataFrame:
    """The rows of all repositories: `finding` or `file` of each is a struct, the other is null.

        rows = lint(spark.read.parquet("files.parquet")).cache()
        findings = rows.where("finding is not null").select("finding.*")

    Needs Spark 4.0 or newer and pyarrow on the workers. The files of a repository meet in one task.
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    judge = Lint(settings, columns)

    # Spark takes functions only, and reads their annotations: this one has none that mislead it.
    def judged(table):  # type: ignore[no-untyped-def]
        return judge(table)

    return files.groupBy(columns.repository).applyInArrow(judged, from_arrow_schema(rows_schema()))
