"""The launch plan of a module: what its host functions do. docs/launch-plan.md has the schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...diagnostics import Location
from ...errors import UsageError
from ...records.scalars import numpy_dtype

if TYPE_CHECKING:
    import numpy as np

_FORMAT = "pipeline-plan"
_MAJOR = 2
_REGIONS = ("body", "then", "else", "before", "after")


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
    """A host function: what it does or, in ``refusal``, why a plan cannot say, and where."""

    name: str
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


@dataclass(frozen=True, slots=True)
class Plan:
    """What the host functions of a module do.

    ``kernels`` are the names of the kernels that launches call by number, ``text`` is the document
    itself.
    """

    kernels: tuple[str, ...]
    data: tuple[Data, ...]
    functions: Mapping[str, Function]
    text: str

    @classmethod
    def parse(cls, text: str) -> Plan:
        """Read a document. Raises UsageError if it is none, or of another version."""
        try:
            return cls._read(text)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            if isinstance(error, UsageError):
                raise
            raise UsageError(f"error: this is no launch plan: {error!r}") from error

    @classmethod
    def _read(cls, text: str) -> Plan:
        document = json.loads(text)
        name, (major, _) = document["format"], document["version"]
        features = document["features"]
        if name != _FORMAT or major != _MAJOR or features:
            raise UsageError(
                f"error: a launch plan of format {name}, version {major} and features {features} "
                f"cannot be read, only {_FORMAT} of version {_MAJOR} without any"
            )
        return cls(
            tuple(document["kernels"]),
            tuple(_make_data(item) for item in document["data"]),
            {item["name"]: _make_function(item) for item in document["functions"]},
            text,
        )


def dtype_of(element_type: str) -> np.dtype[Any]:
    """Return the type of NumPy for elements. Raises UsageError if there is none."""
    dtype = numpy_dtype(element_type)
    if dtype is None:
        raise UsageError(f"error: NumPy has no arrays of {element_type} (ml_dtypes may have)")
    return dtype


def _make_data(item: Mapping[str, Any]) -> Data:
    elements = bytes.fromhex(item["hex"]) if "hex" in item else None
    shape, mutable = tuple(item["shape"]), item.get("mutable", False)
    if elements is None and not mutable:
        raise ValueError(f"constant '{item['name']}' has no elements")
    return Data(item["name"], item["dtype"], shape, elements, mutable)


def _make_function(item: Mapping[str, Any]) -> Function:
    refusal = item.get("refusal", {})
    return Function(
        item["name"],
        tuple(item["results"]),
        tuple(_make_requirement(requirement) for requirement in item["require"]),
        _make_region(item["body"]) if "body" in item else None,
        refusal.get("reason", ""),
        Location(*refusal.get("loc", item["loc"])),
    )


def _make_requirement(item: Mapping[str, Any]) -> Requirement:
    return Requirement(
        tuple(tuple(arg) for arg in item["args"]),
        item["left"],
        item["relation"],
        item["right"],
        tuple(item["trips"]),
        Location(*item["loc"]),
    )


def _make_region(item: Mapping[str, Any]) -> Region:
    return Region(tuple(item["arguments"]), tuple(_make_step(step) for step in item["steps"]))


def _make_step(item: Mapping[str, Any]) -> Step:
    return Step(
        item["op"],
        tuple(item["results"]),
        {key: value for key, value in item.items() if key not in _REGIONS},
        {key: _make_region(item[key]) for key in _REGIONS if key in item},
        Location(*item["loc"]),
    )
