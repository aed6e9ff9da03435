"""Rewrites: what comes out, what stays as it was, and what is refused."""

from __future__ import annotations

import ast
import copy
import subprocess
import sys

import pytest

from tfnanlint.rewrite import rewriter as rewriting
from tfnanlint.rewrite.rewriter import (
    NoFix,
    Spelling,
    Use,
    edits_apply,
    insert_before,
    replace_statement,
    rewrite,
    rewrite_many,
)
from tfnanlint.rewrite.template import written_by_libcst
from tfnanlint.syntax.source import Source


def as_is(use: Use) -> Spelling:
    return Spelling(use.name)


def calls(source: Source, name: str = "f") -> list[ast.Call]:
    """The calls of a function, in the order of the text."""
    found = [
        n
        for n in ast.walk(source.tree)
        if isinstance(n, ast.Call) and source.segment(n.func) == name
    ]
    return sorted(found, key=lambda node: source.span(node).start)


def rewritten(text: str, template: str, spell=as_is, **holes) -> str:
    """The text with the first call of `f` replaced; its arguments are the holes x, y, ..., its
    keywords by name.
    """
    source = Source("x.py", text)
    call = calls(source)[0]
    given = dict(zip("xyz", call.args))
    given.update({keyword.arg: keyword.value for keyword in call.keywords})
    given.update(holes)
    shown = edits_apply(text, rewrite(source, call, template, given, spell))
    with written_by_libcst():
        assert edits_apply(text, rewrite(source, call, template, given, spell)) == shown
    return shown


def refusal(text: str, template: str, spell=as_is, **holes) -> str:
    with pytest.raises(NoFix) as reason:
        rewritten(text, template, spell, **holes)
    return str(reason.value)


@pytest.mark.parametrize(
    ("text", "template", "expected"),
    [
        ("f(a,\n    b)", "tf.g({x}, {y})", "tf.g(a,\n    b)"),
        ("f(\n    a +\n    b,\n    c,\n)", "tf.g({x}, {y})", "tf.g(\n    a +\n    b,\n    c,\n)"),
        ("f(a,\n  b)", "tf.g({y}, {x})", "tf.g(b, a)"),
        ("f(a, b)", "tf.g({x})", "tf.g(a)"),
        ("f(a, b, name=c)", "tf.g({x}, {y})", "tf.g(a, b)"),
    ],
)
def test_where_the_arguments_stay_only_the_name_changes(text, template, expected):
    """Lines, alignment and a last comma stay as the author has them; anything else is written anew."""
    assert rewritten(text, template) == expected


# ---------------------------------------------------------------------------------------------------------
# Parentheses


@pytest.mark.parametrize(
    ("text", "template", "expected"),
    [
        # Around the hole.
        ("f(a)", "{x} * 2", "a * 2"),
        ("f(a + b)", "{x} * 2", "(a + b) * 2"),
        ("f(a * b)", "{x} + 1", "a * b + 1"),
        ("f(b - c)", "a - {x}", "a - (b - c)"),
        ("f(b + c)", "a + {x}", "a + (b + c)"),
        ("f(a + b)", "-{x}", "-(a + b)"),
        ("f(-a)", "{x} ** 2", "(-a) ** 2"),
        ("f(-a)", "2 ** {x}", "2 ** -a"),
        ("f(a if b else c)", "tf.g({x})", "tf.g(a if b else c)"),
        ("f(a if b else c)", "{x} + 1", "(a if b else c) + 1"),
        ("f(lambda: 0)", "tf.g({x}) + {x}()", "tf.g(lambda: 0) + (lambda: 0)()"),
        ("f(x := 3)", "tf.g({x}, k={x})", "tf.g(x := 3, k=(x := 3))"),
        ("f((yield a))", "tf.g({x})", "tf.g((yield a))"),
        ("f((a, b))", "tf.g({x})", "tf.g((a, b))"),
        ("f(a[1, 2])", "{x}", "a[1, 2]"),
        ("f(p for p in q)", "tf.g({x}, 1)", "tf.g((p for p in q), 1)"),
        ("f(*a)", "tf.g({x}, k=1)", "tf.g(*a, k=1)"),
        ("f(1)", "{x}.dtype", "(1).dtype"),
        ("f('a' 'b')", "{x}.dtype", "'a' 'b'.dtype"),
        ("f(a < b)", "{x} < c", "(a < b) < c"),
        ("f(a or b)", "{x} and c", "(a or b) and c"),
        ("f(not a)", "{x} == b", "(not a) == b"),
        ("f(a[i])", "{x}.b", "a[i].b"),
        # Around the whole.
        ("c ** f(a)", "{x} / b", "c ** (a / b)"),
        ("f(a).shape", "{x} / b", "(a / b).shape"),
        ("f(a) + 1", "{x} / b", "a / b + 1"),
        ("2 * f(a)", "-{x}", "2 * -a"),
        ("(f(a))", "{x} / b", "(a / b)"),
        ("1 if f(a)else 2", "{x}", "1 if (a)else 2"),
        ("g(q for q in f(a))", "{x}, 1", "g(q for q in (a, 1))"),
        ("g(f(a))", "{x}, 1", "g((a, 1))"),
        ("g[f(a)]", "{x}, 1", "g[a, 1]"),
        ("f(a)(b)", "lambda q: {x}", "(lambda q: a)(b)"),
        ("not f(a)", "{x} == 0", "not a == 0"),
        ("await f(a)", "{x} ** 2", "await (a ** 2)"),
        ("f(await a)", "{x} ** 2", "await a ** 2"),
    ],
)
def test_only_parentheses_that_are_needed(text, template, expected):
    assert rewritten(text, template) == expected


