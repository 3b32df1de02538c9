"""What a plan hands to a kernel, as the kernel takes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...errors import ArgumentError, UsageError
from ..arguments import Value, check_operand
from .machine import Token
from .memory import Memory
from .numbers import to_bytes

if TYPE_CHECKING:
    from ...diagnostics import Location
    from ...records.signature import Argument, Signature


def make_values(kernel: Signature, operands: Sequence[Any], location: Location) -> list[Value]:
    """Return the arguments of a launch at `location`. Raises UsageError for what does not fit."""
    try:
        return [
            _make_value(argument, operand, index)
            for index, (argument, operand) in enumerate(
                zip(kernel.arguments, operands, strict=True)
            )
        ]
    except ArgumentError as error:
        reason = str(error).removeprefix("error: ")
        raise UsageError(
            f"{location}: error: kernel '{kernel.name}' cannot be launched: {reason}"
        ) from error


def _make_value(argument: Argument, operand: Any, index: int) -> Value:
    if isinstance(operand, Token):
        return Value(argument, None, operand.bytes, given=operand)
    if not isinstance(operand, Memory):
        return Value(argument, None, to_bytes(argument.element_type, operand))
    value = Value(argument, operand.array, offset=operand.offset, given=operand)
    if argument.tensor_map is None:
        check_operand(value, index)
    return value
