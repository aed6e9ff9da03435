#!/usr/bin/env python3
"""How the cost grows: growth.py [--lines N ...] [--files N ...] [--only KIND]
                    growth.py --hostile [WORD ...] [--times N] [--bytes N] [--seconds N] [--profile]

CPU seconds and peak memory of one check of generated TensorFlow code, next to `ast.parse` of the
same bytes: over the length of a file, of four kinds, and over the number of files of a project that
import one another. Each row is a process of its own. The exponent of a kind is the slope fitted
through log(size) and log(CPU): 1 is linear growth.

With `--hostile`, the same of the cases of tests/support/hostile.py whose names hold one of the
words: the command line checks each at its count, twice and four times that; the time of an almost
empty file is subtracted, and the exponent is that of the last doubling. `--bytes` checks each once
at about that length instead. `--profile` prints where the time of one check goes.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

import hostile as hostile_programs  # noqa: E402

HEAD = "import tensorflow as tf\nfrom tensorflow import keras\n\nEPS = 1e-6\n\n\n"
MODEL = """class Model{i}(keras.Model):
    def __init__(self, width=8, eps=EPS):
        super().__init__()
        self.eps = eps
        self.hidden = keras.layers.Dense(width, activation="relu")
        self.head = keras.layers.Dense(3, activation="softmax")
        self.scale = tf.Variable(1.0)

    def call(self, x, training=False):
        h = self.hidden(x)
        if training:
            h = tf.nn.dropout(h, 0.5)
        return self.head(h / (self.scale + self.eps))

    def entropy(self, x):
        p = self.call(x)
        return -tf.reduce_sum(p * tf.math.log(p + self.eps), axis=-1)


def loss{i}(labels, p, weight=1.0):
    p = guarded{i}(p)
    return -weight * tf.reduce_mean(labels * tf.math.log(p))


def guarded{i}(p, floor=1e-7):
    if floor <= 0:
        raise ValueError(floor)
    p = tf.where(p > 0, p, tf.ones_like(p) * floor)
    return tf.clip_by_value(p, floor, 1.0)


def distance{i}(a, b):
    return tf.sqrt(tf.reduce_sum(tf.square(a - b), axis=-1) + 1e-12)


