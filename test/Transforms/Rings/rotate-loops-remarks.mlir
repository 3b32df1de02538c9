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
