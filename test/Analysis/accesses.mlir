// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-print-accesses)' --verify-diagnostics=only-expected -o /dev/null

// What the operations touch that threads execute for themselves.

gpu.module @elements {
  gpu.func @loads_and_stores(%a: memref<64x32xf32>) workgroup(%s: memref<128xf32, 3>)
      private(%p: memref<4xf32, #gpu.address_space<private>>) kernel {
    %c1 = arith.constant 1 : index
    %x = gpu.thread_id x
    // expected-remark @+1 {{thread reads global memory of %arg0 at 128*%thread_id_x + 4, 4 long; 0 <= %thread_id_x < 64}}
    %v = memref.load %a[%x, %c1] : memref<64x32xf32>
    // expected-remark @+1 {{thread writes workgroup memory of %arg1 at 4*%thread_id_x, 4 long; 0 <= %thread_id_x < 128}}
    memref.store %v, %s[%x] : memref<128xf32, 3>
    // Nobody else can reach these.
    memref.store %v, %p[%c1] : memref<4xf32, #gpu.address_space<private>>
    %own = memref.alloca() : memref<4xf32>
    memref.store %v, %own[%c1] : memref<4xf32>
    // expected-remark @+1 {{thread updates workgroup memory of %arg1 at 4, 4 long}}
    %old = memref.atomic_rmw addf %v, %s[%c1] : (f32, memref<128xf32, 3>) -> f32
    // expected-remark @+1 {{thread updates workgroup memory of %arg1 at 4*%thread_id_x, 4 long; 0 <= %thread_id_x < 128}}
    %new = memref.generic_atomic_rmw %s[%x] : memref<128xf32, 3> {
    ^bb0(%current: f32):
      memref.atomic_yield %current : f32
    }
    memref.prefetch %a[%x, %c1], read, locality<3>, data : memref<64x32xf32>
    %d = memref.dim %a, %c1 : memref<64x32xf32>
    gpu.barrier
    gpu.return
  }

  // A byte for an element of one bit or four, as LLVM has them.
  gpu.func @narrow_elements(%a: memref<64xi4>) workgroup(%s: memref<128xi1, 3>) kernel {
    %c1 = arith.constant 1 : index
    %x = gpu.thread_id x
    // expected-remark @+1 {{thread reads global memory of %arg0 at %thread_id_x, 1 long; 0 <= %thread_id_x < 64}}
    %n = memref.load %a[%x] : memref<64xi4>
    // expected-remark @+1 {{thread reads workgroup memory of %arg1 at 1, 1 long}}
    %b = memref.load %s[%c1] : memref<128xi1, 3>
    gpu.return
  }

  gpu.func @affine_maps() workgroup(%s: memref<16x128xf32, 3>) kernel {
    %x = gpu.thread_id x
    affine.for %i = 0 to 8 {
      // expected-remark @+1 {{thread reads workgroup memory of %arg0 at 1024*%arg1 + 4*%thread_id_x + 512, 4 long; 0 <= 2*%arg1 + 1 < 16; 0 <= %thread_id_x < 128}}
      %v = affine.load %s[2 * %i + 1, %x] : memref<16x128xf32, 3>
      // expected-remark @+1 {{thread writes workgroup memory of %arg0 at 4*%thread_id_x + 512*(d0 mod 2) of (%arg1, %thread_id_x) + 4*(d1 floordiv 4) of (%arg1, %thread_id_x), 4 long; 0 <= (d0 mod 2) of (%arg1, %thread_id_x) < 16; 0 <= %thread_id_x + (d1 floordiv 4) of (%arg1, %thread_id_x) < 128}}
      affine.store %v, %s[%i mod 2, %x floordiv 4 + %x] : memref<16x128xf32, 3>
      // expected-remark @+1 {{thread reads workgroup memory of %arg0 at 512*%arg1 + 16*%thread_id_x, 16 long; 0 <= %arg1 < 16; 0 <= 4*%thread_id_x < 128}}
      %w = affine.vector_load %s[%i, 4 * %x] : memref<16x128xf32, 3>, vector<4xf32>
      // expected-remark @+1 {{thread writes workgroup memory of %arg0 at 512*%arg1 + 16*%thread_id_x + 16, 16 long; 0 <= %arg1 < 16; 0 <= 4*%thread_id_x + 4 < 128}}
      affine.vector_store %w, %s[%i, 4 * %x + 4] : memref<16x128xf32, 3>, vector<4xf32>
    }
    gpu.return
  }
}

