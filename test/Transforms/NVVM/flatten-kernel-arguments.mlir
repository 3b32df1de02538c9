// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-flatten-kernel-arguments)' | FileCheck %s
// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-flatten-kernel-arguments)' -o %t.once
// RUN: mlir-opt %t.once --split-input-file --pass-pipeline='builtin.module(workgroup-flatten-kernel-arguments)' -o %t.twice
// RUN: diff %t.once %t.twice

// What is static is not passed: one pointer, wherever its elements lie.
gpu.module @static {
  // CHECK-LABEL: gpu.func @identity
  // CHECK-SAME:    (%[[P:[^:]+]]: memref<f32>, %[[I:[^:]+]]: index) kernel
  // CHECK-NOT:     ub.poison
  // CHECK:         %[[VIEW:.+]] = memref.reinterpret_cast %[[P]] to offset: [0], sizes: [4, 8], strides: [8, 1] : memref<f32> to memref<4x8xf32, strided<[8, 1]>>
  // CHECK:         %[[A:.+]] = memref.cast %[[VIEW]] : memref<4x8xf32, strided<[8, 1]>> to memref<4x8xf32>
  // CHECK:         memref.store %{{.+}}, %[[A]][%[[I]], %[[I]]]
  gpu.func @identity(%a: memref<4x8xf32>, %i: index) kernel {
    %v = memref.load %a[%i, %i] : memref<4x8xf32>
    memref.store %v, %a[%i, %i] : memref<4x8xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @strided
  // CHECK-SAME:    (%[[P:[^:]+]]: memref<f32>, %{{[^:]+}}: index) kernel
  // CHECK-NOT:     ub.poison
  // CHECK:         memref.reinterpret_cast %[[P]] to offset: [5], sizes: [4, 8], strides: [1, 16]
  gpu.func @strided(%a: memref<4x8xf32, strided<[1, 16], offset: 5>>, %i: index) kernel {
    %v = memref.load %a[%i, %i] : memref<4x8xf32, strided<[1, 16], offset: 5>>
    memref.store %v, %a[%i, %i] : memref<4x8xf32, strided<[1, 16], offset: 5>>
    gpu.return
  }
}

// -----

// Of a row-major memref, the strides follow from the inner extents; the outermost
// extent decides no address.
gpu.module @dynamic {
  // CHECK-LABEL: gpu.func @accesses
  // CHECK-SAME:    (%[[P:[^:]+]]: memref<f32>, %[[I:[^:]+]]: index, %[[N1:[^:]+]]: index, %[[N2:[^:]+]]: index) kernel
  // CHECK:         %[[UNUSED:.+]] = ub.poison : index
  // CHECK:         %[[STRIDE:.+]] = arith.muli %[[N1]], %[[N2]] : index
  // CHECK:         memref.reinterpret_cast %[[P]] to offset: [0], sizes: [%[[UNUSED]], %[[N1]], %[[N2]]], strides: [%[[STRIDE]], %[[N2]], 1]
  // CHECK-NOT:     %[[UNUSED]]
  // CHECK:         gpu.return
  gpu.func @accesses(%a: memref<?x?x?xf32>, %i: index) kernel {
    %v = memref.load %a[%i, %i, %i] : memref<?x?x?xf32>
    memref.store %v, %a[%i, %i, %i] : memref<?x?x?xf32>
    gpu.return
  }

  // Of one dimension, nothing.
  // CHECK-LABEL: gpu.func @vector_accesses
  // CHECK-SAME:    (%{{[^:]+}}: memref<f32>, %{{[^:]+}}: index) kernel
  gpu.func @vector_accesses(%a: memref<?xf32>, %i: index) kernel {
    %v = vector.load %a[%i] : memref<?xf32>, vector<4xf32>
    vector.store %v, %a[%i] : memref<?xf32>, vector<4xf32>
    gpu.return
  }

  // An extent that is asked for is passed, also through a cast that forgets it.
  // CHECK-LABEL: gpu.func @extents
  // CHECK-SAME:    (%[[A:[^:]+]]: memref<f32>, %[[B:[^:]+]]: memref<f32>, %[[OUT:[^:]+]]: memref<index>, %[[A0:[^:]+]]: index, %[[B1:[^:]+]]: index) kernel
  // CHECK:         %[[UNUSED:.+]] = ub.poison
  // CHECK:         memref.reinterpret_cast %[[A]] to offset: [0], sizes: [%[[A0]], 8, %[[UNUSED]]]
  // CHECK:         memref.reinterpret_cast %[[B]] to offset: [0], sizes: [4, %[[B1]]]
  gpu.func @extents(%a: memref<?x8x?xf32>, %b: memref<4x?xf32>, %out: memref<2xindex>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = memref.dim %a, %c0 : memref<?x8x?xf32>
    %b2 = memref.cast %b : memref<4x?xf32> to memref<?x?xf32>
    %m = memref.dim %b2, %c1 : memref<?x?xf32>
    memref.store %n, %out[%c0] : memref<2xindex>
    memref.store %m, %out[%c1] : memref<2xindex>
    gpu.return
  }

  // One that is computed needs all of them.
  // CHECK-LABEL: gpu.func @some_extent
  // CHECK-SAME:    (%[[A:[^:]+]]: memref<f32>, %[[OUT:[^:]+]]: memref<index>, %[[I:[^:]+]]: index, %[[N0:[^:]+]]: index, %[[N1:[^:]+]]: index) kernel
  // CHECK-NOT:     ub.poison
  // CHECK:         memref.reinterpret_cast %[[A]] to offset: [0], sizes: [%[[N0]], %[[N1]]]
  gpu.func @some_extent(%a: memref<?x?xf32>, %out: memref<index>, %i: index) kernel {
    %n = memref.dim %a, %i : memref<?x?xf32>
    memref.store %n, %out[] : memref<index>
    gpu.return
  }

  // An access that is checked against the bounds needs them.
  // CHECK-LABEL: gpu.func @bounded_access
  // CHECK-SAME:    (%[[A:[^:]+]]: memref<f32>, %[[I:[^:]+]]: index, %[[N0:[^:]+]]: index, %[[N1:[^:]+]]: index) kernel
  // CHECK-NOT:     ub.poison
  // CHECK:         memref.reinterpret_cast %[[A]] to offset: [0], sizes: [%[[N0]], %[[N1]]], strides: [%[[N1]], 1]
  gpu.func @bounded_access(%a: memref<?x?xf32>, %i: index) kernel {
    %zero = arith.constant 0.0 : f32
    %v = vector.transfer_read %a[%i, %i], %zero : memref<?x?xf32>, vector<4xf32>
    vector.transfer_write %v, %a[%i, %i] : vector<4xf32>, memref<?x?xf32>
    gpu.return
  }

  // The extents of a subview are its own, those of another shape follow from the
  // argument's.
  // CHECK-LABEL: gpu.func @views
  // CHECK-SAME:    (%[[A:[^:]+]]: memref<f32>, %[[B:[^:]+]]: memref<f32>, %[[I:[^:]+]]: index, %[[A1:[^:]+]]: index, %[[B0:[^:]+]]: index, %[[B1:[^:]+]]: index) kernel
  // CHECK:         memref.reinterpret_cast %[[A]] to offset: [0], sizes: [%{{.+}}, %[[A1]]], strides: [%[[A1]], 1]
  // CHECK:         memref.reinterpret_cast %[[B]] to offset: [0], sizes: [%[[B0]], %[[B1]]], strides: [%[[B1]], 1]
  gpu.func @views(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %i: index) kernel {
    %part = memref.subview %a[%i, 0] [%i, %i] [1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1], offset: ?>>
    %flat = memref.collapse_shape %b [[0, 1]] : memref<?x?xf32> into memref<?xf32>
    %v = memref.load %part[%i, %i] : memref<?x?xf32, strided<[?, 1], offset: ?>>
    memref.store %v, %flat[%i] : memref<?xf32>
    gpu.return
  }

  // A cast to another shape needs the pointer alone.
  // CHECK-LABEL: gpu.func @pointer_only
  // CHECK-SAME:    (%{{[^:]+}}: memref<f32>, %{{[^:]+}}: index) kernel
  gpu.func @pointer_only(%a: memref<?x?xf32, strided<[?, ?], offset: ?>>, %i: index) kernel {
    %b = memref.reinterpret_cast %a to offset: [0], sizes: [4], strides: [1] : memref<?x?xf32, strided<[?, ?], offset: ?>> to memref<4xf32, strided<[1]>>
    %v = memref.load %b[%i] : memref<4xf32, strided<[1]>>
    memref.store %v, %b[%i] : memref<4xf32, strided<[1]>>
    gpu.return
  }

  // Nothing is used.
  // CHECK-LABEL: gpu.func @unused
  // CHECK-SAME:    (%{{[^:]+}}: memref<f32>, %{{[^:]+}}: memref<i8>) kernel
  gpu.func @unused(%a: memref<?x?xf32>, %b: memref<?xi8, strided<[?], offset: ?>>) kernel {
    gpu.return
  }
}

// -----

// Dynamic offsets and strides, each by itself, in this order: offset, extents,
// strides.
gpu.module @strided {
  // CHECK-LABEL: gpu.func @all
  // CHECK-SAME:    (%[[P:[^:]+]]: memref<f32>, %[[OUT:[^:]+]]: memref<index>, %[[I:[^:]+]]: index, %[[OFFSET:[^:]+]]: index, %[[N1:[^:]+]]: index, %[[S0:[^:]+]]: index, %[[S1:[^:]+]]: index) kernel
  // CHECK:         %[[UNUSED:.+]] = ub.poison
  // CHECK:         memref.reinterpret_cast %[[P]] to offset: [%[[OFFSET]]], sizes: [%[[UNUSED]], %[[N1]]], strides: [%[[S0]], %[[S1]]]
  gpu.func @all(%a: memref<?x?xf32, strided<[?, ?], offset: ?>>, %out: memref<index>, %i: index) kernel {
    %c1 = arith.constant 1 : index
    %n = memref.dim %a, %c1 : memref<?x?xf32, strided<[?, ?], offset: ?>>
    %v = memref.load %a[%i, %i] : memref<?x?xf32, strided<[?, ?], offset: ?>>
    memref.store %v, %a[%i, %i] : memref<?x?xf32, strided<[?, ?], offset: ?>>
    memref.store %n, %out[] : memref<index>
    gpu.return
  }

  // Only what is dynamic.
  // CHECK-LABEL: gpu.func @some
  // CHECK-SAME:    (%[[P:[^:]+]]: memref<f32>, %[[I:[^:]+]]: index, %[[S0:[^:]+]]: index) kernel
  // CHECK:         memref.reinterpret_cast %[[P]] to offset: [3], sizes: [4, %{{.+}}], strides: [%[[S0]], 1]
  gpu.func @some(%a: memref<4x?xf32, strided<[?, 1], offset: 3>>, %i: index) kernel {
    %v = memref.load %a[%i, %i] : memref<4x?xf32, strided<[?, 1], offset: 3>>
    memref.store %v, %a[%i, %i] : memref<4x?xf32, strided<[?, 1], offset: 3>>
    gpu.return
  }

  // What extract_strided_metadata is asked for.
  // CHECK-LABEL: gpu.func @metadata
  // CHECK-SAME:    (%[[P:[^:]+]]: memref<f32>, %[[OUT:[^:]+]]: memref<index>, %[[N0:[^:]+]]: index, %[[S1:[^:]+]]: index) kernel
  // CHECK:         %[[UNUSED:.+]] = ub.poison
  // CHECK:         memref.reinterpret_cast %[[P]] to offset: [%[[UNUSED]]], sizes: [%[[N0]], %[[UNUSED]]], strides: [%[[UNUSED]], %[[S1]]]
  gpu.func @metadata(%a: memref<?x?xf32, strided<[?, ?], offset: ?>>, %out: memref<index>) kernel {
    %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %a : memref<?x?xf32, strided<[?, ?], offset: ?>> -> memref<f32>, index, index, index, index, index
    %sum = arith.addi %sizes#0, %strides#1 : index
    memref.store %sum, %out[] : memref<index>
    gpu.return
  }

  // A layout map that is strided is one more spelling.
  // CHECK-LABEL: gpu.func @layout_map
  // CHECK-SAME:    (%[[P:[^:]+]]: memref<f32>, %[[I:[^:]+]]: index, %[[OFFSET:[^:]+]]: index, %[[S0:[^:]+]]: index) kernel
  // CHECK:         memref.reinterpret_cast %[[P]] to offset: [%[[OFFSET]]], sizes: [%{{.+}}], strides: [%[[S0]]]
  gpu.func @layout_map(%a: memref<?xf32, affine_map<(d0)[s0, s1] -> (d0 * s0 + s1)>>, %i: index) kernel {
    %v = memref.load %a[%i] : memref<?xf32, affine_map<(d0)[s0, s1] -> (d0 * s0 + s1)>>
    memref.store %v, %a[%i] : memref<?xf32, affine_map<(d0)[s0, s1] -> (d0 * s0 + s1)>>
    gpu.return
  }
}

// -----

// Rank 0 is a pointer already, unless it has an offset; scalars stay; memory
// spaces, element types and attributes are kept; so are attributions.
gpu.module @kinds {
  // CHECK-LABEL: gpu.func @rank_0
  // CHECK-SAME:    (%[[A:[^:]+]]: memref<f32>, %[[B:[^:]+]]: memref<f32>, %[[C:[^:]+]]: memref<f32>, %[[OFFSET:[^:]+]]: index) kernel
  // CHECK:         %[[B2:.+]] = memref.reinterpret_cast %[[B]] to offset: [%[[OFFSET]]], sizes: [], strides: []
  // CHECK:         %[[C2:.+]] = memref.reinterpret_cast %[[C]] to offset: [3], sizes: [], strides: []
  // CHECK:         memref.load %[[A]][]
  // CHECK:         memref.store %{{.+}}, %[[B2]][]
  // CHECK:         memref.store %{{.+}}, %[[C2]][]
  gpu.func @rank_0(%a: memref<f32>, %b: memref<f32, strided<[], offset: ?>>, %c: memref<f32, strided<[], offset: 3>>) kernel {
    %v = memref.load %a[] : memref<f32>
    memref.store %v, %b[] : memref<f32, strided<[], offset: ?>>
    memref.store %v, %c[] : memref<f32, strided<[], offset: 3>>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @scalars
  // CHECK-SAME:    (%{{[^:]+}}: f32, %{{[^:]+}}: index, %{{[^:]+}}: i1, %{{[^:]+}}: vector<4xf16>, %{{[^:]+}}: !llvm.ptr) kernel
  gpu.func @scalars(%a: f32, %b: index, %c: i1, %d: vector<4xf16>, %e: !llvm.ptr) kernel {
    gpu.return
  }

  // CHECK-LABEL: gpu.func @nothing() kernel
  gpu.func @nothing() kernel {
    gpu.return
  }

  // CHECK-LABEL: gpu.func @spaces
  // CHECK-SAME:    (%{{[^:]+}}: memref<vector<4xf32>, 1> {llvm.align = 16 : i64, llvm.noalias},
  // CHECK-SAME:     %{{[^:]+}}: memref<complex<f32>, #gpu.address_space<global>> {llvm.readonly},
  // CHECK-SAME:     %[[I:[^:]+]]: index, %[[N:[^:]+]]: index)
  // CHECK-SAME:    workgroup(%[[W:.+]] : memref<8xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
  // CHECK-SAME:    private(%[[P:.+]] : memref<2xf32, #gpu.address_space<private>>)
  // CHECK:         memref.load %[[W]][%[[I]]]
  // CHECK:         memref.store %{{.+}}, %[[P]][%[[I]]]
  gpu.func @spaces(%a: memref<?x?xvector<4xf32>, 1> {llvm.align = 16 : i64, llvm.noalias},
                   %b: memref<8xcomplex<f32>, #gpu.address_space<global>> {llvm.readonly}, %i: index)
      workgroup(%w: memref<8xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
      private(%p: memref<2xf32, #gpu.address_space<private>>) kernel {
    %v = memref.load %a[%i, %i] : memref<?x?xvector<4xf32>, 1>
    memref.store %v, %a[%i, %i] : memref<?x?xvector<4xf32>, 1>
    %x = memref.load %w[%i] : memref<8xf32, #gpu.address_space<workgroup>>
    memref.store %x, %p[%i] : memref<2xf32, #gpu.address_space<private>>
    gpu.return
  }
}

// -----

// What is not passed must not be used: whoever hands the whole memref on gets all
// of it.
gpu.module @no_poison {
  // CHECK-LABEL: gpu.func @carried_by_loop
  // CHECK-SAME:    (%{{[^:]+}}: memref<f32>, %{{[^:]+}}: memref<f32>, %{{[^:]+}}: index, %[[NA:[^:]+]]: index, %[[NB:[^:]+]]: index) kernel
  // CHECK-NOT:     ub.poison
  // CHECK:         gpu.return
  gpu.func @carried_by_loop(%a: memref<?xf32>, %b: memref<?xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (memref<?xf32>, memref<?xf32>) {
      %v = memref.load %x[%i] : memref<?xf32>
      memref.store %v, %y[%i] : memref<?xf32>
      scf.yield %y, %x : memref<?xf32>, memref<?xf32>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @chosen
  // CHECK-NOT:     ub.poison
  // CHECK:         gpu.return
  gpu.func @chosen(%a: memref<?xf32>, %b: memref<?xf32>, %c: i1, %i: index) kernel {
    %x = arith.select %c, %a, %b : memref<?xf32>
    %v = memref.load %x[%i] : memref<?xf32>
    memref.store %v, %x[%i] : memref<?xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @branched
  // CHECK-NOT:     ub.poison
  // CHECK:         gpu.return
  gpu.func @branched(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: i1, %i: index) kernel {
    cf.cond_br %c, ^bb1(%a : memref<?x?xf32>), ^bb1(%b : memref<?x?xf32>)
  ^bb1(%x: memref<?x?xf32>):
    %n = memref.dim %x, %i : memref<?x?xf32>
    %v = memref.load %x[%n, %i] : memref<?x?xf32>
    memref.store %v, %x[%i, %i] : memref<?x?xf32>
    gpu.return
  }

  // Stored as a value, it is used by whoever loads it.
  // CHECK-LABEL: gpu.func @boxed
  // CHECK-NOT:     ub.poison
  // CHECK:         gpu.return
  gpu.func @boxed(%a: memref<?xf32>, %out: memref<index>) kernel {
    %c0 = arith.constant 0 : index
    %box = memref.alloca() : memref<memref<?xf32>>
    memref.store %a, %box[] : memref<memref<?xf32>>
    %b = memref.load %box[] : memref<memref<?xf32>>
    %n = memref.dim %b, %c0 : memref<?xf32>
    memref.store %n, %out[] : memref<index>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @other_shapes
  // CHECK-NOT:     ub.poison
  // CHECK:         gpu.return
  gpu.func @other_shapes(%a: memref<?xi8>, %b: memref<?x?xf32>, %i: index) kernel {
    %view = memref.view %a[%i][%i] : memref<?xi8> to memref<?xf32>
    %turned = memref.transpose %b (d0, d1) -> (d1, d0) : memref<?x?xf32> to memref<?x?xf32, strided<[1, ?]>>
    %split = memref.expand_shape %b [[0, 1], [2]] output_shape [%i, 4, %i] : memref<?x?xf32> into memref<?x4x?xf32>
    %unknown = memref.cast %b : memref<?x?xf32> to memref<*xf32>
    %v = memref.load %view[%i] : memref<?xf32>
    memref.store %v, %turned[%i, %i] : memref<?x?xf32, strided<[1, ?]>>
    memref.store %v, %split[%i, %i, %i] : memref<?x4x?xf32>
    gpu.return
  }
}

// -----

// Launches change with their kernel. What they pass twice is passed once: here
// the inner extent of B and C, but not A's, which is another value. All else of a
// launch is kept.
module attributes {gpu.container_module} {
  // CHECK-LABEL: gpu.func @matmul
  // CHECK-SAME:    (%[[A:[^:]+]]: memref<f32>, %[[B:[^:]+]]: memref<f32>, %[[C:[^:]+]]: memref<f32>, %[[I:[^:]+]]: index, %[[K:[^:]+]]: index, %[[N:[^:]+]]: index) kernel
  // CHECK:         memref.reinterpret_cast %[[A]] {{.*}} strides: [%[[K]], 1]
  // CHECK:         memref.reinterpret_cast %[[B]] {{.*}} strides: [%[[N]], 1]
  // CHECK:         memref.reinterpret_cast %[[C]] {{.*}} strides: [%[[N]], 1]
  gpu.module @kernels {
    gpu.func @matmul(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>, %i: index) kernel {
      %x = memref.load %a[%i, %i] : memref<?x?xf32>
      %y = memref.load %b[%i, %i] : memref<?x?xf32>
      %z = arith.mulf %x, %y : f32
      memref.store %z, %c[%i, %i] : memref<?x?xf32>
      gpu.return
    }
  }

  // CHECK-LABEL: func.func @host
  // CHECK-SAME:    (%[[A:[^:]+]]: memref<?x?xf32>, %[[B:[^:]+]]: memref<?x?xf32>, %[[I:[^:]+]]: index, %[[BYTES:[^:]+]]: i32)
  // CHECK-DAG:     %[[K:.+]] = memref.dim %[[A]], %c1
  // CHECK-DAG:     %[[N:.+]] = memref.dim %[[B]], %c1
  // CHECK-DAG:     %[[PA:[^,]+]], {{.*}} = memref.extract_strided_metadata %[[A]]
  // CHECK-DAG:     %[[PB:[^,]+]], {{.*}} = memref.extract_strided_metadata %[[B]]
  // CHECK:         %[[T:.+]] = gpu.launch_func async [%{{.+}}] @kernels::@matmul
  // CHECK-SAME:      blocks in (%[[I]], %c1, %c1) threads in (%c1, %c1, %c1)
  // CHECK-SAME:      dynamic_shared_memory_size %[[BYTES]]
  // CHECK-SAME:      args(%[[PA]] : memref<f32>, %[[PB]] : memref<f32>, %[[PB]] : memref<f32>, %[[I]] : index, %[[K]] : index, %[[N]] : index)
  // CHECK:         gpu.wait [%[[T]]]
  func.func @host(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %i: index, %bytes: i32) {
    %c1 = arith.constant 1 : index
    %t0 = gpu.wait async
    %t1 = gpu.launch_func async [%t0] @kernels::@matmul blocks in (%i, %c1, %c1) threads in (%c1, %c1, %c1) dynamic_shared_memory_size %bytes args(%a : memref<?x?xf32>, %b : memref<?x?xf32>, %b : memref<?x?xf32>, %i : index)
    gpu.wait [%t1]
    return
  }
}

// -----

// Two launches that share different values share none of them, and a launch of a
// static memref passes constants. Offsets and strides come from the memref.
module attributes {gpu.container_module} {
  // CHECK-LABEL: gpu.func @add
  // CHECK-SAME:    (%{{[^:]+}}: memref<f32>, %{{[^:]+}}: memref<f32>, %{{[^:]+}}: index, %{{[^:]+}}: index, %{{[^:]+}}: index) kernel
  // CHECK-LABEL: gpu.func @view
  // CHECK-SAME:    (%[[P:[^:]+]]: memref<f32>, %[[OFFSET:[^:]+]]: index, %[[STRIDE:[^:]+]]: index) kernel
  gpu.module @kernels {
    gpu.func @add(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %i: index) kernel {
      %x = memref.load %a[%i, %i] : memref<?x?xf32>
      memref.store %x, %b[%i, %i] : memref<?x?xf32>
      gpu.return
    }
    gpu.func @view(%a: memref<4x4xf32, strided<[?, 1], offset: ?>>) kernel {
      %c0 = arith.constant 0 : index
      %x = memref.load %a[%c0, %c0] : memref<4x4xf32, strided<[?, 1], offset: ?>>
      memref.store %x, %a[%c0, %c0] : memref<4x4xf32, strided<[?, 1], offset: ?>>
      gpu.return
    }
  }

  // CHECK-LABEL: func.func @first
  // CHECK-SAME:    (%[[A:[^:]+]]: memref<?x?xf32>, %[[I:[^:]+]]: index)
  // CHECK:         %[[N:.+]] = memref.dim %[[A]], %c1
  // CHECK:         gpu.launch_func @kernels::@add {{.*}} args(%[[P:.+]] : memref<f32>, %[[P]] : memref<f32>, %[[I]] : index, %[[N]] : index, %[[N]] : index)
  func.func @first(%a: memref<?x?xf32>, %i: index) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@add blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<?x?xf32>, %a : memref<?x?xf32>, %i : index)
    return
  }

  // CHECK-LABEL: func.func @second
  // CHECK-SAME:    (%[[A:[^:]+]]: memref<?x?xf32>, %[[B:[^:]+]]: memref<8x16xf32>, %[[I:[^:]+]]: index)
  // CHECK-DAG:     %[[C16:.+]] = arith.constant 16 : index
  // CHECK-DAG:     %[[N:.+]] = memref.dim %[[A]], %c1
  // CHECK:         gpu.launch_func @kernels::@add {{.*}} args(%{{.+}} : memref<f32>, %{{.+}} : memref<f32>, %[[I]] : index, %[[N]] : index, %[[C16]] : index)
  func.func @second(%a: memref<?x?xf32>, %b: memref<8x16xf32>, %i: index) {
    %c1 = arith.constant 1 : index
    %dynamic = memref.cast %b : memref<8x16xf32> to memref<?x?xf32>
    gpu.launch_func @kernels::@add blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<?x?xf32>, %dynamic : memref<?x?xf32>, %i : index)
    return
  }

  // CHECK-LABEL: func.func @third
  // CHECK:         %[[PART:.+]] = memref.subview
  // CHECK:         %[[BASE:[^,]+]], %[[OFFSET:[^,]+]], %{{.+}}, %[[STRIDES:.+]]:2 = memref.extract_strided_metadata %[[PART]]
  // CHECK:         gpu.launch_func @kernels::@view {{.*}} args(%[[BASE]] : memref<f32>, %[[OFFSET]] : index, %[[STRIDES]]#0 : index)
  func.func @third(%a: memref<?x?xf32>, %i: index) {
    %c1 = arith.constant 1 : index
    %part = memref.subview %a[%i, %i] [4, 4] [1, 1] : memref<?x?xf32> to memref<4x4xf32, strided<[?, 1], offset: ?>>
    gpu.launch_func @kernels::@view blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%part : memref<4x4xf32, strided<[?, 1], offset: ?>>)
    return
  }
}

// -----

// Functions that kernels call, also one another and themselves; what the callee
// needs, the caller is passed.
// CHECK-LABEL: gpu.module @functions
gpu.module @functions {
  // CHECK:      func.func private @declared(memref<?xf32>)
  func.func private @declared(memref<?xf32>)
  // CHECK:      func.func @load(%[[P:[^:]+]]: memref<f32>, %[[I:[^:]+]]: index, %[[N:[^:]+]]: index) -> f32
  // CHECK:        memref.reinterpret_cast %[[P]] to offset: [0], sizes: [%{{.+}}, %[[N]]], strides: [%[[N]], 1]
  func.func @load(%a: memref<?x?xf32>, %i: index) -> f32 {
    %v = memref.load %a[%i, %i] : memref<?x?xf32>
    return %v : f32
  }
  // CHECK:      func.func @recurse(%[[P:[^:]+]]: memref<f32>, %[[I:[^:]+]]: index, %{{[^:]+}}: index, %{{[^:]+}}: index) {
  // CHECK-NOT:    ub.poison
  // CHECK:        call @recurse(%{{[^ ]+}}, %[[I]], %{{.+}}) : (memref<f32>, index, index, index) -> ()
  func.func @recurse(%a: memref<?x?xf32>, %i: index) {
    func.call @recurse(%a, %i) : (memref<?x?xf32>, index) -> ()
    return
  }
  // CHECK:      gpu.func @calls(%[[P:[^:]+]]: memref<f32>, %[[I:[^:]+]]: index, %[[N0:[^:]+]]: index, %[[N1:[^:]+]]: index) kernel
  // CHECK-NOT:    ub.poison
  // CHECK:        call @load(%{{.+}}, %[[I]], %{{.+}}) : (memref<f32>, index, index) -> f32
  gpu.func @calls(%a: memref<?x?xf32>, %i: index) kernel {
    %v = func.call @load(%a, %i) : (memref<?x?xf32>, index) -> f32
    %w = func.call @load(%a, %i) : (memref<?x?xf32>, index) -> f32
    func.call @recurse(%a, %i) : (memref<?x?xf32>, index) -> ()
    gpu.return
  }
}

// -----

// Functions on the host, and launches that are not outlined, stay as they are.
// CHECK-LABEL: func.func @on_host
// CHECK-SAME:    (%[[A:[^:]+]]: memref<?x?xf32>, %{{[^:]+}}: memref<*xf32>)
// CHECK:         gpu.launch
// CHECK:           memref.store %{{.+}}, %[[A]]
func.func @on_host(%a: memref<?x?xf32>, %b: memref<*xf32>) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    memref.store %zero, %a[%tx, %ty] : memref<?x?xf32>
    gpu.terminator
  }
  return
}

// -----

// A tensor map is a parameter of 128 bytes, which the hardware reads where it stands; a
// function that the kernel calls gets its address.
!map = !nvgpu.tensormap.descriptor<tensor = memref<64x8xf32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
module attributes {gpu.container_module} {
  // CHECK-LABEL: func.func @host
  // CHECK-SAME:    (%[[MAP:[^:]+]]: !nvgpu.tensormap.descriptor<
  // CHECK:         %[[P:.+]] = builtin.unrealized_conversion_cast %[[MAP]] : {{.+}} to !llvm.ptr
  // CHECK:         gpu.launch_func @maps::@prefetches {{.*}} args(%{{.+}} : memref<f32>, %[[P]] : !llvm.ptr, %{{.+}} : index)
  func.func @host(%map: !map, %a: memref<?x?xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @maps::@prefetches blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%a : memref<?x?xf32>, %map : !map)
    return
  }

  gpu.module @maps {
    // CHECK-LABEL: gpu.func @prefetches
    // CHECK-SAME:    (%[[A:[^:]+]]: memref<f32>, %[[P:[^:]+]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<16 x i64>, llvm.readonly}, %{{[^:]+}}: index) kernel
    // CHECK:         %[[MAP:.+]] = builtin.unrealized_conversion_cast %[[P]] : !llvm.ptr to !nvgpu.tensormap.descriptor<
    // CHECK:         nvgpu.tma.prefetch.descriptor %[[MAP]]
    // CHECK:         %[[Q:.+]] = builtin.unrealized_conversion_cast %[[MAP]]
    // CHECK:         call @helper(%[[Q]]) : (!llvm.ptr) -> ()
    gpu.func @prefetches(%a: memref<?x?xf32>, %map: !map) kernel {
      %c0 = arith.constant 0 : index
      nvgpu.tma.prefetch.descriptor %map : !map
      func.call @helper(%map) : (!map) -> ()
      %v = memref.load %a[%c0, %c0] : memref<?x?xf32>
      memref.store %v, %a[%c0, %c0] : memref<?x?xf32>
      gpu.return
    }

    // CHECK-LABEL: func.func @helper
    // CHECK-SAME:    (%[[P:[^:]+]]: !llvm.ptr)
    // CHECK:         %[[MAP:.+]] = builtin.unrealized_conversion_cast %[[P]]
    // CHECK:         nvgpu.tma.prefetch.descriptor %[[MAP]]
    func.func @helper(%map: !map) {
      nvgpu.tma.prefetch.descriptor %map : !map
      return
    }
  }
}
