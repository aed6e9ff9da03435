"""Where what a function computes goes: into comparisons and summaries only, or on to callers."""

from __future__ import annotations

import ast
import builtins
import itertools
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Callable, Final

from tfnanlint.conventions.files import holds_tests
from tfnanlint.conventions.identifiers import is_session
from tfnanlint.conventions.roles import (
    is_summary,
    is_untrained_class,
    makes_object,
    takes_training_step,
)
from tfnanlint.ops.frameworks import FETCHES, PREDICT_METHODS, SINKS, SUMMARIES
from tfnanlint.ops.steps import loss_of_step
from tfnanlint.ops.traits import COMPARISON_NAMES, NAN_TEST_NAMES, ORDER_NAMES, VARIABLES
from tfnanlint.program.flowgraph import Definition, FlowGraph, Use
from tfnanlint.program.functions import Function
from tfnanlint.program.scope import Assigned, Point, Scope
from tfnanlint.syntax.access_paths import leaf, path_of
from tfnanlint.syntax.nodes import (
    ATTRIBUTE,
    CALL,
    COMPARE,
    NAME,
    SUBSCRIPT,
    nodes_in,
    parts_of,
)

if TYPE_CHECKING:
    from tfnanlint.interp.engine import Engine
    from tfnanlint.program.module import Module

# Of logits, of which -Inf is one like any other.
DRAWS: Final = frozenset(("categorical", "multinomial"))
# What asks how a value stands to others, and gives no part of it on: -Inf is a right answer to
# these, NaN is "no".
COMPARISONS = (COMPARISON_NAMES | NAN_TEST_NAMES | DRAWS) | frozenset(
    "isclose shape size rank zeros_like ones_like "
    "assert_less assert_less_equal assert_greater assert_greater_equal "
    "assert_equal assert_near".split()
)
RANKINGS: Final = DRAWS | {"argmax", "argmin", "argsort"}
# What makes a variable: it only starts with what it is given.
_STARTED: Final = frozenset(name.rpartition(".")[2] for name in VARIABLES)
# What lets no gradient back, too.
CUTS: Final = (
    COMPARISONS
    | _STARTED
    | frozenset(
        "argmax argmin argsort searchsorted sorted sign round floor floordiv floor_div ceil int "
        "bool in_top_k add_metric update_state bernoulli sample_bernoulli non_max_suppression "
        "one_hot to_int32 to_int64 numpy eval stop_gradient assign assign_add assign_sub "
        "scatter_add scatter_sub scatter_update scatter_nd_update".split()
    )
)
# What puts a number on the screen; a rewritten one would no longer be what its label says.
PRINTS: Final = frozenset(("print",))
# What hands no gradient back where it is given 0: 2 * 0 and sign(0) are 0, and so is 0 / norm.
_FLAT_AT_ZERO = frozenset("abs square norm l2_loss".split())
# What is 0 at -Inf, and hands back a gradient of 0 there.
_ABSORBING = frozenset("exp softplus sigmoid".split())
_ASKED: Final = frozenset("shape dtype name ndim".split())
_CASTS = frozenset("cast saturate_cast astype".split())
_WHOLE = re.compile(r"u?int\d*|bool")
# Functions that see the names of the one that calls them.
LOOKUPS: Final = frozenset("locals vars eval exec dir".split())
_CROWD: Final = 16  # expressions on one row, of which each is asked whether it holds a node
_MAX_RETURNS = 4  # functions that hand a value back to each other
BODIES: Final = frozenset((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))


def _names_read(function: ast.AST) -> frozenset[str]:
    """The names that a function reads; where it returns no value it is a part of a program, of
    which the rest is not shown and may look at all names.
    """
    inner = nodes_in(function)
    if not any([type(part) is ast.Return and part.value is not None for part in inner]):
        return LOOKUPS
    names = {part.id for part in inner if type(part) is NAME and type(part.ctx) is ast.Load}
    names |= {path_of(part.target) or "" for part in inner if isinstance(part, ast.AugAssign)}
    for part in inner:
        if isinstance(part, (ast.Global, ast.Nonlocal)):
            names |= set(part.names)
    return frozenset(names)


