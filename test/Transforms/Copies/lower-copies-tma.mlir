// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{strategy=tma chip=sm_90 assume-alignment=16})' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-lower-copies{strategy=tma chip=sm_90 assume-alignment=16})' | diff %t.once -
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{strategy=tma chip=sm_90 assume-alignment=16},gpu-kernel-outlining,workgroup-pack-memory,workgroup-hoist-allocs,workgroup-verify-kernels)' -o /dev/null
// RUN: mlir-opt %s --pass-pipeline='builtin.module(func.func(workgroup-lower-copies{strategy=tma chip=sm_90 assume-alignment=16}))' | diff %t.once -
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{strategy=tma chip=sm_90 assume-alignment=16 insert-barriers=false})' | FileCheck %s --check-prefix=BARE

// One thread asks for the tile, all wait for it. The map is made beside the launch.
#wg = #gpu.address_space<workgroup>

// CHECK-LABEL: func.func @one_tile
// CHECK-SAME:    (%[[IN:.+]]: memref<256x128xf32>, %{{.+}}: memref<64xf32>)
// CHECK-DAG:     %[[TENSOR:.+]] = memref.cast %[[IN]] : memref<256x128xf32> to memref<*xf32>
// CHECK-DAG:     %[[ROWS:.+]] = arith.constant 64 : index
// CHECK-DAG:     %[[COLUMNS:.+]] = arith.constant 32 : index
// CHECK:         %[[MAP:.+]] = nvgpu.tma.create.descriptor %[[TENSOR]] box[%{{.+}}, %[[COLUMNS]]] : memref<*xf32> -> <tensor = memref<64x32xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = l2promo_128b, oob = zero, interleave = none>
// CHECK:         gpu.launch blocks(%[[BX:[^,]+]],
// CHECK:           %[[GROUP:.+]] = nvgpu.mbarrier.create -> <memorySpace = #gpu.address_space<workgroup>>
// CHECK:           scf.if %{{.+}} {
// CHECK:             nvgpu.mbarrier.init %[[GROUP]][%{{.+}}], %{{.+}}
// CHECK-NEXT:        nvvm.fence.mbarrier.init
// CHECK-NEXT:        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK-NEXT:      }
// CHECK-NEXT:      gpu.barrier
// Nothing precedes the copy: no further barrier, no fence. Nobody needs the slice.
// CHECK-NOT:       memref.subview
// CHECK-NOT:       fence
// CHECK-NOT:       gpu.barrier
// CHECK:           %[[BUFFER:.+]] = memref.alloc() {alignment = 128 : i64} : memref<64x32xf32, #gpu.address_space<workgroup>>
// CHECK:           %[[ELECTED:.+]] = arith.cmpi eq, %{{.+}}, %{{.+}} : index
// CHECK:           scf.if %[[ELECTED]] {
// CHECK:             %[[BYTES:.+]] = arith.constant 8192 : index
// CHECK-NEXT:        nvgpu.mbarrier.arrive.expect_tx %[[GROUP]][%{{.+}}], %[[BYTES]]
// Coordinates are innermost first, unlike those of the slice.
// CHECK:             nvgpu.tma.async.load %[[MAP]][%{{c8.*}}, %[[ROW:.+]]], %[[GROUP]][%{{.+}}] to %[[BUFFER]]
// CHECK-NEXT:      }
// CHECK:           %[[PARITY:.+]] = arith.constant false
// CHECK:           nvgpu.mbarrier.try_wait.parity %[[GROUP]][%{{.+}}], %[[PARITY]],
// What a thread has waited for, it sees.
// CHECK-NOT:       gpu.barrier
// CHECK:           memref.load %[[BUFFER]]
func.func @one_tile(%in: memref<256x128xf32>, %out: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c4, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c4, %sz = %c1) {
    %buffer = memref.alloc() : memref<64x32xf32, #wg>
    %row = arith.muli %bx, %c64 : index
    %tile = memref.subview %in[%row, %c8] [64, 32] [1, 1] : memref<256x128xf32> to memref<64x32xf32, strided<[128, 1], offset: ?>>
    memref.copy %tile, %buffer : memref<64x32xf32, strided<[128, 1], offset: ?>> to memref<64x32xf32, #wg>
    %x = memref.load %buffer[%tx, %c8] : memref<64x32xf32, #wg>
    memref.store %x, %out[%tx] : memref<64xf32>
    gpu.terminator
  }
  return
}

