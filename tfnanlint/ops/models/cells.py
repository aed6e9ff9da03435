"""Recurrent cells of TensorFlow 1 and what runs them: called they give (output, state)."""

from __future__ import annotations

from typing import Callable, Final

from tfnanlint.ops.models.layers import Layer, called, dropped, gru, linear, lstm, simple_rnn
from tfnanlint.ops.site import Site
from tfnanlint.ops.table import op
from tfnanlint.ops.traits import RECURRENT_FUNCTIONS
from tfnanlint.ops.transfer import core as t
from tfnanlint.values.tuples import Fields
from tfnanlint.values.value import NO_CONSTANT, Note, Value, join, number, renewed, unknown

Step = Callable[[Site, Value, Site], "tuple[Value, Value]"]
ONLY: Final = "TensorFlow 1 only; the Keras layer is tested"


def _cell(names: str, params: str, step: Step) -> None:
    """A row for the constructor of a cell; `step` gives output and state for an input."""
    first, *rest = [
        f"tf.{root}.{name}" for name in names.split() for root in ("nn.rnn_cell", "contrib.rnn")
    ]

    def give(site: Site) -> Value:
        return Value(
            kind="layer", obj=Layer(first, site, lambda x, call: t.several(*step(site, x, call)))
        )

    op(first, " ".join(rest), params, give, untested=ONLY, pure=False)


def _rnn_step(site: Site, x: Value, call: Site) -> tuple[Value, Value]:
    output = simple_rnn(site, x, call)
    return output, output


def _gru_step(site: Site, x: Value, call: Site) -> tuple[Value, Value]:
    """Between the state before and the activation: a cell that is called itself is handed that
    state.
    """
    output = gru(site, x, call) if call.op.name in RECURRENT_FUNCTIONS else linear(t.one_of(x))
    return output, output


def _lstm_step(site: Site, x: Value, call: Site) -> tuple[Value, Value]:
    """The state is LSTMStateTuple(c, h): the sum over all steps, which is not bounded, and the
    output.
    """
    memory = linear(t.one_of(x))
    output = memory if site.given("num_proj") else lstm(site, x, call)
    if site.given("state_is_tuple"):
        return output, memory
    return output, Value(kind="sequence", obj=Fields.of(c=memory, h=output))


_cell(
    "LSTMCell",
    "num_units use_peepholes cell_clip initializer num_proj proj_clip num_unit_shards"
    " num_proj_shards forget_bias state_is_tuple activation",
    _lstm_step,
)
_cell(
    "BasicLSTMCell LayerNormBasicLSTMCell",
    "num_units forget_bias state_is_tuple activation num_proj",
    _lstm_step,
)
_cell("LSTMBlockCell", "num_units forget_bias cell_clip use_peephole dtype num_proj", _lstm_step)
_cell("GRUCell GRUBlockCell", "units activation", _gru_step)
_cell("BasicRNNCell RNNCell", "units activation", _rnn_step)


# Cells around cells


def _inner(site: Site, param: str, x: Value, call: Site) -> tuple[Value, Value]:
    """Output and state of the cell that arrives at `param`."""
    result = called(site.value(param), x, call)
    if result.kind == "sequence" and isinstance(result.obj, tuple) and len(result.obj) == 2:
        return result.obj
    return result, unknown("tensor")


def _dropped_step(site: Site, x: Value, call: Site) -> tuple[Value, Value]:
    out, state = _inner(site, "cell", x, call)
    if site.given("output_keep_prob"):
        kept = t.constant(site.value("output_keep_prob"))
        out = dropped(out, None if kept is None else 1.0 - kept)
    return out, unknown("tensor") if site.given("state_keep_prob") or not site.complete else state


def _residual_step(site: Site, x: Value, call: Site) -> tuple[Value, Value]:
    out, state = _inner(site, "cell", x, call)
    return unknown("tensor") if site.given("residual_fn") else t.add(t.one_of(x), out), state


def _stacked_step(site: Site, x: Value, call: Site) -> tuple[Value, Value]:
    """The output of the last cell, the states of all."""
    cells = site.value("cells")
    if cells.kind != "sequence" or not isinstance(cells.obj, tuple) or not cells.obj:
        return unknown("tensor"), unknown()
    states = []
    for cell in cells.obj:
        result = called(cell, x, call)
        known = result.kind == "sequence" and isinstance(result.obj, tuple) and len(result.obj) == 2
        x, state = result.obj if known else (unknown("tensor"), unknown("tensor"))
        states.append(state)
    return x, t.several(*states) if not site.given("state_is_tuple") else unknown("tensor")


_cell(
    "DropoutWrapper",
    "cell input_keep_prob output_keep_prob state_keep_prob variational_recurrent input_size dtype"
    " seed",
    _dropped_step,
)
_cell("ResidualWrapper", "cell residual_fn", _residual_step)
_cell("DeviceWrapper", "cell device", lambda site, x, call: _inner(site, "cell", x, call))
_cell("MultiRNNCell", "cells state_is_tuple", _stacked_step)


# What runs them


def _run(site: Site, cell: str, initial: str) -> tuple[Value, Value]:
    """Outputs, 0 behind the end of a sequence, and the last state: that of the start where there is
    nothing to read.
    """
    out, state = _inner(site, cell, site.value("x"), site)
    source = Note("", parent=site, index=0)
    out = join([out, number(0.0)]).but(kind="tensor", const=NO_CONSTANT, origin=source)
    if site.given(initial):
        return out if initial == "initial_state" else linear(t.one_of(site.value("x"))), unknown()
    return out, _or_zero(state)


def _or_zero(state: Value) -> Value:
    if state.kind == "sequence" and isinstance(state.obj, tuple):
        return Value(kind="sequence", obj=renewed(state.obj, map(_or_zero, state.obj)))
    return join([state, number(0.0)]).but(kind="tensor", const=NO_CONSTANT)


def _both_ways(site: Site) -> Value:
    """((outputs forward, backward), (states forward, backward))."""
    forward = _run(site, "cell_fw", "initial_state_fw")
    backward = _run(site, "cell_bw", "initial_state_bw")
    return Value(
        kind="sequence",
        obj=tuple(Value(kind="sequence", obj=pair) for pair in zip(forward, backward)),
    )


op(
    "tf.nn.dynamic_rnn",
    "tf.nn.static_rnn tf.contrib.rnn.static_rnn tf.nn.rnn",
    "cell x sequence_length initial_state dtype time_major scope",
    lambda site: Value(kind="sequence", obj=_run(site, "cell", "initial_state")),
    main="x",
    untested="TensorFlow 1 only",
    pure=False,
)
op(
    "tf.nn.bidirectional_dynamic_rnn",
    "",
    "cell_fw cell_bw x sequence_length initial_state_fw initial_state_bw dtype "
    "parallel_iterations swap_memory time_major scope",
    _both_ways,
    main="x",
    untested="TensorFlow 1 only",
    pure=False,
)
