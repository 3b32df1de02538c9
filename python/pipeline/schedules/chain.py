"""Two chained contractions: rows of the first result in workgroup memory, sums in registers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from .kernel import Chain, Kernel, Op
from .matrix import matrix_rate
from .split import COLUMNS, ColumnSplit
from .target import Target
from .tile import Tile, clamp_threads, count_tiles, fill_block, round_up_to_power


def _columns(op: Op) -> int:
    """The iterations of the parallel loop that blocks do not share out."""
    pairs = zip(op.parallel, op.rows, strict=True)
    loops = [loop for loop, (parallel, row) in enumerate(pairs) if parallel and row is None]
    return math.prod(map(op.extent, loops))


def _sums(op: Op) -> int:
    """The products that an element of the result is the sum of."""
    return math.prod(map(op.extent, op.sums))


def _has_whole_matrices(first: Op, second: Op) -> bool:
    """Whether rows of both contractions are made of whole matrices of tensor cores."""
    return _sums(first) % 16 == 0 and _columns(second) % 8 == 0


def _fill_up(columns: int) -> int:
    """Return the columns of a tile in workgroup memory, as `workgroup-stage-operands` has them."""
    return -(-columns // 32) * 32 if columns > 32 else max(4, round_up_to_power(columns))


@dataclass(frozen=True, slots=True)
class Chained:
    """Attention, and layers of a network: both contractions of some rows in one block.

    Of ``rows``, the most that leave room for a second block and each multiprocessor a block; the
    fewest if none do. Of ``columns`` of the first result, made at a time, those that leave the
    least of the last time empty; the most if several do. Rows that do not fit are not kept:
    ``stream`` columns are made and multiplied at a time. Both go in ``steps`` along their sums; a
    thread has about ``sums`` of them. Where tensor cores take 16 bits, the stream stays in
    registers, and its tiles come through rings of ``slots``. There, a warp has 32 of
    ``wide_rows`` if no more than ``wide_columns`` are summed up of each, and else ``warp_rows``
    of ``rows``: what is loaded for a product with 16 rows does for a second one. Of fewer rows than
    that, blocks ``split`` the columns.
    """

    rows: tuple[int, ...] = (64, 32, 16)
    columns: tuple[int, ...] = (128, 96, 64)
    stream: int = 64
    steps: int = 16
    sums: int = 32
    wide_rows: tuple[int, ...] = (256, 128)
    wide_columns: int = 128
    warp_rows: int = 16
    slots: int = 2
    split: ColumnSplit = COLUMNS

    def matches(self, kernel: Kernel, target: Target) -> bool:
        return kernel.chain is not None

    def choose(self, kernel: Kernel, target: Target) -> Tile:
        chain = kernel.chain
        assert chain is not None
        first, second = (_columns(kernel.ops[number]) for number in (chain.first, chain.second))
        least, memory = self.rows[-1], target.row_bytes
        is_kept = 0 < least * chain.row_bytes + chain.tile_bytes <= memory
        if is_kept or not chain.stream_row_bytes:
            rows = self._rows(kernel, target, self.rows, chain.row_bytes, chain.tile_bytes)
            columns = min(self.columns, key=lambda size: (-(-first // size) * size, -size))
            tile = Tile((), 1, (self.steps,), columns=columns)
        else:
            sizes = (chain.stream_row_bytes, chain.stream_tile_bytes)
            columns = self.stream
            if self._stays_in_registers(kernel, chain, target):
                return self.split.apply(self._keep(kernel, chain, target), kernel, target)
            rows = self._rows(kernel, target, self._stream_rows(kernel, chain), *sizes)
            tile = Tile((), 1, (self.steps,), stream=columns)
        threads = clamp_threads(rows * max(min(first, columns), second) // self.sums, 64, 256)
        tile = replace(tile, block=self._block(kernel, rows), threads=threads)
        is_few = tile.stream and kernel.root.extent(chain.row) < least
        return self.split.apply(tile, kernel, target) if is_few else tile

    def _keep(self, kernel: Kernel, chain: Chain, target: Target) -> Tile:
        """Return tiles that stay in registers of warps with 32 rows, or 16."""
        first, second = kernel.ops[chain.first], kernel.ops[chain.second]
        sums = _sums(first)
        # The registers of a thread hold 64 results of a row and as many scores, or 128 and half.
        columns = _columns(second)
        stream = self.stream if 2 * columns <= self.wide_columns else self.stream // 2
        tile_bytes = self.slots * stream * (_fill_up(sums) + _fill_up(columns)) * 2
        is_known = kernel.root.extents[chain.row] is not None
        wide = self.wide_rows if is_known else self.wide_rows[-1:]
        # Pairs of matrices of 8 columns are loaded for both.
        is_even = columns <= self.wide_columns and columns % 16 == 0
        for rows in wide if is_even else ():
            block = self._block(kernel, rows)
            fits = rows * sums * 2 + tile_bytes <= target.shared_bytes
            extent = kernel.root.extent(chain.row)
            is_full = count_tiles(kernel.root, block) >= target.multiprocessors
            is_whole = rows <= extent and -(-extent // rows) * rows <= 1.125 * extent
            if not _has_whole_matrices(first, second):
                is_whole = extent % rows == 0
            if fits and is_full and is_whole:
                warps = rows // 32
                break
        else:
            stream = self.stream
            sizes = (chain.stream_row_bytes, chain.stream_tile_bytes)
            few = kernel.root.extent(chain.row) < self.rows[-1]
            candidates = self.rows[-1:] if few else self.rows
            rows = self._rows(kernel, target, candidates, *sizes)
            block, warps = self._block(kernel, rows), rows // self.warp_rows
        steps = (max(sums, stream),)
        return Tile(block, 32 * warps, steps, stream=stream, slots=self.slots)

    def _stays_in_registers(self, kernel: Kernel, chain: Chain, target: Target) -> bool:
        """Tell whether tensor cores multiply both, and what is between has 16 bits."""
        first, second = kernel.ops[chain.first], kernel.ops[chain.second]
        if not all(
            matrix_rate(op, target) and all(operand.bits == 16 for operand in op.inputs)
            for op in (first, second)
        ):
            return False
        if _has_whole_matrices(first, second):
            return True
        # Tiles of which all rows and columns are there are filled up, but for the smallest.
        (row, column) = (kernel.root.extents[chain.row], second.extents[second.sums[-1]])
        is_whole = row is not None and row > 0 and row % self.rows[0] == 0
        is_whole &= column is not None and column > 0 and column % self.stream == 0
        return is_whole and min(_sums(first), _columns(second)) > 4

    def _stream_rows(self, kernel: Kernel, chain: Chain) -> Sequence[int]:
        """Return those that leave no rows over, of f32; the fewest if all do."""
        first, second = kernel.ops[chain.first], kernel.ops[chain.second]
        extent = kernel.root.extent(chain.row)
        if 0 < extent < self.rows[-1]:
            return (extent,)
        if all(operand.bits <= 16 for operand in (*first.inputs, *second.inputs)):
            return self.rows
        return [rows for rows in self.rows if extent % rows == 0]

    def _rows(
        self,
        kernel: Kernel,
        target: Target,
        candidates: Sequence[int],
        row_bytes: int,
        tile_bytes: int,
    ) -> int:
        for rows in candidates:
            fits = rows * row_bytes + tile_bytes <= target.row_bytes
            blocks = count_tiles(kernel.root, self._block(kernel, rows))
            if fits and blocks >= target.multiprocessors:
                return rows
        return min(candidates, default=self.rows[-1])

    @staticmethod
    def _block(kernel: Kernel, rows: int) -> tuple[int, ...]:
        assert kernel.chain is not None
        row = kernel.chain.row
        order = (row, *(loop for loop in kernel.shared_loops if loop != row))
        return fill_block(kernel, rows, order, (rows, *[1] * len(order)))
