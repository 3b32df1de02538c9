// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-hoist-allocs)' --remarks-filter='workgroup.*' --remark-format=emitRemark --verify-diagnostics -o /dev/null

// What is told of a buffer: its bytes and its alignment.

gpu.module @kernels {
  // What a buffer costs, and how it is aligned.
  gpu.func @kernel(%out: memref<64xf32>, %i: index) kernel {
    // expected-remark @+1 {{[Passed] Hoisted | Category:workgroup-hoist-allocs | Function=kernel | Alignment=16, Bytes=256, Remark="workgroup buffer hoisted"}}
    %a = memref.alloc() : memref<64xf32, #gpu.address_space<workgroup>>
    // expected-remark @+1 {{Alignment=128, Bytes=2}}
    %b = memref.alloc() {alignment = 128 : i64} : memref<i16, 3>
    // Three rows of pitch 20 and one of 16 elements.
    // expected-remark @+1 {{Alignment=16, Bytes=304}}
    %c = memref.alloca() : memref<4x16xf32, strided<[20, 1]>, 3>
    // Elements of 24 bits take four bytes, those of one bit take one.
    // expected-remark @+1 {{Bytes=32}}
    %d = memref.alloca() : memref<8xi24, 3>
    // expected-remark @+1 {{Bytes=8}}
    %e = memref.alloca() : memref<8xi1, 3>
    // The upper bound counts.
    %size = affine.min affine_map<(d0) -> (d0, 7)>(%i)
    // expected-remark @+1 {{Bytes=112}}
    %f = memref.alloc(%size) : memref<?x4xf32, 3>
    // Memory of a thread is none of this pass.
    %g = memref.alloca() : memref<64xf32>
    gpu.return
  }

  func.func @helper() {
    // expected-remark @+1 {{[Passed] Hoisted | Category:workgroup-hoist-allocs | Function=helper | Alignment=16, Bytes=32}}
    %a = memref.alloca() : memref<8xf32, 3>
    return
  }
}

// In a launch the alignment is what the element has, and what asks for more waits.
func.func @launch(%out: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    // expected-remark @+1 {{[Passed] Hoisted | Category:workgroup-hoist-allocs | Function=launch | Alignment=4, Bytes=256}}
    %a = memref.alloc() : memref<64xf32, 3>
    // expected-remark @+1 {{[Missed] NotHoisted | Category:workgroup-hoist-allocs | Function=launch | Reason="a buffer of gpu.launch cannot carry its alignment; it can be hoisted once the kernel is outlined"}}
    %b = memref.alloc() {alignment = 16 : i64} : memref<64xf32, 3>
    // expected-remark @+1 {{Alignment=16, Bytes=256}}
    %c = memref.alloc() {alignment = 16 : i64} : memref<16xvector<4xf32>, 3>
    gpu.terminator
  }
  return
}
