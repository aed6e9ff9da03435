"""Parameters of tests, of which those with a large fixture are marked `slow`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tfnanlint.dev import repository
from tfnanlint.rule.registry import Rule, load

LARGE = 12_500  # bytes: a test that checks such a fixture several times takes seconds


def rules() -> list[Any]:
    """All rules, each with its name as the id."""
    return [parameter(rule, repository.fixture(rule), rule.slug) for rule in load()]


def files(paths: Iterable[Path]) -> list[Any]:
    """Files, each with its folder and name as the id."""
    return [parameter(path, path, f"{path.parent.name}-{path.stem}") for path in paths]


def parameter(value: Rule | Path, path: Path, name: str) -> Any:
    is_large = path.exists() and path.stat().st_size > LARGE
    return pytest.param(value, id=name, marks=pytest.mark.slow if is_large else ())
