"""Which accesses of a kernel need to be kept apart, and whether they are: by enumeration.

Two accesses of different threads are at odds if they touch the same byte, one of them writes, and
they are not both atomic. They are in order if a barrier of the block stands between them, or, for
threads of one warp, one of either kind. A *demand* is the set of sites that lie between two such
accesses: in one of them has to be a barrier. Each launch that the program names is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from oracles.sync.programs import WARP, Access, Barrier, Program
from oracles.sync.trace import Launch, Site, Threads, Trace, is_together, launches, sites, trace

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Race:
    """Two accesses at odds, and an example."""

    first: Access
    second: Access
    threads: tuple[int, int]
    byte: int
    launch: Launch

    def __str__(self) -> str:
        a, b = self.threads
        return (
            f"step {self.first.number} ({self.first}) by thread {a} and step {self.second.number} "
            f"({self.second}) by thread {b} at byte {self.byte}, {dict(self.launch)}"
        )


@dataclass(frozen=True)
class Place:
    """A site, with a barrier of the block or of warps; `barrier` is the one that is there."""

    site: Site
    is_warp: bool

    @property
    def barrier(self) -> Barrier | None:
        """The barrier that stands here already."""
        return self.site.barrier

    def __str__(self) -> str:
        return f"{self.site}{' (warp)' if self.is_warp else ''}"


@dataclass
class Analysis:
    """What there is to know of a kernel."""

    program: Program
    # Where barriers are, and where there could be one as all threads get there together.
    places: list[Place]
    # Sets of bits, one for each place, of which one at least is needed, with the numbers of the
    # two steps. An empty set says that nothing lies between them.
    demands: dict[tuple[int, int, int], Race] = field(default_factory=dict)
    # Barriers that not all threads that take part get to.
    divergent: list[Barrier] = field(default_factory=list)

    def present(self, removed: int | None = None) -> int:
        """Return the bits of the barriers that are there, but for the one of that number."""
        return sum(
            1 << bit
            for bit, place in enumerate(self.places)
            if place.barrier and place.barrier.number != removed
        )

    def races(self, removed: int | None = None) -> list[Race]:
        """Return what is not kept apart, without the barrier of that number."""
        present = self.present(removed)
        return [race for (mask, _, _), race in self.demands.items() if not mask & present]

    @property
    def unfixable(self) -> list[Race]:
        """What nothing could keep apart."""
        return [race for (mask, _, _), race in self.demands.items() if not mask]

    def open_demands(self) -> list[int]:
        """Return the smallest sets that are not met and can be."""
        present = self.present()
        masks = {mask for mask, _, _ in self.demands if mask and not mask & present}
        kept: list[int] = []
        for mask in sorted(masks, key=lambda mask: (mask.bit_count(), mask)):
            if not any(other & mask == other for other in kept):
                kept.append(mask)
        return kept


def analyze(program: Program) -> Analysis:
    """Look at all launches of a program."""
    traces = [(launch, trace(program, launch)) for launch in launches(program)]
    together = _find_together(program, [seen for _, seen in traces])
    places = [
        Place(site, is_warp)
        for site in together
        for is_warp in (False, True)
        if together[site][is_warp] and (not site.barrier or site.barrier.is_warp == is_warp)
    ]
    analysis = Analysis(program, places)
    analysis.divergent = [
        site.barrier
        for site, kinds in together.items()
        if site.barrier and not kinds[site.barrier.is_warp]
    ]
    for launch, seen in traces:
        for mask, race in _find_demands(program, launch, seen, places):
            key = (mask, race.first.number, race.second.number)
            analysis.demands.setdefault(key, race)
    return analysis


def _find_together(program: Program, traces: Sequence[Trace]) -> dict[Site, tuple[bool, bool]]:
    """Return at which sites all threads of a block, or of each warp, are together always."""
    block = dict.fromkeys(sites(program), True)
    warp = dict(block)
    seen: set[tuple[Site, bytes]] = set()
    for one in traces:
        for site, active in one.passings:
            if (key := (site, active.tobytes())) not in seen:
                seen.add(key)
                block[site] &= is_together(active, by_warp=False)
                warp[site] &= is_together(active, by_warp=True)
    return {site: (block[site], warp[site]) for site in block}


# --- demands --------------------------------------------------------------------------------------


def _find_demands(
    program: Program, launch: Launch, seen: Trace, places: Sequence[Place]
) -> list[tuple[int, Race]]:
    """Return the demands of a launch, each with an example."""
    if not seen.accesses:
        return []
    pairs = _pair(_group(np.concatenate(seen.accesses), seen), seen)
    if not len(pairs):
        return []
    masks = _Masks(seen, places, -(-program.threads // WARP))
    found = []
    for first, second, warp, thread, other, byte in _distinct(pairs):
        (a, position), (b, later) = seen.executions[first], seen.executions[second]
        race = Race(a, b, (thread, other), byte, launch)
        found.append((masks.between(position, later, warp), race))
    return found


def _group(rows: Rows, seen: Trace) -> Rows:
    """Return a row for each piece, execution and warp: with its first and last thread.

    Pieces that one thread has for itself, or that are only read, are left out."""
    unit = int(np.gcd.reduce(rows[:, 1:3], axis=None))
    counts = rows[:, 2] // unit
    wide = np.repeat(rows, counts, axis=0)
    starts = np.cumsum(counts) - counts
    threads, execution = wide[:, 0], wide[:, 3]
    piece = wide[:, 1] // unit + np.arange(len(wide)) - np.repeat(starts, counts)
    least, most = np.full(piece.max() + 1, len(wide)), np.zeros(piece.max() + 1, np.int64)
    np.minimum.at(least, piece, threads)
    np.maximum.at(most, piece, threads)
    written = np.zeros(piece.max() + 1, bool)
    written[piece[seen.writes[execution]]] = True
    kept = ((least < most) & written)[piece]
    threads, execution, piece = threads[kept], execution[kept], piece[kept]
    warp = threads // WARP
    order = np.lexsort((threads, warp, execution, piece))
    keys = np.stack([piece * unit, execution, warp], axis=1)[order]
    threads = threads[order]
    begins = np.flatnonzero(np.append(True, (keys[1:] != keys[:-1]).any(axis=1))[: len(keys)])
    ends = np.append(begins[1:], len(keys)) - 1
    return np.column_stack([keys[begins], threads[begins], threads[ends[: len(begins)]]])


def _pair(groups: Rows, seen: Trace) -> Rows:
    """Return pairs of groups at odds: executions, warp or -1, threads, byte."""
    writes, atomic = seen.writes, seen.atomic
    found = []
    for shift in range(len(groups)):
        a, b = groups[: len(groups) - shift], groups[shift:]
        same = a[:, 0] == b[:, 0]
        if not same.any():
            break
        first, second = a[:, 1], b[:, 1]
        odds = same & (writes[first] | writes[second]) & ~(atomic[first] & atomic[second])
        # Of one warp: two threads at least.
        odds &= (a[:, 2] != b[:, 2]) | (a[:, 3] != b[:, 4]) | (a[:, 4] != b[:, 3])
        a, b = a[odds], b[odds]
        warp = np.where(a[:, 2] == b[:, 2], a[:, 2], -1)
        other = np.where(a[:, 3] != b[:, 4], b[:, 4], b[:, 3])
        thread = np.where(a[:, 3] != b[:, 4], a[:, 3], a[:, 4])
        found.append(np.column_stack([a[:, 1], b[:, 1], warp, thread, other, a[:, 0]]))
    return np.concatenate(found) if found else np.zeros((0, 6), np.int64)


def _distinct(pairs: Rows) -> list[list[int]]:
    """Return one pair for each two executions and warp."""
    executions, warps = int(pairs[:, :2].max()) + 1, int(pairs[:, 2].max()) + 2
    keys = (pairs[:, 0] * executions + pairs[:, 1]) * warps + pairs[:, 2] + 1
    _, first = np.unique(keys, return_index=True)
    chosen: list[list[int]] = pairs[first].tolist()
    return chosen


class _Masks:
    """Which places lie between two positions."""

    def __init__(self, seen: Trace, places: Sequence[Place], warps: int) -> None:
        self.warps: dict[bytes, list[int]] = {}
        bits: dict[Site, list[tuple[int, bool]]] = {}
        for bit, place in enumerate(places):
            bits.setdefault(place.site, []).append((1 << bit, place.is_warp))
        # What a passing does for all, and for each warp.
        self.block = [0] * len(seen.passings)
        self.warp = [[0] * len(seen.passings) for _ in range(warps)]
        for number, (site, active) in enumerate(seen.passings):
            for bit, is_warp in bits.get(site, []):
                if not is_warp:
                    self.block[number] |= bit
                for warp in self.active_warps(active):
                    self.warp[warp][number] |= bit
        self.known: dict[tuple[int, int, int], int] = {}

    def active_warps(self, active: Threads) -> list[int]:
        """Return the warps that have active threads."""
        key = active.tobytes()
        if key not in self.warps:
            self.warps[key] = np.unique(np.flatnonzero(active) // WARP).tolist()
        return self.warps[key]

    def between(self, first: int, last: int, warp: int) -> int:
        """Return what orders accesses of a warp, or of different ones if that is -1."""
        key = (first, last, warp)
        if key not in self.known:
            mask = 0
            for bits in set((self.block if warp < 0 else self.warp[warp])[first:last]):
                mask |= bits
            self.known[key] = mask
        return self.known[key]
