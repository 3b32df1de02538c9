// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(gpu.module(workgroup-legalize-for-nvvm))' | FileCheck %s
// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(gpu.module(workgroup-legalize-for-nvvm,canonicalize))' -o %t.once
// RUN: mlir-opt %t.once --split-input-file --pass-pipeline='builtin.module(gpu.module(workgroup-legalize-for-nvvm,canonicalize))' -o %t.twice
// RUN: diff %t.once %t.twice

// Buffers, vectors and views in forms that upstream's conversion takes.

gpu.module @buffers {
  // No access is wider than 16 bytes, so that alignment serves all; more stays.
  // Spellings that the lowering does not know are replaced, and views follow.
  // CHECK-LABEL: gpu.func @attributions
  // CHECK-SAME:    workgroup(%{{[^:]+}} : memref<4xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64},
  // CHECK-SAME:              %[[B:[^:]+]] : memref<8xf32, #gpu.address_space<workgroup>> {llvm.align = 128 : i64},
  // CHECK-SAME:              %{{[^:]+}} : memref<3xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
  // CHECK-SAME:    private(%{{[^:]+}} : memref<2xf32, #gpu.address_space<private>>) kernel
  // CHECK:         %[[BASE:[^,]+]], %{{.*}} = memref.extract_strided_metadata %[[B]] : memref<8xf32, #gpu.address_space<workgroup>>
  // CHECK:         memref.reinterpret_cast %[[BASE]] to offset: [4], sizes: [4], strides: [1] : memref<f32, #gpu.address_space<workgroup>> to memref<4xf32, strided<[1], offset: 4>, #gpu.address_space<workgroup>>
  gpu.func @attributions(%value: f32, %i: index)
      workgroup(%a: memref<4xf32, 3>,
                %b: memref<8xf32, #nvvm.memory_space<shared>> {llvm.align = 128 : i64},
                %c: memref<3xi8, #gpu.address_space<workgroup>> {llvm.align = 4 : i64})
      private(%p: memref<2xf32, #gpu.address_space<private>>) kernel {
    %part = memref.subview %b[4] [4] [1] : memref<8xf32, #nvvm.memory_space<shared>> to memref<4xf32, strided<[1], offset: 4>, #nvvm.memory_space<shared>>
    memref.store %value, %part[%i] : memref<4xf32, strided<[1], offset: 4>, #nvvm.memory_space<shared>>
    gpu.return
  }
}

// -----

gpu.module @structured {
  // One thread does all of the work: loops.
  // CHECK-LABEL: gpu.func @one_thread
  // CHECK-NOT:     linalg
  // CHECK:         scf.for
  // CHECK:           memref.store
  // CHECK:         scf.for
  // CHECK:           scf.for
  // CHECK:             scf.for
  // CHECK:               llvm.intr.fma
  // CHECK-NOT:     linalg
  // CHECK:         gpu.return
  gpu.func @one_thread(%a: memref<8x4xf32>, %b: memref<4x?xf32>, %c: memref<8x?xf32>) kernel
      attributes {known_block_size = array<i32: 1, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%c : memref<8x?xf32>)
    linalg.matmul ins(%a, %b : memref<8x4xf32>, memref<4x?xf32>) outs(%c : memref<8x?xf32>)
    gpu.return
  }

  // A generic that asks for its indices, in a branch.
  // CHECK-LABEL: gpu.func @indices
  // CHECK:         scf.if
  // CHECK:           scf.for %[[I:.+]] = %{{.+}} to %{{.+}} step
  // CHECK:             memref.store %[[I]], %{{.+}}[%[[I]]] : memref<16xindex>
  // CHECK-NOT:     linalg
  // CHECK:         gpu.return
  gpu.func @indices(%a: memref<16xindex>, %c: i1) kernel
      attributes {known_block_size = array<i32: 1, 1, 1>} {
    scf.if %c {
      linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%a : memref<16xindex>) {
      ^bb0(%old: index):
        %i = linalg.index 0 : index
        linalg.yield %i : index
      }
    }
    gpu.return
  }

  // Each thread has a part of its own: by the operand, by control, by memory.
  // CHECK-LABEL: gpu.func @own_part
  // CHECK-COUNT-3: scf.for
  // CHECK-NOT:     linalg
  // CHECK:         gpu.return
  gpu.func @own_part(%a: memref<64x8xf32>, %b: memref<8xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %thread = gpu.thread_id x
    %row = memref.subview %a[%thread, 0] [1, 8] [1, 1] : memref<64x8xf32> to memref<8xf32, strided<[1], offset: ?>>
    linalg.fill ins(%zero : f32) outs(%row : memref<8xf32, strided<[1], offset: ?>>)
    %first = arith.cmpi eq, %thread, %c0 : index
    scf.if %first {
      linalg.fill ins(%zero : f32) outs(%b : memref<8xf32>)
    }
    %mine = memref.alloca() : memref<8xf32>
    linalg.fill ins(%zero : f32) outs(%mine : memref<8xf32>)
    gpu.return
  }
}

