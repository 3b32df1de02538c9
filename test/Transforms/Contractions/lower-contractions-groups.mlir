// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-rings{slots=3 chip=sm_90a assume-distinct-arguments=true},workgroup-lower-contractions{chip=sm_90a assume-alignment=16 assume-distinct-arguments=true},canonicalize,cse)' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-lower-contractions{chip=sm_90a assume-alignment=16 assume-distinct-arguments=true})' | diff %t.once -
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-lower-rings{chip=sm_90a assume-alignment=16 assume-distinct-arguments=true},canonicalize,cse)' | FileCheck %s --check-prefix=RING
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-rings{slots=3 chip=sm_90 assume-distinct-arguments=true},workgroup-lower-contractions{chip=sm_90 assume-alignment=16 assume-distinct-arguments=true})' | FileCheck %s --check-prefix=OTHER
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-rings{slots=3 chip=sm_90a assume-distinct-arguments=true},workgroup-lower-contractions{chip=sm_90a assume-alignment=16 assume-distinct-arguments=true warp-groups=false})' | FileCheck %s --check-prefix=OTHER

// Tiles that TMA fills are multiplied where they are, by warp groups of 64 rows each.

// OTHER-NOT: group_product

// The product of an iteration goes on until the next one is started, so that the slot becomes
// empty an iteration later; of three slots, one is left for copies to run ahead.

// Of two groups the second one begins at row 64, by a number that all lanes of a warp take from
// the first one. The tile of 256 columns has four boxes of 64.
// CHECK-LABEL: func @two_groups
// CHECK-DAG:     %[[C0:.+]] = arith.constant 0 : index
// CHECK:         %[[QUEUE:.+]] = workgroup.ring : !workgroup.ring<3 slots of memref<8192xf16, #gpu.address_space<workgroup>>, memref<16384xf16, #gpu.address_space<workgroup>>>
// CHECK:         %[[SHUFFLED:.+]], %{{.+}} = gpu.shuffle  idx
// CHECK:         %[[ROW:.+]] = arith.index_castui %[[SHUFFLED]]
// CHECK:         scf.for
// CHECK:           workgroup.copy %{{.+}} in <128x64 by 64, chunk 8, xor 0, 7, 0>
// CHECK:           workgroup.copy %{{.+}} in <64x256 by 64, chunk 8, xor 0, 7, 0>
// CHECK:           %[[TILES:.+]]:2 = workgroup.get %[[QUEUE]]
// CHECK-NOT:       {{ldmatrix|mma.sync|linalg}}
// CHECK:           workgroup.group_product %[[TILES]]#0[%[[ROW]]] in <128x64 by 64, chunk 8, xor 0, 7, 0>, %[[TILES]]#1[%[[C0]]] in <64x256 by 64, chunk 8, xor 0, 7, 0> to
// CHECK-NOT:       transpose
// CHECK-SAME:      {pending = 1 : i64}
// CHECK:           workgroup.release %[[QUEUE]] {lag = 1 : i64}
// CHECK:         workgroup.await_products
// CHECK:         vector.store
//
// One map for all boxes of a tile, swizzled; slots begin where the swizzle does. No fence stands
// in the loop: the products read by the proxy that TMA writes by.
// RING-LABEL: func @two_groups
// RING-DAG:     %[[A:.+]] = nvgpu.tma.create.descriptor {{.+}} -> <tensor = memref<128x64xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b
// RING-DAG:     %[[B:.+]] = nvgpu.tma.create.descriptor {{.+}} -> <tensor = memref<64x64xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b
// RING:         memref.alloc() {alignment = 1024 : i64} : memref<49152xi8, #gpu.address_space<workgroup>>
// RING:         memref.alloc() {alignment = 1024 : i64} : memref<98304xi8, #gpu.address_space<workgroup>>
// RING:         scf.for %{{.+}} = %{{.+}} to %{{.+}} step %[[STEP:.+]] iter_args
// RING:           nvgpu.mbarrier.try_wait.parity
// RING-NOT:       fence
// RING:           gpu.barrier
// RING:           %[[LEFT:.+]] = arith.subi
// RING:           arith.cmpi ugt, %[[LEFT]], %[[STEP]] :
// RING:           nvgpu.tma.async.load %[[A]]
// RING-COUNT-4:   nvgpu.tma.async.load %[[B]]
// RING-NOT:       nvgpu.tma.async.load
// RING:           %[[SLOT:.+]] = memref.view {{.+}} to memref<8192xf16, #gpu.address_space<workgroup>>
// RING:           workgroup.group_product %[[SLOT]]
#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>

