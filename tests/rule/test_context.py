"""What a rule may ask of its context."""

from __future__ import annotations

import ast

import pytest

from tfnanlint.dev import repository
from tfnanlint.diagnostics.findings import Certainty, Claim
from tfnanlint.pipeline.analysis import analyse
from tfnanlint.rule.registry import Rule
from tfnanlint.syntax.source import Source

TWICE = """
import tensorflow as tf


def f(z):
    p = tf.sigmoid(z)
    first = tf.math.log(p)
    p = tf.square(z) + 2.0
    return first + tf.math.log(p)
"""


def test_another_statement_is_asked_where_it_stands():
    """At the first logarithm the name `p` of the second one is another value."""
    bounds = []

    def ask(site, here):
        if here.draft:  # a finding in the draft asks for the final judgement
            yield here.remark(site.node, "", Certainty.MUST)
            return
        logs = [node for node in ast.walk(here.source.tree) if isinstance(node, ast.Call)]
        logs = [node for node in logs if here.text(node).startswith("tf.math.log")]
        for node in sorted(logs, key=lambda log: log.lineno):
            place = here.standing(node, site.point)
            bounds.append((site.node.lineno, node.lineno, here.value(node.args[0], place).lo))

    analyse(Source("twice.py", TWICE), [Rule("TFN000", "probe", ("tf.math.log",), ask, "")])
    assert sorted(set(bounds)) == [(7, 7, 0.0), (7, 9, 2.0), (9, 7, 0.0), (9, 9, 2.0)]


@pytest.mark.parametrize("first", [Claim.SHIFTED, Claim.EQUAL])
def test_weak_evidence_leaves_the_exact_fixes(first):
    """Whatever fix the rule offers first."""

    def ask(site, here):
        claims = (first, *{Claim.SHIFTED, Claim.EQUAL} - {first})
        fixes = [
            fix
            for claim in claims
            for fix in here.rewrite(
                site, "tf.math.log1p({x})", title=claim.value, claim=claim, x=site.args["x"]
            )
        ]
        yield here.finding(site, "x", "", Certainty.MAY, fixes, kind="tensorflow-1-only")

    probe = Rule("TFN000", "probe", ("tf.math.log",), ask, "")
    text = "import tensorflow as tf\n\n\ndef f(z):\n    return tf.math.log(z)\n"
    (finding,) = analyse(Source("weak.py", text), [probe])
    assert [fix.title for fix in finding.fixes] == ["equal"] and not finding.no_fix


def test_nothing_stands_around_a_node_of_another_file(tmp_path):
    """The softmax is on a line that the file of its loss does not have."""
    model = "import tensorflow as tf\n" + "\n" * 30 + "def net(x):\n    return tf.nn.softmax(x)\n"
    (tmp_path / "model.py").write_text(model)
    text = (
        "import tensorflow as tf\nfrom model import net\n\n\ndef loss(x, y):\n    p = net(x)\n"
        "    return tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=p)\n"
    )
    (finding,) = repository.findings(Source(str(tmp_path / "train.py"), text))
    assert finding.code == "TFN502"
