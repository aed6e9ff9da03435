"""Modules that are imported at their first use: collecting the tests needs no TensorFlow."""

from __future__ import annotations

import importlib
from typing import Any


class Later:
    """A module by its name, imported when an attribute is read: `tf = Later("tensorflow")`."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):  # pytest looks for its own in each name of a module
            raise AttributeError(attribute)
        return getattr(importlib.import_module(self._name), attribute)
