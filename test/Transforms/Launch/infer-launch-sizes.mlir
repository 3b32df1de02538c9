// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-infer-launch-sizes)' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-infer-launch-sizes)' -o %t.twice
// RUN: diff %t.once %t.twice

// Kernels are told the sizes that all of their launches have.

module attributes {gpu.container_module} {
func.func @main(%n: index) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @m::@one blocks in (%c2, %c1, %c1) threads in (%c64, %c2, %c1)
  gpu.launch_func @m::@grid blocks in (%n, %c1, %c1) threads in (%c64, %c1, %c1)
  gpu.launch_func @m::@block blocks in (%c2, %c1, %c1) threads in (%n, %c1, %c1)
  gpu.launch_func @m::@same blocks in (%c2, %c1, %c1) threads in (%c64, %c1, %c1)
  gpu.launch_func @m::@same blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
  gpu.launch_func @m::@other blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
  gpu.launch_func @m::@other blocks in (%c1, %c1, %c1) threads in (%c64, %c2, %c1)
  gpu.launch_func @m::@known blocks in (%c2, %c1, %c1) threads in (%n, %c1, %c1)
  return
}
gpu.module @m {
  // CHECK:      gpu.func @one() kernel
  // CHECK-SAME:   known_block_size = array<i32: 64, 2, 1>, known_grid_size = array<i32: 2, 1, 1>
  gpu.func @one() kernel { gpu.return }
  // CHECK:      gpu.func @grid() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
  gpu.func @grid() kernel { gpu.return }
  // CHECK:      gpu.func @block() kernel attributes {known_grid_size = array<i32: 2, 1, 1>} {
  gpu.func @block() kernel { gpu.return }
  // CHECK:      gpu.func @same() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
  gpu.func @same() kernel { gpu.return }
  // CHECK:      gpu.func @other() kernel attributes {known_grid_size = array<i32: 1, 1, 1>} {
  gpu.func @other() kernel { gpu.return }
  // What a kernel says itself stays.
  // CHECK:      gpu.func @known() kernel
  // CHECK-SAME:   known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 2, 1, 1>
  gpu.func @known() kernel attributes {known_block_size = array<i32: 32, 1, 1>} { gpu.return }
  // No launch.
  // CHECK:      gpu.func @unused() kernel {
  gpu.func @unused() kernel { gpu.return }
}
// Functions run in the blocks of who calls them.
gpu.module @functions {
  // CHECK:      func.func @of_one() attributes
  // CHECK-SAME:   gpu.known_block_size = array<i32: 64, 1, 1>, gpu.known_grid_size = array<i32: 2, 1, 1>
  func.func @of_one() {
    func.call @deeper() : () -> ()
    return
  }
  // CHECK:      func.func @of_both() attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  func.func @of_both() { return }
  // CHECK:      func.func @deeper() attributes
  // CHECK-SAME:   gpu.known_block_size = array<i32: 64, 1, 1>, gpu.known_grid_size = array<i32: 2, 1, 1>
  func.func @deeper() { return }
  // It says itself what holds.
  // CHECK:      func.func @stated() attributes {gpu.known_block_size = array<i32: 32, 1, 1>
  func.func @stated() attributes {gpu.known_block_size = array<i32: 32, 1, 1>} { return }
  // Of 64 threads and of an unknown number, or not by who is known.
  // CHECK:      func.func @of_unknown() {
  func.func @of_unknown() { return }
  // CHECK:      func.func @taken() {
  func.func @taken() { return }
  // CHECK:      func.func @recursive() {
  func.func @recursive() {
    func.call @recursive() : () -> ()
    return
  }
  // CHECK:      func.func @uncalled() {
  func.func @uncalled() { return }
  gpu.func @one() kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 2, 1, 1>} {
    func.call @of_one() : () -> ()
    func.call @of_both() : () -> ()
    func.call @stated() : () -> ()
    func.call @of_unknown() : () -> ()
    func.call @taken() : () -> ()
    func.call @recursive() : () -> ()
    gpu.return
  }
  gpu.func @other() kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 3, 1, 1>} {
    func.call @of_both() : () -> ()
    gpu.return
  }
  gpu.func @any() kernel {
    func.call @of_unknown() : () -> ()
    %function = func.constant @taken : () -> ()
    gpu.return
  }
}
}
