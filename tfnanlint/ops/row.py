"""The type of the rows in the table of ops. Below `site`, which applies a row, and `ops`, which
makes the rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Mapping

from tfnanlint.values.value import Value

Site = Any  # a `site.Site`: only what makes rows and applies them looks into it


@dataclass(frozen=True, eq=False)
class Op:
    """One row.

    `params` in positional order; a name with a leading `*` takes the rest. `positions` holds other
    orders by alias (`np.sum` has axis second where `tf.reduce_sum` has too, but `K.clip` and
    `tf.where` of TF1 may differ). `gives` computes the result's value. `needs` maps a parameter to
    what it must be: "positive", "nonnegative", "nonzero", "above -1", "inside (-1, 1)". `gradient`
    says in words where the derivative is not finite although the value is. `masked` tells in which
    modes masking the result afterwards leaves a NaN gradient: "all", "xla", or "". `passes` names
    the parameter whose values come out unchanged (identity, reshape). `main` is the parameter the
    trace follows. `pure` is False for random sources, variables and effects. `reference` spells the
    TensorFlow expression that the soundness test runs; empty for rows that cannot be executed alone
    (the reason stands in `untested`). `refines` names a condition and the branches it holds (fails)
    in: tf.where, tf.boolean_mask. `bounds` marks rows whose result is an operand or a limit for it:
    tf.maximum, tf.clip_by_value. `floatx` marks rows that Keras computes in its floatx where no
    dtype is asked for: K.constant, keras.random.normal. `reaches` holds numbers that the result is
    exactly, for finite arguments and not only far out or for all 0: 0 of relu, 1 and -1 of tanh.
    `recasts` marks rows whose spelling in Keras casts a float32 that it is given to its floatx:
    ops.cbrt. `starts` names the parameter that says what the variable starts with which a row
    makes; empty where it makes none. `edges` names the parameters that must keep to a range, or at
    one number of which the gradient is lost. `derivative` is (factor, exponent) of a derivative
    that is a power of the argument: (0.5, -0.5) of sqrt. `hands_on` marks rows whose result is what
    a function gives that they call: functools.reduce. `signatures` holds the orders of all
    spellings, of any row, that were found to differ from the row's. `applies` names the parameters
    whose functions the row calls with values: `fn` of tf.map_fn. `shaped_by` names the parameter
    that is the shape of the result: `dims` of tf.fill. `flattening` holds the spellings whose
    result has one axis: np.ravel, which is tf.reshape. `of_arrays` holds the spellings that give
    an array where they are given one: keras.utils.normalize. `rank` is how many axes the output of
    a layer has, where its kind says so: 4 of Conv2D. `promotes` says what NumPy and Keras make of
    whole numbers and truth values where TensorFlow leaves them as they are: "floats", at least
    where they are not rounded, or "wider" ones; "floats, as the row says" where `gives` tells the
    dtype. `axis_first` is the order of TensorFlow before 1.0 in rows that took a number first, the
    axis: `tf.concat(1, [a, b])`.
    """

    name: str
    aliases: tuple[str, ...]
    params: tuple[str, ...]
    gives: Callable[[Site], Value]
    needs: Mapping[str, str] = field(default_factory=dict)
    gradient: str = ""
    masked: str = ""
    passes: str = ""
    main: str = ""
    pure: bool = True
    positions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    reference: str = ""
    untested: str = ""
    refines: tuple[str, ...] = ()
    bounds: bool = False
    starts: str = ""
    floatx: bool = False
    recasts: bool = False
    reaches: tuple[float, ...] = ()
    edges: tuple[str, ...] = ()
    derivative: tuple[float, float] | None = None
    hands_on: bool = False
    signatures: Mapping[str, str] = field(default_factory=dict)
    applies: tuple[str, ...] = ()
    shaped_by: str = ""
    flattening: tuple[str, ...] = ()
    of_arrays: tuple[str, ...] = ()
    rank: int = 0
    promotes: str = ""
    axis_first: tuple[str, ...] = ()

    def params_of(self, alias: str) -> tuple[str, ...]:
        """Parameter order of one spelling."""
        order = self.positions.get(alias)
        if order is None and alias in self.signatures:
            return tuple(self.signatures[alias].split())
        return order or self.params