def test_generator_as_the_only_argument_is_flagged_itself():
    source = Source("x.py", "sum(p for p in q)")
    generator = source.tree.body[0].value.args[0]
    assert (
        edits_apply(source.text, rewrite(source, generator, "tf.g(q)", {}, as_is)) == "sum(tf.g(q))"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a / (b + c)", "a / tf.g(b + c)"),
        ("a / ((b + c))", "a / (tf.g(b + c))"),
        ("a / (b +\n c)", "a / tf.g(b +\n c)"),
        ("a / (\n  b + c\n)", "a / (\n  tf.g(b + c)\n)"),
        ("f(b + c)", "f(tf.g(b + c))"),
        ("f((b + c))", "f(tf.g(b + c))"),
        ("class A(b + c): pass", "class A(tf.g(b + c)): pass"),
        ("class A:\n  return(b + c)", "class A:\n  return(tf.g(b + c))"),
        ("(b + c)if d else e", "tf.g(b + c)if d else e"),
        ("(b + c) * (d + e)", "tf.g(b + c) * (d + e)"),
        ("(b + c)\n", "tf.g(b + c)\n"),
    ],
)
def test_parentheses_that_only_the_old_expression_needed_go(text, expected):
    source = Source("x.py", text)
    old = next(
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.BinOp) and source.segment(node)[0] == "b"
    )
    assert edits_apply(text, rewrite(source, old, "tf.g({old})", {"old": old}, as_is)) == expected


def test_line_breaks_outside_brackets_get_parentheses():
    assert rewritten("y = f(a +\n      b)", "{x} - 1") == "y = (a +\n      b - 1)"
    assert rewritten("y = f(a +\n      b)", "1 - {x}") == "y = 1 - (a +\n      b)"
    assert rewritten("y = f(a\n      .b())", "{x} - 1") == "y = (a\n      .b() - 1)"
    assert rewritten("g(f(a\n    .b()))", "{x} - 1") == "g(a\n    .b() - 1)"
    assert rewritten("if f(a\n  .b):\n  pass", "{x}") == "if (a\n  .b):\n  pass"
    assert rewritten("f(a\n - b)", "{x}") == "(a\n - b)"  # Bare, this would be two statements.


# ---------------------------------------------------------------------------------------------------------
# Byte-exact holes, comments


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_holes_are_kept_as_they_are_written(end):
    hole = f"g( 'ä' ,{end}\t 0x1F ,# why{end}   1_000 , )"
    assert (
        rewritten(f"y = f({hole}){end}z = 1", "tf.h({x}, axis=-1)")
        == f"y = tf.h({hole}, axis=-1){end}z = 1"
    )


def test_mixed_line_ends_are_kept():
    hole = "(a +\r\n b +\n c)[0] + '''x\r\ny\n'''"
    assert rewritten(f"y = f({hole})", "tf.h({x})") == f"y = tf.h({hole})"
    hole = "[0,\n 1,\r\n 2]"
    assert rewritten(f"y = f({hole})", "{x}") == f"y = {hole}"


