"""The explanation of a rule: as Markdown, and as a terminal shows it."""

from __future__ import annotations

import re

from tfnanlint.report import Paint
from tfnanlint.report.wrap import wrapped

_CODE = re.compile(r"`([^`\n]+)`")
_KEPT = re.compile(r"#|    |Bad:$|Good:$|\||$")  # how a line begins that stays as it is
_ITEM = re.compile(r"- |  (?=\S)")


def fenced(text: str) -> str:
    """`Bad:` and `Good:` with their indented lines as Markdown code blocks."""
    lines: list[str] = []
    inside = False
    for line in text.split("\n"):
        indented = line.startswith("    ")
        if indented and not inside:
            lines += ["", "```python"] if lines and lines[-1] else ["```python"]
            inside = True
        elif inside and not indented and line.strip():
            while not lines[-1]:
                lines.pop()
            lines += ["```", ""]
            inside = False
        if not inside and line in ("Bad:", "Good:"):
            line = f"**{line}**"
        lines.append(line[4:] if inside else line)
    if inside:
        while not lines[-1]:
            lines.pop()
        lines.append("```")
    return "\n".join(lines)


def folded(text: str, width: int) -> str:
    """The text of an explanation with its paragraphs cut into lines of at most `width` columns."""
    lines: list[str] = []
    paragraph: list[str] = []
    for line in [*text.split("\n"), ""]:
        apart = _KEPT.match(line) is not None
        if paragraph and (apart or _ITEM.match(line)):
            lead = match[0] if (match := _ITEM.match(paragraph[0])) else ""
            words = " ".join(part.strip() for part in paragraph).removeprefix("- ")
            kept = _CODE.sub(lambda match: match[0].replace(" ", "\0"), words)
            lines += [
                line.replace("\0", " ") for line in wrapped(kept, width, lead, " " * len(lead))
            ]
            paragraph = []
        if apart:
            lines.append(line)
        else:
            paragraph.append(line)
    return "\n".join(lines[:-1])


def painted(text: str, paint: Paint) -> str:
    """The text of an explanation with its headings, examples and code in colour."""
    return "\n".join(_painted_line(line, paint) for line in text.split("\n"))


def _painted_line(line: str, paint: Paint) -> str:
    if line.startswith("#"):
        return paint("path", line.lstrip("#")[1:])
    if line in ("Bad:", "Good:"):
        return paint("minus" if line == "Bad:" else "plus", line)
    if line.startswith("    "):
        return paint("mark", line)
    return _CODE.sub(lambda match: paint("mark", match[1]), line)
