// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(gpu.module(workgroup-legalize-for-nvvm))' | FileCheck %s
// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(gpu.module(workgroup-legalize-for-nvvm))' -o %t.once
// RUN: mlir-opt %t.once --split-input-file --pass-pipeline='builtin.module(gpu.module(workgroup-legalize-for-nvvm))' -o %t.twice
// RUN: diff %t.once %t.twice

// A warp reduces by exchanging registers, five times for 32 lanes. Two halves
// share a register; wider elements take two.
gpu.module @full_warps {
  // CHECK-LABEL: gpu.func @subgroup
  // CHECK-NOT:     gpu.subgroup_reduce
  // CHECK-COUNT-5: gpu.shuffle xor {{.*}} : f32
  // CHECK:         memref.store
  // CHECK-NOT:     gpu.subgroup_reduce
  // CHECK:         gpu.return
  gpu.func @subgroup(%x: f32, %out: memref<f32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %sum = gpu.subgroup_reduce add %x : (f32) -> f32
    memref.store %sum, %out[] : memref<f32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @clusters
  // CHECK-COUNT-3: gpu.shuffle xor {{.*}} : f32
  // CHECK-NOT:     gpu.shuffle
  // CHECK:         gpu.return
  gpu.func @clusters(%x: f32, %out: memref<f32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %max = gpu.subgroup_reduce maxnumf %x cluster(size = 8, stride = 4) : (f32) -> f32
    memref.store %max, %out[] : memref<f32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @narrow
  // CHECK-COUNT-5: gpu.shuffle xor {{.*}} : i32
  // CHECK:         memref.store %{{.+}} : memref<vector<2xf16>>
  // CHECK-COUNT-5: gpu.shuffle xor {{.*}} : i32
  // CHECK:         memref.store %{{.+}} : memref<i8>
  // CHECK-NOT:     gpu.subgroup_reduce
  // CHECK:         gpu.return
  gpu.func @narrow(%x: vector<2xf16>, %out: memref<vector<2xf16>>, %y: i8, %out2: memref<i8>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %sum = gpu.subgroup_reduce add %x : (vector<2xf16>) -> vector<2xf16>
    memref.store %sum, %out[] : memref<vector<2xf16>>
    %all = gpu.subgroup_reduce and %y : (i8) -> i8
    memref.store %all, %out2[] : memref<i8>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @wide_vectors
  // CHECK-NOT:     gpu.subgroup_reduce
  // CHECK-COUNT-20: gpu.shuffle xor {{.*}} : i32
  // CHECK-NOT:     gpu.shuffle
  // CHECK:         gpu.return
  gpu.func @wide_vectors(%x: vector<2xf64>, %out: memref<vector<2xf64>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %sum = gpu.subgroup_reduce add %x : (vector<2xf64>) -> vector<2xf64>
    memref.store %sum, %out[] : memref<vector<2xf64>>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @wide(
  // CHECK-NOT:     gpu.subgroup_reduce
  // CHECK-COUNT-30: gpu.shuffle xor {{.*}} : i32
  // CHECK-NOT:     gpu.shuffle
  // CHECK:         gpu.return
  gpu.func @wide(%x: f64, %out: memref<f64>, %y: vector<4xf32>, %out2: memref<vector<4xf32>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %sum = gpu.subgroup_reduce add %x : (f64) -> f64
    memref.store %sum, %out[] : memref<f64>
    %sums = gpu.subgroup_reduce add %y : (vector<4xf32>) -> vector<4xf32>
    memref.store %sums, %out2[] : memref<vector<4xf32>>
    gpu.return
  }
}

// -----

// A block need not have a thread for each lane of its last warp. Lanes without a
// partner keep what they have; the first lane has the result, and hands it on.
gpu.module @partial_warps {
  // Four threads are left for the last of 100.
  // CHECK-LABEL: gpu.func @subgroup
  // CHECK-SAME:    (%[[X:[^:]+]]: f32, %{{.+}}: memref<f32>)
  // CHECK:         %[[ID:.+]] = gpu.thread_id x
  // CHECK:         %[[WARP:.+]] = arith.divui %[[ID]],
  // CHECK:         %[[FIRST:.+]] = arith.muli %[[WARP]],
  // CHECK:         %[[REST:.+]] = arith.subi %{{.+}}, %[[FIRST]]
  // CHECK:         %[[MIN:.+]] = arith.minui %[[REST]],
  // CHECK:         %[[COUNT:.+]] = arith.index_cast %[[MIN]] : index to i32
  // CHECK:         %[[OTHER:.+]], %[[VALID:.+]] = gpu.shuffle xor %[[X]], %{{.+}}, %[[COUNT]] : f32
  // CHECK:         %[[SUM:.+]] = arith.addf %[[X]], %[[OTHER]]
  // CHECK:         arith.select %[[VALID]], %[[SUM]], %[[X]]
  // CHECK-COUNT-4: gpu.shuffle xor %{{.+}}, %[[COUNT]]
  // CHECK:         %[[LAST:.+]] = arith.select
  // CHECK:         %[[ZERO:.+]] = arith.constant 0 : i32
  // CHECK:         %[[RESULT:.+]], %{{.+}} = gpu.shuffle idx %[[LAST]], %[[ZERO]], %[[COUNT]]
  // CHECK:         memref.store %[[RESULT]]
  gpu.func @subgroup(%x: f32, %out: memref<f32>) kernel
      attributes {known_block_size = array<i32: 100, 1, 1>} {
    %sum = gpu.subgroup_reduce add %x : (f32) -> f32
    memref.store %sum, %out[] : memref<f32>
    gpu.return
  }

  // Of 100 threads, clusters of four have all that they need.
  // CHECK-LABEL: gpu.func @complete_clusters
  // CHECK-COUNT-2: gpu.shuffle xor
  // CHECK-NOT:     arith.select
  // CHECK-NOT:     gpu.shuffle
  // CHECK:         gpu.return
  gpu.func @complete_clusters(%x: f32, %out: memref<f32>) kernel
      attributes {known_block_size = array<i32: 100, 1, 1>} {
    %max = gpu.subgroup_reduce maxnumf %x cluster(size = 4) : (f32) -> f32
    memref.store %max, %out[] : memref<f32>
    gpu.return
  }

  // The first lane of a cluster of places 4, 8 and 12 further has these bits clear.
  // CHECK-LABEL: gpu.func @clusters
  // CHECK-COUNT-2: gpu.shuffle xor
  // CHECK:         %[[MASK:.+]] = arith.constant 19 : i32
  // CHECK:         %[[FIRST:.+]] = arith.andi %{{.+}}, %[[MASK]] : i32
  // CHECK:         gpu.shuffle idx %{{.+}}, %[[FIRST]],
  // CHECK-NOT:     gpu.shuffle
  // CHECK:         gpu.return
  gpu.func @clusters(%x: i32, %out: memref<i32>) kernel
      attributes {known_block_size = array<i32: 10, 5, 1>} {
    %max = gpu.subgroup_reduce maxsi %x cluster(size = 4, stride = 4) : (i32) -> i32
    memref.store %max, %out[] : memref<i32>
    gpu.return
  }

  // Twelve threads are the whole block: no lane is twelve or more further.
  // CHECK-LABEL: gpu.func @few
  // CHECK:         %[[COUNT:.+]] = arith.constant 12 : i32
  // CHECK-COUNT-4: gpu.shuffle xor %{{.+}}, %[[COUNT]]
  // CHECK:         gpu.shuffle idx
  // CHECK-NOT:     gpu.shuffle
  // CHECK:         gpu.return
  gpu.func @few(%x: f32, %out: memref<f32>) kernel
      attributes {known_block_size = array<i32: 12, 1, 1>} {
    %sum = gpu.subgroup_reduce mul %x : (f32) -> f32
    memref.store %sum, %out[] : memref<f32>
    gpu.return
  }

  // Of an unknown block, nothing is known of its warps. Each element of a vector
  // goes by itself.
  // CHECK-LABEL: gpu.func @narrow
  // CHECK:         arith.bitcast %{{.+}} : f16 to i16
  // CHECK:         arith.extui %{{.+}} : i16 to i32
  // CHECK:         gpu.shuffle xor %{{.+}} : i32
  // CHECK:         arith.trunci %{{.+}} : i32 to i16
  // CHECK:         arith.bitcast %{{.+}} : i16 to f16
  // CHECK:         arith.addf %{{.+}} : f16
  // CHECK:         gpu.shuffle idx %{{.+}} : i32
  // CHECK:         gpu.shuffle idx %{{.+}} : i32
  // CHECK:         memref.store %{{.+}} : memref<vector<2xf16>>
  // CHECK:         gpu.shuffle idx %{{.+}} : i32
  // CHECK:         memref.store %{{.+}} : memref<i8>
  // CHECK-NOT:     gpu.subgroup_reduce
  // CHECK:         gpu.return
  gpu.func @narrow(%x: vector<2xf16>, %out: memref<vector<2xf16>>, %y: i8, %out2: memref<i8>) kernel {
    %sum = gpu.subgroup_reduce add %x : (vector<2xf16>) -> vector<2xf16>
    memref.store %sum, %out[] : memref<vector<2xf16>>
    %all = gpu.subgroup_reduce and %y : (i8) -> i8
    memref.store %all, %out2[] : memref<i8>
    gpu.return
  }
}

// -----

// A block of several warps reduces through workgroup memory, with a place for
// each warp and one for the result.
gpu.module @blocks {
  // CHECK-LABEL: gpu.func @three_warps
  // CHECK-SAME:    (%[[X:[^:]+]]: f32, %{{.+}}: memref<f32>)
  // CHECK-SAME:    workgroup(%[[BUFFER:[^:]+]] : memref<4xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
  // CHECK:         %[[ID:.+]] = gpu.thread_id x
  // CHECK:         %[[END:.+]] = arith.constant 3 : index
  // CHECK-COUNT-5: gpu.shuffle xor
  // CHECK:         %[[SUM:.+]] = arith.addf
  // CHECK:         %[[LANE:.+]] = arith.remui %[[ID]],
  // CHECK:         %[[IS_FIRST:.+]] = arith.cmpi eq, %[[LANE]],
  // CHECK:         scf.if %[[IS_FIRST]]
  // CHECK:           %[[WARP:.+]] = arith.divui %[[ID]],
  // CHECK:           memref.store %[[SUM]], %[[BUFFER]][%[[WARP]]]
  // CHECK:         gpu.barrier
  // CHECK:         %[[HAS_WARP:.+]] = arith.cmpi ult, %[[ID]],
  // CHECK:         scf.if %[[HAS_WARP]]
  // CHECK:           %[[OWN:.+]] = memref.load %[[BUFFER]][%[[ID]]]
  // CHECK:           %[[COUNT:.+]] = arith.constant 3 : i32
  // CHECK:           %[[OTHER:.+]], %[[VALID:.+]] = gpu.shuffle xor %[[OWN]], %{{.+}}, %[[COUNT]]
  // CHECK:           %[[TWO:.+]] = arith.addf %[[OWN]], %[[OTHER]]
  // CHECK:           %[[KEPT:.+]] = arith.select %[[VALID]], %[[TWO]], %[[OWN]]
  // CHECK:           gpu.shuffle xor %[[KEPT]]
  // CHECK:           %[[ALL:.+]] = arith.select
  // CHECK-NOT:       gpu.shuffle
  // CHECK:           %[[IS_ONE:.+]] = arith.cmpi eq, %[[ID]],
  // CHECK:           scf.if %[[IS_ONE]]
  // CHECK:             memref.store %[[ALL]], %[[BUFFER]][%[[END]]]
  // CHECK:         gpu.barrier
  // CHECK:         %[[RESULT:.+]] = memref.load %[[BUFFER]][%[[END]]]
  // CHECK:         memref.store %[[RESULT]], %{{.+}}[] : memref<f32>
  gpu.func @three_warps(%x: f32, %out: memref<f32>) kernel
      attributes {known_block_size = array<i32: 96, 1, 1>} {
    %sum = gpu.all_reduce add %x uniform {} : (f32) -> f32
    memref.store %sum, %out[] : memref<f32>
    gpu.return
  }

  // Nothing is selected among numbers of lanes that are powers of two.
  // CHECK-LABEL: gpu.func @eight_warps
  // CHECK-SAME:    memref<9xi32, #gpu.address_space<workgroup>>
  // CHECK-NOT:     arith.select
  // CHECK:         gpu.return
  gpu.func @eight_warps(%x: i32, %out: memref<i32>) kernel
      attributes {known_block_size = array<i32: 16, 8, 2>} {
    %all = gpu.all_reduce and %x uniform {} : (i32) -> i32
    memref.store %all, %out[] : memref<i32>
    gpu.return
  }

  // One warp needs neither memory nor barriers.
  // CHECK-LABEL: gpu.func @one_warp
  // CHECK-NOT:     workgroup(
  // CHECK-NOT:     gpu.barrier
  // CHECK-COUNT-5: gpu.shuffle xor
  // CHECK-NOT:     gpu.shuffle
  // CHECK:         gpu.return
  gpu.func @one_warp(%x: f32, %out: memref<f32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %sum = gpu.all_reduce add %x uniform {} : (f32) -> f32
    memref.store %sum, %out[] : memref<f32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @part_of_a_warp
  // CHECK-NOT:     gpu.barrier
  // CHECK-COUNT-3: gpu.shuffle xor
  // CHECK:         gpu.shuffle idx
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @part_of_a_warp(%x: f32, %out: memref<f32>) kernel
      attributes {known_block_size = array<i32: 7, 1, 1>} {
    %sum = gpu.all_reduce add %x uniform {} : (f32) -> f32
    memref.store %sum, %out[] : memref<f32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @one_thread
  // CHECK-SAME:    (%[[X:[^:]+]]: f32, %[[OUT:[^:]+]]: memref<f32>) kernel
  // CHECK-NEXT:    memref.store %[[X]], %[[OUT]][]
  // CHECK-NEXT:    gpu.return
  gpu.func @one_thread(%x: f32, %out: memref<f32>) kernel
      attributes {known_block_size = array<i32: 1, 1, 1>} {
    %sum = gpu.all_reduce add %x uniform {} : (f32) -> f32
    memref.store %sum, %out[] : memref<f32>
    gpu.return
  }

  // Reductions of one type share a buffer, in loops too: a result is read before
  // the barrier that follows the next warps' stores, and those come after the
  // barrier that follows the last warps' loads.
  // CHECK-LABEL: gpu.func @shared_buffer
  // CHECK-SAME:    workgroup(%[[A:[^:]+]] : memref<33xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}, %[[B:[^:]+]] : memref<33xi64, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}) kernel
  // CHECK:         scf.for
  // CHECK-NOT:       gpu.barrier
  // CHECK:           memref.store %{{.+}}, %[[A]][
  // CHECK-COUNT-2:   gpu.barrier
  // CHECK-NOT:       gpu.barrier
  // CHECK:           scf.yield %{{.+}} : f32
  // CHECK-NOT:     gpu.barrier
  // CHECK:         memref.store %{{.+}}, %[[A]][
  // CHECK-COUNT-2: gpu.barrier
  // CHECK-NOT:     gpu.barrier
  // CHECK:         memref.store %{{.+}}, %[[B]][
  // CHECK-COUNT-2: gpu.barrier
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @shared_buffer(%x: f32, %y: i64, %n: index, %out: memref<f32>, %out2: memref<i64>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%z = %x) -> f32 {
      %next = gpu.all_reduce add %z uniform {} : (f32) -> f32
      scf.yield %next : f32
    }
    %last = gpu.all_reduce maximumf %sum uniform {} : (f32) -> f32
    memref.store %last, %out[] : memref<f32>
    %other = gpu.all_reduce xor %y uniform {} : (i64) -> i64
    memref.store %other, %out2[] : memref<i64>
    gpu.return
  }
}

// -----

// What combines two values may be any code. It is run for lanes that exist only:
// it may divide.
gpu.module @regions {
  // CHECK-LABEL: gpu.func @region
  // CHECK:         %[[OTHER:.+]], %[[VALID:.+]] = gpu.shuffle xor %[[X:.+]], %{{.+}}, %{{.+}} : i32
  // CHECK:         %[[VALUE:.+]] = scf.if %[[VALID]] -> (i32) {
  // CHECK-NEXT:      %[[REST:.+]] = arith.remui %[[X]], %[[OTHER]] : i32
  // CHECK-NEXT:      scf.yield %[[REST]] : i32
  // CHECK-NEXT:    } else {
  // CHECK-NEXT:      scf.yield %[[X]] : i32
  // CHECK:         gpu.shuffle xor %[[VALUE]]
  gpu.func @region(%x: i32, %out: memref<i32>) kernel
      attributes {known_block_size = array<i32: 70, 1, 1>} {
    %all = gpu.all_reduce %x uniform {
    ^bb0(%lhs: i32, %rhs: i32):
      %rest = arith.remui %lhs, %rhs : i32
      gpu.yield %rest : i32
    } : (i32) -> i32
    memref.store %all, %out[] : memref<i32>
    gpu.return
  }

  // Of several blocks, too. What one lane makes of the values of a full warp is
  // the result, as another may make something else of them.
  // CHECK-LABEL: gpu.func @branches
  // CHECK:         gpu.shuffle xor
  // CHECK:         %[[VALUE:.+]] = scf.execute_region -> i32 {
  // CHECK:           cf.cond_br
  // CHECK:           scf.yield
  // CHECK:           scf.yield
  // CHECK:         gpu.shuffle xor %[[VALUE]]
  // CHECK-COUNT-3: gpu.shuffle xor
  // CHECK:         gpu.shuffle idx
  // CHECK-NOT:     gpu.shuffle
  // CHECK:         gpu.return
  gpu.func @branches(%x: i32, %out: memref<i32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %all = gpu.all_reduce %x uniform {
    ^bb0(%lhs: i32, %rhs: i32):
      %is_less = arith.cmpi slt, %lhs, %rhs : i32
      cf.cond_br %is_less, ^bb1, ^bb2
    ^bb1:
      gpu.yield %lhs : i32
    ^bb2:
      gpu.yield %rhs : i32
    } : (i32) -> i32
    memref.store %all, %out[] : memref<i32>
    gpu.return
  }
}

// -----

// The buffer of a function is a variable of its module.
gpu.module @functions {
  // CHECK:       memref.global "private" @mean_reduction : memref<33xf32, #gpu.address_space<workgroup>> = uninitialized {alignment = 16 : i64}
  // CHECK-LABEL: func.func @mean
  // CHECK:         %[[BUFFER:.+]] = memref.get_global @mean_reduction
  // CHECK-NOT:     memref.get_global
  // CHECK:         memref.store %{{.+}}, %[[BUFFER]]
  // CHECK-COUNT-2: gpu.barrier
  // CHECK:         memref.store %{{.+}}, %[[BUFFER]]
  // CHECK-COUNT-2: gpu.barrier
  // CHECK-NOT:     gpu.barrier
  // CHECK:         return
  func.func @mean(%x: f32, %weight: f32) -> f32 {
    %product = arith.mulf %x, %weight : f32
    %sum = gpu.all_reduce add %product uniform {} : (f32) -> f32
    %weights = gpu.all_reduce add %weight uniform {} : (f32) -> f32
    %mean = arith.divf %sum, %weights : f32
    return %mean : f32
  }
  // CHECK-LABEL: gpu.func @calls
  gpu.func @calls(%x: f32, %weight: f32, %out: memref<f32>) kernel {
    %mean = func.call @mean(%x, %weight) : (f32, f32) -> f32
    memref.store %mean, %out[] : memref<f32>
    gpu.return
  }
}
