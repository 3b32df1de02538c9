// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-memory)' | FileCheck %s --check-prefixes=CHECK,AUTO
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-memory{reuse=always sync=keep})' | FileCheck %s --check-prefixes=CHECK,REUSE
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-memory{reuse=always})' | FileCheck %s --check-prefixes=CHECK,BARE
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-memory{reuse=never})' | FileCheck %s --check-prefixes=CHECK,NEVER
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-memory{dynamic=always})' | FileCheck %s --check-prefixes=CHECK,ALWAYS
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-memory{reuse=never dynamic=never})' 2>&1 | FileCheck %s --check-prefix=ERROR

// From allocations around the launch to places in one memory: two of 256 bytes, one
// after the other, and two of 32 KiB, between which a barrier stands.

// A barrier for 256 bytes is not worth it; the one that stands is used.
// AUTO:         gpu.func @small_kernel(
// AUTO-SAME:      workgroup(%{{.+}} : memref<64xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}, %{{.+}} : memref<64xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
// AUTO-NOT:       gpu.barrier
// AUTO:           gpu.return
// AUTO:         gpu.func @large_kernel(
// AUTO-SAME:      workgroup(%{{.+}} : memref<32768xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})

// REUSE:        gpu.func @small_kernel(
// REUSE-SAME:     workgroup(%{{.+}} : memref<256xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
// REUSE:          memref.store
// REUSE:          gpu.barrier
// REUSE-NEXT:     memref.store
// REUSE:        gpu.func @large_kernel(
// REUSE-SAME:     workgroup(%{{.+}} : memref<32768xi8, #gpu.address_space<workgroup>>

// BARE:         gpu.func @small_kernel(
// BARE-SAME:      workgroup(%{{.+}} : memref<256xi8
// BARE-NOT:       gpu.barrier
// BARE:           gpu.return

// NEVER:        memref.global @dynamic_workgroup_memory
// NEVER:        gpu.func @large_kernel(
// NEVER:          memref.get_global @dynamic_workgroup_memory
// NEVER:          memref.reinterpret_cast {{.+}} sizes: [65536]

// ALWAYS:       memref.global @dynamic_workgroup_memory
// ALWAYS:       gpu.func @small_kernel(
// ALWAYS-NOT:     workgroup(
// ALWAYS:         memref.get_global @dynamic_workgroup_memory
// ALWAYS:         memref.reinterpret_cast {{.+}} sizes: [512]

// ERROR:        error: workgroup memory of kernel 'large_kernel' is 65536 bytes, exceeding the limit of 49152 bytes
// ERROR-COUNT-2: note: a buffer of 32768 bytes


// CHECK-NOT:    memref.alloc

func.func @small(%v: f32) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %a = memref.alloc() : memref<64xf32, #gpu.address_space<workgroup>>
  %b = memref.alloc() : memref<64xf32, #gpu.address_space<workgroup>>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    memref.store %v, %a[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %v, %b[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.terminator
  }
  return
}

func.func @large(%v: f32) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %a = memref.alloc() : memref<8192xf32, #gpu.address_space<workgroup>>
  %b = memref.alloc() : memref<8192xf32, #gpu.address_space<workgroup>>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    memref.store %v, %a[%tx] : memref<8192xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    memref.store %v, %b[%tx] : memref<8192xf32, #gpu.address_space<workgroup>>
    gpu.terminator
  }
  return
}
