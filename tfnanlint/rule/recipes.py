"""Repairs that several rules offer: the double where, and roots, norms and deviations with a floor
inside.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import Any, Callable, Final, Iterable, Iterator

from tfnanlint.conventions.identifiers import begins_with_epsilon
from tfnanlint.conventions.texts import may_divide
from tfnanlint.diagnostics.findings import EPSILON, Claim, Differentiated, Fix
from tfnanlint.guards.assertions import named_probability
from tfnanlint.guards.post_guards import plain
from tfnanlint.idioms.chance_zeros import vector_of
from tfnanlint.idioms.common_zeros import are_zero_together
from tfnanlint.idioms.derivatives import gradient_site
from tfnanlint.idioms.divisors import divides_by
from tfnanlint.idioms.labels import truth_only
from tfnanlint.idioms.moments import squared as squared_by
from tfnanlint.idioms.probabilities import Probability, logged
from tfnanlint.idioms.quantities import factors
from tfnanlint.idioms.root_kinds import roots_in
from tfnanlint.ops.provenance import behind
from tfnanlint.ops.site import Site, made_by, operands, same
from tfnanlint.ops.traits import (
    ADDITIONS,
    DEVIATIONS,
    EUCLIDEAN,
    NORMS,
    QUOTIENTS,
    ROOTS,
    TOTALS,
    WRITTEN_ROOTS,
)
from tfnanlint.program.scope import Parameter, Point, unrefined
from tfnanlint.rewrite import LINE
from tfnanlint.rewrite.availability import Named, argument
from tfnanlint.rewrite.epsilons import epsilon, survives, written
from tfnanlint.rule.logarithms import (
    absorbed_bound,
    computed_probability,
    floor_of,
    is_count,
    is_density,
    is_one_minus,
    is_share,
    log_form,
    starts_positive,
)
from tfnanlint.rule.registry import Changed, Context, Part
from tfnanlint.syntax.access_paths import path_of
from tfnanlint.syntax.edits import edits_apply, line_regions
from tfnanlint.syntax.nodes import blocks_of, nodes_in
from tfnanlint.syntax.text_index import without_prose
from tfnanlint.uses.uses import becomes_half
from tfnanlint.values.value import INF, Value, number_text

_WIDEST: Final = 110  # a line that is no exception, in a file whose lines are long
_NEGLIGIBLE: Final = 1e-6  # of an epsilon
COMPLEX = frozenset(("complex64", "complex128"))
_FILLED = re.compile(r"tf\.(ones|zeros)_like\(\{\w+\}\)")


def root_epsilon(here: Context, site: Site, param: str = "x") -> str:
    """What is added to a sum of squares: its root is 1e-6, small against anything and with a finite
    derivative. Under the root of a product of sums it is a product of such numbers.
    """
    x = site.value(param)
    eps = here.epsilon(x, _root_use(here, site))
    product = written(float(eps) ** _sums(x))
    dtype = here.precision(x).dtype
    if survives(product, "root", dtype):
        eps = product
    floor = _floor_above(here, site)
    below = written(floor**2) if 0 < floor**2 < float(eps) else eps
    return below if survives(below, "root", dtype) else eps


def _floor_above(here: Context, root: Site) -> float:
    """The number that `tf.maximum(sqrt(x), number)` keeps a root above, which no guard under the
    root is to exceed; 0 where there is none.
    """
    if not here.repairing or root.point is None:
        return 0.0
    outer = next(iter(here.around(root.node)), None)
    site = here.site(outer, root.point) if isinstance(outer, ast.Call) else None
    if site is None or site.op.name != "tf.maximum":
        return 0.0
    return max([part.lo for part in operands(site) if part.is_number and part.exact], default=0.0)


def _root_use(here: Context, root: Site) -> str:
    """Which of `USES` a number under a root is: small against the lengths that may stand there, as
    far as what is made of the root bears it.
    """
    if root.op.name == "tf.math.rsqrt":
        return "inverse root"
    if not here.repairing or here.setup.epsilon != EPSILON:
        return "root"
    vector = vector_of(root)
    if vector is None or any(_divides_by(here, by, root) for by in _divisions_around(here, root)):
        return "root"
    return "length" if gradient_site(vector) is None else "gradient"


def _divides_by(here: Context, division: Site, root: Site) -> bool:
    """Whether a quotient divides by a root, by a product of roots, or by a sum with one of them."""
    if divides_by(division, root):
        return True
    summands = terms(here, division.value("y")) if division.given("y") else []
    return any(inside.node is root.node for term in summands for inside in roots_in(plain(term)))


def _sums(value: Value, depth: int = 4) -> int:
    """How many nonnegative factors that are no numbers a value is the product of."""
    product = made_by(value, "tf.multiply") if depth else None
    if (
        product is None
        or squared_by(value) is not None
        or not all(product.value(param).nonnegative for param in ("x", "y"))
    ):
        return 1
    return (
        sum(
            _sums(product.value(param), depth - 1)
            for param in ("x", "y")
            if not product.value(param).exact
        )
        or 1
    )


def rooted(eps: str) -> str:
    """The root of an epsilon to one digit, as text: what stands there instead of 0."""
    return one_digit(float(eps) ** 0.5)


def one_digit(number: float) -> str:
    """A small number to one digit, as programs write it."""
    return written(float(f"{number:.0e}"))


def beside_one(here: Context, value: Value) -> str:
    """A margin that 1 minus it does not lose in the value's dtype, as text."""
    return here.epsilon(value, "margin")


