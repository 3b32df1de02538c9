// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-rings{slots=3 chip=sm_90a assume-distinct-arguments=true},workgroup-lower-contractions{chip=sm_90a assume-alignment=16 assume-distinct-arguments=true},canonicalize,cse)' --remarks-filter='workgroup-lower-contractions' --remark-format=emitRemark --verify-diagnostics -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-lower-contractions{chip=sm_90a assume-alignment=16 assume-distinct-arguments=true})' | diff %t.once -
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-lower-rings{chip=sm_90a assume-alignment=16 assume-distinct-arguments=true},canonicalize,cse)' | FileCheck %s --check-prefix=RING

// Batches of products by warp groups: of a tile, dimensions of one element are left out of what it
// is filled from; tensor maps have them.

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>
#shared = affine_map<(b, m, n, k) -> (k, n)>
#out = affine_map<(b, m, n, k) -> (b, m, n)>

// CHECK-LABEL: func @batch
// CHECK:         workgroup.ring : !workgroup.ring<3 slots of memref<4096xf16, #gpu.address_space<workgroup>>, memref<4096xf16, #gpu.address_space<workgroup>>>
// CHECK:         %[[A:.+]] = memref.subview %{{.+}}[0, 0, 0] [1, 64, 64] [1, 1, 1] : memref<1x64x64xf16, strided<[16384, 256, 1], offset: ?>> to memref<64x64xf16, strided<[256, 1], offset: ?>>
// CHECK:         workgroup.copy %[[A]] to %{{.+}} in <64x64 by 64, chunk 8, xor 0, 7, 0>
// CHECK:         %[[B:.+]] = memref.subview %{{.+}}[0, 0, 0] [1, 64, 64] [1, 1, 1] : memref<1x64x64xf16, strided<[16384, 64, 1], offset: ?>> to memref<64x64xf16, strided<[64, 1], offset: ?>>
// CHECK:         workgroup.copy %[[B]] to %{{.+}} in <64x64 by 64, chunk 8, xor 0, 7, 0>
// CHECK:         workgroup.group_product {{.+}} in <64x64 by 64, chunk 8, xor 0, 7, 0>, {{.+}} in <64x64 by 64, chunk 8, xor 0, 7, 0> to {{.+}} {pending = 1 : i64}
//
// RING-LABEL: func @batch
// RING:         %[[A:.+]] = nvgpu.tma.create.descriptor {{.+}} -> <tensor = memref<1x64x64xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b
// RING:         %[[B:.+]] = nvgpu.tma.create.descriptor {{.+}} -> <tensor = memref<1x64x64xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b
// RING:         gpu.launch blocks(%{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %[[BATCH:arg[0-9]+]]) in (%
// RING:         scf.for
// RING:           nvgpu.tma.async.load %[[A]][%{{.+}}, %{{.+}}, %[[BATCH]]]
// RING:           nvgpu.tma.async.load %[[B]][%{{.+}}, %{{.+}}, %[[BATCH]]]
func.func @batch(%a: memref<4x64x256xf16>, %b: memref<4x256x64xf16>, %c: memref<4x64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %threads = arith.constant 128 : index
  %step = arith.constant 64 : index
  %end = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c4)
             threads(%tx, %ty, %tz) in (%bx = %threads, %by = %c1, %bz = %c1) {
    %ta = memref.alloc() : memref<1x64x64xf16, #wg>
    %tb = memref.alloc() : memref<1x64x64xf16, #wg>
    %sum = memref.alloca() : memref<1x64x64xf32, #own>
    %gc = memref.subview %c[%z, %c0, %c0] [1, 64, 64] [1, 1, 1] : memref<4x64x64xf32> to memref<1x64x64xf32, strided<[4096, 64, 1], offset: ?>>
    linalg.fill ins(%zero : f32) outs(%sum : memref<1x64x64xf32, #own>)
    scf.for %k = %c0 to %end step %step {
      %ga = memref.subview %a[%z, %c0, %k] [1, 64, 64] [1, 1, 1] : memref<4x64x256xf16> to memref<1x64x64xf16, strided<[16384, 256, 1], offset: ?>>
      %gb = memref.subview %b[%z, %k, %c0] [1, 64, 64] [1, 1, 1] : memref<4x256x64xf16> to memref<1x64x64xf16, strided<[16384, 64, 1], offset: ?>>
      memref.copy %ga, %ta : memref<1x64x64xf16, strided<[16384, 256, 1], offset: ?>> to memref<1x64x64xf16, #wg>
      memref.copy %gb, %tb : memref<1x64x64xf16, strided<[16384, 64, 1], offset: ?>> to memref<1x64x64xf16, #wg>
      // expected-remark @+1 {{contraction of tiles shared out to threads}}
      linalg.batch_matmul ins(%ta, %tb : memref<1x64x64xf16, #wg>, memref<1x64x64xf16, #wg>) outs(%sum : memref<1x64x64xf32, #own>)
    }
    memref.copy %sum, %gc : memref<1x64x64xf32, #own> to memref<1x64x64xf32, strided<[4096, 64, 1], offset: ?>>
    gpu.terminator
  }
  return
}

// Heads, between rows and columns; the second factor, of memory spaces by numbers, has no batch.
// CHECK-LABEL: func @between
// CHECK:         workgroup.group_product
//
// RING-LABEL: func @between
// RING-DAG:     nvgpu.tma.create.descriptor {{.+}} -> <tensor = memref<64x1x64xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b
// RING-DAG:     nvgpu.tma.create.descriptor {{.+}} -> <tensor = memref<64x64xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b
func.func @between(%a: memref<64x4x256xf16>, %b: memref<256x64xf16>, %c: memref<4x64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %threads = arith.constant 128 : index
  %step = arith.constant 64 : index
  %end = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c4)
             threads(%tx, %ty, %tz) in (%bx = %threads, %by = %c1, %bz = %c1) {
    %ta = memref.alloc() : memref<64x1x64xf16, 3>
    %tb = memref.alloc() : memref<64x64xf16, 3>
    %sum = memref.alloca() : memref<1x64x64xf32, 5>
    %gc = memref.subview %c[%z, %c0, %c0] [1, 64, 64] [1, 1, 1] : memref<4x64x64xf32> to memref<1x64x64xf32, strided<[4096, 64, 1], offset: ?>>
    linalg.fill ins(%zero : f32) outs(%sum : memref<1x64x64xf32, 5>)
    scf.for %k = %c0 to %end step %step {
      %ga = memref.subview %a[%c0, %z, %k] [64, 1, 64] [1, 1, 1] : memref<64x4x256xf16> to memref<64x1x64xf16, strided<[1024, 256, 1], offset: ?>>
      %gb = memref.subview %b[%k, %c0] [64, 64] [1, 1] : memref<256x64xf16> to memref<64x64xf16, strided<[64, 1], offset: ?>>
      memref.copy %ga, %ta : memref<64x1x64xf16, strided<[1024, 256, 1], offset: ?>> to memref<64x1x64xf16, 3>
      memref.copy %gb, %tb : memref<64x64xf16, strided<[64, 1], offset: ?>> to memref<64x64xf16, 3>
      // expected-remark @+1 {{contraction of tiles shared out to threads}}
      linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (m, b, k)>, #shared, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
          ins(%ta, %tb : memref<64x1x64xf16, 3>, memref<64x64xf16, 3>) outs(%sum : memref<1x64x64xf32, 5>) {
        ^bb0(%p: f16, %q: f16, %s: f32):
          %u = arith.extf %p : f16 to f32
          %v = arith.extf %q : f16 to f32
          %w = arith.mulf %u, %v : f32
          %t = arith.addf %s, %w : f32
          linalg.yield %t : f32
      }
    }
    memref.copy %sum, %gc : memref<1x64x64xf32, 5> to memref<1x64x64xf32, strided<[4096, 64, 1], offset: ?>>
    gpu.terminator
  }
  return
}

