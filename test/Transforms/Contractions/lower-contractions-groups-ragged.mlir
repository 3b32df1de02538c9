// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-contractions{chip=sm_90a assume-alignment=16 assume-distinct-arguments=true},canonicalize,cse)' --remarks-filter='workgroup-lower-contractions' --remark-format=emitRemark --verify-diagnostics -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-lower-contractions{chip=sm_90a assume-alignment=16 assume-distinct-arguments=true})' | diff %t.once -
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-lower-rings{chip=sm_90a assume-alignment=16 assume-distinct-arguments=true},canonicalize,cse)' | FileCheck %s --check-prefix=RING

// Ragged tiles of warp groups: TMA fills with zeros what is outside of the tensor, if what a tile is
// filled from ends where the tensor does.

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>
#nt = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
!A = memref<64x64xf16, #wg>
!B = memref<64x64xf16, #wg>
!R = !workgroup.ring<3 slots of !A, !B>

// The view has no constant extents; the box of a load has those of the tile.
// CHECK-LABEL: func @ragged
// CHECK:         workgroup.copy %{{.+}} in <64x64 by 64, chunk 8, xor 0, 7, 0> : memref<?x?xf16, strided<[200, 1], offset: ?>> to memref<4096xf16, #gpu.address_space<workgroup>>
// CHECK:         workgroup.copy %{{.+}} in <64x64 by 64, chunk 8, xor 0, 7, 0> : memref<?x?xf16, strided<[200, 1], offset: ?>> to memref<4096xf16, #gpu.address_space<workgroup>>
// CHECK:         workgroup.group_product
//
// RING-LABEL: func @ragged
// RING-COUNT-2: nvgpu.tma.create.descriptor {{.+}} -> <tensor = memref<64x64xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero
// RING:         scf.for
// RING:           nvgpu.mbarrier.arrive.expect_tx %{{.+}}, %c16384
// RING-COUNT-2:   nvgpu.tma.async.load
func.func @ragged(%a: memref<100x200xf16>, %b: memref<70x200xf16>, %c: memref<100x70xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %threads = arith.constant 128 : index
  %step = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %end = arith.constant 200 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c2, %gy = %c2, %gz = %c2)
             threads(%tx, %ty, %tz) in (%bx = %threads, %by = %c1, %bz = %c1) {
    %ring = workgroup.ring : !R
    %row = arith.muli %x, %step overflow<nsw> : index
    %column = arith.muli %y, %step overflow<nsw> : index
    %m = affine.min affine_map<(d0) -> (100 - d0, 64)>(%row)
    %n = affine.min affine_map<(d0) -> (70 - d0, 64)>(%column)
    %ra = memref.subview %a[%row, 0] [%m, 200] [1, 1] : memref<100x200xf16> to memref<?x200xf16, strided<[200, 1], offset: ?>>
    %rb = memref.subview %b[%column, 0] [%n, 200] [1, 1] : memref<70x200xf16> to memref<?x200xf16, strided<[200, 1], offset: ?>>
    %sum = memref.alloca() : memref<64x64xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x64xf32, #own>)
    scf.for %k = %c0 to %end step %step {
      %s = affine.min affine_map<(d0) -> (200 - d0, 64)>(%k)
      %ga = memref.subview %ra[0, %k] [%m, %s] [1, 1] : memref<?x200xf16, strided<[200, 1], offset: ?>> to memref<?x?xf16, strided<[200, 1], offset: ?>>
      %gb = memref.subview %rb[0, %k] [%n, %s] [1, 1] : memref<?x200xf16, strided<[200, 1], offset: ?>> to memref<?x?xf16, strided<[200, 1], offset: ?>>
      %in:2 = workgroup.put %ring : !R -> !A, !B
      workgroup.copy %ga to %in#0 : memref<?x?xf16, strided<[200, 1], offset: ?>> to !A
      workgroup.copy %gb to %in#1 : memref<?x?xf16, strided<[200, 1], offset: ?>> to !B
      workgroup.commit %ring : !R
      %out:2 = workgroup.get %ring : !R -> !A, !B
      // expected-remark @+1 {{contraction of tiles shared out to threads}}
      linalg.matmul indexing_maps = #nt ins(%out#0, %out#1 : !A, !B) outs(%sum : memref<64x64xf32, #own>)
      workgroup.release %ring : !R
    }
    %own = memref.subview %sum[0, 0] [%m, %n] [1, 1] : memref<64x64xf32, #own> to memref<?x?xf32, strided<[64, 1]>, #own>
    %gc = memref.subview %c[%row, %column] [%m, %n] [1, 1] : memref<100x70xf32> to memref<?x?xf32, strided<[70, 1], offset: ?>>
    memref.copy %own, %gc : memref<?x?xf32, strided<[64, 1]>, #own> to memref<?x?xf32, strided<[70, 1], offset: ?>>
    gpu.terminator
  }
  return
}

