"""What an editor holds unsaved stands for the file on disk; and files that come, go and change are
seen when that is said.
"""

from __future__ import annotations

from tfnanlint.diagnostics.findings import Certainty
from tfnanlint.pipeline import analysis as flow
from tfnanlint.project import index as project
from tfnanlint.rule import registry as rules
from tfnanlint.syntax.source import Source

USER = "import tensorflow as tf\nfrom helper import floor\n\n\ndef f(x):\n    return tf.math.log(floor(tf.nn.relu(x)))\n"
SAFE = "import tensorflow as tf\n\n\ndef floor(x):\n    return tf.maximum(x, 0.5)\n"
UNSAFE = "import tensorflow as tf\n\n\ndef floor(x):\n    return x\n"
CALLED = "import tensorflow as tf\n\n\ndef entropy(p):\n    return tf.math.log(p)\n"
CALLER = (
    "import tensorflow as tf\nfrom called import entropy\n\n\ndef g(z):\n    return entropy({})\n"
)


def codes(folder, name, text):
    found = flow.analyse(Source(str(folder / name), text), rules.load())
    return [one.code for one in found if one.certainty > Certainty.UNKNOWN]


def test_an_unsaved_text_goes_before_the_file(folder):
    (folder / "helper.py").write_text(SAFE)
    assert codes(folder, "user.py", USER) == []
    project.show(str(folder / "helper.py"), UNSAFE)
    assert codes(folder, "user.py", USER) == ["TFN101"]
    project.show(str(folder / "helper.py"), None)
    assert codes(folder, "user.py", USER) == []


def test_half_typed_text_leaves_what_was_known(folder):
    (folder / "helper.py").write_text(UNSAFE)
    project.show(str(folder / "helper.py"), SAFE)
    assert codes(folder, "user.py", USER) == []
    project.show(str(folder / "helper.py"), SAFE + "\ndef (")
    assert codes(folder, "user.py", USER) == []


def test_a_file_that_was_never_saved_is_there(folder):
    assert codes(folder, "user.py", USER) == []
    project.show(str(folder / "helper.py"), UNSAFE)
    assert codes(folder, "user.py", USER) == ["TFN101"]


def test_callers_in_unsaved_files(folder):
    (folder / "called.py").write_text(CALLED)
    (folder / "caller.py").write_text(CALLER.format("tf.maximum(tf.nn.softplus(z), 0.5)"))
    assert codes(folder, "called.py", CALLED) == []
    project.show(str(folder / "caller.py"), CALLER.format("tf.nn.softmax(z)"))
    assert "TFN301" in codes(folder, "called.py", CALLED)
    project.show(str(folder / "caller.py"), None)
    assert codes(folder, "called.py", CALLED) == []


def test_files_that_come_and_go_are_seen_after_forget(folder):
    assert codes(folder, "user.py", USER) == []
    (folder / "helper.py").write_text(UNSAFE)
    project.forget()
    assert codes(folder, "user.py", USER) == ["TFN101"]
    (folder / "helper.py").write_text(SAFE)
    assert codes(folder, "user.py", USER) == []
    (folder / "helper.py").unlink()
    project.forget()
    assert codes(folder, "user.py", USER) == []
