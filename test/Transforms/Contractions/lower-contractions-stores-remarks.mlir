// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-form-rings{slots=3 chip=sm_90a assume-distinct-arguments=true},workgroup-lower-contractions{chip=sm_90a assume-alignment=16 assume-distinct-arguments=true})' --remarks-filter='workgroup-lower-contractions' --remark-format=emitRemark --verify-diagnostics -o /dev/null

// Which results TMA stores, and why it does not store others.

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>
#same = affine_map<(i, j) -> (i, j)>

func.func @stored(%a: memref<64x256xf16>, %b: memref<256x64xf16>, %c: memref<64x64xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %step = arith.constant 64 : index
  %end = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%bx = %threads, %by = %c1, %bz = %c1) {
    %ta = memref.alloc() : memref<64x64xf16, #wg>
    %tb = memref.alloc() : memref<64x64xf16, #wg>
    %sum = memref.alloca() : memref<64x64xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x64xf32, #own>)
    scf.for %k = %c0 to %end step %step {
      %ga = memref.subview %a[%c0, %k] [64, 64] [1, 1] : memref<64x256xf16> to memref<64x64xf16, strided<[256, 1], offset: ?>>
      %gb = memref.subview %b[%k, %c0] [64, 64] [1, 1] : memref<256x64xf16> to memref<64x64xf16, strided<[64, 1], offset: ?>>
      memref.copy %ga, %ta : memref<64x64xf16, strided<[256, 1], offset: ?>> to memref<64x64xf16, #wg>
      memref.copy %gb, %tb : memref<64x64xf16, strided<[64, 1], offset: ?>> to memref<64x64xf16, #wg>
      // expected-remark @+1 {{contraction of tiles shared out to threads}}
      linalg.matmul ins(%ta, %tb : memref<64x64xf16, #wg>, memref<64x64xf16, #wg>) outs(%sum : memref<64x64xf32, #own>)
    }
    // expected-remark @+1 {{TMA stores a result}}
    linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
        ins(%sum : memref<64x64xf32, #own>) outs(%c : memref<64x64xf16>) {
      ^bb0(%p: f32, %o: f16):
        %t = arith.truncf %p : f32 to f16
        linalg.yield %t : f16
    }
    gpu.terminator
  }
  return
}

// -----

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>
#same = affine_map<(i, j) -> (i, j)>

func.func @in_place(%a: memref<64x256xf16>, %b: memref<256x64xf16>, %c: memref<64x64xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %step = arith.constant 64 : index
  %end = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%bx = %threads, %by = %c1, %bz = %c1) {
    %ta = memref.alloc() : memref<64x64xf16, #wg>
    %tb = memref.alloc() : memref<64x64xf16, #wg>
    %sum = memref.alloca() : memref<64x64xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x64xf32, #own>)
    scf.for %k = %c0 to %end step %step {
      %ga = memref.subview %a[%c0, %k] [64, 64] [1, 1] : memref<64x256xf16> to memref<64x64xf16, strided<[256, 1], offset: ?>>
      %gb = memref.subview %b[%k, %c0] [64, 64] [1, 1] : memref<256x64xf16> to memref<64x64xf16, strided<[64, 1], offset: ?>>
      memref.copy %ga, %ta : memref<64x64xf16, strided<[256, 1], offset: ?>> to memref<64x64xf16, #wg>
      memref.copy %gb, %tb : memref<64x64xf16, strided<[64, 1], offset: ?>> to memref<64x64xf16, #wg>
      // expected-remark @+1 {{contraction of tiles shared out to threads}}
      linalg.matmul ins(%ta, %tb : memref<64x64xf16, #wg>, memref<64x64xf16, #wg>) outs(%sum : memref<64x64xf32, #own>)
    }
    // expected-remark @+1 {{it is computed of what was there}}
    linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
        ins(%sum : memref<64x64xf32, #own>) outs(%c : memref<64x64xf16>) {
      ^bb0(%p: f32, %o: f16):
        %q = arith.extf %o : f16 to f32
        %s = arith.addf %p, %q : f32
        %t = arith.truncf %s : f32 to f16
        linalg.yield %t : f16
    }
    gpu.terminator
  }
  return
}

// -----

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>
#same = affine_map<(i, j) -> (i, j)>

