"""Which branches a program never takes: those that depend on a parameter that is the same constant
in every call, or on an attribute that `__init__` makes of one. What is not seen, and what people
set in a script, decides nothing.
"""

from __future__ import annotations

import pytest
from reached import HEAD, MAIN, put, reason

from tfnanlint.project.choices import Choices

LOSS = (
    HEAD
    + "def loss(z, soft=False, kind='mean'):\n"
    + "    if {}:\n        return tf.math.log(tf.nn.softmax(z))\n    return z\n\n\n"
)
USER = "from losses import {}\n\n\ndef train(z, flag):\n    {}\n\n\n" + MAIN.format("train(1, 2)")
IDLE = "only code that never runs uses `risky`: "
LAYER = (
    HEAD
    + "class Layer(tf.keras.layers.Layer):\n"
    + "    def __init__(self, soft=False, **kwargs):\n"
    + "        super().__init__(**kwargs)\n        self.soft = soft\n\n"
    + "    def call(self, z):\n        if self.soft:\n"
    + "            return tf.math.log(tf.nn.softmax(z))\n        return z\n\n\n"
)


def why(folder, losses, name, body):
    files = {"losses.py": losses, "train.py": USER.format(name, body)}
    return reason(folder, "losses.py", files)


@pytest.mark.parametrize(
    ("test", "call", "word"),
    [
        ("soft", "loss(z)", "false"),
        ("soft", "loss(z, False)", "false"),
        ("not soft", "loss(z, soft=True)", "false"),
        ("soft and z is not None", "loss(z)", "false"),
        ("kind == 'sum'", "loss(z)", "false"),
        ("kind is None", "loss(z)", "false"),
        ("'sum' == kind", "loss(z, kind='max')", "false"),
        ("kind == -1", "loss(z, kind=1)", "false"),
        ("kind == 1", "loss(z, kind=-1)", "false"),
        ("kind is not None", "loss(z, kind=None)", "false"),
        ("soft is None or not soft", "loss(z, True)", "false"),
        ("kind != 'mean'", "loss(z)", "false"),
        ("soft", "loss(z, True)", ""),
        ("soft", "loss(z, flag)", ""),
        ("soft", "loss(z, **flag)", ""),
        ("soft", "loss(*flag)", ""),
        ("soft", "print(loss)", ""),
        ("soft or z is None", "loss(z)", ""),
        ("kind == 'mean'", "loss(z)", ""),
        ("z > 0", "loss(z)", ""),
        ("kind in ('sum', 'max')", "loss(z, kind='min')", ""),
        ("kind != [1, 1]", "loss(z, kind=(1, 1))", ""),
        ("kind is 0", "loss(z, kind=False)", ""),
        ("soft == 0", "loss(z)", ""),
        ("kind if soft else z", "loss(z)", ""),
        ("soft", "loss(z); loss(z, True)", ""),
    ],
)
def test_a_branch_on_a_parameter_that_all_calls_set_alike(folder, test, call, word):
    expected = f"in this program `{test}` is always {word}" if word else ""
    assert why(folder, LOSS.format(test), "loss", call) == expected


CLOSURE = (
    HEAD
    + "def make(soft=False):\n    def loss(z):\n"
    + "        if soft:\n            return tf.math.log(tf.nn.softmax(z))\n        return z\n"
    + "    return loss\n\n\n"
)


@pytest.mark.parametrize(
    ("call", "is_said"),
    [
        ("make()(z)", True),
        ("make(False)(z)", True),
        ("make(True)(z)", False),
        ("print(make)", False),
    ],
)
def test_a_branch_of_a_closure_on_what_its_maker_was_given(folder, call, is_said):
    expected = "in this program `soft` is always false" if is_said else ""
    assert why(folder, CLOSURE, "make", call) == expected


def test_a_closure_may_have_a_name_of_its_own(folder):
    own = CLOSURE.replace("        if soft", "        soft = z is None\n        if soft")
    assert why(folder, own, "make", "make()(z)") == ""


PASSED_ON = LOSS.format("soft") + "def {}:\n    return {}\n\n\n"


@pytest.mark.parametrize(
    ("signature", "body", "call", "is_said"),
    [
        ("outer(z, soft=False)", "loss(z, soft)", "outer(z)", True),
        ("outer(z, hard)", "loss(z, soft=hard)", "outer(z, False)", True),
        ("outer(z, soft=False)", "loss(z, soft)", "outer(z, True)", False),
        ("outer(z, soft=False)", "loss(z, soft)", "outer(z, flag)", False),
        ("outer(z, soft=False)", "loss(z, soft) + outer(z, soft)", "outer(z)", False),
        ("outer(z, soft=False)", "loss(z, not soft)", "outer(z)", False),
    ],
)
def test_a_branch_on_what_a_caller_passes_on(folder, signature, body, call, is_said):
    text = PASSED_ON.format(signature, body)
    expected = "in this program `soft` is always false" if is_said else ""
    assert why(folder, text, "outer", call) == expected


