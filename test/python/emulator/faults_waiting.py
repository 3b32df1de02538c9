"""Kernels whose threads wait in vain, give up or do not end."""

from __future__ import annotations

import numpy as np

from emulator.faults import Fault, kernel, numbers
from pipeline import KernelFaultError, RaceError, SynchronizationError

FAULTS = (
    Fault(
        "divergence",
        kernel(
            "%a: memref<32xi32>",
            """
    %one = arith.constant 1 : i32
    %is_low = arith.cmpi ult, %tx, %c12 : index
    scf.if %is_low {
      gpu.barrier
      memref.store %one, %a[%tx] : memref<32xi32>
    } else {
      gpu.barrier
    }
""",
        ),
        lambda: [numbers(32)],
        SynchronizationError,
        block=(32, 1, 1),
    ),
    Fault(
        "divergence: matrices",
        kernel(
            "%a: memref<32xi32>",
            """
    %ones = arith.constant dense<1.0> : vector<8xf16>
    %row = arith.remui %tx, %c8 : index
    %is_low = arith.cmpi ult, %tx, %c8 : index
    scf.if %is_low {
      vector.store %ones, %m[%row, %c0] : memref<8x8xf16, #wg>, vector<8xf16>
    }
    gpu.barrier
    %is_most = arith.cmpi ult, %tx, %c31 : index
    scf.if %is_most {
      %f = nvgpu.ldmatrix %m[%row, %c0] {numTiles = 1 : i32, transpose = false}
          : memref<8x8xf16, #wg> -> vector<1x2xf16>
      %b = vector.bitcast %f : vector<1x2xf16> to vector<1x1xi32>
      %x = vector.extract %b[0, 0] : i32 from vector<1x1xi32>
      memref.store %x, %a[%tx] : memref<32xi32>
    }
""",
            buffers="%m: memref<8x8xf16, #wg>",
        ),
        lambda: [numbers(32)],
        SynchronizationError,
        block=(32, 1, 1),
    ),
    Fault(
        "exited-thread",
        kernel(
            "%a: memref<64xi32>",
            """
    %is_low = arith.cmpi ult, %tx, %c12 : index
    scf.if %is_low {
      gpu.barrier
    }
""",
        ),
        lambda: [numbers(64)],
        SynchronizationError,
        grid=(2, 1, 1),
    ),
    Fault(
        "deadlock",
        kernel(
            "%a: memref<64xi32>",
            """
    %one = arith.constant 1 : i32
    %threads = arith.constant 96 : i32
    nvvm.barrier id = %one number_of_threads = %threads
""",
        ),
        lambda: [numbers(64)],
        SynchronizationError,
    ),
    Fault(
        "deadlock: of a warp",
        kernel(
            "%a: memref<64xi32>",
            """
    %all = arith.constant -1 : i32
    %is_done = arith.cmpi uge, %tx, %c48 : index
    %is_low = arith.cmpi ult, %tx, %c12 : index
    cf.cond_br %is_done, ^end, ^go
  ^go:
    scf.if %is_low {
      nvvm.bar.warp.sync %all : i32
    } else {
      gpu.barrier
    }
    cf.br ^end
  ^end:
""",
        ),
        lambda: [numbers(64)],
        SynchronizationError,
    ),
    Fault(
        "inactive-lane",
        kernel(
            "%a: memref<32xi32>",
            """
    %low = arith.constant 0x0000FFFF : i32
    %lane = arith.constant 20 : i32
    %clamp = arith.constant 31 : i32
    %x = memref.load %a[%tx] : memref<32xi32>
    %is_low = arith.cmpi ult, %tx, %c16 : index
    scf.if %is_low {
      %y = nvvm.shfl.sync idx %low, %x, %lane, %clamp : i32 -> i32
      memref.store %y, %a[%tx] : memref<32xi32>
    }
""",
        ),
        lambda: [numbers(32)],
        SynchronizationError,
        block=(32, 1, 1),
        check="all",
    ),
    Fault(
        "exited-lane",
        kernel(
            "%a: memref<32xi32>",
            """
    %all = arith.constant -1 : i32
    %x = memref.load %a[%tx] : memref<32xi32>
    %is_low = arith.cmpi ult, %tx, %c16 : index
    scf.if %is_low {
      %p = arith.cmpi ne, %x, %all : i32
      %y = nvvm.vote.sync ballot %all, %p -> i32
      memref.store %y, %a[%tx] : memref<32xi32>
    }
""",
        ),
        lambda: [numbers(32)],
        SynchronizationError,
        block=(32, 1, 1),
        check="all",
    ),
    Fault(
        "division",
        kernel(
            "%a: memref<6x64xi32>",
            """
    %i = affine.apply affine_map<(x, y, z) -> (x + y * 8 + z * 32)>(%tx, %ty, %tz)
    %b = affine.apply affine_map<(y, z) -> (y + z * 2)>(%by, %bz)
    %hundred = arith.constant 100 : i32
    %x = memref.load %a[%b, %i] : memref<6x64xi32>
    %y = arith.divui %hundred, %x : i32
    memref.store %y, %a[%b, %i] : memref<6x64xi32>
""",
        ),
        lambda: [numbers(6, 64) % 300],
        KernelFaultError,
        grid=(1, 2, 3),
        block=(8, 4, 2),
    ),
    Fault(
        "division: least number",
        kernel(
            "%a: memref<64xi32>, %n: i32",
            """
    %x = memref.load %a[%tx] : memref<64xi32>
    %y = arith.remsi %x, %n : i32
    memref.store %y, %a[%tx] : memref<64xi32>
""",
        ),
        lambda: [np.int32(-(2**31)) + numbers(64) - 4, -1],
        KernelFaultError,
    ),
    Fault(
        "division: vector",
        kernel(
            "%a: memref<64xi32>, %b: memref<64xi32>",
            """
    %x = vector.load %a[%tx] : memref<64xi32>, vector<4xi32>
    %y = vector.load %b[%tx] : memref<64xi32>, vector<4xi32>
    %z = arith.divui %x, %y : vector<4xi32>
    vector.store %z, %a[%tx] : memref<64xi32>, vector<4xi32>
""",
        ),
        lambda: [numbers(64), numbers(64) - 3],
        KernelFaultError,
        block=(1, 1, 1),
    ),
    Fault(
        "step-limit",
        kernel(
            "%a: memref<64xi32>",
            """
    %one = arith.constant 1 : i32
    scf.while : () -> () {
      %x = memref.load %a[%tx] : memref<64xi32>
      %more = arith.cmpi sgt, %x, %one : i32
      memref.store %x, %a[%tx] : memref<64xi32>
      scf.condition(%more)
    } do {
      scf.yield
    }
""",
        ),
        lambda: [numbers(64)],
        KernelFaultError,
        options={"step_limit": 1000},
    ),
    Fault(
        "async.too-many",
        kernel(
            "%a: memref<64xi32>, %n: index",
            """
    scf.for %i = %c0 to %n step %c1 {
      %token = nvgpu.device_async_copy %a[%tx], %w[%tx], 1
          : memref<64xi32> to memref<64xi32, #wg>
      %group = nvgpu.device_async_create_group %token
    }
""",
            buffers="%w: memref<64xi32, #wg>",
        ),
        lambda: [numbers(64), 200_000],
        RaceError,
        block=(1, 1, 1),
        check="none",
    ),
    Fault(
        "invalid-barrier",
        kernel(
            "%a: memref<64xi32>",
            """
    %one = arith.constant 1 : i32
    %threads = arith.constant 48 : i32
    nvvm.barrier id = %one number_of_threads = %threads
""",
        ),
        lambda: [numbers(64)],
        SynchronizationError,
    ),
    Fault(
        "assertion",
        kernel(
            "%a: memref<64xi32>",
            """
    %sixty = arith.constant 60 : i32
    %x = memref.load %a[%tx] : memref<64xi32>
    %is_small = arith.cmpi slt, %x, %sixty : i32
    cf.assert %is_small, "numbers are small"
""",
        ),
        lambda: [numbers(64)],
        KernelFaultError,
    ),
    Fault(
        "trap",
        kernel(
            "%a: memref<64xi32>",
            """
    %sixty = arith.constant 60 : i32
    %x = memref.load %a[%tx] : memref<64xi32>
    %is_large = arith.cmpi sge, %x, %sixty : i32
    scf.if %is_large {
      llvm.call_intrinsic "llvm.trap"() : () -> ()
    }
""",
        ),
        lambda: [numbers(64)],
        KernelFaultError,
    ),
)
