"""The map of the package: `python -m tfnanlint.dev.map [FOLDER] [--figures | --page]`.

It prints each package of tfnanlint with the first line of its docstring and the packages that it
imports; a module beside the packages counts as one. All imports count: those for annotations only,
and those inside functions. `--figures` prints what can be counted of the structure instead,
`--page` the map as a table in Markdown. FOLDER
is another checkout.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tfnanlint.dev.repository import ROOT

NAME = "tfnanlint"
MAX_COMPLEXITY = 12
MAX_LINE = 100
MAX_CHAIN = 2  # classes that inherit from each other

Arrows = dict[str, set[str]]


@dataclass(frozen=True)
class File:
    """A Python file of the checkout with its dotted name and its tree."""

    module: str
    path: Path
    text: str
    tree: ast.Module

    @property
    def package(self) -> str:
        """The package right below tfnanlint in which it stands, or the module itself."""
        return self.module.split(".")[1] if "." in self.module else ""

    @property
    def purpose(self) -> str:
        """The first sentence of the docstring, without its full stop."""
        paragraph = (ast.get_docstring(self.tree) or "").split("\n\n")[0]
        return " ".join(paragraph.split()).split(". ")[0].removesuffix(".")


def files(root: Path, folder: str) -> list[File]:
    """The Python files of a folder of the checkout."""
    return [_file(root, path) for path in sorted((root / folder).rglob("*.py"))]


def _file(root: Path, path: Path) -> File:
    parts = list(path.relative_to(root).with_suffix("").parts)
    if parts[-1] == "__init__":
        parts.pop()
    text = path.read_text(encoding="utf-8")
    return File(".".join(parts), path, text, ast.parse(text))


# Imports


def imports(known: Iterable[File]) -> Arrows:
    """The modules of the package that each module imports anywhere in its text, itself not
    counted.
    """
    known = list(known)
    names = {one.module for one in known}
    return {
        one.module: {name for name in _imported(one, names) if name != one.module} for one in known
    }


def _imported(file: File, names: set[str]) -> Iterator[str]:
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in names)
        elif isinstance(node, ast.ImportFrom):
            source = _absolute(file, node)
            for alias in node.names:
                member = f"{source}.{alias.name}"
                if member in names or source in names:
                    yield member if member in names else source


def _absolute(file: File, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = file.module.split(".")
    kept = len(parts) - node.level + (file.path.stem == "__init__")
    return ".".join([*parts[:kept], *filter(None, [node.module])])


def between_packages(known: Iterable[File], arrows: Arrows) -> Arrows:
    """The arrows between packages; tfnanlint's own `__init__` is left out."""
    package = {one.module: one.package for one in known}
    edges: Arrows = {name: set() for name in package.values() if name}
    for source, targets in arrows.items():
        if package[source]:
            edges[package[source]] |= {package[target] for target in targets} - {
                package[source],
                "",
            }
    return edges


