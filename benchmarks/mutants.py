#!/usr/bin/env python3
"""How many small errors in the code do the tests notice: mutants.py [--each N] [--seed S]
[--folder NAME ...] [--minutes M] [--tensorflow]

Takes N random places in functions of each folder and changes one thing there: a comparison, a
condition, an operator, a number, what is returned. For each such mutant the tests that run the
function are run until one fails, the quick ones first, for a minute at most; a mutant is killed
when one does, or when the tests take five times as long as without it and 20 seconds more. Prints
the mutants that survive, for a reader, and the share of those killed by folder.

With `--tensorflow` the tests that execute TensorFlow are asked too: claims of rules, rows of ops.
Each mutant that the others leave alive costs some ten seconds more.

Tests are collected once, and each mutant is a fork of that process in which the code of one
function is exchanged: files stay as they are. What is computed while a module is imported, as the
bounds in the rows of ops, is therefore not mutated: `tests/ops` executes those in TensorFlow.
"""

from __future__ import annotations

import argparse
import ast
import copy
import functools
import gc
import importlib
import os
import pathlib
import pickle
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from types import CodeType, FunctionType

import pytest

from tfnanlint.dev.repository import ROOT

# By folder: the tests that are looked through for those that run a function.
RULES = "tests/rules/test_rules.py"
FOLDERS = {
    "rules": ("tests/rules", "tests/rule", "tests/project"),
    "tfnanlint/terms": ("tests/terms", "tests/idioms", "tests/rules"),
    "tfnanlint/idioms": ("tests/idioms", "tests/rules"),
    "tfnanlint/ops": (
        "tests/ops",
        "tests/interp/test_flow.py",
        "tests/uses",
        "tests/project",
        RULES,
    ),
}
COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
SLOWER, PATIENCE = 5, 20  # times, and seconds of CPU
MOST = 60  # seconds of CPU of the tests that are asked for one mutant
CALLED = "_called_functions"  # in `builtins`: the numbers of the mutants whose functions have run

Change = Callable[[ast.AST], None]


@dataclass
class Mutant:
    """One change in one function, which is known by the name and the row of its code."""

    folder: str
    path: pathlib.Path
    function: tuple[str, int]
    row: int
    before: str
    after: str
    code: CodeType
    marked: CodeType  # the function as it is, but for a note that it was called
    tests: list[str] = field(default_factory=list)
    outcome: str = "not run"

    @property
    def place(self) -> tuple[pathlib.Path, tuple[str, int]]:
        return self.path, self.function

    def __str__(self) -> str:
        place = f"{self.path.relative_to(ROOT)}:{self.row}"
        return f"{self.outcome:12} {place}: {self.before}  ->  {self.after}"


def changes(node: ast.AST) -> list[Change]:
    """What may be changed at a node."""
    found: list[Change] = []
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        found.append(lambda n: n.ops.__setitem__(0, COMPARISONS[type(n.ops[0])]()))
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        found.append(lambda n: setattr(n, "op", OPERATORS[type(n.op)]()))
    if isinstance(node, ast.BoolOp):
        found.append(lambda n: setattr(n, "op", ast.Or() if _is_and(n) else ast.And()))
    if isinstance(node, (ast.If, ast.IfExp, ast.While)):
        found.append(lambda n: setattr(n, "test", ast.UnaryOp(ast.Not(), n.test)))
    if isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
        found.append(lambda n: setattr(n, "value", _another(n.value)))
    if isinstance(node, ast.Return) and not _is_nothing(node.value):
        found.append(lambda n: setattr(n, "value", ast.Constant(None)))
    return found


def _is_and(node: ast.BoolOp) -> bool:
    return isinstance(node.op, ast.And)


def _is_nothing(node: ast.expr | None) -> bool:
    """Whether a caller hardly tells what is returned from None: it is none, False or empty."""
    if isinstance(node, ast.Constant):
        return node.value is None or node.value is False
    if isinstance(node, (ast.List, ast.Tuple)):
        return not node.elts
    return node is None


def _another(value: float) -> float:
    return not value if isinstance(value, bool) else value + 1


