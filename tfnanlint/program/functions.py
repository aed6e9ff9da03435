"""What can be called: functions, lambdas, classes and instances of the program, and how arguments
meet parameters.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from tfnanlint.conventions.roles import registers
from tfnanlint.ops.families.arrays import cast
from tfnanlint.ops.frameworks import CUSTOM_GRADIENT, TRANSPARENT
from tfnanlint.ops.table import SYNONYMS, Op
from tfnanlint.program.attributes import SETTING, Spelled, assigned_attributes, sets, spelled_names
from tfnanlint.program.decorators import decorator_leaf, given_back, hands_on
from tfnanlint.program.mutation import Bindings, parted
from tfnanlint.program.scope import (
    Assigned,
    Binding,
    Fixed,
    Iterated,
    Point,
    Scope,
    Stored,
    unrefined,
)
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import CONSTANT, NAME, STARRED, display, nodes_in, statements_in
from tfnanlint.values.evaluator import Evaluator, Module
from tfnanlint.values.value import FLOATS, Value

FEW: Final = 5  # statements of a short function
MAX_LINEAGE: Final = 12  # classes that a class inherits from


class Function:
    """A function or lambda of the program, defined at `point`; `owner` is the class it is a method
    of.
    """

    __slots__ = (
        "node",
        "point",
        "module",
        "owner",
        "activation",
        "decorators",
        "busy",
        "stamp",
        "assumed",
        "arguments",
        "callees",
    )

    def __init__(self, node: Any, point: Point, module: Module, owner: ClassObject | None = None):
        self.node = node
        self.point = point
        self.module = module
        self.owner = owner
        self.activation: Scope | None = None
        decorators = getattr(node, "decorator_list", ())
        self.decorators = tuple([decorator_leaf(d) for d in decorators]) if decorators else ()
        # what names that it does not bind itself lead to; see `Resolution.resolve`
        self.callees: dict[ast.AST, str | None] = {}
        self.busy = 0
        self.stamp = 0  # of the assumption about what it returns inside itself; see `assumptions`
        self.assumed: Value | None = None
        # of its calls inside itself, while that is assumed
        self.arguments: list[dict[str, Value]] = []

    @property
    def name(self) -> str:
        return getattr(self.node, "name", "<lambda>")

    @property
    def short(self) -> bool:
        """Whether its body is an expression or a few statements, as that of a cast or of a list of
        sizes.
        """
        return isinstance(self.node, ast.Lambda) or len(self.node.body) <= FEW

    @property
    def abstract(self) -> bool:
        """Whether its body only raises an error: what runs is what overrides it."""
        body = self.node.body
        return (
            isinstance(body, list)
            and isinstance(body[-1], ast.Raise)
            and all(
                [
                    isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
                    for one in body[:-1]
                ]
            )
        )

    @property
    def changed(self) -> set[str]:
        """The names of what its body changes in place."""
        names = getattr(self.node, "changed", None)
        if names is None:  # kept with the tree, which outlives the module
            names = self.node.changed = (
                Bindings(self.node.body).changed if isinstance(self.node.body, list) else set()
            )
        return names

    @property
    def changed_inside(self) -> set[str]:
        """The names of what the functions in its body change in place."""
        names = getattr(self.node, "changed_inside", None)
        if names is None:
            inner = [
                one
                for one in statements_in(self.node)
                if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))
            ]
            names = self.node.changed_inside = set().union(
                *[Bindings(one.body).changed for one in inner]
            )
        return names

    @property
    def bound(self) -> bool:
        """Whether calling it through an instance passes the instance first."""
        return self.owner is not None and "staticmethod" not in self.decorators

    @property
    def defines_gradient(self) -> bool:
        """Whether it is one of `@tf.custom_gradient`: it gives its result and a function, whose
        results are the gradient.
        """
        return CUSTOM_GRADIENT in self.decorators

    @property
    def transparent(self) -> bool:
        """Whether what it returns reaches the caller as it is."""
        return not self.decorators or all(
            [
                name in TRANSPARENT or registers(name) or self._wrapped(node)
                for name, node in zip(self.decorators, self.node.decorator_list)
            ]
        )

    def _wrapped(self, decorator: ast.expr) -> bool:
        """Whether a decorator of the program hands on what it is called with, and hands back what
        it gets.
        """
        function = self._decorating(decorator)
        return function is not None and hands_on(function)

    def _decorating(self, decorator: ast.expr) -> Any:
        """The function of the program that is called with this one: `timed` of `@timed`, what
        `scope` gives of `@scope("name")`.
        """
        name = decorator.func if isinstance(decorator, ast.Call) else decorator
        binding = unrefined(self.point.lookup(name.id)) if isinstance(name, ast.Name) else None
        function = (
            binding.kept.obj if isinstance(binding, Fixed) and binding.kept is not None else None
        )
        if not isinstance(function, Function):
            return None
        return given_back(function.node) if isinstance(decorator, ast.Call) else function.node

    @property
    def registered(self) -> bool:
        """Whether a decorator keeps it for callers that are not seen."""
        return any([registers(name) and name not in TRANSPARENT for name in self.decorators])

    @property
    def is_property(self) -> bool:
        return bool(self.decorators) and (
            "property" in self.decorators
            or "cached_property" in self.decorators
            or self._made_property
        )

    @property
    def _made_property(self) -> bool:
        """Whether a decorator of the program makes a property of it: `lazy_property`, which keeps
        what it gave.
        """
        inner = [
            given_back(self._decorating(one))
            for one in self.node.decorator_list
            if isinstance(one, ast.Name)
        ]
        return any(
            [
                one is not None and "property" in map(decorator_leaf, one.decorator_list)
                for one in inner
            ]
        )


class ClassObject:
    """A class of the program; its body is walked when it is asked for its `scope` or `methods`."""

    __slots__ = (
        "node",
        "point",
        "module",
        "_scope",
        "_methods",
        "_attributes",
        "_spelled",
    )

    def __init__(self, node: ast.ClassDef, point: Point, module: Module):
        self.node = node
        self.point = point
        self.module = module
        self._scope: Scope | None = None
        self._methods: dict[str, Function] = {}
        self._attributes: dict[str, list[str]] | None = None
        self._spelled: list[Spelled] | None = None

    @property
    def scope(self) -> Scope:
        """The scope of its body."""
        if self._scope is None:
            self._scope = Scope(self.node, self.point, self.module)
            self.module.walk(self._scope)
        return self._scope

    @property
    def methods(self) -> dict[str, Function]:
        """The functions defined in its body, by name."""
        self.scope  # walks the body
        return self._methods

    @property
    def fields(self) -> tuple[str, ...]:
        """The names that a named tuple or dataclass is made with, in order: those annotated in its
        body, or those of `collections.namedtuple(...)` as its base.
        """
        names = getattr(self.node, "fields", None)
        if names is None:  # kept with the tree, which outlives the module
            names = self.node.fields = tuple(
                [name for base in self.node.bases for name in _tuple_names(base)]
            ) + tuple(
                [
                    one.target.id
                    for one in self.node.body
                    if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
                ]
            )
        return names

    def close(self) -> None:
        """Forget everything; see `Module.close`."""
        if self._scope is not None:
            self._methods.clear()
            self._scope.close()

    @property
    def name(self) -> str:
        return self.node.name

    def assigners(self, attribute: str) -> list[str]:
        """Names of the methods that assign `self.attribute`."""
        if self._attributes is None:
            self._attributes = {}
            for name, method in self.methods.items():
                known: Any = getattr(method.node, "assigned", None)
                if known is None:  # kept with the tree, which outlives the module
                    known = method.node.assigned = assigned_attributes(method.node)
                for path in known:
                    self._attributes.setdefault(path, []).append(name)
        return self._attributes.get(attribute, [])

    def sets_by_name(self, attribute: str) -> bool:
        """Whether a method may set an attribute under a name that is computed:
        `setattr(self, name, value)`.
        """
        if self._spelled is None:
            methods = self.methods.values() if self.module.source.holds(SETTING) else ()
            self._spelled = [one for method in methods for one in spelled_names(method.node)]
        return sets(self._spelled, attribute)

    def changed_outside(self, attribute: str) -> bool:
        """Whether its file assigns an attribute through the name of the class (`Layer.count += 1`),
        or through `cls`.
        """
        assigned = self.module.source.assigned_outside(attribute)
        return any([self._is_named_by(node.value) for node in assigned])

    def _is_named_by(self, owner: ast.expr) -> bool:
        """Whether an expression names the class: `Layer`, `cls`, `self.__class__`, `type(self)`."""
        if isinstance(owner, ast.Call):
            return leaf(owner.func) == "type" and len(owner.args) == 1
        return leaf(owner) in (self.name, "cls", "__class__")


def in_order(cls: ClassObject, lists: list[list[ClassObject]]) -> list[ClassObject]:
    """A class and what is listed, first what stands behind nothing else in any list."""
    lineage, rest = [cls], [[one for one in listed if one is not cls] for listed in lists]
    while (rest := [listed for listed in rest if listed]) and len(lineage) < MAX_LINEAGE:
        first = _foremost(rest)
        lineage.append(first)
        rest = [[one for one in listed if one is not first] for listed in rest]
    return lineage


def _foremost(lists: list[list[ClassObject]]) -> ClassObject:
    for listed in lists:
        if not any([listed[0] in other[1:] for other in lists]):
            return listed[0]
    return lists[0][0]


class Instance:
    """An object of a class of the program; `node` is the call that made it, None for `self`. Of the
    attributes were asked for, `given` holds what that call was given for them; None where more
    than that may be in one. `replaced` are the fields that a copy has of its own.
    """

    __slots__ = ("cls", "node", "point", "given", "replaced")

    def __init__(self, cls: ClassObject, node: ast.Call | None = None, point: Point | None = None):
        self.cls = cls
        self.node = node
        self.point = point
        self.given: dict[str, Binding | None] = {}
        self.replaced: dict[str, Binding] = {}

    @property
    def identity(self) -> tuple[int, ...]:
        """What objects share that one call makes, each time it is looked at; not with a copy."""
        return (id(self),) if self.replaced else (id(self.cls), id(self.node))


class Parent:
    """`super()` in a method of `cls`: what `instance` has from the bases of the class."""

    __slots__ = ("cls", "instance")

    def __init__(self, cls: ClassObject, instance: Binding):
        self.cls = cls
        self.instance = instance


class Bound:
    """A method with its instance, or a partial with its first arguments."""

    __slots__ = ("function", "args", "keywords")

    def __init__(
        self, function: Any, args: list[Binding], keywords: dict[str, Binding] | None = None
    ):
        self.function = function
        self.args = args
        self.keywords = keywords or {}


def _tuple_names(base: ast.expr) -> list[str]:
    """The names of the elements in `collections.namedtuple("State", ["mean", "scale"])`, which a
    class may have as its base.
    """
    if not isinstance(base, ast.Call) or leaf(base.func) != "namedtuple" or len(base.args) < 2:
        return []
    fields = base.args[1]
    parts = fields.elts if isinstance(fields, (ast.List, ast.Tuple)) else [fields]
    names = [
        one.value for one in parts if isinstance(one, ast.Constant) and isinstance(one.value, str)
    ]
    return names if parts != [fields] else " ".join(names).replace(",", " ").split()


def arguments(call: ast.Call, point: Point) -> tuple[list[Binding], dict[str, Binding], bool]:
    """Positional and keyword arguments of a call as bindings; False when `*args` or `**kwargs` hide
    some.
    """
    positional: list[Binding] = []
    keywords: dict[str, Binding] = {}
    complete = True
    for node in call.args:
        if type(node) is not STARRED:
            positional.append(Assigned(node, point))
            continue
        written = getattr(node.value, "elts", None)  # `*[x, y]`
        if written is None or any([type(one) is STARRED for one in written]):
            complete = False
            break
        positional += [Assigned(one, point) for one in written]
    unpacks = False
    for keyword in call.keywords:
        if keyword.arg is not None:
            keywords[keyword.arg] = Assigned(keyword.value, point)
        else:
            unpacks = True
    if unpacks:
        handed = hidden(call, point)
        complete = complete and handed is not None
        keywords |= handed or {}
    return positional, keywords, complete


def hidden(call: ast.Call, point: Point) -> dict[str, Binding] | None:
    """The keyword arguments that `**kwargs` in a call stands for, where it is what the call being
    followed collected.
    """
    keywords: dict[str, Binding] = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            items = collected(keyword.value, point)
            if items is None:
                return None
            keywords |= items
    return keywords


def stored_in(binding: Binding | None) -> tuple[Binding | None, dict[str, Binding]]:
    """What made a dict, and what was stored in it under names since."""
    stored: dict[str, Binding] = {}
    while isinstance(binding, Stored) and isinstance(binding.key, str):
        stored.setdefault(binding.key, binding.item)
        binding = unrefined(binding.base)
    return binding, stored


def collected(node: ast.expr, point: Point) -> dict[str, Binding] | None:
    shown = display(node)
    if shown is not None:
        written: dict[Any, Binding] = {
            getattr(key, "value", None): Assigned(value, point)
            for key, value in zip(shown.keys, shown.values)
        }
        return written if all(isinstance(name, str) for name in written) else None
    binding, stored = stored_in(
        unrefined(point.lookup(node.id)) if isinstance(node, ast.Name) else None
    )
    if not isinstance(binding, Handed) or not isinstance(binding.binding, Collected):
        return None
    taken = _taken_out(binding.function.node, node.id)
    items = binding.binding.items
    return (
        None
        if taken is None
        else {k: Handed(b, binding.function) for k, b in items.items() if k not in taken} | stored
    )


def _taken_out(function: ast.AST, name: str) -> set[str] | None:
    """The keys that a function takes out of a dict, `kwargs.pop("name", None)`; None where one is
    not a constant.
    """
    known = getattr(function, "taken_out", None)
    if known is None:  # kept with the tree, for a call is followed often
        known = function.taken_out = {}
    if name not in known:
        known[name] = _popped(function, name)
    return known[name]


def _popped(function: ast.AST, name: str) -> set[Any] | None:
    keys: set[Any] = set()
    for node in nodes_in(function):
        key = None
        if (
            isinstance(node, ast.Call)
            and leaf(node.func) == "pop"
            and _named(node.func.value, name)
        ):
            key = node.args[0] if node.args else None
        elif (
            isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Del)
            and _named(node.value, name)
        ):
            key = node.slice
        else:
            continue
        if not isinstance(key, ast.Constant):
            return None
        keys.add(key.value)
    return keys


def _named(node: ast.AST, name: str) -> bool:
    return type(node) is NAME and node.id == name


def bind_parameters(
    function: Function,
    positional: list[Binding],
    keywords: dict[str, Binding],
    missing: Binding | None = None,
    hidden: bool = False,
) -> dict[str, Binding]:
    """Parameter name -> binding; defaults are evaluated where the function is defined; `missing`
    stands for the rest. With `hidden`, `*` or `**` may give any parameter that is not written in
    the call, and more.
    """
    spec = function.node.args
    names, known, defaults = signature_of(spec)
    if positional and isinstance(positional[-1], Spread):
        positional = [*positional[:-1], *_filling(positional, keywords, names, defaults)]
    bound: dict[str, Binding] = dict(zip(names, positional))
    if spec.vararg:
        rest = positional[len(names) :]
        bound[spec.vararg.arg] = Starred(rest)
    for name, binding in keywords.items():
        if name in known:
            bound[name] = binding
    if spec.kwarg:
        bound[spec.kwarg.arg] = Collected(
            {name: binding for name, binding in keywords.items() if name not in known}
        )
    if hidden:
        bound |= {
            rest.arg: Fixed(Value(kind=kind))
            for rest, kind in ((spec.vararg, "sequence"), (spec.kwarg, "dict"))
            if rest is not None
        }
    for name, node in defaults.items():
        if name not in bound and not hidden:
            # What one call has put into a list or dict is there in the next.
            kept = (
                type(node) is not CONSTANT
                and (isinstance(node, (ast.List, ast.Set)) or display(node) is not None)
                and name in function.changed
            )
            bound[name] = Fixed(Value(kind="unknown")) if kept else Assigned(node, function.point)
    for name in known:
        if name not in bound:
            bound[name] = missing or Fixed(Value(kind="unknown"))
    return parted(bound, function) if len(bound) > 1 else bound


def _filling(
    positional: list[Binding],
    keywords: dict[str, Binding],
    names: Sequence[str],
    defaults: Mapping[str, ast.expr],
) -> list[Binding]:
    """What the sequence of an unknown length that ends positional arguments surely gives: an
    element for each parameter without a default.
    """
    left = names[len(positional) - 1 :]
    wanted = [name for name in left if name not in defaults and name not in keywords]
    return [positional[-1]] * len(wanted)


def without_none(note: ast.expr | None) -> ast.expr | None:
    """The class in an annotation: `C` of `Optional[C]` and of `C | None`."""
    if isinstance(note, ast.Subscript) and leaf(note.value) == "Optional":
        return note.slice
    if (
        isinstance(note, ast.BinOp)
        and isinstance(note.op, ast.BitOr)
        and isinstance(note.right, ast.Constant)
    ):
        return note.left if note.right.value is None else None
    return note


def says_number(spec: ast.arguments, name: str) -> bool:
    """Whether a parameter is annotated as a Python number: `int`, `float`, `Optional[int]`,
    `int | None`.
    """
    note = next(
        (a.annotation for a in spec.posonlyargs + spec.args + spec.kwonlyargs if a.arg == name),
        None,
    )
    if isinstance(note, ast.Subscript) and leaf(note.value) == "Optional":
        note = note.slice
    elif (
        isinstance(note, ast.BinOp)
        and isinstance(note.right, ast.Constant)
        and note.right.value is None
    ):
        note = note.left
    return isinstance(note, ast.Name) and note.id in ("int", "float")


# The names of the positional parameters of a function, the names of all in order, and the
# expressions that are their defaults.
Signature = tuple[list[str], dict[str, None], dict[str, ast.expr]]


def signature_of(spec: ast.arguments) -> Signature:
    """The parameters of a function, kept with the tree: who calls it, and who looks for its
    callers, asks.
    """
    kept: dict[str, Any] = spec.__dict__
    signature: Signature | None = kept.get("signature")
    if signature is None:
        places = spec.posonlyargs + spec.args
        positional = [one.arg for one in places]
        names = dict.fromkeys([*positional, *[one.arg for one in spec.kwonlyargs]])
        defaults = {
            one.arg: node
            for one, node in zip(places[len(places) - len(spec.defaults) :], spec.defaults)
        }
        defaults.update(
            [
                (one.arg, node)
                for one, node in zip(spec.kwonlyargs, spec.kw_defaults)
                if node is not None
            ]
        )
        signature = kept["signature"] = positional, names, defaults
    return signature


class Handed(Binding):
    """An argument, computed where the call stands: `f(f(x))` is no recursion."""

    __slots__ = ("binding", "function")

    def __init__(self, binding: Binding, function: Function):
        self.kept = None
        self.binding = binding
        self.function = function

    @property
    def computed(self) -> bool:
        return self.binding.computed

    def compute(self, interpreter: Evaluator) -> Value:
        function = self.function
        before, function.busy, function.stamp = (function.busy, function.stamp), 0, 0
        try:
            return self.binding.value(interpreter)
        finally:
            function.busy, function.stamp = before


def recast(value: Value, dtype: str | None, entering: bool = False) -> Value:
    """A value in the dtype that a layer of Keras computes in: "" for that of a file that sets none,
    None where it cannot be told.
    """
    if (
        entering
        and dtype
        and value.dtype is None
        and not value.known
        and value.kind in ("tensor", "unknown")
    ):
        # beyond 65504
        return value.but(
            dtype=dtype, zero=cast(value, dtype).zero, inf=value.inf or dtype == "float16"
        )
    kinds = ("tensor", "array", "unknown") if entering and dtype else ("tensor", "array")
    if (
        value.kind not in kinds
        or value.dtype not in FLOATS
        and (value.dtype is not None or not value.known)
    ):
        return value
    if value.dtype == (dtype or None) or dtype == "" and value.dtype == "float32":
        return value
    return cast(value, dtype or "float32").but(dtype=dtype or None, origin=value.origin)


class Recast(Binding):
    """What a layer of a class of the program, or a Lambda that a call makes, is called with: Keras
    casts floats to the dtype of its policy.
    """

    __slots__ = ("binding", "layer", "module")

    def __init__(self, binding: Binding, layer: ClassObject | ast.Call, module: Module):
        self.kept = None
        self.binding = binding
        self.layer = layer
        self.module = module

    @property
    def computed(self) -> bool:
        return self.binding.computed

    def compute(self, interpreter: Evaluator) -> Value:
        value = self.binding.value(interpreter)
        layer = self.layer
        dtype = (
            interpreter.dtype_of(layer)
            if isinstance(layer, ClassObject)
            else interpreter.dtype_of_lambda(layer, self.module)
        )
        return recast(value, dtype, entering=True)


class Collected(Binding):
    """The dict that `**kwargs` collects."""

    __slots__ = ("items",)

    def __init__(self, items: dict[str, Binding]):
        self.kept = None
        self.items = items

    def compute(self, interpreter: Evaluator) -> Value:
        items = {name: item.value(interpreter) for name, item in self.items.items()}
        return Value(kind="dict", obj=items or None)


class Keywords(Binding):
    """The dict that `**kwargs` of a function collects, for any caller."""

    __slots__ = ("function",)

    def __init__(self, function: Function):
        self.kept = Value(kind="dict")
        self.function = function


class Spread(Iterated):
    """An element of a sequence of an unknown length that `*` hands over."""


class Starred(Binding):
    """The tuple that `*args` collects."""

    __slots__ = ("items",)

    def __init__(self, items: list[Binding]):
        self.kept = None
        self.items = items

    def compute(self, interpreter: Evaluator) -> Value:
        return Value(kind="sequence", obj=tuple(item.value(interpreter) for item in self.items))


@cache
def _params_of(
    row: Op, name: str, leading: tuple[str, ...]
) -> tuple[tuple[str, ...], frozenset[str], frozenset[str]]:
    """The parameters of a spelling in their order but for those that lead, the same without stars,
    and those of them that the row has not.
    """
    params = tuple(param for param in row.params_of(name) if param not in leading)
    plain = frozenset(param.lstrip("*") for param in params)
    return params, plain, plain - {param.lstrip("*") for param in row.params}


def bind_op(
    row: Op, name: str, call: ast.Call, leading: tuple[str, ...] = ()
) -> tuple[dict[str, ast.expr], bool]:
    """Parameter -> expression for a call of a row; False when some argument has no parameter."""
    params, plain, foreign = _params_of(row, name, leading)
    if row.axis_first and call.args and type(getattr(call.args[0], "value", None)) is int:
        params = row.axis_first
    args: dict[str, ast.expr] = {}
    complete = True
    position = 0
    for node in call.args:
        if type(node) is STARRED or position >= len(params):
            complete = False
            break
        param = params[position]
        if param.startswith("*"):
            rest = call.args[position:] if param == "*inputs" else [node]
            args[param[1:]] = (
                node if len(rest) == 1 else ast.copy_location(ast.Tuple(rest, ast.Load()), node)
            )
            complete = complete and len(call.args) == position + 1
            break
        args[param] = node
        position += 1
    for keyword in call.keywords:
        parameter = keyword.arg
        if parameter is not None and parameter not in plain:
            synonym = SYNONYMS.get(parameter)
            parameter = synonym if synonym in plain else None
        if parameter is None or parameter in args:
            complete = False
        else:
            args[parameter] = keyword.value
    # Some spellings take arguments that their row does not know (np.std(ddof=1),
    # tf.matmul(a_is_sparse=True)).
    return args, complete and (not foreign or foreign.isdisjoint(args))
