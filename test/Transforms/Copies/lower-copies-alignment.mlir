// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{strategy=sync insert-barriers=false})' | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{strategy=sync insert-barriers=false assume-alignment=16})' | FileCheck %s --check-prefix=ASSUME
// RUN: mlir-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(workgroup-lower-copies{strategy=sync insert-barriers=false})))' | FileCheck %s --check-prefix=FUNCTION

// Accesses are as wide as their alignment is proved to be, and no wider.

gpu.module @arguments {
  // An argument has the alignment of its element, ...
  // CHECK-LABEL:  gpu.func @unknown
  // CHECK:          memref.load %{{.+}} : memref<256xf32>
  // ... unless whoever launches promises more for all of them, ...
  // ASSUME-LABEL: gpu.func @unknown
  // ASSUME:         vector.load %{{.+}} {alignment = 16 : i64} : memref<256xf32>, vector<4xf32>
  gpu.func @unknown(%in: memref<256xf32>, %out: memref<256xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %in, %out : memref<256xf32> to memref<256xf32>
    gpu.return
  }
  // ... or an attribute does for one: the smaller one of the two sides counts, ...
  // CHECK-LABEL:  gpu.func @attribute
  // CHECK:          vector.load %{{.+}} {alignment = 8 : i64} : memref<256xf32>, vector<2xf32>
  // ASSUME-LABEL: gpu.func @attribute
  // ASSUME:         vector.load %{{.+}} {alignment = 8 : i64} : memref<256xf32>, vector<2xf32>
  gpu.func @attribute(%in: memref<256xf32> {llvm.align = 32}, %out: memref<256xf32> {llvm.align = 8}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %in, %out : memref<256xf32> to memref<256xf32>
    gpu.return
  }
  // ... or an operation does, for the place where a view begins.
  // CHECK-LABEL:  gpu.func @assumption
  // CHECK:          vector.load %{{.+}} {alignment = 16 : i64} : memref<256xf32, strided<[1], offset: ?>>, vector<4xf32>
  gpu.func @assumption(%in: memref<1024xf32>, %out: memref<256xf32> {llvm.align = 16}, %i: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %part = memref.subview %in[%i] [256] [1] : memref<1024xf32> to memref<256xf32, strided<[1], offset: ?>>
    %aligned = memref.assume_alignment %part, 16 : memref<256xf32, strided<[1], offset: ?>>
    memref.copy %aligned, %out : memref<256xf32, strided<[1], offset: ?>> to memref<256xf32>
    gpu.return
  }
  // The option is about what is launched, not about what kernels pass on.
  // ASSUME-LABEL: func.func @device_function
  // ASSUME:         memref.load %{{.+}} : memref<256xf32, 1>
  func.func @device_function(%in: memref<256xf32, 1>, %out: memref<256xf32, 1>) {
    memref.copy %in, %out : memref<256xf32, 1> to memref<256xf32, 1>
    return
  }
}