def circles(arrows: Arrows) -> list[set[str]]:
    """The strongly connected components of more than one node, the largest first (Tarjan's
    algorithm).
    """
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    components: list[set[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in sorted(arrows[node]):
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            start = stack.index(node)
            components.append(set(stack[start:]))
            del stack[start:]

    for node in sorted(arrows):
        if node not in index:
            visit(node)
    return sorted((one for one in components if len(one) > 1), key=len, reverse=True)


# Classes, functions, lines


def long_chains(known: Iterable[File]) -> list[str]:
    """The classes that stand at the end of a chain of more than `MAX_CHAIN` classes of the
    package.
    """
    bases = {
        node.name: [_leaf(base) for base in node.bases]
        for one in known
        for node in ast.walk(one.tree)
        if isinstance(node, ast.ClassDef)
    }

    def length(name: str, below: tuple[str, ...] = ()) -> int:
        if name not in bases or name in below:
            return 0
        return 1 + max([length(base, (*below, name)) for base in bases[name]], default=0)

    return sorted(name for name in bases if length(name) > MAX_CHAIN)


def _leaf(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def complex_functions(known: Iterable[File]) -> dict[str, int]:
    """The functions whose cyclomatic complexity is above `MAX_COMPLEXITY`, counted as ruff's
    C901 does.
    """
    complexities = {}
    for file in known:
        for node in ast.walk(file.tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                count = 1 + _decisions(node.body)
                if count > MAX_COMPLEXITY:
                    complexities[f"{file.module}:{node.lineno} {node.name}"] = count
    return complexities


def _decisions(body: Iterable[ast.AST]) -> int:
    """The decisions in a list of statements, those of nested functions included."""
    return sum(_own_decisions(node) + sum(map(_decisions, _bodies(node))) for node in body)


def _own_decisions(node: ast.AST) -> int:
    match node:
        case (
            ast.If()
            | ast.For()
            | ast.AsyncFor()
            | ast.While()
            | ast.FunctionDef()
            | ast.AsyncFunctionDef()
        ):
            return 1
        case ast.Try():
            return len(node.handlers) + bool(node.orelse)
        case ast.Match():
            last = node.cases[-1]
            return len(node.cases) - (last.guard is None and _matches_all(last.pattern))
    return 0


def _matches_all(pattern: ast.pattern) -> bool:
    return isinstance(pattern, ast.MatchAs) and (
        pattern.pattern is None or _matches_all(pattern.pattern)
    )


def _bodies(node: ast.AST) -> Iterator[list[ast.AST]]:
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        below = getattr(node, field, None)
        if isinstance(below, list) and not isinstance(node, ast.expr):
            yield below


def long_lines(known: Iterable[File]) -> int:
    """How many lines have more than `MAX_LINE` characters."""
    return sum(len(line) > MAX_LINE for one in known for line in one.text.splitlines())


# What answers questions about programs: all but front ends and tools.
FRONT = frozenset(
    "__main__ batch callbacks cli config dev files html lsp pipeline prove pytest_plugin report"
    " scan suppression trace version".split()
)
# Tables that `tfnanlint.dev` writes.
TABLES = frozenset(("tfnanlint.ops.signatures", "tfnanlint.ops.spellings"))


def largest_room(known: Iterable[File]) -> tuple[str, float]:
    """The package of the engine with the most lines, and their share in percent; families of ops
    and other packages within a package count as packages of their own.
    """
    lines: dict[str, int] = {}
    for file in known:
        if file.package and file.package not in FRONT and file.module not in TABLES:
            room = file.path.parent.relative_to(
                file.path.parents[file.module.count(".")]
            ).as_posix()
            lines[room] = lines.get(room, 0) + len(file.text.splitlines())
    name = max(lines, key=lambda room: lines[room], default="")
    return name, round(100 * lines.get(name, 0) / max(1, sum(lines.values())), 1)


# Output


def figures(root: Path) -> dict[str, object]:
    """What `--figures` prints."""
    package, rules = files(root, NAME), files(root, "rules")
    arrows = imports(package)
    between = between_packages(package, arrows)
    both = [*package, *rules]
    modules, packages = circles(arrows), circles(between)
    largest, share = largest_room(package)
    return {
        "packages, and modules beside them": len(between),
        "modules": len(package),
        "lines of the package": sum(len(one.text.splitlines()) for one in package),
        f"percent of the engine's lines in its largest package ({largest})": share,
        "arrows between packages": sum(map(len, between.values())),
        "arrows between modules": sum(map(len, arrows.values())),
        "circles of packages": len(packages),
        "largest circle of packages": max(map(len, packages), default=0),
        "circles of modules": len(modules),
        "largest circle of modules": max(map(len, modules), default=0),
        f"classes in chains longer than {MAX_CHAIN}": len(long_chains(package)),
        f"functions over complexity {MAX_COMPLEXITY} (with rules)": len(complex_functions(both)),
        f"lines over {MAX_LINE} characters (with rules)": long_lines(both),
    }


def rooms(root: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Each package with its purpose and the packages that it imports, after those, as far as there
    are no circles.
    """
    package = files(root, NAME)
    purposes = {one.module.removeprefix(f"{NAME}."): one.purpose for one in package}
    arrows = between_packages(package, imports(package))
    for name in in_order(arrows):
        yield name, purposes.get(name, ""), sorted(arrows[name])


def drawn(root: Path) -> Iterator[str]:
    """The lines of the map."""
    for name, purpose, imported in rooms(root):
        yield f"{name}: {purpose}"
        if imported:
            yield f"    imports {', '.join(imported)}"


def table(root: Path) -> str:
    """The map as a table in Markdown, for `docs/architecture.md`."""
    lines = ["| package | holds | imports |", "|---|---|---|"]
    for name, purpose, imported in rooms(root):
        path = f"../{NAME}/{name}" + ("/" if (root / NAME / name).is_dir() else ".py")
        lines.append(f"| [`{name}`]({path}) | {purpose} | {', '.join(imported)} |")
    return "\n".join(lines) + "\n"


def in_order(rooms: Arrows) -> list[str]:
    """The packages from the bottom to the top; those of a circle stand together."""
    placed: list[str] = []

    def place(name: str, open_: frozenset[str] = frozenset()) -> None:
        for below in sorted(rooms[name] - open_):
            if below not in placed:
                place(below, open_ | {name})
        if name not in placed:
            placed.append(name)

    for name in sorted(rooms):
        place(name)
    return placed


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT)
    parser.add_argument("--figures", action="store_true")
    parser.add_argument("--page", action="store_true")
    chosen = parser.parse_args(arguments)
    if chosen.page:
        print(table(chosen.folder), end="")
        return 0
    lines = (
        (f"{value:>6} {name}" for name, value in figures(chosen.folder).items())
        if chosen.figures
        else drawn(chosen.folder)
    )
    print(*lines, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