func.func @read_elsewhere(%a: memref<64x256xf16>, %b: memref<256x64xf16>, %c: memref<64x64xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %step = arith.constant 64 : index
  %end = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%bx = %threads, %by = %c1, %bz = %c1) {
    %ta = memref.alloc() : memref<64x64xf16, #wg>
    %tb = memref.alloc() : memref<64x64xf16, #wg>
    %sum = memref.alloca() : memref<64x64xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x64xf32, #own>)
    scf.for %k = %c0 to %end step %step {
      %ga = memref.subview %a[%c0, %k] [64, 64] [1, 1] : memref<64x256xf16> to memref<64x64xf16, strided<[256, 1], offset: ?>>
      %gb = memref.subview %b[%k, %c0] [64, 64] [1, 1] : memref<256x64xf16> to memref<64x64xf16, strided<[64, 1], offset: ?>>
      memref.copy %ga, %ta : memref<64x64xf16, strided<[256, 1], offset: ?>> to memref<64x64xf16, #wg>
      memref.copy %gb, %tb : memref<64x64xf16, strided<[64, 1], offset: ?>> to memref<64x64xf16, #wg>
      // expected-remark @+1 {{contraction of tiles shared out to threads}}
      linalg.matmul ins(%ta, %tb : memref<64x64xf16, #wg>, memref<64x64xf16, #wg>) outs(%sum : memref<64x64xf32, #own>)
    }
    // expected-remark @+1 {{it may share memory with what it is computed of}}
    linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]}
        ins(%sum, %c : memref<64x64xf32, #own>, memref<64x64xf16>) outs(%c : memref<64x64xf16>) {
      ^bb0(%p: f32, %r: f16, %o: f16):
        %q = arith.extf %r : f16 to f32
        %s = arith.addf %p, %q : f32
        %t = arith.truncf %s : f32 to f16
        linalg.yield %t : f16
    }
    gpu.terminator
  }
  return
}

// -----

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>
#same = affine_map<(i, j) -> (i, j)>

func.func @stride(%a: memref<64x256xf16>, %b: memref<256x64xf16>, %c: memref<64x64xf16, strided<[68, 1]>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %step = arith.constant 64 : index
  %end = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%bx = %threads, %by = %c1, %bz = %c1) {
    %ta = memref.alloc() : memref<64x64xf16, #wg>
    %tb = memref.alloc() : memref<64x64xf16, #wg>
    %sum = memref.alloca() : memref<64x64xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x64xf32, #own>)
    scf.for %k = %c0 to %end step %step {
      %ga = memref.subview %a[%c0, %k] [64, 64] [1, 1] : memref<64x256xf16> to memref<64x64xf16, strided<[256, 1], offset: ?>>
      %gb = memref.subview %b[%k, %c0] [64, 64] [1, 1] : memref<256x64xf16> to memref<64x64xf16, strided<[64, 1], offset: ?>>
      memref.copy %ga, %ta : memref<64x64xf16, strided<[256, 1], offset: ?>> to memref<64x64xf16, #wg>
      memref.copy %gb, %tb : memref<64x64xf16, strided<[64, 1], offset: ?>> to memref<64x64xf16, #wg>
      // expected-remark @+1 {{contraction of tiles shared out to threads}}
      linalg.matmul ins(%ta, %tb : memref<64x64xf16, #wg>, memref<64x64xf16, #wg>) outs(%sum : memref<64x64xf32, #own>)
    }
    // expected-remark @+1 {{the stride of 136 bytes of the result is no multiple of 16}}
    linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
        ins(%sum : memref<64x64xf32, #own>) outs(%c : memref<64x64xf16, strided<[68, 1]>>) {
      ^bb0(%p: f32, %o: f16):
        %t = arith.truncf %p : f32 to f16
        linalg.yield %t : f16
    }
    gpu.terminator
  }
  return
}

// -----

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>
#same = affine_map<(i, j) -> (i, j)>

func.func @rows_apart(%a: memref<64x256xf16>, %b: memref<256x64xf16>, %c: memref<64x64xf16, strided<[?, 1]>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %step = arith.constant 64 : index
  %end = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%bx = %threads, %by = %c1, %bz = %c1) {
    %ta = memref.alloc() : memref<64x64xf16, #wg>
    %tb = memref.alloc() : memref<64x64xf16, #wg>
    %sum = memref.alloca() : memref<64x64xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x64xf32, #own>)
    scf.for %k = %c0 to %end step %step {
      %ga = memref.subview %a[%c0, %k] [64, 64] [1, 1] : memref<64x256xf16> to memref<64x64xf16, strided<[256, 1], offset: ?>>
      %gb = memref.subview %b[%k, %c0] [64, 64] [1, 1] : memref<256x64xf16> to memref<64x64xf16, strided<[64, 1], offset: ?>>
      memref.copy %ga, %ta : memref<64x64xf16, strided<[256, 1], offset: ?>> to memref<64x64xf16, #wg>
      memref.copy %gb, %tb : memref<64x64xf16, strided<[64, 1], offset: ?>> to memref<64x64xf16, #wg>
      // expected-remark @+1 {{contraction of tiles shared out to threads}}
      linalg.matmul ins(%ta, %tb : memref<64x64xf16, #wg>, memref<64x64xf16, #wg>) outs(%sum : memref<64x64xf32, #own>)
    }
    // expected-remark @+1 {{a stride of the result is not constant}}
    linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
        ins(%sum : memref<64x64xf32, #own>) outs(%c : memref<64x64xf16, strided<[?, 1]>>) {
      ^bb0(%p: f32, %o: f16):
        %t = arith.truncf %p : f32 to f16
        linalg.yield %t : f16
    }
    gpu.terminator
  }
  return
}

