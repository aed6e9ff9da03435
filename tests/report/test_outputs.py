"""Where reports go: files, several formats in one run, the environment; and what is refused."""

from __future__ import annotations

import io
import json
import os
import signal
import stat
import subprocess
import sys
import threading
from xml.etree import ElementTree

import pytest

from tfnanlint.config.layers import ConfigError
from tfnanlint.dev import repository
from tfnanlint.pipeline.check import Checked
from tfnanlint.report import FORMATS, PEOPLE, PLAIN, some
from tfnanlint.report.outputs import Wanted, opened, wanted
from tfnanlint.syntax.source import Source

BAD = "import tensorflow as tf\ny = tf.log(tf.nn.softmax(z))\n"


@pytest.mark.parametrize(
    "formats, file, environ, expected",
    [
        (None, None, {}, [("full", None)]),
        (None, None, {"TFNANLINT_OUTPUT_FORMAT": "json"}, [("json", None)]),
        (["concise"], None, {"TFNANLINT_OUTPUT_FORMAT": "json"}, [("concise", None)]),
        (["json"], "a.json", {"TFNANLINT_OUTPUT_FILE": "b"}, [("json", "a.json")]),
        (["json"], None, {"TFNANLINT_OUTPUT_FILE": "b"}, [("json", "b")]),
        (["sarif=a.sarif", "concise"], None, {}, [("sarif", "a.sarif"), ("concise", None)]),
        (["sarif=a,b.sarif,concise"], None, {}, [("sarif", "a,b.sarif"), ("concise", None)]),
        (["json=a=b.json,junit=j.xml"], None, {}, [("json", "a=b.json"), ("junit", "j.xml")]),
        (
            ["sarif=a.sarif", "concise"],
            "out.txt",
            {},
            [("sarif", "a.sarif"), ("concise", "out.txt")],
        ),
        (
            None,
            None,
            {"TFNANLINT_OUTPUT_FORMAT": "gitlab=g.json,full"},
            [("gitlab", "g.json"), ("full", None)],
        ),
    ],
)
def test_what_is_asked_for(formats, file, environ, expected):
    assert wanted(formats, file, environ) == tuple(Wanted(*one) for one in expected)


@pytest.mark.parametrize(
    "formats, file, problem",
    [
        (["xml"], None, "unknown format `xml`"),
        (["concis"], None, "did you mean `concise`"),
        (["concise", "json"], None, "concise and json cannot both be printed"),
        (["json="], None, "names no file"),
        (["json=a", "sarif=./a"], None, "same file"),
        (["json=a"], "b", "already has its own file"),
        ([""], None, "unknown format ``"),
    ],
)
def test_what_is_refused(formats, file, problem):
    with pytest.raises(ConfigError, match=problem):
        wanted(formats, file, {})


def test_every_format_in_one_run(shell):
    shell.write("a.py", BAD)
    flags = [
        part
        for name in FORMATS
        if name != "concise"
        for part in ("--output-format", f"{name}=out/{name}.txt")
    ]
    done = shell.check("a.py", *flags)
    assert done.code == 1 and done.places == ["2 TFN301"] and "Found 1 warning (" in done.text
    texts = {
        name: (shell.directory / "out" / f"{name}.txt").read_text()
        for name in FORMATS
        if name != "concise"
    }
    assert all("TFN301" in text for text in texts.values())
    for name in ("json", "sarif", "gitlab", "rdjson"):
        json.loads(texts[name])
    ElementTree.fromstring(texts["junit"])
    assert {name for name, text in texts.items() if "Found 1 warning (" in text} == {
        "full",
        "grouped",
    }
    assert sorted(os.listdir(shell.directory / "out")) == sorted(f"{name}.txt" for name in texts)


