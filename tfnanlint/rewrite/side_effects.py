"""What may change an object in place between two places of a function: its name holds another value
there.

`v.assign(x)`, `w[0] = 1.0`, `h += z` of an array, `xs.append(x)`, `other.step()` for `other.h`, a
step of an optimizer: no name is bound anew. What an op of TensorFlow gives is never changed.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from tfnanlint.ops.site import Site
from tfnanlint.program.scope import Imported, Point
from tfnanlint.syntax.access_paths import leaf, path_of, root_of
from tfnanlint.syntax.enclosing import enclosing
from tfnanlint.syntax.nodes import nodes_in
from tfnanlint.syntax.source import Source, Span
from tfnanlint.values.value import Value

if TYPE_CHECKING:
    from tfnanlint.interp.engine import Engine as Interpreter

# Calls that change variables which they are handed, or of which they know.
_CHANGING = frozenset(
    """apply_gradients minimize assign assign_add assign_sub update update_add update_sub
    scatter_update scatter_nd_update
    scatter_add scatter_sub train_on_batch fit set_weights load_weights copyto fill_diagonal
    shuffle""".split()
)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LATER = (ast.Lambda, ast.GeneratorExp)
_ARRAYS = ("np", "operator", "method")  # families whose results may be arrays of NumPy


def deferred(source: Source, site: Site) -> bool:
    """Whether what stands at a site is computed later than the statement around it: in a lambda or
    a generator.
    """
    path = enclosing(source.tree.body, source.span(site.node), source.span)
    last = max((index for index, node in enumerate(path) if isinstance(node, ast.stmt)), default=0)
    return any(isinstance(node, _LATER) for node in path[last:])


def stretch(source: Source, function: ast.AST, node: ast.AST | None, site: Site) -> Span:
    """The text that runs between an expression of a function and a site.

    It reaches to the end of a loop that holds the site alone, and to the end of the function for a
    site that is computed later. It starts where the function does for what stands elsewhere (None).
    """
    whole = Span(0, len(source.text)) if isinstance(function, ast.Module) else source.span(function)
    start, end = (
        source.span(node) if node is not None else Span(whole.start, whole.start),
        source.span(site.node),
    )
    if end.start < start.end:
        return whole
    if deferred(source, site):
        return Span(start.end, whole.end)
    path = enclosing(source.tree.body, end, source.span)
    loop = next(
        (
            one
            for one in path
            if isinstance(one, _LOOPS)
            and start not in source.span(one)
            and source.span(one) in whole
        ),
        None,
    )
    return Span(start.end, source.span(loop).end if loop is not None else end.start)


def mutation(
    source: Source, function: ast.AST, paths: Collection[str], between: Span
) -> ast.AST | None:
    """What may change an object that one of some paths stands for, in a stretch of a function; None
    when nothing does.

    What stands in functions inside runs whenever these are called.
    """
    inside = [
        source.span(node)
        for node in nodes_in(function)
        if isinstance(node, _DEFINITIONS) and node is not function
    ]
    for node in nodes_in(function) if paths else ():
        if not isinstance(node, (ast.Call, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete)):
            continue
        span = source.span(node)
        runs = between.start <= span.start < between.end or any(span in one for one in inside)
        if runs and any(_changes(node, path) for path in paths):
            return node
    return None


def changeable(
    node: ast.expr, point: Point, interpreter: Interpreter, fixed_too: bool = False
) -> list[str]:
    """The paths that an expression reads and whose objects something may change.

    These are no modules; numbers and results of ops of TensorFlow only with `fixed_too`.
    """
    paths: list[str] = []
    waiting: list[Any] = [node]
    while waiting:
        inner = waiting.pop()
        path = path_of(inner)
        if path is None and isinstance(inner, (ast.Attribute, ast.Subscript)):
            path = _prefix(inner)
        if not path:
            waiting += ast.iter_child_nodes(inner)
        elif not isinstance(point.lookup(root_of(path)), Imported) and (
            fixed_too or not fixed(interpreter.evaluate(inner, point))
        ):
            paths.append(path)
    return paths


def handed_on(
    source: Source, interpreter: Interpreter, path: str, site: Site, between: Span
) -> bool:
    """Whether the object that an attribute or element belongs to is handed to code that was not
    seen.
    """
    owner = _owner(path)
    calls = (
        [node for node in nodes_in(site.point.scope.node) if isinstance(node, ast.Call)]
        if owner
        else []
    )
    for call in calls:
        if (
            not between.start <= source.span(call).start < between.end
            or interpreter.row(call.func, site.point)[0] is not None
        ):
            continue
        paths = [path_of(one) for one in (*call.args, *[one.value for one in call.keywords])]
        if any(one and _around(one, owner) for one in paths) and _is_unseen(
            call.func, site.point, interpreter
        ):
            return True
        receiver = path_of(call.func.value) if isinstance(call.func, ast.Attribute) else None
        if (
            receiver
            and _around(receiver, owner)
            and not _reads_only(call)
            and not interpreter.evaluate(call.func.value, site.point).obj
        ):
            return True
    return False


def _is_unseen(function: ast.expr, point: Point, interpreter: Interpreter) -> bool:
    """Whether a callee is neither of Python itself nor of the program."""
    if isinstance(function, ast.Name) and point.lookup(function.id) is None:
        return not hasattr(builtins, function.id)
    return not interpreter.evaluate(function, point).obj


def _prefix(node: ast.expr) -> str:
    """The path that a longer chain begins with: `xs` of `xs[-1].y`."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
        path = path_of(node)
        if path is not None:
            return path
    return ""


