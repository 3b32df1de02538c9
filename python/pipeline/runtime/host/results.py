"""Numbers as callers get them."""

from __future__ import annotations

import struct
from typing import Any

from ...errors import ToolError
from ...records.scalars import packed_float
from .numbers import from_bits, require_floats, width_of
from .plan import dtype_of


def make_number(element_type: str, number: Any) -> Any:
    """Return a number as one of NumPy's types; without NumPy, an integer as Python's."""
    try:
        return dtype_of(element_type).type(number)
    except ImportError:
        if width_of(element_type) is None:
            require_floats()
        return number


def number_of_bytes(element_type: str, data: bytes) -> Any:
    """Return the number that bytes are, as callers get it; without NumPy, one of Python's."""
    try:
        return make_number(element_type, from_bits(element_type, int.from_bytes(data, "little")))
    except ToolError:
        form = packed_float(element_type)
        if form is None:
            raise
        return struct.unpack(form, data)[0]