func.func @two_groups(%a: memref<128x256xf16>, %b: memref<256x256xf16>, %c: memref<128x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %threads = arith.constant 256 : index
  %step = arith.constant 64 : index
  %end = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%bx = %threads, %by = %c1, %bz = %c1) {
    %ta = memref.alloc() : memref<128x64xf16, #wg>
    %tb = memref.alloc() : memref<64x256xf16, #wg>
    %sum = memref.alloca() : memref<128x256xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<128x256xf32, #own>)
    scf.for %k = %c0 to %end step %step {
      %ga = memref.subview %a[%c0, %k] [128, 64] [1, 1] : memref<128x256xf16> to memref<128x64xf16, strided<[256, 1], offset: ?>>
      %gb = memref.subview %b[%k, %c0] [64, 256] [1, 1] : memref<256x256xf16> to memref<64x256xf16, strided<[256, 1], offset: ?>>
      memref.copy %ga, %ta : memref<128x64xf16, strided<[256, 1], offset: ?>> to memref<128x64xf16, #wg>
      memref.copy %gb, %tb : memref<64x256xf16, strided<[256, 1], offset: ?>> to memref<64x256xf16, #wg>
      linalg.matmul ins(%ta, %tb : memref<128x64xf16, #wg>, memref<64x256xf16, #wg>) outs(%sum : memref<128x256xf32, #own>)
    }
    memref.copy %sum, %c : memref<128x256xf32, #own> to memref<128x256xf32>
    gpu.terminator
  }
  return
}

// CHECK-LABEL: func @nt
// CHECK-NOT:     gpu.shuffle
// CHECK:         workgroup.group_product {{.+}} in <64x64 by 64, chunk 8, xor 0, 7, 0>, {{.+}} in <128x64 by 64, chunk 8, xor 0, 7, 0> to {{.+}} {pending = 1 : i64, transpose_rhs}

func.func @nt(%a: memref<64x256xbf16>, %b: memref<128x256xbf16>, %c: memref<64x128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %step = arith.constant 64 : index
  %end = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%bx = %threads, %by = %c1, %bz = %c1) {
    %ta = memref.alloc() : memref<64x64xbf16, #wg>
    %tb = memref.alloc() : memref<128x64xbf16, #wg>
    %sum = memref.alloca() : memref<64x128xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x128xf32, #own>)
    scf.for %k = %c0 to %end step %step {
      %ga = memref.subview %a[%c0, %k] [64, 64] [1, 1] : memref<64x256xbf16> to memref<64x64xbf16, strided<[256, 1], offset: ?>>
      %gb = memref.subview %b[%c0, %k] [128, 64] [1, 1] : memref<128x256xbf16> to memref<128x64xbf16, strided<[256, 1], offset: ?>>
      memref.copy %ga, %ta : memref<64x64xbf16, strided<[256, 1], offset: ?>> to memref<64x64xbf16, #wg>
      memref.copy %gb, %tb : memref<128x64xbf16, strided<[256, 1], offset: ?>> to memref<128x64xbf16, #wg>
      linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%ta, %tb : memref<64x64xbf16, #wg>, memref<128x64xbf16, #wg>) outs(%sum : memref<64x128xf32, #own>)
    }
    memref.copy %sum, %c : memref<64x128xf32, #own> to memref<64x128xf32>
    gpu.terminator
  }
  return
}

