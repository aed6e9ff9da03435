"""Start a rule: its file, fixture and claims, to be completed.
`python -m tfnanlint.dev.new_rule CODE SLUG OP`.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from tfnanlint.dev.repository import ROOT
from tfnanlint.ops.table import Op
from tfnanlint.ops.table import load as load_table
from tfnanlint.rule.registry import load

RULE = '''"""TODO: one line that says what is wrong, ending in a period.

TODO: why it is wrong, with numbers: which input, what becomes NaN or Inf or dead, in which mode.

Bad:
    y = {call}

Good:
    y = {call}  # TODO: the same, safe

TODO: what to do where there is no fix; a rule without any says "There is no automatic fix" and why.

See also: TODO, a link to the documentation of TensorFlow.

Seen in the wild:
TODO: a link to a public report. Where there is none, one sentence in the place of both lines:
No public report known; included because executing it shows the problem.
"""

from tfnanlint.api import Certainty, Claim, Context, Finding, Iterator, Site, rule, words


@rule(
    "{code}",
    "{slug}",
    on="{op}",
    fixes="TODO",  # the names of its fixes in tfnanlint/diagnostics/fix_names.py
)
def check(site: Site, here: Context) -> Iterator[Finding]:
    {param} = site.value("{param}")
    if {param}.positive or not here.numeric({param}):  # TODO: which values are safe
        return
    fixes = here.rewrite(
        site,
        "{template}",
        title="TODO: what it does",
        claim=Claim.SHIFTED,  # TODO: by how much: cost=
        {param}=site.args.get("{param}"),
    )
    yield here.finding(
        site,
        "{param}",
        f"TODO: what becomes NaN and why ({{words({param})}})",
        Certainty.MAY,
        fixes,
    )
'''
FIXTURE = '''"""{code} {slug}."""
import tensorflow as tf


def direct({arguments}):
    return {call}  # want: {code} "TODO: some words of the message"


# TODO: also where the value comes through a variable, what a helper of the file gives, \
another spelling of the op
# (tests/support/crossings.py asks for these three), a class attribute, a dict, a loop


def guarded({arguments}):
    return {call}  # ok: TODO the guards that people write
'''
CLAIMS = '''"""Executed claims of {code}.

TODO: `vocabulary` in tests/support/stages.py names the inputs, \
tests/support/claims.py explains the lines.
"""

import tensorflow as tf


# fix: TODO: what it does
# hazard: {inputs_hazard}
# ordinary: {inputs_ordinary}
def direct({arguments}):
    return {call}
'''


def started(code: str, slug: str, row: Op) -> dict[str, str]:
    """Path (from the top of the checkout) -> text of the files that a rule on `row` begins with."""
    parameters = [p.lstrip("*") for p in row.params if p != "name"][: max(1, len(row.needs))] or [
        "x"
    ]
    call = f"{row.name}({', '.join(parameters)})"
    holes = {
        "code": code,
        "slug": slug,
        "op": row.name,
        "param": row.main or parameters[0],
        "call": call,
        "arguments": ", ".join(parameters),
        "template": f"{row.name}({', '.join('{%s}' % p for p in parameters)})",
        "inputs_hazard": ", ".join(f"{p} = zeros" for p in parameters),
        "inputs_ordinary": ", ".join(f"{p} = positive" for p in parameters),
    }
    stem = slug.replace("-", "_")
    return {
        path: text.format(**holes)
        for path, text in (
            (f"rules/{stem}.py", RULE),
            (f"fixtures/rules/{stem}.py", FIXTURE),
            (f"fixtures/claims/{stem}.py", CLAIMS),
        )
    }


def main(argv: list[str] | None = None, root: Path = ROOT) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tfnanlint.dev.new_rule", description=__doc__.splitlines()[0]
    )
    parser.add_argument("code", help="TFN and three digits")
    parser.add_argument("slug", help="words joined by '-'; reads well after 'ignore'")
    parser.add_argument("op", help="canonical name of the op it looks at, such as tf.math.log")
    arguments = parser.parse_args(argv)
    taken = {word for one in load() for word in (one.code, one.slug)}
    row = load_table().get(arguments.op)
    for wrong, problem in (
        (
            not re.fullmatch(r"TFN\d{3}", arguments.code),
            f"{arguments.code} is not TFN and three digits",
        ),
        (
            not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", arguments.slug),
            f"{arguments.slug} is not words joined by '-'",
        ),
        (
            {arguments.code, arguments.slug} & taken,
            f"{arguments.code} or {arguments.slug} is taken",
        ),
        (row is None, f"{arguments.op} has no row in tfnanlint/ops; add one first"),
    ):
        if wrong:
            parser.error(problem)
    files = started(arguments.code, arguments.slug, row)
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        with open(root / path, "x", encoding="utf-8") as file:
            file.write(text)
        print(path)
    print(
        f"Complete what says TODO, then: python -m tfnanlint.dev.bless {arguments.slug} && python"
        f" benchmarks/fixes.py --only {arguments.slug} && python -m tfnanlint.dev.docs && python -m"
        f" pytest -k {arguments.slug}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
