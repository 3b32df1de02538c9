// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies)' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-lower-copies)' | diff %t.once -
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-hoist-allocs,workgroup-verify-kernels)' -o /dev/null
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{bypass-l1=false})' | FileCheck %s --check-prefix=CACHED
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{insert-barriers=false})' | FileCheck %s --check-prefix=BARE
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{chip=sm_75})' | FileCheck %s --check-prefix=OLD
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{chip=sm_90})' | diff %t.once -

// What the block copies from global to workgroup memory goes by cp.async.
// CACHED-NOT:  bypassL1
// OLD-NOT:     nvgpu

#wg = #gpu.address_space<workgroup>

gpu.module @widths {
  // Accesses of 16 bytes do not go to the L1 cache; all are one group, and are waited
  // for before the barrier.
  // CHECK-LABEL: gpu.func @sixteen_bytes
  // CHECK-COUNT-4: %{{.+}} = nvgpu.device_async_copy %{{.+}}[{{.+}}], %{{.+}}[{{.+}}], 8 {bypassL1} : memref<4096xf16> to memref<4096xf16, #gpu.address_space<workgroup>>
  // CHECK-NOT:     scf
  // CHECK:         %[[GROUP:.+]] = nvgpu.device_async_create_group %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}
  // CHECK-NEXT:    nvgpu.device_async_wait %[[GROUP]]
  // CHECK-NEXT:    gpu.barrier
  // BARE-LABEL:  gpu.func @sixteen_bytes
  // BARE:          nvgpu.device_async_wait
  // BARE-NEXT:     memref.load
  gpu.func @sixteen_bytes(%in: memref<64x64xf16> {llvm.align = 16}, %i: index, %out: memref<64xf16>)
      workgroup(%w: memref<64x64xf16, #wg>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    memref.copy %in, %w : memref<64x64xf16> to memref<64x64xf16, #wg>
    %x = memref.load %w[%i, %i] : memref<64x64xf16, #wg>
    memref.store %x, %out[%i] : memref<64xf16>
    gpu.return
  }

  // Four and eight bytes, of several elements or of one; the rest of a row as well.
  // CHECK-LABEL: gpu.func @fewer_bytes
  // CHECK:         nvgpu.device_async_copy {{.+}}, 2 : memref<32x2xf32>
  // CHECK:         nvgpu.device_async_create_group
  // CHECK-NEXT:    nvgpu.device_async_wait
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.load
  // CHECK:         nvgpu.device_async_copy {{.+}}, 1 : memref<67xi32>
  // CHECK:         scf.if
  // CHECK:           nvgpu.device_async_copy {{.+}}, 1 : memref<67xi32>
  // CHECK:         }
  // CHECK-NEXT:    %[[GROUP:.+]] = nvgpu.device_async_create_group %{{[^,]+$}}
  // CHECK-NEXT:    nvgpu.device_async_wait %[[GROUP]]
  gpu.func @fewer_bytes(%in: memref<32x2xf32> {llvm.align = 8}, %numbers: memref<67xi32>, %i: index, %out: memref<64xf32>)
      workgroup(%w: memref<32x4xf32, #wg>, %n: memref<67xi32, #wg>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %rows = memref.subview %w[0, 0] [32, 2] [1, 1] : memref<32x4xf32, #wg> to memref<32x2xf32, strided<[4, 1]>, #wg>
    memref.copy %in, %rows : memref<32x2xf32> to memref<32x2xf32, strided<[4, 1]>, #wg>
    %x = memref.load %w[%i, %i] : memref<32x4xf32, #wg>
    memref.store %x, %out[%i] : memref<64xf32>
    memref.copy %numbers, %n : memref<67xi32> to memref<67xi32, #wg>
    gpu.return
  }

  // In a loop: the group is outside of it.
  // CHECK-LABEL: gpu.func @dynamic
  // CHECK:         scf.for
  // CHECK:           nvgpu.device_async_copy
  // CHECK-NOT:       device_async_create_group
  // CHECK:         }
  // CHECK:         nvgpu.device_async_create_group
  // CHECK-NEXT:    nvgpu.device_async_wait
  gpu.func @dynamic(%in: memref<?x?xf32>, %n: index) workgroup(%w: memref<64x64xf32, #wg>) kernel {
    %from = memref.subview %in[0, 0] [%n, %n] [1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1]>>
    %to = memref.subview %w[0, 0] [%n, %n] [1, 1] : memref<64x64xf32, #wg> to memref<?x?xf32, strided<[64, 1]>, #wg>
    memref.copy %from, %to : memref<?x?xf32, strided<[?, 1]>> to memref<?x?xf32, strided<[64, 1]>, #wg>
    gpu.return
  }
}

