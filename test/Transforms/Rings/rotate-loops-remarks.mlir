// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-rotate-loops{fma})' --remarks-filter='workgroup.*' --remark-format=emitRemark --verify-diagnostics -o %t
// RUN: mlir-opt %s -o - | diff %t -

// What stays as it is, and why.

#wg = #gpu.address_space<workgroup>
!v = vector<4xf32>
!m = memref<?xf32, #wg>

gpu.module @kernels {
  gpu.func @no_barrier(%a: !m, %n: index, %zeros: !v, %out: memref<4xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    // expected-remark @below {{Reason="no barrier stands before the loads of its first products}}
    %r = scf.for %k = %c0 to %n step %c4 iter_args(%acc = %zeros) -> !v {
      %f = vector.load %a[%k] : !m, !v
      %s = vector.fma %f, %f, %acc : !v
      scf.yield %s : !v
    }
    vector.store %r, %out[%c0] : memref<4xf32>, !v
    gpu.return
  }

  gpu.func @write_between(%a: !m, %n: index, %zeros: !v, %out: memref<4xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    // expected-remark @below {{Reason="'vector.store' of line 30 stands between the barrier and the loads of its first products"}}
    %r = scf.for %k = %c0 to %n step %c4 iter_args(%acc = %zeros) -> !v {
      gpu.barrier
      vector.store %zeros, %a[%c0] : !m, !v
      %f = vector.load %a[%k] : !m, !v
      %s = vector.fma %f, %f, %acc : !v
      scf.yield %s : !v
    }
    vector.store %r, %out[%c0] : memref<4xf32>, !v
    gpu.return
  }

  gpu.func @stored(%a: !m, %n: index, %zeros: !v) kernel {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    // expected-remark @below {{Reason="'vector.store' of line 47 depends on its last products"}}
    %r = scf.for %k = %c0 to %n step %c4 iter_args(%acc = %zeros) -> !v {
      gpu.barrier
      %f = vector.load %a[%k] : !m, !v
      %s = vector.fma %f, %f, %acc : !v
      vector.store %s, %a[%k] : !m, !v
      scf.yield %s : !v
    }
    gpu.return
  }

  gpu.func @from_global_memory(%a: memref<?xf32>, %n: index, %zeros: !v, %out: memref<4xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    // expected-remark @below {{Reason="'vector.load' of line 59 is what its first products wait for"}}
    %r = scf.for %k = %c0 to %n step %c4 iter_args(%acc = %zeros) -> !v {
      gpu.barrier
      %f = vector.load %a[%k] : memref<?xf32>, !v
      %s = vector.fma %f, %f, %acc : !v
      scf.yield %s : !v
    }
    vector.store %r, %out[%c0] : memref<4xf32>, !v
    gpu.return
  }

  gpu.func @may_be_negative(%a: !m, %l: index, %n: index, %zeros: !v, %out: memref<4xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    // expected-remark @below {{Reason="its lower bound may be negative}}
    %r = scf.for %k = %l to %n step %c4 iter_args(%acc = %zeros) -> !v {
      gpu.barrier
      %f = vector.load %a[%k] : !m, !v
      %s = vector.fma %f, %f, %acc : !v
      scf.yield %s : !v
    }
    vector.store %r, %out[%c0] : memref<4xf32>, !v
    gpu.return
  }

  // An allocation whose memory others take, or of a size that an iteration says.
  gpu.func @handed_on(%a: !m, %b: !m, %n: index, %x: index, %zeros: !v, %out: memref<4xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    // expected-remark @below {{Reason="'memref.dealloc' of line 93 takes memory that each iteration allocates"}}
    %r = scf.for %k = %c0 to %n step %c4 iter_args(%acc = %zeros) -> !v {
      %t = memref.alloc() : memref<64xf32, #wg>
      vector.store %zeros, %t[%x] : memref<64xf32, #wg>, !v
      gpu.barrier
      %f = vector.load %a[%k] : !m, !v
      %s = vector.fma %f, %f, %acc : !v
      %h = vector.load %t[%c0] : memref<64xf32, #wg>, !v
      memref.dealloc %t : memref<64xf32, #wg>
      %u = vector.fma %h, %h, %s : !v
      scf.yield %u : !v
    }
    vector.store %r, %out[%c0] : memref<4xf32>, !v
    gpu.return
  }

  gpu.func @yielded(%a: !m, %b: !m, %n: index, %x: index, %zeros: !v, %out: memref<4xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    // expected-remark @below {{Reason="'scf.yield' of line 114 takes memory that each iteration allocates"}}
    %r:2 = scf.for %k = %c0 to %n step %c4 iter_args(%acc = %zeros, %last = %b) -> (!v, !m) {
      %t = memref.alloc() : memref<64xf32, #wg>
      vector.store %zeros, %t[%x] : memref<64xf32, #wg>, !v
      gpu.barrier
      %f = vector.load %a[%k] : !m, !v
      %s = vector.fma %f, %f, %acc : !v
      %h = vector.load %last[%c0] : !m, !v
      %u = vector.fma %h, %h, %s : !v
      %view = memref.cast %t : memref<64xf32, #wg> to !m
      scf.yield %u, %view : !v, !m
    }
    vector.store %r#0, %out[%c0] : memref<4xf32>, !v
    gpu.return
  }

  gpu.func @size_of_iteration(%a: !m, %n: index, %x: index, %zeros: !v, %out: memref<4xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    // expected-remark @below {{Reason="'memref.alloc' of line 126 makes other memory in each iteration"}}
    %r = scf.for %k = %c0 to %n step %c4 iter_args(%acc = %zeros) -> !v {
      %size = affine.min affine_map<(i) -> (64, i + 8)>(%k)
      %t = memref.alloc(%size) : !m
      vector.store %zeros, %t[%x] : !m, !v
      gpu.barrier
      %f = vector.load %a[%k] : !m, !v
      %s = vector.fma %f, %f, %acc : !v
      %h = vector.load %t[%c0] : !m, !v
      %u = vector.fma %h, %h, %s : !v
      scf.yield %u : !v
    }
    vector.store %r, %out[%c0] : memref<4xf32>, !v
    gpu.return
  }

  // The fence would come behind what it is for.
  gpu.func @fence_between(%a: !m, %n: index, %zeros: !v, %out: memref<4xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    // expected-remark @below {{Reason="'nvvm.fence.proxy' of line 146 stands between the barrier and the loads of its first products"}}
    %r = scf.for %k = %c0 to %n step %c4 iter_args(%acc = %zeros) -> !v {
      gpu.barrier
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      %f = vector.load %a[%k] : !m, !v
      %s = vector.fma %f, %f, %acc : !v
      scf.yield %s : !v
    }
    vector.store %r, %out[%c0] : memref<4xf32>, !v
    gpu.return
  }

  // Nothing is multiplied: nobody would expect anything.
  gpu.func @no_products(%a: !m, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    scf.for %k = %c0 to %n step %c4 {
      gpu.barrier
      %f = vector.load %a[%k] : !m, !v
      vector.store %f, %a[%k] : !m, !v
    }
    gpu.return
  }
}
