"""Nodes of a syntax tree: the expressions inside another one, several times as fast as `ast.walk`,
and the statements.

Operators and contexts (`ast.Add`, `ast.Load`) are left out: they hold nothing.
"""

from __future__ import annotations

import ast
import copy
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, Callable, Final

# The types of nodes that are asked for most. What is compiled has a constant at hand, but looks for
# `ast.Name` under its name in the module. (No tuple is such a constant: it would be made anew
# wherever it is used.)
ASSIGN: Final = ast.Assign
ATTRIBUTE: Final = ast.Attribute
AUG_ASSIGN: Final = ast.AugAssign
BIN_OP: Final = ast.BinOp
BOOL_OP: Final = ast.BoolOp
CALL: Final = ast.Call
CLASS: Final = ast.ClassDef
COMPARE: Final = ast.Compare
CONSTANT: Final = ast.Constant
EXPR: Final = ast.Expr
IF_EXP: Final = ast.IfExp
KEYWORD: Final = ast.keyword
LAMBDA: Final = ast.Lambda
NAME: Final = ast.Name
NAMED_EXPR: Final = ast.NamedExpr
STARRED: Final = ast.Starred
SUBSCRIPT: Final = ast.Subscript
UNARY_OP: Final = ast.UnaryOp
SEQUENCES: Final = frozenset((ast.Tuple, ast.List))  # as targets, and as they are written

LEAVES: Final = frozenset((ast.Name, ast.Constant))  # nothing stands inside of them
_MARKS = (ast.expr_context, ast.operator, ast.cmpop, ast.unaryop, ast.boolop)


def _none(node: Any) -> Sequence[ast.AST]:
    return ()


def _value(node: Any) -> Sequence[ast.AST]:
    return (node.value,)


def _elements(node: Any) -> Sequence[ast.AST]:
    return node.elts


def _parameters(node: Any) -> Sequence[ast.AST]:
    parts = [*node.posonlyargs, *node.args]
    if node.vararg is not None:
        parts.append(node.vararg)
    parts += node.kwonlyargs
    parts += [one for one in node.kw_defaults if one is not None]
    if node.kwarg is not None:
        parts.append(node.kwarg)
    return parts + node.defaults


def _any(node: ast.AST) -> Sequence[ast.AST]:
    parts: list[ast.AST] = []
    held = node.__dict__  # a field that is missing costs an exception when it is asked for
    for name in node._fields:
        part = held.get(name)
        if isinstance(part, list):
            parts += [
                one for one in part if isinstance(one, ast.AST) and not isinstance(one, _MARKS)
            ]
        elif isinstance(part, ast.AST) and not isinstance(part, _MARKS):
            parts.append(part)
    return parts


_PARTS: Final[dict[type, Callable[[Any], Sequence[ast.AST]]]] = {
    ast.Name: _none,
    ast.Constant: _none,
    ast.Attribute: _value,
    ast.keyword: _value,
    ast.Starred: _value,
    ast.Expr: _value,
    ast.Tuple: _elements,
    ast.List: _elements,
    ast.BinOp: lambda node: (node.left, node.right),
    ast.UnaryOp: lambda node: (node.operand,),
    ast.Subscript: lambda node: (node.value, node.slice),
    ast.Call: lambda node: [node.func, *node.args, *node.keywords],
    ast.Compare: lambda node: [node.left, *node.comparators],
    ast.Slice: lambda node: [one for one in (node.lower, node.upper, node.step) if one is not None],
    ast.Dict: lambda node: [*[one for one in node.keys if one is not None], *node.values],
    ast.BoolOp: lambda node: node.values,
    ast.JoinedStr: lambda node: node.values,
    ast.IfExp: lambda node: (node.test, node.body, node.orelse),
    ast.ListComp: lambda node: [node.elt, *node.generators],
    ast.GeneratorExp: lambda node: [node.elt, *node.generators],
    ast.comprehension: lambda node: [node.target, node.iter, *node.ifs],
    ast.Assign: lambda node: [*node.targets, node.value],
    ast.AugAssign: lambda node: (node.target, node.value),
    ast.Return: lambda node: () if node.value is None else (node.value,),
    ast.arguments: _parameters,
    ast.arg: lambda node: () if node.annotation is None else (node.annotation,),
    ast.If: lambda node: [node.test, *node.body, *node.orelse],
    ast.For: lambda node: [node.target, node.iter, *node.body, *node.orelse],
    ast.With: lambda node: [*node.items, *node.body],
    ast.Lambda: lambda node: (node.args, node.body),
    **dict.fromkeys(
        (ast.Pass, ast.Break, ast.Continue, ast.Global, ast.Nonlocal, ast.alias), _none
    ),
}