// The launch knows how many rows there are.
// CHECK-LABEL: func @dynamic
// CHECK:         workgroup.group_product
//
// RING-LABEL: func @dynamic
// RING:         nvgpu.tma.async.load
func.func @dynamic(%a: memref<?x256xf16>, %b: memref<?x256xf16>, %c: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %threads = arith.constant 128 : index
  %step = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %end = arith.constant 256 : index
  %rows = memref.dim %a, %c0 : memref<?x256xf16>
  %columns = memref.dim %b, %c0 : memref<?x256xf16>
  gpu.launch blocks(%x, %y, %z) in (%gx = %c2, %gy = %c2, %gz = %c2)
             threads(%tx, %ty, %tz) in (%bx = %threads, %by = %c1, %bz = %c1) {
    %ring = workgroup.ring : !R
    %row = arith.muli %x, %step overflow<nsw> : index
    %column = affine.apply affine_map<(d0) -> (d0 * 64)>(%y)
    %m = affine.min affine_map<(d0)[s0] -> (s0 - d0, 64)>(%row)[%rows]
    %left = arith.subi %columns, %column : index
    %n = arith.minsi %step, %left : index
    %ra = memref.subview %a[%row, 0] [%m, 256] [1, 1] : memref<?x256xf16> to memref<?x256xf16, strided<[256, 1], offset: ?>>
    %rb = memref.subview %b[%column, 0] [%n, 256] [1, 1] : memref<?x256xf16> to memref<?x256xf16, strided<[256, 1], offset: ?>>
    %sum = memref.alloca() : memref<64x64xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x64xf32, #own>)
    scf.for %k = %c0 to %end step %step {
      %ga = memref.subview %ra[0, %k] [%m, 64] [1, 1] : memref<?x256xf16, strided<[256, 1], offset: ?>> to memref<?x64xf16, strided<[256, 1], offset: ?>>
      %gb = memref.subview %rb[0, %k] [%n, 64] [1, 1] : memref<?x256xf16, strided<[256, 1], offset: ?>> to memref<?x64xf16, strided<[256, 1], offset: ?>>
      %in:2 = workgroup.put %ring : !R -> !A, !B
      workgroup.copy %ga to %in#0 : memref<?x64xf16, strided<[256, 1], offset: ?>> to !A
      workgroup.copy %gb to %in#1 : memref<?x64xf16, strided<[256, 1], offset: ?>> to !B
      workgroup.commit %ring : !R
      %out:2 = workgroup.get %ring : !R -> !A, !B
      // expected-remark @+1 {{contraction of tiles shared out to threads}}
      linalg.matmul indexing_maps = #nt ins(%out#0, %out#1 : !A, !B) outs(%sum : memref<64x64xf32, #own>)
      workgroup.release %ring : !R
    }
    %own = memref.subview %sum[0, 0] [%m, %n] [1, 1] : memref<64x64xf32, #own> to memref<?x?xf32, strided<[64, 1]>, #own>
    %gc = memref.subview %c[%row, %column] [%m, %n] [1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1], offset: ?>>
    memref.copy %own, %gc : memref<?x?xf32, strided<[64, 1]>, #own> to memref<?x?xf32, strided<[?, 1], offset: ?>>
    gpu.terminator
  }
  return
}

