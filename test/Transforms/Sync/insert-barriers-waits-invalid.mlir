// Where threads wait for others, and it is certain that a barrier is missing behind that.

// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-insert-barriers)' --verify-diagnostics -o /dev/null

// What is called waits.
gpu.module @m {
  func.func @spin(%flag: memref<1xi32>) {
    %c0 = arith.constant 0 : index
    %i0 = arith.constant 0 : i32
    scf.while : () -> () {
        // expected-note @+1 {{no barrier is put}}
        %o = memref.atomic_rmw ori %i0, %flag[%c0] : (i32, memref<1xi32>) -> i32
        %g = arith.cmpi eq, %o, %i0 : i32
        scf.condition(%g)
      } do { scf.yield }
    return
  }
  gpu.func @call(%flag: memref<1xi32>, %out: memref<?xf32> {llvm.noalias}, %p: !llvm.ptr<3>) workgroup(%S: memref<128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c127 = arith.constant 127 : index
    %i0 = arith.constant 0 : i32
    %i1 = arith.constant 1 : i32
    %f = arith.constant 1.0 : f32
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %is0 = arith.cmpi eq, %t, %c0 : index
    %is32 = arith.cmpi eq, %t, %c32 : index
    scf.if %is32 { func.call @spin(%flag) : (memref<1xi32>) -> () }
    // expected-note @+1 {{the other access}}
    memref.store %f, %S[%t] : memref<128xf32, #gpu.address_space<workgroup>>
    // expected-error @+1 {{data race on workgroup memory}}
    %x = memref.load %S[%u] : memref<128xf32, #gpu.address_space<workgroup>>
    memref.store %x, %out[%t] : memref<?xf32>
    scf.if %is0 { %z = memref.atomic_rmw assign %i1, %flag[%c0] : (i32, memref<1xi32>) -> i32 }
    gpu.return
  }
}

// -----

// Registers are there when others have given them back.
gpu.module @m {
  gpu.func @setmax(%flag: memref<1xi32>, %out: memref<?xf32> {llvm.noalias}, %p: !llvm.ptr<3>) workgroup(%S: memref<128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c32 = arith.constant 32 : index
    %c127 = arith.constant 127 : index
    %f = arith.constant 1.0 : f32
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %w0 = arith.cmpi ult, %t, %c32 : index
    %notw0 = arith.cmpi uge, %t, %c32 : index
    // expected-note @+1 {{no barrier is put}}
    scf.if %notw0 { nvvm.setmaxregister increase 232 }
    // expected-note @+1 {{the other access}}
    memref.store %f, %S[%t] : memref<128xf32, #gpu.address_space<workgroup>>
    // expected-error @+1 {{data race on workgroup memory}}
    %x = memref.load %S[%u] : memref<128xf32, #gpu.address_space<workgroup>>
    memref.store %x, %out[%t] : memref<?xf32>
    scf.if %w0 { nvvm.setmaxregister decrease 40 }
    gpu.return
  }
}

// -----

// So may intrinsics.
gpu.module @m {
  gpu.func @intr(%flag: memref<1xi32>, %out: memref<?xf32> {llvm.noalias}, %p: !llvm.ptr<3>) workgroup(%S: memref<128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c127 = arith.constant 127 : index
    %i1 = arith.constant 1 : i32
    %c64 = arith.constant 0 : i64
    %f = arith.constant 1.0 : f32
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %is0 = arith.cmpi eq, %t, %c0 : index
    %is32 = arith.cmpi eq, %t, %c32 : index
    scf.if %is32 { scf.while : () -> () {
        // expected-note @+2 {{no barrier is put}}
        // expected-note @+1 {{the other access}}
        %o = llvm.call_intrinsic "llvm.nvvm.mbarrier.test.wait.shared"(%p, %c64) : (!llvm.ptr<3>, i64) -> i1
        scf.condition(%o)
      } do { scf.yield } }
    // expected-note @+2 {{the other access}}
    // expected-warning @+1 {{possible data race on}}
    memref.store %f, %S[%t] : memref<128xf32, #gpu.address_space<workgroup>>
    // expected-warning @+1 {{possible data race on workgroup memory}}
    %x = memref.load %S[%u] : memref<128xf32, #gpu.address_space<workgroup>>
    // expected-warning @+1 {{possible data race on}}
    memref.store %x, %out[%t] : memref<?xf32>
    // expected-warning @+1 {{possible data race on}}
    scf.if %is0 { %z = memref.atomic_rmw assign %i1, %flag[%c0] : (i32, memref<1xi32>) -> i32 }
    gpu.return
  }
}
