// RUN: mlir-opt %s -o %t.parsed
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory)' -o %t.packed
// RUN: diff %t.parsed %t.packed

// In each of these kernels the last access to the first buffer goes by another
// name, after the other buffer has been written: they cannot share.

gpu.module @kernels {
  gpu.func @select(%i: index, %v: f32, %c: i1)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %x = arith.select %c, %a, %a : memref<64xf32, 3>
    memref.store %v, %a[%i] : memref<64xf32, 3>
    memref.store %v, %b[%i] : memref<64xf32, 3>
    memref.store %v, %x[%i] : memref<64xf32, 3>
    gpu.return
  }

  gpu.func @views(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %base, %offset, %size, %stride = memref.extract_strided_metadata %a : memref<64xf32, 3> -> memref<f32, 3>, index, index, index
    %0 = memref.reinterpret_cast %base to offset: [0], sizes: [64], strides: [1] : memref<f32, 3> to memref<64xf32, 3>
    %1 = memref.assume_alignment %0, 16 : memref<64xf32, 3>
    %2 = memref.expand_shape %1 [[0, 1]] output_shape [8, 8] : memref<64xf32, 3> into memref<8x8xf32, 3>
    %3 = memref.transpose %2 (m, n) -> (n, m) : memref<8x8xf32, 3> to memref<8x8xf32, strided<[1, 8]>, 3>
    %4 = memref.subview %3[0, 0] [4, 4] [2, 2] : memref<8x8xf32, strided<[1, 8]>, 3> to memref<4x4xf32, strided<[2, 16]>, 3>
    %5 = memref.cast %4 : memref<4x4xf32, strided<[2, 16]>, 3> to memref<?x?xf32, strided<[?, ?]>, 3>
    %6 = memref.cast %5 : memref<?x?xf32, strided<[?, ?]>, 3> to memref<*xf32, 3>
    %7 = memref.cast %6 : memref<*xf32, 3> to memref<4x4xf32, strided<[2, 16]>, 3>
    %8 = memref.memory_space_cast %7 : memref<4x4xf32, strided<[2, 16]>, 3> to memref<4x4xf32, strided<[2, 16]>>
    memref.store %v, %b[%i] : memref<64xf32, 3>
    memref.store %v, %8[%i, %i] : memref<4x4xf32, strided<[2, 16]>>
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }

  gpu.func @objects(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %x, %y = memref.distinct_objects %a, %b : memref<64xf32, 3>, memref<64xf32, 3>
    memref.store %v, %x[%i] : memref<64xf32, 3>
    memref.store %v, %y[%i] : memref<64xf32, 3>
    memref.store %v, %x[%i] : memref<64xf32, 3>
    gpu.return
  }

  // By the values that loops and branches hand on.
  gpu.func @for(%i: index, %v: f32, %n: index)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %x = scf.for %j = %c0 to %n step %c1 iter_args(%y = %a) -> memref<64xf32, 3> {
      scf.yield %y : memref<64xf32, 3>
    }
    memref.store %v, %a[%i] : memref<64xf32, 3>
    memref.store %v, %b[%i] : memref<64xf32, 3>
    memref.store %v, %x[%i] : memref<64xf32, 3>
    gpu.return
  }
  gpu.func @rotation(%i: index, %v: f32, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = memref.alloc() : memref<64xf32, 3>
    %b = memref.alloc() : memref<64xf32, 3>
    %x:2 = scf.for %j = %c0 to %n step %c1 iter_args(%y = %a, %z = %b) -> (memref<64xf32, 3>, memref<64xf32, 3>) {
      memref.store %v, %y[%i] : memref<64xf32, 3>
      gpu.barrier
      scf.yield %z, %y : memref<64xf32, 3>, memref<64xf32, 3>
    }
    gpu.return
  }
  gpu.func @while(%i: index, %v: f32, %c: i1)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %x = scf.while (%y = %a) : (memref<64xf32, 3>) -> memref<64xf32, 3> {
      scf.condition(%c) %y : memref<64xf32, 3>
    } do {
    ^body(%y: memref<64xf32, 3>):
      scf.yield %y : memref<64xf32, 3>
    }
    memref.store %v, %a[%i] : memref<64xf32, 3>
    memref.store %v, %b[%i] : memref<64xf32, 3>
    memref.store %v, %x[%i] : memref<64xf32, 3>
    gpu.return
  }
  gpu.func @if(%i: index, %v: f32, %c: i1)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %x = scf.if %c -> memref<64xf32, 3> {
      scf.yield %a : memref<64xf32, 3>
    } else {
      scf.yield %a : memref<64xf32, 3>
    }
    memref.store %v, %a[%i] : memref<64xf32, 3>
    memref.store %v, %b[%i] : memref<64xf32, 3>
    memref.store %v, %x[%i] : memref<64xf32, 3>
    gpu.return
  }
  gpu.func @switch(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %x = scf.index_switch %i -> memref<64xf32, 3>
    case 0 {
      scf.yield %a : memref<64xf32, 3>
    }
    default {
      scf.yield %a : memref<64xf32, 3>
    }
    memref.store %v, %a[%i] : memref<64xf32, 3>
    memref.store %v, %b[%i] : memref<64xf32, 3>
    memref.store %v, %x[%i] : memref<64xf32, 3>
    gpu.return
  }
  gpu.func @region(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %x = scf.execute_region -> memref<64xf32, 3> {
      scf.yield %a : memref<64xf32, 3>
    }
    memref.store %v, %a[%i] : memref<64xf32, 3>
    memref.store %v, %b[%i] : memref<64xf32, 3>
    memref.store %v, %x[%i] : memref<64xf32, 3>
    gpu.return
  }
  gpu.func @affine_if(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %x = affine.if affine_set<(d0) : (d0 >= 0)>(%i) -> memref<64xf32, 3> {
      affine.yield %a : memref<64xf32, 3>
    } else {
      affine.yield %a : memref<64xf32, 3>
    }
    memref.store %v, %a[%i] : memref<64xf32, 3>
    memref.store %v, %b[%i] : memref<64xf32, 3>
    memref.store %v, %x[%i] : memref<64xf32, 3>
    gpu.return
  }
  gpu.func @affine_for(%i: index, %v: f32, %n: index)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %x = affine.for %j = 0 to %n iter_args(%y = %a) -> memref<64xf32, 3> {
      affine.yield %y : memref<64xf32, 3>
    }
    memref.store %v, %a[%i] : memref<64xf32, 3>
    memref.store %v, %b[%i] : memref<64xf32, 3>
    memref.store %v, %x[%i] : memref<64xf32, 3>
    gpu.return
  }
  gpu.func @scope(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %x = memref.alloca_scope -> memref<64xf32, 3> {
      memref.alloca_scope.return %a : memref<64xf32, 3>
    }
    memref.store %v, %a[%i] : memref<64xf32, 3>
    memref.store %v, %b[%i] : memref<64xf32, 3>
    memref.store %v, %x[%i] : memref<64xf32, 3>
    gpu.return
  }
  gpu.func @block_argument(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    cf.br ^next(%a : memref<64xf32, 3>)
  ^next(%x: memref<64xf32, 3>):
    memref.store %v, %a[%i] : memref<64xf32, 3>
    memref.store %v, %b[%i] : memref<64xf32, 3>
    memref.store %v, %x[%i] : memref<64xf32, 3>
    gpu.return
  }

  // By its address, by memory, or by what nobody knows.
  gpu.func @address(%i: index, %v: f32, %out: memref<1xindex>)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %address = memref.extract_aligned_pointer_as_index %a : memref<64xf32, 3> -> index
    memref.store %address, %out[%i] : memref<1xindex>
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }
  gpu.func @pointer(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %descriptor = builtin.unrealized_conversion_cast %a : memref<64xf32, 3> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
    %pointer = llvm.extractvalue %descriptor[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
    memref.store %v, %b[%i] : memref<64xf32, 3>
    llvm.store %v, %pointer : f32, !llvm.ptr<3>
    gpu.return
  }
  gpu.func @memory(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %box = memref.alloca() : memref<1xmemref<64xf32, 3>>
    memref.store %a, %box[%i] : memref<1xmemref<64xf32, 3>>
    memref.store %v, %b[%i] : memref<64xf32, 3>
    %x = memref.load %box[%i] : memref<1xmemref<64xf32, 3>>
    memref.store %v, %x[%i] : memref<64xf32, 3>
    gpu.return
  }
  gpu.func @transfer(%g: memref<64xf32>, %i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %c0 = arith.constant 0 : index
    %tag = memref.alloca() : memref<1xi32>
    memref.dma_start %g[%c0], %a[%c0], %i, %tag[%c0] : memref<64xf32>, memref<64xf32, 3>, memref<1xi32>
    memref.store %v, %b[%i] : memref<64xf32, 3>
    memref.dma_wait %tag[%c0], %i : memref<1xi32>
    gpu.return
  }
  gpu.func @affine_transfer(%g: memref<64xf32>, %i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %c0 = arith.constant 0 : index
    %tag = memref.alloca() : memref<1xi32>
    affine.dma_start %g[0], %a[0], %tag[0], %c0 : memref<64xf32>, memref<64xf32, 3>, memref<1xi32>
    memref.store %v, %b[%i] : memref<64xf32, 3>
    affine.dma_wait %tag[0], %c0 : memref<1xi32>
    gpu.return
  }
}