def test_a_comment_in_a_kept_hole_survives():
    assert rewritten("y = f(a +  # why\n      b)", "tf.g({x})") == "y = tf.g(a +  # why\n      b)"
    assert rewritten("y = f(a +  # why\n      b)", "{x}") == "y = (a +  # why\n      b)"


@pytest.mark.parametrize(
    "text",
    [
        "f(a,  # why\n  b)",
        "f(  # why\n  a, b)",
        "f(a, b  # why\n)",
        "f(a, (  # why\n  b))",
        "f(a, c[0  # why\n])",
    ],
)
def test_a_comment_that_would_be_lost_prevents_the_rewrite(text):
    assert refusal(text, "tf.g({x})") == "a comment inside the expression would be lost"


def test_a_hash_in_a_string_is_no_comment():
    assert rewritten("f(a, '# no')", "tf.g({x})") == "tf.g(a)"


def test_comments_around_the_expression_stay():
    text = "y = f(a)  # tfn: ignore[TFN101]\n# below\n"
    assert rewritten(text, "tf.g({x})") == "y = tf.g(a)  # tfn: ignore[TFN101]\n# below\n"


def test_a_second_copy_of_a_hole_is_one_line_without_comments():
    text = "y = f(a(\n    1,  # one\n    b . c,\n    '''s\n''',\n))"
    first = "a(\n    1,  # one\n    b . c,\n    '''s\n''',\n)"
    assert rewritten(text, "tf.g({x}) * {x}") == f"y = tf.g({first}) * a(1, b . c, '''s\n''',)"


def test_two_holes_with_the_same_text_both_keep_their_comments():
    assert (
        rewritten("f(a +  # c\n  b, a +  # c\n  b)", "tf.g({x}, {y})")
        == "tf.g(a +  # c\n  b, a +  # c\n  b)"
    )


def test_a_hole_from_an_earlier_statement_is_copied_on_one_line():
    source = Source(
        "x.py", "p = softmax(z +  # logits\n            1, \\\n            k)\ny = f(p)\n"
    )
    softmax = calls(source, "softmax")[0]
    edits = rewrite(
        source,
        calls(source)[0],
        "tf.g({z}, {k})",
        {"z": softmax.args[0], "k": softmax.args[1]},
        as_is,
    )
    assert edits_apply(source.text, edits) == source.text.replace("f(p)", "tf.g(z + 1, k)")
    edits = rewrite(source, calls(source)[0], "tf.g({p})", {"p": softmax}, as_is)
    assert edits_apply(source.text, edits) == source.text.replace("f(p)", "tf.g(softmax(z + 1, k))")


# ---------------------------------------------------------------------------------------------------------
# Templates


def test_a_hole_without_value_drops_its_argument():
    assert rewritten("f(a)", "tf.g({x}, axis={axis})", axis=None) == "tf.g(a)"
    assert rewritten("f(a)", "tf.g({x}, axis={axis}, k=1)", axis=None) == "tf.g(a, k=1)"
    assert rewritten("f(a)", "tf.g(axis={axis}, x={x})", axis=None) == "tf.g(x=a)"
    assert rewritten("f(a)", "tf.g({x}, {axis})", axis=None) == "tf.g(a)"
    assert rewritten("f(a)", "tf.h(tf.g({x}, axis={axis} + 1), 2)", axis=None) == "tf.h(tf.g(a), 2)"
    assert rewritten("f(a, axis=0)", "tf.g({x}, axis={axis})") == "tf.g(a, axis=0)"
    assert rewritten("f(a)", "tf.g({x}, axis={axis})", axis="-1") == "tf.g(a, axis=-1)"


def test_a_call_is_not_written_without_its_first_argument():
    with pytest.raises(NoFix):
        rewritten("f(a)", "-tf.g({z})", z=None)
    with pytest.raises(NoFix):
        rewritten("f(a)", "{x} - tf.g({z}, axis={axis})", z=None, axis=None)
    assert rewritten("f(a)", "tf.g(axis={axis})", axis=None) == "tf.g()"


@pytest.mark.parametrize(
    ("template", "holes"),
    [
        ("{x} + {y}", {"y": None}),  # not in an argument
        ("tf.g({y}, {x})", {"y": None}),  # the next argument would become the first
        ("tf.g({y})", {}),  # no value at all
        ("tf.g({x}", {}),  # not Python
        ("x = {x}", {}),  # a statement
        ("tf.g({x})", {"x": "a b"}),  # literal text that is no expression
    ],
)
def test_a_wrong_template_is_an_error_of_the_rule(template, holes):
    with pytest.raises(ValueError):
        rewritten("f(a)", template, **holes)


