"""Imports inside the linted project: from a dotted name to the file on disk that it means.

Files are read and parsed when a value is asked for, never imported. What is found depends on the
files alone, not on which of them are linted together.

What a linted file's findings depend on outside of that file are answers to a few kinds of question
(`ANSWERS`). Each answer that was used can be noted, and whether all would be the same today says
whether the findings would.
"""

from __future__ import annotations

import os
import re
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

try:
    from _blake2 import blake2b  # hashlib loads OpenSSL as well
except ImportError:
    from hashlib import blake2b

from tfnanlint.conventions.files import FOREIGN, is_foreign
from tfnanlint.project.answers import NO, UNKNOWN, Answer
from tfnanlint.project.filesystem import Disk, FileSystem
from tfnanlint.project.half_precision import half_wanted, setters_of
from tfnanlint.project.settings import set_in
from tfnanlint.syntax.source import Source, Unreadable

Module = Any  # a `module.Module`, which knows its project

if TYPE_CHECKING:
    from tfnanlint.project.gradients_taken import GradientsTaken
    from tfnanlint.project.imports import Imports
    from tfnanlint.project.outlines import Outline
    from tfnanlint.project.programs import Program
    from tfnanlint.project.reach import Reach
    from tfnanlint.project.releases import Named

NOTEBOOK = ".ipynb"
# larger files are generated tables: reading them costs more than they tell
MAX_FILE_BYTES = 1 << 20
# characters of parsed files kept for the next question; their trees take about 25 times that
MAX_KEPT = 16_000_000
MAX_NOTEBOOK_BYTES = 16 << 20  # with the pictures in it
MAX_TREE_FILES = 4000  # searched for callers; beyond them callers in other files are not looked for
MAX_TREE_BYTES = 48 << 20
MAX_SCRIPTS = 40  # beside a package
MAX_IMPORTERS = 12
MAX_HOPS = 6  # re-exports followed from one import

# A question about files other than the linted one: its kind, and what it is about.
Question = tuple[str, ...]
Facts = dict[Question, Any]

_files: FileSystem = Disk()  # where files are read
# stamp, source, digest of what was read
_sources: OrderedDict[str, tuple[tuple, Source | None, str]] = OrderedDict()
_kept = 0  # characters in _sources
_shown: dict[str, Source] = {}  # what an editor holds, in place of the file on disk
_parsed: dict[str, Source] = {}  # the last text of each of these that could be parsed


def show(path: str, text: str | None) -> None:
    """Let a text stand for the file at an absolute path, as an editor holds it unsaved; None: the
    file itself counts again.
    """
    known = path in _shown
    if text is None:
        _shown.pop(path, None)
        _parsed.pop(path, None)
    else:
        _shown[path] = Source(path, text)
    if known != (path in _shown):
        _is_file.cache_clear()
        _package_root.cache_clear()
    for trees in (_trees, _programs):
        for top, texts in trees.items():
            if texts and (path in texts or _below(path, top)):
                texts[path] = _bytes(path)
    for cached in _OF_TEXTS:
        cached.cache_clear()


def written(path: str) -> None:
    """Look again at the file at an absolute path: this process has written it."""
    for trees in (_trees, _programs):
        for texts in trees.values():
            if path in texts:
                texts[path] = _bytes(path)
    for cached in _OF_TEXTS:
        cached.cache_clear()


def forget() -> None:
    """Look again which files there are: some were made, moved, deleted or written. One run of the
    command line never asks this.
    """
    _trees.clear()
    _programs.clear()
    for cached in (_is_file, _package_root, _project_around, *_OF_TEXTS):
        cached.cache_clear()


class reading:
    """`with reading(files):` lets all questions be answered from other files than those on disk.
    What was known of the former ones is forgotten, before and after.
    """

    def __init__(self, files: FileSystem):
        self._files = files
        self._former = _files

    def __enter__(self) -> None:
        self._former = _files
        _read_from(self._files)

    def __exit__(self, *error: object) -> None:
        _read_from(self._former)


def _read_from(files: FileSystem) -> None:
    global _files, _kept
    _files = files
    _sources.clear()
    _kept = 0
    _parsed.clear()
    forget()


def source_of(path: str) -> Source | None:
    """The parsed source of a file, kept while the file does not change; None when it cannot be read
    or parsed.
    """
    if path in _shown:
        return _shown_source(path)
    stamp = _files.stamp(path)
    if stamp is None:
        _keep(path, (), None, ABSENT)
        return None
    kept = _sources.get(path)
    if kept is not None and kept[0] == stamp:
        _sources.move_to_end(path)
        return kept[1]
    if stamp[1] > MAX_FILE_BYTES:
        source, digest = None, TOO_LARGE
    else:
        source, digest = _read(path, kept[1] if kept is not None else None)
    _keep(path, stamp, source, digest)
    return source


def _shown_source(path: str) -> Source | None:
    """What an editor holds, or, while that is half typed, the last of it that could be parsed."""
    source = _shown[path]
    adopt(source)
    try:
        source.tree
        _parsed[path] = source
    except Unreadable:
        pass
    return _parsed.get(path)


