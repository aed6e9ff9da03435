"""The slices of a finding: in the source as it is, and in the source with a fix applied."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tfnanlint.diagnostics.findings import Finding, Fix
from tfnanlint.idioms.loss_pairs import Pairing, pairings
from tfnanlint.ops.frameworks import COMPILE
from tfnanlint.pipeline.analysis import File
from tfnanlint.pipeline.prefilter import Marks, Subscriptions
from tfnanlint.program.scope import Point
from tfnanlint.project.index import adopt
from tfnanlint.prove.program import Program
from tfnanlint.prove.slices import Slicer, Unsupported
from tfnanlint.syntax.edits import edits_apply
from tfnanlint.syntax.source import Source, Uneditable, Unreadable
from tfnanlint.syntax.spans import Edit, Span

MOST_CHOICES = 3  # of branches, or callers, that are tried one after the other
_MOST_SINKS = 12
# How the losses of a family are written; with `from_logits` those that have it.
_LOSSES = {
    "binary": "keras.losses.BinaryCrossentropy()",
    "categorical": "keras.losses.CategoricalCrossentropy()",
    "sparse": "keras.losses.SparseCategoricalCrossentropy()",
    "poisson": "keras.losses.Poisson()",
    "msle": "keras.losses.MeanSquaredLogarithmicError()",
    "kld": "keras.losses.KLDivergence()",
}
_OF_DISCARDED = ("TFN406",)  # what these flag is no part of any result
_LONG = 60  # steps; a function that computes more is cut behind the flagged statement


@dataclass(frozen=True, slots=True)
class Slices:
    """What is executed for a finding: its slice, and that of the same place after the fix."""

    original: Program
    fixed: Program | None
    fix: Fix | None
    unfixed: str = ""  # why there is no slice of the fix


@dataclass(frozen=True, slots=True)
class _Place:
    """An expression and the point where it stands."""

    node: ast.expr
    point: Point


class _Judgement:
    """The engine's view of one source; as a context manager, let go of at the end."""

    def __init__(self, source: Source):
        adopt(source)
        self.source = source
        self._file = File(source, Subscriptions(()), Marks(set(), set(), set()), draft=False)
        self.engine = self._file.interpreter

    def __enter__(self) -> _Judgement:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def expressions(self, row: int) -> Iterator[_Place]:
        """The expressions of the statements that touch a row."""
        for node, point in self._file.module.expressions(row, self.engine):
            if isinstance(node, ast.expr) and hasattr(node, "lineno"):
                yield _Place(node, point)

    def around(self, span: Span) -> _Place | None:
        """The expression of a statement that holds a span."""
        row = self.source.position(span.start)[0]
        holding = [place for place in self.expressions(row) if span in self.source.span(place.node)]
        return min(holding, key=lambda place: self._length(place.node), default=None)

    def _length(self, node: ast.expr) -> int:
        span = self.source.span(node)
        return span.end - span.start

    def within(self, place: _Place, span: Span) -> list[_Place]:
        """The expressions inside of another one that hold a span, the smallest first; the last one
        is the other one.
        """
        for part, point in self.engine.parts(place.node, place.point):
            if isinstance(part, ast.expr) and hasattr(part, "lineno"):
                if span in self.source.span(part):
                    return [*self.within(_Place(part, point), span), place]
        return [place]

    def about(self, holding: list[_Place]) -> list[_Place]:
        """The expressions that a finding may be about, of those that hold it, the smallest first:
        what a name stands for, too, and around a constant the operation that takes it.
        """
        site = holding[0]
        if isinstance(site.node, ast.Name):
            assigned = self.engine.assigned_expression(site.node.id, site.point)
            return [site, _Place(assigned, site.point)] if assigned is not None else [site]
        value = self.engine.ask(site.node, site.point)
        is_number = isinstance(value.const, (int, float)) or value.exact
        return holding if is_number else [site]

    def ending(self, end: int) -> _Place | None:
        """The longest expression of a statement that ends at an offset."""
        row = self.source.position(max(0, end - 1))[0]
        fitting = [
            place
            for whole in self.expressions(row)
            for place in _elements(whole)
            if self.source.span(place.node).end == end
        ]
        return max(fitting, key=lambda place: self._length(place.node), default=None)

    def sinks(self, place: _Place) -> list[_Place]:
        """The expressions behind a place in its function whose values are used, results first."""
        scope, time = place.point.scope, place.point.time
        discarded = self._file.module.discarded
        returned = [(node, at) for node, at in scope.returns if node is not None]
        later = [
            (node, at) for node, at in scope.statements if at >= time and node not in discarded
        ]
        nodes = dict.fromkeys([*reversed(returned), *reversed(later)])
        places = [
            _Place(node, Point(scope, at))
            for node, at in nodes
            if isinstance(node, ast.expr) and node.lineno >= place.node.lineno
        ]
        return [one for whole in places[:_MOST_SINKS] for one in _elements(whole)]


