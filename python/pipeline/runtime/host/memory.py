"""Memory that the host hands from kernel to kernel, and views of it: where it lies, not what."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...diagnostics import Location
from ...errors import UsageError
from ..arguments import Value
from ..arrays import HOST, ArrayView, count, has_strides, row_major


@dataclass(eq=False, slots=True)
class Buffer:
    """Memory of its own: an argument, memory of the program, or what the program allocated.

    ``address`` is where it starts, in bytes; 0 if that is known only when it is used. Of its
    ``size`` elements the first is ``lead`` elements behind the start; they lie one after the other
    if it ``is_contiguous``. ``read_only`` tells what it is if it must not be written, ``number``
    is that of its machine, and ``owner`` keeps it alive.
    """

    number: int
    address: int
    size: int
    lead: int = 0
    is_contiguous: bool = True
    read_only: str = ""
    owner: Any = None
    library: str = "numpy"
    device: int = HOST


@dataclass(frozen=True, slots=True)
class Memory:
    """A buffer, or a view of one: ``offset`` elements behind its start, with strides in elements.

    ``given`` is what the caller knows it by, if it is all of an argument.
    """

    buffer: Buffer
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    element_type: str
    itemsize: int
    given: Any = None

    @classmethod
    def of_argument(cls, number: int, value: Value) -> Memory:
        """Return the memory of an argument, which is an array."""
        array, lead = value.view, value.lead
        assert array is not None
        reason = array.read_only
        buffer = Buffer(
            number,
            array.address - lead * array.itemsize,
            array.size,
            lead,
            array.is_contiguous,
            f"an argument that {reason}" if reason else "",
            array.owner,
            array.library,
            array.device,
        )
        kind = value.argument.element_type
        return cls(buffer, lead, array.shape, array.strides, kind, array.itemsize, value.given)

    @classmethod
    def of_buffer(
        cls, buffer: Buffer, shape: Sequence[int], element_type: str, itemsize: int
    ) -> Memory:
        """Return all of a contiguous buffer."""
        extents = tuple(shape)
        return cls(buffer, 0, extents, row_major(extents), element_type, itemsize)

    def view(self, offset: int, shape: Sequence[int], strides: Sequence[int]) -> Memory:
        """Return part of the same buffer."""
        extents = tuple(shape)
        at = self.buffer.lead if 0 in extents else offset
        return replace(self, offset=at, shape=extents, strides=tuple(strides), given=None)

    @property
    def size(self) -> int:
        """The number of elements."""
        return count(self.shape)

    @property
    def address(self) -> int:
        """Where the first element lies; from the start of the buffer if that has no address yet."""
        return self.buffer.address + self.offset * self.itemsize

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements follow one another in row-major order."""
        return has_strides(self.shape, self.strides, row_major(self.shape))

    @property
    def array(self) -> ArrayView:
        """The memory as an array."""
        buffer = self.buffer
        return ArrayView(
            self.address,
            self.shape,
            self.strides,
            self.element_type,
            self.itemsize,
            buffer.device,
            buffer.read_only,
            buffer.owner,
            buffer.library,
        )

    def element(self, indices: Sequence[int], location: Location) -> Memory:
        """Return the memory of an element. Raises UsageError if there is none."""
        if any(not 0 <= i < extent for i, extent in zip(indices, self.shape, strict=True)):
            raise UsageError(
                f"{location}: error: there is no element {tuple(indices)} in memory of shape "
                f"{self.shape}"
            )
        distance = sum(i * stride for i, stride in zip(indices, self.strides, strict=True))
        return self.view(self.offset + distance, (), ())


