"""What a program never runs because what stands before it raises or ends the program: calls that a
signature does not allow, names that nothing binds. What may be patched, found by text or come from
elsewhere allows all for all that is known.
"""

from __future__ import annotations

import json
import re

import pytest
from reached import HEAD, MAIN, RULES, put, reason

from tfnanlint.notebook.document import Notebook
from tfnanlint.pipeline import analysis as flow
from tfnanlint.syntax.source import Source


def found_in(path):
    source = Source(str(path), path.read_text())
    if path.suffix == ".ipynb":
        source = Notebook(str(path), path.read_bytes()).source
    return flow.analyse(source, RULES)


RISKY = "def risky(z):\n    return tf.math.log(tf.nn.softmax(z))\n\n\n"
MAKE = "def make(width, depth=1, *, rate=0.1):\n    return width\n\n\n"
NET = (
    HEAD
    + "{}class Net({}):\n    def __init__(self, width):\n        self.width = width\n\n"
    + "    def train(self, z):\n        return tf.math.log(tf.nn.softmax(z))\n\n\n"
)
CALLED = "nothing in this program calls `{}`"
IDLE = "only code that never runs uses `risky`: train.py, "
TYPE_ERROR = "TypeError: `make` does not take these arguments"


def never(folder, body, more="", losses=MAKE):
    """Why `risky` is never run by a script with some lines."""
    text = "from losses import make\nfrom nets import risky\n\n\n" + more + body
    put(folder, {"losses.py": HEAD + losses, "train.py": text})
    return reason(folder, "nets.py", {"nets.py": HEAD + RISKY})


@pytest.mark.parametrize(
    ("call", "is_refused"),
    [
        ("make(3, size=2)", True),
        ("make()", True),
        ("make(depth=2)", True),
        ("make(1, 2, 3)", True),
        ("make(1, width=2)", True),
        ("print([make()])", True),
        ("x = y = 1 + make()", True),
        ("make(3)", False),
        ("make(3, rate=2)", False),
        ("make(*args)", False),
        ("make(**args)", False),
        ("print(make)", False),
        ("later = lambda: make()", False),
        ("rate or make()", False),
        ("1 if rate else make()", False),
        ("all(make() for _ in rate)", False),
        ("1 < rate < make()", False),
        ("def later(): make()", False),
        ("x: make()", False),
        ("x: make = make()", True),
        ("if rate: make()", False),
        ("for _ in rate: make()", False),
        ("make.__defaults__ = (1,); make()", False),
    ],
)
def test_what_stands_behind_a_call_that_a_signature_does_not_allow(folder, call, is_refused):
    expected = f"{IDLE}line 6 raises {TYPE_ERROR}" if is_refused else ""
    assert never(folder, f"{call}\nrisky(1)\n", "rate, args = 1, {}\n") == expected


@pytest.mark.parametrize(
    ("body", "is_never"),
    [
        ("try:\n    make()\nexcept TypeError:\n    risky(1)\n", False),
        ("try:\n    make()\n    risky(1)\nexcept TypeError:\n    pass\n", True),
        ("try:\n    make()\nfinally:\n    risky(1)\n", False),
        ("with open(1) as file:\n    make()\nrisky(1)\n", False),
        ("def run():\n    make()\n    risky(1)\n\n\nrun()\n", True),
        ("def run():\n    make()\n\n\nrun()\nrisky(1)\n", False),
        ("risky(1); make()\n", False),
        ("make(); risky(1)\n", True),
        ("make()\n\n\nif __name__ == '__main__':\n    risky(1)\n", True),
        ("make()\n\n\ndef run():\n    risky(1)\n\n\nrun()\n", True),
    ],
)
def test_only_the_rest_of_the_block_is_skipped(folder, body, is_never):
    text = never(folder, body)
    assert text.startswith(IDLE) and text.endswith(TYPE_ERROR) if is_never else text == ""


@pytest.mark.parametrize(
    ("more", "losses"),
    [
        ("make = print\n", MAKE),
        ("def use(make):\n    return make\n\n\n", MAKE),
        ("from other import *\n", MAKE),
        ("try:\n    import make\nexcept ImportError:\n    pass\n", MAKE),
        ("globals()['ma' + 'ke'] = print\n", MAKE),
        ("import losses\nlosses.make = print\n", MAKE),
        ("import losses\nsetattr(losses, 'ma' + 'ke', print)\n", MAKE),
        ("import losses\nvars(losses)['ma' + 'ke'] = print\n", MAKE),
        ("import losses\nlosses.__dict__.update(make=print)\n", MAKE),
        ("import losses\nlosses.__dict__['ma' + 'ke'] = print\n", MAKE),
        ("import sys\nsys.path.insert(0, '../other')\n", MAKE),
        ("import sys\nsys.modules['los' + 'ses'] = print\n", MAKE),
        ("from unittest import mock\nmock.patch('losses.make').start()\n", MAKE),
        ("", "@configured\n" + MAKE),
        ("", MAKE + "make = configured(make)\n"),
        ("", MAKE + "if tf:\n    def make(): pass\n"),
        ("", MAKE + "from other import *\n"),
        ("", MAKE + "globals().update(make=print)\n"),
        ("", "make = print\n"),
        ("", "import make\n"),
    ],
)
def test_a_function_that_may_be_another_allows_all(folder, more, losses):
    put(folder, {"other.py": "x = 1\n"})
    assert never(folder, "make()\nrisky(1)\n", more, losses) == ""


