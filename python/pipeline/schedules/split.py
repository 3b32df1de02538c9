"""Sums that several blocks share, in two launches: partial ones, then their sum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from .kernel import Kernel, Op, Operand
from .target import Target
from .tile import Tile, count_tiles, fill_block


@dataclass(frozen=True, slots=True)
class Split:
    """Parts of long sums, for multiprocessors that would have nothing to do.

    Blocks run in waves of one for each multiprocessor, the last of which may be nearly empty. Of
    so many parts that there are up to ``blocks`` for each multiprocessor, those are taken with
    which the last multiprocessor is done first, if that saves ``worthwhile`` of the time.

    A block has ``threads`` at most, each of which has ``elements`` to add up at least. Where only
    the launch knows how many elements there are, a thread has ``usual_elements``. A multiprocessor
    reads ``bytes`` in a microsecond if ``busy`` threads wait for them, and a second launch takes
    ``launch`` microseconds.
    """

    blocks: int = 4
    threads: int = 256
    elements: int = 16
    usual_elements: int = 64
    worthwhile: float = 0.05
    bytes: float = 14e3
    busy: int = 512
    launch: float = 2.5

    def apply(self, tile: Tile, kernel: Kernel, target: Target) -> Tile:
        """Return `tile`, with the sum of the kernel split if that is worth while."""
        op, blocks = kernel.sum, count_tiles(kernel.root, tile.block)
        if op is None or 0 in op.extents or blocks == 0:
            return tile
        threads = min(tile.threads, self.threads)
        share = max(1, threads * _beside(op) // math.prod(filter(None, _rows(op, tile.block))))
        if any(op.extents[loop] is None for loop in op.sums):
            if 2 * blocks > target.multiprocessors:
                return tile
            part = share * self.usual_elements
        else:
            read = sum(_count_bytes(op, operand) for operand in op.inputs)
            work = read / (self.bytes * blocks)
            length = math.prod(map(op.extent, op.sums))
            most = length // (share * self.elements)
            parts = self.count_parts(op, most, blocks, work, threads, target)
            part = -(-length // parts) if parts > 1 else 0
        if not part:
            return tile
        block = tile.block
        if any(block):
            block = fill_block(kernel, threads, kernel.shared_loops)
        sizes = _sizes(op, _rows(op, tile.block), part)
        return replace(tile, block=block, threads=threads, split=sizes)

    def count_parts(
        self, op: Op, most: int, blocks: int, work: float, threads: int, target: Target
    ) -> int:
        """Return how many blocks, up to `most`, share a sum.

        With one for each there are `blocks` of `threads`, which take `work` microseconds each.
        """
        written = 2 * sum(_count_bytes(op, operand) for operand in op.results)
        each = written / (self.bytes * target.multiprocessors)

        def cost(parts: int) -> float:
            share = -(-blocks * parts // target.multiprocessors)
            waiting = max(1.0, self.busy / (share * threads))
            more = self.launch + parts * each if parts > 1 else 0
            return share * work / parts * waiting + more

        most = min(most, self.blocks * target.multiprocessors // blocks)
        best = min(range(1, most + 1), key=cost, default=1)
        return best if cost(best) <= (1 - self.worthwhile) * cost(1) else 1


@dataclass(frozen=True, slots=True)
class ProductSplit(Split):
    """Parts of long sums of products, of which a block has ``least`` at least.

    A multiprocessor does ``products`` in a microsecond, by the bits of what is multiplied. Where
    only the launch knows how many there are, a block has ``usual``.
    """

    blocks: int = 2
    busy: int = 0
    least: int = 256
    usual: int = 2048
    products: tuple[tuple[int, float], ...] = ((8, 1.8e6), (16, 0.9e6), (32, 0.8e5), (64, 0.4e5))

    def apply(self, tile: Tile, kernel: Kernel, target: Target) -> Tile:
        """Return `tile`, which has steps along the sums, with the last of these split."""
        op, blocks = kernel.main, count_tiles(kernel.root, tile.block)
        last = op.sums[-1]
        extent = op.extents[last]
        if not op.is_splittable or blocks == 0:
            return tile
        if extent is None:
            part = self.usual if 2 * blocks <= target.multiprocessors else 0
        else:
            parts = self.count_parts(
                op,
                extent // max(self.least, 2 * tile.reduction[-1]),
                blocks,
                self._time(op) / blocks,
                tile.threads,
                target,
            )
            part = -(-extent // parts) if parts > 1 else 0
        if not part:
            return tile
        step = tile.reduction[-1]
        sizes = _rows(op, tile.block)
        sizes[last] = -(-part // step) * step
        block = fill_block(kernel, tile.threads, kernel.shared_loops)
        return replace(tile, block=block, split=tuple(sizes))

    def _time(self, op: Op) -> float:
        """Return the microseconds that a multiprocessor takes for all of it."""
        widest = max([8, *(operand.bits for operand in op.inputs)])
        rate = next((rate for bits, rate in self.products if widest <= bits), 1.0)
        products = math.prod(map(op.extent, range(len(op.extents))))
        read = sum(_count_bytes(op, operand) for operand in op.inputs)
        return max(products / rate, read / self.bytes)


@dataclass(frozen=True, slots=True)
class ColumnSplit(Split):
    """Parts of the columns that a block with few rows goes through, ``stream`` at a time.

    A block has as many as take as long as its first ones take to arrive, besides its part. Where
    only the launch knows how many there are, a block has ``usual``.
    """

    blocks: int = 8
    busy: int = 64
    usual: int = 512

    def apply(self, tile: Tile, kernel: Kernel, target: Target) -> Tile:
        """Return `tile`, which goes through columns, with these split if that is worth while."""
        op, blocks = kernel.sum, count_tiles(kernel.root, tile.block)
        if op is None or not op.sums or 0 in op.extents or blocks == 0:
            return tile
        (column,) = op.sums
        extent = op.extents[column]
        if extent is None:
            part = self.usual if 2 * blocks <= target.multiprocessors else 0
        else:
            turns = -(-extent // tile.stream)
            part = self._count_turns(kernel, tile, blocks, turns, target) * tile.stream
        if not part or (extent is not None and part >= extent):
            return tile
        sizes = _rows(op, tile.block)
        sizes[column] = part
        return replace(tile, split=tuple(sizes))

    def _count_turns(
        self, kernel: Kernel, tile: Tile, blocks: int, turns: int, target: Target
    ) -> int:
        """Return of how many `turns` a block has those with which the last one is done first."""
        chain = kernel.chain
        assert chain is not None
        written = sum(2 * _count_bytes(kernel.root, result) for result in kernel.root.results)
        each = written / (self.bytes * target.multiprocessors)
        turn = chain.stream_tile_bytes / self.bytes

        def cost(own: int) -> float:
            parts = -(-turns // own)
            share = -(-blocks * parts // target.multiprocessors)
            waiting = max(1.0, self.busy / (share * tile.threads))
            more = self.launch + parts * each if parts > 1 else 0
            return share * (own + 1) * turn * waiting + more

        most = max(1, self.blocks * target.multiprocessors // blocks)
        least = -(-turns // most)
        best = min(range(max(1, least), turns + 1), key=cost, default=turns)
        return best if cost(best) <= (1 - self.worthwhile) * cost(turns) else turns


SUMS = Split()
PRODUCTS = ProductSplit()
COLUMNS = ColumnSplit()


def _count_bytes(op: Op, operand: Operand) -> int:
    """Return the bytes of an operand."""
    loops = (loop for loop in operand.loops if loop is not None)
    return math.prod(map(op.extent, loops)) * max(8, operand.bits) // 8


def _beside(op: Op) -> int:
    """Return how many neighbouring sums are for one thread: 1 if they go along memory."""
    largest = max(op.inputs, key=lambda operand: _count_bytes(op, operand), default=None)
    loop = largest.fastest_loop if largest else None
    return 1 if loop is None or loop in op.sums else op.longest_vector


def _rows(op: Op, block: Sequence[int]) -> list[int]:
    """Return what a block does of each loop; 0 for the sums."""
    return [0 if row is None else block[row] for row in op.rows]


def _sizes(op: Op, rows: Sequence[int], part: int) -> tuple[int, ...]:
    """Return tiles of the loops: `rows`, and `part` of the sum in all."""
    sizes = list(rows)
    fastest = [operand.fastest_loop for operand in op.inputs]
    for loop in sorted(op.sums, key=lambda loop: (loop not in fastest, -loop)):
        extent = op.extents[loop]
        if extent is None or part < extent:
            step = op.longest_vector if loop in fastest else 1
            sizes[loop] = -(-part // step) * step
            part = 1
        else:
            part = -(-part // extent)
    return tuple(sizes)
