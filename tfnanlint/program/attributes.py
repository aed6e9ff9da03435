"""What methods do with the attributes of their first parameter, as far as their text says."""

from __future__ import annotations

import ast
import collections
from typing import Any, Final, Iterator

from tfnanlint.syntax.access_paths import leaf, path_of
from tfnanlint.syntax.nodes import ASSIGN, ATTRIBUTE, CALL, NAME, blocks_of, nodes_in, statements_in

# Methods of lists, dicts, sets, arrays and models that change these.
CHANGING: Final = frozenset(
    "append extend insert add update pop remove clear setdefault appendleft "
    "fill sort reverse".split()
)
_SIMPLE: Final = frozenset((ast.Assign, ast.Expr, ast.AugAssign, ast.AnnAssign))
_LISTS: Final = frozenset((ast.Tuple, ast.List))
_WITH: Final = frozenset((ast.With, ast.AsyncWith))
_ONE_TARGET: Final = frozenset((ast.AugAssign, ast.AnnAssign))
# They leave their block, or what is in them runs later.
_LEAVING: Final = frozenset(
    (
        ast.Return,
        ast.Break,
        ast.Continue,
        ast.Raise,
        ast.Yield,
        ast.YieldFrom,
        ast.Await,
        ast.FunctionDef,
        ast.Lambda,
    )
)


def assigned_attributes(method: Any) -> set[str]:
    """Attributes of the first parameter that a method assigns, nested statements included."""
    if not method.args.args:
        return set()
    owner = method.args.args[0].arg
    attributes: set[str] = set()
    for node in statements_in(method):
        kind = type(node)
        if kind is ASSIGN:
            targets = [*node.targets]
        elif kind in _ONE_TARGET:
            targets = [node.target]
        elif kind in _WITH:
            targets = [
                item.optional_vars for item in node.items if type(item.optional_vars) is ATTRIBUTE
            ]
        else:
            continue
        for target in targets:  # it grows on the way
            kind = type(target)
            if kind is ATTRIBUTE:
                if type(target.value) is NAME and target.value.id == owner:
                    attributes.add(target.attr)
            elif kind in _LISTS:
                targets += target.elts
    return attributes


def stored_as_given(method: Any) -> dict[str, ast.expr]:
    """The attributes that a method assigns once and always, by what it is given alone:
    `self.eps = eps`, `self.dense = Dense(units, act)`.
    """
    known = getattr(method, "stored", None)
    if known is None:  # kept with the tree
        known = method.stored = _stored(method)
    return known


def set_last(method: Any) -> frozenset[str]:
    """The names and attributes that the statements of an `__init__` assign in any case, behind the
    last one that runs the `__init__` of a base.
    """
    known: frozenset[str] | None = getattr(method, "set_last", None)
    if known is None:  # kept with the tree
        known = method.set_last = frozenset(_set_last(method.body))
    return known


def _set_last(body: list[ast.stmt]) -> Iterator[str]:
    for statement in reversed(body):
        if isinstance(statement, ast.Assign):
            yield from filter(None, map(path_of, statement.targets))
        calls = [node for node in nodes_in(statement) if isinstance(node, ast.Call)]
        if any([leaf(call.func) == "__init__" for call in calls]):
            return


def attributes_in(cls: Any) -> frozenset[str]:
    """The names of the attributes, of whatever objects, that the text of a class reads or sets."""
    known: frozenset[str] | None = getattr(cls, "attribute_names", None)
    if known is None:  # kept with the tree
        known = cls.attribute_names = frozenset(
            [one.attr for one in nodes_in(cls) if type(one) is ATTRIBUTE]
        )
    return known


# What binds a name besides names themselves.
_NAMING = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.alias,
    ast.ExceptHandler,
    ast.MatchAs,
    ast.MatchStar,
)


