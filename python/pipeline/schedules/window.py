"""Convolutions and poolings."""

from __future__ import annotations

from dataclasses import dataclass

from .kernel import Kernel
from .target import Target
from .tile import Tile, fill_block


@dataclass(frozen=True, slots=True)
class Window:
    """Each thread goes through the window of one result.

    ``columns``: results side by side in memory, which share most of what they read.
    """

    threads: int = 128
    columns: int = 32

    def matches(self, kernel: Kernel, target: Target) -> bool:
        sums = [op for op in kernel.ops if op.sums]
        return kernel.kind == "window" and any(kernel.shared) and sums[0].is_combinable

    def choose(self, kernel: Kernel, target: Target) -> Tile:
        block = fill_block(kernel, self.threads, kernel.shared_loops, (self.columns,))
        return Tile(block, self.threads)
