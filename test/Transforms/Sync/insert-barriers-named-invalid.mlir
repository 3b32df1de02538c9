// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-insert-barriers{named-barriers})' --verify-diagnostics -o /dev/null

// Part of a warp cannot meet at a barrier.
!S = memref<128xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @k(%out: memref<128xf32>, %x: f32) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c47 = arith.constant 47 : index
    %c48 = arith.constant 48 : index
    %t = gpu.thread_id x
    %u = arith.subi %c47, %t : index
    %is_low = arith.cmpi ult, %t, %c48 : index
    scf.if %is_low {
      // expected-note @+1 {{the other access}}
      memref.store %x, %S[%t] : !S
      // expected-error @+1 {{cannot synchronize 'memref.store' and 'memref.load'}}
      %y = memref.load %S[%u] : !S
      memref.store %y, %out[%t] : memref<128xf32>
    }
    gpu.return
  }
}

// -----

// In each iteration it is others, who might meet those of the iteration before.
!S = memref<128xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @k(%out: memref<128xf32>, %x: f32, %n: index) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %t = gpu.thread_id x
    %half = arith.divui %t, %c64 : index
    %u = arith.xori %t, %c32 : index
    scf.for %i = %c0 to %n step %c1 {
      %iteration = arith.remui %i, %c2 : index
      %is = arith.cmpi eq, %half, %iteration : index
      scf.if %is {
        // expected-note @+1 {{the other access}}
        memref.store %x, %S[%t] : !S
        // expected-error @+1 {{cannot synchronize 'memref.store' and 'memref.load'}}
        %y = memref.load %S[%u] : !S
        memref.store %y, %out[%t] : memref<128xf32>
      }
    }
    gpu.return
  }
}

// -----

// Not all of those whom it is for get to this one.
!S = memref<128xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @k(%x: f32) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c63 = arith.constant 63 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %i1 = arith.constant 1 : i32
    %i64 = arith.constant 64 : i32
    %t = gpu.thread_id x
    %is_low = arith.cmpi ult, %t, %c64 : index
    %is_lower = arith.cmpi ult, %t, %c16 : index
    scf.if %is_low {
      memref.store %x, %S[%t] : !S
      scf.if %is_lower {
        // expected-error @+2 {{barrier in divergent control flow: 'nvvm.barrier'}}
        // expected-note @+1 {{thread (0, 0, 0) gets here, thread (16, 0, 0) does not}}
        nvvm.barrier id = %i1 number_of_threads = %i64
      }
    }
    gpu.return
  }
}

// -----

// Without leave there is none, and one of two is not enough.
!S = memref<128xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @k(%out: memref<128xf32>, %x: f32) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    %i1 = arith.constant 1 : i32
    %i32 = arith.constant 32 : i32
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    %is_low = arith.cmpi ult, %t, %c64 : index
    scf.if %is_low {
      memref.store %x, %S[%t] : !S
      // Of one warp, whose number others wait at, too.
      // expected-note @+1 {{no barrier is put}}
      nvvm.barrier id = %i1 number_of_threads = %i32
      // expected-note @-4 {{the other access}}
      // expected-warning @+1 {{possible data race on workgroup memory}}
      %y = memref.load %S[%u] : !S
      memref.store %y, %out[%t] : memref<128xf32>
    }
    gpu.return
  }
}

// -----

// An intrinsic may be a barrier of any number.
!S = memref<128xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @k(%out: memref<128xf32>, %x: f32) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    %i1 = arith.constant 1 : i32
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    %is_low = arith.cmpi ult, %t, %c64 : index
    scf.if %is_low {
      // expected-note @+1 {{the other access}}
      memref.store %x, %S[%t] : !S
      // expected-warning @+2 {{possible data race on workgroup memory}}
      // expected-note @+1 {{the other access}}
      %y = memref.load %S[%u] : !S
    } else {
      // expected-warning @+3 {{possible data race on workgroup memory}}
      // expected-warning @+2 {{possible data race on memory}}
      // expected-note @+1 {{the other access}}
      llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"(%i1) : (i32) -> ()
    }
    gpu.return
  }
}
