"""Applying fixes until nothing is left to fix, each proved to remove its finding, add none and
change nothing else.

A fix that brings up another finding is made together with the fix of that one, if the two leave
nothing new.
"""

from __future__ import annotations

import ast
import bisect
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from tfnanlint.diagnostics.findings import (
    TOO_LONG,
    Bound,
    Certainty,
    Claim,
    Edit,
    Finding,
    Fix,
)
from tfnanlint.diagnostics.notices import IDLE
from tfnanlint.diagnostics.verdicts import Verdict
from tfnanlint.files.write import Refused, encoded, write
from tfnanlint.pipeline import analysis
from tfnanlint.rewrite.bindings import back, clash, misnamed, moved
from tfnanlint.rewrite.hole_test import only_edits_changed
from tfnanlint.rewrite.line_breaks import line_breaks, style_of
from tfnanlint.rewrite.template import written_by_libcst
from tfnanlint.syntax.edits import Shift, composed, edits_apply, in_order
from tfnanlint.syntax.enclosing import enclosing
from tfnanlint.syntax.encodings import decode, encode, fixable
from tfnanlint.syntax.source import Source, Span, Uneditable, Unreadable

__all__ = ["FixResult", "ROUNDS", "Refused", "encoded", "fix_source", "write"]

ROUNDS = 10
MOST_ROUNDS = 100  # where fixes wait for each other's names
MOST_FIXES = 500  # of one file in one run: more than a few take a square of their time
MOST_NAMED = 10  # places of fixes that were left, in a message
CHAIN = 3  # fixes of what a fix brings up, one after the other
CHOICES = 2  # fixes that are tried for each

_IMPORT = re.compile(r"(import|from)\s[^\r\n]*[\r\n]+")

Repair = tuple[Finding, Fix]
Execute = Callable[[Source, Finding, Fix], Verdict]


@dataclass(slots=True)
class FixResult:
    """The fixed source, which fixes are in it, how many rounds changed the text, what was refused
    and why, and where in the new text the fixes are.
    """

    source: Source
    applied: list[Repair]
    rounds: int
    problems: list[str]
    regions: list[Span] = field(default_factory=list)


def fix_source(
    source: Source,
    analyse: Callable[[Source], list[Finding]],
    allowed: Callable[[Fix], bool],
    execute: Execute | None = None,
) -> FixResult:
    """Apply the first allowed fix of each finding that holds, inner expressions first, and check
    again until settled.

    A round is kept only if the new text parses, nothing outside the edits changed, the findings
    fixed are gone and no finding is new. A fix that breaks this alone is left out and named in
    `problems`; the others go on. One that brings up findings which have allowed fixes is made
    together with these, as one fix. A finding that says a suppression comment has become idle does
    not count as new.

    With `execute` each fix is executed too, and one that does not hold what it claims is left out;
    the findings that are applied carry their verdicts.
    """
    with written_by_libcst():
        return _fixed(_Work(source, analyse, allowed, execute))


def _fixed(work: _Work) -> FixResult:
    """What the rounds of fixes make of a source."""
    source = work.source
    if any(map(work.offer, work.findings)) and not fixable(source.encoding):
        problem = (
            f"not fixed: its encoding {source.encoding} cannot be written back without changing its"
            " meaning"
        )
        return FixResult(source, [], 0, [problem])
    if any(finding.no_fix == TOO_LONG for finding in work.findings):
        return FixResult(source, [], 0, [f"not fixed: {TOO_LONG}"])
    left = work.settle()
    work.break_lines(source)
    return FixResult(
        work.source,
        [(one.finding, one.fix) for one in work.applied],
        work.rounds,
        [*(problem for problem, _ in work.refused.values()), *left],
        sorted({*work.written, *(region for one in work.applied for region in one.regions)}),
    )


@dataclass(slots=True)
class _Applied:
    finding: Finding
    fix: Fix
    regions: list[Span]  # where the fix's texts are in the current source


