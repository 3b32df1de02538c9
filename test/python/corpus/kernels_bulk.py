"""Kernels that copy tiles by the asynchronous proxy: TMA, in bulk, with mbarriers and groups."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from corpus.kernels_case import Array, Case, eighths, function, module, whole

_TICKS = 10_000_000


def barriers(count: int) -> str:
    """Return the type of some mbarriers."""
    return f"!nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = {count}>"


def tensor_map(tile: str, swizzle: str = "none", fill: str = "zero") -> str:
    """Return the type of the map of a tensor, of which one copy moves `tile`."""
    return (
        f"!nvgpu.tensormap.descriptor<tensor = {tile}, swizzle = {swizzle}, l2promo = none, "
        f"oob = {fill}, interleave = none>"
    )


def swizzled(tile: Array, swizzle: str) -> Array:
    """Return a tile as the hardware lays it in workgroup memory, as one dimension."""
    bits = {"none": 0, "swizzle_32b": 1, "swizzle_64b": 2, "swizzle_128b": 3}[swizzle]
    chunks = np.ascontiguousarray(tile).view(np.uint8).reshape(-1, 16)
    at = np.arange(len(chunks))
    laid = np.empty_like(chunks)
    laid[at ^ ((at >> 3) & ((1 << bits) - 1))] = chunks
    return laid.reshape(-1).view(tile.dtype)


def box_of(array: Array, first: Sequence[int], box: Sequence[int]) -> Array:
    """Return a box of an array, with zeros where it is outside of it."""
    tile = np.zeros(box, array.dtype)
    sources, targets = [], []
    for start, extent, size in zip(first, array.shape, box, strict=True):
        low, high = max(start, 0), min(start + size, extent)
        sources.append(slice(low, max(low, high)))
        targets.append(slice(low - start, max(low, high) - start))
    tile[tuple(targets)] = array[tuple(sources)]
    return tile


# --- one box --------------------------------------------------------------------------------------


def copy_text(box: tuple[int, ...], element: str, swizzle: str, *, predicated: bool) -> str:
    """Return a kernel that copies a box for each block, and stores the bytes as they came."""
    count, rank = math.prod(box), len(box)
    shape = "x".join(map(str, box))
    tile = f"memref<{shape}x{element}, #wg>"
    descriptor, group = tensor_map(tile, swizzle), barriers(1)
    dims = ", ".join(map(str, range(rank)))
    loads = "".join(
        f"    %f{d} = memref.load %first[%bx, %c{d}] : memref<?x{rank}xindex>\n"
        for d in range(rank)
    )
    coordinates = ", ".join(f"%f{d}" for d in reversed(range(rank)))
    copy = (
        f"nvgpu.tma.async.load %map[{coordinates}], %b[%c0] to %tile{{}} "
        f": {descriptor}, {group} -> {tile}"
    )
    begin = (
        f"""
    nvgpu.tma.prefetch.descriptor %map, predicate = %elected : {descriptor}
    nvgpu.mbarrier.arrive.expect_tx %b[%c0], %bytes, predicate = %elected : {group}
    {copy.format(", predicate = %elected")}
"""
        if predicated
        else f"""
    nvgpu.tma.prefetch.descriptor %map : {descriptor}
    scf.if %elected {{
      nvgpu.mbarrier.arrive.expect_tx %b[%c0], %bytes : {group}
      {copy.format("")}
    }}
"""
    )
    size = {"f16": 2, "f32": 4, "i8": 1}[element]
    return module(
        function(
            "copy",
            f"%map: {descriptor}, %first: memref<?x{rank}xindex>, "
            f"%out: memref<?x{count}x{element}>",
            f"""
    %elected = arith.cmpi eq, %tx, %c0 : index
    %bytes = arith.constant {count * size} : index
    %ticks = arith.constant {_TICKS} : index
    %zeroth = arith.constant false
{loads}
    %b = nvgpu.mbarrier.create -> {group}
    nvgpu.mbarrier.init %b[%c0], %c1, predicate = %elected : {group}
    nvvm.fence.mbarrier.init
    gpu.barrier
{begin}
    nvgpu.mbarrier.try_wait.parity %b[%c0], %zeroth, %ticks : {group}
    %flat = memref.collapse_shape %tile [[{dims}]] : {tile} into memref<{count}x{element}, #wg>
    scf.for %i = %tx to %c{count} step %c32 {{
      %x = memref.load %flat[%i] : memref<{count}x{element}, #wg>
      memref.store %x, %out[%bx, %i] : memref<?x{count}x{element}>
    }}
