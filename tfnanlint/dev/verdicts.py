"""What was judged one by one, as data, and the page that is generated from it.

`benchmarks/verdicts/` holds tables of tab-separated values: `findings.tsv` (reported findings),
`fixes.tsv` (applied fixes) and `samples.tsv` (how many of a sample were right when it was read).
`python -m tfnanlint.dev.docs` writes `benchmarks/precision.md`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tfnanlint.dev.repository import ROOT
from tfnanlint.diagnostics.fix_kinds import FIX_KINDS, LEAST_FIT
from tfnanlint.diagnostics.kinds import KINDS, LEAST

FOLDER = ROOT / "benchmarks" / "verdicts"
WRITTEN = "<!-- written by python -m tfnanlint.dev.docs from benchmarks/verdicts/*.tsv -->"

Row = dict[str, str]
Place = tuple[str, int, str]


@dataclass(frozen=True)
class Verdict:
    """The judgement of one finding or fix, as a row of a table states it.

    `commit` is the commit of a repository or the version of a package, `line` may name a cell of a
    notebook, `grade` is the certainty of a finding or `safe` and `unsafe` of a fix, and `sample` is
    the list of repositories from which the place was drawn.
    """

    repository: str
    commit: str
    file: str
    line: str
    code: str
    verdict: str
    reason: str
    date: str
    grade: str
    sample: str

    @property
    def place(self) -> str:
        """`repository/file:line`."""
        return f"{self.repository}/{self.file}:{self.line}"


def rows(path: Path) -> list[Row]:
    """The rows of a table, each by the names in its first line."""
    head, *lines = path.read_text(encoding="utf-8").splitlines()
    names = head.split("\t")
    return [dict(zip(names, line.split("\t"), strict=True)) for line in lines]


def verdicts(path: Path) -> list[Verdict]:
    """The rows of `findings.tsv`, or of another table of the same columns."""
    return [Verdict(**row) for row in rows(path)]


def by_place(known: Iterable[Verdict]) -> dict[Place, Verdict]:
    """(`repository/file`, line, code) -> verdict: what `benchmarks/verdicts.py` looks up; it reads
    no notebooks.
    """
    return {
        (f"{one.repository}/{one.file}", int(one.line), one.code): one
        for one in known
        if one.line.isdecimal()
    }


def pages() -> dict[Path, str]:
    """The generated page and its text."""
    samples = rows(FOLDER / "samples.tsv")
    judged = (verdicts(FOLDER / f"{name}.tsv") for name in ("findings", "fixes"))
    return {ROOT / "benchmarks" / "precision.md": precision(samples, *judged)}


def precision(samples: list[Row], findings: list[Verdict], applied: list[Verdict]) -> str:
    """`benchmarks/precision.md`."""
    parts = [f"# Precision\n\n{WRITTEN}", *_of_findings(samples, findings)]
    return "\n\n".join([*parts, *_of_fixes(samples, applied)]) + "\n"


# Findings


def _of_findings(samples: list[Row], findings: list[Verdict]) -> list[str]:
    return [
        "A finding is right when a user can meet the hazard and nothing in the project excludes "
        "it. A reader judged each finding after reading the project around it.\n"
        "`benchmarks/verdicts/findings.tsv` holds every verdict with its reason. "
        "`python benchmarks/verdicts.py DIR...` prints the verdicts on the findings\n"
        "that are reported now. Differences of a few percent between samples of this size are "
        "not significant.",
        "## Samples, in the order in which they were read\n\n"
        "*First sight*: the tool had not been changed for this code before the code was read. "
        "Only these rows estimate the precision on other code.\n\n" + _samples(samples, "findings"),
        "## Silent sites\n\n"
        "Readers judged random logarithms and divisions at which nothing is reported "
        "(`benchmarks/silent.py`). The column *hazards* counts the real ones.\n\n"
        + _samples(samples, "silent", "hazards"),
        "## Programs written to mislead the tool\n\n"
        + _samples(samples, "programs", "as expected"),
        "## All verdicts by rule\n\n"
        "Each cell counts the right findings, of all read. Many of the wrong "
        "findings are no longer reported.\n\n" + _table(findings, lambda verdict: verdict.code),
        "## By grade\n\n" + _table(findings, lambda verdict: verdict.grade),
        "## Kinds of evidence that are notes\n\n"
        "In the samples `unread` to `unread14` and `unread_kinds`, fewer than "
        f"{100 * LEAST:.0f} % of the findings of these kinds were right. "
        "They are reported as notes instead of warnings (`tfnanlint/diagnostics/kinds.py`).\n\n"
        + _kinds(),
        "## Why findings were wrong\n\n"
        "The classes are the first words of the readers' reasons.\n\n" + _reasons(findings),
    ]


def _samples(samples: list[Row], kind: str, counted: str = "right") -> str:
    """A row for each sample of one kind."""
    lines = [f"| code | commit | date | read | {counted} | |", "|---|---|---|---|---|---|"]
    for row in samples:
        if row["kind"] != kind:
            continue
        share = f" ({100 * int(row['right']) / int(row['read']):.0f} %)" if row["right"] else ""
        lines.append(
            f"| {row['sample']} | {row['commit']} | {row['date']} | {row['read']} "
            f"| {row['right']}{share} | {row['remark']} |"
        )
    return "\n".join(lines)


def _table(findings: list[Verdict], key) -> str:
    """Right of read, a row for each value of `key`, a column a sample."""
    samples = sorted({one.sample for one in findings})
    lines = [
        "| | " + " | ".join(samples) + " | all |",
        "|---" * (len(samples) + 2) + "|",
    ]
    for value in [*sorted({key(one) for one in findings}), ""]:
        chosen = [one for one in findings if value in ("", key(one))]
        cells = [_share([one for one in chosen if one.sample == name]) for name in samples]
        lines.append(f"| {value or 'all'} | {' | '.join(cells)} | {_share(chosen)} |")
    return "\n".join(lines)


def _kinds() -> str:
    """A row for each kind of evidence that makes a note of a warning."""
    rows = [
        f"| {kind.name} | {kind.right} of {kind.right + kind.wrong} | {kind.because} |"
        for kind in KINDS.values()
        if kind.is_note
    ]
    return "\n".join(["| kind | right | why |", "|---|---|---|", *rows])


def _share(chosen: list[Verdict]) -> str:
    right = sum(one.verdict in ("right", "fit") for one in chosen)
    return f"{right} of {len(chosen)}" if chosen else ""


# The classes of reasons that readers name first, as in "guard: clipped in line 12".
REASONS = {
    "guard": "a guard of the project excludes the hazard",
    "formula": "a bound follows from a formula",
    "nodiff": "no gradient is taken there",
    "caller": "no caller passes such a value",
    "config": "a configured number excludes it",
    "doc": "the documentation excludes it",
    "compare": "the value is only compared",
    "numpy": "NumPy, not TensorFlow",
    "labels": "labels and signs that belong together",
    "mode": "the project does not use the mode that has the hazard",
    "other": "another reason",
}


def _reasons(findings: list[Verdict]) -> str:
    wrong = [one for one in findings if one.verdict == "wrong"]
    counts = Counter(_reason_class(one) for one in wrong)
    lines = ["| wrong | what excludes the hazard |", "|---|---|"]
    lines += [f"| {counts[name]} | {REASONS[name]} |" for name in REASONS if counts[name]]
    lines.append(f"| {counts['']} | no class stated |")
    return "\n".join(lines)


def _reason_class(finding: Verdict) -> str:
    name = finding.reason.partition(":")[0]
    return name if name in REASONS else ""


# Fixes


def _of_fixes(samples: list[Row], applied: list[Verdict]) -> list[str]:
    return [
        "## Applied fixes\n\n"
        "Readers who had not written the tool judged changes of `tfnanlint check --fix "
        "--unsafe-fixes` in real code, as the maintainer of the file would.\n"
        "*Fit*: the change could be merged. *Poor*: the change is correct, but a maintainer would "
        "want another repair or another form. Where execution decides,\n"
        "the code was executed on TensorFlow before and after. `benchmarks/verdicts/fixes.tsv` "
        "holds the verdicts with their reasons.\n\n" + _samples(samples, "fixes", "fit"),
        "## Kinds of fixes\n\n"
        f"Fewer than {100 * LEAST_FIT:.0f} % of the fixes of the kinds with a reason were fit. "
        "They are only suggested (`tfnanlint/diagnostics/fix_kinds.py`).\n\n" + _kinds_of_fixes(),
        "## Applied fixes by grade\n\n" + _counts(applied),
        "## Applied fixes by rule\n\nEach cell counts the fit fixes, of all judged.\n\n"
        + _table(applied, lambda verdict: verdict.code),
    ]


def _kinds_of_fixes() -> str:
    """A row for each kind of fixes: those that are applied, and those that are only suggested."""
    lines = ["| kind | fix | fit | only suggested, because |", "|---|---|---|---|"]
    for kind in sorted(FIX_KINDS.values(), key=lambda row: not row.is_applied):
        share = f"{kind.fit} of {kind.fit + kind.poor}"
        because = "" if kind.is_applied else kind.because
        lines.append(f"| {kind.name} | {kind.of} | {share} | {because} |")
    return "\n".join(lines)


VERDICTS = ("fit", "poor", "wrong")


def _counts(chosen: list[Verdict]) -> str:
    lines = ["| | " + " | ".join(VERDICTS) + " | all |", "|---|---|---|---|---|"]
    for grade, name in (
        ("safe", "safe (`--fix`)"),
        ("unsafe", "unsafe (`--unsafe-fixes`)"),
        ("", "all"),
    ):
        counts = Counter(one.verdict for one in chosen if grade in ("", one.grade))
        cells = " | ".join(str(counts[verdict]) for verdict in VERDICTS)
        lines.append(f"| {name} | {cells} | {counts.total()} |")
    return "\n".join(lines)
