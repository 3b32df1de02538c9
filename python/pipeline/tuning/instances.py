"""Small instances of programs: the same tiles on fewer of them, which the emulator runs in time.

The extents of a program are made smaller in its text. What is left over where tiles end stays the
same, and so does every loop that no tile divides, so that a kernel does there what it does in the
whole program.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

from ..schedules.kernel import Kernel, Op
from ..schedules.tile import Tile

MOST_WORK = 1 << 28
"""Iterations that the emulator does in seconds."""
LITTLE_WORK = 1 << 25
"""Iterations for which no program is made smaller."""

_TYPE = re.compile(r"\b(tensor|memref)<((?:(?:\d+|\?)x)+)")


def count_work(kernels: Sequence[Kernel]) -> int:
    """Return the iterations of all operations; extents that are not known count as usual."""
    return sum(math.prod(map(op.extent, range(len(op.extents)))) for k in kernels for op in k.ops)


def list_sizes(kernel: Kernel, tile: Tile) -> Iterator[Mapping[int, int]]:
    """Yield smaller extents by those of the program: all that can be, then one at a time."""
    sizes = _shrink_all(kernel, tile)
    if sizes:
        yield sizes
    if len(sizes) > 1:
        for extent in sorted(sizes, key=lambda one: sizes[one] / one):
            yield {extent: sizes[extent]}


def shrink(text: str, sizes: Mapping[int, int]) -> str:
    """Return a program with other extents in all of its types."""

    def write(match: re.Match[str]) -> str:
        extents = match[2].split("x")[:-1]
        made = [one if one == "?" else str(sizes.get(int(one), int(one))) for one in extents]
        return f"{match[1]}<{'x'.join(made)}x"

    return _TYPE.sub(write, text)


def _shrink_all(kernel: Kernel, tile: Tile) -> dict[int, int]:
    """Return the smallest extents on which tiles do what they do on those of the program."""
    steps: dict[int, list[int]] = {}
    fixed: set[int] = set()
    for op in kernel.ops:
        for loop, extent in enumerate(op.extents):
            if extent is None:
                continue
            found = _find_steps(kernel, op, loop, tile)
            if found:
                steps.setdefault(extent, []).extend(found)
            else:
                fixed.add(extent)
    sizes = {}
    for extent, of in steps.items():
        if extent not in fixed:
            unit = math.lcm(*(step for step in of if step > 0))
            least = max(2 * unit, (tile.slots + 2) * max(tile.reduction, default=0))
            turns = -(-least // unit)
            small = turns * unit + extent % unit
            if small < extent:
                sizes[extent] = small
    return sizes


def _find_steps(kernel: Kernel, op: Op, loop: int, tile: Tile) -> list[int]:
    """Return the sizes by which a loop is gone through; none if it is not divided."""
    row, found = op.rows[loop], []
    if row is not None and tile.block[row]:
        found.append(tile.block[row])
    if loop in op.sums and len(tile.reduction) == len(op.sums):
        found.append(tile.reduction[op.sums.index(loop)])
    if tile.split and op is kernel.sum and tile.split[loop]:
        found.append(tile.split[loop])
    return found
