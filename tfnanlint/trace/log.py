"""What a log says of NaN and Inf: incidents, each with its op and its places in the program."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tfnanlint.trace.families import FAMILIES, Family, Written

# Colours and carriage returns of progress bars.
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x08")
_LIBRARY = re.compile(
    r"site-packages|dist-packages|(?:^|\.\.\.).*packages[\\/]|[\\/]lib[\\/]python\d|"
    r"^<(?:frozen|string|__array_function__)|ipykernel|^\.\.\..*(?:tensorflow|keras|ython/)|"
    r"[\\/]runpy\.py$|tfnanlint[\\/]trace[\\/]"
)
_EPOCH = re.compile(r"^[Ee]poch:? \[?(\d+)[\]/]?")
_BATCH = re.compile(r"^\s*(\d+)/(?:\d+|Unknown|\?)\b")
_STEP = re.compile(r"\b(?:global[ _])?step[ :=]+(\d+)", re.IGNORECASE)
# How a block of places begins, in the order of what it tells.
_HEADS = (
    (Written.FORWARD, re.compile(r"which was originally created as op")),
    (
        Written.CREATION,
        re.compile(
            r"Caused by op|Detected at node|Original stack trace for|Stack trace of op's creation|"
            r"originated from an input operation"
        ),
    ),
    (Written.RAISED, re.compile(r"Traceback \(most recent call last\)")),
)
_PLACES = (
    # Python, TensorFlow 1 and 2
    re.compile(r"^[\sE|]*File \"(?P<path>[^\"]+)\", line (?P<row>\d+)(?:, in (?P<function>\S+))?"),
    # IPython 8: `File ~/x.py:12, in f(x)`, `Cell In[5], line 3`
    re.compile(r"^\s*File (?P<path>[^\"\s]+\.py):(?P<row>\d+)(?:, in (?P<function>\w+))?"),
    re.compile(r"^\s*(?P<path>(?:Cell |Input )?In ?\[\d+\]), (?:line (?P<row>\d+)|in .*)"),
    # `enable_check_numerics`: `+ /home/me/x.py (L12) f`
    re.compile(r"^\s*\+ (?P<path>.+?) \(L(?P<row>\d+)\) (?P<function>\S+)"),
)
_DEFINED = re.compile(r"\(defined at (?P<path>[^)]*?):(?P<row>\d+)\)")
_ARROW = re.compile(r"^\s*-+> *(?P<row>\d+) (?P<text>.*)")
_NODE = re.compile(r"\[\[\s*(?:\{\{node |Node: |node )(?P<node>[\w./-]+)")
_NODE_NAMED = re.compile(
    r"(?:Detected at node|Original stack trace for|Caused by op) (?:u?')?"
    r"(?P<node>[\w./-]+?)'?[, \n]"
)
_OF_TENSORS = re.compile(
    r"shape:|# of [-+\w]+ elements:|Input tensors?\b|\d+: (?:tf\.)?[Tt]ensor\("
)
_NODE_ALONE = "gradient-node"  # what every message about a gradient names besides
_PARTS = ("check-numerics", _NODE_ALONE)  # of a message of `enable_check_numerics`
_MOST_BELOW = 700  # lines behind a message that belong to it: a stack of 300 frames
_MOST_ABOVE = 300


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the program as a log names it; `text` is what the log quotes of it."""

    path: str
    row: int
    function: str = ""
    text: str = ""

    @property
    def of_library(self) -> bool:
        """Whether it stands in TensorFlow, Keras or Python itself."""
        return bool(_LIBRARY.search(self.path))


@dataclass(frozen=True, slots=True)
class Incident:
    """One message that a value is NaN or infinite.

    `row` is its line in the log, `text` that line. `op` is the kernel that gave the value, `node`
    the name in the graph, `what` the variable or check that is named. `places` are the user's lines
    in the order of the call, the innermost last.
    """

    family: Family
    row: int
    text: str
    op: str = ""
    node: str = ""
    what: str = ""
    value: str = ""
    places: tuple[Place, ...] = ()
    written: Written = Written.NOWHERE
    epoch: int | None = None
    step: int | None = None
    details: tuple[str, ...] = field(default=(), compare=False)

    @property
    def place(self) -> Place | None:
        """The user's line at which it happened, as far as the log tells."""
        return self.places[-1] if self.places else None

    def tells_more_than(self, incident: Incident) -> bool:
        """Whether the places of another incident of the same kind say less: those of a traceback
        are where the graph ran, not where it was made.
        """
        order = list(Written)
        return order.index(self.written) < order.index(incident.written)

    @property
    def of_gradient(self) -> bool:
        """Whether only the gradient is known to be bad."""
        return is_gradient(self.op) or is_gradient(self.node)

    @property
    def identity(self) -> tuple[object, ...]:
        """What the repetitions of a message have in common."""
        return self.family.name, self.op, self.node.removesuffix("/CheckNumericsV2")


def is_gradient(name: str) -> bool:
    """Whether a kernel or node belongs to a gradient: SqrtGrad, gradients/Log_grad/mul."""
    return bool(re.search(r"Grad(?:V?\d)?$|_grad(?:$|[/_])|^gradients?(?:_tape)?(?:_\d+)?/", name))


def incidents(text: str) -> list[Incident]:
    """The incidents of a log in its order, each once; where some name a line or an op, these."""
    lines = list(_lines(text))
    seen: dict[tuple[object, ...], Incident] = {}
    matches = _matches(lines)
    for at, (number, family, match) in enumerate(matches):
        before = matches[at - 1][0] + 1 if at else 0
        after = matches[at + 1][0] if at + 1 < len(matches) else len(lines)
        incident = _incident(lines, number, family, match, before, after)
        known = seen.get(incident.identity)
        if known is None or incident.tells_more_than(known):
            seen[incident.identity] = incident
    order = list(seen.values())
    telling = [one for one in order if one.places or one.op]
    messages = [one for one in telling if one.family.name != _NODE_ALONE]
    return messages or telling or order[:1]


