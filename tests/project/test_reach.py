"""Which functions a program reaches: what nothing calls is a note with the reason; a library, a file
by itself and whatever may be called unseen keep their findings.
"""

from __future__ import annotations

import gc
import json

import pytest
from reached import HEAD, MAIN, RULES, put, reason

from tfnanlint.diagnostics.findings import Certainty
from tfnanlint.notebook.document import Notebook, written_in
from tfnanlint.pipeline import analysis as flow
from tfnanlint.project import index as project
from tfnanlint.project.reach import Reach
from tfnanlint.syntax.source import Source

RISKY = "def risky(z):\n    return tf.math.log(tf.nn.softmax(z))\n\n\n"
LIVE = "def live(z):\n    return tf.nn.softmax(z)\n\n\n"
DEAD = HEAD + RISKY + LIVE + MAIN.format("live(tf.ones([2, 3]))")
USES = "from losses import live\n" + MAIN.format("live([[1.0]])")
CALLED = "nothing in this program calls `risky`"
METHOD = (
    HEAD
    + "class Model({}):\n    def risky(self, z):\n        return tf.math.log(tf.nn.softmax(z))\n\n\n"
)


def notebook(*cells: str) -> str:
    return json.dumps(
        {
            "cells": [
                {
                    "cell_type": "code",
                    "source": cell,
                    "metadata": {},
                    "outputs": [],
                    "execution_count": None,
                }
                for cell in cells
            ],
            "metadata": {},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    )


def test_what_nothing_calls_next_to_live_code_is_a_note(folder):
    assert reason(folder, "train.py", {"train.py": DEAD}) == CALLED


def test_what_a_file_has_asked_its_program_is_let_go(folder):
    """The command line switches the cyclic collector off, and the trees of a program are large."""
    gc.collect()
    gc.disable()
    before = [one for one in gc.get_objects() if isinstance(one, Reach)]
    try:
        assert reason(folder, "train.py", {"train.py": DEAD}) == CALLED
        after = [one for one in gc.get_objects() if isinstance(one, Reach)]
        assert [one for one in after if one not in before] == []
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("main", "more"),
    [
        ("risky(input())", ""),
        ("live(risky)", ""),
        ("live(LOSSES['a'])", "LOSSES = {'a': risky}\n\n\n"),
        ("live(helper)", "def helper(z):\n    return risky(z)\n\n\n"),
        ("live(globals()['ris' + 'ky'])", ""),
    ],
)
def test_what_something_may_call_is_a_finding(folder, main, more):
    text = HEAD + RISKY + LIVE + more + MAIN.format(main)
    assert reason(folder, "train.py", {"train.py": text}) == ""


def test_a_caller_that_nothing_calls_calls_nothing(folder):
    text = (
        HEAD + RISKY + LIVE + "def helper(z):\n    return risky(z)\n\n\n" + MAIN.format("live([])")
    )
    assert "`risky`" in reason(folder, "train.py", {"train.py": text})
    mutual = text.replace("return tf.math", "helper(z)\n    return tf.math")
    assert "`risky`" in reason(folder, "train.py", {"train.py": mutual})


def test_a_file_of_definitions_alone_keeps_its_findings(folder):
    assert reason(folder, "losses.py", {"losses.py": HEAD + RISKY + LIVE}) == ""


def test_words_in_strings_and_comments_call_nothing(folder):
    text = DEAD.replace("live(tf", "print('risky')  # risky(x)\n    live(tf")
    assert reason(folder, "train.py", {"train.py": text}) == CALLED


def test_a_decorator_may_call_it(folder):
    files = {"train.py": DEAD.replace("def risky", "@command\ndef risky")}
    assert reason(folder, "train.py", files) == ""
    files = {"train.py": DEAD.replace("def risky", "@tf.function\ndef risky")}
    assert reason(folder, "train.py", files) == CALLED


def test_a_runner_calls_main(folder):
    text = HEAD + RISKY.replace("risky", "main") + MAIN.format("tf.compat.v1.app.run()")
    assert reason(folder, "train.py", {"train.py": text}) == ""


