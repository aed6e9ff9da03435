"""What a scan takes for a repository, under which name, and in which shard."""

from __future__ import annotations

import io
import random
import shutil
import subprocess
import tarfile
import zipfile

import pytest

pa = pytest.importorskip("pyarrow", reason="the extra `scan` is not installed")
import pyarrow.parquet as pq  # noqa: E402

from tfnanlint.scan.collect import InputError, gathered  # noqa: E402
from tfnanlint.scan.inputs import load, references, shard_of  # noqa: E402
from tfnanlint.scan.parquet import scattered  # noqa: E402

RISKY = b"import tensorflow as tf\n\n\ndef loss(z):\n    return tf.math.log(tf.nn.softmax(z))\n"


def write(path, rows, **options):
    """A Parquet file of (repository, path, content)."""
    columns = zip(*rows)
    names = ("repository", "path", "content")
    pq.write_table(pa.table(dict(zip(names, map(list, columns)))), path, **options)


def bare(path, files):
    """A bare repository with one commit of these files."""
    source = path.with_name(path.name + "-source")
    for name, text in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(source)]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run([*git, *command], check=True)
    subprocess.run(["git", "clone", "-q", "--bare", str(source), str(path)], check=True)
    return source


def loaded(listed):
    return [
        (repository.name, dict(repository.files)) for each in listed for repository in load(each)
    ]


def test_rows_without_a_repository_are_files_of_their_own(tmp_path):
    rows = [("", "setup.py", b"a"), (None, "setup.py", b"b"), ("x", "c.py", b"c")]
    write(tmp_path / "f.parquet", rows)
    listed = references([str(tmp_path / "f.parquet")])
    assert loaded(listed) == [
        ("", {"setup.py": b"a"}),
        ("", {"setup.py": b"b"}),
        ("x", {"c.py": b"c"}),
    ]


def test_rows_of_a_repository_meet_over_groups_and_files(tmp_path):
    write(tmp_path / "1.parquet", [("x", "a.py", b"a"), ("y", "b.py", b"b")], row_group_size=1)
    write(tmp_path / "2.parquet", [("x", "c.py", b"c"), ("x", "notes.txt", b"d")])
    inputs = [str(tmp_path / "1.parquet"), str(tmp_path / "2.parquet")]
    expected = [("x", {"a.py": b"a", "c.py": b"c"}), ("y", {"b.py": b"b"})]
    assert loaded(references(inputs)) == expected
    assert loaded(references([str(tmp_path)])) == expected
    assert loaded(references(inputs * 2)) == expected


def test_a_row_group_that_is_too_large_to_keep_gives_the_same(tmp_path, monkeypatch):
    rows = [(f"r{number % 3}", f"{number}.py", b"%d" % number) for number in range(30)]
    write(tmp_path / "f.parquet", rows)
    listed = references([str(tmp_path / "f.parquet")])
    expected = loaded(listed)
    monkeypatch.setattr("tfnanlint.scan.parquet._KEPT_BYTES", 0)
    monkeypatch.setattr("tfnanlint.scan.parquet._group", None)
    assert loaded(listed) == expected and len(expected) == 3


def test_two_files_at_one_path_give_the_same_in_any_order():
    rows = [("a.py", b"two"), ("a.py", b"one"), ("a.py", b"one"), ("b.py", b"x"), ("b.py", b"x")]
    first = gathered("r", rows)
    assert first.files == {"a.py": b"one", "b.py": b"x"}
    assert list(first.unread) == ["a.py"]
    for seed in range(5):
        random.Random(seed).shuffle(rows)
        assert gathered("r", rows) == first


def test_a_source_folder_with_parquet_in_it_is_a_source_folder(tmp_path):
    (tmp_path / "project" / "data").mkdir(parents=True)
    write(tmp_path / "project" / "data" / "table.parquet", [("x", "a.py", b"a")])
    (tmp_path / "project" / "a.py").write_bytes(RISKY)
    [reference] = references([str(tmp_path / "project")])
    assert (reference.kind, reference.name) == ("folder", "project")
    # what an engine leaves beside its tables does not count
    (tmp_path / "project" / "data" / "_SUCCESS").write_text("")
    [reference] = references([str(tmp_path / "project" / "data")])
    assert reference.kind == "rows"


def test_groups_of_bare_repositories(tmp_path):
    top = tmp_path / "git"
    (top / "group" / "sub").mkdir(parents=True)
    bare(tmp_path / "one.git", {"a.py": "x = 1\n"})
    for place in ("one.git", "group/two.git", "group/sub/three.git"):
        shutil.copytree(tmp_path / "one.git", top / place)
    listed = references([str(top)], each=True)
    assert [each.name for each in listed] == ["group/sub/three", "group/two", "one"]
    assert [files for _, files in loaded(listed)] == [{"a.py": b"x = 1\n"}] * 3


