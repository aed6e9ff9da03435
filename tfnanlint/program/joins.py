"""Joins: what names are bound to where statements part, and where they come together again."""

from __future__ import annotations

import ast

from tfnanlint.program.history import History
from tfnanlint.program.loops import Apart, Flag, Fork, State, merged
from tfnanlint.program.mutation import Held
from tfnanlint.program.predicates import spoken_of
from tfnanlint.program.scope import (
    Assigned,
    Binding,
    Joined,
    Parameter,
    Point,
    Refined,
    Scope,
    refinements,
    unrefined,
)
from tfnanlint.syntax.access_paths import root_of
from tfnanlint.syntax.nodes import NAME


class Branching:
    """What binds names in a scope: one after the other, in branches, and by what tests say."""

    def __init__(self, scope: Scope):
        self.scope = scope
        self.log: list[str] = []  # what was bound

    def bind(self, path: str, binding: Binding | None) -> None:
        scope = self.scope  # `Scope.bind` written out: it is called for nearly every statement
        time = scope.time = scope.time + 1
        entry = scope.history.get(path)
        if entry is None:
            scope.history[path] = History(time, binding)
        else:
            entry.add(time, binding)
        self.log.append(path)

    def _fork(self) -> Fork:
        """Branches that begin here."""
        return Fork(self.scope.time, len(self.log))

    def _branched(self, fork: Fork, live: bool) -> None:
        """The end of a branch, which is reached if it is `live`."""
        history, before = self.scope.history, fork.before
        state: State = {}
        for path in self.log[fork.mark :]:
            if path not in state:
                entry = history[path]
                state[path] = entry.binding
                if path not in before:
                    before[path] = entry.at(fork.begun)
        fork.touched = state
        if live:
            fork.states.append(state)

    def _another(self, fork: Fork) -> None:
        """Another branch begins, in the state in which the first one began."""
        for path in fork.touched:
            self.bind(path, fork.before[path])
        fork.mark = len(self.log)

    def _reached(self, fork: Fork, state: State) -> None:
        """Branches are joined by what also comes there in a state, without any statement."""
        for path in state:
            if path not in fork.before:
                fork.before[path] = self.scope.at(path, fork.begun)
        fork.states.append(state)

    def _joined(self, fork: Fork) -> bool:
        """Join the states that reach the end; False when none does."""
        if not fork.states:
            return False
        only = fork.states[0] if len(fork.states) == 1 else None
        for path in sorted(fork.before):
            if only is not None and path in only:
                self.bind(path, only[path])
                continue
            base = fork.before[path] or self._before(path, fork.begun)
            self.bind(
                path,
                (
                    base
                    if only is not None
                    else merged([state.get(path, base) for state in fork.states], base, fork.flag)
                ),
            )
        return True

    def _held(self, path: str) -> Binding | None:
        return self.scope.at(path) or self._before(path, self.scope.time)

    def _before(self, path: str, time: int) -> Binding | None:
        """What an attribute or element holds that this function has not assigned yet."""
        root = root_of(path)
        if root == path:
            return None
        point = Point(self.scope, time)
        return Held(path, point) if point.lookup(root) is not None else None

    def assume(self, test: ast.expr, truth: bool) -> None:
        """Refine what the test speaks of."""
        for path, binding in self._assumed(test, truth, self.scope.here()).items():
            self.bind(path, binding)

    def _assumed(self, test: ast.expr, truth: bool, point: Point) -> State:
        """What is refined by a test at a point."""
        refined: State = {}
        if type(test) is not NAME and not spoken_of(test, truth):
            return refined
        scope = self.scope
        for node, path, part, then in refinements(test, truth, point):
            base = refined.get(path) or scope.at(path, point.time)
            if base is None:
                root = root_of(path)
                if path == root or path not in scope.history and scope.at(root, point.time) is None:
                    continue
                base = Assigned(node, point)
            refined[path] = Refined(base, path, part, truth, then)
        return refined

    def _apart(self, test: ast.expr, truth: bool, flag: Flag | None, point: Point) -> State:
        """The parameters that every call hands over, in a branch of a test of a flag; none where it
        is no flag.
        """
        parameters: State = {}
        if flag is None:
            return parameters
        for path, entry in self.scope.history.items():
            base = entry.at(point.time)
            parameter = unrefined(base)
            if (
                type(parameter) is Parameter
                and parameter.default is None
                and not (parameter.function.bound and path == "self")
            ):
                parameters[path] = Apart(base, path, test, truth, point, flag)
        return parameters

    def _during(self, path: str, begun: int, until: int | None) -> Binding | None:
        """Whatever a name has been since `begun`: an exception may come between any two
        statements.
        """
        entry = self.scope.history[path]
        since = entry.since(entry.index(begun), None if until is None else entry.index(until))
        bindings = [self.scope.at(path, begun) or self._before(path, begun), *since]
        bindings = list(dict.fromkeys([b for b in bindings if b is not None]))
        return Joined(bindings) if len(bindings) > 1 else bindings[0] if bindings else None