@pytest.mark.parametrize(
    ("use", "found"),
    [
        (USES, True),
        (USES.replace("import live", "import live, risky"), True),  # imported and never loaded
        ("from losses import *\n" + MAIN.format("live(risky)"), False),
        ("import losses\n" + MAIN.format("losses.risky(1)"), False),
        ("import losses\n" + MAIN.format("getattr(losses, 'risky')(1)"), False),
        ("import losses, sys\n" + MAIN.format("getattr(losses, sys.argv[1])(1)"), False),
        ("from losses import risky as f\n" + MAIN.format("f(1)"), False),
        ("import importlib\n" + USES + "    importlib.import_module('los' + 'ses')\n", False),
        ("from other import risky\n" + USES + "    risky(1)\n", True),
        ("from train import risky\n" + USES + "    risky(1)\n", False),  # it may have it
        ("import numpy as np\n" + USES + "    np.risky(1)\n", True),
        ("print 'Python 2'\n" + USES + "    live(2)\n", True),
        ("print 'Python 2'\n" + USES + "    losses.risky(2)\n", False),
        ("print 'Python 2'\nfrom losses import risky as f\n" + MAIN.format("f(1)"), False),
    ],
)
def test_other_files_may_call_it(folder, use, found):
    files = {"losses.py": HEAD + RISKY + LIVE, "train.py": use}
    assert reason(folder, "losses.py", files) == (CALLED if found else "")


def test_a_file_that_does_not_import_it_calls_its_own(folder):
    files = {
        "losses.py": HEAD + RISKY + LIVE,
        "train.py": USES,
        "copy/train.py": HEAD + RISKY + MAIN.format("risky(1)"),
    }
    assert reason(folder, "losses.py", files) == CALLED


def test_a_call_in_a_package(folder):
    files = {
        "README.md": "",
        "lib/__init__.py": "from . import losses\n",
        "lib/losses.py": HEAD + RISKY + LIVE,
        "train.py": "import lib\n" + MAIN.format("lib.losses.risky(1)"),
    }
    assert reason(folder, "lib/losses.py", files) == ""
    files = {**files, "train.py": "import lib\n" + MAIN.format("lib.losses.live(1)")}
    assert reason(folder, "lib/losses.py", files) == CALLED
    offered = {**files, "lib/__init__.py": "from .losses import risky\n"}
    assert reason(folder, "lib/losses.py", offered) == ""


@pytest.mark.parametrize(
    "library",
    [
        {"setup.py": "from setuptools import setup\nsetup()\n"},
        {"pyproject.toml": "[project]\nname = 'a'\n"},
        {"losses.py": HEAD + "__all__ = ['risky', 'live']\n" + RISKY + LIVE},
        {"test_losses.py": "from losses import risky\n\n\ndef test():\n    risky(1)\n\n\ntest()\n"},
    ],
)
def test_a_library_keeps_its_findings(folder, library):
    files = {"losses.py": HEAD + RISKY + LIVE, "train.py": USES, **library}
    assert reason(folder, "losses.py", files) == ""


def test_a_module_that_nothing_imports_beside_one_that_is_imported(folder):
    files = {
        "train.py": "from utils.losses import live\n" + MAIN.format("live(1)"),
        "utils/losses.py": HEAD + LIVE,
        "utils/old.py": HEAD + RISKY + LIVE,
    }
    why = "nothing in this program imports this file"
    assert reason(folder, "utils/old.py", files) == why
    assert reason(folder, "utils/old.py", {**files, "train.py": "x = 1\n"}) == ""
    alone = {"train.py": files["train.py"], "elsewhere/old.py": files["utils/old.py"]}
    assert reason(folder, "elsewhere/old.py", alone) == ""
    script = files["utils/old.py"] + "print(risky(input()))\n"
    assert reason(folder, "utils/old.py", {**files, "utils/old.py": script}) == ""


@pytest.mark.parametrize(
    ("place", "more", "is_said"),
    [
        ("src/trash/nets/old.py", {}, True),
        ("backup/old.py", {}, True),
        ("src_bak/nets/old.py", {}, True),
        ("tools/backups.py", {}, False),  # a file that makes them
        ("src/more/old.py", {}, False),  # one of a collection, for all that is known
        ("trash/old.py", {"trash/run.py": "import old\n\n\nold.risky(1)\n"}, False),
        ("trash/old.py", {"train.py": "from trash.old import risky\n\n\nrisky(1)\n"}, False),
        (
            "trash/old.py",
            {"test_old.py": "from trash.old import risky\n\ndef test(): risky(1)"},
            False,
        ),
        ("trash/old.py", {"a.ipynb": notebook("%run trash/old.py", "risky(1)")}, False),
        ("trash/old.py", {"all.py": "import pkgutil\npkgutil.walk_packages(['trash'])\n"}, False),
        ("trash/old.py", {"train.py": "x = 1\n"}, False),  # no program
        ("trash/old.py", {"pyproject.toml": "[project]\nname = 'a'\n"}, False),
    ],
)
def test_a_module_that_was_put_away_and_that_nothing_imports(folder, place, more, is_said):
    script = "from src.nets.core import live\n" + MAIN.format("live(1)")
    files = {"README.md": "", "train.py": script, "src/nets/core.py": HEAD + LIVE, **more}
    why = "nothing in this program imports this file" if is_said else ""
    assert reason(folder, place, {**files, place: HEAD + RISKY}) == why