def adopt(source: Source) -> None:
    """Take over the tree of the same text, if another file's question has had it parsed already."""
    _, known, _ = _sources.get(os.path.abspath(source.path), ((), None, ""))
    if known is not None and known.text == source.text and "tree" in known.__dict__:
        source.__dict__["tree"] = known.tree


def remember(source: Source) -> None:
    """Keep a linted source: its tree serves the next file that asks, if the file on disk says the
    same.
    """
    _keep(os.path.abspath(source.path), (), source, "")


def _keep(path: str, stamp: tuple, source: Source | None, digest: str) -> None:
    global _kept
    _, former, _ = _sources.pop(path, ((), None, ""))
    _sources[path] = (stamp, source, digest)
    _kept += _size(source) - _size(former)
    while _kept > MAX_KEPT and len(_sources) > 1:
        name, (_, dropped, _) = _sources.popitem(last=False)
        _kept -= _size(dropped)
        _outlines.pop(name, None)


def _size(source: Source | None) -> int:
    return len(source.text) if source is not None else 0


def _read(path: str, known: Source | None) -> tuple[Source | None, str]:
    """The parsed source of a file, if it can be parsed, and the digest of its bytes."""
    digest = ABSENT
    try:
        data = _files.read(path)
        digest = hashed(data)
        source = Source.from_bytes(path, data)
        if known is not None and known.text == source.text:
            return known, digest
        source.tree  # parsed now, so that a broken file is simply not known
    except (OSError, Unreadable):
        return None, digest
    return source, digest


_IMPORTS = re.compile(
    rb"[ \t]*(?:from[ \t]+(\w*)[\w.]*[ \t]+import[ \t]*(?:\([^)]*\)|[^\n]*)"
    rb"|(?:from|import)[ \t][^\n]*)"
)
_ELSEWHERE = frozenset(map(str.encode, FOREIGN))
_WORD = re.compile(rb"\w+")
_PACKAGED = re.compile(rb"^\[(?:project|build-system|tool\.poetry|tool\.flit)", re.M)
_MODULES = re.compile(rb"\b(?:packages|py_modules|package_dir|find_packages|name)\s*=")
_NAMES = re.compile(r"[^\W\d]\w*")
# which uses nothing; but what it imports under another name goes on under that
_IMPORT_ROW = re.compile(
    r"^[ \t]*(?:from[ \t]+[\w.]+[ \t]+)?import[ \t](?![^\n;]*\bas\b)[^\n;]*$", re.M
)
_INIT = "__init__.py"
_FOUND_PACKAGES = re.compile(
    rb"\bpackages\s*=\s*[\w.]*\bfind_packages\(\s*(?:exclude\s*=\s*[(\[][^()\[\]]*[)\]]\s*)?\)\s*[,)]"
)
_LISTED_PACKAGES = re.compile(
    rb"\bpackages\s*=\s*\[\s*((?:(?:'[\w./]+'|\"[\w./]+\")\s*,?\s*)*)\]\s*[,)]"
)
# What else a `setup.py` may take in.
_OTHERWISE = (b"package_dir", b"py_modules", b"namespace", b"scripts")
_RUNS_FILE = re.compile(r"^[ \t]*%run\b(?:[ \t]+-\w+)*[ \t]*([^\s]*)", re.M)  # a magic of notebooks


@lru_cache(maxsize=65536)
def _callers(top: str, leaf: str, name: str) -> tuple[str, ...]:
    """Files below a folder that import something named `leaf` and call what ends in `name`: not all
    where they are too many to be of use, with the asking file among them or not.
    """
    called, own = name.encode(), os.fsencode(os.path.basename(top))
    callers: list[str] = []
    for path, data in _importing(top).get(os.fsencode(leaf), ()):
        if _calls(data, called, own):
            callers.append(path)
            if len(callers) > MAX_IMPORTERS + 1:
                break
    return tuple(callers)


def _calls(data: bytes, name: bytes, own: bytes) -> bool:
    """Whether something with a name that another file defines may be called in a file of the
    package `own`. Other names end so, too, and a function or class that the file itself defines may
    have that name.
    """
    called = name + b"("
    place = data.find(called)
    while place >= 0:
        before = data[place - 1 : place]
        longer = before.isalnum() or before == b"_" or before > b"\x7f"
        if (
            before == b"."
            or not longer
            and not data.endswith((b"def ", b"class "), 0, place)
            and not _only_own(data, name, own)
        ):
            return True
        place = data.find(called, place + 1)
    return False


def _only_own(data: bytes, name: bytes, own: bytes) -> bool:
    """Whether a bare name is that of a function or class which a file defines, and nothing that it
    may have from elsewhere (`f = losses.f`).
    """
    defined = b"def " + name + b"(" in data or b"class " + name in data
    return (
        defined
        and b"." + name not in data
        and b"import *" not in data
        and name not in _imported(data, own)
    )


