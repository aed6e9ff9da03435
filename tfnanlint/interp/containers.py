"""Lists, tuples and dicts: literals, elements, slices, comprehensions, and what a store or an
append leaves behind.
"""

from __future__ import annotations

import ast
import builtins
from typing import Any, Final

from tfnanlint.interp import names as resolution
from tfnanlint.interp import subexpressions
from tfnanlint.interp.arguments import handed_keywords, written_out
from tfnanlint.interp.names import fallback, is_supposed, settable, small
from tfnanlint.ops.frameworks import ANY_WEIGHT, TRAINED_WEIGHTS
from tfnanlint.ops.relations.parts import taken
from tfnanlint.ops.site import Site, another, element_of, made_by
from tfnanlint.ops.traits import ARITHMETIC, READERS, UNPACKINGS
from tfnanlint.ops.transfer import core as t
from tfnanlint.program.functions import (
    Bound,
    Collected,
    Function,
    Handed,
    Instance,
    Keywords,
    signature_of,
)
from tfnanlint.program.mutation import Mutated, popped
from tfnanlint.program.scope import (
    Assigned,
    Binding,
    Fixed,
    Iterated,
    Parameter,
    Point,
    Stored,
    unrefined,
)
from tfnanlint.syntax.access_paths import leaf, path_of, root_of
from tfnanlint.syntax.nodes import NOUGHT, adds_axes, default_text, nodes_in
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.tuples import FieldNames, Fields
from tfnanlint.values.value import (
    INF,
    LARGEST_AXIS,
    NO_CONSTANT,
    Choice,
    Many,
    Note,
    Value,
    number,
    unknown,
)

MAX_WRITTEN: Final = 6  # items of a written list that a comprehension is evaluated for one by one
_LOOKING = ("get", "values", "items", "pop", "copy", "setdefault")
_WRITTEN: Final = frozenset(("write", "scatter", "unstack", "stack", "concat", "read", "gather"))
MAX_ITEMS: Final = 64  # of a list whose elements are told apart
MAX_CHOSEN: Final = 24  # items of a dict that are joined where its key is not known


def _trained_weight(whole: Value) -> Note | None:
    """Where an element of `model.trainable_variables` comes from; None of another container."""
    origin = whole.origin
    if isinstance(origin, Note):
        read = origin.path
    else:
        read = origin.name if isinstance(origin, Site) else ""
    return Note("a weight", path=ANY_WEIGHT) if read.split(".")[-1] in TRAINED_WEIGHTS else None


def _chooses(node: Any) -> bool:
    """Whether a comprehension takes only what passes a test: not where the test leaves some out,
    `if "bias" not in w.name`.
    """
    tests = [test for generator in node.generators for test in generator.ifs]
    return any(
        not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.NotIn)
        for test in tests
    )


def _leaves(change: Mutated | Stored, key: Any) -> bool:
    """Whether a change of a dict leaves what it holds under a key as it was: `kwargs.pop("name")`,
    `kwargs["name"] = name`.
    """
    if isinstance(change, Stored):
        return isinstance(change.key, str) and change.key != key
    of = (
        change.call.args[0]
        if leaf(change.call.func) in ("pop", "setdefault") and change.call.args
        else None
    )
    return isinstance(of, ast.Constant) and of.value != key


