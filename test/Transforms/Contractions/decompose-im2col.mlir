// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-decompose-im2col)' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-decompose-im2col)' | diff %t.once -
// RUN: sed 's/f16/bf16/g' %s | mlir-opt --pass-pipeline='builtin.module(workgroup-decompose-im2col{chip=sm_75})' | FileCheck %s --check-prefix=STEM75
// RUN: mlir-opt %s --pass-pipeline='builtin.module(func.func(workgroup-decompose-im2col,workgroup-stage-operands,workgroup-form-launches{threads=64}),workgroup-form-rings{slots=3})' | FileCheck %s --check-prefix=RING

#image = affine_map<(n, y, x, f, dy, dx, c) -> (n, y * 2 + dy, x + dx * 3, c)>
#filter = affine_map<(n, y, x, f, dy, dx, c) -> (dy, dx, c, f)>
#result = affine_map<(n, y, x, f, dy, dx, c) -> (n, y, x, f)>
#stem = affine_map<(n, y, x, f, dy, dx, c) -> (n, y * 2 + dy, x + dx, c)>
#channels_first = affine_map<(g, f, x, c, dx) -> (g, c, x * 2 + dx)>
#weights = affine_map<(g, f, x, c, dx) -> (g, f, c, dx)>
#rows = affine_map<(g, f, x, c, dx) -> (g, f, x)>

// Strides, dilations; channels last. The loops over the sums are one, the tile has the loops of more
// than one iteration, channels last. All of it is there: nothing is asked. The filter of one place of the
// window is a matrix.
// CHECK-DAG: #[[$GATHER:.+]] = affine_map<(d0, d1, d2) -> (0, d0 * 2, d1, d2)>
// CHECK-DAG: #[[$TILE:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, d4)>
// CHECK-DAG: #[[$MATRIX:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d4, d3)>
// CHECK-LABEL: func.func @nhwc
// CHECK:         scf.forall
// CHECK:           %[[TILE_A:.+]] = memref.alloc() {alignment = 16 : i64} : memref<8x8x32xf16, #gpu.address_space<workgroup>>
// CHECK:           scf.for %[[K:.+]] = %{{.+}} to %[[ALL:.+]] step
// CHECK:             arith.remui %[[K]]
// CHECK-NOT:         scf.for
// CHECK:             %[[WINDOW:.+]] = memref.subview {{.+}} [1, 15, 8, 32] [1, 1, 1, 1]
// CHECK:             workgroup.gather %[[WINDOW]] by #[[$GATHER]] to %[[TILE_A]]
// CHECK-NEXT:        %[[FILTER:.+]] = memref.subview {{.+}} [1, 1, 32, 32] [1, 1, 1, 1] : {{.+}} to memref<32x32xf16,
// CHECK-NEXT:        linalg.generic {indexing_maps = [#[[$TILE]], #[[$MATRIX]],
// CHECK-SAME:          ins(%[[TILE_A]], %[[FILTER]] : memref<8x8x32xf16, #gpu.address_space<workgroup>>

