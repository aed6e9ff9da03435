"""Writing files: whole or not at all, over what was read only, and never outside of the project."""

from __future__ import annotations

import codecs
import os
import signal
import stat
import subprocess
import sys
import textwrap
import threading
import time
from encodings.aliases import aliases
from pathlib import Path

import pytest

from tfnanlint.files import write as writing
from tfnanlint.files.write import PREFIX, SUFFIX, Refused, encoded, write
from tfnanlint.syntax.encodings import fixable
from tfnanlint.syntax.source import Source

ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX files")
superuser = pytest.mark.skipif(not ROOT, reason="needs the superuser")


def refusal(path: Path, expected: bytes, new: bytes, root: Path) -> str:
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(Refused) as reason:
        write(path, expected, new, root)
    assert (path.read_bytes() if path.is_file() else None) == before
    return str(reason.value)


def left_in(directory: Path) -> list[str]:
    """Our own files in a directory."""
    return [name for name in os.listdir(directory) if name.startswith(PREFIX)]


@pytest.mark.parametrize(
    "content",
    [
        b"y = 2\n",
        b"",
        b"y = 2\r\n",
        b"\xef\xbb\xbfy = '\xc3\xa9'\r\n",
        b"# coding: latin-1\ny = '\xe9'\n",
        b"x" * 3_000_000,
    ],
)
@pytest.mark.parametrize("link", [False, True])
def test_the_content_is_replaced_byte_for_byte(tmp_path, content, link):
    path = tmp_path / "é x.py"
    path.write_bytes(b"y = 1\n")
    if link:
        os.link(path, tmp_path / "other.py")
    write(str(path), b"y = 1\n", content, tmp_path)
    assert path.read_bytes() == content
    assert left_in(tmp_path) == []


@posix
@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o640, 0o222, 0o2755])
def test_the_mode_is_kept(tmp_path, mode):
    if mode == 0o222 and not ROOT:
        pytest.skip("such a file cannot be read")
    path = tmp_path / "x.py"
    path.write_bytes(b"old")
    path.chmod(mode)
    write(path, b"old", b"new", tmp_path)
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", mode)


@posix
def test_hard_links_are_kept(tmp_path):
    path, other = tmp_path / "x.py", tmp_path / "y.py"
    path.write_bytes(b"old content")
    os.link(path, other)
    write(path, b"old content", b"new", tmp_path)
    assert other.read_bytes() == b"new" and path.stat().st_ino == other.stat().st_ino
    write(path, b"new", b"longer than before", tmp_path)
    assert other.read_bytes() == b"longer than before"


@posix
def test_extended_attributes_are_kept(tmp_path):
    path = tmp_path / "x.py"
    path.write_bytes(b"old")
    try:
        os.setxattr(path, "user.note", b"kept")
    except (OSError, AttributeError):
        pytest.skip("no extended attributes here")
    write(path, b"old", b"new", tmp_path)
    assert (path.read_bytes(), os.getxattr(path, "user.note")) == (b"new", b"kept")


