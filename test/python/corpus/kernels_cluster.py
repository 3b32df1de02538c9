"""Kernels whose blocks work together in clusters: each other's memory, mbarriers and barriers.

They are not among the cases of the corpus: what proves synchronisation does not follow clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from corpus.kernels_bulk import barriers
from corpus.kernels_case import Array, Case, Dim3, function, module, whole

THREADS = 64
_SHARED = "memref<64xi32, #wg>"
_PRELUDE = f"""
    %one = arith.constant 1 : i32
    %zero = arith.constant 0 : i32
    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
    %ranks = nvvm.read.ptx.sreg.cluster.nctarank : i32
    %wp = memref.extract_aligned_pointer_as_index %w : {_SHARED} -> index
    %wi = arith.index_cast %wp : index to i64
    %own = llvm.inttoptr %wi : i64 to !llvm.ptr<3>
    %next0 = arith.addi %rank, %one : i32
    %next = arith.remui %next0, %ranks : i32
    %there = nvvm.mapa %own, %next : !llvm.ptr<3> -> !llvm.ptr<7>
    %lane = arith.index_cast %tx : index to i32
    %sizes = arith.index_cast %gx : index to i32
    %b0 = arith.index_cast %bx : index to i32
    %b1 = arith.index_cast %by : index to i32
    %b2 = arith.muli %b1, %sizes : i32
    %b3 = arith.addi %b0, %b2 : i32
    %block = arith.index_cast %b3 : i32 to index
    %x = memref.load %in[%block, %tx] : memref<?x64xi32>
"""
_MEET = "    nvvm.cluster.arrive {aligned}\n    nvvm.cluster.wait {aligned}\n"
_AT = "    %at = llvm.getelementptr %there[%lane] : (!llvm.ptr<7>, i32) -> !llvm.ptr<7>, i32\n"
_STORE = "    memref.store %y, %out[%block, %tx] : memref<?x64xi32>\n"


def cluster_text(body: str, cluster: Dim3) -> str:
    """Return a kernel of blocks that have 64 numbers each, in `%w` and in `%in`."""
    text = function(
        "k",
        "%in: memref<?x64xi32>, %out: memref<?x64xi32>",
        _PRELUDE + body,
        block=(THREADS, 1, 1),
        buffers=f"%w: {_SHARED}",
    )
    sizes = ", ".join(map(str, cluster))
    return module(
        text.replace("attributes {", f"attributes {{known_cluster_size = array<i32: {sizes}>, ", 1)
    )


LOAD = (
    f"    memref.store %x, %w[%tx] : {_SHARED}\n"
    + _MEET
    + _AT
    + "    %y = llvm.load %at : !llvm.ptr<7> -> i32\n"
    + _MEET
    + _STORE
)
GENERIC_LOAD = (
    f"    memref.store %x, %w[%tx] : {_SHARED}\n"
    + _MEET
    + """\
    %generic = llvm.addrspacecast %own : !llvm.ptr<3> to !llvm.ptr
    %other = nvvm.mapa %generic, %next : !llvm.ptr -> !llvm.ptr
    %at = llvm.getelementptr %other[%lane] : (!llvm.ptr, i32) -> !llvm.ptr, i32
    %y = llvm.load %at : !llvm.ptr -> i32
"""
    + _MEET
    + _STORE
)
STORE = (
    _MEET
    + _AT
    + "    llvm.store %x, %at : i32, !llvm.ptr<7>\n"
    + _MEET
    + f"    %y = memref.load %w[%tx] : {_SHARED}\n"
    + _STORE
)
ATOMIC = (
    f"    memref.store %zero, %w[%tx] : {_SHARED}\n"
    + _MEET
    + """\
    %first = nvvm.mapa %own, %zero : !llvm.ptr<3> -> !llvm.ptr<7>
    %at = llvm.getelementptr %first[%lane] : (!llvm.ptr<7>, i32) -> !llvm.ptr<7>, i32
    %old = llvm.atomicrmw add %at, %x syncscope("cluster") monotonic : !llvm.ptr<7>, i32
