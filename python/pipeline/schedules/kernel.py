"""What a schedule is chosen for: the structure of a kernel, and the chip."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ..conversion import counterpart
from ..diagnostics import Location

Kind = Literal["fill", "elementwise", "reduction", "contraction", "window", "points", "tiles"]

UNKNOWN_EXTENT = 4096
"""What an extent that only the launch knows counts as."""


@counterpart("KernelOperand")
class Operand(NamedTuple):
    """What an operation reads or writes.

    ``loops`` has, for each dimension, the number of the loop that goes along it; None for an index
    of any other form. The last dimension is the contiguous one. An extent of ``shape`` is None if
    only the launch knows it.
    """

    element_type: str
    bits: int
    shape: tuple[int | None, ...]
    loops: tuple[int | None, ...]

    @property
    def fastest_loop(self) -> int | None:
        """The loop along the contiguous dimension."""
        return self.loops[-1] if self.loops else None


@counterpart("Contraction")
class Contraction(NamedTuple):
    """The loops of a sum of products.

    ``batch``: of both operands and the result; ``m``, ``n``: of the left, the right operand and
    the result; ``k``: of both operands only.
    """

    batch: tuple[int, ...]
    m: tuple[int, ...]
    n: tuple[int, ...]
    k: tuple[int, ...]


@counterpart("KernelOp")
class Op(NamedTuple):
    """A structured operation of a kernel, or a parallel loop: of ``points`` or ``tiles``.

    ``rows``: for each loop, the loop of the root that blocks share out and that goes along with
    it. ``is_combinable``: partial results can be put together. ``is_splittable``: and this is the
    only sum of its kernel, so that blocks can share it.
    """

    kind: Kind
    parallel: tuple[bool, ...]
    extents: tuple[int | None, ...]
    rows: tuple[int | None, ...]
    inputs: tuple[Operand, ...]
    results: tuple[Operand, ...]
    body_ops: int = 1
    is_copy: bool = False
    is_combinable: bool = False
    is_splittable: bool = False
    contraction: Contraction | None = None
    location: Location = Location("")

    def extent(self, loop: int) -> int:
        """The iterations of a loop, as far as the choice is concerned."""
        extent = self.extents[loop]
        return UNKNOWN_EXTENT if extent is None else extent

    @property
    def sums(self) -> tuple[int, ...]:
        """The loops that are no parallel ones."""
        return tuple(loop for loop, parallel in enumerate(self.parallel) if not parallel)

    @property
    def widest_bits(self) -> int:
        """Bits of the widest element that is read or written; 8 at least."""
        return max([8, *(operand.bits for operand in (*self.inputs, *self.results))])

    @property
    def vector(self) -> int:
        """Elements of the widest type in what a thread loads at a time."""
        from .._native import WIDEST_ACCESS_BYTES

        return max(1, WIDEST_ACCESS_BYTES * 8 // self.widest_bits)

    @property
    def longest_vector(self) -> int:
        """Elements of the narrowest type that is read in what a thread loads at a time."""
        from .._native import WIDEST_ACCESS_BYTES

        bits = min([max(8, operand.bits) for operand in self.inputs], default=8)
        return max(1, WIDEST_ACCESS_BYTES * 8 // bits)


@counterpart("KernelChain")
class Chain(NamedTuple):
    """Two contractions of a kernel: one multiplies what is made of the other's result.

    ``first``, ``second``: their numbers among the operations. ``row``: the loop of the root along
    the rows of both results. ``row_bytes``, ``tile_bytes``: workgroup memory for each row, and for
    what all rows are multiplied with; 0 if the length of rows is not known. ``stream_row_bytes``,
    ``stream_tile_bytes``: the same if a few columns of the first result are made and multiplied at
    a time; 0 if that will not do.
    """

    first: int
    second: int
    row: int
    row_bytes: int
    tile_bytes: int
    stream_row_bytes: int = 0
    stream_tile_bytes: int = 0


@counterpart("KernelFunction")
@dataclass(frozen=True, slots=True)
class Kernel:
    """A function that becomes one kernel.

    ``symbol``: its name as MLIR spells it in an attribute, quotes included. ``kind``: what most of
    the work is. ``shared``: for each loop of the root, the last operation, whether blocks may
    share it out. ``chain``: its contractions, if there are two.
    """

    name: str
    symbol: str
    kind: Kind
    ops: tuple[Op, ...]
    shared: tuple[bool, ...]
    chain: Chain | None = None

    @property
    def is_loop(self) -> bool:
        """Whether it is a parallel loop of the program, the last operation, with what is in it."""
        return self.kind in ("points", "tiles")

    @property
    def root(self) -> Op:
        """The operation the loops of which are tiled."""
        return self.ops[-1]

    @property
    def main(self) -> Op:
        """The operation that the kernel has its kind from."""
        return next(op for op in self.ops if op.kind == self.kind)

    @property
    def sum(self) -> Op | None:
        """The operation whose sums blocks can share, if there is one."""
        return next((op for op in self.ops if op.is_splittable), None)

    @property
    def fastest_loop(self) -> int | None:
        """The loop of the root along the contiguous dimension of its first result."""
        return self.root.results[0].fastest_loop

    @property
    def shared_loops(self) -> tuple[int, ...]:
        """Loops that blocks may share out: along contiguous memory first, then from the inside."""
        loops = [loop for loop, shared in enumerate(self.shared) if shared]
        return tuple(sorted(loops, key=lambda loop: (loop != self.fastest_loop, -loop)))

    def count(self, loops: Iterable[int]) -> int:
        """The iterations of some loops of the root, in all."""
        return math.prod(self.root.extent(loop) for loop in loops)