@pytest.mark.parametrize("name", ["test_old.py", "utils/old_test.py"])
def test_a_runner_of_tests_finds_what_tests_import(folder, name):
    files = {
        "train.py": "from utils.losses import live\n" + MAIN.format("live(1)"),
        "utils/losses.py": HEAD + LIVE,
        "utils/old.py": HEAD + RISKY + LIVE,
        name: "from utils.old import risky\n\n\ndef test_it():\n    assert risky(1)\n",
    }
    assert reason(folder, "utils/old.py", files) == ""


NEVER = "nothing in this program calls `risky`"


@pytest.mark.parametrize(
    ("bases", "main", "why"),
    [
        ("", "Model()", NEVER),
        ("", "Model().risky(1)", ""),
        ("", "getattr(Model(), input())(1)", ""),
        ("", "[getattr(Model(), name) for name in ('safe', 'risky')]", ""),
        ("", "[getattr(Model(), name) for name in ('safe', 'calm')]", NEVER),
        ("metaclass=abc.ABCMeta", "Model()", NEVER),
        ("abc.ABC", "Model()", NEVER),
        ("metaclass=gpflow.Meta", "Model()", ""),  # may call it, for all that is known
        ("", "print(1)", "nothing in this program calls `Model`"),
        ("tf.keras.Model", "Model()", "nothing in this program calls `risky`"),
        ("gpflow.Model", "Model()", ""),  # a hook, for all that is known
        ("tf.keras.Model", "print(1)", "nothing in this program calls `Model`"),
    ],
)
def test_methods(folder, bases, main, why):
    text = "import abc, gpflow\n" + METHOD.format(bases) + MAIN.format(main)
    assert reason(folder, "train.py", {"train.py": text}) == why


@pytest.mark.parametrize(("base", "why"), [("tf.keras.layers.Layer", ""), ("object", "call")])
def test_a_framework_calls_what_a_mixin_has(folder, base, why):
    net = f"\n\nclass Net(Model, {base}):\n    pass\n"
    text = METHOD.format("").replace("risky", "call") + net + MAIN.format("Net()")
    reasons = reason(folder, "train.py", {"train.py": text})
    assert reasons == (f"nothing in this program calls `{why}`" if why else "")


def test_a_file_may_be_named_in_a_text(folder):
    start = "import other\n"
    alone = {
        "losses.py": HEAD + RISKY + LIVE,
        "other.py": "x = 1\n",
        "train.py": start + MAIN.format("print(1)"),
    }
    script = start + MAIN.format("Trainer(module_file='code/losses.py').run()")
    named = {**alone, "train.py": script}
    assert reason(folder, "losses.py", alone) != ""
    assert reason(folder, "losses.py", named) == ""


def test_files_that_import_all_of_one_another_take_little_time(folder):
    """Each way through them was followed, four times as many for each file more."""
    stars = {
        f"m{index}.py": HEAD + "".join(f"from m{each} import *\n" for each in range(index))
        for index in range(1, 24)
    }
    files = {
        **stars,
        "m0.py": HEAD + RISKY + LIVE,
        "train.py": "import m23\n" + MAIN.format("m23.live(1)"),
    }
    assert reason(folder, "m0.py", files) == "nothing in this program calls `risky`"


@pytest.mark.parametrize("hook", ["call", "on_epoch_end", "update_state", "_forward"])
def test_frameworks_call_their_hooks(folder, hook):
    text = METHOD.format("tf.Module").replace("risky", hook) + MAIN.format("Model()")
    assert reason(folder, "train.py", {"train.py": text}) == ""


FOUND = "import importlib, sys\n" + MAIN.format(
    "module = importlib.import_module(sys.argv[1])\n    getattr(module, sys.argv[2])().fit()"
)


