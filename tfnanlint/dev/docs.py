"""docs/rules, the README's rule table, docs/conventions.md, the manual page, the schema, the
scripts of `tfnanlint completion` and the pages of verdicts, written from their sources. `python -m
tfnanlint.dev.docs [--check]`.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import textwrap
from pathlib import Path

from tfnanlint.config.keys import KEYS, schema
from tfnanlint.dev import (
    completions,
    conventions,
    executed_repairs,
    figures,
    manual,
    scores,
    verdicts,
)
from tfnanlint.dev import map as structure
from tfnanlint.dev.catalogue import stated_fixes
from tfnanlint.dev.repository import ROOT, claims, rule_file
from tfnanlint.diagnostics.grades import severities
from tfnanlint.pipeline import repairs
from tfnanlint.pipeline.rule_page import REPAIR, SECTIONS, SEE, sections
from tfnanlint.rule.registry import Rule, load


def pages(rules: tuple[Rule, ...]) -> dict[Path, str]:
    """Every generated file and what belongs in it."""
    contents = {ROOT / "docs" / "rules" / f"{rule.slug}.md": page(rule, rules) for rule in rules}
    contents[ROOT / "docs" / "rules" / "README.md"] = f"# Rules\n\n{WRITTEN}\n\n{table(rules, '')}"
    readme = ROOT / "README.md"
    contents[readme] = with_table(
        with_table(readme.read_text(), table(rules, "docs/rules/")), settings(), "settings"
    )
    contents[ROOT / "docs" / "conventions.md"] = conventions.page()
    contents[ROOT / "docs" / "fixes.md"] = scores.page()
    contents[repairs.DATA] = executed_repairs.data(rules)
    contents |= verdicts.pages()
    contents |= completions.scripts()
    architecture = ROOT / "docs" / "architecture.md"
    contents[architecture] = with_table(architecture.read_text(), structure.table(ROOT), "packages")
    contents[ROOT / "docs" / "tfnanlint.1"] = manual.page()
    contents[ROOT / "docs" / "tfnanlint.schema.json"] = json.dumps(schema(), indent=2) + "\n"
    return contents


WRITTEN = "<!-- written by python -m tfnanlint.dev.docs from the files in rules/ -->"


def page(rule: Rule, known: tuple[Rule, ...]) -> str:
    """The page of one rule: the sections of its docstring, and its fixes."""
    parts = [f"# {rule.code} {rule.slug}", WRITTEN]
    parts_of = sections(rule, known)
    figure = figures.shown(rule.slug)
    for name in SECTIONS:
        shown = [with_code_blocks(parts_of[name])] if name in parts_of else []
        if name == SEE and figure:
            shown.append(figure)
        if shown:
            parts += [f"## {name}", *shown]
        if name == REPAIR:
            parts += fix_lines(rule)
    path = rule_file(rule).relative_to(ROOT).as_posix()
    parts.append(f"The rule: [{path}](../../{path}).")
    return "\n\n".join(parts) + "\n"


def fix_lines(rule: Rule) -> list[str]:
    """Where the fixes of a rule are executed."""
    if not rule.fixes or not claims(rule).exists():
        return []
    path = claims(rule).relative_to(ROOT).as_posix()
    return [
        "Each fix is executed in TensorFlow before and after, value and gradient, in eager "
        "mode, in `tf.function` and with `jit_compile=True`: "
        f"[{path}](../../{path}). All figures: "
        f"[docs/fixes.md](../fixes.md#{rule.code.lower()}-{rule.slug})."
    ]


def with_code_blocks(text: str) -> str:
    """`Bad:` and `Good:` with their indented lines as headings and Python blocks; a text that
    begins with an indented line as one block.
    """

    def block(match: re.Match[str]) -> str:
        lines = "\n".join(line[4:] for line in match.group(2).rstrip("\n").split("\n"))
        return f"**{match.group(1)}:**\n\n```python\n{lines}\n```\n"

    if text.startswith("    "):
        return "```python\n" + textwrap.dedent(text) + "\n```"
    return re.sub(
        r"^(Bad|Good):\n((?:(?: {4}.*)?\n?)+?)(?=^\S|\Z)",
        lambda m: block(m) + "\n",
        text,
        flags=re.MULTILINE,
    ).rstrip()


def table(rules: tuple[Rule, ...], folder: str) -> str:
    """One line a rule."""
    rows = ["| code | name | finds | reports | fix |", "|---|---|---|---|---|"]
    for rule in rules:
        summary = rule.summary.rstrip(".")
        rows.append(
            f"| {rule.code} | [{rule.slug}]({folder}{rule.slug}.md) | {summary} "
            f"| {severities(rule.default)}{' (preview)' if rule.preview else ''} "
            f"| {fix_column(rule)} |"
        )
    return "\n".join(rows) + "\n"


def settings() -> str:
    """One line a configuration key."""
    rows = ["| key | default | meaning |", "|---|---|---|"]
    for name, key in KEYS.items():
        default = (
            "the built-in list"
            if name == "exclude"
            else "none"
            if key.default is None
            else f"`{json.dumps(key.default)}`"
        )
        rows.append(f"| `{name}` | {default} | {key.meaning} |")
    return "\n".join(rows) + "\n"


def fix_column(rule: Rule) -> str:
    kinds = {one.safe for one in stated_fixes(rule)}
    words = [
        word
        for word, is_so in (
            ("safe", True in kinds or None in kinds),
            ("unsafe", False in kinds or None in kinds),
        )
        if is_so
    ]
    return ", ".join(words) or "–"


def with_table(text: str, rows: str, name: str = "rules") -> str:
    """A text with a table between its markers. Raises ValueError when they are missing."""
    head, begin, rest = text.partition(f"<!-- {name}: begin -->\n")
    _, end, tail = rest.partition(f"<!-- {name}: end -->")
    if not begin or not end:
        raise ValueError(f"README.md has no markers for its {name}")
    return f"{head}{begin}{rows}{end}{tail}"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tfnanlint.dev.docs", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 when a file is stale"
    )
    check = parser.parse_args(argv).check
    if not check:  # the pages quote it
        repairs.DATA.write_text(executed_repairs.data(load()))
    wanted = pages(load())
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    stale += [path for path in (ROOT / "docs" / "rules").glob("*.md") if path not in wanted]
    for path in stale:
        print(
            f"{path.relative_to(ROOT)} "
            f"{'is stale' if check else 'written' if path in wanted else 'removed'}"
        )
        if check:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(wanted[path]) if path in wanted else path.unlink()
    return int(bool(stale) and check)


if __name__ == "__main__":
    sys.exit(main())
