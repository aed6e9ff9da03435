"""tfnanlint: finds and repairs numerical hazards in TensorFlow source code.

`check` and `fix` and the names in `__all__` are the library; docs/api.md describes it. The command
line and the editor work through the same `Linter`. Importing this module loads nothing but itself.
"""

from __future__ import annotations

from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, AnyStr

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfnanlint.config.keys import ConfigError
    from tfnanlint.diagnostics.findings import (
        Certainty,
        Claim,
        Differentiated,
        Edit,
        Finding,
        Fix,
        Step,
    )
    from tfnanlint.pipeline.check import Checked
    from tfnanlint.pipeline.linter import Fixed, Linter
    from tfnanlint.syntax.source import Source, Span
    from tfnanlint.version import __version__ as __version__

__all__ = [
    "Certainty",
    "Checked",
    "Claim",
    "ConfigError",
    "Differentiated",
    "Edit",
    "Finding",
    "Fix",
    "Fixed",
    "Source",
    "Span",
    "Step",
    "check",
    "check_path",
    "fix",
    "to_dict",
]

_HOMES = {
    "diagnostics.findings": (
        "Certainty",
        "Claim",
        "Differentiated",
        "Edit",
        "Finding",
        "Fix",
        "Step",
    ),
    "pipeline.check": ("Checked",),
    "config.keys": ("ConfigError",),
    "pipeline.linter": ("Fixed",),
    "syntax.source": ("Source", "Span"),
    "version": ("__version__",),
}


def check(
    source: str | bytes,
    path: str | PathLike[str] = "-",
    *,
    settings: Mapping[str, Any] | None = None,
    lookup: bool = False,
) -> Checked:
    """The findings in a source.

    `path` is the name that findings carry; what the source imports is looked for beside it.
    `settings` are those of `tfnanlint.toml`, such as `{"select": ["TFN1"]}`. With `lookup` the
    configuration files above `path` hold, too, and `settings` go before them.

    Text that cannot be parsed is a finding, TFN001; a failure of tfnanlint another, TFN000. Raises
    `ConfigError` on settings that cannot be followed.
    """
    return _linter(settings, lookup).check(fspath(path), source)


def fix(
    source: AnyStr,
    path: str | PathLike[str] = "-",
    *,
    settings: Mapping[str, Any] | None = None,
    lookup: bool = False,
) -> Fixed[AnyStr]:
    """The source with the fixes applied that keep every finite value; nothing is written.

    With the setting `unsafe-fixes` also those that move values. Arguments and errors are those of
    `check`.
    """
    return _linter(settings, lookup).fix(fspath(path), source)


def check_path(
    path: str | PathLike[str],
    *,
    settings: Mapping[str, Any] | None = None,
    lookup: bool = True,
) -> list[Checked]:
    """The findings in a file, or in each file below a directory that uses TensorFlow or Keras.

    With `lookup` the configuration files hold as on the command line; `settings` go before them. A
    file that cannot be read is a finding, TFN002. Raises `ConfigError`.
    """
    from tfnanlint.files.discover import discover
    from tfnanlint.pipeline.check import unread

    linter = _linter(settings, lookup)
    discovered = discover([fspath(path)], linter.configuration)
    outcomes = [linter.file(name) for name in discovered.files]
    failed = [unread(name, reason) for name, reason in discovered.failures]
    return failed + [one.checked for one in outcomes if one is not None]


def to_dict(checked: Checked) -> list[dict[str, Any]]:
    """The findings of a file as `--output-format json` prints them."""
    from tfnanlint.report import with_notice
    from tfnanlint.report.json import described

    return described(with_notice(checked))


def _linter(settings: Mapping[str, Any] | None, lookup: bool) -> Linter:
    import os

    from tfnanlint.config.layers import Configuration, layer
    from tfnanlint.pipeline.linter import Linter

    plain = {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in (settings or {}).items()
    }
    return Linter(Configuration(layer(plain, "settings", os.getcwd()), isolated=not lookup))


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            import importlib

            return getattr(importlib.import_module(f"tfnanlint.{home}"), name)
    raise AttributeError(f"module 'tfnanlint' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
