"""slim's `arg_scope`: what it sets for the functions that are called inside of it takes the place of their defaults.

A scope is often made in one function and entered by another file, so every one that a file writes counts for all of it.
"""

from __future__ import annotations

import re
from functools import lru_cache

from tfnanlint.site import Site

_NESTED = r"(?:[^()]|\((?:[^()]|\([^()]*\))*\))*"
_SCOPE = re.compile(rf"arg_scope\(\s*\[([^\]]*)\]({_NESTED})\)")
_NAME = re.compile(r"\w+(?=\s*(?:,|$))")
_ACTIVATION = re.compile(r"\bactivation_fn\s*=\s*([\w.]+)")


def activation_replaced(site: Site) -> bool:
    """Whether the file of a site sets an activation other than relu for its function in an `arg_scope`."""
    return site.source is not None and site.name.rpartition(".")[2] in _without_relu(site.source.text)


@lru_cache(maxsize=8)
def _without_relu(text: str) -> frozenset[str]:
    found = set()
    for functions, arguments in _SCOPE.findall(text) if "arg_scope(" in text else ():
        activation = _ACTIVATION.search(arguments)
        if activation is not None and activation[1].rpartition(".")[2] != "relu":
            found.update(_NAME.findall(functions))
    return frozenset(found)
