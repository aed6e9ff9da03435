"""What benchmarks/corpus.py --fix checks of a fixed text, tried on texts that break it; which
findings were read; the corpora.
"""

from __future__ import annotations

import re
import sys
from types import SimpleNamespace

import pytest

from tfnanlint.dev import repository
from tfnanlint.dev.verdicts import FOLDER, Verdict, by_place, precision, verdicts
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

    (tmp_path / "p").mkdir()
    verdicts = tmp_path / "read.tsv"
    head = (FOLDER / "findings.tsv").read_text().splitlines()[0]
    row = "p 1.0 a.py 1 TFN101 right why 2026-11-26 may corpus".replace(" ", "\t")
    verdicts.write_text(f"{head}\n{row}\n")
    source = Source(str(tmp_path / "p" / "a.py"), BEFORE)
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


def test_the_corpora_are_pinned_by_hash_and_share_no_wheel(tmp_path):
    from fetch import CORPORA, pins

    lists = {path.stem: pins(path) for path in sorted(CORPORA.glob("*.txt"))}
    assert {"corpus", "holdout", "fresh_a"} <= set(lists) and all(lists.values())
    wheels = [line for one in lists.values() for line in one.values()]
    assert len(set(wheels)) == len(wheels)
    bad = tmp_path / "bad.txt"
    bad.write_text("larq==0.14.0\n")
    with pytest.raises(SystemExit, match="larq"):
        pins(bad)


def test_precision_by_rule_counts_what_was_read(tmp_path):
    from verdicts import findings, table

    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "a.py").write_text(
        "import tensorflow as tf\n\n\ndef loss(x):\n    return tf.math.log(tf.nn.relu(x))\n" * 2
    )
    reported = findings(tmp_path)
    assert [place for place, _ in reported] == [("p/a.py", 5, "TFN101"), ("p/a.py", 10, "TFN101")]
    known = by_place([judged(5, "wrong"), judged(5, "right", "TFN102")])
    assert "| TFN101 | 0 of 1 (+1) | 0 of 1 (+1) |  |" in table({"p": reported}, known)
    many = by_place(judged(row, "right" if row > 1 else "wrong") for row in range(5))
    assert "| all | 3 of 5 | 3 of 5 | under 80 % |" in table(
        {"p": [(place, "MAY/yes: ") for place in many]}, many
    )


def judged(line: int, verdict: str, code: str = "TFN101") -> Verdict:
    """A verdict on a line of p/a.py."""
    return Verdict("p", "1", "a.py", str(line), code, verdict, "", "2026-11-26", "may", "corpus")


def test_the_tables_of_verdicts_hold_only_what_their_columns_allow():
    from fetch import CORPORA, pins

    samples = {path.stem: pins(path) for path in CORPORA.glob("*.txt")}
    findings, fixes = (verdicts(FOLDER / name) for name in ("findings.tsv", "fixes.tsv"))
    assert len(findings) > 1600 and len(fixes) >= 100
    assert {one.verdict for one in findings} == {"right", "wrong", "undecided"}
    assert {one.verdict for one in fixes} == {"fit", "poor", "wrong"}
    assert {one.grade for one in findings} == {"must", "may", "unknown"}
    for one in [*findings, *fixes]:
        assert re.fullmatch(r"TFN\d{3}", one.code) and re.fullmatch(r"\d{4}(-\d\d){2}", one.date)
        assert one.repository and one.commit and one.file and one.line and one.reason
    for one in findings:
        if one.sample != "installed" and not one.sample.startswith(
            "unread"
        ):  # no list: a commit each
            assert f"=={one.commit} " in samples[one.sample][one.repository], one.place


def test_the_page_counts_the_verdicts():
    page = precision([], [judged(1, "right"), judged(2, "wrong"), judged(3, "right", "TFN102")], [])
    assert "| TFN101 | 1 of 2 | 1 of 2 |" in page and "| all | 2 of 3 | 2 of 3 |" in page
