"""Rewrites: templates filled with source text, names that a fix can reuse, and the hole test, which
proves that a rewrite changed only what its template says.
"""

import re
from typing import Final

PLACEHOLDER: Final = re.compile(r"_tfn_hole_(\d+)_")  # what stands for a hole in a parsed template
LINE: Final = 88  # a line that most formatters leave alone
