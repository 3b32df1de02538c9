// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-normalize-linalg{drop-assertions})' --remarks-filter='workgroup.*' --remark-format=emitRemark --verify-diagnostics | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-normalize-linalg)' | FileCheck %s --check-prefix=KEPT

// Bodies assert in kernels, unless they are asked not to; the host does anyway.
// CHECK:     cf.assert %{{.+}}, "of the host"
// CHECK-NOT: cf.assert
// KEPT:      cf.assert %{{.+}}, "of the host"
// KEPT:      cf.assert %{{.+}}, "in a body"
func.func @assertion(%a: tensor<4xf32>, %o: tensor<4xf32>, %ok: i1) -> tensor<4xf32> {
  cf.assert %ok, "of the host"
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    // expected-warning @+2 {{'cf.assert' op is dropped, and not checked by the kernel; leave out 'drop-assertions' to keep it}}
    // expected-remark @+1 {{[Passed] DroppedAssertion | Category:workgroup-normalize-linalg | Function=assertion | Assertion="in a body", Remark="a kernel does not check this assertion"}}
    cf.assert %ok, "in a body"
    %1 = arith.negf %x : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
