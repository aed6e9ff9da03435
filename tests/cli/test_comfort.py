"""Daily comfort: completion, the manual, `config`, links, progress, watching, scripts; each through
the real front end.
"""

from __future__ import annotations

import importlib.util
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

HERE = Path(__file__).parents[2]
RISKY = "import tensorflow as tf\n\n\ndef loss(z):\n    return tf.math.log(tf.nn.softmax(z))\n"
COMMAND = [sys.executable, "-m", "tfnanlint"]
NEUTRAL = (
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR_FORCE",
    "FORCE_HYPERLINK",
    "CI",
    "TMUX",
    "STY",
    "TERM_PROGRAM",
    "WT_SESSION",
    "KITTY_WINDOW_ID",
    "KONSOLE_VERSION",
    "VTE_VERSION",
)


def run(*argv: str, cwd=HERE, **more) -> subprocess.CompletedProcess:
    return subprocess.run(
        [*COMMAND, *argv], cwd=cwd, capture_output=True, text=True, timeout=120, **more
    )


def on_a_terminal(*argv: str, cwd, both: bool = True, **environment: str) -> str:
    """What a run shows on a terminal of its own."""
    master, slave = pty.openpty()
    clean = {name: value for name, value in os.environ.items() if name not in NEUTRAL}
    process = subprocess.Popen(
        [*COMMAND, *argv],
        cwd=cwd,
        stdin=slave,
        stdout=slave if both else subprocess.DEVNULL,
        stderr=slave,
        env={**clean, "TERM": "xterm-256color", **environment},
    )
    os.close(slave)
    shown = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # Linux says so when the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(master)
    process.wait(timeout=60)
    return shown.decode()


# Completion


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_a_script_that_the_shell_takes(tmp_path, shell):
    done = run("completion", shell)
    assert (
        done.returncode == 0
        and "unsafe-fixes" in done.stdout
        and "TFN301" in done.stdout
        and "baseline" in done.stdout
    )
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / "script"
    script.write_text(done.stdout)
    assert (
        subprocess.run([shell, "-n", str(script)], capture_output=True, text=True).returncode == 0
    )


def test_bash_completes(tmp_path):
    script = tmp_path / "script"
    script.write_text(run("completion", "bash").stdout)
    asked = (
        f"source {script}; COMP_WORDS=(tfnanlint rule TFN30); COMP_CWORD=2; _shtab_tfnanlint; "
        'printf "%s\\n" "${COMPREPLY[@]}"; COMP_WORDS=(tfnanlint check --diff-); COMP_CWORD=2; _shtab_tfnanlint; '
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True)
    assert (
        "TFN301" in done.stdout and "--diff-base" in done.stdout and "TFN101" not in done.stdout
    ), done.stderr


@pytest.mark.parametrize(
    "words, found, absent",
    [
        ("check --select TFN30", "TFN301", "TFN101"),
        ("check --unfixable TFN31", "TFN314", "TFN301"),
        ("check --output-format s", "sarif", "json"),
        ("rule --output-format j", "json", "junit"),
        ("check --modes x", "xla", "gpu"),
    ],
)
def test_bash_completes_values(tmp_path, words, found, absent):
    script = tmp_path / "script"
    script.write_text(run("completion", "bash").stdout)
    asked = (
        f"source {script}; COMP_WORDS=(tfnanlint {words}); COMP_CWORD=3; _shtab_tfnanlint; "
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True)
    assert found in done.stdout.split() and absent not in done.stdout.split(), done


def test_a_missing_package_is_named(tmp_path):
    for argv, package in ((["check", "--watch", "."], "watchfiles"),):
        code = f"import sys; sys.modules['{package}'] = None; from tfnanlint.cli import main; sys.exit(main({argv}))"
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
        )
        assert (
            done.returncode == 2
            and done.stderr.count("\n") == 1
            and f"{package}: pip install 'tfnanlint[" in done.stderr
        )


# The manual, and the words of --help


