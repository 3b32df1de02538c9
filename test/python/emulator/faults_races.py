"""Kernels whose accesses race, or use asynchronous copies too early."""

from __future__ import annotations

from emulator.faults import Fault, kernel, numbers
from pipeline import RaceError

FAULTS = (
    Fault(
        "race.shared",
        kernel(
            "%a: memref<2x64xi32>",
            """
    %x = memref.load %a[%bx, %tx] : memref<2x64xi32>
    memref.store %x, %w[%tx] : memref<64xi32, #wg>
    %j = arith.subi %c63, %tx : index
    %y = memref.load %w[%j] : memref<64xi32, #wg>
    memref.store %y, %a[%bx, %tx] : memref<2x64xi32>
""",
            buffers="%w: memref<64xi32, #wg>",
        ),
        lambda: [numbers(2, 64)],
        RaceError,
        grid=(2, 1, 1),
    ),
    Fault(
        "race.shared: since a barrier",
        kernel(
            "%a: memref<64xi32>",
            """
    %x = memref.load %a[%tx] : memref<64xi32>
    memref.store %x, %w[%tx] : memref<64xi32, #wg>
    gpu.barrier
    %j = arith.subi %c63, %tx : index
    %y = memref.load %w[%j] : memref<64xi32, #wg>
    %z = arith.addi %x, %y : i32
    memref.store %z, %w[%tx] : memref<64xi32, #wg>
""",
            buffers="%w: memref<64xi32, #wg>",
        ),
        lambda: [numbers(64)],
        RaceError,
    ),
    Fault(
        "race.shared: atomic",
        kernel(
            "%a: memref<64xi32>",
            """
    %x = memref.load %a[%tx] : memref<64xi32>
    memref.store %x, %w[%tx] : memref<64xi32, #wg>
    %j = arith.subi %c63, %tx : index
    %old = memref.atomic_rmw addi %x, %w[%j] : (i32, memref<64xi32, #wg>) -> i32
""",
            buffers="%w: memref<64xi32, #wg>",
        ),
        lambda: [numbers(64)],
        RaceError,
    ),
    Fault(
        "race.global",
        kernel(
            "%a: memref<64xi32>, %b: memref<64xi32>",
            """
    %x = memref.load %b[%tx] : memref<64xi32>
    memref.store %x, %a[%tx] : memref<64xi32>
    %j = arith.subi %c63, %tx : index
    %y = memref.load %a[%j] : memref<64xi32>
    memref.store %y, %b[%tx] : memref<64xi32>
""",
        ),
        lambda: [numbers(64), numbers(64)],
        RaceError,
    ),
    Fault(
        "race.blocks",
        kernel(
            "%a: memref<3x32xi32>, %b: memref<32xi32>",
            """
    %x = memref.load %a[%bx, %tx] : memref<3x32xi32>
    memref.store %x, %b[%tx] : memref<32xi32>
""",
        ),
        lambda: [numbers(3, 32), numbers(32)],
        RaceError,
        grid=(3, 1, 1),
        block=(32, 1, 1),
    ),
    Fault(
        "race.same-value",
        kernel(
            "%a: memref<8x8xi32>",
            """
    %seven = arith.constant 7 : i32
    memref.store %seven, %a[%c5, %c1] : memref<8x8xi32>
""",
        ),
        lambda: [numbers(8, 8)],
        RaceError,
        check="all",
    ),
    Fault(
        "async.not-waited",
        kernel(
            "%a: memref<64xi32>, %b: memref<64xi32>",
            """
    %token = nvgpu.device_async_copy %a[%tx], %w[%tx], 1
        : memref<64xi32> to memref<64xi32, #wg>
    %group = nvgpu.device_async_create_group %token
    gpu.barrier
    %j = arith.subi %c63, %tx : index
    %x = memref.load %w[%j] : memref<64xi32, #wg>
    memref.store %x, %b[%tx] : memref<64xi32>
""",
            buffers="%w: memref<64xi32, #wg>",
        ),
        lambda: [numbers(64), numbers(64)],
        RaceError,
    ),
    Fault(
        "async.not-waited: by its own thread",
        kernel(
            "%a: memref<64xi32>, %b: memref<64xi32>",
            """
    %token = nvgpu.device_async_copy %a[%tx], %w[%tx], 1
        : memref<64xi32> to memref<64xi32, #wg>
    %group = nvgpu.device_async_create_group %token
    nvgpu.device_async_wait %group {numGroups = 1 : i32}
    %x = memref.load %w[%tx] : memref<64xi32, #wg>
    memref.store %x, %b[%tx] : memref<64xi32>
""",
            buffers="%w: memref<64xi32, #wg>",
        ),
        lambda: [numbers(64), numbers(64)],
        RaceError,
    ),
    Fault(
        "async.not-published",
        kernel(
            "%a: memref<64xi32>, %b: memref<64xi32>",
            """
    %token = nvgpu.device_async_copy %a[%tx], %w[%tx], 1
        : memref<64xi32> to memref<64xi32, #wg>
    %group = nvgpu.device_async_create_group %token
    nvgpu.device_async_wait %group
    %j = arith.remui %tx, %c32 : index
    %x = memref.load %w[%j] : memref<64xi32, #wg>
    memref.store %x, %b[%tx] : memref<64xi32>
""",
            buffers="%w: memref<64xi32, #wg>",
        ),
        lambda: [numbers(64), numbers(64)],
        RaceError,
    ),
)
