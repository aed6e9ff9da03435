"""The state of a session: its budgets, draft or final judgement, what is assumed now."""

from __future__ import annotations

from typing import Any, Final

from tfnanlint.values.value import INF

MAX_ABROAD: Final = 1  # files between a parameter and the callers that are looked for


class Nesting:
    """How many calls are being followed inside each other. Deeper ones are cut off, and what was
    cut off at one depth is asked again at a smaller one.
    """

    __slots__ = ("stamp",)

    def __init__(self) -> None:
        self.stamp = 0


class Session:
    """The state of an engine that does not belong to one of its parts.

    `steps` counts the evaluations for one question, of which there may be `limit`; `allowance` is
    how many there may be in callees, for all questions together, and `depth` how many are nested
    now. `cut_short` says that one was given up.

    A draft (`drafting`) leaves callers and settings in other files for later; `overlooked` and
    `unset` have the file and the name of each that it did without. `abroad` is how many files lie
    between the linted one and that where callers are looked for.

    `stamps` is the number of the last try of an assumption. `active_loops`, `asking` and `inlined`
    count the loops that are tried, the parameters whose callers are asked, and the calls that are
    followed. `calls` has, by the origin of what a call of a function of the program gave, each such
    call and the point at which it stands. `terms` has the terms of values by their tokens and,
    where they were cut off (`terms_cut` times), by the depth; `option_terms` those of values that
    arise in several ways, by the depth. `loop_notes` are the notes of what loops give, which refer
    to what is computed from them.
    """

    def __init__(self, drafting: bool, allowance: float = INF, limit: int = 0) -> None:
        self.steps = 0
        self.depth = 0
        self.limit = limit
        self.allowance = allowance
        self.cut_short = False
        self.drafting = drafting
        self.abroad = MAX_ABROAD if drafting else 0
        self.overlooked: set[tuple[str, str]] = set()
        self.unset: set[tuple[str, str]] = set()
        self.active_loops = self.asking = self.inlined = 0
        self.nesting = Nesting()
        self.stamps = 0
        self.terms: dict[tuple[int, int], Any] = {}
        self.option_terms: dict[tuple[Any, int], Any] = {}
        self.terms_cut = 0
        self.loop_notes: list[Any] = []
        self.calls: dict[Any, list[tuple[Any, Any]]] = {}

    @property
    def sees_callers(self) -> bool:
        """Whether calls in other files are looked for now: not for a draft."""
        return self.abroad < MAX_ABROAD

    def finish(self, allowance: float) -> None:
        """Go on from a draft as the final judgement."""
        self.drafting = False
        self.abroad = 0
        self.allowance = allowance
