"""Names: from the many spellings of one op to its canonical name, and back to the file's own
spelling.

Canonical roots are `tf`, `K`, `ops`, `tnp`, `raw`, `keras`, `np`, `slim`, `tfp` (see
`tfnanlint.ops.table`).
"""

from __future__ import annotations

from functools import lru_cache

# Longest prefix first within one root; a dotted Python path is rewritten until nothing matches.
_PREFIXES = (
    ("tensorflow.compat.v1.", "tf."),
    ("tensorflow.compat.v2.", "tf."),
    ("tensorflow.contrib.slim.", "slim."),
    ("tensorflow.contrib.framework.python.ops.", "slim."),
    ("tensorflow.python.keras.", "keras."),
    ("tensorflow.python.ops.math_ops.", "tf.math."),
    ("tensorflow.python.ops.array_ops.", "tf."),
    ("tensorflow.python.ops.nn_ops.", "tf.nn."),
    ("tensorflow.python.ops.nn_impl.", "tf.nn."),
    ("tensorflow.python.ops.nn.", "tf.nn."),
    ("tensorflow.python.ops.clip_ops.", "tf."),
    ("tensorflow.python.ops.control_flow_ops.", "tf."),
    ("tensorflow.python.ops.random_ops.", "tf."),
    ("tensorflow.python.ops.linalg_ops.", "tf.linalg."),
    ("tensorflow.python.ops.variable_scope.", "tf."),
    ("tensorflow.python.ops.state_ops.", "tf."),
    ("tensorflow.python.ops.init_ops.", "tf."),
    ("tensorflow.python.framework.ops.", "tf."),
    ("tensorflow.python.framework.dtypes.", "tf."),
    ("tensorflow_probability.substrates.numpy.", "foreign."),
    ("tensorflow_probability.substrates.jax.", "foreign."),
    ("tensorflow_probability.", "tfp."),
    ("tensorflow.", "tf."),
    ("tf.experimental.numpy.", "tnp."),
    ("tf.raw_ops.", "raw."),
    ("tf.contrib.slim.", "slim."),
    ("tf.compat.v1.", "tf."),
    ("tf.compat.v2.", "tf."),
    ("tf.keras.", "keras."),
    ("tf_keras.", "keras."),
    ("tf_slim.", "slim."),
    ("keras.src.utils.module_utils.tensorflow.", "tf."),
    ("keras.src.", "keras."),
    ("keras.api.", "keras."),
    ("keras.backend.", "K."),
    ("keras.ops.", "ops."),
    ("ops.numpy.", "ops."),
    ("ops.nn.", "ops."),
    ("ops.linalg.", "ops."),
    ("numpy.", "np."),
    ("autograd.numpy.", "foreign."),
)
ROOTS = frozenset("tf K ops tnp raw keras np slim tfp math builtins method".split())
# Roots that are no names of modules: a module of the program may be called so (`ops.py`).
_OURS = ROOTS - {"keras", "math", "builtins"}
# How a canonical root is reached from the module that holds it.
_WAYS = {
    "tf": ("tf", ""),
    "keras": ("tf", "keras"),
    "K": ("keras", "backend"),
    "ops": ("keras", "ops"),
    "tnp": ("tf", "experimental.numpy"),
    "raw": ("tf", "raw_ops"),
}


@lru_cache(maxsize=65536)
def canonical(dotted: str) -> str:
    """Canonical name of a dotted import path; `tensorflow.compat.v1.log` gives `tf.log`."""
    name = dotted + "."
    moved = True
    while moved:
        moved = False
        for prefix, root in _PREFIXES:
            if name.startswith(prefix):
                name = root + name[len(prefix) :]
                moved = True
                break
    return name[:-1]


def of_import(dotted: str) -> str:
    """The canonical name of a path in an import statement."""
    return f"foreign.{dotted}" if dotted.partition(".")[0] in _OURS else canonical(dotted)


def is_tensorflow(name: str) -> bool:
    """Whether a canonical name belongs to TensorFlow or Keras."""
    return name.split(".", 1)[0] in ("tf", "K", "ops", "tnp", "raw", "keras", "slim", "tfp")


def inside(name: str, target: str) -> str | None:
    """How a name goes on behind the module `target`, with its dot: `.math.log`; empty for the
    module itself, None when it is not in there.
    """
    whole: str | None = name
    while whole is not None:
        if whole == target or whole.startswith(target + "."):
            return whole[len(target) :]
        root, _, rest = whole.partition(".")
        way = _WAYS.get(root)
        whole = f"{way[0]}.{way[1]}.{rest}" if way is not None and way[1] else None
    return None