def test_who_finds_a_module_finds_classes_but_no_methods(folder):
    dead = HEAD + METHOD.format("").replace("Model", "Trained").replace(HEAD, "")
    files = {"train.py": FOUND, "models/net.py": dead}
    assert reason(folder, "models/net.py", files) == CALLED
    called = {**files, "train.py": FOUND.replace(".fit()", ".risky(1)")}
    assert reason(folder, "models/net.py", called) == ""
    loose = {**files, "train.py": FOUND.replace("getattr(module, ", "getattr(sys.modules, ")}
    assert reason(folder, "models/net.py", loose) == ""
    whole = {**files, "models/net.py": HEAD + RISKY}
    assert reason(folder, "models/net.py", whole) == ""
    text = FOUND.replace("importlib.import_module(sys.argv[1])", "exec(sys.argv[1])")
    assert reason(folder, "models/net.py", {**whole, "train.py": text}) == ""


def test_a_file_that_does_something_when_it_is_imported_is_part_of_its_importers(folder):
    losses = "import numpy as np\nnp.random.seed(1)\n" + HEAD + RISKY + LIVE
    assert reason(folder, "losses.py", {"losses.py": losses, "train.py": USES}) == CALLED
    assert reason(folder, "losses.py", {"losses.py": losses, "train.py": MAIN.format("f()")}) == ""


def test_imports_of_other_packages_hand_nothing_on(folder):
    head = "from tensorflow.keras import losses as theirs\nprint(theirs)\n"
    assert reason(folder, "losses.py", {"losses.py": HEAD + RISKY + LIVE, "train.py": head + USES})
    head = "import losses\nprint(losses)\n"
    files = {"losses.py": HEAD + RISKY + LIVE, "train.py": head + USES}
    assert reason(folder, "losses.py", files) == ""


def test_a_method_of_a_class_that_is_never_made_calls_nothing(folder):
    text = (
        METHOD.format("")
        + "class Other:\n    def run(self, model):\n        model.risky(1)\n\n\n"
        + MAIN.format("Model(){}")
    )
    dead = reason(folder, "train.py", {"train.py": text.format("")})
    assert dead == "only code that this program never runs uses `risky`"
    assert reason(folder, "train.py", {"train.py": text.format(", Other().run(1)")}) == ""


def test_a_class_lives_through_its_heirs(folder):
    heir = "class Heir(Model):\n    pass\n\n\n"
    text = METHOD.format("") + heir + MAIN.format("Heir().risky(1)")
    assert reason(folder, "train.py", {"train.py": text}) == ""
    text = METHOD.format("") + heir + MAIN.format("print('a').risky")
    assert reason(folder, "train.py", {"train.py": text}) != ""


def test_a_notebook_calls(folder):
    files = {"losses.py": HEAD + RISKY + LIVE, "train.py": USES}
    assert reason(folder, "losses.py", files) == CALLED
    shown = {**files, "a.ipynb": notebook("from losses import risky", "x = risky(1)")}
    assert reason(folder, "losses.py", shown) == ""
    ran = {**files, "a.ipynb": notebook("%run losses.py", "x = risky(1)")}
    assert reason(folder, "losses.py", ran) == ""


def test_an_unsaved_text_may_call_it(folder):
    files = {"losses.py": HEAD + RISKY + LIVE, "train.py": USES}
    assert reason(folder, "losses.py", files) == CALLED
    calling = "from losses import risky\n" + USES + "    risky(1)\n"
    project.show(str(folder / "train.py"), calling)
    (found,) = flow.analyse(Source(str(folder / "losses.py"), files["losses.py"]), RULES)
    assert found.certainty > Certainty.UNKNOWN


def test_a_note_that_never_runs_keeps_its_fix(folder):
    put(folder, {"train.py": DEAD})
    (found,) = flow.analyse(Source(str(folder / "train.py"), DEAD), RULES)
    assert found.unreached and found.fixes


def test_the_note_is_remembered_until_something_calls_it(runs):
    runs.write("README.md", "")
    runs.write("losses.py", HEAD + RISKY + LIVE)
    runs.write("train.py", USES)
    first = runs.same("--output-format", "json")
    assert CALLED in first[1] and first[0] == 0
    runs.write("train.py", USES.replace("import live", "import live, risky") + "    risky(1)\n")
    second = runs.same("--output-format", "json")
    assert CALLED not in second[1] and second[0] == 1
    runs.write("train.py", USES)
    assert runs.same("--output-format", "json") == first


def test_several_processes_say_the_same(runs):
    for number in range(6):
        runs.write(f"p{number}/losses.py", HEAD + RISKY + LIVE)
        runs.write(f"p{number}/train.py", USES if number % 2 else USES + "    live.risky(1)\n")
    alone = runs("--output-format", "concise", "--jobs", "1")
    assert runs("--output-format", "concise", "--jobs", "3") == alone
    assert alone[1].count("TFN301") == 6