def _elements(place: _Place) -> list[_Place]:
    """The elements of a tuple or list that is written; of anything else itself."""
    if isinstance(place.node, (ast.Tuple, ast.List)):
        return [_Place(node, place.point) for node in place.node.elts]
    return [place]


def slices(source: Source, finding: Finding) -> list[Slices]:
    """The slices of a finding, for each way in which branches are taken, best first. Raises
    `Unsupported`.
    """
    fix = next(iter(finding.fixes), None)
    chosen: list[Slices] = []
    reason = ""
    for choice in range(MOST_CHOICES):
        try:
            programs, branched = _chosen(source, finding, fix, choice)
        except Unsupported as error:
            reason = reason or str(error)
            branched = True
        else:
            known = {one.original for one in chosen}
            chosen += [one for one in programs if one.original not in known]
        if not branched:
            break
    if not chosen:
        raise Unsupported(reason)
    return chosen


def _chosen(
    source: Source, finding: Finding, fix: Fix | None, choice: int
) -> tuple[list[Slices], bool]:
    with _Judgement(source) as judgement:
        statement = judgement.around(finding.span)
        if statement is None:
            raise Unsupported("the finding is not about the value of an expression")
        sites = judgement.about(judgement.within(statement, finding.span))
        cuts = _Cuts(judgement, finding, choice, statement, sites)
        cut = cuts.programs()
        ends = [source.span(one.sink.node).end for one in cut]
    programs = [_with_fix(source, finding, fix, end, one) for one, end in zip(cut, ends)]
    return programs, cuts.branched


@dataclass(frozen=True, slots=True)
class _Cut:
    """A slice up to a sink; `local` where it does not go beyond the function of the sink."""

    program: Program
    sink: _Place
    choice: int
    local: bool
    depends: bool  # whether the site is part of it
    loss: int | None = None  # which of those that `compile` is given it is


def _with_fix(source: Source, finding: Finding, fix: Fix | None, end: int, cut: _Cut) -> Slices:
    if fix is None:
        return Slices(cut.program, None, None, finding.no_fix)
    try:
        return Slices(cut.program, _fixed(source, fix, end, cut), fix)
    except Unsupported as error:
        return Slices(cut.program, None, fix, str(error))


