// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-hoist-allocs)' --split-input-file --verify-diagnostics

// A size that nothing bounds; constants would do, a minimum with one would, too.
gpu.module @kernels {
  gpu.func @unbounded(%n: index, %out: memref<64xf32>, %i: index) kernel {
    // expected-error @+1 {{'memref.alloc' op in workgroup memory has a dynamic size without a constant upper bound; bound its extents, for example by affine.min with a constant, and make its strides and offset constant}}
    %buffer = memref.alloc(%n) : memref<?xf32, #gpu.address_space<workgroup>>
    %value = memref.load %buffer[%i] : memref<?xf32, #gpu.address_space<workgroup>>
    memref.store %value, %out[%i] : memref<64xf32>
    gpu.return
  }
}

// -----

// A bound from below is none; all findings are reported, in a launch as well.
func.func @several(%n: index) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %size = affine.max affine_map<(d0) -> (d0, 7)>(%n)
    // expected-error @+1 {{'memref.alloca' op in workgroup memory has a dynamic size without a constant upper bound}}
    %a = memref.alloca(%size) : memref<?x4xf32, 3>
    // expected-error @+1 {{'memref.alloc' op in workgroup memory has a dynamic size without a constant upper bound}}
    %b = memref.alloc(%n) : memref<4x?xf32, 3>
    gpu.terminator
  }
  return
}

// -----

// A stride that is not known until the kernel runs.
gpu.module @kernels {
  gpu.func @dynamic_stride(%n: index) kernel {
    // expected-error @+1 {{and make its strides and offset constant}}
    %buffer = memref.alloc()[%n] : memref<4x4xf32, strided<[?, 1]>, 3>
    gpu.return
  }
}

// -----

// A layout that has no strides at all.
gpu.module @kernels {
  gpu.func @layout() kernel {
    // expected-error @+1 {{'memref.alloc' op in workgroup memory has a layout that is not strided; normalize its layout map, or give it a strided layout}}
    %buffer = memref.alloc() : memref<8xf32, affine_map<(d0) -> (d0 mod 4)>, 3>
    gpu.return
  }
}

// -----

// Transposed, as upstream's conversion of attributions knows it neither.
gpu.module @kernels {
  gpu.func @transposed() kernel {
    // expected-error @+1 {{'memref.alloca' op in workgroup memory has a layout that is not strided}}
    %buffer = memref.alloca() : memref<8x4xf32, affine_map<(d0, d1) -> (d1, d0)>, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

// A function that calls itself would need a buffer for each activation, ...
gpu.module @kernels {
  func.func @again(%n: index, %c: i1) {
    scf.if %c {
      // expected-error @+1 {{'memref.alloc' op in workgroup memory is inside recursive function 'again'}}
      %buffer = memref.alloc() : memref<8xf32, 3>
      func.call @again(%n, %c) : (index, i1) -> ()
      memref.dealloc %buffer : memref<8xf32, 3>
    }
    return
  }
}

// -----

// ... and so would functions that call each other.
gpu.module @kernels {
  func.func @even(%n: index) -> f32 {
    // expected-error @+1 {{'memref.alloca' op in workgroup memory is inside recursive function 'even'; its activations cannot share one buffer, so allocate it in the kernel and pass it on}}
    %buffer = memref.alloca() : memref<8xf32, #gpu.address_space<workgroup>>
    %value = memref.load %buffer[%n] : memref<8xf32, #gpu.address_space<workgroup>>
    %next = func.call @odd(%n) : (index) -> f32
    %sum = arith.addf %value, %next : f32
    return %sum : f32
  }
  func.func @odd(%n: index) -> f32 {
    %value = func.call @even(%n) : (index) -> f32
    return %value : f32
  }
  gpu.func @kernel(%n: index, %out: memref<64xf32>) kernel {
    %value = func.call @even(%n) : (index) -> f32
    memref.store %value, %out[%n] : memref<64xf32>
    gpu.return
  }
}

// -----

// The last iteration's buffer lives on while the next iteration allocates: two at a time.
gpu.module @kernels {
  gpu.func @carried_by_loop(%n: index, %out: memref<64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %first = memref.alloc() : memref<8xf32, 3>
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%previous = %first) -> memref<8xf32, 3> {
      // expected-error @+1 {{'memref.alloc' op in workgroup memory is live across iterations of an enclosing loop and cannot share one buffer}}
      %next = memref.alloc() : memref<8xf32, 3>
      %value = memref.load %previous[%c0] : memref<8xf32, 3>
      memref.store %value, %next[%c0] : memref<8xf32, 3>
      // expected-note @+1 {{carried here; allocate one buffer per live activation outside of the loop}}
      scf.yield %next : memref<8xf32, 3>
    }
    gpu.return
  }
}

// -----

// So it is in a loop of blocks, and by way of a view.
gpu.module @kernels {
  gpu.func @carried_by_branch(%c: i1) kernel {
    %first = memref.alloc() : memref<8xf32, 3>
    %start = memref.cast %first : memref<8xf32, 3> to memref<?xf32, 3>
    cf.br ^body(%start : memref<?xf32, 3>)
  ^body(%previous: memref<?xf32, 3>):
    // expected-error @+1 {{is live across iterations of an enclosing loop}}
    %next = memref.alloc() : memref<8xf32, 3>
    %view = memref.cast %next : memref<8xf32, 3> to memref<?xf32, 3>
    // expected-note @+1 {{carried here}}
    cf.cond_br %c, ^body(%view : memref<?xf32, 3>), ^exit
  ^exit:
    gpu.return
  }
}

// -----

// In memory a buffer can outlive its iteration unseen.
gpu.module @kernels {
  gpu.func @stored(%table: memref<4xmemref<8xf32, 3>>) kernel {
    affine.for %i = 0 to 4 {
      // expected-error @+1 {{is live across iterations of an enclosing loop}}
      %buffer = memref.alloc() : memref<8xf32, 3>
      // expected-note @+1 {{carried here}}
      memref.store %buffer, %table[%i] : memref<4xmemref<8xf32, 3>>
    }
    gpu.return
  }
}

// -----

// A function hands its buffer to the caller, who may hold two of them. There is no
// loop to speak of.
gpu.module @kernels {
  func.func @returned() -> memref<8xf32, 3> {
    // expected-error @+1 {{'memref.alloc' op in workgroup memory leaves its function, whose calls cannot share one buffer}}
    %buffer = memref.alloc() : memref<8xf32, 3>
    // expected-note @+1 {{carried here}}
    return %buffer : memref<8xf32, 3>
  }
  gpu.func @kernel(%out: memref<64xf32>, %i: index) kernel {
    %a = func.call @returned() : () -> memref<8xf32, 3>
    %b = func.call @returned() : () -> memref<8xf32, 3>
    %x = memref.load %a[%i] : memref<8xf32, 3>
    memref.store %x, %b[%i] : memref<8xf32, 3>
    memref.store %x, %out[%i] : memref<64xf32>
    gpu.return
  }
}

// -----

// More bytes than there are numbers for.
gpu.module @kernels {
  gpu.func @huge() kernel {
    // expected-error @+1 {{'memref.alloc' op in workgroup memory has more elements, or elements before its start, than any buffer can have}}
    %buffer = memref.alloc() : memref<4611686018427387904x4xf32, 3>
    gpu.return
  }
}