def _only_losses(tree: ast.AST) -> frozenset[str]:
    """The names of a script that nothing reads but a step of training of TensorFlow 1 that is made
    and never run: `step = optimizer.minimize(loss)`.
    """
    inner = nodes_in(tree)
    read = Counter(
        part.id for part in inner if type(part) is NAME and type(part.ctx) is ast.Load
    ) + Counter(path_of(part.target) for part in inner if isinstance(part, ast.AugAssign))
    if any(read[name] for name in (*LOOKUPS, "globals")):
        return frozenset()
    losses = Counter(
        loss.id
        for part in inner
        if isinstance(part, ast.Assign) and all(_is_unread(one, read) for one in part.targets)
        if type(loss := loss_of_step(part.value)) is NAME
    )
    return frozenset(name for name, count in losses.items() if read[name] == count)


def _is_unread(target: ast.expr, read: Counter[Any]) -> bool:
    return type(target) is NAME and not read[target.id]


class Endings:
    """What the statements of a scope assign, and where that goes: found once, for the questions of
    every site in it.
    """

    def __init__(self, scope: Scope, module: Module):
        self._found_shown: dict[ast.AST, bool] | None = None
        self._found_returned: set[ast.AST | None] | None = None
        self._found_on_row: dict[int, list[ast.AST]] | None = None
        self._found_flow: FlowGraph | None = None
        self._found_times: dict[ast.AST, int] | None = None
        self._found_calls: dict[str, int] | None = None
        self._names_read: frozenset[str] | None = None
        self._found_only_losses: frozenset[str] | None = None
        self._scope = scope
        self._module = module
        self._rows: dict[int, list[tuple[str, ast.AST]]] = {}
        self._inside: dict[ast.AST, dict[ast.AST, ast.AST]] = {}
        # of rows with many expressions: in which of them each node stands, and under which names
        self._crowded: dict[int, dict[ast.AST, ast.AST]] = {}
        self._named_on: dict[int, dict[ast.AST, list[tuple[str, ast.AST]]]] = {}
        self._onward: dict[tuple[frozenset[str], bool], set[Definition]] = {}
        for path, entry in scope.history.items():
            for binding in entry.bindings():
                if (
                    isinstance(binding, Assigned)
                    and binding.point.scope is scope
                    and hasattr(binding.node, "lineno")
                ):
                    for row in range(
                        binding.node.lineno, (binding.node.end_lineno or binding.node.lineno) + 1
                    ):
                        self._rows.setdefault(row, []).append((path, binding.node))

    def _outer(self, whole: ast.AST) -> dict[ast.AST, ast.AST]:
        """For each node inside of an expression the one directly around it; the expression stands
        around itself.
        """
        parents = self._inside.get(whole)
        if parents is None:
            parents = self._inside[whole] = {whole: whole}
            queue = [whole]
            for node in queue:  # it grows on the way
                for part in parts_of(node):
                    if part not in parents:
                        parents[part] = node
                        queue.append(part)
        return parents

    def _above(self, whole: ast.AST, node: ast.AST) -> list[tuple[ast.AST, ast.AST]]:
        """(expression, the part of it that holds `node`) from `whole` inwards."""
        around = self._outer(whole)
        path: list[tuple[ast.AST, ast.AST]] = []
        while node is not whole and node in around:
            path.append((around[node], node))
            node = around[node]
        path.reverse()
        return path

    @property
    def certain_calls(self) -> dict[str, int]:
        """The names, but for Python's own, that the statements of a function call whatever happens
        before them, in order, each with the row where that is first done.
        """
        if self._found_calls is None:
            self._found_calls = _certain_calls(getattr(self._scope.node, "body", ()))
        return self._found_calls

    @property
    def _shown(self) -> dict[ast.AST, bool]:
        if self._found_shown is None:
            self._found_shown = self._find_shown()
        return self._found_shown

    def _find_shown(self) -> dict[ast.AST, bool]:
        """For each expression that is assigned to a name: whether every way from there ends in a
        summary. Last statement first, so that what reads a name is known before what writes it.
        """
        summarized: dict[ast.AST, bool] = {}
        ways: dict[str, set[bool]] = {}  # by name: how what the later statements make of it ends
        for node, _ in sorted(self._scope.statements, key=lambda statement: -statement[0].lineno):
            into = self.assigned(node)
            shown = (
                into
                if into is not None
                else self._module.source.segment(node)
                if node in self._module.discarded
                else ""
            )
            if is_summary(shown):
                ends = {True}
            else:
                ends = (
                    set(ways.get(into, ())) if into is not None and into.isidentifier() else {False}
                )
            summarized[node] = ends == {True}
            for name in {inner.id for inner in nodes_in(node) if type(inner) is NAME}:
                ways.setdefault(name, set()).update(ends)
        return summarized

    def only_shown(self, node: ast.AST) -> bool:
        """Whether the name that an expression is assigned to goes into summaries only."""
        return any(self._shown.get(whole, False) for _, whole in self._named(node))

    def paths(self, node: ast.AST) -> set[str]:
        """The names and attributes that are assigned an expression with `node` in it."""
        return {path for path, _ in self._named(node)}

    def _named(self, node: ast.AST) -> list[tuple[str, ast.AST]]:
        """The expressions around a node that are assigned, each with what it is assigned to."""
        on_row = self._rows.get(node.lineno, [])
        if len(on_row) <= _CROWD:
            return [pair for pair in on_row if node in self._outer(pair[1])]
        named = self._named_on.get(node.lineno)
        if named is None:
            named = self._named_on[node.lineno] = {}
            for pair in on_row:
                for part in self._outer(pair[1]):
                    named.setdefault(part, []).append(pair)
        return named.get(node, [])

    def assigned(self, node: ast.AST) -> str | None:
        """The one path that the statement around an expression assigns;
        None for several or none.
        """
        paths = self.paths(node)  # a branch and what follows it may hold one binding both
        return paths.pop() if len(paths) == 1 else None

    def stored(self, node: ast.AST) -> tuple[str, list[tuple[ast.AST, ast.AST]]]:
        """The one path that the statement around an expression assigns, with what stands around the
        expression in it, as (expression, the part of it that holds `node`); "" for several or none.
        """
        named = self._named(node)
        if len({path for path, _ in named}) != 1:
            return "", []
        path, whole = named[0]
        return path, self._above(whole, node)

    def route(self, node: ast.AST) -> tuple[ast.AST | None, list[tuple[ast.AST, ast.AST]]]:
        """The expression of a statement that holds a node, and what stands around the node in it as
        (expression, the part of it that holds the node), outermost first.
        """
        whole = next(iter(self._around(node)), None)
        return whole, self._above(whole, node) if whole is not None else []

    def is_cut(self, whole: ast.AST, node: ast.AST) -> bool:
        """Whether no gradient comes back to a node from the expression that holds it."""
        return self._ends(whole, node, CUTS, returned=False)

    def may_train(self, whole: ast.AST, node: ast.AST) -> bool:
        """Whether the expression around a node takes a gradient of it, or may."""
        above = self._above(whole, node)
        return _taken(above) or _differentiated(above)

    def is_unread(self, node: ast.AST) -> bool:
        """Whether a function that returns something else assigns an expression to a name of its own
        that nothing in it reads, by its name or by a look at all names (`locals()`).
        """
        path, function = self.assigned(node), self._scope.node
        if path is None or not path.isidentifier():
            return False
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False
        if self._names_read is None:
            self._names_read = _names_read(function)
        return self._names_read.isdisjoint((path, *LOOKUPS))

    def is_only_loss(self, node: ast.AST) -> bool:
        """Whether a script assigns an expression to a name that is read for nothing but a step of
        training that is never run.
        """
        path, tree = self.assigned(node), self._scope.node
        if path is None or not isinstance(tree, ast.Module):
            return False
        if self._found_only_losses is None:
            self._found_only_losses = _only_losses(tree)
        project = self._module.project
        return path in self._found_only_losses and not (
            project is not None and project.may_read(self._module.source.path, path)
        )

    def only_into(self, node: ast.AST, calls: frozenset[str], returned: bool = False) -> bool:
        """Whether every way from an expression ends in a comparison, or in a call of one of
        `calls`, or is `returned`.
        """
        whole = next(iter(self._around(node)), None)
        if whole is None:
            return False
        above = self._above(whole, node)
        if _taken(above) or _differentiated(above):
            return False
        if self._ends(whole, node, calls, returned):
            return True
        definitions = self.flow.made.get(whole, ())
        return any(one.uses or one.is_dead for one in definitions) and self._going_on(
            calls, returned
        ).isdisjoint(definitions)

    def _ends(self, whole: ast.AST, node: ast.AST, calls: frozenset[str], returned: bool) -> bool:
        above = self._above(whole, node)
        if calls is CUTS and _differentiated(above):
            return False  # `w.assign_sub(rate * tape.gradient(loss, w))`
        return (
            returned
            and whole in self._returned
            or _ends(above, calls)
            or calls is CUTS
            and self._ranked(whole, node)
        )

    def _ranked(self, whole: ast.AST, node: ast.AST) -> bool:
        """Whether of the greatest values only the indices are read:
        `_, indices = tf.math.top_k(x)`.
        """
        pair = self.flow.made.get(whole, ())
        return (
            isinstance(whole, ast.Call)
            and leaf(whole.func) == "top_k"
            and node is not whole
            and len(pair) == 2
            and not pair[0].uses
        )

    @property
    def _returned(self) -> set[ast.AST | None]:
        if self._found_returned is None:
            self._found_returned = self._find_returned()
        return self._found_returned

    def _find_returned(self) -> set[ast.AST | None]:
        return {node for node, _ in self._scope.returns}

    @property
    def flow(self) -> FlowGraph:
        """The flow graph of the scope."""
        if self._found_flow is None:
            self._found_flow = FlowGraph(self._scope.node)
        return self._found_flow

    def _around(self, node: ast.AST) -> list[ast.AST]:
        """The expression of a statement that holds a node; [] where there is none."""
        on_row = self._on_row.get(node.lineno, [])
        if len(on_row) > _CROWD:
            whole = self._crowd(node.lineno, on_row).get(node)
            return [whole] if whole is not None else []
        holders = (one for one in on_row if node in self._outer(one))
        return list(itertools.islice(holders, 1))

    def _crowd(self, row: int, on_row: list[ast.AST]) -> dict[ast.AST, ast.AST]:
        """For each node on a row with many expressions the first that holds it."""
        holders = self._crowded.get(row)
        if holders is None:
            holders = self._crowded[row] = {}
            for whole in on_row:
                for part in self._outer(whole):
                    holders.setdefault(part, whole)
        return holders

    def _made(self, whole: ast.AST) -> list[Definition]:
        """The definitions that an expression is given to; [] where more is done with it."""
        return self.flow.made.get(whole, [])

    def _uses(self, whole: ast.AST) -> list[Use]:
        """Where the names are read that an expression is given to."""
        return [use for one in self.flow.made.get(whole, ()) for use in one.uses]

    def _uses_of_name(self, name: str) -> list[Use]:
        """Where any definition of a name is read."""
        return [use for one in self.flow.definitions.get(name, ()) for use in one.uses]

    @property
    def _on_row(self) -> dict[int, list[ast.AST]]:
        if self._found_on_row is None:
            self._found_on_row = self._find_on_row()
        return self._found_on_row

    def _find_on_row(self) -> dict[int, list[ast.AST]]:
        """The expressions that touch each row."""
        rows: dict[int, list[ast.AST]] = {}
        for expression, _ in self._scope.statements:
            for row in range(expression.lineno, (expression.end_lineno or expression.lineno) + 1):
                rows.setdefault(row, []).append(expression)
        return rows

    def tested_for_nan(self, node: ast.AST) -> bool:
        """Whether the name that an expression is assigned to, or made part of, is asked further
        down whether it is finite.
        """
        return any(
            isinstance(outer, ast.Call) and leaf(outer.func) in NAN_TEST_NAMES
            for whole in self._around(node)
            for use in self._uses(whole)
            for outer, _ in self._above(use.whole, use.node)
        )

    def only_straight(
        self, node: ast.AST, into_it: Callable[[list[tuple[ast.AST, ast.AST]]], bool]
    ) -> bool:
        """Whether every way from an expression goes straight into what a test of all (what stands
        around, a part of it) asks for.
        """
        whole = next(iter(self._around(node)), None)
        if whole is None:
            return False
        if whole is not node:
            return into_it(self._above(whole, node))
        uses = self._uses(whole)
        return bool(uses) and all(
            use.node is not use.whole
            and type(use.whole) not in BODIES
            and into_it(self._above(use.whole, use.node))
            for use in uses
        )

    def ways(self, node: ast.AST) -> list[tuple[ast.AST, list[tuple[ast.AST, ast.AST]]]]:
        """Where an expression goes: the expressions of statements that hold it, or the names that
        it is given to, each with what stands around it, outermost first. [] where it goes where
        that is not seen, or nowhere.
        """
        whole = next(iter(self._around(node)), None)
        if whole is None:
            return []
        if whole is not node:
            return [(whole, self._above(whole, node))]
        ways = [(use.whole, use.node) for use in self._uses(whole)]
        if node in self._returned or any(type(outer) in BODIES for outer, _ in ways):
            return []
        return [(outer, self._above(outer, inner)) for outer, inner in ways]

    @property
    def times(self) -> dict[ast.AST, int]:
        """When each expression of a statement is computed."""
        if self._found_times is None:
            self._found_times = {node: time for node, time in self._scope.statements}
        return self._found_times

    def only_returned(self, node: ast.AST) -> bool:
        """Whether an expression is returned as it is, at once or by the only name that it is
        assigned to, and nothing else reads it.
        """
        if node in self._returned:
            return True
        uses = self._uses(node)
        return bool(uses) and all(
            use.node is use.whole and use.node in self._returned for use in uses
        )

    def only_read_in(self, node: ast.AST, chosen: set[ast.AST]) -> bool:
        """Whether all that reads what an expression gives, or something made of it, stands among
        some `chosen` nodes.
        """
        queue = [definition for whole in self._around(node) for definition in self._made(whole)]
        if not queue:
            return False
        seen: set[Definition] = set()
        while queue:
            definition = queue.pop()
            if definition in seen:
                continue
            seen.add(definition)
            for use in definition.uses:
                if use.node in chosen:
                    continue
                definitions = self._made(use.whole)
                if not definitions or _taken(self._above(use.whole, use.node)):
                    return False
                queue += definitions
        return True

    def names(self, node: ast.AST) -> set[str]:
        """The names that hold what an expression gives, or something made of it."""
        queue = [definition for whole in self._around(node) for definition in self._made(whole)]
        held: set[Definition] = set()
        while queue:
            definition = queue.pop()
            if definition not in held:
                held.add(definition)
                queue += [made for use in definition.uses for made in self._made(use.whole)]
        return {definition.name for definition in held}

    def becomes_half(self, node: ast.AST) -> bool:
        """Whether a cast makes float16 of what an expression gives, or of something made of it."""
        around = self._around(node)
        if any(_halved(self._above(whole, node)) for whole in around):
            return True
        queue = [definition for whole in around for definition in self._made(whole)]
        seen: set[Definition] = set()
        while queue:
            definition = queue.pop()
            if definition in seen:
                continue
            seen.add(definition)
            for use in definition.uses:
                if type(use.whole) in BODIES:
                    continue
                if _halved(self._above(use.whole, use.node)):
                    return True
                queue += self._made(use.whole)
        return False

    def unread(self, node: ast.AST) -> bool:
        """Whether an expression is assigned to a name of this function that is never read."""
        return self._scope.function is not None and any(
            whole in self.flow.made and not self._uses(whole) for whole in self._around(node)
        )

    def only_run(self, name: str, attributes: frozenset[str]) -> bool:
        """Whether a name of this scope is called or made to predict, and besides only asked for
        some attributes: nothing else gets it.
        """
        uses = self._uses_of_name(name)
        if any(type(use.whole) in BODIES or use.whole is use.node for use in uses):
            return False
        outer = [self._above(use.whole, use.node)[-1][0] for use in uses]
        runs = [
            isinstance(one, ast.Call)
            and isinstance(one.func, ast.Name)
            and one.func.id == name
            or isinstance(one, ast.Attribute)
            and one.attr in PREDICT_METHODS
            for one in outer
        ]
        return any(runs) and all(
            run or isinstance(one, ast.Attribute) and one.attr in attributes
            for one, run in zip(outer, runs)
        )

    def _going_on(self, calls: frozenset[str], returned: bool) -> set[Definition]:
        """The definitions from which some way leads on: into an object, where it is not followed,
        or out of the function.
        """
        if (calls, returned) not in self._onward:
            into: dict[Definition, list[Definition]] = {}  # what leads into each
            queue: list[Definition] = []
            for definition in [one for found in self.flow.definitions.values() for one in found]:
                for use in definition.uses:
                    if self._use_ends(use, calls, returned):
                        continue
                    targets = self.flow.made.get(use.whole, ())
                    if not any(one.uses or one.is_dead for one in targets) or _taken(
                        self._above(use.whole, use.node)
                    ):
                        queue.append(definition)
                    for target in targets:
                        into.setdefault(target, []).append(definition)
            onward: set[Definition] = set()
            while queue:
                definition = queue.pop()
                if definition not in onward:
                    onward.add(definition)
                    queue += into.get(definition, ())
            self._onward[calls, returned] = onward
        return self._onward[calls, returned]

    def _use_ends(self, use: Use, calls: frozenset[str], returned: bool) -> bool:
        if type(use.whole) in BODIES or _differentiated(self._above(use.whole, use.node)):
            return False
        return self._ends(use.whole, use.node, calls, returned)


