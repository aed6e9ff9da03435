"""Checking the files of a run, in as many processes as are worth their start."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from tfnanlint.cli.flags import linter_of
from tfnanlint.cli.terminal import Progress
from tfnanlint.linter import Fixed, Linter

_MANY = 50  # files; with fewer there is no need to find out how large they are


def examined(
    linter: Linter, arguments: argparse.Namespace, paths: Sequence[str], fixing: bool, progress: Progress
) -> Iterator[Fixed]:
    """The outcome of each file that has to do with TensorFlow, in order; nothing is written."""
    count = arguments.jobs
    if count == 1 or (count is None and len(paths) < _MANY):
        yield from _here(linter, paths, fixing, progress)
        return
    from tfnanlint.workers import WORTH_IT, Crew, cores, sizes

    files = sizes(paths)
    progress.total = len(files)
    if count is None:
        count = cores() if sum(size for _, size in files) >= WORTH_IT else 1
    if count == 1 or len(files) < 2:
        yield from _here(linter, [path for path, _ in files], fixing, progress)
        return
    for outcome in Crew(linter_of, _orders(arguments), fixing, count).outcomes(files):
        progress.step()
        if outcome is not None:
            yield outcome


def _here(linter: Linter, paths: Sequence[str], fixing: bool, progress: Progress) -> Iterator[Fixed]:
    for path in paths:
        outcome = linter.file(path, fixing)
        progress.step()
        if outcome is not None:
            yield outcome


def _orders(arguments: argparse.Namespace) -> argparse.Namespace:
    """The arguments without what cannot go to another process."""
    return argparse.Namespace(**{name: value for name, value in vars(arguments).items() if name not in ("run", "parser")})
