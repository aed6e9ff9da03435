"""Programs in which rules meet on one expression: forms that the rules are about, put into each
other, and what must hold of them.
"""

from __future__ import annotations

import ast
import itertools
import random
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Iterator

from tfnanlint.dev import repository
from tfnanlint.diagnostics.findings import Finding
from tfnanlint.pipeline.fix import fix_source
from tfnanlint.rule.registry import load
from tfnanlint.syntax.source import Source

sys.path.insert(0, str(repository.ROOT / "benchmarks"))

from corpus import broken  # noqa: E402

# Each is a form of its own; `{}` and `{0}` are what it is put around.
FORMS = """
tf.math.log({})
tf.math.log1p({})
tf.math.log(1.0 - {})
tf.math.log1p(-{})
tf.math.log({} / w)
tf.math.log(1.0 + tf.exp({}))
tf.math.log(tf.reduce_sum(tf.exp({}), axis=-1))
tf.clip_by_value(tf.math.log({}), -10.0, 10.0)
tf.boolean_mask(tf.math.log({0}), {0} > 0)
tf.math.xlogy(labels, {})
-(labels * tf.math.log({0}) + (1.0 - labels) * tf.math.log(1.0 - {0}))
-tf.reduce_sum(labels * {}, axis=-1)
labels * {}
tf.sqrt({})
tf.math.rsqrt({})
tf.sqrt(tf.exp({}))
({}) ** 0.5
tf.pow({}, 0.3)
tf.norm({}, axis=-1, keepdims=True)
tf.math.reduce_std({}, axis=-1, keepdims=True)
(tf.reduce_mean(tf.square({0})) - tf.square(tf.reduce_mean({0})))
tf.reduce_sum(tf.square({}), axis=-1, keepdims=True)
{0} / tf.norm({0}, axis=-1, keepdims=True)
{0} / tf.reduce_sum({0}, axis=-1, keepdims=True)
1.0 / {}
z / {}
tf.nn.softmax({})
tf.sigmoid({})
tf.exp({})
tf.exp(-{})
tf.reduce_sum(tf.exp({}), axis=-1, keepdims=True)
({} + 1e-8)
(1.0 - {} + 1e-8)
({} + 1e-46)
(1.0 - {})
({} - 1.0)
(1.0 + {})
tf.nn.relu({})
tf.square({})
tf.abs({})
tf.tanh({})
tf.reduce_mean({})
tf.reduce_sum({}, axis=-1, keepdims=True)
tf.where({0} > 0, {0}, tf.zeros_like({0}))
tf.where(z > 0, {}, tf.zeros_like(z))
tf.where(tf.math.is_nan({0}), tf.zeros_like({0}), {0})
tf.clip_by_value({}, 1e-8, 1.0)
tf.clip_by_value({}, 0.0, 1.0)
tf.maximum({}, 0.0)
tf.maximum({}, 1e-8)
tf.acos({})
tf.atan2({}, w)
tf.cast({}, tf.float16)
""".strip().splitlines()
MAX_LENGTH = 1500
_PROGRAM = (
    "import tensorflow as tf\n\n\ndef step(labels, z, w):\n    with tf.GradientTape() as tape:\n        loss = {}\n"
    "    return tape.gradient(loss, w)\n"
)
# Two hazards at one place of which neither stands for the other: sums overflow float16, and the
# gradient is infinite at 0; the deviation of nothing is NaN, and its gradient of equal values.
APART = ({"TFN201", "TFN604"}, {"TFN203", "TFN604"}, {"TFN107", "TFN203"})


def pairs() -> Iterator[str]:
    """Every form in every form."""
    return (outer.format(inner.format("z")) for inner, outer in itertools.product(FORMS, repeat=2))


def deeper(count: int, seed: int) -> Iterator[str]:
    """Random expressions of three to five forms."""
    draw = random.Random(seed)
    for _ in range(count):
        expression = "z"
        for form in draw.choices(FORMS, k=draw.choice((3, 3, 4, 5))):
            expression = form.format(expression)
        if len(expression) <= MAX_LENGTH:
            yield expression


@dataclass(frozen=True)
class Trial:
    """One expression as a loss: how much was found in it, and what does not hold, in words; fixes
    that were refused apart.
    """

    expression: str
    found: int
    faults: tuple[str, ...]
    refused: tuple[str, ...]


def trial(expression: str) -> Trial:
    source = Source("a.py", _PROGRAM.format(expression))
    before = repository.findings(source)
    if not before:
        return Trial(expression, 0, (), ())
    faults = [f"several rules speak of {text}: {codes}" for text, codes in twice(source, before)]
    refused: list[str] = []
    for unsafe in (False, True):
        result = fix_source(source, repository.findings, lambda fix: unsafe or fix.claim.safe)
        after, how = repository.findings(result.source), "all fixes" if unsafe else "safe fixes"
        ast.parse(result.source.text)
        faults += [f"{how} bring up {code}" for code in brought_up(before, after)]
        faults += [f"{how}: {name}: {what}" for name, what in broken(source.text, result).items()]
        again = fix_source(result.source, repository.findings, lambda fix: unsafe or fix.claim.safe)
        faults += (
            [f"{how} go on in a second run"] if again.source.text != result.source.text else []
        )
        refused += [one for one in result.problems if unsafe or "takes --unsafe-fixes" not in one]
        if unsafe and not result.problems:
            faults += [f"{one.code} is left, and can be fixed" for one in after if one.fixes]
    return Trial(expression, len(before), tuple(faults), tuple(dict.fromkeys(refused)))


def twice(source: Source, findings: list[Finding]) -> list[tuple[str, list[str]]]:
    """Expressions of which more than one rule speaks."""
    said = defaultdict(set)
    for one in findings:
        said[one.span].add(one.code)
    return [
        (source.slice(span)[:60], sorted(codes))
        for span, codes in said.items()
        if len(codes) > 1 and codes not in APART
    ]


def brought_up(before: list[Finding], after: list[Finding]) -> list[str]:
    """Codes of findings that were not there before; one whose rule goes before that of a finding
    now gone stands in its place.
    """
    over = {rule.code: rule.over for rule in load()}
    gone = Counter(one.code for one in before) - Counter(one.code for one in after)
    new = []
    for code in (
        Counter(one.code for one in after) - Counter(one.code for one in before)
    ).elements():
        instead = next((other for other in over.get(code, ()) if gone[other] > 0), None)
        if instead is None:
            new.append(code)
        else:
            gone[instead] -= 1
    return new
