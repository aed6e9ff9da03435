"""What the analysis says: findings, their evidence, and the edits that repair them. Plain data."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from tfnanlint.syntax.spans import Edit, Span

if TYPE_CHECKING:
    from tfnanlint.diagnostics.verdicts import Verdict

EPSILON = 1e-7
# why findings have no fix that stand behind many others in one file or one statement
# characters of a file that is fixed: a file is checked anew after each round of fixes
MOST_FIXED = 300_000
TOO_LONG = f"the file has more than {MOST_FIXED:,} characters"
TOO_MANY_FIXES = "too many fixes in one file: apply those of the findings above, and run again"


class Setup(NamedTuple):
    """What a project works with: the small constant that guards are made of, the modes in which it
    runs TensorFlow, and its oldest TensorFlow, as (major, minor); None for the newest there is.
    """

    epsilon: float = EPSILON
    modes: frozenset[str] = frozenset(("eager", "graph", "xla", "gpu"))
    tensorflow: tuple[int, int] | None = None

    def concerns(self, finding: Finding) -> bool:
        """Whether a finding shows in a mode and a release that the project uses."""
        if finding.modes and self.modes.isdisjoint(finding.modes):
            return False
        return (
            not finding.fixed_in
            or self.tensorflow is not None
            and self.tensorflow < release(finding.fixed_in)
        )


def release(text: str) -> tuple[int, int]:
    """`2.10` as (2, 10). Raises ValueError for what is no release of TensorFlow."""
    match = re.fullmatch(r"([12])\.(\d{1,2})(\.\d{1,2})?", text)
    if match is None:
        raise ValueError(f"{text!r} is no release of TensorFlow")
    return int(match[1]), int(match[2])


class Certainty(enum.IntEnum):
    """How sure a finding is: no safe value reaches the site, its bounds admit a hazard, nothing is
    known.
    """

    UNKNOWN = 0
    MAY = 1
    MUST = 2


class Claim(enum.Enum):
    """What a fix promises about the values of the rewritten expression; every claim is executed in
    the tests.

    EQUAL: the same real function, at least as accurate.
    EQUAL_WHERE_FINITE: the same wherever the original was finite.
    SHIFTED: values move, by an amount that the fix's title or cost states.
    """

    EQUAL = "equal"
    EQUAL_WHERE_FINITE = "equal-where-finite"
    SHIFTED = "shifted"

    @property
    def safe(self) -> bool:
        """Whether `--fix` applies it without `--unsafe-fixes`."""
        return self is not Claim.SHIFTED


class Differentiated(enum.Enum):
    """Whether a gradient is taken through a site."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"

    @property
    def words(self) -> str:
        return {"yes": "a gradient is taken", "no": "no gradient is taken"}.get(
            self.value, "nothing shows whether a gradient is taken"
        )


@dataclass(frozen=True, slots=True)
class Bound:
    """A name that a fix binds in `scope`: the span of a function or class, None for the module.

    `line` is the import that binds it, which fixes may share. With `new` the scope does not use the
    name before the fix.
    """

    name: str
    scope: Span | None
    line: str = ""
    new: bool = True


