// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(workgroup-verify-sync)' -o /dev/null

// Arithmetic that is not what it looks like at first sight.

// A conjunction of a value that is the same constant in every thread and a constant.
gpu.module @m {
  gpu.func @constants(%out: memref<128xindex> {llvm.noalias}) workgroup(%S: memref<256xindex, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %c255 = arith.constant 255 : index
    %c31 = arith.constant 31 : index
    %wide = arith.maxsi %t, %c255 : index
    %low = arith.andi %wide, %c31 : index
    // expected-note @+1 {{the other access}}
    memref.store %t, %S[%t] : memref<256xindex, #gpu.address_space<workgroup>>
    // expected-error @+1 {{data race on workgroup memory %arg1}}
    %x = memref.load %S[%low] : memref<256xindex, #gpu.address_space<workgroup>>
    memref.store %x, %out[%t] : memref<128xindex>
    gpu.return
  }
}

// -----

// Vectors of a view that goes backwards reach below the place of their first element.
gpu.module @m {
  gpu.func @backwards(%out: memref<4xf32> {llvm.noalias}, %in: memref<128xf32> {llvm.noalias}) workgroup(%S: memref<128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %c32 = arith.constant 32 : index
    %c124 = arith.constant 124 : index
    %zero = arith.constant 0.0 : f32
    %back = memref.reinterpret_cast %S to offset: [127], sizes: [128], strides: [-1]
        : memref<128xf32, #gpu.address_space<workgroup>> to memref<128xf32, strided<[-1], offset: 127>, #gpu.address_space<workgroup>>
    %v = memref.load %in[%t] : memref<128xf32>
    %writes = arith.cmpi eq, %t, %c32 : index
    scf.if %writes {
      // expected-note @+1 {{the other access}}
      memref.store %v, %S[%c124] : memref<128xf32, #gpu.address_space<workgroup>>
    }
    %reads = arith.cmpi eq, %t, %c0 : index
    scf.if %reads {
      // expected-error @+1 {{data race on workgroup memory %arg2}}
      %x = vector.transfer_read %back[%c0], %zero {in_bounds = [true]}
          : memref<128xf32, strided<[-1], offset: 127>, #gpu.address_space<workgroup>>, vector<4xf32>
      vector.transfer_write %x, %out[%c0] {in_bounds = [true]} : vector<4xf32>, memref<4xf32>
    }
    gpu.return
  }
}

// -----

// The same two apart from each other: below the four elements.
gpu.module @m {
  gpu.func @apart(%out: memref<4xf32> {llvm.noalias}, %in: memref<128xf32> {llvm.noalias}) workgroup(%S: memref<128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c123 = arith.constant 123 : index
    %zero = arith.constant 0.0 : f32
    %back = memref.reinterpret_cast %S to offset: [127], sizes: [128], strides: [-1]
        : memref<128xf32, #gpu.address_space<workgroup>> to memref<128xf32, strided<[-1], offset: 127>, #gpu.address_space<workgroup>>
    %v = memref.load %in[%t] : memref<128xf32>
    %writes = arith.cmpi eq, %t, %c32 : index
    scf.if %writes {
      memref.store %v, %S[%c123] : memref<128xf32, #gpu.address_space<workgroup>>
    }
    %reads = arith.cmpi eq, %t, %c0 : index
    scf.if %reads {
      %x = vector.transfer_read %back[%c0], %zero {in_bounds = [true]}
          : memref<128xf32, strided<[-1], offset: 127>, #gpu.address_space<workgroup>>, vector<4xf32>
      vector.transfer_write %x, %out[%c0] {in_bounds = [true]} : vector<4xf32>, memref<4xf32>
    }
    gpu.return
  }
}

// -----

