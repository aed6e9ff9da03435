"""Precision: the dtype in which layers of Keras compute, which a file sets for all of them or for
one (`mixed_float16`).
"""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import Any, Iterator

from tfnanlint.ops.families.arrays import cast
from tfnanlint.ops.frameworks import LAYER_BASES, POLICY_SETTERS
from tfnanlint.program.functions import ClassObject, Function, recast
from tfnanlint.program.module import Module
from tfnanlint.program.scope import Point
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import nodes_in
from tfnanlint.syntax.source import Source, Unreadable, names_in
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import FLOATS, INF, NO_CONSTANT, Value, outward, rounded

_OTHERS = ("float16", "float64")
# As bytes: how a policy is set, and how one that is written out there.
_SETTING = tuple([f"{name}(".encode() for name in POLICY_SETTERS])
_WRITTEN_OUT = tuple([call + quote for call in _SETTING for quote in (b'"', b"'")])


class Precision:
    """The part of the interpreter that knows the dtypes of layers."""

    def __init__(self) -> None:
        self._policies: dict[Module, list[tuple[str, ast.Call]]] = {}
        self._class_dtypes: dict[ClassObject, str | None] = {}
        self._program_dtypes: dict[Module, str | None] = {}
        self._program_policies: dict[Module, str] = {}

    def policies(self, ev: Evaluator, module: Module) -> list[tuple[str, ast.Call]]:
        """The dtypes and policies that a file makes Keras use everywhere (`mixed_float16`), with
        the calls that do so. What its last statement sets back holds for nothing in it.
        """
        if module not in self._policies:
            policies = self._policies[module] = []  # while it is being found
            for name in POLICY_SETTERS if "set_" in module.source.text else ():
                for node, point in (
                    module.calls_to(name, ev) if f"{name}(" in module.source.text else ()
                ):
                    policy = node.args[0] if node.args else None
                    inner = (
                        policy.args[0] if isinstance(policy, ast.Call) and policy.args else policy
                    )
                    text = ev.evaluate(inner, point).const if inner is not None else None
                    if isinstance(text, str):
                        policies.append((text, node))
            last = module.source.tree.body[-1] if policies else None
            ended = last.value if isinstance(last, ast.Expr) else None
            kept = [policy for policy in policies if policy[1] is not ended or "16" in policy[0]]
            policies[:] = kept or policies
        return self._policies[module]

    def policies_of_program(
        self, ev: Evaluator, module: Module
    ) -> Iterator[tuple[str, ast.Call, Module]]:
        """The dtypes and policies that a file, or else the program that imports it, makes Keras use
        everywhere, with the calls that do so and their files.
        """
        own = self.policies(ev, module)
        for text, call in own:
            yield text, call, module
        for setter in self._setters(module) if not own else ():
            for text, call in self.policies(ev, setter):
                yield text, call, setter

    def policy_of_program(self, ev: Evaluator, module: Module) -> str:
        """The first of the dtypes and policies that `policies_of_program` gives, "" where it gives
        none. Each rule for a dtype asks.
        """
        if module not in self._program_policies:
            self._program_policies[module] = self._found_policy(ev, module)
        return self._program_policies[module]

    def _found_policy(self, ev: Evaluator, module: Module) -> str:
        for text, _ in self.policies(ev, module):
            return text
        for path, data in _setting(module).items():
            written = _set_when_called(data)
            if written:
                return written[0]
            setter = module.project.module_or_own(path)
            for policy, _ in self.policies(ev, setter) if setter is not None else ():
                return policy
        return ""

    def _setters(self, module: Module, written_out_first: bool = False) -> Iterator[Module]:
        """The files by which the program of a file may set a policy with a dtype of 16 bits."""
        texts = _setting(module)
        paths = list(texts)
        if written_out_first:
            paths.sort(key=lambda path: not any([call in texts[path] for call in _WRITTEN_OUT]))
        for path in paths:
            setter = module.project.module_or_own(path)
            if setter is not None:
                yield setter

    def _of_program(self, ev: Evaluator, module: Module) -> str | None:
        """The dtype that layers compute in which a file without a setting makes, as the program
        says it that imports the file: "" where none does, None where it cannot be told.
        """
        if module not in self._program_dtypes:
            self._program_dtypes[module] = None  # while it is being found
            self._program_dtypes[module] = self._found_of_program(ev, module)
        return self._program_dtypes[module]

    def _found_of_program(self, ev: Evaluator, module: Module) -> str | None:
        if module.project is None or not module.project.half_setters(module.source.path):
            return ""
        own = self.policies(ev, module)
        if not own and any([_set_under_condition(data) for data in _setting(module).values()]):
            return None
        texts: set[str] = set()
        # what is written out comes first: nothing of it is computed, and it may tell already
        others = self._setters(module, written_out_first=True)
        for setter in [module] if own else others:
            for text, call in self.policies(ev, setter):
                if not _always_runs(ev, call, setter):
                    return None
                texts.add(text)
        return _computed_in(texts.pop()) if len(texts) == 1 else None

    def computes_in(self, ev: Evaluator, keras_object: Any) -> str | None:
        """The dtype that a layer of Keras gives: "" for that of a file that sets none, None where
        it cannot be told.
        """
        for _ in range(8):
            layers = getattr(keras_object, "layers", ())
            if not layers:
                break
            keras_object = layers[-1].obj
        layer = getattr(keras_object, "site", None)
        if layer is None:
            return None
        if layer.given("dtype") or layer.hidden:
            own = layer.value("dtype").const if layer.given("dtype") else None
            return _computed_in(own) if isinstance(own, str) else None
        module = layer.point.module if layer.point is not None else None
        if module is None:
            return ""
        if not self.policies(ev, module):
            return self._of_program(ev, module)
        return self._set_for(ev, layer.node.lineno, module)

    def dtype_of(self, ev: Evaluator, cls: ClassObject) -> str | None:
        """The dtype that the layers of a class of the program compute in, as `computes_in` says
        it.
        """
        if cls not in self._class_dtypes:
            self._class_dtypes[cls] = ""  # while it is being found
            self._class_dtypes[cls] = (
                self._found_dtype(ev, cls)
                if names_other(cls.module)
                else self._of_program(ev, cls.module)
                if any([base.startswith(LAYER_BASES) for base in ev.foreign_bases(cls)])
                else ""
            )
        return self._class_dtypes[cls]

    def _found_dtype(self, ev: Evaluator, cls: ClassObject) -> str | None:
        """That which its `__init__` hands on to Keras, else that which its file sets before it
        makes any of them. Losses are no layers.
        """
        method, module = ev.method(cls, "__init__"), cls.module
        if not any([base.startswith(LAYER_BASES) for base in ev.foreign_bases(cls)]):
            return None if self.policies(ev, module) else ""
        if method is not None and "dtype" in method.module.source.segment(method.node):
            text = (
                ev.evaluate(dtype, method.point).const
                if (dtype := _handed_to_keras(method.node)) is not None
                else None
            )
            return _computed_in(text) if isinstance(text, str) else None
        calls = module.calls_to(cls.name, ev)
        if any([keyword.arg in (None, "dtype") for call, _ in calls for keyword in call.keywords]):
            return self._asked_by_all(ev, calls)
        if not self.policies(ev, module):
            return self._of_program(ev, module)
        after = self._set_for(ev, cls.node.lineno, module)
        dtypes = (
            {after}
            if after is not None
            else {self._set_for(ev, call.lineno, module) for call, _ in calls}
        )
        return dtypes.pop() if len(dtypes) == 1 else None

    def _asked_by_all(self, ev: Evaluator, calls: list[tuple[ast.Call, Point]]) -> str | None:
        """The dtype that all calls of a class name, or the policy; None where one names none, or
        another one.
        """
        named: set[str | None] = set()
        for call, point in calls:
            dtype = next(
                (keyword.value for keyword in call.keywords if keyword.arg == "dtype"), None
            )
            # Policy("mixed_float16")
            dtype = dtype.args[0] if isinstance(dtype, ast.Call) and dtype.args else dtype
            text = ev.evaluate(dtype, point).const if dtype is not None else None
            named.add(_computed_in(text) if isinstance(text, str) else None)
        return named.pop() if len(named) == 1 else None

    def dtype_of_lambda(self, ev: Evaluator, call: ast.Call, module: Module) -> str | None:
        """The dtype that the Lambda layer which a call makes computes in."""
        if any([keyword.arg in (None, "dtype") for keyword in call.keywords]):
            return None
        return self._set_for(ev, call.lineno, module) if self.policies(ev, module) else ""

    def entering(self, ev: Evaluator, function: Function, value: Value) -> Value:
        """What Keras hands to `call` of a layer of the program: what it is given, in the dtype in
        which the layer computes.
        """
        dtype = self.dtype_of(ev, function.owner) if function.owner is not None else None
        return (
            value.but(dtype=dtype, token=value.token)
            if dtype and value.kind == "unknown"
            else value
        )

    def _set_for(self, ev: Evaluator, line: int, module: Module) -> str | None:
        """The dtype that a file with a setting sets for a place: once, before it, for all that
        follows.
        """
        text, call = self.policies(ev, module)[0]
        first = (
            any(isinstance(one, ast.Expr) and one.value is call for one in module.source.tree.body)
            and call.lineno < line
        )
        return _computed_in(text) if len(self.policies(ev, module)) == 1 and first else None

    def in_floatx(self, ev: Evaluator, site: Any, value: Value) -> Value:
        """What Keras gives where no dtype was asked for, in a file with a setting (weights are
        cast where they are used): numbers of a shape and random ones are made in its floatx, and of
        whatever else is said to be float32 the dtype is not known.
        """
        module = site.point.module
        sets_floatx = any(
            [leaf(call.func) == "set_floatx" for _, call in self.policies(ev, module)]
        )
        if site.op.floatx and not site.given("dtype"):
            dtype = (
                self._set_for(ev, site.node.lineno, module)
                if sets_floatx
                else "float32"
                if value.kind == "dtype"
                else None
            )
            if value.kind == "dtype":
                return value.but(const=NO_CONSTANT if dtype is None else dtype)
            if dtype is None:
                return _of_any(value)
            converted = cast(_unrounded(value), dtype)
            endless = INF in (-value.lo, value.hi)  # a normal number is none that overflows
            return converted.but(
                kind=value.kind,
                dtype=dtype,
                const=value.const,
                inf=value.inf if endless else converted.inf,
            )
        from_float32 = (
            any(one.dtype == "float32" for one in site.values.values()) and not site.op.recasts
        )
        kept = from_float32 or site.given("dtype") or site.name == "method.astype"
        return value if kept or value.dtype != "float32" else _of_any(value)

    def in_its_dtype(self, ev: Evaluator, layer: Any, argument: Value) -> Value:
        """What a layer of Keras gives, which casts what it is given: to float32, where no file says
        anything else.
        """
        dtype = self.computes_in(ev, layer)
        entering = recast(argument, dtype, entering=True)
        if isinstance(argument.obj, tuple):
            items = tuple(recast(item, dtype, entering=True) for item in argument.obj)
            entering = (
                argument
                if all(item is before for item, before in zip(items, argument.obj))
                else ev.sequence_of(items)
            )
        value = layer.out(entering, layer.site)
        if dtype == "" and entering is not argument:
            value = ev.joined([value, layer.out(argument, layer.site)])
        return recast(value, dtype)


