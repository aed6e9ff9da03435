"""Rules as parameters of tests; those with a large fixture are marked `slow`."""

from __future__ import annotations

from typing import Any

import pytest

from tfnanlint.dev import repository
from tfnanlint.rule.registry import Rule, load

LARGE = 12_500  # bytes: a test that checks such a fixture several times takes seconds


def rules() -> list[Any]:
    """All rules, each with its name as the id."""
    return [pytest.param(rule, id=rule.slug, marks=_marks(rule)) for rule in load()]


def _marks(rule: Rule) -> Any:
    path = repository.fixture(rule)
    return pytest.mark.slow if path.exists() and path.stat().st_size > LARGE else ()
