// RUN: mlir-opt %s --split-input-file --verify-diagnostics

#rows = #workgroup.tile<64x64 by 64, chunk 8, xor 0, 7, 0>
!T = memref<4096xf16, 3>
!D = vector<2x2xf32>
func.func @types(%a: !T, %b: memref<4096xbf16, 3>, %c0: index, %d: !D) {
  // expected-error @+1 {{has no product of 'f16' and 'bf16'}}
  %r = workgroup.group_product %a[%c0] in #rows, %b[%c0] in #rows to %d : !T, memref<4096xbf16, 3> to !D
  return
}

// -----

#rows = #workgroup.tile<64x64 by 64, chunk 8, xor 0, 7, 0>
!T = memref<4096xf16>
!D = vector<2x2xf32>
func.func @global(%a: !T, %c0: index, %d: !D) {
  // expected-error @+1 {{needs its tiles in contiguous workgroup memory of constant extent}}
  %r = workgroup.group_product %a[%c0] in #rows, %a[%c0] in #rows to %d : !T, !T to !D
  return
}

// -----

#rows = #workgroup.tile<64x64 by 64, chunk 8, xor 0, 7, 0>
!T = memref<2048xf16, 3>
!D = vector<2x2xf32>
func.func @size(%a: !T, %c0: index, %d: !D) {
  // expected-error @+1 {{has a layout of another size than a tile}}
  %r = workgroup.group_product %a[%c0] in #rows, %a[%c0] in #rows to %d : !T, !T to !D
  return
}

// -----

#plain = #workgroup.tile<64x64 by 64, chunk 8, xor 0, 0, 0>
!T = memref<4096xf16, 3>
!D = vector<2x2xf32>
func.func @swizzle(%a: !T, %c0: index, %d: !D) {
  // expected-error @+1 {{has a layout that is no swizzle of the hardware}}
  %r = workgroup.group_product %a[%c0] in #plain, %a[%c0] in #plain to %d : !T, !T to !D
  return
}

// -----

#rows = #workgroup.tile<64x128 by 128, chunk 16, xor 0, 7, 0>
!T = memref<8192xf8E4M3FN, 3>
!D = vector<2x2xf32>
func.func @across(%a: !T, %c0: index, %d: !D) {
  // expected-error @+1 {{multiplies only elements of 16 bits across the rows of a tile}}
  %r = workgroup.group_product %a[%c0] in #rows, %a[%c0] in #rows to %d {transpose_lhs} : !T, !T to !D
  return
}

// -----

#half = #workgroup.tile<64x32 by 32, chunk 8, xor 1, 3, 0>
!T = memref<2048xf16, 3>
!D = vector<2x2xf32>
func.func @narrow(%a: !T, %c0: index, %d: !D) {
  // expected-error @+1 {{multiplies across rows of 128 bytes only}}
  %r = workgroup.group_product %a[%c0] in #half, %a[%c0] in #half to %d : !T, !T to !D
  return
}

// -----

#rows = #workgroup.tile<64x64 by 64, chunk 8, xor 0, 7, 0>
#long = #workgroup.tile<128x64 by 64, chunk 8, xor 0, 7, 0>
!D = vector<2x2xf32>
func.func @steps(%a: memref<4096xf16, 3>, %b: memref<8192xf16, 3>, %c0: index, %d: !D) {
  // expected-error @+1 {{has tiles of 64 and 128 steps of the sum}}
  %r = workgroup.group_product %a[%c0] in #rows, %b[%c0] in #long to %d : memref<4096xf16, 3>, memref<8192xf16, 3> to !D
  return
}

// -----

#rows = #workgroup.tile<64x64 by 64, chunk 8, xor 0, 7, 0>
!T = memref<4096xf16, 3>
!D = vector<2xf32>
func.func @sums(%a: !T, %c0: index, %d: !D) {
  // expected-error @+1 {{needs sums of type 'vector<2x2xf32>'}}
  %r = workgroup.group_product %a[%c0] in #rows, %a[%c0] in #rows to %d : !T, !T to !D
  return
}

// -----

#rows = #workgroup.tile<64x64 by 64, chunk 8, xor 0, 7, 0>
!T = memref<4096xf16, 3>
!D = vector<2x2xf32>
func.func @columns(%a: !T, %c0: index, %d: !D) {
  // expected-error @+1 {{reads beyond its tiles of 64 rows and 64 columns}}
  %r:9 = workgroup.group_product %a[%c0] in #rows, %a[%c0] in #rows to %d, %d, %d, %d, %d, %d, %d, %d, %d
      : !T, !T to !D, !D, !D, !D, !D, !D, !D, !D, !D
  return
}

// -----