Blocks = tuple[list[ast.stmt], ...]


def _body(node: Any) -> Blocks:
    return (node.body,)


def _body_and_else(node: Any) -> Blocks:
    return node.body, node.orelse


def _tried(node: Any) -> Blocks:
    return node.body, node.orelse, node.finalbody, *(one.body for one in node.handlers)


_BLOCKS: Final[dict[type, Callable[[Any], Blocks]]] = {
    **dict.fromkeys(
        (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.With, ast.AsyncWith),
        _body,
    ),
    **dict.fromkeys((ast.If, ast.For, ast.AsyncFor, ast.While), _body_and_else),
    **dict.fromkeys((ast.Try, getattr(ast, "TryStar", ast.Try)), _tried),
    ast.Match: lambda node: tuple(one.body for one in node.cases),
}


def blocks_of(node: ast.AST) -> Blocks:
    """The blocks of statements directly inside a compound statement; () for any other node."""
    blocks = _BLOCKS.get(type(node))
    return blocks(node) if blocks is not None else ()


def statements_in(node: ast.AST) -> list[ast.stmt]:
    """All statements inside a definition or compound statement, those of definitions in it
    included.
    """
    statements: list[ast.stmt] = [statement for block in blocks_of(node) for statement in block]
    for statement in statements:  # it grows on the way
        parts = _BLOCKS.get(type(statement))  # `blocks_of` written out: most statements hold none
        if parts is not None:
            for block in parts(statement):
                statements += block
    return statements


def parts_of(node: ast.AST) -> Sequence[ast.AST]:
    """The nodes directly inside a node, in the order of the text."""
    return _PARTS.get(type(node), _any)(node)


def nodes_in(node: ast.AST) -> list[ast.AST]:
    """A node and all nodes inside of it, in the order of `ast.walk`."""
    nodes: list[Any] = [node]
    for inner in nodes:  # it grows on the way
        kind = type(inner)
        if kind is NAME or kind is CONSTANT:
            continue
        # `parts_of` written out for most nodes that are no leaves
        if kind is ATTRIBUTE or kind is KEYWORD:
            nodes.append(inner.value)
        elif kind is CALL:
            nodes.append(inner.func)
            nodes += inner.args
            nodes += inner.keywords
        else:
            nodes += _PARTS.get(kind, _any)(inner)
    return nodes


_DICTS = ("dict", "OrderedDict")


def _written_pairs(node: ast.expr) -> bool:
    """Whether an expression is a list of pairs: `[("a", x), ("b", y)]`."""
    return isinstance(node, (ast.List, ast.Tuple)) and all(
        isinstance(one, (ast.Tuple, ast.List))
        and len(one.elts) == 2
        and not any(isinstance(part, ast.Starred) for part in one.elts)
        for one in node.elts
    )


NOUGHT: Final = "0"


def default_text(node: ast.AST | None) -> str:
    """What is written as a default, as a note keeps it: a text, NOUGHT for the number 0, "" for all
    else.
    """
    written = node.value if isinstance(node, ast.Constant) else None
    if isinstance(written, str):
        return written
    return (
        NOUGHT
        if isinstance(written, (int, float)) and type(written) is not bool and written == 0
        else ""
    )


def display(node: ast.AST | None) -> ast.Dict | None:
    """A dict as it is written, `{"eps": 1e-6, **more}`, and as such `dict(eps=1e-6, **more)`,
    `dict(more, eps=1e-6)` and `OrderedDict([("eps", 1e-6)])`, too: one node for all walks of the
    call. None for anything else.
    """
    if isinstance(node, ast.Dict):
        return node
    if (
        not isinstance(node, ast.Call)
        or len(node.args) > 1
        or (
            node.func.id
            if isinstance(node.func, ast.Name)
            else node.func.attr
            if isinstance(node.func, ast.Attribute)
            else ""
        )
        not in _DICTS
    ):
        return None
    if "display" not in node.__dict__:
        pairs = (
            [(None, one) for one in node.args]
            if not node.args or not _written_pairs(node.args[0])
            else [one.elts for one in node.args[0].elts]
        )
        keys: list[ast.expr | None] = [key for key, _ in pairs]
        keys += [
            None if one.arg is None else ast.copy_location(ast.Constant(one.arg), one)
            for one in node.keywords
        ]
        values = [*[value for _, value in pairs], *[one.value for one in node.keywords]]
        node.display = ast.copy_location(ast.Dict(keys, values), node)
    return node.display


