"""Every part of what the analysis has to follow has a fixture in fixtures/reveal: what is revealed,
wanted and silent.

`# part: name` starts the part that `ITEMS` names; `# revealed:` is read as in fixtures/flow
(tests/interp/test_flow.py), `# want:` and `# ok:` as in fixtures/rules, of all rules at their
default grades. A want may quote a certainty: `# want: TFN101 "MAY"`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import pytest
from expectations import expectations, mentions, row
from test_flow import _COMMENT, difference

from tfnanlint.dev import repository
from tfnanlint.dev.reveal import Reveal, reveals
from tfnanlint.diagnostics.findings import Finding
from tfnanlint.syntax.source import Source

HOME = Path(__file__).parents[2] / "fixtures" / "reveal"
# What the analysis promises to follow, and the ways in which it can be written.
ITEMS = {
    "across_functions": "functions; methods; nested; lambdas; partials; @tf.function; @staticmethod; @classmethod; @property; "
    "@tf.custom_gradient; decorators of the program; *args and **kwargs; defaults; recursion; "
    "context sensitivity; closed world; open world; differentiated through calls",
    "across_files": "absolute; relative; packages; re-exports; import x as y; constants; star imports; circular imports; "
    "missing files; differentiated; attributes of an instance from another file; losses compiled in another file; policies of the program",
    "callers": "callers that are not called; recursion; callers that are called; handlers in dicts; settings in dicts; differentiated; defaults; losses that callers hand to what compiles them; functions of Lambda layers; functions of loops; objects that are called",
    "weights": "weights of layers; initial values; weights of samples; differentiated; constraints",
    "classes": "attributes from __init__; attributes assigned twice; attributes joined over methods; attributes from build and call; inheritance; properties; "
    "instances held in attributes; TF1 model classes; attributes of an instance; what an object was made with; class attributes and static members; an attribute that the nearer __init__ sets anew",
    "layers_and_models": "activation as a string; activation as a function; activation as a layer; layers.Activation; "
    "keras.activations; activation as a lambda; Sequential; model.predict; functional; subclassed; tf.layers; "
    "slim; tf.estimator; loss as a function; loss as a string; loss as a class; losses in a list and a dict; "
    "custom loss class; add_loss; layers made by a class of the program; keras.activations.get; train_step; custom training loops",
    "differentiated": "GradientTape; persistent tapes; nested tapes; stop_recording; functions called inside; tf.gradients; minimize; "
    "Keras layers; metrics; tf.data; summaries; evaluation branches; stop_gradient; what only decides; "
    "variables that are assigned; what callers decide with; properties that decide something; "
    "code that NumPy runs; one body for both ways of a gradient; steps of training; methods that only inference calls; losses that are only read off; names of losses; losses that are one of several; values that are overwritten; data of a compiled loss; numbers of the settings; losses that are collected; operands of a gradient; metrics of a layer",
    "relations": "x - max(x); x / sum(x); E[x^2] - E[x]^2; x * mask; p and 1 - p; x - x; square and abs; cumulative forms; one_hot; "
    "shapes and counts; norms after l2_normalize; cosines written by hand; products of one vector; products with ones; lists that are added up; largest and least; rectifiers written out; association of constants; differentiated",
    "dtypes": "dtype=; tf.cast; variable initialisers; float16 literals; propagated; promoted; thresholds of absorption; "
    "mixed-precision policy; set_floatx; differentiated",
    "guards": "early return; assert; tf.debugging.assert_*; tf.Assert in control dependencies; tf.cond; tf.case; tf.switch_case; tf.where on the input; "
    "tf.where after the operation; if tf.reduce_any; x rebound by tf.where; boolean_mask; eps parameters; what stands in for a setting; dataclass fields; "
    "config objects; argparse; flags; gin defaults; epsilon-like names; differentiated",
    "python": "conditional imports; match; walrus; comprehensions; generators; with; try; global; nonlocal; augmented assignment; "
    "star unpacking; f-strings; async; type aliases; names shadowed; names rebound; modules that look like TensorFlow; "
    "elements that a test chooses are replaced; `**kwargs` over defaults; a star before the end of the parameters; "
    "differentiated",
}
ALSO = {"dtypes": ("mixed_precision", "floatx")}  # files whose settings hold for the whole file
_PART = re.compile(r"^\s*# part: (.+?)\s*$", re.M)


def files(item: str) -> list[Path]:
    folder = HOME / item
    return (
        sorted(folder.rglob("*.py"))
        if folder.is_dir()
        else [HOME / f"{name}.py" for name in (item, *ALSO.get(item, ()))]
    )


def text_of(item: str) -> str:
    return "\n".join(path.read_text() for path in files(item))


PATHS = [path for item in ITEMS for path in files(item)]


@pytest.mark.parametrize("item", ITEMS)
def test_every_part_is_there(item):
    pieces = _PART.split(text_of(item))
    assert set(pieces[1::2]) == set(ITEMS[item].split("; "))
    told = {
        name
        for name, body in zip(pieces[1::2], pieces[2::2])
        if "revealed:" in body or "want:" in body
    }
    # Imports stand at the top, and the functions that use them below.
    assert item == "across_files" or told == set(pieces[1::2])


@pytest.mark.parametrize("item", ITEMS)
def test_an_item_states_bounds_certainty_and_gradient(item):
    text = text_of(item)
    assert re.search(r"# revealed: \[", text) and re.search(r"# revealed: .*differentiated", text)
    assert re.search(r"# want: ", text) and re.search(r"# ok: ", text)
    assert re.search(r'# want: \w+ "(MAY|MUST)"', text)


@lru_cache(maxsize=None)
def source_of(path: Path) -> Source:
    return Source.from_bytes(str(path), path.read_bytes())


@lru_cache(maxsize=None)
def revealed(path: Path) -> dict[int, Reveal]:
    return {one.row: one for one in reveals(source_of(path))}


@lru_cache(maxsize=None)
def found(path: Path) -> tuple[Finding, ...]:
    return tuple(repository.findings(source_of(path)))


def stated() -> list:
    """(path, row, comment, whether it is still to do) for every reveal."""
    cases = []
    for path in PATHS:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if comment := _COMMENT.search(line):
                cases.append(
                    pytest.param(
                        path, number, comment[2], bool(comment[1]), id=f"{path.stem}-{number}"
                    )
                )
    return cases


@pytest.mark.parametrize("path, number, text, todo", stated())
def test_reveal(path, number, text, todo):
    problem = difference(revealed(path).get(number), text)
    if todo:
        assert problem, "the engine knows it now: write `revealed` instead of `todo-revealed`"
    else:
        assert not problem, f"{problem}; the engine says: {revealed(path).get(number)}"


def expected() -> list:
    return [
        pytest.param(path, one, id=f"{path.stem}-{one.line}")
        for path in PATHS
        for one in expectations(path.read_text())
    ]


@pytest.mark.parametrize("path, one", expected())
def test_finding(path, one):
    source = source_of(path)
    there = [f for f in found(path) if row(source, f) == one.line and one.code in ("", f.code)]
    said = [f"{f.code} {f.certainty.name} {f.message}" for f in there]
    if one.kind.endswith("ok"):
        assert not there, said
        return
    right = any(one.text in ("", f.certainty.name) or mentions(source, f, one.text) for f in there)
    assert right == (one.kind == "want"), said or [
        f.code for f in found(path) if row(source, f) == one.line
    ]


def test_nothing_else_is_found():
    surplus = []
    for path in PATHS:
        source = source_of(path)
        named = {
            (one.line, one.code) for one in expectations(source.text) if one.kind.endswith("want")
        }
        surplus += [
            f"{path.name}:{row(source, f)}: {f.code} {f.message}"
            for f in found(path)
            if (row(source, f), f.code) not in named
        ]
    assert not surplus
