"""`primaryLocationLineHash`, by which GitHub knows an alert again: the algorithm of its CodeQL
action, bit for bit.

For every line: a polynomial of the first 100 UTF-16 units from the line's start, over the following
lines if it is shorter, without spaces and tabs, with a number that tells equal lines apart. The end
of the file counts as 65535, then zeros.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter

from tfnanlint.syntax.source import Source

_BLOCK = 100
_BASE = 37
_MODULUS = 1 << 64
_END = 65535
_SKIPPED = re.compile(r"\r\n|[ \t]+")
_TEXT_ENCODINGS = ("utf-8", "utf-8-sig", "ascii")


def line_hashes(source: Source) -> list[str]:
    """The hash of every line; a last line end begins one more."""
    units = _units(source)
    starts = [0] + [index + 1 for index, unit in enumerate(units[:-1]) if unit == 10]
    units.extend([0] * _BLOCK)
    prefix = _prefixes(units)
    first = pow(_BASE, _BLOCK, _MODULUS)
    seen: Counter[str] = Counter()
    hashes = []
    for start in starts:
        value = f"{(prefix[start + _BLOCK] - prefix[start] * first) % _MODULUS:x}"
        seen[value] += 1
        hashes.append(f"{value}:{seen[value]}")
    return hashes


def _prefixes(units: array) -> list[int]:
    value = 0
    prefixes = [0]
    for unit in units:
        value = (value * _BASE + unit) % _MODULUS
        prefixes.append(value)
    return prefixes


def _units(source: Source) -> array:
    """The file as the action reads it: as UTF-8 whatever it is in, with its mark, one kind of line
    end, no blanks.
    """
    text = source.text
    if source.encoding == "utf-8-sig":
        text = "\ufeff" + text
    elif source.encoding not in _TEXT_ENCODINGS:
        text = text.encode(source.encoding, "replace").decode("utf-8", "replace")
    text = _SKIPPED.sub(lambda match: "\n" if match[0] == "\r\n" else "", text).replace("\r", "\n")
    units = array("H")
    units.frombytes(text.encode("utf-16-le", "surrogatepass"))
    if array("H", [1]).tobytes() != b"\x01\x00":
        units.byteswap()
    units.append(_END)
    return units