""",
            block=(32, 1, 1),
            buffers=f"%tile: {tile}",
        )
    )


def copy_case(
    shape: tuple[int, ...],
    box: tuple[int, ...],
    places: Sequence[tuple[int, ...]],
    element: str,
    swizzle: str = "none",
    *,
    predicated: bool = False,
) -> Case:
    kind = {"f16": "f2", "f32": "f4", "i8": "i1"}[element]

    def make(rng: np.random.Generator) -> list[Any]:
        source = whole(rng, shape, kind)
        return [source, np.array(places), whole(rng, (len(places), math.prod(box)), kind)]

    def expect(arguments: Sequence[Any]) -> dict[int, Array]:
        tiles = [box_of(arguments[0], place, box) for place in places]
        return {2: np.stack([swizzled(tile, swizzle) for tile in tiles])}

    return Case(
        f"box of rank {len(shape)}, {swizzle}" + (", predicated" if predicated else ""),
        copy_text(box, element, swizzle, predicated=predicated),
        "copy",
        grid=(len(places), 1, 1),
        block=(32, 1, 1),
        make=make,
        expect=expect,
        chip="sm_90",
    )


# Within the tensor, over each of its edges, and beyond all of them.
COPIES = (
    copy_case((100,), (32,), [(0,), (84,), (-8,), (200,)], "f32"),
    copy_case((20, 72), (8, 64), [(0, 0), (8, 8), (16, 64), (-3, -5)], "f16", "swizzle_128b"),
    copy_case((20, 72), (8, 64), [(4, 0), (16, 24)], "f16", "swizzle_128b", predicated=True),
    copy_case((33, 40), (16, 16), [(0, 0), (17, 30)], "f32", "swizzle_64b"),
    copy_case((3, 9, 48), (2, 8, 32), [(0, 0, 0), (2, 5, 20)], "i8", "swizzle_32b"),
    copy_case((3, 4, 5, 16), (2, 2, 3, 8), [(0, 1, 2, 4), (2, 3, 4, 12)], "f16"),
    copy_case((2, 3, 2, 3, 8), (1, 2, 2, 2, 4), [(0, 0, 0, 0, 0), (1, 2, -1, 2, 6)], "f32"),
)

# --- rings ----------------------------------------------------------------------------------------

_TILE = "memref<8x32xf32, #wg>"
_SLOTS = "memref<3x8x32xf32, #wg>"
_SLOT = "memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>"
_MAP = tensor_map(_TILE)
_RING = barriers(3)
_ROWS = "memref<2x32xf32>"

# Each tile is eight rows; threads of two warps sum up a column each, and a thread of a third warp
# refills the slot that both warps have let go of.
SPECIALIZED = module(
    function(
        "specialized",
        f"%map: {_MAP}, %tiles: index, %sums: memref<2x64xf32>",
        f"""
    %zero = arith.constant 0.0 : f32
    %true = arith.constant true
    %all = arith.constant -1 : i32
    %bytes = arith.constant 1024 : index
    %ticks = arith.constant {_TICKS} : index
    %elected = arith.cmpi eq, %tx, %c64 : index
    %full = nvgpu.mbarrier.create -> {_RING}
    %empty = nvgpu.mbarrier.create -> {_RING}
    scf.if %elected {{
      scf.for %slot = %c0 to %c3 step %c1 {{
        nvgpu.mbarrier.init %full[%slot], %c1 : {_RING}
        nvgpu.mbarrier.init %empty[%slot], %c2 : {_RING}
      }}
      nvvm.fence.mbarrier.init
    }}
    gpu.barrier
    %consumes = arith.cmpi ult, %tx, %c64 : index
    scf.if %consumes {{
      %lane = arith.remui %tx, %c32 : index
      %leads = arith.cmpi eq, %lane, %c0 : index
      %half = arith.divui %tx, %c32 : index
      %from = arith.muli %half, %c4 : index
      %to = arith.addi %from, %c4 : index
      %total = scf.for %k = %c0 to %tiles step %c1 iter_args(%sum = %zero) -> f32 {{
        %slot = arith.remui %k, %c3 : index
        %iteration = arith.divui %k, %c3 : index
        %bit = arith.remui %iteration, %c2 : index
        %parity = arith.index_cast %bit : index to i1
        nvgpu.mbarrier.try_wait.parity %full[%slot], %parity, %ticks : {_RING}
        %new = scf.for %row = %from to %to step %c1 iter_args(%part = %sum) -> f32 {{
          %x = memref.load %w[%slot, %row, %lane] : {_SLOTS}
          %more = arith.addf %part, %x : f32
          scf.yield %more : f32
        }}
        nvvm.fence.proxy {{kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}}
        nvvm.bar.warp.sync %all : i32
        scf.if %leads {{
          %token = nvgpu.mbarrier.arrive %empty[%slot] : {_RING} -> !nvgpu.mbarrier.token
        }}
        scf.yield %new : f32
      }}
      memref.store %total, %sums[%bx, %tx] : memref<2x64xf32>
    }}
    scf.if %elected {{
      %start = arith.muli %bx, %tiles : index
      scf.for %k = %c0 to %tiles step %c1 {{
        %slot = arith.remui %k, %c3 : index
        %iteration = arith.divui %k, %c3 : index
        %bit = arith.remui %iteration, %c2 : index
        %parity = arith.index_cast %bit : index to i1
        %before = arith.xori %parity, %true : i1
        nvgpu.mbarrier.try_wait.parity %empty[%slot], %before, %ticks : {_RING}
        nvgpu.mbarrier.arrive.expect_tx %full[%slot], %bytes : {_RING}
        %tile = memref.subview %w[%slot, 0, 0] [1, 8, 32] [1, 1, 1] : {_SLOTS} to {_SLOT}
        %number = arith.addi %start, %k : index
        %row = arith.muli %number, %c8 : index
        nvgpu.tma.async.load %map[%c0, %row], %full[%slot] to %tile : {_MAP}, {_RING} -> {_SLOT}
      }}
    }}
