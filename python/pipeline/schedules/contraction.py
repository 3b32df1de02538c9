"""Sums of products: operands staged in workgroup memory, sums in registers."""

from __future__ import annotations

from dataclasses import dataclass

from .kernel import Kernel, Op
from .split import PRODUCTS, ProductSplit
from .target import Target
from .tile import Tile


@dataclass(frozen=True, slots=True)
class Candidate:
    """A tile of the result, the step along the sum, the threads that do it."""

    m: int
    n: int
    k: int
    threads: int


# Each thread has 8 x 8 sums, so that 16 fused multiply-adds come to one load of 16 bytes.
_CANDIDATES = (
    Candidate(128, 128, 16, 256),
    Candidate(128, 64, 16, 128),
    Candidate(64, 64, 16, 64),
)
# Of few rows, or columns: 8 x 4 sums.
_NARROW_CANDIDATES = (
    Candidate(128, 16, 16, 64),
    Candidate(64, 16, 16, 32),
)
_FLAT_CANDIDATES = (
    Candidate(16, 128, 16, 64),
    Candidate(16, 64, 16, 32),
)
# Sums of 64 bits take two registers each: 8 x 4 of them.
_WIDE_CANDIDATES = (
    Candidate(64, 64, 16, 128),
    Candidate(64, 32, 16, 64),
)
# Copies of ragged tiles take registers besides.
_SMALL_CANDIDATES = (Candidate(64, 32, 16, 128),)


@dataclass(frozen=True, slots=True)
class Staged:
    """Tiles of both operands go through workgroup memory.

    Of the candidates, that which all multiprocessors are done with first; of ``few`` rows or
    columns those that have no more. Results of ``least`` rows or columns, or fewer, are no use:
    most of a tile would be empty. Blocks share sums where tiles are too few, or too many by a few.
    """

    candidates: tuple[Candidate, ...] = _CANDIDATES
    narrow_candidates: tuple[Candidate, ...] = _NARROW_CANDIDATES
    flat_candidates: tuple[Candidate, ...] = _FLAT_CANDIDATES
    wide_candidates: tuple[Candidate, ...] = _WIDE_CANDIDATES
    small_candidates: tuple[Candidate, ...] = _SMALL_CANDIDATES
    few: int = 16
    least: int = 4
    split: ProductSplit = PRODUCTS

    def matches(self, kernel: Kernel, target: Target) -> bool:
        if kernel.kind != "contraction":
            return False
        op = kernel.main
        loops = op.contraction
        if loops is None or not (loops.m and loops.n and loops.k):
            return False
        rows = [op.rows[loop] for loop in (*loops.batch, *loops.m, *loops.n)]
        if any(row is None for row in rows):
            return False
        return min(op.extent(loops.m[-1]), op.extent(loops.n[-1])) > self.least

    def choose(self, kernel: Kernel, target: Target) -> Tile:
        op = kernel.main
        assert op.contraction is not None
        best = min(self._candidates(op), key=lambda candidate: self._cost(op, candidate, target))
        block = [0] * len(kernel.shared)
        for row in op.rows:
            if row is not None:
                block[row] = 1
        for loop, size in ((op.contraction.m[-1], best.m), (op.contraction.n[-1], best.n)):
            row = op.rows[loop]
            assert row is not None
            block[row] = size
        reduction = [1] * len(op.sums)
        step = op.sums.index(op.contraction.k[-1])
        reduction[step] = self._step(op, best)
        return self.split.apply(Tile(tuple(block), best.threads, tuple(reduction)), kernel, target)

    @staticmethod
    def _step(op: Op, best: Candidate) -> int:
        """Return the step along the sum, of which longer ones run out of registers."""
        loops = op.contraction
        assert loops is not None
        is_wide = op.results[0].bits > 32
        # What copies of ragged tiles keep comes on top, and so does what is not of whole words.
        divisor = 2 if _is_ragged(op, best) and (is_wide or _is_narrow(op)) else 1
        step, extent = best.k // divisor, op.extents[loops.k[-1]]
        if extent is None or not 1 < extent <= best.k:
            return step
        # One step for all would have no loop.
        return max(1, min(step, (1 << ((extent - 1).bit_length() - 1)) // divisor))

    def _candidates(self, op: Op) -> tuple[Candidate, ...]:
        loops = op.contraction
        assert loops is not None
        is_wide = op.results[0].bits > 32
        is_ragged = any(_is_ragged(op, candidate) for candidate in self.wide_candidates)
        if is_ragged and is_wide and op.results[0].element_type.startswith("i"):
            return self.small_candidates
        if not is_wide and op.extent(loops.n[-1]) <= self.few:
            return self.narrow_candidates
        if not is_wide and op.extent(loops.m[-1]) <= self.few:
            return self.flat_candidates
        if is_wide or (is_ragged and _is_narrow(op)):
            return self.wide_candidates
        return self.candidates

    @staticmethod
    def _cost(op: Op, candidate: Candidate, target: Target) -> tuple[int, int]:
        """Work of the busiest multiprocessor; the larger tile if it is the same."""
        loops = op.contraction
        assert loops is not None
        tiles = 1
        for loop in (*loops.batch, *loops.m[:-1], *loops.n[:-1]):
            tiles *= max(1, op.extent(loop))
        tiles *= -(-op.extent(loops.m[-1]) // candidate.m)
        tiles *= -(-op.extent(loops.n[-1]) // candidate.n)
        # Blocks that are resident together take turns, so a multiprocessor's share counts.
        share = -(-tiles // target.multiprocessors)
        staging = 8 * (candidate.m + candidate.n)
        return share * (candidate.m * candidate.n + staging), -candidate.m * candidate.n


def _is_ragged(op: Op, candidate: Candidate) -> bool:
    """Whether some tiles of a contraction are not whole, or may not be."""
    loops = op.contraction
    assert loops is not None
    sizes = ((loops.m, candidate.m), (loops.n, candidate.n), (loops.k, candidate.k))
    return any((op.extents[of[-1]] or 1) % size for of, size in sizes)


def _is_narrow(op: Op) -> bool:
    return any(operand.bits < 16 for operand in op.inputs)
