"""What reads files that are no programs, given bytes: for `fuzz.py parsers`.

The targets are configuration files, comments that hide findings, notebooks (also after all fixes)
and baselines. atheris chooses the bytes where it is installed, by what runs in tfnanlint; without
it, samples are mutated at random. A violation is an exception other than those that are documented,
an internal error (TFN000), or a baseline or notebook that does not come out as it went in.
"""

from __future__ import annotations

import json
import pathlib
import random
import subprocess
import sys
import time
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = b"import tensorflow as tf\ny = tf.math.log(tf.nn.relu(x))  "
CONFIGURATION = rb"""
select = ["TFN1", "log-of-zero"]
extend-select = ["ALL"]
exclude = ["a/**", "*.{py,ipynb}", "[!x]", "b\\"]
certainty = "may"
modes = ["eager", "xla"]
epsilon = 1e-7
max-file-size = 100
baseline = "b.json"
target-tensorflow = "2.16"
[per-file-ignores]
"tests/**" = ["TFN101"]
"""
BASELINE = (
    b'{"version": 2, "files": {"a.py": {"0f": ["TFN101", "y = tf.math.log(x)"], "1a": "TFN1"}}}'
)
COMMENTS = (
    b"# tfn: ignore[TFN101, log-of-zero] reason\n",
    b"# tfn: skip-file\n# noqa: TFN101,E5\n",
    b"# noqa\nz = 1  # TFN: ignore[\n",
)
NOTEBOOK = json.dumps(
    {
        "cells": [
            {
                "cell_type": "code",
                "source": ["import tensorflow as tf\n", "%time y = tf.math.log(tf.nn.relu(x))"],
                "outputs": [],
                "metadata": {},
                "execution_count": None,
            },
            {"cell_type": "markdown", "source": "tf \u00e9", "metadata": {}},
            {"cell_type": "code", "source": "z = tf.sqrt(tf.square(y))\n!ls", "metadata": {}},
        ],
        "metadata": {"kernelspec": {"language": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    },
    indent=1,
).encode()


class Violation(Exception):
    """What must not happen."""


class Memory:
    """Files that all hold the same bytes."""

    def __init__(self, data: bytes, name: str):
        self._data = data
        self._name = name

    def read(self, path: str, limit: int = -1) -> bytes | None:
        return self._data if path.endswith(self._name) else None


def configuration(data: bytes) -> None:
    from tfnanlint.config.layers import ConfigError, Configuration, Layer
    from tfnanlint.pipeline.linter import load_rules

    for name in ("tfnanlint.toml", "pyproject.toml"):
        text = b"[tool.tfnanlint]\n" + data if name == "pyproject.toml" else data
        try:
            settings = Configuration(Layer("", "/p"), (), False, Memory(text, f"/p/{name}"))
            for path in ("/p/a.py", "/p/tests/b\n.py"):
                stated = settings.for_file(path)
                stated.policy(path, load_rules())
                stated.excludes_name(path)
                stated.excludes_pattern(path, False)
        except ConfigError as error:
            if len(str(error)) > 10_000:
                raise Violation("a long message") from error


def checked(path: str, data: bytes) -> None:
    """Check and fix a file, as the command line does it."""
    linter = _linter()
    for finding in linter.check(path, data).findings:
        if finding.code == "TFN000":
            raise Violation(finding.message)
    after = linter.fix(path, data).after
    if linter.fix(path, after).after != after:
        raise Violation("a second run changes something")


def suppression(data: bytes) -> None:
    checked("/p/a.py", PROGRAM + data)


def notebook(data: bytes) -> None:
    from tfnanlint.notebook.document import Notebook
    from tfnanlint.syntax.source import Unreadable

    checked("/p/a.ipynb", data)
    try:
        document = Notebook("/p/a.ipynb", data)
        if document.edited(document.source) != data:
            raise Violation("a notebook without edits has changed")
    except Unreadable:
        pass


def baseline(data: bytes) -> None:
    from tfnanlint.config.keys import ConfigError
    from tfnanlint.pipeline.baseline import Baseline

    try:
        text = Baseline.read("/p/b.json", Memory(data, "b.json")).text()
    except ConfigError:
        return
    again = Baseline.read("/p/b.json", Memory(text.encode("utf-8", "surrogatepass"), "b.json"))
    if again.text() != text:
        raise Violation("a baseline has changed")


TARGETS: dict[str, tuple[Callable[[bytes], None], tuple[bytes, ...]]] = {
    "configuration": (configuration, (CONFIGURATION,)),
    "suppression": (suppression, COMMENTS),
    "notebook": (notebook, (NOTEBOOK,)),
    "baseline": (baseline, (BASELINE,)),
}
INSTRUMENTED = (
    "tfnanlint.config",
    "tfnanlint.notebook",
    "tfnanlint.pipeline.baseline",
    "tfnanlint.suppression",
)
_kept: list = []


def _linter():
    """A linter with all rules and all fixes."""
    if not _kept:
        from tfnanlint.config.layers import Configuration, Layer
        from tfnanlint.pipeline.linter import Linter, load_rules

        settings = Layer("fuzz", "/", preview=True, unsafe_fixes=True)
        _kept.append(Linter(Configuration(settings, (), True), load_rules()))
    return _kept[0]


def mutated(data: bytes, dice: random.Random) -> bytes:
    """Some bytes after a few mutations."""
    for _ in range(dice.randint(1, 5)):
        at, to = dice.randrange(len(data) + 1), dice.randrange(len(data) + 1)
        piece = data[min(at, to) : max(at, to)]
        new = (
            bytes([dice.randrange(256)]),
            dice.choice((b'"', b"[", b"]", b"{", b"}", b"\\", b"\n", b"0", b"\xff", b"\xf0\x9f")),
            piece[:50] * dice.choice((0, 1, 2, 30)),
        )
        data = data[:at] + dice.choice(new) + data[at + dice.choice((0, 0, 1, 9)) :]
    return data


def parsed_inputs(name: str | None, seconds: float, seed: int) -> int:
    """How many inputs break something, of as many as there is time for, for all targets or one.
    Prints them.
    """
    names = [name] if name else list(TARGETS)
    try:
        import atheris  # noqa: F401
    except ImportError:
        return sum(of_target(each, seconds / len(names), seed) for each in names)
    return sum(by_coverage(each, seconds / len(names), seed) for each in names)


def of_target(name: str, seconds: float, seed: int) -> int:
    """`parsed_inputs` of one target without atheris."""
    target, samples = TARGETS[name]
    dice = random.Random(f"{name} {seed}")
    inputs = violations = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        data = mutated(dice.choice(samples), dice)
        inputs += 1
        try:
            target(data)
        except Exception as error:
            violations += 1
            print(f"{name}: {type(error).__name__}: {error}\n  {data!r}", flush=True)
    print(f"{name}: {inputs} inputs, {violations} violations", flush=True)
    return violations


def by_coverage(name: str, seconds: float, seed: int) -> int:
    """`parsed_inputs` of one target with atheris, in a process that ends at the first violation."""
    done = subprocess.run(
        [sys.executable, __file__, name, str(int(seconds)), str(seed)],
        capture_output=True,
        text=True,
        errors="replace",
    )
    lines = done.stderr.splitlines()
    counts = [line for line in lines if "stat::number_of_executed_units" in line]
    inputs = counts[-1].split()[-1] if counts else "?"
    print(f"{name}: {inputs} inputs, {int(done.returncode != 0)} violations (atheris)", flush=True)
    if done.returncode:
        print("\n".join((done.stdout + done.stderr).splitlines()[-40:]), flush=True)
    return int(done.returncode != 0)


def main() -> None:
    """Run atheris on a target: its name, seconds and seed are the arguments."""
    import tempfile

    import atheris

    name, seconds, seed = sys.argv[1:]
    with atheris.instrument_imports(include=list(INSTRUMENTED)):
        import tfnanlint.config.layers
        import tfnanlint.notebook.document
        import tfnanlint.pipeline.baseline
        import tfnanlint.suppression.comments  # noqa: F401
    target, samples = TARGETS[name]
    target(samples[0])
    with tempfile.TemporaryDirectory() as folder:
        for number, sample in enumerate(samples):
            pathlib.Path(folder, str(number)).write_bytes(sample)
        options = [f"-max_total_time={seconds}", f"-seed={int(seed) + 1}", "-print_final_stats=1"]
        options += [f"-artifact_prefix={tempfile.gettempdir()}/", "-max_len=4096", "-timeout=20"]
        atheris.Setup([sys.argv[0], *options, folder], target)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
