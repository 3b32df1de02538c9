"""What has to hold of the arguments of a function, beside what their types say."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ...errors import ShapeError
from .numbers import describe, evaluate

if TYPE_CHECKING:
    from ..arguments import Value
    from .plan import Function, Requirement

_RELATIONS = {
    "==": (operator.eq, ""),
    "<=": (operator.le, "at most "),
    ">=": (operator.ge, "at least "),
}


def check_requirements(function: Function, values: Sequence[Value]) -> None:
    """Raise ShapeError if arguments do not suit each other."""

    def read(argument: int, dim: int | None) -> int:
        value = values[argument]
        if dim is None:
            return int.from_bytes(value.bytes, "little", signed=True)
        assert value.view is not None
        return value.view.shape[dim]

    for holds, make_error in conditions(function, read):
        if not holds:
            raise make_error()


def conditions(
    function: Function, read: Callable[[int, int | None], Any]
) -> Iterator[tuple[Any, Callable[[], ShapeError]]]:
    """Yield what has to hold, and what makes the error that says so.

    `read` returns an extent, given argument and dimension, or an argument that is a number, for
    which the dimension is None. What has to hold is a truth value, of symbols if extents are.
    """
    for requirement in function.require:
        symbols = [read(arg[0], arg[1] if arg[1:] else None) for arg in requirement.args]
        if all(evaluate(trips, (), symbols) > 0 for trips in requirement.trips):
            actual = evaluate(requirement.left, (), symbols)
            wanted = evaluate(requirement.right, (), symbols)
            holds, _ = _RELATIONS[requirement.relation]
            yield holds(actual, wanted), partial(_make_error, requirement, actual, wanted)


def _make_error(requirement: Requirement, actual: Any, wanted: Any) -> ShapeError:
    names = [_name_symbol(*arg) for arg in requirement.args]
    right, (_, bound) = requirement.right, _RELATIONS[requirement.relation]
    reason = "" if isinstance(right, int) else f", as {describe(right, names)}"
    return ShapeError(
        f"{requirement.location}: error: {describe(requirement.left, names)} is {actual}, but must "
        f"be {bound}{wanted}{reason}",
        requirement.args[0][0],
    )


def scalars_required(function: Function) -> frozenset[int]:
    """Return the arguments that are numbers and that requirements are about."""
    args = (arg for requirement in function.require for arg in requirement.args)
    return frozenset(arg[0] for arg in args if len(arg) == 1)


def _name_symbol(argument: int, dim: int | None = None) -> str:
    return f"argument {argument}" if dim is None else f"dimension {dim} of argument {argument}"
