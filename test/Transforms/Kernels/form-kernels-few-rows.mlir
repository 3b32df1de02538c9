// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-kernels{chain-bytes=83456 chain-blocks=54})' --mlir-print-local-scope -o %t.once
// RUN: FileCheck %s < %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-form-kernels{chain-bytes=83456 chain-blocks=54})' --mlir-print-local-scope | diff %t.once -
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-kernels)' --mlir-print-local-scope | FileCheck %s --check-prefix=NONE
// RUN: sed -e 's/bf16/f16/g' -e 's/f16/bf16/g' %s | mlir-opt --pass-pipeline='builtin.module(workgroup-form-kernels{chain-bytes=83456 chain-blocks=54 chip=sm_80})' | FileCheck %s --check-prefix=BFLOAT
// RUN: sed -e 's/bf16/f16/g' -e 's/f16/bf16/g' %s | mlir-opt --pass-pipeline='builtin.module(workgroup-form-kernels{chain-bytes=83456 chain-blocks=54 chip=sm_75})' | FileCheck %s --check-prefix=TURING
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-kernels{chip=sm_1})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=CHIP

// Tensor cores of sm_75 have no bf16, and f32 goes without them.

// TURING-NOT: expand_shape
// TURING: func.func private @query_2_contraction(
// TURING-NOT: expand_shape
// TURING: func.func private @wide_0_contraction(
// BFLOAT: func.func private @query_0_contraction(
// BFLOAT: tensor.expand_shape
// CHIP: error: 'builtin.module' op cannot be compiled for unknown chip

// Attention of one query has no loop along queries: vectors times matrices. Tensor cores take rows,
// so it gets one, of one iteration, and so does the conversion behind it. Without memory for chains
// there are kernels of their own.

#q = affine_map<(h, n, d) -> (h, d)>
#k = affine_map<(h, n, d) -> (h, n, d)>
#s = affine_map<(h, n, d) -> (h, n)>
#w = affine_map<(h, e, n) -> (h, n)>
#v = affine_map<(h, e, n) -> (h, n, e)>
#o = affine_map<(h, e, n) -> (h, e)>
#id = affine_map<(h, n) -> (h, n)>
#row = affine_map<(h, n) -> (h)>

// NONE-NOT: expand_shape
// NONE: func.func private @query_2_contraction(
// NONE-NOT: expand_shape