def endings_of(scope: Scope, module: Module) -> Endings:
    """The answers for one scope, found once."""
    if scope not in module.endings:
        module.endings[scope] = Endings(scope, module)
    return module.endings[scope]


def _certain_calls(body: Any) -> dict[str, int]:
    """The names that a block calls by itself, with the row of the first call of each."""
    rows: dict[str, int] = {}
    waiting = list(body)[::-1] if isinstance(body, list) else []
    while waiting:
        statement = waiting.pop()
        if isinstance(statement, ast.With):
            waiting += statement.body[::-1]
        elif (
            isinstance(statement, (ast.Assign, ast.Expr))
            and isinstance(statement.value, ast.Call)
            and isinstance(statement.value.func, ast.Name)
            and not hasattr(builtins, statement.value.func.id)
        ):
            rows.setdefault(statement.value.func.id, statement.lineno)
    return rows


def never_reached(site: Any) -> bool:
    """Whether a function calls, before it comes to a site and in every run, a name that is defined
    nowhere: it raises NameError there.
    """
    point = site.point
    if (
        point is None
        or point.over is not None
        or point.scope.function is None
        or point.scope.module.stars
    ):
        return False
    for name, row in endings_of(point.scope, point.module).certain_calls.items():
        if row >= site.node.lineno:
            return False
        if point.lookup(name) is None:
            return True
    return False


