"""`json-lines`: the objects of `json`, one a line, for programs that read while tfnanlint still
runs.
"""

from __future__ import annotations

from tfnanlint.pipeline.check import Checked
from tfnanlint.report.json import described
from tfnanlint.report.wellformed import json_text


class JsonLines:
    def start(self) -> str:
        return ""

    def file(self, checked: Checked) -> str:
        return "".join(json_text(one) + "\n" for one in described(checked))

    def end(self) -> str:
        return ""
