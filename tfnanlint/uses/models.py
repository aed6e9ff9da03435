"""Models of Keras and what becomes of them: whether the loss that one is compiled with is used."""

from __future__ import annotations

import ast
from collections import Counter
from typing import Any, Final

from tfnanlint.ops.frameworks import (
    PREDICT_METHODS,
    TAKING_MODELS,
    TRAINING_CALLS,
    WITHOUT_LOSS,
)
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import nodes_in, parts_of

_HOLDING: Final = (ast.List, ast.Tuple)
_RENAMING: Final = (ast.Global, ast.Nonlocal)
_DEPTH: Final = 3  # of functions that hand a model on
_COMPILED: Final = "compile"
_TRAINING: Final = frozenset(TRAINING_CALLS) - {_COMPILED}

Function = ast.FunctionDef


def is_never_trained(site: Any) -> bool:
    """Whether nothing computes the loss with which a call of `compile` sets a model up: the name of
    the model is never asked to train or evaluate, nor handed on to what may do so, in code that
    trains others or asks the model for predictions.
    """
    call, point = site.node, site.point
    if point is None or point.over is not None or not isinstance(call, ast.Call):
        return False
    name = _name_of(getattr(call.func, "value", None))
    if not name:
        return False
    is_local = point.scope.function is not None and not name.startswith(".")
    scope = point.scope.node if is_local else None
    file = _File(point.module)
    return file.is_without_loss(scope, name) and file.is_run(scope, name)


class _File:
    """What becomes of models in one file. A scope is a function, or None for the file itself. The
    name of a model is that of a variable of a scope, or that of an attribute with a dot before it:
    of that all objects of the file are one.
    """

    def __init__(self, module: Any):
        self._module = module
        self._tree = module.source.tree
        classes = [node for node in self._tree.body if isinstance(node, ast.ClassDef)]
        methods = [node for one in classes for node in one.body]
        functions = [
            node
            for node in [*self._tree.body, *methods]
            if isinstance(node, Function) and not node.decorator_list
        ]
        names = Counter(function.name for function in functions)
        # those at the top level and in classes that are defined once
        self._functions = {one.name: one for one in functions if names[one.name] == 1}
        self._methods = {one for one in self._functions.values() if one in methods}
        self._scopes: dict[Any, tuple[list[ast.AST], dict[ast.AST, ast.AST]]] = {}
        self._answers: dict[tuple[Any, str, int], bool] = {}

    def _nodes(self, scope: Any) -> tuple[list[ast.AST], dict[ast.AST, ast.AST]]:
        """The nodes of a scope, and what stands around each of them."""
        if scope not in self._scopes:
            nodes = nodes_in(scope or self._tree)
            around = {part: node for node in nodes for part in parts_of(node)}
            self._scopes[scope] = nodes, around
        return self._scopes[scope]

    def is_without_loss(self, scope: Any, name: str, depth: int = _DEPTH) -> bool:
        """Whether no loss of a model is computed where a scope names it, nor in functions of the
        file that are handed the model, or that it is returned to. Each is followed once.
        """
        key = scope, name, depth
        if key not in self._answers:
            self._answers[key] = self._has_no_loss(scope, name, depth)
        return self._answers[key]

    def _has_no_loss(self, scope: Any, name: str, depth: int) -> bool:
        nodes, around = self._nodes(scope)
        if any(isinstance(node, _RENAMING) and name in node.names for node in nodes):
            return False
        if depth == _DEPTH and not _is_made_once(nodes, name):
            return False
        uses = _loads(nodes, name)
        return all([self._is_harmless(use, around, scope, depth) for use in uses])

    def is_run(self, scope: Any, name: str) -> bool:
        """Whether the file, or the function in which a model is made, trains another model or asks
        this one for predictions; and no file that imports the model may train it.
        """
        nodes, around = self._nodes(scope)
        asks = [around.get(use) for use in _loads(nodes, name)]
        whole = self._nodes(None)[0] if self._is_handed_on(scope, name) else nodes
        if not any(map(_trains, whole)) and not any(map(_predicts, asks)):
            return False
        exported = scope is None or self._is_handed_on(scope, name)
        return not exported or not self._is_trained_elsewhere()

    def _is_trained_elsewhere(self) -> bool:
        """Whether files that import this one train or evaluate something."""
        project, path = self._module.project, self._module.source.path
        return project is not None and any(
            [project.importing(path, name) for name in TRAINING_CALLS]
        )

    def _is_handed_on(self, scope: Any, name: str) -> bool:
        """Whether a function returns what has a name, or makes it an attribute."""
        leaving = (ast.Return, ast.Assign)
        nodes = [node for node in self._nodes(scope)[0] if isinstance(node, leaving)]
        return scope is not None and any(_name_of(node.value) == name for node in nodes)

    def _is_harmless(
        self, use: ast.AST, around: dict[ast.AST, ast.AST], scope: Any, depth: int
    ) -> bool:
        """Whether where a model is named its loss is not computed."""
        outer = around.get(use)
        if isinstance(outer, ast.Attribute):
            return outer.attr in WITHOUT_LOSS
        if isinstance(outer, ast.Return):
            is_own = _function_around(outer, around) is scope
            return is_own and depth > 0 and self._is_harmless_result(scope, depth - 1)
        if isinstance(outer, ast.Call) and outer.func is use:
            return True
        if isinstance(outer, ast.Assign) and depth:
            return self._is_harmless_attribute(outer, depth - 1)
        parameter = self._parameter(use, outer, scope) if depth else None
        if parameter is not None:
            return self.is_without_loss(*parameter, depth - 1)
        while isinstance(outer, _HOLDING):
            outer = around.get(outer)
        return isinstance(outer, ast.Call) and leaf(outer.func) in TAKING_MODELS

    def _is_harmless_attribute(self, assignment: ast.Assign, depth: int) -> bool:
        """Whether a model becomes an attribute, and as that its loss is not computed."""
        names = [_name_of(target) for target in assignment.targets]
        is_attribute = len(names) == 1 and names[0].startswith(".")
        return (
            is_attribute
            and _binds(self._nodes(None)[0], names[0]) == 1
            and self.is_without_loss(None, names[0], depth)
        )

    def _is_harmless_result(self, function: Any, depth: int) -> bool:
        """Whether each call of a function gives a name a model of which no loss is computed."""
        name = getattr(function, "name", "")
        if self._functions.get(name) is not function:
            return False
        called = f".{name}" if function in self._methods else name
        scopes = [None, *self._functions.values()]
        named = {scope: self._given(scope, called) for scope in scopes}
        calls = sum(len(targets) for targets in named.values())
        if calls != len(_loads(self._nodes(None)[0], called)) or calls == 0:
            return False
        return all(
            self._is_harmless_target(scope, target, depth)
            for scope, targets in named.items()
            for target in targets
        )

    def _is_harmless_target(self, scope: Any, target: str, depth: int) -> bool:
        """Whether a name that is given a model computes no loss of it."""
        if not target.startswith("."):
            return self.is_without_loss(scope, target, depth)
        is_bound_once = _binds(self._nodes(None)[0], target) == 1
        return is_bound_once and self.is_without_loss(None, target, depth)

    def _given(self, scope: Any, name: str) -> list[str]:
        """The names that a scope gives what calls of a function return: `model = build()`,
        `self.model = self.build()`.
        """
        own = self._nodes(scope)[0] if scope is not None else _outside(self._tree)
        assignments = [
            node
            for node in own
            if isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and _name_of(node.value.func) == name
        ]
        targets = [[_name_of(target) for target in node.targets] for node in assignments]
        return [names[0] for names in targets if len(names) == 1 and names[0]]

    def _parameter(
        self, use: ast.AST, call: ast.AST | None, scope: Any
    ) -> tuple[Function, str] | None:
        """The function of the file that is handed a model, and the parameter, by position."""
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            return None
        function = self._functions.get(call.func.id)
        if function is None or function in self._methods or use not in call.args:
            return None
        if scope is not None and _binds(self._nodes(scope)[0], function.name):
            return None
        before = call.args[: call.args.index(use)]
        parameters = [*function.args.posonlyargs, *function.args.args]
        if len(before) >= len(parameters) or any(isinstance(one, ast.Starred) for one in before):
            return None
        return function, parameters[len(before)].arg


