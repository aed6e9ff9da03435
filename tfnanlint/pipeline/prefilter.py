"""Where rules may have work: what they look at, and the rows of a file that hold their words and
signs, by its text alone.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Iterable

from tfnanlint.interp.expressions import OPERATORS
from tfnanlint.ops.table import Op, load
from tfnanlint.program.scope import Assigned, Imported
from tfnanlint.rule.registry import EVENTS, Rule
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.source import Source
from tfnanlint.syntax.text_index import (
    code_of,
    differences,
    finders,
    holding,
    long_strings,
    named,
    powers,
    rows_of,
)

if TYPE_CHECKING:
    from tfnanlint.program.module import Module

_SYMBOLS = {
    "tf.divide": "/",
    "tf.pow": "**",
    "tf.math.floordiv": "//",
    "tf.math.floormod": "%",
    "tf.subtract": "-",
    "tf.add": "+",
    "tf.multiply": "*",
}
# for signs that mean something else elsewhere, what finds their rows
_ROWS: Final = {"**": powers, "-": differences}
_OBJECTS = ("keras.layers.", "keras.losses.")
# nothing but a comment stands there, or a line of a string that looks like one
_COMMENTED = re.compile(r"[^\S\r\n]*#")
# Before an op that is not called: the name that it gets, and what stands before an element of a
# list or dict, which begins with its name.
_GIVEN = re.compile(r"(\w+)[ \t]*=[ \t]*[\w.]+$")
_ENDS = re.compile(r"[ \t]*(?:#|;|$)", re.M)
_LISTED = re.compile(r"[\[{(,:][ \t]*[\w.]+$|^[ \t]*[\w.]+$")
_TABLE = re.compile(r"(\w+)[ \t]*=[ \t]*(?:dict\(|[\[{(])[^=\])}]*$")
_LONG_TABLE = 2000  # characters of a list or dict that are looked through for its beginning
_FROM = re.compile(r"from[ \t]+([\w.]+)[ \t]+import\b[ \t]*(\([^)]*\)|[^\n]*)")
_NO_WORDS: Final[frozenset[str]] = frozenset()
_WORDS = re.compile(r"\w+")
# a class that is called, and what gets its instance
_CLASS_CALLED: Final = re.compile(r"=[ \t]*([A-Z]\w*)\(")
_INSTANCE: Final = re.compile(r"(\w+)[ \t]*=[ \t]*[\w.]*\b([A-Z]\w*)\(")
_BEHIND_DOT: Final = re.compile(r"\.(\w+)")
# Characters that are read before a pattern of all words is worth the time to compile it.
_LITTLE_TEXT: Final = 40_000
# marked in a file: of more at least one is code, and to look at them takes as long as parsing
_FEW_ROWS = 40


class Marks:
    """The rows of a file that hold a word or sign of a rule outside of a comment, the names of
    objects whose calls rules look at, and the names of lists and dicts of such objects.
    """

    def __init__(self, rows: set[int], objects: set[str], tables: set[str]):
        self.rows = rows
        self.objects = objects
        self.tables = tables


class WordFinder:
    """Finds some words behind dots. The first texts are searched for any word behind a dot; a
    pattern of the words alone is several times faster, and takes milliseconds to compile.
    """

    def __init__(self, words: Iterable[str]):
        self._words = frozenset(words)
        self._pattern: re.Pattern[str] | None = None
        self._read = 0

    def places(self, text: str) -> list[tuple[str, int]]:
        """Each such word in a text, with the place of its dot, ascending."""
        if self._pattern is None:
            self._read += len(text)
            if self._read < _LITTLE_TEXT:
                words = self._words
                return [found for found in named(text, _BEHIND_DOT) if found[0] in words]
            self._pattern = re.compile(rf"\.({_by_initials(self._words)})\b")
        return named(text, self._pattern)


class Subscriptions:
    """Which rules look at what, and the words by which candidate lines are found."""

    def __init__(
        self,
        targets: Iterable[tuple[Rule, tuple[str, ...]]],
        finder: WordFinder | None = None,
    ):
        """`targets`: each rule with the ops and events that it looks at; `finder` finds all their
        words, and maybe others, behind a dot.
        """
        table = load()
        targets = tuple(targets)
        self.rules = tuple(one for one, _ in targets)
        self.by_op: dict[str, list[Rule]] = {}
        self.events: dict[str, list[Rule]] = {name: [] for name in EVENTS}
        words: set[str] = set()
        edged: set[str] = set()
        symbols: set[str] = set()
        for rule, wanted in targets:
            for target in wanted:
                if target in EVENTS:
                    self.events[target].append(rule)
                    words |= set(rule.words)
                    continue
                row = table[target]
                self.by_op.setdefault(row.name, []).append(rule)
                words |= _leaves(row)
                edged |= _leaves(row) if row.edges else _NO_WORDS
                if target in _SYMBOLS:
                    symbols.add(_SYMBOLS[target])
        self.leaves = frozenset(words)
        # of ops that go wrong at the edge of a range: where such a one goes as a value, too, is
        # looked at
        self.edged = frozenset(edged)
        self.signs = frozenset(sign for sign, name in OPERATORS.items() if name in self.by_op)
        # Layers and losses are judged where they are called, too, under the name that the file
        # gives them.
        makers = {
            row.name.rsplit(".", 1)[-1]
            for name in self.by_op
            for row in [table[name]]
            if row.name.startswith(_OBJECTS) and row.name.rsplit(".", 1)[-1][0].isupper()
        }
        self._makers = frozenset(makers)
        pieces = dict.fromkeys(
            [*sorted(symbols), *(word for one in self.rules for word in one.words)]
        )
        shortest = tuple(
            one for one in pieces if not any(other in one for other in pieces if other != one)
        )
        self.pieces = tuple(finder.pieces for finder in finders(shortest))
        self._words = tuple(dict.fromkeys([word for one in self.rules for word in one.words]))
        self._symbols = tuple(sorted(symbols))
        self._finder = finder

    def marks(self, source: Source) -> Marks:
        """What the text of a file alone tells of where rules have work."""
        text, starts = source.text, source.line_starts
        words = self._finder.places(text) if self._finder is not None and self.leaves else []
        marked = set(rows_of(starts, [place for word, place in words if word in self.leaves]))
        for piece in [piece for pieces in self.pieces if source.holds(pieces) for piece in pieces]:
            rows_of_sign = _ROWS.get(piece)
            marked.update(
                rows_of_sign(text, starts)
                if rows_of_sign is not None
                else holding(text, starts, piece)
            )
        rows = {row for row in marked if not _COMMENTED.match(text, starts[row - 1])}
        objects = self._objects(text, words) if self._makers else set()
        held, tables = self._holders(text, words)
        return Marks(rows, objects | held, tables)

    def rows(self, module: Module, marks: Marks) -> list[int]:
        """The rows marked, and those with a name of the file's own for something that a rule looks
        at, ascending.
        """
        rows = set(marks.rows)
        for name in self._own_names(module):
            rows.update(module.source.rows_with(name))
        for name in marks.objects:
            rows.update(module.source.rows_with(f"{name}("))
        for name in marks.tables:
            rows.update(module.source.rows_with(f"{name}["))
        return sorted(rows)

    def works(self, source: Source, marks: Marks) -> bool:
        """Whether rules may have work in a file, by its text alone: something that is marked is
        code, or a name is imported that may be an op's.
        """
        rows = sorted(marks.rows)
        if (
            len(rows) > _FEW_ROWS
            or marks.objects
            and rows
            or self._imports(source.text, bool(rows))
        ):
            return True
        strings = long_strings(source.text) if rows else []
        if strings is None:
            return True
        for row in rows:
            if self._marked(*code_of(source.text, source.line_starts, row, strings)):
                return True
        return False

    def _marked(self, line: str, code: str) -> bool:
        """Whether a word or sign stands on a row: words of rules may be in strings, too
        (`activation="softmax"`).
        """
        if (
            any([word in line for word in self._words])
            or self._finder is not None
            and not self.leaves.isdisjoint(_BEHIND_DOT.findall(code))
        ):
            return True
        return any(
            [
                bool(_ROWS[sign]("_" + code, [0])) if sign in _ROWS else sign in code
                for sign in self._symbols
            ]
        )

    def _imports(self, text: str, everywhere: bool) -> bool:
        """Whether a text imports a name that may be an op's out of TensorFlow or Keras, or out of
        any module: it may be called without a dot before it.
        """
        for match in _FROM.finditer(text):
            module, names = match[1], match[2]
            begins = not text[text.rfind("\n", 0, match.start()) + 1 : match.start()].strip(" \t")
            if begins and (everywhere or "tensorflow" in module or "keras" in module):
                if (
                    "*" in names
                    or "\\" in names
                    or not self.leaves.isdisjoint(_WORDS.findall(names))
                ):
                    return True
        return False

    def _objects(self, text: str, words: list[tuple[str, int]]) -> set[str]:
        """Names and attributes that hold layers and losses whose calls some rule looks at
        (`loss_fn = BinaryCrossentropy(...)`); `words` are those behind dots, with the places of the
        dots.
        """
        ends = [place + len(word) + 2 for word, place in words if word in self._makers]
        ends += [match.end() for match in _CLASS_CALLED.finditer(text) if match[1] in self._makers]
        lines = [text[text.rfind("\n", 0, end) + 1 : end] for end in ends]
        instances = [match.groups() for line in lines for match in _INSTANCE.finditer(line)]
        return {name for name, maker in instances if maker in self._makers}

    def _holders(self, text: str, words: list[tuple[str, int]]) -> tuple[set[str], set[str]]:
        """Names and attributes that hold an op itself (`self.act = tf.math.log`), and those of
        lists and dicts of ops.
        """
        objects: set[str] = set()
        tables: set[str] = set()
        for word, place in words:
            if word not in self.edged or text.startswith("(", place + len(word) + 1):
                continue
            line = text[text.rfind("\n", 0, place) + 1 : place]
            assigned = _GIVEN.search(line)
            # else it is a keyword of a call
            if assigned is not None and _ENDS.match(text, place + len(word) + 1) is not None:
                objects.add(assigned[1])
            elif (
                _LISTED.search(line) is not None
                and (listed := _TABLE.search(text[max(place - _LONG_TABLE, 0) : place])) is not None
            ):
                tables.add(listed[1])
        for name in tables:
            objects.update(re.findall(rf"(\w+)[ \t]*=[ \t]*(?:self\.)?{name}(?:\[|\.get\()", text))
        return objects, tables

    def _own_names(self, module: Module) -> set[str]:
        """Local names that imports and assignments at the top level give to subscribed ops
        (`ln = tf.math.log`).
        """
        names = set()
        for local, entry in module.scope.history.items():
            for binding in entry.bindings():
                if isinstance(binding, Imported):
                    if binding.dotted.rsplit(".", 1)[-1] in self.leaves:
                        names.add(local)
                elif isinstance(binding, Assigned) and isinstance(
                    binding.node, (ast.Attribute, ast.Name)
                ):
                    if leaf(binding.node) in self.leaves and local.isidentifier():
                        names.add(local)
        return names


@cache
def _leaves(row: Op) -> frozenset[str]:
    """The last names under which an op can be called."""
    return frozenset([alias.rsplit(".", 1)[-1] for alias in row.aliases])


def _behind_dots(rules: tuple[Rule, ...]) -> WordFinder:
    """Finds the words of all rules behind dots: one for all files."""
    table = load()
    words = {word for one in rules for word in one.words}
    words.update(
        word
        for one in rules
        for target in one.on
        if target not in EVENTS
        for word in _leaves(table[target])
    )
    return WordFinder(words)


def _by_initials(words: Iterable[str]) -> str:
    """A pattern for any of some words: by their first letters, which leaves few to be compared at a
    place.
    """
    rests: dict[str, list[str]] = {}
    for word in sorted(words):
        rests.setdefault(word[0], []).append(re.escape(word[1:]))
    return "|".join(
        f"{re.escape(initial)}(?:{'|'.join(found)})" for initial, found in rests.items()
    )


# What a rule needs; the pieces of text of which one has to stand in a file; and each part of it
# that one op only needs, with its piece.
Need = tuple[tuple[str, ...], tuple[str, ...], tuple[tuple[str, tuple[str]], ...]]

# For some rules: what each of them needs, and what finds their words.
_needed: dict[tuple[Rule, ...], tuple[tuple[Need, ...], WordFinder]] = {}
_standing: dict[tuple, Subscriptions] = {}
_cache: dict[tuple, Subscriptions] = {}


def _need(needs: tuple[str, ...]) -> Need:
    """What a rule needs, taken apart once for all files."""
    return (
        needs,
        tuple([piece for piece in needs if ":" not in piece]),
        tuple([(need, (need.partition(":")[2],)) for need in needs if ":" in need]),
    )


def _met(need: Need, source: Source) -> list[Any]:
    """What a rule needs, if it stands in a file, and each part of it that one op only needs, if
    that does.
    """
    needs, for_all, parts = need
    return (
        [needs, *[part for part, piece in parts if source.holds(piece)]]
        if source.holds(for_all)
        else []
    )


def subscriptions(rules: Iterable[Rule], source: Source) -> Subscriptions:
    """What `rules` look at in a file: it depends on few pieces of its text."""
    rules = tuple(rules)
    if rules not in _needed:
        _needed[rules] = (
            tuple(map(_need, dict.fromkeys(one.needs for one in rules if one.needs))),
            _behind_dots(rules),
        )
    needed, finder = _needed[rules]
    standing = frozenset([met for need in needed for met in _met(need, source)])
    if (rules, standing) not in _standing:
        key = tuple((one, targets) for one in rules if (targets := one.targets(standing)))
        if key not in _cache:
            _cache[key] = Subscriptions(key, finder)
        _standing[rules, standing] = _cache[key]
    return _standing[rules, standing]
