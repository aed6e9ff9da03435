"""Notebooks: cells as one module, magics taken out in place, and changed cells put back with every
other byte kept.
"""

from __future__ import annotations

import ast
import json

import pytest

from tfnanlint.diagnostics.findings import Edit
from tfnanlint.notebook import magics
from tfnanlint.notebook.cells import Cell, CellSource
from tfnanlint.notebook.document import Notebook
from tfnanlint.syntax.source import Location, Source, Span, Uneditable, Unreadable

LOG = "y = tf.log(tf.nn.softmax(z))"
FIXED = "y = tf.nn.log_softmax(z)"


def cell(source: str | list, kind: str = "code", **more) -> dict:
    shared = {"cell_type": kind, "metadata": {}, "source": source}
    return (
        {**shared, "execution_count": None, "outputs": [], **more}
        if kind == "code"
        else {**shared, **more}
    )


def book(*cells: dict | str | list, **more) -> dict:
    listed = [one if isinstance(one, dict) else cell(one) for one in cells]
    return {"cells": listed, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **more}


def text(*cells: dict | str | list, indent: int | None = 1, **more) -> str:
    return json.dumps(book(*cells, **more), indent=indent, ensure_ascii=False) + "\n"


def source(*texts: str) -> CellSource:
    return CellSource("a.ipynb", [Cell(number, one) for number, one in enumerate(texts, 1)])


def replaced(module: CellSource, old: str, new: str) -> CellSource:
    start = module.text.index(old)
    edit = Edit(Span(start, start + len(old)), new)
    return module.edited(module.text[:start] + new + module.text[start + len(old) :], [edit])


# ---------------------------------------------------------------------------------------------------------
# Magics


@pytest.mark.parametrize(
    "given, python",
    [
        ("%matplotlib inline\nx = 1", "0                 \nx = 1"),
        ("!pip install x", "0             "),
        ("!!ls", "0   "),
        ("if a:\n    !ls\n    %cd x", "if a:\n    0  \n    0    "),
        ("x = !ls -l", "x = _     "),
        ("a, b[0] = %sql x", "a, b[0] = _     "),
        ("x=!l", "x=_ "),
        ("x = %time f(z)", "x =       f(z)"),
        ("x = %timeit -o f(z)", "x = _              "),
        ("%time y = f(z)", "0;    y = f(z)"),
        ("%timeit -n 10 -r3 f(z)", "0;                f(z)"),
        ("%time for i in y: f(i)", "0                     "),
        ("%%time\ny = 1", "0     \ny = 1"),
        ("\n# a\n%%capture out\ny = 1", "\n# a\n0            \ny = 1"),
        ("%%bash\nls 'x\n", "      \n     \n"),
        ("%%writefile a.py\nimport os", "                \n         "),
        ("%%html\r\n<p>\r", "      \r\n   \r"),
        ("%%time?", "       "),
        ("%%unheard of\nx", "            \n "),
        ("?print", "0     "),
        ("tf.math.log??", "0            "),
        ("  x.*log*?  ", "  0         "),
        ("/f x\n,g y\n;h z", "0   \n0   \n0   "),
        ("!ls \\\n  -l \\\n  -a\nx = 1", "0    \n      \n    \nx = 1"),
        ("!ls \\\r\n  -l\r\nx = 1", "0    \r\n    \r\nx = 1"),
        # Python, although it looks like magic
        ('s = """\n%magic\n!ls\nwhat?\n"""\n', None),
        ("s = '''\n%a\n''' % x\n%b", "s = '''\n%a\n''' % x\n0 "),
        ("x = (a\n  % b)", None),
        ("x = a \\\n  % b", None),
        ("d = {'a': [\n%b]}", None),
        ("x != y", None),
        ('f(a="!")  # why?', None),
        ("s = 'what?'\nx = 'it\\'s'\n", None),
        ("d['=!'] = 3", None),
        ("# %%time\nx = 1", None),
    ],
)
def test_magics_are_taken_out_in_place(given, python):
    found = magics.neutral(given)
    assert found == (given if python is None else python)
    assert len(found) == len(given)


