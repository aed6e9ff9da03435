"""slim's `arg_scope`: what it sets for the functions that are called inside of it takes the place
of their defaults.

A scope is often made in one function and entered by another file, so every one that a file writes
counts for all of it.
"""

from __future__ import annotations

import ast
from functools import lru_cache

from tfnanlint.ops.site import Site
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import nodes_in
from tfnanlint.syntax.source import Source


def activation_replaced(site: Site) -> bool:
    """Whether the file of a site sets an activation other than relu for its function in an
    `arg_scope`.
    """
    source = site.source
    return (
        source is not None
        and "arg_scope" in source.text
        and site.name.rpartition(".")[2] in _without_relu(source)
    )


@lru_cache(maxsize=2)
def _without_relu(source: Source) -> frozenset[str]:
    """The functions for which some scope of a file sets another activation."""
    return frozenset(
        leaf(function)
        for node in nodes_in(source.tree)
        if isinstance(node, ast.Call) and leaf(node.func) == "arg_scope" and _replaces_relu(node)
        for function in getattr(node.args[0], "elts", ())
    )


def _replaces_relu(scope: ast.Call) -> bool:
    return bool(scope.args) and any(
        given.arg == "activation_fn" and leaf(given.value) != "relu" for given in scope.keywords
    )
