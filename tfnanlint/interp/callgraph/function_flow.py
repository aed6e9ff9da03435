"""Function flow: the names under which functions of the program go on as values, and what is handed
over where they are called by these.

A function may be made a partial, kept in a list or a dict, stored in an object or handed to another
function, and be called there under another name. What such calls hand over arrives at its
parameters too, as long as its file shows each step of its way.
"""

from __future__ import annotations

import ast
from typing import Any, Final, cast

from tfnanlint.interp import fixpoint as assumptions
from tfnanlint.interp import names as resolution
from tfnanlint.interp import subexpressions
from tfnanlint.interp.callgraph import callers
from tfnanlint.interp.callgraph.hooks import called_elsewhere
from tfnanlint.ops.frameworks import LAYERS
from tfnanlint.ops.models.layers import is_input
from tfnanlint.ops.row import Op
from tfnanlint.ops.site import NotingSite
from tfnanlint.program import functions as callables
from tfnanlint.program.functions import Bound, ClassObject, Collected, Function, Instance, Starred
from tfnanlint.program.module import Module
from tfnanlint.program.scope import Assigned, Binding, Fixed, Iterated, Point
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import (
    ATTRIBUTE,
    CALL,
    KEYWORD,
    LAMBDA,
    SEQUENCES,
    SUBSCRIPT,
    nodes_in,
    parts_of,
)
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import NUMERIC_KINDS, Choice, Many, Value, unknown

MAX_ROUTES: Final = 8  # names under which one function is followed
_MANY_NODES: Final = 100  # in one expression
_FUNCTIONS: Final = frozenset((ast.FunctionDef, ast.AsyncFunctionDef))
# what may hold a part, or be one of its parts
_WHOLE: Final = frozenset((ast.Tuple, ast.List, ast.Set, ast.BoolOp))
_COMPREHENSIONS: Final = frozenset((ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp))
# nothing of a part is in what they give
_TESTING: Final = frozenset((ast.Compare, ast.FormattedValue, ast.UnaryOp))
_ASKED: Final = frozenset(
    (
        "builtins.isinstance",
        "builtins.callable",
        "builtins.len",
        "builtins.print",
        "builtins.id",
        "builtins.repr",
        "builtins.str",
    )
)
# what is no function, even where nothing else is known of it
_PLAIN: Final = NUMERIC_KINDS - {"unknown"} | {"none", "string"}
# rows that give what they are given
_KEEPING: Final = frozenset(
    ("builtins.list", "builtins.dict", "builtins.enumerate", "builtins.zip", "tf.function")
)
# methods that give what a list or dict holds
_LOOKING: Final = frozenset(("get", "values", "items", "pop", "copy", "setdefault"))
_CHANGING: Final = frozenset(
    (
        "append",
        "insert",
        "appendleft",
        "add",
        "extend",
        "update",
        "keys",
        "clear",
        "remove",
        "sort",
        "index",
        "count",
    )
)
# statements that give a value to one target
_GIVING: Final = frozenset((ast.AnnAssign, ast.AugAssign, ast.For, ast.AsyncFor))
# those that keep nothing of it
_ASKING: Final = frozenset((ast.Expr, ast.If, ast.While, ast.Assert, ast.Delete))
_STORING: Final = frozenset(("append", "insert", "appendleft"))

# What becomes of a function that stands in an expression: it is lost from view, nothing comes
# of it, or the expression around it has it.
_LOST: Final = 0
_DONE: Final = 1
_ON: Final = 2

# a name; the function, class or comprehension that it belongs to, None for the whole file; whether
# it is an attribute
Route = tuple[str, Any, bool]


class Use:
    """Where a function stands as a value: in which statement, what stands around each node of that,
    and at which point of the program.
    """

    __slots__ = ("node", "statements", "around", "point")

    def __init__(self, node: Any, statements: list[ast.stmt], around: dict[Any, Any], point: Point):
        self.node = node
        self.statements = statements
        self.around = around
        self.point = point

    @property
    def statement(self) -> Any:
        return self.statements[-1]


