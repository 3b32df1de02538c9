"""Kernels that use mbarriers and bulk copies wrongly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from corpus.kernels_bulk import barriers, tensor_map
from emulator.faults import Fault, kernel, numbers
from pipeline import (
    CheckError,
    KernelFaultError,
    MemoryAccessError,
    RaceError,
    SynchronizationError,
)

_ONE = barriers(1)
_TILE = "memref<8x32xi32, #wg>"
_MAP = tensor_map(_TILE)
_FENCE = "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}"

_BEGIN = f"""
    %elected = arith.cmpi eq, %tx, %c0 : index
    %bytes = arith.constant 1024 : index
    %ticks = arith.constant 1000 : index
    %zeroth = arith.constant false
    %b = nvgpu.mbarrier.create -> {_ONE}
    nvgpu.mbarrier.init %b[%c0], %c1, predicate = %elected : {_ONE}
    nvvm.fence.mbarrier.init
    gpu.barrier
"""
_LOAD = f"""
    scf.if %elected {{
      nvgpu.mbarrier.arrive.expect_tx %b[%c0], %bytes : {_ONE}
      nvgpu.tma.async.load %map[%c0, %c0], %b[%c0] to %w : {_MAP}, {_ONE} -> {_TILE}
    }}
"""
_WAIT = f"    nvgpu.mbarrier.try_wait.parity %b[%c0], %zeroth, %ticks : {_ONE}\n"
_READ = f"""
    %x = memref.load %w[%c3, %tx] : {_TILE}
    memref.store %x, %out[%tx] : memref<32xi32>
"""
_ARGUMENTS = f"%map: {_MAP}, %out: memref<32xi32>"


def source_twice() -> list[Any]:
    """Return arguments of which the array of the tensor map is one besides."""
    source = numbers(16, 32)
    return [source, numbers(32), source]


def fault(
    name: str,
    body: str,
    error: type[CheckError],
    arguments: str = _ARGUMENTS,
    buffer: str = _TILE,
    make: Callable[[], list[Any]] = lambda: [numbers(16, 32), numbers(32)],
) -> Fault:
    return Fault(
        name,
        kernel(arguments, body, buffers=f"%w: {buffer}"),
        make,
        error,
        block=(32, 1, 1),
        chip="sm_90",
    )


def small_fault(
    name: str, body: str, error: type[CheckError] = SynchronizationError, buffer: str = ""
) -> Fault:
    """Return a fault of a kernel that takes no tensor map."""
    return Fault(
        name,
        kernel("%out: memref<32xi32>", body, buffers=buffer and f"%w: {buffer}"),
        lambda: [numbers(32)],
        error,
        block=(32, 1, 1),
        chip="sm_90",
    )


FAULTS = (
    fault(
        "async.not-waited: in bulk",
        _BEGIN + _LOAD + "    gpu.barrier\n" + _READ + _WAIT,
        RaceError,
    ),
    fault("async.not-waited: at the end", _BEGIN + _LOAD, RaceError),
    fault(
        "async.not-waited: a store",
        f"""
    %elected = arith.cmpi eq, %tx, %c0 : index
    %x = memref.load %out[%tx] : memref<32xi32>
    scf.for %row = %c0 to %c8 step %c1 {{
      memref.store %x, %w[%row, %tx] : {_TILE}
    }}
    {_FENCE}
    gpu.barrier
    scf.if %elected {{
      nvgpu.tma.async.store %w to %map[%c0, %c0] : {_TILE} -> {_MAP}
      nvvm.cp.async.bulk.commit.group
    }}
    gpu.barrier
    memref.store %x, %w[%c5, %tx] : {_TILE}
    gpu.barrier
    scf.if %elected {{
      nvvm.cp.async.bulk.wait_group 0
    }}
""",
        RaceError,
    ),
    fault(
        "async.proxy",
        _BEGIN
        + f"""
    %y = memref.load %out[%tx] : memref<32xi32>
    memref.store %y, %w[%c2, %tx] : {_TILE}
    gpu.barrier
"""
        + _LOAD
        + _WAIT
        + _READ,
        RaceError,
    ),
    fault(
        "async.proxy: of an mbarrier",
        (_BEGIN + _LOAD + _WAIT + _READ).replace("    nvvm.fence.mbarrier.init\n", ""),
        RaceError,
    ),
    fault(
        "async.proxy: of global memory",
        _BEGIN
        + f"""
    %y = memref.load %out[%tx] : memref<32xi32>
    memref.store %y, %in[%c2, %tx] : memref<16x32xi32>
    {_FENCE}
    gpu.barrier
