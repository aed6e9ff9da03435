"""`full`: each finding with its source, the steps that change the value, and the repair; with
`--verbose` all that is known about it. Notes are at the end, without source.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from tfnanlint.diagnostics.findings import Call, Claim, Finding, Fix, Step
from tfnanlint.diagnostics.grades import NOTE, grade
from tfnanlint.pipeline.check import Checked
from tfnanlint.report import PLAIN, View, applicable, escape, url
from tfnanlint.report.concise import header, line
from tfnanlint.report.frame import (
    Frame,
    frame,
    is_shown_whole,
    line_at,
    line_elsewhere,
    mini_diff,
)
from tfnanlint.report.verdicts import sentence
from tfnanlint.report.wrap import clipped, wrapped
from tfnanlint.syntax.source import Location, Source
from tfnanlint.syntax.spans import Span
from tfnanlint.values.words import UNBOUNDED

MAX_NOTES = 10
MAX_STEPS = 2
LEAST_SHOWN = 12  # columns of an expression
LEAST_ROOM = 24  # columns of one that shares its line with calls
BOUNDED = "between "  # as `values.value.words` has it
PROMISE = {
    Claim.EQUAL: "same result, at least as accurate",
    Claim.EQUAL_WHERE_FINITE: "same result wherever the original was finite",
    Claim.SHIFTED: "changes results",
}
_PROMISE_IN_SHORT = {
    **PROMISE,
    Claim.EQUAL: "same result",
    Claim.EQUAL_WHERE_FINITE: "same result where finite",
}
_MODES = {"eager": "eager", "graph": "tf.function", "xla": "XLA (jit_compile)", "gpu": "GPUs"}
_EVERYWHERE = {"eager", "graph", "xla"}


class Full:
    def __init__(self, view: View = PLAIN):
        self._view = view
        self._paint = view.paint
        self._notes: list[str] = []
        self._shown_notes = self._more_notes = 0

    def start(self) -> str:
        return ""

    def file(self, checked: Checked) -> str:
        lines: list[str] = []
        for finding in checked.findings:
            if self._view.every_note or self._view.verbose or grade(finding).severity != NOTE:
                lines += (
                    self._verbose(finding, checked)
                    if self._view.verbose
                    else self._brief(finding, checked)
                )
            elif self._shown_notes < MAX_NOTES:
                width = self._view.width - 2
                self._notes += wrapped(line(finding, checked), width, "", "    ")
                self._shown_notes += 1
            else:
                self._more_notes += 1
        return "".join(text + "\n" for text in lines)

    def end(self) -> str:
        """The notes, each wrapped to the width."""
        if not self._notes:
            return ""
        lines = [self._paint("label", "Worth a look"), *(f"  {note}" for note in self._notes)]
        if self._more_notes:
            lines.append(f"  and {self._more_notes} more")
        return "\n".join(lines) + "\n\n"

    # The default

    def _brief(self, finding: Finding, checked: Checked) -> Iterator[str]:
        """A finding in the lines that decide what to do."""
        source = checked.source
        yield from header(finding, checked, self._view)
        gutter = len(str(source.location(finding.span.end).row)) + 2
        if source.text:
            label = "" if said(finding.range, finding.message) else finding.range
            shape = Frame(gutter, self._view.columns(gutter + 3), brief=True, label=label)
            yield from frame(source, finding.span, shape, self._paint)
        for step in deciding_steps(finding):
            yield from self._step(step, source)
        verdict = sentence(finding)
        if verdict:
            yield from self._indented("executed: ", escape(verdict))
        best = applicable(finding, checked.unsafe_fixes) or next(iter(finding.fixes), None)
        if best is not None:
            label = _label(best, checked.unsafe_fixes)
            yield from self._indented(label, _in_short(best))
            framed = _framed_line(finding, best, source, self._view.columns(gutter + 3))
            yield from (f"    {text}" for text in self._diff(source, best, 4, framed))
        label, hint = _hint(finding)
        if hint:
            yield from self._indented(label, hint)
        yield ""

    def _step(self, step: Step, source: Source) -> Iterator[str]:
        """A step on one line: a long expression is shortened, its value is not; then, and for words
        that would not fit, the function is left out. The calls follow on lines of their own where
        they have no room even so.
        """
        place = where(step, source)
        shorter = place.removesuffix(f" in {escape(step.function)}")
        value = f" is {step.value}" if step.value else ""
        text = escape(step.text.removesuffix(value))
        ways, value = escape(called(step, source)), escape(value)
        whole = value + ways
        for lead, tail, least in (
            (place, whole, LEAST_ROOM),
            (shorter, whole, LEAST_SHOWN),
            (place, value, LEAST_SHOWN),
            (shorter, value, 0),
        ):
            room = self._view.width - len(f"  from {lead}: {tail}")
            if room >= (min(least, len(text)) if value else len(text)):
                break
        text = clipped(text, max(LEAST_SHOWN, room))
        yield f"  {self._paint('label', 'from ')}{lead}: {text}{tail}"
        if tail != whole:
            yield from wrapped(ways.removeprefix("; "), self._view.width, "      ", "      ")

    def _indented(self, label: str, text: str) -> Iterator[str]:
        lines = wrapped(text, self._view.width, "  " + label, "      ")
        yield "  " + self._paint("label", label) + lines[0][2 + len(label) :]
        yield from lines[1:]

    def _diff(self, source: Source, fix: Fix, indent: int, framed: str | None = None) -> list[str]:
        return mini_diff(source, fix.edits, self._paint, self._view.columns(indent), framed)

    # With --verbose

    def _verbose(self, finding: Finding, checked: Checked) -> Iterator[str]:
        """All that is known about a finding."""
        source = checked.source
        yield from header(finding, checked, self._view)
        gutter = len(str(source.location(finding.span.end).row))
        pad = " " * gutter
        if source.text:
            shape = Frame(gutter, self._view.columns(gutter + 3))
            yield from frame(source, finding.span, shape, self._paint)
        for label, text in self._evidence(finding):
            yield from self._item(pad, label, text)
        yield from self._trace(finding, source, pad)
        yield from self._repairs(finding, checked, pad)
        if finding.help:
            yield from self._item(pad, "help", finding.help)
        page = f", {url(finding)}" if url(finding) else ""
        yield from self._item(pad, "rule", f"tfnanlint explain {finding.code}{page}")
        yield ""

    def _item(self, pad: str, label: str, text: str) -> Iterator[str]:
        lead = f"{pad} = {label}: "
        lines = wrapped(escape(text), self._view.width, lead, f"{pad}       ")
        yield f"{pad} {self._paint('label', '=')} {label}: {lines[0][len(lead) :]}"
        yield from lines[1:]

    def _evidence(self, finding: Finding) -> Iterator[tuple[str, str]]:
        if finding.range:
            yield "value", finding.range
        graded = grade(finding)
        if graded.because:
            yield "grade", f"{graded.severity} ({graded.certainty.name.lower()}): {graded.because}"
        if finding.modes and not _EVERYWHERE <= set(finding.modes):
            yield "only in", ", ".join(_MODES.get(mode, mode) for mode in finding.modes)
        if finding.fixed_in:
            yield "only before", f"TensorFlow {finding.fixed_in}"
        if finding.verdict is not None:
            yield "executed", sentence(finding)
        witness = finding.verdict.witness if finding.verdict is not None else None
        for witness_input in () if witness is None else witness.inputs:
            yield "input", f"{witness_input.name} = {witness_input.text}"

    def _trace(self, finding: Finding, source: Source, pad: str) -> Iterator[str]:
        if not finding.trace:
            return
        yield f"{pad} {self._paint('label', '=')} trace, newest first:"
        for (path, row), steps in groupby(finding.trace, key=lambda step: (step.path, step.row)):
            group = list(steps)
            own = path == source.path and row <= len(source.line_starts)
            text = line_at(source, row) if own else line_elsewhere(path, row)
            here = source.location(source.line_starts[row - 1]) if own else Location(row, 1)
            function = f" in {escape(group[0].function)}" if group[0].function else ""
            lead = f"{pad}     {escape(from_here(path))}:{here.prefix}{here.row}{function}: "
            yield from wrapped(text, self._view.width, lead, f"{pad}       ")
            for step in group:
                indent = f"{pad}         "
                text = escape(step.text + called(step, source))
                yield from wrapped(text, self._view.width, indent, indent + "  ")

    def _repairs(self, finding: Finding, checked: Checked, pad: str) -> Iterator[str]:
        if not finding.fixes:
            if finding.no_fix:
                yield from self._item(pad, "no fix", finding.no_fix)
            return
        best = applicable(finding, checked.unsafe_fixes) or finding.fixes[0]
        yield from self._item(pad, "fix", _offer(best, checked.unsafe_fixes))
        yield from (f"{pad}     {text}" for text in self._diff(checked.source, best, len(pad) + 5))
        for alternative in finding.fixes:
            if alternative is not best:
                yield from self._item(pad, "or", _offer(alternative, checked.unsafe_fixes))


def said(value: str, message: str) -> bool:
    """Whether a value tells nothing that a message does not say."""
    return value in ("", UNBOUNDED) or value in message


def deciding_steps(finding: Finding) -> Sequence[Step]:
    """The steps of a trace that change the value, newest first, at most `MAX_STEPS`; of steps with
    one value the oldest, for it is from there. Where there is none, the oldest step, if it says
    what is not known.
    """
    reasons = list(_reasons(finding.trace))
    steps = [
        step
        for step, older in zip(reasons, (*reasons[1:], None))
        if (older is None or older.value != step.value) and not _framed(step, finding)
    ]
    for newer, older in zip(steps, steps[1:]):
        if newer.value.startswith(BOUNDED) and not older.value.startswith(BOUNDED):
            return steps[: steps.index(older)]  # what is without a bound is no reason for one
    if not steps and finding.trace and not finding.trace[-1].value:
        steps = [finding.trace[-1]]
    return steps[:MAX_STEPS]


def _reasons(trace: Sequence[Step]) -> Iterator[Step]:
    """The steps with a value, up to the one that has it by itself: from a layer, or from what is
    unbounded.
    """
    is_bounded = False
    for step in trace:
        if step.value == UNBOUNDED and is_bounded:
            return
        if step.value in ("", UNBOUNDED):
            continue
        is_bounded = True
        yield step
        if step.made is not None:
            return


def _framed(step: Step, finding: Finding) -> bool:
    """Whether a step tells of an expression inside the flagged one what the finding itself does."""
    inside = finding.span.start <= step.span.start and step.span.end <= finding.span.end
    return inside and step.path == finding.path and step.value == finding.range


def where(step: Step, source: Source) -> str:
    """Where a step stands: the line in the same file, else the file, the line and the function."""
    if step.path != source.path or step.row > len(source.line_starts):
        function = f" in {escape(step.function)}" if step.function else ""
        return f"{escape(from_here(step.path))}:{step.row}{function}"
    here = source.location(source.line_starts[step.row - 1])
    function = f" in {escape(step.function)}" if step.function else ""
    return f"{'' if here.cell is None else f'cell {here.cell}, '}line {here.row}{function}"


def called(step: Step, source: Source, named: Callable[[str], str] | None = None) -> str:
    """What made the layer that gave the value of a step, and through which calls the value goes on,
    as the end of a sentence. `named` names other files, by default from the working directory.
    """
    named = named or from_here
    calls = [f"{call.function}() {_at(call, source, named)}" for call in reversed(step.calls)]
    maker = f"; made by {step.made.function}() {_at(step.made, source, named)}" if step.made else ""
    return maker + (f"; through {' and '.join(calls)}" if calls else "")


def _at(call: Call, source: Source, named: Callable[[str], str]) -> str:
    """Where a call stands, as `where` has it."""
    if call.path != source.path or call.row > len(source.line_starts):
        return f"at {named(call.path)}:{call.row}"
    here = source.location(source.line_starts[call.row - 1])
    return f"{'in' if here.cell is not None else 'on'} {here.words}"


def from_here(path: str) -> str:
    """The path of a file as a person in the working directory writes it, if it is below that."""
    below = os.path.join(os.getcwd(), "")
    return path[len(below) :] if path.startswith(below) else path


def _offer(fix: Fix, unsafe_fixes: bool) -> str:
    """What a fix does, what it promises, and what applies it."""
    promise = PROMISE[fix.claim] + (f": {escape(fix.cost)}" if fix.cost else "")
    return f"{escape(fix.title)} ({promise}{option(fix, unsafe_fixes)})"


def _label(fix: Fix, unsafe_fixes: bool) -> str:
    """What stands before a fix: what it takes to have it applied."""
    if fix.suggested:
        return "suggestion: "
    return "fix: " if fix.applies(unsafe_fixes) else "unsafe fix: "


def option(fix: Fix, unsafe_fixes: bool) -> str:
    """What applies a fix, as the end of a sentence: an option, or nothing, and why."""
    if fix.suggested:
        return f"; not applied, because {fix.suggested}"
    return "" if fix.applies(unsafe_fixes) else "; needs --unsafe-fixes"


def _framed_line(finding: Finding, fix: Fix, source: Source, columns: int) -> str:
    """The line of a finding, if it is the only one framed and all that the fix changes in it is
    shown.
    """
    first, last = (source.position(at)[0] for at in (finding.span.start, finding.span.end))
    if first != last or not source.text:
        return ""
    text = source.line_text(first)
    start = source.line_starts[first - 1]
    edited = [
        e.span for e in fix.edits if e.span.start <= start + len(text) and e.span.end >= start
    ]
    outside = any(span not in finding.span for span in edited)
    changed = Span(start, start + len(text)) if outside else finding.span
    return text if is_shown_whole(source, finding.span, changed, columns) else ""


def _in_short(fix: Fix) -> str:
    """What a fix does, and what else changes with it."""
    if fix.cost:
        return f"{escape(fix.title)}: {escape(fix.cost)}"
    return f"{escape(fix.title)} ({_PROMISE_IN_SHORT[fix.claim]})"


def _hint(finding: Finding) -> tuple[str, str]:
    """The one sentence that helps on, and its label: what to do by hand, or why there is no fix."""
    if finding.help:
        return "hint: ", escape(finding.help)
    if finding.no_fix and not finding.fixes:
        return "no fix: ", escape(finding.no_fix)
    often = f"often harmless in cases like this one, see `tfnanlint explain {finding.code}`"
    return "hint: ", often if finding.doubtful else ""
