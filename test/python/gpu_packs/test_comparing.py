"""Arrays of a pack: how they are compared, and what their bits stand for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from running.arrays import compare, decode


@pytest.mark.parametrize(
    ("dtype", "found", "wanted", "tolerance", "largest", "agrees"),
    [
        ("f4", [1, np.nan, np.inf, 0.0], [1, np.nan, np.inf, -0.0], 0, 0, True),
        ("f4", [1, np.inf], [1, 2], 1e9, np.inf, False),
        ("f4", [1, np.inf], [1, -np.inf], 1e9, np.nan, False),
        ("f4", [1, 2], [1, np.nan], 1e9, np.nan, False),
        ("f8", [1.0, 100.5], [1.0, 100.0], 0.01, 0.005, True),
        ("f8", [0.25], [0.0], 0.2, 0.25, False),
        ("i8", [2**62 + 1, -5], [2**62, -5], 0, 2**-62, False),
        ("u8", [0, 2**64 - 1], [2**64 - 1, 2**64 - 1], 0, 1, False),
        ("i1", [-128], [127], 0, 255 / 127, False),
        ("?", [True, False], [False, False], 0, 1, False),
        ("c8", [3 + 4j], [3 + 3j], 0, 1 / abs(3 + 3j), False),
        ("f4", [], [], 0, 0, True),
    ],
)
def test_compare(
    dtype: str, found: Any, wanted: Any, tolerance: float, largest: float, agrees: bool
) -> None:
    arrays = np.array(found, dtype), np.array(wanted, dtype)
    difference = compare(*arrays, tolerance, "")
    assert difference.largest == pytest.approx(largest, nan_ok=True)
    assert (difference.text == "") == agrees


@pytest.mark.parametrize(
    ("element", "dtype", "bits", "values"),
    [
        ("bf16", "u2", [0x3F80, 0xC000, 0x7FC0], [1, -2, np.nan]),
        ("f8E5M2", "u1", [0x3C, 0xC0, 0x7C, 0x01], [1, -2, np.inf, 2**-16]),
        ("f8E4M3FN", "u1", [0x38, 0xC0, 0x7E, 0x01, 0xFF], [1, -2, 448, 2**-9, np.nan]),
        ("i16", "u2", [0x3F80], [0x3F80]),
        ("f32", "f4", [1.5], [1.5]),
    ],
)
def test_decode(element: str, dtype: str, bits: Any, values: Any) -> None:
    np.testing.assert_array_equal(decode(np.array(bits, dtype), element), values)
