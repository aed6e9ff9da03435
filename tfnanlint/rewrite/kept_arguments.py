"""What a rewrite must keep of the calls that it replaces: the names that a graph has for tensors,
and the dtypes that are asked for.
"""

from __future__ import annotations

import ast
import re
from typing import Any, Iterator, Mapping

from tfnanlint.ops.site import Site
from tfnanlint.rewrite.hole_test import NoFix
from tfnanlint.rewrite.spelling import in_call
from tfnanlint.syntax.nodes import nodes_in
from tfnanlint.syntax.source import Source

IDENTITY = "tf.identity({value}, name={name})"
_HOLE = "kept_name"


def with_name(
    source: Source, site: Site, target: ast.expr, template: str, holes: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """A template and its holes for `target`, with the name that the call there gives its result.

    Raises NoFix where a name would be gone that the program may ask the graph for, or a dtype.
    """
    new = dict(holes)
    for call, word, value in _lost(source, site, target, template, holes):
        text = source.segment(value)
        if word == "dtype":
            raise NoFix(f"the dtype {text} that the code asks for would be lost")
        if call is target:
            template, new[_HOLE] = named(template), value
        else:
            raise NoFix(f"the name {text} would be lost, and other code may look it up by name")
    return template, new


def named(template: str) -> str:
    """A template whose result gets the name `{kept_name}`: its outermost call does, or the identity
    of what it gives.
    """
    if in_call(template):
        return f"{template[:-1]}, name={{{_HOLE}}})"
    return IDENTITY.replace("{value}", template).replace("{name}", f"{{{_HOLE}}}")


def _lost(
    source: Source, site: Site, target: ast.expr, template: str, holes: Mapping[str, Any]
) -> Iterator[tuple[ast.Call, str, ast.expr]]:
    """The names in a target, and the dtype of its own call, that no hole keeps: with their calls
    and keywords.
    """
    used = [hole for name, hole in holes.items() if f"{{{name}}}" in template]
    spans = [source.span(hole) for hole in used if isinstance(hole, ast.AST)]
    texts = [hole for hole in used if isinstance(hole, str)]
    for call in nodes_in(target):
        if not isinstance(call, ast.Call) or any(source.span(call) in span for span in spans):
            continue
        keywords = {word.arg: word.value for word in call.keywords if word.arg is not None}
        if call is site.node and "name" in site.args:
            keywords["name"] = site.args["name"]  # it may stand in its place
        for word in ("name", "dtype") if call is target else ("name",):
            value = keywords.get(word)
            if (
                value is None
                or isinstance(value, ast.Constant)
                and value.value is None
                or any(source.span(value) in span for span in spans)
            ):
                continue
            said = re.compile(rf"\b{word}\s*=\s*{re.escape(source.segment(value))}")
            if not any(map(said.search, texts)):
                yield call, word, value