def train{i}(x, y, optimizer):
    model = Model{i}()
    for step in range(10):
        with tf.GradientTape() as tape:
            p = model(x, training=True)
            total = loss{i}(y, p) + 0.1 * tf.reduce_mean(distance{j}(p, y))
        grads = tape.gradient(total, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return total


"""
STEPS = (
    "    v{i} = tf.nn.relu(v{a}) + v{b}",
    "    v{i} = tf.math.log(tf.abs(v{a}) + EPS)",
    "    v{i} = v{a} / (tf.reduce_sum(v{b}) + 1.0)",
    "    v{i} = tf.sigmoid(v{a}) * v{b}",
    "    v{i} = tf.where(v{a} > 0, v{a}, 1.0)",
    "    v{i} = tf.sqrt(tf.square(v{a}) + 1e-9)",
)
SMALL = """def part{i}(x, y):
    p = helper(x, 1e-3)
    return tf.math.log(p) + tf.reduce_mean(y)


"""
HELPER = "def helper(x, eps):\n    return tf.nn.softmax(x) + eps\n\n\n"
CHAIN = """def level{i}(x, n=2):
    y = tf.nn.relu(level{j}(x)) + 1.0
    return tf.math.log(y) / (tf.norm(y) + EPS)


"""


def classes(lines: int) -> str:
    """Models, losses, guards and training loops that call one another."""
    rows = MODEL.count("\n")
    return HEAD + "".join(MODEL.format(i=i, j=max(0, i - 1)) for i in range(lines // rows))


def one_function(lines: int) -> str:
    body = (
        STEPS[i % len(STEPS)].format(i=i, a=i - 1, b=max(0, i - 1 - i % 7)) for i in range(1, lines)
    )
    return HEAD + "def program(v0):\n" + "\n".join(body) + f"\n    return v{lines - 1}\n"


def one_helper(lines: int) -> str:
    return HEAD + HELPER + "".join(SMALL.format(i=i) for i in range(lines // SMALL.count("\n")))


def chain(lines: int) -> str:
    """Each function calls the one before."""
    first = "def level0(x, n=2):\n    return tf.sigmoid(x)\n\n\n"
    return (
        HEAD
        + first
        + "".join(CHAIN.format(i=i, j=i - 1) for i in range(1, lines // CHAIN.count("\n")))
    )


KINDS = {
    "classes": classes,
    "one function": one_function,
    "one helper": one_helper,
    "chain of calls": chain,
}


def project(folder: pathlib.Path, files: int) -> list[pathlib.Path]:
    """A package whose modules import a shared one, the one before and one far away."""
    package = folder / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "shared.py").write_text(HEAD + HELPER)
    paths = []
    for index in range(files):
        before, far = max(0, index - 1), index // 2
        text = HEAD + "from package.shared import helper\n"
        if index:
            text += f"from package.module{before} import loss{before} as other\nfrom package import module{far}\n"
        text += "\n\n" + MODEL.format(i=index, j=index)
        if index:
            text += (
                f"def both{index}(x, y):\n    p = helper(x, 1e-3)\n    q = module{far}.guarded{far}(tf.sigmoid(x))\n"
                f"    return other(y, p) + tf.math.log(q)\n"
            )
        paths.append(package / f"module{index}.py")
        paths[-1].write_text(text)
    return paths


def measure(paths: list[str]) -> dict[str, float]:
    """CPU of parsing and of checking the files, in this process, and its peak memory in MiB."""
    from tfnanlint.config.layers import Configuration, Layer
    from tfnanlint.pipeline.check import check
    from tfnanlint.rule import registry as rules

    files = [(path, pathlib.Path(path).read_bytes()) for path in paths]
    policy = (
        Configuration(Layer(), (), True)
        .for_directory(os.path.dirname(paths[0]))
        .policy("", rules.load())
    )
    check("warm.py", b"import tensorflow as tf\nx = tf.math.log(tf.nn.relu(y))\n", policy)
    start = time.process_time()
    for _, data in files:
        ast.parse(data)
    parsed = time.process_time() - start
    start = time.process_time()
    found = sum(len(check(path, data, policy).findings) for path, data in files)
    return {
        "lines": sum(data.count(b"\n") for _, data in files),
        "parse": parsed,
        "check": time.process_time() - start,
        "findings": found,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def apart(paths: list[pathlib.Path]) -> dict[str, float]:
    """`measure` in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--measure"],
        input="\n".join(map(str, paths)),
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def exponent(points: list[tuple[float, float]]) -> float:
    """The slope of the line through the points on logarithmic axes, by least squares."""
    xs, ys = [math.log(x) for x, _ in points], [math.log(y) for _, y in points]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys)) / sum((a - x) ** 2 for a in xs)


def table(kind: str, sizes: list[int], make) -> None:
    points = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            found = apart(make(pathlib.Path(folder), size))
        points.append((size, found["check"]))
        print(
            f"{kind:16} {size:8} {found['lines']:8.0f} {found['check']:8.2f} {found['check'] / found['parse']:7.2f} "
            f"{1e6 * found['check'] / found['lines']:8.1f} {found['memory']:7.0f} {found['findings']:9.0f}",
            flush=True,
        )
    if len(points) > 1:
        print(f"{kind:16} exponent {exponent(points):.2f}", flush=True)


def single(text_of):
    def make(folder: pathlib.Path, size: int) -> list[pathlib.Path]:
        path = folder / "generated.py"
        path.write_text(text_of(size))
        return [path]

    return make


def command(options: tuple[str, ...], path: pathlib.Path) -> list[str]:
    """The command line that checks a hostile file."""
    shape = () if "--output-format" in options else ("--output-format", "concise")
    alone = ("--isolated", "--no-cache", "--jobs", "1")
    return [sys.executable, "-m", "tfnanlint", "check", *alone, *shape, *options, str(path)]


