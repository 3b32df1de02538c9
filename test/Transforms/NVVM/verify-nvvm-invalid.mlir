// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-nvvm)' --split-input-file --verify-diagnostics

// Operations of the LLVM and NVVM dialects are what PTX is made of; the host may
// have others.
func.func @host(%a: f32) -> f32 {
  %b = math.exp %a : f32
  return %b : f32
}
gpu.module @lowered {
  llvm.mlir.global internal @table() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<64 x f32>
  llvm.func @kernel() attributes {gpu.kernel, nvvm.kernel} {
    %0 = nvvm.read.ptx.sreg.tid.x : i32
    nvvm.barrier0
    llvm.return
  }
}

// -----

// What is left is named,
gpu.module @kernels {
  llvm.func @kernel(%a: i32) {
    // expected-error @+1 {{'math.ipowi' op cannot be lowered to NVVM; rewrite it by operations of the arith, math, memref, scf, vector, gpu, nvgpu or nvvm dialects that NVIDIA GPUs have an instruction for}}
    %b = math.ipowi %a, %a : i32
    llvm.return
  }
}

// -----

// by what uses it, if only a cast between types is left in between,
gpu.module @kernels {
  llvm.func @kernel(%a: i64) {
    %b = builtin.unrealized_conversion_cast %a : i64 to index
    // expected-error @+1 {{'vector.print' op cannot be lowered to NVVM}}
    vector.print %b : index
    llvm.return
  }
}

// -----

// or by what makes it.
gpu.module @kernels {
  llvm.func @kernel(%a: !llvm.ptr) {
    // expected-error @+1 {{'ub.poison' op cannot be lowered to NVVM}}
    %b = ub.poison : index
    %c = builtin.unrealized_conversion_cast %b : index to i64
    llvm.store %c, %a : i64, !llvm.ptr
    llvm.return
  }
}

// -----

// Functions that were not converted, too.
gpu.module @kernels {
  // expected-error @+1 {{'gpu.func' op cannot be lowered to NVVM}}
  gpu.func @kernel() kernel {
    gpu.return
  }
}

// -----

// In every module.
module {
  gpu.module @first {
    llvm.func @kernel() {
      llvm.return
    }
  }
  gpu.module @second {
    llvm.func @kernel(%a: f32) {
      // expected-error @+1 {{'arith.addf' op cannot be lowered to NVVM}}
      %b = arith.addf %a, %a : f32
      llvm.return
    }
  }
}

// -----

// An operation is to blame for what it holds.
gpu.module @kernels {
  llvm.func @kernel(%a: f32) {
    // expected-error @+1 {{'scf.execute_region' op cannot be lowered to NVVM}}
    scf.execute_region {
      %b = arith.addf %a, %a : f32
      scf.yield
    }
    llvm.return
  }
}

// -----

// What the chip lacks, and a variable where the instruction holds a constant.
gpu.module @chips [#nvvm.target<chip = "sm_90", features = "+ptx83">] {
  llvm.func @kernel(%b: i64, %s: !llvm.ptr<3>) attributes {gpu.kernel, nvvm.kernel} {
    // expected-error @+1 {{'nvvm.st.bulk' op with these types and attributes is not in sm_90, but in sm_100, sm_120}}
    nvvm.st.bulk %s, size = %b : !llvm.ptr<3>
    // expected-error @+1 {{'nvvm.setmaxregister' op with these types and attributes is not in sm_90, but in sm_90a}}
    nvvm.setmaxregister increase 232
    llvm.return
  }
}

// -----

gpu.module @immediates [#nvvm.target<chip = "sm_90", features = "+ptx83">] {
  llvm.func @kernel(%a: i32, %p: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    %size = llvm.mlir.constant(128 : i32) : i32
    nvvm.fence.proxy.acquire #nvvm.mem_scope<gpu> %p, %size
    // expected-error @+1 {{'nvvm.fence.proxy.acquire' op has a size that is not a constant of 128}}
    nvvm.fence.proxy.acquire #nvvm.mem_scope<gpu> %p, %a
    // expected-error @+1 {{'nvvm.mma.sp.sync' op has a sparsity selector that is not a constant from 0 to 3}}
    %0 = nvvm.mma.sp.sync A[%a, %a] B[%a, %a] C[%a, %a, %a, %a] sparseMetadata[%a] selector[%a] {intOverflowBehavior = #nvvm.mma_int_overflow<satfinite>, multiplicandAPtxType = #nvvm.mma_type<s8>, multiplicandBPtxType = #nvvm.mma_type<s8>, shape = #nvvm.shape<m = 16, n = 8, k = 32>} : (i32, i32, i32) -> !llvm.struct<(i32, i32, i32, i32)>
    llvm.return
  }
}