gpu.module @offsets {
  // The start of a slice: 2 elements on, 4 elements on.
  // CHECK-LABEL:  gpu.func @constant
  // CHECK:          vector.load %{{.+}} {alignment = 8 : i64} : memref<128xf32, strided<[1], offset: 2>>, vector<2xf32>
  // CHECK:          vector.load %{{.+}} {alignment = 16 : i64} : memref<256xf32, strided<[1], offset: 4>>, vector<4xf32>
  gpu.func @constant(%in: memref<1024xf32> {llvm.align = 16}, %a: memref<128xf32> {llvm.align = 16}, %b: memref<256xf32> {llvm.align = 16}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %two = memref.subview %in[2] [128] [1] : memref<1024xf32> to memref<128xf32, strided<[1], offset: 2>>
    memref.copy %two, %a : memref<128xf32, strided<[1], offset: 2>> to memref<128xf32>
    %four = memref.subview %in[4] [256] [1] : memref<1024xf32> to memref<256xf32, strided<[1], offset: 4>>
    memref.copy %four, %b : memref<256xf32, strided<[1], offset: 4>> to memref<256xf32>
    gpu.return
  }

  // Tiles of a block and of a loop begin at multiples of their size; any index at
  // all would not.
  // CHECK-LABEL:  gpu.func @dynamic
  // CHECK:          scf.for
  // CHECK:            vector.load %{{.+}} {alignment = 16 : i64}
  // CHECK:          memref.load
  gpu.func @dynamic(%in: memref<4096x4096xf32> {llvm.align = 16}, %out: memref<16x16xf32> {llvm.align = 16}, %i: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c4096 = arith.constant 4096 : index
    %y = gpu.block_id y
    %row = affine.apply affine_map<(d0) -> (d0 * 16)>(%y)
    scf.for %k = %c0 to %c4096 step %c16 {
      %tile = memref.subview %in[%row, %k] [16, 16] [1, 1] : memref<4096x4096xf32> to memref<16x16xf32, strided<[4096, 1], offset: ?>>
      memref.copy %tile, %out : memref<16x16xf32, strided<[4096, 1], offset: ?>> to memref<16x16xf32>
    }
    %anywhere = memref.subview %in[%row, %i] [16, 16] [1, 1] : memref<4096x4096xf32> to memref<16x16xf32, strided<[4096, 1], offset: ?>>
    memref.copy %anywhere, %out : memref<16x16xf32, strided<[4096, 1], offset: ?>> to memref<16x16xf32>
    gpu.return
  }

  // A loop that starts at an odd place stays odd, a shift multiplies, and of two
  // candidates the worse one counts.
  // CHECK-LABEL:  gpu.func @arithmetic
  // CHECK:          scf.for
  // CHECK:            vector.load %{{.+}} {alignment = 8 : i64}
  // CHECK:          vector.load %{{.+}} {alignment = 16 : i64}
  // CHECK:          vector.load %{{.+}} {alignment = 8 : i64}
  gpu.func @arithmetic(%in: memref<4096xf32> {llvm.align = 16}, %out: memref<256xf32> {llvm.align = 16}, %i: index, %c: i1) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c2 = arith.constant 2 : index
    %c16 = arith.constant 16 : index
    %c1024 = arith.constant 1024 : index
    scf.for %k = %c2 to %c1024 step %c16 {
      %part = memref.subview %in[%k] [256] [1] : memref<4096xf32> to memref<256xf32, strided<[1], offset: ?>>
      memref.copy %part, %out : memref<256xf32, strided<[1], offset: ?>> to memref<256xf32>
    }
    %shifted = arith.shli %i, %c2 : index
    %part = memref.subview %in[%shifted] [256] [1] : memref<4096xf32> to memref<256xf32, strided<[1], offset: ?>>
    memref.copy %part, %out : memref<256xf32, strided<[1], offset: ?>> to memref<256xf32>
    %chosen = arith.select %c, %shifted, %c2 : index
    %other = memref.subview %in[%chosen] [256] [1] : memref<4096xf32> to memref<256xf32, strided<[1], offset: ?>>
    memref.copy %other, %out : memref<256xf32, strided<[1], offset: ?>> to memref<256xf32>
    gpu.return
  }

  // A reinterpreted memref counts its offset from the buffer, not from the view; a
  // type may have an offset of its own.
  // CHECK-LABEL:  gpu.func @from_buffer
  // CHECK:          vector.load %{{.+}} {alignment = 16 : i64} : memref<256xf32, strided<[1], offset: 4>>
  // CHECK:          memref.load %{{.+}} : memref<256xf32, strided<[1], offset: 1>>
  gpu.func @from_buffer(%in: memref<4096xf32> {llvm.align = 16}, %odd: memref<256xf32, strided<[1], offset: 1>> {llvm.align = 16}, %out: memref<256xf32> {llvm.align = 16}, %i: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %view = memref.subview %in[%i] [256] [1] : memref<4096xf32> to memref<256xf32, strided<[1], offset: ?>>
    %part = memref.reinterpret_cast %view to offset: [4], sizes: [256], strides: [1] : memref<256xf32, strided<[1], offset: ?>> to memref<256xf32, strided<[1], offset: 4>>
    memref.copy %part, %out : memref<256xf32, strided<[1], offset: 4>> to memref<256xf32>
    memref.copy %odd, %out : memref<256xf32, strided<[1], offset: 1>> to memref<256xf32>
    gpu.return
  }

  // A view of bytes begins where it is shifted to.
  // CHECK-LABEL:  gpu.func @bytes
  // CHECK:          vector.load %{{.+}} {alignment = 8 : i64}
  gpu.func @bytes(%in: memref<2048xi8> {llvm.align = 16}, %out: memref<128xf32> {llvm.align = 16}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c24 = arith.constant 24 : index
    %view = memref.view %in[%c24][] : memref<2048xi8> to memref<128xf32>
    memref.copy %view, %out : memref<128xf32> to memref<128xf32>
    gpu.return
  }
}