def test_what_is_left_parses():
    ast.parse(magics.neutral("x = await f()\n%time y = x\nfor _ in x:\n\t!ls {y}\nprint?"))


@pytest.mark.parametrize(
    "given, expected",
    [
        ("pip install keras", True),
        ("  ls -l x\n", True),
        ("pip = 3 3", False),
        ("pip install x\nfoo bar", False),
        ("print 'x'", False),
    ],
)
def test_commands_without_a_mark(given, expected):
    assert magics.automagic(given) is expected


# ---------------------------------------------------------------------------------------------------------
# Cells as one module


def test_places_lead_back_to_the_cell():
    module = source("import a\nb = 1\n", "%time\nc = 2", "", "dé = 3\r\ne = 4\r\n")
    for name, cell_number, row in (
        ("import", 1, 1),
        ("b", 1, 2),
        ("c =", 2, 2),
        ("dé", 4, 1),
        ("e = 4", 4, 2),
    ):
        offset = module.text.index(name)
        assert module.location(offset) == Location(row, 1, cell_number)
        one, within = module.at(offset)
        assert one.number == cell_number and one.text[within:].startswith(name)
        assert module.offset_in(cell_number, within) == offset
    assert module.location(len(module.text)).cell == 4
    assert module.location(0).words == "line 1 of cell 1" and module.location(0).prefix == "cell 1:"
    assert module.line_text(5) == "%time" and "%time" not in module.text
    assert module.first_row(6) == 5


def test_no_cells():
    module = CellSource("a.ipynb", [])
    assert (module.text, module.location(0), module.first_row(1), module.faults) == (
        "",
        Location(1, 1),
        1,
        (),
    )


@pytest.mark.parametrize(
    "broken",
    [
        "print 'x'",
        "x = (1",
        "x = '''",
        "x = 1 + \\",
        "def f():",
        "@f",
        "  x = 1\n y = 2",
        "x = \x00",
        "else:\n  pass",
        "]" * 3000,
        "(" * 3000,
    ],
)
def test_a_broken_cell_silences_only_itself(broken):
    module = source(
        "a = 1", "if a:\n  b = 2", broken, "c = ''' '''\nd = (3)\ndef g():\n  pass", "e = ')'"
    )
    names = [one.targets[0].id for one in module.tree.body if isinstance(one, ast.Assign)]
    assert names == ["a", "c", "d", "e"]
    (fault,) = module.faults
    assert str(fault).startswith("this cell is not checked: ")
    assert module.location(module.line_starts[fault.row - 1]).cell == 3


def test_a_statement_does_not_reach_into_the_next_cell():
    module = source("x = (1 +", "2)\ny = 3", "z = 4", "@f", "def g(): pass")
    assert [module.location(module.line_starts[fault.row - 1]).cell for fault in module.faults] == [
        1,
        2,
        4,
    ]
    assert [type(one).__name__ for one in module.tree.body] == ["Assign", "FunctionDef"]
    assert len(source("@f", "def g(): pass").faults) == 1


def test_a_cell_that_is_indented_as_a_whole():
    module = source("x = 1", "  \n    y = 2\n    z = 3", "w = 4")
    assert module.faults == () and module.location(module.text.index("y = 2")) == Location(2, 5, 2)
    assert len(module.tree.body) == 3
    changed = replaced(module, "z = 3", "z = 33")
    assert [one.text for one in changed.cells] == ["x = 1", "  \n    y = 2\n    z = 33", "w = 4"]


def test_a_lone_surrogate_is_read_and_kept():
    module = source("s = '\ud800'\nx = 1")
    assert module.faults == () and module.line_text(1) == "s = '\ud800'"
    assert replaced(module, "x = 1", "y = 1").cells[0].text == "s = '\ud800'\ny = 1"
    with pytest.raises(Uneditable):
        replaced(module, "'\ufffd'", "'\ufffd'")


def test_top_level_await():
    assert source("await f()\nasync with a as b:\n  pass\nx = [y async for y in z]").faults == ()


# ---------------------------------------------------------------------------------------------------------
# Editing cells