gpu.module @runs {
  // Copies that do not touch each other's memory are in flight together, whatever way
  // each of them goes.
  // CHECK-LABEL: gpu.func @together
  // CHECK:         nvgpu.device_async_copy
  // CHECK-NOT:     nvgpu.device_async_wait
  // CHECK:         memref.store %{{.+}} : memref<64xf16, #gpu.address_space<workgroup>>
  // CHECK-NOT:     nvgpu.device_async_wait
  // CHECK:         nvgpu.device_async_copy
  // CHECK:         %[[GROUP:.+]] = nvgpu.device_async_create_group %{{.+}}, %{{.+}}
  // CHECK-NEXT:    nvgpu.device_async_wait %[[GROUP]]
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.load
  gpu.func @together(%a: memref<64xf32>, %b: memref<64xf16>, %i: index, %out: memref<64xf32>)
      workgroup(%u: memref<64xf32, #wg>, %v: memref<64xf16, #wg>, %w: memref<64xf32, #wg>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %a, %u : memref<64xf32> to memref<64xf32, #wg>
    memref.copy %b, %v : memref<64xf16> to memref<64xf16, #wg>
    memref.copy %a, %w : memref<64xf32> to memref<64xf32, #wg>
    %x = memref.load %u[%i] : memref<64xf32, #wg>
    memref.store %x, %out[%i] : memref<64xf32>
    gpu.return
  }

  // A store to the source, or to what may be the source, waits for the copy.
  // CHECK-LABEL: gpu.func @store_to_source
  // CHECK:         nvgpu.device_async_copy
  // CHECK:         nvgpu.device_async_wait
  // CHECK:         memref.store
  // CHECK:         nvgpu.device_async_copy
  // CHECK:         nvgpu.device_async_wait
  // CHECK:         memref.store {{.+}} : memref<64xf32>
  gpu.func @store_to_source(%a: memref<64xf32>, %b: memref<64xf32>, %i: index, %x: f32)
      workgroup(%u: memref<64xf32, #wg>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %a, %u : memref<64xf32> to memref<64xf32, #wg>
    memref.store %x, %a[%i] : memref<64xf32>
    memref.copy %a, %u : memref<64xf32> to memref<64xf32, #wg>
    memref.copy %u, %b : memref<64xf32, #wg> to memref<64xf32>
    gpu.return
  }
}