gpu.module @vectors {
  gpu.func @runs(%a: memref<64x32xf32>) workgroup(%s: memref<8xvector<4xf32>, 3>) kernel {
    %x = gpu.thread_id x
    %c0 = arith.constant 0 : index
    // expected-remark @+1 {{thread reads global memory of %arg0 at 128*%thread_id_x, 16 long; 0 <= %thread_id_x < 64}}
    %v = vector.load %a[%x, %c0] : memref<64x32xf32>, vector<4xf32>
    // expected-remark @+1 {{thread writes global memory of %arg0 at 132*%thread_id_x, 16 long; 0 <= %thread_id_x < 64; 0 <= %thread_id_x < 32}}
    vector.store %v, %a[%x, %x] : memref<64x32xf32>, vector<4xf32>
    // expected-remark @+1 {{thread reads global memory of %arg0 at 128*%thread_id_x, 16 long, 2 times 128 apart; 0 <= %thread_id_x < 64}}
    %m = vector.load %a[%x, %c0] : memref<64x32xf32>, vector<2x4xf32>
    // expected-remark @+1 {{thread reads global memory of %arg0 at 128*%thread_id_x, 256 long; 0 <= %thread_id_x < 64}}
    %rows = vector.load %a[%x, %c0] : memref<64x32xf32>, vector<2x32xf32>
    // expected-remark @+1 {{thread reads workgroup memory of %arg1 at 16*%thread_id_x, 16 long; 0 <= %thread_id_x < 8}}
    %e = memref.load %s[%x] : memref<8xvector<4xf32>, 3>
    gpu.return
  }

  // What a mask may leave out counts, and promises nothing.
  gpu.func @masks(%a: memref<64x32xf32>, %mask: vector<4xi1>, %pass: vector<4xf32>,
                  %indices: vector<4xindex>) kernel {
    %x = gpu.thread_id x
    // expected-remark @+1 {{thread reads global memory of %arg0 at 132*%thread_id_x, 16 long}}
    %v = vector.maskedload %a[%x, %x], %mask, %pass : memref<64x32xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
    // expected-remark @+1 {{thread writes global memory of %arg0 at 132*%thread_id_x, 16 long}}
    vector.maskedstore %a[%x, %x], %mask, %v : memref<64x32xf32>, vector<4xi1>, vector<4xf32>
    // expected-remark @+1 {{thread reads global memory of %arg0 at 132*%thread_id_x, 16 long}}
    %w = vector.expandload %a[%x, %x], %mask, %pass : memref<64x32xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
    // expected-remark @+1 {{thread writes global memory of %arg0 at 132*%thread_id_x, 16 long}}
    vector.compressstore %a[%x, %x], %mask, %w : memref<64x32xf32>, vector<4xi1>, vector<4xf32>
    // expected-remark @+1 {{thread reads global memory of %arg0 somewhere}}
    %g = vector.gather %a[%x, %x] [%indices], %mask, %pass : memref<64x32xf32>, vector<4xindex>, vector<4xi1>, vector<4xf32> into vector<4xf32>
    // expected-remark @+1 {{thread writes global memory of %arg0 somewhere}}
    vector.scatter %a[%x, %x] [%indices], %mask, %g : memref<64x32xf32>, vector<4xindex>, vector<4xi1>, vector<4xf32>
    gpu.return
  }

  gpu.func @transfers(%a: memref<64x32xf32>) kernel {
    %x = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %f = arith.constant 0.0 : f32
    // expected-remark @+1 {{thread reads global memory of %arg0 at 128*%thread_id_x, 16 long; 0 <= %thread_id_x < 64}}
    %v = vector.transfer_read %a[%x, %c0], %f {in_bounds = [true]} : memref<64x32xf32>, vector<4xf32>
    // expected-remark @+1 {{thread reads global memory of %arg0 at 4*%thread_id_x, 4 long, 4 times 128 apart; 0 <= %thread_id_x < 32}}
    %columns = vector.transfer_read %a[%c0, %x], %f {in_bounds = [true], permutation_map = affine_map<(d0, d1) -> (d0)>} : memref<64x32xf32>, vector<4xf32>
    // expected-remark @+1 {{thread reads global memory of %arg0 at 4*%thread_id_x, 8 long, 4 times 128 apart; 0 <= %thread_id_x < 32}}
    %turned = vector.transfer_read %a[%c0, %x], %f {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : memref<64x32xf32>, vector<2x4xf32>
    // expected-remark @+1 {{thread reads global memory of %arg0 at 132*%thread_id_x, 4 long; 0 <= %thread_id_x < 64; 0 <= %thread_id_x < 32}}
    %same = vector.transfer_read %a[%x, %x], %f {in_bounds = [true], permutation_map = affine_map<(d0, d1) -> (0)>} : memref<64x32xf32>, vector<4xf32>
    // The row is in bounds, or nothing is stored. The columns may be outside.
    // expected-remark @+1 {{thread writes global memory of %arg0 at 132*%thread_id_x, 4 long, 4 times 4 apart as far as %thread_id_x + their number < 32; 0 <= %thread_id_x < 64}}
    vector.transfer_write %v, %a[%x, %x] : vector<4xf32>, memref<64x32xf32>
    gpu.return
  }
}
