"""Golden files: what all fixes, also those that are only suggested, make of a rule's fixture.
`python -m tfnanlint.dev.bless [--check] [SLUG ...]`.
"""

from __future__ import annotations

import argparse
import sys

from tfnanlint.dev.repository import ROOT, fixed, fixture, golden
from tfnanlint.rule.registry import Rule, load
from tfnanlint.syntax.source import Source


def blessed(rule: Rule) -> str:
    """The fixture of a rule, fixed."""
    path = fixture(rule)
    return fixed(Source.from_bytes(path.name, path.read_bytes())).source.text


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tfnanlint.dev.bless", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "slugs", nargs="*", metavar="SLUG", help="rules by slug or code; all when none is named"
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 when a file is stale"
    )
    arguments = parser.parse_args(argv)
    stale = False
    for rule in load():
        if (
            arguments.slugs
            and not {rule.slug, rule.code} & set(arguments.slugs)
            or not fixture(rule).exists()
        ):
            continue
        new, path = blessed(rule), golden(rule)
        if path.exists() and path.read_bytes() == new.encode():
            continue
        stale = True
        print(
            f"{path.relative_to(ROOT)}"
            f" {'is stale' if arguments.check else 'written: read the difference'}"
        )
        if not arguments.check:
            path.write_bytes(new.encode())
    return int(stale and arguments.check)


if __name__ == "__main__":
    sys.exit(main())
