// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-print-accesses)' --verify-diagnostics=only-expected -o /dev/null

// Whose memory it is: the host's, the kernel's, the caller's; and what callees can
// find of it.

func.func @host(%a: memref<64xf32>, %b: memref<64xf32> {llvm.noalias}, %d: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %x = memref.alloc() : memref<64xf32>
  %y = memref.alloc() : memref<64xf32>
  %half = memref.subview %x[32] [32] [1] : memref<64xf32> to memref<32xf32, strided<[1], offset: 32>>
  // expected-remark @+1 {{%arg0 and %arg2 may overlap}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%i, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1)
             workgroup(%s : memref<64xf32, 3>) private(%p : memref<4xf32, 5>) {
    // expected-remark @+1 {{thread reads global memory of %alloc at 4*%arg6 + 128, 4 long; 0 <= %arg6 < 32}}
    %v = memref.load %half[%i] : memref<32xf32, strided<[1], offset: 32>>
    // expected-remark @+1 {{thread writes global memory of %alloc_0 at 4*%arg6, 4 long; 0 <= %arg6 < 64}}
    memref.store %v, %y[%i] : memref<64xf32>
    // expected-remark @+1 {{thread writes global memory of %arg0 at 4*%arg6, 4 long; 0 <= %arg6 < 64}}
    memref.store %v, %a[%i] : memref<64xf32>
    // expected-remark @+1 {{thread writes global memory of %arg1 at 4*%arg6, 4 long; 0 <= %arg6 < 64}}
    memref.store %v, %b[%i] : memref<64xf32>
    // expected-remark @+1 {{thread writes global memory of %arg2 at 4*%arg6, 4 long; 0 <= %arg6 < 64}}
    memref.store %v, %d[%i] : memref<64xf32>
    // expected-remark @+1 {{thread writes workgroup memory of %arg15 at 4*%arg6, 4 long; 0 <= %arg6 < 64}}
    memref.store %v, %s[%i] : memref<64xf32, 3>
    memref.store %v, %p[%c1] : memref<4xf32, 5>
    %own = memref.alloc() : memref<64xf32, 3>
    // expected-remark @+1 {{thread writes workgroup memory of %alloc_1 at 4*%arg6, 4 long; 0 <= %arg6 < 64}}
    memref.store %v, %own[%i] : memref<64xf32, 3>
    gpu.terminator
  }
  return
}

// -----

// Buffers that the host exchanges between launches, and one that it got from
// somewhere.
func.func @host_loop(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %x = memref.alloc() : memref<64xf32>
  %y = memref.alloc() : memref<64xf32>
  %z = call @make() : () -> memref<64xf32>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (memref<64xf32>, memref<64xf32>) {
    // expected-remark @+2 {{%0 and %alloc may overlap}}
    // expected-remark @+1 {{%0 and %alloc_0 may overlap}}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
               threads(%i, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
      // expected-remark @+1 {{thread reads global memory of %alloc or %alloc_0 at 4*%arg7, 4 long; 0 <= %arg7 < 64}}
      %v = memref.load %a[%i] : memref<64xf32>
      // expected-remark @+1 {{thread writes global memory of %0 at 4*%arg7, 4 long; 0 <= %arg7 < 64}}
      memref.store %v, %z[%i] : memref<64xf32>
      gpu.terminator
    }
    scf.yield %b, %a : memref<64xf32>, memref<64xf32>
  }
  return
}
func.func private @make() -> memref<64xf32>

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    memref.global "private" @g : memref<64xf32, 3> = uninitialized
    func.func private @callee(memref<64xf32, 3>)
    // expected-remark @+1 {{%arg0 and globals of callees may overlap}}
    gpu.func @calls(%a: memref<64xf32>) workgroup(%s: memref<64xf32, 3>, %t: memref<64xf32, 3>) kernel {
      %i = gpu.thread_id x
      // expected-remark @+1 {{thread reads workgroup memory of %arg1 at 4*%thread_id_x, 4 long; 0 <= %thread_id_x < 64}}
      %v = memref.load %s[%i] : memref<64xf32, 3>
      // expected-remark @+1 {{thread writes workgroup memory of %arg2 at 4*%thread_id_x, 4 long; 0 <= %thread_id_x < 64}}
      memref.store %v, %t[%i] : memref<64xf32, 3>
      %g = memref.get_global @g : memref<64xf32, 3>
      // expected-remark @+1 {{thread writes workgroup memory of @g at 4*%thread_id_x, 4 long; 0 <= %thread_id_x < 64}}
      memref.store %v, %g[%i] : memref<64xf32, 3>
      // expected-remark @+1 {{thread writes global memory of %arg0 at 4*%thread_id_x, 4 long; 0 <= %thread_id_x < 64}}
      memref.store %v, %a[%i] : memref<64xf32>
      // expected-remark @+2 {{thread reads any memory of %arg1 or @g or globals of callees somewhere}}
      // expected-remark @+1 {{thread writes any memory of %arg1 or @g or globals of callees somewhere}}
      func.call @callee(%s) : (memref<64xf32, 3>) -> ()
      gpu.return
    }
  }
}
