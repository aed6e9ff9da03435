"""`tfnanlint rule`: what a rule finds and why."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict

from tfnanlint.cli.flags import rules_of
from tfnanlint.cli.outcome import CLEAN, fail
from tfnanlint.cli.terminal import columns, paint
from tfnanlint.config.layers import Rule, hint
from tfnanlint.diagnostics import notices
from tfnanlint.pipeline.repairs import repairs
from tfnanlint.pipeline.rule_page import page


def run(arguments: argparse.Namespace) -> int:
    if bool(arguments.rule) == arguments.all:
        arguments.parser.error("name one rule, or give --all; `tfnanlint rules` lists them")
    known: list[Rule] = sorted((*rules_of(arguments), *notices.NOTICES), key=lambda rule: rule.code)
    every = tuple(known)
    if not arguments.all:
        word = arguments.rule
        wanted = [rule for rule in known if word.upper() == rule.code or word.lower() == rule.slug]
        if not wanted:
            names = [name for rule in known for name in (rule.code, rule.slug)]
            return fail(f"unknown rule `{word}`{hint(word, names)}")
        known = wanted
    if arguments.output_format == "json":
        import json

        described = [as_dict(rule) for rule in known]
        print(json.dumps(described if arguments.all else described[0], indent=2))
        return CLEAN
    plain = arguments.output_format != "markdown"
    text = "\n\n".join(page(rule, every, plain) for rule in known)
    if arguments.output_format == "markdown":
        from tfnanlint.cli.markdown import fenced

        text = fenced(text)
    else:
        text = _for_terminal(text)
    print(text)
    return CLEAN


def _for_terminal(text: str) -> str:
    """A page as a terminal shows it: as wide as that is, and in colour."""
    from tfnanlint.cli.markdown import folded, painted

    width = columns(sys.stdout, 0)
    colours = paint(sys.stdout)
    text = folded(text, width) if width else text
    return painted(text, colours) if colours.coloured else text


def as_dict(rule: Rule) -> dict[str, object]:
    """A rule as JSON shows it."""
    return {
        "code": rule.code,
        "name": rule.slug,
        "summary": rule.summary,
        "explanation": rule.doc,
        "default": [grade.name.lower() for grade in sorted(rule.default, reverse=True)],
        "silent": sorted(one.name for one in rule.silent),
        "preview": rule.preview,
        "over": list(rule.over),
        "fixes": list(rule.fixes),
        "repairs": [asdict(row) for row in repairs(rule.code, rule.doc)],
    }
