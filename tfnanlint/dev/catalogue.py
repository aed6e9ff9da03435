"""What a rule file states in its text: the examples of its docstring, the titles of its fixes."""

from __future__ import annotations

import ast
import builtins
import inspect
import re
import textwrap
from dataclasses import dataclass
from functools import cache

from tfnanlint.dev.repository import ROOT, rule_file
from tfnanlint.diagnostics.findings import Claim
from tfnanlint.rule import recipes as repairs
from tfnanlint.rule.registry import Rule

IMPORTS = """\
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import backend as K
"""
_IMPORTED = frozenset(("np", "tf", "keras", "K"))
# What a free name of an example stands for when it is no tensor.
_OBJECTS = {"dense": "keras.layers.Dense(4)", "model": "keras.Sequential([keras.layers.Dense(4)])"}
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def examples(rule: Rule, word: str) -> list[str]:
    """The indented blocks of code after `Bad:` or `Good:` in a rule's docstring."""
    blocks = []
    for match in re.finditer(
        rf"^{word}:[^\n]*\n((?:\n|[ ]{{4,}}[^\n]*\n?)+)", rule.doc, re.MULTILINE
    ):
        blocks.append(textwrap.dedent(match.group(1)).strip() + "\n")
    return blocks


def program(code: str) -> str:
    """A file around an example: the usual imports, and a function that is differentiated with its
    free names as parameters.
    """
    free = free_names(code)
    objects = "".join(f"{name} = {_OBJECTS[name]}\n" for name in free if name in _OBJECTS)
    names = ", ".join(name for name in free if name not in _OBJECTS)
    body = textwrap.indent(code, " " * 8)
    return (
        f"{IMPORTS}{objects}\n\ndef example({names}):\n    with tf.GradientTape() as tape:\n{body}"
    )


def free_names(code: str) -> list[str]:
    """Names that an example reads before it assigns them, in order."""
    free: dict[str, None] = {}
    bound = set(dir(builtins)) | _IMPORTED
    for statement in ast.parse(code).body:
        names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        inner = {
            arg.arg
            for node in ast.walk(statement)
            if isinstance(node, ast.arguments)
            for arg in node.args
        }
        inner |= (
            {node.id for node in names if isinstance(node.ctx, ast.Store)}
            if not isinstance(statement, ast.Assign)
            else set()
        )
        for node in names:
            if isinstance(node.ctx, ast.Load) and node.id not in bound | inner:
                free[node.id] = None
        bound |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
        bound |= {
            node.name
            for node in ast.walk(statement)
            if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        }
    return list(free)


def plain_title(title: str) -> str:
    """A title with its numbers left out: `keep it at or above #`."""
    return _NUMBER.sub("#", title)


@dataclass(frozen=True)
class StatedFix:
    """A fix as the text of a rule file has it: its title with "…" for what is computed, the name of
    its claim if it is fixed.
    """

    text: str
    claim: str

    @property
    def pattern(self) -> re.Pattern[str]:
        """Matches the titles that findings show."""
        return re.compile(".+".join(map(re.escape, self.text.split("…"))))

    @property
    def safe(self) -> bool | None:
        """Whether `--fix` applies it alone; None when that depends on the code."""
        return Claim[self.claim].safe if self.claim else None


# Modules with repairs that rules share, by the names that rules and these modules have for them.
_SHARED = {
    "repairs": "rule/recipes",
    "quotients": "rule/quotients",
    "absorbed_epsilon_repairs": "rule/absorbed_epsilons",
    "cross_entropy_repairs": "rule/cross_entropies",
    "input_masks": "rule/input_masks",
    "late_guard_repairs": "rule/late_guards",
    "lost_epsilon_repairs": "rule/lost_epsilons",
    "masked_products": "rule/masked_products",
    "powers": "rule/powers",
    "float16_masks": "rule/float16_masks",
    "here": "rule/registry",
}
# Of these the repairs of other modules that they use count, too.
_COMPOSED = (
    "absorbed_epsilon_repairs",
    "cross_entropy_repairs",
    "late_guard_repairs",
    "input_masks",
    "powers",
    "float16_masks",
)