def double_where(
    here: Context,
    site: Site,
    param: str = "x",
    *,
    inside: str = "{x} > 0",
    fill: str = "tf.ones_like({x})",
    otherwise: str = "tf.zeros_like({x})",
    title: str,
    claim: Claim = Claim.EQUAL_WHERE_FINITE,
    cost: str = "",
) -> list[Fix]:
    """The op on an input whose bad elements are replaced, and `otherwise` at those elements;
    nothing where that makes lines longer.

    The input is computed once: it gets a name when it is more than a name already.
    """
    x = site.args.get(param)
    if x is None:
        return []
    hole = x if here.repeatable(x) else Named(_word(site.value(param)), "{x}", {"x": x})
    inside, fill, otherwise = (
        with_numbers(here, site, template) for template in (inside, fill, otherwise)
    )
    call = Changed(site.node, [(x, f"tf.where({inside}, {{x}}, {fill})", {"x": hole})])
    return brief(
        here,
        site,
        here.rewrite(
            site,
            f"tf.where({inside}, {{call}}, {otherwise})",
            title=title,
            claim=claim,
            cost=cost,
            x=hole,
            call=call,
        ),
    )


def _word(value: Value) -> str:
    """A name for what stands under a root or power."""
    total = made_by(value, *TOTALS)
    is_of_squares = total is not None and squared_by(plain(total.value("x"))) is not None
    return "squared" if is_of_squares else "inner"


def with_numbers(here: Context, site: Site, template: str) -> str:
    """A template with numbers for what is filled with ones or zeros, where `where` takes them."""
    if not here.broadcasts(site):
        return template
    return _FILLED.sub(lambda match: {"ones": "1.0", "zeros": "0.0"}[match[1]], template)


def brief(here: Context, site: Site, fixes: list[Fix], most: int = 1) -> list[Fix]:
    """Those of some fixes that add at most so many lines, and none that is longer than the longest
    of the function or what formatters allow.
    """
    limit = _line_limit(here, site)
    kept = []
    for fix in fixes:
        before, after = _rewritten(here, fix)
        # an expression of several parts is broken where it is too long
        if len(after) <= len(before) + most and (most > 1 or _longest(here, fix) <= limit):
            kept.append(fix)
    if fixes and not kept:
        here.no_fix = "the fix would need too many lines, or longer lines than the code around it"
    return kept


def named_if_long(
    here: Context,
    site: Site,
    node: ast.expr,
    template: str,
    holes: dict[str, Any],
    word: str,
    **said: Any,
) -> list[Fix]:
    """What a template makes of an expression in a site; with a name of its own where one line would
    be too long.
    """
    fixes = here.rewrite(site, template, node=node, **holes, **said)
    longest = max((_longest(here, fix) for fix in fixes), default=0)
    if longest <= _line_limit(here, site) or any(isinstance(h, Named) for h in holes.values()):
        return fixes
    named = here.rewrite(site, "{v}", node=node, v=Named(word, template, holes), **said)
    return [fix for fix in named if _longest(here, fix) < longest] or fixes


def _line_limit(here: Context, site: Site) -> int:
    """How long the longest line of code is in the function of a site, or formatters allow."""
    around = site.point.scope.node if site.point is not None else here.source.tree
    text = here.source.text if isinstance(around, ast.Module) else here.source.segment(around)
    return max(LINE, *map(len, _different_codes(text)))


def _width(here: Context, site: Site) -> int:
    """How long a line may be before a part of it gets a name: as the longest of the function, or of
    the file where that is no exception.
    """
    lengths = map(len, _different_codes(here.source.text))
    return max(_line_limit(here, site), *filter(_WIDEST.__ge__, lengths), 0)


def _longest(here: Context, fix: Fix) -> int:
    """How long the longest line is that a fix writes."""
    _, after = _rewritten(here, fix)
    return max(map(len, set(after).difference(_different_codes(here.source.text))), default=0)


def _rewritten(here: Context, fix: Fix) -> tuple[list[str], list[str]]:
    """The lines that a fix changes, without comments, before and after it."""
    text = here.source.text
    before: list[str] = []
    after: list[str] = []
    for span, edits in line_regions(text, fix.edits):
        part = text[span.start : span.end]
        before += _codes(part)
        after += _codes(edits_apply(part, edits))
    return before, after


@lru_cache(maxsize=2)
def _different_codes(text: str) -> frozenset[str]:
    """What `_codes` gives, each line once; kept for the file that is judged and one function."""
    return frozenset(_codes(text))


def _codes(text: str) -> list[str]:
    """The lines of a text without the comments at their ends."""
    return [line.rstrip() for line in without_prose(text).splitlines()]


def short(here: Context, test: ast.expr, point: Point) -> bool:
    """Whether a condition may be written twice: a name, a comparison of names and numbers, or one
    op on such.
    """
    allowed = (
        ast.Name,
        ast.Attribute,
        ast.Constant,
        ast.Compare,
        ast.cmpop,
        ast.UnaryOp,
        ast.unaryop,
        ast.Call,
        ast.keyword,
        ast.expr_context,
    )
    if test.lineno != test.end_lineno or not all(
        isinstance(inner, allowed) for inner in ast.walk(test)
    ):
        return False
    calls = [inner for inner in ast.walk(test) if isinstance(inner, ast.Call)]
    sites = [here.site(call, point) for call in calls]
    return len(calls) <= 1 and all(site is not None and site.op.pure for site in sites)


def squared(site: Site) -> tuple[str, dict[str, ast.expr | None]] | None:
    """Template and holes of what stands under the root in a norm or standard deviation; None where
    that is not known.
    """
    if site.value("x").dtype in COMPLEX or not site.complete or "x" not in site.args:
        return None
    holes = {
        "x": site.args["x"],
        "axis": site.args.get("axis"),
        "keepdims": site.args.get("keepdims"),
    }
    if site.op.name in NORMS:
        order = site.const("ord", "euclidean")
        if order not in EUCLIDEAN or order == 2 and site.value("axis").kind == "sequence":
            return None  # a sum of magnitudes, the largest of them, the spectral norm of a matrix
        return "tf.reduce_sum(tf.square({x}), axis={axis}, keepdims={keepdims})", holes
    if site.op.name in DEVIATIONS:
        return "tf.math.reduce_variance({x}, axis={axis}, keepdims={keepdims})", holes
    return None