""",
        block=(96, 1, 1),
        buffers=f"%w: {_SLOTS}",
    )
)

# All threads wait for the tile, and behind the barrier that all come to, one refills the slot
# that was read an iteration before.
PLAIN = module(
    function(
        "plain",
        f"%map: {_MAP}, %tiles: index, %sums: {_ROWS}",
        f"""
    %zero = arith.constant 0.0 : f32
    %bytes = arith.constant 1024 : index
    %ticks = arith.constant {_TICKS} : index
    %elected = arith.cmpi eq, %tx, %c0 : index
    %full = nvgpu.mbarrier.create -> {_RING}
    %start = arith.muli %bx, %tiles : index
    scf.if %elected {{
      scf.for %slot = %c0 to %c3 step %c1 {{
        nvgpu.mbarrier.init %full[%slot], %c1 : {_RING}
      }}
      nvvm.fence.mbarrier.init
      scf.for %k = %c0 to %c2 step %c1 {{
        nvgpu.mbarrier.arrive.expect_tx %full[%k], %bytes : {_RING}
        %tile = memref.subview %w[%k, 0, 0] [1, 8, 32] [1, 1, 1] : {_SLOTS} to {_SLOT}
        %number = arith.addi %start, %k : index
        %row = arith.muli %number, %c8 : index
        nvgpu.tma.async.load %map[%c0, %row], %full[%k] to %tile : {_MAP}, {_RING} -> {_SLOT}
      }}
    }}
    gpu.barrier
    %total = scf.for %k = %c0 to %tiles step %c1 iter_args(%sum = %zero) -> f32 {{
      %slot = arith.remui %k, %c3 : index
      %iteration = arith.divui %k, %c3 : index
      %bit = arith.remui %iteration, %c2 : index
      %parity = arith.index_cast %bit : index to i1
      nvgpu.mbarrier.try_wait.parity %full[%slot], %parity, %ticks : {_RING}
      nvvm.fence.proxy {{kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}}
      gpu.barrier
      %ahead = arith.addi %k, %c2 : index
      %in = arith.cmpi ult, %ahead, %tiles : index
      %refills = arith.andi %elected, %in : i1
      scf.if %refills {{
        %next = arith.remui %ahead, %c3 : index
        nvgpu.mbarrier.arrive.expect_tx %full[%next], %bytes : {_RING}
        %tile = memref.subview %w[%next, 0, 0] [1, 8, 32] [1, 1, 1] : {_SLOTS} to {_SLOT}
        %number = arith.addi %start, %ahead : index
        %row = arith.muli %number, %c8 : index
        nvgpu.tma.async.load %map[%c0, %row], %full[%next] to %tile : {_MAP}, {_RING} -> {_SLOT}
      }}
      %new = scf.for %row = %c0 to %c8 step %c1 iter_args(%part = %sum) -> f32 {{
        %x = memref.load %w[%slot, %row, %tx] : {_SLOTS}
        %more = arith.addf %part, %x : f32
        scf.yield %more : f32
      }}
      scf.yield %new : f32
    }}
    memref.store %total, %sums[%bx, %tx] : {_ROWS}
