"""Sums, softmax, normalisation: along rows, along columns, over everything."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .kernel import Kernel, Op, Operand
from .split import SUMS, Split
from .target import Target
from .tile import Tile, clamp_threads, fill_block


def _reductions(kernel: Kernel) -> list[Op]:
    return [op for op in kernel.ops if op.sums]


def _count(op: Op, operand: Operand) -> int:
    return math.prod(op.extent(loop) for loop in operand.loops if loop is not None)


def _is_along_memory(op: Op) -> bool:
    """Tell whether neighbours in the largest input belong to the same sum."""
    largest = max(op.inputs, key=lambda operand: _count(op, operand), default=None)
    loop = largest.fastest_loop if largest else None
    return loop is not None and not op.parallel[loop]


def _length(kernel: Kernel) -> int:
    """The iterations of the longest sum."""
    return max(math.prod(map(op.extent, op.sums)) for op in _reductions(kernel))


def _row_bytes(op: Op) -> int:
    """Bytes of what an operation makes of one row; 0 if its size is not known."""
    inner = [
        op.extents[loop] for loop, row in enumerate(op.rows) if row is None and op.parallel[loop]
    ]
    if any(extent is None for extent in inner):
        return 0
    elements = math.prod(extent or 0 for extent in inner)
    return elements * sum(max(8, result.bits) // 8 for result in op.results)


def kept_bytes(kernel: Kernel) -> int:
    """Bytes of what element-wise operations make of one row for others, if all sizes are known."""
    return sum(_row_bytes(op) for op in kernel.ops[:-1] if not op.sums)


def fit_rows(kernel: Kernel, rows: int, target: Target) -> tuple[int, bool]:
    """Return how many of `rows` a block has memory for, and whether that is by recomputation.

    What sums make of a row is kept in any case. What element-wise operations make of it for others
    has to fit, too, or is computed again by each of its users.
    """
    kept = kept_bytes(kernel)
    recompute = kept > target.row_bytes
    whole = sum(_row_bytes(op) for op in kernel.ops[:-1] if op.sums and not op.contraction)
    whole += 0 if recompute else kept
    return max(1, min(rows, target.row_bytes // max(1, whole))), recompute


@dataclass(frozen=True, slots=True)
class Whole:
    """One result: the sum is the work of one block, or of several that share it.

    Intermediate results of element-wise operations that do not fit into the memory of a block are
    computed again by each of their users.
    """

    elements_per_thread: int = 16
    split: Split = SUMS

    def matches(self, kernel: Kernel, target: Target) -> bool:
        return bool(_reductions(kernel)) and not any(kernel.shared)

    def choose(self, kernel: Kernel, target: Target) -> Tile:
        block = (0,) * len(kernel.shared)
        recompute = kept_bytes(kernel) > target.row_bytes
        if not all(op.is_combinable for op in _reductions(kernel)):
            reason = "partial results cannot be put together"
            return Tile(block, 32, recompute=recompute, reason=reason)
        threads = clamp_threads(_length(kernel) // self.elements_per_thread, 32, 1024)
        return self.split.apply(Tile(block, threads, (), recompute), kernel, target)


@dataclass(frozen=True, slots=True)
class Rows:
    """Sums along rows that are contiguous in memory.

    A row of up to ``serial`` elements is the work of one thread, and a block has ``rows`` of them.
    A longer row is the work of a block of up to ``threads`` threads, with ``vectors`` of 16 bytes
    for each; in kernels with one sum, it is the work of whole warps of a block of
    ``shared_threads``. Intermediate results of a row that do not fit into the memory of a block
    are computed again by each of their users.
    """

    serial: int = 32
    rows: int = 128
    vectors: int = 4
    threads: int = 1024
    shared_threads: int = 256
    split: Split = SUMS

    def matches(self, kernel: Kernel, target: Target) -> bool:
        sums = _reductions(kernel)
        return bool(sums) and all(op.is_combinable and _is_along_memory(op) for op in sums)

    def choose(self, kernel: Kernel, target: Target) -> Tile:
        length = _length(kernel)
        if length <= self.serial:
            rows, threads = self.rows, self.rows
        else:
            wanted = -(-length // (self.vectors * max(op.vector for op in _reductions(kernel))))
            rows, threads = 1, clamp_threads(wanted, 32, self.threads)
            if len(_reductions(kernel)) == 1 and not kept_bytes(kernel):
                rows = self._count_rows(kernel, threads, target)
                threads *= rows
        rows, recompute = fit_rows(kernel, rows, target)
        tile = Tile(fill_block(kernel, rows, kernel.shared_loops), threads, (), recompute)
        return self.split.apply(tile, kernel, target)

    def _count_rows(self, kernel: Kernel, threads: int, target: Target) -> int:
        """Return how many rows of `threads` each a block has, so that there are blocks enough."""
        rows = max(1, self.shared_threads // threads)
        wanted = kernel.count(kernel.shared_loops) // (4 * target.multiprocessors)
        return min(rows, 1 << max(0, wanted.bit_length() - 1))


@dataclass(frozen=True, slots=True)
class Columns:
    """Sums across memory: neighbours in memory belong to different sums.

    A block of ``threads`` takes ``lanes`` accesses of 16 bytes side by side, and each thread adds
    up a part of every sum. Where there are ``many`` sums, or sums of up to ``serial`` elements, a
    block of ``few_threads`` takes twice as many.
    """

    lanes: int = 8
    few_threads: int = 64
    threads: int = 256
    many: int = 1 << 14
    serial: int = 64
    split: Split = SUMS

    def matches(self, kernel: Kernel, target: Target) -> bool:
        sums = _reductions(kernel)
        return bool(sums) and all(op.is_combinable for op in sums)

    def choose(self, kernel: Kernel, target: Target) -> Tile:
        order = self._order(kernel)
        vector = min(op.longest_vector for op in _reductions(kernel))
        columns, threads = self.lanes * vector, self.threads
        if _length(kernel) <= self.serial or kernel.count(order) >= self.many:
            columns, threads = 2 * columns, self.few_threads
        recompute = kept_bytes(kernel) * columns > target.row_bytes
        tile = Tile(fill_block(kernel, columns, order), threads, (), recompute)
        return self.split.apply(tile, kernel, target)

    @staticmethod
    def _order(kernel: Kernel) -> tuple[int, ...]:
        """The loops that blocks share out, that along contiguous memory first."""
        order = kernel.shared_loops
        for op in _reductions(kernel):
            for operand in op.inputs:
                loop = operand.fastest_loop
                row = None if loop is None else op.rows[loop]
                if row in order:
                    return (row, *(other for other in order if other != row))
        return order
