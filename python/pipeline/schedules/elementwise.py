"""Element by element: arithmetic, broadcasts, fills, gathers, padding."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .kernel import Kernel, Op
from .target import Target
from .tile import Tile, clamp_threads, fill_block

MOST_TILES = 4  # of what is cheap: one for each order that others of the kernel read it in


def _tile_bytes(op: Op, block: Sequence[int]) -> int:
    """Bytes of what an operation makes of a tile of the root."""
    sizes = (
        (block[row] if row is not None else 0) or op.extent(loop)
        for loop, row in enumerate(op.rows)
    )
    return math.prod(sizes) * sum(max(8, result.bits) // 8 for result in op.results)


def make_tile(kernel: Kernel, block: tuple[int, ...], threads: int, target: Target) -> Tile:
    """Return a tile in which what operations make for others fits, or is computed again."""
    kept = sum(_tile_bytes(op, block) for op in kernel.ops[:-1])
    return Tile(block, threads, recompute=MOST_TILES * kept > target.row_bytes)


@dataclass(frozen=True, slots=True)
class Elementwise:
    """Runs of memory that are as long as possible, 16 bytes for a thread at a time.

    ``threads``: of a block; fewer if all of it is less. ``vectors``: of 16 bytes for each thread,
    from ``many`` elements on; one below. ``columns``: the longest run if there are several rows,
    so that what is broadcast along a dimension is read again by the same block.
    """

    threads: int = 256
    vectors: int = 4
    many: int = 1 << 20
    columns: int = 1024

    def matches(self, kernel: Kernel, target: Target) -> bool:
        return kernel.kind in ("fill", "elementwise")

    def choose(self, kernel: Kernel, target: Target) -> Tile:
        order = kernel.shared_loops
        whole = kernel.count(set(range(len(kernel.shared))) - set(order))
        total = kernel.count(order) * whole
        vector = kernel.root.vector
        threads = clamp_threads(-(-total // vector), 32, self.threads)
        points = threads * vector * (self.vectors if total >= self.many else 1)
        limits = (self.columns,) if len(order) > 1 else ()
        block = fill_block(kernel, max(1, points // max(1, whole)), order, limits)
        return make_tile(kernel, block, threads, target)


@dataclass(frozen=True, slots=True)
class Transpose:
    """Square tiles along what is contiguous on either side.

    ``edge``: of a tile; ``narrow_edge`` where the wide ones are too few to go round.
    """

    threads: int = 256
    edge: int = 64
    narrow_edge: int = 32

    def matches(self, kernel: Kernel, target: Target) -> bool:
        return kernel.kind == "elementwise" and self._crossing_loop(kernel) is not None

    def choose(self, kernel: Kernel, target: Target) -> Tile:
        across, along = self._crossing_loop(kernel), kernel.fastest_loop
        assert across is not None
        assert along is not None
        others = [loop for loop in kernel.shared_loops if loop not in (along, across)]
        order = [along, across, *others]
        rest = kernel.count(others)
        blocks = -(-kernel.root.extent(along) // self.edge)
        blocks *= -(-kernel.root.extent(across) // self.edge)
        edge = self.edge if blocks * rest >= 2 * target.multiprocessors else self.narrow_edge
        block = fill_block(kernel, edge * edge, order, (edge, edge))
        return make_tile(kernel, block, self.threads, target)

    def _crossing_loop(self, kernel: Kernel) -> int | None:
        """The loop of the root along the contiguous memory of an input but not of the result."""
        along = kernel.fastest_loop
        if along is None or not kernel.shared[along]:
            return None
        for op in kernel.ops:
            for operand in op.inputs:
                loop = operand.fastest_loop
                row = None if loop is None else op.rows[loop]
                if row is None or row == along or min(map(kernel.root.extent, (row, along))) < 8:
                    continue
                if any(other is not None and op.rows[other] == along for other in operand.loops):
                    return row
        return None