@superuser
def test_the_owner_is_kept(tmp_path):
    path = tmp_path / "x.py"
    path.write_bytes(b"old")
    os.chown(path, 1234, 2345)
    path.chmod(0o4755)
    write(path, b"old", b"new", tmp_path)
    status = path.stat()
    assert (path.read_bytes(), status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (
        b"new",
        1234,
        2345,
        0o4755,
    )


def child(code: str, *arguments, timeout: float = 60, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        cwd=Path(writing.__file__).parent.parent,
        **options,
    )


@superuser
def test_the_owner_is_kept_by_somebody_else_who_may_write(tmp_path):
    path = tmp_path / "x.py"
    path.write_bytes(b"old")
    os.chown(path, 1234, 2345)
    path.chmod(0o666)
    tmp_path.chmod(0o777)
    for parent in list(tmp_path.parents)[:3]:
        if parent != Path("/tmp"):
            parent.chmod(parent.stat().st_mode | 0o055)
    process = child(
        """
        import os, sys
        from tfnanlint.files.write import write
        os.setgid(4321), os.setuid(4321)
        write(sys.argv[1], b"old", b"new", os.path.dirname(sys.argv[1]))
    """,
        path,
    )
    assert process.returncode == 0, process.stderr
    assert (path.read_bytes(), path.stat().st_uid, path.stat().st_gid) == (b"new", 1234, 2345)
    assert left_in(tmp_path) == []


# ---------------------------------------------------------------------------------------------------------
# Refused


def test_content_that_changed_since_it_was_read(tmp_path):
    path = tmp_path / "x.py"
    for now in (b"other", b"ol", b"older", b""):
        path.write_bytes(now)
        assert refusal(path, b"old", b"new", tmp_path) == "it changed after it was read"
    assert left_in(tmp_path) == []


@pytest.mark.parametrize("change", [b"changed", b"old"])
def test_content_that_changes_while_it_is_written(tmp_path, monkeypatch, change):
    path = tmp_path / "x.py"
    path.write_bytes(b"old")
    store = writing._store

    def slow(file, content):
        store(file, content)
        path.unlink()
        path.write_bytes(change)  # Even the same content: another program is writing.

    monkeypatch.setattr(writing, "_store", slow)
    with pytest.raises(Refused, match="changed"):
        write(path, b"old", b"new", tmp_path)
    assert path.read_bytes() == change and left_in(tmp_path) == []


def test_a_file_that_is_not_there(tmp_path):
    assert "No such file" in refusal(tmp_path / "x.py", b"", b"new", tmp_path)
    assert refusal(tmp_path, b"", b"new", tmp_path.parent) == "it is not a regular file"


@posix
def test_a_file_is_read_only_to_whom_the_system_refuses_to_write_it(tmp_path, monkeypatch):
    path = tmp_path / "x.py"
    path.write_bytes(b"old")
    path.chmod(0o444)
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    assert refusal(path, b"old", b"new", tmp_path) == "it is read-only"
    monkeypatch.setattr(os, "access", lambda path, mode: True)
    write(path, b"old", b"new", tmp_path)
    assert path.read_bytes() == b"new" and stat.S_IMODE(path.stat().st_mode) == 0o444


@posix
def test_links_inside_the_project_are_followed_and_stay(tmp_path):
    (tmp_path / "sub").mkdir()
    path, link = tmp_path / "sub" / "x.py", tmp_path / "link.py"
    path.write_bytes(b"old")
    link.symlink_to("sub/x.py")
    (tmp_path / "dir").symlink_to("sub")
    write(link, b"old", b"new", tmp_path)
    write(tmp_path / "dir" / "x.py", b"new", b"newer", tmp_path)
    assert path.read_bytes() == b"newer" and link.is_symlink() and (tmp_path / "dir").is_symlink()


@posix
def test_links_out_of_the_project_are_refused(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    outside = tmp_path / "project-outside.py"  # Its path begins with the project's.
    outside.write_bytes(b"old")
    (root / "link.py").symlink_to(outside)
    (root / "dir").symlink_to(tmp_path)
    assert refusal(root / "link.py", b"old", b"new", root) == "a link leads out of the project"
    assert (
        refusal(root / "dir" / outside.name, b"old", b"new", root)
        == "a link leads out of the project"
    )
    assert refusal(outside, b"old", b"new", root) == "it is outside of the project"
    assert (
        refusal(root / ".." / outside.name, b"old", b"new", root) == "it is outside of the project"
    )
    (root / "loop.py").symlink_to("loop.py")
    assert refusal(root / "loop.py", b"", b"new", root)
    assert outside.read_bytes() == b"old" and left_in(tmp_path) == left_in(root) == []


@posix
@pytest.mark.parametrize("mark", ["pyproject.toml", ".git"])
@pytest.mark.parametrize("below", ["", "inner"])
def test_a_folder_that_is_a_link_leads_out_even_into_another_project(tmp_path, mark, below):
    from tfnanlint.files.discover import project_root

    other = tmp_path / "other" / below
    other.mkdir(parents=True)
    (other / mark).touch()
    (other / "a.py").write_bytes(b"old")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "pyproject.toml").touch()
    (tmp_path / "own" / "link").symlink_to(tmp_path / "other")
    path = tmp_path / "own" / "link" / below / "a.py"
    with pytest.raises(Refused, match="a link leads out of the project"):
        write(path, b"old", b"new", project_root(str(path)))


def test_a_folder_that_is_a_link_leads_out_where_there_is_no_project(tmp_path, monkeypatch):
    from tfnanlint.files.discover import project_root

    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.py").write_bytes(b"old")
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "link").symlink_to("../other")
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(Refused, match="a link leads out of the project"):
        write("link/a.py", b"old", b"new", project_root("link/a.py"))


