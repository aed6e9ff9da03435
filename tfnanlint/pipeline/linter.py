"""Checking and fixing file by file under one configuration: what the command line, the editor and
`tfnanlint.check` share.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, AnyStr, Generic

from tfnanlint.config.layers import ConfigError, Configuration, Policy, Rule
from tfnanlint.config.revision import Revision
from tfnanlint.diagnostics import notices
from tfnanlint.diagnostics.findings import TOO_LONG, Finding, Fix
from tfnanlint.files.discover import Unread, read
from tfnanlint.files.kinds import NOTEBOOK, relevant, size_limit
from tfnanlint.pipeline.check import Checked, check, check_source, unread
from tfnanlint.syntax.source import Source, Span, Uneditable

if TYPE_CHECKING:
    from tfnanlint.pipeline.baseline import Baseline
    from tfnanlint.pipeline.cache import Cache, Entry
    from tfnanlint.pipeline.fix import Execute

__all__ = ["Fixed", "Linter", "Narrowing", "load_rules"]


@dataclass(frozen=True, slots=True)
class Fixed(Generic[AnyStr]):
    """A file after fixing: what is still found in it, its content before and after, the findings
    that are gone, and what could not be fixed and why.
    """

    checked: Checked
    before: AnyStr
    after: AnyStr
    applied: tuple[Finding, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        return self.before != self.after


_allowed: list[str] = []  # plugins, in this process


def allow(plugins: Sequence[str]) -> None:
    """Let the rules of plugins be loaded with the others."""
    _allowed.extend(name for name in plugins if name not in _allowed)


def load_rules() -> tuple[Rule, ...]:
    """The installed rules, and those of the plugins that are allowed. Raises `ConfigError`:
    checking without them would pass for a clean result.
    """
    from tfnanlint.rule import registry as rules

    try:
        return rules.load(_allowed) if _allowed else rules.load()
    except LookupError as error:
        raise ConfigError(str(error.args[0])) from error
    except Exception as error:
        raise ConfigError(f"the rules cannot be loaded: {type(error).__name__}: {error}") from error


class Linter:
    """Checks and fixes the bytes of files. A bug of tfnanlint costs one file and is a finding
    there, TFN000.

    Content is bytes, as they are in a file, or text, which has an encoding already. A path decides
    which settings hold, and where imports lead; nothing is written. With `since`, only what lines
    changed since that revision cause is reported. `baselines` says whether configured ones
    hold. `cache` makes what remembers the findings of files, when the first file needs it; it can
    only be used with the installed rules. Raises `ConfigError`.
    """

    def __init__(
        self,
        configuration: Configuration,
        rules: Sequence[Rule] | None = None,
        since: Revision | None = None,
        baselines: bool = True,
        cache: Callable[[], Cache] | None = None,
    ):
        self.configuration = configuration
        allow(configuration.plugins)
        self._rules = None if rules is None else tuple(rules)
        self._since = since
        self._with_baselines = baselines
        self._baselines: dict[str, Baseline] = {}
        self.execute: Execute | None = None  # what a fix has to pass before it is applied
        self._make_cache = cache
        self._cache: Cache | None = None

    @property
    def cache(self) -> Cache | None:
        """What remembers the findings of files; None without one."""
        if self._cache is None and self._make_cache is not None:
            self._cache = self._make_cache()
            self._cache.plugins = self.configuration.plugins
        return self._cache

    def close(self) -> None:
        """Write what is remembered for the next run."""
        if self._cache is not None:
            self._cache.close()

    @property
    def unkept(self) -> str:
        """Why a cache that was asked for could not be used; empty when all is well."""
        return self._cache.problem if self._cache is not None else ""

    def verify(self, directory: str) -> None:
        """Raise `ConfigError` when the settings of an absolute directory name a rule that does not
        exist.
        """
        settings = self.configuration.for_directory(directory)
        if (
            not settings.selects
            or self.cache is not None
            and self.cache.rules_in_preview(settings.identity) is not None
        ):
            return
        self._verified(directory)

    def in_preview(self, directory: str) -> int:
        """How many rules do not run in an absolute directory because they are in preview."""
        if self._rules is None and self.cache is not None:
            settings = self.configuration.for_directory(directory)
            known = self.cache.rules_in_preview(settings.identity)
            if known is not None:
                return known
        return self._verified(directory)

    def _verified(self, directory: str) -> int:
        """What `in_preview` gives, kept for the next run."""
        policy = self.policy(os.path.join(directory, "-"))
        run = {rule.code for rule in policy.rules}
        count = sum(rule.preview and rule.code not in run for rule in policy.known.values())
        if self.cache is not None:
            settings = self.configuration.for_directory(directory)
            self.cache.keep_rules(settings.identity, count)
        return count

    def policy(self, path: str) -> Policy:
        """What applies to the file at a path; also the place where names of unknown rules come to
        light.
        """
        if self._rules is None:
            self._rules = load_rules()
        absolute = os.path.abspath(path)
        return self.configuration.for_file(absolute).policy(absolute, self._rules)

    def check(self, path: str, data: bytes | str) -> Checked:
        """The findings in the content of a file."""
        if isinstance(data, str) and path.endswith(NOTEBOOK):
            data = data.encode("utf-8", "surrogatepass")
        return self._analyse(path, data, self.narrowing(path))

    def fix(self, path: str, data: AnyStr) -> Fixed[AnyStr]:
        """The content of a file with every fix applied that is allowed and holds, and the findings
        that remain.
        """
        if isinstance(data, str) and path.endswith(NOTEBOOK):
            fixed = self.fix(path, data.encode("utf-8", "surrogatepass"))
            return replace(fixed, before=data, after=fixed.after.decode("utf-8", "surrogatepass"))
        narrowing = self.narrowing(path)
        checked = self._analyse(path, data, narrowing)
        try:
            return self._fix(checked, data, narrowing)
        except ConfigError:
            raise
        except Exception as error:
            return Fixed(failure(path, error), data, data)

    def annotate(self, path: str, data: bytes, reason: str) -> Fixed[bytes]:
        """The bytes of a file with a comment for each finding that hides it; `applied` are the
        findings hidden.
        """
        from tfnanlint.pipeline import fix as fixing
        from tfnanlint.suppression import writer as ignores

        checked = self.check(path, data)
        if not checked.findings:
            return Fixed(checked, data, data)
        policy, source = self.policy(path), checked.source
        try:
            new, covered = ignores.with_comments(source, checked.findings, reason)
            if not covered:
                return Fixed(checked, data, data)
            after = self.narrowing(path).narrowed(check_source(new, policy))
            if len(after.findings) + len(covered) > len(
                checked.findings
            ) or not ignores.only_comments_differ(source, new):
                return Fixed(
                    checked,
                    data,
                    data,
                    problems=("no comments written: they would not hide what was found",),
                )
            return Fixed(after, data, _encoded(source, data, new), tuple(covered))
        except (fixing.Refused, Uneditable) as refusal:
            return Fixed(checked, data, data, problems=(f"no comments written: {refusal}",))
        except ConfigError:
            raise
        except Exception as error:
            return Fixed(failure(path, error), data, data)

    def file(self, path: str, fixing: bool = False) -> Fixed[bytes] | None:
        """The outcome for a file on disk, which is not written; None when it has nothing to do with
        TensorFlow.
        """
        data = self._bytes(path)
        if not isinstance(data, bytes):
            return data
        return self.fix(path, data) if fixing else Fixed(self.check(path, data), data, data)

    def annotated(self, path: str, reason: str) -> Fixed[bytes] | None:
        """`annotate` for a file on disk, which is not written."""
        data = self._bytes(path)
        return self.annotate(path, data, reason) if isinstance(data, bytes) else data

    def _bytes(self, path: str) -> bytes | Fixed[bytes] | None:
        """What is to be checked in a file, or why it cannot be, or None when it has nothing to do
        with TensorFlow.
        """
        try:
            data = read(path, self.configuration.for_file(os.path.abspath(path)).max_file_size)
        except Unread as error:
            return Fixed(unread(path, str(error)), b"", b"")
        return data if relevant(data) else None

    def narrowing(self, path: str) -> Narrowing:
        """Which findings of the file at a path are asked for."""
        return Narrowing(self, path)

    def recalled(self, path: str, data: bytes, fixing: bool = False) -> Fixed[bytes] | None:
        """The outcome for a file on disk with this content as far as it is remembered; what is to
        be fixed is not.
        """
        limit = size_limit(path, self.configuration.for_file(os.path.abspath(path)).max_file_size)
        entry = self._entry(path, data) if 0 < len(data) <= limit else None
        checked = entry.checked(self.narrowing(path).narrowed) if entry is not None else None
        if checked is None or fixing and any(finding.fixes for finding in checked.findings):
            return None
        return Fixed(checked, b"", b"")

    def _entry(self, path: str, data: bytes | str) -> Entry | None:
        """The place of a file's findings in the cache."""
        if self.cache is None or not isinstance(data, bytes):
            return None
        return self.cache.entry(
            path, data, self.configuration.for_file(os.path.abspath(path)).identity
        )

    def baseline(self, path: str) -> Baseline | None:
        """The baseline that holds for the file at a path."""
        if not self._with_baselines:
            return None
        place = self.configuration.for_file(os.path.abspath(path)).baseline
        if place is None:
            return None
        if place not in self._baselines:
            from tfnanlint.pipeline.baseline import Baseline

            self._baselines[place] = Baseline.read(place, self.configuration.files)
        return self._baselines[place]

    def _analyse(self, path: str, data: bytes | str, narrowing: Narrowing) -> Checked:
        if not relevant(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")):
            return Checked(Source(path, ""), relevant=False)
        entry = self._entry(path, data)
        try:
            recalled = entry.checked(narrowing.narrowed) if entry is not None else None
            if recalled is not None:
                return recalled
            policy = self.policy(path)
            if isinstance(data, bytes):
                return check(
                    path, data, policy, narrowing.narrowed, None if entry is None else entry.keep
                )
            return check_source(Source(path, data), policy, narrowing.narrowed)
        except ConfigError:
            raise
        except Exception as error:
            return failure(path, error)

    def _fix(self, checked: Checked, data: AnyStr, narrowing: Narrowing) -> Fixed[AnyStr]:
        def allowed(fix: Fix) -> bool:
            return fix.applies(checked.unsafe_fixes)

        if not any(allowed(fix) for finding in checked.findings for fix in finding.fixes):
            is_long = any(finding.no_fix == TOO_LONG for finding in checked.findings)
            return Fixed(
                checked, data, data, problems=(f"not fixed: {TOO_LONG}",) if is_long else ()
            )
        from tfnanlint.pipeline import fix as fixing

        source, policy = checked.source, self.policy(checked.path)
        result = fixing.fix_source(
            source,
            lambda changed: narrowing.disarmed(check_source(changed, policy)),
            allowed,
            self.execute,
        )
        problems = tuple(result.problems)
        if result.source.text == source.text:
            return Fixed(checked, data, data, problems=problems)
        try:
            new = _encoded(source, data, result.source)
        except (fixing.Refused, Uneditable) as refusal:
            return Fixed(checked, data, data, problems=(*problems, f"not fixed: {refusal}"))
        applied = tuple(finding for finding, _ in result.applied)
        after = (
            check(source.path, new, policy)
            if isinstance(new, bytes)
            else check_source(result.source, policy)
        )
        return Fixed(narrowing.narrowed(after), data, new, applied, problems)


def _encoded(source: Source, data: AnyStr, new: Source) -> AnyStr:
    """The content of a file, read as `source`, that says what `new` does. Raises `Refused` or
    `Uneditable`.
    """
    from tfnanlint.notebook.cells import CellSource
    from tfnanlint.pipeline import fix as fixing

    if isinstance(data, str):
        return new.text
    if isinstance(source, CellSource) and isinstance(new, CellSource):
        from tfnanlint.notebook.document import Notebook

        return Notebook(source.path, data).edited(new)
    return fixing.encoded(source, data, new.text)


class Narrowing:
    """Which findings of a file are asked for: not those of its baseline, and not those that no
    changed line causes.
    """

    def __init__(self, linter: Linter, path: str):
        self._linter = linter
        self._baseline = linter.baseline(path)
        self._since = linter._since

    def narrowed(self, checked: Checked) -> Checked:
        """A file with the findings that are asked for, and the count of the others."""
        if not checked.findings or (self._baseline is None and self._since is None):
            return checked
        known, unchanged = self._verdicts(checked)
        kept = tuple(
            one for one, a, b in zip(checked.findings, known, unchanged) if not a and not b
        )
        aside = sum(b for a, b in zip(known, unchanged) if not a)
        return replace(checked, findings=kept, known=sum(known), unchanged=aside)

    def disarmed(self, checked: Checked) -> list[Finding]:
        """All findings, without fixes where they are not asked for: a fix must still not bring up
        any of their kind.
        """
        if self._baseline is None and self._since is None:
            return list(checked.findings)
        verdicts = zip(checked.findings, *self._verdicts(checked))
        return [
            replace(one, fixes=()) if known or unchanged else one
            for one, known, unchanged in verdicts
        ]

    def _verdicts(self, checked: Checked) -> tuple[list[bool], list[bool]]:
        known = (
            self._baseline.knows(checked)
            if self._baseline is not None
            else [False] * len(checked.findings)
        )
        if self._since is None:
            return known, [False] * len(checked.findings)
        from tfnanlint.pipeline.changed_lines import unchanged

        policy = self._linter.policy(checked.path)
        return known, unchanged(checked, self._since, lambda former: check_source(former, policy))


def failure(path: str, error: Exception) -> Checked:
    """The outcome for a file on which tfnanlint itself failed."""
    import traceback

    source = Source(path, "")
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""
    text = (
        f"the analysis failed: {type(error).__name__}: {error}{place}; "
        "this is a bug of tfnanlint, please report it"
    )
    return Checked(source, (notices.INTERNAL.finding(source, Span(0, 0), text),))
