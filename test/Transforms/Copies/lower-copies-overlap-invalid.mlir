// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies)' --split-input-file --verify-diagnostics

// One of what is selected.
gpu.module @kernels {
  gpu.func @selected(%a: memref<128xf32>, %b: memref<64xf32, strided<[1], offset: ?>>, %i: index, %j: index, %p: i1) kernel {
    %x = memref.subview %a[%i] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1], offset: ?>>
    %y = memref.subview %a[%j] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1], offset: ?>>
    %s = arith.select %p, %x, %b : memref<64xf32, strided<[1], offset: ?>>
    // expected-error @+1 {{'memref.copy' op cannot be lowered: overlapping operands; copy through another buffer, or make the slices provably disjoint}}
    memref.copy %s, %y : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    gpu.return
  }
}

// -----

// Slices that a loop swaps.
gpu.module @kernels {
  gpu.func @swapped(%a: memref<128xf32>, %i: index, %j: index, %n: index) kernel {
    %x = memref.subview %a[%i] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1], offset: ?>>
    %y = memref.subview %a[%j] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1], offset: ?>>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r:2 = scf.for %q = %c0 to %n step %c1 iter_args(%u = %x, %v = %y) -> (memref<64xf32, strided<[1], offset: ?>>, memref<64xf32, strided<[1], offset: ?>>) {
      // expected-error @+1 {{'memref.copy' op cannot be lowered: overlapping operands; copy through another buffer, or make the slices provably disjoint}}
      memref.copy %u, %v : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
      scf.yield %v, %u : memref<64xf32, strided<[1], offset: ?>>, memref<64xf32, strided<[1], offset: ?>>
    }
    gpu.return
  }
}

// -----

// What one value of a loop becomes in the second iteration.
gpu.module @kernels {
  gpu.func @rotated(%a: memref<128xf32>, %d: memref<128xf32>, %i: index, %n: index) kernel {
    %x = memref.subview %a[%i] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1], offset: ?>>
    %y = memref.subview %a[%i] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1], offset: ?>>
    %z = memref.subview %d[%i] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1], offset: ?>>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r:2 = scf.for %q = %c0 to %n step %c1 iter_args(%u = %x, %v = %z) -> (memref<64xf32, strided<[1], offset: ?>>, memref<64xf32, strided<[1], offset: ?>>) {
      // expected-error @+1 {{'memref.copy' op cannot be lowered: overlapping operands; copy through another buffer, or make the slices provably disjoint}}
      memref.copy %u, %v : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
      scf.yield %z, %v : memref<64xf32, strided<[1], offset: ?>>, memref<64xf32, strided<[1], offset: ?>>
    }
    gpu.return
  }
}

// -----

// The result of a branch.
gpu.module @kernels {
  gpu.func @branch(%a: memref<64xf32>, %b: memref<64xf32>, %p: i1) kernel {
    %s = scf.if %p -> memref<64xf32> {
      scf.yield %a : memref<64xf32>
    } else {
      scf.yield %b : memref<64xf32>
    }
    // expected-error @+1 {{'memref.copy' op cannot be lowered: overlapping operands; copy through another buffer, or make the slices provably disjoint}}
    memref.copy %s, %b : memref<64xf32> to memref<64xf32>
    gpu.return
  }
}

// -----

// The argument of a block.
gpu.module @kernels {
  gpu.func @block(%a: memref<64xf32>, %b: memref<64xf32>, %p: i1) kernel {
    cf.cond_br %p, ^bb1(%a : memref<64xf32>), ^bb1(%b : memref<64xf32>)
  ^bb1(%s: memref<64xf32>):
    // expected-error @+1 {{'memref.copy' op cannot be lowered: overlapping operands; copy through another buffer, or make the slices provably disjoint}}
    memref.copy %a, %s : memref<64xf32> to memref<64xf32>
    gpu.return
  }
}

// -----

// One global, ...
gpu.module @kernels {
  memref.global "private" @g : memref<128xf32, 3> = uninitialized
  gpu.func @global() kernel {
    %a = memref.get_global @g : memref<128xf32, 3>
    %b = memref.get_global @g : memref<128xf32, 3>
    %x = memref.subview %a[0] [64] [1] : memref<128xf32, 3> to memref<64xf32, strided<[1]>, 3>
    %y = memref.subview %b[32] [64] [1] : memref<128xf32, 3> to memref<64xf32, strided<[1], offset: 32>, 3>
    // expected-error @+1 {{cannot be lowered: overlapping operands}}
    memref.copy %x, %y : memref<64xf32, strided<[1]>, 3> to memref<64xf32, strided<[1], offset: 32>, 3>
    gpu.return
  }
}

