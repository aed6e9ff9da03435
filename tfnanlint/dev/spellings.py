"""Which library has which spelling of what fixes write, read from the installed TensorFlow, Keras
3, tf_keras, tf_slim and NumPy.

`python -m tfnanlint.dev.spellings` rewrites tfnanlint/ops/spellings.py;
tests/rewrite/test_spelling.py tells when that is due. A spelling of a row is listed for a library
if its function there takes the arguments of some template and gives what the row's own name gives.
"""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any, Callable, Final, Iterator

from tfnanlint.dev import templates
from tfnanlint.dev.signatures import attribute
from tfnanlint.ops import table as ops
from tfnanlint.rewrite.spelling import Use, means

HEADER = '''"""Which library has which spelling of what fixes write. \
Written by `python -m tfnanlint.dev.spellings`.

`SPELLINGS`: a spelling, and the libraries that have it, each with the parameters of its function: \
`tf2` is TensorFlow 2, `v1` TensorFlow 1 and
tf.compat.v1, `keras2` Keras 2, tf_keras and tf.keras before 2.16, `keras3` Keras 3, \
`tf.keras3` tf.keras since. `INTERNAL`: the names of modules inside of
TensorFlow. `SINCE`: the first release of TensorFlow that has a spelling which 1.8 has not.
"""

from __future__ import annotations

'''
# Where a canonical root is found in each library.
LIBRARIES: Final = {
    "tf": {"tf2": "tensorflow", "v1": "tensorflow.compat.v1"},
    "K": {
        "keras2": "tf_keras.backend",
        "keras3": "keras.backend",
        "tf.keras3": "tensorflow.keras.backend",
    },
    "keras": {"keras2": "tf_keras", "keras3": "keras", "tf.keras3": "tensorflow.keras"},
    "ops": {"keras3": "keras.ops", "tf.keras3": "tensorflow.keras.ops"},
    "tnp": {"tnp": "tensorflow.experimental.numpy"},
    "np": {"np": "numpy"},
    "slim": {"slim": "tf_slim"},
}
MODULES: Final = ("math_ops", "array_ops", "nn_ops", "nn_impl", "nn", "clip_ops", "linalg_ops")
# Of another meaning: a gradient of labels is stopped in TensorFlow 1; a variable is made; with
# elements that broadcast only in some releases.
ANOTHER: Final = {
    "tf.nn.softmax_cross_entropy_with_logits": "v1",
    "tf.where_v2": "v1",
    "K.eye": "keras2",
}
# The first release of a spelling; 1.8 has all others that TensorFlow 1 has. Read from the wheels of
# 1.8, 1.12, 1.13, 1.14, 1.15 and 2.0.
RELEASES: Final = {
    "1.12": (
        "tf.math.abs tf.math.atan2 tf.dtypes.cast tf.math.equal tf.math.exp tf.math.logical_and"
        " tf.math.logical_not tf.math.logical_or tf.div_no_nan tf.math.expm1 tf.debugging.is_nan"
        " tf.math.l2_normalize tf.linalg.l2_normalize tf.math.log tf.math.log1p tf.math.log_sigmoid"
        " tf.math.softplus tf.math.maximum tf.math.minimum tf.math.log_softmax tf.math.softmax"
        " tf.math.not_equal tf.math.reduce_logsumexp tf.math.reduce_mean tf.math.reduce_sum"
        " tf.math.sigmoid tf.math.sqrt tf.math.square tf.math.tanh tf.math.xlogy"
    ),
    "1.13": "tf.math.is_nan tf.math.reduce_variance",
    "1.14": "tf.math.divide_no_nan tf.math.multiply_no_nan tf.where_v2",
    "2.2": "tf.math.xlog1py tf.debugging.enable_check_numerics",
}
FLAGS: Final = {
    "keepdims": True,
    "axis": 0,
    "from_logits": True,
    "epsilon": 1e-6,
    "size": 2,
    "clip_value_min": 0.1,
    "clip_value_max": 0.8,
    "dtype": "float32",
    "mask": [True, False],
    "condition": [[True, False], [False, True]],
    "name": "kept",
}


def written() -> dict[str, set[Use]]:
    """What the templates call, by the name of the row, or by the name itself where there is
    none.
    """
    table = ops.load()
    called: dict[str, set[Use]] = {}
    for use in sorted(set().union(*templates.stated().values()), key=str):
        called.setdefault(table[use.name].name if use.name in table else use.name, set()).add(use)
    return called


def places(alias: str) -> Iterator[tuple[str, Callable]]:
    """The libraries that have a spelling, each with what it is there."""
    root, *names = alias.split(".")
    for library, module in LIBRARIES.get(root, {}).items():
        function = attribute(module, names)
        if callable(function) and library not in ANOTHER.get(alias, "").split():
            yield library, function


def parameters(function: Callable, row: ops.Op, alias: str) -> list[str]:
    """The names of what a function takes, `**` where it takes any others; those of the row where
    Python cannot tell.
    """
    try:
        declared = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return list(row.params_of(alias))
    kinds = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    return [one.name for one in declared if one.kind not in kinds] + ["**"] * any(
        one.kind is kinds[1] for one in declared
    )


