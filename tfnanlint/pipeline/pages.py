"""Where the page of a rule can be read: in the checkout, or written out from the rule itself."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from tfnanlint.config.layers import Rule
from tfnanlint.files.store import user_folder
from tfnanlint.pipeline.rule_page import page
from tfnanlint.syntax.source import Source, Span
from tfnanlint.version import __version__

_CHECKOUT = Path(__file__).resolve().parents[2] / "docs" / "rules"
_COMMENT = re.compile(r"#[^#\r\n]*(?:tfn:|noqa)[^\r\n]*", re.I)
_NAME = re.compile(r"\b(?:TFN\d{3}|[a-z0-9]+(?:-[a-z0-9]+)+)\b", re.I)

_written: dict[str, str] = {}


def address(rule: Rule) -> str:
    """A `file:` address of the rule's page; "" when none can be written."""
    if rule.code not in _written:
        path = _CHECKOUT / f"{rule.slug}.md"
        try:
            _written[rule.code] = (path if path.is_file() else _write(rule)).as_uri()
        except OSError:
            _written[rule.code] = ""
    return _written[rule.code]


def _write(rule: Rule) -> Path:
    path = Path(user_folder()) / __version__ / "rules" / f"{rule.slug}.md"
    text = f"{page(rule)}\n"
    if not path.is_file() or path.read_text("utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(name, path)
    return path


def links(source: Source, rules: Iterable[Rule]) -> Iterator[tuple[Span, str]]:
    """The names of rules in the comments that hide findings, each with the address of its page."""
    if "tfn" not in source.text.lower():
        return
    known = {name: rule for rule in rules for name in (rule.code, rule.slug)}
    for comment in _COMMENT.finditer(source.text):
        for name in _NAME.finditer(comment[0]):
            spelling = name[0].upper() if name[0].upper().startswith("TFN") else name[0].lower()
            if spelling in known and address(known[spelling]):
                start = comment.start() + name.start()
                yield Span(start, start + len(name[0])), address(known[spelling])
