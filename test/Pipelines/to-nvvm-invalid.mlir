// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-to-nvvm)' --split-input-file --verify-diagnostics

// What cannot be lowered is named where it stands.

gpu.module @kernels {
  gpu.func @no_instruction(%a: memref<8xf32>, %x: f32, %i: index) kernel {
    // expected-error @+1 {{'math.clampf' op cannot be lowered to NVVM}}
    %y = math.clampf %x to [%x, %x] : f32
    memref.store %y, %a[%i] : memref<8xf32>
    gpu.return
  }
}

// -----

// A copy needs threads to do it.
gpu.module @kernels {
  gpu.func @copy(%a: memref<8xf32>, %b: memref<8xf32>) kernel {
    // expected-error @+1 {{'memref.copy' op}}
    memref.copy %a, %b : memref<8xf32> to memref<8xf32>
    gpu.return
  }
}

// -----

// So does a matmul.
gpu.module @kernels {
  gpu.func @matmul(%a: memref<8x8xf32>, %b: memref<8x8xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    // expected-error @+1 {{'linalg.matmul' op is not distributed over the 64 threads of its block}}
    linalg.matmul ins(%a, %a : memref<8x8xf32>, memref<8x8xf32>) outs(%b : memref<8x8xf32>)
    gpu.return
  }
}

// -----

// Arguments without a fixed number of extents.
gpu.module @kernels {
  // expected-error @+1 {{'gpu.func' op has an unranked memref as argument 0}}
  gpu.func @unranked(%a: memref<*xf32>) kernel {
    gpu.return
  }
}

// -----

// A product that would have to be narrowed, or converted, has no one meaning.
gpu.module @kernels {
  gpu.func @narrowing(%a: vector<4xf32>, %c: f16, %out: memref<f16>) kernel {
    // expected-error @+1 {{'vector.contract' op cannot be lowered to NVVM}}
    %r = vector.contract {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"], kind = #vector.kind<add>} %a, %a, %c : vector<4xf32>, vector<4xf32> into f16
    memref.store %r, %out[] : memref<f16>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @converting(%a: vector<4xi8>, %c: f32, %out: memref<f32>) kernel {
    // expected-error @+1 {{'vector.contract' op cannot be lowered to NVVM}}
    %r = vector.contract {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"], kind = #vector.kind<add>} %a, %a, %c : vector<4xi8>, vector<4xi8> into f32
    memref.store %r, %out[] : memref<f32>
    gpu.return
  }
}