def _stored(method: Any) -> dict[str, ast.expr]:
    if not method.args.args:
        return {}
    owner, bound = method.args.args[0].arg, set()
    times: collections.Counter[str] = collections.Counter()
    for node in nodes_in(method):
        if isinstance(node, ast.Attribute):
            times[node.attr] += not isinstance(node.ctx, ast.Load) and _named(node.value, owner)
        elif isinstance(node, _NAMING) and node is not method:
            bound.add(
                (node.asname or node.name).partition(".")[0]
                if isinstance(node, ast.alias)
                else node.name or ""
            )
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
    values: dict[str, ast.expr] = {}
    if owner in bound:
        return values
    bound.add(owner)
    for target, value in _assignments(method.body):
        if (
            isinstance(target, ast.Attribute)
            and times[target.attr] == 1
            and _named(target.value, owner)
        ):
            if bound.isdisjoint([one.id for one in nodes_in(value) if isinstance(one, ast.Name)]):
                values[target.attr] = value
    return values


def _assignments(body: list[ast.stmt]) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What the statements of a body assign, each target with its value:
    `self.axis, self.eps = axis, eps` are two.
    """
    for statement in body:
        value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
        if value is None:
            continue
        for target in (
            statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        ):
            if (
                isinstance(target, (ast.Tuple, ast.List))
                and isinstance(value, (ast.Tuple, ast.List))
                and len(target.elts) == len(value.elts)
            ):
                if not any(isinstance(one, ast.Starred) for one in target.elts + value.elts):
                    yield from zip(target.elts, value.elts)
            else:
                yield target, value


SETTING: Final = ("setattr(self", "self.__dict__", "vars(self)")
Spelled = tuple[str, bool]  # a name, or with True what names begin with


def spelled_names(method: Any) -> list[Spelled]:
    """The names under which a method sets attributes of its first parameter where it computes them:
    `setattr(self, f"block_{n}", block)`, `self.__dict__.update(kwargs)`.
    """
    known = getattr(method, "spelled", None)
    if known is None:  # kept with the tree
        known = method.spelled = _spelled(method) if method.args.args else []
    return known


def _spelled(method: Any) -> list[Spelled]:
    owner, names = method.args.args[0].arg, []
    for node in nodes_in(method):
        if isinstance(node, ast.Call):
            function: Any = node.func
            if (
                _named(function, "setattr")
                and len(node.args) == 3
                and _named(node.args[0], owner)
                and not isinstance(node.args[1], ast.Constant)
            ):
                names += _names_of(node.args[1], method)
            elif (
                isinstance(function, ast.Attribute)
                and function.attr == "update"
                and _dict_of(function.value, owner)
            ):
                names.append(("", True))
        elif (
            isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Store)
            and _dict_of(node.value, owner)
        ):
            names += _names_of(node.slice, method)
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and _dict_of(node, owner)
        ):
            names.append(("", True))
    return names


def sets(spelled: list[Spelled], attribute: str) -> bool:
    """Whether an attribute is under one of the names that are computed."""
    return any(
        [
            attribute.startswith(name) if open_end else attribute == name
            for name, open_end in spelled
        ]
    )


def is_changed(method: Any, name: str) -> bool:
    """Whether a method gives a name another value, or changes the dict that it stands for."""
    for node in nodes_in(method):
        if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load):
            return True
        if isinstance(node, ast.Subscript) and _named(node.value, name):
            if not isinstance(node.ctx, ast.Load):
                return True
        if isinstance(node, ast.Attribute) and node.attr == "update":
            if _named(node.value, name):
                return True
    return False


def keeps_keywords(method: Any) -> bool:
    """Whether all that a method sets under computed names is what its `**kwargs` hold, under their
    names: `self.__dict__.update(kwargs)`,
    `for name, value in kwargs.items(): setattr(self, name, value)`.
    """
    if method.args.kwarg is None:
        return False
    owner, keywords = method.args.args[0].arg, method.args.kwarg.arg
    if is_changed(method, keywords):
        return False
    kept = 0
    for node in nodes_in(method):
        if (
            isinstance(node, ast.For)
            and isinstance(node.target, ast.Tuple)
            and _pairs_of(node.iter, keywords)
        ):
            names = [getattr(one, "id", "") for one in node.target.elts]
            kept += sum(
                [
                    isinstance(one, ast.Call)
                    and _named(one.func, "setattr")
                    and [getattr(arg, "id", "") for arg in one.args] == [owner, *names]
                    for one in nodes_in(node)
                ]
            )
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "update"
        ):
            handed = [*node.args, *[one.value for one in node.keywords if one.arg is None]]
            kept += (
                _dict_of(node.func.value, owner)
                and len(handed) == 1
                and _named(handed[0], keywords)
            )
    return kept == len(spelled_names(method))


def dicts_kept(method: Any) -> list[ast.expr] | None:
    """The dicts of which a method makes attributes of its first parameter, under their names:
    `self.__dict__.update(DEFAULTS, **settings)`,
    `for name, value in settings.items(): setattr(self, name, value)`; None where it sets others
    under computed names, too.
    """
    owner = method.args.args[0].arg
    dicts: list[ast.expr] = []
    kept = 0
    for node in nodes_in(method):
        if isinstance(node, ast.For) and isinstance(node.target, ast.Tuple):
            names = [getattr(one, "id", "") for one in node.target.elts]
            setting = [
                one
                for one in nodes_in(node)
                if isinstance(one, ast.Call)
                and _named(one.func, "setattr")
                and [getattr(arg, "id", "") for arg in one.args] == [owner, *names]
            ]
            pairs: Any = node.iter
            if setting and isinstance(pairs, ast.Call) and isinstance(pairs.func, ast.Attribute):
                kept += len(setting)
                dicts.append(pairs.func.value)
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "update"
            and _dict_of(node.func.value, owner)
        ):
            kept += 1
            dicts += [*node.args, *[one.value for one in node.keywords if one.arg is None]]
            named = [one for one in node.keywords if one.arg is not None]
            if named:
                keys: list[Any] = [ast.Constant(one.arg) for one in named]
                dicts.append(ast.Dict(keys, [one.value for one in named]))
    return dicts if kept == len(spelled_names(method)) else None


def _pairs_of(node: ast.expr, name: str) -> bool:
    """Whether a node is `kwargs.items()`."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "items"
        and _named(node.func.value, name)
    )