#rows = #workgroup.tile<32x64 by 64, chunk 8, xor 0, 7, 0>
!T = memref<2048xf16, 3>
!D = vector<2x2xf32>
func.func @few_rows(%a: !T, %c0: index, %d: !D) {
  // expected-error @+1 {{reads beyond its tiles of 32 rows and 32 columns}}
  %r = workgroup.group_product %a[%c0] in #rows, %a[%c0] in #rows to %d {transpose_rhs} : !T, !T to !D
  return
}

// -----

#rows = #workgroup.tile<64x64 by 64, chunk 8, xor 0, 7, 0>
func.func @copy_of_another_size(%x: memref<64x64xf16>, %t: memref<2048xf16, 3>) {
  // expected-error @+1 {{needs storage of rank 1 for a tile of layout #workgroup.tile<64x64 by 64, chunk 8, xor 0, 7, 0>, not 'memref<2048xf16, 3>'}}
  workgroup.copy %x to %t in #rows : memref<64x64xf16> to memref<2048xf16, 3>
  return
}

// -----

#rows = #workgroup.tile<64x64 by 64, chunk 8, xor 0, 7, 0>
func.func @copy_of_more(%x: memref<64x65xf16>, %t: memref<4096xf16, 3>) {
  // expected-error @+1 {{has a source of extent 65, larger than the tile's 64}}
  workgroup.copy %x to %t in #rows : memref<64x65xf16> to memref<4096xf16, 3>
  return
}

// -----

#rows = #workgroup.tile<68x64 by 64, chunk 8, xor 0, 7, 0>
!T = memref<4352xf16, 3>
!D = vector<2x2xf32>
func.func @pattern(%a: !T, %c0: index, %d: !D) {
  // expected-error @+1 {{needs tiles whose rows are a multiple of 8}}
  %r = workgroup.group_product %a[%c0] in #rows, %a[%c0] in #rows to %d {transpose_rhs} : !T, !T to !D
  return
}

// -----

#rows = #workgroup.tile<8x64 by 64, chunk 8, xor 0, 7, 0>
!T = memref<512xf16, 3>
!D = vector<2x2xf32>
func.func @step(%a: !T, %c0: index, %d: !D) {
  // expected-error @+1 {{needs a sum of whole steps of 32 bytes}}
  %r = workgroup.group_product %a[%c0] in #rows, %a[%c0] in #rows to %d {transpose_lhs} : !T, !T to !D
  return
}

// -----

#rows = #workgroup.tile<64x64 by 64, chunk 8, xor 0, 7, 0>
!T = memref<4096xf16, 3>
!D = vector<2x2xf32>
func.func @pending(%a: !T, %c0: index, %d: !D) {
  // expected-error @+1 {{leaves 8 products under way, not 0 to 7}}
  %r = workgroup.group_product %a[%c0] in #rows, %a[%c0] in #rows to %d {pending = 8 : i64} : !T, !T to !D
  return
}

// -----

#rows = #workgroup.tile<64x64 by 64, chunk 8, xor 0, 7, 0>
!T = memref<4096xf16, 3>
!D = vector<2x2xf32>
func.func @used_early(%a: !T, %n: index, %c0: index, %c1: index, %d: !D) -> !D {
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%x = %d) -> !D {
    // expected-error @+1 {{has a result that is used while the product is under way; await it before by workgroup.await_products}}
    %r = workgroup.group_product %a[%c0] in #rows, %a[%c0] in #rows to %x {pending = 1 : i64} : !T, !T to !D
    scf.yield %r : !D
  }
  // expected-note @+1 {{here}}
  %y = arith.addf %sum, %d : !D
  return %y : !D
}

// -----

#rows = #workgroup.tile<64x64 by 64, chunk 8, xor 0, 7, 0>
!T = memref<4096xf16, 3>
!R = !workgroup.ring<3 slots of memref<4096xf16, 3>>
!D = vector<2x2xf32>
func.func @released_early(%n: index, %c0: index, %c1: index, %d: !D) {
  // expected-error @+1 {{is released while a product reads the slot: 1 may be under way, and the lag is 0}}
  %ring = workgroup.ring : !R
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%x = %d) -> !D {
    %p = workgroup.put %ring : !R -> !T
    workgroup.commit %ring : !R
    %t = workgroup.get %ring : !R -> !T
    // expected-note @+1 {{here}}
    %r = workgroup.group_product %t[%c0] in #rows, %t[%c0] in #rows to %x {pending = 1 : i64} : !T, !T to !D
    workgroup.release %ring : !R
    scf.yield %r : !D
  }
  return
}

// -----

