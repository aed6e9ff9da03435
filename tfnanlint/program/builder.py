"""The builder: one walk over a body that binds names, splits at branches, joins after them and
widens at loops.

Nothing is evaluated here. Every simple statement is noted with its time, so that expressions can be
judged later.
"""

from __future__ import annotations

import ast
from typing import Any, Callable, Final

from tfnanlint.program.attributes import assigned_attributes
from tfnanlint.program.exits import ends_program
from tfnanlint.program.functions import Function
from tfnanlint.program.joins import Branching
from tfnanlint.program.loops import Flag, Fork, LoopFrame, flag_of, runs
from tfnanlint.program.mutation import (
    CHANGING,
    SETTERS,
    Bindings,
    Copies,
    Filled,
    Held,
    InPlace,
    Lent,
    Mutated,
    SetThrough,
    attribute_set,
    connected,
    copied,
    copy,
    copy_items,
    extends,
    fillable,
    lent,
    objects,
    output,
    place_of,
    popped,
    shared,
    viewed,
    whole,
    written_key,
)
from tfnanlint.program.patterns import captured, condition, says_number
from tfnanlint.program.predicates import ASSERTIONS, says_training
from tfnanlint.program.scope import (
    Assigned,
    Binding,
    Element,
    Ended,
    Fixed,
    Imported,
    Iterated,
    Joined,
    Loop,
    Point,
    Raised,
    Refined,
    Scope,
    Stored,
    unrefined,
)
from tfnanlint.program.static_conditions import outcome
from tfnanlint.syntax.access_paths import leaf, path_of, root_of
from tfnanlint.syntax.nodes import (
    ATTRIBUTE,
    CALL,
    CONSTANT,
    LAMBDA,
    NAME,
    SEQUENCES,
    STARRED,
    SUBSCRIPT,
    caught,
    declared,
    loaded,
    nodes_in,
    recorded,
    repeated,
)
from tfnanlint.syntax.text_index import within
from tfnanlint.values.value import Value

# What gives an object that has a name already, and what may give a part or another form of one.
_NAMING: Final = frozenset((ast.Name, ast.Attribute, ast.IfExp))
_ENDLESS: Final = 1 << 60
_MAX_FAILED: Final = 16  # cases of a `match` that are known to have failed in the next
_YIELDING: Final = frozenset((ast.Yield, ast.YieldFrom))


