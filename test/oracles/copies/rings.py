"""Random kernels whose loops copy tiles that all threads read, and what they shall compute."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from oracles.copies.text import DTYPES, Array

Dim3 = tuple[int, int, int]

BLOCKS: list[Dim3] = [(n, 1, 1) for n in (1, 7, 32, 64, 128, 256)] + [(16, 4, 2)]
ELEMENTS = ("f32", "f16", "f64", "i8", "i16", "i32", "i64")
SPACES = ("#gpu.address_space<workgroup>", "3", "#nvvm.memory_space<shared>")
READS = 3
"""Elements of each tile that a thread reads in an iteration."""


@dataclass
class Tile:
    """One operand of the loop: an array of which each iteration copies a tile."""

    element: str
    shape: tuple[int, int]
    ragged: bool
    """Whether what is copied may be smaller than the tile, whose rest is zero."""
    zeroed: bool
    """Whether the buffer is filled with zeros before."""
    place: str
    """Where the buffer is allocated: in the `kernel` or the `loop`."""
    space: str
    array: Array = field(default_factory=lambda: np.zeros(0))


@dataclass
class Program:
    """A host function that launches one kernel, its arguments, and what it shall leave behind."""

    seed: int
    text: str
    options: str
    """Of the pipeline: slots and engine."""
    chip: str
    arguments: list[Any]
    expected: Array
    """What the last array shall be."""
    iterations: int


class Generator:
    """Makes one program."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        self.seed = seed
        self.block = rng.choice(BLOCKS)
        self.grid: Dim3 = (rng.choice([1, 2, 3]), 1, 1)
        self.slots = rng.choice([2, 2, 3, 4, 5])
        self.chip = rng.choice(["sm_75", "sm_80", "sm_80", "sm_90"])
        self.engine = rng.choice(["auto", "auto", "cp-async", "registers"])
        if self.chip == "sm_90" and rng.random() < 0.7:
            self.engine = "tma"
        self.iterations = rng.choice([0, 1, 2, 3, 4, 6])
        self.outer = rng.choice([1, 1, 2, 3])
        self.step = rng.choice([1, 1, 3])
        self.first = rng.choice([0, 0, 2])
        self.is_dynamic = rng.random() < 0.6
        self.has_branch = rng.random() < 0.3
        self.has_barriers = rng.random() < 0.3
        self.is_aligned = rng.random() < 0.6
        self.has_epilogue = rng.random() < 0.3
        self.stores_in_loop = rng.random() < 0.3
        self.small = rng.random() < 0.2  # induction variables of 32 bits
        self.previous = ""
        self.last = 0
        self.tiles = [self.random_tile() for _ in range(rng.choice([1, 1, 2, 3]))]

    @property
    def threads(self) -> int:
        """How many there are in a block."""
        return math.prod(self.block)

    def random_tile(self) -> Tile:
        """Choose a tile and make the array that its iterations copy from."""
        rng = self.rng
        shape = (rng.choice([1, 2, 4, 7, 16]), rng.choice([1, 4, 8, 12, 16, 32]))
        ragged = rng.random() < 0.3
        tile = Tile(
            rng.choice(ELEMENTS),
            shape,
            ragged,
            ragged or rng.random() < 0.1,
            rng.choice(["kernel", "loop"]),
            rng.choice(SPACES),
        )
        columns = shape[1] * (self.first + self.iterations * self.step + 2)
        if ragged:
            columns -= rng.randrange(shape[1])
        rows = shape[0] * self.grid[0] - (rng.randrange(shape[0]) if ragged else 0)
        values = np.random.default_rng([self.seed, columns]).integers(1, 50, (rows, columns))
        tile.array = np.ascontiguousarray(values.astype(DTYPES[tile.element]))
        return tile

    # Text.

    def tile_type(self, tile: Tile) -> str:
        """Return the type of the buffer of a tile."""
        return f"memref<{tile.shape[0]}x{tile.shape[1]}x{tile.element}, {tile.space}>"

    def copy_of(self, i: int, tile: Tile) -> list[str]:
        """Return the lines that copy a tile of this iteration."""
        rows, columns = tile.shape
        total_rows, total_columns = tile.array.shape
        array = f"memref<{total_rows}x{total_columns}x{tile.element}>"
        lines = [
            f"%c{i} = affine.apply affine_map<(k) -> (k * {columns})>(%k)",
            f"%r{i} = affine.apply affine_map<(b) -> (b * {rows})>(%bx)",
        ]
        if tile.zeroed:
            zero = "0.0" if tile.element.startswith("f") else "0"
            lines += [
                f"%z{i} = arith.constant {zero} : {tile.element}",
                f"linalg.fill ins(%z{i} : {tile.element}) outs(%t{i} : {self.tile_type(tile)})",
            ]
        if not tile.ragged:
            view = (
                f"memref<{rows}x{columns}x{tile.element}, strided<[{total_columns}, 1], offset: ?>>"
            )
            return [
                *lines,
                f"%s{i} = memref.subview %a{i}[%r{i}, %c{i}] [{rows}, {columns}] [1, 1]"
                f" : {array} to {view}",
                f"memref.copy %s{i}, %t{i} : {view} to {self.tile_type(tile)}",
            ]
        view = f"memref<?x?x{tile.element}, strided<[{total_columns}, 1], offset: ?>>"
        part = f"memref<?x?x{tile.element}, strided<[{columns}, 1]>, {tile.space}>"
        return [
            *lines,
            f"%h{i} = affine.min affine_map<(r) -> ({rows}, {total_rows} - r)>(%r{i})",
            f"%w{i} = affine.min affine_map<(c) -> ({columns}, {total_columns} - c)>(%c{i})",
            f"%s{i} = memref.subview %a{i}[%r{i}, %c{i}] [%h{i}, %w{i}] [1, 1] : {array} to {view}",
            f"%p{i} = memref.subview %t{i}[0, 0] [%h{i}, %w{i}] [1, 1]"
            f" : {self.tile_type(tile)} to {part}",
            f"memref.copy %s{i}, %p{i} : {view} to {part}",
        ]

    def reads_of(self, i: int, tile: Tile) -> list[str]:
        """Return the lines that add elements of a tile, which other threads copied, to `%sum`."""
        rows, columns = tile.shape
        lines = []
        for j in range(READS):
            name = f"{i}_{j}"
            value = f"%v{name}"
            lines += [
                f"%y{name} = affine.apply affine_map<(t) -> ((t * 5 + {j}) mod {rows})>(%tid)",
                f"%x{name} = affine.apply affine_map<(t) -> ((t * 3 + {j * 7}) mod {columns})>"
                "(%tid)",
                f"{value} = memref.load %t{i}[%y{name}, %x{name}] : {self.tile_type(tile)}",
            ]
            if tile.element.startswith("f"):
                lines.append(f"%e{name} = arith.fptosi {value} : {tile.element} to i64")
            elif tile.element != "i64":
                lines.append(f"%e{name} = arith.extsi {value} : {tile.element} to i64")
            else:
                lines.append(f"%e{name} = arith.addi {value}, %zero : i64")
            previous = "%sum" if i == 0 and j == 0 else f"%sum{self.previous}"
            lines += [
                f"%w{name} = arith.muli %e{name}, %weight : i64",
                f"%sum{name} = arith.addi {previous}, %w{name} : i64",
            ]
            self.previous = name
        return lines

    def body(self) -> list[str]:
        """Return the lines of one iteration."""
        allocs = [
            f"%t{i} = memref.alloc() : {self.tile_type(tile)}"
            for i, tile in enumerate(self.tiles)
            if tile.place == "loop"
        ]
        lines = ["%k = arith.index_cast %k32 : i32 to index"] if self.small else []
        lines += [
            "%old = arith.muli %acc, %three : i64",
            "%kk = arith.index_cast %k : index to i64",
            "%weight = arith.addi %kk, %three : i64",
            "%sum = arith.andi %old, %mask : i64",
            *allocs,
        ]
        order = list(enumerate(self.tiles))
        self.rng.shuffle(order)
        for i, tile in order:
            lines += ["gpu.barrier"] if self.has_barriers else []
            lines += self.copy_of(i, tile)
            lines += ["gpu.barrier"] if self.has_barriers and self.rng.random() < 0.8 else []
        for i, tile in enumerate(self.tiles):
            lines += self.reads_of(i, tile)
        if self.stores_in_loop:
            lines.append(f"memref.store %sum{self.previous}, %out[%place] : memref<?xi64>")
        return [*lines, f"scf.yield %sum{self.previous} : i64"]

    def loop(self) -> list[str]:
        """Return the lines of the loop that copies."""
        first, last = self.first, self.first + self.iterations * self.step
        if self.step > 1 and self.iterations:
            last -= self.rng.randrange(self.step)
        self.last = last
        bounds = ["%n0", "%n1"] if self.is_dynamic else [f"%c_{first}", f"%c_{last}"]
        constants = [
            f"%c_{n} = arith.constant {n} : index" for n in sorted({first, last, self.step, 0, 1})
        ]
        step, variable, kind = f"%c_{self.step}", "%k", ""
        if self.small:
            constants += [
                f"%s_{i} = arith.index_cast {name} : index to i32"
                for i, name in enumerate([*bounds, step])
            ]
            bounds, step, variable, kind = ["%s_0", "%s_1"], "%s_2", "%k32", " : i32"
        head = (
            f"%inner = scf.for {variable} = {bounds[0]} to {bounds[1]} step {step}"
            f" iter_args(%acc = %start) -> (i64){kind} {{"
        )
        return [*constants, head, *self.body(), "}"]

    def kernel(self) -> list[str]:
        """Return the lines of the kernel."""
        bx, by, _ = self.block
        lines = [
            f"%tid = affine.apply affine_map<(x, y, z) -> (x + y * {bx} + z * {bx * by})>"
            "(%tx, %ty, %tz)",
            f"%place = affine.apply affine_map<(t, b) -> (t + b * {self.threads})>(%tid, %bx)",
            "%zero = arith.constant 0 : i64",
            "%three = arith.constant 3 : i64",
            "%mask = arith.constant 1048575 : i64",
            *(
                f"%t{i} = memref.alloc() : {self.tile_type(tile)}"
                for i, tile in enumerate(self.tiles)
                if tile.place == "kernel"
            ),
        ]
        inner = self.loop()
        if self.has_branch:
            inner = [
                f"%even = affine.apply affine_map<(o) -> (o mod 2)>({'%o'})",
                "%c_zero = arith.constant 0 : index",
                "%is = arith.cmpi eq, %even, %c_zero : index",
                "%inner_ = scf.if %is -> i64 {",
                *inner,
                "scf.yield %inner : i64",
                "} else {",
                "scf.yield %start : i64",
                "}",
            ]
        result = "%inner_" if self.has_branch else "%inner"
        lines += [
            "%from = arith.constant 0 : index",
            f"%to = arith.constant {self.outer} : index",
            "%by = arith.constant 1 : index",
            "%total = scf.for %o = %from to %to step %by iter_args(%start = %zero) -> (i64) {",
            *inner,
            f"scf.yield {result} : i64",
            "}",
            "memref.store %total, %out[%place] : memref<?xi64>",
        ]
        if self.has_epilogue:
            lines += self.epilogue()
        return [*lines, "gpu.terminator"]

    def epilogue(self) -> list[str]:
        """Return lines that exchange results of threads in memory that a ring may have had."""
        kind = f"memref<{self.threads}xi64, #gpu.address_space<workgroup>>"
        return [
            f"%x = memref.alloc() : {kind}",
            f"memref.store %total, %x[%tid] : {kind}",
            "gpu.barrier",
            f"%other = affine.apply affine_map<(t) -> ((t + 1) mod {self.threads})>(%tid)",
            f"%got = memref.load %x[%other] : {kind}",
            "memref.store %got, %out[%place] : memref<?xi64>",
        ]

    def arguments(self) -> list[Any]:
        """Return the arguments of the host function."""
        out = np.zeros(self.threads * self.grid[0], np.int64)
        return [*(tile.array for tile in self.tiles), self.first, self.last, out]

    def generate(self) -> Program:
        """Make the program."""
        kernel = "\n".join(self.kernel())
        types = [
            f"%a{i}: memref<{tile.array.shape[0]}x{tile.array.shape[1]}x{tile.element}>"
            + (" {llvm.align = 16}" if self.is_aligned else "")
            for i, tile in enumerate(self.tiles)
        ]
        out = "%out: memref<?xi64> {llvm.noalias}"
        signature = ", ".join([*types, "%n0: index", "%n1: index", out])
        sizes = [*self.grid, *self.block]
        names = [f"%size{i}" for i in range(6)]
        constants = "\n".join(
            f"{name} = arith.constant {size} : index"
            for name, size in zip(names, sizes, strict=True)
        )
        text = f"""
func.func @main({signature}) {{
{constants}
gpu.launch blocks(%bx, %by_, %bz) in (%gx = %size0, %gy = %size1, %gz = %size2)
  threads(%tx, %ty, %tz) in (%nx = %size3, %ny = %size4, %nz = %size5) {{
{kernel}
}}
return
}}
"""
        arguments = self.arguments()
        options = f"slots={self.slots} engine={self.engine}"
        return Program(
            self.seed, text, options, self.chip, arguments, self.expected(), self.iterations
        )

    # Meaning.

    def expected(self) -> Array:
        """Return what the kernel computes."""
        totals = np.zeros((self.grid[0], self.threads), np.int64)
        for block in range(self.grid[0]):
            for outer in range(self.outer):
                if self.has_branch and outer % 2:
                    continue
                for k in range(self.first, self.last, self.step):
                    self._iteration(totals[block], block, k)
            if self.has_epilogue:
                totals[block] = np.roll(totals[block], -1)
        return totals.reshape(-1)

    def _iteration(self, total: Array, block: int, k: int) -> None:
        thread = np.arange(self.threads)
        total[:] = (total * 3) & 1048575
        for tile in self.tiles:
            rows, columns = tile.shape
            window = tile.array[block * rows :, k * columns :][:rows, :columns]
            filled = np.zeros(tile.shape, np.int64)
            filled[: window.shape[0], : window.shape[1]] = window
            for j in range(READS):
                y, x = (thread * 5 + j) % rows, (thread * 3 + j * 7) % columns
                total += filled[y, x] * (k + 3)


def generate(seed: int) -> Program:
    """Make a random program."""
    return Generator(seed).generate()
