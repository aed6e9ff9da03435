"""From a value to the program that computes it: the ops between free inputs and a place.

Every step applies a row of the table of ops, as a call that is written anew. What is no such
application (a parameter, weights, data, an op that cannot be run alone) becomes an input with the
range that the analysis knows.
"""

from __future__ import annotations

import ast
import hashlib
import keyword
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from tfnanlint.idioms.loss_pairs import pairings
from tfnanlint.interp.engine import Engine
from tfnanlint.ops.families.nn import activation_named
from tfnanlint.ops.models.layers import Layer
from tfnanlint.ops.row import Op
from tfnanlint.ops.site import Site
from tfnanlint.ops.table import SETTINGS
from tfnanlint.ops.traits import is_random
from tfnanlint.program.functions import Handed
from tfnanlint.program.scope import Parameter, Point, Scope, unrefined
from tfnanlint.prove.program import (
    NAMES,
    NUMBER,
    TENSOR,
    TRUTH,
    WHOLE_NUMBER,
    Input,
    Program,
    Range,
    Step,
)
from tfnanlint.prove.spell import OPERATORS, callees, method, reached
from tfnanlint.syntax.spans import Span
from tfnanlint.values.value import NO_CONSTANT, WHOLE, Note, Value

MOST_STEPS: Final = 400
_MOST_DEPTH: Final = 120
_FUNCTIONS: Final = frozenset(("function", "class", "layer", "model", "optimizer", "instance"))
_NAME: Final = re.compile(r"'([A-Za-z_]\w*)'")
_DTYPE: Final = re.compile(r"\btf\.((?:b?float|u?int)\d+|bool)\b")
_FLOAT: Final = "builtins.float"
_NUMERIC: Final = ("tensor", "array", "number", "unknown")
_LABELS: Final = "the labels"
_ACTIVATIONS: Final = ("activation", "activation_fn")
_WORD: Final = re.compile(r"\W+")
# What an argument of which nothing is known is taken to be.
_SETTINGS: Final = {"axis": "-1", "axes": "[-1]", "keepdims": "False", "depth": "4"}
_TAKEN: Final = frozenset("tf np math keras float int abs min max sum pow round len bool".split())


class Unsupported(Exception):
    """Why a value cannot be made a program."""


