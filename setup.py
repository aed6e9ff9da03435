"""What pyproject.toml cannot say: with TFNANLINT_COMPILE=1 the engine is compiled by mypyc.

It is the same code, and it finds the same, for about two fifths less CPU; without the variable it is interpreted. Compiled are the
modules that evaluate programs, the tables of ops, and the rules. Not compiled are front ends, and what is pickled or is a subclass of
a builtin. MYPYC_OPT_LEVEL=0 makes a slower program in less time.

With TFNANLINT_PROFILE=FOLDER, gcc makes a program that records there what of it runs, and from a folder with such records one that takes
some 4 % less CPU: `.ci/wheels` does both.
"""

import os
import pathlib
import sys

from setuptools import setup

ENGINE = (
    "assumptions subexpressions resolution mendings callers routes instances arguments containers recursion policies records compiled following members agreements lengths standins state expressions engine "
    "attributes history branching matching statements loops decorators scopes values session evaluator table site nodes calls outcomes conditions aliases reach branches counters evidence tallies tapes rigidity layering gradients factors zerosets masks stems patterns pairings "
    "probabilities moments labels exponents endings epsilons domains assertions names keys docstrings subscriptions flow module project rows rules settings trace"
).split()
OPS = (
    "__init__ argscopes arithmetic arrays cells comparison control counts curves elementwise independence layers linalg literals losses magnitudes "
    "nn outputs parts picks products promotion python random reductions segments shares signals signatures spellings structures summands tested training transfer variables"
).split()

FUTURE = "from __future__ import annotations"


def rules() -> list:
    """Copies of the rules in a folder that has their package's name, for mypyc takes the names of modules from their paths. In a copy
    the docstring, which is the page of its rule, is assigned: what is compiled has none of itself."""
    folder = pathlib.Path("build", "rules", "tfnanlint_rules")
    folder.mkdir(parents=True, exist_ok=True)
    copies = []
    for path in sorted(pathlib.Path("rules").glob("*.py")):
        text = path.read_text(encoding="utf-8")
        if path.stem != "__init__":
            text = f"{FUTURE}; __doc__ = " + text.replace(f"\n{FUTURE}\n", "\n\n")  # lines keep their numbers
            copies.append(folder / path.name)
        (folder / path.name).write_text(text, encoding="utf-8")
    return copies


def profiling() -> list[str]:
    """What tells gcc to record what runs, or to use what was recorded."""
    folder = os.environ.get("TFNANLINT_PROFILE")
    if not folder:
        return []
    recorded = any(pathlib.Path(folder).glob("*.gcda"))
    return [f"-fprofile-use={folder}", "-Wno-missing-profile"] if recorded else [f"-fprofile-generate={folder}"]


def engine() -> list:
    """The extension modules: none unless they are asked for."""
    if os.environ.get("TFNANLINT_COMPILE") != "1":
        return []
    from mypyc.build import mypycify

    package = pathlib.Path("tfnanlint")
    files = [package / f"{name}.py" for name in ENGINE] + [package / "ops" / f"{name}.py" for name in OPS]
    files += rules()
    modules = mypycify([*map(str, files)], opt_level=os.environ.get("MYPYC_OPT_LEVEL", "3"), debug_level="0")
    if sys.platform == "linux":
        for one in modules:  # functions call each other directly: nobody puts another one in the place of one of ours
            one.extra_compile_args += ["-fno-semantic-interposition", *profiling()]
            one.extra_link_args += ["-Wl,-Bsymbolic", *profiling()]
    return modules


setup(ext_modules=engine())
