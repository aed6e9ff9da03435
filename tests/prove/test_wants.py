"""What the fixtures want is proved, or carries a reviewed reason: a fixed sample of the want sites,
one of each rule. `benchmarks/prove.py --wants` tries all.
"""

from __future__ import annotations

import pytest

from tfnanlint.dev.wants import each_rule, of_rules, reason_of, reasons
from tfnanlint.diagnostics.verdicts import Proof
from tfnanlint.prove.run import Prover

pytestmark = pytest.mark.tensorflow
LEAST_PROVED = 38  # of 60, of which 12 are of rules of which no value tells


def test_a_sample_of_want_sites_is_proved_or_has_a_reason(record_property):
    known = reasons()
    unexplained, proved, explained = [], 0, 0
    with Prover(3.0, ("eager", "graph")) as prover:
        for source, finding in each_rule(of_rules(), 1):
            verdict = prover.verdict(source, finding)
            if verdict.proof is Proof.PROVED:
                proved += 1
            elif reason_of(known, source, finding, verdict) is not None:
                explained += 1
            else:
                row = source.position(finding.span.start)[0]
                unexplained.append(f"{source.path}:{row} {finding.code} {verdict.words}")
    counts = f"{proved} proved, {explained} with a reviewed reason, {len(unexplained)} without"
    record_property("summary", f"want sites, one of each rule: {counts}")
    assert unexplained == []
    assert proved >= LEAST_PROVED


def test_reasons_are_of_rules_that_exist_and_said_once():
    known = reasons()
    codes = {finding.code for _, finding in of_rules()}
    assert {reason.code for reason in known} <= codes
    keys = [(reason.code, reason.said, reason.line) for reason in known]
    assert len(set(keys)) == len(keys)
    assert all(len(reason.reason) > 20 for reason in known)