// CHECK-LABEL: func.func private @query_0_contraction(
// CHECK-SAME:    tensor<8x1x64xf16>, %{{.+}}: tensor<8x500x64xf16>, %{{.+}}: tensor<8x500x72xf16>, %{{.+}}: tensor<8x1x72xf16>) -> tensor<8x1x72xf16>
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK:           arith.maximumf
// CHECK:         linalg.index 2 : index
// CHECK:         math.exp
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>]
// CHECK:         arith.truncf %{{.+}} : f32 to f16
// CHECK-LABEL: func.func @query(
// CHECK:         tensor.expand_shape %arg0 {{\[\[}}0, 1], [2]] output_shape [8, 1, 64] : tensor<8x64xf16> into tensor<8x1x64xf16>
// CHECK:         call @query_0_contraction
// CHECK:         tensor.collapse_shape %{{.+}} {{\[\[}}0, 1], [2]] : tensor<8x1x72xf16> into tensor<8x72xf16>
func.func @query(%q: tensor<8x64xf16>, %k: tensor<8x500x64xf16>, %v: tensor<8x500x72xf16>) -> tensor<8x72xf16> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<8x500xf32>
  %g = tensor.empty() : tensor<8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x500xf32>) -> tensor<8x500xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "reduction"]} ins(%q, %k : tensor<8x64xf16>, tensor<8x500x64xf16>) outs(%z : tensor<8x500xf32>) {
  ^bb0(%p: f16, %q_: f16, %o: f32):
    %x = arith.extf %p : f16 to f32
    %y = arith.extf %q_ : f16 to f32
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x500xf32>
  %ml = linalg.fill ins(%least : f32) outs(%g : tensor<8xf32>) -> tensor<8xf32>
  %l = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%s : tensor<8x500xf32>) outs(%ml : tensor<8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %0 = arith.maximumf %p, %o : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %weights = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s, %l : tensor<8x500xf32>, tensor<8xf32>) outs(%e : tensor<8x500xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %i = linalg.index 1 : index
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x500xf32>
  %zl = linalg.fill ins(%zero : f32) outs(%g : tensor<8xf32>) -> tensor<8xf32>
  %sums = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%weights : tensor<8x500xf32>) outs(%zl : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%weights, %sums : tensor<8x500xf32>, tensor<8xf32>) outs(%e : tensor<8x500xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8x500xf32>
  %ew = tensor.empty() : tensor<8x500xf16>
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%r : tensor<8x500xf32>) outs(%ew : tensor<8x500xf16>) {
  ^bb0(%p: f32, %o: f16):
    %0 = arith.truncf %p : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<8x500xf16>
  %f = tensor.empty() : tensor<8x72xf32>
  %u = linalg.fill ins(%zero : f32) outs(%f : tensor<8x72xf32>) -> tensor<8x72xf32>
  %t = linalg.generic {indexing_maps = [#w, #v, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%w, %v : tensor<8x500xf16>, tensor<8x500x72xf16>) outs(%u : tensor<8x72xf32>) {
  ^bb0(%p_: f16, %q_: f16, %o: f32):
    %x = arith.extf %p_ : f16 to f32
    %y = arith.extf %q_ : f16 to f32
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x72xf32>
  %h = tensor.empty() : tensor<8x72xf16>
  %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<8x72xf32>) outs(%h : tensor<8x72xf16>) {
  ^bb0(%a: f32, %o: f16):
    %0 = arith.truncf %a : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<8x72xf16>
  return %n : tensor<8x72xf16>
}

// Of f32, and of sums that are no multiple of 16, nothing changes.

// Of f32, too, blocks share the columns.
// CHECK-LABEL: func.func private @wide_0_contraction(
// CHECK-SAME:    tensor<8x1x64xf32>
// CHECK-LABEL: func.func @wide(
// CHECK:         tensor.expand_shape %arg0
func.func @wide(%q: tensor<8x64xf32>, %k: tensor<8x500x64xf32>, %v: tensor<8x500x72xf32>) -> tensor<8x72xf16> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<8x500xf32>
  %g = tensor.empty() : tensor<8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x500xf32>) -> tensor<8x500xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "reduction"]} ins(%q, %k : tensor<8x64xf32>, tensor<8x500x64xf32>) outs(%z : tensor<8x500xf32>) {
  ^bb0(%p: f32, %q_: f32, %o: f32):
    %0 = arith.mulf %p, %q_ : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x500xf32>
  %ml = linalg.fill ins(%least : f32) outs(%g : tensor<8xf32>) -> tensor<8xf32>
  %l = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%s : tensor<8x500xf32>) outs(%ml : tensor<8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %0 = arith.maximumf %p, %o : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %weights = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s, %l : tensor<8x500xf32>, tensor<8xf32>) outs(%e : tensor<8x500xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %i = linalg.index 1 : index
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x500xf32>
  %zl = linalg.fill ins(%zero : f32) outs(%g : tensor<8xf32>) -> tensor<8xf32>
  %sums = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%weights : tensor<8x500xf32>) outs(%zl : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%weights, %sums : tensor<8x500xf32>, tensor<8xf32>) outs(%e : tensor<8x500xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8x500xf32>
  %f = tensor.empty() : tensor<8x72xf32>
  %u = linalg.fill ins(%zero : f32) outs(%f : tensor<8x72xf32>) -> tensor<8x72xf32>
  %t = linalg.generic {indexing_maps = [#w, #v, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%r, %v : tensor<8x500xf32>, tensor<8x500x72xf32>) outs(%u : tensor<8x72xf32>) {
  ^bb0(%p_: f32, %q_: f32, %o: f32):
    %0 = arith.mulf %p_, %q_ : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x72xf32>
  %h = tensor.empty() : tensor<8x72xf16>
  %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<8x72xf32>) outs(%h : tensor<8x72xf16>) {
  ^bb0(%a: f32, %o: f16):
    %0 = arith.truncf %a : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<8x72xf16>
  return %n : tensor<8x72xf16>
}

// Sums of 4 are not filled up to whole matrices.
// CHECK-LABEL: func.func private @odd_2_contraction(
// CHECK-NOT:     expand_shape
// CHECK-LABEL: func.func @odd(
// CHECK-NOT:     expand_shape
func.func @odd(%q: tensor<8x4xbf16>, %k: tensor<8x500x4xbf16>, %v: tensor<8x500x72xbf16>) -> tensor<8x72xf16> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<8x500xf32>
  %g = tensor.empty() : tensor<8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x500xf32>) -> tensor<8x500xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "reduction"]} ins(%q, %k : tensor<8x4xbf16>, tensor<8x500x4xbf16>) outs(%z : tensor<8x500xf32>) {
  ^bb0(%p: bf16, %q_: bf16, %o: f32):
    %x = arith.extf %p : bf16 to f32
    %y = arith.extf %q_ : bf16 to f32
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x500xf32>
  %ml = linalg.fill ins(%least : f32) outs(%g : tensor<8xf32>) -> tensor<8xf32>
  %l = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%s : tensor<8x500xf32>) outs(%ml : tensor<8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %0 = arith.maximumf %p, %o : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %weights = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s, %l : tensor<8x500xf32>, tensor<8xf32>) outs(%e : tensor<8x500xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %i = linalg.index 1 : index
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x500xf32>
  %zl = linalg.fill ins(%zero : f32) outs(%g : tensor<8xf32>) -> tensor<8xf32>
  %sums = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%weights : tensor<8x500xf32>) outs(%zl : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%weights, %sums : tensor<8x500xf32>, tensor<8xf32>) outs(%e : tensor<8x500xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8x500xf32>
  %ew = tensor.empty() : tensor<8x500xbf16>
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%r : tensor<8x500xf32>) outs(%ew : tensor<8x500xbf16>) {
  ^bb0(%p: f32, %o: bf16):
    %0 = arith.truncf %p : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<8x500xbf16>
  %f = tensor.empty() : tensor<8x72xf32>
  %u = linalg.fill ins(%zero : f32) outs(%f : tensor<8x72xf32>) -> tensor<8x72xf32>
  %t = linalg.generic {indexing_maps = [#w, #v, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%w, %v : tensor<8x500xbf16>, tensor<8x500x72xbf16>) outs(%u : tensor<8x72xf32>) {
  ^bb0(%p_: bf16, %q_: bf16, %o: f32):
    %x = arith.extf %p_ : bf16 to f32
    %y = arith.extf %q_ : bf16 to f32
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x72xf32>
  %h = tensor.empty() : tensor<8x72xf16>
  %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<8x72xf32>) outs(%h : tensor<8x72xf16>) {
  ^bb0(%a: f32, %o: f16):
    %0 = arith.truncf %a : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<8x72xf16>
  return %n : tensor<8x72xf16>
}