def test_names_of_the_template_are_spelled_and_those_of_holes_are_not():
    asked = []

    def spell(use):
        asked.append(use)
        return Spelling(
            {"tf.math.log": "log", "K.exp": "K.exp"}.get(use.name, use.name.replace("tf.", "tfm."))
        )

    text = "y = f(tf.math.log(a), K.b)"
    template = "tf.math.log({x}) + K.exp({y}) + tf.nn.relu(tf.float32.max, x.tf.y, {x}.tf.b, tf, local.tf.c)"
    spelled = "log(tf.math.log(a)) + K.exp(K.b) + tfm.nn.relu(tfm.float32.max, x.tf.y, tf.math.log(a).tf.b, tf, local.tf.c)"
    assert rewritten(text, template, spell) == f"y = {spelled}"
    assert list(dict.fromkeys(asked)) == [
        Use("tf.math.log", 1),
        Use("K.exp", 1),
        Use("tf.float32.max"),
        Use("tf.nn.relu", 5),
    ]


def test_spelling_may_refuse():
    def spell(use):
        raise NoFix(f"{use.name} is not imported")

    assert refusal("f(a)", "tf.g({x})", spell) == "tf.g is not imported"
    assert rewritten("f(a)", "{x}.g()", spell) == "a.g()"


def test_holes_keep_their_meaning_in_a_lambda_of_the_template():
    assert rewritten("f(a)", "tf.map_fn(lambda e: {x} + e, b)") == "tf.map_fn(lambda e: a + e, b)"
    assert "'e'" in refusal("f(e)", "tf.map_fn(lambda e: {x} + e, b)")
    assert "another function" in refusal("f(await a)", "tf.map_fn(lambda e: {x} + e, b)")


# ---------------------------------------------------------------------------------------------------------
# Places


@pytest.mark.parametrize(
    "frame",
    [
        "{0}\n",
        "y = {0}\n",
        "if {0}: pass\n",
        "if a:\n    pass\nelif {0}:\n    pass\nelse:\n    pass\n",
        "if a:\n    pass\nelse: {0}\n",
        "x = 1; y = {0}; z = 3\n",
        "y = {0};\n",
        "class A:\n\tdef g(self):\n\t\treturn {0}\n",
        "@{0}\ndef g(): pass\n",
        "class A:\n    @ {0}\n    @other\n    class B: pass\n",
        "def g(a={0}, *, b: {0} = 2) -> c: pass\n",
        "for i in {0}:\n    pass\nelse:\n    pass\n",
        "with {0} as a, b: pass\n",
        "while {0}: break\n",
        "try:\n    pass\nexcept {0} as e:\n    raise\nfinally:\n    pass\n",
        "assert a, {0}\n",
        "del a[{0}]\n",
        "x[{0}:, 1] += 2\n",
        "async def g():\n    async with a:\n        return [q async for q in b if {0}]\n",
        "x = \\\n    {0}\n",
        "if a: \\\n  y = {0}\n",
        "match a:\n    case [1, *_] if {0}:\n        pass\n",
        "x = '''\n''' ; y = {0}",
        "\ny = {0}",
        "def g():\n    global a\n    a = {0}  # é\n    yield",
        "lambda: {0}",
        "é = 'é', {0}, 'é'",
        "def g():\n  '''Doc.'''\n  return ({0})\n",
        "x: {0} = 1",
        "print(f'{{a}}', {0})",
        "if a:\n  if b:\n    x = {0}\n  # dedented\n\n    y = 2\n",
    ],
)
def test_everywhere_in_a_file(frame):
    text = frame.replace("{0}", "f(a + b)")
    new = rewritten(text, "tf.g({x}) * 2")
    assert (
        new == frame.replace("{0}", "tf.g(a + b) * 2", 1).replace("{0}", "f(a + b)")
        or "(tf.g(a + b) * 2)" in new
    )
    changed = copy.deepcopy(ast.parse(text))
    substitute(
        changed, calls(Source("x.py", text))[0], ast.parse("tf.g(a + b) * 2", mode="eval").body
    )
    assert ast.dump(ast.parse(new)) == ast.dump(changed)


