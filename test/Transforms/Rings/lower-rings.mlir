// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-rings{assume-alignment=16},canonicalize,cse)' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-lower-rings{assume-alignment=16},canonicalize,cse)' | diff %t.once -
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-rings{assume-alignment=16 engine=registers},canonicalize,cse)' | FileCheck %s --check-prefix=REGS
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-rings{assume-alignment=16 chip=sm_75},canonicalize,cse)' | FileCheck %s --check-prefix=REGS

!tile = memref<8x16xf32, #gpu.address_space<workgroup>>
!ring = !workgroup.ring<3 slots of !tile>
!source = memref<8x16xf32, strided<[4096, 1], offset: ?>>

// Three slots, two iterations ahead. The slot read and the slot written are carried,
// by the loop around as well, from the kernel's entry on.
// CHECK-LABEL: gpu.func @ahead
// CHECK:         %[[SLOTS:.+]] = memref.alloc() {alignment = 16 : i64} : memref<1536xi8, #gpu.address_space<workgroup>>
// CHECK:         scf.for {{.+}} iter_args(%[[FIRST:.+]] = %c0) -> (index) {
// CHECK-NOT:       gpu.barrier
// CHECK:           scf.if
// CHECK:             arith.muli %[[FIRST]], %c512
// CHECK:             nvgpu.device_async_copy {{.+}}, 4 {bypassL1}
// CHECK:           nvvm.cp.async.commit.group
// CHECK:           scf.if
// CHECK:             nvgpu.device_async_copy {{.+}}, 4 {bypassL1}
// CHECK:           nvvm.cp.async.commit.group
// CHECK:           %[[LAST:.+]]:2 = scf.for %[[K:.+]] = %c0 to %[[N:.+]] step %c16 iter_args(%[[WRITTEN:.+]] = %{{.+}}, %[[READ:.+]] = %[[FIRST]])
// CHECK-NEXT:        nvvm.cp.async.wait.group 1
// CHECK-NEXT:        gpu.barrier
// CHECK-NEXT:        %[[FROM:.+]] = arith.muli %[[READ]], %c512
// CHECK-NEXT:        %[[FULL:.+]] = memref.view %[[SLOTS]][%[[FROM]]]
// CHECK-NEXT:        %[[LEFT:.+]] = arith.subi %[[N]], %[[K]]
// CHECK-NEXT:        %[[LIVE:.+]] = arith.cmpi ugt, %[[LEFT]], %c32
// CHECK-NEXT:        %[[LATER:.+]] = arith.addi %[[K]], %c32
// CHECK-NEXT:        scf.if %[[LIVE]] {
// CHECK:               %[[SOURCE:.+]] = memref.subview %{{.+}}[0, %[[LATER]]]
// CHECK:               %[[TO:.+]] = arith.muli %[[WRITTEN]], %c512
// CHECK:               %[[EMPTY:.+]] = memref.view %[[SLOTS]][%[[TO]]]
// CHECK:               nvgpu.device_async_copy %[[SOURCE]]{{.+}}, %[[EMPTY]]
// CHECK:             nvvm.cp.async.commit.group
// CHECK-NEXT:        memref.load %[[FULL]]
// CHECK-NOT:         gpu.barrier
// CHECK:             arith.select
// CHECK:             arith.select
// CHECK-NEXT:        scf.yield
// CHECK:           scf.yield %[[LAST]]#1
// CHECK:         nvvm.cp.async.wait.group 0
// CHECK-NOT:     workgroup.

// Through registers, and on chips without cp.async: two slots, one iteration ahead;
// loaded before the readers, stored after them.
// REGS-LABEL: gpu.func @ahead
// REGS:         memref.alloc() {alignment = 16 : i64} : memref<1024xi8, #gpu.address_space<workgroup>>
// REGS:         scf.for
// REGS:           vector.load
// REGS-NEXT:      vector.store
// REGS:           scf.for
// REGS-NEXT:        gpu.barrier
// REGS:             %[[STAGED:.+]] = scf.if
// REGS-NEXT:          vector.load
// REGS:             memref.load
// REGS-NEXT:        memref.store
// REGS-NEXT:        scf.if
// REGS-NEXT:          vector.store %[[STAGED]]
// REGS-NOT:     cp.async
gpu.module @ahead {
  gpu.func @ahead(%a: memref<8x4096xf32>, %n: index, %b: memref<64xf32> {llvm.noalias}) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c16 = arith.constant 16 : index
    %x = gpu.thread_id x
    %ring = workgroup.ring : !ring
    scf.for %o = %c0 to %c3 step %c1 {
      scf.for %k = %c0 to %n step %c16 {
        %source = memref.subview %a[0, %k] [8, 16] [1, 1] : memref<8x4096xf32> to !source
        %empty = workgroup.put %ring : !ring -> !tile
        workgroup.copy %source to %empty : !source to !tile
        workgroup.commit %ring : !ring
        %full = workgroup.get %ring : !ring -> !tile
        %value = memref.load %full[%c0, %x] : !tile
        memref.store %value, %b[%x] : memref<64xf32>
        workgroup.release %ring : !ring
      }
    }
    gpu.return
  }
}

