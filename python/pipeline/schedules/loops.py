"""Parallel loops that the program has, and maps to nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .kernel import Kernel, Op
from .target import Target
from .tile import Tile, clamp_threads, fill_block


@dataclass(frozen=True, slots=True)
class Points:
    """Loops of which a thread does an iteration: those side by side along the last dimension.

    ``threads``: of a block, and its iterations; ``columns``: side by side, if there are several
    dimensions, as the last one may be short.
    """

    threads: int = 256
    columns: int = 64

    def matches(self, kernel: Kernel, target: Target) -> bool:
        return kernel.kind == "points"

    def choose(self, kernel: Kernel, target: Target) -> Tile:
        order = tuple(reversed(range(len(kernel.shared))))
        threads = clamp_threads(kernel.count(order), 32, self.threads)
        block = fill_block(kernel, threads, order, (self.columns,) if len(order) > 1 else ())
        # Ids of blocks are computed along no more dimensions than it takes.
        pairs = zip(block, kernel.root.extents, strict=True)
        return Tile(tuple(0 if size == extent else size for size, extent in pairs), threads)


@dataclass(frozen=True, slots=True)
class Tiles:
    """Loops of which a block does an iteration: a thread for 16 bytes of its largest operation.

    ``threads``: of a block, at most; ``sums``: of a contraction, for each of them.
    """

    threads: int = 256
    sums: int = 16

    def matches(self, kernel: Kernel, target: Target) -> bool:
        return kernel.kind == "tiles"

    def choose(self, kernel: Kernel, target: Target) -> Tile:
        wanted = max((_count_threads(op, self.sums) for op in kernel.ops[:-1]), default=32)
        threads = clamp_threads(wanted, 32, self.threads)
        return Tile((1,) * len(kernel.shared), threads)


def _count_threads(op: Op, sums: int) -> int:
    """Return how many threads an operation of a block has work for."""
    results = math.prod(op.extent(loop) for loop, parallel in enumerate(op.parallel) if parallel)
    if op.contraction:
        return -(-results // sums)
    points = math.prod(op.extent(loop) for loop in range(len(op.extents)))
    return points if op.kind in ("points", "tiles") else -(-points // op.vector)
