"""Rows of a length that the kernel is given, and conditions that keep elements in their rows.

A row apart from the next one by ``%n`` has elements of its own as long as their columns are below
``%n``: that follows from conditions, at most two of them one after the other (``FactBounds``). What
is said of a kernel is compared with all that its threads do for many numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise, product

import pytest

import pipeline

THREADS = 64
COLUMNS = 8
# Of rows, and of other numbers.
LENGTHS = (1, 2, 7, 8, 9, 16, 40)


@dataclass(frozen=True)
class Rows:
    """``copies`` stores to columns of a row, behind each other, and the conditions around.

    ``column``: the columns of the copies are ``column + least`` and so on. ``below``: the names of
    the numbers each of which is below, or not above, the next one, with what is added to it: the
    first number is the column.
    """

    copies: int
    below: tuple[tuple[str, int], ...]
    by_copy: int = COLUMNS
    least: int = 0

    def places(self, thread: int, numbers: dict[str, int]) -> set[int]:
        row, column = divmod(thread, COLUMNS)
        found = set()
        for copy in range(self.copies):
            at = column + copy * self.by_copy + self.least
            chain = [at + 1] + [numbers[name] + more for name, more in self.below]
            if all(one <= other for one, other in pairwise(chain)):
                found.add(row * numbers["n"] + at)
        return found

    @property
    def races(self) -> bool:
        """Whether two threads store to one place, of all numbers looked at."""
        names = sorted({"n", *(name for name, _ in self.below)})
        return any(
            self._races(dict(zip(names, numbers, strict=True)))
            for numbers in product(LENGTHS, repeat=len(names))
        )

    def _races(self, numbers: dict[str, int]) -> bool:
        known: set[int] = set()
        for thread in range(THREADS):
            places = self.places(thread, numbers)
            if known & places:
                return True
            known |= places
        return False

    @property
    def text(self) -> str:
        body = []
        for copy in range(self.copies):
            body.append(f"%k{copy} = arith.constant {copy * self.by_copy + self.least} : index")
            body.append(f"%c{copy} = arith.addi %column, %k{copy} : index")
            body.append(f"%a{copy} = arith.addi %begin, %c{copy} : index")
            before, predicate = f"%c{copy}", "slt"
            for depth, (name, more) in enumerate(self.below):
                at = f"{copy}_{depth}"
                body.append(f"%e{at} = arith.constant {more} : index")
                body.append(f"%b{at} = arith.addi %{name}, %e{at} : index")
                body.append(f"%h{at} = arith.cmpi {predicate}, {before}, %b{at} : index")
                body.append(f"scf.if %h{at} {{")
                before, predicate = f"%b{at}", "sle"
            body.append(f"memref.store %x, %G[%a{copy}] : memref<?xf32>")
            body.extend("}" for _ in self.below)
        return f"""
gpu.module @m {{
gpu.func @k(%G: memref<?xf32>, %n: index, %m: index, %q: index) kernel
    attributes {{known_block_size = array<i32: {THREADS}, 1, 1>,
                known_grid_size = array<i32: 1, 1, 1>}} {{
%t = gpu.thread_id x
%columns = arith.constant {COLUMNS} : index
%row = arith.divui %t, %columns : index
%column = arith.remui %t, %columns : index
%begin = arith.muli %row, %n : index
%number = arith.index_cast %t : index to i32
%x = arith.sitofp %number : i32 to f32
{chr(10).join(body)}
gpu.return
}}
}}
"""


ONE = Rows(1, (("n", 0),))
MANY = replace(ONE, copies=4)
CHAIN = Rows(1, (("m", 0), ("n", 0)))

# Kernels of which each thread has elements of its own, and whether that is found.
SAFE = {
    "one": (ONE, True),
    "shorter": (replace(ONE, below=(("n", -3),)), True),
    "chain": (CHAIN, True),
    "chain_shorter": (replace(CHAIN, below=(("m", -1), ("n", -1))), True),
    "long_chain": (replace(CHAIN, below=(("m", 0), ("q", 0), ("n", 0))), False),
    "many": (MANY, False),
    "many_chain": (replace(CHAIN, copies=4), False),
}
# Kernels of which some threads meet where the number is right.
RACING = {
    "end": replace(ONE, below=(("n", 1),)),
    "many_to_the_end": replace(MANY, below=(("n", 1),)),
    "without_end": replace(MANY, below=()),
    "chain_end": replace(CHAIN, below=(("m", 0), ("n", 1))),
    "chain_shorter_end": replace(CHAIN, below=(("m", -1), ("n", 1))),
    "long_chain_end": replace(CHAIN, below=(("m", 0), ("q", 0), ("n", 1))),
    "other_number": replace(MANY, below=(("m", 0),)),
    "copies_overlap": replace(MANY, by_copy=COLUMNS - 1),
    "before_the_row": replace(ONE, least=-1),
}


def verdict(rows: Rows) -> str:
    return pipeline.check(rows.text, schedule="none").kernels[0].verdict


@pytest.mark.parametrize("name", SAFE)
def test_own_elements(name: str) -> None:
    rows, is_found = SAFE[name]
    assert not rows.races
    assert verdict(rows) in (("SAFE",) if is_found else ("SAFE", "MAYBE"))


@pytest.mark.parametrize("name", RACING)
def test_common_elements(name: str) -> None:
    assert RACING[name].races
    assert verdict(RACING[name]) in ("RACE", "MAYBE")
