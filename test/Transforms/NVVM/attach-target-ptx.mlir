// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-attach-target{chip=sm_75})' | FileCheck %s -DCHIP=sm_75 -DOLD=63 -DLOAD=65 -DFENCE=63 -DF8=63 -DALIAS=75
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-attach-target{chip=sm_80})' | FileCheck %s -DCHIP=sm_80 -DOLD=70 -DLOAD=70 -DFENCE=70 -DF8=70 -DALIAS=75
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-attach-target{chip=sm_89})' | FileCheck %s -DCHIP=sm_89 -DOLD=78 -DLOAD=78 -DFENCE=78 -DF8=81 -DALIAS=78
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-attach-target{chip=sm_90})' | FileCheck %s -DCHIP=sm_90 -DOLD=80 -DLOAD=80 -DFENCE=83 -DF8=80 -DALIAS=80
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-attach-target{chip=sm_120})' | FileCheck %s -DCHIP=sm_120 -DOLD=87 -DLOAD=87 -DFENCE=87 -DF8=87 -DALIAS=87

// The version of PTX is the oldest that has the operations of the module, as far
// as the chip has them.

// CHECK: gpu.module @nothing [#nvvm.target<O = 3, chip = "[[CHIP]]", features = "+ptx[[OLD]]">]
gpu.module @nothing {
}

// CHECK: gpu.module @load [#nvvm.target<O = 3, chip = "[[CHIP]]", features = "+ptx[[LOAD]]">]
gpu.module @load {
  gpu.func @load(%i: index) workgroup(%a: memref<8x8xf16, 3>) kernel {
    %0 = nvgpu.ldmatrix %a[%i, %i] {numTiles = 1 : i32, transpose = false} : memref<8x8xf16, 3> -> vector<1x2xf16>
    gpu.return
  }
}

// CHECK: gpu.module @fence [#nvvm.target<O = 3, chip = "[[CHIP]]", features = "+ptx[[FENCE]]">]
gpu.module @fence {
  gpu.func @acquire(%map: !nvgpu.tensormap.descriptor<tensor = memref<64x8xf32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>) kernel {
    nvgpu.tma.fence.descriptor %map : !nvgpu.tensormap.descriptor<tensor = memref<64x8xf32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
    gpu.return
  }
}

// CHECK: gpu.module @f8 [#nvvm.target<O = 3, chip = "[[CHIP]]", features = "+ptx[[F8]]">]
gpu.module @f8 {
  gpu.func @convert(%a: vector<2xf16>) kernel {
    %0 = nvvm.convert.f16x2.to.f8x2 %a : vector<2xf16> -> i16 (f8E4M3FN)
    gpu.return
  }
}

// CHECK: gpu.module @alias [#nvvm.target<O = 3, chip = "[[CHIP]]", features = "+ptx[[ALIAS]]">]
gpu.module @alias {
  gpu.func @fence() kernel {
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<alias>}
    gpu.return
  }
}
