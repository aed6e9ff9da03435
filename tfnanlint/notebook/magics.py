"""IPython's additions to Python in one notebook cell, taken out without moving anything.

`neutral` gives Python of the same length, line for line and column for column: a magic becomes the
expression `0`, the value of `x = !cmd` becomes `_`, about which nothing is known, and what is not
Python at all becomes blanks. What a timing magic runs stays, for it is code of the notebook.
"""

from __future__ import annotations

import re

# Cell magics whose body is Python that runs in the notebook, or as a program of its own.
_PYTHON_BODY = frozenset(
    """
    time timeit capture prun python python3 pypy debug memit mprun lprun snakeviz heat scalene
    pyinstrument notify wandb ipytest
    skip_if_tests
""".split()
)
_PYTHON_LINE = frozenset("time timeit prun memit mprun lprun snakeviz".split())

# Commands that IPython takes without `%` when they are all of a cell.
_AUTOMAGIC = re.compile(
    r"\s*(?:pip|conda|mamba|micromamba|uv|cd|ls|ll|dir|mkdir|rmdir|rm|cp|mv|cat|less|more|man|env|"
    r"set_env|matplotlib|pylab|load|load_ext|reload_ext|run|time|timeit|pwd|who|whos|reset|history|"
    r"hist|pdb|tensorboard)\b(?!\s*[=(.\[])"
)
_CELL_MAGIC = re.compile(
    r"(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r(?!\n)|\n))*[ \t]*(?P<mark>%%)["
    r" \t]*(?P<name>\w+)?(?P<help>\?)?[^\r\n]*"
)
# Whether there is anything to do; nearly every cell is done with here.
_ANY = re.compile(r"^[ \t]*[%!?,;/]|=[ \t]*[%!]|\?[ \t]*;?[ \t]*$", re.M)

_MAGIC_LINE = re.compile(r"[ \t]*(?P<mark>[%!?,;/])")
_ASSIGNED = re.compile(
    r"[ \t]*[^\W\d](?:[\w.,: \t*()]|\[[^\]]*\])*?=[ \t]*(?P<command>%(?P<name>\w*)|!)"
)
_HELP = re.compile(r"[ \t]*%{0,2}(?!\d)[\w*][\w.*\[\]'\"]*\?{1,2}[ \t]*;?[ \t]*$")
_TIMED = re.compile(
    r"%(?P<name>\w+)(?P<options>(?:[ \t]+-(?:[nrplsTDf](?:[ \t]*[\w.]+)?|"
    r"(?![nrplsTDf])[a-zA-Z]+))*)[ \t]+(?=\S)"
)
_LINE_END = re.compile(r"\r\n|\r|\n")
# What can stand in a statement, so that the next line is known to begin one: strings, comments,
# brackets, line ends.
_TOKEN = re.compile(
    r"""'{3}(?:[^'\\]|\\.|'(?!''))*(?:'{3}|$)|"{3}(?:[^"\\]|\\.|"(?!""))*(?:"{3}|$)"""
    r"""|'(?:[^'\\\r\n]|\\(?:\r\n|.))*'?|"(?:[^"\\\r\n]|\\(?:\r\n|.))*"?"""
    r"""|\#[^\r\n]*|\\(?:\r\n|\r|\n)|[(\[{]|[)\]}]|\r\n|\r|\n|[^'"\#\\()\[\]{}\r\n]+|\\""",
    re.S | re.X,
)


def heading(text: str) -> int:
    """How much of a cell's text is a cell magic and what stands above it; 0 when it has none."""
    magic = _CELL_MAGIC.match(text)
    return magic.end() if magic else 0


def neutral(text: str) -> str:
    """The Python in a cell's text, of the same length and with the same lines; blanks when the cell
    is in another language.
    """
    magic = _CELL_MAGIC.match(text)
    if magic is not None:
        if magic["help"] or magic["name"] not in _PYTHON_BODY:
            return blank(text)
        start = magic.start("mark")
        return (
            text[:start]
            + "0"
            + blank(text[start + 1 : magic.end()])
            + _neutral_lines(text[magic.end() :])
        )
    return _neutral_lines(text)


def automagic(text: str) -> bool:
    """Whether a cell that does not parse is one command which IPython takes without `%`, as in
    `pip install keras`.
    """
    line = text.strip()
    return not _LINE_END.search(line) and _AUTOMAGIC.match(line) is not None


def blank(text: str) -> str:
    """Blanks in the place of all but the line ends."""
    return re.sub(r"[^\r\n]", " ", text)


def _neutral_lines(text: str) -> str:
    if not _ANY.search(text):
        return text
    parts: list[str] = []
    at = 0
    while at < len(text):
        end = _line_end(text, at)
        replaced = _neutral_line(text[at:end])
        if replaced is None:
            end = _statement_end(text, at)
            parts.append(text[at:end])
        else:
            parts.append(replaced)
            end = _commanded(text, end, parts)
        at = end
    return "".join(parts)


def _line_end(text: str, at: int) -> int:
    """The end of a line, before the characters that end it."""
    match = _LINE_END.search(text, at)
    return match.start() if match else len(text)


def _commanded(text: str, end: int, parts: list[str]) -> int:
    """Goes on to the next line; lines that a backslash ties to a command are the command's, and
    become blanks.
    """
    while True:
        tied = text[:end].endswith("\\")
        line_end = _LINE_END.match(text, end)
        if line_end is None:
            return end
        parts.append(line_end[0])
        if not tied:
            return line_end.end()
        end = _line_end(text, line_end.end())
        parts.append(blank(text[line_end.end() : end]))


def _statement_end(text: str, at: int) -> int:
    """Where the line after a statement begins."""
    depth = 0
    for token in _TOKEN.finditer(text, at):
        first = token[0][0]
        if first in "([{":
            depth += 1
        elif first in ")]}":
            depth = max(0, depth - 1)
        elif first in "\r\n" and not depth:
            return token.end()
    return len(text)


def _neutral_line(line: str) -> str | None:
    """Python in the place of a line that begins a statement; None when it is Python already."""
    magic = _MAGIC_LINE.match(line)
    if magic:
        start = magic.start("mark")
        timed = _timed(line, start)
        if timed:
            return line[:start] + "0;" + " " * (timed - start - 2) + line[timed:]
        return line[:start] + "0" + blank(line[start + 1 :])
    assigned = _ASSIGNED.match(line)
    if assigned:
        start = assigned.start("command")
        timed = _timed(line, start) if assigned["name"] == "time" else 0
        return line[:start] + (
            " " * (timed - start) + line[timed:] if timed else "_" + blank(line[start + 1 :])
        )
    if line.rstrip(" \t;").endswith("?") and _HELP.match(line):
        start = len(line) - len(line.lstrip(" \t"))
        return line[:start] + "0" + blank(line[start + 1 :])
    return None


def _timed(line: str, start: int) -> int:
    """Where the statement begins that a magic such as `%time` runs; 0 when it runs none that fits
    on the line.
    """
    magic = _TIMED.match(line, start)
    if magic is None or magic["name"] not in _PYTHON_LINE:
        return 0
    return magic.end() if _parses(line[magic.end() :]) else 0


def _parses(statement: str) -> bool:
    import ast

    try:
        return bool(ast.parse(f"0;{statement}").body[1:])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