@pytest.mark.parametrize("folder", [".git", ".GIT", ".hg", ".svn", ".jj", ".bzr"])
def test_the_files_of_git_are_not_written(tmp_path, folder):
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "hook.py").write_bytes(b"old")
    (tmp_path / "a.py").symlink_to(tmp_path / folder / "hook.py")
    with pytest.raises(Refused, match="version control"):
        write(tmp_path / "a.py", b"old", b"new", tmp_path)


def test_the_project_itself_may_be_given_by_a_link(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    (root / "x.py").write_bytes(b"old")
    (tmp_path / "here").symlink_to(root)
    write(tmp_path / "here" / "x.py", b"old", b"new", tmp_path / "here")
    assert (root / "x.py").read_bytes() == b"new"


@posix
@pytest.mark.parametrize("swap", [False, True])
def test_a_pipe_is_neither_waited_for_nor_written(tmp_path, monkeypatch, swap):
    path = tmp_path / "x.py"
    os.mkfifo(path)
    if swap:  # It was a file when it was looked at.
        (tmp_path / "file").write_bytes(b"")
        lstat = os.lstat
        monkeypatch.setattr(os, "lstat", lambda *a, **k: lstat(tmp_path / "file"))
    timer = threading.Timer(20, lambda: os.kill(os.getpid(), signal.SIGALRM))
    timer.start()
    try:
        assert refusal(path, b"", b"new", tmp_path) == "it is not a regular file"
    finally:
        timer.cancel()


@superuser
def test_devices_are_not_read(tmp_path):
    (tmp_path / "x.py").symlink_to("/dev/zero")
    assert refusal(tmp_path / "x.py", b"", b"new", Path("/")) == "it is not a regular file"


# ---------------------------------------------------------------------------------------------------------
# Interruptions


@pytest.mark.parametrize("link", [False, True])
def test_a_full_disk_leaves_the_file(tmp_path, link):
    pytest.importorskip("resource")
    path = tmp_path / "x.py"
    path.write_bytes(b"old" * 100)
    if link:
        os.link(path, tmp_path / "y.py")
    process = child(
        """
        import os, resource, sys
        from tfnanlint.files.write import Refused, write
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
        try:
            write(sys.argv[1], b"old" * 100, b"new" * 40_000, os.path.dirname(sys.argv[1]))
        except Refused as reason:
            print(reason)
    """,
        path,
    )
    assert process.stdout == "there is no space for it on the disk\n", process.stderr
    assert path.read_bytes() == b"old" * 100 and left_in(tmp_path) == []


@posix
@pytest.mark.parametrize("call", ["_reserve", "_fill"])
def test_a_failure_in_the_middle_of_a_linked_file_is_undone(tmp_path, monkeypatch, call):
    path = tmp_path / "x.py"
    path.write_bytes(b"old content")
    os.link(path, tmp_path / "y.py")
    original, calls = getattr(writing, call), []

    def failing(file, content):
        calls.append(content)
        if len(calls) == 1:
            if call == "_fill":
                file.write(content[:5])
            raise OSError(28, "No space left on device")
        original(file, content)

    monkeypatch.setattr(writing, call, failing)
    assert (
        refusal(path, b"old content", b"new content", tmp_path)
        == "there is no space for it on the disk"
    )
    assert left_in(tmp_path) == []


@superuser
@pytest.mark.parametrize("link", [False, True])
def test_a_disk_that_is_really_full(tmp_path, link):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "none", disk], capture_output=True
    ).returncode:
        pytest.skip("cannot mount a small disk here")
    try:
        path = disk / "x.py"
        path.write_bytes(b"o" * 20_000)
        if link:
            os.link(path, disk / "y.py")
        assert (
            refusal(path, b"o" * 20_000, b"n" * 50_000, disk)
            == "there is no space for it on the disk"
        )
        if link:  # Room beside the file, but not in it.
            assert (
                refusal(path, b"o" * 20_000, b"n" * 36_000, disk)
                == "there is no space for it on the disk"
            )
        assert left_in(disk) == []
        write(path, b"o" * 20_000, b"n" * 20_100, disk)
        assert path.read_bytes() == b"n" * 20_100
    finally:
        subprocess.run(["umount", disk], check=True)


