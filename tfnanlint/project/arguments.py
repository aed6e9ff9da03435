"""How the arguments of calls meet the parameters of a signature. Nothing is evaluated."""

from __future__ import annotations

import ast


def parameters(args: ast.arguments) -> list[str]:
    """The parameters that a call may name or count, in order."""
    return [one.arg for one in (*args.posonlyargs, *args.args, *args.kwonlyargs)]


def every_parameter(args: ast.arguments) -> list[str]:
    """All names that a signature binds, those of what it unpacks too."""
    unpacked = [one.arg for one in (args.vararg, args.kwarg) if one is not None]
    return parameters(args) + unpacked


def defaults_of(args: ast.arguments) -> dict[str, ast.expr]:
    places = [one.arg for one in (*args.posonlyargs, *args.args)]
    defaults = dict(zip(reversed(places), reversed(args.defaults)))
    for argument, default in zip(args.kwonlyargs, args.kw_defaults):
        if default is not None:
            defaults[argument.arg] = default
    return defaults


def is_spread(call: ast.Call) -> bool:
    return any(isinstance(one, ast.Starred) for one in call.args) or any(
        keyword.arg is None for keyword in call.keywords
    )


def bound_by(args: ast.arguments, call: ast.Call, skipped: int) -> dict[str, ast.expr] | None:
    """What a call passes by the names of parameters, the first ones skipped; None where the
    signature does not allow the call: it raises TypeError. The call unpacks nothing.
    """
    places = [one.arg for one in (*args.posonlyargs, *args.args)][skipped:]
    names = parameters(args)[skipped:]
    if len(call.args) > len(places) and args.vararg is None:
        return None
    passed = dict(zip(places, call.args))
    for keyword in call.keywords:
        if keyword.arg in names[max(len(args.posonlyargs) - skipped, 0) :]:
            if keyword.arg in passed:
                return None
            passed[str(keyword.arg)] = keyword.value
        elif args.kwarg is None:
            return None
    defaults = defaults_of(args)
    return passed if all(name in passed or name in defaults for name in names) else None
