"""Arrays of a packed case: where they lie in a GPU's memory, and what was to become of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

GUARD_BYTES = 256
GUARD = 0xA5
"""What lies around an array, and between its elements."""

Array = npt.NDArray[Any]
Bytes = npt.NDArray[np.uint8]
Json = dict[str, Any]


class PackError(Exception):
    """A pack that cannot be made or does not hold what it says."""


# --- memory ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Buffer:
    """An array of a case: its memory from the first byte to the last, before and after the launch.

    `record` is that of `suite.json`.
    """

    record: Json
    before: Bytes
    after: Bytes

    def elements(self, memory: Bytes) -> Array:
        """Return a view of the array's elements in `memory`."""
        record = self.record
        strides = None if record["strides"] is None else tuple(record["strides"])
        dtype, shape = np.dtype(record["dtype"]), tuple(record["shape"])
        return np.ndarray(shape, dtype, memory, record["start"], strides)

    def lead(self, is_generous: bool) -> int:
        """Return how far behind an address that 256 divides the array is to start.

        Its first element is then aligned as the kernel relies on, and no better unless generous.
        """
        alignment = 0 if is_generous else self.record["alignment"]
        return GUARD_BYTES + int(alignment - self.record["start"]) % 256


def read_buffer(folder: Path, record: Json) -> Buffer:
    """Read an array. Raises PackError."""
    before = _read_bytes(folder / record["file"])
    after = _read_bytes(folder / record["expected"]) if record["written"] else before
    buffer = Buffer(record, before, after)
    try:
        if before.size != after.size:
            raise ValueError(f"{before.size} bytes before, {after.size} after")
        buffer.elements(before)
    except (TypeError, ValueError) as error:
        raise PackError(f"{record['file']} is not as suite.json says: {error}") from error
    return buffer


def _read_bytes(file: Path) -> Bytes:
    try:
        array = np.load(file, allow_pickle=False)
        return np.array(array, order="C").reshape(-1).view(np.uint8)
    except (OSError, ValueError, EOFError) as error:
        raise PackError(f"{file.name} cannot be read: {error}") from error


def surround(span: Bytes, lead: int) -> Bytes:
    """Return memory with an array at `lead` and guards on both sides."""
    memory = np.full(lead + span.size + GUARD_BYTES, GUARD, np.uint8)
    memory[lead : lead + span.size] = span
    return memory


def bind(
    parameters: Sequence[Json], addresses: Sequence[int], encode: Callable[[Json, int], bytes]
) -> list[bytes]:
    """Return the bytes of each parameter, for arrays that start at `addresses`.

    `encode` makes a tensor map of the tensor at an address.
    """
    return [_bind(parameter, addresses, encode) for parameter in parameters]


def _bind(parameter: Json, addresses: Sequence[int], encode: Callable[[Json, int], bytes]) -> bytes:
    if parameter["kind"] == "bytes":
        return bytes.fromhex(parameter["hex"])
    address = int(addresses[parameter["buffer"]] + parameter["offset"])
    if parameter["kind"] == "tensormap":
        return encode(parameter, address)
    return address.to_bytes(8, "little")


# --- comparing ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Difference:
    """The largest difference, relative to numbers above 1, and words for it unless all is well."""

    largest: float
    text: str = ""


def inspect(memory: Bytes, buffer: Buffer, lead: int) -> Difference:
    """Compare what a launch made of an array, and of what lies around it, with what it should."""
    record = buffer.record
    span = memory[lead : lead + buffer.after.size]
    elements = buffer.elements(span), buffer.elements(buffer.after)
    difference = compare(*elements, record["tolerance"], record["element"])
    texts = [text for text in (difference.text, find_strays(memory, buffer, lead)) if text]
    text = f"argument {record['argument']}: {'; '.join(texts)}" if texts else ""
    return Difference(difference.largest, text)


def compare(actual: Array, expected: Array, tolerance: float, element: str) -> Difference:
    """Compare elements of an MLIR type; NaN is equal to NaN."""
    found, wanted = decode(actual, element), decode(expected, element)
    same = (found == wanted) | ((found != found) & (wanted != wanted))
    if same.all():
        return Difference(0.0)
    distances = _distances(found[~same], wanted[~same])
    largest = float(distances.max())  # NaN if one of them is
    wrong = np.argwhere(~same)[~(distances <= tolerance)]
    if not len(wrong):
        return Difference(largest)
    first = tuple(int(index) for index in wrong[0])
    text = (
        f"{len(wrong)} of {found.size} elements differ, the first at {list(first)}: "
        f"{found[first]} instead of {wanted[first]}"
    )
    return Difference(largest, text)


def _distances(found: Array, wanted: Array) -> npt.NDArray[np.float64]:
    if wanted.dtype.kind in "iub":  # a float does not hold all of 64 bits
        numbers = found.astype(object), wanted.astype(object)
        whole: Array = abs(numbers[0] - numbers[1]) / np.maximum(abs(numbers[1]), 1)
        return whole.astype(np.float64)
    kind = np.result_type(np.float64, wanted)
    with np.errstate(all="ignore"):
        sizes = abs(wanted.astype(kind))
        apart: Array = abs(found.astype(kind) - wanted.astype(kind)) / np.maximum(1.0, sizes)
    return apart


def decode(values: Array, element: str) -> Array:
    """Return numbers for the bits of an MLIR type that NumPy does not have."""
    if values.dtype.kind != "u":
        return values
    if element == "bf16":
        return (values.astype(np.uint32) << 16).view(np.float32)
    if element == "f8E5M2":
        return (values.astype(np.uint16) << 8).view(np.float16)
    if element == "f8E4M3FN":
        exponent, fraction = (values >> 3) & 15, values & 7
        normal = (8 + fraction) * 2.0 ** (exponent - 10.0)
        size = np.where(exponent == 0, fraction * 2.0**-9, normal)
        size = np.where(values & 0x7F == 0x7F, np.nan, size)
        return np.where(values & 0x80, -size, size)
    return values


def find_strays(memory: Bytes, buffer: Buffer, lead: int) -> str:
    """Tell which bytes beside the elements of an array were overwritten; nothing if none."""
    size = buffer.after.size
    patched = memory.copy()
    buffer.elements(patched[lead : lead + size])[...] = buffer.elements(buffer.after)
    places = np.flatnonzero(patched != surround(buffer.after, lead)) - lead
    sides = {
        "before it": places[places < 0],
        "between its elements": places[(places >= 0) & (places < size)],
        "behind it": places[places >= size] - size,
    }
    found = [f"{at.size} {side} (first: {at[0]:+d})" for side, at in sides.items() if at.size]
    return f"bytes overwritten: {', '.join(found)}" if found else ""
