#!/usr/bin/env python3
"""CPU, wall time and memory of whole processes, next to `ast.parse` of the same files:
speed.py [DIR] [--python NAME=PYTHON ...] [--peers FOLDER] [--only WORKLOAD ...] [--rounds N]

DIR is what `fetch.py` downloads. The workloads are a file of 10 lines and one of 1,000, DIR's
folder `tf-models-official`, all of DIR, and keys in an editor (`editor.py`). In each round all take
their turn once: `python -c pass`, a process that parses the files, each version of tfnanlint with
1 process, with 2 and with a full cache, and ruff, pylint with one message, TorchFix and Fixit
where FOLDER holds them. The tree of this script is the version `interpreted`; `--python` names
others by their interpreters (`compiled=venv/bin/python`).

Prints the median of the rounds, and of the ratios to `ast.parse` of the same round; `peak` is the
largest process. `ast.parse` keeps no tree and collects no garbage, and counts with the start of its
process. Peers that take minutes for the large workloads run there only with `--slow-peers`.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

from editor import program
from startup import HAZARD

BENCHMARKS = pathlib.Path(__file__).resolve().parent
PARSE = """
import ast, gc, pathlib, sys, warnings
gc.disable()
warnings.simplefilter("ignore")
for top in map(pathlib.Path, sys.argv[1:]):
    for path in sorted(top.rglob("*.py")) if top.is_dir() else [top]:
        try:
            ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):
            pass
"""
LARGE = ("tf-models-official", "corpus")
WORKLOADS = ("10 lines", "1,000 lines", *LARGE, "keys")
PASS, PARSER = "python -c pass", "ast.parse"


@dataclass(frozen=True)
class Contestant:
    """A command that is measured; with `fills` it has filled its cache before."""

    name: str
    command: tuple[str, ...]
    apart: bool = False  # runs without PYTHONPATH
    fills: bool = False
    slow: bool = False  # takes minutes for a large workload


@dataclass(frozen=True)
class Cost:
    """What a process and those that it waited for took."""

    cpu: float  # seconds
    wall: float
    peak: float  # MiB, of the largest process


def versions(arguments: argparse.Namespace) -> dict[str, str]:
    """The interpreter of each version of tfnanlint, by the version's name."""
    return {
        "interpreted": sys.executable,
        **dict(pair.split("=", 1) for pair in arguments.python),
    }


def of_tfnanlint(name: str, python: str, cache: str) -> list[Contestant]:
    check = (python, "-m", "tfnanlint", "check", "--isolated", "--output-format", "concise")
    apart = python != sys.executable
    return [
        Contestant(f"{name}, 1 process", (*check, "--no-cache", "--jobs", "1"), apart),
        Contestant(f"{name}, 2 processes", (*check, "--no-cache", "--jobs", "2"), apart),
        Contestant(
            f"{name}, full cache",
            (*check, "--jobs", "1", "--cache-dir", f"{cache}/{name}"),
            apart,
            fills=True,
        ),
    ]


def of_peers(folder: pathlib.Path, cache: str) -> list[Contestant]:
    """The other linters that a folder of programs holds; says which it does not."""
    ruff = ("check", "--isolated", "--quiet")
    offered = [
        Contestant("ruff, no cache", ("ruff", *ruff, "--no-cache"), True),
        Contestant("ruff, full cache", ("ruff", *ruff, "--cache-dir", f"{cache}/ruff"), True, True),
        Contestant(
            "pylint, one message",
            ("pylint", "--rcfile=", "--disable=all", "--enable=unused-import", "--score=n"),
            True,
            slow=True,
        ),
        Contestant("TorchFix", ("torchfix",), True, slow=True),
        Contestant("Fixit", ("fixit", "lint"), True, slow=True),
    ]
    present = []
    for peer in offered:
        program_path = folder / peer.command[0]
        if program_path.exists():
            command = (str(program_path), *peer.command[1:])
            present.append(Contestant(peer.name, command, True, peer.fills, peer.slow))
        else:
            print(f"skipped: {peer.name} ({program_path} does not exist)")
    return present