def substitute(tree: ast.AST, old: ast.AST, new: ast.AST) -> None:
    """Replace the node that stands where `old` stands and is of its type."""
    place = (old.lineno, old.col_offset, old.end_lineno, old.end_col_offset)
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            for at, child in enumerate(value if isinstance(value, list) else [value]):
                if type(child) is type(old) and place == (
                    child.lineno,
                    child.col_offset,
                    child.end_lineno,
                    child.end_col_offset,
                ):
                    if isinstance(value, list):
                        value[at] = new
                    else:
                        setattr(node, field, new)
                    return
    raise LookupError


@pytest.mark.parametrize(
    ("text", "template", "expected"),
    [
        ("print(f'{f(a)}')", "tf.g({x})", "print(f'{tf.g(a)}')"),
        (
            "print(f'é {a} {{}} { f(a) !r:>4} {f(a)}')",
            "tf.g({x})",
            "print(f'é {a} {{}} { tf.g(a) !r:>4} {f(a)}')",
        ),
        (
            'print(f"""\n{a}\n  {f(d[\'k\'])} {a}""")',
            "tf.g({x})",
            'print(f"""\n{a}\n  {tf.g(d[\'k\'])} {a}""")',
        ),
        (
            "x = ('abc' f'{a}'\n     f'{f(b)}')",
            "tf.g({x})",
            "x = ('abc' f'{a}'\n     f'{tf.g(b)}')",
        ),
        ("print(f'{a:{f(b)}}')", "{x} + 1", "print(f'{a:{b + 1}}')"),
    ],
)
def test_expressions_in_f_strings(text, template, expected):
    assert rewritten(text, template) == expected


def test_f_strings_that_would_say_something_else():
    assert refusal("print(f'{f(a)=}')", "tf.g({x})") == "the fix would change the code around it"
    assert (
        refusal("print(f'{f(a)}')", "tf.g({x}, 'y')")
        == "before Python 3.12 the fix cannot stand in an f-string: move the expression out of it"
    )


def test_a_node_of_another_tree_is_refused():
    source = Source("x.py", "y = f(a)\n")
    other = Source("x.py", "y = f(a)\n")
    with pytest.raises(NoFix):
        rewrite(source, calls(other)[0], "tf.g()", {}, as_is)


def test_slices_and_unusual_letters_are_refused():
    source = Source("x.py", "y = a[1:2]")
    subscript = source.tree.body[0].value
    with pytest.raises(NoFix, match="slice"):
        rewrite(source, subscript, "tf.g({x})", {"x": subscript.slice}, as_is)
    for text in ("f(ｔｆ)", "f(a.ｂ)", "f(g(ｂ=1))", "f(lambda ｂ: 1)"):
        assert "unusual letters" in refusal(text, "tf.g({x})")
    assert rewritten("f('½', é)", "tf.g({x}, {y})") == "tf.g('½', é)"


def test_many_rewrites_are_one_repair():
    source = Source("x.py", "def g():\n    return where(m, f(a), 0) ** f(b)\n\nz = f(c)\n")
    one, two, three = calls(source)
    changes = [
        (one, "{x} / 2", {"x": one.args[0]}),
        (three, "-{x}", {"x": three.args[0]}),
        (two, "{x} + 1", {"x": two.args[0]}),
    ]
    edits = rewrite_many(source, changes, as_is)
    assert (
        edits_apply(source.text, edits)
        == "def g():\n    return where(m, a / 2, 0) ** (b + 1)\n\nz = -c\n"
    )


def test_rewrites_that_overlap_are_refused():
    source = Source("x.py", "y = f(f(a))\n")
    outer, inner = calls(source)
    with pytest.raises(NoFix, match="overlap"):
        rewrite_many(source, [(outer, "tf.g()", {}), (inner, "tf.h()", {})], as_is)


# ---------------------------------------------------------------------------------------------------------
# Statements


def statement_of(source: Source, name: str = "f") -> ast.stmt:
    call = calls(source, name)[0]
    return [
        n
        for n in ast.walk(source.tree)
        if isinstance(n, ast.stmt) and source.span(call) in source.span(n)
    ][-1]


def replaced(text: str, template: str, function=replace_statement, spell=as_is, **holes) -> str:
    source = Source("x.py", text)
    call = calls(source)[0]
    given = {"call": call, **dict(zip("xyz", call.args)), **holes}
    return edits_apply(text, function(source, statement_of(source), template, given, spell))