def test_the_manual_is_well_formed():
    page = HERE / "docs" / "tfnanlint.1"
    if shutil.which("groff"):
        done = subprocess.run(
            ["groff", "-man", "-Tutf8", "-ww", "-z", str(page)], capture_output=True, text=True
        )
        assert (done.returncode, done.stderr) == (0, "")
    if shutil.which("mandoc"):
        done = subprocess.run(
            ["mandoc", "-T", "lint", "-W", "warning", str(page)], capture_output=True, text=True
        )
        assert not [line for line in done.stdout.splitlines() if "missing date" not in line], (
            done.stdout
        )


def test_every_flag_has_a_meaning_and_is_in_the_manual():
    from tfnanlint.cli.flags import parser

    page = (HERE / "docs" / "tfnanlint.1").read_text().replace("\\-", "-")
    commands = next(action.choices for action in parser()._actions if action.dest == "command")
    for name, command in commands.items():
        assert f"tfnanlint {name}" in page and run(name, "--help").returncode == 0
        for action in command._actions:
            assert action.help, (name, action.dest)
            assert all(option in page for option in action.option_strings)


@pytest.mark.parametrize(
    "argv, near",
    [
        (["chek"], "check"),
        (["check", "--unsafe-fixs"], "--unsafe-fixes"),
        (["check", "--outputformat=json"], "--output-format"),
        (["check", "--output-format", "concis"], "concise"),
        (["rule", "TFN3011"], "TFN301"),
        (["rule", "log-sofmax"], "log-softmax"),
        (["check", "--select", "log-sofmax"], "log-softmax"),
        (["check", "--config", "slect = []"], "select"),
        (["config", "ignor"], "ignore"),
        (["baseline", "creat"], "create"),
    ],
)
def test_the_nearest_word_is_named(argv, near, tmp_path):
    done = run(*argv, cwd=tmp_path)
    assert done.returncode == 2 and f"did you mean `{near}`?" in done.stderr


# Settings


def test_config_shows_what_holds_and_where_it_was_stated(tmp_path):
    (tmp_path / "pyproject.toml").write_text(
        '[tool.tfnanlint]\nselect = ["TFN3"]\n[tool.tfnanlint.per-file-ignores]\n"b.py" = ["TFN301"]\n'
    )
    (tmp_path / "b.py").write_text("")
    done = run("config", "--show", "b.py", "--config", 'ignore = ["TFN304"]', cwd=tmp_path)
    lines = done.stdout.splitlines()
    assert f'select = ["TFN3"]  # {tmp_path}/pyproject.toml' in lines
    assert 'ignore = ["TFN304"]  # --config' in lines and "unsafe-fixes = false" in lines
    assert lines[-1].startswith("# rules that run: TFN302 TFN303 TFN305")
    try:
        import tomllib
    except ImportError:
        import tomli as tomllib
    assert tomllib.loads(done.stdout)["per-file-ignores"] == {"b.py": ["TFN301"]}
    told = json.loads(run("config", "--show", "--output-format", "json", cwd=tmp_path).stdout)
    assert (
        told["settings"]["select"] == {"value": ["TFN3"], "from": f"{tmp_path}/pyproject.toml"}
        and "TFN301" in told["rules"]
    )


def test_config_explains_a_key():
    done = run("config", "certainty")
    assert (
        done.stdout.startswith("certainty\n    `must`, `may` or `unknown`")
        and 'default: "default"' in done.stdout
    )
    from tfnanlint.config.keys import KEYS

    assert set(json.loads(run("config", "--output-format", "json").stdout)) == set(KEYS)


def test_the_schema_takes_what_is_taken_and_nothing_else():
    jsonschema = pytest.importorskip("jsonschema")
    from tfnanlint.config.keys import KEYS, ConfigError
    from tfnanlint.config.layers import layer

    told = json.loads((HERE / "docs" / "tfnanlint.schema.json").read_text())
    assert json.loads(run("config", "--schema").stdout) == told
    check = jsonschema.Draft7Validator(told)
    check.check_schema(told)
    values = [True, 1, 0, -1, 1.5, "", "may", "x", [], ["TFN1"], [1], {}, {"a": ["TFN1"]}, {"a": 1}]
    for table in [{key: value} for key in (*KEYS, "unknown") for value in values]:
        try:
            layer(table, "here", "/")
            taken = True
        except ConfigError:
            taken = False
        assert check.is_valid(table) == taken, table