def under(site: Site) -> tuple[str, dict[str, ast.expr | None]] | None:
    """`squared` of a norm or deviation, and what the program itself writes under a root; None where
    that is not known.
    """
    if site.op.name in WRITTEN_ROOTS and "x" in site.args and site.value("x").dtype not in COMPLEX:
        return "{x}", {"x": site.args["x"]}
    return squared(site)


def root_of(site: Site, inside: str) -> str:
    """The root of a template, as the library of a norm or deviation spells it."""
    return f"K.sqrt({inside})" if site.library == "K" else f"tf.sqrt({inside})"


def floored_root(here: Context, site: Site, eps: str = "") -> Part | None:
    """A root, norm or deviation written so that its derivative is finite at 0: a small number is
    added inside.

    Where it could be lost (`1 - p + eps`), or the sum be negative, what stands inside gets a floor
    instead; of an epsilon that is added there already the rest does.
    """
    radicand = under(site)
    if radicand is None:
        return None
    eps, (template, holes) = eps or root_epsilon(here, site, site.op.main), radicand
    if site.op.name not in WRITTEN_ROOTS:
        return site.node, root_of(site, f"{template} + {eps}"), holes
    rest = _guarded_rest(here, site)
    if rest is not None:
        return rest, "tf.maximum({x}, 0.0)", {"x": rest}
    return (
        site.args["x"],
        f"{{x}} + {eps}" if addable(here, site) else f"tf.maximum({{x}}, {eps})",
        holes,
    )


def _guarded_rest(here: Context, site: Site) -> ast.expr | None:
    """The difference beside which an epsilon is added under a root already: `a - b + 1e-8`, where
    no constant stands in that.
    """
    plus = here.made_by(site.value("x"), "tf.add")
    if plus is None or plus.node is not site.args["x"]:
        return None
    for param, eps_param in (("x", "y"), ("y", "x")):
        eps, rest = plus.value(eps_param), plus.value(param)
        kept = (
            eps.is_number
            and 0 < eps.lo < 0.1
            and survives(str(eps.lo), "root", here.precision(rest).dtype)
        )
        if kept and rest.lo < 0 and all(not term.exact for term in terms(here, rest)):
            return plus.args[param]
    return None


def terms(here: Context, value: Value, depth: int = 4) -> list[Value]:
    """The summands of a value, their signs left aside."""
    total = here.made_by(value, *ADDITIONS) if depth else None
    return (
        [value]
        if total is None
        else [*terms(here, total.value("x"), depth - 1), *terms(here, total.value("y"), depth - 1)]
    )


def addable(here: Context, site: Site) -> bool:
    """Whether a small number added to the input of a root stays: it is nonnegative, and no constant
    stands beside it.
    """
    x = site.value(site.op.main)
    return x.nonnegative and all(term.nonnegative and not term.exact for term in terms(here, x))


Moved = Callable[[list[Part], str], list[Fix]]


def _with_sum(here: Context, root: Site) -> Moved:
    """The form of a norm or deviation with a number added under its root, of the parts that change
    and that number.
    """

    def moved(parts: list[Part], eps: str) -> list[Fix]:
        return _sum_named_if_long(
            here,
            root,
            parts,
            title=f"add {eps} under the root",
            claim=Claim.SHIFTED,
            cost=cost_of(root, eps),
        )

    return moved


def _sum_named_if_long(here: Context, root: Site, parts: list[Part], **said: Any) -> list[Fix]:
    """One fix of parts of an expression. What stands under a root, which is the only part, gets a
    name where one line would be too long.
    """
    fixes, inside = here.rewrite_all(root, parts, **said), under(root)
    longest = max((_longest(here, fix) for fix in fixes), default=0)
    if inside is None or len(parts) > 1 or longest <= _width(here, root):
        return fixes
    if inside[0] == "{x}" and isinstance(inside[1]["x"], ast.Name):
        return fixes  # it has a name
    node, template, _ = parts[0]
    is_variance = root.op.name in DEVIATIONS
    word = _word(root.value("x")) if root.op.name in WRITTEN_ROOTS else "squared"
    total = Named("variance" if is_variance else word, *inside)
    part: Part = (node, template.replace(inside[0], "{s}"), {"s": total})
    named = here.rewrite_all(root, [part], **said)
    return [fix for fix in named if _longest(here, fix) < longest] or fixes


def norm_forms(here: Context, root: Site, what: str, exact_first: bool = False) -> list[Fix]:
    """A norm or deviation with a finite derivative at 0: a small number under its root, or a choice
    that keeps every value.
    """
    inside = squared(root)
    if inside is None:
        return []
    total = Named("variance" if root.op.name in DEVIATIONS else "squared", *inside)
    choice = (
        "tf.where({s} > 0, tf.sqrt(tf.where({s} > 0, {s}, tf.ones_like({s}))), tf.zeros_like({s}))"
    )
    exact = brief(
        here,
        root,
        here.rewrite(
            root,
            with_numbers(here, root, choice),
            s=total,
            claim=Claim.EQUAL_WHERE_FINITE,
            title=f"mask {what} and the result, with gradient 0 at 0",
        ),
    )

    forms = _in_order(here, root, exact, _with_sum(here, root), exact_first)
    if not forms:
        return []
    return [*forms, *_in_single_precision(here, root, inside)]


def _in_single_precision(
    here: Context, root: Site, inside: tuple[str, dict[str, Any]]
) -> list[Fix]:
    """A float16 norm or deviation computed in float32, with the number under its root: there its
    large derivative is multiplied by that of the logarithm or root behind it without an Inf.
    """
    if root.value("x").dtype != "float16":
        return []
    (template, holes), eps = inside, root_epsilon(here, root, root.op.main)
    total = template.replace("{x}", "tf.cast({x}, tf.float32)")
    said: dict[str, Any] = {
        "title": "compute it in float32, with a number under the root",
        "claim": Claim.SHIFTED,
        "cost": cost_of(root, eps),
    }
    fixes = here.rewrite(
        root, f"tf.cast({root_of(root, f'{total} + {eps}')}, tf.float16)", **holes, **said
    )
    if max((_longest(here, fix) for fix in fixes), default=0) <= _line_limit(here, root):
        return fixes
    word = "variance" if root.op.name in DEVIATIONS else "squared"
    named = f"tf.cast({root_of(root, f'{{s}} + {eps}')}, tf.float16)"
    return here.rewrite(root, named, s=Named(word, total, holes), **said) or fixes