@pytest.mark.parametrize(
    ("more", "is_never"),
    [
        ("print(vars(options))\n", True),
        ("def show(options):\n    print(vars(options))\n\n\n", True),
        ("import options\nvars(options)['ma' + 'ke'] = print\n", False),
        ("from losses import (\n    rate,\n    options,\n)\nprint(vars(options))\n", False),
        ("print(vars())\n", False),
        ("print(vars(options.module))\n", False),
    ],
)
def test_the_attributes_of_an_object_are_no_names_of_a_module(folder, more, is_never):
    expected = f"{IDLE}line {5 + more.count(chr(10))} raises {TYPE_ERROR}" if is_never else ""
    assert never(folder, "make()\nrisky(1)\n", more) == expected


def test_a_patch_in_a_third_file(folder):
    put(folder, {"patches.py": "import losses\n\n\nlosses.make = print\n"})
    assert never(folder, "make()\nrisky(1)\n", "import patches\n") == ""


@pytest.mark.parametrize(
    ("decorator", "bases", "main", "is_never"),
    [
        ("", "", "Net(size=1).train(2)", True),
        ("", "", "Net().train(2)", True),
        ("", "tf.keras.Model", "Net(1, size=2).train(3)", True),
        ("", "Base", "Net(size=1).train(2)", True),
        ("", "", "Net(1).train(2)", False),
        ("", "", "print(Net, Net()).train(2)", False),
        ("", "", "Net.train(1, 2)", False),
        ("", "", "Net.__init__ = print; Net().train(2)", False),
        ("@register\n", "", "Net().train(2)", False),
        ("", "metaclass=Meta", "Net().train(2)", False),
        ("", "gym.Env", "Net().train(2)", False),
        ("", "Made", "Net().train(2)", False),
        ("", "Unknown", "Net().train(2)", False),
    ],
)
def test_a_class_whose_constructor_does_not_allow_a_call(folder, decorator, bases, main, is_never):
    more = "import gym\n\n\nclass Base:\n    pass\n\n\nclass Made(metaclass=Meta):\n    pass\n\n\n"
    text = NET.format(decorator, bases).replace(HEAD, HEAD + more) + MAIN.format(main)
    expected = CALLED.format("Net") if is_never else ""
    assert reason(folder, "train.py", {"train.py": text}) == expected


def test_a_class_that_makes_its_objects_itself(folder):
    text = NET.format("", "").replace(
        "    def train",
        "    def __new__(cls, *args):\n        return super().__new__(cls)\n\n    def train",
    )
    assert reason(folder, "train.py", {"train.py": text + MAIN.format("Net().train(2)")}) == ""


def test_an_heir_that_is_made_runs_what_it_inherits(folder):
    heir = "class Heir(Net):\n    def __init__(self):\n        super().__init__(1)\n\n\n"
    text = NET.format("", "") + heir + MAIN.format("Net() if tf else Heir().train(2)")
    assert reason(folder, "train.py", {"train.py": text}) == ""


@pytest.mark.parametrize(
    ("call", "is_never"),
    [
        ("z.train()", True),
        ("z.train(1, 2, 3)", True),
        ("z.train(1, steps=3)", True),
        ("z.train(1)", False),
        ("z.train(1, 2)", False),  # `Net.train(net, 2)`
        ("z.train(*z)", False),
        ("z.train", False),
    ],
)
def test_a_call_that_a_method_does_not_allow_calls_that_of_another_class(folder, call, is_never):
    use = f"def use(z):\n    {call}\n\n\n"
    text = NET.format("", "") + use + MAIN.format("use(Net(1))")
    expected = CALLED.format("train") if is_never else ""
    assert reason(folder, "train.py", {"train.py": text}) == expected


