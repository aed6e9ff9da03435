"""Control flow that hands values on, and the methods of tensors and arrays."""

from __future__ import annotations

from typing import Callable, Final

from tfnanlint.ops.families.arrays import as_tensor, count, dimensions, each_passed, passed
from tfnanlint.ops.site import Site
from tfnanlint.ops.table import TABLE, op
from tfnanlint.ops.transfer import core as t
from tfnanlint.ops.transfer.promotion import handed_on, of_bfloat16
from tfnanlint.values.value import (
    NO_CONSTANT,
    WHOLE,
    Note,
    Value,
    covers,
    join,
    number,
    unknown,
    widen,
)

# Control flow


def outcome(site: Site, param: str) -> Value:
    """What a branch gives: the result of calling it, or the tensor that was given instead of a
    function.
    """
    branch = site.value(param)
    if branch.kind in ("function", "class", "unknown") and branch.obj is not None:
        return site.apply(branch)
    return branch


def _either(first: str, second: str):
    def give(site: Site) -> Value:
        if not (site.given(first) and site.given(second)):
            return unknown()
        return handed_on(join([outcome(site, first), outcome(site, second)]))

    return give


op(
    "tf.function",
    "tf.recompute_grad tf.grad_pass_through tf.autograph.to_graph tf.contrib.eager.defun "
    "tf.nondifferentiable_batch_function",
    "func *rest",
    lambda site: site.value("func"),
    untested="takes a function and hands it back",
)
op(
    "tf.cond",
    "ops.cond tf.contrib.framework.smart_cond slim.smart_cond tf.compat.smart_cond "
    "tf.__internal__.smart_cond.smart_cond",
    "pred true_fn false_fn name strict fn1 fn2",
    _either("true_fn", "false_fn"),
    main="true_fn",
    refines=("pred", "true_fn", "false_fn"),
    untested="takes functions; tests/ops/families/test_arrays.py",
    pure=False,
)
op(
    "K.switch",
    "",
    "condition then_expression else_expression",
    _either("then_expression", "else_expression"),
    main="then_expression",
    untested="Keras 2 only",
    pure=False,
)
op(
    "K.in_train_phase",
    "K.in_test_phase",
    "x alt training",
    _either("x", "alt"),
    untested="Keras 2 only",
    pure=False,
)


# Loops: what is carried from round to round is tried, wider each time, until a round adds nothing

_ROUNDS: Final = 5


def _carried(value: Value) -> Value:
    """A number of its own for each round, as a tensor; tuples item by item."""
    if isinstance(value.obj, tuple):
        return t.several(*map(_carried, value.obj)) if value.obj else value
    whole = as_tensor(value) if value.kind in ("number", "sequence", "array") else value
    return whole.but(const=NO_CONSTANT, origin=Note("", parent=whole.origin))


def _settled(start: Value, step: Callable[[Value], Value]) -> Value:
    """The start and what any number of rounds makes of it; unknown where that does not settle. The
    last step is given what any round may start from.
    """
    assumed = start = _carried(start)
    for attempt in range(_ROUNDS):
        after = _carried(step(assumed))
        if isinstance(start.obj, tuple) != isinstance(after.obj, tuple):
            return unknown()
        both = join([start, after])
        if covers(assumed, both):
            return both
        assumed = _carried(both if attempt == 0 else widen(assumed, both))
    step(_forgotten(start))
    return unknown()


def _forgotten(value: Value) -> Value:
    """A value of the same structure, of whose numbers nothing is known."""
    if isinstance(value.obj, tuple):
        return t.several(*map(_forgotten, value.obj)) if value.obj else value
    return unknown(value.kind)


def _while(site: Site) -> Value:
    start = site.value("loop_vars")
    if not (
        site.given("body")
        and start.kind == "sequence"
        and isinstance(start.obj, tuple)
        and start.obj
    ):
        return unknown()

    def step(carried: Value) -> Value:
        after = site.apply(site.value("body"), *carried.obj)
        return (
            t.several(after)
            if len(carried.obj) == 1 and not isinstance(after.obj, tuple)
            else after
        )

    return _settled(start, step)


def _folded(site: Site) -> Value:
    """foldl, foldr, scan: fn(carried, element), from the initializer or the first element."""
    element = each_passed(site.value("elems"))
    has_initializer = site.given("initializer") and site.value("initializer").kind != "none"
    return _settled(
        site.value("initializer") if has_initializer else element,
        lambda carried: site.apply(site.value("fn"), carried, _carried(element)),
    )


def _branches(site: Site) -> Value:
    """case, switch_case: whichever function is called."""
    listed = site.value(site.op.main)
    pairs = site.op.main == "pred_fn_pairs"
    functions = (
        [
            pair.obj[1] if pairs and isinstance(pair.obj, tuple) and len(pair.obj) == 2 else pair
            for pair in listed.obj or ()
        ]
        if isinstance(listed.obj, tuple)
        else []
    )
    if site.given("default") and site.value("default").kind != "none":
        functions.append(site.value("default"))
    if (
        not functions
        or not isinstance(listed.obj, tuple)
        or any(one.obj is None for one in functions)
    ):
        return unknown()
    return handed_on(join([site.apply(one) for one in functions]))