def test_a_line_after_the_last_one_belongs_to_its_cell():
    module = source("import a", "b = 1")
    point = module.line_starts[1]
    changed = module.edited(
        module.text[:point] + "import c\n" + module.text[point:],
        [Edit(Span(point, point), "import c\n")],
    )
    assert [one.text for one in changed.cells] == ["import a\nimport c", "b = 1"]
    assert changed.text == "import a\nimport c\n\nb = 1\n\n"


@pytest.mark.parametrize("ending", ["", "\n"])
def test_the_last_line_of_a_cell_can_be_taken_away(ending):
    module = source("a = 1\n# b" + ending, "c = 1")
    start, stop = module.line_starts[1], module.line_starts[2]
    changed = module.edited(module.text[:start] + module.text[stop:], [Edit(Span(start, stop), "")])
    assert [one.text for one in changed.cells] == ["a = 1" + ending, "c = 1"]


@pytest.mark.parametrize(
    "start, end, new, reason",
    [
        (0, 12, "z = 1", "beyond one cell"),
        (14, 14, "z = 1\n", "not Python"),  # above the cell magic
        (17, 18, "z", "not Python"),
        (21, 21, "%", "not Python"),
        (21, 26, "!ls", "not Python"),
    ],
)
def test_edits_that_are_refused(start, end, new, reason):
    module = source("a = 1", "b = 2", "%%time\nc = 1")
    assert module.text[21:26] == "c = 1"
    with pytest.raises(Uneditable, match=reason):
        module.edited(module.text[:start] + new + module.text[end:], [Edit(Span(start, end), new)])


# ---------------------------------------------------------------------------------------------------------
# The file


def test_cells_are_numbered_among_all_cells():
    notebook = Notebook(
        "a.ipynb",
        text(cell("# t", "markdown"), "a = 1", cell("raw", "raw"), ["b = 2\n", "c = 3"]).encode(),
    )
    assert [(one.number, one.text) for one in notebook.cells] == [(2, "a = 1"), (4, "b = 2\nc = 3")]


def test_old_formats_have_worksheets():
    code = {"cell_type": "code", "input": ["a = 1\n", "b"], "language": "python", "outputs": []}
    sheets = [
        {"cells": [{"cell_type": "heading", "source": "h"}, code]},
        {"cells": [{**code, "language": "bash"}]},
    ]
    data = json.dumps({"metadata": {}, "nbformat": 3, "worksheets": sheets}).encode()
    notebook = Notebook("a.ipynb", data)
    assert [(one.number, one.text, one.python) for one in notebook.cells] == [
        (2, "a = 1\nb", True),
        (3, "a = 1\nb", False),
    ]
    new = notebook.edited(replaced(notebook.source, "a = 1", "a = 22"))
    assert new == data.replace(b"a = 1", b"a = 22", 1)


@pytest.mark.parametrize(
    "metadata, python",
    [
        ({}, True),
        ({"kernelspec": {"language": "python"}}, True),
        ({"kernelspec": {"language": "R"}}, False),
        ({"language_info": {"name": "julia"}}, False),
        ({"kernelspec": {"name": "python3"}, "language_info": 3}, True),
    ],
)
def test_the_language_of_a_notebook(metadata, python):
    assert Notebook("a.ipynb", text("a", metadata=metadata).encode()).is_python is python


@pytest.mark.parametrize(
    "data, message, place",
    [
        (b"", "invalid JSON here", (1, 1)),
        (b"{", "invalid JSON", (1, 2)),
        (b'{"cells": [\n {"a" 3}]}', "invalid JSON: Expecting ':'", (2, 7)),
        (b'{"cells": []} x', "something after its end", (1, 15)),
        (b"[]", "no JSON object", (1, 1)),
        (b"{}", "it has no cells", (1, 1)),
        (b'{"cells": 3}', "it has no cells", (1, 1)),
        (b'{"worksheets": [],\n "nbformat": 2}', "older than nbformat 3", (2, 14)),
        (b'{"cells": [\n3]}', "a cell is no JSON object", (2, 1)),
        (b'{"cells": [{"cell_type": "code",\n "source": [3]}]}', "no text", (2, 12)),
        (b'{"cells": "\xff"}', "not UTF-8", (1, 1)),
        (b"[" * 100_000, "nested too deeply", (1, 1)),
    ],
)
def test_what_is_no_notebook(data, message, place):
    with pytest.raises(Unreadable, match=message) as raised:
        Notebook("a.ipynb", data)
    assert (raised.value.row, raised.value.column) == place


