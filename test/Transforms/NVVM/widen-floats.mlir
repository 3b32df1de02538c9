// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-widen-floats)' | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @sum
  // CHECK:       %[[A:.+]] = arith.extf %{{.+}} : f8E5M2 to f32
  // CHECK:       %[[B:.+]] = arith.extf %{{.+}} : f8E5M2 to f32
  // CHECK:       %[[S:.+]] = arith.addf %[[A]], %[[B]] fastmath<contract> : f32
  // CHECK:       %[[R:.+]] = arith.truncf %[[S]] : f32 to f8E5M2
  // CHECK:       memref.store %[[R]]
  gpu.func @sum(%a: f8E5M2, %b: f8E5M2, %out: memref<f8E5M2>) kernel {
    %0 = arith.addf %a, %b fastmath<contract> : f8E5M2
    memref.store %0, %out[] : memref<f8E5M2>
    gpu.return
  }

  // A product and a sum in one are exact in f64 only; comparisons have no result to round.
  // CHECK-LABEL: gpu.func @fused
  // CHECK:       vector.fma {{.+}} : vector<4xf64>
  // CHECK:       arith.truncf {{.+}} : vector<4xf64> to vector<4xf8E4M3FN>
  // CHECK:       arith.cmpf olt, {{.+}} : vector<4xf32>
  gpu.func @fused(%a: vector<4xf8E4M3FN>, %out: memref<4xi1>) kernel {
    %c0 = arith.constant 0 : index
    %0 = vector.fma %a, %a, %a : vector<4xf8E4M3FN>
    %1 = arith.cmpf olt, %0, %a : vector<4xf8E4M3FN>
    %2 = vector.extract %1[0] : i1 from vector<4xi1>
    memref.store %2, %out[%c0] : memref<4xi1>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @warp
  // CHECK:       gpu.subgroup_reduce maximumf %{{.+}} : (f32) -> f32
  // CHECK:       gpu.all_reduce add %{{.+}} uniform {
  // CHECK:       : (f32) -> f32
  gpu.func @warp(%a: f4E2M1FN, %out: memref<f4E2M1FN>) kernel {
    %0 = gpu.subgroup_reduce maximumf %a : (f4E2M1FN) -> f4E2M1FN
    %1 = gpu.all_reduce add %0 uniform {} : (f4E2M1FN) -> f4E2M1FN
    memref.store %1, %out[] : memref<f4E2M1FN>
    gpu.return
  }

  // What moves, converts, or makes a power of two is left alone, and what is wide enough.
  // CHECK-LABEL: gpu.func @left
  // CHECK-NOT:   arith.extf
  // CHECK:       arith.mulf %{{.+}}, %{{.+}} : f8E8M0FNU
  // CHECK-NOT:   arith.extf
  // CHECK:       gpu.return
  gpu.func @left(%a: f8E8M0FNU, %b: f8E5M2, %c: i1, %d: f16, %s: memref<f8E8M0FNU>, %t: memref<f8E5M2>, %u: memref<f16>) kernel {
    %0 = arith.mulf %a, %a : f8E8M0FNU
    memref.store %0, %s[] : memref<f8E8M0FNU>
    %one = arith.constant 1.0 : f8E5M2
    %1 = arith.select %c, %b, %one : f8E5M2
    memref.store %1, %t[] : memref<f8E5M2>
    %2 = arith.addf %d, %d : f16
    memref.store %2, %u[] : memref<f16>
    gpu.return
  }
}

// Of the host, what a kernel will do: bodies, but not those that named operations stand for.
// CHECK-LABEL: func.func @host
// CHECK:       arith.negf %{{.+}} : f8E5M2
// CHECK:       arith.mulf %{{.+}}, %{{.+}} : tensor<4xf32>
// CHECK:       linalg.add
// CHECK:       linalg.map
// CHECK:       arith.addf %{{.+}}, %{{.+}} : f32
func.func @host(%f: f8E5M2, %x: tensor<4xf8E5M2>) -> (f8E5M2, tensor<4xf8E5M2>) {
  %0 = arith.negf %f : f8E5M2
  %1 = arith.mulf %x, %x : tensor<4xf8E5M2>
  %2 = linalg.add ins(%1, %x : tensor<4xf8E5M2>, tensor<4xf8E5M2>) outs(%x : tensor<4xf8E5M2>) -> tensor<4xf8E5M2>
  %3 = linalg.map ins(%2 : tensor<4xf8E5M2>) outs(%x : tensor<4xf8E5M2>) (%a: f8E5M2, %o: f8E5M2) {
    %4 = arith.addf %a, %f : f8E5M2
    linalg.yield %4 : f8E5M2
  }
  return %0, %3 : f8E5M2, tensor<4xf8E5M2>
}