// Numbers of 64 bits wrap, too: 8 << 60 is negative.
gpu.module @m {
  gpu.func @shift(%out: memref<128xindex> {llvm.noalias}) workgroup(%S: memref<1xindex, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c60 = arith.constant 60 : i64
    %zero = arith.constant 0 : i64
    %wide = arith.index_cast %t : index to i64
    %high = arith.shli %wide, %c60 : i64
    %isNegative = arith.cmpi slt, %high, %zero : i64
    scf.if %isNegative {
      // expected-warning @+2 {{possible data race on workgroup memory %arg1}}
      // expected-note @+1 {{the other access}}
      memref.store %t, %S[%c0] : memref<1xindex, #gpu.address_space<workgroup>>
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @sum(%n: i64, %out: memref<128xindex> {llvm.noalias}) workgroup(%S: memref<1xindex, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %wide = arith.index_cast %t : index to i64
    %sum = arith.addi %n, %wide : i64
    %hasWrapped = arith.cmpi slt, %sum, %wide : i64
    scf.if %hasWrapped {
      // expected-warning @+2 {{possible data race on workgroup memory %arg2}}
      // expected-note @+1 {{the other access}}
      memref.store %t, %S[%c0] : memref<1xindex, #gpu.address_space<workgroup>>
    }
    gpu.return
  }
}

// -----

// It cannot wrap, as it says.
gpu.module @m {
  gpu.func @promised(%n: i64, %out: memref<128xindex> {llvm.noalias}) workgroup(%S: memref<1xindex, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %wide = arith.index_cast %t : index to i64
    %sum = arith.addi %n, %wide overflow<nsw> : i64
    %isFirst = arith.cmpi eq, %sum, %n : i64
    scf.if %isFirst {
      memref.store %t, %S[%c0] : memref<1xindex, #gpu.address_space<workgroup>>
    }
    gpu.return
  }
}

// -----

// Constants near the limits of 64 bits.
gpu.module @m {
  gpu.func @limits(%out: memref<128xindex> {llvm.noalias}) workgroup(%S: memref<1xindex, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %min = arith.constant -9223372036854775808 : index
    %isLow = arith.cmpi sle, %t, %c32 : index
    %number = arith.select %isLow, %min, %c32 : index
    %isOther = arith.cmpi ne, %number, %t : index
    scf.if %isOther {
      // expected-warning @+2 {{possible data race on workgroup memory %arg1}}
      // expected-note @+1 {{the other access}}
      memref.store %t, %S[%c0] : memref<1xindex, #gpu.address_space<workgroup>>
    }
    gpu.return
  }
}

// -----

// What is as long as an index keeps its sign when it becomes one.
gpu.module @m {
  gpu.func @as_long(%out: memref<128xindex> {llvm.noalias}) workgroup(%S: memref<128xindex, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : i64
    %wide = arith.index_cast %t : index to i64
    %below = arith.subi %wide, %c64 : i64
    %number = arith.index_castui %below : i64 to index
    %isBelow = arith.cmpi slt, %number, %c0 : index
    scf.if %isBelow {
      // expected-warning @+2 {{possible data race on workgroup memory %arg1}}
      // expected-note @+1 {{the other access}}
      memref.store %t, %S[%c0] : memref<128xindex, #gpu.address_space<workgroup>>
    }
    gpu.return
  }
}

// -----

// What is cut off gets the sign of its first bit.
gpu.module @m {
  gpu.func @cut(%out: memref<256xindex> {llvm.noalias}) workgroup(%S: memref<1xindex, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i8
    %byte = arith.index_castui %t : index to i8
    %isBelow = arith.cmpi slt, %byte, %zero : i8
    scf.if %isBelow {
      // expected-warning @+2 {{possible data race on workgroup memory %arg1}}
      // expected-note @+1 {{the other access}}
      memref.store %t, %S[%c0] : memref<1xindex, #gpu.address_space<workgroup>>
    }
    gpu.return
  }
}

// -----

// A number and what is left of it in fewer bits are not chosen apart.
gpu.module @m {
  gpu.func @two_casts(%n: index, %out: memref<64xindex> {llvm.noalias}) workgroup(%S: memref<64xindex, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c63 = arith.constant 63 : index
    %u = arith.subi %c63, %t : index
    %zero = arith.constant 0 : i8
    %one = arith.constant 1 : i32
    %byte = arith.index_cast %n : index to i8
    %word = arith.index_cast %n : index to i32
    %isZero = arith.cmpi eq, %byte, %zero : i8
    %isOne = arith.cmpi eq, %word, %one : i32
    %areBoth = arith.andi %isZero, %isOne : i1
    scf.if %areBoth {
      // expected-note @+1 {{the other access}}
      memref.store %t, %S[%t] : memref<64xindex, #gpu.address_space<workgroup>>
      // expected-warning @+1 {{possible data race on workgroup memory}}
      %v = memref.load %S[%u] : memref<64xindex, #gpu.address_space<workgroup>>
      memref.store %v, %out[%t] : memref<64xindex>
    }
    gpu.return
  }
}

// -----

// By itself, what is left is as free as the number.
gpu.module @m {
  gpu.func @one_cast(%n: index, %out: memref<64xindex> {llvm.noalias}) workgroup(%S: memref<64xindex, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c63 = arith.constant 63 : index
    %u = arith.subi %c63, %t : index
    %zero = arith.constant 0 : i32
    %word = arith.index_cast %n : index to i32
    %isZero = arith.cmpi eq, %word, %zero : i32
    scf.if %isZero {
      // expected-note @+1 {{the other access}}
      memref.store %t, %S[%t] : memref<64xindex, #gpu.address_space<workgroup>>
      // expected-error @+1 {{data race on workgroup memory}}
      %v = memref.load %S[%u] : memref<64xindex, #gpu.address_space<workgroup>>
      memref.store %v, %out[%t] : memref<64xindex>
    }
    gpu.return
  }
}

// -----

// A power of a sum has more parts than there is time for.
gpu.module @m {
  gpu.func @power(%n: index) workgroup(%S: memref<64xindex, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c64 = arith.constant 64 : index
    %t = gpu.thread_id x
    %a0 = arith.addi %n, %t : index
    %a1 = arith.muli %a0, %a0 : index
    %a2 = arith.muli %a1, %a1 : index
    %a3 = arith.muli %a2, %a2 : index
    %a4 = arith.muli %a3, %a3 : index
    %a5 = arith.muli %a4, %a4 : index
    %a6 = arith.muli %a5, %a5 : index
    %a7 = arith.muli %a6, %a6 : index
    %a8 = arith.muli %a7, %a7 : index
    %a9 = arith.muli %a8, %a8 : index
    %a10 = arith.muli %a9, %a9 : index
    %a11 = arith.muli %a10, %a10 : index
    %a12 = arith.muli %a11, %a11 : index
    %i = arith.remui %a12, %c64 : index
    // expected-warning @+2 {{possible data race on workgroup memory %arg1}}
    // expected-note @+1 {{the other access}}
    memref.store %t, %S[%i] : memref<64xindex, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

// Halved from iteration to iteration, the distance is not below zero: it does not matter how it is compared.
gpu.module @kernels {
  gpu.func @halved(%x: f32, %S: memref<128xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c7 = arith.constant 7 : index
    %c64 = arith.constant 64 : index
    %t = gpu.thread_id x
    memref.store %x, %S[%t] : memref<128xf32, #gpu.address_space<workgroup>>
    scf.for %i = %c0 to %c7 step %c1 {
      gpu.barrier
      %s = arith.shrui %c64, %i : index
      %in = arith.cmpi ult, %t, %s : index
      scf.if %in {
        %u = arith.addi %t, %s : index
        %a = memref.load %S[%t] : memref<128xf32, #gpu.address_space<workgroup>>
        %b = memref.load %S[%u] : memref<128xf32, #gpu.address_space<workgroup>>
        %c = arith.addf %a, %b : f32
        memref.store %c, %S[%t] : memref<128xf32, #gpu.address_space<workgroup>>
      }
    }
    gpu.return
  }
}

// -----

// A number below zero is large to an unsigned comparison; but thread 0 would leave its buffer then.
gpu.module @kernels {
  gpu.func @rows(%D: memref<?xf32>, %n: index, %x: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %in = arith.cmpi ult, %t, %n : index
    scf.if %in {
      // expected-note @+1 {{the other access}}
      memref.store %x, %D[%t] : memref<?xf32>
      %u = arith.addi %n, %t : index
      // expected-warning @+1 {{a number that the kernel is given has to be below zero}}
      memref.store %x, %D[%u] : memref<?xf32>
    }
    gpu.return
  }
}