@pytest.mark.parametrize("decorator", ["property", "contextmanager", "tf.autograph.wrapped"])
def test_what_a_decorator_makes_of_a_method_may_be_called_otherwise(folder, decorator):
    text = NET.format("", "").replace("    def train", f"    @{decorator}\n    def train")
    text += MAIN.format("Net(1).train(1, 2, 3)")
    assert reason(folder, "train.py", {"train.py": text}) == ""


@pytest.mark.parametrize(
    "files",
    [
        {"lib/losses.py": MAKE},
        {"losses/make.py": "x = 1\n"},
        {"run.py": "import train\n\n\nprint(train)\n"},
        {"patch.py": "import sys\nsys.path.insert(0, '../losses')\n"},
        {"patch.py": "import losses\nfor name in names:\n    setattr(losses, name, 1)\n"},
    ],
)
def test_a_module_that_may_be_another(folder, files):
    put(folder, files)
    assert never(folder, "make()\nrisky(1)\n") == ""


@pytest.mark.parametrize(
    ("end", "is_never"),
    [
        ("exit()", True),
        ("quit()", True),
        ("raise SystemExit", True),
        ("import sys\nsys.exit(1)", True),
        ("import os\nos._exit(1)", True),
        ("exit", False),
        ("if rate: exit()", False),
        ("print(exit())", False),
        ("def exit(): pass\nexit()", False),
        ("exit = print\nexit()", False),
        ("globals()['ex' + 'it'] = print\nexit()", False),
        ("sys = print\nsys.exit()", False),
        ("import other as sys\nsys.exit()", False),
        ("import sys\nsys = print\nsys.exit()", False),
        ("from other import sys\nsys.exit()", False),
        ("from other import *\nexit()", False),
    ],
)
def test_what_stands_behind_the_end_of_the_program(folder, end, is_never):
    put(folder, {"other.py": "sys = exit = print\n"})
    text = never(folder, f"{end}\nrisky(1)\n", "rate = 1\n")
    assert text.startswith(IDLE) if is_never else text == ""


def test_what_stands_behind_a_statement_that_leaves(folder):
    body = "def run():\n    {}\n    risky(1)\n\n\nrun()\n"
    assert never(folder, body.format("return 1")) == f"{IDLE}line 6 leaves what is around it"
    assert never(folder, body.format("print(1)")) == ""


@pytest.mark.parametrize("suffix", ["py", "ipynb"])
def test_a_cell_may_be_run_behind_the_end_of_another(folder, suffix):
    cells = ["import tensorflow as tf", "exit()", "loss = tf.math.log(tf.nn.softmax(z))"]
    cells = [{"cell_type": "code", "source": cell, "metadata": {}, "outputs": []} for cell in cells]
    notebook = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    script = HEAD + "exit()\nprint(tf.math.log(tf.nn.softmax(z)))\n" + MAIN.format("pass")
    name = f"train.{suffix}"
    put(folder, {name: script if suffix == "py" else notebook})
    (finding,) = found_in(folder / name)
    assert finding.unreached == ("line 4 ends the program" if suffix == "py" else "")


UNBOUND = "class Made:\n    pass\n"


@pytest.mark.parametrize(
    ("body", "is_never"),
    [
        ("Made()\nrisky(1)\n", True),
        ("x = [Made]\nrisky(1)\n", True),
        ("for one in Made: print(one)\nrisky(1)\n", True),
        ("if Made: print(1)\nrisky(1)\n", True),
        ("if Made:\n    risky(1)\n", True),
        ("class Net(Made): pass\nrisky(1)\n", True),
        ("class Net:\n    x = Made\nrisky(1)\n", True),
        ("def net(x=Made): pass\nrisky(1)\n", True),
        ("def net(x: Made): pass\nrisky(1)\n", False),
        ("def net(): return Made\nrisky(1)\n", False),
        ("if rate: Made()\nrisky(1)\n", False),
        ("rate and Made()\nrisky(1)\n", False),
        ("try: Made()\nexcept NameError: pass\nrisky(1)\n", False),
        ("with open(1), Made: print(1)\nrisky(1)\n", False),
        ("from other import *\nMade()\nrisky(1)\n", False),
        ("exec('Made = print')\nMade()\nrisky(1)\n", False),
        ("globals().update(rate)\nMade()\nrisky(1)\n", False),
        ("rate.__dict__.update(x=1)\nMade()\nrisky(1)\n", False),
        ("if rate:\n    Made = 1\nMade()\nrisky(1)\n", False),
        ("def net(Made): pass\nMade()\nrisky(1)\n", False),
        ("Other()\nrisky(1)\n", False),  # of a file that is not here
        ("print()\nrisky(1)\n", False),
    ],
)
def test_what_stands_behind_a_name_that_nothing_binds(folder, body, is_never):
    put(folder, {"nothing.py": UNBOUND})
    text = never(folder, body, "rate = print\n")
    assert text.startswith(IDLE) and "nothing binds `Made`" in text if is_never else text == ""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("patch.py", "import train\ntrain.Made = print\n"),
        ("patch.py", "import builtins\nbuiltins.Made = print\n"),
        ("patch.py", "import train\nsetattr(train, 'Ma' + 'de', 1)\n"),
        ("patch.py", "NAMES = ['Made']\n\n\ndef put(x): setattr(x, NAMES[0], 1)\n"),
        ("patch.py", "exec(open('train.py').read(), NAMES)\n"),
    ],
)
def test_a_name_that_another_file_may_bind(folder, name, text):
    put(folder, {"nothing.py": UNBOUND, name: text})
    assert never(folder, "Made()\nrisky(1)\n") == ""


