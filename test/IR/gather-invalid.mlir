// RUN: mlir-opt %s --split-input-file --verify-diagnostics

func.func @dynamic(%x: memref<8xf32>, %t: memref<?xf32, 3>) {
  // expected-error @+1 {{fills a tile of constant extents in workgroup memory, not 'memref<?xf32, 3>'}}
  workgroup.gather %x by affine_map<(i) -> (i)> to %t : memref<8xf32> to memref<?xf32, 3>
  return
}

// -----

func.func @types(%x: memref<8xf16>, %t: memref<8xf32, 3>) {
  // expected-error @+1 {{needs dimensions, and a source of the tile's element type, not 'memref<8xf16>'}}
  workgroup.gather %x by affine_map<(i) -> (i)> to %t : memref<8xf16> to memref<8xf32, 3>
  return
}

// -----

func.func @dimensions(%x: memref<8x8xf32>, %t: memref<8xf32, 3>) {
  // expected-error @+1 {{needs a map from the 1 dimensions of its tile to the 2 of its source, not affine_map<(d0) -> (d0)>}}
  workgroup.gather %x by affine_map<(i) -> (i)> to %t : memref<8x8xf32> to memref<8xf32, 3>
  return
}

// -----

func.func @symbols(%x: memref<8xf32>, %t: memref<8xf32, 3>) {
  // expected-error @+1 {{has 0 symbols for the 1 of its map}}
  workgroup.gather %x by affine_map<(i)[s] -> (i + s)> to %t : memref<8xf32> to memref<8xf32, 3>
  return
}

// -----

func.func @extents(%x: memref<8xf32>, %t: memref<8xf32, 3>, %n: index) {
  // expected-error @+1 {{has 2 extents for the 1 dimensions of its tile}}
  workgroup.gather %x by affine_map<(i) -> (i)> within [%n, %n] to %t : memref<8xf32> to memref<8xf32, 3>
  return
}
