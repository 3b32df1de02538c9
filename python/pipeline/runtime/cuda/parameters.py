"""How many bytes the parameters of a kernel have."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .tensor_maps import TENSOR_MAP_BYTES

if TYPE_CHECKING:
    from typing import Protocol

    from ...records.signature import Argument, Parameter

    class Interface(Protocol):
        """What a kernel takes."""

        @property
        def name(self) -> str: ...
        @property
        def arguments(self) -> tuple[Argument, ...]: ...
        @property
        def parameters(self) -> tuple[Parameter, ...]: ...


POINTER_BYTES = 8
"""The bytes of a pointer, and of an ``index``."""

_BITS = re.compile(r"(?:[su]?i|b?f|tf)(?P<bits>\d+)(?:E\d+M\d+\w*)?")
_VECTOR = re.compile(r"vector<(?P<extents>(?:\d+x)+)(?P<element>\w+)>")
_STRUCTURE = re.compile(r"bytes<(?P<bytes>\d+)>")
_COMPLEX = re.compile(r"complex<(?P<element>\w+)>")


def number_bytes(element_type: str) -> int | None:
    """Return the bytes of a number or a vector as a parameter; None for types without a rule."""
    if element_type == "index":
        return POINTER_BYTES
    if element_type == "tf32":
        return 4
    if match := _STRUCTURE.fullmatch(element_type):
        return int(match["bytes"])
    if match := _BITS.fullmatch(element_type):
        return _power_of_two((int(match["bits"]) + 7) // 8)
    if match := _COMPLEX.fullmatch(element_type):
        element = number_bytes(match["element"])
        return None if element is None else 2 * element
    if match := _VECTOR.fullmatch(element_type):
        element = number_bytes(match["element"])
        if element is None or match["element"] in ("i1", "i2", "i4", "index"):
            return None
        count = 1
        for extent in match["extents"].split("x")[:-1]:
            count *= int(extent)
        return _power_of_two(count * element)
    return None


def _power_of_two(size: int) -> int:
    return 1 << max(size - 1, 0).bit_length()


def parameter_bytes(kernel: Interface) -> tuple[int | None, ...]:
    """Return the bytes of each parameter of a kernel's PTX; None where no rule says it."""
    return tuple(_bytes(kernel, parameter) for parameter in kernel.parameters)


def _bytes(kernel: Interface, parameter: Parameter) -> int | None:
    part = parameter.parts[0]
    if part.kind == "tensormap":
        return TENSOR_MAP_BYTES
    if part.kind == "value":
        return number_bytes(kernel.arguments[part.argument].element_type)
    return POINTER_BYTES
