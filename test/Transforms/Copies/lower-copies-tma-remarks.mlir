// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-lower-copies{strategy=tma chip=sm_90})' --remarks-filter-missed='workgroup.*' --remark-format=emitRemark --verify-diagnostics -o /dev/null

// Why TMA does not do a copy. Each is done by cp.async or by loads and stores then.

func.func @conversion(%in: memref<64x32xf32> {llvm.align = 16}) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %b = memref.alloc() : memref<64x32xf16, #gpu.address_space<workgroup>>
    // expected-remark @+2 {{[Missed] NotTMA | Category:workgroup-lower-copies | Function=conversion | Reason="TMA not used: elements are converted"}}
    // expected-remark @+1 {{[Missed] NotAsync | Category:workgroup-lower-copies | Function=conversion | Reason="cp.async not used: elements are converted"}}
    linalg.copy ins(%in : memref<64x32xf32>) outs(%b : memref<64x32xf16, #gpu.address_space<workgroup>>)
    gpu.terminator
  }
  return
}

func.func @element(%in: memref<64x32xcomplex<f32>> {llvm.align = 16}) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %b = memref.alloc() : memref<64x32xcomplex<f32>, #gpu.address_space<workgroup>>
    // expected-remark @+2 {{[Missed] NotTMA | Category:workgroup-lower-copies | Function=element | Reason="TMA not used: tensor maps have no elements like complex<f32>"}}
    // expected-remark @+1 {{NotAsync}}
    memref.copy %in, %b : memref<64x32xcomplex<f32>> to memref<64x32xcomplex<f32>, #gpu.address_space<workgroup>>
    gpu.terminator
  }
  return
}

func.func @index(%in: memref<64x32xindex> {llvm.align = 16}) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %b = memref.alloc() : memref<64x32xindex, #gpu.address_space<workgroup>>
    // expected-remark @+2 {{TMA not used: tensor maps have no elements like index}}
    // expected-remark @+1 {{NotAsync}}
    memref.copy %in, %b : memref<64x32xindex> to memref<64x32xindex, #gpu.address_space<workgroup>>
    gpu.terminator
  }
  return
}

// A box arrives whole: at the edge of a tensor it would bring zeros as well.
func.func @ragged(%in: memref<64x32xf32> {llvm.align = 16}, %n: index) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %b = memref.alloc() : memref<64x32xf32, #gpu.address_space<workgroup>>
    %s = memref.subview %in[0, 0] [%n, 32] [1, 1] : memref<64x32xf32> to memref<?x32xf32, strided<[32, 1]>>
    %t = memref.subview %b[0, 0] [%n, 32] [1, 1] : memref<64x32xf32, #gpu.address_space<workgroup>> to memref<?x32xf32, strided<[32, 1]>, #gpu.address_space<workgroup>>
    // expected-remark @+1 {{[Missed] NotTMA | Category:workgroup-lower-copies | Function=ragged | Reason="TMA not used: the extents are not constant"}}
    memref.copy %s, %t : memref<?x32xf32, strided<[32, 1]>> to memref<?x32xf32, strided<[32, 1]>, #gpu.address_space<workgroup>>
    gpu.terminator
  }
  return
}

func.func @spread_target(%in: memref<64x32xf32> {llvm.align = 16}) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %b = memref.alloc() : memref<64x36xf32, #gpu.address_space<workgroup>>
    %t = memref.subview %b[0, 0] [64, 32] [1, 1] : memref<64x36xf32, #gpu.address_space<workgroup>> to memref<64x32xf32, strided<[36, 1]>, #gpu.address_space<workgroup>>
    // expected-remark @+1 {{[Missed] NotTMA | Category:workgroup-lower-copies | Function=spread_target | Reason="TMA not used: the target is not contiguous"}}
    memref.copy %in, %t : memref<64x32xf32> to memref<64x32xf32, strided<[36, 1]>, #gpu.address_space<workgroup>>
    gpu.terminator
  }
  return
}