def goes_into(site: Any, interpreter: Engine, calls: frozenset[str]) -> bool:
    """Whether what a site gives only ends in comparisons and in `calls`, in its own function or in
    all that call this.
    """
    point = site.point
    return (
        point is not None
        and hasattr(site.node, "lineno")
        and _leads_into(site.node, point, interpreter, calls, _MAX_RETURNS)
    )


def _leads_into(
    node: ast.AST, point: Point, interpreter: Engine, calls: frozenset[str], depth: int
) -> bool:
    scope = point.scope
    is_script = scope.parent is None and calls is PRINTS
    if point.over is not None or scope.function is None and not is_script:
        return False
    endings = endings_of(scope, scope.module)
    if endings.only_into(node, calls):
        return not is_script or not _is_read_elsewhere(endings.names(node), scope.module)
    if (
        depth == 0
        or scope.function is None
        or not interpreter.session.sees_callers
        or not endings.only_into(node, calls, returned=True)
    ):
        return False
    if interpreter.escapes(scope.function):
        return False
    call_sites = calls_of(scope.function, interpreter)
    return bool(call_sites) and all(
        _leads_into(call, where, interpreter, calls, depth - 1) for call, where in call_sites
    )


def _is_read_elsewhere(names: set[str], module: Module) -> bool:
    """Whether another file of the project may read some names of a file."""
    project, path = module.project, module.source.path
    return project is not None and any([project.may_read(path, name) for name in sorted(names)])


