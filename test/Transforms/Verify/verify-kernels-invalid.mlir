// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-kernels)' --split-input-file --verify-diagnostics

// Each refusal, in the words that tell what to do. The numbers are those of
// docs/verification.md.

// B1: an alloca in workgroup memory becomes an array of each thread.
gpu.module @kernels {
  gpu.func @alloca_in_kernel() kernel {
    // expected-error @+1 {{'memref.alloca' op in workgroup memory was not hoisted; run workgroup-hoist-allocs after gpu-kernel-outlining}}
    %buffer = memref.alloca() : memref<64xf32, 3>
    gpu.return
  }
  // In any spelling, and in functions that kernels call.
  func.func @alloca_in_function() {
    // expected-error @+1 {{'memref.alloca' op in workgroup memory was not hoisted}}
    %buffer = memref.alloca() : memref<64xf32, #nvvm.memory_space<shared>>
    return
  }
}

// -----

// B2: an alloc becomes a call of malloc, a dealloc does not compile.
gpu.module @kernels {
  gpu.func @alloc_in_kernel() kernel {
    // expected-error @+1 {{'memref.alloc' op in workgroup memory was not hoisted; run workgroup-hoist-allocs after gpu-kernel-outlining}}
    %buffer = memref.alloc() : memref<64xf32, #gpu.address_space<workgroup>>
    // expected-error @+1 {{'memref.dealloc' op of workgroup memory, which is static; workgroup-hoist-allocs erases it}}
    memref.dealloc %buffer : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

// The same in a launch.
func.func @alloc_in_launch() {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    // expected-error @+1 {{'memref.alloc' op in workgroup memory was not hoisted; run workgroup-hoist-allocs after gpu-kernel-outlining}}
    %buffer = memref.alloc() {alignment = 128 : i64} : memref<64xf32, 3>
    gpu.terminator
  }
  return
}

// -----

// The host cannot allocate workgroup memory at all.
func.func @alloc_on_host() {
  // expected-error @+1 {{'memref.alloc' op in workgroup memory was not hoisted and stands in host code; run workgroup-sink-allocs before gpu-kernel-outlining}}
  %buffer = memref.alloc() : memref<64xf32, 3>
  // expected-error @+1 {{'memref.dealloc' op of workgroup memory, which is static}}
  memref.dealloc %buffer : memref<64xf32, 3>
  return
}

// -----

// Nor can it pass such memory, or a view of it, to a kernel, before outlining or
// after.
func.func @captured_by_launch(%buffer: memref<64xf32, 3>) {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'gpu.launch' op uses workgroup memory of the host; allocate it in the kernel, or next to the launch and run workgroup-sink-allocs}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %value = memref.load %buffer[%tx] : memref<64xf32, 3>
    memref.store %value, %buffer[%ty] : memref<64xf32, 3>
    gpu.terminator
  }
  return
}
func.func @captured_view(%buffer: memref<64xf32, 3>) {
  %c1 = arith.constant 1 : index
  %view = memref.subview %buffer[8] [8] [1] : memref<64xf32, 3> to memref<8xf32, strided<[1], offset: 8>, 3>
  // expected-error @+1 {{'gpu.launch' op uses workgroup memory of the host}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %value = memref.load %view[%tx] : memref<8xf32, strided<[1], offset: 8>, 3>
    memref.store %value, %view[%ty] : memref<8xf32, strided<[1], offset: 8>, 3>
    gpu.terminator
  }
  return
}
gpu.module @kernels {
  // expected-error @+1 {{'gpu.func' op is a kernel with workgroup memory as argument 1, which no launch can pass; run workgroup-sink-allocs, or make it a workgroup attribution}}
  gpu.func @kernel_argument(%a: memref<64xf32>, %b: memref<64xf32, #gpu.address_space<workgroup>>) kernel {
    gpu.return
  }
}

// -----

