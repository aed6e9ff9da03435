#!/usr/bin/env python3
"""Functions of real code fixed and executed before and after: fixed_functions.py DIR... [--limit N]
[--json OUT] [--verbose]

Taken are functions without `self` whose names are their own, those of TensorFlow, NumPy, Keras and
math, constants of their file and other such functions of it, and to which a fix applies. Each
becomes a module of its own, which is fixed as by `--fix` and by `--unsafe-fixes --fix`; arguments
are guessed until the original runs on random tensors. Then values and gradients are compared on
ordinary and special inputs (tests/support/differential.py). Third-party code runs in a process of
its own, with a time limit and without writing files; a function that names anything of the system,
of files or of the network is left out. Nothing of it is kept.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import collections
import difflib
import json
import os
import pathlib
import re
import resource
import select
import subprocess
import sys
from dataclasses import dataclass

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "support"))

from differential import Check, Tool  # noqa: E402
from hazard_programs import Program  # noqa: E402

SECONDS = 90  # for all guesses of one function
LIBRARIES = (
    "tensorflow",
    "tensorflow.compat.v1",
    "tensorflow.compat.v2",
    "numpy",
    "keras",
    "math",
    "tensorflow.keras",
    "keras.backend",
    "tensorflow.keras.backend",
    "tensorflow.python.keras",
    "tensorflow.python.keras.backend",
    "tensorflow.experimental.numpy",
)
NO_NAMES = {
    "open",
    "exec",
    "eval",
    "compile",
    "input",
    "globals",
    "locals",
    "vars",
    "getattr",
    "setattr",
    "delattr",
    "breakpoint",
    "exit",
    "quit",
    "__import__",
    "memoryview",
    "print",
    "help",
}
# Parts of the libraries that reach files, processes or Python text.
NO_ATTRIBUTES = {
    "io",
    "gfile",
    "data",
    "summary",
    "saved_model",
    "train",
    "py_function",
    "py_func",
    "numpy_function",
    "load",
    "save",
    "savez",
    "savetxt",
    "loadtxt",
    "fromfile",
    "tofile",
    "memmap",
    "genfromtxt",
    "get_file",
    "utils",
    "datasets",
    "raw_ops",
    "lib",
    "load_library",
    "os",
    "sys",
    "ctypeslib",
    "DataSource",
    "read_file",
    "write_file",
    "print",
    "load_op_library",
    "distribute",
    "app",
    "flags",
    "logging",
    "test",
}
WORDS = re.compile(
    r"\b(log|sqrt|norm|exp|softmax|sigmoid|where|divide|rsqrt|pow|acos|std|variance|moments|clip_by_value|reciprocal|atan2)\b|/|\*\*"
)
SHAPES = ((3, 4), (4,), (2, 3, 4), (), (2, 4, 4, 3), (4, 4), (2, 4, 4), (5, 3))
# What a parameter is guessed to be, by its name: a kind of tensor, or a number.
KINDS = (
    (r"mask|weight", "m"),
    (r"logit", "z"),
    (r"label|y_true|target|onehot|one_hot|truth", "h"),
    (r"prob|y_pred|pred|alpha|^p$", "q"),
    (r"var|std|sigma|scale|count|sum|dist", "s"),
)
NUMBERS = (
    (r"axis|dim$", "-1"),
    (r"eps", "1e-6"),
    (
        r"^(num|n|k|size|depth|width|height|length|batch|units|order|steps)(_|$)|_(size|num|count|dim)$",
        "4",
    ),
    (r"temperature|margin|gamma|beta|rate|factor|lr", "0.5"),
    (r"^(is|use|training|with|reuse)", "False"),
    (r"dtype", "tf.float32"),
    (r"name|scope", "None"),
)


@dataclass(frozen=True)
class Candidate:
    path: str
    name: str
    module: str  # its text alone, with what it needs
    needed: tuple[str, ...]  # parameters without a default


def candidates(path: pathlib.Path) -> list[Candidate]:
    """The functions of a file that can be run alone."""
    try:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    if "tensorflow" not in text and "keras" not in text:
        return []
    imports, constants, functions = {}, {}, {}
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            imports.update(_imported(node))
        elif (
            isinstance(node, ast.Assign)
            and len(node.targets) == 1
            and isinstance(node.targets[0], ast.Name)
            and _literal(node.value)
        ):
            constants[node.targets[0].id] = ast.unparse(node)
        elif isinstance(node, ast.FunctionDef):
            functions[node.name] = node
    found = []
    for node in [*functions.values(), *_static(tree)]:
        lines = _alone(node, text, imports, constants, functions)
        if lines is not None:
            arguments = [*node.args.posonlyargs, *node.args.args]
            found.append(
                Candidate(
                    str(path),
                    node.name,
                    lines,
                    tuple(one.arg for one in arguments[: len(arguments) - len(node.args.defaults)]),
                )
            )
    return found


def _static(tree: ast.Module) -> list[ast.FunctionDef]:
    """Methods that read no object."""
    return [
        node
        for one in tree.body
        if isinstance(one, ast.ClassDef)
        for node in one.body
        if isinstance(node, ast.FunctionDef)
        and any(ast.unparse(d) == "staticmethod" for d in node.decorator_list)
    ]


def _imported(node: ast.Import | ast.ImportFrom) -> dict[str, str]:
    """Names of libraries that an import binds, each with the line that binds it."""
    found = {}
    for one in node.names:
        if (
            isinstance(node, ast.Import)
            and one.name in LIBRARIES
            and (one.asname or "." not in one.name)
        ):
            found[one.asname or one.name] = f"import {one.name}" + (
                f" as {one.asname}" if one.asname else ""
            )
        elif (
            isinstance(node, ast.ImportFrom)
            and not node.level
            and node.module in LIBRARIES
            and one.name not in NO_ATTRIBUTES | {"*"}
        ):
            found[one.asname or one.name] = f"from {node.module} import {one.name}" + (
                f" as {one.asname}" if one.asname else ""
            )
    return found


def _literal(node: ast.expr) -> bool:
    return all(
        isinstance(
            one,
            (
                ast.Constant,
                ast.BinOp,
                ast.UnaryOp,
                ast.Tuple,
                ast.List,
                ast.operator,
                ast.unaryop,
                ast.Load,
            ),
        )
        for one in ast.walk(node)
    )


def _alone(node: ast.FunctionDef, text: str, imports, constants, functions) -> str | None:
    """A module with a function and what it needs; None when that is not all of TensorFlow and its
    like.
    """
    args = node.args
    if (
        args.vararg
        or args.kwarg
        or args.kwonlyargs
        and None in args.kw_defaults
        or not (args.args or args.posonlyargs)
    ):
        return None
    heads, parts, waiting, seen = {}, {}, [node], {node.name}
    while waiting:
        one = waiting.pop()
        names = _read(one)
        if names is None:
            return None
        parts[one.name] = _text(text, one)
        for name in sorted(names):
            if name in functions and name not in seen:
                seen.add(name)
                waiting.append(functions[name])
            elif name in imports:
                heads[name] = imports[name]
            elif name in constants:
                heads[name] = constants[name]
            elif name not in seen and not hasattr(builtins, name):
                return None
    if (
        len(parts) > 6
        or "tf" not in heads
        and not any("tensorflow" in line or "keras" in line for line in heads.values())
    ):
        return None
    lines = sorted(
        dict.fromkeys(heads.values()), key=lambda line: not line.startswith(("import", "from"))
    )
    return (
        "from __future__ import annotations\n\n"
        + "\n".join(lines)
        + "\n\n\n"
        + "\n\n\n".join(parts[name] for name in reversed(parts))
        + "\n"
    )


def _read(node: ast.FunctionDef) -> set[str] | None:
    """Names that a function reads from outside; None when one of them is not allowed."""
    names, bound = set(), set()
    for one in _walk(node):
        if isinstance(one, ast.Name):
            (names if isinstance(one.ctx, ast.Load) else bound).add(one.id)
        elif isinstance(one, ast.arg):
            bound.add(one.arg)
        elif isinstance(one, (ast.FunctionDef, ast.ExceptHandler)) and one is not node and one.name:
            bound.add(one.name)
        elif isinstance(one, ast.Attribute) and (
            one.attr in NO_ATTRIBUTES or one.attr.startswith("_")
        ):
            return None
        elif isinstance(
            one,
            (
                ast.Import,
                ast.ImportFrom,
                ast.Global,
                ast.Nonlocal,
                ast.ClassDef,
                ast.Yield,
                ast.YieldFrom,
                ast.Await,
                ast.While,
            ),
        ):
            return None
    return (
        None
        if (names - bound) & NO_NAMES or any(name.startswith("__") for name in names)
        else names - bound
    )


def _walk(node: ast.AST):
    """All nodes but annotations and decorators."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_comment"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _walk(child)