# Rules


def test_rule_is_markdown_on_demand_and_painted_on_a_terminal(tmp_path):
    page = run("rule", "TFN301", "--output-format", "markdown").stdout
    assert (
        page.startswith("# log-softmax (TFN301)\n")
        and page.count("```") % 2 == 0
        and "**Bad:**\n\n```python\n" in page
    )
    assert "\x1b" not in run("rule", "TFN301").stdout
    shown = on_a_terminal("rule", "TFN301", cwd=tmp_path)
    assert "\x1b[1mlog-softmax (TFN301)\x1b[0m" in shown and "\x1b[31mBad:\x1b[0m" in shown
    plain = re.sub(r"\x1b\[[\d;]*m", "", shown).replace("\r\n", "\n")
    printed = re.sub(r"^#+ ", "", run("rule", "TFN301").stdout, flags=re.M)
    assert plain.replace("`", "").split() == printed.replace("`", "").split()


# Colour, links, progress


@pytest.mark.parametrize(
    "argv, environment, coloured",
    [
        ([], {}, True),
        (["--color", "never"], {}, False),
        ([], {"NO_COLOR": "1"}, False),
        (["--color", "always"], {"NO_COLOR": "1"}, True),
        ([], {"TERM": "dumb"}, False),
        (["--color", "never"], {"FORCE_COLOR": "1"}, False),
    ],
)
def test_colour_on_a_terminal(tmp_path, argv, environment, coloured):
    (tmp_path / "a.py").write_text(RISKY)
    shown = on_a_terminal("check", "a.py", *argv, cwd=tmp_path, **environment)
    # a slow run also erases its progress
    assert bool(re.search(r"\x1b\[[0-9;]*m", shown)) == coloured and "TFN301" in shown


@pytest.mark.parametrize(
    "environment, linked",
    [
        ({}, False),
        ({"TERM_PROGRAM": "iTerm.app"}, True),
        ({"VTE_VERSION": "6003"}, True),
        ({"VTE_VERSION": "4000"}, False),
        ({"WT_SESSION": "1"}, True),
        ({"WT_SESSION": "1", "NO_COLOR": "1"}, False),
        ({"WT_SESSION": "1", "CI": "1"}, False),
        ({"WT_SESSION": "1", "TMUX": "1"}, False),
        ({"WT_SESSION": "1", "FORCE_HYPERLINK": "0"}, False),
        ({"FORCE_HYPERLINK": "1"}, True),
    ],
)
def test_links_only_where_they_are_known_to_work(tmp_path, environment, linked):
    (tmp_path / "a b.py").write_text(RISKY)
    shown = on_a_terminal("check", "a b.py", cwd=tmp_path, **environment)
    assert (f"\x1b]8;;file://{tmp_path}/a%20b.py\x1b\\" in shown) == linked == ("\x1b]8" in shown)


SLOW = """
import sys, time
from tfnanlint.pipeline.linter import Linter
from tfnanlint.cli import terminal, main
terminal._PATIENCE = 0.05
terminal._PAUSE = 0.0
whole = Linter.file
def slow(self, path, fixing=False):
    time.sleep(0.02)
    return whole(self, path, fixing)
Linter.file = slow
sys.exit(main(sys.argv[1:]))
"""


def test_progress_is_shown_on_a_terminal_only_and_leaves_nothing(tmp_path, monkeypatch):
    for number in range(12):
        (tmp_path / f"m{number:02}.py").write_text(RISKY)
    monkeypatch.setattr(sys.modules[__name__], "COMMAND", [sys.executable, "-c", SLOW])
    shown = on_a_terminal("check", "--output-format", "concise", cwd=tmp_path, NO_COLOR="1")
    assert "checked 11 of 12 files" in shown
    left = [re.sub(r".*\r\x1b\[K", "", line) for line in shown.replace("\r\n", "\n").split("\n")]
    assert [line for line in left if "checked" in line] == [] and sum(
        "TFN301" in line for line in left
    ) == 12
    assert "checked" not in on_a_terminal("check", "--quiet", cwd=tmp_path)
    assert "checked" not in run("check", cwd=tmp_path).stderr


