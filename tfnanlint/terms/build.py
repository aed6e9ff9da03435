"""The terms of values: what they are computed from, through variables, helpers and files.

A value has several terms where it is one of several (branches, returns of a helper): a fact holds
if it holds of each, a hazard shows if it shows in one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable
from typing import Any, Final

from tfnanlint.ops.site import Site
from tfnanlint.ops.table import SETTINGS
from tfnanlint.ops.traits import CASTS, COPIES, MAKES_TENSOR
from tfnanlint.syntax.nodes import adds_axes, nodes_in
from tfnanlint.terms.term import (
    MOST_MONOMIALS,
    PLACED,
    SYMBOL,
    Atom,
    Term,
    added,
    constant,
    multiplied,
    of_atom,
    placed,
    raised,
    scaled,
    sign_of,
)
from tfnanlint.values.session import Session
from tfnanlint.values.value import INF, NO_CONSTANT, WHOLE, Note, Value

Terms = tuple[Term, ...]

MEAN: Final = "mean"
TOTAL: Final = "total"
DOT: Final = "dot"
VARIANCE: Final = "tf.math.reduce_variance"
MOST_OPTIONS: Final = 6  # terms of one value
_DEPTH: Final = 24
_MAX_BEHIND: Final = 200  # choices between a value and the application that it comes from
_WINDOW: Final = ("ksize", "strides", "padding")

_SAME_ELEMENTS: Final = frozenset(
    (
        *COPIES,
        *MAKES_TENSOR,
        *CASTS,
        "keras.activations.linear",
        "method.value",
        "method.read_value",
        "method.numpy",
    )
)
_MOVES: Final = {
    "tf.reshape": "shape",
    "tf.squeeze": "axis",
    "tf.expand_dims": "axis",
    "tf.transpose": "perm",
    "tf.tile": "multiples",
    "tf.broadcast_to": "shape",
    "method.flatten": "",
    "method.ravel": "",
    "method.squeeze": "axis",
    "method.reshape": "shape",
}
_MOMENTS: Final = {"tf.nn.moments": "axes"}
_MEANS: Final = {"tf.reduce_mean": "x", "method.mean": "self"}
_SUMS: Final = {"tf.reduce_sum": "x", "method.sum": "self"}
_EUCLIDEAN: Final = ("euclidean", "fro", 2, 2.0)
_DOTS: Final = {
    "tf.matmul": ("x", "y"),
    "tf.tensordot": ("x", "y"),
    "tf.linalg.matvec": ("x", "y"),
    "ops.vdot": ("x", "y"),
    "method.dot": ("self", "y"),
}


def terms_of(value: Value, depth: int = _DEPTH) -> Terms:
    """The terms of a value: one, or one for each way in which it can arise."""
    if value.exact and value.kind != "sequence":
        return (constant(value.lo),)
    origin = value.origin
    if depth == 0:
        if isinstance(origin, Site) and origin.interpreter is not None:
            origin.interpreter.session.terms_cut += 1
        return (symbol(value),)
    if isinstance(origin, Note) and origin.options:
        return _options(value, origin, depth)
    if isinstance(origin, Note) and origin.index is not None:
        return _moment(value, origin, depth) or (symbol(value),)
    if not isinstance(origin, Site):
        return (symbol(value),)
    session = origin.interpreter.session if origin.interpreter is not None else None
    return _built(value, origin, depth) if session is None else _held(value, origin, depth, session)


def _held(value: Value, site: Site, depth: int, session: Session) -> Terms:
    """The terms as they were made before; of what was cut off, at the same depth."""
    for key in ((value.token, 0), (value.token, depth)):
        held = session.terms.get(key)
        if held is not None:
            return held
    cut = session.terms_cut
    built = _built(value, site, depth)
    session.terms[value.token, 0 if session.terms_cut == cut else depth] = built
    return built


def term_of(value: Value) -> Term:
    """The term of a value; where it is one of several, a symbol."""
    terms = terms_of(value)
    return terms[0] if len(terms) == 1 else symbol(value)


def terms_at(site: Site) -> Terms:
    """The terms of what an application gives."""
    value = site.result if site.result is not None else site.give().but(origin=site)
    return terms_of(value)


def symbol(value: Value) -> Term:
    """What the algebra knows nothing of but its bounds: equal for values that surely are equal."""
    origin = value.origin
    site = origin if isinstance(origin, Site) else None
    token: Any = value.token if site is None else site
    return of_atom(Atom(SYMBOL, (), (token,), value, site=site))


def _moment(value: Value, note: Note, depth: int) -> Terms | None:
    """The terms of one of the two that `moments` gives, a mean and a variance."""
    site = note.parent
    if not isinstance(site, Site) or site.op.name not in _MOMENTS or note.index not in (0, 1):
        return None
    axes, inner = setting(site, _MOMENTS[site.op.name], depth), _of(site, "x", depth)
    if note.index == 0:
        return _linear(MEAN, inner, axes, value, site)
    detail: Hashable = (("axis", axes),)
    return tuple([of_atom(Atom(VARIANCE, (term,), detail, value, site=site)) for term in inner])


def _options(value: Value, note: Note, depth: int) -> Terms:
    """The terms of a value that can arise in several ways: of a chain of such, in which each stands
    in two ways of the next, those made before.
    """
    session = _session_of(note)
    held = session.option_terms.get((note, depth)) if session is not None else None
    if held is not None:
        return held
    terms = [term for option in note.options for term in terms_of(option, depth - 1)]
    distinct = tuple(dict.fromkeys(terms))
    if len(distinct) > MOST_OPTIONS:
        distinct = (symbol(value),)
    if session is not None:
        session.option_terms[note, depth] = distinct
    return distinct


def _session_of(note: Note) -> Session | None:
    """That of the application from which what a note tells of comes, if there is one near."""
    origin: Any = note
    for _ in range(_MAX_BEHIND):
        if not isinstance(origin, Note):
            break
        origin = origin.parent
    if not isinstance(origin, Site) or origin.interpreter is None:
        return None
    return origin.interpreter.session


def _built(value: Value, site: Site, depth: int) -> Terms:
    build = _BUILDERS.get(site.op.name)
    terms = build(site, value, depth) if build is not None else None
    if terms is None:
        terms = _applied(site, value, depth)
    if any([len(term.parts) > MOST_MONOMIALS for term in terms]):
        return (symbol(value),)
    return terms


def _of(site: Site, param: str, depth: int) -> Terms:
    return terms_of(site.value(param), depth - 1)


def _paired(a: Terms, b: Terms, combine: Callable[[Term, Term], Term | None]) -> Terms | None:
    """Every combination of two lists of terms; None for too many, or where one is no term."""
    if len(a) * len(b) > MOST_OPTIONS:
        return None
    combined = [combine(left, right) for left in a for right in b]
    terms = [term for term in combined if term is not None]
    return tuple(dict.fromkeys(terms)) if len(terms) == len(combined) else None


# Arithmetic


def _sum(site: Site, value: Value, depth: int) -> Terms | None:
    return _paired(_of(site, "x", depth), _of(site, "y", depth), lambda a, b: added([a, b]))


def _difference(site: Site, value: Value, depth: int) -> Terms | None:
    return _paired(
        _of(site, "x", depth), _of(site, "y", depth), lambda a, b: added([a, scaled(b, -1.0)])
    )


def _negative(site: Site, value: Value, depth: int) -> Terms | None:
    return tuple([scaled(term, -1.0) for term in _of(site, "x", depth)])


def _product(site: Site, value: Value, depth: int) -> Terms | None:
    signs = (sign_of(site.value("x")), sign_of(site.value("y")))
    return _paired(
        _of(site, "x", depth),
        _of(site, "y", depth),
        lambda a, b: multiplied(a, b, signs[0], signs[1]),
    )


def _quotient(site: Site, value: Value, depth: int) -> Terms | None:
    if value.dtype in WHOLE:
        return None
    signs = (sign_of(site.value("x")), sign_of(site.value("y")))

    def divided(a: Term, b: Term) -> Term | None:
        inverse = raised(b, -1.0, signs[1])
        return None if inverse is None else multiplied(a, inverse, signs[0])

    return _paired(_of(site, "x", depth), _of(site, "y", depth), divided)


def _to_the(exponent: float) -> Callable[[Site, Value, int], Terms | None]:
    def build(site: Site, value: Value, depth: int) -> Terms | None:
        return _raised(site, exponent, depth)

    return build


def _raised(site: Site, exponent: float, depth: int) -> Terms | None:
    sign = sign_of(site.value("x"))
    powers = [raised(term, exponent, sign) for term in _of(site, "x", depth)]
    terms = [power for power in powers if power is not None]
    return tuple(terms) if len(terms) == len(powers) else None


def _clipped_root(site: Site, value: Value, depth: int) -> Terms | None:
    """The root of Keras, which takes what is below 0 as 0."""
    return _raised(site, 0.5, depth) if site.value("x").nonnegative else None


def _power(site: Site, value: Value, depth: int) -> Terms | None:
    exponent = site.value("y")
    if not exponent.exact or abs(exponent.lo) > 16:
        return None
    return _raised(site, exponent.lo, depth)


def _squared_difference(site: Site, value: Value, depth: int) -> Terms | None:
    return _paired(
        _of(site, "x", depth),
        _of(site, "y", depth),
        lambda a, b: raised(added([a, scaled(b, -1.0)]), 2.0),
    )


def _listed_sum(site: Site, value: Value, depth: int) -> Terms | None:
    items = site.value(site.op.main).obj
    if not isinstance(items, tuple) or not 0 < len(items) <= MOST_MONOMIALS:
        return None
    sums: Terms | None = _of(site, "start", depth) if site.given("start") else (constant(0.0),)
    for item in items:
        inner = terms_of(item, depth - 1) if isinstance(item, Value) else None
        sums = _paired(sums, inner, lambda a, b: added([a, b])) if sums and inner else None
    return sums


# What keeps the elements


def _itself(site: Site, value: Value, depth: int) -> Terms | None:
    if value.dtype in WHOLE or value.dtype == "bool":
        return None
    param = site.op.passes or "x"
    return _of(site, param, depth) if site.given(param) else None


def _moved(site: Site, value: Value, depth: int) -> Terms | None:
    if isinstance(site.node, ast.Subscript):
        return _sliced(site, value, depth)  # x[:, None]
    how: Hashable = (site.op.name, setting(site, _MOVES[site.op.name], depth))
    return tuple([placed(term, how) for term in _of(site, site.op.passes, depth)])


def _sliced(site: Site, value: Value, depth: int) -> Terms | None:
    """New axes are a move; other slices are parts, equal where the indices are."""
    index = site.node.slice if isinstance(site.node, ast.Subscript) else None
    names = _names_in(index, site) if index is not None else None
    if index is None or names is None:
        return (symbol(value),)
    how: Hashable = ("[]", ast.dump(index), names)
    inner = _of(site, site.op.main, depth)
    if adds_axes(index):
        return tuple([placed(term, how) for term in inner])
    return tuple([of_atom(Atom(site.op.name, (term,), how, value, site=site)) for term in inner])


def _names_in(index: ast.expr, site: Site) -> tuple[Any, ...] | None:
    """The definitions of the names in an index; None where it calls something."""
    inside = nodes_in(index)
    if site.point is None or any([isinstance(node, ast.Call) for node in inside]):
        return None
    return tuple([site.point.lookup(node.id) for node in inside if isinstance(node, ast.Name)])


# Reductions


def _reduced(op: str, param: str) -> Callable[[Site, Value, int], Terms | None]:
    def build(site: Site, value: Value, depth: int) -> Terms | None:
        return _linear(op, _of(site, param, depth), setting(site, "axis", depth), value, site)

    return build


def _linear(op: str, inner: Terms, detail: Hashable, value: Value, site: Site) -> Terms:
    """A linear op on terms: the coefficient of a single monomial stands before it."""
    return tuple([_applied_to(op, term, detail, value, site) for term in inner])


def _applied_to(op: str, term: Term, detail: Hashable, value: Value, site: Site) -> Term:
    single = term.single
    if single is None or term.constant is not None:
        return of_atom(Atom(op, (term,), detail, value, site=site))
    monomial, coefficient = single
    sign = sign_of(value) * (1 if coefficient > 0 else -1)
    atom = Atom(op, (Term({monomial: 1.0}),), detail, sign=sign, site=site)
    return scaled(of_atom(atom), coefficient)


def _norm(site: Site, value: Value, depth: int) -> Terms | None:
    """The root of the sum of squares; other norms are ops of their own."""
    if site.op.name == "tf.norm" and site.const("ord", "euclidean") not in _EUCLIDEAN:
        return None
    squares = [raised(term, 2.0) for term in _of(site, "x", depth)]
    axis = setting(site, "axis", depth)
    totals = [
        _applied_to(TOTAL, square, axis, Value(0.0, INF), site)
        for square in squares
        if square is not None
    ]
    roots = [raised(total, 0.5, 1) for total in totals]
    return tuple([root for root in roots if root is not None]) or None


def _window_mean(site: Site, value: Value, depth: int) -> Terms | None:
    detail: Hashable = ("window", tuple([setting(site, param, depth) for param in _WINDOW]))
    return _linear(MEAN, _of(site, "x", depth), detail, value, site)


def _pooled(site: Site, value: Value, depth: int) -> Terms | None:
    """A mean over windows where the op is told so; else it may be the largest of each."""
    mode = site.const("pooling_type") if site.given("pooling_type") else None
    is_mean = isinstance(mode, str) and mode.lower() == "avg"
    return _window_mean(site, value, depth) if is_mean else None


def _pooled_by_layer(site: Site, value: Value, depth: int) -> Terms | None:
    """A mean over the windows of one layer."""
    if site.library != "layer":
        return None
    detail: Hashable = ("window", id(site.value("layer").obj))
    return _linear(MEAN, _of(site, site.op.main, depth), detail, value, site)


def _window_sum(site: Site, value: Value, depth: int) -> Terms | None:
    """A convolution with a filter that is never negative weighs and adds up."""
    filters = site.value("filters")
    if filters.lo < 0:
        return None
    sizes = tuple([setting(site, param, depth) for param in _WINDOW[1:]])
    detail: Hashable = ("window", sizes, terms_of(filters, depth - 1))
    return _linear(TOTAL, _of(site, "x", depth), detail, value, site)


def _dot(site: Site, value: Value, depth: int) -> Terms | None:
    left, right = _DOTS[site.op.name]
    detail = tuple(
        [(p, setting(site, p, depth)) for p in site.args if p not in (left, right, "name")]
    )
    factor = site.value(right)
    if factor.exact and factor.kind != "number" and factor.lo and not detail:
        sums = _linear(TOTAL, _of(site, left, depth), -1, value, site)
        return tuple([scaled(term, factor.lo) for term in sums])  # by ones: a sum of each row
    return _paired(
        _of(site, left, depth),
        _of(site, right, depth),
        lambda a, b: _bilinear((a, b), detail, value),
    )


def _diagonal(site: Site, value: Value, depth: int) -> Terms | None:
    """The diagonal of the products of all rows of a matrix with each other, `e @ e.T`: the sum of
    squares of each row.
    """
    grams = [_rows_of_gram(term) for term in _of(site, site.op.main, depth)]
    squares = [raised(rows, 2.0) if rows is not None else None for rows in grams]
    totals = [
        _applied_to(TOTAL, square, -1, Value(0.0, INF), site)
        for square in squares
        if square is not None
    ]
    return tuple(totals) if totals and len(totals) == len(grams) else None


def _rows_of_gram(term: Term) -> Term | None:
    """The matrix of which a term is the product with its own transpose; None for other terms."""
    product = term.atom
    if product is None or product.bare.op != DOT or len(product.bare.terms) != 2:
        return None
    left, right = product.bare.terms
    detail = product.bare.detail
    if left == right and detail == (("transpose_b", True),):
        return left
    turned = placed(left, ("tf.transpose", None))
    return left if right == turned and not detail else None


def _einsum(site: Site, value: Value, depth: int) -> Terms | None:
    items = site.value("inputs").obj
    if not isinstance(items, tuple) or len(items) != 2:
        return None
    a, b = (terms_of(item, depth - 1) for item in items)
    detail: Hashable = setting(site, "equation", depth)
    return _paired(a, b, lambda left, right: _bilinear((left, right), detail, value))


def _bilinear(operands: tuple[Term, Term], detail: Hashable, value: Value) -> Term:
    """A product of matrices or vectors; the coefficients of its operands stand before it."""
    factor, bare = 1.0, []
    for term in operands:
        single = term.single if term.constant is None else None
        bare.append(term if single is None else Term({single[0]: 1.0}))
        factor *= 1.0 if single is None else single[1]
    sign = sign_of(value) * (1 if factor > 0 else -1)
    return scaled(of_atom(Atom(DOT, tuple(bare), detail, sign=sign)), factor)


# Every other op


def setting(site: Site, param: str, depth: int = _DEPTH) -> Hashable:
    """What an op is told: a number, a tuple of numbers, a word; equal where the arguments surely
    are.
    """
    if not param or not site.given(param):
        return None
    return _key(site.value(param), depth - 1)


def _key(value: Value, depth: int) -> Hashable:
    if value.const is not NO_CONSTANT:
        return value.const if isinstance(value.const, Hashable) else ("token", value.token)
    if isinstance(value.obj, tuple) and value.kind in ("sequence", "shape"):
        items = tuple([_key(item, depth) for item in value.obj if isinstance(item, Value)])
        return items[0] if len(items) == 1 else items
    return terms_of(value, max(depth, 0))


def _applied(site: Site, value: Value, depth: int) -> Terms:
    """An op that the algebra knows nothing of: equal on equal terms, where it draws no numbers."""
    if not site.op.pure or not site.complete or not site.args or value.kind == "sequence":
        return (symbol(value),)
    inner, detail = [], []
    for param in site.args:
        if param == "name":
            continue
        argument = site.value(param)
        if param in SETTINGS or argument.kind in ("string", "none", "sequence", "dtype"):
            detail.append((param, setting(site, param, depth)))
            continue
        terms = terms_of(argument, depth - 1)
        inner.append(terms[0] if len(terms) == 1 else symbol(argument))
    return (of_atom(Atom(site.op.name, tuple(inner), tuple(detail), value, site=site)),)


_BUILDERS: Final[dict[str, Callable[[Site, Value, int], Terms | None]]] = {
    "tf.add": _sum,
    "tf.subtract": _difference,
    "tf.negative": _negative,
    "tf.multiply": _product,
    "tf.divide": _quotient,
    "tf.square": _to_the(2.0),
    "tf.sqrt": _to_the(0.5),
    "K.sqrt": _clipped_root,
    "tf.math.rsqrt": _to_the(-0.5),
    "tf.math.reciprocal": _to_the(-1.0),
    "tf.pow": _power,
    "tf.math.squared_difference": _squared_difference,
    "tf.add_n": _listed_sum,
    "builtins.sum": _listed_sum,
    "tf.strided_slice": _sliced,
    "tf.nn.avg_pool": _window_mean,
    "tf.nn.pool": _pooled,
    "keras.layers.AveragePooling2D": _pooled_by_layer,
    "tf.layers.average_pooling2d": _window_mean,
    "tf.nn.conv2d": _window_sum,
    "tf.einsum": _einsum,
    "tf.linalg.diag_part": _diagonal,
    "tf.norm": _norm,
    "tf.math.reduce_euclidean_norm": _norm,
    **{name: _itself for name in _SAME_ELEMENTS},
    **{name: _moved for name in _MOVES},
    **{name: _reduced(MEAN, param) for name, param in _MEANS.items()},
    **{name: _reduced(TOTAL, param) for name, param in _SUMS.items()},
    **{name: _dot for name in _DOTS},
}

__all__ = ["DOT", "MEAN", "PLACED", "TOTAL", "setting", "symbol", "term_of", "terms_at", "terms_of"]
