"""Tensor maps: the 128 bytes that CUDA makes of the description of a tensor and of its copies."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]

MAP_BYTES, MAP_ALIGNMENT = 128, 64
"""The size of a CUtensorMap, and what has to divide its address."""

# The numbers of CUDA's enumerators for MLIR's words.
DATA_TYPES = {
    **dict.fromkeys(("i8", "si8", "ui8", "f8E4M3FN", "f8E5M2"), 0),
    **dict.fromkeys(("i16", "si16", "ui16"), 1),
    "ui32": 2,
    **dict.fromkeys(("i32", "si32"), 3),
    "ui64": 4,
    **dict.fromkeys(("i64", "si64", "index"), 5),
    "f16": 6,
    "f32": 7,
    "f64": 8,
    "bf16": 9,
    "tf32": 11,
}
INTERLEAVES = {"none": 0, "interleave_16b": 1, "interleave_32b": 2}
SWIZZLES = {"none": 0, "swizzle_32b": 1, "swizzle_64b": 2, "swizzle_128b": 3}
PROMOTIONS = {"none": 0, "l2promo_64b": 1, "l2promo_128b": 2, "l2promo_256b": 3}
FILLS = {"zero": 0, "nan": 1}

# CUresult cuTensorMapEncodeTiled(CUtensorMap *, CUtensorMapDataType, cuuint32_t rank,
#     void *address, const cuuint64_t *dims, const cuuint64_t *strides, const cuuint32_t *box,
#     const cuuint32_t *elementStrides, CUtensorMapInterleave, CUtensorMapSwizzle,
#     CUtensorMapL2promotion, CUtensorMapFloatOOBfill)
PROTOTYPE = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_void_p,
    ctypes.c_int,
    ctypes.c_uint32,
    ctypes.c_void_p,
    *(ctypes.POINTER(ctypes.c_uint64),) * 2,
    *(ctypes.POINTER(ctypes.c_uint32),) * 2,
    *(ctypes.c_int,) * 4,
)


def align(data: bytes) -> Bytes:
    """Return a copy at an address where a CUtensorMap may be."""
    memory = np.zeros(len(data) + MAP_ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % MAP_ALIGNMENT
    copy = memory[start : start + len(data)]
    copy[:] = np.frombuffer(data, np.uint8)
    return copy


def encode(function: Any, tensor_map: Mapping[str, Any], address: int) -> tuple[int, bytes]:
    """Call cuTensorMapEncodeTiled, and return its status and the map.

    `tensor_map` is a parameter of that kind in `suite.json`; its tensor starts at `address`.
    """
    result = align(bytes(MAP_BYTES))
    status = ctypes.cast(function, PROTOTYPE)(
        result.ctypes.data,
        DATA_TYPES[tensor_map["dtype"]],
        len(tensor_map["dims"]),
        address,
        _array(ctypes.c_uint64, tensor_map["dims"]),
        _array(ctypes.c_uint64, tensor_map["strides"]),
        _array(ctypes.c_uint32, tensor_map["box"]),
        _array(ctypes.c_uint32, tensor_map["element_strides"]),
        INTERLEAVES[tensor_map["interleave"]],
        SWIZZLES[tensor_map["swizzle"]],
        PROMOTIONS[tensor_map["l2"]],
        FILLS[tensor_map["oob"]],
    )
    return int(status), result.tobytes()


def _array(kind: type[Any], values: Sequence[int]) -> Any:
    """Return an array of C; CUDA takes an empty one for strides, but no null pointer."""
    return (kind * len(values))(*values)
