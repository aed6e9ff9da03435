"""Bytes of Python source and their text: the encoding that a file declares, and which encodings a
changed file can be written back in.
"""

from __future__ import annotations

import codecs
import io
import re
import tokenize


class Unreadable(Exception):
    """The bytes are not Python source: the message says what is wrong, `row` and `column` (1-based)
    where.
    """

    def __init__(self, message: str, row: int = 1, column: int = 1):
        super().__init__(message)
        self.row = row
        self.column = column


_MAX_REASON = 200  # characters of what is said against a file
_LINE_BREAKS = {ord("\n"): "\\n", ord("\r"): "\\r"}

# Encodings in which a file can be written back without changing its meaning, by the names that
# Python gives them. Codecs such as `unicode_escape` decode to code that the bytes do not show, so
# files in them are read but not fixed.
_FIXABLE = re.compile(r"utf-8(-sig)?|ascii|iso8859-\d+|cp125\d|cp437|koi8-[ru]")

# Bytes that are no UTF-8, as they were decoded; mypyc takes no literal with them.
_STRAY = re.compile(f"[{chr(0xDC80)}-{chr(0xDCFF)}]")


def _plain(data: bytes) -> bool:
    """Whether bytes begin like nearly all: with lines of ASCII that declare no encoding."""
    end = data.find(b"\n", data.find(b"\n") + 1)
    head = data[:end] if end >= 0 else data
    return head.isascii() and b"coding" not in head


def decode(data: bytes) -> tuple[str, str]:
    """Text and encoding name of Python source bytes, by BOM and PEP 263; line endings are kept.
    Bytes of a comment that are no UTF-8 become U+FFFD: Python reads over them where it imports a
    file, but not where a declaration spells it `utf8`.

    Raises `Unreadable` when the declared encoding is unknown or does not fit the bytes.
    """
    encoding = "utf-8"
    try:
        if not _plain(data):
            encoding = _declared(data)
        text = data.decode(encoding)
    except (SyntaxError, LookupError, UnicodeError) as error:
        stray = isinstance(error, UnicodeDecodeError)
        lenient = _with_stray_bytes(data, encoding) if stray else None
        if lenient is None:
            raise Unreadable(f"cannot decode the file: {reason_in_words(error)}") from None
        text = lenient
    return text, encoding


def _declared(data: bytes) -> str:
    """The encoding that a declaration or a BOM states. Raises SyntaxError or LookupError."""
    # A declaration stands on one of the first two lines, and lone CRs end lines, too.
    lines = data if b"\n" in data else data.replace(b"\r", b"\n")
    if b"coding" not in b"".join(lines.split(b"\n", 2)[:2]):
        return "utf-8-sig" if data.startswith(codecs.BOM_UTF8) else "utf-8"
    return tokenize.detect_encoding(io.BytesIO(lines).readline)[0]


def reason_in_words(error: Exception) -> str:
    """What an error says of a file, on one line and in few words."""
    text = str(error).translate(_LINE_BREAKS)
    return text if len(text) <= _MAX_REASON else f"{text[:_MAX_REASON]}..."


def _with_stray_bytes(data: bytes, encoding: str) -> str | None:
    """The text of bytes of which some in comments are no UTF-8, U+FFFD in their place; None where
    others are none either, and in other encodings.
    """
    if encoding not in ("utf-8", "utf-8-sig"):
        return None
    loose = data.decode(encoding, "surrogateescape")
    text = _STRAY.sub("\ufffd", loose)
    comments: dict[int, int] = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline=None).readline):
            if token.type == tokenize.COMMENT:
                comments[token.start[0]] = token.start[1]
    except (SyntaxError, tokenize.TokenError):
        return None
    rows = enumerate(io.StringIO(loose, newline=None), 1)
    is_comment = all(
        row in comments and stray.start() > comments[row]
        for row, line in rows
        for stray in _STRAY.finditer(line)
    )
    return text if is_comment else None


def encode(text: str, encoding: str) -> bytes:
    """The bytes of `text`; a BOM is written for `utf-8-sig`. Raises UnicodeEncodeError."""
    return codecs.encode(text, encoding)


def fixable(encoding: str) -> bool:
    """Whether a file in an encoding, under any of its names (utf8, latin1), can be written back.
    Raises LookupError.
    """
    return _FIXABLE.fullmatch(codecs.lookup(encoding).name) is not None