def test_a_discarded_result_is_assigned():
    assert replaced("f(x, 1)\n", "{x} = {call}") == "x = f(x, 1)\n"
    assert replaced("if a: f(x, 1)  # why\n", "{x} = {call}") == "if a: x = f(x, 1)  # why\n"
    assert replaced("a; f(x, 1); b", "{x} = {call}") == "a; x = f(x, 1); b"
    assert (
        replaced("def g():\n\tf(x,  # one\r\n\t  1)\r\n", "{x} = {call}")
        == "def g():\n\tx = f(x,  # one\r\n\t  1)\r\n"
    )
    assert replaced("(f(x)\n .y)\n", "{x} = {y}", y="f(x).y") == "x = f(x).y\n"


def test_a_statement_hole_that_breaks_lines_gets_parentheses():
    source = Source("x.py", "(a +\n f(x))\n")
    stmt = source.tree.body[0]
    edits = replace_statement(source, stmt, "y = {sum}", {"sum": stmt.value}, as_is)
    assert edits_apply(source.text, edits) == "y = (a +\n f(x))\n"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("indent", ["    ", "\t"])
def test_several_statements_keep_indentation_and_comments(indent, end):
    text = f"def g():{end}{indent}y = f(x)  # why{end}{indent}return y"
    two = f"def g():{end}{indent}m = tf.is_nan(x){end}{indent}y = tf.where(m, 0, x)  # why{end}{indent}return y"
    assert replaced(text, "m = tf.is_nan({x})\ny = tf.where(m, 0, {x})") == two
    around = f"def g():{end}{indent}a = 1{end}{indent}y = f(x)  # why{end}{indent}b = tf.c(x){end}{indent}return y"
    assert replaced(text, "a = 1\n{stmt}\nb = tf.c({x})") == around


def test_lines_after_the_last_line_of_a_file():
    assert replaced("y = f(x)", "{stmt}\nb = {x}") == "y = f(x)\nb = x"
    assert replaced("if a:\n  y = f(x)", "{stmt}\nb = {x}") == "if a:\n  y = f(x)\n  b = x"


def test_several_statements_need_a_line_of_their_own():
    for text in ("a; f(x)\n", "if a: f(x)\n", "f(x); a\n", "if a: \\\n  f(x)\n"):
        with pytest.raises(NoFix, match="shares its line"):
            replaced(text, "y = 1\n{stmt}")


def test_a_replaced_statement_keeps_its_comments():
    with pytest.raises(NoFix, match="comment"):
        replaced("f(x,  # why\n  1)\n", "{x} = 1")


def test_a_statement_before():
    text = "def g():\n    # about y\n    y = f(x +\n          1)\n"
    new = "def g():\n    # about y\n    m = tf.is_nan(x + 1)\n    y = f(x +\n          1)\n"
    assert replaced(text, "m = tf.is_nan({x})", insert_before) == new
    source = Source("x.py", "a\n@b\n@ c\ndef g(): pass\n")
    edits = insert_before(source, source.tree.body[1], "m = 1", {}, as_is)
    assert edits_apply(source.text, edits) == "a\nm = 1\n@b\n@ c\ndef g(): pass\n"
    assert replaced("y = f(x)", "m = {x}\nn = m", insert_before) == "m = x\nn = m\ny = f(x)"


@pytest.mark.parametrize(
    "text",
    [
        "a; f(x)\n",
        "if a: f(x)\n",
        "if a:\n  pass\nelif f(x):\n  pass\n",
        "else_ = 1; \\\n  f(x)\n",
        "if a: \\\n  f(x)\n",
    ],
)
def test_nothing_is_inserted_before_a_statement_that_is_not_first(text):
    with pytest.raises(NoFix):
        replaced(text, "m = 1", insert_before)


@pytest.mark.parametrize(
    "text", ["'''Doc.'''\n", "def g():\n    '''Doc.'''\n", "from __future__ import annotations\n"]
)
def test_nothing_is_inserted_before_what_must_be_first(text):
    source = Source("x.py", text)
    stmt = [node for node in ast.walk(source.tree) if isinstance(node, ast.stmt)][-1]
    with pytest.raises(NoFix, match="first"):
        insert_before(source, stmt, "m = 1", {}, as_is)


