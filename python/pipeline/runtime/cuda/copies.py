"""Copies and fills of views as what the driver has: rows of bytes, and elements in a row."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING

from ...errors import UsageError
from .actions import Copy, Fill, Place

if TYPE_CHECKING:
    from ...diagnostics import Location
    from ..host.memory import Memory

_MAX_ACTIONS = 1 << 16
"""More of them for one step are refused: a kernel does that."""

_MOST_PITCH = (1 << 31) - 1
"""How many bytes apart the driver takes rows; those further apart are copied by themselves."""

_Dimension = tuple[int, int, int]
"""An extent, and how many bytes its elements are apart in the target and in the source."""


def copy_actions(source: Memory, target: Memory, location: Location) -> list[Copy]:
    """Return the copies of rows that copy all elements. Raises UsageError if they are too many."""
    if 0 in source.shape:
        return []
    size = source.itemsize
    dimensions = _join(
        [
            (extent, apart * size, source_apart * size)
            for extent, apart, source_apart in zip(
                target.shape, target.strides, source.strides, strict=True
            )
        ]
    )
    width = size
    if dimensions and dimensions[-1][1:] == (size, size):
        width *= dimensions.pop()[0]
    height, pitch, source_pitch = 1, width, width
    if dimensions and width <= min(dimensions[-1][1:]) and max(dimensions[-1][1:]) <= _MOST_PITCH:
        height, pitch, source_pitch = dimensions.pop()
    _check_number(dimensions, location)
    return [
        Copy(
            _place(target, offset),
            _place(source, source_offset),
            width,
            height,
            pitch,
            source_pitch,
        )
        for offset, source_offset in _walk(dimensions)
    ]


def fill_actions(target: Memory, pattern: bytes, location: Location) -> list[Fill]:
    """Return the fills of rows that fill all elements. Raises UsageError if they are too many."""
    if 0 in target.shape:
        return []
    size = target.itemsize
    dimensions = _join(
        [
            (extent, apart * size, apart * size)
            for extent, apart in zip(target.shape, target.strides, strict=True)
        ]
    )
    length = 1
    if dimensions and dimensions[-1][1] == size:
        length = dimensions.pop()[0]
    _check_number(dimensions, location)
    return [Fill(_place(target, offset), pattern, length) for offset, _ in _walk(dimensions)]


def _join(dimensions: list[_Dimension]) -> list[_Dimension]:
    """Join dimensions of which one goes on where the one inside it ends; single ones go."""
    joined: list[_Dimension] = []
    for extent, apart, other in dimensions:
        if extent == 1:
            continue
        if joined and joined[-1][1:] == (extent * apart, extent * other):
            joined[-1] = (joined[-1][0] * extent, apart, other)
        else:
            joined.append((extent, apart, other))
    return joined


def _check_number(dimensions: list[_Dimension], location: Location) -> None:
    total = 1
    for extent, _, _ in dimensions:
        total *= extent
    if total > _MAX_ACTIONS:
        raise UsageError(
            f"{location}: error: a copy or fill takes {total} operations of the driver, but "
            f"{_MAX_ACTIONS} are the most for one step: let a kernel do it"
        )


def _walk(dimensions: list[_Dimension]) -> Iterator[tuple[int, int]]:
    """Return where in target and source, in bytes, each combination of indices is."""
    for indices in product(*(range(extent) for extent, _, _ in dimensions)):
        offset = other = 0
        for index, (_, apart, other_apart) in zip(indices, dimensions, strict=True):
            offset += index * apart
            other += index * other_apart
        yield offset, other


def _place(memory: Memory, offset: int) -> Place:
    distance = memory.offset - memory.buffer.lead
    return Place(memory.buffer.number, distance * memory.itemsize + offset)
