"""Policies: the dtype in which layers of Keras compute, which a file sets for all of them or for one (`mixed_float16`)."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from tfnanlint.calls import recast
from tfnanlint.conditions import leaf
from tfnanlint.recursion import Recursion
from tfnanlint.values import FLOATS, Value

if TYPE_CHECKING:
    from tfnanlint.module import Module

_SETTERS = ("set_global_policy", "set_policy", "set_dtype_policy", "set_floatx")


class Policies(Recursion):
    """The part of the interpreter that knows the dtypes of layers."""

    def policies(self, module: Module) -> list[tuple[str, ast.Call]]:
        """The dtypes and policies that a file makes Keras use everywhere (`mixed_float16`), with the calls that do so."""
        if module not in self._policies:
            found = self._policies[module] = []  # while it is being found
            for name in _SETTERS if "set_" in module.source.text else ():
                for node, point in module.calls_to(name, self) if f"{name}(" in module.source.text else ():
                    given = node.args[0] if node.args else None
                    inner = given.args[0] if isinstance(given, ast.Call) and given.args else given
                    text = self.evaluate(inner, point).const if inner is not None else None
                    if isinstance(text, str):
                        found.append((text, node))
        return self._policies[module]

    def leaves_open(self, site: Any) -> bool:
        """Whether a float32 that nobody asked for may be another dtype, by a setting of the file (weights are cast where they are used)."""
        if site.given("dtype") or site.name == "method.astype" or any(value.dtype == "float32" for value in site._values.values()):
            return False
        return bool(self.policies(site.point.module))

    def computes_in(self, made: Any) -> str | None:
        """The dtype that a layer of Keras gives: "" for that of a file that sets none, None where it cannot be told."""
        for _ in range(8):
            made = made.layers[-1].obj if getattr(made, "layers", ()) else made
        layer = getattr(made, "site", None)
        if layer is None:
            return None
        if layer.given("dtype") or layer.hidden:
            own = layer.value("dtype").const if layer.given("dtype") else None
            return own if own in FLOATS else None
        module = layer.point.module if layer.point is not None else None
        found = self.policies(module) if module is not None else []
        if not found:
            return ""
        text, node = found[0]
        dtype = text.removeprefix("mixed_")
        first = any(isinstance(one, ast.Expr) and one.value is node for one in module.source.tree.body) and node.lineno < layer.node.lineno
        return dtype if dtype in FLOATS and len(found) == 1 and first and leaf(node.func) != "set_floatx" else None

    def in_its_dtype(self, layer: Any, given: Value) -> Value:
        """What a layer of Keras gives, which casts what it is given: to float32, where no file says anything else."""
        dtype = self.computes_in(layer)
        entering = recast(given, dtype, entering=True)
        if isinstance(given.obj, tuple):
            items = tuple(recast(item, dtype, entering=True) for item in given.obj)
            entering = given if all(item is before for item, before in zip(items, given.obj)) else self._sequence(items)
        value = layer.out(entering, layer.site)
        if dtype == "" and entering is not given:
            value = self.joined([value, layer.out(given, layer.site)])
        return recast(value, dtype)
