// RUN: mlir-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(workgroup-hoist-allocs),func.func(workgroup-hoist-allocs)),func.func(workgroup-hoist-allocs))' --remarks-filter-missed='workgroup.*' --remark-format=emitRemark --verify-diagnostics -o %t.functions
// RUN: FileCheck %s --check-prefix=FUNCTIONS --input-file=%t.functions
// RUN: mlir-opt %s --pass-pipeline='builtin.module(gpu.module(workgroup-hoist-allocs),func.func(workgroup-hoist-allocs))' | FileCheck %s --check-prefix=KERNELS
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-hoist-allocs)' | FileCheck %s --check-prefix=ALL
// RUN: mlir-opt %t.functions --pass-pipeline='builtin.module(workgroup-hoist-allocs)' -o %t.completed
// RUN: mlir-opt %t.completed --pass-pipeline='builtin.module(workgroup-hoist-allocs)' -o %t.twice
// RUN: diff %t.completed %t.twice

// The pass touches nothing outside of the operation that it runs on: on a function
// it cannot make a global, on a `gpu.module` it cannot clear up the host.

// What outlining has copied into the `gpu.module` stays on the host, where nothing
// uses it. What needs workgroup memory, which no host has, goes.
// FUNCTIONS:      memref.global "private" @table
// FUNCTIONS:      func.func @helper
// FUNCTIONS:      func.func private @calls_helper
// KERNELS:        memref.global "private" @table
// KERNELS:        func.func @helper
// KERNELS:        func.func private @calls_helper
// ALL-NOT:        memref.global "private" @table
// ALL-NOT:        func.func @helper
// ALL-NOT:        func.func private @calls_helper
memref.global "private" @table : memref<4xf32, 3> = uninitialized {alignment = 16}
func.func @helper(%i: index) -> f32 {
  %buffer = memref.alloca() : memref<32xf32, #gpu.address_space<workgroup>>
  %value = memref.load %buffer[%i] : memref<32xf32, #gpu.address_space<workgroup>>
  return %value : f32
}
func.func private @calls_helper(%i: index) -> f32 {
  %table = memref.get_global @table : memref<4xf32, 3>
  %value = func.call @helper(%i) : (index) -> f32
  %other = memref.load %table[%i] : memref<4xf32, 3>
  %sum = arith.addf %value, %other : f32
  return %sum : f32
}

// A function of ordinary memory may serve the host, whoever has a copy of it; so
// may one whose name a kernel shares, for the workgroup memory of a launch is not
// its own.
// ALL:            func.func @plain
// ALL:            func.func @kernel
// ALL:              gpu.launch
// ALL:                memref.alloc() {alignment = 128 : i64}
func.func @plain(%x: f32) -> f32 {
  %sum = arith.addf %x, %x : f32
  return %sum : f32
}
func.func @kernel(%out: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    // expected-remark @+1 {{[Missed] NotHoisted | Category:workgroup-hoist-allocs | Function=kernel | Reason="a buffer of gpu.launch cannot carry its alignment}}
    %buffer = memref.alloc() {alignment = 128 : i64} : memref<64xf32, 3>
    %value = memref.load %buffer[%tx] : memref<64xf32, 3>
    memref.store %value, %out[%tx] : memref<64xf32>
    gpu.terminator
  }
  return
}

// FUNCTIONS:      gpu.module @kernels
// KERNELS:        gpu.module @kernels
// ALL:            gpu.module @kernels
gpu.module @kernels {
  memref.global "private" @table : memref<4xf32, 3> = uninitialized {alignment = 16}

  // FUNCTIONS-NOT:  @helper_buffer
  // FUNCTIONS:      func.func @helper
  // FUNCTIONS:        memref.alloca() : memref<32xf32, #gpu.address_space<workgroup>>
  // KERNELS:        memref.global "private" @helper_buffer
  // KERNELS:        func.func @helper
  // KERNELS-NOT:      memref.alloca
  // KERNELS:          memref.get_global @helper_buffer
  // ALL:            memref.global "private" @helper_buffer
  // ALL:            func.func @helper
  // ALL-NOT:          memref.alloca
  // ALL:              memref.get_global @helper_buffer
  func.func @helper(%i: index) -> f32 {
    // expected-remark @+1 {{[Missed] NotHoisted | Category:workgroup-hoist-allocs | Function=helper | Reason="its module is outside of the operation that the pass runs on"}}
    %buffer = memref.alloca() : memref<32xf32, #gpu.address_space<workgroup>>
    %value = memref.load %buffer[%i] : memref<32xf32, #gpu.address_space<workgroup>>
    return %value : f32
  }
  func.func private @calls_helper(%i: index) -> f32 {
    %table = memref.get_global @table : memref<4xf32, 3>
    %value = func.call @helper(%i) : (index) -> f32
    %other = memref.load %table[%i] : memref<4xf32, 3>
    %sum = arith.addf %value, %other : f32
    return %sum : f32
  }
  func.func @plain(%x: f32) -> f32 {
    %sum = arith.addf %x, %x : f32
    return %sum : f32
  }

  // A `gpu.func` has room for its buffers, kernel or not.
  // FUNCTIONS:      gpu.func @device
  // FUNCTIONS-SAME:   workgroup(%{{.+}} : memref<8xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
  gpu.func @device(%i: index) -> f32 {
    %buffer = memref.alloca() : memref<8xf32, 3>
    %value = memref.load %buffer[%i] : memref<8xf32, 3>
    gpu.return %value : f32
  }
  // FUNCTIONS:      gpu.func @kernel
  // FUNCTIONS-SAME:   workgroup(%{{.+}} : memref<64xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
  gpu.func @kernel(%out: memref<64xf32>, %i: index) kernel {
    %buffer = memref.alloc() : memref<64xf32, 3>
    %x = memref.load %buffer[%i] : memref<64xf32, 3>
    %y = func.call @calls_helper(%i) : (index) -> f32
    %z = func.call @plain(%y) : (f32) -> f32
    %sum = arith.addf %x, %z : f32
    memref.store %sum, %out[%i] : memref<64xf32>
    gpu.return
  }
}

// Two buffers of one function, and a function that has their name already.
// ALL:            gpu.module @names
// ALL-DAG:          memref.global "private" @[[FIRST:[a-z_0-9]+]] : memref<8xf32, #gpu.address_space<workgroup>>
// ALL-DAG:          memref.global "private" @[[SECOND:[a-z_0-9]+]] : memref<16xf32, #gpu.address_space<workgroup>>
// ALL:              memref.get_global @[[FIRST]] : memref<8xf32, #gpu.address_space<workgroup>>
// ALL:              memref.get_global @[[SECOND]] : memref<16xf32, #gpu.address_space<workgroup>>
// ALL:              func.func @tile_buffer
gpu.module @names {
  func.func @tile(%i: index) -> f32 {
    // expected-remark @+1 {{NotHoisted}}
    %a = memref.alloca() : memref<8xf32, 3>
    // expected-remark @+1 {{NotHoisted}}
    %b = memref.alloca() : memref<16xf32, 3>
    %x = memref.load %a[%i] : memref<8xf32, 3>
    %y = memref.load %b[%i] : memref<16xf32, 3>
    %sum = arith.addf %x, %y : f32
    return %sum : f32
  }
  func.func @tile_buffer() {
    return
  }
}
