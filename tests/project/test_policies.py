"""The policy that the program of a file sets: only files that set one are read for it."""

from __future__ import annotations

import pytest

from tfnanlint.interp.engine import Engine
from tfnanlint.program.module import Module
from tfnanlint.project.index import Project
from tfnanlint.syntax.source import Source

NET = "import tensorflow as tf\nclass Net(tf.keras.layers.Layer):\n  def call(self, x):\n    return x\n"
NAMES = "import net\nHALF = ('mixed_float16', 'float32')\n"
SETS = "import net, tensorflow as tf\ntf.keras.mixed_precision.set_global_policy('mixed_float16')\n"
INSIDE = "import net, tensorflow as tf\ndef main():\n  tf.keras.mixed_precision.set_global_policy('mixed_float16')\n"
COMPUTED = "import net, tensorflow as tf\n# 'mixed_float16'\nHALF = 'mixed_float16'\ndef main(p):\n  tf.keras.mixed_precision.set_global_policy(p)\n"


def judged(folder, **texts):
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    path = str(folder / "net.py")
    project = Project(path, None, Module)
    module = project.modules[path] = Module(Source(path, texts["net"]), project)
    engine = Engine()
    dtype = engine.dtype_of(next(iter(module.classes.values())))
    names = {other.source.path.rpartition("/")[2] for other in project.modules.values()}
    return dtype, names


@pytest.mark.parametrize(
    "texts, dtype, read",
    [
        ({"a": NAMES, "b": SETS}, "float16", {"net.py", "b.py"}),
        ({"a": COMPUTED, "b": INSIDE}, None, {"net.py", "b.py"}),
        ({"a": NAMES}, None, {"net.py"}),
    ],
)
def test_only_what_may_set_a_policy_is_read(folder, texts, dtype, read):
    assert judged(folder, net=NET, **texts) == (dtype, read)


def test_without_a_policy_nothing_is_read(folder):
    assert judged(folder, net=NET, a="import net\n") == ("", {"net.py"})


@pytest.mark.parametrize(
    "texts, policy, read",
    [
        ({"a": INSIDE}, "mixed_float16", {"net.py"}),
        ({"a": SETS}, "mixed_float16", {"net.py", "a.py"}),
        ({"a": COMPUTED}, "", {"net.py", "a.py"}),
        ({"a": COMPUTED, "b": INSIDE}, "mixed_float16", {"net.py", "a.py"}),
        ({"a": INSIDE.replace("mixed_float16", "float32") + SETS}, "float32", {"net.py"}),
        ({"a": NAMES}, "", {"net.py"}),
    ],
)
def test_a_policy_that_is_written_out_in_a_function_is_read_from_the_tree(
    folder, texts, policy, read
):
    for name, text in (texts | {"net": NET}).items():
        (folder / f"{name}.py").write_text(text)
    path = str(folder / "net.py")
    project = Project(path, None, Module)
    module = project.modules[path] = Module(Source(path, NET), project)
    assert Engine().policy_of_program(module) == policy
    names = {other.source.path.rpartition("/")[2] for other in project.modules.values()}
    assert names == read


SETTER = """import keras
LOW = -1e9

def begin(half=True):
    {body}
"""
SETTING = "keras.mixed_precision.set_global_policy('mixed_float16')"


@pytest.mark.parametrize(
    ("body", "script", "dtype"),
    [
        (SETTING, "import setter\nsetter.begin()\nimport net\n", "float16"),
        (
            SETTING,
            "import setter, net\ndef main():\n    setter.begin()\n\n"
            "if __name__ == '__main__':\n    main()\n",
            "float16",
        ),
        (SETTING, "import setter, net\n", None),
        (SETTING, "import setter, net\nif net.fast:\n    setter.begin()\n", None),
        (f"if half: {SETTING}", "import setter, net\nsetter.begin()\n", None),
        (f"if not half: return\n    {SETTING}", "import setter, net\nsetter.begin()\n", None),
        (SETTING, "import setter, net\nkept = setter.begin\n", None),
    ],
)
def test_a_policy_that_a_function_sets(folder, body, script, dtype):
    texts = {"net": NET, "setter": SETTER.format(body=body), "script": script}
    assert judged(folder, **texts)[0] == dtype
