#!/usr/bin/env python3
"""What a scan of much code gives and costs: scale.py COMMAND FILES.parquet [...]

`make FILES.parquet IN... [--shard I/N]` writes the Python files and notebooks of all repositories in
the folders, or of one shard of them, into one Parquet file. They are read as `tfnanlint scan --each`
reads them: folders, archives, bare git.

`run FILES.parquet [--only WAY]... [--work DIR]` lints them in each way and compares the rows with
the first: `batch.lint`, `tfnanlint scan` with one and two processes, a scan that is killed three
times and resumed, Spark with two executors, Ray with two workers, and both with one that is killed
in the middle. It prints files a second, CPU seconds (of all processes) for a million lines of files
that name TensorFlow or Keras, and the memory of the largest processes; it ends with 1 when rows differ. `--in IN...` adds a way: the
scan of the folders (and the shard) that the file was made of, two processes.

`cost FILES.parquet` lints them in one process and prints which share of its CPU time each stage
takes, what 100 million files cost, what the largest repositories take and how long the last worker
of many needs, and the memory of the process over the repositories. It ends with 1 when the memory
grows: when the number of blocks that are alive after a repository, as a median over the second half
of the repositories, is a tenth more than over the first.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import hashlib
import heapq
import importlib.metadata
import itertools
import json
import os
import pathlib
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tfnanlint import batch
from tfnanlint.batch import FileRow, Judge, Row, lint
from tfnanlint.project import index
from tfnanlint.scan.inputs import load, references, shard_of
from tfnanlint.scan.run import Shard
from tfnanlint.scan.schema import tables

SCHEMA = pa.schema([("repository", pa.string()), ("path", pa.string()), ("content", pa.binary())])
GROUP = 500  # files of a row group
TICKS = os.sysconf("SC_CLK_TCK")
Rows = dict[str, list[str]]  # by kind of table: one digest a row, sorted


# The input


def make(out: str, folders: list[str], shard: Shard) -> None:
    """Write the files of the repositories of a shard of the folders."""
    rows: list[dict] = []
    count: Counter[str] = Counter()
    with pq.ParquetWriter(out, SCHEMA, compression="zstd") as writer:
        for reference in references(folders, each=True):
            if shard_of(reference, shard.count) != shard.index:
                continue
            for repository in load(reference):
                count["repositories"] += bool(repository.files)
                for path in sorted(repository.files):
                    data = repository.files[path]
                    # Parquet knows no names that are not Unicode: they are left out of the measure
                    path = path.encode("utf-8", "replace").decode()
                    rows.append({"repository": repository.name, "path": path, "content": data})
            while len(rows) >= GROUP:
                writer.write_table(pa.Table.from_pylist(rows[:GROUP], SCHEMA))
                count["files"] += GROUP
                rows = rows[GROUP:]
        if rows:
            writer.write_table(pa.Table.from_pylist(rows, SCHEMA))
            count["files"] += len(rows)
    print(f"{count['files']:,} files of {count['repositories']:,} repositories")


# What runs


class Watch:
    """CPU seconds and the largest memory of all processes below this one, as they come and go."""

    def __init__(self) -> None:
        self._cpu: dict[tuple[int, str], float] = {}
        self.memory: Counter[str] = Counter()  # MiB, by name of the program
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()

    @property
    def cpu(self) -> float:
        """CPU seconds so far."""
        return sum(self._cpu.values())

    def _look(self) -> None:
        while not self._ended.wait(0.25):
            for process in descendants(os.getpid()):
                with contextlib.suppress(OSError, IndexError, ValueError):
                    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2]
                    ticks = sum(map(int, fields.split()[11:13]))
                    key = (process, fields.split()[19])  # a number may be given twice
                    self._cpu[key] = ticks / TICKS
                    status = pathlib.Path(f"/proc/{process}/status").read_text()
                    peak = int(status.split("VmHWM:")[1].split()[0]) >> 10
                    name = status.split("\n")[0].split("\t")[1]
                    self.memory[name] = max(self.memory[name], peak)


def descendants(parent: int) -> list[int]:
    """The processes below one, of all generations."""
    children: dict[int, list[int]] = defaultdict(list)
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            children[int(path.read_text().rpartition(")")[2].split()[1])].append(
                int(path.parent.name)
            )
    below, waiting = [], [parent]
    while waiting:
        waiting = [child for process in waiting for child in children[process]]
        below += waiting
    return below


def kill_one(word: str, after: float, told: str) -> threading.Thread:
    """Kill -9, once, one of the processes below this one whose command line has a word; the file
    `told` says which.
    """

    def kill() -> None:
        time.sleep(after)
        while True:
            for process in descendants(os.getpid()):
                with contextlib.suppress(OSError):
                    line = pathlib.Path(f"/proc/{process}/cmdline").read_bytes()
                    ticks = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2]
                    busy = sum(map(int, ticks.split()[11:13])) / TICKS
                    if word.encode() in line and busy > after / 4:
                        os.kill(process, signal.SIGKILL)
                        text = f"killed {process} ({word}) after {busy:.0f} CPU seconds"
                        pathlib.Path(told).write_text(text)
                        return
            time.sleep(0.2)

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    return thread


def digests(findings: pa.Table, files: pa.Table) -> Rows:
    """What two runs have to agree in: every column but the time that a file took."""
    both = {"findings": findings, "files": files.drop_columns(["seconds"])}
    return {
        name: sorted(
            hashlib.blake2b(json.dumps(row, sort_keys=True).encode(), digest_size=12).hexdigest()
            for row in each.to_pylist()
        )
        for name, each in both.items()
    }


def by_batch(path: str, work: str) -> Rows:
    """One process, one repository after the other."""
    repositories = (each for reference in references([path]) for each in load(reference))
    return digests(*tables(list(lint(repositories))))


def _scanned(out: str) -> Rows:
    return digests(pq.read_table(f"{out}/findings"), pq.read_table(f"{out}/files"))


def by_folders(path: str, work: str, folders: list[str], shard: str) -> Rows:
    """The command line on what the file was made of: what has come since does not count, nor does
    what a repository lacks, for which there is no row in the file.
    """
    by_scan(folders, work, 2, "--each", "--shard", shard)
    names = pq.read_table(path, columns=["repository"]).column(0).unique()
    both = []
    for kind in ("findings", "files"):
        table = pq.read_table(f"{work}/scan2{len(folders)}/{kind}")
        both.append(table.filter(pc.is_in(table.column("repository"), names)))
    missing = pc.equal(both[1].column("reason"), "the object is missing")
    return digests(both[0], both[1].filter(pc.invert(missing)))


def _scan(inputs: list[str], out: str, *flags: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "tfnanlint", "scan", *inputs, "--out", out, "--quiet", *flags]
    return subprocess.Popen(command, start_new_session=True)


def by_scan(inputs: list[str], work: str, jobs: int = 1, *flags: str) -> Rows:
    """The command line with some processes."""
    out = f"{work}/scan{jobs}{len(inputs)}"
    shutil.rmtree(out, ignore_errors=True)
    if _scan(inputs, out, "--jobs", str(jobs), *flags).wait():
        raise SystemExit("the scan failed")
    return _scanned(out)


def by_killed_scan(path: str, work: str) -> Rows:
    """The command line, killed with all its processes after 1, 3 and 5 parts, and resumed."""
    out = f"{work}/killed"
    shutil.rmtree(out, ignore_errors=True)
    flags = ("--jobs", "2", "--resume", "--part-size", "10")
    for parts in (1, 3, 5):
        process = _scan([path], out, *flags)
        while process.poll() is None:
            if len(list(pathlib.Path(out, "checkpoints").glob("part-*.json"))) >= parts:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                print(f"  killed with {parts} or more parts complete", flush=True)
                break
            time.sleep(0.2)
    if _scan([path], out, *flags).wait():
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
        .config("spark.sql.shuffle.partitions", "64")
        .config("spark.driver.memory", "3g")
        .config("spark.driver.maxResultSize", "2g")
        .getOrCreate()
    )
    if kill:
        kill_one("CoarseGrainedExecutorBackend", 20.0, f"{work}/told")
    try:
        return _split(spark_lint(spark.read.parquet(path)).toArrow())
    finally:
        spark.stop()


def by_ray(path: str, work: str, kill: bool = False) -> Rows:
    """Two workers of Ray on this machine; with `kill` one of them dies on the way."""
    import ray

    from tfnanlint.scan.ray import lint as ray_lint

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    if kill:
        kill_one("ray::", 20.0, f"{work}/told")
    try:
        rows = ray_lint(ray.data.read_parquet(path))
        return _split(pa.concat_tables(ray.get(rows.to_arrow_refs())))
    finally:
        ray.shutdown()


WAYS: dict[str, Callable[[str, str], Rows]] = {
    "batch": by_batch,
    "scan": lambda path, work: by_scan([path], work),
    "scan-2": lambda path, work: by_scan([path], work, 2),
    "scan-killed": by_killed_scan,
    "spark": by_spark,
    "spark-killed": lambda path, work: by_spark(path, work, kill=True),
    "ray": by_ray,
    "ray-killed": lambda path, work: by_ray(path, work, kill=True),
}


def run(path: str, names: list[str], work: str, folders: list[str], shard: str) -> int:
    """Run each way in a process of its own and compare the rows."""
    checked = _print_input(path)
    results: dict[str, Rows] = {}
    for name in [*names, *(["folders"] if folders else [])]:
        told = pathlib.Path(work, "told")
        told.unlink(missing_ok=True)
        start = time.perf_counter()
        command = [sys.executable, __file__, "run", path, "--way", name, "--work", work]
        command += ["--shard", shard, *(["--in", *folders] if folders else [])]
        with Watch() as watch, open(f"{work}/{name}.log", "w") as log:  # engines say much
            subprocess.run(command, check=True, stderr=log)
        seconds = time.perf_counter() - start
        results[name] = json.loads(pathlib.Path(work, f"{name}.json").read_text())
        findings, files = (len(results[name][kind]) for kind in ("findings", "files"))
        memory = ", ".join(f"{name} {peak}" for name, peak in watch.memory.most_common(3))
        print(
            f"{name:12} {findings} findings, {files} files, {seconds:.0f} s, "
            f"{files / seconds:.0f} files/s, {watch.cpu:.0f} CPU s, "
            f"{watch.cpu / max(checked, 1) * 1e6:.0f} for a million checked lines; MiB: {memory}"
            + (f"; {told.read_text()}" if told.exists() else ""),
            flush=True,
        )
    first = next(iter(results))
    different = [name for name in results if results[name] != results[first]]
    print("all rows equal" if not different else f"different rows: {', '.join(different)}")
    return 1 if different else 0


def _print_input(path: str) -> int:
    """How many lines are in files that name TensorFlow or Keras; printed, with how many files."""
    file = pq.ParquetFile(path)
    lines: Counter[bool] = Counter()
    files: Counter[bool] = Counter()
    for group in range(file.num_row_groups):
        for data in file.read_row_group(group, ["content"]).column(0).to_pylist():
            kind = batch.relevant(data)
            files[kind] += 1
            lines[kind] += data.count(b"\n")
    print(
        f"{machine()}\n{files.total():,} files, {lines.total():,} lines; {files[True]:,} files "
        f"({100 * files[True] / max(files.total(), 1):.1f} %) with {lines[True]:,} lines name "
        "TensorFlow or Keras",
        flush=True,
    )
    return lines[True]


def machine() -> str:
    """The machine and the versions that figures belong to."""
    cpu = next(
        line.partition(":")[2].strip()
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    )
    versions = ", ".join(
        f"{name} {importlib.metadata.version(name)}" for name in ("pyarrow", "pyspark", "ray")
    )
    return f"{os.cpu_count()} x {cpu}, Python {platform.python_version()}, {versions}"


# What it costs


STAGES = (
    "start",
    "decode",
    "prefilter",
    "analysis",
    "rows of findings",
    "rows of files",
    "tables",
    "rest",
)
CHECKED = ("analysis", "rows of findings")  # what only files cost that name TensorFlow or Keras


class Clock:
    """CPU seconds by stage; a stage that begins in another one is not counted there."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self._stack: list[str] = []
        self._since = time.process_time()

    def turn(self, stage: str | None) -> None:
        """Begin with a stage, or with None go back to the one before."""
        now = time.process_time()
        self.seconds[self._stack[-1] if self._stack else "rest"] += now - self._since
        self._since = now
        if stage is None:
            self._stack.pop()
        else:
            self._stack.append(stage)

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """`with clock.stage("decode"):`"""
        self.turn(name)
        try:
            yield
        finally:
            self.turn(None)

    def timed(self, name: str, function: Callable) -> Callable:
        """A function whose time is that of a stage."""

        def timed(*arguments, **options):
            with self.stage(name):
                return function(*arguments, **options)

        return timed


