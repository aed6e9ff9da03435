"""Rewrite templates filled with source text. The text decides what comes out; its tree shows that
it means what the template says. What goes into a file is written by libcst (see `concrete`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache

from tfnanlint.diagnostics.findings import Edit
from tfnanlint.rewrite import PLACEHOLDER
from tfnanlint.rewrite.hole_test import NoFix, expression, same_tree, statement
from tfnanlint.rewrite.spelling import Spelling, Use
from tfnanlint.syntax.edits import edits_apply
from tfnanlint.syntax.source import Source, Span, Unreadable

# Dotted names of a template that begin with one of these are canonical and are spelled as the file
# spells them.
ROOTS = frozenset({"tf", "K", "keras", "ops", "np", "tnp", "tfp"})

_HOLE = re.compile(r"\{([A-Za-z_]\w*)\}")
_KEYWORD = re.compile(r"\w+\s*=\s*")
# Whether the text is taken from libcst's tree.
_WRITES: ContextVar[bool] = ContextVar("_WRITES", default=False)
Words = tuple[str | None, ...]
Argument = ast.expr | ast.keyword


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


@contextmanager
def written_by_libcst() -> Iterator[None]:
    """Within it, templates are filled on libcst's tree, for text that goes into a file. To find out
    whether there is a fix, and to show it, libcst need not be loaded.
    """
    token = _WRITES.set(True)
    try:
        yield
    finally:
        _WRITES.reset(token)


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
    Raises NoFix when a filling cannot stand in its hole or is None for the first argument of a
    call, ValueError when the template itself is wrong.
    """
    names = holes_of(template)
    dropped = frozenset(index for index, name in enumerate(names) if fillings[name] is None)
    try:
        words = tuple(
            filling.word if (filling := fillings[name]) is not None else None for name in names
        )
        kept = _kept(template, is_statement, dropped)
        spelled = tuple((use, spell(use)) for use in _uses(kept, is_statement, words))
        filled = tuple(map(fillings.get, names))
        return _filled(kept, is_statement, words, spelled, tuple(names), filled, _WRITES.get())
    except RecursionError:
        raise NoFix("the expression is nested too deeply to be rewritten") from None


class _Parsed:
    """The text of a template, and where its nodes stand in it."""

    def __init__(self, text: str, is_statement: bool):
        self.text = text
        self._lead = 0 if is_statement else 1
        self._source = Source("", text if is_statement else f"({text}\n)")
        body = self._source.tree.body
        self.simple = len(body) == 1 and not {"body", "cases"} & set(body[0]._fields)
        self.nodes = sorted(
            (
                node
                for node in ast.walk(self._source.tree)
                if isinstance(node, (ast.Call, ast.Attribute))
            ),
            key=lambda node: (self.span(node).end, -self.span(node).start),
        )  # inner ones first

    def span(self, node: ast.AST) -> Span:
        span = self._source.span(node)
        return Span(span.start - self._lead, span.end - self._lead)


@lru_cache(maxsize=512)
def _parsed(text: str, is_statement: bool) -> _Parsed:
    return _Parsed(text, is_statement)


def _occurrence(node: ast.AST) -> int | None:
    """Which hole a node stands for."""
    match = PLACEHOLDER.fullmatch(node.id) if isinstance(node, ast.Name) else None
    return int(match[1]) if match else None


# -------------------------------------------------------------------------------------------------
# Arguments that are left out


@lru_cache(maxsize=512)
def _kept(template: str, is_statement: bool, dropped: frozenset[int]) -> str:
    """A template's text without the arguments in which dropped holes stand."""
    text = without_holes(template)
    try:
        simple = _parsed(text, is_statement).simple
    except Unreadable:
        raise ValueError(f"the rewrite template {template!r} is not Python") from None
    if not simple:
        raise ValueError(f"the rewrite template {template!r} is not one simple statement")
    gone = {f"_tfn_hole_{index}_" for index in dropped}
    while gone & set(re.findall(r"\w+", text)):
        text = _without_arguments(_parsed(text, is_statement), dropped)
    return text


