"""Checking the files of a run, in as many processes as are worth their start, those that are not
remembered.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from tfnanlint.cli.flags import linter_of
from tfnanlint.cli.terminal import Progress
from tfnanlint.pipeline.linter import Fixed, Linter

_MANY = 50  # files; with fewer there is no need to find out how large they are


def examined(
    linter: Linter,
    arguments: argparse.Namespace,
    paths: Sequence[str],
    fixing: bool,
    progress: Progress,
) -> Iterator[Fixed]:
    """The outcome of each file that has to do with TensorFlow, in order; nothing is written."""
    few = arguments.jobs is None and len(paths) < _MANY
    outcomes = (
        _here(linter, paths, fixing)
        if few or arguments.jobs == 1
        else _shared(linter, arguments, paths, fixing, progress)
    )
    for outcome in outcomes:
        progress.step()
        if outcome is not None:
            yield outcome


def _here(linter: Linter, paths: Sequence[str], fixing: bool) -> Iterator[Fixed | None]:
    return (linter.file(path, fixing) for path in paths)


def _shared(
    linter: Linter,
    arguments: argparse.Namespace,
    paths: Sequence[str],
    fixing: bool,
    progress: Progress,
) -> Iterator[Fixed | None]:
    """The outcomes of the files that mention TensorFlow. What is remembered is looked up here, so
    that others do the rest.
    """
    from tfnanlint.pipeline.workers import WORTH_IT, contents, cores

    outcomes: dict[str, Fixed | None] = {}
    left = []
    for path, data in contents(paths):
        outcomes[path] = linter.recalled(path, data, fixing)
        if outcomes[path] is None:
            left.append((path, len(data)))
    progress.total = len(outcomes)
    count = arguments.jobs
    if count is None:
        count = cores() if sum(size for _, size in left) >= WORTH_IT else 1
    alone = count == 1 or len(left) < 2
    new = (
        _here(linter, [path for path, _ in left], fixing)
        if alone
        else _elsewhere(linter, arguments, left, fixing, count)
    )
    for path in list(outcomes):
        yield outcomes.pop(path) or next(new)


def _elsewhere(
    linter: Linter,
    arguments: argparse.Namespace,
    files: Sequence[tuple[str, int]],
    fixing: bool,
    count: int,
) -> Iterator[Fixed | None]:
    from tfnanlint.pipeline.workers import Crew

    orders = _orders(arguments)
    if linter.cache is None:
        return Crew(linter_of, orders, fixing, count).outcomes(files)
    orders.engine = linter.cache.engine
    linter.close()  # a file of SQLite must not be open in two processes after a fork
    return Crew(linter_of, orders, fixing, count, linter.cache.put).outcomes(files)


def _orders(arguments: argparse.Namespace) -> argparse.Namespace:
    """The arguments without what cannot go to another process."""
    return argparse.Namespace(
        **{name: value for name, value in vars(arguments).items() if name not in ("run", "parser")}
    )
