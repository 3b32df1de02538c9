// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-to-nvvm)' | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-to-nvvm,workgroup-to-nvvm)' | FileCheck %s

// Every operation that kernels are written in reaches the LLVM and NVVM dialects;
// the pipeline ends with a check that says which one did not. What it has lowered,
// it may be run on again.

// CHECK: gpu.module @interface [#nvvm.target<{{.*}}chip = "sm_80", features = "+ptx70">]
gpu.module @interface {
  // Pointers and what is used of extents; attributes and sizes are kept.
  // CHECK-LABEL: llvm.func @arguments
  // CHECK-SAME:    (%{{[^:]+}}: !llvm.ptr {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}, %{{[^:]+}}: !llvm.ptr, %{{[^:]+}}: !llvm.ptr<1>, %{{[^:]+}}: f16, %{{[^:]+}}: i1, %{{[^:]+}}: vector<4xf32>, %{{[^:]+}}: i64, %[[N:[^:]+]]: i64)
  // CHECK-SAME:    nvvm.kernel, nvvm.maxntid = array<i32: 64, 2, 1>
  gpu.func @arguments(%a: memref<?x?xf32> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}, %b: memref<8xi1>, %c: memref<8xf16, #gpu.address_space<global>>, %d: f16, %e: i1, %f: vector<4xf32>, %i: index) kernel
      attributes {known_block_size = array<i32: 64, 2, 1>} {
    %v = memref.load %a[%i, %i] : memref<?x?xf32>
    %s = arith.truncf %v : f32 to f16
    %t = arith.addf %s, %d : f16
    memref.store %t, %c[%i] : memref<8xf16, #gpu.address_space<global>>
    memref.store %e, %b[%i] : memref<8xi1>
    gpu.return
  }

  // Functions that kernels call, which may return memrefs.
  // CHECK-LABEL: llvm.func @load
  // CHECK-LABEL: llvm.func @calls
  // CHECK:         llvm.call @load
  func.func @load(%a: memref<?x?xbf16>, %i: index) -> bf16 {
    %v = memref.load %a[%i, %i] : memref<?x?xbf16>
    return %v : bf16
  }
  func.func @choose(%a: memref<8xbf16>) -> memref<8xbf16> {
    return %a : memref<8xbf16>
  }
  gpu.func @calls(%a: memref<?x?xbf16>, %b: memref<8xbf16>, %i: index) kernel {
    %v = func.call @load(%a, %i) : (memref<?x?xbf16>, index) -> bf16
    %c = func.call @choose(%b) : (memref<8xbf16>) -> memref<8xbf16>
    memref.store %v, %c[%i] : memref<8xbf16>
    gpu.return
  }
}

