"""Numbers of Python and NumPy: which of them a type of MLIR holds, and the bytes they become."""

from __future__ import annotations

import importlib
import operator
import re
import reprlib
import struct
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

# Names of NumPy's and ml_dtypes' types that hold the bits of MLIR's; without ml_dtypes, narrow
# floats go as unsigned integers of their bits.
DTYPES = {
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
    "si8": ("int8",),
    "si16": ("int16",),
    "si32": ("int32",),
    "si64": ("int64",),
    "ui8": ("uint8",),
    "ui16": ("uint16",),
    "ui32": ("uint32",),
    "ui64": ("uint64",),
    "index": ("int64", "uint64"),
    "complex<f32>": ("complex64",),
    "complex<f64>": ("complex128",),
    "f8E3M4": ("float8_e3m4", "uint8"),
    "f8E4M3": ("float8_e4m3", "uint8"),
    "f8E4M3FN": ("float8_e4m3fn", "uint8"),
    "f8E4M3FNUZ": ("float8_e4m3fnuz", "uint8"),
    "f8E4M3B11FNUZ": ("float8_e4m3b11fnuz", "uint8"),
    "f8E5M2": ("float8_e5m2", "uint8"),
    "f8E5M2FNUZ": ("float8_e5m2fnuz", "uint8"),
}

_FLOAT_BITS = re.compile(r"(?:f|bf|tf)(?P<bits>\d+)")
_INTEGER = re.compile(r"(?P<sign>[su]?)i(?P<bits>\d+)")


# The bytes of floats that struct packs as NumPy rounds them: to nearest, ties to even.
_PACKED_FLOATS = {"f16": "<e", "f32": "<f", "f64": "<d"}

_GREATEST = {"f16": 65504.0, "f32": float.fromhex("0x1.fffffep+127"), "f64": sys.float_info.max}


def numpy_dtype(element_type: str) -> np.dtype[Any] | None:
    """Return the type of NumPy, or of ml_dtypes if that is there, for an element; else None."""
    import numpy as np

    for name in DTYPES.get(element_type, ())[:1]:
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


def name_element(dtype: str) -> str:
    """Return MLIR's name for a type of NumPy or ml_dtypes; ``?`` if it has none."""
    return next((name for name, dtypes in DTYPES.items() if dtypes and dtypes[0] == dtype), "?")


def element_bytes(element_type: str) -> int | None:
    """Return the bytes of an element in memory; None of types whose elements have no such size."""
    if element_type == "index":
        return 8
    if element_type.startswith("complex<"):
        part = element_bytes(element_type[len("complex<") : -1])
        return part and 2 * part
    match = _INTEGER.fullmatch(element_type) or _FLOAT_BITS.match(element_type)
    if match is None or len(match["bits"]) > 2:
        return None
    return (int(match["bits"]) + 7) // 8


def read_integer(value: Any) -> int | None:
    """Return an integer of Python or NumPy; None for anything else, truth values included."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def has_numbers(element_type: str) -> bool:
    """Return whether numbers of a type can be packed."""
    return (
        integer_limits(element_type) is not None
        or element_type in _PACKED_FLOATS
        or numpy_dtype(element_type) is not None
    )


def pack_number(element_type: str, value: Any) -> bytes | None:
    """Return the bytes of a number, or None if the type does not hold it.

    Integers are taken as they are, floats rounded to the nearest.
    """
    if (integer := integer_limits(element_type)) is not None:
        bits, least, greatest = integer
        number = _read_integer_or_truth(value)
        if number is None or not least <= number <= greatest:
            return None
        return (number % (1 << bits)).to_bytes((bits + 7) // 8, "little")
    if element_type in _PACKED_FLOATS and type(value) in (int, float, bool):
        try:
            return struct.pack(_PACKED_FLOATS[element_type], value)
        except (OverflowError, struct.error):
            return None
    dtype = numpy_dtype(element_type)
    assert dtype is not None
    return _pack_float(dtype, value)


def describe_numbers(element_type: str) -> str:
    """Return which numbers a type holds."""
    if (integer := integer_limits(element_type)) is not None:
        return f"whole numbers from {integer[1]} to {integer[2]}"
    return f"numbers of at most {_greatest_float(element_type):.8g} in size"


def describe_value(value: Any) -> str:
    """Return what a message shows of a value, in one line of sensible length."""
    short = reprlib.Repr()
    short.maxother = short.maxstring = short.maxlong = 80
    try:
        return " ".join(short.repr(value).split())
    except Exception:  # of somebody else's __repr__, or of an integer of thousands of digits
        return f"a value of type {type(value).__name__}"


def packed_float(element_type: str) -> str | None:
    """Return how struct packs floats of a type; None of types that it does not know."""
    return _PACKED_FLOATS.get(element_type)


def integer_limits(element_type: str) -> tuple[int, int, int] | None:
    """Return bits, least and greatest number of an integer type, None of others.

    Integers without a sign are bits, which are taken as a number of either signedness.
    """
    match = _INTEGER.fullmatch("i64" if element_type == "index" else element_type)
    if match is None or element_type not in DTYPES:
        return None
    bits, sign = int(match["bits"]), match["sign"]
    least = 0 if sign == "u" else -(1 << (bits - 1))
    greatest = (1 << (bits - 1 if sign == "s" else bits)) - 1
    return bits, least, greatest


def _read_integer_or_truth(value: Any) -> int | None:
    if isinstance(value, bool):
        return int(value)
    # NumPy's truth values, and arrays of one.
    if getattr(getattr(value, "dtype", None), "kind", "") == "b":
        return int(value)
    return read_integer(value)


def _pack_float(dtype: np.dtype[Any], value: Any) -> bytes | None:
    import numpy as np

    try:
        # NumPy has no integers beyond 64 bits.
        array = np.asarray(float(value) if isinstance(value, int) else value)
        with np.errstate(all="ignore"):
            number = array.astype(dtype, casting="same_kind")
            # Not all narrow types have infinities; what they make of them is NaN.
            is_kept = np.isnan(number) == np.isnan(array) and np.isinf(number) == np.isinf(array)
    except (TypeError, ValueError, OverflowError):
        return None
    return number.tobytes() if is_kept else None


def _greatest_float(element_type: str) -> float:
    if element_type in _GREATEST:
        return _GREATEST[element_type]
    import numpy as np

    dtype = numpy_dtype(element_type)
    assert dtype is not None
    if dtype.isbuiltin == 1:
        return float(np.finfo(dtype).max)
    return float(importlib.import_module("ml_dtypes").finfo(dtype).max)