@lru_cache(maxsize=2)
def _importing(top: str) -> dict[bytes, list[tuple[str, bytes]]]:
    """Every word in the import statements below a folder, with the files that hold it; {} for a
    tree too large to search.
    """
    files_by_word: dict[bytes, list[tuple[str, bytes]]] = {}
    own = os.fsencode(os.path.basename(top))
    for path, data in _texts(top).items():
        for word in _imported(data, own):
            files_by_word.setdefault(word, []).append((path, data))
    return files_by_word


@lru_cache(maxsize=MAX_TREE_FILES)
def _imported(data: bytes, own: bytes) -> frozenset[bytes]:
    """Every word in the import statements of a file, but for those that import from elsewhere;
    `own` is the package that it is in.
    """
    words: set[bytes] = set()
    place = data.find(b"import")
    while place >= 0:
        statement = _IMPORTS.match(data, data.rfind(b"\n", 0, place) + 1)
        if statement is not None and (
            statement[1] not in _ELSEWHERE or statement[1] == own or b";" in statement[0]
        ):
            words.update(_WORD.findall(statement[0]))
        place = data.find(
            b"import", max(place + 6, statement.end() if statement is not None else 0)
        )
    return frozenset(words)


_OTHER = re.compile(rb"(?:hparams|params|config)\.(\w+)")


@lru_cache(maxsize=4096)
def _settings_once(top: str, name: str) -> tuple[float, ...]:
    """The numbers that files below a folder set a setting to, other settings that it is set to
    included; () where there are none, or one of them is not known.
    """
    numbers: list[float] = []
    queue, seen = [name.encode()], {name.encode()}
    while queue:
        asked = queue.pop()
        for text in _set_to(top).get(asked, ()):
            reference = _OTHER.fullmatch(text)
            if reference is not None:
                queue += {reference[1]} - seen
                seen.add(reference[1])
            elif (
                text != b"None"
                and not text.endswith(b"." + asked)
                and text.count(b"(") >= text.count(b")")
            ):
                try:
                    numbers.append(float(text))
                except ValueError:
                    return ()
    return tuple(dict.fromkeys(numbers))


@lru_cache(maxsize=4096)
def _half_once(top: str, path: str) -> tuple[str, ...]:
    """The files by which the program of a file asks Keras to compute in 16 bits."""
    return _half_setters(top).get(path, ())


@lru_cache(maxsize=2)
def _half_setters(top: str) -> dict[str, tuple[str, ...]]:
    return setters_of(_texts(top), _importing(top), _half_of)


@lru_cache(maxsize=256)
def _half_of(path: str, data: bytes) -> str:
    """The dtype of 16 bits that a file, which holds `data`, asks Keras to compute in."""
    return half_wanted(data, lambda: getattr(source_of(path), "tree", None))


@lru_cache(maxsize=4096)
def _release_named(path: str, top: str) -> Named:
    """The releases of TensorFlow that a file, or the papers of its project, name."""
    from tfnanlint.project.releases import named  # only a fix asks for it

    return named(path, top, _files.papers_in, partial(_bytes, limit=MAX_NOTEBOOK_BYTES))


@lru_cache(maxsize=2)
def _set_to(top: str) -> dict[bytes, list[bytes]]:
    """The settings of the files below a folder, each with the expressions that it is set to."""
    settings: dict[bytes, list[bytes]] = {}
    for data in _texts(top).values():
        for name, texts in _set_in(data).items():
            settings[name] = settings.get(name, []) + texts
    return settings


_set_in = lru_cache(maxsize=MAX_TREE_FILES)(set_in)


_trees: dict[str, dict[str, bytes]] = {}  # the last folders that were searched


def _texts(top: str) -> dict[str, bytes]:
    """The Python files below a folder, and beside it if it is a package, with their bytes; {} when
    the tree is too large to be searched.
    """
    if top not in _trees:
        if len(_trees) > 1:
            _trees.clear()
        _trees[top] = _searched(top)
        if _trees[top]:
            _trees[top].update((path, _bytes(path)) for path in _shown if _below(path, top))
    return _trees[top]


def _below(path: str, top: str) -> bool:
    return path.startswith(top.rstrip(os.sep) + os.sep)


def _searched(top: str) -> dict[str, bytes]:
    texts: dict[str, bytes] = {}
    total = 0
    for path in _files.sources_below(top):
        data = _read_before(path) or _bytes(path)
        total += len(data)
        texts[path] = data
        if total > MAX_TREE_BYTES or len(texts) > MAX_TREE_FILES:
            return {}
    texts.update((path, _bytes(path)) for path in _scripts(top))
    return texts


def _scripts(top: str) -> list[str]:
    """The files directly beside a package: the scripts that use it; none where there are many, for
    that is no project's folder.
    """
    directory = os.path.dirname(top)
    if not _is_file(os.path.join(top, _INIT)):
        return []
    paths = _files.sources_in(directory)
    return paths if len(paths) <= MAX_SCRIPTS else []


_programs: dict[str, dict[str, bytes]] = {}  # the last projects of which programs were asked