func.func @steps(%in: memref<128x32xf32> {llvm.align = 16}) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %b = memref.alloc() : memref<64x32xf32, #gpu.address_space<workgroup>>
    %s = memref.subview %in[0, 0] [64, 32] [2, 1] : memref<128x32xf32> to memref<64x32xf32, strided<[64, 1]>>
    // expected-remark @+1 {{[Missed] NotTMA | Category:workgroup-lower-copies | Function=steps | Reason="TMA not used: the source is a slice with steps other than one"}}
    memref.copy %s, %b : memref<64x32xf32, strided<[64, 1]>> to memref<64x32xf32, #gpu.address_space<workgroup>>
    gpu.terminator
  }
  return
}

func.func @reshaped(%in: memref<2048xf32> {llvm.align = 16}) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %b = memref.alloc() : memref<64x32xf32, #gpu.address_space<workgroup>>
    %s = memref.expand_shape %in [[0, 1]] output_shape [64, 32] : memref<2048xf32> into memref<64x32xf32>
    // expected-remark @+1 {{[Missed] NotTMA | Category:workgroup-lower-copies | Function=reshaped | Reason="TMA not used: the source is made by 'memref.expand_shape'"}}
    memref.copy %s, %b : memref<64x32xf32> to memref<64x32xf32, #gpu.address_space<workgroup>>
    gpu.terminator
  }
  return
}

func.func @transposed(%in: memref<64x32xf32, strided<[1, 64]>> {llvm.align = 16}) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %b = memref.alloc() : memref<64x32xf32, #gpu.address_space<workgroup>>
    // expected-remark @+2 {{[Missed] NotTMA | Category:workgroup-lower-copies | Function=transposed | Reason="TMA not used: the source is not contiguous along its last dimension"}}
    // expected-remark @+1 {{NotAsync}}
    memref.copy %in, %b : memref<64x32xf32, strided<[1, 64]>> to memref<64x32xf32, #gpu.address_space<workgroup>>
    gpu.terminator
  }
  return
}

func.func @dynamic_stride(%in: memref<?x?xf32> {llvm.align = 16}) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %b = memref.alloc() : memref<64x32xf32, #gpu.address_space<workgroup>>
    %s = memref.subview %in[0, 0] [64, 32] [1, 1] : memref<?x?xf32> to memref<64x32xf32, strided<[?, 1]>>
    // expected-remark @+1 {{[Missed] NotTMA | Category:workgroup-lower-copies | Function=dynamic_stride | Reason="TMA not used: a stride of the source is not constant"}}
    memref.copy %s, %b : memref<64x32xf32, strided<[?, 1]>> to memref<64x32xf32, #gpu.address_space<workgroup>>
    gpu.terminator
  }
  return
}

func.func @odd_stride(%in: memref<64x33xf32> {llvm.align = 16}) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %b = memref.alloc() : memref<64x32xf32, #gpu.address_space<workgroup>>
    %s = memref.subview %in[0, 0] [64, 32] [1, 1] : memref<64x33xf32> to memref<64x32xf32, strided<[33, 1]>>
    // expected-remark @+1 {{[Missed] NotTMA | Category:workgroup-lower-copies | Function=odd_stride | Reason="TMA not used: the stride of 132 bytes of the source is no multiple of 16 below 2^40"}}
    memref.copy %s, %b : memref<64x32xf32, strided<[33, 1]>> to memref<64x32xf32, #gpu.address_space<workgroup>>
    gpu.terminator
  }
  return
}

func.func @six_dimensions(%in: memref<2x2x2x2x2x8xf32> {llvm.align = 16}) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %b = memref.alloc() : memref<2x2x2x2x2x8xf32, #gpu.address_space<workgroup>>
    // expected-remark @+1 {{[Missed] NotTMA | Category:workgroup-lower-copies | Function=six_dimensions | Reason="TMA not used: the source has 6 dimensions, of which tensor maps have at most 5"}}
    memref.copy %in, %b : memref<2x2x2x2x2x8xf32> to memref<2x2x2x2x2x8xf32, #gpu.address_space<workgroup>>
    gpu.terminator
  }
  return
}

