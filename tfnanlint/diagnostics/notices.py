"""Findings about a file or a comment and not about a value: the codes TFN0xx."""

from __future__ import annotations

from typing import NamedTuple

from tfnanlint.diagnostics.findings import Certainty, Differentiated, Finding, Fix, Silence
from tfnanlint.syntax.source import Source, Span


class Notice(NamedTuple):
    """A code that no rule file stands for. It has what the front end asks of a rule."""

    code: str
    slug: str
    doc: str
    default: frozenset[Certainty] = frozenset(Certainty)
    preview: bool = False
    over: tuple[str, ...] = ()
    silent: frozenset[Silence] = frozenset()
    fixes: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        return self.doc.partition("\n")[0]

    def finding(
        self, source: Source, span: Span, message: str, fixes: tuple[Fix, ...] = ()
    ) -> Finding:
        return Finding(
            self.code,
            self.slug,
            source.path,
            span,
            message,
            Certainty.MUST,
            Differentiated.NO,
            modes=(),
            fixes=fixes,
        )


INTERNAL = Notice(
    "TFN000",
    "internal-error",
    """A rule or the analysis failed on this file.

This is a bug in tfnanlint and not in the file. \
The other rules and files were still checked, and the exit
code is 2. This finding cannot be switched off: `exclude` the file until the bug is repaired.
""",
)

INVALID_SYNTAX = Notice(
    "TFN001",
    "invalid-syntax",
    """The file, or a part of it, cannot be parsed as Python and was not checked.

The function or statement with the error is left out and the rest is checked, but nothing in the \
file is fixed. What rests on names that this part may bind, change or test is not reported. \
Calls and gradients in that part are not seen, so that a note may stand for a warning or an error. \
A file with many such places is not checked at all.

tfnanlint parses files with the grammar of the Python that runs it. \
Run it under the Python version that
the code is written for. Files that mention neither tensorflow nor keras are not parsed. \
This finding cannot be
switched off: `exclude` the file, or write `# tfn: skip-file` into it.

In a notebook the cells are parsed one by one: the cell that cannot be parsed is named, \
and all others are checked. IPython's
magics, shell commands and cells in other languages are not errors. \
A notebook that is not valid JSON is not checked at all.
""",
)

UNREAD = Notice(
    "TFN002",
    "unread-file",
    """The file was not read, so nothing in it was checked.

The file does not exist, is not readable, is not a regular file, \
or mentions TensorFlow and is larger than `max-file-size`
(by default 2 MiB; notebooks may be 50 times as large). \
Nor is a file parsed for which Python would take
seconds or 500 MB: one with more than 400,000 statements, names, numbers and brackets, or, before \
Python 3.12, with a formatted
string of thousands of fields. \
This finding cannot be switched off: `exclude` the file.
""",
)

IDLE = Notice(
    "TFN003",
    "idle-suppression",
    """A suppression comment hides nothing.

There is no finding with its code in that place (any more), the code is not one of tfnanlint, \
or the comment
covers no line. If it stays, it hides the next real finding on that line.

Only comments that name codes of tfnanlint are checked, and only when the rule has run. \
A bare `# noqa` is never reported.

Bad:
    loss = tf.nn.softplus(x)  # tfn: ignore[TFN101]

Good:
    loss = tf.nn.softplus(x)
""",
)

CUT_SHORT = Notice(
    "TFN004",
    "cut-short",
    """The analysis of some functions, or of the end of a file, was cut short: to go on would cost \
more than a file may.

What is found there holds, but something may be missing. \
This finding is a note: it does not make a run fail and
cannot be switched off. Reports for people say the same in their last lines. \
A function that is shorter, or calls fewer others,
is followed to its end; a file is judged to its end if it has at most 600 places with findings.
""",
)

NOTICES = (INTERNAL, INVALID_SYNTAX, UNREAD, IDLE, CUT_SHORT)
