"""The package as it is installed: nothing forgotten, nothing listed that is not there."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parents[2]


def test_every_package_is_listed_and_exists():
    text = (HERE / "pyproject.toml").read_text()
    listed = set(
        re.findall(r'"([\w.]+)"', re.search(r"^packages = \[(.*?)\]", text, re.M | re.S)[1])
    )
    there = {
        ".".join(path.parent.relative_to(HERE).parts)
        for path in (HERE / "tfnanlint").rglob("__init__.py")
    }
    assert listed == there | {"tfnanlint_rules"}


def test_the_version_is_stated_once():
    from tfnanlint import __version__

    assert f'version = "{__version__}"' in (HERE / "pyproject.toml").read_text()


def test_the_licence_is_whole():
    text = (HERE / "LICENSE").read_text()
    assert "Apache License" in text and "END OF TERMS AND CONDITIONS" in text
