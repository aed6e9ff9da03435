"""The process that analyses. It reads jobs from its standard input and answers on its standard
output, one at a time.

It is a process of its own because the analysis holds the interpreter for as long as it takes, and
because what ends it (a parser's stack, memory) must not end the editor's server. A job can be
interrupted: its text has become old.
"""

from __future__ import annotations

import _thread
import dataclasses
import gc
import os
import pickle
import queue
import signal
import struct
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from tfnanlint.config.layers import ConfigError, Configuration, Rule, layer
from tfnanlint.diagnostics.findings import Edit, Finding
from tfnanlint.diagnostics.verdicts import Proof, Verdict
from tfnanlint.files.discover import excluded
from tfnanlint.lsp import difference
from tfnanlint.lsp.changes import line_edits
from tfnanlint.notebook.cells import Cell, CellSource
from tfnanlint.pipeline import check as checking
from tfnanlint.pipeline import linter, pages
from tfnanlint.project import index as project
from tfnanlint.syntax.recovery import PartialSource
from tfnanlint.syntax.source import Source, Span

if TYPE_CHECKING:
    from tfnanlint.prove.run import Prover

CONFIGURATION_AGE = 1.0  # seconds after which configuration files are read anew
COLLECT_AGE = 5.0
FORMER = "(before the syntax error)"  # ends the message of a finding that is not judged anew
MOST_BASES = 8  # texts whose trees are kept; a person types in one of them
_LENGTH = struct.Struct("!I")


Texts = str | tuple[str, ...]  # of a file, or of the code cells of a notebook in their order


@dataclass(frozen=True, slots=True)
class Place:
    """Where a text belongs: its path, the folder of the workspace around it, and what the editor
    itself has set.
    """

    path: str
    folder: str
    table: tuple[tuple[str, Any], ...] = ()
    options: tuple[str, ...] = ()
    python: str = ""  # what executes findings; empty for the server's own


@dataclass(frozen=True, slots=True)
class Show:
    """A text stands for a file from now on; None: the file itself."""

    path: str
    text: str | None


@dataclass(frozen=True, slots=True)
class Forget:
    """Files of the project have changed on disk."""


@dataclass(frozen=True, slots=True)
class Cancel:
    """The answer to a job is no longer wanted."""

    number: int


@dataclass(frozen=True, slots=True)
class Check:
    """Asks for the findings in a text, or in the cells of a notebook: an `Outcome`.

    A `hasty` one may be answered with what was found before wherever the text has not changed
    since.
    """

    number: int
    place: Place
    texts: Texts
    hasty: bool = False


@dataclass(frozen=True, slots=True)
class Offer:
    """Asks for some of the findings in a text once more, with their fixes: a tuple of findings in
    the same order.
    """

    number: int
    place: Place
    texts: Texts
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Repair:
    """Asks for the edits of all fixes that are safe: `Repaired`."""

    number: int
    place: Place
    texts: Texts


@dataclass(frozen=True, slots=True)
class Ignore:
    """Asks for the edit that lets a comment hide the findings of a code at a span: an `Edit`, or
    None.
    """

    number: int
    texts: Texts
    code: str
    span: Span


@dataclass(frozen=True, slots=True)
class Prove:
    """Asks for the proof of a finding in a text: a `Verdict`."""

    number: int
    place: Place
    texts: Texts
    finding: Finding


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was found, without fixes; what is wrong with the configuration, if that is why nothing
    was; the rule page of each code.
    """

    findings: tuple[Finding, ...] = ()
    problem: str = ""
    pages: dict[str, str] = dataclasses.field(default_factory=dict)
    links: tuple[tuple[Span, str], ...] = ()  # names of rules in comments, and their pages
    starts: tuple[int, ...] = ()  # of the cells, in the text in which spans are counted
    hasty: bool = False


@dataclass(frozen=True, slots=True)
class Repaired:
    """Edits that apply all safe fixes, how many these are, and which did not hold."""

    edits: tuple[Edit, ...] = ()
    count: int = 0
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a job. `superseded` when it was interrupted; `error` when the job itself could
    not be done.
    """

    number: int
    value: Any = None
    superseded: bool = False
    error: str = ""


class Superseded(BaseException):
    """Raised in the middle of a job that has been cancelled; no part of the analysis may take it
    for its own.
    """


