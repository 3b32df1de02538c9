"""Whether two schedules of a program compute the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

TOLERANCES = {"float64": 1e-10, "float32": 1e-4, "float16": 1e-2, "bfloat16": 6e-2}
"""How far results may be from others, in parts of the largest; sums are added in other orders."""
_COARSE = 0.3  # of floats of 8 bits


def describe_difference(found: Sequence[Any], wanted: Sequence[Any]) -> str:
    """Return how results differ by more than orders of additions explain; nothing if they do not.

    found, wanted: arrays of NumPy and numbers.
    """
    import numpy as np

    for number, (ours, theirs) in enumerate(zip(found, wanted, strict=True)):
        ours, theirs = np.asarray(ours), np.asarray(theirs)
        if ours.shape != theirs.shape:
            return f"value {number} is of {list(ours.shape)}, not of {list(theirs.shape)}"
        if ours.dtype.kind in "iub":
            if not np.array_equal(ours, theirs):
                return f"value {number} differs"
            continue
        a, b = ours.astype(np.float64), theirs.astype(np.float64)
        finite = np.isfinite(b)
        largest = float(np.abs(b[finite]).max(initial=0.0))
        apart = float(np.abs(a[finite] - b[finite]).max(initial=0.0))
        tolerance = TOLERANCES.get(theirs.dtype.name, _COARSE)
        same = np.array_equal(a[~finite], b[~finite], equal_nan=True)
        if not same or not apart <= tolerance * max(largest, 1e-30):
            return f"value {number} is off by {apart:.3g}, where the largest is {largest:.3g}"
    return ""