def test_odd_json_is_read():
    odd = '\ufeff {"a": [NaN, -Infinity, 1e5, %s], "cells": 3, "cells" :[ {"source":"a = 1" , "cell_type":"code","id":7} ] }\t\r\n'
    data = (odd % ("9" * 5000)).encode()
    notebook = Notebook("a.ipynb", data)
    assert [one.text for one in notebook.cells] == ["a = 1"]
    assert notebook.edited(replaced(notebook.source, "1", "2")) == data.replace(b"a = 1", b"a = 2")


def edit(data: str, old: str, new: str) -> str:
    notebook = Notebook("a.ipynb", data.encode())
    return notebook.edited(replaced(notebook.source, old, new)).decode()


@pytest.mark.parametrize(
    "before, old, new, after",
    [
        ('["a\\n",  "b"]', "b", "bb", '["a\\n",  "bb"]'),
        ('["a\\n",\n\t"\\u0062 + \\u00e9"]', "b", "c", '["a\\n",\n\t"c + \\u00e9"]'),
        ('["a\\n", "b = 1\\n",   "c"]', "b = 1", "x\ny", '["a\\n", "x\\n", "y\\n",   "c"]'),
        ('["a\\n",   "b = 1\\n", "c"]', "b = 1\nc", "d", '["a\\n",   "d"]'),
        ('[\n  "a"\n ]', "a", "b\nc", '[\n  "b\\n",\n  "c"\n ]'),
        ('["a"]', "a", "b\nc", '["b\\n", "c"]'),
        ('"a\\nb"', "b", '"\\\t', '"a\\n\\"\\\\\\t"'),
        ('"a\\u002fb\\/c"', "b", "'é'", "\"a\\u002f'\\u00e9'\\/c\""),
        ('"é = 1\\n\\u00e9 + a"', "a", "ü", '"é = 1\\n\\u00e9 + ü"'),
        ('"\\"\\ud83d\\ude00\\"; a"', "a", "b", '"\\"\\ud83d\\ude00\\"; b"'),
        ('"\\"\\ud800\\"; a"', "a", "b", '"\\"\\ud800\\"; b"'),
        ('["a", " = 1\\nb", "", " = 2"]', "1", "33", '["a", " = 33\\nb", "", " = 2"]'),
        ('["a", " = 1\\nb", "", " = 2"]', "a = 1", "c", '["c\\nb", "", " = 2"]'),
        ('["a = 1\\nb = 2\\n", "c"]', "b = 2\nc", "d", '["a = 1\\nd"]'),
    ],
)
def test_new_text_is_spelled_as_the_file_spells(before, old, new, after):
    whole = '{"cells": [{"cell_type":"code", "outputs": [1.0, 1e5], "source": %s}],"x": 0.10}'
    assert edit(whole % before, old, new) == whole % after


def test_a_cell_that_becomes_empty():
    notebook = Notebook("a.ipynb", text(["# a\n"], "b").encode())
    module = notebook.source
    new = module.edited(module.text[:0] + module.text[4:], [Edit(Span(0, 4), "")])
    assert json.loads(notebook.edited(new))["cells"][0]["source"] == []


def test_positions_in_the_file():
    data = '{"cells": [{"cell_type": "code", "source": [\n  "a\\n",\n  "\\u0062 = c"]}, {"cell_type": "code", "source": []}]}'
    module = Notebook("a.ipynb", data.encode()).source
    assert module.file_position(module.text.index("a")) == (2, 4)
    assert module.file_position(module.text.index("c")) == (3, 13)
    assert module.file_position(module.text.index("c") + 1) == (3, 14)


# ---------------------------------------------------------------------------------------------------------
# From the command line


