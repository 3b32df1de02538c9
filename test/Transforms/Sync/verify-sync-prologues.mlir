// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(workgroup-verify-sync)' -o /dev/null

// Copies that a loop starts, and what comes behind it waits for. Each thread reads what it copied.

// Two groups in each iteration of the second loop, one in those of the first: copy i is done in iteration i.
!R = memref<4x128xi32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @more_groups(%in: memref<1024xi32> {llvm.noalias}, %out: memref<1024xi32> {llvm.noalias}) workgroup(%R: !R) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %tx = gpu.thread_id x
    scf.for %p = %c0 to %c2 step %c1 {
      %t = nvgpu.device_async_copy %in[%tx], %R[%p, %tx], 1 : memref<1024xi32> to !R
      nvvm.cp.async.commit.group
    }
    scf.for %i = %c0 to %c2 step %c1 {
      nvvm.cp.async.wait.group 1
      %v = memref.load %R[%i, %tx] : !R
      memref.store %v, %out[%tx] : memref<1024xi32>
      nvvm.cp.async.commit.group
      nvvm.cp.async.commit.group
    }
    gpu.return
  }
}

// -----

// The wait comes one iteration late.
!R = memref<4x128xi32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @late(%in: memref<1024xi32> {llvm.noalias}, %out: memref<1024xi32> {llvm.noalias}) workgroup(%R: !R) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %tx = gpu.thread_id x
    scf.for %p = %c0 to %c2 step %c1 {
      // expected-note @+1 {{the other access}}
      %t = nvgpu.device_async_copy %in[%tx], %R[%p, %tx], 1 : memref<1024xi32> to !R
      nvvm.cp.async.commit.group
    }
    scf.for %i = %c0 to %c2 step %c1 {
      nvvm.cp.async.wait.group 2
      // expected-error @+1 {{cannot synchronize}}
      %v = memref.load %R[%i, %tx] : !R
      memref.store %v, %out[%tx] : memref<1024xi32>
      nvvm.cp.async.commit.group
    }
    gpu.return
  }
}

// -----

// Fewer groups than in the iterations of the first loop, and too many of them may be under way.
!R = memref<4x128xi32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @fewer_groups(%in: memref<1024xi32> {llvm.noalias}, %out: memref<1024xi32> {llvm.noalias}) workgroup(%R: !R) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %tx = gpu.thread_id x
    scf.for %p = %c0 to %c2 step %c1 {
      // expected-note @+1 {{the other access}}
      %t = nvgpu.device_async_copy %in[%tx], %R[%p, %tx], 1 : memref<1024xi32> to !R
      nvvm.cp.async.commit.group
      nvvm.cp.async.commit.group
    }
    scf.for %i = %c0 to %c2 step %c1 {
      nvvm.cp.async.wait.group 3
      // expected-warning @+1 {{possible data race on workgroup memory}}
      %v = memref.load %R[%i, %tx] : !R
      memref.store %v, %out[%tx] : memref<1024xi32>
      nvvm.cp.async.commit.group
    }
    gpu.return
  }
}

// -----

// The copy of the first iteration is done at the first wait, that of the second at the second. That is not
// told apart, so it is possible only.
!R = memref<4x128xi32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @one_by_one(%in: memref<1024xi32> {llvm.noalias}, %out: memref<1024xi32> {llvm.noalias}) workgroup(%R: !R) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %tx = gpu.thread_id x
    scf.for %p = %c0 to %c2 step %c1 {
      // expected-note @+1 {{the other access}}
      %t = nvgpu.device_async_copy %in[%tx], %R[%p, %tx], 1 : memref<1024xi32> to !R
      nvvm.cp.async.commit.group
    }
    nvvm.cp.async.wait.group 1
    // expected-warning @+1 {{possible data race on workgroup memory}}
    %v = memref.load %R[%c0, %tx] : !R
    memref.store %v, %out[%tx] : memref<1024xi32>
    nvvm.cp.async.wait.group 0
    %w = memref.load %R[%c1, %tx] : !R
    memref.store %w, %out[%tx] : memref<1024xi32>
    gpu.return
  }
}

// -----

// However the first loop is written.
!R = memref<4x128xi32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @while(%in: memref<1024xi32> {llvm.noalias}, %out: memref<1024xi32> {llvm.noalias}) workgroup(%R: !R) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %tx = gpu.thread_id x
    scf.while (%p = %c0) : (index) -> index {
      %more = arith.cmpi slt, %p, %c3 : index
      scf.condition(%more) %p : index
    } do {
    ^bb0(%p: index):
      %t = nvgpu.device_async_copy %in[%tx], %R[%p, %tx], 1 : memref<1024xi32> to !R
      nvvm.cp.async.commit.group
      %next = arith.addi %p, %c1 : index
      scf.yield %next : index
    }
    scf.for %i = %c0 to %c3 step %c1 {
      nvvm.cp.async.wait.group 2
      %v = memref.load %R[%i, %tx] : !R
      memref.store %v, %out[%tx] : memref<1024xi32>
      nvvm.cp.async.commit.group
    }
    gpu.return
  }

  gpu.func @blocks(%in: memref<1024xi32> {llvm.noalias}, %out: memref<1024xi32> {llvm.noalias}) workgroup(%R: !R) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %tx = gpu.thread_id x
    cf.br ^prologue(%c0 : index)
  ^prologue(%p: index):
    %t = nvgpu.device_async_copy %in[%tx], %R[%p, %tx], 1 : memref<1024xi32> to !R
    nvvm.cp.async.commit.group
    %next = arith.addi %p, %c1 : index
    %more = arith.cmpi slt, %next, %c3 : index
    cf.cond_br %more, ^prologue(%next : index), ^main
  ^main:
    scf.for %i = %c0 to %c3 step %c1 {
      nvvm.cp.async.wait.group 2
      %v = memref.load %R[%i, %tx] : !R
      memref.store %v, %out[%tx] : memref<1024xi32>
      nvvm.cp.async.commit.group
    }
    gpu.return
  }
}

// -----

// With one iteration more, of which the group is waited for too late.
!R = memref<4x128xi32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @blocks_late(%in: memref<1024xi32> {llvm.noalias}, %out: memref<1024xi32> {llvm.noalias}) workgroup(%R: !R) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %tx = gpu.thread_id x
    cf.br ^prologue(%c0 : index)
  ^prologue(%p: index):
    // expected-note @+1 {{the other access}}
    %t = nvgpu.device_async_copy %in[%tx], %R[%p, %tx], 1 : memref<1024xi32> to !R
    nvvm.cp.async.commit.group
    %next = arith.addi %p, %c1 : index
    %more = arith.cmpi slt, %next, %c2 : index
    cf.cond_br %more, ^prologue(%next : index), ^main
  ^main:
    scf.for %i = %c0 to %c3 step %c1 {
      nvvm.cp.async.wait.group 2
      // expected-error @+1 {{cannot synchronize}}
      %v = memref.load %R[%i, %tx] : !R
      memref.store %v, %out[%tx] : memref<1024xi32>
      nvvm.cp.async.commit.group
    }
    gpu.return
  }
}
