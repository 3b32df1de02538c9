// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{strategy=sync})' --remarks-filter='workgroup.*' --remark-format=emitRemark --verify-diagnostics -o /dev/null

// What is told of copies, and of barriers around them.

gpu.module @kernels {
  // How a copy was done: by whom, how wide, and between which barriers.
  gpu.func @cooperative(%in: memref<512xf32> {llvm.align = 16}, %out: memref<512xf32> {llvm.align = 16})
      workgroup(%buffer: memref<512xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 32, 2, 1>} {
    // expected-remark @+2 {{[Passed] LoweredCopy | Category:workgroup-lower-copies | Function=cooperative | BytesPerAccess=16, Remark="copy spread over the block", Threads=64}}
    // expected-remark @+1 {{[Passed] InsertedBarrier | Category:workgroup-lower-copies | Function=cooperative | Remark="barrier after the copy"}}
    memref.copy %in, %buffer : memref<512xf32> to memref<512xf32, #gpu.address_space<workgroup>>
    // expected-remark @+1 {{[Passed] LoweredCopy | Category:workgroup-lower-copies | Function=cooperative | BytesPerAccess=16}}
    linalg.copy ins(%buffer : memref<512xf32, #gpu.address_space<workgroup>>) outs(%out : memref<512xf32>)
    // expected-remark @+1 {{[Passed] ErasedCopy | Category:workgroup-lower-copies | Function=cooperative | Remark="copy of memory onto itself erased"}}
    memref.copy %in, %in : memref<512xf32> to memref<512xf32>
    gpu.return
  }

  // A number of threads that is not known is given as none.
  gpu.func @unknown_block_size(%in: memref<64xf64>, %out: memref<64xf64>) kernel {
    // expected-remark @+2 {{BytesPerAccess=8, Remark="copy spread over the block", Threads=0}}
    // expected-remark @+1 {{NarrowCopy}}
    memref.copy %in, %out : memref<64xf64> to memref<64xf64>
    gpu.return
  }

  // One thread has nobody to share with: there is nothing to miss.
  gpu.func @one_thread(%in: memref<64xf32> {llvm.align = 16}, %out: memref<64xf32> {llvm.align = 16}) kernel
      attributes {known_block_size = array<i32: 1, 1, 1>} {
    // expected-remark @+1 {{BytesPerAccess=16, Remark="copy done by each thread", Threads=1}}
    memref.copy %in, %out : memref<64xf32> to memref<64xf32>
    gpu.return
  }
}

// Why a copy stays with each thread.
gpu.module @per_thread {
  gpu.func @divergent(%in: memref<64xi1>, %out: memref<64xi1>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %x = gpu.thread_id x
    %first = arith.cmpi eq, %x, %c0 : index
    scf.if %first {
      // expected-remark @+2 {{[Missed] CopyPerThread | Category:workgroup-lower-copies | Function=divergent | Reason="executed by divergent threads", Remark="copy lowered per thread"}}
      // expected-remark @+1 {{[Passed] LoweredCopy | Category:workgroup-lower-copies | Function=divergent | BytesPerAccess=1, Remark="copy done by each thread", Threads=64}}
      memref.copy %in, %out : memref<64xi1> to memref<64xi1>
    }
    gpu.return
  }
  gpu.func @operands(%in: memref<64x4xi1>, %out: memref<4xi1>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %x = gpu.thread_id x
    %row = memref.subview %in[%x, 0] [1, 4] [1, 1] : memref<64x4xi1> to memref<4xi1, strided<[1], offset: ?>>
    // expected-remark @+2 {{Reason="operands differ between threads"}}
    // expected-remark @+1 {{LoweredCopy}}
    memref.copy %row, %out : memref<4xi1, strided<[1], offset: ?>> to memref<4xi1>
    gpu.return
  }
  gpu.func @private(%in: memref<64xi1>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %own = memref.alloca() : memref<64xi1>
    // expected-remark @+2 {{Reason="private memory"}}
    // expected-remark @+1 {{LoweredCopy}}
    memref.copy %in, %own : memref<64xi1> to memref<64xi1>
    gpu.return
  }
  gpu.func @may_be_private(%in: memref<64xi1>, %out: memref<64xi1>, %c: i1) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %own = memref.alloca() : memref<64xi1>
    %chosen = arith.select %c, %in, %own : memref<64xi1>
    // expected-remark @+2 {{Reason="operands differ between threads"}}
    // expected-remark @+1 {{LoweredCopy}}
    memref.copy %chosen, %out : memref<64xi1> to memref<64xi1>
    gpu.return
  }
}

// Where nothing but an alignment that is not known stands in the way of wider
// accesses, the remark says whose, and how to help.
gpu.module @narrow {
  gpu.func @source(%in: memref<256xf32>)
      workgroup(%buffer: memref<256xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    // expected-remark @+2 {{[Missed] NarrowCopy | Category:workgroup-lower-copies | Function=source | Reason="only the unknown alignment of the source prevents accesses of 16 bytes", Suggestion="state it by memref.assume_alignment, or by the option assume-alignment"}}
    // expected-remark @+1 {{BytesPerAccess=4}}
    memref.copy %in, %buffer : memref<256xf32> to memref<256xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
  gpu.func @target(%out: memref<256xf16> {llvm.align = 4})
      workgroup(%buffer: memref<256xf16, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    // expected-remark @+2 {{Reason="only the unknown alignment of the target prevents accesses of 16 bytes"}}
    // expected-remark @+1 {{BytesPerAccess=4}}
    memref.copy %buffer, %out : memref<256xf16, #gpu.address_space<workgroup>> to memref<256xf16>
    gpu.return
  }
  // Rows of 5 elements would not be aligned, whatever the buffer is.
  gpu.func @shape(%in: memref<8x4xf32, strided<[5, 1]>>)
      workgroup(%buffer: memref<8x4xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    // expected-remark @+1 {{BytesPerAccess=4}}
    memref.copy %in, %buffer : memref<8x4xf32, strided<[5, 1]>> to memref<8x4xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
  // Neither is known: both are to blame.
  gpu.func @both(%in: memref<256xf32>, %out: memref<256xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    // expected-remark @+2 {{Reason="only the unknown alignment of the operands prevents accesses of 16 bytes"}}
    // expected-remark @+1 {{BytesPerAccess=4}}
    memref.copy %in, %out : memref<256xf32> to memref<256xf32>
    gpu.return
  }
}
