"""Which branches a program never takes: those that depend on a parameter that is the same constant
in every call, on an attribute that `__init__` makes of one, or on a name that is set to constants
alone. What is not seen decides nothing.
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
USER = "from losses import {}\n\n\ndef train(z, flag):\n    {}\n\n\n" + MAIN.format(
    "train(input(), input())"
)
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
        ("kind in ('sum', 'max')", "loss(z, kind='min')", "false"),
        ("kind not in ['sum']", "loss(z, kind='sum')", "false"),
        ("kind > 0", "loss(z, kind=0)", "false"),
        ("kind <= 0", "loss(z, kind=0.5)", "false"),
        ("kind in ('sum', 'max')", "loss(z, kind='max')", ""),
        ("kind in soft", "loss(z)", ""),
        ("kind in ('sum', soft and z)", "loss(z)", ""),
        ("kind > 0", "loss(z)", ""),
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
        ("self.soft", "self.trainable"),
    ],
)
def test_an_attribute_that_may_be_another(folder, old, new):
    text = LAYER.replace(old, new).replace(HEAD, HEAD + BASE)
    assert why(folder, text, "Layer", "Layer()(z)") == ""


@pytest.mark.parametrize(
    ("body", "more", "is_said"),
    [
        ("Maker()", "", True),
        ("Maker(kind='b')", "", True),
        ("Maker('a')", "", False),
        ("Maker(flag)", "", False),
        ("Maker(**flag)", "", False),
        ("print(Maker)", "", False),
        ("Maker(); z.__init__('a')", "", False),
        ("Maker()", "class Heir(Maker):\n    pass\n\n\nHeir('a')\n", False),
    ],
)
def test_a_parameter_of_a_class(folder, body, more, is_said):
    text = HEAD + "class Maker:\n    def __init__(self, kind='b'):\n        if kind == 'a':\n"
    text += "            print(tf.math.log(tf.nn.softmax(kind)))\n\n\n" + more
    said = "in this program `kind == 'a'` is always false" if is_said else ""
    assert why(folder, text, "Maker", body) == said


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


@pytest.mark.parametrize(
    ("passed", "is_said"), [("0", True), ("None", True), ("1", False), ("input()", False)]
)
def test_what_a_script_passes(folder, passed, is_said):
    script = f"from losses import loss\n\nKIND = {passed}\n\nloss(input(), kind=KIND)\n"
    files = {"losses.py": LOSS.format("kind == 1"), "train.py": script}
    said = "in this program `kind == 1` is always false" if is_said else ""
    assert reason(folder, "losses.py", files) == said


def test_the_way_that_a_script_names_is_changed_from_run_to_run(folder):
    script = "from losses import loss\n\n\nloss(input(), kind='mean')\n"
    files = {"losses.py": LOSS.format("kind == 'sum'"), "train.py": script}
    assert reason(folder, "losses.py", files) == ""
    text = HEAD + "KIND = 'mean'\n\n\ndef main(z):\n    if KIND == 'sum':\n"
    text += "        print(tf.math.log(tf.nn.softmax(z)))\n\n\n" + MAIN.format("main(input())")
    assert reason(folder, "train.py", {"train.py": text}) == ""
    text = text.replace("'mean'", "1").replace("'sum'", "2")
    said = "in this program `KIND == 2` is always false"
    assert reason(folder, "train.py", {"train.py": text}) == said


KINDS = {
    "plain": "KIND = 'b'\n",
    "annotated": "KIND: str = 'b'\n",
    "unpacked": "RATE, KIND = 1, 'b'\n",
    "twice": "KIND = 'b'\nif RATE:\n    KIND = 'c'\n",
    "either": "KIND = 'b' if RATE else 'c'\n",
    "another": "FIRST = 'b'\nKIND = FIRST\n",
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_constant_of_the_file(folder, kind):
    text = KINDS[kind] + "\n\n" + LOSS.format("KIND == 'a'")
    said = "in this program `KIND == 'a'` is always false"
    assert why(folder, text, "loss", "loss(z)") == said


OPEN_KINDS = {
    "the value": "KIND = 'a'\n",
    "either": "KIND = 'b' if RATE else 'a'\n",
    "read": "KIND = input()\n",
    "changed": "KIND = 'b'\nKIND += 'a'\n",
    "unpacked": "RATE, KIND = RATES\n",
    "starred": "*KIND, RATE = 'b', 1\n",
    "loop": "for KIND in 'ab':\n    pass\n",
    "global": "KIND = 'b'\n\n\ndef set():\n    global KIND\n    KIND = 'a'\n",
    "by text": "KIND = 'b'\nglobals().update(input())\n",
    "function": "def KIND():\n    pass\n",
    "imported": "from os import name as KIND\n",
    "imported or not": "try:\n    from kinds import KIND\nexcept ImportError:\n    KIND = 'b'\n",
    "of a class": "class Kinds:\n    KIND = 'b'\n",
}


@pytest.mark.parametrize("kind", OPEN_KINDS)
def test_a_name_of_the_file_that_may_be_anything(folder, kind):
    text = OPEN_KINDS[kind] + "\n\n" + LOSS.format("KIND == 'a'")
    assert why(folder, text, "loss", "loss(z)") == ""


@pytest.mark.parametrize(
    ("settings", "bound", "test", "is_said"),
    [
        ("KIND = 'b'", "from settings import KIND", "KIND", True),
        ("KIND = 'b'", "from settings import KIND as MINE", "MINE", True),
        ("KIND = 'b'", "from settings import *", "KIND", True),
        ("KIND = 'b'", "import settings", "settings.KIND", True),
        ("KIND = 'b'", "import settings as s", "s.KIND", True),
        ("KIND = 'a'", "import settings as s", "s.KIND", False),
        ("KIND = open('kind').read()", "from settings import *", "KIND", False),
        ("KIND = 'b'", "import settings\nsettings = load()", "settings.KIND", False),
        ("KIND = 'b'", "import settings\nsettings.KIND = 'a'", "settings.KIND", False),
        ("KIND = 'b'", "import settings\nsetattr(settings, 'KIND', 'a')", "settings.KIND", False),
        ("KIND = 'b'", "import settings\nvars(settings).update(new)", "settings.KIND", False),
        ("KIND = 'b'", "import missing", "missing.KIND", False),
        ("KIND = 'b'", "from missing import *", "KIND", False),
        ("from settings import KIND", "from settings import KIND", "KIND", False),
    ],
)
def test_a_setting_that_a_file_imports(folder, settings, bound, test, is_said):
    put(folder, {"settings.py": settings + "\n"})
    text = bound + "\n\n\n" + LOSS.format(f"{test} == 'a'")
    said = f"in this program `{test} == 'a'` is always false" if is_said else ""
    assert why(folder, text, "loss", "loss(z)") == said


def test_a_parameter_hides_a_module_of_its_name(folder):
    put(folder, {"settings.py": "KIND = 'b'\n"})
    text = "import settings\n\n\n" + LOSS.format("settings.KIND == 'a'")
    assert why(folder, text, "loss", "loss(z)") != ""
    for binding in ("z, settings=1", "z, *settings", "z, **settings"):
        hidden = text.replace("z, soft=False, kind='mean'", binding)
        assert why(folder, hidden, "loss", "loss(z)") == ""


LOCAL = (
    HEAD
    + "def loss(z, way=None):\n    {}\n"
    + "    if kind == 'a':\n        return tf.math.log(tf.nn.softmax(z))\n    return z\n\n\n"
)


@pytest.mark.parametrize(
    ("body", "is_said"),
    [
        ("kind = 'b'", True),
        ("kind = 'b' if z else 'c'", True),
        ("kind = way", True),
        ("kind = way\n    kind = 'b'", True),
        ("kind = z", False),
        ("kind = 'b'\n    if z:\n        kind = 'a'", False),
        ("for kind in 'ab':\n        pass", False),
        ("kind = 'b'\n    kind += z", False),
    ],
)
def test_a_name_that_a_function_assigns(folder, body, is_said):
    said = "in this program `kind == 'a'` is always false" if is_said else ""
    assert why(folder, LOCAL.format(body), "loss", "loss(z)") == said


def test_a_parameter_that_is_set_where_it_is_missing(folder):
    text = LOCAL.replace("way=None", "kind=None").format("if kind is None:\n        kind = 'b'")
    assert why(folder, text, "loss", "loss(z)") == "in this program `kind == 'a'` is always false"
    assert why(folder, text, "loss", "loss(z, 'a')") == ""


INNER = (
    HEAD
    + "def build(z, flag):\n    def loss(z, kind='mean'):\n        if kind == 'sum':\n"
    + "            return tf.math.log(tf.nn.softmax(z))\n        return z\n\n    return {}\n\n\n"
)


@pytest.mark.parametrize(
    ("result", "is_said"),
    [
        ("loss(z)", True),
        ("loss(z, 'max') + loss(z, kind='mean')", True),
        ("loss(z, 'sum')", False),
        ("loss(z, flag)", False),
        ("loss", False),
        ("[loss(z), loss]", False),
    ],
)
def test_a_function_inside_of_another(folder, result, is_said):
    put(folder, {"other.py": "def use(loss):\n    return loss(1, 'sum') + eval('1')\n"})
    said = "in this program `kind == 'sum'` is always false" if is_said else ""
    assert why(folder, INNER.format(result), "build", "build(z, flag)") == said


@pytest.mark.parametrize("decorator", ["@tf.function", "@tf.function(jit_compile=True)"])
def test_a_graph_of_a_function_takes_its_arguments(folder, decorator):
    text = LOSS.format("soft").replace("def loss", decorator + "\ndef loss")
    assert why(folder, text, "loss", "loss(z)") == "in this program `soft` is always false"
    assert why(folder, text, "loss", "loss.get_concrete_function(z)") == ""


STATIC = (
    HEAD
    + "class Losses:\n    @staticmethod\n    def loss(kind, z=1):\n        if kind == 'sum':\n"
    + "            return tf.math.log(tf.nn.softmax(z))\n        return z\n\n\n"
)


@pytest.mark.parametrize(("call", "is_said"), [("('max', z)", True), ("('sum', z)", False)])
def test_a_function_of_a_class_without_an_object(folder, call, is_said):
    said = "in this program `kind == 'sum'` is always false" if is_said else ""
    assert why(folder, STATIC, "Losses", f"Losses().loss{call}") == said


HANDED = LOSS.replace("loss(z, ", "loss(y, z, ").format("soft")


@pytest.mark.parametrize(
    ("body", "is_said"),
    [
        ("z.compile('adam', loss=loss)", True),
        ("z.compile('adam', loss)", True),
        ("z.compile('adam', 'mse', [loss])", True),
        ("z.compile(loss={'a': loss}, metrics=[[loss], 'acc'])", True),
        ("z.compile(loss=loss); load_model(z, custom_objects={'loss': loss})", True),
        ("z.compile(loss=loss); loss(z, z, soft=False)", True),
        ("z.compile(loss=loss); loss(z, z, True)", False),
        ("z.compile(loss=partial(loss, soft=True))", False),
        ("z.compile(loss, 'mse')", False),
        ("z.build(loss=loss)", False),
        ("compile(z, loss)", False),
    ],
)
def test_a_loss_that_keras_calls(folder, body, is_said):
    said = "in this program `soft` is always false" if is_said else ""
    assert why(folder, HANDED, "loss", body) == said


def test_a_loss_gets_its_first_parameters_from_keras(folder):
    text = HANDED.replace("y, z, soft=False", "y, soft=False, z=1")
    assert why(folder, text, "loss", "z.compile(loss=loss)") == ""


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


RECORD = "from easydict import EasyDict\n\nflags = EasyDict()\nflags.loss = EasyDict()\n"
SOFT = "in this program `flags.loss.soft` is always false"


@pytest.mark.parametrize(
    ("stores", "more", "is_said"),
    [
        ("flags.loss.soft = False", "", True),
        ("flags.loss.soft = False\nflags.loss.soft = None", "", True),
        ("flags.loss.soft = False\nprint(flags.loss['soft '])", "", True),
        ("flags.loss.soft = False", "net(flags.loss.width)", True),
        ("flags.loss.soft = True", "", False),
        ("", "", False),
        ("flags.loss.soft = False", "flags.loss.soft = z", False),
        ("flags.loss.soft = False", "z.soft = True", False),
        ("flags.loss.soft = False", "z.soft += 1", False),
        ("flags.loss.soft = False", "z.soft, z = z", False),
        ("flags.loss.soft = False", "flags.loss['soft'] = True", False),
        ("flags.loss.soft = False", "dict(soft=True)", False),
        ("flags.loss.soft = False", "z.add_argument('--soft')", False),
        ("flags.loss.soft = False", "flags.loss[z] = True", False),
        ("flags.loss.soft = False", "flags.loss.update(z)", False),
        ("flags.loss.soft = False", "flags.merge_from_file(z)", False),
        ("flags.loss.soft = False", "merge_settings(z, flags)", False),
        ("flags.loss.soft = False", "setattr(flags.loss, z, True)", False),
    ],
)
def test_an_attribute_of_an_object_of_settings(folder, stores, more, is_said):
    put(folder, {"settings.py": RECORD + stores + "\n"})
    text = "from settings import flags\n\n\n" + LOSS.format("flags.loss.soft")
    text += f"def change(z):\n    {more or 'pass'}\n"
    assert why(folder, text, "loss", "loss(z)") == (SOFT if is_said else "")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("flags = EasyDict()", "flags = EasyDict(load())"),
        ("flags = EasyDict()", "flags = EasyDict(a=1)"),
        ("flags = EasyDict()", "flags = EasyDict"),
        ("flags = EasyDict()", "flags = make()"),
    ],
)
def test_an_object_of_settings_that_is_made_of_others(folder, old, new):
    put(folder, {"settings.py": RECORD.replace(old, new) + "flags.loss.soft = False\n"})
    text = "from settings import flags\n\n\n" + LOSS.format("flags.loss.soft")
    assert why(folder, text, "loss", "loss(z)") == ""


CLASS = "class Config:\n    soft = False\n    width = 3\n\n\n"


@pytest.mark.parametrize(
    ("settings", "bound", "test", "is_said"),
    [
        (CLASS, "from settings import Config", "Config.soft", True),
        (CLASS + "config = Config()\n", "from settings import config", "config.soft", True),
        (CLASS, "from settings import Config\n\nconfig = Config()", "config.soft", True),
        (CLASS.replace("(", "(object"), "from settings import Config", "Config.soft", True),
        (CLASS.replace("False", "True"), "from settings import Config", "Config.soft", False),
        (CLASS.replace("False", "input()"), "from settings import Config", "Config.soft", False),
        (CLASS, "from settings import Config\n\nConfig.soft = True", "Config.soft", False),
        (CLASS, "from settings import Config\n\nconfig = Config(1)", "config.soft", False),
        (CLASS, "from settings import Config\n\nConfig = load()", "Config.soft", False),
        ("@register\n" + CLASS, "from settings import Config", "Config.soft", False),
        (CLASS.replace("fig:", "fig(Base):"), "from settings import Config", "Config.soft", False),
        (CLASS + "class Other(Config):\n    soft = True\n", "import settings", "settings.z", False),
        (
            CLASS + "class Other(Config):\n    soft = True\n",
            "from settings import Config",
            "Config.soft",
            False,
        ),
        (
            CLASS.replace("3\n", "3\n\n    def soft(self):\n        pass\n"),
            "from settings import Config",
            "Config.soft",
            False,
        ),
    ],
)
def test_a_name_of_a_class_of_settings(folder, settings, bound, test, is_said):
    put(folder, {"settings.py": settings})
    text = bound + "\n\n\n" + LOSS.format(test)
    said = f"in this program `{test}` is always false" if is_said else ""
    assert why(folder, text, "loss", "loss(z)") == said


def test_a_parameter_hides_an_object_of_settings(folder):
    put(folder, {"settings.py": CLASS})
    text = "from settings import Config\n\n\n" + LOSS.format("Config.soft")
    text = text.replace("z, soft=False, kind='mean'", "z, Config=None")
    assert why(folder, text, "loss", "loss(z)") == ""


OPTION = "import argparse\n\nparser = argparse.ArgumentParser()\n{}\nargs = parser.parse_args()\n"
WAYS = "parser.add_argument('--way', default='mean', choices=['mean', 'max'])"


@pytest.mark.parametrize(
    ("option", "test", "is_said"),
    [
        (WAYS, "args.way == 'sum'", True),
        (WAYS.replace("'mean', choices", "None, choices"), "args.way == 'sum'", True),
        (WAYS.replace("default='mean', ", ""), "args.way == 'sum'", True),
        (WAYS.replace("'--way'", "'-w', '--the-way', dest='way'"), "args.way == 'sum'", True),
        (WAYS.replace("--way", "way"), "args.way == 'sum'", True),
        (WAYS + "\nprint(vars(z))", "args.way == 'sum'", True),
        (WAYS, "args.way == 'max'", False),
        (WAYS.replace("default='mean'", "default='sum'"), "args.way == 'sum'", False),
        (WAYS.replace("['mean', 'max']", "ways"), "args.way == 'sum'", False),
        (WAYS.replace(", choices=['mean', 'max']", ""), "args.way == 'sum'", False),
        (WAYS.replace("'mean',", "'mean', nargs='*',"), "args.way == 'sum'", False),
        (WAYS, "args.other == 'sum'", False),
        (WAYS, "args.way.upper() == 'sum'", False),
        (WAYS + "\nparser.set_defaults(way='sum')", "args.way == 'sum'", False),
        (WAYS + "\n" + WAYS.replace("'max'", "'sum'"), "args.way == 'sum'", False),
    ],
)
def test_an_option_with_choices(folder, option, test, is_said):
    put(folder, {"options.py": OPTION.format(option)})
    text = "from options import args\n\n\n" + LOSS.format(test)
    said = f"in this program `{test}` is always false" if is_said else ""
    assert why(folder, text, "loss", "loss(z)") == said


@pytest.mark.parametrize(
    "change", ["args.way = z", "setattr(args, z, 'sum')", "vars(args)[z] = 1", "z = vars(args)"]
)
def test_an_option_that_is_set_anew(folder, change):
    put(folder, {"options.py": OPTION.format(WAYS)})
    text = "from options import args\n\n\n" + LOSS.format("args.way == 'sum'")
    assert why(folder, text, "loss", f"args = z; {change}; loss(z)") == ""


def test_a_default_that_is_an_option(folder):
    put(folder, {"options.py": OPTION.format(WAYS)})
    text = "from options import args\n\n\n" + LOSS.format("kind == 'sum'")
    said = "in this program `kind == 'sum'` is always false"
    assert why(folder, text.replace("'mean'", "args.way"), "loss", "loss(z)") == said
    assert why(folder, text.replace("'mean'", "args.size"), "loss", "loss(z)") == ""
