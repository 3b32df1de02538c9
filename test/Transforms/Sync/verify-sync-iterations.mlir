// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(workgroup-verify-sync)' -o /dev/null

// In which iteration something is passed. 64 threads; t is the thread, u = 63 - t.

// Behind the barrier of the first iteration the store comes, and before the next first iteration there is none.
gpu.module @m {
  gpu.func @first_iteration_of_inner(%y: f32, %n: index, %out: memref<64xf32> {llvm.noalias}) workgroup(%S: memref<64xf32, 3>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %c300 = arith.constant 300 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    scf.for %o = %c0 to %n step %c1 {
      scf.for %w = %c0 to %c3 step %c1 {
        %first = arith.cmpi eq, %w, %c0 : index
        scf.if %first {
          // expected-warning @+1 {{possible data race on workgroup memory}}
          %v = memref.load %S[%u] : memref<64xf32, 3>
          memref.store %v, %out[%t] : memref<64xf32>
          gpu.barrier
          // expected-note @+1 {{the other access}}
          memref.store %y, %S[%t] : memref<64xf32, 3>
        }
      }
    }
    gpu.return
  }
}

// -----

// What stands behind the test is of the same iteration as the store before it.
gpu.module @m {
  gpu.func @behind_the_test(%y: f32, %n: index, %out: memref<64xf32> {llvm.noalias}) workgroup(%S: memref<64xf32, 3>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %c300 = arith.constant 300 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    %r = scf.while (%i = %c0) : (index) -> index {
      %is0 = arith.cmpi eq, %i, %c0 : index
      scf.if %is0 {
        // expected-note @+1 {{the other access}}
        memref.store %y, %S[%t] : memref<64xf32, 3>
      }
      %go = arith.cmpi slt, %i, %c1 : index
      scf.condition(%go) %i : index
    } do {
    ^bb0(%j: index):
      %is1 = arith.cmpi eq, %j, %c1 : index
      scf.if %is1 {
        gpu.barrier
      }
      %next = arith.addi %j, %c1 : index
      scf.yield %next : index
    }
    // expected-warning @+1 {{possible data race on workgroup memory}}
    %v = memref.load %S[%u] : memref<64xf32, 3>
    memref.store %v, %out[%t] : memref<64xf32>
    gpu.return
  }
}

// -----

// The branch in the other region is passed in another iteration than that of the store.
gpu.module @m {
  gpu.func @other_arm(%y: f32, %n: index, %out: memref<64xf32> {llvm.noalias}) workgroup(%S: memref<64xf32, 3>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %c300 = arith.constant 300 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    scf.for %i = %c0 to %c2 step %c1 {
      %is0 = arith.cmpi eq, %i, %c0 : index
      scf.if %is0 {
        // expected-note @+1 {{the other access}}
        memref.store %y, %S[%t] : memref<64xf32, 3>
      } else {
        %big = arith.cmpi sgt, %n, %c5 : index
        %some = arith.ori %is0, %big : i1
        scf.if %some {
          gpu.barrier
        }
      }
    }
    // expected-warning @+1 {{data race on workgroup memory}}
    %v = memref.load %S[%u] : memref<64xf32, 3>
    memref.store %v, %out[%t] : memref<64xf32>
    gpu.return
  }
}

// -----

// A whole iteration of the inner loop comes before the load, and none behind the store.
gpu.module @m {
  gpu.func @of_the_other_side(%y: f32, %n: index, %out: memref<64xf32> {llvm.noalias}) workgroup(%S: memref<64xf32, 3>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %c300 = arith.constant 300 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    scf.for %c = %c0 to %c2 step %c1 {
      %is0 = arith.cmpi eq, %c, %c0 : index
      %is1 = arith.cmpi eq, %c, %c1 : index
      scf.for %l = %c0 to %c2 step %c1 {
        %l1 = arith.cmpi eq, %l, %c1 : index
        scf.if %l1 {
          scf.if %is0 {
            // expected-note @+1 {{the other access}}
            memref.store %y, %S[%t] : memref<64xf32, 3>
          }
          scf.if %is1 {
            // expected-warning @+1 {{possible data race on workgroup memory}}
            %v = memref.load %S[%u] : memref<64xf32, 3>
            memref.store %v, %out[%t] : memref<64xf32>
          }
        } else {
          scf.if %is0 {
            gpu.barrier
          }
        }
      }
    }
    gpu.return
  }
}

// -----

// That the inner loop iterates behind the store says nothing of the next iteration of the outer one.
gpu.module @m {
  gpu.func @no_iteration_between(%y: f32, %n: index, %out: memref<64xf32> {llvm.noalias}) workgroup(%S: memref<64xf32, 3>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %c300 = arith.constant 300 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    scf.for %c = %c0 to %c3 step %c1 {
      %is0 = arith.cmpi eq, %c, %c0 : index
      %is1 = arith.cmpi eq, %c, %c1 : index
      %is2 = arith.cmpi eq, %c, %c2 : index
      %two = arith.subi %c1, %c : index
      %trips = arith.muli %two, %c2 : index
      scf.for %l = %c0 to %trips step %c1 {
        %l0 = arith.cmpi eq, %l, %c0 : index
        scf.if %l0 {
          scf.if %is0 {
            // expected-note @+1 {{the other access}}
            memref.store %y, %S[%t] : memref<64xf32, 3>
          }
        }
        scf.if %is1 {
          gpu.barrier
        }
      }
      scf.if %is2 {
        // expected-warning @+1 {{possible data race on workgroup memory}}
        %v = memref.load %S[%u] : memref<64xf32, 3>
        memref.store %v, %out[%t] : memref<64xf32>
      }
    }
    gpu.return
  }
}

