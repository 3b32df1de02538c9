// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory)' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-pack-memory)' -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(gpu-kernel-outlining,workgroup-hoist-allocs,workgroup-lower-dynamic-memory,workgroup-verify-kernels)' -o /dev/null

// Dynamic memory before outlining.

// CHECK-LABEL: func.func @arena(
// CHECK:         %[[BYTES:.+]] = arith.constant 65536 : i32
// CHECK:         gpu.launch {{.*}} dynamic_shared_memory_size %[[BYTES]] {
// CHECK:           %[[WINDOW:.+]] = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
// CHECK:           memref.view %[[WINDOW]][%{{.+}}][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<8192xf32, #gpu.address_space<workgroup>>
// CHECK:           memref.view %[[WINDOW]][%{{.+}}][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<8192xf32, #gpu.address_space<workgroup>>
func.func @arena(%v: f32) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1)
             workgroup(%a : memref<8192xf32, 3>, %b : memref<8192xf32, 3>) {
    memref.store %v, %a[%tx] : memref<8192xf32, 3>
    memref.store %v, %b[%tx] : memref<8192xf32, 3>
    memref.store %v, %a[%tx] : memref<8192xf32, 3>
    gpu.terminator
  }
  return
}

// The program's own, of a size that only the host knows, moves behind the arena.
// CHECK-LABEL: func.func @shifted(
// CHECK-SAME:    %[[ASKED:[a-z0-9]+]]: i32
// CHECK:         %[[C65536:.+]] = arith.constant 65536 : i32
// CHECK:         %[[BYTES:.+]] = arith.addi %[[ASKED]], %[[C65536]] : i32
// CHECK:         gpu.launch {{.*}} dynamic_shared_memory_size %[[BYTES]] {
// CHECK:           %[[SIZE:.+]] = arith.subi %{{.+}}, %[[SHIFT:.+]] : index
// CHECK:           %[[REST:.+]] = memref.view %{{.+}}[%[[SHIFT]]][%[[SIZE]]]
// CHECK:           memref.store %{{.+}}, %[[REST]]
// CHECK:           memref.view %{{.+}}[%{{.+}}][] : {{.+}} to memref<65536xi8, #gpu.address_space<workgroup>>
func.func @shifted(%asked: i32, %v: i8) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1)
             dynamic_shared_memory_size %asked {
    %window = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    memref.store %v, %window[%tx] : memref<?xi8, #gpu.address_space<workgroup>>
    %a = memref.alloc() : memref<65536xi8, 3>
    memref.store %v, %a[%tx] : memref<65536xi8, 3>
    gpu.terminator
  }
  return
}

// Sizes that come from around the launch, or are those of its block.
// CHECK-LABEL: func.func @runtime(
// CHECK-SAME:    %[[ASKED:[a-z0-9]+]]: i32, %[[N:[a-z0-9]+]]: index
// CHECK:         arith.muli %{{.+}}, %[[N]]
// CHECK:         %[[BYTES:.+]] = arith.maxui %[[ASKED]], %{{.+}} : i32
// CHECK:         gpu.launch {{.*}} dynamic_shared_memory_size %[[BYTES]] {
// CHECK:           %[[WINDOW:.+]] = gpu.dynamic_shared_memory
// CHECK:           memref.view %[[WINDOW]][%{{.+}}][%{{.+}}] : {{.+}} to memref<?xf32, #gpu.address_space<workgroup>>
// CHECK:           memref.view %[[WINDOW]][%{{.+}}][%[[N]]] : {{.+}} to memref<?xf16, #gpu.address_space<workgroup>>
// CHECK-NOT:       memref.alloc
// CHECK-NOT:       memref.dealloc
// CHECK:           gpu.terminator
func.func @runtime(%asked: i32, %n: index, %v: f32, %w: f16) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %n, %sy = %c1, %sz = %c1)
             dynamic_shared_memory_size %asked {
    %twice = arith.addi %sx, %sx : index
    %a = memref.alloc(%twice) : memref<?xf32, 3>
    memref.store %v, %a[%tx] : memref<?xf32, 3>
    memref.dealloc %a : memref<?xf32, 3>
    %b = memref.alloc(%n) {alignment = 256 : i64} : memref<?xf16, 3>
    memref.store %w, %b[%tx] : memref<?xf16, 3>
    gpu.terminator
  }
  return
}