def calls_of(function: Function, interpreter: Engine) -> list[tuple[ast.Call, Point]]:
    """The calls in the project that may be of a function, those of tests left out: they look at
    values.
    """
    call_sites = list(interpreter.call_sites(function))
    for base in interpreter.lineage(function.owner)[1:] if function.owner is not None else ():
        if base.module is not function.module:
            call_sites += [
                (call, point)
                for call, point in base.module.calls_to(function.name, interpreter)
                if interpreter.may_run(call, point, function)
            ]
    return [
        (call, point)
        for call, point in call_sites
        if not holds_tests(point.scope.module.source.path)
    ]


def flattened(site: Any, module: Module) -> bool:
    """Whether the gradient that comes back to what a site gives is 0 wherever that is 0: all that
    it goes into is flat there.
    """
    point = site.point
    if point is None or point.over is not None or not hasattr(site.node, "lineno"):
        return False
    return endings_of(point.scope, module).only_straight(site.node, _flattens)


def decides(site: Any, interpreter: Engine) -> bool:
    """Whether all that becomes of what a site gives is an element by element comparison, in its own
    function or in all that call this: Inf is a right answer there, NaN is "no".
    """
    point = site.point
    return (
        point is not None
        and hasattr(site.node, "lineno")
        and _decides(site.node, point, interpreter, _MAX_RETURNS)
    )


