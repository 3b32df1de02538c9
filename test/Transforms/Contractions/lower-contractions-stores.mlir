// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-rings{slots=3 chip=sm_90a assume-distinct-arguments=true},workgroup-lower-contractions{chip=sm_90a assume-alignment=16 assume-distinct-arguments=true},canonicalize,cse)' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-lower-contractions{chip=sm_90a assume-alignment=16 assume-distinct-arguments=true})' | diff %t.once -
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-rings{slots=3 chip=sm_90a assume-distinct-arguments=true},workgroup-lower-contractions{chip=sm_90a assume-alignment=16 assume-distinct-arguments=true store-rings=false},canonicalize,cse)' | FileCheck %s --check-prefix=OFF

// Results of 16 bits of warp groups: each warp writes 16 rows to a slot of its own, from which TMA
// stores them. Its lanes wait for each other, and nobody else does.

// OFF-NOT: nvgpu.tma.async.store

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>
#same = affine_map<(i, j) -> (i, j)>

// Four boxes of 64 columns, and two slots of 2048 bytes for each of eight warps: before a warp writes
// to a slot, TMA has read all but the last box. 16 bytes of a row are exchanged by the row.
// CHECK-LABEL: func @two_groups
// CHECK:         %[[MAP:.+]] = nvgpu.tma.create.descriptor {{.+}} -> <tensor = memref<16x64xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b
// CHECK:         %[[SLOTS:.+]] = memref.alloc() {alignment = 1024 : i64} : memref<32768xi8, #gpu.address_space<workgroup>>
// CHECK:         workgroup.await_products
// CHECK:         nvvm.cp.async.bulk.wait_group 1 {read}
// CHECK:         nvvm.bar.warp.sync
// CHECK:         %[[SLOT:.+]] = memref.view %[[SLOTS]]{{.+}} to memref<16x64xf16, #gpu.address_space<workgroup>>
// CHECK-COUNT-2: vector.store %{{.+}}, %[[SLOT]]{{.+}} vector<2xf16>
// CHECK:         arith.xori
// CHECK-COUNT-14: vector.store %{{.+}}, %[[SLOT]]{{.+}} vector<2xf16>
// CHECK-NOT:     vector.store
// CHECK:         nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK-NEXT:    nvvm.bar.warp.sync
// CHECK:         scf.if
// CHECK:           nvgpu.tma.async.store %[[SLOT]] to %[[MAP]]
// CHECK:         nvvm.cp.async.bulk.commit.group
// CHECK-COUNT-3: nvgpu.tma.async.store
// CHECK:         nvvm.cp.async.bulk.commit.group
// CHECK-NEXT:    nvvm.cp.async.bulk.wait_group 0
// CHECK-NEXT:    gpu.terminator
func.func @two_groups(%a: memref<128x256xf16>, %b: memref<256x256xf16>, %c: memref<128x256xf16>) {
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
    linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
        ins(%sum : memref<128x256xf32, #own>) outs(%c : memref<128x256xf16>) {
      ^bb0(%p: f32, %o: f16):
        %t = arith.truncf %p : f32 to f16
        linalg.yield %t : f16
    }
    gpu.terminator
  }
  return
}

// What else is computed stays in registers, and is loaded once for all rows. Three boxes do not come
// out even with two slots: the first may be written only when TMA has read all of the tile before.
// CHECK-LABEL: func @bias
// CHECK:         nvvm.cp.async.bulk.wait_group 0 {read}
// CHECK:         vector.load {{.+}} memref<192xf32>, vector<2xf32>
// CHECK:         nvgpu.tma.async.store
// CHECK:         nvvm.cp.async.bulk.wait_group 1 {read}
// CHECK:         nvgpu.tma.async.store
// CHECK:         nvvm.cp.async.bulk.wait_group 1 {read}
// CHECK:         nvgpu.tma.async.store
// CHECK:         nvvm.cp.async.bulk.wait_group 0
func.func @bias(%a: memref<64x256xf16>, %b: memref<256x192xf16>, %c: memref<64x192xf16>, %bias: memref<192xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %step = arith.constant 64 : index
  %end = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%bx = %threads, %by = %c1, %bz = %c1) {
    %ta = memref.alloc() : memref<64x64xf16, #wg>
    %tb = memref.alloc() : memref<64x192xf16, #wg>
    %sum = memref.alloca() : memref<64x192xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x192xf32, #own>)
    scf.for %k = %c0 to %end step %step {
      %ga = memref.subview %a[%c0, %k] [64, 64] [1, 1] : memref<64x256xf16> to memref<64x64xf16, strided<[256, 1], offset: ?>>
      %gb = memref.subview %b[%k, %c0] [64, 192] [1, 1] : memref<256x192xf16> to memref<64x192xf16, strided<[192, 1], offset: ?>>
      memref.copy %ga, %ta : memref<64x64xf16, strided<[256, 1], offset: ?>> to memref<64x64xf16, #wg>
      memref.copy %gb, %tb : memref<64x192xf16, strided<[192, 1], offset: ?>> to memref<64x192xf16, #wg>
      linalg.matmul ins(%ta, %tb : memref<64x64xf16, #wg>, memref<64x192xf16, #wg>) outs(%sum : memref<64x192xf32, #own>)
    }
    linalg.generic {indexing_maps = [#same, affine_map<(i, j) -> (j)>, #same], iterator_types = ["parallel", "parallel"]}
        ins(%sum, %bias : memref<64x192xf32, #own>, memref<192xf32>) outs(%c : memref<64x192xf16>) {
      ^bb0(%p: f32, %q: f32, %o: f16):
        %s = arith.addf %p, %q : f32
        %t = arith.truncf %s : f32 to f16
        linalg.yield %t : f16
    }
    gpu.terminator
  }
  return
}

// Results of 32 bits are stored by threads, as they fill sectors.
// CHECK-LABEL: func @f32
// CHECK-NOT:     nvgpu.tma.async.store
func.func @f32(%a: memref<64x256xf16>, %b: memref<256x64xf16>, %c: memref<64x64xf32>) {
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
      %ga = memref.subview %a[%c0, %k] [64, 64] [1, 1] : memref<64x256xf16> to memref<64x64xf16, strided<[256, 1], offset: ?>>
      %gb = memref.subview %b[%k, %c0] [64, 64] [1, 1] : memref<256x64xf16> to memref<64x64xf16, strided<[64, 1], offset: ?>>
      memref.copy %ga, %ta : memref<64x64xf16, strided<[256, 1], offset: ?>> to memref<64x64xf16, #wg>
      memref.copy %gb, %tb : memref<64x64xf16, strided<[64, 1], offset: ?>> to memref<64x64xf16, #wg>
      linalg.matmul ins(%ta, %tb : memref<64x64xf16, #wg>, memref<64x64xf16, #wg>) outs(%sum : memref<64x64xf32, #own>)
    }
    memref.copy %sum, %c : memref<64x64xf32, #own> to memref<64x64xf32>
    gpu.terminator
  }
  return
}