def cost(path: str) -> int:
    """Print where the CPU time and the memory of one process go; 1 when the memory grows."""
    clock = Clock()
    batch.relevant = clock.timed("prefilter", batch.relevant)
    batch.check = clock.timed("analysis", batch.check)
    batch.described = clock.timed("rows of findings", batch.described)
    index.forget = clock.timed("analysis", index.forget)  # of the trees of a repository
    with clock.stage("start"):
        judge, listed = Judge(), references([path])
    kinds: dict[str, Counter[str]] = {"relevant": Counter(), "irrelevant": Counter()}
    repositories: dict[str, tuple[float, int]] = {}  # CPU seconds, files
    memory: list[Memory] = []
    wall = time.perf_counter()
    clock.turn("rest")
    for part in _parts(listed, 10):
        rows: list[Row] = []
        for reference in part:
            start, before = time.process_time(), len(rows)
            with clock.stage("decode"):
                loaded = list(load(reference))
            with clock.stage("rows of files"):
                for repository in loaded:
                    rows += judge.rows(repository)
            del loaded
            files = [row for row in rows[before:] if isinstance(row, FileRow)]
            repositories[reference.name] = time.process_time() - start, len(files)
            for row in files:
                kind = kinds["irrelevant" if row.status == "irrelevant" else "relevant"]
                kind.update(files=1, lines=row.lines, bytes=row.bytes)
        with clock.stage("tables"):
            for table in tables(rows):
                pq.write_table(table, pa.BufferOutputStream(), compression="zstd")
        with clock.stage("measure"):
            del rows, files, table
            gc.collect()
            memory.append(Memory(len(repositories), *_resident(), sys.getallocatedblocks()))
    clock.turn(None)
    del clock.seconds["measure"]
    print(
        f"{machine()}\n{sum(clock.seconds.values()):.1f} CPU s, {time.perf_counter() - wall:.0f} s"
    )
    _print_stages(clock.seconds, kinds)
    _print_projection(clock.seconds, kinds)
    _print_skew(repositories)
    return _print_memory(memory)