def deviation_forms(here: Context, root: Site, what: str, exact_first: bool = False) -> list[Fix]:
    """The same for a deviation, also one that is written as the root of a variance."""
    if root.op.name not in WRITTEN_ROOTS:
        return norm_forms(here, root, what, exact_first)
    exact = double_where(
        here,
        root,
        title=f"mask {what} and the result, with gradient 0 at 0",
        claim=Claim.EQUAL_WHERE_FINITE,
    )

    return _in_order(here, root, exact, _with_sum(here, root), exact_first)


def root_forms(here: Context, root: Site, what: str, exact_first: bool = False) -> list[Fix]:
    """A square root with a finite derivative at 0: a small number inside, or a choice that keeps
    every value.
    """
    exact = double_where(
        here,
        root,
        title=f"mask {what} and the result, with gradient 0 at 0",
        claim=Claim.EQUAL_WHERE_FINITE,
    )

    def moved(parts: list[Part], eps: str) -> list[Fix]:
        return _sum_named_if_long(
            here,
            root,
            parts,
            claim=Claim.SHIFTED,
            cost=cost_of(root, eps),
            title=f"add {eps} under the root"
            if f"+ {eps}" in parts[0][1]
            else f"keep the value under the root at or above {eps}",
        )

    return _in_order(here, root, exact, moved, exact_first)


# x / max(|x|, eps) for x / (|x| + eps).
COST_OF_ITS_EPSILON: Final = (
    "vectors longer than epsilon grow by epsilon / length, shorter vectors by at most a factor of 2"
)


def _in_order(
    here: Context, root: Site, exact: list[Fix], moved: Moved, exact_first: bool
) -> list[Fix]:
    """The forms of a root, the best first; only the choice where a number may be lost in the dtype,
    or is not small against what stands there, or where a later choice asks whether the root is
    above 0.
    """
    option = _own_option(here, root)
    if option:
        here.no_fix = f"'{option}' adds an epsilon under this root: callers choose"
        return []
    if here.masks.keeps_positive(root) or _divides_to_zero(here, root):
        return exact
    if _is_of_angle(here, root) or is_divisor(here, root):
        exact = []  # the choice gives 0 at 0, which is no divisor
    own = own_epsilon(here, root)
    if own:
        return [*exact, *own] if exact_first else own  # a choice would leave the epsilon beside it
    group = [root, *partners(here, root), *counterparts(here, root)]
    eps = max([root_epsilon(here, one, one.op.main) for one in group], key=float)
    parts = [part for one in group if (part := floored_root(here, one, eps)) is not None]
    if (
        not parts
        or exact
        and not (here.precision(root.value(root.op.main)).sure and small(eps, root))
    ):
        return exact
    shifted = moved(parts, eps)
    if len(parts) > 1:
        shifted = brief(here, root, shifted, most=3)
    return [*exact, *shifted] if exact_first else [*shifted, *exact]


def _divides_to_zero(here: Context, root: Site) -> bool:
    """Whether `divide_no_nan` divides something else by a root: the quotient is 0 where the root
    is, and would be huge with a small number in its place.
    """
    rows = (row for row in _rows_around(root) if "no_nan" in here.source.code_on(row))
    return any(
        division.op.name == "tf.math.divide_no_nan"
        and divides_by(division, root)
        and not are_zero_together(division.value("x"), root)
        for division in here.applications(rows)
    )


def _rows_around(site: Site) -> range:
    """The rows of the function in which a site stands."""
    function = site.point.scope.node if site.point is not None else None
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return range(0)
    return range(function.lineno, (function.end_lineno or function.lineno) + 1)


def _own_option(here: Context, root: Site) -> str:
    """The setting that adds a number to what stands under a root, `if self.add_eps: x = x + eps`
    before it; "" where there is none.
    """
    under_root = root.args.get(root.op.main)
    scope = root.point.scope if root.point is not None else None
    if not isinstance(under_root, ast.Name) or scope is None or scope.function is None:
        return ""
    for node in nodes_in(scope.node):
        if (
            isinstance(node, ast.If)
            and isinstance(node.test, (ast.Name, ast.Attribute))
            and not node.orelse
            and node.lineno < root.node.lineno
            and len(node.body) == 1
            and _is_small_number(here, _added_to(node.body[0], under_root.id), root)
        ):
            return ast.unparse(node.test)
    return ""


def _added_to(statement: ast.stmt, name: str) -> ast.expr | None:
    """The `something` of `name = name + something` or `name += something`."""
    if isinstance(statement, ast.AugAssign):
        target: ast.expr = statement.target
        is_sum = isinstance(statement.op, ast.Add)
        return statement.value if is_sum and path_of(target) == name else None
    value = statement.value if isinstance(statement, ast.Assign) else None
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Add):
        return None
    return value.right if path_of(value.left) == name else None


def _is_small_number(here: Context, node: ast.expr | None, root: Site) -> bool:
    """Whether an expression is a small number above 0."""
    place = here.standing(node, root.point) if node is not None and root.point else None
    if node is None or place is None:
        return False
    value = here.value(node, place)
    return value.exact and 0 < value.lo < 0.1


def _is_of_angle(here: Context, root: Site) -> bool:
    """Whether a root is given to atan2, whose gradient is NaN at the origin also where that of the
    root is masked.
    """
    for node, point in [call for name in ("atan2", "arctan2") for call in here.calls(name)]:
        angle = here.site(node, point)
        if angle is None or angle.op.name != "tf.atan2":
            continue
        if any(root.node is inside.node for p in ("y", "x") for inside in roots_in(angle.value(p))):
            return True
    return False


