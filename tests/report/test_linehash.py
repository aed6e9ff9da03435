"""GitHub's hash of a line, against the values that its CodeQL action's own tests state."""

from __future__ import annotations

import pytest

from tfnanlint.report.linehash import line_hashes
from tfnanlint.syntax.source import Source

GREETINGS = [
    "8b7cf3e952e7aeb2:1",
    "b1ae1287ec4718d9:1",
    "bff680108adb0fcc:1",
    "c6805c5e1288b612:1",
    "b86d3392aea1be30:1",
    "e6ceba753e1a442:1",
]


@pytest.mark.parametrize(
    "text, hashes",
    [
        (
            " a\nb\n  \t\tc\n d",
            ["271789c17abda88f:1", "54703d4cd895b18:1", "180aee12dab6264:1", "a23a3dc5e078b07b:1"],
        ),
        ("hello; \t\nworld!!!\n\n\n  \t\tGreetings\n End", GREETINGS),
        (
            "hello; \t\nworld!!!\n\n\n  \t\tGreetings\n End\n",
            [
                "e9496ae3ebfced30:1",
                "fb7c023a8b9ccb3f:1",
                "ce8ba1a563dcdaca:1",
                "e20e36e16fcb0cc8:1",
                "b3edc88f2938467e:1",
                "c8e28b0b4002a3a0:1",
                "c129715d7a2bc9a3:1",
            ],
        ),
    ],
)
def test_the_values_of_the_action(text, hashes):
    assert line_hashes(Source("a.py", text)) == hashes
