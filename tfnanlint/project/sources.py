"""Sources: the expressions whose values a name or an attribute may have, one step back. Only what
decides a branch comes from here, so that what people or other code may set is `Unknown`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from tfnanlint.ops.frameworks import ASSIGNED_BY_BASES
from tfnanlint.project.bindings import Frame, Kind, Store, Unknown
from tfnanlint.project.names import Names, Node
from tfnanlint.project.outlines import TOP
from tfnanlint.project.programs import Program
from tfnanlint.project.receivers import Of, Receivers, seen


class Sources:
    """Where the values of the names and attributes of a program come from."""

    def __init__(self, program: Program, names: Names, receivers: Receivers):
        self._program = program
        self._names = names
        self._receivers = receivers

    def of(self, node: ast.expr, place: Node) -> list[tuple[Node, ast.expr]]:
        """The expressions whose values a name or an attribute may have, with where they stand."""
        if isinstance(node, ast.Name):
            path, owner = place
            frame = self._receivers.bindings(path).frame_of(owner, node.id, node)
            if frame is None:
                raise Unknown
            return list(self._of_name(path, node.id, frame))
        if not isinstance(node, ast.Attribute):
            raise Unknown
        values = self._receivers.of(node.value, place)
        if not values:
            raise Unknown
        return [source for value in values for source in self._in(value, node.attr)]

    def _of_name(self, path: str, name: str, frame: Frame) -> Iterator[tuple[Node, Any]]:
        if frame.outer is None:
            yield from self._stored_in_module(path, name)
        for binding in frame.bound[name]:
            place = path, binding.owner
            if binding.kind is Kind.VALUE:
                yield place, binding.node
            elif binding.kind is Kind.PARAMETER and not self._receivers.first(place, name):
                yield from self._of_parameter(place, name)
            elif binding.kind is Kind.IMPORT:
                yield from self._of_import(path, name)
            else:
                raise Unknown

    def _of_parameter(self, place: Node, name: str) -> Iterator[tuple[Node, Any]]:
        """What calls pass; not what a script passes, which people change from run to run."""
        frame = self._receivers.bindings(place[0]).function(place[1])
        defaults = (
            [] if frame is None else [*frame.node.args.defaults, *frame.node.args.kw_defaults]
        )
        for where, node in self._receivers.passed(place, name):
            if where[1] == TOP and node not in defaults:
                raise Unknown
            yield where, node

    def _of_import(self, path: str, bound: str) -> Iterator[tuple[Node, Any]]:
        """Where a constant comes from that a file imports."""
        for imported in self._names.outline(path).imports:
            if imported.bound != bound or imported.name == "*":
                continue
            homes = self._program.modules(path, imported, imported.words) if imported.name else []
            if len(homes) != 1 or imported.name not in self._receivers.bindings(homes[0]).top.bound:
                raise Unknown
            yield from self._of_name(
                homes[0], imported.name, self._receivers.bindings(homes[0]).top
            )

    def _stored_in_module(self, path: str, name: str) -> Iterator[tuple[Node, Any]]:
        """What other code assigns to a name of a file: `settings.debug = True`."""
        if self._names.outline(path).looks_up:
            raise Unknown
        for file in self._names.holding(name):
            for store in self._receivers.bindings(file).stores.get(name, ()):
                try:
                    values = self._receivers.of(store.receiver, (file, store.owner))
                except Unknown:
                    values = frozenset((Of("module", path, TOP),))
                if Of("module", path, TOP) in values:
                    yield (file, store.owner), seen(store.value)

    def _in(self, value: Of, name: str) -> Iterator[tuple[Node, Any]]:
        if value.what == "module":
            top = self._receivers.bindings(value.path).top
            if name not in top.bound:
                raise Unknown
            yield from self._of_name(value.path, name, top)
        elif value.what == "object" and name not in ASSIGNED_BY_BASES:
            yield from self._in_object((value.path, value.name), name)
        else:
            raise Unknown

    def _in_object(self, node: Node, name: str) -> Iterator[tuple[Node, Any]]:
        """What methods assign to an attribute, where these are parameters. Other code may set what
        a class has in its body, or begins with: `parser.parse_args(namespace=options)`.
        """
        if any(
            [
                name in self._receivers.class_frame(above).bound
                for above in self._receivers.ancestors(node)
            ]
        ):
            raise Unknown
        is_assigned = False
        for path, store in self._receivers.stores(node, name):
            if not self._is_parameter(path, store):
                raise Unknown
            is_assigned = True
            yield (path, store.owner), store.value
        if not is_assigned:
            raise Unknown

    def _is_parameter(self, path: str, store: Store) -> bool:
        frame = self._receivers.bindings(path).function(store.owner)
        name = store.value.id if isinstance(store.value, ast.Name) else ""
        bound = frame.bound.get(name, ()) if frame is not None else ()
        return any([one.kind is Kind.PARAMETER for one in bound])
