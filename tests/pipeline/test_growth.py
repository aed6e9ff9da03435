"""Work grows with the length of a file: nothing is called more often for each line of a longer one.
Calls are counted, not timed.
"""

from __future__ import annotations

import collections
import importlib.util
import sys

import pytest

from tfnanlint.config.layers import Configuration, Layer
from tfnanlint.dev import repository
from tfnanlint.pipeline.check import check_source
from tfnanlint.project import index as project
from tfnanlint.rule import registry as rules
from tfnanlint.syntax.source import Source

LINES, TIMES = 500, 4
FEW = 400  # calls that say nothing yet: what is done once a file, or up to some bound

_spec = importlib.util.spec_from_file_location(
    "growth", repository.ROOT / "benchmarks" / "growth.py"
)
growth = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(growth)
POLICY = Configuration(Layer(), (), True).for_directory("").policy("", rules.load())


def calls(text: str) -> collections.Counter:
    """How often each function is entered, and each generator taken up again, while a text is
    checked.
    """
    count: collections.Counter = collections.Counter()

    def note(frame, event, arg):
        if event == "call":
            count[frame.f_code] += 1

    project._sources.clear()  # what is kept with a tree would be there already
    source = Source("generated.py", text)
    sys.setprofile(note)
    try:
        check_source(source, POLICY)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.slow
@pytest.mark.parametrize("kind", growth.KINDS)
def test_nothing_is_asked_more_often_for_each_line_of_a_longer_file(kind):
    short, long = (growth.KINDS[kind](lines) for lines in (LINES, TIMES * LINES))
    check_source(Source("generated.py", long), POLICY)  # what is kept by name is there then
    few, many = calls(short), calls(long)
    worse = {
        f"{code.co_filename}:{code.co_firstlineno} {code.co_name}": (few[code], count)
        for code, count in many.items()
        if count > FEW and count > 2 * TIMES * few[code]
    }
    assert not worse
