// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory{reuse=auto})' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-pack-memory{reuse=auto})' -o %t.twice
// RUN: diff %t.once %t.twice

// With reuse=auto, bytes are used again where that costs no barrier, or where they are needed.

gpu.module @sm_80 {
  // A barrier stands there anyway.
  // CHECK-LABEL: gpu.func @for_nothing(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<256xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}) kernel
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.store
  // CHECK-NEXT:    gpu.return
  gpu.func @for_nothing(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    gpu.barrier
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }

  // It would cost a barrier and gain nothing: as many blocks are resident.
  // CHECK-LABEL: gpu.func @not_worth_it(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<64xf32, 3>, %{{.+}} : memref<64xf32, 3>) kernel {
  // CHECK-NEXT:    memref.store
  // CHECK-NEXT:    memref.store
  // CHECK-NEXT:    gpu.return
  gpu.func @not_worth_it(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }

  // Both in one: what stands is used, no other is put.
  // CHECK-LABEL: gpu.func @some_of_them(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<512xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}) kernel
  // CHECK:         memref.store
  // CHECK-NEXT:    memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.store
  // CHECK-NEXT:    gpu.return
  gpu.func @some_of_them(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>, %c: memref<64xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.barrier
    memref.store %v, %c[%i] : memref<64xf32, 3>
    gpu.return
  }

  // 17 KiB instead of 33: nine blocks instead of four, if they are small enough.
  // CHECK-LABEL: gpu.func @occupancy(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<16384xi8
  // CHECK:         gpu.barrier
  gpu.func @occupancy(%i: index, %v: f32)
      workgroup(%a: memref<4096xf32, 3>, %b: memref<4096xf32, 3>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    memref.store %v, %a[%i] : memref<4096xf32, 3>
    memref.store %v, %b[%i] : memref<4096xf32, 3>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @limited_by_threads(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<4096xf32, 3>, %{{.+}} : memref<4096xf32, 3>)
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @limited_by_threads(%i: index, %v: f32)
      workgroup(%a: memref<4096xf32, 3>, %b: memref<4096xf32, 3>) kernel
      attributes {known_block_size = array<i32: 1024, 1, 1>} {
    memref.store %v, %a[%i] : memref<4096xf32, 3>
    memref.store %v, %b[%i] : memref<4096xf32, 3>
    gpu.return
  }

  // 200 KiB would not run at all.
  // CHECK-LABEL: gpu.func @limit(
  // CHECK:         memref.reinterpret_cast {{.+}} to memref<102400xi8
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.store
  gpu.func @limit(%i: index, %v: f32)
      workgroup(%a: memref<25600xf32, 3>, %b: memref<25600xf32, 3>) kernel
      attributes {known_block_size = array<i32: 1024, 1, 1>} {
    memref.store %v, %a[%i] : memref<25600xf32, 3>
    memref.store %v, %b[%i] : memref<25600xf32, 3>
    gpu.return
  }

  // Blocks of one thread need no barrier: sharing is for nothing.
  // CHECK-LABEL: gpu.func @single_thread(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<256xi8
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @single_thread(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel
      attributes {known_block_size = array<i32: 1, 1, 1>} {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }
}

// The chip of the target counts: here 227 KiB fit, to the byte, and one block is
// resident either way.
gpu.module @sm_90 [#nvvm.target<chip = "sm_90">] {
  // CHECK-LABEL: gpu.func @no_limit(
  // CHECK:         memref.reinterpret_cast {{.+}} to memref<232448xi8
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @no_limit(%i: index, %v: f32)
      workgroup(%a: memref<29056xf32, 3>, %b: memref<29056xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<29056xf32, 3>
    memref.store %v, %b[%i] : memref<29056xf32, 3>
    gpu.return
  }
}
