// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-form-rings{slots=3 chip=sm_90a assume-distinct-arguments=true},workgroup-lower-contractions{chip=sm_90a assume-alignment=16 assume-distinct-arguments=true})' --remarks-filter='workgroup-lower-contractions' --remark-format=emitRemark --verify-diagnostics -o /dev/null

// Why warp groups do not multiply tiles where they are.

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>

func.func @rows(%a: memref<128x256xf16>, %b: memref<256x64xf16>, %c: memref<128x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %step = arith.constant 64 : index
  %end = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%bx = %threads, %by = %c1, %bz = %c1) {
    %ta = memref.alloc() : memref<128x64xf16, #wg>
    %tb = memref.alloc() : memref<64x64xf16, #wg>
    %sum = memref.alloca() : memref<128x64xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<128x64xf32, #own>)
    scf.for %k = %c0 to %end step %step {
      %ga = memref.subview %a[%c0, %k] [128, 64] [1, 1] : memref<128x256xf16> to memref<128x64xf16, strided<[256, 1], offset: ?>>
      %gb = memref.subview %b[%k, %c0] [64, 64] [1, 1] : memref<256x64xf16> to memref<64x64xf16, strided<[64, 1], offset: ?>>
      memref.copy %ga, %ta : memref<128x64xf16, strided<[256, 1], offset: ?>> to memref<128x64xf16, #wg>
      memref.copy %gb, %tb : memref<64x64xf16, strided<[64, 1], offset: ?>> to memref<64x64xf16, #wg>
      // expected-remark @+2 {{128 threads do not consist of a warp group for each 64 of 128 rows}}
      // expected-remark @+1 {{contraction of tiles shared out to threads}}
      linalg.matmul ins(%ta, %tb : memref<128x64xf16, #wg>, memref<64x64xf16, #wg>) outs(%sum : memref<128x64xf32, #own>)
    }
    memref.copy %sum, %c : memref<128x64xf32, #own> to memref<128x64xf32>
    gpu.terminator
  }
  return
}

// -----

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>

func.func @across(%a: memref<64x256xf16>, %b: memref<256x32xf16>, %c: memref<64x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %step = arith.constant 64 : index
  %end = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%bx = %threads, %by = %c1, %bz = %c1) {
    %ta = memref.alloc() : memref<64x64xf16, #wg>
    %tb = memref.alloc() : memref<64x32xf16, #wg>
    %sum = memref.alloca() : memref<64x32xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x32xf32, #own>)
    scf.for %k = %c0 to %end step %step {
      %ga = memref.subview %a[%c0, %k] [64, 64] [1, 1] : memref<64x256xf16> to memref<64x64xf16, strided<[256, 1], offset: ?>>
      %gb = memref.subview %b[%k, %c0] [64, 32] [1, 1] : memref<256x32xf16> to memref<64x32xf16, strided<[32, 1], offset: ?>>
      memref.copy %ga, %ta : memref<64x64xf16, strided<[256, 1], offset: ?>> to memref<64x64xf16, #wg>
      memref.copy %gb, %tb : memref<64x32xf16, strided<[32, 1], offset: ?>> to memref<64x32xf16, #wg>
      // expected-remark @+2 {{the steps of the sum are not contiguous in a tile whose elements are not of 16 bits, or whose rows are not of 128 bytes}}
      // expected-remark @+1 {{contraction of tiles shared out to threads}}
      linalg.matmul ins(%ta, %tb : memref<64x64xf16, #wg>, memref<64x32xf16, #wg>) outs(%sum : memref<64x32xf32, #own>)
    }
    memref.copy %sum, %c : memref<64x32xf32, #own> to memref<64x32xf32>
    gpu.terminator
  }
  return
}

// -----

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>

func.func @once(%a: memref<64x256xf16>, %b: memref<256x64xf16>, %c: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %step = arith.constant 256 : index
  %end = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%bx = %threads, %by = %c1, %bz = %c1) {
    %ta = memref.alloc() : memref<64x256xf16, #wg>
    %tb = memref.alloc() : memref<256x64xf16, #wg>
    %sum = memref.alloca() : memref<64x64xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x64xf32, #own>)
    scf.for %k = %c0 to %end step %step {
      %ga = memref.subview %a[%c0, %k] [64, 256] [1, 1] : memref<64x256xf16> to memref<64x256xf16, strided<[256, 1], offset: ?>>
      %gb = memref.subview %b[%k, %c0] [256, 64] [1, 1] : memref<256x64xf16> to memref<256x64xf16, strided<[64, 1], offset: ?>>
      memref.copy %ga, %ta : memref<64x256xf16, strided<[256, 1], offset: ?>> to memref<64x256xf16, #wg>
      memref.copy %gb, %tb : memref<256x64xf16, strided<[64, 1], offset: ?>> to memref<256x64xf16, #wg>
      // expected-remark @+2 {{a factor is no tile of a ring}}
      // expected-remark @+1 {{contraction of tiles shared out to threads}}
      linalg.matmul ins(%ta, %tb : memref<64x256xf16, #wg>, memref<256x64xf16, #wg>) outs(%sum : memref<64x64xf32, #own>)
    }
    memref.copy %sum, %c : memref<64x64xf32, #own> to memref<64x64xf32>
    gpu.terminator
  }
  return
}

// -----

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>

// Weights of 8 bits become f16 in registers.
func.func @converted(%a: memref<64x256xf16>, %b: memref<64x256xi8>, %c: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %step = arith.constant 64 : index
  %end = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%bx = %threads, %by = %c1, %bz = %c1) {
    %ta = memref.alloc() : memref<64x64xf16, #wg>
    %tb = memref.alloc() : memref<64x64xi8, #wg>
    %sum = memref.alloca() : memref<64x64xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x64xf32, #own>)
    scf.for %k = %c0 to %end step %step {
      %ga = memref.subview %a[%c0, %k] [64, 64] [1, 1] : memref<64x256xf16> to memref<64x64xf16, strided<[256, 1], offset: ?>>
      %gb = memref.subview %b[%c0, %k] [64, 64] [1, 1] : memref<64x256xi8> to memref<64x64xi8, strided<[256, 1], offset: ?>>
      memref.copy %ga, %ta : memref<64x64xf16, strided<[256, 1], offset: ?>> to memref<64x64xf16, #wg>
      memref.copy %gb, %tb : memref<64x64xi8, strided<[256, 1], offset: ?>> to memref<64x64xi8, #wg>
      // expected-remark @+2 {{a factor is converted to another type}}
      // expected-remark @+1 {{contraction of tiles shared out to threads}}
      linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%ta, %tb : memref<64x64xf16, #wg>, memref<64x64xi8, #wg>) outs(%sum : memref<64x64xf32, #own>) {
        ^bb0(%p: f16, %q: i8, %s: f32):
          %u = arith.extf %p : f16 to f32
          %v = arith.sitofp %q : i8 to f32
          %w = arith.mulf %u, %v : f32
          %t = arith.addf %s, %w : f32
          linalg.yield %t : f32
      }
    }
    memref.copy %sum, %c : memref<64x64xf32, #own> to memref<64x64xf32>
    gpu.terminator
  }
  return
}
