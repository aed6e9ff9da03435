"""Rules: how a rule file announces itself, what it may ask, and how rules are found.

A rule is a function that gets a site (or an event) and yields findings. Everything else is done
here: positions, traces, certainty, spelling, fixes.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from collections import Counter
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, Callable, Final, Iterable, Iterator, NamedTuple

from tfnanlint.conventions.files import holds_tests
from tfnanlint.conventions.identifiers import names_compiler, own_version_of
from tfnanlint.conventions.roles import compares_results, makes_picture
from tfnanlint.conventions.texts import invites_change
from tfnanlint.diagnostics.findings import (
    MODES,
    NOWHERE,
    Certainty,
    Claim,
    Differentiated,
    Edit,
    Finding,
    Fix,
    Setup,
    Silence,
    where_it_shows,
)
from tfnanlint.diagnostics.kinds import KINDS
from tfnanlint.guards.assertions import Assertions
from tfnanlint.guards.dominating import (
    counted,
    is_never_reached,
    leaves_no_zero,
    leaves_some,
)
from tfnanlint.guards.post_guards import Masked, Masks
from tfnanlint.idioms.flat_roots import is_flat_behind
from tfnanlint.idioms.labels import of_labels
from tfnanlint.idioms.loss_pairs import Pairing, output_layers, pairings
from tfnanlint.ops.frameworks import (
    CUSTOM_GRADIENT,
    GRAPH_NAMES,
    SUMMARIES,
    TRAINING_METHODS,
)
from tfnanlint.ops.provenance import widest
from tfnanlint.ops.site import Site, made_by, may_be_numpy, same
from tfnanlint.ops.traits import CLIPS
from tfnanlint.program.decorators import decorator_leaf
from tfnanlint.program.scope import Point
from tfnanlint.project.compilers import ASKED, BEFORE, NONE, TRAINS, compiler_of
from tfnanlint.rewrite.availability import Named, Naming, Outside, Reach, argument
from tfnanlint.rewrite.epsilons import epsilon, survives, under_power
from tfnanlint.rewrite.kept_arguments import with_name
from tfnanlint.rewrite.spelling import Speller
from tfnanlint.rule.fix_evidence import judged
from tfnanlint.rule.precision import Precision, precision, wanted_around
from tfnanlint.rule.trace import trace
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.enclosing import enclosing
from tfnanlint.syntax.nodes import nodes_in
from tfnanlint.syntax.source import Span, names_in
from tfnanlint.uses.producers import may_stem
from tfnanlint.uses.uses import (
    COMPARISONS,
    DRAWS,
    PRINTS,
    RANKINGS,
    endings_of,
    flattened,
    goes_into,
)
from tfnanlint.values.value import FLOATS, Value, is_numeric, words

if TYPE_CHECKING:
    from tfnanlint.interp.engine import Engine as Interpreter
    from tfnanlint.program.module import Module

EVENTS = frozenset({"compare", "call", "file"})
DEFAULT = frozenset({Certainty.MUST, Certainty.MAY})
# A replacement: the expression, the template for it, and what the template's holes stand for.
Part = tuple[ast.expr, str, dict[str, Any]]


@dataclass(frozen=True, eq=False)
class Rule:
    """One rule: `on` are canonical op names or events; one of `words` must stand in a file, or in
    the policy of its program, for an event rule to run; `over` are codes that a finding of this
    rule replaces at the same place; of `needs` one piece of text must stand in a file for the rule
    to have work there ("exp" for what is said of exponentials), and after `tf.multiply:` one of
    what must for that op to be looked at: it spares all other files the search. `arrays`: it looks
    at NumPy's functions, too. Of the certainties that it reports by default, `silent` are the
    classes that it leaves out. `fixes` are the names of the fixes that it offers (`fix_names`).
    """

    code: str
    slug: str
    on: tuple[str, ...]
    check: Callable[..., Iterable[Finding]]
    doc: str
    default: frozenset[Certainty] = DEFAULT
    over: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    preview: bool = False
    needs: tuple[str, ...] = ()
    arrays: bool = False
    silent: frozenset[Silence] = frozenset()
    fixes: tuple[str, ...] = ()

    def targets(self, met: frozenset[Any]) -> tuple[str, ...]:
        """Those of `on` for which a file may have something; `met` are the `needs`, and those of
        their parts for one op, that it meets.
        """
        if self.needs and self.needs not in met:
            return ()
        partial = [need for need in self.needs if ":" in need]
        absent = {need.partition(":")[0] for need in partial} - {
            need.partition(":")[0] for need in partial if need in met
        }
        return tuple(target for target in self.on if target not in absent) if absent else self.on

    @property
    def summary(self) -> str:
        return self.doc.strip().splitlines()[0]


_FOUND: list[Rule] = []


def rule(
    code: str,
    slug: str,
    on: str,
    *,
    default: str = "MUST MAY",
    over: str = "",
    words: str = "",
    preview: bool = False,
    needs: str = "",
    arrays: bool = False,
    silent: str = "",
    fixes: str = "",
) -> Callable[[Callable], Callable]:
    """Announce the decorated function as the rule of its file; the module's docstring is its page.

    The parts of each text are separated by blanks; one of `silent` is `MAY/NO`: MAY where no
    gradient is taken. `UNKNOWN/YES/XLA` is what shows under XLA only, `MAY/ANY/TESTS` what stands
    in a file of tests, whether a gradient is taken or not, `MAY/YES/DOUBTFUL` what the rule itself
    doubts, as its page says. `fixes` are names out of `fix_names`, or the words of a title joined
    with `_`.
    """

    def announce(check: Callable) -> Callable:
        doc = inspect.getdoc(inspect.getmodule(check)) or ""
        grades = frozenset(Certainty[name] for name in default.split())
        unsaid = frozenset(map(Silence.parsed, silent.split()))
        _FOUND.append(
            Rule(
                code,
                slug,
                tuple(on.split()),
                check,
                doc,
                grades,
                tuple(over.split()),
                tuple(words.split()),
                preview,
                tuple(needs.split()),
                arrays,
                unsaid,
                tuple(fixes.split()),
            )
        )
        return check

    return announce


# What plugins may rely on: the names in `tfnanlint.api`. It grows when one of them changes or goes.
API_VERSION: Final = 1
_loaded: tuple[Rule, ...] = ()
_from_plugins: set[str] = set()


def _kept(modes: tuple[str, ...], eagerly: bool) -> tuple[str, ...]:
    """Of some modes those that are eager, or those that are not; a device is neither."""
    return tuple([mode for mode in modes if mode == "gpu" or (mode == "eager") is eagerly])


def load(plugins: Iterable[str] = ()) -> tuple[Rule, ...]:
    """All rules by code: tfnanlint's own, and those of the named installed plugins.

    Raises LookupError for a plugin that is not installed, that is made for another version of
    `tfnanlint.api`, or whose codes are not its own.
    """
    global _loaded
    wanted = set(plugins) - _from_plugins
    if not _loaded:
        _import("tfnanlint_rules")
    if wanted:
        _load_plugins(wanted)
    if wanted or not _loaded:
        _loaded = tuple(sorted(_FOUND, key=lambda r: r.code))
    return _loaded


def _import(package: str) -> ModuleType:
    module = importlib.import_module(package)
    for info in pkgutil.iter_modules(getattr(module, "__path__", ())):
        importlib.import_module(f"{package}.{info.name}")
    return module


def _load_plugins(wanted: set[str]) -> None:
    from importlib.metadata import entry_points

    installed = {e.name: e for e in entry_points(group="tfnanlint.rules")}
    for name in sorted(wanted):
        if name not in installed:
            others = ", ".join(sorted(set(installed) - {"tfnanlint"})) or "none"
            raise LookupError(f"the plugin `{name}` is not installed; installed are: {others}")
        before = len(_FOUND)
        version = getattr(_import(installed[name].value), "TFNANLINT_API", API_VERSION)
        if version != API_VERSION:
            raise LookupError(
                f"the plugin `{name}` is made for version {version} of tfnanlint.api, "
                f"and this is version {API_VERSION}"
            )
        _refuse_taken_codes(name, _FOUND[:before], _FOUND[before:])
        _from_plugins.add(name)


def _refuse_taken_codes(plugin: str, known: list[Rule], new: list[Rule]) -> None:
    """Raise LookupError where a rule of a plugin has no code or name of its own."""
    taken = {name for one in known for name in (one.code, one.slug)}
    for new_rule in new:
        if not re.fullmatch(r"(?!TFN|ALL)[A-Z]{2,10}[0-9]{3}", new_rule.code):
            raise LookupError(
                f"the plugin `{plugin}`: `{new_rule.code}` is no code for a rule of a plugin; "
                "take letters other than TFN and three digits, such as ACM101"
            )
        if {new_rule.code, new_rule.slug} & taken:
            raise LookupError(f"the plugin `{plugin}`: `{new_rule.code} {new_rule.slug}` is taken")
        taken |= {new_rule.code, new_rule.slug}


class Context:
    """What a rule may ask about the file it looks at, and how it makes findings and fixes."""

    def __init__(
        self,
        module: Module,
        interpreter: Interpreter,
        rule: Rule,
        draft: bool = False,
        setup: Setup = Setup(),
    ):
        """What a draft finds is judged once more. Fixes cost more than all else: they are made only
        while `repairing` is set, and what is found must not depend on them (see `possible`).
        """
        self.setup = setup
        self.draft = draft
        self.repairing = False
        self.module = module
        self.source = module.source
        self.interpreter = interpreter
        self.rule = rule
        self.reach = Reach(module, interpreter)
        self.masks: Masks = module.masks or Masks(module, interpreter)
        module.masks = self.masks
        self.speller = Speller(module, interpreter, setup)
        self.no_fix = ""
        # whether a gradient is taken through a site, for those that a rule of a file looks up
        self.activity: Callable[[Site, bool], Differentiated] | None = None
        # the dtype of 16 bits that the program asks for, once a fix has asked
        self._half: str | None = None

    # Questions

    def made_by(self, value: Value, *names: str, aligned: bool = False) -> Site | None:
        """The op application among `names` that made a value, across variables and helpers; if
        `aligned` is set, not through ops that pick or move elements.
        """
        return made_by(value, *names, aligned=aligned)

    def may_stem(
        self, site: Site, param: str, names: frozenset[str], through: frozenset[str]
    ) -> bool:
        """Whether an op among `names` may stand behind a parameter, with such between as are looked
        `through` or hand values on, as far as the text tells; nothing is computed: ask it before
        `value`.
        """
        return may_stem(self.interpreter, site, param, names, through)

    def same(self, a: Value, b: Value) -> bool:
        return same(a, b)

    def value(self, node: ast.expr, point: Point) -> Value:
        """What an expression is worth at the point of some site."""
        return self.interpreter.ask(node, point)

    def site(self, node: ast.expr, point: Point) -> Site | None:
        """The op application that an expression is, at the point where it stands. What is asked of
        it at another point is remembered, and wrong where its names are bound again: see
        `standing`.
        """
        return self.interpreter.site(node, point)

    def standing(self, node: ast.expr, point: Point) -> Point | None:
        """The point at which an expression stands that is in the same function as another point,
        perhaps in another statement; None where it is not found.
        """
        for expression, place in self.module.expressions(node.lineno, self.interpreter):
            if place.scope is point.scope and any(inner is node for inner in nodes_in(expression)):
                return place
        return None

    def compared(self, node: ast.Compare, point: Point) -> Site:
        """A comparison of two values as an application of tf.equal or tf.not_equal, whatever its
        operator.
        """
        return self.interpreter.compared(node, point)

    def discarded(self, node: ast.expr) -> bool:
        """Whether the result of a call is thrown away, and not shown at the end of a cell."""
        return node in self.module.discarded and node not in self.source.displayed

    def around(self, node: ast.AST) -> list[ast.AST]:
        """What stands around a node in its function: expressions and statements,
        innermost first. Nothing, where the node is one of another file.
        """
        around = self.module.outer.get(node)
        if around is None and node.end_lineno > len(self.source.line_starts):
            return []
        if around is None:
            path = enclosing(self.source.tree.body, self.source.span(node), self.source.span)
            around = self.module.outer[node] = (
                path[path.index(node) - 1 :: -1] if node in path[1:] else []
            )
        return around

    def calls(
        self, name: str, may: Callable[[ast.Call], bool] | None = None
    ) -> list[tuple[ast.Call, Point]]:
        """Every call in this file whose callee ends in `name`, with the point where it stands; only
        those for which `may` holds, which tells from the tree alone.
        """
        return self.module.calls_to(name, self.interpreter, may)

    def masked(self, site: Site) -> Masked | None:
        """The later choice (`tf.where`) that throws away what a site gives outside its domain, if
        there is one.
        """
        return self.masks.of(site)

    def flat_behind(self, root: Site) -> bool:
        """Whether no gradient comes back to a root, norm or deviation where it is 0: a later
        `tf.where` takes it only above 0, it is squared, or multiplied by what is 0 there, too. Then
        what it hands on is NaN under XLA only.
        """
        return (
            flattened(root, self.module)
            or is_flat_behind(root, self.interpreter)
            or self.masks.keeps_positive(root)
        )

    def only_reader(self, reader: Site, site: Site) -> bool:
        """Whether nothing else in its function reads what a site gives: it stands in its reader, or
        in a helper, or its name is read there only.
        """
        if site.point is None or reader.point is None or site.point.scope is not reader.point.scope:
            return True
        return self.source.span(site.node) in self.source.span(reader.node) or endings_of(
            site.point.scope, self.module
        ).only_read_in(site.node, set(nodes_in(reader.node)))

    def hidden(self, site: Site) -> bool:
        """Whether a later choice replaces what a site gives outside its domain and no gradient
        flows back from it.
        """
        masked = self.masked(site)
        if masked is None:
            return (
                self.masks.conditional
                and site.differentiated is Differentiated.NO
                and self.masks.passed_over(site)
            )
        if masked.choice.op.name not in CLIPS:
            return masked.cut or site.differentiated is Differentiated.NO or of_labels(site)
        if site.op.name == "tf.divide":  # a clip cuts Inf off, not the NaN of 0 / 0
            return (
                site.value("x").nonzero
                and site.value("x").known
                and site.differentiated is not Differentiated.YES
            )
        value = site.value(masked.param)
        return not (value.known and value.lo < min(masked.domain.lo, 0.0)) and (
            masked.cut or site.differentiated is Differentiated.NO
        )

    def only_compared(self, site: Site, shown: bool = False) -> bool:
        """Whether what a site gives only decides something (-Inf is a right answer there, NaN is
        "no"), or is only `shown` in summaries.
        """
        return goes_into(site, self.interpreter, SUMMARIES if shown else COMPARISONS)

    def only_printed(self, site: Site) -> bool:
        """Whether what a site gives is only printed, as in a demonstration of an op."""
        return goes_into(site, self.interpreter, PRINTS)

    def only_drawn(self, site: Site) -> bool:
        """Whether what a site gives only ends as the logits of a draw, of which -Inf is one like
        any other.
        """
        return goes_into(site, self.interpreter, DRAWS)

    def only_ranked(self, site: Site) -> bool:
        """Whether what a site gives only ends in a ranking (`tf.argmax`) or a draw, where Inf is
        one number like any other.
        """
        return goes_into(site, self.interpreter, RANKINGS)

    def tested_for_nan(self, site: Site) -> bool:
        """Whether the function asks what a site gives whether it is finite, and no gradient is
        known to be taken: who does so has met NaN, and goes on without.
        """
        return (
            site.point is not None
            and site.point.over is None
            and site.differentiated is not Differentiated.YES
            and endings_of(site.point.scope, site.point.scope.module).tested_for_nan(site.node)
        )

    @property
    def tests(self) -> bool:
        """Whether the file holds tests: they run on numbers that are written in them."""
        return holds_tests(self.source.path)

    def has_no_path(self, site: Site) -> bool:
        """Whether no gradient is seen to be taken through a site although other code calls the
        function around it: where one is taken, the way to it is mostly seen. A function that
        nothing calls is waiting for its program.
        """
        if self.draft or site.differentiated is not Differentiated.UNKNOWN or site.point is None:
            return False
        function = site.point.scope.function
        if function is None or function.owner is not None:
            return True
        if self.interpreter.escapes(function) or self.interpreter.call_sites(function):
            return True
        project = self.module.project
        return project is not None and bool(project.importing(self.source.path, function.name))

    def compiled(self) -> bool:
        """Whether XLA may compile what the file computes, as the file or the program around it
        says: `fit` of Keras lets it on a GPU, `jit_compile=True` asks for it. Of a file by itself
        that is said by names alone.
        """
        project = self.module.project
        said = {
            compiler_of(self.source),
            project.compiler(self.source) if project is not None else "",
        }
        if said == {NONE, ""}:
            return any(map(names_compiler, self.source.names))
        return ASKED in said or TRAINS in said and BEFORE not in said

    def asserted(self, site: Site, param: str) -> bool:
        """Whether this file asserts elsewhere that there is no 0 in what arrives at a parameter
        (`assert_positive(self.scale)`).
        """
        if self.module.assertions is None:
            self.module.assertions = Assertions(self.source.tree, self.source.text)
        scope, owner = site.point.scope if site.point is not None else None, None
        while scope is not None and owner is None:  # a function inside a method is one of the class
            owner = scope.function.owner if scope.function is not None else None
            scope = scope.parent.scope if scope.parent is not None else None
        lineage = self.interpreter.lineage(owner) if owner is not None else []
        return self.module.assertions.about(site, param, self.around(site.node), lineage)

    def tested(self, site: Site, param: str) -> bool:
        """Whether a test that holds where a site stands leaves no 0
        in what arrives at a parameter.
        """
        return leaves_no_zero(site, param, self.around(site.node), self.module, self.interpreter)

    def leaves_some(self, site: Site, mask: Value) -> bool:
        """Whether a test that holds where a site stands says that a mask is true for some element:
        `if not tf.reduce_any(mask): return`.
        """
        return leaves_some(site, mask, self.around(site.node), self.module, self.interpreter)

    def counted(self, site: Site) -> Iterator[Value]:
        """The values that have elements, as a test says that holds where a site stands:
        `if tf.size(rows) == 0: return`.
        """
        return counted(site, self.around(site.node), self.module, self.interpreter)

    def visible(self, producer: Site, site: Site) -> bool:
        """Whether a producer stands in the same body as a site; in a draft, which cannot tell what
        a fix will reach, always.
        """
        return self.draft or producer.point is not None and producer.point.scope is site.point.scope

    def steady(self, node: ast.expr, then: Point, now: Point) -> bool:
        """Whether the names in an expression mean the same at two points, and hold the same."""
        return self.reach.steady(node, then, now)

    def name(self, node: ast.expr, point: Point) -> str | None:
        """Canonical name that an expression is spelled with (`np.nan`), None when it is not an
        imported name.
        """
        return self.interpreter.resolve(node, point)

    def text(self, node: ast.AST) -> str:
        return self.source.segment(node)

    def code(self, node: ast.AST) -> str:
        """The text of a node with blanks for what stands in comments and strings."""
        span = self.source.span(node)
        return self.source.code[span.start : span.end]

    def widest(self, value: Value) -> Value:
        """Of a value that is one of several (branches, returns), the one that admits most, where it
        stands for them all.
        """
        return widest(value)

    def line(self, node: ast.AST) -> str:
        """The line on which a node of this file stands, as a message names it."""
        return self.source.location(self.source.span(node).start).words

    def applications(self, rows: Iterable[int], names: Iterable[str] = ()) -> Iterator[Site]:
        """The op applications that touch one of some lines of this file, or a line with one of some
        names, each once.
        """
        seen: set[ast.AST] = set()
        named = (
            self.source.position(place)[0]
            for name in names
            for place in self.source.places_of(name)
        )
        for row in sorted({*rows, *named}):
            for expression, point in self.module.expressions(row, self.interpreter):
                for node in nodes_in(expression):
                    if (
                        isinstance(node, (ast.Call, ast.BinOp))
                        and node not in seen
                        and node.lineno <= row <= (node.end_lineno or row)
                    ):
                        seen.add(node)
                        site = self.interpreter.site(node, point)
                        if site is not None:
                            site.judge = site.judge or self.activity
                            yield site

    def policy(self) -> str:
        """The dtype or policy that this file, or else the program that imports it, makes Keras use
        everywhere (`mixed_float16`), "" when neither sets one.
        """
        return self.interpreter.policy_of_program(self.module)

    def makes_variables(self, dtype: str) -> bool:
        """Whether this file makes TensorFlow 1 variables of a dtype that they keep (no
        `custom_getter` stores them in another).
        """
        return not any(
            keyword.arg == "custom_getter"
            for call, _ in self.calls("variable_scope")
            for keyword in call.keywords
        ) and any(
            self.value(call, point).dtype == dtype for call, point in self.calls("get_variable")
        )

    @property
    def words(self) -> str:
        """The names that this file uses, parted by blanks."""
        return " ".join(sorted(self.source.names))

    def words_around(self, site: Site) -> str:
        """The names that the function in which a site stands uses, parted by blanks; of a site
        outside of functions those of its file.
        """
        function = site.point.scope.function if site.point is not None else None
        return self.words if function is None else " ".join(sorted(names_in(function.node)))

    def holds_in_program(self, says: Callable[[str], bool]) -> bool:
        """Whether a convention of `texts` holds of this file, or of one that sets the policy of its
        program.
        """
        setters = (module for *_, module in self.interpreter.policies_of_program(self.module))
        texts = (module.source.code for module in (self.module, *setters))
        return any(says(text) for text in texts)

    def inherits(self, site: Site, *roots: str) -> bool:
        """Whether a site stands in a method of a class with a base outside of the program whose
        name begins so (`keras.`).
        """
        scope = site.point.scope if site.point is not None else None
        owner = scope.function.owner if scope is not None and scope.function is not None else None
        return owner is not None and any(
            base.startswith(roots) for base in self.interpreter.foreign_bases(owner)
        )

    def output_layers(self) -> list[Site]:
        """The constructions of the last layers of the models that this file builds or compiles."""
        return output_layers(self.module, self.interpreter)

    def numeric(self, value: Value) -> bool:
        """Whether a value is a tensor, array or number (or nothing is known of it), not a shape,
        string or object.
        """
        return is_numeric(value)

    def is_inside(self, inner: Site, outer: Site) -> bool:
        """Whether an op is applied in the text of another application, in this file."""
        span = self.source.span
        return inner.source is self.source and span(inner.node) in span(outer.node)

    def repeatable(self, node: ast.expr) -> bool:
        """Whether an expression can be written twice: names, attributes and constant subscripts
        only.
        """
        return all(
            isinstance(
                inner, (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.expr_context)
            )
            for inner in nodes_in(node)
        )

    def epsilon(self, value: Value, use: str = "floor") -> str:
        """The positive constant for a use (`epsilons.USES`) that survives in the value's dtype, as
        text; where that is not known, in each that it may be.
        """
        least, wanted = self.precision(value), epsilon(use, None, self.setup.epsilon)
        kept = not least.sure and survives(wanted, use, least.dtype)
        return wanted if kept else epsilon(use, least.dtype, self.setup.epsilon)

    def under_power(self, value: Value, exponent: float) -> str:
        """`epsilons.under_power` in the value's dtype."""
        return under_power(exponent, self.precision(value).dtype, self.setup.epsilon)

    def precision(self, value: Value) -> Precision:
        """The dtype that a constant beside a value has to survive in, and whether it is surely that
        of the value.
        """
        if not self.repairing or value.dtype is not None:
            return precision(value, "")
        if self._half is None:
            self._half = wanted_around(self.module)
        return precision(value, self._half)

    def grade(self, value: Value, surely: bool) -> Certainty:
        """MUST when the value surely is outside, UNKNOWN when nothing is known, else MAY."""
        if surely:
            return Certainty.MUST
        return Certainty.MAY if value.known else Certainty.UNKNOWN

    # Findings

    def finding(
        self,
        site: Site,
        param: str | None,
        message: str,
        certainty: Certainty,
        fixes: Iterable[Fix] = (),
        *,
        modes: tuple[str, ...] = MODES,
        node: ast.AST | None = None,
        help: str = "",
        covers: Iterable[ast.AST] = (),
        fixed_in: str = "",
        doubtful: bool = False,
        kind: str = "",
        as_of: Site | None = None,
    ) -> Finding:
        """A finding at a site; the value of `param` is shown with the chain that leads to it.

        `fixed_in` is the TensorFlow release that no longer has the hazard. `covers` are expressions
        at which it also replaces findings of the rules that its rule goes before (`over`).
        `doubtful` is of a kind that reading showed to be wrong too often (see `Silence`). `kind`
        names the evidence; a weak one makes a note of a warning (see `kinds`). `as_of` is a site by
        which the gradient is judged instead (see `Site.gradient`).
        """
        if self.draft:
            return Finding(
                self.rule.code,
                self.rule.slug,
                self.source.path,
                self.source.span(node or site.node),
                message,
                certainty,
            )
        weak = certainty is Certainty.MAY and kind in KINDS and KINDS[kind].is_note
        certainty = Certainty.UNKNOWN if weak else certainty
        site.judge = site.judge or self.activity
        value = site.value(param) if param else None
        modes, taken = self._reached(site, modes), site.gradient(as_of)
        message += where_it_shows(message, modes) + (
            f" (before TensorFlow {fixed_in})" if fixed_in else ""
        )
        wanted = self._wanted(site, tuple(fixes))
        because = KINDS[kind].because if weak and not KINDS[kind].judged_alone else ""
        fixes = judged(self.rule.code, site, param, certainty, wanted, because)
        no_fix, self.no_fix = ("" if fixes or not self.repairing else self.no_fix), ""
        return Finding(
            self.rule.code,
            self.rule.slug,
            self.source.path,
            self.source.span(node or site.node),
            message,
            certainty,
            differentiated=taken,
            is_guessed=taken is not site.gradient(as_of, is_seen=True),
            range=words(value) if value is not None else "",
            trace=trace(value, site) if value is not None and not self.repairing else (),
            modes=modes,
            fixes=fixes,
            no_fix=no_fix,
            help=help,
            fixed_in=fixed_in,
            data={"covers": tuple(map(self.source.span, covers)), "over": self.rule.over},
            doubtful=doubtful,
            kind=kind if weak else "",
        )

    def _wanted(self, site: Site, fixes: tuple[Fix, ...]) -> tuple[Fix, ...]:
        """Those of some fixes that the place of a site allows: values that a test expects, or that
        are only printed, do not move.
        """
        own = self._own_version(site, fixes)
        if own:
            self.no_fix = f"'{own}' writes the function out, which may be meant"
            return ()
        exact = tuple(fix for fix in fixes if fix.claim.safe)
        if len(exact) == len(fixes):
            return fixes
        if self.tests or self._is_compared(site):
            self.no_fix = "a fix would change values, which the tests in this file expect"
        elif self.only_printed(site) or self._is_shown(site):
            self.no_fix = "a fix would change a value that is only printed or shown"
        else:
            return fixes
        return exact

    def _own_version(self, site: Site, fixes: tuple[Fix, ...]) -> str:
        """The function of a site that says by its name that it is another version of what fixes
        call, `my_softplus` in a lesson on its gradient, or that the file writes again with a
        gradient of its own; empty where there is none.
        """
        around = [node for node in self.around(site.node) if isinstance(node, ast.FunctionDef)]
        for function in around if fixes else ():
            if self._has_gradient_elsewhere(function):
                return function.name
            name = own_version_of(function.name)
            written = "".join([edit.text for fix in fixes for edit in fix.edits])
            if name and f".{name}(" in written:
                return function.name
        return ""

    def _has_gradient_elsewhere(self, function: ast.FunctionDef) -> bool:
        """Whether the file has a function of the same name with `@tf.custom_gradient`."""
        if CUSTOM_GRADIENT not in self.source.names:
            return False
        return any(
            node.name == function.name and node is not function
            for node in self.source.tree.body
            if isinstance(node, ast.FunctionDef)
            and any(decorator_leaf(one) == CUSTOM_GRADIENT for one in node.decorator_list)
        )

    def _is_shown(self, site: Site) -> bool:
        """Whether a site stands in a function that makes a picture."""
        around = self.around(site.node)
        return any(
            isinstance(node, ast.FunctionDef) and makes_picture(node.name) for node in around
        )

    def _is_compared(self, site: Site) -> bool:
        """Whether the function of a site is given to one that compares its results."""
        function = site.point.scope.function if site.point is not None else None
        name = function.name if function is not None else ""
        if not any([compares_results(one, name) for one in self.source.names]):
            return False
        return any(
            isinstance(argument, ast.Name) and argument.id == name
            for call in ast.walk(self.source.tree)
            if isinstance(call, ast.Call) and compares_results(leaf(call.func) or "", name)
            for argument in call.args
        )

    def comment_above(self, node: ast.expr) -> str:
        """The lines of the comment right above the line on which a node begins; "" without one."""
        end = row = node.lineno
        while row > 1 and self.source.line_text(row - 1).lstrip().startswith("#"):
            row -= 1
        return "\n".join([self.source.line_text(one) for one in range(row, end)])

    def _reached(self, site: Site, modes: tuple[str, ...]) -> tuple[str, ...]:
        """Of some modes those in which an expression is reached: `if tf.executing_eagerly():`
        leaves one, and so does `.numpy()` on the result.
        """
        node = site.node
        if site.point is not None and is_never_reached(
            site, self.around(node), self.module, self.interpreter
        ):
            return NOWHERE
        if modes and "eager" not in modes and self._runs_eagerly(site):
            return NOWHERE
        is_before = modes == ("xla",) and compiler_of(self.source) == BEFORE
        if is_before and not self.compiled():
            return NOWHERE
        if not modes or not self.source.holds(("executing_eagerly", ".numpy()")):
            return modes
        inner: ast.AST = node
        for outer in self.around(node):
            if isinstance(outer, (ast.If, ast.IfExp)) and inner is not outer.test:
                test, eagerly = (
                    outer.test,
                    inner in outer.body if isinstance(outer.body, list) else inner is outer.body,
                )
                while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
                    test, eagerly = test.operand, not eagerly
                if isinstance(test, ast.Call) and leaf(test.func) == "executing_eagerly":
                    modes = _kept(modes, eagerly)
            elif isinstance(outer, ast.Attribute) and outer.attr == "numpy":
                modes = _kept(modes, eagerly=True)
            inner = outer
        return modes or NOWHERE

    def _runs_eagerly(self, site: Site) -> bool:
        """Whether a site stands in a training loop with tapes that is never compiled; `fit`
        compiles what it is called for.
        """
        if site.op.name.removeprefix("method.") in TRAINING_METHODS:
            return False
        function = site.point.scope.function if site.point is not None else None
        names = self.source.names
        if function is None or "GradientTape" not in names or not GRAPH_NAMES.isdisjoint(names):
            return False
        return self.interpreter.runs_uncompiled(function)

    def remark(
        self,
        node: ast.AST,
        message: str,
        certainty: Certainty = Certainty.MUST,
        fixes: Iterable[Fix] = (),
    ) -> Finding:
        """A finding at an expression that is no op application."""
        return Finding(
            self.rule.code,
            self.rule.slug,
            self.source.path,
            self.source.span(node),
            message,
            certainty,
            fixes=tuple(fixes),
        )

    # Fixes

    def _spelling(self, site: Site) -> Callable[[Any], Any]:
        """What spells names for a rewrite at a site."""
        return lambda use: self.speller.spell(use, site)

    def broadcasts(self, site: Site) -> bool:
        """Whether tf.where, as a fix would write it at a site, takes arguments of several shapes:
        that of TensorFlow 1 does not. False where no fix is made.
        """
        return self.repairing and self.speller.chooses_of_numbers(site)

    def possible(self, make: Callable[[], list[Fix]]) -> bool:
        """Whether a fix can be made: for a finding that is one only if it can be repaired. True in
        a draft, which cannot tell.
        """
        if self.draft:
            return True
        before, self.repairing = self.repairing, True
        try:
            return bool(make())
        finally:
            self.repairing, self.no_fix = before, ""

    def rewrite(
        self,
        site: Site,
        template: str,
        *,
        title: str,
        claim: Claim,
        cost: str = "",
        node: ast.expr | None = None,
        **holes: Any,
    ) -> list[Fix]:
        """One fix that replaces the site (or `node`) by a template in canonical names; [] when it
        cannot be made safely.

        A hole is an expression of the program, literal text, or None, which drops the argument it
        stands in.
        """
        target = node if node is not None else site.node
        return self.rewrite_all(
            site, [(target, template, holes)], title=title, claim=claim, cost=cost
        )

    def restate(
        self,
        site: Site,
        template: str,
        *,
        title: str,
        claim: Claim,
        cost: str = "",
        without: Iterable[ast.stmt] | None = None,
        **holes: Any,
    ) -> list[Fix]:
        """One fix that replaces the statement that a site is by the statements of a template, one a
        line.

        With `without`, statements that are taken out as well, the site may also be what the
        statement assigns.
        """
        from tfnanlint.rewrite.bindings import bindings

        if not self.repairing:
            return []
        from tfnanlint.rewrite import rewriter as rewrite

        statement = next(
            (node for node in self.around(site.node) if isinstance(node, ast.stmt)), None
        )
        try:
            kinds = ast.Expr if without is None else (ast.Expr, ast.Assign)
            if not isinstance(statement, kinds) or statement.value is not site.node:
                raise rewrite.NoFix("the call is not a statement of its own")
            edits = rewrite.replace_statement(
                self.source, statement, template, holes, self._spelling(site)
            )
            edits += tuple(rewrite.delete_statement(self.source, other) for other in without or ())
            return [Fix(title, claim, edits, cost, bindings(self.source, edits))]
        except rewrite.NoFix as reason:
            self.no_fix = str(reason)
            return []

    def with_argument(
        self, call: Site, name: str, value: str, *, title: str, claim: Claim, cost: str = ""
    ) -> list[Fix]:
        """One fix that gives a call of this file the argument `name=value`, in the place of the one
        it has or behind the others.
        """
        if call.source is not self.source or not isinstance(call.node, ast.Call):
            return []
        if name in call.args:
            return self.rewrite(
                call, value, node=call.args[name], title=title, claim=claim, cost=cost
            )
        text = self.text(call.node)[:-1].rstrip().rstrip(",")
        new = f"{text}{'' if text.endswith('(') else ', '}{name}={value})"
        return self.rewrite(call, "{call}", title=title, claim=claim, cost=cost, call=new)

    def exchange(
        self,
        site: Site,
        first: ast.expr,
        second: ast.expr,
        *,
        title: str,
        claim: Claim,
        cost: str = "",
    ) -> list[Fix]:
        """One fix that lets two expressions of a site change places."""
        parts: list[Part] = [
            (first, "{other}", {"other": self.text(second)}),
            (second, "{other}", {"other": self.text(first)}),
        ]
        return self.rewrite_all(site, parts, title=title, claim=claim, cost=cost)

    def pairings(self, site: Site) -> Iterator[Pairing]:
        """The losses that a site brings together with predictions: by a call, or by `compile`."""
        return pairings(site, self.interpreter)

    def rewrite_all(
        self, site: Site, parts: list[Part], *, title: str, claim: Claim, cost: str = ""
    ) -> list[Fix]:
        """One fix made of several replacements."""
        from tfnanlint.rewrite.bindings import bindings

        if not self.repairing:
            return []
        from tfnanlint.rewrite import rewriter as rewrite

        if not site.complete and any(target is site.node for target, _, _ in parts):
            self.no_fix = "tfnanlint does not know an argument of this call, so it cannot keep it"
            return []
        if (
            site.library == "operator"
            and may_be_numpy(site)
            and any("tf." in template for _, template, _ in parts)
        ):
            self.no_fix = (
                "NumPy may compute this value from an array, and a fix would make it a tensor"
            )
            return []
        namings: list[Naming] = []
        extra: list[Edit] = []
        try:
            prepared = self._prepared(parts, site, namings, extra)
            for naming in namings:
                _require_unread(naming, parts)
                gone = self._without_reader(naming, site)
                if gone is not None:
                    extra.append(gone)
                    continue
                write = rewrite.replace_statement if naming.renames else rewrite.insert_before
                extra += write(
                    self.source,
                    naming.statement,
                    f"{naming.name} = {{value}}",
                    {"value": naming.node},
                    self._spelling(site),
                )
                if not naming.renames:
                    prepared.append((naming.node, naming.name, {}))
            edits = rewrite.rewrite_many(self.source, prepared, self._spelling(site))
            rest = self._without_idle(site, list(dict.fromkeys([*extra, *edits])))
            whole = tuple(rewrite.with_blank_lines(self.source, rest))
            self.reach.check_calls(site, whole)
            return [Fix(title, claim, whole, cost, bindings(self.source, whole))]
        except rewrite.NoFix as reason:
            self.no_fix = str(reason)
            return []

    def _without_reader(self, naming: Naming, site: Site) -> Edit | None:
        """The edit that takes out an assignment whose only readers a fix replaces; None where it
        has to stay and gets another name.
        """
        from tfnanlint.rewrite import rewriter as rewrite

        statement = naming.statement
        if (
            not naming.renames
            or not isinstance(statement, ast.Assign)
            or not self.reach.only_computes(statement, site)
        ):
            return None
        try:
            return rewrite.delete_statement(self.source, statement)
        except rewrite.NoFix:
            return None

    def _without_idle(self, site: Site, edits: list[Edit]) -> list[Edit]:
        """Edits that also take out the assignments which the fix leaves without a reader: the
        softmax of a hand-written loss.
        """
        from tfnanlint.rewrite import rewriter as rewrite

        for statements in self.reach.idle(site, edits):
            try:
                gone = [rewrite.delete_statement(self.source, node) for node in statements]
            except rewrite.NoFix:
                break
            edits = [
                edit
                for edit in edits
                if edit.span.start == edit.span.end
                or not any(edit.span in deletion.span for deletion in gone)
            ] + gone
        return edits

    def _prepared(
        self, parts: list[Part], site: Site, namings: list[Naming], extra: list[Edit]
    ) -> list[Part]:
        """Parts whose holes are expressions and texts that are safe where they land."""
        from tfnanlint.rewrite.rewriter import NoFix
        from tfnanlint.rewrite.template import holes_of

        flagged = [target for target, _, _ in parts]
        if any(getattr(target, "augmented", False) for target in flagged):
            raise NoFix("an augmented assignment has to be rewritten by hand")
        prepared: list[Part] = []
        for target, template, holes in parts:
            again = {name for name, count in Counter(holes_of(template)).items() if count > 1}
            holes = {
                name: self._once(hole, site) if name in again else hole
                for name, hole in holes.items()
            }
            filled = {
                name: self._hole(hole, target, flagged, site, namings, extra)
                for name, hole in holes.items()
            }
            prepared.append(
                (
                    target,
                    *with_name(
                        self.source, site, target, self.speller.reworded(template, site), filled
                    ),
                )
            )
        return prepared

    def _once(self, hole: Any, site: Site) -> Any:
        """A hole that a template uses twice: a name for what it computes, where that must not be
        computed again.
        """
        node = hole.node if isinstance(hole, Outside) and self._stands_in(hole, site) else hole
        if isinstance(node, ast.expr) and self.reach.acts(node, site.point):
            return Named(getattr(hole, "word", "") or "value", "{value}", {"value": node})
        return hole

    def _stands_in(self, hole: Outside, site: Site) -> bool:
        """Whether the expression of a hole is part of the site's."""
        return (
            hole.point is not None
            and hole.point.module is self.module
            and self.source.span(hole.node) in self.source.span(site.node)
        )

    def _hole(
        self,
        hole: Any,
        target: ast.expr,
        flagged: list[ast.expr],
        site: Site,
        namings: list[Naming],
        extra: list[Edit],
    ) -> Any:
        """A hole that is safe where it lands: inside the flagged text, or meaning the same there as
        where it stands.
        """
        from tfnanlint.rewrite.rewriter import NoFix

        if isinstance(hole, Site):
            raise TypeError("a hole is an expression, not a site")
        if isinstance(hole, Outside):
            self._require_settled(hole)
            return self.reach.again(hole, site, [target], namings)
        if isinstance(hole, Changed):
            return self._changed(hole, site, namings, extra)
        if isinstance(hole, Named):
            return self._named(hole, site, flagged, namings, extra)
        if isinstance(hole, ast.AST):
            if getattr(hole, "augmented", False):
                raise NoFix("an augmented assignment has to be rewritten by hand")
            if self.source.span(hole) not in self.source.span(target):
                raise NoFix("the value comes from another statement")
        return hole

    def _require_settled(self, hole: Outside) -> None:
        """Raise NoFix where a comment asks the reader to edit the line that a hole stands on."""
        from tfnanlint.rewrite.rewriter import NoFix

        if hole.point is None or hole.point.module is not self.module:
            return
        row = hole.node.lineno
        code = self.source.code_on(row).rstrip()
        if invites_change(self.source.line_text(row)[len(code) :]):
            where = self.line(hole.node)
            raise NoFix(f"a comment on {where} asks its reader to edit the line")

    def _named(
        self,
        hole: Named,
        site: Site,
        flagged: list[ast.expr],
        namings: list[Naming],
        extra: list[Edit],
    ) -> str:
        """A new name; the line that assigns it goes to `extra`, once."""
        from tfnanlint.rewrite import rewriter as rewrite

        statement = self.reach.statement_before(site, list(hole.holes.values()))
        holes = {
            key: self._hole(inner, site.node, flagged, site, namings, extra)
            for key, inner in hole.holes.items()
        }
        others: list[str] = []  # names that other values of this fix have
        while True:
            name = self.reach.fresh(hole.word, site.point.scope.node, others)
            line = rewrite.insert_before(
                self.source, statement, f"{name} = {hole.template}", holes, self._spelling(site)
            )
            if not any(
                edit.text.lstrip().startswith(f"{name} = ") for edit in extra if edit not in line
            ):
                break
            others.append(name)
        extra += [edit for edit in line if edit not in extra]
        return name

    def _changed(self, hole: Changed, site: Site, namings: list[Naming], extra: list[Edit]) -> str:
        """The text of an expression after replacements inside it."""
        from tfnanlint.rewrite import rewriter as rewrite

        span = self.source.span(hole.node)
        edits = rewrite.rewrite_many(
            self.source, self._prepared(hole.parts, site, namings, extra), self._spelling(site)
        )
        extra += [edit for edit in edits if edit.span not in span]
        inside = [
            Edit(Span(e.span.start - span.start, e.span.end - span.start), e.text)
            for e in edits
            if e.span in span
        ]
        return rewrite.edits_apply(self.source.slice(span), inside)