def _dict_of(node: ast.AST, owner: str) -> bool:
    """Whether a node is `self.__dict__` or `vars(self)`."""
    if isinstance(node, ast.Call):
        return _named(node.func, "vars") and len(node.args) == 1 and _named(node.args[0], owner)
    return isinstance(node, ast.Attribute) and node.attr == "__dict__" and _named(node.value, owner)


def _names_of(node: ast.expr, method: Any) -> list[Spelled]:
    """What a text may be, as it is written: a constant, or one with something behind it; also
    through a name of the method.
    """
    if not isinstance(node, ast.Name):
        return [_begun(node)]
    texts: list[Spelled] = []
    unseen = 0  # what binds the name in another way
    for inner in nodes_in(method):
        if (
            isinstance(inner, ast.Name)
            and inner.id == node.id
            and not isinstance(inner.ctx, ast.Load)
        ):
            unseen += 1
        elif (
            isinstance(inner, ast.Assign)
            and len(inner.targets) == 1
            and _named(inner.targets[0], node.id)
        ):
            unseen -= 1
            texts.append(_begun(inner.value))
        elif (
            isinstance(inner, ast.For)
            and _named(inner.target, node.id)
            and isinstance(inner.iter, (ast.Tuple, ast.List))
        ):
            unseen -= 1
            texts += [_begun(one) for one in inner.iter.elts]
    return texts if texts and not unseen else [("", True)]


def _begun(node: ast.expr) -> Spelled:
    """What a text begins with: `f"block_{n}"`, `"block_" + str(n)`, `"block_%d" % n`,
    `"block_{}".format(n)`.
    """
    if isinstance(node, ast.JoinedStr):
        node = node.values[0] if node.values else node
    elif isinstance(node, ast.BinOp):
        node = node.left
    elif (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "format"
    ):
        node = node.func.value
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value, False
    written = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
    return written.partition("%")[0].partition("{")[0], True


