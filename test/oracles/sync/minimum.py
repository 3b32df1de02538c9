"""The fewest barriers that make a kernel race-free, by search, and by trying all there are.

What counts is the vector of `sync_programs.cost`: barriers of blocks in the deepest loop, of warps
there, of blocks one loop out, and so on; the lexicographically least one is the best.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from oracles.sync.programs import Barrier, Program, Step, cost, numbered, parts, walk, with_parts
from oracles.sync.races import Analysis, Place, analyze

Cost = tuple[int, ...]
# What a search may take before it is given up.
MOST_NODES = 20000


@dataclass(frozen=True)
class Minimum:
    """The least cost, and one way to have it; or that there is none."""

    cost: Cost
    places: tuple[Place, ...] = ()
    is_unfixable: bool = False


class _GivenUp(Exception):
    pass


def minimum(
    analysis: Analysis, *, only_existing: bool = False, weaker: bool = False
) -> Minimum | None:
    """Return the best that can be done: with what is there, or by the barriers that are there.

    These may become barriers of warps with `weaker`. Nothing if the search takes too long."""
    depth = max((level for _, level in walk(analysis.program.steps)), default=0)
    if only_existing:
        # What none of them helps against is not their matter.
        kept = analysis.present() | (_weakened(analysis.places) if weaker else 0)
        demands = _smallest({mask & kept for mask, _, _ in analysis.demands} - {0})
    elif analysis.unfixable:
        return Minimum((0,) * (2 * depth + 2), (), True)
    else:
        demands = analysis.open_demands()
    search = _Search(analysis.places, depth)
    try:
        search.run(demands)
    except _GivenUp:
        return None
    return Minimum(search.best_cost, tuple(analysis.places[bit] for bit in search.best))


def _weakened(places: Sequence[Place]) -> int:
    """Return the bits of barriers of warps where there are barriers of the block."""
    present = {
        (place.site.parent, place.site.part, place.site.place)
        for place in places
        if place.barrier and not place.is_warp
    }
    return sum(
        1 << bit
        for bit, place in enumerate(places)
        if place.is_warp
        and not place.barrier
        and (place.site.parent, place.site.part, place.site.place) in present
    )


def _smallest(masks: set[int]) -> list[int]:
    kept: list[int] = []
    for mask in sorted(masks, key=lambda mask: (mask.bit_count(), mask)):
        if not any(other & mask == other for other in kept):
            kept.append(mask)
    return kept


class _Search:
    """Branch and bound."""

    def __init__(self, places: Sequence[Place], depth: int) -> None:
        self.slots = [2 * (depth - place.site.depth) + place.is_warp for place in places]
        self.size = 2 * depth + 2
        self.best_cost: Cost = (1 << 30,)
        self.best: list[int] = []
        self.nodes = 0

    def run(self, demands: Sequence[int]) -> None:
        """Find the best set of bits that meets all demands."""
        bits = [bit for bit in range(len(self.slots)) if any(mask >> bit & 1 for mask in demands)]
        hit = {bit: frozenset(n for n, m in enumerate(demands) if m >> bit & 1) for bit in bits}
        allowed = sum(1 << bit for bit in bits if not self._is_dominated(bit, hit))
        self._search([mask & allowed for mask in demands], [], [0] * self.size)

    def _is_dominated(self, bit: int, hit: dict[int, frozenset[int]]) -> bool:
        return any(
            hit[bit] <= its
            and self.slots[other] >= self.slots[bit]
            # Of two that are alike, the first one stays.
            and ((hit[bit], self.slots[bit]) != (its, self.slots[other]) or other < bit)
            for other, its in hit.items()
        )

    def _search(self, demands: Sequence[int], chosen: list[int], spent: list[int]) -> None:
        self.nodes += 1
        if self.nodes > MOST_NODES:
            raise _GivenUp
        if tuple(spent) >= self.best_cost:
            return
        if not demands:
            self.best_cost, self.best = tuple(spent), list(chosen)
            return
        mask = min(demands, key=int.bit_count)
        tried = 0
        # The cheapest first.
        for bit in sorted(_bits(mask), key=lambda bit: -self.slots[bit]):
            left = [other & ~tried for other in demands if not other >> bit & 1]
            tried |= 1 << bit
            if 0 in left:
                continue
            spent[self.slots[bit]] += 1
            self._search(left, [*chosen, bit], spent)
            spent[self.slots[bit]] -= 1


def _bits(mask: int) -> list[int]:
    return [bit for bit in range(mask.bit_length()) if mask >> bit & 1]


# --- by trying ------------------------------------------------------------------------------------


def insert(program: Program, places: Sequence[Place], *, renumber: bool = True) -> Program:
    """Return the program with barriers at places."""
    wanted: dict[tuple[int, int, int], list[Barrier]] = {}
    for place in places:
        key = (place.site.parent, place.site.part, place.site.place)
        wanted.setdefault(key, []).append(Barrier(place.is_warp))

    def fill(steps: Sequence[Step], parent: int, part: int) -> tuple[Step, ...]:
        filled: list[Step] = []
        for place in range(len(steps) + 1):
            filled += wanted.get((parent, part, place), [])
            if place < len(steps):
                step = steps[place]
                inner = [fill(p, step.number, n) for n, p in enumerate(parts(step))]
                filled.append(with_parts(step, inner))
        return tuple(filled)

    filled = Program(
        program.threads,
        program.buffers,
        fill(program.steps, 0, 0),
        program.arguments,
        program.name,
    )
    return numbered(filled) if renumber else filled


def brute_force(program: Program, most_places: int = 10) -> Minimum | None:
    """Try all sets of places; nothing if there are too many."""
    analysis = analyze(program)
    free = [place for place in analysis.places if not place.barrier]
    if len(free) > most_places:
        return None
    best: Minimum | None = None
    taken = cost(program)
    for count in range(len(free) + 1):
        for places in itertools.combinations(free, count):
            tried = insert(program, places)
            more = tuple(a - b for a, b in zip(cost(tried), taken, strict=True))
            if (best is None or more < best.cost) and not analyze(tried).races():
                best = Minimum(more, places)
    return best or Minimum((0,) * len(taken), (), True)