def test_findings_name_cell_and_line(shell):
    shell.write(
        "a.ipynb", text(cell("# t", "markdown"), "import tensorflow as tf", ["%%time\n", LOG])
    )
    outcome = shell.check()
    assert outcome.code == 1
    assert outcome.text.startswith("a.ipynb:cell 3:2:5: warning: TFN301 [*] log of a softmax\n")
    assert "from cell 3, line 2: " in shell.run("check", "a.ipynb").text
    full = shell.run("check", "--verbose", "a.ipynb").text
    assert "1 | %%time\n2 | y = tf.log(" in full and "a.ipynb:cell 3:2: y = tf.log" in full
    (found,) = json.loads(shell.run("check", "--output-format", "json", "a.ipynb").text)
    assert (found["cell"], found["location"]) == (3, {"row": 2, "column": 5})
    (edit,) = found["fixes"][0]["edits"]
    assert (edit["cell"], edit["location"]["row"], found["trace"][0]["cell"]) == (3, 2, 3)


def test_fix_diff_and_stdin(shell):
    before = text("import tensorflow as tf\r\n", ["# é\n", LOG + "\n", "pass"], indent=2).replace(
        "\n", "\r\n"
    )
    after = before.replace(LOG, FIXED)
    path = shell.write("a.ipynb", before)
    outcome = shell.check("--diff", "a.ipynb")
    changed = [line for line in outcome.out.split(b"\n") if line[:1] in (b"-", b"+")][2:]
    assert outcome.code == 1 and [line.strip(b" \r-+") for line in changed] == [
        f'"{LOG}\\n",'.encode(),
        f'"{FIXED}\\n",'.encode(),
    ]
    assert (
        shell.check("--fix", "--stdin-filename", "a.ipynb", "-", stdin=before.encode()).out
        == after.encode()
    )
    assert path.read_bytes() == before.encode()
    assert shell.check("--fix", "a.ipynb").code == 0
    assert path.read_bytes() == after.encode()
    assert shell.check("--fix", "a.ipynb").code == 0 and path.read_bytes() == after.encode()


def test_suppressions_work_in_cells(shell):
    shell.write(
        "a.ipynb",
        text(
            "import tensorflow as tf",
            [LOG + "  # tfn: ignore[TFN301]\n", "z = 1  # tfn: ignore[TFN101]"],
        ),
    )
    outcome = shell.check()
    assert (
        outcome.text.startswith("a.ipynb:cell 2:2:8: warning: TFN003")
        and outcome.text.count("ipynb") == 1
    )
    shell.check("--fix")
    assert json.loads((shell.directory / "a.ipynb").read_text())["cells"][1]["source"][1] == "z = 1"
    shell.write("a.ipynb", text("import tensorflow as tf\n# tfn: skip-file", LOG, "print 'x'"))
    assert shell.check().code == 0


def test_a_suppression_at_the_end_of_a_cell_does_not_reach_the_next(shell):
    comment = "# tfn: ignore[TFN301]\n"
    shell.write("a.ipynb", text("import tensorflow as tf\n" + comment, LOG, comment + LOG))
    lines = shell.check().text.splitlines()
    assert [[*line.split(" ")[:2], line.split(" ")[3]] for line in lines[:2]] == [
        ["a.ipynb:cell", "1:2:1:", "TFN003"],
        ["a.ipynb:cell", "2:1:5:", "TFN301"],
    ]
    assert lines[2] == "Found 2 warnings (1 file read, 1 uses TensorFlow or Keras)."


def test_a_broken_cell_is_named(shell):
    shell.write("a.ipynb", text("import tensorflow as tf", "x = 1\nprint 'x'", LOG))
    lines = shell.check("--fix").text.splitlines()
    assert len(lines) == 3 and lines[0].startswith(
        "a.ipynb:cell 2:2:1: error: TFN001 this cell is not checked: syntax error"
    )
    assert json.loads((shell.directory / "a.ipynb").read_text())["cells"][2]["source"] == FIXED


