"""Contractions on tensor cores: whether they are, how fast, and in which tiles."""

from __future__ import annotations

from typing import NamedTuple

from .candidate import Candidate
from .kernel import Op, Operand
from .target import Target

_RATES = {75: 512, 80: 1024, 86: 512, 89: 512, 90: 1270, 100: 1024, 120: 512}
"""Products of 16 bits in a cycle, by architecture from which on: those of `mma.sync`.

Source: NVIDIA, white papers of the architectures; on sm_90 62 % of what `wgmma` does.
"""

_DOUBLE_RATES = {80: 64, 90: 80, 100: 64}
"""Products of f64, by architecture; others have none that are faster than without tensor cores."""

_GROUP_SPEED = 2048 / 1270
"""How much faster than `mma.sync` warp groups of sm_90a multiply, by `wgmma`."""

_MAP_DIMENSIONS = 5
"""Those that a tensor map has at most."""

_MAP_UNIT = 16
"""Bytes of which the strides of a tensor map are multiples."""

_ROW_BYTES = 128
"""Of a tile that warp groups multiply across its rows."""

_PRODUCT_BYTES = 32
"""Of the sum, that an instruction of a warp group multiplies."""

_TINY = ("f8E4M3FN", "f8E5M2")
_HALF = ("f16", "i8", "i4", *_TINY)
"""Types of factors the values of which f16 has."""


class _Tile(NamedTuple):
    """A tile, its step along the sum in bytes, and what is as in :class:`Candidate`."""

    m: int
    n: int
    step_bytes: int
    threads: int
    registers: int
    overhead: float
    producers: int = 0

    def candidate(self, bits: int, *, is_group: bool = False) -> Candidate:
        """Return the candidate for elements of so many bits."""
        step = 8 * self.step_bytes // bits
        sizes = (self.m, self.n, step, self.threads, self.registers, self.overhead)
        return Candidate(*sizes, is_matrix=True, is_group=is_group, producers=self.producers)


# Warps have 64 x 64 sums, of small results 64 x 32 and 32 x 32. Rows of 128 bytes are read without
# bank conflicts, those of 64 leave room for a second block.
_TILES = (
    _Tile(128, 256, 128, 256, 255, 0.03),
    _Tile(256, 128, 128, 256, 255, 0.03),
    _Tile(128, 128, 128, 128, 255, 0.04),
    _Tile(128, 128, 64, 128, 255, 0.06),
    _Tile(128, 64, 128, 128, 160, 0.1),
    _Tile(64, 64, 128, 128, 104, 0.2),
)
# Of warp groups, each of which has 64 rows, with warps of their own for copies: a warp group takes
# registers of those that copy (168 for each thread fill a multiprocessor), one warp leaves them to
# further blocks. Published kernels with one group that multiplies reach nine tenths of those with
# two; 64 columns take all that workgroup memory can read.
_GROUP_TILES = (
    _Tile(128, 256, 128, 256, 168, 0.05, 128),
    _Tile(128, 128, 128, 256, 104, 0.08, 32),
    _Tile(64, 256, 128, 128, 168, 0.16, 32),
    _Tile(64, 128, 128, 128, 104, 0.2, 32),
    _Tile(64, 64, 128, 128, 72, 0.35, 32),
)
# While a block waits for the next tile, it multiplies nothing: published kernels of that kind reach
# three quarters of what those do that have a warp for copies.
_WAITING_GROUP_TILES = (
    _Tile(128, 256, 128, 256, 168, 0.35),
    _Tile(128, 128, 128, 256, 104, 0.4),
    _Tile(64, 256, 128, 128, 168, 0.4),
    _Tile(64, 128, 128, 128, 104, 0.45),
    _Tile(64, 64, 128, 128, 72, 0.6),
)
# What is copied through registers takes 16 of them.
_STAGING_TILES = (
    _Tile(128, 128, 64, 256, 200, 0.1),
    _Tile(128, 64, 64, 128, 200, 0.12),
    _Tile(64, 64, 64, 128, 128, 0.2),
)
# Bytes that neighbours along columns are sorted out of take registers, more so those of rows that
# are not made of words, which are copied one by one.
_BYTE_TILES = (
    _Tile(128, 128, 64, 128, 255, 0.08),
    _Tile(128, 64, 64, 128, 160, 0.12),
    _Tile(64, 64, 64, 128, 104, 0.25),
)
_RAGGED_BYTE_TILES = (_Tile(64, 64, 32, 128, 128, 0.5),)
_DOUBLE_TILES = (
    _Tile(128, 64, 128, 256, 128, 0.2),
    _Tile(64, 64, 128, 128, 128, 0.2),
)
# Of few rows, or columns.
_FLAT_TILES = (_Tile(16, 128, 128, 128, 96, 0.6),)
_NARROW_TILES = (_Tile(128, 16, 128, 128, 96, 0.6),)


