"""Statements of Python 2 are written on the same rows as Python 3 can parse them."""

from __future__ import annotations

import ast

import pytest

from tfnanlint.syntax.python2 import as_python3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("print x\n", "print (x)\n"),
        ("print 'a' % x, # why\n", "print ('a' % x,) # why\n"),
        ("if x: print x; y = 1\n", "if x: print (x); y = 1\n"),
        ("try:\n\tprint x,\\\n\t\ty\nfinally: pass\n", None),
        ("exec code in names\n", "exec (code in names)\n"),
        ("raise ValueError, 'bad'\n", "raise (ValueError, 'bad')\n"),
        ("try: x\nexcept ValueError, error: pass\n", None),
        ("try: x\nexcept (OSError, ValueError), error: pass\n", None),
        ("if a <> b: pass\n", "if a != b: pass\n"),
    ],
)
def test_what_python_2_writes_in_its_own_way(text, expected):
    assert expected is None or as_python3(text) == expected
    assert ast.parse(as_python3(text)).body


@pytest.mark.parametrize(
    "text",
    [
        "print\n",
        "print(x)\n",
        "print >>log, x\n",
        "print = log\n",
        "print.flush()\n",
        "x = {'print': f(a, b)}\n",
        "raise ValueError('a', b)\n",
        "except_ = lambda: x\n",
        "s = '''\nprint x\n'''\n",
        "f(\n",
        "",
    ],
)
def test_all_else_stays_as_it_is(text):
    assert as_python3(text) == text


def test_a_row_is_one_however_it_ends():
    assert (
        as_python3("x = 1\r\ns = '\x0c'\r\nprint x\r\n") == "x = 1\r\ns = '\x0c'\r\nprint (x)\r\n"
    )
