"""What a contraction costs: clock cycles of the busiest multiprocessor, estimated."""

from __future__ import annotations

import math
from typing import NamedTuple

from .candidate import Candidate
from .kernel import Op
from .matrix import candidate_rate
from .target import Target

_LATENCY = 1400
"""Cycles from the start of a copy from global memory to its arrival while many are under way."""

_TURN = 30
"""Cycles of a turn of the loop in which a block waits for its threads."""

_EXPOSED = 0.5
"""The part of the time of copies that computing does not hide, though they overlap."""

_SCHEDULERS = 4
_ISSUES = 128  # of threads in a cycle, by all schedulers
_REGISTERS = 1 << 16


class Rates(NamedTuple):
    """Products that a multiprocessor adds up in a cycle, and bytes that it gets of the L2 cache.

    Source: NVIDIA, "CUDA C++ Programming Guide", throughput of arithmetic instructions.
    """

    f32: int
    f64: int
    i32: int
    cache_bytes: int


_RATES = {
    75: Rates(64, 2, 64, 32),
    80: Rates(64, 32, 64, 40),
    86: Rates(128, 2, 64, 32),
    89: Rates(128, 2, 64, 32),
    90: Rates(128, 64, 64, 48),
    100: Rates(128, 64, 64, 48),
    120: Rates(128, 2, 64, 32),
}
"""By architecture, from which on."""


def rates_of(target: Target) -> Rates:
    """Return the rates of the latest architecture that is no later than that of `target`."""
    return _RATES[max(number for number in _RATES if number <= max(target.architecture, 75))]


def count_resident(candidate: Candidate, slots: int, op: Op, target: Target) -> int:
    """Return how many blocks share a multiprocessor; 0 if one does not fit."""
    warps = -(-candidate.resident_threads // 32)
    # Registers are given to warps by multiples of 256.
    registers = -(-candidate.registers * 32 // 256) * 256 * warps
    bytes_of = target.count_blocks(slots * slot_bytes(candidate, op), candidate.resident_threads)
    return min(_REGISTERS // registers, bytes_of)


def slot_bytes(candidate: Candidate, op: Op) -> int:
    """Return the workgroup memory of the tiles of both operands."""
    left, right = (operand.bits for operand in op.inputs[:2])
    return candidate.k * (candidate.m * left + candidate.n * right) // 8


def count_cycles(candidate: Candidate, slots: int, op: Op, target: Target) -> float:
    """Return the cycles that the multiprocessor with the most blocks takes; inf if none fits."""
    loops = op.contraction
    assert loops is not None
    resident = count_resident(candidate, slots, op, target)
    if resident == 0:
        return math.inf
    others = math.prod(
        max(1, op.extent(loop)) for loop in (*loops.batch, *loops.m[:-1], *loops.n[:-1])
    )
    m, n, k = (op.extent(of[-1]) for of in (loops.m, loops.n, loops.k))
    tiles = others * -(-m // candidate.m) * -(-n // candidate.n)
    steps = math.prod(max(1, op.extent(loop)) for loop in loops.k[:-1]) * -(-k // candidate.k)
    share = -(-tiles // target.multiprocessors)
    rounds, rest = divmod(share, resident)
    cycles = rounds * _round(candidate, slots, op, target, resident, steps)
    return cycles + (_round(candidate, slots, op, target, rest, steps) if rest else 0)


def _round(
    candidate: Candidate, slots: int, op: Op, target: Target, together: int, steps: int
) -> float:
    """Return the cycles of `together` resident blocks, from first copy to last store."""
    rates = rates_of(target)
    work = candidate.m * candidate.n * candidate.k
    if candidate.is_matrix:
        products = work / candidate_rate(candidate, op, target) * (1 + candidate.overhead)
    else:
        products = work / products_a_cycle(op, rates) + work * candidate.overhead / _ISSUES
    share = together * candidate.threads / 32 / _SCHEDULERS
    products *= math.ceil(share) / share
    bits = op.results[0].bits
    copies = slot_bytes(candidate, op) / rates.cache_bytes
    ahead = _LATENCY / (max(slots - 1, 1) * together)
    if candidate.producers:  # warps that multiply wait for nobody, and start no copies
        turn = max(products, copies, ahead)
    else:
        turn = max(products + _EXPOSED * copies, copies, ahead) + _TURN / together
    stores = candidate.m * candidate.n * bits / 8 / rates.cache_bytes
    return together * (steps * turn + stores) + _LATENCY


def products_a_cycle(op: Op, rates: Rates) -> float:
    """Return the products that lanes without tensor cores add up in a cycle."""
    result = op.results[0]
    if result.element_type.startswith("i"):
        return rates.i32 if result.bits <= 32 else rates.i32 / 4
    return rates.f64 if result.bits > 32 else rates.f32
