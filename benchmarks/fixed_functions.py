#!/usr/bin/env python3
"""Functions of real code fixed and executed before and after: fixed_functions.py DIR... [--limit N]
[--json OUT] [--verbose]

Taken are functions whose names are their own, those of TensorFlow, NumPy, Keras and math, constants
of their file and other such functions of it, and to which a fix applies; and methods that read only
attributes which their class sets to such values, each as a method of a class that holds nothing
else. Each becomes a module of its own, which is fixed as by `--fix` and by `--unsafe-fixes --fix`; arguments
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
    "tensorflow.math",
    "tensorflow.nn",
    "tensorflow.linalg",
    "tensorflow.keras.losses",
    "tensorflow.keras.layers",
    "tensorflow.keras.activations",
    "tensorflow.python.ops",
    "tensorflow.python.framework",
    "keras.ops",
    "keras.losses",
    "keras.layers",
    "keras.activations",
    "functools",
    "itertools",
    "typing",
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
    "io_ops",
    "script_ops",
    "flags",
    "logging",
    "test",
}
WORDS = re.compile(
    r"\b(log|sqrt|norm|exp|softmax|sigmoid|where|divide|rsqrt|pow|acos|std|variance|moments|clip_by_value|reciprocal|atan2)\b|/|\*\*"
)
SHAPES = ((3, 4), (4,), (2, 3, 4), (), (2, 4, 4, 3), (4, 4), (2, 4, 4), (5, 3))
_LABELS = r"label|y_true|target|onehot|one_hot|truth"
# What a parameter is guessed to be, by its name: a kind of tensor, or a number.
KINDS = (
    (r"mask|weight", "m"),
    (r"logit", "z"),
    (_LABELS, "h"),
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
    (r"dtype", "_float32"),
    (r"name|scope", "None"),
)


# What calls a function: names that a fix does not write.
_HARNESS = """from tensorflow import GradientTape as _Tape
from tensorflow import float32 as _float32
from tensorflow import is_tensor as _is_tensor
from tensorflow import nest as _nest
from tensorflow import stop_gradient as _stopped"""


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
            and _constant(node.value)
        ):
            constants[node.targets[0].id] = ast.unparse(node)
        elif isinstance(node, ast.FunctionDef):
            functions[node.name] = node
    found = []
    for node in [*functions.values(), *_static(tree)]:
        lines = _alone(node, text, imports, constants, functions)
        if lines is not None:
            found.append(Candidate(str(path), node.name, lines, _needed(node.args)))
    for owner in tree.body:
        if isinstance(owner, ast.ClassDef):
            found += _methods(owner, text, str(path), imports, constants, functions)
    return found


def _needed(args: ast.arguments, skipped: int = 0) -> tuple[str, ...]:
    """The parameters without a default, but for the first `skipped`."""
    arguments = [*args.posonlyargs, *args.args]
    return tuple(one.arg for one in arguments[skipped : len(arguments) - len(args.defaults)])


def _methods(
    owner: ast.ClassDef, text: str, path: str, imports: dict, constants: dict, functions: dict
) -> list[Candidate]:
    """Methods that need of their object only attributes which its class sets to constants."""
    methods = {node.name: node for node in owner.body if isinstance(node, ast.FunctionDef)}
    settings = _settings(owner, methods.get("__init__"))
    found = []
    for node in methods.values():
        arguments = [*node.args.posonlyargs, *node.args.args]
        if node.decorator_list or len(arguments) < 2 or node.name.startswith("__"):
            continue
        parts, waiting = {node.name: node}, [node]
        kept: dict[str, str] = {}
        while waiting:
            for name in _own(waiting.pop()):
                if name in methods and not methods[name].decorator_list and len(parts) < 6:
                    if name not in parts:
                        parts[name] = methods[name]
                        waiting.append(methods[name])
                elif name in settings:
                    kept[name] = settings[name]
                else:
                    parts = {}
                    break
            if not parts:
                break
        if not parts:
            continue
        body = [f"    {name} = {value}" for name, value in kept.items()]
        body += ["", *("    " + line for one in parts.values() for line in _lines(text, one))]
        needed = _needed(node.args, 1)
        called = f"called_{node.name}"
        whole = "\n".join(
            [
                f"class {owner.name}:",
                *body,
                "",
                "",
                f"def {called}({', '.join(needed)}):",
                f"    return {owner.name}().{node.name}({', '.join(needed)})",
            ]
        )
        module = _with_heads(whole, [*parts.values()], text, imports, constants, functions, kept)
        if module is not None and needed:
            found.append(Candidate(path, called, module, needed))
    return found


def _own(method: ast.FunctionDef) -> set[str]:
    """The attributes of its object that a method names; of another use of the object, an
    impossible name.
    """
    this = [*method.args.posonlyargs, *method.args.args][0].arg
    attributes = [
        node
        for node in _walk(method)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == this
    ]
    held = {id(node.value) for node in attributes}
    others = any(
        isinstance(node, ast.Name) and node.id == this and id(node) not in held
        for node in _walk(method)
    )
    stored = any(not isinstance(node.ctx, ast.Load) for node in attributes)
    return {node.attr for node in attributes} | ({""} if others or stored else set())


def _settings(owner: ast.ClassDef, maker: ast.FunctionDef | None) -> dict[str, str]:
    """What the attributes of an object are, where its class says so by constants, or by defaults of
    parameters; numbers for parameters whose names are those of numbers.
    """
    found = {
        node.targets[0].id: ast.unparse(node.value)
        for node in owner.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and _constant(node.value)
    }
    if maker is None:
        return found
    args = maker.args
    arguments = [*args.posonlyargs, *args.args][1:]
    values: dict[str, str] = {}
    pairs = [
        *zip(reversed(arguments), reversed([*args.defaults])),
        *zip(args.kwonlyargs, args.kw_defaults),
    ]
    for argument in [*arguments, *args.kwonlyargs]:
        guess = next(
            (v for pattern, v in NUMBERS if re.search(pattern, argument.arg.lower())), None
        )
        if guess is not None:
            values[argument.arg] = guess
    for argument, default in pairs:
        if default is not None and _constant(default):
            values[argument.arg] = ast.unparse(default)
    for node in ast.walk(maker):
        if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute)):
            continue
        target, value = node.targets[0], node.value
        if isinstance(target.value, ast.Name) and target.value.id == "self":
            if isinstance(value, ast.Name) and value.id in values:
                found[target.attr] = values[value.id]
            elif _literal(value):
                found[target.attr] = ast.unparse(value)
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


_LITERALS = (
    ast.Constant,
    ast.BinOp,
    ast.UnaryOp,
    ast.Tuple,
    ast.List,
    ast.operator,
    ast.unaryop,
    ast.Load,
)


def _literal(node: ast.expr) -> bool:
    return all(isinstance(one, _LITERALS) for one in ast.walk(node))


def _constant(node: ast.expr) -> bool:
    """Whether an expression is made of literals and of what libraries have and compute
    (`0.5 * np.log(2 * np.pi)`).
    """
    return all(
        isinstance(one, (*_LITERALS, ast.Name, ast.Attribute, ast.Call, ast.keyword))
        and getattr(one, "attr", "") not in NO_ATTRIBUTES
        for one in ast.walk(node)
    )


def _alone(node: ast.FunctionDef, text: str, imports, constants, functions) -> str | None:
    """A module with a function and what it needs; None when that is not all of TensorFlow and its
    like.
    """
    args = node.args
    if args.vararg or args.kwonlyargs and None in args.kw_defaults:
        return None
    if not (args.args or args.posonlyargs):
        return None
    return _with_heads(None, [node], text, imports, constants, functions, {})


def _with_heads(
    body: str | None,
    roots: list[ast.FunctionDef],
    text: str,
    imports: dict[str, str],
    constants: dict[str, str],
    functions: dict[str, ast.FunctionDef],
    kept: dict[str, str],
) -> str | None:
    """A module of `body`, or of the text of `roots`, and of the imports, constants and functions
    that these read; None when they read anything else.
    """
    heads, before, parts = {}, {}, {}
    seen = {one.name for one in roots} if body is None else set()
    waiting: list = [*roots, *(ast.parse(value, mode="eval") for value in kept.values())]
    while waiting:
        one = waiting.pop()
        names = _read(one)
        if names is None:
            return None
        if isinstance(one, ast.FunctionDef) and (body is None or one not in roots):
            parts[one.name] = "\n".join(_lines(text, one))
        for name in sorted(names):
            if name in functions and name not in seen:
                seen.add(name)
                waiting.append(functions[name])
            elif name in imports:
                heads[name] = imports[name]
            elif name in constants and name not in before:
                before[name] = constants[name]
                waiting.append(ast.parse(constants[name]).body[0].value)
            elif name not in (*seen, *before) and not hasattr(builtins, name):
                return None
    if (
        len(parts) > 6
        or "tf" not in heads
        and not any("tensorflow" in line or "keras" in line for line in heads.values())
    ):
        return None
    if any(name in before and name in heads for name in before):
        return None
    # a constant is read by those that stand before it here
    lines = [*dict.fromkeys(heads.values()), *(before[name] for name in reversed(before))]
    functions_first = [parts[name] for name in reversed(parts)]
    return (
        "from __future__ import annotations\n\n"
        + "\n".join(lines)
        + "\n\n\n"
        + "\n\n\n".join([*functions_first, *([body] if body else [])])
        + "\n"
    )


def _read(node: ast.AST) -> set[str] | None:
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
            one.attr in NO_ATTRIBUTES or one.attr.startswith("__")
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


def _lines(text: str, node: ast.FunctionDef) -> list[str]:
    """A function's lines without decorators, at the left margin."""
    lines = text.splitlines()[node.lineno - 1 : node.end_lineno]
    return [
        line[node.col_offset :] if not line[: node.col_offset].strip() else line for line in lines
    ]


