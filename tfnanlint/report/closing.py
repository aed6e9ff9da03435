"""The lines that end a report for people: what was found, fixed, read, and left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tfnanlint.diagnostics import notices
from tfnanlint.diagnostics.findings import Certainty, Finding
from tfnanlint.diagnostics.grades import SEVERITIES, grade
from tfnanlint.pipeline.check import Checked
from tfnanlint.report import COST, Paint, applicable, cut_short_in, escape, some
from tfnanlint.syntax.recovery import PartialSource

_UNREAD = frozenset(
    notice.code for notice in (notices.UNREAD, notices.INVALID_SYNTAX, notices.INTERNAL)
)


@dataclass(slots=True)
class Tally:
    """Counts over a run, for the closing lines. `files` counts all files that were read, `relevant`
    those that use TensorFlow or Keras, `failing` the findings that make the run fail under
    `fail_on`.
    """

    fail_on: Certainty = Certainty.MAY
    codes: Counter[tuple[str, str]] = field(default_factory=Counter)
    severities: Counter[str] = field(default_factory=Counter)
    fixable: Counter[str] = field(default_factory=Counter)
    hidden_fixes: int = 0
    fixed: dict[str, Counter[tuple[str, str]]] = field(default_factory=dict)
    by_comments: int = 0
    known: int = 0
    unchanged: int = 0
    unsure: int = 0
    unproved: int = 0
    cut_short: list[str] = field(default_factory=list)
    failing: int = 0
    unread: int = 0
    in_part: int = 0
    files: int = 0
    relevant: int = 0

    def add(self, checked: Checked) -> None:
        self.by_comments += checked.hidden
        self.known += checked.known
        self.unchanged += checked.unchanged
        self.unsure += checked.unsure
        self.cut_short += [f"{checked.path} ({name})" for name in cut_short_in(checked)]
        unread = any(leaves_unread(finding, checked) for finding in checked.findings)
        self.unread += unread
        self.in_part += isinstance(checked.source, PartialSource)
        self.relevant += checked.relevant and not unread
        for finding in checked.findings:
            graded = grade(finding)
            self.codes[finding.code, finding.slug] += 1
            self.severities[graded.severity] += 1
            self.failing += graded.counts(self.fail_on)
            if applicable(finding, checked.unsafe_fixes):
                self.fixable[finding.code] += 1
            elif applicable(finding, True):
                self.hidden_fixes += 1

    def add_fixed(self, path: str, findings: Sequence[Finding]) -> None:
        if findings:
            self.fixed.setdefault(path, Counter()).update((f.code, f.slug) for f in findings)

    @property
    def remaining(self) -> int:
        return sum(self.codes.values())

    @property
    def applied(self) -> int:
        return sum(sum(counts.values()) for counts in self.fixed.values())


def leaves_unread(finding: Finding, checked: Checked) -> bool:
    """Whether a notice says that nothing in a file was checked. A cell of a notebook, or a
    definition, that cannot be parsed leaves the others.
    """
    in_part = finding.code == notices.INVALID_SYNTAX.code and bool(checked.source.faults)
    return finding.code in _UNREAD and not in_part


def counted(number: int, thing: str) -> str:
    """A number with the singular or plural of a thing: `1 file`, `2 files`."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _listed(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def found(severities: Counter[str]) -> str:
    """How many findings of each severity there are: `1 error and 2 warnings`."""
    return _listed([counted(severities[name], name) for name in SEVERITIES if severities[name]])


def read(tally: Tally) -> str:
    """How many files were read, and how many of them were worth a look."""
    uses = "uses" if tally.relevant == 1 else "use"
    return f"{counted(tally.files, 'file')} read, {tally.relevant} {uses} TensorFlow or Keras"


def summary(tally: Tally, paint: Paint, fixing: bool) -> str:
    """What was found and fixed, in how many files, and what would fix the rest."""
    if not tally.remaining and not tally.applied:
        if tally.relevant:
            return f"All checks passed! ({read(tally)})\n"
        return f"Nothing to check: {read(tally)}.\n"
    lines = []
    if fixing and tally.applied:
        left = found(tally.severities) or "nothing"
        remains = "remain" if tally.remaining > 1 else "remains"
        lines.append(
            f"Fixed {counted(tally.applied, 'finding')}; {left} {remains} ({read(tally)})."
        )
    elif tally.remaining:
        lines.append(f"Found {found(tally.severities)} ({read(tally)}).")
    fixable, hidden = sum(tally.fixable.values()), tally.hidden_fixes
    if fixable and not fixing:
        more = f", {hidden} more with `--unsafe-fixes`" if hidden else ""
        lines.append(f"[{paint('mark', '*')}] {fixable} fixable with `--fix`{more}.")
    elif hidden:
        lines.append(f"{hidden} fixable with `--fix --unsafe-fixes`.")
    return "".join(text + "\n" for text in lines)