class _Cuts:
    """Where the slices of a finding may begin and end."""

    def __init__(
        self,
        judgement: _Judgement,
        finding: Finding,
        choice: int,
        statement: _Place,
        sites: list[_Place],
    ):
        self._judgement = judgement
        self._finding = finding
        self._choice = choice
        self._statement = statement
        self._sites = sites
        self.branched = False
        self.reason = ""

    def programs(self) -> list[_Cut]:
        """The slices up to the last value of the function that depends on the site, from the
        parameters of the function and from beyond, and that of its statement; where none can be
        run, that of the site alone. Where the site is a guard whose value is thrown away: up to the
        last value. Raises `Unsupported`.
        """
        far, idle = self._farthest()
        if far is None and idle is not None and self._finding.code in _OF_DISCARDED:
            return [idle]
        cuts = [far, self._cut(far.sink, False) if far is not None else None]
        cuts += [self._cut(self._statement, True), self._cut(self._statement, False)]
        usable = self._about_site(cuts) or self._about_site(
            [self._cut(one, True) for one in self._sites]
        )
        usable = usable or self._compiled()
        if not usable:
            raise Unsupported(
                self.reason or "the finding is not about an operation that can be run"
            )
        return list({cut.program: cut for cut in usable}.values())

    def _about_site(self, cuts: list[_Cut | None]) -> list[_Cut]:
        return [cut for cut in cuts if cut is not None and cut.depends and cut.program.steps]

    def _compiled(self) -> list[_Cut]:
        """The slice of the first loss that `model.compile` is given and that can be run."""
        judgement = self._judgement
        for at in range(len(_losses(judgement, self._statement))):
            slicer = Slicer(judgement.engine, judgement.source.path, None, self._choice)
            try:
                name = _loss(judgement, slicer, self._statement, at)
            except Unsupported as error:
                self.reason = str(error)
                continue
            program = slicer.program(name, name)
            return [_Cut(program, self._statement, self._choice, False, True, at)]
        return []

    def _farthest(self) -> tuple[_Cut | None, _Cut | None]:
        """The slice up to the last value that depends on the site, and where none does, that up to
        the last value.
        """
        idle: _Cut | None = None
        for sink in self._judgement.sinks(self._statement):
            cut = self._cut(sink, True)
            if cut is None:
                continue
            if not cut.depends:
                idle = idle or cut
            elif len(cut.program.steps) <= _LONG:
                return cut, idle
        return None, idle

    def _cut(self, sink: _Place, local: bool) -> _Cut | None:
        judgement = self._judgement
        home = sink.point.scope if local else None
        slicer = Slicer(
            judgement.engine,
            judgement.source.path,
            self._finding.span,
            self._choice,
            home=home,
        )
        try:
            name = slicer.expression(sink.node, sink.point)
        except Unsupported as error:
            self.reason = str(error)
            return None
        self.branched |= slicer.branched
        met = (slicer.nodes.get(one.node) for one in self._sites)
        flagged = next((each for each in met if each is not None), None)
        program = slicer.program(flagged or name, name)
        return _Cut(program, sink, self._choice, local, flagged is not None)


def _losses(judgement: _Judgement, place: _Place) -> list[Pairing]:
    """The losses that an expression gives to `model.compile`."""
    site = judgement.engine.site(place.node, place.point)
    if site is None or site.op.name != COMPILE:
        return []
    return [each for each in pairings(site, judgement.engine) if each.family in _LOSSES]


def _loss(judgement: _Judgement, slicer: Slicer, place: _Place, at: int) -> str:
    """The operand for a loss of `compile` on what the model gives. Raises `Unsupported`."""
    losses = _losses(judgement, place)
    if at >= len(losses):
        raise Unsupported("the loss was not found after the fix")
    pairing = losses[at]
    callee = _LOSSES[pairing.family]
    if pairing.logits:
        callee = callee.replace("()", "(from_logits=True)")
    return slicer.loss(pairing.predictions, callee, pairing.family)


def _fixed(source: Source, fix: Fix, end: int, cut: _Cut) -> Program:
    """The slice of the place that ended at an offset, after a fix."""
    try:
        edited = source.edited(edits_apply(source.text, fix.edits), fix.edits)
        judgement = _Judgement(edited)
    except (Unreadable, Uneditable, ValueError) as error:
        raise Unsupported(f"the fixed source cannot be read: {error}") from error
    with judgement:
        sink = judgement.ending(_moved(end, fix.edits))
        if sink is None:
            raise Unsupported("the place was not found after the fix")
        named = {one.key: one.name for one in cut.program.inputs}
        home = sink.point.scope if cut.local else None
        slicer = Slicer(judgement.engine, source.path, None, cut.choice, named, home)
        if cut.loss is None:
            name = slicer.expression(sink.node, sink.point)
        else:
            name = _loss(judgement, slicer, sink, cut.loss)
        program = slicer.program(name, name)
    if not program.steps and program.sink not in named.values():
        raise Unsupported("nothing is computed at the place after the fix")
    more = [one.said for one in program.inputs if one.key not in named]
    if more:
        raise Unsupported(f"the fix reads {more[0]}, which the slice does not")
    return program


def _moved(offset: int, edits: tuple[Edit, ...]) -> int:
    """Where the end of an expression is after edits."""
    return offset + sum(
        len(edit.text) - (edit.span.end - edit.span.start)
        for edit in edits
        if edit.span.end <= offset
    )