"""
        + _LOAD
        + _WAIT
        + _READ,
        RaceError,
        arguments=f"{_ARGUMENTS}, %in: memref<16x32xi32>",
        make=source_twice,
    ),
    small_fault(
        "mbarrier",
        f"""
    %b = nvgpu.mbarrier.create -> {_ONE}
    %state = nvgpu.mbarrier.arrive %b[%c0] : {_ONE} -> !nvgpu.mbarrier.token
""",
    ),
    small_fault(
        "mbarrier: too many",
        f"""
    %first = arith.cmpi eq, %tx, %c0 : index
    %n = arith.constant 2 : i32
    %b = nvgpu.mbarrier.create -> {_ONE}
    %p = nvgpu.mbarrier.get %b[%c0] : {_ONE} -> i32
    %a = llvm.inttoptr %p : i32 to !llvm.ptr<3>
    scf.if %first {{
      nvgpu.mbarrier.init %b[%c0], %c1 : {_ONE}
      %state = nvvm.mbarrier.arrive %a, %n : !llvm.ptr<3> -> i64
    }}
""",
    ),
    small_fault(
        "mbarrier: overwritten",
        """
    %first = arith.cmpi eq, %tx, %c0 : index
    %n = arith.constant 1 : i32
    %p = memref.extract_aligned_pointer_as_index %w : memref<4xi64, #wg> -> index
    %i = arith.index_cast %p : index to i64
    %a = llvm.inttoptr %i : i64 to !llvm.ptr<3>
    %zero = arith.constant 0 : i64
    scf.if %first {
      nvvm.mbarrier.init %a, %n : !llvm.ptr<3>, i32
      memref.store %zero, %w[%c0] : memref<4xi64, #wg>
      %state = nvvm.mbarrier.arrive %a : !llvm.ptr<3> -> i64
    }
""",
        buffer="memref<4xi64, #wg>",
    ),
    small_fault(
        "mbarrier: misaligned",
        """
    %first = arith.cmpi eq, %tx, %c0 : index
    %n = arith.constant 1 : i32
    %p = memref.extract_aligned_pointer_as_index %w : memref<4xi64, #wg> -> index
    %i = arith.index_cast %p : index to i64
    %a = llvm.inttoptr %i : i64 to !llvm.ptr<3>
    %b = llvm.getelementptr %a[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    scf.if %first {
      nvvm.mbarrier.init %b, %n : !llvm.ptr<3>, i32
    }
""",
        buffer="memref<4xi64, #wg>",
    ),
    fault(
        "deadlock: of bytes",
        (_BEGIN + _LOAD + _WAIT + _READ).replace("constant 1024", "constant 1280"),
        SynchronizationError,
    ),
    fault(
        "misaligned: tile",
        _BEGIN
        + """
    %p = memref.extract_aligned_pointer_as_index %w : memref<528xi32, #wg> -> index
    %q = nvgpu.mbarrier.get %b[%c0] : GROUP -> i32
    %i = arith.index_cast %p : index to i64
    %c = llvm.inttoptr %i : i64 to !llvm.ptr<3>
    %t = llvm.getelementptr %c[64] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %u = llvm.addrspacecast %t : !llvm.ptr<3> to !llvm.ptr<7>
    %a = llvm.inttoptr %q : i32 to !llvm.ptr<3>
    %d = builtin.unrealized_conversion_cast %map : MAP to !llvm.ptr
    %zero = arith.constant 0 : i32
    scf.if %elected {
      nvgpu.mbarrier.arrive.expect_tx %b[%c0], %bytes : GROUP
      nvvm.cp.async.bulk.tensor.shared.cluster.global %u, %d, %a, box[%zero, %zero]
          : !llvm.ptr<7>, !llvm.ptr
    }
""".replace("GROUP", _ONE).replace("MAP", _MAP)
        + _WAIT,
        MemoryAccessError,
        buffer="memref<528xi32, #wg>",
    ),
    small_fault(
        "bulk-copy",
        """
    %p = memref.extract_aligned_pointer_as_index %w : memref<32xi32, #wg> -> index
    %i = arith.index_cast %p : index to i64
    %s = llvm.inttoptr %i : i64 to !llvm.ptr<3>
    %q = memref.extract_aligned_pointer_as_index %out : memref<32xi32> -> index
    %j = arith.index_cast %q : index to i64
    %g = llvm.inttoptr %j : i64 to !llvm.ptr<1>
    %x = arith.constant 7 : i32
    %size = arith.constant 12 : i32
    memref.store %x, %w[%tx] : memref<32xi32, #wg>
    gpu.barrier
    nvvm.cp.async.bulk.global.shared.cta %g, %s, %size : !llvm.ptr<1>, !llvm.ptr<3>
""",
        KernelFaultError,
        buffer="memref<32xi32, #wg>",
    ),
)