def _is_made_once(nodes: list[ast.AST], name: str) -> bool:
    """Whether a name is bound once among some nodes, to what one call gives."""
    assignments = [
        node
        for node in nodes
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and [_name_of(target) for target in node.targets] == [name]
    ]
    return len(assignments) == 1 and _binds(nodes, name) == 1


def _name_of(node: Any) -> str:
    """The name of a model: `model` of `model`, `.model` of `self.model`, else none."""
    if isinstance(node, ast.Attribute):
        is_own = isinstance(node.value, ast.Name) and node.value.id == "self"
        return f".{node.attr}" if is_own else ""
    return node.id if isinstance(node, ast.Name) else ""


def _named(nodes: list[ast.AST], name: str) -> list[Any]:
    """Where among some nodes a name stands; that of an attribute, of any object."""
    if name.startswith("."):
        attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
        return [node for node in attributes if node.attr == name[1:]]
    return [node for node in nodes if isinstance(node, ast.Name) and node.id == name]


def _binds(nodes: list[ast.AST], name: str) -> int:
    """How often a name is bound among some nodes: assigned, or a parameter."""
    stores = _named(nodes, name)
    parameters = [node for node in nodes if isinstance(node, ast.arg) and node.arg == name]
    return len(parameters) + sum(not isinstance(node.ctx, ast.Load) for node in stores)


def _function_around(node: ast.AST, around: dict[ast.AST, ast.AST]) -> ast.AST | None:
    """The function in which a node stands, among the nodes of a scope."""
    outer = around.get(node)
    while outer is not None and not isinstance(outer, (Function, ast.AsyncFunctionDef)):
        outer = around.get(outer)
    return outer


def _loads(nodes: list[ast.AST], name: str) -> list[ast.AST]:
    """Where among some nodes a name is loaded."""
    return [node for node in _named(nodes, name) if isinstance(node.ctx, ast.Load)]


def _outside(tree: ast.Module) -> list[ast.AST]:
    """The nodes of a file outside of the functions and classes at its top level."""
    statements = [node for node in tree.body if not isinstance(node, (Function, ast.ClassDef))]
    return [node for statement in statements for node in nodes_in(statement)]


def _trains(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _TRAINING
    )


def _predicts(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in PREDICT_METHODS