// Slices of slices add up. Rank one to three, extents that are dynamic, dimensions
// of one element: a map has none of its tensor, a box has those of its tile.
// CHECK-LABEL: func.func @ranks
// CHECK:         box[%{{.+}}] : memref<*xf16> -> <tensor = memref<256xf16,
// CHECK:         %[[VOLUME:.+]] = memref.subview %{{.+}}[0, 0, 0, 0] [%{{.+}}, 8, 1, 64] [1, 1, 1, 1] : memref<?x8x1x64xi8> to memref<?x8x64xi8, strided<[512, 64, 1]>>
// CHECK:         memref.cast %[[VOLUME]]
// CHECK:         box[%{{.+}}, %{{.+}}, %{{.+}}] : memref<*xi8> -> <tensor = memref<1x8x32xi8,
// CHECK:         gpu.launch
// CHECK:           %[[AT:.+]] = arith.constant 100 : index
// CHECK:           %[[SUM:.+]] = arith.addi %{{.+}}, %{{.+}} overflow<nsw, nuw> : index
// CHECK:           nvgpu.tma.async.load %{{.+}}[%[[SUM]]]
// CHECK:           %[[BOX:.+]] = memref.expand_shape %{{.+}} {{.+}} : memref<8x32xi8, #gpu.address_space<workgroup>> into memref<1x8x32xi8, #gpu.address_space<workgroup>>
// CHECK:           nvgpu.tma.async.load %{{.+}}[%{{.+}}, %{{.+}}, %{{.+}}], %{{.+}} to %[[BOX]]
func.func @ranks(%line: memref<?xf16>, %volume: memref<?x8x1x64xi8>, %out: memref<64xf16>) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %c100 = arith.constant 100 : index
    %first = memref.alloc() : memref<256xf16, #wg>
    %second = memref.alloc() : memref<8x32xi8, #wg>
    %part = memref.subview %line[%c100] [512] [1] : memref<?xf16> to memref<512xf16, strided<[1], offset: ?>>
    %piece = memref.subview %part[%bx] [256] [1] : memref<512xf16, strided<[1], offset: ?>> to memref<256xf16, strided<[1], offset: ?>>
    memref.copy %piece, %first : memref<256xf16, strided<[1], offset: ?>> to memref<256xf16, #wg>
    %slab = memref.subview %volume[%bx, 0, 0, 16] [1, 8, 1, 32] [1, 1, 1, 1] : memref<?x8x1x64xi8> to memref<8x32xi8, strided<[64, 1], offset: ?>>
    memref.copy %slab, %second : memref<8x32xi8, strided<[64, 1], offset: ?>> to memref<8x32xi8, #wg>
    %x = memref.load %first[%tx] : memref<256xf16, #wg>
    memref.store %x, %out[%tx] : memref<64xf16>
    gpu.terminator
  }
  return
}

