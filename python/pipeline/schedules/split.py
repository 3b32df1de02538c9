"""Sums that several blocks share, in two launches: partial ones, then their sum."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from .kernel import Kernel, Op
from .target import Target
from .tile import Tile, count_tiles


@dataclass(frozen=True, slots=True)
class Split:
    """Parts of long sums, for multiprocessors that would have nothing to do.

    A kernel whose blocks are fewer than half the multiprocessors gets up to ``blocks`` for each of
    them, of ``threads`` at most, each of which has ``elements`` to add up at least. Fewer than
    ``parts`` of a sum are not worth a second launch. Where only the launch knows how many elements
    there are, a thread has ``usual_elements``.
    """

    blocks: int = 4
    threads: int = 256
    elements: int = 16
    usual_elements: int = 64
    parts: int = 8

    def apply(self, tile: Tile, kernel: Kernel, target: Target) -> Tile:
        """Return `tile`, with the sum of the kernel split if that is worth while."""
        op, blocks = kernel.sum, count_tiles(kernel.root, tile.block)
        if op is None or 0 in op.extents or not 0 < 2 * blocks <= target.multiprocessors:
            return tile
        threads = min(tile.threads, self.threads)
        share = max(1, threads // math.prod(filter(None, _rows(op, tile.block))))
        if any(op.extents[loop] is None for loop in op.sums):
            part = share * self.usual_elements
        else:
            part = self.part_of(op, share * self.elements, blocks, target)
        if not part:
            return tile
        return replace(tile, threads=threads, split=_sizes(op, tile.block, part))

    def part_of(self, op: Op, least: int, blocks: int, target: Target) -> int:
        """Return how much of a sum a block has, `least` or more; 0 for all of it."""
        length = math.prod(map(op.extent, op.sums))
        parts = min(length // least, self.blocks * target.multiprocessors // blocks)
        return -(-length // parts) if parts >= self.parts else 0


SUMS = Split()
PRODUCTS = Split(blocks=2, parts=4)


def _rows(op: Op, block: tuple[int, ...]) -> list[int]:
    """Return what a block does of each loop; 0 for the sums."""
    return [0 if row is None else block[row] for row in op.rows]


def _sizes(op: Op, block: tuple[int, ...], part: int) -> tuple[int, ...]:
    """Return tiles of the loops: those of the rows, and `part` of the sum in all."""
    sizes = _rows(op, block)
    fastest = [operand.fastest_loop for operand in op.inputs]
    for loop in sorted(op.sums, key=lambda loop: (loop not in fastest, -loop)):
        extent = op.extents[loop]
        if extent is None or part < extent:
            step = op.vector if loop in fastest else 1
            sizes[loop] = -(-part // step) * step
            part = 1
        else:
            part = -(-part // extent)
    return tuple(sizes)