def test_a_mask_before_and_a_rewrite_inside_go_together():
    source = Source("x.py", "def g(x):\n    return f(x) + 1\n")
    call = calls(source)[0]
    edits = (
        *insert_before(
            source, source.tree.body[0].body[0], "m = {x} > 0", {"x": call.args[0]}, as_is
        ),
        *rewrite(source, call, "tf.where(m, {call}, 0)", {"call": call}, as_is),
    )
    assert (
        edits_apply(source.text, edits)
        == "def g(x):\n    m = x > 0\n    return tf.where(m, f(x), 0) + 1\n"
    )


# ---------------------------------------------------------------------------------------------------------
# Imports


def needing(use: Use) -> Spelling:
    return Spelling(use.name, "import numpy as np" if use.name.startswith("np.") else "")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import a\n", "import a\nNEW\n"),
        (
            "import a  # why\nfrom b import (\n    c,\n)\n\nx = 1\n",
            "import a  # why\nNEW\nfrom b import (\n    c,\n)\n\nx = 1\n",
        ),
        (
            "import keras\nimport scipy\nfrom keras import layers\n",
            "import keras\nNEW\nimport scipy\nfrom keras import layers\n",
        ),
        (
            "import absl\nfrom keras import layers\nimport tensorflow\n",
            "import absl\nfrom keras import layers\nNEW\nimport tensorflow\n",
        ),
        (
            "from keras import layers\nfrom scipy import signal\n",
            "NEW\nfrom keras import layers\nfrom scipy import signal\n",
        ),
        ("import scipy\nimport keras\n", "import scipy\nimport keras\nNEW\n"),
        (
            "import os\nimport re\n\nimport keras\nimport tensorflow\n\nfrom mine import it\n",
            "import os\nimport re\n\nimport keras\nNEW\nimport tensorflow\n\nfrom mine import it\n",
        ),
        (
            "import os\n\nimport scipy\nimport tensorflow\n\nfrom . import it\n",
            "import os\n\nNEW\nimport scipy\nimport tensorflow\n\nfrom . import it\n",
        ),
        (
            "import keras; import scipy\nimport tensorflow\n",
            "import keras; import scipy\nimport tensorflow\nNEW\n",
        ),
        (
            "if TYPE_CHECKING:\n    import keras\nimport scipy\n",
            "if TYPE_CHECKING:\n    import keras\nimport scipy\nNEW\n",
        ),
        (
            "'''Doc.'''\nfrom __future__ import annotations\nimport a\n",
            "'''Doc.'''\nfrom __future__ import annotations\nimport a\nNEW\n",
        ),
        ("from __future__ import annotations\n", "from __future__ import annotations\nNEW\n"),
        ("'''Doc.'''\n\n# about x\nx = 1\n", "'''Doc.'''\n\nNEW\n# about x\nx = 1\n"),
        ("'''Doc.'''\nx = 1\n", "'''Doc.'''\nNEW\nx = 1\n"),
        ("import a; import b\n", "import a; import b\nNEW\n"),
        ("import a; x = [\n  1]\n", "import a; x = [\n  1]\nNEW\n"),
        (
            "try:\n    import a\nexcept ImportError:\n    a = None\nif a:\n    import b\n",
            "NEW\ntry:\n    import a\nexcept ImportError:\n    a = None\nif a:\n    import b\n",
        ),
        (
            "import a\ntry:\n    import b\nexcept ImportError:\n    pass\n",
            "import a\nNEW\ntry:\n    import b\nexcept ImportError:\n    pass\n",
        ),
        (
            "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n# About.\nx = 1\n",
            "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\nNEW\n# About.\nx = 1\n",
        ),
        (
            "# first\n# vim: set fileencoding=utf-8 :\nx = 1\n",
            "# first\n# vim: set fileencoding=utf-8 :\nNEW\nx = 1\n",
        ),
        ("# Copyright\n# of somebody\n\nx = 1\n", "# Copyright\n# of somebody\n\nNEW\nx = 1\n"),
        ("# about x\nx = 1\n", "NEW\n# about x\nx = 1\n"),
        ("", "NEW\n"),
        (
            "import a\n\ndef g(): pass\n\nimport late\n",
            "import a\nNEW\n\ndef g(): pass\n\nimport late\n",
        ),
        ("import a\r\nimport b\r\n", "import a\r\nimport b\r\nNEW\r\n"),
        ("import a\r\nimport b\n", "import a\r\nimport b\nNEW\n"),
        ("import a \\\n  as b\n", "import a \\\n  as b\nNEW\n"),
    ],
)
def test_where_a_needed_import_goes(before, after):
    new = rewritten(before + "y = f(x)\n", "np.g({x})", needing)
    assert new == (after + "y = np.g(x)\n").replace("NEW", "import numpy as np")