def _lines(text: str) -> Iterator[str]:
    for line in _CONTROL.sub("", text).replace("\r\n", "\n").split("\n"):
        for part in line.split("\r"):  # each state of a progress bar
            yield part.rstrip()


def _matches(lines: Sequence[str]) -> list[tuple[int, Family, re.Match[str]]]:
    """The lines with a message; of a run of lines with one family the first."""
    matches: list[tuple[int, Family, re.Match[str]]] = []
    for number, line in enumerate(lines):
        for family in FAMILIES:
            match = family.pattern.search(line)
            if match is None or _is_told(matches, number, family):
                continue
            matches.append((number, family, match))
            break
    return matches


def _is_told(
    matches: Sequence[tuple[int, Family, re.Match[str]]], number: int, family: Family
) -> bool:
    """Whether a message is the end of the one before, as of `!!! Detected ...`."""
    if not matches:
        return False
    last, former, _ = matches[-1]
    if former.name == "enable-check-numerics" and family.name in _PARTS:
        return number - last < _MOST_BELOW
    return family is former and family.written == (Written.NOWHERE,)


def _incident(
    lines: Sequence[str],
    number: int,
    family: Family,
    match: re.Match[str],
    before: int,
    after: int,
) -> Incident:
    groups = {name: text or "" for name, text in match.groupdict().items()}
    start = max(before, number - _MOST_ABOVE)
    end = min(after, number + _MOST_BELOW)
    around = lines[start:end]
    node = groups.get("node") or _node(lines[number:end]) or _node(around)
    written, places = _places(around, family, groups)
    epoch, step = _progress(lines, number)
    return Incident(
        family,
        number + 1,
        lines[number].strip(),
        groups.get("op", ""),
        node,
        _what(groups.get("what", "")),
        groups.get("value", ""),
        tuple(places),
        written,
        epoch,
        int(groups["step"]) if groups.get("step") else step,
        tuple(_details(lines[number:end])),
    )


def _what(text: str) -> str:
    """What a message names, without the class of the error before it."""
    text = re.sub(r"\{\{function_node [^}]*\}\}", "", text)
    return text.rpartition("Error: ")[2].rpartition("InvalidArgumentError'>, ")[2].strip()


def _node(lines: Sequence[str]) -> str:
    for line in lines:
        for pattern in (_NODE_NAMED, _NODE):
            match = pattern.search(line + "\n")
            if match is not None and match["node"]:
                return match["node"]
    return ""


def _places(
    lines: Sequence[str], family: Family, groups: dict[str, str]
) -> tuple[Written, list[Place]]:
    """The user's lines, from the first kind of block that has any."""
    if groups.get("path") and groups.get("row"):
        text = _quoted(lines, groups)
        return Written.INLINE, [Place(groups["path"].strip(), int(groups["row"]), "", text)]
    blocks = _blocks(lines)
    for written in family.written:
        own = [place for place in blocks.get(written, ()) if not place.of_library]
        if own:
            return written, own
    return Written.NOWHERE, []


def _quoted(lines: Sequence[str], groups: dict[str, str]) -> str:
    """The line of source that Python prints below a warning."""
    for line, below in zip(lines, lines[1:]):
        if f"{groups['path']}:{groups['row']}:" in line:
            return below.strip()
    return ""


def _blocks(lines: Sequence[str]) -> dict[Written, list[Place]]:
    """The places in some lines, by what the block tells in which they stand."""
    blocks: dict[Written, list[Place]] = {}
    current = Written.RAISED
    cell = ""
    for number, line in enumerate(lines):
        for written, head in _HEADS:
            if head.search(line):
                if written is not current or written is not Written.CREATION:
                    blocks[written] = []
                current = written
                break
        for defined in _DEFINED.finditer(line):
            blocks.setdefault(Written.CREATION, []).append(
                Place(defined["path"].strip(), int(defined["row"]))
            )
        place = _place(line, lines[number + 1 : number + 2])
        if place is not None:
            cell = place.path
            if place.row:
                blocks.setdefault(current, []).append(place)
            continue
        arrow = _ARROW.match(line)
        if arrow is not None and cell:
            blocks.setdefault(current, []).append(
                Place(cell, int(arrow["row"]), "", arrow["text"].strip())
            )
    return blocks


def _place(line: str, below: Sequence[str]) -> Place | None:
    for pattern in _PLACES:
        match = pattern.match(line)
        if match is None:
            continue
        quoted = below[0].strip().removeprefix("-> |").strip() if below else ""
        if any(other.match(below[0]) for other in _PLACES) if below else False:
            quoted = ""
        function = match.groupdict().get("function") or ""
        return Place(match["path"], int(match["row"] or 0), function.rstrip(":"), quoted)
    return None


def _progress(lines: Sequence[str], number: int) -> tuple[int | None, int | None]:
    """The epoch and the step at a line, where the log counts them."""
    epoch = step = None
    for line in reversed(lines[max(0, number - 400) : number + 1]):
        if step is None and epoch is None:
            match = _BATCH.match(line) or _STEP.search(line)
            step = int(match[1]) if match else None
        match = _EPOCH.match(line)
        if match is not None:
            epoch = int(match[1])
            break
    return epoch, step


def _details(lines: Sequence[str]) -> Iterator[str]:
    """What a check tells of the tensors: shapes, counts, inputs."""
    for line in lines:
        text = line.strip()
        if _OF_TENSORS.match(text):
            yield text