// -----

// What upstream's mapping to threads leaves: a tile per thread, by rows and columns.
#tile = affine_map<(d0) -> (d0 * 4)>
#wide = affine_map<(d0)[s0] -> (d0 * 8 + s0)>
gpu.module @mapped {
  // CHECK-LABEL: gpu.func @tiles
  // CHECK-NOT:     linalg
  // CHECK:         gpu.return
  gpu.func @tiles(%a: memref<32x8xf32>, %b: memref<8x64xf32>, %c: memref<32x64xf32>, %n: index, %one: f32) kernel
      attributes {known_block_size = array<i32: 8, 8, 1>} {
    %c0 = arith.constant 0 : index
    %x = gpu.thread_id x
    %y = gpu.thread_id y
    %i = affine.apply #tile(%y)
    %j = affine.apply #wide(%x)[%n]
    %at = memref.subview %a[%i, 0] [4, 8] [1, 1] : memref<32x8xf32> to memref<4x8xf32, strided<[8, 1], offset: ?>>
    %bt = memref.subview %b[0, %j] [8, 8] [1, 1] : memref<8x64xf32> to memref<8x8xf32, strided<[64, 1], offset: ?>>
    %ct = memref.subview %c[%i, %j] [4, 8] [1, 1] : memref<32x64xf32> to memref<4x8xf32, strided<[64, 1], offset: ?>>
    linalg.matmul ins(%at, %bt : memref<4x8xf32, strided<[8, 1], offset: ?>>, memref<8x8xf32, strided<[64, 1], offset: ?>>) outs(%ct : memref<4x8xf32, strided<[64, 1], offset: ?>>)
    %first = arith.cmpi eq, %x, %c0 : index
    scf.if %first {
      %column = memref.subview %c[%i, 0] [4, 1] [1, 1] : memref<32x64xf32> to memref<4xf32, strided<[64], offset: ?>>
      linalg.fill ins(%one : f32) outs(%column : memref<4xf32, strided<[64], offset: ?>>)
    }
    gpu.return
  }
}

// -----

// A last tile that is smaller, and threads that the mapping does not need.
#begin = affine_map<(d0) -> (d0 * 32)>
#size = affine_map<(d0) -> (d0 * -32 + 1000, 32)>
gpu.module @ragged {
  // CHECK-LABEL: gpu.func @last_tile
  // CHECK-NOT:     linalg
  // CHECK:         gpu.return
  gpu.func @last_tile(%a: memref<1000xf32>, %one: f32) kernel
      attributes {known_block_size = array<i32: 32, 4, 1>} {
    %c1 = arith.constant 1 : index
    %x = gpu.thread_id x
    %y = gpu.thread_id y
    %first = arith.cmpi ult, %y, %c1 : index
    scf.if %first {
      %i = affine.apply #begin(%x)
      %n = affine.min #size(%x)
      %tile = memref.subview %a[%i] [%n] [1] : memref<1000xf32> to memref<?xf32, strided<[1], offset: ?>>
      linalg.fill ins(%one : f32) outs(%tile : memref<?xf32, strided<[1], offset: ?>>)
    }
    gpu.return
  }
}

// -----

