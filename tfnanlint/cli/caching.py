"""Where the command line keeps what it has found: the user's cache folder, or the one that is
named.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tfnanlint.config.keys import ConfigError

if TYPE_CHECKING:
    from tfnanlint.pipeline.cache import Cache


def cache_of(arguments: argparse.Namespace) -> Callable[[], Cache] | None:
    """What makes the cache that the flags of a command and the environment ask for; None for none.
    Raises `ConfigError`.
    """
    if not hasattr(arguments, "no_cache"):
        return None
    # this is one of several processes: what it finds is kept by the first
    if hasattr(arguments, "engine"):
        return lambda: _cache("", False, arguments.engine)
    named = _named(arguments, os.environ)
    if arguments.no_cache or _says_yes(os.environ.get("TFNANLINT_NO_CACHE")):
        return None
    # A pipeline starts from nothing and keeps nothing; and what it checks may come from strangers.
    if not named and os.environ.get("CI"):
        return None
    checked = [os.getcwd(), *getattr(arguments, "paths", ())]
    if not named and any(map(_comes_with_code, checked)):
        return None
    return lambda: _cache(folder(arguments), bool(named), "")


def _comes_with_code(path: str) -> bool:
    """Whether the user's cache folder lies in the repository or the project of a path, as with
    `XDG_CACHE_HOME=$PWD/.cache`: what is in it may have come with them.
    """
    from tfnanlint.files.discover import is_project, project_root
    from tfnanlint.files.store import user_folder

    real, folder = os.path.realpath(path), os.path.realpath(user_folder())
    top = _repository(folder)
    project = os.path.realpath(project_root(os.path.join(real, "_")))
    return (
        bool(top)
        and top == _repository(real)
        or is_project(project)
        and folder.startswith(project.rstrip(os.sep) + os.sep)
    )


def folder(arguments: argparse.Namespace) -> str:
    """The cache folder of a command. Raises `ConfigError` for one that could come with the code
    that is checked.
    """
    from tfnanlint.files.store import user_folder

    return _named(arguments, os.environ) or user_folder()


def _named(arguments: argparse.Namespace, environ: Mapping[str, str]) -> str:
    """The folder that the user has named; "" without one."""
    flag = arguments.cache_dir is not None
    stated = arguments.cache_dir if flag else environ.get("TFNANLINT_CACHE_DIR", "")
    source = "--cache-dir" if flag else "TFNANLINT_CACHE_DIR"
    if flag and not stated:
        raise ConfigError("--cache-dir: the name of the folder is empty")
    if not stated:
        return ""
    directory = os.path.abspath(os.path.expanduser(stated))
    top = _repository(os.path.realpath(directory))
    if top:
        raise ConfigError(
            f"{source}: {directory} is inside the git repository {top}, so anyone who commits "
            "to it could hide findings; name a folder outside of it"
        )
    return directory


def _repository(path: str) -> str:
    """The git repository that a path lies in; "" when in none."""
    while not os.path.lexists(os.path.join(path, ".git")):
        path, last = os.path.split(path)
        if not last:
            return ""
    return path


def _says_yes(value: str | None) -> bool:
    return (value or "").lower() not in ("", "0", "false", "no", "off")


def _cache(directory: str, named: bool, engine: str) -> Cache:
    from tfnanlint.files.store import Store
    from tfnanlint.pipeline.cache import Cache

    return Cache(Store(directory, named) if directory else None, engine)