def pointer(tally: Tally, verbose: bool) -> str:
    """Where more is said about what was found."""
    codes = [code for (code, _), _ in tally.codes.most_common() if not code.startswith("TFN0")]
    if not codes:
        return ""
    more = "" if verbose else "; `--verbose` shows everything"
    return f"`tfnanlint explain {codes[0]}` explains a rule{more}.\n"


def set_aside(tally: Tally, preview: int = 0, certainty: str = "") -> str:
    """What was left out: how many findings were not shown, and why; the rules that did not run; the
    files that were not checked; and the functions in which a value was not followed to its end.
    Findings of rules that are silent where nothing is known are not made before a user asks for
    them: they cannot be counted.
    """
    parts = [
        f"{tally.by_comments} hidden by comments",
        f"{tally.known} in the baseline",
        f"{tally.unchanged} on unchanged lines",
        f"{tally.unproved} that execution did not show (`--prove` shows them)",
        f"{tally.unsure} often harmless (`--certainty unknown` shows them and more)",
    ]
    lines = []
    shown = [part for part in parts if not part.startswith("0 ")]
    if shown:
        lines.append(f"Not shown: {', '.join(shown)}.")
    if certainty in ("must", "may"):
        asked = "errors" if certainty == "must" else "errors and warnings"
        lines.append(f"Only {asked} were asked for (`--certainty {certainty}`).")
    if preview:
        lines.append(f"Not run: {counted(preview, 'rule')} in preview (`--preview`).")
    if tally.unread:
        lines.append(f"Not checked: {counted(tally.unread, 'file')}.")
    if tally.in_part:
        lines.append(f"Checked in part: {counted(tally.in_part, 'file')} with a syntax error.")
    if tally.cut_short:
        lines.append(f"Analysis cut short, {COST}: {some(tally.cut_short)}.")
    return "".join(text + "\n" for text in lines)


def next_question() -> str:
    """What to try when nothing was found and the loss is NaN nevertheless."""
    return (
        "If the loss is still NaN: `--preview` also checks learning rates and data, "
        "`--certainty unknown` shows what nothing is known about, and tf.debugging."
        "enable_check_numerics() in the program names the operation that fails first.\n"
    )


def fixes_shown(tally: Tally) -> str:
    """What `--show-fixes` lists: per file, how many findings of which rule were fixed."""
    lines = [f"Fixed {counted(tally.applied, 'finding')}:"]
    for path, counts in tally.fixed.items():
        lines.append(f"- {escape(path)}:")
        for (code, slug), count in sorted(counts.items()):
            lines.append(f"    {count} x {code} ({slug})")
    return "\n".join(lines) + "\n"


def statistics(tally: Tally, paint: Paint) -> str:
    """What `--statistics` prints: count, code, `[*]` where `--fix` repairs all or some (`[-]`) of
    them, slug; at the end the total, and what the marks mean.
    """
    rows = sorted(tally.codes.items(), key=lambda item: (-item[1], item[0]))
    total = sum(count for _, count in rows)
    width = len(str(total))
    lines: list[str] = []
    marks: set[str] = set()
    for (code, slug), count in rows:
        fixable = tally.fixable[code]
        mark = " " if not fixable else "*" if fixable == count else "-"
        marks.add(mark)
        shown = f"[{paint('mark', mark)}]" if mark != " " else "[ ]"
        lines.append(f"{count:>{width}}\t{paint('code', code)}\t{shown} {slug}\n")
    if rows:
        lines.append(f"{total:>{width}}\ttotal: {found(tally.severities)}{_legend(marks)}\n")
    return "".join(lines)


def _legend(marks: Iterable[str]) -> str:
    meanings = {"*": "[*] `--fix` repairs all", "-": "[-] `--fix` repairs some"}
    said = [meanings[mark] for mark in sorted(marks) if mark in meanings]
    return f" ({', '.join(said)})" if said else ""
