// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(workgroup-verify-sync)' -o /dev/null

// What divides is not zero, or nothing is divided. Quotient and remainder tell
// threads apart, whatever the divisor is.

gpu.module @kernels {
  gpu.func @divided(%n: index)
      workgroup(%S: memref<128x128xindex, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %m = arith.maxsi %n, %c0 : index
    %q = arith.divui %t, %m : index
    %r = arith.remui %t, %m : index
    memref.store %t, %S[%q, %r] : memref<128x128xindex, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

// Where nothing is divided, all threads store to one place.

gpu.module @kernels {
  gpu.func @not_always_divided(%n: index)
      workgroup(%S: memref<128x128xindex, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %m = arith.maxsi %n, %c0 : index
    %is = arith.cmpi sgt, %m, %c0 : index
    %q, %r = scf.if %is -> (index, index) {
      %q = arith.divui %t, %m : index
      %r = arith.remui %t, %m : index
      scf.yield %q, %r : index, index
    } else {
      scf.yield %c0, %c0 : index, index
    }
    // expected-warning @+2 {{possible data race on workgroup memory}}
    // expected-note @+1 {{the other access}}
    memref.store %t, %S[%q, %r] : memref<128x128xindex, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

// Each loop has the turns that its bound, a product, allows for: no thread
// gets to the next row.

gpu.module @kernels {
  gpu.func @product(%n: index)
      workgroup(%S: memref<32x32xindex, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %t = gpu.thread_id x
    %least = arith.maxsi %n, %c0 : index
    %width = arith.minsi %least, %c32 : index
    %size = arith.muli %width, %c16 : index
    scf.for %i = %t to %size step %c64 {
      %q = arith.divui %i, %width : index
      %r = arith.remui %i, %width : index
      memref.store %t, %S[%q, %r] : memref<32x32xindex, #gpu.address_space<workgroup>>
      %other = arith.addi %q, %c16 : index
      memref.store %t, %S[%other, %r] : memref<32x32xindex, #gpu.address_space<workgroup>>
    }
    gpu.return
  }
}

// -----

// One row less, and they do.

gpu.module @kernels {
  gpu.func @overlap(%n: index)
      workgroup(%S: memref<32x32xindex, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c15 = arith.constant 15 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %t = gpu.thread_id x
    %least = arith.maxsi %n, %c0 : index
    %width = arith.minsi %least, %c32 : index
    %size = arith.muli %width, %c16 : index
    scf.for %i = %t to %size step %c64 {
      %q = arith.divui %i, %width : index
      %r = arith.remui %i, %width : index
      // expected-note @+1 {{the other access}}
      memref.store %t, %S[%q, %r] : memref<32x32xindex, #gpu.address_space<workgroup>>
      %other = arith.addi %q, %c15 : index
      // expected-warning @+1 {{possible data race on workgroup memory}}
      memref.store %t, %S[%other, %r] : memref<32x32xindex, #gpu.address_space<workgroup>>
    }
    gpu.return
  }
}
