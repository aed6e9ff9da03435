"""Which functions a program reaches, by the names that its files load.

A program is the files below one folder, the notebooks among them. A function is reached if code
that runs loads its name; a method if its class is reached, too. Code runs that a script does when
it is run, and what it imports. Nothing is evaluated but the constants that calls pass (see
`choices`): a name that is loaded for something else of that name counts, so that NO is said only
where nothing can lead to a function.
"""

from __future__ import annotations

import os
from typing import Final

from tfnanlint.conventions.files import holds_tests, is_put_away
from tfnanlint.ops.frameworks import TRAINING_CALLS
from tfnanlint.project.answers import NO, UNKNOWN, YES, Answer
from tfnanlint.project.attributes import steps_kept
from tfnanlint.project.branches import layout_of
from tfnanlint.project.choices import Choices
from tfnanlint.project.halts import Halts
from tfnanlint.project.imports import Imports
from tfnanlint.project.names import Names, Node, TooMany
from tfnanlint.project.outline_entries import Definition, Use
from tfnanlint.project.outlines import TOP, Outline, is_case, is_main
from tfnanlint.project.programs import INIT, Program
from tfnanlint.project.scopes import Scopes
from tfnanlint.syntax.access_paths import is_special

_GROWTH: Final = 1.25  # of what may lead to a definition, until it is asked again whether it runs
_MAX_LOADERS: Final = 100  # files that import a file, also through others


