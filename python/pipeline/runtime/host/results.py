"""Numbers as callers get them."""

from __future__ import annotations

from typing import Any

from .numbers import require_floats, width_of
from .plan import dtype_of


def make_number(element_type: str, number: Any) -> Any:
    """Return a number as one of NumPy's types; without NumPy, an integer as Python's."""
    try:
        return dtype_of(element_type).type(number)
    except ImportError:
        if width_of(element_type) is None:
            require_floats()
        return number
