"""A cuTensorMapEncodeTiled that refuses what CUDA documents to be refused, and maps to look into.

NVIDIA's maps are opaque; these hold what they were made from.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gpu_tensor_maps
from gpu_driver import DriverError

CUDA_ERROR_INVALID_VALUE = 1

# By CUDA's numbers. The packed types of 4 and 6 bits, which have more, are left out.
ELEMENT_BYTES = (1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4)
FLOATS = (6, 7, 8, 9, 10, 11, 12)
SWIZZLE_BYTES = (0, 32, 64, 128)
INTERLEAVE_32B = 2

_LAYOUT = struct.Struct("<8s Q 6B 5Q 4Q 5H 5B")
_MAGIC = b"FAKE MAP"


@dataclass(frozen=True)
class FakeMap:
    """What a map was made from, in CUDA's numbers; dimensions from the innermost."""

    address: int
    dtype: int
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    element_strides: tuple[int, ...]
    interleave: int
    swizzle: int
    l2: int
    oob: int

    @property
    def element_bytes(self) -> int:
        """The size of an element."""
        return ELEMENT_BYTES[self.dtype]

    def pack(self) -> bytes:
        """Return the 128 bytes of this map."""
        rank = len(self.dims)
        words = (self.dtype, rank, self.interleave, self.swizzle, self.l2, self.oob)
        sizes = [
            size
            for sizes, count in (
                (self.dims, 5),
                (self.strides, 4),
                (self.box, 5),
                (self.element_strides, 5),
            )
            for size in (*sizes, *(0,) * (count - len(sizes)))
        ]
        data = _LAYOUT.pack(_MAGIC, self.address, *words, *sizes)
        return data.ljust(gpu_tensor_maps.MAP_BYTES, b"\0")

    @classmethod
    def unpack(cls, data: bytes) -> FakeMap:
        """Return what a map was made from."""
        assert len(data) == gpu_tensor_maps.MAP_BYTES
        magic, address, dtype, rank, interleave, swizzle, l2, oob, *sizes = _LAYOUT.unpack_from(
            data
        )
        assert magic == _MAGIC, "not a tensor map"
        return cls(
            address,
            dtype,
            tuple(sizes[:rank]),
            tuple(sizes[5 : 5 + rank - 1]),
            tuple(sizes[9 : 9 + rank]),
            tuple(sizes[14 : 14 + rank]),
            interleave,
            swizzle,
            l2,
            oob,
        )

    def find_problems(self) -> Iterator[str]:
        """Tell which of the documented requirements this does not keep to."""
        is_wide = self.interleave == INTERLEAVE_32B
        alignment = 32 if is_wide else 16
        if not self.address or self.address % alignment:
            yield f"globalAddress {self.address:#x}, no multiple of {alignment}"
        if any(not 1 <= extent <= 1 << 32 for extent in self.dims):
            yield f"globalDim {self.dims}"
        if any(stride % alignment or stride >= 1 << 40 for stride in self.strides):
            yield f"globalStrides {self.strides}"
        if any(not 1 <= extent <= 256 for extent in self.box):
            yield f"boxDim {self.box}"
        if any(not 1 <= step <= 8 for step in self.element_strides):
            yield f"elementStrides {self.element_strides}"
        yield from self._find_row_problems()
        if is_wide and SWIZZLE_BYTES[self.swizzle] != 32:
            yield "interleave 32B without swizzle 32B"
        if self.oob and self.dtype not in FLOATS:
            yield f"oobFill NaN of tensorDataType {self.dtype}"

    def _find_row_problems(self) -> Iterator[str]:
        row, span = self.box[0] * self.element_bytes, SWIZZLE_BYTES[self.swizzle]
        if self.interleave:
            if len(self.dims) < 3:
                yield f"interleave with tensorRank {len(self.dims)}"
            return
        if row % 16:
            yield f"a row of {row} bytes in the box, no multiple of 16"
        if span and row > span:
            yield f"a row of {row} bytes in the box, more than the swizzle's {span}"


def find_word_problems(rank: int, words: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    """Tell which numbers are out of range: `words` has numbers and how many there are."""
    if not 1 <= rank <= 5:
        yield f"tensorRank {rank}"
    for name, (word, count) in words.items():
        if not 0 <= word < count:
            yield f"{name} {word}"


class FakeLibrary:
    """A library of the driver that has nothing but `cuTensorMapEncodeTiled`.

    `problems` is why the last call failed.
    """

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.cuTensorMapEncodeTiled = gpu_tensor_maps.PROTOTYPE(self._encode)

    def encode(self, tensor_map: Mapping[str, Any], address: int) -> bytes:
        """Make a map as `Cuda` does. Raises DriverError with the reason."""
        status, data = gpu_tensor_maps.encode(self.cuTensorMapEncodeTiled, tensor_map, address)
        if status:
            raise DriverError(f"cuTensorMapEncodeTiled: {'; '.join(self.problems)}")
        return data

    def _encode(
        self,
        result: int | None,
        dtype: int,
        rank: int,
        address: int | None,
        dims: Sequence[int],
        strides: Sequence[int],
        box: Sequence[int],
        element_strides: Sequence[int],
        interleave: int,
        swizzle: int,
        l2: int,
        oob: int,
    ) -> int:
        words = {
            "tensorDataType": (dtype, len(ELEMENT_BYTES)),
            "interleave": (interleave, 3),
            "swizzle": (swizzle, len(SWIZZLE_BYTES)),
            "l2Promotion": (l2, 4),
            "oobFill": (oob, 2),
        }
        self.problems = list(find_word_problems(rank, words))
        if result is None or result % 64:
            self.problems.append("tensorMap, which 64 does not divide")
        if not all((dims, strides, box, element_strides)):
            self.problems.append("an array that is null")
        if result is None or self.problems:
            return CUDA_ERROR_INVALID_VALUE
        numbers = (tuple(dims[:rank]), tuple(strides[: rank - 1]), tuple(box[:rank]))
        steps = tuple(element_strides[:rank])
        made = FakeMap(address or 0, dtype, *numbers, steps, interleave, swizzle, l2, oob)
        self.problems = list(made.find_problems())
        if self.problems:
            return CUDA_ERROR_INVALID_VALUE
        ctypes.memmove(result, made.pack(), gpu_tensor_maps.MAP_BYTES)
        return 0
