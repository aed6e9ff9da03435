"""What of a loss depends on the variables that its gradient is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from tfnanlint.ops.models.variables import VARIABLES
from tfnanlint.ops.provenance import site_behind
from tfnanlint.ops.site import Site
from tfnanlint.values.value import Note, Value

_UNMOVED = frozenset(("number", "string", "none", "shape", "array", "module", "nothing"))


def depending_on(
    operands: frozenset[Site], reached: list[Site], is_recorded: Callable[[Site, str], bool]
) -> set[Site]:
    """Of the sites that lead to a loss those that may depend on its operands: all of them where no
    operand is known, or none is among them. What `is_recorded` denies of a parameter of a site was
    computed before a tape was opened: a constant, unless it is an operand.
    """
    consumers: dict[Site, list[Site]] = {}
    queue: list[Site] = []
    is_asked = False
    for site in reached:
        if site in operands:
            queue.append(site)
            is_asked = True
        for param in site.params if site.op.name not in VARIABLES else ():
            recorded = is_recorded(site, param)
            for value in parts_of([site.value(param)] if site.given(param) else []):
                maker = site_behind(value)
                if maker in operands:
                    queue.append(site)
                    is_asked = True
                elif recorded and maker is not None:
                    consumers.setdefault(maker, []).append(site)
                elif recorded and value.kind not in _UNMOVED and not value.exact:
                    queue.append(site)  # of what arrives nothing is known
    if not is_asked:
        return set(reached)
    dependent: set[Site] = set()
    while queue:
        site = queue.pop()
        if site not in dependent:
            dependent.add(site)
            queue += consumers.get(site, ())
    return dependent


def parts_of(values: Iterable[Value]) -> Iterator[Value]:
    """Values; in place of lists their elements, in place of what is one of several (branches,
    returns) each of those.
    """
    for value in values:
        if isinstance(value.origin, Note) and value.origin.options:
            yield from parts_of(value.origin.options)
        elif value.kind == "sequence" and isinstance(value.obj, tuple):
            yield from parts_of(value.obj)
        else:
            yield value
