"""The process that does jobs: what becomes of one does not depend on those before it."""

from __future__ import annotations

import json
import os
import signal

import pytest

from tfnanlint.prove import search, worker
from tfnanlint.prove.host import MEMORY

LINUX = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="it reads /proc")
pytestmark = LINUX
JOB = {"seconds": 5.0, "memory": MEMORY}
PROVED = {"status": "proved", "seconds": 0.0}


@pytest.fixture
def child(monkeypatch):
    """A child for jobs whose search is a function of this file."""
    monkeypatch.setattr(search, "searched", lambda job: globals()[job["do"]](job))
    made = worker._Child()
    yield lambda do, **more: json.loads(made.answer({**JOB, "do": do, **more}))
    made.end()


def proves(job):
    return {**PROVED, "process": os.getpid()}


def dies_once(job):
    if os.path.exists(job["mark"]):
        return {**PROVED, "process": os.getpid()}
    open(job["mark"], "w").close()
    os.kill(os.getpid(), signal.SIGTERM)


def dies(job):
    with open(job["mark"], "a") as stream:
        stream.write("x")
    os.kill(os.getpid(), signal.SIGTERM)


def lacks_memory_once(job):
    if os.path.exists(job["mark"]):
        return {**PROVED, "process": os.getpid()}
    open(job["mark"], "w").close()
    return {"status": "not reproduced", "reason": "", "exhausted": True}


def takes(job):
    """Reserve much memory, and keep it."""
    import mmap

    kept.append(mmap.mmap(-1, job["reserved"] << 20))
    return {**PROVED, "process": os.getpid()}


kept = []


@pytest.mark.parametrize("do", ["dies_once", "lacks_memory_once"])
def test_a_job_that_breaks_its_process_is_done_again_in_a_new_one(child, tmp_path, do):
    first = child("proves")["process"]
    answer = child(do, mark=str(tmp_path / "mark"))
    assert answer["status"] == "proved"
    assert answer["process"] != first


def test_a_job_that_breaks_each_process_is_done_twice(child, tmp_path):
    mark = tmp_path / "mark"
    child("proves")
    assert child("dies", mark=str(mark)) == {
        "status": "unsupported",
        "reason": f"the process ended ({signal.SIGTERM.value})",
    }
    assert mark.read_text() == "xx"
    assert child("proves")["status"] == "proved"


def test_the_memory_is_that_of_a_job(child):
    kept = [child("takes", reserved=600, memory=1000)["status"] for _ in range(4)]
    assert kept == ["proved"] * 4