def _text(text: str, node: ast.FunctionDef) -> str:
    """A function's lines without decorators, at the left margin."""
    lines = text.splitlines()[node.lineno - 1 : node.end_lineno]
    return "\n".join(
        line[node.col_offset :] if not line[: node.col_offset].strip() else line for line in lines
    )


def guesses(one: Candidate) -> list[Program]:
    """The module with a function `program` of tensors, for each guess of what its arguments are."""
    numbers = {
        name: next((value for pattern, value in NUMBERS if re.search(pattern, name.lower())), None)
        for name in one.needed
    }
    named = {
        name: next((kind for pattern, kind in KINDS if re.search(pattern, name.lower())), "r")
        for name in one.needed
    }
    texts = [one.module]
    if re.search(r"^import tensorflow as tf$", one.module, re.M):
        texts.append(
            re.sub(
                r"^import tensorflow as tf$",
                "import tensorflow.compat.v1 as tf",
                one.module,
                flags=re.M,
            )
        )
    found = []
    for module in texts:
        for shape in SHAPES:
            for kinds in ({**named}, {name: "r" for name in named}, {name: "s" for name in named}):
                for fixed in (numbers, {}) if any(numbers.values()) else ({},):
                    tensors = {
                        f"{name}_": kind for name, kind in kinds.items() if not fixed.get(name)
                    }
                    if tensors:
                        found.append(_program(module, one, tensors, fixed, shape))
    return found