// A run has one mbarrier, which counts the bytes of all its copies. Its phase goes
// through the branch and both loops, and on from iteration to iteration; so does that of the
// second run. The fence stands before the barrier that lets go of the buffers.
// CHECK-LABEL: func.func @loops
// CHECK-COUNT-2: nvgpu.tma.create.descriptor
// CHECK-NOT:     nvgpu.tma.create.descriptor
// CHECK:         gpu.launch
// CHECK:           %[[GROUP:.+]] = nvgpu.mbarrier.create -> <memorySpace = #gpu.address_space<workgroup>, num_barriers = 2>
// CHECK-COUNT-2:   nvgpu.mbarrier.init
// The barriers before the runs let everybody know of the mbarriers, too.
// CHECK-NOT:       gpu.barrier
// CHECK:           %[[OUTER:.+]]:2 = scf.for {{.+}} iter_args(%[[P0:.+]] = %{{.+}}, %[[Q0:.+]] = %{{.+}}) -> (i1, i1)
// CHECK:             %[[INNER:.+]]:2 = scf.for {{.+}} iter_args(%[[P1:.+]] = %[[P0]], %[[Q1:.+]] = %[[Q0]]) -> (i1, i1)
// CHECK:               nvvm.fence.proxy
// CHECK-NEXT:          gpu.barrier
// CHECK:               %[[BYTES:.+]] = arith.constant 6144 : index
// CHECK-NEXT:          nvgpu.mbarrier.arrive.expect_tx %[[GROUP]][%[[FIRST:.+]]], %[[BYTES]]
// CHECK-NEXT:          nvgpu.tma.async.load
// CHECK-NEXT:          nvgpu.tma.async.load
// CHECK:               nvgpu.mbarrier.try_wait.parity %[[GROUP]][%[[FIRST]]], %[[P1]],
// CHECK:               %[[P2:.+]] = arith.xori %[[P1]], %{{.+}} : i1
// CHECK:               %[[Q3:.+]] = scf.if %{{.+}} -> (i1) {
// CHECK:                 nvvm.fence.proxy
// CHECK-NEXT:            gpu.barrier
// CHECK:                 nvgpu.mbarrier.try_wait.parity %[[GROUP]][%{{.+}}], %[[Q1]],
// CHECK:                 %[[Q2:.+]] = arith.xori %[[Q1]], %{{.+}} : i1
// CHECK:                 scf.yield %[[Q2]] : i1
// CHECK:               } else {
// CHECK-NEXT:            scf.yield %[[Q1]] : i1
// CHECK:               scf.yield %[[P2]], %[[Q3]] : i1, i1
// CHECK:             scf.yield %[[INNER]]#0, %[[INNER]]#1 : i1, i1
// Where a copy may be executed again, the barrier before it is not left to others:
// it keeps the mbarrier from being used anew while a thread still waits.
// BARE-LABEL:  func.func @loops
// BARE:          scf.for
// BARE:            scf.for
// BARE:              nvvm.fence.proxy
// BARE-NEXT:         gpu.barrier
// BARE:              nvgpu.mbarrier.try_wait.parity
// BARE-NOT:          gpu.barrier
// BARE:              scf.if
func.func @loops(%a: memref<512x512xf32>, %b: memref<512x512xf32>, %out: memref<64xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %ta = memref.alloc() : memref<32x32xf32, #wg>
    %tb = memref.alloc() : memref<16x32xf32, #wg>
    scf.for %i = %c0 to %c16 step %c1 {
      scf.for %j = %c0 to %c64 step %c16 {
        %sa = memref.subview %a[%i, %j] [32, 32] [1, 1] : memref<512x512xf32> to memref<32x32xf32, strided<[512, 1], offset: ?>>
        %sb = memref.subview %b[%j, %i] [16, 32] [1, 1] : memref<512x512xf32> to memref<16x32xf32, strided<[512, 1], offset: ?>>
        memref.copy %sa, %ta : memref<32x32xf32, strided<[512, 1], offset: ?>> to memref<32x32xf32, #wg>
        memref.copy %sb, %tb : memref<16x32xf32, strided<[512, 1], offset: ?>> to memref<16x32xf32, #wg>
        %x = memref.load %ta[%c0, %j] : memref<32x32xf32, #wg>
        memref.store %x, %out[%tx] : memref<64xf32>
        %again = arith.cmpi ult, %j, %c16 : index
        scf.if %again {
          memref.copy %sb, %tb : memref<16x32xf32, strided<[512, 1], offset: ?>> to memref<16x32xf32, #wg>
          %y = memref.load %tb[%c0, %j] : memref<16x32xf32, #wg>
          memref.store %y, %out[%tx] : memref<64xf32>
        }
      }
    }
    gpu.terminator
  }
  return
}

// Results, values that a loop carries, and attributes stay.
// CHECK-LABEL: func.func @carried
// CHECK:         %[[LOOP:.+]]:2 = scf.for {{.+}} iter_args(%[[SUM:.+]] = %{{.+}}, %[[PHASE:.+]] = %{{.+}}) -> (f32, i1)
// CHECK:           %[[IF:.+]]:2 = scf.if {{.+}} -> (f32, i1) {
// CHECK:             scf.yield %{{.+}}, %[[PHASE]] : f32, i1
// CHECK:           } else {
// CHECK:             %[[NEXT:.+]] = arith.xori %[[PHASE]],
// CHECK:             scf.yield %{{.+}}, %[[NEXT]] : f32, i1
// CHECK:           } {hint = 1 : i64}
// CHECK:           scf.yield %[[IF]]#0, %[[IF]]#1 : f32, i1
// CHECK:         } {hint = 2 : i64}
// CHECK:         memref.store %[[LOOP]]#0
func.func @carried(%a: memref<512x512xf32>, %out: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %zero = arith.constant 0.0 : f32
    %buffer = memref.alloc() : memref<64x64xf32, #wg>
    %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%s = %zero) -> (f32) {
      %is_first = arith.cmpi eq, %i, %c0 : index
      %next = scf.if %is_first -> (f32) {
        scf.yield %s : f32
      } else {
        %tile = memref.subview %a[%i, 0] [64, 64] [1, 1] : memref<512x512xf32> to memref<64x64xf32, strided<[512, 1], offset: ?>>
        memref.copy %tile, %buffer : memref<64x64xf32, strided<[512, 1], offset: ?>> to memref<64x64xf32, #wg>
        %x = memref.load %buffer[%tx, %i] : memref<64x64xf32, #wg>
        %t = arith.addf %s, %x : f32
        scf.yield %t : f32
      } {hint = 1}
      scf.yield %next : f32
    } {hint = 2}
    memref.store %sum, %out[%tx] : memref<64xf32>
    gpu.terminator
  }
  return
}

