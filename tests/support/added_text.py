"""Text that must not change a finding: comments, docstrings and strings put at random places of a
program, with the words that rules and the engine look for.
"""

from __future__ import annotations

import ast
import io
import random
import re
import tokenize
from dataclasses import dataclass

from tfnanlint.config.layers import Policy
from tfnanlint.diagnostics.findings import Finding
from tfnanlint.pipeline.check import Checked, check

# `{f}` stands for a function of the program, `{x}` for a name in it.
TEXTS = (
    "model.compile(loss={f}, metrics=[{f}])",
    "model.compile(optimizer, loss=[{f}, {f}])",
    "loss = {f}",
    "losses={{'out': {f}}}",
    "metrics=[{f}]",
    "dataset.map({f})",
    "dataset.map(self.{f}).batch(8)",
    "K.in_train_phase(noised, {f})",
    "tf.cond(training, noised, {f})",
    "tfp_custom_gradient(vjp_fwd={f}, jvp_fn={f})",
    "with tf.GradientTape() as tape: tape.gradient({x}, {x}); tape.watch({x})",
    "optimizer.minimize({f})",
    "model.compile('adam', jit_compile=True); model.fit({x})",
    "keras, xla, experimental_compile=True",
    "mixed_precision.set_global_policy('mixed_float16')",
    "set_floatx('float16')",
    "float16 {x} = 1e9",
    "tf.math.is_nan({x}) np.isfinite dropna fillna",
    "tf.where(tf.math.is_finite({x}), {x}, 0.)",
    "tf.math.log({x}) / tf.sqrt({x}) - 1.0",
    "assert {x} > 0; assert_positive({x}); tf.debugging.assert_greater({x}, 0.0)",
    "{x}: a positive tensor",
    "tf.placeholder(tf.float32); tf.Session(); tf.contrib; sess.run({x})",
    "import tensorflow.compat.v1 as tf; keras.ops; from keras import ops",
    "BatchNormalization() Dense(3) Rescaling(1. / 255) get_scaled_loss",
    "params.{x} = 0.0",
    "if config.{x} == 0: raise",
    "self.{x} = 0.0; {f}.{x} = 0; cls.{x} = None",
    "{x}.append({x}); {x}[0] = 0; {x}.update({f})",
    "def {f}(): return {x}",
    "class {f}(keras.layers.Layer): global {x}",
    "set_epsilon(0.5); arg_scope([{f}], activation_fn=None)",
    "lr=0.1, decay=0.1, fit_generator",
)
_ROW = re.compile(r"(?<=line )\d+|(?<=:)\d+")  # in messages


@dataclass(frozen=True)
class Added:
    """A program with text added to it, and the rows of it that its own lines have now."""

    text: str
    rows: dict[int, int]  # new row to old row
    texts: tuple[str, ...]


def with_added_text(program: str, seed: int, texts: int = 6) -> Added:
    """A program with comments, docstrings and strings on lines of their own."""
    chosen = random.Random(seed)
    tree = ast.parse(program)
    words = _words(tree)
    lines = program.splitlines(keepends=True)
    before: dict[int, list[str]] = {}
    places = _places(tree, program)
    written = []
    for _ in range(texts):
        if not places:
            break
        row, indent, kinds = chosen.choice(places)
        text = chosen.choice(TEXTS).format(
            f=chosen.choice(words.functions), x=chosen.choice(words.names)
        )
        kind = chosen.choice(kinds)
        written.append(f"{row}: {kind}: {text}")
        before.setdefault(row, []).append(indent + _KINDS[kind](text) + "\n")
    result, rows, count = [], {}, 0
    for row, line in enumerate(lines, 1):
        added = before.get(row, [])
        # a docstring stands first
        added.sort(key=lambda one: one.lstrip()[0] == "#", reverse=True)
        result += added
        count += sum(one.count("\n") for one in added) + 1
        rows[count] = row
        result.append(line)
    return Added("".join(result), rows, tuple(written))


_KINDS = {
    "comment": lambda text: f"# {text}",
    "string": lambda text: repr(text),
    "docstring": lambda text: f'"""Words, and\n{text}\n"""',
}


@dataclass(frozen=True)
class _Words:
    functions: list[str]
    names: list[str]


def _words(tree: ast.Module) -> _Words:
    """The names of the functions of a program, and all of its names."""
    functions, names = {"loss_fn"}, {"x"}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            functions.add(node.name)
        elif isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, (ast.Attribute, ast.arg)):
            names.add(node.attr if isinstance(node, ast.Attribute) else node.arg)
    return _Words(sorted(functions), sorted(names))


def _places(tree: ast.Module, program: str) -> list[tuple[int, str, tuple[str, ...]]]:
    """The rows before which text can stand, the indent it takes there, and the kinds of text."""
    starts, lines = _line_starts(program), program.splitlines()
    places = []
    for statement in ast.walk(tree):
        if not isinstance(statement, ast.stmt):
            continue
        decorators = getattr(statement, "decorator_list", ())
        row = min([statement.lineno, *(decorator.lineno for decorator in decorators)])
        line = lines[row - 1]
        indent = line[: len(line) - len(line.lstrip())]
        is_first = not line.encode()[: statement.col_offset].strip(b" \t@")
        if row not in starts or row == 1 or not is_first or line.lstrip().startswith("elif"):
            continue
        places.append((row, indent, ("comment",) if _is_head(statement) else tuple(_KINDS)))
    return places


def _is_head(statement: ast.stmt) -> bool:
    """Whether a statement is a docstring, or an import that must stand first."""
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "__future__"
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _line_starts(program: str) -> set[int]:
    """The rows at which a logical line begins."""
    rows, fresh = set(), True
    for token in tokenize.generate_tokens(io.StringIO(program).readline):
        if token.type in (
            tokenize.NL,
            tokenize.COMMENT,
            tokenize.INDENT,
            tokenize.DEDENT,
            tokenize.ENCODING,
        ):
            continue
        if fresh:
            rows.add(token.start[0])
        fresh = token.type == tokenize.NEWLINE
    return rows


def findings(path: str, text: str, policy: Policy, rows: dict[int, int] | None = None) -> list[str]:
    """The findings in a text, one a line, with their fixes and the rows of the text that it was
    made from.
    """
    checked = check(path, text.encode(), policy)
    return sorted(_described(finding, checked, rows) for finding in checked.findings)


def _described(finding: Finding, checked: Checked, rows: dict[int, int] | None) -> str:
    row, column = checked.source.position(finding.span.start)
    fixes = [
        # a statement that a comment belongs to is not taken out
        (fix.title, fix.claim.value, [edit.text for edit in fix.edits if edit.text])
        for fix in finding.fixes
    ]
    described = (
        finding.code,
        rows.get(row, -row) if rows is not None else row,
        column,
        finding.certainty.name,
        finding.differentiated.name,
        finding.doubtful,
        finding.message,
        finding.range,
        finding.modes,
        fixes,
        finding.no_fix,
    )
    return _ROW.sub("#", repr(described))
