"""From Python's values to what a kernel takes: checked, and where it expects them."""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .errors import CountError, DTypeError, KindError, LayoutError, ShapeError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .module import Argument, Kernel, Part

    Array = npt.NDArray[Any]

# Names of NumPy's and ml_dtypes' types that hold the bits of MLIR's; without ml_dtypes, narrow
# floats go as unsigned integers of their bits.
_DTYPES = {
    "f16": ("float16",),
    "bf16": ("bfloat16", "uint16"),
    "f32": ("float32",),
    "tf32": ("float32",),
    "f64": ("float64",),
    "i1": ("bool",),
    "i4": ("int4", "uint4"),
    "i8": ("int8", "uint8"),
    "i16": ("int16", "uint16"),
    "i32": ("int32", "uint32"),
    "i64": ("int64", "uint64"),
    "index": ("int64", "uint64"),
    "complex<f32>": ("complex64",),
    "complex<f64>": ("complex128",),
    "f8E4M3FN": ("float8_e4m3fn", "uint8"),
    "f8E5M2": ("float8_e5m2", "uint8"),
}


_VECTOR = re.compile(r"vector<(?P<extents>(?:\d+x)+)(?P<element>\w+)>")


@dataclass(frozen=True, slots=True)
class Constant:
    """A number of the program, whose bytes need no check."""

    bytes: bytes


@dataclass(frozen=True, slots=True)
class Value:
    """An argument of a launch: its array, if it is one, and the bytes of a number.

    ``array`` is what the kernel works on: ``original``, or a copy of it where the kernel relies on
    more alignment than it has.
    """

    argument: Argument
    original: Array | None
    array: Array | None
    bytes: bytes = b""

    def finish(self) -> None:
        """Bring what the kernel wrote to where the caller looks for it."""
        original = self.original
        if original is not None and original is not self.array and original.flags.writeable:
            original[...] = self.array


def convert(kernel: str, arguments: Sequence[Argument], values: Sequence[Any]) -> list[Value]:
    """Check `values` against the arguments of `kernel`.

    Raises a kind of ArgumentError for the first that does not fit.
    """
    if len(values) != len(arguments):
        raise CountError(
            f"error: {kernel}() takes {len(arguments)} arguments "
            f"({', '.join(argument.type for argument in arguments)}) but {len(values)} were given"
        )
    converted = [
        _convert_array(argument, value, index)
        if argument.is_memref
        else _convert_number(argument, value, index)
        for index, (argument, value) in enumerate(zip(arguments, values, strict=True))
    ]
    _check_copies(converted)
    return converted


def _check_copies(values: Sequence[Value]) -> None:
    """Refuse copies of arrays that share memory: what is written to one, the other must see."""
    import numpy as np

    arrays = [(i, v) for i, v in enumerate(values) if v.original is not None]
    for index, value in arrays:
        if value.array is value.original:
            continue
        for other, partner in arrays:
            if other != index and np.may_share_memory(value.original, partner.original):
                message = (
                    f"error: argument {index} starts at an address that is no multiple of "
                    f"{value.argument.alignment} bytes, and overlaps argument {other}: pass copies"
                )
                raise LayoutError(message, index)


def _convert_number(argument: Argument, value: Any, index: int) -> Value:
    import numpy as np

    name = argument.element_type
    if isinstance(value, Constant):
        return Value(argument, None, None, value.bytes)
    dtype = numpy_dtype(name)
    if dtype is None:
        raise KindError(f"error: argument {index} is {name}, which Python has no value for", index)
    if np.ndim(value):
        what = "an array" if isinstance(value, np.ndarray) else repr(value)
        message = f"error: argument {index} must be a number ({name}), not {what}"
        raise KindError(message, index)
    if dtype.kind == "b" and value in (0, 1):
        return Value(argument, None, None, bytes([int(value)]))
    if dtype.kind in "iu" and isinstance(value, (int, np.integer)):
        return _convert_integer(argument, int(value), dtype, index)
    try:
        with np.errstate(over="raise"):
            number = np.asarray(value).astype(dtype, casting="same_kind")
    except (TypeError, ValueError, OverflowError, FloatingPointError):
        message = f"error: argument {index} is {value!r}, which does not fit {name}"
        raise KindError(message, index) from None
    return Value(argument, None, None, number.tobytes())


def _convert_integer(argument: Argument, value: int, dtype: np.dtype[Any], index: int) -> Value:
    """Take a Python integer of either signedness, as the bits are the same."""
    bits = dtype.itemsize * 8
    if not -(1 << (bits - 1)) <= value < 1 << bits:
        message = (
            f"error: argument {index} is {value!r}, which does not fit {argument.element_type}"
        )
        raise KindError(message, index)
    data = (value % (1 << bits)).to_bytes(dtype.itemsize, "little")
    return Value(argument, None, None, data)


def numpy_dtype(element_type: str) -> np.dtype[Any] | None:
    """Return the type of NumPy, or of ml_dtypes if that is there, for an element; else None."""
    import numpy as np

    for name in _DTYPES.get(element_type, ())[:1]:
        try:
            return np.dtype(name)
        except TypeError:
            try:
                # Not a dependency: whoever has such arrays has it.
                ml_dtypes = importlib.import_module("ml_dtypes")
            except ImportError:
                return None
            dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
            return dtype
    return None