MIXER = (
    HEAD
    + "class Mixer:\n    def mix(self, z, soft):\n"
    + "        if soft:\n            return tf.math.log(tf.nn.softmax(z))\n        return z\n\n"
    + "    def run(self, z):\n        return self.mix(z, {})\n\n\n"
)


@pytest.mark.parametrize(("passed", "is_said"), [("False", True), ("True", False)])
def test_copies_of_a_method_in_another_file_are_asked_too(folder, passed, is_said):
    files = {
        "losses.py": MIXER.format("False"),
        "copies.py": MIXER.format(passed),
        "train.py": "import copies\nimport losses\n\n\ndef train(z):\n"
        + "    return losses.Mixer().run(z) + copies.Mixer().run(z)\n\n\n"
        + MAIN.format("train(1)"),
    }
    expected = "in this program `soft` is always false" if is_said else ""
    assert reason(folder, "losses.py", files) == expected


def test_what_stands_behind_a_branch_that_is_always_left(folder):
    text = LOSS.format("not soft").replace("return tf", "return z\n    return tf")
    text = text.replace("        return z\n    return z", "        return z")
    assert why(folder, text, "loss", "loss(z)") == "in this program `not soft` is always true"
    assert why(folder, text, "loss", "loss(z, flag)") == ""


@pytest.mark.parametrize(
    ("body", "more", "is_said"),
    [
        ("Layer()(z)", "", True),
        ("Layer(name='a')(z) + Layer(soft=False)(z)", "", True),
        ("Layer(True)(z)", "", False),
        ("Layer(soft=flag)(z)", "", False),
        ("Layer(**flag)(z)", "", False),
        ("layer = Layer(); layer.soft = flag; layer(z)", "", False),
        ("z().soft = z; Layer()(z)", "", False),
        ("del z.soft; Layer()(z)", "", False),
        ("setattr(z(), 'soft', z); Layer()(z)", "", False),
        ("setattr(z(), flag, z); Layer()(z)", "", False),
        ("setattr(z, 'hard', z); Layer()(z)", "", True),
        ("object.__setattr__(z, 'soft', z); Layer()(z)", "", False),
        ("print(Layer); Layer()(z)", "", False),
        ("Layer.from_config(flag); Layer()(z)", "", False),
        ("kind = Layer; kind(True); Layer()(z)", "", False),
        ("type(z)(True); Layer()(z)", "", False),
        ("z.__class__(True); Layer()(z)", "", False),
        ("z.__init__(True); Layer()(z)", "", False),
        ("Layer().__init__(True)", "", False),
        ("print(z.__class__.__name__); Layer()(z)", "", True),
        ("Layer()(z)", "class Heir(Layer):\n    pass\n\n\nHeir(True)\n", False),
        ("Layer()(z)", "def load(layer, all):\n    layer.__dict__.update(all)\n", False),
        ("Layer()(z)", "def load(layer, all):\n    vars(layer).update(all)\n", False),
        ("Layer()(z)", "class Other:\n    def set(self):\n        self.soft = 1\n", True),
        ("Other.set(Layer())", "class Other:\n    def set(self):\n        self.soft = 1\n", False),
        ("Layer()(z)", "class Other:\n    def set(one, self):\n        self.soft = 1\n", False),
    ],
)
def test_an_attribute_that_is_a_parameter(folder, body, more, is_said):
    expected = "in this program `self.soft` is always false" if is_said else ""
    names = "Layer, Other" if "Other." in body else "Layer"
    assert why(folder, LAYER + more, names, body) == expected


BASE = "import gym\n\n\nclass Base(tf.keras.layers.Layer):\n    pass\n\n\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self.soft = soft", "self.soft = False"),
        ("self.soft = soft", "self.soft = soft or kwargs"),
        ("self.soft = soft", "soft = not soft\n        self.soft = soft"),
        ("self.soft = soft", "self.soft = soft\n        self.soft |= len(kwargs)"),
        ("self.soft = soft", "self.soft, self.hard = soft, 1"),
        ("self.soft = soft", "self = soft\n        self.soft = soft"),
        ("self.soft = soft", "if kwargs:\n            self.soft = soft"),
        ("    def call", "    def turn(self):\n        self.soft = True\n\n    def call"),
        (
            "    def call",
            "    @classmethod\n    def of(cls):\n        return cls(True)\n\n    def call",
        ),
        ("    def call", "    @property\n    def soft(self):\n        return True\n\n    def call"),
        ("    def call", "    soft = Property()\n\n    def call"),
        ("    def call", "    def __setattr__(self, name, value):\n        pass\n\n    def call"),
        ("def call(self, z):", "def call(self, z):\n        self = z"),
        ("def call(self, z):", "def call(z, self):"),
        ("    def call", "    @staticmethod\n    def call"),
        ("tf.keras.layers.Layer", "gym.Env"),
        ("tf.keras.layers.Layer", "Base"),
        ("class Layer", "@register\nclass Layer"),
        ("soft=False", "soft=tf"),
        ("if self.soft", "if self.soft > 1"),
        ("self.soft", "self.trainable"),
    ],
)
def test_an_attribute_that_may_be_another(folder, old, new):
    text = LAYER.replace(old, new).replace(HEAD, HEAD + BASE)
    assert why(folder, text, "Layer", "Layer()(z)") == ""