def test_what_is_shown_of_a_broken_cell(shell, monkeypatch):
    """The cell by its number and its own line, the rest of the notebook as always."""
    monkeypatch.setenv("COLUMNS", "100")
    shell.write("a.ipynb", text("import tensorflow as tf", "x = 1\np = tf.log(x", LOG))
    shown = shell.run("check", "--config", "preview = true").text
    assert shown == (
        "a.ipynb:cell 2:2:11: error: TFN001 this cell is not checked: syntax error: '(' was never closed\n"
        "  2 | p = tf.log(x\n"
        "    |           ^\n"
        "\n"
        "a.ipynb:cell 3:1:5: warning: TFN301 [*] log of a softmax\n"
        "  1 | y = tf.log(tf.nn.softmax(z))\n"
        "    |     ^^^^^^^^^^^^^^^^^^^^^^^^ between 0 and 1\n"
        "  from cell 3, line 1: its argument is between 0 and 1\n"
        "  fix: use log_softmax (same result)\n"
        "    + y = tf.nn.log_softmax(z)\n"
        "\n"
        "Found 1 error and 1 warning (1 file read, 1 uses TensorFlow or Keras).\n"
        "[*] 1 fixable with `--fix`.\n"
        "`tfnanlint explain TFN301` explains a rule; `--verbose` shows everything.\n"
    )


def test_what_is_not_for_us(shell):
    shell.write("r.ipynb", text("library(keras)", metadata={"kernelspec": {"language": "R"}}))
    shell.write(
        "words.ipynb", text(cell("tensorflow", "markdown"), "%%bash\npip tensorflow", "print 'x'")
    )
    shell.write(
        "other.ipynb",
        text(cell("import tensorflow as tf\nx <- 1", metadata={"vscode": {"languageId": "r"}})),
    )
    shell.write(".ipynb_checkpoints/a.ipynb", text("import tensorflow as tf", LOG))
    assert shell.check().text == "Nothing to check: 3 files read, 0 use TensorFlow or Keras.\n"


def test_broken_json_is_said(shell):
    path = shell.write("a.ipynb", '{"cells": [\n "tensorflow" 3]}')
    outcome = shell.check("--fix")
    assert (outcome.code, outcome.text.splitlines()[0]) == (
        1,
        "a.ipynb:2:15: error: TFN001 not a notebook: invalid JSON: Expecting ',' delimiter",
    )
    assert path.read_text() == '{"cells": [\n "tensorflow" 3]}'


def test_a_large_notebook_is_read(shell):
    picture = {
        "output_type": "display_data",
        "metadata": {},
        "data": {"image/png": "A" * (3 << 20)},
    }
    shell.write("a.ipynb", text("import tensorflow as tf", cell(LOG, outputs=[picture])))
    assert "cell 2:1:5: warning: TFN301" in shell.check().text
    assert shell.check("--config", "max-file-size = 1000").text.startswith(
        "a.ipynb:1:1: error: TFN002 it is larger than the limit"
    )


def test_the_end_of_a_cell_is_shown():
    source = CellSource("a.ipynb", [Cell(1, "f(x)\ng(x)"), Cell(2, "y = h(x)"), Cell(3, "y")])
    assert {ast.unparse(node) for node in source.displayed} == {"g(x)", "y"}


@pytest.mark.parametrize("mark", ["# %%", "#%% a title"])
def test_parts_of_a_script_show_their_ends(mark):
    text = f"f(x)\n{mark}\ng(x)\nh(x)\n{mark}\nif x:\n    f(x)\n"
    assert {ast.unparse(node) for node in Source("a.py", text).displayed} == {"f(x)", "h(x)"}
    assert not Source("a.py", "f(x)\ng(x)\n").displayed


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_many_comments_without_a_magic_are_read_once(end):
    """Each line end is matched in one way: in two, forty of them would take years."""
    text = f"# a comment{end}" * 40 + "x = 1"
    assert magics.heading(text) == 0


def test_many_options_of_a_magic_are_read_once():
    text = "%timeit" + " -na" * 40
    assert len(magics.neutral(text)) == len(text)
    assert magics.neutral("%timeit -n 10 -r3 -o f(x)") == "0;" + " " * 19 + "f(x)"
