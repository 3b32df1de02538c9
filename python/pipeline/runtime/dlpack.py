"""Reading what ``__dlpack__`` exports: the structures of DLPack, without a library for them."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

_VERSION = (1, 1)
"""The newest version that is understood; older ones are asked for as producers have them."""

_READ_ONLY = 1

# The names of types by their code and bits.
_NAMES = {
    **{(0, bits): f"int{bits}" for bits in (8, 16, 32, 64)},
    **{(1, bits): f"uint{bits}" for bits in (8, 16, 32, 64)},
    **{(2, bits): f"float{bits}" for bits in (16, 32, 64)},
    (4, 16): "bfloat16",
    (5, 64): "complex64",
    (5, 128): "complex128",
    (6, 8): "bool",
    (7, 8): "float8_e3m4",
    (8, 8): "float8_e4m3",
    (9, 8): "float8_e4m3b11fnuz",
    (10, 8): "float8_e4m3fn",
    (11, 8): "float8_e4m3fnuz",
    (12, 8): "float8_e5m2",
    (13, 8): "float8_e5m2fnuz",
}


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


_CAPSULE = (ctypes.py_object, ctypes.c_char_p)
_is_capsule = ctypes.PYFUNCTYPE(ctypes.c_int, *_CAPSULE)(("PyCapsule_IsValid", ctypes.pythonapi))
_get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, *_CAPSULE)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


class Export(NamedTuple):
    """What a producer tells of an array; strides count elements, and None is row-major.

    ``capsule`` keeps the export alive: it stays unused, so that its destructor ends the export.
    ``dtype`` is empty for types without a name, which ``code`` describes.
    """

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    dtype: str
    itemsize: int
    is_read_only: bool
    code: str
    capsule: Any


def export(value: Any, stream: int | None) -> Export:
    """Have an array exported, for work on `stream` if it is device memory.

    Raises whatever its library does, and BufferError for an export that is not understood.
    """
    options: dict[str, Any] = {}
    if stream is not None:
        options["stream"] = stream or 1  # 0 is forbidden: 1 is the default stream
    try:
        capsule = value.__dlpack__(max_version=_VERSION, **options)
    except TypeError:  # a producer older than version 1.0
        capsule = value.__dlpack__(**options)
    return _read(capsule)


def _read(capsule: Any) -> Export:
    if _is_capsule(capsule, b"dltensor_versioned"):
        managed = _Versioned.from_address(_get_pointer(capsule, b"dltensor_versioned"))
        if managed.major != _VERSION[0]:
            version = f"{managed.major}.{managed.minor}"
            raise BufferError(f"it is exported as DLPack {version}, but 0 and 1 are understood")
        return _describe(managed.tensor, bool(managed.flags & _READ_ONLY), capsule)
    if not _is_capsule(capsule, b"dltensor"):
        raise BufferError("__dlpack__ returns no capsule of DLPack")
    tensor = _Tensor.from_address(_get_pointer(capsule, b"dltensor"))
    # Nothing says that it may be written.
    return _describe(tensor, True, capsule)


def _describe(tensor: _Tensor, is_read_only: bool, capsule: Any) -> Export:
    rank = range(tensor.ndim)
    name = _NAMES.get((tensor.code, tensor.bits), "") if tensor.lanes == 1 else ""
    return Export(
        (tensor.data or 0) + tensor.byte_offset,
        tuple(tensor.shape[dim] for dim in rank),
        tuple(tensor.strides[dim] for dim in rank) if tensor.strides else None,
        name,
        (tensor.bits * tensor.lanes + 7) // 8,
        is_read_only,
        f"code {tensor.code}, {tensor.bits} bits, {tensor.lanes} lanes",
        capsule,
    )