""",
        block=(32, 1, 1),
        buffers=f"%w: {_SLOTS}",
    )
)


def make_tiles(tiles: int, columns: int) -> Any:
    return lambda rng: [eighths(rng, (2 * tiles * 8, 32)), tiles, eighths(rng, (2, columns))]


def expect_halves(arguments: Sequence[Any]) -> dict[int, Array]:
    """Return the sums of the upper and the lower four rows of all tiles of a block."""
    source, tiles, _ = arguments
    return {2: source.reshape(2, tiles, 2, 4, 32).sum(axis=(1, 3)).reshape(2, 64)}


def expect_sums(arguments: Sequence[Any]) -> dict[int, Array]:
    source, tiles, _ = arguments
    return {2: source.reshape(2, tiles * 8, 32).sum(axis=1)}


# --- stores ---------------------------------------------------------------------------------------

_OUT = tensor_map(_TILE, "swizzle_128b")
_FENCE = "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}"

# Two tiles, one after the other, by the same bytes of workgroup memory; the last rows and columns
# of the tensor end within a tile.
STORES = module(
    function(
        "stores",
        f"%a: memref<2x16x32xf32>, %map: {_OUT}",
        f"""
    %elected = arith.cmpi eq, %tx, %c0 : index
    %x0 = affine.apply affine_map<(b) -> (b * 32)>(%bx)
    scf.for %k = %c0 to %c2 step %c1 {{
      %row0 = arith.muli %k, %c8 : index
      scf.for %row = %c0 to %c8 step %c1 {{
        %from = arith.addi %row0, %row : index
        %x = memref.load %a[%bx, %from, %tx] : memref<2x16x32xf32>
        %y = arith.addf %x, %x : f32
        %chunk = affine.apply affine_map<(t) -> (t floordiv 4)>(%tx)
        %rest = affine.apply affine_map<(t) -> (t mod 4)>(%tx)
        %place = arith.xori %chunk, %row : index
        %at = affine.apply affine_map<(p, r) -> (p * 4 + r)>(%place, %rest)
        memref.store %y, %w[%row, %at] : {_TILE}
      }}
      {_FENCE}
      gpu.barrier
      scf.if %elected {{
        nvgpu.tma.async.store %w to %map[%x0, %row0] : {_TILE} -> {_OUT}
        nvvm.cp.async.bulk.commit.group
        nvvm.cp.async.bulk.wait_group 0 {{read}}
      }}
      gpu.barrier
    }}
