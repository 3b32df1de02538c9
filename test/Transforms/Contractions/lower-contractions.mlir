// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-contractions{assume-alignment=16 tensor-cores=false},canonicalize,cse)' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-lower-contractions{assume-alignment=16 tensor-cores=false})' | diff %t.once -
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-rings,workgroup-lower-contractions)' | FileCheck %s --check-prefix=RING

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>
#id = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>

// 16 threads, 8x8 elements each: a row of A at a time by 4 steps of the sum, a
// row of B by columns. 64 multiply-adds of 4 elements for 4 steps of 16 loads.
// What follows is computed of registers; the bias is loaded once.
// CHECK-LABEL: gpu.func @plain
// CHECK-NOT:     memref.alloca
// CHECK:         %[[SUMS:.+]]:16 = scf.for
// CHECK-COUNT-8:   vector.load %{{.+}} {alignment = 16 : i64} : memref<32x4xf32, #gpu.address_space<workgroup>>, vector<4xf32>
// CHECK-COUNT-2:   vector.load %{{.+}} {alignment = 16 : i64} : memref<4x32xf32, #gpu.address_space<workgroup>>, vector<4xf32>
// CHECK-COUNT-16:  vector.fma
// CHECK-COUNT-2:   vector.load %{{.+}} : memref<4x32xf32, #gpu.address_space<workgroup>>, vector<4xf32>
// CHECK-COUNT-16:  vector.fma
// CHECK-COUNT-2:   vector.load
// CHECK-COUNT-16:  vector.fma
// CHECK-COUNT-2:   vector.load
// CHECK-COUNT-16:  vector.fma
// CHECK-NOT:       vector.fma
// CHECK-NOT:       linalg
// CHECK:           scf.yield
// CHECK:         %[[BIAS:.+]] = vector.load %{{.+}} : memref<32xf32>, vector<4xf32>
// CHECK-NEXT:    %[[SUM:.+]] = arith.addf %[[SUMS]]#0, %[[BIAS]] : vector<4xf32>
// CHECK-NEXT:    vector.store %[[SUM]], %{{.+}} {alignment = 16 : i64}
// CHECK-NEXT:    %[[NEXT:.+]] = vector.load %{{.+}} : memref<32xf32>, vector<4xf32>
// CHECK:         vector.store
// CHECK-NOT:     vector.load
// CHECK-COUNT-14: vector.store
// CHECK-NOT:     gpu.barrier
// CHECK:         gpu.return
//
// Slots of a ring are tiles, too.
// RING-LABEL:  gpu.func @plain
// RING:          %[[FULL:.+]]:2 = workgroup.get
// RING:          vector.load %[[FULL]]#0{{.+}} {alignment = 16 : i64}
// RING-NOT:      linalg
// RING:          workgroup.release
gpu.module @plain {
  gpu.func @plain(%a: memref<32x64xf32>, %b: memref<64x32xf32>, %v: memref<32xf32>, %c: memref<32x32xf32> {llvm.noalias})
      kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<32x4xf32, #wg>
    %y = memref.alloc() : memref<4x32xf32, #wg>
    %sum = memref.alloca() : memref<32x32xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<32x32xf32, #own>)
    scf.for %k = %c0 to %c64 step %c4 {
      %from_a = memref.subview %a[0, %k] [32, 4] [1, 1] : memref<32x64xf32> to memref<32x4xf32, strided<[64, 1], offset: ?>>
      %from_b = memref.subview %b[%k, 0] [4, 32] [1, 1] : memref<64x32xf32> to memref<4x32xf32, strided<[32, 1], offset: ?>>
      memref.copy %from_a, %x : memref<32x4xf32, strided<[64, 1], offset: ?>> to memref<32x4xf32, #wg>
      memref.copy %from_b, %y : memref<4x32xf32, strided<[32, 1], offset: ?>> to memref<4x32xf32, #wg>
      linalg.matmul ins(%x, %y : memref<32x4xf32, #wg>, memref<4x32xf32, #wg>) outs(%sum : memref<32x32xf32, #own>)
    }
    linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %v : memref<32x32xf32, #own>, memref<32xf32>) outs(%c : memref<32x32xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %0 = arith.addf %p, %q : f32
      linalg.yield %0 : f32
    }
    gpu.return
  }
}

