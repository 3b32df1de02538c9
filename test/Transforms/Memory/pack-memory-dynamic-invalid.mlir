// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory)' --verify-diagnostics --split-input-file

// Nothing can be added to a number of bytes that is none.
func.func @negative(%a: memref<20000xf32>) {
  %c1 = arith.constant 1 : index
  %bytes = arith.constant -16 : i32
  // expected-error @+1 {{'gpu.launch' op asks for a negative number of bytes of dynamic workgroup memory; ask for what the kernel uses}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1)
             dynamic_shared_memory_size %bytes {
    %b = memref.alloc() : memref<20000xf32, 3>
    %v = memref.load %b[%tx] : memref<20000xf32, 3>
    memref.store %v, %a[%tx] : memref<20000xf32>
    gpu.terminator
  }
  return
}
