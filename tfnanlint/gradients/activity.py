"""Whether a gradient is taken through a site: tapes, losses, layers, minimize; and where surely
none is.
"""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING, Any, Iterator

from tfnanlint.conventions import roles
from tfnanlint.conventions.files import holds_tests, is_apart_from_training
from tfnanlint.diagnostics.findings import Differentiated
from tfnanlint.gradients.callers import loads_uncalled
from tfnanlint.gradients.dependence import depending_on, parts_of
from tfnanlint.gradients.forward import Forward, modules_with
from tfnanlint.gradients.inactive import Source, rigid, source_behind
from tfnanlint.gradients.layer_functions import layered
from tfnanlint.gradients.roles import Roles, roles_of
from tfnanlint.gradients.tapes import Tapes, recorded_at, recorded_name
from tfnanlint.ops.frameworks import (
    CALL_METHODS,
    COLLECTED_LOSS,
    COLLECTING,
    CUSTOM_GRADIENT,
    HOOKS,
    LAYERS,
    MODEL_BASES,
    MODULE_BASES,
    OPERAND_NAMES,
    OPERAND_PLACES,
    SINK_CALLS,
    SINK_WORDS,
    SINKS,
    SINKS_OF_FUNCTIONS,
    TARGET_NAMES,
    TARGET_PLACES,
    TRAINED_BASES,
    UNTRAINED_BASES,
)
from tfnanlint.ops.models.variables import VARIABLES, started
from tfnanlint.ops.provenance import Walk, first_origin, site_behind
from tfnanlint.ops.site import Site
from tfnanlint.ops.table import SETTINGS
from tfnanlint.ops.traits import FED_TO_LOSSES, PLACEHOLDERS
from tfnanlint.program.decorators import decorator_leaf
from tfnanlint.program.functions import Bound, Function
from tfnanlint.program.scope import Parameter, Point, Scope
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import nodes_in
from tfnanlint.uses.uses import CUTS, calls_of, endings_of, goes_into
from tfnanlint.values.value import Note, Value

if TYPE_CHECKING:
    from tfnanlint.interp.engine import Engine
    from tfnanlint.program.module import Module

_MAX_NODES = 4000
_NOBODY = 1 << 30
_MAX_BEHIND = 24  # values looked at behind a site
_MAX_FILES = 3  # from a function to where a gradient is taken of what it gives
_PLAIN = ("np", "math", "builtins")  # NumPy's arrays and Python's numbers are constants for a tape


# Calls that name what a gradient is asked for, and the place of the argument.
_OPERANDS = {"watch": 0, "gradients": 1, "hessians": 1, "ForwardAccumulator": 0}
_OPERAND_NAMES = ("tensor", "xs", "variables", "primals")


