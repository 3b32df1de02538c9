// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-rings{slots=3 chip=sm_90a assume-distinct-arguments=true},workgroup-lower-contractions{chip=sm_90a assume-alignment=16 assume-distinct-arguments=true},workgroup-specialize-warps{chip=sm_90a assume-alignment=16 assume-distinct-arguments=true},canonicalize,cse)' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-specialize-warps{chip=sm_90a assume-alignment=16 assume-distinct-arguments=true})' | diff %t.once -
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-lower-rings{chip=sm_90a assume-alignment=16 assume-distinct-arguments=true},canonicalize,cse)' | FileCheck %s --check-prefix=RING
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-specialize-warps{producers=40})' 2>&1 | FileCheck %s --check-prefix=ERROR

// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-rings{slots=3 chip=sm_90a assume-distinct-arguments=true producers=32},workgroup-lower-contractions{chip=sm_90a assume-alignment=16 assume-distinct-arguments=true})' -o %t.asked
// RUN: mlir-opt %t.asked --pass-pipeline='builtin.module(workgroup-specialize-warps{producers=0 chip=sm_90a assume-alignment=16 assume-distinct-arguments=true})' | FileCheck %s --check-prefix=ASKED
// RUN: mlir-opt %t.asked --pass-pipeline='builtin.module(workgroup-specialize-warps{producers=64 chip=sm_90a assume-alignment=16 assume-distinct-arguments=true})' | FileCheck %s --check-prefix=TOLD
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-rings{slots=3 chip=sm_90a assume-distinct-arguments=true},workgroup-lower-contractions{chip=sm_90a assume-alignment=16 assume-distinct-arguments=true})' -o %t.mute
// RUN: mlir-opt %t.mute --pass-pipeline='builtin.module(workgroup-specialize-warps{producers=0 chip=sm_90a assume-alignment=16 assume-distinct-arguments=true})' | diff %t.mute -
// RUN: mlir-opt %t.asked --pass-pipeline='builtin.module(workgroup-memory{chip=sm_90a assume-alignment=16 assume-distinct-arguments=true})' | FileCheck %s --check-prefix=DEFAULT
// RUN: mlir-opt %t.asked --pass-pipeline='builtin.module(workgroup-memory{chip=sm_90a assume-alignment=16 assume-distinct-arguments=true specialize-warps=0})' | FileCheck %s --check-prefix=NONE

// ERROR: error: producers must be whole warps, up to 512 threads, not 40 threads

// Rings ask for threads, and the pass gives so many if it is not told how many.
// ASKED-LABEL: func @two_groups
// ASKED:         %[[SIZE:.+]] = arith.constant 288 : index
// ASKED:         gpu.launch {{.*}} threads({{.*}}) in (%{{.+}} = %[[SIZE]],
// ASKED:           workgroup.ring {producers = 32 : i64}
// ASKED:           workgroup.specialize {consumers = 256 : i64, producers = 32 : i64} consumer {
// TOLD:            workgroup.specialize {consumers = 256 : i64, producers = 64 : i64} consumer {

// The pipeline gives what is asked for, if it is not told to give none.
// DEFAULT:       gpu.func @two_groups_kernel
// DEFAULT-SAME:    known_block_size = array<i32: 288, 1, 1>
// DEFAULT:         nvvm.elect.sync
// NONE:          gpu.func @two_groups_kernel
// NONE-SAME:       known_block_size = array<i32: 256, 1, 1>
// NONE-NOT:        nvvm.elect.sync

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>

