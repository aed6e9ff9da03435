"""`tfnanlint.batch`: the same findings as on disk, from memory, with nothing left behind."""

from __future__ import annotations

import gc
import pickle
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tfnanlint import batch
from tfnanlint.batch import Budget, FileRow, FindingRow, Judge, Repository, lint
from tfnanlint.config.keys import ConfigError
from tfnanlint.config.layers import Configuration, Layer
from tfnanlint.dev import repository
from tfnanlint.pipeline.linter import Linter
from tfnanlint.project import index
from tfnanlint.project.filesystem import Disk

HELPER = b"import tensorflow as tf\n\n\ndef f(x):\n    return tf.math.log(x)\n"
CALLER = b"import tensorflow as tf\nfrom lib.helper import f\n\ny = f(tf.nn.softmax(z))\n"
TWO_FILES = {"lib/__init__.py": b"", "lib/helper.py": HELPER, "use.py": CALLER}


def timeless(row):
    return replace(row, seconds=0.0) if isinstance(row, FileRow) else row


def found(rows):
    return [(row.path, row.code) for row in rows if isinstance(row, FindingRow)]


def files(rows):
    return {row.path: (row.status, row.reason) for row in rows if isinstance(row, FileRow)}


def test_an_import_leads_into_the_other_file():
    assert ("lib/helper.py", "TFN301") in found(lint([Repository("two", TWO_FILES)]))
    alone = {"lib/helper.py": HELPER}
    assert ("lib/helper.py", "TFN301") not in found(lint([Repository("one", alone)]))


def test_two_repositories_know_nothing_of_each_other():
    first, second = Repository("a", {"use.py": CALLER}), Repository("b", {"lib/helper.py": HELPER})
    assert found(lint([first, second])) == found(lint([second])) == found(lint([second, first]))


def test_the_disk_is_not_touched(monkeypatch):
    judge = Judge()
    expected = found(judge.rows(Repository("two", TWO_FILES)))

    def refuse(*arguments, **options):
        raise AssertionError(f"the disk was asked for {arguments}")

    for name in ("stat", "walk", "listdir"):
        monkeypatch.setattr(f"os.{name}", refuse)
    monkeypatch.setattr("builtins.open", refuse)
    assert found(judge.rows(Repository("two", TWO_FILES))) == expected != []


def test_it_finds_what_the_command_line_finds(monkeypatch):
    folder = repository.ROOT / "fixtures" / "programs"
    paths = sorted(path for path in folder.rglob("*.py"))
    sources = {str(path.relative_to(folder)): path.read_bytes() for path in paths}
    linter = Linter(Configuration(Layer(), (), True))
    on_disk = {
        (str(path.relative_to(folder)), finding.code, checked.source.position(finding.span.start))
        for path in paths
        for checked in [linter.check(str(path), path.read_bytes())]
        for finding in checked.findings
    }
    in_memory = {
        (row.path, row.code, (row.row, row.column))
        for row in lint([Repository("programs", sources)])
        if isinstance(row, FindingRow)
    }
    assert in_memory == on_disk != set()


def test_what_cannot_be_checked_is_told():
    sources = {
        "broken.py": b"import keras\nx = (\n",
        "plain.py": b"print(1)\n",
        "large.py": b"import keras\n" + b"#" * (3 << 20),
        "notes.txt": b"tensorflow",
    }
    rows = list(lint([Repository("mixed", sources, {"lost.py": "the object is missing"})]))
    assert files(rows) == {
        "broken.py": ("failed", "syntax error: '(' was never closed; line 2 is not checked"),
        "plain.py": ("irrelevant", ""),
        "large.py": ("skipped", "larger than max-file-size (3145741 bytes)"),
        "lost.py": ("skipped", "the object is missing"),
    }
    assert found(rows) == [("broken.py", "TFN001")]


