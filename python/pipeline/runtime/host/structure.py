"""The parts of a launch plan, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...diagnostics import Location
from ...errors import UsageError
from ...records.scalars import numpy_dtype

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, slots=True)
class Step:
    """One operation of the host, by its name in MLIR.

    ``results`` are the numbers of the values that it makes, ``fields`` what it takes: operands are
    integers, ``["bits", type, integer]``, or ``%n`` for value n. ``regions`` are what it executes.
    """

    op: str
    results: tuple[int, ...]
    fields: Mapping[str, Any]
    regions: Mapping[str, Region]
    location: Location


@dataclass(frozen=True, slots=True)
class Region:
    """Steps in order, the last of which hands on values, and the values that they are given."""

    arguments: tuple[int, ...]
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Requirement:
    """What has to hold of the arguments: that ``left`` is ``relation`` (==, <=, >=) ``right``.

    Symbol n of these affine expressions is ``args[n]``: a dimension of an argument, both by their
    number, or an argument that is a number. It counts only if all expressions of ``trips`` are
    above zero. ``location`` is of the operation because of which.
    """

    args: tuple[tuple[int, ...], ...]
    left: Any
    relation: str
    right: Any
    trips: tuple[Any, ...]
    location: Location


@dataclass(frozen=True, slots=True)
class Function:
    """A host function: what it does or, in ``refusal``, why a plan cannot say, and where.

    ``arguments`` and ``results`` are types of MLIR.
    """

    name: str
    arguments: tuple[str, ...]
    results: tuple[str, ...]
    require: tuple[Requirement, ...]
    body: Region | None
    refusal: str
    location: Location


@dataclass(frozen=True, slots=True)
class Data:
    """Memory of the program: a constant, or what it writes if it is ``mutable``.

    There are no ``elements`` if it starts with any.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    elements: bytes | None
    mutable: bool


def dtype_of(element_type: str) -> np.dtype[Any]:
    """Return the type of NumPy for elements. Raises UsageError if there is none."""
    dtype = numpy_dtype(element_type)
    if dtype is None:
        raise UsageError(f"error: NumPy has no arrays of {element_type} (ml_dtypes may have)")
    return dtype
