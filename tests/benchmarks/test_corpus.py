"""What benchmarks/corpus.py --fix checks of a fixed text, tried on texts that break it; which
findings were read; the corpora.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from tfnanlint.dev import repository
from tfnanlint.syntax.source import Source, Span

sys.path.insert(0, str(repository.ROOT / "benchmarks"))

BEFORE = "import tensorflow as tf\n\ny = tf.math.log(x)  # why\nz = 1\n"


def faults(after: str, *regions: tuple[int, int]) -> list[str]:
    from corpus import broken

    return sorted(
        broken(
            BEFORE,
            SimpleNamespace(source=Source("a.py", after), regions=[Span(*one) for one in regions]),
        )
    )


def test_a_fix_inside_of_its_region_is_fine():
    after = BEFORE.replace("log(x)", "log(tf.maximum(x, 1e-7))")
    start = after.index("tf.maximum")
    assert faults(after, (start, start + len("tf.maximum(x, 1e-7)"))) == []
    assert faults(BEFORE) == []


@pytest.mark.parametrize(
    "old, new, wanted",
    [
        ("z = 1", "z = 2", ["changed outside of the edits"]),
        ("import tensorflow", "import  tensorflow", ["changed outside of the edits"]),
        ("  # why", "", ["changed outside of the edits", "comments lost"]),
        ("z = 1", "z = (1", ["do not parse"]),
    ],
)
def test_what_changed_elsewhere_is_noticed(old, new, wanted):
    after = BEFORE.replace("log(x)", "log(w)").replace(old, new)
    start = after.index("(w)") + 1
    assert faults(after, (start, start + 1)) == wanted


def test_what_was_read_is_not_drawn_again(tmp_path):
    from corpus import drawn

    verdicts = tmp_path / "read.md"
    verdicts.write_text("- `a.py:1:1`\n  TFN101 MAY, right: it is 0\n")
    source = Source(str(tmp_path / "a.py"), BEFORE)
    one = SimpleNamespace(path=source.path, source=source)
    found = [
        (one, SimpleNamespace(code=code, span=Span(0, 1)))
        for code in ("TFN101", "TFN102", "TFN102")
    ]

    def codes(**given) -> list[str]:
        args = SimpleNamespace(
            **{"sample": 9, "each": 0, "seed": 1, "read": None, "directory": [tmp_path], **given}
        )
        return sorted(finding.code for _, finding in drawn(found, args))

    assert codes() == ["TFN101", "TFN102", "TFN102"]
    assert codes(read=verdicts) == ["TFN102", "TFN102"]
    assert codes(each=1) == ["TFN101", "TFN102"] and codes(each=1, read=verdicts) == ["TFN102"]


def test_the_other_corpora_are_pinned_by_hash_and_share_no_package(tmp_path):
    from holdout import PINS, pins

    lists = [
        pins(PINS.with_name(name))
        for name in (
            "holdout.txt",
            "fresh_a.txt",
            "fresh_b.txt",
            "fresh_c.txt",
            "fresh_d.txt",
            "fresh_e.txt",
        )
    ]
    assert all(len(one) > 40 for one in lists)
    assert len({package.lower().replace("-", "_") for one in lists for package in one}) == sum(
        map(len, lists)
    )
    bad = tmp_path / "bad.txt"
    bad.write_text("larq==0.14.0\n")
    with pytest.raises(SystemExit, match="larq"):
        pins(bad)


def test_precision_by_rule_counts_what_was_read(tmp_path):
    from verdicts import findings, table, verdicts

    (tmp_path / "p.py").write_text(
        "import tensorflow as tf\n\n\ndef loss(x):\n    return tf.math.log(tf.nn.relu(x))\n" * 2
    )
    found = findings(tmp_path)
    assert [place for place, _ in found] == [("p.py", 5, "TFN101"), ("p.py", 10, "TFN101")]
    known = verdicts(
        "- `p.py:5:12` TFN101 MAY, wrong: a reason\n  on two lines\n- `p.py:5:12` TFN102 MAY, right\n"
    )
    assert known == {
        ("p.py", 5, "TFN101"): ("wrong", "a reason on two lines"),
        ("p.py", 5, "TFN102"): ("right", ""),
    }
    assert "| TFN101 | 0 of 1 (+1) | 0 of 1 (+1) |  |" in table({"p": found}, known)
    many = {("p.py", row, "TFN101"): ("right" if row > 1 else "wrong", "") for row in range(5)}
    assert "| all | 3 of 5 | 3 of 5 | under 80 % |" in table(
        {"p": [(place, "MAY/yes: ") for place in many]}, many
    )


def test_every_list_of_verdicts_is_read():
    from verdicts import READ, verdicts

    assert all(
        len(verdicts((repository.ROOT / "benchmarks" / name).read_text())) > 200 for name in READ
    )
