"""Other systems than Linux, and one without a network, played by what Python has there."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest
from site_code import NO_NETWORK, WINDOWS, site_code

from tfnanlint.dev.wire import Client
from tfnanlint.files import store
from tfnanlint.pipeline import workers

RISKY = "import tensorflow as tf\n\n\ndef f(z):\n    return tf.math.log(tf.nn.softmax(z))\n"
FIXED = RISKY.replace("tf.math.log(tf.nn.softmax(z))", "tf.nn.log_softmax(z)")
NOTEBOOK = json.dumps(
    {
        "cells": [
            {
                "cell_type": "code",
                "execution_count": None,
                "id": "a",
                "metadata": {},
                "outputs": [],
                "source": RISKY.splitlines(keepends=True),
            }
        ],
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
)
# Everything that a user runs without a program of his own, and its exit code.
COMMANDS = [
    (("--version",), 0),
    (("rules",), 0),
    (("explain", "TFN301"), 0),
    (("config",), 0),
    (("completion", "bash"), 0),
    (("check", "--jobs", "2", "--output-format", "json", "."), 1),
    (("check", "--output-format", "sarif", "."), 1),
    (("check", "--no-cache", "--diff", "."), 1),
    (("check", "--output-format", "html=report.html", "."), 1),
    (("check", "--fix", "."), 0),
    (("baseline", "create"), 0),
    (("clean",), 0),
]


@pytest.fixture
def project(tmp_path) -> Path:
    """A folder with a module of LF, one of CRLF, and a notebook."""
    folder = tmp_path / "project"
    (folder / "pkg").mkdir(parents=True)
    (folder / "pkg" / "a.py").write_text(RISKY, newline="\n")
    (folder / "pkg" / "b.py").write_text(RISKY, newline="\r\n")
    (folder / "c.ipynb").write_text(NOTEBOOK)
    return folder


def run(folder: Path, env: dict[str, str], *words: str) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "tfnanlint", *words]
    cache = {"TFNANLINT_NO_CACHE": "", "TFNANLINT_CACHE_DIR": str(folder.parent / "cache")}
    done = subprocess.run(
        command, cwd=folder, env={**env, **cache}, capture_output=True, timeout=120
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def edited(folder: Path, env: dict[str, str]) -> list[str]:
    """The codes that the language server finds in a file of a folder."""
    path = folder / "pkg" / "new.py"
    with Client(folder, env=env) as client:
        client.open(path.as_uri(), RISKY)
        reported = client.diagnostics(path.as_uri(), until=bool)[1]
    return [diagnostic["code"] for diagnostic in reported]


@pytest.mark.slow
def test_no_command_uses_the_network(project, tmp_path):
    asked = tmp_path / "asked"
    env = site_code(tmp_path / "site", NO_NETWORK, LOG=str(asked))
    for words, code in COMMANDS:
        status, _, err = run(project, env, *words)
        assert (words, status) == (words, code), err
    assert edited(project, env) == ["TFN301"]
    assert not asked.exists(), asked.read_text()


def test_a_connection_would_be_noticed(tmp_path):
    """The test above can fail: a process, and one that it starts, is refused a server that is
    there.
    """
    asked = tmp_path / "asked"
    env = site_code(tmp_path / "site", NO_NETWORK, LOG=str(asked))
    server = HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    threading.Thread(target=server.handle_request, daemon=True).start()
    connect = f"import socket; socket.create_connection({server.server_address!r})"
    nested = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {connect!r}])"
    for code in (connect, nested):
        done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True)
        assert b"PermissionError" in done.stderr
    server.server_close()
    assert len(asked.read_text().splitlines()) == 2


@pytest.mark.slow
def test_what_windows_has_is_enough(project, tmp_path):
    """Each command says and writes what it does on Linux, text with the line ends of Windows."""
    elsewhere = tmp_path / "windows" / "project"
    shutil.copytree(project, elsewhere)
    here = site_code(tmp_path / "plain", "")
    windows = site_code(tmp_path / "site", WINDOWS)
    for words, code in COMMANDS:
        expected, said = run(project, here, *words), run(elsewhere, windows, *words)
        printed = said[1].replace(str(elsewhere.parent), str(project.parent))
        assert (words, said[0], said[2]) == (words, code, expected[2])
        if "--diff" in words:  # for `git apply`: the line ends of the files
            assert printed == expected[1]
        else:
            assert printed == expected[1].replace("\n", "\r\n"), words
    written = {path.name: path.read_bytes() for path in elsewhere.rglob("*") if path.is_file()}
    assert written == {
        path.name: path.read_bytes() for path in project.rglob("*") if path.is_file()
    }
    assert written["a.py"] == FIXED.encode()
    assert written["b.py"] == FIXED.replace("\n", "\r\n").encode()
    assert edited(elsewhere, windows) == ["TFN301"]


@pytest.mark.parametrize(
    "platform, variables, folder",
    [
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/tfnanlint"),
        ("win32", {}, "/home/me/AppData/Local/tfnanlint"),
        ("darwin", {"XDG_CACHE_HOME": "/cache"}, "/home/me/Library/Caches/tfnanlint"),
        ("linux", {"XDG_CACHE_HOME": "/cache"}, "/cache/tfnanlint"),
        ("linux", {"XDG_CACHE_HOME": "cache"}, "/home/me/.cache/tfnanlint"),
    ],
)
def test_where_results_are_kept(monkeypatch, platform, variables, folder):
    for name in ("LOCALAPPDATA", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/me", **variables}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(store.sys, "platform", platform)
    assert store.user_folder() == folder


@pytest.mark.parametrize("mapped, limits", [(0, 0), (1 << 30, 1)])
def test_memory_is_limited_where_the_system_tells_how_much_is_used(monkeypatch, mapped, limits):
    """macOS has no /proc, and refuses a limit below what is mapped."""
    import resource

    called = []
    monkeypatch.setattr(workers, "_address_space", lambda: mapped)
    monkeypatch.setattr(resource, "setrlimit", lambda *arguments: called.append(arguments))
    workers.limit_memory(1 << 30)
    assert len(called) == limits


@pytest.mark.parametrize(
    "uri, folder",
    [
        ("file:///C:/Work/a.py", "c:\\work"),
        ("file:///c%3A/work/sub/a.py", "c:\\work\\Sub"),
        ("file:///C:/workshop/a.py", ""),
        ("file://server/share/a.py", "\\\\server\\share"),
        ("untitled:a.py", ""),
    ],
)
def test_folders_of_windows_in_the_editor(monkeypatch, uri, folder):
    """Capitals do not count, and a drive is written in several ways."""
    import ntpath

    from pygls import uris

    from tfnanlint.lsp import server

    monkeypatch.setattr(uris, "IS_WIN", True)
    folders = ("file:///C:/work", "file:///c%3A/work/Sub", "file://server/share")
    workspace = SimpleNamespace(folders=lambda: [uris.to_fs_path(each) for each in folders])
    path = uris.to_fs_path(uri)
    with monkeypatch.context() as windows:
        windows.setattr(server.os, "path", ntpath)
        windows.setattr(server.os, "sep", "\\")
        assert server.Server.folder(workspace, path) == folder