@pytest.mark.parametrize(
    ("files", "is_never"),
    [
        ({"losses.py": MAKE}, True),
        ({"losses/__init__.py": "", "losses/a.py": "def gone(): pass\n"}, True),
        ({"losses/__init__.py": ""}, False),  # one inside may be compiled, or generated
        ({"losses/__init__.py": "", "losses/gone.py": "def gone(): pass\n"}, False),
        ({"losses.py": "gone = 1\n"}, False),
        ({"losses.py": "if MAKE:\n    import gone\n"}, False),
        ({"losses.py": "from other import *\n"}, False),
        ({"losses.py": "def __getattr__(name):\n    return 1\n"}, False),
        ({"losses.py": "globals()['go' + 'ne'] = 1\n"}, False),
        ({"losses.py": "import sys\nsys.modules[__name__] = print\n"}, False),
        ({"losses.py": MAKE, "lib/losses.py": "gone = 1\n"}, False),
        ({"losses.py": MAKE, "a.py": "import sys\nsys.path.append('lib')\n"}, False),
        ({"losses.py": MAKE, "a.py": "import losses\nlosses.gone = 1\n"}, False),
        ({"losses.py": MAKE, "a.py": "import train\n"}, False),
        ({"losses.py": "print `1`\n"}, False),
        ({}, False),
    ],
)
def test_what_stands_behind_an_import_of_what_a_module_has_not(folder, files, is_never):
    text = "from losses import gone\nfrom nets import risky\n\n\nrisky(1)\n"
    put(folder, {**files, "train.py": text})
    expected = f"{IDLE}line 1 raises ImportError: its module has no `gone`" if is_never else ""
    assert reason(folder, "nets.py", {"nets.py": HEAD + RISKY}) == expected


@pytest.mark.parametrize(
    ("old", "new", "is_never"),
    [
        ("", "", True),
        ("    def train", "    @tf.function\n    def train", True),
        ("    def train", "    @tf.autograph.other(1)\n    def train", True),
        ("    def train", "    @staticmethod\n    def train", False),
        ("    def train", "    @register\n    def train", False),
        ("def train", "def call", False),  # Keras may call it while `__init__` runs
        ("self.width = width", "self.width = self.train(1)", False),
        ("class Net", "@register\nclass Net", False),
        ("\n    def __init__", "\n    __new__ = print\n\n    def __init__", False),
        ("\n\n\n", "\n\n\nclass Heir(Net):\n    def __init__(self): pass\n\n\n", False),
        ("\n\n\n", "\n\n\nNet.train(1, 2)\n\n\n", False),
        ("\n\n\n", "\n\n\nobject.__new__(Net).train(2)\n\n\n", False),
        ("\n\n\n", "\n\n\nNet.__init__ = print\n\n\n", False),
        ("        Made()", "        width and Made()", False),
    ],
)
def test_a_class_of_which_no_object_is_made(folder, old, new, is_never):
    text = NET.format("", "tf.keras.Model")[len(HEAD) :]
    text = text.replace("self.width = width\n", "self.width = width\n        Made()\n")
    text = HEAD + text.replace(old, new, 1) + MAIN.format("Net(1).train(2)")
    put(folder, {"nothing.py": UNBOUND})
    expected = ".* raises NameError: nothing binds `Made`" if is_never else ""
    assert re.fullmatch(expected, reason(folder, "train.py", {"train.py": text}))


def test_a_finding_behind_a_call_that_raises_says_so(folder):
    text = HEAD + MAKE + RISKY.replace("    return", "    z = make(z, size=1)\n    return")
    text += MAIN.format("risky(1)")
    expected = "line 9 raises TypeError: `make` does not take these arguments"
    assert reason(folder, "train.py", {"train.py": text}) == expected
    put(folder, {"pyproject.toml": "[project]\nname = 'a'\n"})
    assert reason(folder, "train.py", {"train.py": text}) == ""