class Gradients:
    """Answers for one module. `abroad`: through how many other files of the project calls are
    followed (`train.py` calls `objective.py`, and that `geometry.py`). `by_names`: names of
    functions tell where no caller does.
    """

    def __init__(
        self,
        module: Module,
        interpreter: Engine,
        abroad: int = _MAX_FILES,
        by_names: bool = True,
    ):
        self.by_names = by_names
        self._found_nameless: Gradients | None = None
        self._found_none_taken: bool | None = None
        self._found_layered: frozenset[ast.AST] | None = None
        self._found_roles: Roles | None = None
        self._found_in_own_gradients: set[ast.AST] | None = None
        self._found_watched: tuple[frozenset[int], frozenset[Site]] | None = None
        self._found_handing: bool | None = None
        self._found_askers: list[Gradients] | None = None  # not itself: nothing would free it
        self.module = module
        self.interpreter = interpreter
        self.abroad = abroad
        self._others: dict[Any, Gradients] = {}
        self._tapes: dict[ast.AST, Tapes] = {}
        self._upstream: set[ast.AST] | None = None
        self._still: set[ast.AST] = set()  # what leads to a loss, but from none of its operands
        self._smooth: set[Site] = set()  # what is known not to be rigid
        self._functions: dict[ast.AST, Differentiated] = {}
        # functions of which it is being found out, outermost first
        self._asking: dict[ast.AST, int] = {}
        # of those, the first one for which an answer stood in that was not found yet
        self._outermost = _NOBODY
        # answers that depend on such a one, and on which
        self._meanwhile: dict[ast.AST, tuple[Differentiated, int]] = {}

    def of(self, site: Site, stopped: bool) -> Differentiated:
        """Whether a gradient is taken through a site, if it is run. `stopped`: the site stands
        inside a call of stop_gradient.
        """
        if stopped or site.library in _PLAIN or _replaced(site.point):
            return Differentiated.NO
        if self._is_rigid(site) and not self._of_watched(site):
            return Differentiated.NO
        if self._only_shown(site) or self._of_examples(site):
            return Differentiated.NO
        if goes_into(site, self.interpreter, CUTS):
            return Differentiated.NO
        if site.node in self.upstream:
            return Differentiated.YES
        if site.node in self._still or self._left_out(site.node, site.point):
            return Differentiated.NO
        activity = self.at(site.point)
        if activity is Differentiated.YES:
            return Differentiated.NO if self._only_predicts else self._followed(site)
        if activity is Differentiated.UNKNOWN and self._none_is_taken:
            return Differentiated.NO
        return activity

    def seen(self, site: Site, stopped: bool) -> Differentiated:
        """The answer of `of` where the program shows it; UNKNOWN where it rests on a guess."""
        taken = self.of(site, stopped)
        if taken is Differentiated.YES:
            return taken if self._shows_gradient(site) else Differentiated.UNKNOWN
        function = site.point.scope.function if site.point is not None else None
        is_named = function is not None and roles.initializes(function.name)
        return self._nameless.of(site, stopped) if self.by_names and is_named else taken

    def _shows_gradient(self, site: Site) -> bool:
        """Whether the program shows that what is behind a site is trained, and that it runs what
        takes a gradient of that. Names tell of a function whose callers are not seen.
        """
        source, function = source_behind(site), site.point.scope.function
        row = getattr(site.node, "lineno", 0)
        if row and self.interpreter.unreached(site.point.scope.module, row):
            return False
        if site.node in self.upstream:
            return source > Source.NUMBERS or self._of_watched(site)
        is_own = self._inherits(function, TRAINED_BASES) and self._own_method(function)
        if is_own and not self._is_used(function):
            return False
        if self._nameless.at(site.point) is Differentiated.YES:
            is_step = is_own and self._inherits(function, MODEL_BASES)
            return source is Source.TRAINED or source is Source.GIVEN and is_step
        return source is Source.GIVEN and not self._inherits(function, TRAINED_BASES)

    def _is_used(self, function: Function) -> bool:
        """Whether the program calls a function, or hands it on."""
        return self.interpreter.escapes(function) or bool(calls_of(function, self.interpreter))

    def _inherits(self, function: Function | None, bases: tuple[str, ...]) -> bool:
        """Whether a function is a method of a class that is made of one of some classes."""
        return (
            function is not None
            and function.owner is not None
            and any(one.startswith(bases) for one in self.interpreter.foreign_bases(function.owner))
        )

    @property
    def _nameless(self) -> Gradients:
        """The answers for this file that no name of a function decides."""
        if self._found_nameless is None:
            nameless = Gradients(self.module, self.interpreter, self.abroad, by_names=False)
            nameless._upstream, nameless._still = self._upstream, self._still
            self._found_nameless = nameless
        return self._found_nameless

    def _followed(self, site: Site) -> Differentiated:
        """NO where all ways of what a site gives end before a gradient is taken, UNKNOWN where
        others may be found by a text, else YES. A draft does not follow them.
        """
        if self.interpreter.session.drafting or not hasattr(site.node, "lineno"):
            return Differentiated.YES
        forward = Forward(self.interpreter)
        if not forward.ends(site.node, site.point):
            return Differentiated.YES
        return Differentiated.NO if forward.is_certain else Differentiated.UNKNOWN

    @property
    def _none_is_taken(self) -> bool:
        """Whether the program around the file takes no gradient of what it computes. A draft does
        not ask for it.
        """
        project = self.module.project
        if self._found_none_taken is None and not self.interpreter.session.drafting:
            self._found_none_taken = project is not None and project.takes_no_gradient(
                self.module.source
            )
        return bool(self._found_none_taken)

    @property
    def _only_predicts(self) -> bool:
        """Whether the program around the file runs what it computes as trained before."""
        project = self.module.project
        return (
            self._none_is_taken
            and project is not None
            and project.only_predicts(self.module.source)
        )

    def _is_rigid(self, site: Site) -> bool:
        """Whether no gradient flows through what arrives at a site."""
        function = site.point.scope.function if site.point is not None else None
        compiled = function is not None and self.interpreter.is_compiled(function)
        fed = FED_TO_LOSSES if compiled else PLACEHOLDERS
        operands = [param for param in site.args if param not in SETTINGS]
        return bool(operands) and all(
            rigid(site.value(param), site, self._smooth, fed) for param in operands
        )

    def _of_watched(self, site: Site) -> bool:
        """Whether something that a tape is told to watch is behind a site: constants, too, have a
        gradient then. What other functions made, any file of the program may watch.
        """
        values: list[Value] = []
        is_from_elsewhere = False
        walk = Walk(*[site.value(param) for param in site.args], limit=_MAX_BEHIND)
        for value in walk:
            values.append(value)
            maker = site_behind(value)
            if maker is not None:
                walk.enter(maker, maker.args)
                is_from_elsewhere = is_from_elsewhere or _is_apart(maker, site)
        askers = self._askers if is_from_elsewhere else [self]
        return any(one._watches(value) for one in askers for value in values)

    def _watches(self, value: Value) -> bool:
        if self._hands_watch_on:
            return True
        if self._found_watched is None:
            self._found_watched = self._find_watched()
        tokens, makers = self._found_watched
        return value.token in tokens or site_behind(value) in makers

    @property
    def _hands_watch_on(self) -> bool:
        """Whether the file gives `tape.watch` another name, or hands it on."""
        if self._found_handing is None:
            self._found_handing = loads_uncalled(self.module, "watch")
        return self._found_handing

    @property
    def _askers(self) -> list[Gradients]:
        """The answers for this file and for all of the program that name what a gradient is asked
        for.
        """
        if self._found_askers is None:
            others = dict.fromkeys(
                module
                for name in _OPERANDS
                for module in modules_with(name, self.module)[0] or ()
                if module is not self.module
            )
            self._found_askers = [*map(self._beside, others)]
        return [self, *self._found_askers]

    def _find_watched(self) -> tuple[frozenset[int], frozenset[Site]]:
        """The tokens of what is handed to `tape.watch` and to `tf.gradients(y, x)`, one by one
        where it is a list or one of several, and what made it: the parameter of a helper that is
        given it has a token of its own.
        """
        tokens: set[int] = set()
        makers: set[Site] = set()
        asked = [
            (node, point)
            for name, at in _OPERANDS.items()
            if f"{name}(" in self.module.source.text
            for call, point in self.module.calls_to(name, self.interpreter)
            for node in [
                *call.args[at : at + 1],
                *[keyword.value for keyword in call.keywords if keyword.arg in _OPERAND_NAMES],
            ]
        ]
        for node, point in asked:
            spent = self.interpreter.session.steps  # a question of its own
            for watched in parts_of([self.interpreter.ask(node, point)]):
                tokens.add(watched.token)
                maker = site_behind(watched)
                if maker is not None:
                    makers.add(maker)
            self.interpreter.session.steps = spent
        return frozenset(tokens), frozenset(makers)

    def _of_examples(self, site: Site) -> bool:
        """Whether a site stands in `call` of a model with a `train_step` of its own and takes what
        is handed in as it is: batches.
        """
        function = site.point.scope.function if site.point is not None else None
        if not self._inherits(function, MODEL_BASES) or function.name != "call":
            return False
        tensors = [
            value
            for param in site.args
            if (value := site.value(param)).kind in ("tensor", "unknown")
        ]
        return (
            bool(tensors)
            and all(_handed_in(value) for value in tensors)
            and self.interpreter.method(function.owner, "train_step") is not None
        )

    def of_start(self, site: Site) -> bool:
        """Whether the `build` of a Keras layer computes this of weights that it has just made, and
        that start with no one number: Keras runs it once, outside of what it differentiates, when
        they are what the author chose to start from.
        """
        function = site.point.scope.function if site.point is not None else None
        if not self._inherits(function, (LAYERS,)) or function.name != "build":
            return False
        walk = Walk(*[site.value(param) for param in site.args], limit=_MAX_BEHIND)
        has_weight = False
        for value in walk:
            maker = site_behind(value)
            if maker is None:
                continue
            if maker.op.name == "method.add_weight":
                if started(maker).exact:
                    return False
                has_weight = True
            elif maker.point is not None and maker.point.scope is site.point.scope:
                walk.enter(maker, maker.args)
        return has_weight

    def _only_shown(self, site: Site) -> bool:
        """Whether what a site gives goes into names of its function that end in summaries."""
        if site.point is None or site.point.over is not None or site.point.scope.function is None:
            return False
        statements = endings_of(site.point.scope, self.module)
        target = statements.assigned(site.node)
        return target is not None and target.isidentifier() and statements.only_shown(site.node)

    def at(self, point: Point) -> Differentiated:
        """Whether code at a point is differentiated."""
        scope: Scope | None = point.scope
        time = point.time
        if _replaced(point):
            return Differentiated.NO
        if any(
            self.interpreter.is_compiled(function) or function.node in self._layered
            for function in _lambdas(point)
        ):
            return Differentiated.YES
        while scope is not None:
            if any(start <= time < end for start, end in scope.stopped):
                return Differentiated.NO
            if any(start <= time < end for start, end in scope.tapes):
                return Differentiated.YES
            if (
                scope.tapes
                and scope.function is not None
                and (scope.function.name == "train_step" or scope is point.scope and _steps(scope))
            ):
                return Differentiated.NO  # what comes before the tape or after it
            if scope.function is not None:
                penalty = roles.is_penalty(scope.function.name)
                if penalty and scope.tapes and time < scope.tapes[0][0]:
                    # the points at which a gradient is taken, mixed of data
                    return Differentiated.UNKNOWN
                activity = self.function(scope.function)
                if activity is not Differentiated.UNKNOWN:
                    return activity
                if penalty or self.by_names and roles.is_loss(scope.function.name):
                    return Differentiated.YES
            parent = scope.parent
            scope, time = (parent.scope, parent.time) if parent is not None else (None, 0)
        return Differentiated.UNKNOWN

    def function(self, function: Function) -> Differentiated:
        """Whether gradients are taken through a function's body, by its role and by its callers."""
        node = function.node
        if node in self._functions:
            return self._functions[node]
        if node in self._asking or node in self._meanwhile:
            known, place = (
                self._meanwhile[node]
                if node in self._meanwhile
                else (Differentiated.UNKNOWN, self._asking[node])
            )
            self._outermost = min(self._outermost, place)
            return known
        place, before = len(self._asking), self._outermost
        self._asking[node], self._outermost = place, _NOBODY
        known = self._found(function)
        del self._asking[node]
        # functions that call each other: one further out is not answered yet
        if self._outermost < place:
            self._meanwhile[node] = known, self._outermost
        else:
            self._meanwhile = {
                one: held for one, held in self._meanwhile.items() if held[1] < place
            }
            self._functions[node] = known
            self._outermost = _NOBODY
        self._outermost = min(self._outermost, before)
        return known

    def _found(self, function: Function) -> Differentiated:
        known = self._role(function)
        if (
            known is Differentiated.UNKNOWN
            or known is Differentiated.YES
            and self._own_method(function)
        ):
            called = self._from_callers(function)
            known = called if called is not Differentiated.UNKNOWN else known
        elif known is Differentiated.NO and function.name in self._roles.metrics:
            called = self._from_callers(function)  # a part of the loss may be shown, too
            known = called if called is Differentiated.YES else known
        if known is Differentiated.UNKNOWN and self._measures(function):
            is_part = self._is_given_to_loss(function)
            known = Differentiated.UNKNOWN if is_part else Differentiated.NO
        return known

    def _is_given_to_loss(self, function: Function) -> bool:
        """Whether the function around one, which may return it, is called where a gradient is
        taken: `1 - dice_metric()(y_true, y_pred)` in a loss.
        """
        outer = function.point.scope.function
        calls = self.module.calls_to(outer.name, self.interpreter) if outer is not None else []
        return any(self.at(point) is Differentiated.YES for _, point in calls[:16])

    def _own_method(self, function: Function) -> bool:
        """Whether a method of a model or layer is one of its own: not called by Keras, so that its
        callers tell. The `compute_loss` that Keras calls is given the predictions.
        """
        if function.name == "compute_loss":
            spec = function.node.args
            params = {one.arg for one in spec.posonlyargs + spec.args + spec.kwonlyargs}
            return (
                function.owner is not None
                and "y_pred" not in params
                and not spec.vararg
                and not spec.kwarg
            )
        return function.owner is not None and function.name not in HOOKS

    def _role(self, function: Function) -> Differentiated:
        if function.owner is not None:
            bases = self.interpreter.foreign_bases(function.owner)
            lineage = self.interpreter.lineage(function.owner)
            names = {one.name for one in lineage} | {
                leaf(base) for one in lineage for base in one.node.bases
            }
            if (
                roles.is_evaluation_method(function.name)
                and bases
                or any(b.startswith(UNTRAINED_BASES) for b in bases)
            ):
                return Differentiated.NO
            if any(map(roles.is_untrained_class, names)):
                return Differentiated.NO
            if (
                function.name == "call"
                and any(b.startswith(LAYERS) for b in bases)
                and self.interpreter.method(function.owner, "adapt")
            ):
                # what Keras calls preprocessing: it stands before all that is trained
                return Differentiated.NO
            if any(b.startswith(TRAINED_BASES) for b in bases) and not roles.prepares(
                function.name
            ):
                return Differentiated.YES
        name = function.name
        if (
            self.interpreter.is_compiled(function)
            or function.node in self._layered
            and not self._measures(function)
        ):
            return Differentiated.YES
        if name == "<lambda>":
            return Differentiated.UNKNOWN
        if self.by_names and roles.initializes(name):
            return Differentiated.NO
        by_calls = self._roles
        without = (by_calls.mapped, by_calls.own_gradients, by_calls.metrics, by_calls.evaluated)
        if any([name in names for names in without]):
            return Differentiated.NO
        is_loss = self.by_names and name in by_calls.losses
        return Differentiated.YES if is_loss else Differentiated.UNKNOWN

    @property
    def _layered(self) -> frozenset[ast.AST]:
        if self._found_layered is None:
            self._found_layered = frozenset()  # while it is being found
            self._found_layered = layered(self.module, self.interpreter)
        return self._found_layered

    @property
    def _roles(self) -> Roles:
        if self._found_roles is None:
            self._found_roles = roles_of(self.module.source)
        return self._found_roles

    def handed(self, function: Function | None, depth: int = 5) -> bool:
        """Whether a function is handed to a decorator as one way of a gradient, or called by such
        functions only: what it gives at the edges is chosen by those who call it.
        """
        if function is None or not self._roles.own_gradients or depth == 0:
            return False
        if function.name in self._roles.own_gradients or any(
            map(_own_gradient, getattr(function.node, "decorator_list", ()))
        ):
            return True
        if function.point.scope.function is not None:
            return self.handed(function.point.scope.function, depth)
        calls = self.module.calls_to(function.name, self.interpreter)[:16]
        callers = [
            point.scope.function for call, point in calls if call not in self._in_own_gradients
        ]
        return bool(calls) and all(
            one is not None and one.node is not function.node and self.handed(one, depth - 1)
            for one in callers
        )

    @property
    def _in_own_gradients(self) -> set[ast.AST]:
        if self._found_in_own_gradients is None:
            self._found_in_own_gradients = self._find_in_own_gradients()
        return self._found_in_own_gradients

    def _find_in_own_gradients(self) -> set[ast.AST]:
        """What stands in a decorator that gives a function a gradient of its own
        (`vjp_fwd=lambda x: (f(x), x)`).
        """
        return {
            node
            for one in nodes_in(self.module.source.tree)
            for decorator in getattr(one, "decorator_list", ())
            if _own_gradient(decorator)
            for node in nodes_in(decorator)
        }

    def _measures(self, function: Function) -> bool:
        """Whether a function's name, or that of its file, says that something is measured or
        prepared, not trained.
        """
        source = self.module.source
        stem = os.path.splitext(os.path.basename(source.path))[0]
        is_test = holds_tests(source.path) and not source.holds(SINK_WORDS)
        if is_test or roles.works_on_gradients(function.name):
            return True
        if roles.names_loss(function.name):
            return False
        return (
            roles.is_measured(function.name)
            or roles.is_measured(stem)
            and not roles.is_penalty(function.name)
            or is_apart_from_training(source.path)
        )

    def _from_callers(self, function: Function) -> Differentiated:
        if function.name == "<lambda>":
            return Differentiated.UNKNOWN
        if function.is_property:
            return Differentiated.NO if self._only_decides(function) else Differentiated.UNKNOWN
        answers = set()
        called = [
            (call, point)
            for call, point in self.module.calls_to(function.name, self.interpreter)[:16]
            if self.interpreter.may_run(call, point, function)
        ]
        for call, point in [*called, *self._calls_as_another(function)]:
            if point.scope.function is not None and point.scope.function.node is function.node:
                continue
            if call in self.upstream:
                return Differentiated.YES
            cut = endings_of(point.scope, point.scope.module).only_into(
                call, CUTS
            ) or self._left_out(call, point)
            answers.add(Differentiated.NO if cut else self.at(point))
        if Differentiated.YES in answers or self._taken_elsewhere(function):
            return Differentiated.YES
        all_seen = function.name not in CALL_METHODS
        known_not = all_seen and answers == {Differentiated.NO}
        return Differentiated.NO if known_not else Differentiated.UNKNOWN

    def _calls_as_another(self, function: Function) -> list[tuple[ast.Call, Point]]:
        """The calls in this file of what a function goes on as: `METRICS[name](a, b)`, the
        parameter of another function, a partial, an object whose method it is.
        """
        is_run = function.name in CALL_METHODS or self.module.source.rows_using(function.name)
        if function.module is not self.module or not is_run:
            return []
        return [
            (call, point)
            for call, point in self.interpreter.indirect_call_sites(function)[:16]
            if point.module is self.module
        ]

    def _taken_elsewhere(self, function: Function) -> bool:
        """Whether a gradient is taken through a call in another file of the project that is surely
        one of a function, or of any entry of a dict of which it is one; tests look at values.
        """
        if not self.abroad:
            return False
        if not self.interpreter.session.sees_callers:
            self.interpreter.overlook(function, function.name)
            self.interpreter.call_sites_of_entries(function)  # notes the same
            return False
        calls = [
            (call, point)
            for call, point in self.interpreter.call_sites(function)
            if [one.node for one in self.interpreter.targets(call, point)] == [function.node]
        ] + self.interpreter.call_sites_of_entries(function)
        return any(
            self._beside(point.module)._takes(function, call, point)
            for call, point in calls
            if point.module is not self.module and not holds_tests(point.module.source.path)
        )

    def _beside(self, module: Module) -> Gradients:
        """The answers for another module, of what its own text and fewer other files say."""
        if module not in self._others:
            self._others[module] = Gradients(
                module, self.interpreter, self.abroad - 1, self.by_names
            )
        return self._others[module]

    def _takes(self, function: Function, call: ast.Call, point: Point) -> bool:
        """Whether this module takes the gradient of something made of a call of a function of
        another file.
        """
        if (
            call in self.upstream
            or self.upstream
            and not self.upstream.isdisjoint(nodes_in(function.node))
        ):
            return True
        if (
            endings_of(point.scope, self.module).only_into(call, CUTS)
            or self._left_out(call, point)
            or self.at(point) is not Differentiated.YES
        ):
            return False
        return _taped(point) or not self._of_layer(point.scope.function)

    def _of_layer(self, function: Function | None) -> bool:
        """Whether a function is a method of a layer or model that no tape of this file calls: no
        evidence of training for what it calls in other files, for layers prepare data, too.
        """
        return self._inherits(function, MODULE_BASES) and not any(
            _taped(point) for _, point in self.module.calls_to(function.name, self.interpreter)
        )

    def _only_decides(self, function: Function) -> bool:
        """Whether every read of a property in the files of its class and of that class's bases ends
        in a comparison or a draw.
        """
        reads = []
        owner = function.owner
        for module in (
            dict.fromkeys(cls.module for cls in self.interpreter.lineage(owner))
            if owner is not None
            else ()
        ):
            for row in module.source.rows_with(f".{function.name}"):
                for expression, point in module.expressions(row, self.interpreter):
                    reads += [
                        endings_of(point.scope, module).only_into(node, CUTS)
                        for node in nodes_in(expression)
                        if isinstance(node, ast.Attribute)
                        and node.attr == function.name
                        and isinstance(node.ctx, ast.Load)
                    ]
        return bool(reads) and all(reads)

    @property
    def upstream(self) -> set[ast.AST]:
        """Nodes of every op whose value flows into something that is
        differentiated or minimised.
        """
        if self._upstream is None:
            self._upstream = set()
            source = self.module.source
            for call, point in self._calls(
                source.rows(SINK_CALLS) if source.holds(SINK_WORDS) else []
            ):
                target = _differentiated_argument(call) if leaf(call.func) in SINKS else None
                if target is not None:
                    self._mark(call, target, point)
            if COLLECTED_LOSS in self.module.source.text:
                for call, point in self._calls(self.module.source.rows_with("losses.")):
                    if (self.interpreter.resolve(call.func, point) or "").startswith(COLLECTING):
                        self._mark(call, call, point)
        return self._upstream

    def _calls(self, rows: list[int]) -> Iterator[tuple[ast.Call, Point]]:
        """The calls that begin in rows, as far as they are run."""
        for row in rows:
            for expression, point in self.module.expressions(row, self.interpreter):
                for node in nodes_in(expression):
                    if isinstance(node, ast.Call) and not _never_run(node, point):
                        yield node, point

    def _mark(self, call: ast.Call, target: ast.expr, point: Point) -> None:
        """Note what leads to what a gradient is taken of."""
        value = self.interpreter.ask(target, point)
        if isinstance(value.obj, (Function, Bound)) and leaf(call.func) in SINKS_OF_FUNCTIONS:
            value = self.interpreter.apply(value, [], {})
        scope, tapes = point.scope, self._tapes_of(point)
        taped = tapes is not None and tapes.of_gradient(call)
        queue = [value] if not taped or recorded_name(target, point, scope) else []
        reached: list[Site] = []

        def is_recorded(site: Site, param: str) -> bool:
            return not taped or recorded_name(site.args.get(param), site.point, scope)

        held = self._held(call, point)
        self._still |= {one.node for one in held}
        seen = {id(one) for one in held}
        while queue and len(seen) < _MAX_NODES:
            value = queue.pop()
            if value.kind == "sequence" and isinstance(value.obj, tuple):
                queue += value.obj
            if isinstance(value.origin, Note) and value.origin.options:
                if id(value.origin) not in seen:
                    seen.add(id(value.origin))
                    queue += value.origin.options
                continue
            origin = site_behind(value)
            if origin is None or id(origin) in seen:
                continue
            seen.add(id(origin))
            if (
                origin.op.name in ("tf.stop_gradient", "np.array")
                or taped
                and not recorded_at(origin.point, scope)
            ):
                continue
            self.interpreter.session.steps = 0
            reached.append(origin)
            if origin.op.name not in VARIABLES:  # it only starts with what it is given
                queue += [
                    origin.value(param)
                    for param in origin.params
                    if param not in SETTINGS and is_recorded(origin, param)
                ]
        moved = depending_on(self._operands(call, point), reached, is_recorded)
        self._still |= {one.node for one in reached if one not in moved}
        self.upstream.update([one.node for one in moved])

    def _operands(self, call: ast.Call, point: Point) -> frozenset[Site]:
        """The variables that a gradient is asked for, where the call names each; else none."""
        at = OPERAND_PLACES.get(leaf(call.func))
        named = [one.value for one in call.keywords if one.arg in OPERAND_NAMES]
        asked = named or (call.args[at : at + 1] if at is not None else [])
        makers = [maker for node in asked for maker in self._makers_of(node, point)]
        variables = frozenset(
            [one for one in makers if one is not None and one.op.name in VARIABLES]
        )
        return variables if len(variables) == len(set(makers)) else frozenset()

    def _held(self, call: ast.Call, point: Point) -> list[Site]:
        """What a gradient takes for constant: `tf.gradients(y, x, stop_gradients=[s])`."""
        held = [one.value for one in call.keywords if one.arg == "stop_gradients"]
        makers = [maker for node in held for maker in self._makers_of(node, point)]
        return [one for one in makers if one is not None]

    def _makers_of(self, node: ast.expr, point: Point) -> list[Site | None]:
        """The op that made a value, or each of a list."""
        value = self.interpreter.ask(node, point)
        listed = value.obj if isinstance(value.obj, tuple) else (value,)
        return [site_behind(one) if isinstance(one, Value) else None for one in listed]

    def _tapes_of(self, point: Point) -> Tapes | None:
        """The tapes of the scope of a point; None where it opens none."""
        if not point.scope.tapes:
            return None
        node = point.scope.node
        if node not in self._tapes:
            self._tapes[node] = Tapes(point.scope, self.interpreter)
        return self._tapes[node]

    def _left_out(self, node: ast.AST, point: Point | None) -> bool:
        """Whether a tape records what stands here, and no gradient is asked of anything that is
        made of it.
        """
        tapes = self._tapes_of(point) if point is not None and hasattr(node, "lineno") else None
        return tapes is not None and tapes.leave_out(node)


