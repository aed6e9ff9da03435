"""Output: one format a module. Text that a file or its name supplies is escaped before a person's
terminal sees it.
"""

from __future__ import annotations

import importlib
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tfnanlint.diagnostics.findings import Finding, Fix
from tfnanlint.pipeline.check import Checked

# Each format's module below this package, and its class; those for people have colours and closing
# lines.
_FORMATS = {
    "full": "Full",
    "concise": "Concise",
    "grouped": "Grouped",
    "json": "Json",
    "json-lines": "JsonLines",
    "sarif": "Sarif",
    "github": "Github",
    "gitlab": "Gitlab",
    "junit": "Junit",
    "rdjson": "Rdjson",
    "markdown": "Markdown",
}
FORMATS = tuple(_FORMATS)
PEOPLE = ("full", "concise", "grouped")
MAX_MESSAGE = 500
# Where the repository can be read, with a slash at the end. It is not published yet, so that pages
# are relative to it.
ADDRESS = ""

# Control characters, and the invisible ones that reorder or hide text: bidirectional marks and
# overrides, zero-width characters, line and paragraph separators, tags; and lone surrogates, which
# stand for undecodable bytes of a name.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)

_COLOURS = {
    "path": "1",
    "code": "1;31",
    "mark": "36",
    "gutter": "1;34",
    "caret": "1;31",
    "label": "1;34",
    "minus": "31",
    "plus": "32",
}


def escape(text: str) -> str:
    r"""Text with every control and invisible character written as Python writes it, as in `\x1b`."""
    return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def message(finding: Finding) -> str:
    """A finding's message as one line of bounded length."""
    text = escape(finding.message)
    return text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 3] + "..."


def url(finding: Finding) -> str:
    """The documentation page of the finding's rule, below `ADDRESS`; empty for notices on a file."""
    return page(finding.code, finding.slug)


def page(code: str, slug: str) -> str:
    """The documentation page of a rule, below `ADDRESS`; empty for notices on a file."""
    return "" if code.startswith("TFN0") else f"{ADDRESS}docs/rules/{slug}.md"


def applicable(finding: Finding, unsafe_fixes: bool) -> Fix | None:
    """The fix that `--fix` applies: the best one whose claim is allowed."""
    return next((fix for fix in finding.fixes if fix.claim.safe or unsafe_fixes), None)


class Paint:
    """Colours and links for a terminal, or none."""

    def __init__(self, colour: bool, links: bool = False):
        self.coloured = colour
        self._links = links

    def __call__(self, kind: str, text: str) -> str:
        return f"\x1b[{_COLOURS[kind]}m{text}\x1b[0m" if self.coloured and text else text

    def file(self, path: str) -> str:
        """The name of a file, escaped; where links are shown, one that opens it."""
        name = self("path", escape(path))
        if not self._links or path == "-":
            return name
        from urllib.request import pathname2url

        target = "file://" + pathname2url(os.path.abspath(path)).removeprefix("//")
        return f"\x1b]8;;{target}\x1b\\{name}\x1b]8;;\x1b\\"


class Format(Protocol):
    """An output format: text before the first file, for each file, and after the last."""

    def start(self) -> str: ...

    def file(self, checked: Checked) -> str: ...

    def end(self) -> str: ...


def open_format(name: str, paint: Paint) -> Format:
    """The output format of a name in `FORMATS`; only that one is imported."""
    module = importlib.import_module(f"tfnanlint.report.{name.replace('-', '_')}")
    shape = getattr(module, _FORMATS[name])
    return shape(paint) if name in PEOPLE else shape()


@dataclass(slots=True)
class Tally:
    """Counts over a run, for the closing lines."""

    codes: Counter[tuple[str, str]] = field(default_factory=Counter)
    fixable: Counter[str] = field(default_factory=Counter)
    hidden_fixes: int = 0
    fixed: dict[str, Counter[tuple[str, str]]] = field(default_factory=dict)
    by_comments: int = 0
    known: int = 0
    unchanged: int = 0
    unsure: int = 0
    cut_short: int = 0

    def add(self, checked: Checked) -> None:
        self.by_comments += checked.hidden
        self.known += checked.known
        self.unchanged += checked.unchanged
        self.unsure += checked.unsure
        self.cut_short += checked.cut_short
        for finding in checked.findings:
            self.codes[finding.code, finding.slug] += 1
            if applicable(finding, checked.unsafe_fixes):
                self.fixable[finding.code] += 1
            elif finding.fixes:
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


def _errors(count: int) -> str:
    return f"{count} error" if count == 1 else f"{count} errors"


def summary(tally: Tally, paint: Paint, fixing: bool) -> str:
    """The closing lines, in ruff's words."""
    if not tally.remaining and not tally.applied:
        return "All checks passed!\n"
    total = _errors(tally.remaining + tally.applied)
    if fixing and tally.applied:
        lines = [f"Found {total} ({tally.applied} fixed, {tally.remaining} remaining)."]
    else:
        lines = [f"Found {total}."]
    fixable = sum(tally.fixable.values())
    hidden = tally.hidden_fixes
    plural = "fix" if hidden == 1 else "fixes"
    enable = f"{hidden} hidden {plural} can be enabled with the `--unsafe-fixes` option"
    if fixable and not fixing:
        more = f" ({enable})" if hidden else ""
        lines.append(f"[{paint('mark', '*')}] {fixable} fixable with the `--fix` option{more}.")
    elif hidden:
        lines.append(f"No fixes available ({enable}).")
    return "\n".join(lines) + "\n"


def set_aside(tally: Tally) -> str:
    """What was left out: how many findings were not shown, and why, and in how many files a value
    was not followed to its end. Findings of rules that are silent where nothing is known are not
    made before somebody asks for them: nobody can count those.
    """
    parts = [
        f"{tally.by_comments} hidden by comments",
        f"{tally.known} in the baseline",
        f"{tally.unchanged} on unchanged lines",
        f"{tally.unsure} less sure (`--certainty unknown` shows them and more)",
    ]
    said = [part for part in parts if not part.startswith("0 ")]
    line = f"Not shown: {', '.join(said)}.\n" if said else ""
    files = "1 file" if tally.cut_short == 1 else f"{tally.cut_short} files"
    return line + (f"Not followed to the end: the calls in {files}.\n" if tally.cut_short else "")


def fixes_shown(tally: Tally) -> str:
    """What `--show-fixes` lists: per file, how many findings of which rule were fixed."""
    lines = [f"Fixed {_errors(tally.applied)}:"]
    for path, counts in tally.fixed.items():
        lines.append(f"- {escape(path)}:")
        for (code, slug), count in sorted(counts.items()):
            lines.append(f"    {count} x {code} ({slug})")
    return "\n".join(lines) + "\n"


def statistics(tally: Tally, paint: Paint) -> str:
    """What `--statistics` prints: count, code, `[*]` where `--fix` repairs all or some (`[-]`) of
    them, slug.
    """
    rows = sorted(tally.codes.items(), key=lambda item: (-item[1], item[0]))
    width = len(str(rows[0][1])) if rows else 0
    lines = []
    for (code, slug), count in rows:
        fixable = tally.fixable[code]
        mark = "[ ]" if not fixable else f"[{paint('mark', '*' if fixable == count else '-')}]"
        lines.append(f"{count:>{width}}\t{paint('code', code)}\t{mark} {slug}\n")
    return "".join(lines)
