// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies)' | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies)' -o %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-lower-copies)' -o %t.twice
// RUN: diff %t.once %t.twice

// How wide accesses are, by the type, number and alignment of elements.

gpu.module @widths {
  // 16 bytes at a time: what does not fit into 64 threads goes to the first 16, the
  // rest of three elements to the first three.
  // CHECK-LABEL: gpu.func @static_rest
  // CHECK:         vector.load %{{.+}} : memref<323xf32>, vector<4xf32>
  // CHECK:         vector.store
  // CHECK:         scf.if
  // CHECK:           vector.load
  // CHECK:           vector.store
  // CHECK:         %[[C3:.+]] = arith.constant 3 : index
  // CHECK:         %[[LAST:.+]] = arith.cmpi ult, %[[T:.+]], %[[C3]] : index
  // CHECK:         scf.if %[[LAST]] {
  // CHECK:           %[[I:.+]] = arith.addi %{{.+}}, %[[T]]
  // CHECK:           %[[V:.+]] = memref.load %{{.+}}[%[[I]]]
  // CHECK:           memref.store %[[V]], %{{.+}}[%[[I]]]
  gpu.func @static_rest(%in: memref<323xf32> {llvm.align = 16}, %out: memref<323xf32> {llvm.align = 16}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %in, %out : memref<323xf32> to memref<323xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @dynamic_rest
  // CHECK-SAME:    (%[[IN:.+]]: memref<?xf32> {llvm.align = 16 : i64}, %{{.+}}: memref<?xf32>
  // CHECK:         %[[N:.+]] = memref.dim %[[IN]]
  // CHECK:         %[[QUADS:.+]] = arith.divui %[[N]], %{{.+}} : index
  // CHECK:         scf.for %[[T:.+]] = %{{.+}} to %[[QUADS]] step
  // CHECK:           vector.load
  // CHECK:           vector.store
  // CHECK-DAG:     %[[FIRST:.+]] = arith.muli %[[QUADS]]
  // CHECK-DAG:     %[[REST:.+]] = arith.remui %[[N]], %{{.+}} : index
  // CHECK:         scf.for %[[U:.+]] = %{{.+}} to %[[REST]] step
  // CHECK:           %[[I:.+]] = arith.addi %[[FIRST]], %[[U]]
  // CHECK:           memref.load %[[IN]][%[[I]]]
  gpu.func @dynamic_rest(%in: memref<?xf32> {llvm.align = 16}, %out: memref<?xf32> {llvm.align = 16}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %in, %out : memref<?xf32> to memref<?xf32>
    gpu.return
  }

  // Each thread by itself: the vectors, then the rest.
  // CHECK-LABEL: gpu.func @rest_per_thread
  // CHECK:         scf.for
  // CHECK:           vector.load %{{.+}} : memref<31xf32>, vector<4xf32>
  // CHECK:         scf.for
  // CHECK:           memref.load
  gpu.func @rest_per_thread(%in: memref<31xf32> {llvm.align = 16}, %out: memref<31xf32> {llvm.align = 16}) kernel
      attributes {known_block_size = array<i32: 1, 1, 1>} {
    memref.copy %in, %out : memref<31xf32> to memref<31xf32>
    gpu.return
  }

  // Elements that memory holds without gaps, and whose size is a power of two, are
  // read together.
  // CHECK-LABEL: gpu.func @bytes
  // CHECK:         vector.load %{{.+}} : memref<1024xi8>, vector<16xi8>
  gpu.func @bytes(%in: memref<1024xi8> {llvm.align = 16}, %out: memref<1024xi8> {llvm.align = 16}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %in, %out : memref<1024xi8> to memref<1024xi8>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @f8
  // CHECK:         vector.load %{{.+}} : memref<1024xf8E4M3FN>, vector<16xf8E4M3FN>
  gpu.func @f8(%in: memref<1024xf8E4M3FN> {llvm.align = 16}, %out: memref<1024xf8E4M3FN> {llvm.align = 16}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %in, %out : memref<1024xf8E4M3FN> to memref<1024xf8E4M3FN>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @bf16
  // CHECK:         vector.load %{{.+}} : memref<512xbf16>, vector<8xbf16>
  gpu.func @bf16(%in: memref<512xbf16> {llvm.align = 16}, %out: memref<512xbf16> {llvm.align = 16}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %in, %out : memref<512xbf16> to memref<512xbf16>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @index
  // CHECK:         vector.load %{{.+}} : memref<128xindex>, vector<2xindex>
  gpu.func @index(%in: memref<128xindex> {llvm.align = 16}, %out: memref<128xindex> {llvm.align = 16}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %in, %out : memref<128xindex> to memref<128xindex>
    gpu.return
  }

  // The others one by one: a vector of bits, of half bytes or of 24 bits would not
  // be what lies in memory, a pair is no number, and a vector is wide enough.
  // CHECK-LABEL: gpu.func @i1
  // CHECK:         memref.load %{{.+}} : memref<64xi1>
  gpu.func @i1(%in: memref<64xi1> {llvm.align = 16}, %out: memref<64xi1> {llvm.align = 16}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %in, %out : memref<64xi1> to memref<64xi1>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @i4
  // CHECK:         memref.load %{{.+}} : memref<64xi4>
  gpu.func @i4(%in: memref<64xi4> {llvm.align = 16}, %out: memref<64xi4> {llvm.align = 16}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %in, %out : memref<64xi4> to memref<64xi4>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @i24
  // CHECK:         memref.load %{{.+}} : memref<64xi24>
  gpu.func @i24(%in: memref<64xi24> {llvm.align = 16}, %out: memref<64xi24> {llvm.align = 16}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %in, %out : memref<64xi24> to memref<64xi24>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @complex
  // CHECK:         memref.load %{{.+}} : memref<64xcomplex<f32>>
  gpu.func @complex(%in: memref<64xcomplex<f32>> {llvm.align = 16}, %out: memref<64xcomplex<f32>> {llvm.align = 16}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %in, %out : memref<64xcomplex<f32>> to memref<64xcomplex<f32>>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @vector
  // CHECK:         memref.load %{{.+}} : memref<64xvector<4xf32>>
  gpu.func @vector(%in: memref<64xvector<4xf32>>, %out: memref<64xvector<4xf32>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %in, %out : memref<64xvector<4xf32>> to memref<64xvector<4xf32>>
    gpu.return
  }
}

gpu.module @conversions {
  // linalg.copy may convert. As many elements at a time as fit on the wider side.
  // CHECK-LABEL: gpu.func @extend
  // CHECK:         %[[V:.+]] = vector.load %{{.+}} {alignment = 8 : i64} : memref<256xf16>, vector<4xf16>
  // CHECK:         %[[W:.+]] = arith.extf %[[V]] : vector<4xf16> to vector<4xf32>
  // CHECK:         vector.store %[[W]], %{{.+}} {alignment = 16 : i64} : memref<256xf32>, vector<4xf32>
  gpu.func @extend(%in: memref<256xf16> {llvm.align = 16}, %out: memref<256xf32> {llvm.align = 16}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    linalg.copy ins(%in : memref<256xf16>) outs(%out : memref<256xf32>)
    gpu.return
  }
  // CHECK-LABEL: gpu.func @unsigned
  // CHECK:         arith.fptoui %{{.+}} : vector<4xf32> to vector<4xi8>
  // CHECK:         vector.store %{{.+}} {alignment = 4 : i64} : memref<256xi8>, vector<4xi8>
  gpu.func @unsigned(%in: memref<256xf32> {llvm.align = 16}, %out: memref<256xi8> {llvm.align = 16}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    linalg.copy {cast = #linalg.type_fn<cast_unsigned>} ins(%in : memref<256xf32>) outs(%out : memref<256xi8>)
    gpu.return
  }
  // CHECK-LABEL: gpu.func @scalar
  // CHECK:         %[[V:.+]] = memref.load %{{.+}}[] : memref<f64>
  // CHECK:         %[[W:.+]] = arith.truncf %[[V]] : f64 to f32
  // CHECK:         memref.store %[[W]]
  gpu.func @scalar(%in: memref<f64>, %out: memref<f32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    linalg.copy ins(%in : memref<f64>) outs(%out : memref<f32>)
    gpu.return
  }
  // CHECK-LABEL: gpu.func @none
  // CHECK:         %[[V:.+]] = vector.load
  // CHECK-NEXT:    vector.store %[[V]]
  gpu.func @none(%in: memref<256xf32> {llvm.align = 16}, %out: memref<256xf32> {llvm.align = 16}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    linalg.copy ins(%in : memref<256xf32>) outs(%out : memref<256xf32>)
    gpu.return
  }
}

gpu.module @fills {
  // A fill that all threads execute together is spread like a copy: 256 elements
  // are 32 vectors for 32 threads.
  // CHECK-LABEL: gpu.func @whole_block
  // CHECK-SAME:    (%[[X:[a-z0-9]+]]: f16
  // CHECK-NOT:     linalg.fill
  // CHECK:         %[[V:.+]] = vector.broadcast %[[X]] : f16 to vector<8xf16>
  // CHECK:         vector.store %[[V]], %{{.+}} {alignment = 16 : i64} : memref<256xf16, #gpu.address_space<workgroup>>, vector<8xf16>
  // CHECK:         gpu.barrier
  // CHECK:         memref.load
  gpu.func @whole_block(%x: f16, %out: memref<16x16xf16>, %i: index)
      workgroup(%a: memref<16x16xf16, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    linalg.fill ins(%x : f16) outs(%a : memref<16x16xf16, #gpu.address_space<workgroup>>)
    %v = memref.load %a[%i, %i] : memref<16x16xf16, #gpu.address_space<workgroup>>
    memref.store %v, %out[%i, %i] : memref<16x16xf16>
    gpu.return
  }

  // What a thread fills by itself is left to others.
  // CHECK-LABEL: gpu.func @by_thread
  // CHECK-COUNT-3: linalg.fill
  gpu.func @by_thread(%x: f32, %out: memref<32x16xf32>, %y: memref<32xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %thread = gpu.thread_id x
    %row = memref.subview %out[%thread, 0] [1, 16] [1, 1] : memref<32x16xf32> to memref<16xf32, strided<[1], offset: ?>>
    linalg.fill ins(%x : f32) outs(%row : memref<16xf32, strided<[1], offset: ?>>)
    %mine = memref.alloca() : memref<4xf32>
    linalg.fill ins(%x : f32) outs(%mine : memref<4xf32>)
    %z = memref.load %y[%thread] : memref<32xf32>
    linalg.fill ins(%z : f32) outs(%out : memref<32x16xf32>)
    gpu.return
  }
}