def _setting(module: Module) -> dict[str, bytes]:
    """The texts of the files by which the program of a file may set a policy with a dtype of 16
    bits.
    """
    project, asking = module.project, module.source.path
    if project is None:
        return {}
    texts = {path: project.data_of(asking, path) for path in project.half_setters(asking)}
    return {path: data for path, data in texts.items() if _may_set_policy(data)}


@lru_cache(maxsize=1024)
def _may_set_policy(data: bytes) -> bool:
    """Whether the text of a file sets a policy: all files of its program ask."""
    return any([call in data for call in _SETTING])


@lru_cache(maxsize=1024)
def _set_when_called(data: bytes) -> tuple[str, ...]:
    """The policies that a file writes out and sets in its functions, or under a condition; () where
    others come before them, which have to be computed. All files of its program ask, and to walk
    it for each of them costs more than to read its tree once.
    """
    tree = _tree_of_setter(data)
    return _written_out(tree, _calls_at_once(tree.body)) if tree is not None else ()


@lru_cache(maxsize=1024)
def _set_under_condition(data: bytes) -> tuple[str, ...]:
    """The policies that a file writes out and sets neither at once nor as a statement of one of its
    functions.
    """
    tree = _tree_of_setter(data)
    if tree is None:
        return ()
    functions = [node for node in nodes_in(tree) if isinstance(node, ast.FunctionDef)]
    at_once = _calls_at_once([*tree.body, *(one for node in functions for one in node.body)])
    return _written_out(tree, at_once)


