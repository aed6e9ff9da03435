"""The engine answers every question that its parts may ask."""

from __future__ import annotations

import inspect

from tfnanlint.interp.engine import Engine
from tfnanlint.values.evaluator import Evaluator


def questions(cls: type) -> dict[str, list[str]]:
    """The methods that a class defines itself, with the names of their parameters."""
    return {
        name: list(inspect.signature(member).parameters)
        for name, member in vars(cls).items()
        if callable(member) and not name.startswith("__")
    }


def test_every_question_has_an_answer_with_the_same_parameters():
    answers = questions(Engine)
    assert {name: answers.get(name) for name in questions(Evaluator)} == questions(Evaluator)


def test_an_engine_is_no_tower():
    assert Engine.__mro__ == (Engine, Evaluator, object)


def test_parts_keep_nothing_after_close():
    engine = Engine()
    tables = {
        id(table)
        for part in vars(engine).values()
        for table in getattr(part, "__dict__", {}).values()
        if isinstance(table, dict)
    }
    parts = {name: part for name, part in vars(engine).items() if hasattr(part, "__dict__")}
    engine.close()
    assert tables and all(
        getattr(engine, name) is not part for name, part in parts.items() if name != "session"
    )
