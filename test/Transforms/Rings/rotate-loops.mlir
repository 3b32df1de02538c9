// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-rotate-loops{fma},canonicalize,cse)' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-rotate-loops{fma},canonicalize,cse)' | diff %t.once -
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-rotate-loops)' | FileCheck %s --check-prefix=MATRIX

#wg = #gpu.address_space<workgroup>
!slots = memref<3x64xf32, #wg>
!v = vector<4xf32>

// Two products an iteration. The wait, the barrier and the loads of the first one go in
// front of the last one of the iteration before; the store stays before them.
// CHECK-LABEL: gpu.func @products
// CHECK-SAME:  %[[A:[^:]+]]: memref<3x64xf32, #gpu.address_space<workgroup>>, %[[N:[^:]+]]: index, %[[X:[^:]+]]: index, %[[OUT:[^:]+]]: memref
// CHECK:         %[[ANY:.+]] = arith.cmpi sgt, %[[N]], %c0
// CHECK-NEXT:    scf.if %[[ANY]] -> (vector<4xf32>) {
// CHECK-NEXT:      nvvm.cp.async.wait.group 1
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      %[[EARLY:.+]] = vector.load %[[A]][%c0, %[[X]]]
// CHECK-NEXT:      %[[BOUND:.+]] = arith.subi %[[N]], %c16
// CHECK-NEXT:      %[[LOOP:.+]]:4 = scf.for %[[K:.+]] = %c0 to %[[BOUND]] step %c16 iter_args(%[[ACC:[^ ]+]] = %{{[^ ]+}}, %[[SLOT:[^ ]+]] = %c0, %{{[^ ]+}} = %c0, %[[F:[^ ]+]] = %[[EARLY]])
// CHECK-NEXT:        memref.store %{{.+}}, %[[OUT]][%[[K]]]
// CHECK-NEXT:        %[[Y:.+]] = arith.addi %[[X]], %c4
// CHECK-NEXT:        %[[SECOND:.+]] = vector.load %[[A]][%[[SLOT]], %[[Y]]]
// CHECK-NEXT:        %[[ONE:.+]] = vector.fma %[[F]], %[[F]], %[[ACC]]
// CHECK:             %[[NEXT:.+]] = arith.select
// CHECK:             nvvm.cp.async.wait.group 1
// CHECK-NEXT:        gpu.barrier
// CHECK-NEXT:        %[[LATER:.+]] = vector.load %[[A]][%[[NEXT]], %[[X]]]
// CHECK-NEXT:        %[[TWO:.+]] = vector.fma %[[SECOND]], %[[SECOND]], %[[ONE]]
// CHECK-NEXT:        scf.yield %[[TWO]], %[[NEXT]], %{{.+}}, %[[LATER]]
// CHECK:           memref.store %{{.+}}, %[[OUT]][%[[LOOP]]#2]
// CHECK-NOT:       gpu.barrier
// CHECK:           %[[REST:.+]] = vector.load %[[A]][%[[LOOP]]#1, %{{.+}}]
// CHECK-NEXT:      vector.fma %[[LOOP]]#3, %[[LOOP]]#3, %[[LOOP]]#0
// CHECK:           vector.fma %[[REST]], %[[REST]]
// CHECK:           scf.yield
// CHECK:         } else {
// CHECK-NEXT:      scf.yield

