// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(workgroup-verify-sync)' -o /dev/null

// What the block does together, what is touched in part, and what is in one place or another.

// An operation whose body computes with the id of the thread: every thread executes it on its own.
#map = affine_map<(d0) -> (d0)>
gpu.module @m {
  gpu.func @captured() workgroup(%S: memref<128xindex, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    // expected-error-re @+2 {{cannot synchronize {{.*}} on workgroup memory %arg0}}
    // expected-note @+1 {{the other access}}
    linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%S : memref<128xindex, #gpu.address_space<workgroup>>) {
    ^bb0(%o: index):
      linalg.yield %t : index
    }
    gpu.return
  }
}

// -----

#map = affine_map<(d0) -> (d0)>
gpu.module @m {
  gpu.func @inside() workgroup(%S: memref<128xindex, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // expected-error-re @+2 {{cannot synchronize {{.*}} on workgroup memory %arg0}}
    // expected-note @+1 {{the other access}}
    linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%S : memref<128xindex, #gpu.address_space<workgroup>>) {
    ^bb0(%o: index):
      %t = gpu.thread_id x
      linalg.yield %t : index
    }
    gpu.return
  }
}

// -----

// One whose body computes the same in every thread is executed together.
#map = affine_map<(d0) -> (d0)>
gpu.module @m {
  gpu.func @together(%n: index) workgroup(%S: memref<128xindex, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%S : memref<128xindex, #gpu.address_space<workgroup>>) {
    ^bb0(%o: index):
      %i = linalg.index 0 : index
      %sum = arith.addi %i, %n : index
      linalg.yield %sum : index
    }
    gpu.return
  }
}

// -----

// A copy onto what other threads have yet to read.
gpu.module @m {
  gpu.func @overlap() workgroup(%S: memref<192xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %from = memref.subview %S[0] [128] [1] : memref<192xf32, #gpu.address_space<workgroup>> to memref<128xf32, strided<[1]>, #gpu.address_space<workgroup>>
    %to = memref.subview %S[64] [128] [1] : memref<192xf32, #gpu.address_space<workgroup>> to memref<128xf32, strided<[1], offset: 64>, #gpu.address_space<workgroup>>
    // expected-error-re @+2 {{cannot synchronize {{.*}} on workgroup memory %arg0}}
    // expected-note @+1 {{the other access}}
    memref.copy %from, %to : memref<128xf32, strided<[1]>, #gpu.address_space<workgroup>> to memref<128xf32, strided<[1], offset: 64>, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

// Half of an element of one thread is where the other half of another's is: the same constant, not the same bytes.
gpu.module @m {
  gpu.func @halves(%z: complex<f32>) workgroup(%S: memref<1024xi8, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %byte = arith.muli %t, %c4 : index
    %view = memref.view %S[%byte][] : memref<1024xi8, #gpu.address_space<workgroup>> to memref<1xcomplex<f32>, #gpu.address_space<workgroup>>
    %constant = complex.constant [1.0 : f32, 2.0 : f32] : complex<f32>
    // expected-error-re @+2 {{cannot synchronize {{.*}} on workgroup memory %arg1}}
    // expected-note @+1 {{the other access}}
    memref.store %constant, %view[%c0] : memref<1xcomplex<f32>, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

// Atomic operations of two widths may come between the halves of each other.
gpu.module @m {
  gpu.func @widths(%a: i32, %b: i64) workgroup(%S: memref<64xi8, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %narrow = memref.view %S[%c0][] : memref<64xi8, #gpu.address_space<workgroup>> to memref<1xi32, #gpu.address_space<workgroup>>
    %wide = memref.view %S[%c0][] : memref<64xi8, #gpu.address_space<workgroup>> to memref<1xi64, #gpu.address_space<workgroup>>
    // expected-note @+1 {{the other access}}
    %x = memref.atomic_rmw addi %a, %narrow[%c0] : (i32, memref<1xi32, #gpu.address_space<workgroup>>) -> i32
    // expected-error @+1 {{data race on workgroup memory %arg2}}
    %y = memref.atomic_rmw addi %b, %wide[%c0] : (i64, memref<1xi64, #gpu.address_space<workgroup>>) -> i64
    gpu.return
  }
}

// -----

// Two buffers that change places: where they meet is not certain.
gpu.module @m {
  gpu.func @pingpong(%n: index) workgroup(%P: memref<128xindex, #gpu.address_space<workgroup>>, %Q: memref<128xindex, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c127 = arith.constant 127 : index
    %back = arith.subi %c127, %t : index
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %P, %q = %Q) -> (memref<128xindex, #gpu.address_space<workgroup>>, memref<128xindex, #gpu.address_space<workgroup>>) {
      // expected-note @+1 {{the other access}}
      %x = memref.load %p[%back] : memref<128xindex, #gpu.address_space<workgroup>>
      // expected-warning @+1 {{it is not known which of several buffers it is in}}
      memref.store %x, %q[%t] : memref<128xindex, #gpu.address_space<workgroup>>
      gpu.barrier
      scf.yield %q, %p : memref<128xindex, #gpu.address_space<workgroup>>, memref<128xindex, #gpu.address_space<workgroup>>
    }
    gpu.return
  }
}

// -----

// Nobody knows what a mask lets pass.
gpu.module @m {
  gpu.func @masked(%mask: vector<4xi1>, %v: vector<4xf32>) workgroup(%S: memref<4xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    // expected-warning @+2 {{possible data race on workgroup memory %arg2: different threads may touch the same bytes, and no barrier is between; not all elements of its vector may be accessed}}
    // expected-note @+1 {{the other access}}
    vector.maskedstore %S[%c0], %mask, %v : memref<4xf32, #gpu.address_space<workgroup>>, vector<4xi1>, vector<4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @outside(%v: vector<4xf32>, %at: index) workgroup(%S: memref<4xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // expected-warning @+2 {{possible data race on workgroup memory %arg2}}
    // expected-note @+1 {{the other access}}
    vector.transfer_write %v, %S[%at] : vector<4xf32>, memref<4xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @under(%mask: vector<4xi1>, %v: vector<4xf32>) workgroup(%S: memref<4xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    vector.mask %mask {
      // expected-warning @+2 {{possible data race on workgroup memory %arg2}}
      // expected-note @+1 {{the other access}}
      vector.transfer_write %v, %S[%c0] {in_bounds = [true]} : vector<4xf32>, memref<4xf32, #gpu.address_space<workgroup>>
    } : vector<4xi1>
    gpu.return
  }
}
