"""What the values of a plan are, as far as it can be told before anything runs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...records.scalars import DTYPES

_INTEGER = re.compile(r"index|i(?:[1-9]|[1-5]\d|6[0-4])")
_FLOAT = re.compile(r"(?:f|bf|tf)\d\w{0,20}")
_MEMORY = re.compile(
    r"memref<(?:\*x|(?P<dims>(?:(?:\?|\d+)x)*))(?P<element>[^,]+?)(?:, .*)?>", re.DOTALL
)
_TENSOR_MAP = re.compile(
    r"!nvgpu\.tensormap\.descriptor<tensor = (?P<memory>memref<.*)>", re.DOTALL
)
_VECTOR = re.compile(r"vector<[\dx\[\]]*x?(?P<element>[a-z]\w*)>")


@dataclass(frozen=True, slots=True)
class Number:
    """A number of a type of MLIR; of a constant integer, the type is empty."""

    type: str

    def __str__(self) -> str:
        return f"a number of type {self.type}" if self.type else "an integer"


@dataclass(frozen=True, slots=True)
class Array:
    """Memory that has `rank` dimensions, or an unknown number of them."""

    element: str
    rank: int | None

    def __str__(self) -> str:
        known = "" if self.rank is None else f" with {self.rank} dimensions"
        return f"memory of {self.element}{known}"


@dataclass(frozen=True, slots=True)
class Vector:
    """A vector, which is printed and nothing else."""

    element: str

    def __str__(self) -> str:
        return f"a vector of {self.element}"


@dataclass(frozen=True, slots=True)
class Other:
    """What is handed on and no step takes."""

    type: str

    def __str__(self) -> str:
        return f"a value of type {self.type}"


Kind = Number | Array | Vector | Other

TRUTH = Number("i1")
INDEX = Number("index")


def kind_of(text: str) -> Kind:
    """Return the kind that values of a type of MLIR have."""
    if is_integer(text) or is_float(text) or text in DTYPES:
        return Number(text)
    if match := _MEMORY.fullmatch(text):
        dims = match["dims"]
        return Array(match["element"], None if dims is None else dims.count("x"))
    if match := _TENSOR_MAP.fullmatch(text):
        # The memory that it shows, of which the map is made at the launch.
        memory = match["memory"]
        inner = _MEMORY.match(memory[: memory.rfind(">") + 1])
        if inner:
            return Array(inner["element"], None)
    if match := _VECTOR.fullmatch(text):
        return Vector(match["element"])
    return Other(text)


def is_integer(text: str) -> bool:
    """Tell whether a type is of integers that a plan computes with."""
    return _INTEGER.fullmatch(text) is not None


def is_float(text: str) -> bool:
    """Tell whether a type is of floats."""
    return _FLOAT.fullmatch(text) is not None


def join(first: Kind, second: Kind) -> Kind | None:
    """Return what a value is that is one or the other; None if those differ."""
    if first == second:
        return first
    if isinstance(first, Number) and isinstance(second, Number):
        known = first.type or second.type
        is_constant = not (first.type and second.type)
        return Number(known) if is_constant and is_integer(known) else None
    if isinstance(first, Array) and isinstance(second, Array) and first.element == second.element:
        is_unknown = first.rank is None or second.rank is None
        return Array(first.element, None) if is_unknown else None
    return None