class Slicer:
    """Writes the program of values of one judgement of a source.

    `choice` says which of several values is taken where branches or callers meet. `within` is the
    span of the finding, in the text of `path`; `named` gives names to inputs, by their keys.
    What is handed to the function of the scope `home` is not followed to its callers.
    """

    def __init__(
        self,
        engine: Engine,
        path: str,
        within: Span | None,
        choice: int = 0,
        named: Mapping[str, str] | None = None,
        home: Scope | None = None,
    ):
        self._engine = engine
        self._path = path
        self._within = within
        self._choice = choice
        self._home = home
        self._inputs: dict[object, Input] = {}
        self._steps: list[Step] = []
        self._named = dict(named or {})
        self._names: set[str] = {*_TAKEN, *self._named.values()}
        self._made: dict[object, str] = {}
        self._keys: dict[str, int] = {}
        self._keyed: dict[str, str] = {}  # what each name is, whatever it is called
        self._depth = 0
        self.nodes: dict[ast.AST, str] = {}  # what computes each expression that was met
        self.branched = False  # whether there was a choice
        self._point: Point | None = None  # where the argument stands that is written

    def program(self, site: str, sink: str) -> Program:
        """The program of what was written so far, as far as these values need it."""
        return Program(tuple(self._inputs.values()), tuple(self._steps), site, sink).needed()

    # Expressions

    def expression(self, node: ast.expr, point: Point) -> str:
        """The operand for an expression at a point: a name or a literal. Raises `Unsupported`."""
        value = self._engine.ask(node, point)
        if isinstance(node, (ast.List, ast.Tuple)) and value.kind != "tensor":
            return self._display(node, point)
        if value.const is NO_CONSTANT and not isinstance(value.origin, Site):
            written = self._structure(node, point)
            if written is not None:
                return written
        self._point = point
        if self._is_handed(node, point, value):
            return self._handed_over(value, node)
        return self.value(value, node)

    def _is_handed(self, node: ast.expr, point: Point, value: Value) -> bool:
        """Whether an expression is a parameter of the function at home, and not a constant."""
        if self._home is None or point.scope is not self._home or not isinstance(node, ast.Name):
            return False
        if value.const is not NO_CONSTANT or value.kind not in _NUMERIC:
            return False
        return isinstance(unrefined(point.lookup(node.id)), (Parameter, Handed))

    def _handed_over(self, value: Value, node: ast.expr) -> str:
        origin = value.origin
        named = isinstance(origin, Note) and origin.text and not origin.options
        return self._free(value, node, origin if named else None)

    def _display(self, node: ast.List | ast.Tuple, point: Point) -> str:
        if any(isinstance(one, ast.Starred) for one in node.elts):
            raise Unsupported("a list with a starred element")
        return f"[{', '.join(self.expression(one, point) for one in node.elts)}]"

    def _structure(self, node: ast.expr, point: Point) -> str | None:
        """`x.dtype`, `x.dtype.min`, `x.shape` and `x.shape[0]`, also through a name; None for
        anything else.
        """
        if isinstance(node, ast.Name):
            assigned = self._engine.assigned_expression(node.id, point)
            inner = assigned if isinstance(assigned, (ast.Attribute, ast.Subscript)) else None
            return self._structure(inner, point) if inner is not None else None
        if isinstance(node, ast.Attribute) and node.attr in ("min", "max"):
            owner = self._structure(node.value, point) or ""
            return f"{owner}.{node.attr}" if owner.endswith(".dtype") else None
        if isinstance(node, ast.Attribute) and node.attr in ("dtype", "shape"):
            owner = self.expression(node.value, point)
            return f"{owner}.dtype" if node.attr == "dtype" else f"tf.shape({owner})"
        if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Attribute):
            return None
        index = self._engine.ask(node.slice, point).const
        if node.value.attr != "shape" or not isinstance(index, int):
            return None
        return f"{self.expression(node.value.value, point)}.shape[{index}]"

    # Values

    def value(self, value: Value, node: ast.AST | None = None, param: str = "") -> str:
        """The operand for a value. Raises `Unsupported`."""
        literal = self._literal(value)
        if literal is not None:
            return literal
        self._depth += 1
        try:
            if self._depth > _MOST_DEPTH:
                raise Unsupported("a chain of values that is too long")
            return self._computed(value, node, param)
        finally:
            self._depth -= 1

    def _literal(self, value: Value) -> str | None:
        if value.kind == "dtype":
            return f"tf.{value.const}" if isinstance(value.const, str) else None
        const = value.const
        if const is None or isinstance(const, (bool, str, bytes)):
            return repr(const)
        if isinstance(const, (int, float)):
            return _number(const)
        if value.exact and value.kind == "number":
            return _number(value.lo)
        return None

    def _computed(self, value: Value, node: ast.AST | None, param: str) -> str:
        if value.kind in _FUNCTIONS:
            raise Unsupported(f"a {value.kind} is an argument")
        origin: Any = value.origin
        if isinstance(value.obj, tuple) and value.kind == "sequence":
            return f"[{', '.join(self.value(item) for item in value.obj)}]"
        if isinstance(origin, Note) and origin.options:
            self.branched = True
            return self.value(origin.options[self._choice % len(origin.options)], node, param)
        if isinstance(origin, Note) and isinstance(origin.parent, Site):
            whole = self._site(origin.parent, None)
            if whole is not None:
                return whole if origin.index is None else f"{whole}[{origin.index}]"
        if isinstance(origin, Site):
            result = self._site(origin, value)
            if result is not None:
                return f"[{result}]" if value.kind == "sequence" else result
        if param in SETTINGS:
            return self._setting(param)
        return self._free(value, node, origin)

    def _setting(self, param: str) -> str:
        if param not in _SETTINGS:
            raise Unsupported(f"`{param}` is not known")
        return _SETTINGS[param]

    # Inputs

    def _free(self, value: Value, node: ast.AST | None, origin: Any) -> str:
        """An input for a value that is not computed in the slice; the same number has one."""
        known = self._inputs.get(value.token)
        if known is not None:
            return known.name
        if origin is None and isinstance(node, ast.Name) and self._point is not None:
            node = self._engine.assigned_expression(node.id, self._point) or node
        if value.kind not in _NUMERIC:
            raise Unsupported(f"a {value.kind} is used")
        said = _called(origin, node)
        count = self._keys[said] = self._keys.get(said, 0) + 1
        key = f"{said}#{count}"
        name = self._named.get(key) or self._fresh(_as_name(origin, node))
        new = Input(
            name,
            key,
            _kind(value),
            _range(value),
            value.dtype or "",
            said,
            origin.op.name if isinstance(origin, Site) and origin.op.pure else "",
        )
        self._inputs[value.token] = new
        self._keyed[name] = key
        return new.name

    def _fresh(self, wanted: str) -> str:
        name, count = wanted, 1
        while name in self._names:
            count += 1
            name = f"{wanted}_{count}"
        self._names.add(name)
        return name

    # Sites

    def _site(self, site: Site, value: Value | None) -> str | None:
        """The name of what a site gives; None where it is to be an input."""
        if site in self._made:
            return self._made[site]
        if len(self._steps) > MOST_STEPS:
            raise Unsupported("a slice that is too long")
        if site.library == "layer" or _is_function_layer(site):
            spellings = self._called_loss(site)
            return self._step(site, spellings, value) if spellings else self._layer(site)
        if not _runnable(site):
            return None
        before = len(self._steps)
        try:
            spellings = self._spelled(site)
        except Unsupported:
            if value is None or value.kind == "sequence":
                raise
            del self._steps[before:]
            self._forget()
            return None
        if not spellings:
            return None
        return self._step(site, spellings, value)

    def _forget(self) -> None:
        """Take back the names of steps that are not part of the program any more."""
        kept = {step.name for step in self._steps}
        own = {one.name for one in self._inputs.values()} | kept
        self._made = {site: name for site, name in self._made.items() if name in own}
        self.nodes = {node: name for node, name in self.nodes.items() if name in own}

    def _step(self, site: Site, spellings: tuple[str, ...], value: Value | None) -> str:
        name = self._fresh(_step_name(site))
        result = site.result if value is None else value
        known = _range(result) if result is not None and result.kind == "tensor" else Range()
        inside, said = self._is_inside(site), _called(site, site.node)
        dtype = result.dtype or "" if result is not None else ""
        key = self._key(spellings[0])
        self._steps.append(Step(name, spellings, site.op.name, known, inside, key, dtype, said))
        self._keyed[name] = key
        self._made[site] = name
        self.nodes[site.node] = name
        return name

    def _key(self, spelling: str) -> str:
        """What a computation is, whatever its operands are called."""
        text = NAMES.sub(lambda name: self._keyed.get(name[0], name[0]), spelling)
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    def _is_inside(self, site: Site) -> bool:
        source = site.source
        if source is None or self._within is None or source.path != self._path:
            return False
        return hasattr(site.node, "lineno") and source.span(site.node) in self._within

    def _layer(self, call: Site) -> str | None:
        """A layer: its linear part is an input, its activation a step."""
        layer = call.values["layer"].obj if "layer" in call.values else None
        constructor = layer.site if isinstance(layer, Layer) else call
        row = _activation(constructor)
        if row is None:
            return self._linear(call, constructor).name if _is_linear(constructor) else None
        linear = self._linear(call, constructor)
        spellings = tuple(f"{callee}({linear.name})" for callee in reached(row.name))
        key, name = self._key(spellings[0]), self._fresh(row.name.rpartition(".")[2])
        step = Step(name, spellings, row.name, Range(), False, key, "", spellings[0])
        self._steps.append(step)
        self._keyed[name] = key
        self._made[call] = step.name
        self.nodes[call.node] = step.name
        return step.name

    def _linear(self, call: Site, constructor: Site) -> Input:
        """The input for what a layer gives before its activation: the same with and without one."""
        linear = self._inputs.get(call)
        if linear is None:
            said = f"the linear part of {constructor.op.name}"
            count = self._keys[said] = self._keys.get(said, 0) + 1
            key = f"{said}#{count}"
            name = self._named.get(key) or self._fresh("linear")
            linear = Input(name, key, TENSOR, Range(), "", said)
            self._keyed[name] = key
            self._inputs[call] = linear
        return linear

    def _called_loss(self, call: Site) -> tuple[str, ...]:
        """The call of a loss object, `Loss(...)(labels, predictions)`; () for any other layer."""
        pairing = next(pairings(call, self._engine), None)
        if pairing is None or pairing.loss is None or not isinstance(pairing.loss.node, ast.Call):
            return ()
        labels, node = pairing.labels_node, pairing.predictions_node
        if labels is None or node is None:
            return ()
        calls = self._called(pairing.loss, pairing.loss.node, pairing.loss.point)
        arguments = [self.expression(labels, call.point)]
        if pairing.predictions is self._engine.ask(node, call.point):
            arguments.append(self.expression(node, call.point))
        else:  # a model, as its layers one by one
            arguments.append(self.value(pairing.predictions, node))
        return tuple(f"{each}({', '.join(arguments)})" for each in calls)

    def loss(self, predictions: Value, callee: str, family: str) -> str:
        """The operand for a loss that is only named, on what a model gives; labels are an input.
        Raises `Unsupported`.
        """
        operand = self.value(predictions)
        sparse = family == "sparse"
        known = Range(0.0, 2.0 if sparse else 1.0)
        name = self._named.get(_LABELS) or self._fresh("y_true")
        labels = Input(name, _LABELS, TENSOR, known, "", _LABELS)
        if sparse:
            labels = replace(labels, dtype="int32")
        self._inputs[_LABELS] = labels
        self._keyed[labels.name] = _LABELS
        spelling = f"{callee}({labels.name}, {operand})"
        name, key = self._fresh("loss"), self._key(spelling)
        self._steps.append(Step(name, (spelling,), callee, Range(), True, key, "", spelling))
        return name

    # Spellings

    def _spelled(self, site: Site) -> tuple[str, ...]:
        node, point = site.node, site.point
        if not site.args:
            return self._applied(site)
        if isinstance(node, (ast.BinOp, ast.AugAssign)) and {"x", "y"} <= site.args.keys():
            left, right = (self._argument(site, param) for param in ("x", "y"))
            return (f"{left} {OPERATORS[type(node.op)]} {right}",)
        if isinstance(node, ast.UnaryOp) and type(node.op) in OPERATORS:
            return (f"{OPERATORS[type(node.op)]}{self._argument(site, site.op.main)}",)
        if isinstance(node, ast.Compare) and type(node.ops[0]) in OPERATORS:
            left, right = (self._argument(site, param) for param in ("x", "y"))
            return (f"{left} {OPERATORS[type(node.ops[0])]} {right}",)
        if isinstance(node, ast.Subscript):
            whole = self._argument(site, site.op.main)
            return (f"{whole}[{self._index(node.slice, point)}]",)
        if isinstance(node, ast.Call):
            if site.op.name == _FLOAT and site.given("x"):
                return (self._argument(site, "x"),)  # of a tensor it has no gradient
            return self._called(site, node, point)
        return self._applied(site)

    def _argument(self, site: Site, param: str) -> str:
        node = site.args.get(param)
        value = site.value(param)
        if node is None:
            return self.value(value, None, param)
        if isinstance(node, (ast.List, ast.Tuple)) and value.kind != "tensor":
            return self._display(node, site.point)
        if value.const is NO_CONSTANT and not isinstance(value.origin, Site):
            written = self._structure(node, site.point)
            if written is not None:
                return written
        self._point = site.point
        if self._is_handed(node, site.point, value):
            return self._handed_over(value, node)
        return self.value(value, node, param)

    def _called(self, site: Site, node: ast.Call, point: Point) -> tuple[str, ...]:
        """The call as it is written, with its arguments made operands."""
        params = {id(given): param for param, given in site.args.items()}
        if any(isinstance(one, ast.Starred) for one in node.args):
            raise Unsupported("a call with *")
        parts = [self._handed(site, one, params, point) for one in node.args]
        for word in node.keywords:
            if word.arg is None:
                raise Unsupported("a call with **")
            if word.arg != "name":
                parts.append(f"{word.arg}={self._handed(site, word.value, params, point)}")
        arguments = ", ".join(parts)
        if site.library == "np":
            arguments = _DTYPE.sub(r'"\1"', arguments)
        if site.library == "method":
            return method(site.name or site.op.name, self._argument(site, "self"), arguments)
        return tuple(f"{callee}({arguments})" for callee in callees(site))

    def _handed(self, site: Site, node: ast.expr, params: dict[int, str], point: Point) -> str:
        param = params.get(id(node))
        return self.expression(node, point) if param is None else self._argument(site, param)

    def _applied(self, site: Site) -> tuple[str, ...]:
        """An application that no call in the text makes: of an activation, of a mapped function."""
        params = [param for param in site.op.params if param.lstrip("*") in site.values]
        parts = [self.value(site.values[param.lstrip("*")], None, param) for param in params]
        if not parts:
            return ()
        return tuple(f"{callee}({', '.join(parts)})" for callee in callees(site))

    def _index(self, node: ast.expr, point: Point) -> str:
        if isinstance(node, ast.Tuple):
            return ", ".join(self._index(one, point) for one in node.elts)
        if isinstance(node, ast.Slice):
            ends = [node.lower, node.upper, node.step]
            shown = ["" if end is None else self.expression(end, point) for end in ends]
            return ":".join(shown if node.step is not None else shown[:2])
        if isinstance(node, ast.Constant):
            return repr(node.value) if node.value is not Ellipsis else "..."
        return self.expression(node, point)