def _program_texts(top: str) -> dict[str, bytes]:
    """The Python files and notebooks of a project with their bytes; {} when they are too many, or
    one is too large.
    """
    if top not in _programs:
        if len(_programs) > 1:
            _programs.clear()
        texts: dict[str, bytes] = {}
        total = 0
        for path in _files.sources_below(top, (".py", NOTEBOOK)):
            texts[path], size = _program_text(path)
            total += size
            if total > MAX_TREE_BYTES or len(texts) > MAX_TREE_FILES:
                texts = {}
                break
        _programs[top] = texts
        if texts:
            texts.update((path, _bytes(path)) for path in _shown if _below(path, top))
    return _programs[top]


def _program_text(path: str) -> tuple[bytes, int]:
    """What a file of a program holds, and how much it counts: one that is too large, for more than
    all may hold.
    """
    known = _read_before(path)
    if known:
        return known, len(known)
    is_notebook = path.endswith(NOTEBOOK)
    limit = MAX_NOTEBOOK_BYTES if is_notebook else MAX_FILE_BYTES
    stamp, data = _files.stamp(path), _bytes(path, limit)
    size = len(data) if stamp is None or stamp[1] <= limit else MAX_TREE_BYTES + 1
    return _written_in(data) if is_notebook else data, size


def _read_before(path: str) -> bytes | None:
    """What a file holds that a search of the folders around it has read: it is read, and held in
    memory, once.
    """
    for trees in (_trees, _programs):
        for texts in trees.values():
            if path in texts:
                return texts[path]
    return None


@lru_cache(maxsize=4096)
def _project_around(directory: str) -> str:
    """The top folder of the project that a folder belongs to."""
    return _files.project_around(directory)


def _written_in(notebook: bytes) -> bytes:
    """What the cells of a notebook hold."""
    from tfnanlint.notebook.document import written_in  # no file of Python needs it

    return written_in(notebook)


@lru_cache(maxsize=2)
def _program(top: str) -> Program | None:
    """The program of a project; None where its files are too many."""
    from tfnanlint.project.programs import Program  # only a finding asks for it

    texts = _program_texts(top)
    return Program(top, texts, _outline) if texts else None


def _outline(path: str) -> Outline:
    """The outline of a file; of one that cannot be parsed, that of its words."""
    if path.endswith(NOTEBOOK):
        return _outline_of_notebook(path)
    source = source_of(path)
    outline = outlined(source) if source is not None else None
    return outline if outline is not None else _outline_of_words(path)


@lru_cache(maxsize=64)
def _outline_of_notebook(path: str) -> Outline:
    source = _source_in(path)
    outline = _outline_of(source) if source is not None else None
    return outline if outline is not None else _outline_of_words(path)


def _source_in(path: str) -> Source | None:
    """The source of a file of a program; None where it cannot be parsed."""
    if not path.endswith(NOTEBOOK):
        return source_of(path)
    from tfnanlint.notebook.document import Notebook

    try:
        source = Notebook(path, _bytes(path, MAX_NOTEBOOK_BYTES)).source
    except Unreadable:
        return None
    return source if not source.faults else None


@lru_cache(maxsize=512)
def _outline_of_words(path: str) -> Outline:
    from tfnanlint.project.outlines import Words

    text = _bytes(path, MAX_NOTEBOOK_BYTES).decode("utf-8", "replace")
    outline = None if path.endswith(NOTEBOOK) else _outline_of_python2(path, text)
    if outline is not None:
        return outline
    used = _IMPORT_ROW.sub("", text)
    return Words(frozenset(_NAMES.findall(text)), frozenset(_NAMES.findall(used)))


# The outlines of sources that are kept, by their paths.
_outlines: dict[str, Outline] = {}


def _outline_of_python2(path: str, text: str) -> Outline | None:
    """The outline of a file of Python 2, if it is one."""
    from tfnanlint.syntax.python2 import as_python3

    plain = as_python3(text) if len(text) <= MAX_FILE_BYTES else text
    return _outline_of(Source(path, plain)) if plain != text else None


def outlined(source: Source) -> Outline | None:
    """The outline of a source; None when it cannot be parsed. It is kept for the next question."""
    path = os.path.abspath(source.path)
    outline = _outlines.get(path)
    if outline is None or outline.text != source.text:
        outline = _outline_of(source)
        if outline is not None:
            _outlines[path] = outline
    return outline


def _outline_of(source: Source) -> Outline | None:
    from tfnanlint.project.outlines import Outline

    is_notebook = source.path.endswith(NOTEBOOK)
    try:
        outline = Outline(source.text, source.tree, source.line_starts, is_notebook)
    except (Unreadable, RecursionError):
        return None
    for path in _RUNS_FILE.findall(source.written) if is_notebook else ():
        outline.run_file(path)
    return outline


def _packages_python(path: str) -> bool:
    """Whether a `setup.py` builds more than extension modules for the program beside it."""
    if not _is_file(path):
        return False
    data = _bytes(path)
    return b"ext_modules" not in data or _MODULES.search(data) is not None