gpu.module @rows {
  // Every row has to be aligned: 18 elements apart, 6 elements long, any number
  // apart.
  // CHECK-LABEL:  gpu.func @pitch
  // CHECK:          vector.load %{{.+}} {alignment = 8 : i64} : memref<16x16xf32, strided<[18, 1]>>, vector<2xf32>
  gpu.func @pitch(%in: memref<16x16xf32, strided<[18, 1]>> {llvm.align = 16}, %out: memref<16x16xf32> {llvm.align = 16}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %in, %out : memref<16x16xf32, strided<[18, 1]>> to memref<16x16xf32>
    gpu.return
  }
  // CHECK-LABEL:  gpu.func @length
  // CHECK:          vector.load %{{.+}} {alignment = 8 : i64} : memref<16x6xf32, strided<[16, 1]>>, vector<2xf32>
  gpu.func @length(%in: memref<16x6xf32, strided<[16, 1]>> {llvm.align = 16}, %out: memref<16x6xf32> {llvm.align = 16}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %in, %out : memref<16x6xf32, strided<[16, 1]>> to memref<16x6xf32>
    gpu.return
  }
  // CHECK-LABEL:  gpu.func @unknown_pitch
  // CHECK:          memref.load
  gpu.func @unknown_pitch(%in: memref<16x16xf32, strided<[?, 1]>> {llvm.align = 16}, %out: memref<16x16xf32> {llvm.align = 16}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %in, %out : memref<16x16xf32, strided<[?, 1]>> to memref<16x16xf32>
    gpu.return
  }
}

gpu.module @buffers {
  // CHECK:        memref.global "private" @global : memref<256xf32, 3> = uninitialized {alignment = 16 : i64}
  // FUNCTION:     memref.global "private" @global : memref<256xf32, 3> = uninitialized{{$}}
  memref.global "private" @global : memref<256xf32, 3> = uninitialized

  // Workgroup buffers are given the alignment that the accesses need, and keep what
  // they have.
  // CHECK-LABEL:  gpu.func @raised
  // CHECK-SAME:     %{{.+}} : memref<256xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}
  // CHECK-SAME:     %{{.+}} : memref<64xf16, #gpu.address_space<workgroup>> {llvm.align = 4 : i64}
  // CHECK-SAME:     %{{.+}} : memref<256xf32, #gpu.address_space<workgroup>> {llvm.align = 128 : i64}
  // CHECK-SAME:     %{{.+}} : memref<4xf32, #gpu.address_space<workgroup>>)
  // CHECK-DAG:      memref.alloc() {alignment = 16 : i64} : memref<256xf32, 3>
  // CHECK-DAG:      memref.alloca() {alignment = 16 : i64} : memref<1024xi8, 3>
  gpu.func @raised(%in: memref<256xf32> {llvm.align = 16}, %halves: memref<64xf16> {llvm.align = 4})
      workgroup(%a: memref<256xf32, #gpu.address_space<workgroup>>,
                %b: memref<64xf16, #gpu.address_space<workgroup>>,
                %c: memref<256xf32, #gpu.address_space<workgroup>> {llvm.align = 128 : i64},
                %d: memref<4xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    memref.copy %in, %a : memref<256xf32> to memref<256xf32, #gpu.address_space<workgroup>>
    memref.copy %halves, %b : memref<64xf16> to memref<64xf16, #gpu.address_space<workgroup>>
    memref.copy %in, %c : memref<256xf32> to memref<256xf32, #gpu.address_space<workgroup>>
    %e = memref.alloc() : memref<256xf32, 3>
    memref.copy %in, %e : memref<256xf32> to memref<256xf32, 3>
    %f = memref.alloca() : memref<1024xi8, 3>
    %view = memref.view %f[%c0][] : memref<1024xi8, 3> to memref<256xf32, 3>
    memref.copy %in, %view : memref<256xf32> to memref<256xf32, 3>
    gpu.return
  }

  // A global is raised if the pass runs on what holds it.
  // CHECK-LABEL:    gpu.func @uses_global
  // CHECK:            vector.load %{{.+}} {alignment = 16 : i64}
  // FUNCTION-LABEL: gpu.func @uses_global
  // FUNCTION:         memref.load %{{.+}} : memref<256xf32>
  gpu.func @uses_global(%in: memref<256xf32> {llvm.align = 16}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %g = memref.get_global @global : memref<256xf32, 3>
    memref.copy %in, %g : memref<256xf32> to memref<256xf32, 3>
    gpu.return
  }

  // Which buffer a selection stands for is not known: none is raised, so nothing may
  // be promised.
  // CHECK-LABEL:  gpu.func @selected
  // CHECK-SAME:     %{{.+}} : memref<256xf32, #gpu.address_space<workgroup>>, %{{.+}} : memref<256xf32, #gpu.address_space<workgroup>>) kernel
  // CHECK-NOT:      alignment = 16
  // CHECK:          gpu.return
  gpu.func @selected(%in: memref<256xf32> {llvm.align = 16}, %c: i1)
      workgroup(%a: memref<256xf32, #gpu.address_space<workgroup>>, %b: memref<256xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %chosen = arith.select %c, %a, %b : memref<256xf32, #gpu.address_space<workgroup>>
    memref.copy %in, %chosen : memref<256xf32> to memref<256xf32, #gpu.address_space<workgroup>>
    gpu.return
  }

  // Nothing is known of what a loop carries.
  // CHECK-LABEL:  gpu.func @carried
  // CHECK-NOT:      vector.load
  // CHECK:          gpu.return
  gpu.func @carried(%in: memref<256xf32> {llvm.align = 16}, %n: index)
      workgroup(%a: memref<256xf32, #gpu.address_space<workgroup>>, %b: memref<256xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (memref<256xf32, #gpu.address_space<workgroup>>, memref<256xf32, #gpu.address_space<workgroup>>) {
      memref.copy %in, %x : memref<256xf32> to memref<256xf32, #gpu.address_space<workgroup>>
      scf.yield %y, %x : memref<256xf32, #gpu.address_space<workgroup>>, memref<256xf32, #gpu.address_space<workgroup>>
    }
    gpu.return
  }
}

