"""Programs of a few warps that each do one thing after the other, with mbarriers between.

A program has slots of 32 numbers for each warp of the widest role, mbarriers, and roles: warps that
do the same. A statement is its name and numbers, such as `store 0`, `wait 1 0`, `arrive 2`; a
`Repeat` holds others, in which `phase` is the parity of the iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from corpus.kernels_bulk import barriers, tensor_map
from corpus.kernels_case import Array, Case, eighths, function, module

_FENCE = "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}"
_TILE = "memref<32xf32, #wg>"
_MAP = tensor_map(_TILE)


@dataclass(frozen=True)
class Repeat:
    """Statements that are done so often."""

    count: int
    body: tuple[Statement, ...]


Statement = str | Repeat


@dataclass(frozen=True)
class Program:
    """What each role does, between what all do before and after."""

    name: str
    roles: tuple[tuple[Statement, ...], ...]
    counts: tuple[int, ...] = ()
    """Arrivals that a phase of each mbarrier takes."""
    slots: int = 4
    before: tuple[Statement, ...] = ()
    """By the first warp."""
    after: tuple[Statement, ...] = ()
    """By the warps of the first role, behind a barrier."""
    widths: tuple[int, ...] = ()
    """Warps of each role; one if not told."""

    @property
    def warps(self) -> tuple[int, ...]:
        return self.widths or (1,) * len(self.roles)


class _Writer:
    def __init__(self, of: Program) -> None:
        self.of, self.count, self.depth = of, 0, 2
        self.lines: list[str] = []
        self.width = max(of.warps) * 32
        self.slots = f"memref<{of.slots}x{self.width}xf32, #wg>"
        self.group = barriers(max(1, len(of.counts)))

    def add(self, line: str) -> None:
        self.lines.append("  " * self.depth + line)

    def op(self, text: str) -> str:
        self.count += 1
        self.add(f"%v{self.count} = {text}")
        return f"%v{self.count}"

    def block(self, head: str, body: Any) -> None:
        self.add(head + " {")
        self.depth += 1
        body()
        self.depth -= 1
        self.add("}")

    def tile(self, slot: str) -> tuple[str, str]:
        kind = f"memref<32xf32, strided<[1], offset: {int(slot) * self.width}>, #wg>"
        return self.op(
            f"memref.subview %w[{slot}, 0] [1, 32] [1, 1] : {self.slots} to {kind}"
        ), kind

    def statement(self, statement: Statement, phase: str) -> None:
        if isinstance(statement, Repeat):
            self.count += 1
            counter = f"%i{self.count}"

            def body() -> None:
                bit = self.op(f"arith.remui {counter}, %c2 : index")
                parity = self.op(f"arith.index_cast {bit} : index to i1")
                for inner in statement.body:
                    self.statement(inner, parity)

            self.block(f"scf.for {counter} = %c0 to %c{statement.count} step %c1", body)
            return
        name, *numbers = statement.split()
        getattr(self, f"do_{name}")(*numbers, **({"phase": phase} if name == "wait" else {}))

    def do_store(self, slot: str) -> None:
        self.add(f"memref.store %x, %w[%c{slot}, %at] : {self.slots}")

    def do_load(self, slot: str) -> None:
        """Read what the lane in the mirror has written."""
        value = self.op(f"memref.load %w[%c{slot}, %mirror] : {self.slots}")
        self.add(f"memref.store {value}, %out[%bx, %tx] : memref<?x?xf32>")

    def do_wait(self, number: str, parity: str, phase: str) -> None:
        bit = phase if parity == "phase" else {"0": "%even", "1": "%odd"}[parity]
        self.add(f"nvgpu.mbarrier.try_wait.parity %b[%c{number}], {bit}, %ticks : {self.group}")

    def do_arrive(self, number: str, count: str = "1") -> None:
        self.add("nvvm.bar.warp.sync %all : i32")

        def body() -> None:
            for _ in range(int(count)):
                self.op(
                    f"nvgpu.mbarrier.arrive %b[%c{number}] : {self.group} -> !nvgpu.mbarrier.token"
                )

        self.block("scf.if %leads", body)

    def do_fence(self) -> None:
        self.add(_FENCE)

    def do_meet(self) -> None:
        self.add("nvvm.bar.warp.sync %all : i32")

    def do_tma(self, slot: str, number: str, more: str = "0") -> None:
        self.add("nvvm.bar.warp.sync %all : i32")

        def body() -> None:
            size = self.op(f"arith.constant {128 + int(more)} : index")
            self.add(f"nvgpu.mbarrier.arrive.expect_tx %b[%c{number}], {size} : {self.group}")
            tile, kind = self.tile(slot)
            self.add(
                f"nvgpu.tma.async.load %map[%c0], %b[%c{number}] to {tile} "
                f": {_MAP}, {self.group} -> {kind}"
            )

        self.block("scf.if %leads", body)

    def do_put(self, slot: str) -> None:
        self.add("nvvm.bar.warp.sync %all : i32")

        def body() -> None:
            tile, kind = self.tile(slot)
            place = int(slot) * 32
            self.add(f"nvgpu.tma.async.store {tile} to %target[%c{place}] : {kind} -> {_MAP}")
            self.add("nvvm.cp.async.bulk.commit.group")

        self.block("scf.if %leads", body)

    def do_putwait(self, count: str, read: str = "") -> None:
        def body() -> None:
            self.add(f"nvvm.cp.async.bulk.wait_group {count}" + (" {read}" if read else ""))

        self.block("scf.if %leads", body)
        self.add("nvvm.bar.warp.sync %all : i32")

    def do_copy(self, slot: str) -> None:
        self.op(
            f"nvgpu.device_async_copy %in[%lane], %w[%c{slot}, %at], 1 : memref<32xf32> to "
            f"{self.slots}"
        )
        self.add("nvvm.cp.async.commit.group")

    def do_copywait(self, count: str) -> None:
        self.add(f"nvvm.cp.async.wait.group {count}")

    def write(self) -> str:
        of = self.of
        self.add("%even = arith.constant false")
        self.add("%odd = arith.constant true")
        self.add("%all = arith.constant -1 : i32")
        self.add("%ticks = arith.constant 1000000 : index")
        self.add("%lane = arith.remui %tx, %c32 : index")
        self.add("%warp = arith.divui %tx, %c32 : index")
        self.add("%first = arith.cmpi eq, %tx, %c0 : index")
        self.add("%x = memref.load %in[%lane] : memref<32xf32>")
        if of.counts:
            self.add(f"%b = nvgpu.mbarrier.create -> {self.group}")
            self.block("scf.if %first", self.initialize)
        self.add("gpu.barrier")
        for number, width in enumerate(of.warps):
            self.add(f"%named{number} = arith.constant {number + 1} : i32")
            self.add(f"%threads{number} = arith.constant {width * 32} : i32")
        start = 0
        for number, role in enumerate(of.roles):
            width = of.warps[number]
            body = (*(of.before if number == 0 else ()), *role)
            self.role(number, start, width, body)
            start += width
        self.add("gpu.barrier")
        if of.after:
            self.role(0, 0, of.warps[0], of.after)
        return "\n".join(self.lines)

    def initialize(self) -> None:
        for number, count in enumerate(self.of.counts):
            self.add(f"nvgpu.mbarrier.init %b[%c{number}], %c{count} : {self.group}")
        self.add("nvvm.fence.mbarrier.init")

    def role(self, role: int, start: int, width: int, body: Sequence[Statement]) -> None:
        """Let `width` warps from `start` on do something."""
        name = self.op(f"arith.subi %warp, %c{start} : index")
        mine = self.op(f"arith.cmpi ult, {name}, %c{width} : index")
        self.count += 1

        def inside() -> None:
            old, self.lines = self.lines, []
            for statement in body:
                self.statement(statement, "%even")
            own, self.lines = self.lines, old
            scope = f"r{self.count}"
            before = self.op(f"arith.muli %c{start}, %c32 : index")
            self.add(f"%at{scope} = arith.subi %tx, {before} : index")
            last = self.op(f"arith.constant {width * 32 - 1} : index")
            self.add(f"%mirror{scope} = arith.subi {last}, %at{scope} : index")
            # One thread of a role arrives for it.
            self.add(f"%leads{scope} = arith.cmpi eq, %at{scope}, %c0 : index")
            for line in own:
                for value in ("at", "mirror", "leads"):
                    line = line.replace(f"%{value} ", f"%{value}{scope} ")
                    line = line.replace(f"%{value}]", f"%{value}{scope}]")
                if width > 1:
                    line = line.replace(
                        "nvvm.bar.warp.sync %all : i32",
                        f"nvvm.barrier id = %named{role} number_of_threads = %threads{role}",
                    )
                self.lines.append(line)

        self.block(f"scf.if {mine}", inside)


def _maps(body: str) -> list[str]:
    """Return the tensor maps that a kernel uses."""
    return [name for name in ("%map", "%target") if f"{name}[" in body]


def program_text(of: Program) -> str:
    """Return the kernel."""
    writer = _Writer(of)
    body = writer.write()
    arguments = "%in: memref<32xf32> {llvm.noalias}, %out: memref<?x?xf32> {llvm.noalias}"
    arguments += "".join(f", {name}: {_MAP}" for name in _maps(body))
    block = (32 * sum(of.warps), 1, 1)
    buffers = f"%w: {writer.slots}"
    return module(function("program", arguments, body, block=block, buffers=buffers))


def program_case(of: Program) -> Case:
    """Return the kernel with arguments; of what it stores nothing is expected."""
    threads = 32 * sum(of.warps)

    def make(rng: np.random.Generator) -> list[Any]:
        sizes = {"%map": 32, "%target": 32 * of.slots}
        maps = [eighths(rng, (sizes[name],)) for name in _maps(_Writer(of).write())]
        return [eighths(rng, (32,)), eighths(rng, (1, threads)), *maps]

    def expect(arguments: Sequence[Any]) -> dict[int, Array]:
        return {}

    return Case(
        of.name,
        program_text(of),
        "program",
        grid=(1, 1, 1),
        block=(threads, 1, 1),
        make=make,
        expect=expect,
        chip="sm_90a",
    )
