// REQUIRES: package, ptxas
// RUN: %pipeline compile %s --chip sm_90 --emit cubin -o %t.90
// RUN: %pipeline compile %s --chip sm_90a --emit cubin -o %t.90a
// RUN: %pipeline compile %s --chip sm_120 --emit cubin -o %t.120
// RUN: %pipeline compile %s --chip sm_90 | FileCheck %s
// RUN: %pipeline compile %s --chip sm_90 --remarks workgroup-pack-memory 2>&1 | FileCheck %s --check-prefix=MEMORY

// Copies by the hardware, written with upstream's operations: a tensor map is a
// parameter that no thread copies, and the instructions take its own address. The
// fence of tensor maps came with PTX 8.3.

// CHECK:       .version 8.3
// CHECK:       .visible .entry copy_kernel(
// CHECK-NEXT:  .param .align 64 .b8 copy_kernel_param_0[128],
// CHECK-NEXT:  .param .u64 .ptr
// CHECK-NEXT:  .param .align 64 .b8 copy_kernel_param_2[128]
// CHECK-NOT:   .local
// CHECK-DAG:   .shared .align 16 .b8 __mbarrier[16];
// CHECK-DAG:   mov.b64 [[IN:%rd[0-9]+]], copy_kernel_param_0;
// CHECK-DAG:   cvta.param.u64 [[IN_ADDRESS:%rd[0-9]+]], [[IN]];
// CHECK-DAG:   mov.b64 [[OUT:%rd[0-9]+]], copy_kernel_param_2;
// CHECK-DAG:   cvta.param.u64 [[OUT_ADDRESS:%rd[0-9]+]], [[OUT]];
// CHECK-DAG:   prefetch.tensormap {{.*}}[[IN_ADDRESS]]
// CHECK-DAG:   mbarrier.init.shared.b64
// CHECK-DAG:   fence.proxy.tensormap::generic.acquire.sys {{.*}}[[IN_ADDRESS]]{{.*}} 128;
// CHECK-DAG:   mbarrier.arrive.expect_tx.shared
// CHECK-DAG:   cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes {{.*}}[[IN_ADDRESS]]
// CHECK-DAG:   mbarrier.try_wait.parity.shared
// CHECK-DAG:   cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group {{.*}}[[OUT_ADDRESS]]
// CHECK:       ret;

// Two barriers of 8 bytes count against the memory of the kernel, besides the tile.
// MEMORY: workgroup memory of kernel 'copy_kernel': 8208 bytes static
// MEMORY: own 16 {{.*}} taken by a lowering

!map = !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!barriers = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 2>

func.func @copy(%in: memref<256x64xf16>, %out: memref<256x64xf16>, %seen: memref<4x64xf16>) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %from = memref.cast %in : memref<256x64xf16> to memref<*xf16>
  %to = memref.cast %out : memref<256x64xf16> to memref<*xf16>
  %load = nvgpu.tma.create.descriptor %from box[%c64, %c64] : memref<*xf16> -> !map
  %store = nvgpu.tma.create.descriptor %to box[%c64, %c64] : memref<*xf16> -> !map
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c4, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1)
      workgroup(%tile: memref<64x64xf16, #gpu.address_space<workgroup>>) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : index
    %bytes = arith.constant 8192 : index
    %ticks = arith.constant 10000000 : index
    %even = arith.constant false
    %row = affine.apply affine_map<(d0) -> (d0 * 64)>(%bx)
    %first = arith.cmpi eq, %tx, %c0 : index
    %b = nvgpu.mbarrier.create -> !barriers
    nvgpu.tma.prefetch.descriptor %load, predicate = %first : !map
    nvgpu.mbarrier.init %b[%c0], %one, predicate = %first : !barriers
    gpu.barrier
    %plain = memref.memory_space_cast %tile : memref<64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, 3>
    nvgpu.tma.fence.descriptor %load : !map
    scf.if %first {
      nvgpu.mbarrier.arrive.expect_tx %b[%c0], %bytes : !barriers
      nvgpu.tma.async.load %load[%c0, %row], %b[%c0] to %plain : !map, !barriers -> memref<64x64xf16, 3>
    }
    nvgpu.mbarrier.try_wait.parity %b[%c0], %even, %ticks : !barriers
    %v = memref.load %tile[%c0, %tx] : memref<64x64xf16, #gpu.address_space<workgroup>>
    memref.store %v, %seen[%bx, %tx] : memref<4x64xf16>
    gpu.barrier
    scf.if %first {
      nvgpu.tma.async.store %plain to %store[%c0, %row] : memref<64x64xf16, 3> -> !map
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }
    gpu.terminator
  }
  return
}
