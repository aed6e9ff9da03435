"""Checking and fixing file by file under one configuration: what the command line, the editor and `tfnanlint.check` share."""

from __future__ import annotations

import os
import traceback
from collections.abc import Sequence
from dataclasses import dataclass

from tfnanlint import notices
from tfnanlint.checking import Checked, check, check_source, relevant
from tfnanlint.config import ConfigError, Configuration, Policy, Rule
from tfnanlint.findings import Finding, Fix
from tfnanlint.source import Source, Span, Uneditable

__all__ = ["Fixed", "Linter", "load_rules"]


@dataclass(frozen=True, slots=True)
class Fixed:
    """A file after fixing: what is still found in it, its bytes before and after, the findings that are gone, and
    what could not be fixed and why.
    """

    checked: Checked
    before: bytes
    after: bytes
    applied: tuple[Finding, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        return self.before != self.after


def load_rules() -> tuple[Rule, ...]:
    """The installed rules. Raises `ConfigError`: checking without them would pass for a clean result."""
    from tfnanlint import rules

    try:
        return rules.load()
    except Exception as error:
        raise ConfigError(f"the rules cannot be loaded: {type(error).__name__}: {error}") from error


class Linter:
    """Checks and fixes the bytes of files. A bug of tfnanlint costs one file and is a finding there, TFN000.

    A path decides which settings hold, and where imports lead; nothing is written. Raises `ConfigError`.
    """

    def __init__(self, configuration: Configuration, rules: Sequence[Rule] | None = None):
        self.configuration = configuration
        self._rules = None if rules is None else tuple(rules)

    def policy(self, path: str) -> Policy:
        """What applies to the file at a path; also the place where names of unknown rules come to light."""
        if self._rules is None:
            self._rules = load_rules()
        absolute = os.path.abspath(path)
        return self.configuration.for_file(absolute).policy(absolute, self._rules)

    def check(self, path: str, data: bytes) -> Checked:
        """The findings in the bytes of a file."""
        if not relevant(data):
            return Checked(Source(path, ""))
        policy = self.policy(path)
        try:
            return check(path, data, policy)
        except Exception as error:
            return failure(path, error)

    def fix(self, path: str, data: bytes) -> Fixed:
        """The bytes of a file with every fix applied that is allowed and holds, and the findings that remain."""
        checked = self.check(path, data)
        try:
            return self._fix(checked, data)
        except Exception as error:
            return Fixed(failure(path, error), data, data)

    def _fix(self, checked: Checked, data: bytes) -> Fixed:
        def allowed(fix: Fix) -> bool:
            return fix.claim.safe or checked.unsafe_fixes

        if not any(allowed(fix) for finding in checked.findings for fix in finding.fixes):
            return Fixed(checked, data, data)
        from tfnanlint import fixing

        source, policy = checked.source, self.policy(checked.path)
        result = fixing.fix_source(source, lambda changed: list(check_source(changed, policy).findings), allowed)
        problems = tuple(result.problems)
        if result.source.text == source.text:
            return Fixed(checked, data, data, problems=problems)
        try:
            new = _encoded(source, data, result.source)
        except (fixing.Refused, Uneditable) as refusal:
            return Fixed(checked, data, data, problems=(*problems, f"not fixed: {refusal}"))
        applied = tuple(finding for finding, _ in result.applied)
        return Fixed(check(source.path, new, policy), data, new, applied, problems)


def _encoded(source: Source, data: bytes, new: Source) -> bytes:
    """The bytes of a file, read as `source`, that says what `new` does. Raises `Refused` or `Uneditable`."""
    from tfnanlint import fixing
    from tfnanlint.cells import CellSource

    if isinstance(source, CellSource) and isinstance(new, CellSource):
        from tfnanlint.notebook import Notebook

        return Notebook(source.path, data).edited(new)
    return fixing.encoded(source, data, new.text)


def failure(path: str, error: Exception) -> Checked:
    """The outcome for a file on which tfnanlint itself failed."""
    source = Source(path, "")
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{os.path.basename(last.filename)}:{last.lineno}"
    text = f"the analysis failed: {type(error).__name__}: {error} ({place}); this is a bug of tfnanlint, please report it"
    return Checked(source, (notices.INTERNAL.finding(source, Span(0, 0), text),))
