"""The questions that parts of the analysis ask of the interpreter, as one abstract class.

A definition, an op application, a module or a part of the interpreter holds or is handed an
`Evaluator`, and never imports what answers. What the questions are about is defined above this
module, so its types are only named here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from tfnanlint.values.session import Session
from tfnanlint.values.value import INF, Value

# Types of modules that stand above.
Binding = Any  # scopes.Binding
ClassObject = Any  # calls.ClassObject
Function = Any  # calls.Function
Imported = Any  # scopes.Imported
Instance = Any  # calls.Instance
Keywords = Any  # calls.Keywords
FieldNames = Any  # fields.FieldNames
Layer = Any  # a layer of Keras that the program makes
Loop = Any  # scopes.Loop
Module = Any  # module.Module
Op = Any  # table.Op
Parameter = Any  # scopes.Parameter
Point = Any  # scopes.Point: where in the program something stands
Refined = Any  # scopes.Refined
Scope = Any  # scopes.Scope
Shared = Any  # scopes.Shared
Site = Any  # site.Site


class Evaluator:
    """What may be asked about values at a point of the program.

    `table` has the rows of ops by their spellings, `leaves` the last names of these, `constants`
    the values of canonical names. `reads` lists the assumptions that what is being computed has
    read: a result that reads none is final. `held` has the results that hold as long as their
    assumptions do, with these. `scopes` has every activation of a function.
    """

    session: Session
    table: dict[str, Op]
    leaves: frozenset[str]
    constants: dict[str, Value]
    scopes: list[Scope]
    reads: list[Any]
    held: dict[Any, tuple[Any, tuple[tuple[Any, int], ...]]]

    # Expressions

    def evaluate(self, node: ast.AST, point: Point) -> Value:
        """The value of an expression at a point."""
        raise NotImplementedError

    def joined(self, values: list[Value]) -> Value:
        """A value that covers each of some; unknown for none."""
        raise NotImplementedError

    def maker(self, node: ast.expr, point: Point) -> Op | None:
        """The op that an expression applies, as far as reading tells."""
        raise NotImplementedError

    def assuming(self, test: ast.expr, truth: bool, point: Point) -> Point:
        """A point at which a test holds (`truth`) or does not."""
        raise NotImplementedError

    def clamped(self, value: Value, path: str, test: ast.expr, truth: bool, point: Point) -> Value:
        """A value of a path where a test holds (`truth`) or does not."""
        raise NotImplementedError

    def calls_in(
        self, expression: ast.AST, name: str, point: Point
    ) -> Iterator[tuple[ast.Call, Point]]:
        """The calls in an expression whose callee ends in `name`, each with the point where it
        stands.
        """
        raise NotImplementedError

    # Applications of ops

    def asked_for(self, row: Op, node: ast.expr, point: Point) -> Site | None:
        """The site that was asked for before its value, to be the origin of that."""
        raise NotImplementedError

    def gave(self, site: Site, value: Value) -> None:
        """Note what a site gave: the value refers to the site in turn, until everything is let
        go of.
        """
        raise NotImplementedError

    # Definitions

    def imported(self, binding: Imported) -> Value:
        """What an import stands for."""
        raise NotImplementedError

    def refined(self, binding: Refined) -> Value:
        """A value where a test holds or does not."""
        raise NotImplementedError

    def parameter(self, parameter: Parameter) -> Value:
        """What arrives at a parameter of a function."""
        raise NotImplementedError

    def unseen(self, parameter: Parameter) -> Value:
        """A parameter where no call is seen that comes there."""
        raise NotImplementedError

    def shared(self, binding: Shared) -> Loop:
        """All assignments to a global or nonlocal name, as a loop."""
        raise NotImplementedError

    def settle(self, loop: Loop) -> Value:
        """The least value that covers all rounds of a loop variable."""
        raise NotImplementedError

    # Assumptions

    def hold(self, key: Any, value: Any, mark: int) -> None:
        """Keep a result together with the assumptions read since `mark`."""
        raise NotImplementedError

    def tentatively(self, key: Any) -> Any:
        """The result held for a key, if all that it assumes is still assumed; else None."""
        raise NotImplementedError

    # Branches and loops

    def agreed(self, parameter: Parameter) -> bool | None:
        """What all calls hand to a flag; None where they differ, or some are not seen."""
        raise NotImplementedError

    def has_rounds(self, iterable: ast.expr, point: Point) -> bool:
        """Whether a loop over an expression surely has a round."""
        raise NotImplementedError

    # Calls

    def apply(
        self,
        callee: Value,
        positional: list[Binding],
        keywords: dict[str, Binding],
        node: ast.Call | None = None,
        point: Point | None = None,
        hidden: bool = False,
    ) -> Value:
        """What calling a value gives; with `hidden`, it is called with more than these
        arguments.
        """
        raise NotImplementedError

    def call_with(self, callee: Value, values: list[Value]) -> Value:
        """What calling a value with these values gives."""
        raise NotImplementedError

    def assigned_expression(self, name: str, point: Point) -> ast.expr | None:
        """The expression that is assigned to a name at a point; None where it is bound in another
        way.
        """
        raise NotImplementedError

    def activation(self, function: Function) -> Scope:
        """The walked body of a function with its parameters as its callers leave them."""
        raise NotImplementedError

    def activated(self, function: Function) -> Scope:
        """A scope for the body of a function, not walked yet."""
        raise NotImplementedError

    def returned(self, scope: Scope, live: bool) -> Value:
        """What the walked body of a function returns; with `live`, its end can be reached."""
        raise NotImplementedError

    def arguments(
        self, call: ast.Call, point: Point
    ) -> tuple[list[Binding], dict[str, Binding], bool]:
        """Positional and keyword arguments of a call; False when `*args` or `**kwargs` hide
        some.
        """
        raise NotImplementedError

    # The call graph

    def targets(self, call: ast.Call, point: Point) -> list[Function]:
        """The functions of the program that a call runs; [] where none is known."""
        raise NotImplementedError

    def call_sites(self, function: Function) -> list[tuple[ast.Call, Point]]:
        """The calls in the project that may run a function under its own name."""
        raise NotImplementedError

    def arguments_of(self, function: Function) -> list[dict[str, Binding]]:
        """What each call of a function hands over, by parameter; [] where some may not be seen."""
        raise NotImplementedError

    def direct_arguments(self, function: Function) -> list[dict[str, Binding]]:
        """What the calls hand over that run a function under its own name, by parameter."""
        raise NotImplementedError

    def arguments_at(
        self, function: Function, call: ast.Call, point: Point
    ) -> dict[str, Binding] | None:
        """The arguments of a call by parameter; None when it is not a call of this function."""
        raise NotImplementedError

    def escapes(self, function: Function, name: str = "") -> bool:
        """Whether a function is called by other code too: by Keras, by a decorator, by code that
        it is handed to.
        """
        raise NotImplementedError

    def received(self, function: Function, name: str) -> Value | None:
        """What arrives at a parameter of `call`, where every call in the project hands over
        something that is known.
        """
        raise NotImplementedError

    # Classes and members

    def lineage(self, cls: ClassObject) -> list[ClassObject]:
        """A class and its bases inside the program, in the order in which Python looks for
        methods.
        """
        raise NotImplementedError

    def heirs(self, cls: ClassObject) -> list[ClassObject]:
        """Classes of the same file that inherit from a class."""
        raise NotImplementedError

    def foreign_bases(self, cls: ClassObject) -> set[str]:
        """Canonical names of the bases that are not classes of the program (`keras.Model`)."""
        raise NotImplementedError

    def method(self, cls: ClassObject, name: str) -> Function | None:
        """The method that instances of a class have."""
        raise NotImplementedError

    def member(self, owner: Value, attr: str) -> Value | None:
        """`owner.attr` for instances, classes and tensors; None when nothing is known of it."""
        raise NotImplementedError

    def property_of(self, owner: Value, attr: str) -> Value | None:
        """What a property of an object gives; None where the name is not one of a property."""
        raise NotImplementedError

    def assigned_to(self, classes: list[ClassObject], attr: str) -> Binding | None:
        """What is assigned to an attribute of the objects of a class and those that inherit from
        it.
        """
        raise NotImplementedError

    def assigned_elsewhere(self, cls: ClassObject, attr: str) -> list[Binding]:
        """What the file of a class assigns to an attribute of its objects under other names than
        `self`: `model.floor = 0.0`.
        """
        raise NotImplementedError

    def find_attribute(self, classes: list[ClassObject], attr: str) -> Binding | None:
        """Whatever any method or class body assigns to an attribute."""
        raise NotImplementedError

    def constructed(self, instance: Instance, attr: str) -> Binding | None:
        """What one object keeps under a name, as the call that made it says; None where more than
        that may be there.
        """
        raise NotImplementedError

    def library_layer(self, instance: Instance) -> Value | None:
        """The layer or loss of a library that an object is whose class inherits from it, as far as
        its class leaves it as it is; None where it is none, or that cannot be told.
        """
        raise NotImplementedError

    def of_one(self, instance: Instance, attr: str, value: Value) -> Value:
        """An attribute of one of several objects of a class: each holds a number of its own."""
        raise NotImplementedError

    def stable(self, path: str | None, point: Point) -> Value | None:
        """One unknown value for all reads of one path of one object."""
        raise NotImplementedError

    def copy(self, record: Value, call: ast.Call, point: Point) -> Value | None:
        """The same record with other fields, `dataclasses.replace(config, eps=1e-6)`; None for
        no record.
        """
        raise NotImplementedError

    # Containers

    def dictionary(self, node: ast.Dict, point: Point) -> Value:
        """The dict that is written there."""
        raise NotImplementedError

    def sequence_of(self, items: tuple[Value, ...]) -> Value:
        """A list of some elements."""
        raise NotImplementedError

    def many(self, element: Value) -> Value:
        """A list of which every element is an `element`."""
        raise NotImplementedError

    def record(
        self, fields: FieldNames, positional: list[Binding], keywords: dict[str, Binding]
    ) -> Value:
        """A named tuple: a list whose elements have names."""
        raise NotImplementedError

    def element(self, whole: Value, index: int | slice) -> Value:
        """One element of a list or tuple, or a slice of it."""
        raise NotImplementedError

    def iterated(self, whole: Value) -> Value:
        """What a loop over a value goes through."""
        raise NotImplementedError

    def filled(self, value: Value) -> Value:
        """A named empty list or dict: it may be filled later, so its elements are not known."""
        raise NotImplementedError

    def stored(self, base: Value, key: Any, item: Value) -> Value:
        """What `base[key] = item` makes of a list or dict."""
        raise NotImplementedError

    def mutated(self, base: Value, call: ast.Call, point: Point, growing: bool) -> Value:
        """What a call of one of its methods makes of a list or dict."""
        raise NotImplementedError

    def filled_by(self, base: Value, call: ast.Call, point: Point) -> Value:
        """What a call that is handed a list or dict makes of it."""
        raise NotImplementedError

    def fetched(self, node: ast.Call, point: Point) -> Value | None:
        """What a method of a dict or list gives that looks something up; None for other calls."""
        raise NotImplementedError

    def built_in(self, node: ast.Call, name: str, point: Point) -> Value | None:
        """What `zip(*pairs)` and `getattr(config, "eps", 1e-6)` give; None where nothing is
        known of it.
        """
        raise NotImplementedError

    def container_operator(self, node: ast.BinOp, left: Value, point: Point) -> Value:
        """What `+`, `*` or `%` makes of a list, text or dict on its left."""
        raise NotImplementedError

    # Variables, settings and precision

    def kept(self, node: ast.Call, point: Point) -> Value | None:
        """What a method of an optimizer of the program gives that reads its state; None where
        nothing is known of it.
        """
        raise NotImplementedError

    def remembered(self, site: Site, value: Value) -> Value:
        """The value of a variable that training does not move: what it starts with, or any
        assignment leaves.
        """
        raise NotImplementedError

    def increments(self, variable: Site) -> list[Value] | None:
        """What a file adds to the variable that a site makes, which it sets back to 0 at most; None
        where it leaves something else in it.
        """
        raise NotImplementedError

    def assigned(self, variable: Site) -> list[Value]:
        """What a file assigns to the variable that a site makes, one value for each place that does
        so.
        """
        raise NotImplementedError

    def assigns(self, variable: Site, scope: Scope, above: float = INF) -> bool:
        """Whether a function assigns something to the variable that a site makes, in a row above
        another one.
        """
        raise NotImplementedError

    def configured(self, value: Value, name: str, owner: ast.expr, point: Point) -> Value:
        """A setting of which nothing is known, or what the project sets it to."""
        raise NotImplementedError

    def is_compiled(self, function: Function) -> bool:
        """Whether a function of the program is given to `compile` as a loss."""
        raise NotImplementedError

    def of_keras(self, parameter: Parameter, names: list[str]) -> Value | None:
        """What Keras hands to a function or object given to `compile`: labels and predictions."""
        raise NotImplementedError

    def policies(self, module: Module) -> list[tuple[str, ast.Call]]:
        """The dtypes and policies that a file makes Keras use everywhere, with the calls that do
        so.
        """
        raise NotImplementedError

    def policies_of_program(self, module: Module) -> Iterator[tuple[str, ast.Call, Module]]:
        """The dtypes and policies that a file, or else the program that imports it, makes Keras use
        everywhere, with the calls that do so and their files. Each costs to be found: who asks
        stops at the first that answers.
        """
        raise NotImplementedError

    def dtype_of(self, cls: ClassObject) -> str | None:
        """The dtype that a layer of a class computes in; "" where no file sets one, None where
        it cannot be told.
        """
        raise NotImplementedError

    def dtype_of_lambda(self, call: ast.Call, module: Module) -> str | None:
        """The dtype that a `Lambda` computes in which a call makes, as above."""
        raise NotImplementedError

    def entering(self, function: Function, value: Value) -> Value:
        """What Keras hands to `call` of a layer of the program: what it is given, in the dtype in
        which the layer computes.
        """
        raise NotImplementedError

    def in_floatx(self, site: Any, value: Value) -> Value:
        """What Keras gives where no dtype was asked for, in a file that sets one."""
        raise NotImplementedError

    def in_its_dtype(self, layer: Any, argument: Value) -> Value:
        """What a layer of Keras gives, which casts what it is given: to float32, where no file says
        anything else.
        """
        raise NotImplementedError