def test_an_import_goes_before_the_place_that_needs_it():
    assert (
        rewritten("y = f(x)\nimport a\n", "np.g({x})", needing)
        == "import numpy as np\ny = np.g(x)\nimport a\n"
    )
    assert (
        rewritten("'''Doc.'''\ny = f(x)", "np.g({x})", needing)
        == "'''Doc.'''\nimport numpy as np\ny = np.g(x)"
    )
    assert (
        refusal("import a; y = f(x)\n", "np.g({x})", needing)
        == "the import that the fix needs cannot be added before it"
    )
    assert refusal("'''Doc.'''; y = f(x)", "np.g({x})", needing)


def test_an_import_is_added_once_for_several_rewrites():
    source = Source("x.py", "import a\ny = f(1) + f(2)\n")
    one, two = calls(source)
    edits = rewrite_many(source, [(one, "np.g()", {}), (two, "np.h() + np.k", {})], needing)
    assert (
        edits_apply(source.text, edits)
        == "import a\nimport numpy as np\ny = np.g() + (np.h() + np.k)\n"
    )


# ---------------------------------------------------------------------------------------------------------
# Deep and large input

SHAPES = {
    "calls": lambda n: "g(" * (n - 1) + "a" + ")" * (n - 1),
    "lists": lambda n: "[" * (n - 1) + "a" + "]" * (n - 1),
    "parentheses": lambda n: "(" * n + "a" + ".b" + ")" * n + ".c",
    "parentheses around links": lambda n: "(" * n + "a" + ".b" * (n - 2) + ")" * n + ".c",
    "links": lambda n: "a" + ".b" * (n - 1),
    "sums": lambda n: "+".join(["a"] * n),
    "powers": lambda n: "**".join(["a"] * n),
    "ands": lambda n: " and ".join(["a"] * n),
    "nots": lambda n: "not " * (n - 1) + "a",
    "minuses": lambda n: "-" * (n - 1) + "a",
    "subscripts": lambda n: "a" + "[0]" * (n - 1),
    "lambdas": lambda n: "lambda: " * (n - 1) + "a",
    "conditionals": lambda n: "a if b else " * (n - 1) + "a",
    "strings": lambda n: "'s' " * n + ".join",
    "loops": lambda n: "[a " + "for a in b " * (n - 1) + "]",
    "dictionaries": lambda n: "{1:" * (n - 1) + "a" + "}" * (n - 1),
}

IN_A_SMALL_THREAD = """
import sys, threading
sys.path.insert(0, sys.argv[1])
import test_rewriter as tests

def work():
    for name, shape in tests.SHAPES.items():
        hole = shape(tests.rewriting.MAX_DEPTH)
        assert tests.rewritten(f"y = f({hole})", "tf.g(tf.h({x}))") == f"y = tf.g(tf.h({hole}))", name
    print("done")

threading.stack_size(512 * 1024)
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""


def test_the_deepest_input_that_is_rewritten_does_not_crash_a_thread_of_512_kB():
    process = subprocess.run(
        [sys.executable, "-c", IN_A_SMALL_THREAD, str(__import__("pathlib").Path(__file__).parent)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (process.returncode, process.stdout) == (0, "done\n"), process.stderr[-2000:]


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("depth", [42, 150])
def test_deeper_input_is_refused_before_it_is_filled_in(name, depth, monkeypatch):
    monkeypatch.setattr(rewriting, "fill", None)
    assert "nested too deeply" in refusal(f"y = f({SHAPES[name](depth)})", "tf.g({x})")


@pytest.mark.parametrize("name", SHAPES)
def test_deep_literal_text_is_refused_too(name):
    assert "nested too deeply" in refusal("y = f(1)", "tf.g({x})", x=SHAPES[name](100))


def test_long_input_is_refused():
    hole = "[" + "1, " * (rewriting.MAX_LENGTH // 3 + 1) + "]"
    assert "too long" in refusal(f"f({hole})", "tf.g({x})")


def test_deep_code_around_the_expression_does_no_harm():
    depth = 900
    text = "y = " + "+".join(["a"] * depth) + "\nz = f(a)" + ".b" * depth + "\n"
    assert rewritten(text, "{x} + 1") == text.replace("f(a)", "(a + 1)")