def test_outputs_of_notebooks_are_not_read():
    cell = '{"cell_type": "code", "outputs": ["risky"], "source": ["live(\\"source\\")"]}'
    later = '{"cell_type": "code", "source": ["main()"], "outputs": ["risky"]}'
    read = written_in(f'{{"cells": [{cell}, {later}]}}'.encode())
    assert b"live(" in read and b"main(" in read and b"risky" not in read
    assert written_in(b'{"cells": []}') == b'{"cells": []}'


def test_only_what_is_reported_is_asked_for(folder):
    put(folder, {"train.py": DEAD})
    source = Source(str(folder / "train.py"), DEAD)
    with flow.Analysis(source, RULES, reported=lambda finding: False) as analysis:
        (found,) = analysis.findings
    assert found.certainty is not Certainty.UNKNOWN and not found.unreached


def test_a_package_hands_on_what_it_imports_as_a_whole(folder):
    files = {
        "losses/__init__.py": "from losses.terms import *\n",
        "losses/terms.py": HEAD + RISKY + LIVE,
        "train.py": "import losses\n" + MAIN.format("losses.live(1)"),
    }
    assert reason(folder, "losses/terms.py", files) == CALLED
    handed = files["train.py"].replace("losses.live(1)", "getattr(losses, input())(1)")
    assert reason(folder, "losses/terms.py", {**files, "train.py": handed}) == ""
    offered = files["losses/__init__.py"].replace("*", "risky")
    assert reason(folder, "losses/terms.py", {**files, "losses/__init__.py": offered}) == ""


KEPT = (
    HEAD
    + "class Model:\n    def __init__(self, z):\n        self.nll = -tf.reduce_mean("
    + "tf.math.log(tf.nn.softmax(z)))\n        self.out = z\n\n\n"
)
UNREAD = "nothing in this program reads `nll`"


@pytest.mark.parametrize(
    ("text", "more", "why"),
    [
        (KEPT, "", UNREAD),
        (KEPT, "print(model.nll)", ""),
        (KEPT, "print(getattr(model, 'nll'))", ""),
        (KEPT, "print(getattr(model, input()))", ""),
        (KEPT, "print(model.__dict__)", ""),
        (KEPT, "print(eval('model.nll'))", ""),
        (KEPT.replace("softmax(z)))", "softmax(z)), name='nll')"), "", ""),
        (KEPT.replace("tf.reduce_mean(", "keep("), "", ""),
        (KEPT.replace("class Model:", "class Model(Base):"), "", ""),
        (KEPT.replace("class Model:", "class Model(tf.Module):"), "", UNREAD),
    ],
)
def test_what_is_kept_and_never_read_is_a_note(folder, text, more, why):
    main = MAIN.format(f"model = Model(input())\n    {more}")
    assert reason(folder, "train.py", {"train.py": text + main}) == why


STEP = KEPT.replace("self.out = z", "self.step = optimizer.minimize(self.nll)")


@pytest.mark.parametrize(
    ("text", "more", "why"),
    [
        (STEP, "", UNREAD),
        (STEP.replace("minimize(self.nll)", "minimize(loss=self.nll)"), "", UNREAD),
        (STEP, "session.run(model.step)", ""),
        (STEP, "session.run(model.nll)", ""),
        (STEP, "session.run(getattr(model, 'step'))", ""),
        (STEP.replace("(self.nll)", "(self.nll, name='step')"), "", ""),  # fetched by its name
        (STEP.replace("(self.nll)", "(self.nll, tape=tape)"), "", ""),  # runs at once
        (STEP.replace("(self.nll)", "(lambda: self.nll)"), "", ""),
        (STEP.replace("self.step = ", "other.step = "), "", ""),
        (STEP.replace("self.step = ", "step = "), "", ""),
        (STEP.replace("minimize", "group"), "", ""),
    ],
)
def test_the_loss_of_a_step_that_nothing_runs(folder, text, more, why):
    """In TensorFlow 1 a step of training is made once, and run by its name."""
    main = MAIN.format(f"model = Model(input())\n    {more}")
    assert reason(folder, "train.py", {"train.py": text + main}) == why


