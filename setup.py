"""What pyproject.toml cannot say: with TFNANLINT_COMPILE=1 the engine is compiled by mypyc.

It is the same code, and it finds the same, for about two fifths less CPU; without the variable it
is interpreted. Compiled are the packages that evaluate programs, the tables of ops, and the rules.
MYPYC_OPT_LEVEL=0 makes a slower program in less time.

With TFNANLINT_PROFILE=FOLDER, gcc makes a program that records there what of it runs, and from a
folder with such records one that takes some 4 % less CPU: `.ci/wheels` does both.
"""

import os
import pathlib
import sys

from setuptools import setup

# What is compiled: the packages that evaluate programs, and modules that every file passes through.
# What only makes fixes, reads settings or writes files is not.
COMPILED = """
syntax conventions values ops terms program project interp uses gradients guards idioms
rule/registry rule/trace rewrite/availability rewrite/epsilons
config/keys config/patterns pipeline/analysis pipeline/prefilter
""".split()

# Modules of compiled packages that are not: why, and which.
INTERPRETED = {
    "named tuples and cached properties": ["syntax/source", "syntax/recovery", "syntax/taint"],
    "pickled between processes": ["syntax/spans"],
    "subclasses of tuple": ["values/tuples"],
    "an enumeration": ["idioms/quantities"],
    "read by documentation and tests only": ["conventions/table"],
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


def compiled() -> list[pathlib.Path]:
    """The files of `COMPILED` without those of `INTERPRETED`."""
    package = pathlib.Path("tfnanlint")
    left = {package / f"{name}.py" for names in INTERPRETED.values() for name in names}
    files: list[pathlib.Path] = []
    for name in COMPILED:
        below = sorted((package / name).rglob("*.py")) or [package / f"{name}.py"]
        files += [path for path in below if path.name != "__init__.py" and path not in left]
    return files


def engine() -> list:
    """The extension modules: none unless they are asked for."""
    if os.environ.get("TFNANLINT_COMPILE") != "1":
        return []
    from mypyc.build import mypycify

    files = [*compiled(), *rules()]
    modules = mypycify(
        [*map(str, files)], opt_level=os.environ.get("MYPYC_OPT_LEVEL", "3"), debug_level="0"
    )
    if sys.platform == "linux":
        # functions call each other directly: none of ours is replaced by another one
        for module in modules:
            module.extra_compile_args += ["-fno-semantic-interposition", *profiling()]
            module.extra_link_args += ["-Wl,-Bsymbolic", *profiling()]
    return modules


if __name__ == "__main__":
    setup(ext_modules=engine())
