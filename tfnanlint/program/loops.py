"""Loops and forks: what names are at the end of a round or branch, and which loops surely have a
round.
"""

from __future__ import annotations

import ast
from typing import Final

from tfnanlint.program.predicates import says_training
from tfnanlint.program.scope import (
    Assigned,
    Binding,
    Joined,
    Loop,
    Parameter,
    Point,
    Refined,
    Scope,
    unrefined,
)
from tfnanlint.syntax.nodes import CONSTANT, NAME, UNARY_OP
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import Value

# they give as many elements as they are given
OF_ANOTHER: Final = frozenset(("enumerate", "zip", "reversed", "sorted", "list", "tuple"))


# what names are, of those that differ from what they were before
State = dict[str, "Binding | None"]
Flag = tuple[Parameter, bool]  # what a branch depends on, and what it has to be


def flag_of(test: ast.expr, point: Point) -> Flag | None:
    """The parameter, True or False by default, that a test asks for: `if from_logits`,
    `if not from_logits`.
    """
    kind, wanted = type(test), True
    if kind is UNARY_OP and type(test.op) is ast.Not:
        test, kind, wanted = test.operand, type(test.operand), False
    binding = (
        unrefined(point.lookup(test.id)) if kind is NAME and says_training(test) is None else None
    )
    if type(binding) is not Parameter or not isinstance(binding.default, Assigned):
        return None
    node = binding.default.node
    return (binding, wanted) if type(node) is CONSTANT and type(node.value) is bool else None


class Chosen(Joined):
    """A name after the two branches of a test of a flag: what one of them left, where all calls
    that are seen hand over the same. What they hand to other parameters went the same way.
    """

    __slots__ = ("flag",)

    def __init__(self, bindings: list[Binding], flag: Flag):
        super().__init__(bindings)
        self.flag = flag

    def compute(self, interpreter: Evaluator) -> Value:
        parameter, wanted = self.flag
        agreed = interpreter.agreed(parameter)
        return (
            super().compute(interpreter)
            if agreed is None
            else self.bindings[0 if agreed is wanted else 1].value(interpreter)
        )


class Apart(Refined):
    """A parameter in a branch of a test of a flag: what calls hand to it is seen only where they do
    not all go the other way.
    """

    __slots__ = ("flag",)

    def __init__(
        self, base: Binding, path: str, test: ast.expr, truth: bool, point: Point, flag: Flag
    ):
        super().__init__(base, path, test, truth, point)
        self.flag = flag

    def compute(self, interpreter: Evaluator) -> Value:
        parameter, wanted = self.flag
        agreed = interpreter.agreed(parameter)
        if agreed is None or (agreed is wanted) is self.truth:
            return self.base.value(interpreter)
        binding = unrefined(self.base)
        return (
            interpreter.unseen(binding)
            if isinstance(binding, Parameter)
            else self.base.value(interpreter)
        )


class Fork:
    """Branches that begin in the same state: when that was, the end of the log where the branch
    began that is walked, what the last one touched, what was `before` of each name that some branch
    changes, the states that reach the end, and the flag that two depend on.
    """

    __slots__ = ("begun", "mark", "touched", "before", "states", "flag")

    def __init__(self, begun: int, mark: int):
        self.begun = begun
        self.mark = mark
        self.touched: State = {}
        self.before: State = {}
        self.states: list[State] = []
        self.flag: Flag | None = None


def merged(
    options: list[Binding | None], base: Binding | None, flag: Flag | None = None
) -> Binding | None:
    """The join of one name's bindings; a name that was only refined in every branch is what it was
    before.
    """
    distinct = list(dict.fromkeys([option for option in options if option is not None]))
    if len(distinct) <= 1:
        return distinct[0] if distinct else None
    before = unrefined(base)
    if before is not None and all([unrefined(option) is before for option in distinct]):
        return base
    return Joined(distinct) if flag is None or len(options) > 2 else Chosen(distinct, flag)


class LoopFrame:
    """The names that a loop changes, and what they are at each `break`; the time and the end of the
    log when it began. Some are `kept` by a round: it may leave what was there before.
    """

    __slots__ = ("names", "begun", "mark", "exits", "kept")

    def __init__(self, names: dict[str, Loop], begun: int, mark: int):
        self.names = names
        self.begun = begun
        self.mark = mark
        self.exits: list[dict[str, Binding | None]] = []
        self.kept: set[str] = set()

    def capture(self, scope: Scope) -> None:
        for path, loop in self.names.items():
            binding = scope.at(path)
            if binding is not None and binding is not loop:
                loop.rounds.append(binding)
            else:
                self.kept.add(path)


def runs(iterable: ast.expr) -> bool:
    """Whether a loop over what is written surely has a round: `[a, b]`, `range(3)`,
    `enumerate([a, b])`.
    """
    if isinstance(iterable, (ast.List, ast.Tuple)):
        return any([not isinstance(one, ast.Starred) for one in iterable.elts])
    if isinstance(iterable, ast.Constant):
        return isinstance(iterable.value, str) and bool(iterable.value)
    if (
        not isinstance(iterable, ast.Call)
        or not isinstance(iterable.func, ast.Name)
        or not iterable.args
        or isinstance(iterable.args[0], ast.Starred)
    ):
        return False
    if iterable.func.id in OF_ANOTHER:
        return all(
            [
                runs(one)
                for one in (iterable.args if iterable.func.id == "zip" else iterable.args[:1])
            ]
        )
    ends = [
        one.value
        for one in iterable.args
        if isinstance(one, ast.Constant) and type(one.value) is int
    ]
    return (
        iterable.func.id == "range"
        and len(ends) == len(iterable.args)
        and (len(ends) < 3 or ends[2] != 0)
        and len(range(*ends[:3])) > 0
    )