// -----

// ... and the one dynamic memory of a launch.
gpu.module @kernels {
  gpu.func @dynamic_memory() kernel {
    %a = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %b = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %x = memref.subview %a[0] [64] [1] : memref<?xi8, #gpu.address_space<workgroup>> to memref<64xi8, strided<[1]>, #gpu.address_space<workgroup>>
    %y = memref.subview %b[32] [64] [1] : memref<?xi8, #gpu.address_space<workgroup>> to memref<64xi8, strided<[1], offset: 32>, #gpu.address_space<workgroup>>
    // expected-error @+1 {{cannot be lowered: overlapping operands}}
    memref.copy %x, %y : memref<64xi8, strided<[1]>, #gpu.address_space<workgroup>> to memref<64xi8, strided<[1], offset: 32>, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

// What a call returns may be what it was passed.
gpu.module @kernels {
  func.func private @pick(%a: memref<64xf32>) -> memref<64xf32>
  gpu.func @called(%a: memref<64xf32>) kernel {
    %b = func.call @pick(%a) : (memref<64xf32>) -> memref<64xf32>
    // expected-error @+1 {{'memref.copy' op cannot be lowered: overlapping operands; copy through another buffer, or make the slices provably disjoint}}
    memref.copy %a, %b : memref<64xf32> to memref<64xf32>
    gpu.return
  }
}

// -----

// Steps that meet after a while, by a byte.
gpu.module @kernels {
  gpu.func @steps(%a: memref<512xi8>) kernel {
    %x = memref.subview %a[0] [64] [3] : memref<512xi8> to memref<64xi8, strided<[3]>>
    %y = memref.subview %a[126] [64] [2] : memref<512xi8> to memref<64xi8, strided<[2], offset: 126>>
    // expected-error @+1 {{cannot be lowered: overlapping operands}}
    memref.copy %x, %y : memref<64xi8, strided<[3]>> to memref<64xi8, strided<[2], offset: 126>>
    gpu.return
  }
  gpu.func @last_byte(%a: memref<512xi8>) kernel {
    %c0 = arith.constant 0 : index
    %c63 = arith.constant 63 : index
    %x = memref.view %a[%c0][] : memref<512xi8> to memref<16xf32>
    %y = memref.view %a[%c63][] : memref<512xi8> to memref<16xf32>
    // expected-error @+1 {{cannot be lowered: overlapping operands}}
    memref.copy %x, %y : memref<16xf32> to memref<16xf32>
    gpu.return
  }
  // Another iteration's offset may be any.
  gpu.func @other_iteration(%a: memref<512xf32>, %b: memref<64xf32, strided<[1], offset: ?>>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %r = scf.for %i = %c0 to %n step %c64 iter_args(%last = %b) -> (memref<64xf32, strided<[1], offset: ?>>) {
      %x = memref.subview %a[%i] [64] [1] : memref<512xf32> to memref<64xf32, strided<[1], offset: ?>>
      %j = arith.addi %i, %c64 : index
      %y = memref.subview %a[%j] [64] [1] : memref<512xf32> to memref<64xf32, strided<[1], offset: ?>>
      // expected-error @+1 {{cannot be lowered: overlapping operands}}
      memref.copy %last, %y : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
      scf.yield %x : memref<64xf32, strided<[1], offset: ?>>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // Of one row, what a cast says of strides says nothing.
  gpu.func @cast_one_row(%a: memref<64x4xf32, strided<[?, 1]>>) kernel {
    %part = memref.subview %a[8, 0] [1, 4] [1, 1] : memref<64x4xf32, strided<[?, 1]>> to memref<1x4xf32, strided<[?, 1], offset: ?>>
    %p = memref.cast %part : memref<1x4xf32, strided<[?, 1], offset: ?>> to memref<1x4xf32, strided<[8, 1], offset: ?>>
    %q = memref.reinterpret_cast %a to offset: [64], sizes: [1, 4], strides: [8, 1] : memref<64x4xf32, strided<[?, 1]>> to memref<1x4xf32, strided<[8, 1], offset: 64>>
    // expected-error @+1 {{cannot be lowered: overlapping operands}}
    memref.copy %p, %q : memref<1x4xf32, strided<[8, 1], offset: ?>> to memref<1x4xf32, strided<[8, 1], offset: 64>>
    gpu.return
  }
}