class Course:
    """How far a function has been followed: the names under which it goes, the calls of what has no
    name, and what those hand over that call it themselves (`map`). At its end also the calls that
    run it, and what they hand over.
    """

    __slots__ = ("function", "routes", "unnamed", "handed", "calls", "partial")

    def __init__(self, function: Function):
        self.function = function
        self.routes: dict[Route, None] = {}
        self.unnamed: dict[ast.Call, Point] = {}
        self.handed: list[dict[str, Binding]] = []
        self.calls: list[tuple[ast.Call, Point]] = []
        self.partial = False


class FunctionFlow:
    """The part of the interpreter that goes from a function that is handed on to its calls."""

    def __init__(self) -> None:
        self.escaping: dict[tuple[Any, str, bool], set[ast.AST]] = {}
        self.courses: dict[ast.AST, Any] = {}

    def escapes(self, ev: Evaluator, function: Function, name: str = "") -> bool:
        """Whether a function is called by other code too: by Keras, by a decorator, by code that
        it is handed to.
        """
        if called_elsewhere(function):
            return True
        module, name, of_object = function.module, name or function.name, function.owner is not None
        # Once for all functions of that name: there may be one in each of many classes.
        return function.node in assumptions.once(
            ev,
            self.escaping,
            (module, name, of_object),
            (),
            self._escaping,
            ev,
            module,
            name,
            of_object,
        )

    def _escaping(self, ev: Evaluator, module: Module, name: str, of_object: bool) -> set[ast.AST]:
        """The functions of a name that a file uses as values, or the methods."""
        handed: set[ast.AST] = set()
        # a question of its own: who asks it first must not run out of steps for it
        spent, ev.session.steps = ev.session.steps, 0
        for row in module.source.rows_using(name):
            computed = module.computed(row)
            if computed is not None and not any([_uses(name, one, module) for one in computed]):
                continue
            for expression, point in module.expressions(row, ev):
                for node in _uses(name, expression, module):
                    if (type(node) is ATTRIBUTE) is of_object or of_object and point.scope.of_class:
                        handed |= self._functions_at(ev, node, point)
        ev.session.steps = spent
        return handed

    def _functions_at(self, ev: Evaluator, node: ast.expr, point: Point) -> set[ast.AST]:
        """The functions that an expression may stand for."""
        value = ev.evaluate(node, point)
        functions: set[ast.AST] = set()
        options = (
            value.obj.options
            if isinstance(value.obj, Choice)
            else (value,)
            if value.obj is not None
            else callers.alternatives(ev, node, point)
        )
        for option in options:
            target = option.obj.function if isinstance(option.obj, Bound) else option.obj
            functions |= {target.node} if isinstance(target, Function) else set()
        return functions

    def handed_on(self, ev: Evaluator, function: Function) -> list[dict[str, Binding]] | None:
        """What the calls of a function hand over that run it under other names than its own; None
        where some may not be seen.
        """
        course = self._course(ev, function)
        return course.handed if course is not None else None

    def called_as_another(self, ev: Evaluator, function: Function) -> list[tuple[ast.Call, Point]]:
        """The calls that run a function under other names than its own; none where some may not be
        seen.
        """
        course = self._course(ev, function) if self.escapes(ev, function) else None
        return course.calls if course is not None else []

    def _course(self, ev: Evaluator, function: Function) -> Course | None:
        """The whole course of a function; None where it is lost from view."""
        return assumptions.once(
            ev, self.courses, function.node, None, self._find_course, ev, function
        )

    def _find_course(self, ev: Evaluator, function: Function) -> Course | None:
        course = Course(function)
        spent, ev.session.steps = ev.session.steps, 0  # a question of its own, as above
        whole = (
            self._set_out(ev, course)
            and self._followed_to_the_end(ev, course)
            and self._handed_along(ev, course)
        )
        ev.session.steps = spent
        return course if whole else None

    def _set_out(self, ev: Evaluator, course: Course) -> bool:
        """The first step: a function is there under its own name, a lambda where it stands."""
        node = course.function.node
        if type(node) is not LAMBDA:
            course.routes[
                node.name, _outermost(course.function), course.function.owner is not None
            ] = None
            return True
        statements = course.function.module.statements_at(node.lineno)
        return bool(statements) and self._placed(
            ev,
            course,
            Use(
                node,
                statements,
                _around(course.function.module, statements[-1])[0],
                course.function.point,
            ),
        )

    def _followed_to_the_end(self, ev: Evaluator, course: Course) -> bool:
        walked = 0
        while walked < len(course.routes) <= MAX_ROUTES:
            if not self._walked(
                ev,
                course,
                list(course.routes)[walked],
                own=walked == 0 and type(course.function.node) is not LAMBDA,
            ):
                return False
            walked += 1
        return walked == len(course.routes)

    def _walked(self, ev: Evaluator, course: Course, route: Route, own: bool) -> bool:
        """Follow what stands for a function under one name; False where it may be lost from view.
        Under its `own` name there may be others.
        """
        uses = self._uses_of(ev, course.function.module, route, own)
        if uses is None or any([self._given_away(ev, one) for one in uses]):
            return False
        for use in uses:
            if (own or route[1] is None) and not self._may_hold(ev, course, use, own):
                continue
            if not self._placed(ev, course, use):
                return False
        return True

    def _uses_of(self, ev: Evaluator, module: Module, route: Route, own: bool) -> list[Use] | None:
        """Where what has a name is used as a value; None where that cannot be told."""
        name, around, attribute = route
        seen: set[ast.AST] = set()
        uses: list[Use] = []
        for row in module.source.rows_using(name):
            if around is not None and not around.lineno <= row <= around.end_lineno:
                continue
            statements = module.statements_at(row)
            if not statements:
                if any([_uses(name, one, module) for one, _ in module.expressions(row, ev)]):
                    return None
            elif statements[-1] not in seen:
                seen.add(statements[-1])
                more = self._uses_in(ev, module, route, own, statements)
                if more is None:
                    return None
                uses += more
        return uses

    def _uses_in(
        self, ev: Evaluator, module: Module, route: Route, own: bool, statements: list[ast.stmt]
    ) -> list[Use] | None:
        """Where one statement uses it."""
        name, around, attribute = route
        holders, named = _around(module, statements[-1])
        uses: list[Use] = []
        for node in named.get(name, ()):
            holder = holders[node]
            if (
                type(node.ctx) is not ast.Load
                or (type(node) is ATTRIBUTE) is not attribute
                and not (own and _in_class(statements))
            ):
                continue
            if type(holder) is CALL and holder.func is node:
                continue
            use = self._use(ev, node, statements, holders, module)
            if use is not None:
                uses.append(use)
            elif module.scope_of_row(node.lineno, ev) is not None:  # else it never runs
                return None
        return uses

    def _use(
        self,
        ev: Evaluator,
        node: Any,
        statements: list[ast.stmt],
        holders: dict[Any, Any],
        module: Module,
    ) -> Use | None:
        """Where a name stands as a value; None where the walk has noted nothing that is computed
        there.
        """
        noted = module.expressions(node.lineno, ev)
        top: Any = node
        chain: set[Any] = {node}
        while top in holders and holders[top] is not statements[-1]:
            top = holders[top]
            chain.add(top)
        chain.add(statements[-1].__dict__.get("combined"))  # `x += f(y)`, as it was noted
        for expression, point in noted:
            if expression in chain:
                return Use(node, statements, holders, point)
        # a default of its parameters
        defined = (
            module.functions.get(statements[-1]) if type(holders[node]) is ast.arguments else None
        )
        return Use(node, statements, holders, defined.point) if defined is not None else None

    def _given_away(self, ev: Evaluator, use: Use) -> bool:
        """Whether reading tells that it is lost from view, before anything is evaluated:
        `return f`, `tf.while_loop(test, f, x)`.
        """
        holder: Any = use.around[use.node]
        if type(holder) is not CALL:
            return isinstance(holder, ast.Return)
        if _is_fallback(holder, use.node):
            return False
        name = resolution.resolve(ev, holder.func, use.point)
        if name is None:
            return _of_others(holder, use.point.module)
        row = ev.table.get(name)
        return (
            use.node not in holder.args[:1]
            and row is not None
            and name not in _ASKED
            and row.name not in _KEEPING
            and not row.applies
        )

    def _may_hold(self, ev: Evaluator, course: Course, use: Use, own: bool) -> bool:
        """Whether what stands under a name may be, or hold, the function that is followed."""
        value = ev.evaluate(use.node, use.point)
        if value.obj is not None:
            return _holds(value.obj, course.function.node)
        if own:
            return any(
                [
                    _holds(one.obj, course.function.node)
                    for one in callers.alternatives(ev, use.node, use.point)
                ]
            )
        return not value.known and value.kind not in _PLAIN

    # What becomes of it in an expression

    def _placed(self, ev: Evaluator, course: Course, use: Use) -> bool:
        """Note what becomes of a function that stands in an expression; False where it is lost
        from view.
        """
        node, part = use.node, use.node
        while True:
            holder: Any = use.around.get(node)
            if holder is use.statement or holder is None:
                return self._kept_as(ev, course, use, node, part)
            if type(holder) is KEYWORD:
                node, holder = holder, use.around[holder]
            if type(holder) is CALL:
                verdict = self._called_with(ev, course, use, holder, node)
            elif type(holder) is ast.arguments:
                return _kept_as_default(course, use.around[holder], node)
            elif type(holder) is ast.comprehension:
                if holder.iter is node:
                    _add_names(course, holder.target, use.around[holder])
                return True
            else:
                verdict = _within(holder, node)
            if verdict != _ON:
                return verdict == _DONE
            node, part = holder, node

    def _called_with(
        self, ev: Evaluator, course: Course, use: Use, call: ast.Call, node: Any
    ) -> int:
        """What becomes of it in a call: it is called there, or handed over."""
        if call.func is node:
            if type(node) is ATTRIBUTE and node is not use.node:
                return _ON if leaf(node) in _LOOKING else _DONE
            course.unnamed[call] = use.point
            return _DONE
        if _is_fallback(call, node):
            return _ON
        if (
            _of_others(call, use.point.module)
            and resolution.resolve(ev, call.func, use.point) is None
        ):
            loss = (
                node.value
                if leaf(call.func) == "compile" and type(node) is KEYWORD and node.arg == "loss"
                else None
            )
            return (
                _DONE
                if loss is not None and self._handed_by_keras(ev, course, loss, use.point)
                else _LOST
            )
        row, name = resolution.row(ev, call.func, use.point)
        first = bool(call.args) and call.args[0] is node
        if name == "functools.partial":
            course.partial = True
            return _ON if first else _LOST
        if name in _ASKED:
            return _DONE
        if first and len(call.args) > 1 and subexpressions.goes_through(ev, call, use.point):
            return _DONE if self._through_elements(ev, course, call, use.point) else _LOST
        if row is not None and row.applies:
            return self._applied(ev, course, use, row, call, node)
        if row is not None:
            return _ON if row.name in _KEEPING else _LOST
        if (
            type(call.func) is ATTRIBUTE
            and call.func.attr in _STORING
            and ev.evaluate(call.func.value, use.point).kind == "sequence"
        ):
            return _DONE if _add_target(course, call.func.value, use.statements) else _LOST
        return _DONE if self._handed_over(ev, course, use, call, node) else _LOST

    def _handed_by_keras(self, ev: Evaluator, course: Course, loss: ast.expr, point: Point) -> bool:
        """What a partial that is a loss of `compile` is called with, besides labels and
        predictions.
        """
        arguments: list[Binding] = [Fixed(unknown()), Fixed(unknown())]
        value = ev.evaluate(loss, point)
        for option in (
            value.obj
            if isinstance(value.obj, tuple)
            else value.obj.values()
            if isinstance(value.obj, dict)
            else (value,)
        ):
            target = option.obj
            if not isinstance(target, Bound) or not isinstance(target.function, Function):
                return False
            if target.function.node is course.function.node:
                course.handed.append(
                    callables.bind_parameters(
                        course.function, target.args + arguments, target.keywords
                    )
                )
        return True

    def _applied(
        self, ev: Evaluator, course: Course, use: Use, row: Op, call: ast.Call, node: Any
    ) -> int:
        """What becomes of it in an op or a layer that calls it with values: these are noted."""
        if not row.name.startswith(LAYERS):
            return _DONE if self._applied_by_op(ev, course, call, use.point) else _LOST
        holder: Any = use.around.get(call)
        if type(holder) is CALL and holder.func is call:
            course.unnamed[holder] = use.point
            return _DONE
        arriving = _arriving_in_model(ev, call, holder, use)
        if arriving is None:
            return _ON
        return _DONE if self._note_handed(ev, course, node, use.point, [arriving]) else _LOST

    def _applied_by_op(self, ev: Evaluator, course: Course, call: ast.Call, point: Point) -> bool:
        """Note what an op hands to it in its last round, which holds for any; False where the op
        does not call it.
        """
        site = ev.site(call, point)
        if site is None:
            return False
        noting = NotingSite(site)
        noting.give()
        calls = [
            (callee, values)
            for callee, values in noting.handed
            if _holds(callee.obj, course.function.node, 0)
        ]
        if not calls:
            return False
        callee, values = calls[-1]
        course.calls.append((call, point))
        return self._note_bound(ev, course, callee, [Fixed(value) for value in values])

    def _note_handed(
        self, ev: Evaluator, course: Course, argument: Any, point: Point, handed: list[Binding]
    ) -> bool:
        """Note what is handed to it where it stands as an argument."""
        written = argument.value if type(argument) is KEYWORD else argument
        return self._note_bound(ev, course, ev.evaluate(written, point), handed)

    def _note_bound(
        self, ev: Evaluator, course: Course, callee: Value, handed: list[Binding]
    ) -> bool:
        """Note what is handed to a value that is it, or a partial of it."""
        target, keywords = callee.obj, dict[str, Binding]()
        if isinstance(target, Bound):
            handed, keywords, target = target.args + handed, target.keywords, target.function
        if not isinstance(target, Function) or target.node is not course.function.node:
            return False
        course.handed.append(callables.bind_parameters(course.function, handed, keywords))
        return True

    def _through_elements(
        self, ev: Evaluator, course: Course, call: ast.Call, point: Point
    ) -> bool:
        """`map(f, xs)`: each element is handed to the function."""
        if course.partial or any([isinstance(one, ast.Starred) for one in call.args]):
            return False
        elements: list[Binding] = [Iterated(Assigned(one, point)) for one in call.args[1:]]
        course.calls.append((call, point))
        course.handed.append(
            callables.bind_parameters(
                course.function, self._leading(ev, course.function) + elements, {}
            )
        )
        return True

    def _leading(self, ev: Evaluator, function: Function) -> list[Binding]:
        """The instance that a method gets first."""
        return (
            [Fixed(Value(kind="instance", obj=Instance(function.owner)))]
            if function.bound and function.owner is not None
            else []
        )

    def _handed_over(
        self, ev: Evaluator, course: Course, use: Use, call: ast.Call, node: ast.AST
    ) -> bool:
        """Note the parameters of the functions of this file that it is handed to."""
        callee = resolution.callee(ev, call.func, use.point)
        target = callee.obj if callee is not None else None
        argument = node.value if isinstance(node, ast.keyword) else node
        for option in (
            target.options
            if isinstance(target, Choice)
            else (callee,)
            if callee is not None
            else ()
        ):
            if not self._received_by(ev, course, option, call, argument, use.point):
                return False
        return target is not None

    def _received_by(
        self,
        ev: Evaluator,
        course: Course,
        callee: Value,
        call: ast.Call,
        argument: ast.AST,
        point: Point,
    ) -> bool:
        """Note the parameter of one callee that gets it, or the field of a dataclass."""
        target = callee.obj
        positional, keywords, complete = ev.arguments(call, point)
        if not complete:
            return False
        leading: list[Binding] = []
        if isinstance(target, ClassObject) and ev.method(target, "__init__") is None:
            fields = {**dict(zip(target.fields, positional)), **keywords}
            return _note_parameter(course, fields, argument, None, attribute=True)
        if isinstance(target, ClassObject):
            target, leading = ev.method(target, "__init__"), [Fixed(unknown())]
        elif isinstance(target, Instance):
            target, leading = (
                ev.method(target.cls, "__call__") or ev.method(target.cls, "call"),
                [Fixed(unknown())],
            )
        elif isinstance(target, Bound):
            target, leading = target.function, target.args
        if (
            not isinstance(target, Function)
            or target.module is not course.function.module
            or not target.transparent
        ):
            return False
        return _note_parameter(
            course,
            callables.bind_parameters(target, leading + positional, keywords),
            argument,
            target.node,
        )

    def _kept_as(self, ev: Evaluator, course: Course, use: Use, node: Any, part: ast.AST) -> bool:
        """Note the names that a statement gives to a value, of which it is a `part`."""
        statement = use.statement
        kind = type(statement)
        if kind is ast.Assign:
            return all(
                [
                    _add_target(course, _matching(one, node, part), use.statements)
                    for one in statement.targets
                ]
            )
        if kind in _GIVING:
            return _add_target(course, statement.target, use.statements)
        return kind in _ASKING

    # What its calls hand over

    def _handed_along(self, ev: Evaluator, course: Course) -> bool:
        """Note what the calls hand over that were found on the way; False where one cannot be
        read.
        """
        for call, point in {
            **self._calls_by_name(ev, course),
            **self._calls_without_name(ev, course),
        }.items():
            bound = self._handed_at(ev, course, call, point)
            if bound is None:
                return False
            course.handed += bound
            course.calls += [(call, point)] if bound else []
        return True

    def _calls_by_name(self, ev: Evaluator, course: Course) -> dict[ast.Call, Point]:
        """The calls of the names under which it goes on."""
        calls: dict[ast.Call, Point] = {}
        function = course.function
        for name, around, attribute in course.routes:
            if name == function.name:
                continue
            modules = (
                callers.modules_with_calls(ev, function, name)
                if around is None and not attribute
                else (function.module,)
            )
            for module in modules:
                calls.update(
                    [
                        (call, point)
                        for call, point in module.calls_to(name, ev)
                        if (type(call.func) is ATTRIBUTE) is attribute
                        and (around is None or around.lineno <= call.lineno <= around.end_lineno)
                    ]
                )
        return calls

    def _calls_without_name(self, ev: Evaluator, course: Course) -> dict[ast.Call, Point]:
        """The calls of what has no name, `LOSSES[kind](x)`, where each stands."""
        return {
            one: there
            for call, point in course.unnamed.items()
            for whole, at in course.function.module.expressions(call.lineno, ev)
            if at.time == point.time
            for one, there in ev.calls_in(whole, leaf(call.func), at)
            if one is call
        }

    def _handed_at(
        self, ev: Evaluator, course: Course, call: ast.Call, point: Point
    ) -> list[dict[str, Binding]] | None:
        """What a call hands to the function that is followed; [] where it runs another one, None
        where it cannot be told what it hands over.
        """
        function = course.function
        callee = resolution.callee(ev, call.func, point)
        if callee is not None and callee.obj is not None:
            bound = ev.arguments_at(function, call, point)
            return [bound] if bound is not None else []
        if point.module is not function.module or callee is not None and callee.known:
            return []
        if course.partial:
            return None
        positional, keywords, complete = ev.arguments(call, point)
        return [
            callables.bind_parameters(
                function, self._leading(ev, function) + positional, keywords, hidden=not complete
            )
        ]