// CHECK-LABEL: func @tn
// CHECK:         workgroup.group_product {{.+}} in <32x64 by 64, chunk 8, xor 0, 7, 0>, {{.+}} in <32x64 by 64, chunk 8, xor 0, 7, 0> to {{.+}} {pending = 1 : i64, transpose_lhs}

func.func @tn(%a: memref<256x64xf16>, %b: memref<256x64xf16>, %c: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %step = arith.constant 32 : index
  %end = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%bx = %threads, %by = %c1, %bz = %c1) {
    %ta = memref.alloc() : memref<32x64xf16, #wg>
    %tb = memref.alloc() : memref<32x64xf16, #wg>
    %sum = memref.alloca() : memref<64x64xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x64xf32, #own>)
    scf.for %k = %c0 to %end step %step {
      %ga = memref.subview %a[%k, %c0] [32, 64] [1, 1] : memref<256x64xf16> to memref<32x64xf16, strided<[64, 1], offset: ?>>
      %gb = memref.subview %b[%k, %c0] [32, 64] [1, 1] : memref<256x64xf16> to memref<32x64xf16, strided<[64, 1], offset: ?>>
      memref.copy %ga, %ta : memref<32x64xf16, strided<[64, 1], offset: ?>> to memref<32x64xf16, #wg>
      memref.copy %gb, %tb : memref<32x64xf16, strided<[64, 1], offset: ?>> to memref<32x64xf16, #wg>
      linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%ta, %tb : memref<32x64xf16, #wg>, memref<32x64xf16, #wg>) outs(%sum : memref<64x64xf32, #own>)
    }
    memref.copy %sum, %c : memref<64x64xf32, #own> to memref<64x64xf32>
    gpu.terminator
  }
  return
}

// Rows of 64 bytes, and of 32.
// CHECK-LABEL: func @tt
// CHECK:         workgroup.group_product {{.+}} in <32x64 by 64, chunk 8, xor 0, 7, 0>, {{.+}} in <8x32 by 32, chunk 8, xor 1, 3, 0> to {{.+}} {pending = 1 : i64, transpose_lhs, transpose_rhs}

func.func @tt(%a: memref<256x64xf16>, %b: memref<8x256xf16>, %c: memref<64x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %step = arith.constant 32 : index
  %end = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%bx = %threads, %by = %c1, %bz = %c1) {
    %ta = memref.alloc() : memref<32x64xf16, #wg>
    %tb = memref.alloc() : memref<8x32xf16, #wg>
    %sum = memref.alloca() : memref<64x8xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x8xf32, #own>)
    scf.for %k = %c0 to %end step %step {
      %ga = memref.subview %a[%k, %c0] [32, 64] [1, 1] : memref<256x64xf16> to memref<32x64xf16, strided<[64, 1], offset: ?>>
      %gb = memref.subview %b[%c0, %k] [8, 32] [1, 1] : memref<8x256xf16> to memref<8x32xf16, strided<[256, 1], offset: ?>>
      memref.copy %ga, %ta : memref<32x64xf16, strided<[64, 1], offset: ?>> to memref<32x64xf16, #wg>
      memref.copy %gb, %tb : memref<8x32xf16, strided<[256, 1], offset: ?>> to memref<8x32xf16, #wg>
      linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%ta, %tb : memref<32x64xf16, #wg>, memref<8x32xf16, #wg>) outs(%sum : memref<64x8xf32, #own>)
    }
    memref.copy %sum, %c : memref<64x8xf32, #own> to memref<64x8xf32>
    gpu.terminator
  }
  return
}

// CHECK-LABEL: func @bytes
// CHECK:         workgroup.group_product {{.+}} in <64x32 by 32, chunk 16, xor 2, 1, 0>, {{.+}} in <16x32 by 32, chunk 16, xor 2, 1, 0> to {{.+}} {pending = 1 : i64, transpose_rhs}

