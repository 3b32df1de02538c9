"""Whatever is not recognised."""

from __future__ import annotations

from dataclasses import dataclass

from .kernel import Kernel, Op
from .reduction import fit_rows
from .target import Target
from .tile import Tile, fill_block


@dataclass(frozen=True, slots=True)
class Fallback:
    """Each thread computes a result, sums included, from the first to the last iteration.

    There are as many as a block has memory for, of what others make of their rows.
    """

    threads: int = 128

    def matches(self, kernel: Kernel, target: Target) -> bool:
        return True

    def choose(self, kernel: Kernel, target: Target) -> Tile:
        rows, recompute = fit_rows(kernel, self.threads, target)
        block = fill_block(kernel, rows, kernel.shared_loops)
        return Tile(block, self.threads, recompute=recompute, reason=_reason(kernel))


def _reason(kernel: Kernel) -> str:
    op = next((op for op in kernel.ops if op.sums and not op.is_combinable), None)
    if op is None:
        return f"there is no form for a {kernel.kind} like this"
    return f"{_describe(op)}, the partial results of which cannot be put together"


def _describe(op: Op) -> str:
    if len(op.results) > 1:
        return f"it is a {op.kind} with {len(op.results)} results"
    return f"it is a {op.kind} by no known operation"
