"""The page of the HTML report: one file with its style, script and data, which loads nothing."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import Any

_AS_TEXT = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


class NoJinja(Exception):
    """Jinja2, which writes the page, is not installed."""


def render(**values: Any) -> str:
    """The page with some values. `data` is JSON, which the script reads. Raises `NoJinja`."""
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError as error:
        raise NoJinja from error
    script = _resource("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    # Style and script are ours; the data cannot end the element that it stands in.
    own = {"style": _resource("page.css"), "script": script, "digest": digest}
    values["data"] = values["data"].translate(_AS_TEXT)
    return environment.from_string(_resource("page.html.j2")).render(**own, **values)


def _resource(name: str) -> str:
    return files("tfnanlint.html").joinpath(name).read_text("utf-8")
