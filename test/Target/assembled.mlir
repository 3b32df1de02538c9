// REQUIRES: package, ptxas
// RUN: %pipeline compile %s --chip sm_75 --emit cubin -o %t.75
// RUN: %pipeline compile %s --chip sm_80 --emit cubin -o %t.80
// RUN: %pipeline compile %s --chip sm_86 --emit cubin -o %t.86
// RUN: %pipeline compile %s --chip sm_89 --emit cubin -o %t.89
// RUN: %pipeline compile %s --chip sm_90 --emit cubin -o %t.90
// RUN: %pipeline compile %s --chip sm_90a --emit cubin -o %t.90a
// RUN: %pipeline compile %s --chip sm_100 --emit cubin -o %t.100
// RUN: %pipeline compile %s --chip sm_120 --emit cubin -o %t.120
// RUN: %pipeline compile %s --chip sm_75 | FileCheck %s -DVERSION=6.3 -DCHIP=sm_75
// RUN: %pipeline compile %s --chip sm_90a | FileCheck %s -DVERSION=8.0 -DCHIP=sm_90a
// RUN: %pipeline compile %s --chip sm_120 | FileCheck %s -DVERSION=8.7 -DCHIP=sm_120

// ptxas takes the text for every chip: all element types, math from libdevice,
// reductions, and two GPU modules with kernels and functions of the same names.

// CHECK:     .version [[VERSION]]
// CHECK:     .target [[CHIP]]
// CHECK-NOT: .extern .func
// CHECK-NOT: __nv

// CHECK-DAG: .visible .entry types(
// CHECK-DAG: .visible .entry types_0(
// CHECK-NOT: .visible .func

gpu.module @first {
  func.func @square(%x: f32) -> f32 {
    %y = arith.mulf %x, %x : f32
    return %y : f32
  }
  gpu.func @types(%f16: memref<64xf16>, %bf16: memref<64xbf16>, %f64: memref<64xf64>, %i8: memref<64xi8>, %i1: memref<64xi1>, %index: memref<64xindex>, %complex: memref<64xcomplex<f32>>, %f32: memref<64xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %i = gpu.thread_id x
    %0 = memref.load %f16[%i] : memref<64xf16>
    %1 = arith.extf %0 : f16 to f32
    %2 = math.exp %1 : f32
    %3 = arith.truncf %2 : f32 to bf16
    %4 = memref.load %bf16[%i] : memref<64xbf16>
    %5 = arith.mulf %3, %4 : bf16
    memref.store %5, %bf16[%i] : memref<64xbf16>
    %6 = memref.load %f64[%i] : memref<64xf64>
    %7 = math.sin %6 : f64
    memref.store %7, %f64[%i] : memref<64xf64>
    %8 = memref.load %i8[%i] : memref<64xi8>
    %9 = math.ctpop %8 : i8
    memref.store %9, %i8[%i] : memref<64xi8>
    %10 = arith.cmpi slt, %8, %9 : i8
    memref.store %10, %i1[%i] : memref<64xi1>
    %11 = memref.load %index[%i] : memref<64xindex>
    %12 = arith.ceildivsi %11, %i : index
    memref.store %12, %index[%i] : memref<64xindex>
    %13 = memref.load %complex[%i] : memref<64xcomplex<f32>>
    %14 = complex.mul %13, %13 : complex<f32>
    memref.store %14, %complex[%i] : memref<64xcomplex<f32>>
    %15 = gpu.subgroup_reduce add %2 : (f32) -> f32
    %16 = func.call @square(%15) : (f32) -> f32
    %17 = math.powf %16, %2 : f32
    %18 = gpu.all_reduce maximumf %17 uniform {} : (f32) -> f32
    memref.store %18, %f32[%i] : memref<64xf32>
    gpu.return
  }
}

gpu.module @second {
  func.func @square(%x: f32) -> f32 {
    %y = math.tanh %x : f32
    %wide = arith.extf %y : f32 to f64
    %norm = gpu.all_reduce %wide uniform {
    ^bb0(%a: f64, %b: f64):
      %c = arith.maximumf %a, %b : f64
      gpu.yield %c : f64
    } : (f64) -> f64
    %half = gpu.subgroup_reduce add %y cluster(size = 16) : (f32) -> f32
    %narrow = arith.truncf %norm : f64 to f32
    %z = arith.divf %half, %narrow : f32
    return %z : f32
  }
  gpu.func @types(%a: memref<?x?xf32>)
      workgroup(%w: memref<64xf32, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %i = gpu.thread_id x
    %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %d = memref.view %bytes[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
    %x = memref.load %a[%i, %i] : memref<?x?xf32>
    memref.store %x, %w[%i] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %x, %d[%i] : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %y = memref.load %w[%c0] : memref<64xf32, #gpu.address_space<workgroup>>
    %z = memref.load %d[%c0] : memref<64xf32, #gpu.address_space<workgroup>>
    %s = arith.addf %y, %z : f32
    %t = func.call @square(%s) : (f32) -> f32
    memref.store %t, %a[%i, %i] : memref<?x?xf32>
    gpu.return
  }
}
