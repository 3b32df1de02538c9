// RUN: mlir-opt %s --pass-pipeline='builtin.module(gpu.module(workgroup-legalize-for-nvvm))' --split-input-file | FileCheck %s

// Floats are compared and exchanged by their bits, in the memory that they are in.
gpu.module @atomics {
  // CHECK-LABEL: gpu.func @generic
  // CHECK-SAME:    (%[[M:.*]]: memref<4xf32, #gpu.address_space<workgroup>>)
  // CHECK:         %[[BITS:.*]] = builtin.unrealized_conversion_cast %[[M]]
  // CHECK-SAME:      memref<4xf32, #gpu.address_space<workgroup>> to memref<4xi32, #gpu.address_space<workgroup>>
  // CHECK:         memref.generic_atomic_rmw %[[BITS]][%{{.*}}]
  // CHECK-NEXT:    ^bb0(%[[OLD:.*]]: i32):
  // CHECK-NEXT:      %[[X:.*]] = arith.bitcast %[[OLD]] : i32 to f32
  // CHECK-NEXT:      %[[Y:.*]] = arith.mulf %[[X]], %[[X]] : f32
  // CHECK-NEXT:      %[[NEW:.*]] = arith.bitcast %[[Y]] : f32 to i32
  // CHECK-NEXT:      memref.atomic_yield %[[NEW]] : i32
  gpu.func @generic(%m: memref<4xf32, #gpu.address_space<workgroup>>) {
    %c0 = arith.constant 0 : index
    %0 = memref.generic_atomic_rmw %m[%c0] : memref<4xf32, #gpu.address_space<workgroup>> {
    ^bb0(%old: f32):
      %new = arith.mulf %old, %old : f32
      memref.atomic_yield %new : f32
    }
    gpu.return
  }

  // Memory has a byte for each.
  // CHECK-LABEL: gpu.func @bits
  // CHECK:         memref.generic_atomic_rmw %{{.*}} : memref<4xi8>
  // CHECK-NEXT:    ^bb0(%[[OLD:.*]]: i8):
  // CHECK-NEXT:      %[[X:.*]] = arith.trunci %[[OLD]] : i8 to i1
  // CHECK-NEXT:      %[[Y:.*]] = arith.xori %[[X]], %{{.*}} : i1
  // CHECK-NEXT:      %[[NEW:.*]] = arith.extui %[[Y]] : i1 to i8
  // CHECK-NEXT:      memref.atomic_yield %[[NEW]] : i8
  gpu.func @bits(%m: memref<4xi1>, %x: i1) kernel {
    %c0 = arith.constant 0 : index
    %0 = memref.atomic_rmw xori %x, %m[%c0] : (i1, memref<4xi1>) -> i1
    gpu.return
  }

  // What LLVM has stays.
  // CHECK-LABEL: gpu.func @known
  // CHECK:         memref.atomic_rmw addf
  // CHECK:         memref.atomic_rmw maxs
  // CHECK:         memref.generic_atomic_rmw %{{.*}} : memref<4xi32>
  gpu.func @known(%m: memref<4xbf16>, %n: memref<4xi32>, %x: bf16, %y: i32) kernel {
    %c0 = arith.constant 0 : index
    %0 = memref.atomic_rmw addf %x, %m[%c0] : (bf16, memref<4xbf16>) -> bf16
    %1 = memref.atomic_rmw maxs %y, %n[%c0] : (i32, memref<4xi32>) -> i32
    %2 = memref.atomic_rmw muli %y, %n[%c0] : (i32, memref<4xi32>) -> i32
    gpu.return
  }
}

// -----

gpu.module @prints {
  // CHECK-LABEL: gpu.func @promoted
  // CHECK-SAME:    (%[[B:.*]]: i8, %[[T:.*]]: i1, %[[H:.*]]: f16, %[[I:.*]]: i32, %[[N:.*]]: index)
  // CHECK-DAG:     %[[SIGNED:.*]] = arith.extsi %[[B]] : i8 to i32
  // CHECK-DAG:     %[[UNSIGNED:.*]] = arith.extui %[[B]] : i8 to i32
  // CHECK-DAG:     %[[TRUTH:.*]] = arith.extui %[[T]] : i1 to i32
  // CHECK-DAG:     %[[REAL:.*]] = arith.extf %[[H]] : f16 to f64
  // CHECK:         gpu.printf "%d %u %d %f %x %lld", %[[SIGNED]], %[[UNSIGNED]], %[[TRUTH]], %[[REAL]], %[[I]], %[[N]] : i32, i32, i32, f64, i32, index
  gpu.func @promoted(%b: i8, %t: i1, %h: f16, %i: i32, %n: index) kernel {
    gpu.printf "%d %u %d %f %x %lld", %b, %b, %t, %h, %i, %n : i8, i8, i1, f16, i32, index
    gpu.return
  }
}
