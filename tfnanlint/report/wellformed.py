"""Text that every reader of a format accepts: JSON without lone surrogates, XML without characters
it forbids.
"""

from __future__ import annotations

import json
import re
from typing import Any

_SURROGATE = re.compile("[\ud800-\udfff]")
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def well_formed(text: str) -> str:
    r"""Text with lone surrogates, which stand for undecodable bytes of a file's name, written as in
    `\udcff`.
    """
    return _SURROGATE.sub(_written, text)


def xml_text(text: str) -> str:
    r"""Text with the characters that XML 1.0 does not allow written as in `\x1b`."""
    return _NOT_XML.sub(_written, text)


def _written(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")


def json_text(value: Any, indent: int | None = None) -> str:
    """JSON in ASCII that strict readers take, too: they refuse whole documents for one lone
    surrogate.
    """
    text = json.dumps(value, indent=indent)
    return json.dumps(_mended(value), indent=indent) if "\\ud" in text else text


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, dict):
        return {key: _mended(one) for key, one in value.items()}
    return [_mended(one) for one in value] if isinstance(value, list) else value