def _of_keras_2(module: str) -> str:
    """A module with tf_keras in the place of Keras 3, whose backend has hardly a function."""
    module = re.sub(
        r"^(?:import keras|from tensorflow(?:\.python)? import keras)$",
        "import tf_keras as keras",
        module,
        flags=re.M,
    )
    return re.sub(
        r"^(from|import) (?:tensorflow\.)?(?:python\.)?keras\b", r"\1 tf_keras", module, flags=re.M
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
    older = _of_keras_2(one.module)
    if older != one.module:
        texts.append(older)
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
    # no gradient is taken with respect to labels
    given = {
        name: f"_stopped({name}_)" if re.search(_LABELS, name.lower()) else f"{name}_"
        for name in one.needed
    }
    arguments = ", ".join(f"{name}={fixed.get(name) or given[name]}" for name in one.needed)
    names = ", ".join(tensors)
    text = f"""{module}

{_HARNESS}


def program({names}):
    results = {one.name}({arguments})
    return [result for result in _nest.flatten(results) if _is_tensor(result)]


def differentiate({names}):
    with _Tape() as tape:
        tape.watch([{names}])
        losses = {one.name}({arguments})
    return tape.gradient(losses, [{names}])
"""
    return Program(text, tensors, [], ("eager",), shape=shape)


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
    ran: list[str] = []
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
            ran.append(f"{one.path} {one.name}")
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
        args.json.write_text(json.dumps({**report, "failed": failed, "ran": ran}, indent=2))
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