@cache
def stated_fixes(rule: Rule) -> list[StatedFix]:
    """Each title that a rule's file gives a fix, also those of the shared repairs and of the
    context that it uses.
    """
    tree = ast.parse(rule_file(rule).read_text())
    fixes = _stated(tree, tree)
    parts: list[ast.AST] = [tree]
    for name in _COMPOSED:
        module, functions = _used(name, parts)
        parts += functions
        fixes += [fix for function in functions for fix in _stated(function, module)]
    for name in [name for name in _SHARED if name not in _COMPOSED]:
        module, functions = _used(name, parts)
        fixes += [fix for function in functions for fix in _stated(function, module)]
    return list(dict.fromkeys(fixes))


def _used(name: str, parts: list[ast.AST]) -> tuple[ast.Module, list[ast.stmt]]:
    """A shared module, and those of its definitions that some parts of a program use, or that these
    refer to.
    """
    used = {
        node.attr
        for part in parts
        for node in ast.walk(part)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == name
    }
    module = ast.parse((ROOT / "tfnanlint" / f"{_SHARED[name]}.py").read_text())
    methods = [
        node for node in ast.walk(module) if isinstance(node, ast.FunctionDef) and node.name in used
    ]
    return module, list(dict.fromkeys([*methods, *_reached(module, used)]))


def _reached(module: ast.Module, names: set[str]) -> list[ast.stmt]:
    """The definitions of a module that have one of some names, and those that these refer to."""
    bound: dict[str, ast.stmt] = {
        node.name: node for node in module.body if isinstance(node, ast.FunctionDef)
    }
    bound |= {
        node.target.id: node
        for node in module.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    reached: list[ast.stmt] = []
    waiting = [bound[name] for name in sorted(names) if name in bound]
    while waiting:
        node = waiting.pop()
        if node not in reached:
            reached.append(node)
            waiting += [
                bound[one.id]
                for one in ast.walk(node)
                if isinstance(one, ast.Name) and one.id in bound
            ]
    return reached


@cache
def _constants(module: ast.Module) -> dict[str, ast.expr]:
    """What is assigned to each name of a module."""
    return {
        target.id: node.value
        for node in ast.walk(module)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _stated(part: ast.AST, module: ast.Module) -> list[StatedFix]:
    constants = _constants(module)
    fixes = []
    for call in ast.walk(part):
        words = (
            {word.arg: word.value for word in getattr(call, "keywords", ())}
            if isinstance(call, ast.Call)
            else {}
        )
        if "title" in words:
            claim = words.get("claim")
            default = _default_claim(call)
            fixed = (
                claim.attr if isinstance(claim, ast.Attribute) else default if claim is None else ""
            )
            fixes += [StatedFix(text, fixed) for text in _texts(words["title"], constants)]
    return fixes


def _default_claim(call: ast.Call) -> str:
    """The claim of a shared repair that is called without one."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    function = getattr(repairs, name, None)
    claim = inspect.signature(function).parameters.get("claim") if function is not None else None
    return claim.default.name if claim is not None and isinstance(claim.default, Claim) else ""


def _texts(node: ast.expr, constants: dict[str, ast.expr]) -> list[str]:
    """What a title expression may be, "…" for computed parts; a name that is no constant says
    nothing.
    """
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=values):
            return [
                "".join(part.value if isinstance(part, ast.Constant) else "…" for part in values)
            ]
        case ast.IfExp(body=body, orelse=orelse):
            return _texts(body, constants) + _texts(orelse, constants)
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            return [a + b for a in _texts(left, constants) for b in _texts(right, constants)]
        case ast.Name(id=name) if name in constants:
            return _texts(constants[name], {})
    return []
