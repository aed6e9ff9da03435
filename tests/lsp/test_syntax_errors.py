"""Findings stay in the editor while a text cannot be parsed: those of all other definitions are
judged anew, those of the one with the error are kept.
"""

from __future__ import annotations

import random

import pytest

from tfnanlint.lsp.worker import FORMER, Check, Desk, Offer, Place, Repair

PLACE = Place("/nowhere/a.py", "/nowhere")
HEAD = "import tensorflow as tf\n\n\n"
FUNCTION = "def f{n}(x):\n    y = tf.nn.softmax(x)\n    z = y\n    return tf.math.log(y)\n\n\n"
TEXT = HEAD + "".join(FUNCTION.format(n=n) for n in range(3))


def told(desk: Desk, text: str, hasty: bool = False) -> list[tuple[int, str, bool]]:
    """The rows and codes of what is found, and whether it is kept from before."""
    outcome = desk.do(Check(1, PLACE, text, hasty))
    return [
        (text.count("\n", 0, one.span.start) + 1, one.code, one.message.endswith(FORMER))
        for one in outcome.findings
    ]


def test_a_file_is_opened_with_an_error():
    text = TEXT.replace("    z = y\n", "    z = (\n", 1)
    assert told(Desk(), text) == [
        (6, "TFN001", False),
        (13, "TFN301", False),
        (19, "TFN301", False),
    ]


@pytest.mark.parametrize("hasty", [False, True])
def test_findings_stay_while_a_function_cannot_be_parsed(hasty):
    desk = Desk()
    assert [row for row, _, _ in told(desk, TEXT)] == [7, 13, 19]
    broken = TEXT.replace("    z = y\n", "    z = (\n\n", 1)
    kept = [(6, "TFN001", False), (8, "TFN301", True), (14, "TFN301", False), (20, "TFN301", False)]
    assert told(desk, broken, hasty) == kept
    again = broken.replace("    z = (\n\n", "    z = (tf.\n\n")
    assert told(desk, again, hasty) == kept
    assert told(desk, TEXT, hasty) == [(row, "TFN301", False) for row in (7, 13, 19)]


def test_what_cannot_be_recovered_keeps_all_but_what_is_edited():
    desk = Desk()
    told(desk, TEXT)
    broken = TEXT.replace("    z = y\n", "    z = = (\n") + "z z\n" * 9
    assert [(code, former) for _, code, former in told(desk, broken)] == [("TFN001", False)]
    broken = HEAD + "".join(f"def g{n}(:\n    print x\n\n" for n in range(5)) + TEXT[len(HEAD) :]
    assert [(code, former) for _, code, former in told(desk, broken)] == [
        ("TFN001", False),
        *[("TFN301", True)] * 3,
    ]


def test_nothing_is_offered_or_repaired_in_a_broken_text():
    desk = Desk()
    text = TEXT.replace("    z = y\n", "    z = (\n", 1)
    findings = desk.do(Check(1, PLACE, text)).findings
    assert all(not one.fixes for one in desk.do(Offer(2, PLACE, text, findings)))
    assert desk.do(Repair(3, PLACE, text)).edits == ()


def test_comments_hide_what_they_hid_before():
    desk = Desk()
    hidden = TEXT.replace(
        "    return tf.math.log(y)\n", "    return tf.math.log(y)  # tfn: ignore[TFN301]: checked\n"
    )
    assert told(desk, hidden) == []
    broken = hidden.replace("    z = y\n", "    z = (\n", 1)
    assert [code for _, code, _ in told(desk, broken)] == ["TFN001"]


def test_any_sequence_of_keys_ends_where_a_new_server_begins():
    """After random changes, some of which break the text, a full check says what one says that has
    seen no other version.
    """
    dice = random.Random(1)
    desk, text = Desk(), TEXT
    for step in range(40):
        at = dice.randrange(len(HEAD), len(text))
        end = at + dice.choice((0, 0, 1, 3))
        text = text[:at] + dice.choice(("", "(", ")", "x", "\n", " ", "y = 1\n")) + text[end:]
        told(desk, text, hasty=True)
        settled = [one for one in told(desk, text) if not one[2]]
        assert settled == told(Desk(), text), text
        if dice.random() < 0.3:
            text = TEXT


def test_a_finding_that_rests_on_the_broken_part_is_kept():
    desk = Desk()
    text = HEAD + "lo = 0.0\nhi = 1.0\n\n\ndef low(x):\n    return tf.math.log(lo) * x\n"
    assert told(desk, text) == [(9, "TFN101", False)]
    broken = text.replace("hi = 1.0", "lo = (1.0")
    assert told(desk, broken) == [(5, "TFN001", False), (9, "TFN101", True)]