def _program(
    module: str,
    one: Candidate,
    tensors: dict[str, str],
    fixed: dict[str, str],
    shape: tuple[int, ...],
) -> Program:
    arguments = ", ".join(f"{name}={fixed.get(name) or f'{name}_'}" for name in one.needed)
    names = ", ".join(tensors)
    text = (
        f"{module}\n\nimport tensorflow\n\n\ndef program({names}):\n    results = {one.name}({arguments})\n"
        f"    return [result for result in tensorflow.nest.flatten(results) if tensorflow.is_tensor(result)]\n\n\n"
        f"def differentiate({names}):\n    with tensorflow.GradientTape() as tape:\n        tape.watch([{names}])\n"
        f"        losses = {one.name}({arguments})\n    return tape.gradient(losses, [{names}])\n"
    )
    return Program(
        text.replace("=tf.float32", "=tensorflow.float32"), tensors, [], ("eager",), shape=shape
    )


def examined(one: Candidate, tool: Tool) -> dict:
    """What became of one function: the first guess that runs, the fixes, and what differs."""
    first = ""
    for program in guesses(one):
        check = Check(program, tool)
        if check.error or not check.usual_is_finite:
            first = first or check.error or "not finite on ordinary inputs"
            continue
        failures, texts = check.failures()
        found = {stage: list(fixed.applied) for stage, fixed in texts.items()}
        for failure in failures[:1]:
            changes = difflib.unified_diff(
                program.text.splitlines(),
                texts[failure.stage].text.splitlines(),
                "before",
                "after",
                lineterm="",
                n=2,
            )
            return {
                "applied": found,
                "failure": str(failure),
                "kind": failure.kind,
                "titles": texts[failure.stage].titles,
                "changes": "\n".join(changes),
                "shape": program.shape,
                "kinds": program.parameters,
            }
        return {"applied": found, "failure": ""}
    return {"error": first}