// The batch is what is contiguous: no row of a box is.
// CHECK-LABEL: func @fastest
// CHECK-NOT:     group_product
// CHECK:         return
func.func @fastest(%a: memref<64x256x8xf16>, %b: memref<256x64xf16>, %c: memref<8x64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %threads = arith.constant 128 : index
  %step = arith.constant 64 : index
  %end = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c8)
             threads(%tx, %ty, %tz) in (%bx = %threads, %by = %c1, %bz = %c1) {
    %ta = memref.alloc() : memref<64x64x1xf16, #wg>
    %tb = memref.alloc() : memref<64x64xf16, #wg>
    %sum = memref.alloca() : memref<1x64x64xf32, #own>
    %gc = memref.subview %c[%z, %c0, %c0] [1, 64, 64] [1, 1, 1] : memref<8x64x64xf32> to memref<1x64x64xf32, strided<[4096, 64, 1], offset: ?>>
    linalg.fill ins(%zero : f32) outs(%sum : memref<1x64x64xf32, #own>)
    scf.for %k = %c0 to %end step %step {
      %ga = memref.subview %a[%c0, %k, %z] [64, 64, 1] [1, 1, 1] : memref<64x256x8xf16> to memref<64x64x1xf16, strided<[2048, 8, 1], offset: ?>>
      %gb = memref.subview %b[%k, %c0] [64, 64] [1, 1] : memref<256x64xf16> to memref<64x64xf16, strided<[64, 1], offset: ?>>
      memref.copy %ga, %ta : memref<64x64x1xf16, strided<[2048, 8, 1], offset: ?>> to memref<64x64x1xf16, #wg>
      memref.copy %gb, %tb : memref<64x64xf16, strided<[64, 1], offset: ?>> to memref<64x64xf16, #wg>
      // expected-remark @+2 {{TMA cannot fill a tile: the source is not contiguous along the columns of the tile}}
      // expected-remark @+1 {{contraction of tiles shared out to threads}}
      linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (m, k, b)>, #shared, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
          ins(%ta, %tb : memref<64x64x1xf16, #wg>, memref<64x64xf16, #wg>) outs(%sum : memref<1x64x64xf32, #own>) {
        ^bb0(%p: f16, %q: f16, %s: f32):
          %u = arith.extf %p : f16 to f32
          %v = arith.extf %q : f16 to f32
          %w = arith.mulf %u, %v : f32
          %t = arith.addf %s, %w : f32
          linalg.yield %t : f32
      }
    }
    memref.copy %sum, %gc : memref<1x64x64xf32, #own> to memref<1x64x64xf32, strided<[4096, 64, 1], offset: ?>>
    gpu.terminator
  }
  return
}

