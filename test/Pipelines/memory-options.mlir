// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-memory{verify-barriers=false sync=keep})' | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-memory{verify-barriers=false sync=insert chip=sm_90a assume-alignment=16})' | FileCheck %s --check-prefix=OPTIONS
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-memory)' 2>&1 | FileCheck %s --check-prefix=VERIFIED
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-memory{chip=sm_33})' 2>&1 | FileCheck %s --check-prefix=CHIP

// CHECK:         gpu.module @copy_kernel [#nvvm.target<{{.*}}chip = "sm_80"
// CHECK:         nvgpu.device_async_copy %{{.+}}, 1 : memref<256xf32> to memref<256xf32, #gpu.address_space<workgroup>>
// CHECK:         nvgpu.device_async_wait
// CHECK-NEXT:    gpu.barrier
// CHECK:         memref.load %{{.+}} : memref<256xf32, #gpu.address_space<workgroup>>
// CHECK:         scf.if
// CHECK-NEXT:      gpu.barrier

// Nothing but what the program says; wider accesses.
// OPTIONS:       gpu.module @copy_kernel [#nvvm.target<{{.*}}chip = "sm_90a"
// OPTIONS:       nvgpu.device_async_copy %{{.+}}, 4 {bypassL1} : memref<256xf32> to memref<256xf32, #gpu.address_space<workgroup>>
// OPTIONS-NOT:   gpu.barrier
// OPTIONS:       memref.load %{{.+}} : memref<256xf32, #gpu.address_space<workgroup>>
// OPTIONS:       scf.if
// OPTIONS-NEXT:    gpu.barrier

// VERIFIED:      error: barrier in divergent control flow

// Loads and stores where they are asked for, and where the chip has nothing else.
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-memory{verify-barriers=false sync=keep copies=sync})' | FileCheck %s --check-prefix=SYNC
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-memory{verify-barriers=false sync=keep chip=sm_75})' | FileCheck %s --check-prefix=SYNC
// SYNC:          memref.load %{{.+}} : memref<256xf32>
// SYNC:          memref.store %{{.+}} : memref<256xf32, #gpu.address_space<workgroup>>
// SYNC:          gpu.barrier

// CHIP:          error: {{.*}}unknown chip 'sm_33'; supported are sm_75, sm_80

func.func @copy(%a: memref<256xf32>, %n: index) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %buffer = memref.alloc() : memref<256xf32, #gpu.address_space<workgroup>>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    memref.copy %a, %buffer : memref<256xf32> to memref<256xf32, #gpu.address_space<workgroup>>
    %x = memref.load %buffer[%tx] : memref<256xf32, #gpu.address_space<workgroup>>
    %some = arith.cmpi ult, %tx, %n : index
    scf.if %some {
      gpu.barrier
    }
    memref.store %x, %a[%n] : memref<256xf32>
    gpu.terminator
  }
  return
}
