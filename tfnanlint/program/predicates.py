"""What a test says about the values in it: `x > 0`, `not a or b`, `tf.reduce_all(x >= eps)`,
`assert_positive(x)`.
"""

from __future__ import annotations

import ast
from typing import Any, Callable, Final

from tfnanlint.conventions.identifiers import is_mode, is_training_flag
from tfnanlint.ops.frameworks import ESTIMATOR_MODES, PHASES
from tfnanlint.ops.traits import IS_FINITE_NAMES, IS_NAN_NAMES
from tfnanlint.syntax.access_paths import leaf, path_of
from tfnanlint.syntax.nodes import BIN_OP, BOOL_OP, CALL, COMPARE, CONSTANT, NAME, UNARY_OP
from tfnanlint.values.value import FLIPPED, NEGATED

_OPERATORS: Final = {
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_FUNCTIONS: Final = {
    "greater": ">",
    "greater_equal": ">=",
    "less": "<",
    "less_equal": "<=",
    "equal": "==",
    "not_equal": "!=",
}
_CHECKS: Final = {
    "assert_positive": (">", 0.0),
    "assert_non_negative": (">=", 0.0),
    "assert_negative": ("<", 0.0),
    "assert_non_positive": ("<=", 0.0),
}
_PAIR_CHECKS: Final = {
    "assert_greater": ">",
    "assert_greater_equal": ">=",
    "assert_less": "<",
    "assert_less_equal": "<=",
    "assert_equal": "==",
    "assert_none_equal": "!=",
}
_FINITE: Final = IS_FINITE_NAMES | {"assert_all_finite", "check_numerics"}
ASSERTIONS: Final = frozenset(_CHECKS) | frozenset(_PAIR_CHECKS) | {"assert_all_finite", "Assert"}
_INVERTING: Final = frozenset((ast.Not, ast.Invert))
# whether an operator needs both sides
_AND: Final[dict[type, bool]] = {ast.And: True, ast.BitAnd: True, ast.Or: False, ast.BitOr: False}
_MAGNITUDES: Final = frozenset({"abs", "absolute", "fabs"})

EXTREMES: Final = {
    **dict.fromkeys(("reduce_min", "min", "amin", "minimum"), (">", ">=")),
    **dict.fromkeys(("reduce_max", "max", "amax", "maximum"), ("<", "<=")),
}
_NONE: Final = frozenset({("==", 0), ("<=", 0), ("<", 1)})
_CASTS: Final = frozenset({"cast", "saturate_cast"})
_SAME_NUMBER: Final = _CASTS | {"identity", "convert_to_tensor", "to_float", "float"}
_OF_TWO: Final = frozenset({"minimum", "maximum"})

_PATHS: Final = frozenset((ast.Name, ast.Attribute, ast.Subscript))

Fact = tuple[ast.expr, str, "ast.expr | float"]
Spoken = tuple[tuple[str, ast.expr], ...]


def inverse_of(test: ast.expr) -> ast.expr | None:
    """What `not x`, `~x` and `tf.logical_not(x)` invert; None for other tests."""
    kind = type(test)
    if kind is UNARY_OP:
        return test.operand if type(test.op) in _INVERTING else None
    return test.args[0] if kind is CALL and leaf(test.func) == "logical_not" and test.args else None


def parts_that_hold(test: ast.expr, truth: bool) -> list[ast.expr]:
    """The parts that are all `truth` where a test made of them is: of `a & b` where it holds, of
    `a | b` where it does not.
    """
    kind = type(test)
    if kind is BOOL_OP:
        return test.values if _AND.get(type(test.op)) is truth else []
    if kind is BIN_OP:
        return [test.left, test.right] if _AND.get(type(test.op)) is truth else []
    if (
        kind is CALL
        and len(test.args) >= 2
        and leaf(test.func) == ("logical_and" if truth else "logical_or")
    ):
        return test.args[:2]
    return []


def spoken_of(test: Any, truth: bool) -> Spoken:
    """(path, expression) for each path of which a test says something."""
    kind = type(test)
    if kind in _PATHS:  # it speaks of nothing else
        path = path_of(test)
        return ((path, test),) if path is not None else ()
    if kind is COMPARE:
        ops = test.ops
        if len(ops) == 1 and type(ops[0]) not in _OPERATORS:  # x is None
            return ()
    # with the tree, for bodies are walked often; to ask the node for what it has not costs an
    # exception
    kept: dict[str, Any] = test.__dict__
    spoken: tuple[Spoken, Spoken] | None = kept.get("spoken")
    if spoken is None:  # both, for most tests are asked for both
        spoken = kept["spoken"] = _found_spoken(test, False), _found_spoken(test, True)
    return spoken[1] if truth else spoken[0]


def _found_spoken(test: ast.expr, truth: bool) -> Spoken:
    spoken: dict[str, ast.expr] = {}
    for node, _, _ in facts(test, truth):
        path = path_of(node)
        if path is not None and path not in spoken:
            spoken[path] = node
    return tuple(spoken.items())


def facts(test: ast.expr, truth: bool) -> list[Fact]:
    """(expression, relation, other side) for everything that surely holds when `test` is `truth`.

    Relations are > >= < <= == !=, "finite", "number" (no NaN), and "beyond" for what has at least
    the magnitude of the other side. The other side is an expression or a number. A relation that
    follows from a comparison that failed is marked with "?": NaN makes every comparison fail; with
    "??" where that of one element does so for all.
    """
    of_kind = _FACTS.get(type(test))
    return of_kind(test, truth) if of_kind is not None else []


def _of_truth(test: ast.expr, truth: bool) -> list[Fact]:
    return [(test, "!=" if truth else "==", 0.0)]


def _of_inverse(test: ast.UnaryOp, truth: bool) -> list[Fact]:
    return facts(test.operand, not truth) if type(test.op) in _INVERTING else []


def _of_parts(test: Any, truth: bool) -> list[Fact]:
    return [fact for part in parts_that_hold(test, truth) for fact in facts(part, truth)]


def _of_comparison(test: ast.Compare, truth: bool) -> list[Fact]:
    relations: list[Fact] = []
    if truth or len(test.ops) == 1:
        left = test.left
        for operator, right in zip(test.ops, test.comparators):
            relation = _OPERATORS.get(type(operator))
            if relation:
                relations += _both_ways(left, relation if truth else NEGATED[relation], right)
            left = right
    return relations


def _both_ways(left: ast.expr, relation: str, right: ast.expr) -> list[Fact]:
    sign = relation.rstrip("?")
    flipped = FLIPPED[sign] + relation[len(sign) :]
    return [
        (left, relation, right),
        *_magnitude(left, relation, right),
        *_of_extreme(left, relation, right),
        (right, flipped, left),
        *_of_extreme(right, flipped, left),
        *_of_none(left, relation, right),
        *_of_same(left, relation, right),
        *_of_same(right, flipped, left),
    ]


def _of_same(left: ast.expr, relation: str, right: ast.expr) -> list[Fact]:
    """What `tf.cast(n, tf.float32) > 0` says of n: a cast to floats and `tf.identity` keep the
    sign.
    """
    if not (type(left) is CALL and left.args and leaf(left.func) in _SAME_NUMBER):
        return []
    dtype = next((one.value for one in left.keywords if one.arg == "dtype"), None)
    dtype = left.args[1] if dtype is None and len(left.args) > 1 else dtype
    if leaf(left.func) in _CASTS and (dtype is None or "float" not in _spelled(dtype)):
        return []
    return _both_ways(left.args[0], relation, right)


def _spelled(dtype: ast.expr) -> str:
    """The name of a dtype, as it is written."""
    return str(dtype.value) if isinstance(dtype, ast.Constant) else leaf(dtype)


def _of_none(left: ast.expr, relation: str, right: ast.expr) -> list[Fact]:
    """What holds of all elements where none is counted: `tf.math.count_nonzero(x <= 0) == 0`."""
    if not (
        type(left) is CALL
        and len(left.args) == 1
        and leaf(left.func) == "count_nonzero"
        and type(right) is CONSTANT
    ):
        return []
    none = (relation.rstrip("?"), right.value) in _NONE and not any(
        [one.arg == "axis" for one in left.keywords]
    )
    return facts(left.args[0], False) if none else []


def _of_extreme(left: ast.expr, relation: str, right: ast.expr) -> list[Fact]:
    """What `tf.reduce_min(x) > 0` says of all of x, and `min(a, b) > 0` of both."""
    if type(left) is not CALL or not left.args:
        return []
    name = leaf(left.func)
    relations = EXTREMES.get(name)
    if relations is None or relation.rstrip("?") not in relations:
        return []
    parts = (
        left.args[:2]
        if name in _OF_TWO or type(left.func) is NAME and len(left.args) > 1
        else left.args[:1]
    )
    along = any([one.arg == "axis" for one in left.keywords]) or len(left.args) > len(parts)
    if along and not any([one.arg == "keepdims" for one in left.keywords]):
        return []
    return [(part, relation + "?" if relation.endswith("?") else relation, right) for part in parts]


def _magnitude(left: ast.expr, relation: str, right: ast.expr) -> list[Fact]:
    """What `abs(x) < 1`, `abs(x) > 0` and `abs(x) >= eps` say of x."""
    if not (type(left) is CALL and len(left.args) == 1 and leaf(left.func) in _MAGNITUDES):
        return []
    inner, sign = left.args[0], relation.rstrip("?")
    limit = (
        right.value
        if isinstance(right, ast.Constant) and isinstance(right.value, (int, float))
        else None
    )
    if sign in ("<", "<=") and limit is not None and sign == relation:
        return [(inner, relation, float(limit)), (inner, FLIPPED[relation], -float(limit))]
    if sign == ">" and limit is not None and limit >= 0:
        return [(inner, "!=" + relation[1:], 0.0)]
    return [(inner, "beyond" + relation[len(sign) :], right)] if sign in (">", ">=") else []


def _of_call(test: ast.Call, truth: bool) -> list[Fact]:
    name, args = leaf(test.func), test.args
    if name in _FUNCTIONS and len(args) >= 2:
        relation = _FUNCTIONS[name]
        return _both_ways(args[0], relation if truth else NEGATED[relation], args[1])
    if name in ("logical_and", "logical_or") and len(args) >= 2:
        return (
            facts(args[0], truth) + facts(args[1], truth)
            if (name == "logical_and") == truth
            else []
        )
    if name == "logical_not" and args:
        return facts(args[0], not truth)
    if name in ("reduce_all", "all", "Assert", "cast", "identity") and args:
        return facts(args[0], True) if truth else []
    if name in ("reduce_any", "any") and args:
        return [] if truth else facts(args[0], False)
    if name in IS_NAN_NAMES and len(args) == 1 and not truth:
        return [(args[0], "number", 0.0)]
    return _check(name, args) if truth else []


def _check(name: str, args: list[ast.expr]) -> list[Fact]:
    if name in _CHECKS and args:
        relation, bound = _CHECKS[name]
        return [(args[0], relation, bound)]
    if name in _PAIR_CHECKS and len(args) >= 2:
        return _both_ways(args[0], _PAIR_CHECKS[name], args[1])
    return [(args[0], "finite", 0.0)] if name in _FINITE and args else []


_FACTS: Final[dict[type, Callable[[Any, bool], list[Fact]]]] = {
    ast.Name: _of_truth,
    ast.Attribute: _of_truth,
    ast.Subscript: _of_truth,
    ast.UnaryOp: _of_inverse,
    ast.BoolOp: _of_parts,
    ast.BinOp: _of_parts,
    ast.Compare: _of_comparison,
    ast.Call: _of_call,
}


_HANDED_ON: Final = frozenset(("cast", "constant", "convert_to_tensor", "bool"))


def says_training(test: Any) -> bool | None:
    """What `training`, `not self.is_training`, `training is False`, `mode == ModeKeys.PREDICT` say
    where they hold; None for other tests.
    """
    kind = type(test)
    if kind is UNARY_OP:
        said = says_training(test.operand) if type(test.op) is ast.Not else None
        return None if said is None else not said
    if kind is COMPARE:
        return _says_mode(test)
    if kind is CALL and test.args:
        return _says_by_call(test)
    return True if is_training_flag(leaf(test)) else None


def _says_by_call(test: ast.Call) -> bool | None:
    """`tf.cast(training, tf.bool)`, `tf.equal(training, True)`."""
    name, operand = leaf(test.func), test.args[-1]
    if name == "equal" and type(operand) is CONSTANT and type(operand.value) is bool:
        said = says_training(test.args[0])
        return said if said is None or operand.value else not said
    return says_training(test.args[0]) if name in _HANDED_ON else None


def _says_mode(test: ast.Compare) -> bool | None:
    name = leaf(test.left)
    estimator = is_mode(name)
    if len(test.ops) > 1 or not (estimator or is_training_flag(name)):
        return None
    right, same = test.comparators[0], type(test.ops[0]) in (ast.Eq, ast.Is)
    if not estimator:
        return (
            right.value if same and type(right) is CONSTANT and type(right.value) is bool else None
        )
    if same:
        return ESTIMATOR_MODES.get(leaf(right))
    return False if type(test.ops[0]) in (ast.NotEq, ast.IsNot) and leaf(right) == "TRAIN" else None


Branch = tuple[ast.expr, "list[tuple[ast.expr, bool]]"]


# Ops that run one of some functions, and their parameters.
CHOOSING: Final = {
    "cond": ("pred", "true_fn", "false_fn"),
    "case": ("pred_fn_pairs", "default"),
    "switch_case": ("branch_index", "branch_fns"),
}


def branches_of(call: ast.Call) -> list[Branch]:
    """The functions of which `tf.cond`, `tf.case` or `tf.switch_case` runs one, each with the tests
    that hold, or do not, where it is run.
    """
    name = leaf(call.func)
    if name not in CHOOSING:
        return []
    arguments = dict(zip(CHOOSING[name], call.args))
    arguments.update([(one.arg, one.value) for one in call.keywords if one.arg is not None])
    if name == "switch_case":
        return _of_index(arguments.get("branch_index"), arguments.get("branch_fns"))
    if name == "cond":
        test = arguments.get("pred")
        return (
            [
                (arguments[one], [(test, one == "true_fn")])
                for one in ("true_fn", "false_fn")
                if one in arguments
            ]
            if test is not None
            else []
        )
    return _of_pairs(arguments.get("pred_fn_pairs"), arguments.get("default"))


def _of_index(index: ast.expr | None, functions: ast.expr | None) -> list[Branch]:
    """The two functions of `tf.switch_case(tf.cast(test, tf.int32), [f, g])`: `f` is run where the
    test does not hold, `g` where it does.
    """
    is_cast = isinstance(index, ast.Call) and leaf(index.func) in ("cast", "int")
    listed = functions.elts if isinstance(functions, (ast.List, ast.Tuple)) else []
    if not isinstance(index, ast.Call) or not is_cast or not index.args or len(listed) != 2:
        return []
    test = index.args[0]
    return [(listed[0], [(test, False)]), (listed[1], [(test, True)])]


def _of_pairs(pairs: ast.expr | None, default: ast.expr | None) -> list[Branch]:
    """The functions of `tf.case`: each is run where its own test holds and those before it do not;
    those of a dict have no order.
    """
    if isinstance(pairs, ast.Dict):
        count, listed = (
            len(pairs.keys),
            [(test, run) for test, run in zip(pairs.keys, pairs.values) if test is not None],
        )
    else:
        written = pairs.elts if isinstance(pairs, (ast.List, ast.Tuple)) else []
        count, listed = (
            len(written),
            [
                (one.elts[0], one.elts[1])
                for one in written
                if isinstance(one, ast.Tuple) and len(one.elts) == 2
            ],
        )
    if not listed or len(listed) < count:
        return []  # some are not written here
    branches: list[Branch] = []
    failed: list[tuple[ast.expr, bool]] = []
    for test, run in listed:
        branches.append((run, [*(() if isinstance(pairs, ast.Dict) else failed), (test, True)]))
        failed.append((test, False))
    return [*branches, (default, failed)] if default is not None else branches


def for_evaluation(node: Any) -> ast.expr | None:
    """The part of an expression that runs only where nothing is trained: `K.in_train_phase(f, g)`,
    `tf.cond(training, f, g)`, `x if training else y`. What is handed over as a tensor is computed
    in any case.
    """
    kind = type(node)
    if kind is ast.IfExp:
        said = says_training(node.test)
        return None if said is None else node.orelse if said else node.body
    name, args = (leaf(node.func), node.args) if kind is CALL else ("", [])
    if name not in PHASES or len(args) < 2:
        return None
    if name.startswith("in_"):
        run = args[1] if name == "in_train_phase" else args[0]
        return run if isinstance(run, ast.Lambda) else None
    said = says_training(args[0]) if len(args) > 2 else None
    return None if said is None else args[2] if said else args[1]


def spelt_out(test: Any, name: str, expression: ast.expr) -> Any:
    """A test with an expression in the place of the name that it has; made once, for what tests say
    is kept with them.
    """
    kept: dict[Any, Any] = test.__dict__.setdefault("spelt_out", {})
    if (name, expression) not in kept:
        kept[name, expression] = _with_expression(test, name, expression)
    return kept[name, expression]


def _with_expression(test: Any, name: str, expression: ast.expr) -> Any:
    kind = type(test)
    if kind is ast.Name and test.id == name:
        return expression
    if kind is ast.Compare:
        left, *others = [
            _with_expression(one, name, expression) for one in (test.left, *test.comparators)
        ]
        return ast.copy_location(ast.Compare(left, test.ops, others), test)
    if kind is ast.UnaryOp:
        return ast.copy_location(
            ast.UnaryOp(test.op, _with_expression(test.operand, name, expression)), test
        )
    if kind is ast.BoolOp:
        return ast.copy_location(
            ast.BoolOp(test.op, [_with_expression(one, name, expression) for one in test.values]),
            test,
        )
    if kind is ast.Call:
        return ast.copy_location(
            ast.Call(
                test.func,
                [_with_expression(one, name, expression) for one in test.args],
                test.keywords,
            ),
            test,
        )
    return test
