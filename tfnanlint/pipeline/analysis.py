"""From a source to its findings: find the op applications that rules ask for, and let the rules
judge them.
"""

from __future__ import annotations

import ast
import builtins
import re
import traceback
from dataclasses import replace
from typing import Any, Callable, Final, Iterable, Iterator

from tfnanlint.conventions.files import holds_tests
from tfnanlint.conventions.roles import is_assertion, shows
from tfnanlint.diagnostics.findings import (
    MOST_FIXED,
    TOO_LONG,
    TOO_MANY_FIXES,
    Certainty,
    Differentiated,
    Finding,
    Setup,
)
from tfnanlint.gradients.activity import Gradients
from tfnanlint.gradients.callers import untaken
from tfnanlint.guards.assertions import named_count, named_scale
from tfnanlint.interp.engine import Engine
from tfnanlint.ops.frameworks import COMPILE, DATA_METHODS, KEEPING_OPS, PHASES, UNDIFFERENTIATED
from tfnanlint.ops.provenance import first_origin
from tfnanlint.ops.site import Site
from tfnanlint.ops.table import Op
from tfnanlint.pipeline.prefilter import Marks, Subscriptions, subscriptions
from tfnanlint.program.functions import ClassObject, Function
from tfnanlint.program.module import Module
from tfnanlint.program.predicates import for_evaluation
from tfnanlint.program.scope import Fixed, Imported, Point
from tfnanlint.project.index import Facts, Project, adopt, remember
from tfnanlint.rule.registry import Context, Rule
from tfnanlint.syntax.access_paths import is_special, leaf
from tfnanlint.syntax.nodes import (
    ATTRIBUTE,
    AUG_ASSIGN,
    BIN_OP,
    CALL,
    COMPARE,
    CONSTANT,
    IF_EXP,
    NAME,
    SUBSCRIPT,
    function_at,
    nodes_in,
)
from tfnanlint.syntax.source import Source
from tfnanlint.uses.models import is_never_trained
from tfnanlint.uses.uses import endings_of
from tfnanlint.values.session import Session
from tfnanlint.values.value import FLOATS, Note, Value

INTERNAL: Final = "TFN000"
# Evaluations in followed calls that the draft of a file may cost, and more for each of its lines:
# half of the time that following takes on real code is spent in one file of 40. The final
# judgement, which most files are spared, looks at callers elsewhere, too.
ALLOWANCE, ALLOWANCE_PER_LINE = 4000, 0.5
_FINAL = 4
# Characters that may be parsed to prove the fixes of one file, beside those that each fix takes: a
# fix is proved on the statement in which it stands, which may hold thousands.
REPAIRS: Final = 1_000_000
_REPAIR: Final = 3000
# places with findings in one file, which are judged twice, and places that are judged at all
MOST_PLACES: Final = 600
MOST_JUDGED: Final = 10_000
# rounds of loops that are tried to find what values they end with: a file of 4,000 lines takes 100
MOST_TRIED: Final = 100_000
# files that call a function, for a place of which a draft says nothing to be judged once more
_FEW_IMPORTERS: Final = 3
_COMPILE: Final = "compile"  # what hands labels and predictions to the losses of other files
_MAX_BEHIND: Final = 12  # ops between such a place and the parameter
_BUILTINS: Final = frozenset(dir(builtins))
# How a name can be bound to something else than a function, as text: what stands behind the name,
# what stands before it, and what around it; and once for all names, which pays after some searches.
_BEHIND, _BEFORE = (" =", "=", " :", ":"), ("for ", "as ", "import ", "lambda ")
_AROUND = (("  ", (",",)), ("(", (",", ")")), (", ", (",", ")", " in ")))
_BOUND = tuple(
    map(
        re.compile,
        (r"\b(\w+) ?[=:]", r"\b(?:for|as|import|lambda) (\w+)", r"(?:[(,] ?|  )(\w+)(?=[,)]| in )"),
    )
)
_MANY_NAMES = 64
# Expressions that only compute something of their parts.
_COMPUTING: Final = (ast.BinOp, ast.UnaryOp, ast.Subscript, ast.List, ast.Tuple, ast.keyword)
_OF_GRADIENTS: Final = "TFN2"  # the rules for values that are fine, and whose gradients are not
_UNUSED_LOSS: Final = "nothing trains or evaluates this model, so that its loss is not used"
_DIVISIONS: Final = frozenset((ast.Div, ast.FloorDiv, ast.Mod))
_WITH_EDGES: Final = frozenset((ast.Div, ast.Pow))