@lru_cache(maxsize=4096)
def _is_packaged(directory: str, top: str, is_package: bool | None = None, below: str = "") -> bool:
    """Whether what builds a package for other programs takes in the files of a folder: it stands
    there, or in one around it in the project. A `setup.py` that looks for packages finds those
    alone that lie in packages up to its own folder. `is_package` says whether all folders from that
    of the files up to the one below this are packages; None: this is the folder of the files.
    `below` is their dotted name.
    """
    if _PACKAGED.search(_bytes(os.path.join(directory, "pyproject.toml"))):
        return True
    builder = os.path.join(directory, "setup.py")
    if _packages_python(builder) and _takes_in(directory, bool(is_package), below):
        return True
    above, name = os.path.split(directory)
    below = f"{name}.{below}" if below else name
    is_package = is_package is not False and _is_file(os.path.join(directory, _INIT))
    return directory.startswith(top + os.sep) and _is_packaged(above, top, is_package, below)


def _takes_in(folder: str, is_package: bool, below: str) -> bool:
    """Whether the `setup.py` of a folder takes in the files of one below it."""
    listed = _listed_packages(folder)
    if listed is not None:
        return below in listed
    return is_package or not _finds_packages(folder)


def _listed_packages(folder: str) -> frozenset[str] | None:
    """The packages that a `setup.py` lists in one place, `packages=["nets", "nets.layers"]`, all
    that it takes in; None where it says so in another way.
    """
    setup, more = (_bytes(os.path.join(folder, name)) for name in ("setup.py", "setup.cfg"))
    listed = _LISTED_PACKAGES.search(setup)
    if listed is None or b"[options" in more:
        return None
    rest = setup[: listed.start()] + setup[listed.end() :]
    if any(word in rest for word in (b"packages", *_OTHERWISE)):
        return None
    names = listed.group(1).decode("utf-8", "replace").split(",")
    return frozenset(name.strip().strip("'\"").replace("/", ".") for name in names if name.strip())


def _finds_packages(folder: str) -> bool:
    """Whether the `setup.py` of a folder takes in what `find_packages()` finds below it alone."""
    setup, more = (_bytes(os.path.join(folder, name)) for name in ("setup.py", "setup.cfg"))
    is_said_elsewhere = b"[options" in more or any(word in setup for word in _OTHERWISE)
    return _FOUND_PACKAGES.search(setup) is not None and not is_said_elsewhere


@lru_cache(maxsize=65536)
def _reached(top: str, path: str, name: str) -> Answer:
    """Whether the program of a project reaches a definition of a file, as the file is kept."""
    reach = _reach(top, path, _outline)
    if reach is None:
        return UNKNOWN, ""
    answer = reach.answer(name)
    reach.close()
    return answer


@lru_cache(maxsize=65536)
def _attribute_read(top: str, path: str, owner: str, name: str) -> Answer:
    """Whether the program of a project reads an attribute of a class of a file, as that is kept."""
    reach = _reach(top, path, _outline)
    if reach is None:
        return UNKNOWN, ""
    answer = reach.attribute(owner, name)
    reach.close()
    return answer


@lru_cache(maxsize=65536)
def _name_read(top: str, path: str, name: str) -> bool:
    """Whether another file may read a name that a file binds outside of its functions."""
    imports = None if _is_part_of_package(path, top) else _imports_of_program(top)
    return imports is None or imports.may_be_read(path, name)


# What takes attributes of an object by texts, or all of them.
_BY_TEXT = "attrgetter methodcaller asdict astuple getmembers __getattribute__ __setattr__".split()


@lru_cache(maxsize=65536)
def _files_naming(top: str, attribute: str) -> tuple[tuple[str, ...], bool] | None:
    """The files of a project in which a word stands, and whether no other may read an attribute of
    that name; None where the files are too many.
    """
    program = _program(top)
    if program is None:
        return None
    by_text = any(map(program.holding, _BY_TEXT))
    are_all = not (program.gets_attributes or program.copies_attributes or by_text)
    return tuple(program.holding(attribute)), are_all


@lru_cache(maxsize=2)
def _imports_of_program(top: str) -> Imports | None:
    from tfnanlint.project.imports import Imports

    program = _program(top)
    return Imports(program) if program is not None else None


@lru_cache(maxsize=65536)
def _gradients_taken(top: str, path: str) -> str:
    """Whether the program of a project takes a gradient of what a file computes."""
    program = None if _is_part_of_package(path, top) else _program(top)
    if program is None or not program.may_say_no(path):
        return UNKNOWN
    taken = _gradients_of_program(top)
    return taken.answer(path) if taken is not None else UNKNOWN


@lru_cache(maxsize=65536)
def _run_trained(top: str, path: str) -> bool:
    """Whether the program of a project runs what a file computes as trained before."""
    taken = _gradients_of_program(top)
    return taken is not None and taken.is_run_trained(path)


@lru_cache(maxsize=2)
def _gradients_of_program(top: str) -> GradientsTaken | None:
    from tfnanlint.project.gradients_taken import GradientsTaken

    program = _program(top)
    return GradientsTaken(program) if program is not None else None


