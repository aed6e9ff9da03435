"""Findings in the words of the protocol: diagnostics, hovers, links and actions."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from lsprotocol import types
from pygls.uris import from_fs_path

from tfnanlint.diagnostics import notices
from tfnanlint.diagnostics.findings import Call, Claim, Edit, Finding, Fix, Step
from tfnanlint.diagnostics.grades import grade, severity
from tfnanlint.diagnostics.verdicts import Verdict
from tfnanlint.lsp.documents import Part, Snapshot
from tfnanlint.lsp.sheets import Answer
from tfnanlint.report import escape, message
from tfnanlint.report.verdicts import sentence
from tfnanlint.syntax.source import Span

SOURCE = "tfnanlint"
FIX_ALL = "source.fixAll.tfnanlint"
NOTEBOOK_FIX_ALL = "notebook.source.fixAll.tfnanlint"

_SEVERITY = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "note": types.DiagnosticSeverity.Hint,
}
_CLAIM = {
    Claim.EQUAL: "same result",
    Claim.EQUAL_WHERE_FINITE: "same result where finite",
    Claim.SHIFTED: "changes results",
}


def claimed(fix: Fix) -> str:
    """A fix as the menu of an editor shows it: what it does, and what it promises."""
    cost = f": {fix.cost}" if fix.cost else ""
    lead = "suggestion: " if fix.suggested else ""
    return escape(f"{lead}{fix.title} ({_CLAIM[fix.claim]}{cost})")


def diagnostics(answer: Answer) -> dict[str, list[types.Diagnostic]]:
    """The findings by document; a document without any has an empty list."""
    by_document: dict[str, list[types.Diagnostic]] = {
        part.uri: [] for part in answer.snapshot.parts
    }
    for finding in answer.outcome.findings:
        located = answer.snapshot.locate(finding.span)
        if located is not None:
            by_document[located[0].uri].append(diagnostic(finding, located[1], answer))
    return by_document


def diagnostic(finding: Finding, range_: types.Range, answer: Answer) -> types.Diagnostic:
    page = answer.outcome.pages.get(finding.code)
    idle = finding.code == notices.IDLE.code
    return types.Diagnostic(
        range=range_,
        message=message(finding),
        severity=types.DiagnosticSeverity.Hint if idle else _SEVERITY[severity(finding)],
        tags=[types.DiagnosticTag.Unnecessary] if idle else None,
        code=finding.code,
        code_description=types.CodeDescription(page) if page else None,
        source=SOURCE,
        related_information=list(_related(finding, answer.snapshot)) or None,
    )


def _related(finding: Finding, snapshot: Snapshot) -> Iterator[types.DiagnosticRelatedInformation]:
    for step in finding.trace:
        location = _location(step, finding, snapshot)
        if location is not None:
            yield types.DiagnosticRelatedInformation(location, escape(step.text))


def _location(step: Step, finding: Finding, snapshot: Snapshot) -> types.Location | None:
    if step.path == finding.path:
        located = snapshot.locate(step.span)
        return types.Location(located[0].uri, located[1]) if located is not None else None
    # Another file's text is not at hand: its row is known, the column is not.
    start = types.Position(step.row - 1, 0)
    return types.Location(from_fs_path(step.path), types.Range(start, start))


def identity(listed: Iterable[types.Diagnostic]) -> str:
    """A name for a list of diagnostics, the same for equal lists."""
    return hashlib.sha1("\n".join(map(repr, listed)).encode("utf-8", "replace")).hexdigest()


# --------------------------------------------------------------------------------------------------
# Hover


def at(answer: Answer, uri: str, position: types.Position) -> list[Finding]:
    """The findings at a position."""
    offset = answer.snapshot.offset(uri, position)
    return [
        one
        for one in answer.outcome.findings
        if offset is not None and one.span.start <= offset <= one.span.end
    ]


def hover(
    answer: Answer,
    uri: str,
    position: types.Position,
    markdown: bool,
    proved: Callable[[Finding], Verdict | None],
) -> types.Hover | None:
    """All that is known about the findings at a position;
    `proved` gives what executing has shown.
    """
    here = [replace(one, verdict=proved(one)) for one in at(answer, uri, position)]
    if not here:
        return None
    rule = "\n\n---\n\n" if markdown else "\n\n"
    text = rule.join("\n".join(_explained(one, answer, markdown)) for one in here)
    kind = types.MarkupKind.Markdown if markdown else types.MarkupKind.PlainText
    narrowest = min(here, key=lambda finding: finding.span.end - finding.span.start)
    located = answer.snapshot.locate(narrowest.span)
    return types.Hover(types.MarkupContent(kind, text), located[1] if located is not None else None)


def _explained(finding: Finding, answer: Answer, markdown: bool) -> Iterator[str]:
    say = _in_markdown if markdown else escape
    page = answer.outcome.pages.get(finding.code)
    code = f"[{finding.code}]({page})" if markdown and page else finding.code
    yield (
        f"**{code} {finding.slug}**: {say(finding.message)}"
        if markdown
        else f"{code} {finding.slug}: {say(finding.message)}"
    )
    yield ""
    if finding.range:
        yield f"- value: {say(finding.range)}"
    graded = grade(finding)
    if graded.because:
        yield f"- {graded.severity} ({graded.certainty.name.lower()}): {graded.because}"
    if finding.verdict is not None:
        yield f"- {say(sentence(finding))}"
    for fix in finding.fixes:
        yield f"- fix: {say(claimed(fix))}"
    if finding.no_fix:
        yield f"- no fix: {say(finding.no_fix)}"
    if finding.trace:
        yield ""
        yield "Where the value comes from, newest first:"
        yield ""
    for step in finding.trace:
        told = say(step.text + _called(step, finding, answer.snapshot))
        yield f"- {_where(step, finding, answer.snapshot, markdown)}: {told}"


def _called(step: Step, finding: Finding, snapshot: Snapshot) -> str:
    """What made the layer that gave the value of a step, and through which calls the value goes on,
    as the end of a sentence. In a notebook no lines are named: they are counted by cell.
    """

    def told(call: Call) -> str:
        if call.path != finding.path:
            return f"{call.function}() at {os.path.basename(call.path)}:{call.row}"
        return f"{call.function}()" + (f" on line {call.row}" if len(snapshot.parts) == 1 else "")

    maker = f"; made by {told(step.made)}" if step.made else ""
    return maker + (
        "; through " + " and ".join(map(told, reversed(step.calls))) if step.calls else ""
    )


def _where(step: Step, finding: Finding, snapshot: Snapshot, markdown: bool) -> str:
    location = _location(step, finding, snapshot)
    if location is None:
        return "elsewhere"
    row = location.range.start.line + 1
    name = "line" if step.path == finding.path else escape(os.path.basename(step.path))
    return f"[{name} {row}]({location.uri}#L{row})" if markdown else f"{name} {row}"


def _in_markdown(text: str) -> str:
    """Text of a file that a viewer of Markdown must show as it is: no links, images or markup of
    its own.
    """
    plain = escape(text)
    return "".join(
        f"\\{character}" if character in "\\`*_[]<>#|!&" else character for character in plain
    )


# --------------------------------------------------------------------------------------------------
# Actions


def asked_for(kind: str, only: Iterable[str] | None) -> bool:
    """Whether a kind of action is among those that a client asks for; `source` asks for
    `source.fixAll`, too.
    """
    return only is None or any(
        kind == one or kind.startswith(f"{one}.") for one in map(_name, only)
    )


def _name(kind: str | types.CodeActionKind) -> str:
    return str(getattr(kind, "value", kind))


def here(answer: Answer, uri: str, range_: types.Range) -> Iterator[tuple[Finding, types.Range]]:
    """The findings on the lines of a range."""
    for finding in answer.outcome.findings:
        located = answer.snapshot.locate(finding.span)
        if located is not None and located[0].uri == uri:
            if (
                located[1].start.line <= range_.end.line
                and range_.start.line <= located[1].end.line
            ):
                yield finding, located[1]


def about_fixes(answer: Answer, params: types.CodeActionParams) -> bool:
    """Whether there is anything to offer: clients ask at every move of the cursor, and to make
    fixes takes time.
    """
    only = params.context.only
    if only is not None and (asked_for(FIX_ALL, only) or asked_for(NOTEBOOK_FIX_ALL, only)):
        return True
    return any(here(answer, params.text_document.uri, params.range))


def workspace_edit(
    snapshot: Snapshot, edits: Iterable[Edit], versioned: bool
) -> types.WorkspaceEdit | None:
    """Edits for the client to make; None when some cross the border of a document."""
    by_document = snapshot.text_edits(edits)
    if by_document is None:
        return None
    if not versioned:
        return types.WorkspaceEdit(changes={part.uri: found for part, found in by_document.items()})
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(_versioned(part), list(found))
            for part, found in by_document.items()
        ]
    )


def _versioned(part: Part) -> types.OptionalVersionedTextDocumentIdentifier:
    return types.OptionalVersionedTextDocumentIdentifier(uri=part.uri, version=part.version)


def quick_fixes(
    answer: Answer, finding: Finding, shown: types.Diagnostic, versioned: bool
) -> Iterator[types.CodeAction]:
    """An action for each fix of a finding, the best safe one preferred."""
    preferred = next((fix for fix in finding.fixes if fix.applies(False)), None)
    for fix in finding.fixes:
        edit = workspace_edit(answer.snapshot, fix.edits, versioned)
        if edit is not None:
            yield types.CodeAction(
                title=f"{finding.code}: {claimed(fix)}",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[shown],
                is_preferred=fix is preferred or None,
                edit=edit,
            )


def hideable(finding: Finding) -> bool:
    """Whether a comment can hide a finding."""
    return not finding.code.startswith("TFN0")


def links(answer: Answer, uri: str) -> Iterator[types.DocumentLink]:
    """The names of rules in comments of a document."""
    for span, page in answer.outcome.links:
        located = answer.snapshot.locate(span)
        if located is not None and located[0].uri == uri:
            yield types.DocumentLink(range=located[1], target=page, tooltip="What the rule says")


def safely_fixable(answer: Answer) -> bool:
    return any(fix.applies(False) for finding in answer.outcome.findings for fix in finding.fixes)


def span_of(data: dict) -> Span:
    start, end = data["span"]
    return Span(int(start), int(end))