def _decides(node: ast.AST, point: Point, interpreter: Engine, depth: int) -> bool:
    function = point.scope.function
    if point.over is not None or function is None:
        return False
    endings = endings_of(point.scope, point.scope.module)
    if endings.only_straight(node, _compares):
        return True
    if (
        depth == 0
        or not interpreter.session.sees_callers
        or not endings.only_returned(node)
        or interpreter.escapes(function)
    ):
        return False
    call_sites = calls_of(function, interpreter)
    return bool(call_sites) and all(
        [_decides(call, where, interpreter, depth - 1) for call, where in call_sites]
    )


def becomes_half(site: Any) -> bool:
    """Whether a cast in its function makes float16 of what a site gives, or of something made of
    it.
    """
    point = site.point
    return (
        point is not None
        and point.over is None
        and hasattr(site.node, "lineno")
        and "float16" in point.scope.module.source.text
        and endings_of(point.scope, point.scope.module).becomes_half(site.node)
    )


def absorbed(site: Any) -> bool:
    """Whether all that becomes of what a site gives is 0 where that is -Inf, with a gradient of 0:
    it is added to something and that given to an exponential, a softplus or a sigmoid.
    """
    point = site.point
    return (
        point is not None
        and point.over is None
        and hasattr(site.node, "lineno")
        and endings_of(point.scope, point.scope.module).only_straight(site.node, _absorbs)
    )