@dataclass(slots=True)
class _Step:
    """A batch of repairs that held, and what it led to."""

    batch: list[Repair]
    source: Source
    findings: list[Finding]
    shift: Shift


@dataclass(slots=True)
class _Fault:
    """Why a batch does not hold; and, where it is a finding that it brings up or leaves, which, and
    what the batch led to.
    """

    reason: str
    finding: Finding | None = None
    step: _Step | None = None


class _Work:
    def __init__(self, source: Source, analyse, allowed, execute: Execute | None):
        self.source = source
        self.findings: list[Finding] = analyse(source)
        self.applied: list[_Applied] = []
        self.written: list[Span] = []  # what is left of fixes that later ones replaced in part
        self.named: list[Bound] = []  # the names that fixes have introduced
        self.rounds = 0
        # Why a fix did not hold and in which round, by code, title and place of the finding; told
        # at the end.
        self.refused: dict[tuple[str, str, Span], tuple[str, int]] = {}
        self._analyse = analyse
        self._allowed = allowed
        self._execute = execute
        self._executed: dict[Repair, tuple[Source, Verdict]] = {}

    def settle(self) -> list[str]:
        """Rounds until nothing is on offer that holds. What is left on offer after the last round,
        in words.
        """
        rounds = ROUNDS
        while self.rounds < rounds and len(self.applied) < MOST_FIXES:
            candidates = self._candidates()[: MOST_FIXES - len(self.applied)]
            batch = _compatible(candidates)
            # A round in which a fix waits for a name does not count: ten values of one function
            # take ten rounds.
            rounds = min(MOST_ROUNDS, rounds + _waiting(batch, candidates))
            if batch:
                step = self._sieve(batch)
                if step is not None:
                    self._accept(step)
                continue
            # What did not hold in an earlier text may hold in this one; a second run would find
            # out.
            tried = {
                key: refusal for key, refusal in self.refused.items() if refusal[1] == self.rounds
            }
            if tried == self.refused:
                return []
            self.refused = tried
        left = [f"{finding.code} at {self._place(finding)}" for finding, _ in self._candidates()]
        if not left:
            return []
        more = f" and {len(left) - MOST_NAMED} more" if len(left) > MOST_NAMED else ""
        places = ", ".join(left[:MOST_NAMED]) + more
        return [f"stopped after {self.rounds} rounds with fixes still on offer for {places}"]

    def break_lines(self, original: Source) -> None:
        """Break the lines that fixes made too long for a file, where that changes no code."""
        regions = [*self.written, *(region for one in self.applied for region in one.regions)]
        if not regions:
            return
        shift = Shift(line_breaks(self.source, regions, style_of(original)))
        if not shift.edits:
            return
        text = edits_apply(self.source.text, shift.edits)
        try:
            new = self.source.edited(text, shift.edits)
            if ast.dump(new.tree) != ast.dump(self.source.tree):
                return
        except (Uneditable, Unreadable):
            return
        self.source = new
        self.written = [shift.span(region) for region in self.written] + shift.regions
        for applied in self.applied:
            applied.regions = [shift.span(region) for region in applied.regions]

    def offer(self, finding: Finding) -> Fix | None:
        """The fix to try for a finding: the first that is allowed and was not refused."""
        for fix in finding.fixes:
            if self._allowed(fix) and (finding.code, fix.title, finding.span) not in self.refused:
                return fix
        return None

    def _candidates(self) -> list[Repair]:
        """What to try: shortest first, then by position, code and title.

        What moves values waits until nothing else is left: behind a floor of 1e-7 no rule sees the
        logarithm of a softmax any more.
        """
        repairs = []
        for finding in self.findings:
            fix = self.offer(finding)
            while fix is not None and not _well_formed(fix, self.source):
                self._refuse((finding, fix), "its edits do not fit the file")
                fix = self.offer(finding)
            if fix is not None:
                repairs.append((finding, fix))
        exact = [repair for repair in repairs if repair[1].claim.safe]
        return sorted(exact or repairs, key=_order)

    def _sieve(self, batch: list[Repair]) -> _Step | None:
        """The largest part of a batch that holds, found by halving; a repair that fails alone is
        refused.
        """
        outcome = self._attempt(batch)
        if isinstance(outcome, _Step):
            return outcome
        if len(batch) == 1:
            self._refuse(batch[0], outcome.reason)
            # One fix that holds alone goes before any that needs another, but for one that
            # completes a form around it which has a repair of its own.
            last = self.offer(batch[0][0]) is None
            return self._helped(batch[0][0]) if last or _completes(outcome) else None
        middle = len(batch) // 2
        first, second = self._sieve(batch[:middle]), self._sieve(batch[middle:])
        if first is None or second is None:
            return first or second
        batch = first.batch + second.batch
        together = self._attempt(batch) if len(_compatible(batch)) == len(batch) else None
        # Repairs that hold apart but not together: the rest gets its turn in the next round.
        return together if isinstance(together, _Step) else first

    def _helped(self, finding: Finding) -> _Step | None:
        """What the first fix of a finding leads to that holds together with those of what it brings
        up.
        """
        for fix in finding.fixes:
            if self._allowed(fix) and _well_formed(fix, self.source):
                outcome = self._attempt([(finding, fix)])
                whole = (
                    outcome
                    if isinstance(outcome, _Step)
                    else self._completed((finding, fix), outcome, CHAIN)
                )
                if whole is not None:
                    return whole
        return None

    def _completed(self, repair: Repair, fault: _Fault, left: int) -> _Step | None:
        """What a repair leads to together with those of the findings that it brings up; None when
        that does not settle.
        """
        if fault.finding is None or fault.step is None or not left:
            return None
        allowed = [
            fix
            for fix in fault.finding.fixes
            if self._allowed(fix) and _well_formed(fix, fault.step.source)
        ]
        for more in allowed[:CHOICES]:
            both = repair[0], _joined(self.source.text, repair[1], more)
            outcome = self._attempt([both])
            whole = (
                outcome if isinstance(outcome, _Step) else self._completed(both, outcome, left - 1)
            )
            if whole is not None:
                return whole
        return None

    def _refuse(self, repair: Repair, reason: str) -> None:
        finding, fix = repair
        problem = f"{finding.code} at {self._place(finding)} not fixed: {reason}"
        self.refused[finding.code, fix.title, finding.span] = problem, self.rounds

    def _place(self, finding: Finding) -> str:
        return self.source.location(finding.span.start).words

    def _attempt(self, batch: list[Repair]) -> _Step | _Fault:
        """What a batch leads to, or why it does not hold."""
        shift = Shift(edit for _, fix in batch for edit in fix.edits)
        try:
            new = self.source.edited(edits_apply(self.source.text, shift.edits), shift.edits)
        except Uneditable as error:
            return _Fault(str(error))
        binds = [bound for _, fix in batch for bound in fix.binds]
        reason = _damage(self.source, new, shift) or misnamed(
            self.source, new, shift, binds, self.named
        )
        if reason:
            return _Fault(reason)
        findings = self._analyse(new)
        step = _Step(batch, new, findings, shift)
        return self._relapse(step) or self._disproved(step) or step

    def _disproved(self, step: _Step) -> _Fault | None:
        """What executing the repairs of a step has against one of them."""
        for repair in step.batch if self._execute is not None else ():
            refused = self._verdict(repair).refused
            if refused:
                return _Fault(f"executed: {refused}")
        return None

    def _verdict(self, repair: Repair) -> Verdict:
        """What executing a repair in the current source shows."""
        assert self._execute is not None
        source, verdict = self._executed.get(repair, (None, None))
        if verdict is None or source is not self.source:
            verdict = self._execute(self.source, *repair)
            self._executed[repair] = self.source, verdict
        return verdict

    def _relapse(self, step: _Step) -> _Fault | None:
        """The finding that is still there or new after a step; None when there is none."""
        fixed = {id(finding) for finding, _ in step.batch}
        places = _Places(self.source, step.shift, [fix for _, fix in step.batch])
        rest = Counter((f.code, places.old(f.span)) for f in self.findings if id(f) not in fixed)
        gone = {(f.code, places.old(f.span), f.message) for f in self.findings if id(f) in fixed}
        capped = [f for f, fix in step.batch if not fix.claim.safe]
        replaced = Counter((f.code, places.old(f.span)) for f in capped)
        least = min((f.certainty for f in capped), default=Certainty.UNKNOWN)
        judged_to = self._judged_to(step.shift)
        unmatched = []
        for finding in step.findings:
            if finding.span.start > judged_to:
                continue
            key = finding.code, places.new(finding.span)
            rest[key] -= 1
            if rest[key] < 0 and finding.code != IDLE.code:
                unmatched.append(finding)
        uncovered = self._uncovered(rest, places)
        still_told: set[int] = set()
        for finding in unmatched:
            key = finding.code, places.new(finding.span)
            if _takes_place(finding, rest, places):
                continue
            if (*key, finding.message) in gone:
                return _Fault("the finding is still there after its fix", finding, step)
            outer = uncovered.get(key, [])
            if outer and finding.certainty <= outer[-1].certainty:
                still_told.add(id(outer.pop()))
                continue
            # A floor makes the value finite; that its gradient is 0 there is told, and stays,
            # unless it is surer than what was mended.
            may_stay = not finding.fixes and finding.certainty <= least
            if may_stay and _takes_place(finding, replaced, places, (finding.code,)):
                continue
            return self._new_finding(step, finding)
        return self._hidden(step, fixed | still_told, rest, places)

    def _hidden(self, step: _Step, told: set[int], rest: Counter, places: _Places) -> _Fault | None:
        """The finding around a repair of a step, not among those of `told`, that the step hides."""
        for finding in self.findings:
            if id(finding) in told or rest[finding.code, places.old(finding.span)] <= 0:
                continue
            if any(_within(one, finding) or self._first(finding, one) for one, _ in step.batch):
                place = self._place(finding)
                return _Fault(f"it would hide {finding.code} at {place} without a repair")
        return None

    def _uncovered(self, rest: Counter, places: _Places) -> dict[tuple, list[Finding]]:
        """Findings that no longer stand, by what may show instead because they went before it: a
        root of 0 in the norm of a vector, which is not seen to be that vector's own any more.
        """
        uncovered: dict[tuple, list[Finding]] = {}
        for finding in self.findings:
            if rest[finding.code, places.old(finding.span)] > 0:
                for span in (finding.span, *finding.data.get("covers", ())):
                    for code in finding.data.get("over", ()):
                        uncovered.setdefault((code, places.old(span)), []).append(finding)
        for findings in uncovered.values():
            findings.sort(key=lambda finding: finding.certainty)
        return uncovered

    def _judged_to(self, shift: Shift) -> float:
        """Behind which offset of an edited text a finding is none that the edits brought up: where
        a file has too many places with findings, what follows the last one was not judged.
        """
        spans = {finding.span for finding in self.findings}
        return shift.span(max(spans)).start if len(spans) >= analysis.MOST_PLACES else math.inf

    def _first(self, outer: Finding, inner: Finding) -> bool:
        """Whether a finding stands around another one and has a fix on offer that moves no
        values.
        """
        fix = self.offer(outer)
        return (
            inner.span != outer.span
            and inner.span in outer.span
            and fix is not None
            and fix.claim.safe
        )

    def _new_finding(self, step: _Step, finding: Finding) -> _Fault:
        codes = ", ".join(sorted({fixed.code for fixed, _ in step.batch}))
        place = step.source.location(finding.span.start).words
        back = next(filter(self._allowed, finding.fixes), None)
        undone = (
            back is not None
            and _well_formed(back, step.source)
            and edits_apply(step.source.text, back.edits)
        )
        if undone == self.source.text:
            return _Fault(f"the fixes of {codes} and {finding.code} undo each other")
        unsafe = ", which takes --unsafe-fixes to repair" if finding.fixes and back is None else ""
        return _Fault(
            f"it would introduce {finding.code} at {place}{unsafe}: {finding.message}",
            finding,
            step,
        )

    def _accept(self, step: _Step) -> None:
        self.rounds += 1
        shift = step.shift
        self.written = [
            place for region in self.written if (place := _carried(region, self.source, shift))
        ]
        still = []
        for applied in self.applied:
            carried = [
                place
                for region in applied.regions
                if (place := _carried(region, self.source, shift))
            ]
            if len(carried) == len(applied.regions):
                applied.regions = carried
                still.append(applied)
            else:
                self.written += carried
        self.applied = still
        new = [bound for _, fix in step.batch for bound in fix.binds if bound.new]
        self.named = list(dict.fromkeys(moved(bound, shift) for bound in (*self.named, *new)))
        place = dict(zip(shift.edits, shift.regions))
        for finding, fix in step.batch:
            if self._execute is not None:
                finding = replace(finding, verdict=self._verdict((finding, fix)))
            self.applied.append(_Applied(finding, fix, [place[edit] for edit in fix.edits]))
        self.refused = {
            (code, title, shift.span(span)): refusal
            for (code, title, span), refusal in self.refused.items()
            if not shift.touching(span)
        }
        self.source, self.findings = step.source, step.findings


