"""Layouts that a matrix can have, each with the type of arguments that take it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy.typing as npt

Array = npt.NDArray[Any]

DYNAMIC = "memref<?x?xi32, strided<[?, ?], offset: ?>>"
ROWS = "memref<?x?xi32, strided<[?, 1], offset: ?>>"
LAYOUTS: dict[str, tuple[Callable[[Array], Array], str]] = {
    "rows": (lambda a: a, ROWS),
    "columns inside": (lambda a: a[:, 2:7], ROWS),
    "every other row": (lambda a: a[1::2, 1:9], ROWS),
    "rows backwards": (lambda a: a[::-1, 1:9], ROWS),
    "transposed": (lambda a: a.T, DYNAMIC),
    "every third column": (lambda a: a[1:, 1::3], DYNAMIC),
    "both backwards": (lambda a: a[::-1, ::-1], DYNAMIC),
    "transposed and backwards": (lambda a: a[2:7:2, ::-2].T, DYNAMIC),
    "one row": (lambda a: a[3:4], DYNAMIC),
    "one element": (lambda a: a[3:4, 4:5], DYNAMIC),
    "no row": (lambda a: a[3:3], DYNAMIC),
    "no column": (lambda a: a[:, 5:5], ROWS),
}
