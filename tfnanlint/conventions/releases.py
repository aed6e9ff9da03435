"""Which release of TensorFlow a program is for, as the words around it say."""

from __future__ import annotations

import re
from typing import Final

_NEWEST_OF_FIRST: Final = (1, 15)
_OLDEST_OF_FIRST: Final = (1, 8)  # of those whose names are known
_OLDEST_OF_SECOND: Final = (2, 0)
_NUMBER: Final = r"([12])\.(\d{1,2}|x)(?!\d)"
_REQUIRED: Final = (
    r"\btensorflow(?:[-_](?:gpu|cpu|macos|intel|rocm))?(?:\[[\w,-]+\])?[\"']?\s*"
    r"(?P<sign>=\s*[\"']?[=~^<>]*=?|[<>~]=|<)\s*([12])(?:\.(\d{1,2}))?(?![\d])"
)
_OF_NOTEBOOK: Final = r"%tensorflow_version\s+1\.x"
_BETWEEN: Final = r"(?:[\s_:=>~(\[*`|-]|version|release|gpu|v(?=\d)){0,5}"
_NAMED: Final = rf"(?i)(?:(?<![\w/.-])|(?<=badge/))(?:tensorflow|tf){_BETWEEN}{_NUMBER}"
_SECOND_VERSION: Final = r"\btf\.(?:function|GradientTape|random\.\w+|data\.experimental)\b|compat"
_EAGER: Final = r"\benable_eager_execution\b"


def required(text: str) -> tuple[int, int] | None:
    """The oldest release of TensorFlow that a list of requirements, or a cell that installs them,
    asks for: 1.8 of `tensorflow-gpu==1.8.0`, 1.15 of `tensorflow<2`; None where none does.
    """
    releases = [
        _below(match[2], match[3]) if match["sign"].endswith("<") else _release(match[2], match[3])
        for match in re.finditer(_REQUIRED, text)
    ]
    if re.search(_OF_NOTEBOOK, text) is not None:
        releases.append(_NEWEST_OF_FIRST)
    return min(releases, default=None)


def _below(major: str, minor: str | None) -> tuple[int, int]:
    return (int(major), int(minor) - 1) if minor and int(minor) else _NEWEST_OF_FIRST


def _release(major: str, minor: str | None) -> tuple[int, int]:
    """A release; the oldest of a major one where no minor one is named."""
    if minor is None or minor.lower() == "x":
        return _OLDEST_OF_FIRST if major == "1" else _OLDEST_OF_SECOND
    return int(major), int(minor)


def described(text: str) -> tuple[int, int] | None:
    """The oldest release of TensorFlow that a README names: `TensorFlow 1.8`, `tf-1.x`; None where
    it names none.
    """
    releases = [_release(match[1], match[2]) for match in re.finditer(_NAMED, text)]
    return min(releases, default=None)


def printed(text: str) -> tuple[int, int] | None:
    """The release that a program printed, as `2.3.0`; None where it printed no, or several, such
    numbers.
    """
    numbers = set(re.findall(r"(?<![\d.])([12])\.(\d{1,2})\.\d", text))
    return _release(*numbers.pop()) if len(numbers) == 1 else None


def is_second_version(text: str) -> bool:
    """Whether a file runs eagerly, as TensorFlow 2 does, and does not ask for it: `tf.function`."""
    is_eager = re.search(_SECOND_VERSION, text) is not None
    return is_eager and re.search(_EAGER, text) is None
