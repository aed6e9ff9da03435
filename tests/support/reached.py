"""Programs of a few files, and why a finding in one of them is a note."""

from __future__ import annotations

from tfnanlint.diagnostics.findings import Certainty
from tfnanlint.diagnostics.grades import grade
from tfnanlint.pipeline import analysis as flow
from tfnanlint.project import index as project
from tfnanlint.rule import registry as rules
from tfnanlint.syntax.source import Source

HEAD = "import tensorflow as tf\n\n\n"
MAIN = "if __name__ == '__main__':\n    {}\n"
RULES = [rule for rule in rules.load() if rule.code == "TFN301"]


def put(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    project.forget()


def reason(folder, name, files):
    """Why the one finding of a file is a note; "" where it is none."""
    put(folder, files)
    (found,) = flow.analyse(Source(str(folder / name), files[name]), RULES)
    assert (found.certainty is Certainty.UNKNOWN) is bool(found.unreached)
    assert grade(found).because.startswith(found.unreached)
    return found.unreached
