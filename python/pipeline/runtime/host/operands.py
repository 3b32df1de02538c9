"""What steps of a plan are told: operands, affine expressions, places; as schemas."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ...diagnostics import Location
from ...documents.reading import Offence, show
from ...documents.schema import INT64, Choice, Integer, Items, Row, Text
from .kinds import is_float

_VALUE = re.compile(r"%(?:0|[1-9]\d{0,8})")
_MOST_EXPRESSIONS = 64

TYPE = Text(1024, name="the name of a type")
NAME = Text(1024, name="a name")
LOCATION = Row((Text(name="the name of a file"), Integer(), Integer()), Location)
NUMBER = Integer(-INT64)
VALUE_NUMBER = Integer(0, 10**9 - 1)


_BITS = Row((Choice.of("bits"), TYPE, Integer(0, 2 * INT64 - 1)))


@dataclass(frozen=True, slots=True)
class Operand:
    """An integer, ``["bits", type, integer]``, or ``%n`` for value n."""

    def check(self, value: Any) -> Any:
        """Return the operand as it is."""
        if type(value) is list:
            _BITS.check(value)
            if not is_float(value[1]):
                raise Offence(f"has bits of {show(value[1])}, which is no type of floats")
            return value
        if type(value) is str:
            if not _VALUE.fullmatch(value):
                raise Offence(f"is {show(value)}, but must be a value, as %0")
            return value
        return NUMBER.check(value)


@dataclass(frozen=True, slots=True)
class Expression:
    """An affine expression: an integer, ``["d", n]``, ``["s", n]``, or ``[operation, lhs, rhs]``.

    Without `divides_by_values`, divisors are constants, none of them 0.
    """

    divides_by_values: bool = True

    def check(self, value: Any) -> Any:
        """Return the expression as it is."""
        self._check(value, 0)
        return value

    def _check(self, value: Any, depth: int) -> None:
        if type(value) is not list:
            NUMBER.check(value)
            return
        if depth > _MOST_EXPRESSIONS:
            raise Offence("is nested too deeply")
        name = value[0] if value else None
        if name in ("d", "s"):
            Row((NAME, Integer(0, 1 << 16))).check(value)
            return
        if name not in ("+", "*", "floordiv", "ceildiv", "mod") or len(value) != 3:
            raise Offence(f"is {show(value)}, which is no expression")
        is_division = name in ("floordiv", "ceildiv", "mod")
        is_plain = type(value[2]) is int and value[2] != 0
        if is_division and not (self.divides_by_values or is_plain):
            raise Offence("divides by what is no constant, or by 0")
        for number in (1, 2):
            try:
                self._check(value[number], depth + 1)
            except Offence as offence:
                raise offence.within(f"[{number}]") from None


def find_parts(expression: Any, name: str) -> int:
    """Return how many dimensions (``d``) or symbols (``s``) an expression takes at least."""
    if type(expression) is not list:
        return 0
    if expression[0] in ("d", "s"):
        return int(expression[1]) + 1 if expression[0] == name else 0
    return max(find_parts(part, name) for part in expression[1:])


OPERAND = Operand()
OPERANDS = Items(OPERAND, most=4096)