gpu.module @calls {
  func.func private @unknown(memref<64xf32, 3>)
  func.func @identity(%a: memref<64xf32, 3>) -> memref<64xf32, 3> {
    return %a : memref<64xf32, 3>
  }
  func.func @fill(%a: memref<64xf32, 3>, %i: index, %v: f32) {
    %part = memref.subview %a[8] [16] [1] : memref<64xf32, 3> to memref<16xf32, strided<[1], offset: 8>, 3>
    memref.store %v, %part[%i] : memref<16xf32, strided<[1], offset: 8>, 3>
    return
  }
  gpu.func @declaration(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    func.call @unknown(%a) : (memref<64xf32, 3>) -> ()
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }
  gpu.func @result(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %x = func.call @identity(%a) : (memref<64xf32, 3>) -> memref<64xf32, 3>
    memref.store %v, %b[%i] : memref<64xf32, 3>
    memref.store %v, %x[%i] : memref<64xf32, 3>
    gpu.return
  }
  gpu.func @argument(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    memref.store %v, %b[%i] : memref<64xf32, 3>
    func.call @fill(%a, %i, %v) : (memref<64xf32, 3>, index, f32) -> ()
    gpu.return
  }
  gpu.func @indirect(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %callee = func.constant @fill : (memref<64xf32, 3>, index, f32) -> ()
    func.call_indirect %callee(%a, %i, %v) : (memref<64xf32, 3>, index, f32) -> ()
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }
}
