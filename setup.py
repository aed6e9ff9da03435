"""What pyproject.toml cannot say: with TFNANLINT_COMPILE=1 the engine is compiled by mypyc.

It is the same code, and it finds the same, for about two fifths less CPU; without the variable it
is interpreted. Compiled are the modules that evaluate programs, the tables of ops, and the rules.
Not compiled are front ends, and what is pickled or is a subclass of a builtin. MYPYC_OPT_LEVEL=0
makes a slower program in less time.

With TFNANLINT_PROFILE=FOLDER, gcc makes a program that records there what of it runs, and from a
folder with such records one that takes some 4 % less CPU: `.ci/wheels` does both.
"""

import os
import pathlib
import sys

from setuptools import setup

# Packages, and the modules of each that are compiled. Of `ops` all are.
COMPILED = {
    "syntax": "access_paths nodes text_index",
    "conventions": "docstrings roles",
    "values": "evaluator session value",
    "program": "attributes builder decorators flowgraph functions history joins loops module mutation patterns predicates scope static_conditions",
    "project": "filesystem index settings",
    "interp": "arguments calls containers engine expressions fixpoint indirect_sites inlining members names precision records settings subexpressions trip_counts variables",
    "interp/callgraph": "callbacks callers constant_arguments function_flow hooks instance_calls",
    "uses": "producers products uses",
    "gradients": "activity inactive layer_functions tapes",
    "guards": "assertions dominating post_guards zero_sets",
    "idioms": "confusion_counts exponents labels loop_counters loss_pairs moments probabilities vanishing",
    "rewrite": "availability epsilons",
    "rule": "registry trace",
    "config": "keys patterns",
    "pipeline": "analysis prefilter",
}

FUTURE = "from __future__ import annotations"


def rules() -> list:
    """Copies of the rules in a folder that has their package's name, for mypyc takes the names of
    modules from their paths. In a copy the docstring, which is the page of its rule, is assigned:
    what is compiled has none of itself.
    """
    folder = pathlib.Path("build", "rules", "tfnanlint_rules")
    folder.mkdir(parents=True, exist_ok=True)
    copies = []
    for path in sorted(pathlib.Path("rules").glob("*.py")):
        text = path.read_text(encoding="utf-8")
        if path.stem != "__init__":
            # lines keep their numbers
            text = f"{FUTURE}; __doc__ = " + text.replace(f"\n{FUTURE}\n", "\n\n")
            copies.append(folder / path.name)
        (folder / path.name).write_text(text, encoding="utf-8")
    return copies


def profiling() -> list[str]:
    """What tells gcc to record what runs, or to use what was recorded."""
    folder = os.environ.get("TFNANLINT_PROFILE")
    if not folder:
        return []
    recorded = any(pathlib.Path(folder).glob("*.gcda"))
    return (
        [f"-fprofile-use={folder}", "-Wno-missing-profile"]
        if recorded
        else [f"-fprofile-generate={folder}"]
    )


def engine() -> list:
    """The extension modules: none unless they are asked for."""
    if os.environ.get("TFNANLINT_COMPILE") != "1":
        return []
    from mypyc.build import mypycify

    package = pathlib.Path("tfnanlint")
    files = [
        package / folder / f"{name}.py"
        for folder, names in COMPILED.items()
        for name in names.split()
    ]
    files += [
        path for path in sorted((package / "ops").rglob("*.py")) if path.name != "__init__.py"
    ]
    files += rules()
    modules = mypycify(
        [*map(str, files)], opt_level=os.environ.get("MYPYC_OPT_LEVEL", "3"), debug_level="0"
    )
    if sys.platform == "linux":
        # functions call each other directly: nobody puts another one in the place of one of ours
        for one in modules:
            one.extra_compile_args += ["-fno-semantic-interposition", *profiling()]
            one.extra_link_args += ["-Wl,-Bsymbolic", *profiling()]
    return modules


setup(ext_modules=engine())
