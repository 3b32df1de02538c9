// What only warns has the same notes as what refuses.

// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers{refuse=false})' --verify-diagnostics -o /dev/null

gpu.module @m {
  gpu.func @k(%out: memref<?xf32> {llvm.noalias}) workgroup(%S: memref<128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %f = arith.constant 1.0 : f32
    %t = gpu.thread_id x
    %isLow = arith.cmpi ult, %t, %c64 : index
    scf.if %isLow {
      // expected-note @+1 {{the other access: 'memref.store' writes in thread (}}
      memref.store %f, %S[%t] : memref<128xf32, #gpu.address_space<workgroup>>
    } else {
      %u = arith.subi %t, %c64 : index
      // expected-warning @+1 {{cannot synchronize 'memref.store' and 'memref.load' on workgroup memory}}
      %x = memref.load %S[%u] : memref<128xf32, #gpu.address_space<workgroup>>
      memref.store %x, %out[%t] : memref<?xf32>
    }
    gpu.return
  }
}
