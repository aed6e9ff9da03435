"""Arguments of logarithms: what, besides bounds, keeps a value above 0 or shows that it is not.

`log(1 / (1 + exp(x)))` reaches -inf only where the divisor overflows; `log(exp(x) - 1)` is a
question of what `x` is.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final

from tfnanlint.guards.post_guards import plain
from tfnanlint.idioms.exponents import shifted_by_maximum
from tfnanlint.idioms.probabilities import step
from tfnanlint.idioms.vanishing import falling, handed_in, picked, shows_zero
from tfnanlint.ops.provenance import Walk, behind, widest
from tfnanlint.ops.site import Site, both_orders, complemented, made_by, operands, same
from tfnanlint.ops.table import SETTINGS
from tfnanlint.ops.traits import (
    COMPLEX_PARTS,
    CONSTANTS,
    FLOAT_CASTS,
    GREATER,
    IDENTITIES,
    INVERSES,
    LESS,
    MAKES_TENSOR,
    OF_ONE_SIGN,
    ONE_HOTS,
    ONE_SIDED,
    SEGMENT_SUMS,
    SPECTRA,
    SQUARES,
)
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import INF, NUMERIC_KINDS, Note, Value

Around = Callable[[ast.AST], list[ast.AST]]  # what stands around a node, innermost first

_CONVERSIONS: Final = (*FLOAT_CASTS, *MAKES_TENSOR, *IDENTITIES)
_OTHER_OPERAND: Final = (("x", "y"), ("y", "x"))
# The parameters of ops that take a constant to fill with.
_FILLS: Final = {
    "tf.pad": ("constant_values",),
    "tf.one_hot": ("on_value", "off_value"),
    "tf.fill": ("x",),
    "tf.where": ("x", "y"),
}
_LEAST_SCALE: Final = 1e-3  # a product with this much of something positive is 0 by underflow only
_MAX_VALUES: Final = 24


def may_reach(x: Value, edge: float) -> bool:
    """Whether a value may come to the edge of the domain of a logarithm, as far as its bounds and
    what it is made from tell. False: it stays above, but for rounding.
    """
    if x.lo > edge or x.guarded:
        return False
    if edge == 0 and (x.positive or _has_zeros_replaced(x)):
        return False
    if x.hi <= edge:
        return True
    return not (_is_positive_quotient(x, edge) or any(keeps(x) for keeps in _KEPT_ABOVE))


def _has_zeros_replaced(x: Value) -> bool:
    """Whether nothing bounds a value from below, but its zeros have been replaced."""
    return x.lo == -INF and not x.zero and x.hi > 0


def _is_size(x: Value) -> bool:
    """Whether a value is a Python number, or a size made a tensor (`tf.cast(n - 1, "float32")`)."""
    x = widest(x)
    cast = made_by(x, *FLOAT_CASTS, *CONSTANTS)
    return x.kind == "number" or cast is not None and cast.value("x").kind == "number"


def _is_positive_quotient(x: Value, edge: float) -> bool:
    """Whether a value is something positive divided by something that is not negative: 0 only where
    the divisor overflows.
    """
    site = made_by(x, *INVERSES)
    if site is None or x.lo < edge:
        return False
    return site.op.name == "tf.math.reciprocal" or site.value("x").positive or falling(x)


def _is_scaled_positive(x: Value) -> bool:
    """Whether a value is a multiple of something positive (`0.05 * deviation`): 0 by underflow
    only.
    """
    product = made_by(x, "tf.multiply")
    if product is None or x.lo < 0:
        return False
    return any(
        scale.exact and scale.lo >= _LEAST_SCALE and other.positive
        for scale, other in both_orders(product)
    )


# What keeps a value above 0 though its bounds do not.
_KEPT_ABOVE: Final[tuple[Callable[[Value], bool], ...]] = (
    _is_size,
    picked,
    _is_scaled_positive,
    step,
)


def is_magnitude(x: Value) -> bool:
    """Whether a value is the square, magnitude, root, direction or `exp(v) - 1` of a value of which
    nothing is known, or a sum of such: 0, or below, only where that is. Not of a spectrum, which
    is 0 for silence.
    """
    x = widest(plain(x))
    negation = made_by(x, "tf.negative")
    x = x if negation is None else negation.value("x")
    site = _magnitude_op(x)
    if site is None:
        return False
    if site.op.name == "tf.pow" and (negation is not None or not site.value("y").is_number):
        return False
    if site.op.name == "tf.add":  # a sum of what is not known has no bounds
        return all(is_magnitude(part) for part in operands(site))
    part = site.value("x")
    if _is_of_spectrum(part):
        return False
    return not part.known or handed_in(part) or is_magnitude(part)


def _is_of_spectrum(part: Value) -> bool:
    """Whether a value is the spectrum of a signal, or its real or imaginary part: each bin is 0
    where the signal is silent, as where it was padded.
    """
    inner = plain(part)
    complex_part = made_by(inner, *COMPLEX_PARTS)
    inner = inner if complex_part is None else plain(complex_part.value(complex_part.op.main))
    return made_by(inner, *SPECTRA) is not None


def is_power_of_spectrum(x: Value) -> bool:
    """Whether a value is the magnitude of a spectrum, or its power: features of sound, of which
    that of silence is 0.
    """
    magnitude = made_by(widest(plain(x)), *SQUARES, "tf.pow", "tf.abs")
    if magnitude is not None and magnitude.op.name != "tf.abs":
        magnitude = made_by(widest(plain(magnitude.value("x"))), "tf.abs")
    return magnitude is not None and _is_of_spectrum(magnitude.value("x"))


def is_one_hot(x: Value) -> bool:
    """Whether a value is a code of classes as it is made: 0 in all places but one."""
    code = made_by(plain(x), *ONE_HOTS)
    return code is not None and x.lo == 0 and code.value("depth").lo > 1


def _magnitude_op(x: Value) -> Site | None:
    """The op that makes a value a magnitude: the exponential of `exp(v) - 1`."""
    difference = made_by(x, "tf.subtract")
    if difference is not None and difference.value("y").exact and difference.value("y").lo == 1:
        return made_by(difference.value("x"), "tf.exp")
    return made_by(x, *ONE_SIDED)


def has_zero_dividend(x: Value) -> bool:
    """Whether a value of which nothing else is known is 0 where the program shows that its dividend
    can be: a product of lengths that are cut off at 0, the overlap of two boxes. A dividend that
    rounds to 0 only, or counts, does not show it.
    """
    quotient = made_by(plain(widest(plain(x))), "tf.divide")
    if quotient is None:
        return False
    dividend = quotient.value("x")
    if made_by(plain(dividend), "tf.multiply", "tf.reduce_prod") is None:
        return False
    return dividend.lo == 0 and dividend.zero and shows_zero(dividend)


def is_odds(x: Value) -> bool:
    """Whether a value is `p / (1 - p)`, with a probability that nothing keeps off 0 and 1: its
    logarithm is the logit, -inf at 0 and inf at 1.
    """
    quotient = made_by(plain(widest(plain(x))), "tf.divide")
    rest = complemented(quotient.value("y")) if quotient is not None else None
    if quotient is None or rest is None:
        return False
    chance = quotient.value("x")
    return not chance.guarded and same(plain(rest), plain(chance))


def is_kept_within_settings(x: Value) -> bool:
    """Whether a value of which nothing is known is clipped at a limit that a parameter or an
    attribute names, `tf.clip_by_value(p, margin, 1 - margin)`: who writes it has thought of 0.
    """
    clip = made_by(x, "tf.clip_by_value", aligned=True)
    if clip is None or not clip.given("clip_value_min"):
        return False
    limit, node = clip.value("clip_value_min"), clip.args.get("clip_value_min")
    note = behind(limit)
    is_named = isinstance(note, Note) and bool(note.parameter or note.path)
    return is_named and not limit.known and isinstance(node, (ast.Name, ast.Attribute))


def is_reciprocal_root(x: Value) -> bool:
    """Whether a value is `1 / sqrt(v)`, or a number times that: it is above 0 wherever it is a
    number, and where it is none it is said of the root.
    """
    site = made_by(x, "tf.math.rsqrt", "tf.multiply")
    if site is None or site.op.name == "tf.math.rsqrt":
        return site is not None
    return any(
        scale.kind == "number" and made_by(other, "tf.math.rsqrt")
        for scale, other in both_orders(site)
    )


def is_made_of_parameters(x: Value, depth: int = 4) -> bool:
    """Whether a value is made of parameters and numbers only; what callers in the project pass is
    computed.
    """
    site = x.origin
    if not isinstance(site, Site):
        return x.kind == "number" or isinstance(site, Note) and site.given
    return depth > 0 and all(
        is_made_of_parameters(site.value(param), depth - 1)
        for param in site.args
        if param not in SETTINGS
    )


def comes_from_elsewhere(x: Value) -> bool:
    """Whether a value comes from callers in the project, or from an object, that could not be
    followed: there may well be a guard on the way.
    """
    walk = Walk(x, limit=_MAX_VALUES)
    for value in walk:
        origin = value.origin
        if value.kind not in NUMERIC_KINDS:
            continue  # the layer of a weight, the name of an initializer
        if origin is None and not value.known and value.kind != "number":
            return True
        while isinstance(origin, Note):
            if origin.passed or not value.known and _is_of_object(origin):
                return True
            origin = origin.parent
        if isinstance(origin, Site):
            walk.enter(origin, origin.args)
    return False


def _is_of_object(origin: Note) -> bool:
    """Whether a value is an attribute of an object, or what a method of an attribute gave:
    `self.kernel.variance_at(x)`.
    """
    is_method = origin.text.startswith("the call '") and origin.text.count(".") >= 2
    return is_method or bool(origin.path)


def is_shifted_sum(x: Value) -> bool:
    """Whether a value is a sum within groups of exponentials less the maximum of their group: it is
    at least 1, or 0 for a group of none, whose logarithm is meant to be -Inf.
    """
    total = made_by(x, *SEGMENT_SUMS)
    exponential = made_by(total.value("x"), "tf.exp") if total is not None else None
    return exponential is not None and shifted_by_maximum(exponential.value("x"))


def is_replaced_beyond_limit(x: Value, depth: int = 4) -> bool:
    """Whether a choice puts a positive number where a value is beyond a limit that no one can tell
    but that is not below 0 (`tf.where(x > limit, x, 1)`, with a limit of the dtype), perhaps under
    functions that keep the sign.
    """
    choice = made_by(x, "tf.where")
    if choice is None:
        inner = made_by(x, *OF_ONE_SIGN) if depth else None
        return inner is not None and is_replaced_beyond_limit(inner.value("x"), depth - 1)
    for param, kept_branch in _OTHER_OPERAND:
        put, kept = choice.value(param), choice.value(kept_branch)
        if put.exact and put.positive and kept.zero:
            if _says_beyond(choice.value("condition"), kept, kept_branch == "x"):
                return True
    return False


def _says_beyond(condition: Value, kept: Value, truth: bool) -> bool:
    """Whether a condition with this truth says that a value is above a limit of which nothing is
    known, or that is not below 0.
    """
    both = made_by(condition, "tf.logical_and" if truth else "tf.logical_or")
    if both is not None:
        return any(_says_beyond(part, kept, truth) for part in operands(both))
    greater, less = (GREATER, LESS) if truth else (LESS, GREATER)
    for names, subject, bound in ((greater, "x", "y"), (less, "y", "x")):
        test = made_by(condition, *names)
        if test is None or not same(test.value(subject), kept):
            continue
        limit = test.value(bound)
        if not limit.known or limit.lo >= 0 and limit.hi > 0:
            return True
    return False


# What is done with the logarithm


def is_fill_value(log: Site, interpreter: Evaluator, around: Around) -> bool:
    """Whether a logarithm of a constant is written where a constant to fill with is asked for
    (`tf.pad(..., constant_values=tf.math.log(0.0))`): -inf is what is wanted.
    """
    if not isinstance(log.args.get("x"), ast.Constant):
        return False
    outer = next((node for node in around(log.node) if not isinstance(node, ast.keyword)), None)
    site = interpreter.site(outer, log.point) if isinstance(outer, ast.Call) else None
    if site is None:
        return False
    return any(site.args.get(param) is log.node for param in _FILLS.get(site.op.name, ()))


def is_factor(log: Site, around: Around) -> bool:
    """Whether a logarithm is a factor beside something other than a written number: 0 * log(0), of
    a rate of which nothing was counted, is NaN.
    """
    outer = next(iter(around(log.node)), None)
    if not isinstance(outer, ast.BinOp) or not isinstance(outer.op, ast.Mult):
        return False
    return not isinstance(outer.left if outer.right is log.node else outer.right, ast.Constant)


def is_wrapped(log: Site, interpreter: Evaluator) -> bool:
    """Whether a function is a name for the logarithm to some base and no more,
    `def log(x): return tf.math.log(tf.cast(x, dtype))`: its callers decide.
    """
    if log.point is None or log.point.over is not None or log.point.scope.function is None:
        return False
    function = log.point.scope.function.node
    if not isinstance(function, ast.FunctionDef):
        return False
    *before, last = function.body
    if not all(map(_computes_nothing, before)) or _returned(last, log, interpreter) is not log.node:
        return False
    argument = behind(log.value("x"))
    while isinstance(argument, Site) and argument.op.name in _CONVERSIONS:
        argument = behind(argument.value("x"))
    is_parameter = isinstance(argument, Note) and bool(argument.parameter)
    return is_parameter and isinstance(log.args.get("x"), (ast.Name, ast.Call))


def _computes_nothing(statement: ast.stmt) -> bool:
    """Whether a statement gives something a name, or is a docstring."""
    is_constant = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return is_constant or isinstance(statement, ast.Assign)


def _returned(statement: ast.stmt, log: Site, interpreter: Evaluator) -> ast.expr | None:
    """What a return statement gives; of a quotient by something positive, what is divided."""
    result = statement.value if isinstance(statement, ast.Return) else None
    if isinstance(result, ast.BinOp) and isinstance(result.op, ast.Div):
        if interpreter.ask(result.right, log.point).lo > 0:
            return result.left
    return result