class Walk(Branching):
    """Walks the body of one scope."""

    def __init__(self, scope: Scope):
        super().__init__(scope)
        self.loops: list[LoopFrame] = []
        # the variables that some statement before this one has added a number to
        self.raised: set[str] = set()
        self.rows = scope.module.binding_rows  # where an expression may bind or change a name
        self.copies: Copies = {}  # `b = a`: names of one object, as long as both stand for it
        self.views: Copies = {}  # `b = a.reshape(-1)`: names of arrays that may share their numbers

    def block(self, body: list[ast.stmt]) -> bool:
        """Walk statements in order; False when the end is not reached."""
        handlers = _HANDLERS
        for statement in body:
            handler = handlers.get(type(statement))
            if handler is not None and handler(self, statement) is False:
                return False
        return True

    def note(self, node: ast.expr | None) -> None:
        """Remember an expression that is computed here."""
        if node is None:
            return
        if self.rows and within(self.rows, node.lineno, node.end_lineno or node.lineno):
            self._bound_inside(node)
        self.scope.statements.append((node, self.scope.time))

    def _bound_inside(self, node: ast.expr) -> None:
        """`f(x := y)` binds a name, and `f(layers.pop())` changes an object."""
        for inner in nodes_in(node):
            if isinstance(inner, ast.NamedExpr):
                self.bind(inner.target.id, Assigned(inner.value, self.scope.here()))
            elif (
                inner is not node
                and (call := popped(inner)) is not None
                and (path := path_of(call.func.value)) is not None
            ):
                if (held := self.scope.at(path)) is not None:  # in which order is not known
                    self._change(path, lambda held: Fixed(Value(kind="unknown")), held)

    # Branches

    def if_(self, node: ast.If) -> bool:
        test = node.test
        self.note(test)
        point = self.scope.here()
        decided = outcome(test, point)
        if decided is not None:
            return self._branch(test, decided, node.body if decided else node.orelse)
        fork = self._fork()
        fork.flag = flag_of(test, point)
        live = self._branch(test, True, node.body, fork.flag)
        self._branched(fork, live)
        if node.orelse:
            self._another(fork)
            self._branched(fork, self._branch(test, False, node.orelse, fork.flag))
        else:
            self._reached(
                fork, self._assumed(test, False, point) | self._apart(test, False, fork.flag, point)
            )
            if not live and says_training(test) and node in getattr(self.scope.node, "body", ()):
                self.scope.time += 1  # `if training: return x`: only evaluation comes further
                self.scope.stopped.append((self.scope.time, _ENDLESS))
        return self._joined(fork)

    def _branch(
        self, test: ast.expr, truth: bool, body: list[ast.stmt], flag: Flag | None = None
    ) -> bool:
        """What is walked where a test, of a flag perhaps, comes to `truth`."""
        self.assume(test, truth)
        for path, binding in self._apart(test, truth, flag, self.scope.here()).items():
            self.bind(path, binding)
        if says_training(test) is not (not truth):
            return self._choice(body)
        self.scope.time += 1  # an evaluation branch
        start = self.scope.time
        live = self.block(body)
        self.scope.time += 1
        self.scope.stopped.append((start, self.scope.time))
        return live

    def _choice(self, body: list[ast.stmt]) -> bool:
        """Walk statements that may be run; False where what follows all of them is not."""
        return self.block(body) and not (body and ends_program(body, self.scope.here()))

    def try_(self, node: Any) -> bool:
        begun, mark, last = self.scope.time, len(self.log), node.body[-1]
        fork = self._fork()
        live = self.block(node.body[:-1])
        until = (
            self.scope.time
            if isinstance(
                last, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Import, ast.ImportFrom)
            )
            else None
        )
        live = live and self.block([last])
        broken_off = (
            [(path, self._during(path, begun, until)) for path in sorted(set(self.log[mark:]))]
            if node.handlers
            else []
        )
        live = live and self.block(node.orelse)
        if node.handlers:
            self._branched(fork, live)
            for handler in node.handlers:
                self._another(fork)
                self._branched(fork, self._handler(handler, broken_off))
            live = self._joined(fork)
        return (
            self._finally(node.finalbody, begun, set(self.log[mark:])) and live
            if node.finalbody
            else live
        )

    def _handler(
        self, node: ast.ExceptHandler, broken_off: list[tuple[str, Binding | None]]
    ) -> bool:
        """What is walked where an exception has broken off the body of a `try`."""
        for path, binding in broken_off:
            self.bind(path, binding)
        if node.name:
            self.bind(node.name, Fixed(Value(kind="unknown")))
        return self._choice(node.body)

    def _finally(self, body: list[ast.stmt], begun: int, paths: set[str]) -> bool:
        """Walk what also follows an exception that was not caught, in which names are whatever they
        have been since `begun`.
        """
        ended = {path: self.scope.at(path) for path in sorted(paths)}
        during = {path: self._during(path, begun, None) for path in ended}
        for path, binding in during.items():
            self.bind(path, binding)
        live = self.block(body)
        for path, binding in during.items():
            if self.scope.at(path) is binding:
                self.bind(path, ended[path])
        return live

    def match_(self, node: Any) -> bool:
        self.note(node.subject)
        start = self.scope.here()
        subject, fork = Assigned(node.subject, start), self._fork()
        failed: list[ast.expr] = []
        for case in node.cases:
            test = condition(case.pattern, node.subject)
            decided = outcome(test, start) if test is not None else None
            if decided is False:
                continue
            self._another(fork)
            self._refuted(failed)
            self._branched(fork, self._case(case, subject, test))
            if decided and case.guard is None:
                return self._joined(fork)
            if test is None or case.guard is not None or len(failed) >= _MAX_FAILED:
                continue
            if says_number(case.pattern):
                failed.append(test)
        self._another(fork)
        self._refuted(failed)
        self._branched(fork, True)
        return self._joined(fork)

    def _refuted(self, tests: list[ast.expr]) -> None:
        for test in tests:
            self.assume(test, False)

    def _case(self, node: Any, subject: Assigned, test: ast.expr | None) -> bool:
        if test is not None:
            self.assume(test, True)
        for name, binding in captured(node.pattern, subject):
            self.bind(name, binding)
        if node.guard is not None:
            self.note(node.guard)
            self.assume(node.guard, True)
        return self.block(node.body)

    # Loops

    def _enter(self, node: Any) -> LoopFrame:
        names: dict[str, Loop] = {}
        bound = node.__dict__.get("bound")
        if bound is None:  # kept with the tree, for bodies are walked often
            bound = node.bound = Bindings(node.body)
        for path in sorted(bound.with_aliases(self.copies, self.views)):
            if path not in bound.paths and self._module(path):
                continue
            loop = Loop(self._held(path))
            names[path] = loop
            self.bind(path, loop)
        self.scope.loops += names.values()
        frame = LoopFrame(names, self.scope.time, len(self.log))
        self.loops.append(frame)
        return frame

    def _module(self, path: str) -> bool:
        """Whether a path begins with the name of a module: `tf.reshape(x, ...)` is no method of an
        array.
        """
        return isinstance(unrefined(self.scope.here().lookup(root_of(path))), Imported)

    def _leave(self, frame: LoopFrame, live: bool, over: Assigned | None = None) -> None:
        """The end of a loop, which may be `over` what surely has an element."""
        self.loops.pop()
        if live:
            frame.capture(self.scope)
        for path in sorted(set(self.log[frame.mark :]) - frame.names.keys()):
            before = self.scope.at(path, frame.begun)
            if isinstance(self.scope.at(path), Refined) and unrefined(
                self.scope.at(path)
            ) is unrefined(before):
                self.bind(path, before)  # the body, and what was tested in it, may be passed over
        surely = over is not None and runs(over.node)
        for path, loop in frame.names.items():
            if over is None or not loop.rounds or path in frame.kept:
                self.bind(path, loop)
            else:
                self.bind(
                    path, Joined(loop.rounds) if surely else Ended(loop, over.node, over.point)
                )

    def _after(self, frame: LoopFrame, fork: Fork, ended: bool) -> bool:
        """What follows a loop: its end, with the `else` branch, which may be `ended`, or one of its
        breaks.
        """
        if not frame.exits:
            return ended
        self._branched(fork, ended)
        for state in frame.exits:
            self._reached(fork, state)
        return self._joined(fork)

    def for_(self, node: Any) -> bool:
        self.note(node.iter)
        whole = Assigned(node.iter, self.scope.here())
        element: Binding = Iterated(whole)
        items = copy_items(self.copies, node.target, node.iter)
        frame = self._enter(node)
        # an earlier round may have changed an array that a later one takes
        if not items.isdisjoint(node.bound.changed):
            element = Joined([element, Iterated(Assigned(repeated(node), self.scope.here()))])
        self.target(node.target, element)
        self._leave(frame, self.block(node.body), whole)
        return self._after(frame, self._fork(), self.block(node.orelse))

    def while_(self, node: ast.While) -> bool:
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        if isinstance(node.test, ast.Constant) and not endless:
            return self.block(node.orelse)
        frame = self._enter(node)
        self.note(node.test)
        self.assume(node.test, True)
        self._leave(frame, self.block(node.body))
        fork = self._fork()
        ended = outcome(node.test, self.scope.here()) is not True and self._branch(
            node.test, False, node.orelse
        )
        return self._after(frame, fork, ended)

    def leave_loop(self, node: Any) -> bool:
        if self.loops and isinstance(node, ast.Break):
            self.loops[-1].exits.append(
                {path: self.scope.at(path) for path in self.loops[-1].names}
            )
        elif self.loops:
            self.loops[-1].capture(self.scope)
        return False

    # Blocks and definitions

    def with_(self, node: Any) -> bool:
        tape, stopped, used = False, False, len(node.body)
        suppressed = False
        for item in node.items:
            call = item.context_expr
            self.note(call)
            name = leaf(call.func) if type(call) is CALL else ""
            if name == "GradientTape":
                tape, used = True, recorded(call, item.optional_vars, node.body)
            elif name == "stop_recording":
                stopped = True
            elif name == "suppress":
                suppressed = True
            elif name == "control_dependencies" and call.args:
                self._depending(call.args[0])
            if item.optional_vars is not None:
                self.target(item.optional_vars, Assigned(call, self.scope.here()))
        start = self.scope.time
        if suppressed:
            return self.try_(caught(node.body))
        live = self.block(node.body[:used])
        if tape or stopped:
            self.scope.time += 1
            (self.scope.tapes if tape else self.scope.stopped).append((start, self.scope.time))
        return live and self.block(node.body[used:])

    def _depending(self, checks: ast.expr) -> None:
        """`with tf.control_dependencies([done])`: what named assertions say holds inside, and what
        is assigned there has been.
        """
        for check in getattr(checks, "elts", ()):
            binding = unrefined(self.scope.at(check.id)) if isinstance(check, ast.Name) else None
            node = binding.node if isinstance(binding, Assigned) else check
            if isinstance(node, ast.Call) and leaf(node.func) in ASSERTIONS:
                self.assume(node, True)
            elif (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr.startswith("assign")
            ):
                self._assigned_to(node.func, node)

    def function(self, node: Any) -> None:
        rows = self.scope.module.nonlocal_rows
        if rows and within(rows, node.lineno, node.end_lineno):
            self.scope.shared |= declared(node, ast.Nonlocal)
        for decorator in node.decorator_list:
            self.note(decorator)
        function = self.scope.module.function(node, self.scope.here())
        self.bind(node.name, Fixed(Value(kind="function", obj=function)))

    def class_(self, node: ast.ClassDef) -> None:
        rows = self.scope.module.nonlocal_rows
        if rows and within(rows, node.lineno, node.end_lineno or node.lineno):
            # which object a method changes it for is not told apart
            for name in sorted(declared(node, ast.Nonlocal)):
                self.bind(name, Fixed(Value(kind="unknown")))
            self.scope.shared |= declared(node, ast.Nonlocal)
        self.bind(
            node.name,
            Fixed(Value(kind="class", obj=self.scope.module.class_(node, self.scope.here()))),
        )

    def return_(self, node: ast.Return) -> bool:
        self.note(node.value)
        self.scope.returns.append((node.value, self.scope.time))
        return False

    def raise_(self, node: ast.Raise) -> bool:
        return False

    # Simple statements

    def expression(self, node: ast.Expr) -> None:
        value: Any = node.value
        kind = type(value)
        if kind is CONSTANT:  # a docstring
            return
        self.note(value)
        self.scope.module.discarded.add(value)
        if kind in _YIELDING:
            self.scope.yields.append((value, self.scope.time))
        if kind is not CALL:
            return
        function = value.func
        name, of_object = leaf(function), type(function) is ATTRIBUTE
        if name in ASSERTIONS:
            self.assume(value, True)
        elif name in SETTERS and (attribute := attribute_set(value)) is not None:
            self.target(attribute, Assigned(value.args[2], self.scope.here()))
        elif (written := output(value)) is not None:
            self._overwritten(written, value)
        elif of_object and name in CHANGING:
            self._changed_by(value)
        elif of_object and name.startswith("assign"):
            self._assigned_to(function, value)
        else:
            owner = function.value if of_object else None
            if type(owner) is NAME:
                self._own_method(owner.id, name)
            self._handed(value)

    def _changed_by(self, call: ast.Call) -> None:
        """`layers.append(x)`, and `x = layers.pop()`."""
        path = path_of(call.func.value)
        base = self.scope.at(path) if path else None
        if path is not None and base is not None:
            here = self.scope.here()
            self._change(path, lambda held: Mutated(held, call, here), base)

    def _handed(self, call: ast.Call) -> None:
        """Arrays of one number, whole or in part, lists and dicts that are handed to a function
        whose result is not used.
        """
        for argument in [*call.args, *[one.value for one in call.keywords]]:
            kind = type(argument)
            if kind is CONSTANT or kind is CALL:  # they have no path
                continue
            path = whole(argument) or path_of(argument)
            binding = self.scope.at(path) if path else None
            if path is not None and (
                isinstance(binding, Filled)
                or isinstance(binding, Assigned)
                and fillable(binding.node)
            ):
                self._change(path, self._filled(call), binding)

    def _filled(self, call: ast.Call) -> Callable[[Binding], Binding]:
        """What becomes of a binding when a call fills it."""
        here = self.scope.here()
        return lambda held: Filled(held, call, here)

    def _lent(self, call: Any, name: str) -> None:
        """Arrays that are handed to a function of the program which changes them in place."""
        callee = self.scope.here().lookup(name)
        function = (
            callee.kept.obj if isinstance(callee, Fixed) and callee.kept is not None else None
        )
        if isinstance(function, Function):
            for path in lent(call, function):
                if (held := self.scope.at(path)) is not None:
                    self._change(path, Lent, held)

    def _left_by_mask(self, held: Binding, owner: str, index: ast.expr) -> Binding | None:
        """What `x[x == 0] = 1` leaves as it was: the elements for which the test does not hold;
        None for other stores.
        """
        here = self.scope.here()
        mask = unrefined(here.lookup(index.id)) if isinstance(index, ast.Name) else None
        if isinstance(mask, Assigned) and mask.point.path_binding(root_of(owner), owner) is held:
            index = mask.node
        if not isinstance(index, (ast.Compare, ast.UnaryOp, ast.BinOp, ast.Call)):
            return None
        return Refined(held, owner, index, False, here)

    def _overwritten(self, path: str, call: ast.Call) -> None:
        """`np.exp(a, out=b)`: what the function gives, for every name of the array."""
        base = self.scope.at(path)
        if base is not None:
            written = Assigned(call, self.scope.here())
            self._change(path, lambda held: written, base)

    def _assigned_to(self, assign: ast.Attribute, call: ast.Call) -> None:
        """After `self.n.assign_add(1)` the variable is larger; after any other assignment it is
        what any of them may leave.
        """
        path, name = path_of(assign.value) or "", assign.attr
        owner = path.partition(".")[0]
        if not self._own(owner) or path.count(".") != 1:
            return
        base, entered = self.scope.at(path), Point(self.scope, self.scope.history[owner].made(1))
        if name == "assign_add" and call.args:
            by, held = Assigned(call.args[0], self.scope.here()), Held(path, entered)
            self.bind(path, Raised(base or held, by, held))
            self.raised.add(path)
        elif path in self.raised:
            self.bind(path, Held(path, entered))

    def _own(self, owner: str) -> bool:
        """Whether a name is that of the instance in a method."""
        function = self.scope.function
        if function is None or not function.bound:
            return False
        parameters = function.node.args.args
        return bool(parameters) and parameters[0].arg == owner

    def _own_method(self, owner: str, name: str) -> None:
        """After `self.reset()` the attributes that it assigns are what any method may have made of
        them.
        """
        if not self._own(owner):
            return
        method = self.scope.function.owner.methods.get(name)
        entered = Point(self.scope, self.scope.history[owner].made(1))
        for path in self.raised:
            self.bind(path, Held(path, entered))
        for attribute in assigned_attributes(method.node) if method is not None else ():
            path = f"{owner}.{attribute}"
            if self.scope.at(path) is not None:
                self.bind(path, Held(path, entered))

    def assign(self, node: ast.Assign) -> None:
        value = node.value
        self.note(value)
        binding, kind = Assigned(value, self.scope.here()), type(value)
        views: list[str] = []
        if kind is LAMBDA:
            value.named = True
        elif kind is CALL:
            function = value.func
            if type(function) is NAME:
                self._lent(value, function.id)
            elif (call := popped(value)) is not None:
                self._changed_by(call)
            else:
                views = shared(value)
        elif kind is SUBSCRIPT:
            views = shared(value)
        targets = node.targets
        for target in targets:
            if type(target) is NAME:
                self.bind(target.id, binding)
                if kind in _NAMING:
                    copy(self.copies, target.id, copied(value))
                elif views:
                    copy(self.views, target.id, [path for path in views if not self._module(path)])
            else:
                self.target(target, binding)
        if len(targets) > 1:
            first, *others = map(path_of, targets)
            for alias in others:
                copy(self.copies, alias, [first] if first else [])

    def annotated(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.note(node.value)
            self.target(node.target, Assigned(node.value, self.scope.here()))

    def augmented(self, node: ast.AugAssign) -> None:
        combined = node.__dict__.get("combined")
        if combined is None:  # one expression for all walks of this statement
            before = ast.copy_location(loaded(node.target), node.target)
            combined = node.combined = ast.copy_location(
                ast.BinOp(before, node.op, node.value), node
            )
            combined.augmented = True
        self.note(combined)
        binding, path = Assigned(combined, self.scope.here()), path_of(node.target)
        aliases = self._aliases(path) if path in self.copies else ()
        self.target(node.target, binding)
        for alias, surely in aliases:
            if extends(node):
                self._also(alias, binding, surely)
            elif (held := self.scope.at(alias)) is not None:
                self.bind(alias, InPlace(held, binding, surely))
        if path is not None and path in self.views:
            self._shown(path, binding)

    def target(self, node: ast.expr, binding: Binding) -> None:
        kind = type(node)
        if kind is NAME:
            self.bind(node.id, binding)
            if isinstance(binding, Assigned):
                copy(self.copies, node.id, copied(binding.node))
            return
        if kind in SEQUENCES:
            self._unpack(node, binding)
            return
        if kind is STARRED:
            node = node.value
            kind = type(node)
        owner = path_of(node.value) if kind is SUBSCRIPT or kind is ATTRIBUTE else None
        aliases = self._aliases(owner) if owner is not None else []  # as they are before the store
        if kind is SUBSCRIPT and owner is not None and (held := self._held(owner)) is not None:
            key = written_key(node.slice)
            left = self._left_by_mask(held, owner, node.slice)
            self._change(owner, lambda held: Stored(left or held, key, binding), held)
            whole = viewed(held)
            # `row = table[i]; row[j] = x`
            if whole is not None and (under := self._held(whole)) is not None:
                self._change(whole, lambda held: Stored(held, None, binding), under)
        path = f"{owner}.{node.attr}" if owner and kind is ATTRIBUTE else path_of(node)
        if isinstance(node, ast.Attribute) and node.attr in self.scope.module.setters:
            binding = SetThrough(node, self.scope.here(), binding)
        if path is not None:
            self.bind(path, binding)
            for alias, surely in aliases:
                self._also(alias + path[len(owner or "") :], binding, surely)
            if isinstance(binding, Assigned):
                copy(self.copies, path, copied(binding.node))

    def _also(self, path: str, binding: Binding, surely: bool) -> None:
        """Bind a path to what another name of the same object was bound to."""
        before = self._held(path)
        self.bind(path, binding if surely or before is None else Joined([before, binding]))

    def _change(self, path: str, changed: Callable[[Binding], Binding], held: Binding) -> None:
        """Bind a path, and other names of the same object, to what a change leaves of it."""
        aliases, new = self._aliases(path), changed(held)
        for alias, surely in aliases:
            self._also(alias, new if surely else changed(self.scope.at(alias)), surely)
        self.bind(path, new)
        if self.views:
            self._shown(path, new)

    def _shown(self, path: str, changed: Binding) -> None:
        """Arrays that may share the numbers of one that was changed: they may hold some of what it
        holds now.
        """
        for view in sorted(
            connected({path}, self.copies, self.views) - connected({path}, self.copies)
        ):
            if (held := self.scope.at(view)) is not None:
                self.bind(view, InPlace(held, changed, False))

    def _aliases(self, path: str) -> list[tuple[str, bool]]:
        """The other names that stand for the object of a path, and whether they surely do."""
        if path not in self.copies:
            return []
        mine, aliases = objects(self.scope.at(path)), []
        for alias in sorted(connected({path}, self.copies) - {path}):
            theirs = objects(self.scope.at(alias))
            if mine & theirs:
                aliases.append((alias, mine == theirs and len(mine) == 1))
        return aliases

    def _unpack(self, node: Any, binding: Binding) -> None:
        values = (
            binding.node.elts
            if isinstance(binding, Assigned) and type(binding.node) in SEQUENCES
            else None
        )
        starred = next((i for i, e in enumerate(node.elts) if isinstance(e, ast.Starred)), None)
        if values is not None and (
            starred is not None
            or len(values) != len(node.elts)
            or any([type(v) is STARRED for v in values])
        ):
            values = None
        for index, element in enumerate(node.elts):
            if values is not None:
                self.target(element, Assigned(values[index], binding.point))
            else:
                self.target(element, Element(binding, place_of(index, starred, len(node.elts))))

    def assertion(self, node: ast.Assert) -> None:
        self.note(node.test)
        self.assume(node.test, True)

    def delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            path = path_of(target)
            if path is not None:
                self.bind(
                    path, None if isinstance(target, ast.Name) else Fixed(Value(kind="unknown"))
                )
            if (
                isinstance(target, ast.Subscript)
                and (base := path_of(target.value))
                and (held := self._held(base)) is not None
            ):
                self._change(base, lambda held: Fixed(Value(kind="unknown")), held)

    def imports(self, node: ast.Import) -> None:
        for imported in node.names:
            name, alias = imported.name, imported.asname
            if not alias:
                alias = name = name.partition(".")[0]
            self.bind(alias, Imported(name, 0, self.scope.module))

    def imports_from(self, node: ast.ImportFrom) -> None:
        base, level, module = node.module or "", node.level, self.scope.module
        for imported in node.names:
            name = imported.name
            if name == "*":
                module.stars.append((base, level))
            else:
                self.bind(
                    imported.asname or name,
                    Imported(f"{base}.{name}" if base else name, level, module),
                )

    def global_(self, node: Any) -> None:
        """A global or nonlocal name: as any function may have left it; then as assigned here."""
        for name in node.names:
            self.bind(
                name,
                self._outside(name, isinstance(node, ast.Global)) or Fixed(Value(kind="unknown")),
            )

    def _outside(self, name: str, is_global: bool) -> Binding | None:
        """A name as those may have left it who share it; None where no function is known to."""
        module, point = self.scope.module.scope, self.scope.parent
        if is_global:
            return module.shared_binding(name) if name in module.shared else None
        while point is not None and (point.scope.of_class or name not in point.scope.shared):
            point = point.scope.parent
        return (
            point.scope.shared_binding(name)
            if point is not None and point.scope is not module
            else None
        )


_HANDLERS: Final[dict[type, Callable[[Walk, Any], Any]]] = {
    ast.Expr: Walk.expression,
    ast.Assign: Walk.assign,
    ast.AnnAssign: Walk.annotated,
    ast.AugAssign: Walk.augmented,
    ast.If: Walk.if_,
    ast.For: Walk.for_,
    ast.AsyncFor: Walk.for_,
    ast.While: Walk.while_,
    ast.With: Walk.with_,
    ast.AsyncWith: Walk.with_,
    ast.Try: Walk.try_,
    ast.Match: Walk.match_,
    ast.FunctionDef: Walk.function,
    ast.AsyncFunctionDef: Walk.function,
    ast.ClassDef: Walk.class_,
    ast.Return: Walk.return_,
    ast.Raise: Walk.raise_,
    ast.Break: Walk.leave_loop,
    ast.Continue: Walk.leave_loop,
    ast.Assert: Walk.assertion,
    ast.Delete: Walk.delete,
    ast.Import: Walk.imports,
    ast.ImportFrom: Walk.imports_from,
    ast.Global: Walk.global_,
    ast.Nonlocal: Walk.global_,
}
_HANDLERS.update({ast.TryStar: Walk.try_} if hasattr(ast, "TryStar") else {})
