"""Whether what an expression gives ever comes to something that a gradient may be taken of.

It is followed through names, lists, the elements of tuples that functions return, attributes and
the parameters of functions: in

    def forward(x):
        return losses(x), distances(x)

    loss, shown = forward(x)
    tape.gradient(loss, variables)
    print(shown)

nothing takes a gradient of `distances(x)`. What is lost from view may be differentiated.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final

from tfnanlint.interp.callgraph.callers import targets
from tfnanlint.ops.frameworks import GRAPH_DECORATORS, SINKS, SUMMARIES
from tfnanlint.ops.names import is_tensorflow
from tfnanlint.ops.table import SETTINGS, load
from tfnanlint.program.flowgraph import Definition, Use
from tfnanlint.program.functions import ClassObject, Function
from tfnanlint.program.scope import Point, Scope
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import ATTRIBUTE, CALL, NAME, SUBSCRIPT, nodes_in
from tfnanlint.uses.uses import BODIES, LOOKUPS, PRINTS, calls_of, endings_of

if TYPE_CHECKING:
    from tfnanlint.interp.engine import Engine
    from tfnanlint.program.module import Module

_MAX_STEPS: Final = 200  # expressions that one value is followed through
# What gives a number or a text that no gradient leads back from.
_SHOWING: Final = SUMMARIES | PRINTS | frozenset("float format str repr".split())
_NUMBERS: Final = ("item", "tolist")
_ARRAYS: Final = ("np", "math")
# Functions of Python that give what they are given, or something made of it.
_GATHERING: Final = frozenset(
    "zip enumerate list tuple dict reversed sorted sum abs max min len range".split()
)
# Expressions in which a part gets another name, or leaves the function.
_LEAVING: Final = (
    ast.comprehension,
    ast.Lambda,
    ast.NamedExpr,
    ast.Yield,
    ast.YieldFrom,
    ast.Await,
)
_KEEPING_WORDS: Final = frozenset(("activity_regularizer", "loss_collection"))
_PLAIN_DECORATORS: Final = GRAPH_DECORATORS | {"staticmethod", "classmethod"}
_ROOTS: Final = frozenset(("object", "builtins.object"))
_PATTERNS: Final = ("case ",)
_COLLECTED: Final = "losses"  # a part of the names of functions that keep a loss for later


class Forward:
    """The ways of one value. A way that comes back to where it has been leads nowhere.
    `is_certain`: no attribute that the value becomes, and no method that gives it, is looked up by
    a text.
    """

    def __init__(self, interpreter: Engine):
        self.is_certain = True
        self._interpreter = interpreter
        self._looked_up: dict[Scope, bool] = {}
        self._seen: set[tuple[ast.AST | str, int | None]] = set()

    def ends(self, node: ast.AST, point: Point, element: int | None = None) -> bool:
        """Whether no gradient may be taken of what a node gives, or of one element of that."""
        if (node, element) in self._seen:
            return True
        self._seen.add((node, element))
        if len(self._seen) > _MAX_STEPS or point.over is not None or point.scope.function is None:
            return False
        if self._names_itself(point.scope):
            return False
        endings = endings_of(point.scope, point.scope.module)
        whole, above = endings.route(node)
        if whole is None or endings.may_train(whole, node):
            return False
        if endings.is_cut(whole, node):
            return True
        if whole in endings.flow.augmented and any(map(_lists, above)):
            return False  # a list may have other names
        for outer, inner in reversed(above):
            if element is not None and _chosen(outer, inner) not in (None, element):
                return True
            element = _place(outer, inner) if outer is whole else None
            is_end = self._is_end(outer, inner, point)
            if is_end or not self._hands_on(outer, inner, point, whole):
                return is_end
        return self._goes_on(whole, point, element)

    def _names_itself(self, scope: Scope) -> bool:
        """Whether a function may read its names by text: `return locals()`."""
        if scope not in self._looked_up:
            self._looked_up[scope] = any(
                type(node) is NAME and node.id in LOOKUPS for node in nodes_in(scope.node)
            )
        return self._looked_up[scope]

    # Inside of an expression

    def _is_end(self, outer: ast.AST, inner: ast.AST, point: Point) -> bool:
        """Whether no gradient leads back into a part of an expression: a call that shows it, that
        of a function of the program in which it ends, or an op that only reads a setting of it.
        """
        if type(outer) is ast.FormattedValue:
            return True
        if type(outer) is ATTRIBUTE:
            return outer.attr in _NUMBERS
        if type(outer) is not CALL or inner is outer.func:
            return False
        if self._shows(outer, point) or self._is_setting(outer, inner, point):
            return True
        functions = [target for target, _, _ in targets(self._interpreter, outer, point)]
        return bool(functions) and all(
            [
                function is not None and self._parameter_ends(function, outer, inner)
                for function in functions
            ]
        )

    def _is_setting(self, call: ast.Call, part: ast.AST, point: Point) -> bool:
        """Whether a part of a call says how an op works, not on what: the shape of `tf.reshape`."""
        name = self._interpreter.resolve(call.func, point) or ""
        row = load().get(name)
        if row is None or any(type(one) is ast.Starred for one in call.args):
            return False
        if part in call.args:
            order = row.params_of(name)
            place = call.args.index(part)
            return place < len(order) and order[place] in SETTINGS
        return isinstance(part, ast.keyword) and part.arg in SETTINGS

    def _shows(self, call: ast.Call, point: Point) -> bool:
        """Whether a call shows what it is given, or makes a number or a text of it."""
        if leaf(call.func) not in _SHOWING:
            return False
        name = self._interpreter.resolve(call.func, point) or ""
        if type(call.func) is not ATTRIBUTE or is_tensorflow(name):
            return is_tensorflow(name) or name.startswith("builtins.")
        if isinstance(call.func.value, ast.Constant):
            return True  # `"{}".format(x)`
        is_statement = call in endings_of(point.scope, point.scope.module).flow.statements
        return is_statement and not self._interpreter.targets(call, point)

    def _hands_on(self, outer: ast.AST, inner: ast.AST, point: Point, whole: ast.AST) -> bool:
        """Whether an expression does nothing with a part but give what it makes of it."""
        if type(outer) is not CALL:
            return type(outer) not in _LEAVING
        definitions = endings_of(point.scope, point.scope.module).flow.made.get(whole, ())
        if outer is whole and any(one.name == _changed_by(outer) for one in definitions):
            return True  # `steps.append(x)`
        if self._interpreter.targets(outer, point):
            return False
        name = self._interpreter.resolve(outer.func, point) or ""
        family, _, rest = name.partition(".")
        is_known = family in _ARRAYS or is_tensorflow(name) or rest in _GATHERING
        words = {one.arg for one in outer.keywords}
        return (
            is_known
            and leaf(outer.func) not in SINKS
            and words.isdisjoint(_KEEPING_WORDS)
            and not any(_COLLECTED in part for part in name.split("."))
        )

    # From an expression to others

    def _goes_on(self, whole: ast.AST, point: Point, element: int | None) -> bool:
        """Whether all ends that the whole expression of a statement is given to."""
        endings = endings_of(point.scope, point.scope.module)
        if any(returned is whole for returned, _ in point.scope.returns):
            return self._result_ends(point.scope, element)
        unpacked = endings.flow.unpacked.get(whole)
        if element is not None and unpacked and element < len(unpacked):
            target, definition = unpacked[element]
            if definition is not None:
                return self._definition_ends(definition, point, None)
            return self._attribute_ends(target, point)
        if whole in endings.flow.kept:
            return self._attribute_ends(endings.flow.kept[whole], point)
        definitions = endings.flow.made.get(whole, ())
        if not all(one.is_alone for one in definitions):
            element = None
        return bool(definitions) and all(
            [self._definition_ends(one, point, element) for one in definitions]
        )

    def _definition_ends(self, definition: Definition, point: Point, element: int | None) -> bool:
        flow = endings_of(point.scope, point.scope.module).flow
        if flow.outer(definition.name):
            return False
        # what returns nothing may be a part of a program, of which the rest is not shown
        is_last = definition.is_dead or any([value is not None for value, _ in point.scope.returns])
        if not (definition.uses or is_last):
            return False
        return all(self._use_ends(use, point, element) for use in definition.uses)

    def _use_ends(self, use: Use, point: Point, element: int | None) -> bool:
        """Whether all ends that a use of a name gives: of what a function inside reads, there."""
        if type(use.whole) not in BODIES:
            return self.ends(use.node, point, element)
        if not hasattr(use.node, "lineno"):
            return False  # assigned there
        places = [
            where
            for expression, where in point.scope.module.expressions(
                use.node.lineno, self._interpreter
            )
            if use.node in nodes_in(expression)
        ]
        return bool(places) and all(self.ends(use.node, where, element) for where in places)

    def _result_ends(self, scope: Scope, element: int | None) -> bool:
        """Whether all ends that the calls of the function of a scope give."""
        interpreter, function = self._interpreter, scope.function
        if function is None or scope.yields or isinstance(function.node, ast.Lambda):
            return False
        if not _PLAIN_DECORATORS.issuperset(function.decorators):
            return False
        if function.owner is not None and not self._is_called_by_name(function):
            return False
        if not interpreter.session.sees_callers or interpreter.escapes(function):
            return False
        call_sites = calls_of(function, interpreter)
        return bool(call_sites) and all(
            self.ends(call, point, element) for call, point in call_sites
        )

    def _is_called_by_name(self, method: Function) -> bool:
        """Whether the files are known in which calls of a method may stand that name it."""
        if _is_operator(method.name):
            return False
        modules = self._modules_with(method.name, method.module)
        return modules is not None and not any(_is_quoted(one, method.name) for one in modules)

    def _parameter_ends(self, function: Function, call: ast.Call, argument: ast.AST) -> bool:
        """Whether all ends that a function makes of an argument."""
        name = _parameter(function, call, argument)
        if not name or function.owner is not None or isinstance(function.node, ast.Lambda):
            return False
        if not GRAPH_DECORATORS.issuperset(function.decorators):
            return False
        point = Point(self._interpreter.activation(function))
        definition = endings_of(point.scope, point.scope.module).flow.parameters.get(name)
        return definition is not None and self._definition_ends(definition, point, None)

    def _attribute_ends(self, target: ast.AST, point: Point) -> bool:
        """Whether all ends that reads of an attribute of an object give: in all files of the
        project, of whatever object.
        """
        function = point.scope.function
        is_own = type(target) is ATTRIBUTE and type(target.value) is NAME
        if not is_own or target.value.id != "self" or function is None or function.owner is None:
            return False
        if not self._is_known(function.owner):
            return False
        key = f".{target.attr}"
        if (key, None) in self._seen:
            return True
        self._seen.add((key, None))
        modules = self._modules_with(target.attr, point.scope.module) or []
        if any(
            _is_quoted(module, target.attr) or _is_defined(module, target.attr)
            for module in modules
        ):
            return False
        reads = [
            (node, where)
            for module in modules
            for row in module.source.rows_with(key)
            for expression, where in module.expressions(row, self._interpreter)
            for node in nodes_in(expression)
            if type(node) is ATTRIBUTE
            and node.attr == target.attr
            and isinstance(node.ctx, ast.Load)
        ]
        return bool(reads) and all(self.ends(node, where) for node, where in reads)

    def _is_known(self, owner: ClassObject) -> bool:
        """Whether all code of a class and of what it inherits from is part of the program."""
        lineage = self._interpreter.lineage(owner)
        known = {"object", *[one.name for one in lineage]}
        return not self._interpreter.foreign_bases(owner) - _ROOTS and all(
            [
                not one.node.keywords and known.issuperset(map(leaf, one.node.bases))
                for one in lineage
            ]
        )

    def _modules_with(self, attribute: str, module: Module) -> list[Module] | None:
        """The modules of the project in whose text the name of an attribute stands; None where they
        are not known.
        """
        modules, are_all = modules_with(attribute, module)
        self.is_certain = self.is_certain and are_all
        return modules


def modules_with(attribute: str, module: Module) -> tuple[list[Module] | None, bool]:
    """The modules of the program of one in whose text the name of an attribute stands, and whether
    no other reads it, by a name that is computed; None where they are not known.
    """
    if module.project is None:
        return [module], False
    naming = module.project.naming(module.source.path, attribute)
    if naming is None:
        return None, True
    paths, are_all = naming
    modules = [module.project.module_or_own(path) for path in paths]
    return (modules if None not in modules else None), are_all


def _is_operator(name: str) -> bool:
    """Whether expressions run a method of that name without naming it: `__matmul__`."""
    return name.startswith("__") and name.endswith("__") and name != "__call__"


def _is_quoted(module: Any, attribute: str) -> bool:
    """Whether a file reads an attribute by a pattern, or has its name in a text of its code."""
    source = module.source
    has_text = source.holds((f'"{attribute}', f"'{attribute}"))
    if not has_text and not (
        source.holds(_PATTERNS) and source.holds((f"{attribute}=", f"{attribute} ="))
    ):
        return False
    return any(
        isinstance(node, ast.MatchClass)
        and attribute in node.kwd_attrs
        or isinstance(node, ast.Constant)
        and node.value == attribute
        for node in nodes_in(source.tree)
    )


def _is_defined(module: Any, attribute: str) -> bool:
    """Whether a class of a file has more than a number or text by the name of an attribute: what is
    assigned to a property may be kept under another name.
    """
    return any(
        _binds(node, attribute)
        for cls in nodes_in(module.source.tree)
        if isinstance(cls, ast.ClassDef)
        for node in cls.body
    )


def _binds(node: ast.stmt, name: str) -> bool:
    """Whether a statement binds a name to more than a number or text."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return node.name == name
    if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
        return False
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    is_named = any(isinstance(one, ast.Name) and one.id == name for one in targets)
    return is_named and not isinstance(node.value, ast.Constant)


