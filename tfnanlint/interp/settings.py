"""Settings of the program: what the project sets them to, and what becomes of one that is 0 by
default where a file asks, mends or bounds it.
"""

from __future__ import annotations

import ast

from tfnanlint.conventions.identifiers import holds_settings, is_epsilon
from tfnanlint.interp import fixpoint as assumptions
from tfnanlint.interp import names as resolution
from tfnanlint.interp.names import SMALL
from tfnanlint.ops.frameworks import VALIDATORS
from tfnanlint.program.functions import Function
from tfnanlint.program.module import Module
from tfnanlint.program.scope import Assigned, Imported, Point, unrefined
from tfnanlint.project.settings import asked, may_set, set_to
from tfnanlint.syntax.access_paths import path_of
from tfnanlint.syntax.nodes import ATTRIBUTE, NOUGHT, nodes_in
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import INF, Note, Value


def _holds_settings(owner: ast.expr, point: Point) -> bool:
    """Whether an object holds settings, by its name (`self.hparams`, `params`, `FLAGS`) or that of
    what it was assigned from.
    """
    if isinstance(owner, ast.Name) and not holds_settings(owner.id):
        binding = unrefined(point.lookup(owner.id))
        owner = binding.node if isinstance(binding, Assigned) else owner
    return holds_settings(path_of(owner) or "")


def _minded(name: str, module: Module) -> bool:
    """Whether a file tests a setting somewhere, or gives it another value: it knows of the 0 by
    default then.
    """
    return asked(module.source.stated, name) or bool(module.source.assigns_outside(name))


