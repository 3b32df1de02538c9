// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-normalize-linalg,workgroup-form-kernels{chain-bytes=83456 chain-blocks=4 narrow=true})' --mlir-print-local-scope -o %t.once
// RUN: FileCheck %s < %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-form-kernels{chain-bytes=83456 chain-blocks=4 narrow=true})' --mlir-print-local-scope | diff %t.once -
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-normalize-linalg,workgroup-form-kernels{chain-bytes=83456 chain-blocks=4})' --mlir-print-local-scope | FileCheck %s --check-prefix=EXACT
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-normalize-linalg,workgroup-form-kernels{chain-bytes=83456 chain-blocks=4 chip=sm_75 narrow=true})' --mlir-print-local-scope | FileCheck %s --check-prefix=LACKS
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-normalize-linalg,workgroup-form-kernels{chain-bytes=83456 chain-blocks=4})' --remarks-filter-missed='workgroup.*' --remark-format=emitRemark --verify-diagnostics -o /dev/null

// Weights are rounded to the 16 bits of values, and extended in the body of the product.

// CHECK-LABEL: func.func private @attention_0_contraction(
// CHECK:         math.exp
// CHECK:         arith.divf
// CHECK:         %[[WEIGHTS:.+]] = linalg.generic {{.+}} ins(%{{.+}} : tensor<64x4096xf32>) outs(%{{.+}} : tensor<64x4096xbf16>)
// CHECK:           arith.truncf %{{.+}} : f32 to bf16
// CHECK:         linalg.generic {{.+}} ins(%[[WEIGHTS]], %{{.+}} : tensor<64x4096xbf16>, tensor<4096x64xbf16>) outs(%{{.+}} : tensor<64x64xf32>)
// CHECK-NEXT:    ^bb0(%[[X:.+]]: bf16, %[[Y:.+]]: bf16, %{{.+}}: f32):
// CHECK-DAG:       arith.extf %[[X]] : bf16 to f32
// CHECK-DAG:       arith.extf %[[Y]] : bf16 to f32

// EXACT-LABEL: func.func private @attention_0_contraction(
// EXACT-NOT:     arith.truncf
// EXACT:         linalg.generic {{.+}} ins(%{{.+}}, %{{.+}} : tensor<64x4096xf32>, tensor<4096x64xbf16>)

// LACKS-LABEL: func.func private @attention_0_contraction(
// LACKS-NOT:     arith.truncf
// LACKS:         linalg.generic {{.+}} ins(%{{.+}}, %{{.+}} : tensor<64x4096xf32>, tensor<4096x64xbf16>)

!k = tensor<4096x64xbf16>
!q = tensor<64x64xbf16>
!s = tensor<64x4096xf32>
!r = tensor<64xf32>
!o = tensor<64x64xf32>

#all = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
func.func @attention(%q: !q, %k: !k, %v: !k) -> !o {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !s
  %f = linalg.fill ins(%zero : f32) outs(%e : !s) -> !s
  %s = linalg.generic {indexing_maps = [affine_map<(m, n, d) -> (m, d)>,
        affine_map<(m, n, d) -> (n, d)>, affine_map<(m, n, d) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q, %k : !q, !k) outs(%f : !s) {
  ^bb0(%x: bf16, %y: bf16, %z: f32):
    %0 = arith.extf %x : bf16 to f32
    %1 = arith.extf %y : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %z, %2 : f32
    linalg.yield %3 : f32
  } -> !s
  %p = linalg.softmax dimension(1) ins(%s : !s) outs(%e : !s) -> !s
  %vw = arith.extf %v : !k to tensor<4096x64xf32>
  %oe = tensor.empty() : !o
  %of = linalg.fill ins(%zero : f32) outs(%oe : !o) -> !o
  // expected-remark @+1 {{tensor cores could multiply values of 16 bits by weights that are rounded to as many: with the option 'narrow' (--numerics narrow) they do}}
  %o = linalg.matmul ins(%p, %vw : !s, tensor<4096x64xf32>) outs(%of : !o) -> !o
  return %o : !o
}

// No weights of a softmax, which are 1 at most.

// CHECK-LABEL: func.func private @layers_0_contraction(
// CHECK-NOT:     arith.truncf
// CHECK:         linalg.generic {{.+}} ins(%{{.+}}, %{{.+}} : tensor<64x256xf32>, tensor<256x64xf16>)
func.func @layers(%x: tensor<64x64xf16>, %v: tensor<64x256xf16>, %w: tensor<256x64xf16>) -> !o {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x256xf32>) -> tensor<64x256xf32>
  %0 = linalg.matmul ins(%x, %v : tensor<64x64xf16>, tensor<64x256xf16>) outs(%f : tensor<64x256xf32>) -> tensor<64x256xf32>
  %1 = linalg.exp ins(%0 : tensor<64x256xf32>) outs(%e : tensor<64x256xf32>) -> tensor<64x256xf32>
  %ww = arith.extf %w : tensor<256x64xf16> to tensor<256x64xf32>
  %oe = tensor.empty() : !o
  %of = linalg.fill ins(%zero : f32) outs(%oe : !o) -> !o
  %2 = linalg.matmul ins(%1, %ww : tensor<64x256xf32>, tensor<256x64xf32>) outs(%of : !o) -> !o
  return %2 : !o
}