def _print_stages(seconds: Counter[str], kinds: dict[str, Counter[str]]) -> None:
    files = sum(kind["files"] for kind in kinds.values())
    for name, kind in kinds.items():
        print(
            f"  {name}: {kind['files']:,} files ({100 * kind['files'] / files:.1f} %), "
            f"{kind['lines']:,} lines, {kind['bytes'] / 1e6:,.0f} MB"
        )
    total = sum(seconds.values())
    for stage in STAGES:
        share = f"{seconds[stage]:8.2f} CPU s  {100 * seconds[stage] / total:5.1f} %"
        print(f"  {stage:16} {share}  {1e6 * seconds[stage] / files:8.0f} us a file")


def _parts(items: list, size: int) -> Iterator[list]:
    iterator = iter(items)
    while part := list(itertools.islice(iterator, size)):
        yield part


def _print_projection(seconds: Counter[str], kinds: dict[str, Counter[str]]) -> None:
    """What 100 million files cost: what each costs, and what those do that name TensorFlow or
    Keras.
    """
    files = sum(kind["files"] for kind in kinds.values())
    each = (
        sum(spent for stage, spent in seconds.items() if stage not in (*CHECKED, "start")) / files
    )
    checked = sum(seconds[stage] for stage in CHECKED) / max(kinds["relevant"]["files"], 1)
    lines = sum(seconds[stage] for stage in CHECKED) / max(kinds["relevant"]["lines"], 1)
    print(
        f"a file costs {1e6 * each:.0f} us of CPU, one that is checked {1e3 * checked:.1f} ms more "
        f"({1e6 * lines:.0f} CPU s for a million lines)"
    )
    for share in (kinds["relevant"]["files"] / files, 0.05, 0.01, 0.001):
        every, analysis = 1e8 * each / 3600, 1e8 * share * checked / 3600
        print(
            f"  100 million files, {100 * share:.1f} % of them checked: {every + analysis:,.0f} CPU "
            f"hours, {100 * analysis / (every + analysis):.0f} % of them in checks"
        )


