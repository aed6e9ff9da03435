"""Style and types of the whole repository, by ruff and mypy as `pyproject.toml` sets them up."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("ruff", "check", "."), id="ruff check"),
        pytest.param(("ruff", "format", "--check", "."), id="ruff format"),
        pytest.param(("mypy",), marks=pytest.mark.slow, id="mypy"),
    ],
)
def test_nothing_is_reported(arguments):
    pytest.importorskip(arguments[0])
    done = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_lists_of_exceptions_name_files_that_exist_and_need_them():
    tomllib = pytest.importorskip("tomllib")
    pytest.importorskip("ruff")
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["ruff"]["lint"]
    stated = {
        (name, code)
        for name, codes in settings["per-file-ignores"].items()
        if "*" not in name
        for code in codes
    }
    codes = ",".join(sorted({code for _, code in stated}))
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", codes]
    command += ["--line-length", "100", "--config", "lint.mccabe.max-complexity=12"]
    command += ["--output-format", "concise", *sorted({name for name, _ in stated})]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    lines = [line.split(":", 3) for line in done.stdout.splitlines() if line.count(":") >= 3]
    needed = {(name, rest.split()[0]) for name, _, _, rest in lines}
    assert stated <= needed, f"no longer needed: {sorted(stated - needed)}"


TRANSLATED = re.compile(
    r"\b(?:some|no|any)body\b|\bwhoever\b|\bhangs? (?:on|off)\b|\bfor ever\b|\bbrings? about\b",
    re.IGNORECASE,
)


def test_no_phrase_reads_as_translated():
    """In code, comments and docstrings; `test_words.py` asks more of what a user reads."""
    places = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for folder in ("tfnanlint", "rules", "benchmarks", "tests")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if path != Path(__file__) and path.name not in ("test_words.py", "test_rewriter.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if TRANSLATED.search(line)
    ]
    assert places == []


SAYS_NOTHING = frozenset("one found other made given".split())


def unnamed(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The parameters and local variables whose names do not say what they hold, with their lines;
    not those of comprehensions, and not what `__eq__` compares with.
    """
    of_comprehensions = {
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.comprehension)
        for name in ast.walk(node.target)
    }
    fields = {
        node.target
        for owner in ast.walk(tree)
        if isinstance(owner, ast.ClassDef)
        for node in owner.body
        if isinstance(node, ast.AnnAssign)
    }
    compared = {
        argument
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name == "__eq__"
        for argument in node.args.args
    }
    for node in ast.walk(tree):
        match node:
            case ast.arg(arg=name) | ast.ExceptHandler(name=name) if node not in compared:
                pass
            case ast.Name(id=name, ctx=ast.Store()) if node not in of_comprehensions | fields:
                pass
            case _:
                continue
        if name in SAYS_NOTHING:
            yield node.lineno, name


@pytest.mark.parametrize(
    "text, names",
    [
        ("def f(one): pass", ["one"]),
        ("def f():\n    found = 1", ["found"]),
        ("def f():\n    for other in x: pass", ["other"]),
        ("def f():\n    a, made = x", ["made"]),
        ("g = lambda given: given", ["given"]),
        ("def f():\n    return [one for one in x]", []),
        ("class A:\n    made: int = 0", []),
        ("def f(a):\n    a.found = 1", []),
        ("def __eq__(self, other): pass", []),
    ],
)
def test_which_names_say_nothing(text, names):
    assert [name for _, name in unnamed(ast.parse(text))] == names


def test_locals_are_named_after_what_they_hold():
    places = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for folder in ("tfnanlint", "rules")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line, name in unnamed(ast.parse(path.read_text()))
    ]
    assert places == []