def _completes(fault: _Fault) -> bool:
    """Whether what a fix writes is part of an expression that has a finding from then on, as the
    last of four exponents that makes a quotient a hand-written tanh.
    """
    if fault.finding is None or fault.step is None:
        return False
    span = fault.finding.span
    return all(region in span and region != span for region in fault.step.shift.regions)


def _joined(text: str, first: Fix, second: Fix) -> Fix:
    """Two fixes as one: of a text, and of what the first makes of it."""
    claim = next(
        one
        for one in (Claim.SHIFTED, Claim.EQUAL_WHERE_FINITE, Claim.EQUAL)
        if one in (first.claim, second.claim)
    )
    costs = "; ".join(dict.fromkeys(cost for cost in (first.cost, second.cost) if cost))
    shift = Shift(first.edits)
    binds = [*first.binds, *(back(bound, shift) for bound in second.binds)]
    return Fix(
        f"{first.title}; {second.title}",
        claim,
        tuple(composed(text, first.edits, second.edits)),
        costs,
        tuple(binds),
    )


def _takes_place(
    finding: Finding, rest: Counter, places: _Places, also: tuple[str, ...] = ()
) -> bool:
    """Whether a finding stands for one that was there before, of a rule that its rule goes before,
    or of `also`: the same hazard, named better.
    """
    for span in (finding.span, *finding.data.get("covers", ())):
        for code in (*finding.data.get("over", ()), *also):
            if rest[code, places.new(span)] > 0:
                rest[code, places.new(span)] -= 1
                return True
    return False


