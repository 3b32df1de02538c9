"""What a schedule chooses for one kernel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from .kernel import Kernel, Op
from .target import Target

MAX_TILED_LOOPS = 10  # as many ids of blocks has a loop over blocks

MAX_SLOTS = 8  # of a ring

MAX_PRODUCERS = 512  # threads that only fill rings

MAX_PERSISTENT = 65535  # blocks that go through all tiles


@dataclass(frozen=True, slots=True)
class Tile:
    """The sizes of one kernel.

    ``block``: what a block does of each loop of the root; 0 for all of it. ``reduction``: the steps
    of a contraction along its sums; none if it goes through them at once. ``threads``: of a block.
    ``split``: what a block does of each loop of the kernel's sum, if several blocks share it; none
    if they do not. ``columns``: how many of the first of two contractions are made at a time; 0
    for all. ``stream``: how many of them are made and multiplied at a time, so that no row is kept;
    0 for whole rows. ``slots``: of the rings that copies to workgroup memory run ahead in; 0 for
    none. ``producers``: threads that a block has besides to fill them, if warp groups multiply; 0
    for none. ``blocks``: how many then go through all tiles; 0 for a block for each tile.
    ``recompute``: no element-wise intermediate result is kept. ``direct``: what is read
    goes to registers, and not to workgroup memory first. ``reason``: why this is the general form
    and none for its kind; empty if it is not.
    """

    block: tuple[int, ...]
    threads: int
    reduction: tuple[int, ...] = ()
    recompute: bool = False
    split: tuple[int, ...] = ()
    columns: int = 0
    direct: bool = False
    slots: int = 0
    stream: int = 0
    producers: int = 0
    blocks: int = 0
    reason: str = ""

    def __post_init__(self) -> None:
        """Raise ValueError for sizes that no kernel can have."""
        from .._native import MAX_BLOCK_THREADS

        if self.threads < 1 or self.threads + self.producers > MAX_BLOCK_THREADS:
            threads = self.threads + self.producers
            raise ValueError(f"a block has 1 to {MAX_BLOCK_THREADS} threads, not {threads}")
        if self.producers % 32 or not 0 <= self.producers <= MAX_PRODUCERS:
            raise ValueError(f"up to {MAX_PRODUCERS} threads fill rings, in whole warps")
        if not 0 <= self.blocks <= MAX_PERSISTENT:
            raise ValueError(f"up to {MAX_PERSISTENT} blocks go through all tiles")
        if not 0 <= self.slots <= MAX_SLOTS:
            raise ValueError(f"a ring has up to {MAX_SLOTS} slots, not {self.slots}")
        if any(size < 0 for size in (*self.block, *self.reduction, *self.split)):
            raise ValueError("sizes of tiles are positive, or 0 for all")
        tiled = max(len([*filter(None, sizes)]) for sizes in (self.block, self.split))
        if tiled > MAX_TILED_LOOPS:
            raise ValueError(f"blocks share out {MAX_TILED_LOOPS} loops at most")


class Schedule(Protocol):
    """Chooses tiles for the kernels of one class."""

    def matches(self, kernel: Kernel, target: Target) -> bool:
        """Tell whether this is the schedule for a kernel."""

    def choose(self, kernel: Kernel, target: Target) -> Tile:
        """Return the tiles of a kernel that matches."""


def round_up_to_power(value: int) -> int:
    """Return the least power of two that is not less than `value`."""
    return 1 << max(value - 1, 0).bit_length()


def clamp_threads(wanted: int, least: int, most: int) -> int:
    """Return the power of two next above `wanted` within bounds."""
    return min(max(round_up_to_power(wanted), least), most)


def fill_block(
    kernel: Kernel, points: int, order: Sequence[int], limits: Sequence[int] = ()
) -> tuple[int, ...]:
    """Return tiles of up to `points` iterations, as long as can be along the first of `order`.

    `limits` are the largest sizes along the first loops of `order`. What blocks cannot share out,
    and what there are no ids of blocks left for, is not tiled.
    """
    block = [0] * len(kernel.shared)
    for place, loop in enumerate(order[:MAX_TILED_LOOPS]):
        limit = limits[place] if place < len(limits) else points
        extent = kernel.root.extent(loop)
        size = max(1, min(points, limit, round_up_to_power(extent)))
        block[loop] = min(size, extent) if extent > 0 else size
        points = max(1, points // size)
    return tuple(block)


def count_tiles(op: Op, sizes: Iterable[int]) -> int:
    """Return how many tiles an operation has, extents that are not known counted as usual."""
    tiles = 1
    for loop, size in enumerate(sizes):
        if size:
            tiles *= -(-op.extent(loop) // size)
    return tiles