def test_a_budget_ends_one_repository_and_not_the_next():
    both = len(HELPER) + len(CALLER)
    rows = list(lint([Repository("a", TWO_FILES)] * 2, budget=Budget(bytes=both - 1)))
    statuses = [row.status for row in rows if isinstance(row, FileRow)]
    assert statuses == ["irrelevant", "checked", "skipped"] * 2
    late = files(lint([Repository("a", TWO_FILES)], budget=Budget(seconds=-1.0)))
    assert late["use.py"] == ("skipped", "the budget of -1 seconds for the repository is spent")


def test_a_bug_costs_one_file(monkeypatch):
    check = batch.check

    def failing(path, data, policy):
        if path.endswith("use.py"):
            raise ZeroDivisionError("a bug")
        return check(path, data, policy)

    monkeypatch.setattr(batch, "check", failing)
    rows = list(lint([Repository("two", TWO_FILES)]))
    assert files(rows)["use.py"][0] == "failed" and files(rows)["lib/helper.py"][0] == "checked"


def test_a_path_does_not_lead_out():
    rows = list(lint([Repository("evil", {"../../etc/passwd.py": HELPER, "/abs.py": HELPER})]))
    assert set(files(rows)) == {"etc/passwd.py", "abs.py"}


def test_settings_are_followed_and_checked():
    row = {"a.py": b"import tensorflow as tf\ny = tf.math.log(tf.nn.softmax(x))\n"}
    assert found(lint([Repository("", row)], {"ignore": ["TFN301"]})) != [("a.py", "TFN301")]
    assert found(lint([Repository("", row)])) == [("a.py", "TFN301")]
    with pytest.raises(ConfigError, match="unknown key"):
        next(lint([Repository("", row)], {"selekt": ["TFN1"]}))


def test_rows_and_repositories_can_be_pickled():
    rows = list(lint([Repository("two", TWO_FILES)]))
    assert pickle.loads(pickle.dumps(rows)) == rows
    pickle.loads(pickle.dumps(Repository("two", TWO_FILES)))


def test_calls_that_take_turns_are_independent():
    both = [Repository("two", TWO_FILES), Repository("b", {"use.py": CALLER})]
    expected = list(map(timeless, lint(both)))
    first, second = lint(both), lint(reversed(both))
    in_turn, others = [], []
    for _ in range(len(expected)):
        in_turn.append(timeless(next(first)))
        others.append(timeless(next(second)))
    assert in_turn == expected and sorted(map(repr, others)) == sorted(map(repr, expected))


def test_a_call_that_is_given_up_leaves_nothing_behind():
    rows = lint([Repository("two", TWO_FILES)])
    next(rows)
    assert isinstance(index._files, Disk)


def test_threads_wait_for_each_other(monkeypatch):
    repositories = [Repository("two", TWO_FILES), Repository("b", {"use.py": CALLER})] * 4
    check, files = batch.check, []

    def slow(path, data, policy):
        files.append(index._files)
        time.sleep(0.005)
        files.append(index._files)  # another thread would have put its own there
        return check(path, data, policy)

    monkeypatch.setattr(batch, "check", slow)
    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(lambda each: list(map(timeless, lint([each]))), repositories))
    assert files[::2] == files[1::2]
    assert results == [list(map(timeless, lint([each]))) for each in repositories]


@pytest.mark.slow
def test_a_repository_is_let_go_of_before_the_next():
    class Watched(dict):
        pass

    gone = []

    def repositories():
        for number in range(3):
            files = Watched(TWO_FILES)
            weakref.finalize(files, gone.append, number)
            yield Repository(str(number), files)
            del files
            gc.collect()
            assert gone == list(range(number))  # the newest is still held by the caller

    assert len(found(lint(repositories()))) > 0


def test_lines_are_counted():
    rows = [row for row in lint([Repository("two", TWO_FILES)]) if isinstance(row, FileRow)]
    assert {row.path: row.lines for row in rows} == {
        "lib/__init__.py": 0,
        "lib/helper.py": 5,
        "use.py": 4,
    }
