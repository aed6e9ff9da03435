"""What benchmarks/mutants.py changes in a function, and that the change runs."""

from __future__ import annotations

import ast
import functools
import random
import sys

from tfnanlint.dev import repository

sys.path.insert(0, str(repository.ROOT / "benchmarks"))

TEXT = """
def f(x: int, y: int = 3) -> float:
    if x > y and x:
        return x / 2
    return None


LAMBDAS = [lambda x: x + 1]
"""


def test_what_is_changed():
    from mutants import changes, functions, places

    tree = ast.parse(TEXT)
    found = set()
    for function in functions(tree):
        for place in places(function):
            for number in range(len(changes(place))):
                other = next(
                    node
                    for node in ast.walk(ast.parse(TEXT))
                    if ast.dump(node, include_attributes=True)
                    == ast.dump(place, include_attributes=True)
                )
                changes(other)[number](other)
                found.add(ast.unparse(other).split("\n")[0])
    assert found == {
        "if not (x > y and x):",
        "x > y or x",
        "x >= y",
        "return None",
        "x * 2",
        "3",
        "x - 1",
        "2",
    }


def test_a_mutant_runs(tmp_path, monkeypatch):
    import builtins

    import mutants

    path = tmp_path / "module.py"
    path.write_text("def f(x):\n    return x < 2\n")
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    namespace: dict = {}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    mutant = mutants.mutant_of("", path, random.Random(1), 7)
    assert mutant is not None and namespace["f"](1) is True
    monkeypatch.setattr(builtins, mutants.CALLED, set(), raising=False)
    mutants.exchange(mutant, mutant.marked)
    assert namespace["f"](1) is True and getattr(builtins, mutants.CALLED) == {7}
    mutants.exchange(mutant, mutant.code)
    assert (namespace["f"](1), namespace["f"](2)) != (True, False)


def test_mutants_of_one_function_have_its_tests(monkeypatch):
    import mutants

    path = repository.ROOT / "rules" / "log_of_zero.py"
    first, second = (
        mutants.Mutant("rules", path, ("check", 1), row, "", "", None, None) for row in (1, 2)
    )
    other = mutants.Mutant("rules", path, ("fixes", 9), 9, "", "", None, None)
    runner = mutants.Runner([first, second, other], 1)
    monkeypatch.setattr(runner, "_observed", lambda session: {"test": (0.5, {1})})
    runner._without(None)
    assert [mutant.tests for mutant in runner.mutants] == [["test"], ["test"], []]


@functools.cache
def kept() -> list:
    return []


def test_the_caches_of_tests_are_emptied():
    from mutants import caches

    assert kept in caches()


def test_the_module_of_a_file():
    from mutants import module_of

    for name, module in {
        "rules/log_of_zero.py": "tfnanlint_rules.log_of_zero",
        "tfnanlint/ops/__init__.py": "tfnanlint.ops",
        "tfnanlint/terms/term.py": "tfnanlint.terms.term",
    }.items():
        assert module_of(repository.ROOT / name) == module


def test_the_quickest_tests_are_asked_for_a_minute():
    from mutants import Runner

    runner = Runner([], 1)
    runner._seconds = {"a": 30.0, "b": 0.1, "c": 29.0, "d": 2.0}
    assert runner._asked("abcd") == ["b", "d", "c"]
    assert runner._asked("a") == ["a"]
