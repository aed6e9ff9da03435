"""`tfnanlint explain-log`: from a pasted error or log to the line and the fix."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from tfnanlint.cli.flags import linter_of
from tfnanlint.cli.outcome import CLEAN, FOUND, fail
from tfnanlint.cli.terminal import columns, paint
from tfnanlint.files.discover import discover
from tfnanlint.pipeline.check import Checked
from tfnanlint.pipeline.linter import Linter
from tfnanlint.report import WIDTH, View, escape
from tfnanlint.report.wrap import wrapped
from tfnanlint.trace.log import Incident, incidents
from tfnanlint.trace.match import Explanation, Fit, explained

_MOST_INCIDENTS = 3
_MOST_FITS, _MOST_OTHERS = 3, 5  # in full, and in one line each
_LARGEST = 64 << 20


def run(arguments: argparse.Namespace) -> int:
    """Carry out `tfnanlint explain-log`: 1 where the log tells of NaN or Inf, 0 elsewhere."""
    text = _text(arguments.log)
    if text is None:
        return fail(
            f"{arguments.log}: larger than {_LARGEST >> 20} MiB: give the part with the error"
        )
    told = incidents(text)
    if not told:
        print(_SILENT if arguments.output_format == "text" else "[]")
        return CLEAN
    linter = linter_of(arguments)
    try:
        explanations = list(_explanations(told[:_MOST_INCIDENTS], linter, arguments.paths))
    finally:
        linter.close()
    if arguments.output_format == "json":
        import json

        print(json.dumps([as_dict(one) for one in explanations], indent=2))
        return FOUND
    view = View(paint(sys.stdout, arguments.color), columns(sys.stdout, WIDTH), every_note=True)
    for one in explanations:
        print("\n".join(_told(one, view)))
    if len(told) > _MOST_INCIDENTS:
        print(f"{len(told) - _MOST_INCIDENTS} more messages tell of NaN or Inf: mend these first.")
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


def _explanations(
    told: Sequence[Incident], linter: Linter, paths: Sequence[str]
) -> Iterator[Explanation]:
    files = discover(list(paths) or ["."], linter.configuration).files
    checked: dict[str, Checked | None] = {}

    def check(path: str) -> Checked | None:
        if path not in checked:
            outcome = linter.file(path)
            checked[path] = None if outcome is None else outcome.checked
        return checked[path]

    for incident in told:
        yield explained(incident, files, check)


# For people


def _told(explanation: Explanation, view: View) -> Iterator[str]:
    incident, located = explanation.incident, explanation.located
    colours = view.paint
    yield from wrapped(escape(incident.text), view.width, "", "    ")
    for label, text in _facts(explanation):
        lead = f"  {label}: "
        lines = wrapped(escape(text), view.width, lead, "      ")
        yield "  " + colours("label", f"{label}: ") + lines[0][len(lead) :]
        yield from lines[1:]
    if located is not None:
        line = located.source.line_text(located.row).strip()
        yield f"  {colours('label', 'line: ')}{escape(line)}"
    yield ""
    if not explanation.fits:
        yield from wrapped(f"No finding explains it: {explanation.nothing}.", view.width, "", "")
        yield ""
        return
    near = explanation.fits[0].near
    if located is not None and not near:
        yield "No finding is at or upstream of this line."
    yield "What explains it:" if near else "Where it may begin, the likeliest first:"
    yield ""
    for fit in explanation.fits[:_MOST_FITS]:
        yield from _shown(fit, view)
    yield from _others(explanation.fits[_MOST_FITS:])


def _facts(explanation: Explanation) -> Iterator[tuple[str, str]]:
    incident = explanation.incident
    yield "means", incident.family.meaning
    if incident.op or incident.node:
        yield "op", " at ".join(filter(None, (incident.op, incident.node)))
    if incident.what:
        yield "names", incident.what
    yield from (("tensor", text) for text in incident.details[:4])
    counted = [f"{word} {count}" for word, count in _counted(incident) if count is not None]
    if counted:
        yield "when", ", ".join(counted)
    place = incident.place
    if place is not None:
        function = f" in {place.function}" if place.function else ""
        yield "place", f"{_place_of(explanation)}{function}"


def _counted(incident: Incident) -> tuple[tuple[str, int | None], ...]:
    return ("epoch", incident.epoch), ("step", incident.step)


def _place_of(explanation: Explanation) -> str:
    """Where it happened: as the file at hand counts rows, else as the log says."""
    located, place = explanation.located, explanation.incident.place
    if located is None:
        return f"{place.path}:{place.row}" if place is not None else ""
    here = located.source.location(located.source.line_starts[located.row - 1])
    return f"{located.source.path}:{here.prefix}{here.row}"


def _shown(fit: Fit, view: View) -> Iterator[str]:
    from tfnanlint.report.full import Full

    text = Full(view).file(replace(fit.checked, findings=(fit.finding,))).rstrip("\n")
    yield text
    if fit.reasons:
        yield f"  {view.paint('label', 'because: ')}{escape('; '.join(fit.reasons))}"
    yield ""


def _others(fits: Sequence[Fit]) -> Iterator[str]:
    from tfnanlint.report.concise import line

    if not fits:
        return
    yield "Less likely:"
    for fit in fits[:_MOST_OTHERS]:
        yield "  " + line(fit.finding, fit.checked)
    if len(fits) > _MOST_OTHERS:
        yield f"  and {len(fits) - _MOST_OTHERS} more"
    yield ""


# For programs


def as_dict(explanation: Explanation) -> dict[str, Any]:
    """An explanation as JSON shows it."""
    from tfnanlint.report.json import as_dict as finding_as_dict

    incident, located = explanation.incident, explanation.located
    place = incident.place
    return {
        "family": incident.family.name,
        "meaning": incident.family.meaning,
        "log_row": incident.row,
        "message": incident.text,
        "op": incident.op or None,
        "node": incident.node or None,
        "names": incident.what or None,
        "gradient": incident.of_gradient,
        "epoch": incident.epoch,
        "step": incident.step,
        "tensors": list(incident.details),
        "place": None if place is None else {"path": place.path, "row": place.row},
        "file": None
        if located is None
        else {"path": os.path.abspath(located.source.path), "row": located.row},
        "nothing": "" if explanation.fits else explanation.nothing,
        "findings": [
            {
                **finding_as_dict(fit.finding, fit.checked.source),
                "score": fit.score,
                "reasons": list(fit.reasons),
            }
            for fit in explanation.fits
        ],
    }
