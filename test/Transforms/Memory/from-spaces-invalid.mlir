// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-sink-allocs{from-spaces=1:workgroup,2:private})' --split-input-file --verify-diagnostics

// Two of them live at a time.
gpu.module @kernels {
  gpu.func @carried(%n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %first = memref.alloc() : memref<8xf32, 2>
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%previous = %first) -> memref<8xf32, 2> {
      // expected-error @+1 {{'memref.alloc' op in private memory is live across iterations of an enclosing loop and cannot share one buffer}}
      %next = memref.alloc() : memref<8xf32, 2>
      %value = memref.load %previous[%c0] : memref<8xf32, 2>
      memref.store %value, %next[%c0] : memref<8xf32, 2>
      // expected-note @+1 {{carried here; allocate one buffer per live activation outside of the loop}}
      scf.yield %next : memref<8xf32, 2>
    }
    gpu.return
  }
}

// -----

// The stack ends with the function.
gpu.module @kernels {
  func.func @returned() -> memref<8xf32, 2> {
    // expected-error @+1 {{'memref.alloc' op in private memory leaves its function, whose calls cannot share one buffer}}
    %a = memref.alloc() : memref<8xf32, 2>
    // expected-note @+1 {{carried here}}
    return %a : memref<8xf32, 2>
  }
}