// The same of a slice that has the batch no more.
// CHECK-LABEL: func @reduced
// CHECK-NOT:     group_product
// CHECK:         return
func.func @reduced(%a: memref<64x256x8xf16>, %b: memref<256x64xf16>, %c: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %step = arith.constant 64 : index
  %end = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%bx = %threads, %by = %c1, %bz = %c1) {
    %ta = memref.alloc() : memref<64x64xf16, #wg>
    %tb = memref.alloc() : memref<64x64xf16, #wg>
    %sum = memref.alloca() : memref<64x64xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x64xf32, #own>)
    scf.for %k = %c0 to %end step %step {
      %ga = memref.subview %a[%c0, %k, %z] [64, 64, 1] [1, 1, 1] : memref<64x256x8xf16> to memref<64x64xf16, strided<[2048, 8], offset: ?>>
      %gb = memref.subview %b[%k, %c0] [64, 64] [1, 1] : memref<256x64xf16> to memref<64x64xf16, strided<[64, 1], offset: ?>>
      memref.copy %ga, %ta : memref<64x64xf16, strided<[2048, 8], offset: ?>> to memref<64x64xf16, #wg>
      memref.copy %gb, %tb : memref<64x64xf16, strided<[64, 1], offset: ?>> to memref<64x64xf16, #wg>
      // expected-remark @+2 {{TMA cannot fill a tile: the source is not contiguous along the columns of the tile}}
      // expected-remark @+1 {{contraction of tiles shared out to threads}}
      linalg.matmul ins(%ta, %tb : memref<64x64xf16, #wg>, memref<64x64xf16, #wg>) outs(%sum : memref<64x64xf32, #own>)
    }
    memref.copy %sum, %c : memref<64x64xf32, #own> to memref<64x64xf32>
    gpu.terminator
  }
  return
}
