"""Rewrites: a flagged expression or statement and a template become edits that change nothing
around them.

Formatting and comments of what is kept survive; a rewrite that could lose a comment, change a
neighbour or crash the parser is refused with a reason.
"""

from __future__ import annotations

import ast
import itertools
import re
import tokenize
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import StringIO
from typing import Final

from tfnanlint.conventions.texts import tells_shape
from tfnanlint.diagnostics.findings import Edit
from tfnanlint.rewrite import LINE
from tfnanlint.rewrite.hole_test import NoFix, expression, only_edits_changed, same_tree
from tfnanlint.rewrite.imports import added, is_docstring, line_end
from tfnanlint.rewrite.spelling import Spelling, Use
from tfnanlint.rewrite.template import Filling, fill, holes_of, without_holes
from tfnanlint.syntax.edits import Shift, edits_apply
from tfnanlint.syntax.enclosing import TEMPLATE_STRING, enclosing, whole_span
from tfnanlint.syntax.nodes import nodes_in
from tfnanlint.syntax.source import Source, Span, Unreadable

__all__ = [
    "Hole",
    "NoFix",
    "Spell",
    "Spelling",
    "Use",
    "edits_apply",
    "delete_statement",
    "insert_before",
    "replace_statement",
    "rewrite",
    "rewrite_many",
]

# Python's own parser refuses some 100 nested brackets, and trees are walked by functions that call
# themselves; in a thread with a stack of 512 kB there is room for fewer.
MAX_DEPTH = 40
MAX_LENGTH = 20_000
# characters of a statement, with what shares its lines, in which a fix is proved
MOST_PROVED: Final = 100_000
_CROWDED = 60  # a row of several arguments that is longer stands behind other text
_NAMING = re.compile(r"(?P<start>\w+ = )\{(?P<hole>\w+)\}")


Spell = Callable[[Use], Spelling]
Hole = ast.expr | str | None


def rewrite(
    source: Source, node: ast.expr, template: str, holes: Mapping[str, Hole], spell: Spell
) -> tuple[Edit, ...]:
    """Edits that replace an expression of `source.tree` by a template.

    A template is an expression in canonical names with `{holes}`. A hole is an expression of the
    same source, whose text is kept as it stands, or literal text, or None, which drops the argument
    in which the hole stands. Raises NoFix when the rewrite cannot be made safely, ValueError when
    the template and its holes do not fit.
    """
    return rewrite_many(source, [(node, template, holes)], spell)


def rewrite_many(
    source: Source, changes: Sequence[tuple[ast.expr, str, Mapping[str, Hole]]], spell: Spell
) -> tuple[Edit, ...]:
    """The edits of several rewrites of expressions that do not overlap, as one repair. Raises as
    `rewrite`.
    """
    speller = _Speller(spell)
    edits, paths = [], []
    for node, template, holes in changes:
        path = _path(source, node)
        text = _filled(source, source.span(node), template, holes, speller)
        in_string = any(isinstance(outer, ast.JoinedStr) for outer in path)
        if "\n" in text and "\n" in source.segment(node) and not in_string:
            text = _argument_a_line(source, node, text)
        if in_string and set("'\"\\\n\r#") & set(text) - set(source.segment(node)):
            raise NoFix(
                "before Python 3.12 the fix cannot stand in an f-string: "
                "move the expression out of it"
            )
        edits.append(
            _renamed(source, path, node, template, holes, speller)
            or _placed(
                source,
                path,
                source.span(node),
                text,
            )
        )
        paths.append(path)
    if len(edits) > 1:
        _check_together(source, paths, edits)
    return (*added(source, speller.needs, min(edit.span.start for edit in edits)), *edits)


def _renamed(
    source: Source,
    path: list[ast.AST],
    node: ast.expr,
    template: str,
    holes: Mapping[str, Hole],
    speller: _Speller,
) -> Edit | None:
    """The edit of the name alone, where another function takes the same arguments in the same
    order: the lines stay as they are.
    """
    names = holes_of(template)
    wanted = (
        expression(without_holes(template))
        if isinstance(node, ast.Call) and not node.keywords
        else None
    )
    if (
        not isinstance(wanted, ast.Call)
        or wanted.keywords
        or not isinstance(wanted.func, ast.Attribute)
    ):
        return None
    stand_ins = [f"_tfn_hole_{index}_" for index in range(len(names))]
    if [getattr(one, "id", "") for one in wanted.args] != stand_ins or any(
        holes.get(name) is not given for name, given in itertools.zip_longest(names, node.args)
    ):
        return None
    spelling = speller(Use(ast.unparse(wanted.func), len(wanted.args)))
    edit = Edit(source.span(node.func), spelling.text)
    return edit if _holds(source, path, [edit]) else None


