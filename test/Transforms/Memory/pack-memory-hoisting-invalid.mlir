// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory,workgroup-hoist-allocs{insert-barriers=true})' --split-input-file --verify-diagnostics

// What hoisting refuses it still refuses after packing, which leaves such an
// allocation alone although the attributions beside it share.

// The buffers of two iterations are in use together.
gpu.module @kernels {
  gpu.func @carried(%n: index, %i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    memref.store %v, %a[%i] : memref<64xf32, 3>
    %first = memref.alloc() : memref<8xf32, 3>
    %last = scf.for %j = %c0 to %n step %c1 iter_args(%previous = %first) -> memref<8xf32, 3> {
      // expected-error @+1 {{'memref.alloc' op in workgroup memory is live across iterations of an enclosing loop and cannot share one buffer}}
      %next = memref.alloc() : memref<8xf32, 3>
      %value = memref.load %previous[%c0] : memref<8xf32, 3>
      memref.store %value, %next[%c0] : memref<8xf32, 3>
      // expected-note @+1 {{carried here}}
      scf.yield %next : memref<8xf32, 3>
    }
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }
}

// -----

// So they are by way of another loop's values, or of blocks.
gpu.module @kernels {
  gpu.func @carried_by_while(%i: index, %v: f32, %c: i1)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    %first = memref.alloc() : memref<8xf32, 3>
    %last = scf.while (%previous = %first) : (memref<8xf32, 3>) -> memref<8xf32, 3> {
      memref.store %v, %previous[%i] : memref<8xf32, 3>
      scf.condition(%c) %previous : memref<8xf32, 3>
    } do {
    ^body(%previous: memref<8xf32, 3>):
      // expected-error @+1 {{is live across iterations of an enclosing loop}}
      %next = memref.alloc() : memref<8xf32, 3>
      memref.store %v, %next[%i] : memref<8xf32, 3>
      // expected-note @+1 {{carried here}}
      scf.yield %next : memref<8xf32, 3>
    }
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @carried_by_branch(%i: index, %v: f32, %c: i1)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    %first = memref.alloc() : memref<8xf32, 3>
    cf.br ^loop(%first : memref<8xf32, 3>)
  ^loop(%previous: memref<8xf32, 3>):
    // expected-error @+1 {{is live across iterations of an enclosing loop}}
    %next = memref.alloc() : memref<8xf32, 3>
    memref.store %v, %previous[%i] : memref<8xf32, 3>
    memref.store %v, %next[%i] : memref<8xf32, 3>
    // expected-note @+1 {{carried here}}
    cf.cond_br %c, ^loop(%next : memref<8xf32, 3>), ^out
  ^out:
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }
}

// -----

// Each activation of the function would need its own.
gpu.module @kernels {
  func.func @recursive(%i: index, %v: f32) {
    // expected-error @+1 {{'memref.alloca' op in workgroup memory is inside recursive function 'recursive'}}
    %buffer = memref.alloca() : memref<64xf32, 3>
    memref.store %v, %buffer[%i] : memref<64xf32, 3>
    func.call @recursive(%i, %v) : (index, f32) -> ()
    return
  }
  gpu.func @kernel(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    func.call @recursive(%i, %v) : (index, f32) -> ()
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }
}

// -----

// So would a caller that gets the buffer.
gpu.module @kernels {
  func.func @returned() -> memref<64xf32, 3> {
    // expected-error @+1 {{'memref.alloc' op in workgroup memory leaves its function, whose calls cannot share one buffer}}
    %buffer = memref.alloc() : memref<64xf32, 3>
    // expected-note @+1 {{carried here; allocate the buffer in the caller and pass it on}}
    return %buffer : memref<64xf32, 3>
  }
  gpu.func @kernel(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    %0 = func.call @returned() : () -> memref<64xf32, 3>
    memref.store %v, %0[%i] : memref<64xf32, 3>
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }
}

// -----

// Threads are in different iterations: no barrier can keep these apart.
gpu.module @kernels {
  gpu.func @divergent_loop(%i: index, %v: f32, %n: index)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // expected-note @+1 {{because this value may differ between them}}
    %thread = gpu.thread_id x
    memref.store %v, %a[%i] : memref<64xf32, 3>
    scf.for %k = %c0 to %n step %c1 {
      // expected-note @+1 {{threads of one block part here}}
      scf.for %j = %c0 to %thread step %c1 {
        // expected-error @+1 {{cannot synchronize the uses of this workgroup buffer in consecutive iterations}}
        %buffer = memref.alloc() : memref<64xf32, 3>
        memref.store %v, %buffer[%thread] : memref<64xf32, 3>
        // expected-note @+1 {{'memref.load' of one thread touches what another one touches by 'memref.store'}}
        %other = memref.load %buffer[%j] : memref<64xf32, 3>
        memref.store %other, %a[%thread] : memref<64xf32, 3>
      }
    }
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }
}
