// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-normalize-linalg,workgroup-form-kernels{chain-bytes=83456 chain-blocks=16})' --mlir-print-local-scope -o %t.once
// RUN: FileCheck %s < %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-form-kernels{chain-bytes=83456 chain-blocks=16})' --mlir-print-local-scope | diff %t.once -
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-normalize-linalg,workgroup-form-kernels)' --mlir-print-local-scope | FileCheck %s --check-prefix=NONE

// One kernel goes through the columns and divides by the sums of weights behind them: until then
// results are many times as large as those of the program, and have no room in f16. They are added
// up in f32, and rounded behind the division. Kernels of their own add up as the program does.

// CHECK-LABEL: func.func private @main_0_contraction(
// CHECK:         math.exp
// CHECK:         %[[SUMS:.+]] = linalg.generic {{.*}}"reduction"]} ins(%{{.+}}, %{{.+}} : tensor<8x32x4096xf16>, tensor<8x4096x64xf16>) outs(%{{.+}} : tensor<8x32x64xf32>)
// CHECK-NEXT:    ^bb0(%[[X:.+]]: f16, %[[Y:.+]]: f16, %[[Z:.+]]: f32):
// CHECK:           %[[A:.+]] = arith.extf %[[X]] : f16 to f32
// CHECK:           %[[B:.+]] = arith.extf %[[Y]] : f16 to f32
// CHECK:           %[[P:.+]] = arith.mulf %[[A]], %[[B]] : f32
// CHECK:           arith.addf %[[Z]], %[[P]] : f32
// CHECK:         linalg.generic {{.*}} ins(%[[SUMS]] : tensor<8x32x64xf32>) outs(%{{.+}} : tensor<8x32x64xf16>)
// CHECK:           arith.truncf %{{.+}} : f32 to f16

// NONE-NOT: tensor<8x32x64xf32>
// NONE:     arith.addf %{{.+}}, %{{.+}} : f16

!t = f16
!k = tensor<8x4096x64xf16>
!w = tensor<8x32x4096xf16>
!s = tensor<8x32x4096xf32>
!r = tensor<8x32xf32>
!o = tensor<8x32x64xf16>

#all = affine_map<(b, m, n) -> (b, m, n)>
#row = affine_map<(b, m, n) -> (b, m)>
func.func @main(%q: !o, %k: !k, %v: !k) -> !o {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : !t
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : !s
  %f = linalg.fill ins(%zero : f32) outs(%e : !s) -> !s
  %s = linalg.generic {indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>,
        affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : !o, !k) outs(%f : !s) {
  ^bb0(%x: !t, %y: !t, %z: f32):
    %0 = arith.extf %x : !t to f32
    %1 = arith.extf %y : !t to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %z, %2 : f32
    linalg.yield %3 : f32
  } -> !s
  %re = tensor.empty() : !r
  %m0 = linalg.fill ins(%least : f32) outs(%re : !r) -> !r
  %m = linalg.generic {indexing_maps = [#all, #row],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%s : !s) outs(%m0 : !r) {
  ^bb0(%x: f32, %y: f32):
    %0 = arith.maximumf %x, %y : f32
    linalg.yield %0 : f32
  } -> !r
  %p = linalg.generic {indexing_maps = [#all, #row, #all],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %m : !s, !r) outs(%e : !s) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.subf %x, %y : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> !s
  %l0 = linalg.fill ins(%zero : f32) outs(%re : !r) -> !r
  %l = linalg.generic {indexing_maps = [#all, #row],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%p : !s) outs(%l0 : !r) {
  ^bb0(%x: f32, %y: f32):
    %0 = arith.addf %x, %y : f32
    linalg.yield %0 : f32
  } -> !r
  %we = tensor.empty() : !w
  %w = linalg.generic {indexing_maps = [#all, #row, #all],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %l : !s, !r) outs(%we : !w) {
  ^bb0(%x: f32, %y: f32, %z: !t):
    %0 = arith.divf %x, %y : f32
    %1 = arith.truncf %0 : f32 to !t
    linalg.yield %1 : !t
  } -> !w
  %oe = tensor.empty() : !o
  %of = linalg.fill ins(%none : !t) outs(%oe : !o) -> !o
  %o = linalg.batch_matmul ins(%w, %v : !w, !k) outs(%of : !o) -> !o
  return %o : !o
}
