"""The pipeline of one file: decode, analyse, drop what a more specific rule says better, suppress,
filter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from tfnanlint.config.layers import Policy
from tfnanlint.diagnostics import notices
from tfnanlint.diagnostics.findings import Certainty, Finding
from tfnanlint.diagnostics.grades import is_mended
from tfnanlint.files.kinds import NOTEBOOK, relevant
from tfnanlint.pipeline.half_repairs import without_half_repairs
from tfnanlint.suppression import comments as suppress
from tfnanlint.syntax.parse_limits import TooCostly
from tfnanlint.syntax.recovery import PartialSource, recovered
from tfnanlint.syntax.source import Source, Span, Unreadable

if TYPE_CHECKING:
    from tfnanlint.pipeline.analysis import Analysis
    from tfnanlint.project.index import Facts


@dataclass(frozen=True, slots=True)
class Checked:
    """One file after the pipeline. `source` is empty text where there was nothing to decode;
    `hidden` counts what comments suppressed, `unsure` what is left out by default because its rule
    is wrong there too often, `known` what the baseline holds, `unchanged` what stands on lines that
    did not change; `unsafe_fixes` says whether fixes that move values are applied in this file,
    `cut_short` names the functions in which some value was not followed to its end, for what that
    would have cost; `relevant` says whether the file has to do with TensorFlow.
    """

    source: Source
    findings: tuple[Finding, ...] = ()
    hidden: int = 0
    unsafe_fixes: bool = False
    known: int = 0
    unchanged: int = 0
    unsure: int = 0
    cut_short: tuple[str, ...] = ()
    relevant: bool = True

    @property
    def path(self) -> str:
        return self.source.path


class Account(NamedTuple):
    """All that was found in a file, before any of it was set aside; which of it has its fixes; and
    what it depends on outside of the file.
    """

    checked: Checked
    repaired: tuple[bool, ...]
    facts: Facts


_BROKEN: Final = "the file has a syntax error"
_NO_FIX_OF_NOTE: Final = "nothing shows that it occurs: `--certainty unknown` offers its repair"
Narrowing = Callable[[Checked], Checked]
Teller = Callable[[Account], None]


def _whole(checked: Checked) -> Checked:
    return checked


def check(
    path: str, data: bytes, policy: Policy, narrowed: Narrowing = _whole, told: Teller | None = None
) -> Checked:
    """The findings in the bytes of a file, those that `narrowed` leaves. What cannot be decoded or
    parsed is a finding itself.

    `told` gets the whole account of a file that could be analysed.
    """
    if not relevant(data):
        return Checked(Source(path, ""), relevant=False)
    if path.endswith(NOTEBOOK):
        return _check_notebook(path, data, policy, narrowed, told)
    try:
        source = Source.from_bytes(path, data)
    except Unreadable as error:
        nothing = Source(path, "")
        return narrowed(
            Checked(nothing, (notices.INVALID_SYNTAX.finding(nothing, Span(0, 0), str(error)),))
        )
    return check_source(source, policy, narrowed, told)


def opened(path: str, data: bytes) -> Source:
    """The source in the bytes of a file, or the module in those of a notebook.
    Raises `Unreadable`.
    """
    if not path.endswith(NOTEBOOK):
        return Source.from_bytes(path, data)
    from tfnanlint.notebook.document import Notebook

    return Notebook(path, data).source


def _check_notebook(
    path: str, data: bytes, policy: Policy, narrowed: Narrowing, told: Teller | None
) -> Checked:
    """The findings in a notebook's Python cells; none when they do not name TensorFlow, whatever
    else in it does.
    """
    from tfnanlint.notebook.document import Notebook

    try:
        notebook = Notebook(path, data)
    except Unreadable as error:
        shown = Source(path, data.decode("utf-8", "replace"))
        return narrowed(Checked(shown, (_unparsable(shown, error),)))
    if not notebook.mentions(("tensorflow", "keras")):
        return Checked(Source(path, ""), relevant=False)
    return check_source(notebook.source, policy, narrowed, told)


def unread(path: str, reason: str) -> Checked:
    """The outcome for a file whose bytes could not be had."""
    nothing = Source(path, "")
    return Checked(nothing, (notices.UNREAD.finding(nothing, Span(0, 0), reason),))


def check_source(
    source: Source, policy: Policy, narrowed: Narrowing = _whole, told: Teller | None = None
) -> Checked:
    """The findings in a decoded source, those that `narrowed` leaves, with their fixes. Arguments
    are those of `check`.
    """
    with Checking(source, policy, facts=None if told is None else {}) as checking:
        kept = narrowed(checking.checked)
        repaired = without_half_repairs(
            source,
            {finding: checking.repaired(finding) for finding in kept.findings},
            _most_specific(checking.found or [], policy),
        )
        if told is not None and checking.complete:
            findings = tuple(
                repaired.get(finding, finding) for finding in checking.checked.findings
            )
            if not any(finding.code == notices.INTERNAL.code for finding in findings):
                flags = tuple(finding in repaired for finding in checking.checked.findings)
                told(
                    Account(
                        replace(checking.checked, findings=findings), flags, checking.facts or {}
                    )
                )
        return (
            replace(kept, findings=tuple(repaired[finding] for finding in kept.findings))
            if repaired
            else kept
        )


class Checking:
    """The findings in a decoded source, as `checked`; their fixes are made one by one, when asked
    for, which costs more than to find them. What fixes are made from is held until `close`.
    `complete` says whether the source could be analysed; what that depends on outside of it is
    noted in `facts`, if it is given.

    Of a source with a syntax error the definitions without it are judged, and the error is reported
    beside what is found there; nothing of it is fixed.

    `found` are those of all rules, before anything is filtered; None where the source could not be
    analysed. With `within` only these rows are judged, and `elsewhere` tells what was found in
    others before.
    """

    def __init__(
        self,
        source: Source,
        policy: Policy,
        within: range | None = None,
        elsewhere: Iterable[Finding] = (),
        facts: Facts | None = None,
    ):
        self.checked = Checked(source)
        self.complete = True
        self.facts = facts
        self.found: list[Finding] | None = None
        self._analysis: Analysis | None = None
        self._unfixable = policy.unfixable
        self._fixes = dict(policy.fixes)
        self._mends_notes = policy.mends_notes
        if policy.comments and suppress.skips_file(source):
            return
        try:
            self._analyse(source, policy, within, elsewhere)
        except Unreadable as error:
            self._analyse_rest(source, error, policy, within, elsewhere)
        except (RecursionError, MemoryError) as error:
            self._refuse(source, Unreadable(_too_much(error)))

    def _analyse(
        self, source: Source, policy: Policy, within: range | None, elsewhere: Iterable[Finding]
    ) -> None:
        # The op table is loaded only when some file needs it.
        from tfnanlint.pipeline import analysis as flow

        self._analysis = flow.Analysis(
            source,
            policy.running,
            policy.setup,
            policy.drafted,
            within,
            self.facts,
            policy.shown,
            policy.reports,
        )
        here = {(one.code, one.span) for one in self._analysis.findings}
        self.found = self._analysis.findings + [
            one for one in elsewhere if (one.code, one.span) not in here
        ]
        if isinstance(source, PartialSource):
            self.found = [one for one in self.found if not _rests_on_cut(one, source)]
        self.found.sort(key=lambda finding: (finding.span, finding.code))
        self.checked = _filtered(self.found, source, policy, self._analysis.cut_short)

    def _analyse_rest(
        self,
        source: Source,
        error: Unreadable,
        policy: Policy,
        within: range | None,
        elsewhere: Iterable[Finding],
    ) -> None:
        """Analyse what of a source can be parsed, and report the error beside what is found."""
        rest = None if isinstance(error, TooCostly) else recovered(source, error)
        if rest is None:
            self._refuse(source, error)
            return
        self.complete = False
        try:
            self._analyse(rest, policy, within, elsewhere)
        except (Unreadable, RecursionError, MemoryError):
            self._refuse(source, error)

    def _refuse(self, source: Source, error: Unreadable) -> None:
        self.complete = False
        self.checked = Checked(source, (_unparsable(source, error),))

    def __enter__(self) -> Checking:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def repaired(self, finding: Finding) -> Finding:
        """One of the findings with its fixes, or with the reason why there is none."""
        if finding.code in self._unfixable:
            return replace(
                finding, fixes=(), no_fix="the configuration leaves this to you (unfixable)"
            )
        if finding.code == notices.INVALID_SYNTAX.code:
            return finding
        if isinstance(self.checked.source, PartialSource):
            return replace(finding, fixes=(), no_fix=_BROKEN)
        is_note = finding.certainty is Certainty.UNKNOWN and not is_mended(finding)
        if is_note and not self._mends_notes:
            return replace(finding, fixes=(), no_fix=_NO_FIX_OF_NOTE)
        whole = finding if self._analysis is None else self._analysis.repaired(finding)
        names = self._fixes.get(finding.code)
        if names is None:
            return whole
        from tfnanlint.diagnostics.fix_names import narrowed

        return narrowed(whole, names)

    def close(self) -> None:
        """Let go of all that fixes are made from."""
        if self._analysis is not None:
            self._analysis.close()
            self._analysis = None


def _filtered(
    findings: list[Finding], source: Source, policy: Policy, cut_short: tuple[str, ...]
) -> Checked:
    """What is left of the findings of all rules, with what is wrong with comments and cells."""
    findings = [
        finding for finding in _most_specific(findings, policy) if not policy.holds(finding)
    ]
    outcome = (
        suppress.apply(findings, source, policy)
        if policy.comments
        else suppress.Outcome(findings, [], [])
    )
    # what hides a finding that may be missing, or in a part that is not checked, seems idle
    idle = [] if cut_short or isinstance(source, PartialSource) else outcome.idle
    shown = [finding for finding in outcome.kept if policy.reports(finding)] + idle
    shown += [_unparsable(source, fault) for fault in source.faults]
    shown.sort(key=lambda finding: (finding.span, finding.code))
    unsure = sum(map(policy.withholds, outcome.kept))
    return Checked(
        source,
        tuple(shown),
        len(outcome.hidden),
        policy.unsafe_fixes,
        unsure=unsure,
        cut_short=cut_short,
    )


def _rests_on_cut(finding: Finding, source: PartialSource) -> bool:
    """Whether a finding, or a value that led to it, depends on what could not be parsed."""
    spans = [step.span for step in finding.trace if step.path == source.path]
    return any(map(source.rests_on_cut, (finding.span, *spans)))


def _most_specific(findings: list[Finding], policy: Policy) -> list[Finding]:
    """Drop each finding in whose place one of a rule stands that replaces its rule there, also if
    that one shows only in modes that are not used, or is withheld.
    """
    replaced = {
        (code, span)
        for finding in findings
        if policy.graded(finding) and finding.code in policy.known
        for code in policy.known[finding.code].over
        for span in (finding.span, *finding.data.get("covers", ()))
    }
    return [finding for finding in findings if (finding.code, finding.span) not in replaced]


def _too_much(error: Exception) -> str:
    """What an analysis that was given up for its cost had too much of."""
    if isinstance(error, MemoryError):
        return "it needs more memory than is allowed"
    return "nested too deeply to be analysed"


def _unparsable(source: Source, error: Unreadable) -> Finding:
    start = len(source.text)
    if error.row <= len(source.line_starts):
        line = source.line_text(error.row)
        start = source.line_starts[error.row - 1] + max(0, min(error.column - 1, len(line)))
    notice = notices.UNREAD if isinstance(error, TooCostly) else notices.INVALID_SYNTAX
    return notice.finding(source, Span(start, min(start + 1, len(source.text))), str(error))
