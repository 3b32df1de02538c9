// RUN: mlir-opt %s --verify-diagnostics \
// RUN:   --pass-pipeline='builtin.module(workgroup-map-to-threads)'

// Memory of each thread that all threads would share out.

#id = affine_map<(i) -> (i)>
func.func @stack(%x: memref<8xf32>) {
  scf.forall (%b) in (4) {
    // expected-note@+1 {{the memory}}
    %a = memref.alloca() : memref<2x8xf32>
    %v = memref.subview %a[0, 0] [1, 8] [1, 1] : memref<2x8xf32> to memref<8xf32>
    // expected-error@+1 {{would be shared out to threads, each of which has the memory for itself; run workgroup-place-buffers first}}
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%x : memref<8xf32>) outs(%v : memref<8xf32>) {
    ^bb0(%p: f32, %o: f32):
      linalg.yield %p : f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}