// Loads from elsewhere, in branches too, leave a run as it is; one from a target does not.
// CHECK-LABEL: gpu.func @reads_between
// CHECK:         nvgpu.device_async_copy
// CHECK-NOT:     nvgpu.device_async_wait
// CHECK:         memref.load {{.+}} : memref<64xf32>
// CHECK-NOT:     nvgpu.device_async_wait
// CHECK:         nvgpu.device_async_copy
// CHECK:         nvgpu.device_async_wait
// CHECK:         memref.load {{.+}}#gpu.address_space<workgroup>>
// CHECK:         nvgpu.device_async_copy
// CHECK:         nvgpu.device_async_wait
gpu.module @reads_between {
  gpu.func @reads_between(%a: memref<64xf32>, %b: memref<64xf32>, %out: memref<64xf32>, %i: index, %p: i1)
      workgroup(%u: memref<64xf32, #wg>, %v: memref<64xf32, #wg>, %w: memref<64xf32, #wg>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %a, %u : memref<64xf32> to memref<64xf32, #wg>
    %zero = arith.constant 0.0 : f32
    %x = scf.if %p -> f32 {
      %loaded = memref.load %b[%i] : memref<64xf32>
      scf.yield %loaded : f32
    } else {
      scf.yield %zero : f32
    }
    memref.copy %b, %v : memref<64xf32> to memref<64xf32, #wg>
    %y = memref.load %u[%i] : memref<64xf32, #wg>
    memref.copy %a, %w : memref<64xf32> to memref<64xf32, #wg>
    %z = arith.addf %x, %y : f32
    memref.store %z, %out[%i] : memref<64xf32>
    gpu.return
  }
}

// None of these: two bytes, elements whose bytes are not known, conversions, no
// common direction, fills, other memories, a function's argument of unknown memory,
// single threads.
gpu.module @others {
  // CHECK-LABEL: gpu.module @others
  // CHECK-NOT:     nvgpu
  gpu.func @elements(%a: memref<64xf16>, %b: memref<64xindex>, %c: memref<64xcomplex<f32>>, %d: memref<64xf16>, %e: memref<16x4xf32>)
      workgroup(%u: memref<64xf16, #wg>, %v: memref<64xindex, #wg>, %w: memref<64xcomplex<f32>, #wg>, %x: memref<64xf32, #wg>, %y: memref<16x4xf32, strided<[1, 16]>, #wg>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    memref.copy %a, %u : memref<64xf16> to memref<64xf16, #wg>
    memref.copy %b, %v : memref<64xindex> to memref<64xindex, #wg>
    memref.copy %c, %w : memref<64xcomplex<f32>> to memref<64xcomplex<f32>, #wg>
    linalg.copy ins(%d : memref<64xf16>) outs(%x : memref<64xf32, #wg>)
    memref.copy %e, %y : memref<16x4xf32> to memref<16x4xf32, strided<[1, 16]>, #wg>
    linalg.fill ins(%zero : f32) outs(%x : memref<64xf32, #wg>)
    gpu.return
  }
  gpu.func @memories(%a: memref<64xf32>, %b: memref<64xf32>)
      workgroup(%u: memref<64xf32, #wg>, %v: memref<64xf32, #wg>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %p = memref.alloca() : memref<64xf32>
    memref.copy %a, %b : memref<64xf32> to memref<64xf32>
    memref.copy %u, %v : memref<64xf32, #wg> to memref<64xf32, #wg>
    memref.copy %v, %b : memref<64xf32, #wg> to memref<64xf32>
    memref.copy %a, %p : memref<64xf32> to memref<64xf32>
    func.call @unknown(%a, %u) : (memref<64xf32>, memref<64xf32, #wg>) -> ()
    gpu.return
  }
  func.func private @unknown(%a: memref<64xf32>, %u: memref<64xf32, #wg>) {
    memref.copy %a, %u : memref<64xf32> to memref<64xf32, #wg>
    return
  }
  gpu.func @threads(%a: memref<64x8xf32>) workgroup(%u: memref<64x8xf32, #wg>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %x = gpu.thread_id x
    %from = memref.subview %a[%x, 0] [1, 8] [1, 1] : memref<64x8xf32> to memref<8xf32, strided<[1], offset: ?>>
    %to = memref.subview %u[%x, 0] [1, 8] [1, 1] : memref<64x8xf32, #wg> to memref<8xf32, strided<[1], offset: ?>, #wg>
    memref.copy %from, %to : memref<8xf32, strided<[1], offset: ?>> to memref<8xf32, strided<[1], offset: ?>, #wg>
    gpu.return
  }
}
