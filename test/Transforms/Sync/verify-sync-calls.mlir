// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-verify-sync)' --verify-diagnostics -o /dev/null

!S = memref<128xf32, #gpu.address_space<workgroup>>

// What is wrong in a function is told once, however often it is called.
gpu.module @often {
  func.func @exchange(%x: f32, %S: !S, %t: index, %u: index) {
    // expected-note @+1 {{the other access}}
    memref.store %x, %S[%t] : !S
    // expected-error @+1 {{data race on workgroup memory}}
    %y = memref.load %S[%u] : !S
    // expected-error @+1 {{data race on workgroup memory}}
    memref.store %y, %S[%u] : !S
    return
  }
  func.func @twice(%x: f32, %S: !S, %t: index, %u: index) {
    func.call @exchange(%x, %S, %t, %u) : (f32, !S, index, index) -> ()
    func.call @exchange(%x, %S, %t, %u) : (f32, !S, index, index) -> ()
    return
  }
  gpu.func @k(%x: f32) workgroup(%S: !S) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    func.call @twice(%x, %S, %t, %u) : (f32, !S, index, index) -> ()
    func.call @twice(%x, %S, %t, %u) : (f32, !S, index, index) -> ()
    gpu.return
  }
}

// -----

!S = memref<128xf32, #gpu.address_space<workgroup>>

// What nobody calls is nobody's concern: neither what is wrong in it, nor that
// not all threads get to what it calls.
gpu.module @unreached {
  func.func private @dead(%S: !S, %p: i1) {
    scf.if %p {
      gpu.barrier
      func.call @meet() : () -> ()
    }
    return
  }
  func.func private @dead_too(%S: !S, %p: i1) {
    func.call @dead(%S, %p) : (!S, i1) -> ()
    return
  }
  func.func private @meet() {
    gpu.barrier
    return
  }
  gpu.func @k(%x: f32, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    memref.store %x, %S[%t] : !S
    func.call @meet() : () -> ()
    %y = memref.load %S[%u] : !S
    memref.store %y, %out[%t] : memref<128xf32>
    gpu.return
  }
}

// -----

!S = memref<128xf32, #gpu.address_space<workgroup>>
!D = memref<?xi8, #gpu.address_space<workgroup>>

// Dynamic memory is one for all that a launch executes: what is called may use
// it on its own. Of several blocks, it is not looked into.
gpu.module @dynamic {
  func.func private @changes(%x: f32, %p: i1) attributes {gpu.known_block_size = array<i32: 1, 1, 1>} {
    cf.cond_br %p, ^a, ^b
  ^a:
    %c0 = arith.constant 0 : index
    %d = gpu.dynamic_shared_memory : !D
    %S = memref.view %d[%c0][] : !D to !S
    memref.store %x, %S[%c0] : !S
    cf.br ^b
  ^b:
    return
  }
  gpu.func @k(%out: memref<128xf32> {llvm.noalias}, %x: f32, %p: i1) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %d = gpu.dynamic_shared_memory : !D
    %S = memref.view %d[%c0][] : !D to !S
    %is = arith.cmpi eq, %t, %c0 : index
    scf.if %is {
      // expected-note @+1 {{the other access}}
      func.call @changes(%x, %p) : (f32, i1) -> ()
    }
    // expected-warning @+1 {{possible data race on workgroup memory}}
    %y = memref.load %S[%t] : !S
    memref.store %y, %out[%t] : memref<128xf32>
    gpu.return
  }
}

// -----

!S = memref<64x64xf32, #gpu.address_space<workgroup>>
!acc = !nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>>

// Each thread of a warpgroup stores a part of its own.
gpu.module @warpgroups {
  gpu.func @one(%out: memref<128xf32> {llvm.noalias}) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %acc = nvgpu.warpgroup.mma.init.accumulator -> !acc
    nvgpu.warpgroup.mma.store %acc, %S : !acc to !S
    gpu.barrier
    %y = memref.load %S[%c0, %c0] : !S
    memref.store %y, %out[%t] : memref<128xf32>
    gpu.return
  }
  gpu.func @unordered(%out: memref<64x128xf32> {llvm.noalias}) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %acc = nvgpu.warpgroup.mma.init.accumulator -> !acc
    // expected-note @+1 {{the other access}}
    nvgpu.warpgroup.mma.store %acc, %S : !acc to !S
    // expected-error @+1 {{data race on workgroup memory}}
    %y = memref.load %S[%c0, %c63] : !S
    memref.store %y, %out[%c0, %t] : memref<64x128xf32>
    gpu.return
  }
  // Of two it is not known who stores where.
  gpu.func @two() workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %acc = nvgpu.warpgroup.mma.init.accumulator -> !acc
    // expected-warning @+2 {{possible data race on workgroup memory}}
    // expected-note @+1 {{the other access}}
    nvgpu.warpgroup.mma.store %acc, %S : !acc to !S
    gpu.return
  }
}
