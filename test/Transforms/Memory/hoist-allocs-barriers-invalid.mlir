// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-hoist-allocs{insert-barriers=true})' --split-input-file --verify-diagnostics

// Not all threads run each iteration: a barrier there would wait for the others forever.
gpu.module @kernels {
  gpu.func @divergent_loop(%a: memref<64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // expected-note @+1 {{because this value may differ between them}}
    %x = gpu.thread_id x
    // expected-note @+1 {{threads of one block part here}}
    scf.for %i = %c0 to %x step %c1 {
      // expected-error @+1 {{'memref.alloc' op cannot synchronize the uses of this workgroup buffer in consecutive iterations: not all threads of the block get here together; allocate it outside of the divergent code and place the barriers by hand}}
      %buffer = memref.alloc() : memref<64xf32, 3>
      %value = memref.load %a[%i] : memref<64xf32>
      memref.store %value, %buffer[%x] : memref<64xf32, 3>
      // expected-note @+1 {{'memref.load' of one thread touches what another one touches by 'memref.store'}}
      %other = memref.load %buffer[%i] : memref<64xf32, 3>
      memref.store %other, %a[%i] : memref<64xf32>
    }
    gpu.return
  }
}

// -----

// Who touches what is not known.
gpu.module @kernels {
  gpu.func @unknown(%a: memref<64xindex>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // expected-note @+1 {{because this value may differ between them}}
    %x = gpu.thread_id x
    // expected-note @+1 {{threads of one block part here}}
    scf.for %i = %c0 to %x step %c1 {
      // expected-error @+1 {{cannot synchronize the uses of this workgroup buffer}}
      %buffer = memref.alloc() : memref<64xindex, 3>
      %j = memref.load %a[%i] : memref<64xindex>
      // expected-note @+1 {{'memref.store' of one thread touches what another one touches by 'memref.store', as far as is known: }}
      memref.store %i, %buffer[%j] : memref<64xindex, 3>
      memref.store %j, %a[%x] : memref<64xindex>
    }
    gpu.return
  }
}

// -----

// A function that is called in divergent code.
gpu.module @kernels {
  func.func @helper(%i: index) -> f32 {
    // expected-error @+1 {{cannot synchronize the uses of this workgroup buffer}}
    %buffer = memref.alloca() : memref<64xf32, 3>
    %value = memref.load %buffer[%i] : memref<64xf32, 3>
    return %value : f32
  }
  gpu.func @calls(%a: memref<64xf32>, %i: index) kernel {
    %c0 = arith.constant 0 : index
    %x = gpu.thread_id x
    %first = arith.cmpi eq, %x, %c0 : index
    scf.if %first {
      // expected-note @+1 {{threads of one block part here}}
      %value = func.call @helper(%i) : (index) -> f32
      memref.store %value, %a[%i] : memref<64xf32>
    }
    gpu.return
  }
}

// -----

// A function whose callers are not seen: the note has no place to point at.
gpu.module @kernels {
  func.func @not_called(%i: index) -> f32 {
    // expected-error @+2 {{cannot synchronize the uses of this workgroup buffer}}
    // expected-note @+1 {{it stands in a function that is not known to be called by all threads of a block together}}
    %buffer = memref.alloca() : memref<64xf32, 3>
    %value = memref.load %buffer[%i] : memref<64xf32, 3>
    return %value : f32
  }
}