@pytest.mark.parametrize(
    ("head", "main", "is_never"),
    [
        ("def fit(z, loss=risky):\n    return loss(z)\n", "live(1)", True),
        ("def fit(z, *, loss=risky):\n    return loss(z)\n", "live(1)", True),
        ("def fit(z: risky) -> risky:\n    return z\n", "live(1)", True),
        ("def fit(z, loss=risky):\n    return loss(z)\n", "fit(1)", False),
        ("def fit(z, loss=live(risky)):\n    return loss(z)\n", "live(1)", False),
        ("class Net:\n    def __init__(self, loss=risky):\n        pass\n", "live(1)", True),
        ("class Net:\n    def __init__(self, loss=risky):\n        pass\n", "Net()", False),
    ],
)
def test_a_default_is_for_those_that_call_the_function(folder, head, main, is_never):
    text = HEAD + RISKY + LIVE + head + "\n\n" + MAIN.format(main)
    why = "only code that this program never runs uses `risky`" if is_never else ""
    assert reason(folder, "train.py", {"train.py": text}) == why


def test_a_file_by_itself_keeps_what_others_may_read(folder):
    assert reason(folder, "model.py", {"model.py": KEPT}) == ""


def test_a_setup_of_extension_modules_is_no_package(folder):
    setup = "from setuptools import setup\nsetup(ext_modules=[])\n"
    assert reason(folder, "train.py", {"train.py": DEAD, "setup.py": setup}) == CALLED
    setup = setup.replace("ext", "packages=packages, ext")
    assert reason(folder, "train.py", {"train.py": DEAD, "setup.py": setup}) == ""


@pytest.mark.parametrize(
    ("name", "given", "found"),
    [
        ("train.py", "packages=find_packages()", True),  # no package, and beside the setup
        ("scripts/train.py", "packages=find_packages()", True),
        ("net/train.py", "packages=find_packages()", False),
        ("scripts/net/train.py", "packages=find_packages()", True),
        ("train.py", "packages=find_packages(exclude=('tests', 'docs'))", True),
        ("train.py", "packages=find_packages(), py_modules=['train']", False),
        ("train.py", "packages=find_packages() + ['tools']", False),
        ("train.py", "packages=find_packages('src')", False),
        ("scripts/train.py", "packages=find_namespace_packages()", False),
        ("scripts/train.py", "package_dir={'': 'scripts'}, packages=find_packages()", False),
        ("scripts/train.py", "packages=['scripts']", False),
        ("train.py", "packages=['scripts']", True),
        ("net/train.py", "packages=[\n    'scripts',\n    'scripts.net',\n]", True),
        ("scripts/net/train.py", "packages=['scripts']", True),  # none finds it where it is put
        ("scripts/net/train.py", "packages=['scripts', 'scripts/net']", False),
        ("scripts/net/train.py", "packages=['scripts', \"scripts.net\"]", False),
        ("train.py", "packages=[]", True),
        ("train.py", "packages=['net'], py_modules=['train']", False),
        ("train.py", "packages=['net'] + more", False),
        ("train.py", "packages=[name]", False),
    ],
)
def test_a_setup_takes_in_the_packages_that_it_finds(folder, name, given, found):
    files = {
        name: DEAD,
        "setup.py": f"setup({given})\n",
        "net/__init__.py": "",
        "scripts/net/__init__.py": "",
    }
    assert reason(folder, name, files) == (CALLED if found else "")


def test_an_import_means_the_file_beside_a_script(folder):
    used = "from losses import risky\n" + MAIN.format("risky(1)")
    files = {
        "README.md": "",
        "a/losses.py": HEAD + RISKY + LIVE,
        "a/train.py": USES,
        "b/losses.py": HEAD + RISKY + LIVE,
        "b/train.py": used,
    }
    assert reason(folder, "a/losses.py", files) == CALLED
    assert reason(folder, "b/losses.py", files) == ""
    del files["b/losses.py"]
    (folder / "b/losses.py").unlink()
    assert reason(folder, "a/losses.py", files) == ""  # a path may be set
    (folder / "b/train.py").unlink()
    del files["b/train.py"]
    files["a/train.py"] = "from lib.losses import live\n" + MAIN.format("live(1)")
    assert reason(folder, "a/losses.py", files) == ""


def test_a_class_that_has_the_name_of_its_module(folder):
    files = {
        "losses.py": HEAD + RISKY + "class losses:\n    pass\n",
        "train.py": "from losses import losses\n" + MAIN.format("print(losses)"),
    }
    assert reason(folder, "losses.py", files) == CALLED
    files["train.py"] = "import losses\n" + MAIN.format("print(losses)")
    assert reason(folder, "losses.py", files) == ""