def _argument_a_line(source: Source, node: ast.expr, text: str) -> str:
    """The text of a call that replaces an operator over several lines, with a line for each of its
    arguments, where these would share lines that are too long.
    """
    call = expression(text)
    if not isinstance(node, ast.BinOp) or not isinstance(call, ast.Call) or len(call.args) < 2:
        return text
    if "#" in text or call.keywords or max(map(len, text.splitlines())) <= _CROWDED:
        return text
    written = Source("", f"({text}\n)")
    arguments = [written.segment(arg) for arg in written.tree.body[0].value.args]
    start = source.line_starts[source.position(source.span(node).start)[0] - 1]
    row = line_end(source, start) + _indent(source, start) + " " * 4
    lines = [_single_line(arg, argument) for arg, argument in zip(call.args, arguments)]
    return f"{ast.unparse(call.func)}({row}{f',{row}'.join(lines)})"


def replace_statement(
    source: Source, stmt: ast.stmt, template: str, holes: Mapping[str, Hole], spell: Spell
) -> tuple[Edit, ...]:
    """Edits that replace a statement by the simple statements of a template, one a line.

    The line `{stmt}` stands for the statement itself. Indentation, line ends and a comment after
    the statement are kept. Raises as `rewrite`; several statements need a place that is the
    statement's alone.
    """
    lines = template.split("\n")
    path = _path(source, stmt)
    rows = _rows(source, stmt)
    if len(lines) > 1 and rows is None:
        raise NoFix("the statement shares its line with another: give it a line of its own")
    span = source.span(stmt)
    speller = _Speller(spell)
    if "{stmt}" in lines:
        before, after = lines[: lines.index("{stmt}")], lines[lines.index("{stmt}") + 1 :]
        edits = [_inserted(source, stmt, before, holes, speller)] if before else []
        edits += [_appended(source, stmt, rows.end, after, holes, speller)] if after else []
    else:
        start = source.line_starts[stmt.lineno - 1]
        texts = _statements(source, lines, holes, speller, span)
        edits = [Edit(span, (line_end(source, start) + _indent(source, start)).join(texts))]
    if not _holds(source, path, edits, statements=True):
        raise NoFix("the fix would change the code around it")
    return (*added(source, speller.needs, span.start), *edits)


def delete_statement(source: Source, stmt: ast.stmt) -> Edit:
    """The edit that takes a statement out with its lines. Raises NoFix where others share them or
    none would be left.
    """
    rows, path = _rows(source, stmt), _path(source, stmt)
    block = (
        next(
            (
                part
                for part in ("body", "orelse", "finalbody")
                if stmt in getattr(path[-2], part, ())
            ),
            None,
        )
        if len(path) > 1
        else None
    )
    alone = block is not None and len(getattr(path[-2], block)) == 1
    behind = source.text[source.span(stmt).end : rows.end] if rows is not None else ""
    if rows is None or alone or "#" in behind and not tells_shape(behind):
        raise NoFix("removing the statement would change the code around it")
    return Edit(_with_blank_lines(source, rows), "")


def with_blank_lines(source: Source, edits: Iterable[Edit]) -> list[Edit]:
    """Edits of which those that take out lines take one of the two blank lines around all of them,
    too.
    """
    edits = list(edits)
    gone = [
        edit.span
        for edit in edits
        if not edit.text and source.text[edit.span.start : edit.span.end].endswith(("\n", "\r"))
    ]
    return [
        Edit(_with_blank_lines(source, edit.span, gone), "") if edit.span in gone else edit
        for edit in edits
    ]


