"""What rules say that no value of a slice shows: of these the reason is given at once."""

from __future__ import annotations

from typing import Final

_STEPS: Final = "it shows in many steps of training, not in one value"
_PROGRAM: Final = "it is about how the program runs, not about a value"

# Why no input shows a finding of a rule, by its code.
BEYOND_VALUES: Final = {
    "TFN209": "the gradient is finite and wrong: only a second way to compute it shows that",
    "TFN210": "the derivative of a whole network is meant, which is no expression of its own",
    "TFN211": "the derivative of a derivative is meant, which is no expression of its own",
    "TFN507": _STEPS,
    "TFN603": _STEPS,
    "TFN801": _STEPS,
    "TFN802": _STEPS,
    "TFN803": "it is about a file of data that is not read here",
    "TFN804": _STEPS,
    "TFN805": _STEPS,
    "TFN806": _STEPS,
    "TFN901": _PROGRAM,
    "TFN902": _PROGRAM,
}

# The rules that say of a finite value that nothing is learned from it: its gradient is 0.
SAYS_DEAD: Final = frozenset(("TFN303", "TFN401", "TFN408", "TFN501", "TFN502", "TFN503", "TFN504"))

# The rules that say of a finite value that it is mostly rounding error.
SAYS_DIGITS: Final = frozenset(("TFN307", "TFN308", "TFN310"))

# The rules about a form of several operations, the first of which may be in an earlier statement.
SAYS_FORM: Final = frozenset(("TFN304", "TFN305", "TFN306", "TFN311", "TFN314"))

# The rules that say of numbers that an op stops with an error on them.
SAYS_ERROR: Final = frozenset(("TFN108", "TFN505"))