def _differentiated_argument(call: ast.Call) -> ast.expr | None:
    """What a call takes gradients of: `loss` in `get_updates(params, constraints, loss)` of Keras
    2.0 and in `minimize(loss)`; None where the call does not say it.
    """
    named = next((k.value for k in call.keywords if k.arg in TARGET_NAMES), None)
    if named is not None or not call.args:
        return named
    at = TARGET_PLACES.get((leaf(call.func), len(call.args)), 0)
    return call.args[at]


def _taped(point: Point) -> bool:
    """Whether a tape records what stands at a point, in the function where it was opened."""
    return any(start <= point.time < end for start, end in point.scope.tapes)


def _is_apart(maker: Site, site: Site) -> bool:
    """Whether the op that made a value stands in another function than a site."""
    return None not in (maker.point, site.point) and maker.point.scope is not site.point.scope


def _handed_in(value: Value) -> bool:
    """Whether a value is a parameter as it is, or an element of one;
    an attribute may be a weight.
    """
    origin = first_origin(value)
    return isinstance(origin, Note) and origin.given and not origin.path.startswith("self.")


def _steps(scope: Scope) -> bool:
    """Whether a function makes a step of training itself: what it computes outside of its tapes is
    for the log.
    """
    return "apply_gradients(" in scope.module.source.text and any(
        isinstance(node, ast.Call) and leaf(node.func) == "apply_gradients"
        for whole, _ in scope.statements
        for node in nodes_in(whole)
    )