func.func @one_element(%in: memref<1x1xf32> {llvm.align = 16}) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %b = memref.alloc() : memref<1x1xf32, #gpu.address_space<workgroup>>
    // expected-remark @+2 {{[Missed] NotTMA | Category:workgroup-lower-copies | Function=one_element | Reason="TMA not used: the source has one element"}}
    // expected-remark @+1 {{NotAsync}}
    memref.copy %in, %b : memref<1x1xf32> to memref<1x1xf32, #gpu.address_space<workgroup>>
    gpu.terminator
  }
  return
}

func.func @short_rows(%in: memref<64x32xf32> {llvm.align = 16}) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %b = memref.alloc() : memref<64x3xf32, #gpu.address_space<workgroup>>
    %s = memref.subview %in[0, 0] [64, 3] [1, 1] : memref<64x32xf32> to memref<64x3xf32, strided<[32, 1]>>
    // expected-remark @+1 {{[Missed] NotTMA | Category:workgroup-lower-copies | Function=short_rows | Reason="TMA not used: a row of the tile has 12 bytes, no multiple of 16"}}
    memref.copy %s, %b : memref<64x3xf32, strided<[32, 1]>> to memref<64x3xf32, #gpu.address_space<workgroup>>
    gpu.terminator
  }
  return
}

func.func @prime(%in: memref<1009x32xf32> {llvm.align = 16}) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %b = memref.alloc() : memref<1009x4xf32, #gpu.address_space<workgroup>>
    %s = memref.subview %in[0, 0] [1009, 4] [1, 1] : memref<1009x32xf32> to memref<1009x4xf32, strided<[32, 1]>>
    // expected-remark @+1 {{[Missed] NotTMA | Category:workgroup-lower-copies | Function=prime | Reason="TMA not used: an extent of 1009 has no part of at most 256 that suits a box"}}
    memref.copy %s, %b : memref<1009x4xf32, strided<[32, 1]>> to memref<1009x4xf32, #gpu.address_space<workgroup>>
    gpu.terminator
  }
  return
}

func.func @many_loads(%in: memref<32x512xf32> {llvm.align = 16}) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %b = memref.alloc() : memref<32x512xf32, #gpu.address_space<workgroup>>
    // expected-remark @+1 {{[Missed] NotTMA | Category:workgroup-lower-copies | Function=many_loads | Reason="TMA not used: it would take 64 loads"}}
    memref.copy %in, %b : memref<32x512xf32> to memref<32x512xf32, #gpu.address_space<workgroup>>
    gpu.terminator
  }
  return
}

func.func @unaligned_source(%in: memref<64x32xf32>) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %b = memref.alloc() : memref<64x32xf32, #gpu.address_space<workgroup>>
    // expected-remark @+2 {{[Missed] NotTMA | Category:workgroup-lower-copies | Function=unaligned_source | Reason="TMA not used: the source is not known to be aligned to 16 bytes"}}
    // expected-remark @+1 {{NarrowCopy}}
    memref.copy %in, %b : memref<64x32xf32> to memref<64x32xf32, #gpu.address_space<workgroup>>
    gpu.terminator
  }
  return
}

func.func @unaligned_target(%in: memref<64x32xf32> {llvm.align = 16}, %i: index) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %b = memref.alloc() : memref<4096xf32, #gpu.address_space<workgroup>>
    %t = memref.reinterpret_cast %b to offset: [16], sizes: [64, 32], strides: [32, 1] : memref<4096xf32, #gpu.address_space<workgroup>> to memref<64x32xf32, strided<[32, 1], offset: 16>, #gpu.address_space<workgroup>>
    // expected-remark @+1 {{[Missed] NotTMA | Category:workgroup-lower-copies | Function=unaligned_target | Reason="TMA not used: the target is not known to be aligned to 128 bytes"}}
    memref.copy %in, %t : memref<64x32xf32> to memref<64x32xf32, strided<[32, 1], offset: 16>, #gpu.address_space<workgroup>>
    gpu.terminator
  }
  return
}