// -----

// The branch in the branch region of the store is passed in its iteration only.
gpu.module @m {
  gpu.func @arm_of_own_iteration(%y: f32, %n: index, %out: memref<64xf32> {llvm.noalias}) workgroup(%S: memref<64xf32, 3>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %c300 = arith.constant 300 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    scf.for %i = %c0 to %n step %c1 {
      %i0 = arith.cmpi eq, %i, %c0 : index
      scf.if %i0 {
        // expected-note @+1 {{the other access}}
        memref.store %y, %S[%t] : memref<64xf32, 3>
        %i1 = arith.cmpi eq, %i, %c1 : index
        scf.if %i1 {
          gpu.barrier
        }
      }
      %i2 = arith.cmpi eq, %i, %c2 : index
      scf.if %i2 {
        // expected-warning @+1 {{data race on workgroup memory}}
        %v = memref.load %S[%u] : memref<64xf32, 3>
        memref.store %v, %out[%t] : memref<64xf32>
      }
    }
    gpu.return
  }
}

// -----

// -1 is 255: the counter gets to 127, and then to 0 again.
gpu.module @m {
  gpu.func @unsigned_bound(%y: f32, %n: index, %out: memref<64xf32> {llvm.noalias}) workgroup(%S: memref<64xf32, 3>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %c300 = arith.constant 300 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    %z = arith.constant 0 : i8
    %one = arith.constant 1 : i8
    %m1 = arith.constant -1 : i8
    %mask = arith.constant 127 : i8
    %r:2 = scf.while (%i = %z, %k = %c0) : (i8, index) -> (i8, index) {
      %more = arith.cmpi slt, %k, %c300 : index
      %bound = arith.select %more, %m1, %z : i8
      %go = arith.cmpi ult, %i, %bound : i8
      scf.condition(%go) %i, %k : i8, index
    } do {
    ^bb0(%i: i8, %k: index):
      %is0 = arith.cmpi eq, %i, %z : i8
      %is1 = arith.cmpi eq, %i, %one : i8
      scf.if %is0 {
        // expected-note @+1 {{the other access}}
        %v = memref.load %S[%u] : memref<64xf32, 3>
        memref.store %v, %out[%t] : memref<64xf32>
      }
      scf.if %is1 {
        // expected-warning @+1 {{possible data race on workgroup memory}}
        memref.store %y, %S[%t] : memref<64xf32, 3>
      }
      %k0 = arith.cmpi eq, %k, %c0 : index
      scf.if %k0 {
        gpu.barrier
      }
      %p = arith.addi %i, %one : i8
      %q = arith.andi %p, %mask : i8
      %k1 = arith.addi %k, %c1 : index
      scf.yield %q, %k1 : i8, index
    }
    gpu.return
  }
}

// -----

// The fence of the next iteration comes behind its barrier, and before the copy.
!bar = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
!map = !nvgpu.tensormap.descriptor<tensor = memref<128xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!S = memref<4x128xf32, #gpu.address_space<workgroup>>
!tile = memref<128xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @k(%map: !map, %out: memref<?x128xf32> {llvm.noalias}, %x: f32)
      workgroup(%S: !S)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %bytes = arith.constant 512 : index
    %ticks = arith.constant 10000000 : index
    %t = gpu.thread_id x
    %c127 = arith.constant 127 : index
    %u = arith.subi %c127, %t : index
    %even = arith.constant false
    %bar = nvgpu.mbarrier.create -> !bar
    %elected = arith.cmpi eq, %t, %c0 : index
    scf.if %elected {
      nvgpu.mbarrier.init %bar[%c0], %c1 : !bar
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    %e = scf.for %c = %c0 to %c2 step %c1 iter_args(%phase = %even) -> (i1) {
      gpu.barrier
      %row = arith.addi %c, %c1 : index
      %r = scf.while (%l = %c0) : (index) -> index {
        // expected-note @+1 {{the other access: 'memref.store' writes}}
        memref.store %x, %S[%row, %t] : !S
        %go = arith.cmpi slt, %l, %c1 : index
        scf.condition(%go) %l : index
      } do {
      ^bb0(%l: index):
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        %next = arith.addi %l, %c1 : index
        scf.yield %next : index
      }
      scf.if %elected {
        %T = memref.subview %S[%c, 0] [1, 128] [1, 1] : !S to !tile
        nvgpu.mbarrier.arrive.expect_tx %bar[%c0], %bytes : !bar
        // expected-warning @+1 {{no barrier comes between the proxy fence}}
        nvgpu.tma.async.load %map[%c0], %bar[%c0] to %T : !map, !bar -> !tile
      }
      nvgpu.mbarrier.try_wait.parity %bar[%c0], %phase, %ticks : !bar
      %v = memref.load %S[%c, %t] : !S
      memref.store %v, %out[%c0, %t] : memref<?x128xf32>
      %one = arith.constant true
      %p2 = arith.xori %phase, %one : i1
      scf.yield %p2 : i1
    }
    gpu.return
  }
}