class Changed(NamedTuple):
    """A hole: the text of `node` with some expressions inside it replaced."""

    node: ast.expr
    parts: list[Part]


__all__ = [
    "Changed",
    "Claim",
    "Certainty",
    "Context",
    "FLOATS",
    "Finding",
    "Fix",
    "Iterator",
    "Outside",
    "Rule",
    "argument",
    "load",
    "rule",
]


def _require_unread(naming: Naming, parts: list[Part]) -> None:
    """Raise NoFix where an assignment gets another name, and an expression that a fix keeps reads
    the name that it had.
    """
    from tfnanlint.rewrite.rewriter import NoFix

    target = naming.statement.targets[0] if isinstance(naming.statement, ast.Assign) else None
    if not naming.renames or not isinstance(target, ast.Name):
        return
    inside = {id(node) for node in ast.walk(naming.statement)}
    if any(_reads(hole, target.id, inside) for _, _, holes in parts for hole in holes.values()):
        raise NoFix(f"'{target.id}' would mean two values in the replacement")


def _reads(hole: Any, name: str, inside: set[int]) -> bool:
    """Whether what a hole keeps of the program reads a variable; what an assignment that gets
    another name computes from does not count (`inside`: its nodes).
    """
    if isinstance(hole, Outside):
        return id(hole.node) not in inside and _reads(hole.node, name, inside)
    if isinstance(hole, (Named, Changed)):
        holes = [hole.holes] if isinstance(hole, Named) else [holes for _, _, holes in hole.parts]
        if any(_reads(inner, name, inside) for each in holes for inner in each.values()):
            return True
    if isinstance(hole, str):
        return re.search(rf"\b{re.escape(name)}\b", hole) is not None
    replaced = {id(target) for target, _, _ in hole.parts} if isinstance(hole, Changed) else set()
    node = hole.node if isinstance(hole, Changed) else hole
    return isinstance(node, ast.AST) and _names(node, name, replaced)


def _names(node: ast.AST, name: str, replaced: set[int]) -> bool:
    """Whether a variable is named in a tree, but for subtrees that are replaced."""
    if id(node) in replaced:
        return False
    if isinstance(node, ast.Name) and node.id == name:
        return True
    return any(_names(child, name, replaced) for child in ast.iter_child_nodes(node))