def _with_blank_lines(source: Source, rows: Span, gone: Sequence[Span] = ()) -> Span:
    """The lines of a statement that is taken out, and the blank lines behind it where others stand
    before it, or before the lines above it that go as well.
    """
    start = rows.start
    while above := [span.start for span in gone if span.start < span.end == start]:
        start = above[0]
    before = source.text[:start].splitlines()
    if before and before[-1].strip() and not _opens_block(before[-1]):
        return rows
    behind = re.compile(r"([ \t]*(\r\n|\r|\n))*").match(source.text, rows.end)
    return Span(rows.start, behind.end()) if behind is not None else rows


def _opens_block(line: str) -> bool:
    """Whether a line ends the head of a block: `def f(x):`."""
    return line.split("#")[0].rstrip().endswith(":")


def insert_before(
    source: Source, stmt: ast.stmt, template: str, holes: Mapping[str, Hole], spell: Spell
) -> tuple[Edit, ...]:
    """Edits that put the simple statements of a template, one a line, before a statement. Raises as
    `rewrite`.
    """
    speller = _Speller(spell)
    path = _path(source, stmt)
    edit = _inserted(source, stmt, template.split("\n"), holes, speller)
    if not _holds(source, path, [edit], statements=True):
        raise NoFix("a line added there would change the code around it")
    return (*added(source, speller.needs, edit.span.start), edit)


class _Speller:
    """Spells names for a template and collects the imports they need."""

    def __init__(self, spell: Spell):
        self._spell = spell
        self.needs: dict[str, None] = {}

    def __call__(self, use: Use) -> Spelling:
        spelling = self._spell(use)
        if spelling.needs:
            self.needs[spelling.needs] = None
        return spelling


# --------------------------------------------------------------------------------------------------
# From a template to text


def _filled(
    source: Source,
    flagged: Span,
    template: str,
    holes: Mapping[str, Hole],
    speller: _Speller,
    is_statement: bool = False,
) -> str:
    """The text that a template gives in the place of a flagged span."""
    used = dict.fromkeys(holes_of(template))
    missing = [name for name in used if name not in holes]
    if missing:
        raise ValueError(f"the template {template!r} has no value for its hole {missing[0]!r}")
    nodes = [holes[name] for name in used if isinstance(holes[name], ast.expr)]
    _check_comments(source, flagged, [source.span(node) for node in nodes])
    _check_scopes(template, nodes)
    return fill(
        template,
        {name: _filling(source, flagged, holes[name]) for name in used},
        speller,
        is_statement,
    )


def _filling(source: Source, flagged: Span, hole: Hole) -> Filling | None:
    if hole is None:
        return None
    if isinstance(hole, str):
        _check_literal(hole)
        return Filling(hole, hole)
    starred = isinstance(hole, ast.Starred)
    node = hole.value if starred else hole
    if isinstance(node, ast.Slice):
        raise NoFix("a slice is not an expression of its own")
    text = source.segment(node)
    _check_size(source, node, text)
    _check_copy(source, node, text)
    single = _single_line(node, text)
    # What stands elsewhere keeps its comments there; only what is moved must take them along.
    return Filling(
        text if source.span(node) in flagged else single, single, starred, _keyword(source, node)
    )


def _keyword(source: Source, node: ast.expr) -> str | None:
    """The keyword with which an expression is given to a call; empty for an argument in its place,
    None for no argument.
    """
    around = enclosing(source.tree.body, source.span(node), source.span)
    outer = around[around.index(node) - 1] if node in around[1:] else None
    if not isinstance(outer, ast.Call) or node is outer.func:
        return None
    return next((word.arg for word in outer.keywords if word.value is node), "")


def _check_literal(text: str) -> None:
    """Literal text may be code of the file, too, and as deep."""
    literal = Source("", f"({text}\n)")
    node = expression(text)
    if node is None:
        raise ValueError(f"the literal {text!r} is not an expression")
    _check_size(literal, node, text)


