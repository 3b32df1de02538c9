"""Tensor maps for the emulator: what `cuTensorMapEncodeTiled` makes, and what it refuses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import LayoutError

if TYPE_CHECKING:
    from .. import _native
    from ..records.signature import TensorMap

_MAX_RANK = 5
_MAX_EXTENT = 2**32
_MAX_STRIDE = 2**40
_MAX_BOX = 256
_CHUNK = 16
ADDRESS_ALIGNMENT = _CHUNK
"""What the address of a tensor has to be a multiple of, in bytes."""
_SPANS = {"none": 0, "swizzle_32b": 32, "swizzle_64b": 64, "swizzle_128b": 128}


@dataclass(frozen=True, slots=True)
class TensorLayout:
    """Where a tensor lies in global memory: dimensions from the innermost.

    ``strides`` are those of all dimensions, in bytes; ``address`` is that of element zero.
    """

    address: int
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    element_bytes: int

    @classmethod
    def of_array(
        cls, address: int, shape: Sequence[int], strides: Sequence[int], element_bytes: int
    ) -> TensorLayout:
        """Return the layout of an array, whose last dimension is the innermost."""
        return cls(address, tuple(shape[::-1]), tuple(strides[::-1]), element_bytes)


@dataclass(frozen=True, slots=True)
class TensorMapRequest:
    """What ``cuTensorMapEncodeTiled`` takes besides an address: dimensions from the innermost.

    ``strides`` are those of all dimensions but the innermost, in bytes; the words are those of
    ``TensorMap``, and ``dtype`` is MLIR's element type.
    """

    dtype: str
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    element_strides: tuple[int, ...]
    swizzle: str
    interleave: str
    l2: str
    oob: str


def make_request(layout: TensorLayout, tensor_map: TensorMap, name: str) -> TensorMapRequest:
    """Return how the map of a tensor is made.

    `name` is what messages call it. Raises LayoutError for what CUDA refuses to make a map of.
    """
    check_layout(layout, tensor_map, name)
    return TensorMapRequest(
        dtype=tensor_map.element_type,
        dims=layout.dims,
        strides=layout.strides[1:],
        box=tensor_map.box,
        element_strides=(1,) * len(layout.dims),
        swizzle=tensor_map.swizzle,
        interleave=tensor_map.interleave,
        l2=tensor_map.l2promo,
        oob=tensor_map.oob,
    )


def make_view(
    request: TensorMapRequest, element_bytes: int, buffer: int, offset: int
) -> _native.TensorMapView:
    """Return the map of a tensor that is `offset` bytes into buffer number `buffer` of a launch."""
    from .. import _native

    view = _native.TensorMapView()
    view.buffer = buffer
    view.offset = offset
    view.dims = list(request.dims)
    view.strides = list(request.strides)
    view.box = list(request.box)
    view.element_strides = list(request.element_strides)
    view.element_bytes = element_bytes
    view.swizzle = _native.TensorSwizzle[_member(request.swizzle)]
    view.interleave = _native.TensorInterleave[_member(request.interleave)]
    view.oob_fill = _native.TensorFill[_member(request.oob)]
    return view


def _member(word: str) -> str:
    """Return the name of an enumerator for MLIR's word: BYTES_32 for swizzle_32b."""
    kind, _, size = word.rpartition("_")
    return f"BYTES_{size.removesuffix('b')}" if kind else word.upper()


def check_layout(
    layout: TensorLayout, tensor_map: TensorMap, name: str, index: int | None = None
) -> None:
    """Raise LayoutError for a tensor that CUDA would not make this map of, with its rule.

    `index` is the number of the argument that it is, if it is one.
    """
    for problem in _find_problems(layout, tensor_map):
        raise LayoutError(f"error: {name} cannot become a tensor map: {problem}", index)


def _find_problems(layout: TensorLayout, tensor_map: TensorMap) -> list[str]:
    rank = len(layout.dims)
    if not 1 <= rank <= _MAX_RANK:
        return [f"it has {rank} dimensions, but must have 1 to {_MAX_RANK}"]
    if len(tensor_map.box) != rank:
        box = "x".join(map(str, tensor_map.box[::-1]))
        return [f"it has {rank} dimensions, but the box of the kernel is {box}"]
    return [
        *_find_extent_problems(layout),
        *_find_address_problems(layout),
        *_find_stride_problems(layout),
        *_find_box_problems(layout, tensor_map),
    ]


def _find_address_problems(layout: TensorLayout) -> list[str]:
    if layout.address % _CHUNK == 0:
        return []
    return [f"its address is no multiple of {_CHUNK} bytes"]


def _find_extent_problems(layout: TensorLayout) -> list[str]:
    return [
        f"dimension {len(layout.dims) - 1 - number} has {extent} elements, but must have 1 to 2^32"
        for number, extent in enumerate(layout.dims)
        if not 1 <= extent <= _MAX_EXTENT
    ]


def _find_stride_problems(layout: TensorLayout) -> list[str]:
    problems = []
    for number, (extent, stride) in enumerate(zip(layout.dims, layout.strides, strict=True)):
        dim = len(layout.dims) - 1 - number
        if number == 0 and stride != layout.element_bytes and extent > 1:
            problems.append(
                f"the elements of dimension {dim}, the innermost, are {stride} bytes apart, but "
                f"must follow one another ({layout.element_bytes} bytes)"
            )
        if number > 0 and (stride % _CHUNK or not 0 <= stride < _MAX_STRIDE):
            problems.append(
                f"the stride of dimension {dim} is {stride} bytes, but must be a multiple of "
                f"{_CHUNK} and below 2^40"
            )
    return problems


def _find_box_problems(layout: TensorLayout, tensor_map: TensorMap) -> list[str]:
    problems = [
        f"the box has {extent} elements along dimension {len(layout.dims) - 1 - number}, but must "
        f"have 1 to {_MAX_BOX}"
        for number, extent in enumerate(tensor_map.box)
        if not 1 <= extent <= _MAX_BOX
    ]
    row = tensor_map.box[0] * layout.element_bytes
    if tensor_map.interleave != "none":
        problems.append(f"interleave is {tensor_map.interleave}, which the emulator does not know")
    elif row % _CHUNK:
        problems.append(f"a row of the box has {row} bytes, but must have a multiple of {_CHUNK}")
    span = _SPANS[tensor_map.swizzle]
    if span and row > span:
        problems.append(
            f"a row of the box has {row} bytes, but {tensor_map.swizzle} takes {span} at most"
        )
    return problems


__all__ = [
    "ADDRESS_ALIGNMENT",
    "TensorLayout",
    "TensorMapRequest",
    "check_layout",
    "make_request",
    "make_view",
]
