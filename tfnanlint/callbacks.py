"""A callback for `model.fit` that says where a NaN loss may come from.

model.fit(x, y, callbacks=[tfnanlint.callbacks.ExplainNaN()])
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import keras

from tfnanlint.cli.explain_log import explanations
from tfnanlint.config.layers import Configuration, Layer
from tfnanlint.pipeline.linter import Linter
from tfnanlint.report import PLAIN
from tfnanlint.trace.families import FAMILIES
from tfnanlint.trace.log import Incident
from tfnanlint.trace.match import Explanation
from tfnanlint.trace.shown import told

_FAMILY = next(family for family in FAMILIES if family.name == "terminate-on-nan")
_MOST_WEIGHTS = 5


class ExplainNaN(keras.callbacks.Callback):
    """Stops training at a NaN or infinite loss, and prints the findings that fit, the likeliest
    first, and the weights that are not finite.

    `paths` are the files and directories of the program. `explanation` holds what was found.
    """

    def __init__(self, paths: Sequence[str] = (".",)):
        super().__init__()
        self.paths = tuple(paths)
        self.explanation: Explanation | None = None
        self._epoch = 0

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self._epoch = epoch + 1

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        loss = (logs or {}).get("loss")
        if loss is None or math.isfinite(float(loss)) or self.explanation is not None:
            return
        self.model.stop_training = True
        self.explain(float(loss), batch + 1)

    def explain(self, loss: float, step: int) -> None:
        """Print what explains a loss at a step."""
        bad = self._bad_weights()
        incident = Incident(
            _FAMILY,
            0,
            f"The loss is {loss} in epoch {self._epoch}, step {step}.",
            what=", ".join(bad),
            epoch=self._epoch,
            step=step,
        )
        linter = Linter(Configuration(Layer("callback", "")))
        (self.explanation,) = explanations([incident], linter, self.paths)
        print("\n".join(told(self.explanation, PLAIN)), file=sys.stderr)

    def _bad_weights(self) -> list[str]:
        """The names of weights that are not finite."""
        import numpy as np

        bad = [
            weight.path if hasattr(weight, "path") else weight.name
            for weight in self.model.weights
            if not np.isfinite(np.asarray(weight, "float64")).all()
        ]
        more = [f"{len(bad) - _MOST_WEIGHTS} more"] if len(bad) > _MOST_WEIGHTS else []
        return (
            [f"weights that are not finite: {bad[0]}", *bad[1:_MOST_WEIGHTS], *more] if bad else []
        )
