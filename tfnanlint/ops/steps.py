"""Steps of training of TensorFlow 1: operations that are made once, and run by a session."""

from __future__ import annotations

import ast

from tfnanlint.ops.frameworks import STEP_OF_GRAPH
from tfnanlint.syntax.access_paths import leaf


def loss_of_step(node: ast.expr) -> ast.expr | None:
    """The loss of a step of training of TensorFlow 1, which a call makes and `session.run` runs."""
    if not isinstance(node, ast.Call) or leaf(node.func) != STEP_OF_GRAPH:
        return None
    words = {one.arg: one.value for one in node.keywords}
    loss = node.args[0] if node.args else words.get("loss")
    return None if "tape" in words or "name" in words or isinstance(loss, ast.Lambda) else loss