// What threads wrote before is copied: the block copies after a barrier. The
// iterations are constant, so the first copies are unconditional.
// CHECK-LABEL: gpu.func @written_before
// CHECK:         memref.store
// CHECK-NEXT:    gpu.barrier
// CHECK-NOT:     scf.if
// CHECK:         nvgpu.device_async_copy
// CHECK:         scf.for
gpu.module @written_before {
  gpu.func @written_before(%a: memref<8x4096xf32> {llvm.noalias}, %f: f32, %b: memref<64xf32> {llvm.noalias}) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c128 = arith.constant 128 : index
    %x = gpu.thread_id x
    memref.store %f, %a[%c0, %x] : memref<8x4096xf32>
    %ring = workgroup.ring : !ring
    scf.for %k = %c0 to %c128 step %c16 {
      %source = memref.subview %a[0, %k] [8, 16] [1, 1] : memref<8x4096xf32> to !source
      %empty = workgroup.put %ring : !ring -> !tile
      workgroup.copy %source to %empty : !source to !tile
      workgroup.commit %ring : !ring
      %full = workgroup.get %ring : !ring -> !tile
      %value = memref.load %full[%c0, %x] : !tile
      memref.store %value, %b[%x] : memref<64xf32>
      workgroup.release %ring : !ring
    }
    gpu.return
  }
}

// Copies are started behind the loads of the first product, as far as these are
// followed by nothing but such.
// CHECK-LABEL: gpu.func @product
// CHECK:         scf.for {{.+}} iter_args(%[[SUM:[^ ]+]] = %{{[^,]+}},
// CHECK-NEXT:      nvvm.cp.async.wait.group 1
// CHECK-NEXT:      gpu.barrier
// CHECK:           %[[FULL:.+]] = memref.view
// CHECK-NEXT:      %[[VALUE:.+]] = memref.load %[[FULL]]
// CHECK:           scf.if
// CHECK:           nvvm.cp.async.commit.group
// CHECK-NEXT:      arith.addf %[[SUM]], %[[VALUE]]
gpu.module @product {
  gpu.func @product(%a: memref<8x4096xf32>, %b: memref<64xf32> {llvm.noalias}) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32
    %x = gpu.thread_id x
    %ring = workgroup.ring : !ring
    %sum = scf.for %k = %c0 to %c128 step %c16 iter_args(%acc = %zero) -> (f32) {
      %source = memref.subview %a[0, %k] [8, 16] [1, 1] : memref<8x4096xf32> to !source
      %empty = workgroup.put %ring : !ring -> !tile
      workgroup.copy %source to %empty : !source to !tile
      workgroup.commit %ring : !ring
      %full = workgroup.get %ring : !ring -> !tile
      %value = memref.load %full[%c0, %x] : !tile
      %next = arith.addf %acc, %value : f32
      workgroup.release %ring : !ring
      scf.yield %next : f32
    }
    memref.store %sum, %b[%x] : memref<64xf32>
    gpu.return
  }
}

// A ragged tile keeps its width: how many of four elements the source has is
// said to the copy, none for rows that it does not have.
// CHECK-LABEL: gpu.func @ragged
// CHECK:         %[[LEFT:.+]] = arith.maxsi
// CHECK:         %[[SOME:.+]] = arith.minsi %[[LEFT]], %c4
// CHECK:         %[[ROW:.+]] = arith.cmpi ult
// CHECK:         %[[COUNT:.+]] = arith.select %[[ROW]], %[[SOME]], %c0
// CHECK:         nvgpu.device_async_copy {{.+}}, 4, %[[COUNT]] {bypassL1}
// CHECK:         scf.for
// CHECK:           nvgpu.device_async_copy {{.+}}, 4, %[[COUNT]] {bypassL1}
gpu.module @ragged {
  gpu.func @ragged(%a: memref<100x4096xf32>, %h: index, %w: index, %b: memref<64xf32> {llvm.noalias}) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c128 = arith.constant 128 : index
    %x = gpu.thread_id x
    %ring = workgroup.ring : !ring
    scf.for %k = %c0 to %c128 step %c16 {
      %source = memref.subview %a[0, %k] [%h, %w] [1, 1] : memref<100x4096xf32> to memref<?x?xf32, strided<[4096, 1], offset: ?>>
      %empty = workgroup.put %ring : !ring -> !tile
      workgroup.copy %source to %empty : memref<?x?xf32, strided<[4096, 1], offset: ?>> to !tile
      workgroup.commit %ring : !ring
      %full = workgroup.get %ring : !ring -> !tile
      %value = memref.load %full[%c0, %x] : !tile
      memref.store %value, %b[%x] : memref<64xf32>
      workgroup.release %ring : !ring
    }
    gpu.return
  }
}