def _absorbs(above: list[tuple[ast.AST, ast.AST]]) -> bool:
    for outer, inner in reversed(above):
        if not (isinstance(outer, ast.BinOp) and isinstance(outer.op, ast.Add)):
            return (
                isinstance(outer, ast.Call)
                and leaf(outer.func) in _ABSORBING
                and bool(outer.args)
                and outer.args[0] is inner
            )
    return False


def _compares(above: list[tuple[ast.AST, ast.AST]]) -> bool:
    outer, inner = above[-1]
    return (
        isinstance(outer, ast.Compare)
        or isinstance(outer, ast.Call)
        and inner is not outer.func
        and leaf(outer.func) in ORDER_NAMES
    )


def _flattens(above: list[tuple[ast.AST, ast.AST]]) -> bool:
    outer, inner = above[-1]
    if isinstance(outer, ast.Call):
        return leaf(outer.func) in _FLAT_AT_ZERO and bool(outer.args) and outer.args[0] is inner
    if not isinstance(outer, ast.BinOp):
        return False
    if isinstance(outer.op, ast.Mult):
        return ast.dump(outer.left) == ast.dump(outer.right)
    power = outer.right.value if isinstance(outer.right, ast.Constant) else None
    return (
        isinstance(outer.op, ast.Pow)
        and outer.left is inner
        and isinstance(power, (int, float))
        and power > 1
    )


