#!/usr/bin/env python3
"""How many sites of a folder of real code the analysis knows something about: known.py DIR
[--unknown OPERATION]

A site is an application of one of the operations below by TensorFlow. It is known when something
bounds its argument on at least one side, or the program shows that any number can occur
(`Value.known`). `--unknown` prints where the trail of the other arguments of an operation ends,
most frequent first.
"""

from __future__ import annotations

import argparse
import collections
import gc
import pathlib
from typing import Any, Callable, Iterator

from tfnanlint.diagnostics.findings import Certainty
from tfnanlint.files.kinds import relevant
from tfnanlint.pipeline.analysis import analyse
from tfnanlint.rule.registry import Rule
from tfnanlint.syntax.source import Source, Unreadable

OPERATIONS = {
    "log": "tf.math.log tf.math.log1p ops.log2 ops.log10",
    "sqrt": "tf.sqrt K.sqrt tf.math.rsqrt",
    "norm": "tf.norm tf.math.reduce_euclidean_norm",
    "div": "tf.divide tf.math.reciprocal",
    "pow": "tf.pow",
    "exp": "tf.exp tf.math.expm1",
    "acos": "tf.acos tf.asin tf.atanh",
}
AIM = ("log", "sqrt", "norm")


class Probe:
    """A rule that reports nothing and shows `look` every site of some ops, as the final judgement
    sees it.
    """

    def __init__(self, names: str, look: Callable[[Any, Any], None]):
        self.look = look
        self.rule = Rule("TFN000", "probe", tuple(names.split()), self._check, "")

    def _check(self, site: Any, here: Any) -> Iterator[Any]:
        # a finding in the draft asks for the final judgement, with the callers in other files
        if here.draft:
            yield here.remark(site.node, "", Certainty.MUST)
        else:
            self.look(site, here)

    def run(self, path: str, data: bytes) -> None:
        if not relevant(data):
            return
        try:
            analyse(Source.from_bytes(path, data), [self.rule])
        except (Unreadable, RecursionError):
            return


def argument(site: Any) -> Any:
    """The value that decides: the divisor of a division, else the main argument."""
    return site.value("y" if site.op.name == "tf.divide" else site.op.main)


def ending(value: Any) -> str:
    """Where the trail of a value ends, in words."""
    from tfnanlint.ops.site import Site

    origin, seen = value.origin, []
    for _ in range(40):
        if isinstance(origin, Site):
            inner = [
                origin.value(p)
                for p in origin.params
                if p not in ("name", "axis", "dtype", "shape")
            ]
            inner = [
                v for v in inner if not v.known and v.kind not in ("string", "sequence", "none")
            ] or inner
            seen.append(origin.op.name)
            if not inner or all(v.known for v in inner):
                return f"{origin.op.name} of known values"
            origin = inner[0].origin
        elif origin is not None:
            if origin.parent is None:
                return (
                    " ".join("…" if "'" in word else word for word in origin.text.split())
                    or "a join"
                )
            origin = origin.parent
        else:
            break
    return "nothing said" + (f", through {seen[-1]}" if seen else "")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--unknown", choices=OPERATIONS)
    parser.add_argument("--show", default="", help="print the places whose ending holds this text")
    args = parser.parse_args()
    gc.disable()
    kind_of = {name: kind for kind, names in OPERATIONS.items() for name in names.split()}
    sites, known, endings = collections.Counter(), collections.Counter(), collections.Counter()

    def look(site: Any, here: Any) -> None:
        value, kind = argument(site), kind_of[site.op.name]
        if value.kind in ("number", "array", "string", "shape") or value.dtype in (
            "string",
            "bool",
        ):
            return  # nothing that TensorFlow computes
        sites[kind] += 1
        if value.known:
            known[kind] += 1
        elif kind == args.unknown:
            text = ending(value)
            endings[text] += 1
            if args.show and args.show in text:
                row, _ = here.source.position(here.source.span(site.node).start)
                print(f"{here.source.path}:{row} {text}\n    {here.source.line_text(row).strip()}")

    probe = Probe(" ".join(OPERATIONS.values()), look)
    for path in sorted(args.directory.rglob("*.py")):
        probe.run(str(path), path.read_bytes())
    for kind in OPERATIONS:
        print(
            f"{kind:6} {known[kind]:6} of {sites[kind]:6} known, {100 * known[kind] / max(sites[kind], 1):5.1f} %"
        )
    aimed, total = sum(known[kind] for kind in AIM), sum(sites[kind] for kind in AIM)
    print(f"{'/'.join(AIM)}: {aimed} of {total} known, {100 * aimed / max(total, 1):.1f} %")
    for text, count in endings.most_common(40):
        print(f"{count:6} {text}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