def own_epsilon(here: Context, root: Site) -> list[Fix]:
    """`sqrt(s + eps ** 2)` for `sqrt(s) + eps` with an epsilon that the program has a name for: at
    0 the value stays. One that may be above 1e-6 stays where it is, and a smaller number goes under
    the root.

    Where float16 would lose the square the epsilon goes inside as it is.
    """
    outer = next(iter(here.around(root.node)), None)
    total = here.site(outer, root.point) if isinstance(outer, (ast.BinOp, ast.Call)) else None
    radicand = under(root) if root.op.name in ROOTS else None
    if total is None or radicand is None or total.op.name != "tf.add" or not total.complete:
        return []
    param = next((param for param in ("x", "y") if _is_epsilon(total, param)), None)
    if (
        param is None
        or total.args.get("y" if param == "x" else "x") is not root.node
        or root.op.name in WRITTEN_ROOTS
        and not addable(here, root)
    ):
        return []
    template, holes = radicand
    eps, precision = total.value(param), here.precision(root.value(root.op.main))
    if not is_negligible(eps):
        return _beside_its_epsilon(here, root)
    if precision.sure and precision.dtype in ("float32", "float64"):
        power, cost = (
            "{eps} ** 2",
            "values change by at most "
            f"{written(eps.hi) if eps.hi < 1 else 'the epsilon, 0.1 or less'}",
        )
    else:
        power, cost = (
            "{eps}",
            "the root of 0 becomes the root of the epsilon (1e-3 for 1e-6); other results "
            "change by less",
        )
    return here.rewrite(
        total,
        root_of(root, f"{template} + {power}"),
        title="move the epsilon under the root",
        claim=Claim.SHIFTED,
        **holes,
        eps=total.args[param],
        cost=cost,
    )


def is_negligible(eps: Value) -> bool:
    """Whether an epsilon beside a root is so small that no result shows on which side it is."""
    return eps.known and eps.hi <= _NEGLIGIBLE


def _beside_its_epsilon(here: Context, root: Site) -> list[Fix]:
    """`sqrt(s + 1e-12) + eps` for `sqrt(s) + eps`: all results but that of 0 stay."""
    part, eps = floored_root(here, root), root_epsilon(here, root, root.op.main)
    return [] if part is None else _with_sum(here, root)([part], eps)


def _is_epsilon(total: Site, param: str) -> bool:
    """Whether a summand is a small number with the name of one."""
    node, value = total.args.get(param), total.value(param)
    # K.epsilon()
    named: ast.AST | None = (
        node.func if isinstance(node, ast.Call) and not (node.args or node.keywords) else node
    )
    name = (
        named.id
        if isinstance(named, ast.Name)
        else named.attr
        if isinstance(named, ast.Attribute)
        else ""
    )
    return (
        begins_with_epsilon(name)
        and value.kind in ("number", "array", "unknown")
        and not (value.known and (value.lo <= 0 or value.hi > 0.1))
    )


def empty_quotient(here: Context, root: Site) -> str:
    """Where a quotient under a root divides by what may be 0, as bounds say, in words; empty where
    none does: a guard of the root would leave 0 / 0 in it.
    """
    quotient = made_by(root.value(root.op.main), "tf.divide", aligned=True)
    if quotient is None or quotient.source is not here.source:
        return ""
    divisor = quotient.value("y")
    if not divisor.known or not divisor.zero or divisor.guarded or divisor.kind == "number":
        return ""
    return here.source.location(here.source.span(quotient.node).start).words


def is_divisor(here: Context, site: Site) -> bool:
    """Whether what stands around a site divides by it as it is: `a / x`, `tf.divide(a, x)`."""
    outer = next(iter(here.around(site.node)), None)
    if site.point is None or not isinstance(outer, (ast.BinOp, ast.Call)):
        return False
    quotient = here.site(outer, site.point)
    if quotient is None or quotient.op.name not in QUOTIENTS:
        return False
    return quotient.args.get("y") is site.node


def where_made(here: Context, root: Site) -> list[Fix]:
    """A floor under the difference that a name stands for, where it is computed: the same function
    takes its root and divides by it.
    """
    x = root.args.get("x")
    difference = made_by(root.value("x"), "tf.subtract") if isinstance(x, ast.Name) else None
    if difference is None or difference.source is not here.source or difference.point is None:
        return []
    if root.point is None or difference.point.scope.node is not root.point.scope.node:
        return []
    if not any([divides_by(division, difference) for division in _divisions_around(here, root)]):
        return []
    eps = here.epsilon(root.value("x"))
    return here.rewrite(
        difference,
        f"tf.maximum({{x}}, {eps})",
        title=f"keep the difference at or above {eps} where it is computed",
        claim=Claim.SHIFTED,
        cost=f"no gradient below {eps}",
        x=difference.node,
    )


def _divisions_around(here: Context, site: Site, names: Iterable[str] = ()) -> Iterator[Site]:
    """The op applications on lines with a division in the function of a site, and on lines with one
    of some names.
    """
    return here.applications(here.source.rows_where(may_divide, _rows_around(site)), names)


def partners(here: Context, root: Site) -> list[Site]:
    """The other roots of the product that a root stands in: both norms of a cosine are repaired at
    once.
    """
    inner, candidates = root.node, []
    for outer in here.around(root.node):
        if not isinstance(outer, (ast.BinOp, ast.Call)):
            break
        product = here.site(outer, root.point)
        if (
            product is None
            or product.op.name != "tf.multiply"
            or inner not in product.args.values()
        ):
            break
        factor = "y" if product.args.get("x") is inner else "x"
        candidates += [
            one
            for one in roots_in(product.value(factor))
            if one.source is here.source and stands_in(one, outer)
        ]
        inner = outer
    return [
        one
        for one in candidates
        if one.differentiated is not Differentiated.NO and one.value(one.op.main).zero
    ]


