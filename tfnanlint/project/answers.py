"""Whether the program of a project reaches code: the three answers."""

from __future__ import annotations

from typing import Final

YES: Final = "yes"
NO: Final = "no"
UNKNOWN: Final = "unknown"
Answer = tuple[str, str]  # one of the three, and the reason for a NO in words