// An extent beyond 256 takes several loads; their boxes go to parts of the target.
// CHECK-LABEL: func.func @parts
// CHECK:         box[%{{.+}}, %{{.+}}] : memref<*xf32> -> <tensor = memref<256x4xf32,
// CHECK:         arith.constant 16384 : index
// CHECK:         %[[PART:.+]] = memref.subview %{{.+}}[0, 0] [256, 4] [1, 1] :
// CHECK:         nvgpu.tma.async.load %{{.+}} to %[[PART]]
// CHECK:         %[[LAST:.+]] = memref.subview %{{.+}}[768, 0] [256, 4] [1, 1] :
// CHECK:         %[[AT:.+]] = arith.constant 768 : index
// CHECK:         nvgpu.tma.async.load %{{.+}}[%{{.+}}, %[[AT]]], %{{.+}} to %[[LAST]]
// CHECK-NOT:     nvgpu.tma.async.load
func.func @parts(%in: memref<1024x1024xf32>, %out: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %buffer = memref.alloc() : memref<1024x4xf32, #wg>
    %tile = memref.subview %in[0, %bx] [1024, 4] [1, 1] : memref<1024x1024xf32> to memref<1024x4xf32, strided<[1024, 1], offset: ?>>
    memref.copy %tile, %buffer : memref<1024x4xf32, strided<[1024, 1], offset: ?>> to memref<1024x4xf32, #wg>
    %x = memref.load %buffer[%tx, %bx] : memref<1024x4xf32, #wg>
    memref.store %x, %out[%tx] : memref<64xf32>
    gpu.terminator
  }
  return
}

// One thread asks for itself, and there is nobody to meet. What an attribution of a
// launch cannot say of its alignment, an allocation can.
// CHECK-LABEL: func.func @one_thread
// CHECK:         nvgpu.mbarrier.create
// CHECK-NOT:     scf.if
// CHECK:         memref.alloc() {alignment = 128 : i64}
// CHECK:         nvgpu.mbarrier.arrive.expect_tx
// CHECK:         nvgpu.tma.async.load
// CHECK:         nvgpu.mbarrier.try_wait.parity
// CHECK:         memref.store
// CHECK:         nvvm.fence.proxy
// CHECK-NOT:     gpu.barrier
// CHECK:         nvgpu.mbarrier.arrive.expect_tx
// CHECK:         gpu.terminator
func.func @one_thread(%in: memref<64x64xbf16>, %out: memref<64x64xbf16>) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1)
             workgroup(%buffer: memref<64x64xbf16, #wg>) {
    memref.copy %in, %buffer : memref<64x64xbf16> to memref<64x64xbf16, #wg>
    %x = memref.load %buffer[%tx, %bx] : memref<64x64xbf16, #wg>
    memref.store %x, %buffer[%bx, %tx] : memref<64x64xbf16, #wg>
    memref.copy %in, %buffer : memref<64x64xbf16> to memref<64x64xbf16, #wg>
    gpu.terminator
  }
  return
}

// Each launch has maps of its own, made where it stands.
// CHECK-LABEL: func.func @two_launches
// CHECK:         %[[FIRST:.+]] = nvgpu.tma.create.descriptor
// CHECK:         gpu.launch
// CHECK:           nvgpu.tma.async.load %[[FIRST]][
// CHECK:         scf.for
// CHECK:           %[[SECOND:.+]] = nvgpu.tma.create.descriptor
// CHECK:           gpu.launch
// CHECK:             nvgpu.tma.async.load %[[SECOND]][
func.func @two_launches(%in: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %buffer = memref.alloc() : memref<64x64xf32, #wg>
    memref.copy %in, %buffer : memref<64x64xf32> to memref<64x64xf32, #wg>
    gpu.terminator
  }
  scf.for %i = %c0 to %c64 step %c1 {
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
      %buffer = memref.alloc() : memref<64x64xf32, #wg>
      memref.copy %in, %buffer : memref<64x64xf32> to memref<64x64xf32, #wg>
      gpu.terminator
    }
  }
  return
}

// Lanes that exchange values write no memory: the source is as it was.
// CHECK-LABEL: func.func @behind_exchange
// CHECK:         gpu.subgroup_reduce
// CHECK:         nvgpu.tma.async.load
func.func @behind_exchange(%in: memref<256x128xf32>, %out: memref<64xf32>, %v: f32) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c4, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c4, %sz = %c1) {
    %buffer = memref.alloc() : memref<64x32xf32, #wg>
    %sum = gpu.subgroup_reduce add %v : (f32) -> f32
    %row = arith.muli %bx, %c64 : index
    %tile = memref.subview %in[%row, %c8] [64, 32] [1, 1] : memref<256x128xf32> to memref<64x32xf32, strided<[128, 1], offset: ?>>
    memref.copy %tile, %buffer : memref<64x32xf32, strided<[128, 1], offset: ?>> to memref<64x32xf32, #wg>
    %x = memref.load %buffer[%tx, %c8] : memref<64x32xf32, #wg>
    %y = arith.addf %x, %sum : f32
    memref.store %y, %out[%tx] : memref<64xf32>
    gpu.terminator
  }
  return
}
