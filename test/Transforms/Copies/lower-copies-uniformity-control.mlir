// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{insert-barriers=false})' --remarks-filter-passed='workgroup-lower-copies' --remark-format=emitRemark --verify-diagnostics -o /dev/null
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies,workgroup-verify-kernels)' -o /dev/null

// Which threads get to a copy: like lower-copies-uniformity.mlir, where control flow
// decides.

gpu.module @structured_control {
  // Both branches of a divergent condition; those of a uniform one; what follows.
  gpu.func @branches(%a: memref<64xf32>, %b: memref<64xf32>, %c: i1) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %x = gpu.thread_id x
    %first = arith.cmpi eq, %x, %c0 : index
    scf.if %first {
      // expected-remark @+1 {{copy done by each thread}}
      memref.copy %a, %b : memref<64xf32> to memref<64xf32>
    } else {
      // expected-remark @+1 {{copy done by each thread}}
      memref.copy %b, %a : memref<64xf32> to memref<64xf32>
    }
    // expected-remark @+1 {{copy spread over the block}}
    memref.copy %a, %b : memref<64xf32> to memref<64xf32>
    scf.if %c {
      // expected-remark @+1 {{copy spread over the block}}
      memref.copy %b, %a : memref<64xf32> to memref<64xf32>
    } else {
      scf.if %first {
        scf.if %c {
          // expected-remark @+1 {{copy done by each thread}}
          memref.copy %b, %a : memref<64xf32> to memref<64xf32>
        }
      }
    }
    gpu.return
  }

  // Where a loop begins, ends and what it adds decide how often a thread gets there.
  gpu.func @loops(%a: memref<256xf32>, %b: memref<64xf32>, %c: memref<64xf32>, %n: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %x = gpu.thread_id x
    %step = arith.addi %x, %c1 : index
    scf.for %i = %x to %n step %c1 {
      // expected-remark @+1 {{copy done by each thread}}
      memref.copy %b, %c : memref<64xf32> to memref<64xf32>
    }
    scf.for %i = %c0 to %x step %c1 {
      // expected-remark @+1 {{copy done by each thread}}
      memref.copy %b, %c : memref<64xf32> to memref<64xf32>
    }
    scf.for %i = %c0 to %n step %step {
      // expected-remark @+1 {{copy done by each thread}}
      memref.copy %b, %c : memref<64xf32> to memref<64xf32>
    }
    affine.for %i = 0 to affine_map<(d0) -> (d0)>(%x) {
      // expected-remark @+1 {{copy done by each thread}}
      memref.copy %b, %c : memref<64xf32> to memref<64xf32>
    }
    scf.for %i = %c0 to %n step %c1 {
      %part = memref.subview %a[%i] [64] [1] : memref<256xf32> to memref<64xf32, strided<[1], offset: ?>>
      // expected-remark @+1 {{copy spread over the block}}
      memref.copy %part, %c : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
    }
    gpu.return
  }

  // Both regions of a while loop run as often as its condition says.
  gpu.func @while_loops(%a: memref<64xf32>, %b: memref<64xf32>, %n: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %x = gpu.thread_id x
    %r = scf.while (%i = %c0) : (index) -> index {
      // expected-remark @+1 {{copy done by each thread}}
      memref.copy %a, %b : memref<64xf32> to memref<64xf32>
      %more = arith.cmpi ult, %i, %x : index
      scf.condition(%more) %i : index
    } do {
    ^bb0(%i: index):
      // expected-remark @+1 {{copy done by each thread}}
      memref.copy %b, %a : memref<64xf32> to memref<64xf32>
      %next = arith.addi %i, %c1 : index
      scf.yield %next : index
    }
    %s = scf.while (%i = %c0) : (index) -> index {
      // expected-remark @+1 {{copy spread over the block}}
      memref.copy %a, %b : memref<64xf32> to memref<64xf32>
      %more = arith.cmpi ult, %i, %n : index
      scf.condition(%more) %i : index
    } do {
    ^bb0(%i: index):
      // expected-remark @+1 {{copy spread over the block}}
      memref.copy %b, %a : memref<64xf32> to memref<64xf32>
      %next = arith.addi %i, %c1 : index
      scf.yield %next : index
    }
    gpu.return
  }

  gpu.func @switches(%a: memref<64xf32>, %b: memref<64xf32>, %n: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %x = gpu.thread_id x
    scf.index_switch %x
    case 0 {
      // expected-remark @+1 {{copy done by each thread}}
      memref.copy %a, %b : memref<64xf32> to memref<64xf32>
      scf.yield
    }
    default {
      // expected-remark @+1 {{copy done by each thread}}
      memref.copy %b, %a : memref<64xf32> to memref<64xf32>
    }
    scf.index_switch %n
    case 0 {
      // expected-remark @+1 {{copy spread over the block}}
      memref.copy %a, %b : memref<64xf32> to memref<64xf32>
      scf.yield
    }
    default {
    }
    affine.if affine_set<(d0) : (d0 - 16 >= 0)>(%x) {
      // expected-remark @+1 {{copy done by each thread}}
      memref.copy %a, %b : memref<64xf32> to memref<64xf32>
    }
    affine.if affine_set<(d0) : (d0 - 16 >= 0)>(%n) {
      // expected-remark @+1 {{copy spread over the block}}
      memref.copy %a, %b : memref<64xf32> to memref<64xf32>
    }
    gpu.return
  }

  // Parallel loops and operations of unknown control flow say nothing about which
  // threads run their bodies.
  gpu.func @parallel_loops(%a: memref<64xf32>, %b: memref<64xf32>, %n: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %lane = gpu.lane_id
    scf.forall (%i) in (4) {
      // expected-remark @+1 {{copy done by each thread}}
      memref.copy %a, %b : memref<64xf32> to memref<64xf32>
    }
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      // expected-remark @+1 {{copy done by each thread}}
      memref.copy %a, %b : memref<64xf32> to memref<64xf32>
      scf.reduce
    }
    gpu.warp_execute_on_lane_0(%lane)[32] {
      // expected-remark @+1 {{copy done by each thread}}
      memref.copy %a, %b : memref<64xf32> to memref<64xf32>
    }
    // expected-remark @+1 {{copy spread over the block}}
    memref.copy %a, %b : memref<64xf32> to memref<64xf32>
    gpu.return
  }

  // Threads part inside of a region of blocks and meet again where it ends, each
  // with its own result.
  gpu.func @execute_region(%a: memref<256xf32>, %b: memref<64xf32>, %c: memref<64xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %x = gpu.thread_id x
    %first = arith.cmpi eq, %x, %c0 : index
    %r = scf.execute_region -> index {
      cf.cond_br %first, ^then, ^join(%c0 : index)
    ^then:
      // expected-remark @+1 {{copy done by each thread}}
      memref.copy %b, %c : memref<64xf32> to memref<64xf32>
      cf.br ^join(%c1 : index)
    ^join(%j: index):
      scf.yield %j : index
    }
    // expected-remark @+1 {{copy spread over the block}}
    memref.copy %b, %c : memref<64xf32> to memref<64xf32>
    %part = memref.subview %a[%r] [64] [1] : memref<256xf32> to memref<64xf32, strided<[1], offset: ?>>
    // expected-remark @+1 {{copy done by each thread}}
    memref.copy %part, %b : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
    gpu.return
  }
}

