#!/usr/bin/env python3
"""Findings that depend on the order of questions, over folders of real code: order.py DIR...
[--seed N]

Lints each file three times, with what is judged in order of the text, reversed and shuffled, and
prints the findings of any certainty that are not the same: `-` was found in order of the text only,
`+` in the other order only. Files in which something was not followed to its end come out under
`cut short`: what following may cost there is spent in order of the text.
"""

from __future__ import annotations

import argparse
import gc
import pathlib
import random
import sys
import warnings
from collections.abc import Callable, Iterator

from tfnanlint.config.layers import Configuration, Layer, Policy
from tfnanlint.files.kinds import relevant
from tfnanlint.pipeline.analysis import Analysis, File
from tfnanlint.rule import registry as rules
from tfnanlint.syntax.source import Source, Unreadable

Order = Callable[[list], list]
_candidates = File.candidates


def found(path: pathlib.Path, data: bytes, policy: Policy, order: Order) -> tuple[set[tuple], bool]:
    """The findings in a file, judged in some order, and whether something was not followed to its
    end.
    """

    def candidates(file: File, only: dict | None = None, within: range | None = None) -> Iterator:
        return iter(order(list(_candidates(file, only, within))))

    File.candidates = candidates
    try:
        source = Source.from_bytes(str(path), data)
        with Analysis(
            source, policy.rules, policy.setup, policy.drafted, shown=policy.shown
        ) as analysis:
            return {
                (*source.position(one.span.start), one.code, one.certainty.name, one.message)
                for one in analysis.findings
            }, analysis.cut_short
    finally:
        File.candidates = _candidates


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=pathlib.Path, nargs="+")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    gc.disable()  # as the command line does
    orders: dict[str, Order] = {
        "reversed": lambda places: places[::-1],
        "shuffled": lambda places: random.Random(args.seed).sample(places, len(places)),
    }
    files = cut = differing = differing_cut = 0
    for folder in args.directory:
        policy = (
            Configuration(Layer(), (), True).for_directory(str(folder)).policy("", rules.load())
        )
        for path in sorted(folder.rglob("*.py")):
            data = path.read_bytes()
            if not relevant(data):
                continue
            try:
                first, short = found(path, data, policy, list)
                others = {name: found(path, data, policy, order) for name, order in orders.items()}
            except (Unreadable, RecursionError):
                continue
            short = short or any(other for _, other in others.values())
            changed = [
                f"    {name} {sign} {' '.join(map(str, one))}"
                for name, (other, _) in others.items()
                for sign, difference in (("-", first - other), ("+", other - first))
                for one in sorted(difference)
            ]
            files, cut = files + 1, cut + short
            differing, differing_cut = (
                differing + bool(changed and not short),
                differing_cut + bool(changed and short),
            )
            if changed:
                print(f"{path}{' (cut short)' if short else ''}", *changed, sep="\n", flush=True)
    print(
        f"{files} files: in {differing} findings depend on the order; of {cut} that were cut short, in {differing_cut}"
    )
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