def subview(
    memory: Memory,
    offsets: Sequence[int],
    sizes: Sequence[int],
    strides: Sequence[int],
    dropped: Sequence[int],
    location: Location,
) -> Memory:
    """Return a part of each dimension. Raises UsageError if it is not inside."""
    distance = 0
    kept: list[tuple[int, int]] = []
    for dim, (offset, size, stride) in enumerate(zip(offsets, sizes, strides, strict=True)):
        extent, apart = memory.shape[dim], memory.strides[dim]
        end = offset + (size - 1) * stride + 1
        is_inside = offset >= 0 and end <= extent and (stride > 0 or size == 1)
        if size < 0 or (size > 0 and not is_inside):
            raise UsageError(
                f"{location}: error: a slice of dimension {dim} goes from element {offset} over "
                f"{size} with stride {stride}, but there are {extent}"
            )
        distance += offset * apart
        if dim not in dropped:
            kept.append((size, apart * stride))
    shape, apart_all = [size for size, _ in kept], [apart for _, apart in kept]
    return memory.view(memory.offset + distance, shape, apart_all)


def expand(memory: Memory, sizes: Sequence[int], location: Location) -> Memory:
    """Return a view of another shape with more dimensions."""
    return _reshape(memory, sizes, location)


def collapse(memory: Memory, groups: Sequence[Sequence[int]], location: Location) -> Memory:
    """Return a view in which each group of dimensions is one."""
    shape = memory.shape
    return _reshape(memory, [math.prod(shape[dim] for dim in group) for group in groups], location)


def _reshape(memory: Memory, sizes: Sequence[int], location: Location) -> Memory:
    strides = None
    if math.prod(sizes) == memory.size and min(sizes, default=0) >= 0:
        strides = _strides_of_shape(memory, sizes)
    if strides is None:
        raise UsageError(
            f"{location}: error: memory of shape {memory.shape} cannot be seen in shape "
            f"{tuple(sizes)}"
        )
    return memory.view(memory.offset, sizes, strides)


def _strides_of_shape(memory: Memory, sizes: Sequence[int]) -> list[int] | None:
    """Return the strides with which memory has another shape; None if no strides do."""
    if not memory.size:
        return list(row_major(tuple(sizes)))
    old = [pair for pair in zip(memory.shape, memory.strides, strict=True) if pair[0] != 1]
    strides: list[int] = []
    at = 0
    rest = 1  # of the elements of the run of old dimensions that is taken apart
    apart = 0
    run: list[int] = []
    for size in sizes:
        if size == 1:
            run.append(1)
            continue
        if rest == 1:
            strides += _spread(run, apart)
            run = []
            rest, apart = old[at]
            at += 1
        while rest % size or rest < size:
            # The next dimension has to go on where this one ends.
            if at == len(old) or old[at][0] * old[at][1] != apart:
                return None
            rest, apart = rest * old[at][0], old[at][1]
            at += 1
        rest //= size
        run.append(size)
    return strides + _spread(run, apart)


def _spread(sizes: Sequence[int], apart: int) -> list[int]:
    """Return the strides of dimensions that share a run of elements that lie `apart`."""
    return [stride * apart for stride in row_major(tuple(sizes))]


def transpose(memory: Memory, order: Sequence[int]) -> Memory:
    """Return a view of the dimensions in another order."""
    shape, strides = memory.shape, memory.strides
    return memory.view(
        memory.offset, [shape[dim] for dim in order], [strides[dim] for dim in order]
    )


def reinterpret(
    memory: Memory,
    offsets: Sequence[int],
    sizes: Sequence[int],
    strides: Sequence[int],
    location: Location,
) -> Memory:
    """Return a view at any place of a buffer, whatever part of it `memory` is.

    Raises UsageError if it is not inside of contiguous memory.
    """
    buffer, offset = memory.buffer, offsets[0] - memory.buffer.lead
    last = offset + sum(
        (size - 1) * stride for size, stride in zip(sizes, strides, strict=True) if size
    )
    is_inside = 0 in sizes or (0 <= offset <= last < buffer.size and min(strides, default=0) >= 0)
    if not buffer.is_contiguous or not is_inside or min(sizes, default=0) < 0:
        raise UsageError(
            f"{location}: error: 'memref.reinterpret_cast' op is to element {offsets[0]}, sizes "
            f"{tuple(sizes)} and strides {tuple(strides)} of memory of {buffer.size} elements"
        )
    return memory.view(offsets[0], sizes, strides)


__all__ = [
    "Buffer",
    "Memory",
    "collapse",
    "expand",
    "reinterpret",
    "subview",
    "transpose",
]