def _arriving_in_model(ev: Evaluator, layer: ast.Call, holder: Any, use: Use) -> Binding | None:
    """What arrives at a layer that stands in a list of those of a Sequential model, or is added to
    one: what the layers before it give. None where it stands elsewhere.
    """
    outer = use.around.get(holder)
    if type(holder) is CALL and type(holder.func) is ATTRIBUTE and holder.func.attr == "add":
        model = ev.evaluate(holder.func.value, use.point)
        return Fixed(ev.call_with(model, [unknown("tensor")])) if model.kind == "model" else None
    if (
        type(holder) not in SEQUENCES
        or type(outer) is not CALL
        or leaf(outer.func) != "Sequential"
        or holder not in outer.args[:1]
    ):
        return None
    value = unknown("tensor")
    for before in holder.elts[: holder.elts.index(layer)]:
        callee = ev.evaluate(before, use.point)
        value = value if is_input(callee) else ev.call_with(callee, [value])
    return Fixed(value)


def _uses(name: str, expression: ast.AST, module: Module) -> list[ast.expr]:
    """Where an expression of a file uses what ends in a name as a value, and does not call it. A
    long one, which may hold thousands of functions, is put in order by the names.
    """
    by_name = module.used.get(expression)
    if by_name is not None:
        return by_name.get(name, [])
    nodes: list[Any] = nodes_in(expression)
    if len(nodes) > _MANY_NODES:
        by_name = module.used[expression] = _by_name(nodes)
        return by_name.get(name, [])
    references = [node for node in nodes if leaf(node) == name]
    if not references:
        return references
    called = {id(node.func) for node in nodes if type(node) is CALL}
    return [node for node in references if id(node) not in called]