def _never_run(sink: ast.Call, point: Point) -> bool:
    """Whether a step of training of TensorFlow 1 is made and never run:
    `solver = optimizer.minimize(loss)`, and is not read. A function as the loss is called at
    once.
    """
    loss = sink.args[0] if sink.args else None
    return (
        leaf(sink.func) == "minimize"
        and loss is not None
        and not isinstance(loss, ast.Lambda)
        and point.over is None
        and endings_of(point.scope, point.scope.module).unread(sink)
    )


def _own_gradient(decorator: ast.expr) -> bool:
    """`@tf.custom_gradient`, `@custom_gradient(vjp_fwd=...)`, `@Defun(python_grad_func=...)`."""
    return decorator_leaf(decorator) == CUSTOM_GRADIENT or (
        isinstance(decorator, ast.Call)
        and leaf(decorator.func) == "Defun"
        and any("grad_func" in (k.arg or "") for k in decorator.keywords)
    )


def _replaced(point: Point | None) -> bool:
    """Whether code stands in a function with a gradient of its own: the one that it returns takes
    the place of the body's.
    """
    scope = point.scope if point is not None else None
    while scope is not None:
        if scope.function is not None and any(
            map(_own_gradient, getattr(scope.function.node, "decorator_list", ()))
        ):
            return True
        scope = scope.parent.scope if scope.parent is not None else None
    return False


def _lambdas(point: Point) -> Iterator[Function]:
    """The lambdas whose parameters a point knows."""
    inner: Point | None = point
    while inner is not None and inner.over is not None:
        yield from {one.function for one in inner.over.values() if isinstance(one, Parameter)}
        inner = inner.outer