""",
        block=(32, 1, 1),
        buffers=f"%w: {_TILE}",
    )
)


def expect_stores(arguments: Sequence[Any]) -> dict[int, Array]:
    source, out = arguments
    result = out.copy()
    for block in range(2):
        x = block * 32
        width = min(32, result.shape[1] - x)
        result[:, x : x + width] = 2 * source[block, : result.shape[0], :width]
    return {1: result}


# Bytes there and back, without a tensor: a block reads what another thread of it has stored.
BYTES = module(
    function(
        "bytes",
        "%a: memref<2x128xf32>, %out: memref<2x128xf32>, %seen: memref<2x32xf32>",
        f"""
    %elected = arith.cmpi eq, %tx, %c0 : index
    %b = nvgpu.mbarrier.create -> {barriers(1)}
    nvgpu.mbarrier.init %b[%c0], %c1, predicate = %elected : {barriers(1)}
    nvvm.fence.mbarrier.init
    gpu.barrier
    %size = arith.constant 512 : i32
    %count = arith.constant 512 : index
    %ticks = arith.constant {_TICKS} : index
    %zeroth = arith.constant false
    %pw = memref.extract_aligned_pointer_as_index %w : memref<128xf32, #wg> -> index
    %iw = arith.index_cast %pw : index to i64
    %lw = llvm.inttoptr %iw : i64 to !llvm.ptr<3>
    %cw = llvm.addrspacecast %lw : !llvm.ptr<3> to !llvm.ptr<7>
    %pa = memref.extract_aligned_pointer_as_index %a : memref<2x128xf32> -> index
    %po = memref.extract_aligned_pointer_as_index %out : memref<2x128xf32> -> index
    %ia = affine.apply affine_map<(b)[p] -> (p + b * 512)>(%bx)[%pa]
    %io = affine.apply affine_map<(b)[p] -> (p + b * 512)>(%bx)[%po]
    %ja = arith.index_cast %ia : index to i64
    %jo = arith.index_cast %io : index to i64
    %ga = llvm.inttoptr %ja : i64 to !llvm.ptr<1>
    %go = llvm.inttoptr %jo : i64 to !llvm.ptr<1>
    %pb = nvgpu.mbarrier.get %b[%c0] : {barriers(1)} -> i32
    %lb = llvm.inttoptr %pb : i32 to !llvm.ptr<3>
    scf.if %elected {{
      nvgpu.mbarrier.arrive.expect_tx %b[%c0], %count : {barriers(1)}
      nvvm.cp.async.bulk.shared.cluster.global %cw, %ga, %lb, %size
          : !llvm.ptr<7>, !llvm.ptr<1>
    }}
    nvgpu.mbarrier.try_wait.parity %b[%c0], %zeroth, %ticks : {barriers(1)}
    scf.for %i = %tx to %c128 step %c32 {{
      %x = memref.load %w[%i] : memref<128xf32, #wg>
      %y = arith.addf %x, %x : f32
      memref.store %y, %w[%i] : memref<128xf32, #wg>
    }}
    {_FENCE}
    gpu.barrier
    scf.if %elected {{
      nvvm.cp.async.bulk.global.shared.cta %go, %lw, %size : !llvm.ptr<1>, !llvm.ptr<3>
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }}
    gpu.barrier
    %other = arith.subi %c127, %tx : index
    %z = memref.load %out[%bx, %other] : memref<2x128xf32>
    memref.store %z, %seen[%bx, %tx] : memref<2x32xf32>
""",
        block=(32, 1, 1),
        buffers="%w: memref<128xf32, #wg>",
    )
)


# The same of what a thread has just written to global memory.
WRITTEN = BYTES.replace(
    "    scf.if %elected {\n",
    """\
    scf.if %elected {
      %v = memref.load %a[%bx, %c0] : memref<2x128xf32>
      %v2 = arith.addf %v, %v : f32
      memref.store %v2, %a[%bx, %c0] : memref<2x128xf32>
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.global>}
""",
    1,
)


def expect_written(arguments: Sequence[Any]) -> dict[int, Array]:
    written = arguments[0].copy()
    written[:, 0] *= 2
    return {0: written, 1: 2 * written, 2: 2 * written[:, 127:95:-1]}


def block_case(
    name: str,
    text: str,
    kernel: str,
    make: Callable[[np.random.Generator], list[Any]],
    expect: Callable[[Sequence[Any]], dict[int, Array]],
    threads: int = 32,
) -> Case:
    """Return a case of two blocks."""
    return Case(name, text, kernel, (2, 1, 1), (threads, 1, 1), make, expect, chip="sm_90")


CASES = (
    *COPIES,
    block_case(
        "ring of tiles by a warp of its own",
        SPECIALIZED,
        "specialized",
        make_tiles(8, 64),
        expect_halves,
        threads=96,
    ),
    block_case("ring of tiles", PLAIN, "plain", make_tiles(8, 32), expect_sums),
    block_case(
        "stores of tiles",
        STORES,
        "stores",
        lambda rng: [eighths(rng, (2, 16, 32)), eighths(rng, (13, 60))],
        expect_stores,
    ),
    block_case(
        "bytes in bulk",
        BYTES,
        "bytes",
        lambda rng: [eighths(rng, (2, 128)), eighths(rng, (2, 128)), eighths(rng, (2, 32))],
        lambda x: {1: 2 * x[0], 2: 2 * x[0][:, :95:-1]},
    ),
    block_case(
        "bytes in bulk that threads have written",
        WRITTEN,
        "bytes",
        lambda rng: [eighths(rng, (2, 128)), eighths(rng, (2, 128)), eighths(rng, (2, 32))],
        expect_written,
    ),
)
