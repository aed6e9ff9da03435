"""Sets of ops stand in `ops/traits`: their names are rows, they agree with the table, and no other
module states one again.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from tfnanlint.dev.repository import ROOT
from tfnanlint.ops import traits
from tfnanlint.ops.table import ROWS, last_names, load

# The modules that state what ops are.
HOME = tuple(f"tfnanlint/ops/{name}" for name in ("families/", "models/", "transfer/", "s", "t"))
SETS = {
    name: value
    for name, value in vars(traits).items()
    if name.isupper() and name != "EUCLIDEAN" and not name.endswith("_NAMES")
    if isinstance(value, (tuple, frozenset, dict))
}


@cache
def rows() -> dict[str, object]:
    load()
    return {row.name: row for row in ROWS}


@pytest.mark.parametrize("name", [name for name in SETS if not name.startswith("_")])
def test_a_set_holds_rows_by_their_canonical_names(name):
    assert not [one for one in SETS[name] if one not in rows()]
    assert len(set(SETS[name])) == len(SETS[name])


def test_last_names_are_those_of_ops():
    names = [value for name, value in vars(traits).items() if name.endswith("_NAMES")]
    assert names and frozenset().union(*names) <= last_names()


def where(holds) -> set[str]:
    return {name for name, row in rows().items() if holds(row)}


def test_sets_agree_with_the_table():
    assert where(lambda row: row.bounds) == set(traits.BOUNDS)
    assert where(lambda row: row.starts) == set(traits.VARIABLES)
    assert where(lambda row: row.refines) == (traits.CHOICES - {"K.switch", "ops.nan_to_num"}) | {
        "tf.cond"
    }
    assert set(traits.COPIES) | set(traits.RESHAPES) <= where(lambda row: row.passes)
    logarithms = where(
        lambda row: row.needs.get("x") in ("positive", "above -1") and row.main == "x"
    )
    assert set(traits.LOGARITHMS) <= logarithms
    for name, param in traits.DIVISORS.items():
        assert rows()[name].needs[param] in ("nonzero", "positive")
    roots = where(lambda row: row.gradient.startswith(("infinite at 0", "NaN where all elements")))
    assert set(traits.ROOTS) <= roots
    assert set(traits.NAN_TESTS).isdisjoint(where(lambda row: row.gradient))


def dtype_of_whole_numbers(spelling: str) -> str:
    """The dtype that a function of NumPy or Keras makes of int32; empty where it takes none."""
    import keras
    import numpy as np

    function: object = {"np": np, "ops": keras.ops}[spelling.partition(".")[0]]
    for part in spelling.split(".")[1:]:
        function = getattr(function, part, None)
    numbers = np.array([[1, 2], [3, 4]], "int32")
    for arguments in ((numbers,), (numbers, numbers)):
        try:
            return keras.backend.standardize_dtype(function(*arguments).dtype)
        except Exception:  # noqa: BLE001, PERF203, S112  (each library has its own errors)
            continue
    return ""


@pytest.mark.tensorflow
def test_floats_are_made_of_whole_numbers():
    floating = where(lambda row: row.promotes == "floats")
    assert floating.isdisjoint(traits.INVERSES)  # NumPy's reciprocal of 2 is 0
    dtypes = {
        spelling: dtype_of_whole_numbers(spelling)
        for name in floating.difference(traits.ROUNDINGS)
        for spelling in rows()[name].aliases
        if spelling.startswith(("np.", "ops.")) and not spelling.endswith("quantile")
    }
    computed = {spelling: dtype for spelling, dtype in dtypes.items() if dtype}
    assert len(computed) > 60
    assert not {one: dtype for one, dtype in computed.items() if "float" not in dtype}


@pytest.mark.tensorflow
def test_sums_of_whole_numbers_are_whole():
    for name in where(lambda row: row.promotes == "wider"):
        for spelling in rows()[name].aliases:
            if spelling.startswith(("np.", "ops.")):
                assert dtype_of_whole_numbers(spelling) in ("int32", "int64", ""), spelling


def constants(path: Path) -> dict[str, set[str]]:
    """The ops that stand in the sets of a module, by the name of the set. A dict is none: what a
    module does for an op is its own. Nor is a name for one op.
    """
    found = {}
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign):
            target = node.targets[0]
        elif isinstance(node, ast.AnnAssign):
            target = node.target
        else:
            continue
        if isinstance(node.value, (ast.Constant, type(None))) or not isinstance(target, ast.Name):
            continue
        keys = {
            id(part)
            for mapping in ast.walk(node.value)
            if isinstance(mapping, ast.Dict)
            for side in (*mapping.keys, *mapping.values)
            if side is not None
            for part in ast.walk(side)
        }
        words = {
            word
            for part in ast.walk(node.value)
            if isinstance(part, ast.Constant) and isinstance(part.value, str)
            if id(part) not in keys
            for word in part.value.split()
        }
        names = {word for word in words if "." in word and word in load()}
        if names:
            found[target.id] = names
    return found


def repeated() -> dict[str, set[str]]:
    """The ops that stand in more than one set, `ops/traits` counted as one."""
    places = defaultdict(set)
    for path in sorted([*(ROOT / "tfnanlint").rglob("*.py"), *(ROOT / "rules").glob("*.py")]):
        module = path.relative_to(ROOT).as_posix()
        if module.startswith((*HOME, "tfnanlint/dev/", "tfnanlint/diagnostics/")):
            continue
        for constant, names in constants(path).items():
            for name in names:
                places[name].add(f"{module}:{constant}")
    stated = {name for value in SETS.values() for name in value}
    return {name: found for name, found in places.items() if len(found) > 1 or name in stated}


def test_no_op_stands_in_two_sets():
    assert not {place for places in repeated().values() for place in places}


def written_out(tree: ast.Module) -> list[tuple[int, str]]:
    """The rows where a tuple, or the arguments of a call, list exactly the ops of a declared set."""
    declared = {
        frozenset(value): name
        for name, value in SETS.items()
        if not isinstance(value, dict) and len(value) > 1
    }
    places = []
    for node in ast.walk(tree):
        parts = node.elts if isinstance(node, ast.Tuple) else getattr(node, "args", None)
        if not isinstance(parts, list):
            continue
        texts = [part.value for part in parts if isinstance(part, ast.Constant)]
        listed = [text for text in texts if isinstance(text, str) and "." in text]
        name = declared.get(frozenset(listed)) if len(listed) > 1 else None
        if name is not None:
            places.append((node.lineno, name))
    return places


def test_no_set_is_written_out_again():
    """`made_by(x, "tf.add", "tf.subtract")` is `made_by(x, *ADDITIONS)`."""
    found = {}
    for path in sorted([*(ROOT / "tfnanlint").rglob("*.py"), *(ROOT / "rules").glob("*.py")]):
        module = path.relative_to(ROOT).as_posix()
        places = written_out(ast.parse(path.read_text()))
        if places and not module.startswith((*HOME, "tfnanlint/dev/", "tfnanlint/diagnostics/")):
            found[module] = places
    assert not found


def test_a_set_that_is_written_out_is_seen():
    assert written_out(ast.parse('made_by(x, "tf.add", "tf.subtract")')) == [(1, "ADDITIONS")]
    assert written_out(ast.parse('name in ("tf.add", "tf.subtract")')) == [(1, "ADDITIONS")]
    assert not written_out(ast.parse('name in ("tf.add", "tf.subtract", "tf.reduce_sum")'))