def send(stream: BinaryIO, message: Any) -> None:
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def receive(stream: BinaryIO) -> Any:
    """The next message. Raises EOFError when there is none any more."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    return pickle.loads(stream.read(*_LENGTH.unpack(head)))


class Worker:
    def __init__(self, stdin: BinaryIO, stdout: BinaryIO):
        self._stdin = stdin
        self._stdout = stdout
        self._inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._cancelled: set[int] = set()
        self._running = 0
        self._desk = Desk()
        self._collected = 0.0

    def run(self) -> None:
        """Answer until the server is gone."""
        signal.signal(signal.SIGINT, self._interrupted)
        threading.Thread(target=self._receive, daemon=True).start()
        self._desk.warm_up()
        gc.freeze()
        # A pause of the collector would fall between a key and its diagnostics; see `_tidy`.
        gc.disable()
        while True:
            message = self._inbox.get()
            if isinstance(message, Show):
                project.show(message.path, message.text)
            elif isinstance(message, Forget):
                self._desk.forget()
            else:
                send(self._stdout, self._answer(message))
                self._tidy()

    def _receive(self) -> None:
        while True:
            try:
                message = receive(self._stdin)
            except (EOFError, OSError):
                os._exit(0)  # The server has ended: no one waits for what is being computed.
            if isinstance(message, Cancel):
                self._cancelled.add(message.number)
                _thread.interrupt_main()
            else:
                self._inbox.put(message)

    def _interrupted(self, signum: int, frame: Any) -> None:
        # Also Ctrl-C in the terminal of an editor: then nothing is cancelled, and nothing happens.
        if self._running in self._cancelled:
            raise Superseded

    def _answer(self, job: Any) -> Reply:
        try:
            self._running = job.number
            if job.number in self._cancelled:
                raise Superseded
            value = self._desk.do(job)
            self._running = 0
            return Reply(job.number, value)
        except Superseded:
            return Reply(job.number, superseded=True)
        except Exception as error:  # Told to the person at the editor; the next job may go well.
            return Reply(job.number, error=f"{type(error).__name__}: {error}")
        finally:
            self._running = 0
            self._cancelled.discard(job.number)

    def _tidy(self) -> None:
        now = time.monotonic()
        if self._inbox.empty() and now - self._collected > COLLECT_AGE:
            gc.collect()
            self._collected = now


class Base(NamedTuple):
    """A version of a text that could be analysed: all that was found in it, and what of that was
    shown.
    """

    source: Source
    found: list[Finding]
    shown: tuple[Finding, ...]


class Desk:
    """Does the jobs: knows the rules and, for a short while, the configuration of each folder."""

    def __init__(self) -> None:
        self._linters: dict[Any, tuple[float, linter.Linter]] = {}
        self._rules: tuple[Rule, ...] | None = None
        # The last text that was checked: an editor asks for the fixes of its findings next, if for
        # any.
        self._last: tuple[Place, Texts, checking.Checking] | None = None
        # The newest version of each text that could be analysed.
        self._bases: dict[str, Base] = {}
        # What executes findings, with the Python and the modes that it was started for.
        self._prover: tuple[tuple[Any, ...], Prover] | None = None

    def warm_up(self) -> None:
        """Load what every check needs, so that the first does not wait for it."""
        sample = (
            "import tensorflow as tf\n\n\ndef f(x):\n    return tf.math.log(tf.nn.softmax(x))\n"
        )
        try:
            policy = (
                Configuration(layer({}, "warming up", os.getcwd()), (), True)
                .for_file(os.devnull)
                .policy("", self.rules())
            )
            checking.check_source(Source("", sample), policy)
        except Exception:
            pass  # Said in the answer to the first job, where a user reads it.

    def rules(self) -> tuple[Rule, ...]:
        if self._rules is None:
            self._rules = linter.load_rules()
        return self._rules

    def forget(self) -> None:
        self._let_go()
        self._linters.clear()
        project.forget()

    def do(self, job: Check | Offer | Repair | Ignore | Prove) -> Any:
        if isinstance(job, Offer):
            return self._offer(job)
        if isinstance(job, Prove):
            return self._prove(job)
        self._let_go()
        if isinstance(job, Check):
            return self._check(job)
        if isinstance(job, Repair):
            return self._repair(job)
        from tfnanlint.suppression.writer import comment_for

        return comment_for(_source("", job.texts), job.span, job.code)

    def _linter(self, place: Place, texts: Texts) -> linter.Linter | None:
        """What checks a text; None when nothing is to be checked. Raises ConfigError."""
        key = place.folder, repr(place.table), place.options
        created, checker = self._linters.get(key, (-CONFIGURATION_AGE, None))
        if checker is None or time.monotonic() - created > CONFIGURATION_AGE:
            stated = layer(dict(place.table), "the editor's settings", place.folder)
            settings = Configuration(stated, place.options, trusted=False)
            linter.allow(settings.plugins)
            checker = linter.Linter(settings, linter.load_rules())
            self._linters[key] = time.monotonic(), checker
        settings = checker.configuration.for_file(place.path)
        if sum(map(len, texts)) > settings.max_file_size or excluded(
            place.path, checker.configuration, forced=True
        ):
            return None
        return checker

    def _check(self, job: Check) -> Outcome:
        if not _relevant(job.texts):
            return Outcome()
        try:
            using = self._linter(job.place, job.texts)
            if using is None:
                return Outcome()
            source, policy = _source(job.place.path, job.texts), using.policy(job.place.path)
            change = self._change(job, source)
            findings = tuple(_bare(one) for one in self._findings(job, source, using, change))
        except ConfigError as error:
            return Outcome(problem=str(error))
        addresses = {one.code: pages.address(policy.known[one.code]) for one in findings}
        links = tuple(pages.links(source, policy.known.values()))
        return Outcome(findings, "", addresses, links, _starts(source), change is not None)

    def _change(self, job: Check, source: Source) -> difference.Difference | None:
        """What has changed since the last version of a text, where that tells which part of it to
        judge again.
        """
        if job.place.path not in self._bases or isinstance(source, CellSource):
            return None
        change = difference.between(self._bases[job.place.path].source, source)
        if change is None:
            return None
        difference.parse(change)
        return change if job.hasty else None

    def _findings(
        self,
        job: Check | Offer,
        source: Source,
        using: linter.Linter,
        change: difference.Difference | None = None,
    ) -> tuple[Finding, ...]:
        """Raises ConfigError: a baseline is no longer there."""
        path = job.place.path
        policy, narrowing = using.policy(path), using.narrowing(path)
        try:
            if change is None:
                last = checking.Checking(source, policy)
                self._last = job.place, job.texts, last
            else:
                carried = [
                    moved
                    for one in self._bases[path].found
                    if (moved := change.carried(one)) is not None
                ]
                with checking.Checking(source, policy, change.rows, carried) as last:
                    # It has no fixes for what it carries: when one is asked for, all is checked.
                    pass
            shown = narrowing.narrowed(last.checked).findings
            if not last.complete:
                return self._with_former(source, last.checked.source, shown)
            self._keep(source, last.found, shown)
            return shown
        except Exception as error:
            return linter.failure(source.path, error).findings

    def _with_former(
        self, source: Source, rest: Source, shown: tuple[Finding, ...]
    ) -> tuple[Finding, ...]:
        """What is shown of a text with a syntax error: besides what was found in its `rest`, what
        the last version without one had where nothing can be judged now.
        """
        if source.path not in self._bases or isinstance(source, CellSource):
            return shown
        change = difference.exact(self._bases[source.path].source, source)
        here = {(one.code, one.span) for one in shown}
        former = [
            dataclasses.replace(moved, message=f"{moved.message} {FORMER}")
            for one in self._bases[source.path].shown
            if (moved := change.carried(one)) is not None
            and (moved.code, moved.span) not in here
            and _is_left_out(moved.span, source, rest)
        ]
        return tuple(sorted([*shown, *former], key=lambda finding: (finding.span, finding.code)))

    def _keep(
        self, source: Source, findings: list[Finding] | None, shown: tuple[Finding, ...]
    ) -> None:
        """Take a version for the one from which the next change is counted."""
        if findings is None or isinstance(source, CellSource):
            return
        self._bases.pop(source.path, None)
        self._bases[source.path] = Base(
            source,
            [_with_data(one, _plain(one.data)) for one in findings],
            tuple(map(_bare, shown)),
        )
        while len(self._bases) > MOST_BASES:
            del self._bases[next(iter(self._bases))]

    def _offer(self, job: Offer) -> tuple[Finding, ...]:
        if self._last is None or self._last[:2] != (job.place, job.texts):
            self._let_go()
            using = self._linter(job.place, job.texts)
            if using is not None:
                self._findings(job, _source(job.place.path, job.texts), using)
        if self._last is None:
            return job.findings
        return tuple(_bare(self._last[2].repaired(one)) for one in job.findings)

    def _prove(self, job: Prove) -> Verdict:
        from tfnanlint.prove.host import Unavailable

        using = self._linter(job.place, job.texts)
        if using is None:
            return Verdict(Proof.UNSUPPORTED, "the file is excluded, or too large")
        (finding,) = self._offer(Offer(job.number, job.place, job.texts, (job.finding,)))
        source = _source(job.place.path, job.texts)
        if self._last is not None and isinstance(self._last[2].checked.source, PartialSource):
            source = self._last[2].checked.source
        self._let_go()
        modes = using.configuration.for_file(job.place.path).setup.modes
        prover = self._prover_of(job.place.python, tuple(modes))
        try:
            return prover.verdict(source, finding)
        except Unavailable as error:
            self._prover = None
            return Verdict(Proof.UNSUPPORTED, str(error))
        except BaseException:  # in the middle of an answer: the next would get the rest of it
            self._prover = None
            prover.kill()
            raise

    def _prover_of(self, python: str, modes: tuple[str, ...]) -> Prover:
        """What executes findings in a Python and some modes. It is kept: TensorFlow is slow."""
        from tfnanlint.prove.run import Prover

        wanted = (python, modes)
        if self._prover is None or self._prover[0] != wanted:
            if self._prover is not None:
                self._prover[1].kill()
            self._prover = wanted, Prover(modes=modes, python=python)
        return self._prover[1]

    def _let_go(self) -> None:
        last, self._last = self._last, None
        if last is not None:
            last[2].close()

    def _repair(self, job: Repair) -> Repaired:
        from tfnanlint.pipeline import fix as fixing

        using = self._linter(job.place, job.texts)
        if using is None:
            return Repaired()
        source, policy, narrowing = (
            _source(job.place.path, job.texts),
            using.policy(job.place.path),
            using.narrowing(job.place.path),
        )
        result = fixing.fix_source(
            source,
            lambda changed: narrowing.disarmed(checking.check_source(changed, policy)),
            lambda fix: fix.applies(False),
        )
        return Repaired(
            tuple(_changes(source, result.source)), len(result.applied), tuple(result.problems)
        )


def _is_left_out(span: Span, source: Source, rest: Source) -> bool:
    """Whether what stands at a span cannot be judged: all of a text that is its own `rest`."""
    if rest is source or rest.slice(span) != source.slice(span):
        return True
    return isinstance(rest, PartialSource) and rest.rests_on_cut(span)


def _relevant(texts: Texts) -> bool:
    return any(
        "tensorflow" in text or "keras" in text
        for text in ((texts,) if isinstance(texts, str) else texts)
    )


def _source(path: str, texts: Texts) -> Source:
    if isinstance(texts, str):
        return Source(path, texts)
    return CellSource(path, [Cell(number, text) for number, text in enumerate(texts, 1)])


def _starts(source: Source) -> tuple[int, ...]:
    return (
        tuple(source.offset_in(cell.number, 0) for cell in source.cells)
        if isinstance(source, CellSource)
        else ()
    )


def _changes(old: Source, new: Source) -> Iterator[Edit]:
    """From one source to another, cell by cell."""
    if not isinstance(old, CellSource) or not isinstance(new, CellSource):
        yield from line_edits(old.text, new.text)
        return
    for start, before, after in zip(_starts(old), old.cells, new.cells):
        for edit in line_edits(before.text, after.text):
            yield Edit(Span(edit.span.start + start, edit.span.end + start), edit.text)


def _plain(data: dict) -> dict:
    """Of what only rules and reports need, that which decides between findings."""
    return {name: data[name] for name in ("covers", "over") if name in data}


def _bare(finding: Finding) -> Finding:
    """A finding without what only rules and reports need, which may hold trees."""
    return _with_data(finding, {})


def _with_data(finding: Finding, data: dict) -> Finding:
    return dataclasses.replace(finding, data=data) if finding.data != data else finding