// Of a part of the sum that consists of whole steps, only what ends with the tensor is ragged.
// CHECK-LABEL: func @part_of_sum
// CHECK:         workgroup.group_product
//
// RING-LABEL: func @part_of_sum
// RING:         nvgpu.tma.async.load
func.func @part_of_sum(%a: memref<64x1000xf16>, %b: memref<64x1000xf16>, %c: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %threads = arith.constant 128 : index
  %step = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %part = arith.constant 512 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c2, %gy = %c2, %gz = %c2)
             threads(%tx, %ty, %tz) in (%bx = %threads, %by = %c1, %bz = %c1) {
    %ring = workgroup.ring : !R
    %row = arith.muli %x, %step overflow<nsw> : index
    %column = arith.muli %y, %step overflow<nsw> : index
    %from = arith.muli %z, %part overflow<nsw> : index
    %length = affine.min affine_map<(d0) -> (1000 - d0, 512)>(%from)
    %ra = memref.subview %a[0, %from] [64, %length] [1, 1] : memref<64x1000xf16> to memref<64x?xf16, strided<[1000, 1], offset: ?>>
    %rb = memref.subview %b[0, %from] [64, %length] [1, 1] : memref<64x1000xf16> to memref<64x?xf16, strided<[1000, 1], offset: ?>>
    %sum = memref.alloca() : memref<64x64xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x64xf32, #own>)
    scf.for %k = %c0 to %length step %step {
      %s = affine.min affine_map<(d0)[s0] -> (s0 - d0, 64)>(%k)[%length]
      %ga = memref.subview %ra[0, %k] [64, %s] [1, 1] : memref<64x?xf16, strided<[1000, 1], offset: ?>> to memref<64x?xf16, strided<[1000, 1], offset: ?>>
      %gb = memref.subview %rb[0, %k] [64, %s] [1, 1] : memref<64x?xf16, strided<[1000, 1], offset: ?>> to memref<64x?xf16, strided<[1000, 1], offset: ?>>
      %in:2 = workgroup.put %ring : !R -> !A, !B
      workgroup.copy %ga to %in#0 : memref<64x?xf16, strided<[1000, 1], offset: ?>> to !A
      workgroup.copy %gb to %in#1 : memref<64x?xf16, strided<[1000, 1], offset: ?>> to !B
      workgroup.commit %ring : !R
      %out:2 = workgroup.get %ring : !R -> !A, !B
      // expected-remark @+1 {{contraction of tiles shared out to threads}}
      linalg.matmul indexing_maps = #nt ins(%out#0, %out#1 : !A, !B) outs(%sum : memref<64x64xf32, #own>)
      workgroup.release %ring : !R
    }
    memref.copy %sum, %c : memref<64x64xf32, #own> to memref<64x64xf32>
    gpu.terminator
  }
  return
}

