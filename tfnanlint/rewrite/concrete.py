"""What a fix writes, taken from libcst's concrete syntax tree. The only module that imports libcst;
import it late.

The text and `ast` decide whether a template can be filled (`template`). Where the result goes into
a file, libcst puts the fillings into the tree of the template, and must give the same text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

import libcst as cst

from tfnanlint.rewrite import PLACEHOLDER
from tfnanlint.rewrite.hole_test import NoFix

_LINE_END = re.compile(r"\r\n|\r|\n")


def put(
    skeleton: str,
    texts: Mapping[int, str],
    wrapped: frozenset[int],
    starred: frozenset[int],
    is_statement: bool,
) -> str:
    """The text of a template's tree with its holes filled: those `wrapped` in parentheses, those
    `starred` as unpacked argument lists. Raises NoFix for a filling that libcst cannot read.
    """
    contents = {index: _contents(text) for index, text in texts.items()}
    contents |= {index: _parenthesised(contents[index]) for index in wrapped}
    tree = cst.parse_statement(skeleton) if is_statement else cst.parse_expression(skeleton)
    filled = tree.visit(_Put(contents, starred))
    assert isinstance(filled, (cst.BaseExpression, cst.SimpleStatementLine))
    return _code(filled)


class _Put(cst.CSTTransformer):
    """Puts fillings into the places of their holes."""

    def __init__(self, contents: Mapping[int, cst.BaseExpression], starred: frozenset[int]):
        super().__init__()
        self._contents = contents
        self._starred = starred

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        return self._contents.get(_hole(original_node), updated_node)

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        if _hole(original_node.value) not in self._starred:
            return updated_node
        return updated_node.with_changes(star="*")


def _hole(node: cst.CSTNode) -> int:
    """Which hole a node stands for; -1 for none."""
    match = PLACEHOLDER.fullmatch(node.value) if isinstance(node, cst.Name) else None
    return int(match[1]) if match else -1


@lru_cache(maxsize=512)
def _contents(text: str) -> cst.BaseExpression:
    """The tree of an expression's text, which may be cut out of brackets: parsed in parentheses,
    and unwrapped.
    """
    try:
        node = cst.parse_expression(f"({text})")
    except cst.ParserSyntaxError:
        raise NoFix("the expression uses syntax that the rewriter cannot read") from None
    end = _LINE_END.search(text)
    if end:
        # libcst leaves out the line end it takes for the file's own, which is the first it meets.
        visited = node.visit(_LineEnds(end[0]))
        assert isinstance(visited, cst.BaseExpression)
        node = visited
    return node.with_changes(lpar=node.lpar[1:], rpar=node.rpar[:-1])


class _LineEnds(cst.CSTTransformer):
    """Writes the line ends that are the default of a module."""

    def __init__(self, default: str):
        super().__init__()
        self._default = default

    def leave_Newline(self, original_node: cst.Newline, updated_node: cst.Newline) -> cst.Newline:
        if updated_node.value:
            return updated_node
        return updated_node.with_changes(value=self._default)


def _parenthesised(node: cst.BaseExpression) -> cst.BaseExpression:
    """An expression in one more pair of parentheses."""
    return node.with_changes(
        lpar=[cst.LeftParen(), *node.lpar], rpar=[*node.rpar, cst.RightParen()]
    )


def _code(tree: cst.CSTNode) -> str:
    """The text of a tree; of a statement, without its line end."""
    if isinstance(tree, cst.SimpleStatementLine):
        ending = cst.TrailingWhitespace(newline=cst.Newline(value="\n"))
        return cst.Module([]).code_for_node(tree.with_changes(trailing_whitespace=ending))[:-1]
    return cst.Module([]).code_for_node(tree)