op(
    "tf.while_loop",
    "ops.while_loop",
    "cond body loop_vars *rest",
    _while,
    main="loop_vars",
    applies=("body",),
    untested="takes functions; tests/interp/test_soundness.py",
    pure=False,
)
op(
    "tf.scan",
    "tf.foldl tf.foldr K.foldl K.foldr",
    "fn elems initializer *rest",
    _folded,
    main="elems",
    applies=("fn",),
    untested="takes a function; tests/interp/test_soundness.py",
    pure=False,
)
op(
    "tf.case",
    "",
    "pred_fn_pairs default *rest",
    _branches,
    main="pred_fn_pairs",
    untested="takes functions; tests/interp/test_soundness.py",
    pure=False,
)
op(
    "tf.switch_case",
    "",
    "branch_index branch_fns default name",
    _branches,
    main="branch_fns",
    untested="takes functions; tests/interp/test_soundness.py",
    pure=False,
)
op(
    "ops.fori_loop",
    "ops.switch ops.scan K.rnn ops.associative_scan",
    "cond body loop_vars",
    t.anything,
    untested="takes functions and loops: nothing is claimed",
    pure=False,
)
op(
    "tf.py_function",
    "tf.py_func tf.numpy_function tf.contrib.eager.py_func",
    "func inp Tout name",
    t.anything,
    untested="runs Python: nothing is claimed",
    pure=False,
)
op(
    "tf.map_fn",
    "tf.vectorized_map K.map_fn ops.map ops.vectorized_map ops.vectorize",
    "fn elems dtype parallel_iterations back_prop swap_memory infer_shape name",
    lambda site: site.apply(site.value("fn"), each_passed(site.value("elems"))),
    main="elems",
    applies=("fn",),
    untested="takes a function; tests/ops/families/test_arrays.py",
    pure=False,
    positions={
        alias: ("fn", "elems") for alias in ("tf.vectorized_map", "ops.map", "ops.vectorized_map")
    },
)


# Methods of tensors: the op of the same name, applied to `self`


def method(name: str, target: str, params: str = "", **info) -> None:
    """A row `method.<name>` that does what `target` does with `self` in place of its main
    parameter.
    """

    def give(site: Site) -> Value:
        row = TABLE[target]
        inner = Site(
            row,
            site.node,
            {p: a for p, a in site.args.items() if p != "self"},
            site.interpreter,
            complete=site.complete,
            library="method",
            point=site.point,
            source=site.source,
            name=site.name,
        )
        inner.values[row.main] = site.value("self")
        if "self" in site.args:
            inner.args[row.main] = site.args["self"]
        inner.judge = site.judge
        result = row.gives(inner)
        result.origin = result.origin or inner
        return result

    info.setdefault("untested", f"{target} is tested")
    op(f"method.{name}", "", f"self {params}".strip(), give, **info)


def _as_array(x: Value) -> Value:
    """A tensor as an array."""
    array = Value(
        x.lo,
        x.hi,
        x.zero,
        nan=x.nan,
        inf=x.inf,
        dtype=x.dtype,
        kind="array",
        guarded=x.guarded,
        evident=x.evident,
    )
    return array if x.dtype != "bfloat16" else of_bfloat16(array)


def _as_number(x: Value) -> Value:
    """An element as a number of Python's."""
    if x.kind not in ("tensor", "array"):
        return passed(x)
    return Value(
        x.lo,
        x.hi,
        x.zero,
        nan=x.nan,
        inf=x.inf,
        dtype=x.dtype if x.dtype in WHOLE or x.dtype == "bool" else None,
        kind="number",
        guarded=x.guarded,
        evident=x.evident,
    )


def _method_passes(names: str, params: str = "*rest", flattening: bool = False) -> None:
    for name in names.split():
        op(
            f"method.{name}",
            "",
            f"self {params}",
            t.passes("self"),
            passes="self",
            flattening=(f"method.{name}",) if flattening else (),
            untested="a method; the function is tested",
        )


op(
    "method.numpy",
    "",
    "self",
    lambda site: _as_array(site.value("self")),
    passes="self",
    untested="a method; the function is tested",
)
op(
    "method.item",
    "",
    "self *args",
    lambda site: _as_number(site.value("self")),
    passes="self",
    untested="a method; the function is tested",
)
_method_passes(
    "value read_value initialized_value eval tolist get_weights copy squeeze reshape transpose "
    "swapaxes repeat take to_dense set_shape toarray"
)
_method_passes("flatten ravel", flattening=True)
for _name, _target, _params, _promotes in (
    ("sum", "tf.reduce_sum", "axis dtype keepdims", "wider"),
    ("mean", "tf.reduce_mean", "axis dtype keepdims", "floats"),
    ("max", "tf.reduce_max", "axis keepdims", ""),
    ("min", "tf.reduce_min", "axis keepdims", ""),
    ("prod", "tf.reduce_prod", "axis keepdims", "wider"),
    ("std", "tf.math.reduce_std", "axis keepdims", "floats"),
    ("var", "tf.math.reduce_variance", "axis keepdims", "floats"),
    ("any", "tf.reduce_any", "axis keepdims", ""),
    ("all", "tf.reduce_all", "axis keepdims", ""),
    ("argmax", "tf.argmax", "axis", ""),
    ("argmin", "tf.argmin", "axis", ""),
    ("dot", "tf.matmul", "y", ""),
    ("cumsum", "tf.cumsum", "axis", "wider"),
    ("cumprod", "tf.math.cumprod", "axis", "wider"),
    ("astype", "tf.cast", "dtype copy", ""),
):
    method(_name, _target, _params, promotes=_promotes)
op("method.get_shape", "", "self *rest", dimensions, untested="a method; tf.shape is tested")
op(
    "method.size",
    "method.ndims method.num_elements",
    "self *rest",
    count,
    untested="a method; tf.size is tested",
)
op("method.as_list", "", "self", dimensions, untested="a method; tf.shape is tested")
op(
    "method.fill",
    "",
    "self value",
    lambda site: number(None),
    untested="changes an array in place",
    pure=False,
)
op(
    "method.clip",
    "",
    "self clip_value_min clip_value_max",
    lambda site: t.clip(
        site.value("self"), site.value("clip_value_min"), site.value("clip_value_max")
    ),
    untested="a method; tf.clip_by_value is tested",
)