// 4x2 elements for each of 32 threads. The others of the block, whose numbers go
// round, compute what nobody stores. Without steps there is no loop.
// CHECK-LABEL: func @surplus
// CHECK:         gpu.launch
// CHECK:           %[[ID:.+]] = gpu.thread_id x
// CHECK:           arith.remui %[[ID]], %{{.+}}
// CHECK-COUNT-3:   vector.load %{{.+}} : memref<16x16xf64, #gpu.address_space<workgroup>>, vector<2xf64>
// CHECK-COUNT-4:   vector.fma %{{.+}} : vector<2xf64>
// CHECK-NOT:       scf.for
// CHECK:           %[[HAS:.+]] = arith.cmpi ult, %[[ID]], %{{.+}}
// CHECK:           scf.if %[[HAS]] {
// CHECK-COUNT-4:     vector.store %{{.+}} : memref<16x16xf64>, vector<2xf64>
// CHECK-NOT:         vector.store
// CHECK:           }
func.func @surplus(%c: memref<16x16xf64>) {
  %c1 = arith.constant 1 : index
  %c48 = arith.constant 48 : index
  %zero = arith.constant 0.0 : f64
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%nx = %c48, %ny = %c1, %nz = %c1) {
    %x = memref.alloc() : memref<16x16xf64, #wg>
    %y = memref.alloc() : memref<16x16xf64, #wg>
    %sum = memref.alloca() : memref<16x16xf64, #own>
    linalg.fill ins(%zero : f64) outs(%sum : memref<16x16xf64, #own>)
    linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                    iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<16x16xf64, #wg>, memref<16x16xf64, #wg>) outs(%sum : memref<16x16xf64, #own>) {
    ^bb0(%p: f64, %q: f64, %o: f64):
      %0 = arith.mulf %p, %q : f64
      %1 = arith.addf %o, %0 : f64
      linalg.yield %1 : f64
    }
    memref.copy %sum, %c : memref<16x16xf64, #own> to memref<16x16xf64>
    gpu.terminator
  }
  return
}

// Starts from what is there and is ragged: zeros where there is nothing. Both
// operands have the steps of the sum contiguous, and are converted once.
// CHECK-LABEL: func @ragged
// CHECK:         %[[WHOLE:.+]]:{{[0-9]+}} = scf.if
// CHECK:           vector.load
// CHECK:         } else {
// CHECK:           vector.maskedload
// CHECK:         vector.load %{{.+}} : memref<16x16xi8, #gpu.address_space<workgroup>>, vector<16xi8>
// CHECK:         arith.extsi %{{.+}} : i8 to i32
// CHECK:         arith.extsi %{{.+}} : vector<4xi8> to vector<4xi32>
// CHECK:         arith.muli %{{.+}} : vector<4xi32>
// CHECK:         arith.addi %{{.+}} : vector<4xi32>
// CHECK:         scf.if
// CHECK:           scf.for
// CHECK:             scf.if
// CHECK:               memref.store
func.func @ragged(%c: memref<?x?xi32>, %m: index, %n: index) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%nx = %c32, %ny = %c1, %nz = %c1) {
    %x = memref.alloc() : memref<16x16xi8, #wg>
    %y = memref.alloc() : memref<16x16xi8, #wg>
    %sum = memref.alloca() : memref<16x16xi32, #own>
    %part = memref.subview %sum[0, 0] [%m, %n] [1, 1] : memref<16x16xi32, #own> to memref<?x?xi32, strided<[16, 1]>, #own>
    %there = memref.subview %c[0, 0] [%m, %n] [1, 1] : memref<?x?xi32> to memref<?x?xi32, strided<[?, 1]>>
    memref.copy %there, %part : memref<?x?xi32, strided<[?, 1]>> to memref<?x?xi32, strided<[16, 1]>, #own>
    linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
                    iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<16x16xi8, #wg>, memref<16x16xi8, #wg>) outs(%sum : memref<16x16xi32, #own>) {
    ^bb0(%p: i8, %q: i8, %o: i32):
      %0 = arith.extsi %p : i8 to i32
      %1 = arith.extsi %q : i8 to i32
      %2 = arith.muli %0, %1 : i32
      %3 = arith.addi %o, %2 : i32
      linalg.yield %3 : i32
    }
    memref.copy %part, %there : memref<?x?xi32, strided<[16, 1]>, #own> to memref<?x?xi32, strided<[?, 1]>>
    gpu.terminator
  }
  return
}

// Two sums in one loop.
// CHECK-LABEL: func @two
// CHECK:         scf.for
// CHECK-SAME:      vector<{{.+}}xf32>, vector<
// CHECK-NOT:     linalg
// CHECK:         return
func.func @two(%c: memref<16x16xf32>, %d: memref<16x16xf32>, %iterations: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%nx = %c32, %ny = %c1, %nz = %c1) {
    %x = memref.alloc() : memref<16x16xf32, #wg>
    %y = memref.alloc() : memref<16x16xf32, #wg>
    %s = memref.alloca() : memref<16x16xf32, #own>
    %t = memref.alloca() : memref<16x16xf32, #own>
    linalg.fill ins(%zero : f32) outs(%s : memref<16x16xf32, #own>)
    linalg.fill ins(%zero : f32) outs(%t : memref<16x16xf32, #own>)
    scf.for %k = %c0 to %iterations step %c1 {
      linalg.matmul ins(%x, %y : memref<16x16xf32, #wg>, memref<16x16xf32, #wg>) outs(%s : memref<16x16xf32, #own>)
      linalg.matmul ins(%y, %x : memref<16x16xf32, #wg>, memref<16x16xf32, #wg>) outs(%t : memref<16x16xf32, #own>)
    }
    memref.copy %s, %c : memref<16x16xf32, #own> to memref<16x16xf32>
    memref.copy %t, %d : memref<16x16xf32, #own> to memref<16x16xf32>
    gpu.terminator
  }
  return
}
