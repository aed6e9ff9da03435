"""What the rewrites scored on TensorFlow (docs/fixes.json, written by benchmarks/fixes.py), as
pages show it.
"""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from typing import Any, Iterable

from tfnanlint.dev.repository import ROOT
from tfnanlint.rule.registry import MODES, Rule

DATA = ROOT / "docs" / "fixes.json"
MOST = 1.0  # bits that an equal rewrite may lose on average


@lru_cache(maxsize=1)
def rows() -> list[dict[str, Any]]:
    """One row a rewrite, by rule and name."""
    return json.loads(DATA.read_text()) if DATA.exists() else []


def dumped(records: Iterable[dict[str, Any]]) -> str:
    """The data as text, one line a row."""
    return "[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in records) + "\n]\n"


def digest(case: Any) -> str:
    """What a row was computed from: the program and what its comments say, in short."""
    said = json.dumps([case.program, sorted(case.says.items())])
    return hashlib.sha256(said.encode()).hexdigest()[:12]


def faults(records: Iterable[dict[str, Any]]) -> list[str]:
    """What no rewrite may do, and each that does: not finite, equal but worse, another shape or
    dtype, a gradient that dies.
    """
    said = []
    for row in records:
        name = f"{row['code']} {row['function']}"
        bad = {
            mode
            for key in ("value", "gradient")
            for mode, (_, after) in zip(row["modes"], row[f"non-finite {key}"])
            if after
        }
        said += [f"{name}: not finite after the fix in {', '.join(sorted(bad))}"] if bad else []
        said += [] if row["kept"] else [f"{name}: another shape or dtype after the fix"]
        before, after = row.get("alive on ordinary inputs", (None, None))
        said += (
            [f"{name}: less of the gradient is alive on ordinary inputs"]
            if (after or 0.0) < (before or 0.0)
            else []
        )
        said += [
            f"{name}: the {key} loses {lost:.1f} bits on average"
            for key in ("value", "gradient")
            if row["claim"] == "equal" and (lost := loss(row, f"{key}, model-like")) > MOST
        ]
    return said


def loss(row: dict[str, Any], key: str) -> float:
    """By how many bits on average the rewrite is worse than the original."""
    before, after = row.get(key) or (None, None)
    return after[0] - before[0] if before and after else 0.0


def page() -> str:
    """docs/fixes.md: one row a rewrite."""
    records = rows()
    parts = [
        _HEAD.format(
            count=len(records),
            rules=len({row["code"] for row in records}),
            other=_other_truths(records),
        )
    ]
    for code in sorted({row["code"] for row in records}):
        own = [row for row in records if row["code"] == code]
        parts.append(
            f"## {code} [{own[0]['rule']}](rules/{own[0]['rule']}.md)\n\n{_TABLE}"
            + "".join(map(_line, own))
        )
    return "\n".join(parts)


def _other_truths(records: Iterable[dict[str, Any]]) -> str:
    exceptions = [
        f"`{row['function']}` ({row['truth']})"
        for row in records
        if row.get("truth", "mpmath") != "mpmath"
    ]
    return f" The exceptions are {', '.join(exceptions)}." if exceptions else ""


_HEAD = """\
# Every rewrite, before and after

<!-- written by python -m tfnanlint.dev.docs from docs/fixes.json, \
which benchmarks/fixes.py writes -->

This page is the record of {count} rewrites of {rules} rules, executed on TensorFlow 2.21 (CPU). \
Each row is one function of
`fixtures/claims`. A cell with an arrow shows *before → after* the rewrite. \
To choose a repair, read the page of the rule: it has
the same rewrites in words. Where a rewrite is applied and where it is only suggested, \
[which fixes are applied](adoption.md#which-fixes-are-applied) says.

* **not finite**: the share of the hazard inputs on which the value, or the gradient, \
contains a NaN or Inf. The three figures are for
  eager execution, `tf.function` and `jit_compile` (– where XLA cannot compile the function). \
This share is not part of the errors.
* **value**, **gradient**: the error in bits, log2(floats between result and truth + 1), \
as mean / 99th percentile / largest. The
  inputs are model-like, or bit-uniform (every float of the range is equally likely). \
Elements that are not finite are left out.
  The truth is the original function in real numbers, computed by mpmath to a hundred digits. \
So the error includes any change of
  the result that the rewrite makes.{other}
* **alive**: the share of the gradient's elements on hazard inputs that are finite and not 0.
* **gradient alive on ordinary inputs**: the same share on model-like inputs. A fix never lowers it.
* **ops**: the number of graph nodes that compute something. \
Times differ between machines and are not recorded here:
  `benchmarks/fixes.py --time` measures the ratio of the time after to the time before.

All rewrites keep shape and dtype. `benchmarks/fixes.py` computes the figures again.
"""
_TABLE = """\
| function | rewrite | claim | not finite: value | not finite: gradient \
| value, model-like | value, bit-uniform | gradient, model-like | gradient, bit-uniform \
| alive | gradient alive on ordinary inputs | ops | range |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
"""


def _line(row: dict[str, Any]) -> str:
    cells = [
        f"`{row['function']}`",
        row["fix"].replace("|", "\\|"),
        row["claim"].replace("-", " "),
        _modes(row, "value"),
        _modes(row, "gradient"),
    ]
    cells += [
        _bits(row.get(f"{key}, {name}"))
        for key in ("value", "gradient")
        for name in ("model-like", "bit-uniform")
    ]
    cells += [
        _pair(row["alive"], _percent),
        _pair(row.get("alive on ordinary inputs"), _percent),
        _pair(row.get("ops"), str),
        row["range"],
    ]
    return f"| {' | '.join(cells)} |\n"


def _modes(row: dict[str, Any], key: str) -> str:
    shares = dict(zip(row["modes"], row[f"non-finite {key}"]))
    before, after = (
        " ".join(_percent(shares[mode][i]) if mode in shares else "–" for mode in MODES)
        for i in (0, 1)
    )
    return f"{before} → {after}"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f} %"


def _pair(pair: list | None, text: Any) -> str:
    return "–" if pair is None else " → ".join(map(text, pair))


def _bits(pair: list | None) -> str:
    if pair is None:
        return "–"
    return " → ".join(
        "–" if one is None else " / ".join(f"{part:.1f}" for part in one) for one in pair
    )


def figures(rule: Rule, pattern: Any) -> str:
    """What the rewrites of one fix scored, in a sentence; empty where it was not executed."""
    own = [row for row in rows() if row["code"] == rule.code and pattern.fullmatch(row["fix"])]
    if not own:
        return ""
    before, after = (
        _percent(
            max(
                pair[i]
                for row in own
                for key in ("value", "gradient")
                for pair in row[f"non-finite {key}"]
            )
        )
        for i in (0, 1)
    )
    said = f"not finite on {before} of the hazard inputs before, {after} after"
    exact = [
        row["value, model-like"]
        for row in own
        if row.get("value, model-like") and all(row["value, model-like"])
    ]
    if exact:
        old, new = (max(pair[i][0] for pair in exact) for i in (0, 1))
        said += f"; {old:.1f} → {new:.1f} bits of error on ordinary ones"
    return f"{said} (the worst of {len(own)})" if len(own) > 1 else said
