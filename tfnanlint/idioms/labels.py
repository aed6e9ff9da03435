"""Labels: what is computed from them alone is data, of which no gradient is taken."""

from __future__ import annotations

from tfnanlint.conventions.identifiers import (
    is_label,
    is_label_beside_prediction,
    is_prediction_parameter,
)
from tfnanlint.ops.frameworks import REARRANGING_LAYERS
from tfnanlint.ops.site import Site
from tfnanlint.ops.table import SETTINGS
from tfnanlint.ops.traits import FACTORS, OF_SHAPES
from tfnanlint.program.scope import Point
from tfnanlint.syntax.access_paths import root_of
from tfnanlint.values.value import WHOLE, Note, Value

_CONSTANT = ("np", "math")  # what NumPy made is a constant


def truth_only(x: Value, point: Point | None, limit: int = 24) -> bool:
    """Whether a value is made of labels and numbers only. What a function that makes a loss was
    given (`anchors` of `yolo_loss(anchors)`) is a number where labels are scaled by it; what is
    added to them may be a tensor of the model.
    """
    beside = point is not None and _has_predictions(point)
    queue: list[tuple[Value, bool]] = [(x, False)]
    seen: set[Site] = set()
    labels = False
    while queue:
        value, factor = queue.pop()
        note = value.origin
        while isinstance(note, Note) and not _labels(note, beside) and note.parent is not None:
            note = note.parent
        if isinstance(note, Note) and _labels(note, beside):
            labels = True
        elif isinstance(note, Site) and (
            note in seen
            or note.op.name in OF_SHAPES
            or note.library in _CONSTANT
            or value.dtype in WHOLE
        ):
            continue
        elif (
            isinstance(note, Site)
            and note.library == "layer"
            and note.op.name in REARRANGING_LAYERS
        ):
            queue.append((note.value("input"), factor))
        elif isinstance(note, Site) and note.op.passes:
            queue.append((note.value(note.op.passes), factor))
        elif isinstance(note, Site) and note.args and len(seen) < limit:
            seen.add(note)
            queue += [
                (note.value(param), note.op.name in FACTORS)
                for param in note.args
                if param not in SETTINGS
            ]
        elif value.kind == "sequence" and isinstance(value.obj, tuple) and len(value.obj) <= limit:
            queue += [(part, factor) for part in value.obj]
        elif value.kind not in ("number", "string") and not (
            factor and isinstance(note, Note) and _given_to_maker(note, point)
        ):
            return False
    return labels


def label_behind(x: Value, point: Point | None, limit: int = 24) -> str:
    """The name of the parameter with labels that a value is computed of, with something else; ""
    where there is none.
    """
    beside = point is not None and _has_predictions(point)
    queue = [x]
    seen: set[Site] = set()
    while queue:
        note = queue.pop(0).origin
        while isinstance(note, Note):
            if _labels(note, beside) and note.parameter:
                return note.parameter
            note = note.parent
        if isinstance(note, Site) and note not in seen and len(seen) < limit:
            seen.add(note)
            queue += [note.value(param) for param in note.args if param not in SETTINGS]
    return ""


def of_labels(site: Site) -> bool:
    """Whether nothing but labels and numbers arrives at an op application."""
    values = [
        value
        for param in site.args
        if param not in SETTINGS and not (value := site.value(param)).exact
    ]
    return bool(values) and all(truth_only(value, site.point) for value in values)


def _labels(note: Note, beside: bool) -> bool:
    """Whether a note speaks of labels: of a parameter by its name, or of an element of an object by
    that of the object.
    """
    root = root_of(note.path)
    name = note.parameter or (root if note.path.startswith(f"{root}[") else "")
    return is_label(name) or beside and is_label_beside_prediction(name)


def _has_predictions(point: Point) -> bool:
    """Whether the function around a point, or one around that, is given predictions."""
    parent: Point | None = point
    while parent is not None:
        scope = parent.scope
        arguments = getattr(getattr(scope.function, "node", None), "args", None)
        if arguments is not None and any(
            is_prediction_parameter(one.arg) for one in arguments.posonlyargs + arguments.args
        ):
            return True
        parent = scope.parent
    return False


def _given_to_maker(note: Note, point: Point | None) -> bool:
    """Whether a value is a parameter of a function around the one in which it is read."""
    scope = (
        point.scope.parent.scope if point is not None and point.scope.parent is not None else None
    )
    while scope is not None:
        if (
            note.given
            and note.parameter
            and scope.function is not None
            and scope.function.node is note.node
        ):
            return True
        scope = scope.parent.scope if scope.parent is not None else None
    return False