def sample(param: str, special: bool, boolean: bool) -> Any:
    """What is handed to a parameter when a use is tried: positive matrices, with a NaN and a 0
    where that is asked for.
    """
    import numpy as np

    if param in FLAGS:
        return FLAGS[param]
    if boolean:
        return np.array([[True, False], [param == "x", True]])
    nan = float("nan") if special else 0.2
    return np.array(
        (
            [[0.9, nan], [0.2, 0.7]]
            if param in ("x", "logits")
            else [[0.5, 0.3], [0.0 if special else 0.3, 0.6]]
        ),
        "float32",
    )


def outcome(
    function: Callable,
    use: Use,
    row: ops.Op,
    params: list[str],
    special: bool = False,
    boolean: bool = False,
) -> Any:
    """What a function gives for a use; the type of what it raises. LookupError where it has no such
    argument.
    """
    import numpy as np
    import tensorflow as tf

    words = [next((one for one in params if means(one, keyword)), None) for keyword in use.keywords]
    if None in words:
        raise LookupError(use)
    arguments = [sample(param, special, boolean) for param in row.params[: use.positional]]
    named = {word: sample(keyword, special, boolean) for word, keyword in zip(words, use.keywords)}
    arrays = function.__class__ is np.ufunc or (function.__module__ or "").startswith("numpy")
    arguments, named = (
        (arguments, named)
        if arrays
        else (
            [_tensor(one) for one in arguments],
            {word: _tensor(one) for word, one in named.items()},
        )
    )
    try:
        result = function(*arguments, **named)
    except (TypeError, ValueError, tf.errors.InvalidArgumentError) as error:
        return type(error)
    if isinstance(result, tf.Variable):
        return tf.Variable
    if isinstance(result, tuple) and all(isinstance(part, int) for part in result):
        return [np.asarray(result)]  # a shape
    return [
        np.asarray(part) for part in (result if isinstance(result, (tuple, list)) else [result])
    ]


def _tensor(value: Any) -> Any:
    import numpy as np
    import tensorflow as tf

    return tf.constant(value) if isinstance(value, (np.ndarray, list)) else value


def alike(expected: Any, actual: Any) -> bool:
    """Whether two outcomes are the same, to rounding."""
    import numpy as np

    if not isinstance(expected, list) or not isinstance(actual, list):
        return expected is actual
    return len(expected) == len(actual) and all(
        a.shape == b.shape
        and np.allclose(a.astype("float64"), b.astype("float64"), rtol=1e-5, equal_nan=True)
        for a, b in zip(expected, actual)
    )


def agrees(function: Callable, alias: str, row: ops.Op, uses: set[Use]) -> bool:
    """Whether a function takes the arguments of some use, and gives for all that it takes what the
    row's name gives.
    """
    reference = next(
        found for library, found in sorted(places(row.name), key=lambda place: place[0] != "tf2")
    )
    mine, theirs = parameters(reference, row, row.name), parameters(function, row, alias)
    tried = 0
    for use in uses:
        if row.params_of(alias)[: use.positional] != row.params[: use.positional]:
            continue
        for special in (False, True):
            wanted = outcome(reference, use, row, mine, special)
            boolean = isinstance(wanted, type)
            try:
                actual = outcome(function, use, row, theirs, special, boolean)
            except LookupError:
                break
            if not alike(outcome(reference, use, row, mine, special, boolean), actual):
                return False
            tried += isinstance(actual, list)
    return tried > 0


def spellings() -> dict[str, str]:
    """The text for every spelling that some library has."""
    table = ops.load()
    spelled: dict[str, str] = {}
    for name, uses in written().items():
        row = table.get(name)
        called = {use for use in uses if use.positional or use.keywords}
        for alias in row.aliases if row is not None else (name,):
            there = [
                (library, function)
                for library, function in places(alias)
                if row is None
                or not called
                or inspect.isclass(function)
                or agrees(function, alias, row, called)
            ]
            texts = [
                (
                    f"{library} "
                    f"{' '.join(parameters(function, row, alias) if row is not None else [])}"
                ).strip()
                for library, function in there
            ]
            if texts:
                spelled[alias] = ", ".join(texts)
    return spelled


def internal() -> dict[str, str]:
    """The names in modules inside of TensorFlow that some spelling may stand for."""
    last = sorted({alias.rsplit(".", 1)[1] for alias in spellings() if alias.startswith("tf.")})
    paths = [f"tensorflow.python.ops.{module}" for module in MODULES]
    return {
        path: " ".join(
            name for name in last if callable(getattr(importlib.import_module(path), name, None))
        )
        for path in paths
    }


def text() -> str:
    """The generated file."""
    import keras

    spelled = spellings()
    backend = sorted(name for name in dir(keras.backend) if not name.startswith("_"))
    gone = [(alias, release) for release, names in RELEASES.items() for alias in names.split()]
    lines = [f'    "{alias}": "{there}",' for alias, there in sorted(spelled.items())]
    inner = [f'    "{path}": "{names}",' for path, names in internal().items()]
    first = [f'    "{alias}": "{release}",' for alias, release in sorted(gone) if alias in spelled]
    parts = [
        "SPELLINGS: dict[str, str] = {",
        *lines,
        "}",
        "INTERNAL: dict[str, str] = {",
        *inner,
        "}",
        "SINCE: dict[str, str] = {",
        *first,
        "}",
        "# All that keras.backend of Keras 3 has.",
        f'KERAS3_BACKEND = frozenset("{" ".join(backend)}".split())',
        "",
    ]
    return HEADER + "\n".join(parts)


def main() -> None:
    Path(ops.__file__).with_name("spellings.py").write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
