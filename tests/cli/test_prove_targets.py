"""What `tfnanlint prove` is asked for."""

from __future__ import annotations

import os

import pytest

from tfnanlint.cli.prove import targets


@pytest.mark.parametrize(
    ("words", "rows", "paths"),
    [
        (["a.py:6", "a.py:8"], {"a.py": {6, 8}}, ["a.py"]),
        (["a.py:6", "a.py"], {}, ["a.py"]),
        (["src/a.py:6", "src"], {}, ["src/a.py", "src"]),
        (["src/a.py:6", "."], {}, ["src/a.py", "."]),
        (["src/a.py:6", "srcs"], {"src/a.py": {6}}, ["src/a.py", "srcs"]),
    ],
)
def test_a_file_that_is_also_asked_for_as_a_whole_has_no_rows(
    tmp_path, monkeypatch, words, rows, paths
):
    monkeypatch.chdir(tmp_path)
    assert targets(words) == ({os.path.abspath(path): each for path, each in rows.items()}, paths)
