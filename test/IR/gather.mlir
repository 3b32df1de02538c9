// RUN: mlir-opt %s | mlir-opt | FileCheck %s
// RUN: mlir-opt %s --mlir-print-op-generic | mlir-opt | FileCheck %s

#pixels = affine_map<(y, x, c)[dy, dx] -> (y * 2 + dy, x * 2 + dx, c)>
#same = affine_map<(i) -> (i)>

// CHECK-DAG: #[[$PIXELS:.+]] = affine_map<(d0, d1, d2)[s0, s1] -> (d0 * 2 + s0, d1 * 2 + s1, d2)>
// CHECK-DAG: #[[$SAME:.+]] = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func @gather
// CHECK:         workgroup.gather %{{.+}} by #[[$PIXELS]][%{{.+}}, %{{.+}}] to %{{.+}} : memref<64x?x32xf16> to memref<8x16x32xf16, #gpu.address_space<workgroup>>
// CHECK:         workgroup.gather %{{.+}} by #[[$SAME]] within[%{{.+}}] to %{{.+}} : memref<?xf32> to memref<16xf32, 3>
func.func @gather(%image: memref<64x?x32xf16>, %tile: memref<8x16x32xf16, #gpu.address_space<workgroup>>,
                  %row: memref<?xf32>, %part: memref<16xf32, 3>, %dy: index, %dx: index) {
  workgroup.gather %image by #pixels [%dy, %dx] to %tile : memref<64x?x32xf16> to memref<8x16x32xf16, #gpu.address_space<workgroup>>
  workgroup.gather %row by #same within [%dx] to %part : memref<?xf32> to memref<16xf32, 3>
  return
}