def _by_name(nodes: list[Any]) -> dict[str, list[ast.expr]]:
    """Of the nodes of an expression those that are no callees, by the names in which they end."""
    called = {id(node.func) for node in nodes if type(node) is CALL}
    by_name: dict[str, list[ast.expr]] = {}
    for node in nodes:
        if (name := leaf(node)) and id(node) not in called:
            by_name.setdefault(name, []).append(node)
    return by_name


def _around(module: Module, statement: ast.stmt) -> tuple[dict[Any, Any], dict[str, list[Any]]]:
    """What stands around each node that a statement of a file holds itself, and not the statements
    in it; and those of the nodes that end in a name, by it. Kept for the largest of the last that
    were asked for, which may hold thousands of functions.
    """
    kept = module.held_by
    if kept is not None and kept[0] is statement:
        return kept[1:]
    parents: dict[Any, Any] = {}
    named: dict[str, list[Any]] = {}
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        for part in parts_of(node):
            if not isinstance(part, (ast.stmt, ast.ExceptHandler, ast.match_case)):
                parents[part] = node
                stack.append(part)
                if name := leaf(cast(ast.expr, part)):
                    named.setdefault(name, []).append(part)
    if kept is None or len(parents) >= len(kept[1]):
        module.held_by = statement, parents, named
    return parents, named


