#!/usr/bin/env python3
"""Score every rewrite of every rule on TensorFlow, before and after: fixes.py [--only WORD]
[--processes N] [--time]

Each function of fixtures/claims is run as it is and as the product rewrites it.

* Non-finite: share of the hazard inputs on which a value or a gradient is NaN or Inf, in eager mode, in tf.function and with
  jit_compile. It is never averaged into the error.
* Error: bits lost, log2(floats between answer and truth + 1), of value and gradient apart: mean, 99th percentile and worst. The
  truth is the original function in real numbers, to a hundred digits (`exact.py`); `truth` says where it is something else.
* Two distributions: model-like, the case's ordinary inputs drawn anew; bit-uniform, every float of a range as likely as every
  other (the range follows from the ordinary inputs: see `spread`). Op by op, without TensorFlow's optimizer, as eager code is.
* Alive: share of the gradient's elements that are finite and not 0, on hazard inputs and on ordinary ones.
* Ops: nodes of the function's graph that compute something. Shape and dtype: whether they are kept.

Writes docs/fixes.json, from which docs/fixes.md and the figures on the rule pages are made. With
`--time` it writes nothing and prints how long a step (value and gradient, in tf.function) takes
after the rewrite, as a ratio to before, on inputs of a few thousand rows: that differs from machine
to machine, so that no committed table could be checked against it.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import stages  # noqa: E402
from claims import Case, cases, repaired  # noqa: E402

from tfnanlint.dev import scores  # noqa: E402

MANY = 24  # inputs of each distribution; each has 12 elements


class Program:
    """One function before or after its fix, run in every mode; traced once a mode and dtype."""

    def __init__(self, text: str, name: str) -> None:
        self.text, self.name = text, name
        self._steps: dict[tuple[str, str], Any] = {}

    def run(self, points: list[list[Any]], mode: str, dtype: str = "float32") -> list[list[Any]]:
        """For every input: the values, then the gradients, as arrays of the dtype that TensorFlow
        gave them.
        """
        if (mode, dtype) not in self._steps:
            self._steps[mode, dtype] = self._made(mode, dtype)
        step = self._steps[mode, dtype]
        with _graphs(optimized=mode != "plain"):
            return [_arrays(step(*tensors(point, dtype))) for point in points]

    def _made(self, mode: str, dtype: str) -> Any:
        import tensorflow as tf

        step = self.step()
        return step if mode == "eager" else tf.function(step, jit_compile=mode == "xla")

    def step(self) -> Any:
        """The function with its gradient."""
        return stages._step(stages.function(self.text, self.name))

    def seconds(self, point: list[Any], mode: str, times: int) -> float:
        """How long one of some runs takes, after one that is not counted."""
        self.run([point], mode)
        step, given = self._steps[mode, "float32"], tensors(point, "float32")
        start = time.perf_counter()
        for _ in range(times):
            step(*given)
        return (time.perf_counter() - start) / times

    def ops(self, point: list[Any]) -> int:
        """Nodes of the graph that compute something."""
        import tensorflow as tf

        one = stages.function(self.text, self.name)
        kinds = {"f": "float32", "i": "int32"}
        specs = [tf.TensorSpec(x.shape, kinds.get(x.dtype.kind, x.dtype)) for x in point]
        idle = ("Const", "Placeholder", "Identity", "NoOp", "StopGradient", "ReadVariableOp")
        return sum(
            op.type not in idle
            for op in tf.function(one).get_concrete_function(*specs).graph.get_operations()
        )


@contextmanager
def _graphs(optimized: bool) -> Iterator[None]:
    """Within it TensorFlow optimizes graphs or leaves them as they are written. The setting belongs
    to the process; afterwards graphs are optimized, as by default.
    """
    import tensorflow as tf

    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": not optimized})
    try:
        yield
    finally:
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": False})


def _arrays(results: tuple[list[Any], list[Any]]) -> list[list[Any]]:
    """Values and gradients as arrays."""
    import numpy as np

    return [[np.asarray(result) for result in part] for part in results]


def tensors(point: list[Any], dtype: str) -> list[Any]:
    """An input as a program is given it: fractions in a dtype."""
    import tensorflow as tf

    return [
        tf.constant(
            x, dtype if x.dtype.kind == "f" else "int32" if x.dtype.kind == "i" else x.dtype
        )
        for x in point
    ]


def bits(answer: Any, truth: Any) -> Any:
    """log2(floats between + 1) for every element where both are finite; a flat array."""
    import numpy as np

    answer, truth = np.asarray(answer).ravel(), np.asarray(truth, "float64").ravel()
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = truth.astype(answer.dtype)
    fine = np.isfinite(answer.astype("float64")) & np.isfinite(rounded.astype("float64"))
    steps = np.abs(ordinal(answer[fine]) - ordinal(rounded[fine]))
    return np.log2(steps + 1.0)


def ordinal(x: Any) -> Any:
    """The place of floats among all floats of their dtype, as float64; -0 and 0 are at the same
    place.
    """
    import numpy as np

    size = x.dtype.itemsize
    whole = x.view({2: "int16", 4: "int32", 8: "int64"}[size]).astype("float64")
    lowest = -(2.0 ** (8 * size - 1))
    return np.where(whole < 0, lowest - whole, whole)


def summary(errors: list[Any]) -> list[float] | None:
    """Mean, 99th percentile and worst."""
    import numpy as np

    if not errors or not (whole := np.concatenate(errors)).size:
        return None
    return [round(float(one), 2) for one in (whole.mean(), np.percentile(whole, 99), whole.max())]


def spread(x: Any, draw: Any) -> tuple[Any, str]:
    """Bit-uniform floats in the range that ordinary inputs show, and that range in words; whole
    numbers stay as they are.
    """
    import numpy as np

    if x.dtype.kind != "f" or np.all(x == np.round(x)):
        return x, "as they are"
    size = np.exp2(
        draw.uniform(-20, 0 if np.abs(x).max() < 1 and x.min() >= 0 else 6, size=x.shape)
    )
    if x.min() >= 0:
        if np.allclose(x.sum(-1), 1.0):
            return size / size.sum(-1, keepdims=True), "rows that sum to 1"
        return size, "[1e-6, 1]" if size.max() <= 1 else "[1e-6, 64]"
    if x.max() <= 0:
        return -size, "[-64, -1e-6]"
    return size * draw.choice((-1.0, 1.0), size=x.shape), "±[1e-6, 64]"


def score(case: Case) -> dict[str, Any]:
    """One row: all figures before and after."""
    import numpy as np

    fixed = repaired(case)
    pair = [Program(case.source.text, case.function), Program(fixed.text, case.function)]
    hazard = stages.inputs(case.says["hazard"], case.names)
    ordinary = stages.inputs(case.says["ordinary"], case.names, MANY)[:MANY]
    draw = np.random.default_rng(11)
    columns = [
        spread(np.stack([point[i] for point in ordinary]), draw) for i in range(len(case.names))
    ]
    uniform = [[column[k] for column, _ in columns] for k in range(len(ordinary))]
    row: dict[str, Any] = {
        "id": case.id,
        "code": case.rule.code,
        "rule": case.rule.slug,
        "function": case.function,
        "fix": fixed.fix.title,
        "claim": fixed.fix.claim.value,
        "cost": fixed.fix.cost,
        "digest": scores.digest(case),
        "modes": list(case.modes),
        "range": ", ".join(f"{name} {words}" for name, (_, words) in zip(case.names, columns)),
    }
    results = {mode: [one.run(hazard, mode) for one in pair] for mode in case.modes}
    for part, key in ((0, "value"), (1, "gradient")):
        row[f"non-finite {key}"] = [
            [share(one, part) for one in results[mode]] for mode in case.modes
        ]
    first = results[case.modes[0]]
    row["alive"] = [alive(one) for one in first]
    row["alive on ordinary inputs"] = [alive(one.run(ordinary, case.modes[0])) for one in pair]
    if "xla" != case.modes[0]:
        row["ops"] = [one.ops(ordinary[0]) for one in pair] if "graph" in case.modes else None
        row |= accuracy(case, pair, {"model-like": ordinary, "bit-uniform": uniform})
    row["kept"] = all(
        a.shape == b.shape and a.dtype == b.dtype
        for before, after in zip(*first)
        for a, b in zip(before[0] + before[1], after[0] + after[1])
    )
    return row


def share(outcome: list[list[Any]], part: int) -> float:
    """Of the inputs, the share with a NaN or Inf."""
    import numpy as np

    bad = [
        any(not np.isfinite(one.astype("float64")).all() for one in point[part])
        for point in outcome
    ]
    return round(sum(bad) / len(bad), 3)


def alive(outcome: list[list[Any]]) -> float | None:
    """Of the gradient's elements, the share that is finite and not 0; None where there is no
    gradient.
    """
    import numpy as np

    parts = [one.astype("float64").ravel() for point in outcome for one in point[1]]
    if not parts:
        return None
    whole = np.concatenate(parts)
    return round(float((np.isfinite(whole) & (whole != 0)).mean()), 3)


def accuracy(case: Case, pair: list[Program], inputs: dict[str, list]) -> dict[str, Any]:
    """The error of both programs on each distribution."""
    mode = "plain" if "graph" in case.modes else "eager"
    row: dict[str, Any] = {}
    for name, points in inputs.items():
        row["truth"], truth = true(pair[0], points, mode)
        answers = [one.run(points, mode) for one in pair]
        for part, key in ((0, "value"), (1, "gradient")):
            row[f"{key}, {name}"] = [
                summary(
                    [
                        bits(a, t)
                        for point, right in zip(outcome, truth)
                        for a, t in zip(point[part], right[part])
                        if a.dtype.kind == "f"
                    ]
                )
                for outcome in answers
            ]
    return row


def true(original: Program, points: list, mode: str) -> tuple[str, list]:
    """How the truth was found, and what it is at every point."""
    import exact

    try:
        real = exact.Exact(original.step(), points[0])
    except exact.Unknown as unknown:
        return f"float64, for {unknown} is not known to exact.py", original.run(
            points, mode, "float64"
        )
    except ValueError:  # Keras, asked to make variables inside of tf.function
        return "float64, for it makes variables", original.run(points, "eager", "float64")
    return "mpmath", [real.run(point) for point in points]


def scored(chosen: list[Case]) -> list[dict[str, Any]]:
    """The rows of some cases, in this process."""
    import tensorflow as tf

    tf.get_logger().setLevel("ERROR")
    rows = []
    for case in chosen:
        start = time.monotonic()
        try:
            rows.append(score(case))
        except LookupError as error:
            raise SystemExit(f"{case.id}: {error}") from None
        tf.keras.backend.clear_session()
        print(f"{case.id}: {time.monotonic() - start:.1f} s", file=sys.stderr, flush=True)
    return rows


def timed(case: Case, rows: int = 4096, rounds: int = 7, times: int = 20) -> str:
    """A row of words: the time of a step after the rewrite as a ratio to before, the median of
    rounds that take turns.
    """
    import numpy as np
    import tensorflow as tf

    pair = [Program(case.source.text, case.function), Program(repaired(case).text, case.function)]
    mode = "graph" if "graph" in case.modes else case.modes[0]
    point = stages.inputs(case.says["ordinary"], case.names, 1)[0]
    large = [np.concatenate([one] * rows) if one.ndim else one for one in point]
    try:
        pair[0].run([large], mode)
    # shapes that belong together, as those of matrices: then as they are
    except (ValueError, tf.errors.OpError):
        large, rows = point, 1
    ratios = []
    for _ in range(rounds):
        before, after = (one.seconds(large, mode, times) for one in pair)
        ratios.append(after / before)
    return f"{statistics.median(ratios):6.2f}  ({min(ratios):.2f} to {max(ratios):.2f})  {case.id}, {mode}, {rows} times the rows"


def in_processes(count: int, only: str) -> list[dict[str, Any]]:
    """The rows of all cases, each process taking every `count`-th."""
    with tempfile.TemporaryDirectory() as folder:
        files = [pathlib.Path(folder) / f"{part}.json" for part in range(count)]
        running = [
            subprocess.Popen(
                [
                    sys.executable,
                    __file__,
                    "--part",
                    f"{part}/{count}",
                    "--only",
                    only,
                    "--json",
                    str(path),
                ]
            )
            for part, path in enumerate(files)
        ]
        if any([one.wait() for one in running]):
            raise SystemExit("a process failed; nothing is written")
        return [row for path in files for row in json.loads(path.read_text())]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only",
        default="",
        help="score only the cases whose name holds this word, and keep the other rows",
    )
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--time",
        action="store_true",
        help="print how long a step takes after each rewrite, as a ratio to before",
    )
    parser.add_argument("--part", help=argparse.SUPPRESS)
    parser.add_argument("--json", type=pathlib.Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.part:
        part, _, count = args.part.partition("/")
        chosen = [case for case in cases() if args.only in case.id][int(part) :: int(count)]
        args.json.write_text(json.dumps(scored(chosen)))
        return 0
    if args.time:
        for case in cases():
            if args.only in case.id:
                print(timed(case), flush=True)
        return 0
    rows = in_processes(args.processes, args.only)
    if args.only:
        present = {case.id for case in cases()}
        rows += [
            row for row in scores.rows() if args.only not in row["id"] and row["id"] in present
        ]
    scores.DATA.write_text(scores.dumped(sorted(rows, key=lambda row: (row["code"], row["id"]))))
    print("written; now run python -m tfnanlint.dev.docs", file=sys.stderr)
    faults = scores.faults(rows)
    print("\n".join(faults) or "no fault found", file=sys.stderr)
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
