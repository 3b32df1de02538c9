// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-hoist-allocs)' --remarks-filter='workgroup.*' --remark-format=emitRemark -o %t 2> %t.remarks
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks
// RUN: mlir-opt %t --pass-pipeline='builtin.module(workgroup-to-nvvm,gpu-module-to-binary{format=isa})' | FileCheck %s --check-prefix=TEXT
// RUN: mlir-opt %t --pass-pipeline='builtin.module(workgroup-to-nvvm,gpu-module-to-binary{format=isa})' | %python -c "import sys; print(sys.stdin.read().replace(chr(92) + '0A', chr(10)).replace(chr(92) + '09', ' '))" | FileCheck %s

// The bytes that a remark names are those that PTX declares, for elements of all
// sizes; each variable is aligned for accesses of 16 bytes.
// CHECK-DAG: .shared .align 16 .b8 __wg_elements_0[16];
// CHECK-DAG: .shared .align 16 .b8 __wg_elements_1[5];
// CHECK-DAG: .shared .align 16 .b8 __wg_elements_2[20];
// CHECK-DAG: .shared .align 16 .b8 __wg_elements_3[32];
// CHECK-DAG: .shared .align 16 .b8 __wg_elements_4[32];
// CHECK-DAG: .shared .align 16 .b8 __wg_elements_5[32];
// CHECK-DAG: .shared .align 16 .b8 __wg_elements_6[10];
// CHECK-DAG: .shared .align 16 .b8 __wg_elements_7[7];
// CHECK-DAG: .shared .align 16 .b8 __wg_elements_8[96];
// CHECK-DAG: .shared .align 16 .b8 __wg_elements_9[24];

// Nothing per thread, nothing allocated, no variable without a byte.
// TEXT-NOT: .local
// TEXT-NOT: malloc
// TEXT-NOT: cvta.shared
// TEXT-NOT: [0];

