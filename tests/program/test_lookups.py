"""Whether a file only looks things up in a dict of its own, and what it assigns from outside."""

from __future__ import annotations

import pytest

from tfnanlint.program.lookups import is_only_read
from tfnanlint.program.module import Module
from tfnanlint.syntax.source import Source


def module(*lines: str) -> Module:
    return Module(Source("a.py", "\n".join(["T = {'a': 1}", *lines, ""])))


@pytest.mark.parametrize(
    "line",
    [
        "x = T['a']",
        "x = T['a']['b'] + T.get('a')",
        "x = (T\n    ['a'])",
        "x = len(T), sorted(T), list(T)",
        "for k in T: print(k)",
        "for k, v in T.items(): print(k, v)",
        "x = [v for k in T if T]",
        "if 'a' in T: pass",
        "if T and not T: pass",
        "x = 1 if T else 2",
        "f(**T); x = {**T}",
        "if y and (x or T): pass",
        "T = {'b': 2}",
        "T: dict = {'b': 2}",
        "f(T=1)",
        "print('T', T['a'])  # f(T)",
        "def f(T): return T['a']",
        "x = f'{T[\"a\"]}'",
    ],
)
def test_a_look_up_leaves_a_dict_as_it_is(line):
    assert is_only_read(module(line), "T")


@pytest.mark.parametrize(
    "line",
    [
        "T['a'] = 2",
        "T['a']['b'] += 2",
        "T['a'].append(2)",
        "T.update(x)",
        "T |= x",
        "del T['a']",
        "f(T)",
        "x = T",
        "x = y or T",
        "return_(T if y else x)",
        "x = {**y, 'a': T}",
        "x = {T: 1}",
        "for T in x: pass",
        "def f():\n    global T\n    T = x",
        "from other import T",
        "import other as T",
        "def T(): pass",
        "try: pass\nexcept E as T: pass",
        "x = f'{f(T)}'",
        "@decorator(T)\ndef f(): pass",
        "class A:\n    @decorator(T)\n    def f(): pass",
    ],
)
def test_what_may_change_a_dict_is_seen(line):
    assert not is_only_read(module(line), "T")


def test_a_file_that_imports_a_dict_may_name_it_in_its_import():
    importing = module("from tables import (\n    A,  # (the first)\n    T,\n)", "x = T['a']")
    assert is_only_read(importing, "T", imports=True)
    assert not is_only_read(importing, "T")


def test_a_dict_of_a_function_is_another_one_than_that_of_its_neighbour():
    whole = module("def f():\n    d = {}\n    d['a'] = 1\n    return d['a']", "def g(d): h(d)")
    function = whole.source.tree.body[1]
    assert is_only_read(whole, "d", function)
    assert not is_only_read(whole, "d")


@pytest.mark.parametrize(
    "method, is_followed", [("update", True), ("clear", False), ("pop", False)]
)
def test_only_stores_that_are_followed_leave_a_dict_of_a_function_known(method, is_followed):
    whole = module(f"def f(x):\n    d = {{}}\n    d.{method}(x)\n    return d['a']")
    assert is_only_read(whole, "d", whole.source.tree.body[1]) == is_followed


def test_a_dict_of_an_object_is_looked_for_in_attributes():
    assert is_only_read(module("heads = f(heads)", "x = self.heads['a']"), "self.heads")
    assert not is_only_read(module("x = f(model.heads)"), "self.heads")


@pytest.mark.parametrize(
    "line, owners",
    [
        ("scale.eps = 0.0", [("scale", 1)]),
        ("scale.eps += 0.0", [("scale", 1)]),
        ("(scale.eps) = 0.0", [("scale", 1)]),
        ("scale.eps: float = 0.0", [("scale", 1)]),
        ("a.eps, b.x = 0.0, 1", [("a", 1)]),
        ("for a.b.eps in x: pass", [("a.b", 1)]),
        ("self.eps = 0.0", []),
        ("x = scale.eps == 0.0", []),
        ("f(scale.eps, y=3)", []),
        ("'scale.eps = 0.0'", []),
    ],
)
def test_what_a_file_assigns_from_outside(line, owners):
    assert Source("a.py", line).owners_assigned("eps") == owners


@pytest.mark.parametrize(
    "owner, is_changed",
    [("A", True), ("cls", True), ("type(self)", True), ("self.__class__", True), ("x", False)],
)
def test_a_class_attribute_that_is_assigned_through_its_class(owner, is_changed):
    text = f"class A:\n    eps = 0.1\n    def f(self): {owner}.eps, y = 0.0, 1\n"
    whole = Module(Source("a.py", text))
    cls = whole.class_(whole.source.tree.body[0], whole.scope.here())
    assert cls.changed_outside("eps") == is_changed


def test_only_the_decorator_of_a_property_makes_a_setter():
    text = "class A:\n    @x.setter\n    def x(self, v): pass\n\n'@y.setter'\n"
    assert Source("a.py", text).setters == {"x"}