def test_what_a_file_does_not_export(folder):
    text = HEAD + "__all__ = ['live']\n" + RISKY + LIVE
    assert reason(folder, "losses.py", {"losses.py": text, "train.py": USES}) == CALLED
    text += "__all__ += other.__all__\n"
    assert reason(folder, "losses.py", {"losses.py": text, "train.py": USES}) == ""


@pytest.mark.parametrize(
    ("sought", "found"),
    [
        ("'losses'", True),
        ("'lib.' + name", False),
        ("f'losses{name}'", True),
        ("'los%s' % name", True),
        ("'lib.{}'.format(name)", False),
        ("name", False),  # other modules: this one is imported by its name
    ],
)
def test_what_a_computed_import_may_find(folder, sought, found):
    use = f"import importlib\n{USES}    name = input()\n    importlib.import_module({sought})\n"
    files = {"losses.py": HEAD + RISKY + LIVE, "train.py": use}
    assert reason(folder, "losses.py", files) == ("" if found else CALLED)


@pytest.mark.parametrize("text", ["'risky'", "'lib.losses.risky'", "'losses'"])
def test_what_is_written_where_modules_are_found_by_text(folder, text):
    use = f"import importlib\n{USES}    importlib.import_module(input())\n"
    files = {"losses.py": HEAD + RISKY + LIVE, "train.py": use, "names.py": f"NAMES = [{text}]\n"}
    assert reason(folder, "losses.py", files) == ""


def test_what_files_need_that_are_found(folder):
    files = {
        "losses.py": HEAD + RISKY + LIVE,
        "models.py": "from losses import risky\n\n\ndef model(z):\n    return risky(z)\n",
        "train.py": f"import importlib\n{USES}    importlib.import_module(input())\n",
    }
    assert reason(folder, "losses.py", files) == ""


def test_a_notebook_is_in_no_package(folder):
    put(folder, {"setup.py": "from setuptools import setup\n\nsetup(name='a', packages=['a'])\n"})
    cell = HEAD + RISKY + LIVE + "live(1)\n"
    files = {"a.ipynb": notebook(cell)}
    put(folder, files)
    source = Notebook(str(folder / "a.ipynb"), files["a.ipynb"].encode()).source
    (finding,) = flow.analyse(source, RULES)
    assert finding.unreached == CALLED


def test_a_file_of_python_2_imports_and_does_not_call(folder):
    use = "from losses import live, risky\nprint 'Python 2'\nlive(2)\n"
    files = {"losses.py": HEAD + RISKY + LIVE, "train.py": use, "main.py": USES}
    assert reason(folder, "losses.py", files) == CALLED
    files["train.py"] = use + "risky(2)\n"
    assert reason(folder, "losses.py", files) == ""


@pytest.mark.parametrize(
    ("use", "is_used"),
    [
        ("print risky(1)\n", True),
        ("def use():\n    print risky(1)\n\n\nuse()\n", True),
        ("def use():\n    print risky(1)\n", False),
        ("print '%s' % live(risky)\n", True),
        ("print `risky`\n", True),  # that cannot be parsed in any way
    ],
)
def test_a_file_of_python_2_uses_what_it_loads(folder, use, is_used):
    script = "from losses import live, risky\nlive(2)\nprint 2\n" + use
    files = {"losses.py": HEAD + RISKY + LIVE, "train.py": script}
    why = "" if is_used else "only code that this program never runs uses `risky`"
    assert reason(folder, "losses.py", files) == why


def test_what_a_file_of_python_2_hands_on_is_its_own(folder):
    files = {
        "losses.py": HEAD + RISKY + LIVE,
        "nets.py": "from losses import live\n\n\ndef risky(z):\n    return live(z)\n",
        "train.py": "from nets import risky\nprint risky(1)\n",
    }
    assert reason(folder, "losses.py", files) == CALLED


@pytest.mark.parametrize(
    ("option", "is_used"),
    [
        ("'--sizes', default='[64, 64]'", False),
        ("'-s', '--sizes', type=str, default='(1e-3, 2.)'", False),
        ("'--sizes', default='risky'", True),
        ("'--sizes', default='[risky]'", True),
        ("'--sizes'", True),
        ("'--names', default='[64, 64]'", True),
    ],
)
def test_the_text_of_an_option_with_numbers_has_no_names(folder, option, is_used):
    options = f"parser.add_argument({option})\noptions = parser.parse_args()\n"
    main = "live(eval(options.sizes))"
    text = HEAD + RISKY + LIVE + "def build():\n    return 1\n\n\n" + MAIN.format(main)
    assert reason(folder, "train.py", {"train.py": text, "options.py": options}) == (
        "" if is_used else CALLED
    )