def spent(options: tuple[str, ...], text: str, seconds: int) -> tuple[float, float, str]:
    """CPU seconds and peak MiB of a check of a text, and how it ended otherwise than by itself, or
    that it says what it left out.
    """
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as output:
        path = pathlib.Path(folder) / "a.py"
        path.write_text(text)
        child = subprocess.Popen(
            command(options, path),
            cwd=folder,
            stdout=output,
            stderr=output,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds)),
        )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        ended = "cut short" if any(b"ut short" in line for line in output) else ""
    if child.returncode not in (0, 1):
        ended = f"exit {child.returncode}"
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, ended


def grown(name: str, case: hostile_programs.Case, times: int, seconds: int, start: float) -> None:
    """Print the cost of a case at its count, twice and four times that."""
    row, took = "", []
    for factor in (times, 2 * times, 4 * times):
        cost, memory, ended = spent(case.options, case.text(factor * case.count), seconds)
        took.append(max(cost - start, 0.01))
        row += f" {took[-1]:8.2f}"
        if ended.startswith("exit") or 4 * took[-1] > seconds:
            break
    slope = math.log2(took[-1] / took[-2]) if len(took) > 1 else math.nan
    print(
        f"{name:32} {times * case.count:8}{row:27} {slope:6.2f} {memory:7.0f} {ended}", flush=True
    )


def of_length(name: str, case: hostile_programs.Case, length: int, seconds: int) -> None:
    """Print the cost of a case of about `length` bytes."""
    count = case.count
    while count > 1 and len(case.text(count)) > length:
        count //= 2
    for _ in range(3):  # numbers grow, too
        count = max(1, count * length // len(case.text(count)))
    text = case.text(count)
    cost, memory, ended = spent(case.options, text, seconds)
    print(f"{name:32} {len(text):8} {cost:8.2f} {memory:7.0f} {ended}", flush=True)


def profiled(case: hostile_programs.Case, count: int) -> None:
    """Print where the time of one check of a case goes."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "a.py"
        path.write_text(case.text(count))
        words = command(case.options, path)
        code = "import sys; from tfnanlint.__main__ import main; sys.exit(main())"
        script = f"import cProfile; cProfile.run({code!r}, sort='tottime')"
        subprocess.run([words[0], "-c", script, *words[3:]], stdout=sys.stdout)


def hostile(arguments: argparse.Namespace) -> None:
    words = arguments.hostile
    exact = [word for word in words if word in hostile_programs.CASES]
    cases = {
        name: case
        for name, case in hostile_programs.CASES.items()
        if not words or name in exact or any(word in name for word in words if word not in exact)
    }
    start = min(spent((), hostile_programs.HEAD + "y = tf.math.log(x)\n", 60)[0] for _ in range(3))
    for name, case in cases.items():
        if arguments.profile:
            profiled(case, arguments.times * case.count)
        elif arguments.bytes:
            of_length(name, case, arguments.bytes, arguments.seconds)
        else:
            grown(name, case, arguments.times, arguments.seconds, start)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lines", type=int, nargs="+", default=[10_000, 30_000, 100_000])
    parser.add_argument("--files", type=int, nargs="+", default=[100, 300, 1000])
    parser.add_argument("--only", choices=[*KINDS, "files"], help="one kind")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--hostile", nargs="*", metavar="WORD", help="hostile cases")
    parser.add_argument("--times", type=int, default=1, help="the count of a case, multiplied")
    parser.add_argument("--bytes", type=int, help="each hostile case once, of about this length")
    parser.add_argument("--seconds", type=int, default=60, help="of CPU that a case may take")
    parser.add_argument("--profile", action="store_true", help="where the time goes")
    args = parser.parse_args()
    if args.hostile is not None:
        hostile(args)
        return 0
    if args.measure:
        print(json.dumps(measure(sys.stdin.read().split("\n"))))
        return 0
    print(
        f"{'kind':16} {'size':>8} {'lines':>8} {'CPU s':>8} {'x parse':>7} {'us/line':>8} {'MiB':>7} {'findings':>9}"
    )
    for kind, text_of in KINDS.items():
        if args.only in (None, kind):
            table(kind, args.lines, single(text_of))
    if args.only in (None, "files"):
        table("files", args.files, project)
    return 0


if __name__ == "__main__":
    sys.exit(main())
