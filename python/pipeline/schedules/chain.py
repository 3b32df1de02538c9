"""Two chained contractions: rows of the first result in workgroup memory, sums in registers."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .kernel import Kernel, Op
from .target import Target
from .tile import Tile, clamp_threads, count_tiles, fill_block


def _columns(op: Op) -> int:
    """The iterations of the parallel loop that blocks do not share out."""
    pairs = zip(op.parallel, op.rows, strict=True)
    loops = [loop for loop, (parallel, row) in enumerate(pairs) if parallel and row is None]
    return math.prod(map(op.extent, loops))


@dataclass(frozen=True, slots=True)
class Chained:
    """Attention, and layers of a network: both contractions of some rows in one block.

    Of ``rows``, the most that leave room for a second block and each multiprocessor a block; the
    fewest if none do. Of ``columns`` of the first result, made at a time, those that leave the
    least of the last time empty; the most if several do. Both go in ``steps`` along their sums; a
    thread has about ``sums`` of them.
    """

    rows: tuple[int, ...] = (64, 32, 16)
    columns: tuple[int, ...] = (128, 96, 64)
    steps: int = 16
    sums: int = 32

    def matches(self, kernel: Kernel, target: Target) -> bool:
        return kernel.chain is not None

    def choose(self, kernel: Kernel, target: Target) -> Tile:
        chain = kernel.chain
        assert chain is not None
        rows = self._rows(kernel, target)
        first, second = (_columns(kernel.ops[number]) for number in (chain.first, chain.second))
        columns = min(self.columns, key=lambda size: (-(-first // size) * size, -size))
        widest = max(min(first, columns), second)
        threads = clamp_threads(rows * widest // self.sums, 64, 256)
        return Tile(self._block(kernel, rows), threads, (self.steps,), columns=columns)

    def _rows(self, kernel: Kernel, target: Target) -> int:
        chain = kernel.chain
        assert chain is not None
        for rows in self.rows:
            fits = rows * chain.row_bytes + chain.tile_bytes <= target.row_bytes
            blocks = count_tiles(kernel.root, self._block(kernel, rows))
            if fits and blocks >= target.multiprocessors:
                return rows
        return self.rows[-1]

    @staticmethod
    def _block(kernel: Kernel, rows: int) -> tuple[int, ...]:
        assert kernel.chain is not None
        row = kernel.chain.row
        order = (row, *(loop for loop in kernel.shared_loops if loop != row))
        return fill_block(kernel, rows, order, (rows, *[1] * len(order)))