gpu.module @blocks {
  // Threads that left the kernel take no part in what follows.
  gpu.func @divergent_exit(%a: memref<64xf32>, %b: memref<64xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %x = gpu.thread_id x
    %first = arith.cmpi eq, %x, %c0 : index
    // expected-remark @+1 {{copy spread over the block}}
    memref.copy %a, %b : memref<64xf32> to memref<64xf32>
    cf.cond_br %first, ^exit, ^rest
  ^exit:
    gpu.return
  ^rest:
    cf.br ^later
  ^later:
    // expected-remark @+1 {{copy done by each thread}}
    memref.copy %b, %a : memref<64xf32> to memref<64xf32>
    gpu.return
  }

  gpu.func @uniform_exit(%a: memref<64xf32>, %b: memref<64xf32>, %c: i1) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    cf.cond_br %c, ^exit, ^rest
  ^exit:
    gpu.return
  ^rest:
    // expected-remark @+1 {{copy spread over the block}}
    memref.copy %b, %a : memref<64xf32> to memref<64xf32>
    gpu.return
  }

  // Where branches join, the argument tells which way a thread came.
  gpu.func @join(%a: memref<256xf32>, %b: memref<64xf32>, %c: i1) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    cf.cond_br %c, ^uniform(%c0 : index), ^uniform(%c1 : index)
  ^uniform(%i: index):
    %ours = memref.subview %a[%i] [64] [1] : memref<256xf32> to memref<64xf32, strided<[1], offset: ?>>
    // expected-remark @+1 {{copy spread over the block}}
    memref.copy %ours, %b : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
    %x = gpu.thread_id x
    %first = arith.cmpi eq, %x, %c0 : index
    cf.cond_br %first, ^divergent(%c0 : index), ^divergent(%c1 : index)
  ^divergent(%j: index):
    %mine = memref.subview %a[%j] [64] [1] : memref<256xf32> to memref<64xf32, strided<[1], offset: ?>>
    // expected-remark @+1 {{copy done by each thread}}
    memref.copy %mine, %b : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
    gpu.return
  }

  // Threads leave the loop in different iterations: its body is divergent before the
  // branch too, and a value of the last iteration is so after it.
  gpu.func @divergent_loop(%a: memref<256xf32>, %b: memref<64xf32>, %c: memref<64xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %x = gpu.thread_id x
    cf.br ^body(%c0 : index)
  ^body(%i: index):
    // expected-remark @+1 {{copy done by each thread}}
    memref.copy %b, %c : memref<64xf32> to memref<64xf32>
    %next = arith.addi %i, %c1 : index
    %more = arith.cmpi ult, %next, %x : index
    cf.cond_br %more, ^body(%next : index), ^exit
  ^exit:
    %part = memref.subview %a[%next] [64] [1] : memref<256xf32> to memref<64xf32, strided<[1], offset: ?>>
    // expected-remark @+1 {{copy done by each thread}}
    memref.copy %part, %b : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
    gpu.return
  }

  gpu.func @uniform_loop(%a: memref<256xf32>, %b: memref<64xf32>, %c: memref<64xf32>, %n: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    cf.br ^body(%c0 : index)
  ^body(%i: index):
    // expected-remark @+1 {{copy spread over the block}}
    memref.copy %b, %c : memref<64xf32> to memref<64xf32>
    %next = arith.addi %i, %c1 : index
    %more = arith.cmpi ult, %next, %n : index
    cf.cond_br %more, ^body(%next : index), ^exit
  ^exit:
    %part = memref.subview %a[%next] [64] [1] : memref<256xf32> to memref<64xf32, strided<[1], offset: ?>>
    // expected-remark @+1 {{copy spread over the block}}
    memref.copy %part, %b : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
    gpu.return
  }

  gpu.func @switch(%a: memref<64xf32>, %b: memref<64xf32>, %n: i32) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    cf.switch %n : i32, [default: ^rest, 0: ^zero]
  ^zero:
    // expected-remark @+1 {{copy spread over the block}}
    memref.copy %a, %b : memref<64xf32> to memref<64xf32>
    cf.br ^rest
  ^rest:
    %x = gpu.thread_id x
    %i = arith.index_cast %x : index to i32
    cf.switch %i : i32, [default: ^end, 0: ^first]
  ^first:
    // expected-remark @+1 {{copy done by each thread}}
    memref.copy %a, %b : memref<64xf32> to memref<64xf32>
    cf.br ^end
  ^end:
    gpu.return
  }
}