def _check_size(source: Source, node: ast.expr, text: str) -> None:
    """Refuse what is too deep for the text that a fix writes. Measured on the tree and the text."""
    deep = len(text) > MAX_LENGTH
    stack = [] if deep else [(node, 1)]
    while stack:
        inner, depth = stack.pop()
        if isinstance(inner, ast.BoolOp):
            depth += len(inner.values) - 2
        elif isinstance(inner, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            depth += len(inner.generators) - 1
        if depth > MAX_DEPTH:
            deep = True
            break
        stack.extend(
            (child, depth + isinstance(child, ast.expr)) for child in ast.iter_child_nodes(inner)
        )
        if isinstance(inner, (ast.Constant, ast.JoinedStr)):
            deep = deep or sum(map(source.segment(inner).count, "\"'")) > 2 * MAX_DEPTH
    if deep or _brackets(node, text) > MAX_DEPTH:
        raise NoFix("the expression is too long or nested too deeply to be rewritten safely")


def _brackets(node: ast.expr, text: str) -> int:
    """How deep brackets are nested, or an upper bound of it."""
    total = sum(map(text.count, "([{"))
    if total <= MAX_DEPTH or any(isinstance(inner, ast.JoinedStr) for inner in nodes_in(node)):
        return total
    depth = deepest = 0
    for token in _tokens(text):
        if token.type == tokenize.OP and token.string in "([{)]}":
            depth += 1 if token.string in "([{" else -1
            deepest = max(deepest, depth)
    return deepest - 1


def _check_copy(source: Source, node: ast.expr, text: str) -> None:
    """The text must be the expression, and its names must be written as Python reads them."""
    parsed = expression(text)
    if parsed is None or not same_tree(parsed, node, contexts=False):
        raise NoFix("the expression could not be read from the file")
    if text.isascii():
        return
    for inner in nodes_in(node):
        # Python folds letters such as the full-width `ｔｆ` into plain ones.
        match inner:
            case ast.Name(id=name):
                plain = source.segment(inner) == name
            case ast.Attribute(attr=name):
                plain = source.segment(inner).endswith(name)
            case ast.keyword(arg=str(name)) | ast.arg(arg=name):
                plain = source.segment(inner).startswith(name)
            case _:
                continue
        if not plain:
            raise NoFix(f"the name {name!r} is written with unusual letters")


def _check_scopes(template: str, nodes: list[ast.expr]) -> None:
    """What is put into a lambda or comprehension of the template must not change its meaning
    there.
    """
    if " for " not in template and "lambda" not in template:
        return
    bound = set()
    for inner in nodes_in(ast.parse(without_holes(template))):
        match inner:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                bound.add(name)
    for node in nodes:
        for inner in nodes_in(node):
            if isinstance(inner, (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr)):
                raise NoFix("a yield, await or := would move into another function")
            if isinstance(inner, ast.Name) and inner.id in bound:
                raise NoFix(f"the name {inner.id!r} would refer to something else there")


# --------------------------------------------------------------------------------------------------
# Comments and line breaks in the flagged text


def _tokens(text: str) -> list[tokenize.TokenInfo]:
    """The tokens of text cut out of brackets; positions are those in `(` + text."""
    try:
        # Lines end at CR, LF and CRLF alike, as for the parser; columns do not change.
        return list(tokenize.generate_tokens(StringIO(f"({text}\n)", newline=None).readline))
    except (tokenize.TokenError, SyntaxError):
        raise NoFix("the expression could not be split into tokens") from None


def _check_comments(source: Source, flagged: Span, kept: list[Span]) -> None:
    """Every comment in the flagged text must stand in an expression that is kept."""
    text = source.slice(flagged)
    if "#" not in text:
        return
    starts = Source("", f"({text}").line_starts
    for token in _tokens(text):
        if token.type == tokenize.COMMENT:
            at = flagged.start + starts[token.start[0] - 1] + token.start[1] - 1
            if not any(span.start <= at < span.end for span in kept if span in flagged):
                raise NoFix("a comment inside the expression would be lost")


def _single_line(node: ast.expr, text: str) -> str:
    """An expression's text without its line breaks and comments, those in strings excepted."""
    if "\n" not in text and "\r" not in text:
        return text
    wrapped = f"({text}\n)"
    starts = Source("", wrapped).line_starts
    parts, row, at = ["("], 1, 1
    for token in _tokens(text)[1:]:
        start, end = (starts[line - 1] + column for line, column in (token.start, token.end))
        if start > len(text):
            break  # The line end and parenthesis that were added.
        if token.type in (tokenize.NL, tokenize.COMMENT):
            continue
        if token.start[0] == row:
            parts.append(wrapped[at:start])
        elif parts[-1][-1:] not in ("(", "[", "{", ".") and token.string not in (
            ")",
            "]",
            "}",
            ",",
            ".",
        ):
            parts.append(" ")
        parts.append(wrapped[start:end])
        row, at = token.end[0], end
    single = "".join(parts)[1:]
    parsed = expression(single)
    if parsed is not None and same_tree(parsed, node, contexts=False):
        return single
    raise NoFix("the expression spans several lines and cannot be copied")


# --------------------------------------------------------------------------------------------------
# The place of a rewrite


def _path(source: Source, node: ast.expr | ast.stmt) -> list[ast.AST]:
    """The statements and expressions around a node of the source's tree, and the node itself
    last.
    """
    path = enclosing(source.tree.body, source.span(node), source.span)
    for at, outer in enumerate(path):
        if outer is node:
            return path[: at + 1]
        if isinstance(outer, TEMPLATE_STRING):
            raise NoFix("the expression is inside a template string")
    raise NoFix("the expression could not be found in the file")


def _rows(source: Source, stmt: ast.stmt) -> Span | None:
    """The whole lines of a statement that shares them with no other code, so that they parse on
    their own.
    """
    span = whole_span(stmt, source.span)
    row = source.position(span.start)[0]
    start = source.line_starts[row - 1]
    end = (
        source.line_starts[stmt.end_lineno]
        if stmt.end_lineno < len(source.line_starts)
        else len(source.text)
    )
    head = r"[ \t]*@[ \t]*" if getattr(stmt, "decorator_list", None) else r"[ \t]*"
    if not re.fullmatch(head, source.text[start : span.start]) or _continues(source, start):
        return None
    if not re.fullmatch(r"[ \t\f]*;?[ \t\f]*(#[^\r\n]*)?[\r\n]*", source.text[span.end : end]):
        return None
    if isinstance(stmt, ast.If) and source.text.startswith("elif", span.start):
        return None
    return Span(start, end)


def _continues(source: Source, start: int) -> bool:
    """Whether the line before ends in a backslash."""
    return source.text[max(0, start - 3) : start].rstrip("\r\n").endswith("\\")


def _placed(source: Source, path: list[ast.AST], span: Span, text: str) -> Edit:
    """The edit that puts an expression there, in parentheses only if they are needed."""
    candidates = [Edit(span, text), Edit(span, f"({text})")]
    around = Span(span.start - 1, span.end + 1)
    operator = isinstance(path[-1], (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare))
    if (
        operator
        and source.text[around.start : span.start] == "("
        and source.slice(around).endswith(")")
    ):
        if isinstance(expression(text), (ast.Call, ast.Name, ast.Attribute, ast.Subscript)):
            # The parentheses that the operator needed: `a / (b + c)` becomes
            # `a / tf.maximum(b + c, 1)`.
            candidates.insert(0, Edit(around, text))
    for edit in candidates:
        if _holds(source, path, [edit]):
            return edit
    raise NoFix("the fix would change the code around it")


def _check_together(source: Source, paths: list[list[ast.AST]], edits: list[Edit]) -> None:
    """Prove edits together that were proved one by one, in each statement that holds several of
    them.
    """
    try:
        Shift(edits)
    except ValueError:
        raise NoFix("the expressions to rewrite overlap") from None
    groups: dict[int, tuple[list[ast.AST], list[Edit]]] = {}
    for path, edit in zip(paths, edits):
        alone = _rows(source, path[0]) is not None
        groups.setdefault(id(path[0]) if alone else 0, (path[:1] if alone else [], []))[1].append(
            edit
        )
    for path, members in groups.values():
        if len(members) > 1 and not _holds(source, path, members):
            raise NoFix("the parts of the fix conflict")


def _holds(
    source: Source, path: Iterable[ast.AST], edits: list[Edit], statements: bool = False
) -> bool:
    """The hole test, on the innermost statement of the path whose lines parse on their own, else on
    the file.
    """
    unit, rows = None, None
    for stmt in reversed([node for node in path if isinstance(node, ast.stmt)]):
        rows = _rows(source, stmt)
        if rows is not None and all(edit.span in rows for edit in edits):
            unit = stmt
            break
    else:
        rows = Span(0, len(source.text))
    if rows.end - rows.start > MOST_PROVED:
        raise NoFix("the statement is too long for a fix to be proved")
    text = source.slice(rows)
    source.examined += len(text)
    lead = "if 1:\n" if unit is not None and text[0] in " \t" else ""
    local = [
        Edit(Span(edit.span.start - rows.start, edit.span.end - rows.start), edit.text)
        for edit in edits
    ]
    after = Source(source.path, lead + edits_apply(text, local))
    moved = rows.start - len(lead)
    try:
        body = after.tree.body[0].body if lead else after.tree.body
    except Unreadable:
        return False

    def span_after(node: ast.AST) -> Span:
        span = after.span(node)
        return Span(span.start + moved, span.end + moved)

    before = [unit] if unit is not None else source.tree.body
    return only_edits_changed(before, source, body, span_after, Shift(edits), statements)


# --------------------------------------------------------------------------------------------------
# Lines added


def _statements(
    source: Source,
    lines: list[str],
    holes: Mapping[str, Hole],
    speller: _Speller,
    flagged: Span = Span(0, 0),
) -> list[str]:
    return [_filled(source, flagged, line, holes, speller, is_statement=True) for line in lines]


def _indent(source: Source, start: int) -> str:
    """The blanks at an offset."""
    return re.compile(r"[ \t]*").match(source.text, start)[0]


def _inserted(
    source: Source, stmt: ast.stmt, lines: list[str], holes: Mapping[str, Hole], speller: _Speller
) -> Edit:
    """The edit that adds lines before a statement."""
    span = whole_span(stmt, source.span)
    start = source.line_starts[source.position(span.start)[0] - 1]
    if source.text[start : span.start].strip(" \t@") or _continues(source, start):
        raise NoFix("the statement is not the first on its line")
    if isinstance(stmt, ast.If) and source.text.startswith("elif", span.start):
        raise NoFix("no line can be added between if and elif")
    if is_docstring(source, stmt) or (
        isinstance(stmt, ast.ImportFrom) and stmt.module == "__future__"
    ):
        raise NoFix("the statement has to stay the first one")
    indent, end = _indent(source, start), line_end(source, start)
    texts = [
        _statements(source, [line], _lines_kept(source, line, holes, indent), speller)[0]
        for line in lines
    ]
    end = _ending(source, stmt) + end
    return Edit(Span(start, start), "".join(indent + text + end for text in texts))


def _ending(source: Source, stmt: ast.stmt) -> str:
    """The semicolon of a file that ends each statement with one; else nothing."""
    end = source.span(stmt).end
    is_closed = source.text[end : end + 1] == ";"
    return ";" if is_closed and source.text[end + 1 : end + 2] in ("", "\r", "\n") else ""


def _lines_kept(
    source: Source, line: str, holes: Mapping[str, Hole], indent: str
) -> Mapping[str, Hole]:
    """The holes of a line to add: an expression that gets a name keeps its lines and their
    alignment where one line would be too long.
    """
    match = _NAMING.fullmatch(line)
    node = holes.get(match["hole"]) if match is not None else None
    text = source.segment(node) if isinstance(node, ast.expr) else ""
    if (
        "\n" not in text
        or "#" in text
        or len(indent + match["start"] + _single_line(node, text)) <= LINE
    ):
        return holes
    span = source.span(node)
    moved = len(indent + match["start"]) - (
        span.start - source.line_starts[source.position(span.start)[0] - 1]
    )
    first, *rest = text.split("\n")
    rest = [
        one[min(-moved, len(one) - len(one.lstrip(" "))) :] if moved < 0 else " " * moved + one
        for one in rest
    ]
    text = "\n".join([first, *rest])
    try:
        parsed = ast.parse(text, mode="eval").body
    except SyntaxError:
        return holes
    return {**holes, match["hole"]: text} if same_tree(parsed, node, contexts=False) else holes


def _appended(
    source: Source,
    stmt: ast.stmt,
    end: int,
    lines: list[str],
    holes: Mapping[str, Hole],
    speller: _Speller,
) -> Edit:
    """The edit that adds lines after the last line of a statement, which ends at `end`."""
    indent, ending = _indent(source, source.line_starts[stmt.lineno - 1]), line_end(source, end)
    texts = _statements(source, lines, holes, speller)
    if source.text[end - 1] in "\r\n":
        return Edit(Span(end, end), "".join(indent + text + ending for text in texts))
    return Edit(Span(end, end), "".join(ending + indent + text for text in texts))