class Containers:
    """The part of the interpreter that puts values together and takes them apart."""

    def __init__(self) -> None:
        # what functions read from their `**kwargs`
        self._keywords: dict[tuple[Keywords, str, ast.expr | None], Parameter] = {}
        # by what they are looked up in, and with which key
        self._items: dict[tuple[int, int], Value] = {}

    def sequence(self, ev: Evaluator, node: Any, point: Point) -> Value:
        if len(node.elts) > MAX_ITEMS:
            return Value(kind="sequence")
        if any(isinstance(e, ast.Starred) for e in node.elts):
            return self._spread(ev, node.elts, point)
        items = tuple(ev.evaluate(e, point) for e in node.elts)
        return self.sequence_of(ev, items)

    def _spread(self, ev: Evaluator, nodes: list[ast.expr], point: Point) -> Value:
        """`[a, *b]`: in order where the starred lists are written out, else whatever any element
        may be.
        """
        items: list[Value] = []
        counted = True
        for node in nodes:
            if not isinstance(node, ast.Starred):
                items.append(ev.evaluate(node, point))
                continue
            whole = self.filled(ev, ev.evaluate(node.value, point))
            if whole.kind == "sequence" and isinstance(whole.obj, tuple):
                items += whole.obj
            else:
                counted = False
                items.append(self.iterated(ev, whole))
        return (
            self.sequence_of(ev, tuple(items))
            if counted and len(items) <= MAX_ITEMS
            else self.many(ev, ev.joined(items))
        )

    def _concatenated(
        self, ev: Evaluator, left: tuple[Value, ...], right: tuple[Value, ...]
    ) -> Value:
        """Two lists in one, in order where they are short: `a = a + a` doubles a list in every
        line.
        """
        if len(left) + len(right) <= MAX_ITEMS:
            return self.sequence_of(ev, left + right)
        return self.many(ev, ev.joined([*left, *right]))

    def sequence_of(self, ev: Evaluator, items: tuple[Value, ...]) -> Value:
        if not items:
            return Value(INF, -INF, False, kind="sequence", obj=())  # no element at all
        return Value(
            min(v.lo for v in items),
            max(v.hi for v in items),
            any(v.zero for v in items),
            nan=any(v.nan for v in items),
            inf=any(v.inf for v in items),
            kind="sequence",
            obj=items,
            emptied=any(v.emptied for v in items),
            origin=items[0].origin if len(items) == 1 else None,
        )

    def dictionary(self, ev: Evaluator, node: ast.Dict, point: Point) -> Value:
        if len(node.keys) > 200:
            return Value(kind="dict")
        items: dict[Any, Value] = {}
        others: list[Value] = []  # whose keys are not known
        for key, value in zip(node.keys, node.values):
            if isinstance(key, ast.Constant):
                items[key.value] = ev.evaluate(value, point)
                continue
            handed = handed_keywords(ev, value, point) if key is None else None
            if handed is not None:
                items = _overridden(ev, items, handed)
                continue
            more = (
                self._of_pairs(ev, self.filled(ev, ev.evaluate(value, point)))
                if key is None
                else self._entry(ev, self._key(ev, key, point), ev.evaluate(value, point))
            )
            if isinstance(more, Many):
                others.append(more.element)
            elif more is None:
                return Value(kind="dict")
            else:
                items |= more
        return Value(
            kind="dict", obj=Many(ev.joined([*items.values(), *others])) if others else items
        )

    def _entry(self, ev: Evaluator, key: Any, value: Value) -> dict[Any, Value] | Many:
        """What one pair puts into a dict."""
        return Many(value) if key is None else {key: value}

    def _of_pairs(self, ev: Evaluator, source: Value) -> dict[Any, Value] | Many | None:
        """What a dict is made of that is made of another one, or of a list of pairs."""
        if source.kind == "dict":
            return source.obj if isinstance(source.obj, (dict, Many)) else None
        pairs = (
            source.obj
            if isinstance(source.obj, tuple)
            else (source.obj.element,)
            if isinstance(source.obj, Many)
            else ()
        )
        items: dict[Any, Value] = {}
        for pair in pairs:
            if not isinstance(pair.obj, tuple) or len(pair.obj) != 2:
                return None
            items[pair.obj[0].const] = pair.obj[1]
        if (
            not items
            or isinstance(source.obj, Many)
            or not all(isinstance(key, (str, int)) for key in items)
        ):
            return Many(ev.joined([pair.obj[1] for pair in pairs])) if items else None
        return items

    def filled(self, ev: Evaluator, value: Value) -> Value:
        """An empty list or dict that has a name is filled somewhere: if that is not seen, nothing
        is known of its elements.
        """
        return (
            Value(kind=value.kind)
            if value.kind in ("sequence", "dict") and not value.obj and value.obj is not None
            else value
        )

    def record(
        self,
        ev: Evaluator,
        fields: FieldNames,
        positional: list[Binding],
        keywords: dict[str, Binding],
    ) -> Value:
        """A named tuple: a list whose elements have names."""
        by_name = {name: one.value(ev) for name, one in keywords.items()}
        elements = fields.arranged([one.value(ev) for one in positional], by_name, unknown())
        whole = self.sequence_of(ev, elements)
        whole.obj = Fields.named(fields.names, elements)
        return whole

    def built_in(self, ev: Evaluator, node: ast.Call, name: str, point: Point) -> Value | None:
        """`zip(*pairs)`, whose elements are lists of all first and all second elements, and
        `getattr(config, "eps", 1e-6)`.
        """
        if name == "builtins.getattr":
            return self._attribute_asked_for(ev, node, point)
        rows = (
            ev.evaluate(node.args[0].value, point).obj
            if len(node.args) == 1 and isinstance(node.args[0], ast.Starred)
            else None
        )
        columns = rows.element.obj if isinstance(rows, Many) else None
        if isinstance(columns, tuple):
            return self.sequence_of(ev, tuple([self.many(ev, one) for one in columns]))
        if (
            not isinstance(rows, tuple)
            or not rows
            or not all([isinstance(one.obj, tuple) for one in rows])
        ):
            return None
        return self.sequence_of(
            ev, tuple([self.sequence_of(ev, column) for column in zip(*[one.obj for one in rows])])
        )

    def _attribute_asked_for(self, ev: Evaluator, node: ast.Call, point: Point) -> Value | None:
        name = self._key(ev, node.args[1], point) if 1 < len(node.args) < 4 else None
        if not isinstance(name, str):
            names = _names_of_round(ev, node.args[1], point) if len(node.args) == 2 else []
            return ev.joined([_attribute(ev, node, one, point) for one in names]) if names else None
        if not name.isidentifier():
            return None
        value = _attribute(ev, node, name, point)
        if len(node.args) == 3 and is_supposed(value) and default_text(node.args[2]) == NOUGHT:
            return resolution.supposed(
                ev, unknown(origin=Note(f"'{name}'", default=NOUGHT, path=name)), name, node, point
            )
        if len(node.args) < 3 or value.known or value.obj is not None:
            return value
        instead = ev.evaluate(node.args[2], point)
        return (
            fallback(instead, node, point)
            if small(instead) and settable(value)
            else ev.joined([value, instead])
        )

    def _of_tensor_array(
        self, ev: Evaluator, node: ast.Call, whole: Value, point: Point
    ) -> Value | None:
        """`values.write(i, x)`, `values.unstack(x)` and `values.stack()` of a tf.TensorArray: a
        list of which all elements are written.
        """
        if not isinstance(whole.obj, Many) or whole.kind != "sequence":
            return None
        argument = node.args[-1] if node.args else None
        if leaf(node.func) in ("write", "scatter", "unstack"):
            if argument is None:
                return None
            value = ev.evaluate(argument, point)
            return ev.joined(
                [
                    whole,
                    self.many(
                        ev, value if leaf(node.func) == "write" else self.iterated(ev, value)
                    ),
                ]
            )
        return (
            another(whole.obj.element, kind="tensor")
            if whole.obj.element.kind != "nothing"
            else unknown()
        )

    def _of_record(self, ev: Evaluator, node: ast.Call, whole: Value, point: Point) -> Value | None:
        """`state._replace(mean=x)` and `state._asdict()` of a named tuple."""
        fields = whole.obj
        if leaf(node.func) == "_replace" and (copied := ev.copy(whole, node, point)) is not None:
            return copied
        if (
            not isinstance(fields, Fields)
            or node.args
            or any(one.arg is None for one in node.keywords)
        ):
            return None
        if leaf(node.func) == "_asdict":
            return Value(kind="dict", obj=dict(zip(fields.names, fields)))
        replacements = {
            one.arg: Assigned(one.value, point) for one in node.keywords if one.arg is not None
        }
        return self.record(
            ev, FieldNames(fields.names), [Fixed(one) for one in fields], dict(replacements)
        )

    def element(self, ev: Evaluator, whole: Value, index: int | slice) -> Value:
        if whole.kind == "shape":
            return _extent(whole)
        if (
            isinstance(whole.obj, Instance)
            and isinstance(index, int)
            and 0 <= index < len(whole.obj.cls.fields)
        ):
            return ev.member(whole, whole.obj.cls.fields[index]) or unknown()
        if isinstance(index, slice):  # `first, *rest = x`
            return (
                self.sequence_of(ev, whole.obj[index])
                if isinstance(whole.obj, tuple)
                else self.many(ev, self.iterated(ev, whole))
            )
        if whole.kind == "sequence":
            if isinstance(whole.obj, tuple):
                return whole.obj[index] if -len(whole.obj) <= index < len(whole.obj) else unknown()
            return self.iterated(ev, whole)
        if whole.kind == "tensor" and whole.known:
            return another(whole, kind="tensor")
        if whole.kind == "number" and whole.known:  # the size of one axis
            return element_of(whole, "number")
        if made_by(whole, *READERS, *UNPACKINGS) is not None:  # a column that is read, a piece
            return unknown(origin=Note("", parent=whole.origin, index=index))
        return unknown(origin=whole.origin if isinstance(whole.origin, Note) else None)

    def iterated(self, ev: Evaluator, whole: Value) -> Value:
        if whole.kind == "sequence" and isinstance(whole.obj, tuple):
            return ev.joined(list(whole.obj)) if whole.obj else unknown()
        if isinstance(whole.obj, Many):
            # keys of a dict
            listed = whole.kind in ("sequence", "dataset")
            return another(whole.obj.element) if listed else unknown()
        if (
            whole.kind in ("sequence", "tensor", "array", "number")
            and whole.known
            and whole.lo <= whole.hi
        ):
            kind = whole.kind if whole.kind in ("array", "number") else "tensor"
            return element_of(whole, kind)
        if (
            whole.kind in ("sequence", "tensor", "array")
            and whole.obj is None
            and (whole.nan or whole.inf)
        ):
            return Value(nan=whole.nan, inf=whole.inf, dtype=whole.dtype, kind="unknown")
        return unknown(origin=_trained_weight(whole))

    def subscript(self, ev: Evaluator, node: ast.Subscript, point: Point) -> Value:
        path = path_of(node)
        if path is not None:
            binding = point.path_binding(root_of(path), path)
            if binding is not None:
                return self._kept(ev, binding.value(ev), node, point)
        whole = ev.evaluate(node.value, point)
        if whole.kind == "sequence" and isinstance(node.slice, ast.Slice):
            return self._slice(ev, whole, node.slice, point)
        key = self._key(ev, node.slice, point) if whole.kind in ("dict", "sequence") else None
        if whole.kind == "dict":
            item = self._of_dict(ev, node, whole, key, point)
            if item is not None:
                return item
        elif whole.kind == "sequence":
            if isinstance(whole.obj, tuple) and isinstance(key, int):
                if -len(whole.obj) <= key < len(whole.obj):
                    return whole.obj[key]
            return self.iterated(ev, whole)
        elif whole.kind == "shape":
            return _extent(whole)
        elif _is_selection(ev, whole, node.slice, point):
            return self._selected(ev, node, whole, point)
        read = (
            self._keyword(ev, node.value, node.slice, None, point)
            if whole.kind == "dict" and whole.obj is None
            else None
        )
        value = read or ev.stable(path, point) or self._item(ev, node.slice, whole, point)
        key = getattr(node.slice, "value", None)
        return (
            resolution.supposed(ev, ev.configured(value, key, node.value, point), key, node, point)
            if isinstance(key, str)
            else value
        )

    def _of_dict(
        self, ev: Evaluator, node: ast.Subscript, whole: Value, key: object, point: Point
    ) -> Value | None:
        """What a dict of known items holds under a key (None for one that is not known); None where
        it does not tell.
        """
        if isinstance(whole.obj, Many):
            return another(whole.obj.element)
        if not isinstance(whole.obj, dict):
            return None
        if key is not None:
            return whole.obj.get(key)
        if 0 < len(whole.obj) <= MAX_CHOSEN and written_out(ev, node.value, point):
            return ev.joined([*whole.obj.values()])  # one of them, or it raises
        return None

    def _kept(self, ev: Evaluator, item: Value, node: ast.Subscript, point: Point) -> Value:
        """What was stored under an index, as it is read there: a number in the dtype of its
        array.
        """
        if (
            item.kind != "number"
            or not isinstance(node.slice, ast.Constant)
            or isinstance(node.slice.value, str)
        ):
            return item
        whole = ev.evaluate(node.value, point)
        if whole.kind != "array":
            return item
        kept = t.in_dtype(item, whole.dtype)
        return kept.but(kind="array", dtype=whole.dtype, const=NO_CONSTANT)

    def _item(self, ev: Evaluator, index: ast.expr, whole: Value, point: Point) -> Value:
        """An element of something unknown: one value for all reads with one name (`g[k] *
        g[k]`).
        """
        element = unknown(origin=whole.origin if isinstance(whole.origin, Note) else None)
        if isinstance(index, ast.Name):
            key = (whole.token, ev.evaluate(index, point).token)
            return self._items.setdefault(key, element)
        return element

    def fetched(self, ev: Evaluator, node: ast.Call, point: Point) -> Value | None:
        """What `d.get(key)`, `d.get(key, default)`, `d.values()` and `d.items()` give of a dict
        whose items are known, and `items.pop()` of a list; None for others.
        """
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("_replace", "_asdict"):
            return self._of_record(ev, node, ev.evaluate(node.func.value, point), point)
        if (
            isinstance(node.func, ast.Attribute)
            and node.func.attr in _WRITTEN
            and not node.keywords
        ):
            return self._of_tensor_array(ev, node, ev.evaluate(node.func.value, point), point)
        if (
            not isinstance(node.func, ast.Attribute)
            or node.func.attr not in _LOOKING
            or node.keywords
            or len(node.args) > 2
        ):
            return None
        whole, asked = ev.evaluate(node.func.value, point), node.func.attr
        if asked == "copy" and not node.args and whole.kind in ("sequence", "dict"):
            return whole
        if whole.kind == "sequence" and whole.obj and popped(node) is not None:
            return (
                whole.obj[-1]
                if isinstance(whole.obj, tuple) and not node.args
                else self.iterated(ev, whole)
            )
        if whole.kind != "dict" or not isinstance(whole.obj, (dict, Many)):
            return (
                self._of_another(ev, node, whole, point)
                if len(node.args) == 2 and asked in ("get", "pop")
                else None
            )
        if not node.args and asked in ("values", "items"):
            return (
                self._parts(ev, whole.obj, asked == "items")
                if written_out(ev, node.func.value, point)
                else None
            )
        if (
            asked not in ("get", "pop", "setdefault")
            or not node.args
            or isinstance(whole.obj, Many)
        ):
            return None
        key = self._key(ev, node.args[0], point)
        if key is not None and key in whole.obj:
            return whole.obj[key]
        if len(whole.obj) > MAX_CHOSEN or not written_out(ev, node.func.value, point):
            return None
        instead = ev.evaluate(node.args[1], point) if len(node.args) == 2 else number(None)
        return ev.joined([*whole.obj.values(), instead]) if key is None else instead

    def _of_another(self, ev: Evaluator, node: Any, whole: Value, point: Point) -> Value | None:
        """`kwargs.get("floor", 1e-3)`, and what a dict of which nothing is known gives where 0 is
        written as its default.
        """
        key, instead = node.args
        value = (
            self._keyword(ev, node.func.value, key, instead, point)
            if whole.kind == "dict"
            else None
        )
        if value is None and whole.kind in ("dict", "unknown") and default_text(instead) == NOUGHT:
            return unknown(
                origin=Note(
                    f"the call '{leaf(node.func)}(…)'",
                    node,
                    point.module.source,
                    computed=True,
                    default=NOUGHT,
                )
            )
        return value

    def _keyword(
        self,
        ev: Evaluator,
        owner: ast.expr,
        index: ast.expr,
        instead: ast.expr | None,
        point: Point,
    ) -> Value | None:
        """What a function gets under a name that it reads from its `**kwargs`, as it gets its
        parameters; None for other dicts.
        """
        key = index.value if isinstance(index, ast.Constant) else None
        binding = (
            unrefined(point.lookup(owner.id))
            if isinstance(owner, ast.Name) and isinstance(key, str)
            else None
        )
        while isinstance(binding, (Mutated, Stored)):
            if not _leaves(binding, key):
                return None
            binding = unrefined(binding.base)
        # of a call that is being followed
        if isinstance(binding, Handed) and isinstance(binding.binding, Collected):
            argument = binding.binding.items.get(str(key))
            return (
                argument.value(ev)
                if argument is not None
                else ev.evaluate(instead, point)
                if instead is not None
                else None
            )
        if (
            not isinstance(binding, Keywords)
            or not isinstance(key, str)
            or key in signature_of(binding.function.node.args)[1]
        ):
            return None
        parameter = self._keywords.get((binding, key, instead))
        if parameter is None:
            default = Assigned(instead, point) if instead is not None else None
            parameter = self._keywords[binding, key, instead] = Parameter(
                binding.function, key, default
            )
        return parameter.value(ev)

    def _parts(self, ev: Evaluator, held: dict[Any, Value] | Many, pairs: bool) -> Value:
        """The values of a dict, or the pairs of its keys and values."""
        if isinstance(held, Many):
            return self.many(
                ev, self.sequence_of(ev, (unknown(), held.element)) if pairs else held.element
            )
        if not pairs:
            return self.sequence_of(ev, tuple(held.values()))
        return self.sequence_of(
            ev,
            tuple(
                [
                    self.sequence_of(
                        ev,
                        (
                            (
                                number(key)
                                if not isinstance(key, str)
                                else Value(kind="string", const=key)
                            ),
                            value,
                        ),
                    )
                    for key, value in held.items()
                ]
            ),
        )

    def _key(self, ev: Evaluator, index: ast.expr, point: Point) -> Any:
        """An index as a Python constant, None when it is not known."""
        if isinstance(index, ast.Constant):
            return index.value
        constant = (
            ev.evaluate(index, point).const
            if isinstance(index, (ast.Name, ast.UnaryOp))
            else NO_CONSTANT
        )
        return constant if isinstance(constant, (str, int)) else None

    def _slice(self, ev: Evaluator, whole: Value, part: ast.Slice, point: Point) -> Value:
        """Some elements of a list, in order where the bounds are constants."""
        bounds = [
            None if end is None else ev.evaluate(end, point).const
            for end in (part.lower, part.upper, part.step)
        ]
        if (
            isinstance(whole.obj, tuple)
            and all(end is None or type(end) is int for end in bounds)
            and bounds[2] != 0
        ):
            return self.sequence_of(ev, whole.obj[slice(*bounds)])
        return self.many(ev, self.iterated(ev, whole))

    def stored(self, ev: Evaluator, base: Value, key: Any, item: Value) -> Value:
        """A list, dict, array or tensor in which one element was exchanged."""
        # which is no key
        if (
            base.kind == "dict"
            and isinstance(base.obj, dict)
            and key is not None
            and not isinstance(key, slice)
        ):
            return Value(kind="dict", obj={**base.obj, key: item})
        if (
            base.kind == "dict"
            and isinstance(base.obj, (dict, Many))
            and not isinstance(key, slice)
        ):
            return Value(
                kind="dict",
                obj=Many(
                    ev.joined(
                        [
                            *(
                                base.obj.values()
                                if isinstance(base.obj, dict)
                                else [base.obj.element]
                            ),
                            item,
                        ]
                    )
                ),
            )
        if base.kind == "sequence" and isinstance(key, slice):
            if isinstance(base.obj, tuple) and isinstance(item.obj, tuple) and key.step is None:
                items = list(base.obj)
                items[key] = item.obj
                return self._concatenated(ev, tuple(items), ())
            return ev.joined(
                [self.many(ev, self.iterated(ev, base)), self.many(ev, self.iterated(ev, item))]
            )
        if base.kind == "sequence" and isinstance(base.obj, tuple):
            if isinstance(key, int) and -len(base.obj) <= key < len(base.obj):
                items = list(base.obj)
                items[key] = item
                return self.sequence_of(ev, tuple(items))
            return self.many(ev, ev.joined([*base.obj, item]))
        if base.kind == "sequence":
            return self.many(ev, ev.joined([self.iterated(ev, base), item]))
        if base.kind == "array":
            item = t.in_dtype(item, base.dtype)
        if base.kind in ("tensor", "array"):
            return ev.joined([base, item]).but(
                kind=base.kind, dtype=base.dtype, const=NO_CONSTANT, obj=None
            )
        return Value(kind="dict") if base.kind == "dict" else unknown()

    def _selected(self, ev: Evaluator, node: ast.Subscript, whole: Value, point: Point) -> Value:
        """Some elements of a tensor; `x[x > 0]` keeps what the mask says."""
        row = ev.table["tf.expand_dims" if adds_axes(node.slice) else "tf.strided_slice"]
        site = Site(
            row,
            node,
            {row.main: node.value},
            ev,
            library="operator",
            point=point,
            source=point.module.source,
            complete=False,
        )
        # one axis of a shape
        size = whole.kind == "number" and not isinstance(node.slice, ast.Slice)
        some = taken(whole, node.slice)
        if some is not None:
            part = ev.joined(some)
            whole = whole.but(lo=part.lo, hi=part.hi, zero=part.zero, nan=part.nan, inf=part.inf)
            site.values[row.main] = part
        value = whole.but(
            kind=whole.kind,
            const=NO_CONSTANT,
            obj=None,
            origin=site,
            emptied=whole.emptied and not size or site.by_mask,
        )
        path = path_of(node.value)
        if path is not None and isinstance(node.slice, (ast.Compare, ast.BinOp, ast.Call)):
            value = ev.clamped(value, path, node.slice, True, point)
        elif path is not None and _is_mask(node.slice, point):
            kept = ev.evaluate(node.value, ev.assuming(node.slice, True, point))
            value = value.but(lo=kept.lo, hi=kept.hi, zero=kept.zero, nan=kept.nan, origin=site)
        return value

    def container_operator(
        self, ev: Evaluator, node: ast.BinOp, left: Value, point: Point
    ) -> Value:
        right = ev.evaluate(node.right, point)
        if isinstance(node.op, ast.BitOr) and left.kind == "dict":
            parts = [
                self._of_pairs(ev, self.filled(ev, one)) if one.kind == "dict" else None
                for one in (left, right)
            ]
            if isinstance(parts[0], dict) and isinstance(parts[1], dict):
                return Value(kind="dict", obj={**parts[0], **parts[1]})
            return Value(kind="dict")
        if (
            isinstance(node.op, ast.Add)
            and isinstance(left.obj, tuple)
            and isinstance(right.obj, tuple)
        ):
            return self._concatenated(ev, left.obj, right.obj)
        if left.kind == "string":
            return Value(kind="string")
        if isinstance(node.op, ast.Add) and left.kind == right.kind == "sequence":
            element = (
                ev.joined([self.iterated(ev, left), self.iterated(ev, right)])
                if left.obj and right.obj
                else None
            )
            return (
                self.many(ev, element)
                if element is not None
                else ev.joined([left, right]).but(kind="sequence", obj=None)
            )
        if (
            isinstance(node.op, ast.Mult)
            and left.kind == "sequence"
            and left.obj
            and right.kind in ("number", "unknown", "tensor")
        ):
            return self.many(ev, self.iterated(ev, left))  # [x] * n
        return (
            Value(kind=left.kind)
            if isinstance(node.op, ast.Mult) and right.kind == "number"
            else unknown()
        )

    def comprehension(self, ev: Evaluator, node: Any, point: Point) -> Value:
        inner = subexpressions.inside(ev, node, point)
        if isinstance(node, ast.DictComp):
            return Value(kind="dict", obj=Many(ev.evaluate(node.value, inner)))
        written = self._written(ev, node, point)
        if written is not None:
            name = node.generators[0].target.id
            return self.sequence_of(
                ev,
                tuple(ev.evaluate(node.elt, point.under({name: Fixed(item)})) for item in written),
            )
        listed = self.many(ev, ev.evaluate(node.elt, inner))
        if _chooses(node):
            listed.obj = Many(listed.obj.element, is_chosen=True)
        return listed

    def _written(self, ev: Evaluator, node: Any, point: Point) -> tuple[Value, ...] | None:
        """The items of the short list written in a comprehension
        (`a, b = [tf.cast(t, x.dtype) for t in [a, b]]`).
        """
        generator = node.generators[0]
        if any(isinstance(inner, ast.Lambda) for inner in nodes_in(node.elt)):
            return None  # when it is called, the name stands for the last item
        if (
            len(node.generators) > 1
            or generator.ifs
            or not isinstance(generator.target, ast.Name)
            or not isinstance(generator.iter, (ast.List, ast.Tuple))
        ):
            return None
        items = (
            ev.evaluate(generator.iter, point).obj
            if 1 < len(generator.iter.elts) <= MAX_WRITTEN
            else None
        )
        return items if isinstance(items, tuple) else None

    def many(self, ev: Evaluator, element: Value) -> Value:
        """A list of which every element is an `element`."""
        return Value(
            element.lo,
            element.hi,
            element.zero,
            nan=element.nan,
            inf=element.inf,
            dtype=element.dtype,
            kind="sequence",
            obj=Many(element),
            origin=element.origin,
            emptied=element.emptied,
        )

    def mutated(
        self, ev: Evaluator, base: Value, call: ast.Call, point: Point, growing: bool
    ) -> Value:
        """A container or model after a changing method call; one that is `growing` in a loop has no
        number of elements.
        """
        method = leaf(call.func)
        if base.kind == "sequence":
            return self._other_elements(
                ev, base, method, [ev.evaluate(one, point) for one in call.args], growing
            )
        if (
            base.kind == "dict"
            and method == "update"
            and isinstance(base.obj, dict)
            and not growing
        ):
            more = self._updated(ev, call, point)
            return (
                Value(kind="dict", obj={**base.obj, **more})
                if more is not None
                else unknown("dict")
            )
        if (
            base.kind == "dict"
            and method == "setdefault"
            and isinstance(base.obj, dict)
            and len(call.args) == 2
            and not growing
        ):
            key = self._key(ev, call.args[0], point)
            return (
                Value(
                    kind="dict",
                    obj=(
                        base.obj
                        if key in base.obj
                        else {**base.obj, key: ev.evaluate(call.args[1], point)}
                    ),
                )
                if key is not None
                else unknown("dict")
            )
        if base.kind == "model" and method in ("add", "pop"):
            return self._other_layers(ev, base, call, point)
        if base.kind == "array" and method == "sort":
            return base
        if base.kind == "array" and method == "fill" and len(call.args) == 1:
            filled = t.in_dtype(ev.evaluate(call.args[0], point), base.dtype)
            # a scalar of NumPy's is not filled
            return ev.joined([base, filled]).but(kind="array", dtype=base.dtype, const=NO_CONSTANT)
        return (
            base if base.kind in ("model", "layer", "instance", "unknown") else unknown(base.kind)
        )

    def _updated(self, ev: Evaluator, call: ast.Call, point: Point) -> dict[Any, Value] | None:
        """What `d.update(more, eps=1e-6)` puts into a dict; None where that is not known."""
        items = {one.arg: ev.evaluate(one.value, point) for one in call.keywords}
        dicts = [self.filled(ev, ev.evaluate(one, point)) for one in call.args]
        if None in items or any(
            [one.kind != "dict" or not isinstance(one.obj, dict) for one in dicts]
        ):
            return None
        return {
            key: value for one in [*[one.obj for one in dicts], items] for key, value in one.items()
        }

    def _other_elements(
        self, ev: Evaluator, base: Value, method: str, arguments: list[Value], growing: bool
    ) -> Value:
        """A list after a method that changes it."""
        counted = isinstance(base.obj, tuple) and len(base.obj) < MAX_ITEMS and not growing
        items: tuple[Value, ...] = base.obj if counted else ()
        if (
            method in ("append", "appendleft")
            and len(arguments) == 1
            or method == "insert"
            and len(arguments) == 2
        ):
            if method == "append" and counted:
                return self.sequence_of(ev, items + (arguments[0],))
            return ev.joined([base, self.many(ev, arguments[-1])])
        if method == "extend" and len(arguments) == 1:
            if counted and isinstance(arguments[0].obj, tuple):
                return self._concatenated(ev, items, arguments[0].obj)
            return ev.joined([base, self.many(ev, self.iterated(ev, arguments[0]))])
        if method == "pop" and counted and not arguments:
            return self.sequence_of(ev, items[:-1])
        if method == "reverse" and counted:
            return self.sequence_of(ev, items[::-1])
        if method in ("pop", "remove", "sort", "reverse") and base.obj:
            return self.many(ev, self.iterated(ev, base))
        return unknown("sequence")

    def _other_layers(self, ev: Evaluator, model: Value, call: ast.Call, point: Point) -> Value:
        """A Sequential model after `add` or `pop`; each of those that it may be."""
        options = model.obj.options if isinstance(model.obj, Choice) else (model,)
        if not all(hasattr(one.obj, "added") for one in options):
            return model.but(obj=None)
        if leaf(call.func) == "pop":
            return ev.joined([one.obj.popped(one) for one in options])
        layer = ev.evaluate(call.args[0], point) if call.args else unknown()
        return ev.joined([one.obj.added(one, layer) for one in options])

    def filled_by(self, ev: Evaluator, base: Value, call: ast.Call, point: Point) -> Value:
        """What was handed to a function after it: an array of one number is made to be filled,
        where nothing is known of the function; in a list or dict there is something else where the
        function stores.
        """
        if base.kind in ("sequence", "dict"):
            return Value(kind=base.kind) if self._stores(ev, call, point) else base
        if (
            base.kind != "array"
            or not base.exact
            or isinstance(call.func, ast.Name)
            and hasattr(builtins, call.func.id)
        ):
            return base
        callee = resolution.callee(ev, call.func, point)
        if callee is not None and callee.obj is not None:
            return base
        return Value(
            kind="array",
            dtype=base.dtype,
            origin=Note(
                f"what {leaf(call.func)}() may have put there",
                call,
                point.module.source,
                computed=True,
            ),
        )

    def _stores(self, ev: Evaluator, call: ast.Call, point: Point) -> bool:
        """Whether a function of the program changes one of the arguments of a call."""
        callee = resolution.callee(ev, call.func, point)
        function = callee.obj if callee is not None else None
        bound = isinstance(function, Bound)
        if isinstance(function, Bound):
            function = function.function
        if not isinstance(function, Function):
            return False
        spec = function.node.args
        names = [one.arg for one in (*spec.posonlyargs, *spec.args)][1 if bound else 0 :][
            : len(call.args)
        ]
        return not function.changed.isdisjoint(
            [*names, *[one.arg for one in call.keywords if one.arg is not None]]
        )