def _by_a_number(node: ast.BinOp) -> bool:
    """x / 2.0: nothing to judge in a division by a literal number that is not 0."""
    return (
        type(node.op) in _DIVISIONS
        and type(node.right) is CONSTANT
        and isinstance(node.right.value, (int, float))
        and bool(node.right.value)
    )


def _whole_power(site: Site) -> bool:
    """x ** 2, tf.pow(x, 2)."""
    exponent = site.const("y", None) if site.op.name == "tf.pow" else None
    return isinstance(exponent, int) and exponent >= 0


def _any(finding: Finding) -> bool:
    return True


def analyse(
    source: Source,
    rules: Iterable[Rule],
    setup: Setup = Setup(),
    wanted: Callable[[Finding], bool] = _any,
) -> list[Finding]:
    """All findings of `rules` in a source with their fixes. Arguments and errors are those of
    `Analysis`.
    """
    with Analysis(source, rules, setup, wanted) as analysis:
        return [analysis.repaired(finding) for finding in analysis.findings]


class Analysis:
    """All findings of `rules` in a source, of every certainty, in order of position; fixes are made
    one by one, when asked for.

    A place where nothing is `wanted`, and nothing found that callers elsewhere could make surer,
    may be left out. Where nothing is `shown` as the draft found it, it is judged once more only if
    callers elsewhere tell something of a value of which nothing was known. Of what is `reported`
    is asked whether the program runs its place. With `within`, only
    these rows are judged, as always with all of the file and its project in view. What all of it
    depends on outside of the source is noted in `facts`, if that is given. `cut_short` names
    the functions in which something was not followed to its end, which would have cost more than it
    may in a file of this length, and the line behind which nothing was judged.

    Raises `Unreadable` when the source cannot be parsed. A rule that raises is reported as TFN000;
    the others go on. What fixes are made from is held until `close`.
    """

    def __init__(
        self,
        source: Source,
        rules: Iterable[Rule],
        setup: Setup = Setup(),
        wanted: Callable[[Finding], bool] = _any,
        within: range | None = None,
        facts: Facts | None = None,
        shown: Callable[[Finding], bool] = _any,
        reported: Callable[[Finding], bool] = _any,
    ):
        self.findings: list[Finding] = []
        self.cut_short: tuple[str, ...] = ()
        self._file: File | None = None
        subscribed = subscriptions(rules, source)
        adopt(source)
        marks = subscribed.marks(source)
        if not subscribed.works(source, marks):
            source.verify()  # a syntax error is reported even where no rule has work
            return
        doubtful: dict[ast.AST, int] = {}  # by their rows
        unknown: dict[ast.AST, tuple[Unknown, list[Finding]]] = {}
        self._file = draft = File(source, subscribed, marks, True, setup, facts, reported)
        session = draft.interpreter.session
        cut_short: dict[str, None] = {}
        try:
            for count, (node, point, stopped) in enumerate(draft.candidates(within=within), 1):
                judged = [
                    finding for finding in draft.judge(node, point, stopped) if wanted(finding)
                ]
                if judged:
                    doubtful[node] = node.lineno
                    left = None if any(map(shown, judged)) else draft.unknown(node, point)
                    if left is not None:
                        unknown[node] = left, judged
                elif draft.passed_on(node, point):
                    doubtful[node] = node.lineno
                _note_cut(source, node, session, cut_short)
                if (
                    len(doubtful) >= MOST_PLACES
                    or count >= MOST_JUDGED
                    or session.stamps >= MOST_TRIED
                ):
                    cut_short[f"all behind line {node.lineno}"] = None
                    break
            in_file = draft.of_file()
            session.cut_short = session.cut_short or bool(cut_short)
            self.cut_short = tuple(cut_short)
            again = bool(doubtful) or bool(in_file)
            goes_on = again and draft.interpreter.suffices(draft.project)
            if goes_on:
                draft.finish()
            else:
                self.close()
            if again:
                final = (
                    draft
                    if goes_on
                    else File(source, subscribed, marks, False, setup, facts, reported)
                )
                self._file = final
                self._judge_again(final, doubtful, unknown, bool(in_file))
        except BaseException:
            self.close()
            raise
        if not holds_tests(source.path):  # hardly any file imports these
            remember(source)
        # What two sites say of one place is said once: a product is met by itself, and by the
        # softmax behind it.
        said: dict[Any, Finding] = {}
        for finding in self.findings:
            said.setdefault((finding.span, finding.code, finding.message), finding)
        self.findings = sorted(said.values(), key=lambda f: (f.span, f.code))

    def _judge_again(
        self,
        final: File,
        doubtful: dict[ast.AST, int],
        unknown: dict[ast.AST, tuple[Unknown, list[Finding]]],
        in_file: bool,
    ) -> None:
        """The findings at doubtful places: those of the draft where still nothing is known of what
        arrives there.
        """
        for node, point, stopped in final.candidates(doubtful):
            left, drafted = unknown.get(node, (None, []))
            if left is not None and not left.less(final.interpreter.site(node, point)):
                self.findings += drafted
            else:
                self.findings += final.judge(node, point, stopped)
        if in_file:
            self.findings += final.of_file()

    def __enter__(self) -> Analysis:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def repaired(self, finding: Finding) -> Finding:
        """One of the findings with its fixes, or with the reason why there is none."""
        return finding if self._file is None else self._file.repaired(finding)

    def close(self) -> None:
        """Let go of all that fixes are made from."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _note_cut(source: Source, node: ast.expr, session: Session, cut_short: dict[str, None]) -> None:
    """Note the function around a place at which something was not followed to its end."""
    if session.cut_short:
        cut_short[function_at(source.tree, node.lineno)] = None
        session.cut_short = False


def _allowance(source: Source) -> float:
    """The evaluations in followed calls that the draft of a source may cost."""
    return ALLOWANCE + ALLOWANCE_PER_LINE * len(source.line_starts)


def _harmless(node: ast.BinOp) -> bool:
    """Division by a number that is written there and is not 0,
    and text with its fields filled in.
    """
    if type(node.op) not in _DIVISIONS:
        return False
    text = (
        isinstance(node.left, ast.JoinedStr)
        or isinstance(node.left, ast.Constant)
        and isinstance(node.left.value, str)
    )
    return text or isinstance(node.right, ast.Constant) and bool(node.right.value)


class Unknown:
    """The parameters of an op application at which nothing was known of what arrives, as a draft
    saw it.
    """

    def __init__(self, site: Site):
        self._op = site.op
        self.params = {param for param in site.args if not _tells(site.value(param))}

    def less(self, site: Site | None) -> bool:
        """Whether more is known of what arrives at the same application now."""
        return (
            site is None
            or site.op is not self._op
            or any(_tells(site.value(param)) for param in self.params if param in site.args)
        )


def _tells(value: Value) -> bool:
    """Whether something is known of a value: of numbers, and of what is no number."""
    return (
        value.known
        or value.obj is not None
        or value.kind not in ("tensor", "array", "unknown")
        or value.guarded
    )


class File:
    """The judgement of one source.

    A draft looks at every candidate with what this file and its imports say; the final judgement
    looks at what the draft found once more, with the callers in other files too. Most files never
    need the second. Where there are no such callers, the draft itself goes on as the final
    judgement, with all that it knows.
    """

    __deletable__ = ["gradients", "interpreter", "module", "project"]

    def __init__(
        self,
        source: Source,
        subscribed: Subscriptions,
        marks: Marks,
        draft: bool,
        setup: Setup = Setup(),
        facts: Facts | None = None,
        reported: Callable[[Finding], bool] = _any,
    ):
        self.project = Project(source.path, facts, Module)
        self.module = self.project.modules[self.project.path] = Module(source, self.project)
        self.interpreter = Engine(not draft, _allowance(source) * (1 if draft else _FINAL))
        self.subscribed = subscribed
        self.marks = marks
        self.reported = reported
        self.compared = [one for one in subscribed.events["compare"] if source.holds(one.words)]
        self.gradients = Gradients(self.module, self.interpreter)
        self.contexts: dict[Rule, Context] = {}
        self.setup = setup
        self._yielding: dict[ast.AST, bool] = {}
        self._renaming: dict[str, bool] = {}
        self._names: frozenset[str] | None = None
        self._repairs_end = source.examined + REPAIRS
        # What led to each finding of the final judgement: the rule, and what it looked at.
        self.runs: dict[Finding, tuple[Rule, Any, Point | None]] | None = None if draft else {}

    def finish(self) -> None:
        """Let what was a draft be the final judgement: other files have nothing to say of it."""
        self.runs = {}
        self.contexts.clear()
        self.interpreter.finish(_allowance(self.module.source) * _FINAL)

    def close(self) -> None:
        self.project.close()
        self.interpreter.close()
        for kept in (self.contexts, self._yielding, self._renaming, self.runs or {}):
            kept.clear()
        del self.gradients, self.interpreter, self.module, self.project

    def context(self, rule: Rule) -> Context:
        """What a rule may ask of this judgement; most rules never do."""
        if rule not in self.contexts:
            self.contexts[rule] = Context(
                self.module, self.interpreter, rule, self.runs is None, self.setup
            )
            self.contexts[rule].activity = self._activity
        return self.contexts[rule]

    def _activity(self, site: Site, is_seen: bool, stopped: bool = False) -> Differentiated:
        return (self.gradients.seen if is_seen else self.gradients.of)(site, stopped)

    def of_file(self) -> list[Finding]:
        """Findings of the rules that look at a file as a whole."""
        return [
            finding
            for one in self.subscribed.events["file"]
            if self.module.source.holds(one.words) or self._policy_holds(one.words)
            for finding in self.run(one, self.module, None)
        ]

    def _policy_holds(self, words: tuple[str, ...]) -> bool:
        """Whether one of some words is the dtype that the program sets for its layers."""
        if FLOATS.keys().isdisjoint(words):
            return False
        return self.interpreter.policy_of_program(self.module).removeprefix("mixed_") in words

    def passed_on(self, node: ast.expr, point: Point) -> bool:
        """Whether an op that goes wrong at the edge of a range is applied to a parameter, or to
        what is computed from one, of which callers in other files may know more; a draft does not
        look for them.
        """
        if (
            isinstance(node, ast.Compare)
            or isinstance(node, ast.BinOp)
            and (type(node.op) not in _WITH_EDGES or _harmless(node))
        ):
            return False
        site = self.interpreter.site(node, point)
        if site is None:
            return isinstance(node, ast.Call) and self._chosen_abroad(node, point)
        if site.op.name not in self.subscribed.by_op or _whole_power(site):
            return False
        return any(
            [
                self._known_abroad(site.value(param))
                and not named_count(site, param)
                and not named_scale(site, param)
                for param in site.op.edges
                if param in site.args
            ]
        )

    def _chosen_abroad(self, call: ast.Call, point: Point) -> bool:
        """Whether callers in other files may say which op of a list or dict is applied
        (`OPS[kind](x)`), or to what.
        """
        table = call.func
        if not isinstance(table, ast.Subscript) or leaf(table.value) not in self.marks.tables:
            return False
        return any(
            [
                self._known_abroad(self.interpreter.ask(one, point))
                for one in (table.slice, *call.args)
            ]
        )

    def _known_abroad(self, value: Value) -> bool:
        """Whether a value comes from a parameter of a function that a few other files call. With
        many, one of them knows nothing. Of sizes and other numbers of Python, which a caller that
        hands them over knows, nothing is asked.
        """
        origin: Any = value.origin
        for _ in range(_MAX_BEHIND):
            if value.kind == "number":
                return False
            origin = first_origin(value)
            if not isinstance(origin, Site) or not origin.op.main:
                break
            value = origin.value(origin.op.main)
        if not isinstance(origin, Note) or not origin.parameter:
            return False
        name = getattr(origin.node, "name", "")
        return (
            not is_special(name) and self._has_few_callers(name) or self._has_few_callers(_COMPILE)
        )

    def _has_few_callers(self, name: str) -> bool:
        """Whether a draft did without the calls of a name in a few other files."""
        called = self.module.source.path, name
        if called not in self.interpreter.session.overlooked:
            return False
        callers = self.project.importing(*called)
        return 0 < len(callers) <= _FEW_IMPORTERS and not all(map(holds_tests, callers))

    def unknown(self, node: ast.expr, point: Point) -> Unknown | None:
        """What is not known where an op is applied; None for what is no application, or where
        something is known of all.
        """
        site = self.interpreter.site(node, point) if not isinstance(node, ast.Compare) else None
        left = Unknown(site) if site is not None else None
        return left if left is not None and left.params else None

    def judge(self, node: ast.expr, point: Point, stopped: bool) -> Iterator[Finding]:
        if isinstance(node, ast.Compare):
            for rule in self.compared:
                yield from self.run(rule, node, point)
            return
        if isinstance(node, ast.BinOp) and _harmless(node):
            return
        operator = isinstance(node, ast.BinOp)
        site = (
            self.interpreter.operation(node, point)
            if isinstance(node, ast.BinOp)
            else self.interpreter.site(node, point)
        )
        if site is None:
            if isinstance(node, ast.Call):
                for rule in self.subscribed.events["call"]:
                    yield from self.run(rule, node, point)
            return
        findings = self._found_at(site, stopped)
        if findings and operator and self.interpreter.site(node, point) is not site:
            site = self.interpreter.site(node, point)
            findings = self._found_at(site, stopped) if site is not None else []
        if (
            site is not None
            and findings
            and not (
                _outside_tensorflow(site)
                or self.gradients.handed(site.point.scope.function)
                or self.gradients.of_start(site)
            )
        ):
            yield from findings

    def _found_at(self, site: Site, stopped: bool) -> list[Finding]:
        """What the rules say of an op application."""
        site.judge = lambda judged, is_seen: self._activity(judged, is_seen, stopped)
        return [
            finding
            for one in self.subscribed.by_op.get(site.op.name, ())
            if one.arrays or site.library != "np"
            for finding in self.run(one, site, None)
        ]

    def run(self, rule: Rule, subject: Any, point: Point | None) -> list[Finding]:
        findings = self._asked(rule, subject, point)
        if self.runs is not None:
            findings = [self._placed(finding, subject) for finding in findings]
            self.runs.update((finding, (rule, subject, point)) for finding in findings)
        return findings

    def _placed(self, finding: Finding, subject: Any) -> Finding:
        """A finding as it is, or as a note where the program never runs its place, or reads nothing
        of what is computed there.
        """
        if finding.certainty is Certainty.UNKNOWN or finding.code == INTERNAL:
            return finding
        if not self.reported(finding):
            return finding
        row = self.module.source.position(finding.span.start)[0]
        reason = self.interpreter.unreached(self.module, row)
        if not reason and isinstance(subject, Site):
            reason = self._unread(subject)
            if not reason and subject.op.name == COMPILE and is_never_trained(subject):
                reason = _UNUSED_LOSS
            if not reason and finding.code.startswith(_OF_GRADIENTS) and subject.point is not None:
                is_unknown = finding.differentiated is Differentiated.UNKNOWN
                reason = untaken(subject.point, self.interpreter) if is_unknown else ""
        return (
            replace(finding, certainty=Certainty.UNKNOWN, unreached=reason) if reason else finding
        )

    def _unread(self, site: Site) -> str:
        """Why what an op gives becomes nothing: it is only assigned to an attribute, as it is or in
        other ops, that nothing reads. What has a name of its own can be fetched by that.
        """
        point = site.point
        if point is None or point.over is not None:
            return ""
        if point.module is not self.module or not hasattr(site.node, "lineno"):
            return ""
        endings = endings_of(point.scope, self.module)
        path, above = endings.stored(site.node)
        owner, _, attribute = path.rpartition(".")
        if not path or not all(
            [self._only_computes(one, point) for one in (site.node, *(outer for outer, _ in above))]
        ):
            return ""
        if not owner and endings.is_only_loss(site.node):
            return f"only a step of training that nothing runs reads `{path}`"
        if not owner:
            return f"nothing reads `{path}`" if endings.is_unread(site.node) else ""
        if owner != "self" or point.scope.function is None:
            return ""
        return self.interpreter.unread(self.module, site.node.lineno, attribute)

    def _only_computes(self, node: ast.AST, point: Point) -> bool:
        """Whether an expression hands its parts to nothing but ops, which keep no value."""
        if not isinstance(node, ast.Call):
            return isinstance(node, _COMPUTING)
        site = self.interpreter.site(node, point)
        return (
            site is not None
            and KEEPING_OPS.isdisjoint(site.op.name.split("."))
            and not any(keyword.arg in ("name", None) for keyword in node.keywords)
        )

    def _asked(self, rule: Rule, subject: Any, point: Point | None) -> list[Finding]:
        context = self.context(rule)
        self.interpreter.session.steps = 0
        try:
            findings = (
                rule.check(subject, context)
                if point is None
                else rule.check(subject, point, context)
            )
            return list(findings or ())
        except RecursionError:  # what follows on so many others is given up, and told
            self.interpreter.session.cut_short = True
            return []
        # a broken rule must not hide the others; it is reported, never swallowed
        except Exception as error:
            return [self._broken(rule, subject, error)]

    def repaired(self, finding: Finding) -> Finding:
        """A finding of the final judgement with the fixes that its rule makes; a rule that breaks
        at that is reported instead.
        """
        run = self.runs.get(finding)
        if run is None or finding.fixes:
            return finding
        source = self.module.source
        if len(source.text) > MOST_FIXED:
            return replace(finding, no_fix=TOO_LONG)
        if source.examined > self._repairs_end:
            return replace(finding, no_fix=TOO_MANY_FIXES)
        source.examined += _REPAIR
        context = self.context(run[0])
        context.repairing = True
        try:
            again = self._asked(*run)
        finally:
            context.repairing = False
        for fresh in again:
            if fresh.code == INTERNAL:
                return fresh
            if (fresh.span, fresh.message) == (finding.span, finding.message):
                return replace(finding, fixes=fresh.fixes, no_fix=fresh.no_fix, help=fresh.help)
        return finding

    def _broken(self, rule: Rule, subject: Any, error: Exception) -> Finding:
        node = getattr(subject, "node", subject)
        where = traceback.extract_tb(error.__traceback__)[-1]
        span = self.module.source.span(
            node if hasattr(node, "lineno") else self.module.source.tree.body[0]
        )
        return Finding(
            INTERNAL,
            "internal-error",
            self.module.source.path,
            span,
            f"rule {rule.code} failed here ({type(error).__name__}: {error}; "
            f"{where.filename}:{where.lineno}); please report it",
            Certainty.MUST,
        )

    def candidates(
        self, only: dict[ast.AST, int] | None = None, within: range | None = None
    ) -> Iterator[tuple[ast.expr, Point, bool]]:
        """Expressions on lines with a word or sign that some rule asks for, each once; or those of
        `only`, by their rows.
        """
        seen: set[ast.AST] = set()
        rows = (
            self.subscribed.rows(self.module, self.marks)
            if only is None
            else sorted(set(only.values()))
        )
        if within is not None:
            rows = [row for row in rows if row in within]
        for row in rows:
            if only is None and not self._may_hold(row):
                continue
            for expression, point in self.module.expressions(row, self.interpreter):
                if expression not in seen:
                    seen.add(expression)
                    yield from (
                        c for c in self.seek(expression, point) if only is None or c[0] in only
                    )

    def _may_hold(self, row: int) -> bool:
        """Whether `seek` may find something on a row, as the tree alone tells: else the function
        around it need not be walked.
        """
        computed = self.module.computed(row)
        if computed is None:
            return True
        for expression in computed:
            if self._may_yield(expression):
                return True
        return False

    def _may_yield(self, expression: ast.AST) -> bool:
        known = self._yielding.get(expression)
        if known is None:
            known = self._yielding[expression] = self._holds_sought(expression)
        return known

    def _holds_sought(self, expression: ast.AST) -> bool:
        for node in nodes_in(expression):
            kind = type(node)
            if (
                kind is CALL or kind is BIN_OP or kind is COMPARE or kind is AUG_ASSIGN
            ) and self._sought(node):
                return True
        return False

    def _sought(self, node: Any) -> bool:
        """Whether a call, operation or comparison is one that `seek` yields, wherever it stands."""
        kind = type(node)
        if kind is CALL:
            function = node.func
            name = leaf(function.func if type(function) is CALL else function)
            return (
                name in self.subscribed.leaves
                or name in self.marks.objects
                or type(function) is NAME
                and self._may_be_renamed(name)
                or type(function) is SUBSCRIPT
                and leaf(function.value) in self.marks.tables
                or self._hands_op_over(node)
            )
        if kind is COMPARE:
            return bool(self.compared)
        return type(node.op) in self.subscribed.signs and not (
            kind is BIN_OP and _by_a_number(node)
        )

    def _may_be_renamed(self, name: str) -> bool:
        """`_renamed` anywhere in the file: not where a name is that of a function or class and is
        bound to nothing else.
        """
        if name not in self._renaming:
            binding = self.module.scope.at(name)
            if self.module.stars or binding is None and name not in _BUILTINS:
                renamed = True
            elif isinstance(binding, Imported):
                renamed = binding.dotted.rsplit(".", 1)[-1] in self.subscribed.leaves
            else:
                renamed = binding is not None and not (
                    isinstance(binding, Fixed)
                    and isinstance(binding.value(self.interpreter).obj, (Function, ClassObject))
                )
            self._renaming[name] = renamed or self._bound(name)
        return self._renaming[name]

    def _bound(self, name: str) -> bool:
        """Whether the text of the file may bind a name to something else than
        a function or class.
        """
        text = self.module.source.text
        if len(self._renaming) < _MANY_NAMES:
            return any(_binds(text, place, place + len(name)) for place in _places(text, name))
        if self._names is None:
            self._names = frozenset(found for pattern in _BOUND for found in pattern.findall(text))
        return name in self._names

    def seek(self, expression: ast.AST, point: Point) -> Iterator[tuple[ast.expr, Point, bool]]:
        """The op applications inside an expression in the order of the text, each with the point
        (refined, inside a lambda) where it stands.
        """
        stack: list[tuple[Any, Point, bool]] = [(expression, point, self._reported(expression))]
        leaves = self.subscribed.leaves
        while stack:
            node, point, stopped = stack.pop()
            kind = type(node)
            if kind is NAME or kind is CONSTANT:
                continue
            if kind is CALL:
                function = node.func
                name = leaf(function.func if type(function) is CALL else function)
                if (
                    name in leaves
                    or name in self.marks.objects
                    or type(function) is NAME
                    and self._renamed(name, point)
                    or type(function) is SUBSCRIPT
                    and leaf(function.value) in self.marks.tables
                    or self._hands_op_over(node)
                ):
                    yield node, point, stopped
                stopped = (
                    stopped
                    or name in UNDIFFERENTIATED
                    or is_assertion(name)
                    or name in DATA_METHODS
                    and self._prepares(node, point)
                )
            elif kind is BIN_OP:
                if type(node.op) in self.subscribed.signs and not _by_a_number(node):
                    yield node, point, stopped
            elif kind is COMPARE:
                yield node, point, stopped
            evaluated = (
                for_evaluation(node) if kind is IF_EXP or kind is CALL and name in PHASES else None
            )
            stack += [
                (part, where, stopped or part is evaluated)
                for part, where in reversed(self.interpreter.parts(node, point))
            ]

    def _hands_op_over(self, node: ast.Call) -> bool:
        """Whether a call may hand an op itself to what it calls: `apply(tf.math.log, x)`."""
        edged = self.subscribed.edged
        for argument in node.args:
            if type(argument) is ATTRIBUTE and argument.attr in edged:
                return True
        for keyword in node.keywords:
            if type(keyword.value) is ATTRIBUTE and keyword.value.attr in edged:
                return True
        return False

    def _renamed(self, name: str, point: Point) -> bool:
        """Whether a name that is no op's own may stand for an op all the same; what the file
        defines or Python has does not.
        """
        binding = point.lookup(name)
        if binding is None:
            return bool(point.module.stars)
        if isinstance(binding, Imported):
            return binding.dotted.rsplit(".", 1)[-1] in self.subscribed.leaves
        return not isinstance(binding, Fixed) or isinstance(binding.value(self.interpreter).obj, Op)

    def _reported(self, expression: ast.AST) -> bool:
        """collect("norms", tf.norm(x)) as a statement: what is only shown is not differentiated."""
        return (
            isinstance(expression, ast.Call)
            and expression in self.module.discarded
            and shows(leaf(expression.func))
        )

    def _prepares(self, node: ast.Call, point: Point) -> bool:
        """dataset.map(f): what is done to data is not differentiated."""
        return (
            isinstance(node.func, ast.Attribute)
            and self.interpreter.resolve(node.func, point) is None
        )


def _places(text: str, name: str) -> Iterator[int]:
    """Where a name stands in a text, or in a longer name."""
    place = text.find(name)
    while place >= 0:
        yield place
        place = text.find(name, place + 1)


def _binds(text: str, start: int, end: int) -> bool:
    """Whether a name that stands somewhere in a text may be bound there to something else than a
    function or class.
    """
    return (
        text.startswith(_BEHIND, end)
        or text.endswith(_BEFORE, 0, start)
        or any(
            text.endswith(before, 0, start) and text.startswith(behind, end)
            for before, behind in _AROUND
        )
    )


def _outside_tensorflow(site: Site, depth: int = 6) -> bool:
    """Whether an operator works on what NumPy and Python make only."""
    if site.library != "operator" or depth == 0:
        return False
    operands = [site.value(param) for param in site.args]
    return any(_numpy(value, depth) for value in operands) and all(
        _numpy(v, depth) or v.kind == "number" for v in operands
    )


def _numpy(value: Value, depth: int) -> bool:
    origin = value.origin
    return (
        value.kind == "array"
        or isinstance(origin, Site)
        and (
            origin.library in ("np", "math")
            or _outside_tensorflow(origin, depth - 1)
            or origin.library == "method"
            and origin.given("self")
            and _numpy(origin.value("self"), depth - 1)
        )
    )
