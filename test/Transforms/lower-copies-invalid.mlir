// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies)' --split-input-file --verify-diagnostics

// A rank that nobody knows.
gpu.module @kernels {
  gpu.func @unranked_source(%in: memref<*xf32>, %out: memref<64xf32>) kernel {
    // expected-error @+1 {{'memref.copy' op cannot be lowered: unranked operand 'memref<*xf32>'; cast it to a ranked type}}
    memref.copy %in, %out : memref<*xf32> to memref<64xf32>
    gpu.return
  }
  gpu.func @unranked_target(%in: memref<64xf32>, %out: memref<*xf32>) kernel {
    // expected-error @+1 {{'memref.copy' op cannot be lowered: unranked operand 'memref<*xf32>'; cast it to a ranked type}}
    memref.copy %in, %out : memref<64xf32> to memref<*xf32>
    gpu.return
  }
}

// -----

// A layout without strides.
gpu.module @kernels {
  gpu.func @not_strided(%in: memref<64xf32, affine_map<(d0) -> (d0 mod 8)>>, %out: memref<64xf32>) kernel {
    // expected-error @+1 {{'memref.copy' op cannot be lowered: non-strided layout of 'memref<64xf32, affine_map<(d0) -> (d0 mod 8)>>'; normalize its layout map}}
    memref.copy %in, %out : memref<64xf32, affine_map<(d0) -> (d0 mod 8)>> to memref<64xf32>
    gpu.return
  }
  gpu.func @linalg(%in: memref<64xf32>, %out: memref<64xf32, affine_map<(d0) -> (d0 floordiv 2)>>) kernel {
    // expected-error @+1 {{'linalg.copy' op cannot be lowered: non-strided layout}}
    linalg.copy ins(%in : memref<64xf32>) outs(%out : memref<64xf32, affine_map<(d0) -> (d0 floordiv 2)>>)
    gpu.return
  }
}

// -----

// Slices that share elements, ...
func.func @overlap(%a: memref<128xf32>) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %from = memref.subview %a[0] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1]>>
    %to = memref.subview %a[63] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1], offset: 63>>
    // expected-error @+1 {{'memref.copy' op cannot be lowered: overlapping operands; copy through another buffer, or make the slices provably disjoint}}
    memref.copy %from, %to : memref<64xf32, strided<[1]>> to memref<64xf32, strided<[1], offset: 63>>
    gpu.terminator
  }
  return
}

// -----

// ... or may share them.
gpu.module @kernels {
  gpu.func @may_overlap(%a: memref<128xf32>, %i: index) kernel {
    %from = memref.subview %a[0] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1]>>
    %to = memref.subview %a[%i] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1], offset: ?>>
    // expected-error @+1 {{cannot be lowered: overlapping operands}}
    memref.copy %from, %to : memref<64xf32, strided<[1]>> to memref<64xf32, strided<[1], offset: ?>>
    gpu.return
  }
  gpu.func @transposed_in_place(%a: memref<8x8xf32>) kernel {
    %to = memref.transpose %a (i, j) -> (j, i) : memref<8x8xf32> to memref<8x8xf32, strided<[1, 8]>>
    // expected-error @+1 {{cannot be lowered: overlapping operands}}
    memref.copy %a, %to : memref<8x8xf32> to memref<8x8xf32, strided<[1, 8]>>
    gpu.return
  }
  // A conversion in place does something.
  gpu.func @reinterpreted(%a: memref<256xi8>) kernel {
    %c0 = arith.constant 0 : index
    %from = memref.view %a[%c0][] : memref<256xi8> to memref<64xf32>
    %to = memref.view %a[%c0][] : memref<256xi8> to memref<64xi32>
    // expected-error @+1 {{'linalg.copy' op cannot be lowered: overlapping operands}}
    linalg.copy ins(%from : memref<64xf32>) outs(%to : memref<64xi32>)
    gpu.return
  }
}

// -----

// Shapes that contradict each other, which casts can hide from the verifier.
gpu.module @kernels {
  gpu.func @different_ranks(%in: memref<16xf32>, %out: memref<4x4xf32>) kernel {
    %to = memref.cast %out : memref<4x4xf32> to memref<*xf32>
    // expected-error @+1 {{'memref.copy' op cannot be lowered: operands of different ranks; cast them back to one shape}}
    memref.copy %in, %to : memref<16xf32> to memref<*xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @different_extents(%in: memref<16xf32>, %out: memref<8xf32>) kernel {
    %from = memref.cast %in : memref<16xf32> to memref<?xf32>
    // expected-error @+1 {{'memref.copy' op cannot be lowered: operands of different extents; copy between slices of one shape}}
    memref.copy %from, %out : memref<?xf32> to memref<8xf32>
    gpu.return
  }
}

// -----

// All rows of the target are the same bytes, so the order of the threads would
// decide what they hold.
gpu.module @kernels {
  gpu.func @shared_rows(%in: memref<4x64xf32>, %out: memref<4x64xf32, strided<[0, 1]>>) kernel {
    // expected-error @+1 {{'memref.copy' op cannot be lowered: elements of the target share an address by a stride of 0; copy the one that is to last}}
    memref.copy %in, %out : memref<4x64xf32> to memref<4x64xf32, strided<[0, 1]>>
    gpu.return
  }
}
