"""Small programs of all classes, to be explained."""

from __future__ import annotations

from benchmarks.static.programs import attend, contract, convolve

MATMUL = contract("mk,kn->mn", {"m": 128, "n": 128, "k": 256}, "f16", is_dynamic=False)
CONVOLUTION = convolve(
    "conv_2d_nhwc_hwcf", (1, 10, 10, 16), (3, 3, 16, 32), (1, 8, 8, 32), "f16", 1
)
ATTENTION = attend(1, 32, 64, 32, "f16", is_causal=False)

ELEMENTWISE = """
func.func @main(%x: tensor<1024xf32>, %y: tensor<1024xf32>) -> tensor<1024xf32> {
  %e = tensor.empty() : tensor<1024xf32>
  %r = linalg.add ins(%x, %y : tensor<1024xf32>, tensor<1024xf32>)
      outs(%e : tensor<1024xf32>) -> tensor<1024xf32>
  return %r : tensor<1024xf32>
}
"""

REDUCTION = """
func.func @main(%x: tensor<64x256xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<64x256xf32>) outs(%f : tensor<64xf32>)
      dimensions = [1]
  return %r : tensor<64xf32>
}
"""

OF_THE_USER = """
gpu.module @kernels {
  gpu.func @reverse(%a: memref<128xf32>)
      workgroup(%s: memref<128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>,
                         known_grid_size = array<i32: 1, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %x = memref.load %a[%t] : memref<128xf32>
    memref.store %x, %s[%t] : memref<128xf32, #gpu.address_space<workgroup>>
    %y = memref.load %s[%u] : memref<128xf32, #gpu.address_space<workgroup>>
    memref.store %y, %a[%t] : memref<128xf32>
    gpu.return
  }
}
"""

# The second barrier orders nothing.
_SYNCHRONISED = OF_THE_USER.replace("    %y =", "    gpu.barrier\n    %y =").replace(
    "    gpu.return", "    gpu.barrier\n    gpu.return"
)

DYNAMIC = """
#workgroup = #gpu.address_space<workgroup>
func.func @main(%a: memref<256xf32>, %n: index) {
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%t, %ty, %tz) in (%sx = %c256, %sy = %c1, %sz = %c1) {
    %s = memref.alloc(%n) : memref<?xf32, #workgroup>
    %x = memref.load %a[%t] : memref<256xf32>
    memref.store %x, %s[%t] : memref<?xf32, #workgroup>
    %c255 = arith.constant 255 : index
    %u = arith.subi %c255, %t : index
    %y = memref.load %s[%u] : memref<?xf32, #workgroup>
    memref.store %y, %a[%t] : memref<256xf32>
    gpu.terminator
  }
  return
}
"""

PROGRAMS = {
    "matmul": MATMUL,
    "convolution": CONVOLUTION,
    "attention": ATTENTION,
    "elementwise": ELEMENTWISE,
    "reduction": REDUCTION,
    "of_the_user": OF_THE_USER,
    "synchronised": _SYNCHRONISED,
    "dynamic": DYNAMIC,
}
