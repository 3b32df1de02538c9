"""Kernels that order memory by fences and atomic operations instead of barriers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from corpus.kernels_case import Array, Case, function, module, normal, whole


def _address(name: str, memref: str, space: str) -> str:
    """Return operations that make `%<name>_at`, the address where a memref begins."""
    return f"""
    %{name}_index = memref.extract_aligned_pointer_as_index %{name} : {memref} -> index
    %{name}_bits = arith.index_cast %{name}_index : index to i64
    %{name}_at = llvm.inttoptr %{name}_bits : i64 to !llvm.ptr{space}
"""


# The block that comes last adds up what all blocks have left, as in CUDA's threadFenceReduction.
LAST_BLOCK = module(
    function(
        "last_block",
        "%a: memref<?x64xf32>, %parts: memref<?xf32>, %count: memref<1xi32>, %sum: memref<1xf32>",
        """
    %one = arith.constant 1 : i32
    %x = memref.load %a[%bx, %tx] : memref<?x64xf32>
    %part = gpu.all_reduce add %x uniform {} : (f32) -> f32
    %first = arith.cmpi eq, %tx, %c0 : index
    scf.if %first {
      memref.store %part, %parts[%bx] : memref<?xf32>
      nvvm.memory.barrier <gpu>
      %old = memref.atomic_rmw addi %one, %count[%c0] : (i32, memref<1xi32>) -> i32
      %next = arith.addi %old, %one : i32
      nvvm.memory.barrier <gpu>
      memref.store %next, %arrived[%c0] : memref<1xi32, #wg>
    }
    gpu.barrier
    %seen = memref.load %arrived[%c0] : memref<1xi32, #wg>
    %blocks = arith.index_cast %gx : index to i32
    %last = arith.cmpi eq, %seen, %blocks : i32
    %zero = arith.constant 0.0 : f32
    scf.if %last {
      scf.if %first {
        %total = scf.for %i = %c0 to %gx step %c1 iter_args(%acc = %zero) -> f32 {
          %p = memref.load %parts[%i] : memref<?xf32>
          %new = arith.addf %acc, %p : f32
          scf.yield %new : f32
        }
        memref.store %total, %sum[%c0] : memref<1xf32>
      }
    }
""",
        buffers="%arrived: memref<1xi32, #wg>",
    )
)


def expect_last_block(arguments: Sequence[Any]) -> dict[int, Array]:
    values, _, count, _ = arguments
    parts = values.sum(axis=1)
    return {1: parts, 2: count + len(parts), 3: parts.sum(keepdims=True)}


def _handing_over(put: str, get: str) -> str:
    """Return a kernel whose first warp hands numbers over to its second by a flag."""
    return module(
        function(
            "hand_over",
            "%a: memref<32xf32>, %b: memref<32xf32>",
            f"""
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %all = arith.constant -1 : i32
{_address("flag", "memref<1xi32, #wg>", "<3>")}
    %lane = arith.remui %tx, %c32 : index
    %is_first = arith.cmpi eq, %tx, %c0 : index
    scf.if %is_first {{
      memref.store %zero, %flag[%c0] : memref<1xi32, #wg>
    }}
    gpu.barrier
    %puts = arith.cmpi ult, %tx, %c32 : index
    scf.if %puts {{
      %x = memref.load %a[%lane] : memref<32xf32>
      memref.store %x, %w[%lane] : memref<32xf32, #wg>
      nvvm.bar.warp.sync %all : i32
      scf.if %is_first {{
{put}
      }}
    }} else {{
      scf.while : () -> () {{
{get}
        %waits = arith.cmpi eq, %seen, %zero : i32
        scf.condition(%waits)
      }} do {{
        scf.yield
      }}
      nvvm.memory.barrier <cta>
      %other = arith.subi %c31, %lane : index
      %y = memref.load %w[%other] : memref<32xf32, #wg>
      memref.store %y, %b[%lane] : memref<32xf32>
    }}
