// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-rings{engine=cp-async chip=sm_75})' --remarks-filter='workgroup.*' --remark-format=emitRemark --verify-diagnostics -o /dev/null
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-rings{engine=tma chip=sm_90})' --remarks-filter='workgroup.*' --remark-format=emitRemark 2>&1 | FileCheck %s

// What becomes of a ring, and why not what was asked for.

// CHECK: [Missed] NotTMA | Category:workgroup-lower-rings | Function=ahead | Reason="TMA not used:
// CHECK: [Passed] LoweredRing | Category:workgroup-lower-rings | Function=ahead | Engine=cp.async, Iterations=8, IterationsAhead=2, Remark="copies of a ring run ahead of their readers", Slots=3

!tile = memref<64xf32, 3>
!ring = !workgroup.ring<3 slots of !tile>
gpu.module @kernels {
  gpu.func @ahead(%a: memref<512xf32>, %b: memref<64xf32> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %x = gpu.thread_id x
    // expected-remark @+2 {{[Missed] NotAsync | Category:workgroup-lower-rings | Function=ahead | Reason="cp.async not used: sm_75 does not have it"}}
    // expected-remark @+1 {{[Passed] LoweredRing | Category:workgroup-lower-rings | Function=ahead | Engine=registers, Iterations=8, IterationsAhead=1, Remark="copies of a ring run ahead of their readers", Slots=2}}
    %ring = workgroup.ring : !ring
    scf.for %k = %c0 to %c512 step %c64 {
      %source = memref.subview %a[%k] [64] [1] : memref<512xf32> to memref<64xf32, strided<[1], offset: ?>>
      %empty = workgroup.put %ring : !ring -> !tile
      workgroup.copy %source to %empty : memref<64xf32, strided<[1], offset: ?>> to !tile
      workgroup.commit %ring : !ring
      %full = workgroup.get %ring : !ring -> !tile
      %value = memref.load %full[%x] : !tile
      memref.store %value, %b[%x] : memref<64xf32>
      workgroup.release %ring : !ring
    }
    gpu.return
  }
  // Bytes are no copies for cp.async.
  // CHECK: [Missed] NotAsync | Category:workgroup-lower-rings | Function=narrow | Reason="cp.async not used: it copies 4, 8 or 16 bytes that are contiguous and aligned on both sides"
  // CHECK: [Passed] LoweredRing | Category:workgroup-lower-rings | Function=narrow | Engine=registers, IterationsAhead=1, Remark="copies of a ring run ahead of their readers", Slots=2
  gpu.func @narrow(%a: memref<?xi8>, %n: index, %b: memref<64xi8> {llvm.noalias}) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %x = gpu.thread_id x
    // expected-remark @+2 {{NotAsync}}
    // expected-remark @+1 {{Engine=registers}}
    %ring = workgroup.ring : !workgroup.ring<4 slots of memref<64xi8, 3>>
    scf.for %k = %c0 to %n step %c64 {
      %source = memref.subview %a[%k] [64] [1] : memref<?xi8> to memref<64xi8, strided<[1], offset: ?>>
      %empty = workgroup.put %ring : !workgroup.ring<4 slots of memref<64xi8, 3>> -> memref<64xi8, 3>
      workgroup.copy %source to %empty : memref<64xi8, strided<[1], offset: ?>> to memref<64xi8, 3>
      workgroup.commit %ring : !workgroup.ring<4 slots of memref<64xi8, 3>>
      %full = workgroup.get %ring : !workgroup.ring<4 slots of memref<64xi8, 3>> -> memref<64xi8, 3>
      %value = memref.load %full[%x] : memref<64xi8, 3>
      memref.store %value, %b[%x] : memref<64xi8>
      workgroup.release %ring : !workgroup.ring<4 slots of memref<64xi8, 3>>
    }
    gpu.return
  }
  gpu.func @written(%a: memref<512xf32>, %b: memref<64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %x = gpu.thread_id x
    // expected-remark @+1 {{[Missed] NotAhead | Category:workgroup-lower-rings | Function=written | Reason="'memref.store' of line }}
    %ring = workgroup.ring : !ring
    scf.for %k = %c0 to %c512 step %c64 {
      %source = memref.subview %a[%k] [64] [1] : memref<512xf32> to memref<64xf32, strided<[1], offset: ?>>
      %empty = workgroup.put %ring : !ring -> !tile
      workgroup.copy %source to %empty : memref<64xf32, strided<[1], offset: ?>> to !tile
      workgroup.commit %ring : !ring
      %full = workgroup.get %ring : !ring -> !tile
      %value = memref.load %full[%x] : !tile
      memref.store %value, %b[%x] : memref<64xf32>
      workgroup.release %ring : !ring
    }
    gpu.return
  }
}