def functions(tree: ast.Module) -> Iterator[ast.AST]:
    """The outermost functions and lambdas."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            yield node
        else:
            waiting.extend(ast.iter_child_nodes(node))


def places(function: ast.AST) -> Iterator[ast.AST]:
    """What may be changed in a function: no annotations and no defaults."""
    body = function.body if isinstance(function.body, list) else [function.body]
    waiting: list[ast.AST] = [*body]
    while waiting:
        node = waiting.pop()
        if changes(node):
            yield node
        waiting.extend(
            child
            for name, value in ast.iter_fields(node)
            if name not in ("annotation", "returns", "slice")
            for child in (value if isinstance(value, list) else [value])
            if isinstance(child, ast.AST)
        )


def codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from codes(constant)


def code_of(tree: ast.Module, path: pathlib.Path, key: tuple[str, int]) -> CodeType | None:
    """The code of a function; None where two have its name and row."""
    module = compile(ast.fix_missing_locations(tree), str(path), "exec", dont_inherit=True)
    matching = [code for code in codes(module) if (code.co_name, code.co_firstlineno) == key]
    return matching[0] if len(matching) == 1 else None


def key_of(function: ast.AST) -> tuple[str, int]:
    if isinstance(function, ast.Lambda):
        return "<lambda>", function.lineno
    first = min([function.lineno, *(each.lineno for each in function.decorator_list)])
    return function.name, first


def note(number: int) -> ast.expr:
    """`CALLED.add(number)`"""
    return ast.parse(f"__builtins__[{CALLED!r}].add({number})", mode="eval").body


def mutant_of(folder: str, path: pathlib.Path, dice: random.Random, number: int) -> Mutant | None:
    """A random mutant of a file; None where the place that was drawn has none."""
    tree = ast.parse(path.read_text("utf-8"))
    drawn = [(each, place) for each in functions(tree) for place in places(each)]
    if not drawn:
        return None
    function, place = dice.choice(drawn)
    marked_tree, key = copy.deepcopy(tree), key_of(function)
    before, row = ast.unparse(place).split("\n")[0], place.lineno
    dice.choice(changes(place))(place)
    code = code_of(tree, path, key)
    for each in functions(marked_tree):
        if key_of(each) == key and isinstance(each, ast.Lambda):
            each.body = ast.BoolOp(ast.Or(), [note(number), each.body])
        elif key_of(each) == key:
            each.body.insert(0, ast.Expr(note(number)))
    marked = code_of(marked_tree, path, key)
    if code is None or marked is None:
        return None
    return Mutant(folder, path, key, row, before, ast.unparse(place).split("\n")[0], code, marked)


def sample(folders: list[str], each: int, dice: random.Random) -> list[Mutant]:
    """Random mutants of some folders; a file is drawn as often as its length says."""
    mutants: list[Mutant] = []
    for folder in folders:
        paths = sorted((ROOT / folder).rglob("*.py"))
        sizes, wanted = [path.stat().st_size for path in paths], len(mutants) + each
        while len(mutants) < wanted:
            path = dice.choices(paths, sizes)[0]
            mutant = mutant_of(folder, path, dice, len(mutants))
            if mutant is not None:
                mutants.append(mutant)
    return mutants


def caches() -> list:
    """The caches of functions of the tests: a test that takes a result from there runs nothing of
    what makes it.
    """
    wrappers = [each for each in gc.get_objects() if isinstance(each, functools._lru_cache_wrapper)]
    return [each for each in wrappers if not each.__module__.startswith("tfnanlint")]


def module_of(path: pathlib.Path) -> str:
    """The name of the module in a file, which a function of tfnanlint may import when it runs."""
    folder, *below = path.relative_to(ROOT).with_suffix("").parts
    parts = ["tfnanlint_rules" if folder == "rules" else folder, *below]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def exchange(mutant: Mutant, code: CodeType) -> None:
    """Give the function of a mutant another code, wherever it is held."""
    for held in gc.get_objects():
        if isinstance(held, FunctionType):
            old = held.__code__
            key = old.co_name, old.co_firstlineno
            if key == mutant.function and os.path.samefile(old.co_filename, mutant.path):
                held.__code__ = code


class Runner:
    """A plugin of pytest that runs mutants in the place of the tests."""

    def __init__(self, mutants: list[Mutant], minutes: float):
        self.mutants = mutants
        self._minutes = minutes
        self._seconds: dict[str, float] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        print(f"{len(items)} tests, {len(self.mutants)} mutants", flush=True)
        for mutant in self.mutants:
            importlib.import_module(module_of(mutant.path))
        self._without(session)
        end = time.monotonic() + 60 * self._minutes
        for mutant in self.mutants:
            chosen = self._asked(filter(items.__contains__, mutant.tests))
            if not chosen:
                mutant.outcome = "not covered"
            elif time.monotonic() > end:
                continue
            else:
                limit = SLOWER * sum(map(self._seconds.__getitem__, chosen)) + PATIENCE
                mutant.outcome = self._outcome(mutant, [items[name] for name in chosen], limit)
            if mutant.outcome != "killed":
                print(mutant, flush=True)
        return True

    def _asked(self, tests: Iterable[str]) -> list[str]:
        """The quick ones of some tests, up to `MOST` seconds together, quickest first."""
        chosen, left = [], float(MOST)
        for name in sorted(tests, key=self._seconds.__getitem__):
            left -= self._seconds[name]
            if left < 0 and chosen:
                break
            chosen.append(name)
        return chosen

    def _without(self, session: pytest.Session) -> None:
        """Learn which tests pass without a mutant, how long they take, and what they run."""
        read, write = os.pipe()
        child = os.fork()
        if not child:
            os.close(read)
            answer = self._observed(session)
            with os.fdopen(write, "wb") as stream:
                pickle.dump(answer, stream)
            os._exit(0)
        os.close(write)
        with os.fdopen(read, "rb") as stream:
            answer = pickle.load(stream)
        os.waitpid(child, 0)
        for name, (seconds, called) in answer.items():
            self._seconds[name] = seconds
            # of several mutants of one function the last one has noted the calls
            functions = {self.mutants[number].place for number in called}
            for mutant in self.mutants:
                if mutant.place in functions:
                    mutant.tests.append(name)

    def _observed(self, session: pytest.Session) -> dict[str, tuple[float, set[int]]]:
        import builtins

        _silence()
        called: set[int] = set()
        setattr(builtins, CALLED, called)
        for mutant in self.mutants:
            exchange(mutant, mutant.marked)
        answer = {}
        kept = caches()
        for item in session.items:
            called.clear()
            for cache in kept:
                cache.cache_clear()
            start, failed = time.process_time(), session.testsfailed
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
            if session.testsfailed == failed:
                answer[item.nodeid] = time.process_time() - start, set(called)
        return answer

    def _outcome(self, mutant: Mutant, items: list[pytest.Item], limit: float) -> str:
        child = os.fork()
        if not child:
            _silence()
            signal.signal(signal.SIGPROF, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_PROF, limit)
            exchange(mutant, mutant.code)
            for item in items:
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
                if item.session.testsfailed:
                    os._exit(1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        return "killed" if status else "survived"


def _silence() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--each", type=int, default=40, help="mutants of each folder")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", nargs="+", choices=FOLDERS, default=list(FOLDERS))
    parser.add_argument("--tensorflow", action="store_true", help="ask its tests, too")
    parser.add_argument(
        "--minutes",
        type=float,
        default=25,
        help="after which no mutant begins, without the first run",
    )
    arguments = parser.parse_args()
    os.chdir(ROOT)
    mutants = sample(arguments.folder, arguments.each, random.Random(arguments.seed))
    tests = list(dict.fromkeys(test for name in arguments.folder for test in FOLDERS[name]))
    left_out = ("xdist", "cacheprovider")
    marked = "not slow" if arguments.tensorflow else "not tensorflow and not slow"
    options = ["-s", "-m", marked]
    options += [word for name in left_out for word in ("-p", f"no:{name}")]
    pytest.main([*options, *tests], plugins=[Runner(mutants, arguments.minutes)])
    for folder in arguments.folder:
        counts = Counter(mutant.outcome for mutant in mutants if mutant.folder == folder)
        run = sum(counts.values()) - counts["not run"]
        share = 100 * counts["killed"] / run if run else 0
        print(f"{folder}: {counts['killed']} of {run} killed ({share:.0f} %), {dict(counts)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
