"""What tfnanlint says about a file itself, not about its numbers: the codes TFN0xx."""

from __future__ import annotations

from dataclasses import dataclass

from tfnanlint.diagnostics.findings import Certainty, Differentiated, Finding, Fix, Silence
from tfnanlint.syntax.source import Source, Span


@dataclass(frozen=True, slots=True)
class Notice:
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

This is a bug of tfnanlint, not of the file. The other rules and files were still checked, and the exit
code is 2. It cannot be switched off; `exclude` the file until the bug is repaired.
""",
)

INVALID_SYNTAX = Notice(
    "TFN001",
    "invalid-syntax",
    """The file is not source that this Python can parse, so nothing in it was checked.

Files are read with the grammar of the Python that runs tfnanlint: run it under the Python version that
the code is written for. Files that mention neither tensorflow nor keras are not parsed. It cannot be
switched off; `exclude` the file, or write `# tfn: skip-file` into it.

In a notebook each cell stands for itself: the one that cannot be parsed is named, and all others are checked. IPython's
magics, shell commands and cells in other languages are no faults. A notebook that is no JSON is not checked at all.
""",
)

UNREAD = Notice(
    "TFN002",
    "unread-file",
    """The file was not read, so nothing in it was checked.

It does not exist, may not be read, is no regular file, or mentions TensorFlow and is larger than `max-file-size`
(2 MiB unless configured; a notebook may have 50 times that). It cannot be switched off; `exclude` the file.
""",
)

IDLE = Notice(
    "TFN003",
    "idle-suppression",
    """A suppression comment hides nothing.

The code it names is not found there (any more), is not a code of tfnanlint, or the comment stands where it
covers no line. Left in place it would hide the next real finding on that line.

Only comments that name codes of tfnanlint are judged, only those whose rule ran, and never a bare `# noqa`.

Bad:
    loss = tf.nn.softplus(x)  # tfn: ignore[TFN101]

Good:
    loss = tf.nn.softplus(x)
""",
)

NOTICES = (INTERNAL, INVALID_SYNTAX, UNREAD, IDLE)
