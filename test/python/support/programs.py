"""The programs that the tests of the package compile, each as small as its purpose allows."""

from __future__ import annotations

SCHEDULABLE = """\
func.func @main(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
  linalg.matmul ins(%A, %B : memref<64x64xf32>, memref<64x64xf32>)
                outs(%C : memref<64x64xf32>)
  return
}
"""

_SCHEDULE = """\
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root
        : (!transform.any_op) -> !transform.any_op
    %func = transform.get_parent_op %matmul : (!transform.any_op) -> !transform.any_op
    %tile, %forall = transform.structured.tile_using_forall %matmul tile_sizes [TILE, TILE, 0]
        (mapping = [#gpu.block<y>, #gpu.block<x>])
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %launch = transform.gpu.map_forall_to_blocks %func { generate_gpu_launch }
        : (!transform.any_op) -> !transform.any_op
    %inner = transform.structured.match ops{["linalg.matmul"]} in %launch
        : (!transform.any_op) -> !transform.any_op
    %promoted = transform.structured.promote %inner
        { operands_to_promote = [0, 1], mapping = [#gpu.memory_space<workgroup>] }
        : (!transform.any_op) -> !transform.any_op
    transform.structured.convert_to_loops %promoted : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
"""


def schedule(tile: int) -> str:
    """Return a schedule for SCHEDULABLE whose grid is 64 / tile blocks wide and high."""
    return _SCHEDULE.replace("TILE", str(tile))


SCHEDULED = SCHEDULABLE + schedule(16)

STORE = """\
gpu.module @kernels {
  gpu.func @store(%a: memref<32xf32>, %i: index) kernel {
    %one = arith.constant 1.0 : f32
    memref.store %one, %a[%i] : memref<32xf32>
    gpu.return
  }
}
"""

# Two launches share a buffer, which cannot keep its contents: a warning.
WARNED = """\
#workgroup = #gpu.address_space<workgroup>
func.func @main(%a: memref<32xf32>) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %b = memref.alloc() : memref<32xf32, #workgroup>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    memref.copy %a, %b : memref<32xf32> to memref<32xf32, #workgroup>
    memref.copy %b, %a : memref<32xf32, #workgroup> to memref<32xf32>
    gpu.terminator
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    memref.copy %a, %b : memref<32xf32> to memref<32xf32, #workgroup>
    memref.copy %b, %a : memref<32xf32, #workgroup> to memref<32xf32>
    gpu.terminator
  }
  return
}
"""

REVERSED = """\
#workgroup = #gpu.address_space<workgroup>
func.func @main(%a: memref<64xf32>, %out: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  %b = memref.alloc() : memref<64xf32, #workgroup>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    memref.copy %a, %b : memref<64xf32> to memref<64xf32, #workgroup>
    %mirror = arith.subi %c63, %tx : index
    %x = memref.load %b[%mirror] : memref<64xf32, #workgroup>
    memref.store %x, %out[%tx] : memref<64xf32>
    gpu.terminator
  }
  return
}
"""

RACING = """\
gpu.module @kernels {
  gpu.func @racing(%a: memref<64xindex>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %thread = gpu.thread_id x
    %c0 = arith.constant 0 : index
    memref.store %thread, %a[%c0] : memref<64xindex>
    gpu.return
  }
}
"""

DIVERGENT = """\
gpu.module @kernels {
  gpu.func @divergent(%a: memref<64xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %thread = gpu.thread_id x
    %c16 = arith.constant 16 : index
    %few = arith.cmpi ult, %thread, %c16 : index
    scf.if %few {
      gpu.barrier
    }
    gpu.return
  }
}
"""

TOO_LARGE = """\
gpu.module @kernels {
  gpu.func @large(%a: memref<1xf32>) kernel {
    %i = arith.constant 0 : index
    %b = memref.alloc() : memref<100000xf32, #gpu.address_space<workgroup>>
    %v = memref.load %b[%i] : memref<100000xf32, #gpu.address_space<workgroup>>
    memref.store %v, %a[%i] : memref<1xf32>
    gpu.return
  }
}
"""

MALFORMED = """\
func.func @main(%a: i32) {
  %0 = arith.addi %a, %b : i32
  return
}
"""

WITHOUT_KERNEL = """\
func.func @main(%a: memref<4xf32>) {
  return
}
"""

SINE = """\
gpu.module @kernels {
  gpu.func @sine(%a: memref<32xf32>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %a[%i] : memref<32xf32>
    %y = math.sin %x : f32
    memref.store %y, %a[%i] : memref<32xf32>
    gpu.return
  }
}
"""

# MLIR's parser uses up any stack on it.
CRASHING = f"module attributes {{a = {'[' * 400_000}{']' * 400_000}}} {{}}\n"

