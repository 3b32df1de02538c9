"""Convolutions as products of windows, gathered in workgroup memory, with filters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from .kernel import Kernel, Op
from .matrix import matrix_rate
from .target import Target
from .tile import Tile, round_up_to_power


class Candidate(NamedTuple):
    """Results of a block along pixels and along features, and the threads that do it."""

    pixels: int
    features: int
    threads: int


# Each thread has 8 x 8 sums, so that 16 fused multiply-adds come to one load of 16 bytes.
_CANDIDATES = (
    Candidate(128, 128, 256),
    Candidate(128, 64, 128),
    Candidate(64, 64, 64),
)
# On tensor cores: warps have 64 x 64 sums, or 64 x 32, or 32 x 32.
_MATRIX_CANDIDATES = (
    Candidate(128, 128, 128),
    Candidate(128, 64, 128),
    Candidate(64, 64, 128),
)
# Of few features: 8 x 4 sums.
_NARROW_CANDIDATES = (
    Candidate(128, 32, 128),
    Candidate(64, 32, 64),
)
_FLAT_CANDIDATES = (
    Candidate(128, 16, 64),
    Candidate(64, 16, 32),
)
# Sums of 64 bits take two registers each; copies of narrow elements take registers besides.
_SMALL_CANDIDATES = (
    Candidate(64, 64, 128),
    Candidate(64, 32, 128),
    Candidate(64, 16, 64),
)


@dataclass(frozen=True, slots=True)
class Convolution:
    """A block gathers the windows of its pixels, and multiplies them with filters.

    The candidate with which all multiprocessors finish first is taken. A convolution of at most
    ``least`` features, pixels or products does not match: most of a tile would be empty. A step of
    the sum takes ``step_bytes`` of neighbouring channels, ``matrix_step_bytes`` on tensor cores; if
    there are fewer channels, it takes more of the window, up to ``products``. If channels are no
    neighbours in memory, tensor cores take ``far_step_bytes`` for one place of the window. Windows
    and filters are copied ahead of their products, to a ring of ``slots``.
    """

    candidates: tuple[Candidate, ...] = _CANDIDATES
    matrix_candidates: tuple[Candidate, ...] = _MATRIX_CANDIDATES
    narrow_candidates: tuple[Candidate, ...] = _NARROW_CANDIDATES
    flat_candidates: tuple[Candidate, ...] = _FLAT_CANDIDATES
    small_candidates: tuple[Candidate, ...] = _SMALL_CANDIDATES
    least: int = 4
    step_bytes: int = 64
    matrix_step_bytes: int = 128
    far_step_bytes: int = 64
    products: int = 48
    slots: tuple[int, ...] = (3, 2)

    def matches(self, kernel: Kernel, target: Target) -> bool:
        op = kernel.main
        loops = op.contraction
        if kernel.kind != "window" or loops is None or not (loops.m and loops.n and loops.k):
            return False
        if any(op.rows[loop] is None for loop in (*loops.batch, *loops.m, *loops.n)):
            return False
        if any(operand.bits < 8 for operand in (*op.inputs, *op.results)):
            return False
        return all(
            prod(op.extent(loop) for loop in group) > self.least
            for group in (loops.m, loops.n, loops.k)
        )

    def choose(self, kernel: Kernel, target: Target) -> Tile:
        op = kernel.main
        loops = op.contraction
        assert loops is not None
        is_matrix = bool(matrix_rate(op, target))
        candidates = self._candidates(op, op.extent(loops.n[-1]), is_matrix=is_matrix)
        shapes = [_fill(op, loops.m, candidate.pixels) for candidate in candidates]
        best, pixels = min(
            zip(candidates, shapes, strict=True),
            key=lambda pair: self._cost(op, pair[0], pair[1], target),
        )
        features = [1] * (len(loops.n) - 1) + [best.features]
        sizes = dict.fromkeys(loops.batch, 1)
        sizes |= dict(zip((*loops.m, *loops.n), (*pixels, *features), strict=True))
        block = [0] * len(kernel.shared)
        for loop, size in sizes.items():
            row = op.rows[loop]
            assert row is not None
            block[row] = size
        step_bytes = self.matrix_step_bytes if is_matrix else self.step_bytes
        steps = (self._far_steps(op) if is_matrix else None) or self._steps_that_fit(
            op, best, step_bytes, target
        )
        slots = self._slots(op, best, steps, target)
        return Tile(tuple(block), best.threads, steps, slots=slots)

    def _slots(self, op: Op, candidate: Candidate, steps: Sequence[int], target: Target) -> int:
        """Return how many slots leave room for a second block, as far as there are steps."""
        turns = _count(op, op.sums, steps)
        if not target.has_async_copies or turns < 2:
            return 0
        image, filters = (operand.bits for operand in op.inputs[:2])
        slot = prod(steps) * (candidate.pixels * image + candidate.features * filters) // 8
        return next(
            (
                slots
                for slots in self.slots
                if slots <= turns and target.count_blocks(slots * slot, candidate.threads) >= 2
            ),
            0,
        )

    def _candidates(self, op: Op, features: int, *, is_matrix: bool) -> tuple[Candidate, ...]:
        if is_matrix and features > 32 and op.widest_bits <= 32:
            return self.matrix_candidates
        if op.widest_bits > 32 or any(operand.bits < 16 for operand in op.inputs):
            return self.small_candidates
        if features <= 16:
            return self.flat_candidates
        return self.narrow_candidates if features <= 32 else self.candidates

    def _far_steps(self, op: Op) -> tuple[int, ...] | None:
        """Return steps of whole matrices of channels where pixels are neighbours, if there are."""
        image = op.inputs[0]
        channels = self.far_step_bytes * 8 // image.bits
        loops = [loop for loop in op.sums if loop in image.loops]
        if op.sums[-1] in loops or len(loops) != 1 or op.extent(loops[0]) < channels // 2:
            return None
        is_half = 0 < op.extent(loops[0]) % channels <= channels // 2
        step = channels // 2 if is_half and op.extent(loops[0]) < 2 * channels else channels
        return tuple(step if loop == loops[0] else 1 for loop in op.sums)

    def _steps_that_fit(
        self, op: Op, candidate: Candidate, step_bytes: int, target: Target
    ) -> tuple[int, ...]:
        """Return the steps along the sums, less of them than else if memory is too small."""
        products = self.products
        while True:
            steps = self._steps(op, step_bytes, products)
            if products == 1 or _tile_bytes(op, candidate, steps) <= target.shared_bytes:
                return steps
            products //= 2

    def _steps(self, op: Op, step_bytes: int, products: int) -> tuple[int, ...]:
        """Return the steps along the sums: all of the inner loops, as far as products go.

        Loops of the window are taken whole, or tap by tap.
        """
        channels = step_bytes * 8 // op.inputs[0].bits
        last = op.sums[-1]
        is_near = last == op.inputs[0].fastest_loop and op.extent(last) >= channels
        fits = op.extent(last) % channels and op.extent(last) <= products
        left = channels if is_near and not fits else products
        steps = []
        for loop in reversed(op.sums):
            extent, step = op.extent(loop), 1
            if extent <= left:
                step = extent
            elif loop in op.inputs[0].loops:
                step = 1 << (left.bit_length() - 1)
            steps.append(max(1, step))
            left = left // steps[-1] if extent == steps[-1] else 1
        return tuple(reversed(steps))

    @staticmethod
    def _cost(
        op: Op, candidate: Candidate, pixels: Sequence[int], target: Target
    ) -> tuple[int, int]:
        """Work of the busiest multiprocessor; the larger tile if it is the same."""
        loops = op.contraction
        assert loops is not None
        tiles = _count(op, loops.m, pixels)
        tiles *= prod(op.extent(loop) for loop in (*loops.batch, *loops.n[:-1]))
        tiles *= -(-op.extent(loops.n[-1]) // candidate.features)
        share = -(-tiles // target.multiprocessors)
        area = candidate.pixels * candidate.features
        load = 32 if matrix_rate(op, target) else 8  # of an element, in products
        return share * (area + load * (candidate.pixels + candidate.features)), -area


@dataclass(frozen=True, slots=True)
class Depthwise:
    """Each thread goes through the windows of some results; a block has their image in its memory.

    ``pixels``, ``channels``: results of a block if channels are neighbours in memory;
    ``near_pixels``, ``far_channels``: if pixels are.
    """

    threads: int = 256
    pixels: int = 64
    channels: int = 32
    near_pixels: int = 256
    far_channels: int = 8

    def matches(self, kernel: Kernel, target: Target) -> bool:
        op = kernel.main
        loops = op.contraction
        if kernel.kind != "window" or loops is None or loops.n or not (loops.batch and loops.m):
            return False
        return all(op.rows[loop] is not None for loop in (*loops.batch, *loops.m))

    def choose(self, kernel: Kernel, target: Target) -> Tile:
        op = kernel.main
        loops = op.contraction
        assert loops is not None
        is_near = op.results[0].fastest_loop in loops.batch
        channels = self.channels if is_near else self.far_channels
        sizes = dict.fromkeys(loops.batch, 1) | {loops.batch[-1]: channels}
        pixels = _fill(op, loops.m, self.pixels if is_near else self.near_pixels)
        sizes |= dict(zip(loops.m, pixels, strict=True))
        block = [0] * len(kernel.shared)
        for loop, size in sizes.items():
            row = op.rows[loop]
            assert row is not None
            block[row] = size
        return Tile(tuple(block), self.threads)


def _tile_bytes(op: Op, candidate: Candidate, steps: Sequence[int]) -> int:
    """Return the workgroup memory of windows and filters for a step of the sums.

    If that is all of them, the last loop is filled up, as `workgroup-stage-operands` does.
    """
    *outer, last = steps
    if _count(op, op.sums, steps) == 1:
        whole = 16 if last > 4 else 4
        last = -(-last // whole) * whole
    image, filters = (operand.bits for operand in op.inputs[:2])
    return prod(outer) * last * (candidate.pixels * image + candidate.features * filters) // 8


def _fill(op: Op, loops: Sequence[int], points: int) -> tuple[int, ...]:
    """Return sizes of tiles of `points` iterations along `loops`, with the fewest tiles.

    Along the last loop, the pixels of which are neighbours, there are 8 at least, or all.
    """
    tops = [round_up_to_power(op.extent(loop)) for loop in loops]
    least = min(8, points, tops[-1])
    shapes = (sizes for sizes in _divide(points, tops) if sizes[-1] >= least)
    return min(shapes, key=lambda sizes: (_count(op, loops, sizes), -prod(sizes), -sizes[-1]))


def _divide(points: int, tops: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield powers of two up to `tops`, with a product of `points` at most."""
    if not tops:
        yield ()
        return
    size = 1
    while size <= min(points, tops[0]):
        yield from ((size, *rest) for rest in _divide(points // size, tops[1:]))
        size *= 2


def _count(op: Op, loops: Sequence[int], sizes: Sequence[int]) -> int:
    """Return how many tiles there are along `loops`."""
    pairs = zip(loops, sizes, strict=True)
    return prod(-(-max(1, op.extent(loop)) // size) for loop, size in pairs)