def matrix_rate(op: Op, target: Target) -> int:
    """Return the products that tensor cores add up in a cycle; 0 if they do not have the types."""
    result = op.results[0].element_type
    types = {operand.element_type for operand in op.inputs[:2]}
    architecture = target.architecture
    rate = next((_RATES[one] for one in sorted(_RATES, reverse=True) if one <= architecture), 0)
    if result == "f64":
        return _DOUBLE_RATES.get(architecture, 0)
    if result == "i32":
        return 2 * rate * (types == {"i8"})
    if result == "f32" and types <= {*_TINY} and architecture >= 89:
        return 2 * rate
    if result in {"f16", "f32"} and types <= {*_HALF}:
        return rate
    if result != "f32" or architecture < 80:
        return 0
    if types == {"f32"}:
        return target.rounds_to_tf32 * rate // 2
    return rate * ("bf16" in types and types <= {"bf16", "i8", *_TINY})


def matrix_candidates(op: Op, target: Target, few: int) -> tuple[Candidate, ...]:
    """Return what there is to choose from for tensor cores; none if they do not have the types.

    Of ``few`` rows or columns, those that have no more.
    """
    loops = op.contraction
    if loops is None or not matrix_rate(op, target):
        return ()
    tiles: tuple[_Tile, ...] = _TILES if target.has_async_copies else _STAGING_TILES
    if op.extent(loops.n[-1]) <= few:
        tiles = _NARROW_TILES
    elif op.extent(loops.m[-1]) <= few:
        tiles = _FLAT_TILES
    elif op.results[0].bits > 32:
        tiles = _DOUBLE_TILES
    bits = max(operand.bits for operand in op.inputs[:2])
    groups = [
        tile.candidate(bits, is_group=True)
        for tile in (*_GROUP_TILES, *_WAITING_GROUP_TILES)
        if tiles is _TILES and _is_of_groups(op, target, tile, bits)
    ]
    if bits == 8 and _has_ragged_words(op):
        tiles = _RAGGED_BYTE_TILES
    elif bits == 8 and tiles is _TILES and op.inputs[1].fastest_loop not in loops.k:
        tiles = _BYTE_TILES
    return (*groups, *(tile.candidate(bits) for tile in tiles))


def candidate_rate(candidate: Candidate, op: Op, target: Target) -> float:
    """Return the products that tensor cores add up in a cycle by a candidate."""
    rate = matrix_rate(op, target)
    return rate * _GROUP_SPEED if candidate.is_group else rate


def _is_of_groups(op: Op, target: Target, tile: _Tile, bits: int) -> bool:
    """Whether warp groups multiply tiles of this size where TMA has put them."""
    loops = op.contraction
    assert loops is not None
    types = {operand.element_type for operand in op.inputs[:2]}
    if target.chip != "sm_90a":
        return False
    if not all(_has_tensor_map(operand, loops.batch) for operand in op.inputs[:2]):
        return False
    if not (types == {"i8"} if op.results[0].element_type == "i32" else _adds_up_f32(op)):
        return False
    is_along = all(operand.fastest_loop in loops.k for operand in op.inputs[:2])
    if bits == 8 and not is_along:
        return False
    if not all(len(of) == 1 for of in (loops.m, loops.n, loops.k)):
        return False
    # Where columns are contiguous, a tile has rows of 128 bytes of them.
    columns = 8 if op.inputs[1].fastest_loop in loops.k else 8 * _ROW_BYTES // bits
    rows = _round_up(op.extents[loops.m[0]], tile.m)
    if rows != tile.m or _round_up(op.extents[loops.n[0]], tile.n) % columns:
        return False
    # A shorter sum has a step that no instruction takes; where one ends of which only the launch
    # knows the length, an operand may go on.
    steps = op.extents[loops.k[0]]
    return steps is not None and steps * bits // 8 > _PRODUCT_BYTES


def _round_up(extent: int | None, size: int) -> int:
    """Return what a tile of `size` has of an extent: all of a small one, in multiples of 32."""
    return size if extent is None else min(size, -(-extent // 32) * 32)


def _adds_up_f32(op: Op) -> bool:
    """Whether warp groups multiply the floats of an operation, whose sums they have in f32."""
    types = {operand.element_type for operand in op.inputs[:2]}
    is_float = types in ({"f16"}, {"bf16"}) or types <= {*_TINY}
    return is_float and op.results[0].element_type == "f32"


def _has_tensor_map(operand: Operand, batch: tuple[int, ...]) -> bool:
    """Whether TMA can read tiles of an operand, as far as its shape tells.

    Rows begin at multiples of 16 bytes, and have no batches. Only the first extent may be one that
    the launch knows: the others make strides.
    """
    extents = operand.shape
    if operand.fastest_loop in batch or None in extents[1:] or not extents[-1]:
        return False
    is_aligned = extents[-1] * operand.bits // 8 % _MAP_UNIT == 0
    return is_aligned and sum(extent != 1 for extent in extents) <= _MAP_DIMENSIONS


def _has_ragged_words(op: Op) -> bool:
    """Whether rows of bytes may be others than whole words."""
    loops = [operand.fastest_loop for operand in op.inputs[:2]]
    extents = [None if loop is None else op.extents[loop] for loop in loops]
    return any(extent is None or extent % 4 for extent in extents)