def _of_others(call: ast.Call, module: Module) -> bool:
    """Whether what a call runs is no function of its file, as its name says: `dataset.map(f)`."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return (
        bool(name)
        and name not in _STORING
        and not module.source.codes(f"def {name}(")
        and not module.source.codes(f"class {name}")
    )


def _is_fallback(call: ast.Call, node: ast.AST) -> bool:
    """Whether a function is what a dict gives for a name that it does not hold:
    `HANDLERS.get(name, f)`.
    """
    return (
        isinstance(call.func, ast.Attribute)
        and call.func.attr in _LOOKING
        and len(call.args) == 2
        and call.args[1] is node
    )


def _holds(held: Any, node: ast.AST, depth: int = 4) -> bool:
    """Whether a function is, or is in, the object of a value."""
    if isinstance(held, Function):
        return held.node is node
    if isinstance(held, Bound):
        return _holds(held.function, node, depth)
    if depth == 0:
        return True
    if isinstance(held, Many):
        held = (held.element,)
    elif isinstance(held, Choice):
        held = held.options
    elif isinstance(held, dict):
        held = tuple(held.values())
    elif not isinstance(held, tuple):
        return False
    return any(
        [
            one.obj is None
            and one.kind == "unknown"
            and not one.known
            or _holds(one.obj, node, depth - 1)
            for one in held
        ]
    )


def _outermost(function: Function) -> Any:
    """The outermost function around another one; None for one that is known in the whole file."""
    point, outermost = function.point if function.owner is None else None, None
    while point is not None:
        outermost = point.scope.function.node if point.scope.function is not None else outermost
        point = point.scope.parent
    return outermost


def _within(holder: Any, node: ast.AST) -> int:
    """What becomes of a function in an expression around it that is no call."""
    kind = type(holder)
    if kind in _WHOLE or kind in _COMPREHENSIONS:
        return _ON
    if kind is ast.Dict:
        return _ON if node in holder.values else _LOST
    if kind is ast.IfExp:
        return _DONE if holder.test is node else _ON
    if kind is SUBSCRIPT:
        return _LOST if holder.value is not node else _ON if type(holder.ctx) is ast.Load else _DONE
    if kind is ATTRIBUTE:
        return (
            _ON
            if holder.attr in _LOOKING
            else _DONE
            if holder.attr in _CHANGING or holder.attr.startswith("__")
            else _LOST
        )
    if kind is ast.BinOp:
        return _ON if type(holder.op) is ast.Add else _LOST
    return _DONE if kind in _TESTING else _LOST


def _add_names(course: Course, target: ast.AST, around: ast.AST) -> None:
    """The names of a target that stand for what is followed in one expression."""
    for node in nodes_in(target):
        if isinstance(node, ast.Name):
            course.routes[node.id, around, False] = None


def _matching(target: Any, value: Any, part: ast.AST) -> ast.expr:
    """The target that one part of a value is assigned to: `self.model, self.loss = model, loss`."""
    if (
        type(target) in SEQUENCES
        and type(value) in SEQUENCES
        and len(target.elts) == len(value.elts)
    ):
        if not any([isinstance(one, ast.Starred) for one in target.elts + value.elts]):
            return target.elts[value.elts.index(part)]
    return target


def _add_target(course: Course, target: ast.expr, statements: list[ast.stmt]) -> bool:
    """Note the names that a target of an assignment gives to what is followed; False where it is
    none that can be followed.
    """
    if type(target) is SUBSCRIPT:
        return _add_target(course, target.value, statements)
    if type(target) in SEQUENCES:
        return all([_add_target(course, one, statements) for one in getattr(target, "elts", ())])
    if isinstance(target, ast.Attribute):
        course.routes[target.attr, None, True] = None
        return True
    if not isinstance(target, ast.Name):
        return False
    outer = [one for one in statements[:-1] if type(one) in _FUNCTIONS]
    shared = target.id in course.function.module.scope.shared
    course.routes[target.id, outer[0] if outer and not shared else None, _in_class(statements)] = (
        None
    )
    return True


def _in_class(statements: list[ast.stmt]) -> bool:
    """Whether the last of some statements, of which each holds the next, stands in the body of a
    class.
    """
    inner = [
        isinstance(one, ast.ClassDef)
        for one in statements[:-1]
        if type(one) in _FUNCTIONS or isinstance(one, ast.ClassDef)
    ]
    return bool(inner) and inner[-1]


def _kept_as_default(course: Course, holder: Any, node: ast.AST) -> bool:
    """A default of a parameter: `def fit(x, loss_fn=mse)`."""
    names = [
        name for name, default in callables.signature_of(holder.args)[2].items() if default is node
    ]
    course.routes.update([((name, holder, False), None) for name in names])
    return bool(names)


def _note_parameter(
    course: Course,
    bound: dict[str, Binding],
    argument: ast.AST,
    around: ast.AST | None,
    attribute: bool = False,
) -> bool:
    """Note the parameters that are bound to what stands at a node, or hold it."""
    names = [
        name
        for name, binding in bound.items()
        for one in _bindings_in(binding)
        if isinstance(one, Assigned) and one.node is argument
    ]
    course.routes.update([((name, around, attribute), None) for name in names])
    return bool(names)


def _bindings_in(binding: Binding) -> list[Binding]:
    """An argument, or those that `*args` or `**kwargs` collect."""
    if isinstance(binding, Starred):
        return binding.items
    return list(binding.items.values()) if isinstance(binding, Collected) else [binding]
