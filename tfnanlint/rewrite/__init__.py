"""Rewrites: templates filled with source text and written by libcst, names that can be used again,
proof by the hole test.
"""

import re
from typing import Final

PLACEHOLDER: Final = re.compile(r"_tfn_hole_(\d+)_")  # what stands for a hole in a parsed template
LINE: Final = 88  # a line that most formatters leave alone
