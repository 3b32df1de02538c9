"""How many blocks of a kernel share a multiprocessor, and what keeps more of them away."""

from __future__ import annotations

import math
from typing import NamedTuple

from ..system.toolchain import load_native

REGISTERS = 1 << 16
"""32-bit registers of a multiprocessor, of which each of its four parts has a quarter."""
_PARTS, _WARP, _UNIT = 4, 32, 256  # registers are handed to warps by units


class Occupancy(NamedTuple):
    """The blocks that share a multiprocessor, and the most by each limit alone.

    ``memory`` is None for a kernel without workgroup memory, where blocks take none.
    """

    blocks: int
    registers: int
    memory: int | None
    threads: int
    slots: int
    max_threads: int
    block_threads: int

    @property
    def limiters(self) -> tuple[str, ...]:
        """What there is no more of: ``registers``, ``memory``, ``threads`` or ``slots``."""
        names = ("registers", "memory", "threads", "slots")
        return tuple(name for name in names if getattr(self, name) == self.blocks)

    @property
    def share(self) -> float:
        """The share of the threads that a multiprocessor can have."""
        return self.blocks * self.block_threads / self.max_threads


def occupy(chip: str, threads: int, registers: int, shared_bytes: int) -> Occupancy:
    """Return how blocks of so many threads lie on a multiprocessor.

    registers: per thread. shared_bytes: of a block.
    """
    (native,) = (one for one in load_native().chips() if one.name == chip)
    warps = math.ceil(threads / _WARP)
    of_warp = math.ceil(max(registers, 1) * _WARP / _UNIT) * _UNIT
    by_registers = REGISTERS // _PARTS // of_warp * _PARTS // warps
    taken = shared_bytes + native.system_bytes_per_block
    by_memory = native.multiprocessor_bytes // taken if taken else None
    by_threads = native.max_threads // (warps * _WARP)
    known = (by_registers, by_memory, by_threads, native.max_blocks)
    return Occupancy(
        min(one for one in known if one is not None),
        by_registers,
        by_memory,
        by_threads,
        native.max_blocks,
        native.max_threads,
        warps * _WARP,
    )