// RING-LABEL: func.func @nhwc
// RING:         workgroup.ring : !workgroup.ring<3 slots of memref<8x8x32xf16, #gpu.address_space<workgroup>>, memref<32x32xf16, #gpu.address_space<workgroup>>>
// RING:         %[[PUT:.+]]:2 = workgroup.put
// RING:         workgroup.gather %{{.+}} by #{{.+}} to %[[PUT]]#0
// RING-NEXT:    workgroup.copy %{{.+}} to %[[PUT]]#1
// RING-NEXT:    workgroup.commit
// RING-NEXT:    %[[GET:.+]]:2 = workgroup.get
// RING-NEXT:    linalg.generic
// RING-SAME:      ins(%[[GET]]#0, %[[GET]]#1
func.func @nhwc(%image: memref<2x17x14x64xf16> {llvm.noalias}, %filter: memref<3x3x64x32xf16> {llvm.noalias}, %result: memref<2x8x8x32xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  scf.forall (%n) in (2) {
    %i = memref.subview %image[%n, 0, 0, 0] [1, 17, 14, 64] [1, 1, 1, 1] : memref<2x17x14x64xf16> to memref<1x17x14x64xf16, strided<[15232, 896, 64, 1], offset: ?>>
    %r = memref.subview %result[%n, 0, 0, 0] [1, 8, 8, 32] [1, 1, 1, 1] : memref<2x8x8x32xf32> to memref<1x8x8x32xf32, strided<[2048, 256, 32, 1], offset: ?>>
    linalg.fill ins(%zero : f32) outs(%r : memref<1x8x8x32xf32, strided<[2048, 256, 32, 1], offset: ?>>)
    scf.for %dy = %c0 to %c3 step %c1 {
      scf.for %dx = %c0 to %c3 step %c1 {
        scf.for %c = %c0 to %c64 step %c32 {
          %x = affine.apply affine_map<(d) -> (d * 3)>(%dx)
          %window = memref.subview %i[0, %dy, %x, %c] [1, 15, 8, 32] [1, 1, 1, 1] : memref<1x17x14x64xf16, strided<[15232, 896, 64, 1], offset: ?>> to memref<1x15x8x32xf16, strided<[15232, 896, 64, 1], offset: ?>>
          %w = memref.subview %filter[%dy, %dx, %c, 0] [1, 1, 32, 32] [1, 1, 1, 1] : memref<3x3x64x32xf16> to memref<1x1x32x32xf16, strided<[6144, 2048, 32, 1], offset: ?>>
          linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
            ins(%window, %w : memref<1x15x8x32xf16, strided<[15232, 896, 64, 1], offset: ?>>, memref<1x1x32x32xf16, strided<[6144, 2048, 32, 1], offset: ?>>)
            outs(%r : memref<1x8x8x32xf32, strided<[2048, 256, 32, 1], offset: ?>>) {
          ^bb0(%a: f16, %b: f16, %o: f32):
            %0 = arith.extf %a : f16 to f32
            %1 = arith.extf %b : f16 to f32
            %2 = arith.mulf %0, %1 : f32
            %3 = arith.addf %o, %2 : f32
            linalg.yield %3 : f32
          }
        }
      }
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// Channels first, a group at a time, ragged: pixels last, rounded up to what threads share; a third tap that
// may not be there is zero, whatever the image has in its place.
// CHECK-LABEL: func.func @nchw
// CHECK:         %[[C:.+]] = memref.dim
// CHECK:         scf.forall
// CHECK:           %[[ALLOC:.+]] = memref.alloc() {alignment = 16 : i64} : memref<4x2x16xf32, #gpu.address_space<workgroup>>
// CHECK:           scf.for
// CHECK:             workgroup.gather %{{.+}} by #{{.+}} within[%{{.+}}, %{{.+}}, %{{.+}}] to %[[ALLOC]]
// CHECK-NEXT:        %[[PART:.+]] = memref.subview %[[ALLOC]][0, 0, 0] [4, %{{.+}}, %{{.+}}] [1, 1, 1]
// CHECK-NEXT:        linalg.generic
// CHECK-SAME:          ins(%[[PART]], %{{.+}} :
func.func @nchw(%image: memref<4x4x?xf32> {llvm.noalias}, %filter: memref<4x8x4x3xf32> {llvm.noalias}, %result: memref<4x8x?xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %width = memref.dim %result, %c2 : memref<4x8x?xf32>
  scf.forall (%g, %x) = (0, 0) to (4, %width) step (1, 16) {
    %columns = affine.min affine_map<(d)[s] -> (16, s - d)>(%x)[%width]
    %r = memref.subview %result[%g, 0, %x] [1, 8, %columns] [1, 1, 1] : memref<4x8x?xf32> to memref<1x8x?xf32, strided<[?, ?, 1], offset: ?>>
    scf.for %dx = %c0 to %c3 step %c2 {
      %taps = affine.min affine_map<(d) -> (2, -d + 3)>(%dx)
      %start = affine.apply affine_map<(d, e) -> (d * 2 + e)>(%x, %dx)
      %size = affine.apply affine_map<(d, e) -> (d * 2 + e - 2)>(%columns, %taps)
      %window = memref.subview %image[%g, 0, %start] [1, 4, %size] [1, 1, 1] : memref<4x4x?xf32> to memref<1x4x?xf32, strided<[?, ?, 1], offset: ?>>
      %w = memref.subview %filter[%g, 0, 0, %dx] [1, 8, 4, %taps] [1, 1, 1, 1] : memref<4x8x4x3xf32> to memref<1x8x4x?xf32, strided<[96, 12, 3, 1], offset: ?>>
      linalg.generic {indexing_maps = [#channels_first, #weights, #rows], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%window, %w : memref<1x4x?xf32, strided<[?, ?, 1], offset: ?>>, memref<1x8x4x?xf32, strided<[96, 12, 3, 1], offset: ?>>)
        outs(%r : memref<1x8x?xf32, strided<[?, ?, 1], offset: ?>>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %0 = arith.mulf %a, %b : f32
        %1 = arith.addf %o, %0 : f32
        linalg.yield %1 : f32
      }
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// A row of a window of 7x7 places with 3 channels: 21 sums become 32, whole matrices, with zeros for places that
// are not there, though the image has something beside the window; channels that are not there are none of the
// image. Types that the chip has not stay as they are.
// CHECK-LABEL: func.func @stem
// CHECK:         %[[STEM:.+]] = memref.alloc() {alignment = 16 : i64} : memref<8x8x8x4xf16, #gpu.address_space<workgroup>>
// CHECK:         workgroup.gather %{{.+}} by #{{.+}} within[%{{.+}}] to %[[STEM]]
// STEM75-LABEL: func.func @stem
// STEM75:         memref.alloc() {alignment = 16 : i64} : memref<8x8x7x3xbf16, #gpu.address_space<workgroup>>
func.func @stem(%image: memref<2x21x21x3xf16> {llvm.noalias}, %filter: memref<7x7x3x32xf16> {llvm.noalias}, %result: memref<2x8x8x32xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  scf.forall (%n) in (2) {
    %i = memref.subview %image[%n, 0, 0, 0] [1, 21, 21, 3] [1, 1, 1, 1] : memref<2x21x21x3xf16> to memref<1x21x21x3xf16, strided<[1323, 63, 3, 1], offset: ?>>
    %r = memref.subview %result[%n, 0, 0, 0] [1, 8, 8, 32] [1, 1, 1, 1] : memref<2x8x8x32xf32> to memref<1x8x8x32xf32, strided<[2048, 256, 32, 1], offset: ?>>
    linalg.fill ins(%zero : f32) outs(%r : memref<1x8x8x32xf32, strided<[2048, 256, 32, 1], offset: ?>>)
    scf.for %dy = %c0 to %c7 step %c1 {
      %window = memref.subview %i[0, %dy, 0, 0] [1, 15, 14, 3] [1, 1, 1, 1] : memref<1x21x21x3xf16, strided<[1323, 63, 3, 1], offset: ?>> to memref<1x15x14x3xf16, strided<[1323, 63, 3, 1], offset: ?>>
      %w = memref.subview %filter[%dy, 0, 0, 0] [1, 7, 3, 32] [1, 1, 1, 1] : memref<7x7x3x32xf16> to memref<1x7x3x32xf16, strided<[672, 96, 32, 1], offset: ?>>
      linalg.generic {indexing_maps = [#stem, #filter, #result], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%window, %w : memref<1x15x14x3xf16, strided<[1323, 63, 3, 1], offset: ?>>, memref<1x7x3x32xf16, strided<[672, 96, 32, 1], offset: ?>>)
        outs(%r : memref<1x8x8x32xf32, strided<[2048, 256, 32, 1], offset: ?>>) {
      ^bb0(%a: f16, %b: f16, %o: f32):
        %0 = arith.extf %a : f16 to f32
        %1 = arith.extf %b : f16 to f32
        %2 = arith.mulf %0, %1 : f32
        %3 = arith.addf %o, %2 : f32
        linalg.yield %3 : f32
      }
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}
