// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-unpack-products)' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-unpack-products)' -o %t.twice
// RUN: diff %t.once %t.twice

gpu.module @kernels {
  // The sums go from product to product as they are, rows of factors to where
  // they are multiplied, and only what is asked for is made a vector again.
  // CHECK-LABEL: gpu.func @chain
  // CHECK-SAME:    (%[[A0:.+]]: vector<2xf16>, %[[A1:.+]]: vector<2xf16>, %[[A2:.+]]: vector<2xf16>, %[[A3:.+]]: vector<2xf16>, %[[B:.+]]: vector<2x2xf16>, %[[C:.+]]: vector<2x2xf32>)
  // CHECK-DAG:     %[[B0:.+]] = vector.extract %[[B]][0] : vector<2xf16>
  // CHECK-DAG:     %[[B1:.+]] = vector.extract %[[B]][1] : vector<2xf16>
  // CHECK-DAG:     %[[C0:.+]] = vector.extract %[[C]][0, 0]
  // CHECK-DAG:     %[[C1:.+]] = vector.extract %[[C]][0, 1]
  // CHECK-DAG:     %[[C2:.+]] = vector.extract %[[C]][1, 0]
  // CHECK-DAG:     %[[C3:.+]] = vector.extract %[[C]][1, 1]
  // CHECK-NOT:     {{vector\.(from|to)_elements}}
  // CHECK:         %[[S:.+]] = nvvm.mma.sync A[%[[A0]], %[[A1]], %[[A2]], %[[A3]]] B[%[[B0]], %[[B1]]] C[%[[C0]], %[[C1]], %[[C2]], %[[C3]]]
  // CHECK-SAME:      layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>
  // CHECK-SAME:      shape = #nvvm.shape<m = 16, n = 8, k = 16>
  // CHECK:         %[[S0:.+]] = llvm.extractvalue %[[S]][0]
  // CHECK:         %[[S1:.+]] = llvm.extractvalue %[[S]][1]
  // CHECK:         %[[S2:.+]] = llvm.extractvalue %[[S]][2]
  // CHECK:         %[[S3:.+]] = llvm.extractvalue %[[S]][3]
  // CHECK-NEXT:    %[[T:.+]] = nvvm.mma.sync A[%[[A0]], %[[A1]], %[[A2]], %[[A3]]] B[%[[B0]], %[[B1]]] C[%[[S0]], %[[S1]], %[[S2]], %[[S3]]]
  // CHECK:         %[[T0:.+]] = llvm.extractvalue %[[T]][0]
  // CHECK:         %[[T1:.+]] = llvm.extractvalue %[[T]][1]
  // CHECK:         %[[T2:.+]] = llvm.extractvalue %[[T]][2]
  // CHECK:         %[[T3:.+]] = llvm.extractvalue %[[T]][3]
  // CHECK-NEXT:    %[[ROW:.+]] = vector.from_elements %[[T2]], %[[T3]] : vector<2xf32>
  // CHECK-NEXT:    gpu.return %[[ROW]], %[[T1]], %[[S0]] : vector<2xf32>, f32, f32
  gpu.func @chain(%a0: vector<2xf16>, %a1: vector<2xf16>, %a2: vector<2xf16>, %a3: vector<2xf16>,
                  %b: vector<2x2xf16>, %c: vector<2x2xf32>) -> (vector<2xf32>, f32, f32) {
    %e0:2 = vector.to_elements %a0 : vector<2xf16>
    %e1:2 = vector.to_elements %a1 : vector<2xf16>
    %e2:2 = vector.to_elements %a2 : vector<2xf16>
    %e3:2 = vector.to_elements %a3 : vector<2xf16>
    %a = vector.from_elements %e0#0, %e0#1, %e1#0, %e1#1, %e2#0, %e2#1, %e3#0, %e3#1 : vector<4x2xf16>
    %s = nvgpu.mma.sync(%a, %b, %c) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %t = nvgpu.mma.sync(%a, %b, %s) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %row = vector.extract %t[1] : vector<2xf32> from vector<2x2xf32>
    %one = vector.extract %t[0, 1] : f32 from vector<2x2xf32>
    %all:4 = vector.to_elements %s : vector<2x2xf32>
    gpu.return %row, %one, %all#0 : vector<2xf32>, f32, f32
  }

  // Elements that are of no vector, or not in its order, become one.
  // CHECK-LABEL: gpu.func @elements
  // CHECK-SAME:    (%[[E:.+]]: vector<2xf16>, %[[X:.+]]: f16
  // CHECK:         %[[OF:.+]]:2 = vector.to_elements %[[E]]
  // CHECK:         %[[SWAPPED:.+]] = vector.from_elements %[[OF]]#1, %[[OF]]#0 : vector<2xf16>
  // CHECK:         %[[OWN:.+]] = vector.from_elements %[[X]], %[[OF]]#1 : vector<2xf16>
  // CHECK:         nvvm.mma.sync A[%[[SWAPPED]], %[[OWN]]] B[%[[E]]]
  gpu.func @elements(%e: vector<2xf16>, %x: f16, %c: vector<2x2xf32>) -> vector<2x2xf32> {
    %of:2 = vector.to_elements %e : vector<2xf16>
    %a = vector.from_elements %of#1, %of#0, %x, %of#1 : vector<2x2xf16>
    %b = vector.from_elements %of#0, %of#1 : vector<1x2xf16>
    %s = nvgpu.mma.sync(%a, %b, %c) {mmaShape = [16, 8, 8]} : (vector<2x2xf16>, vector<1x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    gpu.return %s : vector<2x2xf32>
  }

  // Sums of f16 are in registers of two. What goes around a loop, or is used by
  // something else, is a matrix there.
  // CHECK-LABEL: gpu.func @loop
  // CHECK:         scf.for {{.+}} iter_args(%[[SUM:.+]] = %{{.+}}) -> (vector<2x2xf16>) {
  // CHECK-NEXT:      %[[C0:.+]] = vector.extract %[[SUM]][0]
  // CHECK-NEXT:      %[[C1:.+]] = vector.extract %[[SUM]][1]
  // CHECK-NEXT:      %[[S:.+]] = nvvm.mma.sync {{.+}} C[%[[C0]], %[[C1]]]
  // CHECK-NEXT:      %[[S0:.+]] = llvm.extractvalue %[[S]][0] : !llvm.struct<(vector<2xf16>, vector<2xf16>)>
  // CHECK-NEXT:      %[[S1:.+]] = llvm.extractvalue %[[S]][1]
  // CHECK-NEXT:      %[[E0:.+]]:2 = vector.to_elements %[[S0]]
  // CHECK-NEXT:      %[[E1:.+]]:2 = vector.to_elements %[[S1]]
  // CHECK-NEXT:      %[[ALL:.+]] = vector.from_elements %[[E0]]#0, %[[E0]]#1, %[[E1]]#0, %[[E1]]#1 : vector<2x2xf16>
  // CHECK-NEXT:      vector.print %[[S1]]
  // CHECK-NEXT:      scf.yield %[[ALL]]
  gpu.func @loop(%a: vector<2x2xf16>, %b: vector<1x2xf16>, %c: vector<2x2xf16>, %n: index) -> vector<2x2xf16> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %c) -> vector<2x2xf16> {
      %s = nvgpu.mma.sync(%a, %b, %sum) {mmaShape = [16, 8, 8]} : (vector<2x2xf16>, vector<1x2xf16>, vector<2x2xf16>) -> vector<2x2xf16>
      %row = vector.extract %s[1] : vector<2xf16> from vector<2x2xf16>
      vector.print %row : vector<2xf16>
      scf.yield %s : vector<2x2xf16>
    }
    gpu.return %r : vector<2x2xf16>
  }

  // CHECK-LABEL: gpu.func @tf32
  // CHECK-COUNT-6: llvm.bitcast %{{.+}} : f32 to i32
  // CHECK:         nvvm.mma.sync
  // CHECK-SAME:      multiplicandAPtxType = #nvvm.mma_type<tf32>, multiplicandBPtxType = #nvvm.mma_type<tf32>
  // CHECK-SAME:      shape = #nvvm.shape<m = 16, n = 8, k = 8>
  // CHECK-NOT:     llvm.bitcast
  // CHECK:         nvvm.mma.sync
  gpu.func @tf32(%a: vector<4x1xf32>, %b: vector<2x1xf32>, %c: vector<2x2xf32>) -> vector<2x2xf32> {
    %s = nvgpu.mma.sync(%a, %b, %c) {mmaShape = [16, 8, 8], tf32Enabled} : (vector<4x1xf32>, vector<2x1xf32>, vector<2x2xf32>) -> vector<2x2xf32>
    %t = nvgpu.mma.sync(%a, %b, %s) {mmaShape = [16, 8, 8], tf32Enabled} : (vector<4x1xf32>, vector<2x1xf32>, vector<2x2xf32>) -> vector<2x2xf32>
    gpu.return %t : vector<2x2xf32>
  }

  // CHECK-LABEL: gpu.func @f64
  // CHECK:         nvvm.mma.sync A[%{{[^,]+}}] B[%{{[^,]+}}] C[%{{.+}}, %{{.+}}]
  // CHECK-SAME:      shape = #nvvm.shape<m = 8, n = 8, k = 4>
  // CHECK-SAME:      (f64, f64, f64) -> !llvm.struct<(f64, f64)>
  gpu.func @f64(%a: vector<1x1xf64>, %b: vector<1x1xf64>, %c: vector<1x2xf64>) -> vector<1x2xf64> {
    %s = nvgpu.mma.sync(%a, %b, %c) {mmaShape = [8, 8, 4]} : (vector<1x1xf64>, vector<1x1xf64>, vector<1x2xf64>) -> vector<1x2xf64>
    gpu.return %s : vector<1x2xf64>
  }

  // Left to upstream: integers, and f32 that nobody rounds.
  // CHECK-LABEL: gpu.func @others
  // CHECK:         nvgpu.mma.sync
  // CHECK:         nvgpu.mma.sync
  gpu.func @others(%a: vector<4x4xi8>, %b: vector<2x4xi8>, %c: vector<2x2xi32>,
                   %d: vector<4x1xf32>, %e: vector<2x1xf32>, %f: vector<2x2xf32>) -> (vector<2x2xi32>, vector<2x2xf32>) {
    %s = nvgpu.mma.sync(%a, %b, %c) {mmaShape = [16, 8, 32]} : (vector<4x4xi8>, vector<2x4xi8>, vector<2x2xi32>) -> vector<2x2xi32>
    %t = nvgpu.mma.sync(%d, %e, %f) {mmaShape = [16, 8, 8]} : (vector<4x1xf32>, vector<2x1xf32>, vector<2x2xf32>) -> vector<2x2xf32>
    gpu.return %s, %t : vector<2x2xi32>, vector<2x2xf32>
  }
}

// CHECK-LABEL: func.func @launch
// CHECK:         gpu.launch
// CHECK:         nvvm.mma.sync
func.func @launch(%a: vector<2x2xf16>, %b: vector<1x2xf16>, %c: vector<2x2xf32>) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %s = nvgpu.mma.sync(%a, %b, %c) {mmaShape = [16, 8, 8]} : (vector<2x2xf16>, vector<1x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    vector.print %s : vector<2x2xf32>
    gpu.terminator
  }
  return
}