// What is static comes with its alignment; what is dynamic is a symbol that another
// size is given to by each launch, behind it.
// CHECK-LABEL: gpu.module @memory
// CHECK-DAG:     llvm.mlir.global external @dynamic_workgroup_memory() {addr_space = 3 : i32, alignment = 1024 : i64{{.*}}} : !llvm.array<0 x i8>
// CHECK-DAG:     llvm.mlir.global internal @__wg_static_and_dynamic_0() {addr_space = 3 : i32, alignment = 16 : i64{{.*}}} : !llvm.array<3 x i8>
// CHECK-DAG:     llvm.mlir.global internal @__wg_static_and_dynamic_1() {addr_space = 3 : i32, alignment = 128 : i64{{.*}}} : !llvm.array<16 x f32>
// CHECK-DAG:     llvm.mlir.global private @table() {addr_space = 3 : i32, alignment = 64 : i64{{.*}}} : !llvm.array<8 x f32>
// CHECK-DAG:     llvm.mlir.global private @unaligned() {addr_space = 3 : i32, alignment = 16 : i64{{.*}}} : !llvm.array<64 x f32>
// CHECK-DAG:     llvm.mlir.global private constant @weights(dense<{{.*}}> : tensor<4xf32>) {addr_space = 0 : i32{{.*}}} : !llvm.array<4 x f32>
gpu.module @memory {
  memref.global "private" @table : memref<8xf32, #gpu.address_space<workgroup>> = uninitialized {alignment = 64 : i64}
  // Unless it is stated, LLVM takes its alignment to be 16 bytes, and PTX 4.
  memref.global "private" @unaligned : memref<64xf32, #gpu.address_space<workgroup>> = uninitialized
  memref.global "private" constant @weights : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>

  // CHECK-LABEL: llvm.func @static_and_dynamic
  // CHECK:         llvm.mlir.addressof @dynamic_workgroup_memory
  gpu.func @static_and_dynamic(%out: memref<8xf32>, %i: index)
      workgroup(%a: memref<3xi8, #gpu.address_space<workgroup>>,
                %b: memref<16xf32, 3> {llvm.align = 128 : i64})
      private(%p: memref<2xf32, #gpu.address_space<private>>) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %byte = arith.constant 1 : i8
    %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %first = memref.view %bytes[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<16xf32, #gpu.address_space<workgroup>>
    %second = memref.view %bytes[%c64][%i] : memref<?xi8, #gpu.address_space<workgroup>> to memref<?xf32, #gpu.address_space<workgroup>>
    %table = memref.get_global @table : memref<8xf32, #gpu.address_space<workgroup>>
    %weights = memref.get_global @weights : memref<4xf32>
    %w = memref.load %weights[%i] : memref<4xf32>
    memref.store %byte, %a[%i] : memref<3xi8, #gpu.address_space<workgroup>>
    memref.store %w, %b[%i] : memref<16xf32, 3>
    memref.store %w, %first[%i] : memref<16xf32, #gpu.address_space<workgroup>>
    memref.store %w, %second[%i] : memref<?xf32, #gpu.address_space<workgroup>>
    memref.store %w, %table[%i] : memref<8xf32, #gpu.address_space<workgroup>>
    memref.store %w, %p[%i] : memref<2xf32, #gpu.address_space<private>>
    gpu.barrier
    %x = memref.load %second[%i] : memref<?xf32, #gpu.address_space<workgroup>>
    %y = memref.load %p[%i] : memref<2xf32, #gpu.address_space<private>>
    %z = arith.addf %x, %y : f32
    memref.store %z, %out[%i] : memref<8xf32>
    gpu.return
  }

  gpu.func @uses_unaligned(%x: f32, %i: index) kernel {
    %a = memref.get_global @unaligned : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %x, %a[%i] : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.return
  }

  // Views of any kind, atomics, memory of a thread.
  // CHECK-LABEL: llvm.func @views
  gpu.func @views(%a: memref<?x?xf32>, %b: memref<16x8xi32>, %c: memref<256xi8>, %i: index) kernel {
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1 : i32
    %c0 = arith.constant 0 : index
    %part = memref.subview %a[%i, 2] [%i, 4] [2, 1] : memref<?x?xf32> to memref<?x4xf32, strided<[?, 1], offset: ?>>
    memref.store %zero, %part[%i, %i] : memref<?x4xf32, strided<[?, 1], offset: ?>>
    %flat = memref.collapse_shape %a [[0, 1]] : memref<?x?xf32> into memref<?xf32>
    %n = memref.dim %flat, %c0 : memref<?xf32>
    memref.store %zero, %flat[%n] : memref<?xf32>
    %split = memref.expand_shape %b [[0, 1], [2]] output_shape [4, 4, 8] : memref<16x8xi32> into memref<4x4x8xi32>
    memref.store %one, %split[%i, %i, %i] : memref<4x4x8xi32>
    %turned = memref.transpose %b (d0, d1) -> (d1, d0) : memref<16x8xi32> to memref<8x16xi32, strided<[1, 8]>>
    memref.store %one, %turned[%i, %i] : memref<8x16xi32, strided<[1, 8]>>
    %view = memref.view %c[%i][%n] : memref<256xi8> to memref<?xf32>
    memref.store %zero, %view[%i] : memref<?xf32>
    %other = memref.reinterpret_cast %a to offset: [%i], sizes: [4], strides: [%i] : memref<?x?xf32> to memref<4xf32, strided<[?], offset: ?>>
    memref.store %zero, %other[%i] : memref<4xf32, strided<[?], offset: ?>>
    %aligned = memref.assume_alignment %b, 16 : memref<16x8xi32>
    %old = memref.atomic_rmw addi %one, %aligned[%i, %i] : (i32, memref<16x8xi32>) -> i32
    %new = memref.generic_atomic_rmw %b[%i, %c0] : memref<16x8xi32> {
    ^bb0(%x: i32):
      %y = arith.muli %x, %old : i32
      memref.atomic_yield %y : i32
    }
    %mine = memref.alloca() : memref<4xf32>
    memref.store %zero, %mine[%i] : memref<4xf32>
    gpu.return
  }
}

// Math functions are calls of libdevice, half precision by way of single, vectors
// by element. What NVIDIA GPUs have an instruction for needs no call.
// CHECK-LABEL: gpu.module @math
// CHECK-DAG:     llvm.func @__nv_expf(f32) -> f32
// CHECK-DAG:     llvm.func @__nv_pow(f64, f64) -> f64
gpu.module @math {
  // CHECK-LABEL: llvm.func @functions
  // CHECK-SAME:    (%[[X:[^:]+]]: f32, %[[H:[^:]+]]: f16, %[[B:[^:]+]]: bf16, %[[D:[^:]+]]: f64,
  // CHECK:         llvm.call @__nv_expf(%[[X]]) : (f32) -> f32
  // CHECK:         %[[WIDE:.+]] = llvm.fpext %[[H]] : f16 to f32
  // CHECK:         %[[TANH:.+]] = llvm.call @__nv_tanhf(%[[WIDE]])
  // CHECK:         llvm.fptrunc %[[TANH]] : f32 to f16
  // CHECK:         llvm.fpext %[[B]] : bf16 to f32
  // CHECK:         llvm.call @__nv_logf
  // CHECK:         llvm.call @__nv_pow(%[[D]], %[[D]])
  // CHECK-COUNT-4: llvm.call @__nv_sinf
  // CHECK:         llvm.call @__nv_fast_cosf(%[[X]])
  // CHECK:         llvm.call @__nv_fmodf
  // CHECK:         llvm.return
  gpu.func @functions(%x: f32, %h: f16, %b: bf16, %d: f64, %v: vector<4xf32>, %xs: memref<f32>, %hs: memref<f16>, %bs: memref<bf16>, %ds: memref<f64>, %vs: memref<vector<4xf32>>) kernel {
    %0 = math.exp %x : f32
    memref.store %0, %xs[] : memref<f32>
    %1 = math.tanh %h : f16
    memref.store %1, %hs[] : memref<f16>
    %2 = math.log %b : bf16
    memref.store %2, %bs[] : memref<bf16>
    %3 = math.powf %d, %d : f64
    memref.store %3, %ds[] : memref<f64>
    %4 = math.sin %v : vector<4xf32>
    memref.store %4, %vs[] : memref<vector<4xf32>>
    %5 = math.cos %x fastmath<afn> : f32
    memref.store %5, %xs[] : memref<f32>
    %6 = arith.remf %x, %0 : f32
    memref.store %6, %xs[] : memref<f32>
    gpu.return
  }

  // CHECK-LABEL: llvm.func @instructions
  // CHECK-NOT:     llvm.call @
  // CHECK:         llvm.return
  gpu.func @instructions(%x: f32, %y: f32, %n: i32, %h: vector<2xf16>, %b: vector<2xbf16>, %q: i8, %out: memref<8xi32>, %out2: memref<vector<2xf16>>, %out3: memref<vector<2xbf16>>, %i: index) kernel {
    %0 = arith.maximumf %x, %y : f32
    %1 = arith.divf %0, %y : f32
    %2 = arith.fptosi %1 : f32 to i32
    %3 = math.ctlz %n : i32
    %4 = math.ctpop %3 : i32
    %5 = arith.ceildivsi %4, %2 : i32
    %6 = arith.floordivsi %5, %n : i32
    %7, %8 = arith.mulsi_extended %6, %n : i32
    %9 = arith.maxui %7, %8 : i32
    %10 = arith.extsi %q : i8 to i32
    %11 = arith.shli %9, %10 : i32
    %12 = arith.cmpf olt, %x, %y : f32
    %13 = arith.select %12, %11, %n : i32
    %14 = arith.bitcast %x : f32 to i32
    %15 = arith.xori %13, %14 : i32
    %16 = index.castu %i : index to i32
    %17 = index.ceildivs %i, %i
    %18 = index.maxu %17, %i
    %19 = arith.addi %15, %16 : i32
    memref.store %19, %out[%18] : memref<8xi32>
    %20 = arith.mulf %h, %h : vector<2xf16>
    memref.store %20, %out2[] : memref<vector<2xf16>>
    %21 = arith.addf %b, %b : vector<2xbf16>
    memref.store %21, %out3[] : memref<vector<2xbf16>>
    gpu.return
  }
}

// CHECK-LABEL: gpu.module @control
gpu.module @control {
  // CHECK-LABEL: llvm.func @structured
  // CHECK:         llvm.cond_br
  // CHECK:         llvm.switch
  gpu.func @structured(%a: memref<128xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> f32 {
      %v = memref.load %a[%i] : memref<128xf32>
      %t = arith.addf %s, %v : f32
      scf.yield %t : f32
    }
    %m = scf.while (%i = %c0) : (index) -> index {
      %c = arith.cmpi slt, %i, %n : index
      scf.condition(%c) %i : index
    } do {
    ^bb0(%i: index):
      %next = arith.addi %i, %c1 : index
      scf.yield %next : index
    }
    %x = scf.index_switch %m -> f32
    case 2 {
      scf.yield %zero : f32
    }
    case 5 {
      %v = memref.load %a[%m] : memref<128xf32>
      scf.yield %v : f32
    }
    default {
      scf.yield %sum : f32
    }
    %r = scf.execute_region -> f32 {
      %c = arith.cmpi slt, %n, %c1 : index
      cf.cond_br %c, ^bb1, ^bb2
    ^bb1:
      scf.yield %zero : f32
    ^bb2:
      scf.yield %x : f32
    }
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      memref.store %r, %a[%i] : memref<128xf32>
      scf.reduce
    }
    scf.forall (%i) in (%n) {
      memref.store %r, %a[%i] : memref<128xf32>
    }
    %state = arith.index_cast %n : index to i32
    cf.switch %state : i32, [
      default: ^bb1(%r : f32),
      1: ^bb1(%x : f32)
    ]
  ^bb1(%y: f32):
    memref.store %y, %a[%c0] : memref<128xf32>
    gpu.return
  }

  // CHECK-LABEL: llvm.func @affine
  gpu.func @affine(%a: memref<128xf32>, %n: index) kernel {
    %zero = arith.constant 0.0 : f32
    affine.for %i = 0 to 16 step 2 {
      %v = affine.load %a[%i + 3] : memref<128xf32>
      affine.store %v, %a[%i * 2] : memref<128xf32>
    }
    affine.parallel (%i, %j) = (0, 0) to (8, 16) step (2, 4) {
      affine.store %zero, %a[%i + %j] : memref<128xf32>
    }
    affine.if affine_set<(d0) : (d0 - 4 >= 0, d0 mod 2 == 0)>(%n) {
      memref.store %zero, %a[%n] : memref<128xf32>
    }
    %0 = affine.apply affine_map<(d0)[s0] -> (d0 floordiv 3 + s0 mod 5 + d0 ceildiv 7)>(%n)[%n]
    %1 = affine.min affine_map<(d0) -> (d0, 7)>(%0)
    %2:2 = affine.delinearize_index %1 into (4, 8) : index, index
    %3 = affine.linearize_index [%2#1, %2#0] by (8, 4) : index
    %4 = affine.vector_load %a[%3] : memref<128xf32>, vector<4xf32>
    affine.vector_store %4, %a[%n + 8] : memref<128xf32>, vector<4xf32>
    gpu.return
  }
}

// CHECK-LABEL: gpu.module @vectors
gpu.module @vectors {
  // Bounded transfers are masked or guarded, others are one access.
  // CHECK-LABEL: llvm.func @transfers
  // CHECK:         llvm.intr.masked.load
  // CHECK:         llvm.load %{{.+}} {alignment = 4 : i64} : !llvm.ptr -> vector<4xf32>
  gpu.func @transfers(%a: memref<?x?xf32>, %b: memref<16x16xf32>, %i: index) kernel {
    %zero = arith.constant 0.0 : f32
    %0 = vector.transfer_read %a[%i, %i], %zero : memref<?x?xf32>, vector<4xf32>
    %1 = vector.transfer_read %b[%i, %i], %zero {in_bounds = [true]} : memref<16x16xf32>, vector<4xf32>
    %2 = arith.addf %0, %1 : vector<4xf32>
    vector.transfer_write %2, %a[%i, %i] : vector<4xf32>, memref<?x?xf32>
    %3 = vector.transfer_read %a[%i, %i], %zero : memref<?x?xf32>, vector<2x4xf32>
    %4 = vector.transfer_read %b[%i, %i], %zero {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : memref<16x16xf32>, vector<2x4xf32>
    %5 = vector.transfer_read %b[%i, %i], %zero {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (d0, 0)>} : memref<16x16xf32>, vector<2x4xf32>
    %6 = arith.mulf %3, %4 : vector<2x4xf32>
    %7 = arith.addf %5, %6 : vector<2x4xf32>
    %mask = vector.create_mask %i, %i : vector<2x4xi1>
    vector.transfer_write %7, %b[%i, %i], %mask {in_bounds = [true, true]} : vector<2x4xf32>, memref<16x16xf32>
    gpu.return
  }

  // CHECK-LABEL: llvm.func @contract
  // CHECK:         llvm.intr.fmuladd({{.*}}) : (vector<2xf32>, vector<2xf32>, vector<2xf32>)
  gpu.func @contract(%a: memref<16x16xf32>, %i: index) kernel {
    %zero = arith.constant 0.0 : f32
    %0 = vector.transfer_read %a[%i, %i], %zero {in_bounds = [true, true]} : memref<16x16xf32>, vector<2x4xf32>
    %1 = vector.transfer_read %a[%i, %i], %zero {in_bounds = [true, true]} : memref<16x16xf32>, vector<4x2xf32>
    %2 = arith.constant dense<0.0> : vector<2x2xf32>
    %3 = vector.contract {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %0, %1, %2 : vector<2x4xf32>, vector<4x2xf32> into vector<2x2xf32>
    vector.transfer_write %3, %a[%i, %i] {in_bounds = [true, true]} : vector<2x2xf32>, memref<16x16xf32>
    gpu.return
  }

  // Every other kind.
  // CHECK-LABEL: llvm.func @others
  gpu.func @others(%a: memref<128xf32>, %b: memref<128xi32>, %c: memref<8x8x8xf32>, %n: index) kernel {
    %zero = arith.constant 0.0 : f32
    %acc = arith.constant dense<0.0> : vector<4xf32>
    %acc_2d = arith.constant dense<0.0> : vector<4x4xf32>
    %indices = arith.constant dense<[3, 1, 0, 2]> : vector<4xi32>
    %0 = vector.load %a[%n] {alignment = 16 : i64} : memref<128xf32>, vector<8xf32>
    %1 = vector.shape_cast %0 : vector<8xf32> to vector<2x4xf32>
    %2 = vector.multi_reduction <add>, %1, %acc [0] : vector<2x4xf32> to vector<4xf32>
    %3 = vector.outerproduct %2, %2, %acc_2d {kind = #vector.kind<add>} : vector<4xf32>, vector<4xf32>
    %4 = vector.transpose %3, [1, 0] : vector<4x4xf32> to vector<4x4xf32>
    %5 = vector.extract_strided_slice %4 {offsets = [1, 2], sizes = [2, 2], strides = [1, 1]} : vector<4x4xf32> to vector<2x2xf32>
    %6 = vector.insert_strided_slice %5, %3 {offsets = [0, 1], strides = [1, 1]} : vector<2x2xf32> into vector<4x4xf32>
    %7 = vector.extract %6[2] : vector<4xf32> from vector<4x4xf32>
    %8 = vector.insert %7, %6 [0] : vector<4xf32> into vector<4x4xf32>
    %9 = vector.shuffle %7, %2 [0, 5, 2, 7] : vector<4xf32>, vector<4xf32>
    %10 = vector.interleave %9, %7 : vector<4xf32> -> vector<8xf32>
    %11, %12 = vector.deinterleave %10 : vector<8xf32> -> vector<4xf32>
    %13 = vector.fma %11, %12, %9 : vector<4xf32>
    %14 = vector.bitcast %13 : vector<4xf32> to vector<8xf16>
    %15 = vector.bitcast %14 : vector<8xf16> to vector<4xi32>
    vector.store %15, %b[%n] : memref<128xi32>, vector<4xi32>
    %mask = vector.create_mask %n : vector<4xi1>
    %16 = vector.gather %a[%n] [%indices], %mask, %13 : memref<128xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
    vector.scatter %a[%n] [%indices], %mask, %16 : memref<128xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32>
    %17 = vector.maskedload %a[%n], %mask, %16 : memref<128xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
    vector.maskedstore %a[%n], %mask, %17 : memref<128xf32>, vector<4xi1>, vector<4xf32>
    %18 = vector.expandload %a[%n], %mask, %17 : memref<128xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
    vector.compressstore %a[%n], %mask, %18 : memref<128xf32>, vector<4xi1>, vector<4xf32>
    %19 = vector.mask %mask { vector.reduction <maximumf>, %18 : vector<4xf32> into f32 } : vector<4xi1> -> f32
    %20 = vector.broadcast %19 : f32 to vector<4x4xf32>
    %21, %22 = vector.scan <add>, %20, %18 {inclusive = true, reduction_dim = 0 : i64} : vector<4x4xf32>, vector<4xf32>
    %23 = math.exp %21 : vector<4x4xf32>
    %24 = arith.addf %23, %8 : vector<4x4xf32>
    vector.transfer_write %24, %c[%n, %n, %n] : vector<4x4xf32>, memref<8x8x8xf32>
    %25 = vector.step : vector<4xindex>
    %26 = arith.index_cast %25 : vector<4xindex> to vector<4xi32>
    %27 = vector.from_elements %19, %zero : vector<2xf32>
    vector.store %27, %a[%n] : memref<128xf32>, vector<2xf32>
    vector.store %26, %b[%n] : memref<128xi32>, vector<4xi32>
    gpu.return
  }
}

// CHECK-LABEL: gpu.module @gpus
gpu.module @gpus {
  // CHECK-LABEL: llvm.func @threads
  // CHECK:         nvvm.read.ptx.sreg.tid.x
  // CHECK:         nvvm.read.ptx.sreg.nctaid.y
  // CHECK:         nvvm.read.ptx.sreg.laneid
  // CHECK:         nvvm.barrier
  // CHECK:         nvvm.shfl.sync
  gpu.func @threads(%a: memref<128xf32>) kernel {
    %four = arith.constant 4 : i32
    %warp = arith.constant 32 : i32
    %0 = gpu.thread_id x
    %1 = gpu.grid_dim y
    %2 = gpu.lane_id
    %3 = gpu.global_id x
    %4 = arith.addi %0, %1 : index
    %5 = arith.addi %2, %3 : index
    %6 = memref.load %a[%4] : memref<128xf32>
    gpu.barrier
    %7, %8 = gpu.shuffle xor %6, %four, %warp : f32
    %9 = gpu.subgroup_reduce add %7 : (f32) -> f32
    memref.store %9, %a[%5] : memref<128xf32>
    gpu.printf "%f\n", %9 : f32
    gpu.return
  }

  // CHECK-LABEL: llvm.func @matrices
  // CHECK:         nvvm.cp.async.shared.global
  // CHECK:         nvvm.cp.async.commit.group
  // CHECK:         nvvm.cp.async.wait.group
  // CHECK:         nvvm.ldmatrix
  // CHECK:         nvvm.mma.sync
  gpu.func @matrices(%a: memref<16x16xf16>, %c: memref<16x8xf32>, %i: index)
      workgroup(%w: memref<16x16xf16, #gpu.address_space<workgroup>>) kernel {
    %token = nvgpu.device_async_copy %a[%i, %i], %w[%i, %i], 8 : memref<16x16xf16> to memref<16x16xf16, #gpu.address_space<workgroup>>
    %group = nvgpu.device_async_create_group %token
    nvgpu.device_async_wait %group {numGroups = 0 : i32}
    gpu.barrier
    %0 = nvgpu.ldmatrix %w[%i, %i] {numTiles = 4 : i32, transpose = false} : memref<16x16xf16, #gpu.address_space<workgroup>> -> vector<4x2xf16>
    %1 = nvgpu.ldmatrix %w[%i, %i] {numTiles = 2 : i32, transpose = true} : memref<16x16xf16, #gpu.address_space<workgroup>> -> vector<2x2xf16>
    %2 = arith.constant dense<0.0> : vector<2x2xf32>
    %3 = nvgpu.mma.sync (%0, %1, %2) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %4 = vector.extract %3[1] : vector<2xf32> from vector<2x2xf32>
    vector.store %4, %c[%i, %i] : memref<16x8xf32>, vector<2xf32>
    gpu.return
  }

  // CHECK-LABEL: llvm.func @warp_matrices
  // CHECK:         nvvm.wmma.load
  // CHECK:         nvvm.wmma.mma
  // CHECK:         nvvm.wmma.store
  gpu.func @warp_matrices(%a: memref<16x16xf16>, %c: memref<16x16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %0 = gpu.subgroup_mma_load_matrix %a[%c0, %c0] {leadDimension = 16 : index} : memref<16x16xf16> -> !gpu.mma_matrix<16x16xf16, "AOp">
    %1 = gpu.subgroup_mma_load_matrix %a[%c0, %c0] {leadDimension = 16 : index} : memref<16x16xf16> -> !gpu.mma_matrix<16x16xf16, "BOp">
    %2 = gpu.subgroup_mma_constant_matrix %zero : !gpu.mma_matrix<16x16xf32, "COp">
    %3 = gpu.subgroup_mma_compute %0, %1, %2 : !gpu.mma_matrix<16x16xf16, "AOp">, !gpu.mma_matrix<16x16xf16, "BOp"> -> !gpu.mma_matrix<16x16xf32, "COp">
    gpu.subgroup_mma_store_matrix %3, %c[%c0, %c0] {leadDimension = 16 : index} : !gpu.mma_matrix<16x16xf32, "COp">, memref<16x16xf32>
    gpu.return
  }
}

// One thread may have structured operations left.
// CHECK-LABEL: gpu.module @structured
// CHECK:         llvm.func @matmul
// CHECK:           llvm.intr.fma
gpu.module @structured {
  gpu.func @matmul(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>) kernel
      attributes {known_block_size = array<i32: 1, 1, 1>} {
    linalg.matmul ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%c : memref<?x?xf32>)
    gpu.return
  }
}

// Loops carry matrices of warps: upstream's conversion of nvgpu, which changes
// the types of loops, does not know these.
gpu.module @warp_matrices {
  // CHECK-LABEL: llvm.func @sum_of_matrices
  // CHECK:         llvm.cond_br
  // CHECK:         nvvm.wmma.load
  // CHECK:         nvvm.wmma.mma
  // CHECK:         nvvm.wmma.store
  gpu.func @sum_of_matrices(%m: memref<64x16xf16>, %out: memref<16x16xf16>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %half = arith.constant 0.5 : f16
    %none = gpu.subgroup_mma_constant_matrix %half : !gpu.mma_matrix<16x16xf16, "COp">
    %sum = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc = %none) -> (!gpu.mma_matrix<16x16xf16, "COp">) {
      %a = gpu.subgroup_mma_load_matrix %m[%k, %c0] {leadDimension = 16 : index} : memref<64x16xf16> -> !gpu.mma_matrix<16x16xf16, "AOp">
      %b = gpu.subgroup_mma_load_matrix %m[%k, %c0] {leadDimension = 16 : index} : memref<64x16xf16> -> !gpu.mma_matrix<16x16xf16, "BOp">
      %p = gpu.subgroup_mma_compute %a, %b, %acc : !gpu.mma_matrix<16x16xf16, "AOp">, !gpu.mma_matrix<16x16xf16, "BOp"> -> !gpu.mma_matrix<16x16xf16, "COp">
      scf.yield %p : !gpu.mma_matrix<16x16xf16, "COp">
    }
    gpu.subgroup_mma_store_matrix %sum, %out[%c0, %c0] {leadDimension = 16 : index} : !gpu.mma_matrix<16x16xf16, "COp">, memref<16x16xf16>
    gpu.return
  }
}

// Functions of the host are left as they are.
// CHECK-LABEL: func.func @host
// CHECK-SAME:    (%[[A:.+]]: memref<?x?xf32>, %[[V:.+]]: vector<2x4xf32>, %{{.+}}: index) -> vector<4x2xf32>
// CHECK:         scf.for
// CHECK:           affine.apply
// CHECK:           math.exp
// CHECK:         linalg.fill
// CHECK:         memref.copy
// CHECK:         vector.transpose %[[V]]
func.func @host(%a: memref<?x?xf32>, %v: vector<2x4xf32>, %n: index) -> vector<4x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %j = affine.apply affine_map<(d0) -> (d0 * 2)>(%i)
    %x = memref.load %a[%i, %j] : memref<?x?xf32>
    %y = math.exp %x : f32
    memref.store %y, %a[%i, %j] : memref<?x?xf32>
  }
  %zero = arith.constant 0.0 : f32
  %b = memref.alloc(%n, %n) : memref<?x?xf32>
  linalg.fill ins(%zero : f32) outs(%b : memref<?x?xf32>)
  memref.copy %b, %a : memref<?x?xf32> to memref<?x?xf32>
  memref.dealloc %b : memref<?x?xf32>
  %t = vector.transpose %v, [1, 0] : vector<2x4xf32> to vector<4x2xf32>
  return %t : vector<4x2xf32>
}
