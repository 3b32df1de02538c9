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

// -----

// How often threads come by is read from memory that the kernel writes: whether
// they do so together is not known, so no barrier may stand here, and none may be
// missing.
gpu.module @kernels {
  gpu.func @loaded_bound(%in: memref<?x64xf32>, %out: memref<?x64xf32>, %n: memref<1xindex>)
      workgroup(%w: memref<64xf32, 3> {llvm.align = 16 : i64}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    // expected-note @+1 {{because this value may differ between them}}
    %count = memref.load %n[%c0] : memref<1xindex>
    // expected-note @+1 {{threads of one block part here}}
    scf.for %i = %c0 to %count step %c1 {
      %row = memref.subview %in[%i, 0] [1, 64] [1, 1] : memref<?x64xf32> to memref<64xf32, strided<[1], offset: ?>>
      // expected-error @+1 {{'memref.copy' op cannot be synchronized: it is not known whether all threads of the block execute it together with the same operands}}
      memref.copy %row, %w : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, 3>
      %v = memref.load %w[%t] : memref<64xf32, 3>
      memref.store %v, %out[%i, %t] : memref<?x64xf32>
    }
    gpu.return
  }
}

// -----

// Who else calls a public function is not known.
func.func @public(%a: memref<64xf32>, %w: memref<64xf32, 3>) {
  // expected-error @+2 {{'memref.copy' op cannot be synchronized}}
  // expected-note @+1 {{it stands in a function that is not known to be called by all threads of a block together}}
  memref.copy %a, %w : memref<64xf32> to memref<64xf32, 3>
  return
}
func.func @calls(%a: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %w = memref.alloc() : memref<64xf32, 3>
    func.call @public(%a, %w) : (memref<64xf32>, memref<64xf32, 3>) -> ()
    gpu.terminator
  }
  return
}