@dataclass(frozen=True, slots=True)
class Fix:
    """One repair: all its edits together. `cost` says in words what moves; empty when nothing does.
    `suggested` says why it is only shown, in words that follow "because": no option applies it.

    `binds` are the names that the edits bind. Two fixes that bind one name in one scope are not
    made together.
    """

    title: str
    claim: Claim
    edits: tuple[Edit, ...]
    cost: str = ""
    binds: tuple[Bound, ...] = ()
    suggested: str = ""

    def applies(self, unsafe: bool) -> bool:
        """Whether `--fix` applies it, with `--unsafe-fixes` if `unsafe` is set."""
        return not self.suggested and (self.claim.safe or unsafe)

    @property
    def span(self) -> Span:
        """The smallest span around all edits."""
        return Span(min(e.span.start for e in self.edits), max(e.span.end for e in self.edits))


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function of the program: where it stands, and the function as it is named
    there.
    """

    path: str
    row: int
    function: str


@dataclass(frozen=True, slots=True)
class Step:
    """One line of a trace: where (path, span) and what is known there, in words.

    `value` is what the expression there gives, in words, as `Finding.range`; empty where the step
    tells of no expression. `function` is the qualified name of the function it stands in. `calls`
    are those through which the value gets from there to the step before, the nearest to that
    first; `made` is that which made the layer that gave it.
    """

    path: str
    span: Span
    row: int
    text: str
    value: str = ""
    function: str = ""
    calls: tuple[Call, ...] = ()
    made: Call | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """A hazard at `span`, with the evidence that leads there (newest first) and the repairs, best
    first.

    `range` is the offending value in words ("between 0 and 1"); `modes` are the execution modes in
    which the hazard shows ("eager", "graph", "xla", and "gpu" where it takes one); `fixed_in` is
    the TensorFlow release that no longer has it; `no_fix` says why a repair was not offered.
    `differentiated` is what rules and grades go by, `seen` what the program shows of it.
    """

    code: str
    slug: str
    path: str
    span: Span
    message: str
    certainty: Certainty
    differentiated: Differentiated = Differentiated.UNKNOWN
    range: str = ""
    trace: tuple[Step, ...] = ()
    modes: tuple[str, ...] = ("eager", "graph", "xla")
    fixes: tuple[Fix, ...] = ()
    no_fix: str = ""
    help: str = ""
    fixed_in: str = ""
    doubtful: bool = False  # of a kind that is often harmless; see `Silence` and `grades`
    data: dict[str, object] = field(default_factory=dict, compare=False, hash=False)
    # what executing it has shown, where that was asked for
    verdict: Verdict | None = field(default=None, compare=False, hash=False)
    kind: str = ""  # of the evidence, where reading has shown it to be weak; see `kinds`
    unreached: str = ""  # why the program never runs the place, where that is known
    is_guessed: bool = False  # what `differentiated` says rests on a guess

    @property
    def seen(self) -> Differentiated:
        """Whether a gradient is taken through the place, as far as the program shows it."""
        return Differentiated.UNKNOWN if self.is_guessed else self.differentiated

    @property
    def certainty_by_values(self) -> Certainty:
        """The certainty that the values alone would give: that of a warning where the kind of the
        evidence, or a place that never runs, makes a note of it.
        """
        return Certainty.MAY if self.kind or self.unreached else self.certainty


MODES = ("eager", "graph", "xla")
# of a finding in code that is reached only in modes in which there is no hazard: it takes the place
# of others
NOWHERE = ("nowhere",)
TESTS, DOUBTFUL, ANY = "tests", "doubtful", "ANY"
_MODE_NAMES = {"eager": "eager mode", "graph": "tf.function", "xla": "XLA", "gpu": "GPUs"}
_SAYS_MODE = ("eager", "graph", "tf.function", "XLA", "compiled")


def where_it_shows(message: str, modes: tuple[str, ...]) -> str:
    """The modes in which a hazard shows, where these are not all and the message does not
    name any.
    """
    if len(modes) == len(MODES) or modes == NOWHERE or any(word in message for word in _SAYS_MODE):
        return ""
    return f" (in {' and '.join(_MODE_NAMES[mode] for mode in modes)} only)"


class Silence(NamedTuple):
    """A class of findings that a rule leaves out by default: of one certainty, where a gradient is
    (not) taken (None: wherever), and with `where` only what shows in that mode alone, what stands
    in files of tests (`TESTS`), or what the rule says it doubts (`DOUBTFUL`).
    """

    certainty: Certainty
    differentiated: Differentiated | None
    where: str = ""

    @classmethod
    def parsed(cls, text: str) -> Silence:
        """`MAY/NO`, `UNKNOWN/YES/XLA`, `MAY/ANY/TESTS`, `MAY/YES/DOUBTFUL`. Raises ValueError for
        anything else.
        """
        grade, taken, *rest = text.split("/")
        where = rest[0].lower() if len(rest) == 1 else ""
        if len(rest) > 1 or rest and where not in (TESTS, DOUBTFUL, *_MODE_NAMES):
            raise ValueError(f"{text!r} is no class of findings")
        return cls(Certainty[grade], None if taken == ANY else Differentiated[taken], where)

    @property
    def name(self) -> str:
        """As it is written, in small letters."""
        taken = ANY.lower() if self.differentiated is None else self.differentiated.value
        return "/".join((self.certainty.name.lower(), taken, *filter(None, (self.where,))))

    @property
    def words(self) -> str:
        places = {"": "", TESTS: " in test files", DOUBTFUL: " of the often harmless kinds"}
        place = (
            places[self.where] if self.where in places else f" in {_MODE_NAMES[self.where]} only"
        )
        grade = {"MUST": "errors", "MAY": "warnings", "UNKNOWN": "notes"}[self.certainty.name]
        return f"{grade}{place}" + (
            "" if self.differentiated is None else f" where {self.differentiated.words}"
        )

    def covers(self, finding: Finding, setup: Setup) -> bool:
        """Whether a finding is of this class; not if the project works in no mode but the one that
        is named.
        """
        if finding.certainty_by_values is not self.certainty or self.differentiated not in (
            None,
            finding.differentiated,
        ):
            return False
        if self.where == TESTS:
            from tfnanlint.conventions.files import holds_tests

            return holds_tests(finding.path)
        if self.where == DOUBTFUL:
            return finding.doubtful
        return (
            not self.where
            or finding.modes == (self.where,)
            and not setup.modes <= {self.where, "gpu"}
        )
