// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-sync)' --verify-diagnostics -o /dev/null

// Rows of a width that only the launch knows, four elements a thread, swizzled; who has fewer goes element by element.

#width = affine_map<(n, b) -> (64, n - b * 64)>
#quads = affine_map<(w) -> (w ceildiv 4)>

gpu.module @m {
  // All four of a thread in one place each, and what is left of a row by the last one of it.
  gpu.func @swizzled(%n: index) workgroup(%v: memref<5x65xindex, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %width = affine.min #width(%n, %b)
    %up = affine.apply #quads(%width)
    %quads = arith.maxsi %up, %c0 : index
    %all = arith.muli %quads, %c5 overflow<nsw> : index
    scf.for %i = %t to %all step %c64 {
      %quad = arith.remui %i, %quads : index
      %row = arith.divui %i, %quads : index
      %column = arith.muli %quad, %c4 overflow<nsw, nuw> : index
      %end = arith.addi %column, %c4 overflow<nsw, nuw> : index
      %isWhole = arith.cmpi sle, %end, %width : index
      scf.if %isWhole {
        %lines = arith.divui %column, %c32 : index
        %twice = arith.muli %lines, %c2 overflow<nsw, nuw> : index
        %mixed = arith.xori %row, %twice : index
        %key = arith.remui %mixed, %c4 : index
        %first = arith.xori %column, %key : index
        memref.store %i, %v[%row, %first] : memref<5x65xindex, #gpu.address_space<workgroup>>
        %next = arith.addi %column, %c3 overflow<nsw, nuw> : index
        %nextLines = arith.divui %next, %c32 : index
        %nextTwice = arith.muli %nextLines, %c2 overflow<nsw, nuw> : index
        %nextMixed = arith.xori %row, %nextTwice : index
        %nextKey = arith.remui %nextMixed, %c4 : index
        %last = arith.xori %next, %nextKey : index
        memref.store %i, %v[%row, %last] : memref<5x65xindex, #gpu.address_space<workgroup>>
      } else {
        scf.for %j = %column to %width step %c1 {
          %lines = arith.divui %j, %c32 : index
          %twice = arith.muli %lines, %c2 overflow<nsw, nuw> : index
          %mixed = arith.xori %row, %twice : index
          %key = arith.remui %mixed, %c4 : index
          %at = arith.xori %j, %key : index
          memref.store %i, %v[%row, %at] : memref<5x65xindex, #gpu.address_space<workgroup>>
        }
      }
    }
    gpu.return
  }

  // A key of three bits takes the one thread's four to the next one's.
  gpu.func @too_wide(%n: index) workgroup(%v: memref<5x72xindex, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %width = affine.min #width(%n, %b)
    %up = affine.apply #quads(%width)
    %quads = arith.maxsi %up, %c0 : index
    %all = arith.muli %quads, %c5 overflow<nsw> : index
    scf.for %i = %t to %all step %c64 {
      %quad = arith.remui %i, %quads : index
      %row = arith.divui %i, %quads : index
      %column = arith.muli %quad, %c4 overflow<nsw, nuw> : index
      %end = arith.addi %column, %c4 overflow<nsw, nuw> : index
      %isWhole = arith.cmpi sle, %end, %width : index
      scf.if %isWhole {
        %key = arith.remui %column, %c8 : index
        %at = arith.xori %column, %key : index
        // expected-warning @+2 {{possible data race}}
        // expected-note @+1 {{the other access}}
        memref.store %i, %v[%row, %at] : memref<5x72xindex, #gpu.address_space<workgroup>>
      }
    }
    gpu.return
  }

  // Who has fewer than four goes on with what is the next one's.
  gpu.func @too_far(%n: index) workgroup(%v: memref<5x72xindex, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %c64 = arith.constant 64 : index
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %width = affine.min #width(%n, %b)
    %up = affine.apply #quads(%width)
    %quads = arith.maxsi %up, %c0 : index
    %all = arith.muli %quads, %c5 overflow<nsw> : index
    scf.for %i = %t to %all step %c64 {
      %quad = arith.remui %i, %quads : index
      %row = arith.divui %i, %quads : index
      %column = arith.muli %quad, %c4 overflow<nsw, nuw> : index
      %end = arith.addi %column, %c4 overflow<nsw, nuw> : index
      %isWhole = arith.cmpi sle, %end, %width : index
      scf.if %isWhole {
        %key = arith.remui %row, %c4 : index
        %at = arith.xori %column, %key : index
        memref.store %i, %v[%row, %at] : memref<5x72xindex, #gpu.address_space<workgroup>>
      }
      %before = arith.subi %column, %c4 : index
      %isSecond = arith.cmpi sge, %before, %c0 : index
      scf.if %isSecond {
        scf.for %j = %before to %column step %c1 {
          %key = arith.remui %row, %c4 : index
          %at = arith.xori %j, %key : index
          // expected-warning @+2 {{possible data race}}
          // expected-note @-9 {{the other access}}
          memref.store %i, %v[%row, %at] : memref<5x72xindex, #gpu.address_space<workgroup>>
        }
      }
    }
    gpu.return
  }

  // A remainder by a number that is not known is not negative, and below it, also where it is taken away; rows of 65 and of 63.
  gpu.func @of_two_rows(%n: index) workgroup(%v: memref<5x65xindex, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c5 = arith.constant 5 : index
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %width = affine.min #width(%n, %b)
    %most = arith.maxsi %width, %c0 : index
    %all = arith.muli %most, %c5 overflow<nsw> : index
    %line = memref.reinterpret_cast %v to offset: [0], sizes: [325], strides: [1]
        : memref<5x65xindex, #gpu.address_space<workgroup>> to memref<325xindex, #gpu.address_space<workgroup>>
    scf.for %i = %t to %all step %c64 {
      %column = arith.remui %i, %most : index
      %row = arith.divui %i, %most : index
      %back = arith.subi %c64, %column : index
      memref.store %i, %v[%row, %back] : memref<5x65xindex, #gpu.address_space<workgroup>>
    }
    gpu.barrier
    scf.for %i = %t to %all step %c64 {
      %column = arith.remui %i, %most : index
      %row = arith.divui %i, %most : index
      %start = arith.muli %row, %c63 : index
      %at = arith.addi %start, %column : index
      // expected-warning @+2 {{possible data race}}
      // expected-note @+1 {{the other access}}
      memref.store %i, %line[%at] : memref<325xindex, #gpu.address_space<workgroup>>
    }
    gpu.return
  }

  // Rows of 70, in tiles of 64 columns: of two tiles, and two rows, blocks never write to one place.
  gpu.func @rows(%y: memref<?xindex>, %n: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %tile = arith.constant 64 : index
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %row = affine.apply affine_map<(t, b) -> ((b floordiv 2) * 128 + (t floordiv 16) * 16 + (t mod 2) * 8)>(%t, %b)
    %next = arith.addi %row, %c1 : index
    %column = affine.apply affine_map<(t) -> ((t floordiv 2) mod 8 * 8)>(%t)
    %left = affine.apply affine_map<(b) -> (70 - (b mod 2) * 64)>(%b)
    %most = arith.minsi %left, %tile : index
    scf.for %j = %c0 to %c8 step %c1 {
      %own = arith.addi %column, %j : index
      %isIn = arith.cmpi ult, %own, %most : index
      scf.if %isIn {
        %at = affine.apply affine_map<(r, b, c) -> (r * 70 + (b mod 2) * 64 + c)>(%row, %b, %own)
        memref.store %j, %y[%at] : memref<?xindex>
        %behind = affine.apply affine_map<(r, b, c) -> (r * 70 + (b mod 2) * 64 + c)>(%next, %b, %own)
        memref.store %j, %y[%behind] : memref<?xindex>
      }
    }
    gpu.return
  }

  // The last of 70 columns in rows of 69 is the first one of the next row.
  gpu.func @short_rows(%y: memref<?xindex>, %n: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %tile = arith.constant 64 : index
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %row = affine.apply affine_map<(t, b) -> ((b floordiv 2) * 128 + (t floordiv 16) * 16 + (t mod 2) * 8)>(%t, %b)
    %next = arith.addi %row, %c1 : index
    %column = affine.apply affine_map<(t) -> ((t floordiv 2) mod 8 * 8)>(%t)
    %left = affine.apply affine_map<(b) -> (70 - (b mod 2) * 64)>(%b)
    %most = arith.minsi %left, %tile : index
    scf.for %j = %c0 to %c8 step %c1 {
      %own = arith.addi %column, %j : index
      %isIn = arith.cmpi ult, %own, %most : index
      scf.if %isIn {
        %at = affine.apply affine_map<(r, b, c) -> (r * 69 + (b mod 2) * 64 + c)>(%row, %b, %own)
        memref.store %j, %y[%at] : memref<?xindex>
        %behind = affine.apply affine_map<(r, b, c) -> (r * 69 + (b mod 2) * 64 + c)>(%next, %b, %own)
        // expected-warning @+2 {{possible data race}}
        // expected-note @-3 {{the other access}}
        memref.store %j, %y[%behind] : memref<?xindex>
      }
    }
    gpu.return
  }

  // The last tile of 70 columns has 6: half of nine times as many as a tile has is a divisor, as none has no column.
  gpu.func @of_tile() workgroup(%v: memref<2304xindex, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c9 = arith.constant 9 : index
    %c256 = arith.constant 256 : index
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %width = affine.min affine_map<(b) -> (70 - (b mod 2) * 64, 64)>(%b)
    %all = arith.muli %width, %c9 overflow<nsw, nuw> : index
    %pairs = arith.divui %all, %c2 : index
    %n = arith.muli %pairs, %c4 overflow<nsw, nuw> : index
    scf.for %i = %t to %n step %c256 {
      %pair = arith.remui %i, %pairs : index
      %row = arith.divui %i, %pairs : index
      %at = affine.apply affine_map<(r, c) -> (r * 576 + c * 2)>(%row, %pair)
      memref.store %i, %v[%at] : memref<2304xindex, #gpu.address_space<workgroup>>
    }
    gpu.return
  }

  // Rows of 576 that begin 500 apart.
  gpu.func @of_long_tile() workgroup(%v: memref<2304xindex, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c9 = arith.constant 9 : index
    %c256 = arith.constant 256 : index
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %width = affine.min affine_map<(b) -> (70 - (b mod 2) * 64, 64)>(%b)
    %all = arith.muli %width, %c9 overflow<nsw, nuw> : index
    %pairs = arith.divui %all, %c2 : index
    %n = arith.muli %pairs, %c4 overflow<nsw, nuw> : index
    scf.for %i = %t to %n step %c256 {
      %pair = arith.remui %i, %pairs : index
      %row = arith.divui %i, %pairs : index
      %at = affine.apply affine_map<(r, c) -> (r * 500 + c * 2)>(%row, %pair)
      // expected-warning @+2 {{possible data race}}
      // expected-note @+1 {{the other access}}
      memref.store %i, %v[%at] : memref<2304xindex, #gpu.address_space<workgroup>>
    }
    gpu.return
  }

  // Who counts up to a product of the rows, of which there are some, knows that there are columns.
  gpu.func @of_positive_product(%m: index) workgroup(%v: memref<32x33xindex, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c256 = arith.constant 256 : index
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %rows = affine.min affine_map<(b) -> (130 - (b mod 5) * 32, 32)>(%b)
    %columns = affine.min affine_map<(b)[m] -> (m - (b floordiv 5) * 32, 32)>(%b)[%m]
    %n = arith.muli %rows, %columns overflow<nsw, nuw> : index
    scf.for %i = %t to %n step %c256 {
      %column = arith.remui %i, %columns : index
      %row = arith.divui %i, %columns : index
      memref.store %i, %v[%row, %column] : memref<32x33xindex, #gpu.address_space<workgroup>>
    }
    gpu.return
  }

  // The remainder by the one number and the quotient by the other one tell no two elements apart.
  gpu.func @of_two_divisors(%m: index) workgroup(%v: memref<32x33xindex, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c256 = arith.constant 256 : index
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %rows = affine.min affine_map<(b) -> (130 - (b mod 5) * 32, 32)>(%b)
    %columns = affine.min affine_map<(b)[m] -> (m - (b floordiv 5) * 32, 32)>(%b)[%m]
    %n = arith.muli %rows, %columns overflow<nsw, nuw> : index
    scf.for %i = %t to %n step %c256 {
      %column = arith.remui %i, %columns : index
      %row = arith.divui %i, %rows : index
      // expected-warning @+2 {{possible data race}}
      // expected-note @+1 {{the other access}}
      memref.store %i, %v[%row, %column] : memref<32x33xindex, #gpu.address_space<workgroup>>
    }
    gpu.return
  }

  // Rows of 70: eight elements a thread but for the last one of a row, which has six; four of the eight are stored.
  gpu.func @of_last(%x: f16, %v: vector<4xf16>) workgroup(%S: memref<64x96xf16, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c9 = arith.constant 9 : index
    %c70 = arith.constant 70 : index
    %c256 = arith.constant 256 : index
    %c450 = arith.constant 450 : index
    %t = gpu.thread_id x
    scf.for %i = %t to %c450 step %c256 {
      %part = arith.remui %i, %c9 : index
      %row = arith.divui %i, %c9 : index
      %column = arith.muli %part, %c8 : index
      %end = arith.addi %column, %c8 : index
      %whole = arith.cmpi sle, %end, %c70 : index
      %low = arith.remui %row, %c8 : index
      %key = arith.muli %low, %c4 : index
      scf.if %whole {
        %p = arith.xori %column, %key : index
        vector.store %v, %S[%row, %p] : memref<64x96xf16, #gpu.address_space<workgroup>>, vector<4xf16>
      } else {
        scf.for %j = %column to %c70 step %c1 {
          %p = arith.xori %j, %key : index
          memref.store %x, %S[%row, %p] : memref<64x96xf16, #gpu.address_space<workgroup>>
        }
      }
    }
    gpu.return
  }

  // The last one starts at the end of the one before it.
  gpu.func @of_last_too_early(%x: f16, %v: vector<8xf16>) workgroup(%S: memref<64x96xf16, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c9 = arith.constant 9 : index
    %c70 = arith.constant 70 : index
    %c256 = arith.constant 256 : index
    %c450 = arith.constant 450 : index
    %t = gpu.thread_id x
    scf.for %i = %t to %c450 step %c256 {
      %part = arith.remui %i, %c9 : index
      %row = arith.divui %i, %c9 : index
      %column = arith.muli %part, %c8 : index
      %end = arith.addi %column, %c8 : index
      %whole = arith.cmpi sle, %end, %c70 : index
      scf.if %whole {
        // expected-note @+1 {{the other access}}
        vector.store %v, %S[%row, %column] : memref<64x96xf16, #gpu.address_space<workgroup>>, vector<8xf16>
      } else {
        %first = arith.subi %column, %c1 : index
        scf.for %j = %first to %c70 step %c1 {
          // expected-error @+1 {{cannot synchronize}}
          memref.store %x, %S[%row, %j] : memref<64x96xf16, #gpu.address_space<workgroup>>
        }
      }
    }
    gpu.return
  }
}