def _well_formed(fix: Fix, source: Source) -> bool:
    try:
        return bool(fix.edits) and in_order(fix.edits)[-1].span.end <= len(source.text)
    except ValueError:
        return False


def _order(repair: Repair) -> tuple[int, int, bool, str, str]:
    """Inner expressions before outer ones, of one expression what moves no values first. An import
    added at the top does not make a fix long.
    """
    finding, fix = repair
    extent = _extent(fix)
    return extent.end - extent.start, extent.start, not fix.claim.safe, finding.code, fix.title


def _extent(fix: Fix) -> Span:
    """The smallest span around all that a fix replaces; around all edits of one that only adds."""
    replaced = [edit.span for edit in fix.edits if _replaces(edit)] or [
        edit.span for edit in fix.edits
    ]
    return Span(min(span.start for span in replaced), max(span.end for span in replaced))


def _compatible(candidates: list[Repair]) -> list[Repair]:
    """As many of the repairs, in their order, as do not overlap and do not bind the same name.

    Of those that bind one name the first in the text goes. What stands within a finding of a rule
    that goes before its own waits.
    """
    candidates = [
        repair
        for repair in candidates
        if not any(_within(repair[0], other) for other, _ in candidates)
    ]
    binding = [fix for _, fix in candidates if fix.binds]
    chosen: list[Repair] = []
    taken: list[Edit] = []  # by position; none of them overlap
    bound: list[Bound] = []
    for finding, fix in candidates:
        if any(clash(one, other) for one in fix.binds for other in bound):
            continue
        if any(_goes_before(other, fix) for other in binding):
            continue
        if not any(_conflict(edit, other) for edit in fix.edits for other in _near(edit, taken)):
            chosen.append((finding, fix))
            bound += fix.binds
            for edit in fix.edits:
                bisect.insort(taken, edit, key=lambda placed: placed.span)
    return chosen


