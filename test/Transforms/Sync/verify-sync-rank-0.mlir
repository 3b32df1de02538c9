// A memref of rank 0 is one element, and where only the launch knows its offset, one
// that is compared with itself alone.

// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-sync)' --verify-diagnostics -o /dev/null

!one = memref<f32, strided<[], offset: ?>>

gpu.module @kernels {
  // One thread stores, and others do behind a barrier.
  gpu.func @ordered(%b: !one, %v: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      memref.store %v, %b[] : !one
    }
    gpu.barrier
    %x = memref.load %b[] : !one
    gpu.return
  }

  gpu.func @racing(%b: !one, %v: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      // expected-note @+1 {{the other access}}
      memref.store %v, %b[] : !one
    }
    // expected-error @+1 {{data race on global memory %arg0}}
    %x = memref.load %b[] : !one
    gpu.return
  }

  // With dimensions of one element, it is the same element.
  gpu.func @expanded(%b: !one, %v: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %first = arith.cmpi eq, %t, %c0 : index
    %row = memref.expand_shape %b [] output_shape [1] : !one into memref<1xf32, strided<[1], offset: ?>>
    scf.if %first {
      // expected-note @+1 {{the other access}}
      memref.store %v, %row[%c0] : memref<1xf32, strided<[1], offset: ?>>
    }
    // expected-error @+1 {{data race on global memory %arg0}}
    %x = memref.load %b[] : !one
    gpu.return
  }
}
