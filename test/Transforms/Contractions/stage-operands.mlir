// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-stage-operands)' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-stage-operands)' | diff %t.once -

#id = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
#row_tile = affine_map<(d)[s] -> (-d + s, 64)>
#step = affine_map<(d)[s] -> (-d + s, 16)>

// Tiles that are whole: copies, no fillings. The result is filled as it was, and
// copied to where it was.
// CHECK-LABEL: func private @whole
// CHECK:         scf.forall
// CHECK:           %[[C:.+]] = memref.subview %{{.+}} [64, 64] [1, 1]
// CHECK:           %[[SUM:.+]] = memref.alloca() : memref<64x64xf32, #gpu.address_space<private>>
// CHECK-NEXT:      linalg.fill ins(%{{.+}} : f32) outs(%[[SUM]]
// CHECK:           %[[A:.+]] = memref.alloc() {alignment = 16 : i64} : memref<64x16xf32, #gpu.address_space<workgroup>>
// CHECK-NEXT:      %[[B:.+]] = memref.alloc() {alignment = 16 : i64} : memref<16x64xf32, #gpu.address_space<workgroup>>
// CHECK-NEXT:      scf.for
// CHECK-NOT:         linalg.fill
// CHECK:             memref.copy %{{.+}}, %[[A]]
// CHECK-NEXT:        memref.copy %{{.+}}, %[[B]]
// CHECK-NEXT:        linalg.generic
// CHECK-SAME:          ins(%[[A]], %[[B]] : memref<64x16xf32, #gpu.address_space<workgroup>>, memref<16x64xf32, #gpu.address_space<workgroup>>)
// CHECK-SAME:          outs(%[[SUM]] : memref<64x64xf32, #gpu.address_space<private>>)
// CHECK:           linalg.yield
// CHECK:           memref.copy %[[SUM]], %[[C]]
// CHECK-NOT:     gpu.barrier
func.func private @whole(%a: memref<128x64xf32>, %b: memref<64x128xf32>, %c: memref<128x128xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i, %j) = (0, 0) to (128, 128) step (64, 64) {
    %tile = memref.subview %c[%i, %j] [64, 64] [1, 1] : memref<128x128xf32> to memref<64x64xf32, strided<[128, 1], offset: ?>>
    linalg.fill ins(%zero : f32) outs(%tile : memref<64x64xf32, strided<[128, 1], offset: ?>>)
    scf.for %k = %c0 to %c64 step %c16 {
      %x = memref.subview %a[%i, %k] [64, 16] [1, 1] : memref<128x64xf32> to memref<64x16xf32, strided<[64, 1], offset: ?>>
      %y = memref.subview %b[%k, %j] [16, 64] [1, 1] : memref<64x128xf32> to memref<16x64xf32, strided<[128, 1], offset: ?>>
      linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %y : memref<64x16xf32, strided<[64, 1], offset: ?>>, memref<16x64xf32, strided<[128, 1], offset: ?>>)
        outs(%tile : memref<64x64xf32, strided<[128, 1], offset: ?>>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %0 = arith.mulf %p, %q : f32
        %1 = arith.addf %o, %0 : f32
        linalg.yield %1 : f32
      }
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// Ragged in all dimensions: zeros, then what is there. The buffer of the block
// is gone; who read it reads the private one.
// CHECK-LABEL: func private @ragged
// CHECK:         scf.forall
// CHECK-NOT:       memref.alloc(%
// CHECK:           %[[SUM:.+]] = memref.alloca() : memref<64x64xf32, #gpu.address_space<private>>
// CHECK:           %[[PART:.+]] = memref.subview %[[SUM]][0, 0] [%[[M:.+]], %[[N:.+]]] [1, 1]
// CHECK:           linalg.fill ins(%{{.+}} : f32) outs(%[[SUM]]
// CHECK:           scf.for
// CHECK:             linalg.fill ins(%{{.+}} : f32) outs(%[[A:.+]] : memref<64x16xf32, #gpu.address_space<workgroup>>)
// CHECK-NEXT:        %[[IN_A:.+]] = memref.subview %[[A]][0, 0] [%[[M]], %[[K:.+]]] [1, 1]
// CHECK-NEXT:        memref.copy %{{.+}}, %[[IN_A]]
// CHECK:             linalg.fill ins(%{{.+}} : f32) outs(%[[B:.+]] : memref<16x64xf32, #gpu.address_space<workgroup>>)
// CHECK-NEXT:        %[[IN_B:.+]] = memref.subview %[[B]][0, 0] [%[[K]], %[[N]]] [1, 1]
// CHECK-NEXT:        memref.copy %{{.+}}, %[[IN_B]]
// CHECK-NEXT:        linalg.generic
// CHECK-SAME:          ins(%[[A]], %[[B]]
// CHECK-SAME:          outs(%[[SUM]]
// CHECK-NOT:       memref.copy
// CHECK:           linalg.generic
// CHECK-SAME:        ins(%[[PART]], %
func.func private @ragged(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %v: memref<?xf32>, %d: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %m = memref.dim %a, %c0 : memref<?x?xf32>
  %n = memref.dim %b, %c1 : memref<?x?xf32>
  %s = memref.dim %a, %c1 : memref<?x?xf32>
  scf.forall (%i, %j) = (0, 0) to (%m, %n) step (64, 64) {
    %h = affine.min #row_tile(%i)[%m]
    %w = affine.min #row_tile(%j)[%n]
    %sum = memref.alloc(%h, %w) : memref<?x?xf32>
    linalg.fill ins(%zero : f32) outs(%sum : memref<?x?xf32>)
    scf.for %k = %c0 to %s step %c16 {
      %l = affine.min #step(%k)[%s]
      %x = memref.subview %a[%i, %k] [%h, %l] [1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1], offset: ?>>
      %y = memref.subview %b[%k, %j] [%l, %w] [1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1], offset: ?>>
      %z = memref.subview %sum[0, 0] [%h, %w] [1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1]>>
      linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %y : memref<?x?xf32, strided<[?, 1], offset: ?>>, memref<?x?xf32, strided<[?, 1], offset: ?>>)
        outs(%z : memref<?x?xf32, strided<[?, 1]>>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %0 = arith.mulf %p, %q : f32
        %1 = arith.addf %o, %0 : f32
        linalg.yield %1 : f32
      }
    }
    %bias = memref.subview %v[%j] [%w] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
    %out = memref.subview %d[%i, %j] [%h, %w] [1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1], offset: ?>>
    linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %bias : memref<?x?xf32>, memref<?xf32, strided<[1], offset: ?>>)
      outs(%out : memref<?x?xf32, strided<[?, 1], offset: ?>>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %0 = arith.addf %p, %q : f32
      linalg.yield %0 : f32
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// Adds to what is there: the private buffer starts from a copy, and an operation
// that overwrites the result in place reads it. Without a loop, the sum is
// rounded up. In a launch, too.
// CHECK-LABEL: func @update
// CHECK:         gpu.launch
// CHECK:           %[[SUM:.+]] = memref.alloca() : memref<32x64xf32, #gpu.address_space<private>>
// CHECK:           %[[PART:.+]] = memref.subview %[[SUM]][0, 0] [20, 50] [1, 1]
// CHECK-NEXT:      memref.copy %[[C:.+]], %[[PART]]
// CHECK:           memref<32x16xf32, #gpu.address_space<workgroup>>
// CHECK:           linalg.matmul
// CHECK-NOT:       memref.copy
// CHECK:           linalg.generic
// CHECK-SAME:        ins(%[[PART]] :
// CHECK-SAME:        outs(%[[C]] :
// CHECK-NEXT:      ^bb0(%[[IN:.+]]: f32, %{{.+}}: f32):
// CHECK-NEXT:        arith.negf %[[IN]]
func.func @update(%a: memref<20x10xf32>, %b: memref<10x50xf32>, %c: memref<20x50xf32> {llvm.noalias}) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%nx = %c64, %ny = %c1, %nz = %c1) {
    linalg.matmul ins(%a, %b : memref<20x10xf32>, memref<10x50xf32>) outs(%c : memref<20x50xf32>)
    linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%c : memref<20x50xf32>) {
    ^bb0(%o: f32):
      %0 = arith.negf %o : f32
      linalg.yield %0 : f32
    }
    gpu.terminator
  }
  return
}

