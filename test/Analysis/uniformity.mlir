// RUN: mlir-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(workgroup-print-uniformity)' --verify-diagnostics=only-expected -o /dev/null

// What the threads of a block agree on. Each rule has a value or a place on either
// side of it.

gpu.module @values {
  gpu.func @sources(%n: index, %a: memref<64xf32>) workgroup(%w: memref<64xf32, 3>)
      private(%p: memref<4xf32, #gpu.address_space<private>>) kernel
      attributes {known_block_size = array<i32: 64, 2, 1>} {
    // expected-remark @+1 {{executed by the block, results of the thread}}
    %x = gpu.thread_id x
    // expected-remark @+1 {{results of the block}}
    %z = gpu.thread_id z
    // expected-remark @+1 {{results of the thread}}
    %g = gpu.global_id x
    // expected-remark @+1 {{results of the thread}}
    %lane = gpu.lane_id
    // expected-remark @+1 {{results of the block}}
    %b = gpu.block_id x
    // expected-remark @+1 {{results of the block}}
    %sum = arith.addi %b, %n : index
    // expected-remark @+1 {{results of the thread}}
    %mixed = arith.addi %sum, %x : index
    // expected-remark @+1 {{results of the block}}
    %never_written = memref.load %a[%n] : memref<64xf32>
    // expected-remark @+1 {{results of the thread}}
    %other_place = memref.load %a[%x] : memref<64xf32>
    // expected-remark @+1 {{results of the thread}}
    %workgroup = memref.load %w[%n] : memref<64xf32, 3>
    // expected-remark @+1 {{results of the thread}}
    %own = memref.load %p[%z] : memref<4xf32, #gpu.address_space<private>>
    // expected-remark @+1 {{results of the block}}
    %all = gpu.all_reduce add %own uniform {} : (f32) -> f32
    gpu.return
  }

  // Special registers are the same.
  gpu.func @special_registers() kernel attributes {known_block_size = array<i32: 64, 2, 1>} {
    // expected-remark @+1 {{executed by the block, results of the thread}}
    %x = nvvm.read.ptx.sreg.tid.x : i32
    // expected-remark @+1 {{results of the block}}
    %z = nvvm.read.ptx.sreg.tid.z : i32
    // expected-remark @+1 {{results of the thread}}
    %lane = nvvm.read.ptx.sreg.laneid : i32
    // expected-remark @+1 {{results of the thread}}
    %clock = nvvm.read.ptx.sreg.clock : i32
    // expected-remark @+1 {{results of the block}}
    %size = nvvm.read.ptx.sreg.ntid.x : i32
    // expected-remark @+1 {{results of the block}}
    %b = nvvm.read.ptx.sreg.ctaid.x : i32
    // expected-remark @+1 {{results of the block}}
    %grid = nvvm.read.ptx.sreg.nctaid.y : i32
    // expected-remark @+1 {{results of the block}}
    %warp = nvvm.read.ptx.sreg.warpsize : i32
    // expected-remark @+1 {{results of the block}}
    %start = arith.muli %b, %size : i32
    // expected-remark @+1 {{results of the thread}}
    %i = arith.addi %start, %x : i32
    gpu.return
  }

  // Nothing here writes to memory.
  gpu.func @never_written_beside_orders(%n: index, %a: memref<64xf32>, %v: f32) kernel {
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %mask = arith.constant -1 : i32
    %shuffled = nvvm.shfl.sync bfly %mask, %v, %c1, %c32 : f32 -> f32
    nvvm.memory.barrier <gpu>
    llvm.fence syncscope("block") release
    nvvm.barrier.arrive id = %c1 number_of_threads = %c32
    nvvm.cluster.arrive
    nvvm.cluster.wait
    memref.prefetch %a[%n], read, locality<3>, data : memref<64xf32>
    // expected-remark @+1 {{executed by the block, results of the block}}
    %0 = memref.load %a[%n] : memref<64xf32>
    gpu.return
  }

  // An operation that nobody knows may read an id, and write anything.
  gpu.func @unknown(%n: index, %a: memref<64xf32>) kernel {
    // expected-remark @+1 {{results of the thread}}
    %0 = "some.op"(%n) : (index) -> index
    // expected-remark @+1 {{results of the thread}}
    %1 = memref.load %a[%n] : memref<64xf32>
    gpu.return
  }

  // Memory that the kernel writes, by whichever name, may differ when it is read.
  gpu.func @written(%n: index, %a: memref<64xf32>, %b: memref<64xf32>, %c: memref<64xf32> {llvm.noalias}) kernel {
    // expected-remark @+1 {{results of the thread}}
    %0 = memref.load %a[%n] : memref<64xf32>
    // expected-remark @+1 {{results of the block}}
    %1 = memref.load %c[%n] : memref<64xf32>
    memref.store %0, %b[%n] : memref<64xf32>
    gpu.return
  }

  // Asynchronous copies write where they say, and no more.
  gpu.func @asynchronous(%n: index, %a: memref<64xf32>, %c: memref<64xi1>) workgroup(%w: memref<64xf32, 3>) kernel {
    %copy = nvgpu.device_async_copy %a[%n], %w[%n], 1 : memref<64xf32> to memref<64xf32, 3>
    %group = nvgpu.device_async_create_group %copy
    nvgpu.device_async_wait %group
    // expected-remark @+1 {{results of the block}}
    %0 = memref.load %c[%n] : memref<64xi1>
    gpu.return
  }
}

gpu.module @control {
  // What a divergent branch selects differs, although each candidate does not.
  gpu.func @joins(%n: index, %c: i1) kernel {
    %c0 = arith.constant 0 : index
    %x = gpu.thread_id x
    %few = arith.cmpi ult, %x, %n : index
    // expected-remark @+1 {{executed by the block, results of the thread}}
    %selected = scf.if %few -> index {
      // expected-remark @+1 {{executed by the thread, results of the block}}
      %inside = arith.addi %n, %n : index
      scf.yield %inside : index
    } else {
      scf.yield %c0 : index
    }
    // expected-remark @+1 {{results of the block}}
    %uniform = scf.if %c -> index {
      // expected-remark @+1 {{executed by the block, results of the block}}
      %inside = arith.addi %n, %n : index
      scf.yield %inside : index
    } else {
      scf.yield %c0 : index
    }
    // expected-remark @+1 {{results of the thread}}
    %chosen = arith.select %few, %n, %c0 : index
    // expected-remark @+1 {{executed by the block}}
    gpu.barrier
    gpu.return
  }

  // Loops whose trip counts differ, and values that live on from iteration to iteration.
  gpu.func @loops(%n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %x = gpu.thread_id x
    // expected-remark @+1 {{results of the thread}}
    %count = scf.for %i = %c0 to %x step %c1 iter_args(%sum = %c0) -> index {
      // expected-remark @+1 {{executed by the thread, results of the thread}}
      %next = arith.addi %sum, %c1 : index
      scf.yield %next : index
    }
    // expected-remark @+1 {{results of the block, thread}}
    %both:2 = scf.for %i = %c0 to %n step %c1 iter_args(%u = %c0, %v = %c0) -> (index, index) {
      // expected-remark @+1 {{executed by the block, results of the block}}
      %next = arith.addi %u, %i : index
      %own = arith.addi %v, %x : index
      scf.yield %next, %own : index, index
    }
    // expected-remark @+1 {{results of the thread}}
    %while = scf.while (%u = %c0) : (index) -> index {
      %more = arith.cmpi ult, %u, %x : index
      scf.condition(%more) %u : index
    } do {
    ^bb0(%u: index):
      // expected-remark @+1 {{executed by the thread, results of the thread}}
      %next = arith.addi %u, %c1 : index
      scf.yield %next : index
    }
    gpu.return
  }

  // Blocks: the arguments of a join, and all that follows where threads part.
  gpu.func @joined_blocks(%n: index) kernel {
    %c0 = arith.constant 0 : index
    %x = gpu.thread_id x
    %few = arith.cmpi ult, %x, %n : index
    cf.cond_br %few, ^join(%c0 : index), ^other
  ^other:
    cf.br ^join(%n : index)
  ^join(%value: index):
    // expected-remark @+1 {{executed by the block, results of the thread}}
    %copy = arith.addi %value, %c0 : index
    gpu.return
  }
  gpu.func @early_exit(%n: index) kernel {
    %x = gpu.thread_id x
    %few = arith.cmpi ult, %x, %n : index
    cf.cond_br %few, ^leave, ^stay
  ^leave:
    gpu.return
  ^stay:
    // expected-remark @+1 {{executed by the thread}}
    gpu.barrier
    gpu.return
  }
  gpu.func @uniform_blocks(%n: index, %c: i1) kernel {
    %c0 = arith.constant 0 : index
    cf.cond_br %c, ^join(%c0 : index), ^other
  ^other:
    cf.br ^join(%n : index)
  ^join(%value: index):
    // expected-remark @+1 {{executed by the block, results of the block}}
    %copy = arith.addi %value, %c0 : index
    gpu.return
  }
}

// Functions: what they get, where they are called, and what they return.
gpu.module @functions {
  func.func @double(%n: index) -> index {
    // expected-remark @+1 {{executed by the block, results of the block}}
    %0 = arith.addi %n, %n : index
    return %0 : index
  }
  func.func @double_or_id(%n: index) -> index {
    // expected-remark @+1 {{executed by the block, results of the thread}}
    %0 = arith.addi %n, %n : index
    return %0 : index
  }
  func.func @two_values(%n: index) -> (index, index) {
    %x = gpu.thread_id x
    return %x, %n : index, index
  }
  func.func @two_returns(%n: index) -> index {
    %c0 = arith.constant 0 : index
    %x = gpu.thread_id x
    %few = arith.cmpi ult, %x, %n : index
    cf.cond_br %few, ^leave, ^stay
  ^leave:
    return %c0 : index
  ^stay:
    return %n : index
  }
  func.func @anybody(%n: index) -> index {
    // expected-remark @+1 {{executed by the thread, results of the thread}}
    %0 = arith.addi %n, %n : index
    return %0 : index
  }
  func.func @in_branch() {
    // expected-remark @+1 {{executed by the thread, results of the block}}
    %c0 = arith.constant 0 : index
    return
  }
  gpu.func @kernel(%n: index) kernel {
    %x = gpu.thread_id x
    // expected-remark @+1 {{results of the block}}
    %0 = func.call @double(%n) : (index) -> index
    %1 = func.call @double_or_id(%n) : (index) -> index
    // expected-remark @+1 {{results of the thread}}
    %2 = func.call @double_or_id(%x) : (index) -> index
    // expected-remark @+1 {{results of the thread, block}}
    %3:2 = func.call @two_values(%n) : (index) -> (index, index)
    // expected-remark @+1 {{results of the thread}}
    %4 = func.call @two_returns(%n) : (index) -> index
    // expected-remark @+1 {{results of the thread}}
    %5 = func.call @anybody(%n) : (index) -> index
    %address = func.constant @anybody : (index) -> index
    %few = arith.cmpi ult, %x, %n : index
    scf.if %few {
      func.call @in_branch() : () -> ()
    }
    gpu.return
  }
}