def _runnable(site: Site) -> bool:
    """Whether a site can be run by itself: it computes something of its arguments, and all of these
    are known. A draw cannot: its numbers are to be chosen.
    """
    if is_random(site.op.name):
        return False
    return site.op.pure and not site.hidden and site.node is not None


def _activation(constructor: Site) -> Op | None:
    """The row of the activation that a layer is given; None for none, and where it is not known."""
    for param in _ACTIVATIONS:
        if not constructor.given(param):
            continue
        value = constructor.value(param)
        if isinstance(value.const, str) and value.kind == "string":
            return activation_named(value.const)
        if isinstance(value.obj, Op) and value.obj.pure:
            return value.obj
    return None


def _is_function_layer(site: Site) -> bool:
    """Whether a site is a layer that is a function, as `tf.layers.dense`."""
    return not site.op.pure and any(param in site.op.params for param in _ACTIVATIONS)


def _is_linear(constructor: Site) -> bool:
    """Whether a layer that could be given an activation has none."""
    could = [param for param in _ACTIVATIONS if param in constructor.op.params]
    activations = [constructor.value(param) for param in could if constructor.given(param)]
    return bool(could) and all(
        value.kind == "none" or value.const == "linear" for value in activations
    )


def _number(number: float) -> str:
    if isinstance(number, float) and not math.isfinite(number):
        return f'float("{number}")'
    text = repr(number)
    return f"({text})" if number < 0 else text


