"""Random kernels that copy: any rank, layout, element, memory and block, and what they shall do."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from oracles.copies.text import (
    DTYPES,
    Array,
    Side,
    Space,
    Writer,
    random_array,
    random_layout,
    random_side,
    row_major,
)

Dim3 = tuple[int, int, int]
# What a linalg.copy may make of an element on its way, exactly.
CONVERSIONS = [
    *(("f16", "f32"), ("f32", "f16"), ("f32", "f64"), ("f64", "f32"), ("i8", "i32"), ("i32", "i8")),
    *(
        ("i32", "i64"),
        ("f32", "i32"),
        ("i32", "f32"),
        ("i16", "f16"),
        ("f16", "i16"),
        ("f64", "i8"),
    ),
]
BLOCKS: list[Dim3] = [(n, 1, 1) for n in (1, 7, 32, 128, 256, 1024)] + [(16, 4, 2)]
CAPACITY = 44 * 1024


@dataclass
class Program:
    """A kernel, how to launch it, and what it shall leave behind."""

    seed: int
    kind: str
    text: str
    block: Dim3
    grid: Dim3
    has_host: bool
    """Whether the arguments are those of a host function that launches."""
    arguments: list[Any]
    expected: Array
    """What the second argument shall be."""
    stored: dict[str, int] = field(default_factory=dict)
    """How many bytes all threads together shall store in a memory."""


class Generator:
    """Makes one program: a copy from `%a` to `%b`."""

    def __init__(self, seed: int, *, is_bounded: bool = False) -> None:
        self.seed = seed
        self.rng = random.Random(seed)
        self.writer = Writer(self.rng)
        self.is_bounded = is_bounded
        if is_bounded:
            self.writer.extents = "bounded"
        self.block = self.rng.choice(BLOCKS)
        self.grid: Dim3 = (1, 1, 1)
        self.types: list[str] = []
        self.aligned = self.rng.random() < 0.5
        if self.rng.random() < 0.3:
            self.elements = self.rng.choice(CONVERSIONS)
        else:
            self.elements = (self.rng.choice(list(DTYPES)),) * 2

    @property
    def threads(self) -> int:
        """How many there are in a block."""
        return math.prod(self.block)

    @property
    def bytes_per_element(self) -> int:
        """How many bytes the larger of both elements takes."""
        return max(int(np.dtype(DTYPES[element]).itemsize) for element in self.elements)

    @property
    def converts(self) -> bool:
        """Whether elements change on their way."""
        return self.elements[0] != self.elements[1]

    def random_extents(self) -> tuple[int, ...]:
        """Choose the extents of a copy that a buffer can hold."""
        while True:
            extents = self._random_extents()
            if int(np.prod(extents)) * self.bytes_per_element <= CAPACITY // 2:
                return extents

    def _random_extents(self) -> tuple[int, ...]:
        rng = self.rng
        rank = rng.choice([0, 1, 1, 2, 2, 2, 2, 3, 3, 4, 5, 6])
        if rank == 1:
            return (rng.choice([0, 1, 5, 16, 64, 100, 256, 1027, 2048]),)
        if rank == 2:
            return tuple(rng.choice([1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 64]) for _ in range(2))
        return tuple(rng.choice([1, 2, 3, 4, 8] if rank < 5 else [1, 2, 3]) for _ in range(rank))

    # Arguments.

    def add_array(self, name: str, array: Array, element: str) -> tuple[str, list[Any], str]:
        """Make an array an argument; return its name, its strides as they are known, its type."""
        rng = self.rng
        dims = [
            "?" if self.writer.extents != "static" and rng.random() < 0.6 else str(n)
            for n in array.shape
        ]
        strides, layout = row_major(dims), ""
        if not array.flags.c_contiguous or (array.ndim and rng.random() < 0.1):
            strides = [
                "?" if rng.random() < 0.5 else stride // array.itemsize for stride in array.strides
            ]
            layout = f"strided<[{', '.join(map(str, strides))}], offset: ?>"
        kind = self.writer.base_type(dims, element, "global", layout)
        stated = " {llvm.noalias}" if rng.random() < 0.5 else ""
        self.types.append(f"{name}: {kind}{stated}")
        return name, strides, kind

    def global_view(self, name: str, array: Array, element: str, side: Side) -> tuple[str, str]:
        """Return the slice of an array that is an argument."""
        base, strides, kind = self.add_array(name, array, element)
        if self.aligned and self.rng.random() < 0.5:
            base = self.writer.emit(f"memref.assume_alignment {base}, 16 : {kind}")
        return self.writer.view(base, strides, kind, side, element, "global")

    def buffer_view(self, extents: Sequence[int], element: str, space: Space) -> tuple[str, str]:
        """Return a slice of a new buffer."""
        side = random_side(self.rng, extents)
        while int(np.prod(side.shape)) * np.dtype(DTYPES[element]).itemsize > CAPACITY // 2:
            side = random_side(self.rng, extents, whole=0.9)
        if self.is_bounded and space == "workgroup" and self.rng.random() < 0.6:
            most = CAPACITY // 2
            name, dims, kind = self.writer.alloc_bounded(side.shape, element, most)
            strides = row_major(dims)
        else:
            name, kind = self.writer.alloc(side.shape, element, space)
            strides = row_major(side.shape)
        return self.writer.view(name, strides, kind, side, element, space)

    # Kinds of programs.

    def whole(self) -> tuple[Array, Array, Array]:
        """Copy once, through no, one or two buffers of the block."""
        extents = self.random_extents()
        count, (first, last) = int(np.prod(extents)), self.elements
        source, target = (random_side(self.rng, extents) for _ in range(2))
        a = random_layout(self.rng, random_array(self.rng, source.shape, first))
        b = random_layout(self.rng, random_array(self.rng, target.shape, last))
        views = [self.global_view("%a", a, first, source)]
        wide = self.guard()
        sizes = [np.dtype(DTYPES[element]).itemsize for element in self.elements]
        self.stored = {"global": count * sizes[1], "shared": 0}
        change, is_filled = self.rng.randrange(3), False
        for i in range(self.rng.choice([0, 1, 1, 2])):
            element = first if i < change else last
            view = self.buffer_view(extents, element, "workgroup")
            views.append(view)
            self.stored["shared"] += count * sizes[i >= change]
            if self.rng.random() < 0.2:
                self.fill(view, element, 1)
                is_filled = True
        into = self.global_view("%b", b, last, target)
        for one, other in zip(views, [*views[1:], into], strict=True):
            self.writer.copy(one, other, converts=self.converts)
        expected = np.array(b)
        target.slice_of(expected)[...] = source.slice_of(a).astype(DTYPES[last])
        self.writer.lines += ["}"] * wide
        if is_filled:  # what is overwritten right away need not be
            del self.stored["shared"]
        return a, b, expected

    def padded(self) -> tuple[Array, Array, Array]:
        """Fill a tile, mostly with zeros, copy to a part of it, and all of it back."""
        rng, writer = self.rng, self.writer
        first, last = self.elements
        is_halo, number = rng.random() < 0.3, rng.choice([0, 0, 0, 1])
        while True:
            extents = self.random_extents()
            starts = tuple(rng.choice([0, 1, 2]) if is_halo else 0 for _ in extents)
            tile = tuple(
                start + max(n, 1) + rng.choice([0, 0, 1, 3, 8])
                for start, n in zip(starts, extents, strict=True)
            )
            if int(np.prod(tile)) * self.bytes_per_element <= CAPACITY:
                break
        source = random_side(rng, extents)
        a = random_layout(rng, random_array(rng, source.shape, first))
        b = random_array(rng, tile, last)
        view = self.global_view("%a", a, first, source)
        into, _, kind_into = self.add_array("%b", b, last)
        wide = self.guard()
        buffer, kind = writer.alloc(tile, first, "workgroup")
        self.fill((buffer, kind), first, number)
        own = tuple(range(len(tile)))
        inside = Side(tile, starts, (1,) * len(tile), extents, own)
        part = writer.view(buffer, row_major(tile), kind, inside, first, "workgroup")
        writer.copy(view, part, converts=False)
        writer.copy((buffer, kind), (into, kind_into), converts=self.converts)
        writer.lines += ["}"] * wide
        filled = np.full(tile, number, DTYPES[first])
        inside.slice_of(filled)[...] = source.slice_of(a)
        self.stored = {"global": b.nbytes}
        return a, b, filled.astype(DTYPES[last])

    def fill(self, view: tuple[str, str], element: str, number: int) -> None:
        """Fill a buffer with a number."""
        writer = self.writer
        if element == "i1":
            value = writer.emit(f"arith.constant {'true' if number else 'false'}")
        elif element.startswith("complex"):
            part = element[len("complex<") : -1]
            value = writer.emit(f"complex.constant [{number}.0 : {part}, 0.0 : {part}] : {element}")
        else:
            text = f"{number}.0" if element.startswith("f") else str(number)
            value = writer.emit(f"arith.constant {text} : {element}")
        writer.lines.append(f"linalg.fill ins({value} : {element}) outs({view[0]} : {view[1]})")

    def guard(self) -> int:
        """Maybe enter a branch or a loop that the block takes together."""
        writer = self.writer
        choice = self.rng.random()
        if choice < 0.15:
            self.grid = (2, 1, 1)
            block = writer.emit("gpu.block_id x") if not self.has_host else "%block"
            chosen = writer.constant(self.rng.randrange(2))
            condition = writer.emit(f"arith.cmpi eq, {block}, {chosen} : index")
            writer.lines.append(f"scf.if {condition} {{")
            return 1
        return 0

    def tiles(self) -> tuple[Array, Array, Array]:
        """Copy tile after tile, the last one ragged, each block its share, through a buffer."""
        rng, writer = self.rng, self.writer
        writer.is_least_of_index = self.is_bounded
        writer.extents = "argument"
        rank = rng.choice([1, 2, 2, 3])
        shape = tuple(
            rng.choice([5, 16, 33, 64, 100] if rank < 3 else [4, 9, 17]) for _ in range(rank)
        )
        tile = tuple(rng.choice([n, 4, 8, 16]) for n in shape)
        first, last = self.elements
        sizes = [np.dtype(DTYPES[element]).itemsize for element in self.elements]
        while int(np.prod(tile)) * max(sizes) > CAPACITY:
            tile = tuple(min(n, 8) for n in tile)
        a, b = random_array(rng, shape, first), random_array(rng, shape, last)
        self.grid = (rng.choice([1, 2, 3]), 1, 1)
        ends = [self.add_array(*side) for side in (("%a", a, first), ("%b", b, last))]
        block = writer.emit("gpu.block_id x") if not self.has_host else "%block"
        offsets, extents = [], []
        for dim, (extent, step) in enumerate(zip(shape, tile, strict=True)):
            low, high = (writer.constant(n) for n in (0, extent))
            stride = writer.constant(step)
            if dim == 0:
                low = writer.emit(f"arith.muli {block}, {stride} : index")
                stride = writer.constant(step * self.grid[0])
            writer.lines.append(f"scf.for %i{dim} = {low} to {high} step {stride} {{")
            offsets.append(f"%i{dim}")
            extents.append(writer.rest(f"%i{dim}", step, extent))
        iterations = self.repeat()
        buffer, kind = writer.alloc(tile, first, "workgroup")
        at, sizes_at = ", ".join(offsets), ", ".join(extents)
        ones = ", ".join("1" for _ in shape)
        views = []
        for (name, strides, base), element in zip(ends, self.elements, strict=True):
            layout = f"strided<[{', '.join(map(str, strides))}], offset: ?>"
            cut = writer.base_type(["?"] * rank, element, "global", layout)
            op = f"memref.subview {name}[{at}] [{sizes_at}] [{ones}] : {base} to {cut}"
            views.append((writer.emit(op), cut))
        layout = f"strided<[{', '.join(map(str, row_major(tile)))}]>"
        cut = writer.base_type(["?"] * rank, first, "workgroup", layout)
        zeros = ", ".join("0" for _ in shape)
        part = (
            writer.emit(
                f"memref.subview {buffer}[{zeros}] [{sizes_at}] [{ones}] : {kind} to {cut}"
            ),
            cut,
        )
        writer.copy(views[0], part, converts=False)
        writer.copy(part, views[1], converts=self.converts)
        writer.lines += ["}"] * (rank + (iterations is not None))
        if iterations is None:
            self.stored = {"global": a.size * sizes[1], "shared": a.size * sizes[0]}
        elif self.threads > 1:  # a copy of the same into the buffer may be done once
            self.stored = {"global": a.size * sizes[1] * iterations}
        else:
            self.stored = {}
        return a, b, np.array(b) if iterations == 0 else a.astype(DTYPES[last])

    def repeat(self) -> int | None:
        """Maybe enter a loop that does the same again, so many times."""
        writer = self.writer
        if self.rng.random() < 0.5:
            return None
        iterations = self.rng.choice([0, 1, 2, 3])
        low, step = writer.constant(0), writer.constant(1)
        high = (
            writer.argument(iterations) if self.rng.random() < 0.5 else writer.constant(iterations)
        )
        writer.lines.append(f"scf.for %again = {low} to {high} step {step} {{")
        return iterations

    def boxes(self) -> tuple[Array, Array, Array]:
        """Copy whole tiles whose rows are multiples of 16 bytes, in loops, through a buffer."""
        rng, writer = self.rng, self.writer
        writer.extents, self.has_host = "static", True
        first, last = self.elements
        sizes = [np.dtype(DTYPES[element]).itemsize for element in self.elements]
        unit = max(16 // sizes[0], 1)
        tile, counts, slack, starts = self.random_boxes(unit, max(sizes))
        shape = tuple(
            n * count + extra for n, count, extra in zip(tile, counts, slack, strict=True)
        )
        a, b = random_array(rng, shape, first), random_array(rng, shape, last)
        ends = [self.add_array(*side) for side in (("%a", a, first), ("%b", b, last))]
        iterations = self.repeat()
        depth, offsets = 0, []
        for dim, (n, count, start) in enumerate(zip(tile, counts, starts, strict=True)):
            if count == 1:
                offsets.append(str(start))
                continue
            low, high, step = (writer.constant(k) for k in (start, start + n * count, n))
            writer.lines.append(f"scf.for %i{dim} = {low} to {high} step {step} {{")
            offsets.append(f"%i{dim}")
            depth += 1
        buffer, kind = writer.alloc(tile, first, "workgroup")
        views = [
            self.cut(end, element, offsets, tile)
            for end, element in zip(ends, self.elements, strict=True)
        ]
        writer.copy(views[0], (buffer, kind), converts=False)
        writer.copy((buffer, kind), views[1], converts=self.converts)
        writer.lines += ["}"] * (depth + (iterations is not None))
        count = int(np.prod(tile)) * int(np.prod(counts))
        if iterations is None:
            self.stored = {"global": count * sizes[1], "shared": count * sizes[0]}
        else:  # a copy of the same into the buffer may be done once
            self.stored = {"global": count * sizes[1] * iterations} if self.threads > 1 else {}
        part = tuple(
            slice(start, start + n * count)
            for start, n, count in zip(starts, tile, counts, strict=True)
        )
        expected = np.array(b)
        if iterations != 0:
            expected[part] = a[part].astype(DTYPES[last])
        return a, b, expected

    def random_boxes(self, unit: int, size: int) -> tuple[tuple[int, ...], ...]:
        """Choose the extents of a tile, how many there are, what else there is, the first place."""
        rng = self.rng
        rank = rng.choice([1, 2, 2, 2, 3, 3, 4, 5])
        while True:
            rows = [rng.choice([1, 2, 3, 4, 8, 16, 64, 512]) for _ in range(rank - 1)]
            tile = (*rows, unit * rng.choice([1, 2, 3, 4, 8, 64]))
            if int(np.prod(tile)) * size <= CAPACITY // 2:
                break
        counts = [rng.choice([1, 1, 2, 3]) for _ in tile]
        while int(np.prod(tile)) * int(np.prod(counts)) > 1 << 15:
            counts[counts.index(max(counts))] -= 1
        slack = [rng.choice([0, 0, 1, 5]) * (unit if dim == rank - 1 else 1) for dim in range(rank)]
        starts = [rng.randrange(extra + 1) for extra in slack]
        return tile, tuple(counts), tuple(slack), tuple(starts)

    def cut(
        self,
        end: tuple[str, list[Any], str],
        element: str,
        offsets: Sequence[str],
        extents: Sequence[int],
    ) -> tuple[str, str]:
        """Return the slice of an argument from some offsets on."""
        name, strides, base = end
        layout = f"strided<[{', '.join(map(str, strides))}], offset: ?>"
        if all(offset.isdigit() for offset in offsets) and "?" not in strides:
            place = sum(int(n) * step for n, step in zip(offsets, strides, strict=True))
            if "offset" not in base:
                layout = layout.replace("?", str(place)) if place else layout.split("]")[0] + "]>"
        cut = self.writer.base_type(extents, element, "global", layout)
        at, sizes = ", ".join(offsets), ", ".join(map(str, extents))
        ones = ", ".join("1" for _ in extents)
        op = f"memref.subview {name}[{at}] [{sizes}] [{ones}] : {base} to {cut}"
        return self.writer.emit(op), cut

    def threads_apart(self) -> tuple[Array, Array, Array]:
        """Let each thread copy a slice of its own, maybe through memory of its own."""
        rng, writer = self.rng, self.writer
        writer.extents, self.aligned = "static", False
        extents = tuple(rng.choice([1, 2, 3, 4, 8]) for _ in range(rng.choice([0, 1, 1, 2, 3])))
        rows = rng.choice([1, 3, 32, 100])
        first, last = self.elements
        a, b = (random_array(rng, (rows, *extents), element) for element in self.elements)
        ends = [self.add_array(*side) for side in (("%a", a, first), ("%b", b, last))]
        thread = self.linear_thread()
        limit = writer.constant(rows)
        inside = writer.emit(f"arith.cmpi ult, {thread}, {limit} : index")
        writer.lines.append(f"scf.if {inside} {{")
        views = []
        for (name, strides, base), element in zip(ends, self.elements, strict=True):
            layout = f"strided<[{', '.join(map(str, strides[1:]))}], offset: ?>"
            cut = writer.base_type(extents, element, "global", layout)
            zeros = "".join(", 0" for _ in extents)
            sizes = "".join(f", {n}" for n in extents)
            ones = "".join(", 1" for _ in extents)
            op = f"memref.subview {name}[{thread}{zeros}] [1{sizes}] [1{ones}] : {base} to {cut}"
            views.append((writer.emit(op), cut))
        if rng.random() < 0.5:
            view = self.buffer_view(extents, first, "private")
            views.insert(1, view)
        for i, target in enumerate(views[1:]):
            writer.copy(views[i], target, converts=self.converts and i == len(views) - 2)
        writer.lines.append("}")
        count = min(rows, self.threads)
        expected = np.array(b)
        expected[:count] = a[:count].astype(DTYPES[last])
        self.stored = {"global": count * int(np.prod(extents)) * b.itemsize, "shared": 0}
        return a, b, expected

    def linear_thread(self) -> str:
        """Return the number of the thread in its block."""
        writer = self.writer
        x, y, z = (
            [f"%thread_{d}" for d in "xyz"]
            if self.has_host
            else [writer.emit(f"gpu.thread_id {d}") for d in "xyz"]
        )
        row, plane = self.block[0], self.block[0] * self.block[1]
        linear = f"affine_map<(d0, d1, d2) -> (d0 + d1 * {row} + d2 * {plane})>"
        return writer.emit(f"affine.apply {linear}({x}, {y}, {z})")

    # The program.

    def program(self) -> Program:
        """Return the program."""
        self.has_host = self.rng.random() < 0.4
        kinds = {
            "whole": self.whole,
            "tiles": self.tiles,
            "threads": self.threads_apart,
            "boxes": self.boxes,
            "padded": self.padded,
        }
        weights = [6, 2, 0, 0, 2] if self.is_bounded else [6, 2, 2, 3, 2]
        kind = self.rng.choices(list(kinds), weights)[0]
        a, b, expected = kinds[kind]()
        text = self.host() if self.has_host else self.outlined()
        return Program(
            seed=self.seed,
            kind=kind,
            text=text,
            block=self.block,
            grid=self.grid,
            has_host=self.has_host,
            arguments=[a, b, *self.writer.indices],
            expected=expected,
            stored=self.stored,
        )

    def parameters(self) -> str:
        """Return the parameters of the kernel or the host function."""
        numbers = [f"%n{i}: index" for i in range(len(self.writer.indices))]
        return ", ".join([*self.types, *numbers])

    def outlined(self) -> str:
        """Return a module of one kernel, maybe without the size of its block."""
        is_known = self.rng.random() < 0.7
        size = f" attributes {{known_block_size = array<i32: {', '.join(map(str, self.block))}>}}"
        lines = ["gpu.module @kernels {"]
        lines.append(
            f"gpu.func @main_kernel({self.parameters()}) kernel{size if is_known else ''} {{"
        )
        return "\n".join([*lines, *self.writer.lines, "gpu.return", "}", "}", ""])

    def host(self) -> str:
        """Return a host function with the kernel inside."""
        sizes = [f"%{name}{d}" for name in ("grid_", "block_") for d in "xyz"]
        numbers = [*self.grid, *self.block]
        lines = [f"func.func @main({self.parameters()}) {{"]
        lines += [f"{s} = arith.constant {n} : index" for s, n in zip(sizes, numbers, strict=True)]
        lines.append(
            "gpu.launch blocks(%block, %by, %bz) in (%gx = %grid_x, %gy = %grid_y, %gz = %grid_z) "
            "threads(%thread_x, %thread_y, %thread_z) in "
            "(%sx = %block_x, %sy = %block_y, %sz = %block_z) {"
        )
        return "\n".join([*lines, *self.writer.lines, "gpu.terminator", "}", "return", "}", ""])


def generate(seed: int, *, is_bounded: bool = False) -> Program:
    """Return a random program; all of whose extents are bounded, if that is asked for."""
    return Generator(seed, is_bounded=is_bounded).program()