def counterparts(here: Context, root: Site) -> list[Site]:
    """The roots of the same kind that are compared with a root under names, as in
    `mse(deviation, wanted)`: an epsilon under one of them would part what should be equal.
    """
    statement = next(iter(here.around(root.node)), None)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if root.point is None or not isinstance(target, ast.Name):
        return []
    matched = []
    for meeting in nodes_in(root.point.scope.node):
        names = _names_given(meeting)
        if target.id not in [name.id for name in names]:
            continue
        place = here.standing(meeting, root.point) if isinstance(meeting, ast.expr) else None
        values = [here.value(name, place) for name in names] if place is not None else []
        makers = [made_by(value, root.op.name) for value in values]
        if not any([maker is root for maker in makers]):
            continue
        matched += [maker for maker in makers if maker is not None and maker is not root]
    return [site for site in dict.fromkeys(matched) if _is_alike(site, root)]


def _names_given(node: ast.AST) -> list[ast.Name]:
    """The names that a call, or a difference, is given directly."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        return [operand for operand in (node.left, node.right) if isinstance(operand, ast.Name)]
    arguments = node.args if isinstance(node, ast.Call) else []
    return [argument for argument in arguments if isinstance(argument, ast.Name)]


def _is_alike(site: Site, root: Site) -> bool:
    """Whether a root stands in the same function as another one, and can be 0, too."""
    if site.point is None or root.point is None or site.point.scope is not root.point.scope:
        return False
    return site.node is not root.node and site.value(site.op.main).zero


def stands_in(site: Site, node: ast.AST) -> bool:
    return any(inner is site.node for inner in ast.walk(node))


def small(eps: str, root: Site) -> bool:
    """Whether a number is small against all that may stand under a root,
    as far as its bounds say.
    """
    x = root.value(root.op.main)
    return float(eps) * 1e4 < (x.hi if root.op.name in WRITTEN_ROOTS else max(x.hi, -x.lo) ** 2)


def cost_of(root: Site, eps: str) -> str:
    """What a small number under a root changes, in words."""
    what = (
        "the norm of a zero vector"
        if root.op.name in NORMS
        else "the deviation of equal values"
        if (root.op.name in DEVIATIONS)
        else "the root of 0"
    )
    return (
        f"{what} becomes {rooted(eps)}; other results change by less, "
        "and the gradient of small results is smaller"
    )


def under_the_root(here: Context, inside: list[Site], quotient: Site | None = None) -> list[Fix]:
    """A small number under the roots that a divisor is made of: beside them it would leave their
    gradient infinite. Where float16 is made of the quotient, it is one that float16 holds there.
    """
    if any(root.source is not here.source or root.point is None for root in inside):
        return []
    inside = [root for root in inside if root.value(root.op.main).zero] or inside
    half = quotient is not None and becomes_half(quotient)
    eps = epsilon("root", "float16", here.setup.epsilon) if half else ""
    parts = [
        part for part in (floored_root(here, root, eps) for root in inside) if part is not None
    ]
    if len(parts) < len(inside):
        return []
    eps = eps or root_epsilon(here, inside[0], inside[0].op.main)
    return _sum_named_if_long(
        here,
        inside[0],
        parts,
        title="add an epsilon under the root",
        claim=Claim.SHIFTED,
        cost=f"the root changes by {rooted(eps)} at 0, and by less elsewhere",
    )


def moved_inside(here: Context, outer: Site, root: Site, param: str) -> list[Fix]:
    """The number beside a root, given as `param` of `outer`, squared and under it: sqrt(s) + e and
    maximum(sqrt(s), e) have the same value at 0 then. Where the square is lost in the dtype, what
    that dtype keeps.
    """
    radicand, operand = under(root), outer.args["x" if param == "y" else "y"]
    if radicand is None:
        return []
    template, holes = radicand
    if outer.op.name == "tf.add" and not is_negligible(outer.value(param)):
        return _beside_its_epsilon(here, root)
    square = written(outer.value(param).lo ** 2)
    kept = survives(square, "root", here.precision(root.value(root.op.main)).dtype)
    eps = square if kept else root_epsilon(here, root, root.op.main)
    added = outer.op.name == "tf.add" and (root.op.name not in WRITTEN_ROOTS or addable(here, root))
    inside = root_of(root, f"{template} + {eps}" if added else f"tf.maximum({template}, {eps})")
    whole = operand is root.node
    parts: list[Part] = (
        [(outer.node, inside, holes)]
        if whole
        else [(outer.node, "{root}", {"root": operand}), (root.node, inside, holes)]
    )
    exact = kept and whole and outer.op.name == "tf.maximum"
    return here.rewrite_all(
        root,
        parts,
        title=f"guard under the root with {eps}",
        claim=Claim.EQUAL_WHERE_FINITE if exact else Claim.SHIFTED,
        cost="" if exact else f"the root of 0 becomes {rooted(eps)}; other results change by less",
    )


def logarithm(here: Context, log: Site, param: str = "x", edge: float = 0.0) -> list[Fix]:
    """The logarithm factor by factor, without what underflows in it; where that cannot be written a
    floor, or nothing.
    """
    form = log_form(log, param) if edge == 0 and log.op.name == "tf.math.log" else None
    if form is None:
        return log_floor(here, log, param, edge)
    template, holes = form
    fixes = here.rewrite(
        log, template, title="take the logarithm factor by factor", claim=Claim.EQUAL, **holes
    )
    reason = here.no_fix
    fixes = fixes or log_floor(here, log, param, edge)
    reason = why_not_of_logits(log, log.value(param)) or reason
    here.no_fix = "" if fixes else reason or here.no_fix
    return fixes


def log_floor(here: Context, log: Site, param: str = "x", edge: float = 0.0) -> list[Fix]:
    """The argument kept a little above the edge; none where that would move numbers that are right,
    or hide a wrong one.
    """
    value, node = log.value(param), log.args.get(param)
    here.no_fix = (
        why_no_floor(log, param, edge)
        or (why_not_alone(here, log, value) if edge == 0 else "")
        or (why_not_half(here, log, value) if edge == 0 else "")
        or why_not_of_array(log)
        or why_not_of_logits(log, value)
        or (why_not_of_divisor(here, log, value) if edge == 0 else "")
    )
    if node is None or here.no_fix:
        return []
    bound = (
        ("1.0" if is_count(value) else floor_of(value, here.setup.epsilon))
        if edge == 0
        else f"{number_text(edge)} + {beside_one(here, value)}"
    )
    fixes = named_if_long(
        here,
        log,
        node,
        f"tf.maximum({{x}}, {bound})",
        {"x": node},
        "prob" if _is_probability(log, param) else "floored",
        title=f"keep the argument at or above {bound}",
        claim=Claim.SHIFTED,
        cost=f"no gradient below {bound}",
    )
    taken = log.differentiated is not Differentiated.NO
    return fixes if taken else brief(here, log, fixes)


def _is_probability(log: Site, param: str) -> bool:
    """Whether what a logarithm is taken of is computed, or named, as a probability."""
    value = log.value(param)
    is_bounded = value.lo >= 0 and value.hi <= 1
    return is_bounded and (computed_probability(value) is not None or named_probability(log, param))


def why_not_of_array(log: Site) -> str:
    """Why a logarithm of what NumPy computed of data gets no floor; empty for anything else."""
    site = behind(plain(log.value("x"))) if "x" in log.args else None
    if not isinstance(site, Site) or site.library != "np":
        return ""
    return "NumPy computed the value from data: repair the data where it is 0"


def why_not_of_logits(log: Site, value: Value) -> str:
    """Why the logarithm of a softmax or sigmoid through which a gradient may be taken gets no
    floor, below which that would be 0: its logits have a logarithm of their own. Empty for others,
    and where a layer keeps the logits to itself.
    """
    computed = computed_probability(value)
    if log.differentiated is Differentiated.NO or computed is None or computed.layer is not None:
        return ""
    is_softmax = computed.producer.op.name == "tf.nn.softmax"
    better = "log_softmax" if is_softmax else "log_sigmoid"
    return f"a floor has gradient 0 below it: {_way_to_logits(log, computed)} use {better}"


def _way_to_logits(log: Site, computed: Probability) -> str:
    """How to have the logits of a probability at its logarithm, in words."""
    point = computed.producer.point
    if point is None or log.point is None or point.scope.node is log.point.scope.node:
        return "give the logits a name, and"
    root = (path_of(log.args["x"]) or "").partition(".")[0] if "x" in log.args else ""
    if isinstance(unrefined(log.point.lookup(root)), Parameter):
        return f"hand the logits over as '{root}', and"
    name = getattr(point.scope.node, "name", "")
    return f"return the logits from '{name}', too, and" if name else "hand the logits over, and"


def why_not_of_divisor(here: Context, log: Site, value: Value) -> str:
    """Why the logarithm of a scale, by which the function, or another method, divides, too, gets no
    floor: the quotient would stay infinite; empty for any other.
    """
    parts = [plain(part) for part in (value, *factors(value)) if not part.exact]
    node = log.args.get("x")
    names = [node.attr] if isinstance(node, ast.Attribute) else []
    for division in _divisions_around(here, log, names):
        if division.op.name not in QUOTIENTS or not division.given("y"):
            continue
        divisor = division.value("y")
        if divisor.positive or divisor.guarded:
            continue
        divisors = [plain(factor) for factor in (divisor, *factors(divisor))]
        divisors += [_base(factor) for factor in divisors]
        if any(same(part, factor) for part in parts for factor in divisors):
            return "the same value is a divisor, too: keep it above 0 where it is computed"
    return ""


def _base(value: Value) -> Value:
    """What a value is the square of; the value itself where it is none."""
    square = squared_by(value)
    return plain(square.value("x") if square is not None else value)


def why_not_alone(here: Context, log: Site, value: Value) -> str:
    """Why one of the two logarithms of a difference, `log(truth) - log(pred)`, gets no floor; empty
    where both can have one.
    """
    outer = next(iter(here.around(log.node)), None)
    if not isinstance(outer, ast.BinOp) or not isinstance(outer.op, ast.Sub):
        return ""
    operand = outer.right if outer.left is log.node else outer.left
    site = here.site(operand, log.point) if isinstance(operand, ast.Call) else None
    if site is None or site.op.name != "tf.math.log" or site.value("x").positive:
        return ""
    rest = site.value("x")
    undefined = "" if value.known else why_no_floor(site, "x", 0.0)
    divides = why_not_of_divisor(here, site, rest) if value.known and rest.known else ""
    return "the other logarithm in the sum would stay infinite" if undefined or divides else ""


def why_not_half(here: Context, log: Site, value: Value) -> str:
    """Why the logarithm of 1 - p gets no floor where that of p stands in the same statement and
    would stay infinite, because it can have none; empty for any other.
    """
    minus = made_by(value, "tf.subtract", aligned=True) if is_one_minus(value) else None
    statement = next((node for node in here.around(log.node) if isinstance(node, ast.stmt)), None)
    for node in ast.walk(statement) if minus is not None and statement is not None else ():
        half = here.site(node, log.point) if isinstance(node, ast.Call) else None
        if half is None or half.op.name != "tf.math.log" or half.node is log.node:
            continue
        if same(plain(half.value("x")), plain(minus.value("y"))) and not half.value("x").positive:
            return "the other half would stay infinite" if why_no_floor(half, "x", 0.0) else ""
    return ""


def why_no_floor(log: Site, param: str, edge: float) -> str:
    """Why a floor is no repair of a logarithm; empty where it is one."""
    value = log.value(param)
    if is_density(value):
        return (
            "a floor would be above nearly all densities in early training: take the "
            "logarithm of each factor"
        )
    if absorbed_bound(value):
        return "the bound of the value that is subtracted from 1 is rounded to 1: repair that bound"
    if value.exact:
        return "the value is a constant in the program"
    if truth_only(value, log.point):
        return "the value is computed from labels, for which -inf may be intended"
    if edge == 0 and is_one_minus(value) and -INF < value.lo < -0.01:
        return (
            "the value that is subtracted from 1 can be above 1: a floor would give a finite "
            "result where the logarithm is undefined"
        )
    if edge != 0 or is_one_minus(value) or is_share(value) or starts_positive(value):
        return ""
    if not value.known and not value.guarded and not named_probability(log, param):
        return (
            "nothing is known about the value: a floor would also turn negative values into numbers"
        )
    if value.known and value.lo < 0:
        return (
            "the value can be negative: a floor would give a finite result where the "
            "logarithm is undefined"
        )
    return ""


def minus_softplus(
    here: Context, log: Site, z: Any, others: Iterable[Part] = (), **said: Any
) -> list[Fix]:
    """One fix that puts -softplus(z) in place of a logarithm, its sign drawn together with that of
    the term in which it is a factor.

    `others` are parts that go with it. Where the text around cannot be written anew, a comment in
    it for one, the sign stays at its place.
    """
    others = list(others)
    return here.rewrite_all(
        log, _signs_drawn_together(here, log, z, others), **said
    ) or here.rewrite_all(log, [(log.node, "-tf.math.softplus({z})", {"z": z}), *others], **said)


def _signs_drawn_together(here: Context, log: Site, z: Any, others: list[Part]) -> list[Part]:
    node, outer = log.node, next(iter(here.around(log.node)), None)
    while isinstance(outer, ast.BinOp) and _is_factor(outer, node):
        node = outer
        outer = next(iter(here.around(node)), None)
    parts: list[Part] = [(log.node, "tf.math.softplus({z})", {"z": z})]
    sign = _first_factor(node)
    if isinstance(sign, ast.UnaryOp) and isinstance(sign.op, ast.USub) and node is not log.node:
        return [(sign, "{x}", {"x": sign.operand}), *parts, *others]
    term: Any = Changed(node, parts)
    if isinstance(outer, ast.UnaryOp) and isinstance(outer.op, ast.USub):
        return [(outer, "{term}", {"term": term}), *others]
    mean = _negated_mean(here, log, node, outer)
    if mean is not None and not others:
        return [
            (mean, "{mean}", {"mean": Changed(mean.operand, [(node, "{term}", {"term": term})])})
        ]
    if (
        isinstance(outer, ast.BinOp)
        and isinstance(outer.op, (ast.Add, ast.Sub))
        and outer.right is node
    ):
        if isinstance(outer.op, ast.Sub) and is_zero(outer.left):
            return [(outer, "{term}", {"term": term}), *others]
        before = [
            part for part in others if here.source.span(part[0]) in here.source.span(outer.left)
        ]
        left = Changed(outer.left, before) if before else outer.left
        sign_of = "-" if isinstance(outer.op, ast.Add) else "+"
        return [
            (outer, f"{{left}} {sign_of} {{term}}", {"left": left, "term": term}),
            *(part for part in others if part not in before),
        ]
    return [(node, "-{term}", {"term": term}), *others]


def _negated_mean(
    here: Context, log: Site, node: ast.expr, outer: ast.AST | None
) -> ast.UnaryOp | None:
    """The minus in front of a mean or sum of a term, `-tf.reduce_mean(term)`; None elsewhere."""
    if not isinstance(outer, ast.Call) or not outer.args or outer.args[0] is not node:
        return None
    site = here.site(outer, log.point) if log.point is not None else None
    sign = next(iter(here.around(outer)), None)
    if not isinstance(sign, ast.UnaryOp) or not isinstance(sign.op, ast.USub):
        return None
    is_linear = site is not None and site.op.name in TOTALS
    return sign if is_linear else None


def is_zero(node: ast.expr) -> bool:
    """Whether an expression is the number 0."""
    return isinstance(node, ast.Constant) and node.value == 0


def _beside(here: Context, site: Site) -> list[ast.stmt]:
    """The statement of a site, and the assignments before and behind it in its block."""
    around = list(here.around(site.node))
    at = next((i for i, node in enumerate(around) if isinstance(node, ast.stmt)), len(around))
    statement = around[at] if at < len(around) else None
    if not isinstance(statement, ast.Assign):
        return [statement] if isinstance(statement, ast.stmt) else []
    outer = around[at + 1] if at + 1 < len(around) else here.source.tree
    block = next((one for one in blocks_of(outer) if statement in one), [statement])
    place = block.index(statement)
    near = block[max(place - 1, 0) : place + 2]
    return [one for one in near if isinstance(one, ast.Assign)]


def log_sigmoids_beside(here: Context, log: Site) -> list[Part]:
    """log_sigmoid in place of the other logarithms of guarded sigmoids in a statement and in the
    assignments beside it: both halves of a loss in one style.
    """
    parts: list[Part] = []
    for node in (node for statement in _beside(here, log) for node in ast.walk(statement)):
        if not isinstance(node, ast.Call) or node is log.node:
            continue
        site = here.site(node, log.point)
        prob = logged(site) if site is not None and site.op.name == "tf.math.log" else None
        if (
            prob is None
            or prob.complement
            or not prob.guard
            or prob.producer.op.name != "tf.sigmoid"
            or not prob.producer.complete
        ):
            continue
        parts.append(
            (node, "tf.math.log_sigmoid({z})", {"z": argument(prob.producer, "x", "logits")})
        )
    return parts


def _is_factor(product: ast.BinOp, node: ast.expr) -> bool:
    return (
        isinstance(product.op, ast.Mult) or isinstance(product.op, ast.Div) and product.left is node
    )


def _first_factor(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        node = node.left
    return node
