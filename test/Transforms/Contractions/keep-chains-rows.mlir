// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(workgroup-keep-chains{threads=64 chip=sm_80}))' | FileCheck %s
// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(workgroup-keep-chains{threads=64 chip=sm_80}))' --remarks-filter='workgroup.*' --remark-format=emitRemark --verify-diagnostics -o /dev/null
// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(workgroup-keep-chains{threads=64 chip=sm_80},workgroup-map-to-threads{threads=64},workgroup-form-launches{threads=64}),workgroup-lower-contractions{chip=sm_80})' | FileCheck %s --check-prefix=LOWER

// What rows came to is stored besides the results, of fewer rows than there are: of the four lanes
// that have a row, one does.

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (n, k)>
#values = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>

// CHECK-LABEL: func.func @parts
// CHECK:         memref.alloca() : memref<32xf32, #gpu.address_space<private>>

// LOWER-LABEL: func.func @parts
// LOWER-NOT:     memref.alloca
// LOWER:         %[[END:.+]]:{{[0-9]+}} = scf.for
// LOWER:         %[[FIRST:.+]] = arith.cmpi eq
// LOWER:         scf.if %[[FIRST]] {
// LOWER:           %[[THERE:.+]] = arith.cmpi ult, %[[ROW:[^,]+]], %{{.+}}
// LOWER:           scf.if %[[THERE]] {
// LOWER-NEXT:        memref.store %[[END]]#{{[0-9]+}}, %{{.+}}[%[[ROW]]] : memref<5xf32
func.func @parts(%q: memref<32x32xf16>, %k: memref<1024x32xf16>, %v: memref<1024x32xf16>, %o: memref<5x32xf32>, %l: memref<4x5xf32>, %p: index) {
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
      // expected-remark @+1 {{kept by threads}}
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
    %rows = memref.subview %largest[0] [5] [1] : memref<32xf32, #wg> to memref<5xf32, strided<[1]>, #wg>
    %part = memref.subview %l[%p, 0] [1, 5] [1, 1] : memref<4x5xf32> to memref<5xf32, strided<[1], offset: ?>>
    linalg.copy ins(%rows : memref<5xf32, strided<[1]>, #wg>) outs(%part : memref<5xf32, strided<[1], offset: ?>>)
    %some = memref.subview %sums[0, 0] [5, 32] [1, 1] : memref<32x32xf32, #own> to memref<5x32xf32, strided<[32, 1]>, #own>
    linalg.copy ins(%some : memref<5x32xf32, strided<[32, 1]>, #own>) outs(%o : memref<5x32xf32>)
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (n, k)>
#values = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>

// CHECK-LABEL: func.func @copied
// CHECK:         memref.alloca() : memref<32xf32, #gpu.address_space<private>>

// LOWER-LABEL: func.func @copied
// LOWER-NOT:     memref.alloca
// LOWER:         %[[END:.+]]:{{[0-9]+}} = scf.for
// LOWER:         %[[FIRST:.+]] = arith.cmpi eq
// LOWER:         scf.if %[[FIRST]] {
// LOWER-NOT:       scf.if
// LOWER:           memref.store %[[END]]#{{[0-9]+}}, %arg4
func.func @copied(%q: memref<32x32xf16>, %k: memref<1024x32xf16>, %v: memref<1024x32xf16>, %o: memref<32x32xf32>, %l: memref<32xf32>) {
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
      // expected-remark @+1 {{kept by threads}}
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
    memref.copy %largest, %l : memref<32xf32, #wg> to memref<32xf32>
    memref.copy %sums, %o : memref<32x32xf32, #own> to memref<32x32xf32>
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

// It is not stored by columns that are none of its own.

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (n, k)>
#values = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>

// CHECK-LABEL: func.func @spread
// CHECK-NOT:     memref.alloca() : memref<32xf32
func.func @spread(%q: memref<32x32xf16>, %k: memref<1024x32xf16>, %v: memref<1024x32xf16>, %o: memref<32x32xf32>, %l: memref<32x32xf32>) {
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
      // expected-remark @+1 {{reads more than elements of a tile or of rows}}
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
    memref.copy %sums, %o : memref<32x32xf32, #own> to memref<32x32xf32>
    linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%largest : memref<32xf32, #wg>) outs(%l : memref<32x32xf32>) {
    ^bb0(%a: f32, %c: f32):
      linalg.yield %a : f32
    }
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

// Rows of which all is hidden: a truth value for each row is in registers, too. Lanes put theirs
// together behind the loop, where zeros are stored for such rows.

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (n, k)>
#values = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>

// CHECK-LABEL: func.func @hidden
// CHECK:         memref.alloca() : memref<32xi1, #gpu.address_space<private>>

// LOWER-LABEL: func.func @hidden
// LOWER-NOT:     memref.alloca
// LOWER:         scf.for
// LOWER:           arith.cmpf oeq, %{{.+}}, %{{.+}} : vector<2xf32>
// LOWER:           arith.andi %{{.+}}, %{{.+}} : i1
// LOWER:           scf.yield
// LOWER:         arith.extui %{{.+}} : i1 to i32
// LOWER:         gpu.shuffle
// LOWER:         arith.andi %{{.+}}, %{{.+}} : i1
// LOWER:         arith.select
func.func @hidden(%q: memref<32x32xf16>, %k: memref<1024x32xf16>, %v: memref<1024x32xf16>, %o: memref<5x32xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  %true = arith.constant true
  %least = arith.constant -1.0e+30 : f32
  scf.forall (%block) in (1) {
    %largest = memref.alloc() : memref<32xf32, #wg>
    linalg.fill ins(%least : f32) outs(%largest : memref<32xf32, #wg>)
    %all = memref.alloc() : memref<32xi1, #wg>
    linalg.fill ins(%true : i1) outs(%all : memref<32xi1, #wg>)
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
      linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
          ins(%scores : memref<32x64xf32, strided<[80, 1]>, #wg>) outs(%all : memref<32xi1, #wg>) {
      ^bb0(%a: f32, %c: i1):
        %0 = arith.cmpf oeq, %a, %least : f32
        %1 = arith.andi %0, %c : i1
        linalg.yield %1 : i1
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
      // expected-remark @+1 {{kept by threads}}
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
    %rows = memref.subview %all[0] [5] [1] : memref<32xi1, #wg> to memref<5xi1, strided<[1]>, #wg>
    %some = memref.subview %sums[0, 0] [5, 32] [1, 1] : memref<32x32xf32, #own> to memref<5x32xf32, strided<[32, 1]>, #own>
    linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%some, %rows : memref<5x32xf32, strided<[32, 1]>, #own>, memref<5xi1, strided<[1]>, #wg>) outs(%o : memref<5x32xf32>) {
    ^bb0(%a: f32, %b: i1, %c: f32):
      %0 = arith.select %b, %zero, %a : f32
      linalg.yield %0 : f32
    }
  } {mapping = [#gpu.block<x>]}
  return
}
