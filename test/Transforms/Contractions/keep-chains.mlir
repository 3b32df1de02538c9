// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(workgroup-keep-chains{threads=64 chip=sm_80}))' -o %t
// RUN: FileCheck %s --input-file=%t
// RUN: mlir-opt %t --split-input-file --pass-pipeline='builtin.module(func.func(workgroup-keep-chains{threads=64 chip=sm_80}))' | FileCheck %s
// RUN: not mlir-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(workgroup-keep-chains{threads=0}))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=THREADS

// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(workgroup-keep-chains{threads=64 chip=sm_80},workgroup-map-to-threads{threads=64},workgroup-form-launches{threads=64}),workgroup-lower-contractions{chip=sm_80})' | FileCheck %s --check-prefix=LOWER

// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(workgroup-keep-chains{threads=64 chip=sm_80}))' --remarks-filter='workgroup.*' --remark-format=emitRemark --verify-diagnostics -o /dev/null

// Four warps have no 16 rows each.
// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(workgroup-keep-chains{threads=128 chip=sm_80}))' | FileCheck %s --check-prefix=FEW
// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(workgroup-keep-chains{threads=128 chip=sm_80}))' --remarks-filter='workgroup.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY

// FEW-NOT: memref.alloca() : memref<32xf32
// WHY: remark: {{.*}}NotKept{{.*}}128 threads
// THREADS: error: 'threads' is 0, but a block has from 1 to 1024

// What rows are reduced to, the weights and their rounded form are the
// threads' own; the tiles that all of them multiply stay.

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (n, k)>
#values = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>

// CHECK-LABEL: func.func @attention
// CHECK:         %[[LARGEST:.+]] = memref.alloca() : memref<32xf32, #gpu.address_space<private>>
// CHECK:         linalg.fill ins(%{{.+}}) outs(%[[LARGEST]]
// CHECK:         scf.for
// CHECK-DAG:       memref.alloc() : memref<32x32xf16, #gpu.address_space<workgroup>>
// CHECK-DAG:       memref.alloc() : memref<64x32xf16, #gpu.address_space<workgroup>>
// CHECK-NOT:       memref.alloc() : memref<32x80xf32
// CHECK:           linalg.generic {{.+}} outs(%[[LARGEST]] :
// CHECK:           %[[WEIGHTS:.+]] = memref.alloca() : memref<32x64xf16, #gpu.address_space<private>>
// CHECK:           linalg.generic {{.+}} outs(%[[WEIGHTS]] :
// CHECK:           linalg.generic {{.+}} ins(%[[WEIGHTS]], %{{.+}} : memref<32x64xf16, #gpu.address_space<private>>, memref<64x32xf16, #gpu.address_space<workgroup>>)

// Registers, then: rows and sums go through the loop, lanes exchange what they
// have of a row, and the first result, rounded, is a factor where it is.