def fixed(value: Value) -> bool:
    """Whether a value is a number, a text, or a tensor that an op gave, and no variable, array or
    container.
    """
    if value.is_number or value.kind in ("none", "string", "function"):
        return True
    origin = value.origin
    return isinstance(origin, Site) and not origin.op.starts and origin.library not in _ARRAYS


def _changes(node: ast.AST, path: str) -> bool:
    if isinstance(node, ast.Call):
        return _call_changes(node, path)
    if isinstance(node, ast.AugAssign):
        return _around(path_of(node.target) or _prefix(node.target), path)
    targets = node.targets if isinstance(node, (ast.Assign, ast.Delete)) else [node.target]
    parts = [
        inner
        for target in targets
        for inner in ast.walk(target)
        if isinstance(inner, (ast.Attribute, ast.Subscript))
    ]
    return any(
        isinstance(one.ctx, (ast.Store, ast.Del))
        and _around(_prefix(one), path)
        and _prefix(one) != _owner(path)
        for one in parts
    )


def _call_changes(call: ast.Call, path: str) -> bool:
    receiver = (
        path_of(call.func.value) or _prefix(call.func.value)
        if isinstance(call.func, ast.Attribute)
        else ""
    )
    if receiver and (_around(path, receiver) or _around(receiver, path)) and not _reads_only(call):
        return True
    if leaf(call.func) not in _CHANGING:
        return False
    nodes = [inner for one in (*call.args, *call.keywords) for inner in ast.walk(one)]
    return "." in path or any(
        isinstance(inner, ast.Name) and inner.id == root_of(path) for inner in nodes
    )


def _reads_only(call: ast.Call) -> bool:
    """Whether a method is one that every tensor and array has and that changes nothing."""
    return leaf(call.func) in _READING


_READING = frozenset(
    """numpy get_shape set_shape read_value value astype sum mean max min reshape copy item tolist
    ravel flatten transpose std var
    any all argmax argmin dot eval get items keys values""".split()
)


def _owner(path: str) -> str:
    """What a path is an attribute or element of: `self` of `self.v`."""
    return path[: max(path.rfind("."), path.rfind("["))] if "." in path or "[" in path else ""


def _around(outer: str, path: str) -> bool:
    """Whether a path is another one, or leads into what that stands for."""
    return bool(outer) and (path == outer or path.startswith((f"{outer}.", f"{outer}[")))
