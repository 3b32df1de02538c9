// What one operation reads and writes of one buffer is the block's all the same
// if constants tell the parts apart; else each thread would do all of it.

// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-sync)' --verify-diagnostics -o /dev/null

!rows = memref<32x128xf32, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>

gpu.module @kernels {
  gpu.func @disjoint(%in: memref<32x128xf32>) workgroup(%S: memref<96x128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %a = memref.subview %S[0, 0] [32, 128] [1, 1] : memref<96x128xf32, #gpu.address_space<workgroup>> to memref<32x128xf32, strided<[128, 1]>, #gpu.address_space<workgroup>>
    %b = memref.subview %S[32, 0] [32, 128] [1, 1] : memref<96x128xf32, #gpu.address_space<workgroup>> to memref<32x128xf32, strided<[128, 1], offset: 4096>, #gpu.address_space<workgroup>>
    linalg.copy ins(%in : memref<32x128xf32>) outs(%a : memref<32x128xf32, strided<[128, 1]>, #gpu.address_space<workgroup>>)
    gpu.barrier
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]}
        ins(%a : memref<32x128xf32, strided<[128, 1]>, #gpu.address_space<workgroup>>)
        outs(%b : memref<32x128xf32, strided<[128, 1], offset: 4096>, #gpu.address_space<workgroup>>) {
    ^bb0(%x: f32, %y: f32):
      linalg.yield %x : f32
    }
    gpu.return
  }

  // A row of both is one.
  gpu.func @overlapping() workgroup(%S: memref<96x128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %a = memref.subview %S[0, 0] [32, 128] [1, 1] : memref<96x128xf32, #gpu.address_space<workgroup>> to memref<32x128xf32, strided<[128, 1]>, #gpu.address_space<workgroup>>
    %b = memref.subview %S[31, 0] [32, 128] [1, 1] : memref<96x128xf32, #gpu.address_space<workgroup>> to memref<32x128xf32, strided<[128, 1], offset: 3968>, #gpu.address_space<workgroup>>
    // expected-note @+2 {{the other access}}
    // expected-error @+1 {{cannot synchronize 'linalg.copy' and 'linalg.copy'}}
    linalg.copy ins(%a : memref<32x128xf32, strided<[128, 1]>, #gpu.address_space<workgroup>>) outs(%b : memref<32x128xf32, strided<[128, 1], offset: 3968>, #gpu.address_space<workgroup>>)
    gpu.return
  }

  // Where a part begins only the launch knows, at the same place for both.
  gpu.func @behind(%i: index) workgroup(%S: memref<96x128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %a = memref.subview %S[%i, 0] [64, 128] [1, 1] : memref<96x128xf32, #gpu.address_space<workgroup>> to memref<64x128xf32, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>
    %b = memref.subview %a[0, 0] [32, 128] [1, 1] : memref<64x128xf32, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>> to !rows
    %c = memref.subview %a[32, 0] [32, 128] [1, 1] : memref<64x128xf32, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>> to !rows
    linalg.copy ins(%b : !rows) outs(%c : !rows)
    gpu.return
  }
}
