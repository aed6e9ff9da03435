"""The flow graph of a body of code: which definitions of its names reach which uses.

It is made once for a body, from its tree alone. In

    out = f(x)
    out = g(x)
    return out

the use of `out` is one of the second definition; the first one is dead.
"""

from __future__ import annotations

import ast
from typing import Any, Final

from tfnanlint.syntax.nodes import NAME, SEQUENCES, declared, nodes_in, parts_of

_BODIES: Final = frozenset((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
_COMPREHENSIONS: Final = frozenset((ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp))
# Methods that change a list and give nothing, and what makes a container that nothing else holds.
_CHANGING: Final = frozenset("append appendleft clear extend insert reverse sort".split())
_CONTAINERS: Final = (ast.List, ast.Dict, ast.ListComp, ast.DictComp)
_MAKING: Final = frozenset(("list", "dict", "deque", "defaultdict", "OrderedDict"))
_MAX_ROUNDS: Final = 8  # of a loop, until no more definitions reach its head

Reaching = dict[str, frozenset["Definition"]]


class Definition:
    """A name that is given a value. `whole` is the expression that it is made of, None where there
    is none (an import, the name of a function). `is_alone` tells that the statement gives it to
    this name only: nothing else holds a list that is made there.
    """

    __slots__ = ("name", "whole", "uses", "is_overwritten", "is_alone")

    def __init__(self, name: str, whole: Any):
        self.name = name
        self.whole = whole
        self.uses: list[Use] = []
        self.is_overwritten = False  # a later one takes its place somewhere, or `del` ends it
        self.is_alone = False

    @property
    def is_dead(self) -> bool:
        """Whether another definition or a `del` takes its place before it is read."""
        return self.is_overwritten and not self.uses


class Use:
    """Where a definition is read: the name, and the expression of the statement that holds it. What
    a function or class inside reads is read whenever that runs: then it is the `whole`.
    """

    __slots__ = ("node", "whole")

    def __init__(self, node: ast.Name, whole: Any):
        self.node = node
        self.whole = whole


class FlowGraph:
    """The definitions and uses of the names of one function, or of a file outside of its functions.

    `made` has the definitions that an expression is given to, if the statement does nothing else
    with it: not for `self.loss = loss = f(x)`. What is added to a list that is made here or put
    into it is given to the definitions of its name: `steps.append(f(x))`, `parts["loss"] = f(x)`.
    `unpacked` has the targets, one for each element: of `loss, self.rate = f(x)`; `kept` the only
    target, where that is an attribute. `augmented` are the expressions of `x += y`, `parameters`
    the definitions that calls give a value, `statements` the expressions that are a statement.
    """

    def __init__(self, body: ast.AST):
        self.made: dict[Any, list[Definition]] = {}
        self.unpacked: dict[Any, list[tuple[Any, Definition | None]]] = {}
        self.kept: dict[Any, ast.Attribute] = {}
        self.augmented: set[Any] = set()
        self.statements: set[Any] = set()
        self.parameters: dict[str, Definition] = {}
        self.definitions: dict[str, list[Definition]] = {}
        self._captured: dict[str, list[Use]] = {}
        self._outside = declared(body, ast.Global) | declared(body, ast.Nonlocal)
        self._breaks: list[list[Reaching]] = []
        self._nexts: list[list[Reaching]] = []
        self._by_target: dict[Any, Definition] = {}
        self._made_in_order: list[Definition] = []
        self._seen: set[tuple[int, int]] = set()
        self._block(getattr(body, "body", ()), self._receive(getattr(body, "args", None)))
        for name, uses in self._captured.items():
            for definition in self.definitions.get(name, ()):
                definition.uses += uses

    def _receive(self, arguments: ast.arguments | None) -> Reaching:
        """The definitions of the parameters of a function."""
        reaching: Reaching = {}
        if arguments is None:
            return reaching
        rest = [arguments.vararg, arguments.kwarg]
        for node in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *rest):
            if node is not None:
                self.parameters[node.arg] = self._define(node, node.arg, None, reaching)
        return reaching

    def outer(self, name: str) -> bool:
        """Whether a name belongs to a body around this one."""
        return name in self._outside

    # Statements: each gives what reaches the next one, None where none is reached; what it is given
    # is its own, and may be changed

    def _block(self, body: Any, reaching: Reaching | None) -> Reaching | None:
        for statement in body:
            if reaching is None:
                return None
            reaching = self._statement(statement, reaching)
        return reaching

    def _statement(self, node: Any, reaching: Reaching) -> Reaching | None:
        kind = type(node)
        step = _STEPS.get(kind)
        if step is not None:
            return step(self, node, reaching)
        if kind in _BODIES:
            return self._inner_body(node, reaching)
        for part in parts_of(node):
            self._read(part, reaching)
        return None if kind is ast.Raise else reaching

    def _assign(self, node: Any, reaching: Reaching) -> Reaching:
        if node.value is None:
            return reaching
        reaching = self._read(node.value, reaching)
        targets = node.targets if type(node) is ast.Assign else [node.target]
        reaching = self._give(targets, node.value, reaching)
        if len(targets) == 1:
            self._unpack(targets[0], node.value)
        return reaching

    def _augmented(self, node: ast.AugAssign, reaching: Reaching) -> Reaching:
        whole = getattr(node, "combined", node.value)
        self.augmented.add(whole)
        reaching = self._read(whole, reaching)
        return self._give([node.target], whole, reaching)

    def _give(self, targets: list[Any], whole: Any, reaching: Reaching) -> Reaching:
        """Give the parts of an expression to targets."""
        plain = True
        definitions: list[Definition] = []
        for target in targets:
            for part in _flat(target):
                if type(part) is NAME:
                    definitions.append(self._define(part, part.id, whole, reaching))
                    plain = plain and part.id not in self._outside
                else:
                    held = self._put(part, whole, reaching)
                    definitions += held
                    plain = plain and bool(held)
        if plain:
            self.made[whole] = definitions
        return reaching

    def _unpack(self, target: Any, whole: Any) -> None:
        """Note what is given each element of an expression, or all of it."""
        kind = type(target)
        if kind is NAME and whole in self.made:
            self.made[whole][0].is_alone = True
        elif kind is ast.Attribute:
            self.kept[whole] = target
        elif kind in SEQUENCES and not any(type(one) is ast.Starred for one in target.elts):
            self.unpacked[whole] = [(one, self._by_target.get(one)) for one in target.elts]

    def _define(self, target: Any, name: str, whole: Any, reaching: Reaching) -> Definition:
        """A definition, that takes the place of those before it."""
        definition = self._by_target.get(target)
        if definition is None:
            definition = self._by_target[target] = Definition(name, whole)
            self.definitions.setdefault(name, []).append(definition)
        self._made_in_order.append(definition)
        for before in reaching.get(name, ()):
            if before is not definition:
                before.is_overwritten = True
        reaching[name] = frozenset((definition,))
        return definition

    def _put(self, target: Any, whole: Any, reaching: Reaching) -> list[Definition]:
        """What holds a value that is given to a part of it; nothing where that is not known."""
        held = _container(target, reaching) if type(target) is ast.Subscript else []
        if held:
            self._read(target.slice, reaching)
        else:
            self._change(target, whole, reaching)
        return held

    def _change(self, target: Any, whole: Any, reaching: Reaching) -> None:
        """`x[i] = value`, `x.a = value`: what reads `x` may read the value."""
        for node in nodes_in(target):
            if type(node) is NAME:
                self._note(node, target, reaching)

    def _expression(self, node: ast.Expr, reaching: Reaching) -> Reaching:
        reaching = self._read(node.value, reaching)
        self.statements.add(node.value)
        method = node.value.func if isinstance(node.value, ast.Call) else None
        if isinstance(method, ast.Attribute) and method.attr in _CHANGING:
            held = _container(method, reaching)
            if held:
                self.made[node.value] = held
        return reaching

    def _leave(self, node: Any, reaching: Reaching) -> None:
        if node.value is not None:
            self._read(node.value, reaching)

    def _if(self, node: ast.If, reaching: Reaching) -> Reaching | None:
        reaching = self._read(node.test, reaching)
        return _merged(
            (self._block(node.body, dict(reaching)), self._block(node.orelse, dict(reaching)))
        )

    def _loop(self, node: Any, reaching: Reaching) -> Reaching | None:
        head: Reaching = reaching
        self._breaks.append([])
        for _ in range(_MAX_ROUNDS):
            self._nexts.append([])
            if isinstance(node, ast.While):
                inside = self._read(node.test, dict(head))
            else:
                inside = self._give([node.target], node.iter, self._read(node.iter, dict(head)))
            end = self._block(node.body, inside)
            again = _merged((reaching, end, *self._nexts.pop())) or reaching
            if again == head:
                break
            head = again
        left = self._block(node.orelse, dict(head))
        return _merged((left, *self._breaks.pop()))

    def _break(self, node: ast.stmt, reaching: Reaching) -> None:
        if self._breaks:
            self._breaks[-1].append(reaching)

    def _continue(self, node: ast.stmt, reaching: Reaching) -> None:
        if self._nexts:
            self._nexts[-1].append(reaching)

    def _with(self, node: Any, reaching: Reaching) -> Reaching | None:
        for item in node.items:
            reaching = self._read(item.context_expr, reaching)
            if item.optional_vars is not None:
                reaching = self._give([item.optional_vars], item.context_expr, reaching)
        return self._block(node.body, reaching)

    def _try(self, node: Any, reaching: Reaching) -> Reaching | None:
        mark = len(self._made_in_order)
        done = self._block(node.body, dict(reaching))
        broken = dict(reaching)  # any of the definitions in the body may have been made
        for definition in self._made_in_order[mark:]:
            broken[definition.name] = broken.get(definition.name, frozenset()) | {definition}
        ends = [self._block(node.orelse, done) if done is not None else None]
        for handler in node.handlers:
            state = dict(broken)
            if handler.type is not None:
                state = self._read(handler.type, state)
            if handler.name:
                self._define(handler, handler.name, None, state)
            ends.append(self._block(handler.body, state))
        whole = _merged(tuple(ends))
        if not node.finalbody:
            return whole
        self._block(node.finalbody, dict(broken))  # behind an exception that nothing handles
        return self._block(node.finalbody, whole) if whole is not None else None

    def _match(self, node: Any, reaching: Reaching) -> Reaching | None:
        reaching = self._read(node.subject, reaching)
        ends: list[Reaching | None] = [reaching]
        for case in node.cases:
            state = dict(reaching)
            for part in ast.walk(case.pattern):
                name = getattr(part, "name", None) or getattr(part, "rest", None)
                if isinstance(name, str):
                    self._define(part, name, node.subject, state)
            if case.guard is not None:
                state = self._read(case.guard, state)
            ends.append(self._block(case.body, state))
        return _merged(tuple(ends))

    def _delete(self, node: ast.Delete, reaching: Reaching) -> Reaching:
        for target in node.targets:
            if not isinstance(target, ast.Name):
                self._read(target, reaching)
        for target in node.targets:
            if isinstance(target, ast.Name):
                for definition in reaching.pop(target.id, ()):
                    definition.is_overwritten = True
        return reaching

    def _import(self, node: Any, reaching: Reaching) -> Reaching:
        for alias in node.names:
            name = alias.asname or alias.name.split(".", 1)[0]
            self._define(alias, name, None, reaching)
        return reaching

    def _declare(self, node: ast.stmt, reaching: Reaching) -> Reaching:
        return reaching

    def _inner_body(self, node: Any, reaching: Reaching) -> Reaching:
        """A function or class inside: what it reads it may read at any time."""
        read = [one for one in nodes_in(node) if isinstance(one, ast.Name)]
        changed = declared(node, ast.Nonlocal) | declared(node, ast.Global)
        for name in (*read, *[ast.Name(one, ast.Load()) for one in sorted(changed)]):
            self._captured.setdefault(name.id, []).append(Use(name, node))
        self._define(node, node.name, None, reaching)
        return reaching

    # Expressions

    def _read(self, whole: Any, reaching: Reaching) -> Reaching:
        """What an expression reads; what reaches the rest behind it, with the names it binds."""
        bound: list[Any] = []
        stack: list[tuple[Any, frozenset[str]]] = [(whole, frozenset())]
        while stack:
            node, own = stack.pop()
            kind = type(node)
            if kind is NAME:
                if node.id not in own:
                    self._note(node, whole, reaching)
                continue
            if kind is ast.Lambda:
                own = own | {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
                for name in nodes_in(node.body):
                    if type(name) is NAME and name.id not in own:
                        self._captured.setdefault(name.id, []).append(Use(name, whole))
                stack.append((node.args, own))
                continue
            if kind in _COMPREHENSIONS:
                own = own | {
                    name.id
                    for one in node.generators
                    for name in nodes_in(one.target)
                    if type(name) is NAME
                }
            if kind is ast.NamedExpr:
                bound.append(node)
            stack += [(part, own) for part in parts_of(node)]
        for node in bound:
            self._define(node.target, node.target.id, node.value, reaching)
        return reaching

    def _note(self, node: ast.Name, whole: Any, reaching: Reaching) -> None:
        """Note the use of a name by the definitions that reach it."""
        for definition in reaching.get(node.id, ()):
            key = (id(node), id(definition))
            if key not in self._seen:  # a loop is gone through more than once
                self._seen.add(key)
                definition.uses.append(Use(node, whole))


def _container(member: Any, reaching: Reaching) -> list[Definition]:
    """The definitions of the name whose `member` is an element or a method, if each makes a list or
    a dict for this name alone; else nothing: it may be held elsewhere, too.
    """
    name = member.value
    held = reaching.get(name.id, frozenset()) if type(name) is NAME else frozenset()
    alone = all([one.is_alone and _is_container(one.whole) for one in held])
    return list(held) if alone else []


def _is_container(whole: Any) -> bool:
    if isinstance(whole, ast.Call):
        return isinstance(whole.func, ast.Name) and whole.func.id in _MAKING
    return isinstance(whole, _CONTAINERS)


def _flat(target: Any) -> list[Any]:
    """The targets of one assignment, one by one."""
    if type(target) is ast.Starred:
        return _flat(target.value)
    if type(target) in SEQUENCES:
        return [part for one in target.elts for part in _flat(one)]
    return [target]


def _merged(ends: tuple[Reaching | None, ...]) -> Reaching | None:
    """What reaches a place to which several ways lead; None where none of them does."""
    ways = [one for one in ends if one is not None]
    if not ways:
        return None
    parts: dict[str, list[frozenset[Definition]]] = {}
    for way in ways:
        for name, definitions in way.items():
            parts.setdefault(name, []).append(definitions)
    return {
        name: sets[0] if len(sets) == 1 else sets[0].union(*sets[1:])
        for name, sets in parts.items()
    }


_STEPS: Final[dict[type, Any]] = {
    ast.Assign: FlowGraph._assign,
    ast.AnnAssign: FlowGraph._assign,
    ast.AugAssign: FlowGraph._augmented,
    ast.Expr: FlowGraph._expression,
    ast.Return: FlowGraph._leave,
    ast.If: FlowGraph._if,
    ast.For: FlowGraph._loop,
    ast.AsyncFor: FlowGraph._loop,
    ast.While: FlowGraph._loop,
    ast.Break: FlowGraph._break,
    ast.Continue: FlowGraph._continue,
    ast.With: FlowGraph._with,
    ast.AsyncWith: FlowGraph._with,
    ast.Try: FlowGraph._try,
    ast.Match: FlowGraph._match,
    ast.Delete: FlowGraph._delete,
    ast.Import: FlowGraph._import,
    ast.ImportFrom: FlowGraph._import,
    ast.Global: FlowGraph._declare,
    ast.Nonlocal: FlowGraph._declare,
}
if hasattr(ast, "TryStar"):
    _STEPS[ast.TryStar] = FlowGraph._try