// Strides that nothing but extents make are multiples of the constant ones: of 64 elements. Of
// any strides, or of extents in front, nothing is known.
gpu.module @strides {
  // CHECK-LABEL:  gpu.func @of_extents
  // CHECK:          vector.load %{{.+}} {alignment = 16 : i64} : memref<{{.+}}xf16
  // CHECK:          memref.load
  // CHECK:          memref.load
  // CHECK:          gpu.return
  gpu.func @of_extents(%in: memref<8x?x64xf16> {llvm.align = 16}, %odd: memref<8x64x?xf16> {llvm.align = 16},
                       %any: memref<8x?x64xf16, strided<[?, 64, 1]>> {llvm.align = 16})
      workgroup(%a: memref<1x32x64xf16, #gpu.address_space<workgroup>>, %b: memref<1x32x64xf16, #gpu.address_space<workgroup>>,
                %c: memref<1x32x64xf16, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %head = gpu.block_id x
    %part = memref.subview %in[%head, 0, 0] [1, 32, 64] [1, 1, 1] : memref<8x?x64xf16> to memref<1x32x64xf16, strided<[?, 64, 1], offset: ?>>
    memref.copy %part, %a : memref<1x32x64xf16, strided<[?, 64, 1], offset: ?>> to memref<1x32x64xf16, #gpu.address_space<workgroup>>
    %ofOdd = memref.subview %odd[%head, 0, 0] [1, 32, 64] [1, 1, 1] : memref<8x64x?xf16> to memref<1x32x64xf16, strided<[?, ?, 1], offset: ?>>
    memref.copy %ofOdd, %b : memref<1x32x64xf16, strided<[?, ?, 1], offset: ?>> to memref<1x32x64xf16, #gpu.address_space<workgroup>>
    %ofAny = memref.subview %any[%head, 0, 0] [1, 32, 64] [1, 1, 1] : memref<8x?x64xf16, strided<[?, 64, 1]>> to memref<1x32x64xf16, strided<[?, 64, 1], offset: ?>>
    memref.copy %ofAny, %c : memref<1x32x64xf16, strided<[?, 64, 1], offset: ?>> to memref<1x32x64xf16, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// Before outlining: what the host's allocators return is aligned to 16 bytes, what
// stands on its stack is not.
// CHECK-LABEL:  func.func @host_memory
// CHECK:          vector.load %{{.+}} {alignment = 16 : i64} : memref<256xf32>
// CHECK:          vector.load %{{.+}} {alignment = 16 : i64} : memref<128xf64>
// CHECK:          memref.load %{{.+}} : memref<64xf32>
// CHECK:          memref.load %{{.+}} : memref<32xf32>
// ASSUME-LABEL: func.func @host_memory
// ASSUME:         vector.load %{{.+}} {alignment = 16 : i64} : memref<32xf32>
func.func @host_memory(%argument: memref<32xf32>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %heap = memref.alloc() : memref<256xf32>
  %device = gpu.alloc() : memref<128xf64>
  %stack = memref.alloca() : memref<64xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %a = memref.alloc() : memref<256xf32, #gpu.address_space<workgroup>>
    memref.copy %heap, %a : memref<256xf32> to memref<256xf32, #gpu.address_space<workgroup>>
    %b = memref.alloc() : memref<128xf64, #gpu.address_space<workgroup>>
    memref.copy %device, %b : memref<128xf64> to memref<128xf64, #gpu.address_space<workgroup>>
    %c = memref.alloc() : memref<64xf32, #gpu.address_space<workgroup>>
    memref.copy %stack, %c : memref<64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    %d = memref.alloc() : memref<32xf32, #gpu.address_space<workgroup>>
    memref.copy %argument, %d : memref<32xf32> to memref<32xf32, #gpu.address_space<workgroup>>
    gpu.terminator
  }
  return
}
