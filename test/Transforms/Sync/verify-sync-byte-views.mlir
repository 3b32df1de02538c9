// RUN: mlir-opt %s --verify-diagnostics --pass-pipeline='builtin.module(workgroup-verify-sync)' -o /dev/null

// A view of bytes is of bytes that its source has, wherever it begins.

#wg = #gpu.address_space<workgroup>

gpu.module @m {
  gpu.func @apart(%x: f16, %b: i8, %at: index) workgroup(%arena: memref<16384xi8, #wg>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c8192 = arith.constant 8192 : index
    %t = gpu.thread_id x
    %isFirst = arith.cmpi eq, %t, %c0 : index
    %low = memref.view %arena[%c0][] : memref<16384xi8, #wg> to memref<8192xi8, #wg>
    %high = memref.view %arena[%c8192][] : memref<16384xi8, #wg> to memref<8192xi8, #wg>
    %slot = memref.view %high[%at][] : memref<8192xi8, #wg> to memref<16x64xf16, #wg>
    memref.store %b, %low[%t] : memref<8192xi8, #wg>
    scf.if %isFirst {
      memref.store %x, %slot[%c0, %c0] : memref<16x64xf16, #wg>
    }
    gpu.return
  }

  // Of one source, it may be anywhere.
  gpu.func @same(%x: f16, %b: i8, %at: index) workgroup(%arena: memref<16384xi8, #wg>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c8192 = arith.constant 8192 : index
    %t = gpu.thread_id x
    %isFirst = arith.cmpi eq, %t, %c0 : index
    %high = memref.view %arena[%c8192][] : memref<16384xi8, #wg> to memref<8192xi8, #wg>
    %slot = memref.view %high[%at][] : memref<8192xi8, #wg> to memref<16x64xf16, #wg>
    // expected-note @+1 {{the other access}}
    memref.store %b, %high[%t] : memref<8192xi8, #wg>
    scf.if %isFirst {
      // expected-error @+1 {{data race on workgroup memory}}
      memref.store %x, %slot[%c0, %c0] : memref<16x64xf16, #wg>
    }
    gpu.return
  }
}