@lru_cache(maxsize=4096)
def _compiler_around(top: str, path: str) -> str:
    """What the program of a project says of XLA, where it runs what a file computes; "" of a
    library, and of a file by itself.
    """
    from tfnanlint.project.compilers import compiler_around

    program, imports = _program(top), _imports_of_program(top)
    if program is None or imports is None or _is_part_of_package(path, top):
        return ""
    if len(program.texts) < 2 or path not in program.texts:
        return ""
    return compiler_around(program, imports, path, _source_in)


@lru_cache(maxsize=65536)
def _never_taken(top: str, path: str, row: str) -> str:
    """Why the program of a project never takes the branch around a row of a file, as it is kept."""
    reach = _reach(top, path, _outline)
    if reach is None:
        return ""
    reason = reach.never(int(row))
    reach.close()
    return reason


def _reach(top: str, path: str, outline_of: Callable[[str], Outline | None]) -> Reach | None:
    """What answers for the definitions of a file; None where nothing is known of any."""
    from tfnanlint.project.reach import Reach

    program = None if _is_part_of_package(path, top) else _program(top)
    if program is None or not program.may_say_no(path):
        return None
    outline = outline_of(path)
    return Reach(program, path, outline) if outline is not None else None


def _is_part_of_package(path: str, top: str) -> bool:
    """Whether what builds a package takes in a file: it takes in no notebooks."""
    return not path.endswith(NOTEBOOK) and _is_packaged(os.path.dirname(path), top)


ABSENT, TOO_LARGE = "absent", "large"  # in place of the digest of a file that is not read


def hashed(*parts: bytes) -> str:
    """A digest of some bytes, in which it counts where a part ends."""
    state = blake2b(digest_size=16)
    for part in parts:
        state.update(b"%d:" % len(part))
        state.update(part)
    return state.hexdigest()


@lru_cache(maxsize=None)
def _digest(path: str) -> str:
    """The digest of what `source_of` reads in a file."""
    stamp = _files.stamp(path)
    if stamp is None:
        return ABSENT
    if stamp[1] > MAX_FILE_BYTES:
        return TOO_LARGE
    try:
        return hashed(_files.read(path))
    except OSError:
        return ABSENT


@lru_cache(maxsize=None)
def _tree_digest(top: str) -> str:
    """The digest of all files below a folder among which callers are searched."""
    return _digest_of(_texts(top))


@lru_cache(maxsize=None)
def _program_digest(top: str) -> str:
    """The digest of all files of a project."""
    return _digest_of(_program_texts(top))


def _digest_of(texts: dict[str, bytes]) -> str:
    return hashed(*(part for path, data in texts.items() for part in (os.fsencode(path), data)))


def _bytes(path: str, limit: int = MAX_FILE_BYTES) -> bytes:
    if path in _shown:
        return _shown[path].text.encode("utf-8", "replace")
    stamp = _files.stamp(path)
    if stamp is None or stamp[1] > limit:
        return b""
    try:
        return _files.read(path)
    except OSError:
        return b""


@lru_cache(maxsize=4096)
def _is_file(path: str) -> bool:
    return path in _shown or _files.is_file(path)


@lru_cache(maxsize=4096)
def _package_root(directory: str) -> tuple[str, str]:
    """The folder above the outermost package around a folder, and the package's dotted name from
    there.
    """
    parts: list[str] = []
    while _is_file(os.path.join(directory, _INIT)):
        directory, name = os.path.split(directory)
        if not name:
            break
        parts.append(name)
    return directory, ".".join(reversed(parts))


def _tree_of(path: str) -> tuple[str, str]:
    """The folder of the outermost package around a file, or of the file, and the dotted name of the
    package.
    """
    root, package = _package_root(os.path.dirname(path))
    return (
        os.path.join(root, package.split(".", 1)[0]) if package else os.path.dirname(path)
    ), package


# What remembers the bytes of files.
_OF_TEXTS = (
    _importing,
    _callers,
    _set_to,
    _half_setters,
    _half_once,
    _settings_once,
    _release_named,
    _digest,
    _tree_digest,
    _program_digest,
    _program,
    _outline_of_notebook,
    _outline_of_words,
    _is_packaged,
    _reached,
    _attribute_read,
    _name_read,
    _files_naming,
    _imports_of_program,
    _gradients_taken,
    _run_trained,
    _gradients_of_program,
    _never_taken,
    _compiler_around,
)

# By the kind of a question, what answers it. A digest of all files goes before those `OF_TREE`,
# which begin with the same folder: as long as no file below it changes, their answers are the same.
ANSWERS: dict[str, Callable[..., Any]] = {
    "file": _is_file,
    "root": _package_root,
    "text": _digest,
    "around": _project_around,
    "packaged": _is_packaged,
    "tree": _tree_digest,
    "program": _program_digest,
    "callers": _callers,
    "settings": _settings_once,
    "half": _half_once,
    "release": _release_named,
    "reach": _reached,
    "attribute": _attribute_read,
    "name": _name_read,
    "naming": _files_naming,
    "gradients": _gradients_taken,
    "trained": _run_trained,
    "branch": _never_taken,
    "compiler": _compiler_around,
}
# by the kind of a question, that of the digest of all files that its answer is made from
OF_TREE = {
    "callers": "tree",
    "settings": "tree",
    "half": "tree",
    "reach": "program",
    "attribute": "program",
    "name": "program",
    "naming": "program",
    "gradients": "program",
    "trained": "program",
    "branch": "program",
    "compiler": "program",
}


