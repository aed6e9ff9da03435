"""Arguments: what the calls of a program pass for the parameters of its functions.

They are known of a function that is defined once, that has no decorator, and that the program calls
by its name alone.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any, Final

from tfnanlint.project.bindings import Unknown
from tfnanlint.project.names import Names, Node
from tfnanlint.project.outline_entries import Definition, Use
from tfnanlint.project.outlines import TOP
from tfnanlint.project.receivers import Receivers

_START: Final = "__init__"

Passed = list[tuple[Node, ast.expr]]  # expressions, with where they stand


class Arguments:
    """What calls pass. `is_called_unseen` says whether code may call a definition that does not
    load its name.
    """

    def __init__(
        self,
        names: Names,
        receivers: Receivers,
        is_called_unseen: Callable[[str, Definition], bool],
    ):
        self._names = names
        self._receivers = receivers
        self._is_called_unseen = is_called_unseen
        self.begin()

    def begin(self) -> None:
        """Read the files anew."""
        self._known: dict[tuple[Node, str], Passed | None] = {}

    def of(self, place: Node, parameter: str) -> Passed:
        """What the calls of a function pass for a parameter: at least one expression."""
        key = place, parameter
        if key not in self._known:
            self._known[key] = None  # what it depends on itself for is not known
            self._known[key] = self._find(place, parameter)
        passed = self._known[key]
        if not passed:
            raise Unknown
        return passed

    def _find(self, place: Node, parameter: str) -> Passed:
        path, name = place
        frame = self._receivers.bindings(path).function(name)
        definition = self._names.definition(place)
        if frame is None or definition is None or frame.node.decorator_list:
            raise Unknown
        is_method = self._names.is_method(path, definition)
        if parameter not in parameters(frame.node.args)[is_method:]:
            raise Unknown
        if definition.name == _START and is_method:
            return list(self._of_class((path, definition.parent), place, frame.node, parameter))
        if not self.is_seen(path, definition):
            raise Unknown
        return list(self._of_calls(place, definition, frame.node, parameter, is_method))

    def _of_calls(
        self, place: Node, definition: Definition, node: Any, parameter: str, is_method: bool
    ) -> Iterator[tuple[Node, ast.expr]]:
        skips = (1, 0) if is_method else (0,)
        for file, use in self._uses(place, definition):
            yield from self._passed(file, use, place[0], node, parameter, skips)

    def calls(self, place: Node, definition: Definition) -> Iterator[bool]:
        """For each use of a function whether it is a call."""
        return (use.call is not None for _, use in self._uses(place, definition))

    def _uses(self, place: Node, definition: Definition) -> Iterator[tuple[str, Use]]:
        for file, use in self._names.uses_of(place, definition):
            if self._receivers.may_use(file, use, place, definition):
                yield file, use

    def _of_class(
        self, owner: Node, place: Node, node: Any, parameter: str
    ) -> Iterator[tuple[Node, ast.expr]]:
        """What the objects of a class, and of those that inherit its `__init__`, are made with."""
        start = self._names.definition(place)
        for heir in self._receivers.family(owner):
            definition = self._names.definition(heir)
            if definition is None or place not in self._receivers.lookup(heir, _START):
                continue
            if not self._is_made_here(heir, definition):
                raise Unknown
            for file, use in self._names.uses_of(heir, definition):
                is_base = self._is_base(file, use)
                is_inside = file == heir[0] and f"{use.owner}.".startswith(f"{heir[1]}.")
                if is_base or is_inside and use.call is None:
                    continue
                if self._receivers.may_use(file, use, heir, definition):
                    yield from self._passed(file, use, place[0], node, parameter, (1,))
        names = {name.rpartition(".")[2] for _, name in self._receivers.family(owner)}
        files = {file for name in names for file in self._names.holding(name)}
        for file in sorted(files):
            for use in self._names.outline(file).uses(_START):
                if start is None or self._receivers.may_use(file, use, place, start):
                    yield from self._passed(file, use, place[0], node, parameter, (1, 0))

    def _is_base(self, path: str, use: Use) -> bool:
        """Whether a class is loaded for another one to inherit from it."""
        frame = self._receivers.bindings(path).function(use.owner) if use.owner != TOP else None
        return (
            frame is not None
            and frame.is_class
            and any(use.node is base for base in frame.node.bases)
        )

    def _is_made_here(self, node: Node, definition: Definition) -> bool:
        """Whether objects of a class are made by calls of its name alone, as far as can be seen."""
        path, name = node
        if definition.is_open or self._is_called_unseen(path, definition):
            return False
        bindings = self._receivers.bindings(path)
        return not any(
            "classmethod" in ast.unparse(one)
            for frames in bindings.frames.values()
            for frame in frames
            if frame.is_function and frame.name.startswith(f"{name}.")
            for one in frame.node.decorator_list
        )

    def _passed(
        self, path: str, use: Use, home: str, node: Any, parameter: str, skips: tuple[int, ...]
    ) -> Iterator[tuple[Node, ast.expr]]:
        """What a call passes for a parameter. The call of a method may pass its object, as that of
        an attribute of a class does: each way counts that the signature allows.
        """
        call = use.call
        if call is None or _is_spread(call) or self._names.outline(path).is_words:
            raise Unknown
        fitting = [
            passed
            for skipped in skips
            if (passed := _bound_by(node.args, call, skipped)) is not None
        ]
        if not fitting:
            raise Unknown
        for passed in fitting:
            if parameter in passed:
                yield (path, use.owner), passed[parameter]
            else:
                yield (home, TOP), _defaults(node.args)[parameter]

    def is_seen(self, path: str, definition: Definition) -> bool:
        """Whether all calls of a function are those that load its name."""
        files = self._names.holding(definition.name)
        if any(self._names.outline(one).is_words for one in files):
            return False
        return not self._is_called_unseen(path, definition)


def parameters(args: ast.arguments) -> list[str]:
    """The parameters that a call may name or count, in order."""
    return [one.arg for one in (*args.posonlyargs, *args.args, *args.kwonlyargs)]


def _defaults(args: ast.arguments) -> dict[str, ast.expr]:
    places = [one.arg for one in (*args.posonlyargs, *args.args)]
    defaults = dict(zip(reversed(places), reversed(args.defaults)))
    for argument, default in zip(args.kwonlyargs, args.kw_defaults):
        if default is not None:
            defaults[argument.arg] = default
    return defaults


def _is_spread(call: ast.Call) -> bool:
    return any(isinstance(one, ast.Starred) for one in call.args) or any(
        keyword.arg is None for keyword in call.keywords
    )


def _bound_by(args: ast.arguments, call: ast.Call, skipped: int) -> dict[str, ast.expr] | None:
    """What a call passes by the names of parameters, the first ones skipped; None where the
    signature does not allow the call.
    """
    places = [one.arg for one in (*args.posonlyargs, *args.args)][skipped:]
    names = parameters(args)[skipped:]
    if len(call.args) > len(places) and args.vararg is None:
        return None
    passed = dict(zip(places, call.args))
    for keyword in call.keywords:
        if keyword.arg in names[max(len(args.posonlyargs) - skipped, 0) :]:
            passed[str(keyword.arg)] = keyword.value
        elif args.kwarg is None:
            return None
    defaults = _defaults(args)
    return passed if all(name in passed or name in defaults for name in names) else None