def test_what_was_cut_short_is_told_in_every_format(tmp_path):
    """With the file and the reason. Those for people say it in their closing lines."""
    wants = [Wanted(name, str(tmp_path / name)) for name in FORMATS if name not in PEOPLE]
    source = Source("model.py", "import tensorflow as tf\n")
    with opened(wants, io.StringIO(), PLAIN) as outputs:
        outputs.start()
        outputs.file(Checked(source, cut_short=("Model.call", "")))
        outputs.end()
    told = {want.name: (tmp_path / want.name).read_text() for want in wants}
    for text in told.values():
        assert "cut short, it would cost more than a file may: Model.call, top level" in text
        assert "model.py" in text
    (said,) = json.loads(told["json"])
    assert (said["code"], said["severity"]) == ("TFN004", "note")
    assert said["location"] == said["end_location"] == {"row": 1, "column": 1}
    (run,) = json.loads(told["sarif"])["runs"]
    (message,) = run["invocations"][0]["toolExecutionNotifications"]
    assert (message["level"], run["results"]) == ("note", [])
    suites = ElementTree.fromstring(told["junit"].encode())
    assert (suites[0].get("tests"), suites[0].get("failures")) == ("1", "0")


@pytest.mark.parametrize(
    "names, words",
    [("", ""), ("abc", "a, b, c"), ("abcd", "a, b, c and 1 more"), ("a\n", "a, \\n")],
)
def test_some_names(names, words):
    assert some(list(names)) == words


def test_output_file_takes_the_place_of_the_stream(shell):
    shell.write("a.py", BAD)
    done = shell.check("a.py", "-o", "report.txt")
    assert done.out == b"" and done.code == 1
    assert (
        (shell.directory / "report.txt")
        .read_text()
        .endswith("Not run: 1 rule in preview (`--preview`).\n")
    )


