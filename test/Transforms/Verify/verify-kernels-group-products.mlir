// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(workgroup-verify-kernels)' -o /dev/null

// What products of warp groups need of their kernel: tiles that begin where the swizzle does, and
// groups that are whole and together.

#rows = #workgroup.tile<64x64 by 64, chunk 8, xor 0, 7, 0>
!T = memref<4096xf16, #gpu.address_space<workgroup>>
!D = vector<2x2xf32>
gpu.module @right [#nvvm.target<chip = "sm_90a">] {
  gpu.func @right(%c0: index, %d: !D) workgroup(%a: !T {llvm.align = 1024 : i64}) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %r = workgroup.group_product %a[%c0] in #rows, %a[%c0] in #rows to %d : !T, !T to !D
    gpu.return
  }
}

// -----

#rows = #workgroup.tile<64x64 by 64, chunk 8, xor 0, 7, 0>
!T = memref<4096xf16, #gpu.address_space<workgroup>>
!D = vector<2x2xf32>
gpu.module @alignment [#nvvm.target<chip = "sm_90a">] {
  gpu.func @alignment(%c0: index, %d: !D) workgroup(%a: !T {llvm.align = 512 : i64}) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    // expected-error @+1 {{needs an alignment of 1024 bytes, but its buffer is aligned to 512; raise the alignment of the buffer}}
    %r = workgroup.group_product %a[%c0] in #rows, %a[%c0] in #rows to %d : !T, !T to !D
    gpu.return
  }
}

// -----

#rows = #workgroup.tile<64x64 by 64, chunk 8, xor 0, 7, 0>
!T = memref<4096xf16, #gpu.address_space<workgroup>>
!D = vector<2x2xf32>
gpu.module @threads [#nvvm.target<chip = "sm_90a">] {
  gpu.func @threads(%c0: index, %d: !D) workgroup(%a: !T {llvm.align = 1024 : i64}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    // expected-error @+1 {{needs blocks of whole warp groups, of 128 threads each, not of 64 threads}}
    %r = workgroup.group_product %a[%c0] in #rows, %a[%c0] in #rows to %d : !T, !T to !D
    gpu.return
  }
}

// -----

#rows = #workgroup.tile<64x64 by 64, chunk 8, xor 0, 7, 0>
!T = memref<4096xf16, #gpu.address_space<workgroup>>
!D = vector<2x2xf32>
gpu.module @divergent [#nvvm.target<chip = "sm_90a">] {
  gpu.func @divergent(%c0: index, %d: !D) workgroup(%a: !T {llvm.align = 1024 : i64}) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    // expected-note @+1 {{because this value may differ between them}}
    %x = gpu.thread_id x
    %is = arith.cmpi eq, %x, %c0 : index
    // expected-note @+1 {{threads of one block part here}}
    scf.if %is {
      // expected-error @+1 {{is not known to be executed by all threads of the block together; move it to where all of them pass}}
      %r = workgroup.group_product %a[%c0] in #rows, %a[%c0] in #rows to %d : !T, !T to !D
    }
    gpu.return
  }
}

// -----

#rows = #workgroup.tile<64x64 by 64, chunk 8, xor 0, 7, 0>
!T = memref<4096xf16, #gpu.address_space<workgroup>>
!D = vector<2x2xf32>
gpu.module @chip [#nvvm.target<chip = "sm_90">] {
  gpu.func @chip(%c0: index, %d: !D) workgroup(%a: !T {llvm.align = 1024 : i64}) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    // expected-error @+1 {{'workgroup.group_product' op with these types and attributes is not in sm_90, but in sm_90a}}
    %r = workgroup.group_product %a[%c0] in #rows, %a[%c0] in #rows to %d : !T, !T to !D
    gpu.return
  }
}

// -----

// Groups that other threads, behind them, do not follow.
#rows = #workgroup.tile<64x64 by 64, chunk 8, xor 0, 7, 0>
!T = memref<4096xf16, #gpu.address_space<workgroup>>
!D = vector<2x2xf32>
gpu.module @first_groups [#nvvm.target<chip = "sm_90a">] {
  gpu.func @first_groups(%c0: index, %n: index, %step: index, %d: !D) workgroup(%a: !T {llvm.align = 1024 : i64}) kernel
      attributes {known_block_size = array<i32: 288, 1, 1>} {
    %x = gpu.thread_id x
    %end = arith.constant 256 : index
    %is = arith.cmpi ult, %x, %end : index
    scf.if %is {
      %sum = scf.for %i = %c0 to %n step %step iter_args(%e = %d) -> (!D) {
        %r = workgroup.group_product %a[%c0] in #rows, %a[%c0] in #rows to %e {pending = 1 : i64} : !T, !T to !D
        scf.yield %r : !D
      }
      %done = workgroup.await_products %sum : !D
    }
    gpu.return
  }
}

// -----

#rows = #workgroup.tile<64x64 by 64, chunk 8, xor 0, 7, 0>
!T = memref<4096xf16, #gpu.address_space<workgroup>>
!D = vector<2x2xf32>
gpu.module @part_of_group [#nvvm.target<chip = "sm_90a">] {
  gpu.func @part_of_group(%c0: index, %d: !D) workgroup(%a: !T {llvm.align = 1024 : i64}) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-note @+1 {{because this value may differ between them}}
    %x = gpu.thread_id x
    %end = arith.constant 192 : index
    %is = arith.cmpi ult, %x, %end : index
    // expected-note @+1 {{threads of one block part here}}
    scf.if %is {
      // expected-error @+1 {{is not known to be executed by all threads of the block together; move it to where all of them pass}}
      %r = workgroup.group_product %a[%c0] in #rows, %a[%c0] in #rows to %d : !T, !T to !D
    }
    gpu.return
  }
}