// Vector operations of any rank become operations on vectors of rank one.
gpu.module @vectors {
  // CHECK-LABEL: gpu.func @contract
  // CHECK-NOT:     vector.contract
  // CHECK-NOT:     vector.outerproduct
  // CHECK-COUNT-6: vector.fma {{.*}} : vector<4xf32>
  // CHECK-NOT:     vector.fma
  // CHECK:         gpu.return
  gpu.func @contract(%a: vector<2x3xf32>, %b: vector<3x4xf32>, %c: vector<2x4xf32>, %out: memref<2xvector<4xf32>>, %i: index) kernel {
    %r = vector.contract {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %a, %b, %c : vector<2x3xf32>, vector<3x4xf32> into vector<2x4xf32>
    %row0 = vector.extract %r[0] : vector<4xf32> from vector<2x4xf32>
    %row1 = vector.extract %r[1] : vector<4xf32> from vector<2x4xf32>
    memref.store %row0, %out[%i] : memref<2xvector<4xf32>>
    memref.store %row1, %out[%i] : memref<2xvector<4xf32>>
    gpu.return
  }

  // Narrow operands are widened first.
  // CHECK-LABEL: gpu.func @contract_mixed
  // CHECK-NOT:     vector.contract
  // CHECK:         arith.extf {{.*}} : vector<4xf16> to vector<4xf32>
  // CHECK:         vector.fma {{.*}} : vector<4xf32>
  // CHECK:         gpu.return
  gpu.func @contract_mixed(%a: vector<2x3xf16>, %b: vector<3x4xf16>, %c: vector<2x4xf32>, %out: memref<2xvector<4xf32>>, %i: index) kernel {
    %r = vector.contract {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %a, %b, %c : vector<2x3xf16>, vector<3x4xf16> into vector<2x4xf32>
    %row0 = vector.extract %r[0] : vector<4xf32> from vector<2x4xf32>
    memref.store %row0, %out[%i] : memref<2xvector<4xf32>>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @dot_mixed
  // CHECK-NOT:     vector.contract
  // CHECK:         arith.extf {{.*}} : vector<4xf16> to vector<4xf32>
  // CHECK:         vector.reduction <add>, %{{.+}} : vector<4xf32> into f32
  // CHECK:         gpu.return
  gpu.func @dot_mixed(%a: vector<4xf16>, %c: f32, %out: memref<f32>) kernel {
    %r = vector.contract {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"], kind = #vector.kind<add>} %a, %a, %c : vector<4xf16>, vector<4xf16> into f32
    memref.store %r, %out[] : memref<f32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @reductions
  // CHECK-NOT:     vector.multi_reduction
  // CHECK-COUNT-4: vector.reduction <add>, %{{.+}} : vector<2xf32> into f32
  // CHECK-COUNT-2: vector.reduction <maximumf>, %{{.+}} : vector<4xf32> into f32
  // CHECK-NOT:     vector.multi_reduction
  // CHECK:         gpu.return
  gpu.func @reductions(%a: vector<2x4xf32>, %b: vector<4xf32>, %x: f32, %out: memref<vector<4xf32>>, %out2: memref<f32>) kernel {
    %columns = vector.multi_reduction <add>, %a, %b [0] : vector<2x4xf32> to vector<4xf32>
    memref.store %columns, %out[] : memref<vector<4xf32>>
    %c = arith.constant dense<0.0> : vector<2xf32>
    %rows = vector.multi_reduction <maximumf>, %a, %c [1] : vector<2x4xf32> to vector<2xf32>
    %row = vector.extract %rows[1] : f32 from vector<2xf32>
    %other = vector.extract %rows[0] : f32 from vector<2xf32>
    memref.store %row, %out2[] : memref<f32>
    memref.store %other, %out2[] : memref<f32>
    gpu.return
  }

  // Transposition and reshaping move elements.
  // CHECK-LABEL: gpu.func @shapes
  // CHECK-NOT:     vector.transpose
  // CHECK-NOT:     vector.shape_cast
  // CHECK:         gpu.return
  gpu.func @shapes(%a: vector<2x3x4xf32>, %out: memref<vector<6xf32>>) kernel {
    %t = vector.transpose %a, [2, 0, 1] : vector<2x3x4xf32> to vector<4x2x3xf32>
    %s = vector.shape_cast %t : vector<4x2x3xf32> to vector<4x6xf32>
    %row = vector.extract %s[2] : vector<6xf32> from vector<4x6xf32>
    memref.store %row, %out[] : memref<vector<6xf32>>
    gpu.return
  }

  // Broadcasts, outer products, slices, masks, scans and gathers; what is left is
  // of rank one.
  // CHECK-LABEL: gpu.func @others
  // CHECK-NOT:     vector.outerproduct
  // CHECK-NOT:     vector.{{extract|insert}}_strided_slice {{.*}} vector<2x4xf32>
  // CHECK-NOT:     vector.create_mask
  // CHECK-NOT:     vector.scan
  // CHECK-NOT:     vector.gather {{.*}} vector<2x4xi32>
  // CHECK-NOT:     vector.interleave {{.*}} vector<2x
  // CHECK:         gpu.return
  gpu.func @others(%a: vector<2x4xf32>, %b: vector<4xf32>, %n: index, %in: memref<?xf32>, %out: memref<2xvector<4xf32>>, %out2: memref<vector<8xf32>>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %row = vector.extract %a[1] : vector<4xf32> from vector<2x4xf32>
    %lead = vector.extract_strided_slice %row {offsets = [1], sizes = [2], strides = [1]} : vector<4xf32> to vector<2xf32>
    %product = vector.outerproduct %lead, %b, %a {kind = #vector.kind<add>} : vector<2xf32>, vector<4xf32>
    %part = vector.extract_strided_slice %product {offsets = [0, 1], sizes = [2, 2], strides = [1, 1]} : vector<2x4xf32> to vector<2x2xf32>
    %placed = vector.insert_strided_slice %part, %product {offsets = [0, 2], strides = [1, 1]} : vector<2x2xf32> into vector<2x4xf32>
    %mask = vector.create_mask %n, %n : vector<2x4xi1>
    %wide = vector.broadcast %b : vector<4xf32> to vector<2x4xf32>
    %chosen = arith.select %mask, %placed, %wide : vector<2x4xi1>, vector<2x4xf32>
    %scan, %last = vector.scan <add>, %chosen, %b {inclusive = true, reduction_dim = 0 : i64} : vector<2x4xf32>, vector<4xf32>
    %scanned = vector.extract %scan[1] : vector<4xf32> from vector<2x4xf32>
    memref.store %scanned, %out[%c0] : memref<2xvector<4xf32>>
    memref.store %last, %out[%c1] : memref<2xvector<4xf32>>
    %both = vector.interleave %a, %chosen : vector<2x4xf32> -> vector<2x8xf32>
    %line = vector.extract %both[1] : vector<8xf32> from vector<2x8xf32>
    memref.store %line, %out2[] : memref<vector<8xf32>>
    %indices = arith.constant dense<[[3, 1, 0, 2], [7, 6, 5, 4]]> : vector<2x4xi32>
    %gathered = vector.gather %in[%n] [%indices], %mask, %wide : memref<?xf32>, vector<2x4xi32>, vector<2x4xi1>, vector<2x4xf32> into vector<2x4xf32>
    %first = vector.extract %gathered[0] : vector<4xf32> from vector<2x4xf32>
    memref.store %first, %out[%c0] : memref<2xvector<4xf32>>
    gpu.return
  }

  // Upstream inserts a row at an index that it does not know into whatever row it
  // reads from the op's memory, and cannot extract one.
  // CHECK-LABEL: gpu.func @dynamic_rows
  // CHECK-NOT:     vector.{{insert|extract}} {{.*}}[%{{.+}}] : vector<4xf32> {{from|into}} vector<2x4xf32>
  // CHECK-NOT:     vector.{{insert|extract}} {{.*}}[%{{.+}}, 1] : f32 {{from|into}} vector<2x4xf32>
  // CHECK:         gpu.return
  gpu.func @dynamic_rows(%a: vector<2x4xf32>, %i: index, %out: memref<2xvector<4xf32>>) kernel {
    %c0 = arith.constant 0 : index
    %row = vector.extract %a[%i] : vector<4xf32> from vector<2x4xf32>
    %element = vector.extract %a[%i, 1] : f32 from vector<2x4xf32>
    %0 = vector.insert %row, %a[%i] : vector<4xf32> into vector<2x4xf32>
    %1 = vector.insert %element, %0[%i, 1] : f32 into vector<2x4xf32>
    %first = vector.extract %1[0] : vector<4xf32> from vector<2x4xf32>
    memref.store %first, %out[%c0] : memref<2xvector<4xf32>>
    gpu.return
  }

  // An access that may leave its memref gets a mask, any other is a plain one.
  // CHECK-LABEL: gpu.func @transfers
  // CHECK-SAME:    (%[[A:[^:]+]]: memref<?xf32>, %[[I:[^:]+]]: index)
  // CHECK:         memref.dim %[[A]]
  // CHECK:         %[[MASK:.+]] = arith.cmpi
  // CHECK:         %[[V:.+]] = vector.maskedload %[[A]][%[[I]]], %[[MASK]]
  // CHECK:         vector.store %[[V]], %[[A]][%[[I]]]
  gpu.func @transfers(%a: memref<?xf32>, %i: index) kernel {
    %zero = arith.constant 0.0 : f32
    %v = vector.transfer_read %a[%i], %zero : memref<?xf32>, vector<4xf32>
    vector.transfer_write %v, %a[%i] {in_bounds = [true]} : vector<4xf32>, memref<?xf32>
    gpu.return
  }
}

// -----

gpu.module @blocks {
  // Where a thread and its warp stand.
  // CHECK-LABEL: gpu.func @places
  // CHECK-NOT:     gpu.{{subgroup|num_subgroups|global_id}}
  // CHECK:         %[[WARP:.+]] = arith.constant 32 : index
  // CHECK:         gpu.return
  gpu.func @places(%out: memref<4xindex>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %0 = gpu.subgroup_id : index
    memref.store %0, %out[%c0] : memref<4xindex>
    %1 = gpu.num_subgroups : index
    memref.store %1, %out[%c1] : memref<4xindex>
    %2 = gpu.subgroup_size : index
    memref.store %2, %out[%c2] : memref<4xindex>
    %3 = gpu.global_id x
    memref.store %3, %out[%c3] : memref<4xindex>
    gpu.return
  }

  // LLVM packs elements in generic memory only.
  // CHECK-LABEL: gpu.func @packed
  // CHECK-SAME:    workgroup(%[[A:.+]] : memref<64xi32, #gpu.address_space<workgroup>> {{.*}})
  // CHECK:         %[[G:.+]] = memref.memory_space_cast %[[A]] : memref<64xi32, #gpu.address_space<workgroup>> to memref<64xi32>
  // CHECK:         vector.compressstore %[[G]]
  // CHECK:         vector.expandload %{{.+}}[%{{.+}}], {{.+}} : memref<64xi32>
  gpu.func @packed(%mask: vector<4xi1>, %v: vector<4xi32>, %i: index, %out: memref<64xi32>) workgroup(%a: memref<64xi32, #gpu.address_space<workgroup>>) kernel {
    vector.compressstore %a[%i], %mask, %v : memref<64xi32, #gpu.address_space<workgroup>>, vector<4xi1>, vector<4xi32>
    %w = vector.expandload %a[%i], %mask, %v : memref<64xi32, #gpu.address_space<workgroup>>, vector<4xi1>, vector<4xi32> into vector<4xi32>
    vector.store %w, %out[%i] : memref<64xi32>, vector<4xi32>
    gpu.return
  }

  // Globals are aligned like attributions.
  // CHECK-LABEL: gpu.func @other
  gpu.func @other() kernel {
    gpu.return
  }
  // CHECK: memref.global "private" @table : memref<64xf32, #gpu.address_space<workgroup>> = uninitialized {alignment = 16 : i64}
  memref.global "private" @table : memref<64xf32, 3> = uninitialized
}

// -----

gpu.module @expansion {
  // Upstream's expansion of views has a size for one dynamic extent of a group.
  // CHECK-LABEL: gpu.func @several_extents
  // CHECK-SAME:    %[[M:[^:]*]]: memref<?xf32>, %[[A:[^:]*]]: index, %[[B:[^:]*]]: index
  // CHECK:         %[[BASE:.*]], %{{.*}}, %{{.*}}, %{{.*}} = memref.extract_strided_metadata %[[M]]
  // CHECK:         %[[STRIDE:.*]] = arith.muli %{{.*}}, %[[B]]
  // CHECK:         memref.reinterpret_cast %[[BASE]] to offset: [0], sizes: [%[[A]], %[[B]]], strides: [%[[STRIDE]], 1] : memref<f32> to memref<?x?xf32>
  // CHECK-NOT:     expand_shape
  gpu.func @several_extents(%m: memref<?xf32>, %a: index, %b: index, %i: index, %v: f32) kernel {
    %view = memref.expand_shape %m [[0, 1]] output_shape [%a, %b] : memref<?xf32> into memref<?x?xf32>
    memref.store %v, %view[%i, %i] : memref<?x?xf32>
    gpu.return
  }

  // Only the group that needs it; the strides of the source go along.
  // CHECK-LABEL: gpu.func @strided
  // CHECK-SAME:    %[[M:[^:]*]]: memref<4x?xf32, strided<[?, ?], offset: ?>, #gpu.address_space<workgroup>>, %[[A:[^:]*]]: index, %[[B:[^:]*]]: index,
  // CHECK:         %[[BASE:.*]], %[[OFFSET:.*]], %{{.*}}, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata %[[M]]
  // CHECK-DAG:     %[[S2:.*]] = arith.muli %[[STRIDES]]#1, %{{.*}}
  // CHECK-DAG:     %[[BY:.*]] = arith.muli %[[B]], %[[STRIDES]]#1
  // CHECK-DAG:     %[[S1:.*]] = arith.muli %[[BY]], %{{.*}}
  // CHECK:         memref.reinterpret_cast %[[BASE]] to offset: [%[[OFFSET]]], sizes: [2, 2, %[[A]], %[[B]], 2], strides: [%{{.*}}, %[[STRIDES]]#0, %[[S1]], %[[S2]], %[[STRIDES]]#1]
  gpu.func @strided(%m: memref<4x?xf32, strided<[?, ?], offset: ?>, #gpu.address_space<workgroup>>, %a: index, %b: index, %i: index, %v: f32) {
    %view = memref.expand_shape %m [[0, 1], [2, 3, 4]] output_shape [2, 2, %a, %b, 2]
        : memref<4x?xf32, strided<[?, ?], offset: ?>, #gpu.address_space<workgroup>>
        into memref<2x2x?x?x2xf32, strided<[?, ?, ?, ?, ?], offset: ?>, #gpu.address_space<workgroup>>
    memref.store %v, %view[%i, %i, %i, %i, %i] : memref<2x2x?x?x2xf32, strided<[?, ?, ?, ?, ?], offset: ?>, #gpu.address_space<workgroup>>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @one_extent_each
  // CHECK:         memref.reinterpret_cast %{{.*}} : memref<f32> to memref<?x4x2x?xf32>
  // CHECK-NOT:     expand_shape
  gpu.func @one_extent_each(%m: memref<?x?xf32>, %a: index, %b: index, %i: index, %v: f32) kernel {
    %view = memref.expand_shape %m [[0, 1], [2, 3]] output_shape [%a, 4, 2, %b] : memref<?x?xf32> into memref<?x4x2x?xf32>
    memref.store %v, %view[%i, %i, %i, %i] : memref<?x4x2x?xf32>
    gpu.return
  }
}

// -----

// Of the affine dialect nothing is left: maps become arithmetic where they are
// applied, loops and accesses those of other dialects.
gpu.module @affine {
  // CHECK-LABEL: gpu.func @maps
  // CHECK-SAME:    %[[A:[^:]*]]: memref<?xf32>, %[[N:[^:]*]]: index
  // CHECK-DAG:     %[[C8:.*]] = arith.constant 8 : index
  // CHECK:         %[[ROWS:.*]] = arith.muli %[[N]], %[[C8]]
  // CHECK:         %[[I:.*]] = arith.addi %[[ROWS]], %[[N]]
  // CHECK:         %[[J:.*]] = arith.minsi %[[I]], %{{.*}}
  // CHECK:         %[[M:.*]] = arith.maxsi %{{.*}}, %{{.*}}
  // CHECK:         %[[K:.*]] = arith.maxsi %[[M]], %{{.*}}
  // CHECK-NOT:     affine.
  // CHECK:         memref.store %{{.*}}, %[[A]][%[[K]]]
  gpu.func @maps(%a: memref<?xf32>, %n: index, %v: f32) kernel {
    %i = affine.apply affine_map<(d0)[s0] -> (d0 * 8 + s0)>(%n)[%n]
    %j = affine.min affine_map<(d0) -> (d0, 7)>(%i)
    %k = affine.max affine_map<(d0) -> (d0 * 2, 3, d0 - 1)>(%j)
    memref.store %v, %a[%k] : memref<?xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @loops
  // CHECK-NOT:     affine.
  // CHECK:         scf.for
  // CHECK:           memref.store
  // CHECK-NOT:     affine.
  // CHECK:         gpu.return
  gpu.func @loops(%a: memref<128xf32>, %v: f32) kernel {
    affine.for %i = 0 to 16 {
      affine.store %v, %a[%i + 3] : memref<128xf32>
    }
    gpu.return
  }
}
