"""docs/rules, the README's rule table, docs/conventions.md, the manual page, the schema and the pages of
verdicts, written from their sources.
`python -m tfnanlint.dev.docs [--check]`.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

from tfnanlint.config.keys import KEYS, schema
from tfnanlint.config.layers import withheld
from tfnanlint.dev import conventions, manual, scores, verdicts
from tfnanlint.dev import map as structure
from tfnanlint.dev.catalogue import StatedFix, stated_fixes
from tfnanlint.dev.repository import ROOT, claims, rule_file
from tfnanlint.diagnostics.grades import severities
from tfnanlint.rule.registry import Rule, load

_APPLIED = {
    True: "applied by `--fix`",
    False: "applied by `--fix --unsafe-fixes`",
    None: "applied according to its claim",
}
_PROMISES = {
    "EQUAL": "equal: the same function, at least as accurate",
    "EQUAL_WHERE_FINITE": "equal wherever the result was finite, finite elsewhere",
    "SHIFTED": "values move",
}


def pages(rules: tuple[Rule, ...]) -> dict[Path, str]:
    """Every generated file and what belongs in it."""
    found = {ROOT / "docs" / "rules" / f"{rule.slug}.md": page(rule) for rule in rules}
    found[ROOT / "docs" / "rules" / "README.md"] = f"# Rules\n\n{WRITTEN}\n\n{table(rules, '')}"
    readme = ROOT / "README.md"
    found[readme] = with_table(
        with_table(readme.read_text(), table(rules, "docs/rules/")), settings(), "settings"
    )
    found[ROOT / "docs" / "conventions.md"] = conventions.page()
    found[ROOT / "docs" / "fixes.md"] = scores.page()
    found |= verdicts.pages()
    architecture = ROOT / "docs" / "architecture.md"
    found[architecture] = with_table(architecture.read_text(), structure.table(ROOT), "packages")
    found[ROOT / "docs" / "tfnanlint.1"] = manual.page()
    found[ROOT / "docs" / "tfnanlint.schema.json"] = json.dumps(schema(), indent=2) + "\n"
    return found


WRITTEN = "<!-- written by python -m tfnanlint.dev.docs from the files in rules/ -->"


def page(rule: Rule) -> str:
    """The page of one rule: its docstring, what it reports by default, its fixes."""
    summary, _, body = rule.doc.strip().partition("\n")
    parts = [
        f"# {rule.code} {rule.slug}",
        WRITTEN,
        summary.strip(),
        facts(rule),
        with_code_blocks(body.strip()),
    ]
    fixes = stated_fixes(rule)
    if fixes:
        parts.append("## Fixes\n\n" + "\n".join(fix_line(one, rule) for one in fixes))
        if claims(rule).exists():
            path = claims(rule).relative_to(ROOT).as_posix()
            parts.append(
                f"Each is executed in TensorFlow before and after, value and gradient, in eager mode, in `tf.function` and "
                f"with `jit_compile=True`: [{path}](../../{path}); all figures: [docs/fixes.md](../fixes.md#{rule.code.lower()}-{rule.slug})."
            )
    path = rule_file(rule).relative_to(ROOT).as_posix()
    parts.append(
        f"Hide a finding with `# tfn: ignore[{rule.code}]`. The rule: [{path}](../../{path})."
    )
    return "\n\n".join(parts) + "\n"


def facts(rule: Rule) -> str:
    said = [f"Reports: {severities(rule.default)}."]
    if rule.silent:
        said.append(f"With `--certainty` only: {withheld(rule)}.")
    if rule.preview:
        said.append("In preview: runs only with `--preview` or when it is selected.")
    if rule.over:
        said.append(f"At the same place it replaces {', '.join(rule.over)}.")
    return " ".join(said)


def with_code_blocks(text: str) -> str:
    """`Bad:` and `Good:` with their indented lines as headings and Python blocks."""

    def block(match: re.Match[str]) -> str:
        lines = "\n".join(line[4:] for line in match.group(2).rstrip("\n").split("\n"))
        return f"**{match.group(1)}:**\n\n```python\n{lines}\n```\n"

    return re.sub(
        r"^(Bad|Good):\n((?:(?: {4}.*)?\n?)+?)(?=^\S|\Z)",
        lambda m: block(m) + "\n",
        text,
        flags=re.MULTILINE,
    ).rstrip()


def fix_line(fix: StatedFix, rule: Rule) -> str:
    """A fix, what it promises, and what it scored."""
    scored = scores.figures(rule, fix.pattern)
    promise = _PROMISES.get(fix.claim, "equal, or moves values: the finding says which")
    return f"* {fix.text} ({promise}; {_APPLIED[fix.safe]})" + (f":\n  {scored}" if scored else "")


def table(rules: tuple[Rule, ...], folder: str) -> str:
    """One line a rule."""
    rows = ["| code | name | finds | reports | fix |", "|---|---|---|---|---|"]
    for rule in rules:
        summary = rule.summary.rstrip(".")
        rows.append(
            f"| {rule.code} | [{rule.slug}]({folder}{rule.slug}.md) | {summary} | {severities(rule.default)}{' (preview)' if rule.preview else ''} | {fix_column(rule)} |"
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
    wanted = pages(load())
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    stale += [path for path in (ROOT / "docs" / "rules").glob("*.md") if path not in wanted]
    for path in stale:
        print(
            f"{path.relative_to(ROOT)} {'is stale' if check else 'written' if path in wanted else 'removed'}"
        )
        if check:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(wanted[path]) if path in wanted else path.unlink()
    return int(bool(stale) and check)


if __name__ == "__main__":
    sys.exit(main())
