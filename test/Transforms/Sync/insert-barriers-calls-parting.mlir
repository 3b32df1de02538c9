// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers)' --split-input-file --verify-diagnostics

// Lanes that call a function on their own meet no barrier in it, whoever else calls it, and whatever it is needed for.

!S = memref<128xf32, #gpu.address_space<workgroup>>

gpu.module @called_by_both {
  func.func @exchange(%x: f32, %P: !S, %Q: !S, %i: index, %k: index) {
    // expected-note @+1 {{the other access}}
    memref.store %x, %P[%i] : !S
    // expected-error @+1 {{cannot synchronize}}
    %y = memref.load %Q[%k] : !S
    return
  }
  // This one asks for a barrier of a warp,
  gpu.func @lanes(%x: f32) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %t = gpu.thread_id x
    %u = arith.xori %t, %c1 : index
    %is = arith.cmpi ult, %t, %c64 : index
    scf.if %is {
      func.call @exchange(%x, %S, %S, %t, %u) : (f32, !S, !S, index, index) -> ()
    }
    gpu.return
  }
  // and this one, which needs none, would hang in it.
  gpu.func @parted(%x: f32) workgroup(%S: !S, %T: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %t = gpu.thread_id x
    %u = arith.xori %t, %c1 : index
    %is = arith.cmpi ult, %t, %c16 : index
    scf.if %is {
      func.call @exchange(%x, %S, %T, %t, %u) : (f32, !S, !S, index, index) -> ()
    }
    gpu.return
  }
}

// -----

!S = memref<128xf32, #gpu.address_space<workgroup>>

// In a loop of which lanes do iterations of their own.
gpu.module @called_in_iterations {
  func.func @exchange(%x: f32, %P: !S, %i: index, %k: index) {
    // expected-note @+1 {{the other access}}
    memref.store %x, %P[%i] : !S
    // expected-error @+1 {{cannot synchronize}}
    %y = memref.load %P[%k] : !S
    return
  }
  gpu.func @iterations(%x: f32) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %u = arith.xori %t, %c1 : index
    scf.for %i = %c0 to %t step %c1 {
      func.call @exchange(%x, %S, %t, %u) : (f32, !S, index, index) -> ()
    }
    gpu.return
  }
}

// -----

!S = memref<128xf32, #gpu.address_space<workgroup>>

// What lanes do on their own is not shared at all, but they would wait.
gpu.module @called_for_private_memory {
  func.func @exchange(%x: f32, %P: memref<128xf32>, %i: index, %k: index) {
    // expected-note @+1 {{the other access}}
    memref.store %x, %P[%i] : memref<128xf32>
    // expected-error @+1 {{cannot synchronize}}
    %y = memref.load %P[%k] : memref<128xf32>
    return
  }
  gpu.func @k(%x: f32, %out: memref<128xf32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %t = gpu.thread_id x
    %u = arith.xori %t, %c1 : index
    func.call @exchange(%x, %out, %t, %u) : (f32, memref<128xf32>, index, index) -> ()
    %is = arith.cmpi ult, %t, %c16 : index
    scf.if %is {
      %own = memref.alloca() : memref<128xf32>
      func.call @exchange(%x, %own, %t, %u) : (f32, memref<128xf32>, index, index) -> ()
    }
    gpu.return
  }
}
