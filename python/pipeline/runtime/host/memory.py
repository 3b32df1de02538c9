"""Memory that the host hands from kernel to kernel, and views of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...diagnostics import Location
from ...errors import UsageError
from ...records.scalars import numpy_dtype
from ..arguments import Value, make_aligned
from .plan import dtype_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..arguments import Array

_ALIGNMENT = 256
"""Of what is allocated, in bytes: as much as that of a GPU's runtime."""


@dataclass(frozen=True, slots=True)
class Memory:
    """A buffer, or a view of one.

    ``value`` is the argument of the function that it is, if it is all of it, and ``given`` what the
    caller knows it by. ``buffer`` is what it is a view of, or itself, and starts ``lead`` elements
    behind the start of the memory. ``read_only`` tells what it is if it must not be written.
    """

    array: Array
    given: Array
    buffer: Array
    lead: int = 0
    value: Value | None = None
    is_imported: bool = False
    read_only: str = ""

    @classmethod
    def of_argument(cls, value: Value) -> Memory:
        """Return the memory of an argument, which is an array."""
        assert value.array is not None
        assert value.original is not None
        array, dtype = value.array, numpy_dtype(value.argument.element_type)
        if dtype is not None and array.dtype.itemsize == dtype.itemsize:
            # Whose numbers the host computes with: unsigned integers and bits of narrow floats are
            # taken as well.
            array = array.view(dtype)
        reason = value.explain_read_only()
        read_only = f"an argument that {reason}" if reason else ""
        given, is_imported = value.original, value.is_imported
        return cls(array, given, array, value.lead, value, is_imported, read_only)

    @classmethod
    def of_array(cls, array: Array, read_only: str = "") -> Memory:
        """Return an array as memory."""
        return cls(array, array, array, read_only=read_only)

    def view(self, array: Array) -> Memory:
        """Return part of the same buffer."""
        return replace(self, array=array, given=array, value=None)

    @property
    def offset(self) -> int:
        """The elements from the start of the memory."""
        if not self.array.size:
            return self.lead
        distance = self.array.ctypes.data - self.buffer.ctypes.data
        return self.lead + distance // self.array.itemsize

    def element(self, place: tuple[int, ...]) -> Any:
        """Return an element that is there."""
        element = self.array[place]
        return int(element) if self.array.dtype.kind in "iub" else element

    @classmethod
    def allocate(cls, element_type: str, shape: Sequence[int], location: Location) -> Memory:
        """Return new memory. Raises UsageError for a shape that there is not."""
        if min(shape, default=0) < 0:
            raise UsageError(f"{location}: error: memory of shape {tuple(shape)} is asked for")
        try:
            return cls.of_array(make_aligned(tuple(shape), dtype_of(element_type), _ALIGNMENT))
        except (MemoryError, ValueError) as error:
            raise UsageError(f"{location}: error: no memory of shape {tuple(shape)}") from error


def subview(
    memory: Memory,
    offsets: Sequence[int],
    sizes: Sequence[int],
    strides: Sequence[int],
    dropped: Sequence[int],
    location: Location,
) -> Memory:
    """Return a part of each dimension. Raises UsageError if it is not inside."""
    array = memory.array
    index: list[slice] = []
    for dim, (offset, size, stride) in enumerate(zip(offsets, sizes, strides, strict=True)):
        end = offset + (size - 1) * stride + 1
        is_inside = offset >= 0 and end <= array.shape[dim] and (stride > 0 or size == 1)
        if size < 0 or (size > 0 and not is_inside):
            raise UsageError(
                f"{location}: error: a slice of dimension {dim} goes from element {offset} over "
                f"{size} with stride {stride}, but there are {array.shape[dim]}"
            )
        index.append(slice(offset, end, max(stride, 1)) if size else slice(0, 0))
    part = array[tuple(index)]
    if dropped:
        part = part.squeeze(tuple(dropped))
    return memory.view(part)


def expand(memory: Memory, sizes: Sequence[int], location: Location) -> Memory:
    """Return a view of another shape with more dimensions."""
    return _reshape(memory, sizes, location)


def collapse(memory: Memory, groups: Sequence[Sequence[int]], location: Location) -> Memory:
    """Return a view in which each group of dimensions is one."""
    shape = memory.array.shape
    return _reshape(memory, [math.prod(shape[dim] for dim in group) for group in groups], location)


def _reshape(memory: Memory, sizes: Sequence[int], location: Location) -> Memory:
    try:
        view = memory.array.view()
        view.shape = tuple(sizes)  # which never copies
    except (AttributeError, ValueError) as error:
        raise UsageError(
            f"{location}: error: memory of shape {memory.array.shape} cannot be seen in shape "
            f"{tuple(sizes)}"
        ) from error
    return memory.view(view)


def transpose(memory: Memory, order: Sequence[int]) -> Memory:
    """Return a view of the dimensions in another order."""
    return memory.view(memory.array.transpose(tuple(order)))


def read_vector(
    memory: Memory, indices: Sequence[int], shape: Sequence[int], padding: Any
) -> npt.NDArray[Any]:
    """Return a copy of elements along the last dimensions; what is outside is `padding`."""
    import numpy as np

    array, rank = memory.array, len(shape)
    lead = len(indices) - rank
    part = array[tuple(indices[:lead])] if lead else array
    vector = np.full(tuple(shape), np.asarray(padding).astype(array.dtype))
    taken = tuple(
        slice(min(at, extent), min(at + size, extent))
        for at, size, extent in zip(indices[lead:], shape, part.shape, strict=True)
    )
    source = part[taken]
    vector[tuple(slice(0, size) for size in source.shape)] = source
    return vector


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
    import numpy as np

    array, offset = memory.buffer, offsets[0] - memory.lead
    last = offset + sum(
        (size - 1) * stride for size, stride in zip(sizes, strides, strict=True) if size
    )
    is_inside = 0 in sizes or (0 <= offset <= last < array.size and min(strides, default=0) >= 0)
    if not array.flags.c_contiguous or not is_inside:
        raise UsageError(
            f"{location}: error: 'memref.reinterpret_cast' op is to element {offsets[0]}, sizes "
            f"{tuple(sizes)} and strides {tuple(strides)} of memory of shape {array.shape}"
        )
    flat = array.reshape(-1)[offset if 0 not in sizes else 0 :]
    bytes_apart = [stride * array.itemsize for stride in strides]
    return memory.view(np.lib.stride_tricks.as_strided(flat, tuple(sizes), bytes_apart))


def check_place(memory: Memory, indices: Sequence[int], location: Location) -> tuple[int, ...]:
    """Return the place of an element. Raises UsageError if there is none."""
    if any(not 0 <= i < size for i, size in zip(indices, memory.array.shape, strict=True)):
        raise UsageError(
            f"{location}: error: there is no element {tuple(indices)} in memory of shape "
            f"{memory.array.shape}"
        )
    return tuple(indices)


def store(memory: Memory, place: tuple[int, ...], value: Any) -> None:
    """Write an element that is there."""
    import numpy as np

    dtype = memory.array.dtype
    if dtype.kind in "iub":
        value = np.asarray(value % (1 << (8 * dtype.itemsize)), "u8").astype(dtype)
    memory.array[place] = value
