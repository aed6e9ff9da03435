"""The tapes of a function: what stands in their blocks, and what of it reaches something that a
gradient is asked of.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final

from tfnanlint.ops.frameworks import REPORTS, TAPE_METHODS, WEIGHT_UPDATES
from tfnanlint.program.scope import Imported, Point, Scope
from tfnanlint.syntax.access_paths import leaf, root_of
from tfnanlint.syntax.nodes import (
    ATTRIBUTE,
    CALL,
    GRADIENT_METHODS,
    NAME,
    NAMED_EXPR,
    SEQUENCES,
    STARRED,
    SUBSCRIPT,
    blocks_of,
    declared,
    nodes_in,
)

if TYPE_CHECKING:
    from tfnanlint.interp.engine import Engine

_BODIES: Final = frozenset((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
_LOOPS: Final = frozenset((ast.For, ast.AsyncFor))
_WITHS: Final = frozenset((ast.With, ast.AsyncWith))
_CHAIN: Final = frozenset((ast.Name, ast.Attribute, ast.Subscript))
_HOLDING: Final = frozenset((ast.Starred, ast.keyword))
_LEAVING: Final = frozenset((ast.Yield, ast.YieldFrom))
_LIBRARIES = ("tf.", "keras.", "K.", "np.", "builtins.")
_KEEPING = ("collection", "add_loss")  # of those, what a loss may be fetched from later


class Step:
    """What one statement reads, and the names that hold something made of it when it is done."""

    __slots__ = ("parts", "reads", "into", "changes", "gone", "returned")

    def __init__(self, parts: list[ast.AST]):
        self.parts = parts
        self.reads: set[str] = {
            inner.id for one in parts for inner in nodes_in(one) if type(inner) is NAME
        }
        self.into: set[str] = {
            inner.target.id for one in parts for inner in nodes_in(one) if type(inner) is NAMED_EXPR
        }
        # the objects that these names stand for: others may stand for them, too
        self.changes = False
        # where it is not followed
        self.gone = any(type(inner) in _LEAVING for one in parts for inner in nodes_in(one))
        self.returned = False

    def store(self, target: ast.AST) -> None:
        """Note that something is assigned to a target."""
        if type(target) in SEQUENCES:
            for element in target.elts:
                self.store(element)
            return
        if type(target) is STARRED:
            target = target.value
        if type(target) is SUBSCRIPT:
            self.changes = True
        while type(target) is SUBSCRIPT:
            target = target.value
        if type(target) is NAME:
            self.into.add(target.id)
        else:
            self.gone = True  # an attribute: any method may read it


def opens_tape(block: ast.With) -> bool:
    """Whether a `with` opens a `GradientTape`."""
    return any([_is_tape(item) for item in block.items])


def _is_tape(item: ast.withitem) -> bool:
    return leaf(getattr(item.context_expr, "func", item.context_expr)) == "GradientTape"


class Tapes:
    """The tapes of one scope and its statements, found once: those of functions inside of it are
    one statement each.
    """

    def __init__(self, scope: Scope, interpreter: Engine):
        self._point = Point(scope)
        self._interpreter = interpreter
        self._steps: list[Step] = []
        # first and last row of a tape's block, and its name
        self._blocks: list[tuple[int, int, str]] = []
        self._opened = 0  # how many tapes are opened by a `with` of their own
        self._outside: set[str] = set()  # names that belong to scopes around this one
        self._readers: dict[str, list[Step]] = {}
        self._same: dict[str, set[str]] = {}  # by name: names whose objects it may stand for
        self._found_targets: dict[str, set[str] | None] = {}
        self._collect(scope.node.body)
        for step in self._steps:
            for name in step.reads:
                self._readers.setdefault(name, []).append(step)
        calls = [
            inner
            for step in self._steps
            for one in step.parts
            if type(one) not in _BODIES
            for inner in nodes_in(one)
            if type(inner) is CALL
        ]
        self.known = self._opened == len([one for one in calls if leaf(one.func) == "GradientTape"])
        self._trains = getattr(scope.node, "name", "") == "train_step" or any(
            leaf(one.func) in WEIGHT_UPDATES
            or leaf(one.func) == "minimize"
            and any(k.arg == "tape" for k in one.keywords)
            for one in calls
        )

    def _collect(self, body: list[ast.stmt]) -> None:
        for statement in body:
            step = self._step(statement)
            if step is not None:
                self._steps.append(step)
            if type(statement) not in _BODIES:
                for block in blocks_of(statement):
                    self._collect(block)

    def _step(self, node: Any) -> Step | None:
        kind = type(node)
        if kind in _BODIES:
            step = Step([node])
            step.into.add(node.name)
            step.into |= declared(node, ast.Nonlocal) | declared(node, ast.Global)
            return step
        if kind in _WITHS:
            return self._with(node)
        if kind in _LOOPS:
            step = Step([node.iter])
            step.store(node.target)
            self._also(node.target, node.iter)
            return step
        if kind is ast.Global or kind is ast.Nonlocal:
            self._outside.update(node.names)
            return None
        value = (
            getattr(node, "test", None)
            or getattr(node, "subject", None)
            or getattr(node, "value", None)
        )
        if value is None:
            return None
        step = Step([value])
        if kind is ast.Assign:
            for target in node.targets:
                step.store(target)
                self._also(target, value)
        elif kind is ast.AnnAssign or kind is ast.AugAssign:
            step.store(node.target)
            step.changes = kind is ast.AugAssign
        elif kind is ast.Expr:
            self._spent(step, value)
        elif kind is ast.Match:
            step.gone = True
        step.returned = kind is ast.Return
        return step

    def _with(self, node: Any) -> Step:
        step = Step([item.context_expr for item in node.items])
        opened = [item for item in node.items if _is_tape(item)]
        for item in node.items:
            if item in opened:
                name = item.optional_vars.id if type(item.optional_vars) is NAME else ""
                self._blocks.append((node.body[0].lineno, node.body[-1].end_lineno or 0, name))
            elif item.optional_vars is not None:
                step.store(item.optional_vars)
        if not any(
            leaf(getattr(item.context_expr, "func", item.context_expr)) == "suppress"
            for item in node.items
        ):
            self._opened += len(opened)
        return step

    def _also(self, target: ast.AST, value: ast.AST) -> None:
        """Note of which objects a name is another name: `all = self.losses`, `for one in lists`."""
        roots = (
            {inner.id for inner in nodes_in(value) if type(inner) is NAME}
            if type(value) in _CHAIN or type(value) in SEQUENCES
            else set()
        )
        for name in (
            [inner.id for inner in nodes_in(target) if type(inner) is NAME] if roots else ()
        ):
            self._same.setdefault(name, set()).update(roots)

    def _spent(self, step: Step, whole: ast.AST) -> None:
        """Note what an expression may change whose value is not used: what its call is given, if
        that does not only report it.
        """
        for call in [whole] if type(whole) is CALL else nodes_in(whole):
            if type(call) is not CALL or leaf(call.func) in REPORTS:
                continue
            name = self._interpreter.resolve(call.func, self._point) or ""
            if name.startswith(_LIBRARIES) and not any(word in name for word in _KEEPING):
                continue
            for part in (call.func, *call.args, *call.keywords):
                step.into |= {
                    name
                    for name in _handed(part)
                    if not isinstance(self._point.lookup(name), Imported)
                }
            step.changes = True
            step.gone = (
                step.gone or type(call.func) is ATTRIBUTE and type(call.func.value) is ATTRIBUTE
            )

    def names_around(self, node: ast.AST) -> list[str]:
        """The names of the tapes in whose blocks a node stands."""
        return [name for first, last, name in self._blocks if first <= node.lineno <= last]

    def of_gradient(self, call: ast.Call) -> bool:
        """Whether a call takes a gradient of a tape of this scope, and it is known of all of these
        what they record.
        """
        tapes = [keyword.value for keyword in call.keywords if keyword.arg == "tape"]
        if type(call.func) is ATTRIBUTE and call.func.attr in GRADIENT_METHODS:
            tapes.append(call.func.value)
        return self.known and any(_is(one, name) for one in tapes for _, _, name in self._blocks)

    def leave_out(self, node: ast.AST) -> bool:
        """Whether a node stands in the block of a tape, and nothing made of it reaches what the
        gradient is asked of.
        """
        names = self.names_around(node)
        targets: set[str] = set()
        for name in names:
            asked = self._targets(name)
            if asked is None:
                return False
            targets |= asked
        step = (
            next((one for one in self._steps if _holds(one, node)), None)
            if names and self.known
            else None
        )
        return (
            step is not None and step.reads.isdisjoint(names) and not self._reaches(step, targets)
        )

    def _reaches(self, step: Step, targets: set[str]) -> bool:
        queue = [step]
        reached: set[str] = set()
        while queue:
            reader = queue.pop()
            if reader.gone or reader.returned and not self._trains:
                return True
            into = set(reader.into)
            if reader.changes:
                for name in reader.into:
                    into |= self._same.get(name, set())
            into -= reached
            if not into.isdisjoint(targets) or not into.isdisjoint(self._outside):
                return True
            reached |= into
            for name in into:
                queue += self._readers.get(name, ())
        return False

    def _targets(self, tape: str) -> set[str] | None:
        """The names in all calls that take gradients of a tape, or are handed it; None where others
        may take one, or none is taken.
        """
        if tape not in self._found_targets:
            self._found_targets[tape] = self._find_targets(tape) if tape else None
        return self._found_targets[tape]

    def _find_targets(self, tape: str) -> set[str] | None:
        targets: set[str] = set()
        uses = 0  # reads of the tape's name that are not understood yet
        asked = False
        for step in self._readers.get(tape, ()):
            for node in [inner for part in step.parts for inner in nodes_in(part)]:
                if type(node) is NAME and node.id == tape:
                    uses += 1
                if type(node) is not CALL or type(step.parts[0]) in _BODIES:
                    continue
                arguments = [*node.args, *[keyword.value for keyword in node.keywords]]
                method = (
                    node.func.attr
                    if type(node.func) is ATTRIBUTE and _is(node.func.value, tape)
                    else ""
                )
                held = len([one for one in arguments if _is(one, tape)])
                uses -= held + (method in GRADIENT_METHODS or method in TAPE_METHODS)
                if held or method in GRADIENT_METHODS:
                    asked = True
                    targets |= {inner.id for inner in nodes_in(node) if type(inner) is NAME}
        return targets - {tape} if asked and uses == 0 else None


def recorded_at(point: Point | None, scope: Scope) -> bool:
    """Whether a tape of a scope may record what stands at a point: what its functions compute
    elsewhere it may, what stands in `with tape.stop_recording():` it does not.
    """
    if point is None or point.scope is not scope:
        return True
    if any(start <= point.time < end for start, end in scope.stopped):
        return False
    return any(start <= point.time < end for start, end in scope.tapes)


def recorded_name(node: ast.AST | None, point: Point | None, scope: Scope) -> bool:
    """Whether a tape of a scope may have recorded what an expression gives: a name, or an element
    of one, that stands for the same all along the blocks of these tapes was computed before them.
    """
    if point is None or point.scope is not scope or point.over is not None:
        return True
    element = type(node) is SUBSCRIPT
    while type(node) is SUBSCRIPT:
        node = node.value
    if type(node) is not NAME or node.id not in scope.history:
        return True
    times = [scope.bound_at(node.id, point.time)]
    if element:
        times += [
            time
            for path, entry in scope.history.items()
            if root_of(path) == node.id
            for time in entry.times()
        ]
    return any(start < time < end for time in times for start, end in scope.tapes)


def _is(node: ast.AST, name: str) -> bool:
    return type(node) is NAME and node.id == name


def _holds(step: Step, node: ast.AST) -> bool:
    return any(
        one.lineno <= node.lineno <= one.end_lineno and node in nodes_in(one) for one in step.parts
    )


def _handed(node: Any) -> set[str]:
    """The names of the objects that an argument, or the callee, hands over: not of what is computed
    of them.
    """
    kind = type(node)
    if kind is NAME:
        return {node.id}
    if kind in _CHAIN or kind in _HOLDING:
        return _handed(node.value)
    parts = node.elts if kind in SEQUENCES else node.values if kind is ast.Dict else []
    return {name for one in parts for name in _handed(one)}