// What reads otherwise than element by element finds the result in memory, the rows of which are
// moved apart.
// CHECK-LABEL: func private @reduced
// CHECK:           %[[ALLOC:.+]] = memref.alloc() : memref<32x48xf32>
// CHECK:           %[[BUFFER:.+]] = memref.subview %[[ALLOC]][0, 0] [32, 32] [1, 1]
// CHECK:           %[[SUM:.+]] = memref.alloca() : memref<32x32xf32, #gpu.address_space<private>>
// CHECK:           linalg.matmul
// CHECK-NEXT:      memref.copy %[[SUM]], %[[BUFFER]]
// CHECK-NEXT:      linalg.reduce ins(%[[BUFFER]]
func.func private @reduced(%a: memref<32x32xf32>, %b: memref<32x32xf32>, %d: memref<32xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (1) {
    %sum = memref.alloc() : memref<32x32xf32>
    linalg.fill ins(%zero : f32) outs(%sum : memref<32x32xf32>)
    linalg.matmul ins(%a, %b : memref<32x32xf32>, memref<32x32xf32>) outs(%sum : memref<32x32xf32>)
    linalg.reduce ins(%sum : memref<32x32xf32>) outs(%d : memref<32xf32>) dimensions = [1]
      (%p: f32, %o: f32) {
        %0 = arith.addf %p, %o : f32
        linalg.yield %0 : f32
      }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// Not of a block.
// CHECK-LABEL: func @host
// CHECK-NOT:     alloc
// CHECK:         return
func.func @host(%a: memref<32x32xf32>, %c: memref<32x32xf32> {llvm.noalias}) {
  linalg.matmul ins(%a, %a : memref<32x32xf32>, memref<32x32xf32>) outs(%c : memref<32x32xf32>)
  return
}
