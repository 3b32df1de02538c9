// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-verify-sync)' --verify-diagnostics

// Of rows of 37 elements, the last vector has one: the mask leaves it, and
// nothing of the next row.

gpu.module @kernels {
  gpu.func @rows(%out: memref<8x37xf32>, %v: vector<4xf32>) kernel attributes {known_block_size = array<i32: 80, 1, 1>} {
    %c4 = arith.constant 4 : index
    %c10 = arith.constant 10 : index
    %c37 = arith.constant 37 : index
    %t = gpu.thread_id x
    %row = arith.divui %t, %c10 : index
    %part = arith.remui %t, %c10 : index
    %column = arith.muli %part, %c4 : index
    %left = arith.subi %c37, %column : index
    %mask = vector.create_mask %left : vector<4xi1>
    vector.maskedstore %out[%row, %column], %mask, %v : memref<8x37xf32>, vector<4xi1>, vector<4xf32>
    gpu.return
  }
}

// -----

// One element too many.

gpu.module @kernels {
  gpu.func @beyond(%out: memref<9x37xf32>, %v: vector<4xf32>) kernel attributes {known_block_size = array<i32: 80, 1, 1>} {
    %c4 = arith.constant 4 : index
    %c10 = arith.constant 10 : index
    %c38 = arith.constant 38 : index
    %t = gpu.thread_id x
    %row = arith.divui %t, %c10 : index
    %part = arith.remui %t, %c10 : index
    %column = arith.muli %part, %c4 : index
    %left = arith.subi %c38, %column : index
    %mask = vector.create_mask %left : vector<4xi1>
    // expected-warning @below {{possible data race on global memory}}
    // expected-note @below {{}}
    vector.maskedstore %out[%row, %column], %mask, %v : memref<9x37xf32>, vector<4xi1>, vector<4xf32>
    gpu.return
  }
}

// -----

// A mask that nothing is known of leaves any elements.

gpu.module @kernels {
  gpu.func @unknown(%out: memref<9x37xf32>, %v: vector<4xf32>, %mask: vector<4xi1>) kernel attributes {known_block_size = array<i32: 80, 1, 1>} {
    %c4 = arith.constant 4 : index
    %c10 = arith.constant 10 : index
    %t = gpu.thread_id x
    %row = arith.divui %t, %c10 : index
    %part = arith.remui %t, %c10 : index
    %column = arith.muli %part, %c4 : index
    // expected-warning @below {{possible data race on global memory}}
    // expected-note @below {{}}
    vector.maskedstore %out[%row, %column], %mask, %v : memref<9x37xf32>, vector<4xi1>, vector<4xf32>
    gpu.return
  }
}

// -----

// What is masked off may be out of bounds, so that "in bounds" says nothing of where the vector
// starts: threads 0 and 1 both write the first two elements.

gpu.module @kernels {
  gpu.func @before_the_start(%v: vector<4xi32>) workgroup(%B: memref<64xi32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c2 = arith.constant 2 : index
    %t = gpu.thread_id x
    %mask = arith.constant dense<[false, false, true, true]> : vector<4xi1>
    %i = arith.subi %t, %c2 : index
    %isFirst = arith.cmpi ult, %t, %c2 : index
    scf.if %isFirst {
      // expected-warning @below {{possible data race on workgroup memory}}
      // expected-note @below {{}}
      vector.transfer_write %v, %B[%i], %mask {in_bounds = [true]} : vector<4xi32>, memref<64xi32, #gpu.address_space<workgroup>>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @before_the_start_of_a_masked_region(%v: vector<4xi32>) workgroup(%B: memref<64xi32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c2 = arith.constant 2 : index
    %t = gpu.thread_id x
    %mask = arith.constant dense<[false, false, true, true]> : vector<4xi1>
    %i = arith.subi %t, %c2 : index
    %isFirst = arith.cmpi ult, %t, %c2 : index
    scf.if %isFirst {
      // expected-warning @below {{possible data race on workgroup memory}}
      // expected-note @below {{}}
      vector.mask %mask { vector.transfer_write %v, %B[%i] {in_bounds = [true]} : vector<4xi32>, memref<64xi32, #gpu.address_space<workgroup>> } : vector<4xi1>
    }
    gpu.return
  }
}

// -----

// A condition that is in all of a mask is one of the access: of eight rows, a
// block writes the first four.

gpu.module @kernels {
  gpu.func @rows_of_blocks(%out: memref<64x37xf32>, %v: vector<4xf32>) kernel
      attributes {known_block_size = array<i32: 80, 1, 1>} {
    %c4 = arith.constant 4 : index
    %c10 = arith.constant 10 : index
    %c37 = arith.constant 37 : index
    %b = gpu.block_id x
    %t = gpu.thread_id x
    %row = arith.divui %t, %c10 : index
    %part = arith.remui %t, %c10 : index
    %column = arith.muli %part, %c4 : index
    %left = arith.subi %c37, %column : index
    %columns = vector.create_mask %left : vector<4xi1>
    %is_own = arith.cmpi ult, %row, %c4 : index
    %rows = vector.broadcast %is_own : i1 to vector<4xi1>
    %mask = arith.andi %rows, %columns : vector<4xi1>
    %first = arith.muli %b, %c4 : index
    %place = arith.addi %first, %row : index
    vector.maskedstore %out[%place, %column], %mask, %v : memref<64x37xf32>, vector<4xi1>, vector<4xf32>
    gpu.return
  }
}

// -----

// The fifth is the first of the next block.

gpu.module @kernels {
  gpu.func @rows_of_others(%out: memref<64x37xf32>, %v: vector<4xf32>) kernel
      attributes {known_block_size = array<i32: 80, 1, 1>} {
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %c10 = arith.constant 10 : index
    %c37 = arith.constant 37 : index
    %b = gpu.block_id x
    %t = gpu.thread_id x
    %row = arith.divui %t, %c10 : index
    %part = arith.remui %t, %c10 : index
    %column = arith.muli %part, %c4 : index
    %left = arith.subi %c37, %column : index
    %columns = vector.create_mask %left : vector<4xi1>
    %is_own = arith.cmpi ult, %row, %c5 : index
    %rows = vector.broadcast %is_own : i1 to vector<4xi1>
    %mask = arith.andi %columns, %rows : vector<4xi1>
    %first = arith.muli %b, %c4 : index
    %place = arith.addi %first, %row : index
    // expected-warning @below {{possible data race on global memory}}
    // expected-note @below {{}}
    vector.maskedstore %out[%place, %column], %mask, %v : memref<64x37xf32>, vector<4xi1>, vector<4xf32>
    gpu.return
  }
}
