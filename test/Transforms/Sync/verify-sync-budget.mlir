// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-verify-sync)' --verify-diagnostics -o /dev/null

// Along what a kernel does not ask for there is one block. It may ask in many ways which block it is.

// By the number of its cluster.
func.func @host(%G: memref<?xindex>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  gpu.launch clusters(%cx, %cy, %cz) in (%ncx = %c2, %ncy = %c1, %ncz = %c1)
             blocks(%bx, %by, %bz) in (%gx = %n, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%nx = %c1, %ny = %c1, %nz = %c1) {
    // expected-warning @+2 {{possible data race on global memory}}
    // expected-note @+1 {{the other access}}
    memref.store %cx, %G[%c0] : memref<?xindex>
    gpu.terminator
  }
  return
}

// -----

// The same, in the form of the NVVM dialect.
gpu.module @m {
  gpu.func @cluster(%G: memref<?xi32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %z = arith.constant 7 : index
    %t = gpu.thread_id x
    %id = nvvm.read.ptx.sreg.clusterid.x : i32
    %isz = arith.cmpi eq, %t, %z : index
    scf.if %isz {
      // expected-warning @+2 {{possible data race on global memory}}
      // expected-note @+1 {{the other access}}
      memref.store %id, %G[%z] : memref<?xi32>
    }
    gpu.return
  }
}

// -----

// In assembly.
gpu.module @m {
  gpu.func @asm(%G: memref<?xi32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %z = arith.constant 7 : index
    %t = gpu.thread_id x
    %id = llvm.inline_asm "mov.u32 $0, %ctaid.x;", "=r" : () -> i32
    %isz = arith.cmpi eq, %t, %z : index
    scf.if %isz {
      // expected-warning @+2 {{possible data race on global memory}}
      // expected-note @+1 {{the other access}}
      memref.store %id, %G[%z] : memref<?xi32>
    }
    gpu.return
  }
}

// -----

// By who comes first.
gpu.module @m {
  gpu.func @ticket(%next: memref<1xi32> {llvm.noalias}, %out: memref<8xi32> {llvm.noalias}) kernel
      attributes {known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %i1 = arith.constant 1 : i32
    %ticket = memref.atomic_rmw addi %i1, %next[%c0] : (i32, memref<1xi32>) -> i32
    // expected-warning @+2 {{possible data race on global memory}}
    // expected-note @+1 {{the other access}}
    memref.store %ticket, %out[%c0] : memref<8xi32>
    gpu.return
  }
}

// -----

// The place of a scatter is not known: it is not that of the byte that is stored before.
gpu.module @kernels {
  gpu.func @scattered(%out: memref<64xi8>, %v: vector<4xi8>, %i: vector<4xi32>, %m: vector<4xi1>, %x: i8) workgroup(%S: memref<256xi8, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      memref.store %x, %S[%c0] : memref<256xi8, #gpu.address_space<workgroup>>
      // expected-note @+1 {{the other access: 'vector.scatter' writes}}
      vector.scatter %S[%c0][%i], %m, %v : memref<256xi8, #gpu.address_space<workgroup>>, vector<4xi32>, vector<4xi1>, vector<4xi8>
    }
    // expected-warning @+1 {{possible data race on workgroup memory %arg5: different threads may touch the same bytes, and no barrier is between; it is not known where it is}}
    %y = memref.load %S[%t] : memref<256xi8, #gpu.address_space<workgroup>>
    memref.store %y, %out[%t] : memref<64xi8>
    gpu.return
  }
}