"""
    + _MEET
    + "    %y = llvm.load %at : !llvm.ptr<7> -> i32\n"
    + _MEET
    + _STORE
)
RANKS = (
    _MEET
    + """\
    %g0 = llvm.addrspacecast %there : !llvm.ptr<7> to !llvm.ptr
    %y0 = llvm.call_intrinsic "llvm.nvvm.getctarank"(%g0) : (!llvm.ptr) -> i32
    %y1 = arith.addi %y0, %x : i32
    %y3 = llvm.call_intrinsic "llvm.nvvm.getctarank.shared.cluster"(%own) : (!llvm.ptr<3>) -> i32
    %y4 = arith.subi %y1, %y3 : i32
    %y = arith.addi %y4, %rank : i32
"""
    + _STORE
)
# Each block gets numbers from the one before it, which arrives at its mbarrier.
MBARRIER = (
    f"""\
    %b = nvgpu.mbarrier.create -> {barriers(1)}
    %q = nvgpu.mbarrier.get %b[%c0] : {barriers(1)} -> i32
    %mine = llvm.inttoptr %q : i32 to !llvm.ptr<3>
    %theirs = nvvm.mapa %mine, %next : !llvm.ptr<3> -> !llvm.ptr<7>
    %is_first = arith.cmpi eq, %tx, %c0 : index
    %count = arith.constant {THREADS} : i32
    %ticks = arith.constant 1000000 : i32
    scf.if %is_first {{
      nvvm.mbarrier.init %mine, %count : !llvm.ptr<3>, i32
      nvvm.fence.mbarrier.init
    }}
"""
    + _MEET
    + _AT
    + """\
    llvm.store %x, %at : i32, !llvm.ptr<7>
    nvvm.mbarrier.arrive %theirs {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>
    nvvm.mbarrier.try_wait.parity %mine, %zero, %ticks : !llvm.ptr<3>, i32, i32
"""
    + f"    %y = memref.load %w[%tx] : {_SHARED}\n"
    + _STORE
    + _MEET
)


def _clusters(grid: Dim3, cluster: Dim3) -> list[list[int]]:
    """Return the linear ids of the blocks of each cluster, by their ranks."""
    found: dict[tuple[int, int], list[int]] = {}
    for y in range(grid[1]):
        for x in range(grid[0]):
            found.setdefault((y // cluster[1], x // cluster[0]), []).append(y * grid[0] + x)
    return list(found.values())


def _from(step: int, grid: Dim3, cluster: Dim3, values: Array) -> Array:
    result = np.empty_like(values)
    for blocks in _clusters(grid, cluster):
        for rank, block in enumerate(blocks):
            result[block] = values[blocks[(rank + step) % len(blocks)]]
    return result


def _sums(grid: Dim3, cluster: Dim3, values: Array) -> Array:
    result = np.empty_like(values)
    for blocks in _clusters(grid, cluster):
        result[blocks] = values[blocks].sum(axis=0, dtype=values.dtype)
    return result


def _ranks(grid: Dim3, cluster: Dim3, values: Array) -> Array:
    result = values.copy()
    for blocks in _clusters(grid, cluster):
        for rank, block in enumerate(blocks):
            result[block] += (rank + 1) % len(blocks)
    return result


BODIES: dict[str, tuple[str, Any]] = {
    "load": (LOAD, lambda *a: _from(1, *a)),
    "generic load": (GENERIC_LOAD, lambda *a: _from(1, *a)),
    "store": (STORE, lambda *a: _from(-1, *a)),
    "atomic": (ATOMIC, _sums),
    "ranks": (RANKS, _ranks),
    "mbarrier": (MBARRIER, lambda *a: _from(-1, *a)),
}
SHAPES: tuple[tuple[Dim3, Dim3], ...] = (
    ((2, 1, 1), (2, 1, 1)),
    ((6, 1, 1), (3, 1, 1)),
    ((4, 4, 1), (2, 2, 1)),
    ((2, 8, 1), (1, 8, 1)),
)


def cluster_case(name: str, grid: Dim3, cluster: Dim3) -> Case:
    body, outcome = BODIES[name]

    def make(rng: np.random.Generator) -> list[Any]:
        shape = (grid[0] * grid[1], THREADS)
        return [whole(rng, shape), np.zeros(shape, np.int32)]

    def expect(arguments: Sequence[Any]) -> dict[int, Array]:
        return {1: outcome(grid, cluster, arguments[0])}

    return Case(
        f"{name}, clusters of {'x'.join(map(str, cluster))}",
        cluster_text(body, cluster),
        "k",
        grid=grid,
        block=(THREADS, 1, 1),
        make=make,
        expect=expect,
        chip="sm_90a",
    )


CASES = tuple(cluster_case(name, *shape) for name in BODIES for shape in SHAPES)