// Multiply-adds are left to ptxas, unless asked for.
// MATRIX-LABEL: gpu.func @products
// MATRIX:         scf.for
// MATRIX-NEXT:      nvvm.cp.async.wait.group
gpu.module @kernels {
  gpu.func @products(%a: !slots, %n: index, %x: index, %out: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %zero = arith.constant 0.0 : f32
    %zeros = arith.constant dense<0.0> : !v
    %r:2 = scf.for %k = %c0 to %n step %c16 iter_args(%acc = %zeros, %slot = %c0) -> (!v, index) {
      nvvm.cp.async.wait.group 1
      gpu.barrier
      %f = vector.load %a[%slot, %x] : !slots, !v
      memref.store %zero, %out[%k] : memref<?xf32>
      %y = arith.addi %x, %c4 : index
      %s = vector.load %a[%slot, %y] : !slots, !v
      %one = vector.fma %f, %f, %acc : !v
      %two = vector.fma %s, %s, %one : !v
      %more = arith.addi %slot, %c1 : index
      %in = arith.cmpi ult, %more, %c3 : index
      %next = arith.select %in, %more, %c0 : index
      scf.yield %two, %next : !v, index
    }
    vector.store %r#0, %out[%c0] : memref<?xf32>, !v
    gpu.return
  }

  // Products of matrices, a known number of iterations: no branch, and the last one is a constant.
  // CHECK-LABEL: gpu.func @matrices
  // CHECK-NOT:     scf.if
  // CHECK:         gpu.barrier
  // CHECK-NEXT:    %[[EARLY:.+]] = nvgpu.ldmatrix
  // CHECK-NEXT:    %[[LOOP:.+]]:2 = scf.for %{{.+}} = %c0 to %c48 step %c16 iter_args(
  // CHECK:           gpu.barrier
  // CHECK-NEXT:      nvgpu.ldmatrix
  // CHECK:           nvgpu.mma.sync
  // CHECK:         memref.store %{{.+}}, %{{.+}}[%c48]
  // CHECK-NOT:     gpu.barrier
  // CHECK:         nvgpu.mma.sync(%[[LOOP]]#1
  // MATRIX-LABEL: gpu.func @matrices
  // MATRIX:         gpu.barrier
  // MATRIX-NEXT:    nvgpu.ldmatrix
  // MATRIX:         scf.for
  gpu.func @matrices(%a: memref<16x64xf16, #wg>, %b: vector<2x2xf16>, %x: index,
                     %out: memref<64xf32>, %c: memref<2x2xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %zeros = arith.constant dense<0.0> : vector<2x2xf32>
    %r = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc = %zeros) -> vector<2x2xf32> {
      gpu.barrier
      %f = nvgpu.ldmatrix %a[%x, %k] {numTiles = 4 : i32, transpose = false}
        : memref<16x64xf16, #wg> -> vector<4x2xf16>
      memref.store %zero, %out[%k] : memref<64xf32>
      %s = nvgpu.mma.sync(%f, %b, %acc) {mmaShape = [16, 8, 16]}
        : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
      scf.yield %s : vector<2x2xf32>
    }
    vector.store %r, %c[%c0, %c0] : memref<2x2xf32>, vector<2x2xf32>
    gpu.return
  }

  // Memory that an iteration allocates, and the head writes for the rest: it is the same in all
  // iterations, else the rest would read what nobody wrote.
  // CHECK-LABEL: gpu.func @allocated
  // CHECK:         %[[T:.+]] = memref.alloc() {alignment = 16 : i64} : memref<64xf32, #gpu.address_space<workgroup>>
  // CHECK-NEXT:    vector.store %{{.+}}, %[[T]]
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    vector.load
  // CHECK-NEXT:    scf.for
  // CHECK-NOT:       memref.alloc
  // CHECK:           %[[PART:.+]] = memref.subview %[[T]]
  // CHECK-NEXT:      vector.load %[[PART]]
  // CHECK:           vector.store %{{.+}}, %[[T]]
  // CHECK-NEXT:      gpu.barrier
  // CHECK:           scf.yield
  // CHECK-NOT:     memref.alloc
  // CHECK:         %[[LAST:.+]] = memref.subview %[[T]]
  // CHECK-NEXT:    vector.load %[[LAST]]
  gpu.func @allocated(%a: memref<64xf32, #wg>, %x: index, %of: !v, %out: memref<4xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    %zeros = arith.constant dense<0.0> : !v
    %r = scf.for %k = %c0 to %c64 step %c4 iter_args(%acc = %zeros) -> !v {
      %t = memref.alloc() {alignment = 16 : i64} : memref<64xf32, #wg>
      vector.store %of, %t[%x] : memref<64xf32, #wg>, !v
      gpu.barrier
      %f = vector.load %a[%k] : memref<64xf32, #wg>, !v
      %s = vector.fma %f, %f, %acc : !v
      %part = memref.subview %t[0] [32] [1] : memref<64xf32, #wg> to memref<32xf32, strided<[1]>, #wg>
      %h = vector.load %part[%c0] : memref<32xf32, strided<[1]>, #wg>, !v
      %u = vector.fma %h, %h, %s : !v
      scf.yield %u : !v
    }
    vector.store %r, %out[%c0] : memref<4xf32>, !v
    gpu.return
  }

  // What the head alone uses stays there.
  // CHECK-LABEL: gpu.func @of_head
  // CHECK:         scf.for
  // CHECK:           %[[T:.+]] = memref.alloc()
  // CHECK-NEXT:      vector.store %{{.+}}, %[[T]]
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      vector.load %[[T]]
  // CHECK-NEXT:      vector.fma
  gpu.func @of_head(%b: !v, %x: index, %of: !v, %out: memref<4xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    %zeros = arith.constant dense<0.0> : !v
    %r = scf.for %k = %c0 to %c64 step %c4 iter_args(%acc = %zeros) -> !v {
      %t = memref.alloc() : memref<64xf32, #wg>
      vector.store %of, %t[%x] : memref<64xf32, #wg>, !v
      gpu.barrier
      %f = vector.load %t[%c0] : memref<64xf32, #wg>, !v
      %s = vector.fma %f, %b, %acc : !v
      scf.yield %s : !v
    }
    vector.store %r, %out[%c0] : memref<4xf32>, !v
    gpu.return
  }

  // What is loaded before a store, for whichever product, stays before it; so does the fence
  // before the barrier.
  // CHECK-LABEL: gpu.func @load_before_store
  // CHECK-SAME:  %[[A:[^:]+]]: memref<64xf32, #gpu.address_space<workgroup>>, %[[B:[^:]+]]: memref<64xf32, #gpu.address_space<workgroup>>
  // CHECK:         vector.load %[[B]]
  // CHECK-NEXT:    vector.store %{{.+}}, %[[B]]
  // CHECK-NEXT:    nvvm.fence.proxy
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    vector.load %[[A]]
  // CHECK-NEXT:    %[[LOOP:.+]]:3 = scf.for
  // CHECK:           vector.load %[[B]]
  // CHECK-NEXT:      vector.store %{{.+}}, %[[B]]
  // CHECK-NEXT:      nvvm.fence.proxy
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      vector.load %[[A]]
  // CHECK:           scf.yield
  // CHECK-NOT:     vector.load
  // CHECK:         %[[ONE:.+]] = vector.fma %[[LOOP]]#2, %[[LOOP]]#2, %[[LOOP]]#0
  // CHECK-NEXT:    vector.fma %[[LOOP]]#1, %[[LOOP]]#1, %[[ONE]]
  gpu.func @load_before_store(%a: memref<64xf32, #wg>, %b: memref<64xf32, #wg>, %x: index, %of: !v,
                              %out: memref<4xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    %zeros = arith.constant dense<0.0> : !v
    %r = scf.for %k = %c0 to %c64 step %c4 iter_args(%acc = %zeros) -> !v {
      %h = vector.load %b[%x] : memref<64xf32, #wg>, !v
      vector.store %of, %b[%x] : memref<64xf32, #wg>, !v
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      gpu.barrier
      %f = vector.load %a[%k] : memref<64xf32, #wg>, !v
      %s = vector.fma %f, %f, %acc : !v
      %u = vector.fma %h, %h, %s : !v
      scf.yield %u : !v
    }
    vector.store %r, %out[%c0] : memref<4xf32>, !v
    gpu.return
  }
}
