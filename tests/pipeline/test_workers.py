"""Several processes: the same findings as one, in the same order, and a process that dies costs one
file.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

RISKY = "import tensorflow as tf\n\n\ndef loss(z):\n    return tf.math.log(tf.nn.softmax(z))\n"
HELPED = "import tensorflow as tf\nfrom pkg{pack}.bounds import bounded\n\n\ndef f(z):\n    return tf.math.log(bounded(tf.nn.sigmoid(z)))\n"
BOUNDS = "import tensorflow as tf\n\n\ndef bounded(p):\n    return {}\n"


def check(directory, *argv: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "tfnanlint",
            "check",
            "--isolated",
            "--output-format",
            "concise",
            *argv,
        ],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """5,000 files: every tenth has to do with TensorFlow, of those half import from another file of
    their package.
    """
    top = tmp_path_factory.mktemp("many")
    for pack in range(50):
        folder = top / f"pkg{pack}"
        folder.mkdir()
        (folder / "__init__.py").write_text("")
        (folder / "bounds.py").write_text(
            BOUNDS.format("tf.clip_by_value(p, 1e-6, 1.0)" if pack % 2 else "tf.identity(p)")
        )
        for number in range(98):
            text = (
                "print(1)\n" if number % 10 else RISKY if number % 20 else HELPED.format(pack=pack)
            )
            (folder / f"m{number:02}.py").write_text(text)
    (top / "broken.py").write_text("import tensorflow\nprint 'a'\n")
    return top


@pytest.mark.slow
def test_5000_files_in_several_processes_as_in_one(many):
    assert sum(len(names) for _, _, names in os.walk(many)) == 5001
    one = check(many, "--jobs", "1")
    assert one.returncode == 1 and not one.stderr
    assert (
        one.stdout.count("TFN301") == 250
        and one.stdout.count("TFN101") + one.stdout.count("TFN302") == 125
    ), one.stdout[-500:]
    for jobs in ("2", "5"):
        more = check(many, "--jobs", jobs)
        assert (more.stdout, more.stderr, more.returncode) == (
            one.stdout,
            one.stderr,
            one.returncode,
        )


def test_what_the_processes_print_is_the_same_patch(many):
    one, two = (check(many / "pkg0", "--diff", "--jobs", jobs) for jobs in ("1", "2"))
    assert (
        one.returncode == two.returncode == 1 and "+    return tf.nn.log_softmax(z)" in one.stdout
    )
    assert (one.stdout, one.stderr) == (two.stdout, two.stderr)


def test_hooks_that_share_files_out_find_the_same(many):
    """pre-commit hands a long list of files to several runs: what one finds must not depend on what
    it was handed.
    """
    paths = [f"pkg{pack}/m{number:02}.py" for pack in (0, 1) for number in range(98)]
    whole = check(many, "-q", *paths)
    parts = [check(many, "-q", *paths[start::2]).stdout.splitlines() for start in (0, 1)]
    assert whole.stdout.splitlines() == sorted(parts[0] + parts[1])


DYING = """
import os, sys, time
from tfnanlint.pipeline import analysis as flow
whole = flow.Analysis
def analyse(source, *settings):
    if "# die" in source.text:
        os._exit(66)
    if "# hang" in source.text:
        time.sleep(300)
    if "# eat" in source.text:
        bytearray(8 << 30)
    return whole(source, *settings)
flow.Analysis = analyse
from tfnanlint.pipeline import workers
workers.PATIENCE = 3.0
from tfnanlint.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif(
    sys.platform != "linux",
    reason="elsewhere the processes are not forked, and know nothing of the trap",
)
@pytest.mark.slow
def test_a_process_that_dies_hangs_or_grows_costs_one_file(tmp_path):
    ills = {7: "die", 8: "die", 30: "die", 12: "hang", 39: "hang", 20: "eat"}
    for number in range(40):
        ill = f"# {ills[number]}\n" if number in ills else ""
        (tmp_path / f"m{number:02}.py").write_text(RISKY + ill)
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            DYING,
            "check",
            "--isolated",
            "--output-format",
            "concise",
            "--jobs",
            "2",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 2, done.stderr
    lines = done.stdout.splitlines()[:40]
    assert [line.split(":")[0] for line in lines] == [f"m{number:02}.py" for number in range(40)]
    said = {"die": "died", "hang": "stopped after more than 3 seconds", "eat": "more memory than"}
    assert {number for number, line in enumerate(lines) if "TFN301" not in line} == set(ills)
    assert all(said[ill] in lines[number] for number, ill in ills.items())
    assert "Not checked: 6 files." in done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("how", ["SIGINT", "SIGTERM", "SIGKILL"])
@pytest.mark.slow
def test_a_run_that_is_ended_ends_its_processes(tmp_path, how):
    for number in range(20):
        ill = "# hang\n" if number % 10 == 5 else ""
        (tmp_path / f"m{number:02}.py").write_text(RISKY + ill)
    script = DYING.replace("PATIENCE = 3.0", "PATIENCE = 300.0")
    words = [sys.executable, "-c", script, "check", "--isolated", "--jobs", "2", "."]
    run = subprocess.Popen(
        words,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        preexec_fn=_heeds_interrupts,
    )
    while len(children := _children(run.pid)) < 2:
        time.sleep(0.1)
    time.sleep(1.0)
    run.send_signal(getattr(signal, how))
    expected = {"SIGINT": 130, "SIGTERM": -signal.SIGTERM, "SIGKILL": -signal.SIGKILL}
    assert run.wait(20) == expected[how]  # of a shell: 143 after SIGTERM
    end = time.monotonic() + 20
    while any(map(_is_running, children)):
        assert time.monotonic() < end
        time.sleep(0.1)
    assert b"Traceback" not in run.stderr.read()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_watching_runs_no_code_of_the_folder_and_leaves_no_process(tmp_path):
    pytest.importorskip("watchfiles")
    (tmp_path / "tfnanlint").mkdir()
    for name in ("__init__.py", "__main__.py"):
        (tmp_path / "tfnanlint" / name).write_text("open('ran', 'w')\n")
    code = "import sys; sys.path.remove(''); from tfnanlint.cli import main; sys.exit(main())"
    words = [sys.executable, "-c", code, "check", "--isolated", "--watch", "."]
    run = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not (children := _children(run.pid)):
        time.sleep(0.02)
    run.terminate()
    assert run.wait(20) == -signal.SIGTERM
    end = time.monotonic() + 20
    while any(map(_is_running, children)):
        assert time.monotonic() < end
        time.sleep(0.1)
    run = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    line = run.stderr.readline()
    run.terminate()
    run.wait()
    assert b"Watching" in line or b"no Python" in line, line
    assert not (tmp_path / "ran").exists()


def _heeds_interrupts() -> None:
    """Undo what a shell does to commands in the background: they ignore SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _children(process: int) -> list[int]:
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with suppress(OSError), open(f"/proc/{name}/stat") as file:
            if int(file.read().rpartition(")")[2].split()[1]) == process:
                found.append(int(name))
    return found


def _is_running(process: int) -> bool:
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_settings_that_cannot_be_followed_are_said_once(many):
    done = check(many, "--jobs", "2", "--select", "TFN999")
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "TFN999" in done.stderr


@pytest.mark.parametrize("number", ["0", "-1", "two", "1e3", "99999"])
def test_a_number_of_processes_that_is_none(tmp_path, number):
    assert check(tmp_path, "--jobs", number).returncode == 2
