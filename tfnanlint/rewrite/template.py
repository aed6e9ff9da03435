"""Rewrite templates filled with source text on libcst's tree. The only module that imports libcst;
import it late.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import libcst as cst

from tfnanlint.rewrite.hole_test import NoFix, expression, same_tree, statement
from tfnanlint.rewrite.spelling import Spelling, Use

# Dotted names of a template that begin with one of these are canonical and are spelled as the file
# spells them.
ROOTS = frozenset({"tf", "K", "keras", "ops", "np", "tnp", "tfp"})

_HOLE = re.compile(r"\{([A-Za-z_]\w*)\}")
_PLACEHOLDER = re.compile(r"_tfn_hole_(\d+)_")
Words = tuple[str | None, ...]
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Filling:
    """What goes into a hole: an expression's text, and the text for its second and later copies;
    `word` is the keyword with which it was given to a call, empty for an argument that stood in its
    place.
    """

    text: str
    again: str
    starred: bool = False
    word: str | None = None


def holes_of(template: str) -> list[str]:
    """The names of the holes in a template, in order, repeated ones repeated."""
    return _HOLE.findall(template)


def without_holes(template: str) -> str:
    """The template as Python text, with a name in the place of every hole."""
    count = iter(range(len(template)))
    return _HOLE.sub(lambda match: f"_tfn_hole_{next(count)}_", template)


def fill(
    template: str,
    fillings: Mapping[str, Filling | None],
    spell: Callable[[Use], Spelling],
    is_statement: bool = False,
) -> str:
    """The template's text with its holes filled, its names and keywords spelled, and parentheses
    around fillings that need them.

    An expression is text for use within brackets: it may break over lines. With `is_statement` the
    template is one simple statement. A filling of None drops the argument in which its hole stands.
    Raises NoFix when a filling cannot stand in its hole, is None for the first argument of a call,
    or when libcst cannot read it, ValueError when the template itself is wrong.
    """
    names = holes_of(template)
    dropped = frozenset(index for index, name in enumerate(names) if fillings[name] is None)
    try:
        words = tuple(
            filling.word if (filling := fillings[name]) is not None else None for name in names
        )
        spelled = tuple((use, spell(use)) for use in _uses(template, is_statement, dropped, words))
        return _filled(
            template, is_statement, dropped, words, spelled, tuple(map(fillings.get, names))
        )
    except RecursionError:
        raise NoFix("the expression is nested too deeply to be rewritten") from None


@lru_cache(maxsize=512)
def _parse(template: str, is_statement: bool) -> cst.BaseExpression | cst.SimpleStatementLine:
    text = without_holes(template)
    try:
        tree = cst.parse_statement(text) if is_statement else cst.parse_expression(text)
    except cst.ParserSyntaxError:
        raise ValueError(f"the rewrite template {template!r} is not Python") from None
    if is_statement and not isinstance(tree, cst.SimpleStatementLine):
        raise ValueError(f"the rewrite template {template!r} is not made of simple statements")
    return tree


@lru_cache(maxsize=512)
def _uses(
    template: str, is_statement: bool, dropped: frozenset[int], words: Words
) -> tuple[Use, ...]:
    """The canonical names in what is left of a template, with the arguments of their calls, each
    once.
    """
    uses: dict[Use, None] = {}

    def noted(use: Use) -> Spelling:
        uses.setdefault(use)
        return Spelling(use.name)

    _parse(template, is_statement).visit(_Drop(dropped)).visit(_Spell(noted, words))
    return tuple(uses)


@lru_cache(maxsize=512)
def _filled(
    template: str,
    is_statement: bool,
    dropped: frozenset[int],
    words: Words,
    spelled: tuple[tuple[Use, Spelling], ...],
    fillings: tuple[Filling | None, ...],
) -> str:
    tree, skeleton = _prepared(template, is_statement, dropped, words, spelled)
    return _Filled(tree, skeleton, holes_of(template), fillings, is_statement).text()


@lru_cache(maxsize=512)
def _prepared(
    template: str,
    is_statement: bool,
    dropped: frozenset[int],
    words: Words,
    spelled: tuple[tuple[Use, Spelling], ...],
):
    """The template's tree and text without dropped arguments, with its names as the file spells
    them.
    """
    tree = (
        _parse(template, is_statement)
        .visit(_Drop(dropped))
        .visit(_Spell(dict(spelled).__getitem__, words))
    )
    return tree, _code(tree)


def _occurrence(node: cst.CSTNode | None) -> int | None:
    """Which hole a node stands for."""
    match = _PLACEHOLDER.fullmatch(node.value) if isinstance(node, cst.Name) else None
    return int(match[1]) if match else None


class _Drop(cst.CSTTransformer):
    """Takes out the arguments in which dropped holes stand."""

    def __init__(self, dropped: frozenset[int]):
        super().__init__()
        self._dropped = dropped
        # for each argument around the current node: does a dropped hole stand in it
        self._inside: list[bool] = []
        self._gone: set[int] = set()  # ids of arguments taken out

    def visit_Arg(self, node: cst.Arg) -> None:
        self._inside.append(False)

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg):
        if not self._inside.pop():
            return updated_node
        self._gone.add(id(original_node))
        return cst.RemoveFromParent()

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.Name:
        if _occurrence(original_node) in self._dropped:
            if not self._inside:
                raise ValueError(
                    "a hole without a value stands outside of any argument that could be dropped"
                )
            self._inside[-1] = True
        return updated_node

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        gone = [id(arg) in self._gone for arg in original_node.args]
        if not any(gone):
            return updated_node
        positional = [lost for lost, arg in zip(gone, original_node.args) if arg.keyword is None]
        if positional != sorted(positional):
            raise ValueError("dropping a positional argument would move the ones after it")
        if positional and positional[0]:
            raise NoFix("what the call is made of is not written in the program, but in a layer")
        args = list(updated_node.args)
        if args:
            args[-1] = args[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return updated_node.with_changes(args=args)


class _Spell(cst.CSTTransformer):
    """Writes canonical names, and the keywords of their calls, as the file writes them."""

    def __init__(self, spell: Callable[[Use], Spelling], words: Words):
        super().__init__()
        self._spell = spell
        self._words = words
        self._callees: set[cst.CSTNode] = set()  # names that are spelled with their calls

    def visit_Call(self, node: cst.Call) -> None:
        if _canonical(node.func) is not None:
            self._callees.add(node.func)

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        name = _canonical(original_node.func)
        if name is None:
            return updated_node
        keywords = tuple(arg.keyword.value for arg in original_node.args if arg.keyword is not None)
        given = tuple(
            self._given(arg.value) for arg in original_node.args if arg.keyword is not None
        )
        spelling = self._spell(Use(name, len(original_node.args) - len(keywords), keywords, given))
        words = dict(spelling.words)
        args = [
            arg
            if arg.keyword is None
            else _named(arg, words.get(arg.keyword.value, arg.keyword.value))
            for arg in updated_node.args
        ]
        return updated_node.with_changes(func=cst.parse_expression(spelling.text), args=args)

    def _given(self, argument: cst.BaseExpression) -> str | None:
        """The keyword with which the text for a hole was given to another call; empty where it
        stood in its place.
        """
        index = _occurrence(argument)
        return self._words[index] if index is not None else None

    def visit_Attribute(self, node: cst.Attribute) -> bool:
        return _canonical(node) is None

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        name = _canonical(original_node)
        if name is None or original_node in self._callees:
            return updated_node
        return cst.parse_expression(self._spell(Use(name)).text)


def _named(arg: cst.Arg, word: str) -> cst.Arg:
    """An argument under another keyword; in its place for an empty one."""
    if not word:
        return arg.with_changes(keyword=None, equal=cst.MaybeSentinel.DEFAULT)
    return arg.with_changes(keyword=cst.Name(word))


def _canonical(node: cst.BaseExpression) -> str | None:
    """The dotted name that an attribute chain spells, if it begins with a canonical root."""
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if isinstance(node, cst.Name) and node.value in ROOTS:
        return ".".join([node.value, *reversed(parts)])
    return None


class _Put(cst.CSTTransformer):
    """Puts fillings into the places of their holes."""

    def __init__(self, contents: Mapping[int, cst.BaseExpression], starred: set[int]):
        super().__init__()
        self._contents = contents
        self._starred = starred

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        return self._contents.get(_occurrence(original_node), updated_node)

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        if _occurrence(original_node.value) not in self._starred:
            return updated_node
        if original_node.keyword is not None or original_node.star:
            raise NoFix("an argument list unpacked with * cannot be passed by name")
        return updated_node.with_changes(star="*")


class _Filled:
    """A template with its fillings at hand, written with as few parentheses as keep its meaning."""

    def __init__(
        self,
        tree,
        skeleton: str,
        names: list[str],
        fillings: tuple[Filling | None, ...],
        is_statement: bool,
    ):
        self._tree = tree
        self._is_statement = is_statement
        self._skeleton = skeleton
        self._texts: dict[int, str] = {}
        self._starred: set[int] = set()
        seen: set[str] = set()
        for index in sorted(int(number) for number in _PLACEHOLDER.findall(skeleton)):
            filling = fillings[index]
            self._texts[index] = filling.again if names[index] in seen else filling.text
            seen.add(names[index])
            if filling.starred:
                self._starred.add(index)

    def text(self) -> str:
        """Tries without parentheses first, then takes away each pair that the meaning does not
        need.
        """
        wrapped = set(self._texts) - self._starred
        meant = self._meaning(wrapped)
        if meant is None:
            raise NoFix("the expression is not valid where the fix would put it")
        if self._says(set(), meant):
            return self._render(set())
        for index in sorted(wrapped):
            if self._says(wrapped - {index}, meant):
                wrapped -= {index}
        return self._render(wrapped)

    def _says(self, wrapped: set[int], meant: ast.AST) -> bool:
        found = self._meaning(wrapped)
        return found is not None and same_tree(found, meant)

    def _meaning(self, wrapped: set[int]) -> ast.AST | None:
        text = self._as_text(wrapped)
        return statement(text) if self._is_statement else expression(text)

    def _render(self, wrapped: set[int]) -> str:
        contents = {index: _contents(text) for index, text in self._texts.items()}
        contents |= {index: _parenthesised(contents[index]) for index in wrapped}
        text = _code(self._tree.visit(_Put(contents, self._starred)))
        if text != self._as_text(wrapped):
            raise NoFix("the fix would change how the expression is written")
        return text

    def _as_text(self, wrapped: set[int]) -> str:
        """What libcst must give, byte for byte."""
        return _PLACEHOLDER.sub(lambda match: self._written(int(match[1]), wrapped), self._skeleton)

    def _written(self, index: int, wrapped: set[int]) -> str:
        if index in wrapped:
            return f"({self._texts[index]})"
        return "*" * (index in self._starred) + self._texts[index]


def _code(tree: cst.CSTNode) -> str:
    """The text of a tree; of a statement, without its line end."""
    if isinstance(tree, cst.SimpleStatementLine):
        tree = tree.with_changes(
            trailing_whitespace=cst.TrailingWhitespace(newline=cst.Newline(value="\n"))
        )
        return cst.Module([]).code_for_node(tree)[:-1]
    return cst.Module([]).code_for_node(tree)


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
        node = node.visit(_LineEnds(end[0]))
    return node.with_changes(lpar=node.lpar[1:], rpar=node.rpar[:-1])


class _LineEnds(cst.CSTTransformer):
    def __init__(self, default: str):
        super().__init__()
        self._default = default

    def leave_Newline(self, original_node: cst.Newline, updated_node: cst.Newline) -> cst.Newline:
        return (
            updated_node if updated_node.value else updated_node.with_changes(value=self._default)
        )


def _parenthesised(node: cst.BaseExpression) -> cst.BaseExpression:
    return node.with_changes(
        lpar=[cst.LeftParen(), *node.lpar], rpar=[*node.rpar, cst.RightParen()]
    )
