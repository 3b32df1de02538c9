"""How much of a chip a launch fills: resident blocks of a multiprocessor, and waves of blocks."""

from __future__ import annotations

import math
from typing import NamedTuple

from pipeline.system.toolchain import load_native

REGISTERS = 1 << 16
"""32-bit registers of a multiprocessor, of which each of its four parts has a quarter."""
PARTS, WARP, UNIT = 4, 32, 256  # registers are handed to warps by units


class Residence(NamedTuple):
    """What is resident: blocks on a multiprocessor, on all of them, and the waves of a launch.

    ``quantisation``: the share of the places of all waves that have a block.
    """

    blocks: int
    slots: int
    waves: int
    quantisation: float


def reside(
    chip: str, blocks: int, threads: int, registers: int, shared_bytes: int
) -> Residence | None:
    """Return how a launch lies on a chip; None if no block fits, or the launch is not known.

    blocks, threads: of the launch, and of a block. registers: per thread. shared_bytes: of a block.
    """
    if not blocks or not threads:
        return None
    (native,) = (one for one in load_native().chips() if one.name == chip)
    warps = math.ceil(threads / WARP)
    of_warp = math.ceil(max(registers, 1) * WARP / UNIT) * UNIT
    fitting = REGISTERS // PARTS // of_warp * PARTS // warps
    taken = shared_bytes + native.system_bytes_per_block
    if taken:
        fitting = min(fitting, native.multiprocessor_bytes // taken)
    fitting = min(fitting, native.max_threads // (warps * WARP), native.max_blocks)
    if fitting < 1:
        return None
    slots = fitting * native.multiprocessors
    waves = math.ceil(blocks / slots)
    return Residence(fitting, slots, waves, blocks / (waves * slots))