// The host knows the pointers in memory no better than the kernel does.
func.func @unknown_source(%in: memref<4xmemref<64x32xf32>>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %b = memref.alloc() : memref<64x32xf32, #gpu.address_space<workgroup>>
    %s = memref.get_global @table : memref<64x32xf32>
    // expected-remark @+1 {{[Missed] NotTMA | Category:workgroup-lower-copies | Function=unknown_source | Reason="TMA not used: the host does not know the source"}}
    memref.copy %s, %b : memref<64x32xf32> to memref<64x32xf32, #gpu.address_space<workgroup>>
    gpu.terminator
  }
  return
}
memref.global "private" @table : memref<64x32xf32> {alignment = 16}

// A phase goes along with structured control only.
func.func @while(%in: memref<64x32xf32> {llvm.align = 16}, %n: index) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %b = memref.alloc() : memref<64x32xf32, #gpu.address_space<workgroup>>
    %last = scf.while (%i = %n) : (index) -> index {
      %more = arith.cmpi ult, %i, %c64 : index
      scf.condition(%more) %i : index
    } do {
    ^bb0(%i: index):
    // expected-remark @+1 {{[Missed] NotTMA | Category:workgroup-lower-copies | Function=while | Reason="TMA not used: it stands in a loop, or in a branch of one, that is no scf.for or scf.if"}}
      memref.copy %in, %b : memref<64x32xf32> to memref<64x32xf32, #gpu.address_space<workgroup>>
      %next = arith.addi %i, %c1 : index
      scf.yield %next : index
    }
    gpu.terminator
  }
  return
}
func.func @blocks(%in: memref<64x32xf32> {llvm.align = 16}, %n: index) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %b = memref.alloc() : memref<64x32xf32, #gpu.address_space<workgroup>>
    cf.br ^loop(%n : index)
  ^loop(%i: index):
    // expected-remark @+1 {{[Missed] NotTMA | Category:workgroup-lower-copies | Function=blocks | Reason="TMA not used: it stands in a loop of basic blocks"}}
    memref.copy %in, %b : memref<64x32xf32> to memref<64x32xf32, #gpu.address_space<workgroup>>
    %next = arith.addi %i, %c1 : index
    %more = arith.cmpi ult, %next, %c64 : index
    cf.cond_br %more, ^loop(%next : index), ^end
  ^end:
    gpu.terminator
  }
  return
}

// -----

// Nobody launches the kernel here.
gpu.module @library {
  gpu.func @unlaunched(%in: memref<64x32xf32> {llvm.align = 16}) workgroup(%b: memref<64x32xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // expected-remark @+1 {{[Missed] NotTMA | Category:workgroup-lower-copies | Function=unlaunched | Reason="TMA not used: the module does not launch the kernel"}}
    memref.copy %in, %b : memref<64x32xf32> to memref<64x32xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

// A function may be called from anywhere in a kernel.
module attributes {gpu.container_module} {
  func.func @main(%in: memref<64x32xf32> {llvm.align = 16}) {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @functions::@caller blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%in : memref<64x32xf32>)
    return
  }
  gpu.module @functions {
    memref.global "private" @shared : memref<64x32xf32, #gpu.address_space<workgroup>>
    func.func private @callee(%in: memref<64x32xf32, #gpu.address_space<global>> {llvm.align = 16}) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
      %b = memref.get_global @shared : memref<64x32xf32, #gpu.address_space<workgroup>>
    // expected-remark @+1 {{[Missed] NotTMA | Category:workgroup-lower-copies | Function=callee | Reason="TMA not used: it stands in a function that kernels call"}}
      memref.copy %in, %b : memref<64x32xf32, #gpu.address_space<global>> to memref<64x32xf32, #gpu.address_space<workgroup>>
      return
    }
    gpu.func @caller(%in: memref<64x32xf32> {llvm.align = 16}) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %global = memref.memory_space_cast %in : memref<64x32xf32> to memref<64x32xf32, #gpu.address_space<global>>
      func.call @callee(%global) : (memref<64x32xf32, #gpu.address_space<global>>) -> ()
      gpu.return
    }
  }
}

// -----

// Stores to the source, or to what may be the same memory, come before the copy.
func.func @stored(%in: memref<64x32xf32> {llvm.align = 16}, %out: memref<64xf32> {llvm.noalias}) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %b = memref.alloc() : memref<64x32xf32, #gpu.address_space<workgroup>>
    memref.store %zero, %in[%tx, %c1] : memref<64x32xf32>
    gpu.barrier
    // expected-remark @+1 {{[Missed] NotTMA | Category:workgroup-lower-copies | Function=stored | Reason="TMA not used: 'memref.store' of line }}
    memref.copy %in, %b : memref<64x32xf32> to memref<64x32xf32, #gpu.address_space<workgroup>>
    gpu.terminator
  }
  return
}