# LLVM gives up on it: its back end for NVIDIA GPUs knows no intrinsics of x86.
NOT_SELECTABLE = """\
gpu.module @kernels {
  gpu.func @not_selectable(%a: memref<1xi64>) kernel {
    %i = arith.constant 0 : index
    %v = llvm.call_intrinsic "llvm.x86.rdtsc"() : () -> i64
    memref.store %v, %a[%i] : memref<1xi64>
    gpu.return
  }
}
"""

# %g is known to the launch alone; so are the extents, a stride and the offset of %a.
DYNAMIC = """\
#layout = strided<[?, 1], offset: ?>
func.func @main(%a: memref<?x?xf32, #layout>, %n: index, %s: f32, %g: index) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %g, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %d = memref.dim %a, %c1 : memref<?x?xf32, #layout>
    %x = arith.muli %tx, %n : index
    %y = arith.remui %x, %d : index
    memref.store %s, %a[%bx, %y] : memref<?x?xf32, #layout>
    gpu.terminator
  }
  return
}
"""


def launched(*launches: tuple[int, int, int]) -> str:
    """Return a program that launches one kernel with these blocks, threads and dynamic bytes."""
    lines = [
        "module attributes {gpu.container_module} {",
        STORE,
        "func.func @main(%a: memref<32xf32>, %i: index) {",
        "  %c1 = arith.constant 1 : index",
    ]
    for number, (blocks, threads, size) in enumerate(launches):
        lines += [
            f"  %g{number} = arith.constant {blocks} : index",
            f"  %t{number} = arith.constant {threads} : index",
            f"  %d{number} = arith.constant {size} : i32",
            f"  gpu.launch_func @kernels::@store blocks in (%g{number}, %c1, %c1)",
            f"      threads in (%t{number}, %c1, %c1) dynamic_shared_memory_size %d{number}",
            "      args(%a : memref<32xf32>, %i : index)",
        ]
    return "\n".join([*lines, "  return", "}", "}", ""])


def buffers(*types: str) -> str:
    """Return a kernel `buffers` that really uses workgroup buffers of types such as ``5xi32``."""
    header = ["gpu.module @kernels {", "gpu.func @buffers(%a: memref<?xi8>, %i: index) kernel {"]
    writes, reads = ["%t = gpu.thread_id x"], ["gpu.barrier"]
    for n, shape in enumerate(types):
        element, kind = shape.split("x")[-1], f"memref<{shape}, #gpu.address_space<workgroup>>"
        writes += [
            f"%b{n} = memref.alloc() : {kind}",
            f"%c{n} = arith.constant {n + 1} : {element}",
            f"memref.store %c{n}, %b{n}[%i] : {kind}",
        ]
        narrow = f"arith.trunci %v{n} : {element} to i8"
        reads += [
            f"%v{n} = memref.load %b{n}[%t] : {kind}",
            f"%w{n} = {narrow}" if element != "i8" else f"%w{n} = arith.addi %v{n}, %v{n} : i8",
            f"%n{n} = arith.constant {n} : index",
            f"%j{n} = arith.addi %t, %n{n} : index",
            f"memref.store %w{n}, %a[%j{n}] : memref<?xi8>",
        ]
    return "\n".join([*header, *writes, *reads, "gpu.return", "}", "}", ""])


TENSOR_MAP = """
!map = !nvgpu.tensormap.descriptor<tensor = memref<8x64xf16, 3>, swizzle = swizzle_128b,
                                   l2promo = l2promo_256b, oob = nan, interleave = none>
gpu.module @kernels {
  gpu.func @prefetch(%i: index, %map: !map) kernel {
    nvgpu.tma.prefetch.descriptor %map : !map
    gpu.return
  }
}
"""

# A B + C of one tile, by one warp; C is a view that the host makes.
WMMA = """
!h = memref<16x16xf16>
!s = memref<16x16xf32>
func.func @main(%a: !h, %b: !h, %c: memref<256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %tile = memref.expand_shape %c [[0, 1]] output_shape [16, 16] : memref<256xf32> into !s
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %x = gpu.subgroup_mma_load_matrix %a[%c0, %c0] {leadDimension = 16 : index}
        : !h -> !gpu.mma_matrix<16x16xf16, "AOp">
    %y = gpu.subgroup_mma_load_matrix %b[%c0, %c0] {leadDimension = 16 : index}
        : !h -> !gpu.mma_matrix<16x16xf16, "BOp">
    %z = gpu.subgroup_mma_load_matrix %tile[%c0, %c0] {leadDimension = 16 : index}
        : !s -> !gpu.mma_matrix<16x16xf32, "COp">
    %sum = gpu.subgroup_mma_compute %x, %y, %z : !gpu.mma_matrix<16x16xf16, "AOp">,
        !gpu.mma_matrix<16x16xf16, "BOp"> -> !gpu.mma_matrix<16x16xf32, "COp">
    gpu.subgroup_mma_store_matrix %sum, %tile[%c0, %c0] {leadDimension = 16 : index}
        : !gpu.mma_matrix<16x16xf32, "COp">, !s
    gpu.terminator
  }
  return
}
"""
