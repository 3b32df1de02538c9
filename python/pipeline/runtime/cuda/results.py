"""Results as arrays of the library that the caller's arrays are of."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import KindError, UsageError
from ...records.scalars import DTYPES, numpy_dtype
from ..arrays import ArrayView, row_major

if TYPE_CHECKING:
    from collections.abc import Callable


class Part(NamedTuple):
    """A result that lies in buffer number ``room``: an array, from ``offset`` elements on."""

    room: int
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    element_type: str

    def is_whole(self, shape: tuple[int, ...]) -> bool:
        """Return whether it is all of an array of this shape."""
        return not self.offset and self.shape == shape and self.strides == row_major(shape)


class Library(NamedTuple):
    """How a library makes arrays on one device."""

    make: Callable[[tuple[int, ...], str], tuple[Any, int]]
    """Return a new array of a shape and MLIR's element type, and its address."""
    cut: Callable[[Any, Part], Any]
    """Return part of an array."""


def library_like(array: ArrayView) -> Library:
    """Return what makes arrays beside one of the caller's. Raises KindError if nothing does."""
    if array.library == "torch":
        return _of_torch(array.owner.device)
    if array.library == "cupy":
        return _of_cupy(array.device)
    name = "JAX" if array.library == "jax" else "its library"
    raise KindError(
        f"error: the results cannot be made as arrays of {name}, of which the first argument is: "
        "write a function that takes the memory for its results as arguments"
    )


def no_library() -> Library:
    """Return what makes results of functions that take no arrays: nothing."""

    def make(shape: tuple[int, ...], element_type: str) -> tuple[Any, int]:
        raise KindError(
            "error: the results are arrays, and no argument tells of which library: write a "
            "function that takes the memory for its results as arguments"
        )

    return Library(make, lambda array, part: array)


def _name(element_type: str) -> str:
    return DTYPES.get(element_type, ("",))[0]


def _of_torch(device: Any) -> Library:
    torch = sys.modules["torch"]

    def make(shape: tuple[int, ...], element_type: str) -> tuple[Any, int]:
        dtype = getattr(torch, _name(element_type), None)
        if dtype is None:
            raise UsageError(f"error: PyTorch has no tensors of {element_type}")
        tensor = torch.empty(shape, dtype=dtype, device=device)
        return tensor, tensor.data_ptr()

    def cut(tensor: Any, part: Part) -> Any:
        return tensor.as_strided(part.shape, part.strides, tensor.storage_offset() + part.offset)

    return Library(make, cut)


def _of_cupy(device: int) -> Library:
    cupy = sys.modules["cupy"]

    def make(shape: tuple[int, ...], element_type: str) -> tuple[Any, int]:
        dtype = numpy_dtype(element_type)
        try:
            if dtype is None:
                raise TypeError
            with cupy.cuda.Device(device):
                array = cupy.empty(shape, dtype)
        except TypeError as error:
            raise UsageError(f"error: CuPy has no arrays of {element_type}") from error
        return array, int(array.data.ptr)

    def cut(array: Any, part: Part) -> Any:
        size = array.dtype.itemsize
        strides = tuple(stride * size for stride in part.strides)
        start = array.data + part.offset * size
        return cupy.ndarray(part.shape, array.dtype, memptr=start, strides=strides)

    return Library(make, cut)
