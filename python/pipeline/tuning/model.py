"""What a kernel costs by what is known of it without a GPU: cycles of the busiest multiprocessor.

Counted are the instructions and the accesses to memory of some of its blocks, as the emulator sees
them, the registers that ptxas gives it, and, where nvdisasm is there, the stalls of its main loop.
The unit is that of :mod:`pipeline.schedules.cost`, whose rates it takes. No GPU was measured.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ..report.occupancy import occupy
from ..schedules.cost import Rates, rates_of
from ..schedules.target import Target

LATENCY = 1400
"""Cycles of the first load and the last store of a block that nothing hides."""
LAUNCH = 3500
"""Cycles that a further launch takes."""
_LANES = 128
_SCHEDULERS = 4
_HIDDEN = 0.75
"""The part of the lesser costs that the greatest one hides."""


class LaunchFigures(NamedTuple):
    """A launch: its sizes, what ptxas gives its threads, and what a block of it does.

    ``instructions``: of LLVM, of all threads. ``wavefronts``: passes over the banks of workgroup
    memory. ``sectors``: of global memory. ``products``: of tensor cores. ``stalls``: cycles of a
    turn of the main loop for each of its instructions, if a warp is alone; 0 if not known.
    """

    kernel: str
    blocks: int
    threads: int
    registers: int
    spill_bytes: int
    shared_bytes: int
    instructions: float
    wavefronts: float
    sectors: float
    products: float = 0.0
    stalls: float = 0.0


def count_launch(figures: LaunchFigures, target: Target, product_rate: float) -> float:
    """Return the cycles of a launch; inf if no block fits a multiprocessor.

    product_rate: products that the tensor cores of a multiprocessor add up in a cycle.
    """
    taken = occupy(target.chip, figures.threads, figures.registers, figures.shared_bytes)
    if taken.blocks == 0:
        return math.inf
    share = -(-figures.blocks // target.multiprocessors)
    together = min(share, taken.blocks)
    block = _count_block(figures, rates_of(target), product_rate, together)
    return share * block + -(-share // together) * LATENCY


def count_program(launches: list[LaunchFigures], target: Target, product_rate: float) -> float:
    """Return the cycles of all launches, one after the other."""
    costs = [count_launch(one, target, product_rate) for one in launches]
    return sum(costs) + LAUNCH * max(0, len(costs) - 1)


def _count_block(figures: LaunchFigures, rates: Rates, product_rate: float, together: int) -> float:
    warps = together * figures.threads / 32 / _SCHEDULERS
    # What a warp waits for others fill, as far as there are any.
    waiting = max(1.0, figures.stalls / max(warps, 1.0))
    # What is spilled is stored and loaded again, in the main loop as a rule.
    spilling = 1 + figures.spill_bytes / 64
    costs = [
        figures.instructions / _LANES * waiting * spilling / min(1.0, warps),
        figures.wavefronts,
        figures.sectors * 32 / rates.cache_bytes,
        figures.products / product_rate if product_rate else 0.0,
    ]
    return max(costs) + (1 - _HIDDEN) * (sum(costs) - max(costs))
