"""What the README shows is what the program prints now."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_output_in_the_readme_is_fresh():
    text = (ROOT / "README.md").read_text("utf-8")
    shown = re.search(
        r"<!-- output: begin -->\n```console\n\$ tfnanlint (.*)\n(.*?)```\n<!-- output: end -->",
        text,
        re.S,
    )
    command = [sys.executable, "-m", "tfnanlint", *shown[1].split()]
    printed = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8"
    ).stdout
    assert shown[2] == printed, "paste what it prints now between the two marks of README.md"
