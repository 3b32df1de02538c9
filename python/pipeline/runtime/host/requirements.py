"""What has to hold of the arguments of a function, beside what their types say."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...errors import ShapeError
from .numbers import describe, evaluate

if TYPE_CHECKING:
    from ..arguments import Value
    from .plan import Function

_RELATIONS = {
    "==": (operator.eq, ""),
    "<=": (operator.le, "at most "),
    ">=": (operator.ge, "at least "),
}


def check_requirements(function: Function, values: Sequence[Value]) -> None:
    """Raise ShapeError if arguments do not suit each other."""

    def get(argument: int, dim: int | None = None) -> int:
        value = values[argument]
        if dim is None:
            return int.from_bytes(value.bytes, "little", signed=True)
        assert value.view is not None
        return value.view.shape[dim]

    for requirement in function.require:
        args = [get(*arg) for arg in requirement.args]
        if not all(evaluate(trips, (), args) > 0 for trips in requirement.trips):
            continue
        left, right = requirement.left, requirement.right
        actual, wanted = evaluate(left, (), args), evaluate(right, (), args)
        holds, bound = _RELATIONS[requirement.relation]
        if holds(actual, wanted):
            continue
        names = [_name_symbol(*arg) for arg in requirement.args]
        reason = "" if isinstance(right, int) else f", as {describe(right, names)}"
        raise ShapeError(
            f"{requirement.location}: error: {describe(left, names)} is {actual}, but must be "
            f"{bound}{wanted}{reason}",
            requirement.args[0][0],
        )


def scalars_required(function: Function) -> frozenset[int]:
    """Return the arguments that are numbers and that requirements are about."""
    args = (arg for requirement in function.require for arg in requirement.args)
    return frozenset(arg[0] for arg in args if len(arg) == 1)


def _name_symbol(argument: int, dim: int | None = None) -> str:
    return f"argument {argument}" if dim is None else f"dimension {dim} of argument {argument}"
