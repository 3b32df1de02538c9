// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory)' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-pack-memory)' -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-hoist-allocs{insert-barriers=true},workgroup-lower-dynamic-memory,workgroup-verify-kernels)' -o /dev/null

// Lives in control flow. A kernel of which the name says `apart` is left as it is.

gpu.module @loops {
  // An attribution may hand values from iteration to iteration: it lives through the loop.
  // CHECK-LABEL: gpu.func @attributions_apart(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<64xf32, 3>, %{{.+}} : memref<64xf32, 3>)
  gpu.func @attributions_apart(%i: index, %v: f32, %n: index)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %j = %c0 to %n step %c1 {
      memref.store %v, %a[%i] : memref<64xf32, 3>
      gpu.barrier
      memref.store %v, %b[%i] : memref<64xf32, 3>
      gpu.barrier
    }
    gpu.return
  }

  // Also where only an inner loop uses it, which the outer one runs again.
  // CHECK-LABEL: gpu.func @nested_apart(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<64xf32, 3>, %{{.+}} : memref<64xf32, 3>)
  gpu.func @nested_apart(%i: index, %v: f32, %n: index)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %j = %c0 to %n step %c1 {
      scf.for %k = %c0 to %n step %c1 {
        memref.store %v, %a[%i] : memref<64xf32, 3>
      }
      gpu.barrier
      affine.for %k = 0 to %n {
        memref.store %v, %b[%i] : memref<64xf32, 3>
      }
      gpu.barrier
    }
    gpu.return
  }

  // Loops one after the other share; the barrier is between them, for the first
  // one may iteration without the second and the other way around.
  // CHECK-LABEL: gpu.func @one_after_the_other(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<256xi8
  // CHECK:         scf.for
  // CHECK-NEXT:      memref.store
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:    }
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    scf.for
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      memref.store
  gpu.func @one_after_the_other(%i: index, %v: f32, %n: index)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %j = %c0 to %n step %c1 {
      memref.store %v, %a[%i] : memref<64xf32, 3>
      gpu.barrier
    }
    scf.for %j = %c0 to %n step %c1 {
      gpu.barrier
      memref.store %v, %b[%i] : memref<64xf32, 3>
    }
    gpu.return
  }

  // The contents of an allocation end with the iteration: two in one iteration share, and
  // the second one's barrier is matched by one on the way to the next iteration.
  // CHECK-LABEL: gpu.func @allocations(
  // CHECK-SAME:    workgroup(%[[ARENA:.+]] : memref<256xi8
  // CHECK:         scf.for
  // CHECK-NEXT:      %[[A:.+]] = memref.view %[[ARENA]]
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      memref.store %{{.+}}, %[[A]]
  // CHECK-NEXT:      %[[B:.+]] = memref.view %[[ARENA]]
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      memref.store %{{.+}}, %[[B]]
  // CHECK-NEXT:    }
  // CHECK-NEXT:    gpu.return
  gpu.func @allocations(%i: index, %v: f32, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %j = %c0 to %n step %c1 {
      %a = memref.alloc() : memref<64xf32, 3>
      memref.store %v, %a[%i] : memref<64xf32, 3>
      memref.dealloc %a : memref<64xf32, 3>
      %b = memref.alloc() : memref<64xf32, 3>
      memref.store %v, %b[%i] : memref<64xf32, 3>
      memref.dealloc %b : memref<64xf32, 3>
    }
    gpu.return
  }

  // What stands in the right places already is enough: between, and at the end of
  // the iteration. One that only some iterations pass is not.
  // CHECK-LABEL: gpu.func @separated(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<256xi8
  // CHECK:         scf.for
  // CHECK-NOT:       gpu.barrier
  // CHECK:           memref.store
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NOT:       gpu.barrier
  // CHECK:           memref.store
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:    }
  // CHECK-NEXT:    gpu.return
  gpu.func @separated(%i: index, %v: f32, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %j = %c0 to %n step %c1 {
      %a = memref.alloc() : memref<64xf32, 3>
      memref.store %v, %a[%i] : memref<64xf32, 3>
      gpu.barrier
      %b = memref.alloc() : memref<64xf32, 3>
      memref.store %v, %b[%i] : memref<64xf32, 3>
      gpu.barrier
    }
    gpu.return
  }
  // CHECK-LABEL: gpu.func @some_iterations(
  // CHECK:         scf.for
  // CHECK-NEXT:      memref.view
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      memref.store
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      memref.view
  // CHECK-NEXT:      memref.store
  // CHECK-NEXT:      scf.if
  // CHECK-NEXT:        gpu.barrier
  // CHECK-NEXT:      }
  // CHECK-NEXT:    }
  gpu.func @some_iterations(%i: index, %v: f32, %n: index, %c: i1) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %j = %c0 to %n step %c1 {
      %a = memref.alloc() : memref<64xf32, 3>
      memref.store %v, %a[%i] : memref<64xf32, 3>
      gpu.barrier
      %b = memref.alloc() : memref<64xf32, 3>
      memref.store %v, %b[%i] : memref<64xf32, 3>
      scf.if %c {
        gpu.barrier
      }
    }
    gpu.return
  }

  // An allocation around the loop lives through it, a buffer of its iterations does not
  // share with it; after the loop there is room again.
  // CHECK-LABEL: gpu.func @around(
  // CHECK-SAME:    workgroup(%[[ARENA:.+]] : memref<512xi8
  // CHECK-DAG:     %[[C0:.+]] = arith.constant 0 : index
  // CHECK-DAG:     %[[C256:.+]] = arith.constant 256 : index
  // CHECK:         memref.view %[[ARENA]][%[[FIRST:.+]]][]
  // CHECK:         scf.for
  // CHECK-NOT:       memref.view %[[ARENA]][%[[FIRST]]][]
  // CHECK:           memref.view %[[ARENA]]
  // CHECK:         }
  // CHECK:         memref.view %[[ARENA]]
  gpu.func @around(%i: index, %v: f32, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = memref.alloc() : memref<64xf32, 3>
    scf.for %j = %c0 to %n step %c1 {
      memref.store %v, %a[%i] : memref<64xf32, 3>
      %b = memref.alloc() : memref<64xf32, 3>
      memref.store %v, %b[%i] : memref<64xf32, 3>
    }
    %c = memref.alloc() : memref<64xf32, 3>
    memref.store %v, %c[%i] : memref<64xf32, 3>
    gpu.return
  }

  // Both regions of a while loop are its iteration, in this order.
  // CHECK-LABEL: gpu.func @while(
  // CHECK-SAME:    workgroup(%[[ARENA:.+]] : memref<256xi8
  // CHECK:         scf.while
  // CHECK-NEXT:      memref.view %[[ARENA]]
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      memref.store
  // CHECK-NEXT:      scf.condition
  // CHECK-NEXT:    } do {
  // CHECK-NEXT:      memref.view %[[ARENA]]
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      memref.store
  // CHECK-NEXT:      scf.yield
  gpu.func @while(%i: index, %v: f32, %c: i1) kernel {
    scf.while : () -> () {
      %a = memref.alloc() : memref<64xf32, 3>
      memref.store %v, %a[%i] : memref<64xf32, 3>
      scf.condition(%c)
    } do {
      %b = memref.alloc() : memref<64xf32, 3>
      memref.store %v, %b[%i] : memref<64xf32, 3>
      scf.yield
    }
    gpu.return
  }

  // Loops of unknown order or of other dialects are loops.
  // CHECK-LABEL: gpu.func @parallel_apart(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<64xf32, 3>, %{{.+}} : memref<64xf32, 3>)
  gpu.func @parallel_apart(%v: f32, %n: index)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.parallel (%t) = (%c0) to (%n) step (%c1) {
      memref.store %v, %a[%t] : memref<64xf32, 3>
      memref.store %v, %b[%t] : memref<64xf32, 3>
    }
    affine.parallel (%t) = (0) to (%n) {
      memref.store %v, %a[%t] : memref<64xf32, 3>
      memref.store %v, %b[%t] : memref<64xf32, 3>
    }
    gpu.return
  }
}