class Reach:
    """What leads to the definitions of one file of a program. `own` is the outline of that file.
    It refers to itself, and to the trees of all files that it has asked, until `close`.
    """

    __deletable__ = ["_choices"]

    def __init__(self, program: Program, path: str, own: Outline):
        self._program = program
        self._path = path
        self._own = own
        self._users: dict[Node, set[Node]] = {}
        self._reached: set[Node] = set()
        self._running: dict[str, bool] = {}
        self._found: dict[str, bool] = {}
        # by a qualified name: several findings stand in one definition
        self._answers: dict[str, Answer] = {}
        self._names = Names(program, path, own)
        self._choices = Choices(program, self._names, self._may_be_called_unseen)
        self._signatures = Names(program, path, own)  # of the files that are read for calls
        self._halts = Halts(program, self._signatures)
        self._scopes = Scopes(self._names)

    def close(self) -> None:
        """Give back its memory without the cyclic collector (it is off)."""
        del self._choices

    def answer(self, name: str) -> Answer:
        """Whether the program reaches the definition of a qualified name."""
        known = self._answers.get(name)
        if known is None:
            self._begin()
            try:
                known = self._answer(name)
            except (TooMany, RecursionError):
                known = UNKNOWN, ""
            self._answers[name] = known
        return known

    def never(self, row: int) -> str:
        """Why the program never takes the branch that a row of the file stands in; "" where it may,
        or the file is not part of a program.
        """
        self._begin()
        try:
            reason = "" if self._own.exports(TOP) else self._never(self._path, row)
            return reason if reason and self._is_in_program() else ""
        except (TooMany, RecursionError):
            return ""

    def attribute(self, owner: str, name: str) -> Answer:
        """Whether the program reads an attribute that the methods of a class assign."""
        self._begin()
        try:
            if not self._is_unread(owner, name) or not self._is_in_program():
                return UNKNOWN, ""
        except (TooMany, RecursionError):
            return UNKNOWN, ""
        return NO, f"nothing in this program reads `{name}`"

    def _begin(self) -> None:
        self._users, self._reached, self._running, self._found = {}, set(), {}, {}
        self._idle: dict[Node, str] = {}  # why code that uses a definition never runs
        self._without_object: dict[Node, str] = {}
        self._imports: Imports | None = None
        self._loading: dict[str, set[str] | None] = {}
        self._names.begin()
        self._signatures.begin()

    def _is_unread(self, owner: str, name: str) -> bool:
        """Whether no file loads an attribute that the methods of a class assign."""
        return not (
            owner not in self._own.definitions
            or self._own.exports(owner)
            or self._program.gets_attributes
            or self._program.copies_attributes
            or self._names.may_base_call(self._path, owner, name)
            or any(self._reads(path, name, owner) for path in self._program.holding(name))
        )

    def _reads(self, path: str, name: str, owner: str) -> bool:
        """Whether a file may load an attribute: also by text that it evaluates. The file of the
        class may load it for a step of training that nothing runs.
        """
        outline = self._names.outline(path)
        return self._program.looks_up_in(outline) or any(
            use.is_attribute and not (path == self._path and self._is_of_unread_step(use, owner))
            for use in outline.uses(name)
        )

    def _is_of_unread_step(self, use: Use, owner: str) -> bool:
        """Whether a method loads an attribute for a step of training that nothing runs."""
        method = layout_of(self._own).functions.get(use.owner)
        if method is None or use.owner.rpartition(".")[0] != owner:
            return False
        steps = steps_kept(method, use.node)
        return bool(steps) and all(self._is_unread(owner, one) for one in steps)

    def _answer(self, name: str) -> Answer:
        if self._own.exports(name) or name and name not in self._own.definitions:
            return UNKNOWN, ""
        start = self._path, name
        if self._leads_to(start):
            return YES, ""
        if self._settle(start, leniently=True) or not self._is_in_program():
            return UNKNOWN, ""
        return NO, self._reason(start)

    # The way back from a definition

    def _leads_to(self, start: Node) -> bool:
        """Whether code that runs leads to a definition: first by its own file, then by others."""
        waiting: list[Node] = []
        self._add(start, waiting)
        self._running[self._path] = self._runs(self._path, set())
        if not self._may_run(self._path, set()):
            return False
        for node in waiting:  # it grows on the way
            self._expand(node, self._path, waiting)
        if self._settle(start):
            return True
        due = 1.0
        for count, node in enumerate(waiting):
            for path in self._candidates(node):
                self._expand(node, path, waiting)
            if count >= due:
                due = count * _GROWTH
                if self._settle(start):
                    return True
        return self._settle(start)

    def _add(self, node: Node, waiting: list[Node]) -> None:
        if node in self._users:
            return
        self._users[node] = set()
        waiting.append(node)
        if node[1] != TOP:
            definition = self._names.definition(node)
            if definition is not None:
                self._add((node[0], definition.parent), waiting)

    def _candidates(self, node: Node) -> list[str]:
        """The files that may use a definition."""
        definition = self._names.definition(node)
        return self._program.holding(definition.name) if definition is not None else []

    def _expand(self, node: Node, path: str, waiting: list[Node]) -> None:
        """Note what uses a definition in one file."""
        definition, outline = self._names.definition(node), self._names.outline(path)
        if definition is None:
            return
        inside = node[1] + "."
        for use in outline.uses(definition.name):
            if path == node[0] and f"{use.owner}.".startswith(inside):
                continue
            if not self._may_mean(use, node, definition, path):
                continue
            if use.package and not self._names.is_own(use.package):
                continue
            place = use.node
            reason = self._never(path, place.lineno, place.col_offset) if place else ""
            if reason:
                self._idle.setdefault(node, f"{os.path.basename(path)}, {reason}")
                continue
            if self._never_enters(use, node) or not self._may_meet(path, node[0]):
                continue
            user = path, use.owner
            self._add(user, waiting)
            self._users[node].add(user)

    def _may_mean(self, use: Use, node: Node, definition: Definition, path: str) -> bool:
        """Whether a name that a file loads may be a definition."""
        if not use.is_attribute and self._scopes.is_other(path, use, node, definition):
            return False
        if path == node[0] and self._names.is_method(path, definition):
            return use.is_attribute or use.owner == self._names.function_around(*node)
        return path == node[0] or self._names.is_use(use, node, definition, path)

    def _never(self, path: str, row: int, column: int = 0) -> str:
        """Why the code at a place never runs, although that of its function may."""
        reason = self._choices.never(path, row, column)
        try:
            return reason or self._halts.before(path, row, column)
        except TooMany:
            return ""

    def _never_enters(self, use: Use, node: Node) -> bool:
        """Whether a name is loaded for a call that raises before it enters a definition."""
        try:
            return self._halts.refuses(node, use)
        except TooMany:
            return False

    def _may_meet(self, path: str, home: str) -> bool:
        """Whether code of one file may have an object of another: one run loads both, or the first
        reads what another run has written.
        """
        return (
            path == home
            or bool(self._program.finding)
            or self._is_loaded_with(path, home)
            or any(self._is_loaded_with(path, one) for one in self._program.restoring)
        )

    def _is_loaded_with(self, path: str, home: str) -> bool:
        """Whether one run may load two files: one of them imports the other, also through others,
        or a third imports both.
        """
        first, second = self._loaders(path), self._loaders(home)
        return first is None or second is None or not first.isdisjoint(second)

    def _loaders(self, path: str) -> set[str] | None:
        """The files that import a file, and itself; None where they are too many."""
        if path not in self._loading:
            if self._imports is None:
                self._imports = Imports(self._program)
            self._loading[path] = self._imports.all_importers(path, _MAX_LOADERS)
        return self._loading[path]

    # What is reached

    def _settle(self, start: Node, leniently: bool = False) -> bool:
        """Whether one definition is reached, by all that is noted up to now; `leniently`: if all is
        that may be found without its name.
        """
        changed = True
        while changed:
            changed = False
            for node, users in self._users.items():
                if node not in self._reached and self._is_reached(node, users, leniently):
                    self._reached.add(node)
                    changed = True
        return start in self._reached

    def _is_reached(self, node: Node, users: set[Node], leniently: bool) -> bool:
        path, name = node
        if name == TOP:
            self._running[path] = self._runs(path, set())
            return self._running[path] or leniently and self._may_run(path, set())
        definition = self._names.definition(node)
        if definition is None:
            return True
        if (path, definition.parent) not in self._reached:
            return False
        if self._unmade(node, definition):  # what `__init__` calls before it raises
            inside = f"{definition.parent}."
            return any(
                file == path and f"{owner}.".startswith(inside)
                for file, owner in self._reached.intersection(users)
            )
        return (
            not self._reached.isdisjoint(users)
            or self._is_called_unseen(path, definition)
            or leniently
            and self._may_be_found(path, definition)
        )

    def _unmade(self, node: Node, definition: Definition) -> str:
        """Why there is no object that a method could be called of."""
        if node not in self._without_object:
            try:
                reason = self._why_unmade(node, definition)
            except TooMany:
                reason = ""
            self._without_object[node] = reason
        return self._without_object[node]

    def _why_unmade(self, node: Node, definition: Definition) -> str:
        path, owner, method = node[0], definition.parent, definition.name
        if not self._names.is_method(path, definition) or is_special(method):
            return ""
        reason = self._halts.unmade((path, owner))
        if not reason or not self._halts.is_of_object(*node):
            return ""
        # what a base may call while `__init__` runs
        is_late = method in TRAINING_CALLS or not self._names.may_base_call(path, owner, method)
        return reason if is_late else ""

    def _is_called_unseen(self, path: str, definition: Definition) -> bool:
        """Whether code calls a definition that loads no name of it: Python, a framework, a runner
        of tests, what a decorator hands it to.
        """
        if definition.is_open or is_main(definition.name, self._names.outline(path)):
            return True
        if definition.is_class:
            return any(is_case(base) for base, _ in definition.bases)
        if not self._names.is_method(path, definition):
            return False
        name = definition.name
        return is_special(name) or self._names.may_base_call(path, definition.parent, name)

    def _runs(self, path: str, seen: set[str]) -> bool:
        """Whether a file is a script, or one imports it."""
        known = self._running.get(path)
        if known is not None:
            return known
        if self._names.outline(path).is_script:
            self._running[path] = True
            return True
        seen.add(path)
        for importer in self._names.importers(path):
            if importer not in seen and self._runs(importer, seen):
                self._running[path] = True
                return True
        return False

    def _may_run(self, path: str, seen: set[str]) -> bool:
        """Whether a file may be found without its name, or one imports it that may be, or runs."""
        known = self._found.get(path)
        if known is None:
            seen.add(path)
            known = (
                self._runs(path, set())
                or holds_tests(path)  # which a runner of tests finds
                or self._names.may_find(path)
                or any(
                    [
                        self._may_run(importer, seen)
                        for importer in self._names.importers(path)
                        if importer not in seen
                    ]
                )
            )
            if known:
                self._found[path] = known
        return known

    # What a NO needs

    def _is_in_program(self) -> bool:
        """Whether the file is part of a program, of which there is one: it is one itself or was
        put away, or scripts import it or others beside it.
        """
        if self._own.is_program or self._is_put_away():
            return True
        self._running.pop(self._path, None)
        if any(self._runs(other, {self._path}) for other in self._names.importers(self._path)):
            return True
        if any(self._runs(other, {self._path}) for other in self._program.finding):
            return True
        return self._is_beside_used()

    def _is_put_away(self) -> bool:
        """Whether the file was put away, in a project that has a program beside."""
        is_away = is_put_away(os.path.relpath(self._path, self._program.top))
        return is_away and self._program.has_main_part(is_put_away)

    def _is_beside_used(self) -> bool:
        """Whether scripts import another file of the same folder."""
        folder = os.path.dirname(self._path)
        return any(
            os.path.dirname(other) == folder
            and os.path.basename(other) != INIT
            and any([self._runs(one, {self._path}) for one in self._names.importers(other)])
            for other in self._program.texts
            if other != self._path
        )

    def _may_be_found(self, path: str, definition: Definition) -> bool:
        """Whether code that does not load the name of a definition may have it all the same."""
        if self._program.looks_up_in(self._names.outline(path)) or holds_tests(path):
            return True
        if self._names.is_method(path, definition):
            return self._may_get(definition.name)
        return definition.parent == TOP and (
            self._names.may_find(path)
            or self._names.is_written(definition.name)
            or self._is_handed_on(path, definition.name)
        )

    def _may_be_called_unseen(self, path: str, definition: Definition) -> bool:
        """Whether a call of a definition may be no use of its name."""
        if self._program.looks_up or self._is_called_unseen(path, definition):
            return True
        outline = self._names.outline(path)
        if outline.exports(definition.parent or definition.name):
            return True
        is_method = self._names.is_method(path, definition)
        if self._program.gets_attributes if is_method else outline.gets:
            return True  # from any object, or from its own module
        return self._may_be_found(path, definition)

    def _may_get(self, method: str) -> bool:
        """Whether computed text may get a method of an object: text from outside or that is put
        together any, a variable one whose name the program has in quotes.
        """
        program = self._program
        return program.gets_any_attribute or (
            program.gets_attributes and program.is_written(method)
        )

    def _is_handed_on(self, path: str, name: str) -> bool:
        """Whether a file hands on a module that has a name, of which others may take what they
        want, or looks names of imported modules up; or a package offers it in its `__init__.py`.
        """
        modules = [path]
        for module in modules:  # it grows on the way
            for importer in self._names.importers(module):
                outline = self._names.outline(importer)
                if self._program.looks_up_in(outline) or self._names.hands_on(importer, module):
                    return True
                is_named = any([one.name == name for one in outline.imports])
                if is_named and os.path.basename(importer) == INIT:
                    return True
                if importer not in modules and self._names.may_have(importer, name, module):
                    modules.append(importer)
        return False

    # In words

    def _idle_uses(self, start: Node) -> str:
        """Why a definition, or one around it, is not used although code does that: it never runs,
        and no other does.
        """
        path, name = start
        while name:
            node = path, name
            definition = self._own.definitions[name]
            if node in self._idle and not self._users.get(node):
                return f"only code that never runs uses `{definition.name}`: {self._idle[node]}"
            name = definition.parent
        return ""

    def _reason(self, start: Node) -> str:
        """Why a definition is not reached."""
        path, name = start
        idle = self._idle_uses(start)
        if idle:
            return idle
        if (path, TOP) not in self._reached:
            return "nothing in this program imports this file"
        outer = name
        while outer:  # the outermost that is not reached
            definition = self._own.definitions[outer]
            if (path, definition.parent) in self._reached:
                break
            outer = definition.parent
        definition = self._own.definitions[outer]
        unmade = self._unmade((path, outer), definition)
        if unmade:
            return unmade
        short = definition.name
        users = {user for user in self._users[path, outer] if user[1] != TOP}
        if users:
            return f"only code that this program never runs uses `{short}`"
        return f"nothing in this program calls `{short}`"
