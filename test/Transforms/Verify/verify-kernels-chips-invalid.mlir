// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-kernels)' --split-input-file --verify-diagnostics

// B12: operations that the chip of the target lacks, in every dialect, and what the
// version of PTX lacks that the target asks for. Upstream has a check of some of
// them, which names no chip; it is turned off.

gpu.module @turing [#nvvm.target<chip = "sm_75", features = "+ptx65", verifyTarget = false>] {
  gpu.func @product(%a: vector<4x4xi8>, %b: vector<2x4xi8>, %c: vector<2x2xi32>, %h: vector<2x2xf16>, %k: vector<1x2xf16>) kernel {
    // expected-error @+1 {{'nvgpu.mma.sync' op with these types and attributes is not in sm_75, but in sm_80, sm_86, sm_89, sm_90, sm_90a, sm_100, sm_120; compile for one of these, or write it by other operations}}
    %0 = nvgpu.mma.sync(%a, %b, %c) {mmaShape = [16, 8, 32]} : (vector<4x4xi8>, vector<2x4xi8>, vector<2x2xi32>) -> vector<2x2xi32>
    // Of this shape it has one.
    %1 = nvgpu.mma.sync(%h, %k, %h) {mmaShape = [16, 8, 8]} : (vector<2x2xf16>, vector<1x2xf16>, vector<2x2xf16>) -> vector<2x2xf16>
    gpu.return
  }
  // Functions are compiled as kernels are.
  gpu.func @called(%a: i32) {
    // expected-error @+1 {{'gpu.cluster_id' op with these types and attributes is not in sm_75, but in sm_90, sm_90a, sm_100, sm_120}}
    %0 = gpu.cluster_id x
    scf.for %i = %0 to %0 step %0 {
      // expected-error @+1 {{'nvvm.redux.sync' op with these types and attributes is not in sm_75, but in sm_80}}
      %1 = nvvm.redux.sync add %a, %a : i32 -> i32
    }
    gpu.return
  }
}

// -----

gpu.module @hopper [#nvvm.target<chip = "sm_90", features = "+ptx80", verifyTarget = false>] {
  gpu.func @kernel(%a: !llvm.ptr, %f: f32, %i: i32) kernel {
    %p = llvm.addrspacecast %a : !llvm.ptr to !llvm.ptr<3>
    // expected-error @+1 {{'nvvm.wgmma.fence.aligned' op with these types and attributes is not in sm_90, but in sm_90a; compile for one of these}}
    nvvm.wgmma.fence.aligned
    // expected-error @+1 {{'nvvm.tcgen05.relinquish_alloc_permit' op with these types and attributes is not in sm_90, nor in another chip that is compiled for: it is of sm_100a; write it by other operations}}
    nvvm.tcgen05.relinquish_alloc_permit
    // expected-error @+1 {{'nvvm.barrier' op has no instruction that LLVM knows, with these types and attributes, on any chip}}
    %0 = nvvm.barrier id = %i -> i32
    // expected-error @+1 {{'nvvm.mbarrier.arrive' op needs version 8.6 of PTX, but the target of its module asks for 8.0; name +ptx86 in the target's features, or leave the target out}}
    %1 = nvvm.mbarrier.arrive %p {relaxed = true} : !llvm.ptr<3> -> i64
    %2 = nvvm.mbarrier.arrive %p : !llvm.ptr<3> -> i64
    nvvm.cluster.arrive
    gpu.return
  }
}

// -----

// A target that names no version has that of the chip; no target, none.
gpu.module @named [#nvvm.target<chip = "sm_75">] {
  gpu.func @kernel(%i: index) workgroup(%a: memref<8x8xf16, 3> {llvm.align = 16 : i64}) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{'nvgpu.ldmatrix' op needs version 6.5 of PTX, but the target of its module asks for 6.3}}
    %0 = nvgpu.ldmatrix %a[%c0, %c0] {numTiles = 1 : i32, transpose = false} : memref<8x8xf16, 3> -> vector<1x2xf16>
    gpu.return
  }
}
gpu.module @none {
  gpu.func @kernel() kernel {
    nvvm.wgmma.fence.aligned
    gpu.return
  }
}
