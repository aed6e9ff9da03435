"""Where reports go: one format to standard output, others to files, several in one run."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from typing import Any, NamedTuple, TextIO

from tfnanlint.config.layers import ConfigError, hint
from tfnanlint.pipeline.check import Checked
from tfnanlint.report import (
    FORMATS,
    PEOPLE,
    WIDTH,
    Format,
    Paint,
    View,
    open_format,
    with_notice,
)

_NEXT = re.compile(rf",(?=(?:{'|'.join(map(re.escape, FORMATS))})(?:=|,|\Z))")
# What GitHub Actions would obey: a line that begins with `::`, and the older `##[` anywhere.
_COMMAND = re.compile(r"^(\s*):(?=:)|##(?=\[)", re.M)
# The second `#` in formats that stand for it otherwise; read back, a report says the same.
_HASH = {
    **dict.fromkeys(("json", "json-lines", "sarif", "gitlab", "rdjson", "html"), "\\u0023"),
    "junit": "&#35;",
}


class Wanted(NamedTuple):
    """A format that was asked for, and the file it goes to; None is the stream of the run."""

    name: str
    path: str | None = None


def wanted(
    formats: Sequence[str] | None, file: str | None, environ: Mapping[str, str]
) -> tuple[Wanted, ...]:
    """What `--output-format` and `--output-file`, or the environment in their place, ask for.

    A format is `NAME` or `NAME=FILE`; several are given one by one or separated by commas. Raises
    `ConfigError`.
    """
    stated = formats if formats is not None else [environ.get("TFNANLINT_OUTPUT_FORMAT") or "full"]
    file = file or environ.get("TFNANLINT_OUTPUT_FILE") or None
    wanted = [_one(part) for value in stated for part in _NEXT.split(value)]
    plain = [one for one in wanted if one.path is None]
    if len(plain) > 1:
        names = " and ".join(one.name for one in plain)
        raise ConfigError(
            f"--output-format: {names} cannot both be printed; give all but one a file, "
            f"as in `{plain[0].name}=FILE`"
        )
    if file is not None:
        if not plain:
            raise ConfigError("--output-file: every format already has its own file")
        wanted = [Wanted(one.name, one.path or file) for one in wanted]
    targets = [os.path.realpath(one.path) for one in wanted if one.path is not None]
    if len(set(targets)) < len(targets):
        raise ConfigError("--output-format: two formats would be written to the same file")
    return tuple(wanted)


def _one(text: str) -> Wanted:
    name, equals, path = text.strip().partition("=")
    if name not in FORMATS:
        raise ConfigError(
            f"--output-format: unknown format `{name}`{hint(name, FORMATS)}; "
            f"known: {', '.join(FORMATS)}"
        )
    if equals and not path:
        raise ConfigError(f"--output-format: `{text}` names no file")
    return Wanted(name, path or None)


class Output(NamedTuple):
    """One format on its way to one stream."""

    name: str
    shape: Format
    stream: TextIO
    paint: Paint

    @property
    def for_people(self) -> bool:
        """Whether closing lines such as "Found 3 errors." belong to the format."""
        return self.name in PEOPLE

    def write(self, text: str) -> None:
        if os.environ.get("GITHUB_ACTIONS") == "true" and self.name != "github":
            text = self._harmless(text)
        self.stream.write(text)

    def _harmless(self, text: str) -> str:
        """The same report without what GitHub Actions would obey in its log."""
        if self.name in _HASH:
            return text.replace("##[", f"#{_HASH[self.name]}[")
        return _COMMAND.sub(
            lambda match: f"{match[1]}\\x3a" if match[1] is not None else "#\\x23", text
        )


class Outputs:
    """All outputs of a run."""

    def __init__(self, outputs: Sequence[Output]):
        self.each = tuple(outputs)

    def start(self) -> None:
        self._write(lambda output: output.shape.start())

    def file(self, checked: Checked) -> None:
        whole = with_notice(checked)
        self._write(lambda output: output.shape.file(checked if output.for_people else whole))

    def end(self) -> None:
        self._write(lambda output: output.shape.end())

    def _write(self, text: Callable[[Output], str]) -> None:
        for output in self.each:
            output.write(text(output))


@contextmanager
def opened(wants: Sequence[Wanted], stream: TextIO, view: View) -> Iterator[Outputs]:
    """The outputs that were asked for. Files get their content when all is written, or keep what
    they had.

    Raises OSError when a file cannot be written.
    """
    files: dict[str, TextIO] = {}
    try:
        to_files = any(want.path is not None for want in wants)
        with _removed_when_ended(files) if to_files else nullcontext():
            for want in wants:
                if want.path is not None:
                    files[want.path] = _open(want.path)
            plain = replace(view, paint=Paint(False), width=WIDTH)
            yield Outputs(
                [
                    Output(one.name, open_format(one.name, view), stream, view.paint)
                    if one.path is None
                    else Output(
                        one.name, open_format(one.name, plain), files[one.path], plain.paint
                    )
                    for one in wants
                ]
            )
            for path, file in files.items():
                file.close()
                if file.name != path:
                    os.replace(file.name, os.path.realpath(path))
    finally:
        for path, file in files.items():
            file.close()
            _remove(path, file)


def _remove(path: str, file: TextIO) -> None:
    """Remove a file that was to be moved over the one at a path."""
    if file.name != path:
        with suppress(FileNotFoundError):
            os.unlink(file.name)


@contextmanager
def _removed_when_ended(files: Mapping[str, TextIO]) -> Iterator[None]:
    """Remove files, by the paths that they are for, where this process gets SIGTERM meanwhile. A
    handler that the program has set stays.
    """
    import signal  # Most runs write no file.
    import threading

    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    owner = os.getpid()

    def end(number: int, _: Any) -> None:
        if os.getpid() == owner:  # a forked child has them not
            for path, file in files.items():
                _remove(path, file)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _open(path: str) -> TextIO:
    """A file beside the one at a path, to be moved over it; the path itself when it is a pipe or a
    device.
    """
    real = os.path.realpath(path)
    folder = os.path.dirname(real)
    try:
        mode = os.stat(real).st_mode
    except FileNotFoundError:
        os.makedirs(folder, exist_ok=True)
        mode = stat.S_IFREG | (0o666 & ~_umask())
    if not stat.S_ISREG(mode):
        return open(path, "w", encoding="utf-8", newline="\n", errors="backslashreplace")
    import tempfile  # Most runs write no file.

    handle, name = tempfile.mkstemp(prefix=".tfnanlint-", suffix=".tmp", dir=folder)
    os.chmod(name, stat.S_IMODE(mode))
    os.close(handle)
    return open(name, "w", encoding="utf-8", newline="\n", errors="backslashreplace")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