def _convert_array(argument: Argument, value: Any, index: int) -> Value:
    import numpy as np

    if not isinstance(value, np.ndarray):
        if not hasattr(value, "__dlpack__"):
            message = (
                f"error: argument {index} must be an array (NumPy, or any object with __dlpack__), "
                f"not {type(value).__name__}"
            )
            raise KindError(message, index)
        try:
            value = np.from_dlpack(value)
        except Exception as error:
            message = f"error: argument {index} cannot be used as an array on the host: {error}"
            raise KindError(message, index) from error
    if vector := _VECTOR.fullmatch(argument.element_type):
        _check_dtype(vector["element"], value, index)
        value = _join_vectors(value, vector["extents"], argument, index)
    else:
        _check_dtype(argument.element_type, value, index)
    _check_shape(argument, value, index)
    _check_layout(argument, value, index)
    aligned = value.ctypes.data % argument.alignment == 0 or value.size == 0
    return Value(argument, value, value if aligned else _copy_aligned(value, argument.alignment))


def _check_dtype(element_type: str, array: Array, index: int) -> None:
    names = _DTYPES.get(element_type, ())
    if array.dtype.name in names and array.dtype.isnative:
        return
    message = (
        f"error: argument {index} has elements of type {array.dtype}, but the kernel takes "
        f"{element_type}"
    )
    raise DTypeError(message, index)


def _join_vectors(array: Array, text: str, argument: Argument, index: int) -> Array:
    """Return a view whose elements are vectors; those are the last dimensions of `array`."""
    import numpy as np

    extents = tuple(int(extent) for extent in text.rstrip("x").split("x"))
    rank = len(extents)
    if array.shape[max(0, array.ndim - rank) :] != extents:
        message = (
            f"error: argument {index} has shape {array.shape}, but the last dimensions must be "
            f"{extents}, those of {argument.element_type}"
        )
        raise ShapeError(message, index)
    if rank != 1:
        raise KindError(f"error: argument {index} has elements of {argument.element_type}", index)
    try:
        element = np.dtype([("vector", array.dtype, extents)])
        joined: Array = array.view(element)[..., 0]
    except ValueError:
        message = f"error: argument {index} has vectors that are not contiguous: pass a copy"
        raise LayoutError(message, index) from None
    return joined


def _check_shape(argument: Argument, array: Array, index: int) -> None:
    rank = len(argument.shape)
    if array.ndim != rank:
        message = (
            f"error: argument {index} has shape {array.shape}, but {argument.type} has {rank} "
            "dimensions"
        )
        raise ShapeError(message, index)
    for dim, (extent, wanted) in enumerate(zip(array.shape, argument.shape, strict=True)):
        if wanted is not None and extent != wanted:
            message = (
                f"error: argument {index} has shape {array.shape}, but dimension {dim} must be "
                f"{wanted}"
            )
            raise ShapeError(message, index)


def _check_layout(argument: Argument, array: Array, index: int) -> None:
    if array.size == 0:
        return
    size = array.itemsize
    if any(stride % size for stride in array.strides):
        message = f"error: argument {index} has strides that are no whole elements: pass a copy"
        raise LayoutError(message, index)
    strides = tuple(stride // size for stride in array.strides)
    wanted = _expected_strides(argument, array.shape)
    for dim, (stride, must) in enumerate(zip(strides, wanted, strict=True)):
        if must is not None and stride != must and array.shape[dim] > 1:
            message = (
                f"error: argument {index} has strides {strides} in elements, but dimension {dim} "
                f"must have {must}: pass a contiguous copy"
            )
            raise LayoutError(message, index)


def _expected_strides(argument: Argument, shape: tuple[int, ...]) -> list[int | None]:
    """Return the strides that the type fixes; of a row-major memref they follow from `shape`."""
    if "strided<" in argument.type or "affine_map" in argument.type:
        return list(argument.strides)
    strides: list[int | None] = []
    stride = 1
    for extent in reversed(shape):
        strides.append(stride)
        stride *= extent
    return strides[::-1]


def _copy_aligned(array: Array, alignment: int) -> Array:
    """Return a copy with the same strides whose first element is aligned."""
    import numpy as np

    low, high = np.lib.array_utils.byte_bounds(array)
    lead = array.ctypes.data - low
    memory = np.zeros(high - low + 2 * alignment, np.uint8)
    start = -(memory.ctypes.data + lead) % alignment
    copy: Array = np.ndarray(array.shape, array.dtype, memory, start + lead, array.strides)
    copy[...] = array
    return copy


def evaluate(kernel: Kernel, values: Sequence[Value]) -> list[tuple[Part, int | bytes]]:
    """Return the value of each parameter of the PTX: a number of elements, or a number's bytes.

    Raises ShapeError if parts that are one parameter differ.
    """
    parameters = []
    for parameter in kernel.parameters:
        results = [_evaluate_part(values[part.argument], part) for part in parameter.parts]
        for part, result in zip(parameter.parts, results, strict=True):
            if result != results[0]:
                first = parameter.parts[0]
                message = (
                    f"error: {_describe(part)} is {result!r}, but {_describe(first)} is "
                    f"{results[0]!r}, and the program was compiled for equal ones"
                )
                raise ShapeError(message, part.argument)
        parameters.append((parameter.parts[0], results[0]))
    return parameters


def _describe(part: Part) -> str:
    if part.kind in ("extent", "stride"):
        return f"the {part.kind} of dimension {part.dim} of argument {part.argument}"
    return (
        f"argument {part.argument}" if part.kind != "offset" else f"the offset of {part.argument}"
    )


def _evaluate_part(value: Value, part: Part) -> int | bytes:
    array = value.array
    if array is None:
        return value.bytes
    if part.kind == "extent":
        return int(array.shape[part.dim])
    if part.kind == "stride":
        return int(array.strides[part.dim] // array.itemsize)
    if part.kind == "offset":
        return 0
    return -(value.argument.offset or 0) * array.itemsize
