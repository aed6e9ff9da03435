"""What the wants of a fixture rest on, found by taking it away: a name of the function, a function
of the file, one of many spellings.

A name is taken away by putting a call of something unknown where it gets its value (or where its
value is used), a function by the same in the place of its call. A want rests on what was taken when
its finding is then gone or says something else.
"""

from __future__ import annotations

import ast
from functools import cached_property
from typing import Iterator

import outcomes
from expectations import expectations

from tfnanlint.dev import repository
from tfnanlint.diagnostics.findings import Edit, Finding
from tfnanlint.ops.names import canonical
from tfnanlint.ops.table import Op
from tfnanlint.ops.table import load as load_table
from tfnanlint.rule.registry import Rule
from tfnanlint.syntax.edits import edits_apply
from tfnanlint.syntax.source import Source, Span

UNKNOWN = "nowhere()"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Crossings:
    """The wanted findings of one rule in a fixture, each with what stands around it."""

    def __init__(self, rule: Rule, source: Source):
        self.rule, self.source = rule, source
        wanted = {
            one.line
            for one in expectations(source.text)
            if one.kind == "want" and one.code == rule.code
        }
        self.wants = [
            one
            for one in outcomes.findings(source, [rule])
            if source.position(one.span.start)[0] in wanted
        ]
        self.places = {one: self._around(one.span) for one in self.wants}

    def _around(self, span: Span) -> list[ast.AST]:
        """The nodes around a span, outermost first."""
        return [
            node
            for node in ast.walk(self.source.tree)
            if hasattr(node, "lineno") and span in self.source.span(node)
        ]

    def body(self, finding: Finding) -> ast.AST:
        """The function that a finding stands in, or the whole file."""
        return next(
            (node for node in reversed(self.places[finding]) if isinstance(node, _FUNCTIONS)),
            self.source.tree,
        )

    def statement(self, finding: Finding) -> ast.stmt:
        return next(node for node in reversed(self.places[finding]) if isinstance(node, ast.stmt))

    # Through a name

    def variable(self) -> Finding | None:
        """A want that rests on a value which a name of its own function (or of the file) carries to
        it or on from it.
        """
        return next(
            (one for one in self.wants for node in self._carried(one) if self._rests_on(one, node)),
            None,
        )

    def _carried(self, finding: Finding) -> Iterator[ast.expr]:
        """What is assigned elsewhere to a name that a want reads, and where a name that its
        statement assigns is read.

        A want reads the names of its statement, of the decorators around it, and of what the file
        sets up for all (`set_policy(policy)`).
        """
        here, body = self.statement(finding), self.body(finding)
        top = self.source.tree.body
        readers = [
            here,
            *getattr(body, "decorator_list", ()),
            *(node for node in top if isinstance(node, ast.Expr)),
        ]
        read = set().union(*(_names(node, ast.Load) for node in readers))
        for node in dict.fromkeys([*ast.walk(body), *top]):
            if (
                isinstance(node, (ast.Assign, ast.AnnAssign))
                and node is not here
                and node.value is not None
            ):
                if _names(node, ast.Store) & read:
                    yield node.value
        stored = _names(here, ast.Store) if isinstance(here, ast.Assign) else set()
        inside = set(ast.walk(here))
        for node in ast.walk(body):
            if (
                isinstance(node, ast.Name)
                and isinstance(node.ctx, ast.Load)
                and node.id in stored
                and node not in inside
            ):
                yield node

    # Through a function

    def helper(self) -> Finding | None:
        """A want that rests on what another function or method of the file gives back, or on what
        is done with its own result.
        """
        return next(
            (one for one in self.wants for node in self._calls(one) if self._rests_on(one, node)),
            None,
        )

    def _calls(self, finding: Finding) -> Iterator[ast.Call]:
        """The calls of other functions in the function of a finding and at the top of the file, and
        the calls of its own function.
        """
        body = self.body(finding)
        own = getattr(body, "name", "")
        outside = {
            inner
            for node in self.source.tree.body
            if isinstance(node, (*_FUNCTIONS, ast.ClassDef))
            for inner in ast.walk(node)
        }
        inside = set(ast.walk(body)) - (outside if body is self.source.tree else set())
        for node in ast.walk(self.source.tree):
            if isinstance(node, ast.Call) and _last(node.func) in self.functions:
                if _last(node.func) == own or node in inside or node not in outside:
                    yield node

    @cached_property
    def functions(self) -> set[str]:
        return {node.name for node in ast.walk(self.source.tree) if isinstance(node, _FUNCTIONS)}

    # Taken away

    def _rests_on(self, finding: Finding, node: ast.expr) -> bool:
        """Whether the finding is gone or another one when nothing is known of an expression."""
        rows = self.source.segment(node).count("\n")
        text = edits_apply(
            self.source.text, [Edit(self.source.span(node), f"({UNKNOWN}" + "\n" * rows + ")")]
        )
        row = self.source.position(finding.span.start)[0]
        changed = Source(self.source.path, text)
        left = [
            (one.message, one.certainty)
            for one in repository.findings(changed, [self.rule])
            if changed.position(one.span.start)[0] == row
        ]
        return (finding.message, finding.certainty) not in left

    # Spelled another way

    def spellings(self) -> dict[str, set[str]]:
        """The ways in which the functions of wants write each op that the rule looks at (each op,
        for a rule on methods and events).
        """
        found: dict[str, set[str]] = {}
        looked_at = {
            row.name
            for row in map(load_table().get, self.rule.on)
            if row is not None and not row.name.startswith("method.")
        }
        for body in dict.fromkeys(map(self.body, self.wants)):
            for node in ast.walk(body):
                spelled = self._spelled(node)
                if spelled is not None and (not looked_at or spelled[0].name in looked_at):
                    found.setdefault(spelled[0].name, set()).add(spelled[1])
        return found

    def _spelled(self, node: ast.AST) -> tuple[Op, str] | None:
        if isinstance(node, ast.BinOp):
            row = load_table().get(_OPERATORS.get(type(node.op), ""))
            return (row, "operator") if row is not None else None
        if not isinstance(node, ast.Call):
            return None
        dotted = ast.unparse(node.func)
        root, _, rest = dotted.partition(".")
        target = self.imports.get(root)
        if target is None:
            row = load_table().get(f"method.{_last(node.func)}")
            return (row, "method") if row is not None else None
        full = target + "." + rest if rest else target
        row = load_table().get(canonical(full))
        return (row, f"{'' if rest else 'by name '}{full}") if row is not None else None

    @cached_property
    def imports(self) -> dict[str, str]:
        found = {}
        for node in ast.walk(self.source.tree):
            if isinstance(node, ast.Import):
                found |= {
                    alias.asname or alias.name.split(".")[0]: alias.name
                    if alias.asname
                    else alias.name.split(".")[0]
                    for alias in node.names
                }
            elif isinstance(node, ast.ImportFrom):
                found |= {
                    alias.asname or alias.name: f"{node.module}.{alias.name}"
                    for alias in node.names
                }
        return found


_OPERATORS = {
    ast.Div: "tf.divide",
    ast.Sub: "tf.subtract",
    ast.Mult: "tf.multiply",
    ast.Pow: "tf.pow",
    ast.Add: "tf.add",
    ast.FloorDiv: "tf.math.floordiv",
    ast.Mod: "tf.math.floormod",
    ast.MatMult: "tf.matmul",
}


def _names(node: ast.AST, context: type) -> set[str]:
    return {
        one.id
        for one in ast.walk(node)
        if isinstance(one, ast.Name) and isinstance(one.ctx, context)
    }


def _last(node: ast.expr) -> str:
    return (
        node.attr
        if isinstance(node, ast.Attribute)
        else node.id
        if isinstance(node, ast.Name)
        else ""
    )
