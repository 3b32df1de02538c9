// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-contractions,canonicalize,cse)' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-lower-contractions)' | diff %t.once -
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-contractions{tensor-cores=false})' | FileCheck %s --check-prefix=OFF

// Sums of products on tensor cores: cells of both factors by ldmatrix, and
// products of whole warps, of which lanes keep the sums.

// OFF-NOT: {{ldmatrix|mma.sync}}

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>
#mk = affine_map<(i, j, k) -> (i, k)>
#km = affine_map<(i, j, k) -> (k, i)>
#kn = affine_map<(i, j, k) -> (k, j)>
#nk = affine_map<(i, j, k) -> (j, k)>
#mn = affine_map<(i, j, k) -> (i, j)>

// Two warps of 32x32: of each factor two times four matrices for 16 steps, and
// 2x4 products. Rows of 16 bytes are neighbours along the sum, or are not: then
// they are transposed.
// CHECK-LABEL: gpu.func @f16_nn
// CHECK-NOT:     memref.alloca
// CHECK-COUNT-2: nvgpu.ldmatrix %[[A:.+]][%{{.+}}] {numTiles = 4 : i32, transpose = false} : memref<64x32xf16, #gpu.address_space<workgroup>> -> vector<4x2xf16>
// CHECK-COUNT-2: nvgpu.ldmatrix %[[B:.+]][%{{.+}}] {numTiles = 4 : i32, transpose = true} : memref<32x32xf16, #gpu.address_space<workgroup>> -> vector<4x2xf16>
// CHECK-COUNT-2: nvgpu.ldmatrix %[[A]]
// CHECK-COUNT-2: nvgpu.ldmatrix %[[B]]
// CHECK-NOT:     ldmatrix
// CHECK-COUNT-16: nvgpu.mma.sync(%{{.+}}, %{{.+}}, %{{.+}}) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
// CHECK-NOT:     mma.sync
// CHECK-COUNT-16: vector.store %{{.+}} : memref<64x32xf32>, vector<2xf32>
// CHECK-NOT:     {{memref.load|vector.load|linalg}}
// CHECK:         gpu.return
//
// CHECK-LABEL: gpu.func @f16_nt
// CHECK-COUNT-8: transpose = false
// CHECK-NOT:     transpose = true
// CHECK-COUNT-16: nvgpu.mma.sync
// CHECK-LABEL: gpu.func @f16_tn
// CHECK-COUNT-4: transpose = true
// CHECK-COUNT-4: transpose = true
// CHECK-NOT:     transpose
// CHECK-COUNT-16: nvgpu.mma.sync
// CHECK-LABEL: gpu.func @f16_tt
// CHECK-COUNT-2: transpose = true
// CHECK-COUNT-2: transpose = false
// CHECK-COUNT-2: transpose = true
// CHECK-COUNT-2: transpose = false
// CHECK-COUNT-16: nvgpu.mma.sync
//
// Sums in f16 where the body has them so; they are not narrowed where it does not.
// CHECK-LABEL: gpu.func @f16_sums
// CHECK-COUNT-16: nvgpu.mma.sync({{.+}} -> vector<2x2xf16>
//
// nvgpu has no products of bf16, and sums of integers that saturate.
// CHECK-LABEL: gpu.func @bf16
// CHECK-COUNT-8: nvgpu.ldmatrix
// CHECK-NOT:     nvgpu.mma.sync
// CHECK-COUNT-16: nvvm.mma.sync{{.+}}multiplicandAPtxType = #nvvm.mma_type<bf16>
// CHECK-LABEL: gpu.func @signs
// CHECK-NOT:     nvgpu.mma.sync
// CHECK-COUNT-8: nvvm.mma.sync{{.+}}intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>{{.+}}multiplicandAPtxType = #nvvm.mma_type<s8>, multiplicandBPtxType = #nvvm.mma_type<u8>, shape = #nvvm.shape<m = 16, n = 8, k = 32>
//
// Numbers of 64 bits are loaded one by one.
// CHECK-LABEL: gpu.func @f64
// CHECK-COUNT-3: memref.load
// CHECK:         nvgpu.mma.sync({{.+}} {mmaShape = [8, 8, 4]}
//
// Weights of 8 bits become f16 in registers; the other factor is not extended.
// CHECK-LABEL: gpu.func @weights
// CHECK:         vector.load %{{.+}} {alignment = 2 : i64} : memref<32x32xi8, #gpu.address_space<workgroup>>, vector<2xi8>
// CHECK:         arith.sitofp %{{.+}} : vector<2xi8> to vector<2xf16>
// CHECK-NOT:     arith.extf
// CHECK-COUNT-16: nvgpu.mma.sync
//
// Unless asked for, f32 is not rounded. Warps that have no part store nothing.
// CHECK-LABEL: gpu.func @f32
// CHECK:         vector.fma
// CHECK-NOT:     mma.sync
// CHECK-LABEL: gpu.func @surplus
// CHECK:         nvgpu.mma.sync
// CHECK:         %[[HAS:.+]] = arith.cmpi ult
// CHECK:         scf.if %[[HAS]]
// CHECK:           vector.store
//
// Lanes are told by the number of the thread in its block.
// CHECK-LABEL: gpu.func @shape
// CHECK-DAG:     gpu.thread_id z
// CHECK-DAG:     gpu.thread_id y
// CHECK-DAG:     %[[X:.+]] = gpu.thread_id x
// CHECK:         %[[ID:.+]] = arith.addi %{{.+}}, %[[X]] overflow<nsw, nuw>
// CHECK:         arith.remui %[[ID]], %c4
// CHECK:         %[[ROW:.+]] = arith.divui %[[ID]], %c4
// CHECK:         arith.remui %[[ROW]], %c8
// CHECK:         nvgpu.mma.sync
//
// What follows is computed in registers: no sum in f32 is stored.
// CHECK-LABEL: gpu.func @epilogue
// CHECK-COUNT-16: nvgpu.mma.sync
// CHECK:         %[[BIAS:.+]] = vector.load %{{.+}} : memref<32xf32>, vector<2xf32>
// CHECK:         %[[SUM:.+]] = arith.addf %{{.+}}, %[[BIAS]] : vector<2xf32>
// CHECK:         %[[MAX:.+]] = arith.maximumf %[[SUM]], %{{.+}} : vector<2xf32>
// CHECK:         %[[OUT:.+]] = arith.truncf %[[MAX]] : vector<2xf32> to vector<2xf16>
// CHECK:         vector.store %[[OUT]], %{{.+}} : memref<64x32xf16>, vector<2xf16>
// CHECK-NOT:     memref<64x32xf32
//
// The accumulator is read in the loop over the sum: every thread does all of it.
// CHECK-LABEL: gpu.func @read_within
// CHECK-NOT:     mma.sync
// CHECK:         linalg.matmul
gpu.module @kernels {
  gpu.func @f16_nn(%c: memref<64x32xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<64x32xf16, #wg>
    %y = memref.alloc() : memref<32x32xf16, #wg>
    %sum = memref.alloca() : memref<64x32xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x32xf32, #own>)
    linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<64x32xf16, #wg>, memref<32x32xf16, #wg>) outs(%sum : memref<64x32xf32, #own>) {
    ^bb0(%p: f16, %q: f16, %o: f32):
      %e = arith.extf %p : f16 to f32
      %f = arith.extf %q : f16 to f32
      %t = arith.mulf %e, %f : f32
      %s = arith.addf %o, %t : f32
      linalg.yield %s : f32
    }
    memref.copy %sum, %c : memref<64x32xf32, #own> to memref<64x32xf32>
    gpu.return
  }
  gpu.func @f16_nt(%c: memref<64x32xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<64x32xf16, #wg>
    %y = memref.alloc() : memref<32x32xf16, #wg>
    %sum = memref.alloca() : memref<64x32xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x32xf32, #own>)
    linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<64x32xf16, #wg>, memref<32x32xf16, #wg>) outs(%sum : memref<64x32xf32, #own>) {
    ^bb0(%p: f16, %q: f16, %o: f32):
      %e = arith.extf %p : f16 to f32
      %f = arith.extf %q : f16 to f32
      %t = arith.mulf %e, %f : f32
      %s = arith.addf %o, %t : f32
      linalg.yield %s : f32
    }
    memref.copy %sum, %c : memref<64x32xf32, #own> to memref<64x32xf32>
    gpu.return
  }
  gpu.func @f16_tn(%c: memref<64x32xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<32x64xf16, #wg>
    %y = memref.alloc() : memref<32x32xf16, #wg>
    %sum = memref.alloca() : memref<64x32xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x32xf32, #own>)
    linalg.generic {indexing_maps = [#km, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<32x64xf16, #wg>, memref<32x32xf16, #wg>) outs(%sum : memref<64x32xf32, #own>) {
    ^bb0(%p: f16, %q: f16, %o: f32):
      %e = arith.extf %p : f16 to f32
      %f = arith.extf %q : f16 to f32
      %t = arith.mulf %e, %f : f32
      %s = arith.addf %o, %t : f32
      linalg.yield %s : f32
    }
    memref.copy %sum, %c : memref<64x32xf32, #own> to memref<64x32xf32>
    gpu.return
  }
  gpu.func @f16_tt(%c: memref<64x32xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<32x64xf16, #wg>
    %y = memref.alloc() : memref<32x32xf16, #wg>
    %sum = memref.alloca() : memref<64x32xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x32xf32, #own>)
    linalg.generic {indexing_maps = [#km, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<32x64xf16, #wg>, memref<32x32xf16, #wg>) outs(%sum : memref<64x32xf32, #own>) {
    ^bb0(%p: f16, %q: f16, %o: f32):
      %e = arith.extf %p : f16 to f32
      %f = arith.extf %q : f16 to f32
      %t = arith.mulf %e, %f : f32
      %s = arith.addf %o, %t : f32
      linalg.yield %s : f32
    }
    memref.copy %sum, %c : memref<64x32xf32, #own> to memref<64x32xf32>
    gpu.return
  }
  gpu.func @f16_sums(%c: memref<64x32xf16>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %zero = arith.constant 0.0 : f16
    %x = memref.alloc() : memref<64x32xf16, 3>
    %y = memref.alloc() : memref<32x32xf16, 3>
    %sum = memref.alloca() : memref<64x32xf16, #own>
    linalg.fill ins(%zero : f16) outs(%sum : memref<64x32xf16, #own>)
    linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<64x32xf16, 3>, memref<32x32xf16, 3>) outs(%sum : memref<64x32xf16, #own>) {
    ^bb0(%p: f16, %q: f16, %o: f16):
      %t = arith.mulf %p, %q : f16
      %s = arith.addf %o, %t : f16
      linalg.yield %s : f16
    }
    memref.copy %sum, %c : memref<64x32xf16, #own> to memref<64x32xf16>
    gpu.return
  }
  gpu.func @bf16(%c: memref<64x32xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<64x32xbf16, #wg>
    %y = memref.alloc() : memref<32x32xbf16, #wg>
    %sum = memref.alloca() : memref<64x32xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x32xf32, #own>)
    linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<64x32xbf16, #wg>, memref<32x32xbf16, #wg>) outs(%sum : memref<64x32xf32, #own>) {
    ^bb0(%p: bf16, %q: bf16, %o: f32):
      %e = arith.extf %p : bf16 to f32
      %f = arith.extf %q : bf16 to f32
      %t = arith.mulf %e, %f : f32
      %s = arith.addf %o, %t : f32
      linalg.yield %s : f32
    }
    memref.copy %sum, %c : memref<64x32xf32, #own> to memref<64x32xf32>
    gpu.return
  }
  gpu.func @signs(%c: memref<64x32xi32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %zero = arith.constant 0 : i32
    %x = memref.alloc() : memref<64x32xi8, #wg>
    %y = memref.alloc() : memref<32x32xi8, #wg>
    %sum = memref.alloca() : memref<64x32xi32, #own>
    linalg.fill ins(%zero : i32) outs(%sum : memref<64x32xi32, #own>)
    linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<64x32xi8, #wg>, memref<32x32xi8, #wg>) outs(%sum : memref<64x32xi32, #own>) {
    ^bb0(%p: i8, %q: i8, %o: i32):
      %e = arith.extsi %p : i8 to i32
      %f = arith.extui %q : i8 to i32
      %t = arith.muli %e, %f : i32
      %s = arith.addi %o, %t : i32
      linalg.yield %s : i32
    }
    memref.copy %sum, %c : memref<64x32xi32, #own> to memref<64x32xi32>
    gpu.return
  }
  gpu.func @f64(%c: memref<16x16xf64>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %zero = arith.constant 0.0 : f64
    %x = memref.alloc() : memref<16x4xf64, #wg>
    %y = memref.alloc() : memref<4x16xf64, #wg>
    %sum = memref.alloca() : memref<16x16xf64, #own>
    linalg.fill ins(%zero : f64) outs(%sum : memref<16x16xf64, #own>)
    linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<16x4xf64, #wg>, memref<4x16xf64, #wg>) outs(%sum : memref<16x16xf64, #own>) {
    ^bb0(%p: f64, %q: f64, %o: f64):
      %t = arith.mulf %p, %q : f64
      %s = arith.addf %o, %t : f64
      linalg.yield %s : f64
    }
    memref.copy %sum, %c : memref<16x16xf64, #own> to memref<16x16xf64>
    gpu.return
  }
  gpu.func @weights(%c: memref<64x32xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<64x32xf16, #wg>
    %y = memref.alloc() : memref<32x32xi8, #wg>
    %sum = memref.alloca() : memref<64x32xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x32xf32, #own>)
    linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<64x32xf16, #wg>, memref<32x32xi8, #wg>) outs(%sum : memref<64x32xf32, #own>) {
    ^bb0(%p: f16, %q: i8, %o: f32):
      %e = arith.extf %p : f16 to f32
      %f = arith.sitofp %q : i8 to f32
      %t = arith.mulf %e, %f : f32
      %s = arith.addf %o, %t : f32
      linalg.yield %s : f32
    }
    memref.copy %sum, %c : memref<64x32xf32, #own> to memref<64x32xf32>
    gpu.return
  }
  gpu.func @f32(%c: memref<64x32xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<64x32xf32, #wg>
    %y = memref.alloc() : memref<32x32xf32, #wg>
    %sum = memref.alloca() : memref<64x32xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x32xf32, #own>)
    linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<64x32xf32, #wg>, memref<32x32xf32, #wg>) outs(%sum : memref<64x32xf32, #own>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %t = arith.mulf %p, %q : f32
      %s = arith.addf %o, %t : f32
      linalg.yield %s : f32
    }
    memref.copy %sum, %c : memref<64x32xf32, #own> to memref<64x32xf32>
    gpu.return
  }
  gpu.func @surplus(%c: memref<16x8xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<16x16xf16, #wg>
    %y = memref.alloc() : memref<16x8xf16, #wg>
    %sum = memref.alloca() : memref<16x8xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<16x8xf32, #own>)
    linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<16x16xf16, #wg>, memref<16x8xf16, #wg>) outs(%sum : memref<16x8xf32, #own>) {
    ^bb0(%p: f16, %q: f16, %o: f32):
      %e = arith.extf %p : f16 to f32
      %f = arith.extf %q : f16 to f32
      %t = arith.mulf %e, %f : f32
      %s = arith.addf %o, %t : f32
      linalg.yield %s : f32
    }
    memref.copy %sum, %c : memref<16x8xf32, #own> to memref<16x8xf32>
    gpu.return
  }
  gpu.func @shape(%c: memref<64x32xf32>) kernel attributes {known_block_size = array<i32: 16, 2, 2>} {
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<64x32xf16, #wg>
    %y = memref.alloc() : memref<32x32xf16, #wg>
    %sum = memref.alloca() : memref<64x32xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x32xf32, #own>)
    linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<64x32xf16, #wg>, memref<32x32xf16, #wg>) outs(%sum : memref<64x32xf32, #own>) {
    ^bb0(%p: f16, %q: f16, %o: f32):
      %e = arith.extf %p : f16 to f32
      %f = arith.extf %q : f16 to f32
      %t = arith.mulf %e, %f : f32
      %s = arith.addf %o, %t : f32
      linalg.yield %s : f32
    }
    memref.copy %sum, %c : memref<64x32xf32, #own> to memref<64x32xf32>
    gpu.return
  }
  gpu.func @epilogue(%c: memref<64x32xf16>, %v: memref<32xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<64x32xf16, #wg>
    %y = memref.alloc() : memref<32x32xf16, #wg>
    %sum = memref.alloca() : memref<64x32xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x32xf32, #own>)
    linalg.matmul ins(%x, %y : memref<64x32xf16, #wg>, memref<32x32xf16, #wg>) outs(%sum : memref<64x32xf32, #own>)
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %v : memref<64x32xf32, #own>, memref<32xf32>) outs(%c : memref<64x32xf16>) {
    ^bb0(%p: f32, %q: f32, %o: f16):
      %0 = arith.addf %p, %q : f32
      %1 = arith.maximumf %0, %zero : f32
      %2 = arith.truncf %1 : f32 to f16
      linalg.yield %2 : f16
    }
    gpu.return
  }
  gpu.func @read_within(%c: memref<16x16xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<16x16xf16, #wg>
    %y = memref.alloc() : memref<16x16xf16, #wg>
    %sum = memref.alloca() : memref<16x16xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<16x16xf32, #own>)
    scf.for %k = %c0 to %c4 step %c1 {
      linalg.matmul ins(%x, %y : memref<16x16xf16, #wg>, memref<16x16xf16, #wg>) outs(%sum : memref<16x16xf32, #own>)
      memref.copy %sum, %c : memref<16x16xf32, #own> to memref<16x16xf32>
    }
    gpu.return
  }
}
