"""`tfnanlint.dev.map` counts what the structure of the package is made of."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tfnanlint.dev import map as structure


@pytest.fixture
def package(tmp_path):
    """What writes a package of some modules and gives its files."""

    def made(**texts: str) -> list[structure.File]:
        folder = tmp_path / "tfnanlint"
        for name, text in {"__init__": "", **texts}.items():
            path = folder / f"{name.replace('__in__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return structure.files(tmp_path, "tfnanlint")

    return made


ANNOTATION = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from tfnanlint.{} import X\n"
LATE = "def f():\n    from tfnanlint import {}\n"


@pytest.mark.parametrize("back", [ANNOTATION, LATE, "from .{} import X\n", "import tfnanlint.{}\n"])
def test_every_kind_of_import_closes_a_circle(package, back):
    arrows = structure.imports(
        package(a="from tfnanlint.b import X\n", b=back.format("a"), c="import ast\n")
    )
    assert structure.circles(arrows) == [{"tfnanlint.a", "tfnanlint.b"}]


def test_a_chain_of_imports_is_no_circle(package):
    arrows = structure.imports(
        package(a="from tfnanlint import b\n", b="from tfnanlint import c\n", c="")
    )
    assert structure.circles(arrows) == []
    assert arrows["tfnanlint.a"] == {"tfnanlint.b"}


def test_a_long_chain_of_classes_is_counted(package):
    known = package(
        a="class A: ...\nclass B(A): ...\n",
        b="from tfnanlint import a\nclass C(a.B): ...\nclass D(Exception): ...\n",
    )
    assert structure.long_chains(known) == ["C"]


def test_complexity_is_that_of_ruff(package):
    body = "    if a: pass\n    elif b: pass\n    else: pass\n    for c in d: pass\n    try: pass\n    except E: pass\n    else: pass\n"
    matched = (
        "    match a:\n        case 1: pass\n        case 2 if b: pass\n        case _: pass\n"
    )
    inner = "    def g():\n        while a: pass\n"
    known = package(a="def f(a):\n" + body + matched + inner + body)
    assert structure.complex_functions(known) == {"tfnanlint.a:1 f": 15}


def test_the_engine_is_what_stands_below_its_front_ends():
    """In the order of packages that import-linter checks, `api` is the top of the engine."""
    tomllib = pytest.importorskip("tomllib")
    settings = tomllib.loads((structure.ROOT / "pyproject.toml").read_text())["tool"]
    order = " ".join(settings["importlinter"]["contracts"][0]["layers"]).replace("|", "").split()
    assert {*order[: order.index("api")], "__main__", "version"} == structure.FRONT


def test_no_package_of_the_engine_has_15_percent_of_it():
    name, share = structure.largest_room(structure.files(structure.ROOT, "tfnanlint"))
    assert 0 < share < 15, name


def test_the_map_names_each_package_after_what_it_imports():
    lines = list(structure.drawn(Path(structure.ROOT)))
    names = [line.split(":")[0] for line in lines if not line.startswith(" ")]
    assert names.index("diagnostics") < names.index("report") < names.index("cli")
    assert "cli: " in "\n".join(lines)


def test_the_links_of_the_architecture_lead_somewhere():
    page = structure.ROOT / "docs" / "architecture.md"
    links = re.findall(r"\]\(([^)#]+)\)", page.read_text())
    assert len(links) > 60
    assert not [link for link in links if not (page.parent / link).exists()]


def test_every_package_says_what_it_holds():
    assert not [name for name, purpose, _ in structure.rooms(structure.ROOT) if not purpose]
