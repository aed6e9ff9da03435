"""Whether a gradient is taken through the roots of a file."""

from __future__ import annotations

from tfnanlint.diagnostics.findings import Differentiated
from tfnanlint.pipeline import analysis as flow
from tfnanlint.project import index as project
from tfnanlint.rule.registry import Rule
from tfnanlint.syntax.source import Source


def taken(path, text: str, op: str = "tf.sqrt", is_seen: bool = False) -> Differentiated:
    """Whether a gradient is taken through the root, or another op, in a file; `is_seen`: as far as
    the program shows it.
    """
    answers = []

    def look(site, here):
        if here.draft:
            yield here.remark(site.node, "", None)
        else:
            answers.append(site.gradient(is_seen=is_seen))

    path.write_text(text)
    project.forget()
    rule = Rule("TFN000", "probe", (op,), look, "")
    flow.analyse(Source(str(path), text), [rule])
    (answer,) = set(answers)
    return answer
