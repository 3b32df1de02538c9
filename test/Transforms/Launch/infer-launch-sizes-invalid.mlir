// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-infer-launch-sizes)' --split-input-file --verify-diagnostics
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-kernels)' --split-input-file --verify-diagnostics

// Launches that no GPU takes.

module attributes {gpu.container_module} {
func.func @main(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c65 = arith.constant 65 : index
  %c65535 = arith.constant 65535 : index
  %c65536 = arith.constant 65536 : index
  %c1024 = arith.constant 1024 : index
  %c1025 = arith.constant 1025 : index
  gpu.launch_func @m::@any blocks in (%n, %c65535, %c65535) threads in (%c1024, %c1, %c1)
  gpu.launch_func @m::@any blocks in (%c1, %c1, %c1) threads in (%c1, %n, %c64)
  // expected-error @+1 {{'gpu.launch_func' op asks for 1025 threads along x, of which GPUs take 1 to 1024; launch smaller blocks, and more of them}}
  gpu.launch_func @m::@any blocks in (%c1, %c1, %c1) threads in (%c1025, %n, %c1)
  // expected-error @+1 {{asks for 65 threads along z, of which GPUs take 1 to 64}}
  gpu.launch_func @m::@any blocks in (%c1, %c1, %c1) threads in (%n, %c1, %c65)
  // expected-error @+1 {{asks for blocks of 1x1024x64 = 65536 threads, of which GPUs take 1 to 1024}}
  gpu.launch_func @m::@any blocks in (%c1, %c1, %c1) threads in (%n, %c1024, %c64)
  // expected-error @+1 {{asks for 65536 blocks along y, of which GPUs take 1 to 65535; map them to x, or have each block do the work of several}}
  gpu.launch_func @m::@any blocks in (%n, %c65536, %c1) threads in (%c1, %c1, %c1)
  // expected-error @+1 {{asks for 0 blocks along z, of which GPUs take 1 to 65535; leave it out where there is nothing to do}}
  gpu.launch_func @m::@any blocks in (%n, %c1, %c0) threads in (%c1, %c1, %c1)
  // expected-error @+1 {{asks for blocks of 64x1x1, where the kernel is compiled for 32x1x1 by gpu.known_block_size; make both the same}}
  gpu.launch_func @m::@known blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
  return
}
gpu.module @m {
  gpu.func @any() kernel { gpu.return }
  // expected-note @+1 {{the kernel}}
  gpu.func @known() kernel attributes {known_block_size = array<i32: 32, 1, 1>} { gpu.return }
  // expected-error @+1 {{has by nvvm.reqntid blocks of 64x32x1 = 2048 threads, of which GPUs take 1 to 1024}}
  gpu.func @required() kernel attributes {nvvm.reqntid = array<i32: 64, 32>} { gpu.return }
}
}
