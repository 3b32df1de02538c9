// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory{dynamic=never})' 2>&1 | FileCheck %s --check-prefix=NEVER
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory{max-bytes=65532})' 2>&1 | FileCheck %s --check-prefix=BYTES
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory{max-bytes=65536})' | FileCheck %s --check-prefix=DYNAMIC
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory{max-static-bytes=65536})' | FileCheck %s --check-prefix=STATIC
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory{max-static-bytes=65536 alignment=256})' | FileCheck %s --check-prefix=ALIGNED
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory{dynamic=always alignment=1})' | FileCheck %s --check-prefix=ALWAYS
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory{chip=sm_33})' 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-attach-target{chip=sm_80},workgroup-pack-memory{chip=sm_90})' 2>&1 | FileCheck %s --check-prefix=OTHER-CHIP
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory{alignment=3})' 2>&1 | FileCheck %s --check-prefix=ALIGNMENT
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory{alignment=0})' 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory{max-static-bytes=-1})' 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory{max-bytes=4294967296})' 2>&1 | FileCheck %s --check-prefix=HUGE
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory{reuse=sometimes})' 2>&1 | FileCheck %s --check-prefix=REUSE

// NEVER:       error: workgroup memory of kernel 'kernel' is 65536 bytes, exceeding the limit of 49152 bytes
// NEVER:       note: a buffer of 32768 bytes, aligned to 16, is here
// NEVER:       note: a buffer of 32768 bytes, aligned to 16, is here
// NEVER-NOT:   error:

// BYTES:       error: workgroup memory of kernel 'kernel' is 65536 bytes, exceeding the limit of 65532 bytes
// BYTES-NOT:   error:

// DYNAMIC:     memref.global @dynamic_workgroup_memory {{.*}} {alignment = 16 : i64}
// DYNAMIC:     memref.reinterpret_cast {{.*}} sizes: [65536]
// DYNAMIC:     gpu.func @small(
// DYNAMIC-SAME:  workgroup(%{{.+}} : memref<2xi8, 3>, %{{.+}} : memref<2xi8, 3>)

// STATIC-NOT:  memref.global
// STATIC:      gpu.func @kernel(
// STATIC-SAME:   workgroup(%{{.+}} : memref<8192xf32, 3>, %{{.+}} : memref<8192xf32, 3>)

// What would be aligned for nothing is left; where there is an arena, all of it is.
// ALIGNED:     gpu.func @kernel(
// ALIGNED-SAME:  workgroup(%{{.+}} : memref<8192xf32, 3>, %{{.+}} : memref<8192xf32, 3>)
// ALIGNED:     gpu.func @iterations(
// ALIGNED-SAME:  workgroup(%{{.+}} : memref<256xi8, #gpu.address_space<workgroup>> {llvm.align = 256 : i64})

// The lowering to NVVM aligns every buffer to 16 bytes, whatever is asked for here.
// ALWAYS:      memref.global @dynamic_workgroup_memory {{.*}} {alignment = 16 : i64}
// ALWAYS:      gpu.func @small(
// ALWAYS-DAG:    %[[C0:.+]] = arith.constant 0 : index
// ALWAYS-DAG:    %[[C2:.+]] = arith.constant 16 : index
// ALWAYS:        %[[ARENA:.+]] = memref.reinterpret_cast {{.*}} sizes: [18]
// ALWAYS-DAG:    memref.view %[[ARENA]][%[[C0]]][]
// ALWAYS-DAG:    memref.view %[[ARENA]][%[[C2]]][]

// CHIP:        error: 'gpu.func' op cannot be compiled for unknown chip 'sm_33'; supported are sm_75, sm_80
// OTHER-CHIP:  error: 'gpu.module' op has a target for sm_80, but is to be compiled for sm_90; drop the target, or name its chip

// ALIGNMENT:   error: alignment must be a power of two up to 1024, not 3
// ZERO:        error: alignment must be a power of two up to 1024, not 0
// NEGATIVE:    error: max-static-bytes must be from 0 to 2^31 - 1, not -1
// HUGE:        error: max-bytes must be from 0 to 2^31 - 1, not 4294967296
// REUSE:       Cannot find option named 'sometimes'

gpu.module @kernels {
  gpu.func @kernel(%i: index, %v: f32)
      workgroup(%a: memref<8192xf32, 3>, %b: memref<8192xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<8192xf32, 3>
    memref.store %v, %b[%i] : memref<8192xf32, 3>
    memref.store %v, %a[%i] : memref<8192xf32, 3>
    gpu.return
  }
  gpu.func @small(%i: index, %v: i8)
      workgroup(%a: memref<2xi8, 3>, %b: memref<2xi8, 3>) kernel {
    memref.store %v, %a[%i] : memref<2xi8, 3>
    memref.store %v, %b[%i] : memref<2xi8, 3>
    memref.store %v, %a[%i] : memref<2xi8, 3>
    gpu.return
  }
  gpu.func @iterations(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }
}