// In a loop that values cannot be handed through the slots start again, after a
// barrier.
// CHECK-LABEL: gpu.func @in_while
// CHECK:         scf.while
// CHECK:         } do {
// CHECK:           gpu.barrier
// CHECK:           nvgpu.device_async_copy
// CHECK:           scf.for {{.+}} iter_args(%{{.+}} = %c2, %{{.+}} = %c0)
// CHECK:           nvvm.cp.async.wait.group 0
gpu.module @in_while {
  gpu.func @in_while(%a: memref<8x4096xf32>, %n: index, %b: memref<64xf32> {llvm.noalias}) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c128 = arith.constant 128 : index
    %x = gpu.thread_id x
    %ring = workgroup.ring : !ring
    %end = scf.while (%i = %c0) : (index) -> index {
      %again = arith.cmpi ult, %i, %n : index
      scf.condition(%again) %i : index
    } do {
    ^bb0(%i: index):
      scf.for %k = %c0 to %c128 step %c16 {
        %source = memref.subview %a[0, %k] [8, 16] [1, 1] : memref<8x4096xf32> to !source
        %empty = workgroup.put %ring : !ring -> !tile
        workgroup.copy %source to %empty : !source to !tile
        workgroup.commit %ring : !ring
        %full = workgroup.get %ring : !ring -> !tile
        %value = memref.load %full[%c0, %x] : !tile
        memref.store %value, %b[%x] : memref<64xf32>
        workgroup.release %ring : !ring
      }
      %next = arith.addi %i, %c1 : index
      scf.yield %next : index
    }
    gpu.return
  }
}

// The loop may write the source: a copy and its readers between barriers.
// CHECK-LABEL: gpu.func @in_place
// CHECK:         scf.for
// CHECK:           gpu.barrier
// CHECK:           nvgpu.device_async_copy
// CHECK-NEXT:      nvvm.cp.async.commit.group
// CHECK-NEXT:      nvvm.cp.async.wait.group 0
// CHECK-NEXT:      gpu.barrier
// CHECK:           memref.load
// CHECK-NEXT:      memref.store
// CHECK-NEXT:    }
gpu.module @in_place {
  gpu.func @in_place(%a: memref<8x4096xf32>, %b: memref<64xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c128 = arith.constant 128 : index
    %x = gpu.thread_id x
    %ring = workgroup.ring : !ring
    scf.for %k = %c0 to %c128 step %c16 {
      %source = memref.subview %a[0, %k] [8, 16] [1, 1] : memref<8x4096xf32> to !source
      %empty = workgroup.put %ring : !ring -> !tile
      workgroup.copy %source to %empty : !source to !tile
      workgroup.commit %ring : !ring
      %full = workgroup.get %ring : !ring -> !tile
      %value = memref.load %full[%c0, %x] : !tile
      memref.store %value, %b[%x] : memref<64xf32>
      workgroup.release %ring : !ring
    }
    gpu.return
  }
}

// A function starts again with each call, behind a barrier: what callers have
// written is not known, nor who still reads.
// CHECK-LABEL: func.func private @in_function
// CHECK-NOT:     scf.for
// CHECK:         gpu.barrier
// CHECK:         scf.for
gpu.module @in_function {
  func.func private @in_function(%a: memref<8x4096xf32> {llvm.noalias}, %b: memref<64xf32> {llvm.noalias}) {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c128 = arith.constant 128 : index
    %x = gpu.thread_id x
    %ring = workgroup.ring : !ring
    scf.for %k = %c0 to %c128 step %c16 {
      %source = memref.subview %a[0, %k] [8, 16] [1, 1] : memref<8x4096xf32> to !source
      %empty = workgroup.put %ring : !ring -> !tile
      workgroup.copy %source to %empty : !source to !tile
      workgroup.commit %ring : !ring
      %full = workgroup.get %ring : !ring -> !tile
      %value = memref.load %full[%c0, %x] : !tile
      memref.store %value, %b[%x] : memref<64xf32>
      workgroup.release %ring : !ring
    }
    return
  }
  gpu.func @caller(%a: memref<8x4096xf32>, %b: memref<64xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    func.call @in_function(%a, %b) : (memref<8x4096xf32>, memref<64xf32>) -> ()
    gpu.return
  }
}