def _extent(shape: Value) -> Value:
    """One dimension of a tensor: at least 1, for an axis without elements has no element to be
    wrong.
    """
    return Value(
        0.0 if shape.emptied else 1.0,
        LARGEST_AXIS,
        shape.emptied,
        kind="number",
        dtype="int32",
        origin=shape.origin,
    )


def _is_selection(ev: Evaluator, whole: Value, index: ast.expr, point: Point) -> bool:
    """Whether an index takes elements of a tensor or array, or of something whose elements are
    known, such as what arithmetic gives.
    """
    if whole.kind in ("tensor", "array") or whole.known:
        return True
    if whole.kind != "unknown":
        return False
    if isinstance(whole.origin, Site) and whole.origin.op.name in ARITHMETIC:
        return True
    return whole.nan or whole.inf or _is_mask(index, point) or _is_tensor_of_marks(ev, index, point)


def _is_tensor_of_marks(ev: Evaluator, index: ast.expr, point: Point) -> bool:
    """Whether an index is a tensor of booleans, which no dict or list takes."""
    if not isinstance(index, (ast.Name, ast.BinOp, ast.Call, ast.UnaryOp)):
        return False
    mask = ev.evaluate(index, point)
    return mask.kind == "tensor" and mask.dtype == "bool"


def _overridden(
    ev: Evaluator, items: dict[Any, Value], handed: list[dict[str, Binding]]
) -> dict[Any, Value]:
    """The items of `{**defaults, **kwargs}`: the default where no call hands over another value."""
    merged = dict(items)
    for key in dict.fromkeys([name for one in handed for name in one]):
        overrides = [one[key].value(ev) for one in handed if key in one]
        is_left = key in items and len(overrides) < len(handed)
        merged[key] = ev.joined([*([items[key]] if is_left else ()), *overrides])
    return merged