gpu.module @branches {
  // The block takes one region or the other: they share, and no barrier is due.
  // CHECK-LABEL: gpu.func @uniform_arms(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<256xi8
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @uniform_arms(%i: index, %v: f32, %c: i1)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    scf.if %c {
      memref.store %v, %a[%i] : memref<64xf32, 3>
    } else {
      memref.store %v, %b[%i] : memref<64xf32, 3>
    }
    gpu.return
  }
  // CHECK-LABEL: gpu.func @switch(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<256xi8
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @switch(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    scf.index_switch %i
    case 0 {
      memref.store %v, %a[%i] : memref<64xf32, 3>
      scf.yield
    }
    default {
      memref.store %v, %b[%i] : memref<64xf32, 3>
      scf.yield
    }
    gpu.return
  }

  // In a loop the next iteration may take the other region.
  // CHECK-LABEL: gpu.func @arms_in_loop(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<256xi8
  // CHECK:         scf.if
  // CHECK-NEXT:      memref.view
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      memref.store
  // CHECK-NEXT:    } else {
  // CHECK-NEXT:      memref.view
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      memref.store
  gpu.func @arms_in_loop(%i: index, %v: f32, %n: index, %c: i1) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %j = %c0 to %n step %c1 {
      scf.if %c {
        %a = memref.alloc() : memref<64xf32, 3>
        memref.store %v, %a[%i] : memref<64xf32, 3>
      } else {
        %b = memref.alloc() : memref<64xf32, 3>
        memref.store %v, %b[%i] : memref<64xf32, 3>
      }
    }
    gpu.return
  }

  // Threads part: both regions are in use at the same time.
  // CHECK-LABEL: gpu.func @divergent_arms_apart(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<64xf32, 3>, %{{.+}} : memref<64xf32, 3>)
  gpu.func @divergent_arms_apart(%v: f32, %n: index)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %i = gpu.thread_id x
    %c = arith.cmpi ult, %i, %n : index
    scf.if %c {
      memref.store %v, %a[%i] : memref<64xf32, 3>
    } else {
      memref.store %v, %b[%i] : memref<64xf32, 3>
    }
    gpu.return
  }

  // One after the other in one divergent branch region: no barrier can stand between them,
  // and those that do separate nothing.
  // CHECK-LABEL: gpu.func @in_divergent_arm_apart(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<64xf32, 3>, %{{.+}} : memref<64xf32, 3>)
  gpu.func @in_divergent_arm_apart(%v: f32, %n: index)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %i = gpu.thread_id x
    %c = arith.cmpi ult, %i, %n : index
    scf.if %c {
      memref.store %v, %a[%i] : memref<64xf32, 3>
      memref.store %v, %b[%i] : memref<64xf32, 3>
    }
    gpu.return
  }

  // A life that begins in divergent code begins at the next point around it that
  // all threads pass, and so does its barrier.
  // CHECK-LABEL: gpu.func @climbs(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<256xi8
  // CHECK:         memref.store
  // CHECK-NEXT:    arith.cmpi
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    scf.if
  // CHECK-NEXT:      arith.addf
  // CHECK-NEXT:      memref.store
  gpu.func @climbs(%v: f32, %n: index)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %i = gpu.thread_id x
    memref.store %v, %a[%i] : memref<64xf32, 3>
    %c = arith.cmpi ult, %i, %n : index
    scf.if %c {
      %w = arith.addf %v, %v : f32
      memref.store %w, %b[%i] : memref<64xf32, 3>
    }
    gpu.return
  }

  // Threads that iterate on their own, each in bytes of its own, begin their buffer's life
  // together, and end it behind the last of them.
  // CHECK-LABEL: gpu.func @climbs_out_of_loop(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<256xi8
  // CHECK:         memref.store
  // CHECK:         scf.for
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      scf.for
  // CHECK-NOT:         gpu.barrier
  // CHECK:         gpu.return
  gpu.func @climbs_out_of_loop(%v: f32, %n: index) workgroup(%a: memref<64xf32, 3>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %i = gpu.thread_id x
    memref.store %v, %a[%i] : memref<64xf32, 3>
    scf.for %k = %c0 to %n step %c1 {
      scf.for %j = %c0 to %i step %c1 {
        %b = memref.alloc() : memref<64xf32, 3>
        memref.store %v, %b[%i] : memref<64xf32, 3>
      }
    }
    gpu.return
  }

  // A barrier in one branch region separates nothing; one in each path there would
  // not be seen either.
  // CHECK-LABEL: gpu.func @barrier_in_arm(
  // CHECK:         scf.if
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:    }
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.store
  gpu.func @barrier_in_arm(%i: index, %v: f32, %c: i1)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    scf.if %c {
      gpu.barrier
    }
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }

  // A scope is neither a loop nor a branch.
  // CHECK-LABEL: gpu.func @scope(
  // CHECK-SAME:    workgroup(%[[ARENA:.+]] : memref<256xi8
  // CHECK:         memref.alloca_scope
  // CHECK:           memref.store
  // CHECK:         }
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.store
  gpu.func @scope(%i: index, %v: f32) workgroup(%b: memref<64xf32, 3>) kernel {
    memref.alloca_scope {
      %a = memref.alloca() : memref<64xf32, 3>
      memref.store %v, %a[%i] : memref<64xf32, 3>
    }
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }
}