def _print_skew(repositories: dict[str, tuple[float, int]]) -> None:
    seconds = {name: spent for name, (spent, _) in repositories.items()}
    total = sum(seconds.values())
    largest = sorted(seconds, key=seconds.__getitem__, reverse=True)
    for name in largest[:3]:
        share = f"{seconds[name]:.1f} CPU s, {100 * seconds[name] / total:.1f} %"
        print(f"  {name}: {repositories[name][1]:,} files, {share}")
    for workers in (2, 8, 64):
        ends = [_last(workers, [seconds[name] for name in order]) for order in (seconds, largest)]
        listed, by_size = (end * workers / total for end in ends)
        print(
            f"  {workers} workers: the last ends after {listed:.2f} of an even share, "
            f"{by_size:.2f} with the largest repositories first"
        )


def _last(workers: int, tasks: list[float]) -> float:
    """When the last worker ends, if each takes the next task as soon as it is free."""
    free = [0.0] * workers
    for seconds in tasks:
        heapq.heapreplace(free, free[0] + seconds)
    return max(free)


class Memory(NamedTuple):
    """The memory of a process after some repositories."""

    repositories: int
    resident: int  # MiB
    highest: int  # MiB
    blocks: int  # of Python objects that are alive


def _print_memory(memory: list[Memory]) -> int:
    """The memory over the repositories; 1 when it grows.

    What is resident rises to what the largest repository needs, and pools of freed objects stay. A
    leak shows in the number of blocks that are alive.
    """
    for sample in memory:
        print(
            f"  {sample.repositories:4} repositories: {sample.resident} MiB, "
            f"{sample.blocks:,} blocks alive"
        )
    half = len(memory) // 2
    if half == 0:
        print("too few repositories to tell whether the memory grows: ten are one sample")
        return 0
    first, second = (
        statistics.median(sample.blocks for sample in part)
        for part in (memory[:half], memory[half:])
    )
    print(
        f"{memory[-1].repositories} repositories: highest {memory[-1].highest} MiB; blocks alive, "
        f"median of the first half {first:,.0f}, of the second {second:,.0f}"
    )
    return 1 if second > 1.1 * first else 0


