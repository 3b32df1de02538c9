"""Matrix products as Hopper wants them: TMA, mbarriers, warps that specialise, wgmma, TMA stores.

Blocks are persistent: each takes tile after tile, and slots and phases go on from one to the next.
They are not among the cases of the corpus: what proves synchronisation does not follow `wgmma`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from corpus.kernels_bulk import tensor_map
from corpus.kernels_case import Array, Case, eighths, function, module

_DEPTH = 64
"""Elements of K in a slot: 128 bytes of them are a row of the swizzle."""
_FENCE = "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}"


@dataclass(frozen=True)
class Matmul:
    """C = A * B of f16, in tiles of 64 rows for each consumer."""

    m: int = 128
    n: int = 128
    k: int = 192
    columns: int = 64
    """Of a tile."""
    consumers: int = 1
    slots: int = 2
    lag: int = 0
    """Slots that a consumer holds on to while the next product goes on."""
    grid: int = 1
    cluster: int = 1
    """Blocks with neighbouring rows of tiles, which share what they load of B."""
    rows_of_b: Literal["n", "k"] = "n"
    """What the rows of B are; those of K are not what `wgmma` wants, and transposed."""
    epilogue: Literal["direct", "tma", "reduce"] = "direct"
    one_arrives: bool = False
    """Wrong: one warp of a consumer releases slots for all four."""

    @property
    def rows(self) -> int:
        return 64 * self.consumers

    @property
    def threads(self) -> int:
        return 128 * (1 + self.consumers)

    @property
    def name(self) -> str:
        return (
            f"{self.m}x{self.n}x{self.k}, {self.consumers} consumers, {self.slots} slots, lag "
            f"{self.lag}, {self.grid} blocks, clusters of {self.cluster}, B by {self.rows_of_b}, "
            f"{self.epilogue}"
        )


class _Text:
    """Operations, one a line, with names for their results."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0

    def add(self, line: str) -> None:
        self.lines.append("    " + line)

    def op(self, text: str) -> str:
        self.count += 1
        self.add(f"%v{self.count} = {text}")
        return f"%v{self.count}"

    def const(self, value: int) -> str:
        return self.op(f"arith.constant {value} : i32")

    def binary(self, kind: str, a: str, b: str) -> str:
        return self.op(f"arith.{kind} {a}, {b} : i32")

    def scaled(self, base: str, index: str, size: int) -> str:
        """Return the address of an element of that many bytes."""
        offset = self.binary("muli", index, self.const(size))
        return self.op(
            f"llvm.getelementptr {base}[{offset}] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8"
        )

    def advance(self, slot: str, phase: str, slots: int) -> tuple[str, str]:
        after = self.binary("addi", slot, self.const(1))
        wraps = self.op(f"arith.cmpi eq, {after}, {self.const(slots)} : i32")
        bit = self.op(f"arith.extui {wraps} : i1 to i32")
        return (
            self.op(f"arith.select {wraps}, {self.const(0)}, {after} : i32"),
            self.binary("xori", phase, bit),
        )


def _struct(count: int) -> str:
    return f"!llvm.struct<({', '.join(['f32'] * count)})>"


