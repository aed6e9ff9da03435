"""tfnanlint on Spark: `lint` takes a DataFrame of files and gives one of findings and files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tfnanlint.batch import Budget
from tfnanlint.scan.arrow import Lint, rows_schema
from tfnanlint.scan.collect import Columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def lint(
    files: DataFrame,
    settings: Mapping[str, Any] | None = None,
    columns: Columns = Columns(),
    budget: Budget = Budget(),
) -> DataFrame:
    """The rows of all repositories: `finding` or `file` of each is a struct, the other is null.

        rows = lint(spark.read.parquet("files.parquet")).cache()
        findings = rows.where("finding is not null").select("finding.*")

    Needs Spark 4.0 or newer and pyarrow on the workers. The files of a repository meet in one task;
    files without a repository are checked where they are.
    """
    from pyspark.sql import functions
    from pyspark.sql.pandas.types import from_arrow_schema

    judge = Lint(settings, columns, budget)
    schema = from_arrow_schema(rows_schema())

    # Spark takes functions only, and reads their annotations: these have none that mislead it.
    def judged(table):  # type: ignore[no-untyped-def]
        return judge(table)

    def alone(batches):  # type: ignore[no-untyped-def]
        return judge.batches(batches)

    if columns.repository not in files.columns:
        return files.mapInArrow(alone, schema)
    name = functions.coalesce(files[columns.repository], functions.lit(""))
    named = files.where(name != "").groupBy(columns.repository).applyInArrow(judged, schema)
    return named.unionByName(files.where(name == "").mapInArrow(alone, schema))