// Two groups multiply, and a third one fills the ring, in the same loop around.
// CHECK-LABEL: func @two_groups
// CHECK-DAG:     %[[THREADS:.+]] = arith.constant 384 : index
// CHECK:         gpu.launch {{.*}} threads({{.*}}) in (%{{.+}} = %[[THREADS]],
// CHECK:           %[[QUEUE:.+]] = workgroup.ring
// CHECK:           workgroup.specialize {consumers = 256 : i64, producers = 128 : i64, registers = array<i64: 232, 40>} consumer {
// CHECK-NOT:         workgroup.put
// CHECK:             scf.for %{{.+}} = %{{.+}} to %{{.+}} step %{{.+}} {
// CHECK:               scf.for
// CHECK-NOT:             workgroup.copy
// CHECK:                 workgroup.get %[[QUEUE]]
// CHECK:                 workgroup.group_product
// CHECK:                 workgroup.release %[[QUEUE]] {lag = 1 : i64}
// CHECK:               workgroup.await_products
// CHECK:               vector.store
// CHECK:           } producer {
// CHECK:             scf.for %[[M:.+]] =
// CHECK:               scf.for %[[K:.+]] =
// CHECK-DAG:             memref.subview %{{.+}}[%[[M]], %[[K]]]
// CHECK-DAG:             memref.subview %{{.+}}[%[[K]], 0]
// CHECK:                 workgroup.put %[[QUEUE]]
// CHECK:                 workgroup.copy
// CHECK:                 workgroup.copy
// CHECK:                 workgroup.commit %[[QUEUE]]
// CHECK-NOT:             workgroup.get
//
// Slots and phases go on from one outer iteration to the next, on both sides.
// RING-LABEL: func @two_groups
// RING-DAG:     %[[ALL:.+]] = arith.constant 8 : index
// RING-DAG:     %[[ONE:.+]] = arith.constant 1 : index
// RING:         %[[FULL:.+]] = nvgpu.mbarrier.create
// RING:         nvgpu.mbarrier.init %[[FULL]][%{{.+}}], %[[ONE]]
// RING:         %[[EMPTY:.+]] = nvgpu.mbarrier.create
// RING:         nvgpu.mbarrier.init %[[EMPTY]][%{{.+}}], %[[ALL]]
// RING:         gpu.barrier
// RING-NOT:     gpu.barrier
// RING:         scf.if
// RING:           nvvm.setmaxregister increase 232
// RING:           scf.for {{.*}} iter_args(%{{.+}} = %{{.+}}, %{{.+}} = %false
// RING:             scf.for
// RING:               nvgpu.mbarrier.try_wait.parity %[[FULL]]
// RING:               workgroup.group_product
// RING:               scf.if
// RING:                 nvgpu.mbarrier.arrive %[[EMPTY]]
// RING:             workgroup.await_products
// RING-NOT:           nvgpu.mbarrier.arrive
// RING:         } else {
// RING:           nvvm.setmaxregister decrease 40
// RING:           scf.if
// RING:             nvvm.elect.sync
// RING:             scf.if
// RING:               scf.for {{.*}} iter_args(%{{.+}} = %{{.+}}, %{{.+}} = %true)
// RING:                 scf.for
// RING:                   nvgpu.mbarrier.try_wait.parity %[[EMPTY]]
// RING:                   nvgpu.mbarrier.arrive.expect_tx %[[FULL]]
// RING-COUNT-5:           nvgpu.tma.async.load

func.func @two_groups(%a: memref<1024x256xf16>, %b: memref<256x256xf16>, %c: memref<1024x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %threads = arith.constant 256 : index
  %rows = arith.constant 128 : index
  %height = arith.constant 1024 : index
  %step = arith.constant 64 : index
  %end = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%bx = %threads, %by = %c1, %bz = %c1) {
    %ta = memref.alloc() : memref<128x64xf16, #wg>
    %tb = memref.alloc() : memref<64x256xf16, #wg>
    scf.for %m = %c0 to %height step %rows {
      %sum = memref.alloca() : memref<128x256xf32, #own>
      linalg.fill ins(%zero : f32) outs(%sum : memref<128x256xf32, #own>)
      scf.for %k = %c0 to %end step %step {
        %ga = memref.subview %a[%m, %k] [128, 64] [1, 1] : memref<1024x256xf16> to memref<128x64xf16, strided<[256, 1], offset: ?>>
        %gb = memref.subview %b[%k, %c0] [64, 256] [1, 1] : memref<256x256xf16> to memref<64x256xf16, strided<[256, 1], offset: ?>>
        memref.copy %ga, %ta : memref<128x64xf16, strided<[256, 1], offset: ?>> to memref<128x64xf16, #wg>
        memref.copy %gb, %tb : memref<64x256xf16, strided<[256, 1], offset: ?>> to memref<64x256xf16, #wg>
        linalg.matmul ins(%ta, %tb : memref<128x64xf16, #wg>, memref<64x256xf16, #wg>) outs(%sum : memref<128x256xf32, #own>)
      }
      %gc = memref.subview %c[%m, 0] [128, 256] [1, 1] : memref<1024x256xf32> to memref<128x256xf32, strided<[256, 1], offset: ?>>
      memref.copy %sum, %gc : memref<128x256xf32, #own> to memref<128x256xf32, strided<[256, 1], offset: ?>>
    }
    gpu.terminator
  }
  return
}