class Project:
    """The files around one linted file; modules are made anew for every linted file, so that
    answers do not depend on order.

    The answers to questions about other files are noted in `facts`, if it is given. `make_module`
    makes a module of a source in a project; without it none is made.
    """

    def __init__(
        self,
        path: str,
        facts: Facts | None = None,
        make_module: Callable[[Source, Any], Module] | None = None,
    ):
        self.facts = facts
        self.path = os.path.abspath(path) if path and path != "-" else ""
        self.modules: dict[str, Any] = {}
        self.busy: set[str] = set()
        self._absolute: dict[str, str] = {}
        self._trees: dict[str, tuple[str, str]] = {}
        self._reach: Reach | None = None
        self._has_reach = False  # whether it was asked for
        self._make_module = make_module

    def close(self) -> None:
        """Give back the memory of every module that was made for this file."""
        for module in self.modules.values():
            if module is not None:
                module.close()
        self.modules.clear()
        if self._reach is not None:
            self._reach.close()
            self._reach = None

    def _ask(self, *question: str) -> Any:
        answer = ANSWERS[question[0]](*question[1:])
        self._note(question, answer)
        return answer

    def _note(self, question: Question, answer: Any) -> None:
        if self.facts is None:
            return
        self.facts[question] = answer
        if question[0] in OF_TREE:
            digest = OF_TREE[question[0]]
            self.facts[digest, question[1]] = ANSWERS[digest](question[1])

    def _tree_of(self, path: str) -> tuple[str, str]:
        """`_tree_of` a file, noted; the same few ask often."""
        tree = self._trees.get(path)
        if tree is None:
            self._ask("root", os.path.dirname(path))
            tree = self._trees[path] = _tree_of(path)
        return tree

    def module(self, path: str) -> Module | None:
        """The module of a file, walked at its top level."""
        if path == self.path or path in self.busy:
            return self.modules.get(path)
        if path not in self.modules:
            source = source_of(path)
            if self.facts is not None:
                self.facts["text", path] = _sources[path][2]
            self.busy.add(path)
            try:
                self.modules[path] = (
                    self._make_module(source, self)
                    if source is not None and self._make_module is not None
                    else None
                )
            except RecursionError:
                self.modules[path] = None
            finally:
                self.busy.discard(path)
        return self.modules[path]

    def find(self, dotted: str, level: int, importer: str) -> tuple[Module | None, str]:
        """The module an import path leads into, and the rest of the path inside it; (None, "") when
        outside.
        """
        if not self.path or not importer:
            return None, ""
        directory = os.path.dirname(self._path(importer))
        if level:
            for _ in range(level - 1):
                directory = os.path.dirname(directory)
            return self._descend(directory, dotted)
        root, package = self._ask("root", directory)
        first = dotted.split(".", 1)[0]
        if is_foreign(first) and package.split(".", 1)[0] != first:
            return None, ""
        from_root = self._descend(root, dotted)
        return (
            from_root
            if from_root[0] is not None or root == directory
            else self._descend(directory, dotted)
        )

    def importers(self, importer: str, name: str) -> list[Module]:
        """Modules of the project, other than `importer`'s, that import it by its own name and call
        something that ends in `name`.

        At most `MAX_IMPORTERS` in the order of their paths; [] when there are more, for then the
        callers are not known.
        """
        return [
            module
            for module in map(self.module_or_own, self.importing(importer, name))
            if module is not None
        ]

    def importing(self, importer: str, name: str) -> list[str]:
        """The paths of the modules that are `importers`, if they can be parsed."""
        path = self._path(importer)
        stem = os.path.basename(path).removesuffix(".py")
        top, package = self._tree_of(path)
        leaf = package.rsplit(".", 1)[-1] if stem == "__init__" else stem
        if not self.path or not leaf:
            return []
        callers = [other for other in self._ask("callers", top, leaf, name) if other != path]
        return callers if len(callers) <= MAX_IMPORTERS else []

    def settings(self, importer: str, name: str) -> tuple[float, ...]:
        """The numbers that the project around a file sets a setting to; () when it is not known."""
        return (
            self._ask("settings", self._tree_of(self._path(importer))[0], name) if self.path else ()
        )

    def release_named(self, importer: str) -> Named:
        """The releases of TensorFlow that a file or the papers of its project require, and that
        they describe.
        """
        path = self._path(importer)
        if not self.path:
            return None, None
        return self._ask("release", path, self._ask("around", os.path.dirname(path)))

    def half_setters(self, importer: str) -> tuple[str, ...]:
        """The files by which the program of a file asks Keras to compute in 16 bits."""
        path = self._path(importer)
        return self._ask("half", self._tree_of(path)[0], path) if self.path else ()

    def half(self, importer: str) -> str:
        """The dtype of 16 bits that the program of a file asks Keras to compute in, "" where it
        asks for none.
        """
        setters = self.half_setters(importer)
        path = self._path(importer)
        setter = path if path in setters else next(iter(setters), None)
        return _half_of(setter, self.data_of(path, setter)) if setter is not None else ""

    def data_of(self, importer: str, path: str) -> bytes:
        """The bytes of one of the files of the project around a file."""
        return _texts(self._tree_of(self._path(importer))[0])[path]

    def reached(self, source: Source, name: str) -> Answer:
        """Whether the program around a linted source reaches its definition of a qualified name,
        "" for what stands outside of all.
        """
        reach, top, path = self._reach_of(source)
        if reach is None:
            return UNKNOWN, ""
        answer = reach.answer(name)
        self._note(("reach", top, path, name), answer)
        return answer

    def reads(self, source: Source, owner: str, name: str) -> Answer:
        """Whether the program around a linted source reads an attribute that the methods of its
        class `owner` assign.
        """
        reach, top, path = self._reach_of(source)
        if reach is None:
            return UNKNOWN, ""
        answer = reach.attribute(owner, name)
        self._note(("attribute", top, path, owner, name), answer)
        return answer

    def naming(self, importer: str, attribute: str) -> tuple[tuple[str, ...], bool] | None:
        """The files around a file in which the name of an attribute stands, itself too, and whether
        no other reads it, by a name that is computed; None where they are not known: of a package.
        """
        path = self._path(importer)
        if not self.path:
            return None
        if self._in_package(path):
            return None
        return self._ask("naming", self._ask("around", os.path.dirname(path)), attribute)

    def is_packaged(self, importer: str) -> bool:
        """Whether other programs may use what stands in a file: in a package, or in no file."""
        path = self._path(importer)
        return not self.path or self._in_package(path)

    def _in_package(self, path: str) -> bool:
        top = self._ask("around", os.path.dirname(path))
        return bool(self._ask("packaged", os.path.dirname(path), top))

    def may_read(self, path: str, name: str) -> bool:
        """Whether another file may read a name that a file binds outside of its functions."""
        path = self._path(path)
        if not self.path:
            return False  # text that stands in no file
        return bool(self._ask("name", self._ask("around", os.path.dirname(path)), path, name))

    def takes_no_gradient(self, source: Source) -> bool:
        """Whether the program around the linted source takes no gradient of what it computes."""
        path = self._path(source.path)
        if not self.path or path != self.path:
            return False
        top = self._ask("around", os.path.dirname(path))
        return not self._in_package(path) and bool(self._ask("gradients", top, path) == NO)

    def only_predicts(self, source: Source) -> bool:
        """Whether the program around the linted source runs what it computes as trained before, and
        takes no gradient of it.
        """
        path = self._path(source.path)
        if not self.takes_no_gradient(source):
            return False
        return bool(self._ask("trained", self._ask("around", os.path.dirname(path)), path))

    def compiler(self, source: Source) -> str:
        """What the program around the linted source says of XLA, as `compilers` has it; "" where
        that is not known.
        """
        path = self._path(source.path)
        if not self.path or path != self.path:
            return ""
        return str(self._ask("compiler", self._ask("around", os.path.dirname(path)), path))

    def never(self, source: Source, row: int) -> str:
        """Why the program around a linted source never takes the branch that a row stands in; ""
        where it may.
        """
        reach, top, path = self._reach_of(source)
        if reach is None:
            return ""
        reason = reach.never(row)
        self._note(("branch", top, path, str(row)), reason)
        return reason

    def _reach_of(self, source: Source) -> tuple[Reach | None, str, str]:
        """What answers for the definitions of the linted source, the top folder of its project, and
        its path; None where nothing is known of any.
        """
        path = self._path(source.path)
        if not self.path or path != self.path:
            return None, "", path
        top = self._ask("around", os.path.dirname(path))
        if not path.endswith(NOTEBOOK) and self._in_package(path):
            return None, top, path
        if not self._has_reach:
            self._has_reach = True
            self._reach = _reach(top, path, lambda _: outlined(source))
        if self._reach is None and self.facts is not None:
            self._ask("program", top)  # so it is as long as no file of it changes
        return self._reach, top, path

    def _path(self, importer: str) -> str:
        """The absolute path of a file that asks; the same few ask often."""
        path = self._absolute.get(importer)
        if path is None:
            path = self._absolute[importer] = os.path.abspath(importer)
        return path

    def module_or_own(self, path: str) -> Module | None:
        """The module of a file of the project, the linted file's included."""
        return self.modules.get(path) or self.module(path)

    def _descend(self, directory: str, dotted: str) -> tuple[Module | None, str]:
        parts = dotted.split(".") if dotted else []
        for count in range(len(parts), -1, -1):
            base = os.sep.join((directory.rstrip(os.sep), *parts[:count]))
            for path in (
                (f"{base}.py", f"{base}{os.sep}{_INIT}") if count else (f"{base}{os.sep}{_INIT}",)
            ):
                if self._ask("file", path):
                    module = self.module(path)
                    if module is not None:
                        return module, ".".join(parts[count:])
        return None, ""
