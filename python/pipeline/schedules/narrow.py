"""Products of a matrix with few vectors: the matrix goes by once, as fast as memory is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from .kernel import Kernel, Op, Operand
from .split import SUMS, Split
from .target import Target
from .tile import Tile, count_tiles

_ACCESS_BITS = 128


class _Product(NamedTuple):
    """The matrix of a product, the loops of its own, and how many vectors there are."""

    matrix: Operand
    loops: tuple[int, ...]
    others: tuple[int, ...]
    vectors: int

    @property
    def vector(self) -> int:
        """Elements of the matrix in what a thread loads at a time."""
        return max(1, _ACCESS_BITS // max(8, self.matrix.bits))


@dataclass(frozen=True, slots=True)
class Narrow:
    """Each element of a matrix is loaded once, by accesses of 16 bytes, for all vectors.

    Of matrices with elements of so many bits, ``few_along`` or ``few_across`` vectors leave
    registers for their sums, and time for their products. Fewer than ``least`` products for a sum,
    or elements along the matrix, are done otherwise.

    If the sums go along memory, each thread has up to ``rows`` of them, and ``steps`` accesses to
    each; blocks of up to ``threads`` have ``groups`` of threads. Of these, what the multiprocessors
    are done with first is taken: each has to have ``in_flight`` bytes under way, by ``loads`` of a
    thread, and reads the vectors from the cache in ``cached`` of the time.

    If they go across, a warp reads ``lanes`` accesses side by side, and a block is rows of such
    warps, whose sums take up to ``slot_bytes`` of workgroup memory; blocks share the sums.
    """

    few_along: tuple[tuple[int, int], ...] = ((8, 4), (16, 8), (32, 8), (64, 4))
    few_across: tuple[tuple[int, int], ...] = ((8, 4), (16, 8), (32, 8), (64, 8))
    least: int = 128
    rows: tuple[int, ...] = (4, 2, 1)
    groups: tuple[int, ...] = (1, 2, 4, 8)
    steps: int = 4
    threads: int = 256
    lanes: int = 32
    slot_bytes: int = 1 << 15
    loads: int = 8
    in_flight: int = 1 << 15
    cached: float = 0.4
    split: Split = SUMS

    def matches(self, kernel: Kernel, target: Target) -> bool:
        op = kernel.main
        if kernel.kind != "contraction" or kernel.chain or not op.is_combinable:
            return False
        if sum(bool(other.sums) for other in kernel.ops) != 1:
            return False
        product = _find_product(op)
        if product is None:
            return False
        is_along = product.matrix.fastest_loop in op.sums
        few = dict(self.few_along if is_along else self.few_across)
        if product.vectors > few.get(product.matrix.bits, 0):
            return False
        length = math.prod(map(op.extent, op.sums))
        width = math.prod(map(op.extent, product.loops))
        shared = all(op.rows[loop] is not None for loop in (*product.loops, *product.others))
        return shared and min(length, width) >= self.least

    def choose(self, kernel: Kernel, target: Target) -> Tile:
        op = kernel.main
        product = _find_product(op)
        assert product is not None
        fastest = product.matrix.fastest_loop
        if fastest in op.sums:
            best = min(self._rows(kernel, product, target), key=lambda item: item[0], default=None)
            tile = best[1] if best else self._make(kernel, product, 1, 32)
        else:
            tile = self._columns(kernel, product)
        return self.split.apply(tile, kernel, target)

    def _rows(
        self, kernel: Kernel, product: _Product, target: Target
    ) -> Iterator[tuple[float, Tile]]:
        """Yield tiles of sums along memory, each with what it costs."""
        op = kernel.main
        steps = math.prod(map(op.extent, op.sums)) // (product.vector * self.steps)
        each = min(max(32, 1 << max(0, steps.bit_length() - 1)), self.threads)
        for groups in self.groups:
            for rows in self.rows:
                threads = groups * each
                if threads > self.threads or 2 * groups * rows * product.vectors > threads:
                    continue
                tile = self._make(kernel, product, groups * rows, threads)
                blocks = count_tiles(kernel.root, tile.block)
                share = -(-blocks // target.multiprocessors)
                # The vectors come from the cache, once for each block.
                cost = share * (groups * rows + self.cached * product.vectors)
                loads = min(self.loads, rows * self.steps)
                under_way = min(share, 1024 // threads) * threads * loads * _ACCESS_BITS // 8
                yield cost * max(1.0, self.in_flight / max(1, under_way)), tile

    def _columns(self, kernel: Kernel, product: _Product) -> Tile:
        """Return the tile of sums across memory."""
        columns = self.lanes * product.vector
        last = kernel.main.extents[product.loops[-1]]
        if last is None or last % product.vector:
            columns = 2 * self.lanes
        bytes_each = product.vectors * columns * max(32, kernel.main.results[0].bits) // 8
        rows = max(2, min(self.threads // self.lanes, self.slot_bytes // bytes_each))
        threads = self.lanes * (1 << (rows.bit_length() - 1))
        return self._make(kernel, product, columns, threads)

    @staticmethod
    def _make(kernel: Kernel, product: _Product, width: int, threads: int) -> Tile:
        """Return a tile of `width` along the matrix, and all vectors."""
        op = kernel.main
        block = [1 if shared else 0 for shared in kernel.shared]
        for loop in product.others:
            row = op.rows[loop]
            assert row is not None
            block[row] = 0
        row = op.rows[product.loops[-1]]
        assert row is not None
        block[row] = min(width, kernel.root.extent(row))
        return Tile(tuple(block), threads, direct=True)


def _find_product(op: Op) -> _Product | None:
    """Return what is the matrix of a contraction; None if neither operand is."""
    loops = op.contraction
    if loops is None or not loops.k or len(op.inputs) != 2:
        return None
    counts = [math.prod(map(op.extent, side)) for side in (loops.m, loops.n)]
    side = 0 if counts[0] >= counts[1] else 1
    own, others = ((loops.m, loops.n), (loops.n, loops.m))[side]
    fastest = op.inputs[side].fastest_loop
    if not own or (fastest not in own and fastest not in op.sums):
        return None
    if fastest in own and fastest != own[-1]:
        return None
    return _Product(op.inputs[side], own, others, counts[1 - side])
