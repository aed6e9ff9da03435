"""The programs of fixtures/files: whole files of several findings, of which the docstring names the
inputs.

    Inputs: z = z, labels = h     the parameters of `program`, each with its kind (tests/support/hazards.py)
    Modes: eager graph            where it can be run; in all three, if nothing is said

A file with lines `# %%` is a notebook of which these begin the cells.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from hazard_programs import Program

from tfnanlint.dev import repository

FOLDER = repository.ROOT / "fixtures" / "files"
MODES = ("eager", "graph", "xla")
_TAPE = """

def differentiate({names}):
    with tf.GradientTape() as tape:
        tape.watch([{names}])
        losses = program({names})
    return tape.gradient(losses, [{names}])
"""


def paths() -> list[Path]:
    return sorted(FOLDER.glob("*.py"))


def program(path: Path) -> Program:
    """The program of a file, with a function that differentiates it."""
    text = path.read_text()
    header = dict(
        re.findall(r"^(Inputs|Modes): *(.+)$", ast.get_docstring(ast.parse(text)) or "", re.M)
    )
    parameters = dict(pair.strip().split(" = ") for pair in header["Inputs"].split(","))
    tape = _TAPE.format(names=", ".join(parameters))
    if "import tensorflow" not in text:
        tape = "\n\nimport tensorflow as tf\n" + tape
    cells = (
        [f"{one.strip()}\n" for one in (text + "\n# %%\n" + tape).split("# %%\n") if one.strip()]
        if "# %%" in text
        else []
    )
    text = "\n\n".join(cells) if cells else text + tape
    return Program(
        text, parameters, [], modes=tuple(header.get("Modes", " ".join(MODES)).split()), cells=cells
    )