@posix
@pytest.mark.parametrize("link", [False, True])
def test_killed_at_any_moment(tmp_path, link):
    """After `kill -9` the file is the old or the new one; a file with other links has its new
    content saved beside it.
    """
    path = tmp_path / "x.py"
    contents = [b"A" * 400_000, b"B" * 500_000]
    path.write_bytes(contents[0])
    if link:
        os.link(path, tmp_path / "y.py")
    code = textwrap.dedent("""
        import os, sys
        from tfnanlint.files.write import write
        contents = [b"A" * 400_000, b"B" * 500_000]
        at = int(sys.argv[2])
        print("ready", flush=True)
        while True:
            write(sys.argv[1], contents[at], contents[1 - at], os.path.dirname(sys.argv[1]))
            at = 1 - at
    """)
    for attempt in range(12):
        at = contents.index(path.read_bytes())
        process = subprocess.Popen(
            [sys.executable, "-c", code, path, str(at)],
            stdout=subprocess.PIPE,
            cwd=Path(writing.__file__).parent.parent,
        )
        process.stdout.readline()
        time.sleep(0.003 + 0.0071 * attempt)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        rescued = tmp_path / f"{PREFIX}x.py.rescue"
        if rescued.exists():
            assert link and rescued.read_bytes() in contents
            path.write_bytes(rescued.read_bytes())
        assert path.read_bytes() in contents
    # The next run, a minute later, takes away what the killed ones left.
    for name in left_in(tmp_path):
        os.utime(tmp_path / name, (0, 0))
    content = path.read_bytes()
    write(path, content, b"end", tmp_path)
    assert path.read_bytes() == b"end" and left_in(tmp_path) == []


@posix
def test_an_interrupted_linked_file_is_for_a_person_to_judge(tmp_path):
    path, rescue = tmp_path / "x.py", tmp_path / f"{PREFIX}x.py.rescue"
    path.write_bytes(b"half")
    rescue.write_bytes(b"whole")
    assert str(rescue) in refusal(path, b"half", b"new", tmp_path)
    assert rescue.read_bytes() == b"whole"
    rescue.write_bytes(b"half")  # It was finished after all.
    write(path, b"half", b"new", tmp_path)
    assert path.read_bytes() == b"new" and not rescue.exists()


def test_only_old_files_of_our_own_are_cleaned_up(tmp_path):
    path = tmp_path / "x.py"
    path.write_bytes(b"old")
    names = {
        f"{PREFIX}abc{SUFFIX}": 3600,
        f"{PREFIX}def{SUFFIX}": 0,
        f"{PREFIX}abc.py": 3600,
        f"abc{SUFFIX}": 3600,
    }
    for name, age in names.items():
        (tmp_path / name).write_bytes(b"")
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    (tmp_path / f"{PREFIX}dir{SUFFIX}").mkdir()
    os.utime(tmp_path / f"{PREFIX}dir{SUFFIX}", (0, 0))
    write(path, b"old", b"new", tmp_path)
    assert sorted(os.listdir(tmp_path)) == sorted(
        [*list(names)[1:], f"{PREFIX}dir{SUFFIX}", "x.py"]
    )


# ---------------------------------------------------------------------------------------------------------
# Encodings


def test_every_encoding_that_is_fixed_maps_bytes_to_text_and_back():
    tried = 0
    for name in {*aliases.values(), "utf-8", "utf-8-sig"}:
        # mbcs: on Windows only
        if name == "mbcs" or not fixable(name) or codecs.lookup(name).name.startswith("utf-8"):
            continue
        tried += 1
        for byte in range(256):
            try:
                text = bytes([byte]).decode(name)
            except UnicodeDecodeError:
                continue
            assert text.encode(name) == bytes([byte])
    assert tried > 20


def test_encoded():
    data = b"\xef\xbb\xbfy = 1\r\n"
    assert (
        encoded(Source.from_bytes("x.py", data), data, "y = é\r\n")
        == b"\xef\xbb\xbfy = \xc3\xa9\r\n"
    )
    latin = b"# coding: latin-1\ny = '\xe9'\n"
    source = Source.from_bytes("x.py", latin)
    assert encoded(source, latin, source.text + "z\n") == latin + b"z\n"
    for wrong, text in (
        (latin, source.text + "ε"),
        (latin + b" ", source.text),
        (latin, "# coding: utf-7\n"),
        (latin, source.text[20:]),
    ):
        with pytest.raises(Refused):
            encoded(source, wrong, text)
    hidden = b"# coding: unicode_escape\nx = 1 #\\u000aimport os\n"
    with pytest.raises(Refused, match="without changing"):
        encoded(Source.from_bytes("x.py", hidden), hidden, "x = 2\n")
