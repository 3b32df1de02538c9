// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-rings)' --split-input-file --verify-diagnostics

// Rings that not all threads use together, or whose tiles are not put and got in order.

!tile = memref<64xf32, 3>
!ring = !workgroup.ring<2 slots of !tile>
gpu.module @divergent {
  gpu.func @divergent(%a: memref<64xf32>) kernel {
    %c0 = arith.constant 0 : index
    // expected-note @+1 {{because this value may differ between them}}
    %x = gpu.thread_id x
    %is = arith.cmpi eq, %x, %c0 : index
    // expected-error @+1 {{'workgroup.ring' op cannot be lowered: not all threads of the block are known to use it together with the same operands}}
    %ring = workgroup.ring : !ring
    // expected-note @+1 {{threads of one block part here}}
    scf.if %is {
      // expected-note @+1 {{here}}
      %empty = workgroup.put %ring : !ring -> !tile
      workgroup.copy %a to %empty : memref<64xf32> to !tile
      workgroup.commit %ring : !ring
      %full = workgroup.get %ring : !ring -> !tile
      workgroup.release %ring : !ring
    }
    gpu.return
  }
}

// -----

!tile = memref<64xf32, 3>
!ring = !workgroup.ring<2 slots of !tile>
gpu.module @twice {
  gpu.func @twice(%a: memref<64xf32>) kernel {
    // expected-error @+1 {{'workgroup.ring' op cannot be lowered: it is not put, committed, got and released once each, in this order in one block}}
    %ring = workgroup.ring : !ring
    %first = workgroup.put %ring : !ring -> !tile
    workgroup.commit %ring : !ring
    %second = workgroup.put %ring : !ring -> !tile
    workgroup.commit %ring : !ring
    gpu.return
  }
}

// -----

!tile = memref<64xf32, 3>
!ring = !workgroup.ring<2 slots of !tile>
gpu.module @stored {
  gpu.func @stored(%f: f32) kernel {
    %x = gpu.thread_id x
    // expected-error @+1 {{'workgroup.ring' op cannot be lowered: a tile that is put is filled by one workgroup.copy or workgroup.gather before the commit}}
    %ring = workgroup.ring : !ring
    %empty = workgroup.put %ring : !ring -> !tile
    // expected-note @+1 {{here}}
    memref.store %f, %empty[%x] : !tile
    workgroup.commit %ring : !ring
    %full = workgroup.get %ring : !ring -> !tile
    workgroup.release %ring : !ring
    gpu.return
  }
}

// -----

!tile = memref<64xf32, 3>
!ring = !workgroup.ring<2 slots of !tile>
gpu.module @two_copies {
  gpu.func @two_copies(%a: memref<64xf32>, %b: memref<32xf32>) kernel {
    // expected-error @+1 {{'workgroup.ring' op cannot be lowered: a tile that is put is filled by one workgroup.copy or workgroup.gather, and used by nothing else}}
    %ring = workgroup.ring : !ring
    %empty = workgroup.put %ring : !ring -> !tile
    workgroup.copy %a to %empty : memref<64xf32> to !tile
    // expected-note @+1 {{here}}
    workgroup.copy %b to %empty : memref<32xf32> to !tile
    workgroup.commit %ring : !ring
    %full = workgroup.get %ring : !ring -> !tile
    workgroup.release %ring : !ring
    gpu.return
  }
}

// -----

!tile = memref<8x32xf16, #workgroup.tile<8x32 by 32, chunk 8, xor 1, 3, 0>, 3>
!ring = !workgroup.ring<2 slots of !tile>
gpu.module @layout {
  gpu.func @layout(%a: memref<8x32xf16>) kernel {
    // expected-error @+1 {{'workgroup.ring' op cannot be lowered: tiles have to be row-major, and sources to have strides}}
    %ring = workgroup.ring : !ring
    %empty = workgroup.put %ring : !ring -> !tile
    // expected-note @+1 {{here}}
    workgroup.copy %a to %empty : memref<8x32xf16> to !tile
    workgroup.commit %ring : !ring
    %full = workgroup.get %ring : !ring -> !tile
    workgroup.release %ring : !ring
    gpu.return
  }
}
