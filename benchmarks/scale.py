#!/usr/bin/env python3
"""Whether a scan gives the same rows however it is run: scale.py make|run FILES.parquet [DIR...]

`make FILES.parquet DIR...` writes all Python files and notebooks of the folders into one Parquet
file; each folder directly in a DIR is a repository.

`run FILES.parquet [--only NAME]... [--work DIR]` lints them by `batch.lint`, by `tfnanlint scan`
with one and two processes, by a scan that is killed three times and resumed, by Spark with two
executors, by Ray with two workers, and by Spark with an executor that is killed in the middle. It
prints rows, seconds, rows a second, CPU seconds for a million lines and the memory of the largest
process, and ends with 1 when rows differ.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pyarrow as pa
import pyarrow.parquet as pq

from tfnanlint.batch import lint
from tfnanlint.scan.inputs import load, references
from tfnanlint.scan.schema import tables

SUFFIXES = (".py", ".ipynb")
SCHEMA = pa.schema([("repository", pa.string()), ("path", pa.string()), ("content", pa.binary())])
GROUP = 500  # files of a row group
Rows = dict[str, list[str]]  # by kind of table: one digest a row, sorted


def make(out: str, folders: list[str]) -> None:
    """Write the files of all repositories below the folders."""
    rows: list[dict] = []
    with pq.ParquetWriter(out, SCHEMA, compression="zstd") as writer:
        for folder in folders:
            for repository in sorted(pathlib.Path(folder).iterdir()):
                if repository.is_dir():
                    rows += _files(repository)
                while len(rows) >= GROUP:
                    writer.write_table(pa.Table.from_pylist(rows[:GROUP], SCHEMA))
                    rows = rows[GROUP:]
        if rows:
            writer.write_table(pa.Table.from_pylist(rows, SCHEMA))


def _files(repository: pathlib.Path) -> list[dict]:
    paths = (path for path in sorted(repository.rglob("*")) if path.suffix in SUFFIXES)
    return [
        {
            "repository": f"{repository.parent.name}/{repository.name}",
            "path": str(path.relative_to(repository)),
            "content": path.read_bytes(),
        }
        for path in paths
        if path.is_file() and not path.is_symlink()
    ]


def digests(findings: pa.Table, files: pa.Table) -> Rows:
    """What two runs have to agree in: every column but the time that a file took."""
    both = {"findings": findings, "files": files.drop_columns(["seconds"])}
    return {
        name: sorted(
            hashlib.blake2b(json.dumps(row, sort_keys=True).encode(), digest_size=12).hexdigest()
            for row in table.to_pylist()
        )
        for name, table in both.items()
    }


def by_batch(path: str, work: str) -> Rows:
    """One process, one repository after the other."""
    repositories = (each for reference in references([path]) for each in load(reference))
    return digests(*tables(list(lint(repositories))))


def _scanned(out: str) -> Rows:
    return digests(pq.read_table(f"{out}/findings"), pq.read_table(f"{out}/files"))


def _scan(path: str, out: str, *flags: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "tfnanlint", "scan", path, "--out", out, "--quiet", *flags]
    return subprocess.Popen(command, start_new_session=True)


def by_scan(path: str, work: str, jobs: int = 1) -> Rows:
    """The command line with some processes."""
    out = f"{work}/scan{jobs}"
    shutil.rmtree(out, ignore_errors=True)
    if _scan(path, out, "--jobs", str(jobs)).wait():
        raise SystemExit("the scan failed")
    return _scanned(out)


def by_killed_scan(path: str, work: str) -> Rows:
    """The command line, killed whenever two more parts are complete, and resumed."""
    out = f"{work}/killed"
    shutil.rmtree(out, ignore_errors=True)
    for kill in range(1, 4):
        process = _scan(path, out, "--jobs", "2", "--resume")
        while process.poll() is None:
            if len(list(pathlib.Path(out, "checkpoints").glob("*.json"))) >= 2 * kill:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                break
            time.sleep(0.2)
    if _scan(path, out, "--jobs", "2", "--resume").wait():
        raise SystemExit("the resumed scan failed")
    return _scanned(out)


def _split(table: pa.Table) -> Rows:
    """The two tables in the rows of an adapter."""
    both = []
    for name in ("finding", "file"):
        column = table.column(name).combine_chunks()
        both.append(pa.Table.from_struct_array(column.filter(column.is_valid())))
    return digests(*both)


def by_spark(path: str, work: str, kill: bool = False) -> Rows:
    """Two executors of one core each on this machine; with `kill` one of them dies on the way."""
    from pyspark.sql import SparkSession

    from tfnanlint.scan.spark import lint as spark_lint

    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (
        SparkSession.builder.master("local-cluster[2,1,2048]")
        .config("spark.executor.memory", "2g")
        .config("spark.sql.shuffle.partitions", "32")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "0")
        .getOrCreate()
    )
    killer = None
    if kill:
        script = "sleep 20; pkill -9 -o -f CoarseGrainedExecutorBackend"
        killer = subprocess.Popen(["sh", "-c", script])
    try:
        return _split(spark_lint(spark.read.parquet(path)).toArrow())
    finally:
        spark.stop()
        if killer is not None:
            killer.wait()


def by_ray(path: str, work: str) -> Rows:
    """Two workers of Ray on this machine."""
    import ray

    from tfnanlint.scan.ray import lint as ray_lint

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        rows = ray_lint(ray.data.read_parquet(path))
        return _split(pa.concat_tables(ray.get(rows.to_arrow_refs())))
    finally:
        ray.shutdown()


WAYS: dict[str, Callable[[str, str], Rows]] = {
    "batch": by_batch,
    "scan": by_scan,
    "scan-2": lambda path, work: by_scan(path, work, 2),
    "killed": by_killed_scan,
    "spark": by_spark,
    "spark-killed": lambda path, work: by_spark(path, work, kill=True),
    "ray": by_ray,
}


def run(path: str, names: list[str], work: str) -> int:
    """Run each way in a process of its own and compare the rows."""
    file = pq.ParquetFile(path)
    lines = sum(
        data.count(b"\n")
        for group in range(file.num_row_groups)
        for data in file.read_row_group(group, ["content"]).column(0).to_pylist()
    )
    print(f"{file.metadata.num_rows} files, {lines} lines")
    results: dict[str, Rows] = {}
    for name in names:
        start = time.perf_counter()
        command = [sys.executable, __file__, "run", path, "--way", name, "--work", work]
        subprocess.run(command, check=True)
        seconds = time.perf_counter() - start
        answer = json.loads(pathlib.Path(work, f"{name}.json").read_text())
        results[name] = answer["rows"]
        found, files = (len(answer["rows"][kind]) for kind in ("findings", "files"))
        print(
            f"{name:14} {found} findings, {files} files, {seconds:.0f} s, {files / seconds:.1f} "
            f"files/s, {answer['cpu'] / max(lines, 1) * 1e6:.0f} CPU s per million lines, "
            f"{answer['memory'] >> 10} MiB",
            flush=True,
        )
    first = results[names[0]]
    different = [name for name in names if results[name] != first]
    print("all rows equal" if not different else f"different rows: {', '.join(different)}")
    return 1 if different else 0


def main() -> int:
    """Carry out the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=("make", "run"))
    parser.add_argument("file")
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--only", action="append", choices=WAYS)
    parser.add_argument("--work", default="/tmp/scale")
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    os.makedirs(arguments.work, exist_ok=True)
    if arguments.command == "make":
        make(arguments.file, arguments.folders)
        return 0
    if not arguments.way:
        return run(arguments.file, arguments.only or list(WAYS), arguments.work)
    rows = WAYS[arguments.way](arguments.file, arguments.work)
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    answer = {
        "rows": rows,
        "cpu": sum(one.ru_utime + one.ru_stime for one in usage),
        "memory": max(one.ru_maxrss for one in usage),
    }
    pathlib.Path(arguments.work, f"{arguments.way}.json").write_text(json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main())