// Here the next part begins where the last step of a part ends.
// CHECK-LABEL: func @part_of_step
// CHECK-NOT:     group_product
// CHECK:         return
func.func @part_of_step(%a: memref<64x1000xf16>, %b: memref<64x1000xf16>, %c: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %threads = arith.constant 128 : index
  %step = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %part = arith.constant 500 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c2, %gy = %c2, %gz = %c2)
             threads(%tx, %ty, %tz) in (%bx = %threads, %by = %c1, %bz = %c1) {
    %ring = workgroup.ring : !R
    %row = arith.muli %x, %step overflow<nsw> : index
    %column = arith.muli %y, %step overflow<nsw> : index
    %from = arith.muli %z, %part overflow<nsw> : index
    %length = affine.min affine_map<(d0) -> (1000 - d0, 500)>(%from)
    %ra = memref.subview %a[0, %from] [64, %length] [1, 1] : memref<64x1000xf16> to memref<64x?xf16, strided<[1000, 1], offset: ?>>
    %rb = memref.subview %b[0, %from] [64, %length] [1, 1] : memref<64x1000xf16> to memref<64x?xf16, strided<[1000, 1], offset: ?>>
    %sum = memref.alloca() : memref<64x64xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x64xf32, #own>)
    scf.for %k = %c0 to %length step %step {
      %s = affine.min affine_map<(d0)[s0] -> (s0 - d0, 64)>(%k)[%length]
      %ga = memref.subview %ra[0, %k] [64, %s] [1, 1] : memref<64x?xf16, strided<[1000, 1], offset: ?>> to memref<64x?xf16, strided<[1000, 1], offset: ?>>
      %gb = memref.subview %rb[0, %k] [64, %s] [1, 1] : memref<64x?xf16, strided<[1000, 1], offset: ?>> to memref<64x?xf16, strided<[1000, 1], offset: ?>>
      %in:2 = workgroup.put %ring : !R -> !A, !B
      workgroup.copy %ga to %in#0 : memref<64x?xf16, strided<[1000, 1], offset: ?>> to !A
      workgroup.copy %gb to %in#1 : memref<64x?xf16, strided<[1000, 1], offset: ?>> to !B
      workgroup.commit %ring : !R
      %out:2 = workgroup.get %ring : !R -> !A, !B
      // expected-remark @+2 {{TMA cannot fill a tile: it fills a tile that may be ragged, and the source is not known to end where its tensor does}}
      // expected-remark @+1 {{contraction of tiles shared out to threads}}
      linalg.matmul indexing_maps = #nt ins(%out#0, %out#1 : !A, !B) outs(%sum : memref<64x64xf32, #own>)
      workgroup.release %ring : !R
    }
    memref.copy %sum, %c : memref<64x64xf32, #own> to memref<64x64xf32>
    gpu.terminator
  }
  return
}

// The tensor has rows behind those of the view.
// CHECK-LABEL: func @inside
// CHECK-NOT:     group_product
// CHECK:         return
func.func @inside(%a: memref<128x256xf16>, %b: memref<64x256xf16>, %c: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %threads = arith.constant 128 : index
  %step = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %end = arith.constant 256 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c2, %gy = %c2, %gz = %c2)
             threads(%tx, %ty, %tz) in (%bx = %threads, %by = %c1, %bz = %c1) {
    %ring = workgroup.ring : !R
    %row = arith.muli %x, %step overflow<nsw> : index
    %column = arith.muli %y, %step overflow<nsw> : index
    %m = affine.min affine_map<(d0) -> (100 - d0, 64)>(%row)
    %ra = memref.subview %a[%row, 0] [%m, 256] [1, 1] : memref<128x256xf16> to memref<?x256xf16, strided<[256, 1], offset: ?>>
    %sum = memref.alloca() : memref<64x64xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x64xf32, #own>)
    scf.for %k = %c0 to %end step %step {
      %ga = memref.subview %ra[0, %k] [%m, 64] [1, 1] : memref<?x256xf16, strided<[256, 1], offset: ?>> to memref<?x64xf16, strided<[256, 1], offset: ?>>
      %gb = memref.subview %b[0, %k] [64, 64] [1, 1] : memref<64x256xf16> to memref<64x64xf16, strided<[256, 1], offset: ?>>
      %in:2 = workgroup.put %ring : !R -> !A, !B
      workgroup.copy %ga to %in#0 : memref<?x64xf16, strided<[256, 1], offset: ?>> to !A
      workgroup.copy %gb to %in#1 : memref<64x64xf16, strided<[256, 1], offset: ?>> to !B
      workgroup.commit %ring : !R
      %out:2 = workgroup.get %ring : !R -> !A, !B
      // expected-remark @+2 {{TMA cannot fill a tile: it fills a tile that may be ragged, and the source is not known to end where its tensor does}}
      // expected-remark @+1 {{contraction of tiles shared out to threads}}
      linalg.matmul indexing_maps = #nt ins(%out#0, %out#1 : !A, !B) outs(%sum : memref<64x64xf32, #own>)
      workgroup.release %ring : !R
    }
    memref.copy %sum, %c : memref<64x64xf32, #own> to memref<64x64xf32>
    gpu.terminator
  }
  return
}