def _ends(above: list[tuple[Any, ast.AST]], calls: frozenset[str]) -> bool:
    """Whether inside of an expression a part of it ends in a comparison or as an argument of one of
    `calls`, or is asked for its shape or dtype only. NaN in a comparison decides what comes next:
    that is no summary.
    """
    for outer, inner in above:
        kind = type(outer)
        if kind is CALL:
            if (
                inner is not outer.func
                and leaf(outer.func) in calls
                or calls is CUTS
                and (_rounded(outer) or _fetched(outer) or _makes_untrained(outer))
            ):
                return True
        elif kind is ATTRIBUTE:
            if outer.attr in _ASKED or outer.attr in calls or calls is CUTS and _of_ranks(outer):
                return True
        elif (
            kind is COMPARE
            and calls is not SUMMARIES
            and calls is not PRINTS
            or kind is SUBSCRIPT
            and calls is CUTS
            and _of_ranks(outer)
        ):
            return True
    return False


def _makes_untrained(call: ast.Call) -> bool:
    """Whether a call makes an object through which nothing is trained: `AdamOptimizer(rate)`."""
    name = leaf(call.func)
    return makes_object(name) and is_untrained_class(name)


def _rounded(call: ast.Call) -> bool:
    """Whether a call makes whole numbers: `tf.cast(x, tf.int32)`, `x.astype("int64")`."""
    return any(_WHOLE.fullmatch(dtype) is not None for dtype in _dtypes_of_cast(call))


def _halved(above: list[tuple[Any, ast.AST]]) -> bool:
    """Whether a cast to float16 stands around a part of an expression."""
    return any(
        isinstance(outer, ast.Call) and "float16" in _dtypes_of_cast(outer) for outer, _ in above
    )


def _dtypes_of_cast(call: ast.Call) -> list[str]:
    """The words that may name the dtype of a cast; [] for another call."""
    if leaf(call.func) not in _CASTS:
        return []
    args = call.args[-1:] + [keyword.value for keyword in call.keywords if keyword.arg == "dtype"]
    return [str(one.value) if isinstance(one, ast.Constant) else leaf(one) for one in args]


def _fetched(call: ast.Call) -> bool:
    """`session.run(x)`, `SessionRunArgs(x)`: out of the graph, and back only as a number."""
    if leaf(call.func) == FETCHES:
        return True
    return (
        isinstance(call.func, ast.Attribute)
        and call.func.attr == "run"
        and is_session(leaf(call.func.value))
    )


def _of_ranks(node: ast.AST) -> bool:
    """`tf.math.top_k(x).indices`, `tf.math.top_k(x)[1]`."""
    if (
        isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Constant)
        and node.slice.value == 1
        or (isinstance(node, ast.Attribute) and node.attr == "indices")
    ):
        return isinstance(node.value, ast.Call) and leaf(node.value.func) == "top_k"
    return False


def _differentiated(above: list[tuple[ast.AST, ast.AST]]) -> bool:
    """Whether a part of an expression is what a gradient is asked of, whatever that goes into:
    `w.assign_sub(rate * tape.gradient(loss, w))`.
    """
    return any(
        isinstance(outer, ast.Call) and inner in outer.args[:1] and leaf(outer.func) in SINKS
        for outer, inner in above
    )


def _taken(above: list[tuple[ast.AST, ast.AST]]) -> bool:
    """Whether a part of an expression is given to what takes a gradient of it, or may, or to an
    object that is made of it; a variable is not.
    """
    called = [
        leaf(outer.func)
        for outer, inner in above
        if isinstance(outer, ast.Call) and inner is not outer.func
    ]
    return any(
        makes_object(name) and not is_untrained_class(name) or takes_training_step(name)
        for name in called
        if name not in _STARTED and name != FETCHES
    )
