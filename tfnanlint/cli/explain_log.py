"""`tfnanlint explain-log`: from a pasted error or log to the line and the fix."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing

from tfnanlint.cli.flags import linter_of
from tfnanlint.cli.outcome import CLEAN, FOUND, fail
from tfnanlint.cli.terminal import columns, paint
from tfnanlint.files.discover import discover
from tfnanlint.pipeline.check import Checked
from tfnanlint.pipeline.linter import Linter
from tfnanlint.report import WIDTH, View
from tfnanlint.trace.log import Incident, incidents
from tfnanlint.trace.match import Explanation, explained
from tfnanlint.trace.shown import as_dict, told

_MOST_INCIDENTS = 3
_LARGEST = 64 << 20


def run(arguments: argparse.Namespace) -> int:
    """Carry out `tfnanlint explain-log`: 1 where the log tells of NaN or Inf, 0 elsewhere."""
    text = _text(arguments.log)
    if text is None:
        return fail(
            f"{arguments.log}: larger than {_LARGEST >> 20} MiB: give the part with the error"
        )
    met = incidents(text)
    if not met:
        print(_SILENT if arguments.output_format == "text" else "[]")
        return CLEAN
    linter = linter_of(arguments)
    try:
        told_of = list(
            explanations(met[:_MOST_INCIDENTS], linter, arguments.paths, deeper_of(arguments))
        )
    finally:
        linter.close()
    if arguments.output_format == "json":
        import json

        print(json.dumps([as_dict(explanation) for explanation in told_of], indent=2))
        return FOUND
    view = View(paint(sys.stdout, arguments.color), columns(sys.stdout, WIDTH), every_note=True)
    for explanation in told_of:
        print("\n".join(told(explanation, view)))
    if len(met) > _MOST_INCIDENTS:
        print(f"{len(met) - _MOST_INCIDENTS} more messages tell of NaN or Inf: mend these first.")
    return FOUND


_SILENT = "Nothing in this text tells of NaN or Inf."


def _text(path: str) -> str | None:
    """The text of a log, or of standard input; None for one that is too large. Raises `OSError`."""
    if path == "-":
        data = sys.stdin.buffer.read(_LARGEST + 1)
    else:
        with open(path, "rb") as stream:
            data = stream.read(_LARGEST + 1)
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    return None if len(data) > _LARGEST else data.decode(encoding, "replace")


def deeper_of(arguments: argparse.Namespace) -> Callable[[], Linter]:
    """What makes the linter that also looks for what is rarely a cause."""
    deeper = {**vars(arguments), "certainty": "unknown", "preview": True}
    return lambda: linter_of(argparse.Namespace(**deeper))


def explanations(
    told: Sequence[Incident],
    linter: Linter,
    paths: Sequence[str],
    deeper: Callable[[], Linter] | None = None,
) -> Iterator[Explanation]:
    """What explains incidents, in the files under some paths. Where nothing is found near the line
    of one, the linter that `deeper` makes looks for more.
    """
    files = discover(list(paths) or ["."], linter.configuration).files
    check = _checker(linter)
    check_more: Callable[[str], Checked | None] | None = None
    with ExitStack() as open_linters:
        for incident in told:
            explanation = explained(incident, files, check)
            if deeper is not None and explanation.located is not None and not _is_near(explanation):
                if check_more is None:
                    check_more = _checker(open_linters.enter_context(closing(deeper())))
                more = explained(incident, files, check_more, whole=True)
                if _is_near(more) or not explanation.fits:
                    explanation = more
            yield explanation


def _checker(linter: Linter) -> Callable[[str], Checked | None]:
    checked: dict[str, Checked | None] = {}

    def check(path: str) -> Checked | None:
        if path not in checked:
            outcome = linter.file(path)
            checked[path] = None if outcome is None else outcome.checked
        return checked[path]

    return check


def _is_near(explanation: Explanation) -> bool:
    return bool(explanation.fits) and explanation.fits[0].near