def _goes_before(fix: Fix, rival: Fix) -> bool:
    """Whether a fix stands before another one that binds the same name: the first value gets the
    plain name, in the round before it.
    """
    if not rival.binds or not _share_a_name(fix, rival):
        return False
    first, second = _extent(fix), _extent(rival)
    return first.start < second.start and first.end <= second.end


def _share_a_name(fix: Fix, rival: Fix) -> bool:
    return any(clash(first, second) for first in fix.binds for second in rival.binds)


def _within(inner: Finding, outer: Finding) -> bool:
    """Whether a finding stands within the expression of another one, of a rule that goes before its
    own: a root in what a choice hides.
    """
    return (
        inner.span != outer.span
        and inner.span in outer.span
        and inner.code in outer.data.get("over", ())
    )


def _waiting(batch: list[Repair], candidates: list[Repair]) -> bool:
    """Whether a candidate waits only for the name of one that is made in this round."""
    chosen = {id(fix) for _, fix in batch}
    return any(
        _share_a_name(fix, other)
        for _, fix in candidates
        if id(fix) not in chosen
        for _, other in batch
    )


def _near(edit: Edit, taken: list[Edit]) -> list[Edit]:
    """Those of some edits that could touch an edit."""
    first = bisect.bisect_left(taken, edit.span.start, key=lambda placed: placed.span.start)
    last = bisect.bisect_left(
        taken, max(edit.span.end, edit.span.start + 1), key=lambda placed: placed.span.start
    )
    return taken[max(0, first - 1) : last]