def work() -> int:
    """Reads candidates as JSON lines and answers each with one line."""
    import keras  # noqa: F401  both look for a place for files
    import tensorflow  # noqa: F401

    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    tool, output = Tool(), os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    output.write("ready\n")
    output.flush()
    for line in sys.stdin:
        output.write(json.dumps(examined(Candidate(**json.loads(line)), tool)) + "\n")
        output.flush()
    return 0


class Worker:
    """A process that runs functions; one that takes too long is ended, and the next begins."""

    def __init__(self) -> None:
        self.process: subprocess.Popen | None = None

    def ask(self, one: Candidate) -> dict:
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                [sys.executable, __file__, "--worker", "."],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            # it is ready: loading TensorFlow is no part of the time limit
            self.process.stdout.readline()
        self.process.stdin.write(json.dumps(one.__dict__) + "\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], SECONDS)
        line = self.process.stdout.readline() if ready else ""
        if not line:
            self.close()
            return {"error": "the time ran out, or its process ended"}
        return json.loads(line)

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=pathlib.Path, nargs="+")
    parser.add_argument("--limit", type=int, default=0, help="at most so many functions with a fix")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--verbose", action="store_true", help="say why functions did not run, too")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        return work()
    tool, worker, counts, rules, errors, failed, seen = (
        Tool(),
        Worker(),
        collections.Counter(),
        collections.Counter(),
        collections.Counter(),
        [],
        set(),
    )
    for path in sorted(path for folder in args.directory for path in folder.rglob("*.py")):
        for one in candidates(path):
            counts["can stand alone"] += 1
            if one.module in seen or not WORDS.search(one.module):
                continue
            seen.add(one.module)
            program = next(iter(guesses(one)), None)
            if program is None or not any(
                finding.fixes for finding in tool.findings(tool.source(program))
            ):
                continue
            counts["with a fix on offer"] += 1
            answer = worker.ask(one)
            if "error" in answer:
                counts["do not run on any guess"] += 1
                errors[re.sub(r"'.*?'|\d+", "*", answer["error"])[:80]] += 1
                if args.verbose:
                    print(f"{one.path} {one.name}: {answer['error']}", file=sys.stderr)
                continue
            counts["run"] += 1
            counts["run with a fix applied"] += any(answer["applied"].values())
            rules.update(
                f"{stage} {code}" for stage, codes in answer["applied"].items() for code in codes
            )
            if answer["failure"]:
                failed.append({"path": one.path, "function": one.name, **answer})
                print(
                    f"\n== {one.path} {one.name}{tuple(answer['kinds'].values())}{answer['shape']}: {answer['failure']}\n{answer['changes']}\n"
                    f"  fixes: {'; '.join(answer['titles'])}",
                    flush=True,
                )
            if args.limit and counts["with a fix on offer"] >= args.limit:
                break
        if args.limit and counts["with a fix on offer"] >= args.limit:
            break
    worker.close()
    report = {
        **counts,
        "differ": len(failed),
        "by kind": dict(collections.Counter(row["kind"] for row in failed)),
        "fixes applied": dict(sorted(rules.items())),
        "why others do not run": dict(errors.most_common(12)),
    }
    print(json.dumps(report, indent=2))
    if args.json:
        args.json.write_text(json.dumps({**report, "failed": failed}, indent=2))
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
