"""From Python's values to what a kernel takes: checked, wherever it is going to run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import (
    AccessError,
    CountError,
    DeviceError,
    DTypeError,
    KindError,
    LayoutError,
    ShapeError,
)
from ..records.scalars import (
    DTYPES,
    describe_numbers,
    describe_value,
    has_numbers,
    name_element,
    pack_number,
)
from .arrays import HOST, ArrayView, row_major, view
from .tensor_maps import TensorLayout, check_layout

if TYPE_CHECKING:
    from ..records.signature import Argument, Part, Signature, TensorMap

_VECTOR = re.compile(r"vector<(?P<extents>(?:\d+x)+)(?P<element>\w+)>")


@dataclass(frozen=True, slots=True)
class Value:
    """An argument of a launch: its array, if it is one, or the bytes of a number.

    ``view`` is what the kernel works on; its elements are vectors if those of the argument are.
    ``given`` is what the caller knows it by. ``offset`` counts the elements from the start of the
    memory, which is what has the alignment, to the array, where the type leaves it open.
    """

    argument: Argument
    view: ArrayView | None
    bytes: bytes = b""
    offset: int = 0
    given: Any = None

    @property
    def lead(self) -> int:
        """The elements from the start of the memory to the array."""
        fixed = self.argument.offset
        return self.offset if fixed is None else fixed

    @property
    def is_aligned(self) -> bool:
        """Whether the memory starts where the code relies on it to."""
        array = self.view
        if array is None or self.argument.tensor_map is not None or 0 in array.shape:
            return True
        return (array.address - self.lead * array.itemsize) % self.argument.alignment == 0


def convert(
    kernel: str, arguments: Sequence[Argument], values: Sequence[Any], stream: int | None = None
) -> list[Value]:
    """Check `values` against the arguments of `kernel`.

    `stream` is the handle of the stream that is going to use them; None is the host. Raises a kind
    of ArgumentError for the first that does not fit.
    """
    if len(values) != len(arguments):
        raise CountError(
            f"error: {kernel}() takes {len(arguments)} arguments "
            f"({', '.join(argument.type for argument in arguments)}) but {len(values)} were given"
        )
    return [
        _convert(argument, value, index, stream)
        for index, (argument, value) in enumerate(zip(arguments, values, strict=True))
    ]


def _convert(argument: Argument, value: Any, index: int, stream: int | None) -> Value:
    if argument.tensor_map is not None:
        return _convert_tensor(argument, argument.tensor_map, value, index, stream)
    if argument.is_memref:
        return convert_array(argument, value, index, stream)
    if argument.is_pointer:
        return _convert_pointee(argument, value, index, stream)
    if argument.is_structure:
        return _convert_structure(argument, value, index)
    return _convert_number(argument, value, index)


# --- what arguments have to do with each other ----------------------------------------------------


def find_device(values: Sequence[Value]) -> int:
    """Return the device that all arrays are on; the host if there are none.

    Raises DeviceError if they are on several.
    """
    device, first = HOST, -1
    for index, value in enumerate(values):
        if value.view is None:
            continue
        if first < 0:
            device, first = value.view.device, index
        elif value.view.device != device:
            raise DeviceError(
                f"error: argument {index} is on {name_device(value.view.device)}, but argument "
                f"{first} is on {name_device(device)}",
                index,
            )
    return device


def name_device(device: int) -> str:
    """Return what messages call a device."""
    if device == HOST:
        return "the host"
    return f"GPU {device}" if device >= 0 else "a GPU"


def check_access(name: str, values: Sequence[Value], written: Sequence[bool]) -> None:
    """Refuse arrays that `name` writes to and that must not be written. Raises AccessError."""
    for index, (value, is_written) in enumerate(zip(values, written, strict=True)):
        if is_written and value.view is not None and value.view.read_only:
            raise AccessError(
                f"error: argument {index} is written by {name}(), but it {value.view.read_only}",
                index,
            )


def check_distinct(values: Sequence[Value], written: Sequence[bool] | None = None) -> None:
    """Refuse arrays that share memory, for a program that was compiled for others.

    What is one value of the program is known to be. So are the tensor maps of an array. With
    `written`, arrays that are only read may be the same.
    """
    arrays = [
        (i, v.view)
        for i, v in enumerate(values)
        if v.view is not None and v.argument.tensor_map is None
    ]
    for place, (index, array) in enumerate(arrays):
        for other, partner in arrays[:place]:
            if written and not written[index] and not written[other]:
                continue
            if array.overlaps(partner):
                message = (
                    f"error: argument {index} overlaps argument {other}, and the program was "
                    "compiled for arguments that do not: pass a copy, or compile it with a "
                    "schedule of your own, without assume-distinct-arguments, and the memory "
                    "option assume-distinct-arguments=false"
                )
                raise LayoutError(message, index)


def describe_misaligned(value: Value, index: int) -> str:
    """Return how a message on an array that does not start where it has to begins."""
    return (
        f"error: argument {index} starts at an address that is no multiple of "
        f"{value.argument.alignment} bytes"
    )


# --- numbers --------------------------------------------------------------------------------------


def _convert_number(argument: Argument, value: Any, index: int) -> Value:
    name = argument.element_type
    if not has_numbers(name):
        message = f"error: argument {index} is of type {name}, {_explain_missing(name)}"
        raise KindError(message, index)
    if _has_elements(value):
        what = "an array" if hasattr(value, "dtype") else describe_value(value)
        message = f"error: argument {index} must be a number ({name}), not {what}"
        raise KindError(message, index)
    return Value(argument, None, pack_value(name, value, index), given=value)


def pack_value(element_type: str, value: Any, index: int) -> bytes:
    """Return the bytes of a number that argument number `index` is. Raises KindError."""
    data = pack_number(element_type, value)
    if data is None:
        message = (
            f"error: argument {index} is {describe_value(value)}, which does not fit "
            f"{element_type} ({describe_numbers(element_type)})"
        )
        raise KindError(message, index)
    return data


def _explain_missing(element_type: str) -> str:
    if element_type in DTYPES:
        return "whose numbers need the package ml_dtypes: install it"
    return (
        "which cannot be given: let the kernel take memrefs, index, floats, or integers of 8, 16, "
        "32 or 64 bits"
    )


def _has_elements(value: Any) -> bool:
    try:
        rank = getattr(value, "ndim", None)
        if rank is not None:
            return bool(rank > 0)
        return isinstance(value, Sequence) and not isinstance(value, (str, bytes))
    except Exception:  # of somebody else's attributes
        return True


# --- arrays ---------------------------------------------------------------------------------------


def _convert_tensor(
    argument: Argument, tensor_map: TensorMap, value: Any, index: int, stream: int | None
) -> Value:
    """Return an array that the launch makes a tensor map of: the map shows it where it is."""
    array = view(value, index, stream)
    _check_dtype(tensor_map.element_type, array, index)
    # Those on the host are copied to where a map of them can be made.
    check_layout(tensor_layout(array), tensor_map, f"argument {index}", index)
    return Value(argument, array, given=value)


def tensor_layout(array: ArrayView) -> TensorLayout:
    """Return where an array lies."""
    size = array.itemsize
    strides = tuple(stride * size for stride in array.strides)
    return TensorLayout.of_array(array.address, array.shape, strides, size)


def convert_array(argument: Argument, value: Any, index: int, stream: int | None = None) -> Value:
    """Check an array against argument number `index`. Raises a kind of ArgumentError."""
    array = view(value, index, stream)
    if vector := _VECTOR.fullmatch(argument.element_type):
        _check_dtype(vector["element"], array, index)
        array = _join_vectors(array, vector["extents"], argument, index)
    else:
        _check_dtype(argument.element_type, array, index)
    _check_shape(argument, array, index)
    _check_strides(argument, array, index)
    return Value(argument, array, given=value)


def _convert_pointee(argument: Argument, value: Any, index: int, stream: int | None) -> Value:
    """Return the array that a pointer points to: its elements follow each other."""
    array = view(value, index, stream)
    if not array.is_contiguous:
        message = f"error: argument {index} is not contiguous, and the kernel takes a pointer: "
        raise LayoutError(f"{message}pass a contiguous copy", index)
    element = argument._replace(element_type=name_element(array.dtype))
    return Value(element, array, given=value)


def _convert_structure(argument: Argument, value: Any, index: int) -> Value:
    """Return the bytes of what is passed by value. Raises KindError."""
    size = argument.structure_bytes
    if size is None:
        message = (
            f"error: argument {index} is passed by value as {argument.type}, with a pointer in it, "
            "and an array cannot be given inside of a structure: let the kernel take the pointer "
            "as an argument of its own"
        )
        raise KindError(message, index)
    try:
        data = bytes(value) if isinstance(value, (bytes, bytearray)) else value.tobytes()
    except AttributeError:
        data = None
    if data is None or len(data) != size:
        given = describe_value(value) if data is None else f"{len(data)} bytes"
        message = (
            f"error: argument {index} is passed by value as {argument.type}, which has {size} "
            f"bytes, but {given} is given: pass bytes, or an array or a record of NumPy of as many"
        )
        raise KindError(message, index)
    return Value(argument, None, data, given=value)


def check_operand(value: Value, index: int) -> None:
    """Check memory that the host hands to a kernel as argument number `index`.

    Raises a kind of ArgumentError.
    """
    array = value.view
    assert array is not None
    _check_shape(value.argument, array, index)
    _check_strides(value.argument, array, index)
    if not value.is_aligned:
        message = (
            f"error: argument {index} is of memory that starts at an address that is no multiple "
            f"of {value.argument.alignment} bytes"
        )
        raise LayoutError(message, index)


def _check_dtype(element_type: str, array: ArrayView, index: int) -> None:
    if array.dtype in DTYPES.get(element_type, ()):
        return
    message = (
        f"error: argument {index} has elements of type {array.dtype}, but the kernel takes "
        f"{element_type}"
    )
    raise DTypeError(message, index)


def _join_vectors(array: ArrayView, text: str, argument: Argument, index: int) -> ArrayView:
    """Return a view whose elements are vectors; those are the last dimensions of `array`."""
    extents = tuple(int(extent) for extent in text.rstrip("x").split("x"))
    rank, shape = len(extents), array.shape
    if shape[max(0, len(shape) - rank) :] != extents:
        message = (
            f"error: argument {index} has shape {shape}, but the last dimensions must be "
            f"{extents}, those of {argument.element_type}"
        )
        raise ShapeError(message, index)
    if rank != 1:
        raise KindError(f"error: argument {index} has elements of {argument.element_type}", index)
    (extent,) = extents
    strides = array.strides
    if array.size and extent > 1 and strides[-1] != 1:
        message = f"error: argument {index} has vectors that are not contiguous: pass a copy"
        raise LayoutError(message, index)
    if array.size and any(stride % extent for stride in strides[:-1]):
        message = f"error: argument {index} has strides that are no whole elements: pass a copy"
        raise LayoutError(message, index)
    return array._replace(
        shape=shape[:-1],
        strides=tuple(stride // extent for stride in strides[:-1]),
        itemsize=array.itemsize * extent,
    )


def _check_shape(argument: Argument, array: ArrayView, index: int) -> None:
    rank = len(argument.shape)
    if len(array.shape) != rank:
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


def _check_strides(argument: Argument, array: ArrayView, index: int) -> None:
    shape, strides = array.shape, array.strides
    if 0 in shape:
        return
    reach = sum(abs(stride) * extent for stride, extent in zip(strides, shape, strict=True))
    if (reach * array.itemsize) >> 47:
        message = f"error: argument {index} reaches over more bytes than a process has"
        raise LayoutError(message, index)
    wanted = _expected_strides(argument, shape)
    if len(wanted) != len(shape):
        raise KindError(
            f"error: argument {index} is of {argument.type}, which has no strides", index
        )
    for dim, (stride, must) in enumerate(zip(strides, wanted, strict=True)):
        if must is not None and stride != must and shape[dim] > 1:
            remedy = "a view with those of its type" if array.is_contiguous else "a contiguous copy"
            message = (
                f"error: argument {index} has strides {strides} in elements, but dimension {dim} "
                f"must have {must}: pass {remedy}"
            )
            raise LayoutError(message, index)


def _expected_strides(argument: Argument, shape: tuple[int, ...]) -> Sequence[int | None]:
    """Return the strides that the type fixes; of a row-major memref they follow from `shape`."""
    if "strided<" in argument.type or "affine_map" in argument.type:
        return argument.strides
    return row_major(shape)


# --- parameters of the PTX ------------------------------------------------------------------------


def evaluate(kernel: Signature, values: Sequence[Value]) -> list[tuple[Part, int | bytes]]:
    """Return the value of each parameter of the PTX: a number of elements, or a number's bytes.

    That of a pointer counts the bytes from the array to where its memory starts. Raises ShapeError
    if parts that are one parameter differ.
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
    array = value.view
    if array is None:
        return value.bytes
    if part.kind == "extent":
        return array.shape[part.dim]
    if part.kind == "stride":
        return array.strides[part.dim]
    if part.kind == "tensormap":
        return 0
    return value.lead if part.kind == "offset" else -value.lead * array.itemsize