def _tree_of_setter(data: bytes) -> ast.Module | None:
    """The tree of a file that writes a policy out."""
    if not any([call in data for call in _WRITTEN_OUT]):
        return None
    try:
        return Source.from_bytes("", data).tree
    except Unreadable:
        return None


def _calls_at_once(body: list[ast.stmt]) -> set[ast.expr]:
    """The calls that are statements of a block."""
    return {statement.value for statement in body if isinstance(statement, ast.Expr)}


def _written_out(tree: ast.Module, at_once: set[ast.expr]) -> tuple[str, ...]:
    """The policies that a tree writes out and sets, up to the first that is computed, or is set by
    a call `at_once`.
    """
    calls = [node for node in nodes_in(tree) if isinstance(node, ast.Call)]
    texts: list[str] = []
    for name in POLICY_SETTERS:
        for call in sorted(
            [call for call in calls if leaf(call.func) == name], key=lambda call: call.lineno
        ):
            policy = call.args[0] if call.args else None
            text = policy.value if isinstance(policy, ast.Constant) else None
            if not isinstance(text, str) or call in at_once:
                return tuple(texts)
            texts.append(text)
    return tuple(texts)


def _always_runs(ev: Evaluator, call: ast.Call, module: Module, depth: int = 3) -> bool:
    """Whether a program with a file runs a call whatever happens: a statement of the file, or of a
    function that such a statement calls.
    """
    if _is_statement(call, module.source.tree.body):
        return True
    calls = module.calls_to(leaf(call.func), ev)
    function = next((point.scope.function for one, point in calls if one is call), None)
    if (
        depth == 0
        or function is None
        or not _is_statement(call, getattr(function.node, "body", []))
    ):
        return False
    return any(
        [
            _always_runs(ev, outer, point.module, depth - 1)
            for outer, point in ev.call_sites(function)
        ]
    )