def test_a_file_has_no_colours(shell, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    shell.write("a.py", BAD)
    done = shell.run("check", "a.py", "--output-format", "full=a.txt", "--output-format", "concise")
    assert b"\x1b[" in done.out and "\x1b" not in (shell.directory / "a.txt").read_text()


def test_a_report_replaces_a_file_whole_and_keeps_its_mode(shell):
    shell.write("a.py", BAD)
    old = shell.write("old.json", "x" * 100_000)
    old.chmod(0o640)
    (shell.directory / "link.json").symlink_to(old)
    shell.check("a.py", "--output-format", "json=link.json")
    assert (
        json.loads(old.read_text())[0]["code"] == "TFN301"
        and stat.S_IMODE(old.stat().st_mode) == 0o640
    )
    assert (shell.directory / "link.json").is_symlink()


def test_a_failed_run_leaves_the_old_report(shell, monkeypatch):
    from tfnanlint.report.json import Json

    def fail(self, checked):
        raise OSError(28, "No space left on device")

    shell.write("a.py", BAD)
    old = shell.write("old.json", "old")
    monkeypatch.setattr(Json, "file", fail)
    done = shell.check("a.py", "--output-format", "json=old.json")
    assert done.code == 2 and "No space left" in done.err
    assert old.read_text() == "old" and sorted(os.listdir(shell.directory)) == ["a.py", "old.json"]


def test_a_file_that_cannot_be_written_is_an_error(shell):
    shell.write("a.py", BAD)
    done = shell.check("a.py", "--output-format", "json=a.py/x.json")
    assert done.code == 2 and "a.py" in done.err and done.out == b""


def test_a_pipe_and_a_device_are_written_to(shell):
    shell.write("a.py", BAD)
    pipe = shell.directory / "pipe"
    os.mkfifo(pipe)
    (shell.directory / "link").symlink_to(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    shell.check("a.py", "--output-format", "json=link", "--output-format", "sarif=/dev/null")
    reader.join(30)
    assert json.loads(read[0])[0]["code"] == "TFN301" and stat.S_ISFIFO(
        (shell.directory / "link").stat().st_mode
    )


def test_diff_and_statistics_write_no_report(shell):
    shell.write("a.py", BAD)
    assert shell.check("a.py", "--diff", "-o", "x").code == 2
    done = shell.run("check", "a.py", "--statistics", "--output-format", "sarif")
    assert done.code == 2 and "--statistics" in done.err
    shell.run(
        "check",
        "a.py",
        "--statistics",
        "--output-format",
        "json=s.json",
        "--output-format",
        "concise",
    )
    assert json.loads((shell.directory / "s.json").read_text())[0]["count"] == 1


def test_findings_beside_fixed_source_go_to_the_file(shell):
    done = shell.run("check", "--fix", "-", "--output-format", "json=r.json", stdin=BAD.encode())
    assert b"log_softmax" in done.out and done.code == 0
    assert json.loads((shell.directory / "r.json").read_text()) == []


@pytest.mark.parametrize(
    "name",
    [
        "a\nb.py",
        "::error::x.py",
        " ::error::x.py",
        "%0A::x.py",
        "\x1b[2J.py",
        "\u202e.py",
        "\udcff.py",
        "##[error]x.py",
    ],
)
def test_hostile_names_on_disk_in_every_format(shell, monkeypatch, name):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    try:
        (shell.directory / name).write_text(
            "import tensorflow as tf\nx = '##[error]'; y = tf.log(z)\n"
        )
    except (OSError, UnicodeError):
        pytest.skip("no such name on this file system")
    for one in FORMATS:
        done = shell.run("check", "--output-format", one)
        assert done.code == 1 and "Traceback" not in done.err
        lines = done.text.splitlines()
        commands = [line for line in lines if line.lstrip().startswith("::")]
        assert len(commands) == (one == "github")
        assert one == "github" or "##[" not in done.text
        assert b"\x1b" not in done.out and "\u202e" not in done.text


def test_a_report_says_the_same_in_a_log(shell, monkeypatch):
    """What GitHub would obey is written otherwise, and read back as it was."""
    shell.write("##[error]x.py", "import tensorflow as tf\nx = '##[error]'; y = tf.log(z)\n")
    for one in ("json", "sarif", "gitlab", "rdjson"):
        monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
        plain = json.loads(shell.run("check", "--output-format", one).text)
        monkeypatch.setenv("GITHUB_ACTIONS", "true")
        assert json.loads(shell.run("check", "--output-format", one).text) == plain
    monkeypatch.delenv("GITHUB_ACTIONS")
    plain = shell.run("check", "--output-format", "junit").text
    assert "##[" in plain
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    written = shell.run("check", "--output-format", "junit").text
    assert ElementTree.canonicalize(written) == ElementTree.canonicalize(plain)


def test_a_stream_of_ascii(shell):
    shell.write("中.py", BAD)
    for one in FORMATS:
        done = subprocess.run(
            [sys.executable, "-m", "tfnanlint", "check", "--isolated", "--output-format", one, "."],
            cwd=shell.directory,
            capture_output=True,
            timeout=60,
            env={
                **os.environ,
                "PYTHONIOENCODING": "ascii",
                "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            },
        )
        assert done.returncode == 1, done.stderr
        text = done.stdout.decode("ascii")
        if one in ("json", "sarif", "gitlab", "rdjson"):
            json.loads(text)
        elif one == "junit":
            ElementTree.fromstring(text)


WRITING = """
import sys, time
from tfnanlint.report import PLAIN
from tfnanlint.report.outputs import Wanted, opened

with opened([Wanted("json", "a.json")], sys.stdout, PLAIN):
    print("writing", flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGTERM ends a process at once on Windows")
def test_what_is_half_written_is_removed_when_the_process_is_ended(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", WRITING],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(repository.ROOT)},
    )
    assert process.stdout.readline() == b"writing\n"
    assert len(os.listdir(tmp_path)) == 1
    process.terminate()
    assert process.wait(timeout=30) == -signal.SIGTERM
    process.stdout.close()
    assert os.listdir(tmp_path) == []