def _without_arguments(parsed: _Parsed, dropped: frozenset[int]) -> str:
    """The text without those arguments of the innermost call in which dropped holes stand."""
    for call in parsed.nodes:
        if not isinstance(call, ast.Call):
            continue
        arguments: list[Argument] = [*call.args, *call.keywords]
        arguments.sort(key=lambda argument: parsed.span(argument).start)
        lost = [
            any(_occurrence(node) in dropped for node in ast.walk(argument))
            for argument in arguments
        ]
        if not any(lost):
            continue
        placed = [gone for gone, one in zip(lost, arguments) if not _is_named(one)]
        if placed != sorted(placed):
            raise ValueError("dropping a positional argument would move the ones after it")
        if placed and placed[0]:
            raise NoFix("the argument of the new call stands inside of a layer, not in the program")
        start = parsed.text.index("(", parsed.span(call.func).end) + 1
        texts = _divided(parsed, start, arguments, parsed.span(call).end - 1)
        kept = [text for text, gone in zip(texts, lost) if not gone]
        edit = Edit(Span(start, parsed.span(call).end - 1), ", ".join(kept))
        return edits_apply(parsed.text, [edit])
    raise ValueError("a hole without a value stands outside of any argument that could be dropped")


def _is_named(argument: Argument) -> bool:
    return isinstance(argument, ast.keyword) and argument.arg is not None


def _divided(parsed: _Parsed, start: int, arguments: list[Argument], end: int) -> Iterator[str]:
    """The texts of the arguments between the parentheses of a call, which may be in parentheses of
    their own.
    """
    for argument, follower in zip(arguments, [*arguments[1:], None]):
        comma = parsed.text.find(
            ",", parsed.span(argument).end, end if follower is None else parsed.span(follower).start
        )
        stop = end if comma < 0 else comma
        yield parsed.text[start:stop].strip()
        start = stop + 1


# -------------------------------------------------------------------------------------------------
# Names as the file writes them


