// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(workgroup-verify-sync)' -o /dev/null

// Places whose digits are by numbers that are not known.

!S = memref<?xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @block(%S: !S, %x: f32, %out: memref<?xf32> {llvm.noalias}) kernel {
    %tx = gpu.thread_id x
    %ty = gpu.thread_id y
    %tz = gpu.thread_id z
    %nx = gpu.block_dim x
    %ny = gpu.block_dim y
    %layer = arith.muli %tz, %ny : index
    %row = arith.addi %layer, %ty : index
    %start = arith.muli %row, %nx : index
    %t = arith.addi %start, %tx : index
    memref.store %x, %S[%t] : !S
    %y = memref.load %S[%t] : !S
    gpu.return
  }
}

// -----

// The same number, written another path.
!S = memref<?xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @layers(%S: !S, %x: f32) kernel {
    %tx = gpu.thread_id x
    %ty = gpu.thread_id y
    %tz = gpu.thread_id z
    %nx = gpu.block_dim x
    %ny = gpu.block_dim y
    %size = arith.muli %nx, %ny : index
    %layer = arith.muli %tz, %size : index
    %start = arith.muli %ty, %nx : index
    %row = arith.addi %layer, %start : index
    %t = arith.addi %row, %tx : index
    memref.store %x, %S[%t] : !S
    %y = memref.load %S[%t] : !S
    gpu.return
  }
}

// -----

// A column is below the number of columns.
!S = memref<?xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @columns(%S: !S, %x: f32, %n: index, %m: index) kernel {
    %tx = gpu.thread_id x
    %ty = gpu.thread_id y
    %tz = gpu.thread_id z
    %isColumn = arith.cmpi slt, %tx, %n : index
    %isRow = arith.cmpi slt, %ty, %m : index
    %isIn = arith.andi %isColumn, %isRow : i1
    scf.if %isIn {
      %layer = arith.muli %tz, %m : index
      %row = arith.addi %layer, %ty : index
      %start = arith.muli %row, %n : index
      %t = arith.addi %start, %tx : index
      memref.store %x, %S[%t] : !S
      %y = memref.load %S[%t] : !S
    }
    gpu.return
  }
}

// -----

// Or of another row.
!S = memref<?xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @other_columns(%S: !S, %x: f32, %n: index, %m: index) kernel {
    %tx = gpu.thread_id x
    %ty = gpu.thread_id y
    %tz = gpu.thread_id z
    %isRow = arith.cmpi slt, %ty, %m : index
    scf.if %isRow {
      %layer = arith.muli %tz, %m : index
      %row = arith.addi %layer, %ty : index
      %start = arith.muli %row, %n : index
      %t = arith.addi %start, %tx : index
      // expected-note @+1 {{the other access}}
      memref.store %x, %S[%t] : !S
      // expected-warning @+1 {{possible data race on}}
      %y = memref.load %S[%t] : !S
    }
    gpu.return
  }
}

// -----

// By the size of the other dimension.
!S = memref<?xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @wrong_size(%S: !S, %x: f32) kernel {
    %tx = gpu.thread_id x
    %ty = gpu.thread_id y
    %ny = gpu.block_dim y
    %start = arith.muli %ty, %ny : index
    %t = arith.addi %start, %tx : index
    // expected-note @+1 {{the other access}}
    memref.store %x, %S[%t] : !S
    // expected-warning @+1 {{possible data race on}}
    %y = memref.load %S[%t] : !S
    gpu.return
  }
}