def test_a_method_that_is_called_if_an_attribute_is_set(folder):
    text = LAYER.replace("return tf.math.log(tf.nn.softmax(z))", "return self.risky(z)")
    text += "    def risky(self, z):\n        return tf.math.log(tf.nn.softmax(z))\n"
    assert IDLE in why(folder, text, "Layer", "Layer()(z)")
    assert why(folder, text, "Layer", "Layer(True)(z)") == ""


def test_a_class_that_names_itself_to_find_its_base(folder):
    text = LAYER.replace("super()", "super(Layer, self)")
    assert why(folder, text, "Layer", "Layer()(z)") != ""
    text = LAYER.replace("super()", "print(Layer, super())")
    assert why(folder, text, "Layer", "Layer()(z)") == ""


def test_what_a_script_sets_is_changed_from_run_to_run(folder):
    files = {
        "losses.py": LOSS.format("kind == 'sum'"),
        "train.py": "from losses import loss\n\n\nloss(1, kind='mean')\n",
    }
    assert reason(folder, "losses.py", files) == ""


def test_a_function_that_is_called_in_such_a_branch_alone(folder):
    text = LOSS.format("soft").replace("return tf.math.log(tf.nn.softmax(z))", "return risky(z)")
    text = HEAD + "def risky(z):\n    return tf.math.log(tf.nn.softmax(z))\n\n\n" + text
    assert IDLE in why(folder, text, "loss", "loss(z)")
    assert why(folder, text, "loss", "loss(z, flag)") == ""
    assert why(folder, text, "loss", "loss(z, True)") == ""


def test_a_name_of_the_file_is_not_known(folder):
    text = "KIND = 'b'\n\n\n" + LOSS.format("KIND == 'a'")
    assert why(folder, text, "loss", "loss(z)") == ""


METHOD = (
    HEAD
    + "class Loss:\n    def of(self, z, weight, soft=False):\n        if soft:\n"
    + "            return tf.math.log(tf.nn.softmax(z))\n        return z\n\n"
    + "    def all(self, z):\n        return {}\n\n\n"
)


@pytest.mark.parametrize(
    ("inside", "more", "is_said"),
    [
        ("self.of(z, 1)", "", True),
        ("self.of(z, 1, False)", "", True),
        ("self.of(z, 1, soft=False)", "", True),
        ("self.of(z, 1, True)", "", False),
        ("Loss.of(self, z, 1)", "", False),
        ("Loss.of(self, z, False, True)", "", False),
        ("type(self).of(self, z, False, True)", "", False),
        ("map(self.of, z)", "", False),
        ("getattr(self, z)(z, 1) + self.of(z, 1)", "", False),
        ("eval(z) + self.of(z, 1)", "", False),
        ("self.of(z, 1)", "class Other:\n    def of(self, z):\n        return z\n\n\n", False),
        ("self.of(z, 1)", "class Heir(Loss, tf.keras.Model):\n    pass\n\n\n", False),
        ("self.of(z, 1)", "def adopt(cls):\n    return cls(Loss)\n\n\n", False),
    ],
)
def test_a_branch_on_a_parameter_of_a_method(folder, inside, more, is_said):
    expected = "in this program `soft` is always false" if is_said else ""
    assert why(folder, METHOD.format(inside) + more, "Loss", "Loss().all(z)") == expected


@pytest.mark.parametrize(
    ("decorator", "change"),
    [
        ("", "soft = not soft"),
        ("", "soft = True if z else soft"),
        ("", "soft += 1"),
        ("", "del soft"),
        ("", "print(soft := z)"),
        ("", "import losses as soft"),
        ("", "from losses import soft"),
        ("", "def soft(): pass"),
        ("", "for soft in z: pass"),
        ("", "with z as soft: pass"),
        ("", "try: z()\n        except ValueError as soft: pass"),
        ("", "match z:\n            case [*soft]: pass"),
        ("", "match z:\n            case {**soft}: pass"),
        ("", "match z:\n            case soft: pass"),
        ("", "def inner():\n            nonlocal soft\n            soft = True"),
        ("@register\n", ""),
        ("@tf.function\n", ""),
    ],
)
def test_a_parameter_that_is_bound_anew_or_passed_by_others(folder, decorator, change):
    text = LOSS.format("soft").replace("def loss", decorator + "def loss")
    text = text.replace("    if soft", f"    for _ in z:\n        {change or 'pass'}\n    if soft")
    assert why(folder, text, "loss", "loss(z)") == ""


