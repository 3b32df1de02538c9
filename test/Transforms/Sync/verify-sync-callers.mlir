// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-verify-sync{assume-distinct-arguments})' --verify-diagnostics -o /dev/null

// Callers that are not in sight promise that arguments are different memory; of others
// that is seen.

// A host function that the module itself calls with one buffer twice,
func.func private @layer(%a: memref<64xf32>, %b: memref<64xf32>, %x: f32) {
  %c1 = arith.constant 1 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%dx = %c64, %dy = %c1, %dz = %c1) {
    %u = arith.subi %c63, %tx : index
    // expected-note @+1 {{the other access}}
    memref.store %x, %b[%tx] : memref<64xf32>
    // expected-warning @+1 {{possible data race on global memory}}
    %v = memref.load %a[%u] : memref<64xf32>
    gpu.terminator
  }
  return
}
func.func @main(%p: memref<64xf32>, %x: f32) {
  call @layer(%p, %p, %x) : (memref<64xf32>, memref<64xf32>, f32) -> ()
  return
}

// -----

// and one that it calls with two that it made.
func.func private @layer(%a: memref<64xf32>, %b: memref<64xf32>, %x: f32) {
  %c1 = arith.constant 1 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%dx = %c64, %dy = %c1, %dz = %c1) {
    %u = arith.subi %c63, %tx : index
    memref.store %x, %b[%tx] : memref<64xf32>
    %v = memref.load %a[%u] : memref<64xf32>
    gpu.terminator
  }
  return
}
func.func @main(%p: memref<64xf32>, %x: f32) {
  %q = memref.alloc() : memref<64xf32>
  call @layer(%p, %q, %x) : (memref<64xf32>, memref<64xf32>, f32) -> ()
  call @layer(%q, %p, %x) : (memref<64xf32>, memref<64xf32>, f32) -> ()
  return
}

// -----

// What a loop of the host swaps stays two buffers: blocks read the one and write
// the other.
module attributes {gpu.container_module} {
func.func @main(%p: memref<257xf32>, %q: memref<257xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %p, %b = %q) -> (memref<257xf32>, memref<257xf32>) {
    gpu.launch_func @swapped::@k blocks in (%c4, %c1, %c1) threads in (%c64, %c1, %c1)
      args(%a : memref<257xf32>, %b : memref<257xf32>)
    scf.yield %b, %a : memref<257xf32>, memref<257xf32>
  }
  gpu.launch_func @swapped::@k blocks in (%c4, %c1, %c1) threads in (%c64, %c1, %c1)
    args(%r#1 : memref<257xf32>, %r#0 : memref<257xf32>)
  return
}
gpu.module @swapped {
  gpu.func @k(%a: memref<257xf32>, %b: memref<257xf32>) kernel {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %block = gpu.block_id x
    %t = gpu.thread_id x
    %first = arith.muli %block, %c64 : index
    %i = arith.addi %first, %t : index
    %j = arith.addi %i, %c1 : index
    %v = memref.load %a[%j] : memref<257xf32>
    memref.store %v, %b[%i] : memref<257xf32>
    gpu.return
  }
}
}

// -----

// Here both are the first one from the second iteration on.
module attributes {gpu.container_module} {
func.func @main(%p: memref<257xf32>, %q: memref<257xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %p, %b = %q) -> (memref<257xf32>, memref<257xf32>) {
    gpu.launch_func @one::@k blocks in (%c4, %c1, %c1) threads in (%c64, %c1, %c1)
      args(%a : memref<257xf32>, %b : memref<257xf32>)
    scf.yield %a, %a : memref<257xf32>, memref<257xf32>
  }
  return
}
gpu.module @one {
  gpu.func @k(%a: memref<257xf32>, %b: memref<257xf32>) kernel {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %block = gpu.block_id x
    %t = gpu.thread_id x
    %first = arith.muli %block, %c64 : index
    %i = arith.addi %first, %t : index
    %j = arith.addi %i, %c1 : index
    // expected-note @+1 {{the other access}}
    %v = memref.load %a[%j] : memref<257xf32>
    // expected-warning @+1 {{possible data race on global memory}}
    memref.store %v, %b[%i] : memref<257xf32>
    gpu.return
  }
}
}

// -----

// Who calls it is known only when it runs.
func.func private @layer(%a: memref<64xf32>, %b: memref<64xf32>, %x: f32) {
  %c1 = arith.constant 1 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%dx = %c64, %dy = %c1, %dz = %c1) {
    %u = arith.subi %c63, %tx : index
    // expected-note @+1 {{the other access}}
    memref.store %x, %b[%tx] : memref<64xf32>
    // expected-warning @+1 {{possible data race on global memory}}
    %v = memref.load %a[%u] : memref<64xf32>
    gpu.terminator
  }
  return
}
func.func @main(%p: memref<64xf32>, %x: f32) {
  %f = func.constant @layer : (memref<64xf32>, memref<64xf32>, f32) -> ()
  func.call_indirect %f(%p, %p, %x) : (memref<64xf32>, memref<64xf32>, f32) -> ()
  return
}

// -----

// A bound that is loaded is the same for all threads, if what they store goes somewhere else.
gpu.module @kernels {
  gpu.func @loaded_bound(%bounds: memref<64xi32>, %out: memref<64xi32>, %x: i32) workgroup(%S: memref<64xi32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    %bound = memref.load %bounds[%c0] : memref<64xi32>
    %n = arith.index_cast %bound : i32 to index
    scf.for %i = %c0 to %n step %c1 {
      memref.store %x, %S[%t] : memref<64xi32, #gpu.address_space<workgroup>>
      gpu.barrier
      %y = memref.load %S[%u] : memref<64xi32, #gpu.address_space<workgroup>>
      memref.store %y, %out[%t] : memref<64xi32>
      gpu.barrier
    }
    gpu.return
  }
}