gpu.module @kernels {
  gpu.func @elements(%a0: memref<64xf32>, %a1: memref<64xi1>, %a2: memref<64xi24>, %a3: memref<64xcomplex<f32>>, %a4: memref<64xvector<3xf16>>, %a5: memref<64xindex>, %a6: memref<64xbf16>, %a7: memref<64xi8>, %a8: memref<64xvector<3xf32>>, %a9: memref<64xf64>) kernel
      attributes {known_block_size = array<i32: 2, 1, 1>} {
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %u = arith.subi %c1, %t : index
    // REMARK: :{{[0-9]+}}:{{[0-9]+}}: remark: {{.*}} Function=elements | Alignment=16, Bytes=16,
    %b0 = memref.alloc() : memref<4xf32, 3>
    // REMARK: :{{[0-9]+}}:{{[0-9]+}}: remark: {{.*}} Function=elements | Alignment=16, Bytes=5,
    %b1 = memref.alloca() : memref<5xi1, #gpu.address_space<workgroup>>
    // REMARK: :{{[0-9]+}}:{{[0-9]+}}: remark: {{.*}} Function=elements | Alignment=16, Bytes=20,
    %b2 = memref.alloc() : memref<5xi24, #nvvm.memory_space<shared>>
    // REMARK: :{{[0-9]+}}:{{[0-9]+}}: remark: {{.*}} Function=elements | Alignment=16, Bytes=32,
    %b3 = memref.alloca() : memref<4xcomplex<f32>, 3>
    // REMARK: :{{[0-9]+}}:{{[0-9]+}}: remark: {{.*}} Function=elements | Alignment=16, Bytes=32,
    %b4 = memref.alloc() : memref<4xvector<3xf16>, #gpu.address_space<workgroup>>
    // REMARK: :{{[0-9]+}}:{{[0-9]+}}: remark: {{.*}} Function=elements | Alignment=16, Bytes=32,
    %b5 = memref.alloca() : memref<4xindex, #nvvm.memory_space<shared>>
    // REMARK: :{{[0-9]+}}:{{[0-9]+}}: remark: {{.*}} Function=elements | Alignment=16, Bytes=10,
    %b6 = memref.alloc() : memref<5xbf16, 3>
    // REMARK: :{{[0-9]+}}:{{[0-9]+}}: remark: {{.*}} Function=elements | Alignment=16, Bytes=7,
    %b7 = memref.alloc() : memref<7xi8, #gpu.address_space<workgroup>>
    // REMARK: :{{[0-9]+}}:{{[0-9]+}}: remark: {{.*}} Function=elements | Alignment=16, Bytes=96,
    %b8 = memref.alloc() : memref<2x3xvector<3xf32>, #nvvm.memory_space<shared>>
    // REMARK: :{{[0-9]+}}:{{[0-9]+}}: remark: {{.*}} Function=elements | Alignment=16, Bytes=24,
    %b9 = memref.alloca() : memref<3xf64, 3>
    %x0 = memref.load %a0[%t] : memref<64xf32>
    memref.store %x0, %b0[%t] : memref<4xf32, 3>
    %x1 = memref.load %a1[%t] : memref<64xi1>
    memref.store %x1, %b1[%t] : memref<5xi1, #gpu.address_space<workgroup>>
    %x2 = memref.load %a2[%t] : memref<64xi24>
    memref.store %x2, %b2[%t] : memref<5xi24, #nvvm.memory_space<shared>>
    %x3 = memref.load %a3[%t] : memref<64xcomplex<f32>>
    memref.store %x3, %b3[%t] : memref<4xcomplex<f32>, 3>
    %x4 = memref.load %a4[%t] : memref<64xvector<3xf16>>
    memref.store %x4, %b4[%t] : memref<4xvector<3xf16>, #gpu.address_space<workgroup>>
    %x5 = memref.load %a5[%t] : memref<64xindex>
    memref.store %x5, %b5[%t] : memref<4xindex, #nvvm.memory_space<shared>>
    %x6 = memref.load %a6[%t] : memref<64xbf16>
    memref.store %x6, %b6[%t] : memref<5xbf16, 3>
    %x7 = memref.load %a7[%t] : memref<64xi8>
    memref.store %x7, %b7[%t] : memref<7xi8, #gpu.address_space<workgroup>>
    %x8 = memref.load %a8[%t] : memref<64xvector<3xf32>>
    memref.store %x8, %b8[%c1, %t] : memref<2x3xvector<3xf32>, #nvvm.memory_space<shared>>
    %x9 = memref.load %a9[%t] : memref<64xf64>
    memref.store %x9, %b9[%t] : memref<3xf64, 3>
    gpu.barrier
    %y0 = memref.load %b0[%u] : memref<4xf32, 3>
    memref.store %y0, %a0[%t] : memref<64xf32>
    %y1 = memref.load %b1[%u] : memref<5xi1, #gpu.address_space<workgroup>>
    memref.store %y1, %a1[%t] : memref<64xi1>
    %y2 = memref.load %b2[%u] : memref<5xi24, #nvvm.memory_space<shared>>
    memref.store %y2, %a2[%t] : memref<64xi24>
    %y3 = memref.load %b3[%u] : memref<4xcomplex<f32>, 3>
    memref.store %y3, %a3[%t] : memref<64xcomplex<f32>>
    %y4 = memref.load %b4[%u] : memref<4xvector<3xf16>, #gpu.address_space<workgroup>>
    memref.store %y4, %a4[%t] : memref<64xvector<3xf16>>
    %y5 = memref.load %b5[%u] : memref<4xindex, #nvvm.memory_space<shared>>
    memref.store %y5, %a5[%t] : memref<64xindex>
    %y6 = memref.load %b6[%u] : memref<5xbf16, 3>
    memref.store %y6, %a6[%t] : memref<64xbf16>
    %y7 = memref.load %b7[%u] : memref<7xi8, #gpu.address_space<workgroup>>
    memref.store %y7, %a7[%t] : memref<64xi8>
    %y8 = memref.load %b8[%c1, %u] : memref<2x3xvector<3xf32>, #nvvm.memory_space<shared>>
    memref.store %y8, %a8[%t] : memref<64xvector<3xf32>>
    %y9 = memref.load %b9[%u] : memref<3xf64, 3>
    memref.store %y9, %a9[%t] : memref<64xf64>
    gpu.return
  }

  // No element, one element, four bits and eight bits that MLIR has names for.
  // CHECK-DAG: .shared .align 16 .f32 __wg_small_1
  // CHECK-DAG: .shared .align 16 .b8 __wg_small_3[5];
  // CHECK-DAG: .shared .align 16 .b8 __wg_small_4[7];
  gpu.func @small(%f: memref<64xf32>, %b: memref<64xi8>) kernel
      attributes {known_block_size = array<i32: 2, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %u = arith.subi %c1, %t : index
    // REMARK: :{{[0-9]+}}:{{[0-9]+}}: remark: {{.*}} Function=small | Alignment=16, Bytes=4,
    %empty = memref.alloc() : memref<0xf32, 3>
    // REMARK: :{{[0-9]+}}:{{[0-9]+}}: remark: {{.*}} Bytes=4,
    %scalar = memref.alloc() : memref<f32, #gpu.address_space<workgroup>>
    // REMARK: :{{[0-9]+}}:{{[0-9]+}}: remark: {{.*}} Bytes=4,
    %flat = memref.alloca() : memref<3x0xf32, 3>
    // REMARK: :{{[0-9]+}}:{{[0-9]+}}: remark: {{.*}} Bytes=5,
    %nibbles = memref.alloca() : memref<5xi4, 3>
    // REMARK: :{{[0-9]+}}:{{[0-9]+}}: remark: {{.*}} Bytes=7,
    %f8 = memref.alloc() : memref<7xf8E4M3FN, 3>
    %n = memref.dim %empty, %c0 : memref<0xf32, 3>
    %x = memref.load %f[%t] : memref<64xf32>
    %y = memref.load %b[%t] : memref<64xi8>
    scf.for %i = %c0 to %n step %c1 {
      memref.store %x, %empty[%i] : memref<0xf32, 3>
      memref.store %x, %flat[%t, %i] : memref<3x0xf32, 3>
    }
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      memref.store %x, %scalar[] : memref<f32, #gpu.address_space<workgroup>>
    }
    %four = arith.trunci %y : i8 to i4
    memref.store %four, %nibbles[%t] : memref<5xi4, 3>
    %eight = arith.bitcast %y : i8 to f8E4M3FN
    memref.store %eight, %f8[%t] : memref<7xf8E4M3FN, 3>
    gpu.barrier
    %s = memref.load %scalar[] : memref<f32, #gpu.address_space<workgroup>>
    memref.store %s, %f[%t] : memref<64xf32>
    %other = memref.load %nibbles[%u] : memref<5xi4, 3>
    %wide = arith.extui %other : i4 to i8
    %g = memref.load %f8[%u] : memref<7xf8E4M3FN, 3>
    %h = arith.bitcast %g : f8E4M3FN to i8
    %sum = arith.addi %wide, %h : i8
    memref.store %sum, %b[%t] : memref<64xi8>
    gpu.return
  }

  // A function that a kernel calls declares its own, of the same size.
  // CHECK-DAG: .shared .align 16 .b8 helper_buffer[20];
  func.func @helper(%x: i24, %t: index, %u: index) -> i24 {
    // REMARK: :{{[0-9]+}}:{{[0-9]+}}: remark: {{.*}} Function=helper | Alignment=16, Bytes=20,
    %a = memref.alloca() : memref<5xi24, 3>
    memref.store %x, %a[%t] : memref<5xi24, 3>
    gpu.barrier
    %y = memref.load %a[%u] : memref<5xi24, 3>
    return %y : i24
  }
  gpu.func @calls(%a: memref<64xi24>) kernel attributes {known_block_size = array<i32: 2, 1, 1>} {
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %u = arith.subi %c1, %t : index
    %x = memref.load %a[%t] : memref<64xi24>
    %y = func.call @helper(%x, %t, %u) : (i24, index, index) -> i24
    memref.store %y, %a[%t] : memref<64xi24>
    gpu.return
  }
}