TOGGLE = """
def run(x):
    flag = True
    for _ in range(9):
        if not flag:
            y = tf.math.log(tf.nn.softmax(x))
        flag = not flag
"""
CHOSEN = """
def run(x):
    mode = "a"
    for _ in range(9):
        if mode == "b":
            y = tf.math.log(tf.nn.softmax(x))
        mode = "b" if mode == "a" else "a"
"""
GLOBAL = """
first = False
def run(x):
    global first
    if first:
        y = tf.math.log(tf.nn.softmax(x))
    first = True
"""
NONLOCAL = """
def run(x):
    first = False
    def step():
        nonlocal first
        if first:
            y = tf.math.log(tf.nn.softmax(x))
        first = True
    step()
"""
TWICE = """
soft = False
if tf.__version__ > "2":
    def step(x, soft):
        if soft:
            return tf.math.log(tf.nn.softmax(x))
else:
    def step(x, soft):
        return x
def run(x):
    return step(x, False)
"""
ONE_ROW = """
def step(x, debug=False):
    if x(tf.math.log(tf.nn.softmax(x))) and debug: y = 1
def run(x):
    step(x)
"""


@pytest.mark.parametrize("text", [TOGGLE, CHOSEN, GLOBAL, NONLOCAL, TWICE, ONE_ROW])
def test_what_is_no_parameter_or_not_known_of_one(folder, text):
    assert why(folder, HEAD + text, "run", "run(z)") == ""


@pytest.mark.parametrize(
    "body",
    [
        "return getattr(losses, flag)(z, True) + loss(z)",
        "return importlib.import_module('loss' + flag).loss(z, True) + loss(z)",
        "return losses.loss(z, True) + loss(z)",
        "other = loss; return other(z, True) + loss(z)",
    ],
)
def test_calls_through_other_names(folder, body):
    body = f"import losses, importlib; {body}"
    assert why(folder, LOSS.format("soft"), "loss", body) == ""


def test_a_function_that_a_file_exports(folder):
    text = LOSS.format("soft").replace("return tf.math.log(tf.nn.softmax(z))", "return risky(z)")
    users = "from losses import risky\n" + text.replace(HEAD, "") + "__all__ = ['loss']\n"
    put(folder, {"user.py": users})
    text = HEAD + "def risky(z):\n    return tf.math.log(tf.nn.softmax(z))\n\n\n"
    files = {
        "losses.py": text,
        "train.py": USER.format("loss", "loss(z)").replace("losses", "user"),
    }
    assert reason(folder, "losses.py", files) == ""


def test_a_condition_is_judged_once(folder, monkeypatch):
    judged = []
    judge = Choices._reason
    monkeypatch.setattr(Choices, "_reason", lambda *at: judged.append(at[2]) or judge(*at))
    text = LOSS.format("soft") + "def use(z):\n" + "    if z: return loss(z)\n" * 200
    assert "`soft` is always false" in why(folder, text, "loss", "loss(z)")
    assert len(judged) < 1000


def test_a_file_of_python_2_that_renames_a_function(folder):
    put(folder, {"old.py": "from losses import loss as f\nprint f(1, True)\n"})
    assert why(folder, LOSS.format("soft"), "loss", "loss(z)") == ""


def test_a_branch_on_one_row_is_told_by_the_place_of_a_call(folder):
    text = HEAD + "def risky(z):\n    return tf.math.log(tf.nn.softmax(z))\n\n\n"
    text += "def loss(z, soft=False):\n    {}\n    return z\n\n\n"
    never = text.format("if soft: return risky(z)")
    assert IDLE in why(folder, never, "loss", "loss(z)")
    asked = text.format("if risky(z) and soft: return z")
    assert why(folder, asked, "loss", "loss(z)") == ""


def test_a_library_takes_all_branches(folder):
    put(folder, {"pyproject.toml": "[project]\nname = 'a'\n"})
    assert why(folder, LOSS.format("soft"), "loss", "loss(z)") == ""


def test_a_file_that_no_script_imports_takes_all_branches(folder):
    files = {"losses.py": LOSS.format("soft"), "user.py": "from losses import loss\n\nx = 1\n"}
    assert reason(folder, "losses.py", files) == ""


def test_a_file_that_python_does_not_run(folder):
    text = LOSS.format("z > 0") + "x = dict(a=1, a=2)\n"
    expected = "Python does not run this file: keyword argument repeated: a"
    assert reason(folder, "losses.py", {"losses.py": text}) == expected