def _canonical(node: ast.expr) -> str | None:
    """The dotted name that an attribute chain spells, if it begins with a canonical root."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name) and node.id in ROOTS:
        return ".".join([node.id, *reversed(parts)])
    return None


def _named(parsed: _Parsed, words: Words) -> Iterator[tuple[Use, ast.Call | ast.Attribute]]:
    """Each use of a canonical name, inner ones first: a call, or a name that is not called."""
    inner = {id(node.func) for node in parsed.nodes if isinstance(node, ast.Call)}
    inner |= {
        id(node.value)
        for node in parsed.nodes
        if isinstance(node, ast.Attribute) and _canonical(node) is not None
    }
    for node in parsed.nodes:
        name = _canonical(node.func if isinstance(node, ast.Call) else node)
        if name is None or isinstance(node, ast.Attribute) and id(node) in inner:
            continue
        yield (Use(name) if isinstance(node, ast.Attribute) else _call(name, node, words)), node


def _call(name: str, call: ast.Call, words: Words) -> Use:
    """The use of a name that is called."""
    keywords = [word for word in call.keywords if word.arg is not None]
    originals = [
        None if (index := _occurrence(word.value)) is None else words[index] for word in keywords
    ]
    positional = len(call.args) + len(call.keywords) - len(keywords)
    return Use(name, positional, tuple([str(word.arg) for word in keywords]), tuple(originals))


@lru_cache(maxsize=512)
def _uses(text: str, is_statement: bool, words: Words) -> tuple[Use, ...]:
    """The canonical names in what is left of a template, with the arguments of their calls, each
    once.
    """
    return tuple(dict.fromkeys(use for use, _ in _named(_parsed(text, is_statement), words)))


@lru_cache(maxsize=512)
def _spelled(
    text: str, is_statement: bool, words: Words, spelled: tuple[tuple[Use, Spelling], ...]
) -> str:
    """The text with its names, and the keywords of their calls, as the file writes them."""
    parsed, spellings = _parsed(text, is_statement), dict(spelled)
    edits: list[Edit] = []
    for use, node in _named(parsed, words):
        spelling = spellings[use]
        called = node.func if isinstance(node, ast.Call) else node
        edits.append(Edit(parsed.span(called), spelling.text))
        written = dict(spelling.words)
        for keyword in node.keywords if isinstance(node, ast.Call) else ():
            if keyword.arg in written:
                edits.append(_reworded(parsed, keyword, written[keyword.arg]))
    return edits_apply(text, edits)


def _reworded(parsed: _Parsed, keyword: ast.keyword, word: str) -> Edit:
    """The edit that gives an argument another keyword; none for an empty one."""
    start = parsed.span(keyword).start
    stated = _KEYWORD.match(parsed.text, start)
    assert stated is not None
    return Edit(Span(start, stated.end()), f"{word}=" if word else "")


# -------------------------------------------------------------------------------------------------
# The fillings


@lru_cache(maxsize=512)
def _unpackable(skeleton: str, is_statement: bool) -> frozenset[int]:
    """The holes that are arguments in their place, so that `*` can stand before them."""
    calls = (node for node in _parsed(skeleton, is_statement).nodes if isinstance(node, ast.Call))
    places = (_occurrence(argument) for call in calls for argument in call.args)
    return frozenset(index for index in places if index is not None)


@lru_cache(maxsize=512)
def _filled(
    text: str,
    is_statement: bool,
    words: Words,
    spelled: tuple[tuple[Use, Spelling], ...],
    names: tuple[str, ...],
    fillings: tuple[Filling | None, ...],
    writes: bool,
) -> str:
    """The text with its names spelled and its holes filled."""
    skeleton = _spelled(text, is_statement, words, spelled)
    filled = _Filled(skeleton, names, fillings, is_statement)
    return filled.written() if writes else filled.text()


class _Filled:
    """A template with its fillings at hand, written with as few parentheses as keep its meaning."""

    def __init__(
        self,
        skeleton: str,
        names: tuple[str, ...],
        fillings: tuple[Filling | None, ...],
        is_statement: bool,
    ):
        self._is_statement = is_statement
        self._skeleton = skeleton
        self._texts: dict[int, str] = {}
        self._starred: set[int] = set()
        seen: set[str] = set()
        for index in sorted(int(number) for number in PLACEHOLDER.findall(skeleton)):
            filling = fillings[index]
            assert filling is not None
            self._texts[index] = filling.again if names[index] in seen else filling.text
            seen.add(names[index])
            if filling.starred:
                self._starred.add(index)

    def text(self) -> str:
        """The text with the parentheses that its meaning needs."""
        return self._written(self._wrapped())

    def written(self) -> str:
        """The same as libcst writes it. Raises NoFix where that is another text."""
        from tfnanlint.rewrite import concrete

        wrapped = frozenset(self._wrapped())
        starred = frozenset(self._starred)
        text = concrete.put(self._skeleton, self._texts, wrapped, starred, self._is_statement)
        if text != self._written(set(wrapped)):
            raise NoFix("the fix would change how the expression is written")
        return text

    def _wrapped(self) -> set[int]:
        """The holes that need parentheses: tries without any first, then takes away each pair that
        the meaning does not need.
        """
        if self._starred and not self._starred <= _unpackable(self._skeleton, self._is_statement):
            raise NoFix("an argument list unpacked with * cannot be passed by name")
        wrapped = set(self._texts) - self._starred
        meant = self._meaning(wrapped)
        if meant is None:
            raise NoFix("the expression is not valid where the fix would put it")
        if self._says(set(), meant):
            return set()
        for index in sorted(wrapped):
            if self._says(wrapped - {index}, meant):
                wrapped -= {index}
        return wrapped

    def _says(self, wrapped: set[int], meant: ast.AST) -> bool:
        tree = self._meaning(wrapped)
        return tree is not None and same_tree(tree, meant)

    def _meaning(self, wrapped: set[int]) -> ast.AST | None:
        text = self._written(wrapped)
        return statement(text) if self._is_statement else expression(text)

    def _written(self, wrapped: set[int]) -> str:
        """The text with parentheses around some of its fillings."""
        return PLACEHOLDER.sub(lambda match: self._piece(int(match[1]), wrapped), self._skeleton)

    def _piece(self, index: int, wrapped: set[int]) -> str:
        if index in wrapped:
            return f"({self._texts[index]})"
        return "*" * (index in self._starred) + self._texts[index]
