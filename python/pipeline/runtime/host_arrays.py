"""Arrays of NumPy for memory of the host, and what becomes of them in other libraries."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ..records.scalars import numpy_dtype
from .arrays import HOST, ArrayView, row_major

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

_ALIGNMENT = 256
"""Of what is allocated, in bytes: as much as that of a GPU's runtime."""


class _Place:
    """Memory that NumPy makes an array of."""

    def __init__(self, interface: dict[str, Any], owner: Any) -> None:
        self.__array_interface__ = interface
        self.owner = owner


def as_numpy(array: ArrayView, element_type: str = "") -> Array:
    """Return the array of NumPy that lies where `array` does.

    Its elements are those of MLIR's `element_type`, or plain bytes of as many if that is empty.
    """
    import numpy as np

    size = array.itemsize
    dtype = numpy_dtype(element_type) if element_type else None
    plain = np.dtype(f"u{size}" if size in (1, 2, 4, 8) else f"V{size}")
    if 0 in array.shape:
        return np.empty(array.shape, dtype or plain)
    interface = {
        "version": 3,
        "data": (array.address, bool(array.read_only)),
        "shape": array.shape,
        "strides": tuple(stride * size for stride in array.strides),
        "typestr": plain.str,
    }
    found: Array = np.asarray(_Place(interface, array.owner))
    return found.view(dtype or plain)


def allocate(size: int, poison: int) -> tuple[int, Any]:
    """Return where new aligned memory of `size` bytes is, all of them `poison`, and its owner."""
    import numpy as np

    memory = np.zeros(size + _ALIGNMENT, np.uint8)  # whose pages take time only when touched
    if poison:
        memory.fill(poison)
    address: int = memory.__array_interface__["data"][0]
    return address + -address % _ALIGNMENT, memory


def copy_aligned(array: ArrayView, alignment: int, skipped: int) -> ArrayView:
    """Return a copy with the same strides; `skipped` bytes before its first element is aligned."""
    import numpy as np

    low, high = array.bounds
    lead = array.address - low
    memory = np.zeros(high - low + alignment, np.uint8)
    start: int = memory.__array_interface__["data"][0]
    place = (skipped - start - lead) % alignment + lead
    copy = array._replace(address=start + place, owner=memory, read_only="")
    as_numpy(copy)[...] = as_numpy(array)
    return copy._replace(read_only=array.read_only)


def write_back(copy: ArrayView, original: ArrayView) -> None:
    """Bring what is in a copy to where it is from, unless that must not be written."""
    if not original.read_only:
        as_numpy(original)[...] = as_numpy(copy)


def empty(shape: tuple[int, ...], element_type: str, itemsize: int) -> ArrayView:
    """Return new memory for an array."""
    size = itemsize
    for extent in shape:
        size *= extent
    address, owner = allocate(size, 0xFF)
    return ArrayView(
        address, shape, row_major(shape), element_type, itemsize, HOST, "", owner, "numpy"
    )


def hand_over(array: Array, library: str) -> Any:
    """Return an array of NumPy as one of the library that a caller's arrays are of."""
    torch = sys.modules.get("torch")
    if library != "torch" or torch is None:
        return array
    import numpy as np

    if not array.flags.writeable or any(stride < 0 for stride in array.strides):
        array = array.copy()
    if array.dtype.isbuiltin == 1:
        return torch.from_numpy(array)
    bits = array.view(np.dtype(f"u{array.dtype.itemsize}"))
    return torch.from_numpy(bits).view(getattr(torch, array.dtype.name))