class ProjectSettings:
    """The part of the interpreter that reads settings."""

    def __init__(self) -> None:
        self.mendings: dict[tuple[Module, str], list[Value]] = {}

    def configured(
        self, ev: Evaluator, value: Value, name: str, owner: ast.expr, point: Point
    ) -> Value:
        """A setting read from an object of which nothing is known: what the project itself sets it
        to, where those are numbers that are not negative. Where it is only 0, that is noted: it is
        what an epsilon may be.
        """
        project = point.module.project
        if (
            value.known
            or value.kind != "unknown"
            or value.obj is not None
            or project is None
            or ev.session.abroad
            and not ev.session.drafting
        ):
            return value
        if not _holds_settings(owner, point):
            return value
        path, epsilon = point.module.source.path, is_epsilon(name)
        numbers = project.settings(path, name) if epsilon or not ev.session.drafting else ()
        # also in a draft, which must doubt what may be 0
        if epsilon and numbers and not any(numbers) and not self._knowing(ev, name, owner, point):
            return value.but(
                origin=Note(f"'{name}'", owner, point.module.source, default=NOUGHT, path=name),
                token=value.token,
            )
        if ev.session.drafting:
            ev.session.unset.add((path, name))
            # the draft must doubt what may be 0, or lost beside 1
            source = point.module.source
            numbers = set_to(source.stated, name) if may_set(source.text, name) else ()
        if not numbers or min(numbers) < 0:
            return value
        if max(numbers) == 0:
            knowing = self._knowing(ev, name, owner, point)
            if knowing:
                return value if epsilon else self._mended_in(ev, knowing, value, name, owner, point)
            # how large it may be otherwise is not known: only that it may be 0 is to be seen
            note = Note(f"'{name}' is 0 by default", owner, point.module.source, default=NOUGHT)
            return Value(0.0, SMALL[1], kind="number", origin=note, token=value.token)
        note = Note(
            f"'{name}' is taken for what the project sets it to", owner, point.module.source
        )
        return Value(min(numbers), max(numbers), kind="number", origin=note, token=value.token)

    def _knowing(self, ev: Evaluator, name: str, owner: ast.expr, point: Point) -> list[Module]:
        """The files that know of a setting that it is 0 by default: of the one where it is read,
        and those where the object was made.
        """
        modules = [point.module]
        while type(owner) is ATTRIBUTE:
            owner = owner.value
        binding = unrefined(point.lookup(owner.id)) if isinstance(owner, ast.Name) else None
        binding = resolution.exported(ev, binding) if isinstance(binding, Imported) else binding
        if isinstance(binding, Assigned):
            modules.append(binding.point.module)
            callee = (
                resolution.callee(ev, binding.node.func, binding.point)
                if isinstance(binding.node, ast.Call)
                else None
            )
            if callee is not None and isinstance(callee.obj, Function):
                modules.append(callee.obj.module)
        return [module for module in dict.fromkeys(modules) if _minded(name, module)]

    def _mended_in(
        self,
        ev: Evaluator,
        knowing: list[Module],
        value: Value,
        name: str,
        owner: ast.expr,
        point: Point,
    ) -> Value:
        """A setting that is above 0 after all: files put other numbers in its place where it is
        tested, or a validator asks for more.
        """
        mendings: list[Value] = []
        for module in knowing:
            mendings += assumptions.once(
                ev, self.mendings, (module, name), [], self._found_mendings, ev, module, name
            )
        if not mendings or not all([one.positive for one in mendings]):
            return value
        note = Note(f"'{name}' is taken for positive: its 0 is mended", owner, point.module.source)
        least, most = (
            min([SMALL[0], *[one.lo for one in mendings if one.lo]]),
            max([SMALL[1], *[one.hi for one in mendings]]),
        )
        return Value(least, most, kind="number", origin=note, token=value.token)

    def _found_mendings(self, ev: Evaluator, module: Module, name: str) -> list[Value]:
        """What a file assigns to a setting that it asks for, and what its validators leave of one
        that is not negative.
        """
        mendings: list[Value] = []
        for owner, row in module.source.owners_assigned(name):
            scope = module.scope_of_row(row, ev)
            entry = scope.history.get(f"{owner}.{name}") if scope is not None else None
            for binding in entry.bindings() if entry is not None else ():
                if isinstance(binding, Assigned) and (
                    asked(module.source.stated, name) or _reads(binding.node, name)
                ):
                    mendings.append(binding.value(ev))
        if "validator" in module.source.text:
            mendings += self._validated(ev, module, name)
        return mendings

    def _validated(self, ev: Evaluator, module: Module, name: str) -> list[Value]:
        """What is left of a number that is not negative where the validators of a flag hold."""
        ranges: list[Value] = []
        for validator in VALIDATORS:
            for call, point in module.calls_to(validator, ev):
                if (
                    call.args
                    and isinstance(call.args[0], ast.Constant)
                    and call.args[0].value == name
                ):
                    for param, test in _checks(call, module):
                        left = ev.clamped(Value(0.0, INF, kind="number"), param, test, True, point)
                        ranges.append(
                            Value(left.lo, max(left.lo, SMALL[1]), left.zero, kind="number")
                        )
        return ranges


def _checks(call: ast.Call, module: Module) -> list[tuple[str, ast.expr]]:
    """The parameter of a validator and what it returns: that of a lambda that is handed over, or of
    a function that is decorated.
    """
    tests: list[tuple[ast.arguments, ast.expr]] = []
    if len(call.args) > 1:
        checker = call.args[1]
        tests += [(checker.args, checker.body)] if isinstance(checker, ast.Lambda) else []
    for node in module.functions if len(call.args) == 1 else ():
        last = (
            node.body[-1]
            if isinstance(node, ast.FunctionDef) and call in node.decorator_list
            else None
        )
        if (
            isinstance(node, ast.FunctionDef)
            and isinstance(last, ast.Return)
            and last.value is not None
        ):
            tests.append((node.args, last.value))
    return [(spec.args[0].arg, test) for spec, test in tests if spec.args]


def _reads(node: ast.expr, name: str) -> bool:
    """Whether an expression reads an attribute: `max(args.smooth, 1e-6)`."""
    return any([type(inner) is ATTRIBUTE and inner.attr == name for inner in nodes_in(node)])
