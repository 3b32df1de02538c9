// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory)' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-pack-memory)' -o %t.twice
// RUN: diff %t.once %t.twice

// A buffer that is written asynchronously lives until the wait that is known to
// cover the copy.

gpu.module @waits {
  // Waited for, then given to the next one.
  // CHECK-LABEL: gpu.func @waited(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<256xi8
  // CHECK:         nvgpu.device_async_wait
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.store
  gpu.func @waited(%g: memref<64xf32>, %i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %copy = nvgpu.device_async_copy %g[%i], %a[%i], 1 : memref<64xf32> to memref<64xf32, 3>
    %group = nvgpu.device_async_create_group %copy
    nvgpu.device_async_wait %group { numGroups = 0 : i32 }
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }

  // A wait without a number is for all groups.
  // CHECK-LABEL: gpu.func @wait_for_all(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<256xi8
  gpu.func @wait_for_all(%g: memref<64xf32>, %i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %copy = nvgpu.device_async_copy %g[%i], %a[%i], 1 : memref<64xf32> to memref<64xf32, 3>
    %group = nvgpu.device_async_create_group %copy
    nvgpu.device_async_wait %group
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }

  // A barrier before the wait separates nothing.
  // CHECK-LABEL: gpu.func @barrier_too_early(
  // CHECK:         nvgpu.device_async_create_group
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    nvgpu.device_async_wait
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.store
  gpu.func @barrier_too_early(%g: memref<64xf32>, %i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %copy = nvgpu.device_async_copy %g[%i], %a[%i], 1 : memref<64xf32> to memref<64xf32, 3>
    %group = nvgpu.device_async_create_group %copy
    gpu.barrier
    nvgpu.device_async_wait %group { numGroups = 0 : i32 }
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }

  // One group may be left: it is not that of the copy if another came after it.
  // CHECK-LABEL: gpu.func @one_left(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<512xi8
  // CHECK:         nvgpu.device_async_wait %{{.+}} {numGroups = 1 : i32}
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.store
  gpu.func @one_left(%g: memref<64xf32>, %i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>, %c: memref<64xf32, 3>) kernel {
    %copy = nvgpu.device_async_copy %g[%i], %a[%i], 1 : memref<64xf32> to memref<64xf32, 3>
    %group = nvgpu.device_async_create_group %copy
    %next = nvgpu.device_async_copy %g[%i], %c[%i], 1 : memref<64xf32> to memref<64xf32, 3>
    %last = nvgpu.device_async_create_group %next
    nvgpu.device_async_wait %last { numGroups = 1 : i32 }
    memref.store %v, %b[%i] : memref<64xf32, 3>
    nvgpu.device_async_wait %last { numGroups = 0 : i32 }
    gpu.return
  }

  // The copies of several iterations, waited for together.
  // CHECK-LABEL: gpu.func @after_loop(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<256xi8
  // CHECK:         scf.for
  // CHECK:         }
  // CHECK-NEXT:    nvgpu.device_async_create_group
  // CHECK-NEXT:    nvgpu.device_async_wait
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.store
  gpu.func @after_loop(%g: memref<64xf32>, %i: index, %v: f32, %n: index)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %j = %c0 to %n step %c1 {
      %copy = nvgpu.device_async_copy %g[%j], %a[%j], 1 : memref<64xf32> to memref<64xf32, 3>
    }
    %group = nvgpu.device_async_create_group
    nvgpu.device_async_wait %group { numGroups = 0 : i32 }
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }

  // Each iteration waits for its own.
  // CHECK-LABEL: gpu.func @in_iteration(
  // CHECK-SAME:    workgroup(%[[ARENA:.+]] : memref<256xi8
  // CHECK:         scf.for
  // CHECK-NEXT:      memref.view
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      nvgpu.device_async_copy
  // CHECK:           nvgpu.device_async_wait
  // CHECK:           gpu.barrier
  // CHECK-NEXT:      memref.store
  gpu.func @in_iteration(%g: memref<64xf32>, %i: index, %v: f32, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %j = %c0 to %n step %c1 {
      %a = memref.alloc() : memref<64xf32, 3>
      %copy = nvgpu.device_async_copy %g[%i], %a[%i], 1 : memref<64xf32> to memref<64xf32, 3>
      %group = nvgpu.device_async_create_group %copy
      nvgpu.device_async_wait %group { numGroups = 0 : i32 }
      %b = memref.alloc() : memref<64xf32, 3>
      memref.store %v, %b[%i] : memref<64xf32, 3>
    }
    gpu.return
  }
}

