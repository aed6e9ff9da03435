"""The adapters for Spark and Ray give the rows that `batch.lint` gives, on clusters of this machine."""

from __future__ import annotations

import json
import os
import shutil
import sys
from dataclasses import asdict

import pytest

pa = pytest.importorskip("pyarrow", reason="the extra `scan` is not installed")
import pyarrow.parquet as pq  # noqa: E402

from tfnanlint.batch import FindingRow, Repository, lint  # noqa: E402
from tfnanlint.config.keys import ConfigError  # noqa: E402
from tfnanlint.scan.arrow import Lint  # noqa: E402
from tfnanlint.scan.collect import Columns  # noqa: E402

HELPER = b"import tensorflow as tf\n\n\ndef f(x):\n    return tf.math.log(x)\n"
CALLER = b"import tensorflow as tf\nfrom helper import f\n\ny = f(tf.nn.softmax(z))\n"
REPOSITORIES = [
    Repository(f"r{number}", {"helper.py": HELPER, "use.py": CALLER, "plain.py": b"x = 1\n"})
    for number in range(8)
]
LOOSE = [Repository("", {"same.py": CALLER}), Repository("", {"same.py": HELPER})]


def table(repositories):
    """The files of repositories, scattered as an engine may hold them."""
    rows = [
        {"repository": each.name or None, "path": path, "content": data}
        for each in repositories
        for path, data in each.files.items()
    ]
    return pa.Table.from_pylist(rows[::2] + rows[1::2])


def shown(kind, row):
    row = {name: value for name, value in row.items() if name != "seconds"}
    return kind, json.dumps(row, sort_keys=True)


def expected(repositories):
    rows = lint(repositories)
    return sorted(
        shown("finding" if isinstance(row, FindingRow) else "file", asdict(row)) for row in rows
    )


def answered(rows):
    return sorted(
        shown(kind, row[kind]) for row in rows.to_pylist() for kind in row if row[kind] is not None
    )


@pytest.fixture(scope="module")
def spark():
    sql = pytest.importorskip("pyspark.sql", reason="the extra `spark` is not installed")
    if shutil.which("java") is None:
        pytest.skip("there is no Java")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        sql.SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.fixture(scope="module")
def ray():
    ray = pytest.importorskip("ray", reason="the extra `ray` is not installed")
    pytest.importorskip("ray.data")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield ray
    ray.shutdown()


def by_spark(spark, path, **options):
    from tfnanlint.scan.spark import lint as spark_lint

    return spark_lint(spark.read.parquet(str(path)), **options).toArrow()


def by_ray(ray, path, **options):
    from tfnanlint.scan.ray import lint as ray_lint

    rows = ray_lint(ray.data.read_parquet(str(path)), **options)
    return pa.concat_tables(ray.get(rows.to_arrow_refs()))


ENGINES = [
    pytest.param("spark", by_spark, marks=pytest.mark.slow),
    pytest.param("ray", by_ray, marks=pytest.mark.slow),
]


@pytest.mark.parametrize("name, way", ENGINES)
def test_rows_are_those_of_one_machine(name, way, request, tmp_path):
    engine = request.getfixturevalue(name)
    pq.write_table(table(REPOSITORIES + LOOSE), tmp_path / "f.parquet", row_group_size=5)
    rows = way(engine, tmp_path / "f.parquet")
    assert answered(rows) == expected(REPOSITORIES + LOOSE)


@pytest.mark.parametrize("name, way", ENGINES)
def test_names_of_columns_and_settings_are_taken(name, way, request, tmp_path):
    engine = request.getfixturevalue(name)
    files = table(LOOSE).select(["path", "content"]).rename_columns(["name", "text"])
    pq.write_table(files, tmp_path / "f.parquet")
    columns, settings = Columns("", "name", "text"), {"select": ["TFN1"]}
    rows = way(engine, tmp_path / "f.parquet", columns=columns, settings=settings)
    assert answered(rows) == sorted(
        shown("finding" if isinstance(row, FindingRow) else "file", asdict(row))
        for row in lint(LOOSE, settings)
    )


def test_tables_in_and_out():
    assert answered(Lint()(table(REPOSITORIES + LOOSE))) == expected(REPOSITORIES + LOOSE)
    batches = table(LOOSE).to_batches(max_chunksize=1)
    rows = pa.Table.from_batches(Lint().batches(batches))
    assert answered(rows) == expected(LOOSE)
    assert Lint()(table(REPOSITORIES).slice(0, 0)).num_rows == 0


def test_wrong_settings_fail_at_once():
    with pytest.raises(ConfigError):
        Lint({"selekt": []})
