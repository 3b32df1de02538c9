"""Accesses that unrolling makes of one, which are asked for together, compared with all of them.

What all threads touch by them, or all copies of one, is one question if nothing meets
(``FootprintHulls``, ``RolledFootprint``); the conditions of ragged tiles say which elements of a
row there are (``FactBounds``). None of that may take two threads apart that meet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

import pytest

import pipeline

THREADS = 64
COLUMNS = 8
SEEDS = 96
CHUNKS = 4
LENGTHS = (0, 1, 7, 8, 9, 15, 16, 24, 31, 32, 40, 63, 64, 100)


@dataclass(frozen=True)
class Access:
    """``copies`` accesses of ``width`` elements: row of the thread, its column, and the slot.

    Each is where ``row * by_row + column * by_column + copy * by_copy + slot * by_slot + base`` is;
    if ``limit`` is not zero, only of threads with ``row + copy * limit`` below the kernel's ``%n``.
    """

    is_store: bool
    copies: int
    by_row: int
    by_column: int
    by_copy: int
    by_slot: int
    base: int
    later: int = 0
    limit: int = 0
    width: int = 1

    def places(self, thread: int, turn: int, length: int, slots: int) -> Iterator[int]:
        """What a thread touches in an iteration."""
        row, column = divmod(thread, COLUMNS)
        slot = (turn + self.later) % slots
        for copy in range(self.copies):
            if not self.limit or row + copy * self.limit < length:
                first = row * self.by_row + column * self.by_column + copy * self.by_copy
                first += slot * self.by_slot + self.base
                yield from range(first, first + self.width)

    def lines(self, name: str) -> Iterator[str]:
        """Its text: memory %S, thread %row and %column, iteration %i, slots %slots."""
        yield f"%l{name} = arith.addi %i, %c{self.later} : index"
        yield f"%s{name} = arith.remui %l{name}, %slots : index"
        for copy in range(self.copies):
            at = f"{name}_{copy}"
            place = f"d0 * {self.by_row} + d1 * {self.by_column} + d2 * {self.by_slot}"
            place += f" + {self.base + copy * self.by_copy}"
            yield f"%p{at} = affine.apply affine_map<(d0, d1, d2) -> ({place})>"
            yield f"  (%row, %column, %s{name})"
            kind = f"vector<{self.width}xf32>"
            access = f"vector.store %x{self.width}, %S[%p{at}] : !s, {kind}"
            if not self.is_store:
                access = f"%v{at} = vector.load %S[%p{at}] : !s, {kind}"
            if not self.limit:
                yield access
                continue
            yield f"%r{at} = affine.apply affine_map<(d0) -> (d0 + {copy * self.limit})>(%row)"
            yield f"%k{at} = arith.cmpi slt, %r{at}, %n : index"
            yield f"scf.if %k{at} {{"
            yield f"  {access}"
            yield "}"


@dataclass(frozen=True)
class Kernel:
    """Accesses of one buffer in a loop of ``turns``; ``parts`` says if a barrier ends the body."""

    accesses: tuple[Access, ...]
    turns: int
    slots: int
    parts: bool

    @property
    def size(self) -> int:
        return 1 + max(
            place
            for access in self.accesses
            for turn in range(self.turns)
            for thread in (0, THREADS - 1, COLUMNS - 1, THREADS - COLUMNS)
            for place in access.places(thread, turn, 1 << 20, self.slots)
        )

    @property
    def text(self) -> str:
        """The kernel, with its accesses in order."""
        constants = "\n".join(f"%c{n} = arith.constant {n} : index" for n in range(5))
        body = [line for n, access in enumerate(self.accesses) for line in access.lines(str(n))] + [
            "gpu.barrier"
        ] * self.parts
        return f"""