def test_a_file_beside_what_scripts_import(folder):
    files = {
        "lib/old.py": HEAD + RISKY,
        "lib/new.py": "import tensorflow as tf\n\ntf.keras.backend.clear_session()\n",
        "train.py": "from lib import new\n" + MAIN.format("new.run()"),
    }
    assert reason(folder, "lib/old.py", files) == "nothing in this program imports this file"
    files["lib/old.py"] = HEAD + "tf.keras.backend.clear_session()\n" + RISKY
    assert reason(folder, "lib/old.py", files) == CALLED


LEARNERS = {
    "a/nets.py": METHOD.format(""),
    "a/train.py": "from a.nets import Model\n" + MAIN.format("print(Model)"),
    "b/nets.py": "class Model:\n    def risky(self, z):\n        return z\n",
    "b/train.py": "from b.nets import Model\n" + MAIN.format("Model().risky(1)"),
    "README.md": "",
}


@pytest.mark.parametrize(
    ("files", "may_meet"),
    [
        ({}, False),
        ({"b/more.py": "import a.train\n"}, False),
        ({"main.py": "import a.train, b.train\n"}, True),
        ({"b/nets.py": "from a import nets\n" + LEARNERS["b/nets.py"]}, True),
        ({"a/nets.py": "from b import train\n" + LEARNERS["a/nets.py"]}, True),
        ({"b/train.py": "import pickle\n" + LEARNERS["b/train.py"]}, True),
        ({"b/nets.py": "from joblib import load\n" + LEARNERS["b/nets.py"]}, True),
        ({"b/nets.py": "import keras\nkeras.models.load_model('a')\n"}, True),
        ({"b/nets.py": "from keras.models import (\n    Model,\n    load_model,\n)\n"}, True),
        ({"b/nets.py": "def load_model():\n    pass\n" + LEARNERS["b/nets.py"]}, False),
        ({"c/more.py": "import pickle\n"}, False),
        ({"main.py": "import importlib\nimportlib.import_module('a' + input())\n"}, True),
        ({"main.py": "print 'Python 2', train, nets\nimport a.train, b.train\n"}, True),
        ({"all.ipynb": notebook("from a import nets", "import b.train")}, True),
    ],
)
def test_a_method_of_a_class_that_no_run_loads_with_the_call(folder, files, may_meet):
    why = "" if may_meet else "nothing in this program calls `risky`"
    every = {**LEARNERS, **files}
    assert reason(folder, "a/nets.py", every) == why


LOCAL = "from losses import risky\n\n\ndef train(z, make):\n    {}\n\n\n"


@pytest.mark.parametrize(
    ("body", "is_used"),
    [
        ("risky = make(z)\n    return risky", False),
        ("for risky in z:\n        print(risky)", False),
        ("with z as risky:\n        risky(z)", False),
        ("risky = z\n\n    def inner():\n        return risky\n\n    return inner()", False),
        ("return risky(z)", True),
        ("from losses import risky\n    return risky(z)", True),
        ("global risky\n    risky = risky or z", True),
        ("class Net:\n        risky = z\n\n    return risky", True),
        ("def inner():\n        risky = z\n\n    return risky", True),
        ("[risky for risky in z]\n    return risky", True),
        ("return z\n\n\ntrain(risky, 1)", True),
    ],
)
def test_a_local_name_is_nothing_else(folder, body, is_used):
    put(folder, {"train.py": LOCAL.format(body) + MAIN.format("train(1, 2)")})
    why = "" if is_used else CALLED
    assert reason(folder, "losses.py", {"losses.py": HEAD + RISKY}) == why
    text = HEAD + RISKY + LOCAL.format(body).partition("\n")[2] + MAIN.format("train(1, 2)")
    if "from losses" not in body:
        assert reason(folder, "all.py", {"all.py": text}) == why


@pytest.mark.parametrize(
    ("body", "is_used"),
    [
        ("def step(self, z):\n        return risky(z)", False),
        ("def step(self, z):\n        return z.risky(z)", True),
        ("step = risky", True),
    ],
)
def test_a_method_is_no_plain_name_but_in_the_body_of_its_class(folder, body, is_used):
    method = RISKY.replace("risky(", "risky(self, ").replace("\n", "\n    ").rstrip()
    text = f"{HEAD}class Net:\n    {method}\n\n    {body}\n\n\n" + MAIN.format("Net().step(1)")
    assert reason(folder, "train.py", {"train.py": text}) == ("" if is_used else CALLED)