def tested_attributes(function: Any) -> list[str]:
    """The attributes of its first parameter that the tests in a function read."""
    known = getattr(function, "tested", None)
    if known is None:  # kept with the tree
        owner = function.args.args[0].arg if function.args.args else ""
        tests = [node.test for node in nodes_in(function) if isinstance(node, (ast.If, ast.IfExp))]
        known = function.tested = sorted(
            {
                inner.attr
                for test in tests
                for inner in nodes_in(test)
                if isinstance(inner, ast.Attribute) and _named(inner.value, owner)
            }
        )
    return known


def replaced(method: Any, attribute: str, by_calls: bool) -> set[ast.expr]:
    """The values that a method assigns to an attribute only until a later statement of the same
    block assigns another one, while no other code can see the object. With `by_calls` also the
    calls that change what it holds, `self.net.add(layer)`, and what is changed by them.
    """
    owner = method.args.args[0].arg
    overwritten: set[ast.expr] = set()
    for block in _blocks(method):
        held: list[ast.expr] = []
        for statement in block:
            if _lent(statement, owner):
                held = []
            values = list(_settings(statement, owner, attribute, by_calls))
            if values:
                overwritten |= {*held, *values[:-1]}
                held = values[-1:]
            elif held and type(statement) not in _SIMPLE:
                inner = statements_in(statement)
                held += [v for one in inner for v in _settings(one, owner, attribute, by_calls)]
    return overwritten


def changes_of_attributes(tree: ast.AST) -> dict[str, list[ast.Call]]:
    """The calls that change what attributes hold, `self.net.add(layer)`, by the attributes."""
    changes: dict[str, list[ast.Call]] = {}
    for node in nodes_in(tree):
        if type(node) is CALL and type(node.func) is ATTRIBUTE and node.func.attr in CHANGING:
            if type(node.func.value) is ATTRIBUTE:
                changes.setdefault(node.func.value.attr, []).append(node)
    return changes


def changes_in(method: Any, attribute: str) -> set[ast.expr]:
    """The statements of a method that are such calls of an attribute of its object."""
    owner = method.args.args[0].arg
    return {
        value
        for statement in statements_in(method)
        if isinstance(statement, ast.Expr)
        for value in _settings(statement, owner, attribute, True)
    }


def _settings(
    statement: ast.stmt, owner: str, attribute: str, by_calls: bool
) -> Iterator[ast.expr]:
    """What a statement assigns to an attribute, or the call by which it changes what it holds."""
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            if _is_attribute(target, owner, attribute):
                yield statement.value
    elif by_calls and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        method = statement.value.func
        if isinstance(method, ast.Attribute) and method.attr in CHANGING:
            if _is_attribute(method.value, owner, attribute):
                yield statement.value


def _is_attribute(node: ast.expr, owner: str, attribute: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == attribute and _named(node.value, owner)


def _blocks(method: Any) -> list[list[ast.stmt]]:
    """The blocks of statements in a method, its own included."""
    known = getattr(method, "blocks", None)
    if known is None:  # kept with the tree: every attribute of its class asks
        known = method.blocks = [
            block for node in (method, *statements_in(method)) for block in blocks_of(node) if block
        ]
    return known


def _lent(statement: ast.stmt, owner: str) -> bool:
    """Whether a statement leaves its block, or hands the object on: `self.build()`, `f(self)`, a
    function with `self` in it.
    """
    seen: set[ast.AST] = set()
    for node in nodes_in(statement):
        kind = type(node)
        if kind in _LEAVING:
            return True
        if kind is CALL:
            if type(node.func) is ATTRIBUTE and _named(node.func.value, owner):
                return True
        elif kind is ATTRIBUTE:
            seen.add(node.value)
        elif kind is NAME and node.id in (owner, "super") and node not in seen:
            return True
    return False


def _named(node: ast.AST, name: str) -> bool:
    return type(node) is NAME and node.id == name
