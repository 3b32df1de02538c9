"""Tensor maps as the driver makes them.

The call is made without cuda-bindings: the structure has to lie on 64 bytes, and where theirs lies
is chance (https://github.com/NVIDIA/cuda-python/pull/1692).
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from ...errors import UsageError

if TYPE_CHECKING:
    from ..tensor_maps import TensorMapRequest

TENSOR_MAP_BYTES = 128
_ALIGNMENT = 128

# Numbers of `CUtensorMapDataType`, by element types of MLIR; what only moves goes by its width.
_TYPES = {
    "i8": 0,
    "i16": 1,
    "ui32": 2,
    "i32": 3,
    "ui64": 4,
    "i64": 5,
    "f16": 6,
    "f32": 7,
    "f64": 8,
    "bf16": 9,
    "tf32": 11,
}
_INTERLEAVES = {"none": 0, "interleave_16b": 1, "interleave_32b": 2}
_SWIZZLES = {"none": 0, "swizzle_32b": 1, "swizzle_64b": 2, "swizzle_128b": 3}
_PROMOTIONS = {"none": 0, "l2promo_64b": 1, "l2promo_128b": 2, "l2promo_256b": 3}
_FILLS = {"zero": 0, "nan": 1}


def type_number(element_type: str) -> int:
    """Return the `CUtensorMapDataType` of an element type. Raises UsageError if there is none."""
    if element_type.startswith("f8"):
        return _TYPES["i8"]
    name = element_type if element_type in _TYPES else element_type.lstrip("su")
    if name not in _TYPES:
        raise UsageError(f"error: no tensor map has elements of type {element_type}")
    return _TYPES[name]


def encode(library: ctypes.CDLL, request: TensorMapRequest, address: int) -> tuple[int, bytes]:
    """Return the result of the driver and the map of a tensor that starts at an address.

    Raises UsageError for elements that tensor maps do not have.
    """
    rank = len(request.dims)
    room = ctypes.create_string_buffer(TENSOR_MAP_BYTES + _ALIGNMENT)
    start = -(-ctypes.addressof(room) // _ALIGNMENT) * _ALIGNMENT
    code = library.cuTensorMapEncodeTiled(
        ctypes.c_void_p(start),
        ctypes.c_int(type_number(request.dtype)),
        ctypes.c_uint(rank),
        ctypes.c_void_p(address),
        (ctypes.c_uint64 * rank)(*request.dims),
        (ctypes.c_uint64 * rank)(*request.strides),
        (ctypes.c_uint32 * rank)(*request.box),
        (ctypes.c_uint32 * rank)(*request.element_strides),
        ctypes.c_int(_INTERLEAVES[request.interleave]),
        ctypes.c_int(_SWIZZLES[request.swizzle]),
        ctypes.c_int(_PROMOTIONS[request.l2]),
        ctypes.c_int(_FILLS[request.oob]),
    )
    return int(code), ctypes.string_at(start, TENSOR_MAP_BYTES)
