"""What the outline of a file has entries of: definitions, imports and uses of names."""

from __future__ import annotations

import ast


class Definition:
    """A function or class of a file. `parent` is the qualified name of what it stands in, `bases`
    are the names that a class inherits from, each with the package that it is imported from.
    A metaclass counts as a base.
    `is_open` says that code calls it that is not seen: a decorator has it.
    """

    __slots__ = ("name", "parent", "is_class", "bases", "is_open")

    def __init__(self, name: str, parent: str, is_class: bool):
        self.name = name
        self.parent = parent
        self.is_class = is_class
        self.bases: list[tuple[str, str]] = []
        self.is_open = False


class Import:
    """A name that a file imports: `from .nets.core import build as make` has the level 1, the words
    `nets` and `core`, the name `build`, and is bound to `make`. A plain `import` has no name, and
    one of all that a module has the name "*".
    """

    __slots__ = ("level", "words", "name", "bound")

    def __init__(self, level: int, words: tuple[str, ...], name: str, bound: str):
        self.level = level
        self.words = words
        self.name = name
        self.bound = bound


class Use:
    """Where a name is loaded: in which definition, as an attribute or not, and of which imported
    package, "" where it is of none. `root` is the name of which it is an attribute, if of a name,
    `node` what stands there and `call` the call of it.
    """

    __slots__ = ("owner", "is_attribute", "package", "root", "node", "call")

    def __init__(
        self,
        owner: str,
        is_attribute: bool,
        package: str,
        node: ast.expr | None = None,
        call: ast.Call | None = None,
    ):
        self.owner = owner
        self.is_attribute = is_attribute
        self.package = package
        base = node.value if isinstance(node, ast.Attribute) else None
        self.root = base.id if isinstance(base, ast.Name) else ""
        self.node = node
        self.call = call
