// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-specialize-warps{chip=sm_90a assume-distinct-arguments=true})' --remarks-filter='workgroup.*' --remark-format=emitRemark --verify-diagnostics -o /dev/null

#wg = #gpu.address_space<workgroup>
!T = memref<64xf32, #wg>
!R = !workgroup.ring<2 slots of !T>
func.func @loads(%a: memref<1024xf32>, %out: memref<128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %threads = arith.constant 128 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %threads, %by = %c1, %bz = %c1) {
    // expected-remark @+1 {{[Missed] NotSpecialized | Category:workgroup-specialize-warps | Function=loads | Reason="tiles are not for products of warp groups"}}
    %ring = workgroup.ring : !R
    scf.for %i = %c0 to %c64 step %c1 {
      %s = memref.subview %a[%i] [64] [1] : memref<1024xf32> to memref<64xf32, strided<[1], offset: ?>>
      %p = workgroup.put %ring : !R -> !T
      workgroup.copy %s to %p : memref<64xf32, strided<[1], offset: ?>> to !T
      workgroup.commit %ring : !R
      %t = workgroup.get %ring : !R -> !T
      workgroup.release %ring : !R
    }
    gpu.terminator
  }
  return
}

func.func @barrier(%a: memref<1024xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %threads = arith.constant 128 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %threads, %by = %c1, %bz = %c1) {
    // expected-remark @+1 {{Reason="'gpu.barrier' of line 37 is for all threads of the block, or not known not to be"}}
    %ring = workgroup.ring : !R
    scf.for %i = %c0 to %c64 step %c1 {
      %s = memref.subview %a[%i] [64] [1] : memref<1024xf32> to memref<64xf32, strided<[1], offset: ?>>
      gpu.barrier
      %p = workgroup.put %ring : !R -> !T
      workgroup.copy %s to %p : memref<64xf32, strided<[1], offset: ?>> to !T
      workgroup.commit %ring : !R
      %t = workgroup.get %ring : !R -> !T
      workgroup.release %ring : !R
    }
    gpu.terminator
  }
  return
}

// A block of less than a warp group.
func.func @threads(%a: memref<1024xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c64, %by = %c1, %bz = %c1) {
    // expected-remark @+1 {{Reason="blocks of 64 threads are no whole warp groups, or have no room for 128 more"}}
    %ring = workgroup.ring : !R
    scf.for %i = %c0 to %c64 step %c1 {
      %s = memref.subview %a[%i] [64] [1] : memref<1024xf32> to memref<64xf32, strided<[1], offset: ?>>
      %p = workgroup.put %ring : !R -> !T
      workgroup.copy %s to %p : memref<64xf32, strided<[1], offset: ?>> to !T
      workgroup.commit %ring : !R
      %t = workgroup.get %ring : !R -> !T
      workgroup.release %ring : !R
    }
    gpu.terminator
  }
  return
}