def _conflict(first: Edit, second: Edit) -> bool:
    """Whether two edits cannot be made together. Import lines added at one place can."""
    a, b = first.span, second.span
    if a.start == a.end == b.start == b.end:
        return first.text != second.text and not (
            _IMPORT.fullmatch(first.text) and _IMPORT.fullmatch(second.text)
        )
    return a.start < b.end and b.start < a.end


def _carried(region: Span, source: Source, shift: Shift) -> Span | None:
    """Where what an earlier fix wrote is after a later one: also in a line that this one added.
    None when it is gone.
    """
    if not any(region in edit.span for edit in shift.edits if _replaces(edit)):
        return shift.span(region)
    text = "".join(source.slice(region).split())  # what was broken over lines is moved as one line
    return next(
        (
            place
            for edit, place in zip(shift.edits, shift.regions)
            if text in "".join(edit.text.split())
        ),
        None,
    )


# --------------------------------------------------------------------------------------------------
# What must hold after a step


def _damage(old: Source, new: Source, shift: Shift) -> str:
    """What edits broke in a file besides the findings, in words; empty when nothing."""
    try:
        encode(new.text, new.encoding)
    except UnicodeEncodeError:
        return f"the new text does not fit the file's encoding {new.encoding}"
    # Every encoding that is fixed at all maps equal text to equal bytes, and back.
    if _between(old.text, (edit.span for edit in shift.edits)) != _between(new.text, shift.regions):
        return "text outside of the edits would change"
    if _read_back(old) == (old.text, old.encoding) and _read_back(new) != (new.text, new.encoding):
        return "the file would be read in another encoding"
    try:
        body = new.tree.body
    except Unreadable as error:
        place = new.location(new.line_starts[min(error.row, len(new.line_starts)) - 1])
        return f"the new text does not parse: {error} ({place.words})"
    if not only_edits_changed(old.tree.body, old, body, new.span, shift):
        return "code outside of the replaced expressions would change"
    return ""


