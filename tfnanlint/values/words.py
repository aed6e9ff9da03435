"""Words that reports and the values themselves share."""

from __future__ import annotations

from typing import Final

UNBOUNDED: Final = "unbounded"
