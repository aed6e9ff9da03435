"""`tfnanlint rules`: the list of the rules, one line each."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from tfnanlint.cli.flags import rules_of
from tfnanlint.cli.outcome import CLEAN
from tfnanlint.cli.rule import as_dict
from tfnanlint.cli.terminal import columns, paint
from tfnanlint.config.layers import Rule
from tfnanlint.diagnostics import notices
from tfnanlint.diagnostics.grades import severities
from tfnanlint.report import WIDTH
from tfnanlint.report.wrap import clipped


def run(arguments: argparse.Namespace) -> int:
    """Print every rule and notice: its code, its name, what it reports and what it finds."""
    known: list[Any] = sorted((*rules_of(arguments), *notices.NOTICES), key=lambda rule: rule.code)
    if arguments.output_format == "json":
        print(json.dumps([as_dict(rule) for rule in known], indent=2))
        return CLEAN
    colours, width = paint(sys.stdout), columns(sys.stdout, WIDTH)
    name = max(len(rule.slug) for rule in known)
    for rule in known:
        text = f"{_reports(rule):<20}  {rule.slug:<{name}}  {rule.summary.rstrip('.')}"
        print(f"{colours('code', rule.code)}  {clipped(text, width - 8)}")
    return CLEAN


def _reports(rule: Rule) -> str:
    """The severities that a rule reports, or why it usually reports nothing."""
    if rule in notices.NOTICES:
        return "about files"
    return "preview" if rule.preview else severities(rule.default)