// LOWER-LABEL: func.func @attention
// LOWER-NOT:     memref.alloca
// LOWER:         scf.for {{.+}} iter_args(
// LOWER:           nvgpu.ldmatrix
// LOWER:           %[[PRODUCT:.+]] = nvgpu.mma.sync
// LOWER:           arith.maximumf
// LOWER:           gpu.shuffle xor
// LOWER:           arith.truncf {{.+}} : vector<2xf32> to vector<2xf16>
// LOWER-NOT:       memref.store
// LOWER-NOT:       vector.store
// LOWER:           nvgpu.ldmatrix {{.+}} transpose = true
// LOWER:           nvgpu.mma.sync
// LOWER-NOT:       linalg.generic
// LOWER:           scf.yield
// LOWER:         arith.divf
// LOWER:         vector.store
func.func @attention(%q: memref<32x32xf16>, %k: memref<1024x32xf16>, %v: memref<1024x32xf16>, %o: memref<32x32xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  %least = arith.constant -1.0e+30 : f32
  scf.forall (%block) in (1) {
    %largest = memref.alloc() : memref<32xf32, #wg>
    linalg.fill ins(%least : f32) outs(%largest : memref<32xf32, #wg>)
    %sums = memref.alloca() : memref<32x32xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sums : memref<32x32xf32, #own>)
    scf.for %j = %c0 to %c1024 step %c64 {
      %qs = memref.alloc() : memref<32x32xf16, #wg>
      %ks = memref.alloc() : memref<64x32xf16, #wg>
      %vs = memref.alloc() : memref<64x32xf16, #wg>
      %kj = memref.subview %k[%j, 0] [64, 32] [1, 1] : memref<1024x32xf16> to memref<64x32xf16, strided<[32, 1], offset: ?>>
      %vj = memref.subview %v[%j, 0] [64, 32] [1, 1] : memref<1024x32xf16> to memref<64x32xf16, strided<[32, 1], offset: ?>>
      memref.copy %q, %qs : memref<32x32xf16> to memref<32x32xf16, #wg>
      memref.copy %kj, %ks : memref<64x32xf16, strided<[32, 1], offset: ?>> to memref<64x32xf16, #wg>
      %acc = memref.alloca() : memref<32x64xf32, #own>
      linalg.fill ins(%zero : f32) outs(%acc : memref<32x64xf32, #own>)
      linalg.generic {indexing_maps = [#lhs, #rhs, #result], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%qs, %ks : memref<32x32xf16, #wg>, memref<64x32xf16, #wg>) outs(%acc : memref<32x64xf32, #own>) {
      ^bb0(%a: f16, %b: f16, %c: f32):
        %0 = arith.extf %a : f16 to f32
        %1 = arith.extf %b : f16 to f32
        %2 = arith.mulf %0, %1 : f32
        %3 = arith.addf %c, %2 : f32
        linalg.yield %3 : f32
      }
      %whole = memref.alloc() : memref<32x80xf32, #wg>
      %scores = memref.subview %whole[0, 0] [32, 64] [1, 1] : memref<32x80xf32, #wg> to memref<32x64xf32, strided<[80, 1]>, #wg>
      memref.copy %acc, %scores : memref<32x64xf32, #own> to memref<32x64xf32, strided<[80, 1]>, #wg>
      linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
          ins(%scores : memref<32x64xf32, strided<[80, 1]>, #wg>) outs(%largest : memref<32xf32, #wg>) {
      ^bb0(%a: f32, %c: f32):
        %0 = arith.maximumf %a, %c : f32
        linalg.yield %0 : f32
      }
      %weights = memref.alloc() : memref<32x64xf16, #wg>
      linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
          ins(%scores, %largest : memref<32x64xf32, strided<[80, 1]>, #wg>, memref<32xf32, #wg>) outs(%weights : memref<32x64xf16, #wg>) {
      ^bb0(%a: f32, %b: f32, %c: f16):
        %0 = arith.subf %a, %b : f32
        %1 = arith.truncf %0 : f32 to f16
        linalg.yield %1 : f16
      }
      memref.copy %vj, %vs : memref<64x32xf16, strided<[32, 1], offset: ?>> to memref<64x32xf16, #wg>
      // expected-remark @+1 {{what is between two contractions kept by threads}}
      linalg.generic {indexing_maps = [#lhs, #values, #result], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%weights, %vs : memref<32x64xf16, #wg>, memref<64x32xf16, #wg>) outs(%sums : memref<32x32xf32, #own>) {
      ^bb0(%a: f16, %b: f16, %c: f32):
        %0 = arith.extf %a : f16 to f32
        %1 = arith.extf %b : f16 to f32
        %2 = arith.mulf %0, %1 : f32
        %3 = arith.addf %c, %2 : f32
        linalg.yield %3 : f32
      }
    }
    linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%sums, %largest : memref<32x32xf32, #own>, memref<32xf32, #wg>) outs(%o : memref<32x32xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %0 = arith.divf %a, %b : f32
      linalg.yield %0 : f32
    }
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

// What rows start from is not known: nothing fills it.

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (n, k)>
#values = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>

// CHECK-LABEL: func.func @not_filled
// CHECK-NOT:     memref.alloca() : memref<32xf32
// CHECK-NOT:     memref.alloca() : memref<32x64xf16
func.func @not_filled(%q: memref<32x32xf16>, %k: memref<1024x32xf16>, %v: memref<1024x32xf16>, %o: memref<32x32xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  %least = arith.constant -1.0e+30 : f32
  scf.forall (%block) in (1) {
    %largest = memref.alloc() : memref<32xf32, #wg>
    %sums = memref.alloca() : memref<32x32xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sums : memref<32x32xf32, #own>)
    scf.for %j = %c0 to %c1024 step %c64 {
      %qs = memref.alloc() : memref<32x32xf16, #wg>
      %ks = memref.alloc() : memref<64x32xf16, #wg>
      %vs = memref.alloc() : memref<64x32xf16, #wg>
      %kj = memref.subview %k[%j, 0] [64, 32] [1, 1] : memref<1024x32xf16> to memref<64x32xf16, strided<[32, 1], offset: ?>>
      %vj = memref.subview %v[%j, 0] [64, 32] [1, 1] : memref<1024x32xf16> to memref<64x32xf16, strided<[32, 1], offset: ?>>
      memref.copy %q, %qs : memref<32x32xf16> to memref<32x32xf16, #wg>
      memref.copy %kj, %ks : memref<64x32xf16, strided<[32, 1], offset: ?>> to memref<64x32xf16, #wg>
      %acc = memref.alloca() : memref<32x64xf32, #own>
      linalg.fill ins(%zero : f32) outs(%acc : memref<32x64xf32, #own>)
      linalg.generic {indexing_maps = [#lhs, #rhs, #result], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%qs, %ks : memref<32x32xf16, #wg>, memref<64x32xf16, #wg>) outs(%acc : memref<32x64xf32, #own>) {
      ^bb0(%a: f16, %b: f16, %c: f32):
        %0 = arith.extf %a : f16 to f32
        %1 = arith.extf %b : f16 to f32
        %2 = arith.mulf %0, %1 : f32
        %3 = arith.addf %c, %2 : f32
        linalg.yield %3 : f32
      }
      %whole = memref.alloc() : memref<32x80xf32, #wg>
      %scores = memref.subview %whole[0, 0] [32, 64] [1, 1] : memref<32x80xf32, #wg> to memref<32x64xf32, strided<[80, 1]>, #wg>
      memref.copy %acc, %scores : memref<32x64xf32, #own> to memref<32x64xf32, strided<[80, 1]>, #wg>
      linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
          ins(%scores : memref<32x64xf32, strided<[80, 1]>, #wg>) outs(%largest : memref<32xf32, #wg>) {
      ^bb0(%a: f32, %c: f32):
        %0 = arith.maximumf %a, %c : f32
        linalg.yield %0 : f32
      }
      %weights = memref.alloc() : memref<32x64xf16, #wg>
      linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
          ins(%scores, %largest : memref<32x64xf32, strided<[80, 1]>, #wg>, memref<32xf32, #wg>) outs(%weights : memref<32x64xf16, #wg>) {
      ^bb0(%a: f32, %b: f32, %c: f16):
        %0 = arith.subf %a, %b : f32
        %1 = arith.truncf %0 : f32 to f16
        linalg.yield %1 : f16
      }
      memref.copy %vj, %vs : memref<64x32xf16, strided<[32, 1], offset: ?>> to memref<64x32xf16, #wg>
      // expected-remark @+1 {{nothing fills 'memref.alloc'}}
      linalg.generic {indexing_maps = [#lhs, #values, #result], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%weights, %vs : memref<32x64xf16, #wg>, memref<64x32xf16, #wg>) outs(%sums : memref<32x32xf32, #own>) {
      ^bb0(%a: f16, %b: f16, %c: f32):
        %0 = arith.extf %a : f16 to f32
        %1 = arith.extf %b : f16 to f32
        %2 = arith.mulf %0, %1 : f32
        %3 = arith.addf %c, %2 : f32
        linalg.yield %3 : f32
      }
    }
    linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%sums, %largest : memref<32x32xf32, #own>, memref<32xf32, #wg>) outs(%o : memref<32x32xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %0 = arith.divf %a, %b : f32
      linalg.yield %0 : f32
    }
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

// Scores that are stored in the loop are in memory.

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (n, k)>
#values = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>

// CHECK-LABEL: func.func @read_elsewhere
// CHECK-NOT:     memref.alloca() : memref<32xf32
// CHECK-NOT:     memref.alloca() : memref<32x64xf16
func.func @read_elsewhere(%q: memref<32x32xf16>, %k: memref<1024x32xf16>, %v: memref<1024x32xf16>, %o: memref<32x32xf32>, %s: memref<32x64xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  %least = arith.constant -1.0e+30 : f32
  scf.forall (%block) in (1) {
    %largest = memref.alloc() : memref<32xf32, #wg>
    linalg.fill ins(%least : f32) outs(%largest : memref<32xf32, #wg>)
    %sums = memref.alloca() : memref<32x32xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sums : memref<32x32xf32, #own>)
    scf.for %j = %c0 to %c1024 step %c64 {
      %qs = memref.alloc() : memref<32x32xf16, #wg>
      %ks = memref.alloc() : memref<64x32xf16, #wg>
      %vs = memref.alloc() : memref<64x32xf16, #wg>
      %kj = memref.subview %k[%j, 0] [64, 32] [1, 1] : memref<1024x32xf16> to memref<64x32xf16, strided<[32, 1], offset: ?>>
      %vj = memref.subview %v[%j, 0] [64, 32] [1, 1] : memref<1024x32xf16> to memref<64x32xf16, strided<[32, 1], offset: ?>>
      memref.copy %q, %qs : memref<32x32xf16> to memref<32x32xf16, #wg>
      memref.copy %kj, %ks : memref<64x32xf16, strided<[32, 1], offset: ?>> to memref<64x32xf16, #wg>
      %acc = memref.alloca() : memref<32x64xf32, #own>
      linalg.fill ins(%zero : f32) outs(%acc : memref<32x64xf32, #own>)
      linalg.generic {indexing_maps = [#lhs, #rhs, #result], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%qs, %ks : memref<32x32xf16, #wg>, memref<64x32xf16, #wg>) outs(%acc : memref<32x64xf32, #own>) {
      ^bb0(%a: f16, %b: f16, %c: f32):
        %0 = arith.extf %a : f16 to f32
        %1 = arith.extf %b : f16 to f32
        %2 = arith.mulf %0, %1 : f32
        %3 = arith.addf %c, %2 : f32
        linalg.yield %3 : f32
      }
      %whole = memref.alloc() : memref<32x80xf32, #wg>
      %scores = memref.subview %whole[0, 0] [32, 64] [1, 1] : memref<32x80xf32, #wg> to memref<32x64xf32, strided<[80, 1]>, #wg>
      memref.copy %acc, %scores : memref<32x64xf32, #own> to memref<32x64xf32, strided<[80, 1]>, #wg>
      linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
          ins(%scores : memref<32x64xf32, strided<[80, 1]>, #wg>) outs(%largest : memref<32xf32, #wg>) {
      ^bb0(%a: f32, %c: f32):
        %0 = arith.maximumf %a, %c : f32
        linalg.yield %0 : f32
      }
      memref.copy %scores, %s : memref<32x64xf32, strided<[80, 1]>, #wg> to memref<32x64xf32>
      %weights = memref.alloc() : memref<32x64xf16, #wg>
      linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
          ins(%scores, %largest : memref<32x64xf32, strided<[80, 1]>, #wg>, memref<32xf32, #wg>) outs(%weights : memref<32x64xf16, #wg>) {
      ^bb0(%a: f32, %b: f32, %c: f16):
        %0 = arith.subf %a, %b : f32
        %1 = arith.truncf %0 : f32 to f16
        linalg.yield %1 : f16
      }
      memref.copy %vj, %vs : memref<64x32xf16, strided<[32, 1], offset: ?>> to memref<64x32xf16, #wg>
      // expected-remark @+1 {{stores before the loop has ended}}
      linalg.generic {indexing_maps = [#lhs, #values, #result], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%weights, %vs : memref<32x64xf16, #wg>, memref<64x32xf16, #wg>) outs(%sums : memref<32x32xf32, #own>) {
      ^bb0(%a: f16, %b: f16, %c: f32):
        %0 = arith.extf %a : f16 to f32
        %1 = arith.extf %b : f16 to f32
        %2 = arith.mulf %0, %1 : f32
        %3 = arith.addf %c, %2 : f32
        linalg.yield %3 : f32
      }
    }
    linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%sums, %largest : memref<32x32xf32, #own>, memref<32xf32, #wg>) outs(%o : memref<32x32xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %0 = arith.divf %a, %b : f32
      linalg.yield %0 : f32
    }
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

// The sums are used once more, where the loop has not ended.

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (n, k)>
#values = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>

// CHECK-LABEL: func.func @changed_behind
// CHECK-NOT:     memref.alloca() : memref<32xf32
// CHECK-NOT:     memref.alloca() : memref<32x64xf16
func.func @changed_behind(%q: memref<32x32xf16>, %k: memref<1024x32xf16>, %v: memref<1024x32xf16>, %o: memref<32x32xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  %least = arith.constant -1.0e+30 : f32
  scf.forall (%block) in (1) {
    %largest = memref.alloc() : memref<32xf32, #wg>
    linalg.fill ins(%least : f32) outs(%largest : memref<32xf32, #wg>)
    %sums = memref.alloca() : memref<32x32xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sums : memref<32x32xf32, #own>)
    scf.for %j = %c0 to %c1024 step %c64 {
      %qs = memref.alloc() : memref<32x32xf16, #wg>
      %ks = memref.alloc() : memref<64x32xf16, #wg>
      %vs = memref.alloc() : memref<64x32xf16, #wg>
      %kj = memref.subview %k[%j, 0] [64, 32] [1, 1] : memref<1024x32xf16> to memref<64x32xf16, strided<[32, 1], offset: ?>>
      %vj = memref.subview %v[%j, 0] [64, 32] [1, 1] : memref<1024x32xf16> to memref<64x32xf16, strided<[32, 1], offset: ?>>
      memref.copy %q, %qs : memref<32x32xf16> to memref<32x32xf16, #wg>
      memref.copy %kj, %ks : memref<64x32xf16, strided<[32, 1], offset: ?>> to memref<64x32xf16, #wg>
      %acc = memref.alloca() : memref<32x64xf32, #own>
      linalg.fill ins(%zero : f32) outs(%acc : memref<32x64xf32, #own>)
      linalg.generic {indexing_maps = [#lhs, #rhs, #result], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%qs, %ks : memref<32x32xf16, #wg>, memref<64x32xf16, #wg>) outs(%acc : memref<32x64xf32, #own>) {
      ^bb0(%a: f16, %b: f16, %c: f32):
        %0 = arith.extf %a : f16 to f32
        %1 = arith.extf %b : f16 to f32
        %2 = arith.mulf %0, %1 : f32
        %3 = arith.addf %c, %2 : f32
        linalg.yield %3 : f32
      }
      %whole = memref.alloc() : memref<32x80xf32, #wg>
      %scores = memref.subview %whole[0, 0] [32, 64] [1, 1] : memref<32x80xf32, #wg> to memref<32x64xf32, strided<[80, 1]>, #wg>
      memref.copy %acc, %scores : memref<32x64xf32, #own> to memref<32x64xf32, strided<[80, 1]>, #wg>
      linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
          ins(%scores : memref<32x64xf32, strided<[80, 1]>, #wg>) outs(%largest : memref<32xf32, #wg>) {
      ^bb0(%a: f32, %c: f32):
        %0 = arith.maximumf %a, %c : f32
        linalg.yield %0 : f32
      }
      memref.copy %sums, %o : memref<32x32xf32, #own> to memref<32x32xf32>
      %weights = memref.alloc() : memref<32x64xf16, #wg>
      linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
          ins(%scores, %largest : memref<32x64xf32, strided<[80, 1]>, #wg>, memref<32xf32, #wg>) outs(%weights : memref<32x64xf16, #wg>) {
      ^bb0(%a: f32, %b: f32, %c: f16):
        %0 = arith.subf %a, %b : f32
        %1 = arith.truncf %0 : f32 to f16
        linalg.yield %1 : f16
      }
      memref.copy %vj, %vs : memref<64x32xf16, strided<[32, 1], offset: ?>> to memref<64x32xf16, #wg>
      // expected-remark @+1 {{stores before the loop has ended}}
      linalg.generic {indexing_maps = [#lhs, #values, #result], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%weights, %vs : memref<32x64xf16, #wg>, memref<64x32xf16, #wg>) outs(%sums : memref<32x32xf32, #own>) {
      ^bb0(%a: f16, %b: f16, %c: f32):
        %0 = arith.extf %a : f16 to f32
        %1 = arith.extf %b : f16 to f32
        %2 = arith.mulf %0, %1 : f32
        %3 = arith.addf %c, %2 : f32
        linalg.yield %3 : f32
      }
    }
    linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%sums, %largest : memref<32x32xf32, #own>, memref<32xf32, #wg>) outs(%o : memref<32x32xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %0 = arith.divf %a, %b : f32
      linalg.yield %0 : f32
    }
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

// A lane has weights of 16 bits where the second product takes them.

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (n, k)>
#values = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>

// CHECK-LABEL: func.func @wide
// CHECK-NOT:     memref.alloca() : memref<32xf32
func.func @wide(%q: memref<32x32xf16>, %k: memref<1024x32xf16>, %v: memref<1024x32xf16>, %o: memref<32x32xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  %least = arith.constant -1.0e+30 : f32
  scf.forall (%block) in (1) {
    %largest = memref.alloc() : memref<32xf32, #wg>
    linalg.fill ins(%least : f32) outs(%largest : memref<32xf32, #wg>)
    %sums = memref.alloca() : memref<32x32xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sums : memref<32x32xf32, #own>)
    scf.for %j = %c0 to %c1024 step %c64 {
      %qs = memref.alloc() : memref<32x32xf16, #wg>
      %ks = memref.alloc() : memref<64x32xf16, #wg>
      %vs = memref.alloc() : memref<64x32xf16, #wg>
      %kj = memref.subview %k[%j, 0] [64, 32] [1, 1] : memref<1024x32xf16> to memref<64x32xf16, strided<[32, 1], offset: ?>>
      %vj = memref.subview %v[%j, 0] [64, 32] [1, 1] : memref<1024x32xf16> to memref<64x32xf16, strided<[32, 1], offset: ?>>
      memref.copy %q, %qs : memref<32x32xf16> to memref<32x32xf16, #wg>
      memref.copy %kj, %ks : memref<64x32xf16, strided<[32, 1], offset: ?>> to memref<64x32xf16, #wg>
      %acc = memref.alloca() : memref<32x64xf32, #own>
      linalg.fill ins(%zero : f32) outs(%acc : memref<32x64xf32, #own>)
      linalg.generic {indexing_maps = [#lhs, #rhs, #result], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%qs, %ks : memref<32x32xf16, #wg>, memref<64x32xf16, #wg>) outs(%acc : memref<32x64xf32, #own>) {
      ^bb0(%a: f16, %b: f16, %c: f32):
        %0 = arith.extf %a : f16 to f32
        %1 = arith.extf %b : f16 to f32
        %2 = arith.mulf %0, %1 : f32
        %3 = arith.addf %c, %2 : f32
        linalg.yield %3 : f32
      }
      %whole = memref.alloc() : memref<32x80xf32, #wg>
      %scores = memref.subview %whole[0, 0] [32, 64] [1, 1] : memref<32x80xf32, #wg> to memref<32x64xf32, strided<[80, 1]>, #wg>
      memref.copy %acc, %scores : memref<32x64xf32, #own> to memref<32x64xf32, strided<[80, 1]>, #wg>
      linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
          ins(%scores : memref<32x64xf32, strided<[80, 1]>, #wg>) outs(%largest : memref<32xf32, #wg>) {
      ^bb0(%a: f32, %c: f32):
        %0 = arith.maximumf %a, %c : f32
        linalg.yield %0 : f32
      }
      %weights = memref.alloc() : memref<32x64xf32, #wg>
      linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
          ins(%scores, %largest : memref<32x64xf32, strided<[80, 1]>, #wg>, memref<32xf32, #wg>) outs(%weights : memref<32x64xf32, #wg>) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %0 = arith.subf %a, %b : f32
        linalg.yield %0 : f32
      }
      memref.copy %vj, %vs : memref<64x32xf16, strided<[32, 1], offset: ?>> to memref<64x32xf16, #wg>
      // expected-remark @+1 {{its first factor is of f32, not of 16 bits}}
      linalg.generic {indexing_maps = [#lhs, #values, #result], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%weights, %vs : memref<32x64xf32, #wg>, memref<64x32xf16, #wg>) outs(%sums : memref<32x32xf32, #own>) {
      ^bb0(%a: f32, %b: f16, %c: f32):
        %0 = arith.extf %b : f16 to f32
        %2 = arith.mulf %a, %0 : f32
        %3 = arith.addf %c, %2 : f32
        linalg.yield %3 : f32
      }
    }
    linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%sums, %largest : memref<32x32xf32, #own>, memref<32xf32, #wg>) outs(%o : memref<32x32xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %0 = arith.divf %a, %b : f32
      linalg.yield %0 : f32
    }
  } {mapping = [#gpu.block<x>]}
  return
}