gpu.module @unstructured {
  // A loop of blocks is a loop; what comes after it shares.
  // CHECK-LABEL: gpu.func @loop(
  // CHECK-SAME:    workgroup(%[[ARENA:.+]] : memref<512xi8
  // CHECK:       ^[[LOOP:bb[0-9]+]]:
  // CHECK:         gpu.barrier
  // CHECK:         cf.cond_br %{{.+}}, ^[[LOOP]], ^[[NEXT:bb[0-9]+]]
  // CHECK:       ^[[NEXT]]:
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.store
  gpu.func @loop(%i: index, %v: f32, %c: i1)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>, %d: memref<128xf32, 3>) kernel {
    cf.br ^loop
  ^loop:
    memref.store %v, %a[%i] : memref<64xf32, 3>
    gpu.barrier
    memref.store %v, %b[%i] : memref<64xf32, 3>
    cf.cond_br %c, ^loop, ^next
  ^next:
    memref.store %v, %d[%i] : memref<128xf32, 3>
    gpu.return
  }

  // Blocks of which the block of threads takes one share; what both of them come
  // to has to wait for either.
  // CHECK-LABEL: gpu.func @diamond(
  // CHECK-SAME:    workgroup(%[[ARENA:.+]] : memref<256xi8
  // CHECK:         cf.cond_br %{{.+}}, ^[[ONE:bb[0-9]+]], ^[[TWO:bb[0-9]+]]
  // CHECK:         cf.br ^[[JOIN:bb[0-9]+]]
  // CHECK:         cf.br ^[[JOIN]]
  // CHECK:       ^[[JOIN]]:
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.store
  gpu.func @diamond(%i: index, %v: f32, %c: i1)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>, %d: memref<64xf32, 3>) kernel {
    cf.cond_br %c, ^one, ^two
  ^one:
    memref.store %v, %a[%i] : memref<64xf32, 3>
    cf.br ^join
  ^two:
    memref.store %v, %b[%i] : memref<64xf32, 3>
    cf.br ^join
  ^join:
    memref.store %v, %d[%i] : memref<64xf32, 3>
    gpu.return
  }

  // A barrier after the use in one of the blocks says nothing of the other.
  // CHECK-LABEL: gpu.func @barrier_in_one_block(
  // CHECK:         gpu.barrier
  // CHECK-NEXT:    cf.br ^[[JOIN:bb[0-9]+]]
  // CHECK:       ^[[JOIN]]:
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.store
  // CHECK-LABEL: gpu.func @barrier_in_other_block(
  // CHECK:         gpu.barrier
  // CHECK-NEXT:    cf.br ^[[JOIN:bb[0-9]+]]
  // CHECK:       ^[[JOIN]]:
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.store
  gpu.func @barrier_in_one_block(%i: index, %v: f32, %c: i1)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    cf.cond_br %c, ^one, ^two
  ^one:
    memref.store %v, %a[%i] : memref<64xf32, 3>
    cf.br ^join
  ^two:
    memref.store %v, %a[%i] : memref<64xf32, 3>
    gpu.barrier
    cf.br ^join
  ^join:
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }
  gpu.func @barrier_in_other_block(%i: index, %v: f32, %c: i1)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    cf.cond_br %c, ^two, ^one
  ^one:
    memref.store %v, %a[%i] : memref<64xf32, 3>
    cf.br ^join
  ^two:
    memref.store %v, %a[%i] : memref<64xf32, 3>
    gpu.barrier
    cf.br ^join
  ^join:
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }

  // Used before the branches and after them, a buffer lives through both.
  // CHECK-LABEL: gpu.func @around_apart(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<64xf32, 3>, %{{.+}} : memref<64xf32, 3>)
  gpu.func @around_apart(%i: index, %v: f32, %c: i1)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    cf.cond_br %c, ^one, ^two
  ^one:
    memref.store %v, %b[%i] : memref<64xf32, 3>
    cf.br ^join
  ^two:
    cf.br ^join
  ^join:
    memref.store %v, %a[%i] : memref<64xf32, 3>
    gpu.return
  }

  // Threads part, and some may have left: the barrier stands before they do.
  // CHECK-LABEL: gpu.func @divergent_exit(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<256xi8
  // CHECK:         arith.cmpi
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    cf.cond_br
  // CHECK-NOT:     gpu.barrier
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.return
  gpu.func @divergent_exit(%v: f32, %n: index)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %i = gpu.thread_id x
    memref.store %v, %a[%i] : memref<64xf32, 3>
    %c = arith.cmpi ult, %i, %n : index
    cf.cond_br %c, ^out, ^on
  ^out:
    gpu.return
  ^on:
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }

  // Blocks that a loop around them runs again.
  // CHECK-LABEL: gpu.func @region_in_loop_apart(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<64xf32, 3>, %{{.+}} : memref<64xf32, 3>)
  gpu.func @region_in_loop_apart(%i: index, %v: f32, %n: index, %c: i1)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    affine.for %j = 0 to %n {
      scf.execute_region {
        cf.cond_br %c, ^one, ^two
      ^one:
        memref.store %v, %a[%i] : memref<64xf32, 3>
        cf.br ^two
      ^two:
        memref.store %v, %b[%i] : memref<64xf32, 3>
        scf.yield
      }
    }
    gpu.return
  }

  // A kernel that never ends.
  // CHECK-LABEL: gpu.func @endless_apart(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<64xf32, 3>, %{{.+}} : memref<64xf32, 3>)
  gpu.func @endless_apart(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    cf.br ^loop
  ^loop:
    memref.store %v, %a[%i] : memref<64xf32, 3>
    gpu.barrier
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.barrier
    cf.br ^loop
  }
}
