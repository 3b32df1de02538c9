// RUN: mlir-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{a ring has at least one slot, not 0}}
func.func private @no_slot(!workgroup.ring<0 slots of memref<4xf32, 3>>)

// -----

// expected-error @+1 {{a tile has constant extents, unlike 'memref<?xf32, 3>'}}
func.func private @dynamic(!workgroup.ring<2 slots of memref<?xf32, 3>>)

// -----

// expected-error @+1 {{a tile is in workgroup memory, unlike 'memref<4xf32>'}}
func.func private @global(!workgroup.ring<2 slots of memref<4xf32>>)

// -----

// expected-error @+1 {{33 columns are not cut into boxes of 32}}
func.func private @boxes(memref<8x33xf16, #workgroup.tile<8x33 by 32, chunk 8, xor 0, 3, 0>, 3>)

// -----

// expected-error @+1 {{xor leaves the row of 4 chunks}}
func.func private @mask(memref<8x32xf16, #workgroup.tile<8x32 by 32, chunk 8, xor 0, 7, 0>, 3>)

// -----

// expected-error @+1 {{rows of 32 elements are not cut into chunks of 3, a power of two up to 16}}
func.func private @chunk(memref<8x32xf16, #workgroup.tile<8x32 by 32, chunk 3, xor 0, 3, 0>, 3>)

// -----

// expected-error @+1 {{expected two extents, as in 64x32}}
func.func private @rank(memref<8x32xf16, #workgroup.tile<8x32x4 by 32, chunk 8, xor 0, 3, 0>, 3>)

// -----

// expected-error @+1 {{is of another shape}}
func.func private @shape(memref<8x32xf16, #workgroup.tile<32x8 by 8, chunk 8, xor 0, 0, 0>, 3>)

// -----

!ring = !workgroup.ring<2 slots of memref<4xf32, 3>>
func.func @put_type(%ring: !ring) {
  // expected-error @+1 {{'workgroup.put' op gives other tiles than '!workgroup.ring<2 slots of memref<4xf32, 3>>' has}}
  %put = workgroup.put %ring : !ring -> memref<8xf32, 3>
  return
}

// -----

func.func @copy_extent(%a: memref<9xf32>, %tile: memref<8xf32, 3>) {
  // expected-error @+1 {{'workgroup.copy' op has a source of extent 9, larger than the tile's 8}}
  workgroup.copy %a to %tile : memref<9xf32> to memref<8xf32, 3>
  return
}

// -----

func.func @copy_type(%a: memref<8xf16>, %tile: memref<8xf32, 3>) {
  // expected-error @+1 {{needs a source of the tile's rank and element type, not 'memref<8xf16>'}}
  workgroup.copy %a to %tile : memref<8xf16> to memref<8xf32, 3>
  return
}

// -----

func.func @copy_space(%a: memref<8xf32>, %tile: memref<8xf32>) {
  // expected-error @+1 {{fills a tile of constant extents in workgroup memory, not 'memref<8xf32>'}}
  workgroup.copy %a to %tile : memref<8xf32> to memref<8xf32>
  return
}

// -----

!ring = !workgroup.ring<2 slots of memref<4xf32, 3>>
func.func @twice() {
  // expected-error @+1 {{'workgroup.ring' op has puts and commits that do not take turns}}
  %ring = workgroup.ring : !ring
  %a = workgroup.put %ring : !ring -> memref<4xf32, 3>
  %b = workgroup.put %ring : !ring -> memref<4xf32, 3>
  workgroup.commit %ring : !ring
  workgroup.commit %ring : !ring
  return
}

// -----

!ring = !workgroup.ring<2 slots of memref<4xf32, 3>>
func.func @open() {
  // expected-error @+1 {{has puts and commits that do not take turns}}
  %ring = workgroup.ring : !ring
  %a = workgroup.put %ring : !ring -> memref<4xf32, 3>
  return
}

// -----

!ring = !workgroup.ring<2 slots of memref<4xf32, 3>>
func.func @early() {
  // expected-error @+1 {{would deadlock: a slot is got before it is committed}}
  %ring = workgroup.ring : !ring
  %b = workgroup.get %ring : !ring -> memref<4xf32, 3>
  %a = workgroup.put %ring : !ring -> memref<4xf32, 3>
  workgroup.commit %ring : !ring
  workgroup.release %ring : !ring
  return
}

// -----

!ring = !workgroup.ring<2 slots of memref<4xf32, 3>>
func.func @release() {
  // expected-error @+1 {{has a release without a slot that was got}}
  %ring = workgroup.ring : !ring
  workgroup.release %ring : !ring
  return
}

// -----

// One slot, and one is held while the next is put.
!ring = !workgroup.ring<1 slots of memref<4xf32, 3>>
func.func @lag() {
  // expected-error @+1 {{would deadlock: 2 slots are in use at a time, and there is 1}}
  %ring = workgroup.ring : !ring
  %a = workgroup.put %ring : !ring -> memref<4xf32, 3>
  workgroup.commit %ring : !ring
  %b = workgroup.get %ring : !ring -> memref<4xf32, 3>
  %c = workgroup.put %ring : !ring -> memref<4xf32, 3>
  workgroup.commit %ring : !ring
  workgroup.release %ring : !ring
  return
}

// -----

!ring = !workgroup.ring<2 slots of memref<4xf32, 3>>
func.func @iteration(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{is left otherwise after an iteration than before it}}
  %ring = workgroup.ring : !ring
  // expected-note @+1 {{here}}
  scf.for %i = %c0 to %n step %c1 {
    %a = workgroup.put %ring : !ring -> memref<4xf32, 3>
    workgroup.commit %ring : !ring
  }
  return
}

// -----

!ring = !workgroup.ring<2 slots of memref<4xf32, 3>>
func.func @branch(%condition: i1) {
  // expected-error @+1 {{is used otherwise in one branch than in another}}
  %ring = workgroup.ring : !ring
  // expected-note @+1 {{here}}
  scf.if %condition {
    %a = workgroup.put %ring : !ring -> memref<4xf32, 3>
    workgroup.commit %ring : !ring
  }
  return
}

// -----

!ring = !workgroup.ring<2 slots of memref<4xf32, 3>>
func.func @other() {
  // expected-error @+1 {{is used by what is neither put, commit, get nor release}}
  %ring = workgroup.ring : !ring
  // expected-note @+1 {{here}}
  %a = builtin.unrealized_conversion_cast %ring : !ring to index
  return
}

// -----

// A block that may come any number of times.
!ring = !workgroup.ring<2 slots of memref<4xf32, 3>>
func.func @blocks(%condition: i1) {
  // expected-error @+1 {{is left otherwise at the end of a block than at its start}}
  %ring = workgroup.ring : !ring
  cf.br ^loop
^loop:
  // expected-note @+1 {{here}}
  %a = workgroup.put %ring : !ring -> memref<4xf32, 3>
  workgroup.commit %ring : !ring
  cf.cond_br %condition, ^loop, ^end
^end:
  return
}

// -----

// An iteration that does not give back the slot that it read.
!ring = !workgroup.ring<2 slots of memref<4xf32, 3>>
func.func @no_release(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{is left otherwise after an iteration than before it}}
  %ring = workgroup.ring : !ring
  // expected-note @+1 {{here}}
  scf.for %i = %c0 to %n step %c1 {
    %a = workgroup.put %ring : !ring -> memref<4xf32, 3>
    workgroup.commit %ring : !ring
    %b = workgroup.get %ring : !ring -> memref<4xf32, 3>
  }
  return
}

// -----

func.func @part_of_a_warp() {
  // expected-error @+1 {{asks for 40 threads that fill it, which are no whole warps}}
  %ring = workgroup.ring {producers = 40 : i64} : !workgroup.ring<2 slots of memref<4xf32, 3>>
  return
}

// -----

func.func @no_blocks() {
  // expected-error @+1 {{asks for 65536 blocks}}
  %many = workgroup.ring {blocks = 65536 : i64} : !workgroup.ring<2 slots of memref<4xf32, 3>>
  return
}

// -----

func.func @zero_blocks() {
  // expected-error @+1 {{asks for 0 blocks}}
  %ring = workgroup.ring {blocks = 0 : i64} : !workgroup.ring<2 slots of memref<4xf32, 3>>
  return
}
