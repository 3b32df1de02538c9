"""Kernels whose accesses go astray."""

from __future__ import annotations

from corpus.kernels_case import Array
from emulator.faults import Fault, kernel, numbers
from pipeline import MemoryAccessError


def read_only(array: Array) -> Array:
    array.flags.writeable = False
    return array


FAULTS = (
    Fault(
        "out-of-bounds: workgroup attribution",
        kernel(
            "%a: memref<64xi32>",
            """
    %x = memref.load %a[%tx] : memref<64xi32>
    %j = arith.addi %tx, %c1 : index
    memref.store %x, %w[%j] : memref<64xi32, #wg>
""",
            buffers="%w: memref<64xi32, #wg>",
        ),
        lambda: [numbers(64)],
        MemoryAccessError,
    ),
    Fault(
        "out-of-bounds: below",
        kernel(
            "%a: memref<64xi32>",
            """
    %x = memref.load %a[%tx] : memref<64xi32>
    %j = arith.subi %tx, %c2 : index
    memref.store %x, %w[%j] : memref<64xi32, #wg>
""",
            buffers="%w: memref<64xi32, #wg>",
        ),
        lambda: [numbers(64)],
        MemoryAccessError,
    ),
    Fault(
        "out-of-bounds: into the next buffer",
        kernel(
            "%a: memref<64xi32>",
            """
    %x = memref.load %a[%tx] : memref<64xi32>
    %j = arith.addi %tx, %c1 : index
    memref.store %x, %v[%j] : memref<64xi32, #wg>
    memref.store %x, %w[%tx] : memref<64xi32, #wg>
""",
            buffers="%v: memref<64xi32, #wg>, %w: memref<64xi32, #wg>",
        ),
        lambda: [numbers(64)],
        MemoryAccessError,
    ),
    Fault(
        "out-of-bounds: memref.global",
        kernel(
            "%a: memref<64xi32>",
            """
    %x = memref.load %a[%tx] : memref<64xi32>
    %tile = memref.get_global @tile : memref<2x30xi32, #wg>
    memref.store %x, %tile[%c1, %tx] : memref<2x30xi32, #wg>
""",
            more='  memref.global "private" @tile : memref<2x30xi32, #wg> = uninitialized',
        ),
        lambda: [numbers(64)],
        MemoryAccessError,
    ),
    Fault(
        "out-of-bounds: dynamic",
        kernel(
            "%a: memref<64xi32>",
            """
    %x = memref.load %a[%tx] : memref<64xi32>
    %bytes = gpu.dynamic_shared_memory : memref<?xi8, #wg>
    %w = memref.view %bytes[%c16][%nx] : memref<?xi8, #wg> to memref<?xi32, #wg>
    memref.store %x, %w[%tx] : memref<?xi32, #wg>
""",
        ),
        lambda: [numbers(64)],
        MemoryAccessError,
        dynamic_bytes=252,
    ),
    Fault(
        "out-of-bounds: argument",
        kernel(
            "%a: memref<?x?xi32>",
            """
    %x = memref.load %a[%tx, %c1] : memref<?x?xi32>
    memref.store %x, %a[%tx, %c8] : memref<?x?xi32>
""",
        ),
        lambda: [numbers(8, 8)],
        MemoryAccessError,
        block=(8, 1, 1),
    ),
    Fault(
        "out-of-bounds: strided argument",
        kernel(
            "%a: memref<?x?xi32, strided<[?, ?], offset: ?>>",
            """
    %x = memref.load %a[%tx, %c1] : memref<?x?xi32, strided<[?, ?], offset: ?>>
    memref.store %x, %a[%c8, %tx] : memref<?x?xi32, strided<[?, ?], offset: ?>>
""",
        ),
        lambda: [numbers(8, 8)[:, 1:5]],
        MemoryAccessError,
        block=(4, 1, 1),
    ),
    Fault(
        "out-of-bounds: private",
        kernel(
            "%a: memref<64xi32>",
            """
    %x = memref.load %a[%tx] : memref<64xi32>
    memref.store %x, %p[%tx] : memref<60xi32, #private>
    %y = memref.load %p[%c0] : memref<60xi32, #private>
    memref.store %y, %a[%tx] : memref<64xi32>
""",
            private="%p: memref<60xi32, #private>",
        ),
        lambda: [numbers(64)],
        MemoryAccessError,
    ),
    Fault(
        "read-only",
        kernel(
            "%a: memref<64xi32>, %b: memref<64xi32>",
            """
    %x = memref.load %a[%tx] : memref<64xi32>
    memref.store %x, %b[%tx] : memref<64xi32>
""",
        ),
        lambda: [numbers(64), read_only(numbers(64))],
        MemoryAccessError,
    ),
    Fault(
        "misaligned",
        kernel(
            "%a: memref<64xi32>, %n: index",
            """
    %v = vector.load %a[%n] {alignment = 16} : memref<64xi32>, vector<4xi32>
    vector.store %v, %a[%c4] {alignment = 16} : memref<64xi32>, vector<4xi32>
""",
        ),
        lambda: [numbers(64), 2],
        MemoryAccessError,
        block=(1, 1, 1),
    ),
    Fault(
        "misaligned: workgroup memory",
        kernel(
            "%a: memref<64xi32>, %n: index",
            """
    %x = memref.load %a[%tx] : memref<64xi32>
    memref.store %x, %w[%tx] : memref<64xi32, #wg>
    gpu.barrier
    %v = vector.load %w[%n] {alignment = 8} : memref<64xi32, #wg>, vector<2xi32>
    %y = vector.reduction <add>, %v : vector<2xi32> into i32
    memref.store %y, %a[%tx] : memref<64xi32>
""",
            buffers="%w: memref<64xi32, #wg>",
        ),
        lambda: [numbers(64), 3],
        MemoryAccessError,
    ),
    Fault(
        "misaligned: matrix",
        kernel(
            "%a: memref<16x20xf16>, %b: memref<16x16xf16>",
            """
    %f = gpu.subgroup_mma_load_matrix %a[%c0, %c0] {leadDimension = 20 : index}
        : memref<16x20xf16> -> !gpu.mma_matrix<16x16xf16, "COp">
    gpu.subgroup_mma_store_matrix %f, %b[%c0, %c0] {leadDimension = 16 : index}
        : !gpu.mma_matrix<16x16xf16, "COp">, memref<16x16xf16>
""",
        ),
        lambda: [numbers(16, 20, kind="f2"), numbers(16, 16, kind="f2")],
        MemoryAccessError,
        block=(32, 1, 1),
    ),
    Fault(
        "uninitialized",
        kernel(
            "%a: memref<64xi32>",
            """
    %is_lower = arith.cmpi ult, %tx, %c32 : index
    scf.if %is_lower {
      %x = memref.load %a[%tx] : memref<64xi32>
      memref.store %x, %w[%tx] : memref<64xi32, #wg>
    }
    gpu.barrier
    %j = arith.subi %c63, %tx : index
    %y = memref.load %w[%j] : memref<64xi32, #wg>
    memref.store %y, %a[%tx] : memref<64xi32>
""",
            buffers="%w: memref<64xi32, #wg>",
        ),
        lambda: [numbers(64)],
        MemoryAccessError,
    ),
)
