// RUN: mlir-opt %s --normalize-memrefs | FileCheck %s

// The affine map of a layout says where elements are: upstream makes of it the
// index into the flat buffer.

#wg = #gpu.address_space<workgroup>

// Boxes of 16 columns, 8 * 16 = 128 elements each.
!boxes = memref<8x32xf16, #workgroup.tile<8x32 by 16, chunk 8, xor 0, 0, 0>, #wg>

// CHECK-LABEL: func @boxes
// CHECK:         affine.load %{{.+}}[0]
// Row 7, column 15 of box 0: 7 * 16 + 15.
// CHECK:         affine.load %{{.+}}[127]
// Row 0, column 0 of box 1.
// CHECK:         affine.load %{{.+}}[128]
// Row 5, column 10 of box 1: 128 + 5 * 16 + 10.
// CHECK:         affine.load %{{.+}}[218]
// CHECK:         affine.load %{{.+}}[255]
func.func @boxes() {
  %tile = memref.alloc() : !boxes
  %a = affine.load %tile[0, 0] : !boxes
  %b = affine.load %tile[7, 15] : !boxes
  %c = affine.load %tile[0, 16] : !boxes
  %d = affine.load %tile[5, 26] : !boxes
  %e = affine.load %tile[7, 31] : !boxes
  return
}

// The swizzle of 32 bytes: two chunks a row, exchanged in rows 4 to 7.
!bytes32 = memref<8x32xf16, #workgroup.tile<8x32 by 16, chunk 8, xor 2, 1, 0>, #wg>

// CHECK-LABEL: func @bytes32
// Row 3: as it is, 3 * 16 + 8 + 2.
// CHECK:         affine.load %{{.+}}[58]
// Row 5 of box 1: column 10 is element 2 of chunk 1 ^ 1 = 0, 128 + 5 * 16 + 2.
// CHECK:         affine.load %{{.+}}[210]
// Row 4 of box 1: column 0 is in chunk 0 ^ 1, 128 + 4 * 16 + 8.
// CHECK:         affine.load %{{.+}}[200]
func.func @bytes32() {
  %tile = memref.alloc() : !bytes32
  %a = affine.load %tile[3, 10] : !bytes32
  %b = affine.load %tile[5, 26] : !bytes32
  %c = affine.load %tile[4, 16] : !bytes32
  return
}

// The swizzle of 64 bytes: row r has chunk c at c ^ ((r >> 1) & 3).
!bytes64 = memref<8x32xf16, #workgroup.tile<8x32 by 32, chunk 8, xor 1, 3, 0>, #wg>

// CHECK-LABEL: func @bytes64
// Row 6: column 21 is element 5 of chunk 2 ^ 3 = 1, 6 * 32 + 8 + 5.
// CHECK:         affine.load %{{.+}}[205]
// Row 5: column 8 is element 0 of chunk 1 ^ 2 = 3, 5 * 32 + 24.
// CHECK:         affine.load %{{.+}}[184]
// Row 3: column 31 is element 7 of chunk 3 ^ 1 = 2, 3 * 32 + 16 + 7.
// CHECK:         affine.load %{{.+}}[119]
func.func @bytes64() {
  %tile = memref.alloc() : !bytes64
  %a = affine.load %tile[6, 21] : !bytes64
  %b = affine.load %tile[5, 8] : !bytes64
  %c = affine.load %tile[3, 31] : !bytes64
  return
}

// The bit of the row that the mask keeps goes where the scale says.
!scaled = memref<4x4xf32, #workgroup.tile<4x4 by 4, chunk 1, xor 1, 1, 1>, #wg>
!masked = memref<8x16xf32, #workgroup.tile<8x16 by 16, chunk 4, xor 0, 2, 0>, #wg>

// CHECK-LABEL: func @bits
// Row 3: column 1 is in chunk 1 ^ (1 << 1) = 3, 3 * 4 + 3.
// CHECK:         affine.load %{{.+}}[15]
// Row 7: column 5 is element 1 of chunk 1 ^ (7 & 2) = 3, 7 * 16 + 12 + 1.
// CHECK:         affine.load %{{.+}}[125]
func.func @bits() {
  %scaled = memref.alloc() : !scaled
  %a = affine.load %scaled[3, 1] : !scaled
  %masked = memref.alloc() : !masked
  %b = affine.load %masked[7, 5] : !masked
  return
}
