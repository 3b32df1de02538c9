"""From Python's values to what a kernel takes: checked, and where it expects them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import CountError, DTypeError, KindError, LayoutError, ShapeError
from ..records.scalars import DTYPES, describe_numbers, describe_value, has_numbers, pack_number
from .tensor_maps import TensorLayout, check_layout

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ..records.signature import Argument, Part, Signature, TensorMap

    Array = npt.NDArray[Any]

_VECTOR = re.compile(r"vector<(?P<extents>(?:\d+x)+)(?P<element>\w+)>")


@dataclass(frozen=True, slots=True)
class Value:
    """An argument of a launch: its array, if it is one, and the bytes of a number.

    ``array`` is what the kernel works on: ``original``, or a copy of it where the kernel relies on
    more alignment than it has. ``is_imported`` tells that it came by DLPack. ``offset`` counts the
    elements from the start of the memory, which is what has the alignment, to the array, where the
    type leaves it open.
    """

    argument: Argument
    original: Array | None
    array: Array | None
    bytes: bytes = b""
    is_imported: bool = False
    offset: int = 0

    @property
    def lead(self) -> int:
        """The elements from the start of the memory to the array."""
        fixed = self.argument.offset
        return self.offset if fixed is None else fixed

    @property
    def has_array(self) -> bool:
        """Whether it is an array, not a number."""
        return self.array is not None

    def finish(self) -> None:
        """Bring what the kernel wrote to where the caller looks for it."""
        original = self.original
        if original is not None and original is not self.array and original.flags.writeable:
            original[...] = self.array

    def explain_read_only(self) -> str:
        """Return why the array must not be written, and what to do; empty if it may be."""
        if self.original is None or self.original.flags.writeable:
            return ""
        if self.is_imported:
            return (
                "came by DLPack as read-only, as all arrays do from libraries whose DLPack is "
                "older than 1.0: pass a copy, numpy.from_dlpack(array).copy(), and look for the "
                "results there, or use a newer version of the library"
            )
        return (
            "is a read-only NumPy array (flags.writeable is False): pass a copy, array.copy(), and "
            "look for the results there"
        )


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
        _convert(argument, value, index)
        for index, (argument, value) in enumerate(zip(arguments, values, strict=True))
    ]
    _check_copies(converted)
    return converted


def _convert(argument: Argument, value: Any, index: int) -> Value:
    if argument.tensor_map is not None:
        return _convert_tensor(argument, argument.tensor_map, value, index)
    if argument.is_memref:
        return convert_array(argument, value, index)
    return _convert_number(argument, value, index)


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


def check_distinct(values: Sequence[Value], written: Sequence[bool] | None = None) -> None:
    """Refuse arrays that share memory, for a program that was compiled for others.

    What is one value of the program is known to be. So are the tensor maps of an array. With
    `written`, arrays that are only read may be the same.
    """
    import numpy as np

    arrays = [
        (i, v)
        for i, v in enumerate(values)
        if v.array is not None and v.argument.tensor_map is None
    ]
    for index, value in arrays:
        for other, partner in arrays[:index]:
            if partner is value or (written and not written[index] and not written[other]):
                continue
            if np.may_share_memory(value.array, partner.array):
                message = (
                    f"error: argument {index} overlaps argument {other}, and the program was "
                    "compiled for arguments that do not: pass a copy, or compile it with a "
                    "schedule of your own, without assume-distinct-arguments, and the memory "
                    "option assume-distinct-arguments=false"
                )
                raise LayoutError(message, index)


def _convert_number(argument: Argument, value: Any, index: int) -> Value:
    name = argument.element_type
    if not has_numbers(name):
        message = f"error: argument {index} is of type {name}, {_explain_missing(name)}"
        raise KindError(message, index)
    if _has_elements(value):
        what = "an array" if hasattr(value, "dtype") else describe_value(value)
        message = f"error: argument {index} must be a number ({name}), not {what}"
        raise KindError(message, index)
    data = pack_number(name, value)
    if data is None:
        message = (
            f"error: argument {index} is {describe_value(value)}, which does not fit {name} "
            f"({describe_numbers(name)})"
        )
        raise KindError(message, index)
    return Value(argument, None, None, data)


def _explain_missing(element_type: str) -> str:
    if element_type in DTYPES:
        return "whose numbers need the package ml_dtypes: install it"
    return (
        "which cannot be given: let the kernel take memrefs, index, floats, or integers of 8, 16, "
        "32 or 64 bits"
    )


def _has_elements(value: Any) -> bool:
    import numpy as np

    try:
        return np.ndim(value) > 0
    except Exception:  # a list of lists of different lengths, an array on a GPU
        return True


def _convert_tensor(argument: Argument, tensor_map: TensorMap, value: Any, index: int) -> Value:
    """Return an array that the launch makes a tensor map of: the map shows it where it is."""
    import numpy as np

    is_imported = not isinstance(value, np.ndarray)
    if is_imported:
        value = _import_array(value, index)
    _check_dtype(tensor_map.element_type, value, index)
    check_layout(tensor_layout(value), tensor_map, f"argument {index}", index)
    return Value(argument, value, value, is_imported=is_imported)


def tensor_layout(array: Array) -> TensorLayout:
    """Return where an array lies."""
    return TensorLayout.of_array(array.ctypes.data, array.shape, array.strides, array.itemsize)


def convert_array(argument: Argument, value: Any, index: int) -> Value:
    """Check an array against argument number `index`. Raises a kind of ArgumentError."""
    import numpy as np

    is_imported = not isinstance(value, np.ndarray)
    if is_imported:
        value = _import_array(value, index)
    if vector := _VECTOR.fullmatch(argument.element_type):
        _check_dtype(vector["element"], value, index)
        value = _join_vectors(value, vector["extents"], argument, index)
    else:
        _check_dtype(argument.element_type, value, index)
    _check_shape(argument, value, index)
    _check_layout(argument, value, index)
    lead = (argument.offset or 0) * value.itemsize
    aligned = (value.ctypes.data - lead) % argument.alignment == 0 or value.size == 0
    array = value if aligned else _copy_aligned(value, argument.alignment, lead)
    return Value(argument, value, array, is_imported=is_imported)


def check_operand(value: Value, argument: Argument, index: int) -> None:
    """Check memory that the host hands to a kernel as argument number `index`.

    Raises a kind of ArgumentError.
    """
    array = value.array
    assert array is not None
    _check_shape(argument, array, index)
    _check_layout(argument, array, index)
    start = array.ctypes.data - value.lead * array.itemsize
    if array.size and start % argument.alignment:
        message = (
            f"error: argument {index} is of memory that starts at an address that is no multiple "
            f"of {argument.alignment} bytes"
        )
        raise LayoutError(message, index)


def _import_array(value: Any, index: int) -> Array:
    import numpy as np

    if not hasattr(value, "__dlpack__"):
        start = f"error: argument {index} must be an array"
        message = f"{start} (NumPy, or any object with __dlpack__), not {type(value).__name__}"
        shell_message = f"{start}, a .npy file, not {describe_value(value)}"
        raise KindError(message, index, shell_message)
    try:
        array: Array = np.from_dlpack(value)
    except Exception as error:
        message = f"error: argument {index} cannot be used as an array on the host: {error}"
        raise KindError(message, index) from error
    return array


def _check_dtype(element_type: str, array: Array, index: int) -> None:
    names = DTYPES.get(element_type, ())
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
    reach = sum(
        abs(stride) * extent for stride, extent in zip(array.strides, array.shape, strict=True)
    )
    if reach >> 47:
        message = f"error: argument {index} reaches over more bytes than a process has"
        raise LayoutError(message, index)
    strides = tuple(stride // size for stride in array.strides)
    wanted = _expected_strides(argument, array.shape)
    if len(wanted) != array.ndim:
        raise KindError(
            f"error: argument {index} is of {argument.type}, which has no strides", index
        )
    for dim, (stride, must) in enumerate(zip(strides, wanted, strict=True)):
        if must is not None and stride != must and array.shape[dim] > 1:
            is_contiguous = bool(array.flags.c_contiguous)
            remedy = "a view with those of its type" if is_contiguous else "a contiguous copy"
            message = (
                f"error: argument {index} has strides {strides} in elements, but dimension {dim} "
                f"must have {must}: pass {remedy}"
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


def _copy_aligned(array: Array, alignment: int, skipped: int) -> Array:
    """Return a copy with the same strides; `skipped` bytes before its first element is aligned."""
    import numpy as np

    low, high = np.lib.array_utils.byte_bounds(array)
    lead = array.ctypes.data - low
    memory = np.zeros(high - low + alignment, np.uint8)
    start = (skipped - memory.ctypes.data - lead) % alignment
    copy: Array = np.ndarray(array.shape, array.dtype, memory, start + lead, array.strides)
    copy[...] = array
    return copy


def make_aligned(shape: tuple[int, ...], dtype: np.dtype[Any], alignment: int) -> Array:
    """Return an array whose first element is aligned, of what no result looks like."""
    import numpy as np

    size = math.prod(shape) * dtype.itemsize
    # Floats that are no numbers.
    memory = np.full(size + alignment, 1 if dtype.kind == "b" else 0xFF, np.uint8)
    start = -memory.ctypes.data % alignment
    return memory[start : start + size].view(dtype).reshape(shape)


def evaluate(kernel: Signature, values: Sequence[Value]) -> list[tuple[Part, int | bytes]]:
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
    if part.kind == "tensormap":
        return 0
    return value.lead if part.kind == "offset" else -value.lead * array.itemsize