gpu.module @functions {
  // Every call of the function is reached by all threads of the block ...
  func.func @called_by_all(%a: memref<64xf32, 1>, %b: memref<64xf32, 1>) {
    // expected-remark @+1 {{copy spread over the block}}
    memref.copy %a, %b : memref<64xf32, 1> to memref<64xf32, 1>
    return
  }
  // ... one call is not ...
  func.func @called_by_some(%a: memref<64xf32, 1>, %b: memref<64xf32, 1>) {
    // expected-remark @+1 {{copy done by each thread}}
    memref.copy %a, %b : memref<64xf32, 1> to memref<64xf32, 1>
    func.call @called_from_there(%a, %b) : (memref<64xf32, 1>, memref<64xf32, 1>) -> ()
    return
  }
  func.func @called_from_there(%a: memref<64xf32, 1>, %b: memref<64xf32, 1>) {
    // expected-remark @+1 {{copy done by each thread}}
    memref.copy %a, %b : memref<64xf32, 1> to memref<64xf32, 1>
    return
  }
  // ... the argument of one call differs between threads ...
  func.func @called_with_thread_id(%a: memref<256xf32, 1>, %b: memref<64xf32, 1>, %i: index) {
    %part = memref.subview %a[%i] [64] [1] : memref<256xf32, 1> to memref<64xf32, strided<[1], offset: ?>, 1>
    // expected-remark @+1 {{copy done by each thread}}
    memref.copy %part, %b : memref<64xf32, strided<[1], offset: ?>, 1> to memref<64xf32, 1>
    return
  }
  // ... nobody is seen to call it.
  func.func @not_called(%a: memref<64xf32, 1>, %b: memref<64xf32, 1>) {
    // expected-remark @+1 {{copy done by each thread}}
    memref.copy %a, %b : memref<64xf32, 1> to memref<64xf32, 1>
    return
  }
  // What a function returns is not followed.
  func.func @position() -> index {
    %x = gpu.thread_id x
    return %x : index
  }
  gpu.func @calls(%a: memref<256xf32, 1>, %b: memref<64xf32, 1>, %c: memref<64xf32, 1>, %n: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %x = gpu.thread_id x
    func.call @called_by_all(%b, %c) : (memref<64xf32, 1>, memref<64xf32, 1>) -> ()
    func.call @called_by_some(%b, %c) : (memref<64xf32, 1>, memref<64xf32, 1>) -> ()
    func.call @called_with_thread_id(%a, %b, %n) : (memref<256xf32, 1>, memref<64xf32, 1>, index) -> ()
    func.call @called_with_thread_id(%a, %b, %x) : (memref<256xf32, 1>, memref<64xf32, 1>, index) -> ()
    %first = arith.cmpi eq, %x, %c0 : index
    scf.if %first {
      func.call @called_by_some(%b, %c) : (memref<64xf32, 1>, memref<64xf32, 1>) -> ()
    }
    %i = func.call @position() : () -> index
    %part = memref.subview %a[%i] [64] [1] : memref<256xf32, 1> to memref<64xf32, strided<[1], offset: ?>, 1>
    // expected-remark @+1 {{copy done by each thread}}
    memref.copy %part, %b : memref<64xf32, strided<[1], offset: ?>, 1> to memref<64xf32, 1>
    gpu.return
  }

  // A function that is no kernel runs for whoever calls it.
  gpu.func @device_function(%a: memref<64xf32, 1>, %b: memref<64xf32, 1>) {
    // expected-remark @+1 {{copy done by each thread}}
    memref.copy %a, %b : memref<64xf32, 1> to memref<64xf32, 1>
    gpu.return
  }
}