func.func @bytes(%a: memref<64x256xf8E4M3FN>, %b: memref<16x256xf8E4M3FN>, %c: memref<64x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %step = arith.constant 32 : index
  %end = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%bx = %threads, %by = %c1, %bz = %c1) {
    %ta = memref.alloc() : memref<64x32xf8E4M3FN, #wg>
    %tb = memref.alloc() : memref<16x32xf8E4M3FN, #wg>
    %sum = memref.alloca() : memref<64x16xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x16xf32, #own>)
    scf.for %k = %c0 to %end step %step {
      %ga = memref.subview %a[%c0, %k] [64, 32] [1, 1] : memref<64x256xf8E4M3FN> to memref<64x32xf8E4M3FN, strided<[256, 1], offset: ?>>
      %gb = memref.subview %b[%c0, %k] [16, 32] [1, 1] : memref<16x256xf8E4M3FN> to memref<16x32xf8E4M3FN, strided<[256, 1], offset: ?>>
      memref.copy %ga, %ta : memref<64x32xf8E4M3FN, strided<[256, 1], offset: ?>> to memref<64x32xf8E4M3FN, #wg>
      memref.copy %gb, %tb : memref<16x32xf8E4M3FN, strided<[256, 1], offset: ?>> to memref<16x32xf8E4M3FN, #wg>
      linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%ta, %tb : memref<64x32xf8E4M3FN, #wg>, memref<16x32xf8E4M3FN, #wg>) outs(%sum : memref<64x16xf32, #own>)
    }
    memref.copy %sum, %c : memref<64x16xf32, #own> to memref<64x16xf32>
    gpu.terminator
  }
  return
}

// Without a sign, as the body extends them.
// CHECK-LABEL: func @integers
// CHECK:         workgroup.group_product {{.+}} in <64x32 by 32, chunk 16, xor 2, 1, 0>, {{.+}} in <16x32 by 32, chunk 16, xor 2, 1, 0> to {{.+}} {pending = 1 : i64, transpose_rhs, unsigned_lhs, unsigned_rhs}

func.func @integers(%a: memref<64x256xi8>, %b: memref<16x256xi8>, %c: memref<64x16xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %step = arith.constant 32 : index
  %end = arith.constant 256 : index
  %zero = arith.constant 0 : i32
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%bx = %threads, %by = %c1, %bz = %c1) {
    %ta = memref.alloc() : memref<64x32xi8, #wg>
    %tb = memref.alloc() : memref<16x32xi8, #wg>
    %sum = memref.alloca() : memref<64x16xi32, #own>
    linalg.fill ins(%zero : i32) outs(%sum : memref<64x16xi32, #own>)
    scf.for %k = %c0 to %end step %step {
      %ga = memref.subview %a[%c0, %k] [64, 32] [1, 1] : memref<64x256xi8> to memref<64x32xi8, strided<[256, 1], offset: ?>>
      %gb = memref.subview %b[%c0, %k] [16, 32] [1, 1] : memref<16x256xi8> to memref<16x32xi8, strided<[256, 1], offset: ?>>
      memref.copy %ga, %ta : memref<64x32xi8, strided<[256, 1], offset: ?>> to memref<64x32xi8, #wg>
      memref.copy %gb, %tb : memref<16x32xi8, strided<[256, 1], offset: ?>> to memref<16x32xi8, #wg>
      linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%ta, %tb : memref<64x32xi8, #wg>, memref<16x32xi8, #wg>) outs(%sum : memref<64x16xi32, #own>) {
        ^bb0(%p: i8, %q: i8, %s: i32):
          %u = arith.extui %p : i8 to i32
          %v = arith.extui %q : i8 to i32
          %w = arith.muli %u, %v : i32
          %t = arith.addi %s, %w : i32
          linalg.yield %t : i32
      }
    }
    memref.copy %sum, %c : memref<64x16xi32, #own> to memref<64x16xi32>
    gpu.terminator
  }
  return
}