def test_a_revision_is_the_commit_that_it_was_when_the_scan_began(tmp_path):
    source = bare(tmp_path / "one.git", {"a.py": "x = 1\n"})
    [reference] = references([str(tmp_path / "one.git")], revision="HEAD")
    [work_tree] = references([str(source)], revision="HEAD")
    (source / "a.py").write_text("x = 2\n")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(source)]
    subprocess.run([*git, "commit", "-qam", "y"], check=True)
    subprocess.run([*git, "push", "-q", str(tmp_path / "one.git"), "HEAD"], check=True)
    assert loaded([reference])[0][1] == loaded([work_tree])[0][1] == {"a.py": b"x = 1\n"}
    [now] = references([str(tmp_path / "one.git")])
    assert now.identity != reference.identity
    [folder] = references([str(source)])
    assert (folder.kind, loaded([folder])[0][1]) == ("folder", {"a.py": b"x = 2\n"})


def test_repositories_of_one_name_are_told_apart(tmp_path):
    for name in ("a/lib", "b/lib", "c/other"):
        (tmp_path / name).mkdir(parents=True)
    listed = references([str(tmp_path / name) for name in ("a/lib", "b/lib", "c/other")])
    assert [each.name for each in listed] == ["a/lib", "b/lib", "other"]
    with pytest.raises(InputError, match="a second repository named"):
        references([str(tmp_path / "a" / "lib")] * 2)


def test_a_shard_does_not_depend_on_where_the_input_lies(tmp_path):
    rows = [(f"r{number}", "a.py", b"a") for number in range(20)] + [("", "b.py", b"b")]
    shards = []
    for place in ("here", "there/mounted"):
        (tmp_path / place).mkdir(parents=True)
        write(tmp_path / place / "f.parquet", rows, row_group_size=4)
        listed = references([str(tmp_path / place / "f.parquet")])
        shards.append([shard_of(each, 4) for each in listed])
        assert set(shards[0]) == {0, 1, 2, 3}
    assert shards[0] == shards[1]


def test_scattered_repositories_are_noticed(tmp_path):
    rows = [(f"r{number % 5}", f"{number}.py", b"") for number in range(50)]
    write(tmp_path / "mixed.parquet", rows, row_group_size=10)
    write(tmp_path / "sorted.parquet", sorted(rows), row_group_size=25)
    assert scattered(references([str(tmp_path / "mixed.parquet")])) == 5.0
    assert scattered(references([str(tmp_path / "sorted.parquet")])) == 1.0


@pytest.mark.parametrize("column, value", [("path", 1), ("path", b"a.py"), ("content", [1, 2])])
def test_a_column_of_another_type_is_told_before_the_scan(tmp_path, column, value):
    row = {"repository": "x", "path": "a.py", "content": b"a", column: value}
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "f.parquet")
    with pytest.raises(InputError, match=f"the column `{column}` holds"):
        references([str(tmp_path / "f.parquet")])


def test_columns_of_text_may_be_encoded_and_empty(tmp_path):
    paths = pa.array(["a.py", "b.py"]).dictionary_encode()
    files = pa.table({"path": paths, "content": pa.nulls(2)})
    pq.write_table(files, tmp_path / "f.parquet")
    assert loaded(references([str(tmp_path / "f.parquet")])) == [
        ("", {"a.py": b""}),
        ("", {"b.py": b""}),
    ]


def zipped(method, *edits):
    """The bytes of a zip of two files, with some bytes exchanged."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("\u00e9.py", RISKY)
        archive.writestr("b.py", random.Random(0).randbytes(500))
    data = file.getvalue()
    for old, new in edits:
        assert old in data
        data = data.replace(old, new)
    return data


def tarred():
    """The bytes of a compressed tar."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        archive.addfile(tarfile.TarInfo("a.py"), io.BytesIO())
    return file.getvalue()


NAME = "\u00e9".encode()
DAMAGED = {
    "name": zipped(zipfile.ZIP_STORED, (NAME, b"\xff\xff")),
    "version": zipped(zipfile.ZIP_STORED, (b"PK\1\2\x14\3\x14", b"PK\1\2\x14\3\xff")),
    "lzma": zipped(zipfile.ZIP_LZMA, (b"\x09\x04\x05\x00\x5d", b"\x09\x04\x05\x00\xff")),
    "cut off": tarred()[:15],
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_archive_is_told(tmp_path, name):
    (tmp_path / "archive").write_bytes(DAMAGED[name])
    [reference] = references([str(tmp_path)], each=True)
    with pytest.raises(InputError, match="archive: "):
        list(load(reference))