func.func @maybe_stored(%in: memref<64x32xf32> {llvm.align = 16}, %out: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %b = memref.alloc() : memref<64x32xf32, #gpu.address_space<workgroup>>
    memref.store %zero, %out[%tx] : memref<64xf32>
    // expected-remark @+1 {{[Missed] NotTMA | Category:workgroup-lower-copies | Function=maybe_stored | Reason="TMA not used: 'memref.store' of line }}
    memref.copy %in, %b : memref<64x32xf32> to memref<64x32xf32, #gpu.address_space<workgroup>>
    gpu.terminator
  }
  return
}

func.func @atomic(%in: memref<64x32xf32> {llvm.align = 16}, %out: memref<64xf32> {llvm.noalias}) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %b = memref.alloc() : memref<64x32xf32, #gpu.address_space<workgroup>>
    %old = memref.atomic_rmw addf %zero, %out[%tx] : (f32, memref<64xf32>) -> f32
    // expected-remark @+1 {{[Missed] NotTMA | Category:workgroup-lower-copies | Function=atomic | Reason="TMA not used: 'memref.atomic_rmw' of line }}
    memref.copy %in, %b : memref<64x32xf32> to memref<64x32xf32, #gpu.address_space<workgroup>>
    gpu.terminator
  }
  return
}

func.func @stored_in_iteration_before(%in: memref<64x32xf32> {llvm.align = 16}, %out: memref<64xf32> {llvm.noalias}) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %b = memref.alloc() : memref<64x32xf32, #gpu.address_space<workgroup>>
    scf.for %i = %c1 to %c64 step %c1 {
      // expected-remark @+1 {{[Missed] NotTMA | Category:workgroup-lower-copies | Function=stored_in_iteration_before | Reason="TMA not used: 'memref.store' of line }}
      memref.copy %in, %b : memref<64x32xf32> to memref<64x32xf32, #gpu.address_space<workgroup>>
      memref.store %zero, %in[%tx, %c1] : memref<64x32xf32>
    }
    gpu.terminator
  }
  return
}

// A store behind the copy, or to other memory, is none.
func.func @stored_after(%in: memref<64x32xf32> {llvm.align = 16}, %out: memref<64xf32> {llvm.noalias}) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %b = memref.alloc() : memref<64x32xf32, #gpu.address_space<workgroup>>
    memref.store %zero, %out[%tx] : memref<64xf32>
    memref.copy %in, %b : memref<64x32xf32> to memref<64x32xf32, #gpu.address_space<workgroup>>
    %x = memref.load %b[%tx, %c1] : memref<64x32xf32, #gpu.address_space<workgroup>>
    memref.store %x, %in[%tx, %c1] : memref<64x32xf32>
    gpu.terminator
  }
  return
}
