// Quotients of numbers of any sign, as affine maps and as what is made of them.

// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-verify-sync{strict=true})' --verify-diagnostics -o /dev/null
// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(lower-affine,workgroup-verify-sync{strict=true})' --verify-diagnostics -o /dev/null
// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(lower-affine,canonicalize,cse,workgroup-verify-sync{strict=true})' --verify-diagnostics -o /dev/null

// 128 threads, t - n of which may be below zero.
#floor = affine_map<(t)[n] -> ((t - n) floordiv 16 + 8)>
#ceil = affine_map<(t)[n] -> ((t - n) ceildiv 16 + 8)>
#rest = affine_map<(t)[n] -> ((t - n) mod 16)>
!A = memref<32x16xf32, 3>
gpu.module @own {
  gpu.func @rounded_down(%f: f32, %n: index) workgroup(%A: !A)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %row = affine.apply #floor(%t)[%n]
    %column = affine.apply #rest(%t)[%n]
    memref.store %f, %A[%row, %column] : !A
    %x = memref.load %A[%row, %column] : !A
    memref.store %x, %A[%row, %column] : !A
    gpu.return
  }
  // Of sixteen numbers the last one has the quotient of the others.
  gpu.func @rounded_up(%f: f32, %n: index) workgroup(%A: !A)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %row = affine.apply #ceil(%t)[%n]
    %column = affine.apply #rest(%t)[%n]
    memref.store %f, %A[%row, %column] : !A
    %x = memref.load %A[%row, %column] : !A
    memref.store %x, %A[%row, %column] : !A
    gpu.return
  }
}

// -----

#floor = affine_map<(t)[n] -> ((t - n) floordiv 16 + 8)>
#next = affine_map<(t)[n] -> ((t - n + 1) mod 16)>
#rest = affine_map<(t)[n] -> ((t - n) mod 16)>
!A = memref<32x16xf32, 3>
gpu.module @neighbours {
  gpu.func @rounded_down(%f: f32, %n: index, %out: memref<128xf32> {llvm.noalias}) workgroup(%A: !A)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %row = affine.apply #floor(%t)[%n]
    %column = affine.apply #rest(%t)[%n]
    %next = affine.apply #next(%t)[%n]
    // expected-note @+1 {{the other access}}
    memref.store %f, %A[%row, %column] : !A
    // expected-error @+1 {{data race on workgroup memory}}
    %x = memref.load %A[%row, %next] : !A
    memref.store %x, %out[%t] : memref<128xf32>
    gpu.return
  }
}

// -----

// Rounded up and down are not the same place.
#floor = affine_map<(t)[n] -> ((t - n) floordiv 16 + 8)>
#ceil = affine_map<(t)[n] -> ((t - n) ceildiv 16 + 8)>
#rest = affine_map<(t)[n] -> ((t - n) mod 16)>
!A = memref<32x16xf32, 3>
gpu.module @mixed {
  gpu.func @up_and_down(%f: f32, %n: index, %out: memref<128xf32> {llvm.noalias}) workgroup(%A: !A)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %down = affine.apply #floor(%t)[%n]
    %up = affine.apply #ceil(%t)[%n]
    %column = affine.apply #rest(%t)[%n]
    // expected-note @+1 {{the other access}}
    memref.store %f, %A[%down, %column] : !A
    // expected-error @+1 {{data race on workgroup memory}}
    %x = memref.load %A[%up, %column] : !A
    memref.store %x, %out[%t] : memref<128xf32>
    gpu.return
  }
}
