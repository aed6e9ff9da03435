"""The logarithm of a value as a sum of the logarithms of its factors, of exponents and of logits;
and what floor suits a logarithm.

`log(exp(-d / 2) / (s * c))` is `-d / 2 - log(s * c)`: what overflows or underflows is never
computed.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tfnanlint.diagnostics.findings import EPSILON
from tfnanlint.idioms.exponents import exponential_beside_one
from tfnanlint.idioms.moments import squared
from tfnanlint.idioms.probabilities import PRODUCERS, Probability, probability
from tfnanlint.idioms.quantities import Quantity, quantity
from tfnanlint.ops.models.variables import VARIABLES, started
from tfnanlint.ops.site import Site, made_by, same
from tfnanlint.ops.traits import CASTS, CEILINGS, LOGARITHM_PRODUCTS, LOGARITHM_SUMS
from tfnanlint.rewrite.availability import argument
from tfnanlint.rewrite.epsilons import epsilon
from tfnanlint.values.value import Note, Value, rounded

_WRITTEN = (ast.Constant, ast.Slice, ast.Tuple, ast.UnaryOp, ast.USub, ast.Load)


# What is under a logarithm


def is_density(value: Value, depth: int = 12) -> bool:
    """Whether a value is a density, or a product, quotient or weighted sum of such:
    `exp(-d / 2) / s`, `dist.prob(x)`.

    Most densities of a first step are far below any floor that one would choose.
    """
    return _holds(value, _is_bell, depth)


def _is_bell(site: Site, within: bool) -> bool:
    """Whether an op gives a density, or its exponential: alone `exp(x)` may be a rate or a scale,
    as a factor of something it may not.
    """
    if site.op.name == "method.prob":
        return True
    return (
        site.op.name == "tf.exp"
        and site.library not in ("np", "math")
        and (within or site.value("x").hi <= 0)
    )


def _holds(
    value: Value, wanted: Callable[[Site, bool], bool], depth: int, within: bool = False
) -> bool:
    site = value.origin
    if not isinstance(site, Site) or depth == 0:
        return False
    if wanted(site, within):
        return True
    name = site.op.name
    if name in CASTS or site.op.passes:
        return _holds(site.value(site.op.passes or "x"), wanted, depth - 1, within)
    if name in LOGARITHM_PRODUCTS or name in LOGARITHM_SUMS or name == "tf.add":
        within = within or name in LOGARITHM_PRODUCTS
        return any(
            [
                _holds(site.value(param), wanted, depth - 1, within)
                for param in ("x", "y", "inputs")
                if site.given(param)
            ]
        )
    return False


def is_one_minus(value: Value) -> bool:
    """Whether a value is 1 minus another: it is 0, or no smaller than the distance of the numbers
    beside 1.
    """
    minus = made_by(value, "tf.subtract", aligned=True)
    return minus is not None and minus.value("x").exact and minus.value("x").lo == 1.0


def absorbed_bound(value: Value) -> bool:
    """Whether a value is 0 because the bound of what it is 1 minus was rounded to 1: it is mended
    where that is written.
    """
    minus = made_by(value, "tf.subtract", aligned=True)
    clip = made_by(minus.value("y"), *CEILINGS, aligned=True) if minus is not None else None
    bounds = (
        [clip.value(param) for param in ("clip_value_max", "x", "y") if clip.given(param)]
        if clip is not None
        else []
    )
    return any(
        bound.is_number and 0.5 < float(bound.const) < 1 == rounded(float(bound.const), value.dtype)
        for bound in bounds
    )


def computed_probability(value: Value, depth: int = 6) -> Probability | None:
    """The softmax or sigmoid whose output a value is, or of which it picks elements: its logits
    have a logarithm of their own. Of a parameter, that which a caller gives; None for others.
    """
    whole = probability(value)
    site = value.origin
    if whole is not None or depth == 0:
        return whole
    if isinstance(site, Note):
        parts = [_from_site(origin) for origin in site.joined if isinstance(origin, Site)]
        return next((part for part in parts if part is not None), None)
    if not isinstance(site, Site) or _is_sigmoid_by_hand(site):
        return Probability(site) if isinstance(site, Site) else None
    param = "y" if is_one_minus(value) and site.op.name == "tf.subtract" else site.op.passes
    if param:
        return computed_probability(site.value(param), depth - 1)
    distance = made_by(site.value("x"), "tf.subtract") if site.op.name == "tf.abs" else None
    if distance is not None:  # of labels from probabilities
        ends = [computed_probability(distance.value(end), depth - 1) for end in ("x", "y")]
        return next((end for end in ends if end is not None), None)
    chosen = one_hot_choice(site) if site.op.name == "tf.reduce_sum" else None
    return computed_probability(chosen[0].value(chosen[1]), depth - 1) if chosen else None


def _from_site(site: Site) -> Probability | None:
    """The probability that a softmax or sigmoid gives, as one of several values that arrive."""
    is_computed = site.op.name in PRODUCERS or _is_sigmoid_by_hand(site)
    return Probability(site) if is_computed else None


def _is_sigmoid_by_hand(site: Site) -> bool:
    """Whether a site is the quotient of `1 / (1 + exp(-x))`."""
    return site.op.name == "tf.divide" and exponential_beside_one(site.value("y")) is not None


def is_share(value: Value) -> bool:
    """Whether a value is a quotient whose dividend is not negative, by a divisor of which nothing
    is known: an overlap by a union.
    """
    quotient = made_by(value, "tf.divide", aligned=True)
    return quotient is not None and quotient.value("x").lo >= 0 and not quotient.value("y").known


def is_count(value: Value) -> bool:
    """Whether a value is a whole number that was made a float, or a sum of such."""
    return quantity(value) is Quantity.COUNT


def starts_positive(value: Value) -> bool:
    """Whether a value is a variable that starts above 0: training may move it below, the program
    does not mean that.
    """
    variable = made_by(value, *VARIABLES)
    return variable is not None and started(variable).lo > 0


def floor_of(value: Value, configured: float = EPSILON, use: str = "logarithm") -> str:
    """The floor for what a logarithm is taken of, or the number that is added to it (`use`), as
    text: below all numbers that occur, with a finite reciprocal.

    An epsilon that is configured, other than the default, is taken as it is; and the default for a
    weight, whose numbers do not underflow.
    """
    use = "complement" if is_one_minus(value) else use
    return epsilon(
        "floor" if configured != EPSILON or starts_positive(value) else use, value.dtype, configured
    )


# The logarithm as a sum


class _NoForm(Exception):
    """A value whose logarithm is no sum that is known to be equal."""


@dataclass
class _Sum:
    """Terms with coefficients, and a number. `stable`: an exponential, a softmax or a similar op is
    no longer computed.
    """

    terms: list[tuple[float, str]] = field(default_factory=list)
    number: float = 0.0
    stable: bool = False

    def plus(self, addend: _Sum, factor: float = 1.0) -> _Sum:
        terms = [*self.terms, *((factor * weight, text) for weight, text in addend.terms)]
        return _Sum(terms, self.number + factor * addend.number, self.stable or addend.stable)

    def text(self) -> str:
        """The sum as a template, a term with a plus sign first."""
        parts = sorted(self.terms, key=lambda term: term[0] < 0)
        if self.number:
            parts.append((math.copysign(1.0, self.number), repr(abs(self.number))))
        template = ""
        for weight, text in parts:
            sign = ("-" if weight < 0 else "") if not template else " - " if weight < 0 else " + "
            template += sign + (text if abs(weight) == 1 else f"{abs(weight)!r} * {text}")
        return template


def log_form(log: Site, param: str = "x") -> tuple[str, dict[str, Any]] | None:
    """Template and holes of the logarithm of an argument without what underflows in it; None where
    there is no such form.
    """
    form = _Form()
    try:
        total = form.of(log, param)
    except _NoForm:
        return None
    return (total.text(), form.holes) if total.stable else None


class _Form:
    """One logarithm on its way to a sum."""

    def __init__(self) -> None:
        self.holes: dict[str, Any] = {}
        self.unsigned = 0

    def of(self, parent: Site, param: str, summed: bool = False, depth: int = 12) -> _Sum:
        """The logarithm of an argument; of a summand no factor may be 0, of which the sum says
        nothing.
        """
        site = parent.value(param).origin
        handler = (
            _FORMS.get(site.op.name) if isinstance(site, Site) and site.complete and depth else None
        )
        if handler is None and isinstance(site, Site) and depth and _picks(site):
            handler = _picked
        logarithm = handler(self, site, summed, depth - 1) if handler is not None else None
        return (
            logarithm
            if logarithm is not None and logarithm.stable
            else self.leaf(parent, param, summed)
        )

    def leaf(self, parent: Site, param: str, summed: bool) -> _Sum:
        """A factor as it stands: a number, or a tensor of which the logarithm is taken."""
        value = parent.value(param)
        inverse = made_by(value, "tf.divide", aligned=True)
        if (
            inverse is not None
            and inverse.value("x").is_number
            and inverse is value.origin
            and inverse.complete
        ):
            return self.leaf(inverse, "x", summed).plus(self.leaf(inverse, "y", summed), -1.0)
        if value.is_number:
            if not float(value.const) > 0:
                raise _NoForm
            return _Sum(number=math.log(float(value.const)))
        if value.kind != "tensor" or value.known and value.lo < 0 or _unsplit(value):
            # a number of Python, of which the logarithm may have another dtype, or a sign that may
            # be lost
            raise _NoForm
        self.unsigned += not value.known
        if self.unsigned > 1 or summed and not value.positive:
            raise _NoForm
        return _Sum([(1.0, "tf.math.log({%s})" % self.hole(parent, param, "factor"))])

    def hole(self, site: Site, param: str, word: str = "") -> str:
        """The name of a hole for an argument."""
        name = f"h{len(self.holes)}"
        self.holes[name] = argument(site, param, word)
        return name

    def optional(self, site: Site, *params: str) -> str:
        """`, axis={h3}` for the settings that are given."""
        return "".join(
            f", {param}={{{self.hole(site, param)}}}" for param in params if site.given(param)
        )


def _exponential(form: _Form, site: Site, summed: bool, depth: int) -> _Sum | None:
    if site.library in ("np", "math"):
        return None
    return _Sum([(1.0, "{%s}" % form.hole(site, "x", "exponent"))], stable=True)


def _product(form: _Form, site: Site, summed: bool, depth: int) -> _Sum | None:
    if not _splits(site.value("x")) and not _splits(site.value("y")):
        return None
    sigmoid = site.value("x").origin
    rest = site.value("y").origin if site.op.name == "tf.divide" else None
    if (
        isinstance(sigmoid, Site)
        and sigmoid.op.name == "tf.sigmoid"
        and isinstance(rest, Site)
        and rest.op.name == "tf.subtract"
        and rest.value("y").origin is sigmoid
        and rest.value("x").exact
        and rest.value("x").lo == 1
    ):
        # the logarithm of the odds
        return _Sum([(1.0, "{%s}" % form.hole(sigmoid, "x", "logits"))], stable=True)
    return form.of(site, "x", summed, depth).plus(
        form.of(site, "y", summed, depth), -1.0 if site.op.name == "tf.divide" else 1.0
    )


def _power(form: _Form, site: Site, summed: bool, depth: int) -> _Sum | None:
    exponents = {"tf.square": 2.0, "tf.sqrt": 0.5, "tf.math.reciprocal": -1.0}
    exponent = exponents.get(site.op.name)
    if exponent is None and site.value("y").is_number:
        exponent = float(site.value("y").const)
    if exponent is None or not _splits(site.value("x")):
        return None
    return _Sum().plus(form.of(site, "x", summed, depth), exponent)


def _softmax(form: _Form, site: Site, summed: bool, depth: int) -> _Sum | None:
    call = (
        f"tf.nn.log_softmax({{{form.hole(site, 'logits', 'logits')}}}{form.optional(site, 'axis')})"
    )
    return _Sum([(1.0, call)], stable=True)


def _sigmoid(form: _Form, site: Site, summed: bool, depth: int) -> _Sum | None:
    return _Sum([(1.0, "tf.math.log_sigmoid({%s})" % form.hole(site, "x", "logits"))], stable=True)


def _complement(form: _Form, site: Site, summed: bool, depth: int) -> _Sum | None:
    minuend, sigmoid = site.value("x"), site.value("y").origin
    if (
        not minuend.exact
        or minuend.lo != 1
        or not isinstance(sigmoid, Site)
        or sigmoid.op.name != "tf.sigmoid"
        or not sigmoid.complete
    ):
        return None
    return _Sum([(-1.0, "tf.math.softplus({%s})" % form.hole(sigmoid, "x", "logits"))], stable=True)


def _of_one_more(form: _Form, site: Site, summed: bool, depth: int) -> _Sum | None:
    """log(1 + exp(x)), log(x + sqrt(x^2 + 1))."""
    for param, rest in (("x", "y"), ("y", "x")):
        exp = site.value(rest).origin
        if (
            site.value(param).exact
            and site.value(param).lo == 1
            and isinstance(exp, Site)
            and exp.op.name == "tf.exp"
            and exp.complete
        ):
            return _Sum(
                [(1.0, "tf.math.softplus({%s})" % form.hole(exp, "x", "exponent"))], stable=True
            )
        root = made_by(site.value(rest), "tf.sqrt", aligned=True)
        if root is not None and _is_square_and_one(root.value("x"), site.value(param)):
            return _Sum(
                [(1.0, "tf.math.asinh({%s})" % form.hole(site, param, "ratio"))], stable=True
            )
    return None


def _is_square_and_one(total: Value, x: Value) -> bool:
    """Whether a value is x^2 + 1."""
    add = made_by(total, "tf.add", aligned=True)
    for constant, power in (("x", "y"), ("y", "x")) if add is not None else ():
        square = squared(add.value(power))
        if (
            square is not None
            and add.value(constant).exact
            and add.value(constant).lo == 1
            and same(square.value("x"), x)
        ):
            return True
    return False


def _density(form: _Form, site: Site, summed: bool, depth: int) -> _Sum | None:
    dist, x = form.hole(site, "self", "distribution"), form.hole(site, "value", "sample")
    return _Sum([(1.0, f"{{{dist}}}.log_prob({{{x}}})")], stable=True)


def _reduced(form: _Form, site: Site, summed: bool, depth: int) -> _Sum | None:
    """The sum of the logarithms of the factors of a product; the logsumexp of those of the
    summands.
    """
    adds = site.op.name == "tf.reduce_sum"
    if site.library == "method" or not _splits(site.value("x")):
        return None
    chosen = one_hot_choice(site) if adds else None
    if chosen is not None:
        product, param, mask = chosen
        inner = form.of(product, param, summed, depth)
        if len(inner.terms) != 1:
            return None
        factors = [inner.text(), f"{{{form.hole(product, mask, 'mask')}}}"]
        picked = " * ".join(factors if param == "x" else factors[::-1])
        return _Sum(
            [(1.0, f"tf.reduce_sum({picked}{form.optional(site, 'axis', 'keepdims')})")],
            stable=inner.stable,
        )
    inner = form.of(site, "x", adds or summed, depth)
    if not inner.stable:
        return None
    name = "tf.reduce_logsumexp" if adds else "tf.reduce_sum"
    return _Sum(
        [(1.0, f"{name}({inner.text()}{form.optional(site, 'axis', 'keepdims')})")], stable=True
    )


def one_hot_choice(total: Site) -> tuple[Site, str, str] | None:
    """The product in `reduce_sum(p * one_hot(y), axis=-1)` with the parameters of p and of the
    mask, which picks one element of a row.

    None also where p is a softmax of logits that can be -Inf: 0 times their logarithm is NaN.
    """
    product = total.value("x").origin
    if (
        not isinstance(product, Site)
        or product.op.name != "tf.multiply"
        or total.const("axis") not in (-1, 1)
    ):
        return None
    for param, mask_param in (("x", "y"), ("y", "x")):
        mask, p = (
            made_by(product.value(mask_param), "tf.one_hot", aligned=True),
            product.value(param).origin,
        )
        if (
            mask is None
            or not mask.complete
            or any(mask.given(given) for given in ("on_value", "off_value", "axis"))
        ):
            continue
        if isinstance(p, Site) and not (p.given("logits") and p.value("logits").inf):
            return product, param, mask_param
    return None


def written_index(index: ast.expr) -> str:
    """An index as it stands between brackets: `:, 0`, which `ast.unparse` alone puts in
    parentheses.
    """
    return (
        ", ".join(map(ast.unparse, index.elts))
        if isinstance(index, ast.Tuple) and len(index.elts) > 1
        else ast.unparse(index)
    )


def _picked(form: _Form, site: Site, summed: bool, depth: int) -> _Sum | None:
    """The elements of the logarithm, picked as those of the value were."""
    call, passes = site.node, site.op.passes or site.op.main
    if (
        site.library in ("method", "np")
        or passes not in site.args
        or not _splits(site.value(passes))
    ):
        return None
    inner = form.of(site, passes, summed, depth)
    if (
        isinstance(call, ast.Subscript)
        and all(isinstance(node, _WRITTEN) for node in ast.walk(call.slice))
        and len(inner.terms) == 1
    ):
        return _Sum([(1.0, f"({inner.text()})[{written_index(call.slice)}]")], stable=inner.stable)
    if not isinstance(call, ast.Call):
        return None
    written = []
    for call_argument in (*call.args, *call.keywords):
        node, key = (
            (call_argument.value, f"{call_argument.arg}=")
            if isinstance(call_argument, ast.keyword)
            else (call_argument, "")
        )
        param = next((name for name, other in site.args.items() if other is node), None)
        if param is None:
            raise _NoForm
        written.append(
            key + (inner.text() if param == passes else "{%s}" % form.hole(site, param, "index"))
        )
    form.holes[name := f"h{len(form.holes)}"] = (
        site.source.segment(call.func) if site.source is not None else None
    )
    return _Sum([(1.0, f"{{{name}}}({', '.join(written)})")], stable=inner.stable)


def _cumulated(form: _Form, site: Site, summed: bool, depth: int) -> _Sum | None:
    exp = site.value("x").origin
    if summed or not isinstance(exp, Site) or exp.op.name != "tf.exp" or not exp.complete:
        return None
    settings = form.optional(site, "axis", "exclusive", "reverse")
    return _Sum(
        [(1.0, f"tf.math.cumulative_logsumexp({{{form.hole(exp, 'x', 'exponent')}}}{settings})")],
        stable=True,
    )


def _picks(site: Site) -> bool:
    """Whether an op picks or rearranges elements and brings in none: the logarithm may be taken
    before it.
    """
    return bool(site.op.passes) or site.op.name == "tf.linalg.diag_part"


def _unsplit(value: Value) -> bool:
    """Whether a factor is a sum of what overflows or underflows,
    which would be computed as before.
    """
    return _holds(
        value, lambda site, _: site.op.name in _ENDS and site.library not in ("np", "math"), 12
    )


def _splits(value: Value, depth: int = 12) -> bool:
    """Whether a value holds, under products, sums and picks, something whose logarithm has a form
    of its own.
    """
    site = value.origin
    if not isinstance(site, Site) or depth == 0:
        return False
    if site.op.name in _ENDS:
        return site.library not in ("np", "math")
    if site.op.name == "tf.subtract":
        inner = site.value("y").origin
        return site.value("x").exact and isinstance(inner, Site) and inner.op.name == "tf.sigmoid"
    if site.op.name == "tf.add":
        return any(
            [
                site.value(one).exact
                and site.value(one).lo == 1
                and _splits(site.value(other), depth - 1)
                for one, other in (("x", "y"), ("y", "x"))
            ]
        )
    if site.op.name not in _FORMS and not _picks(site):
        return False
    return any([_splits(site.value(param), depth - 1) for param in ("x", "y") if site.given(param)])


_ENDS = {
    "tf.exp": _exponential,
    "tf.nn.softmax": _softmax,
    "tf.sigmoid": _sigmoid,
    "method.prob": _density,
}
_FORMS: dict[str, Callable[[_Form, Site, bool, int], _Sum | None]] = {
    **_ENDS,
    "tf.multiply": _product,
    "tf.divide": _product,
    "tf.square": _power,
    "tf.sqrt": _power,
    "tf.pow": _power,
    "tf.math.reciprocal": _power,
    "tf.subtract": _complement,
    "tf.add": _of_one_more,
    "tf.reduce_prod": _reduced,
    "tf.reduce_sum": _reduced,
    "tf.cumsum": _cumulated,
}
