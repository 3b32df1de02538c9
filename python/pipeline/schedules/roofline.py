"""What bounds a kernel at best, by the rates that schedules go by."""

from __future__ import annotations

import math
from typing import NamedTuple

from .cost import products_a_cycle, rates_of
from .kernel import Kernel, Op, Operand
from .matrix import matrix_rate
from .target import Target


class Roofline(NamedTuple):
    """What a kernel has to do, and what a multiprocessor does in a cycle.

    ``work``: products of sums, or operations on elements, in all. ``bytes``: of each operand once.
    ``is_matrix``: products are those of tensor cores.
    """

    unit: str
    work: int
    bytes: int
    work_a_cycle: float
    bytes_a_cycle: float
    is_matrix: bool

    @property
    def intensity(self) -> float:
        """Work for each byte, if each is moved once."""
        return self.work / max(self.bytes, 1)

    @property
    def ridge(self) -> float:
        """The work for each byte from which on computing takes longer than moving."""
        return self.work_a_cycle / self.bytes_a_cycle


def find_roofline(kernel: Kernel, target: Target) -> Roofline | None:
    """Return what bounds a kernel; None if extents are known only to its launch."""
    if kernel.is_loop or any(None in op.extents for op in kernel.ops):
        return None
    products = [op for op in kernel.ops if op.contraction]
    rates = rates_of(target)
    if products:
        main = max(products, key=_iterations)
        rate = matrix_rate(main, target)
        work = sum(map(_iterations, products))
        speed = rate or products_a_cycle(main, rates)
        unit = "products"
    else:
        rate, speed, unit = 0, rates.f32, "operations"
        work = sum(_iterations(op) * max(op.body_ops, 1) for op in kernel.ops)
    return Roofline(unit, work, _bytes(kernel), speed, rates.cache_bytes, rate > 0)


def _iterations(op: Op) -> int:
    return math.prod(extent or 0 for extent in op.extents)


def _bytes(kernel: Kernel) -> int:
    """Return the bytes of what is read from and written to outside, as far as shapes tell.

    What one operation makes for another one of the kernel is not told apart by its operands; so
    these are the inputs that are no result's equal, and the results of the last operation.
    """
    made = {(one.element_type, one.shape) for op in kernel.ops[:-1] for one in op.results}
    read = [
        one
        for op in kernel.ops
        for one in op.inputs
        if (one.element_type, one.shape) not in made or op is kernel.ops[0]
    ]
    return sum(map(_size, (*read, *kernel.root.results)))


def _size(operand: Operand) -> int:
    return math.prod(extent or 0 for extent in operand.shape) * operand.bits // 8