""",
            buffers="%w: memref<32xf32, #wg>, %flag: memref<1xi32, #wg>",
            block=(64, 1, 1),
        )
    )


_LOAD = "llvm.load {volatile}%flag_at {atomic}{{alignment = 4 : i64}} : !llvm.ptr<3> -> i32"
_STORE = "llvm.store {volatile}%one, %flag_at {atomic}{{alignment = 4 : i64}} : i32, !llvm.ptr<3>"
_VOLATILE = {"volatile": "volatile ", "atomic": ""}
_RELAXED = {"volatile": "", "atomic": 'atomic syncscope("block") monotonic '}
_RELEASE = {"volatile": "", "atomic": 'atomic syncscope("block") release '}

FENCE = "        nvvm.memory.barrier <cta>\n        "
FLAG_VOLATILE = _handing_over(
    FENCE + _STORE.format(**_VOLATILE), "        %seen = " + _LOAD.format(**_VOLATILE)
)
FLAG_RELAXED = _handing_over(
    FENCE + _STORE.format(**_RELAXED), "        %seen = " + _LOAD.format(**_RELAXED)
)
FLAG_RELEASED = _handing_over(
    "        " + _STORE.format(**_RELEASE), "        %seen = " + _LOAD.format(**_RELAXED)
)

# One thread at a time adds what it has, to a sum in workgroup memory that is not atomic.
_LOCK = """
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %is_first = arith.cmpi eq, %tx, %c0 : index
    scf.if %is_first {{
      memref.store %zero, %lock[%c0] : memref<1xi32, #wg>
      memref.store %zero, %sum[%c0] : memref<1xi32, #wg>
    }}
    gpu.barrier
{address}
    scf.while : () -> () {{
{take}
      scf.condition(%is_taken)
    }} do {{
      scf.yield
    }}
    %old = memref.load %sum[%c0] : memref<1xi32, #wg>
    %x = memref.load %a[%bx, %tx] : memref<2x64xi32>
    %new = arith.addi %old, %x : i32
    memref.store %new, %sum[%c0] : memref<1xi32, #wg>
{give}
    gpu.barrier
    %total = memref.load %sum[%c0] : memref<1xi32, #wg>
    memref.store %total, %sums[%bx, %tx] : memref<2x64xi32>
"""


def _lock(name: str, take: str, give: str) -> str:
    body = _LOCK.format(address=_address("lock", "memref<1xi32, #wg>", "<3>"), take=take, give=give)
    return module(
        function(
            name,
            "%a: memref<2x64xi32>, %sums: memref<2x64xi32>",
            body,
            buffers="%lock: memref<1xi32, #wg>, %sum: memref<1xi32, #wg>",
        )
    )


LOCK = _lock(
    "lock",
    """
      %outcome = llvm.cmpxchg %lock_at, %zero, %one syncscope("block") acquire monotonic
          {alignment = 4 : i64} : !llvm.ptr<3>, i32
      %held = llvm.extractvalue %outcome[0] : !llvm.struct<(i32, i1)>
      %is_taken = arith.cmpi ne, %held, %zero : i32
""",
    """
    llvm.store %zero, %lock_at atomic syncscope("block") release {alignment = 4 : i64}
        : i32, !llvm.ptr<3>
""",
)
LOCK_BY_FENCES = _lock(
    "lock_by_fences",
    """
      %held = memref.atomic_rmw assign %one, %lock[%c0] : (i32, memref<1xi32, #wg>) -> i32
      %is_taken = arith.cmpi ne, %held, %zero : i32
""",
    """
    nvvm.memory.barrier <cta>
    %mine = memref.atomic_rmw assign %zero, %lock[%c0] : (i32, memref<1xi32, #wg>) -> i32
""",
).replace(
    "    %old = memref.load %sum", "    nvvm.memory.barrier <cta>\n    %old = memref.load %sum"
)


def _flag_case(name: str, text: str) -> Case:
    return Case(
        name,
        text,
        "hand_over",
        grid=(1, 1, 1),
        block=(64, 1, 1),
        make=lambda rng: [normal(rng, 32), normal(rng, 32)],
        expect=lambda x: {1: x[0][::-1]},
    )


def _lock_case(name: str, text: str, kernel: str) -> Case:
    return Case(
        name,
        text,
        kernel,
        grid=(2, 1, 1),
        block=(64, 1, 1),
        make=lambda rng: [whole(rng, (2, 64)), whole(rng, (2, 64))],
        expect=lambda x: {1: x[0].sum(axis=1, dtype=np.int32, keepdims=True).repeat(64, axis=1)},
    )


CASES = (
    Case(
        "last block",
        LAST_BLOCK,
        "last_block",
        grid=(7, 1, 1),
        block=(64, 1, 1),
        make=lambda rng: [
            normal(rng, (7, 64)),
            normal(rng, 7),
            np.zeros(1, np.int32),
            normal(rng, 1),
        ],
        expect=expect_last_block,
        tolerance=1e-5,
    ),
    _flag_case("volatile flag", FLAG_VOLATILE),
    _flag_case("relaxed flag", FLAG_RELAXED),
    _flag_case("released flag", FLAG_RELEASED),
    _lock_case("lock", LOCK, "lock"),
    _lock_case("lock by fences", LOCK_BY_FENCES, "lock_by_fences"),
)