def _is_statement(call: ast.Call, body: Any) -> bool:
    """Whether a call is a statement of a body that nothing before it may leave."""
    for statement in body if isinstance(body, list) else ():
        if isinstance(statement, ast.Expr) and statement.value is call:
            return True
        if isinstance(statement, ast.If) and "__name__" in names_in(statement.test):
            return _is_statement(call, statement.body)
        if any([isinstance(inner, ast.Return) for inner in nodes_in(statement)]):
            return False
    return False


def _handed_to_keras(init: ast.AST) -> ast.expr | None:
    """The dtype that an `__init__` writes into its call of the one of its base; None where it is
    none that is written there.
    """
    for node in nodes_in(init):
        if isinstance(node, ast.Call) and leaf(node.func) == "__init__":
            dtype = next((one.value for one in node.keywords if one.arg == "dtype"), None)
            return dtype if isinstance(dtype, (ast.Constant, ast.Attribute)) else None
    return None


def names_other(module: Module) -> bool:
    """Whether a file names a dtype of floats that is not the usual one: others need not be asked
    what their layers compute in.
    """
    return module.source.holds(_OTHERS)


def _computed_in(policy: str) -> str | None:
    """The dtype that layers with a policy compute in: `mixed_float16` keeps its weights in
    float32.
    """
    dtype = policy.removeprefix("mixed_")
    return dtype if dtype in FLOATS else None


def _of_any(value: Value) -> Value:
    return value.but(dtype=None, token=value.token)


def _unrounded(value: Value) -> Value:
    """A value that was rounded to float32, before that; what even float16 holds is taken for
    exact.
    """
    lo, hi = (
        end if rounded(end, "float16") == end else other
        for end, other in zip((value.lo, value.hi), outward(value.lo, value.hi, "float32", 1))
    )
    return (
        value
        if (lo, hi) == (value.lo, value.hi)
        else value.but(lo=lo, hi=hi, zero=value.zero, dtype=None)
    )