!s = memref<{self.size}xf32, 3>
gpu.module @m {{
gpu.func @k(%n: index) workgroup(%S: !s) kernel
    attributes {{known_block_size = array<i32: {THREADS}, 1, 1>}} {{
%t = gpu.thread_id x
{constants}
%columns = arith.constant {COLUMNS} : index
%turns = arith.constant {self.turns} : index
%slots = arith.constant {self.slots} : index
%row = arith.divui %t, %columns : index
%column = arith.remui %t, %columns : index
%number = arith.index_cast %t : index to i32
%x = arith.sitofp %number : i32 to f32
%x1 = vector.broadcast %x : f32 to vector<1xf32>
%x2 = vector.broadcast %x : f32 to vector<2xf32>
%x4 = vector.broadcast %x : f32 to vector<4xf32>
scf.for %i = %c0 to %turns step %c1 {{
{chr(10).join(body)}
}}
gpu.return
}}
}}
"""

    @property
    def races(self) -> bool:
        """Whether two threads touch a place, one of them by a store, of all lengths looked at."""
        lengths = LENGTHS if any(access.limit for access in self.accesses) else LENGTHS[:1]
        return any(self._races(length) for length in lengths)

    def _races(self, length: int) -> bool:
        # The stores' threads, and those of all accesses, by what no barrier keeps apart.
        stores: dict[tuple[int, int], set[int]] = {}
        all_of: dict[tuple[int, int], set[int]] = {}
        for turn in range(self.turns):
            for access in self.accesses:
                for thread in range(THREADS):
                    for place in access.places(thread, turn, length, self.slots):
                        key = (turn if self.parts else 0, place)
                        all_of.setdefault(key, set()).add(thread)
                        if access.is_store:
                            stores.setdefault(key, set()).add(thread)
        return any(len(all_of[key]) > 1 for key in stores)


def verdict(kernel: Kernel) -> str:
    return pipeline.check(kernel.text, schedule="none").kernels[0].verdict


# Two tiles of 16 rows of 8, as two copies of 8 rows each.
STORE = Access(True, 4, COLUMNS, 1, 64, 0, 0)
LOAD = replace(STORE, is_store=False)
TILE = 256

BOUNDARIES = {
    # The tiles are side by side, or have an element in common.
    "beside": (Kernel((STORE, replace(LOAD, base=TILE)), 1, 1, True), "SAFE"),
    "overlap": (Kernel((STORE, replace(LOAD, base=TILE - 1)), 1, 1, True), "RACE"),
    "beside_wide": (
        Kernel((STORE, replace(LOAD, by_column=4, by_row=32, width=4, base=TILE)), 1, 1, True),
        "SAFE",
    ),
    "below_wide": (
        Kernel(
            (
                replace(STORE, base=63 * 4 + 5),
                replace(LOAD, copies=1, by_column=4, by_row=32, width=4),
            ),
            1,
            1,
            True,
        ),
        "SAFE",
    ),
    "overlap_wide": (
        Kernel(
            (
                replace(STORE, base=63 * 4 + 3),
                replace(LOAD, copies=1, by_column=4, by_row=32, width=4),
            ),
            1,
            1,
            True,
        ),
        "RACE",
    ),
    # Tiles of a ring, of which one is written and another one read.
    "other_slot": (
        Kernel((replace(LOAD, by_slot=TILE), replace(STORE, by_slot=TILE, later=2)), 6, 3, True),
        "SAFE",
    ),
    "same_slot": (
        Kernel(
            (
                replace(LOAD, by_slot=TILE, by_row=1, by_column=8),
                replace(STORE, by_slot=TILE, later=3),
            ),
            6,
            3,
            True,
        ),
        "RACE",
    ),
    "slots_overlap": (
        Kernel(
            (replace(LOAD, by_slot=TILE - 1), replace(STORE, by_slot=TILE - 1, later=1)), 6, 2, True
        ),
        "RACE",
    ),
    "later_turns": (
        Kernel((replace(LOAD, by_slot=TILE), replace(STORE, by_slot=TILE, later=2)), 6, 3, False),
        "SAFE",  # by the thread that reads it
    ),
    # Rows of the length that the kernel is given: each copy has a condition of its own.
    "ragged": (
        Kernel((replace(STORE, limit=8), replace(LOAD, limit=8)), 1, 1, True),
        "SAFE",
    ),
    "ragged_overlap": (
        Kernel((replace(STORE, limit=8), replace(LOAD, limit=8, base=1)), 1, 1, True),
        "RACE",
    ),
}


@pytest.mark.parametrize("name", BOUNDARIES)
def test_boundaries(name: str) -> None:
    kernel, expected = BOUNDARIES[name]
    assert kernel.races == (expected == "RACE")
    assert verdict(kernel) == expected


def make(random: Random) -> Kernel:
    """Return two or three unrolled accesses: often side by side, sometimes by an element less."""
    slots = random.choice([1, 1, 2, 3])
    limit = random.choice([0, 0, 8])
    width = random.choice([1, 1, 2, 4])
    copies = random.choice([2, 3, 4])
    by_column = random.choice([width, width, 1])
    by_row = COLUMNS * by_column + random.choice([0, 0, width])
    by_copy = COLUMNS * by_row - random.choice([0, 0, 0, 1, width])
    first = Access(True, copies, by_row, by_column, by_copy, 0, 0, 0, limit, width)
    tile = (copies - 1) * by_copy + 7 * by_row + 7 * by_column + width
    by_slot = 0 if slots == 1 else tile - random.choice([0, 0, 0, 1])
    first = replace(first, by_slot=by_slot)
    accesses = [first]
    for _ in range(random.choice([1, 1, 2])):
        base = random.choice([0, 0, tile, tile - 1, 1]) if slots == 1 else 0
        other = replace(first, is_store=random.random() < 0.3, base=base)
        other = replace(other, later=random.randrange(slots + 1) if slots > 1 else 0)
        if random.random() < 0.2:
            other = replace(other, by_row=by_column, by_column=by_row)
        if random.random() < 0.2:
            other = replace(other, limit=0)
        accesses.append(other)
    random.shuffle(accesses)
    return Kernel(tuple(accesses), random.choice([1, 3, 4]), slots, random.random() < 0.7)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random(chunk: int) -> None:
    """What is safe has no race, and what races has one."""
    found: Counter[tuple[str, bool]] = Counter()
    for seed in range(chunk, SEEDS, CHUNKS):
        kernel = make(Random(seed))
        races, said = kernel.races, verdict(kernel)
        found[said, races] += 1
        assert (said, races) not in (("SAFE", True), ("RACE", False)), (seed, kernel)
    decided = sum(count for (said, _), count in found.items() if said != "MAYBE")
    assert decided >= 0.9 * found.total(), found
    assert found["SAFE", False] >= 5, found
    assert found["RACE", True] >= 5, found
