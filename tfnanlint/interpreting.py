"""What the parts of the interpreter have in common: its state, and the few questions that a part asks of one that builds on it.

Each part inherits from the one before it, for compiled classes have one base only: what a name stands for and what is assumed
comes first, then who calls, what objects there are, what calls give, what training changes, and the expressions last.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final

from tfnanlint.evaluator import Evaluator
from tfnanlint.values import INF, Value

if TYPE_CHECKING:
    from tfnanlint.calls import Function
    from tfnanlint.ops import Op
    from tfnanlint.scopes import Point, Scope
    from tfnanlint.site import Site

MAX_ABROAD: Final = 1  # files between a parameter and the callers that are looked for


class Nesting:
    """How many calls are being followed inside each other. Deeper ones are cut off, and what was cut off at one depth is asked
    again at a smaller one."""

    __slots__ = ("stamp",)

    def __init__(self) -> None:
        self.stamp = 0


class Interpreting(Evaluator):
    """The state of an interpreter, and what its parts ask of those that build on them."""

    def __init__(self, table: dict[str, Op], leaves: Any, constants: dict[str, Value]) -> None:
        self.table = table
        self.leaves = leaves  # last names of the spellings of ops
        self.constants = constants
        self.scopes: list[Scope] = []  # every activation made
        self.given: list[Site] = []  # the sites that hold what they gave
        self.depth = 0
        self.steps = 0
        self.allowance = INF
        self.limit = 0
        self.cut_short = False
        self.abroad = 0
        # A draft leaves callers and settings in other files for later: the file and the name of each that it did without.
        self.drafting = False
        self.overlooked: set[tuple[str, str]] = set()
        self.unset: set[tuple[str, str]] = set()
        # What is assumed
        self.reads: list[Any] = []  # the assumptions read by what is being computed
        self.active_loops = self.asking = self.inlined = 0  # loops that are tried, parameters whose callers are asked, calls that are followed
        self.nesting = Nesting()
        self._sites: dict[tuple[ast.expr, int], Site | None] = {}
        self._stamps = 0
        self.held: dict[Any, tuple[Any, tuple[tuple[Any, int], ...]]] = {}
        self._tentative: set[ast.AST] = set()  # the expressions of which something is held
        # What was found out about the program

    def gave(self, site: Site, value: Value) -> None:
        """Note what a site gave: the value refers to the site in turn, until everything is let go of."""
        site.result = value
        self.given.append(site)

    def forget(self) -> None:
        """Let go of all that was found out: it refers to itself in circles, and nobody collects those."""
        for site in self.given:
            site.result = None
        for kept in (self.scopes, self.given, self.reads, self._sites, self.held, self._tentative, self.overlooked, self.unset):
            kept.clear()

    def returned(self, scope: Scope, live: bool) -> Value:
        raise NotImplementedError

    def activated(self, function: Function) -> Scope:
        raise NotImplementedError

    def clamped(self, value: Value, path: str, test: ast.expr, truth: bool, point: Point) -> Value:
        raise NotImplementedError

    def stable(self, path: str | None, point: Point) -> Value | None:
        raise NotImplementedError

    @property
    def sees_callers(self) -> bool:
        """Whether calls in other files are looked for now: not for a draft."""
        return self.abroad < MAX_ABROAD
