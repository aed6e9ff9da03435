"""What the files of a project set their settings to: `hparams.rate = 0.1`,
`DEFINE_float("rate", 0.1)`, a field of a dataclass.

A file is read once, for all names: a project is asked for many settings, and nearly all of its text
sets none.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Iterator

# By a pattern that begins with a sign or letters, which is found fast, and one for the whole line:
# the setting, and what it is set to.
_ANNOTATION = rb"(?:float|int|[\w.]*Optional\[(?:float|int)\])"
_LINES = tuple(
    (re.compile(end), re.compile(rb"[ \t]*" + line + rb"[ \t]*=[ \t]*([^\n#=]+)"))
    for end, line in (
        (rb":[ \t]*" + _ANNOTATION + rb"[ \t]*=", rb"(?<=[ \t])(\w+)[ \t]*:[ \t]*" + _ANNOTATION),
        (rb"params\.\w+[ \t]*=", rb"[\w.]*params\.(\w+)"),
        (rb"g(?:(?<=config)|(?<=cfg))\.\w+[ \t]*=", rb"[\w.]*(?:config|cfg)\.(\w+)"),
        (rb"hps?\.\w+[ \t]*=", rb"[\w.]*hps?\.(\w+)"),
    )
)
_ADDED, _DEFINED = (
    re.compile(maker + rb"\(\s*[\"'](\w+)[\"']\s*,\s*(?:default[ \t]*=)?([^,)\n]+)")
    for maker in (b"add_hparam", b"DEFINE_(?:float|integer)")
)
_ARGUMENT = re.compile(rb"add_argument\(\s*[\"']([^()]*)\bdefault[ \t]*=[ \t]*([^,)\n]+)")
_OPTION = re.compile(rb"--([\w-]+)[\"']")
# And the keywords of the calls that make an object of settings.
_MAKERS = tuple(
    (maker + b"(", re.compile(maker + rb"(?<!\w" + maker + rb")\("))
    for maker in (b"HParams", b"ConfigDict", b"dict")
)
_KEYWORD = re.compile(rb"\b(\w+)[ \t]*=[ \t]*(?=([^,)\n=]+))")
_BEFORE_NAMES = frozenset("\"'-")
_BEHIND_NAMES = re.compile(r"[ \t]*(?::|=(?!=))")
_PARENTHESES = re.compile(rb"[()]")


def set_in(data: bytes) -> dict[bytes, list[bytes]]:
    """The settings of a file, each with the expressions that it is set to."""
    settings: dict[bytes, list[bytes]] = {}
    for name, text in _set(data):
        settings.setdefault(name, []).append(text.strip().rstrip(b",").strip())
    return settings


def set_to(text: str, name: str) -> tuple[float, ...]:
    """The numbers that a file sets a setting to; () where there are none, or one of them is not
    known.
    """
    expressions = _set_here(text).get(name.encode(), ()) if may_set(text, name) else ()
    try:
        return tuple(dict.fromkeys([float(one) for one in expressions]))
    except ValueError:
        return ()


def may_set(text: str, name: str) -> bool:
    """Whether a text may set a setting. One with its prose left out sets no more than before."""
    return _stated(text, name) or "_" in name and _stated(text, name.replace("_", "-"))


def _stated(text: str, name: str) -> bool:
    """Whether a name stands somewhere as that of a setting may: in quotes, or before what it is set
    to. Most files only read theirs, and are not searched for all of them.
    """
    place = text.find(name)
    while place >= 0:
        end = place + len(name)
        if text[max(place - 1, 0)] in _BEFORE_NAMES or _BEHIND_NAMES.match(text, end) is not None:
            return True
        place = text.find(name, end)
    return False


def asked(text: str, name: str) -> bool:
    """Whether a file tests a setting somewhere, or the code that sets it is asked for more than any
    number: it knows of the 0 then.
    """
    spelt = name.replace("_", "[_-]")  # as `argparse` names it
    return (
        re.search(
            rf"\b(?:if|elif|assert|while|set_defaults?|(?:register_)?validator)\b[^\n]*\b{spelt}\b|"
            rf"\b{spelt}\b[^\n]*\b(?:lower_bound|type\s*=\s*(?!float\b|int\b))",
            text,
        )
        is not None
    )


@lru_cache(maxsize=1)
def _set_here(text: str) -> dict[bytes, list[bytes]]:
    return set_in(text.encode("utf-8", "surrogatepass"))


def _set(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    for end, line in _LINES:
        begun = -1
        for place in end.finditer(data):
            start = data.rfind(b"\n", 0, place.start()) + 1
            match = line.match(data, start) if start != begun else None
            begun = start
            if match is not None:
                yield match[1], match[2]
    # in hardly any file, and to search a word by itself takes half the time
    if b"add_hparam(" in data:
        yield from _ADDED.findall(data)
    if b"DEFINE_" in data:
        yield from _DEFINED.findall(data)
    if b"add_argument(" in data:
        for match in _ARGUMENT.finditer(data):
            yield from ((name.replace(b"-", b"_"), match[2]) for name in _OPTION.findall(match[1]))
    for word, maker in _MAKERS:
        for call in maker.finditer(data) if word in data else ():
            yield from _KEYWORD.findall(data, call.end(), _closed(data, call.end()))


def _closed(data: bytes, start: int) -> int:
    """Where the parenthesis that was opened before `start` is closed."""
    depth = 1
    for match in _PARENTHESES.finditer(data, start):
        depth += 1 if match[0] == b"(" else -1
        if depth == 0:
            return match.start()
    return len(data)
