"""Sums of products: operands staged in workgroup memory, sums in registers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from .candidate import Candidate
from .cost import count_cycles
from .kernel import Kernel, Op
from .matrix import matrix_candidates
from .split import PRODUCTS, ProductSplit
from .target import Target
from .tile import Tile

# Each thread has 8 x 16 or 8 x 8 sums, so that 21 or 16 fused multiply-adds come to one load of 16
# bytes; of small results 8 x 4, which leave a thread less to do.
_CANDIDATES = (
    Candidate(256, 128, 16, 256, 255, 0.075),
    Candidate(128, 128, 16, 256, 128, 0.11),
    Candidate(128, 64, 16, 128, 154, 0.12),
    Candidate(64, 64, 16, 64, 166, 0.13),
    Candidate(64, 64, 16, 128, 104, 0.2),
)
# What is copied through registers is half as much a turn.
_STAGING_CANDIDATES = (
    Candidate(256, 128, 8, 256, 255, 0.09),
    Candidate(128, 128, 16, 256, 140, 0.11),
    Candidate(128, 64, 8, 128, 152, 0.16),
    Candidate(64, 64, 8, 64, 168, 0.17),
)
# Of few rows, or columns: 8 x 4 sums.
_NARROW_CANDIDATES = (
    Candidate(128, 16, 16, 64, 104, 0.2),
    Candidate(64, 16, 16, 32, 104, 0.2),
)
_FLAT_CANDIDATES = (
    Candidate(16, 128, 16, 64, 104, 0.2),
    Candidate(16, 64, 16, 32, 104, 0.2),
)
# Sums of 64 bits take two registers each: 8 x 4 of them.
_WIDE_CANDIDATES = (
    Candidate(64, 64, 16, 128, 128, 0.4),
    Candidate(64, 32, 16, 64, 128, 0.4),
)
# Copies of ragged tiles take registers besides.
_SMALL_CANDIDATES = (Candidate(64, 32, 16, 128, 128, 0.4),)


@dataclass(frozen=True, slots=True)
class Staged:
    """Tiles of both operands go through a ring of slots in workgroup memory.

    The candidate with which all multiprocessors finish first is taken, with the most ``slots`` for
    which that holds. Results of ``few`` rows or columns have candidates that are no larger. A
    result of at most ``least`` rows or columns does not match: most of a tile would be empty. The
    bounds of a ragged operand take ``ragged_registers`` of a thread. Blocks share sums where there
    are too few tiles, or a few more than multiprocessors.
    """

    slots: tuple[int, ...] = (4, 3, 2)
    candidates: tuple[Candidate, ...] = _CANDIDATES
    staging_candidates: tuple[Candidate, ...] = _STAGING_CANDIDATES
    narrow_candidates: tuple[Candidate, ...] = _NARROW_CANDIDATES
    flat_candidates: tuple[Candidate, ...] = _FLAT_CANDIDATES
    wide_candidates: tuple[Candidate, ...] = _WIDE_CANDIDATES
    small_candidates: tuple[Candidate, ...] = _SMALL_CANDIDATES
    ragged_registers: int = 16
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
        return self.make_tile(kernel, *self.find_best(kernel.main, target), target)

    def make_tile(self, kernel: Kernel, best: Candidate, slots: int, target: Target) -> Tile:
        """Return the tile that a candidate is of a kernel, with its sum shared if need be."""
        op = kernel.main
        assert op.contraction is not None
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
        reduction[step] = best.k
        producers = best.producers if slots > 1 else 0
        sizes = (tuple(block), best.threads, tuple(reduction))
        tile = Tile(*sizes, slots=slots, producers=producers)
        return self.split.apply(tile, kernel, target)

    def list_candidates(self, op: Op, target: Target) -> list[tuple[Candidate, int]]:
        """Return what there is to choose from, each with numbers of slots."""
        candidates = self._candidates(op, target)
        return [pair for one in candidates for pair in self.list_slots(op, one, target)]

    def list_slots(
        self, op: Op, candidate: Candidate, target: Target
    ) -> list[tuple[Candidate, int]]:
        """Return a candidate as it is for this sum, with each number of slots that it can have."""
        adapted = self._adapt(op, candidate)
        return [(adapted, slots) for slots in self._slots(op, adapted, target)]

    def find_best(self, op: Op, target: Target) -> tuple[Candidate, int]:
        """Return the candidate that takes least time, and its slots.

        Of equals that is the larger one, or the smaller one if none fits.
        """

        def rank(pair: tuple[Candidate, int]) -> tuple[float, int, int]:
            candidate, slots = pair
            cycles = count_cycles(candidate, slots, op, target)
            sign = 1 if math.isinf(cycles) else -1
            return cycles, sign * candidate.m * candidate.n, sign * slots

        return min(self.list_candidates(op, target), key=rank)

    def _slots(self, op: Op, candidate: Candidate, target: Target) -> tuple[int, ...]:
        """Return numbers of slots: no more than steps, and two at most by way of registers."""
        assert op.contraction is not None
        steps = math.prod(op.extent(loop) for loop in op.contraction.k[:-1])
        steps *= -(-op.extent(op.contraction.k[-1]) // candidate.k)
        most = min(steps, self.slots[0] if target.has_async_copies else 2)
        return tuple(slots for slots in self.slots if slots <= most) or (0,)

    def _adapt(self, op: Op, candidate: Candidate) -> Candidate:
        """Return `candidate` as it is for this sum."""
        keeps = not candidate.is_group and _is_ragged(op, candidate)  # TMA keeps nothing
        registers = candidate.registers + self.ragged_registers * keeps
        return replace(candidate, k=self._step(op, candidate), registers=min(registers, 255))

    @staticmethod
    def _step(op: Op, best: Candidate) -> int:
        """Return the step along the sum, of which longer ones run out of registers."""
        loops = op.contraction
        assert loops is not None
        is_wide = op.results[0].bits > 32
        # What copies of ragged tiles keep comes on top, and so does what is not of whole words.
        is_held = not best.is_matrix and (is_wide or _is_narrow(op))
        divisor = 2 if is_held and _is_ragged(op, best) else 1
        step, extent = best.k // divisor, op.extents[loops.k[-1]]
        if extent is None or not 1 < extent <= best.k:
            return step
        # One step for all would have no loop.
        return max(1, min(step, (1 << ((extent - 1).bit_length() - 1)) // divisor))

    def _candidates(self, op: Op, target: Target) -> tuple[Candidate, ...]:
        loops = op.contraction
        assert loops is not None
        if matrix := matrix_candidates(op, target, self.few):
            return matrix
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
        candidates = self.candidates if target.has_async_copies else self.staging_candidates
        if op.inputs[1].fastest_loop not in loops.k:
            return candidates
        # Columns that are contiguous along the sum are kept for several steps of it.
        return tuple(one for one in candidates if one.m * one.n <= 64 * one.threads)


def _is_ragged(op: Op, candidate: Candidate) -> bool:
    """Whether some tiles of a contraction are not whole, or may not be."""
    loops = op.contraction
    assert loops is not None
    sizes = ((loops.m, candidate.m), (loops.n, candidate.n), (loops.k, candidate.k))
    return any((op.extents[of[-1]] or 1) % size for of, size in sizes)


def _is_narrow(op: Op) -> bool:
    return any(operand.bits < 16 for operand in op.inputs)