!R = !workgroup.ring<3 slots of memref<4096xf16, 3>>
func.func @lag(%n: index, %c0: index, %c1: index) {
  // expected-error @+1 {{would deadlock: 4 slots are in use at a time, and there are 3}}
  %ring = workgroup.ring : !R
  scf.for %i = %c0 to %n step %c1 {
    %p = workgroup.put %ring : !R -> memref<4096xf16, 3>
    workgroup.commit %ring : !R
    %t = workgroup.get %ring : !R -> memref<4096xf16, 3>
    workgroup.release %ring {lag = 3 : i64} : !R
  }
  return
}

// -----

!R = !workgroup.ring<3 slots of memref<4096xf16, 3>>
func.func @negative(%n: index, %c0: index, %c1: index) {
  %ring = workgroup.ring : !R
  scf.for %i = %c0 to %n step %c1 {
    %p = workgroup.put %ring : !R -> memref<4096xf16, 3>
    workgroup.commit %ring : !R
    %t = workgroup.get %ring : !R -> memref<4096xf16, 3>
    // expected-error @+1 {{has a lag of -1, which is negative}}
    workgroup.release %ring {lag = -1 : i64} : !R
  }
  return
}

// -----

!R = !workgroup.ring<3 slots of memref<4096xf16, 3>>
func.func @held(%n: index, %c0: index, %c1: index) {
  // expected-error @+1 {{would deadlock: 4 slots are in use at a time, and there are 3}}
  %ring = workgroup.ring : !R
  workgroup.specialize {consumers = 128 : i64, producers = 32 : i64} consumer {
    scf.for %i = %c0 to %n step %c1 {
      %t = workgroup.get %ring : !R -> memref<4096xf16, 3>
      workgroup.release %ring {lag = 3 : i64} : !R
    }
  } producer {
    scf.for %i = %c0 to %n step %c1 {
      %p = workgroup.put %ring : !R -> memref<4096xf16, 3>
      workgroup.commit %ring : !R
    }
  }
  return
}

// -----

func.func @warps() {
  // expected-error @+1 {{needs whole warps of consumers and of producers, not 100 and 32 threads}}
  workgroup.specialize {consumers = 100 : i64, producers = 32 : i64} consumer {} producer {}
  return
}

// -----

func.func @registers() {
  // expected-error @+1 {{asks for 236 registers, no multiple of 8 from 24 to 240}}
  workgroup.specialize {consumers = 128 : i64, producers = 128 : i64, registers = array<i64: 236, 40>} consumer {} producer {}
  return
}

// -----

func.func @groups() {
  // expected-error @+1 {{changes registers of 128 and 32 threads, which are no whole warp groups of 128}}
  workgroup.specialize {consumers = 128 : i64, producers = 32 : i64, registers = array<i64: 232, 40>} consumer {} producer {}
  return
}

// -----

#rows = #workgroup.tile<64x64 by 64, chunk 8, xor 0, 7, 0>
!T = memref<4096xf16, 3>
!D = vector<2x2xf32>
func.func @no_sign(%a: !T, %c0: index, %d: !D) {
  // expected-error @+1 {{has factors without a sign that are no integers}}
  %r = workgroup.group_product %a[%c0] in #rows, %a[%c0] in #rows to %d {transpose_rhs, unsigned_lhs} : !T, !T to !D
  return
}

// -----

#rows = #workgroup.tile<64x128 by 128, chunk 16, xor 0, 7, 0>
!T = memref<8192xi8, 3>
!D = vector<2x2xi32>
func.func @integer_columns(%a: !T, %c0: index, %d: !D) {
  // expected-error @+1 {{has sums of integers of more than 32 columns, no multiple of 16}}
  %r:5 = workgroup.group_product %a[%c0] in #rows, %a[%c0] in #rows to %d, %d, %d, %d, %d {transpose_rhs} : !T, !T to !D, !D, !D, !D, !D
  return
}

// -----

#rows = #workgroup.tile<64x128 by 128, chunk 16, xor 0, 7, 0>
!T = memref<8192xi8, 3>
!D = vector<2x2xf32>
func.func @sums_of_integers(%a: !T, %c0: index, %d: !D) {
  // expected-error @+1 {{needs sums of type 'vector<2x2xi32>'}}
  %r = workgroup.group_product %a[%c0] in #rows, %a[%c0] in #rows to %d {transpose_rhs} : !T, !T to !D
  return
}

// -----

#rows = #workgroup.tile<64x128 by 128, chunk 16, xor 0, 7, 0>
!T = memref<8192xi8, 3>
!D = vector<2x2xi32>
func.func @integers_across_rows(%a: !T, %c0: index, %d: !D) {
  // expected-error @+1 {{multiplies only elements of 16 bits across the rows of a tile}}
  %r = workgroup.group_product %a[%c0] in #rows, %a[%c0] in #rows to %d : !T, !T to !D
  return
}