def _read_back(source: Source) -> tuple[str, str] | None:
    """Text and encoding as Python would read the source's bytes."""
    try:
        return decode(encode(source.text, source.encoding))
    except (Unreadable, UnicodeEncodeError):
        return None


def _between(text: str, spans: Iterable[Span]) -> list[str]:
    """The parts of a text that lie outside of spans."""
    ends = [0, *(place for span in spans for place in (span.start, span.end)), len(text)]
    return [text[start:end] for start, end in zip(ends[::2], ends[1::2])]


class _Places:
    """Names for the places of findings that hold before and after edits, so that findings can be
    matched.

    Outside of the expressions that edits touch, a place is its span in the new text. What one fix
    touches or adds is one place, in which findings are only counted: a rewrite moves things around.
    """

    def __init__(self, source: Source, shift: Shift, fixes: list[Fix]):
        self._shift = shift
        # fix -> an earlier one that touches the same expression, or itself
        self._joined = list(range(len(fixes)))
        touched = sorted(
            (_touched(source, edit), at)
            for at, fix in enumerate(fixes)
            for edit in fix.edits
            if _replaces(edit)
        )
        self._old: list[tuple[Span, int]] = []
        for span, at in touched:
            if self._old and span.start < self._old[-1][0].end:
                last, first = self._old.pop()
                self._join(at, first)
                span = Span(last.start, max(span.end, last.end))
            self._old.append((span, at))
        self._new = [(shift.span(span), at) for span, at in self._old]
        place = dict(zip(shift.edits, shift.regions))
        self._added = sorted(
            {
                place[edit]: at
                for at, fix in enumerate(fixes)
                for edit in fix.edits
                if not _replaces(edit)
            }.items()
        )

    def _join(self, first: int, second: int) -> None:
        first, second = sorted((self._first(first), self._first(second)))
        self._joined[second] = first

    def _first(self, at: int) -> int:
        while self._joined[at] != at:
            at = self._joined[at]
        return at

    def old(self, span: Span) -> tuple:
        return self._within(span, self._old) or self._exact(self._shift.span(span))

    def new(self, span: Span) -> tuple:
        return self._within(span, self._new) or self._within(span, self._added) or self._exact(span)

    @staticmethod
    def _exact(span: Span) -> tuple:
        return "at", span.start, span.end

    def _within(self, span: Span, places: list[tuple[Span, int]]) -> tuple | None:
        """The first of some places, which do not overlap, that a span touches."""
        index = bisect.bisect_right(places, span.start, key=lambda place: place[0].end)
        if index < len(places) and places[index][0].start < span.end:
            return "in", self._first(places[index][1])
        return None


def _replaces(edit: Edit) -> bool:
    return edit.span.start < edit.span.end


def _touched(source: Source, edit: Edit) -> Span:
    """The outermost expression of a statement around an edit; the edit itself where there is
    none.
    """
    path = enclosing(source.tree.body, edit.span, source.span)
    for at in range(len(path), 0, -1):
        if isinstance(path[at - 1], ast.stmt):
            return source.span(path[at]) if at < len(path) else edit.span
    return edit.span