// B3: what is mapped to processors would run in each of them.
gpu.module @kernels {
  gpu.func @mapped_to_threads(%out: memref<64xf32>) kernel {
    %zero = arith.constant 0.0 : f32
    // expected-error @+1 {{'scf.forall' op is mapped to processors but was not distributed: every thread would run all of its iterations; resolve the mapping, for example by transform.gpu.map_nested_forall_to_threads}}
    scf.forall (%i) in (64) {
      memref.store %zero, %out[%i] : memref<64xf32>
    } {mapping = [#gpu.thread<x>]}
    gpu.return
  }
  gpu.func @mapped_parallel(%out: memref<64xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    // expected-error @+1 {{'scf.parallel' op is mapped to processors but was not distributed}}
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      memref.store %zero, %out[%i] : memref<64xf32>
      scf.reduce
    } {mapping = [#gpu.loop_dim_map<processor = thread_x, map = (d0) -> (d0), bound = (d0) -> (d0)>]}
    gpu.return
  }
}

// -----

// B4: a warp has 32 lanes, whatever the shape of the loop.
gpu.module @kernels {
  gpu.func @lanes_overflow(%out: memref<64x64xf32>, %n: index) kernel {
    %zero = arith.constant 0.0 : f32
    // expected-error @+1 {{'scf.forall' op maps 33 iterations to the 32 lanes of a warp, of which the rest would never run; distribute it cyclically}}
    scf.forall (%i) in (33) {
      memref.store %zero, %out[%i, %i] : memref<64x64xf32>
    } {mapping = [#gpu.lane<linear_dim_0>]}
    // expected-error @+1 {{'scf.forall' op maps 40 iterations to the 32 lanes}}
    scf.forall (%i, %j) = (2, 0) to (12, 16) step (1, 4) {
      memref.store %zero, %out[%i, %j] : memref<64x64xf32>
    } {mapping = [#gpu.lane<linear_dim_1>, #gpu.lane<linear_dim_0>]}
    // What fits, or may fit, is still not distributed.
    // expected-error @+1 {{'scf.forall' op is mapped to processors but was not distributed}}
    scf.forall (%i) in (32) {
      memref.store %zero, %out[%i, %i] : memref<64x64xf32>
    } {mapping = [#gpu.lane<linear_dim_0>]}
    // expected-error @+1 {{'scf.forall' op is mapped to processors but was not distributed}}
    scf.forall (%i) in (%n) {
      memref.store %zero, %out[%i, %i] : memref<64x64xf32>
    } {mapping = [#gpu.lane<linear_dim_0>]}
    gpu.return
  }
}

// -----

// B5: a barrier that some threads do not reach; the notes say where they part,
// and why.
gpu.module @kernels {
  gpu.func @divergent_if(%n: index) kernel {
    // expected-note @+1 {{because this value may differ between them}}
    %thread = gpu.thread_id x
    %some = arith.cmpi ult, %thread, %n : index
    // expected-note @+1 {{threads of one block part here}}
    scf.if %some {
      // expected-error @+1 {{barrier in divergent control flow: 'gpu.barrier' is not known to be reached by all threads of the block together; move it to where all of them pass}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

// A loop with a bound of each thread.
gpu.module @kernels {
  gpu.func @divergent_loop() kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // expected-note @+1 {{because this value may differ between them}}
    %thread = gpu.thread_id x
    // expected-note @+1 {{threads of one block part here}}
    scf.for %i = %c0 to %thread step %c1 {
      // expected-error @+1 {{barrier in divergent control flow: 'nvvm.barrier0'}}
      nvvm.barrier0
    }
    gpu.return
  }
}

// -----

// Threads that have left the kernel.
gpu.module @kernels {
  gpu.func @early_exit(%n: index) kernel {
    // expected-note @+1 {{because this value may differ between them}}
    %thread = gpu.thread_id x
    %some = arith.cmpi ult, %thread, %n : index
    // expected-note @+1 {{threads of one block part here}}
    cf.cond_br %some, ^work, ^exit
  ^work:
    // expected-error @+1 {{barrier in divergent control flow: 'gpu.barrier'}}
    gpu.barrier
    gpu.return
  ^exit:
    gpu.return
  }
}

// -----

// A condition that is uniform in each branch, but not where the branches meet.
gpu.module @kernels {
  gpu.func @joined_values(%n: index) kernel {
    %true = arith.constant true
    %false = arith.constant false
    // expected-note @+1 {{because this value may differ between them}}
    %thread = gpu.thread_id x
    %some = arith.cmpi ult, %thread, %n : index
    %joined = scf.if %some -> i1 {
      scf.yield %true : i1
    } else {
      scf.yield %false : i1
    }
    // expected-note @+1 {{threads of one block part here}}
    scf.if %joined {
      // expected-error @+1 {{barrier in divergent control flow: 'gpu.barrier'}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

// A condition from memory that the kernel writes may be another one for each
// thread.
gpu.module @kernels {
  gpu.func @loaded_condition(%flags: memref<i1>) kernel {
    %true = arith.constant true
    memref.store %true, %flags[] : memref<i1>
    // expected-note @+1 {{because this value may differ between them}}
    %flag = memref.load %flags[] : memref<i1>
    // expected-note @+1 {{threads of one block part here}}
    scf.if %flag {
      // expected-error @+1 {{barrier in divergent control flow: 'gpu.barrier'}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

// A function that only some threads call, and one whose callers are not known.
gpu.module @kernels {
  func.func private @synchronize() {
    // expected-error @+1 {{barrier in divergent control flow: 'gpu.barrier'}}
    gpu.barrier
    return
  }
  gpu.func @divergent_call(%n: index) kernel {
    %thread = gpu.thread_id x
    %some = arith.cmpi ult, %thread, %n : index
    scf.if %some {
      // expected-note @+1 {{threads of one block part here}}
      func.call @synchronize() : () -> ()
    }
    gpu.return
  }
  func.func @not_called() {
    // expected-error @+2 {{barrier in divergent control flow: 'gpu.barrier'}}
    // expected-note @+1 {{it stands in a function that is not known to be called by all threads of a block together}}
    gpu.barrier
    return
  }
}

// -----

// A reduction over the block has barriers inside.
gpu.module @kernels {
  gpu.func @divergent_reduction(%n: index, %x: f32) kernel {
    // expected-note @+1 {{because this value may differ between them}}
    %thread = gpu.thread_id x
    %some = arith.cmpi ult, %thread, %n : index
    // expected-note @+1 {{threads of one block part here}}
    scf.if %some {
      // expected-error @+1 {{barrier in divergent control flow: 'gpu.all_reduce'}}
      %sum = gpu.all_reduce add %x {} : (f32) -> f32
    }
    gpu.return
  }
}

// -----

// In a launch as in a function.
func.func @divergent_launch(%n: index) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             // expected-note @+1 {{because this value may differ between them}}
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %some = arith.cmpi ult, %tx, %n : index
    // expected-note @+1 {{threads of one block part here}}
    scf.if %some {
      // expected-error @+1 {{barrier in divergent control flow: 'gpu.barrier'}}
      gpu.barrier
    }
    gpu.terminator
  }
  return
}

// -----

// B6: threadIdx.x for the lane. The second warp of a block 64 wide in x leaves
// the tile.
gpu.module @kernels {
  gpu.func @ldmatrix() workgroup(%tile: memref<32x16xf16, 3> {llvm.align = 16 : i64}) kernel
      attributes {known_block_size = array<i32: 64, 2, 1>} {
    %c0 = arith.constant 0 : index
    %x = gpu.thread_id x
    // expected-error @+1 {{'nvgpu.ldmatrix' op for a matrix instruction has index 32 in dimension 0 of size 32 in thread (32, 0, 0); the lane is the linear thread id modulo 32, not threadIdx.x: launch blocks 32 wide in x, or compute it so}}
    %a = nvgpu.ldmatrix %tile[%x, %c0] {numTiles = 4 : i32, transpose = false} : memref<32x16xf16, 3> -> vector<4x2xf16>
    gpu.return
  }

  // The second dimension, by way of arithmetic, below zero.
  gpu.func @arithmetic() workgroup(%tile: memref<64x16xf16, 3> {llvm.align = 16 : i64}) kernel
      attributes {known_block_size = array<i32: 16, 4, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %y = gpu.thread_id y
    %shifted = arith.subi %y, %c1 : index
    %column = arith.muli %shifted, %c8 : index
    // expected-error @+1 {{has index -8 in dimension 1 of size 16 in thread (0, 0, 0)}}
    %a = nvgpu.ldmatrix %tile[%c0, %column] {numTiles = 1 : i32, transpose = true} : memref<64x16xf16, 3> -> vector<1x2xf16>
    gpu.return
  }
}

// -----

// What upstream's transform makes of a matmul in such a block: the loads that the
// operands of the instruction are put together from.
func.func @rewritten_matmul(%a: memref<16x16xf16>, %b: memref<16x8xf16>, %c: memref<16x8xf16>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %zero = arith.constant dense<0.0> : vector<4x2xf16>
    %row = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
    %column = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2)>(%tx)
    %lower = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %0 = memref.load %a[%row, %column] : memref<16x16xf16>
    // expected-error @+1 {{'memref.load' op for a matrix instruction has index 16 in dimension 0 of size 16 in thread (32, 0, 0)}}
    %1 = memref.load %a[%lower, %column] : memref<16x16xf16>
    %2 = vector.insert %0, %zero [0, 0] : f16 into vector<4x2xf16>
    %3 = vector.insert %1, %2 [1, 0] : f16 into vector<4x2xf16>
    %4 = vector.load %b[%column, %c1] : memref<16x8xf16>, vector<2xf16>
    %5 = vector.broadcast %4 : vector<2xf16> to vector<2x2xf16>
    %d = nvgpu.mma.sync (%3, %5, %5) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf16>) -> vector<2x2xf16>
    %6 = vector.extract %d[1] : vector<2xf16> from vector<2x2xf16>
    // expected-error @+1 {{'vector.store' op for a matrix instruction has index 16 in dimension 0 of size 16 in thread (32, 0, 0)}}
    vector.store %6, %c[%lower, %column] : memref<16x8xf16>, vector<2xf16>
    gpu.terminator
  }
  return
}

// -----

// Copies in kernels, and in functions that kernels call.
gpu.module @kernels {
  gpu.func @copy(%a: memref<64xf32>, %b: memref<64xf32>) kernel {
    // expected-error @+1 {{'memref.copy' op in device code was not lowered; run workgroup-lower-copies}}
    memref.copy %a, %b : memref<64xf32> to memref<64xf32>
    gpu.return
  }
  func.func @copy_in_function(%a: memref<64xf32>, %b: memref<64xf32>) {
    // expected-error @+1 {{'linalg.copy' op in device code was not lowered; run workgroup-lower-copies}}
    linalg.copy ins(%a : memref<64xf32>) outs(%b : memref<64xf32>)
    return
  }
}

// -----

// Static memory cannot grow, and the GPU runtime's allocation is of the device.
func.func @other_allocations(%n: index) {
  // expected-error @+1 {{'gpu.alloc' op in workgroup memory, which is static; allocate by memref.alloc a buffer that is large enough for all uses}}
  %a = gpu.alloc () : memref<64xf32, 3>
  gpu.dealloc %a : memref<64xf32, 3>
  return
}
gpu.module @kernels {
  gpu.func @realloc(%a: memref<64xf32, 3>, %n: index) {
    // expected-error @+1 {{'memref.realloc' op in workgroup memory, which is static}}
    %b = memref.realloc %a(%n) : memref<64xf32, 3> to memref<?xf32, 3>
    gpu.return
  }
}

// -----

// Outlining has given each kernel a variable of its own; together with the host's
// it was one.
module attributes {gpu.container_module} {
  memref.global "private" @counter : memref<1xi32> = dense<0>
  memref.global "private" @scratch : memref<1xi32> = dense<0>
  memref.global "private" @state : memref<1xi32> = dense<0>
  func.func @host() -> memref<1xi32> {
    %state = memref.get_global @state : memref<1xi32>
    return %state : memref<1xi32>
  }
  gpu.module @first {
    // expected-error @+1 {{'memref.global' op is a variable of which each module of kernels, and the host, would have one of its own; pass the buffer as an argument, or make it constant}}
    memref.global "private" @counter : memref<1xi32> = dense<0>
    memref.global "private" @scratch : memref<1xi32> = dense<0>
    gpu.func @kernel() kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      %0 = memref.get_global @counter : memref<1xi32>
      %1 = memref.get_global @scratch : memref<1xi32>
      memref.store %one, %0[%c0] : memref<1xi32>
      memref.store %one, %1[%c0] : memref<1xi32>
      gpu.return
    }
  }
  gpu.module @second {
    memref.global "private" @counter : memref<1xi32> = dense<0>
    // expected-error @+1 {{'memref.global' op is a variable}}
    memref.global "private" @state : memref<1xi32> = dense<0>
    gpu.func @kernel() kernel {
      %0 = memref.get_global @counter : memref<1xi32>
      %1 = memref.get_global @state : memref<1xi32>
      gpu.return
    }
  }
}

// -----

// B9: floats of 8 bits are stored and converted; a wider type computes.
gpu.module @m {
  gpu.func @narrow(%m: memref<4xf8E4M3FN>, %v: vector<4xf8E5M2>) kernel {
    %c0 = arith.constant 0 : index
    %x = memref.load %m[%c0] : memref<4xf8E4M3FN>
    %wide = arith.extf %x : f8E4M3FN to f32
    %sum = arith.addf %wide, %wide : f32
    %back = arith.truncf %sum : f32 to f8E4M3FN
    %is = arith.cmpi eq, %c0, %c0 : index
    %one = arith.select %is, %x, %back : f8E4M3FN
    memref.store %one, %m[%c0] : memref<4xf8E4M3FN>
    // expected-error @+1 {{'arith.addf' op computes in 'f8E4M3FN', which GPUs store and convert but do not compute in; extend its operands to f32 or f16 by arith.extf, and truncate its result}}
    %y = arith.addf %x, %x : f8E4M3FN
    memref.store %y, %m[%c0] : memref<4xf8E4M3FN>
    // expected-error @+1 {{'vector.fma' op computes in 'f8E5M2'}}
    %z = vector.fma %v, %v, %v : vector<4xf8E5M2>
    // expected-error @+1 {{'arith.cmpf' op computes in 'f8E4M3FN'}}
    %less = arith.cmpf olt, %x, %y : f8E4M3FN
    gpu.return
  }
}

// -----

// B9: an atomic update computes, and so does one of floats that are too wide.
gpu.module @m {
  gpu.func @updates(%m: memref<4xf8E5M2>, %w: memref<4xf128>, %x: f8E5M2, %y: f128) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{'memref.atomic_rmw' op computes in 'f8E5M2'}}
    %0 = memref.atomic_rmw addf %x, %m[%c0] : (f8E5M2, memref<4xf8E5M2>) -> f8E5M2
    %1 = memref.atomic_rmw assign %x, %m[%c0] : (f8E5M2, memref<4xf8E5M2>) -> f8E5M2
    // expected-error @+1 {{'memref.atomic_rmw' op computes in 'f128', of which GPUs have no numbers; compute in f64}}
    %2 = memref.atomic_rmw maximumf %y, %w[%c0] : (f128, memref<4xf128>) -> f128
    gpu.return
  }
}

// -----

// B11: a vector has its elements bit by bit, memory each in bytes of its own.
gpu.module @m {
  gpu.func @packed(%a: memref<16xi4>, %b: memref<16xi1>, %c: memref<16xi24>,
                   %f: memref<16xf4E2M1FN>, %g: memref<16xf16>) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{'vector.load' op accesses elements of type 'i4' by vectors, which have them bit by bit, where memory has each in bytes of its own; access them one by one by memref.load and memref.store, or store them as i8}}
    %0 = vector.load %a[%c0] : memref<16xi4>, vector<8xi4>
    // expected-error @+1 {{'vector.store' op accesses elements of type 'i4'}}
    vector.store %0, %a[%c0] : memref<16xi4>, vector<8xi4>
    %p = arith.constant false
    // expected-error @+1 {{'vector.transfer_read' op accesses elements of type 'i1'}}
    %1 = vector.transfer_read %b[%c0], %p : memref<16xi1>, vector<4xi1>
    // expected-error @+1 {{'vector.transfer_write' op accesses elements of type 'i1'}}
    vector.transfer_write %1, %b[%c0] : vector<4xi1>, memref<16xi1>
    %e = vector.load %c[%c0] : memref<16xi24>, vector<1xi24>
    // expected-error @+1 {{'vector.load' op accesses elements of type 'i24'}}
    %2 = vector.load %c[%c0] : memref<16xi24>, vector<4xi24>
    %s = arith.constant dense<0.0> : vector<4xf4E2M1FN>
    // expected-error @+1 {{'vector.maskedload' op accesses elements of type 'f4E2M1FN'}}
    %3 = vector.maskedload %f[%c0], %1, %s : memref<16xf4E2M1FN>, vector<4xi1>, vector<4xf4E2M1FN> into vector<4xf4E2M1FN>
    // expected-error @+1 {{'vector.maskedstore' op accesses elements of type 'f4E2M1FN'}}
    vector.maskedstore %f[%c0], %1, %3 : memref<16xf4E2M1FN>, vector<4xi1>, vector<4xf4E2M1FN>
    %4 = vector.load %g[%c0] : memref<16xf16>, vector<8xf16>
    gpu.return
  }
}

// -----

gpu.module @backwards {
  gpu.func @reversed(%m: memref<64xf32>, %v: f32) kernel attributes {known_block_size = array<i32: 8, 1, 1>} {
    %t = gpu.thread_id x
    // expected-error @+1 {{'memref.reinterpret_cast' op goes backwards through memory, which upstream's lowering of memrefs miscompiles; view it forwards, and turn the index round}}
    %all = memref.reinterpret_cast %m to offset: [63], sizes: [64], strides: [-1] : memref<64xf32> to memref<64xf32, strided<[-1], offset: 63>>
    memref.store %v, %all[%t] : memref<64xf32, strided<[-1], offset: 63>>
    // expected-error @+1 {{'memref.subview' op goes backwards through memory}}
    %part = memref.subview %m[7] [4] [-1] : memref<64xf32> to memref<4xf32, strided<[-1], offset: 7>>
    memref.store %v, %part[%t] : memref<4xf32, strided<[-1], offset: 7>>
    %forwards = memref.reinterpret_cast %m to offset: [0], sizes: [32], strides: [2] : memref<64xf32> to memref<32xf32, strided<[2]>>
    memref.store %v, %forwards[%t] : memref<32xf32, strided<[2]>>
    gpu.return
  }
}
