"""An explanation as people read it, and as programs do."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from tfnanlint.report import View, escape
from tfnanlint.report.concise import line
from tfnanlint.report.full import Full
from tfnanlint.report.json import as_dict as finding_as_dict
from tfnanlint.report.wrap import wrapped
from tfnanlint.trace.log import Incident
from tfnanlint.trace.match import Explanation, Fit

_MOST_FITS, _MOST_OTHERS = 3, 5  # in full, and in one line each


def told(explanation: Explanation, view: View) -> Iterator[str]:
    """The lines that tell an explanation."""
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
    yield from _others(explanation.fits[_MOST_FITS:], view)


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
    text = Full(view).file(replace(fit.checked, findings=(fit.finding,))).rstrip("\n")
    yield text
    if fit.reasons:
        lines = wrapped(escape("; ".join(fit.reasons)), view.width, "  because: ", "      ")
        yield f"  {view.paint('label', 'because: ')}{lines[0][11:]}"
        yield from lines[1:]
    yield ""


def _others(fits: Sequence[Fit], view: View) -> Iterator[str]:
    if not fits:
        return
    yield "Less likely:"
    for fit in fits[:_MOST_OTHERS]:
        yield from wrapped(line(fit.finding, fit.checked), view.width, "  ", "      ")
    if len(fits) > _MOST_OTHERS:
        yield f"  and {len(fits) - _MOST_OTHERS} more"
    yield ""


def as_dict(explanation: Explanation) -> dict[str, Any]:
    """An explanation as JSON shows it."""
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