class _Writer(_Text):
    def __init__(self, of: Matmul) -> None:
        super().__init__()
        self.of = of
        self.bytes_a = of.rows * _DEPTH * 2
        self.bytes_b = of.columns * _DEPTH * 2
        self.registers = of.columns // 2

    def write(self) -> str:
        of = self.of
        self.buffers()
        self.initialize()
        group = self.op(f"arith.divui %tid, {self.const(128)} : i32")
        produces = self.op(f"arith.cmpi eq, {group}, {self.const(0)} : i32")
        self.add(f"scf.if {produces} {{")
        # Threads of a block of 256 begin with as many as there can be.
        registers = {2: (40, 232), 3: (32, 160)}.get(of.consumers)
        if registers:
            self.add(f"nvvm.setmaxregister decrease {registers[0]}")
        first = self.op(f"arith.cmpi eq, %tid, {self.const(0)} : i32")
        self.add(f"scf.if {first} {{")
        self.produce()
        self.add("}")
        self.add("} else {")
        if registers:
            self.add(f"nvvm.setmaxregister increase {registers[1]}")
        self.consume(group)
        self.add("}")
        if of.cluster > 1:
            self.add("nvvm.cluster.arrive {aligned}")
            self.add("nvvm.cluster.wait {aligned}")
        return "\n".join(self.lines)

    def buffers(self) -> None:
        of = self.of
        sizes = {
            "a": of.slots * self.bytes_a // 8,
            "b": of.slots * self.bytes_b // 8,
            "full": of.slots,
            "empty": of.slots,
        }
        if of.epilogue != "direct":
            sizes["c"] = of.rows * of.columns * 4 // 8
        for name, count in sizes.items():
            kind = f"memref<{count}xi64, #wg>"
            self.add(f"%w{name} = memref.alloc() {{alignment = 1024 : i64}} : {kind}")
            at = self.op(f"memref.extract_aligned_pointer_as_index %w{name} : {kind} -> index")
            wide = self.op(f"arith.index_cast {at} : index to i64")
            self.add(f"%{name} = llvm.inttoptr {wide} : i64 to !llvm.ptr<3>")
        self.add("%tid = nvvm.read.ptx.sreg.tid.x : i32")
        self.add("%block = nvvm.read.ptx.sreg.ctaid.x : i32")
        self.add("%rank = nvvm.read.ptx.sreg.cluster.ctarank : i32")
        for name in ("ma", "mb") + (("mc",) if of.epilogue != "direct" else ()):
            kind = {"ma": self.map_a, "mb": self.map_b, "mc": self.map_c}[name]()
            self.add(f"%{name}p = builtin.unrealized_conversion_cast %{name} : {kind} to !llvm.ptr")

    def map_a(self) -> str:
        return tensor_map(f"memref<{self.of.rows}x{_DEPTH}xf16, #wg>", "swizzle_128b")

    def map_b(self) -> str:
        columns = self.of.columns // self.of.cluster
        shape = f"{columns}x{_DEPTH}" if self.of.rows_of_b == "n" else f"{_DEPTH}x64"
        return tensor_map(f"memref<{shape}xf16, #wg>", "swizzle_128b")

    def map_c(self) -> str:
        return tensor_map(f"memref<64x{self.of.columns}xf32, #wg>")

    def initialize(self) -> None:
        of = self.of
        first = self.op(f"arith.cmpi eq, %tid, {self.const(0)} : i32")
        self.add(f"scf.if {first} {{")
        arrivals = (1 if of.one_arrives else 4) * of.consumers * of.cluster
        for slot in range(of.slots):
            at = self.const(slot)
            for name, count in (("full", 1), ("empty", arrivals)):
                self.add(
                    f"nvvm.mbarrier.init {self.scaled('%' + name, at, 8)}, {self.const(count)} "
                    ": !llvm.ptr<3>, i32"
                )
        self.add("nvvm.fence.mbarrier.init")
        self.add("}")
        if of.cluster > 1:
            self.add("nvvm.cluster.arrive {aligned}")
            self.add("nvvm.cluster.wait {aligned}")
        else:
            self.add("nvvm.barrier")

    def wait(self, name: str, slot: str, phase: str) -> None:
        self.add(
            f"nvvm.mbarrier.try_wait.parity {self.scaled('%' + name, slot, 8)}, {phase}, "
            f"{self.const(10_000_000)} : !llvm.ptr<3>, i32, i32"
        )

    def loop_over_tiles(self, slot: str, phase: str) -> tuple[str, str, str]:
        """Begin a loop over tiles; return the loop's name, row and column of the tile."""
        of = self.of
        tiles = of.m // of.rows * (of.n // of.columns)
        name = self.op  # a name of its own for each loop
        self.count += 1
        loop = f"%t{self.count}"
        self.add(
            f"{loop}:2 = scf.for {loop}i = %block to {self.const(tiles)} "
            f"step {self.const(of.grid)} "
            f"iter_args({loop}s = {slot}, {loop}p = {phase}) -> (i32, i32) : i32 {{"
        )
        rows = self.const(of.m // of.rows)
        row = name(f"arith.remui {loop}i, {rows} : i32")
        column = name(f"arith.divui {loop}i, {rows} : i32")
        return (
            loop,
            self.binary("muli", row, self.const(of.rows)),
            self.binary("muli", column, self.const(of.columns)),
        )

    def load(self, target: str, tensor: str, barrier: str, at: list[str], mask: str) -> None:
        cluster = self.op(f"llvm.addrspacecast {target} : !llvm.ptr<3> to !llvm.ptr<7>")
        self.add(
            f"nvvm.cp.async.bulk.tensor.shared.cluster.global {cluster}, {tensor}, {barrier}, "
            f"box [{', '.join(at)}]{mask} : !llvm.ptr<7>, !llvm.ptr"
        )

    def produce(self) -> None:
        of = self.of
        loop, row, column = self.loop_over_tiles(self.const(0), self.const(1))
        self.add(
            f"{loop}k:2 = scf.for %kp = {self.const(0)} to {self.const(of.k)} "
            f"step {self.const(_DEPTH)} "
            f"iter_args(%sp = {loop}s, %pp = {loop}p) -> (i32, i32) : i32 {{"
        )
        self.wait("empty", "%sp", "%pp")
        full = self.scaled("%full", "%sp", 8)
        self.add(
            f"nvvm.mbarrier.arrive.expect_tx {full}, {self.const(self.bytes_a + self.bytes_b)} "
            ": !llvm.ptr<3>, i32"
        )
        self.load(self.scaled("%a", "%sp", self.bytes_a), "%map", full, ["%kp", row], "")
        slot = self.scaled("%b", "%sp", self.bytes_b)
        self.load_b(slot, full, column)
        slot, phase = self.advance("%sp", "%pp", of.slots)
        self.add(f"scf.yield {slot}, {phase} : i32, i32")
        self.add("}")
        self.add(f"scf.yield {loop}k#0, {loop}k#1 : i32, i32")
        self.add("}")

    def load_b(self, slot: str, full: str, column: str) -> None:
        """Load what a block loads of B, for all of its cluster."""
        of = self.of
        mask = ""
        if of.cluster > 1:
            ones = self.op(f"arith.constant {2**of.cluster - 1} : i16")
            mask = f" multicast_mask = {ones}"
        if of.rows_of_b == "n":
            share = of.columns // of.cluster
            first = self.binary("muli", "%rank", self.const(share))
            target = self.scaled(slot, first, 128)
            self.load(target, "%mbp", full, ["%kp", self.binary("addi", column, first)], mask)
            return
        boxes = of.columns // 64 // of.cluster
        for box in range(boxes):
            number = self.binary(
                "addi", self.binary("muli", "%rank", self.const(boxes)), self.const(box)
            )
            at = self.binary("addi", column, self.binary("muli", number, self.const(64)))
            self.load(self.scaled(slot, number, 8192), "%mbp", full, [at, "%kp"], mask)

    def descriptor(self, address: str, step: int, head: int) -> str:
        wide = self.op(f"llvm.ptrtoint {address} : !llvm.ptr<3> to i64")
        moved = self.op(f"arith.addi {wide}, {self.op(f'arith.constant {step} : i64')} : i64")
        units = self.op(f"arith.shrui {moved}, {self.op('arith.constant 4 : i64')} : i64")
        return self.op(f"arith.ori {units}, {self.op(f'arith.constant {head} : i64')} : i64")

    def multiply(self, consumer: str, before: str) -> str:
        """Multiply the tiles of the slot, and commit; return the sums."""
        of = self.of
        struct = _struct(self.registers)
        tile = self.scaled("%a", "%sc", self.bytes_a)
        a = self.scaled(tile, consumer, 64 * 128)
        b = self.scaled("%b", "%sc", self.bytes_b)
        head = 1 << 62 | 64 << 32
        self.add("nvvm.wgmma.fence.aligned")
        for step in range(_DEPTH // 16):
            da = self.descriptor(a, 32 * step, head | 1 << 16)
            is_plain = of.rows_of_b == "n"
            db = self.descriptor(
                b, (32 if is_plain else 2048) * step, head | (1 if is_plain else 512) << 16
            )
            before = self.op(
                f"nvvm.wgmma.mma_async {da}, {db}, {before}, <m = 64, n = {of.columns}, k = 16>, "
                "D [<f32>, <one>], A [<f16>, <one>, <row>], "
                f"B [<f16>, <one>, <{'col' if is_plain else 'row'}>] : {struct} -> {struct}"
            )
        self.add("nvvm.wgmma.commit.group.sync.aligned")
        return before

    def release(self, slot: str) -> None:
        """Let one lane of each warp tell all blocks of the cluster that a slot is free."""
        empty = self.scaled("%empty", slot, 8)
        lane = self.binary("remui", "%tid", self.const(128 if self.of.one_arrives else 32))
        tells = self.op(f"arith.cmpi ult, {lane}, {self.const(self.of.cluster)} : i32")
        self.add(f"scf.if {tells} {{")
        if self.of.cluster > 1:
            other = self.op(f"nvvm.mapa {empty}, {lane} : !llvm.ptr<3> -> !llvm.ptr<7>")
            self.add(f"nvvm.mbarrier.arrive {other} : !llvm.ptr<7>")
        else:
            self.op(f"nvvm.mbarrier.arrive {empty} : !llvm.ptr<3> -> i64")
        self.add("}")

    def consume(self, group: str) -> None:
        of = self.of
        struct = _struct(self.registers)
        consumer = self.binary("subi", group, self.const(1))
        loop, row, column = self.loop_over_tiles(self.const(0), self.const(0))
        zero = self.op("arith.constant 0.0 : f32")
        sums = self.op(f"llvm.mlir.poison : {struct}")
        for i in range(self.registers):
            sums = self.op(f"llvm.insertvalue {zero}, {sums}[{i}] : {struct}")
        self.add(
            f"{loop}k:4 = scf.for %kc = {self.const(0)} to {self.const(of.k)} "
            f"step {self.const(_DEPTH)} "
            f"iter_args(%acc = {sums}, %sc = {loop}s, %pc = {loop}p, %before = {loop}s) "
            f"-> ({struct}, i32, i32, i32) : i32 {{"
        )
        self.wait("full", "%sc", "%pc")
        sums = self.multiply(consumer, "%acc")
        self.add(f"nvvm.wgmma.wait.group.sync.aligned {of.lag}")
        if of.lag:
            has_one = self.op(f"arith.cmpi ne, %kc, {self.const(0)} : i32")
            self.add(f"scf.if {has_one} {{")
            self.release("%before")
            self.add("}")
        else:
            self.release("%sc")
        slot, phase = self.advance("%sc", "%pc", of.slots)
        self.add(f"scf.yield {sums}, {slot}, {phase}, %sc : {struct}, i32, i32, i32")
        self.add("}")
        if of.lag:
            self.add("nvvm.wgmma.wait.group.sync.aligned 0")
            self.release(f"{loop}k#3")
        self.store(f"{loop}k#0", consumer, row, column)
        self.add(f"scf.yield {loop}k#1, {loop}k#2 : i32, i32")
        self.add("}")
        if of.epilogue != "direct":
            self.elected(lambda: self.add("nvvm.cp.async.bulk.wait_group 0"))

    def elected(self, body: Any) -> None:
        """Let one thread of a warpgroup do something."""
        thread = self.binary("remui", "%tid", self.const(128))
        first = self.op(f"arith.cmpi eq, {thread}, {self.const(0)} : i32")
        self.add(f"scf.if {first} {{")
        body()
        self.add("}")

    def meet(self, consumer: str) -> None:
        """Let the threads of a consumer wait for each other."""
        number = self.binary("addi", consumer, self.const(1))
        self.add(f"nvvm.barrier id = {number} number_of_threads = {self.const(128)}")

    def store(self, sums: str, consumer: str, row: str, column: str) -> None:
        of = self.of
        struct = _struct(self.registers)
        thread = self.binary("remui", "%tid", self.const(128))
        lane = self.binary("remui", thread, self.const(32))
        warp = self.binary("divui", thread, self.const(32))
        down = self.binary(
            "addi",
            self.binary("muli", warp, self.const(16)),
            self.binary("divui", lane, self.const(4)),
        )
        right = self.binary("muli", self.binary("remui", lane, self.const(4)), self.const(2))
        values = [
            self.op(f"llvm.extractvalue {sums}[{i}] : {struct}") for i in range(self.registers)
        ]
        own = self.binary("muli", consumer, self.const(64))
        if of.epilogue == "direct":
            top, left = self.binary("addi", self.binary("addi", row, own), down), column
            left = self.binary("addi", left, right)
            for i, value in enumerate(values):
                at = [self.offset(top, i // 2 % 2 * 8), self.offset(left, i // 4 * 8 + i % 2)]
                self.add(f"memref.store {value}, %c[{at[0]}, {at[1]}] : memref<{of.m}x{of.n}xf32>")
            return
        tile = self.scaled("%c", own, of.columns * 4)
        # What is there has been read.
        self.elected(lambda: self.add("nvvm.cp.async.bulk.wait_group 0 {read}"))
        self.meet(consumer)
        for i, value in enumerate(values):
            down_i = self.binary("addi", down, self.const(i // 2 % 2 * 8))
            right_i = self.binary("addi", right, self.const(i // 4 * 8 + i % 2))
            at_i = self.binary("addi", self.binary("muli", down_i, self.const(of.columns)), right_i)
            self.add(f"llvm.store {value}, {self.scaled(tile, at_i, 4)} : f32, !llvm.ptr<3>")
        self.add(_FENCE)
        self.meet(consumer)

        def send() -> None:
            box = f"box [{column}, {self.binary('addi', row, own)}]"
            if of.epilogue == "tma":
                self.add(
                    f"nvvm.cp.async.bulk.tensor.global.shared.cta %mcp, {tile}, {box} "
                    ": !llvm.ptr, !llvm.ptr<3>"
                )
            else:
                self.add(
                    f"nvvm.cp.async.bulk.tensor.reduce %mcp, {tile}, {box} "
                    "{redKind = #nvvm.tma_redux_kind<add>} : !llvm.ptr, !llvm.ptr<3>"
                )
            self.add("nvvm.cp.async.bulk.commit.group")

        self.elected(send)

    def offset(self, base: str, more: int) -> str:
        at = self.binary("addi", base, self.const(more))
        return self.op(f"arith.index_cast {at} : i32 to index")


def matmul_text(of: Matmul) -> str:
    """Return the kernel."""
    writer = _Writer(of)
    body = writer.write()
    c = f"memref<{of.m}x{of.n}xf32>" if of.epilogue == "direct" else writer.map_c()
    name = "%c" if of.epilogue == "direct" else "%mc"
    arguments = f"%ma: {writer.map_a()}, %mb: {writer.map_b()}, {name}: {c}"
    text = function("matmul", arguments, body, block=(of.threads, 1, 1))
    if of.cluster > 1:
        text = text.replace(
            "attributes {", f"attributes {{known_cluster_size = array<i32: {of.cluster}, 1, 1>, ", 1
        )
    return module(text)


def matmul_case(of: Matmul) -> Case:
    def make(rng: np.random.Generator) -> list[Any]:
        shape = (of.n, of.k) if of.rows_of_b == "n" else (of.k, of.n)
        c = eighths(rng, (of.m, of.n)) if of.epilogue == "reduce" else None
        return [
            eighths(rng, (of.m, of.k), "f2"),
            eighths(rng, shape, "f2"),
            np.full((of.m, of.n), np.nan, np.float32) if c is None else c,
        ]

    def expect(arguments: Sequence[Any]) -> dict[int, Array]:
        a, b = (argument.astype(np.float64) for argument in arguments[:2])
        result = a @ (b.T if of.rows_of_b == "n" else b)
        if of.epilogue == "reduce":
            result += arguments[2]
        return {2: result.astype(np.float32)}

    return Case(
        of.name,
        matmul_text(of),
        "matmul",
        grid=(of.grid, 1, 1),
        block=(of.threads, 1, 1),
        make=make,
        expect=expect,
        chip="sm_90a",
    )


SINGLE = (
    Matmul(),
    Matmul(lag=1),
    Matmul(rows_of_b="k"),
    Matmul(m=256, n=128, k=320, consumers=2, columns=128, slots=3, lag=1, rows_of_b="k"),
    Matmul(m=128, n=192, k=128, grid=2, consumers=2, slots=4, lag=1, epilogue="tma"),
)
CLUSTERED = (
    Matmul(grid=2, cluster=2),
    Matmul(m=256, grid=2, cluster=2, rows_of_b="k", columns=128, lag=1, slots=3),
    Matmul(m=512, k=256, grid=4, cluster=2, consumers=2, slots=4, lag=1, epilogue="tma"),
)
CASES = tuple(matmul_case(of) for of in SINGLE)
REDUCE = matmul_case(Matmul(grid=2, lag=1, epilogue="reduce"))
CLUSTER_CASES = tuple(matmul_case(of) for of in CLUSTERED)