def _resident() -> tuple[int, int]:
    """The memory of this process in MiB, now and at its highest."""
    status = pathlib.Path("/proc/self/status").read_text()
    now, peak = (int(status.split(f"{key}:")[1].split()[0]) >> 10 for key in ("VmRSS", "VmHWM"))
    return now, peak


def main() -> int:
    """Carry out the command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("make", "run", "cost"))
    parser.add_argument("file")
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--only", action="append", choices=WAYS)
    parser.add_argument("--in", dest="inputs", nargs="*", default=[])
    parser.add_argument("--shard", default="1/1", help="of the folders, as of a scan")
    parser.add_argument("--work", default="/tmp/scale")
    parser.add_argument("--way", choices=[*WAYS, "folders"], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    os.makedirs(arguments.work, exist_ok=True)
    if arguments.way:
        way = WAYS.get(arguments.way)
        if way is not None:
            rows = way(arguments.file, arguments.work)
        else:
            rows = by_folders(arguments.file, arguments.work, arguments.inputs, arguments.shard)
        pathlib.Path(arguments.work, f"{arguments.way}.json").write_text(json.dumps(rows))
        return 0
    if arguments.command == "make":
        make(arguments.file, arguments.folders, Shard.parsed(arguments.shard))
    elif arguments.command == "cost":
        return cost(arguments.file)
    else:
        names = arguments.only or list(WAYS)
        return run(arguments.file, names, arguments.work, arguments.inputs, arguments.shard)
    return 0


if __name__ == "__main__":
    sys.exit(main())
