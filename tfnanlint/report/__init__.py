"""Output formats, one module each. Text that a file or its name supplies is escaped before a
person's terminal sees it.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from tfnanlint.diagnostics import notices
from tfnanlint.diagnostics.findings import Finding, Fix
from tfnanlint.pipeline.check import Checked
from tfnanlint.syntax.source import Span

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
    "html": "Html",
}
FORMATS = tuple(_FORMATS)
PEOPLE = ("full", "concise", "grouped")
MAX_MESSAGE = 500
MAX_NAMES = 3  # of functions that were cut short
COST = "it would cost more than a file may"  # why an analysis is cut short
# Where the repository can be read, with a slash at the end. It is not published yet: reports have
# no links to pages, and `tfnanlint explain CODE` prints them anywhere.
ADDRESS = ""

# Control characters, and the invisible ones that reorder or hide text: bidirectional marks and
# overrides, zero-width characters, line and paragraph separators, tags; and lone surrogates, which
# stand for undecodable bytes of a name.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)

# What makes a name look like more than one: the row and column of a finding, and blanks that fill
# a line.
_AMBIGUOUS = re.compile(r":(?=\d+(?::|$))|:(?=\s)| {4,}")


def _spelt_out(match: re.Match[str]) -> str:
    return "".join([f"\\x{ord(letter):02x}" for letter in match[0]])


_COLOURS = {
    "path": "1",
    "code": "1",
    "mark": "36",
    "gutter": "1;34",
    "caret": "1;31",
    "label": "1;34",
    "error": "1;31",
    "warning": "1;33",
    "note": "1;36",
    "minus": "31",
    "plus": "32",
}


def escape(text: str) -> str:
    r"""Text with every control and invisible character written as Python writes it,
    as in `\x1b`.
    """
    return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def message(finding: Finding) -> str:
    """A finding's message as one line of bounded length."""
    text = escape(finding.message)
    return text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 3] + "..."


def cut_short_in(checked: Checked) -> list[str]:
    """The functions of a file whose analysis was cut short, in words."""
    return [name or "top level" for name in checked.cut_short]


def some(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    more = len(names) - MAX_NAMES
    shown = [escape(name) for name in names[:MAX_NAMES]]
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def with_notice(checked: Checked) -> Checked:
    """A file with a notice where its analysis was cut short: for formats without closing lines."""
    if not checked.cut_short:
        return checked
    words = f"analysis cut short, {COST}: {some(cut_short_in(checked))}"
    notice = notices.CUT_SHORT.finding(checked.source, Span(0, 0), words)
    return replace(checked, findings=(notice, *checked.findings))


def url(finding: Finding) -> str:
    """The documentation page of the finding's rule, see `page`."""
    return page(finding.code, finding.slug)


def page(code: str, slug: str) -> str:
    """The documentation page of a rule, below `ADDRESS`; empty without an address, for notices on a
    file and for rules of plugins.
    """
    ours = ADDRESS and code.startswith("TFN") and not code.startswith("TFN0")
    return f"{ADDRESS}docs/rules/{slug}.md" if ours else ""


def applicable(finding: Finding, unsafe_fixes: bool) -> Fix | None:
    """The fix that `--fix` applies: the best one whose claim is allowed."""
    return next((fix for fix in finding.fixes if fix.applies(unsafe_fixes)), None)


class Paint:
    """Colours and links for a terminal, or none."""

    def __init__(self, colour: bool, links: bool = False):
        self.coloured = colour
        self._links = links

    def __call__(self, kind: str, text: str) -> str:
        return f"\x1b[{_COLOURS[kind]}m{text}\x1b[0m" if self.coloured and text else text

    def file(self, path: str) -> str:
        """The name of a file, escaped; where links are shown, one that opens it."""
        name = self("path", _AMBIGUOUS.sub(_spelt_out, escape(path)))
        if not self._links or path == "-":
            return name
        from urllib.request import pathname2url

        target = "file://" + pathname2url(os.path.abspath(path)).removeprefix("//")
        return f"\x1b]8;;{target}\x1b\\{name}\x1b]8;;\x1b\\"


WIDTH = 100  # of what is not printed on a terminal


@dataclass(frozen=True, slots=True)
class View:
    """How a report for people is laid out: its colours, its width in columns, whether all that is
    known is shown, and whether notes are shown as findings are.
    """

    paint: Paint
    width: int = WIDTH
    verbose: bool = False
    every_note: bool = False

    def columns(self, indent: int) -> int:
        """The columns that are left for source behind an indentation."""
        return max(40, self.width - indent)


PLAIN = View(Paint(False))


class Format(Protocol):
    """An output format: text before the first file, for each file, and after the last."""

    def start(self) -> str: ...

    def file(self, checked: Checked) -> str: ...

    def end(self) -> str: ...


def open_format(name: str, view: View) -> Format:
    """The output format of a name in `FORMATS`; only that one is imported."""
    module = importlib.import_module(f"tfnanlint.report.{name.replace('-', '_')}")
    shape = getattr(module, _FORMATS[name])
    return shape(view) if name in PEOPLE else shape()
