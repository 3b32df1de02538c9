"""How much of a chip a launch fills: resident blocks of a multiprocessor, and waves of blocks."""

from __future__ import annotations

import math
from typing import NamedTuple

from pipeline.report.occupancy import occupy
from pipeline.system.toolchain import load_native


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
    fitting = occupy(chip, threads, registers, shared_bytes).blocks
    if fitting < 1:
        return None
    (native,) = (one for one in load_native().chips() if one.name == chip)
    slots = fitting * native.multiprocessors
    waves = math.ceil(blocks / slots)
    return Residence(fitting, slots, waves, blocks / (waves * slots))