# Watching


@pytest.mark.skipif(
    importlib.util.find_spec("watchfiles") is None, reason="watchfiles is not installed"
)
def test_watch_checks_again_when_a_file_changes(tmp_path):
    path = tmp_path / "a.py"
    path.write_text(RISKY)
    process = subprocess.Popen(
        [*COMMAND, "check", "--watch", "--output-format", "concise", "."],
        cwd=tmp_path,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        bufsize=1,
        # A shell's job in the background is started with Ctrl-C ignored, and
        # hands that on.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        assert "TFN301" in until(process, "Watching")
        time.sleep(1)
        (tmp_path / "notes.txt").write_text("no matter")
        path.write_text(RISKY.replace("tf.math.log(tf.nn.softmax(z))", "tf.nn.log_softmax(z)"))
        assert "All checks passed!" in until(process, "Watching")
    finally:
        process.send_signal(2)
        assert process.wait(timeout=30) == 0
        process.stdout.close()


def until(process: subprocess.Popen, word: str) -> str:
    """What a process prints up to a line that begins with a word."""
    said = ""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if select.select([process.stdout], [], [], 1)[0]:
            line = process.stdout.readline()
            said += line
            if line.startswith(word) or not line:
                return said
    raise AssertionError(f"nothing begins with {word}: {said}")


@pytest.mark.parametrize(
    "argv, complaint",
    [
        (["--watch", "-"], "files"),
        (["--watch", "--fix"], "writes nothing"),
        (["--watch", "not-there/a.py"], "no such"),
        (["-", "a.py"], "./-"),
    ],
)
def test_what_does_not_go_together(tmp_path, argv, complaint):
    done = run("check", *argv, cwd=tmp_path, input="")
    assert done.returncode == 2 and complaint in done.stderr


# Paths


@pytest.mark.parametrize(
    "first, found",
    [
        ("#!/usr/bin/env python3", True),
        ("#!/usr/bin/python", True),
        ("#! /usr/local/bin/python3.11 -u", True),
        ("#!/usr/bin/env -S uv run --script", True),
        ("#!/bin/sh", False),
        ("#!/usr/bin/pythonic", False),
        ("# python", False),
        ("", False),
    ],
)
def test_scripts_without_an_extension(tmp_path, first, found):
    (tmp_path / "script").write_text(f"{first}\n{RISKY}")
    (tmp_path / "other.txt").write_text(f"#!/usr/bin/env python3\n{RISKY}")
    done = run("check", "--output-format", "concise", "--isolated", cwd=tmp_path)
    assert (
        "script:6:12: warning: TFN301" in done.stdout
    ) == found and "other.txt" not in done.stdout


@pytest.mark.slow
def test_paths_in_every_form(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.py").write_text(RISKY)
    for path in (
        "sub/a.py",
        "./sub//a.py",
        "sub/../sub/a.py",
        str(tmp_path / "sub" / "a.py"),
        "sub/",
        ".",
    ):
        assert run(
            "check", "-q", "--output-format", "concise", path, cwd=tmp_path
        ).stdout.startswith("sub/a.py:5:12"), path
    (tmp_path / "-").write_text(RISKY)
    assert run("check", "-q", "--output-format", "concise", "./-", cwd=tmp_path).stdout.startswith(
        "-:5:12"
    )


# What is not asked for is not loaded


LOADED = """
import sys
from tfnanlint.cli import main
main(sys.argv[1:])
print("loaded:", *sorted(set(sys.modules) & set("subprocess multiprocessing concurrent.futures shtab watchfiles json difflib "
      "tfnanlint.pipeline.baseline tfnanlint.pipeline.changed_lines tfnanlint.pipeline.workers tfnanlint.suppression.writer tfnanlint.pipeline.fix urllib.request pathspec".split())))
"""


def test_a_plain_check_loads_no_feature_that_it_does_not_use(tmp_path):
    (tmp_path / "a.py").write_text(
        "import tensorflow as tf\n\n\ndef f(x):\n    return tf.nn.relu(x)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", LOADED, "check", "a.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines()[-1] == "loaded:", done.stdout + done.stderr