def _range(value: Value) -> Range:
    return Range(value.lo, value.hi, value.zero, value.nan, value.inf)


def _kind(value: Value) -> str:
    if value.dtype == "bool":
        return TRUTH
    whole = value.dtype in WHOLE
    if value.kind == "number":
        return WHOLE_NUMBER if whole else NUMBER
    return TENSOR


def _called(origin: Any, node: ast.AST | None) -> str:
    """What the program calls an input."""
    if isinstance(origin, Note) and origin.text:
        return origin.text
    if isinstance(origin, Site) and hasattr(origin.node, "lineno"):
        return _short(ast.unparse(origin.node))
    return _short(ast.unparse(node)) if node is not None else "a value of the program"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "..."


def _as_name(origin: Any, node: ast.AST | None) -> str:
    """A name for an input: that of the parameter or variable."""
    text = ""
    if isinstance(origin, Note):
        quoted = _NAME.search(origin.text)
        text = origin.parameter or (quoted[1] if quoted is not None else "")
    if not text and isinstance(node, (ast.Name, ast.Attribute)):
        text = node.id if isinstance(node, ast.Name) else node.attr
    text = _WORD.sub("_", text).strip("_")
    usable = text.isidentifier() and not keyword.iskeyword(text)
    return text if usable else "x"


def _step_name(site: Site) -> str:
    word = site.op.name.rpartition(".")[2].lower()
    word = _WORD.sub("_", word).strip("_") or "v"
    return f"{word}_" if keyword.iskeyword(word) else word