// -----

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>
#same = affine_map<(i, j) -> (i, j)>

func.func @accessed(%a: memref<64x256xf16>, %b: memref<256x64xf16>, %c: memref<64x64xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %step = arith.constant 64 : index
  %end = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%bx = %threads, %by = %c1, %bz = %c1) {
    %ta = memref.alloc() : memref<64x64xf16, #wg>
    %tb = memref.alloc() : memref<64x64xf16, #wg>
    %sum = memref.alloca() : memref<64x64xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x64xf32, #own>)
    scf.for %k = %c0 to %end step %step {
      %ga = memref.subview %a[%c0, %k] [64, 64] [1, 1] : memref<64x256xf16> to memref<64x64xf16, strided<[256, 1], offset: ?>>
      %gb = memref.subview %b[%k, %c0] [64, 64] [1, 1] : memref<256x64xf16> to memref<64x64xf16, strided<[64, 1], offset: ?>>
      memref.copy %ga, %ta : memref<64x64xf16, strided<[256, 1], offset: ?>> to memref<64x64xf16, #wg>
      memref.copy %gb, %tb : memref<64x64xf16, strided<[64, 1], offset: ?>> to memref<64x64xf16, #wg>
      // expected-remark @+1 {{contraction of tiles shared out to threads}}
      linalg.matmul ins(%ta, %tb : memref<64x64xf16, #wg>, memref<64x64xf16, #wg>) outs(%sum : memref<64x64xf32, #own>)
    }
    // expected-remark @+1 {{the kernel may access it elsewhere, by another proxy}}
    linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
        ins(%sum : memref<64x64xf32, #own>) outs(%c : memref<64x64xf16>) {
      ^bb0(%p: f32, %o: f16):
        %t = arith.truncf %p : f32 to f16
        linalg.yield %t : f16
    }
    %h = arith.constant 1.0 : f16
    memref.store %h, %c[%c0, %c0] : memref<64x64xf16>
    gpu.terminator
  }
  return
}

// -----

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>
#same = affine_map<(i, j) -> (i, j)>

func.func @transposed(%a: memref<64x256xf16>, %b: memref<256x64xf16>, %c: memref<64x64xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %step = arith.constant 64 : index
  %end = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%bx = %threads, %by = %c1, %bz = %c1) {
    %ta = memref.alloc() : memref<64x64xf16, #wg>
    %tb = memref.alloc() : memref<64x64xf16, #wg>
    %sum = memref.alloca() : memref<64x64xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x64xf32, #own>)
    scf.for %k = %c0 to %end step %step {
      %ga = memref.subview %a[%c0, %k] [64, 64] [1, 1] : memref<64x256xf16> to memref<64x64xf16, strided<[256, 1], offset: ?>>
      %gb = memref.subview %b[%k, %c0] [64, 64] [1, 1] : memref<256x64xf16> to memref<64x64xf16, strided<[64, 1], offset: ?>>
      memref.copy %ga, %ta : memref<64x64xf16, strided<[256, 1], offset: ?>> to memref<64x64xf16, #wg>
      memref.copy %gb, %tb : memref<64x64xf16, strided<[64, 1], offset: ?>> to memref<64x64xf16, #wg>
      // expected-remark @+1 {{contraction of tiles shared out to threads}}
      linalg.matmul ins(%ta, %tb : memref<64x64xf16, #wg>, memref<64x64xf16, #wg>) outs(%sum : memref<64x64xf32, #own>)
    }
    // expected-remark @+1 {{it is not contiguous along the columns of a tile}}
    linalg.generic {indexing_maps = [#same, affine_map<(i, j) -> (j, i)>], iterator_types = ["parallel", "parallel"]}
        ins(%sum : memref<64x64xf32, #own>) outs(%c : memref<64x64xf16>) {
      ^bb0(%p: f32, %o: f16):
        %t = arith.truncf %p : f32 to f16
        linalg.yield %t : f16
    }
    gpu.terminator
  }
  return
}
