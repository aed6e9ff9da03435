"""What pyproject.toml cannot say: with TFNANLINT_COMPILE=1 the engine is compiled by mypyc.

It is the same code, and it finds the same, for about a fifth less CPU; without the variable it is interpreted. Compiled are the
modules that evaluate programs. Not compiled are tables of ops (read once; mypyc does not take all of their lambdas), rules, front
ends, and what is pickled or is a subclass of a builtin. MYPYC_OPT_LEVEL=0 makes a slower program in less time.
"""

import os
import pathlib

from setuptools import setup

ENGINE = (
    "interpreting assumptions subexpressions resolution callers instances containers recursion policies following state expressions "
    "statements scopes values site nodes calls conditions aliases reach branches evidence gradients masks patterns pairings "
    "probabilities moments labels exponents endings epsilons domains assertions names keys docstrings flow module project rules"
).split()
OPS = (
    "__init__ argscopes arithmetic arrays control counts independence layers linalg literals nn products promotion python reductions "
    "segments signatures training transfer"
).split()


def engine() -> list:
    """The extension modules: none unless they are asked for."""
    if os.environ.get("TFNANLINT_COMPILE") != "1":
        return []
    from mypyc.build import mypycify

    package = pathlib.Path("tfnanlint")
    files = [package / f"{name}.py" for name in ENGINE] + [package / "ops" / f"{name}.py" for name in OPS]
    return mypycify([*map(str, files)], opt_level=os.environ.get("MYPYC_OPT_LEVEL", "2"), debug_level="0")


setup(ext_modules=engine())