def caught(body: list[ast.stmt]) -> ast.Try:
    """What `with contextlib.suppress(...)` does with its body."""
    handler = ast.ExceptHandler(type=None, name=None, body=[ast.Pass()])
    return ast.Try(body=body, handlers=[handler], orelse=[], finalbody=[])


def loaded(target: ast.expr) -> ast.expr:
    """A target of an assignment as an expression that reads it."""
    if isinstance(target, ast.Name):
        return ast.Name(target.id, ast.Load())
    if isinstance(target, ast.Attribute):
        return ast.Attribute(target.value, target.attr, ast.Load())
    if isinstance(target, ast.Subscript):
        return ast.Subscript(target.value, target.slice, ast.Load())
    return target


def repeated(loop: Any) -> ast.expr:
    """What a loop runs over, as nodes of its own: of each node one value is kept, and inside the
    loop it may have another one.
    """
    kept = loop.__dict__.get("repeated")
    if kept is None:
        kept = loop.repeated = copy.deepcopy(loop.iter)
    return kept


def declared(node: ast.AST, kind: type) -> frozenset[str]:
    """The names that `global` or `nonlocal` statements inside declare."""
    return frozenset(
        name for one in statements_in(node) if isinstance(one, kind) for name in one.names
    )


GRADIENT_METHODS = ("gradient", "jacobian", "batch_jacobian")


def recorded(tape: ast.Call, name: ast.expr | None, body: list[ast.stmt]) -> int:
    """After how many statements a tape records no more: it does until a gradient is asked of it,
    and a persistent one goes on.
    """
    if (
        isinstance(name, ast.Name)
        and not any(one.arg == "persistent" for one in tape.keywords)
        and not tape.args
    ):
        for index, statement in enumerate(body):
            value = (
                getattr(statement, "value", None)
                if isinstance(statement, (ast.Assign, ast.AnnAssign))
                else None
            )
            for node in nodes_in(value) if value is not None else ():
                if (
                    isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Attribute)
                    and node.func.attr in GRADIENT_METHODS
                    and isinstance(node.func.value, ast.Name)
                    and node.func.value.id == name.id
                ):
                    return index + 1
    return len(body)


def adds_axes(index: ast.expr) -> bool:
    """`x[:, None]`, `x[..., tf.newaxis]`: every element is kept."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return all(
        isinstance(part, ast.Slice)
        and part.lower is part.upper is part.step is None
        or isinstance(part, ast.Constant)
        and part.value in (None, ...)
        or isinstance(part, ast.Attribute)
        and part.attr == "newaxis"
        for part in parts
    )


def _row(node: Any) -> int:
    return node.lineno


def _row_of_case(case: Any) -> int:
    return case.pattern.lineno


def block_at(node: ast.AST, row: int) -> list[ast.stmt]:
    """The block of a compound statement that a row is in; [] when it is in none."""
    if isinstance(node, ast.Match):  # it may have thousands
        at = bisect_right(node.cases, row, key=_row_of_case) - 1
        blocks: Blocks = (node.cases[at].body,) if at >= 0 else ()
    else:
        blocks = blocks_of(node)
    for block in blocks:
        if block and block[0].lineno <= row <= (block[-1].end_lineno or block[-1].lineno):
            return block
    return []


def function_at(tree: ast.Module, row: int) -> str:
    """The qualified name of the innermost function or class around a row, as in `Model.call`; empty
    at the top level of the module.
    """
    names: list[str] = []
    body = tree.body
    while body:
        node = body[max(bisect_right(body, row, key=_row) - 1, 0)]
        if not node.lineno <= row <= (node.end_lineno or node.lineno):
            break
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.append(node.name)
        body = block_at(node, row)
    return ".".join(names)
