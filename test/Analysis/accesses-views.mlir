// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-print-accesses)' --verify-diagnostics=only-expected -o /dev/null

// Where views are: in bytes, or by the indices of a memref whose strides are not
// constants.

gpu.module @constant_strides {
  gpu.func @subviews() workgroup(%A: memref<64x32xf32, 3>) kernel {
    %i = gpu.thread_id x
    %j = gpu.thread_id y
    %u = memref.subview %A[%i, 4] [16, 8] [2, 3] : memref<64x32xf32, 3> to memref<16x8xf32, strided<[64, 3], offset: ?>, 3>
    // expected-remark @+1 {{thread reads workgroup memory of %arg0 at 140*%thread_id_x + 256*%thread_id_y + 16, 4 long; 0 <= %thread_id_x < 64; 0 <= %thread_id_x + 30 < 64; 0 <= %thread_id_y < 16; 0 <= %thread_id_x < 8}}
    %v = memref.load %u[%j, %i] : memref<16x8xf32, strided<[64, 3], offset: ?>, 3>
    %w = memref.subview %u[%j, 1] [4, 1] [1, 1] : memref<16x8xf32, strided<[64, 3], offset: ?>, 3> to memref<4xf32, strided<[64], offset: ?>, 3>
    // expected-remark @+1 {{thread writes workgroup memory of %arg0 at 384*%thread_id_x + 256*%thread_id_y + 28, 4 long; 0 <= %thread_id_x < 64; 0 <= %thread_id_x + 30 < 64; 0 <= %thread_id_y < 16; 0 <= %thread_id_y + 3 < 16; 0 <= %thread_id_x < 4}}
    memref.store %v, %w[%i] : memref<4xf32, strided<[64], offset: ?>, 3>
    gpu.return
  }
  gpu.func @shapes() workgroup(%A: memref<8x16xf32, 3>) kernel {
    %i = gpu.thread_id x
    %c1 = arith.constant 1 : index
    %row = memref.collapse_shape %A [[0, 1]] : memref<8x16xf32, 3> into memref<128xf32, 3>
    // expected-remark @+1 {{thread reads workgroup memory of %arg0 at 4*%thread_id_x, 4 long; 0 <= %thread_id_x < 128}}
    %v = memref.load %row[%i] : memref<128xf32, 3>
    %cut = memref.expand_shape %A [[0, 1], [2]] output_shape [4, 2, 16] : memref<8x16xf32, 3> into memref<4x2x16xf32, 3>
    // expected-remark @+1 {{thread writes workgroup memory of %arg0 at 4*%thread_id_x + 192, 4 long; 0 <= %thread_id_x < 16}}
    memref.store %v, %cut[%c1, %c1, %i] : memref<4x2x16xf32, 3>
    %turned = memref.transpose %A (d0, d1) -> (d1, d0) : memref<8x16xf32, 3> to memref<16x8xf32, strided<[1, 16]>, 3>
    // expected-remark @+1 {{thread writes workgroup memory of %arg0 at 4*%thread_id_x + 64, 4 long; 0 <= %thread_id_x < 16}}
    memref.store %v, %turned[%i, %c1] : memref<16x8xf32, strided<[1, 16]>, 3>
    gpu.return
  }
  // Situation 14.
  gpu.func @packed_arena(%shift: index) workgroup(%arena: memref<1024xi8, 3>) kernel {
    %i = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c512 = arith.constant 512 : index
    %a = memref.view %arena[%c0][] : memref<1024xi8, 3> to memref<128xf32, 3>
    %b = memref.view %arena[%c512][] : memref<1024xi8, 3> to memref<8x8xf64, 3>
    // expected-remark @+1 {{thread reads workgroup memory of %arg1 at 4*%thread_id_x, 4 long; 0 <= %thread_id_x < 128}}
    %v = memref.load %a[%i] : memref<128xf32, 3>
    // expected-remark @+1 {{thread reads workgroup memory of %arg1 at 64*%thread_id_x + 512, 8 long; 0 <= %thread_id_x < 8}}
    %w = memref.load %b[%i, %c0] : memref<8x8xf64, 3>
    %d = memref.view %arena[%shift][%i] : memref<1024xi8, 3> to memref<?x8xf32, 3>
    // expected-remark @+1 {{thread writes workgroup memory of %arg1 at %arg0 + 32*%thread_id_x, 4 long; 0 <= %thread_id_x < %thread_id_x}}
    memref.store %v, %d[%i, %c0] : memref<?x8xf32, 3>
    %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %b : memref<8x8xf64, 3> -> memref<f64, 3>, index, index, index, index, index
    // expected-remark @+1 {{thread reads workgroup memory of %arg1 at 512, 8 long}}
    %again = memref.load %base[] : memref<f64, 3>
    gpu.return
  }
  // expected-remark @+1 {{%arg0 and %arg1 may overlap}}
  gpu.func @offset_of_argument(%a: memref<16xf32, strided<[2], offset: 8>>, %b: memref<16xf32, strided<[2], offset: ?>>) kernel {
    %i = gpu.thread_id x
    // expected-remark @+1 {{thread reads global memory of %arg0 at 8*%thread_id_x + 32, 4 long; 0 <= %thread_id_x < 16}}
    %v = memref.load %a[%i] : memref<16xf32, strided<[2], offset: 8>>
    // expected-remark @+1 {{thread reads global memory of %arg1 at %arg1[%thread_id_x], 1 long; 0 <= %thread_id_x < 16}}
    %w = memref.load %b[%i] : memref<16xf32, strided<[2], offset: ?>>
    gpu.return
  }
}