def environment_of(apart: bool, folder: str) -> dict[str, str]:
    """The variables of a process: it may keep bytecode, as an installed program does."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": f"{folder}/bytecode"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if apart:
        environment.pop("PYTHONPATH", None)
    return environment


def measured(contestant: Contestant, paths: list[str], folder: str) -> Cost:
    """What one run over some paths takes."""
    environment = environment_of(contestant.apart, folder)
    start = time.perf_counter()
    child = subprocess.Popen(
        [*contestant.command, *paths],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env=environment,
    )
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode < 0 or child.returncode > 1 and "tfnanlint" in contestant.command:
        raise SystemExit(f"{contestant.name} ended with {child.returncode}")
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024)


def rounds_of(
    contestants: list[Contestant], paths: list[str], rounds: int, folder: str
) -> dict[str, list[Cost]]:
    """The costs of each contestant in all rounds, in which they take turns."""
    for contestant in contestants:
        if contestant.fills or os.path.isfile(paths[0]):
            measured(contestant, paths, folder)
    costs: dict[str, list[Cost]] = {contestant.name: [] for contestant in contestants}
    for _ in range(rounds):
        for contestant in contestants:
            costs[contestant.name].append(measured(contestant, paths, folder))
    return costs


def ratio(costs: list[Cost], base: list[Cost], which: str) -> float:
    """The median of the ratios within the rounds."""
    return statistics.median(
        getattr(cost, which) / getattr(unit, which) for cost, unit in zip(costs, base)
    )


def table(workload: str, costs: dict[str, list[Cost]]) -> None:
    for name, row in costs.items():
        cpu, wall, peak = (
            statistics.median(getattr(cost, which) for cost in row)
            for which in ("cpu", "wall", "peak")
        )
        print(
            f"{workload:18} {name:26} {cpu:8.3f} {wall:8.3f} {ratio(row, costs[PARSER], 'cpu'):8.2f} "
            f"{ratio(row, costs[PASS], 'wall'):8.1f} {peak:6.0f}",
            flush=True,
        )
    for name in costs:
        label = name.removesuffix(", 1 process")
        if label != name:
            speedup = ratio(costs[name], costs[f"{label}, 2 processes"], "wall")
            print(f"{workload:18} {label}: 2 processes are {speedup:.2f} times faster", flush=True)


def keys(python: str, apart: bool, count: int, folder: str) -> str:
    """What `editor.py` prints of keys in an ordinary file of 1,000 lines."""
    environment = environment_of(apart, folder)
    done = subprocess.run(
        [python, str(BENCHMARKS / "editor.py"), "--keys", str(count), "--brief"],
        env=environment,
        capture_output=True,
        text=True,
    )
    return done.stdout or done.stderr.strip().split("\n")[-1]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=pathlib.Path, nargs="?")
    parser.add_argument("--python", nargs="+", default=[], metavar="NAME=PYTHON")
    parser.add_argument("--peers", type=pathlib.Path, default=pathlib.Path(sys.executable).parent)
    parser.add_argument("--only", nargs="+", choices=WORKLOADS, default=WORKLOADS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--small-rounds", type=int, default=9, help="of the two single files")
    parser.add_argument("--slow-peers", action="store_true")
    arguments = parser.parse_args()
    print(
        f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores, {platform.python_implementation()} "
        f"{platform.python_version()}, {platform.system()} {platform.machine()}, load {os.getloadavg()[0]:.1f}"
    )
    with tempfile.TemporaryDirectory() as folder:
        compete(arguments, folder)
        for name, python in versions(arguments).items() if "keys" in arguments.only else ():
            print(
                f"keys, {name}:\n{keys(python, python != sys.executable, 20, folder)}", flush=True
            )
    return 0


def compete(arguments: argparse.Namespace, folder: str) -> None:
    """Measure and print all workloads but the keys."""
    paths = {}
    for name, text in (("10 lines", HAZARD), ("1,000 lines", program(1000, dense=False))):
        # alone in its folder, which is its project
        path = pathlib.Path(folder, name.replace(",", "").replace(" ", "_"), "program.py")
        path.parent.mkdir()
        path.write_text(text)
        paths[name] = path
    if arguments.directory is not None:
        paths["corpus"] = arguments.directory.resolve()
        paths["tf-models-official"] = paths["corpus"] / "tf-models-official"
    contestants = [
        Contestant(PASS, (sys.executable, "-c", "pass")),
        Contestant(PARSER, (sys.executable, "-c", PARSE)),
    ]
    for name, python in versions(arguments).items():
        contestants += of_tfnanlint(name, python, folder)
    contestants += of_peers(arguments.peers, folder)
    print(
        f"{'workload':18} {'what':26} {'CPU s':>8} {'wall s':>8} {'x parse':>8} {'x pass':>8} {'MiB':>6}"
    )
    for workload in WORKLOADS:
        if workload not in paths or workload not in arguments.only:
            continue
        if not paths[workload].exists():
            print(f"skipped: {workload} ({paths[workload]} does not exist)")
            continue
        large = workload in LARGE
        chosen = [one for one in contestants if arguments.slow_peers or not (one.slow and large)]
        rounds = arguments.rounds if large else arguments.small_rounds
        table(workload, rounds_of(chosen, [str(paths[workload])], rounds, folder))


if __name__ == "__main__":
    sys.exit(main())
