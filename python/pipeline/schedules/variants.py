"""Which tiles a kernel can have: what its schedule would choose by other numbers.

Each is made by the schedule itself, so that what it keeps to (loops that blocks share, memory that
there is) holds for all of them. Whether a tile compiles, is right and is fast is found out by
trying.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from .candidate import Candidate
from .choosing import SCHEDULES
from .contraction import Staged
from .cost import count_cycles
from .kernel import Kernel, Op
from .matrix import matrix_rate
from .target import Target
from .tile import Schedule, Tile

_ALWAYS, _NEVER = -math.inf, 1.0
"""Parts of the time that a split has to save to be taken at all, or never is."""

_NUMBERS: Mapping[str, Mapping[str, Sequence[Any]]] = {
    "Elementwise": {
        "threads": (256, 128, 512),
        "vectors": (4, 1, 2, 8),
        "columns": (1024, 256, 4096),
    },
    "Transpose": {"edge": (64, 32, 128), "narrow_edge": (32, 64), "threads": (256, 128, 512)},
    "Rows": {"vectors": (4, 1, 2, 8), "threads": (1024, 256, 512), "shared_threads": (256, 128)},
    "Columns": {
        "lanes": (8, 4, 16),
        "threads": (256, 128, 512),
        "few_threads": (64, 128),
        "many": (1 << 14, 0, 1 << 30),
    },
    "Whole": {"elements_per_thread": (16, 4, 8, 32)},
    "Narrow": {
        "rows": ((4, 2, 1), (1,), (2,), (4,)),
        "groups": ((1, 2, 4, 8), (1,), (2,), (4,)),
        "threads": (256, 128, 512),
        "steps": (4, 2, 8),
    },
    "Convolution": {
        "step_bytes": (64, 32, 128),
        "matrix_step_bytes": (128, 64),
        "slots": ((3, 2), (4, 3, 2), (2,), ()),
    },
    "Depthwise": {"threads": (256, 128), "pixels": (64, 32, 128), "channels": (32, 16, 64)},
    "Window": {"threads": (128, 64, 256), "columns": (32, 16, 64)},
    "Chained": {
        "rows": ((64, 32, 16), (64,), (32,), (16,)),
        "columns": ((128, 96, 64), (128,), (96,), (64,)),
        "sums": (32, 16, 64),
        "slots": (2, 3),
    },
    "Points": {"threads": (256, 64, 128, 512), "columns": (64, 32, 128)},
    "Tiles": {"threads": (256, 128, 512), "sums": (16, 8, 32)},
    "Fallback": {"threads": (128, 64, 256)},
}
"""The numbers of each class that are varied; the first of each are its own."""

_CANDIDATES = ("candidates", "matrix_candidates", "narrow_candidates", "flat_candidates")


def list_variants(kernel: Kernel, target: Target) -> list[Tile]:
    """Return tiles that a kernel can have: the one that is chosen by default, then others.

    Others are in the order in which they are worth a try: contractions by estimated cycles, the
    rest by how far their numbers are from the usual ones.
    """
    schedule = next(one for one in SCHEDULES if one.matches(kernel, target))
    chosen = schedule.choose(kernel, target)
    if isinstance(schedule, Staged):
        others = _vary_staged(schedule, kernel, target)
    else:
        others = (one.choose(kernel, target) for one in _vary(schedule))
    return list(dict.fromkeys((chosen, *others)))


# --- contractions ---------------------------------------------------------------------------------


def _vary_staged(schedule: Staged, kernel: Kernel, target: Target) -> Iterator[Tile]:
    """Yield tiles of a contraction, each with all that can be done about a sum that is shared."""
    op = kernel.main
    pairs = schedule.list_candidates(op, target)
    known = {(one.m, one.n, one.k, one.threads) for one, _ in pairs}
    for more in _make_candidates(op, target, pairs[0][0]):
        if (more.m, more.n, more.k, more.threads) not in known:
            pairs += schedule.list_slots(op, more, target)
    costs = [(count_cycles(one, slots, op, target), one, slots) for one, slots in pairs]
    fitting = sorted((one for one in costs if one[0] < math.inf), key=lambda one: one[0])
    for split in _vary_split(schedule):
        for _, candidate, slots in fitting:
            yield split.make_tile(kernel, candidate, slots, target)


def _make_candidates(op: Op, target: Target, like: Candidate) -> Iterator[Candidate]:
    """Yield tiles that no schedule chooses, with sums that threads have registers for."""
    if op.results[0].bits > 32 or min(like.m, like.n) < 32:
        return
    is_matrix = bool(matrix_rate(op, target))
    bits = max(operand.bits for operand in op.inputs[:2])
    steps = [512 // bits, 1024 // bits] if is_matrix else [8, 16, 32]
    sides = (32, 64, 128, 256)
    for m, n, k, threads in product(sides, sides, steps, (64, 128, 256)):
        sums = m * n // threads
        if 16 <= sums <= 128:
            overhead = (0.03 if is_matrix else 0.06) * 128 / sums
            registers = min(255, sums + (100 if is_matrix else 60))
            yield Candidate(m, n, k, threads, registers, overhead, is_matrix=is_matrix)


# --- all others -----------------------------------------------------------------------------------


def _vary(schedule: Schedule) -> Iterator[Schedule]:
    """Yield a schedule with other numbers, those first that differ in the fewest."""
    made: Any = schedule
    numbers = dict(_NUMBERS.get(type(schedule).__name__, {}))
    for name in _CANDIDATES:
        if several := getattr(schedule, name, ()):
            numbers[name] = (several, *((one,) for one in several))
    choices = sorted(
        product(*(range(len(values)) for values in numbers.values())),
        key=lambda places: (sum(map(bool, places)), places),
    )
    for split in _vary_split(made):
        for places in choices:
            chosen = zip(numbers.items(), places, strict=True)
            yield replace(split, **{name: values[place] for (name, values), place in chosen})


def _vary_split(schedule: Any) -> Iterator[Any]:
    """Yield a schedule as it is, then such as share sums never, or among more or fewer blocks."""
    yield schedule
    if (split := getattr(schedule, "split", None)) is None:
        return
    yield replace(schedule, split=replace(split, worthwhile=_NEVER))
    for blocks in (1, 2, 4, 8):
        yield replace(schedule, split=replace(split, blocks=blocks, worthwhile=_ALWAYS))