gpu.module @other_strides {
  // expected-remark @+1 {{%arg0 and %arg2 may overlap}}
  gpu.func @indices(%a: memref<?x?xf32>, %n: index, %b: memref<?x?xf32, strided<[?, ?], offset: ?>>) kernel {
    %i = gpu.thread_id x
    %c1 = arith.constant 1 : index
    // expected-remark @+1 {{thread reads global memory of %arg0 at %arg0[%thread_id_x, 1], 1 long}}
    %v = memref.load %a[%i, %c1] : memref<?x?xf32>
    %tile = memref.subview %a[%i, 8] [%n, 4] [1, 2] : memref<?x?xf32> to memref<?x4xf32, strided<[?, 2], offset: ?>>
    // expected-remark @+1 {{thread writes global memory of %arg0 at %arg0[%thread_id_x + 1, 2*%thread_id_x + 8], 1 long; 0 <= %thread_id_x < 4}}
    memref.store %v, %tile[%c1, %i] : memref<?x4xf32, strided<[?, 2], offset: ?>>
    %row = memref.subview %tile[%c1, 0] [1, 4] [1, 1] : memref<?x4xf32, strided<[?, 2], offset: ?>> to memref<4xf32, strided<[2], offset: ?>>
    // expected-remark @+1 {{thread writes global memory of %arg0 at %arg0[%thread_id_x + 1, 2*%thread_id_x + 8], 1 long; 0 <= %thread_id_x < 4}}
    memref.store %v, %row[%i] : memref<4xf32, strided<[2], offset: ?>>
    %turned = memref.transpose %a (d0, d1) -> (d1, d0) : memref<?x?xf32> to memref<?x?xf32, strided<[1, ?]>>
    // expected-remark @+1 {{thread writes global memory of %arg0 at %arg0[1, %thread_id_x], 1 long}}
    memref.store %v, %turned[%i, %c1] : memref<?x?xf32, strided<[1, ?]>>
    // Layouts are injective.
    // expected-remark @+1 {{thread writes global memory of %arg2 at %arg2[%thread_id_x, 1], 1 long}}
    memref.store %v, %b[%i, %c1] : memref<?x?xf32, strided<[?, ?], offset: ?>>
    // expected-remark @+1 {{thread reads global memory of %arg0 at %arg0[%thread_id_x, 1], 4 long}}
    %w = vector.load %a[%i, %c1] : memref<?x?xf32>, vector<4xf32>
    // All in a row after all.
    %flat = memref.collapse_shape %a [[0, 1]] : memref<?x?xf32> into memref<?xf32>
    // expected-remark @+1 {{thread writes global memory of %arg0 at 4*%thread_id_x, 4 long}}
    memref.store %v, %flat[%i] : memref<?xf32>
    gpu.return
  }
  gpu.func @rows_of_known_length(%a: memref<?x32xf32>, %n: index) kernel {
    %i = gpu.thread_id x
    // expected-remark @+1 {{thread reads global memory of %arg0 at 132*%thread_id_x, 4 long; 0 <= %thread_id_x < 32}}
    %v = memref.load %a[%i, %i] : memref<?x32xf32>
    gpu.return
  }
  // Extents that are known by a value bound indices too.
  gpu.func @allocated(%n: index, %m: index) kernel {
    %i = gpu.thread_id x
    %A = memref.alloc(%n, %m) : memref<?x?xf32, 3>
    // expected-remark @+1 {{thread reads workgroup memory of %alloc at %alloc[%thread_id_x, %thread_id_x], 1 long; 0 <= %thread_id_x < %arg0; 0 <= %thread_id_x < %arg1}}
    %v = memref.load %A[%i, %i] : memref<?x?xf32, 3>
    gpu.return
  }
  // In each iteration the strides may be others.
  gpu.func @allocated_in_loop(%n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %i = gpu.thread_id x
    scf.for %m = %c0 to %n step %c1 {
      %A = memref.alloc(%n, %m) : memref<?x?xf32, 3>
      // expected-remark @+1 {{thread reads workgroup memory of %alloc somewhere}}
      %v = memref.load %A[%i, %i] : memref<?x?xf32, 3>
    }
    gpu.return
  }
  gpu.func @steps_of_unknown_length(%a: memref<64xf32>, %n: index) kernel {
    %i = gpu.thread_id x
    %slice = memref.subview %a[4] [8] [%n] : memref<64xf32> to memref<8xf32, strided<[?], offset: 4>>
    // expected-remark @+1 {{thread reads global memory of %arg0 at %subview[%thread_id_x], 1 long; 0 <= %thread_id_x < 8}}
    %v = memref.load %slice[%i] : memref<8xf32, strided<[?], offset: 4>>
    // Another for each thread.
    %own = memref.subview %a[%i] [8] [%n] : memref<64xf32> to memref<8xf32, strided<[?], offset: ?>>
    // expected-remark @+1 {{thread reads global memory of %arg0 somewhere}}
    %w = memref.load %own[%i] : memref<8xf32, strided<[?], offset: ?>>
    gpu.return
  }
  gpu.func @arena_of_unknown_rows(%n: index, %m: index) workgroup(%arena: memref<1024xi8, 3>) kernel {
    %c0 = arith.constant 0 : index
    %i = gpu.thread_id x
    %a = memref.view %arena[%c0][%n, %m] : memref<1024xi8, 3> to memref<?x?xf32, 3>
    // expected-remark @+1 {{thread reads workgroup memory of %arg2 at %view[%thread_id_x, %thread_id_x], 1 long; 0 <= %thread_id_x < %arg0; 0 <= %thread_id_x < %arg1}}
    %v = memref.load %a[%i, %i] : memref<?x?xf32, 3>
    // Another for each thread.
    %b = memref.view %arena[%i][%n, %m] : memref<1024xi8, 3> to memref<?x?xf32, 3>
    // expected-remark @+1 {{thread reads workgroup memory of %arg2 somewhere}}
    %w = memref.load %b[%i, %i] : memref<?x?xf32, 3>
    gpu.return
  }
}
