#!/usr/bin/env python3
"""Random sites that tfnanlint leaves silent in files that train something: silent.py DIR [--sample
N --seed S]

A site is a logarithm, or a division by something that TensorFlow computes, at which no rule reports
anything by default. Each is printed with the lines around it and what the engine knows of the
argument, to be read for missed hazards.
"""

from __future__ import annotations

import argparse
import gc
import pathlib
import random
import re
from typing import Any

from known import OPERATIONS, Probe, argument

from tfnanlint.config.layers import Configuration, Layer
from tfnanlint.pipeline.check import check
from tfnanlint.rule import registry as rules
from tfnanlint.values.value import words

TRAINS = re.compile(
    rb"GradientTape|\.minimize\(|tf\.gradients\(|apply_gradients|compute_gradients|\.fit\(|\.compile\(|"
    rb"def train_step|def loss|_loss\b|add_loss\(|class \w*Loss\b|def call\("
)


def shown(site: Any, here: Any) -> str:
    """A site with the lines around it and the chain that leads to its argument."""
    value, source = argument(site), here.source
    span = source.span(site.node)
    row, last = source.position(span.start)[0], source.position(span.end)[0]
    state = "known" if value.known else "guarded" if value.guarded else "unknown"
    lines = [
        f"{source.path}:{row} {site.op.name} of {words(value)} ({value.kind}, {state}), "
        f"differentiated {site.differentiated.value}"
    ]
    for number in range(max(1, row - 9), min(len(source.line_starts), last + 3) + 1):
        lines.append(
            f"  {'>' if row <= number <= last else ' '} {number:5} {source.line_text(number)}"
        )
    finding = here.finding(
        site, "y" if site.op.name == "tf.divide" else site.op.main, "", here.grade(value, False)
    )
    lines += [
        f"    ~ {step.path if step.path != source.path else ''}:{step.row} {step.text}"
        for step in finding.trace
    ]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--sample", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    gc.disable()
    settings = Configuration(Layer(), (), True).for_directory(str(args.directory))
    policy = settings.policy("", rules.load())
    found: list[str] = []
    spans: list[Any] = []

    def look(site: Any, here: Any) -> None:
        value, span = argument(site), here.source.span(site.node)
        if (
            value.kind in ("number", "array", "string", "shape")
            or value.is_number
            or value.dtype in ("string", "bool")
        ):
            return
        if not any(one in span or span in one for one in spans):
            found.append(shown(site, here))

    probe = Probe(f"{OPERATIONS['log']} {OPERATIONS['div']}", look)
    for path in sorted(args.directory.rglob("*.py")):
        data = path.read_bytes()
        if TRAINS.search(data) and "test" not in path.stem:
            spans[:] = [finding.span for finding in check(str(path), data, policy).findings]
            probe.run(str(path), data)
    print(f"{len(found)} silent sites")
    for text in random.Random(args.seed).sample(found, min(args.sample, len(found))):
        print("\n" + text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