// No wait is known to cover the copy before the other buffer is used: everything
// stays as it is.
gpu.module @apart {
  // CHECK-LABEL: gpu.module @apart
  // CHECK-NOT:     memref.view
  // CHECK-LABEL: gpu.module @tma

  // The wait comes after the first use of the other buffer.
  gpu.func @too_late(%g: memref<64xf32>, %i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %copy = nvgpu.device_async_copy %g[%i], %a[%i], 1 : memref<64xf32> to memref<64xf32, 3>
    %group = nvgpu.device_async_create_group %copy
    gpu.barrier
    memref.store %v, %b[%i] : memref<64xf32, 3>
    nvgpu.device_async_wait %group { numGroups = 0 : i32 }
    gpu.return
  }
  // There is none.
  gpu.func @never(%g: memref<64xf32>, %i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %copy = nvgpu.device_async_copy %g[%i], %a[%i], 1 : memref<64xf32> to memref<64xf32, 3>
    gpu.barrier
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }
  // The copy is in no group yet.
  gpu.func @no_group(%g: memref<64xf32>, %i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %copy = nvgpu.device_async_copy %g[%i], %a[%i], 1 : memref<64xf32> to memref<64xf32, 3>
    nvgpu.device_async_wait %copy { numGroups = 0 : i32 }
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }
  // One group may be left, and it is that of the copy.
  gpu.func @left(%g: memref<64xf32>, %i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %copy = nvgpu.device_async_copy %g[%i], %a[%i], 1 : memref<64xf32> to memref<64xf32, 3>
    %group = nvgpu.device_async_create_group %copy
    nvgpu.device_async_wait %group { numGroups = 1 : i32 }
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }
  // Not every path has the wait, or the group.
  gpu.func @wait_in_branch(%g: memref<64xf32>, %i: index, %v: f32, %c: i1)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %copy = nvgpu.device_async_copy %g[%i], %a[%i], 1 : memref<64xf32> to memref<64xf32, 3>
    %group = nvgpu.device_async_create_group %copy
    scf.if %c {
      nvgpu.device_async_wait %group { numGroups = 0 : i32 }
    }
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }
  gpu.func @group_in_branch(%g: memref<64xf32>, %i: index, %v: f32, %c: i1)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %copy = nvgpu.device_async_copy %g[%i], %a[%i], 1 : memref<64xf32> to memref<64xf32, 3>
    scf.if %c {
      %group = nvgpu.device_async_create_group %copy
    }
    nvgpu.device_async_wait %copy { numGroups = 0 : i32 }
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }
  // In the loop it comes before the copy: that of the last iteration is still under way.
  gpu.func @before_copy(%g: memref<64xf32>, %i: index, %v: f32, %n: index)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %first = nvgpu.device_async_create_group
    scf.for %j = %c0 to %n step %c1 {
      nvgpu.device_async_wait %first { numGroups = 0 : i32 }
      %copy = nvgpu.device_async_copy %g[%i], %a[%i], 1 : memref<64xf32> to memref<64xf32, 3>
      %group = nvgpu.device_async_create_group %copy
    }
    gpu.barrier
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }
  // In the same iteration only the last iteration's copy has come: the pipeline of two.
  gpu.func @pipeline(%g: memref<64xf32>, %i: index, %v: f32, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %b = memref.alloc() : memref<64xf32, 3>
    %a = memref.alloc() : memref<64xf32, 3>
    scf.for %j = %c0 to %n step %c1 {
      %copy = nvgpu.device_async_copy %g[%i], %a[%i], 1 : memref<64xf32> to memref<64xf32, 3>
      %group = nvgpu.device_async_create_group %copy
      nvgpu.device_async_wait %group { numGroups = 1 : i32 }
      gpu.barrier
    }
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }
  // A function copies: whether it waits is not followed.
  func.func @copy(%g: memref<64xf32>, %a: memref<64xf32, 3>, %i: index) {
    %copy = nvgpu.device_async_copy %g[%i], %a[%i], 1 : memref<64xf32> to memref<64xf32, 3>
    %group = nvgpu.device_async_create_group %copy
    return
  }
  gpu.func @function(%g: memref<64xf32>, %i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    func.call @copy(%g, %a, %i) : (memref<64xf32>, memref<64xf32, 3>, index) -> ()
    gpu.barrier
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }
}

!descriptor = !nvgpu.tensormap.descriptor<tensor = memref<64x32xf32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!barriers = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>

gpu.module @tma {
  // TMA writes by another proxy, which no barrier orders after loads and stores, and
  // other blocks of a cluster may have it write: a buffer that it has got shares
  // with nothing, before or after.
  // CHECK-LABEL: gpu.func @load(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<64x32xf32, 3>, %{{.+}} : memref<64x32xf32, 3>, %{{.+}} : memref<64x32xf32, 3>)
  // CHECK-NOT:     memref.view
  // CHECK-LABEL: gpu.func @store(
  gpu.func @load(%descriptor: !descriptor, %i: index, %v: f32)
      workgroup(%a: memref<64x32xf32, 3>, %b: memref<64x32xf32, 3>, %c: memref<64x32xf32, 3>) kernel {
    %c0 = arith.constant 0 : index
    %barriers = nvgpu.mbarrier.create -> !barriers
    memref.store %v, %b[%i, %i] : memref<64x32xf32, 3>
    gpu.barrier
    nvgpu.tma.async.load %descriptor[%c0, %c0], %barriers[%c0] to %a : !descriptor, !barriers -> memref<64x32xf32, 3>
    gpu.barrier
    %x = memref.load %b[%i, %i] : memref<64x32xf32, 3>
    memref.store %x, %c[%i, %i] : memref<64x32xf32, 3>
    memref.store %x, %b[%i, %i] : memref<64x32xf32, 3>
    gpu.return
  }
  // CHECK-SAME:    workgroup(%{{.+}} : memref<64x32xf32, 3>, %{{.+}} : memref<64x32xf32, 3>)
  gpu.func @store(%descriptor: !descriptor, %i: index, %v: f32)
      workgroup(%a: memref<64x32xf32, 3>, %b: memref<64x32xf32, 3>) kernel {
    %c0 = arith.constant 0 : index
    nvgpu.tma.async.store %a to %descriptor[%c0, %c0] : memref<64x32xf32, 3> -> !descriptor
    gpu.barrier
    memref.store %v, %b[%i, %i] : memref<64x32xf32, 3>
    gpu.return
  }
}
