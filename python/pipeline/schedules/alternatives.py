"""What a schedule chose from, for those who want to choose otherwise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, NamedTuple

from .choosing import SCHEDULES
from .cost import count_cycles, count_resident
from .kernel import Kernel
from .target import Target
from .tile import Schedule


class Alternative(NamedTuple):
    """A tile of a result that was weighed, as ``128x128x64``.

    ``threads``: of a block, with those that only fill rings. ``registers``: that a thread is
    estimated to take. ``resident``: blocks that share a multiprocessor. ``cost``: in the unit of
    its weighing; None if no block fits.
    """

    tile: str
    threads: int
    slots: int
    registers: int
    resident: int
    cost: float | None
    is_chosen: bool


class Weighing(NamedTuple):
    """Why a kernel has its tile.

    ``schedule``: the class of its schedule, of which ``rule`` says what it does and ``numbers``
    what it goes by. ``passed_over``: classes that come before, and are for other kernels.
    ``alternatives``: what it chose from by cost in a ``unit``, the best first; empty where its rule
    leaves no choice.
    """

    schedule: str
    rule: str
    numbers: Mapping[str, str]
    passed_over: tuple[str, ...]
    unit: str
    alternatives: tuple[Alternative, ...]


def weigh(kernel: Kernel, target: Target) -> Weighing:
    """Return why a kernel has the tile that is chosen for it."""
    passed_over: list[str] = []
    for schedule in SCHEDULES:
        if schedule.matches(kernel, target):
            break
        passed_over.append(type(schedule).__name__)
    kind: Any = type(schedule)
    numbers = {
        field.name: str(getattr(schedule, field.name))
        for field in fields(kind)
        if not field.name.endswith("candidates")
    }
    doc = (kind.__doc__ or "").strip()
    return Weighing(
        kind.__name__,
        " ".join(doc.split()),
        numbers,
        tuple(passed_over),
        "cycles",
        _list_alternatives(schedule, kernel, target),
    )


def _list_alternatives(
    schedule: Schedule, kernel: Kernel, target: Target
) -> tuple[Alternative, ...]:
    from .contraction import Staged

    if not isinstance(schedule, Staged):
        return ()
    op = kernel.main
    chosen, slots = schedule.find_best(op, target)
    found = []
    for candidate, of in schedule.list_candidates(op, target):
        cycles = count_cycles(candidate, of, op, target)
        found.append(
            Alternative(
                f"{candidate.m}x{candidate.n}x{candidate.k}",
                candidate.resident_threads,
                of,
                candidate.registers,
                count_resident(candidate, of, op, target),
                None if math.isinf(cycles) else round(cycles),
                (candidate, of) == (chosen, slots),
            )
        )
    found.sort(key=lambda one: (not one.is_chosen, math.inf if one.cost is None else one.cost))
    return tuple(found)
