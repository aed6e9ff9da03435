"""What the engine knows at `reveal(x)`: range, flags, dtype, producer, gradient, and with `--terms`
the terms. `python -m tfnanlint.dev.reveal [--terms] FILE`.
"""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Iterator

from tfnanlint.ops.site import Site, same
from tfnanlint.pipeline.analysis import File, Marks, Subscriptions
from tfnanlint.program.scope import Point
from tfnanlint.syntax.source import Source
from tfnanlint.terms.build import terms_of
from tfnanlint.values.value import NO_CONSTANT, Value

NAME = "reveal"
NUMERIC = ("tensor", "number", "array", "unknown")


@dataclass(frozen=True)
class Reveal:
    """One `reveal(x)` or `reveal(x, y)`: its row, the values of its arguments, whether `x` is
    differentiated.
    """

    row: int
    values: tuple[Value, ...]
    differentiated: str

    @property
    def value(self) -> Value:
        return self.values[0]

    @property
    def same(self) -> bool:
        """Whether both arguments are surely the same number."""
        return same(*self.values)

    @property
    def terms(self) -> str:
        """The terms of the first argument, one for each way in which it can arise."""
        return " | ".join(map(str, terms_of(self.value)))

    def __str__(self) -> str:
        if len(self.values) == 2:
            return "same" if self.same else "different"
        return described(self.value) + (" differentiated" if self.differentiated == "yes" else "")


def described(value: Value) -> str:
    """A value in the words of a `# revealed:` comment."""
    if value.kind == "string":
        return repr(value.const) if value.const is not NO_CONSTANT else "string"
    if value.kind not in NUMERIC:
        return value.kind
    parts = (
        ["unknown"]
        if not value.known
        else ["any"]
        if value.evident and value.lo == -value.hi
        else [f"[{_bound(value.lo)}, {_bound(value.hi)}]"]
    )
    if value.known and value.lo <= 0 <= value.hi and not value.zero:
        parts.append("not 0")
    parts += [
        word
        for word, said in (("nan", value.nan), ("inf", value.inf), ("guarded", value.guarded))
        if said
    ]
    parts += [value.dtype] if value.dtype else []
    parts += ["number"] if value.kind == "number" else []
    parts += [f"from {value.origin.op.name}"] if isinstance(value.origin, Site) else []
    return " ".join(parts)


def _bound(number: float) -> str:
    return f"{number:.9g}"


Place = tuple[ast.Call, Point, bool]


def _as_they_stand(file: File, places: list[Place]) -> list[Place]:
    return places


def reveals(
    source: Source, order: Callable[[File, list[Place]], list[Place]] = _as_they_stand
) -> Iterator[Reveal]:
    """Every `reveal(...)` that is reached, asked in order of the text or in another: what is
    revealed must not depend on it.
    """
    wanted = Subscriptions(())
    wanted.leaves = frozenset((NAME,))
    file = File(source, wanted, Marks(set(), set(), set()), draft=False)
    interpreter = file.interpreter
    rows = [row for row, line in enumerate(source.text.splitlines(), 1) if f"{NAME}(" in line]
    places: dict[ast.AST, Place] = {}
    for row in rows:
        for expression, point in file.module.expressions(row, interpreter):
            for node, inner, stopped in file.seek(expression, point):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == NAME:
                    places.setdefault(node, (node, inner, stopped))
    for node, inner, stopped in order(file, list(places.values())):
        values = tuple(interpreter.ask(argument, inner) for argument in node.args)
        yield Reveal(node.lineno, values, _differentiated(file, values[0], inner, stopped))


def _differentiated(file: File, value: Value, point: Point, stopped: bool) -> str:
    """As the op that made the value is, if it stands in the same function; else as the place of the
    reveal.
    """
    origin = value.origin
    if isinstance(origin, Site) and origin.point is not None and origin.point.scope is point.scope:
        return file.gradients.of(origin, stopped).value
    return file.gradients.at(point).value


def main(paths: list[str]) -> int:
    shows_terms = "--terms" in paths
    for path in [path for path in paths if path != "--terms"]:
        for reveal in reveals(Source.from_bytes(path, Path(path).read_bytes())):
            print(f"{path}:{reveal.row}: {reveal.terms if shows_terms else reveal}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
