// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-resolve-bank-conflicts)' --remarks-filter='workgroup.*' --remark-format=emitRemark --verify-diagnostics -o %t.mlir
// RUN: FileCheck %s < %t.mlir

// What is told of each buffer: how its rows are laid out and at what cost, or why they are not.

gpu.module @kernels {
  func.func private @callee(memref<32x32xf32, 3>)

  gpu.func @resolved(%v: f32, %u: vector<8xf16>)
      workgroup(
        // expected-remark @+1 {{[Passed] Padded | Category:workgroup-resolve-bank-conflicts | Function=resolved | Bytes=4224, Remark="rows padded by 4 bytes", WavefrontsAfter=32, WavefrontsBefore=1024}}
        %a: memref<32x32xf32, 3>,
        // expected-remark @+1 {{[Passed] Swizzled | Category:workgroup-resolve-bank-conflicts | Function=resolved | Bytes=2048, Remark="rows swizzled in chunks of 16 bytes"}}
        %b: memref<32x32xf16, 3>,
        %conflict_free: memref<32x32xf32, 3>)
      kernel attributes {known_block_size = array<i32: 32, 32, 1>} {
    %x = gpu.thread_id x
    %y = gpu.thread_id y
    %c0 = arith.constant 0 : index
    memref.store %v, %a[%x, %y] : memref<32x32xf32, 3>
    memref.store %v, %conflict_free[%y, %x] : memref<32x32xf32, 3>
    vector.store %u, %b[%x, %c0] : memref<32x32xf16, 3>, vector<8xf16>
    gpu.return
  }

  // What stays as it is.
  // CHECK-LABEL: gpu.func @left
  // CHECK-SAME:    %{{.+}} : memref<32x32xf32, 3>, %{{.+}} : memref<32x32xf32, 3>, %{{.+}} : memref<?x32xf32, 3>, %{{.+}} : memref<32x?xf32, 3>, %{{.+}} : memref<0xf32, 3>
  // CHECK-SAME:    %{{.+}} : memref<1024xf32, 3>, %{{.+}} : memref<32x32xf32, strided<[64, 1]>, 3>, %{{.+}} : memref<32x32xi24, 3>
  gpu.func @left(%v: f32, %u: vector<8xf32>, %i: index)
      workgroup(
        // expected-remark @+1 {{[Missed] NotResolved | Category:workgroup-resolve-bank-conflicts | Function=left | Reason="its rows have to stay as they are for 'func.call'"}}
        %called: memref<32x32xf32, 3>,
        // expected-remark @+1 {{Reason="its rows have to stay as they are for 'memref.copy'"}}
        %copied: memref<32x32xf32, 3>,
        // expected-remark @+1 {{Reason="its size is not static"}}
        %rows: memref<?x32xf32, 3>,
        // expected-remark @+1 {{Reason="its size is not static"}}
        %columns: memref<32x?xf32, 3>,
        // expected-remark @+1 {{Reason="it has no elements"}}
        %empty: memref<0xf32, 3>,
        // expected-remark @+1 {{Reason="its accesses take 32.00 times as long as without bank conflicts, and no layout of its rows is clearly better"}}
        %line: memref<1024xf32, 3>,
        // expected-remark @+1 {{Reason="its layout is not that of its shape"}}
        %strided: memref<32x32xf32, strided<[64, 1]>, 3>,
        // expected-remark @+1 {{Reason="its rows have to stay as they are for 'vector.load'"}}
        %odd: memref<32x32xi24, 3>,
        // expected-remark @+1 {{Reason="it is not known that 'vector.store' stays within a row of 32 elements"}}
        %crossing: memref<32x32xf32, 3>,
        // expected-remark @+1 {{Reason="it is not known what the threads address by 'memref.load'"}}
        %unknown: memref<32x32xf32, 3>,
        // expected-remark @+1 {{Reason="its rows have to stay as they are for 'scf.yield'"}}
        %yielded: memref<32x32xf32, 3>,
        // expected-remark @+1 {{Reason="its rows have to stay as they are for 'vector.transfer_read'"}}
        %ragged: memref<32x32xf32, 3>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    func.call @callee(%called) : (memref<32x32xf32, 3>) -> ()
    memref.copy %copied, %copied : memref<32x32xf32, 3> to memref<32x32xf32, 3>
    memref.store %v, %rows[%x, %c0] : memref<?x32xf32, 3>
    memref.store %v, %columns[%x, %c0] : memref<32x?xf32, 3>
    memref.store %v, %empty[%x] : memref<0xf32, 3>
    %j = arith.muli %x, %c32 : index
    memref.store %v, %line[%j] : memref<1024xf32, 3>
    memref.store %v, %strided[%x, %c0] : memref<32x32xf32, strided<[64, 1]>, 3>
    %0 = vector.load %odd[%x, %c0] : memref<32x32xi24, 3>, vector<4xi24>
    vector.store %u, %crossing[%x, %i] : memref<32x32xf32, 3>, vector<8xf32>
    %k = memref.load %unknown[%c0, %x] : memref<32x32xf32, 3>
    %l = arith.fptosi %k : f32 to i32
    %m = arith.index_cast %l : i32 to index
    %n = memref.load %unknown[%m, %c0] : memref<32x32xf32, 3>
    %is_first = arith.cmpi eq, %x, %c0 : index
    %p = scf.if %is_first -> memref<32x32xf32, 3> {
      scf.yield %yielded : memref<32x32xf32, 3>
    } else {
      scf.yield %yielded : memref<32x32xf32, 3>
    }
    %q = vector.transfer_read %ragged[%x, %c0], %v : memref<32x32xf32, 3>, vector<8xf32>
    gpu.return
  }

  gpu.func @unknown_block(%v: f32)
      workgroup(
        // expected-remark @+1 {{Function=unknown_block | Reason="the shape of the block is not known; launch blocks of constant sizes before outlining, or set known_block_size"}}
        %w: memref<32x32xf32, 3>) kernel {
    %x = gpu.thread_id x
    %c0 = arith.constant 0 : index
    memref.store %v, %w[%x, %c0] : memref<32x32xf32, 3>
    gpu.return
  }

  // In all layouts a wavefront serves one lane.
  gpu.func @hopeless(%v: vector<4xf32>, %u: f32)
      workgroup(
        // expected-remark @+1 {{Function=hopeless | Reason="its accesses take 2.00 times as long as without bank conflicts, and no layout of its rows is clearly better"}}
        %w: memref<1x256xf32, 3>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %j = arith.muli %x, %c2 : index
    memref.store %u, %w[%c0, %j] : memref<1x256xf32, 3>
    gpu.return
  }
}

// Without a launch there is no block.
// CHECK-LABEL: func.func @host
func.func @host() {
  %w = memref.alloc() : memref<32x32xf32, 3>
  return
}
