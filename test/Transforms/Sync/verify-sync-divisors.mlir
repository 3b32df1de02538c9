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

// Each loop has the iterations that its bound, a product, allows for: no thread
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

// -----

// What is divided need only be positive where that is done: the iteration before is
// none in the first iteration.
gpu.module @guarded {
  gpu.func @ring(%in: memref<128xi32> {llvm.noalias}, %out: memref<128xi32> {llvm.noalias}, %n: index)
      workgroup(%A: memref<384xi32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c127 = arith.constant 127 : index
    %c128 = arith.constant 128 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    scf.for %i = %c0 to %n step %c1 {
      %slot = arith.remui %i, %c3 : index
      %row = arith.muli %slot, %c128 : index
      %at = arith.addi %row, %t : index
      %copy = nvgpu.device_async_copy %in[%t], %A[%at], 1 : memref<128xi32> to memref<384xi32, #gpu.address_space<workgroup>>
      nvvm.cp.async.commit.group
      nvvm.cp.async.wait.group 1
      gpu.barrier
      %j = arith.subi %i, %c1 : index
      %is = arith.cmpi sge, %i, %c1 : index
      scf.if %is {
        %before = arith.remui %j, %c3 : index
        %rowBefore = arith.muli %before, %c128 : index
        %from = arith.addi %rowBefore, %u : index
        %v = memref.load %A[%from] : memref<384xi32, #gpu.address_space<workgroup>>
        memref.store %v, %out[%t] : memref<128xi32>
      }
    }
    gpu.return
  }
}

// -----

// Two groups may be under way: that of the iteration before is read too early.
gpu.module @too_few {
  gpu.func @ring(%in: memref<128xi32> {llvm.noalias}, %out: memref<128xi32> {llvm.noalias}, %n: index)
      workgroup(%A: memref<384xi32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c127 = arith.constant 127 : index
    %c128 = arith.constant 128 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    scf.for %i = %c0 to %n step %c1 {
      %slot = arith.remui %i, %c3 : index
      %row = arith.muli %slot, %c128 : index
      %at = arith.addi %row, %t : index
      // expected-note @+1 {{the other access}}
      %copy = nvgpu.device_async_copy %in[%t], %A[%at], 1 : memref<128xi32> to memref<384xi32, #gpu.address_space<workgroup>>
      nvvm.cp.async.commit.group
      nvvm.cp.async.wait.group 2
      gpu.barrier
      %is = arith.cmpi sge, %i, %c1 : index
      scf.if %is {
        %j = arith.subi %i, %c1 : index
        %before = arith.remui %j, %c3 : index
        %rowBefore = arith.muli %before, %c128 : index
        %from = arith.addi %rowBefore, %u : index
        // expected-error @+1 {{cannot synchronize 'nvgpu.device_async_copy' and 'memref.load'}}
        %v = memref.load %A[%from] : memref<384xi32, #gpu.address_space<workgroup>>
        memref.store %v, %out[%t] : memref<128xi32>
      }
    }
    gpu.return
  }
}
