"""`tfnanlint scan` through its command line: inputs, parts, shards, and what survives."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import tarfile
import time
import zipfile

import pytest

pa = pytest.importorskip("pyarrow", reason="the extra `scan` is not installed")
import pyarrow.parquet as pq  # noqa: E402

from tfnanlint import batch  # noqa: E402
from tfnanlint.batch import Budget, FileRow  # noqa: E402
from tfnanlint.scan import collect, inputs, pool, run  # noqa: E402
from tfnanlint.scan.inputs import Reference, references  # noqa: E402

RISKY = b"import tensorflow as tf\n\n\ndef loss(z):\n    return tf.math.log(tf.nn.softmax(z))\n"
COMMAND = [sys.executable, "-m", "tfnanlint", "scan"]


def scan(*arguments, **options):
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=300, **options
    )


def rows(out):
    """The findings and the files of a scan, without the times."""
    findings = pq.read_table(out / "findings").to_pylist()
    files = pq.read_table(out / "files").drop_columns(["seconds"]).to_pylist()
    return sorted(map(repr, findings)), sorted(map(repr, files))


@pytest.fixture
def folder(tmp_path):
    """A folder of four repositories."""
    for name in "abcd":
        (tmp_path / "code" / name / "pkg").mkdir(parents=True)
        (tmp_path / "code" / name / "pkg" / "loss.py").write_bytes(
            RISKY + name.encode() + b" = 1\n"
        )
        (tmp_path / "code" / name / "plain.py").write_text("print(1)\n")
    return tmp_path / "code"


def test_a_folder_of_repositories(folder, tmp_path):
    done = scan(folder, "--each", "--out", tmp_path / "out", "--jobs", 2)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Repositories: 4. Python files and notebooks: 8" in done.stdout
    table = pq.read_table(tmp_path / "out" / "findings")
    assert table.column("repository").to_pylist() == ["a", "b", "c", "d"]
    assert set(table.column("code").to_pylist()) == {"TFN301"}
    assert table.schema.metadata[b"tfnanlint.schema_version"] == b"1"
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["files"] == {"checked": 4, "irrelevant": 4}
    assert "http:" not in (tmp_path / "out" / "summary.html").read_text()


@pytest.mark.slow
def test_every_kind_of_input_gives_the_same_rows(folder, tmp_path):
    bare = tmp_path / "a.git"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(folder / "a")]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run([*git, *command], check=True)
    subprocess.run(["git", "clone", "-q", "--bare", str(folder / "a"), str(bare)], check=True)
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for path in (folder / "a").rglob("*.py"):
            archive.write(path, path.relative_to(folder / "a"))
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as archive:
        archive.add(folder / "a" / "pkg", "pkg")
        archive.add(folder / "a" / "plain.py", "plain.py")
    listed = [(path, path.read_bytes()) for path in sorted((folder / "a").rglob("*.py"))]
    names = [str(path.relative_to(folder / "a")) for path, _ in listed]
    table = {"repo": ["a"] * 2, "name": names, "code": [data for _, data in listed]}
    pq.write_table(pa.table(table), tmp_path / "a.parquet")
    columns = ["--repository-column", "repo", "--path-column", "name", "--content-column", "code"]
    results = []
    for each in ("code/a", "a.git", "a.zip", "a.tar.gz", "a.parquet"):
        out = tmp_path / f"out-{each.replace('/', '-')}"
        done = scan(tmp_path / each, "--out", out, *(columns if each == "a.parquet" else ()))
        assert done.returncode == 0, done.stderr
        found, files = rows(out)
        name = each.split("/")[-1]
        results.append([row.replace(f"'{name}'", "'a'") for row in found + files])
    assert len(results[0]) == 3
    assert all(result == results[0] for result in results)


def test_shards_together_are_the_whole(folder, tmp_path):
    scan(folder, "--each", "--out", tmp_path / "whole")
    for shard in ("1/3", "2/3", "3/3"):
        assert scan(folder, "--each", "--out", tmp_path / "parts", "--shard", shard).returncode == 0
    assert rows(tmp_path / "parts") == rows(tmp_path / "whole")


@pytest.mark.slow
def test_a_killed_scan_goes_on_and_ends_with_the_same_rows(folder, tmp_path):
    scan(folder, "--each", "--out", tmp_path / "whole")
    command = [*COMMAND, str(folder), "--each", "--out", str(tmp_path / "out"), "--part-size", "1"]
    process = subprocess.Popen(command, start_new_session=True)
    while not list((tmp_path / "out" / "checkpoints").glob("*.json")):
        assert process.poll() is None or list((tmp_path / "out" / "checkpoints").glob("*.json"))
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*.parquet")}
    assert subprocess.run([*command, "--resume"], timeout=300).returncode == 0
    complete = [path for path in before if path.stat().st_mtime_ns == before[path]]
    assert complete and rows(tmp_path / "out") == rows(tmp_path / "whole")


def test_another_scan_is_not_written_over(folder, tmp_path):
    assert scan(folder, "--each", "--out", tmp_path / "out").returncode == 0
    again = scan(folder, "--each", "--out", tmp_path / "out")
    assert again.returncode == 2 and "go on with --resume" in again.stderr
    other = scan(folder, "--out", tmp_path / "out", "--resume", "--select", "TFN1")
    assert other.returncode == 2 and "holds another scan" in other.stderr


@pytest.mark.parametrize("name", ["broken.zip", "broken.tar.gz", "missing", "x.txt"])
def test_an_input_that_is_none_is_refused(name, tmp_path):
    if name != "missing":
        (tmp_path / name).write_bytes(b"PK\x03\x04 nothing")
    done = scan(tmp_path / name, "--out", tmp_path / "out")
    assert done.returncode == 2 and name in done.stderr and "Traceback" not in done.stderr


def test_an_archive_that_breaks_off_costs_itself(folder, tmp_path):
    with tarfile.open(tmp_path / "half.tar.gz", "w:gz") as archive:
        for number in range(200):
            info = tarfile.TarInfo(f"m{number}.py")
            data = os.urandom(2000)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    whole = (tmp_path / "half.tar.gz").read_bytes()
    (tmp_path / "half.tar.gz").write_bytes(whole[: len(whole) // 2])
    done = scan(tmp_path / "half.tar.gz", folder / "a", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "Not read: half.tar.gz" in done.stdout
    assert pq.read_table(tmp_path / "out" / "findings").num_rows == 1


def test_an_archive_that_unpacks_to_too_much_is_cut(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.py", b"#" * 5000)
        archive.writestr("b.py", RISKY)
    monkeypatch.setattr(collect, "MAX_FILE_BYTES", 1000)
    [repository] = inputs.load(Reference("zip", str(tmp_path / "bomb.zip"), "bomb"))
    assert list(repository.files) == ["b.py"] and list(repository.unread) == ["a.py"]


def reasons(rows):
    return {row.path: row.reason for row in rows if row.__class__ is FileRow and row.reason}


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.slow
def test_a_process_that_dies_or_hangs_while_it_reads_costs_one_repository(folder, monkeypatch):
    load = pool.load

    def hostile(reference):
        if reference.name == "b":
            os.kill(os.getpid(), signal.SIGKILL)
        if reference.name == "c":
            time.sleep(600)
        return load(reference)

    monkeypatch.setattr(pool, "load", hostile)  # the processes are forked
    monkeypatch.setattr(pool, "GRACE", 0.0)
    asked = list(enumerate(references([str(folder)], each=True)))
    orders = pool.Orders(budget=Budget(seconds=20.0), memory=0)
    outcomes = dict(pool.Pool(orders, 2).outcomes(asked))
    said = [reasons(outcomes[index]) for index, _ in asked]
    assert said[0] == said[3] == {}
    assert said[1] == {"": "the process that checked it died (SIGKILL)"}
    assert said[2] == {"": "stopped after more than 20 seconds"}


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.slow
def test_a_file_that_ends_its_process_costs_itself(tmp_path, monkeypatch):
    check = batch.check

    def hostile(path, data, policy):
        if b"deadly" in data:
            os.kill(os.getpid(), signal.SIGKILL)
        if b"endless" in data:
            time.sleep(600)
        return check(path, data, policy)

    monkeypatch.setattr(batch, "check", hostile)
    monkeypatch.setattr(pool, "GRACE", 0.0)
    texts = {"a": RISKY, "b": RISKY + b"# deadly\n", "c": RISKY + b"# endless\n", "d": RISKY}
    named = [("r", f"{name}.py", data) for name, data in texts.items()]
    loose = [("", "same.py", data) for data in texts.values()]
    names = ("repository", "path", "content")
    table = pa.table(dict(zip(names, map(list, zip(*named, *loose)))))
    pq.write_table(table, tmp_path / "f.parquet")
    asked = list(enumerate(references([str(tmp_path / "f.parquet")])))
    orders = pool.Orders(budget=Budget(seconds=5.0), memory=0)
    outcomes = dict(pool.Pool(orders, 2).outcomes(asked))
    died, stopped = (
        "the process that checked it died (SIGKILL)",
        "stopped after more than 5 seconds",
    )
    [one_by_one, together] = [outcomes[index] for index, _ in asked]
    assert reasons(together) == {"b.py": died, "c.py": stopped}
    for rows_ in (one_by_one, together):
        files = [row for row in rows_ if isinstance(row, FileRow)]
        assert sorted(row.status for row in files) == ["checked"] * 2 + ["failed"] * 2
        assert {row.reason for row in files} == {"", died, stopped}
        assert sum(row.bytes for row in files) == sum(map(len, texts.values()))
        assert len(rows_) == 6


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit of memory")
@pytest.mark.slow
def test_a_repository_that_fills_the_memory_costs_itself(tmp_path):
    large = [("large", f"{number}.py", b"#%d" % number * (15 << 20)) for number in range(24)]
    small = [(f"small{number}", "a.py", RISKY) for number in range(3)]
    names = ("repository", "path", "content")
    table = pa.table(dict(zip(names, map(list, zip(small[0], *large, *small[1:])))))
    pq.write_table(table, tmp_path / "f.parquet", row_group_size=2)
    done = scan(tmp_path / "f.parquet", "--out", tmp_path / "out", "--memory", 400)
    assert done.returncode == 0, done.stderr
    assert "Not read: large: it needs more memory than is allowed" in done.stdout
    files = pq.read_table(tmp_path / "out" / "files").to_pylist()
    statuses = {row["repository"]: row["status"] for row in files}
    assert statuses == {"large": "failed"} | dict.fromkeys(
        ("small0", "small1", "small2"), "checked"
    )


def test_files_that_end_their_process_again_and_again_cost_the_repository(tmp_path, monkeypatch):
    monkeypatch.setattr(batch, "check", lambda *arguments: os._exit(3))
    monkeypatch.setattr(pool, "MAX_REFUSED", 2)
    (tmp_path / "r").mkdir()
    for number in range(5):
        (tmp_path / "r" / f"{number}.py").write_bytes(RISKY)
    [(_, rows_)] = pool.Pool(pool.Orders(memory=0), 1).outcomes(
        list(enumerate(references([str(tmp_path / "r")])))
    )
    assert reasons(rows_) == {"": "the process that checked it died (exit code 3)"}


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("signals", [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_a_scan_that_alone_is_stopped_leaves_no_process(folder, tmp_path, signals):
    sent, code = signals
    command = [*COMMAND, str(folder), "--each", "--out", str(tmp_path / "out"), "--part-size", "1"]
    process = subprocess.Popen([*command, "--jobs", "2"], stderr=subprocess.PIPE, text=True)
    while not list((tmp_path / "out" / "checkpoints").glob("*.json")):
        assert process.poll() is None
        time.sleep(0.005)
    process.send_signal(sent)
    _, said = process.communicate(timeout=60)  # standard error is open as long as a process lives
    assert process.returncode in (code, 0) and "Traceback" not in said
    assert subprocess.run([*command, "--resume"], timeout=300, capture_output=True).returncode == 0
    scan(folder, "--each", "--out", tmp_path / "whole", "--part-size", 1)
    assert rows(tmp_path / "out") == rows(tmp_path / "whole")


def test_half_a_file_is_neither_read_nor_kept(folder, tmp_path, monkeypatch):
    listed = references([str(folder)], each=True)

    def killed(table, path, **options):
        with open(path, "wb") as file:
            file.write(b"PAR1 half")
        monkeypatch.setattr(os, "unlink", lambda path: None)  # as kill -9 leaves it
        raise SystemExit

    monkeypatch.setattr(pq, "write_table", killed)
    with pytest.raises(SystemExit):
        run.Scan(listed, str(tmp_path / "out"), pool.Orders(memory=0)).run()
    monkeypatch.undo()
    [half] = (tmp_path / "out" / "findings").iterdir()
    assert half.read_bytes() == b"PAR1 half"
    assert pq.read_table(tmp_path / "out" / "findings").num_rows == 0
    run.Scan(listed, str(tmp_path / "out"), pool.Orders(memory=0), resume=True).run()
    assert [path.suffix for path in (tmp_path / "out" / "findings").iterdir()] == [".parquet"]


def test_scattered_rows_and_progress_are_told(tmp_path, monkeypatch, capsys):
    from tfnanlint.cli import main
    from tfnanlint.cli import scan as command

    names = [f"r{number % 4}" for number in range(40)]
    table = {"repository": names, "path": [f"{n}.py" for n in range(40)], "content": [b""] * 40}
    pq.write_table(pa.table(table), tmp_path / "f.parquet", row_group_size=8)
    monkeypatch.setattr(command, "_LOG_INTERVAL", 0.0)
    monkeypatch.setattr(sys, "argv", ["tfnanlint", "scan"])
    assert main(["scan", str(tmp_path / "f.parquet"), "--out", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("warning: repositories are scattered")
    assert re.fullmatch(r"4 of 4 repositories, [\d.]+/s, 0 s left", said[-1])
    done = scan(tmp_path / "f.parquet", "--out", tmp_path / "quiet", "--quiet")
    assert (done.stdout, done.stderr.count("\n")) == ("", 1)


def test_a_full_disk_keeps_what_is_complete(folder, tmp_path, monkeypatch):
    whole = run.write
    written = []

    def full(path, data):
        if "checkpoints" in path:
            written.append(path)
            if len(written) > 2:
                raise OSError(28, "No space left on device")
        whole(path, data)

    monkeypatch.setattr(run, "write", full)
    listed = references([str(folder)], each=True)
    with pytest.raises(OSError, match="No space"):
        run.Scan(listed, str(tmp_path / "out"), pool.Orders(memory=0), part=1).run()
    monkeypatch.setattr(run, "write", whole)
    resumed = run.Scan(listed, str(tmp_path / "out"), pool.Orders(memory=0), resume=True, part=1)
    totals = resumed.run()
    assert totals.repositories == 4


def test_an_arrow_table_in_gives_one_of_rows(folder):
    from tfnanlint.scan.arrow import Lint, rows_schema

    table = pa.table({"repository": ["a", None], "path": ["x.py", "y.py"], "content": [RISKY] * 2})
    result = Lint()(table)
    assert result.schema == rows_schema()
    findings = [one["finding"] for one in result.to_pylist() if one["finding"]]
    where = [(finding["repository"], finding["path"]) for finding in findings]
    assert where == [("a", "x.py"), ("", "y.py")]


def test_the_page_describes_every_column():
    from tfnanlint.dev.repository import ROOT
    from tfnanlint.scan.schema import files_schema, findings_schema

    page = (ROOT / "docs" / "scale.md").read_text()
    described = set(re.findall(r"^\| `(\w+)` \|", page, re.M))
    assert described == {*findings_schema().names, *files_schema().names}
