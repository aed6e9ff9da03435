"""A walk over what a value was made of, and one step back behind notes."""

from __future__ import annotations

from tfnanlint.ops.provenance import Walk, first_origin, site_behind
from tfnanlint.ops.site import Site
from tfnanlint.ops.table import load
from tfnanlint.values.value import Note, Value


def applied(name: str, **values: Value) -> Value:
    site = Site.of_values(load()[name], values)
    return Value(0.0, 1.0, origin=site)


def test_a_walk_goes_only_where_it_is_told():
    x, y = Value(0.0, 1.0), Value(0.0, 2.0)
    total = applied("tf.add", x=x, y=y)
    assert list(Walk(total)) == [total]
    walk, seen = Walk(total), []
    for value in walk:
        seen.append(value)
        if isinstance(value.origin, Site):
            walk.enter(value.origin)
    assert {id(value) for value in seen} == {id(total), id(x), id(y)}
    assert walk.is_complete


def test_a_site_is_entered_once():
    x = Value(0.0, 1.0)
    square = applied("tf.square", x=x)
    walk = Walk(square, square)
    for value in walk:
        if isinstance(value.origin, Site):
            walk.enter(value.origin)
    assert walk.is_complete
    walk.enter(square.origin)
    assert list(walk) == []


def test_a_walk_ends_at_its_limit():
    walk = Walk(*[Value(0.0, 1.0)] * 3, limit=2)
    assert len(list(walk)) == 2 and not walk.is_complete


def test_settings_are_no_parts():
    x = Value(0.0, 1.0)
    total = applied("tf.reduce_sum", x=x, axis=Value(0.0, 0.0))
    walk = Walk()
    walk.enter(total.origin)
    assert list(walk) == [x]


def test_notes_lie_before_what_made_a_value():
    square = applied("tf.square", x=Value(0.0, 1.0))
    joined = square.but(origin=Note("", parent=Note("a branch", parent=square.origin)))
    assert site_behind(joined) is square.origin
    given = Note("parameter 'x' of f()", parameter="x")
    assert first_origin(Value(origin=Note("", parent=given))) is given
    assert site_behind(Value(origin=given)) is None