def _is_mask(index: ast.expr, point: Point) -> bool:
    """Whether an index is a comparison that was given a name (`x[positive]`), or what a mask leaves
    out (`x[~positive]`, `x[~(x > 0)]`).
    """
    name = (
        index.operand
        if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.Invert)
        else index
    )
    if isinstance(name, ast.Compare):
        return True
    binding = unrefined(point.lookup(name.id)) if isinstance(name, ast.Name) else None
    return isinstance(binding, Assigned) and (
        isinstance(binding.node, ast.Compare)
        or isinstance(binding.node, ast.BinOp)
        and isinstance(binding.node.op, (ast.BitAnd, ast.BitOr))
    )


def _attribute(ev: Evaluator, node: ast.Call, name: str, point: Point) -> Value:
    """The attribute of that name of what a call of `getattr` asks."""
    # one node for all walks of the call
    asked: dict[str, ast.Attribute] = node.__dict__.setdefault("asked", {})
    if name not in asked:
        asked[name] = ast.copy_location(ast.Attribute(node.args[0], name, ast.Load()), node)
    return ev.evaluate(asked[name], point)


def _names_of_round(ev: Evaluator, node: ast.expr, point: Point) -> list[str]:
    """The names that a loop runs over, `for name in ("l1", "l2")`; none where one is unknown."""
    loop = unrefined(point.lookup(node.id)) if isinstance(node, ast.Name) else None
    if not isinstance(loop, Iterated):
        return []
    whole = loop.iterable.value(ev).obj
    names = [one.const for one in whole] if isinstance(whole, tuple) else []
    return names if all([isinstance(one, str) and one.isidentifier() for one in names]) else []