def _parameter(function: Function, call: ast.Call, argument: ast.AST) -> str:
    """The name of the parameter that is given an argument of a call; "" where it is not known."""
    arguments = function.node.args
    named = [one.arg for one in call.keywords if one is argument and one.arg]
    own = [one.arg for one in (*arguments.args, *arguments.kwonlyargs)]
    if named:
        return named[0] if named[0] in own else ""
    if argument not in call.args:
        return ""
    before = call.args[: call.args.index(argument) + 1]
    positional = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    if any(type(one) is ast.Starred for one in before) or len(before) > len(positional):
        return ""
    return positional[len(before) - 1]


def _changed_by(call: ast.Call) -> str:
    """`steps` of `steps.append(x)`."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    return owner.id if isinstance(owner, ast.Name) else ""


def _lists(around: tuple[ast.AST, ast.AST]) -> bool:
    """Whether an expression around a part makes a list of it, or may."""
    return isinstance(around[0], (ast.List, ast.Tuple, ast.ListComp, ast.Call))


def _place(outer: ast.AST, inner: ast.AST) -> int | None:
    """Which element of a tuple a part of it is; None where it is none."""
    if type(outer) is not ast.Tuple or any(type(one) is ast.Starred for one in outer.elts):
        return None
    return next(at for at, one in enumerate(outer.elts) if one is inner)


def _chosen(outer: ast.AST, inner: ast.AST) -> int | None:
    """Which element an index takes, where it is a number that is not negative."""
    if type(outer) is not SUBSCRIPT or inner is not outer.value:
        return None
    index = outer.slice.value if isinstance(outer.slice, ast.Constant) else None
    return index if type(index) is int and index >= 0 else None
