"""Subexpressions: the parts of an expression, each with the point where it stands.

A branch of a conditional stands under its condition, the body of a lambda knows its parameters, the
elements of a comprehension know its targets.
"""

from __future__ import annotations

import ast
from typing import Any, Final, Iterator

from tfnanlint.program.functions import Function, Recast, signature_of
from tfnanlint.program.mutation import place_of
from tfnanlint.program.predicates import CHOOSING, Branch, branches_of
from tfnanlint.program.scope import Assigned, Binding, Element, Iterated, Parameter, Point
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import CALL, LAMBDA, LEAVES, parts_of
from tfnanlint.values.evaluator import Evaluator


def parts(ev: Evaluator, node: Any, point: Point) -> list[tuple[ast.AST, Point]]:
    """The direct parts of an expression at a point, in the order of the text."""
    kind = type(node)
    if kind is CALL:
        if leaf(node.func) in CHOOSING and (choices := branches_of(node)):
            return _chosen_from(ev, node, choices, point)
        filled = _filled(ev, node, point)
        return [(part, point) for part in parts_of(node)] if filled is None else filled
    special = _SPECIAL.get(kind)
    return (
        [(part, point) for part in parts_of(node)]
        if special is None
        else list(special(ev, node, point))
    )


def _filled(ev: Evaluator, node: ast.Call, point: Point) -> list[tuple[ast.AST, Point]] | None:
    """The parts of `tf.map_fn(lambda t: ..., x)`, `map(lambda t: ..., xs)` and
    `Lambda(lambda t: ...)(x)`, in which what a lambda gets is written beside it; None for all other
    calls.
    """
    whole, bindings = node, list[Binding]()
    args = node.args
    if len(args) == 1 and type(node.func) is CALL and leaf(node.func.func) == "Lambda":
        whole, bindings = node.func, [Recast(Assigned(args[0], point), node.func, point.module)]
    elif len(args) > 1 and type(args[0]) is LAMBDA and goes_through(ev, node, point):
        bindings = [Iterated(Assigned(one, point)) for one in args[1:]]
    else:
        return None
    function = whole.args[0] if whole.args else None
    if not isinstance(function, ast.Lambda) or len(function.args.args) != len(bindings):
        return None
    if any(isinstance(one, ast.Starred) for one in node.args):
        return None
    body = within(ev, function, point).under(
        {arg.arg: binding for arg, binding in zip(function.args.args, bindings)}
    )
    parts: list[ast.AST] = [part for part in parts_of(node) if part is not whole]
    if whole is not node:
        parts += parts_of(whole)
    return [(function.body, body), *[(part, point) for part in parts if part is not function]]


def goes_through(ev: Evaluator, node: ast.Call, point: Point) -> bool:
    """Whether a call hands the elements of what follows, one after the other, to the function that
    is its first argument.
    """
    name = leaf(node.func)
    if name == "map":
        return isinstance(node.func, ast.Name) and point.lookup(name) is None
    return (
        name in ("map_fn", "vectorized_map")
        and len(node.args) == 2
        and ev.evaluate(node.args[1], point).kind in ("tensor", "array")
    )


def _chosen(ev: Evaluator, node: ast.IfExp, point: Point) -> Iterator[tuple[ast.AST, Point]]:
    yield node.test, point
    yield node.body, ev.assuming(node.test, True, point)
    yield node.orelse, ev.assuming(node.test, False, point)


def _tested(ev: Evaluator, node: ast.BoolOp, point: Point) -> Iterator[tuple[ast.AST, Point]]:
    for value in node.values:
        yield value, point
        point = ev.assuming(value, isinstance(node.op, ast.And), point)


def _of_walrus(ev: Evaluator, node: ast.NamedExpr, point: Point) -> Iterator[tuple[ast.AST, Point]]:
    """`v := f(v)` computes with what the name stood for before."""
    binding = point.scope.at(node.target.id, point.time) if point.over is None else None
    yield (
        node.value,
        binding.point if isinstance(binding, Assigned) and binding.node is node.value else point,
    )


def _of_lambda(ev: Evaluator, node: ast.Lambda, point: Point) -> Iterator[tuple[ast.AST, Point]]:
    yield node.body, within(ev, node, point)


def _comprehended(ev: Evaluator, node: Any, point: Point) -> Iterator[tuple[ast.AST, Point]]:
    for generator in node.generators:
        yield generator.iter, point
    inner = inside(ev, node, point)
    for part in [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]:
        yield part, inner


def _chosen_from(
    ev: Evaluator, node: ast.Call, choices: list[Branch], point: Point
) -> list[tuple[ast.AST, Point]]:
    """`tf.cond(test, f, g)`, `tf.case([(test, f)], default=g)`: each branch under the tests that
    lead to it.
    """
    nodes: list[tuple[ast.AST, Point]] = []
    for branch, tests in choices:
        under = point
        for test, truth in tests:
            nodes += [(test, under)] if truth else []
            under = ev.assuming(test, truth, under)
        nodes.append((branch, under))
    return nodes


def calls_in(
    ev: Evaluator, expression: ast.AST, name: str, point: Point
) -> Iterator[tuple[ast.Call, Point]]:
    """The calls inside an expression whose callee ends in `name`, each with the point where it
    stands.
    """
    stack: list[tuple[Any, Point]] = [(expression, point)]
    while stack:
        node, here = stack.pop()
        kind = type(node)
        if kind in LEAVES:
            continue
        if kind is CALL and leaf(node.func) == name:
            yield node, here
        inside_node = parts(ev, node, here)
        stack += reversed(inside_node)
        inner = node.func if kind is CALL else None
        if (
            type(inner) is CALL
            and leaf(inner.func) == name
            and all(part is not inner for part, _ in inside_node)
        ):
            yield inner, here  # the layer that is called, of whose lambda the parts are


def within(ev: Evaluator, node: ast.Lambda, point: Point) -> Point:
    """The point inside a lambda, its parameters as its callers fill them."""
    function = Function(node, point, point.module)
    _, names, defaults = signature_of(node.args)
    over: dict[str, Binding] = {}
    for name in names:
        default = defaults.get(name)
        over[name] = Parameter(
            function, name, Assigned(default, point) if default is not None else None
        )
    return point.under(over)


def inside(ev: Evaluator, node: Any, point: Point) -> Point:
    """The point inside a comprehension, its targets bound."""
    for generator in node.generators:
        over: dict[str, Binding] = {}
        _bind(generator.target, Iterated(Assigned(generator.iter, point)), over)
        point = point.under(over)
        for test in generator.ifs:
            point = ev.assuming(test, True, point)
    return point


def _bind(target: ast.expr, binding: Binding, over: dict[str, Binding]) -> None:
    """Bind the names of a target of a comprehension, `for name, (x, *rest) in pairs`."""
    if isinstance(target, ast.Name):
        over[target.id] = binding
    elif isinstance(target, ast.Starred):
        _bind(target.value, binding, over)
    elif isinstance(target, (ast.Tuple, ast.List)):
        starred = next(
            (index for index, one in enumerate(target.elts) if isinstance(one, ast.Starred)), None
        )
        for index, element in enumerate(target.elts):
            _bind(element, Element(binding, place_of(index, starred, len(target.elts))), over)


_SPECIAL: Final[dict[type, Any]] = {
    ast.NamedExpr: _of_walrus,
    ast.IfExp: _chosen,
    ast.BoolOp: _tested,
    ast.Lambda: _of_lambda,
    ast.ListComp: _comprehended,
    ast.SetComp: _comprehended,
    ast.GeneratorExp: _comprehended,
    ast.DictComp: _comprehended,
}
